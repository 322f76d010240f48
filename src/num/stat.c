/* Descriptive statistics: mean, variance, quantiles, R2, Wilson's interval. */
#include "num/num_impl.h"

#include <math.h>
#include <stdlib.h>

/* The second pass adds the rounding error of the first, so the mean of equal values is that value,
 * and a large offset costs no digits. */
double sl_num_mean(const double *x, int64_t n) {
    if (n <= 0) return NAN;
    double sum = 0, rest = 0;
    for (int64_t i = 0; i < n; i++) sum += x[i];
    double mean = sum / (double)n;
    for (int64_t i = 0; i < n; i++) rest += x[i] - mean;
    return mean + rest / (double)n;
}

double sl_num_variance(const double *x, int64_t n) {
    if (n < 2) return NAN;
    double mean = sl_num_mean(x, n), squares = 0, rest = 0;
    for (int64_t i = 0; i < n; i++) {
        double d = x[i] - mean;
        squares += d * d;
        rest += d;
    }
    return (squares - rest * rest / (double)n) / (double)(n - 1);
}

static int ascending(const void *pa, const void *pb) {
    double a = *(const double *)pa, b = *(const double *)pb;
    if (isnan(a) || isnan(b)) return (int)isnan(a) - (int)isnan(b);
    return (a > b) - (a < b);
}

void sl_num_sort(double *x, int64_t n) {
    if (n > 1) qsort(x, (size_t)n, sizeof *x, ascending);
}

static int by_key(const void *pa, const void *pb) {
    const sl_keyed *a = pa, *b = pb;
    if (a->key != b->key) return a->key < b->key ? -1 : 1;
    return (a->at > b->at) - (a->at < b->at);
}

void sl_num_sort_keyed(sl_keyed *list, int64_t n) {
    if (n > 1) qsort(list, (size_t)n, sizeof *list, by_key);
}

double sl_num_quantile(const double *x, int64_t n, double q) {
    if (n <= 0 || !(q >= 0 && q <= 1) || isnan(x[n - 1])) return NAN;
    double place = q * (double)(n - 1), below = floor(place), t = place - below;
    int64_t i = (int64_t)below;
    if (t == 0 || x[i] == x[i + 1]) return x[i]; // also keeps infinite neighbours from making NaN
    // from the nearer end, so that the value neither exceeds the other end nor jumps at it
    double step = x[i + 1] - x[i];
    return t < 0.5 ? x[i] + step * t : x[i + 1] - step * (1 - t);
}

double sl_num_median(double *x, int64_t n) {
    sl_num_sort(x, n);
    return sl_num_quantile(x, n, 0.5);
}

/* A power of two that brings x near 1, exactly. */
static double near_one(double x) {
    int e;
    (void)frexp(x, &e);
    return ldexp(1, -SL_MAX(-1000, SL_MIN(e, 1000)));
}

double sl_num_r2(const double *prediction, const double *y, int64_t n) {
    if (n < 2) return NAN;
    double top = 0;
    bool equal = true, constant = true;
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(prediction[i]) || !isfinite(y[i])) return NAN;
        top = fmax(top, fabs(y[i]));
        equal = equal && prediction[i] == y[i];
        constant = constant && y[i] == y[0];
    }
    if (equal) return 1;
    if (constant) return 0;

    // squares of 1e200 and 1e-200 are not doubles, so everything is in units of the largest y
    double unit = near_one(top), sum = 0;
    for (int64_t i = 0; i < n; i++) sum += y[i] * unit;
    double mean = sum / (double)n, sst = 0, sse = 0;
    for (int64_t i = 0; i < n; i++) {
        double d = y[i] * unit - mean, r = prediction[i] * unit - y[i] * unit;
        sst += d * d;
        sse += r * r;
    }
    return 1 - sse / sst;
}

sl_interval sl_num_wilson(double hits, int64_t n, double level) {
    SL_ASSERT(hits >= 0 && hits <= (double)n && level > 0 && level < 1);
    if (n == 0) return (sl_interval){ 0, 1 };
    double z = sl_num_normal_quantile(0.5 + level / 2), k = (double)n, p = hits / k;
    double scale = 1 / (1 + z * z / k), middle = scale * (p + z * z / (2 * k));
    double half = scale * z * sqrt(p * (1 - p) / k + z * z / (4 * k * k));
    // the ends that are 0 and 1 by algebra are so in floating point too
    return (sl_interval){ hits == 0 ? 0 : middle - half, hits == k ? 1 : middle + half };
}

sl_boot sl_num_boot_summary(double *values, int draws, double level) {
    SL_ASSERT(draws >= 0 && level > 0 && level < 1);
    sl_num_sort(values, draws); // those without a value go to the end
    int valid = draws;
    while (valid > 0 && isnan(values[valid - 1])) valid--;
    if (valid == 0 || valid < draws - valid) return (sl_boot){ NAN, NAN, NAN, valid };
    double tail = (1 - level) / 2;
    return (sl_boot){ .lo = sl_num_quantile(values, valid, tail),
                      .median = sl_num_quantile(values, valid, 0.5),
                      .hi = sl_num_quantile(values, valid, 1 - tail),
                      .valid = valid };
}

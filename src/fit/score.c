/* score - how much of y a formula explains. */
#include <math.h>

#include "fit/fit_impl.h"

double sl_fit__log_mean(const double *v, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += sl_log(v[i]) / (double)n;
    return sl_exp(sum);
}

double sl_fit_r2(const double *value, const sl_dataset *p) {
    double mean = 0, weights = 0, sst = 0, sse = 0, least = INFINITY, top = 0;
    const double plain = sl_num_r2(value, p->y, p->rows);
    if (!p->sigma || isnan(plain) || plain == 1) return plain;
    for (int64_t i = 0; i < p->rows; i++) {
        least = fmin(least, p->sigma[i]);
        top = fmax(top, fabs(p->y[i]));
    }
    if (top == 0) return plain; // y is constant
    for (int64_t i = 0; i < p->rows; i++) {
        const double w = least / p->sigma[i];
        mean += w * w * (p->y[i] / top);
        weights += w * w;
    }
    mean /= weights;
    for (int64_t i = 0; i < p->rows; i++) {
        const double w = least / p->sigma[i];
        const double off = w * (p->y[i] / top - mean), left = w * (value[i] / top - p->y[i] / top);
        sst += off * off;
        sse += left * left;
    }
    return sst > 0 ? 1 - sse / sst : plain;
}

/* Distributions: normal, chi-square, Kolmogorov-Smirnov. */
#include "num/num_impl.h"

#include <float.h>
#include <math.h>

#define PI 3.14159265358979323846

double sl_num_normal_cdf(double x) { return 0.5 * erfc(-x / sqrt(2)); }

/* c[0] + c[1] x + ... + c[7] x^7 */
static double poly7(const double c[8], double x) {
    double s = c[7];
    for (int i = 6; i >= 0; i--) s = s * x + c[i];
    return s;
}

/* Rational approximations of M. J. Wichura, algorithm AS 241 (Appl. Statist. 37, 1988), good to
 * about 1e-16: in the middle a function of (p-1/2)^2, in the tails of sqrt(-log p), cut at 5. */
double sl_num_normal_quantile(double p) {
    static const double A[8] = { 3.3871328727963666080e0,  1.3314166789178437745e+2,
                                 1.9715909503065514427e+3, 1.3731693765509461125e+4,
                                 4.5921953931549871457e+4, 6.7265770927008700853e+4,
                                 3.3430575583588128105e+4, 2.5090809287301226727e+3 };
    static const double B[8] = { 1.0000000000000000000e0,  4.2313330701600911252e+1,
                                 6.8718700749205790830e+2, 5.3941960214247511077e+3,
                                 2.1213794301586595867e+4, 3.9307895800092710610e+4,
                                 2.8729085735721942674e+4, 5.2264952788528545610e+3 };
    static const double C[8] = { 1.42343711074968357734e0,  4.63033784615654529590e0,
                                 5.76949722146069140550e0,  3.64784832476320460504e0,
                                 1.27045825245236838258e0,  2.41780725177450611770e-1,
                                 2.27238449892691845833e-2, 7.74545014278341407640e-4 };
    static const double D[8] = { 1.00000000000000000000e0,  2.05319162663775882187e0,
                                 1.67638483018380384940e0,  6.89767334985100004550e-1,
                                 1.48103976427480074590e-1, 1.51986665636164571966e-2,
                                 5.47593808499534494600e-4, 1.05075007164441684324e-9 };
    static const double E[8] = { 6.65790464350110377720e0,  5.46378491116411436990e0,
                                 1.78482653991729133580e0,  2.96560571828504891230e-1,
                                 2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                 2.71155556874348757815e-5, 2.01033439929228813265e-7 };
    static const double F[8] = { 1.00000000000000000000e0,  5.99832206555887937690e-1,
                                 1.36929880922735805310e-1, 1.48753612908506148525e-2,
                                 7.86869131145613259100e-4, 1.84631831751005468180e-5,
                                 1.42151175831644588870e-7, 2.04426310338993978564e-15 };
    if (!(p >= 0 && p <= 1)) return NAN;
    if (p == 0 || p == 1) return p == 0 ? -INFINITY : INFINITY;
    double q = p - 0.5;
    if (fabs(q) <= 0.425) {
        double r = 0.180625 - q * q;
        return q * poly7(A, r) / poly7(B, r);
    }
    double r = sqrt(-log(q < 0 ? p : 1 - p));
    double x = r <= 5 ? poly7(C, r - 1.6) / poly7(D, r - 1.6) : poly7(E, r - 5) / poly7(F, r - 5);
    return q < 0 ? -x : x;
}

/* x^a e^-x / Gamma(a). For large a the two factors are of the order of e^a and nearly cancel, so
 * there Stirling's series takes out x^a e^-x a^-a e^a = exp(-a (u - log(1+u))), u = x/a - 1. */
static double gamma_density(double a, double x) {
    static const double stirling[8] = { 1.0 / 12,   -1.0 / 360,      1.0 / 1260, -1.0 / 1680,
                                        1.0 / 1188, -691.0 / 360360, 1.0 / 156,  -3617.0 / 122400 };
    if (a < 10) return exp(a * log(x) - x) / tgamma(a);
    double u = (x - a) / a;
    return sqrt(a / (2 * PI)) * exp(a * (log1p(u) - u) - poly7(stirling, 1 / (a * a)) / a);
}

/* Regularised upper incomplete gamma function Q(a, x): the power series of 1 - Q below the mean,
 * the continued fraction (evaluated forwards, Lentz) above it. Both gain a digit in about sqrt(a)
 * terms at worst, so the loops converge; LIMIT is a safeguard. */
static double gamma_tail(double a, double x) {
    enum { LIMIT = 1000000 };
    if (x < a + 1) {
        double term = 1 / a, sum = term;
        for (int k = 1; k < LIMIT && term > sum * DBL_EPSILON / 4; k++) {
            term *= x / (a + k);
            sum += term;
        }
        return 1 - gamma_density(a, x) * sum;
    }
    double b = x + 1 - a, c = 1e300, d = 1 / b, h = d;
    for (int k = 1; k < LIMIT; k++) {
        double an = k * (a - k);
        b += 2;
        d = 1 / (an * d + b);
        c = b + an / c;
        h *= d * c;
        if (fabs(d * c - 1) < DBL_EPSILON) break;
    }
    return gamma_density(a, x) * h;
}

double sl_num_chi2_tail(double x, double k) {
    if (!(k > 0) || isnan(x)) return NAN;
    if (x <= 0) return 1;
    if (isinf(x)) return 0;
    return fmax(0, gamma_tail(k / 2, x / 2));
}

/* Stirling's series, from 10 on; below that by the recurrence. */
static double log_gamma(double x) {
    double shift = 0;
    for (; x < 10; x++) shift += log(x);
    const double r = 1 / (x * x);
    const double series = (1.0 / 12 - r * (1.0 / 360 - r * (1.0 / 1260 - r / 1680))) / x;
    return (x - 0.5) * log(x) - x + 0.5 * log(2 * PI) + series - shift;
}

/* The continued fraction of the regularised incomplete beta function I(x; a, b) by Lentz's method
 * (Numerical Recipes, 6.4); it converges fast for x < (a + 1)/(a + b + 2). */
static double beta_fraction(double x, double a, double b) {
    double c = 1, d = 1 / (1 - (a + b) * x / (a + 1)), h = d;
    for (int k = 1; k < 10000; k++) {
        const double even = k * (b - k) * x / ((a + 2 * k - 1) * (a + 2 * k));
        d = 1 / (1 + even * d);
        c = 1 + even / c;
        h *= d * c;
        const double odd = -(a + k) * (a + b + k) * x / ((a + 2 * k) * (a + 2 * k + 1));
        d = 1 / (1 + odd * d);
        c = 1 + odd / c;
        h *= d * c;
        if (fabs(d * c - 1) < DBL_EPSILON) break;
    }
    return h;
}

double sl_num_f_tail(double x, double m, double n) {
    if (!(m > 0) || !(n > 0) || isnan(x)) return NAN;
    if (x <= 0) return 1;
    if (isinf(x)) return 0;
    // P(X >= x) = I(n/(n + m x); n/2, m/2)
    const double a = n / 2, b = m / 2, at = n / (n + m * x), rest = m * x / (n + m * x);
    const double density =
        exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(at) + b * log(rest));
    if (at < (a + 1) / (a + b + 2)) return density * beta_fraction(at, a, b) / a;
    return 1 - density * beta_fraction(rest, b, a) / b;
}

/* P(K >= t) for Kolmogorov's limit law. Two forms of one theta function, each good where the other
 * is slow; at the cut four and five terms are enough. */
static double kolmogorov_tail(double t) {
    if (t <= 0) return 1;
    double sum = 0;
    if (t < 1) {
        for (int j = 1; j <= 7; j += 2) sum += exp(-(double)(j * j) * PI * PI / (8 * t * t));
        return 1 - sqrt(2 * PI) / t * sum;
    }
    for (int j = 1; j <= 5; j++) sum += (j % 2 ? 2 : -2) * exp(-2 * (double)(j * j) * t * t);
    return sum;
}

/* J. Vrbik, "Small-sample corrections to Kolmogorov-Smirnov test statistic" (2018): a shift of the
 * argument takes up the terms of order n^-1/2 and 1/n. The older one of Stephens is 9 (n = 10) to
 * 900 (n = 20,000) times worse. */
double sl_num_ks_tail(double d, int64_t n) {
    if (n <= 0 || isnan(d)) return NAN;
    if (d <= 0 || d >= 1) return d <= 0;
    double root = sqrt((double)n), t = root * d;
    return kolmogorov_tail(t + 1 / (6 * root) + (t - 1) / (4 * (double)n));
}

double sl_num_ks_uniform(double *u, int64_t n) {
    sl_num_sort(u, n);
    double d = 0;
    for (int64_t i = 0; i < n; i++) {
        if (!(u[i] >= 0 && u[i] <= 1)) return 0; // no uniform value at all
        d = fmax(d, fmax(u[i] - (double)i / (double)n, (double)(i + 1) / (double)n - u[i]));
    }
    return sl_num_ks_tail(d, n);
}

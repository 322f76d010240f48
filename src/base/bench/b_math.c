/* b_math - how fast exp, sin, log and cos are, per variant, beside a loop over libm.
 *
 * First every variant is held against libm's long double functions (64 bits of mantissa) on a
 * million values, then it is timed on arrays that fit the first cache, the second, and none.
 *
 *     build/bench/base.math            a table, tab separated
 *     build/bench/base.math 100        checks 100 times as many values before timing */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/math_impl.h"
#include "bench/bench.h"

enum { CHECKED = 1 << 20, REPEATS = 15 };
static const double ULP_MAX = 0.8;

static void libm_exp(double *y, const double *x, int n) {
    for (int i = 0; i < n; i++) y[i] = exp(x[i]);
}
static void libm_sin(double *y, const double *x, int n) {
    for (int i = 0; i < n; i++) y[i] = sin(x[i]);
}
static void libm_cos(double *y, const double *x, int n) {
    for (int i = 0; i < n; i++) y[i] = cos(x[i]);
}
static void libm_log(double *y, const double *x, int n) {
    for (int i = 0; i < n; i++) y[i] = log(x[i]);
}

/* A function, its exact version, libm's, and the arguments. */
typedef struct subject {
    const char *name;
    long double (*exact)(long double);
    sl_math__function *libm;
    double lo, hi;           // timed and checked here
    double hard_lo, hard_hi; // checked: where the error is largest
    double log_lo, log_hi;   // checked: exponents of two, of either sign if `sign`
    bool sign;
} subject;

static const subject subjects[] = {
    { "exp", expl, libm_exp, -20, 20, -0.5, 0.5, -40, 9.45, true },
    { "sin", sinl, libm_sin, -20, 20, 0.5, 2.5, -40, 1023, true },
    { "log", logl, libm_log, 1e-6, 1e6, 0.4, 2.5, -1022, 1023, false },
    { "cos", cosl, libm_cos, -20, 20, 0.5, 2.5, -40, 1023, true },
};

static sl_math__function *function_of(const sl_math__variant *v, int subject_number) {
    sl_math__function *f[] = { v->exp, v->sin, v->log, v->cos };
    return f[subject_number];
}

/* |y - exact| in units of the last place of the double nearest to exact. */
static double ulps(double y, long double exact) {
    double d = fabs((double)exact);
    double ulp = nextafter(d, INFINITY) - d;
    return (double)(fabsl((long double)y - exact) / ulp);
}

static double argument(sl_rng *rng, const subject *s, int i) {
    if (i % 3 == 0) return sl_rng_range(rng, s->lo, s->hi);
    if (i % 3 == 1) return sl_rng_range(rng, s->hard_lo, s->hard_hi);
    double exponent = floor(sl_rng_range(rng, s->log_lo, s->log_hi));
    double x = ldexp(1 + sl_rng_uniform(rng), (int)exponent);
    return s->sign && sl_rng_below(rng, 2) ? -x : x;
}

/* The largest error over a million values, a third from each range. */
static double check(double *where, const subject *s, sl_math__function *f, double *x, double *y,
                    int round) {
    sl_rng rng;
    sl_rng_init(&rng, 1, 0, (uint64_t)round);
    for (int i = 0; i < CHECKED; i++) x[i] = argument(&rng, s, i);
    f(y, x, CHECKED);
    double worst = 0;
    for (int i = 0; i < CHECKED; i++) {
        double u = ulps(y[i], s->exact(x[i]));
        if (!(u <= worst)) worst = u, *where = x[i];
    }
    return worst;
}

/* Best and median nanoseconds per value. */
static void measure(double *best, double *median, sl_math__function *f, double *y, const double *x,
                    int n) {
    double t[REPEATS];
    int calls = (1 << 21) / n + 1;
    for (int r = 0; r < REPEATS; r++) {
        double start = sl_clock();
        for (int c = 0; c < calls; c++) f(y, x, n);
        t[r] = (sl_clock() - start) * 1e9 / ((double)calls * n);
    }
    sl_bench_sort(t, REPEATS);
    *best = t[0];
    *median = t[REPEATS / 2];
}

int main(int argc, char **argv) {
    static const int sizes[] = { 8, 1000, 16000, 1000000 };
    int rounds = argc > 1 ? atoi(argv[1]) : 1;
    double *x = sl_malloc(CHECKED, sizeof *x), *y = sl_malloc(CHECKED, sizeof *y);
    if (!x || !y) return 3;

    printf("name\tn\tvariant\tbest_ns\tmedian_ns\tmillion_per_s\tmax_ulp\n");
    int status = 0;
    for (int s = 0; s < SL_LEN(subjects) && !status; s++) {
        const subject *sub = &subjects[s];
        for (int v = 0, last = 0; !last; v++) {
            const sl_math__variant *variant = sl_math__usable(v);
            last = variant == NULL;
            sl_math__function *f = last ? sub->libm : function_of(variant, s);
            double worst = 0, where = 0;
            for (int r = 0; r < rounds; r++) {
                double at = 0, u = check(&at, sub, f, x, y, r);
                if (u > worst) worst = u, where = at;
            }
            if (!last && !(worst <= ULP_MAX)) {
                fprintf(stderr, "%s %s: %.3f ulp at %a\n", sub->name, variant->name, worst, where);
                status = 1;
                break;
            }
            sl_rng rng;
            sl_rng_init(&rng, 2, 0, 0);
            for (int i = 0; i < CHECKED; i++) x[i] = sl_rng_range(&rng, sub->lo, sub->hi);
            for (int i = 0; i < SL_LEN(sizes); i++) {
                double best, median;
                measure(&best, &median, f, y, x, sizes[i]);
                printf("%s\t%d\t%s\t%.3f\t%.3f\t%.1f\t%.4f\n", sub->name, sizes[i],
                       last ? "libm" : variant->name, best, median, 1e3 / best, worst);
            }
        }
    }
    sl_free(x);
    sl_free(y);
    return status;
}

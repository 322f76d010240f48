/* exp, sin, log and cos: how far from the truth, what happens at the edges, and that the bits
 * depend on the argument alone. The stored answers are mpmath's; tests/golden/math/renew.py makes
 * them. */
#include <math.h>
#include <string.h>

#include "base/math_impl.h"
#include "fixture/fixture.h"

enum { EXP, SIN, LOG, COS, FUNCTIONS };
static const char *const function_name[FUNCTIONS] = { "exp", "sin", "log", "cos" };

/* The largest errors found in 26 million arguments each are 0.63, 0.69, 0.65 and 0.69 ulp. Where an
 * answer is subnormal, a last rounding comes on top of an error that then counts half at most. */
static const double ulp_max[FUNCTIONS] = { 0.65, 0.70, 0.65, 0.70 }, ULP_MAX_SUBNORMAL = 0.83;

typedef struct answer {
    uint64_t x, y; // bits; y is the double nearest to f(x)
    double rest;   // f(x) - y in ulps of y
} answer;

static const answer exp_answers[] = {
#include "golden/math/exp.inc"
};
static const answer sin_answers[] = {
#include "golden/math/sin.inc"
};
static const answer log_answers[] = {
#include "golden/math/log.inc"
};
static const answer cos_answers[] = {
#include "golden/math/cos.inc"
};

static double from_bits(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static uint64_t to_bits(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static sl_math__function *pick(const sl_math__variant *v, int function) {
    sl_math__function *all[FUNCTIONS] = { v->exp, v->sin, v->log, v->cos };
    return all[function];
}

static double scalar(int function, double x) {
    double (*all[FUNCTIONS])(double) = { sl_exp, sl_sin, sl_log, sl_cos };
    return all[function](x);
}

static void array(int function, double *y, const double *x, int n) {
    sl_math__function *all[FUNCTIONS] = { sl_exp_array, sl_sin_array, sl_log_array, sl_cos_array };
    all[function](y, x, n);
}

/* |result - f(x)| in ulps of the stored answer. The difference of doubles this close is exact. */
static double ulps(double result, const answer *a) {
    double y = from_bits(a->y);
    int exponent = (int)(a->y >> 52 & 0x7ff);
    double ulp = ldexp(1.0, SL_MAX(exponent, 1) - 1075);
    return fabs((result - y) / ulp - a->rest);
}

static void results_are_within_an_ulp(void **state) {
    sl_fixture *t = *state;
    const answer *answers[FUNCTIONS] = { exp_answers, sin_answers, log_answers, cos_answers };
    const int n_answers[FUNCTIONS] = { SL_LEN(exp_answers), SL_LEN(sin_answers),
                                       SL_LEN(log_answers), SL_LEN(cos_answers) };
    for (int f = 0; f < FUNCTIONS; f++) {
        const answer *a = answers[f];
        int n = n_answers[f];
        double *x = sl_arena_alloc(&t->arena, (size_t)n * sizeof *x);
        double *y = sl_arena_alloc(&t->arena, (size_t)n * sizeof *y);
        assert_true(x && y);
        for (int i = 0; i < n; i++) x[i] = from_bits(a[i].x);

        const sl_math__variant *v;
        for (int k = 0; (v = sl_math__usable(k)) != NULL; k++) {
            pick(v, f)(y, x, n);
            for (int i = 0; i < n; i++) {
                bool subnormal = (a[i].y >> 52 & 0x7ff) == 0;
                double worst = subnormal ? ULP_MAX_SUBNORMAL : ulp_max[f];
                SL_CHECK(t, ulps(y[i], &a[i]) <= worst, "%s(%a) = %a is off by %.3f ulp (%s)",
                         function_name[f], x[i], y[i], ulps(y[i], &a[i]), v->name);
            }
        }
    }
}

/* Arguments where C and IEEE 754 leave no choice; NaN is always the same NaN. */
static void edges_are_those_of_the_standard(void **state) {
    sl_fixture *t = *state;
    const uint64_t nan = 0x7ff8000000000000, inf = 0x7ff0000000000000, minus = 1ull << 63;
    const uint64_t one = 0x3ff0000000000000, max = 0x7fefffffffffffff;
    const struct {
        int f;
        uint64_t x, y;
    } edges[] = {
        { EXP, 0, one },
        { EXP, minus, one },
        { EXP, 1, one },
        { EXP, inf, inf },
        { EXP, inf | minus, 0 },
        { EXP, max, inf },
        { EXP, max | minus, 0 },
        { EXP, 0x40862e42fefa39f0, inf }, // first double above log(DBL_MAX)
        { EXP, 0xc0874910d52d3052, 0 },   // first below log(2^-1075)
        { EXP, 0xc0874910d52d3051, 1 },
        { SIN, 0, 0 },
        { SIN, minus, minus },
        { SIN, 1, 1 },
        { SIN, 1 | minus, 1 | minus },
        { SIN, inf, nan },
        { SIN, inf | minus, nan },
        { COS, 0, one },
        { COS, minus, one },
        { COS, 1, one },
        { COS, inf, nan },
        { LOG, 0, inf | minus },
        { LOG, minus, inf | minus },
        { LOG, one, 0 },
        { LOG, inf, inf },
        { LOG, 1 | minus, nan },
        { LOG, one | minus, nan },
        { LOG, inf | minus, nan },
    };
    const uint64_t nans[] = { nan, nan | minus, inf + 1, (inf + 1) | minus, UINT64_MAX };

    const sl_math__variant *v;
    for (int k = 0; (v = sl_math__usable(k)) != NULL; k++) {
        for (int i = 0; i < SL_LEN(edges); i++) {
            double x = from_bits(edges[i].x), y;
            pick(v, edges[i].f)(&y, &x, 1);
            SL_CHECK(t, to_bits(y) == edges[i].y, "%s(%a) = %a, should be %a (%s)",
                     function_name[edges[i].f], x, y, from_bits(edges[i].y), v->name);
        }
        for (int i = 0; i < SL_LEN(nans) * FUNCTIONS; i++) {
            double x = from_bits(nans[i / FUNCTIONS]), y;
            pick(v, i % FUNCTIONS)(&y, &x, 1);
            SL_CHECK(t, to_bits(y) == nan, "%s(%llx) = %llx (%s)", function_name[i % FUNCTIONS],
                     (unsigned long long)to_bits(x), (unsigned long long)to_bits(y), v->name);
        }
    }
}

/* A third any bits at all, which is mostly huge and tiny numbers and a few NaN; the rest numbers as
 * people use them. */
static void random_arguments(double *x, int n, sl_rng *rng) {
    for (int i = 0; i < n; i++) {
        uint64_t bits = sl_rng_u64(rng);
        if (i % 3 == 1) bits = (bits & ~(UINT64_C(0x7e) << 56)) | UINT64_C(0x3e) << 56; // 2^-31..2
        if (i % 3 == 2) bits = (bits & ~(UINT64_C(0x7f) << 56)) | UINT64_C(0x40) << 56; // 2..2^17
        x[i] = from_bits(bits);
    }
}

static void every_variant_gives_the_same_bits(void **state) {
    sl_fixture *t = *state;
    enum { N = 30000 };
    size_t bytes = N * sizeof(double);
    double *x = sl_arena_alloc(&t->arena, bytes), *y = sl_arena_alloc(&t->arena, bytes);
    double *other = sl_arena_alloc(&t->arena, bytes);
    assert_true(x && y && other);
    for (int round = 0; round < sl_test_iters(t, 40); round++) {
        random_arguments(x, N, &t->rng);
        for (int f = 0; f < FUNCTIONS; f++) {
            for (int i = 0; i < N; i++) y[i] = scalar(f, x[i]);
            const sl_math__variant *v;
            for (int k = 0; (v = sl_math__usable(k)) != NULL; k++) {
                pick(v, f)(other, x, N);
                for (int i = 0; i < N; i++)
                    SL_CHECK(t, to_bits(other[i]) == to_bits(y[i]), "%s(%a): %s says %a, alone %a",
                             function_name[f], x[i], v->name, other[i], y[i]);
            }
        }
    }
}

/* What all machines and compilers must agree on, which no test on one machine can see otherwise:
 * a hash of the results on 300,000 arguments. A change of the method changes it, and with it every
 * data set that was computed before. */
static void the_bits_are_those_of_every_machine(void **state) {
    sl_fixture *t = *state;
    static const uint64_t stored[FUNCTIONS] = { 0x230e67ba82bb07e8, 0xfe8e9c0a2ebf866a,
                                                0x6656a8c79b2c1d27, 0xbef75eb11119e668 };
    enum { N = 300000 };
    double *x = sl_arena_alloc(&t->arena, N * sizeof *x);
    double *y = sl_arena_alloc(&t->arena, N * sizeof *y);
    assert_true(x && y);
    sl_rng rng;
    sl_rng_init(&rng, 1, 2, 3); // not the fixture's: its seed may vary
    random_arguments(x, N, &rng);
    for (int f = 0; f < FUNCTIONS; f++) {
        array(f, y, x, N);
        uint64_t hash = sl_hash(y, N * sizeof *y, 0);
        SL_CHECK(t, hash == stored[f], "%s: hash 0x%016llx", function_name[f],
                 (unsigned long long)hash);
    }
}

/* Any start, any length, in place or not; and nothing is written outside. */
static void place_and_length_do_not_matter(void **state) {
    sl_fixture *t = *state;
    enum { N = 48 };
    double x[N], y[N], guard = -12345.0;
    for (int round = 0; round < sl_test_iters(t, 20); round++) {
        random_arguments(x, N, &t->rng);
        for (int from = 0; from < 9; from++) {
            for (int n = 0; from + n < N; n++) {
                for (int f = 0; f < FUNCTIONS; f++) {
                    bool in_place = (round + n) % 2;
                    for (int i = 0; i < N; i++) y[i] = guard;
                    if (in_place) memcpy(y + from, x + from, (size_t)n * sizeof x[0]);
                    array(f, y + from, in_place ? y + from : x + from, n);
                    for (int i = 0; i < N; i++) {
                        bool inside = i >= from && i < from + n;
                        double want = inside ? scalar(f, x[i]) : guard;
                        SL_CHECK(t, to_bits(y[i]) == to_bits(want),
                                 "%s(%a) is %a alone, %a at %d of %d values from %d on",
                                 function_name[f], x[i], want, y[i], i, n, from);
                    }
                }
            }
        }
    }
}

static void sin_is_odd(void **state) {
    sl_fixture *t = *state;
    enum { N = 3000 };
    double x[N];
    for (int round = 0; round < sl_test_iters(t, 10); round++) {
        random_arguments(x, N, &t->rng);
        for (int i = 0; i < N; i++) {
            if (!isfinite(x[i])) continue;
            SL_CHECK(t, to_bits(sl_sin(-x[i])) == to_bits(-sl_sin(x[i])), "at %a", x[i]);
        }
    }
}

/* Both at once is each alone, for every bit pattern, length and variant, also in place. */
static void sine_and_cosine_together_are_each_alone(void **state) {
    sl_fixture *t = *state;
    enum { MOST = 37 };
    const sl_math__variant *v;
    for (int i = 0; i < sl_test_iters(t, 3000); i++) {
        double x[MOST], s[MOST], c[MOST], want_s[MOST], want_c[MOST];
        const int n = (int)sl_rng_below(&t->rng, MOST + 1);
        for (int k = 0; k < n; k++)
            x[k] = i % 2 ? from_bits(sl_rng_u64(&t->rng)) : sl_rng_range(&t->rng, -10, 10);
        sl_sin_array(want_s, x, n);
        sl_cos_array(want_c, x, n);
        for (int k = 0; (v = sl_math__usable(k)) != NULL; k++) {
            memset(s, 0, sizeof s);
            memset(c, 0, sizeof c);
            v->sincos(s, c, x, n);
            SL_CHECK(t, memcmp(s, want_s, (size_t)n * sizeof *s) == 0, "sine, %d of %s", n,
                     v->name);
            SL_CHECK(t, memcmp(c, want_c, (size_t)n * sizeof *c) == 0, "cosine, %d of %s", n,
                     v->name);
        }
        memcpy(s, x, sizeof s);
        sl_sincos_array(s, c, s, n);
        SL_CHECK(t, memcmp(s, want_s, (size_t)n * sizeof *s) == 0, "sine in place, %d", n);
        SL_CHECK(t, memcmp(c, want_c, (size_t)n * sizeof *c) == 0, "cosine beside it, %d", n);
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(sine_and_cosine_together_are_each_alone),
        SL_TEST(results_are_within_an_ulp),
        SL_TEST(edges_are_those_of_the_standard),
        SL_TEST(every_variant_gives_the_same_bits),
        SL_TEST(the_bits_are_those_of_every_machine),
        SL_TEST(place_and_length_do_not_matter),
        SL_TEST(sin_is_odd),
    };
    return sl_test_main("base.math", tests, SL_LEN(tests));
}

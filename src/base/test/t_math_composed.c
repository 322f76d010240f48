/* tan, the hyperbolic functions and the inverses of sin, cos and tan: how far from libm's wider
 * results, what happens at the edges, and that the bits depend on the argument alone. */
#include <math.h>
#include <string.h>

#include "base/math_impl.h"
#include "fixture/fixture.h"

typedef struct composed {
    const char *name;
    double (*one)(double);
    void (*array)(double *, const double *, int);
    long double (*wide)(long double);
    size_t offset; // of the function in a variant
    double most;   // arguments of interest are -most .. most
    bool odd;
} composed;

#define ROW(f, most, odd) \
    { #f, sl_##f, sl_##f##_array, f##l, offsetof(sl_math__variant, f), most, odd }
static const composed functions[] = {
    ROW(tan, 30, true),  ROW(sinh, 5, true), ROW(cosh, 5, false), ROW(tanh, 5, true),
    ROW(atan, 10, true), ROW(asin, 1, true), ROW(acos, 1, false),
};

static sl_math__function *pick(const sl_math__variant *v, const composed *f) {
    sl_math__function *g;
    memcpy(&g, (const char *)v + f->offset, sizeof g);
    return g;
}

static uint64_t to_bits(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static double from_bits(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* A third where the function bends, a third of it small, a third any bits at all. */
static void random_arguments(double *x, int n, double most, sl_rng *rng) {
    for (int i = 0; i < n; i++) {
        x[i] = sl_rng_range(rng, -most, most);
        if (i % 3 == 1) x[i] = ldexp(x[i], -(int)sl_rng_below(rng, 60));
        if (i % 3 == 2) x[i] = from_bits(sl_rng_u64(rng));
    }
}

/* The largest error found in 20 million arguments each is 2.33 ulp, of tanh. */
static void results_are_within_the_bound(void **state) {
    sl_fixture *t = *state;
    enum { N = 3000 };
    const double bound = 2.5;
    double x[N], y[N];
    for (int round = 0; round < sl_test_iters(t, 20); round++) {
        for (int k = 0; k < SL_LEN(functions); k++) {
            const composed *f = &functions[k];
            random_arguments(x, N, f->most, &t->rng);
            f->array(y, x, N);
            for (int i = 0; i < N; i++) {
                const long double want = f->wide(x[i]);
                if (isnan(want)) {
                    SL_CHECK(t, isnan(y[i]), "%s(%a) = %a", f->name, x[i], y[i]);
                    continue;
                }
                if (fabsl(want) > 0x1.fffffffffffffp1023L) {
                    SL_CHECK(t, isinf(y[i]), "%s(%a) = %a", f->name, x[i], y[i]);
                    continue;
                }
                int e;
                frexpl(want, &e);
                const long double ulp = ldexpl(1, SL_MAX(e, -1021) - 53);
                SL_CHECK(t, fabsl(y[i] - want) <= (long double)bound * ulp,
                         "%s(%a) = %a is off by %.3Lf ulp", f->name, x[i], y[i],
                         fabsl(y[i] - want) / ulp);
            }
        }
    }
}

static void every_variant_gives_the_same_bits(void **state) {
    sl_fixture *t = *state;
    enum { N = 3001 };
    double x[N], y[N], other[N];
    for (int round = 0; round < sl_test_iters(t, 10); round++) {
        for (int k = 0; k < SL_LEN(functions); k++) {
            const composed *f = &functions[k];
            random_arguments(x, N, f->most, &t->rng);
            f->array(y, x, N);
            const sl_math__variant *v;
            for (int i = 0; (v = sl_math__usable(i)) != NULL; i++) {
                pick(v, f)(other, x, N);
                SL_CHECK(t, memcmp(other, y, sizeof y) == 0, "%s of %s", f->name, v->name);
            }
            for (int i = 0; i < N; i++) {
                if (x[i] == 0) continue; // one value alone has no negative zero
                SL_CHECK(t, to_bits(f->one(x[i])) == to_bits(y[i]), "%s(%a) alone", f->name, x[i]);
                if (f->odd && !isnan(y[i]))
                    SL_CHECK(t, f->one(-x[i]) == -y[i], "%s(%a) is not odd", f->name, x[i]);
            }
        }
    }
}

/* What all machines must agree on: a hash of the results on 100,000 arguments each. */
static void the_bits_are_those_of_every_machine(void **state) {
    sl_fixture *t = *state;
    static const uint64_t stored[] = { 0x485b58f6b6843232, 0x9f0903f67481be46, 0x5ab5f34c152be95f,
                                       0x6fa6cdcdfee0635a, 0x68eec478ff6822b8, 0xef709910d02625fd,
                                       0x75fbd0da16e59b5d };
    enum { N = 100000 };
    double *x = sl_arena_alloc(&t->arena, N * sizeof *x);
    double *y = sl_arena_alloc(&t->arena, N * sizeof *y);
    assert_true(x && y);
    for (int k = 0; k < SL_LEN(functions); k++) {
        sl_rng rng;
        sl_rng_init(&rng, 1, 2, 3); // not the fixture's: its seed may vary
        random_arguments(x, N, functions[k].most, &rng);
        functions[k].array(y, x, N);
        const uint64_t hash = sl_hash(y, N * sizeof *y, 0);
        SL_CHECK(t, hash == stored[k], "%s: hash 0x%016llx", functions[k].name,
                 (unsigned long long)hash);
    }
}

static void edges_are_those_of_the_standard(void **state) {
    sl_fixture *t = *state;
    enum { TAN, SINH, COSH, TANH, ATAN, ASIN, ACOS };
    const double half_pi = 0x1.921fb54442d18p+0, inf = (double)INFINITY, nan = (double)NAN;
    const struct {
        int f;
        double x, y;
    } edges[] = {
        { TAN, 0.0, 0.0 },          { TAN, -0.0, -0.0 },
        { TAN, inf, nan },          { TAN, 0x1p-1074, 0x1p-1074 },
        { SINH, -0.0, -0.0 },       { SINH, inf, inf },
        { SINH, -inf, -inf },       { SINH, 711, inf },
        { COSH, 0.0, 1.0 },         { COSH, -inf, inf },
        { COSH, -711, inf },        { TANH, -0.0, -0.0 },
        { TANH, inf, 1.0 },         { TANH, -1e300, -1.0 },
        { ATAN, -0.0, -0.0 },       { ATAN, inf, half_pi },
        { ATAN, -1e300, -half_pi }, { ATAN, 1.0, half_pi / 2 },
        { ASIN, -0.0, -0.0 },       { ASIN, 1.0, half_pi },
        { ASIN, -1.0, -half_pi },   { ASIN, 0x1.0000000000001p0, nan },
        { ACOS, 1.0, 0.0 },         { ACOS, -1.0, 2 * half_pi },
        { ACOS, 0.0, half_pi },     { ACOS, -inf, nan },
    };
    for (int i = 0; i < SL_LEN(edges); i++) {
        double y;
        functions[edges[i].f].array(&y, &edges[i].x, 1);
        SL_CHECK(t,
                 isnan(edges[i].y) ? to_bits(y) == UINT64_C(0x7ff8000000000000)
                                   : to_bits(y) == to_bits(edges[i].y),
                 "%s(%a) = %a, not %a", functions[edges[i].f].name, edges[i].x, y, edges[i].y);
    }
    const uint64_t nans[] = { 0x7ff8000000000000, 0xfff8000000000001, 0x7ff0000000000001 };
    for (int k = 0; k < SL_LEN(functions) * SL_LEN(nans); k++) {
        double x = from_bits(nans[k % SL_LEN(nans)]), y;
        const composed *f = &functions[k / SL_LEN(nans)];
        f->array(&y, &x, 1);
        SL_CHECK(t, to_bits(y) == UINT64_C(0x7ff8000000000000), "%s(NaN) = %a", f->name, y);
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(results_are_within_the_bound),
        SL_TEST(every_variant_gives_the_same_bits),
        SL_TEST(the_bits_are_those_of_every_machine),
        SL_TEST(edges_are_those_of_the_standard),
    };
    return sl_test_main("base.math_composed", tests, SL_LEN(tests));
}

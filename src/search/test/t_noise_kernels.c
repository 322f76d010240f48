#include <math.h>
#include <string.h>

#include "fixture/fixture.h"
#include "search/noise_kernels.h"

enum { DIMS_MAX = 48, TILE = SL_NOISE__TILE };

typedef struct vectors {
    float x[DIMS_MAX], y[DIMS_MAX];
    float tile[DIMS_MAX * TILE] __attribute__((aligned(64)));
    float b[TILE] __attribute__((aligned(64)));
    float a;
} vectors;

static void normalise(float *v, int n, int stride) {
    double sum = 0;
    for (int d = 0; d < n; d++) sum += (double)v[d * stride] * v[d * stride];
    for (int d = 0; d < n; d++) v[d * stride] = (float)(v[d * stride] / sqrt(sum));
}

static void fill(vectors *v, sl_rng *rng, int dims) {
    for (int d = 0; d < dims; d++) v->x[d] = (float)sl_rng_normal(rng);
    for (int d = 0; d < dims; d++) v->y[d] = (float)sl_rng_normal(rng);
    normalise(v->x, dims, 1);
    normalise(v->y, dims, 1);
    v->a = 0;
    for (int d = 0; d < dims; d++) v->a += v->x[d] * v->y[d];
    for (int k = 0; k < TILE; k++) {
        // some close to x, one equal, one whose combination with x is y
        float near = k % 8 == 1 ? 0.9999f : k == 2 ? 1 : 0;
        for (int d = 0; d < dims; d++) {
            float noise = k == 3 ? v->y[d] + 0.3f * v->x[d] : (float)sl_rng_normal(rng);
            v->tile[d * TILE + k] = near * v->x[d] + (1 - near) * noise;
        }
        normalise(v->tile + k, dims, TILE);
        v->b[k] = 0;
        for (int d = 0; d < dims; d++) v->b[k] += v->tile[d * TILE + k] * v->y[d];
    }
}

/* What the best a f + b g leaves of y: by least squares in double, orthogonal step by step. */
static double left_of(const vectors *v, int k, int dims, double *apart) {
    double fg = 0, fy = 0, gy = 0, gg = 0, rest = 0, g[DIMS_MAX];
    for (int d = 0; d < dims; d++) fg += (double)v->x[d] * v->tile[d * TILE + k];
    for (int d = 0; d < dims; d++) {
        g[d] = v->tile[d * TILE + k] - fg * v->x[d];
        gg += g[d] * g[d];
        fy += (double)v->x[d] * v->y[d];
    }
    *apart = gg;
    for (int d = 0; d < dims; d++) gy += g[d] * v->y[d] / gg;
    for (int d = 0; d < dims; d++) {
        double r = v->y[d] - fy * v->x[d] - gy * g[d];
        rest += r * r;
    }
    return rest;
}

static void pairs_leave_what_least_squares_leaves(void **state) {
    sl_fixture *t = *state;
    static vectors v;
    for (int i = 0; i < sl_test_iters(t, 60); i++) {
        int dims = 4 + (int)sl_rng_below(&t->rng, DIMS_MAX - 3);
        float left[TILE] __attribute__((aligned(64)));
        fill(&v, &t->rng, dims);
        int below = sl_search__noise_kernels_at(sl_cpu())->pairs(left, v.x, v.a, v.tile, v.b, dims,
                                                                 0.5f),
            count = 0;
        for (int k = 0; k < TILE; k++) {
            double apart, naive = left_of(&v, k, dims, &apart);
            count += left[k] < 0.5f;
            if (apart < 0.5 * SL_NOISE__PARALLEL) {
                SL_CHECK(t, left[k] == 2, "%d dims, term %d: parallel, but %g", dims, k, left[k]);
            } else if (apart > 2 * SL_NOISE__PARALLEL) {
                SL_CHECK(t, fabs(left[k] - naive) < 1e-6 / apart + 1e-5,
                         "%d dims, term %d: %g instead of %g", dims, k, left[k], naive);
            }
        }
        SL_CHECK(t, below == count, "%d below one half, %d counted", count, below);
        SL_CHECK(t, left[3] < 1e-4, "y is a sum of both, but %g is left", left[3]);
    }
}

static void every_instruction_set_gives_the_same_bits(void **state) {
    sl_fixture *t = *state;
    static vectors v;
    for (int i = 0; i < sl_test_iters(t, 60); i++) {
        int dims = 4 + (int)sl_rng_below(&t->rng, DIMS_MAX - 3);
        float base[TILE] __attribute__((aligned(64))), other[TILE] __attribute__((aligned(64)));
        fill(&v, &t->rng, dims);
        int n = sl_search__noise_kernels_base.pairs(base, v.x, v.a, v.tile, v.b, dims, 0.9f);
        for (sl_isa isa = SL_ISA_BASE; isa <= sl_cpu_best(); isa++) {
            int m =
                sl_search__noise_kernels_at(isa)->pairs(other, v.x, v.a, v.tile, v.b, dims, 0.9f);
            SL_CHECK(t, n == m && memcmp(base, other, sizeof base) == 0, "%d dims: %s differs",
                     dims, sl_isa_name(isa));
        }
    }
}

/* Every instruction set, and sums in double in any order. */
static void projections_are_products_of_a_matrix(void **state) {
    sl_fixture *t = *state;
    enum { STRIDE = 64 };
    double projector[DIMS_MAX * STRIDE], value[STRIDE], base[DIMS_MAX], other[DIMS_MAX];
    for (int i = 0; i < sl_test_iters(t, 60); i++) {
        const int dims = 1 + (int)sl_rng_below(&t->rng, DIMS_MAX);
        const int stride = 8 * (1 + (int)sl_rng_below(&t->rng, STRIDE / 8));
        for (int k = 0; k < dims * stride; k++) projector[k] = sl_rng_normal(&t->rng);
        for (int k = 0; k < stride; k++) value[k] = sl_rng_normal(&t->rng);
        sl_search__noise_kernels_base.project(base, projector, value, dims, stride);
        for (int d = 0; d < dims; d++) {
            double sum = 0;
            for (int k = 0; k < stride; k++) sum += projector[d * stride + k] * value[k];
            SL_CHECK(t, fabs(base[d] - sum) < 1e-12, "row %d of %d: %g instead of %g", d, dims,
                     base[d], sum);
        }
        for (sl_isa isa = SL_ISA_BASE; isa <= sl_cpu_best(); isa++) {
            sl_search__noise_kernels_at(isa)->project(other, projector, value, dims, stride);
            SL_CHECK(t, memcmp(base, other, (size_t)dims * sizeof *base) == 0,
                     "%d dims, %d values: %s differs", dims, stride, sl_isa_name(isa));
        }
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(pairs_leave_what_least_squares_leaves),
        SL_TEST(every_instruction_set_gives_the_same_bits),
        SL_TEST(projections_are_products_of_a_matrix),
    };
    return sl_test_main("search.noise_kernels", tests, SL_LEN(tests));
}

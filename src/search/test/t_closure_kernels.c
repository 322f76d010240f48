#include <math.h>
#include <string.h>

#include "fixture/fixture.h"
#include "search/closure_kernels.h"

enum { ROWS = 96, COLUMNS = 11 };

typedef struct vectors {
    double q[COLUMNS][ROWS], v[ROWS];
} vectors;

static double dot(const double *a, const double *b, int rows) {
    double sum = 0;
    for (int r = 0; r < rows; r++) sum += a[r] * b[r];
    return sum;
}

/* Random orthonormal columns, and a vector. */
static void fill(vectors *x, sl_rng *rng, int rows) {
    for (int r = 0; r < ROWS; r++) x->v[r] = r < rows ? sl_rng_normal(rng) : 77;
    for (int i = 0; i < COLUMNS; i++) {
        double *q = x->q[i];
        for (int r = 0; r < ROWS; r++) q[r] = r < rows ? sl_rng_normal(rng) : 77;
        for (int k = 0; k < 2 * i; k++) {
            const double part = dot(q, x->q[k % i], rows);
            for (int r = 0; r < rows; r++) q[r] -= part * x->q[k % i][r];
        }
        const double length = sqrt(dot(q, q, rows));
        for (int r = 0; r < rows; r++) q[r] /= length;
    }
}

/* What is left has no part in any column, is what the vector had beyond them, and is the same bits
 * at every level of the CPU. */
static void what_is_left_is_outside_of_the_span(void **state) {
    sl_fixture *t = *state;
    for (int i = 0; i < sl_test_iters(t, 60); i++) {
        vectors x;
        double left[ROWS], other[ROWS], own = 0;
        const int rows = 16 + 8 * (int)sl_rng_below(&t->rng, (ROWS - 16) / 8 + 1);
        const int n = (int)sl_rng_below(&t->rng, COLUMNS + 1);
        fill(&x, &t->rng, rows);
        memcpy(left, x.v, sizeof left);
        const double square =
            sl_search__closure_kernels_at(SL_ISA_BASE)->project(left, x.q[0], n, rows, ROWS);
        for (int k = 0; k < n; k++) {
            const double part = dot(x.q[k], x.v, rows);
            own += part * part;
            SL_CHECK(t, fabs(dot(x.q[k], left, rows)) < 1e-13, "column %d of %d", k, n);
        }
        SL_CHECK(t, fabs(square + own - dot(x.v, x.v, rows)) < 1e-11, "%g beside %g", square, own);
        SL_CHECK(t, rows == ROWS || left[rows] == 77, "what is behind the rows changes");
        for (sl_isa isa = SL_ISA_BASE; isa <= sl_cpu_best(); isa++) {
            memcpy(other, x.v, sizeof other);
            const double same =
                sl_search__closure_kernels_at(isa)->project(other, x.q[0], n, rows, ROWS);
            SL_CHECK(t, same == square && !memcmp(left, other, sizeof left), "%s: other bits",
                     sl_isa_name(isa));
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        SL_TEST(what_is_left_is_outside_of_the_span),
    };
    return sl_test_main("search.closure_kernels", tests, SL_LEN(tests));
}

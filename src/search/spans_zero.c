/* spans_zero - y^p z as a polynomial of degree 2, for many monomials z.
 *
 * No term of the store is needed: y^p z is tested against one vector that is orthogonal to all
 * polynomials of degree 2 over a few rows. One dot product a monomial and power, so tens of
 * thousands of z cost milliseconds. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "par/par.h"
#include "search/spans_impl.h"

enum { POWERS = 4, HALVES = 8, ROWS_MAX = 96, DIM_MAX = 80, GRAIN = 256, HITS_MAX = 256 };

static const int8_t power_of_y[POWERS] = { 1, -1, 2, -2 };
static const double ORTHOGONAL = 1e-11; // a dot product this small beside its length is rounding

typedef struct scan {
    sl_spans *s;
    int rows, from;
    double weight[POWERS][ROWS_MAX];                           // the vector times y^p
    double root[SL_DATA_MAX_INPUTS][2 * HALVES + 1][ROWS_MAX]; // x^(h/2)
    uint8_t *hit;                                              // by monomial: which powers
} scan;

/* Takes the n vectors of basis out of v, which becomes a unit vector. */
static void make_orthogonal(double *v, double (*basis)[ROWS_MAX], int n, int rows) {
    for (int repeat = 0; repeat < 3; repeat++)
        for (int i = 0; i < n; i++) {
            double c = sl_search__dot(basis[i], v, rows);
            for (int k = 0; k < rows; k++) v[k] -= c * basis[i][k];
        }
    double length = sqrt(sl_search__dot(v, v, rows));
    for (int k = 0; k < rows; k++) v[k] = length > 0 ? v[k] / length : 0;
}

static void fill_roots(scan *z) {
    const sl_search__job *j = z->s->job;
    for (int v = 0; v < j->rows.inputs; v++)
        for (int h = -HALVES; h <= HALVES; h++)
            for (int k = 0; k < z->rows; k++) {
                double x = j->rows.x[v][k], base = h % 2 ? sqrt(fabs(x)) : x, p = 1;
                for (int i = abs(h) / (h % 2 ? 1 : 2); i > 0; i--) p *= base;
                z->root[v][h + HALVES][k] = h < 0 ? 1 / p : p;
            }
}

static void fill_weights(scan *z, double (*basis)[ROWS_MAX]) {
    const sl_search__job *j = z->s->job;
    const sl_search__spans_span *span = &z->s->span[SL_SPANS__QUADRATIC];
    double normal[ROWS_MAX];
    sl_rng rng;
    for (int i = 0; i < span->dim; i++) {
        sl_search__spans_monomial(basis[i], span->power[i], j->rows.x, j->rows.inputs, z->rows);
        double length = sqrt(sl_search__dot(basis[i], basis[i], z->rows));
        for (int k = 0; k < z->rows; k++) basis[i][k] /= length;
        make_orthogonal(basis[i], basis, i, z->rows);
    }
    sl_rng_init(&rng, 14, 1, 0);
    for (int k = 0; k < z->rows; k++) normal[k] = sl_rng_uniform(&rng) - 0.5;
    make_orthogonal(normal, basis, span->dim, z->rows);
    for (int k = 0; k < z->rows; k++) {
        double y = j->rows.y[k], value[POWERS] = { y, 1 / y, y * y, 1 / (y * y) };
        for (int p = 0; p < POWERS; p++) z->weight[p][k] = normal[k] * value[p];
    }
}

static sl_status scan_part(int64_t begin, int64_t end, int worker, void *payload) {
    scan *z = payload;
    if (sl_search__stop(z->s->job, worker == 0)) return SL_OK;
    for (int64_t i = begin; i < end; i++) {
        const int8_t *e = sl_search__store_row(z->s->store, z->from + (int)i);
        double m[ROWS_MAX];
        for (int k = 0; k < z->rows; k++) m[k] = 1;
        for (int v = 0; v < z->s->job->rows.inputs; v++) {
            if (!e[v]) continue;
            const double *r = z->root[v][e[v] + HALVES];
            for (int k = 0; k < z->rows; k++) m[k] *= r[k];
        }
        z->hit[i] = 0;
        for (int p = 0; p < POWERS; p++) {
            double sum = 0, norm = 0;
            for (int k = 0; k < z->rows; k++) {
                double x = z->weight[p][k] * m[k];
                sum += x, norm += x * x;
            }
            if (fabs(sum) < ORTHOGONAL * sqrt(norm)) z->hit[i] |= (uint8_t)(1 << p);
        }
    }
    return SL_OK;
}

/* The quadratic span, as one more that has no tables. */
static bool open_quadratic(sl_spans *s, sl_arena *a) {
    sl_search__spans_span *span = &s->span[SL_SPANS__QUADRATIC];
    int n = s->job->rows.inputs;
    *span =
        (sl_search__spans_span){ .degree = 2, .dim = sl_search__spans_monomials(NULL, 0, n, 2) };
    if (span->dim + 6 > s->job->rows.rows || span->dim > DIM_MAX) return false;
    span->power = sl_arena_alloc(a, (size_t)span->dim * sizeof *span->power);
    if (!span->power) return false;
    memset(span->power, 0, (size_t)span->dim * sizeof *span->power);
    sl_search__spans_monomials(span->power, span->dim, n, 2);
    return true;
}

static sl_status verify_hits(scan *z, int n) {
    sl_spans *s = z->s;
    sl_search__spans_target *t = &s->target[s->targets]; // a place behind the list is free
    for (int i = 0, looked = 0; i < n && looked < HITS_MAX && !s->found; i++) {
        for (int p = 0; p < POWERS; p++) {
            if (!(z->hit[i] >> p & 1)) continue;
            *t = (sl_search__spans_target){ SL_SPANS__TIMES, power_of_y[p], SL_SPANS__ROW,
                                            z->from + i, 0 };
            sl_search__spans_hit hit = { .span = SL_SPANS__QUADRATIC, .target = s->targets };
            SL_TRY(sl_search__spans_verify(s, &hit));
            looked++;
        }
    }
    return SL_OK;
}

sl_status sl_search__spans_zero(sl_spans *s, int from, int to) {
    sl_status st = SL_OK;
    size_t mark = sl_arena_mark(&s->arena);
    scan *z = sl_arena_alloc(&s->arena, sizeof *z);
    double(*basis)[ROWS_MAX] = sl_arena_alloc(&s->arena, DIM_MAX * sizeof *basis);
    int n = 0;
    if (!z || !basis) return sl_fail_memory(1, sizeof *z, "monomials times y");
    if (!open_quadratic(s, &s->arena)) goto done;
    SL_GO(sl_search__store_rows(&n, s->job->store, to));
    n = SL_MAX(n - from, 0);
    *z = (scan){ .s = s, .rows = s->span[SL_SPANS__QUADRATIC].dim + 3, .from = from };
    z->hit = sl_arena_alloc(&s->arena, (size_t)n + 1);
    if (!z->hit) st = sl_fail_memory((size_t)n, 1, "monomials times y");
    if (st != SL_OK) goto done;
    memset(z->hit, 0, (size_t)n + 1);
    fill_roots(z);
    fill_weights(z, basis);
    SL_GO(sl_par_for(s->job->pool, n, GRAIN, scan_part, z));
    if (sl_search__stop(s->job, true)) goto done;
    atomic_fetch_add(&s->job->tried, POWERS * (int64_t)n);
    st = verify_hits(z, n);
done:
    sl_arena_rewind(&s->arena, mark);
    return st;
}

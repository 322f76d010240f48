/* rational - polynomials and quotients of polynomials.
 *
 *     y D(x) = N(x),   degrees ascending, all coefficients free
 *
 * The columns 1, x, x^2, ..., then y, y x, ... are made orthogonal one after the other; a column of
 * y that the ones before it leave nothing of is a formula. Terms that it does not need are dropped
 * and the others fitted again.
 *
 * A quotient with many coefficients comes close to any smooth function. So a formula found here has
 * few of them beside the rows that were fitted, and it has to hold in the other rows too. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "search/spans_impl.h"
#include "search/write.h"

enum { COLUMNS = 90, PART_OF_ROWS = 3, SPARE_ROWS = 12 };

static const double DEPENDENT = 1e-10; // of a column's length is left: rounding
static const double NOTHING = 1e-9;    // a summand this small beside the largest

typedef struct quotient {
    sl_search__job *job;
    sl_arena arena;
    int8_t (*power)[SL_DATA_MAX_INPUTS]; // of column i
    double **column;                     // all rows, weighted; those of D times y
    double **unit;                       // the orthogonal ones, rows that are fitted
    int *used;                           // columns that gave them
    double *weight;
    int level, numerator, n; // columns of N; of both
    int64_t rows, fitted;
} quotient;

/* ---------------------------------------------------------------- columns ------------------- */

static double dot(const double *a, const double *b, int64_t n) {
    double s = 0;
    for (int64_t i = 0; i < n; i++) s += a[i] * b[i];
    return s;
}

/* Every row is scaled to its largest number, so that none of them drowns the others. */
static void weigh_rows(quotient *q) {
    for (int64_t k = 0; k < q->rows; k++) {
        double most = 0;
        for (int i = 0; i < q->n; i++) most = SL_MAX(most, fabs(q->column[i][k]));
        q->weight[k] = most > 0 && isfinite(most) ? 1 / most : 0;
        for (int i = 0; i < q->n; i++) q->column[i][k] *= q->weight[k];
    }
}

/* False: too many columns for the rows. */
static bool fill(quotient *q, int degree_n, int degree_d) {
    const sl_problem *p = &q->job->rows;
    q->numerator = sl_spans__monomials(NULL, 0, p->inputs, degree_n);
    q->n = q->numerator + sl_spans__monomials(NULL, 0, p->inputs, degree_d);
    if (q->n > COLUMNS || q->n > p->rows - 4) return false;
    sl_spans__monomials(q->power, q->numerator, p->inputs, degree_n);
    sl_spans__monomials(q->power + q->numerator, q->n - q->numerator, p->inputs, degree_d);
    for (int i = 0; i < q->n; i++) {
        sl_spans__monomial(q->column[i], q->power[i], p->x, p->inputs, p->rows);
        if (i >= q->numerator)
            for (int64_t k = 0; k < p->rows; k++) q->column[i][k] *= p->y[k];
    }
    q->fitted = SL_MIN(q->rows, (int64_t)q->n + SPARE_ROWS);
    weigh_rows(q);
    return true;
}

/* ---------------------------------------------------------------- dependence ---------------- */

/* v := what the n units leave of it; answers which part of its length that is. */
static double leave(double *v, const quotient *q, int n) {
    double before = sqrt(dot(v, v, q->fitted));
    for (int repeat = 0; repeat < 2; repeat++)
        for (int i = 0; i < n; i++) {
            double c = dot(q->unit[i], v, q->fitted);
            for (int64_t k = 0; k < q->fitted; k++) v[k] -= c * q->unit[i][k];
        }
    double after = sqrt(dot(v, v, q->fitted));
    for (int64_t k = 0; k < q->fitted; k++) v[k] /= after > 0 ? after : 1;
    return before > 0 && isfinite(before) ? after / before : 0;
}

/* Which column of y depends on those before it, and how many of these are independent; -1: none. */
static int find_dependent(quotient *q, int *independent) {
    int n = 0;
    for (int i = 0; i < q->n; i++) {
        memcpy(q->unit[n], q->column[i], (size_t)q->fitted * sizeof(double));
        if (leave(q->unit[n], q, n) > DEPENDENT) {
            q->used[n++] = i;
        } else if (i >= q->numerator) {
            *independent = n;
            return i;
        }
    }
    return -1;
}

/* ---------------------------------------------------------------- formulas ------------------ */

/* coefficient[] of the columns used[0..n) in column y; drops those that do nothing and fits again.
 * *n: how many are left; 0 where they do not fit. */
static sl_status solve(double *coefficient, int *used, int *n, quotient *q, int y) {
    const double *column[COLUMNS];
    sl_lsq fit;
    for (int pass = 0; pass < 2; pass++) {
        double largest = 0;
        for (int i = 0; i < *n; i++) column[i] = q->column[used[i]];
        SL_TRY(sl_lsq_fit(&fit, coefficient, NULL, &q->arena, column, q->column[y], NULL,
                          (int)q->rows, *n));
        for (int64_t k = 0; k < q->rows; k++) largest = SL_MAX(largest, fabs(q->column[y][k]));
        int kept = 0;
        for (int i = 0; i < *n; i++) {
            double most = 0;
            for (int64_t k = 0; k < q->rows; k++)
                most = SL_MAX(most, fabs(coefficient[i] * column[i][k]));
            if (most > NOTHING * largest)
                coefficient[kept] = coefficient[i], used[kept++] = used[i];
        }
        *n = kept;
    }
    return SL_OK;
}

static const sl_node *add(sl_write *w, const sl_node *sum, double c, const int8_t *power,
                          int inputs) {
    const sl_node *e = sl_write_monomial(w, power, inputs);
    e = sl_write_times(w, sl_write_constant(w, c), e);
    return sum ? sl_write_plus(w, sum, e) : e;
}

/* N/D from: column y = sum of coefficient[i] column[used[i]]. */
static sl_status offer(bool *kept, quotient *q, int y, const double *coefficient, const int *used,
                       int n) {
    sl_write w = { .arena = &q->arena };
    int inputs = q->job->rows.inputs;
    const sl_node *top = NULL, *bottom = sl_write_monomial(&w, q->power[y], inputs), *e;
    for (int i = 0; i < n; i++) {
        int c = used[i];
        if (c < q->numerator)
            top = add(&w, top, coefficient[i], q->power[c], inputs);
        else
            bottom = add(&w, bottom, -coefficient[i], q->power[c], inputs);
    }
    *kept = false;
    if (!top) return sl_write_status(&w);
    e = sl_write_times(&w, top, sl_write_power(&w, bottom, SL_RAT(-1)));
    SL_TRY(sl_write_status(&w));
    return sl_search__offer(kept, q->job, e, w.value, w.params, "rational", q->level);
}

static sl_status try_degrees(bool *found, quotient *q, int degree_n, int degree_d) {
    double coefficient[COLUMNS];
    int n, y;
    *found = false;
    if (!fill(q, degree_n, degree_d)) return SL_OK;
    atomic_fetch_add(&q->job->tried, 1);
    y = find_dependent(q, &n);
    if (y < 0) return SL_OK;
    SL_TRY(solve(coefficient, q->used, &n, q, y));
    if (n == 0 || PART_OF_ROWS * (n + 1) > q->rows || n > SL_FIT_MAX_PARAMS) return SL_OK;
    return offer(found, q, y, coefficient, q->used, n);
}

/* ---------------------------------------------------------------- the method ---------------- */

static void close_quotient(void *state) {
    quotient *q = state;
    if (!q) return;
    sl_arena_clear(&q->arena);
    sl_free(q);
}

static sl_status open_quotient(void **state, sl_search__job *j) {
    quotient *q = sl_calloc(1, sizeof *q);
    if (!q) return sl_fail_memory(1, sizeof *q, "quotients");
    size_t rows = (size_t)j->rows.rows;
    q->job = j;
    q->rows = j->rows.rows;
    q->power = sl_arena_alloc(&q->arena, 2 * COLUMNS * sizeof *q->power);
    q->column = sl_arena_alloc(&q->arena, COLUMNS * sizeof *q->column);
    q->unit = sl_arena_alloc(&q->arena, (COLUMNS + 1) * sizeof *q->unit);
    q->used = sl_arena_alloc(&q->arena, COLUMNS * sizeof *q->used);
    q->weight = sl_arena_alloc(&q->arena, rows * sizeof *q->weight);
    double *room = sl_arena_alloc(&q->arena, (2 * COLUMNS + 1) * rows * sizeof *room);
    if (!q->power || !q->column || !q->unit || !q->used || !q->weight || !room) {
        close_quotient(q);
        return sl_fail_memory(2 * COLUMNS, rows * sizeof *room, "quotients");
    }
    for (int i = 0; i < COLUMNS; i++) q->column[i] = room + (size_t)i * rows;
    for (int i = 0; i <= COLUMNS; i++) q->unit[i] = room + (size_t)(COLUMNS + i) * rows;
    *state = q;
    return SL_OK;
}

/* Sums of both degrees by number of inputs: up to the first at level 0, to the second at level 1.
 */
static const int8_t degree_sums[][2] = {
    { 0, 0 }, { 6, 8 }, { 4, 8 }, { 2, 4 }, { 2, 4 }, { 2, 3 }
};

static sl_status level_quotient(bool *more, void *state, int level) {
    quotient *q = state;
    int inputs = q->job->rows.inputs;
    const int8_t *sums = degree_sums[SL_MIN(inputs, SL_LEN(degree_sums) - 1)];
    int from = level ? sums[0] + 1 : 0;
    bool found = false;
    *more = level == 0;
    q->level = level;
    if (inputs == 0) return SL_OK;
    for (int sum = from; sum <= sums[level] && !found; sum++) {
        for (int d = 0; d <= sum / 2 + 1 && d <= sum && !found; d++) {
            size_t mark = sl_arena_mark(&q->arena);
            if (sl_search__stop(q->job, true)) return SL_OK;
            sl_status st = try_degrees(&found, q, sum - d, d);
            sl_arena_rewind(&q->arena, mark);
            SL_TRY(st);
        }
    }
    return SL_OK;
}

const sl_search__method sl_search__rational = { "rational", open_quotient, level_quotient,
                                                close_quotient };

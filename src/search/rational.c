/* rational - polynomials, quotients of polynomials, their roots and exponentials, and roots of
 * quadratic equations.
 *
 *     A(x) + B(x) y + C(x) y^2 = 0,   degrees ascending, all coefficients free
 *
 * The columns 1, x, x^2, ..., then y, y x, ..., then y^2, y^2 x, ... are made orthogonal one after
 * the other; a column with y that depends on the ones before it is a formula. Terms that it does
 * not need are dropped and the others fitted again. Without C it is a quotient, without B the root
 * of one. With log|y| in the place of y it is the exponential of a quotient.
 *
 * A quotient with many coefficients comes close to any smooth function. So a formula found here has
 * few of them beside the rows that were fitted, and it has to hold in the other rows too. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "num/num.h"
#include "search/spans_impl.h"
#include "search/write.h"

enum { COLUMNS = 90, PART_OF_ROWS = 3, SPARE_ROWS = 12, POWERS = 3 };

static const double DEPENDENT = 1e-10; // of a column's length is left: rounding
static const double NOTHING = 1e-9;    // a summand this small beside the largest

/* Of A, B and C; -1: there is no such polynomial. */
typedef struct degrees {
    int8_t of[POWERS];
} degrees;

typedef struct relation {
    sl_search__job *job;
    sl_arena arena;
    int8_t (*power)[SL_DATA_MAX_INPUTS]; // of column i
    int8_t *of_y;                        // in column i: 0, 1 or 2
    double **column;                     // all rows, weighted
    double **unit;                       // the orthogonal ones, rows that are fitted
    int *used;                           // columns that gave them
    double *weight;
    double *logarithm; // log|y|; NULL where y has both signs or is 0
    const double *y;   // the target: y or its logarithm
    int level, n;      // columns
    int64_t rows, fitted;
} relation;

/* ---------------------------------------------------------------- columns ------------------- */

/* Every row is scaled to its largest number, so that no row dominates the fit. */
static void weigh_rows(relation *q) {
    for (int64_t k = 0; k < q->rows; k++) {
        double most = 0;
        for (int i = 0; i < q->n; i++) most = SL_MAX(most, fabs(q->column[i][k]));
        q->weight[k] = most > 0 && isfinite(most) ? 1 / most : 0;
        for (int i = 0; i < q->n; i++) q->column[i][k] *= q->weight[k];
    }
}

/* False: too many columns for the rows. */
static bool fill(relation *q, degrees d) {
    const sl_dataset *p = &q->job->rows;
    q->n = 0;
    for (int e = 0; e < POWERS; e++)
        if (d.of[e] >= 0) q->n += sl_search__spans_monomials(NULL, 0, p->inputs, d.of[e]);
    if (q->n > COLUMNS || q->n > p->rows - 4) return false;
    for (int e = 0, i = 0; e < POWERS; e++) {
        if (d.of[e] < 0) continue;
        int end = i + sl_search__spans_monomials(q->power + i, q->n - i, p->inputs, d.of[e]);
        for (; i < end; i++) {
            q->of_y[i] = (int8_t)e;
            sl_search__spans_monomial(q->column[i], q->power[i], p->x, p->inputs, p->rows);
            for (int times = 0; times < e; times++)
                for (int64_t k = 0; k < p->rows; k++) q->column[i][k] *= q->y[k];
        }
    }
    q->fitted = SL_MIN(q->rows, (int64_t)q->n + SPARE_ROWS);
    weigh_rows(q);
    return true;
}

/* ---------------------------------------------------------------- dependence ---------------- */

/* v := v projected onto the complement of the n unit vectors; returns the remaining part of its
 * length. */
static double project_out(double *v, const relation *q, int n) {
    double before = sqrt(sl_search__dot(v, v, q->fitted));
    for (int repeat = 0; repeat < 2; repeat++)
        for (int i = 0; i < n; i++) {
            double c = sl_search__dot(q->unit[i], v, q->fitted);
            for (int64_t k = 0; k < q->fitted; k++) v[k] -= c * q->unit[i][k];
        }
    double after = sqrt(sl_search__dot(v, v, q->fitted));
    for (int64_t k = 0; k < q->fitted; k++) v[k] /= after > 0 ? after : 1;
    return before > 0 && isfinite(before) ? after / before : 0;
}

/* Which column with y depends on those before it, and how many of these are independent; -1: none.
 */
static int find_dependent(relation *q, int *independent) {
    int n = 0;
    for (int i = 0; i < q->n; i++) {
        memcpy(q->unit[n], q->column[i], (size_t)q->fitted * sizeof(double));
        if (project_out(q->unit[n], q, n) > DEPENDENT) {
            q->used[n++] = i;
        } else if (q->of_y[i] > 0) {
            *independent = n;
            return i;
        }
    }
    return -1;
}

/* ---------------------------------------------------------------- formulas ------------------ */

/* coefficient[] of the columns used[0..n) in column y; drops those of no effect and fits again. *n:
 * how many are left; 0 where they do not fit. */
static sl_status solve(double *coefficient, int *used, int *n, relation *q, int y) {
    const double *column[COLUMNS];
    sl_lsq fit;
    for (int pass = 0; pass < 2; pass++) {
        double largest = 0;
        for (int i = 0; i < *n; i++) column[i] = q->column[used[i]];
        SL_TRY(sl_num_lsq_fit(&fit, coefficient, NULL, &q->arena, column, q->column[y], NULL,
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

/* A relation with its coefficients: column y has 1. */
typedef struct solution {
    int y, n;
    const int *used;
    const double *coefficient; // of the others in column y
} solution;

/* The polynomial that stands with y^of_y, times a factor; NULL where it is 0. */
static const sl_node *polynomial(sl_writer *w, const relation *q, const solution *s, int of_y,
                                 double factor) {
    const sl_node *sum = NULL;
    int inputs = q->job->rows.inputs;
    for (int i = -1; i < s->n; i++) {
        int column = i < 0 ? s->y : s->used[i];
        if (q->of_y[column] != of_y) continue;
        double c = factor * (i < 0 ? 1 : -s->coefficient[i]);
        const sl_node *e = sl_search__write_monomial(w, q->power[column], inputs);
        if (c != 1) e = sl_search__write_times(w, sl_search__write_constant(w, c), e);
        sum = sum ? sl_search__write_plus(w, sum, e) : e;
    }
    return sum;
}

/* The sign of 2 C y + B, which is the root's, where all rows have the same; else 0. */
static int sign_of_root(const relation *q, const solution *s) {
    bool plus = true, minus = true;
    for (int64_t k = 0; k < q->rows; k++) {
        double y = q->job->rows.y[k], sum = 0;
        for (int i = -1; i < s->n; i++) {
            int column = i < 0 ? s->y : s->used[i], e = q->of_y[column];
            if (e) sum += e * (i < 0 ? 1 : -s->coefficient[i]) * q->column[column][k] / y;
        }
        plus &= sum > 0, minus &= sum < 0;
    }
    return plus ? 1 : minus ? -1 : 0;
}

/* Is C = 1? */
static bool is_monic(const relation *q, const solution *s) {
    bool one = true;
    for (int i = 0; i < s->n; i++) one &= q->of_y[s->used[i]] < 2;
    for (int v = 0; v < q->job->rows.inputs; v++) one &= q->power[s->y][v] == 0;
    return one;
}

/* y from y^2 + B y + A = 0: h + root(h^2 - A), h = -B/2; from C y^2 + B y + A = 0: (-B + root(B^2 -
 * 4 A C)) / (2 C). NULL where its root has both signs. */
static const sl_node *write_root(sl_writer *w, const relation *q, const solution *s) {
    int sign = sign_of_root(q, s);
    if (!sign) return NULL;
    bool one = is_monic(q, s);
    const sl_node *inside =
        sl_search__write_power(w, polynomial(w, q, s, 1, one ? -0.5 : -1), SL_RAT(2));
    const sl_node *free = polynomial(w, q, s, 0, one ? -1 : -4);
    if (!one && free) free = sl_search__write_times(w, free, polynomial(w, q, s, 2, 1));
    if (free) inside = sl_search__write_plus(w, inside, free);
    const sl_node *root = sl_search__write_power(w, inside, (sl_rat){ 1, 2 });
    if (sign < 0) root = sl_search__write_times(w, sl_search__write_int(w, -1), root);
    const sl_node *e = sl_search__write_plus(w, polynomial(w, q, s, 1, one ? -0.5 : -1), root);
    if (one) return e;
    return sl_search__write_times(w, e,
                                  sl_search__write_power(w, polynomial(w, q, s, 2, 2), SL_RAT(-1)));
}

/* The coefficient of B at the monomial of column i; 0 where it has none. */
static double below(const relation *q, const solution *s, int i) {
    for (int k = -1; k < s->n; k++) {
        int column = k < 0 ? s->y : s->used[k];
        if (q->of_y[column] == 1 && !memcmp(q->power[column], q->power[i], sizeof q->power[i]))
            return k < 0 ? 1 : -s->coefficient[k];
    }
    return 0;
}

/* The coefficient of -A - c B at used column k; 0 where that is rounding. */
static double above(const relation *q, const solution *s, int k, double c) {
    double whole = s->coefficient[k], left = whole - c * below(q, s, s->used[k]);
    return fabs(left) < NOTHING * fabs(whole) ? 0 : left;
}

/* c such that -A/B - c has the fewest terms, if it saves at least two; else 0. */
static double whole_part(const relation *q, const solution *s) {
    double best = 0;
    int most = 1;
    for (int i = 0; i < s->n; i++) {
        const double part = q->of_y[s->used[i]] == 0 ? below(q, s, s->used[i]) : 0;
        int saved = 0;
        if (part == 0) continue;
        const double c = s->coefficient[i] / part;
        for (int k = 0; k < s->n; k++) saved += q->of_y[s->used[k]] == 0 && above(q, s, k, c) == 0;
        if (saved > most) most = saved, best = c;
    }
    return best;
}

/* +-exp(c) exp(-A/B - c). */
static const sl_node *write_exponential(sl_writer *w, const relation *q, const solution *s) {
    const double c = whole_part(q, s), sign = q->job->rows.y[0] < 0 ? -1 : 1;
    const sl_node *top = NULL;
    for (int k = 0; k < s->n; k++) {
        const double value = q->of_y[s->used[k]] == 0 ? above(q, s, k, c) : 0;
        if (value == 0) continue;
        const sl_node *e = sl_search__write_monomial(w, q->power[s->used[k]], q->job->rows.inputs);
        e = sl_search__write_times(w, sl_search__write_constant(w, value), e);
        top = top ? sl_search__write_plus(w, top, e) : e;
    }
    if (!top) return NULL;
    const sl_node *bottom = sl_search__write_power(w, polynomial(w, q, s, 1, 1), SL_RAT(-1));
    const sl_node *e =
        sl_search__write_function(w, SL_OP_EXP, sl_search__write_times(w, top, bottom));
    return sl_search__write_times(w, sl_search__write_constant(w, sign * exp(c)), e);
}

/* +-root(-A/C), -A/B, or a root of a quadratic equation. */
static const sl_node *write_solution(sl_writer *w, const relation *q, const solution *s) {
    const sl_node *top = polynomial(w, q, s, 0, -1), *bottom = polynomial(w, q, s, 1, 1);
    if (q->of_y[s->y] == 2 && bottom) {
        *w = (sl_writer){ .arena = w->arena };
        return write_root(w, q, s);
    }
    if (!top) return NULL;
    if (q->y == q->logarithm) {
        *w = (sl_writer){ .arena = w->arena };
        return write_exponential(w, q, s);
    }
    if (q->of_y[s->y] == 1)
        return sl_search__write_times(w, top, sl_search__write_power(w, bottom, SL_RAT(-1)));
    bottom = polynomial(w, q, s, 2, 1);
    const sl_node *e =
        sl_search__write_times(w, top, sl_search__write_power(w, bottom, SL_RAT(-1)));
    int sign = sign_of_root(q, s);
    e = sl_search__write_power(w, e, (sl_rat){ 1, 2 });
    return sign > 0   ? e
           : sign < 0 ? sl_search__write_times(w, sl_search__write_int(w, -1), e)
                      : NULL;
}

static sl_status offer(bool *kept, relation *q, const solution *s) {
    sl_writer w = { .arena = &q->arena };
    const sl_node *e = write_solution(&w, q, s);
    *kept = false;
    SL_TRY(sl_search__write_status(&w));
    if (!e || w.params > SL_FIT_MAX_PARAMS) return SL_OK;
    return sl_search__offer(kept, q->job, e, w.value, w.params, "rational", q->level);
}

static sl_status try_degrees(bool *found, relation *q, degrees d) {
    double coefficient[COLUMNS];
    int n, y;
    *found = false;
    if (!fill(q, d)) return SL_OK;
    atomic_fetch_add(&q->job->tried, 1);
    y = find_dependent(q, &n);
    if (y < 0) return SL_OK;
    SL_TRY(solve(coefficient, q->used, &n, q, y));
    if (n == 0 || PART_OF_ROWS * (n + 1) > q->rows || n > SL_FIT_MAX_PARAMS) return SL_OK;
    return offer(found, q, &(solution){ y, n, q->used, coefficient });
}

/* ---------------------------------------------------------------- the method ---------------- */

static void close_relation(void *state) {
    relation *q = state;
    if (!q) return;
    sl_arena_clear(&q->arena);
    sl_free(q);
}

static sl_status open_relation(void **state, sl_search__job *j) {
    relation *q = sl_calloc(1, sizeof *q);
    if (!q) return sl_fail_memory(1, sizeof *q, "quotients of polynomials");
    size_t rows = (size_t)j->rows.rows;
    q->job = j;
    q->rows = j->rows.rows;
    q->power = sl_arena_alloc(&q->arena, COLUMNS * sizeof *q->power);
    q->of_y = sl_arena_alloc(&q->arena, COLUMNS * sizeof *q->of_y);
    q->column = sl_arena_alloc(&q->arena, COLUMNS * sizeof *q->column);
    q->unit = sl_arena_alloc(&q->arena, (COLUMNS + 1) * sizeof *q->unit);
    q->used = sl_arena_alloc(&q->arena, COLUMNS * sizeof *q->used);
    q->weight = sl_arena_alloc(&q->arena, rows * sizeof *q->weight);
    q->logarithm = sl_arena_alloc(&q->arena, rows * sizeof *q->logarithm);
    double *room = sl_arena_alloc(&q->arena, (2 * COLUMNS + 1) * rows * sizeof *room);
    if (!q->power || !q->of_y || !q->column || !q->unit || !q->used || !q->weight ||
        !q->logarithm || !room) {
        close_relation(q);
        return sl_fail_memory(2 * COLUMNS, rows * sizeof *room, "quotients of polynomials");
    }
    for (int i = 0; i < COLUMNS; i++) q->column[i] = room + (size_t)i * rows;
    for (int i = 0; i <= COLUMNS; i++) q->unit[i] = room + (size_t)(COLUMNS + i) * rows;
    q->y = j->rows.y;
    for (int64_t k = 0; k < q->rows && q->logarithm; k++) {
        if (!(q->y[k] * q->y[0] > 0)) q->logarithm = NULL;
        if (q->logarithm) q->logarithm[k] = log(fabs(q->y[k]));
    }
    *state = q;
    return SL_OK;
}

/* Sums of both degrees of a quotient by number of inputs: up to the first at level 0, to the second
 * at level 1. */
static const int8_t degree_sums[][2] = {
    { 0, 0 }, { 6, 8 }, { 4, 8 }, { 2, 4 }, { 2, 4 }, { 2, 3 }
};

/* Quadratic equations, at level 1. */
static const degrees quadratics[] = {
    { { 2, 1, 0 } }, { { 2, 1, 1 } }, { { 2, 2, 1 } }, { { 2, 2, 2 } },
    { { 3, 2, 1 } }, { { 4, 2, 0 } }, { { 4, 3, 2 } },
};

static sl_status try_once(bool *found, relation *q, degrees d) {
    size_t mark = sl_arena_mark(&q->arena);
    *found = false;
    if (sl_search__stop(q->job, true)) return SL_OK;
    sl_status st = try_degrees(found, q, d);
    sl_arena_rewind(&q->arena, mark);
    return st;
}

/* Quotients that are y^of_y, degrees with a sum of from .. to. */
static sl_status quotients(bool *found, relation *q, int of_y, int from, int to) {
    *found = false;
    for (int sum = from; sum <= to && !*found; sum++) {
        for (int d = 0; d <= sum / 2 + 1 && d <= sum && !*found; d++) {
            degrees both = { { (int8_t)(sum - d), -1, -1 } };
            both.of[of_y] = (int8_t)d;
            SL_TRY(try_once(found, q, both));
        }
    }
    return SL_OK;
}

static sl_status level_relation(bool *more, void *state, int level) {
    relation *q = state;
    int inputs = q->job->rows.inputs;
    const int8_t *sums = degree_sums[SL_MIN(inputs, SL_LEN(degree_sums) - 1)];
    bool found = false;
    *more = level == 0;
    q->level = level;
    if (inputs == 0) return SL_OK;
    SL_TRY(quotients(&found, q, 1, level ? sums[0] + 1 : 0, sums[level]));
    if (level == 0 || found) return SL_OK;
    SL_TRY(quotients(&found, q, 2, 0, sums[level]));
    for (int i = 0; i < SL_LEN(quadratics) && !found; i++)
        SL_TRY(try_once(&found, q, quadratics[i]));
    if (found || !q->logarithm) return SL_OK;
    q->y = q->logarithm;
    SL_TRY(quotients(&found, q, 1, 0, sums[0]));
    q->y = q->job->rows.y;
    return SL_OK;
}

const sl_search__method sl_search__rational = { "rational", open_relation, level_relation,
                                                close_relation };

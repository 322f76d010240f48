/* offer - verification of a formula that a method has found.
 *
 * The formula is written in the variables of the table and evaluated in every row. Constants that
 * are exact numbers to within rounding become so (fit.h) where the formula stays exact. Then it is
 * judged by the project's criterion: description length, and evidence, the bits that the data hold
 * beyond those of the formula and of the search that found it. Without evidence, as with few rows
 * and many constants, a formula is dropped however well it fits. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "num/num.h"
#include "search/search_impl.h"

/* By chance alone a formula passes once in 2^EVIDENCE_LEAST searches. */
static const double EVIDENCE_LEAST = 16;

/* A formula is exact where it differs from y by no more than this many units of y's precision; sums
 * that cancel and constants that were fitted cost some digits. */
static const double EXACT_UNITS = 0x1p19;
/* Where y itself was rounded to a precision worse than ROUNDED, a formula is exact if it differs
 * from y by at most ROUNDED_UNITS units of the last digit in every row: half a unit is rounding,
 * the rest comes from constants fitted to rounded numbers. */
static const double ROUNDED = 0x1p-44, ROUNDED_UNITS = 0.8;

/* A constant that was fitted to exact data is right to ten digits or more. If ten digits agree with
 * a simple number, of which there are about a hundred thousand, chance is next to impossible. */
static const double CLOSE = 1e-9; // relative
/* Of a term that is small beside others fewer digits are known. There a simple number this close is
 * the constant if the formula does not differ from y by more with it: by rounding instead of some
 * thousand times as much. */
static const double NEAR = 1e-6;

enum { PARAMS_MAX = SL_FIT_MAX_PARAMS };

typedef struct row_check {
    double worst; // largest error: by part_of, or in units of the last digit
    double r2;
} row_check;

/* ---------------------------------------------------------------- rows ---------------------- */

static double rms(const double *y, int64_t n) {
    double most = 0, sum = 0;
    for (int64_t i = 0; i < n; i++) most = SL_MAX(most, fabs(y[i]));
    if (most == 0) return 0;
    for (int64_t i = 0; i < n; i++) sum += y[i] / most * (y[i] / most);
    return most * sqrt(sum / (double)n);
}

/* Errors are relative to |y| plus `most`, so that sums may cancel where y is next to 0. It is
 * bounded by the typical size of y, so that a few large rows do not hide errors in the others.
 * Where y has many decades that is still too much in small rows: there the terms of the formula
 * must be so large, beyond `least`. */
typedef struct sizes {
    double least, most;
} sizes;

static sizes small_sizes(const sl_dataset *p) {
    static const double OF_RMS = 1e-3, OF_TYPICAL = 1e3, SPREAD = 2; // in standard deviations
    double sum = 0, squares = 0;
    int64_t n = 0;
    for (int64_t i = 0; i < p->rows; i++)
        if (p->y[i] != 0) {
            const double size = sl_log(fabs(p->y[i]));
            sum += size, squares += size * size, n++;
        }
    const double most = OF_RMS * rms(p->y, p->rows);
    if (n == 0) return (sizes){ most, most };
    const double mean = sum / (double)n, spread = squares / (double)n - mean * mean;
    const double small = sl_exp(mean - SPREAD * sqrt(SL_MAX(spread, 0)));
    return (sizes){ SL_MIN(most, OF_RMS * small), SL_MIN(most, OF_TYPICAL * sl_exp(mean)) };
}

/* The size of the terms of a formula in row i: its rounding error in units of the precision. */
static double size_of_terms(const sl_node *e, const double *value, const sl_dataset *p, int64_t i) {
    long double x[SL_DATA_MAX_INPUTS], constant[PARAMS_MAX] = { 0 }, got, bound;
    const int params = SL_MIN(sl_expr_max_par(e), PARAMS_MAX);
    for (int v = 0; v < p->inputs; v++) x[v] = p->x[v][i];
    for (int k = 0; k < params; k++) constant[k] = value[k];
    sl_expr_eval_ref(&got, &bound, e, x, constant, 0x1p-53L);
    return (double)(bound * 0x1p53L);
}

/* The error of row i in parts of |y| and what is allowed beside it. */
static double part_of(double error, const sl_node *e, const double *value, const sl_search__job *j,
                      int64_t i, const sizes *size) {
    const double y = fabs(j->all->y[i]), most = error / (y + size->most);
    const double least = error / (y + size->least), enough = EXACT_UNITS * j->precision;
    if (most > enough || least <= enough) return most;
    const double terms = size_of_terms(e, value, j->all, i);
    return error / (y + SL_MIN(size->most, SL_MAX(terms, size->least)));
}

static bool is_rounded(const sl_search__job *j) {
    return j->precision > ROUNDED && j->digits.kind != SL_DIGITS_FULL;
}

/* A unit of the last digit of y in row i; of 0 it is that of the smallest number. */
static double unit_of(const sl_search__job *j, int64_t i) {
    const sl_dataset *p = j->all;
    double unit = sl_search__last_unit(j->digits, p->y[i]), least = INFINITY;
    if (unit > 0) return unit;
    for (int64_t k = 0; k < p->rows; k++)
        if (p->y[k] != 0) least = SL_MIN(least, sl_search__last_unit(j->digits, p->y[k]));
    return least;
}

static sl_status check_rows(row_check *out, sl_arena *scratch, const sl_search__job *j,
                            const sl_node *e, const double *value) {
    const sl_dataset *p = j->all;
    size_t mark = sl_arena_mark(scratch);
    double *got = sl_arena_alloc(scratch, (size_t)p->rows * sizeof *got);
    if (!got) return sl_fail_memory((size_t)p->rows, sizeof *got, "the values of a formula");
    SL_TRY(sl_expr_eval(got, scratch, e, p->x, p->rows, value));
    const sizes size = small_sizes(p);
    *out = (row_check){ .r2 = sl_num_r2(got, p->y, p->rows) };
    for (int64_t i = 0; i < p->rows; i++) {
        double error = fabs(got[i] - p->y[i]), part = 0;
        if (error != 0)
            part = is_rounded(j) ? error / unit_of(j, i) : part_of(error, e, value, j, i, &size);
        if (!(part <= out->worst)) out->worst = part; // also NaN
    }
    if (isnan(out->worst)) out->worst = INFINITY;
    sl_arena_rewind(scratch, mark);
    return SL_OK;
}

static bool is_exact(const sl_search__job *j, const row_check *g) {
    return g->worst <= (is_rounded(j) ? ROUNDED_UNITS : EXACT_UNITS * j->precision);
}

/* ---------------------------------------------------------------- constants ----------------- */

/* Binds the constants that may be exact numbers, within `close` of them: all at once if the formula
 * stays exact, else one after the other as long as it stays as good as it was. as_good: not if it
 * only stays exact. */
static sl_status bind_within(const sl_node **e, double *value, int *params, row_check *g,
                             sl_arena *a, const sl_search__job *j, double close, bool as_good) {
    sl_fit_bound all, one;
    row_check with;
    SL_TRY(sl_fit_bind(&all, a, *e, value, *params, -1, close));
    if (all.bound > 0) SL_TRY(check_rows(&with, a, j, all.expr, all.value));
    if (all.bound > 0 && (with.worst <= g->worst || (!as_good && is_exact(j, &with)))) {
        *e = all.expr, *params = all.params, *g = with;
        memcpy(value, all.value, sizeof all.value);
        return SL_OK;
    }
    for (int k = 0; all.bound > 1 && k < *params;) {
        SL_TRY(sl_fit_bind(&one, a, *e, value, *params, k, close));
        if (one.bound > 0) SL_TRY(check_rows(&with, a, j, one.expr, one.value));
        if (one.bound == 0 || !(with.worst <= g->worst || (!as_good && is_exact(j, &with)))) {
            k++;
            continue;
        }
        *e = one.expr, *params = one.params, *g = with;
        memcpy(value, one.value, sizeof one.value);
    }
    return SL_OK;
}

static sl_status snap(const sl_node **e, double *value, int *params, row_check *g, sl_arena *a,
                      const sl_search__job *j) {
    SL_TRY(bind_within(e, value, params, g, a, j, CLOSE, false));
    if (*params == 0 || is_rounded(j)) return SL_OK;
    return bind_within(e, value, params, g, a, j, NEAR, true);
}

/* Short decimals for the constants that are left, if the formula stays exact: 9.81, and not
 * 9.8099999999999774. They stay constants, at the same price. */
static sl_status shorten(double *value, int params, row_check *g, sl_arena *a,
                         const sl_search__job *j, const sl_node *e) {
    double shorter[PARAMS_MAX];
    bool differ = false;
    row_check with;
    for (int k = 0; k < params; k++) {
        shorter[k] = sl_fit_short_decimal(value[k]);
        differ = differ || shorter[k] != value[k];
    }
    if (!differ) return SL_OK;
    SL_TRY(check_rows(&with, a, j, e, shorter));
    if (!is_exact(j, &with)) return SL_OK;
    memcpy(value, shorter, (size_t)params * sizeof *value);
    *g = with;
    return SL_OK;
}

/* ---------------------------------------------------------------- keeping ------------------- */

bool sl_search_allows(const sl_node *e, uint32_t ops) {
    static const char *const names[] = {
#define X(id, name, operands, commutes) name,
        SL_NODES(X)
#undef X
    };
    for (const sl_node *at = e; at < e + e->len; at += sl_expr_step(at)) {
        const sl_operator o = sl_expr_operator_find(names[at->op], strlen(names[at->op]));
        if (o < SL_OPERATOR_COUNT && sl_expr_operator_operands(o) == 1 && !(ops >> o & 1))
            return false;
    }
    return true;
}

sl_status sl_search__to_all(const sl_node **out, sl_arena *a, const sl_search__job *j,
                            const sl_node *e) {
    const sl_node *with[SL_DATA_MAX_INPUTS];
    for (int v = 0; v < j->rows.inputs; v++) {
        with[v] = sl_expr_var(a, j->column[v] + 1);
        if (!with[v]) return sl_fail(SL_ENOMEM, "no memory for a formula");
    }
    SL_TRY(sl_expr_substitute(out, a, e, with, j->rows.inputs));
    return sl_expr_tidy(out, a, *out);
}

sl_status sl_search__keep(sl_search__job *j, const sl_search_formula *f) {
    SL_TRY(sl_grow(&j->kept, &j->kept_room, j->n_kept, sizeof *f, "the formulas of a search"));
    j->kept[j->n_kept++] = *f;
    if (f->exact) j->exact++;
    return SL_OK;
}

/* The same expression with the same constants, found again? */
bool sl_search__is_known(const sl_search__job *j, const sl_search_formula *f) {
    for (int i = 0; i < j->n_kept; i++) {
        const sl_fit *a = &j->kept[i].fit, *b = &f->fit;
        if (a->params == b->params && sl_expr_equal(a->expr, b->expr)) return true;
    }
    return false;
}

static sl_status put_values(sl_fit *fit, sl_arena *a, const double *value, int n) {
    size_t bytes = (size_t)SL_MAX(n, 1) * sizeof(double);
    fit->params = n;
    fit->value = sl_arena_alloc(a, bytes);
    fit->error = sl_arena_alloc(a, bytes);
    if (!fit->value || !fit->error) return sl_fail(SL_ENOMEM, "no memory for a formula");
    for (int i = 0; i < n; i++) fit->value[i] = value[i], fit->error[i] = 0;
    return SL_OK;
}

/* A shorter form, if it is exact too. */
static sl_status simplify(const sl_node **e, const double *value, row_check *g, sl_arena *a,
                          const sl_search__job *j) {
    const sl_node *shorter;
    row_check with;
    SL_TRY(sl_search__simplify(&shorter, a, *e, value, j->all));
    if (shorter == *e) return SL_OK;
    SL_TRY(check_rows(&with, a, j, shorter, value));
    if (is_exact(j, &with)) *e = shorter, *g = with;
    return SL_OK;
}

sl_status sl_search__fits_size(bool *out, sl_arena *a, const sl_search__job *j, const sl_node *e) {
    const int most = j->o->max_size;
    const size_t mark = sl_arena_mark(a);
    const sl_node *other;
    *out = most == 0 || sl_expr_nodes(e) <= most;
    sl_status (*const forms[])(const sl_node **, sl_arena *, const sl_node *) = { sl_expr_canon,
                                                                                  sl_expr_merge };
    for (int i = 0; i < SL_LEN(forms) && !*out; i++) {
        const sl_status st = forms[i](&other, a, e);
        if (st == SL_ENOMEM) return st;
        *out = st == SL_OK && sl_expr_nodes(other) <= most;
    }
    sl_arena_rewind(a, mark);
    return SL_OK;
}

/* Bits and evidence by the project's criterion. */
static sl_status measure(sl_search_formula *f, const sl_search__job *j) {
    sl_noise noise = { .precision = j->precision };
    SL_TRY(sl_fit_describe(&f->bits, &f->fit, j->all, &noise));
    return sl_fit_evidence(&f->evidence, &f->bits, j->all, &noise,
                           1 + (double)atomic_load(&j->tried));
}

static sl_status weigh(bool *kept, sl_search__job *j, sl_arena *a, const sl_node *e, double *value,
                       int params, const char *method, int level) {
    sl_search_formula f = { .method = method, .level = level, .step = j->progress.step };
    row_check g;
    SL_TRY(sl_search__to_all(&f.fit.expr, a, j, e));
    SL_TRY(check_rows(&g, a, j, f.fit.expr, value));
    if (!is_exact(j, &g)) return SL_OK;
    SL_TRY(snap(&f.fit.expr, value, &params, &g, a, j));
    SL_TRY(simplify(&f.fit.expr, value, &g, a, j));
    SL_TRY(shorten(value, params, &g, a, j, f.fit.expr));
    // an exact formula ends the search: one that is not allowed must not
    if (!sl_search_allows(f.fit.expr, j->o->ops)) return SL_OK;
    f.exact = true;
    f.fit.r2 = g.r2;
    SL_TRY(put_values(&f.fit, a, value, params));
    SL_TRY(measure(&f, j));
    f.seconds = sl_clock() - j->start;
    if (f.evidence < EVIDENCE_LEAST || sl_search__is_known(j, &f)) return SL_OK;
    bool fits;
    SL_TRY(sl_search__fits_size(&fits, a, j, f.fit.expr));
    if (!fits) {
        const int nodes = sl_expr_nodes(f.fit.expr), before = j->result->too_large;
        j->result->too_large = before ? SL_MIN(before, nodes) : nodes;
        return SL_OK;
    }
    *kept = true;
    return sl_search__keep(j, &f);
}

sl_status sl_search__offer(bool *kept, sl_search__job *j, const sl_node *e, const double *value,
                           int params, const char *method, int level) {
    sl_arena *a = &j->result->arena;
    size_t mark = sl_arena_mark(a);
    double copy[PARAMS_MAX];
    *kept = false;
    j->verified++;
    if (params > PARAMS_MAX) return SL_OK;
    memcpy(copy, value, (size_t)params * sizeof *copy);
    sl_status st = weigh(kept, j, a, e, copy, params, method, level);
    if (!*kept) sl_arena_rewind(a, mark);
    return sl_search__skip_overflow(st);
}

/* offer - what becomes of a formula that a method has found.
 *
 * It is put into the variables of the whole table and looked at in every row. Constants that are whole
 * numbers or small fractions to within rounding become exact where the formula stays as good. Then it
 * is judged: exact or not, and by how many bits the data speak for it.
 *
 * Evidence. A row says log2(spread of y / what the formula leaves there) bits, at most those of the
 * data's precision. Against that stand the bits of the formula: its structure, and for every free
 * constant as many bits as one row says, because one row is what fitting it explains away; and the
 * logarithm of how many formulas were tried. Few rows and many constants leave nothing: such a formula
 * is dropped however well it fits. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "search/search_impl.h"

/* By chance alone a formula passes once in 2^EVIDENCE_LEAST searches. */
static const double EVIDENCE_LEAST = 16;

/* A formula is exact where it differs from y by no more than this many units of y's precision; sums
 * that cancel and constants that were fitted cost some digits. */
static const double EXACT_UNITS = 0x1p19;

enum { PARAMS_MAX = SL_FIT_MAX_PARAMS, SNAP_DENOMINATOR = 64, SNAP_NUMERATOR = 4096 };

typedef struct judged {
    double worst;    // largest error, in parts of |y| + its rms / 1000
    double data;     // bits that the rows say in favour
    double row;      // bits that one row says
    double r2;
} judged;

/* ---------------------------------------------------------------- rows ---------------------- */

static double rms(const double *y, int64_t n) {
    double most = 0, sum = 0;
    for (int64_t i = 0; i < n; i++) most = SL_MAX(most, fabs(y[i]));
    if (most == 0) return 0;
    for (int64_t i = 0; i < n; i++) sum += y[i] / most * (y[i] / most);
    return most * sqrt(sum / (double)n);
}

static double spread(const double *y, int64_t n) {
    double low = y[0], high = y[0];
    for (int64_t i = 1; i < n; i++) low = SL_MIN(low, y[i]), high = SL_MAX(high, y[i]);
    return 0.5 * high - 0.5 * low;
}

static sl_status judge(judged *out, sl_arena *scratch, const sl_search__job *j, const sl_node *e,
                       const double *value) {
    const sl_problem *p = j->all;
    size_t mark = sl_arena_mark(scratch);
    double *got = sl_arena_alloc(scratch, (size_t)p->rows * sizeof *got);
    if (!got) return sl_fail_memory((size_t)p->rows, sizeof *got, "the values of a formula");
    SL_TRY(sl_expr_eval(got, scratch, e, p->x, p->rows, value));
    double size = 1e-3 * rms(p->y, p->rows), wide = spread(p->y, p->rows);
    double most = -log2(j->precision);
    *out = (judged){ .r2 = sl_r2(got, p->y, p->rows) };
    for (int64_t i = 0; i < p->rows; i++) {
        double error = fabs(got[i] - p->y[i]), part = error / (fabs(p->y[i]) + size);
        if (error == 0) part = 0;
        if (!(part <= out->worst)) out->worst = part; // also NaN
        double bits = error > 0 ? log2(wide / error) : most;
        out->data += bits > most ? most : bits > 0 ? bits : 0;
    }
    if (isnan(out->worst)) out->worst = INFINITY;
    out->row = out->data / (double)p->rows;
    out->data = out->row * (double)SL_MIN(p->rows, j->rows.rows); // repeated rows say nothing
    sl_arena_rewind(scratch, mark);
    return SL_OK;
}

static bool is_exact(const sl_search__job *j, const judged *g) {
    return g->worst <= EXACT_UNITS * j->precision;
}

/* ---------------------------------------------------------------- constants ----------------- */

/* The fraction of smallest denominator within `tolerance` of x, if there is a small one. */
static bool near_fraction(sl_rat *out, double x, double tolerance) {
    for (int d = 1; d <= SNAP_DENOMINATOR; d++) {
        double n = nearbyint(x * d);
        if (fabs(n) > SNAP_NUMERATOR) return false;
        if (fabs(x - n / d) <= tolerance) return sl_rat_make(out, (int64_t)n, d);
    }
    return false;
}

/* Binds, one after the other, the constants that may be exact numbers, as long as the formula stays
 * as good as it was, or exact. */
static sl_status snap(const sl_node **e, double *value, int *params, judged *g, sl_arena *a,
                      const sl_search__job *j) {
    for (int k = 0; k < *params;) {
        sl_rat number[PARAMS_MAX];
        bool known[PARAMS_MAX] = { false };
        const sl_node *bound;
        judged with;
        known[k] = near_fraction(&number[k], value[k], 1e-7 * fabs(value[k]) + 1e-12);
        double kept = value[k];
        if (!known[k]) {
            k++;
            continue;
        }
        SL_TRY(sl_expr_bind(&bound, a, *e, number, known));
        memmove(value + k, value + k + 1, (size_t)(*params - k - 1) * sizeof *value);
        SL_TRY(judge(&with, a, j, bound, value));
        if (with.worst <= g->worst || (is_exact(j, &with) && with.worst <= 64 * g->worst)) {
            *e = bound, *g = with, --*params;
            continue;
        }
        memmove(value + k + 1, value + k, (size_t)(*params - k - 1) * sizeof *value);
        value[k++] = kept;
    }
    return SL_OK;
}

/* ---------------------------------------------------------------- bits ---------------------- */

static double structure_bits(const sl_node *e, int inputs) {
    double symbol = log2(8 + inputs), bits = 0;
    for (const sl_node *at = e, *end = e + e->len; at < end; at += sl_step(at)) {
        bits += symbol;
        if (at->op != SL_OP_NUM) continue;
        sl_rat v = sl_num_value(at);
        bits += log2(1 + fabs((double)v.num)) + log2((double)v.den);
    }
    return bits;
}

static sl_bits describe(const sl_search__job *j, const sl_node *e, int params, const judged *g) {
    sl_bits b = { .structure = structure_bits(e, j->all->inputs), .constants = params * g->row };
    double most = -log2(j->precision);
    b.data = (double)j->all->rows * (most - g->row);
    b.total = b.structure + b.numbers + b.constants + b.data;
    return b;
}

/* ---------------------------------------------------------------- keeping ------------------- */

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
    if (j->n_kept == j->kept_room) {
        int room = SL_MAX(16, 2 * j->kept_room);
        sl_search_formula *more = sl_realloc(j->kept, (size_t)room, sizeof *more);
        if (!more) return sl_fail_memory((size_t)room, sizeof *more, "the formulas of a search");
        j->kept = more;
        j->kept_room = room;
    }
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

sl_status sl_search__offer(bool *kept, sl_search__job *j, const sl_node *e, const double *value,
                           int params, const char *method, int level) {
    sl_arena *a = &j->result->arena;
    size_t mark = sl_arena_mark(a);
    double v[PARAMS_MAX];
    judged g;
    *kept = false;
    j->verified++;
    if (params > PARAMS_MAX) return SL_OK;
    memcpy(v, value, (size_t)params * sizeof *v);
    sl_search_formula f = { .method = method, .level = level, .step = j->news.step };
    const sl_node *whole;
    SL_TRY(sl_search__to_all(&whole, a, j, e));
    SL_TRY(judge(&g, a, j, whole, v));
    if (is_exact(j, &g)) {
        SL_TRY(snap(&whole, v, &params, &g, a, j));
        f.exact = true;
    }
    f.fit.expr = whole;
    f.fit.r2 = g.r2;
    f.bits = describe(j, whole, params, &g);
    f.evidence = g.data - f.bits.structure - f.bits.constants -
                 log2(1 + (double)atomic_load(&j->tried));
    f.seconds = sl_clock() - j->start;
    if (!f.exact || f.evidence < EVIDENCE_LEAST || sl_search__is_known(j, &f)) {
        sl_arena_rewind(a, mark);
        return SL_OK;
    }
    SL_TRY(put_values(&f.fit, a, v, params));
    *kept = true;
    return sl_search__keep(j, &f);
}

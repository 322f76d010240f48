/* small - the best formulas of few nodes, where the options limit the size.
 *
 * A law above the limit has no exact formula within it, and most approximations that other methods
 * find are above it too. So small formulas are enumerated directly: F is a term of the store, or a
 * sum, product or quotient of two of them, in each of the forms
 *
 *     F    a F    F + b    a F + b    a F^p    a exp(b F)
 *
 * with constants by least squares at the probes, those of the last two of log|y| and weighted by y.
 * The best few of each size are offered, which fits them in all rows. */
#include <math.h>
#include <string.h>

#include "search/write.h"

enum {
    PROBES = 64,
    TERMS = 1024, // of a side of the store
    PAIRED = 160, // terms that pairs are made of
    SIZES = 24,   // larger formulas are left to the other methods
    KEPT = 4,     // of a size
    LEVELS_MAX = 8
};

typedef enum form { PLAIN, FACTOR, SUMMAND, LINEAR, POWER, EXPONENTIAL, FORMS } form;
typedef enum pairing { ALONE, SUM, PRODUCT, QUOTIENT } pairing;

typedef struct term {
    const sl_node *expr;
    int nodes;
    double value[PROBES];
} term;

/* A formula: what F is made of, its form and constants. */
typedef struct candidate {
    double loss; // mean square of what it leaves at the probes
    int first, second;
    pairing pairing;
    form form;
    double a, b;
} candidate;

typedef struct small {
    sl_search__job *job;
    sl_arena arena;
    int rows; // probes
    double y[PROBES], log_y[PROBES], weight[PROBES];
    bool has_log; // y has one sign
    term *term;
    int terms;
    candidate best[SIZES + 1][KEPT]; // by size, the best first
    int n[SIZES + 1];
} small;

/* ---------------------------------------------------------------- terms --------------------- */

static bool is_known(const small *s, const sl_node *e) {
    for (int i = 0; i < s->terms; i++)
        if (sl_expr_equal(s->term[i].expr, e)) return true;
    return false;
}

static bool is_finite(const double *v, int n) {
    for (int i = 0; i < n; i++)
        if (!isfinite(v[i])) return false;
    return true;
}

static sl_status add_term(small *s, const sl_store *store, sl_store_term t) {
    term *to = &s->term[s->terms];
    const size_t mark = sl_arena_mark(&s->arena);
    const sl_search__job *j = s->job;
    sl_status st = sl_search__store_expr(&to->expr, &s->arena, store, t);
    if (st == SL_OK) st = sl_expr_tidy(&to->expr, &s->arena, to->expr);
    if (st != SL_OK) {
        sl_arena_rewind(&s->arena, mark);
        return sl_search__skip_overflow(st);
    }
    to->nodes = sl_expr_nodes(to->expr);
    const bool fits = to->nodes <= SL_MIN(j->o->max_size, SIZES) && !is_known(s, to->expr);
    if (fits) SL_TRY(sl_expr_eval(to->value, &s->arena, to->expr, j->rows.x, s->rows, NULL));
    if (fits && is_finite(to->value, s->rows))
        s->terms++;
    else
        sl_arena_rewind(&s->arena, mark);
    return SL_OK;
}

/* Levels of a side until there are TERMS of it, or a level has none that is small enough. */
static sl_status add_side(small *s, sl_store *store, sl_side side) {
    sl_store_term batch[SL_STORE_BATCH / 16];
    const int most = s->terms + TERMS;
    for (int level = 0, before = -1; level < LEVELS_MAX && s->terms < most; level++) {
        sl_store_walk w;
        if (before == s->terms && level > 2) break;
        before = s->terms;
        SL_TRY(sl_search__store_extend(store, level));
        sl_search__store_walk_begin(&w, store, side, level);
        for (int n; (n = sl_search__store_walk_next(batch, NULL, SL_LEN(batch), &w)) > 0;) {
            if (sl_search__stop(s->job, true)) return SL_OK;
            for (int i = 0; i < n && s->terms < most; i++) SL_TRY(add_term(s, store, batch[i]));
            if (s->terms == most) break;
        }
    }
    return SL_OK;
}

/* ---------------------------------------------------------------- constants ----------------- */

/* *a, *b := the weighted least squares of y = a f + b; returns the residual. without: b is 0. */
static double fit_line(double *a, double *b, const double *y, const double *f, const double *w,
                       int n, bool without) {
    double sw = 0, sf = 0, sy = 0, ff = 0, fy = 0, rest = 0;
    for (int i = 0; i < n; i++) sw += w[i], sf += w[i] * f[i], sy += w[i] * y[i];
    const double mf = without ? 0 : sf / sw, my = without ? 0 : sy / sw;
    for (int i = 0; i < n; i++) {
        ff += w[i] * (f[i] - mf) * (f[i] - mf);
        fy += w[i] * (f[i] - mf) * (y[i] - my);
    }
    *a = ff > 0 ? fy / ff : 0;
    *b = my - *a * mf;
    for (int i = 0; i < n; i++) {
        const double r = y[i] - *a * f[i] - *b;
        rest += w[i] * r * r;
    }
    return isfinite(rest) ? rest / n : INFINITY;
}

static double fit_form(candidate *c, const small *s, const double *f) {
    static const double ones[PROBES] = { [0 ... PROBES - 1] = 1 };
    double rest[PROBES], mean = 0;
    const int n = s->rows;
    c->a = 1, c->b = 0;
    switch (c->form) {
    case FACTOR: return fit_line(&c->a, &c->b, s->y, f, ones, n, true);
    case LINEAR: return fit_line(&c->a, &c->b, s->y, f, ones, n, false);
    case EXPONENTIAL:
        if (!s->has_log) return INFINITY;
        return fit_line(&c->a, &c->b, s->log_y, f, s->weight, n, false);
    case POWER:
        if (!s->has_log) return INFINITY;
        for (int i = 0; i < n; i++)
            if (!(f[i] > 0)) return INFINITY;
        sl_log_array(rest, f, n);
        return fit_line(&c->a, &c->b, s->log_y, rest, s->weight, n, false);
    default: break;
    }
    for (int i = 0; i < n; i++) mean += (s->y[i] - f[i]) / n;
    if (c->form == SUMMAND) c->b = mean;
    double sum = 0;
    for (int i = 0; i < n; i++) sum += (s->y[i] - f[i] - c->b) * (s->y[i] - f[i] - c->b);
    return isfinite(sum) ? sum / n : INFINITY;
}

/* ---------------------------------------------------------------- the best of a size -------- */

static void put(small *s, const candidate *c, int nodes) {
    if (nodes > SL_MIN(s->job->o->max_size, SIZES) || !isfinite(c->loss)) return;
    candidate *list = s->best[nodes];
    int at = s->n[nodes];
    if (at == KEPT && !(c->loss < list[KEPT - 1].loss)) return;
    if (at < KEPT) s->n[nodes]++;
    for (at = SL_MIN(at, KEPT - 1); at > 0 && c->loss < list[at - 1].loss; at--)
        list[at] = list[at - 1];
    list[at] = *c;
}

/* Every form of F. op: its outermost operator, which takes one more operand as it is. */
static void put_forms(small *s, candidate c, const double *f, int nodes, sl_op op) {
    const int factor = op == SL_OP_MUL ? 1 : 2, summand = op == SL_OP_ADD ? 1 : 2;
    const int more[FORMS] = { 0, factor, summand, factor + 2, 4, factor + 3 };
    for (int k = 0; k < FORMS; k++) {
        c.form = (form)k;
        if (nodes + more[k] > s->job->o->max_size) continue;
        c.loss = fit_form(&c, s, f);
        put(s, &c, nodes + more[k]);
    }
}

static void put_pair(small *s, candidate c) {
    const term *f = &s->term[c.first], *g = &s->term[c.second];
    const sl_op op = c.pairing == SUM ? SL_OP_ADD : SL_OP_MUL;
    const int inverse = c.pairing == QUOTIENT ? 2 : 0;
    const int lifted = (f->expr->op == op) + (g->expr->op == op && !inverse);
    const int nodes = 1 + f->nodes + g->nodes + inverse - lifted;
    double v[PROBES];
    if (nodes > s->job->o->max_size) return;
    for (int i = 0; i < s->rows; i++)
        v[i] = c.pairing == SUM       ? f->value[i] + g->value[i]
               : c.pairing == PRODUCT ? f->value[i] * g->value[i]
                                      : f->value[i] / g->value[i];
    if (is_finite(v, s->rows)) put_forms(s, c, v, nodes, op);
}

static void put_all(small *s) {
    for (int i = 0; i < s->terms && !sl_search__stop(s->job, true); i++) {
        const term *f = &s->term[i];
        put_forms(s, (candidate){ .first = i }, f->value, f->nodes, (sl_op)f->expr->op);
    }
    const int n = SL_MIN(s->terms, PAIRED);
    for (int i = 0; i < n && !sl_search__stop(s->job, true); i++)
        for (int k = 0; k < n; k++) {
            if (i == k) continue;
            if (i < k) put_pair(s, (candidate){ .first = i, .second = k, .pairing = SUM });
            if (i < k) put_pair(s, (candidate){ .first = i, .second = k, .pairing = PRODUCT });
            put_pair(s, (candidate){ .first = i, .second = k, .pairing = QUOTIENT });
        }
    atomic_fetch_add(&s->job->tried, s->terms + 2 * (int64_t)n * n);
}

/* ---------------------------------------------------------------- offers -------------------- */

static const sl_node *write_candidate(sl_writer *w, const small *s, const candidate *c) {
    const sl_node *f = s->term[c->first].expr, *g = s->term[c->second].expr;
    if (c->pairing == SUM) f = sl_search__write_plus(w, f, g);
    if (c->pairing == PRODUCT) f = sl_search__write_times(w, f, g);
    if (c->pairing == QUOTIENT)
        f = sl_search__write_times(w, f, sl_search__write_power(w, g, SL_RAT(-1)));
    const double sign = s->y[0] < 0 ? -1 : 1;
    switch (c->form) {
    case POWER:
        return sl_search__write_times(w, sl_search__write_constant(w, sign * exp(c->b)),
                                      sl_search__write_real_power(w, f, c->a));
    case EXPONENTIAL:
        f = sl_search__write_function(
            w, SL_OP_EXP, sl_search__write_times(w, sl_search__write_constant(w, c->a), f));
        return sl_search__write_times(w, sl_search__write_constant(w, sign * exp(c->b)), f);
    case FACTOR:
    case LINEAR: f = sl_search__write_times(w, sl_search__write_constant(w, c->a), f); break;
    default: break;
    }
    const bool summand = c->form == SUMMAND || c->form == LINEAR;
    return summand ? sl_search__write_plus(w, f, sl_search__write_constant(w, c->b)) : f;
}

static sl_status offer(small *s, const candidate *c) {
    const size_t mark = sl_arena_mark(&s->arena);
    sl_writer w = { .arena = &s->arena };
    bool kept;
    const sl_node *e = write_candidate(&w, s, c);
    SL_TRY(sl_search__write_status(&w));
    SL_TRY(sl_search__offer(&kept, s->job, e, w.value, w.params, "small", 0));
    if (!kept && !s->job->o->exact_only)
        SL_TRY(sl_search__offer_noisy(&kept, s->job, e, w.value, w.params, "small", 0));
    sl_arena_rewind(&s->arena, mark);
    return SL_OK;
}

/* ---------------------------------------------------------------- the method ---------------- */

static void take_rows(small *s) {
    const sl_search__job *j = s->job;
    s->rows = (int)SL_MIN(j->rows.rows, PROBES);
    memcpy(s->y, j->rows.y, (size_t)s->rows * sizeof *s->y);
    s->has_log = true;
    for (int i = 0; i < s->rows; i++) {
        s->has_log = s->has_log && s->y[i] * s->y[0] > 0;
        s->log_y[i] = fabs(s->y[i]);
        s->weight[i] = s->y[i] * s->y[i];
    }
    if (s->has_log) sl_log_array(s->log_y, s->log_y, s->rows);
}

static sl_status open_small(void **state, sl_search__job *j) {
    small *s = sl_calloc(1, sizeof *s);
    if (!s) return sl_fail_memory(1, sizeof *s, "formulas of few nodes");
    s->job = j;
    take_rows(s);
    *state = s;
    return SL_OK;
}

static void close_small(void *state) {
    small *s = state;
    sl_arena_clear(&s->arena);
    sl_free(s);
}

/* s->term := terms of both sides. */
static sl_status gather_terms(small *s) {
    sl_store *store = NULL;
    sl_status st;
    const size_t room = 2 * TERMS + 1; // one for the term being tested
    s->term = sl_arena_alloc(&s->arena, room * sizeof *s->term);
    if (!s->term) return sl_fail_memory(room, sizeof *s->term, "formulas of few nodes");
    SL_GO(sl_search__store_open(&store, s->job, s->rows));
    SL_GO(add_side(s, store, SL_SIDE_SUM));
    st = add_side(s, store, SL_SIDE_PRODUCT);
done:
    sl_search__store_close(store);
    return st;
}

static sl_status level_small(bool *more, void *state, int level) {
    (void)level;
    small *s = state;
    const int64_t bytes = (int64_t)(4 * TERMS * sizeof *s->term); // with their expressions
    sl_status st;
    *more = false;
    if (!sl_search__reserve(s->job, bytes)) return SL_OK;
    SL_GO(gather_terms(s));
    put_all(s);
    for (int size = 1; size <= SIZES; size++)
        for (int i = 0; i < s->n[size] && !sl_search__stop(s->job, true); i++)
            SL_GO(offer(s, &s->best[size][i]));
done:
    sl_search__release(s->job, bytes);
    return st;
}

const sl_search__method sl_search__small = { "small", open_small, level_small, close_small };

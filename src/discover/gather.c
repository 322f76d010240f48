/* gather - candidates: from samples, and those that need no model. */
#include <math.h>
#include <string.h>

#include "discover/discover_impl.h"
#include "num/num.h"

/* ---------------------------------------------------------------- known forms --------------- */

/* Places of candidates by canonical form; -1: empty. Twice as many as candidates, a power of 2. */
typedef struct known {
    int64_t *place;
    size_t mask;
} known;

static size_t slot_of(const known *k, const sl_discover__pool *p, const sl_node *form, bool unit) {
    size_t s = (size_t)(sl_expr_hash(form) + unit) & k->mask;
    while (k->place[s] >= 0) {
        const sl_discover__work *w = &p->work[k->place[s]];
        if (w->unit == unit && sl_expr_equal(w->form, form)) break;
        s = (s + 1) & k->mask;
    }
    return s;
}

static sl_status known_make(known *k, sl_arena *a, const sl_discover__pool *p, int64_t more) {
    size_t n = 16;
    while (n < 2 * (size_t)(p->count + more)) n *= 2;
    *k = (known){ .place = sl_arena_alloc(a, n * sizeof *k->place), .mask = n - 1 };
    if (!k->place) return sl_fail_memory(n, sizeof *k->place, "known forms");
    for (size_t i = 0; i < n; i++) k->place[i] = -1;
    for (int64_t i = 0; i < p->count; i++) {
        const sl_discover__work *w = &p->work[i];
        if (!w->form || w->c.state == SL_CANDIDATE_DUPLICATE) continue;
        k->place[slot_of(k, p, w->form, w->unit)] = i;
    }
    return SL_OK;
}

/* ---------------------------------------------------------------- reading samples ----------- */

typedef struct reading {
    sl_discover__pool *p;
    const sl_sampled *s;
    sl_discover__work *work;
    bool unit;
} reading;

/* From the columns that the model reads to the inputs of these numbers. */
static sl_status to_inputs(const sl_node **e, sl_arena *a, const sl_discover__rows *r) {
    const sl_node *with[SL_DATA_MAX_INPUTS];
    bool same = true;
    for (int v = 0; v < r->shown; v++) {
        same = same && r->column[v] == v;
        with[v] = sl_expr_var(a, r->column[v] + 1);
        if (!with[v]) return sl_fail_memory(1, sizeof **with, "inputs");
    }
    return same ? SL_OK : sl_expr_substitute(e, a, *e, with, r->shown);
}

/* Over inputs of mean 0 and variance 1 to over the inputs themselves. */
static sl_status to_raw_inputs(sl_discover__work *w, sl_arena *a, const sl_discover__rows *r) {
    const sl_node *with[SL_DATA_MAX_INPUTS], *e;
    double given[2 * SL_DATA_MAX_INPUTS], *value;
    for (int v = 0; v < r->shown; v++) {
        const int column = r->column[v];
        const double scale = r->standard.factor[column];
        given[2 * v] = scale;
        given[2 * v + 1] = -r->standard.mean[column] * scale;
        const sl_node *factors[2] = { sl_expr_par(a, 2 * v + 1), sl_expr_var(a, column + 1) };
        if (!factors[0] || !factors[1]) return sl_fail_memory(1, sizeof **factors, "inputs");
        const sl_node *terms[2] = { sl_expr_nary(a, SL_OP_MUL, factors, 2),
                                    sl_expr_par(a, 2 * v + 2) };
        if (!terms[0] || !terms[1]) return sl_fail_memory(1, sizeof **terms, "inputs");
        with[v] = sl_expr_nary(a, SL_OP_ADD, terms, 2);
        if (!with[v]) return sl_fail_memory(1, sizeof **with, "inputs");
    }
    SL_TRY(sl_expr_substitute(&e, a, w->c.expr, with, r->shown));
    SL_TRY(sl_fit_collapse(&w->c.expr, &value, &w->c.params, a, e, given));
    w->start = w->c.value = value;
    for (int i = 0; i < w->c.params; i++)
        if (!isfinite(value[i])) w->c.state = SL_CANDIDATE_UNREAL;
    return SL_OK;
}

static sl_status read_sample(sl_discover__work *w, sl_arena *a, const sl_sampled *s,
                             const sl_discover__rows *r) {
    int at;
    SL_TRY(sl_token_to_expr(&w->c.expr, &w->c.reason, &at, a, s->tokens, s->n, r->shown));
    if (w->c.reason != SL_TOKEN_FINE) return SL_OK;
    w->c.state = SL_CANDIDATE_SCORED;
    if (!w->unit) {
        SL_TRY(to_inputs(&w->c.expr, a, r));
        return sl_discover__form(&w->form, a, w->c.expr);
    }
    SL_TRY(sl_discover__form(&w->form, a, w->c.expr));
    sl_status st = to_raw_inputs(w, a, r);
    if (st != SL_ELIMIT && st != SL_EOVERFLOW) return st;
    w->c.state = SL_CANDIDATE_INVALID; // numbers grew beyond what an expression holds
    w->c.reason = SL_TOKEN_OVERFLOW;
    w->c.expr = w->form = NULL;
    return SL_OK;
}

static sl_status read_some(int64_t begin, int64_t end, int worker, void *payload) {
    reading *r = payload;
    for (int64_t i = begin; i < end; i++) {
        const sl_sampled *s = &r->s[i];
        sl_discover__work *w = &r->work[i];
        *w = (sl_discover__work){ .unit = r->unit };
        w->c = (sl_candidate){ .state = SL_CANDIDATE_INVALID,
                               .source = SL_SOURCE_MODEL,
                               .number = s->number,
                               .same_as = -1,
                               .times = 1,
                               .tokens = s->tokens,
                               .n_tokens = s->n,
                               .log_prob = s->log_prob,
                               SL_DISCOVER__NO_FIGURES };
        SL_TRY(read_sample(w, &r->p->scratch[worker], s, &r->p->rows));
    }
    return SL_OK;
}

/* ---------------------------------------------------------------- scoring ------------------- */

typedef struct scoring {
    sl_discover__pool *p;
    int64_t first; // of the candidates to score
} scoring;

static sl_status score_some(int64_t begin, int64_t end, int worker, void *payload) {
    const scoring *s = payload;
    sl_discover__pool *p = s->p;
    for (int64_t i = begin; i < end; i++) {
        sl_discover__work *w = &p->work[s->first + i];
        if (w->c.state != SL_CANDIDATE_SCORED) continue;
        const bool sample = w->c.source != SL_SOURCE_BASELINE; // the few others are always worth it
        if (sample && sl_discover__stop(&p->control, worker == 0)) return SL_OK;
        SL_TRY(
            sl_discover__score(&w->c.r2, &p->scratch[worker], w->c.expr, w->c.value, &p->rows.fit));
        if (isnan(w->c.r2)) w->c.state = SL_CANDIDATE_UNREAL;
        w->c.r2_proposed = w->c.r2;
        w->c.size = sl_expr_nodes(w->c.expr);
        w->c.seconds = sl_clock() - p->control.start;
    }
    return SL_OK;
}

static sl_status score_from(sl_discover__pool *p, int64_t first) {
    const double start = sl_clock();
    scoring s = { p, first };
    SL_TRY(sl_par_for(p->threads, p->count - first, 1, score_some, &s));
    for (int64_t i = first; i < p->count; i++) {
        sl_candidate *c = &p->work[i].c;
        if (c->state == SL_CANDIDATE_SCORED && c->size == 0) c->state = SL_CANDIDATE_SKIPPED;
        if (c->expr) c->size = sl_expr_nodes(c->expr);
        p->cost->unreal += c->state == SL_CANDIDATE_UNREAL;
    }
    sl_discover__find_best(p, first);
    p->cost->score += sl_clock() - start;
    return SL_OK;
}

/* ---------------------------------------------------------------- the pool ------------------ */

static sl_status copy_expr(const sl_node **e, sl_arena *a) {
    if (!*e) return SL_OK;
    *e = sl_expr_copy(a, *e);
    return *e ? SL_OK : sl_fail_memory(1, sizeof **e, "candidates");
}

/* Constants that were not fitted have no standard errors. */
static sl_status set_errors(sl_candidate *c, sl_arena *a) {
    double *error = sl_arena_alloc(a, (size_t)c->params * sizeof *error);
    if (!error) return sl_fail_memory((size_t)c->params, sizeof *error, "candidates");
    for (int i = 0; i < c->params; i++) error[i] = NAN;
    c->error = error;
    return SL_OK;
}

/* From a worker's arena to the pool's own. */
static sl_status keep(sl_discover__pool *p, sl_discover__work *w) {
    SL_TRY(copy_expr(&w->c.expr, p->arena));
    SL_TRY(copy_expr(&w->form, p->arena));
    if (w->start) SL_TRY(sl_discover__copy(&w->start, p->arena, w->start, w->c.params));
    SL_TRY(set_errors(&w->c, p->arena));
    w->c.value = w->start;
    SL_ASSERT(p->count < p->room);
    p->work[p->count++] = *w;
    return SL_OK;
}

/* A sample that equals a baseline replaces it. */
static void take_over(sl_candidate *c, const sl_candidate *sample) {
    c->source = SL_SOURCE_MODEL;
    c->number = sample->number;
    c->tokens = sample->tokens;
    c->n_tokens = sample->n_tokens;
    c->log_prob = sample->log_prob;
    c->times = 1;
}

static sl_status add_sample(sl_discover__pool *p, known *k, sl_discover__work *w) {
    p->cost->invalid[w->c.reason]++;
    if (!w->form) return keep(p, w);
    const size_t s = slot_of(k, p, w->form, w->unit);
    if (k->place[s] < 0) {
        k->place[s] = p->count;
        p->cost->distinct++;
        return keep(p, w);
    }
    sl_candidate *first = &p->work[k->place[s]].c;
    if (first->source == SL_SOURCE_BASELINE) {
        take_over(first, &w->c);
        p->cost->distinct++;
        return SL_OK;
    }
    first->times++;
    w->c.state = SL_CANDIDATE_DUPLICATE;
    w->c.same_as = k->place[s];
    return keep(p, w);
}

static void clear_scratch(sl_discover__pool *p) {
    for (int i = 0; i < p->workers; i++) sl_arena_rewind(&p->scratch[i], 0);
}

sl_status sl_discover__take_samples(sl_discover__pool *p, const sl_sampled *s, int64_t n,
                                    bool unit) {
    sl_arena a = { 0 };
    const int64_t first = p->count;
    known k;
    sl_status st;
    reading r = { p, s, sl_arena_alloc(&a, (size_t)n * sizeof *r.work), unit };
    if (!r.work) SL_GO(sl_fail_memory((size_t)n, sizeof *r.work, "candidates"));
    SL_GO(sl_discover__reserve(p, n));
    SL_GO(known_make(&k, &a, p, n));
    SL_GO(sl_par_for(p->threads, n, 4, read_some, &r));
    for (int64_t i = 0; i < n; i++) SL_GO(add_sample(p, &k, &r.work[i]));
    clear_scratch(p);
    SL_GO(score_from(p, first));
done:
    clear_scratch(p);
    sl_arena_clear(&a);
    return st;
}

/* ---------------------------------------------------------------- baselines ----------------- */

/* error: of the values, or NULL: unknown. */
static sl_status add_baseline(sl_discover__pool *p, const sl_node *e, const double *value,
                              const double *error, int n) {
    sl_discover__work w = { .start = value };
    w.c = (sl_candidate){ .state = SL_CANDIDATE_SCORED,
                          .source = SL_SOURCE_BASELINE,
                          .number = p->count,
                          .same_as = -1,
                          .log_prob = -INFINITY,
                          .expr = e,
                          .params = n,
                          .value = value,
                          SL_DISCOVER__NO_FIGURES };
    if (!e) return sl_fail_memory(1, sizeof *e, "candidates");
    SL_TRY(sl_discover__reserve(p, 1));
    SL_TRY(set_errors(&w.c, p->arena));
    if (error) w.c.error = error;
    SL_TRY(sl_discover__form(&w.form, p->arena, e));
    SL_ASSERT(p->count < p->room);
    p->work[p->count++] = w;
    return SL_OK;
}

/* c1 + c2 x1 + c3 x2 by least squares. */
static sl_status add_linear(sl_discover__pool *p) {
    const sl_dataset *d = &p->rows.fit;
    sl_arena *a = p->arena;
    const int n = d->inputs + 1;
    if (d->inputs > 3 && d->rows <= n) return SL_OK; // it would fit anything
    const double *columns[SL_DATA_MAX_INPUTS + 1];
    const sl_node *terms[SL_DATA_MAX_INPUTS + 1];
    double *coef = sl_arena_alloc(a, 2 * (size_t)n * sizeof *coef); // and their errors
    double *ones = sl_arena_alloc(&p->scratch[0], (size_t)d->rows * sizeof *ones);
    sl_lsq fit;
    if (!coef || !ones) return sl_fail_memory((size_t)d->rows, sizeof *ones, "a linear fit");
    for (int64_t i = 0; i < d->rows; i++) ones[i] = 1;
    columns[0] = ones;
    for (int v = 0; v < d->inputs; v++) columns[v + 1] = d->x[v];
    SL_TRY(
        sl_num_lsq_fit(&fit, coef, coef + n, &p->scratch[0], columns, d->y, NULL, (int)d->rows, n));
    for (int i = 0; i < n; i++)
        if (!isfinite(coef[i])) return SL_OK;
    terms[0] = sl_expr_par(a, 1);
    for (int v = 1; v < n; v++) {
        const sl_node *f[2] = { sl_expr_par(a, v + 1), sl_expr_var(a, v) };
        terms[v] = f[0] && f[1] ? sl_expr_nary(a, SL_OP_MUL, f, 2) : NULL;
        if (!terms[v]) return sl_fail_memory(1, sizeof **terms, "candidates");
    }
    const sl_node *raw = terms[0] ? sl_expr_nary(a, SL_OP_ADD, terms, n) : NULL, *e;
    if (!raw) return sl_fail_memory(1, sizeof *raw, "candidates");
    SL_TRY(sl_expr_tidy(&e, a, raw));
    return add_baseline(p, e, coef, coef + n, n);
}

sl_status sl_discover__take_baselines(sl_discover__pool *p) {
    const sl_dataset *d = &p->rows.fit;
    const int64_t first = p->count;
    double *mean = sl_arena_alloc(p->arena, sizeof *mean);
    if (!mean) return sl_fail_memory(1, sizeof *mean, "candidates");
    *mean = p->rows.constant ? d->y[0] : sl_num_mean(d->y, d->rows);
    if (isfinite(*mean)) SL_TRY(add_baseline(p, sl_expr_par(p->arena, 1), mean, NULL, 1));
    for (int v = 1; v <= d->inputs; v++)
        SL_TRY(add_baseline(p, sl_expr_var(p->arena, v), NULL, NULL, 0));
    SL_TRY(add_linear(p));
    clear_scratch(p);
    SL_TRY(score_from(p, first));
    clear_scratch(p);
    return SL_OK;
}

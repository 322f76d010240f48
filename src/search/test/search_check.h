/* Shared by tests of whole searches: tables of a formula, and checks of the formulas found. */
#ifndef SL_SEARCH_CHECK_H
#define SL_SEARCH_CHECK_H

#include <math.h>
#include <string.h>

#include "fixture/fixture.h"
#include "par/par.h"
#include "search/search_impl.h"

enum { INPUTS_MAX = SL_DATA_MAX_INPUTS, ROWS_MAX = 1000 };

/* A table of random rows, y by a formula. */
typedef struct planted {
    double x[INPUTS_MAX][ROWS_MAX], y[ROWS_MAX];
    const double *column[INPUTS_MAX];
    const sl_node *formula;
    sl_dataset problem;
    double low, high;
} planted;

static inline void draw_x(planted *p, sl_rng *rng) {
    for (int v = 0; v < p->problem.inputs; v++)
        for (int64_t i = 0; i < p->problem.rows; i++)
            p->x[v][i] = sl_rng_range(rng, p->low, p->high);
}

static inline void plant(planted *p, sl_fixture *t, const char *text, int inputs, int rows,
                         double low, double high) {
    *p = (planted){ .low = low, .high = high };
    for (int v = 0; v < inputs; v++) p->column[v] = p->x[v];
    p->problem = sl_data_view(p->column, inputs, p->y, rows);
    draw_x(p, &t->rng);
    if (!text) {
        for (int i = 0; i < rows; i++) p->y[i] = sl_rng_normal(&t->rng);
        return;
    }
    SL_MUST(t, sl_expr_parse(&p->formula, &t->arena, SL_FORMAT_INFIX, text, strlen(text), NULL,
                             NULL));
    SL_MUST(t, sl_expr_eval(p->y, &t->arena, p->formula, p->column, rows, NULL));
}

static inline sl_search_options options(int effort) {
    sl_search_options o = SL_SEARCH_OPTIONS_INIT;
    o.effort = effort;
    o.exact_only = true;
    return o;
}

static inline const char *text_of(sl_fixture *t, const sl_search_formula *f) {
    static char copy[1024];
    sl_str text = { 0 };
    SL_MUST(t, sl_expr_print_values(&text, SL_FORMAT_INFIX, f->fit.expr, NULL, f->fit.value));
    sl_snprintf(copy, sizeof copy, "%s", sl_str_text(&text));
    sl_str_clear(&text);
    return copy;
}

/* Levels (a bit each) of one method without the steps of the others, each only while nothing exact
 * is found. */
static inline sl_status run_levels(sl_search_result **out, const sl_search__method *m,
                                   sl_pool *pool, const sl_dataset *p, const sl_search_options *o,
                                   uint32_t levels) {
    sl_search__job j = { .all = p, .o = o, .pool = pool, .precision = 0x1p-52 };
    void *state = NULL;
    bool more = true, open = false;
    sl_status st;
    *out = NULL;
    atomic_store(&j.ended, SL_SEARCH__RUNNING);
    j.result = sl_calloc(1, sizeof *j.result);
    if (!j.result) return sl_fail_memory(1, sizeof *j.result, "a result");
    SL_GO(sl_search__prepare(&j));
    SL_GO(m->open(&state, &j));
    open = true;
    for (int l = 0; l < 32 && more && !j.exact; l++)
        if (levels >> l & 1) SL_GO(m->level(&more, state, l));
    st = sl_search__finish(&j);
done:
    if (open) m->close(state);
    SL_ASSERT(j.memory == 0); // all reserved memory is released
    sl_free(j.kept);
    sl_arena_clear(&j.arena);
    if (st != SL_OK) sl_search_result_free(j.result), j.result = NULL;
    *out = j.result;
    return st;
}

/* Levels from .. to. */
static inline sl_status run_method(sl_search_result **out, const sl_search__method *m,
                                   sl_pool *pool, const sl_dataset *p, const sl_search_options *o,
                                   int from, int to) {
    return run_levels(out, m, pool, p, o, (2u << to) - (1u << from));
}

/* Are both answers the same formulas with the same constants, after as many checks? */
static inline bool same_answers(const sl_search_result *a, const sl_search_result *b) {
    bool same = a->count == b->count && a->verified == b->verified;
    for (int64_t k = 0; same && k < a->count; k++)
        same = sl_expr_equal(a->formula[k].fit.expr, b->formula[k].fit.expr) &&
               a->formula[k].fit.params == b->formula[k].fit.params &&
               !memcmp(a->formula[k].fit.value, b->formula[k].fit.value,
                       (size_t)a->formula[k].fit.params * sizeof(double));
    return same;
}

/* A progress callback that cancels at a step. */
static inline int stop_at_step(const sl_search_progress *progress, void *payload) {
    return progress->step >= *(int *)payload;
}

/* Does it hold in rows that were not searched? */
static inline bool holds(sl_fixture *t, planted *p, const sl_search_formula *f) {
    static double got[ROWS_MAX], want[ROWS_MAX];
    bool good = true;
    draw_x(p, &t->rng);
    SL_MUST(t, sl_expr_eval(got, &t->arena, f->fit.expr, p->column, p->problem.rows, f->fit.value));
    SL_MUST(t, sl_expr_eval(want, &t->arena, p->formula, p->column, p->problem.rows, NULL));
    for (int64_t i = 0; i < p->problem.rows; i++)
        good = good && fabs(got[i] - want[i]) <= 1e-6 * (fabs(want[i]) + 1e-3);
    return good;
}

/* A formula that a method has at this level. */
typedef struct at_level {
    const char *text;
    int inputs, level;
} at_level;

/* Each is found by levels `from` .. its own (-1: its own alone), and no earlier. Inputs in low ..
 * high. */
static inline void find_each(sl_fixture *t, planted *p, const sl_search__method *m,
                             const sl_search_options *o, const at_level *f, int n, int from,
                             double low, double high) {
    for (int i = 0; i < n; i++) {
        sl_search_result *r;
        plant(p, t, f[i].text, f[i].inputs, 64, low, high);
        const int level = f[i].level;
        SL_MUST(t, run_method(&r, m, NULL, &p->problem, o, from < 0 ? level : from, level));
        SL_CHECK(t, r->count > 0 && r->formula[0].exact, "%s: nothing found", f[i].text);
        SL_CHECK(t, r->formula[0].level == level, "%s: level %d", f[i].text, r->formula[0].level);
        SL_CHECK(t, holds(t, p, &r->formula[0]), "%s: %s", f[i].text, text_of(t, &r->formula[0]));
        sl_search_result_free(r);
    }
}

/* Degenerate tables of six kinds: y of zeros, constant y, constant inputs, huge and tiny scales, an
 * input that is a multiple of another, y of largest and smallest doubles. */
static inline void plant_hostile(planted *p, sl_fixture *t, int i, int rows) {
    static const double scales[] = { 1e300, 1e-300, 5e-324, 1e150, 1e-160 };
    plant(p, t, "x1*x2 + 1.5", 2, rows, 1, 3);
    for (int k = 0; k < rows; k++) {
        if (i % 6 == 0) p->y[k] = 0;
        if (i % 6 == 1) p->y[k] = 4.25;
        if (i % 6 == 2) p->x[0][k] = p->x[1][k] = 1;
        if (i % 6 == 3) p->x[0][k] *= scales[i % 5], p->y[k] *= scales[i % 5];
        if (i % 6 == 4) p->x[1][k] = p->x[0][k] * 3, p->x[0][0] = 0;
        if (i % 6 == 5) p->y[k] = k % 2 ? 1e300 : -1e-300;
    }
}

#endif

/* Shared by tests of the search under noise: a table of a formula with errors, and the method run
 * on it alone, without the exact steps. */
#ifndef SL_NOISE_CHECK_H
#define SL_NOISE_CHECK_H

#include <math.h>
#include <string.h>

#include "search/noise_impl.h"
#include "search_check.h"

enum { CHECK_ROWS = 400 };

typedef struct noisy_table {
    sl_dataset problem;
    const double *x[4];
    double column[4][CHECK_ROWS], clean[CHECK_ROWS], y[CHECK_ROWS], sigma[CHECK_ROWS];
} noisy_table;

/* y = formula of inputs in low .. high, with normal errors of `noise` times its rms. */
static inline void noisy_table_make(noisy_table *n, sl_fixture *t, const char *formula, int inputs,
                                    int rows, double low, double high, double noise) {
    const sl_node *e;
    double rms = 0;
    for (int v = 0; v < inputs; v++) {
        n->x[v] = n->column[v];
        for (int i = 0; i < rows; i++) n->column[v][i] = sl_rng_range(&t->rng, low, high);
    }
    SL_MUST(t, sl_expr_parse(&e, &t->arena, SL_FORMAT_INFIX, formula, strlen(formula), NULL, NULL));
    SL_MUST(t, sl_expr_eval(n->clean, &t->arena, e, n->x, rows, NULL));
    for (int i = 0; i < rows; i++) rms += n->clean[i] * n->clean[i] / rows;
    for (int i = 0; i < rows; i++)
        n->y[i] = n->clean[i] + noise * sqrt(rms) * sl_rng_normal(&t->rng);
    n->problem = sl_data_view(n->x, inputs, n->y, rows);
}

/* Levels 0 .. level of the method; the best formula is result->formula[0]. */
static inline sl_status noise_run(sl_search_result **out, const noisy_table *n, sl_pool *pool,
                                  const sl_search_options *o, int level) {
    return run_method(out, &sl_search__noise, pool, &n->problem, o, 0, level);
}

/* Is the formula's structure that of the table, whatever the values of its constants? */
static inline bool is_structure(sl_fixture *t, const sl_search_formula *f, const noisy_table *n) {
    sl_dataset clean = n->problem;
    const sl_refine_options o = { .evaluations = 200 };
    double got[CHECK_ROWS], rms = 0;
    sl_fit again;
    clean.y = n->clean;
    clean.sigma = NULL;
    SL_MUST(t, sl_fit_constants(&again, &t->arena, f->fit.expr, f->fit.params, f->fit.value,
                                &clean, &o));
    SL_MUST(t, sl_expr_eval(got, &t->arena, again.expr, clean.x, clean.rows, again.value));
    for (int64_t i = 0; i < clean.rows; i++) rms += n->clean[i] * n->clean[i];
    rms = sqrt(rms / (double)clean.rows);
    for (int64_t i = 0; i < clean.rows; i++)
        if (!(fabs(got[i] - n->clean[i]) <= 1e-6 * (fabs(n->clean[i]) + 1e-3 * rms))) return false;
    return true;
}

static inline const char *formula_text(sl_fixture *t, const sl_search_result *r) {
    sl_str s = { 0 };
    if (!r->count) return "(none)";
    if (sl_expr_print_values(&s, SL_FORMAT_INFIX, r->formula[0].fit.expr, NULL,
                             r->formula[0].fit.value) != SL_OK)
        return "?";
    const char *copy = sl_arena_text(&t->arena, s.text, s.len);
    sl_str_clear(&s);
    return copy ? copy : "?";
}

#endif

/* candidate - its text, its values, its canonical form. */
#include <string.h>

#include "discover/discover_impl.h"

sl_status sl_discover_candidate_print(sl_str *s, const sl_candidate *c, sl_format format,
                                      const sl_names *names) {
    SL_ASSERT(c->expr);
    return sl_expr_print_values(s, format, c->expr, names, c->value);
}

sl_status sl_discover_candidate_eval(double *y, sl_arena *scratch, const sl_candidate *c,
                                     const sl_dataset *p) {
    SL_ASSERT(c->expr);
    return sl_expr_eval(y, scratch, c->expr, p->x, p->rows, c->value);
}

sl_status sl_discover__score(double *r2, sl_arena *scratch, const sl_node *e, const double *value,
                             const sl_dataset *p) {
    const size_t mark = sl_arena_mark(scratch), n = (size_t)p->rows;
    double *y = sl_arena_alloc(scratch, n * sizeof *y);
    if (!y) return sl_fail_memory(n, sizeof *y, "values");
    sl_status st = sl_expr_eval(y, scratch, e, p->x, p->rows, value);
    if (st == SL_OK) *r2 = sl_fit_r2(y, p);
    sl_arena_rewind(scratch, mark);
    return st;
}

sl_status sl_discover__form(const sl_node **form, sl_arena *a, const sl_node *e) {
    sl_status st = sl_expr_canon(form, a, e);
    if (st != SL_ELIMIT && st != SL_EOVERFLOW) return st;
    *form = e;
    return SL_OK;
}

sl_status sl_discover__copy(const double **out, sl_arena *a, const double *v, int n) {
    double *copy = sl_arena_alloc(a, (size_t)n * sizeof *copy);
    if (!copy) return sl_fail_memory((size_t)n, sizeof *copy, "constants");
    if (n > 0) memcpy(copy, v, (size_t)n * sizeof *copy);
    *out = copy;
    return SL_OK;
}

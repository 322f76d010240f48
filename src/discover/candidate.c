/* candidate - its text and its values. */
#include "discover/discover_impl.h"

sl_status sl_candidate_print(sl_str *s, const sl_candidate *c, sl_format format,
                             const sl_names *names) {
    SL_ASSERT(c->expr);
    return sl_expr_print_values(s, format, c->expr, names, c->value);
}

sl_status sl_candidate_eval(double *y, sl_arena *scratch, const sl_candidate *c,
                            const sl_problem *p) {
    SL_ASSERT(c->expr);
    return sl_expr_eval(y, scratch, c->expr, p->x, p->rows, c->value);
}

sl_status sl_discover__score(double *r2, sl_arena *scratch, const sl_node *e, const double *value,
                             const sl_problem *p) {
    const size_t mark = sl_arena_mark(scratch), n = (size_t)p->rows;
    double *y = sl_arena_alloc(scratch, n * sizeof *y);
    if (!y) return sl_fail_memory(n, sizeof *y, "values");
    sl_status st = sl_expr_eval(y, scratch, e, p->x, p->rows, value);
    if (st == SL_OK) *r2 = sl_r2(y, p->y, p->rows);
    sl_arena_rewind(scratch, mark);
    return st;
}

/* Raw trees as the definition of the universe makes them, drawn at random: for its tests. */
#ifndef SL_RAW_TREE_H
#define SL_RAW_TREE_H

#include <math.h>

#include "expr/expr.h"
#include "fixture/fixture.h"

/* Real at enough of 40 points over the four quadrants, and not the same everywhere. */
static inline bool raw_tree_is_function(const sl_node *e) {
    int real = 0;
    long double lo = INFINITY, hi = -INFINITY;
    for (int i = 0; i < 40; i++) {
        long double x[2], v, bound;
        for (int k = 0; k < 2; k++) {
            x[k] = 0.3L + 2 * (long double)((i * (k ? 7 : 11)) % 40) / 40;
            if (i >> k & 1) x[k] = -x[k];
        }
        sl_expr_eval_ref(&v, &bound, e, x, NULL, 0x1p-64L);
        if (!isfinite(v)) continue;
        real++;
        lo = fminl(lo, v);
        hi = fmaxl(hi, v);
    }
    return real >= 6 && hi - lo > 1e-9L;
}

/* A tree over x1 and x2 of exactly this depth, none of whose parts is constant or undefined. */
static inline const sl_node *raw_tree(sl_fixture *t, int depth) {
    for (;;) {
        const sl_node *p, *q = NULL, *e;
        if (depth == 0) return sl_expr_var(&t->arena, 1 + (int)sl_rng_below(&t->rng, 2));
        sl_operator o = (sl_operator)sl_rng_below(&t->rng, SL_OPERATOR_DIV + 1);
        p = raw_tree(t, depth - 1);
        if (sl_expr_operator_operands(o) == 2) {
            q = raw_tree(t, (int)sl_rng_below(&t->rng, (uint32_t)depth));
            if (sl_rng_below(&t->rng, 2)) e = p, p = q, q = e;
        }
        e = sl_expr_apply(&t->arena, o, p, q);
        if (raw_tree_is_function(e)) return e;
    }
}

#endif

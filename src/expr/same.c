/* Are two expressions the same function? Algebra can prove that they are, a point can prove that
 * they are not; otherwise the result is SL_UNKNOWN. */
#include "expr/expr.h"

#include <math.h>

enum { PROBES = 256 };

/* Probe i: magnitudes between 0.01 and 10, and all combinations of signs. Few functions that differ
 * agree at 256 such points to 19 digits; those that do are the UNKNOWN ones. */
static void probe(long double *x, int n, uint64_t i) {
    sl_rng rng;
    sl_rng_init(&rng, 0x5a3e, 0, i);
    for (int v = 0; v < n; v++) {
        double size = sl_exp(sl_rng_range(&rng, -4.6, 2.3));
        x[v] = sl_rng_below(&rng, 2) ? size : -size;
    }
}

/* Is there a probe where both are real and differ by more than rounding can explain? */
static bool differ(const sl_node *a, const sl_node *b) {
    long double x[SL_EXPR_MAX_VARS];
    int n = SL_MAX(sl_expr_max_var(a), sl_expr_max_var(b));
    SL_ASSERT(n <= SL_EXPR_MAX_VARS);
    for (int i = 0; i < PROBES; i++) {
        long double va, vb, da, db;
        probe(x, n, (uint64_t)i);
        sl_expr_eval_ref(&va, &da, a, x, NULL, 0x1p-64L);
        sl_expr_eval_ref(&vb, &db, b, x, NULL, 0x1p-64L);
        if (isfinite(va) && isfinite(vb) && fabsl(va - vb) > 4 * (da + db)) return true;
    }
    return false;
}

sl_status sl_expr_same(sl_truth *out, sl_arena *scratch, const sl_node *a, const sl_node *b) {
    if (sl_expr_equal(a, b)) {
        *out = SL_YES;
        return SL_OK;
    }
    const sl_node *ca, *cb;
    size_t mark = sl_arena_mark(scratch);
    sl_status st = sl_expr_canon(&ca, scratch, a);
    if (st == SL_OK) st = sl_expr_canon(&cb, scratch, b);
    bool equal = st == SL_OK && sl_expr_equal(ca, cb);
    sl_arena_rewind(scratch, mark);
    if (st == SL_ENOMEM) return st;

    // free constants have no value to probe with
    bool can_probe = sl_expr_max_par(a) == 0 && sl_expr_max_par(b) == 0;
    *out = equal ? SL_YES : can_probe && differ(a, b) ? SL_NO : SL_UNKNOWN;
    return SL_OK;
}

/* Shared by the files of expr only. */
#ifndef SL_EXPR_IMPL_H
#define SL_EXPR_IMPL_H

#include "expr/expr.h"

/* Writing nodes into room that the caller measured: each returns the place behind. */
uint32_t sl_expr__num_len(sl_rat v);
static inline sl_node *sl_expr__put(sl_node *w, const sl_node *e) {
    memcpy(w, e, e->len * sizeof *w);
    return w + e->len;
}

/* A factor seen as base^exponent. */
static inline const sl_node *sl_expr__base(const sl_node *f) {
    return f->op == SL_OP_POW ? f + 1 : f;
}
static inline sl_rat sl_expr__exponent(const sl_node *f) {
    return f->op == SL_OP_POW ? sl_expr_num_value(sl_expr_next(f + 1)) : SL_RAT(1);
}

/* f(-u) = -f(u), or f(-u) = f(u)? */
static inline bool sl_expr__is_odd(sl_op op) {
    return op == SL_OP_SIN || op == SL_OP_TAN || op == SL_OP_TANH || op == SL_OP_SINH ||
           op == SL_OP_ASIN || op == SL_OP_ATAN;
}
static inline bool sl_expr__is_even(sl_op op) {
    return op == SL_OP_COS || op == SL_OP_COSH || op == SL_OP_ABS;
}

/* Order of bases alone; 0 exactly for equal bytes where both are canonical. */
int sl_expr__cmp_base(const sl_node *a, const sl_node *b);

/* A part of the expression is undefined everywhere. Positive, unlike every sl_status. */
#define SL_EXPR__UNDEFINED ((sl_status)1)

/* The end of a computation in the arena that began at `mark`: its result r is moved down to there,
 * so that scratch is given back; for SL_EXPR__UNDEFINED the result is 1/0. A failure gives
 * everything back and leaves *out alone. */
SL_NODISCARD sl_status sl_expr__finish(const sl_node **out, sl_arena *a, size_t mark, sl_status st,
                                       const sl_node *r);

/* Room for len nodes; SL_ELIMIT past SL_EXPR_MAX. */
SL_NODISCARD sl_status sl_expr__room(sl_node **out, sl_arena *a, size_t len);

/* op(argument) for a function of one operand. */
SL_NODISCARD sl_status sl_expr__fn(const sl_node **out, sl_arena *a, sl_op op,
                                   const sl_node *argument);

/* The greatest common divisor of two sizes; signs do not matter. */
int64_t sl_expr__gcd(int64_t a, int64_t b);

/* The exact value of v^r where it is a number of 64 bits: integer powers, and roots of perfect
 * powers. SL_EOVERFLOW when it is a number but a larger one; *exact: *out was set. v > 0 or r an
 * integer; not 0 to a negative power. */
SL_NODISCARD sl_status sl_expr__num_pow(sl_rat *out, bool *exact, sl_rat v, sl_rat r);

/* Recursion over a tree goes this deep and no deeper (then SL_ELIMIT): raw trees may be
 * degenerate. */
#define SL_EXPR__DEEP 2000

#endif

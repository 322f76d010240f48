/* Random expressions for the tests of this folder and of folders that include it. */
#ifndef SL_EXPR_TEST_H
#define SL_EXPR_TEST_H

#include "expr/expr.h"

typedef struct sl_expr_random_options {
    int depth;         // at most this deep, counted in surface operators
    int variables;     // x1 .. x<variables>
    int number_range;  // integers -range..range appear as leaves; 0: none
    double p_leaf;     // chance to stop early at each step
    uint32_t ops;      // bit i: row i of SL_OPERATORS; 0: the first eight
    bool with_pi;      // one in four numbers is pi
} sl_expr_random_options;

/* *out := a raw tree made of surface operators. */
SL_NODISCARD sl_status sl_expr_random(const sl_node **out, sl_arena *a, sl_rng *rng,
                                      const sl_expr_random_options *options);

/* *out := the same function written otherwise: operands of sums and products permuted and
 * rebracketed at random. */
SL_NODISCARD sl_status sl_expr_rewrite(const sl_node **out, sl_arena *a, sl_rng *rng,
                                       const sl_node *e);

/* *out := e with numbers put in: each variable and function u becomes a*u + b with probability p
 * for each of a and b, integers up to range, not 0. Raw. */
SL_NODISCARD sl_status sl_expr_insert_numbers(const sl_node **out, sl_arena *a, sl_rng *rng,
                                              const sl_node *e, double p, int range);

#endif

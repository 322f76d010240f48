/* Inside src/search only: formulas written down piece by piece.
 *
 * Pieces are expressions in an arena. A failure sticks: every further piece is NULL, and the status is
 * asked for once at the end. Real numbers become free constants with their values noted. */
#ifndef SL_SEARCH_WRITE_H
#define SL_SEARCH_WRITE_H

#include "search/search_impl.h"

typedef struct sl_write {
    sl_arena *arena;
    double value[2 * SL_FIT_MAX_PARAMS + 64]; // of the free constants
    int params;
    bool failed;
} sl_write;

SL_NODISCARD sl_status sl_search_write_status(const sl_write *w);
const sl_node *sl_search_write_int(sl_write *w, int64_t n);
const sl_node *sl_search_write_variable(sl_write *w, int number); // from 1
const sl_node *sl_search_write_constant(sl_write *w, double value);
const sl_node *sl_search_write_plus(sl_write *w, const sl_node *a, const sl_node *b);
const sl_node *sl_search_write_times(sl_write *w, const sl_node *a, const sl_node *b);
const sl_node *sl_search_write_power(sl_write *w, const sl_node *a, sl_rat exponent);
/* a^c, c a free constant; a must be positive. */
const sl_node *sl_search_write_real_power(sl_write *w, const sl_node *a, double exponent);
const sl_node *sl_search_write_function(sl_write *w, sl_op op, const sl_node *a);
/* A product of powers of variables 1 .. n; of halves: of powers of their roots. */
const sl_node *sl_search_write_monomial(sl_write *w, const int8_t *power, int n);
const sl_node *sl_search_write_halves(sl_write *w, const int8_t *power, int n);

#endif

/* Inside src/search only: expressions built piece by piece.
 *
 * Pieces are expressions in an arena. After a failure every further piece is NULL, and the caller
 * reads the status once at the end. Real numbers become free constants; their values are
 * recorded. */
#ifndef SL_SEARCH_WRITE_H
#define SL_SEARCH_WRITE_H

#include "search/search_impl.h"

typedef struct sl_writer {
    sl_arena *arena;
    double value[2 * SL_FIT_MAX_PARAMS + 64]; // of the free constants
    int params;
    bool failed;
} sl_writer;

SL_NODISCARD sl_status sl_search__write_status(const sl_writer *w);
const sl_node *sl_search__write_int(sl_writer *w, int64_t n);
const sl_node *sl_search__write_variable(sl_writer *w, int number); // from 1
const sl_node *sl_search__write_constant(sl_writer *w, double value);
const sl_node *sl_search__write_plus(sl_writer *w, const sl_node *a, const sl_node *b);
const sl_node *sl_search__write_times(sl_writer *w, const sl_node *a, const sl_node *b);
const sl_node *sl_search__write_power(sl_writer *w, const sl_node *a, sl_rat exponent);
/* a^c, c a free constant; a must be positive. */
const sl_node *sl_search__write_real_power(sl_writer *w, const sl_node *a, double exponent);
const sl_node *sl_search__write_function(sl_writer *w, sl_op op, const sl_node *a);
/* A product of powers of variables 1 .. n; of halves: of powers of their roots. */
const sl_node *sl_search__write_monomial(sl_writer *w, const int8_t *power, int n);
const sl_node *sl_search__write_halves(sl_writer *w, const int8_t *power, int n);

#endif

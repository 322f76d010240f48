/* For tests and benches of the store: a job over random columns. */
#ifndef SL_STORE_TEST_H
#define SL_STORE_TEST_H

#include "search/store_impl.h"

enum { SL_STORE_TEST_ROWS = 64 };

typedef struct sl_store_test {
    sl_search__job job;
    sl_search_options options;
    sl_search_result result;
    double column[SL_STORE_MAX_VARIABLES][SL_STORE_TEST_ROWS];
} sl_store_test;

/* Columns in low .. high. */
static inline void sl_search__store_test_init(sl_store_test *t, sl_rng *rng, sl_pool *pool,
                                             int variables, double low, double high) {
    *t = (sl_store_test){ .options = SL_SEARCH_OPTIONS_INIT };
    t->job.o = &t->options;
    t->job.pool = pool;
    t->job.result = &t->result;
    t->job.ended = SL_SEARCH__RUNNING;
    for (int v = 0; v < variables; v++) {
        t->job.rows.x[v] = t->column[v];
        t->job.column[v] = v;
        t->job.positive[v] = low > 0;
        for (int i = 0; i < SL_STORE_TEST_ROWS; i++) t->column[v][i] = sl_rng_range(rng, low, high);
    }
    t->job.rows.inputs = variables;
    t->job.rows.rows = SL_STORE_TEST_ROWS;
}

#endif

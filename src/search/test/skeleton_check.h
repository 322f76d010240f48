/* For tests of skeletons: names of the levels without divisors, and one level alone. */
#ifndef SL_SEARCH_SKELETON_CHECK_H
#define SL_SEARCH_SKELETON_CHECK_H

#include "search/skeleton_impl.h"
#include "search_check.h"

// levels
enum {
    CLEARED = 1,
    VARIED_BELOW = 2,
    SOME = 3,
    VARIED = 4,
    VARIED_WIDE = 9,
    ALIKE = 11,
    VARIED_TWO = 12,
    VARIED_TWO_MORE = 13,
    FUNCTIONS = 14,
    ONE_TERM = 15,
    BOTH = 16,
};

static planted table;
static const sl_search_grammar full_grammar = SL_SEARCH_GRAMMAR_INIT;
static const sl_search_grammar small_grammar = { SL_UNIVERSE_ALL_OPS, 2, 3, -2, 2 };

static inline sl_search_options with_grammar(const sl_search_grammar *grammar) {
    sl_search_options o = options(SL_SEARCH_EFFORT_HIGH);
    o.grammar = grammar;
    return o;
}

/* Each formula by its level. */
static inline void check_levels(sl_fixture *t, const sl_search_grammar *grammar, const at_level *f,
                                int n, double low, double high) {
    const sl_search_options o = with_grammar(grammar);
    find_each(t, &table, &sl_search__skeletons, &o, f, n, -1, low, high);
}

static inline sl_status run_skeletons(sl_search_result **out, sl_pool *pool,
                                      const sl_search_options *o, int from, int to) {
    return run_method(out, &sl_search__skeletons, pool, &table.problem, o, from, to);
}

/* These levels find the same in the planted table on one thread and on three. */
static inline void check_threads(sl_fixture *t, const sl_search_grammar *grammar, int from,
                                 int to) {
    const sl_search_options o = with_grammar(grammar);
    sl_search_result *r[2];
    for (int i = 0; i < 2; i++) {
        sl_pool *pool;
        SL_MUST(t, sl_par_pool_new(&pool, 1 + 2 * i));
        SL_MUST(t, run_skeletons(&r[i], pool, &o, from, to));
        sl_par_pool_free(pool);
    }
    const bool same = r[0]->count > 0 && same_answers(r[0], r[1]);
    SL_CHECK(t, same, "%lld and %lld formulas", (long long)r[0]->count, (long long)r[1]->count);
    for (int i = 0; i < 2; i++) sl_search_result_free(r[i]);
}

/* A quotient with many coefficients comes close to any smooth function, and fits any numbers if
 * there are as many of them as rows. */
static inline void check_other_functions(sl_fixture *t, const int *levels, int n) {
    static const char *const cases[] = { NULL, "log(x1 + 3)", "tanh(x1/3) + 1", "x1^1.37 + 2",
                                         "atan(x1)" };
    const sl_search_options o = with_grammar(&full_grammar);
    for (int i = 0; i < n * SL_LEN(cases); i++) {
        sl_search_result *r;
        const char *text = cases[i / n];
        plant(&table, t, text, 1, 64, 1, 1.5);
        SL_MUST(t, run_skeletons(&r, NULL, &o, levels[i % n], levels[i % n]));
        SL_CHECK(t, r->count == 0, "%s: %s", text ? text : "random numbers",
                 text_of(t, &r->formula[0]));
        SL_CHECK(t, r->tried > 0, "nothing was tried");
        sl_search_result_free(r);
    }
}

static inline void check_hostile_tables(sl_fixture *t, const int *levels, int n) {
    const sl_search_options o = with_grammar(&full_grammar);
    for (int i = 0; i < 12; i++) {
        sl_search_result *r;
        plant_hostile(&table, t, i, 50);
        table.problem.inputs = 1;
        SL_MUST(t, run_skeletons(&r, NULL, &o, levels[i % n], levels[i % n]));
        sl_search_result_free(r);
    }
}

#endif

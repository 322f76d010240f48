#include "fixture/fixture.h"
#include "search/spans_impl.h"

/* Tables of keys alone: look-ups in a full one, and release of memory. */

enum { LIMIT = 3000, PORTION = 500, PORTIONS = 12 };

typedef struct setup {
    sl_search__job job;
    sl_search_options options;
    sl_search_result result;
    sl_search__spans_table table[1][SL_SPANS__TABLES];
    uint64_t key[PORTION * PORTIONS];
} setup;

static setup s;

static void begin(sl_fixture *t, int64_t max_memory) {
    s = (setup){ .options = SL_SEARCH_OPTIONS_INIT };
    s.options.max_memory = max_memory;
    s.job.o = &s.options;
    s.job.result = &s.result;
    for (int i = 0; i < SL_LEN(s.key); i++) s.key[i] = sl_rng_u64(&t->rng);
}

/* Puts all keys in, portion by portion. */
static sl_status fill(void) {
    SL_TRY(sl_search__spans_table_open(&s.table[0][0], &s.job, LIMIT));
    for (int i = 0; i < PORTIONS && s.table[0][0].entry; i++) {
        SL_TRY(sl_search__spans_table_grow(s.table, 1, &s.job, PORTION));
        for (int k = i * PORTION; k < (i + 1) * PORTION; k++) {
            int64_t other;
            if (!sl_search__spans_table_may_hold(&s.table[0][0], s.key[k])) continue;
            sl_search__spans_table_put(&other, &s.table[0][0], s.key[k], 0, k);
        }
    }
    return SL_OK;
}

/* Does the table know key k, through the filter as without it? */
static bool knows(sl_fixture *t, int k) {
    int64_t other = -1;
    sl_search__spans_table *table = &s.table[0][0];
    sl_search__spans_lookup lookup =
        sl_search__spans_table_put(&other, table, s.key[k], UINT64_MAX, k);
    bool known = lookup == SL_SPANS__OTHER && other == k;
    SL_CHECK(t, !known || sl_search__spans_table_may_hold(table, s.key[k]),
             "the filter hides key %d", k);
    return known;
}

static void a_full_table_keeps_what_came_first(void **state) {
    sl_fixture *t = *state;
    begin(t, 1 << 30);
    SL_MUST(t, fill());
    SL_CHECK(t, s.table[0][0].full && s.table[0][0].filter, "the table is not full");
    int passed = 0;
    for (int k = 0; k < LIMIT; k++) SL_CHECK(t, knows(t, k), "key %d of the first is lost", k);
    for (int k = LIMIT; k < SL_LEN(s.key); k++) {
        SL_CHECK(t, !knows(t, k), "key %d was put into a full table", k);
        passed += sl_search__spans_table_may_hold(&s.table[0][0], s.key[k]);
    }
    SL_CHECK(t, passed < LIMIT / 4, "the filter lets %d of %d pass", passed, SL_LEN(s.key) - LIMIT);
    sl_search__spans_table_close(&s.table[0][0], &s.job);
    SL_CHECK(t, s.job.memory == 0, "%lld bytes are still reserved", (long long)s.job.memory);
}

/* No memory for a filter: everything is looked up, with the same results. */
static void without_a_filter_all_is_looked_up(void **state) {
    sl_fixture *t = *state;
    begin(t, 0);
    SL_MUST(t, fill());
    SL_CHECK(t, !s.table[0][0].entry, "a table without memory");
    begin(t, (SL_SPANS__SHARDS << 11) * (int64_t)sizeof(sl_search__spans_entry));
    SL_MUST(t, fill());
    SL_CHECK(t, s.table[0][0].full && !s.table[0][0].filter, "a filter without memory");
    for (int k = 0; k < LIMIT; k++) SL_CHECK(t, knows(t, k), "key %d of the first is lost", k);
    sl_search__spans_table_close(&s.table[0][0], &s.job);
    SL_CHECK(t, s.job.memory == 0, "%lld bytes are still reserved", (long long)s.job.memory);
}

static sl_status fill_and_close(void) {
    s.table[0][0] = (sl_search__spans_table){ .size = 0 };
    sl_status st = fill();
    sl_search__spans_table_close(&s.table[0][0], &s.job);
    return st;
}

static void every_allocation_may_fail(void **state) {
    sl_fixture *t = *state;
    begin(t, 1 << 30);
    SL_EACH_ALLOCATION(t, fill_and_close());
    SL_CHECK(t, s.job.memory == 0, "%lld bytes are still reserved", (long long)s.job.memory);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(a_full_table_keeps_what_came_first),
        SL_TEST(without_a_filter_all_is_looked_up),
        SL_TEST(every_allocation_may_fail),
    };
    return sl_test_main("search.spans_table", tests, SL_LEN(tests));
}

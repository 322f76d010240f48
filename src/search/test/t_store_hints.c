#include "store_check.h"

enum { HINTS = 4 };

static const sl_node *hint[HINTS];

/* Columns of the search are x3 and x1 of the table; x2 is left out. */
static void set_up(sl_fixture *t) {
    static const char *const text[HINTS] = {
        "x1*sin(2.3*x3) + 5",
        "exp(sin(2.3*x3))/x1 - x2*cos(x2)",
        "sqrt(x3 + 1.7) + exp(3) + c1*cos(x1*x3 + 0.3*x1)",
        "x3 + x1 - 4.4",
    };
    sl_search__store_test_init(&problem, &t->rng, NULL, 2, 1, 3);
    problem.job.column[0] = 2;
    problem.job.column[1] = 0;
    for (int i = 0; i < HINTS; i++) hint[i] = parsed(t, text[i]);
    problem.options.hints = hint;
    problem.options.n_hints = HINTS;
}

static void tear_down(sl_store *s) {
    sl_search__store_close(s);
    sl_arena_clear(&problem.job.arena);
}

/* Place in the list of hints of what has these values; -1: none. */
static int place_of(sl_fixture *t, const sl_store *s, const char *text) {
    double y[SL_STORE_MAX_PROBES];
    const sl_search__store_list *l = &s->list[SL_LIST_HINTS];
    SL_MUST(t, sl_expr_eval(y, &t->arena, parsed(t, text), problem.job.rows.x, PROBES, NULL));
    for (size_t i = 0; i < l->count; i++) {
        const double *v = sl_search__store_value(s, l->id[i]);
        int same = 0;
        while (same < PROBES && fabs(v[same] - y[same]) < 1e-12 * fabs(y[same])) same++;
        if (same == PROBES) return (int)i;
    }
    return -1;
}

static void sub_expressions_become_parts(void **state) {
    sl_fixture *t = *state;
    static const char *const parts[] = {
        "x2*sin(2.3*x1) + 5", "x2*sin(2.3*x1)",      "sin(2.3*x1)",    "2.3*x1",
        "exp(sin(2.3*x1))",   "exp(sin(2.3*x1))/x2", "sqrt(x1 + 1.7)", "x1 + 1.7",
        "x1*x2 + 0.3*x2",     "x1 + x2 - 4.4",
    };
    static const char *const none[] = { "x1", "x2", "x2*cos(x2)", "cos(x2)", "sin(2.3*x2)" };
    sl_store *s;
    set_up(t);
    SL_MUST(t, sl_search__store_open(&s, &problem.job, PROBES));
    for (int i = 0; i < SL_LEN(parts); i++)
        SL_CHECK(t, place_of(t, s, parts[i]) >= 0, "%s is no part", parts[i]);
    for (int i = 0; i < SL_LEN(none); i++)
        SL_CHECK(t, place_of(t, s, none[i]) < 0, "%s is a part", none[i]);
    SL_CHECK(t, place_of(t, s, "2.3*x1") + place_of(t, s, "sin(2.3*x1)") == 1,
             "what two hints have does not come first");
    tear_down(s);
}

/* At level 0, and with functions of them at the next ones; values are those of expressions. */
static void parts_of_hints_are_terms(void **state) {
    sl_fixture *t = *state;
    static sl_store_term term[SL_STORE_BATCH];
    sl_store *s;
    int used = 0;
    set_up(t);
    SL_MUST(t, sl_search__store_open(&s, &problem.job, PROBES));
    SL_MUST(t, sl_search__store_extend(s, 4));
    for (int f = 0; f < sl_search__store_n_families; f++) {
        const sl_search__store_family *family = &sl_search__store_families[f];
        if (family->first != SL_LIST_HINTS && family->second != SL_LIST_HINTS) continue;
        sl_search__store_range r;
        SL_CHECK(t, sl_search__store_range_begin(&r, s, family, 0), "%s is empty", family->text);
        const int n = sl_search__store_range_next(term, NULL, SL_STORE_BATCH, &r);
        for (int i = 0; i < n; i++) check_value(t, s, family->text, term[i]);
        SL_CHECK(t, n > 0, "%s has no terms at level 0", family->text);
        used += n;
    }
    SL_CHECK(t, used > 30, "%d terms of hints", used);
    int functions = 0; // a hint joins the list of functions itself
    for (size_t i = 0; i < s->list[SL_LIST_FUNCTIONS].count; i++) {
        const sl_store_term u = sl_search__store_term(s, s->list[SL_LIST_FUNCTIONS].id[i]);
        functions += sl_search__term_form(u) == SL_FORM_HINT;
        if (sl_search__term_form(u) == SL_FORM_HINT) check_value(t, s, "hint", u);
    }
    SL_CHECK(t, functions >= 8, "%d hints among the functions", functions);
    tear_down(s);
}

static sl_status build(void) {
    sl_store *s;
    sl_status st = sl_search__store_open(&s, &problem.job, PROBES);
    if (st == SL_OK) {
        st = sl_search__store_extend(s, 1);
        sl_search__store_close(s);
    }
    sl_arena_clear(&problem.job.arena);
    return st;
}

static void every_allocation_may_fail(void **state) {
    sl_fixture *t = *state;
    set_up(t);
    SL_EACH_ALLOCATION(t, build());
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(sub_expressions_become_parts),
        SL_TEST(parts_of_hints_are_terms),
        SL_TEST(every_allocation_may_fail),
    };
    return sl_test_main("search.store_hints", tests, SL_LEN(tests));
}

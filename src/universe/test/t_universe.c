/* The universe: complete, without duplicates, the same for any number of threads. The counts over
 * all eight operators are stored answers of an independent enumeration by values alone. */
#include "universe/universe.h"

#include "fixture/fixture.h"
#include "universe/test/raw_tree.h"

static sl_universe *build(sl_fixture *t, const sl_universe_options *o, int threads) {
    sl_pool *pool;
    sl_universe *u;
    SL_MUST(t, sl_par_pool_new(&pool, threads));
    SL_MUST(t, sl_universe_new(&u, pool, o, NULL));
    sl_par_pool_free(pool);
    return u;
}

static sl_universe_options config(int depth, int variables, const char *ops, int64_t size) {
    sl_universe_options o = SL_UNIVERSE_OPTIONS_INIT;
    o.depth = depth;
    o.variables = variables;
    o.size = size;
    if (ops && sl_universe_ops_parse(&o.ops, ops) != SL_OK) fail_msg("%s", sl_last_error());
    return o;
}

static void counts_are_the_known_ones(void **state) {
    sl_fixture *t = *state;
    static const int64_t raw[] = { 2, 32, 2232 }, distinct[] = { 2, 18, 909 };
    sl_universe_options o = config(2, 2, NULL, 0);
    sl_universe *u = build(t, &o, 2);
    for (int i = 0; i <= 2; i++) {
        const sl_universe_counts *c = sl_universe_count(u, i);
        SL_CHECK(t, c->raw == raw[i] && c->distinct == distinct[i], "level %d: %lld of %lld", i,
                 (long long)c->distinct, (long long)c->raw);
        SL_CHECK(t, c->raw == c->constant + c->nowhere + c->known + c->distinct,
                 "level %d does not add up", i);
    }
    SL_CHECK(t, sl_universe_size(u) == 929, "%lld members", (long long)sl_universe_size(u));
    // every byte of every form; to renew it look at the listing: symlaw expressions --depth 2
    // --size 0
    SL_CHECK(t, strcmp(sl_universe_hash(u), "869a90a8c1121705af106b093a99a6f3") == 0, "%s",
             sl_universe_hash(u));
    sl_universe_free(u);
}

/* Over + - and * functions are polynomials, whose expanded form is unique: here algebra alone
 * counts the classes, and must find what the probes found. */
static void polynomials_are_counted_by_algebra_too(void **state) {
    sl_fixture *t = *state;
    static const struct { int depth, variables; } cases[] = { { 3, 1 }, { 2, 2 }, { 2, 3 } };
    for (int k = 0; k < SL_LEN(cases); k++) {
        sl_universe_options o = config(cases[k].depth, cases[k].variables, "+,-,*,neg", 0);
        sl_universe *u = build(t, &o, 2);
        int64_t n = sl_universe_size(u);

        // every candidate of every level, by canonical form alone
        const sl_node *form[20000];
        int n_form = 0, level_begin = 0;
        sl_arena *a = &t->arena;
        for (int v = 1; v <= o.variables; v++) form[n_form++] = sl_expr_var(a, v);
        for (int i = 1; i <= o.depth; i++) {
            int end = n_form;
            for (int p = level_begin; p < end; p++) {
                for (int q = 0; q < end; q++) {
                    for (int op = 0; op < 5; op++) {
                        const sl_operator ops[] = { SL_OPERATOR_NEG, SL_OPERATOR_ADD,
                                                    SL_OPERATOR_SUB, SL_OPERATOR_SUB,
                                                    SL_OPERATOR_MUL };
                        const sl_node *e;
                        size_t mark = sl_arena_mark(a);
                        bool swap = op == 3;
                        SL_MUST(t, sl_expr_canon_apply(&e, a, ops[op], form[swap ? q : p],
                                                       form[swap ? p : q]));
                        bool known = e->op == SL_OP_NUM;
                        for (int m = 0; m < n_form && !known; m++)
                            known = sl_expr_equal(form[m], e);
                        if (known)
                            sl_arena_rewind(a, mark);
                        else
                            form[n_form++] = e;
                        SL_CHECK(t, n_form < SL_LEN(form), "too many");
                    }
                }
            }
            level_begin = end;
        }
        SL_CHECK(t, n_form == n, "depth %d, %d variables: algebra finds %d, probes %lld", o.depth,
                 o.variables, n_form, (long long)n);
        sl_universe_free(u);
        sl_arena_rewind(a, 0);
    }
}

static void any_number_of_threads_gives_the_same(void **state) {
    sl_fixture *t = *state;
    static const int threads[] = { 1, 2, 5 };
    char hash[3][33];
    for (int i = 0; i < 3; i++) {
        sl_universe_options o = config(3, 1, NULL, 10000);
        o.withheld = 0.1;
        sl_universe *u = build(t, &o, threads[i]);
        snprintf(hash[i], sizeof hash[i], "%s", sl_universe_hash(u));
        sl_universe_free(u);
    }
    SL_CHECK(t, strcmp(hash[0], hash[1]) == 0 && strcmp(hash[0], hash[2]) == 0, "%s %s %s", hash[0],
             hash[1], hash[2]);
    SL_CHECK(t, strcmp(hash[0], "5758e4bcf895f63100db34ceae83af99") == 0,
             "another set than before: %s", hash[0]);
}

static void members_are_canonical_and_found(void **state) {
    sl_fixture *t = *state;
    sl_universe_options o = config(2, 2, NULL, 0);
    sl_universe *u = build(t, &o, 1);
    for (int64_t i = 0; i < sl_universe_size(u); i++) {
        const sl_node *e = sl_universe_get(u, i), *c;
        int64_t at;
        sl_arena_rewind(&t->arena, 0);
        SL_MUST(t, sl_expr_canon(&c, &t->arena, e));
        SL_CHECK(t, sl_expr_equal(c, e), "member %lld is not canonical", (long long)i);
        at = sl_universe_find(u, e);
        SL_CHECK(t, at == i, "member %lld is found at %lld", (long long)i, (long long)at);
        SL_CHECK(t,
                 sl_universe_level(u, i) == (i < 2    ? 0
                                             : i < 20 ? 1
                                                      : 2),
                 "level of %lld", (long long)i);
    }
    sl_universe_free(u);
}

static void random_raw_trees_are_in_it(void **state) {
    sl_fixture *t = *state;
    sl_universe_options o = config(2, 2, NULL, 0);
    sl_universe *u = build(t, &o, 1);
    for (int i = 0; i < sl_test_iters(t, 3000); i++) {
        int64_t at;
        sl_arena_rewind(&t->arena, 0);
        const sl_node *e = raw_tree(t, 1 + (int)sl_rng_below(&t->rng, 2));
        at = sl_universe_find(u, e);
        sl_str s = { 0 };
        SL_MUST(t, sl_expr_print(&s, SL_FORMAT_INFIX, e, NULL));
        char text[400];
        snprintf(text, sizeof text, "%s", sl_str_text(&s));
        sl_str_clear(&s);
        SL_CHECK(t, at >= 0, "not found: %s", text);
    }
    sl_universe_free(u);
}

/* Sets over operators that the default has not: what they make of the level below is in them, as
 * the function that it is. */
static void other_operators_make_sets_too(void **state) {
    sl_fixture *t = *state;
    static const char *const sets[] = { "log,cos,*", "abs,atan,-", "^,log,*", "tan,tanh,neg,/",
                                        "sinh,cosh,asin,acos,+" };
    for (int k = 0; k < SL_LEN(sets); k++) {
        const sl_universe_options o = config(2, 2, sets[k], 0);
        sl_universe *u = build(t, &o, 1);
        int below = 0;
        while (below < sl_universe_size(u) && sl_universe_level(u, below) < 2) below++;
        for (int i = 0; i < below * below * SL_OPERATOR_COUNT; i++) {
            const sl_operator op = (sl_operator)(i % SL_OPERATOR_COUNT);
            const int p = i / SL_OPERATOR_COUNT / below, q = i / SL_OPERATOR_COUNT % below;
            if (!(o.ops >> op & 1)) continue;
            sl_arena_rewind(&t->arena, 0);
            const sl_node *e =
                sl_expr_apply(&t->arena, op, sl_universe_get(u, p), sl_universe_get(u, q));
            if (!raw_tree_is_function(e)) continue;
            const int64_t at = sl_universe_find(u, e);
            sl_truth same;
            SL_CHECK(t, at >= 0, "%s: %s of %d and %d is missing", sets[k],
                     sl_expr_operator_text(op), p, q);
            SL_MUST(t, sl_expr_same(&same, &t->arena, e, sl_universe_get(u, at)));
            SL_CHECK(t, !sl_no(same), "%s: %s of %d and %d is another function", sets[k],
                     sl_expr_operator_text(op), p, q);
        }
        sl_universe_free(u);
    }
}

static void larger_sets_contain_smaller_ones(void **state) {
    sl_fixture *t = *state;
    static const int64_t sizes[] = { 10, 100, 400, 929 };
    sl_universe *u[4];
    for (int k = 0; k < 4; k++) {
        sl_universe_options o = config(2, 2, NULL, sizes[k]);
        u[k] = build(t, &o, 1);
        SL_CHECK(t, sl_universe_size(u[k]) == sizes[k], "%lld", (long long)sl_universe_size(u[k]));
    }
    for (int k = 0; k < 3; k++) {
        int64_t last = -1;
        for (int64_t i = 0; i < sizes[k]; i++) {
            int64_t at = sl_universe_find(u[k + 1], sl_universe_get(u[k], i));
            SL_CHECK(t, at > last, "member %lld of %lld is lost or out of order", (long long)i,
                     (long long)sizes[k]);
            SL_CHECK(t, i < 2 ? at == i : true, "a lower level moved");
            last = at;
        }
    }
    // a member outside the sample is not found
    int missing = 0;
    for (int64_t i = 0; i < sizes[3]; i++) {
        int64_t at;
        at = sl_universe_find(u[2], sl_universe_get(u[3], i));
        missing += at < 0;
    }
    SL_CHECK(t, missing == 529, "%d of 929 are not in a set of 400", missing);
    // the same set by another configuration has the same name
    sl_universe_options o = config(2, 2, NULL, 0);
    o.seed = 5;
    sl_universe *whole = build(t, &o, 1);
    SL_CHECK(t, strcmp(sl_universe_hash(whole), sl_universe_hash(u[3])) == 0,
             "equal sets, other hash");
    sl_universe_free(whole);
    for (int k = 0; k < 4; k++) sl_universe_free(u[k]);
}

static void seed_moves_the_sample_and_nothing_else(void **state) {
    sl_fixture *t = *state;
    sl_universe_options o = config(2, 2, NULL, 500), other = o;
    other.seed = 1;
    sl_universe *a = build(t, &o, 1), *b = build(t, &other, 1);
    int same = 0;
    for (int64_t i = 0; i < 500; i++) {
        int64_t at;
        at = sl_universe_find(b, sl_universe_get(a, i));
        if (i < 20) SL_CHECK(t, at == i, "the full levels depend on the seed");
        same += at >= 0;
    }
    // 480 of 909 drawn twice: 253 in common on average, standard deviation about 11
    SL_CHECK(t, same - 20 > 190 && same - 20 < 320, "%d in common", same - 20);
    SL_CHECK(t, strcmp(sl_universe_hash(a), sl_universe_hash(b)) != 0, "hash blind to the seed");
    sl_universe_free(a);
    sl_universe_free(b);
}

static void withheld_members_are_a_seeded_share(void **state) {
    sl_fixture *t = *state;
    sl_universe_options o = config(2, 2, NULL, 0);
    o.withheld = 0.25;
    sl_universe *u = build(t, &o, 1);
    o.withheld = 0.5;
    sl_universe *more = build(t, &o, 1);
    int n = 0, lost = 0;
    for (int64_t i = 0; i < 929; i++) {
        n += sl_universe_withheld(u, i);
        lost += sl_universe_withheld(u, i) && !sl_universe_withheld(more, i);
    }
    SL_CHECK(t, n == 232, "%d withheld of 929", n);
    SL_CHECK(t, lost == 0, "%d are withheld at 0.25 and not at 0.5", lost);
    SL_CHECK(t, strcmp(sl_universe_hash(u), sl_universe_hash(more)) != 0,
             "hash blind to what is withheld");
    sl_universe_free(u);
    sl_universe_free(more);
}

/* Functions real only on part of each quadrant are listed too, and once. */
static void partly_real_functions_are_listed_once(void **state) {
    sl_fixture *t = *state;
    static const char *const texts[] = { "sqrt(x1 - x1^2)", "sqrt(x1)*sqrt(1 - x1)",
                                         "sqrt(x1^5 - 7)" };
    int64_t at[3];
    sl_universe_options o = config(3, 1, "+,-,*,sqrt", 0);
    sl_universe *u = build(t, &o, 2);
    for (int i = 0; i < SL_LEN(texts); i++) {
        const sl_node *e;
        SL_MUST(t, sl_expr_parse(&e, &t->arena, SL_FORMAT_INFIX, texts[i], strlen(texts[i]), NULL,
                                 NULL));
        at[i] = sl_universe_find(u, e);
    }
    SL_CHECK(t, at[0] >= 0 && at[1] == at[0] && at[2] == -1, "found at %lld, %lld, %lld",
             (long long)at[0], (long long)at[1], (long long)at[2]);
    SL_CHECK(t, sl_universe_count(u, 3)->partial > 0, "none is listed");
    for (int64_t i = 0; i < sl_universe_size(u); i++) {
        at[0] = sl_universe_find(u, sl_universe_get(u, i));
        SL_CHECK(t, at[0] == i, "member %lld is found at %lld", (long long)i, (long long)at[0]);
    }
    sl_universe_free(u);
}

static void levels_may_be_empty(void **state) {
    sl_fixture *t = *state;
    sl_universe_options o = config(4, 1, "-", 0); // x1 - x1 is all there is
    sl_universe *u = build(t, &o, 2);
    SL_CHECK(t, sl_universe_size(u) == 1, "%lld members", (long long)sl_universe_size(u));
    SL_CHECK(t, sl_universe_count(u, 1)->constant == 2 && sl_universe_count(u, 2)->raw == 0,
             "counts");
    sl_universe_free(u);
}

static void wrong_options_are_refused(void **state) {
    sl_fixture *t = *state;
    sl_universe *u = NULL;
    sl_universe_options o = config(5, 2, NULL, 0);
    SL_CHECK(t, sl_universe_new(&u, NULL, &o, NULL) == SL_EINVAL, "depth 5");
    o = config(2, 4, NULL, 0);
    SL_CHECK(t, sl_universe_new(&u, NULL, &o, NULL) == SL_EINVAL, "4 variables");
    o = config(2, 2, NULL, -1);
    SL_CHECK(t, sl_universe_new(&u, NULL, &o, NULL) == SL_EINVAL, "negative size");
    o = config(2, 2, NULL, 0);
    o.ops = 0;
    SL_CHECK(t, sl_universe_new(&u, NULL, &o, NULL) == SL_EINVAL, "no operators");
    o = config(3, 2, NULL, 0);
    o.max_memory = 100 << 20;
    SL_CHECK(t, sl_universe_new(&u, NULL, &o, NULL) == SL_ELIMIT, "100 MB are not enough");
    SL_CHECK(t, strstr(sl_last_error(), "5,070,402"), "cost is not named: %s", sl_last_error());
    uint32_t ops;
    SL_CHECK(t, sl_universe_ops_parse(&ops, "+,coth") == SL_EFORMAT, "cosh");
    SL_CHECK(t, strstr(sl_last_error(), "cosh"), "%s", sl_last_error());
    SL_CHECK(t, sl_universe_ops_parse(&ops, " , ") == SL_EFORMAT, "nothing");
    SL_CHECK(t, u == NULL, "something was built");
}

static int stop_at_third(int level, const char *what, double done, double total, void *payload) {
    (void)level, (void)what, (void)done, (void)total;
    return ++*(int *)payload >= 3;
}

static void watcher_can_stop_it(void **state) {
    sl_fixture *t = *state;
    int calls = 0;
    sl_universe *u = NULL;
    sl_universe_options o = config(2, 2, NULL, 0);
    sl_universe_watch w = { .progress = stop_at_third, .payload = &calls };
    SL_CHECK(t, sl_universe_new(&u, NULL, &o, &w) == SL_ECANCEL && !u, "not stopped");
}

static sl_status build_and_free(const sl_universe_options *o, sl_pool *pool) {
    sl_universe *u;
    SL_TRY(sl_universe_new(&u, pool, o, NULL));
    sl_universe_free(u);
    return SL_OK;
}

static void every_allocation_may_fail(void **state) {
    sl_fixture *t = *state;
    sl_universe_options o = config(2, 2, NULL, 0);
    SL_EACH_ALLOCATION(t, build_and_free(&o, NULL));
    o = config(3, 1, "+,-,*,sqrt", 50);
    SL_EACH_ALLOCATION(t, build_and_free(&o, NULL));
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(counts_are_the_known_ones),
        SL_TEST(polynomials_are_counted_by_algebra_too),
        SL_TEST(any_number_of_threads_gives_the_same),
        SL_TEST(members_are_canonical_and_found),
        SL_TEST(random_raw_trees_are_in_it),
        SL_TEST(other_operators_make_sets_too),
        SL_TEST(larger_sets_contain_smaller_ones),
        SL_TEST(seed_moves_the_sample_and_nothing_else),
        SL_TEST(withheld_members_are_a_seeded_share),
        SL_TEST(partly_real_functions_are_listed_once),
        SL_TEST(levels_may_be_empty),
        SL_TEST(wrong_options_are_refused),
        SL_TEST(watcher_can_stop_it),
        SL_TEST(every_allocation_may_fail),
    };
    return sl_test_main("universe.universe", tests, SL_LEN(tests));
}

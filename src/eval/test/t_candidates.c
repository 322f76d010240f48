/* Where candidates come from: blind draws are targets of training whatever the threads, the linear
 * formula solves what is linear, and neither asks the model. */
#include "eval/test/tiny.h"

static sl_universe *universe(sl_fixture *t) {
    sl_universe *u;
    sl_universe_options o = SL_UNIVERSE_OPTIONS_INIT;
    o.depth = 1;
    o.size = 0;
    SL_MUST(t, sl_universe_new(&u, NULL, &o, NULL));
    return u;
}

static sl_pairs *pairs_over(sl_fixture *t, const sl_universe *u, double drop_column) {
    sl_pairs *pairs;
    sl_pairs_options o = sl_pairs_defaults();
    o.points = 8;
    o.drop_column = drop_column;
    SL_MUST(t, sl_pairs_new(&pairs, u, &o));
    return pairs;
}

static sl_discover_options paper(int samples) {
    sl_discover_options o = sl_discover_paper_defaults();
    o.samples = samples;
    return o;
}

static const sl_node *read_back(sl_fixture *t, const sl_sampled *s, int inputs) {
    const sl_node *e = NULL;
    sl_token_reason reason;
    int at;
    SL_MUST(t, sl_token_to_expr(&e, &reason, &at, &t->arena, s->tokens, s->n, inputs));
    SL_CHECK(t, reason == SL_TOKEN_FINE, "%s", sl_token_reason_name(reason));
    return e;
}

/* ---------------------------------------------------------------- blind draws --------------- */

/* The numbers are written out here: they are part of what a seed means. */
static int64_t place_of(uint64_t seed, uint64_t problem, int64_t number) {
    sl_rng rng;
    sl_rng_init(&rng, seed, 0xe7a1b1, problem << 32 | (uint64_t)number);
    return (int64_t)(sl_rng_u64(&rng) >> 2);
}

static void a_blind_draw_is_a_target_of_training(void **state) {
    sl_fixture *t = *state;
    sl_universe *u = universe(t);
    sl_pairs *pairs = pairs_over(t, u, 0);
    int differ = 0;
    for (int i = 0; i < 200; i++) {
        sl_sampled s, again;
        sl_pair pair;
        const size_t mark = sl_arena_mark(&t->arena);
        SL_MUST(t, sl_eval_blind(&s, &t->arena, 2, 7, 3, i, pairs));
        SL_CHECK(t, sl_arena_mark(&t->arena) - mark < 512, "the pair's data are kept");
        SL_MUST(t, sl_pairs_get(&pair, &t->arena, pairs, SL_SPLIT_TRAIN, place_of(7, 3, i)));
        SL_CHECK(t, s.n == pair.n_tokens && memcmp(s.tokens, pair.tokens, (size_t)s.n) == 0,
                 "draw %d is not %s", i, text_of(pair.expr));
        assert_true(s.number == i && s.ended);
        SL_MUST(t, sl_eval_blind(&again, &t->arena, 2, 7, 4, i, pairs));
        differ += again.n != s.n || memcmp(again.tokens, s.tokens, (size_t)s.n) != 0;
    }
    SL_CHECK(t, differ > 100, "other problems have other draws in %d of 200 cases", differ);
    sl_pairs_free(pairs);
    sl_universe_free(u);
}

/* Data of one input: only expressions of one variable are drawn, and it is x1. Where training
 * leaves columns out, draws for two inputs are in the variables of the set, x2 alone included. */
static void draws_are_in_the_inputs_of_the_problem(void **state) {
    sl_fixture *t = *state;
    sl_universe *u = universe(t);
    for (int drop = 0; drop < 2; drop++) {
        sl_pairs *pairs = pairs_over(t, u, drop);
        int second = 0, both = 0;
        for (int i = 0; i < 200; i++) {
            sl_sampled s;
            SL_MUST(t, sl_eval_blind(&s, &t->arena, 1, 1, 0, i, pairs));
            const sl_node *e = read_back(t, &s, 1);
            SL_CHECK(t, sl_expr_variables(e) == 1, "%s", text_of(e));
            SL_MUST(t, sl_eval_blind(&s, &t->arena, 2, 1, 0, i, pairs));
            second += sl_expr_variables(read_back(t, &s, 2)) == 2;
            both += sl_expr_variables(read_back(t, &s, 2)) == 3;
        }
        SL_CHECK(t, second > 20 && both > 20, "%d draws of x2 alone, %d of both", second, both);
        sl_pairs_free(pairs);
    }
    sl_universe_free(u);
}

/* ---------------------------------------------------------------- whole evaluations --------- */

enum { PROBLEMS = 6, SEEDS = 2, TOTAL = PROBLEMS * SEEDS, DRAWS = 150 };

typedef struct world {
    sl_universe *universe;
    sl_pairs *pairs;
    sl_infer *model;
    sl_eval_source source;
    sl_eval_options o;
    sl_eval_summary summary;
    const sl_judgement *j;
} world;

static void begin(sl_fixture *t, world *w, sl_eval_candidates from) {
    *w = (world){ .universe = universe(t), .model = tiny_model(t) };
    w->pairs = pairs_over(t, w->universe, 0);
    SL_MUST(t, sl_eval_from_split(&w->source, w->pairs, SL_SPLIT_TEST, PROBLEMS));
    w->o = (sl_eval_options){
        .discover = paper(DRAWS), .seeds = SEEDS, .candidates = from, .generator = w->pairs
    };
    w->o.discover.seed = 5;
}

static void end(world *w) {
    sl_eval_source_clear(&w->source);
    sl_infer_close(w->model);
    sl_pairs_free(w->pairs);
    sl_universe_free(w->universe);
}

static sl_status run(world *w, sl_fixture *t, sl_pool *pool) {
    return sl_eval_run(&w->summary, &w->j, &t->arena, w->model, pool, &w->source, &w->o, NULL,
                       NULL);
}

/* The highest R2 of all draws, by a loop over training pairs; the first of equal ones. */
static const sl_node *best_by_hand(sl_fixture *t, const world *w, const sl_dataset *p,
                                   uint64_t seed, uint64_t problem, double *r2) {
    const sl_node *best = NULL;
    double *y = sl_arena_alloc(&t->arena, (size_t)p->rows * sizeof *y);
    *r2 = NAN;
    for (int i = 0; i < DRAWS; i++) {
        sl_pair pair;
        SL_MUST(t, sl_pairs_get(&pair, &t->arena, w->pairs, SL_SPLIT_TRAIN,
                                place_of(seed, problem, i)));
        SL_MUST(t, sl_expr_eval(y, &t->arena, pair.expr, p->x, p->rows, NULL));
        const double one = sl_num_r2(y, p->y, p->rows);
        if (isnan(one) || (best && one <= *r2)) continue;
        *r2 = one;
        best = pair.expr;
    }
    return best;
}

static void the_best_blind_draw_is_kept(void **state) {
    sl_fixture *t = *state;
    world w;
    begin(t, &w, SL_EVAL_CANDIDATES_BLIND);
    SL_MUST(t, run(&w, t, NULL));
    int solved = 0;
    for (int i = 0; i < TOTAL; i++) {
        const sl_judgement *j = &w.j[i];
        sl_eval_problem p;
        double r2;
        SL_MUST(t, w.source.get(&p, &t->arena, i / SEEDS, &w.source));
        const sl_node *best =
            best_by_hand(t, &w, &p.data, 5 + (uint64_t)(i % SEEDS), (uint64_t)(i / SEEDS), &r2);
        SL_CHECK(t, fabs(j->r2 - r2) <= 1e-12 * (1 + fabs(r2)), "%s has %.17g, %s has %.17g",
                 j->expr, j->r2, text_of(best), r2);
        assert_true(j->samples == DRAWS && j->distinct > 1 && j->invalid[SL_TOKEN_FINE] == DRAWS);
        assert_true(isnan(j->loss)); // the model has no part in it
        solved += j->verdict == SL_VERDICT_SOLVED;
    }
    SL_CHECK(t, solved > 0 && isnan(w.summary.loss), "%d solved", solved); // the set is small
    end(&w);
}

static void threads_do_not_matter(void **state) {
    sl_fixture *t = *state;
    for (int from = 0; from < SL_EVAL_CANDIDATES_COUNT; from++) {
        world a;
        begin(t, &a, (sl_eval_candidates)from);
        a.o.discover.infer.length = 12;
        SL_MUST(t, run(&a, t, NULL));
        for (int timed = 0; timed < 2; timed++) {
            world b = a;
            sl_pool *pool;
            b.o.timeout = timed ? 1e6 : 0; // then threads work inside a problem
            SL_MUST(t, sl_par_pool_new(&pool, 3));
            SL_MUST(t, run(&b, t, pool));
            for (int i = 0; i < TOTAL; i++)
                SL_CHECK(t, same_judgement(&a.j[i], &b.j[i]), "%s, timed %d, %d: %s, not %s",
                         sl_eval_candidates_name((sl_eval_candidates)from), timed, i, b.j[i].expr,
                         a.j[i].expr);
            sl_par_pool_free(pool);
        }
        end(&a);
    }
}

static void linear_truths_are_solved(void **state) {
    sl_fixture *t = *state;
    static const char *const formulas[] = { "x1", "3 - x2/7", "2*x1 - 5*x2 + 9", "x1*x2", "" };
    const char *path = sl_test_path("linear.jsonl");
    world w;
    begin(t, &w, SL_EVAL_CANDIDATES_LINEAR);
    sl_eval_source_clear(&w.source);
    tiny_lines(t, path, formulas, SL_LEN(formulas), 0);
    SL_MUST(t, sl_eval_from_lines(&w.source, path, 2, 0));
    SL_MUST(t, run(&w, t, NULL));
    for (int i = 0; i < w.summary.judgements; i++) {
        const sl_judgement *j = &w.j[i];
        const bool exact = j->verdict <= SL_VERDICT_EQUAL;
        SL_CHECK(t, exact == (j->problem < 3), "%lld: %s, %s", (long long)j->problem, j->expr,
                 sl_eval_verdict_name(j->verdict));
        assert_true(j->samples == 0 && isnan(j->loss) && *j->expr);
    }
    assert_true(w.j[0].verdict == SL_VERDICT_SOLVED && w.j[4 * SEEDS].verdict == SL_VERDICT_FOUND);
    assert_true(isnan(w.summary.loss) && w.summary.row[0].exact.hits == 3 * SEEDS);
    end(&w);
}

/* ---------------------------------------------------------------- wrong use, faults --------- */

static void names_are_those_of_the_table(void **state) {
    (void)state;
    for (int c = 0; c < SL_EVAL_CANDIDATES_COUNT; c++) {
        const sl_eval_candidates from = (sl_eval_candidates)c;
        assert_true(*sl_eval_candidates_name(from) && *sl_eval_candidates_text(from));
        for (int other = 0; other < c; other++)
            assert_string_not_equal(sl_eval_candidates_name(from),
                                    sl_eval_candidates_name((sl_eval_candidates)other));
    }
}

static void options_are_checked(void **state) {
    sl_fixture *t = *state;
    world w;
    begin(t, &w, SL_EVAL_CANDIDATES_BLIND);
    w.o.generator = NULL;
    assert_int_equal(run(&w, t, NULL), SL_EINVAL);
    SL_CHECK(t, strstr(sl_last_error(), "blind draws need"), "%s", sl_last_error());
    w.o.candidates = SL_EVAL_CANDIDATES_COUNT;
    assert_int_equal(run(&w, t, NULL), SL_EINVAL);
    end(&w);
}

static void a_time_limit_cuts_draws(void **state) {
    sl_fixture *t = *state;
    world w;
    begin(t, &w, SL_EVAL_CANDIDATES_BLIND);
    w.o.timeout = 1e-9;
    SL_MUST(t, run(&w, t, NULL));
    assert_true(w.summary.cut == TOTAL && w.j[0].cut && w.j[0].samples < DRAWS);
    end(&w);
}

static sl_status draw_once(sl_fixture *t, const sl_pairs *pairs) {
    sl_sampled s;
    return sl_eval_blind(&s, &t->arena, 1, 0, 0, 0, pairs);
}

static void each_allocation_may_fail(void **state) {
    sl_fixture *t = *state;
    world w;
    begin(t, &w, SL_EVAL_CANDIDATES_BLIND);
    w.o.discover.samples = 2;
    w.source.count = 1;
    SL_EACH_ALLOCATION(t, draw_once(t, w.pairs));
    SL_EACH_ALLOCATION(t, run(&w, t, NULL));
    end(&w);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(a_blind_draw_is_a_target_of_training),
        SL_TEST(draws_are_in_the_inputs_of_the_problem),
        SL_TEST(the_best_blind_draw_is_kept),
        SL_TEST(threads_do_not_matter),
        SL_TEST(linear_truths_are_solved),
        SL_TEST(names_are_those_of_the_table),
        SL_TEST(options_are_checked),
        SL_TEST(a_time_limit_cuts_draws),
        SL_TEST(each_allocation_may_fail),
    };
    return sl_test_main("eval.candidates", tests, SL_LEN(tests));
}

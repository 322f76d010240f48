/* One problem, one seed: each verdict, and the figures beside it. */
#include "eval/test/tiny.h"

static sl_judgement judge(sl_fixture *t, const sl_infer *m, const sl_eval_problem *p,
                          const sl_discover_options *o) {
    sl_judgement j;
    SL_MUST(t, sl_eval_judge(&j, &t->arena, m, NULL, p, o));
    int64_t samples = 0;
    for (int r = 0; r < SL_TOKEN_REASON_COUNT; r++) samples += j.invalid[r];
    SL_CHECK(t, samples == j.samples && j.problem == (int64_t)o->problem, "%lld of %lld samples",
             (long long)samples, (long long)j.samples);
    assert_true(j.seconds >= 0);
    return j;
}

/* A problem with tokens, and y with normal noise of this size. */
static sl_eval_problem make(sl_fixture *t, const char *text, double noise) {
    sl_eval_problem p = problem_of(t, parsed(t, text), 0.5, 2, 30, 40);
    sl_token *ids = sl_arena_alloc(&t->arena, SL_TOKEN_MAX);
    double *y = sl_arena_alloc(&t->arena, 30 * sizeof *y);
    sl_str s = { 0 };
    SL_MUST(t, sl_token_from_expr(ids, &p.n_tokens, SL_TOKEN_MAX, p.truth, &s));
    sl_str_clear(&s);
    for (int i = 0; i < 30; i++) y[i] = p.data.y[i] + noise * sl_rng_normal(&t->rng);
    p.tokens = ids;
    p.data.y = y;
    return p;
}

/* Baselines alone: a constant, each input, the best line. */
static void verdicts_of_baselines(void **state) {
    sl_fixture *t = *state;
    const sl_discover_options o = tiny_options(0);
    sl_judgement j;
    sl_eval_problem p = make(t, "x2", 0);
    j = judge(t, NULL, &p, &o);
    SL_CHECK(t, j.verdict == SL_VERDICT_SOLVED && j.among, "x2: %s", j.expr);
    assert_true(j.r2 == 1 && j.r2_fresh == 1 && !j.same_tokens && !j.cut && isnan(j.loss));
    assert_string_equal(j.expr, "x2");
    assert_string_equal(j.latex, "x_2");
    assert_true(j.samples == 0);

    p = make(t, "x1/3 - 2*x2", 0); // by fitted constants, snapped or not
    j = judge(t, NULL, &p, &o);
    SL_CHECK(t, j.verdict <= SL_VERDICT_EQUAL && j.among, "%s: %s", j.expr,
             sl_eval_verdict_name(j.verdict));
    assert_true(j.r2 > 1 - 1e-12 && j.r2_fresh > 1 - 1e-12);

    p = make(t, "x1 + x2 + sin(x1)/1000", 0); // near enough
    j = judge(t, NULL, &p, &o);
    SL_CHECK(t, j.verdict == SL_VERDICT_CLOSE && !j.among, "%s", sl_eval_verdict_name(j.verdict));
    assert_true(j.r2 > 0.99 && j.r2 < 1);

    p = make(t, "sin(40*x1)*x2", 0);
    j = judge(t, NULL, &p, &o);
    SL_CHECK(t, j.verdict == SL_VERDICT_MISS && !j.among && *j.expr, "%s",
             sl_eval_verdict_name(j.verdict));
    assert_true(j.r2 < 0.99);

    // noise: a line with three constants fits better than the truth, which is among the others
    p = make(t, "x1", 0.001);
    j = judge(t, NULL, &p, &o);
    SL_CHECK(t, j.verdict == SL_VERDICT_CLOSE && j.among, "%s: %s", j.expr,
             sl_eval_verdict_name(j.verdict));

    p.truth = NULL;
    p.tokens = NULL;
    p.fresh.rows = 0;
    j = judge(t, NULL, &p, &o);
    assert_true(j.verdict == SL_VERDICT_FOUND && !j.among && isnan(j.r2_fresh) && j.r2 > 0.99);
}

/* R2 on the problem's rows, by hand. */
static double r2_by_hand(sl_fixture *t, const char *python, const sl_dataset *p) {
    const sl_node *e = parsed(t, python);
    double *y = sl_arena_alloc(&t->arena, (size_t)p->rows * sizeof *y), mean = 0, a = 0, b = 0;
    SL_MUST(t, sl_expr_eval(y, &t->arena, e, p->x, p->rows, NULL));
    for (int i = 0; i < p->rows; i++) mean += p->y[i] / (double)p->rows;
    for (int i = 0; i < p->rows; i++) {
        a += (y[i] - p->y[i]) * (y[i] - p->y[i]);
        b += (p->y[i] - mean) * (p->y[i] - mean);
    }
    return 1 - a / b;
}

/* A model of random weights says short things often enough: among them the truth, as it is written.
 */
static void samples_of_the_model_are_judged(void **state) {
    sl_fixture *t = *state;
    sl_infer *m = tiny_model(t);
    sl_discover_options o = tiny_options(600);
    o.baseline = 0;
    o.refine = 0;
    o.problem = 5;
    sl_eval_problem p = make(t, "x1", 0);
    sl_judgement j = judge(t, m, &p, &o);
    SL_CHECK(t, j.verdict == SL_VERDICT_SOLVED && j.among, "%s: %s", j.expr,
             sl_eval_verdict_name(j.verdict));
    assert_string_equal(j.expr, "x1");
    assert_true(j.samples == 600 && j.distinct > 1 && j.distinct < 600);

    // token for token is asked of the sample that is kept; others may spell the same otherwise
    sl_discovery *d;
    SL_MUST(t, sl_discover_run(&d, m, NULL, &p.data, &o, NULL, NULL));
    sl_token ids[SL_TOKEN_MAX];
    memcpy(ids, d->candidate[0].tokens, (size_t)d->candidate[0].n_tokens);
    p.tokens = ids;
    p.n_tokens = d->candidate[0].n_tokens;
    sl_discover_free(d);
    assert_true(judge(t, m, &p, &o).same_tokens);
    ids[0] ^= 1;
    assert_false(judge(t, m, &p, &o).same_tokens);
    ids[0] ^= 1;
    p.n_tokens--;
    assert_false(judge(t, m, &p, &o).same_tokens);

    // the best of what is wrong
    p = make(t, "exp(x1) + 40*x2", 0);
    j = judge(t, m, &p, &o);
    SL_CHECK(t, j.verdict >= SL_VERDICT_CLOSE && !j.same_tokens && !j.among, "%s", j.expr);
    const double r2 = r2_by_hand(t, j.expr, &p.data);
    SL_CHECK(t, fabs(j.r2 - r2) < 1e-9 * (1 + fabs(r2)), "%s: %.17g, not %.17g", j.expr, j.r2, r2);
    const double fresh = r2_by_hand(t, j.expr, &p.fresh);
    SL_CHECK(t, fabs(j.r2_fresh - fresh) < 1e-9 * (1 + fabs(fresh)), "%s: %.17g, not %.17g", j.expr,
             j.r2_fresh, fresh);

    // R2 is of all rows, also when some were held back
    o.holdout = 0.5;
    j = judge(t, m, &p, &o);
    const double all = r2_by_hand(t, j.expr, &p.data);
    SL_CHECK(t, fabs(j.r2 - all) < 1e-9 * (1 + fabs(all)), "%s: %.17g, not %.17g", j.expr, j.r2,
             all);
    sl_infer_close(m);
}

/* Two inputs that differ by a few units in the tenth place: as formulas they are as simple, and
 * their R2 are within 1e-12. The metric keeps the one that is y, whichever the model prefers; the
 * rule for people keeps the more probable one both times. */
static void the_highest_r2_is_kept(void **state) {
    sl_fixture *t = *state;
    sl_infer *m = tiny_model(t);
    sl_discover_options o = sl_discover_paper_defaults();
    o.samples = 600;
    o.grammar = 1;
    o.infer.length = 12;
    int solved[SL_RANK_R2 + 1] = { 0 };
    for (int truth = 0; truth < 2; truth++) {
        sl_eval_problem p = make(t, truth ? "x2" : "x1", 0);
        double *other = sl_arena_alloc(&t->arena, 30 * sizeof *other);
        for (int i = 0; i < 30; i++) other[i] = p.data.y[i] * (1 + (i % 2 ? 1e-7 : -1e-7));
        p.data.x[1 - truth] = other;
        p.fresh.rows = 0;
        for (int rank = SL_RANK_SIMPLE; rank <= SL_RANK_R2; rank++) {
            o.rank = rank;
            const sl_judgement j = judge(t, m, &p, &o);
            assert_true(j.r2 > 1 - 1e-12);
            solved[rank] += j.verdict == SL_VERDICT_SOLVED;
        }
    }
    assert_int_equal(solved[SL_RANK_R2], 2);
    assert_int_equal(solved[SL_RANK_SIMPLE], 1);
    sl_infer_close(m);
}

/* Given as many rows as in training, taken evenly; of the truth's tokens. */
static void the_loss_is_the_truths(void **state) {
    sl_fixture *t = *state;
    sl_infer *m = tiny_model(t);
    const sl_discover_options o = tiny_options(3);
    sl_eval_problem p = make(t, "x1*x2 + 7", 0);
    double column[3][TINY_POINTS], want;
    const double *const x[2] = { column[0], column[1] };
    for (int i = 0; i < TINY_POINTS; i++) {
        const int row = i * 30 / TINY_POINTS;
        for (int v = 0; v < 2; v++) column[v][i] = p.data.x[v][row];
        column[2][i] = p.data.y[row];
    }
    const sl_dataset d = sl_data_view(x, 2, column[2], TINY_POINTS);
    SL_MUST(t, sl_infer_loss(&want, m, &d, p.tokens, p.n_tokens));
    sl_judgement j = judge(t, m, &p, &o);
    SL_CHECK(t, j.loss == want && want > 0, "%g, not %g", j.loss, want);

    SL_MUST(t, sl_eval__judge(&j, &t->arena, m, NULL, &p, &o, false, NULL, NULL));
    assert_true(isnan(j.loss));
    p.tokens = NULL;
    assert_true(isnan(judge(t, m, &p, &o).loss));

    // fewer rows than in training: all of them
    p = make(t, "x1*x2 + 7", 0);
    p.data.rows = 5;
    const sl_dataset few = sl_data_view(p.data.x, 2, p.data.y, 5);
    SL_MUST(t, sl_infer_loss(&want, m, &few, p.tokens, p.n_tokens));
    assert_true(judge(t, m, &p, &o).loss == want);
    sl_infer_close(m);
}

/* No sample is an expression: a miss without words. */
static void no_candidate_is_a_miss(void **state) {
    sl_fixture *t = *state;
    sl_infer *m = tiny_model(t);
    sl_discover_options o = tiny_options(1);
    o.baseline = 0;
    o.grammar = 0;
    sl_eval_problem p = make(t, "x1", 0);
    int silent = 0;
    for (o.seed = 0; o.seed < 20; o.seed++) {
        p.truth = o.seed % 2 ? NULL : parsed(t, "x1");
        const sl_judgement j = judge(t, m, &p, &o);
        if (j.invalid[SL_TOKEN_FINE]) continue;
        silent++;
        assert_true(j.verdict == SL_VERDICT_MISS && !*j.expr && !*j.latex && !j.among);
        assert_true(isnan(j.r2) && isnan(j.r2_fresh) && j.samples == 1 && j.distinct == 0);
    }
    assert_true(silent > 1);
    sl_infer_close(m);
}

static bool at_once(void *payload) {
    ++*(int *)payload;
    return true;
}

static void time_and_stops_are_reported(void **state) {
    sl_fixture *t = *state;
    sl_infer *m = tiny_model(t);
    sl_discover_options o = tiny_options(50);
    const sl_eval_problem p = make(t, "x1 + x2*sin(x1)", 0);
    assert_false(judge(t, m, &p, &o).cut);
    o.deadline = sl_clock() - 1;
    const sl_judgement j = judge(t, m, &p, &o);
    assert_true(j.cut && j.samples < 50);

    sl_judgement kept = j;
    int asked = 0;
    o = tiny_options(200000);
    assert_int_equal(sl_eval__judge(&kept, &t->arena, m, NULL, &p, &o, true, at_once, &asked),
                     SL_ECANCEL);
    assert_true(asked > 0 && memcmp(&kept, &j, sizeof j) == 0);
    sl_infer_close(m);
}

static void verdicts_have_names(void **state) {
    (void)state;
    for (int v = 0; v < SL_VERDICT_COUNT; v++)
        assert_int_equal(sl_eval_verdict_find(sl_eval_verdict_name((sl_verdict)v)), v);
    assert_string_equal(sl_eval_verdict_name(SL_VERDICT_CLOSE), "close");
    assert_int_equal(sl_eval_verdict_find("clos"), SL_VERDICT_COUNT);
}

static sl_status judge_once(sl_fixture *t, const sl_infer *m, const sl_eval_problem *p,
                            const sl_discover_options *o) {
    sl_judgement j;
    return sl_eval_judge(&j, &t->arena, m, NULL, p, o);
}

static void each_allocation_may_fail(void **state) {
    sl_fixture *t = *state;
    sl_infer *m = tiny_model(t);
    const sl_discover_options o = tiny_options(4);
    const sl_eval_problem p = make(t, "x1 + x2*sin(x1)", 0);
    SL_EACH_ALLOCATION(t, judge_once(t, m, &p, &o));
    sl_infer_close(m);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(verdicts_of_baselines),  SL_TEST(samples_of_the_model_are_judged),
        SL_TEST(the_highest_r2_is_kept), SL_TEST(the_loss_is_the_truths),
        SL_TEST(no_candidate_is_a_miss), SL_TEST(time_and_stops_are_reported),
        SL_TEST(verdicts_have_names),    SL_TEST(each_allocation_may_fail),
    };
    return sl_test_main("eval.judge", tests, SL_LEN(tests));
}

/* A whole discovery with an untrained model and no search: the status of samples, and
 * what does not depend on threads. */
#include <math.h>
#include <string.h>

#include "discover/discover_impl.h"
#include "fixture/fixture.h"
#include "num/num.h"

enum { ROWS = 50, POINTS = 12, SAMPLES = 67 };

typedef struct bench {
    sl_infer *model;
    double x1[ROWS], x2[ROWS], y[ROWS];
    const double *x[2];
    sl_dataset p;
    sl_discover_options o;
} bench;

static void set_up(sl_fixture *t, bench *b) {
    sl_model_options m = sl_model_defaults();
    m.width = 16;
    m.layers = m.decoder_layers = 1;
    m.heads = 2;
    m.init_scale = 0.3;
    SL_MUST(t, sl_infer_new(&b->model, &m, NULL, 5, POINTS));
    for (int i = 0; i < ROWS; i++) {
        b->x1[i] = sl_rng_range(&t->rng, 1, 5);
        b->x2[i] = sl_rng_range(&t->rng, -1, 2);
        b->y[i] = 3 * b->x1[i] * b->x1[i] - 2 * b->x2[i] + 1;
    }
    b->x[0] = b->x1;
    b->x[1] = b->x2;
    b->p = sl_data_view(b->x, 2, b->y, ROWS);
    b->o = sl_discover_defaults();
    b->o.search = SL_DISCOVER_MODEL;
    b->o.rank = SL_RANK_SIMPLE;
    b->o.samples = 60;
    b->o.refine = 6;
    b->o.infer.length = 30;
}

static void tear_down(bench *b) { sl_infer_close(b->model); }

static sl_discovery *run(sl_fixture *t, const bench *b, int threads) {
    sl_pool *pool = NULL;
    sl_discovery *d = NULL;
    if (threads > 1) SL_MUST(t, sl_par_pool_new(&pool, threads));
    SL_MUST(t, sl_discover_run(&d, b->model, pool, &b->p, &b->o, NULL, NULL));
    sl_par_pool_free(pool);
    return d;
}

/* -------------------------------------------------------------------------------------------- */

static bool same_number(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

static void must_be_same(sl_fixture *t, const sl_discovery *a, const sl_discovery *b) {
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->ranked, b->ranked);
    for (int64_t i = 0; i < a->count; i++) {
        const sl_candidate *x = &a->candidate[i], *y = &b->candidate[i];
        SL_CHECK(t,
                 x->state == y->state && x->number == y->number && x->same_as == y->same_as &&
                     x->times == y->times && x->params == y->params && x->size == y->size &&
                     x->front == y->front && same_number(x->r2, y->r2) &&
                     same_number(x->r2_holdout, y->r2_holdout) && x->log_prob == y->log_prob,
                 "candidate %lld differs", (long long)i);
        if (x->expr) assert_true(sl_expr_equal(x->expr, y->expr));
        for (int k = 0; k < x->params; k++) assert_true(same_number(x->value[k], y->value[k]));
    }
}

static void threads_make_no_difference(void **state) {
    sl_fixture *t = *state;
    for (int scale = SL_SCALE_RAW; scale <= SL_SCALE_BOTH; scale++) {
        bench b;
        set_up(t, &b);
        b.o.scale = scale;
        b.o.holdout = scale == SL_SCALE_BOTH ? 0.2 : 0;
        sl_discovery *one = run(t, &b, 1);
        for (int threads = 2; threads <= 3; threads++) {
            sl_discovery *more = run(t, &b, threads);
            must_be_same(t, one, more);
            sl_discover_free(more);
        }
        b.o.seed = 1;
        sl_discovery *other = run(t, &b, 1);
        bool same = one->count == other->count;
        for (int64_t i = 0; same && i < one->count; i++)
            same = one->candidate[i].log_prob == other->candidate[i].log_prob;
        assert_false(same);
        sl_discover_free(other);
        sl_discover_free(one);
        tear_down(&b);
    }
}

static bool close_number(double a, double b) {
    return same_number(a, b) || fabs(a - b) <= 1e-9 * fmax(1, fabs(b)) ||
           (a < -1e250 && b < -1e250);
}

/* R2 of a candidate on some rows by plain sums. */
static double plain_r2(sl_fixture *t, const sl_candidate *c, const sl_dataset *p) {
    double *y = sl_arena_alloc(&t->arena, (size_t)p->rows * sizeof *y), mean = 0, sse = 0, sst = 0;
    assert_non_null(y);
    SL_MUST(t, sl_discover_candidate_eval(y, &t->arena, c, p));
    for (int64_t i = 0; i < p->rows; i++) mean += p->y[i] / (double)p->rows;
    for (int64_t i = 0; i < p->rows; i++) {
        sse += pow(y[i] - p->y[i], 2);
        sst += pow(p->y[i] - mean, 2);
    }
    return 1 - sse / sst;
}

/* Every sample is in the list; states and figures are what they say; the order is the stated one.
 */
static void the_list_is_what_it_says(void **state) {
    sl_fixture *t = *state;
    for (int i = 0; i < sl_test_iters(t, 4); i++) {
        bench b;
        set_up(t, &b);
        b.o.seed = (uint64_t)i;
        b.o.grammar = i % 2;
        b.o.samples = SAMPLES; // which bags do not divide
        sl_arena_rewind(&t->arena, 0);
        sl_discovery *d = run(t, &b, 1);
        bool seen[SAMPLES] = { false };
        int64_t invalid = 0;
        for (int64_t k = 0; k < d->count; k++) {
            const sl_candidate *c = &d->candidate[k];
            if (c->source == SL_SOURCE_MODEL) seen[c->number] = true;
            invalid += c->state == SL_CANDIDATE_INVALID;
            assert_int_equal(k < d->ranked, c->state >= SL_CANDIDATE_SCORED);
            assert_true((c->reason != SL_TOKEN_FINE) == (c->state == SL_CANDIDATE_INVALID));
            if (c->state == SL_CANDIDATE_DUPLICATE)
                assert_true(d->candidate[c->same_as].state != SL_CANDIDATE_DUPLICATE);
            if (k >= d->ranked) continue;
            const double r2 = plain_r2(t, c, &b.p);
            SL_CHECK(t, close_number(c->r2, r2), "%g, not %g", c->r2, r2);
            assert_true(isnan(c->r2_proposed) || c->r2 >= c->r2_proposed - 1e-12 ||
                        c->state == SL_CANDIDATE_SNAPPED);
            assert_int_equal(c->size, sl_expr_nodes(c->expr));
            if (k == 0) continue;
            const sl_candidate *before = &d->candidate[k - 1];
            assert_true(before->r2 >= c->r2 - 2e-12);
            if (fabs(before->r2 - c->r2) < 1e-13 && fabs(before->r2) < 1)
                assert_true(before->size <= c->size);
        }
        for (int k = 0; k < SAMPLES; k++) SL_CHECK(t, seen[k], "sample %d is not in the list", k);
        for (int r = 0; r < SL_TOKEN_REASON_COUNT; r++)
            if (r != SL_TOKEN_FINE) invalid -= d->cost.invalid[r];
        assert_int_equal(invalid, 0);
        if (b.o.grammar) assert_int_equal(d->cost.invalid[SL_TOKEN_SYNTAX], 0);
        sl_discover_free(d);
        tear_down(&b);
    }
}

/* The front: no candidate is both as simple and as good. The first has the fewest bits. */
static void the_front_is_not_beaten(void **state) {
    sl_fixture *t = *state;
    bench b;
    set_up(t, &b);
    b.o.rank = SL_RANK_BITS;
    for (int i = 0; i < ROWS; i++) b.y[i] = b.x1[i] + sl_rng_normal(&t->rng); // noise to be fitted
    sl_discovery *d = run(t, &b, 1);
    int front = 0;
    for (int64_t i = 0; i < d->ranked; i++) {
        const sl_candidate *c = &d->candidate[i];
        bool beaten = false;
        for (int64_t k = 0; k < d->ranked; k++)
            beaten = beaten || (d->candidate[k].size < c->size && d->candidate[k].r2 >= c->r2) ||
                     (d->candidate[k].size == c->size && d->candidate[k].r2 > c->r2);
        SL_CHECK(t, !c->front || !beaten, "%lld is on the front", (long long)i);
        front += c->front;
        assert_true(isfinite(c->bits.total) && d->candidate[0].bits.total <= c->bits.total);
        double squares = 0, y[ROWS];
        SL_MUST(t, sl_discover_candidate_eval(y, &t->arena, c, &b.p));
        for (int k = 0; k < ROWS; k++) squares += pow(y[k] - b.y[k], 2) / ROWS;
        SL_CHECK(t, fabs(c->rms - sqrt(squares)) <= 1e-9 * c->rms, "%g, not %g", c->rms,
                 sqrt(squares));
    }
    assert_true(front >= 2 && front < d->ranked);
    sl_discover_free(d);
    tear_down(&b);
}

/* Without a model the linear law is still found, with exact numbers. */
static void baselines_need_no_model(void **state) {
    sl_fixture *t = *state;
    bench b;
    set_up(t, &b);
    for (int i = 0; i < ROWS; i++) b.y[i] = 3 * b.x1[i] - 0.5 * b.x2[i] + 2;
    sl_infer *model = b.model;
    b.model = NULL;
    sl_discovery *d = run(t, &b, 1);
    sl_str s = { 0 };
    SL_MUST(t, sl_discover_candidate_print(&s, &d->candidate[0], SL_FORMAT_INFIX, NULL));
    assert_string_equal(s.text, "3*x1 - x2/2 + 2");
    assert_true(d->candidate[0].r2 == 1 || d->candidate[0].r2 > 1 - 1e-12);
    assert_int_equal(d->candidate[0].source, SL_SOURCE_BASELINE);
    sl_discover_free(d);

    for (int i = 0; i < ROWS; i++) b.y[i] = 7.25; // and a target that does not move
    d = run(t, &b, 1);
    sl_str_truncate(&s, 0);
    SL_MUST(t, sl_discover_candidate_print(&s, &d->candidate[0], SL_FORMAT_PYTHON, NULL));
    assert_true(d->candidate[0].r2 == 1);
    assert_true(strcmp(s.text, "7.25") == 0 || strcmp(s.text, "29/4") == 0);
    sl_discover_free(d);
    sl_str_clear(&s);
    b.model = model;
    tear_down(&b);
}

/* Held-out rows have no part in the fit, and R2 on them is what it says. */
static void held_rows_are_held(void **state) {
    sl_fixture *t = *state;
    bench b;
    set_up(t, &b);
    b.o.holdout = 0.3;
    sl_discovery *d = run(t, &b, 1);
    assert_int_equal(d->rows_held, 15);
    assert_int_equal(d->rows_fit, ROWS - 15);
    sl_discover__rows rows;
    SL_MUST(t, sl_discover__rows_make(&rows, &t->arena, &b.p, &b.o));
    for (int64_t i = 0; i < d->ranked; i++) {
        const sl_candidate *c = &d->candidate[i];
        double r2 = plain_r2(t, c, &rows.held);
        if (isfinite(r2) || isfinite(c->r2_holdout))
            SL_CHECK(t, close_number(c->r2_holdout, r2), "%g, not %g", c->r2_holdout, r2);
        r2 = plain_r2(t, c, &rows.fit);
        SL_CHECK(t, close_number(c->r2, r2), "%g, not %g", c->r2, r2);
    }
    // what is held out may be anything: the fits are the same
    for (int64_t i = 0; i < rows.held.rows; i++)
        for (int k = 0; k < ROWS; k++)
            if (b.y[k] == rows.held.y[i]) b.y[k] = 1000 + k;
    sl_discovery *e = run(t, &b, 1);
    assert_int_equal(d->ranked, e->ranked);
    for (int64_t i = 0; i < d->ranked; i++) assert_true(d->candidate[i].r2 == e->candidate[i].r2);
    sl_discover_free(e);
    sl_discover_free(d);
    tear_down(&b);
}

static const char *text_of(sl_fixture *t, const sl_node *e) {
    sl_str s = { 0 };
    SL_MUST(t, sl_expr_print(&s, SL_FORMAT_INFIX, e, NULL));
    char *text = sl_arena_alloc(&t->arena, s.len + 1);
    assert_non_null(text);
    memcpy(text, s.text, s.len + 1);
    sl_str_clear(&s);
    return text;
}

/* A sample over inputs of mean 0 and variance 1 says the same over the inputs themselves. */
static void scaled_inputs_are_scaled_back(void **state) {
    sl_fixture *t = *state;
    bench b;
    set_up(t, &b);
    b.o.scale = SL_SCALE_UNIT;
    b.o.refine = 0;
    b.o.baseline = 0;
    sl_discovery *d = run(t, &b, 1);
    sl_discover__rows rows;
    SL_MUST(t, sl_discover__rows_make(&rows, &t->arena, &b.p, &b.o));
    double u1[ROWS], u2[ROWS], want[ROWS], got[ROWS];
    const double *u[2] = { u1, u2 };
    for (int i = 0; i < ROWS; i++) {
        u1[i] = (b.x1[i] - rows.standard.mean[0]) / rows.standard.deviation[0];
        u2[i] = (b.x2[i] - rows.standard.mean[1]) / rows.standard.deviation[1];
    }
    assert_true(fabs(sl_num_mean(u1, ROWS)) < 1e-12 && fabs(sl_num_variance(u2, ROWS) - 1) < 0.03);
    int checked = 0;
    for (int64_t k = 0; k < d->ranked; k++) {
        const sl_candidate *c = &d->candidate[k];
        const sl_node *e;
        sl_token_reason reason;
        int at;
        SL_MUST(t, sl_token_to_expr(&e, &reason, &at, &t->arena, c->tokens, c->n_tokens, 2));
        SL_MUST(t, sl_expr_eval(want, &t->arena, e, u, ROWS, NULL));
        SL_MUST(t, sl_discover_candidate_eval(got, &t->arena, c, &b.p));
        double largest = 0;
        for (int i = 0; i < ROWS; i++) largest = fmax(largest, fabs(want[i]));
        for (int i = 0; i < ROWS; i++)
            SL_CHECK(t, isnan(want[i]) || fabs(got[i] - want[i]) <= 1e-8 * fmax(1, largest),
                     "row %d: %g, not %g, of %s", i, got[i], want[i], text_of(t, e));
        checked++;
    }
    assert_true(checked > 3);
    sl_discover_free(d);
    tear_down(&b);
}

static int cancel_at(const char *what, double done, double total, const sl_candidate *best,
                     void *payload) {
    (void)what, (void)done, (void)total, (void)best;
    int *left = payload;
    return --*left <= 0;
}

/* A cancel and a deadline leave what there is, and say so. */
static void a_cut_leaves_the_best_so_far(void **state) {
    sl_fixture *t = *state;
    bench b;
    set_up(t, &b);
    for (int calls = 1; calls <= 3; calls++) {
        int left = calls;
        sl_discovery *d = NULL;
        SL_MUST(t, sl_discover_run(&d, b.model, NULL, &b.p, &b.o, cancel_at, &left));
        assert_true(d->ranked > 0);
        if (left <= 0) assert_int_equal(d->cut, SL_CUT_CANCEL);
        sl_discover_free(d);
    }
    // of a time that is too short for all samples the fits have their share, unless the machine is
    // too slow for either: then there is more time
    sl_discovery *d = NULL;
    int64_t refined = 0;
    b.o.samples = 1000000;
    for (double seconds = 0.3; refined == 0 && seconds < 30; seconds *= 3) {
        b.o.deadline = sl_clock() + seconds;
        d = run(t, &b, 1);
        assert_int_equal(d->cut, SL_CUT_TIME);
        refined = d->cost.refined;
        sl_discover_free(d);
    }
    assert_true(refined > 0);
    b.o.deadline = sl_clock() - 1;
    d = run(t, &b, 1);
    assert_int_equal(d->cut, SL_CUT_TIME);
    assert_int_equal(d->cost.samples, 0);
    assert_true(d->ranked > 0); // baselines
    sl_discover_free(d);
    tear_down(&b);
}

/* ---------------------------------------------------------------- the search ---------------- */

static void must_find(sl_fixture *t, const sl_discovery *d, const char *want) {
    sl_str s = { 0 };
    assert_true(d->ranked > 0);
    SL_MUST(t, sl_discover_candidate_print(&s, &d->candidate[0], SL_FORMAT_INFIX, NULL));
    SL_CHECK(t, strcmp(s.text, want) == 0, "%s, not %s", s.text, want);
    sl_str_clear(&s);
}

static sl_status must_not_open(const sl_infer **out, void *payload) {
    (void)out;
    *(int *)payload += 1;
    return SL_OK;
}

/* Where the search has the law the model is not even opened. */
static void the_model_is_used_only_if_needed(void **state) {
    sl_fixture *t = *state;
    bench b;
    int opened = 0;
    set_up(t, &b);
    sl_infer *model = b.model;
    b.model = NULL;
    b.o.search = SL_DISCOVER_BOTH;
    b.o.rank = SL_RANK_BITS;
    b.o.effort = SL_EFFORT_LOW;
    b.o.open_model = must_not_open;
    b.o.open_payload = &opened;
    sl_discovery *d = run(t, &b, 1);
    must_find(t, d, "3*x1^2 - 2*x2 + 1");
    assert_int_equal(d->candidate[0].source, SL_SOURCE_SEARCH);
    assert_true(d->within_noise && !d->model_used && opened == 0);
    sl_discover_free(d);

    for (int i = 0; i < ROWS; i++) b.y[i] = sl_rng_uniform(&t->rng); // no law
    b.o.exhaustive.max_memory = 4 << 20; // leaves expensive levels of the search out
    b.o.exhaustive.exact_only = true;
    d = run(t, &b, 1);
    assert_int_equal(opened, 1);
    assert_false(d->model_used); // there was none
    sl_discover_free(d);
    b.model = model;
    d = run(t, &b, 1);
    assert_true(d->model_used && d->cost.samples == 60);
    sl_discover_free(d);
    tear_down(&b);
}

/* What is not allowed is listed, and has no rank. */
static void options_hold_for_all_candidates(void **state) {
    sl_fixture *t = *state;
    bench b;
    set_up(t, &b);
    b.o.rank = SL_RANK_BITS;
    b.o.exhaustive.max_size = 5;
    b.o.exhaustive.ops = 1u << SL_OPERATOR_SIN | 1u << SL_OPERATOR_ADD;
    sl_discovery *d = run(t, &b, 1);
    int excluded = 0;
    for (int64_t i = 0; i < d->count; i++) {
        const sl_candidate *c = &d->candidate[i];
        excluded += c->state == SL_CANDIDATE_EXCLUDED;
        if (i >= d->ranked) continue;
        assert_true(c->size <= 5);
        for (const sl_node *at = c->expr; at < c->expr + c->expr->len; at += sl_expr_step(at))
            assert_true(at->op != SL_OP_EXP);
    }
    assert_true(excluded > 0 && d->ranked > 0);
    sl_discover_free(d);
    tear_down(&b);
}

/* At any moment, on several threads: what there is by then is ranked. */
static void a_search_may_be_cancelled(void **state) {
    sl_fixture *t = *state;
    bench b;
    set_up(t, &b);
    for (int i = 0; i < ROWS; i++) b.y[i] = sl_rng_uniform(&t->rng);
    b.o.search = SL_DISCOVER_EXHAUSTIVE;
    b.o.rank = SL_RANK_BITS;
    sl_pool *pool = NULL;
    SL_MUST(t, sl_par_pool_new(&pool, 3));
    for (int calls = 1; calls <= 8; calls++) {
        int left = calls;
        sl_discovery *d = NULL;
        SL_MUST(t, sl_discover_run(&d, NULL, pool, &b.p, &b.o, cancel_at, &left));
        assert_true(d->ranked > 0); // baselines at least
        if (left <= 0) assert_int_equal(d->cut, SL_CUT_CANCEL);
        sl_discover_free(d);
    }
    sl_par_pool_free(pool);
    tear_down(&b);
}

/* A model of two inputs is shown the two of five that matter, and its formulas are over those. */
static void a_model_is_shown_what_it_takes(void **state) {
    sl_fixture *t = *state;
    bench b;
    set_up(t, &b);
    double other[3][ROWS];
    const double *five[5] = { other[0], b.x1, other[1], other[2], b.x2 };
    for (int c = 0; c < 3; c++)
        for (int i = 0; i < ROWS; i++) other[c][i] = sl_rng_uniform(&t->rng);
    for (int i = 0; i < ROWS; i++) b.y[i] = b.x1[i] * exp(b.x2[i]);
    b.p = sl_data_view(five, 5, b.y, ROWS);
    b.o.search = SL_DISCOVER_BOTH;
    b.o.rank = SL_RANK_BITS;
    b.o.effort = SL_EFFORT_LOW;
    b.o.exhaustive.max_size = 1; // the search finds nothing
    b.o.exhaustive.exact_only = true;
    sl_discovery *d = run(t, &b, 1);
    assert_true(d->model_used);
    assert_int_equal(d->model_inputs, 2);
    assert_int_equal(d->model_input[0], 1);
    assert_int_equal(d->model_input[1], 4);
    for (int64_t i = 0; i < d->count; i++) {
        const sl_candidate *c = &d->candidate[i];
        if (c->source != SL_SOURCE_MODEL || !c->expr) continue;
        const uint64_t shown = 1u << d->model_input[0] | 1u << d->model_input[1];
        SL_CHECK(t, (sl_expr_variables(c->expr) & ~shown) == 0, "%s", text_of(t, c->expr));
    }
    sl_discover_free(d);
    tear_down(&b);
}

static void what_makes_no_sense_is_refused(void **state) {
    sl_fixture *t = *state;
    bench b;
    sl_discovery *d = NULL;
    set_up(t, &b);
    b.p.rows = 1;
    assert_int_equal(sl_discover_run(&d, b.model, NULL, &b.p, &b.o, NULL, NULL), SL_EINVAL);
    b.p.rows = ROWS;
    b.p.inputs = 3; // the model has two
    assert_int_equal(sl_discover_run(&d, b.model, NULL, &b.p, &b.o, NULL, NULL), SL_EINVAL);
    b.p.inputs = 2;
    b.o.holdout = 0.9;
    b.p.rows = 3;
    assert_int_equal(sl_discover_run(&d, b.model, NULL, &b.p, &b.o, NULL, NULL), SL_EINVAL);
    b.o.holdout = 2;
    assert_int_equal(sl_discover_run(&d, b.model, NULL, &b.p, &b.o, NULL, NULL), SL_EINVAL);
    assert_non_null(strstr(sl_last_error(), "holdout"));
    tear_down(&b);
}

static sl_status discover_once(const bench *b) {
    sl_discovery *d = NULL;
    SL_TRY(sl_discover_run(&d, b->model, NULL, &b->p, &b->o, NULL, NULL));
    sl_discover_free(d);
    return SL_OK;
}

static void lack_of_memory_is_reported(void **state) {
    sl_fixture *t = *state;
    bench b;
    set_up(t, &b);
    b.o.samples = 12;
    b.o.refine = 2;
    b.o.holdout = 0.2;
    SL_EACH_ALLOCATION(t, discover_once(&b));
    sl_infer *model = b.model;
    b.model = NULL;
    b.o.search = SL_DISCOVER_EXHAUSTIVE;
    b.o.rank = SL_RANK_BITS;
    b.o.effort = SL_EFFORT_LOW;
    SL_EACH_ALLOCATION(t, discover_once(&b));
    b.model = model;
    tear_down(&b);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(threads_make_no_difference),
        SL_TEST(the_list_is_what_it_says),
        SL_TEST(the_front_is_not_beaten),
        SL_TEST(baselines_need_no_model),
        SL_TEST(held_rows_are_held),
        SL_TEST(scaled_inputs_are_scaled_back),
        SL_TEST(a_cut_leaves_the_best_so_far),
        SL_TEST(what_makes_no_sense_is_refused),
        SL_TEST(the_model_is_used_only_if_needed),
        SL_TEST(options_hold_for_all_candidates),
        SL_TEST(a_search_may_be_cancelled),
        SL_TEST(a_model_is_shown_what_it_takes),
        SL_TEST(lack_of_memory_is_reported),
    };
    return sl_test_main("discover.run", tests, SL_LEN(tests));
}

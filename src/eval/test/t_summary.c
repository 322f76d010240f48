/* Figures against a twin that counts by hand, and what problems are grouped by. */
#include "eval/test/small.h"

enum { PROBLEMS = 60, SEEDS = 3, TOTAL = PROBLEMS * SEEDS };

typedef struct data {
    sl_judgement j[TOTAL];
    sl_eval__traits traits[PROBLEMS];
} data;

static double unit(sl_rng *rng) { return sl_rng_below(rng, 8) ? sl_rng_range(rng, 0.9, 1) : NAN; }

static void fill(data *d, sl_rng *rng) {
    for (int i = 0; i < PROBLEMS; i++) {
        sl_eval__traits *t = &d->traits[i];
        t->truth = sl_rng_below(rng, 5) > 0;
        t->fresh = sl_rng_below(rng, 5) > 0;
        t->depth = (int)sl_rng_below(rng, 5) - 1;
        t->constants = t->truth ? (int)sl_rng_below(rng, 14) : -1;
        t->errors = sl_rng_below(rng, 3) == 0;
        t->top = t->truth ? (int)sl_rng_below(rng, SL_EVAL__TOP_FUNCTION + 3) : SL_EVAL__TOP_COUNT;
        if (t->truth && t->top >= SL_EVAL__TOP_FUNCTION) t->top += SL_OP_EXP; // exp, sin, cos
        t->n_tokens = t->truth && sl_rng_below(rng, 4) ? 2 + (int)sl_rng_below(rng, 30) : 0;
        const double loss = t->n_tokens ? sl_rng_range(rng, 0, 40) : NAN;
        for (int k = 0; k < SEEDS; k++) {
            sl_judgement *j = &d->j[i * SEEDS + k];
            *j = (sl_judgement){ .problem = i, .seed = k, .expr = "", .latex = "" };
            j->verdict = t->truth ? (sl_verdict)sl_rng_below(rng, 4) : SL_VERDICT_FOUND;
            j->r2 = j->verdict == SL_VERDICT_MISS ? NAN : unit(rng);
            j->r2_fresh = t->fresh ? unit(rng) : NAN;
            j->same_tokens = j->verdict == SL_VERDICT_SOLVED && sl_rng_below(rng, 2);
            j->among = t->truth && sl_rng_below(rng, 2);
            j->cut = sl_rng_below(rng, 10) == 0;
            j->claimed = sl_rng_below(rng, 2);
            j->structure = sl_rng_below(rng, 2);
            j->on_front = sl_rng_below(rng, 2);
            j->answered = unit(rng) - 0.9;
            j->loss = loss;
            j->samples = 100 + sl_rng_below(rng, 5);
            j->distinct = sl_rng_below(rng, 100);
            for (int r = 0; r < SL_TOKEN_REASON_COUNT; r++) j->invalid[r] = sl_rng_below(rng, 8);
            j->seconds = sl_rng_uniform(rng);
        }
    }
}

/* ---------------------------------------------------------------- the twin ------------------ */

static bool member(const sl_eval_row *row, const sl_eval__traits *t) {
    static const char *const tops[] = { "number", "variable", "sum", "product", "quotient",
                                        "power",  "root",     "exp", "sin",     "cos" };
    char text[32];
    if (strcmp(row->group, "all") == 0) return true;
    const int top = t->top - (t->top >= SL_EVAL__TOP_FUNCTION ? SL_OP_EXP : 0);
    if (strcmp(row->group, "top") == 0) return t->truth && strcmp(row->value, tops[top]) == 0;
    const bool depth = strcmp(row->group, "depth") == 0;
    const int v = depth ? t->depth : t->constants;
    snprintf(text, sizeof text, "%d%s", v > 9 ? 10 : v, v > 9 ? "+" : "");
    return strcmp(row->value, text) == 0;
}

static int hit(int which, const sl_judgement *j, const sl_eval__traits *t) {
    const bool solved = j->verdict == SL_VERDICT_SOLVED, equal = j->verdict == SL_VERDICT_EQUAL;
    if (which == 4) return solved || equal || j->r2 > 0.99;
    if (which == 6) return !t->fresh ? -1 : j->r2_fresh > 0.99;
    if (!t->truth) return -1;
    if (which >= 7 && !t->errors) return -1;
    if (which >= 7) return which == 7 ? j->structure : j->on_front;
    return which == 0   ? solved
           : which == 1 ? equal
           : which == 2 ? solved + equal
           : which == 3 ? j->same_tokens
                        : j->among;
}

static void judge_share(sl_fixture *t, const sl_eval_row *row, int which, const sl_share *s,
                        const data *d) {
    int hits = 0, n = 0;
    double lo = 2, hi = -1;
    for (int k = 0; k < SEEDS; k++) {
        int h = 0, m = 0;
        for (int i = 0; i < PROBLEMS; i++) {
            if (!member(row, &d->traits[i])) continue;
            const int x = hit(which, &d->j[i * SEEDS + k], &d->traits[i]);
            m += x >= 0;
            h += x > 0;
        }
        hits += h;
        n += m;
        if (m && (double)h / m < lo) lo = (double)h / m;
        if (m && (double)h / m > hi) hi = (double)h / m;
    }
    SL_CHECK(t, s->hits == hits && s->n == n, "%s %s, share %d: %lld of %lld, not %d of %d",
             row->group, row->value, which, (long long)s->hits, (long long)s->n, hits, n);
    if (n == 0) {
        assert_true(isnan(s->share) && isnan(s->lo) && isnan(s->hi));
        assert_true(s->wilson.lo == 0 && s->wilson.hi == 1);
        return;
    }
    assert_true(fabs(s->share - (double)hits / n) < 1e-15 && s->lo == lo && s->hi == hi);
    const sl_interval w = sl_num_wilson((double)hits / SEEDS, n / SEEDS, 0.95);
    assert_true(s->wilson.lo == w.lo && s->wilson.hi == w.hi);
    assert_true(w.lo <= s->share && s->share <= w.hi);
}

static void figures_are_those_of_a_twin(void **state) {
    sl_fixture *t = *state;
    static data d;
    for (int round = 0; round < sl_test_iters(t, 20); round++) {
        sl_eval_summary s;
        fill(&d, &t->rng);
        SL_MUST(t, sl_eval__summarise(&s, &t->arena, d.j, d.traits, PROBLEMS, SEEDS));
        assert_true(s.seeds == SEEDS && s.judgements == TOTAL);
        assert_true(strcmp(s.row[0].group, "all") == 0 && s.row[0].problems == PROBLEMS);
        int sums[3] = { 0 };
        for (int r = 0; r < s.rows; r++) {
            const sl_eval_row *row = &s.row[r];
            const sl_share *const share[] = { &row->solved,      &row->equal,     &row->exact,
                                              &row->same_tokens, &row->close,     &row->among,
                                              &row->fresh,       &row->structure, &row->on_front };
            int problems = 0;
            for (int i = 0; i < PROBLEMS; i++) problems += member(row, &d.traits[i]);
            SL_CHECK(t, row->problems == problems && problems > 0, "%s %s has %lld, not %d",
                     row->group, row->value, (long long)row->problems, problems);
            for (int k = 0; k < SL_LEN(share); k++) judge_share(t, row, k, share[k], &d);
            for (int q = 0; q < r; q++) // each group and value once
                assert_true(strcmp(s.row[q].group, row->group) != 0 ||
                            strcmp(s.row[q].value, row->value) != 0);
            static const char *const groups[] = { "depth", "constants", "top" };
            for (int g = 0; g < 3; g++)
                if (strcmp(row->group, groups[g]) == 0) sums[g] += problems;
        }
        int depth = 0, truth = 0;
        for (int i = 0; i < PROBLEMS; i++) {
            depth += d.traits[i].depth >= 0;
            truth += d.traits[i].truth;
        }
        assert_true(sums[0] == depth && sums[1] == truth && sums[2] == truth);

        double loss = 0, squares = 0, seconds = 0, most = 0;
        int64_t n = 0, tokens = 0, samples = 0, distinct = 0, cut = 0;
        int64_t invalid[SL_TOKEN_REASON_COUNT] = { 0 };
        for (int i = 0; i < TOTAL; i++) {
            const sl_judgement *j = &d.j[i];
            seconds += j->seconds / TOTAL;
            most = fmax(most, j->seconds);
            samples += j->samples;
            distinct += j->distinct;
            cut += j->cut;
            for (int r = 0; r < SL_TOKEN_REASON_COUNT; r++) invalid[r] += j->invalid[r];
            if (j->seed || isnan(j->loss)) continue;
            n++;
            loss += j->loss;
            squares += j->loss * j->loss;
            tokens += d.traits[j->problem].n_tokens;
        }
        const double mean = loss / (double)n;
        const double sd = sqrt((squares - (double)n * mean * mean) / (double)(n - 1));
        SL_CHECK(t, fabs(s.loss - mean) < 1e-12 * mean, "loss %g, not %g", s.loss, mean);
        SL_CHECK(t, fabs(s.loss_error - sd / sqrt((double)n)) < 1e-9, "error %g", s.loss_error);
        SL_CHECK(t, fabs(s.loss_token - loss / (double)tokens) < 1e-12, "%g", s.loss_token);
        assert_true(s.cut == cut && fabs(s.seconds_mean - seconds) < 1e-13);
        assert_true(s.seconds_most == most);
        int below = 0;
        for (int i = 0; i < TOTAL; i++) below += d.j[i].seconds < s.seconds_median;
        assert_int_equal(below, TOTAL / 2);
        assert_true(fabs(s.distinct - (double)distinct / TOTAL) < 1e-12);
        for (int r = 0; r < SL_TOKEN_REASON_COUNT; r++)
            assert_true(fabs(s.invalid[r] - (double)invalid[r] / (double)samples) < 1e-14);
    }
}

/* An answer counts from the time on at which it was there; of those that are said to be exact the
 * wrong ones are counted, with errors in y by structure. */
static void budgets_are_those_of_a_twin(void **state) {
    sl_fixture *t = *state;
    static const double budget[] = { 0.02, 0.05, 1 };
    static data d;
    for (int round = 0; round < sl_test_iters(t, 20); round++) {
        const sl_eval_options o = { .seeds = SEEDS, .budget = budget, .budgets = 3 };
        sl_eval_summary s = { 0 };
        int claimed = 0, wrong_in_all = 0;
        fill(&d, &t->rng);
        sl_eval__budgets_fill(&s, d.j, d.traits, PROBLEMS, &o);
        assert_int_equal(s.budgets, 3);
        for (int b = 0; b < 3; b++) {
            int right = 0, wrong = 0, n = 0;
            for (int i = 0; i < TOTAL; i++) {
                const sl_judgement *j = &d.j[i];
                const sl_eval__traits *p = &d.traits[i / SEEDS];
                const bool good =
                    p->errors ? j->structure
                              : j->verdict == SL_VERDICT_SOLVED || j->verdict == SL_VERDICT_EQUAL;
                if (b == 0) claimed += j->claimed;
                if (b == 0) wrong_in_all += p->truth && j->claimed && !good;
                n += p->truth;
                if (!p->truth || isnan(j->answered) || j->answered > budget[b]) continue;
                right += good;
                wrong += j->claimed && !good;
            }
            const sl_eval_budget *x = &s.budget[b];
            SL_CHECK(t, x->right.hits == right && x->right.n == n && x->wrong == wrong,
                     "%d: %lld of %lld, %lld wrong", b, (long long)x->right.hits,
                     (long long)x->right.n, (long long)x->wrong);
            assert_true(x->seconds == budget[b]);
            assert_true(fabs(x->right.share - (double)right / n) < 1e-15);
            assert_true(x->right.lo <= x->right.share && x->right.share <= x->right.hi);
        }
        assert_true(s.claimed == claimed && s.wrong == wrong_in_all);
    }
}

/* Nothing to count is NaN, not a division by zero that looks like a figure. */
static void nothing_known_is_nan(void **state) {
    sl_fixture *t = *state;
    sl_eval_summary s;
    const sl_judgement j = { .verdict = SL_VERDICT_FOUND, .r2 = 1, .r2_fresh = NAN, .loss = NAN };
    const sl_eval__traits traits = { .depth = -1, .constants = -1, .top = SL_EVAL__TOP_COUNT };
    SL_MUST(t, sl_eval__summarise(&s, &t->arena, &j, &traits, 1, 1));
    assert_int_equal(s.rows, 1);
    assert_true(s.row[0].problems == 1 && s.row[0].solved.n == 0 && isnan(s.row[0].exact.share));
    assert_true(s.row[0].close.share == 1 && s.row[0].fresh.n == 0);
    assert_true(isnan(s.loss) && isnan(s.loss_error) && isnan(s.loss_token));
    assert_true(isnan(s.invalid[SL_TOKEN_SYNTAX]) && s.distinct == 0);
    SL_MUST(t, sl_eval__summarise(&s, &t->arena, NULL, NULL, 0, 2));
    assert_true(s.rows == 1 && s.row[0].problems == 0 && isnan(s.seconds_mean));
}

static void tops_are_the_outermost_operators(void **state) {
    sl_fixture *t = *state;
    static const struct {
        const char *text;
        int top;
    } list[] = {
        { "5", SL_EVAL__TOP_NUMBER },
        { "x2", SL_EVAL__TOP_VARIABLE },
        { "-3*x2 + 7", SL_EVAL__TOP_VARIABLE },
        { "x1 + x2", SL_EVAL__TOP_SUM },
        { "x1 - sin(x2) + 4", SL_EVAL__TOP_SUM },
        { "3*(x1 + sin(x2))", SL_EVAL__TOP_SUM },
        { "2*x1*x2", SL_EVAL__TOP_PRODUCT },
        { "x1*sin(x2)/4 - 1", SL_EVAL__TOP_PRODUCT },
        { "x1/x2", SL_EVAL__TOP_QUOTIENT },
        { "3*exp(x1)/sqrt(x2)", SL_EVAL__TOP_QUOTIENT },
        { "7/x1", SL_EVAL__TOP_QUOTIENT },
        { "1/sqrt(x1 + x2)", SL_EVAL__TOP_QUOTIENT },
        { "x1**2", SL_EVAL__TOP_POWER },
        { "(x1 + x2)**3 + 1", SL_EVAL__TOP_POWER },
        { "sqrt(x1 + x2)", SL_EVAL__TOP_ROOT },
        { "2 - 5*x1**(3/4)", SL_EVAL__TOP_ROOT },
        { "exp(x1)", SL_EVAL__TOP_FUNCTION + SL_OP_EXP },
        { "1 - exp(x1*x2)", SL_EVAL__TOP_FUNCTION + SL_OP_EXP },
        { "9*sin(x1) + 2", SL_EVAL__TOP_FUNCTION + SL_OP_SIN },
        { "cos(x1)", SL_EVAL__TOP_FUNCTION + SL_OP_COS },
    };
    for (int i = 0; i < SL_LEN(list); i++) {
        const int top = sl_eval__top_of(parsed(t, list[i].text));
        SL_CHECK(t, top == list[i].top, "%s: %d, not %d", list[i].text, top, list[i].top);
    }
}

static sl_status summarise_once(sl_fixture *t) {
    static data d;
    sl_eval_summary s;
    return sl_eval__summarise(&s, &t->arena, d.j, d.traits, PROBLEMS, SEEDS);
}

static void each_allocation_may_fail(void **state) {
    sl_fixture *t = *state;
    SL_EACH_ALLOCATION(t, summarise_once(t));
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(figures_are_those_of_a_twin), SL_TEST(budgets_are_those_of_a_twin),
        SL_TEST(nothing_known_is_nan),        SL_TEST(tops_are_the_outermost_operators),
        SL_TEST(each_allocation_may_fail),
    };
    return sl_test_main("eval.summary", tests, SL_LEN(tests));
}

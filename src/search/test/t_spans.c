#include "search_check.h"

static planted table;

/* Formulas of each kind, found at low effort; coefficients and exponents are on no list. */
static const struct {
    const char *text;
    int inputs;
    double low, high;
} kinds[] = {
    // quotients
    { "3.27*x1 - 0.41*x2 + 7.3", 2, -3, 3 },
    { "(1.7*x1 + 2.9)/(x2 - 0.3*x1 + 4.1)", 2, 1, 3 },
    { "x1*x2/(x1 + x2)", 2, 1, 5 },
    // roots of quotients and of quadratic equations
    { "-sqrt((2.3*x1^2 + x1*x2)/(x2 + 0.7*x1^3 + 1.9))", 2, 1, 3 },
    { "(x1 + 1.7*x2 - sqrt((x1 + 1.7*x2)^2 - 2.9*x1*x2))/2", 2, 1, 5 },
    { "(-x1 + sqrt(x1^2 + 4.4*x2*x3))/(2*x2)", 3, 1, 4 },
    // products
    { "2.713*x1^1.37/x2^0.61", 2, 1, 4 },
    { "1.3*x1^2*sin(x2)*x3", 3, 0.5, 2.5 },
    { "0.77*x1*exp(-1.31*x2/x3)", 3, 1, 3 },
    { "5.1*x1/sqrt(1 + x2^2/x3^2)", 3, 1, 4 },
    { "x1*tanh(x2*x3)^1.5", 3, 0.5, 2 },
    // sums
    { "1.9*x1 + 0.83*sin(x2) - 4.4", 2, -3, 3 },
    { "2.1*exp(-x1) + 3.3*x2^2 + 0.2", 2, 0.1, 3 },
    { "1.1*cos(x1) + 2.2*log(x2) + 0.3*x1", 2, 0.5, 4 },
    // transforms of y
    { "sqrt(x1^2 + 3.3*x2^2)", 2, 1, 5 },
    { "asin(x1*sin(x2))", 2, 0.1, 0.9 },
    { "log(2.2*x1 + x2^1.5*x1)", 2, 1, 5 },
    { "1/(1/x1 + 2.6/x2 + 0.4)", 2, 1, 5 },
    { "1/(exp(x1/x2) - 1)", 2, 1, 3 },
    { "x3*(1 - exp(-0.7*x1^x2))", 3, 0.5, 2 },
    { "x1 + 10*log(x2 + 3.3/x3)/log(10)", 3, 1, 5 },
    // exponents that are variables
    { "1.9*x1^x2/x3", 3, 1.5, 3 },
    { "0.3*x1*(x2 + x3)^(-x1)", 3, 1, 2 },
    // two terms for a transform without a table
    { "x1/(1 + 1.7*x2*sin(x3)^2/(1 + x2)^2)", 3, 0.5, 2.5 },
    { "(1 - 7.7*cos(x1)*(1 + x2))/(1 + 7.7*cos(x1)*(1 + x2))", 2, 0.1, 1.2 },
    { "log(0.3*(1 + x1)/(1 + 2*x2))/log(x3)", 3, 1.2, 3 },
    { "x1*(x2/x1)^exp(-0.9*x3)", 3, 1, 3 },
    // a monomial times y
    { "x1*x2*x3/((x4 - x5)^2 + 1.9*x6)", 6, 1, 5 },
};

static void planted_formulas_are_found(void **state) {
    sl_fixture *t = *state;
    for (int i = 0; i < SL_LEN(kinds); i++) {
        sl_search_result *r;
        sl_search_options o = options(SL_SEARCH_EFFORT_LOW);
        plant(&table, t, kinds[i].text, kinds[i].inputs, 80, kinds[i].low, kinds[i].high);
        SL_MUST(t, sl_search_run(&r, NULL, &table.problem, &o));
        SL_CHECK(t, r->count > 0 && r->end == SL_SEARCH_FOUND, "%s: nothing", kinds[i].text);
        SL_CHECK(t, r->formula[0].exact && holds(t, &table, &r->formula[0]), "%s: found %s",
                 kinds[i].text, text_of(t, &r->formula[0]));
        sl_search_result_free(r);
    }
}

/* Few rows: the formula, or nothing, but no other. */
static void few_rows_give_no_false_formula(void **state) {
    sl_fixture *t = *state;
    static const int rows[] = { 3, 4, 6, 8, 12, 16, 24 };
    int found[SL_LEN(rows)] = { 0 };
    for (int k = 0; k < SL_LEN(rows); k++) {
        for (int i = 0; i < SL_LEN(kinds); i += 2) {
            sl_search_result *r;
            sl_search_options o = options(SL_SEARCH_EFFORT_LOW);
            // a cut search has no false formula either; the last ones may take their time
            o.deadline = k < SL_LEN(rows) - 1 ? sl_clock() + 0.02 : 0;
            plant(&table, t, kinds[i].text, kinds[i].inputs, rows[k], kinds[i].low, kinds[i].high);
            SL_MUST(t, sl_search_run(&r, NULL, &table.problem, &o));
            SL_CHECK(t, !r->count || holds(t, &table, &r->formula[0]), "%s, %d rows: found %s",
                     kinds[i].text, rows[k], text_of(t, &r->formula[0]));
            found[k] += r->count > 0;
            sl_search_result_free(r);
        }
    }
    SL_CHECK(t, found[0] == 0, "%d formulas from 3 rows", found[0]);
    SL_CHECK(t, found[SL_LEN(rows) - 1] >= 4, "%d formulas from 24 rows", found[SL_LEN(rows) - 1]);
}

/* Products of powers need few more rows than columns. */
static void few_rows_are_enough_for_powers(void **state) {
    sl_fixture *t = *state;
    static const struct {
        const char *text;
        int inputs, rows;
    } cases[] = { { "0.37*x1*x2/(x3*x4^2)", 4, 6 },
                  { "5.9*x1^2/x2", 2, 4 },
                  { "x1*sqrt(x2)*x3", 3, 5 } };
    for (int i = 0; i < SL_LEN(cases); i++) {
        sl_search_result *r;
        sl_search_options o = options(SL_SEARCH_EFFORT_LOW);
        plant(&table, t, cases[i].text, cases[i].inputs, cases[i].rows, 1, 5);
        SL_MUST(t, sl_search_run(&r, NULL, &table.problem, &o));
        SL_CHECK(t, r->count > 0 && holds(t, &table, &r->formula[0]), "%s from %d rows: %s",
                 cases[i].text, cases[i].rows, r->count ? text_of(t, &r->formula[0]) : "nothing");
        sl_search_result_free(r);
    }
}

/* Random numbers have no law. */
static void random_numbers_have_no_formula(void **state) {
    sl_fixture *t = *state;
    static const int rows[] = { 3, 5, 7, 10, 16, 40, 200 };
    for (int k = 0; k < SL_LEN(rows) * sl_test_iters(t, 3); k++) {
        sl_search_result *r;
        sl_search_options o = options(SL_SEARCH_EFFORT_LOW);
        int step = 8, n = rows[k % SL_LEN(rows)];
        o.progress = stop_at_step;
        o.payload = &step;
        plant(&table, t, NULL, 1 + k % 3, n, 1, 3);
        SL_MUST(t, sl_search_run(&r, NULL, &table.problem, &o));
        SL_CHECK(t, r->count == 0, "%d rows, %d inputs: %s, evidence %.1f", n, 1 + k % 3,
                 text_of(t, &r->formula[0]), r->formula[0].evidence);
        sl_search_result_free(r);
    }
}

/* Everything that is counted, and every byte of every formula. */
static void check_equal(sl_fixture *t, const sl_search_result *a, const sl_search_result *b,
                        const char *what) {
    SL_CHECK(t,
             a->count == b->count && a->tried == b->tried && a->verified == b->verified &&
                 a->steps == b->steps && a->end == b->end && a->memory == b->memory,
             "%s: %lld formulas of %lld terms, %lld of %lld", what, (long long)a->count,
             (long long)a->tried, (long long)b->count, (long long)b->tried);
    for (int64_t i = 0; i < a->count; i++) {
        const sl_fit *f = &a->formula[i].fit, *g = &b->formula[i].fit;
        SL_CHECK(t,
                 f->params == g->params && sl_expr_equal(f->expr, g->expr) &&
                     !memcmp(f->value, g->value, (size_t)f->params * sizeof *f->value) &&
                     a->formula[i].bits.total == b->formula[i].bits.total,
                 "%s, formula %lld: %s", what, (long long)i, text_of(t, &a->formula[i]));
    }
}

static void answers_do_not_depend_on_threads(void **state) {
    sl_fixture *t = *state;
    static const struct {
        const char *text;
        int inputs;
    } cases[] = {
        { "x1*tanh(x2*x3/(x4*x5))", 5 },
        { "1.3*sin(x1) + 0.7*sqrt(x2) + 2.9*exp(-x1)", 2 },
        { "sqrt(x1)*log(x1 + 2.3) + 3*x1^3*cos(1.7/x1)", 1 }, // not found
    };
    for (int i = 0; i < SL_LEN(cases); i++) {
        sl_search_result *result[3];
        sl_search_options o = options(SL_SEARCH_EFFORT_LOW);
        o.max_memory = i == 2 ? 4000000 : 100000000;
        plant(&table, t, cases[i].text, cases[i].inputs, 60, 1, 3);
        for (int k = 0; k < 3; k++) {
            sl_pool *pool;
            SL_MUST(t, sl_par_pool_new(&pool, k + 1));
            SL_MUST(t, sl_search_run(&result[k], pool, &table.problem, &o));
            sl_par_pool_free(pool);
        }
        for (int k = 1; k < 3; k++) check_equal(t, result[0], result[k], cases[i].text);
        for (int k = 0; k < 3; k++) sl_search_result_free(result[k]);
    }
}

/* Little memory: the result reports it, and the limit holds. */
static void memory_keeps_to_its_limit(void **state) {
    sl_fixture *t = *state;
    plant(&table, t, "sqrt(x1)*log(x2 + x1) + 3*x2^3*cos(x1/x2)", 2, 60, 1, 3);
    for (int64_t limit = 100000; limit <= 10000000; limit *= 10) {
        sl_search_result *r;
        sl_search_options o = options(SL_SEARCH_EFFORT_LOW);
        int step = 10;
        o.max_memory = limit;
        o.progress = stop_at_step;
        o.payload = &step;
        SL_MUST(t, sl_search_run(&r, NULL, &table.problem, &o));
        SL_CHECK(t, r->memory <= limit, "%lld bytes, not %lld", (long long)r->memory,
                 (long long)limit);
        sl_search_result_free(r);
    }
}

static void a_cut_is_clean(void **state) {
    sl_fixture *t = *state;
    sl_pool *pool;
    SL_MUST(t, sl_par_pool_new(&pool, 2));
    plant(&table, t, "x1*tanh(x2*x3/(x4*x5)) + sin(x1)", 5, 60, 1, 3);
    for (int i = 0; i < sl_test_iters(t, 10); i++) {
        sl_search_result *r;
        sl_search_options o = options(SL_SEARCH_EFFORT_HIGH);
        o.deadline = sl_clock() + sl_rng_range(&t->rng, 0, 0.03);
        SL_MUST(t, sl_search_run(&r, pool, &table.problem, &o));
        SL_CHECK(t, r->end == SL_SEARCH_TIME, "end %d", r->end);
        sl_search_result_free(r);
    }
    sl_par_pool_free(pool);
}

static int refuse(const sl_search_progress *progress, void *payload) {
    (void)progress, (void)payload;
    return 1;
}

static void a_cancelled_search_is_marked(void **state) {
    sl_fixture *t = *state;
    sl_search_result *r;
    sl_search_options o = options(SL_SEARCH_EFFORT_HIGH);
    o.progress = refuse;
    plant(&table, t, "x1*tanh(x2*x3/(x4*x5)) + sin(x1)", 5, 60, 1, 3);
    SL_MUST(t, sl_search_run(&r, NULL, &table.problem, &o));
    SL_CHECK(t, r->end == SL_SEARCH_CANCEL && r->count == 0, "end %d", r->end);
    sl_search_result_free(r);
}

static sl_status run_once(const sl_dataset *p) {
    sl_search_result *r;
    sl_search_options o = options(SL_SEARCH_EFFORT_LOW);
    SL_TRY(sl_search_run(&r, NULL, p, &o));
    sl_search_result_free(r);
    return SL_OK;
}

static void every_allocation_may_fail(void **state) {
    sl_fixture *t = *state;
    plant(&table, t, "(1.7*x1 + 2.9)/(x1 + 4.1)", 1, 30, 1, 3);
    SL_EACH_ALLOCATION(t, run_once(&table.problem));
    plant(&table, t, "2.713*x1^1.37", 1, 30, 1, 4);
    SL_EACH_ALLOCATION(t, run_once(&table.problem));
    plant(&table, t, "x1^2*0.3 + 1.7*sin(x1)", 1, 30, 1, 4);
    SL_EACH_ALLOCATION(t, run_once(&table.problem));
}

/* Degenerate tables, with a formula where there is one. */
static void hostile_tables(void **state) {
    sl_fixture *t = *state;
    for (int i = 0; i < 24; i++) {
        sl_search_result *r;
        sl_search_options o = options(SL_SEARCH_EFFORT_LOW);
        int rows = 3 + i % 12;
        o.deadline = sl_clock() + 0.02;
        plant_hostile(&table, t, i, rows);
        SL_MUST(t, sl_search_run(&r, NULL, &table.problem, &o));
        for (int64_t k = 0; k < r->count; k++)
            SL_CHECK(t, isfinite(r->formula[k].bits.total), "table %d: bits of %s", i,
                     text_of(t, &r->formula[k]));
        sl_search_result_free(r);
    }
}

static void too_few_rows_are_refused(void **state) {
    sl_fixture *t = *state;
    sl_search_result *r = NULL;
    sl_search_options o = options(SL_SEARCH_EFFORT_LOW);
    plant(&table, t, "x1", 1, 2, 1, 3);
    SL_CHECK(t, sl_search_run(&r, NULL, &table.problem, &o) == SL_EINVAL && !r,
             "2 rows were taken");
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(planted_formulas_are_found),
        SL_TEST(few_rows_give_no_false_formula),
        SL_TEST(few_rows_are_enough_for_powers),
        SL_TEST(random_numbers_have_no_formula),
        SL_TEST(answers_do_not_depend_on_threads),
        SL_TEST(memory_keeps_to_its_limit),
        SL_TEST(a_cut_is_clean),
        SL_TEST(a_cancelled_search_is_marked),
        SL_TEST(every_allocation_may_fail),
        SL_TEST(hostile_tables),
        SL_TEST(too_few_rows_are_refused),
    };
    return sl_test_main("search.spans", tests, SL_LEN(tests));
}

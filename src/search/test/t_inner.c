#include "search_check.h"

#include "search/inner_impl.h"

static planted table;

/* Levels 0 .. level of the method alone, without the steps before it. */
static sl_status run_inner(sl_search_result **out, sl_pool *pool, const sl_dataset *p,
                           const sl_search_options *o, int level) {
    return run_method(out, &sl_search__inner, pool, p, o, 0, level);
}

/* Formulas of each family. A, B, C, ... are drawn anew by each test. */
static const struct {
    const char *text;
    int inputs, level;
    double low, high;
} kinds[] = {
    { "A*sin(3.77*B*x1 + A) + 1.2*x2", 2, 0, -3, 3 },
    { "A*x2*cos(2.31*B*x1*x2)", 2, 0, 0.5, 3 },
    { "exp(-0.37*A*x1)*x2 + 0.5*B", 2, 0, 0, 4 },
    { "A*exp(1.13*B*x1/x2) + 0.3*x1 + B", 3, 0, 1, 3 },
    { "log(x1 + 2.71*A)", 1, 0, 0, 5 },
    { "B*x2*log(x1 + 1.71*A)", 2, 0, 0.5, 5 },
    { "A*log(6.3 + B - x1) + B*x2", 2, 0, 1, 5 },
    { "1/(x1 + 0.83*A)", 1, 0, 0, 3 },
    { "x2^2/(x1*x2 + 0.83*A)", 2, 0, 1, 5 },
    { "sqrt(x1*x2 + 1.9*A) + B*x1", 2, 0, 0.5, 4 },
    { "A*x1 + B*tanh(0.77*A*x2)", 2, 0, -3, 3 },
    { "(x1 + 1.3*A)^(2.6*B)", 1, 0, 0, 4 },
    { "A*x2^1.41*(x1 + 1.3*B)^(-0.6*A)", 2, 0, 0.5, 4 },
    { "A*x1^3/(exp(1.23*B*x1/x2) - 1)", 2, 0, 1, 4 },
    { "A/(exp(-1.7*B*x1) + 1)", 1, 0, -3, 3 },
    { "sqrt(1.3*A + sin(2.7*B*x1))", 1, 0, -3, 3 },
    { "exp(A*sin(2.7*B*x1 + 1.1) + 0.2*x2)", 2, 0, -3, 3 },
    { "A + B*x2*exp(-1.7*A*(x1 - 0.7*B)^2)", 2, 1, -2, 3 },
    { "A + B*tanh(1.37*A*(x1 - 0.7*B)) + 0.4*x2", 2, 1, -2, 3 },
    { "A*exp(-0.41*B*x1)*sin(5.1*A*x1 + 0.3) + 0.7*B", 1, 1, 0, 6 },
    { "3.3*A + B*(x1 + 1.3*A)^(-1.4*B) + x2", 2, 1, 0, 4 },
};

/* text with numbers for A and B, each between 0.8 and 1.25. */
static const char *with_numbers(sl_fixture *t, const char *text) {
    static char out[512];
    double number[2] = { sl_rng_range(&t->rng, 0.8, 1.25), sl_rng_range(&t->rng, 0.8, 1.25) };
    int n = 0;
    for (const char *c = text; *c; c++) {
        if (*c == 'A' || *c == 'B')
            n += sl_snprintf(out + n, sizeof out - (size_t)n, "%.6f", number[*c - 'A']);
        else
            out[n++] = *c;
    }
    out[n] = 0;
    return out;
}

static void planted_constants_are_found(void **state) {
    sl_fixture *t = *state;
    for (int i = 0; i < SL_LEN(kinds); i++) {
        sl_search_result *r;
        sl_search_options o = options(SL_SEARCH_EFFORT_NORMAL);
        const char *text = with_numbers(t, kinds[i].text);
        plant(&table, t, text, kinds[i].inputs, 80, kinds[i].low, kinds[i].high);
        SL_MUST(t, run_inner(&r, NULL, &table.problem, &o, kinds[i].level));
        SL_CHECK(t, r->count > 0 && r->formula[0].exact, "%s: nothing", text);
        SL_CHECK(t, holds(t, &table, &r->formula[0]), "%s: found %s", text,
                 text_of(t, &r->formula[0]));
        sl_search_result_free(r);
    }
}

/* Through the whole list of steps: earlier steps find neither the law nor a false formula. */
static void a_search_reaches_them(void **state) {
    sl_fixture *t = *state;
    sl_search_result *r;
    sl_search_options o = options(SL_SEARCH_EFFORT_LOW);
    plant(&table, t, "2.3*sin(3.77*x1 + 0.4) + 1.2*x1", 1, 60, -3, 3);
    SL_MUST(t, sl_search_run(&r, NULL, &table.problem, &o));
    SL_CHECK(t, r->count > 0 && r->end == SL_SEARCH_FOUND && holds(t, &table, &r->formula[0]),
             "nothing, end %d", r->end);
    SL_CHECK(t, !strcmp(r->formula[0].method, "inner"), "found by %s", r->formula[0].method);
    sl_search_result_free(r);
}

/* y with errors: the law, with constants about as good as the errors allow. */
static void noise_leaves_the_law(void **state) {
    sl_fixture *t = *state;
    static const char *const laws[] = { "2.3*sin(3.77*x1 + 0.4) + 1.2*x2",
                                        "3.1*x2*exp(-0.91*x1) + 0.5" };
    for (int i = 0; i < SL_LEN(laws); i++) {
        sl_search_result *r;
        sl_search_options o = options(SL_SEARCH_EFFORT_LOW);
        o.exact_only = false;
        plant(&table, t, laws[i], 2, 150, -2, 2);
        for (int k = 0; k < 150; k++) table.y[k] += 0.02 * sl_rng_normal(&t->rng);
        SL_MUST(t, run_inner(&r, NULL, &table.problem, &o, 0));
        SL_CHECK(t, r->count > 0 && r->within_noise, "%s: %lld formulas", laws[i],
                 (long long)r->count);
        SL_CHECK(t, r->sigma > 0.016 && r->sigma < 0.024, "%s: sigma %g by %s", laws[i], r->sigma,
                 text_of(t, &r->formula[0]));
        sl_search_result_free(r);
    }
}

/* A bell that is 0 except in one row fits that row and explains no other. */
static void one_large_row_does_not_mask_others(void **state) {
    sl_fixture *t = *state;
    sl_search_result *r;
    sl_search_options o = options(SL_SEARCH_EFFORT_NORMAL);
    plant(&table, t, NULL, 1, 64, -2, 2);
    table.y[5] = 1e30;
    SL_MUST(t, run_inner(&r, NULL, &table.problem, &o, 1));
    SL_CHECK(t, r->count == 0, "%s", text_of(t, &r->formula[0]));
    sl_search_result_free(r);
}

/* Random numbers have no law, and the closest formula is not claimed. */
static void random_numbers_have_no_formula(void **state) {
    sl_fixture *t = *state;
    static const int rows[] = { 3, 5, 8, 12, 40 };
    for (int k = 0; k < SL_LEN(rows) * sl_test_iters(t, 2); k++) {
        sl_search_result *r;
        sl_search_options o = options(SL_SEARCH_EFFORT_NORMAL);
        int n = rows[k % SL_LEN(rows)];
        o.exact_only = k < SL_LEN(rows);
        plant(&table, t, NULL, 1 + k % 3, n, k % 2 ? -2 : 1, 3);
        SL_MUST(t, run_inner(&r, NULL, &table.problem, &o, n == 8));
        SL_CHECK(t, r->count == 0 || (!o.exact_only && !r->within_noise), "%d rows: %s", n,
                 text_of(t, &r->formula[0]));
        sl_search_result_free(r);
    }
}

/* Few rows, one variable or two: the formula, or nothing, but no other. */
static void few_rows_give_no_false_formula(void **state) {
    sl_fixture *t = *state;
    static const int rows[] = { 4, 8, 13 };
    int found = 0;
    for (int k = 0; k < SL_LEN(rows); k++) {
        for (int i = k % 2; i < SL_LEN(kinds); i += 2) {
            sl_search_result *r;
            sl_search_options o = options(SL_SEARCH_EFFORT_NORMAL);
            const char *text = with_numbers(t, kinds[i].text);
            plant(&table, t, text, kinds[i].inputs, rows[k], kinds[i].low, kinds[i].high);
            SL_MUST(t, run_inner(&r, NULL, &table.problem, &o, 0));
            SL_CHECK(t, !r->count || holds(t, &table, &r->formula[0]), "%s, %d rows: found %s",
                     text, rows[k], text_of(t, &r->formula[0]));
            found += r->count > 0;
            sl_search_result_free(r);
        }
    }
    SL_CHECK(t, found >= 8, "%d found", found);
}

static void answers_do_not_depend_on_threads(void **state) {
    sl_fixture *t = *state;
    for (int noise = 0; noise < 2; noise++) {
        sl_search_result *result[3];
        sl_search_options o = options(SL_SEARCH_EFFORT_NORMAL);
        o.exact_only = noise == 0;
        plant(&table, t, "1.3*x1 + 0.7*x2*exp(-1.37*x1) + 0.4", 2, 40, 0, 3);
        for (int k = 0; k < 40 * noise; k++) table.y[k] += 0.01 * sl_rng_normal(&t->rng);
        for (int k = 0; k < 3; k++) {
            sl_pool *pool;
            SL_MUST(t, sl_par_pool_new(&pool, k + 1));
            SL_MUST(t, run_inner(&result[k], pool, &table.problem, &o, 0));
            sl_par_pool_free(pool);
        }
        SL_CHECK(t, result[0]->count > 0, "nothing");
        for (int k = 1; k < 3; k++) {
            const sl_search_result *a = result[0], *b = result[k];
            SL_CHECK(t, a->count == b->count && a->tried == b->tried && a->verified == b->verified,
                     "%d threads: %lld formulas, not %lld", k + 1, (long long)b->count,
                     (long long)a->count);
            for (int64_t i = 0; i < a->count; i++) {
                const sl_fit *f = &a->formula[i].fit, *g = &b->formula[i].fit;
                SL_CHECK(t,
                         f->params == g->params && sl_expr_equal(f->expr, g->expr) &&
                             !memcmp(f->value, g->value, (size_t)f->params * sizeof *f->value),
                         "%d threads: %s", k + 1, text_of(t, &b->formula[i]));
            }
        }
        for (int k = 0; k < 3; k++) sl_search_result_free(result[k]);
    }
}

/* Excluded functions are not used. */
static void operators_keep_to_the_list(void **state) {
    sl_fixture *t = *state;
    sl_search_result *r;
    sl_search_options o = options(SL_SEARCH_EFFORT_NORMAL);
    plant(&table, t, "exp(-0.37*x1)*x2 + 0.5", 2, 40, 0, 4);
    o.ops &= ~(1u << SL_OPERATOR_EXP);
    SL_MUST(t, run_inner(&r, NULL, &table.problem, &o, 0));
    SL_CHECK(t, r->count == 0, "found %s", text_of(t, &r->formula[0]));
    sl_search_result_free(r);
}

/* Little memory: the method is left out, and the result reports it. */
static void memory_keeps_to_its_limit(void **state) {
    sl_fixture *t = *state;
    plant(&table, t, "exp(-0.37*x1)*x2 + 0.5", 2, 40, 0, 4);
    for (int64_t limit = 1000; limit <= 1000000; limit *= 10) {
        sl_search_result *r;
        sl_search_options o = options(SL_SEARCH_EFFORT_NORMAL);
        o.max_memory = limit;
        SL_MUST(t, run_inner(&r, NULL, &table.problem, &o, 0));
        SL_CHECK(t, r->memory <= limit && (r->count > 0) == (limit == 1000000),
                 "%lld bytes of %lld, %lld formulas", (long long)r->memory, (long long)limit,
                 (long long)r->count);
        SL_CHECK(t, r->count > 0 || r->end == SL_SEARCH_MEMORY, "end %d", r->end);
        sl_search_result_free(r);
    }
}

/* Degenerate tables. */
static void hostile_tables(void **state) {
    sl_fixture *t = *state;
    for (int i = 0; i < 24; i++) {
        sl_search_result *r;
        sl_search_options o = options(SL_SEARCH_EFFORT_NORMAL);
        int rows = 7 + i % 12;
        o.exact_only = i % 2 == 0;
        plant_hostile(&table, t, i, rows);
        SL_MUST(t, run_inner(&r, NULL, &table.problem, &o, 0));
        for (int64_t k = 0; k < r->count; k++)
            SL_CHECK(t, isfinite(r->formula[k].bits.total), "table %d: bits of %s", i,
                     text_of(t, &r->formula[k]));
        sl_search_result_free(r);
    }
}

static sl_status run_once(void) {
    sl_search_result *r;
    sl_search_options o = options(SL_SEARCH_EFFORT_NORMAL);
    SL_TRY(run_inner(&r, NULL, &table.problem, &o, 0));
    sl_search_result_free(r);
    return SL_OK;
}

static void every_allocation_may_fail(void **state) {
    sl_fixture *t = *state;
    plant(&table, t, "sin(1.77*x1 + 0.4)", 1, 10, 1, 3);
    SL_EACH_ALLOCATION(t, run_once());
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(planted_constants_are_found),
        SL_TEST(a_search_reaches_them),
        SL_TEST(noise_leaves_the_law),
        SL_TEST(one_large_row_does_not_mask_others),
        SL_TEST(random_numbers_have_no_formula),
        SL_TEST(few_rows_give_no_false_formula),
        SL_TEST(answers_do_not_depend_on_threads),
        SL_TEST(operators_keep_to_the_list),
        SL_TEST(memory_keeps_to_its_limit),
        SL_TEST(hostile_tables),
        SL_TEST(every_allocation_may_fail),
    };
    return sl_test_main("search.inner", tests, SL_LEN(tests));
}

#include "noise_check.h"

/* One term times powers, sums of two terms, and transforms of y; all constants are coefficients or
 * exponents. */
static const struct {
    const char *formula;
    int inputs;
    double low, high;
} laws[] = {
    { "2.7*x1*x2^2/sqrt(x3)", 3, 1, 5 },
    { "0.37*x1^(3/2)", 1, 1, 5 },
    { "1.8*x1*exp(-x2^2/2)", 2, 0.3, 2 },
    { "3*x1*x2 + 0.7*x3^2", 3, 1, 4 },
    { "1.3*x1 + 2.1*sin(x2)", 2, 0.5, 4 },
    { "1/(1/x1 + 1/x2)", 2, 1, 5 },
    { "sqrt(x1^2 + x2^2)", 2, 1, 5 },
    { "x1*cos(x2)", 2, 1, 5 },
    { "1.5*x3^2*cos(x1)*sin(x2)", 3, 1, 5 }, // the sign is that of a product of two
    { "101325*exp(-x1/8434)", 1, 0, 9000 },  // exp(x1) itself overflows
    { "4.2", 1, 1, 5 },
};

static void planted_formulas_are_found(void **state) {
    sl_fixture *t = *state;
    static noisy_table n;
    const sl_search_options o = SL_SEARCH_OPTIONS_INIT;
    int within = 0, most = SL_LEN(laws) - 1;
    for (int k = 0; k < SL_LEN(laws); k++) {
        sl_search_result *r;
        double noise = k % 2 ? 1e-2 : 1e-3;
        int rows = k % 2 ? 80 : 40;
        noisy_table_make(&n, t, laws[k].formula, laws[k].inputs, rows, laws[k].low, laws[k].high,
                         noise);
        SL_MUST(t, noise_run(&r, &n, NULL, &o, 0));
        SL_CHECK(t, r->count > 0 && is_structure(t, &r->formula[0], &n),
                 "%s with %d rows and noise %g: %s", laws[k].formula, rows, noise,
                 formula_text(t, r));
        bool constant = strchr(laws[k].formula, 'x') == NULL;
        SL_CHECK(t, !constant || !r->within_noise, "a constant is claimed");
        within += r->within_noise;
        sl_search_result_free(r);
    }
    // residuals of the true formula are taken for structure once in a thousand
    SL_CHECK(t, within >= most - 1, "%d of %d are within the noise", within, most);
}

/* Errors of three percent of each y, over decades of y: the first formula is the law, fitted by the
 * right weights, and the result has the kind of errors. */
static void relative_errors_are_detected(void **state) {
    sl_fixture *t = *state;
    static noisy_table n;
    static const struct {
        const char *formula;
        int inputs;
        double low, high;
    } relative[] = {
        { "0.02*x1^(7/2)", 1, 0.1, 50 },
        { "2.3*x1^2*exp(-3*x2)", 2, 0.1, 4 },
        { "x1*x2/x3^2", 3, 0.05, 10 },
        { "x1*cos(x2)", 2, 0.1, 6 }, // of both signs
    };
    const sl_search_options o = SL_SEARCH_OPTIONS_INIT;
    for (int k = 0; k < SL_LEN(relative); k++) {
        sl_search_result *r;
        noisy_table_make(&n, t, relative[k].formula, relative[k].inputs, 60, relative[k].low,
                         relative[k].high, 0);
        for (int i = 0; i < 60; i++) n.y[i] *= 1 + 0.03 * sl_rng_normal(&t->rng);
        SL_MUST(t, noise_run(&r, &n, NULL, &o, 0));
        SL_CHECK(t, r->count && is_structure(t, &r->formula[0], &n), "%s: %s", relative[k].formula,
                 formula_text(t, r));
        SL_CHECK(t, r->relative && fabs(r->sigma - 0.03) < 0.01 && r->within_noise,
                 "%s: relative %d, sigma %g, within noise %d", relative[k].formula, r->relative,
                 r->sigma, r->within_noise);
        const sl_search_formula *f = &r->formula[0]; // constants by the weights, R2 of plain y
        SL_CHECK(t, f->fit.params == 0 || f->fit.error[0] < 0.02 * fabs(f->fit.value[0]),
                 "%s: %g +- %g", relative[k].formula, f->fit.value[0], f->fit.error[0]);
        double got[CHECK_ROWS];
        SL_MUST(t, sl_expr_eval(got, &t->arena, f->fit.expr, n.x, 60, f->fit.value));
        SL_CHECK(t, fabs(f->fit.r2 - sl_fit_r2(got, &n.problem)) < 1e-12, "R2 %g", f->fit.r2);
        sl_search_result_free(r);
    }
}

/* y independent of the inputs: the best fit is not claimed. */
static void pure_noise_has_no_formula(void **state) {
    sl_fixture *t = *state;
    static noisy_table n;
    const sl_search_options o = SL_SEARCH_OPTIONS_INIT;
    for (int seed = 0; seed < sl_test_iters(t, 8); seed++) {
        static const int rows[] = { 8, 20, 40, 80 };
        sl_search_result *r;
        noisy_table_make(&n, t, "1", 1 + seed % 3, rows[seed % 4], -1, 4, 0);
        for (int i = 0; i < n.problem.rows; i++)
            n.y[i] = sl_rng_normal(&t->rng) + (seed % 2 ? 5 : 0);
        SL_MUST(t, noise_run(&r, &n, NULL, &o, 0));
        SL_CHECK(t, !r->within_noise, "table %d, %d rows: %s, evidence %g", seed,
                 (int)n.problem.rows, formula_text(t, r), r->formula[0].evidence);
        sl_search_result_free(r);
    }
}

static void same_bytes(sl_fixture *t, const sl_search_result *a, const sl_search_result *b,
                       int threads) {
    SL_CHECK(t, a->count == b->count && a->tried == b->tried,
             "%d threads: %d formulas of %d tried, %d of %d", threads, (int)b->count, (int)b->tried,
             (int)a->count, (int)a->tried);
    for (int64_t k = 0; k < a->count; k++) {
        const sl_search_formula *p = &a->formula[k], *q = &b->formula[k];
        size_t bytes = (size_t)p->fit.params * sizeof(double);
        SL_CHECK(t,
                 sl_expr_equal(p->fit.expr, q->fit.expr) && p->fit.params == q->fit.params &&
                     memcmp(p->fit.value, q->fit.value, bytes) == 0 &&
                     memcmp(&p->bits, &q->bits, sizeof p->bits) == 0 &&
                     p->evidence == q->evidence && p->front == q->front,
                 "%d threads: formula %d differs", threads, (int)k);
    }
}

static void answers_do_not_depend_on_threads(void **state) {
    sl_fixture *t = *state;
    static noisy_table n;
    const sl_search_options o = SL_SEARCH_OPTIONS_INIT;
    sl_search_result *one, *many;
    noisy_table_make(&n, t, "x1*x2 + exp(x3)", 3, 80, 0.5, 2, 0.05);
    SL_MUST(t, noise_run(&one, &n, NULL, &o, 0));
    for (int threads = 2; threads <= 3; threads++) {
        sl_pool *pool;
        SL_MUST(t, sl_par_pool_new(&pool, threads));
        SL_MUST(t, noise_run(&many, &n, pool, &o, 0));
        same_bytes(t, one, many, threads);
        sl_search_result_free(many);
        sl_par_pool_free(pool);
    }
    sl_search_result_free(one);
}

static void few_rows_are_enough_for_simple_formulas(void **state) {
    sl_fixture *t = *state;
    static noisy_table n;
    const sl_search_options o = SL_SEARCH_OPTIONS_INIT;
    static const int rows[] = { 6, 8, 12, 20 };
    for (int k = 0; k < SL_LEN(rows); k++) {
        sl_search_result *r;
        noisy_table_make(&n, t, "1.7*x1^2/x2", 2, rows[k], 1, 5, 1e-4);
        SL_MUST(t, noise_run(&r, &n, NULL, &o, 0));
        SL_CHECK(t, r->count && is_structure(t, &r->formula[0], &n), "%d rows: %s", rows[k],
                 formula_text(t, r));
        sl_search_result_free(r);
    }
    for (int few = 3; few <= 5; few++) { // too few for a formula; no fault
        sl_search_result *r;
        noisy_table_make(&n, t, "1.7*x1^2/x2", 2, few, 1, 5, 1e-2);
        SL_MUST(t, noise_run(&r, &n, NULL, &o, 0));
        sl_search_result_free(r);
    }
}

/* Seven rows and two inputs leave four dimensions: a choice among millions of pairs would find
 * chance alone. With more rows pairs are made of all terms. */
static void few_rows_limit_the_pairs_compared(void **state) {
    sl_fixture *t = *state;
    static noisy_table n;
    const sl_search_options o = SL_SEARCH_OPTIONS_INIT;
    int64_t tried[2];
    for (int many = 0; many < 2; many++) {
        sl_search_result *r;
        noisy_table_make(&n, t, "x1 + x2", 2, many ? 14 : 7, 0, 1, 0);
        for (int i = 0; i < n.problem.rows; i++) n.y[i] = sl_rng_uniform(&t->rng);
        SL_MUST(t, noise_run(&r, &n, NULL, &o, 1));
        SL_CHECK(t, !r->within_noise, "%s is claimed", formula_text(t, r));
        tried[many] = r->tried;
        sl_search_result_free(r);
    }
    SL_CHECK(t, tried[0] < 200000 && tried[1] > 5000000, "%lld terms and pairs, then %lld",
             (long long)tried[0], (long long)tried[1]);
}

/* Half of the rows have large errors and a large sigma. */
static void sigma_by_row_is_used(void **state) {
    sl_fixture *t = *state;
    static noisy_table n;
    const sl_search_options o = SL_SEARCH_OPTIONS_INIT;
    for (int absolute = 0; absolute < 2; absolute++) {
        sl_search_result *r;
        noisy_table_make(&n, t, "2.7*x1*x2^2", 2, 80, 1, 5, 0);
        for (int i = 0; i < 80; i++) {
            n.sigma[i] = i % 2 ? 60 : 0.1;
            n.y[i] += n.sigma[i] * sl_rng_normal(&t->rng);
        }
        n.problem.sigma = n.sigma;
        n.problem.sigma_absolute = absolute;
        SL_MUST(t, noise_run(&r, &n, NULL, &o, 0));
        SL_CHECK(t, r->count && is_structure(t, &r->formula[0], &n) && r->within_noise,
                 "absolute %d: %s, within noise %d", absolute, formula_text(t, r), r->within_noise);
        sl_search_result_free(r);
    }
}

static void a_known_sigma_decides(void **state) {
    sl_fixture *t = *state;
    static noisy_table n;
    sl_search_options o = SL_SEARCH_OPTIONS_INIT;
    noisy_table_make(&n, t, "2.7*x1*x2^2", 2, 80, 1, 5, 0);
    for (int i = 0; i < 80; i++) n.y[i] += 0.5 * sl_rng_normal(&t->rng);
    for (int wrong = 0; wrong < 2; wrong++) {
        sl_search_result *r;
        o.sigma = wrong ? 0.1 : 0.5;
        SL_MUST(t, noise_run(&r, &n, NULL, &o, 0));
        SL_CHECK(t, r->within_noise == !wrong, "sigma %g: %s, within noise %d", o.sigma,
                 formula_text(t, r), r->within_noise);
        SL_CHECK(t, wrong || is_structure(t, &r->formula[0], &n), "%s", formula_text(t, r));
        sl_search_result_free(r);
    }
}

/* Constants become exact numbers within what a known sigma resolves, for residuals as large as
 * sigma or a tenth of it. */
static void a_known_sigma_makes_constants_exact(void **state) {
    sl_fixture *t = *state;
    static noisy_table n;
    sl_search_options o = SL_SEARCH_OPTIONS_INIT;
    int exact = 0, tables = 0;
    for (int k = 0; k < 8; k++, tables++) {
        sl_search_result *r;
        double size = k % 2 ? 0.2 : 0.02;
        noisy_table_make(&n, t, "2*x1^2 + 3*x2", 2, 25, 1, 4, 0);
        for (int i = 0; i < 25; i++) n.y[i] += size * sl_rng_normal(&t->rng);
        o.sigma = 0.2;
        SL_MUST(t, noise_run(&r, &n, NULL, &o, 0));
        SL_CHECK(t, r->count && is_structure(t, &r->formula[0], &n), "%s", formula_text(t, r));
        exact += r->formula[0].fit.params == 0;
        sl_search_result_free(r);
    }
    // by two standard errors one constant in twenty stays free
    SL_CHECK(t, exact >= tables - 2, "%d of %d tables with exact constants", exact, tables);
}

static void rounded_tables_are_searched(void **state) {
    sl_fixture *t = *state;
    static noisy_table n;
    const sl_search_options o = SL_SEARCH_OPTIONS_INIT;
    for (int digits = 3; digits <= 6; digits += 3) {
        sl_search_result *r;
        noisy_table_make(&n, t, "2.7*x1*x2^2 + x3/4", 3, 40, 1, 5, 0);
        for (int i = 0; i < 40; i++) {
            char text[32];
            sl_snprintf(text, sizeof text, "%.*e", digits - 1, n.clean[i]);
            n.y[i] = sl_strtod(text, NULL);
        }
        SL_MUST(t, noise_run(&r, &n, NULL, &o, 0));
        SL_CHECK(t, r->count && is_structure(t, &r->formula[0], &n) && r->within_noise,
                 "%d digits: %s, within noise %d", digits, formula_text(t, r), r->within_noise);
        sl_search_result_free(r);
    }
}

static void residuals_with_structure_are_detected(void **state) {
    sl_fixture *t = *state;
    static noisy_table n;
    double r[200];
    int alarms = 0, found = 0, tables = sl_test_iters(t, 40);
    for (int k = 0; k < tables; k++) {
        noisy_table_make(&n, t, "1", 2, 200, 0, 1, 0);
        for (int i = 0; i < 200; i++) r[i] = sl_rng_normal(&t->rng);
        bool structure;
        SL_MUST(
            t, sl_search__noise_has_structure(&structure, r, n.x, 2, n.x[0], 200, 1e-3, &t->arena));
        alarms += structure;
        for (int i = 0; i < 200; i++) r[i] += 2 * sin(6 * n.x[0][i]) * n.x[1][i];
        SL_MUST(
            t, sl_search__noise_has_structure(&structure, r, n.x, 2, n.x[0], 200, 1e-3, &t->arena));
        found += structure;
    }
    SL_CHECK(t, alarms <= 1 + tables / 100 && found == tables, "%d false alarms and %d found of %d",
             alarms, found, tables);
}

/* Structure that x2 multiplies has another sign in every row where x2 has. */
static void structure_of_a_factor_is_detected(void **state) {
    sl_fixture *t = *state;
    static noisy_table n;
    double r[64];
    int alarms = 0, found = 0, tables = sl_test_iters(t, 40);
    for (int k = 0; k < tables; k++) {
        bool structure;
        noisy_table_make(&n, t, "x2*(5 + x1)", 2, 64, -1, 1, 0);
        for (int i = 0; i < 64; i++) r[i] = sl_rng_normal(&t->rng);
        SL_MUST(
            t, sl_search__noise_has_structure(&structure, r, n.x, 2, n.clean, 64, 1e-3, &t->arena));
        alarms += structure;
        for (int i = 0; i < 64; i++)
            r[i] = n.x[1][i] * (sin(9 * n.x[0][i]) + 0.1 * sl_rng_normal(&t->rng));
        SL_MUST(
            t, sl_search__noise_has_structure(&structure, r, n.x, 2, n.clean, 64, 1e-3, &t->arena));
        found += structure;
    }
    SL_CHECK(t, alarms <= 1 + tables / 100 && found >= tables - tables / 20,
             "%d false alarms and %d found of %d", alarms, found, tables);
}

/* Structure in a combination of four inputs shows only along the formula's value. */
static void structure_along_the_value_is_detected(void **state) {
    sl_fixture *t = *state;
    static noisy_table n;
    double r[200], other[200];
    int found = 0, elsewhere = 0, tables = sl_test_iters(t, 20);
    for (int k = 0; k < tables; k++) {
        bool structure;
        noisy_table_make(&n, t, "x1*x2/(x3*x4)", 4, 200, 1, 3, 0);
        for (int i = 0; i < 200; i++) {
            r[i] = sin(12 * log(n.clean[i])) + 0.3 * sl_rng_normal(&t->rng);
            other[i] = sl_rng_uniform(&t->rng);
        }
        SL_MUST(t, sl_search__noise_has_structure(&structure, r, n.x, 4, n.clean, 200, 1e-3,
                                                  &t->arena));
        found += structure;
        SL_MUST(t,
                sl_search__noise_has_structure(&structure, r, n.x, 4, other, 200, 1e-3, &t->arena));
        elsewhere += structure;
    }
    SL_CHECK(t, found == tables && elsewhere < tables / 2, "%d and %d found of %d", found,
             elsewhere, tables);
}

/* With less memory the search does less and reports it; it does not fail. */
static void memory_is_bounded(void **state) {
    sl_fixture *t = *state;
    static noisy_table n;
    sl_search_options o = SL_SEARCH_OPTIONS_INIT;
    noisy_table_make(&n, t, "2*x1*x2", 2, 60, 1, 3, 0.01);
    for (int64_t most = 1000; most < 100000000; most *= 10) {
        sl_search_result *r;
        o.max_memory = most;
        SL_MUST(t, noise_run(&r, &n, NULL, &o, 0));
        SL_CHECK(t, r->memory <= most, "%lld bytes of %lld", (long long)r->memory, (long long)most);
        sl_search_result_free(r);
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(planted_formulas_are_found),
        SL_TEST(relative_errors_are_detected),
        SL_TEST(pure_noise_has_no_formula),
        SL_TEST(answers_do_not_depend_on_threads),
        SL_TEST(few_rows_are_enough_for_simple_formulas),
        SL_TEST(few_rows_limit_the_pairs_compared),
        SL_TEST(sigma_by_row_is_used),
        SL_TEST(a_known_sigma_decides),
        SL_TEST(a_known_sigma_makes_constants_exact),
        SL_TEST(rounded_tables_are_searched),
        SL_TEST(residuals_with_structure_are_detected),
        SL_TEST(structure_of_a_factor_is_detected),
        SL_TEST(structure_along_the_value_is_detected),
        SL_TEST(memory_is_bounded),
    };
    return sl_test_main("search.noise", tests, SL_LEN(tests));
}

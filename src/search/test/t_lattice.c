#include "search/lattice_impl.h"
#include "search_check.h"

static planted table;

/* Levels 0 .. last of the lattice alone, each only while nothing is found. */
static sl_status run_lattice(sl_search_result **out, const planted *p, sl_pool *pool,
                             const sl_search_options *o, int last) {
    return run_method(out, &sl_search__lattice, pool, &p->problem, o, 0, last);
}

/* The formula is found at this level, whatever its outermost constants. */
static void must_find(sl_fixture *t, const char *text, int inputs, const sl_search_grammar *g,
                      int level) {
    sl_search_result *r;
    sl_search_options o = options(SL_SEARCH_EFFORT_HIGH);
    o.grammar = g;
    plant(&table, t, text, inputs, 64, 0.2, 3);
    SL_MUST(t, run_lattice(&r, &table, NULL, &o, level));
    SL_CHECK(t, r->count > 0, "%s: nothing up to level %d", text, level);
    SL_CHECK(t, r->formula[0].exact && holds(t, &table, &r->formula[0]), "%s: found %s", text,
             text_of(t, &r->formula[0]));
    SL_CHECK(t, r->formula[0].level == level, "%s: at level %d, not %d", text, r->formula[0].level,
             level);
    sl_search_result_free(r);
}

/* ---------------------------------------------------------------- every level --------------- */

static const sl_search_grammar small = { SL_UNIVERSE_ALL_OPS, 2, 3, -2, 2 };
static const sl_search_grammar smallest = { SL_UNIVERSE_ALL_OPS, 2, 3, 2, 2 };

/* Formulas whose halves have 0, 1 and 2 constants beside the free ones; three factors; three and
 * four terms. */
static const struct {
    const char *text;
    int level;
} formulas[] = {
    { "4*x2/x1 - 1", 0 },
    { "sin(sqrt(x1))/(x1*x2 + exp(x2))", 0 },
    { "5*x2^2*exp(x1)/sin(x2) - 7*sqrt(x1*x2)", 0 }, // three factors
    { "2*exp(sin(x1)) - 3*x1*exp(x2) + 2", 0 },
    { "sin(x1*(x2 - 2)) + 3*exp(-x2/x1)", 1 },
    { "(x1 - 2)*(exp(2*x2) + 3*x1)", 1 },
    { "x1/x2^2 + 3*exp(x2)*sin(x1) - 5*sqrt(x1)/x2", 1 }, // three terms
    { "exp((x1 + 2)*(x2 - 1)) - 3*sin(x1)/x2", 2 },
    { "x1/x2^2 + 3*exp(x2)*sin(x1) - 5*sqrt(x1)/x2 + 3*x1^2*x2^2", 2 }, // four terms
    { "x1*x2*exp(2*x2)*sin(x1) + 3*x2*sin(x2 - 1)/exp(x1)", 3 },        // three factors
    { "x2^2*exp(x2)*sqrt(x1)/(sin(x1) + 2*x2 - 5)", 4 },                // three factors over a half
    { "(x1 + 2)^2*(exp(x1/x2 + 2*x2^2) + 2)", 4 },                      // a function of a sum
    { "(sqrt(x1/x2 + 2*x2^2 + 1) + 2)/sin(x1)", 4 },
    { "(x1 + 2)^2*(exp(0.37*x1/x2 + 0.73*x2) + 2)", 4 },
    { "x1*sin(x2)*exp(x1)*(x1 + 2) + x1 - 3*x2 + sin(x1 - x2)*exp(x2)", 4 },    // beside the inputs
    { "x1/(x1 - x2 + sqrt(x2)) - sin(2*x2)/(2*exp(x2) - sin(x2 + 2) + 5)", 5 }, // two quotients
    // three constants in a half, beside one of two, of one, and of three factors
    { "exp((x1 + 2)/(2*x2 + 2)) - 3*sin(2*x1)/(x2 + 2)", 7 },
    { "(x2 + 2)*(3*sin((x1 + 2)/(2*x2 + 2)) + 5)", 7 },
    { "(3*sin((x1 + 2)*(2*x2 + 2)) + 5)/exp(2*x2)", 7 },
    { "x1*x2*sin(x2)/(3*exp((x1 + 2)/(2*x2 + 2)) + 5)", 7 },
    { "1/(sin(x1/x2)*(3*exp(2*sin(2*x1 + 2)) + 5))", 7 },
    { "sin((x1 + 2)/(2*x2 + 2))*(3*exp(2*x1) + 3*sin(2*x2) + 5)", 11 },
};

static void each_level_finds_its_formulas(void **state) {
    for (int i = 0; i < SL_LEN(formulas); i++)
        must_find(*state, formulas[i].text, 2, formulas[i].level < 4 ? &small : &smallest,
                  formulas[i].level);
}

static void one_and_three_variables(void **state) {
    sl_search_grammar g = small;
    g.variables = 1;
    must_find(*state, "x1*exp(2*x1) - sin(x1 + 2)", 1, &g, 1);
    g.variables = 3;
    must_find(*state, "x3*exp(x1) - sin(x2*x3)/x1 + 2", 3, &g, 0);
}

static void other_ranges_of_constants(void **state) {
    sl_search_grammar g = { SL_UNIVERSE_ALL_OPS, 2, 3, 15, 17 };
    must_find(*state, "sin(x1 + 17)/x2 - exp(x1*x2)", 2, &g, 1);
    must_find(*state, "x1*sin(16*x2) - exp(x1 - x2)", 2, &g, 1);
}

/* Operators that the grammar lacks are in no formula. */
static void operators_are_those_of_the_grammar(void **state) {
    sl_fixture *t = *state;
    sl_search_grammar g = small;
    sl_search_options o = options(SL_SEARCH_EFFORT_HIGH);
    sl_search_result *r;
    g.ops &= ~(1u << SL_OPERATOR_SIN);
    o.grammar = &g;
    plant(&table, t, "sin(x1*x2) + 2*x1", 2, 64, 0.2, 3);
    SL_MUST(t, run_lattice(&r, &table, NULL, &o, 1));
    SL_CHECK(t, r->count == 0, "found %s", text_of(t, &r->formula[0]));
    sl_search_result_free(r);
}

/* ---------------------------------------------------------------- all of a small grammar ---- */

/* a u + b with each constant there or not. */
static void put_constants(sl_fixture *t, sl_str *s, const char *u, int *budget) {
    bool factor = *budget > 0 && sl_rng_below(&t->rng, 3) == 0;
    *budget -= factor;
    bool summand = *budget > 0 && sl_rng_below(&t->rng, 3) == 0;
    *budget -= summand;
    sl_str_addf(s, "(%s%s%s)", factor ? "-" : "", u,
                !summand                   ? ""
                : sl_rng_below(&t->rng, 2) ? " + 1"
                                           : " - 1");
}

/* A random expression of the grammar, written out by its definition: independent of the enumeration
 * by halves. */
static void put_expression(sl_fixture *t, sl_str *s, int depth, int *budget) {
    static const char *const functions[] = { "exp", "sin", "sqrt" };
    sl_str u = { 0 };
    if (depth == 0) {
        put_constants(t, s, sl_rng_below(&t->rng, 2) ? "x1" : "x2", budget);
        return;
    }
    if (sl_rng_below(&t->rng, 4) == 0) {
        sl_str_addf(&u, "%s(", functions[sl_rng_below(&t->rng, 3)]);
        put_expression(t, &u, depth - 1, budget);
        sl_str_addf(&u, ")");
        put_constants(t, s, sl_str_text(&u), budget);
        sl_str_clear(&u);
        return;
    }
    sl_str_addf(s, "(");
    put_expression(t, s, depth - 1, budget);
    sl_str_addf(s, " %c ", "+-*/"[sl_rng_below(&t->rng, 4)]);
    put_expression(t, s, (int)sl_rng_below(&t->rng, (uint32_t)depth), budget);
    sl_str_addf(s, ")");
}

/* Is y finite, not constant, and its variation larger than rounding? */
static bool is_good(const planted *p) {
    double low = INFINITY, high = -INFINITY, most = 0, least = INFINITY;
    for (int i = 0; i < p->problem.rows; i++) {
        if (!isfinite(p->y[i])) return false;
        low = SL_MIN(low, p->y[i]), high = SL_MAX(high, p->y[i]);
        most = SL_MAX(most, fabs(p->y[i])), least = SL_MIN(least, fabs(p->y[i]));
    }
    return high - low > 1e-3 * most && most < 1e6 && least > 1e-6;
}

static void every_expression_of_depth_two_is_found(void **state) {
    sl_fixture *t = *state;
    const sl_search_grammar g = { SL_UNIVERSE_ALL_OPS, 2, 2, -1, 1 };
    sl_search_options o = options(SL_SEARCH_EFFORT_HIGH);
    o.grammar = &g;
    for (int i = 0; i < sl_test_iters(t, 30);) {
        sl_str text = { 0 };
        sl_search_result *r;
        int budget = 4;
        put_expression(t, &text, 2, &budget);
        plant(&table, t, sl_str_text(&text), 2, 40, 0.3, 2.5);
        if (is_good(&table)) {
            SL_MUST(t, run_lattice(&r, &table, NULL, &o, 9));
            SL_CHECK(t, r->count > 0, "%s: nothing", sl_str_text(&text));
            SL_CHECK(t, holds(t, &table, &r->formula[0]), "%s: found %s", sl_str_text(&text),
                     text_of(t, &r->formula[0]));
            sl_search_result_free(r);
            i++;
        }
        sl_str_clear(&text);
    }
}

/* ---------------------------------------------------------------- nothing false ------------- */

static void random_numbers_have_no_formula(void **state) {
    sl_fixture *t = *state;
    static const int rows[] = { 5, 8, 9, 12, 64 };
    sl_search_options o = options(SL_SEARCH_EFFORT_HIGH);
    o.grammar = &small;
    for (int i = 0; i < SL_LEN(rows) * sl_test_iters(t, 2); i++) {
        sl_search_result *r;
        plant(&table, t, NULL, 1 + i % 2, rows[i % SL_LEN(rows)], 0.2, 3);
        SL_MUST(t, run_lattice(&r, &table, NULL, &o, 1));
        SL_CHECK(t, r->count == 0, "%d rows: %s", rows[i % SL_LEN(rows)],
                 text_of(t, &r->formula[0]));
        sl_search_result_free(r);
    }
}

static void without_a_grammar_there_is_no_lattice(void **state) {
    sl_fixture *t = *state;
    sl_search_options o = options(SL_SEARCH_EFFORT_HIGH);
    sl_search_result *r;
    plant(&table, t, "x1*x2", 2, 64, 0.2, 3);
    SL_MUST(t, run_lattice(&r, &table, NULL, &o, 3));
    SL_CHECK(t, r->count == 0 && r->tried == 0, "%lld halves were tried", (long long)r->tried);
    sl_search_result_free(r);
}

/* Degenerate tables end without a formula and without a fault. */
static void hostile_tables_are_harmless(void **state) {
    sl_fixture *t = *state;
    static const double scale[] = { 0, 1e300, 1e-300, 5e-324, 1 };
    sl_search_options o = options(SL_SEARCH_EFFORT_HIGH);
    o.grammar = &small;
    for (int i = 0; i < SL_LEN(scale); i++) {
        sl_search_result *r;
        plant(&table, t, NULL, 2, 20, -3, 3);
        for (int k = 0; k < 20; k++) table.y[k] = scale[i] * (i == 4 ? k % 2 : table.y[k]);
        SL_MUST(t, run_lattice(&r, &table, NULL, &o, 1));
        SL_CHECK(t, r->count == 0 || holds(t, &table, &r->formula[0]) || scale[i] != 1,
                 "scale %g: %s", scale[i], text_of(t, &r->formula[0]));
        sl_search_result_free(r);
    }
}

/* ---------------------------------------------------------------- threads, memory ----------- */

static void answers_do_not_depend_on_threads(void **state) {
    sl_fixture *t = *state;
    static const struct {
        const char *text;
        const sl_search_grammar *grammar;
        int level;
    } cases[] = {
        { "sin(x1*(x2 - 2)) + 3*exp(-x2/x1)", &small, 1 },
        { "x1/x2^2 + 3*exp(x2)*sin(x1) - 5*sqrt(x1)/x2", &small, 1 },
        { "(x1 - 2)*(exp(2*x2) + 3*x1)", &small, 1 },
        { "(x2 + 2)*(3*sin((x1 + 2)/(2*x2 + 2)) + 5)", &smallest, 7 },
    };
    sl_search_options o = options(SL_SEARCH_EFFORT_HIGH);
    for (int i = 0; i < SL_LEN(cases); i++) {
        sl_search_result *first = NULL, *r;
        o.grammar = cases[i].grammar;
        plant(&table, t, cases[i].text, 2, 64, 0.2, 3);
        for (int threads = 1; threads <= 3; threads++) {
            sl_pool *pool;
            SL_MUST(t, sl_par_pool_new(&pool, threads));
            SL_MUST(t, run_lattice(&r, &table, pool, &o, cases[i].level));
            sl_par_pool_free(pool);
            SL_CHECK(t, r->count > 0, "%s: nothing by %d threads", cases[i].text, threads);
            if (!first) {
                first = r;
                continue;
            }
            const bool same = same_answers(r, first);
            SL_CHECK(t, same, "%s: %d threads find %s", cases[i].text, threads,
                     text_of(t, &r->formula[0]));
            sl_search_result_free(r);
        }
        sl_search_result_free(first);
    }
}

static void memory_stays_below_its_limit(void **state) {
    sl_fixture *t = *state;
    sl_search_options o = options(SL_SEARCH_EFFORT_HIGH);
    o.grammar = &small;
    for (int64_t limit = 1000; limit < 20000000; limit *= 5) {
        sl_search_result *r;
        o.max_memory = limit;
        plant(&table, t, "sin(x1*(x2 - 2)) + 3*exp(-x2/x1)", 2, 64, 0.2, 3);
        int64_t before = sl_mem_bytes();
        sl_mem_peak_reset();
        SL_MUST(t, run_lattice(&r, &table, NULL, &o, 1));
        SL_CHECK(t, r->memory <= limit, "%lld bytes of %lld", (long long)r->memory,
                 (long long)limit);
        // beyond reserved memory: rows, a worker's blocks, the result
        SL_CHECK(t, sl_mem_peak() - before <= limit + 3000000, "%lld bytes of %lld were held",
                 (long long)(sl_mem_peak() - before), (long long)limit);
        SL_CHECK(t, r->count == 0 || holds(t, &table, &r->formula[0]), "%s",
                 text_of(t, &r->formula[0]));
        SL_CHECK(t, limit < 10000000 || r->count > 0, "nothing within %lld bytes",
                 (long long)limit);
        sl_search_result_free(r);
    }
}

static sl_status run_small(sl_search_result **out, const sl_search_options *o) {
    SL_TRY(run_lattice(out, &table, NULL, o, 1));
    sl_search_result_free(*out);
    return SL_OK;
}

static void failing_allocations_are_reported(void **state) {
    sl_fixture *t = *state;
    const sl_search_grammar g = { SL_UNIVERSE_ALL_OPS, 2, 3, 2, 2 };
    sl_search_options o = options(SL_SEARCH_EFFORT_HIGH);
    sl_search_result *r;
    o.grammar = &g;
    plant(&table, t, "sin(x1*(x2 - 2)) + 3*exp(-x2/x1)", 2, 20, 0.2, 3);
    SL_EACH_ALLOCATION(t, run_small(&r, &o));
}

/* ---------------------------------------------------------------- rounded y ----------------- */

static void rounded_y_is_enough(void **state) {
    sl_fixture *t = *state;
    static const char *const cases[] = { "sin(x1*(x2 - 2)) + 3*exp(-x2/x1)",
                                         "sin(sqrt(x1))/(x1*x2 + exp(x2))",
                                         "(x1 - 2)*(exp(2*x2) + 3*x1)" };
    sl_search_options o = options(SL_SEARCH_EFFORT_HIGH);
    o.grammar = &small;
    for (int i = 0; i < SL_LEN(cases); i++) {
        sl_search_result *r;
        plant(&table, t, cases[i], 2, 64, 0.2, 3);
        for (int k = 0; k < 64; k++) {
            char text[64];
            sl_snprintf(text, sizeof text, "%.5e", table.y[k]);
            table.y[k] = sl_strtod(text, NULL);
        }
        SL_MUST(t, run_lattice(&r, &table, NULL, &o, 1));
        SL_CHECK(t, r->count > 0 && holds(t, &table, &r->formula[0]), "%s: %s", cases[i],
                 r->count ? text_of(t, &r->formula[0]) : "nothing");
        sl_search_result_free(r);
    }
}

/* ---------------------------------------------------------------- instruction sets ---------- */

/* Keys are the same bits on every CPU. */
static void kernels_agree(void **state) {
    sl_fixture *t = *state;
    static sl_search__lattice_block block;
    static sl_search__lattice_keys keys[SL_ISA_COUNT];
    const double *v[SL_LATTICE__PROBES];
    const double p[SL_LATTICE__PROBES] = { 0, 1, 0.3, -0.7, 2.1, 0.05 };
    enum { N = 251 };
    for (int k = 0; k < SL_LATTICE__PROBES; k++) {
        v[k] = block.v[k];
        for (int i = 0; i < N; i++)
            block.v[k][i] = sl_rng_normal(&t->rng) * exp(3.0 * sl_rng_normal(&t->rng));
        block.v[k][3] = 1, block.v[k][7] = k == 2 ? NAN : 1,
        block.v[k][9] = k == 4 ? (double)INFINITY : k;
    }
    for (int what = 0; what < 3; what++) {
        for (int isa = 0; isa <= (int)sl_cpu_best(); isa++) {
            const sl_search__lattice_kernels *kernels = sl_search__lattice_kernels_at((sl_isa)isa);
            memset(&keys[isa], 0, sizeof keys[isa]);
            if (what == 0) kernels->affine(&keys[isa], v, N);
            if (what == 1) kernels->project(&keys[isa], v, N, p);
            if (what == 2) kernels->scale(&keys[isa], v, N);
            memset(keys[isa].tag, 0,
                   what == 1 ? 0 : sizeof keys[isa].tag); // may be NaN of either sign
            keys[isa].tag[7] = keys[isa].tag[3] = keys[isa].tag[9] = 0;
            kernels->hash(&keys[isa], N, 6);
            SL_CHECK(t, !memcmp(&keys[isa], &keys[0], sizeof keys[0]), "%s differs, kernel %d",
                     sl_isa_name((sl_isa)isa), what);
        }
        SL_CHECK(t, keys[0].ratio[0][7] == SL_LATTICE__NONE, "NaN has a key");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        SL_TEST(each_level_finds_its_formulas),
        SL_TEST(one_and_three_variables),
        SL_TEST(other_ranges_of_constants),
        SL_TEST(operators_are_those_of_the_grammar),
        SL_TEST(every_expression_of_depth_two_is_found),
        SL_TEST(random_numbers_have_no_formula),
        SL_TEST(without_a_grammar_there_is_no_lattice),
        SL_TEST(hostile_tables_are_harmless),
        SL_TEST(answers_do_not_depend_on_threads),
        SL_TEST(memory_stays_below_its_limit),
        SL_TEST(failing_allocations_are_reported),
        SL_TEST(rounded_y_is_enough),
        SL_TEST(kernels_agree),
    };
    return sl_test_main("search.lattice", tests, SL_LEN(tests));
}

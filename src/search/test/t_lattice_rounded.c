/* The lattice where y has few digits. */
#include "search/lattice_impl.h"
#include "search_check.h"

static planted table;

static const sl_search_grammar small = { SL_UNIVERSE_ALL_OPS, 2, 3, 2, 2 };
static sl_search_grammar grammar = { SL_UNIVERSE_ALL_OPS, 2, 3, 2, 2 }; // of the next search

enum { ROWS = 64 };

static void round_y(planted *p, int digits) {
    for (int k = 0; k < p->problem.rows; k++) {
        char text[64];
        sl_snprintf(text, sizeof text, "%.*e", digits - 1, p->y[k]);
        p->y[k] = sl_strtod(text, NULL);
    }
}

/* Levels of the lattice alone, y of six digits. */
static sl_status search(sl_search_result **out, sl_fixture *t, const char *text, uint32_t levels) {
    sl_search_options o = options(SL_SEARCH_EFFORT_HIGH);
    o.grammar = &grammar;
    plant(&table, t, text, 2, ROWS, 0.2, 3);
    round_y(&table, 6);
    return run_levels(out, &sl_search__lattice, NULL, &table.problem, &o, levels);
}

/* Has it the truth's values to nearly all digits, and no constant that was fitted? */
static bool is_the_truth(sl_fixture *t, const sl_search_formula *f) {
    static double got[ROWS_MAX], want[ROWS_MAX];
    bool good = f->exact && f->fit.params == 0;
    SL_MUST(t, sl_expr_eval(got, &t->arena, f->fit.expr, table.column, ROWS, f->fit.value));
    SL_MUST(t, sl_expr_eval(want, &t->arena, table.formula, table.column, ROWS, NULL));
    for (int i = 0; i < ROWS; i++) good = good && fabs(got[i] - want[i]) <= 1e-11 * fabs(want[i]);
    return good;
}

static void must_find(sl_fixture *t, const char *text, uint32_t levels) {
    sl_search_result *r;
    SL_MUST(t, search(&r, t, text, levels));
    SL_CHECK(t, r->count > 0 && is_the_truth(t, &r->formula[0]), "%s: %s", text,
             r->count ? text_of(t, &r->formula[0]) : "nothing");
    sl_search_result_free(r);
}

/* ---------------------------------------------------------------- coefficients -------------- */

/* Coefficients that come from integer constants inside functions become exact numbers. */
static void coefficients_become_exact_numbers(void **state) {
    must_find(*state, "x2/x1 - 2*x1*exp(x2) + 1", 1);
    must_find(*state, "x1^2/9 - x2*sqrt(x1)*14/3 + 5/49", 1);
    must_find(*state, "x2*exp(x1 - 7/2) - 4*x1/x2", 1);
    must_find(*state, "sqrt(7*x1)*x2 - 3*sin(x1)", 1);
    must_find(*state, "1/(exp(x1^2)*(x2/x1 + 9))", 1);
}

/* A term of a few roundings' size may be confused with another one. */
static void a_term_of_few_digits_is_not_sure(void **state) {
    sl_fixture *t = *state;
    for (int small_term = 0; small_term < 2; small_term++) {
        sl_search__lattice_linear m = { .columns = 2, .rows = ROWS, .size = 1e5 };
        sl_search__lattice_number number[SL_LATTICE__COLUMNS];
        double coefficient[SL_LATTICE__COLUMNS];
        bool sure;
        for (int r = 0; r < ROWS; r++) {
            double x = sl_rng_range(&t->rng, 0, 3);
            m.column[0][r] = exp(x), m.column[1][r] = sin(7 * x);
            m.t[r] = nearbyint(1000 * exp(x) + (small_term ? 5 : 5000) * sin(7 * x));
            m.reach[r] = 0.8, m.w[r] = 1;
        }
        SL_MUST(t, sl_search__lattice_snap(&sure, coefficient, number, &t->arena, &m));
        SL_CHECK(t, coefficient[0] == 1000 && number[0].times.num == 1000, "%g", coefficient[0]);
        SL_CHECK(t, sure == !small_term, "%g sin(7 x) is sure: %d", coefficient[1], sure);
    }
}

/* ---------------------------------------------------------------- sums ---------------------- */

/* Terms of different sizes, of which keys have few digits. */
static void small_terms_are_found(void **state) {
    must_find(*state, "x1^3*x2^2 + sin(2*exp(x2))/8 - 8", 3);
}

/* Three and five terms by least squares, the last of three with a constant of its own. */
static void sums_of_terms_are_found(void **state) {
    must_find(*state, "9*x1^2 - x1*x2 + 3*sin(2*sqrt(x2)) + 8", 3);
    must_find(*state, "x1*x2 - 3*sqrt(x1) + 4*exp(x2) - sin(x1)/2 + 3*x2^2 + 1", 3);
}

/* ---------------------------------------------------------------- other forms --------------- */

/* Functions of a half, and a quotient beside a term. */
static void inverses_and_quotients_are_found(void **state) {
    grammar.ops = 1u << SL_OPERATOR_ADD | 1u << SL_OPERATOR_SUB | 1u << SL_OPERATOR_MUL |
                  1u << SL_OPERATOR_DIV | 1u << SL_OPERATOR_EXP;
    must_find(*state, "(x1 + 2)^2*(exp(x1/x2 - x2^2) + 2)", 0x17);
    must_find(*state, "x1/(x1 - x2 + exp(x2)) - exp(2*x2)/(2*exp(x1) - x1*x2 + 5)", 0x27);
    grammar = small;
}

/* ---------------------------------------------------------------- false claims -------------- */

/* Smooth functions outside of the grammar: close approximations are not claimed. */
static void other_functions_are_not_claimed(void **state) {
    sl_fixture *t = *state;
    static const char *const cases[] = { "tanh(x1*x2 + 0.3)", "log(x1 + 1.7*x2)/(x2 + 0.61)" };
    for (int i = 0; i < SL_LEN(cases); i++) {
        sl_search_result *r;
        SL_MUST(t, search(&r, t, cases[i], 3));
        SL_CHECK(t, r->count == 0, "%s: %s", cases[i], text_of(t, &r->formula[0]));
        sl_search_result_free(r);
    }
}

/* ---------------------------------------------------------------- limits -------------------- */

static void memory_stays_below_its_limit(void **state) {
    sl_fixture *t = *state;
    sl_search_options o = options(SL_SEARCH_EFFORT_HIGH);
    o.grammar = &small;
    for (int64_t limit = 10000; limit < 20000000; limit *= 30) {
        sl_search_result *r;
        o.max_memory = limit;
        plant(&table, t, "tanh(x1*x2 + 0.3)", 2, ROWS, 0.2, 3);
        round_y(&table, 6);
        int64_t before = sl_mem_bytes();
        sl_mem_peak_reset();
        SL_MUST(t, run_levels(&r, &sl_search__lattice, NULL, &table.problem, &o, 3));
        SL_CHECK(t, r->memory <= limit, "%lld bytes of %lld", (long long)r->memory,
                 (long long)limit);
        // beyond reserved memory: rows, a worker's blocks, hits, the result
        SL_CHECK(t, sl_mem_peak() - before <= limit + 6000000, "%lld bytes of %lld were held",
                 (long long)(sl_mem_peak() - before), (long long)limit);
        sl_search_result_free(r);
    }
}

static sl_status run_small(const sl_search_options *o) {
    sl_search_result *r;
    SL_TRY(run_levels(&r, &sl_search__lattice, NULL, &table.problem, o, 3));
    sl_search_result_free(r);
    return SL_OK;
}

static void failing_allocations_are_reported(void **state) {
    sl_fixture *t = *state;
    const sl_search_grammar g = { 1u << SL_OPERATOR_ADD | 1u << SL_OPERATOR_MUL, 2, 3, 2, 2 };
    sl_search_options o = options(SL_SEARCH_EFFORT_HIGH);
    o.grammar = &g;
    plant(&table, t, "tanh(x1*x2 + 0.3)", 2, 20, 0.2, 3);
    round_y(&table, 6);
    SL_EACH_ALLOCATION(t, run_small(&o));
}

/* ---------------------------------------------------------------- kernels ------------------- */

/* Keys and dot products are the same bits on every CPU, and a half and its negative have one key.
 */
static void kernels_agree(void **state) {
    sl_fixture *t = *state;
    enum { N = 251, LENGTH = 16 };
    static sl_search__lattice_block block, negative;
    static sl_search__lattice_keys keys[SL_ISA_COUNT], other;
    static double out[SL_ISA_COUNT][N];
    const double *v[SL_LATTICE__PROBES], *minus[SL_LATTICE__PROBES];
    const double p[SL_LATTICE__PROBES] = { 0, 1, 0.3, -0.7, 2.1, 0.05 };
    const double error[SL_LATTICE__PROBES] = { 1e-6, 2e-6, 1e-6, 3e-6, 1e-6, 1e-6 };
    for (int k = 0; k < SL_LATTICE__PROBES; k++) {
        v[k] = block.v[k], minus[k] = negative.v[k];
        for (int i = 0; i < N; i++) {
            block.v[k][i] = sl_rng_normal(&t->rng) * exp(3.0 * sl_rng_normal(&t->rng));
            negative.v[k][i] = -2 * block.v[k][i];
        }
    }
    const double *part[] = { block.v[0], block.v[1], block.v[2], block.v[3] };
    const sl_search__lattice_meeting m = { 0.3, -0.2, 0.9, 1.4, 0.1, 0.5 };
    for (int isa = 0; isa <= (int)sl_cpu_best(); isa++) {
        const sl_search__lattice_kernels *kernels = sl_search__lattice_kernels_at((sl_isa)isa);
        for (int what = 0; what < 2; what++) {
            for (int i = 0; i < 2; i++) {
                sl_search__lattice_keys *to = i ? &other : &keys[isa];
                const double *const *from = i ? minus : v;
                memset(to, 0, sizeof *to);
                if (what == 0) kernels->affine_rounded(to, from, N, error, from, 1e-5);
                if (what == 1) kernels->project_rounded(to, from, N, p, error, 1e-5);
            }
            SL_CHECK(t, !memcmp(&keys[isa], &keys[0], sizeof keys[0]) || isa > 0, "kernel %d",
                     what);
            for (int i = 0; i < N; i++)
                SL_CHECK(t, fabsf(keys[isa].ratio[1][i] - other.ratio[1][i]) < 1e-6f,
                         "kernel %d: %g beside %g", what, (double)keys[isa].ratio[1][i],
                         (double)other.ratio[1][i]);
        }
        kernels->dots(out[isa], 1, block.v[0], block.v[1], N / LENGTH, LENGTH);
        SL_CHECK(t, !memcmp(out[isa], out[0], sizeof out[0]), "dots differ");
        int64_t found = 0;
        for (int i = 0; i < N; i++)
            found +=
                sl_search__lattice_explains(&m, part[0][i], part[1][i], part[2][i], part[3][i]);
        SL_CHECK(t, kernels->explained(&m, part, N) == found && found > 0 && found < N,
                 "%lld terms explain it", (long long)found);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        SL_TEST(coefficients_become_exact_numbers),
        SL_TEST(a_term_of_few_digits_is_not_sure),
        SL_TEST(small_terms_are_found),
        SL_TEST(sums_of_terms_are_found),
        SL_TEST(inverses_and_quotients_are_found),
        SL_TEST(other_functions_are_not_claimed),
        SL_TEST(memory_stays_below_its_limit),
        SL_TEST(failing_allocations_are_reported),
        SL_TEST(kernels_agree),
    };
    return sl_test_main("search.lattice_rounded", tests, SL_LEN(tests));
}

#include "search/quotients_impl.h"
#include "search_check.h"

static planted table;
static const sl_search_grammar small = { SL_UNIVERSE_ALL_OPS, 2, 3, -2, 2 };

static sl_search_options with_grammar(void) {
    sl_search_options o = options(SL_SEARCH_EFFORT_HIGH);
    o.grammar = &small;
    return o;
}

static sl_status run_quotients(sl_search_result **out, sl_pool *pool, const sl_search_options *o,
                               int from, int to) {
    return run_method(out, &sl_search__quotients, pool, &table.problem, o, from, to);
}

static const at_level formulas[] = {
    // a sum of inputs and functions below
    { "3*(x1 + 1)/(x1 + exp(x2)) - 2*sin(x2)/(x1 + exp(x2) + 2)", 2, 0 },
    { "x1*x2/(sin(x1) + 2*x2) + exp(x1)/(sin(x1 + 2) + x2)", 2, 0 },
    // three parts below
    { "x2/(x1 + x2 + sqrt(x1 + 2)) - 5*exp(x1)/(x1 + 2*x2 + sqrt(x1))", 2, 0 },
    // a product below, and a product of it with a sum
    { "x1/(x2*(sin(x1) + 2)) + exp(x2)/((x2 + 1)*sin(x1))", 2, 0 },
    { "x1*sqrt(x2)/(x1 + sqrt(x2) + 1) - 7/(x2*(x1 + 2*sqrt(x2)))", 2, 0 },
    // functions of depth 2
    { "x1/sin(2*exp(x2)) - 3*x2/sin(exp(x2 - 2))", 2, 0 },
    { "(x2 + 2)*exp(sin(x1)) + 4*x1*exp(sin(x1 + 1))", 2, 0 },
    { "x2*(exp(sin(x1)) + 2) + 4*x1*exp(sin(x1 + 1))", 2, 0 },
    { "x2/sqrt(x1 + x2 + 2) + exp(x1)/sqrt(x1 + 2*x2)", 2, 0 },
    // products alone; an exponent that both halves make
    { "x1*exp(-2*x2)*sin(x1) - 3*x2*exp(-x2)*sin(x1 + 1)", 2, 0 },
    { "(x1 - 2)^3/(x1 + x2) + 5*x2*x1^2/(2*x1 + x2)", 2, 0 },
    // one input
    { "x1^2/(exp(x1) + 2*x1) - 3*sin(x1 + 1)/(exp(x1) + x1)", 1, 0 },
    // two constants in a term
    { "(exp(x2) + 2)*x1/(x1 + sqrt(x2) + 1) - 3*x2/(2*x1 + sqrt(x2) - 2)", 2, 1 },
    { "sin(2*x1 + 1)/(x1*x2 + exp(x1)) + 3*x2/(2*x1*(x2 + 1) - exp(x1))", 2, 1 },
    // 2 x1 in the base
    { "x2/(4*x1 + sin(x2)) - 3*exp(x1)/(4*x1 + sin(x2) + 2)", 2, 1 },
    // three terms, up to one constant in each
    { "x1/(2*x1 + exp(x2)) - 3*x2/(x1 + exp(x2) + 1) + 5*exp(2*x1)/(x1 + exp(x2))", 2, 2 },
    { "(x1 - 2)*sin(exp(x2)) + 4*x2*sin(2*exp(x2)) - sqrt(x1)*sin(exp(x2 + 1))", 2, 2 },
    // one has none, the others two
    { "x1/(x1 + exp(x2)) - 3*x2/(2*x1 + exp(x2) + 1) + 5*exp(2*x1)/(x1 + exp(x2) - 2)", 2, 4 },
    { "x1/(2*x1 + exp(x2) + 1) - 3*x2/(x1 + exp(x2)) + 5*exp(2*x1)/(x1 + exp(x2) - 2)", 2, 4 },
    // two terms, three constants in one
    { "x1/(2*x1 + x2^2) + 3*exp(2*x1)/(x2^2 - 2*x1 + 1)", 2, 3 },
};

static void each_level_finds_its_formulas(void **state) {
    sl_fixture *t = *state;
    const sl_search_options o = with_grammar();
    find_each(t, &table, &sl_search__quotients, &o, formulas, SL_LEN(formulas), 0, 0.3, 2.5);
}

static void random_numbers_have_no_formula(void **state) {
    sl_fixture *t = *state;
    const sl_search_options o = with_grammar();
    for (int i = 0; i < 3; i++) {
        sl_search_result *r;
        plant(&table, t, NULL, 1 + i % 2, 16 << i, 0.3, 2.5);
        SL_MUST(t, run_quotients(&r, NULL, &o, 0, i == 0 ? 4 : 2));
        SL_CHECK(t, r->count == 0 && r->tried > 0, "%s", text_of(t, &r->formula[0]));
        sl_search_result_free(r);
    }
}

/* Smooth functions of no structure, and y of one term or none: two terms come close, no more. */
static void smooth_functions_are_not_taken_for_quotients(void **state) {
    sl_fixture *t = *state;
    static const char *const cases[] = { "log(x1 + 3)", "tanh(x1/3) + x2", "x1^1.37 + 2*x2",
                                         "atan(x1*x2)" };
    const sl_search_options o = with_grammar();
    for (int i = 0; i < SL_LEN(cases); i++) {
        sl_search_result *r;
        plant(&table, t, cases[i], 2, 64, 1, 1.05);
        SL_MUST(t, run_quotients(&r, NULL, &o, 0, 2));
        SL_CHECK(t, r->count == 0, "%s: %s", cases[i], text_of(t, &r->formula[0]));
        sl_search_result_free(r);
    }
}

static void hostile_tables_are_harmless(void **state) {
    sl_fixture *t = *state;
    const sl_search_options o = with_grammar();
    for (int i = 0; i < 12; i++) {
        sl_search_result *r;
        plant_hostile(&table, t, i, 50);
        SL_MUST(t, run_quotients(&r, NULL, &o, 0, 0));
        sl_search_result_free(r);
    }
}

static void other_problems_are_left_alone(void **state) {
    sl_fixture *t = *state;
    sl_search_grammar g = small;
    for (int i = 0; i < 3; i++) {
        sl_search_options o = with_grammar();
        sl_search_result *r;
        plant(&table, t, formulas[0].text, 2, i == 2 ? 11 : 64, 0.3, 2.5);
        g = small, o.grammar = &g;
        if (i == 0) o.grammar = NULL;
        if (i == 1) g.depth = 2;
        SL_MUST(t, run_quotients(&r, NULL, &o, 0, 2));
        SL_CHECK(t, r->count == 0 && r->tried == 0, "%d: %lld terms", i, (long long)r->tried);
        sl_search_result_free(r);
    }
}

static void answers_do_not_depend_on_threads(void **state) {
    sl_fixture *t = *state;
    const sl_search_options o = with_grammar();
    static const int some[] = { 0, 6, 12, 15 };
    for (int k = 0; k < SL_LEN(some); k++) {
        const int f = some[k];
        sl_search_result *r[3];
        plant(&table, t, formulas[f].text, 2, 64, 0.3, 2.5);
        for (int i = 0; i < 3; i++) {
            sl_pool *pool;
            SL_MUST(t, sl_par_pool_new(&pool, 1 + i));
            SL_MUST(t, run_quotients(&r[i], pool, &o, 0, formulas[f].level));
            sl_par_pool_free(pool);
        }
        for (int i = 1; i < 3; i++) {
            const bool same =
                r[0]->count > 0 && r[0]->tried == r[i]->tried && same_answers(r[0], r[i]);
            SL_CHECK(t, same, "%d threads: %lld and %lld formulas", 1 + i, (long long)r[0]->count,
                     (long long)r[i]->count);
        }
        for (int i = 0; i < 3; i++) sl_search_result_free(r[i]);
    }
}

static void memory_stays_below_its_limit(void **state) {
    sl_fixture *t = *state;
    sl_search_options o = with_grammar();
    plant(&table, t, formulas[12].text, 2, 64, 0.3, 2.5);
    for (int64_t limit = 1000; limit < 1000000000; limit *= 10) {
        sl_search_result *r;
        o.max_memory = limit;
        SL_MUST(t, run_quotients(&r, NULL, &o, 0, 1));
        SL_CHECK(t, r->memory <= limit, "%lld bytes of %lld", (long long)r->memory,
                 (long long)limit);
        SL_CHECK(t, (r->count > 0) == (limit >= 100000000), "%lld formulas within %lld bytes",
                 (long long)r->count, (long long)limit);
        SL_CHECK(t, r->count > 0 || r->memory_short.steps > 0, "%lld bytes are enough",
                 (long long)limit);
        sl_search_result_free(r);
    }
}

/* Where memory does not allow a table for each thread fewer work. */
static void threads_share_memory(void **state) {
    sl_fixture *t = *state;
    sl_search_options o = with_grammar();
    sl_search_result *r;
    sl_pool *pool;
    o.max_memory = 100000000;
    plant(&table, t, formulas[12].text, 2, 64, 0.3, 2.5);
    SL_MUST(t, sl_par_pool_new(&pool, 4));
    SL_MUST(t, run_quotients(&r, pool, &o, 0, 1));
    SL_CHECK(t, r->count > 0 && r->memory <= o.max_memory, "%lld formulas within %lld bytes",
             (long long)r->count, (long long)r->memory);
    sl_search_result_free(r);
    sl_par_pool_free(pool);
}

static sl_status run_first(const sl_search_options *o) {
    sl_search_result *r;
    SL_TRY(run_quotients(&r, NULL, o, 0, 0));
    sl_search_result_free(r);
    return SL_OK;
}

static void failing_allocations_are_reported(void **state) {
    sl_fixture *t = *state;
    const sl_search_grammar g = { 1u << SL_OPERATOR_ADD | 1u << SL_OPERATOR_DIV, 2, 3, -1, 1 };
    sl_search_options o = with_grammar();
    o.grammar = &g;
    plant(&table, t, "(x1 - 1)/(x1 + x2) + 3*x2/(x1 + x2 + 1)", 2, 20, 0.3, 2.5);
    SL_EACH_ALLOCATION(t, run_first(&o));
}

/* Bases of one input, its root and +, by hand. */
static void bases_are_those_of_halves(void **state) {
    sl_fixture *t = *state;
    static sl_search__quotients_bases b;
    const sl_search_grammar g = { 1u << SL_OPERATOR_SQRT | 1u << SL_OPERATOR_ADD, 1, 3, -9, 9 };
    SL_MUST(t, sl_search__quotients_make_bases(&b, &g, 1));
    // halves of two terms: x1 + sqrt(x1), 2 x1 + sqrt(x1)
    SL_CHECK(t, b.numerators == 2 && b.simple == 2, "%d numerators", b.numerators);
    SL_CHECK(t, b.numerator[0].power[0] + b.numerator[1].power[0] == 3, "x1 and its root");
    // x1, sqrt(x1), their inverses; 1/(x1 + sqrt(x1)) = x1^(-1/2)/(1 + sqrt(x1)); that with 2 x1
    SL_CHECK(t, b.structures == 6, "%d structures", b.structures);
    int cores = 0;
    for (int i = 0; i < b.structures; i++) {
        const sl_search__quotients_structure *s = &b.structure[i];
        if (s->core.parts == 0) continue;
        cores++;
        SL_CHECK(t, s->core.parts == 2 && s->core.exponent == -1 && s->product.power[0] == -1,
                 "%d parts, exponent %d", s->core.parts, s->core.exponent);
    }
    SL_CHECK(t, cores == 2, "%d cores", cores);
}

/* A filter of every second key passes these, few others, and nothing without a key. */
static void check_sift(sl_fixture *t, const sl_search__quotients_keys *keys, int n) {
    enum { BITS = 10 };
    static uint32_t filter[1 << BITS];
    static uint8_t passed[SL_ISA_COUNT][SL_QUOTIENTS__BLOCK];
    int others = 0;
    for (int i = 0; i < n; i += 2)
        if (keys->check[i])
            filter[keys->place[i] >> (32 - BITS)] |=
                sl_search__quotients_bits(keys->check[i], keys->place[i]);
    for (int isa = 0; isa <= (int)sl_cpu_best(); isa++) {
        const sl_search__quotients_kernels *k = sl_search__quotients_kernels_at((sl_isa)isa);
        k->sift(passed[isa], keys, filter, 32 - BITS, n);
        SL_CHECK(t, !memcmp(passed[isa], passed[0], sizeof passed[0]), "%s differs",
                 sl_isa_name((sl_isa)isa));
    }
    for (int i = 0; i < n; i++) {
        if (i % 2 == 0) SL_CHECK(t, passed[0][i] == (keys->check[i] != 0), "term %d", i);
        others += i % 2 && passed[0][i];
    }
    SL_CHECK(t, others <= 4, "%d of %d others pass", others, n / 2);
}

/* The kernel against its definition, and the same bits on every CPU. */
static void kernels_agree(void **state) {
    sl_fixture *t = *state;
    enum { N = 101, P = SL_QUOTIENTS__PROBES };
    static sl_search__quotients_keys keys[SL_ISA_COUNT];
    static double value[P][2 * N];
    const double *v[P];
    double g[P], p[P], y[P];
    for (int k = 0; k < P; k++) {
        v[k] = value[k], g[k] = sl_rng_normal(&t->rng), y[k] = sl_rng_range(&t->rng, 1, 2);
        p[k] = y[k] / y[0];
        // the second half: the first one times 3 plus a multiple of y
        for (int i = 0; i < N; i++) {
            value[k][i] = sl_rng_normal(&t->rng);
            value[k][N + i] = 3 * value[k][i] + (i - 50) * y[k] / g[k];
        }
    }
    value[2][7] = INFINITY;
    for (int isa = 0; isa <= (int)sl_cpu_best(); isa++) {
        sl_search__quotients_kernels_at((sl_isa)isa)->keys(&keys[isa], v, 2 * N, g, p);
        SL_CHECK(t, !memcmp(&keys[isa], &keys[0], sizeof keys[0]), "%s differs",
                 sl_isa_name((sl_isa)isa));
    }
    SL_CHECK(t, keys[0].check[7] == 0, "a key of what is not finite");
    int same = 0;
    for (int i = 0; i < N; i++) {
        double e1 = value[1][i] * g[1] - p[1] * value[0][i] * g[0];
        double share = value[0][i] * g[0] / e1;
        if (i == 7) continue;
        SL_CHECK(t, fabs(share - (double)keys[0].share[i]) <= 1e-6 * fabs(share), "share %g",
                 share);
        same +=
            keys[0].check[i] == keys[0].check[N + i] && keys[0].place[i] == keys[0].place[N + i];
        bool equal =
            fabsf(keys[0].share[i] - keys[0].share[N + i]) <= 1e-5f * fabsf(keys[0].share[i]);
        SL_CHECK(t, equal == (i == 50), "the share of y in term %d", i);
    }
    SL_CHECK(t, same >= N - 2, "%d of %d terms keep their key", same, N - 1);
    check_sift(t, &keys[0], N);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        SL_TEST(bases_are_those_of_halves),
        SL_TEST(kernels_agree),
        SL_TEST(each_level_finds_its_formulas),
        SL_TEST(random_numbers_have_no_formula),
        SL_TEST(smooth_functions_are_not_taken_for_quotients),
        SL_TEST(hostile_tables_are_harmless),
        SL_TEST(other_problems_are_left_alone),
        SL_TEST(answers_do_not_depend_on_threads),
        SL_TEST(memory_stays_below_its_limit),
        SL_TEST(threads_share_memory),
        SL_TEST(failing_allocations_are_reported),
    };
    return sl_test_main("search.quotients", tests, SL_LEN(tests));
}

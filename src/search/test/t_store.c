#include "store_check.h"

/* ---------------------------------------------------------------- values -------------------- */

/* Every family of terms at its levels, and every part. */
static void check_store(sl_fixture *t, const sl_store *s, int level) {
    static sl_store_term term[SL_STORE_BATCH];
    for (int f = 0; f < sl_search__store_n_families; f++) {
        const sl_search__store_family *family = &sl_search__store_families[f];
        for (int l = 0; l <= level; l++) {
            sl_search__store_range r;
            if (!sl_search__store_range_begin(&r, s, family, l)) continue;
            const int n = sl_search__store_range_next(term, NULL, SL_STORE_BATCH, &r);
            for (int i = 0; n && i < sl_test_iters(t, 15); i++)
                check_value(t, s, family->text, term[sl_rng_below(&t->rng, (uint32_t)n)]);
        }
    }
    for (int i = 0; i < sl_test_iters(t, 80); i++)
        check_value(t, s, "part",
                    sl_search__store_term(s, sl_rng_below(&t->rng, (uint32_t)s->parts)));
}

static void values_are_those_of_expressions(void **state) {
    sl_fixture *t = *state;
    static const struct {
        int variables;
        double low, high;
    } cases[] = { { 1, 0.5, 4 }, { 2, -3, 3 }, { 3, 1, 5 }, { 5, 0.1, 2 }, { 16, -1, 2 } };
    for (int i = 0; i < SL_LEN(cases); i++) {
        const int level = cases[i].variables <= 2 ? SL_STORE__DECAYS_FROM : 5;
        sl_store *s = open_store(t, NULL, cases[i].variables, cases[i].low, cases[i].high, level);
        check_store(t, s, level);
        sl_search__store_close(s);
    }
}

/* Every family has terms, else the test above does not cover it; those of hints are tested with
 * hints. */
static void no_family_is_empty(void **state) {
    sl_fixture *t = *state;
    static const int level[2] = { SL_STORE__DECAYS_FROM, 5 };
    sl_store *s[2] = { open_store(t, NULL, 2, 1, 3, level[0]), NULL };
    bool used[256] = { false };
    SL_CHECK(t, sl_search__store_n_families <= 256, "%d families", sl_search__store_n_families);
    for (int i = 0; i < 2; i++) {
        if (i) s[1] = open_store(t, NULL, 4, 1, 3, level[1]);
        for (int f = 0; f < sl_search__store_n_families; f++)
            for (int l = 0; l <= level[i]; l++) {
                sl_search__store_range r;
                sl_store_term one;
                if (sl_search__store_range_begin(&r, s[i], &sl_search__store_families[f], l))
                    used[f] = used[f] || sl_search__store_range_next(&one, NULL, 1, &r) == 1;
            }
    }
    for (int f = 0; f < sl_search__store_n_families; f++)
        SL_CHECK(t,
                 used[f] || sl_search__store_families[f].first == SL_LIST_HINTS ||
                     sl_search__store_families[f].second == SL_LIST_HINTS,
                 "family %d, %s, has no term", f, sl_search__store_families[f].text);
    sl_search__store_close(s[1]);
    sl_search__store_close(s[0]);
}

/* What is large, infinite, not real or constant has no value. */
static void values_that_mean_nothing_are_refused(void **state) {
    sl_fixture *t = *state;
    static sl_store_term term[SL_STORE_BATCH];
    sl_store *s = open_store(t, NULL, 2, -20, 20, 4);
    int refused = 0;
    for (int l = 0; l <= 4; l++) {
        for (int side = 0; side < 2; side++) {
            sl_store_walk w;
            int n;
            sl_search__store_walk_begin(&w, s, (sl_side)side, l);
            while ((n = sl_search__store_walk_next(term, NULL, SL_STORE_BATCH, &w)) > 0) {
                for (int i = 0; i < n; i++) {
                    double v[SL_STORE_MAX_PROBES], low = INFINITY, high = -INFINITY;
                    bool exponent, good = sl_search__store_term_value(v, &exponent, s, term[i]);
                    refused += !good;
                    for (int k = 0; good && k < s->stride; k++) {
                        SL_CHECK(t, isfinite(v[k]), "%s is %g", text_of(t, s, term[i]), v[k]);
                        low = fmin(low, v[k]), high = fmax(high, v[k]);
                    }
                    SL_CHECK(t, !good || low < high, "%s is constant", text_of(t, s, term[i]));
                }
            }
        }
    }
    SL_CHECK(t, refused > 100, "only %d terms of a table from -20 to 20 are refused", refused);
    sl_search__store_close(s);
}

/* ---------------------------------------------------------------- walks --------------------- */

static int cmp_term(const void *a, const void *b) {
    const sl_store_term p = *(const sl_store_term *)a, q = *(const sl_store_term *)b;
    return (p > q) - (p < q);
}

static bool pair_fits(int pairs, size_t i, size_t j) {
    switch (pairs) {
    case SL_PAIRS_DISTINCT: return i != j;
    case SL_PAIRS_UP: return j > i;
    case SL_PAIRS_DOWN: return j < i;
    case SL_PAIRS_DOWN_OR_SAME: return j <= i;
    default: return true;
    }
}

/* The least power of every variable in both monomials of a binomial: is it 0? */
static bool is_coprime(const sl_store *s, sl_store_term binomial) {
    const int8_t *a =
        s->exponents.row[sl_search__term_a(sl_search__store_term(s, sl_search__term_a(binomial)))];
    const int8_t *b =
        s->exponents.row[sl_search__term_a(sl_search__store_term(s, sl_search__term_b(binomial)))];
    bool coprime = true;
    for (int v = 0; v < s->variables; v++) coprime = coprime && SL_MIN(a[v], b[v]) == 0;
    return coprime;
}

static bool is_whole(sl_store_term binomial) {
    const double c = sl_search__store_get_constant((int)sl_search__term_constant(binomial));
    return c >= 1 || c <= -1;
}

static bool second_fits(const sl_store *s, int pairs, sl_store_term t) {
    if (pairs == SL_PAIRS_WHOLE) return is_whole(t);
    return pairs != SL_PAIRS_PRIMITIVE || (is_whole(t) && is_coprime(s, t));
}

static bool first_fits(const sl_store *s, int firsts, sl_store_term t) {
    const bool sum =
        sl_search__term_form(t) == SL_FORM_SUM || sl_search__term_form(t) == SL_FORM_ONE_SCALED;
    const unsigned f = sl_search__term_function(t);
    const bool power = sl_search__term_form(t) == SL_FORM_FUNCTION &&
                       (f == SL_STORE__RECIPROCAL || f == SL_STORE__SQRT || f == SL_STORE__SQUARE ||
                        f == SL_STORE__RSQRT || f == SL_STORE__RSQUARE);
    switch (firsts) {
    case SL_FIRST_UNSCALED: return sum || sl_search__term_constant(t) == 0;
    case SL_FIRST_NO_POWER: return !power;
    case SL_FIRST_SUM: return sum;
    case SL_FIRST_COPRIME: return is_coprime(s, t);
    case SL_FIRST_WHOLE: return is_whole(t);
    case SL_FIRST_PRIMITIVE: return is_whole(t) && is_coprime(s, t);
    default: return true;
    }
}

/* All tuples up to this level, by three loops. Returns how many. */
static size_t naive(sl_store_term *out, size_t room, const sl_store *s,
                    const sl_search__store_family *f, int level) {
    const sl_search__store_list *a = sl_search__store_list_of(s, f->first),
                                *b = sl_search__store_list_of(s, f->second);
    const sl_search__store_list *c = &s->list[f->choices];
    const double high = ldexp(1, level + f->ahead);
    size_t n = 0;
    if (!sl_search__store_family_open(s, f) || level < f->first_level || level + f->ahead < 0)
        return 0;
    for (size_t i = 0; i < a->count; i++)
        for (size_t j = 0;
             j < b->count && first_fits(s, f->firsts, sl_search__store_term(s, a->id[i])); j++) {
            if (f->second < SL_LIST_PARTS &&
                !second_fits(s, f->pairs, sl_search__store_term(s, b->id[j])))
                continue;
            if ((double)a->rank[i] * b->rank[j] > high || !pair_fits(f->pairs, i, j)) continue;
            for (size_t k = 0; k < c->count; k++)
                if ((double)a->rank[i] * b->rank[j] * c->rank[k] <= high && n < room)
                    out[n++] =
                        sl_search__term_make(f->exponent, (sl_store_form)f->form, c->id[k],
                                             a->id[i], f->second < SL_LIST_PARTS ? b->id[j] : 0);
        }
    return n;
}

static void levels_partition_the_tuples(void **state) {
    sl_fixture *t = *state;
    enum { ROOM = 1 << 20, LEVEL = 4 };
    sl_store_term *mine = sl_malloc(ROOM, sizeof *mine),
                  *reference = sl_malloc(ROOM, sizeof *reference);
    float cost[97];
    sl_store *s = open_store(t, NULL, 2, 1, 3, LEVEL);
    for (int f = 0; f < sl_search__store_n_families; f++) {
        const sl_search__store_family *family = &sl_search__store_families[f];
        size_t n = 0;
        for (int l = 0; l <= LEVEL; l++) {
            sl_search__store_range r;
            int got;
            if (!sl_search__store_range_begin(&r, s, family, l)) continue;
            const int room = 1 + (int)sl_rng_below(&t->rng, 97);
            while ((got = sl_search__store_range_next(mine + n, cost, room, &r)) > 0) {
                for (int i = 0; i < got; i++)
                    SL_CHECK(t,
                             cost[i] <= (float)l + 1e-4f &&
                                 (l == family->first_level || cost[i] > (float)(l - 1) - 1e-4f ||
                                  l + family->ahead == 0),
                             "%s of cost %g at level %d", family->text, cost[i], l);
                n += (size_t)got;
                SL_CHECK(t, n + 97 < ROOM, "family %s is too large for the test", family->text);
            }
        }
        const size_t m = naive(reference, ROOM, s, family, LEVEL);
        qsort(mine, n, sizeof *mine, cmp_term);
        qsort(reference, m, sizeof *reference, cmp_term);
        SL_CHECK(t, n == m && memcmp(mine, reference, n * sizeof *mine) == 0,
                 "family %s: levels have %zu tuples, loops %zu", family->text, n, m);
    }
    sl_search__store_close(s);
    sl_free(reference);
    sl_free(mine);
}

/* The walk over a side is its families one after the other, whatever the room. */
static void walks_do_not_depend_on_room(void **state) {
    sl_fixture *t = *state;
    static sl_store_term big[SL_STORE_BATCH], small[SL_STORE_BATCH];
    sl_store *s = open_store(t, NULL, 3, 1, 3, 2);
    for (int side = 0; side < 2; side++) {
        sl_store_walk w;
        int n = 0, got, m = 0, simple = 0;
        sl_search__store_walk_begin(&w, s, (sl_side)side, 1);
        n = sl_search__store_walk_next(big, NULL, SL_STORE_BATCH, &w);
        const int expected = w.simple;
        SL_CHECK(t, n > 300 && n < SL_STORE_BATCH, "%d terms", n);
        SL_CHECK(t, sl_search__store_walk_next(big, NULL, SL_STORE_BATCH, &w) == 0,
                 "goes on after its end");
        sl_search__store_walk_begin(&w, s, (sl_side)side, 1);
        n = sl_search__store_walk_next(big, NULL, SL_STORE_BATCH, &w);
        sl_search__store_walk_begin(&w, s, (sl_side)side, 1);
        while ((got = sl_search__store_walk_next(small + m, NULL, 1 + m % 5, &w)) > 0)
            m += got, simple += w.simple;
        SL_CHECK(t, m == n && memcmp(big, small, (size_t)n * sizeof *big) == 0,
                 "%d terms by small steps, %d by large ones", m, n);
        SL_CHECK(t, simple == expected && simple > 0, "%d simple terms, not %d", simple, expected);
    }
    sl_search__store_close(s);
}

/* The first level has all that is below it: leaving that out loses the simplest formulas. */
static void simple_terms_come_early(void **state) {
    sl_fixture *t = *state;
    static const struct {
        sl_side side;
        int level;
        const char *text;
    } cases[] = {
        { SL_SIDE_PRODUCT, 0, "exp(x1)" },        { SL_SIDE_PRODUCT, 0, "1 + x2" },
        { SL_SIDE_PRODUCT, 0, "sin(x1)" },        { SL_SIDE_PRODUCT, 0, "1 - x1^2" },
        { SL_SIDE_PRODUCT, 0, "x1 + x2" },        { SL_SIDE_PRODUCT, 0, "x1 - x2" },
        { SL_SIDE_PRODUCT, 1, "exp(x1/x2) - 1" }, { SL_SIDE_SUM, 0, "x1/x2" },
        { SL_SIDE_SUM, 0, "sqrt(x1)*x2" },        { SL_SIDE_SUM, 0, "sin(x1*x2)" },
        { SL_SIDE_SUM, 0, "1/(x1 + x2)" },        { SL_SIDE_SUM, 0, "x1*sin(x2)" },
        { SL_SIDE_SUM, 3, "sqrt(x1^2 + x2^2)" },  { SL_SIDE_SUM, 1, "exp(-x1*x2)" },
        { SL_SIDE_PRODUCT, 1, "1 + x1*cos(x2)" }, { SL_SIDE_SUM, 0, "sin(x1 + x2)" },
    };
    static sl_store_term term[SL_STORE_BATCH];
    sl_store *s = open_store(t, NULL, 2, 1, 3, 3);
    for (int i = 0; i < SL_LEN(cases); i++) {
        double y[SL_STORE_MAX_PROBES], v[SL_STORE_MAX_PROBES];
        bool found = false, exponent;
        SL_MUST(t, sl_expr_eval(y, &t->arena, parsed(t, cases[i].text), problem.job.rows.x, PROBES,
                                NULL));
        for (int l = 0; l <= cases[i].level && !found; l++) {
            sl_store_walk w;
            int n;
            sl_search__store_walk_begin(&w, s, cases[i].side, l);
            while (!found && (n = sl_search__store_walk_next(term, NULL, SL_STORE_BATCH, &w)) > 0)
                for (int k = 0; k < n && !found; k++) {
                    found = sl_search__store_term_value(v, &exponent, s, term[k]);
                    for (int p = 0; p < PROBES && found; p++) {
                        const double value = exponent ? exp(v[p]) : v[p];
                        const double off =
                            cases[i].side == SL_SIDE_SUM ? value - y[p] : fabs(value) - fabs(y[p]);
                        found = fabs(off) < 1e-12 * fabs(y[p]);
                    }
                }
        }
        SL_CHECK(t, found, "%s is no term of %s up to level %d", cases[i].text,
                 cases[i].side == SL_SIDE_PRODUCT ? "products" : "sums", cases[i].level);
    }
    sl_search__store_close(s);
}

/* ---------------------------------------------------------------- lists --------------------- */

static uint64_t fingerprint(const sl_store *s) {
    uint64_t h = s->parts;
    for (int i = 0; i < SL_LIST_COUNT; i++) {
        const sl_search__store_list *l = &s->list[i];
        h = sl_hash(l->id, l->count * sizeof *l->id, h);
        h = sl_hash(l->rank, l->count * sizeof *l->rank, h);
    }
    for (uint32_t p = 0; p < s->parts; p++) {
        const sl_store_term term = sl_search__store_term(s, p);
        h = sl_hash(&term, sizeof term, h);
        h = sl_hash(sl_search__store_value(s, p), (size_t)s->stride * sizeof(double), h);
    }
    return h;
}

static void lists_do_not_depend_on_threads(void **state) {
    sl_fixture *t = *state;
    uint64_t first = 0;
    for (int threads = 1; threads <= 3; threads++) {
        sl_pool *pool;
        SL_MUST(t, sl_par_pool_new(&pool, threads));
        sl_rng_init(&t->rng, t->seed, 3, 0);
        sl_store *s = open_store(t, pool, 3, -1, 4, 5);
        const uint64_t h = fingerprint(s);
        if (threads == 1) first = h;
        SL_CHECK(t, h == first, "other lists on %d threads", threads);
        SL_CHECK(t, s->parts > 3000, "%zu parts", s->parts);
        sl_search__store_close(s);
        sl_par_pool_free(pool);
    }
}

/* Level by level or at once; monomials made beforehand change no term. */
static void lists_do_not_depend_on_steps(void **state) {
    sl_fixture *t = *state;
    static sl_store_term term[2][SL_STORE_BATCH];
    int n[2] = { 0 };
    for (int i = 0; i < 2; i++) {
        int count;
        sl_rng_init(&t->rng, t->seed, 3, 0);
        sl_store *s = open_store(t, NULL, 3, 1, 4, i ? 0 : 3);
        if (i) SL_MUST(t, sl_search__store_monomials(&count, s, 1200));
        for (int l = 0; i && l <= 4; l++) SL_MUST(t, sl_search__store_extend(s, l));
        sl_store_walk w;
        sl_search__store_walk_begin(&w, s, SL_SIDE_PRODUCT, 2);
        n[i] = sl_search__store_walk_next(term[i], NULL, SL_STORE_BATCH, &w);
        for (int k = 0; k < n[i]; k++) { // numbers of parts differ; what they are does not
            double v[SL_STORE_MAX_PROBES];
            bool exponent;
            const bool good = sl_search__store_term_value(v, &exponent, s, term[i][k]);
            term[i][k] = good ? sl_hash(v, PROBES * sizeof v[0], exponent) : 0;
        }
        for (int list = 0; list < SL_LIST_COUNT; list++)
            for (size_t k = 1; k < s->list[list].count; k++)
                SL_CHECK(t, s->list[list].rank[k - 1] <= s->list[list].rank[k],
                         "list %d does not ascend at %zu", list, k);
        sl_search__store_close(s);
    }
    SL_CHECK(t, n[0] == n[1] && memcmp(term[0], term[1], (size_t)n[0] * sizeof term[0][0]) == 0,
             "level 2 has %d terms, and %d where more were made before", n[0], n[1]);
}

/* ---------------------------------------------------------------- operators ----------------- */

static int operator_of(int op) {
    static const int row[SL_OP_COUNT] = {
        [SL_OP_EXP] = SL_OPERATOR_EXP,   [SL_OP_SIN] = SL_OPERATOR_SIN,
        [SL_OP_COS] = SL_OPERATOR_COS,   [SL_OP_LOG] = SL_OPERATOR_LOG,
        [SL_OP_TANH] = SL_OPERATOR_TANH, [SL_OP_COSH] = SL_OPERATOR_COSH,
    };
    return row[op];
}

/* Of a product; -1 is a sign. */
static int factors(const sl_node *product) {
    int n = 0;
    for (const sl_node *m = product + 1; m < product + product->len; m = sl_expr_next(m))
        n += !sl_expr_num_is(m, -1);
    return n;
}

/* Operators that an expression needs, as the option --ops sees them. */
static bool needs_only(const sl_node *e, uint32_t ops) {
    const uint32_t minus = SL_STORE__BIT(SUB) | SL_STORE__BIT(NEG);
    const uint32_t products = SL_STORE__BIT(MUL) | SL_STORE__BIT(DIV); // a b is a/(1/b)
    for (const sl_node *n = e; n < e + e->len; n += sl_expr_step(n)) {
        switch (n->op) {
        case SL_OP_EXP:
        case SL_OP_SIN:
        case SL_OP_COS:
        case SL_OP_LOG:
        case SL_OP_TANH:
        case SL_OP_COSH:
            if (!(ops & UINT32_C(1) << operator_of(n->op))) return false;
            break;
        case SL_OP_ADD:
            if (!(ops & (SL_STORE__BIT(ADD) | SL_STORE__BIT(SUB)))) return false;
            break;
        case SL_OP_POW: {
            const sl_rat p = sl_expr_num_value(sl_expr_next(n + 1));
            if (p.num < 0 && !(ops & SL_STORE__BIT(DIV))) return false;
            if (p.den == 2 && !(ops & SL_STORE__BIT(SQRT))) return false;
            if (llabs(p.num) > 1 && !(ops & products)) return false;
            break;
        }
        case SL_OP_MUL:
            if (factors(n) > 1 && !(ops & products)) return false;
            break;
        case SL_OP_NUM:
            if (sl_expr_num_value(n).num < 0 && n != e && (n - 1)->op != SL_OP_VAR &&
                !(ops & minus)) {
                const sl_node *before = n - 1; // an exponent is no number of the formula
                if (before->op == SL_OP_MUL || before->op == SL_OP_ADD) return false;
            }
            break;
        default: break;
        }
    }
    return true;
}

static void terms_keep_to_the_operators(void **state) {
    sl_fixture *t = *state;
    static sl_store_term term[SL_STORE_BATCH];
    for (int i = 0; i < sl_test_iters(t, 12); i++) {
        sl_store *s;
        sl_search__store_test_init(&problem, &t->rng, NULL, 2, 1, 3);
        problem.options.ops = sl_rng_u32(&t->rng) & SL_EXPR_ALL_OPERATORS;
        if (i == 0) problem.options.ops = 0;
        SL_MUST(t, sl_search__store_open(&s, &problem.job, PROBES));
        SL_MUST(t, sl_search__store_extend(s, 4));
        for (int side = 0; side < 2; side++)
            for (int l = 0; l <= 4; l++) {
                sl_store_walk w;
                sl_search__store_walk_begin(&w, s, (sl_side)side, l);
                const int n = sl_search__store_walk_next(term, NULL, SL_STORE_BATCH, &w);
                for (int k = 0; k < n; k += 7) {
                    const sl_node *e;
                    SL_MUST(t, sl_search__store_expr(&e, &t->arena, s, term[k]));
                    SL_CHECK(t, needs_only(e, s->ops), "operators %x do not make %s", s->ops,
                             text_of(t, s, term[k]));
                    sl_arena_rewind(&t->arena, 0);
                }
            }
        sl_search__store_close(s);
    }
}

/* ---------------------------------------------------------------- limits -------------------- */

static sl_status build(sl_store_test *p) {
    sl_store *s;
    int count;
    sl_status st;
    SL_TRY(sl_search__store_open(&s, &p->job, PROBES));
    SL_GO(sl_search__store_extend(s, 3));
    SL_GO(sl_search__store_monomials(&count, s, 2000));
done:
    sl_search__store_close(s);
    return st;
}

static void every_allocation_may_fail(void **state) {
    sl_fixture *t = *state;
    sl_search__store_test_init(&problem, &t->rng, NULL, 3, 1, 3);
    SL_EACH_ALLOCATION(t, build(&problem));
    SL_CHECK(t, problem.job.memory == 0, "%lld bytes are still reserved",
             (long long)problem.job.memory);
}

static sl_status express(sl_arena *a, const sl_store *s, sl_store_term term) {
    const sl_node *e;
    return sl_search__store_expr(&e, a, s, term);
}

static void expressions_fail_cleanly(void **state) {
    sl_fixture *t = *state;
    sl_store *s = open_store(t, NULL, 2, 1, 3, 3);
    const sl_store_term term =
        sl_search__store_get_function(s, sl_search__store_count_functions(s, 1000) - 1);
    SL_EACH_ALLOCATION(t, express(&t->arena, s, term));
    sl_search__store_close(s);
}

/* With less memory the lists end earlier and stay correct. */
static void memory_keeps_to_its_limit(void **state) {
    sl_fixture *t = *state;
    static const int64_t limits[] = { 0, 5000, 1500000, 3000000, 5000000 };
    size_t before = 0;
    for (int i = 0; i < SL_LEN(limits); i++) {
        sl_store *s;
        sl_search__store_test_init(&problem, &t->rng, NULL, 2, 1, 3);
        problem.options.max_memory = limits[i];
        SL_MUST(t, sl_search__store_open(&s, &problem.job, PROBES));
        SL_MUST(t, sl_search__store_extend(s, 7));
        SL_CHECK(t, problem.job.memory <= limits[i] && s->full, "%lld bytes of %lld",
                 (long long)problem.job.memory, (long long)limits[i]);
        SL_CHECK(t, s->parts >= before, "%zu parts with more memory, %zu with less", s->parts,
                 before);
        before = s->parts;
        if (s->parts) check_store(t, s, 3);
        sl_search__store_close(s);
        SL_CHECK(t, problem.job.memory == 0, "memory is not given back");
    }
    SL_CHECK(t, before > 10000, "%zu parts in 5 MB", before);
}

static int stop_after(const sl_search_progress *progress, void *payload) {
    (void)progress;
    int *left = payload;
    return (*left)-- <= 0;
}

static void stopped_lists_stay_consistent(void **state) {
    sl_fixture *t = *state;
    for (int calls = 0; calls < 6; calls++) {
        sl_store *s;
        int left = calls;
        sl_search__store_test_init(&problem, &t->rng, NULL, 3, 1, 3);
        problem.options.progress = stop_after;
        problem.options.payload = &left;
        SL_MUST(t, sl_search__store_open(&s, &problem.job, PROBES));
        for (int l = 0; l <= 6 && !sl_search__stop(&problem.job, false); l++) {
            problem.job.next_look = 0;
            SL_MUST(t, sl_search__store_extend(s, l));
        }
        SL_CHECK(t, sl_search__stop(&problem.job, false), "not stopped");
        check_store(t, s, 4);
        sl_search__store_close(s);
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(values_are_those_of_expressions),
        SL_TEST(no_family_is_empty),
        SL_TEST(values_that_mean_nothing_are_refused),
        SL_TEST(levels_partition_the_tuples),
        SL_TEST(walks_do_not_depend_on_room),
        SL_TEST(simple_terms_come_early),
        SL_TEST(lists_do_not_depend_on_threads),
        SL_TEST(lists_do_not_depend_on_steps),
        SL_TEST(terms_keep_to_the_operators),
        SL_TEST(every_allocation_may_fail),
        SL_TEST(expressions_fail_cleanly),
        SL_TEST(memory_keeps_to_its_limit),
        SL_TEST(stopped_lists_stay_consistent),
    };
    return sl_test_main("search.store", tests, SL_LEN(tests));
}

#include "store_check.h"

enum { VARIABLES = 4, LEVEL = 4 };

static sl_units units;

/* A speed, a time, a length and another time; `known` without the last. */
static void set_up(sl_fixture *t, bool with_units, int known) {
    static const int16_t power[VARIABLES][3] = {
        { 60, 0, -60 }, { 0, 0, 60 }, { 60, 0, 0 }, { 0, 0, 60 }
    };
    sl_search__store_test_init(&problem, &t->rng, NULL, VARIABLES, 1, 3);
    units = (sl_units){ .target_known = false };
    for (int v = 0; v < VARIABLES; v++) {
        units.input_known[v] = v < known;
        for (int i = 0; i < 3; i++) units.input[v].power[i] = power[v][i];
    }
    problem.options.units = with_units ? &units : NULL;
}

/* An independent check on trees. False: adds unequal dimensions, or takes a function of one. */
static bool dimension(double d[3], const sl_node *e) {
    double other[3];
    d[0] = d[1] = d[2] = 0;
    if (e->op == SL_OP_VAR)
        for (int i = 0; i < 3; i++) d[i] = units.input[e->arg - 1].power[i];
    if (e->op == SL_OP_POW) {
        if (!dimension(d, e + 1)) return false;
        const double power = sl_expr_rat_double(sl_expr_num_value(sl_expr_next(e + 1)));
        for (int i = 0; i < 3; i++) d[i] *= power;
    } else if (e->op == SL_OP_ADD || e->op == SL_OP_MUL) {
        const sl_node *n = e + 1;
        if (!dimension(d, n)) return false;
        for (n = sl_expr_next(n); n < e + e->len; n = sl_expr_next(n)) {
            if (!dimension(other, n)) return false;
            for (int i = 0; i < 3; i++) {
                if (e->op == SL_OP_ADD && other[i] != d[i]) return false;
                if (e->op == SL_OP_MUL) d[i] += other[i];
            }
        }
    } else if (e->len > 1 && e->op != SL_OP_NUM) {
        return dimension(d, e + 1) && d[0] == 0 && d[1] == 0 && d[2] == 0;
    }
    return true;
}

/* Of an exponent that is a term of a product the factor is free, and with it the dimension. */
static bool homogeneous(sl_fixture *t, const sl_store *s, sl_store_term term) {
    const sl_node *e;
    double d[3];
    const size_t mark = sl_arena_mark(&t->arena);
    SL_MUST(t, sl_search__store_expr(&e, &t->arena, s, term));
    const bool good =
        dimension(d, sl_search__term_exponent(term) && e->op == SL_OP_EXP ? e + 1 : e);
    sl_arena_rewind(&t->arena, mark);
    return good;
}

static void terms_are_homogeneous(void **state) {
    sl_fixture *t = *state;
    static sl_store_term term[SL_STORE_BATCH];
    sl_store *s;
    int terms = 0;
    set_up(t, true, VARIABLES);
    SL_MUST(t, sl_search__store_open(&s, &problem.job, PROBES));
    SL_MUST(t, sl_search__store_extend(s, LEVEL));
    for (int side = 0; side < 2; side++)
        for (int l = 0; l <= LEVEL; l++) {
            sl_store_walk w;
            int n;
            sl_search__store_walk_begin(&w, s, (sl_side)side, l);
            while ((n = sl_search__store_walk_next(term, NULL, SL_STORE_BATCH, &w)) > 0) {
                terms += n;
                for (int i = 0; i < n; i += 3) {
                    SL_CHECK(t, homogeneous(t, s, term[i]), "%s is not homogeneous",
                             text_of(t, s, term[i]));
                    if (i % 30 == 0) check_value(t, s, "with units", term[i]);
                }
            }
        }
    SL_CHECK(t, terms > 1000, "%d terms", terms);
    sl_search__store_close(s);
}

static void parts_have_the_dimensions_of_their_expressions(void **state) {
    sl_fixture *t = *state;
    sl_store *s;
    int of_function[SL_STORE__FUNCTIONS] = { 0 };
    set_up(t, true, VARIABLES);
    SL_MUST(t, sl_search__store_open(&s, &problem.job, PROBES));
    SL_MUST(t, sl_search__store_extend(s, LEVEL + 4));
    for (uint32_t part = 0; part < s->parts; part++) {
        const sl_dimension *mine = sl_search__store_part_dimension(s, part);
        const sl_store_term term = sl_search__store_term(s, part);
        const sl_node *e;
        double d[3];
        SL_MUST(t, sl_search__store_expr(&e, &t->arena, s, term));
        SL_CHECK(t, dimension(d, e), "%s is not homogeneous", text_of(t, s, term));
        for (int i = 0; i < 3; i++)
            SL_CHECK(t, mine->power[i] == d[i], "power %d of %s is %d, not %g", i,
                     text_of(t, s, term), mine->power[i], d[i]);
        const bool any = d[0] != 0 || d[1] != 0 || d[2] != 0;
        if (sl_search__term_form(term) == SL_FORM_FUNCTION)
            of_function[sl_search__term_function(term)] += any;
        sl_arena_rewind(&t->arena, 0);
    }
    for (int f = 0; f < SL_STORE__FUNCTIONS; f++)
        SL_CHECK(t, (of_function[f] > 0) == sl_search__store_functions[f].power,
                 "%d parts %s have a dimension", of_function[f],
                 sl_search__store_functions[f].text);
    sl_search__store_close(s);
}

static bool without_functions(const sl_search__store_family *f) {
    const uint8_t lists[] = { f->first, f->second };
    for (int i = 0; i < 2; i++)
        if (lists[i] == SL_LIST_ARGUMENTS || lists[i] == SL_LIST_FUNCTIONS ||
            lists[i] == SL_LIST_GENERIC || lists[i] == SL_LIST_HINTS)
            return false;
    return f->of >= 0;
}

/* Hashes of the values of one family up to a level, in ascending order. */
static int hashes(uint64_t *out, int room, sl_fixture *t, const sl_store *s,
                  const sl_search__store_family *f, bool filter) {
    static sl_store_term term[SL_STORE_BATCH];
    int m = 0;
    for (int l = 0; l <= 2; l++) {
        sl_search__store_range r;
        int n;
        if (!sl_search__store_range_begin(&r, s, f, l)) continue;
        while ((n = sl_search__store_range_next(term, NULL, SL_STORE_BATCH, &r)) > 0)
            for (int i = 0; i < n && m < room; i++) {
                double v[SL_STORE_MAX_PROBES];
                bool exponent;
                if (!sl_search__store_term_value(v, &exponent, s, term[i])) continue;
                if (filter && !homogeneous(t, s, term[i])) continue;
                out[m++] = sl_hash(v, PROBES * sizeof *v, 0);
            }
    }
    return m;
}

static bool holds(const uint64_t *list, int n, uint64_t h) {
    for (int i = 0; i < n; i++)
        if (list[i] == h) return true;
    return false;
}

/* Whatever is homogeneous and a term without units is one with them, at the same level or before.
 */
static void nothing_homogeneous_is_lost(void **state) {
    sl_fixture *t = *state;
    enum { ROOM = 20000 };
    static uint64_t with[ROOM], without[ROOM];
    sl_store *s[2];
    for (int i = 0; i < 2; i++) {
        sl_rng_init(&t->rng, t->seed, 5, 0);
        set_up(t, i == 0, VARIABLES);
        SL_MUST(t, sl_search__store_open(&s[i], &problem.job, PROBES));
        SL_MUST(t, sl_search__store_extend(s[i], 2));
    }
    int kept = 0;
    for (int f = 0; f < sl_search__store_n_families; f++) {
        if (!without_functions(&sl_search__store_families[f])) continue;
        const int n = hashes(with, ROOM, t, s[0], &sl_search__store_families[f], false);
        const int m = hashes(without, ROOM, t, s[1], &sl_search__store_families[f], true);
        for (int i = 0; i < m; i++)
            SL_CHECK(t, holds(with, n, without[i]),
                     "family %s: %d terms with units, one of %d is not there",
                     sl_search__store_families[f].text, n, m);
        kept += m;
    }
    SL_CHECK(t, kept > 300, "%d terms", kept);
    sl_search__store_close(s[1]);
    sl_search__store_close(s[0]);
}

/* An input without a unit restricts nothing: sums with it are there. */
static void unknown_units_restrict_nothing(void **state) {
    sl_fixture *t = *state;
    sl_store *s;
    bool mixed = false, wrong = false;
    set_up(t, true, VARIABLES - 1);
    SL_MUST(t, sl_search__store_open(&s, &problem.job, PROBES));
    SL_MUST(t, sl_search__store_extend(s, LEVEL));
    for (size_t i = 0; i < s->list[SL_LIST_BINOMIALS].count; i++) {
        const char *text =
            text_of(t, s, sl_search__store_term(s, s->list[SL_LIST_BINOMIALS].id[i]));
        mixed = mixed || strcmp(text, "x1 + x4") == 0;
        wrong = wrong || strcmp(text, "x1 + x2") == 0;
    }
    SL_CHECK(t, mixed && !wrong, "x1 + x4 is %s, x1 + x2 %s", mixed ? "there" : "missing",
             wrong ? "there" : "missing");
    sl_search__store_close(s);
}

static sl_status build(void) {
    sl_store *s;
    SL_TRY(sl_search__store_open(&s, &problem.job, PROBES));
    const sl_status st = sl_search__store_extend(s, 1);
    sl_search__store_close(s);
    return st;
}

static void every_allocation_may_fail(void **state) {
    sl_fixture *t = *state;
    set_up(t, true, VARIABLES);
    SL_EACH_ALLOCATION(t, build());
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(terms_are_homogeneous),
        SL_TEST(parts_have_the_dimensions_of_their_expressions),
        SL_TEST(nothing_homogeneous_is_lost),
        SL_TEST(unknown_units_restrict_nothing),
        SL_TEST(every_allocation_may_fail),
    };
    return sl_test_main("search.store_units", tests, SL_LEN(tests));
}

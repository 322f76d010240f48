/* b_store - how fast parts are made and terms of every family walked and evaluated, one core.
 *
 * Before anything is timed, a sample of every family's terms is held against their expressions.
 *
 *     build/bench/search.store [variables] [level]     a table, tab separated
 *
 * Rows: the lists and what they took; then for every family of that level its terms, those that
 * have values, nanoseconds a term for the walk alone and for the value. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "search/store_test.h"

enum { PROBES = 14, SAMPLE = 200, MOST = 400000 };

typedef struct figures {
    int64_t terms, values;
    double walk, value;
} figures;

/* Does the term's value agree with its expression's? */
static bool agrees(const sl_store *s, sl_arena *a, sl_store_term t, const double *v) {
    double y[SL_STORE_MAX_PROBES];
    const sl_node *e;
    const size_t mark = sl_arena_mark(a);
    bool good = sl_search__store_expr(&e, a, s, t) == SL_OK &&
                sl_expr_eval(y, a, e, s->job->rows.x, s->probes, NULL) == SL_OK;
    for (int i = 0; good && i < s->probes; i++) {
        const double w = sl_search__term_exponent(t) ? sl_exp(v[i]) : v[i];
        good = fabs(y[i] - w) <= 1e-9 * fmax(1, fabs(w)) || !isfinite(w);
    }
    sl_arena_rewind(a, mark);
    return good;
}

static bool measure(figures *f, const sl_store *s, const sl_search__store_family *family,
                    int level) {
    static sl_store_term term[SL_STORE_BATCH];
    double v[SL_STORE_MAX_PROBES];
    bool exponent;
    sl_arena arena = { 0 };
    sl_search__store_range r;
    int n, checked = 0;
    *f = (figures){ 0 };
    if (!sl_search__store_range_begin(&r, s, family, level)) return true;
    for (;;) {
        double start = sl_clock();
        n = sl_search__store_range_next(term, NULL, SL_STORE_BATCH, &r);
        f->walk += sl_clock() - start;
        if (!n || f->terms > MOST) break;
        f->terms += n;
        for (int i = 0; i < n && checked < SAMPLE; i++, checked++)
            if (sl_search__store_term_value(v, &exponent, s, term[i]) &&
                !agrees(s, &arena, term[i], v)) {
                sl_arena_clear(&arena);
                return false;
            }
        start = sl_clock();
        for (int i = 0; i < n; i++)
            f->values += sl_search__store_term_value(v, &exponent, s, term[i]);
        f->value += sl_clock() - start;
    }
    sl_arena_clear(&arena);
    return true;
}

static int table(sl_store *s, int level) {
    static const char *names[] = { "short",     "monomials",  "pure",      "hints",
                                   "binomials", "arguments",  "functions", "variables",
                                   "shifted",   "elementary", "decays",    "generic" };
    const double start = sl_clock();
    for (int l = 0; l <= level; l++) {
        if (sl_search__store_extend(s, l) != SL_OK) return 1;
        printf("extend\t%d\t%.4f s\t%zu parts\t%.1f MB", l, sl_clock() - start, s->parts,
               (double)s->held * 1e-6);
        for (int i = 0; i < SL_LIST_PARTS; i++) printf("\t%s %zu", names[i], s->list[i].count);
        printf("\n");
    }
    printf("side\tfamily\tterms\tvalues\tns walk\tns value\n");
    for (int i = 0; i < sl_search__store_n_families; i++) {
        const sl_search__store_family *f = &sl_search__store_families[i];
        figures g;
        if (f->of < 0) continue;
        if (!measure(&g, s, f, level)) {
            fprintf(stderr, "a value of family \"%s\" is not its expression's\n", f->text);
            return 1;
        }
        if (!g.terms) continue;
        printf("%s\t%s\t%lld\t%lld\t%.1f\t%.1f\n", f->of == SL_SIDE_PRODUCT ? "product" : "sum",
               f->text, (long long)g.terms, (long long)g.values, 1e9 * g.walk / (double)g.terms,
               1e9 * g.value / (double)g.terms);
    }
    return 0;
}

int main(int argc, char **argv) {
    static sl_store_test t;
    const int variables = argc > 1 ? (int)sl_strtoll(argv[1], NULL) : 3;
    const int level = argc > 2 ? (int)sl_strtoll(argv[2], NULL) : 6;
    sl_rng rng;
    sl_store *s;
    sl_rng_init(&rng, 1, 1, 1);
    sl_search__store_test_init(&t, &rng, NULL, variables, 1, 5);
    if (sl_search__store_open(&s, &t.job, PROBES) != SL_OK) return 1;
    const int status = table(s, level);
    sl_search__store_close(s);
    return status;
}

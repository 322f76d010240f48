/* Shared by tests of the store: a store over random columns, and a check of its values. */
#ifndef SL_STORE_CHECK_H
#define SL_STORE_CHECK_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fixture/fixture.h"
#include "search/store_test.h"

enum { PROBES = 13 };

static sl_store_test problem;

static inline const sl_node *parsed(sl_fixture *t, const char *text) {
    const sl_node *e;
    SL_MUST(t, sl_expr_parse(&e, &t->arena, SL_FORMAT_INFIX, text, strlen(text), NULL, NULL));
    return e;
}

static inline sl_store *open_store(sl_fixture *t, sl_pool *pool, int variables, double low,
                                   double high, int level) {
    sl_store *s;
    sl_search__store_test_init(&problem, &t->rng, pool, variables, low, high);
    SL_MUST(t, sl_search__store_open(&s, &problem.job, PROBES));
    SL_MUST(t, sl_search__store_extend(s, level));
    return s;
}

static inline const char *text_of(sl_fixture *t, const sl_store *s, sl_store_term term) {
    static sl_str text;
    const sl_node *e;
    sl_str_truncate(&text, 0);
    if (sl_search__store_expr(&e, &t->arena, s, term) != SL_OK ||
        sl_expr_print(&text, SL_FORMAT_INFIX, e, NULL) != SL_OK)
        return "?";
    static char copy[1024];
    sl_snprintf(copy, sizeof copy, "%s", sl_str_text(&text));
    sl_str_clear(&text);
    return copy;
}

/* Compared with expr's reference evaluation, which shares no code with the store: long double, with
 * an error bound. */
static inline void check_value(sl_fixture *t, const sl_store *s, const char *family,
                               sl_store_term term) {
    double v[SL_STORE_MAX_PROBES];
    bool exponent;
    const sl_node *e;
    if (!sl_search__store_term_value(v, &exponent, s, term)) return;
    const size_t mark = sl_arena_mark(&t->arena);
    SL_MUST(t, sl_search__store_expr(&e, &t->arena, s, term));
    for (int i = 0; i < s->stride; i++) {
        long double x[SL_STORE_MAX_VARIABLES], value, bound;
        const int row = i < s->probes ? i : 0;
        for (int k = 0; k < s->variables; k++) x[k] = problem.column[k][row];
        sl_expr_eval_ref(&value, &bound, e, x, NULL, 0x1p-53L);
        const long double mine = exponent ? expl(v[i]) : (long double)v[i];
        const long double room =
            8 * bound + 1e-12L * fabsl(value) * (exponent ? 1 + fabs(v[i]) : 1);
        if (exponent && fabs(v[i]) > 600) continue;
        SL_CHECK(t, fabsl(mine - value) <= room,
                 "family %s, %s at probe %d: %.17Lg, not %.17Lg +- %Lg", family,
                 text_of(t, s, term), i, mine, value, room);
    }
    sl_arena_rewind(&t->arena, mark);
}

#endif

/* Lists of choices: which constants and functions a family may take, with the operators that are
 * allowed. Ranks are places in the whole tables, so that leaving operators out changes no order; a
 * function with a constant has the product of both. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "search/store_impl.h"

typedef struct choice {
    int rank, constant, function;
} choice;

static bool is_unit(int constant) {
    const sl_search__store_constant c = sl_search__store_constants[constant];
    return abs(c.num) == 1 && c.den == 1 && c.pi == 0;
}

/* Constants number 0 .. n - 1; units: 1 and -1 alone, others: all but these. */
static sl_status constants(sl_store *s, sl_search__store_list_id list, int n, bool summand,
                           bool units, bool others) {
    for (int c = 0; c < n && c < sl_search__store_n_constants; c++) {
        if (!sl_search__store_constant_allowed(c, s->ops, summand)) continue;
        if (is_unit(c) ? others : units) continue;
        SL_TRY(sl_search__store_list_add(s, list, sl_search__term_choice((unsigned)c, 0), c + 1));
    }
    return SL_OK;
}

static int by_rank(const void *p, const void *q) {
    const choice *a = p, *b = q;
    if (a->rank != b->rank) return a->rank < b->rank ? -1 : 1;
    if (a->function != b->function) return a->function < b->function ? -1 : 1;
    return (a->constant > b->constant) - (a->constant < b->constant);
}

/* May this function have this constant inside, in this list? A constant inside a power leaves it;
 * inside a logarithm it becomes a summand, which a sum has anyway. */
static bool fits(sl_search__store_list_id list, int function, int constant) {
    const sl_search__store_function *f = &sl_search__store_functions[function];
    if (f->even_or_odd && sl_search__store_constants[constant].num < 0) return false;
    if (f->power && (list != SL_LIST_OF_ANY || constant > 0)) return false;
    if (list == SL_LIST_FACTOR) return function != SL_STORE__EXP;
    return function != SL_STORE__LOG || constant == 0;
}

static sl_status functions(sl_store *s, sl_search__store_list_id list) {
    choice all[SL_STORE__FUNCTIONS * 64];
    int n = 0, place = 0;
    for (int f = 0; f < SL_STORE__FUNCTIONS; f++) {
        if (sl_search__store_functions[f].operators & ~s->ops) continue;
        place++;
        for (int c = 0; c < sl_search__store_n_constants; c++)
            if (fits(list, f, c) && sl_search__store_constant_allowed(c, s->ops, false))
                all[n++] = (choice){ place * (c + 1), c, f };
    }
    qsort(all, (size_t)n, sizeof all[0], by_rank);
    for (int i = 0; i < n; i++)
        SL_TRY(sl_search__store_list_add(
            s, list, sl_search__term_choice((unsigned)all[i].constant, (unsigned)all[i].function),
            all[i].rank));
    return SL_OK;
}

/* Functions without a constant: those in `selected`; NULL: all. */
static sl_status plain(sl_store *s, sl_search__store_list_id list, const int *selected, int n) {
    int place = 0;
    for (int f = 0; f < SL_STORE__FUNCTIONS; f++) {
        if (sl_search__store_functions[f].operators & ~s->ops) continue;
        place++;
        bool in = !selected;
        for (int i = 0; i < n; i++) in = in || selected[i] == f;
        if (in)
            SL_TRY(
                sl_search__store_list_add(s, list, sl_search__term_choice(0, (unsigned)f), place));
    }
    return SL_OK;
}

/* Bits 0 and 1 of the constant: the sign of a and of b. */
static sl_status signs(sl_store *s) {
    for (int i = 0; i < 4; i++) {
        const bool plus = i != 3, minus = i != 0;
        if (plus && !sl_search__store_constant_allowed(0, s->ops, true)) continue;
        if (minus && !sl_search__store_constant_allowed(1, s->ops, true)) continue;
        SL_TRY(sl_search__store_list_add(s, SL_LIST_SIGNS, sl_search__term_choice((unsigned)i, 0),
                                         i + 1));
    }
    return SL_OK;
}

/* Of 1 + c z: without reciprocals of z all of them. */
static sl_status whole(sl_store *s) {
    for (int c = 0; c < sl_search__store_n_constants; c++) {
        if (!sl_search__store_constant_allowed(c, s->ops, true)) continue;
        if ((s->ops & SL_STORE__BIT(DIV)) && fabs(sl_search__store_get_constant(c)) < 1) continue;
        SL_TRY(sl_search__store_list_add(s, SL_LIST_SUMMANDS_WHOLE,
                                         sl_search__term_choice((unsigned)c, 0), c + 1));
    }
    return SL_OK;
}

/* exp(-u), and -1 of a sum. */
static sl_status decay(sl_store *s) {
    const int minus = 1; // the constant
    if (sl_search__store_constant_allowed(minus, s->ops, true))
        SL_TRY(sl_search__store_list_add(s, SL_LIST_MINUS, sl_search__term_choice(minus, 0), 1));
    if (!(s->ops & SL_STORE__BIT(EXP)) || !sl_search__store_constant_allowed(minus, s->ops, false))
        return SL_OK;
    return sl_search__store_list_add(s, SL_LIST_DECAY, sl_search__term_choice(minus, SL_STORE__EXP),
                                     1);
}

sl_status sl_search__store_open_choices(sl_store *s) {
    static const int factor[] = { SL_STORE__SIN, SL_STORE__COS, SL_STORE__LOG };
    static const int summand[] = { SL_STORE__SIN, SL_STORE__COS,  SL_STORE__EXP,
                                   SL_STORE__LOG, SL_STORE__SQRT, SL_STORE__RECIPROCAL };
    static const int algebraic[] = { SL_STORE__RECIPROCAL, SL_STORE__SQRT,  SL_STORE__LOG,
                                     SL_STORE__SQUARE,     SL_STORE__RSQRT, SL_STORE__RSQUARE };
    static const int logarithm[] = { SL_STORE__LOG };
    const int all = sl_search__store_n_constants;
    SL_TRY(sl_search__store_list_add(s, SL_LIST_ONE, 0, 1));
    SL_TRY(signs(s));
    SL_TRY(constants(s, SL_LIST_FACTORS, all, false, false, false));
    SL_TRY(constants(s, SL_LIST_FACTORS_12, 12, false, false, false));
    SL_TRY(constants(s, SL_LIST_FACTORS_4, 4, false, false, false));
    SL_TRY(constants(s, SL_LIST_SUMMANDS, all, true, false, false));
    SL_TRY(constants(s, SL_LIST_SUMMANDS_12, 12, true, false, false));
    SL_TRY(constants(s, SL_LIST_SUMMANDS_4, 4, true, false, false));
    SL_TRY(constants(s, SL_LIST_UNITS, 2, true, true, false));
    SL_TRY(constants(s, SL_LIST_OTHERS, all, true, false, true));
    SL_TRY(constants(s, SL_LIST_OTHERS_12, 12, true, false, true));
    SL_TRY(functions(s, SL_LIST_OF_MONOMIAL));
    SL_TRY(functions(s, SL_LIST_OF_ANY));
    SL_TRY(functions(s, SL_LIST_FACTOR));
    SL_TRY(plain(s, SL_LIST_PLAIN, NULL, 0));
    SL_TRY(plain(s, SL_LIST_ALGEBRAIC, algebraic, SL_LEN(algebraic)));
    SL_TRY(whole(s));
    SL_TRY(decay(s));
    SL_TRY(plain(s, SL_LIST_LOGARITHM, logarithm, SL_LEN(logarithm)));
    SL_TRY(plain(s, SL_LIST_PAIR_FACTOR, factor, SL_LEN(factor)));
    return plain(s, SL_LIST_PAIR, summand, SL_LEN(summand));
}

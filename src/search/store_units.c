/* Units: dimensions of parts and terms, where those of the inputs are known.
 *
 * Constants of the list are pure numbers. So what a sum adds must be of one dimension, and what is
 * added to 1 or is the argument of a function must be a pure number; powers excepted, which have
 * the argument's dimension to their power. Terms that violate this are left out before any
 * arithmetic. The outermost factor, and the factor in an exponent that is a term of a product, are
 * fitted: they may have any dimension.
 *
 * Of an input without a unit nothing is known; nor of what holds it, unless it is a function. */
#include <string.h>

#include "search/store_impl.h"

enum { UNKNOWN = 7, PARTS = 7, MOST = 20000 }; // power[UNKNOWN] 1: the dimension is not known

static bool same(const sl_dimension *a, const sl_dimension *b) {
    return memcmp(a->power, b->power, sizeof a->power) == 0;
}

static bool is_known(const sl_dimension *d) { return d->power[UNKNOWN] == 0; }

static bool is_number(const sl_dimension *d) {
    static const sl_dimension none;
    return !is_known(d) || same(d, &none);
}

static const sl_dimension unknown = { .power[UNKNOWN] = 1 };

/* *d := *d plus num/den times e. Not known where there is no such root or it exceeds MOST. */
static void add(sl_dimension *d, const sl_dimension *e, int num, int den) {
    if (!is_known(d) || !is_known(e)) {
        *d = unknown;
        return;
    }
    for (int i = 0; i < PARTS; i++) {
        const int times = e->power[i] * num, sum = d->power[i] + times / den;
        if (times % den || sum > MOST || sum < -MOST) {
            *d = unknown;
            return;
        }
        d->power[i] = (int16_t)sum;
    }
}

static sl_dimension monomial(const sl_store *s, uint32_t number) {
    const int8_t *e = s->exponents.row[number];
    sl_dimension d = { { 0 } };
    for (int v = 0; v < s->variables; v++)
        if (e[v]) add(&d, &s->input[v], e[v], 2);
    return d;
}

/* Of f(u), u of dimension *d. False: f is no power, and u no pure number. */
static bool apply(sl_dimension *d, unsigned function) {
    static const int power[SL_STORE__FUNCTIONS][2] = {
        [SL_STORE__RECIPROCAL] = { -1, 1 }, [SL_STORE__SQRT] = { 1, 2 },
        [SL_STORE__SQUARE] = { 2, 1 },      [SL_STORE__RSQRT] = { -1, 2 },
        [SL_STORE__RSQUARE] = { -2, 1 },
    };
    const sl_dimension u = *d;
    *d = (sl_dimension){ { 0 } };
    if (!sl_search__store_functions[function].power) return is_number(&u);
    add(d, &u, power[function][0], power[function][1]);
    return true;
}

static bool inner(sl_dimension *d, const sl_search__store_form *form, const sl_dimension *a,
                  const sl_dimension *b) {
    *d = (sl_dimension){ { 0 } };
    if (form->sum) {
        if (is_known(a) && is_known(b) && !same(a, b)) return false;
        *d = is_known(a) ? *a : *b;
        return true;
    }
    if (form->p) add(d, a, form->p, 1);
    if (form->q) add(d, b, form->q, 1);
    return true;
}

bool sl_search__store_dimension(sl_dimension *d, const sl_store *s, sl_store_term t) {
    const sl_search__store_form *form = &sl_search__store_forms[sl_search__term_form(t)];
    *d = unknown;
    if (!s->units || sl_search__term_form(t) == SL_FORM_HINT) return true;
    if (sl_search__term_form(t) == SL_FORM_MONOMIAL) {
        *d = monomial(s, sl_search__term_a(t));
        return true;
    }
    const sl_dimension *a = sl_search__store_part_dimension(s, sl_search__term_a(t));
    if (!inner(d, form, a, sl_search__store_part_dimension(s, sl_search__term_b(t)))) return false;
    if (form->function && !apply(d, sl_search__term_function(t))) return false;
    if (form->outer) add(d, a, 1, 1);
    return !form->one || is_number(d);
}

bool sl_search__store_is_number(const sl_dimension *d) { return is_number(d); }

/* Arguments with a dimension are used only by roots and reciprocals of sums. */
bool sl_search__store_dimension_fits(const sl_store *s, sl_search__store_list_id list,
                                     sl_store_term t) {
    sl_dimension d;
    if (!s->units) return true;
    if (!sl_search__store_dimension(&d, s, t)) return false;
    if (list != SL_LIST_ARGUMENTS || is_number(&d)) return true;
    if (sl_search__term_form(t) == SL_FORM_SCALED)
        return sl_search__term_form(sl_search__store_term(s, sl_search__term_a(t))) == SL_FORM_SUM;
    return sl_search__term_form(t) == SL_FORM_SUM;
}

void sl_search__store_open_units(sl_store *s) {
    const sl_units *u = s->job->o->units;
    s->units = u != NULL;
    for (int v = 0; u && v < s->variables; v++) {
        const int column = s->job->column[v];
        s->input[v] = u->input_known[column] ? u->input[column] : unknown;
        s->input[v].power[UNKNOWN] = !u->input_known[column];
    }
}

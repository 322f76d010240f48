/* Monomials in order of degree.
 *
 * A power costs its exponent, in halves: x 2, x^2 4, 1/x 2; roots cost more than their exponent,
 * sqrt(x) 4 and x^(3/2) 7, and need x > 0 in every row. Of one degree reciprocals and roots come
 * last; else the order is that of the recursion, earlier variables first. */
#include <math.h>
#include <string.h>

#include "search/store_impl.h"

enum { MAX_MONOMIALS = 1 << 20, MAX_DEGREE = 40, ROOT_COST = 4, CUBE_ROOT_COST = 7 };

sl_status sl_store__exponents_add(sl_store *s, const int8_t *row) {
    sl_store__exponents *e = &s->exponents;
    if (e->count == e->room) {
        const size_t room = e->room ? 2 * e->room : 1024;
        if (!sl_store__reserve(s, (room - e->room) * sizeof *e->row)) return SL_OK;
        void *p = sl_realloc(e->row, room, sizeof *e->row);
        if (!p) return sl_fail_memory(room, sizeof *e->row, "exponents of monomials");
        e->row = p;
        e->room = room;
    }
    memcpy(e->row[e->count++], row, sizeof *e->row);
    return SL_OK;
}

static int highest(const sl_store *s) {
    return !(s->ops & SL_STORE__BIT(MUL)) ? 2 : s->variables <= 2 ? SL_STORE__POWER : 6;
}

/* In halves; a large number: there is no such power. */
static int cost_of(const sl_store *s, int v, int halves) {
    if (halves % 2 == 0) return halves;
    if (!s->job->positive[v] || !(s->ops & SL_STORE__BIT(SQRT))) return MAX_DEGREE + 1;
    return halves == 1 ? ROOT_COST : halves == 3 ? CUBE_ROOT_COST : MAX_DEGREE + 1;
}

/* Of one degree: first those with a variable in the numerator, then reciprocals, then roots. */
enum { NUMERATORS, RECIPROCALS, ROOTS, KINDS };

static int kind_of(const sl_store *s, const int8_t *row) {
    bool positive = false;
    for (int v = 0; v < s->variables; v++) {
        if (row[v] % 2) return ROOTS;
        positive = positive || row[v] > 0;
    }
    return positive ? NUMERATORS : RECIPROCALS;
}

/* All rows of a kind that cost `left` from variable v on. */
static sl_status all_of(sl_store *s, int8_t *row, int kind, int v, int left) {
    if (s->full || s->exponents.count >= MAX_MONOMIALS) return SL_OK;
    if (left == 0) return kind_of(s, row) == kind ? sl_store__exponents_add(s, row) : SL_OK;
    if (v == s->variables) return SL_OK;
    const bool last = v == s->variables - 1, divide = s->ops & SL_STORE__BIT(DIV);
    const bool multiply = s->ops & SL_STORE__BIT(MUL);
    for (int halves = highest(s); halves >= 1; halves--) {
        const int cost = cost_of(s, v, halves);
        if (cost > left || ((last || !multiply) && cost != left)) continue;
        for (int sign = 1; sign >= (divide ? -1 : 1); sign -= 2) {
            row[v] = (int8_t)(sign * halves);
            SL_TRY(all_of(s, row, kind, v + 1, left - cost));
        }
    }
    row[v] = 0;
    return last ? SL_OK : all_of(s, row, kind, v + 1, left);
}

sl_status sl_store__exponents_extend(sl_store *s, size_t want) {
    sl_store__exponents *e = &s->exponents;
    const int end = SL_MIN(MAX_DEGREE, SL_MAX(highest(s), CUBE_ROOT_COST) * s->variables);
    while (e->count < want && !s->full) {
        if (e->degree >= end || e->count >= MAX_MONOMIALS) return SL_OK;
        int8_t row[SL_STORE_MAX_VARIABLES] = { 0 };
        e->degree++;
        for (int kind = 0; kind < KINDS; kind++) SL_TRY(all_of(s, row, kind, 0, e->degree));
    }
    return SL_OK;
}

/* The list takes rows of exponents in their order, all of them: no two have the same values but by
 * chance. */
sl_status sl_store__monomials_extend(sl_store *s, size_t want) {
    sl_store__list *l = &s->list[SL_LIST_MONOMIALS];
    want = SL_MIN(want, MAX_MONOMIALS);
    SL_TRY(sl_store__exponents_extend(s, want + s->short_rows));
    while (s->monomial_rows < s->exponents.count && l->count < want && !s->full) {
        if (sl_search__stop(s->job, true)) return SL_OK;
        sl_term *t = sl_store__batch_room(s->batch);
        int n = 0;
        while (n < SL_STORE_BATCH && s->monomial_rows < s->exponents.count && l->count + (size_t)n < want)
            t[n++] = sl_term__make(false, SL_FORM_MONOMIAL, 0, (uint32_t)s->monomial_rows++, 0);
        SL_TRY(sl_store__batch_keep(s, n, SL_LIST_MONOMIALS, 0));
    }
    return SL_OK;
}

/* Pure numbers are few: they are looked for among many more rows than have values. */
sl_status sl_store__pure_extend(sl_store *s, size_t rows) {
    if (!s->units) return SL_OK;
    SL_TRY(sl_store__exponents_extend(s, rows));
    while (s->pure_rows < SL_MIN(rows, s->exponents.count) && !s->full) {
        if (sl_search__stop(s->job, true)) return SL_OK;
        sl_term *t = sl_store__batch_room(s->batch);
        int n = 0;
        while (n < SL_STORE_BATCH && s->pure_rows < SL_MIN(rows, s->exponents.count)) {
            sl_dimension d;
            t[n] = sl_term__make(false, SL_FORM_MONOMIAL, 0, (uint32_t)s->pure_rows++, 0);
            n += sl_store__dimension(&d, s, t[n]) && sl_store__is_number(&d);
        }
        SL_TRY(sl_store__batch_keep(s, n, SL_LIST_PURE, 0));
    }
    return SL_OK;
}

/* ---------------------------------------------------------------- parts of binomials -------- */

static sl_status add_short(sl_store *s, int v, int halves, int w, int other) {
    int8_t row[SL_STORE_MAX_VARIABLES] = { 0 };
    uint32_t id;
    bool stored;
    double value[SL_STORE_MAX_PROBES];
    if (v >= 0) row[v] = (int8_t)halves;
    if (w >= 0) row[w] = (int8_t)other;
    const size_t number = s->exponents.count;
    SL_TRY(sl_store__exponents_add(s, row));
    if (s->full) return SL_OK;
    const sl_term t = sl_term__make(false, SL_FORM_MONOMIAL, 0, (uint32_t)number, 0);
    if (!sl_store__evaluate(value, s, t)) return SL_OK;
    SL_TRY(sl_store__part_add(&stored, &id, s, t, value));
    if (!stored) return SL_OK;
    return sl_store__list_add(s, SL_LIST_SHORT, id, (double)s->list[SL_LIST_SHORT].count + 1);
}

/* x, 1, x^2, x y; up to two variables also x^3 and x^4. */
sl_status sl_store__open_short(sl_store *s) {
    const int n = s->variables;
    const bool multiply = s->ops & SL_STORE__BIT(MUL);
    for (int v = 0; v < n; v++) SL_TRY(add_short(s, v, 2, -1, 0));
    SL_TRY(add_short(s, -1, 0, -1, 0));
    for (int v = 0; v < n && multiply; v++) SL_TRY(add_short(s, v, 4, -1, 0));
    for (int v = 0; v < n && multiply; v++)
        for (int w = v + 1; w < n; w++) SL_TRY(add_short(s, v, 2, w, 2));
    for (int v = 0; v < n && multiply && n <= 2; v++)
        for (int halves = 6; halves <= 8; halves += 2) SL_TRY(add_short(s, v, halves, -1, 0));
    s->short_rows = s->monomial_rows = s->pure_rows = s->exponents.count;
    return SL_OK;
}

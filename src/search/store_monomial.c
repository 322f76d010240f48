/* Monomials in order of degree.
 *
 * The degree is a price: x and 1/x cost 2, x^2 5, x^3 8, sqrt(x) 7. A power of a monomial as a
 * whole is cheaper than powers of its variables: z^2 costs 2 more than z, sqrt(z) 3, z^3 5; so x
 * y/(z w) costs 8, x^2/y^2 6 and x^3/y 10. These prices follow how often such monomials occur in
 * functions and sums of textbook formulas. Roots need positive columns. Of one degree reciprocals
 * come last; else the order is that of the recursion, earlier variables first. */
#include <stdlib.h>
#include <string.h>

#include "search/store_impl.h"

enum { MAX_MONOMIALS = 1 << 20, MAX_DEGREE = 60, NONE = 1000 };

static sl_status add_exponents(sl_store *s, const int8_t *row) {
    sl_search__store_exponents *e = &s->exponents;
    if (e->count == e->room) {
        const size_t room = e->room ? 2 * e->room : 1024;
        if (!sl_search__store_reserve(s, (room - e->room) * sizeof *e->row)) return SL_OK;
        void *p = sl_realloc(e->row, room, sizeof *e->row);
        if (!p) return sl_fail_memory(room, sizeof *e->row, "exponents of monomials");
        e->row = p;
        e->room = room;
    }
    memcpy(e->row[e->count++], row, sizeof *e->row);
    return SL_OK;
}

/* Highest exponent, in halves. */
static int highest(const sl_store *s) { return s->ops & SL_STORE__BIT(MUL) ? SL_STORE__POWER : 2; }

/* Of one variable's exponent in halves; NONE: there is no such power. */
static int cost_of(int halves) {
    static const int cost[SL_STORE__POWER + 1] = { 0, 7, 2, 9, 5, NONE, 8, NONE, 11 };
    return halves <= SL_STORE__POWER ? cost[halves] : NONE;
}

/* Powers of a monomial as a whole: numerator and denominator of the exponent, and its cost. */
static const struct {
    int num, den, cost;
} powers[] = { { 1, 1, 0 }, { 2, 1, 2 }, { 1, 2, 3 }, { 3, 1, 5 }, { 3, 2, 6 } };

/* Of the row as a power of a row with integer exponents; NONE: it is none. */
static int cost_as(const sl_store *s, const int8_t *row, int power) {
    int cost = powers[power].cost;
    for (int v = 0; v < s->variables; v++) {
        const int e = abs(row[v]) * powers[power].den;
        if (e % powers[power].num || (power && e / powers[power].num % 2)) return NONE;
        cost += cost_of(e / powers[power].num);
        if (cost >= NONE) return NONE;
    }
    return cost;
}

/* Is this the cheapest way to build the row, and the first of equal ones? */
static bool is_cheapest(const sl_store *s, const int8_t *row, int power) {
    const int mine = cost_as(s, row, power);
    for (int i = 0; i < SL_LEN(powers); i++) {
        const int other = cost_as(s, row, i);
        if (other < mine || (other == mine && i < power)) return false;
    }
    return true;
}

/* With three variables or more, fourth powers are those of quotients and products only, as (x/y)^4:
 * others would delay too many terms. */
static bool is_too_high(const sl_store *s, const int8_t *row) {
    int high = 0, low = 0;
    for (int v = 0; v < s->variables; v++) {
        high += abs(row[v]) == SL_STORE__POWER;
        low += row[v] != 0 && abs(row[v]) < SL_STORE__POWER;
    }
    return s->variables > 2 && (high == 1 || (high > 0 && low > 0));
}

/* Are all powers allowed, and is none too high? */
static bool is_allowed(const sl_store *s, const int8_t *row) {
    if (is_too_high(s, row)) return false;
    for (int v = 0; v < s->variables; v++) {
        if (abs(row[v]) > highest(s)) return false;
        if (row[v] % 2 && (!s->job->positive[v] || !(s->ops & SL_STORE__BIT(SQRT)))) return false;
    }
    return true;
}

static bool is_reciprocal(const sl_store *s, const int8_t *row) {
    for (int v = 0; v < s->variables; v++)
        if (row[v] > 0) return false;
    return true;
}

/* One pass of the recursion: rows to this power, reciprocals or the others. */
typedef struct pass {
    int power;
    bool reciprocals;
} pass;

static sl_status leaf(sl_store *s, const int8_t *base, const pass *p) {
    int8_t row[SL_STORE_MAX_VARIABLES] = { 0 };
    for (int v = 0; v < s->variables; v++)
        row[v] = (int8_t)(base[v] * powers[p->power].num / powers[p->power].den);
    if (!is_allowed(s, row) || is_reciprocal(s, row) != p->reciprocals) return SL_OK;
    return is_cheapest(s, row, p->power) ? add_exponents(s, row) : SL_OK;
}

/* All rows of a pass that cost `left` from variable v on. */
static sl_status all_of(sl_store *s, int8_t *base, const pass *p, int v, int left) {
    if (s->full || s->exponents.count >= MAX_MONOMIALS) return SL_OK;
    if (left == 0) return leaf(s, base, p);
    if (v == s->variables) return SL_OK;
    const bool last = v == s->variables - 1, divide = s->ops & SL_STORE__BIT(DIV);
    const bool multiply = s->ops & SL_STORE__BIT(MUL);
    for (int halves = SL_STORE__POWER; halves >= 1; halves--) {
        const int cost = cost_of(halves);
        if (cost > left || (p->power && halves % 2)) continue;
        if ((last || !multiply) && cost != left) continue;
        for (int sign = 1; sign >= (divide ? -1 : 1); sign -= 2) {
            base[v] = (int8_t)(sign * halves);
            SL_TRY(all_of(s, base, p, v + 1, left - cost));
        }
    }
    base[v] = 0;
    return last ? SL_OK : all_of(s, base, p, v + 1, left);
}

static sl_status all_of_degree(sl_store *s, int degree) {
    for (int reciprocals = 0; reciprocals < 2; reciprocals++)
        for (int power = 0; power < SL_LEN(powers); power++) {
            const pass p = { power, reciprocals };
            int8_t base[SL_STORE_MAX_VARIABLES] = { 0 };
            if (powers[power].cost < degree)
                SL_TRY(all_of(s, base, &p, 0, degree - powers[power].cost));
        }
    return SL_OK;
}

sl_status sl_search__store_exponents_extend(sl_store *s, size_t want) {
    sl_search__store_exponents *e = &s->exponents;
    const int end = SL_MIN(MAX_DEGREE, cost_of(highest(s)) * s->variables);
    while (e->count < want && !s->full) {
        if (e->degree >= end || e->count >= MAX_MONOMIALS) return SL_OK;
        SL_TRY(all_of_degree(s, ++e->degree));
    }
    return SL_OK;
}

/* The list takes all rows of exponents in their order: two with equal values would be chance. */
sl_status sl_search__store_monomials_extend(sl_store *s, size_t want) {
    sl_search__store_list *l = &s->list[SL_LIST_MONOMIALS];
    want = SL_MIN(want, MAX_MONOMIALS);
    SL_TRY(sl_search__store_exponents_extend(s, want + s->short_rows));
    while (s->monomial_rows < s->exponents.count && l->count < want && !s->full) {
        if (sl_search__stop(s->job, true)) return SL_OK;
        sl_store_term *t = sl_search__store_batch_room(s->batch);
        int n = 0;
        while (n < SL_STORE_BATCH && s->monomial_rows < s->exponents.count &&
               l->count + (size_t)n < want)
            t[n++] =
                sl_search__term_make(false, SL_FORM_MONOMIAL, 0, (uint32_t)s->monomial_rows++, 0);
        SL_TRY(sl_search__store_batch_keep(s, n, SL_LIST_MONOMIALS, 0));
    }
    return SL_OK;
}

/* Pure numbers are few: they are searched among many more rows than have values. */
sl_status sl_search__store_pure_extend(sl_store *s, size_t rows) {
    if (!s->units) return SL_OK;
    SL_TRY(sl_search__store_exponents_extend(s, rows));
    while (s->pure_rows < SL_MIN(rows, s->exponents.count) && !s->full) {
        if (sl_search__stop(s->job, true)) return SL_OK;
        sl_store_term *t = sl_search__store_batch_room(s->batch);
        int n = 0;
        while (n < SL_STORE_BATCH && s->pure_rows < SL_MIN(rows, s->exponents.count)) {
            sl_dimension d;
            t[n] = sl_search__term_make(false, SL_FORM_MONOMIAL, 0, (uint32_t)s->pure_rows++, 0);
            n += sl_search__store_dimension(&d, s, t[n]) && sl_search__store_is_number(&d);
        }
        SL_TRY(sl_search__store_batch_keep(s, n, SL_LIST_PURE, 0));
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
    SL_TRY(add_exponents(s, row));
    if (s->full) return SL_OK;
    const sl_store_term t = sl_search__term_make(false, SL_FORM_MONOMIAL, 0, (uint32_t)number, 0);
    if (!sl_search__store_evaluate(value, s, t, s->stride)) return SL_OK;
    SL_TRY(sl_search__store_part_add(&stored, &id, s, t, value));
    if (!stored) return SL_OK;
    return sl_search__store_list_add(s, SL_LIST_SHORT, id,
                                     (double)s->list[SL_LIST_SHORT].count + 1);
}

/* x, 1, x^2, x y; up to two variables also x^3 and x^4. */
sl_status sl_search__store_open_short(sl_store *s) {
    const int n = s->variables;
    const bool multiply = s->ops & SL_STORE__BIT(MUL);
    for (int v = 0; v < n; v++) SL_TRY(add_short(s, v, 2, -1, 0));
    const sl_search__store_list *l = &s->list[SL_LIST_SHORT];
    for (size_t i = 0; i < l->count; i++)
        SL_TRY(sl_search__store_list_add(s, SL_LIST_VARIABLES, l->id[i], (double)i + 1));
    SL_TRY(add_short(s, -1, 0, -1, 0));
    for (int v = 0; v < n && multiply; v++) SL_TRY(add_short(s, v, 4, -1, 0));
    for (int v = 0; v < n && multiply; v++)
        for (int w = v + 1; w < n; w++) SL_TRY(add_short(s, v, 2, w, 2));
    for (int v = 0; v < n && multiply && n <= 2; v++)
        for (int halves = 6; halves <= 8; halves += 2) SL_TRY(add_short(s, v, halves, -1, 0));
    s->short_rows = s->monomial_rows = s->pure_rows = s->exponents.count;
    return SL_OK;
}

/* skeleton_bases - the skeletons of the grammar: which terms an expression has.
 *
 * An expression of depth 3 is an operator on two halves of depth 2, multiplied out. Halves are
 * listed by the universe, in canonical form: sums of terms, terms being products of powers. Up to
 * coefficients, which are free, there are few of them, and so are the sums, products and quotients
 * of two: some 150,000 for two inputs, most of them of two or three terms.
 *
 * As a divisor a half is not multiplied out: a sum is one factor of every term, to the power -1.
 * Common factors of all its terms are taken out, as in canonical forms, and so are their divisors:
 * x1/(x1^2 + x1 x2) is 1/(x1 + x2), 1/(x1/x2 + x1) is x2/(x1 (x2 + 1)). */
#include <stdlib.h>
#include <string.h>

#include "search/skeleton_impl.h"

typedef sl_search__skeleton_factor factor;
typedef sl_search__skeleton_term term;

enum { HALF_TERMS = 4, WHOLE = 4 };

/* A half by its terms, and its inverse as one factor times a product. */
typedef struct half {
    int terms;
    int32_t term[HALF_TERMS]; // ascending
    bool good, divides;       // its form is supported; so is that of its inverse
    term inverse;
} half;

/* ---------------------------------------------------------------- tables -------------------- */

sl_status sl_search__skeleton_grow(bool *out, sl_skeletons *s, void **items, int32_t n,
                                   int32_t *room, size_t size) {
    *out = true;
    if (n < *room) return SL_OK;
    int32_t more = SL_MAX(256, 2 * *room);
    int64_t bytes = (int64_t)(more - *room) * (int64_t)size;
    *out = sl_search__reserve(s->job, bytes);
    if (!*out) return SL_OK;
    s->bytes += bytes;
    void *grown = sl_realloc(*items, (size_t)more, size);
    if (!grown) return sl_fail_memory((size_t)more, size, "skeletons");
    *items = grown;
    *room = more;
    return SL_OK;
}

static uint64_t mix(uint64_t h, uint64_t v) {
    h = (h ^ v) * 0xD6E8FEB86659FD93u;
    return h ^ h >> 32;
}

/* Room for one more of n entries: the table is at most half full. hash_of gives an entry's hash. */
static sl_status extend(bool *done, sl_skeletons *s, sl_search__skeleton_index *index, int32_t n,
                        uint64_t (*hash_of)(const sl_skeletons *s, int32_t i)) {
    *done = true;
    if (2 * (int64_t)(n + 1) <= index->size) return SL_OK;
    int64_t size = SL_MAX(1024, 2 * index->size), bytes = (size - index->size) * 4;
    *done = sl_search__reserve(s->job, bytes);
    if (!*done) return SL_OK;
    s->bytes += bytes;
    sl_free(index->slot);
    index->slot = sl_calloc((size_t)size, sizeof *index->slot);
    index->size = index->slot ? size : 0;
    if (!index->slot) return sl_fail_memory((size_t)size, 4, "skeletons");
    for (int32_t i = 0; i < n; i++) {
        uint64_t at = hash_of(s, i) & (uint64_t)(size - 1);
        while (index->slot[at]) at = (at + 1) & (uint64_t)(size - 1);
        index->slot[at] = i + 1;
    }
    return SL_OK;
}

/* ---------------------------------------------------------------- factors and terms --------- */

static uint64_t hash_of_node(const sl_skeletons *s, int32_t i) { return sl_expr_hash(s->node[i]); }

/* *out := the number of an expression; -1: no memory. */
static sl_status find_node(int32_t *out, sl_skeletons *s, const sl_node *e) {
    bool done;
    *out = -1;
    SL_TRY(extend(&done, s, &s->node_index, s->nodes, hash_of_node));
    if (!done) return SL_OK;
    uint64_t mask = (uint64_t)(s->node_index.size - 1), at = sl_expr_hash(e) & mask;
    for (; s->node_index.slot[at]; at = (at + 1) & mask) {
        *out = s->node_index.slot[at] - 1;
        if (sl_expr_equal(s->node[*out], e)) return SL_OK;
    }
    *out = -1;
    SL_TRY(sl_search__skeleton_grow(&done, s, (void **)&s->node, s->nodes, &s->node_room,
                                    sizeof *s->node));
    if (!done || s->nodes == INT16_MAX) return SL_OK;
    const sl_node *copy = sl_expr_copy(&s->arena, e);
    if (!copy) return sl_fail(SL_ENOMEM, "no memory for a skeleton");
    s->node[s->nodes] = copy;
    s->node_index.slot[at] = s->nodes + 1;
    *out = s->nodes++;
    return SL_OK;
}

static uint64_t hash_of_factors(const term *t) {
    uint64_t h = (uint64_t)t->factors;
    for (int i = 0; i < t->factors; i++)
        h = mix(h, (uint64_t)(uint16_t)t->factor[i].node << 16 | (uint16_t)t->factor[i].quarters);
    return h;
}

static uint64_t hash_of_term(const sl_skeletons *s, int32_t i) {
    return hash_of_factors(&s->term[i]);
}

static bool same_factors(const term *a, const term *b) {
    return a->factors == b->factors &&
           !memcmp(a->factor, b->factor, (size_t)a->factors * sizeof *a->factor);
}

static sl_status find_term(int32_t *out, sl_skeletons *s, const term *t) {
    bool done;
    *out = -1;
    SL_TRY(extend(&done, s, &s->term_index, s->terms, hash_of_term));
    if (!done) return SL_OK;
    uint64_t mask = (uint64_t)(s->term_index.size - 1), at = hash_of_factors(t) & mask;
    for (; s->term_index.slot[at]; at = (at + 1) & mask) {
        *out = s->term_index.slot[at] - 1;
        if (same_factors(&s->term[*out], t)) return SL_OK;
    }
    *out = -1;
    SL_TRY(sl_search__skeleton_grow(&done, s, (void **)&s->term, s->terms, &s->term_room,
                                    sizeof *s->term));
    if (!done) return SL_OK;
    s->term[s->terms] = *t;
    s->term_index.slot[at] = s->terms + 1;
    *out = s->terms++;
    return SL_OK;
}

/* Multiplies by node^(quarters/4); factors stay in the order of nodes. */
static bool multiply(term *t, factor f) {
    int i = 0;
    while (i < t->factors && t->factor[i].node < f.node) i++;
    if (i < t->factors && t->factor[i].node == f.node) {
        t->factor[i].quarters = (int16_t)(t->factor[i].quarters + f.quarters);
        if (abs(t->factor[i].quarters) > SL_SKELETON__QUARTERS) return false;
        if (t->factor[i].quarters == 0) {
            memmove(&t->factor[i], &t->factor[i + 1],
                    (size_t)(t->factors - i - 1) * sizeof t->factor[0]);
            t->factors--;
        }
        return true;
    }
    if (t->factors == SL_SKELETON__FACTORS) return false;
    memmove(&t->factor[i + 1], &t->factor[i], (size_t)(t->factors - i) * sizeof t->factor[0]);
    t->factor[i] = f;
    t->factors++;
    return true;
}

static int find_exp(const sl_skeletons *s, const term *t) {
    for (int i = 0; i < t->factors; i++)
        if (s->node[t->factor[i].node]->op == SL_OP_EXP) return i;
    return -1;
}

/* *out := exp(quarters/4 u), times exp(v) where v is there; canonical, in s->scratch. */
static sl_status exp_of_sum(const sl_node **out, sl_skeletons *s, const sl_node *u, int quarters,
                            const sl_node *v) {
    sl_rat power;
    (void)sl_expr_rat_make(&power, quarters, WHOLE);
    const sl_node *part[2] = { sl_expr_num(&s->scratch, power), u }, *sum;
    sum = part[0] ? sl_expr_nary(&s->scratch, SL_OP_MUL, part, 2) : NULL;
    if (sum && v) sum = sl_expr_nary(&s->scratch, SL_OP_ADD, (const sl_node *[]){ v, sum }, 2);
    if (sum) sum = sl_expr_fn(&s->scratch, SL_OP_EXP, sum);
    return sum ? sl_expr_canon(out, &s->scratch, sum)
               : sl_fail(SL_ENOMEM, "no memory for a skeleton");
}

/* Multiplies by exp(u) to a power: exponents add up in one function. */
static sl_status multiply_exp(bool *good, sl_skeletons *s, term *t, const sl_node *e,
                              int quarters) {
    const int at = find_exp(s, t);
    const sl_node *product;
    int32_t node;
    const size_t mark = sl_arena_mark(&s->scratch);
    SL_TRY(
        exp_of_sum(&product, s, e + 1, quarters, at < 0 ? NULL : s->node[t->factor[at].node] + 1));
    *good = at < 0 || multiply(t, (factor){ t->factor[at].node, -WHOLE });
    if (*good && product->op == SL_OP_EXP) {
        SL_TRY(find_node(&node, s, product));
        *good = node >= 0 && multiply(t, (factor){ (int16_t)node, WHOLE });
    } else if (*good) {
        *good = product->op == SL_OP_NUM; // 1: they cancel
    }
    sl_arena_rewind(&s->scratch, mark);
    return SL_OK;
}

static sl_status multiply_node(bool *good, sl_skeletons *s, term *t, const sl_node *e,
                               int quarters) {
    int32_t node;
    if (e->op == SL_OP_EXP) return multiply_exp(good, s, t, e, quarters);
    SL_TRY(find_node(&node, s, e));
    *good = node >= 0 && multiply(t, (factor){ (int16_t)node, (int16_t)quarters });
    return SL_OK;
}

/* a := a times b. */
static sl_status multiply_terms(bool *good, sl_skeletons *s, term *a, const term *b) {
    *good = true;
    for (int i = 0; i < b->factors && *good; i++) {
        const sl_node *e = s->node[b->factor[i].node];
        if (e->op == SL_OP_EXP)
            SL_TRY(multiply_exp(good, s, a, e, b->factor[i].quarters));
        else
            *good = multiply(a, b->factor[i]);
    }
    // a sum to an integer power would have to be multiplied out
    for (int i = 0; i < a->factors && *good; i++) {
        int quarters = a->factor[i].quarters;
        bool sum = s->node[a->factor[i].node]->op == SL_OP_ADD;
        *good = !sum || quarters < 0 || quarters % WHOLE != 0;
    }
    return SL_OK;
}

/* t := the factors of a term of a canonical form, without its number. */
static sl_status split_factors(bool *good, sl_skeletons *s, term *t, const sl_node *e) {
    *t = (term){ 0 };
    *good = true;
    const sl_node *at = e->op == SL_OP_MUL ? e + 1 : e;
    const sl_node *end = e + e->len;
    for (; at < end && *good; at = sl_expr_next(at)) {
        const sl_node *base = at;
        sl_rat power = SL_RAT(1);
        if (at->op == SL_OP_POW) base = at + 1, power = sl_expr_num_value(sl_expr_next(at + 1));
        if (base->op == SL_OP_NUM) continue;
        *good = (power.den == 1 || power.den == 2 || power.den == 4) && llabs(power.num) < 16;
        if (*good) SL_TRY(multiply_node(good, s, t, base, (int)(power.num * (WHOLE / power.den))));
    }
    return SL_OK;
}

/* ---------------------------------------------------------------- halves -------------------- */

/* Sorts and drops what is there twice; returns how many are left. They are few. */
static int sort_terms(int32_t *t, int n) {
    int kept = 0;
    for (int i = 0; i < n; i++) {
        const int32_t v = t[i];
        int at = kept;
        while (at > 0 && t[at - 1] > v) at--;
        if (at > 0 && t[at - 1] == v) continue;
        for (int k = kept; k > at; k--) t[k] = t[k - 1];
        t[at] = v;
        kept++;
    }
    return kept;
}

/* The power of a node in a term; 0: it has none. */
static int quarters_in(const term *t, int16_t node) {
    for (int i = 0; i < t->factors; i++)
        if (t->factor[i].node == node) return t->factor[i].quarters;
    return 0;
}

/* What canonical forms take out of a sum: of each factor of its terms the smallest power, that is
 * what all of them have in common, and what any of them is divided by. Exponentials and sums stay.
 */
static term common_factors(const sl_skeletons *s, const int32_t *list, int n) {
    term out = { 0 };
    for (int k = 0; k < n; k++)
        for (int i = 0; i < s->term[list[k]].factors; i++) {
            factor f = s->term[list[k]].factor[i];
            const int op = s->node[f.node]->op;
            if (op == SL_OP_EXP || op == SL_OP_ADD || quarters_in(&out, f.node) != 0) continue;
            for (int j = 0; j < n; j++)
                f.quarters = (int16_t)SL_MIN(f.quarters, quarters_in(&s->term[list[j]], f.node));
            if (f.quarters != 0) (void)multiply(&out, f);
        }
    return out;
}

static term inverse_of(const term *t) {
    term out = *t;
    for (int i = 0; i < out.factors; i++) out.factor[i].quarters = (int16_t)-out.factor[i].quarters;
    return out;
}

/* Has the first term of a sum a negative coefficient? */
static bool is_negative(const sl_node *e) {
    const sl_node *first = e + 1;
    if (first->op == SL_OP_MUL) first++;
    return first->op == SL_OP_NUM && sl_expr_num_value(first).num < 0;
}

/* *out := sign times the half over its common factors, canonical. */
static sl_status divide(const sl_node **out, sl_skeletons *s, const sl_node *e, const term *common,
                        int sign) {
    const sl_node *part[2 + SL_SKELETON__FACTORS];
    int n = 0;
    part[n++] = e;
    part[n++] = sl_expr_int(&s->arena, sign);
    for (int i = 0; i < common->factors; i++) {
        sl_rat power;
        (void)sl_expr_rat_make(&power, -common->factor[i].quarters, WHOLE);
        part[n++] = sl_expr_pow(&s->arena, s->node[common->factor[i].node], power);
    }
    for (int i = 0; i < n; i++)
        if (!part[i]) return sl_fail(SL_ENOMEM, "no memory for a skeleton");
    const sl_node *product = sl_expr_nary(&s->arena, SL_OP_MUL, part, n);
    if (!product) return sl_fail(SL_ENOMEM, "no memory for a skeleton");
    return sl_expr_canon(out, &s->arena, product);
}

/* The half over its common factors, the first term with a positive coefficient. */
static sl_status reduce_sum(const sl_node **out, sl_skeletons *s, const sl_node *e,
                            const term *common) {
    SL_TRY(divide(out, s, e, common, 1));
    if ((*out)->op == SL_OP_ADD && is_negative(*out)) SL_TRY(divide(out, s, e, common, -1));
    return SL_OK;
}

static sl_status make_inverse(half *h, sl_skeletons *s, const sl_node *e) {
    term zero = { 0 };
    if (h->terms == 1) {
        term turned = inverse_of(&s->term[h->term[0]]);
        h->inverse = zero;
        return multiply_terms(&h->divides, s, &h->inverse, &turned);
    }
    const sl_node *sum;
    term common = common_factors(s, h->term, h->terms);
    SL_TRY(reduce_sum(&sum, s, e, &common));
    h->divides = sum->op == SL_OP_ADD;
    if (!h->divides) return SL_OK;
    h->inverse = inverse_of(&common);
    return multiply_node(&h->divides, s, &h->inverse, sum, -WHOLE);
}

static sl_status make_half(half *h, sl_skeletons *s, const sl_node *e) {
    const sl_node *at = e->op == SL_OP_ADD ? e + 1 : e, *end = e + e->len;
    *h = (half){ .good = true };
    for (; at < end && h->good; at = sl_expr_next(at)) {
        term t;
        h->good = h->terms < HALF_TERMS;
        if (h->good) SL_TRY(split_factors(&h->good, s, &t, at));
        if (h->good) SL_TRY(find_term(&h->term[h->terms], s, &t));
        h->good = h->good && h->term[h->terms] >= 0;
        if (h->good) h->terms++;
    }
    if (!h->good) return SL_OK;
    SL_TRY(make_inverse(h, s, e));
    h->terms = sort_terms(h->term, h->terms);
    return SL_OK;
}

static bool same_terms(const half *a, const half *b) {
    return a->terms == b->terms && !memcmp(a->term, b->term, (size_t)a->terms * sizeof *a->term);
}

/* ---------------------------------------------------------------- skeletons ----------------- */

static uint64_t hash_of_list(const int32_t *list, int n) {
    uint64_t h = (uint64_t)n;
    for (int i = 0; i < n; i++) h = mix(h, (uint64_t)list[i]);
    return h;
}

static uint64_t hash_of_base(const sl_skeletons *s, int32_t i) {
    return hash_of_list(s->base[i].term, s->base[i].terms);
}

/* Sums that wait to be listed: where they are looked up is fetched into the cache meanwhile. */
enum { WAITING = 32 };

/* What makes the list from halves. */
typedef struct combining {
    sl_skeletons *s;
    const half *list;
    int halves;
    const bool *first; // of halves: no one before has the same terms
    int terms;         // of all halves
    /* Products of a term of a half, by row, and of another one or of an inverse, which come behind
     * the terms: 0: not made, PRODUCT_NONE, or its number + PRODUCT_FIRST. A half is one of some
     * hundred, so each product is needed several times. */
    int32_t *product;
    int n_waiting;
    struct waiting {
        sl_search__skeleton_base base;
        uint64_t hash;
    } waiting[WAITING];
} combining;

enum { PRODUCT_NONE = 1, PRODUCT_FIRST = 2 };

/* Place of a sum in the index, or the free one where it would be. */
static uint64_t place_of(const sl_skeletons *s, const struct waiting *w) {
    const uint64_t mask = (uint64_t)(s->base_index.size - 1);
    uint64_t at = w->hash & mask;
    for (; s->base_index.slot[at]; at = (at + 1) & mask) {
        const sl_search__skeleton_base *b = &s->base[s->base_index.slot[at] - 1];
        if (b->terms == w->base.terms &&
            !memcmp(b->term, w->base.term, (size_t)b->terms * sizeof *b->term))
            break;
    }
    return at;
}

/* Lists what is waiting, unless it is listed already. */
static sl_status add_waiting(bool *done, combining *c) {
    sl_skeletons *s = c->s;
    const int n = c->n_waiting;
    *done = true;
    c->n_waiting = 0;
    for (int i = 0; i < n && s->base_index.size > 0; i++) {
        const int32_t at =
            s->base_index.slot[c->waiting[i].hash & (uint64_t)(s->base_index.size - 1)];
        if (at) __builtin_prefetch(&s->base[at - 1]);
    }
    for (int i = 0; i < n; i++) {
        SL_TRY(extend(done, s, &s->base_index, s->bases, hash_of_base));
        if (!*done) return SL_OK;
        const uint64_t at = place_of(s, &c->waiting[i]);
        if (s->base_index.slot[at]) continue;
        SL_TRY(sl_search__skeleton_grow(done, s, (void **)&s->base, s->bases, &s->base_room,
                                        sizeof *s->base));
        if (!*done) return SL_OK;
        s->base[s->bases] = c->waiting[i].base;
        s->base_index.slot[at] = ++s->bases;
    }
    return SL_OK;
}

/* The sum of these terms is to be listed, unless it is too large. */
static sl_status add_base(bool *done, combining *c, int32_t *list, int n, bool quotient) {
    *done = true;
    n = sort_terms(list, n);
    if (n > SL_SKELETON__TERMS) return SL_OK;
    struct waiting *w = &c->waiting[c->n_waiting++];
    w->base = (sl_search__skeleton_base){ .terms = (int8_t)n, .quotient = quotient };
    for (int i = 0; i < n; i++) w->base.term[i] = list[i];
    w->hash = hash_of_list(list, n);
    if (c->s->base_index.size > 0)
        __builtin_prefetch(&c->s->base_index.slot[w->hash & (uint64_t)(c->s->base_index.size - 1)]);
    return c->n_waiting == WAITING ? add_waiting(done, c) : SL_OK;
}

static sl_status add_sum(bool *done, combining *c, const half *f, const half *g) {
    int32_t list[2 * HALF_TERMS];
    for (int i = 0; i < f->terms; i++) list[i] = f->term[i];
    for (int i = 0; i < g->terms; i++) list[f->terms + i] = g->term[i];
    return add_base(done, c, list, f->terms + g->terms, false);
}

/* *out := the term that is the product of two; -1: it is not supported. other: a term of a half, or
 * the number of terms plus that of a half, for its inverse. */
static sl_status find_product(int32_t *out, combining *c, int32_t a, int other) {
    int32_t *known = &c->product[(int64_t)a * (c->terms + c->halves) + other];
    if (*known == 0) {
        bool good;
        term t = c->s->term[a];
        const term by = other < c->terms ? c->s->term[other] : c->list[other - c->terms].inverse;
        *out = -1;
        SL_TRY(multiply_terms(&good, c->s, &t, &by));
        if (good) SL_TRY(find_term(out, c->s, &t));
        *known = *out < 0 ? PRODUCT_NONE : *out + PRODUCT_FIRST;
    }
    *out = *known == PRODUCT_NONE ? -1 : *known - PRODUCT_FIRST;
    return SL_OK;
}

/* Every term of f times every one of the n others. */
static sl_status add_product(bool *done, combining *c, const half *f, const int32_t *other, int n,
                             bool quotient) {
    int32_t list[HALF_TERMS * HALF_TERMS];
    int count = 0;
    *done = true;
    for (int i = 0; i < f->terms; i++)
        for (int k = 0; k < n; k++) {
            SL_TRY(find_product(&list[count], c, f->term[i], other[k]));
            if (list[count++] < 0) return SL_OK;
        }
    return add_base(done, c, list, count, quotient);
}

/* Sum, products and quotients of f and half number `at`. first: no half before that one has the
 * same terms. */
static sl_status combine(bool *done, combining *c, const half *f, int at, bool first) {
    const half *g = &c->list[at];
    const int32_t inverse = c->terms + at;
    *done = true;
    if (first) SL_TRY(add_sum(done, c, f, g));
    if (first && *done) SL_TRY(add_product(done, c, f, g->term, g->terms, false));
    if (*done && g->divides) SL_TRY(add_product(done, c, f, &inverse, 1, g->terms > 1));
    return SL_OK;
}

static sl_status combine_all(bool *done, combining *c) {
    *done = true;
    for (int f = 0; f < c->halves && *done; f++) {
        if (!c->first[f]) continue; // of halves that differ in coefficients, one
        if (sl_search__stop(c->s->job, true)) break;
        for (int g = 0; g < c->halves && *done; g++)
            SL_TRY(combine(done, c, &c->list[f], g, c->first[g] && g >= f));
    }
    return *done ? add_waiting(done, c) : SL_OK;
}

/* All skeletons of n halves. */
static sl_status list_skeletons(bool *done, sl_skeletons *s, const half *list, const bool *first,
                                int n) {
    const int64_t products = (int64_t)s->terms * (s->terms + n);
    const int64_t bytes = products * (int64_t)sizeof(int32_t) + (int64_t)sizeof(combining);
    *done = sl_search__reserve(s->job, bytes);
    if (!*done) return SL_OK;
    combining *c = sl_calloc(1, sizeof *c);
    int32_t *product = sl_calloc((size_t)SL_MAX(products, 1), sizeof *product);
    sl_status st = SL_OK;
    if (c && product) {
        *c = (combining){ s, list, n, first, .terms = s->terms, .product = product };
        st = combine_all(done, c);
    } else {
        st = sl_fail_memory((size_t)products, sizeof *product, "skeletons");
    }
    sl_search__release(s->job, bytes);
    sl_free(product);
    sl_free(c);
    return st;
}

static sl_status list_halves(half *list, bool *first, int *n, sl_skeletons *s,
                             const sl_universe *u) {
    int kept = 0;
    for (int64_t i = 0; i < sl_universe_size(u); i++) {
        half *h = &list[kept];
        SL_TRY(make_half(h, s, sl_universe_get(u, i)));
        if (!h->good) continue;
        first[kept] = true;
        for (int k = 0; k < kept && first[kept]; k++) first[kept] = !same_terms(&list[k], h);
        // a later one with the same terms matters as a divisor only
        bool divisor = h->divides && h->terms > 1;
        if (first[kept] || divisor) kept++;
    }
    *n = kept;
    return SL_OK;
}

sl_status sl_search__skeleton_list(bool *done, sl_skeletons *s) {
    sl_universe *u = NULL;
    const sl_search_grammar *g = s->job->o->grammar;
    sl_universe_options o = SL_UNIVERSE_OPTIONS_INIT;
    o.depth = 2, o.variables = s->variables, o.ops = g->ops, o.size = 0;
    half *list = NULL;
    bool *first = NULL;
    int n = 0;
    *done = false;
    sl_status st = sl_universe_new(&u, s->job->pool, &o, NULL);
    if (st != SL_OK) return st;
    size_t size = (size_t)sl_universe_size(u);
    list = sl_malloc(size, sizeof *list);
    first = sl_malloc(size, sizeof *first);
    st = list && first ? SL_OK : sl_fail_memory(size, sizeof *list, "skeletons");
    if (st == SL_OK) st = list_halves(list, first, &n, s, u);
    if (st == SL_OK) st = list_skeletons(done, s, list, first, n);
    sl_free(first);
    sl_free(list);
    sl_universe_free(u);
    return st;
}

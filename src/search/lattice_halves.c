/* lattice_halves - all halves of a number of constants, in blocks, past a table.
 *
 * A pass is a list of runs: one family, a range of left and a range of right operands. Runs are cut
 * into units of one left operand and some hundred right ones, which threads take as they are free.
 * What a half is compared up to decides which operands are enough:
 *
 *   affine   (for sums, and for what is stored) a factor and a summand are free. So one operand of
 * a sum is primitive up to both, factors of a product are primitive up to a factor. scale    (for
 * look-ups of products) a factor is free, a summand is not.
 *
 * Two operands of a sum with factors of their own, 2 p + 3 q, are a run of their own; where one of
 * them is primitive the other has the whole ratio. */
#include <math.h>
#include <string.h>

#include "search/lattice_impl.h"

enum { UNIT = 4 * SL_LATTICE__BLOCK, RUNS_MAX = 128, GRAIN = 8 };

typedef struct run {
    sl_lattice__family family;
    int left, right; // lists
    int32_t p, p_end, q, q_end;
    bool triangle;            // only q at or behind p
    uint32_t families;        // of binary ones: bits
    int32_t ratio, ratio_end; // of functions
    int64_t unit;             // the first
} run;

typedef struct walk {
    sl_lattice *l;
    int constants;
    sl_lattice__pass what;
    bool affine;
    int runs;
    run run[RUNS_MAX];
    int64_t units;
} walk;

typedef struct scratch {
    sl_lattice__block block, function, inverse, product;
    sl_lattice__keys keys;
    int32_t chosen[SL_LATTICE__BLOCK];
} scratch;

size_t sl_lattice__scratch_bytes(void) { return sizeof(scratch); }

/* ---------------------------------------------------------------- runs ---------------------- */

static int64_t blocks_of(const run *r) { return (r->q_end - r->q + UNIT - 1) / UNIT; }

static void add_run(walk *w, run r) {
    if (r.p >= r.p_end || r.q >= r.q_end) return;
    SL_ASSERT(w->runs < RUNS_MAX);
    r.unit = w->units;
    w->units += (int64_t)(r.p_end - r.p) * blocks_of(&r);
    w->run[w->runs++] = r;
}

static int32_t begin_of(const walk *w, int list, int c) { return w->l->list[list].begin[c]; }
static int32_t middle_of(const walk *w, int list, int c) { return w->l->list[list].middle[c]; }
static int32_t end_of(const walk *w, int list, int c) { return w->l->list[list].begin[c + 1]; }

static bool has(const walk *w, sl_operator o) { return w->l->grammar.ops >> o & 1; }

/* Functions, or operands alone: no left operand. */
static void add_unary(walk *w, sl_lattice__family family, int list, int32_t q, int32_t q_end,
                      int ratios) {
    const int32_t *begin = w->l->ratio_begin;
    add_run(w, (run){ .family = family,
                      .right = list,
                      .p_end = 1,
                      .q = q,
                      .q_end = q_end,
                      .ratio = begin[ratios],
                      .ratio_end = begin[ratios + 1] });
}

static void add_functions(walk *w, int c, int ratios) {
    const int FULL = SL_LATTICE__FULL;
    // a summand behind the function forbids to take a factor out of a root or of exp
    int powers = ratios ? SL_LATTICE__FULL : SL_LATTICE__SHIFT;
    int32_t roots_end = ratios ? end_of(w, FULL, c) : middle_of(w, FULL, c);
    if (has(w, SL_OPERATOR_EXP)) {
        add_unary(w, SL_LATTICE__HALF_EXP, powers, begin_of(w, powers, c), end_of(w, powers, c),
                  ratios);
        add_unary(w, SL_LATTICE__HALF_EXP_NEGATIVE, powers, begin_of(w, powers, c),
                  end_of(w, powers, c), ratios);
    }
    if (has(w, SL_OPERATOR_SIN))
        add_unary(w, SL_LATTICE__HALF_SIN, FULL, begin_of(w, FULL, c), end_of(w, FULL, c), ratios);
    if (has(w, SL_OPERATOR_SQRT)) {
        add_unary(w, SL_LATTICE__HALF_SQRT, FULL, begin_of(w, FULL, c), roots_end, ratios);
        add_unary(w, SL_LATTICE__HALF_SQRT_NEGATIVE, FULL, begin_of(w, FULL, c), roots_end, ratios);
    }
    if (ratios || !has(w, SL_OPERATOR_MUL)) return;
    add_unary(w, SL_LATTICE__HALF_SQUARE, FULL, begin_of(w, FULL, c), roots_end, 0);
    add_unary(w, SL_LATTICE__HALF_CUBE, FULL, begin_of(w, FULL, c), roots_end, 0);
    if (has(w, SL_OPERATOR_SQRT))
        add_unary(w, SL_LATTICE__HALF_THREE_HALVES, FULL, begin_of(w, FULL, c), roots_end, 0);
}

static void add_products(walk *w, int c1, int c2) {
    const int FULL = SL_LATTICE__FULL;
    uint32_t families = 0;
    if (has(w, SL_OPERATOR_MUL)) families |= 1u << 2;
    if (has(w, SL_OPERATOR_DIV)) families |= w->affine ? 3u << 3 : 1u << 3;
    if (c1 > c2 || !families) return;
    add_run(w, (run){ .left = FULL,
                      .right = FULL,
                      .families = families,
                      .triangle = c1 == c2,
                      .p = begin_of(w, FULL, c1),
                      .p_end = middle_of(w, FULL, c1),
                      .q = begin_of(w, FULL, c2),
                      .q_end = middle_of(w, FULL, c2) });
}

static void add_sums(walk *w, int c1, int c2) {
    const int SHIFT = SL_LATTICE__SHIFT, right = w->affine ? SHIFT : SL_LATTICE__FULL;
    run r = { .left = SHIFT, .right = right };
    if (!has(w, SL_OPERATOR_ADD) && !has(w, SL_OPERATOR_SUB)) return;
    r.families = 3; // either sign: factors may be negative
    // both primitive; in the list FULL that is up to a factor, with summands
    r.p = begin_of(w, SHIFT, c1), r.p_end = middle_of(w, SHIFT, c1);
    r.q = begin_of(w, right, c2), r.q_end = middle_of(w, right, c2);
    r.triangle = w->affine && c1 == c2;
    if (!w->affine || c1 <= c2) add_run(w, r);
    // the right one with a factor of its own
    r.triangle = false;
    r.q = r.q_end, r.q_end = end_of(w, right, c2);
    add_run(w, r);
    // both
    r.p = r.p_end, r.p_end = end_of(w, SHIFT, c1);
    r.triangle = w->affine && c1 == c2;
    if (!w->affine || c1 <= c2) add_run(w, r);
}

/* Three factors: halves times or over an inner expression, and inner expressions over halves. A sum
 * times something is a sum of products, which is found as such. */
static void add_triples(walk *w, int c1, int c2) {
    const int FACTOR = SL_LATTICE__FACTOR, FULL = SL_LATTICE__FULL;
    run r = { .left = FULL,
              .right = FACTOR, // the long list
              .p = begin_of(w, FULL, c2),
              .p_end = middle_of(w, FULL, c2) };
    uint32_t times = has(w, SL_OPERATOR_MUL) ? 1u << 2 : 0;
    uint32_t over = has(w, SL_OPERATOR_DIV) ? 1u << 3 : 0;
    r.q = begin_of(w, FACTOR, c1), r.q_end = middle_of(w, FACTOR, c1);
    r.families = times | over | over << 1;
    if (r.families) add_run(w, r);
    r.q = r.q_end, r.q_end = end_of(w, FACTOR, c1);
    r.families = over;
    if (r.families) add_run(w, r);
}

static void plan(walk *w, sl_lattice *l, int c, sl_lattice__pass what) {
    bool triples = what == SL_LATTICE__STORE_TRIPLES || what == SL_LATTICE__LOOK_TRIPLES;
    *w = (walk){ .l = l,
                 .constants = c,
                 .what = what,
                 .affine = what != SL_LATTICE__LOOK_PRODUCTS && what != SL_LATTICE__COLLECT };
    for (int c1 = 0; triples && c1 <= c; c1++)
        if (c1 < l->factor_levels && c - c1 < l->levels) add_triples(w, c1, c - c1);
    if (triples) return;
    int list = w->affine ? SL_LATTICE__SHIFT : SL_LATTICE__FULL;
    if (c < l->levels)
        add_unary(w, SL_LATTICE__HALF_SINGLE, list, begin_of(w, list, c), middle_of(w, list, c), 0);
    for (int c1 = 0; c1 <= c && l->grammar.depth >= 3; c1++) {
        if (c1 >= l->levels || c - c1 >= l->levels) continue;
        add_sums(w, c1, c - c1);
        add_products(w, c1, c - c1);
    }
    if (l->grammar.depth < 2) return;
    for (int ratios = 0; ratios <= (w->affine ? 0 : SL_MIN(c, 2)); ratios++)
        if (c - ratios < l->levels) add_functions(w, c - ratios, ratios);
}

int64_t sl_lattice__halves(sl_lattice *l, int constants, sl_lattice__pass what) {
    walk w;
    int64_t n = 0;
    plan(&w, l, constants, what);
    for (int i = 0; i < w.runs; i++) {
        const run *r = &w.run[i];
        int64_t pairs = (int64_t)(r->p_end - r->p) * (r->q_end - r->q);
        if (r->triangle) pairs = (pairs + r->p_end - r->p) / 2;
        n += r->families ? pairs * __builtin_popcount(r->families)
                         : pairs * (r->ratio_end - r->ratio);
    }
    return n;
}

/* ---------------------------------------------------------------- hits ---------------------- */

sl_status sl_lattice__add_hit(sl_lattice__hits *h, sl_lattice__hit hit) {
    if (h->count == h->room) {
        int64_t room = SL_MAX(64, 2 * h->room);
        sl_lattice__hit *more = sl_realloc(h->hit, (size_t)room, sizeof *more);
        if (!more) return sl_fail_memory((size_t)room, sizeof *more, "the hits of a search");
        h->hit = more;
        h->room = room;
    }
    h->hit[h->count++] = hit;
    return SL_OK;
}

/* The key that halves have which explain y alone. */
static uint64_t key_one(const sl_lattice *l) {
    uint32_t cell = sl_lattice__cell(SL_LATTICE__ONE, l->shift);
    return sl_lattice__key(cell, cell, cell);
}

static uint64_t key_none(const sl_lattice *l) {
    uint32_t cell = sl_lattice__cell(SL_LATTICE__NONE, l->shift);
    return sl_lattice__key(cell, cell, cell);
}

void sl_lattice__table_open(sl_lattice__table *t, const sl_lattice *l) {
    uint32_t bit = (uint32_t)(key_one(l) >> (64 - SL_LATTICE__FILTER_BITS));
    atomic_fetch_or(&t->filter[bit >> 5], 1u << (bit & 31));
}

/* ---------------------------------------------------------------- a block ------------------- */

/* A block of halves: values, and how code k comes about. */
typedef struct batch {
    const walk *w;
    scratch *s;
    sl_lattice__hits *hits;
    int n;
    sl_lattice__family family;
    bool swapped;      // the right operand comes first
    uint32_t p;        // the left operand
    const int32_t *id; // right operands
    int32_t ratio;
} batch;

static sl_lattice__code code_of(const batch *b, int k) {
    uint64_t p = b->p, q = (uint64_t)b->id[k];
    bool function = b->family >= SL_LATTICE__HALF_EXP && b->family < SL_LATTICE__HALF_TIMES;
    if (b->family == SL_LATTICE__HALF_SINGLE || function)
        p = q, q = (uint64_t)b->ratio;
    else if (b->swapped) {
        uint64_t t = p;
        p = q, q = t;
    }
    return SL_LATTICE__CODE(b->w->constants, b->family, p, q);
}

static uint16_t tag_of(const batch *b, int k) {
    return (uint16_t)(sl_lattice__mix(sl_lattice__cell(b->s->keys.tag[k], 6)) >> 16);
}

static uint64_t key_at(const sl_lattice__keys *keys, int k) {
    uint64_t key = (uint64_t)keys->high[k] << 32 | keys->low[k];
    return key ? key : 1;
}

static void pointers(const double **v, const sl_lattice__block *block) {
    for (int k = 0; k < SL_LATTICE__PROBES; k++) v[k] = block->v[k];
}

static sl_status found(const batch *b, int k, uint64_t key, uint64_t word, sl_lattice__form form) {
    return sl_lattice__add_hit(b->hits, (sl_lattice__hit){ .key = key,
                                                           .f = code_of(b, k),
                                                           .tag_f = tag_of(b, k),
                                                           .g = word >> 16,
                                                           .tag_g = (uint16_t)word,
                                                           .form = (uint8_t)form });
}

/* Cells that a ratio may be in, one or two, where y is rounded. */
static int cells_of(uint32_t cell[2], const sl_lattice__keys *keys, int axis, int k, int shift) {
    float r = keys->ratio[axis][k], e = keys->error[axis][k];
    cell[0] = sl_lattice__cell(r - e, shift);
    cell[1] = sl_lattice__cell(r + e, shift);
    return cell[0] == cell[1] ? 1 : 2;
}

/* All cells around the ratios of half k. */
static sl_status look_around(const batch *b, const sl_lattice__table *t, int k,
                             sl_lattice__form form) {
    uint32_t cell[3][2];
    int n[3];
    for (int axis = 0; axis < 3; axis++)
        n[axis] = cells_of(cell[axis], &b->s->keys, axis, k, b->w->l->shift);
    for (int i = 0; i < n[0]; i++)
        for (int j = 0; j < n[1]; j++)
            for (int m = 0; m < n[2]; m++) {
                uint64_t key = sl_lattice__key(cell[0][i], cell[1][j], cell[2][m]);
                if (!sl_lattice__table_may_hold(t, (uint32_t)(key >> 32))) continue;
                uint64_t word = sl_lattice__table_get(t, key);
                bool same = form == SL_LATTICE__FORM_SUM && (uint16_t)word == tag_of(b, k);
                if (word && !same) SL_TRY(found(b, k, key, word, form));
            }
    return SL_OK;
}

static sl_status look_rounded(const batch *b, const sl_lattice__table *t, sl_lattice__form form,
                              sl_lattice__form alone) {
    for (int k = 0; k < b->n; k++) {
        float r = b->s->keys.ratio[0][k];
        if (r == SL_LATTICE__NONE) continue;
        if (r == SL_LATTICE__ONE)
            SL_TRY(found(b, k, 0, 0, alone));
        else
            SL_TRY(look_around(b, t, k, form));
    }
    return SL_OK;
}

/* Looks the block's keys up. form: what a hit means; alone: what LATTICE_ONE means. */
static sl_status look_up(const batch *b, const sl_lattice__table *t, sl_lattice__form form,
                         sl_lattice__form alone) {
    sl_lattice__keys *keys = &b->s->keys;
    int32_t *chosen = b->s->chosen;
    int n = 0;
    if (b->w->l->noise > 0) return look_rounded(b, t, form, alone);
    b->w->l->kernels->hash(keys, b->n, b->w->l->shift);
    for (int k = 0; k < b->n; k++) {
        chosen[n] = k;
        n += sl_lattice__table_may_hold(t, keys->high[k]);
    }
    for (int i = 0; i < n; i++) sl_lattice__table_prefetch(t, key_at(keys, chosen[i]));
    for (int i = 0; i < n; i++) {
        int k = chosen[i];
        uint64_t key = key_at(keys, k);
        if (keys->ratio[0][k] == SL_LATTICE__ONE) {
            SL_TRY(found(b, k, 0, 0, alone));
            continue;
        }
        uint64_t word = sl_lattice__table_get(t, key);
        bool same = form == SL_LATTICE__FORM_SUM && (uint16_t)word == tag_of(b, k);
        if (word && !same) SL_TRY(found(b, k, key, word, form));
    }
    return SL_OK;
}

/* Stores the block by its keys; under exact data a half that meets one of another tag is a hit. */
static sl_status put_sums(const batch *b, sl_lattice__table *t) {
    const sl_lattice *l = b->w->l;
    sl_lattice__keys *keys = &b->s->keys;
    const uint64_t none = key_none(l);
    l->kernels->hash(keys, b->n, l->shift);
    for (int k = 0; k < b->n; k++) sl_lattice__table_prefetch(t, key_at(keys, k));
    for (int k = 0; k < b->n; k++) {
        uint64_t key = key_at(keys, k);
        if (key == none) continue;
        if (keys->ratio[0][k] == SL_LATTICE__ONE) {
            SL_TRY(found(b, k, 0, 0, SL_LATTICE__FORM_ONE));
            continue;
        }
        uint64_t word = sl_lattice__table_put(t, key, code_of(b, k) << 16 | tag_of(b, k));
        if (word && (uint16_t)word != tag_of(b, k) && l->noise == 0)
            SL_TRY(found(b, k, key, word, SL_LATTICE__FORM_SUM));
    }
    return SL_OK;
}

static void put_plain(const batch *b, sl_lattice__table *t) {
    const sl_lattice *l = b->w->l;
    sl_lattice__keys *keys = &b->s->keys;
    const uint64_t none = key_none(l), one = key_one(l);
    l->kernels->hash(keys, b->n, l->shift);
    for (int k = 0; k < b->n; k++) sl_lattice__table_prefetch(t, key_at(keys, k));
    for (int k = 0; k < b->n; k++) {
        uint64_t key = key_at(keys, k);
        if (key != none && key != one) (void)sl_lattice__table_put(t, key, code_of(b, k) << 16);
    }
}

static sl_status look_products(const batch *b) {
    static const sl_lattice__form form[] = { SL_LATTICE__FORM_PER, SL_LATTICE__FORM_TIMES,
                                             SL_LATTICE__FORM_OVER, SL_LATTICE__FORM_INVERSE };
    static const sl_lattice__form alone[] = { SL_LATTICE__FORM_RECIPROCAL, SL_LATTICE__FORM_FACTOR,
                                              SL_LATTICE__FORM_FACTOR,
                                              SL_LATTICE__FORM_RECIPROCAL };
    const sl_lattice *l = b->w->l;
    scratch *s = b->s;
    const double *v[SL_LATTICE__PROBES];
    enum { USED = 5 }; // probes of an affine key
    pointers(v, &s->product);
    for (int k = 0; k < USED; k++) l->kernels->invert(s->inverse.v[k], s->block.v[k], b->n);
    for (int what = 0; what < 4; what++) {
        for (int k = 0; k < USED; k++)
            l->kernels->against(s->product.v[k], s->block.v[k], s->inverse.v[k], l->y_probe[k],
                                b->n, what);
        l->kernels->affine(&s->keys, v, b->n, l->noise > 0 ? l->error : NULL);
        SL_TRY(look_up(b, &l->products, form[what], alone[what]));
    }
    return SL_OK;
}

static sl_status deal_with(const batch *b) {
    sl_lattice *l = b->w->l;
    const double *v[SL_LATTICE__PROBES];
    pointers(v, &b->s->block);
    if (b->w->what == SL_LATTICE__LOOK_PRODUCTS) return look_products(b);
    if (b->w->what == SL_LATTICE__COLLECT) {
        l->kernels->scale(&b->s->keys, v, b->n);
        put_plain(b, &l->scales);
        return SL_OK;
    }
    l->kernels->project(&b->s->keys, v, b->n, l->project, l->noise > 0 ? l->project_error : NULL);
    if (b->w->what == SL_LATTICE__LOOK_SUMS || b->w->what == SL_LATTICE__LOOK_TRIPLES)
        return look_up(b, &l->sums, SL_LATTICE__FORM_SUM, SL_LATTICE__FORM_ONE);
    SL_TRY(put_sums(b, &l->sums));
    if (b->w->what == SL_LATTICE__STORE_TRIPLES) return SL_OK;
    l->kernels->affine(&b->s->keys, v, b->n, NULL);
    put_plain(b, &l->products);
    return SL_OK;
}

/* ---------------------------------------------------------------- values of a block --------- */

static sl_status do_binary(batch *b, const run *r, int32_t i, int32_t q) {
    const sl_lattice *l = b->w->l;
    static const sl_lattice__family family[] = { SL_LATTICE__HALF_SUM, SL_LATTICE__HALF_DIFFERENCE,
                                                 SL_LATTICE__HALF_PRODUCT,
                                                 SL_LATTICE__HALF_QUOTIENT,
                                                 SL_LATTICE__HALF_QUOTIENT };
    static const sl_lattice__family family_of_three[] = { 0, 0, SL_LATTICE__HALF_TIMES,
                                                          SL_LATTICE__HALF_UNDER,
                                                          SL_LATTICE__HALF_PER };
    const bool triple = r->right == SL_LATTICE__FACTOR;
    b->p = (uint32_t)l->list[r->left].id[i];
    for (int op = 0; op < SL_LEN(family); op++) {
        if (!(r->families >> op & 1)) continue;
        for (int k = 0; k < SL_LATTICE__PROBES; k++)
            l->kernels->combine(b->s->block.v[k], l->list[r->left].value[k][i],
                                l->list[r->right].value[k] + q, b->n, op);
        b->family = triple ? family_of_three[op] : family[op];
        b->swapped = op == 4 || triple;
        SL_TRY(deal_with(b));
    }
    return SL_OK;
}

/* out := the function of the family of q[]. */
static void apply(double *out, const sl_lattice *l, sl_lattice__family family, const double *q,
                  int n) {
    bool negative =
        family == SL_LATTICE__HALF_EXP_NEGATIVE || family == SL_LATTICE__HALF_SQRT_NEGATIVE;
    for (int i = 0; i < n; i++) out[i] = negative ? -q[i] : q[i];
    switch (family) {
    case SL_LATTICE__HALF_EXP:
    case SL_LATTICE__HALF_EXP_NEGATIVE: sl_exp_array(out, out, n); break;
    case SL_LATTICE__HALF_SIN: sl_sin_array(out, out, n); break;
    case SL_LATTICE__HALF_SQRT:
    case SL_LATTICE__HALF_SQRT_NEGATIVE: l->kernels->root(out, out, n); break;
    case SL_LATTICE__HALF_SQUARE:
        for (int i = 0; i < n; i++) out[i] = q[i] * q[i];
        break;
    case SL_LATTICE__HALF_CUBE:
        for (int i = 0; i < n; i++) out[i] = q[i] * q[i] * q[i];
        break;
    case SL_LATTICE__HALF_THREE_HALVES:
        l->kernels->root(out, out, n);
        for (int i = 0; i < n; i++) out[i] *= q[i];
        break;
    default: break;
    }
}

static sl_status do_unary(batch *b, const run *r, int32_t q) {
    const sl_lattice *l = b->w->l;
    sl_lattice__block *u = &b->s->function;
    b->family = r->family;
    for (int k = 0; k < SL_LATTICE__PROBES; k++)
        apply(u->v[k], l, r->family, l->list[r->right].value[k] + q, b->n);
    for (b->ratio = r->ratio; b->ratio < r->ratio_end; b->ratio++) {
        for (int k = 0; k < SL_LATTICE__PROBES; k++)
            l->kernels->combine(b->s->block.v[k], l->ratio[b->ratio].value, u->v[k], b->n, 0);
        SL_TRY(deal_with(b));
    }
    return SL_OK;
}

static const run *run_of(const walk *w, int64_t unit) {
    int i = w->runs - 1;
    while (w->run[i].unit > unit) i--;
    return &w->run[i];
}

static sl_status do_unit(const walk *w, int64_t unit, scratch *s, sl_lattice__hits *hits) {
    const run *r = run_of(w, unit);
    int64_t blocks = blocks_of(r), at = unit - r->unit;
    int32_t i = r->p + (int32_t)(at / blocks), q = r->q + (int32_t)(at % blocks) * UNIT;
    int32_t end = SL_MIN(q + UNIT, r->q_end);
    if (r->triangle) q = SL_MAX(q, i);
    for (; q < end; q += SL_LATTICE__BLOCK) {
        batch b = { .w = w,
                    .s = s,
                    .hits = hits,
                    .n = SL_MIN(SL_LATTICE__BLOCK, end - q),
                    .id = w->l->list[r->right].id + q };
        if (r->families)
            SL_TRY(do_binary(&b, r, i, q));
        else
            SL_TRY(do_unary(&b, r, q));
    }
    return SL_OK;
}

static sl_status do_units(int64_t begin, int64_t end, int worker, void *payload) {
    const walk *w = payload;
    scratch *s = (scratch *)w->l->scratch + worker;
    for (int64_t unit = begin; unit < end; unit++) {
        if (sl_search__stop(w->l->job, worker == 0)) return SL_OK;
        SL_TRY(do_unit(w, unit, s, &w->l->hits[worker]));
    }
    atomic_fetch_add_explicit(&w->l->job->tried, (end - begin) * UNIT, memory_order_relaxed);
    return SL_OK;
}

sl_status sl_lattice__walk(sl_lattice *l, int constants, sl_lattice__pass what) {
    walk w;
    plan(&w, l, constants, what);
    return sl_par_for(l->job->pool, w.units, GRAIN, do_units, &w);
}

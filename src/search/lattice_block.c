/* lattice_block - a block of halves: stored under their keys, or looked up.
 *
 * With exact data a key is one cell. Where y is rounded a ratio may be in up to three cells along
 * each axis: halves close to the border of their cell are looked up in all cells within reach. The
 * error is that of a coefficient 1; with a larger one it is less. */
#include <math.h>
#include <string.h>

#include "search/lattice_impl.h"

enum { NEARBY = 27 }; // cells: three an axis

/* ---------------------------------------------------------------- hits ---------------------- */

sl_status sl_search__lattice_add_hit(sl_search__lattice_hits *h, sl_search__lattice_hit hit) {
    SL_TRY(sl_grow(&h->hit, &h->room, h->count, sizeof hit, "the hits of a search"));
    h->hit[h->count++] = hit;
    return SL_OK;
}

/* The key of halves that have no ratios: SL_LATTICE__ONE, which explain y alone, or NONE. */
static uint64_t key_of(float mark, int shift) {
    uint32_t cell = sl_search__lattice_cell(mark, shift);
    return sl_search__lattice_key(cell, cell, cell);
}

void sl_search__lattice_table_open(sl_search__lattice_table *t, const sl_lattice *l) {
    uint32_t bit = (uint32_t)(key_of(SL_LATTICE__ONE, l->shift) >> (64 - SL_LATTICE__FILTER_BITS));
    atomic_fetch_or(&t->filter[bit >> 5], 1u << (bit & 31));
}

/* ---------------------------------------------------------------- a block ------------------- */

static sl_search__lattice_code code_of(const sl_search__lattice_batch *b, int k) {
    uint64_t p = b->p, q = (uint64_t)b->id[k];
    bool function = b->family >= SL_LATTICE__HALF_EXP && b->family < SL_LATTICE__HALF_TIMES;
    if (b->family == SL_LATTICE__HALF_SINGLE || function)
        p = q, q = (uint64_t)b->ratio;
    else if (b->swapped) {
        uint64_t t = p;
        p = q, q = t;
    }
    return SL_LATTICE__CODE(b->constants, b->family, p, q);
}

static uint16_t tag_of(const sl_search__lattice_batch *b, int k) {
    return (uint16_t)(sl_search__lattice_mix(sl_search__lattice_cell(b->s->keys.tag[k], 6)) >> 16);
}

static uint64_t key_at(const sl_search__lattice_keys *keys, int k) {
    uint64_t key = (uint64_t)keys->high[k] << 32 | keys->low[k];
    return key ? key : 1;
}

static void pointers(const double **v, const sl_search__lattice_block *block) {
    for (int k = 0; k < SL_LATTICE__PROBES; k++) v[k] = block->v[k];
}

static sl_status found(const sl_search__lattice_batch *b, int k, uint64_t key, uint64_t word,
                       sl_search__lattice_form form) {
    return sl_search__lattice_add_hit(b->hits, (sl_search__lattice_hit){ .key = key,
                                                                         .f = code_of(b, k),
                                                                         .tag_f = tag_of(b, k),
                                                                         .g = word >> 16,
                                                                         .tag_g = (uint16_t)word,
                                                                         .form = (uint8_t)form });
}

/* key[] := those of all cells within reach of the ratios of half k, where y is rounded; returns how
 * many, 0 where that is too uncertain. */
static int nearby_keys(uint64_t key[NEARBY], const sl_search__lattice_keys *keys, int k,
                       int shift) {
    uint32_t cell[3];
    int n[3], count = 0;
    for (int axis = 0; axis < 3; axis++) {
        float r = keys->ratio[axis][k], e = keys->error[axis][k];
        cell[axis] = sl_search__lattice_cell(r - e, shift);
        uint32_t apart = sl_search__lattice_cell(r + e, shift) - cell[axis];
        if (apart > 2) return 0;
        n[axis] = 1 + (int)apart;
    }
    for (int i = 0; i < n[0]; i++)
        for (int j = 0; j < n[1]; j++)
            for (int m = 0; m < n[2]; m++)
                key[count++] = sl_search__lattice_key(cell[0] + (uint32_t)i, cell[1] + (uint32_t)j,
                                                      cell[2] + (uint32_t)m);
    return count;
}

uint64_t sl_search__lattice_find(uint64_t *key, const sl_search__lattice_table *t,
                                 const sl_search__lattice_keys *keys, int k, const sl_lattice *l) {
    uint64_t around[NEARBY], word;
    if (l->noise == 0) return sl_search__lattice_table_find(key, t, keys, k);
    float ratio = keys->ratio[0][k];
    if (ratio == SL_LATTICE__ONE || ratio == SL_LATTICE__NONE) return 0;
    const int n = nearby_keys(around, keys, k, l->shift);
    for (int i = 0; i < n; i++) {
        *key = around[i];
        if (!sl_search__lattice_table_may_hold(t, (uint32_t)(*key >> 32))) continue;
        if ((word = sl_search__lattice_table_get(t, *key))) return word;
    }
    return 0;
}

/* All cells around the ratios of half k. */
static sl_status look_up_nearby(const sl_search__lattice_batch *b,
                                const sl_search__lattice_table *t, int k,
                                sl_search__lattice_form form) {
    uint64_t key[NEARBY];
    int n = nearby_keys(key, &b->s->keys, k, b->l->shift);
    for (int i = 0; i < n; i++) {
        if (!sl_search__lattice_table_may_hold(t, (uint32_t)(key[i] >> 32))) continue;
        uint64_t word = sl_search__lattice_table_get(t, key[i]);
        bool same = form == SL_LATTICE__FORM_SUM && (uint16_t)word == tag_of(b, k);
        if (word && !same) SL_TRY(found(b, k, key[i], word, form));
    }
    return SL_OK;
}

/* Half k, whose key may be in the table. */
static sl_status look_up_one(const sl_search__lattice_batch *b, const sl_search__lattice_table *t,
                             int k, sl_search__lattice_form form, sl_search__lattice_form alone) {
    const sl_search__lattice_keys *keys = &b->s->keys;
    if (keys->ratio[0][k] == SL_LATTICE__NONE) return SL_OK;
    if (keys->ratio[0][k] == SL_LATTICE__ONE) return found(b, k, 0, 0, alone);
    if (b->l->noise > 0 && b->s->border[k]) return look_up_nearby(b, t, k, form);
    uint64_t key = key_at(keys, k), word = sl_search__lattice_table_get(t, key);
    bool same = form == SL_LATTICE__FORM_SUM && (uint16_t)word == tag_of(b, k);
    return word && !same ? found(b, k, key, word, form) : SL_OK;
}

/* Looks the block's keys up. form: what a hit means; alone: what LATTICE_ONE means. */
static sl_status look_up(const sl_search__lattice_batch *b, const sl_search__lattice_table *t,
                         sl_search__lattice_form form, sl_search__lattice_form alone) {
    const sl_lattice *l = b->l;
    sl_search__lattice_scratch *s = b->s;
    int n = 0;
    l->kernels->hash(&s->keys, b->n, l->shift);
    if (l->noise > 0) l->kernels->border(s->border, &s->keys, b->n, l->shift);
    for (int k = 0; k < b->n; k++) {
        s->chosen[n] = k;
        bool may = sl_search__lattice_table_may_hold(t, s->keys.high[k]);
        bool one = s->keys.ratio[0][k] == SL_LATTICE__ONE;
        n += l->noise > 0 && !one ? (may && s->border[k] == 0) || (s->border[k] - 1 < 2) : may;
    }
    for (int i = 0; i < n; i++)
        sl_search__lattice_table_prefetch(t, key_at(&s->keys, s->chosen[i]));
    for (int i = 0; i < n; i++) SL_TRY(look_up_one(b, t, s->chosen[i], form, alone));
    return SL_OK;
}

/* Stores the block by its keys; with exact data a half whose key has an entry of another tag is a
 * hit. */
static sl_status put_sums(const sl_search__lattice_batch *b, sl_search__lattice_table *t) {
    const sl_lattice *l = b->l;
    sl_search__lattice_keys *keys = &b->s->keys;
    const uint64_t none = key_of(SL_LATTICE__NONE, l->shift);
    int64_t added = 0;
    l->kernels->hash(keys, b->n, l->shift);
    for (int k = 0; k < b->n; k++) sl_search__lattice_table_prefetch_put(t, key_at(keys, k));
    for (int k = 0; k < b->n; k++) {
        uint64_t key = key_at(keys, k);
        if (key == none) continue;
        if (keys->ratio[0][k] == SL_LATTICE__ONE) {
            SL_TRY(found(b, k, 0, 0, SL_LATTICE__FORM_ONE));
            continue;
        }
        uint64_t word =
            sl_search__lattice_table_put(t, &added, key, code_of(b, k) << 16 | tag_of(b, k));
        if (word && (uint16_t)word != tag_of(b, k) && l->noise == 0)
            SL_TRY(found(b, k, key, word, SL_LATTICE__FORM_SUM));
    }
    atomic_fetch_add_explicit(&t->count, added, memory_order_relaxed);
    return SL_OK;
}

static void put_plain(const sl_search__lattice_batch *b, sl_search__lattice_table *t, int shift) {
    const sl_lattice *l = b->l;
    sl_search__lattice_keys *keys = &b->s->keys;
    const uint64_t none = key_of(SL_LATTICE__NONE, shift), one = key_of(SL_LATTICE__ONE, shift);
    int64_t added = 0;
    l->kernels->hash(keys, b->n, shift);
    for (int k = 0; k < b->n; k++) sl_search__lattice_table_prefetch_put(t, key_at(keys, k));
    for (int k = 0; k < b->n; k++) {
        uint64_t key = key_at(keys, k);
        if (key != none && key != one)
            (void)sl_search__lattice_table_put(t, &added, key, code_of(b, k) << 16);
    }
    atomic_fetch_add_explicit(&t->count, added, memory_order_relaxed);
}

/* What sl_search__lattice_kernels.against makes of f and y is a g + c in these forms. */
static const sl_search__lattice_form turned[] = { SL_LATTICE__FORM_PER, SL_LATTICE__FORM_TIMES,
                                                  SL_LATTICE__FORM_OVER, SL_LATTICE__FORM_INVERSE };

/* Keeps under the block's keys which half and form they are of. */
static void put_targets(const sl_search__lattice_batch *b, sl_search__lattice_form form) {
    const sl_lattice *l = b->l;
    const sl_search__lattice_keys *keys = &b->s->keys;
    sl_search__lattice_table *t = &b->l->targets;
    const uint64_t none = key_of(SL_LATTICE__NONE, l->shift),
                   one = key_of(SL_LATTICE__ONE, l->shift);
    int64_t added = 0;
    l->kernels->hash(&b->s->keys, b->n, l->shift);
    for (int k = 0; k < b->n; k++) sl_search__lattice_table_prefetch_put(t, key_at(keys, k));
    for (int k = 0; k < b->n; k++) {
        const uint64_t key = key_at(keys, k);
        if (key != none && key != one)
            (void)sl_search__lattice_table_put(t, &added, key, code_of(b, k) << 16 | form);
    }
    atomic_fetch_add_explicit(&t->count, added, memory_order_relaxed);
}

/* The block's halves as g: is any a target? */
static sl_status look_up_targets(const sl_search__lattice_batch *b, const double *const *v) {
    const sl_lattice *l = b->l;
    l->kernels->affine(&b->s->keys, v, b->n);
    l->kernels->hash(&b->s->keys, b->n, l->shift);
    for (int k = 0; k < b->n; k++) {
        uint64_t key, word = sl_search__lattice_table_find(&key, &l->targets, &b->s->keys, k);
        if (word)
            SL_TRY(sl_search__lattice_add_hit(
                b->hits,
                (sl_search__lattice_hit){
                    .key = key, .f = word >> 16, .g = code_of(b, k), .form = (uint8_t)word }));
    }
    return SL_OK;
}

static sl_status look_products(const sl_search__lattice_batch *b) {
    static const sl_search__lattice_form alone[] = { SL_LATTICE__FORM_RECIPROCAL,
                                                     SL_LATTICE__FORM_FACTOR,
                                                     SL_LATTICE__FORM_FACTOR,
                                                     SL_LATTICE__FORM_RECIPROCAL };
    const sl_lattice *l = b->l;
    sl_search__lattice_scratch *s = b->s;
    const double *v[SL_LATTICE__PROBES];
    enum { USED = 5 }; // probes of an affine key
    pointers(v, &s->product);
    for (int k = 0; k < USED; k++) l->kernels->invert(s->inverse.v[k], s->block.v[k], b->n);
    for (int what = 0; what < 4; what++) {
        for (int k = 0; k < USED; k++)
            l->kernels->against(s->product.v[k], s->block.v[k], s->inverse.v[k], l->y_probe[k],
                                b->n, what);
        if (l->noise > 0)
            l->kernels->affine_rounded(&s->keys, v, b->n, l->error, v, l->flat_affine);
        else
            l->kernels->affine(&s->keys, v, b->n);
        if (b->what == SL_LATTICE__STORE_TARGETS || b->what == SL_LATTICE__STORE_TRIPLE_TARGETS)
            put_targets(b, turned[what]);
        else
            SL_TRY(look_up(b, &l->products, turned[what], alone[what]));
    }
    return SL_OK;
}

sl_status sl_search__lattice_process_block(const sl_search__lattice_batch *b) {
    sl_lattice *l = b->l;
    const double *v[SL_LATTICE__PROBES];
    pointers(v, &b->s->block);
    if (b->what == SL_LATTICE__LOOK_PRODUCTS || b->what == SL_LATTICE__LOOK_TRIPLE_PRODUCTS ||
        b->what == SL_LATTICE__STORE_TARGETS || b->what == SL_LATTICE__STORE_TRIPLE_TARGETS)
        return look_products(b);
    if (b->what == SL_LATTICE__COLLECT) {
        l->kernels->scale(&b->s->keys, v, b->n);
        put_plain(b, &l->scales, SL_LATTICE__SHIFT_EXACT);
        return SL_OK;
    }
    if (b->what == SL_LATTICE__LOOK_ALL) SL_TRY(look_up_targets(b, v));
    if (l->noise > 0)
        l->kernels->project_rounded(&b->s->keys, v, b->n, l->project, l->project_error,
                                    l->flat_project);
    else
        l->kernels->project(&b->s->keys, v, b->n, l->project);
    if (b->what == SL_LATTICE__LOOK_SUMS || b->what == SL_LATTICE__LOOK_ALL ||
        b->what == SL_LATTICE__LOOK_TRIPLES)
        return look_up(b, &l->sums, SL_LATTICE__FORM_SUM, SL_LATTICE__FORM_ONE);
    SL_TRY(put_sums(b, &l->sums));
    if (b->what == SL_LATTICE__STORE_TRIPLES) return SL_OK;
    if (l->noise > 0)
        l->kernels->affine_rounded(&b->s->keys, v, b->n, NULL, NULL, 0);
    else
        l->kernels->affine(&b->s->keys, v, b->n);
    put_plain(b, &l->products, l->shift);
    return SL_OK;
}

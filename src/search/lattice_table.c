/* lattice_table - halves by key.
 *
 * Open addressing, filled by all threads at once. Of halves with one key the smallest code is kept:
 * then the table's contents do not depend on the order of insertion. A word is written by compare
 * and swap, and every thread sees the word that it replaces or loses against. So of two halves with
 * one key and different tags at least one insertion returns the other, in any order: that is how a
 * sum of two halves is found in the pass that stores them.
 *
 * A filter of 2 MB, one bit by the top of the key, ends most look-ups in the second-level cache. */
#include <string.h>

#include "search/lattice_impl.h"

enum { FILTER_WORDS = (1 << SL_LATTICE__FILTER_BITS) / 32 };

static uint64_t place_of(const sl_search__lattice_table *t, uint64_t key) {
    return key & (uint64_t)(t->size - 1);
}

static void set_filter(sl_search__lattice_table *t, uint64_t key) {
    const uint32_t bit = (uint32_t)(key >> (64 - SL_LATTICE__FILTER_BITS)), mask = 1u << (bit & 31);
    _Atomic uint32_t *word = &t->filter[bit >> 5];
    if (atomic_load_explicit(word, memory_order_relaxed) & mask) return;
    atomic_fetch_or_explicit(word, mask, memory_order_relaxed);
}

uint64_t sl_search__lattice_table_put(sl_search__lattice_table *t, int64_t *added, uint64_t key,
                                      uint64_t word) {
    const uint64_t mine = ~word;
    sl_search__lattice_slot *s;
    for (uint64_t at = place_of(t, key);; at++) {
        s = &t->slot[at & (uint64_t)(t->size - 1)];
        uint64_t seen = atomic_load_explicit(&s->key, memory_order_relaxed);
        if (seen == 0 && atomic_compare_exchange_strong_explicit(
                             &s->key, &seen, key, memory_order_relaxed, memory_order_relaxed)) {
            set_filter(t, key);
            *added += 1;
            seen = key;
        }
        if (seen == key) break;
    }
    uint64_t old = atomic_load_explicit(&s->word, memory_order_relaxed);
    while (mine > old && !atomic_compare_exchange_weak_explicit(
                             &s->word, &old, mine, memory_order_relaxed, memory_order_relaxed)) {
    }
    return old ? ~old : 0;
}

uint64_t sl_search__lattice_table_get(const sl_search__lattice_table *t, uint64_t key) {
    for (uint64_t at = place_of(t, key);; at++) {
        const sl_search__lattice_slot *s = &t->slot[at & (uint64_t)(t->size - 1)];
        uint64_t seen = atomic_load_explicit(&s->key, memory_order_relaxed);
        if (seen == key) return ~atomic_load_explicit(&s->word, memory_order_relaxed);
        if (seen == 0) return 0;
    }
}

void sl_search__lattice_table_clear(sl_lattice *l, sl_search__lattice_table *t) {
    sl_search__lattice_free(l, t->slot, (size_t)t->size, sizeof *t->slot);
    sl_search__lattice_free(l, t->filter, FILTER_WORDS, sizeof *t->filter);
    *t = (sl_search__lattice_table){ 0 };
}

static sl_status clear_part(int64_t begin, int64_t end, int worker, void *payload) {
    (void)worker;
    sl_search__lattice_slot *slot = payload;
    memset(slot + begin, 0, (size_t)(end - begin) * sizeof *slot);
    return SL_OK;
}

sl_status sl_search__lattice_table_grow(bool *done, sl_lattice *l, sl_search__lattice_table *t,
                                        int64_t halves) {
    int64_t size = 1 << 16;
    while (size < halves + halves / 8) size *= 2;
    *done = true;
    if (size <= t->size) return SL_OK;
    sl_search__lattice_table next = { .size = size };
    void *p;
    *done = false;
    SL_TRY(sl_search__lattice_alloc(&p, l, (size_t)size, sizeof *next.slot));
    if (!p) return SL_OK;
    next.slot = p;
    sl_status st;
    SL_GO(sl_search__lattice_alloc(&p, l, FILTER_WORDS, sizeof *next.filter));
    next.filter = p;
    if (!p) goto done;
    memset((void *)next.filter, 0, FILTER_WORDS * sizeof *next.filter);
    SL_GO(sl_par_for(l->job->pool, size, 1 << 16, clear_part, next.slot));
    int64_t kept = 0;
    for (int64_t i = 0; i < t->size; i++)
        if (t->slot[i].key)
            (void)sl_search__lattice_table_put(&next, &kept, t->slot[i].key, ~t->slot[i].word);
    next.count = kept;
    *done = true;
    sl_search__lattice_table_clear(l, t);
    *t = next;
    return SL_OK;
done:
    sl_search__lattice_table_clear(l, &next);
    return st;
}

/* spans_table - keys of terms, and the terms that had them first. */
#include <string.h>

#include "par/par.h"
#include "search/spans_impl.h"

enum {
    FIRST_BITS = 11,
    FIRST_SIZE = SL_SPANS__SHARDS << FIRST_BITS,
    RING_BITS_MAX = 25,
    FILTER_SHARE = 8,     // bits of a filter for each entry, at least
    FILTER_BITS_MAX = 28, // bits of the key in an entry
};

static int64_t bytes_of(int64_t size) { return size * (int64_t)sizeof(sl_search__spans_entry); }

/* *out := `size` slots, not cleared; NULL where max_memory does not allow them. */
static sl_status new_entries(sl_search__spans_entry **out, sl_search__job *j, int64_t size) {
    *out = NULL;
    if (!sl_search__reserve(j, bytes_of(size))) return SL_OK;
    *out = sl_malloc_aligned((size_t)size, sizeof **out);
    if (*out) return SL_OK;
    sl_search__release(j, bytes_of(size));
    return sl_fail_memory((size_t)size, sizeof **out, "a table of keys");
}

sl_status sl_search__spans_table_open(sl_search__spans_table *t, sl_search__job *j, int64_t limit) {
    SL_TRY(new_entries(&t->entry, j, FIRST_SIZE));
    if (!t->entry) return SL_OK;
    memset(t->entry, 0, (size_t)bytes_of(FIRST_SIZE));
    t->size = FIRST_SIZE;
    t->ring_bits = FIRST_BITS;
    t->limit = limit;
    return SL_OK;
}

void sl_search__spans_table_close(sl_search__spans_table *t, sl_search__job *j) {
    if (!t->entry) return;
    sl_free(t->entry);
    sl_search__release(j, bytes_of(t->size));
    if (t->filter) sl_search__release(j, INT64_C(1) << (t->filter_bits - 3));
    sl_free(t->filter);
    t->entry = NULL;
    t->filter = NULL;
}

/* A full table is only read: then a bit filter that fits the caches ends most look-ups. Without
 * memory there is no filter. */
static sl_status make_full(sl_search__spans_table *t, sl_search__job *j, int64_t used) {
    int bits = 10;
    t->full = true;
    while (bits < FILTER_BITS_MAX && INT64_C(1) << bits < FILTER_SHARE * used) bits++;
    size_t words = (size_t)1 << (bits - 6);
    if (!sl_search__reserve(j, (int64_t)(words * sizeof *t->filter))) return SL_OK;
    t->filter = sl_calloc(words, sizeof *t->filter);
    if (!t->filter) {
        sl_search__release(j, (int64_t)(words * sizeof *t->filter));
        return sl_fail_memory(words, sizeof *t->filter, "a table of keys");
    }
    t->filter_bits = bits;
    for (int64_t i = 0; i < t->size; i++) {
        if (!t->entry[i]) continue;
        uint64_t bit = t->entry[i] >> (64 - bits);
        t->filter[bit / 64] |= UINT64_C(1) << bit % 64;
    }
    return SL_OK;
}

/* The shard's slots are a ring of their own. */
static int64_t next_slot(const sl_search__spans_table *t, int64_t slot) {
    int64_t ring = t->size / SL_SPANS__SHARDS;
    return (slot & ~(ring - 1)) | ((slot + 1) & (ring - 1));
}

/* Clears a shard's new slots and moves its old entries there: rings of the old and the new table
 * have the same keys. */
static void move_shard(sl_search__spans_table *t, int shard) {
    int64_t ring = t->size / SL_SPANS__SHARDS, old_ring = t->old_size / SL_SPANS__SHARDS;
    const sl_search__spans_entry *from = t->old + shard * old_ring;
    memset(t->entry + shard * ring, 0, (size_t)bytes_of(ring));
    for (int64_t i = 0; i < old_ring; i++) {
        if (!from[i]) continue;
        int64_t slot = sl_search__spans_slot(t, from[i]);
        while (t->entry[slot]) slot = next_slot(t, slot);
        t->entry[slot] = from[i];
    }
}

/* *grows: the table needs new slots for `more` entries, and has them, not yet filled. */
static sl_status begin_growth(bool *grows, sl_search__spans_table *t, sl_search__job *j,
                              int64_t more) {
    int64_t used = 0, size = t->size;
    int bits = t->ring_bits;
    *grows = false;
    if (!t->entry || t->full) return SL_OK;
    for (int i = 0; i < SL_SPANS__SHARDS; i++) used += t->used[i];
    if (used >= t->limit) return make_full(t, j, used);
    if (5 * (used + more) <= 3 * size) return SL_OK;
    while (5 * (used + more) > 3 * size) size *= 2, bits++;
    if (size < 1 << 17) size *= 2, bits++; // small ones fill soon
    sl_search__spans_entry *grown = NULL;
    if (bits <= RING_BITS_MAX) SL_TRY(new_entries(&grown, j, size));
    if (!grown) return make_full(t, j, used);
    t->old = t->entry;
    t->old_size = t->size;
    t->entry = grown;
    t->size = size;
    t->ring_bits = bits;
    *grows = true;
    return SL_OK;
}

typedef struct growth {
    sl_search__spans_table *list[SL_SPANS__SPANS * SL_SPANS__TABLES];
    int n;
} growth;

static sl_status grow_part(int64_t begin, int64_t end, int worker, void *payload) {
    growth *g = payload;
    (void)worker;
    for (int64_t i = begin; i < end; i++)
        move_shard(g->list[i / SL_SPANS__SHARDS], (int)(i % SL_SPANS__SHARDS));
    return SL_OK;
}

sl_status sl_search__spans_table_grow(sl_search__spans_table (*table)[SL_SPANS__TABLES], int spans,
                                      sl_search__job *j, int64_t more) {
    growth g = { .n = 0 };
    sl_status st = SL_OK;
    bool grows;
    for (int i = 0; i < spans * SL_SPANS__TABLES && st == SL_OK; i++) {
        sl_search__spans_table *t = &table[i / SL_SPANS__TABLES][i % SL_SPANS__TABLES];
        st = begin_growth(&grows, t, j, more);
        if (st == SL_OK && grows) g.list[g.n++] = t;
    }
    if (g.n > 0 && st == SL_OK) st = sl_par_for(j->pool, g.n * SL_SPANS__SHARDS, 1, grow_part, &g);
    for (int i = 0; i < g.n; i++) {
        sl_free(g.list[i]->old);
        g.list[i]->old = NULL;
        sl_search__release(j, bytes_of(g.list[i]->old_size));
    }
    return st;
}

sl_search__spans_lookup sl_search__spans_table_put(int64_t *other, sl_search__spans_table *t,
                                                   uint64_t key, uint64_t direction,
                                                   int64_t number) {
    uint64_t whole = key >> 36 << 36 | direction >> 52 << 24;
    int64_t slot = sl_search__spans_slot(t, key);
    for (;; slot = next_slot(t, slot)) {
        sl_search__spans_entry e = t->entry[slot];
        if (!e) break;
        if ((e ^ whole) >> 36) continue;
        *other = (int64_t)(e & 0xFFFFFF) - 1;
        return (e ^ whole) >> 24 ? SL_SPANS__OTHER : SL_SPANS__SAME;
    }
    int64_t *used = &t->used[sl_search__spans_shard(key)];
    // a shard keeps a free slot, where look-ups end
    if (t->full || *used + 1 >= t->size / SL_SPANS__SHARDS) return SL_SPANS__SAME;
    t->entry[slot] = whole | (uint64_t)(number + 1);
    ++*used;
    return SL_SPANS__NEW;
}

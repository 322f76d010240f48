/* spans_table - keys of terms, and the terms that had them first. */
#include <string.h>

#include "par/par.h"
#include "search/spans_impl.h"

enum { FIRST_SIZE = 1 << 14 };

static int64_t bytes_of(int64_t size) { return size * (int64_t)sizeof(sl_spans__entry); }

static sl_spans__entry *new_entries(sl_search__job *j, int64_t size) {
    if (!sl_search__reserve(j, bytes_of(size))) return NULL;
    sl_spans__entry *e = sl_malloc_wide((size_t)size, sizeof *e);
    if (!e) {
        sl_search__release(j, bytes_of(size));
        return NULL;
    }
    return e;
}

sl_status sl_spans__table_open(sl_spans__table *t, sl_search__job *j, int64_t limit) {
    t->entry = new_entries(j, FIRST_SIZE);
    if (!t->entry) return sl_fail_memory(FIRST_SIZE, sizeof *t->entry, "a table of keys");
    memset(t->entry, 0, (size_t)bytes_of(FIRST_SIZE));
    t->size = FIRST_SIZE;
    t->limit = limit;
    return SL_OK;
}

void sl_spans__table_close(sl_spans__table *t, sl_search__job *j) {
    if (!t->entry) return;
    sl_free(t->entry);
    sl_search__release(j, bytes_of(t->size));
    t->entry = NULL;
}

/* The shard's slots are a ring of their own. */
static int64_t next_slot(const sl_spans__table *t, int64_t slot) {
    int64_t ring = t->size / SL_SPANS__SHARDS;
    return (slot & ~(ring - 1)) | ((slot + 1) & (ring - 1));
}

/* Clears a shard's new slots and moves its old entries there: rings of the old and the new table
 * have the same keys. */
static void move_shard(sl_spans__table *t, int shard) {
    int64_t ring = t->size / SL_SPANS__SHARDS, old_ring = t->old_size / SL_SPANS__SHARDS;
    const sl_spans__entry *from = t->old + shard * old_ring;
    memset(t->entry + shard * ring, 0, (size_t)bytes_of(ring));
    for (int64_t i = 0; i < old_ring; i++) {
        if (!from[i].key) continue;
        int64_t slot = sl_spans__slot(t, from[i].key);
        while (t->entry[slot].key) slot = next_slot(t, slot);
        t->entry[slot] = from[i];
    }
}

/* Is it to grow for so many more entries? Then it has new slots, still to be filled. */
static bool begin_growth(sl_spans__table *t, sl_search__job *j, int64_t more) {
    int64_t used = 0, size = t->size;
    if (!t->entry || t->full) return false;
    for (int i = 0; i < SL_SPANS__SHARDS; i++) used += t->used[i];
    if (2 * (used + more) <= size) return false;
    while (2 * (used + more) > size) size *= 4;
    sl_spans__entry *grown = used < t->limit ? new_entries(j, size) : NULL;
    t->full = !grown;
    if (!grown) return false;
    t->old = t->entry;
    t->old_size = t->size;
    t->entry = grown;
    t->size = size;
    return true;
}

typedef struct growth {
    sl_spans__table *list[SL_SPANS__SPANS * SL_SPANS__TABLES];
    int n;
} growth;

static sl_status grow_part(int64_t begin, int64_t end, int worker, void *payload) {
    growth *g = payload;
    (void)worker;
    for (int64_t i = begin; i < end; i++)
        move_shard(g->list[i / SL_SPANS__SHARDS], (int)(i % SL_SPANS__SHARDS));
    return SL_OK;
}

sl_status sl_spans__grow(sl_spans__table (*table)[SL_SPANS__TABLES], int spans, sl_search__job *j,
                         int64_t more) {
    growth g = { .n = 0 };
    for (int s = 0; s < spans; s++)
        for (int t = 0; t < SL_SPANS__TABLES; t++)
            if (begin_growth(&table[s][t], j, more)) g.list[g.n++] = &table[s][t];
    if (g.n == 0) return SL_OK;
    sl_status st = sl_par_for(j->pool, g.n * SL_SPANS__SHARDS, 1, grow_part, &g);
    for (int i = 0; i < g.n; i++) {
        sl_free(g.list[i]->old);
        g.list[i]->old = NULL;
        sl_search__release(j, bytes_of(g.list[i]->old_size));
    }
    return st;
}

sl_spans__met sl_spans__meet(sl_term *other, sl_spans__table *t, uint64_t key, uint64_t direction,
                             sl_term term) {
    const uint64_t low = 0xFFFFF;
    uint64_t want = key & ~low;
    if (!want) want = low + 1;
    uint64_t whole = want | (direction >> 44);
    int64_t slot = sl_spans__slot(t, want);
    for (;; slot = next_slot(t, slot)) {
        sl_spans__entry *e = &t->entry[slot];
        if (!e->key) break;
        if ((e->key & ~low) != want) continue;
        *other = e->term;
        return e->key == whole ? SL_SPANS__SAME : SL_SPANS__OTHER;
    }
    int64_t *used = &t->used[sl_spans__shard(want)];
    // a ring always keeps a free slot, where looking ends
    if (t->full || *used + 1 >= t->size / SL_SPANS__SHARDS) return SL_SPANS__SAME;
    t->entry[slot] = (sl_spans__entry){ whole, term };
    ++*used;
    return SL_SPANS__NEW;
}

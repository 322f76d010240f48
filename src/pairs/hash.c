/* hash - names for what a configuration gives. */
#include "pairs/pairs_impl.h"

uint64_t sl_pairs__hash_pair(const sl_pair *pair) {
    uint64_t h = sl_hash(pair->expr, pair->expr->len * sizeof *pair->expr, (uint64_t)pair->base);
    h = sl_hash(pair->tokens, (size_t)pair->n_tokens, h);
    const sl_dataset *d = &pair->data;
    for (int c = 0; c < d->inputs; c++) h = sl_hash(d->x[c], (size_t)d->rows * sizeof(double), h);
    return sl_hash(d->y, (size_t)d->rows * sizeof(double), h);
}

typedef struct job {
    const sl_pairs *p;
    sl_split split;
    uint64_t *hash;  // by index
    sl_arena *arena; // by worker
} job;

static sl_status hash_some(int64_t begin, int64_t end, int worker, void *payload) {
    const job *j = payload;
    for (int64_t i = begin; i < end; i++) {
        sl_pair pair;
        sl_arena_rewind(&j->arena[worker], 0);
        SL_TRY(sl_pairs_get(&pair, &j->arena[worker], j->p, j->split, i));
        j->hash[i] = sl_pairs__hash_pair(&pair);
    }
    return SL_OK;
}

sl_status sl_pairs_hash(char out[33], sl_pool *pool, const sl_pairs *p, sl_split split,
                        int64_t count) {
    const int64_t n = SL_MIN(count, sl_pairs_size(p, split));
    const int workers = sl_par_pool_threads(pool);
    sl_status st;
    sl_hasher *h = NULL;
    job j = { p, split, sl_malloc((size_t)n, sizeof *j.hash),
              sl_calloc((size_t)workers, sizeof *j.arena) };
    if (!j.hash || !j.arena) {
        st = sl_fail_memory((size_t)n, sizeof *j.hash, "hashes of pairs");
        goto done;
    }
    SL_GO(sl_hasher_new(&h));
    SL_GO(sl_par_for(pool, n, 16, hash_some, &j));
    sl_hasher_add(h, j.hash, (size_t)n * sizeof *j.hash);
    sl_hasher_text(h, out);
done:
    for (int w = 0; w < workers && j.arena; w++) sl_arena_clear(&j.arena[w]);
    sl_free(j.arena);
    sl_free(j.hash);
    sl_hasher_free(h);
    return st;
}

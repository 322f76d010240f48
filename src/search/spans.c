/* spans - exact search modulo spans: the two methods "products" and "sums".
 *
 * Both sides share one store. A level of a side reads the store's terms of that level in batches.
 * Hits of a batch are verified before the next begins. After an exact formula the level continues
 * for an eighth of the terms read so far, because the first formula is not always the simplest. All
 * limits are counts of terms, not times. */
#include <math.h>
#include <string.h>

#include "par/par.h"
#include "search/spans_impl.h"

enum { HITS_BLOCK = 256, HITS_SHARD = 64, HITS_BATCH = 2048, LEVELS = 30 };

/* ---------------------------------------------------------------- memory -------------------- */

/* Arrays that live as long as the side does. */
static void *get(sl_spans *s, size_t count, size_t size, sl_status *st) {
    void *p = *st == SL_OK ? sl_arena_alloc(&s->arena, count * size) : NULL;
    if (!p && *st == SL_OK) *st = sl_fail_memory(count, size, "a search modulo spans");
    if (p) memset(p, 0, count * size);
    return p;
}

static void open_hits(sl_spans *s, sl_search__spans_hits *h, int room, sl_status *st) {
    h->list = get(s, (size_t)room, sizeof *h->list, st);
    h->room = room;
}

static sl_status open_buffers(sl_spans *s) {
    sl_status st = SL_OK;
    int shards = SL_SPANS__SPANS * SL_SPANS__TABLES * SL_SPANS__SHARDS;
    s->workers = sl_par_pool_threads(s->job->pool);
    s->block = get(s, SL_SPANS__BLOCKS, sizeof *s->block, &st);
    s->block_hits = get(s, SL_SPANS__BLOCKS, sizeof *s->block_hits, &st);
    s->shard_hits = get(s, (size_t)shards, sizeof *s->shard_hits, &st);
    s->scratch = get(s, (size_t)s->workers, sizeof *s->scratch, &st);
    open_hits(s, &s->hits, HITS_BATCH, &st);
    for (int i = 0; i < SL_SPANS__BLOCKS && st == SL_OK; i++)
        open_hits(s, &s->block_hits[i], HITS_BLOCK, &st);
    for (int i = 0; i < shards && st == SL_OK; i++)
        open_hits(s, &s->shard_hits[i], HITS_SHARD, &st);
    for (int i = 0; i < s->workers && st == SL_OK; i++) {
        size_t numbers = SL_SPANS__BLOCK * (size_t)s->stride;
        s->scratch[i] = sl_malloc_aligned(numbers, sizeof(double));
        if (!s->scratch[i]) st = sl_fail_memory(numbers, sizeof(double), "values of terms");
    }
    for (int i = 0; i < s->spans; i++)
        s->first[i] = get(s, SL_SPANS__FIRST, sizeof **s->first, &st);
    return st;
}

/* ---------------------------------------------------------------- the store ----------------- */

static sl_status take_store(sl_search__job *j) {
    if (j->store_users++ > 0) return SL_OK;
    int probes = SL_MAX(sl_search__spans_probes(j, SL_SIDE_PRODUCT),
                        sl_search__spans_probes(j, SL_SIDE_SUM));
    return sl_search__store_open(&j->store, j, SL_MIN(probes, SL_STORE_MAX_PROBES));
}

static void give_store(sl_search__job *j) {
    if (--j->store_users > 0) return;
    sl_search__store_close(j->store);
    j->store = NULL;
}

/* ---------------------------------------------------------------- opening ------------------- */

static void close_side(void *state) {
    sl_spans *s = state;
    if (!s) return;
    for (int i = 0; i < SL_SPANS__SPANS; i++)
        for (int t = 0; t < SL_SPANS__TABLES; t++)
            sl_search__spans_table_close(&s->table[i][t], s->job);
    for (int i = 0; i < s->workers && s->scratch; i++) sl_free(s->scratch[i]);
    sl_search__release(s->job, s->log_room * (int64_t)sizeof *s->log);
    sl_free(s->log);
    sl_arena_clear(&s->arena);
    if (s->probes > 0) give_store(s->job);
    sl_free(s);
}

/* Too few rows for any term: only powers of the columns are tried. Integer exponents or small
 * fractions cost few bits, so five rows may determine a product of four columns. */
static sl_status open_few(sl_spans *s) {
    int columns = s->job->rows.inputs + 1;
    if (s->side == SL_SIDE_SUM || s->job->rows.rows < columns) return SL_OK;
    s->target = sl_arena_alloc(&s->arena, sizeof *s->target);
    if (!s->target) return sl_fail_memory(1, sizeof *s->target, "a search modulo spans");
    *s->target = (sl_search__spans_target){ .kind = SL_SPANS__TIMES, .power = 1 };
    s->span[0].dim = columns;
    s->few = true;
    return SL_OK;
}

static sl_status open_parts(sl_spans *s) {
    sl_search__job *j = s->job;
    if (sl_search__spans_probes(j, s->side) == 0) return open_few(s);
    s->probes = 1; // so that closing gives the store back
    SL_TRY(take_store(j));
    s->store = j->store;
    s->probes = sl_search__spans_probes(j, s->side);
    s->stride = (s->probes + 7) / 8 * 8; // the store may have more, for the other side
    s->kernels = sl_search__spans_kernels_at(sl_cpu());
    SL_TRY(sl_search__spans_open_spans(s));
    SL_TRY(open_buffers(s));
    return sl_search__spans_open_targets(s);
}

static sl_status open_side(void **state, sl_search__job *j, sl_side side, const char *name) {
    sl_spans *s = sl_calloc(1, sizeof *s);
    if (!s) return sl_fail_memory(1, sizeof *s, "a search modulo spans");
    s->job = j;
    s->side = side;
    s->name = name;
    sl_status st = open_parts(s);
    if (st != SL_OK) {
        close_side(s);
        return st;
    }
    *state = s;
    return SL_OK;
}

/* ---------------------------------------------------------------- levels -------------------- */

/* The next terms of the walk, as blocks; false at the end. */
static bool next_batch(sl_spans *s, sl_store_walk *walk) {
    sl_store_term term[SL_SPANS__BATCH];
    s->batch_terms = sl_search__store_walk_next(term, NULL, SL_SPANS__BATCH, walk);
    s->batch_simple = walk->simple;
    for (int i = 0; i < SL_SPANS__BLOCKS; i++) {
        int from = i * SL_SPANS__BLOCK, left = s->batch_terms - from;
        s->block[i].n = left < 0 ? 0 : SL_MIN(left, (int)SL_SPANS__BLOCK);
        memcpy(s->block[i].term, term + from, (size_t)s->block[i].n * sizeof *term);
    }
    return s->batch_terms > 0;
}

/* Have enough terms followed the first exact formula? */
static bool is_enough(const sl_spans *s) {
    return s->found && s->terms - s->found_at >= s->found_at / 8;
}

static sl_status walk_level(sl_spans *s, int level) {
    sl_store_walk walk;
    sl_search__store_walk_begin(&walk, s->store, s->side, level);
    while (!is_enough(s) && !sl_search__stop(s->job, true) && next_batch(s, &walk))
        SL_TRY(sl_search__spans_batch(s));
    return SL_OK;
}

/* What comes after the walk of some levels: pairs of the first terms for targets without tables,
 * triples of them, and on the side of sums monomials times y. */
static const struct extra {
    int level, triples[2], monomials; // triples: of products, of sums
    struct {
        int targets, terms;
    } pairs[2];
} extras[] = {
    { 4, { 400, 300 }, 1 << 12, { { 0, 0 }, { 0, 0 } } },
    { 6, { 0, 0 }, 0, { { 640, 1024 }, { 0, 0 } } },
    { 7, { 0, 0 }, 1 << 15, { { 0, 0 }, { 0, 0 } } },
    { 8, { 3000, 1500 }, 0, { { 6000, 2048 }, { 4000, 1024 } } },
    { 10, { 8000, 5000 }, 0, { { 6000, 8192 }, { 16000, 4096 } } },
};

static sl_status run_extras(sl_spans *s, int level) {
    int monomials = 0;
    for (int i = 0; i < SL_LEN(extras) && extras[i].level <= level; i++) {
        const struct extra *e = &extras[i];
        if (s->found || sl_search__stop(s->job, true)) return SL_OK;
        if (e->level == level && e->pairs[s->side].targets)
            SL_TRY(sl_search__spans_pairs(s, e->pairs[s->side].targets, e->pairs[s->side].terms));
        if (e->level == level && e->triples[s->side] && !s->found)
            SL_TRY(sl_search__spans_three(s, e->triples[s->side]));
        if (s->side == SL_SIDE_PRODUCT || !e->monomials) continue;
        if (e->level == level && !s->found)
            SL_TRY(sl_search__spans_zero(s, monomials, e->monomials));
        monomials = e->monomials;
    }
    return SL_OK;
}

static sl_status run_level(bool *more, sl_spans *s, int level) {
    s->level = level;
    s->verified = 0;
    *more = s->spans > 0 && level + 1 < LEVELS;
    if (s->few) return sl_search__spans_verify(s, &(sl_search__spans_hit){ .n = 0 });
    if (s->spans == 0) return SL_OK;
    if (level == 0) SL_TRY(sl_search__spans_no_terms(s));
    if (s->found) return SL_OK;
    SL_TRY(sl_search__store_extend(s->job->store, level));
    SL_TRY(walk_level(s, level));
    return run_extras(s, level);
}

static sl_status level_side(bool *more, void *state, int level) {
    return run_level(more, state, level);
}

static sl_status open_products(void **state, sl_search__job *j) {
    return open_side(state, j, SL_SIDE_PRODUCT, "products");
}

static sl_status open_sums(void **state, sl_search__job *j) {
    return open_side(state, j, SL_SIDE_SUM, "sums");
}

const sl_search__method sl_search__spans_products = { "products", open_products, level_side,
                                                      close_side };
const sl_search__method sl_search__spans_sums = { "sums", open_sums, level_side, close_side };

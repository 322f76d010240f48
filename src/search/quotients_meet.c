/* quotients_meet - pairs of terms of one structure whose linear combination is y.
 *
 * Terms are made by number of constants. Each is put into the table of its structure unless it
 * differs from what is there by a factor alone; two of one key that differ otherwise are a hit.
 * Terms of more constants than are stored are only looked up, behind a bit filter. The table
 * belongs to one structure and one thread, so it stays in the cache. */
#include <string.h>

#include "search/quotients_impl.h"

typedef struct meeting {
    sl_quotients *q;
    sl_search__quotients_work *w;
    sl_search__quotients_hits *hits;
    int32_t structure;
    int64_t hits_end; // of the hits that this structure may add
    int streaming;    // constants of the list that is flushed
    sl_status status; // of what was flushed
    int64_t tried;
} meeting;

static int constants_at(const sl_search__quotients_list *list, int32_t i) {
    int c = 0;
    while (i >= list->begin[c + 1]) c++;
    return c;
}

sl_search__quotients_term sl_search__quotients_term_at(const sl_search__quotients_work *w,
                                                       int32_t top, int32_t bottom) {
    return (sl_search__quotients_term){ w->top[top], w->bottom[bottom],
                                        constants_at(&w->tops, top) +
                                            constants_at(&w->bottoms, bottom) };
}

sl_status sl_search__quotients_add_hit(sl_search__quotients_hits *h,
                                       const sl_search__quotients_hit *hit, int64_t most) {
    if (h->count == most) return SL_OK;
    SL_TRY(sl_grow(&h->hit, &h->room, h->count, sizeof *hit, "the hits of a search"));
    h->hit[h->count++] = *hit;
    return SL_OK;
}

static sl_status add_hit(const meeting *m, const sl_search__quotients_slot *s, int32_t top,
                         int32_t bottom) {
    sl_search__quotients_hit hit;
    memset(&hit, 0, sizeof hit);
    hit.structure = m->structure;
    hit.terms = 2;
    hit.term[0] = sl_search__quotients_term_at(m->w, s->top, s->bottom);
    hit.term[1] = sl_search__quotients_term_at(m->w, top, bottom);
    return sl_search__quotients_add_hit(m->hits, &hit, m->hits_end);
}

/* The slot of a key, or the free one where it belongs. */
static sl_search__quotients_slot *find(const sl_search__quotients_work *w, uint32_t check,
                                       uint32_t place) {
    uint64_t mask = (uint64_t)w->slots - 1, at = place & mask;
    while (w->slot[at].check && w->slot[at].check != check) at = (at + 1) & mask;
    return &w->slot[at];
}

/* A block of terms: base + i of one list, `other` of the other. */
typedef struct block {
    int32_t base, other, n;
    bool tops; // the block runs over tops
} block;

/* Cells of the map: 0 for none, 1 for one stored term, 3 for more. */
static int seen(const sl_search__quotients_work *w, uint32_t place) {
    uint32_t cell = place >> w->shift;
    return w->map[cell >> 2] >> 2 * (cell & 3) & 3;
}

static void mark_block(sl_search__quotients_work *w, int n) {
    for (int i = 0; i < n; i++) {
        if (!w->keys.check[i]) continue;
        uint32_t cell = w->keys.place[i] >> w->shift, shift = 2 * (cell & 3);
        uint8_t *byte = &w->map[cell >> 2];
        uint32_t before = *byte >> shift & 3;
        *byte = (uint8_t)(*byte | ((before << 1 | 1) & 3) << shift);
    }
}

/* w->chosen[] := places in the block that have a key and whose cell has at least `least` terms;
 * their slots are fetched ahead. */
static int choose(sl_search__quotients_work *w, int n, int least) {
    const sl_search__quotients_keys *keys = &w->keys;
    int chosen = 0;
    for (int i = 0; i < n; i++) {
        w->chosen[chosen] = i;
        chosen += keys->check[i] && seen(w, keys->place[i]) >= least;
    }
    for (int k = 0; k < chosen; k++)
        __builtin_prefetch(&w->slot[keys->place[w->chosen[k]] & (w->slots - 1)]);
    return chosen;
}

/* The same behind the filter, for terms that are only looked up. */
static int sift(const sl_quotients *q, sl_search__quotients_work *w, int n) {
    int chosen = 0;
    for (int i = n; i < (n + 7) / 8 * 8; i++) w->keys.check[i] = w->keys.place[i] = 0;
    q->kernels->sift(w->passed, &w->keys, w->filter, w->shift, n);
    for (int i = 0; i < n; i += 8) {
        uint64_t eight;
        memcpy(&eight, w->passed + i, sizeof eight);
        for (int k = i; eight; k++, eight >>= 8)
            if (eight & 1) w->chosen[chosen++] = k;
    }
    for (int k = 0; k < chosen; k++)
        __builtin_prefetch(&w->slot[w->keys.place[w->chosen[k]] & (w->slots - 1)]);
    return chosen;
}

static int32_t top_of(const block *b, int i) { return b->tops ? b->base + i : b->other; }
static int32_t bottom_of(const block *b, int i) { return b->tops ? b->other : b->base + i; }

/* A term of a key that may be stored already: a hit if they differ by more than a factor. */
static sl_status store(const meeting *m, const block *b, int i) {
    sl_search__quotients_work *w = m->w;
    const sl_search__quotients_keys *keys = &w->keys;
    sl_search__quotients_slot *s = find(w, keys->check[i], keys->place[i]);
    if (s->check)
        return sl_search__quotients_differ(s->share, keys->share[i])
                   ? add_hit(m, s, top_of(b, i), bottom_of(b, i))
                   : SL_OK;
    if (4 * w->used >= 3 * w->slots) return SL_OK;
    *s = (sl_search__quotients_slot){ keys->check[i], top_of(b, i), bottom_of(b, i),
                                      keys->share[i] };
    w->used++;
    return SL_OK;
}

/* Where nothing is looked up later: only terms that share a cell. */
static sl_status store_block(const meeting *m, const block *b) {
    const int chosen = choose(m->w, b->n, 3);
    for (int k = 0; k < chosen; k++) SL_TRY(store(m, b, m->w->chosen[k]));
    return SL_OK;
}

/* Else all of them, and the filter gets their keys. */
static sl_status store_all(const meeting *m, const block *b) {
    sl_search__quotients_work *w = m->w;
    const sl_search__quotients_keys *keys = &w->keys;
    for (int i = 0; i < b->n; i++)
        if (keys->check[i]) __builtin_prefetch(&w->slot[keys->place[i] & (w->slots - 1)]);
    for (int i = 0; i < b->n; i++) {
        if (!keys->check[i]) continue;
        w->filter[keys->place[i] >> w->shift] |=
            sl_search__quotients_bits(keys->check[i], keys->place[i]);
        SL_TRY(store(m, b, i));
    }
    return SL_OK;
}

static sl_status look_up_block(const meeting *m, const block *b) {
    sl_search__quotients_work *w = m->w;
    const sl_search__quotients_keys *keys = &w->keys;
    const int chosen = sift(m->q, w, b->n);
    for (int k = 0; k < chosen; k++) {
        const int i = w->chosen[k];
        const sl_search__quotients_slot *s = find(w, keys->check[i], keys->place[i]);
        if (s->check && sl_search__quotients_differ(s->share, keys->share[i]))
            SL_TRY(add_hit(m, s, top_of(b, i), bottom_of(b, i)));
    }
    return SL_OK;
}

typedef enum pass { MARK, STORE, LOOK_UP } pass;

static sl_status process_block(const meeting *m, const block *b, pass what) {
    if (what == STORE) return m->q->streamed ? store_all(m, b) : store_block(m, b);
    if (what == LOOK_UP) return look_up_block(m, b);
    mark_block(m->w, b->n);
    return SL_OK;
}

/* All tops of t constants times all bottoms of b; blocks run over the longer list. */
static sl_status cross(const meeting *m, int t, int b, pass what) {
    sl_search__quotients_work *w = m->w;
    const bool tops =
        w->tops.begin[t + 1] - w->tops.begin[t] >= w->bottoms.begin[b + 1] - w->bottoms.begin[b];
    const sl_search__quotients_list *inner = tops ? &w->tops : &w->bottoms;
    const sl_search__quotients_list *outer = tops ? &w->bottoms : &w->tops;
    const int ci = tops ? t : b, co = tops ? b : t;
    for (int32_t o = outer->begin[co]; o < outer->begin[co + 1]; o++) {
        double g[SL_QUOTIENTS__PROBES];
        for (int k = 0; k < SL_QUOTIENTS__PROBES; k++) g[k] = outer->v[k][o];
        for (int32_t i = inner->begin[ci]; i < inner->begin[ci + 1]; i += SL_QUOTIENTS__BLOCK) {
            const double *v[SL_QUOTIENTS__PROBES];
            block bl = { i, o, SL_MIN(inner->begin[ci + 1] - i, SL_QUOTIENTS__BLOCK), tops };
            for (int k = 0; k < SL_QUOTIENTS__PROBES; k++) v[k] = inner->v[k] + i;
            m->q->kernels->keys(&w->keys, v, bl.n, g, m->q->project);
            SL_TRY(process_block(m, &bl, what));
        }
        if ((o & 63) == 0 && sl_search__stop(m->q->job, w->reports)) return SL_OK;
    }
    return SL_OK;
}

/* Terms with that many constants. */
static int64_t terms_of(const sl_search__quotients_work *w, int constants) {
    int64_t n = 0;
    for (int t = 0; t <= constants; t++)
        n += (int64_t)(w->tops.begin[t + 1] - w->tops.begin[t]) *
             (w->bottoms.begin[constants - t + 1] - w->bottoms.begin[constants - t]);
    return n;
}

/* Room for all that is stored where others are looked up; else for those few that share a cell. */
static void clear_table(sl_search__quotients_work *w, int stored, bool streamed) {
    int64_t n = 0;
    for (int c = 0; c <= stored; c++) n += terms_of(w, c);
    w->slots = 1024;
    while (w->slots < (streamed ? 2 * n : n / 4) && w->slots < w->room) w->slots *= 2;
    memset(w->slot, 0, (size_t)w->slots * sizeof *w->slot);
    int bits = streamed ? 10 : 12; // a word of the filter for a term, or eight cells of the map
    const int most = streamed ? SL_QUOTIENTS__CELL_BITS - 4 : SL_QUOTIENTS__CELL_BITS;
    while ((int64_t)1 << bits < (streamed ? n : 8 * n) && bits < most) bits++;
    w->shift = 32 - bits;
    memset(w->map, 0, (size_t)1 << (streamed ? bits + 2 : bits - 2));
    w->used = 0;
}

/* All terms with that many constants, as far as the lists have them. */
static sl_status pass_over(const meeting *m, int constants, pass what) {
    for (int t = 0; t <= constants; t++) SL_TRY(cross(m, t, constants - t, what));
    return SL_OK;
}

/* The end of a list, terms of most constants, times the other list's without constants. */
static void flush(meeting *m, sl_search__quotients_list *list, bool tops) {
    const int c = m->streaming;
    for (int n = c + 1; n <= SL_QUOTIENTS__CONSTANTS + 1; n++) list->begin[n] = list->count;
    if (m->status == SL_OK) m->status = cross(m, tops ? c : 0, tops ? 0 : c, LOOK_UP);
    m->tried += list->count - list->begin[c];
    list->count = list->begin[c];
    for (int n = c + 1; n <= SL_QUOTIENTS__CONSTANTS + 1; n++) list->begin[n] = list->count;
}

static void flush_tops(void *payload) {
    meeting *m = payload;
    flush(m, &m->w->tops, true);
}

static void flush_bottoms(void *payload) {
    meeting *m = payload;
    flush(m, &m->w->bottoms, false);
}

/* Terms with more constants than are stored. */
static sl_status look_up(meeting *m, const sl_search__quotients_structure *s, int constants) {
    sl_search__quotients_work *w = m->w;
    m->streaming = constants;
    w->tops.flush = flush_tops, w->tops.payload = m;
    w->bottoms.flush = flush_bottoms, w->bottoms.payload = m;
    SL_TRY(pass_over(m, constants, LOOK_UP));
    sl_search__quotients_stream_tops(w, m->q, s, constants);
    sl_search__quotients_stream_bottoms(w, m->q, s, constants);
    return m->status;
}

sl_status sl_search__quotients_meet(sl_quotients *q, int lane, int32_t i) {
    meeting m = { .q = q, .w = &q->work[lane], .hits = &q->hits[lane], .structure = i };
    m.hits_end = m.hits->count + SL_QUOTIENTS__HITS;
    if (!sl_search__quotients_make_lists(m.w, q, &q->bases.structure[i], q->stored)) return SL_OK;
    clear_table(m.w, q->stored, q->streamed > 0);
    for (int c = 0; c <= q->stored && !q->streamed; c++) SL_TRY(pass_over(&m, c, MARK));
    for (int c = 0; c <= q->stored; c++) SL_TRY(pass_over(&m, c, STORE));
    for (int c = 0; c <= SL_MAX(q->stored, q->streamed); c++) m.tried += terms_of(m.w, c);
    if (q->streamed) SL_TRY(look_up(&m, &q->bases.structure[i], q->streamed));
    atomic_fetch_add_explicit(&q->job->tried, m.tried, memory_order_relaxed);
    return SL_OK;
}

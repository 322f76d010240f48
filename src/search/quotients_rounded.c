/* quotients_rounded - pairs of terms of one structure where y is rounded.
 *
 * Exact keys do not match then. Terms are divided by y at six probes, so that y itself is 1 but for
 * its rounding, |error| <= e in the norm of all probes. A term u has the mean m and five other
 * directions d, in which 1 is 0. From a u1 + b u2 = 1 + error follow
 *
 *     a d1 + b d2 = error,    a m1 + b m2 = 1 up to e:
 *
 * both directions are parallel up to e |m1/|d1| - m2/|d2||, the signs of d being equal. Directions
 * are listed in cells of four of their coordinates, fine ones for terms whose own part of that sum
 * is small, coarser ones for the others, and compared in all five. Hits are checked in more rows at
 * once: some thousand of a structure pass the probes by chance. */
#include <math.h>
#include <string.h>

#include "search/quotients_impl.h"

enum {
    PROBES = SL_QUOTIENTS__PROBES,
    DIRECTIONS = PROBES - 1,
    AXES = 4,       // coordinates of a cell
    CHECKS = 20000, // of one structure
    SEEN_MAX = 64,  // entries of a cell that are compared
};

/* Widths of cells; the largest doubt of an entry, as a part of them. Level 1 has the first alone.
 */
static const double widths[] = { 0x1p-10, 0x1p-7, 0x1p-4 }, DOUBT_MOST = 0x1p-5;
static const float DIFFER = 1e-5f; // smallest difference of shares, as a part

/* ---------------------------------------------------------------- directions ---------------- */

void sl_search__quotients_set_rounding(sl_quotients *q, sl_digits digits) {
    double squares = 0;
    for (int r = 0; r < q->rows; r++) {
        q->rounding[r] = 0.5 * sl_search__last_unit(digits, q->y[r]);
        const double part = q->rounding[r] / fabs(q->y[r]);
        q->precision = SL_MAX(q->precision, part);
        if (r < PROBES) squares += part * part;
    }
    q->doubt = 1.1 * sqrt(squares);
    for (int k = 0; k < PROBES; k++) q->inverse[k] = 1 / q->y[k];
    for (int d = 0; d < DIRECTIONS; d++) q->length[d] = 1 / sqrt((d + 1.0) * (d + 2.0));
}

/* The direction of a term and its share; false: not finite, or y alone explains it. */
static bool set_entry(sl_search__quotients_entry *e, const sl_quotients *q, const double *v) {
    double d[DIRECTIONS], squares = 0, sum = v[0] * q->inverse[0];
    // orthogonal to 1 and to each other: sums of the first less the next so many times (Helmert)
    for (int i = 0; i < DIRECTIONS; i++) {
        const double next = v[i + 1] * q->inverse[i + 1];
        d[i] = (sum - (i + 1) * next) * q->length[i];
        sum += next;
        squares += d[i] * d[i];
    }
    const double mean = sum / PROBES;
    if (!(squares > 1e-60 && squares < 1e60)) return false;
    const double over = (d[0] + 0.7 * d[1] + 0.4 * d[2] < 0 ? -1 : 1) / sqrt(squares);
    for (int i = 0; i < DIRECTIONS; i++) e->d[i] = (float)(d[i] * over);
    e->share = (float)(mean * over);
    e->doubt = (float)(q->doubt * fabs(mean * over));
    return e->doubt < DOUBT_MOST * widths[SL_LEN(widths) - 1];
}

/* Opposite directions have one sign where the first coordinates are not all small. */
static bool are_parallel(const sl_search__quotients_entry *a, const sl_search__quotients_entry *b,
                         double doubt) {
    for (int sign = 1; sign >= -1; sign -= 2) {
        const float apart = fabsf(a->share - (float)sign * b->share);
        if (apart <= DIFFER * (fabsf(a->share) + fabsf(b->share))) continue;
        double rest = 0;
        const double reach = doubt * apart + 1e-6;
        for (int i = 0; i < DIRECTIONS; i++) {
            const double left = a->d[i] - (float)sign * b->d[i];
            rest += left * left;
        }
        if (rest <= reach * reach) return true;
    }
    return false;
}

/* ---------------------------------------------------------------- cells --------------------- */

typedef struct meeting {
    sl_quotients *q;
    sl_search__quotients_work *w;
    sl_search__quotients_hits *hits;
    int32_t structure;
    int64_t hits_end;
    int checks;
    sl_arena scratch;
} meeting;

/* Checks a pair that is parallel at the probes. */
static sl_status check_pair(meeting *m, const sl_search__quotients_entry *a,
                            const sl_search__quotients_entry *b) {
    sl_search__quotients_hit hit;
    if (m->checks >= CHECKS) return SL_OK;
    m->checks++;
    memset(&hit, 0, sizeof hit);
    hit.structure = m->structure;
    hit.terms = 2;
    hit.term[0] = sl_search__quotients_term_at(m->w, a->top, a->bottom);
    hit.term[1] = sl_search__quotients_term_at(m->w, b->top, b->bottom);
    SL_TRY(sl_search__quotients_check(&hit, &m->scratch, m->q));
    return hit.good ? sl_search__quotients_add_hit(m->hits, &hit, m->hits_end) : SL_OK;
}

static uint64_t key_of(const int32_t *cell) {
    uint64_t h = 0;
    for (int k = 0; k < AXES; k++) h = (h ^ (uint32_t)cell[k]) * 0xD6E8FEB86659FD93u, h ^= h >> 32;
    return h;
}

/* The cell of an entry, or of its negative, and those within reach. */
typedef struct cells {
    int32_t own[AXES], other[AXES];
    uint32_t both; // axes that have another cell within reach
} cells;

static cells cells_of(const sl_search__quotients_entry *e, double over, bool negative) {
    cells c = { .both = 0 };
    const float scale = (float)(negative ? -over : over);
    const float reach = (float)(e->doubt * over + DOUBT_MOST);
    for (int k = 0; k < AXES; k++) {
        const float u = e->d[k] * scale, low = floorf(u), part = u - low;
        c.own[k] = (int32_t)low;
        c.other[k] = c.own[k] + (part < 0.5f ? -1 : 1);
        if (part < reach || part > 1 - reach) c.both |= 1u << k;
    }
    return c;
}

/* The key of a cell within reach; false: `way` is none. */
static bool key_at(uint64_t *key, const cells *c, uint32_t way) {
    int32_t at[AXES];
    if (way & ~c->both) return false;
    for (int k = 0; k < AXES; k++) at[k] = way >> k & 1 ? c->other[k] : c->own[k];
    *key = key_of(at);
    return true;
}

/* A map of cells, two bits each: 0 for no entry, 1 for one, 3 for more or one that is looked up. */
static uint32_t seen(const sl_search__quotients_work *w, uint64_t key) {
    const uint64_t at = key >> 8 & (4 * SL_QUOTIENTS__MAP - 1);
    return (uint32_t)w->map[at >> 2] >> 2 * (at & 3) & 3u;
}

static void mark(sl_search__quotients_work *w, uint64_t key, uint32_t bits) {
    const uint64_t at = key >> 8 & (4 * SL_QUOTIENTS__MAP - 1);
    w->map[at >> 2] = (uint8_t)(w->map[at >> 2] | bits << 2 * (at & 3));
}

static bool is_of(const sl_search__quotients_entry *e, double width) {
    return e->doubt <= DOUBT_MOST * width;
}

/* Either sign may be that of a parallel direction. */
static bool is_ambiguous(const sl_search__quotients_entry *e, double width) {
    return fabsf(e->d[0] + 0.7f * e->d[1] + 0.4f * e->d[2]) <= 3 * (float)width;
}

/* Which entries have another one in a cell within reach: most have none. */
static void choose(sl_search__quotients_work *w, double width) {
    const double over = 1 / width;
    uint64_t key;
    memset(w->map, 0, SL_QUOTIENTS__MAP);
    for (int32_t i = 0; i < w->entries; i++) {
        sl_search__quotients_entry *e = &w->entry[i];
        if (!is_of(e, width)) continue;
        const cells c = cells_of(e, over, false);
        e->key = key_of(c.own);
        e->inside = !c.both;
        mark(w, e->key, seen(w, e->key) << 1 | 1);
    }
    for (int pass = 0; pass < 2; pass++)
        for (int32_t i = 0; i < w->entries; i++) {
            sl_search__quotients_entry *e = &w->entry[i];
            if (!is_of(e, width)) continue;
            if (pass == 1) e->chosen = seen(w, e->key) == 3 || is_ambiguous(e, width);
            if (e->inside || (pass == 1 && e->chosen)) continue;
            const cells c = cells_of(e, over, false);
            for (uint32_t way = 1; way < 1u << AXES; way++) {
                if (!key_at(&key, &c, way)) continue;
                if (pass == 0 && seen(w, key)) mark(w, key, 3);
                if (pass == 1) e->chosen = e->chosen || seen(w, key) == 3;
            }
        }
}

/* Puts entry i into its cell. */
static void insert(sl_search__quotients_work *w, int32_t i) {
    const uint64_t key = w->entry[i].key, mask = (uint64_t)w->slots - 1;
    uint64_t at = key & mask;
    if (4 * w->used >= 3 * w->slots) return;
    while (w->slot[at].check) at = (at + 1) & mask;
    w->slot[at].check = (uint32_t)(key >> 32) | 1;
    w->slot[at].top = i;
    w->used++;
}

/* Entry i against those of one cell. */
static sl_status look_up_cell(meeting *m, int32_t i, uint64_t key) {
    const sl_search__quotients_work *w = m->w;
    const uint64_t mask = (uint64_t)w->slots - 1;
    const uint32_t check = (uint32_t)(key >> 32) | 1;
    int compared = 0;
    for (uint64_t at = key & mask; w->slot[at].check && compared < SEEN_MAX; at = (at + 1) & mask) {
        if (w->slot[at].check != check) continue;
        const sl_search__quotients_entry *other = &w->entry[w->slot[at].top];
        compared++;
        if (are_parallel(other, &w->entry[i], m->q->doubt))
            SL_TRY(check_pair(m, other, &w->entry[i]));
    }
    return SL_OK;
}

/* Entry i, or its negative, against those of all cells within reach. */
static sl_status look_up(meeting *m, int32_t i, double width, bool negative) {
    const cells c = cells_of(&m->w->entry[i], 1 / width, negative);
    uint64_t key;
    for (uint32_t way = 0; way < 1u << AXES; way++)
        if (key_at(&key, &c, way)) SL_TRY(look_up_cell(m, i, key));
    return SL_OK;
}

/* ---------------------------------------------------------------- a structure --------------- */

/* The terms of that many constants. */
static void list_terms(meeting *m, int tops, int bottoms) {
    sl_search__quotients_work *w = m->w;
    for (int32_t b = w->bottoms.begin[bottoms]; b < w->bottoms.begin[bottoms + 1]; b++)
        for (int32_t t = w->tops.begin[tops]; t < w->tops.begin[tops + 1]; t++) {
            double v[PROBES];
            if (w->entries == w->entry_room) return;
            sl_search__quotients_entry *e = &w->entry[w->entries];
            for (int k = 0; k < PROBES; k++) v[k] = w->tops.v[k][t] * w->bottoms.v[k][b];
            e->top = t, e->bottom = b;
            w->entries += set_entry(e, m->q, v);
        }
}

/* Cells of one width: entries that are certain enough for it, but not for the width below, are
 * looked up among all that are. Entries of opposite directions are found where either is looked up
 * with both signs. */
static sl_status meet(meeting *m, double width, double below) {
    sl_search__quotients_work *w = m->w;
    choose(w, width);
    memset(w->slot, 0, (size_t)w->slots * sizeof *w->slot);
    w->used = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int32_t i = 0; i < w->entries; i++) {
            const sl_search__quotients_entry *e = &w->entry[i];
            if ((i & 1023) == 0 && sl_search__stop(m->q->job, w->reports)) return SL_OK;
            if (!is_of(e, width) || !e->chosen || (pass == 0) != is_of(e, below)) continue;
            if (pass == 1) SL_TRY(look_up(m, i, width, false));
            if (pass == 1 && is_ambiguous(e, width)) SL_TRY(look_up(m, i, width, true));
            insert(w, i);
        }
    return SL_OK;
}

sl_status sl_search__quotients_meet_rounded(sl_quotients *q, int lane, int32_t i) {
    meeting m = { .q = q, .w = &q->work[lane], .hits = &q->hits[lane], .structure = i };
    m.hits_end = m.hits->count + SL_QUOTIENTS__HITS;
    if (!sl_search__quotients_make_lists(m.w, q, &q->bases.structure[i], q->stored)) return SL_OK;
    m.w->entries = 0;
    for (int c = 0; c <= q->stored; c++)
        for (int t = 0; t <= c; t++) list_terms(&m, t, c - t);
    m.w->slots = 1024;
    while (m.w->slots < 2 * m.w->entries && m.w->slots < m.w->room) m.w->slots *= 2;
    sl_status st = SL_OK;
    double below = 0;
    for (int k = 0; k < (q->stored > 1 ? 1 : SL_LEN(widths)) && st == SL_OK; k++) {
        st = meet(&m, widths[k], below);
        below = widths[k];
    }
    sl_arena_clear(&m.scratch);
    atomic_fetch_add_explicit(&q->job->tried, m.w->entries, memory_order_relaxed);
    return st;
}

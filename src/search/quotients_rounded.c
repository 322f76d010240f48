/* quotients_rounded - pairs of terms of one structure where y is rounded.
 *
 * Exact keys do not match then. Terms are divided by y at six probes, so that y itself is 1 but for
 * its rounding, |error| <= e in the norm of all probes. A term u has the mean m and five other
 * directions d, in which 1 is 0. From a u1 + b u2 = 1 + error follow
 *
 *     a d1 + b d2 = error,    a m1 + b m2 = 1 up to e:
 *
 * both directions are parallel up to e |m1/|d1| - m2/|d2||, the signs of d being equal. Directions
 * are listed in cells of three of their coordinates, fine ones for terms whose own part of that sum
 * is small, coarse ones for the others, and compared in all five. Hits are checked in more rows at
 * once: some thousand of a structure pass the probes by chance. */
#include <math.h>
#include <string.h>

#include "search/quotients_impl.h"

enum {
    PROBES = SL_QUOTIENTS__PROBES,
    DIRECTIONS = PROBES - 1,
    CHECKS = 20000, // of one structure
};

static const double FINE = 0x1p-10, COARSE = 0x1p-5; // widths of cells
static const float DIFFER = 1e-5f;                   // smallest difference of shares, as a part

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
    // rows orthogonal to 1 and to each other (Helmert)
    for (int d = 0; d < DIRECTIONS; d++)
        for (int k = 0; k < PROBES; k++) {
            const double length = sqrt((d + 1.0) * (d + 2.0));
            q->across[d][k] = (k <= d ? 1 : k == d + 1 ? -(d + 1.0) : 0) / (length * q->y[k]);
        }
}

/* The direction of a term and its share; false: not finite, or y alone explains it. */
static bool set_entry(sl_search__quotients_entry *e, const sl_quotients *q, const double *v) {
    double d[DIRECTIONS], mean = 0, squares = 0;
    for (int i = 0; i < DIRECTIONS; i++) {
        d[i] = 0;
        for (int k = 0; k < PROBES; k++) d[i] += q->across[i][k] * v[k];
        squares += d[i] * d[i];
    }
    for (int k = 0; k < PROBES; k++) mean += v[k] / q->y[k] / PROBES;
    if (!(squares > 1e-60 && squares < 1e60)) return false;
    const double over = (d[0] + 0.7 * d[1] + 0.4 * d[2] < 0 ? -1 : 1) / sqrt(squares);
    for (int i = 0; i < DIRECTIONS; i++) e->d[i] = (float)(d[i] * over);
    e->share = (float)(mean * over);
    e->doubt = (float)(q->doubt * fabs(mean * over));
    return e->doubt < 0.25 * COARSE;
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

static uint32_t place_of(const int32_t *cell) {
    const uint32_t h = (uint32_t)cell[0] * 0x9E3779B1u ^ (uint32_t)cell[1] * 0x85EBCA77u ^
                       (uint32_t)cell[2] * 0xC2B2AE3Du;
    return (h ^ h >> 15) * 0x2C1B3C6Du >> (32 - SL_QUOTIENTS__HEAD_BITS);
}

static void insert(sl_search__quotients_grid *g, const sl_search__quotients_entry *e, int32_t i,
                   double width) {
    int32_t cell[3];
    for (int k = 0; k < 3; k++) cell[k] = (int32_t)floor(e->d[k] / width);
    const uint32_t at = place_of(cell);
    g->next[i] = g->head[at];
    g->head[at] = i + 1;
}

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

/* Entry i against those of the grid: all cells within half a width, of both signs where these are
 * uncertain. */
static sl_status look_up(meeting *m, const sl_search__quotients_grid *g, int32_t i, double width,
                         bool negative) {
    const sl_search__quotients_entry *list = m->w->entry, *e = &list[i];
    uint32_t done[8];
    int32_t cell[3][2];
    for (int k = 0; k < 3; k++) {
        const double u = (negative ? -e->d[k] : e->d[k]) / width, low = floor(u);
        cell[k][0] = (int32_t)low;
        cell[k][1] = (int32_t)low + (u - low < 0.5 ? -1 : 1);
    }
    for (int way = 0; way < 8; way++) {
        const uint32_t at = place_of(
            (int32_t[]){ cell[0][way & 1], cell[1][way >> 1 & 1], cell[2][way >> 2] });
        bool known = false;
        for (int k = 0; k < way && !known; k++) known = done[k] == at;
        done[way] = at;
        for (int32_t k = known ? 0 : g->head[at]; k; k = g->next[k - 1])
            if (k - 1 != i && are_parallel(&list[k - 1], e, m->q->doubt))
                SL_TRY(check_pair(m, &list[k - 1], e));
    }
    return SL_OK;
}

static sl_status look_up_both(meeting *m, const sl_search__quotients_grid *g, int32_t i,
                              double width) {
    const float *d = m->w->entry[i].d;
    SL_TRY(look_up(m, g, i, width, false));
    if (fabsf(d[0] + 0.7f * d[1] + 0.4f * d[2]) > 3 * (float)width) return SL_OK;
    return look_up(m, g, i, width, true);
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

static bool is_fine(const sl_search__quotients_entry *e) { return e->doubt <= 0.25 * FINE; }

static sl_status meet(meeting *m) {
    sl_search__quotients_work *w = m->w;
    sl_search__quotients_grid *fine = &w->grid[0], *coarse = &w->grid[1];
    memset(fine->head, 0, sizeof fine->head);
    memset(coarse->head, 0, sizeof coarse->head);
    for (int32_t i = 0; i < w->entries; i++) {
        if ((i & 1023) == 0 && sl_search__stop(m->q->job, w->reports)) return SL_OK;
        if (!is_fine(&w->entry[i])) continue;
        SL_TRY(look_up_both(m, fine, i, FINE));
        insert(fine, &w->entry[i], i, FINE);
        insert(coarse, &w->entry[i], i, COARSE);
    }
    for (int32_t i = 0; i < w->entries; i++) {
        if ((i & 1023) == 0 && sl_search__stop(m->q->job, w->reports)) return SL_OK;
        if (is_fine(&w->entry[i])) continue;
        SL_TRY(look_up_both(m, coarse, i, COARSE));
        insert(coarse, &w->entry[i], i, COARSE);
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
    const sl_status st = meet(&m);
    sl_arena_clear(&m.scratch);
    atomic_fetch_add_explicit(&q->job->tried, m.w->entries, memory_order_relaxed);
    return st;
}

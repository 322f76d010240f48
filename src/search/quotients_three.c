/* quotients_three - three terms over a common divisor.
 *
 * Halves of three terms, such as x1 + x2 + exp(x1), make formulas y = a t1 + b t2 + c t3 whose
 * terms have one structure. Their numerators are known: there are few such halves. One term is
 * projected out of all others as y is, with one more probe; the other two are matched as pairs are.
 * That costs as many keys as there are choices of the first times terms of the other two, so it has
 * few constants: all of them up to one, or one term none and the others up to two. */
#include <math.h>
#include <string.h>

#include "search/quotients_impl.h"

enum { LEFT = SL_QUOTIENTS__PROBES - 1 }; // values without y

typedef struct meeting {
    sl_quotients *q;
    sl_search__quotients_work *w;
    sl_search__quotients_hits *hits;
    int32_t structure;
    int64_t hits_end;
    int taken, others; // constants of the term that is projected out, of the others
    // terms of each numerator with up to that many constants: [begin[n], end[n][c])
    int32_t begin[SL_QUOTIENTS__NUMERATORS];
    int32_t end[SL_QUOTIENTS__NUMERATORS][SL_QUOTIENTS__CONSTANTS + 1];
    int64_t tried;
} meeting;

/* ---------------------------------------------------------------- terms --------------------- */

static void add_term(meeting *m, int32_t top, int32_t bottom) {
    sl_search__quotients_flat *f = &m->w->flat;
    const double *p = m->q->project;
    if (f->count == f->room) return;
    double first = m->w->tops.v[0][top] * m->w->bottoms.v[0][bottom];
    for (int k = 1; k < SL_QUOTIENTS__PROBES; k++) {
        double v = m->w->tops.v[k][top] * m->w->bottoms.v[k][bottom];
        f->e[k - 1][f->count] = v - p[k] * first;
    }
    f->top[f->count] = top;
    f->bottom[f->count++] = bottom;
}

/* Terms of numerator n with exactly that many constants. */
static void add_terms(meeting *m, int n, int constants) {
    const sl_search__quotients_work *w = m->w;
    for (int t = 0; t <= constants; t++)
        for (int32_t i = w->tops.begin[t]; i < w->tops.begin[t + 1]; i++) {
            if (w->top[i].numerator != n) continue;
            const int b = constants - t;
            for (int32_t k = w->bottoms.begin[b]; k < w->bottoms.begin[b + 1]; k++)
                add_term(m, i, k);
        }
}

static void make_terms(meeting *m) {
    m->w->flat.count = 0;
    for (int n = 0; n < m->q->numerators; n++) {
        m->begin[n] = m->w->flat.count;
        for (int c = 0; c <= SL_QUOTIENTS__CONSTANTS; c++) {
            if (c <= SL_MAX(m->taken, m->others)) add_terms(m, n, c);
            m->end[n][c] = m->w->flat.count;
        }
    }
}

/* ---------------------------------------------------------------- meeting ------------------- */

/* Keys modulo y and the term that is projected out. */
typedef struct taken {
    int32_t term;
    int row[LEFT]; // the first is the one where the term is largest
    double p[SL_QUOTIENTS__PROBES];
} taken;

static bool project_out(taken *t, const meeting *m, int32_t term) {
    const sl_search__quotients_flat *f = &m->w->flat;
    t->term = term;
    int best = 0;
    for (int k = 0; k < LEFT; k++) {
        t->row[k] = k;
        if (fabs(f->e[k][term]) > fabs(f->e[best][term])) best = k;
    }
    t->row[best] = 0, t->row[0] = best;
    const double pivot = f->e[best][term];
    for (int k = 0; k < LEFT; k++) t->p[k] = f->e[t->row[k]][term] / pivot;
    return fabs(pivot) < 1e30 && fabs(pivot) > 1e-30;
}

static int fill_keys(meeting *m, const taken *t, int32_t begin, int32_t end) {
    static const double ones[SL_QUOTIENTS__PROBES] = { 1, 1, 1, 1, 1, 1 };
    const double *v[LEFT];
    const int n = SL_MIN(end - begin, SL_QUOTIENTS__BLOCK);
    for (int k = 0; k < LEFT; k++) v[k] = m->w->flat.e[t->row[k]] + begin;
    m->q->kernels->keys(&m->w->keys, v, n, ones, t->p);
    return n;
}

static sl_search__quotients_slot *find(const sl_search__quotients_work *w, uint32_t check,
                                       uint32_t place) {
    uint64_t mask = (uint64_t)w->slots - 1, at = place & mask;
    while (w->slot[at].bottom == w->stamp && w->slot[at].check != check) at = (at + 1) & mask;
    return &w->slot[at];
}

static sl_status add_hit(const meeting *m, const int32_t *term) {
    const sl_search__quotients_work *w = m->w;
    sl_search__quotients_hit hit;
    memset(&hit, 0, sizeof hit);
    hit.structure = m->structure;
    hit.terms = 3;
    for (int i = 0; i < 3; i++)
        hit.term[i] =
            sl_search__quotients_term_at(w, w->flat.top[term[i]], w->flat.bottom[term[i]]);
    return sl_search__quotients_add_hit(m->hits, &hit, m->hits_end);
}

/* All terms of numerator s stored, those of r looked up, modulo the one that is projected out. */
static sl_status meet_two(meeting *m, const taken *t, int s, int r) {
    sl_search__quotients_work *w = m->w;
    const sl_search__quotients_keys *keys = &w->keys;
    w->stamp++; // slots with an older stamp are free
    for (int32_t at = m->begin[s], n; at < m->end[s][m->others]; at += n) {
        n = fill_keys(m, t, at, m->end[s][m->others]);
        for (int i = 0; i < n; i++) {
            if (!keys->check[i]) continue;
            sl_search__quotients_slot *slot = find(w, keys->check[i], keys->place[i]);
            if (slot->bottom == w->stamp) continue;
            *slot = (sl_search__quotients_slot){ keys->check[i], at + i, w->stamp, keys->share[i] };
        }
    }
    for (int32_t at = m->begin[r], n; at < m->end[r][m->others]; at += n) {
        n = fill_keys(m, t, at, m->end[r][m->others]);
        for (int i = 0; i < n; i++) {
            if (!keys->check[i]) continue;
            const sl_search__quotients_slot *slot = find(w, keys->check[i], keys->place[i]);
            if (slot->bottom != w->stamp ||
                !sl_search__quotients_differ(slot->share, keys->share[i]))
                continue;
            SL_TRY(add_hit(m, (int32_t[]){ t->term, slot->top, at + i }));
        }
    }
    m->tried += m->end[s][m->others] - m->begin[s] + m->end[r][m->others] - m->begin[r];
    return SL_OK;
}

/* One numerator of three is projected out: each in turn, or only one where all have as few
 * constants. */
static sl_status meet_triple(meeting *m, const sl_search__quotients_triple *triple) {
    for (int role = 0; role < (m->taken == m->others ? 1 : 3); role++) {
        const int n = triple->numerator[role];
        for (int32_t i = m->begin[n]; i < m->end[n][m->taken]; i++) {
            taken t;
            if (sl_search__stop(m->q->job, m->w->reports)) return SL_OK;
            if (!project_out(&t, m, i)) continue;
            SL_TRY(meet_two(m, &t, triple->numerator[(role + 1) % 3],
                            triple->numerator[(role + 2) % 3]));
        }
    }
    return SL_OK;
}

sl_status sl_search__quotients_meet_three(sl_quotients *q, int lane, int32_t i) {
    meeting m = { .q = q,
                  .w = &q->work[lane],
                  .hits = &q->hits[lane],
                  .structure = i,
                  .taken = q->taken,
                  .others = q->stored };
    m.hits_end = m.hits->count + SL_QUOTIENTS__HITS;
    if (!sl_search__quotients_make_lists(m.w, q, &q->bases.structure[i], q->stored)) return SL_OK;
    make_terms(&m);
    int32_t most = 0;
    for (int n = 0; n < q->numerators; n++) most = SL_MAX(most, m.end[n][m.others] - m.begin[n]);
    sl_search__quotients_work *w = m.w;
    w->slots = 1024;
    while (w->slots < 2 * most && w->slots < w->room) w->slots *= 2;
    if (2 * most > w->slots) return SL_OK; // the table would be full
    memset(w->slot, 0, (size_t)w->slots * sizeof *w->slot);
    w->stamp = 0;
    for (int k = 0; k < q->bases.triples; k++) SL_TRY(meet_triple(&m, &q->bases.triple[k]));
    atomic_fetch_add_explicit(&q->job->tried, m.tried, memory_order_relaxed);
    return SL_OK;
}

/* quotients - two or three terms over a common divisor, by meeting in the middle for each divisor.
 *
 * A quotient of halves (n1 + n2)/D is multiplied out before constants go in: n1/D + n2/D, and every
 * occurrence of an input or a function has constants of its own, in the numerator and in its own
 * copy of D. To meet in the middle as independent halves, both terms would need all of these
 * constants. But their structure is the same up to the numerator. So for each structure G, 1/D or a
 * half of one term, all terms N G with few constants are made and y is projected out of their
 * values at five probes; the result up to a factor is the key. Two terms of one key are a formula,
 * y = a t1 + b t2: the coefficients are free, and with them every constant that is a factor of a
 * term. Of three terms one is projected out as y is (quotients_three.c).
 *
 * Levels are by constants of a term. One thread handles a structure: its table is small and stays
 * in the cache. All structures of a level are finished before hits are verified, sorted and
 * offered, so results do not depend on threads.
 *
 * quotients_bases.c derives numerators and structures, quotients_factors.c lists the variants of
 * one occurrence, quotients_lists.c the terms, quotients_meet.c has the table, quotients_check.c
 * verifies. Where y is rounded, two terms are matched by their directions (quotients_rounded.c). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "search/quotients_impl.h"

enum { OFFERS = 8, ROWS_LEAST = 12 };

/* ---------------------------------------------------------------- levels -------------------- */

static const struct level {
    int terms;
    int stored, streamed; // constants of one term; of three terms: of those that meet, of the third
    bool all;             // numerators, or those of sums alone
    int32_t tops, bottoms, parts, flat;
    int slots;       // log2
    int32_t entries; // where y is rounded: terms of a structure; 0: the level is left out
} levels[] = {
    { 2, 1, 0, true, 1 << 14, 1 << 12, 1 << 10, 1, 16, 1 << 17 },
    { 2, 2, 0, true, 1 << 18, 1 << 16, 1 << 14, 1, 20, 1 << 19 },
    { 3, 1, 1, false, 1 << 14, 1 << 12, 1 << 10, 1 << 17, 14, 0 },
    { 2, 2, 3, false, 1 << 16, 1 << 16, 1 << 17, 1, 20, 0 },
    { 3, 2, 0, false, 1 << 18, 1 << 16, 1 << 14, 1 << 19, 17, 0 },
    { 2, 2, 3, true, 1 << 18, 1 << 16, 1 << 17, 1, 21, 0 },
};

/* ---------------------------------------------------------------- memory -------------------- */

/* Bytes of one thread. */
static int64_t work_bytes(const struct level *l, bool rounded) {
    const int64_t value = SL_QUOTIENTS__PROBES * (int64_t)sizeof(double);
    return l->tops * (value + (int64_t)sizeof(sl_search__quotients_top)) +
           l->bottoms * (value + (int64_t)sizeof(sl_search__quotients_bottom)) +
           l->flat * (value + 2 * (int64_t)sizeof(int32_t)) +
           SL_QUOTIENTS__PARTS * l->parts * (value + (int64_t)sizeof(sl_search__quotients_code)) +
           2 * l->bottoms * (int64_t)sizeof(uint64_t) +
           ((int64_t)sizeof(sl_search__quotients_slot) << l->slots) + SL_QUOTIENTS__MAP +
           (rounded ? l->entries * (int64_t)sizeof(sl_search__quotients_entry) : 0);
}

static void clear_list(sl_search__quotients_list *list) { sl_free(list->v[0]); }

static void free_work(sl_quotients *q) {
    for (int i = 0; i < q->lanes && q->work; i++) {
        sl_search__quotients_work *w = &q->work[i];
        for (int p = 0; p < SL_QUOTIENTS__PARTS; p++)
            clear_list(&w->part[p]), sl_free(w->part_code[p]);
        clear_list(&w->tops), clear_list(&w->bottoms);
        sl_free(w->top), sl_free(w->bottom), sl_free(w->set.slot), sl_free(w->slot);
        sl_free(w->map), sl_free(w->flat.e[0]), sl_free(w->flat.top), sl_free(w->flat.bottom);
        sl_free(w->entry);
        if (q->hits) sl_free(q->hits[i].hit);
    }
    sl_free(q->work), sl_free(q->hits);
    q->work = NULL, q->hits = NULL;
}

/* One block for all probes. */
static bool make_list(sl_search__quotients_list *list, int32_t room) {
    double *v = sl_malloc_aligned((size_t)room * SL_QUOTIENTS__PROBES, sizeof *v);
    for (int k = 0; k < SL_QUOTIENTS__PROBES && v; k++) list->v[k] = v + (int64_t)k * room;
    list->room = room;
    return v != NULL;
}

static bool make_flat(sl_search__quotients_flat *f, int32_t room) {
    double *e = sl_malloc_aligned((size_t)room * SL_LEN(f->e), sizeof *e);
    for (int k = 0; k < SL_LEN(f->e) && e; k++) f->e[k] = e + (int64_t)k * room;
    f->top = sl_malloc((size_t)room, sizeof *f->top);
    f->bottom = sl_malloc((size_t)room, sizeof *f->bottom);
    f->room = room;
    return e && f->top && f->bottom;
}

static bool make_work(sl_search__quotients_work *w, const struct level *l, bool rounded) {
    bool done = make_list(&w->tops, l->tops) && make_list(&w->bottoms, l->bottoms);
    for (int p = 0; p < SL_QUOTIENTS__PARTS && done; p++) {
        done = make_list(&w->part[p], l->parts);
        w->part_code[p] = sl_malloc((size_t)l->parts, sizeof *w->part_code[p]);
        done = done && w->part_code[p];
    }
    done = done && make_flat(&w->flat, l->flat);
    w->top = sl_malloc((size_t)l->tops, sizeof *w->top);
    w->bottom = sl_calloc((size_t)l->bottoms, sizeof *w->bottom);
    w->set.size = 2 * (int64_t)l->bottoms;
    w->set.slot = sl_calloc((size_t)w->set.size, sizeof *w->set.slot);
    w->room = (int64_t)1 << l->slots;
    w->slot = sl_malloc_aligned((size_t)w->room, sizeof *w->slot);
    w->map = sl_malloc(SL_QUOTIENTS__MAP, sizeof *w->map);
    w->filter = (void *)w->map;
    if (rounded) w->entry = sl_malloc((size_t)l->entries, sizeof *w->entry);
    w->entry_room = l->entries;
    done = done && (w->entry || !rounded);
    return done && w->top && w->bottom && w->set.slot && w->slot && w->map;
}

/* *bytes := what was reserved, for as many threads as memory allows; 0: none. */
static sl_status reserve_work(int64_t *bytes, sl_quotients *q, const struct level *l) {
    const bool rounded = q->precision > 0;
    const int64_t each = work_bytes(l, rounded), free = q->job->o->max_memory - q->job->memory;
    const int64_t threads = sl_par_pool_threads(q->job->pool);
    q->lanes = (int)SL_MAX(1, SL_MIN(threads, free / each));
    *bytes = q->lanes * each;
    if (!sl_search__reserve(q->job, *bytes)) {
        *bytes = 0;
        return SL_OK;
    }
    q->work = sl_calloc((size_t)q->lanes, sizeof *q->work);
    q->hits = sl_calloc((size_t)q->lanes, sizeof *q->hits);
    bool done = q->work && q->hits;
    for (int i = 0; i < q->lanes && done; i++) done = make_work(&q->work[i], l, rounded);
    return done ? SL_OK
                : sl_fail_memory((size_t)q->lanes, (size_t)each, "the search for quotients");
}

/* ---------------------------------------------------------------- open and close ------------ */

static void close_quotients(void *state) {
    sl_quotients *q = state;
    if (!q) return;
    sl_search__quotients_free_factors(q);
    sl_search__release(q->job, (int64_t)sizeof *q);
    sl_free(q);
}

static bool applies(const sl_search__job *j) {
    const sl_search_grammar *g = j->o->grammar;
    const sl_dataset *p = &j->rows;
    if (!g || g->depth < 3 || p->inputs < 1 || p->inputs > SL_QUOTIENTS__VARIABLES ||
        p->inputs > g->variables || p->rows < ROWS_LEAST)
        return false;
    if (g->low < -99 || g->high > 99) return false;
    for (int64_t r = 0; r < p->rows; r++)
        if (!(fabs(p->y[r]) > 1e-100 && fabs(p->y[r]) < 1e100)) return false;
    return true;
}

static void need(sl_quotients *q, const sl_search__quotients_product *p,
                 sl_search__quotients_mode mode) {
    sl_search__quotients_class class[SL_QUOTIENTS__FACTORS];
    const int n = sl_search__quotients_factors_of(class, p);
    for (int i = 0; i < n; i++) q->needed[sl_search__quotients_class_of(class[i])][mode] = true;
}

static void need_all(sl_quotients *q) {
    const sl_search__quotients_bases *b = &q->bases;
    for (int i = 0; i < b->structures; i++) {
        const sl_search__quotients_structure *s = &b->structure[i];
        for (int k = 0; k < s->core.parts; k++) need(q, &s->core.part[k], SL_QUOTIENTS__FULL);
        for (int k = 0; k < b->numerators; k++) {
            sl_search__quotients_product p =
                sl_search__quotients_times(b->numerator[k], s->product);
            need(q, &p, SL_QUOTIENTS__SCALE);
        }
    }
}

/* The first rows of a job are good probes. Terms lose what they have of y in the first of them:
 * were y small there, they would all get multiples of the others' y. */
static void put_largest_first(sl_quotients *q) {
    int largest = 0;
    for (int k = 1; k < SL_QUOTIENTS__PROBES; k++)
        if (fabs(q->y[k]) > fabs(q->y[largest])) largest = k;
    const double y = q->y[0];
    q->y[0] = q->y[largest], q->y[largest] = y;
    for (int v = 0; v < q->variables; v++) {
        const double x = q->x[v][0];
        q->x[v][0] = q->x[v][largest], q->x[v][largest] = x;
    }
}

static void take_rows(sl_quotients *q) {
    const sl_dataset *p = &q->job->rows;
    q->rows = (int)SL_MIN(p->rows, SL_QUOTIENTS__ROWS);
    for (int r = 0; r < q->rows; r++) {
        for (int v = 0; v < q->variables; v++) q->x[v][r] = p->x[v][r];
        q->y[r] = p->y[r];
    }
    put_largest_first(q);
    for (int k = 0; k < SL_QUOTIENTS__PROBES; k++) q->project[k] = q->y[k] / q->y[0];
    const sl_digits digits = sl_search__digits(p->y, p->rows);
    if (digits.kind != SL_DIGITS_FULL) sl_search__quotients_set_rounding(q, digits);
}

static sl_status open_quotients(void **state, sl_search__job *j) {
    sl_quotients *q;
    *state = NULL;
    if (!applies(j) || !sl_search__reserve(j, (int64_t)sizeof *q)) return SL_OK;
    q = sl_calloc(1, sizeof *q);
    if (!q) {
        sl_search__release(j, (int64_t)sizeof *q);
        return sl_fail_memory(1, sizeof *q, "the search for quotients");
    }
    q->job = j;
    q->kernels = sl_search__quotients_kernels_at(sl_cpu());
    q->grammar = *j->o->grammar;
    q->variables = j->rows.inputs;
    q->constants = -1;
    take_rows(q);
    sl_status st = sl_search__quotients_make_bases(&q->bases, &q->grammar, q->variables);
    if (st != SL_OK) {
        close_quotients(q);
        return st;
    }
    need_all(q);
    *state = q;
    return SL_OK;
}

/* ---------------------------------------------------------------- a level ------------------- */

static sl_status meet_part(int64_t begin, int64_t end, int worker, void *payload) {
    sl_quotients *q = payload;
    for (int64_t lane = begin; lane < end; lane++) {
        q->work[lane].reports = worker == 0;
        for (;;) {
            int32_t i = atomic_fetch_add_explicit(&q->next, 1, memory_order_relaxed);
            if (i >= q->bases.structures || sl_search__stop(q->job, worker == 0)) break;
            SL_TRY(q->precision > 0 ? sl_search__quotients_meet_rounded(q, (int)lane, i)
                   : q->terms == 3  ? sl_search__quotients_meet_three(q, (int)lane, i)
                                    : sl_search__quotients_meet(q, (int)lane, i));
        }
    }
    return SL_OK;
}

static int cmp_code(uint64_t a, uint64_t b) { return (a > b) - (a < b); }

static int cmp_term(const sl_search__quotients_term *p, const sl_search__quotients_term *q) {
    const sl_search__quotients_bottom *b = &p->bottom, *c = &q->bottom;
    if (p->top.numerator != q->top.numerator) return p->top.numerator < q->top.numerator ? -1 : 1;
    int order = cmp_code(p->top.code, q->top.code);
    for (int i = 0; i < SL_QUOTIENTS__PARTS && !order; i++) {
        order = cmp_code(b->part[i], c->part[i]);
        if (!order) order = b->sign[i] - c->sign[i];
    }
    if (!order) order = b->summand - c->summand;
    return order ? order : b->factor - c->factor;
}

static int cmp_hit(const void *a, const void *b) {
    const sl_search__quotients_hit *p = a, *q = b;
    if (p->good != q->good) return p->good ? -1 : 1;
    if (p->sure != q->sure) return p->sure ? -1 : 1;
    if (p->price != q->price) return p->price < q->price ? -1 : 1;
    if (p->structure != q->structure) return p->structure < q->structure ? -1 : 1;
    if (p->terms != q->terms) return p->terms < q->terms ? -1 : 1;
    for (int t = 0; t < p->terms; t++) {
        int order = cmp_term(&p->term[t], &q->term[t]);
        if (order) return order;
    }
    return 0;
}

static sl_status check_hits(sl_search__quotients_hits *all, sl_quotients *q) {
    sl_status st = SL_OK;
    sl_arena scratch = { 0 };
    for (int w = 0; w < q->lanes; w++) all->room += q->hits[w].count;
    all->hit = sl_malloc((size_t)SL_MAX(all->room, 1), sizeof *all->hit);
    if (!all->hit) return sl_fail_memory((size_t)all->room, sizeof *all->hit, "hits of a search");
    for (int w = 0; w < q->lanes && st == SL_OK; w++)
        for (int64_t i = 0; i < q->hits[w].count && st == SL_OK; i++) {
            sl_search__quotients_hit *h = &all->hit[all->count];
            *h = q->hits[w].hit[i];
            st = q->precision > 0 ? sl_search__quotients_snap(h, &scratch, q)
                                  : sl_search__quotients_check(h, &scratch, q);
            if (h->good) all->count++;
            if (sl_search__stop(q->job, true)) break;
        }
    sl_arena_clear(&scratch);
    return st;
}

static sl_status verify_hits(sl_quotients *q, int level) {
    sl_search__quotients_hits all = { 0 };
    sl_status st = check_hits(&all, q);
    if (st == SL_OK && all.count) qsort(all.hit, (size_t)all.count, sizeof *all.hit, cmp_hit);
    for (int64_t i = 0; i < SL_MIN(all.count, OFFERS) && st == SL_OK; i++)
        st = sl_search__quotients_offer(q, &all.hit[i], level);
    sl_free(all.hit);
    return st;
}

static sl_status run_level(bool *more, void *state, int level) {
    sl_quotients *q = state;
    *more = q && level + 1 < SL_LEN(levels);
    if (!q || level >= SL_LEN(levels)) return SL_OK;
    const struct level *l = &levels[level];
    if (q->precision > 0 && l->entries == 0) return SL_OK;
    int64_t bytes = 0;
    bool done;
    sl_status st;
    q->terms = l->terms;
    q->stored = l->stored;
    q->streamed = l->terms == 2 ? l->streamed : 0;
    q->taken = l->terms == 3 ? l->streamed : 0;
    const bool all = q->precision > 0 ? level == 0 : l->all; // rounding makes level 1 expensive
    q->numerators = all ? q->bases.numerators : q->bases.simple;
    atomic_store(&q->next, 0);
    SL_GO(reserve_work(&bytes, q, l));
    if (bytes == 0) return SL_OK;
    SL_GO(sl_search__quotients_make_factors(&done, q, SL_MAX(l->stored, l->streamed)));
    if (done) SL_GO(sl_par_for(q->job->pool, q->lanes, 1, meet_part, q));
    if (done && !sl_search__stop(q->job, true)) st = verify_hits(q, level);
done:
    free_work(q);
    sl_search__release(q->job, bytes);
    return st;
}

const sl_search__method sl_search__quotients = { "quotients", open_quotients, run_level,
                                                 close_quotients };

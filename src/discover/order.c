/* order - the order of candidates, and which of them are the same after fitting. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "discover/discover_impl.h"
#include "num/num.h"

static bool is_ranked(const sl_candidate *c) {
    return c->state >= SL_CANDIDATE_SCORED && !isnan(c->r2);
}

/* qsort's own payload: what is sorted are places, in a thread of its own each time. */
static _Thread_local const sl_discover__work *sorted;

static int by_r2(const void *a, const void *b) {
    const int64_t i = *(const int64_t *)a, k = *(const int64_t *)b;
    const sl_candidate *x = &sorted[i].c, *y = &sorted[k].c;
    if (x->r2 != y->r2) return x->r2 > y->r2 ? -1 : 1;
    if (x->log_prob != y->log_prob) return x->log_prob > y->log_prob ? -1 : 1;
    return i < k ? -1 : i > k;
}

static int by_simplicity(const void *a, const void *b) {
    const int64_t i = *(const int64_t *)a, k = *(const int64_t *)b;
    const sl_candidate *x = &sorted[i].c, *y = &sorted[k].c;
    if (x->size != y->size) return x->size < y->size ? -1 : 1;
    if (x->params != y->params) return x->params < y->params ? -1 : 1;
    if (x->log_prob != y->log_prob) return x->log_prob > y->log_prob ? -1 : 1;
    return i < k ? -1 : i > k;
}

sl_status sl_discover__mix(int64_t *place, int64_t n, sl_discover__pool *p) {
    sl_arena *scratch = &p->scratch[0];
    const size_t mark = sl_arena_mark(scratch);
    sl_keyed *w = sl_arena_alloc(scratch, (size_t)n * sizeof *w);
    int64_t *given = sl_arena_alloc(scratch, (size_t)n * sizeof *given);
    if (!w || !given) return sl_fail_memory((size_t)n, sizeof *w, "candidates");
    for (int64_t i = 0; i < n; i++) {
        const sl_fit f = sl_discover__fit_of(&p->work[place[i]].c);
        given[i] = place[i];
        w[i] = (sl_keyed){ sl_fit_bits_by_r2(&f, p->rows.fit.inputs, p->rows.fit.rows), place[i] };
    }
    sl_num_sort_keyed(w, n);
    for (int64_t i = 0; i < n; i++) {
        place[2 * i] = given[i];
        place[2 * i + 1] = w[i].at;
    }
    sl_arena_rewind(scratch, mark);
    return SL_OK;
}

/* Being close is not transitive, so the groups within which simplicity decides are cut from the
 * top: all that are close to the first of a group. */
static void sort_groups(int64_t *place, const sl_discover__work *work, int64_t n) {
    for (int64_t i = 0, end; i < n; i = end) {
        const double least = work[place[i]].c.r2 - SL_DISCOVER__TIE;
        for (end = i + 1; end < n && work[place[end]].c.r2 >= least;) end++;
        qsort(place + i, (size_t)(end - i), sizeof *place, by_simplicity);
    }
}

int64_t sl_discover__order(int64_t *place, const sl_discover__work *work, int64_t count, int rank) {
    int64_t n = 0;
    for (int64_t i = 0; i < count; i++)
        if (is_ranked(&work[i].c)) place[n++] = i;
    sorted = work;
    qsort(place, (size_t)n, sizeof *place, by_r2);
    if (rank == SL_RANK_SIMPLE) sort_groups(place, work, n);
    return n;
}

/* Candidates with exact numbers alone are the same if their canonical forms are. */
static sl_status renew_forms(sl_discover__pool *p) {
    for (int64_t i = 0; i < p->count; i++) {
        sl_discover__work *w = &p->work[i];
        if (w->c.state != SL_CANDIDATE_SNAPPED || w->c.params > 0) continue;
        SL_TRY(sl_discover__form(&w->form, p->arena, w->c.expr));
        w->unit = false;
    }
    return SL_OK;
}

/* Rows that formulas are compared in: all, or a thousand spread over them. */
typedef struct view {
    sl_dataset rows;
    double *u, *v;  // values of two
    double largest; // |y|
} view;

enum { COMPARED = 1000, CLOSEST = 64 }; // rows; candidates above it in the list

static sl_status view_make(view *w, sl_arena *a, const sl_dataset *p) {
    const int64_t n = SL_MIN(p->rows, COMPARED);
    *w = (view){ .u = sl_arena_alloc(a, 2 * (size_t)n * sizeof *w->u) };
    if (!w->u) return sl_fail_memory(2 * (size_t)n, sizeof *w->u, "values");
    w->v = w->u + n;
    SL_TRY(sl_data_pick_evenly(&w->rows, a, p, n));
    for (int64_t i = 0; i < n; i++) w->largest = fmax(w->largest, fabs(w->rows.y[i]));
    return SL_OK;
}

/* Formulas with fitted constants are the same if their values are, up to a thousandth of what they
 * leave unexplained and a hundredth of what they explain: a sqrt(a) and a^(3/2), or what two fits
 * of one formula differ by. Where y has many decades its largest rows decide that alone, so values
 * are also within a tenth of each other in half of the rows. */
static sl_status are_alike(bool *out, sl_arena *scratch, const view *w, const sl_candidate *a,
                           const sl_candidate *b) {
    const int64_t n = w->rows.rows;
    SL_TRY(sl_discover_candidate_eval(w->u, scratch, a, &w->rows));
    SL_TRY(sl_discover_candidate_eval(w->v, scratch, b, &w->rows));
    const double mean = sl_num_mean(w->u, n);
    double apart = 0, left = 0, spread = 0;
    int64_t close = 0;
    for (int64_t i = 0; i < n && w->largest > 0; i++) { // in units of y, or squares may overflow
        apart += pow(w->u[i] / w->largest - w->v[i] / w->largest, 2);
        left += pow(w->u[i] / w->largest - w->rows.y[i] / w->largest, 2);
        spread += pow(w->u[i] / w->largest - mean / w->largest, 2);
        close += fabs(w->u[i] - w->v[i]) <= 0.1 * fmax(fabs(w->u[i]), fabs(w->v[i]));
    }
    *out = apart <= fmin(1e-6 * left, 1e-4 * spread) + 1e-24 * (double)n &&
           (2 * close >= n || w->largest == 0);
    return SL_OK;
}

/* Can they be the same? Their R2 would differ by more otherwise. */
static bool may_be_alike(const sl_candidate *a, const sl_candidate *b) {
    const double left = fmax(1 - a->r2, 1 - b->r2);
    return fabs(a->r2 - b->r2) <= 3e-3 * left + SL_DISCOVER__TIE;
}

static bool is_fitted(const sl_candidate *c) { return c->state >= SL_CANDIDATE_REFINED; }

static sl_status are_same(bool *out, sl_arena *scratch, const view *rows,
                          const sl_discover__work *v, const sl_discover__work *w) {
    *out = false;
    if (v->c.params == 0 && w->c.params == 0)
        *out = v->unit == w->unit && sl_expr_equal(v->form, w->form);
    else if (is_fitted(&v->c) || is_fitted(&w->c))
        return are_alike(out, scratch, rows, &v->c, &w->c);
    return SL_OK;
}

static bool is_simpler(const sl_candidate *a, const sl_candidate *b) {
    return a->size != b->size ? a->size < b->size : a->params < b->params;
}

/* Of two that are the same the simpler is kept, at the place of the first. */
static void unite(sl_discover__pool *p, int64_t *first, int64_t second) {
    sl_candidate *a = &p->work[*first].c, *b = &p->work[second].c;
    int64_t stays = *first, goes = second;
    if (is_simpler(b, a)) {
        stays = second;
        goes = *first;
    }
    *first = stays;
    if (a->source != b->source || a->number != b->number) // else a proposal and its own fit
        p->work[stays].c.times += p->work[goes].c.times;
    p->work[goes].c.state = SL_CANDIDATE_DUPLICATE;
    p->work[goes].c.same_as = stays;
}

sl_status sl_discover__merge(sl_discover__pool *p, int64_t *place, int64_t *n) {
    sl_arena *scratch = &p->scratch[0];
    const size_t mark = sl_arena_mark(scratch);
    view rows;
    int64_t kept = 0;
    SL_TRY(renew_forms(p));
    SL_TRY(view_make(&rows, scratch, &p->rows.fit));
    for (int64_t i = 0; i < *n; i++) {
        const sl_discover__work *w = &p->work[place[i]];
        bool same = false;
        // the list falls in R2, so the close ones are the last
        for (int64_t k = kept - 1; k >= 0 && k + CLOSEST > kept && !same; k--) {
            if (!may_be_alike(&p->work[place[k]].c, &w->c)) break;
            SL_TRY(are_same(&same, scratch, &rows, &p->work[place[k]], w));
            if (same) unite(p, &place[k], place[i]);
        }
        if (!same) place[kept++] = place[i];
    }
    *n = kept;
    sl_arena_rewind(scratch, mark);
    return SL_OK;
}

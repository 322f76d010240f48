/* order - which candidate is the better answer, and which ones have become the same. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "discover/discover_impl.h"

static bool is_ranked(const sl_candidate *c) {
    return c->state >= SL_CANDIDATE_SCORED && !isnan(c->r2);
}

/* qsort's own payload: what is sorted are places, in a thread of its own each time. */
static _Thread_local const sl_discover__work *sorted;

static int by_r2(const void *a, const void *b) {
    const int64_t i = *(const int64_t *)a, k = *(const int64_t *)b;
    const sl_candidate *x = &sorted[i].c, *y = &sorted[k].c;
    if (x->r2 != y->r2) return x->r2 > y->r2 ? -1 : 1;
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

/* place[0..n) := the candidates that have an R2, the best first. Being close is not transitive, so
 * the groups within which simplicity decides are cut from the top: all that are close to the first
 * of a group. */
int64_t sl_discover__order(int64_t *place, const sl_discover__work *work, int64_t count) {
    int64_t n = 0;
    for (int64_t i = 0; i < count; i++)
        if (is_ranked(&work[i].c)) place[n++] = i;
    sorted = work;
    qsort(place, (size_t)n, sizeof *place, by_r2);
    for (int64_t i = 0, end; i < n; i = end) {
        const double least = work[place[i]].c.r2 - SL_DISCOVER__TIE;
        for (end = i + 1; end < n && work[place[end]].c.r2 >= least;) end++;
        qsort(place + i, (size_t)(end - i), sizeof *place, by_simplicity);
    }
    return n;
}

/* Has fitting made of them the same formula, up to what fits differ by? */
static bool are_same(const sl_candidate *a, const sl_candidate *b) {
    if (a->params != b->params || !sl_expr_equal(a->expr, b->expr)) return false;
    for (int i = 0; i < a->params; i++) {
        const double size = fmax(fabs(a->value[i]), fabs(b->value[i]));
        if (fabs(a->value[i] - b->value[i]) > 1e-6 * size) return false;
    }
    return true;
}

/* Candidates with exact numbers alone are the same if their canonical forms are. */
static sl_status renew_forms(sl_discover__pool *p) {
    for (int64_t i = 0; i < p->count; i++) {
        sl_discover__work *w = &p->work[i];
        if (w->c.state != SL_CANDIDATE_SNAPPED || w->c.params > 0) continue;
        sl_status st = sl_expr_canon(&w->form, p->arena, w->c.expr);
        if (st == SL_ELIMIT || st == SL_EOVERFLOW)
            w->form = w->c.expr;
        else if (st != SL_OK)
            return st;
        w->unit = false;
    }
    return SL_OK;
}

sl_status sl_discover__merge(sl_discover__pool *p, int64_t *place, int64_t *n) {
    SL_TRY(renew_forms(p));
    int64_t kept = 0;
    for (int64_t i = 0; i < *n; i++) {
        sl_discover__work *w = &p->work[place[i]];
        int64_t same = -1;
        for (int64_t k = 0; k < kept && same < 0; k++) {
            const sl_discover__work *v = &p->work[place[k]];
            if (fabs(v->c.r2 - w->c.r2) > 1e-9) continue;
            const bool exact = v->c.params == 0 && w->c.params == 0 && v->unit == w->unit;
            if (are_same(&v->c, &w->c) || (exact && sl_expr_equal(v->form, w->form)))
                same = place[k];
        }
        if (same < 0) {
            place[kept++] = place[i];
            continue;
        }
        w->c.state = SL_CANDIDATE_DUPLICATE;
        w->c.same_as = same;
        p->work[same].c.times += w->c.times;
    }
    *n = kept;
    return SL_OK;
}

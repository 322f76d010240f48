/* Lists of the best candidates. The order is total, so what a list holds does not depend on the
 * order in which candidates came. */
#include <math.h>
#include <stdlib.h>

#include "search/noise_impl.h"

int sl_search__noise_candidate_cmp(const void *a, const void *b) {
    const sl_search__noise_candidate *p = a, *q = b;
    if (p->score != q->score) return p->score < q->score ? -1 : 1;
    if (p->span != q->span) return p->span - q->span;
    if (p->n != q->n) return p->n - q->n;
    if (p->monomial != q->monomial) return p->monomial - q->monomial;
    if (p->power != q->power) return p->power - q->power;
    for (int k = 0; k < SL_MAX(p->n, p->power != 0); k++) {
        if (p->at[k] != q->at[k]) return p->at[k] - q->at[k];
    }
    return 0;
}

/* A heap, the worst on top, once the list is full. */
static void sift_down(sl_search__noise_candidate *heap, int n, int at) {
    sl_search__noise_candidate moved = heap[at];
    for (int child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && sl_search__noise_candidate_cmp(&heap[child + 1], &heap[child]) > 0)
            child++;
        if (sl_search__noise_candidate_cmp(&heap[child], &moved) <= 0) break;
        heap[at] = heap[child];
    }
    heap[at] = moved;
}

void sl_search__noise_top_finish(sl_search__noise_top *t) {
    qsort(t->list, (size_t)t->n, sizeof *t->list, sl_search__noise_candidate_cmp);
}

void sl_search__noise_top_add(sl_search__noise_top *t, const sl_search__noise_candidate *c) {
    if (!(c->score <= t->worst) || !t->room) return;
    if (t->n < t->room) {
        t->list[t->n++] = *c;
        if (t->n < t->room) return;
        for (int k = t->n / 2 - 1; k >= 0; k--) sift_down(t->list, t->n, k);
    } else {
        if (sl_search__noise_candidate_cmp(c, &t->list[0]) >= 0) return;
        t->list[0] = *c;
        sift_down(t->list, t->n, 0);
    }
    t->worst = t->list[0].score;
}

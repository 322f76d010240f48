/* Lists of the best candidates. The order is total, so what a list holds does not depend on the order
 * in which candidates came. */
#include <math.h>
#include <stdlib.h>

#include "search/noise_impl.h"

int sl_noise__candidate_cmp(const void *a, const void *b) {
    const sl_noise__candidate *p = a, *q = b;
    if (p->score != q->score) return p->score < q->score ? -1 : 1;
    if (p->span != q->span) return p->span - q->span;
    if (p->n != q->n) return p->n - q->n;
    if (p->monomial != q->monomial) return p->monomial - q->monomial;
    for (int k = 0; k < p->n; k++) {
        if (p->at[k] != q->at[k]) return p->at[k] - q->at[k];
    }
    return 0;
}

void sl_noise__top_finish(sl_noise__top *t) {
    qsort(t->list, (size_t)t->n, sizeof *t->list, sl_noise__candidate_cmp);
    t->n = SL_MIN(t->n, t->room);
}

void sl_noise__top_add(sl_noise__top *t, const sl_noise__candidate *c) {
    if (!(c->score <= t->worst) || !t->room) return;
    t->list[t->n++] = *c;
    if (t->n < 2 * t->room) return;
    sl_noise__top_finish(t);
    t->worst = t->list[t->n - 1].score;
}

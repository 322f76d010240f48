/* front - the trade-off front while the work goes on.
 *
 * By the same rule as the front of the final list (rank.c), over the candidates so far and the
 * formulas of a search that is not done yet. Sizes may still change there: the final list has the
 * forms that people would write. */
#include <math.h>
#include <string.h>

#include "discover/discover_impl.h"

enum { FRONT_MAX = 32 }; // the largest ones are left out

typedef struct front {
    sl_candidate c[FRONT_MAX]; // sizes and R2 rise
    int n;
} front;

/* Keeps c if no simpler one explains as much, and drops what it makes superfluous. */
static void offer(front *f, const sl_candidate *c) {
    int at = 0, end;
    if (isnan(c->r2)) return;
    while (at < f->n && f->c[at].size < c->size) at++;
    const int rival = at < f->n && f->c[at].size == c->size ? at : at - 1; // the best not larger
    if (rival >= 0 && f->c[rival].r2 >= c->r2 - SL_DISCOVER__TIE) return;
    for (end = at; end < f->n && f->c[end].r2 <= c->r2 + SL_DISCOVER__TIE;) end++;
    if (at == FRONT_MAX) return;
    if (end == at && f->n == FRONT_MAX) f->n--;
    memmove(&f->c[at + 1], &f->c[end], (size_t)(f->n - end) * sizeof *f->c);
    f->n += at + 1 - end;
    f->c[at] = *c;
}

static void offer_formula(front *f, const sl_search_formula *found) {
    const sl_fit *fit = &found->fit;
    const sl_candidate c = { .state = SL_CANDIDATE_REFINED,
                             .source = SL_SOURCE_SEARCH,
                             .method = found->method,
                             .level = found->level,
                             .expr = fit->expr,
                             .params = fit->params,
                             .value = fit->value,
                             .error = fit->error,
                             .size = sl_expr_nodes(fit->expr),
                             .r2 = fit->r2,
                             .bits = found->bits };
    offer(f, &c);
}

/* What two fronts differ in, if they do. */
static uint64_t hash_of(const front *f) {
    uint64_t h = (uint64_t)f->n;
    for (int i = 0; i < f->n; i++) {
        uint64_t r2;
        memcpy(&r2, &f->c[i].r2, sizeof r2);
        h = (h ^ r2 ^ sl_expr_hash(f->c[i].expr)) * 0x9e3779b97f4a7c15u;
    }
    return h;
}

/* Errors follow from R2: that of formulas of a search is all that is known of them yet. */
static void set_errors(front *f, const sl_dataset *p) {
    double mean = 0, sum = 0;
    for (int64_t i = 0; i < p->rows; i++) mean += p->y[i] / (double)p->rows;
    for (int64_t i = 0; i < p->rows; i++) sum += (p->y[i] - mean) * (p->y[i] - mean);
    for (int i = 0; i < f->n; i++)
        f->c[i].rms = sqrt(fmax(0, 1 - f->c[i].r2) * sum / (double)p->rows);
}

void sl_discover__report_front(sl_discover__pool *p, const sl_search_formula *found, int n) {
    front f = { .n = 0 };
    if (!p->o->on_front) return;
    for (int64_t i = 0; i < p->count; i++)
        if (p->work[i].c.state >= SL_CANDIDATE_SCORED) offer(&f, &p->work[i].c);
    for (int i = 0; i < n; i++) offer_formula(&f, &found[i]);
    const uint64_t hash = hash_of(&f);
    if (f.n == 0 || hash == p->front_hash) return;
    p->front_hash = hash;
    set_errors(&f, &p->rows.fit);
    p->o->on_front(f.c, f.n, p->o->front_payload);
}

/* Terms of the store at the probes, in the order of the store. */
#include <math.h>

#include "num/num.h"
#include "search/noise_impl.h"

static int64_t bytes_of(int room, int stride) {
    return (int64_t)room * (int64_t)(sizeof(sl_store_term) + sizeof(float) + sizeof(int) +
                                     (size_t)stride * sizeof(double));
}

void sl_search__noise_terms_clear(sl_search__noise_terms *t, sl_search__job *j) {
    sl_free(t->term), sl_free(t->cost), sl_free(t->value), sl_free(t->order);
    if (t->room) sl_search__release(j, bytes_of(t->room, t->stride));
    *t = (sl_search__noise_terms){ 0 };
}

/* Room for that many terms; *enough: false where max_memory does not allow it. */
static sl_status grow(bool *enough, sl_search__noise_terms *t, sl_search__job *j, int room) {
    *enough = sl_search__reserve(j, bytes_of(room, t->stride));
    if (!*enough) return SL_OK;
    sl_store_term *term = sl_realloc(t->term, (size_t)room, sizeof *term);
    if (term) t->term = term;
    float *cost = sl_realloc(t->cost, (size_t)room, sizeof *cost);
    if (cost) t->cost = cost;
    double *value = sl_realloc(t->value, (size_t)room * (size_t)t->stride, sizeof *value);
    if (value) t->value = value;
    if (!term || !cost || !value) {
        sl_search__release(j, bytes_of(room, t->stride));
        return sl_fail_memory((size_t)room, (size_t)t->stride * sizeof(double),
                              "terms of a search");
    }
    if (t->room) sl_search__release(j, bytes_of(t->room, t->stride));
    t->room = room;
    return SL_OK;
}

typedef struct evaluation {
    sl_search__noise_terms *t;
    const sl_store *store;
    sl_side side;
    bool *real; // by term, from t->n on
} evaluation;

static sl_status evaluate(int64_t begin, int64_t end, int worker, void *payload) {
    const evaluation *e = payload;
    (void)worker;
    for (int64_t k = begin; k < end; k++) {
        double *v = e->t->value + (e->t->n + k) * e->t->stride;
        bool exponent;
        bool real = sl_search__store_term_value(v, &exponent, e->store, e->t->term[e->t->n + k]);
        if (real && e->side == SL_SIDE_PRODUCT && !exponent) {
            for (int i = 0; i < e->t->stride; i++) v[i] = fabs(v[i]);
            sl_log_array(v, v, e->t->stride);
        }
        double sum = 0;
        for (int i = 0; i < e->t->stride; i++) sum += v[i];
        e->real[k] = real && isfinite(sum);
    }
    return SL_OK;
}

/* The n new terms behind t->n that are real become part of it. */
static void compact(sl_search__noise_terms *t, const bool *real, int n) {
    int from = t->n;
    for (int k = 0; k < n; k++) {
        if (!real[k]) continue;
        t->term[t->n] = t->term[from + k];
        t->cost[t->n] = t->cost[from + k];
        memmove(t->value + (int64_t)t->n * t->stride, t->value + (int64_t)(from + k) * t->stride,
                (size_t)t->stride * sizeof(double));
        t->n++;
    }
}

/* One whole level of the store, as far as `most` terms allow. */
static sl_status add_level(bool *enough, sl_search__noise_terms *t, sl_search__job *j, sl_store *s,
                           sl_side side, int most) {
    enum { BATCH = 2048 };
    bool real[BATCH];
    sl_store_walk w;
    SL_TRY(sl_search__store_extend(s, t->level));
    sl_search__store_walk_begin(&w, s, side, t->level);
    for (int n; t->n < most;) {
        if (sl_search__stop(j, true)) return SL_OK;
        if (t->n + BATCH > t->room) {
            SL_TRY(grow(enough, t, j, SL_MAX(2 * t->room, 4 * BATCH)));
            if (!*enough) return SL_OK;
        }
        n = sl_search__store_walk_next(t->term + t->n, t->cost + t->n, BATCH, &w);
        if (!n) break;
        evaluation e = { t, s, side, real };
        SL_TRY(sl_par_for(j->pool, n, 64, evaluate, &e));
        atomic_fetch_add(&j->tried, n);
        compact(t, real, n);
    }
    return SL_OK;
}

/* ---------------------------------------------------------------- order --------------------- */

/* order[] := all terms by cost: a level lists one family after the other. */
static sl_status make_order(sl_search__noise_terms *t) {
    sl_keyed *all = sl_malloc((size_t)t->n, sizeof *all);
    int *order = sl_realloc(t->order, (size_t)t->n, sizeof *order);
    if (order) t->order = order;
    if (!all || !order) {
        sl_free(all);
        return sl_fail_memory((size_t)t->n, sizeof *all, "the order of terms");
    }
    for (int k = 0; k < t->n; k++) all[k] = (sl_keyed){ t->cost[k], k };
    sl_num_sort_keyed(all, t->n);
    for (int k = 0; k < t->n; k++) order[k] = (int)all[k].at;
    sl_free(all);
    return SL_OK;
}

sl_status sl_search__noise_terms_gather(sl_search__noise_terms *t, sl_search__job *j, sl_store *s,
                                        sl_side side, int want) {
    enum { LEVELS = 24, SLACK = 4 };
    t->stride = sl_search__store_stride(s);
    bool enough = true;
    while (t->n < want && t->level < LEVELS && enough && !sl_search__stop(j, true)) {
        SL_TRY(add_level(&enough, t, j, s, side, SLACK * want));
        t->level++;
    }
    return make_order(t);
}

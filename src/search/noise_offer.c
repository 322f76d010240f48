/* What becomes of a formula that leaves something of y: fitted in all rows of the table, made of
 * exact numbers where that shortens the description, and kept if it belongs to the front. */
#include <math.h>

#include "search/search_impl.h"

/* What is known of y's errors beside p->sigma. */
static sl_noise known_noise(const sl_search__job *j) {
    return (sl_noise){ .sigma = j->o->sigma, .precision = j->precision };
}

static bool stop_fit(void *payload) { return sl_search__stop(payload, false); }

/* The shorter description of two fits of the same formula: with free constants, and with those that
 * are close to small fractions made exact. */
static sl_status fit_and_snap(sl_fit *fit, sl_bits *bits, sl_search__job *j, const sl_node *e,
                              const double *value, int params) {
    sl_arena *a = &j->result->arena;
    const sl_refine_options o = {
        .evaluations = 60, .restarts = -1, .stop = stop_fit, .payload = j
    };
    sl_noise noise = known_noise(j);
    SL_TRY(sl_fit_constants(fit, a, e, params, value, j->all, &o));
    SL_TRY(sl_fit_describe(bits, fit, j->all, &noise));
    if (!isfinite(bits->total) || fit->params == 0) return SL_OK;
    sl_fit snapped = *fit;
    sl_bits shorter;
    int n;
    SL_TRY(sl_snap(&snapped, &n, a, j->all, &o));
    if (n == 0) return SL_OK;
    SL_TRY(sl_fit_describe(&shorter, &snapped, j->all, &noise));
    if (shorter.total < bits->total) *fit = snapped, *bits = shorter;
    return SL_OK;
}

/* Is there a kept formula of no more bits of its own that leaves no more? */
static bool is_beaten(const sl_search__job *j, const sl_bits *b) {
    double own = b->total - b->data;
    for (int k = 0; k < j->n_kept; k++) {
        const sl_bits *other = &j->kept[k].bits;
        if (other->total - other->data <= own && other->data <= b->data) return true;
    }
    return false;
}

sl_status sl_search__offer_noisy(bool *kept, sl_search__job *j, const sl_node *e,
                                 const double *value, int params, const char *method, int level) {
    sl_arena *a = &j->result->arena;
    size_t mark = sl_arena_mark(a);
    const sl_node *whole;
    sl_search_formula f = { .method = method, .level = level, .step = j->news.step };
    sl_noise noise = known_noise(j);
    *kept = false;
    j->verified++;
    SL_TRY(sl_search__to_all(&whole, a, j, e));
    SL_TRY(fit_and_snap(&f.fit, &f.bits, j, whole, value, params));
    bool real = isfinite(f.bits.total) && isfinite(f.fit.r2), fits;
    SL_TRY(sl_search__fits_size(&fits, a, j, f.fit.expr));
    if (!real || !fits || sl_search__is_known(j, &f) || is_beaten(j, &f.bits)) {
        sl_arena_rewind(a, mark);
        return SL_OK;
    }
    SL_TRY(
        sl_fit_evidence(&f.evidence, &f.bits, j->all, &noise, 1 + (double)atomic_load(&j->tried)));
    f.seconds = sl_clock() - j->start;
    *kept = true;
    return sl_search__keep(j, &f);
}

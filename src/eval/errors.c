/* errors - problems of another source with errors in y: noise, or few digits.
 *
 * Noise is a function of the seed and the problem's number, so it does not depend on other problems
 * or threads. The truth and the fresh points stay without errors: they are used for the verdict. */
#include <math.h>
#include <string.h>

#include "eval/eval_impl.h"

enum { STREAM_NOISE = 0xe7a1b2 };

typedef struct state {
    sl_eval_source from;
    double noise;
    int digits;
    uint64_t seed;
} state;

static double root_mean_square(const double *y, int64_t n) {
    double most = 0, sum = 0;
    for (int64_t i = 0; i < n; i++) most = fmax(most, fabs(y[i]));
    if (!(most > 0)) return 0;
    for (int64_t i = 0; i < n; i++) sum += y[i] / most * (y[i] / most); // squares stay doubles
    return most * sqrt(sum / (double)n);
}

/* The decimal of so many digits that is nearest to v. */
static double rounded(double v, int digits) {
    char text[64];
    sl_snprintf(text, sizeof text, "%.*e", digits - 1, v);
    return sl_strtod(text, NULL);
}

static sl_status get(sl_eval_problem *out, sl_arena *a, int64_t i, const sl_eval_source *s) {
    const state *w = s->state;
    SL_TRY(w->from.get(out, a, i, &w->from));
    const int64_t n = out->data.rows;
    const double *was = out->data.y;
    double *y = sl_arena_alloc(a, (size_t)n * sizeof *y);
    if (!y) return sl_fail_memory((size_t)n, sizeof *y, "values");
    const double size = w->noise * root_mean_square(was, n);
    sl_rng rng;
    sl_rng_init(&rng, w->seed, STREAM_NOISE, (uint64_t)i);
    for (int64_t k = 0; k < n; k++) {
        y[k] = size > 0 ? was[k] + size * sl_rng_normal(&rng) : was[k];
        if (w->digits > 0) y[k] = rounded(y[k], w->digits);
    }
    out->data.y = y;
    out->y_true = was;
    return SL_OK;
}

static void clear(sl_eval_source *s) {
    state *w = s->state;
    sl_eval_source_clear(&w->from);
    sl_free(w);
}

sl_status sl_eval_with_errors(sl_eval_source *out, sl_eval_source *from, double noise, int digits,
                              uint64_t seed) {
    SL_ASSERT(noise >= 0 && digits >= 0 && digits <= 17);
    state *w = sl_malloc(1, sizeof *w);
    if (!w) {
        sl_eval_source_clear(from);
        return sl_fail_memory(1, sizeof *w, "problems");
    }
    *w = (state){ *from, noise, digits, seed };
    *from = (sl_eval_source){ 0 };
    *out = (sl_eval_source){
        .count = w->from.count, .name = w->from.name, .get = get, .state = w, .clear = clear
    };
    return SL_OK;
}

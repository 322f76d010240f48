/* The bootstrap: intervals from resampling the rows with replacement. */
#include "num/num_impl.h"

#include <math.h>

void sl_num_boot_pick(int *pick, int n, uint64_t seed, uint32_t stream, uint64_t draw) {
    SL_ASSERT(n >= 1);
    sl_rng rng;
    sl_rng_init(&rng, seed, stream, draw);
    for (int i = 0; i < n; i++) pick[i] = (int)sl_rng_below(&rng, (uint32_t)n);
}

sl_boot sl_num_boot_summary(double *values, int draws, double level) {
    SL_ASSERT(draws >= 0 && level > 0 && level < 1);
    sl_num_sort(values, draws); // those without a value go to the end
    int valid = draws;
    while (valid > 0 && isnan(values[valid - 1])) valid--;
    if (valid == 0 || valid < draws - valid) return (sl_boot){ NAN, NAN, NAN, valid };
    double tail = (1 - level) / 2;
    return (sl_boot){ .lo = sl_num_quantile(values, valid, tail),
                      .median = sl_num_quantile(values, valid, 0.5),
                      .hi = sl_num_quantile(values, valid, 1 - tail),
                      .valid = valid };
}

sl_status sl_num_bootstrap(sl_boot *out, sl_arena *scratch, const sl_boot_options *opt, int n,
                           int k, sl_boot_fn fn, void *payload) {
    static const sl_boot_options defaults = SL_BOOT_OPTIONS_INIT;
    if (!opt) opt = &defaults;
    SL_ASSERT(n >= 1 && k >= 1 && opt->draws >= 1);

    sl_status st;
    size_t mark = sl_arena_mark(scratch), draws = (size_t)opt->draws;
    double *one = sl_num__alloc(scratch, (size_t)k, sizeof *one);
    double *all = sl_num__alloc(scratch, draws * sizeof *all, (size_t)k); // (k,draws)
    int *pick = sl_num__alloc(scratch, (size_t)n, sizeof *pick);
    if (!one || !all || !pick) {
        st = sl_fail(SL_ENOMEM, "no memory for %d bootstrap draws of %d values", opt->draws, k);
        goto done;
    }
    for (size_t i = 0; i < draws; i++) {
        for (int j = 0; j < k; j++) one[j] = NAN;
        sl_num_boot_pick(pick, n, opt->seed, opt->stream, i);
        SL_GO(fn(one, pick, n, payload));
        for (int j = 0; j < k; j++) all[(size_t)j * draws + i] = one[j];
    }
    for (int j = 0; j < k; j++) {
        out[j] = sl_num_boot_summary(all + (size_t)j * draws, opt->draws, opt->level);
    }
    st = SL_OK;
done:
    sl_arena_rewind(scratch, mark);
    return st;
}

/* points - further points for problems that come without any, and the points of formulas. */
#include <math.h>
#include <string.h>

#include "eval/eval_impl.h"

enum {
    BLOCK = 256,        // points evaluated together
    TRIES_EACH = 64,    // draws per point that is wanted,
    TRIES_MORE = 65536, // and besides: a formula may be real in a corner only
    STREAM_AROUND = 1   // of points around a problem's; formulas.c has its own
};

static const double limit = 1e100; // as pairs: squares are still doubles

static double between(double lo, double hi, double u) {
    return fmin(fmax(lo * (1 - u) + hi * u, lo), hi); // hi - lo may be no double
}

sl_status sl_eval__draw(sl_dataset *out, sl_arena *a, const sl_node *e, const sl_eval__box *box,
                        int64_t n, sl_rng *rng) {
    const int D = box->inputs;
    SL_ASSERT(D >= 1 && D <= SL_DATA_MAX_INPUTS && sl_expr_max_var(e) <= D);
    double *kept = sl_arena_alloc(a, (size_t)n * (size_t)(D + 1) * sizeof *kept);
    const size_t mark = sl_arena_mark(a);
    double *drawn = sl_arena_alloc(a, (size_t)BLOCK * (size_t)(D + 1) * sizeof *drawn);
    if (!kept || !drawn) return sl_fail_memory((size_t)n * (size_t)(D + 1), sizeof *kept, "points");
    double *y = kept + D * n, *value = drawn + D * BLOCK;
    const double *at[SL_DATA_MAX_INPUTS];
    sl_dataset d = { .inputs = D, .y = y, .names = box->names };
    for (int v = 0; v < D; v++) {
        d.x[v] = kept + v * n;
        at[v] = drawn + v * BLOCK;
    }
    const sl_program *program;
    SL_TRY(sl_expr_compile(&program, a, e));

    int64_t have = 0;
    for (int64_t left = n * TRIES_EACH + TRIES_MORE; have < n && left > 0; left -= BLOCK) {
        for (int i = 0; i < BLOCK; i++)
            for (int v = 0; v < D; v++)
                drawn[v * BLOCK + i] = between(box->lo[v], box->hi[v], sl_rng_uniform(rng));
        SL_TRY(sl_expr_program_run(value, program, at, BLOCK, NULL, a));
        for (int i = 0; i < BLOCK && have < n; i++) {
            if (!(fabs(value[i]) < limit)) continue; // also NaN
            for (int v = 0; v < D; v++) kept[v * n + have] = at[v][i];
            y[have++] = value[i];
        }
    }
    sl_arena_rewind(a, mark);
    d.rows = have;
    *out = d;
    return SL_OK;
}

/* The stream is a hash of the data, so no number has to be passed here. */
sl_status sl_eval__around(sl_dataset *out, sl_arena *a, const sl_node *truth,
                          const sl_dataset *data) {
    sl_eval__box box = { .inputs = data->inputs };
    uint64_t name = 0;
    for (int v = 0; v < data->inputs; v++) {
        const double *x = data->x[v];
        name = sl_hash(x, (size_t)data->rows * sizeof *x, name);
        box.lo[v] = box.hi[v] = x[0];
        for (int64_t i = 1; i < data->rows; i++) {
            box.lo[v] = fmin(box.lo[v], x[i]);
            box.hi[v] = fmax(box.hi[v], x[i]);
        }
    }
    sl_rng rng;
    sl_rng_init(&rng, name, STREAM_AROUND, 0);
    return sl_eval__draw(out, a, truth, &box, SL_EVAL__FRESH, &rng);
}

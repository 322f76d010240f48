/* A model of a few thousand random weights, and problems that baselines can solve. */
#ifndef SL_EVAL_TINY_H
#define SL_EVAL_TINY_H

#include "eval/test/small.h"

enum { TINY_POINTS = 12 };

static inline sl_infer *tiny_model(sl_fixture *t) {
    sl_infer *m;
    sl_model_options o = sl_model_defaults();
    o.width = 8;
    o.layers = 1;
    SL_MUST(t, sl_infer_new(&m, &o, NULL, 11, TINY_POINTS));
    return m;
}

/* A few samples, all of them expressions, and the baselines. */
static inline sl_discover_options tiny_options(int samples) {
    sl_discover_options o = sl_discover_defaults();
    o.search = SL_DISCOVER_MODEL;
    o.rank = SL_RANK_SIMPLE;
    o.samples = samples;
    o.refine = 2;
    o.scale = SL_SCALE_RAW;
    o.infer.length = 12;
    return o;
}

/* Lines of JSON, 20 rows of each formula; of "" the formula is not given. y has normal noise. */
static inline void tiny_lines(sl_fixture *t, const char *path, const char *const *formulas, int n,
                              double noise) {
    sl_str s = { 0 };
    for (int i = 0; i < n; i++) {
        const char *text = *formulas[i] ? formulas[i] : "x1*x2 + sin(9*x1)";
        const sl_node *truth = parsed(t, text);
        const sl_eval_problem p = problem_of(t, truth, 0.5, 2, 20, 0);
        sl_io_json_open(&s, NULL, '{');
        sl_io_json_open(&s, "x", '[');
        for (int v = 0; v < 2; v++) {
            sl_io_json_open(&s, NULL, '[');
            for (int k = 0; k < 20; k++) sl_io_json_add_real(&s, NULL, p.data.x[v][k]);
            sl_io_json_close(&s, ']');
        }
        sl_io_json_close(&s, ']');
        sl_io_json_open(&s, "y", '[');
        for (int k = 0; k < 20; k++)
            sl_io_json_add_real(&s, NULL, p.data.y[k] + noise * sl_rng_normal(&t->rng));
        sl_io_json_close(&s, ']');
        if (*formulas[i]) sl_io_json_add_text(&s, "expr", text);
        sl_io_json_close(&s, '}');
        sl_str_add_char(&s, '\n');
    }
    sl_test_write_text(path, sl_str_text(&s));
    sl_str_clear(&s);
}

#endif

/* For the tests of this and higher folders: a small made-up study with all that a report can show.
 * Losses follow L = 3 + 4.4/(N/1e4)^0.5 + 5/(D/1e6)^0.45 and a little noise. */
#ifndef SL_REPORT_TEST_H
#define SL_REPORT_TEST_H

#include <math.h>
#include <string.h>

#include "num/num.h"
#include "report/report.h"

enum {
    REPORT_SIZES = 4,
    REPORT_RATIOS = 5,
    REPORT_SEEDS = 2,
    REPORT_STEPS = 60,
    REPORT_POINTS = 40,
};

typedef struct report_study {
    sl_laws_table table;
    sl_laws laws;
    sl_report_input in;
    sl_rng rng;
    int curves;
    sl_report_curve curve[REPORT_SIZES * REPORT_RATIOS];
    double step[REPORT_SIZES * REPORT_RATIOS][3][REPORT_STEPS];
    char id[REPORT_SIZES * REPORT_RATIOS * REPORT_SEEDS][24];
    sl_report_other other[REPORT_SIZES];
    sl_report_origin origin[REPORT_SIZES * REPORT_RATIOS];
    double x[4][REPORT_POINTS], y[4][REPORT_POINTS], found[4][REPORT_POINTS];
    sl_report_problem problem[4];
} report_study;

static const double report_params[] = { 11104, 26208, 73664, 161184 };
static const char *const report_size[] = { "11k", "26k", "74k", "161k" };

static inline double report_loss(report_study *r, double n, double d, double off) {
    const double y = 3 + 4.4 / sqrt(n / 1e4) + 5 / sl_exp(0.45 * sl_log(d / 1e6));
    return y * (1 + 0.01 * sl_rng_normal(&r->rng)) * (1 + off);
}

static inline double report_share(double loss, double scale) {
    return SL_MAX(0.002, 1 - sl_exp(0.8 * sl_log(loss / scale)));
}

/* n problems of which a share is solved. */
static inline sl_estimate report_of(double share, int n) {
    const sl_interval w = sl_num_wilson(share * n, n, 0.95);
    return (sl_estimate){ share, w.lo, w.hi };
}

/* A run of size s and so many tokens per parameter. */
static inline sl_laws_run report_run(report_study *r, const char *id, int s, double ratio,
                                     int seed) {
    sl_laws_run run = SL_LAWS_RUN_NONE;
    run.id = id;
    run.size = report_size[s];
    run.phase = "scale";
    run.status = "done";
    run.params = report_params[s];
    run.tokens = ratio * run.params;
    run.flops = 17.1 * run.params * run.tokens;
    run.loss = report_loss(r, run.params, run.tokens, 0);
    run.loss_test = run.loss * 1.01;
    run.trials = 1000;
    run.solved_hits = floor(1000 * report_share(run.loss, 14));
    run.solved = run.solved_hits / 1000;
    run.r2_hits = floor(1000 * report_share(run.loss, 16));
    run.r2 = run.r2_hits / 1000;
    run.seed = seed;
    run.batch = 8 << s;
    run.rate = 8e-3 / sqrt(s + 1);
    return run;
}

/* The curve of a run: a slow start, then down to where it ended. */
static inline void report_curve(report_study *r, const sl_laws_run *run) {
    sl_report_curve *c = &r->curve[r->curves];
    double(*at)[REPORT_STEPS] = r->step[r->curves++];
    for (int t = 0; t < REPORT_STEPS; t++) {
        const double part = (t + 1.0) / REPORT_STEPS;
        at[0][t] = floor(run->tokens / 50 * part);
        at[1][t] = run->flops * part;
        at[2][t] = run->loss * (1 + 0.9 * (1 - part) / (1 + 12 * part));
    }
    *c = (sl_report_curve){ run->id, run->params, REPORT_STEPS, at[0], at[1], at[2] };
}

static inline sl_status report_runs(report_study *r, sl_arena *a) {
    for (int s = 0, k = 0; s < REPORT_SIZES; s++)
        for (int i = 0; i < REPORT_RATIOS; i++)
            for (int seed = 0; seed < REPORT_SEEDS; seed++, k++) {
                const double ratio = 25 * (1 << i);
                sl_snprintf(r->id[k], sizeof r->id[k], "w%d-r%g-s%d", 16 * (s + 1), ratio, seed);
                const sl_laws_run run = report_run(r, r->id[k], s, ratio, seed);
                SL_TRY(sl_laws_table_add(&r->table, a, &run));
                if (!seed) report_curve(r, &run);
            }
    // two groups of equal compute
    for (int group = 0; group < 2; group++)
        for (int s = 0; s < REPORT_SIZES; s++) {
            const double flops = group ? 1.4e13 : 1.6e12;
            char id[32];
            sl_snprintf(id, sizeof id, "w%d-iso%d", 16 * (s + 1), group);
            const sl_laws_run run =
                report_run(r, id, s, flops / (17.1 * report_params[s] * report_params[s]), 0);
            SL_TRY(sl_laws_table_add(&r->table, a, &run));
        }
    return SL_OK;
}

static inline sl_status report_sweep(report_study *r, sl_arena *a) {
    for (int s = 0; s < 3; s++)
        for (int b = 0; b < 4; b++)
            for (int i = 0; i < 5; i++) {
                sl_laws_run run = SL_LAWS_RUN_NONE;
                char id[32];
                run.batch = 8 << b;
                run.rate = 1e-3 * (1 << i);
                sl_snprintf(id, sizeof id, "w%d-b%g-lr%d", 16 * (s + 1), run.batch, i);
                const double off_rate = sl_log(run.rate / (5e-3 / (s + 1) * sqrt(1 + b)));
                const double off_batch = b - 0.8 - 0.4 * s;
                run.id = id;
                run.size = report_size[s];
                run.phase = "sweep";
                run.status = "done";
                run.params = report_params[s];
                run.tokens = 50 * run.params;
                run.flops = 17.1 * run.params * run.tokens;
                run.loss = report_loss(r, run.params, run.tokens,
                                       0.05 * off_rate * off_rate + 0.02 * off_batch * off_batch);
                SL_TRY(sl_laws_table_add(&r->table, a, &run));
            }
    return SL_OK;
}

static inline void report_problems(report_study *r) {
    static const char square[] = "<math xmlns=\"http://www.w3.org/1998/Math/MathML\"><mrow><msup>"
                                 "<mi>x</mi><mn>2</mn></msup><mo>+</mo><mn>1</mn></mrow></math>";
    static const char wave[] =
        "<math xmlns=\"http://www.w3.org/1998/Math/MathML\"><mrow><mi>sin</mi>"
        "<mo>(</mo><mn>3</mn><mi>x</mi><mo>)</mo></mrow></math>";
    for (int i = 0; i < 4; i++) {
        for (int k = 0; k < REPORT_POINTS; k++) {
            const double x = sl_rng_range(&r->rng, -2, 2);
            r->x[i][k] = x;
            r->y[i][k] = i % 2 ? sl_sin(3 * x) : x * x + 1;
            r->found[i][k] = i < 2 ? r->y[i][k] : i == 2 ? 2 : x;
        }
        const double *column = r->x[i];
        r->problem[i] = (sl_report_problem){
            .solved = i < 2,
            .truth_mathml = i % 2 ? wave : square,
            .found_mathml = i < 2 ? i % 2 ? wave : square : NULL,
            .found = i == 2 ? "2" : "x1",
            .data = sl_data_view(&column, 1, r->y[i], REPORT_POINTS),
            .predicted = r->found[i],
            .r2 = i < 2 ? 1 : 0.31,
        };
    }
}

/* Fills *r, whose parts live in `a`. */
static inline sl_status report_study_make(report_study *r, sl_arena *a, int draws) {
    static const sl_report_effort efforts[] = {
        { 0.01, 1e9, { 0, 0, 0.02 }, 0 },
        { 0.1, 1e10, { 0.51, 0.44, 0.58 }, 0 },
        { 1, 1e11, { 0.77, 0.71, 0.82 }, 3 },
    };
    static const sl_report_baseline baselines[] = {
        { "blind draws, best of 128", "128 formulas drawn from the generator, the best by R²",
          .solved = { 0.008, 0.004, 0.015 }, .r2 = { 0.06, 0.05, 0.08 } },
        { "best linear formula", .solved = { 0.021, 0.014, 0.032 }, .r2 = { 0.11, 0.09, 0.13 } },
        { "search", "without a model", .solved = { 0.77, 0.71, 0.82 }, .r2 = { 0.8, 0.7, 0.9 },
          .efforts = efforts, .n_efforts = SL_LEN(efforts) },
    };
    static const sl_report_cost costs[] = {
        { "sweep", 60, 130, 255, 1.9e12, 0.38, 1.1e12 },
        { "scale", 40, 395, 780, 2.1e13, 0.44, 1.2e13 },
        { "evaluate", 40, 48, 95, NAN, NAN, 0 },
    };
    static const sl_report_failure failures[] = {
        { "w64-b8-lr5", "diverged", "loss is not finite at step 812", 2 },
    };
    *r = (report_study){ 0 };
    sl_rng_init(&r->rng, 7, 1, 0);
    SL_TRY(report_runs(r, a));
    SL_TRY(report_sweep(r, a));
    SL_TRY(sl_laws_table_end(&r->table, a));
    sl_laws_options o = SL_LAWS_OPTIONS_INIT;
    o.draws = draws;
    SL_TRY(sl_laws_fit(&r->laws, a, &r->table, &o));
    report_problems(r);
    for (int i = 0; i < REPORT_SIZES; i++) {
        const sl_laws_run *run = &r->table.run[i * REPORT_RATIOS * REPORT_SEEDS + 4];
        r->other[i] = (sl_report_other){ run->id,
                                         run->params,
                                         run->flops,
                                         report_of(run->solved, 1000),
                                         report_of(run->solved * 0.8, 500),
                                         report_of(run->solved * 0.5, 100) };
    }
    for (int i = 0; i < SL_LEN(r->origin); i++)
        r->origin[i] = (sl_report_origin){ r->curve[i].run, "SomeBLAS 1.2", "Some CPU @ 2.60GHz",
                                           i < 18 ? "avx512" : "avx2", "0.1.0 (abc1234)" };
    r->in = (sl_report_input){
        .title = "A small study of size and compute",
        .subtitle = "Four sizes, five ratios of tokens to parameters, two seeds.",
        .laws = &r->laws,
        .n_curves = r->curves,
        .n_baselines = SL_LEN(baselines),
        .n_others = REPORT_SIZES,
        .n_costs = SL_LEN(costs),
        .n_origins = SL_LEN(r->origin),
        .n_failures = SL_LEN(failures),
        .n_problems = SL_LEN(r->problem),
        .curves = r->curve,
        .baselines = baselines,
        .others = r->other,
        .costs = costs,
        .origins = r->origin,
        .failures = failures,
        .problems = r->problem,
        .command = "symlaw study run studies/micro.json",
        .plan = "{\n  \"name\": \"micro\",\n  \"sizes\": [16, 32, 48, 64]\n}\n",
    };
    return SL_OK;
}

#endif

#include "tables.h"

static void add_run(sl_fixture *t, sl_laws_table *table, double params, double batch, double rate,
                    double loss, double seed, const char *phase) {
    sl_laws_run r = SL_LAWS_RUN_NONE;
    r.params = params, r.batch = batch, r.rate = rate, r.loss = loss, r.seed = seed;
    r.ratio = 10;
    r.phase = phase;
    SL_MUST(t, sl_laws_table_add(table, &t->arena, &r));
}

static void fit_all(sl_fixture *t, sl_laws *l, sl_laws_table *table, int draws) {
    sl_laws_options o = SL_LAWS_OPTIONS_INIT;
    o.draws = draws;
    SL_MUST(t, sl_laws_table_end(table, &t->arena));
    SL_MUST(t, sl_laws_fit(l, &t->arena, table, &o));
}

/* Two sizes, six batch sizes, five rates, against SciPy's Akima in two steps. */
static void optima_agree_with_scipy(void **state) {
    sl_fixture *t = *state;
    golden g = open_answers(t);
    sl_laws_table table = { 0 };
    double want[2][3], rates[2][6];
    int n = 0;
    while (golden_case(&g, "sweep")) {
        const double *batch = golden_get(&g, "batch", NULL), *rate = golden_get(&g, "rate", NULL);
        const double *loss = golden_get(&g, "loss", NULL), *best = golden_get(&g, "best", NULL);
        for (int b = 5; b >= 0; b--) // rows in any order
            for (int r = 0; r < 5; r++)
                add_run(t, &table, golden_one(&g, "params"), batch[b], rate[r], loss[b * 5 + r],
                        NAN, "sweep");
        memcpy(want[n], best, sizeof want[n]);
        memcpy(rates[n++], golden_get(&g, "rates", NULL), sizeof rates[0]);
    }
    golden_close(&g);
    sl_laws l;
    fit_all(t, &l, &table, 20);
    SL_CHECK(t, l.n_optimum == 2 && l.n_curve == 12 && l.n_point == 0, "%d optima", l.n_optimum);
    for (int k = 0; k < 2; k++) {
        const sl_laws_optimum *o = &l.optimum[k];
        SL_CHECK(t,
                 near(o->batch.value, want[k][0], 1e-9) && near(o->rate.value, want[k][1], 1e-9) &&
                     near(o->loss, want[k][2], 1e-9),
                 "size %d: batch %.9g, rate %.9g, loss %.9g; SciPy has %.9g %.9g %.9g", k,
                 o->batch.value, o->rate.value, o->loss, want[k][0], want[k][1], want[k][2]);
        SL_CHECK(t, isnan(o->rate.low) && !o->chosen, "an interval without repeated seeds");
        for (int i = 0; i < 6; i++) {
            const sl_laws_curve *c = &l.curve[o->first_curve + i];
            SL_CHECK(t, c->size == k && c->n == 5 && c->n_fine == 100, "curve %d", i);
            SL_CHECK(t, near(c->best_rate, rates[k][i], 1e-9), "curve %d: %.9g", i, c->best_rate);
            SL_CHECK(t,
                     near(c->fine_rate[0], c->rate[0], 1e-12) &&
                         near(c->fine_loss[99], c->loss[4], 1e-12),
                     "ends of curve %d", i);
            const bool edge = c->best_rate < c->rate[1] || c->best_rate > c->rate[3];
            SL_CHECK(t, c->on_edge == edge, "edge of curve %d", i);
        }
    }
    const double b = log(want[1][0] / want[0][0]) / log(10);
    SL_CHECK(t, l.batch.known && near(l.batch.exponent.value, b, 1e-9), "batch goes as N^%g",
             l.batch.exponent.value);
}

/* The flags, on losses whose minimum is known. */
static void edges_are_flagged(void **state) {
    sl_fixture *t = *state;
    static const struct {
        int n;
        double at; // minimum in steps of the grid
        bool edge;
    } cases[] = { { 5, 2, false },   { 5, 0.4, true },  { 5, 3.6, true }, { 5, -2, true },
                  { 5, 1.1, false }, { 3, 1.2, false }, { 3, 0.1, true }, { 2, 0.5, true } };
    for (int k = 0; k < SL_LEN(cases); k++) {
        sl_laws_table table = { 0 };
        sl_laws l;
        for (int b = 0; b < 5; b++)
            for (int r = 0; r < cases[k].n; r++)
                add_run(t, &table, 1e6, 16 << b, 1e-4 * pow(2, r),
                        exp(0.1 * (r - cases[k].at) * (r - cases[k].at) + 0.1 * (b - 2) * (b - 2)),
                        NAN, "");
        fit_all(t, &l, &table, 0);
        SL_CHECK(t, l.optimum[0].rate_on_edge == cases[k].edge && !l.optimum[0].batch_on_edge,
                 "case %d", k);
        bool noted = false;
        for (int i = 0; i < l.n_note; i++) noted |= l.note[i].kind == SL_LAWS_NOTE_EDGE;
        SL_CHECK(t, noted == cases[k].edge, "case %d: the note", k);
    }
}

/* Seeds are averaged, their spread becomes an interval, scale runs stay out of the sweep. */
static void repeated_seeds_give_intervals(void **state) {
    sl_fixture *t = *state;
    sl_laws_table table = { 0 };
    sl_laws l;
    for (int size = 0; size < 3; size++) {
        for (int b = 0; b < 5; b++)
            for (int r = 0; r < 5; r++)
                for (int seed = 0; seed < 2; seed++)
                    add_run(t, &table, 1e6 * (1 << size), 16 << b, 1e-4 * pow(2, r),
                            exp(0.1 * (r - 2) * (r - 2) + 0.1 * (b - 2) * (b - 2) +
                                (seed ? 0.02 : -0.02)),
                            seed, "both");
        add_run(t, &table, 1e6 * (1 << size), 64, 1e-5, 1e-3, 0, "scale");
    }
    fit_all(t, &l, &table, 100);
    SL_CHECK(t, near(l.seed_noise, 0.02 * sqrt(2), 1e-9), "noise %g", l.seed_noise);
    for (int i = 0; i < 3; i++) {
        const sl_laws_optimum *o = &l.optimum[i];
        SL_CHECK(t, near(o->batch.value, 64, 0.05) && near(o->rate.value, 4e-4, 0.05), "%g %g",
                 o->batch.value, o->rate.value);
        SL_CHECK(t, o->batch.low < 64 && o->batch.high > 64 && o->batch.low > 20, "%g to %g",
                 o->batch.low, o->batch.high);
    }
    SL_CHECK(t, l.curve[0].n == 5, "a scale run is in the sweep");
    SL_CHECK(t, l.batch.known && l.batch.n_draw == 100 && l.batch.exponent.low < 0.1, "no law");
    SL_CHECK(t, l.point[0].n >= 1 && l.n_point == 78, "%d configurations", l.n_point);
}

/* Without a phase, of several ratios the one with the larger grid is the sweep. */
static void the_larger_grid_is_the_sweep(void **state) {
    sl_fixture *t = *state;
    sl_laws_table table = { 0 };
    sl_laws l;
    for (int ratio = 0; ratio < 3; ratio++) {
        for (int r = 0; r < (ratio == 1 ? 5 : 1); r++) {
            sl_laws_run run = SL_LAWS_RUN_NONE;
            run.params = 1e6, run.batch = 32, run.rate = 1e-4 * (r + 1), run.ratio = 5 << ratio;
            run.loss = 1 + 0.1 * (r - 2) * (r - 2) - 0.1 * ratio;
            SL_MUST(t, sl_laws_table_add(&table, &t->arena, &run));
        }
    }
    fit_all(t, &l, &table, 0);
    SL_CHECK(t, l.n_curve == 1 && l.curve[0].n == 5, "%d curves, %d rates", l.n_curve,
             l.curve[0].n);
    SL_CHECK(t, near(l.optimum[0].rate.value, 3e-4, 0.05) && !l.optimum[0].rate_on_edge, "%g",
             l.optimum[0].rate.value);
}

static sl_status fit_once(sl_fixture *t, const sl_laws_table *table) {
    sl_laws_options o = SL_LAWS_OPTIONS_INIT;
    sl_laws l;
    o.draws = 2;
    return sl_laws_fit(&l, &t->arena, table, &o);
}

static void lack_of_memory_is_reported(void **state) {
    sl_fixture *t = *state;
    sl_laws_table table = { 0 };
    for (int i = 0; i < 18; i++)
        add_run(t, &table, 1e6 * (1 + i / 9), 16 << (i / 3 % 3), 1e-4 * (1 + i % 3), 2 - 0.01 * i,
                i % 2, "sweep");
    SL_MUST(t, sl_laws_table_end(&table, &t->arena));
    SL_EACH_ALLOCATION(t, fit_once(t, &table));
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(optima_agree_with_scipy),       SL_TEST(edges_are_flagged),
        SL_TEST(repeated_seeds_give_intervals), SL_TEST(the_larger_grid_is_the_sweep),
        SL_TEST(lack_of_memory_is_reported),
    };
    return sl_test_main("laws.sweep", tests, SL_LEN(tests));
}

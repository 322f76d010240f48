/* Coverage of 95 % intervals on runs from known laws. Prints what it measures. */
#include "tables.h"

typedef struct count {
    int inside, n;
} count;

static void add(count *c, sl_estimate e, double truth) {
    if (isnan(e.low)) return;
    c->inside += e.low <= truth && truth <= e.high;
    c->n++;
}

static double share(const count *c) { return (double)c->inside / c->n; }

static void check_share(sl_fixture *t, const char *what, const count *c, double low, double high) {
    print_message("%s: %.3f of %d\n", what, share(c), c->n);
    SL_CHECK(t, share(c) >= low && share(c) <= high, "%s: %.3f of %d", what, share(c), c->n);
}

static void fit_plain(sl_fixture *t, sl_laws *l, const sl_laws_table *table, sl_laws_bins bins,
                      int k) {
    sl_laws_options o = SL_LAWS_OPTIONS_INIT;
    o.plain = true;
    o.bins = bins;
    o.draws = 199;
    o.seed = (uint64_t)k;
    SL_MUST(t, sl_laws_fit(l, &t->arena, table, &o));
}

/* Bootstrap-t without selection, of 20 single runs: the exponent, and a hundred times beyond the
 * data the law's value and the compute for a loss. */
static void plain_fit_has_nominal_coverage(void **state) {
    sl_fixture *t = *state;
    const int repetitions = sl_test_iters(t, 500);
    const double b = 0.2, beyond = 100 * pow(1e16, -b);
    count exponent = { 0 }, value = { 0 }, inverse = { 0 };
    for (int k = 0; k < repetitions; k++) {
        sl_laws l;
        sl_arena_rewind(&t->arena, 0);
        const sl_laws_table table = power_runs(t, 20, b, 0.05);
        fit_plain(t, &l, &table, SL_LAWS_BINS_NONE, k);
        const sl_law *law = &l.law[SL_LAWS_LOSS][SL_LAWS_POWER];
        SL_CHECK(t, law->student && law->n == 20, "%d points", law->n);
        add(&exponent, law->exponent, b);
        add(&value, sl_laws_at(law, 1e16), beyond);
        add(&inverse, sl_laws_inverse(law, beyond), 1e16);
    }
    SL_CHECK(t, exponent.n == repetitions, "%d of %d", exponent.n, repetitions);
    check_share(t, "exponent", &exponent, 0.88, 0.98);
    check_share(t, "value beyond", &value, 0.88, 0.98);
    check_share(t, "compute for a loss", &inverse, 0.88, 0.98);
}

/* Percentile intervals of a frontier that was selected from a grid of sizes and ratios. The truth
 * is the envelope over all N and D, which no grid reaches, and the frontier keeps runs with low
 * noise; each draw has only part of the configurations, so its frontier is a little worse than that
 * of the data. */
static void selected_frontier_has_measured_coverage(void **state) {
    sl_fixture *t = *state;
    static const struct {
        double noise, A, B, solved_scale;
        const char *what;
    } cases[] = { { 0.005, 0.8, 0.15, 1, "noise 0.005" },
                  { 0.02, 0.8, 0.15, 1, "noise 0.02" },
                  { 0.08, 0.8, 0.15, 1, "noise 0.08" },
                  { 0.02, 0.5, 0.3, 0.6, "noise 0.02, best ratio beyond the grid" } };
    for (int n = 0; n < SL_LEN(cases); n++) {
        sl_laws_simulation law = SL_LAWS_SIMULATION_INIT;
        count loss = { 0 }, solved = { 0 };
        char text[120];
        law.noise = cases[n].noise;
        law.A = cases[n].A;
        law.B = cases[n].B;
        law.solved_scale = cases[n].solved_scale;
        law.trials = 300;
        const double b = sl_laws_simulation_exponent(&law);
        for (int k = 0; k < sl_test_iters(t, 60); k++) {
            sl_laws l;
            sl_laws_table table;
            sl_arena_rewind(&t->arena, 0);
            SL_MUST(t, sl_laws_simulate(&table, &t->arena, &law, (uint64_t)k));
            fit_plain(t, &l, &table, SL_LAWS_BINS_LOG, k);
            add(&loss, l.law[SL_LAWS_LOSS][SL_LAWS_POWER].exponent, b);
            add(&solved, l.law[SL_LAWS_SOLVED][SL_LAWS_POWER].exponent, b * law.solved_power);
        }
        snprintf(text, sizeof text, "selected, %s: loss", cases[n].what);
        check_share(t, text, &loss, 0.7, 1);
        snprintf(text, sizeof text, "selected, %s: 1 - solved", cases[n].what);
        check_share(t, text, &solved, 0.7, 1);
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(plain_fit_has_nominal_coverage),
        SL_TEST(selected_frontier_has_measured_coverage),
    };
    return sl_test_main("laws.coverage", tests, SL_LEN(tests));
}

#include "tables.h"

static void fit_table(sl_fixture *t, sl_laws *l, sl_laws_table *table, const char *path,
                      int draws) {
    sl_laws_options o = SL_LAWS_OPTIONS_INIT;
    o.draws = draws;
    SL_MUST(t, sl_laws_table_read(table, &t->arena, path, NULL));
    SL_MUST(t, sl_laws_fit(l, &t->arena, table, &o));
}

static void check_constants(sl_fixture *t, const char *what, const sl_laws_surface *s,
                            const double *want, double tol) {
    const double got[5] = { s->fit.E, s->fit.A, s->fit.B, s->fit.alpha, s->fit.beta };
    SL_CHECK(t, s->known, "%s: not known", what);
    for (int i = 0; i < 5; i++)
        SL_CHECK(t, near(got[i], want[i], tol) || fabs(got[i] - want[i]) < 1e-9,
                 "%s, constant %d: %.9g, should be %.9g", what, i, got[i], want[i]);
}

/* SciPy from many starts, both losses, both tables. The paper's has E = 0 at the bound. */
static void surfaces_agree_with_scipy(void **state) {
    sl_fixture *t = *state;
    golden g = open_answers(t);
    while (golden_case(&g, "surface")) {
        sl_laws l;
        sl_laws_table table;
        fit_table(t, &l, &table, golden_one(&g, "table") == 0 ? CHINCHILLA_RUNS : PAPER_RUNS, 0);
        check_constants(t, "squared", &l.surface, golden_get(&g, "squared", NULL), 1e-6);
        check_constants(t, "Huber", &l.surface_huber, golden_get(&g, "huber", NULL), 1e-5);
        SL_CHECK(t, near(l.surface_huber.delta, golden_one(&g, "delta"), 1e-6), "delta %.9g",
                 l.surface_huber.delta);
    }
    golden_close(&g);
}

/* Four digits of the published constants of this table, inside the intervals. */
static void chinchilla_has_its_constants(void **state) {
    sl_fixture *t = *state;
    static const double want[5] = { 2.0618, 5.5534, 1.1747, 0.4336, 0.6507 };
    sl_laws l;
    sl_laws_table table;
    fit_table(t, &l, &table, CHINCHILLA_RUNS, 50);
    const sl_laws_surface *s = &l.surface;
    check_constants(t, "Chinchilla", s, want, 1e-4);
    const sl_estimate e[5] = { s->E, s->A, s->B, s->alpha, s->beta };
    for (int i = 0; i < 5; i++)
        SL_CHECK(t, e[i].low < e[i].value && e[i].value < e[i].high, "constant %d: %g in %g to %g",
                 i, e[i].value, e[i].low, e[i].high);
    SL_CHECK(t, s->unit_params == 1e6 && s->unit_tokens == 1e9, "units");
    SL_CHECK(t, near(s->flops_per, 6, 0.01), "C = %g N D", s->flops_per);
}

/* Without noise the constants of any law are recovered. */
static void known_constants_are_recovered(void **state) {
    sl_fixture *t = *state;
    for (int k = 0; k < sl_test_iters(t, 6); k++) {
        sl_laws_simulation law = SL_LAWS_SIMULATION_INIT;
        sl_laws_options o = SL_LAWS_OPTIONS_INIT;
        sl_laws_table table;
        sl_laws l;
        o.draws = 0;
        law.noise = 0;
        law.E = k % 3 == 0 ? 0 : sl_rng_range(&t->rng, 0.05, 2);
        law.A = sl_rng_range(&t->rng, 0.2, 5);
        law.B = sl_rng_range(&t->rng, 0.05, 2);
        law.alpha = sl_rng_range(&t->rng, 0.15, 1);
        law.beta = sl_rng_range(&t->rng, 0.15, 1);
        law.n_max = 1e9;
        SL_MUST(t, sl_laws_simulate(&table, &t->arena, &law, 1));
        SL_MUST(t, sl_laws_fit(&l, &t->arena, &table, &o));
        const double want[5] = { law.E, law.A, law.B, law.alpha, law.beta };
        check_constants(t, "simulated", &l.surface, want, 1e-5);
    }
}

/* The allocation of a law is the minimum over N at fixed compute. */
static void allocation_is_a_minimum(void **state) {
    sl_fixture *t = *state;
    sl_laws l;
    sl_laws_table table;
    fit_table(t, &l, &table, CHINCHILLA_RUNS, 0);
    for (double c = 1e19; c < 1e25; c *= 17) {
        const sl_laws_allocation a = sl_laws_allocate(&l.surface, c);
        const double n = a.params.value, d = a.tokens.value;
        SL_CHECK(t, near(l.surface.flops_per * n * d, c, 1e-12), "C %g, not %g",
                 l.surface.flops_per * n * d, c);
        SL_CHECK(t, near(a.loss.value, sl_laws_surface_at(&l.surface, n, d).value, 1e-12), "loss");
        SL_CHECK(t, near(a.ratio.value, d / n, 1e-12), "ratio");
        for (double f = 0.5; f < 2.1; f *= 1.3) {
            const double other = sl_laws_surface_at(&l.surface, n * f, d / f).value;
            SL_CHECK(t, other >= a.loss.value * (1 - 1e-14), "%g N* has %.17g, N* %.17g", f, other,
                     a.loss.value);
        }
    }
}

/* N proportional to D, or five runs, do not determine two exponents. */
static void too_little_is_no_surface(void **state) {
    sl_fixture *t = *state;
    sl_laws_simulation law = SL_LAWS_SIMULATION_INIT;
    sl_laws_table table;
    sl_laws l;
    law.ratios = 1;
    law.sizes = 9;
    SL_MUST(t, sl_laws_simulate(&table, &t->arena, &law, 1));
    SL_MUST(t, sl_laws_fit(&l, &t->arena, &table, NULL));
    SL_CHECK(t, !l.surface.known && l.law[SL_LAWS_LOSS][SL_LAWS_POWER].known, "one ratio");
    SL_CHECK(t, isnan(l.surface.E.value) && isnan(sl_laws_allocate(&l.surface, 1e18).loss.value),
             "a figure");
}

static void parabolas_agree_with_numpy(void **state) {
    sl_fixture *t = *state;
    sl_laws l;
    sl_laws_table table;
    golden g = open_answers(t);
    fit_table(t, &l, &table, CHINCHILLA_RUNS, 20);
    while (golden_case(&g, "isoflop")) {
        const sl_laws_isoflop *f = NULL;
        for (int i = 0; i < l.n_isoflop; i++)
            if (near(l.isoflop[i].flops, golden_one(&g, "flops"), 0.01)) f = &l.isoflop[i];
        SL_CHECK(t, f && f->n_size == (int)golden_one(&g, "sizes"), "no budget of case %d",
                 g.cases);
        SL_CHECK(t,
                 near(f->params.value, golden_one(&g, "params"), 1e-7) &&
                     near(f->loss.value, golden_one(&g, "loss"), 1e-9),
                 "case %d: N* %.9g, loss %.9g", g.cases, f->params.value, f->loss.value);
        SL_CHECK(t, f->params.low < f->params.value && f->params.value < f->params.high,
                 "interval");
        SL_CHECK(t,
                 f->akima_params > 0.2 * f->params.value && f->akima_params < 5 * f->params.value,
                 "Akima: %g", f->akima_params);
    }
    golden_close(&g);
    SL_CHECK(t, l.n_isoflop == 9 && l.isoflop_params.known, "%d budgets", l.n_isoflop);
    SL_CHECK(t, l.isoflop_params.exponent.value > 0.45 && l.isoflop_params.exponent.value < 0.55,
             "N* goes as C^%g", l.isoflop_params.exponent.value);
}

/* Three sizes at one budget on a parabola in ln N; a second, worse run of one size changes nothing.
 */
static void the_best_run_of_a_size_counts(void **state) {
    sl_fixture *t = *state;
    sl_laws_table table = { 0 };
    sl_laws l;
    for (int i = 0; i < 4; i++) {
        sl_laws_run r = SL_LAWS_RUN_NONE;
        const double x = i % 3 - 0.8;
        r.params = 1e6 * exp(i % 3);
        r.flops = 1e15 * (1 + 0.01 * i);
        r.tokens = r.flops / 6 / r.params;
        r.loss = 2 + 0.1 * x * x + (i == 3);
        SL_MUST(t, sl_laws_table_add(&table, &t->arena, &r));
    }
    SL_MUST(t, sl_laws_table_end(&table, &t->arena));
    SL_MUST(t, sl_laws_fit(&l, &t->arena, &table, NULL));
    SL_CHECK(t, l.n_isoflop == 1 && l.isoflop[0].n_size == 3 && l.isoflop[0].n_point == 4, "%d",
             l.n_isoflop);
    SL_CHECK(t,
             near(l.isoflop[0].params.value, 1e6 * exp(0.8), 1e-9) &&
                 near(l.isoflop[0].loss.value, 2, 1e-9) && !l.isoflop[0].on_edge,
             "N* %g, loss %g", l.isoflop[0].params.value, l.isoflop[0].loss.value);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(surfaces_agree_with_scipy),     SL_TEST(chinchilla_has_its_constants),
        SL_TEST(known_constants_are_recovered), SL_TEST(allocation_is_a_minimum),
        SL_TEST(too_little_is_no_surface),      SL_TEST(parabolas_agree_with_numpy),
        SL_TEST(the_best_run_of_a_size_counts),
    };
    return sl_test_main("laws.surface", tests, SL_LEN(tests));
}

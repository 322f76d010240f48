/* Configurations, seeds, unfinished runs, tables with missing columns or absurd values; and the
 * comparison of two tables. */
#include "num/num.h"
#include "tables.h"

static void read_and_fit(sl_fixture *t, sl_laws *l, sl_laws_table *table, const char *text) {
    sl_laws_options o = SL_LAWS_OPTIONS_INIT;
    o.draws = 20;
    SL_MUST(t, sl_laws_table_read(table, &t->arena, file_of(t, "t.csv", text), NULL));
    SL_MUST(t, sl_laws_fit(l, &t->arena, table, &o));
}

static bool says(const sl_laws *l, sl_laws_note_kind kind, const char *what) {
    for (int i = 0; i < l->n_note; i++)
        if (l->note[i].kind == kind && strstr(l->note[i].text, what)) return true;
    return false;
}

static void seeds_of_one_configuration_are_one_point(void **state) {
    sl_fixture *t = *state;
    sl_laws l;
    sl_laws_table table;
    read_and_fit(t, &l, &table,
                 "N,ratio,C,loss,seed\n10,5,1e3,4,0\n10,5.001,1.0002e3,2,1\n10,10,2e3,2.5,0\n"
                 "20,5,4e3,2,0\n20,5,4e3,1,1\n20,5,4e3,3,2\n20,9,8e3,1.5,0\n");
    SL_CHECK(t, l.n_point == 4, "%d points", l.n_point);
    SL_CHECK(t, l.point[0].n == 2 && l.point[0].loss == 3, "%d runs, loss %g", l.point[0].n,
             l.point[0].loss);
    SL_CHECK(t, l.point[2].n == 3 && l.point[2].loss == 2, "%d runs, loss %g", l.point[2].n,
             l.point[2].loss);
    SL_CHECK(t, l.n_frontier == 4, "%d on the frontier", l.n_frontier); // not the best seed's
    read_and_fit(t, &l, &table, "N,C,loss\n10,1e3,4\n10,1e3,2\n10,2e3,2.5\n");
    SL_CHECK(t, l.n_point == 3, "without seeds every run is a point: %d", l.n_point);
}

static void only_finished_runs_count(void **state) {
    sl_fixture *t = *state;
    sl_laws l;
    sl_laws_table table;
    read_and_fit(t, &l, &table,
                 "id,phase,status,C,loss\na,scale,done,1e3,4\na,scale,done,1e2,9\n"
                 "b,scale,failed,2e3,1\nc,sweep,done,3e3,1\nd,both,done,4e3,3\ne,,done,8e3,2\n");
    SL_CHECK(t, l.n_point == 3 && l.point[0].flops == 1e3, "%d points", l.n_point);
    SL_CHECK(t, says(&l, SL_LAWS_NOTE_DATA, "without a result: 1 of 6"), "unfinished");
    SL_CHECK(t, says(&l, SL_LAWS_NOTE_DATA, "a later one: 1."), "schedule");
}

/* A missing column switches off the analyses that need it, and no others. */
static void missing_columns_are_noted(void **state) {
    sl_fixture *t = *state;
    static const struct {
        const char *text, *off;
        bool loss, solved, params;
    } cases[] = {
        { "C,loss\n1,4\n10,3\n100,2\n", "no column of parameters", true, false, false },
        { "C,solved\n1,.1\n10,.2\n100,.4\n", "no column of losses", false, true, false },
        { "N,C,loss\n1,1,4\n2,10,3\n3,100,2\n", "no column of tokens", true, false, true },
        { "C,loss,solved\n1,4,.1\n10,3,.2\n100,2,.3\n", "(--trials)", true, true, false },
        { "C,loss\n1,4\n10,3\n", "a law needs three", false, false, false },
        { "lr,bs,loss,params\n1,1,4,9\n", "no finished run has FLOPs", false, false, false },
        { "C,loss\n1,4\n10,3\n100,2\n", "No best batch size", true, false, false },
        { "N,D,loss\n1,9,4\n2,18,3\n3,27,2\n", "No surface L(N, D)", true, false, true },
    };
    for (int i = 0; i < SL_LEN(cases); i++) {
        sl_laws l;
        sl_laws_table table;
        read_and_fit(t, &l, &table, cases[i].text);
        SL_CHECK(t, says(&l, SL_LAWS_NOTE_OFF, cases[i].off), "%s: no note \"%s\"", cases[i].text,
                 cases[i].off);
        SL_CHECK(t,
                 l.law[SL_LAWS_LOSS][SL_LAWS_POWER].known == cases[i].loss &&
                     l.law[SL_LAWS_SOLVED][SL_LAWS_POWER].known == cases[i].solved &&
                     l.params.known == cases[i].params,
                 "%s", cases[i].text);
    }
    sl_laws l;
    sl_laws_table table;
    SL_MUST(t, sl_laws_table_read(&table, &t->arena, file_of(t, "n.csv", "a,b\n1,2\n"), NULL));
    SL_CHECK(t,
             sl_laws_fit(&l, &t->arena, &table, NULL) == SL_EFORMAT &&
                 strstr(sl_last_error(), "--columns") &&
                 strstr(sl_last_error(), "those of the file: \"a\", \"b\""),
             "%s", sl_last_error());
}

/* Values in millions or PF-days make nothing fail, but the results would be wrong. */
static void odd_units_are_noted(void **state) {
    sl_fixture *t = *state;
    static const struct {
        const char *text, *note;
    } cases[] = {
        { "N,D,C,loss\n10,.1,6e-5,4\n20,.2,2.4e-4,3\n40,.4,1e-3,2\n", "where 6 is usual" },
        { "N,D,C,loss\n10,.1,6e15,4\n20,.2,2.4e16,3\n40,.4,1e17,2\n", "where 6 is usual" },
        { "N,D,loss\n10,.1,4\n20,.2,3\n40,.4,2\n", "has 40 parameters" },
        { "N,D,C,loss\n1e7,1e8,6e15,4\n2e7,2e8,2.4e16,3\n4e7,4e8,1e17,2\n", NULL },
        { "N,D,C,loss\n1e7,1e8,2e16,4\n2e7,2e8,8e16,3\n4e7,4e8,3e17,2\n", NULL }, // the paper's
        { "N,D,loss\n1e7,1e8,4\n2e7,2e8,3\n4e7,4e8,2\n", NULL },
    };
    for (int i = 0; i < SL_LEN(cases); i++) {
        sl_laws l;
        sl_laws_table table;
        read_and_fit(t, &l, &table, cases[i].text);
        SL_CHECK(t, says(&l, SL_LAWS_NOTE_DATA, "plain counts") == (cases[i].note != NULL), "%s",
                 cases[i].text);
        SL_CHECK(t, !cases[i].note || says(&l, SL_LAWS_NOTE_DATA, cases[i].note), "%s",
                 cases[i].text);
    }
    sl_laws l;
    sl_laws_table table;
    read_and_fit(t, &l, &table, "C,loss\n1,4\n");
    SL_CHECK(t, says(&l, SL_LAWS_NOTE_OFF, "has 1 point, and"), "one point");
}

/* Absurd tables: every figure is a number or NaN. */
static void absurd_tables_give_numbers_or_nan(void **state) {
    sl_fixture *t = *state;
    static const char *const rows[] = {
        "1,1,1,1,1,1,1,1,1\n1,1,1,1,1,1,1,1,1\n1,1,1,1,1,1,1,1,1\n1,1,1,1,1,1,1,1,1\n",
        "1e100,1e100,1e100,1e100,1,1,1e100,1e100,1\n1e-100,1e-100,1e-100,1e-100,0,0,1,1e-100,2\n"
        "1,1,1,1,0.5,0.5,1,1,1\n1,1e50,1,1e-50,0,1,1,1,9\n",
        "5,5,1e9,2,0,0,10,1,1\n5,5,1e10,3,0,0,10,1,1\n5,5,1e11,4,0,0,10,1,1\n5,6,1e12,5,0,0,9,2,"
        "1\n",
        "5,5,1e9,2,1,1,10,1,1\n6,5,1e10,1,1,1,10,1,1\n7,5,1e11,.5,1,1,10,1,1\n8,6,1e12,.1,1,1,9,2,"
        "1\n",
    };
    for (int i = 0; i < SL_LEN(rows); i++) {
        for (int bins = 0; bins < 3; bins++) {
            sl_str s = { 0 };
            sl_laws_options o = SL_LAWS_OPTIONS_INIT;
            sl_laws l;
            sl_laws_table table;
            sl_str_addf(&s, "N,D,C,loss,solved,r2,trials,lr,bs\n%s", rows[i]);
            SL_MUST(t, sl_laws_table_read(&table, &t->arena, file_of(t, "h.csv", s.text), NULL));
            sl_str_clear(&s);
            o.draws = 30;
            o.bins = (sl_laws_bins)bins;
            SL_MUST(t, sl_laws_fit(&l, &t->arena, &table, &o));
            SL_CHECK(t, l.n_frontier >= 1 && l.n_frontier <= l.n_point, "table %d", i);
        }
    }
}

/* A share of 1 has no logarithm of its complement: the point is left out, and the law is not. */
static void a_share_of_one_is_left_out(void **state) {
    sl_fixture *t = *state;
    sl_laws l;
    sl_laws_table table;
    read_and_fit(t, &l, &table,
                 "C,loss,solved,trials\n1,5,.1,50\n10,4,.2,50\n100,3,.5,50\n1000,2,1,50\n");
    const sl_law *power = &l.law[SL_LAWS_SOLVED][SL_LAWS_POWER];
    const sl_law *binomial = &l.law[SL_LAWS_SOLVED][SL_LAWS_BINOMIAL];
    SL_CHECK(t, power->known && power->n == 3 && power->exponent.value > 0, "%d points", power->n);
    SL_CHECK(t, binomial->known && binomial->n == 4, "%d points", binomial->n);
    SL_CHECK(t, binomial->exponent.value > power->exponent.value, "it counts where it can");
    SL_CHECK(t, says(&l, SL_LAWS_NOTE_DATA, "logarithm: 1."), "no note");
}

/* Bootstrap-t by hand from the draws: the upper quantile makes the lower end. One run that is far
 * off makes the quantiles unequal, so that the ends cannot be mistaken for each other. */
static void bootstrap_t_uses_opposite_quantiles(void **state) {
    sl_fixture *t = *state;
    sl_laws_options o = SL_LAWS_OPTIONS_INIT;
    sl_laws l;
    const sl_laws_table table = power_runs(t, 12, 0.2, 0.01);
    double deviation[400];
    table.run[11].loss *= 2;
    o.bins = SL_LAWS_BINS_NONE;
    o.draws = 400;
    o.plain = true;
    SL_MUST(t, sl_laws_fit(&l, &t->arena, &table, &o));
    const sl_law *law = &l.law[SL_LAWS_LOSS][SL_LAWS_POWER];
    const double b = law->fit.b, se = law->fit.sigma / sqrt(law->fit.spread);
    for (int i = 0; i < 400; i++) {
        const sl_laws_draw *d = &law->draw[i];
        deviation[i] = (d->b - b) / (d->sigma / sqrt(d->spread));
    }
    sl_num_sort(deviation, 400);
    const double low = sl_num_quantile(deviation, 400, 0.025),
                 high = sl_num_quantile(deviation, 400, 0.975);
    SL_CHECK(t, fabs(fabs(low) - fabs(high)) > 0.5, "as good as even: %g %g", low, high);
    // the exponent is that of a law that falls: -b
    SL_CHECK(t,
             near(law->exponent.low, -(b - low * se), 1e-9) &&
                 near(law->exponent.high, -(b - high * se), 1e-9),
             "%g to %g", law->exponent.low, law->exponent.high);
}

static void options_out_of_range_are_refused(void **state) {
    sl_fixture *t = *state;
    const sl_laws_table table = power_runs(t, 5, 0.2, 0);
    const sl_laws_options good = SL_LAWS_OPTIONS_INIT;
    sl_laws_options bad[5] = { good, good, good, good, good };
    bad[0].target = 1;
    bad[1].level = 0;
    bad[2].draws = -1;
    bad[3].n_bins = 0;
    bad[4].trials = -1;
    for (int i = 0; i < 5; i++) {
        sl_laws l;
        SL_CHECK(t, sl_laws_fit(&l, &t->arena, &table, &bad[i]) == SL_EINVAL, "option %d", i);
    }
}

/* A recipe that needs three times the compute for every loss. */
static void a_multiplier_is_found(void **state) {
    sl_fixture *t = *state;
    sl_laws_options o = SL_LAWS_OPTIONS_INIT;
    sl_laws base, other, same;
    sl_laws_multiplier m[SL_LAWS_MULTIPLIERS];
    const sl_laws_table a = power_runs(t, 15, 0.2, 0.01), b = power_runs(t, 15, 0.2, 0.01);
    for (int i = 0; i < b.n; i++) b.run[i].flops *= 3;
    o.bins = SL_LAWS_BINS_NONE;
    o.draws = 200;
    SL_MUST(t, sl_laws_fit(&base, &t->arena, &a, &o));
    SL_MUST(t, sl_laws_fit(&other, &t->arena, &b, &o));
    SL_MUST(t, sl_laws_compare(m, &t->arena, &base, &other));
    for (int i = 0; i < SL_LAWS_MULTIPLIERS; i++)
        SL_CHECK(t,
                 m[i].inside && near(m[i].factor.value, 3, 0.2) && m[i].factor.low < 3.1 &&
                     m[i].factor.high > 2.9 && m[i].factor.high < 6,
                 "%g (%g to %g)", m[i].factor.value, m[i].factor.low, m[i].factor.high);
    SL_CHECK(t, m[0].loss > m[1].loss && m[1].loss > m[2].loss, "order");
    SL_MUST(t, sl_laws_compare(m, &t->arena, &base, &base));
    SL_CHECK(t, m[1].factor.value == 1 && m[1].factor.low < 0.999 && m[1].factor.high > 1.001,
             "a table is sure to equal itself: %g to %g", m[1].factor.low, m[1].factor.high);
    const sl_laws_table few = power_runs(t, 2, 0.2, 0);
    SL_MUST(t, sl_laws_fit(&same, &t->arena, &few, &o));
    SL_CHECK(t, sl_laws_compare(m, &t->arena, &base, &same) == SL_EFORMAT, "two runs");
}

/* Exponents of simulated runs are recovered, with dispersion near 1 where hits are binomial. */
static void simulated_laws_are_recovered(void **state) {
    sl_fixture *t = *state;
    sl_laws_simulation law = SL_LAWS_SIMULATION_INIT;
    sl_laws_options o = SL_LAWS_OPTIONS_INIT;
    sl_laws_table table, again;
    sl_laws l;
    law.noise = 0.002;
    law.sizes = 12;
    law.ratios = 9;
    law.seeds = 3;
    law.trials = 100000;
    o.draws = 0;
    SL_MUST(t, sl_laws_simulate(&table, &t->arena, &law, 5));
    SL_MUST(t, sl_laws_simulate(&again, &t->arena, &law, 5));
    SL_CHECK(t, table.n == 324 && table.run[100].loss == again.run[100].loss, "%d runs", table.n);
    SL_MUST(t, sl_laws_fit(&l, &t->arena, &table, &o));
    const double b = sl_laws_simulation_exponent(&law);
    SL_CHECK(t, near(b, 0.2 / 0.9, 1e-12), "%g", b);
    const double want[3] = { b, b * law.solved_power, b * law.r2_power };
    for (int m = 0; m < 3; m++) {
        const double got = l.law[m][SL_LAWS_POWER].exponent.value;
        SL_CHECK(t, near(got, want[m], 0.03), "metric %d: %g, not %g", m, got, want[m]);
        if (m == 0) continue;
        const sl_law *f = &l.law[m][SL_LAWS_BINOMIAL];
        SL_CHECK(
            t, near(f->exponent.value, want[m], 0.03) && f->dispersion > 0.7 && f->dispersion < 1.4,
            "metric %d: %g, dispersion %g", m, f->exponent.value, f->dispersion);
    }
    SL_CHECK(t, near(l.seed_noise, 0.002, 0.1), "noise %g", l.seed_noise);
}

static void simulations_are_checked(void **state) {
    sl_fixture *t = *state;
    sl_laws_simulation s = SL_LAWS_SIMULATION_INIT;
    SL_MUST(t, sl_laws_simulation_read(&s, "E=0.5,sizes=3"));
    SL_CHECK(t, s.E == 0.5 && s.sizes == 3, "%g %g", s.E, s.sizes);
    static const char *const bad[] = {
        "E",       "E=",        "E=x", "F=1",       "E=1;A=2",
        "sizes=0", "sizes=2.5", "A=0", "n_min=9e9", "sizes=1000,ratios=1000",
        "noise=-1"
    };
    for (int i = 0; i < SL_LEN(bad); i++) {
        s = SL_LAWS_SIMULATION_INIT;
        SL_CHECK(t, sl_laws_simulation_read(&s, bad[i]) == SL_EINVAL, "%s", bad[i]);
    }
}

/* With a floor above it a loss is never reached; the inverse of a value is its place. */
static void inverse_undoes_the_law(void **state) {
    sl_fixture *t = *state;
    sl_laws_options o = SL_LAWS_OPTIONS_INIT;
    sl_laws l;
    sl_laws_table table = power_runs(t, 12, 0.3, 0);
    for (int i = 0; i < table.n; i++) table.run[i].loss += 0.05;
    o.draws = 20;
    SL_MUST(t, sl_laws_fit(&l, &t->arena, &table, &o));
    for (int f = 0; f < SL_LAWS_BINOMIAL; f++) {
        const sl_law *law = &l.law[SL_LAWS_LOSS][f];
        const sl_estimate y = sl_laws_at(law, 1e13);
        SL_CHECK(t, near(sl_laws_inverse(law, y.value).value, 1e13, 1e-9), "form %d", f);
        SL_CHECK(t, y.low <= y.value * (1 + 1e-9) && y.value <= y.high * (1 + 1e-9),
                 "form %d: %.17g in %.17g to %.17g", f, y.value, y.low, y.high);
    }
    const sl_law *floor_law = &l.law[SL_LAWS_LOSS][SL_LAWS_FLOOR];
    SL_CHECK(t, near(floor_law->floor.value, 0.05, 1e-5), "floor %g", floor_law->floor.value);
    SL_CHECK(t, near(floor_law->exponent.value, 0.3, 1e-5), "b %g", floor_law->exponent.value);
    SL_CHECK(t, isinf(sl_laws_inverse(floor_law, 0.04).value), "%g",
             sl_laws_inverse(floor_law, 0.04).value);
    SL_CHECK(t, says(&l, SL_LAWS_NOTE_CURVED, "flattens"), "a floor bends the points");
    SL_CHECK(t, near(sl_laws_factor(floor_law, 1e16), 100, 1e-6), "factor %g",
             sl_laws_factor(floor_law, 1e16));
}

static sl_status compare_once(sl_fixture *t) {
    sl_laws_simulation law = SL_LAWS_SIMULATION_INIT;
    sl_laws_options o = { .n_bins = 10, .target = 0.5, .draws = 2, .level = 0.9, .plain = true };
    sl_laws_table table;
    sl_laws l;
    sl_laws_multiplier m[SL_LAWS_MULTIPLIERS];
    SL_TRY(sl_laws_simulate(&table, &t->arena, &law, 0));
    SL_TRY(sl_laws_fit(&l, &t->arena, &table, &o));
    return sl_laws_compare(m, &t->arena, &l, &l);
}

static void lack_of_memory_is_reported(void **state) {
    sl_fixture *t = *state;
    SL_EACH_ALLOCATION(t, compare_once(t));
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(seeds_of_one_configuration_are_one_point),
        SL_TEST(only_finished_runs_count),
        SL_TEST(missing_columns_are_noted),
        SL_TEST(odd_units_are_noted),
        SL_TEST(absurd_tables_give_numbers_or_nan),
        SL_TEST(a_share_of_one_is_left_out),
        SL_TEST(bootstrap_t_uses_opposite_quantiles),
        SL_TEST(options_out_of_range_are_refused),
        SL_TEST(a_multiplier_is_found),
        SL_TEST(simulated_laws_are_recovered),
        SL_TEST(simulations_are_checked),
        SL_TEST(inverse_undoes_the_law),
        SL_TEST(lack_of_memory_is_reported),
    };
    return sl_test_main("laws.fit", tests, SL_LEN(tests));
}

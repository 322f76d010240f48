/* Snapping: exact numbers are recovered, others stay, and R2 does not fall. */
#include "expr/expr_test.h"
#include "snap_check.h"

static double r2_of(sl_fixture *t, const sl_fit *f, const sl_dataset *p) {
    double y[ROWS];
    SL_MUST(t, sl_expr_eval(y, &t->arena, f->expr, p->x, p->rows, f->value));
    return sl_num_r2(y, p->y, p->rows);
}

/* ---------------------------------------------------------------- exact data ---------------- */

typedef struct task {
    const char *truth;
    double value[2]; // of c1 and c2 in it
    const char *start, *want;
    int snapped, params;
} task;

static const task tasks[] = {
    { "2*x1 + 3", { 0 }, "5*x1 + 7", "2*x1 + 3", 2, 0 },
    { "x1/3 - 7*x2/12", { 0 }, "5*x1 + 2*x2", "x1/3 - 7*x2/12", 2, 0 },
    { "x1/64", { 0 }, "5*x1", "x1/64", 1, 0 },
    { "-17*exp(x1)", { 0 }, "3*exp(2*x1)", "-17*exp(x1)", 2, 0 },
    // factors of 1 and summands of 0 go
    { "x1", { 0 }, "3*x1 + 4", "x1", 2, 0 },
    { "-x1", { 0 }, "3*x1 + 4", "-x1", 2, 0 },
    { "sin(x1)", { 0 }, "3*sin(2*x1) + 4*x2 + 1", "sin(x1)", 4, 0 },
    { "5", { 0 }, "3*x1 + 4", "5", 2, 0 },
    // a term that goes takes its other constants along
    { "x2^2", { 0 }, "2*x2^2 + 3*exp(2*x1 - 4)", "x2^2", 2, 0 },
    // two constants for one thing
    { "6*exp(x1)", { 0 }, "2*exp(x1 + 3)", "6*exp(x1)", 2, 0 },
    // what is no small fraction stays a constant
    { "c1*x1", { 3.14159265 }, "2*x1", "c1*x1", 0, 1 },
    { "c1*x1 + 2", { 1.0 / 97 }, "2*x1 + 7", "c1*x1 + 2", 1, 1 },
    { "c1*x1 + 2", { 9.81 }, "2*x1 + 7", "c1*x1 + 2", 1, 1 },
    { "c1*x1 + 3*x2", { 1e-30 }, "c1*x1 + 7*x2", "3*x2", 2, 0 }, // below rounding
    { "c1*x1", { 1e-30 }, "5*x1", "c1*x1", 0, 1 },               // the only term
    { "c1*x1 + c2", { 2e10, 3e10 }, "5*x1 + 7", "c1*x1 + c2", 0, 2 },
};

static void exact_numbers_come_back(void **state) {
    sl_fixture *t = *state;
    for (int i = 0; i < SL_LEN(tasks); i++) {
        const task *k = &tasks[i];
        data d;
        sl_fit f;
        int snapped;
        make(t, &d, parsed(t, k->truth), k->value, 0);
        const double one[] = { 1, 1 };
        SL_MUST(t, sl_fit_refine(&f, &t->arena, parsed(t, k->start), one, &d.p, &plain));
        SL_MUST(t, sl_fit_snap(&f, &snapped, &t->arena, &d.p, &plain));
        SL_CHECK(t, sl_expr_equal(f.expr, parsed(t, k->want)) && f.params == k->params,
                 "%s is found as %s", k->truth, text_with(f.expr, f.value));
        SL_CHECK(t, snapped == k->snapped, "%d snapped of %s", snapped, k->truth);
        SL_CHECK(t, f.r2 > 1 - 1e-12 && f.r2 == r2_of(t, &f, &d.p), "R2 is %.17g: %s", f.r2,
                 text_with(f.expr, f.value));
        for (int j = 0; j < f.params; j++)
            SL_CHECK(t, fabs(f.value[j] / k->value[j] - 1) < 1e-9, "c%d is %.17g in %s", j + 1,
                     f.value[j], k->truth);
    }
}

/* Short decimals are written as such. */
static void decimals_are_short(void **state) {
    sl_fixture *t = *state;
    for (int i = 0; i < sl_test_iters(t, 50); i++) {
        data d;
        sl_fit f;
        int snapped;
        const double v = (double)(1 + sl_rng_below(&t->rng, 99999)) / 1000 + 1e-4;
        make(t, &d, parsed(t, "c1*exp(x1) + c1"), &v, 0);
        const double start = 1;
        SL_MUST(t,
                sl_fit_refine(&f, &t->arena, parsed(t, "c1*exp(x1) + c1"), &start, &d.p, &plain));
        SL_MUST(t, sl_fit_snap(&f, &snapped, &t->arena, &d.p, &plain));
        SL_CHECK(t, f.params == 1 && strlen(text_with(f.expr, f.value)) < 32,
                 "%.17g is found as %s", v, text_with(f.expr, f.value));
    }
}

/* Formulas with integers, fitted from elsewhere and snapped, are themselves again. */
static void random_laws_come_back(void **state) {
    sl_fixture *t = *state;
    const int laws = sl_test_iters(t, 60);
    int with = 0, back = 0;
    for (int i = 0; i < laws; i++) {
        const sl_expr_random_options o = {
            1 + (int)sl_rng_below(&t->rng, 3), VARS, 0, 0.1, 0, false
        };
        const sl_node *e, *free;
        double value[256];
        int n, snapped;
        data d;
        sl_fit f, before, again;
        sl_arena_rewind(&t->arena, 0);
        SL_MUST(t, sl_expr_random(&e, &t->arena, &t->rng, &o));
        SL_MUST(t, sl_expr_insert_numbers(&e, &t->arena, &t->rng, e, 0.2, 9));
        SL_MUST(t, sl_expr_tidy(&e, &t->arena, e));
        if (!make(t, &d, e, NULL, 0)) continue;
        SL_MUST(t, sl_expr_free_numbers(&free, value, &n, SL_LEN(value), &t->arena, e));
        if (n == 0 || n > 8) continue;
        for (int k = 0; k < n; k++) value[k] *= sl_rng_range(&t->rng, 0.8, 1.2);
        SL_MUST(t, sl_expr_tidy(&free, &t->arena, free));
        SL_MUST(t, sl_fit_refine(&f, &t->arena, free, value, &d.p, &plain));
        before = f;
        SL_MUST(t, sl_fit_snap(&f, &snapped, &t->arena, &d.p, &plain));
        SL_CHECK(t, isnan(f.r2) || 1 - f.r2 <= fmax(1e-12, (1 - before.r2) * 1.1),
                 "R2 falls from %.17g to %.17g: %s", before.r2, f.r2, text_with(f.expr, f.value));
        again = f;
        SL_MUST(t, sl_fit_snap(&again, &snapped, &t->arena, &d.p, &plain));
        SL_CHECK(t, snapped == 0 && again.expr == f.expr && again.params == f.params,
                 "a second time: %s", text_with(f.expr, f.value));
        if (before.r2 < 1 - 1e-10) continue;
        with++;
        back += f.params == 0;
    }
    SL_CHECK(t, with > laws / 3 && back > 0.8 * with, "only %d of %d are exact again", back, with);
}

/* ---------------------------------------------------------------- noise --------------------- */

/* A constant moves by at most two standard errors, and R2 by what that costs. */
static void noise_is_respected(void **state) {
    sl_fixture *t = *state;
    int all = 0, exact = 0;
    for (int i = 0; i < sl_test_iters(t, 100); i++) {
        data d;
        sl_fit f, before;
        int snapped;
        sl_arena_rewind(&t->arena, 0);
        make(t, &d, parsed(t, "3*x1 + 2*x2"), NULL, 0.02);
        SL_MUST(t, sl_fit_refine(&before, &t->arena, parsed(t, "7*x1 + 5*x2"), NULL, &d.p, &plain));
        f = before;
        SL_MUST(t, sl_fit_snap(&f, &snapped, &t->arena, &d.p, &plain));
        SL_CHECK(t, f.params + snapped == 2 && before.params == 2, "%s",
                 text_with(f.expr, f.value));
        for (int k = 0; k < 2; k++) {
            // which of its numbers is 3, and how far is it off?
            const double truth = before.value[k] > 2.5 ? 3 : 2;
            exact += fabs(before.value[k] - truth) < 2 * before.error[k];
        }
        all += snapped;
        const double loss = (1 - f.r2) / (1 - before.r2) - 1;
        SL_CHECK(t, loss <= pow(1.04, snapped) - 1 + 1e-9, "loses %g of what is left", loss);
    }
    SL_CHECK(t, all > exact * 3 / 4 && all <= exact + 10, "%d snapped, %d are close", all, exact);
}

/* With a large error every number is near a fraction: then none is snapped. */
static void chance_agreement_is_not_snapped(void **state) {
    sl_fixture *t = *state;
    for (int i = 0; i < sl_test_iters(t, 50); i++) {
        data d;
        sl_fit f;
        int snapped;
        const double v = 10.5 + sl_rng_range(&t->rng, -0.3, 0.3);
        sl_arena_rewind(&t->arena, 0);
        make(t, &d, parsed(t, "c1*x1"), &v, 3);
        SL_MUST(t, sl_fit_refine(&f, &t->arena, parsed(t, "7*x1"), NULL, &d.p, &plain));
        SL_MUST(t, sl_fit_snap(&f, &snapped, &t->arena, &d.p, &plain));
        SL_CHECK(t, snapped == 0 && f.params == 1, "%s with noise", text_with(f.expr, f.value));
    }
}

/* With redundant constants all others are tried at 0, and only those without effect become 0. */
static void constants_that_noise_resolves_stay(void **state) {
    sl_fixture *t = *state;
    for (int i = 0; i < sl_test_iters(t, 20); i++) {
        data d;
        sl_fit f;
        int snapped;
        sl_arena_rewind(&t->arena, 0);
        make(t, &d, parsed(t, "3*exp(x1)"), NULL, 0);
        const double noise = 0.4;
        for (int k = 0; k < ROWS; k++) {
            d.x[1][k] = k % 4 < 2 ? 1 : -1; // of mean 0 together with the noise, so that nothing is
            d.y[k] += noise * (k % 2 ? 1 : -1) + 0.25 * d.x[1][k]; // left to chance: 5 errors away
        }
        SL_MUST(
            t, sl_fit_refine(&f, &t->arena, parsed(t, "2*exp(x1 + 2) + 3*x2"), NULL, &d.p, &plain));
        SL_MUST(t, sl_fit_snap(&f, &snapped, &t->arena, &d.p, &plain));
        SL_CHECK(t, sl_expr_max_var(f.expr) == 2 && snapped >= 1, "x2 is lost: %s",
                 text_with(f.expr, f.value));
    }
}

/* ---------------------------------------------------------------- the rest ------------------ */

static bool at_once(void *payload) {
    (void)payload;
    return true;
}

static void odd_fits_are_left_alone(void **state) {
    sl_fixture *t = *state;
    data d;
    sl_fit f;
    int snapped = -1;
    make(t, &d, parsed(t, "x1 + x2"), NULL, 0);
    // empty domain
    const double minus = -1;
    SL_MUST(t, sl_fit_refine(&f, &t->arena, parsed(t, "sqrt(-exp(x1))"), NULL, &d.p, &plain));
    SL_MUST(t, sl_fit_snap(&f, &snapped, &t->arena, &d.p, &plain));
    SL_CHECK(t, isnan(f.r2) && snapped == 0, "%s", text_with(f.expr, f.value));
    // stopped: the fit that was there is still one
    SL_MUST(t, sl_fit_refine(&f, &t->arena, parsed(t, "c1*x1 + 3*x2"), &minus, &d.p, &plain));
    sl_refine_options o = plain;
    o.stop = at_once;
    SL_MUST(t, sl_fit_snap(&f, &snapped, &t->arena, &d.p, &o));
    SL_CHECK(t, f.r2 > 1 - 1e-10 && f.r2 == r2_of(t, &f, &d.p), "%s", text_with(f.expr, f.value));
}

static sl_status snap_once(sl_arena *a, const sl_node *e, const sl_dataset *p) {
    sl_fit f;
    int snapped;
    const sl_refine_options o = { .evaluations = 20 };
    SL_TRY(sl_fit_refine(&f, a, e, NULL, p, &o));
    return sl_fit_snap(&f, &snapped, a, p, &o);
}

static void every_allocation_may_fail(void **state) {
    sl_fixture *t = *state;
    data d;
    make(t, &d, parsed(t, "3*x1 + 2*x2"), NULL, 0);
    const sl_node *e = parsed(t, "2*x1 + 7*x2 + 1");
    SL_EACH_ALLOCATION(t, snap_once(&t->arena, e, &d.p));
}

/* A formula with its best constants keeps them and gets standard errors. */
static void the_best_constants_have_errors_too(void **state) {
    sl_fixture *t = *state;
    data d;
    sl_fit f, again;
    make(t, &d, parsed(t, "3*x1 + 2*x2"), NULL, 0.1);
    SL_MUST(t, sl_fit_refine(&f, &t->arena, parsed(t, "7*x1 + 5*x2"), NULL, &d.p, &plain));
    SL_MUST(t, sl_fit_refine(&again, &t->arena, f.expr, f.value, &d.p, &plain));
    assert_int_equal(again.params, 2);
    for (int k = 0; k < 2; k++)
        SL_CHECK(t, fabs(again.error[k] - f.error[k]) < 1e-3 * f.error[k], "%g, not %g",
                 again.error[k], f.error[k]);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(exact_numbers_come_back),
        SL_TEST(decimals_are_short),
        SL_TEST(random_laws_come_back),
        SL_TEST(noise_is_respected),
        SL_TEST(chance_agreement_is_not_snapped),
        SL_TEST(constants_that_noise_resolves_stay),
        SL_TEST(odd_fits_are_left_alone),
        SL_TEST(every_allocation_may_fail),
        SL_TEST(the_best_constants_have_errors_too),
    };
    return sl_test_main("fit.snap", tests, SL_LEN(tests));
}

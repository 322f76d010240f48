/* Learning rate, warm-up and looks at R, and the options they come from. */
#include <math.h>
#include <string.h>

#include "fixture/fixture.h"
#include "optim/optim.h"

static void check_lr(sl_fixture *t, const sl_optim_options *o, int64_t step, int64_t steps,
                     double want) {
    double lr = sl_optim_lr(o, step, steps);
    SL_CHECK(t, fabs(lr - want) <= 1e-15 * want, "step %d of %d: %.17g, want %.17g", (int)step,
             (int)steps, lr, want);
}

/* By hand: 1000 steps, 50 of them warm-up, to 0.01 of 4.6e-4. */
static void the_learning_rate_rises_and_falls(void **state) {
    sl_fixture *t = *state;
    sl_optim_options o = sl_optim_defaults();
    assert_int_equal(sl_optim_warmup_steps(&o, 1000), 50);
    check_lr(t, &o, 0, 1000, 4.6e-4 / 50);
    check_lr(t, &o, 24, 1000, 2.3e-4);
    check_lr(t, &o, 49, 1000, 4.6e-4);
    check_lr(t, &o, 50, 1000, 4.6e-4);
    check_lr(t, &o, 525, 1000, 4.6e-4 * 0.505); // half way: cos is 0
    check_lr(t, &o, 1000, 1000, 4.6e-6);
    for (int s = 51; s < 1000; s++) {
        double way = (s - 50) / 950.0;
        check_lr(t, &o, s, 1000, 4.6e-4 * (0.01 + 0.99 * (0.5 + 0.5 * cos(way * acos(-1)))));
        SL_CHECK(t, sl_optim_lr(&o, s, 1000) < sl_optim_lr(&o, s - 1, 1000), "rises at %d", s);
    }
    assert_true(sl_optim_lr(&o, 2000, 1000) == sl_optim_lr(&o, 1000, 1000)); // and stays there
}

static void schedules_have_edges(void **state) {
    sl_fixture *t = *state;
    sl_optim_options o = sl_optim_defaults();
    check_lr(t, &o, 0, 1, o.lr);  // warm-up of 0.05 steps is none
    check_lr(t, &o, 0, 10, o.lr); // of 0.5 steps is one
    check_lr(t, &o, 1, 10, o.lr);
    assert_int_equal(sl_optim_warmup_steps(&o, 9), 0);
    assert_int_equal(sl_optim_warmup_steps(&o, 10), 1);
    assert_int_equal(sl_optim_warmup_steps(&o, INT64_C(1000000000000)), INT64_C(50000000000));
    o.warmup = 1;
    check_lr(t, &o, 9, 10, o.lr);
    check_lr(t, &o, 4, 10, o.lr / 2);
    o.warmup = 0;
    check_lr(t, &o, 0, 10, o.lr);
    o.lr_final = 1;
    for (int s = 0; s < 10; s++) assert_true(sl_optim_lr(&o, s, 10) == o.lr);
    o.lr_final = 0;
    o.lr = 1;
    check_lr(t, &o, 5, 10, 0.5);
    assert_true(sl_optim_lr(&o, 10, 10) == 0);
}

static void looks_follow_the_rule(void **state) {
    (void)state;
    sl_optim_options o = sl_optim_defaults();
    assert_int_equal(sl_optim_kappa_steps(&o, 16000), 200);
    assert_int_equal(sl_optim_kappa_steps(&o, 1000000), 200);
    assert_int_equal(sl_optim_kappa_steps(&o, 15999), 80); // a tenth of 800
    assert_int_equal(sl_optim_kappa_steps(&o, 1000), 5);
    assert_int_equal(sl_optim_kappa_steps(&o, 1100), 6); // 5.5 of 55
    assert_int_equal(sl_optim_kappa_steps(&o, 100), 1);
    assert_int_equal(sl_optim_kappa_steps(&o, 1), 1);
    o.kappa_steps = 7;
    assert_int_equal(sl_optim_kappa_steps(&o, 1), 7);
    assert_int_equal(sl_optim_kappa_steps(&o, 16000), 7);
}

static void options_keep_to_their_table(void **state) {
    sl_fixture *t = *state;
    const sl_optim_options good = sl_optim_defaults();
    SL_MUST(t, sl_optim_options_check(&good));
#define REFUSED(field, value, said)                                          \
    do {                                                                     \
        sl_optim_options o = good;                                           \
        o.field = (value);                                                   \
        assert_int_equal(sl_optim_options_check(&o), SL_EINVAL);             \
        SL_CHECK(t, strstr(sl_last_error(), said), "%s", sl_last_error());   \
        sl_optim *s = NULL;                                                  \
        assert_int_equal(sl_optim_new(&s, NULL, 0, &o, 1, 0, 1), SL_EINVAL); \
        assert_null(s);                                                      \
    } while (0)
    REFUSED(optimizer, 3, "optimizer");
    REFUSED(optimizer, -1, "optimizer");
    REFUSED(kappa_init, 4, "kappa-init");
    REFUSED(lr, -1e-9, "lr is");
    REFUSED(lr, NAN, "lr is");
    REFUSED(warmup, 1.1, "warmup");
    REFUSED(lr_final, -0.1, "lr-final");
    REFUSED(clip, -1, "clip");
    REFUSED(beta1, 1, "beta1");
    REFUSED(beta2, 1, "beta2");
    REFUSED(eps, 0, "eps"); // 0/0 where a gradient is always 0
    REFUSED(weight_decay, -1, "weight-decay");
    REFUSED(kappa_param, -1, "kappa-param");
    REFUSED(kappa_update, INFINITY, "kappa-update");
    REFUSED(kappa_steps, -1, "kappa-steps");
#undef REFUSED
}

static void bounds_of_nothing_are_refused(void **state) {
    sl_fixture *t = *state;
    sl_optim_options o = sl_optim_defaults();
    o.kappa_param = 0;
    SL_MUST(t, sl_optim_options_check(&o)); // the inflection does not ask for it
    static const int asks[] = { SL_KAPPA_UNIFORM, SL_KAPPA_DEPENDENT, SL_KAPPA_WARM_START };
    for (int i = 0; i < SL_LEN(asks); i++) {
        o.kappa_init = asks[i];
        o.optimizer = SL_OPTIM_ADAMCPR;
        assert_int_equal(sl_optim_options_check(&o), SL_EINVAL);
        SL_CHECK(t, strstr(sl_last_error(), "kappa-param is 0"), "%s", sl_last_error());
        o.optimizer = SL_OPTIM_ADAM;
        SL_MUST(t, sl_optim_options_check(&o));
    }
    o.optimizer = SL_OPTIM_ADAMCPR;
    o.kappa_param = 0.9;
    assert_int_equal(sl_optim_options_check(&o), SL_EINVAL);
    o.kappa_init = SL_KAPPA_DEPENDENT;
    SL_MUST(t, sl_optim_options_check(&o));
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(the_learning_rate_rises_and_falls),
        SL_TEST(schedules_have_edges),
        SL_TEST(looks_follow_the_rule),
        SL_TEST(options_keep_to_their_table),
        SL_TEST(bounds_of_nothing_are_refused),
    };
    return sl_test_main("optim.schedule", tests, SL_LEN(tests));
}

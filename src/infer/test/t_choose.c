/* The next token: held against plain sums, at the edges of every option. */
#include "small.h"

enum { V = SL_TOKEN_COUNT };

static void random_logits(sl_fixture *t, float *z) {
    for (int i = 0; i < V; i++) z[i] = (float)(3 * sl_rng_normal(&t->rng));
    if (sl_rng_below(&t->rng, 3) == 0) z[5] = z[9] = z[50]; // ties
}

static sl_token_set random_set(sl_fixture *t) {
    sl_token_set s = { { 0, 0 } };
    for (int i = 0; i < V; i++)
        if (sl_rng_below(&t->rng, 3)) s.bits[i >> 6] |= UINT64_C(1) << (i & 63);
    s.bits[0] |= 1 << 7;
    return s;
}

/* Which tokens may be drawn, by counting those that are likelier. */
static bool plainly_may(const float *z, const sl_token_set *set, const sl_infer_options *o,
                        int id) {
    if (!sl_token_in(set, id) || (o->endless && id == SL_TOKEN_END)) return false;
    double before = 0, total = 0;
    int rank = 0, n = 0;
    double top = -1e9;
    for (int i = 0; i < V; i++) top = fmax(top, (double)z[i]);
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < V; i++) {
            if (!sl_token_in(set, i) || (o->endless && i == SL_TOKEN_END)) continue;
            int better = 0;
            for (int k = 0; k < V; k++) {
                if (!sl_token_in(set, k) || (o->endless && k == SL_TOKEN_END)) continue;
                better += z[k] > z[i] || (z[k] == z[i] && k < i);
            }
            if (o->top_k > 0 && better >= o->top_k) continue;
            const double w = exp(((double)z[i] - top) / o->temperature);
            if (pass == 0) total += w;
            if (pass == 1 && (z[i] > z[id] || (z[i] == z[id] && i < id))) before += w;
            if (pass == 1 && i == id) rank = ++n;
        }
    return rank > 0 && (o->top_p >= 1 || before < o->top_p * total);
}

static void choices_are_those_of_plain_sums(void **state) {
    sl_fixture *t = *state;
    for (int i = 0; i < sl_test_iters(t, 30); i++) {
        float z[V];
        sl_infer__choice c;
        sl_infer_options o = sl_infer_defaults();
        const sl_token_set set = random_set(t);
        random_logits(t, z);
        o.temperature = sl_rng_range(&t->rng, 0.2, 3);
        o.top_k = sl_rng_below(&t->rng, 2) ? 1 + (int)sl_rng_below(&t->rng, 20) : 0;
        o.top_p = sl_rng_below(&t->rng, 2) ? sl_rng_range(&t->rng, 0.05, 0.99) : 1;
        o.endless = sl_rng_below(&t->rng, 2);
        sl_infer__choice_make(&c, z, &o, &set);
        double sum = 0, part = 0, total = 0, top = z[0];
        for (int k = 0; k < V; k++) top = fmax(top, (double)z[k]);
        for (int k = 0; k < V; k++) sum += exp((double)z[k] - top);
        for (int k = 0; k < V; k++) {
            SL_CHECK(t, c.may[k] == plainly_may(z, &set, &o, k), "token %d: %d", k, c.may[k]);
            SL_CHECK(t, fabs(c.log_prob[k] - ((double)z[k] - top - log(sum))) < 1e-12, "token %d",
                     k);
            if (c.may[k]) total += exp(((double)z[k] - top) / o.temperature);
        }
        for (int k = 0; k < V; k++) {
            if (c.may[k]) part += exp(((double)z[k] - top) / o.temperature);
            SL_CHECK(t, fabs(c.up_to[k] / c.up_to[V - 1] - part / total) < 1e-12, "token %d", k);
        }
        for (int k = 0; k < 50; k++) {
            const double u = sl_rng_uniform(&t->rng);
            const int id = sl_infer__choice_draw(&c, u);
            const double below = id > 0 ? c.up_to[id - 1] : 0, at = u * c.up_to[V - 1];
            SL_CHECK(t, c.may[id] && below <= at && at < c.up_to[id], "u %g draws %d", u, id);
        }
        const int best = sl_infer__choice_best(&c);
        for (int k = 0; k < V; k++) assert_true(!c.may[k] || z[k] <= z[best]);
        assert_true(c.may[best]);
    }
}

/* What is allowed is drawn even if the model gives it nothing. */
static void the_impossible_is_drawn_if_it_must_be(void **state) {
    sl_fixture *t = *state;
    float z[V];
    sl_infer__choice c;
    const sl_infer_options o = sl_infer_defaults();
    const sl_token_set set = { { UINT64_C(1) << 9 | UINT64_C(1) << 30, 0 } };
    for (int i = 0; i < V; i++) z[i] = i == 3 ? 5000.0f : -5000.0f;
    z[30] = -4000;
    sl_infer__choice_make(&c, z, &o, &set);
    assert_int_equal(sl_infer__choice_draw(&c, 0), 30);
    assert_int_equal(sl_infer__choice_draw(&c, 0x1.fffffffffffffp-1), 30);
    assert_int_equal(sl_infer__choice_best(&c), 30);
    SL_CHECK(t, c.log_prob[30] < -8000, "%g", c.log_prob[30]);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(choices_are_those_of_plain_sums),
        SL_TEST(the_impossible_is_drawn_if_it_must_be),
    };
    return sl_test_main("infer.choose", tests, SL_LEN(tests));
}

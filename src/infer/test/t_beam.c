/* Greedy and beam decoding. */
#include "small.h"

static void decode(sl_fixture *t, sl_sampled *out, int64_t *made, const small *s, int how,
                   int64_t count, int length, bool grammar) {
    sl_infer_options o = sl_infer_defaults();
    o.decode = how;
    o.length = length;
    o.grammar = grammar;
    SL_MUST(t, sl_infer_run(out, made, &t->arena, s->m, NULL, &s->data, &o, 0, count, NULL, NULL,
                            NULL));
}

/* One beam is greedy; greedy is one, however many are asked for. */
static void one_beam_is_greedy(void **state) {
    sl_fixture *t = *state;
    for (int i = 0; i < sl_test_iters(t, 10); i++) {
        small s = { 0 };
        sl_sampled a[4], b[4];
        int64_t n;
        small_begin(t, &s, 0.3);
        decode(t, a, &n, &s, SL_DECODE_GREEDY, 4, 20, i % 2);
        assert_int_equal(n, 1);
        decode(t, b, &n, &s, SL_DECODE_BEAM, 1, 20, i % 2);
        assert_int_equal(n, 1);
        must_be_same(t, &a[0], &b[0], "one beam");
        small_end(&s);
    }
}

/* A beam as wide as there are targets finds them all in order: of two tokens there are few. */
static void a_wide_beam_is_complete(void **state) {
    sl_fixture *t = *state;
    enum { MOST = 3000 };
    small s = { 0 };
    small_begin(t, &s, 0.3);
    sl_sampled *got = sl_malloc(MOST, sizeof *got);
    int64_t n;
    assert_non_null(got);
    decode(t, got, &n, &s, SL_DECODE_BEAM, MOST, 3, true);
    // x_1, x_2, a digit; a sign and one of them; two digits
    int64_t digits = 0;
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        const sl_node *e;
        sl_token_reason reason;
        int at;
        double loss;
        assert_true(got[i].ended);
        if (i > 0) assert_true(got[i].log_prob <= got[i - 1].log_prob);
        SL_MUST(t, sl_token_to_expr(&e, &reason, &at, &t->arena, got[i].tokens, got[i].n, 2));
        digits += got[i].n == 3 && sl_token_text(got[i].tokens[0])[0] <= '9' &&
                  sl_token_text(got[i].tokens[0])[0] >= '1' &&
                  sl_token_text(got[i].tokens[1])[0] <= '9' &&
                  sl_token_text(got[i].tokens[1])[0] >= '0';
        SL_MUST(t, sl_infer_loss(&loss, s.m, &s.data, got[i].tokens, got[i].n));
        assert_true(fabs(loss + got[i].log_prob) < 1e-4 * fmax(1, loss));
        sum += exp(got[i].log_prob);
        for (int64_t k = 0; k < i; k++)
            assert_true(got[k].n != got[i].n ||
                        memcmp(got[k].tokens, got[i].tokens, (size_t)got[i].n) != 0);
    }
    assert_int_equal(digits, 90);
    assert_true(sum <= 1 + 1e-6);

    // what a narrow beam finds are some of them
    sl_sampled few[5];
    int64_t found = 0, m;
    decode(t, few, &m, &s, SL_DECODE_BEAM, 5, 3, true);
    assert_int_equal(m, 5);
    for (int64_t i = 0; i < n; i++)
        for (int k = 0; k < 5; k++)
            found += got[i].n == few[k].n && got[i].log_prob == few[k].log_prob &&
                     memcmp(got[i].tokens, few[k].tokens, (size_t)few[k].n) == 0;
    assert_int_equal(found, 5);
    sl_free(got);
    small_end(&s);
}

/* Never worse than greedy, and the same on any number of threads. */
static void beams_find_what_is_at_least_as_probable(void **state) {
    sl_fixture *t = *state;
    for (int i = 0; i < sl_test_iters(t, 5); i++) {
        small s = { 0 };
        sl_sampled greedy, got[16], again[16];
        int64_t n, m;
        sl_pool *pool = NULL;
        sl_infer_options o = sl_infer_defaults();
        small_begin(t, &s, 0.3);
        decode(t, &greedy, &n, &s, SL_DECODE_GREEDY, 1, 12, true);
        decode(t, got, &n, &s, SL_DECODE_BEAM, 16, 12, true);
        assert_true(n == 16 && got[0].log_prob >= greedy.log_prob - 1e-9);
        o.decode = SL_DECODE_BEAM;
        o.length = 12;
        o.grammar = true;
        SL_MUST(t, sl_par_pool_new(&pool, 3));
        SL_MUST(
            t, sl_infer_run(again, &m, &t->arena, s.m, pool, &s.data, &o, 7, 16, NULL, NULL, NULL));
        sl_par_pool_free(pool);
        assert_int_equal(n, m);
        for (int k = 0; k < n; k++) { // several bags are distinguished by their samples' numbers
            assert_true(got[k].number == k && again[k].number == 7 + k);
            again[k].number = k;
        }
        for (int k = 0; k < n; k++) must_be_same(t, &got[k], &again[k], "threads");
        small_end(&s);
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(one_beam_is_greedy),
        SL_TEST(a_wide_beam_is_complete),
        SL_TEST(beams_find_what_is_at_least_as_probable),
    };
    return sl_test_main("infer.beam", tests, SL_LEN(tests));
}

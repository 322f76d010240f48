/* Attention of groups: beside its plain twin, that by differences, and its laws. */
#include "nn/test/attention_twins.h"
#include "par/par.h"

typedef struct shape {
    int Tq, Tk, H, D;
    bool causal, drop;
} shape;

typedef struct task {
    shape s;
    int ldo, ldq, ldkv;
    both q, k, v, o, p, dout, dq, dk, dv, scratch;
    const uint8_t *mask;
    char text[96];
} task;

static const double SCALE = 1.25;

static task task_random(sl_fixture *t, shape s, double range) {
    task j = { .s = s };
    const size_t row = (size_t)sl_nn_attn_row(s.Tk), weights = (size_t)(s.H * s.Tq) * row;
    const int width = s.H * s.D;
    j.ldo = width + (int)sl_rng_below(&t->rng, 2) * 3;
    j.ldq = width * (1 + (int)sl_rng_below(&t->rng, 3));
    j.ldkv = width * (1 + (int)sl_rng_below(&t->rng, 3)) + (int)sl_rng_below(&t->rng, 2);
    j.q = both_random(t, (size_t)(s.Tq * j.ldq), -range, range);
    j.k = both_random(t, (size_t)(s.Tk * j.ldkv), -range, range);
    j.v = both_random(t, (size_t)(s.Tk * j.ldkv), -1, 1);
    j.dout = both_random(t, (size_t)(s.Tq * j.ldo), -1, 1);
    // outputs hold numbers before, so that those between rows are seen to stay
    j.o = both_random(t, (size_t)(s.Tq * j.ldo), -1, 1);
    j.p = both_random(t, weights, -1, 1);
    j.dq = both_random(t, j.q.n, -1, 1);
    j.dk = both_random(t, j.k.n, -1, 1);
    j.dv = both_random(t, j.v.n, -1, 1);
    j.scratch = both_new(t, sl_nn_attn_scratch(s.Tq, s.Tk, s.D));
    for (size_t i = 0; i < j.scratch.n; i++) j.scratch.f[i] = NAN, j.scratch.d[i] = (double)NAN;
    j.mask = s.drop ? bytes_random(t, weights / 8, 256) : NULL;
    snprintf(j.text, sizeof j.text, "Tq %d, Tk %d, H %d, D %d, causal %d, dropout %d", s.Tq, s.Tk,
             s.H, s.D, s.causal, s.drop);
    return j;
}

static void fwd(const task *j, const sl_nn__attention *k) {
    const shape s = j->s;
    k->attn_fwd(j->o.f, j->ldo, j->p.f, j->q.f, j->ldq, j->k.f, j->v.f, j->ldkv, j->mask,
                (float)SCALE, s.Tq, s.Tk, s.H, s.D, s.causal, j->scratch.f);
}
static void bwd(const task *j, const sl_nn__attention *k) {
    const shape s = j->s;
    k->attn_bwd(j->dq.f, j->ldq, j->dk.f, j->dv.f, j->ldkv, j->dout.f, j->ldo, j->q.f, j->k.f,
                j->v.f, j->p.f, j->mask, (float)SCALE, s.Tq, s.Tk, s.H, s.D, s.causal,
                j->scratch.f);
}
static void fwd_d(const task *j) {
    const shape s = j->s;
    sl_nn_ref_d_attn_fwd(j->o.d, j->ldo, j->p.d, j->q.d, j->ldq, j->k.d, j->v.d, j->ldkv, j->mask,
                         SCALE, s.Tq, s.Tk, s.H, s.D, s.causal, j->scratch.d);
}
static void bwd_d(const task *j, const double *dout) {
    const shape s = j->s;
    sl_nn_ref_d_attn_bwd(j->dq.d, j->ldq, j->dk.d, j->dv.d, j->ldkv, dout, j->ldo, j->q.d, j->k.d,
                         j->v.d, j->p.d, j->mask, SCALE, s.Tq, s.Tk, s.H, s.D, s.causal,
                         j->scratch.d);
}

/* Every variant; the float arrays are written anew by each. */
static void agrees(sl_fixture *t, shape s, double range, double tolerance) {
    const size_t mark = sl_arena_mark(&t->arena);
    const task j = task_random(t, s, range);
    const both outputs[] = { j.o, j.p, j.dq, j.dk, j.dv };
    static const char *const names[] = { "o", "p", "dq", "dk", "dv" };
    both before[SL_LEN(outputs)];
    for (int i = 0; i < SL_LEN(outputs); i++) before[i] = both_copy(t, outputs[i]);
    fwd_d(&j);
    bwd_d(&j, j.dout.d);
    EACH_ATTENTION(k, level) {
        for (int i = 0; i < SL_LEN(outputs); i++)
            memcpy(outputs[i].f, before[i].f, outputs[i].n * sizeof *outputs[i].f);
        for (size_t i = 0; i < j.scratch.n; i++) j.scratch.f[i] = NAN;
        fwd(&j, k);
        for (size_t i = 0; i < j.scratch.n; i++) j.scratch.f[i] = NAN;
        bwd(&j, k);
        for (int i = 0; i < SL_LEN(outputs); i++)
            both_agree(t, outputs[i], tolerance, names[i], level, j.text);
        for (size_t i = 0; i < GUARDS; i++)
            SL_CHECK(t, j.scratch.f[j.scratch.n + i] == GUARD, "past scratch: %s", j.text);
    }
    sl_arena_rewind(&t->arena, mark);
}

/* Around the sizes of tiles, panels and blocks, and those that models have. */
static void attention_is_that_of_the_twin(void **state) {
    sl_fixture *t = *state;
    static const shape shapes[] = {
        { 1, 1, 1, 8, false, true },     { 1, 1, 1, 8, true, false },
        { 64, 64, 2, 64, false, true },  { 16, 16, 3, 8, false, false },
        { 16, 16, 3, 8, true, true },    { 63, 63, 1, 24, true, true },
        { 64, 64, 1, 16, true, false },  { 65, 65, 1, 8, true, true },
        { 131, 131, 1, 8, true, false }, { 200, 200, 1, 16, true, true },
        { 130, 33, 1, 40, false, true }, { 5, 600, 1, 8, false, true },
        { 3, 257, 1, 16, false, false }, { 7, 9, 1, 264, false, true },
        { 9, 9, 1, 512, true, false },   { 32, 64, 2, 64, false, true },
        { 1, 64, 1, 64, false, false },
    };
    for (int i = 0; i < SL_LEN(shapes); i++) agrees(t, shapes[i], 1, 5e-6);
    for (int i = 0; i < sl_test_iters(t, 120); i++) {
        shape s = { 1 + (int)sl_rng_below(&t->rng, 40), 1 + (int)sl_rng_below(&t->rng, 40),
                    1 + (int)sl_rng_below(&t->rng, 3),  8 * (1 + (int)sl_rng_below(&t->rng, 6)),
                    sl_rng_below(&t->rng, 2) == 0,      sl_rng_below(&t->rng, 2) == 0 };
        if (s.causal) s.Tk = s.Tq;
        agrees(t, s, 1, 5e-6);
    }
}

/* Scores to about +-1000, which softmax turns to zeros and ones: no infinity on the way. */
static void large_scores_are_no_trouble(void **state) {
    sl_fixture *t = *state;
    for (int i = 0; i < sl_test_iters(t, 10); i++) {
        agrees(t, (shape){ 20, 37, 1, 8, false, false }, 6, 2e-4);
        agrees(t, (shape){ 21, 21, 1, 8, true, true }, 30, 5e-3);
    }
}

/* Small weights have as many digits as large ones, but for what rounding the score itself costs. */
static void small_weights_are_exact_too(void **state) {
    sl_fixture *t = *state;
    const task j = task_random(t, (shape){ 40, 50, 1, 8, false, false }, 13);
    fwd_d(&j);
    EACH_ATTENTION(k, level) {
        fwd(&j, k);
        int small = 0;
        for (size_t i = 0; i < j.p.n; i++) {
            const double p = j.p.d[i];
            if (!(p > 0x1p-95)) continue;
            const double wrong = fabs((double)j.p.f[i] / p - 1);
            SL_CHECK(t, wrong <= 1e-4, "%s: %g instead of %g, off by %g", level, (double)j.p.f[i],
                     p, wrong);
            small += p < 0x1p-80;
        }
        assert_true(small > 10);
    }
}

/* Two keys of nearly the same score: right to the last places. */
static void weights_are_exact(void **state) {
    sl_fixture *t = *state;
    EACH_ATTENTION(k, level) {
        for (int i = 0; i < sl_test_iters(t, 300); i++) {
            sl_arena_rewind(&t->arena, 0);
            const task two = task_random(t, (shape){ 1, 2, 1, 8, false, false }, 0.5);
            fwd(&two, k);
            fwd_d(&two);
            for (int c = 0; c < 2; c++)
                SL_CHECK(t, fabs((double)two.p.f[c] - two.p.d[c]) <= 1.2e-7, "%s: %.9g, not %.9g",
                         level, (double)two.p.f[c], two.p.d[c]);
        }
    }
}

/* What comes later does not reach what comes before, not even in a bit. */
static void causal_queries_do_not_look_ahead(void **state) {
    sl_fixture *t = *state;
    EACH_ATTENTION(k, level) {
        sl_arena_rewind(&t->arena, 0);
        const task j = task_random(t, (shape){ 70, 70, 1, 16, true, false }, 1);
        fwd(&j, k);
        const both o = both_copy(t, j.o);
        for (int i = 69; i > 0; i -= 3) {
            for (int c = 0; c < 16; c++) {
                j.k.f[i * j.ldkv + c] += 1;
                j.v.f[i * j.ldkv + c] -= 1;
            }
            fwd(&j, k);
            SL_CHECK(t, memcmp(j.o.f, o.f, (size_t)(i * j.ldo) * sizeof *o.f) == 0,
                     "%s: key %d reaches a query before it", level, i);
            SL_CHECK(t, memcmp(j.o.f + i * j.ldo, o.f + i * j.ldo, 16 * sizeof *o.f) != 0,
                     "%s: key %d does not reach its own query", level, i);
        }
    }
}

static void weights_that_are_all_dropped_give_nothing(void **state) {
    sl_fixture *t = *state;
    EACH_ATTENTION(k, level) {
        sl_arena_rewind(&t->arena, 0);
        task j = task_random(t, (shape){ 19, 30, 2, 8, false, true }, 1);
        uint8_t *none = bytes_random(t, j.p.n / 8, 1);
        j.mask = none;
        fwd(&j, k);
        bwd(&j, k);
        for (int i = 0; i < 19; i++)
            for (int c = 0; c < 16; c++)
                SL_CHECK(t, j.o.f[i * j.ldo + c] == 0 && j.dq.f[i * j.ldq + c] == 0, "%s", level);
    }
}

typedef struct crew {
    const task *j;
    float **o, **scratch; // o and p, dq, dk, dv after it, run by run
} crew;

static sl_status run_some(int64_t begin, int64_t end, int worker, void *payload) {
    const crew *c = payload;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        task j = *c->j;
        j.o.f = c->o[i];
        j.p.f = j.o.f + j.o.n;
        j.dq.f = j.p.f + j.p.n;
        j.dk.f = j.dq.f + j.dq.n;
        j.dv.f = j.dk.f + j.dk.n;
        j.scratch.f = c->scratch[i];
        const sl_nn__attention face = { .attn_fwd = sl_nn_attn_fwd, .attn_bwd = sl_nn_attn_bwd };
        fwd(&j, &face);
        bwd(&j, &face);
    }
    return SL_OK;
}

static void equal_inputs_give_equal_bits_on_any_thread(void **state) {
    sl_fixture *t = *state;
    enum { RUNS = 9 };
    static const shape shapes[] = { { 64, 64, 2, 64, false, true }, { 37, 37, 2, 8, true, false } };
    sl_pool *pool;
    SL_MUST(t, sl_par_pool_new(&pool, 3));
    for (int s = 0; s < SL_LEN(shapes); s++) {
        sl_arena_rewind(&t->arena, 0);
        const task j = task_random(t, shapes[s], 1);
        const size_t n = j.o.n + j.p.n + j.dq.n + j.dk.n + j.dv.n;
        float *o[RUNS], *scratch[RUNS];
        for (int r = 0; r < RUNS; r++) {
            o[r] = sl_arena_alloc(&t->arena, (n + RUNS) * sizeof *o[r]);
            scratch[r] = sl_arena_alloc(&t->arena, (j.scratch.n + RUNS) * sizeof *o[r]);
            assert_true(o[r] && scratch[r]);
            o[r] += r; // other addresses
            scratch[r] += r * 5 % RUNS;
            for (size_t i = 0; i < n; i++) o[r][i] = 0;
        }
        SL_MUST(t, sl_par_for(pool, RUNS, 1, run_some, &(crew){ &j, o, scratch }));
        for (int r = 1; r < RUNS; r++)
            SL_CHECK(t, memcmp(o[r], o[0], n * sizeof *o[r]) == 0, "run %d of %s", r, j.text);
    }
    sl_par_pool_free(pool);
}

/* ---------------------------------------------------------------- differences --------------- */

static double loss(void *problem) {
    const task *j = problem;
    fwd_d(j);
    double sum = 0;
    for (int i = 0; i < j->s.Tq; i++)
        sum += weighed(j->dout.d + i * j->ldo, j->o.d + i * j->ldo, (size_t)(j->s.H * j->s.D));
    return sum;
}

static void the_twins_gradients_are_differences(void **state) {
    sl_fixture *t = *state;
    static const shape shapes[] = { { 3, 5, 2, 8, false, false },
                                    { 4, 2, 2, 8, false, true },
                                    { 4, 4, 1, 8, true, true },
                                    { 1, 1, 1, 8, true, false } };
    for (int s = 0; s < SL_LEN(shapes); s++) {
        sl_arena_rewind(&t->arena, 0);
        task j = task_random(t, shapes[s], 1.5);
        const size_t width = (size_t)(j.s.H * j.s.D);
        fwd_d(&j);
        bwd_d(&j, j.dout.d);
        for (int i = 0; i < j.s.Tq; i++)
            differences_agree(t, j.q.d + i * j.ldq, j.dq.d + i * j.ldq, width, loss, &j, "dq");
        for (int i = 0; i < j.s.Tk; i++) {
            differences_agree(t, j.k.d + i * j.ldkv, j.dk.d + i * j.ldkv, width, loss, &j, "dk");
            differences_agree(t, j.v.d + i * j.ldkv, j.dv.d + i * j.ldkv, width, loss, &j, "dv");
        }
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(attention_is_that_of_the_twin),
        SL_TEST(large_scores_are_no_trouble),
        SL_TEST(small_weights_are_exact_too),
        SL_TEST(weights_are_exact),
        SL_TEST(causal_queries_do_not_look_ahead),
        SL_TEST(weights_that_are_all_dropped_give_nothing),
        SL_TEST(equal_inputs_give_equal_bits_on_any_thread),
        SL_TEST(the_twins_gradients_are_differences),
    };
    return sl_test_main("nn.attention", tests, SL_LEN(tests));
}

/* The same program alone and, as optim.ranks.two and optim.ranks.four, started several times by
 * mpirun: 30 steps must give the weights that one process gives by itself. Every test is
 * collective. */
#include <math.h>
#include <stdlib.h>

#include "fixture/fixture.h"
#include "optim/optim.h"

enum { TENSORS = 5, STEPS = 30 };

static const sl_tensor tensors[TENSORS] = {
    { 0, 3 * SL_PIECE + 5, true }, { 49168, 64, false },
    { 49232, SL_PIECE, true },     { 65616, 3, true },
    { 65632, 20000, false },
};
static const int64_t BLOCK = 85632;

static sl_optim_options options(void) {
    sl_optim_options o = sl_optim_defaults();
    o.lr = 0.003;
    o.kappa_steps = 3;
    o.kappa_update = 0.02;
    return o;
}

static float *block_of(void) {
    float *x = sl_calloc((size_t)BLOCK, sizeof *x);
    assert_non_null(x);
    return x;
}

static void first_weights(float *w) {
    sl_rng rng;
    sl_rng_init(&rng, 1, 0, 0);
    for (int k = 0; k < TENSORS; k++)
        for (int64_t i = 0; i < tensors[k].count; i++)
            w[tensors[k].offset + i] = (float)(0.2 * sl_rng_normal(&rng));
}

/* Depends on the weights of the whole block, as a model's would: ranks must have gathered them. */
static void make_gradient(float *g, const float *w, int step) {
    sl_rng rng;
    sl_rng_init(&rng, 2, (uint32_t)step, 0);
    float far = 0;
    for (int64_t i = 0; i < BLOCK; i += 1000) far += w[i];
    for (int64_t i = 0; i < BLOCK; i++)
        g[i] = (float)(sl_rng_uniform(&rng) - 0.5) - w[i] - 0.01f * far;
}

/* 30 steps by share `rank` of `ranks`; answers the hash of all weights. */
static uint64_t run(sl_fixture *t, sl_pool *pool, int rank, int ranks, int *bounds) {
    sl_optim_options o = options();
    sl_optim *s;
    sl_optim_report r;
    SL_MUST(t, sl_optim_new(&s, tensors, TENSORS, &o, STEPS, rank, ranks));
    int64_t *begin = sl_malloc((size_t)ranks + 1, sizeof *begin);
    assert_non_null(begin);
    sl_optim_shares(begin, tensors, TENSORS, ranks);
    float *w = block_of(), *g = block_of();
    first_weights(w);
    *bounds = 0;
    for (int step = 0; step < STEPS; step++) {
        make_gradient(g, w, step);
        SL_MUST(t, sl_optim_sum(g, s, pool, (const float *[]){ g + s->begin }, 1, true));
        SL_MUST(t, sl_optim_step(&r, s, pool, w, g, 1e-3));
        if (ranks > 1) SL_MUST(t, sl_par_gather(w, sizeof *w, begin));
        *bounds += r.bounds_set;
    }
    uint64_t h = sl_hash(w, (size_t)BLOCK * sizeof *w, 0);
    sl_free(w);
    sl_free(g);
    sl_free(begin);
    sl_optim_free(s);
    return h;
}

static void ranks_get_the_weights_of_one(void **state) {
    sl_fixture *t = *state;
    int bounds, bounds_one;
    uint64_t one = run(t, NULL, 0, 1, &bounds_one);
    SL_CHECK(t, bounds_one > 0, "no bound was set: too tame a test");
    uint64_t all = run(t, NULL, sl_par_rank(), sl_par_ranks(), &bounds);
    SL_CHECK(t, all == one && bounds == bounds_one, "%d ranks: %d bounds, not %d", sl_par_ranks(),
             bounds, bounds_one);
    sl_pool *pool;
    SL_MUST(t, sl_par_pool_new(&pool, 3));
    assert_true(run(t, pool, sl_par_rank(), sl_par_ranks(), &bounds) == one);
    sl_par_pool_free(pool);
}

/* A gradient that is not finite on one rank fails the step on all ranks. */
static void a_bad_gradient_fails_on_all_ranks(void **state) {
    sl_fixture *t = *state;
    sl_optim_options o = options();
    sl_optim *s;
    sl_optim_report r;
    SL_MUST(t, sl_optim_new(&s, tensors, TENSORS, &o, STEPS, sl_par_rank(), sl_par_ranks()));
    float *w = block_of(), *g = block_of();
    if (sl_par_rank() == sl_par_ranks() - 1) s->sum[s->n_piece - 1] = INFINITY;
    assert_int_equal(sl_optim_step(&r, s, NULL, w, g, 1), SL_ELIMIT);
    assert_int_equal(s->t, 0);
    sl_free(w);
    sl_free(g);
    sl_optim_free(s);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(ranks_get_the_weights_of_one),
        SL_TEST(a_bad_gradient_fails_on_all_ranks),
    };
    if (sl_par_begin() != SL_OK) {
        print_error("%s\n", sl_last_error());
        return EXIT_FAILURE;
    }
    int failed = sl_test_main("optim.ranks", tests, SL_LEN(tests));
    sl_par_end();
    return failed;
}

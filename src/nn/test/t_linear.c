/* Linear maps: beside their plain twins, and those by differences. */
#include "nn/test/attention_twins.h"

typedef struct map {
    int N, C, K, ldx, ldy;
    bool bias;
    both x, W, b, y, dx, dW, db;
} map;

static map map_random(sl_fixture *t, int N, int C, int K) {
    map m = { .N = N, .C = C, .K = K, .bias = sl_rng_below(&t->rng, 3) > 0 };
    m.ldx = C + (int)sl_rng_below(&t->rng, 2) * 5;
    m.ldy = K + (int)sl_rng_below(&t->rng, 2) * 3;
    m.x = both_random(t, (size_t)N * (size_t)m.ldx, -1, 1);
    m.y = both_random(t, (size_t)N * (size_t)m.ldy, -1, 1);
    m.W = both_random(t, (size_t)K * (size_t)C, -1, 1);
    m.b = both_random(t, (size_t)K, -1, 1);
    m.dx = both_random(t, m.x.n, -1, 1);
    m.dW = both_random(t, m.W.n, -1, 1);
    m.db = both_random(t, m.b.n, -1, 1);
    return m;
}

static void run_fwd(const map *m) {
    sl_nn_linear_fwd(m->y.f, m->ldy, m->x.f, m->ldx, m->W.f, m->bias ? m->b.f : NULL, m->N, m->C,
                     m->K);
    sl_nn_ref_d_linear_fwd(m->y.d, m->ldy, m->x.d, m->ldx, m->W.d, m->bias ? m->b.d : NULL, m->N,
                           m->C, m->K);
}

/* y stands for its own gradient. */
static void run_bwd(const map *m, bool add) {
    sl_nn_linear_bwd_x(m->dx.f, m->ldx, m->y.f, m->ldy, m->W.f, m->N, m->C, m->K, add);
    sl_nn_linear_bwd_w(m->dW.f, m->bias ? m->db.f : NULL, m->y.f, m->ldy, m->x.f, m->ldx, m->N,
                       m->C, m->K);
    sl_nn_ref_d_linear_bwd_x(m->dx.d, m->ldx, m->y.d, m->ldy, m->W.d, m->N, m->C, m->K, add);
    sl_nn_ref_d_linear_bwd_w(m->dW.d, m->bias ? m->db.d : NULL, m->y.d, m->ldy, m->x.d, m->ldx,
                             m->N, m->C, m->K);
}

static void maps_are_those_of_the_twin(void **state) {
    sl_fixture *t = *state;
    char shape[96];
    for (int i = 0; i < sl_test_iters(t, 150); i++) {
        sl_arena_rewind(&t->arena, 0);
        const int N = i == 0 ? 0 : i < 5 ? 180 + 70 * i : 1 + (int)sl_rng_below(&t->rng, 70);
        map m = map_random(t, N, 1 + (int)sl_rng_below(&t->rng, 80),
                           1 + (int)sl_rng_below(&t->rng, 150));
        const bool add = sl_rng_below(&t->rng, 2);
        snprintf(shape, sizeof shape, "N %d, C %d, K %d, bias %d, add %d", N, m.C, m.K, m.bias,
                 add);
        run_bwd(&m, add);
        both_agree(t, m.dx, 3e-5, "dx", "face", shape);
        both_agree(t, m.dW, 3e-5, "dW", "face", shape);
        both_agree(t, m.db, 3e-5, "db", "face", shape);
        run_fwd(&m);
        both_agree(t, m.y, 1e-5, "y", "face", shape);
    }
}

/* The passes beside the product, at every level. */
static void biases_and_their_sums_are_those_of_loops(void **state) {
    sl_fixture *t = *state;
    char shape[64];
    for (int cpu = 0; cpu <= (int)sl_cpu_best(); cpu++) {
        const sl_nn__attention *k = sl_nn__attention_at((sl_isa)cpu);
        const char *level = sl_isa_name((sl_isa)cpu);
        for (int i = 0; i < sl_test_iters(t, 150); i++) {
            sl_arena_rewind(&t->arena, 0);
            const int N = (int)sl_rng_below(&t->rng, i % 10 == 0 ? 300 : 20);
            map m = map_random(t, N, 1, (int)sl_rng_below(&t->rng, 300));
            snprintf(shape, sizeof shape, "N %d, K %d", N, m.K);
            k->add_columns(m.db.f, m.y.f, m.ldy, N, m.K);
            k->add_row(m.y.f, m.ldy, m.b.f, N, m.K);
            for (int n = 0; n < N; n++)
                for (int c = 0; c < m.K; c++) {
                    m.db.d[c] += m.y.d[n * m.ldy + c];
                    m.y.d[n * m.ldy + c] += m.b.d[c];
                }
            both_agree(t, m.y, 1e-7, "rows with bias", level, shape);
            both_agree(t, m.db, 1e-5, "sums of columns", level, shape);
        }
    }
}

typedef struct check {
    map m;
    double *w;
} check;

static double loss(void *problem) {
    check *c = problem;
    const map *m = &c->m;
    sl_nn_ref_d_linear_fwd(m->y.d, m->ldy, m->x.d, m->ldx, m->W.d, m->b.d, m->N, m->C, m->K);
    double sum = 0;
    for (int n = 0; n < m->N; n++)
        sum += weighed(c->w + n * m->ldy, m->y.d + n * m->ldy, (size_t)m->K);
    return sum;
}

static void the_twins_gradients_are_differences(void **state) {
    sl_fixture *t = *state;
    for (int i = 0; i < 5; i++) {
        sl_arena_rewind(&t->arena, 0);
        check c = { .m = map_random(t, 3, 5, 4) };
        map *m = &c.m;
        c.w = both_random(t, m->y.n, -1, 1).d;
        double *dx = both_copy(t, m->dx).d;
        memset(m->dW.d, 0, m->dW.n * sizeof *m->dW.d);
        memset(m->db.d, 0, m->db.n * sizeof *m->db.d);
        sl_nn_ref_d_linear_bwd_x(m->dx.d, m->ldx, c.w, m->ldy, m->W.d, 3, 5, 4, false);
        sl_nn_ref_d_linear_bwd_w(m->dW.d, m->db.d, c.w, m->ldy, m->x.d, m->ldx, 3, 5, 4);
        differences_agree(t, m->W.d, m->dW.d, m->W.n, loss, &c, "dW");
        differences_agree(t, m->b.d, m->db.d, m->b.n, loss, &c, "db");
        for (int n = 0; n < 3; n++)
            differences_agree(t, m->x.d + n * m->ldx, m->dx.d + n * m->ldx, 5, loss, &c, "dx");

        // and with `add` to what was there
        sl_nn_ref_d_linear_bwd_x(dx, m->ldx, c.w, m->ldy, m->W.d, 3, 5, 4, true);
        for (int n = 0; n < 3; n++)
            for (int k = 0; k < 5; k++) {
                const int at = n * m->ldx + k;
                assert_true(fabs(dx[at] - m->dx.d[at] - (double)m->dx.f[at]) < 1e-12);
            }
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(maps_are_those_of_the_twin),
        SL_TEST(biases_and_their_sums_are_those_of_loops),
        SL_TEST(the_twins_gradients_are_differences),
    };
    return sl_test_main("nn.linear", tests, SL_LEN(tests));
}

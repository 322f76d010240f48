/* Attention over the columns of points: beside its plain twin, that by differences, and its laws.
 */
#include "nn/test/attention_twins.h"

typedef struct task {
    int N, nq, cols, H, D, per, ldo, ldq, ldkv;
    both q, k, v, o, p, dout, dq, dk, dv;
    const uint8_t *mask, *present;
    char text[128];
} task;

static const double SCALE = 1.25;

/* sets data sets of per points; drop and absent: with dropout and columns that lack. */
static task task_random(sl_fixture *t, int sets, int per, int nq, int cols, int H, int D, bool drop,
                        bool absent) {
    const int N = sets * per, width = H * D;
    task j = { .N = N, .nq = nq, .cols = cols, .H = H, .D = D, .per = per };
    j.ldo = width + (int)sl_rng_below(&t->rng, 2) * 3;
    j.ldq = width * (1 + (int)sl_rng_below(&t->rng, 3));
    j.ldkv = width * (1 + (int)sl_rng_below(&t->rng, 3)) + (int)sl_rng_below(&t->rng, 2);
    j.q = both_random(t, (size_t)(nq * N * j.ldq), -1.5, 1.5);
    j.k = both_random(t, (size_t)(cols * N * j.ldkv), -1.5, 1.5);
    j.v = both_random(t, j.k.n, -1, 1);
    j.dout = both_random(t, (size_t)(nq * N * j.ldo), -1, 1);
    j.o = both_random(t, j.dout.n, -1, 1);
    j.p = both_random(t, (size_t)(nq * N * H * cols), -1, 1);
    j.dq = both_random(t, j.q.n, -1, 1);
    j.dk = both_random(t, j.k.n, -1, 1);
    j.dv = both_random(t, j.k.n, -1, 1);
    // gaps between rows must stay: only H D numbers of each row of dk and dv are the kernel's
    j.mask = drop ? bytes_random(t, (size_t)(nq * N * ((H * cols + 7) / 8)), 256) : NULL;
    j.present = absent ? bytes_random(t, (size_t)(cols * sets), 2) : NULL;
    snprintf(j.text, sizeof j.text,
             "%d sets of %d, nq %d, cols %d, H %d, D %d, dropout %d, absent %d", sets, per, nq,
             cols, H, D, drop, absent);
    return j;
}

static void fwd(const task *j, const sl_nn__attention *k) {
    k->cols_fwd(j->o.f, j->ldo, j->p.f, j->q.f, j->ldq, j->k.f, j->v.f, j->ldkv, j->mask,
                (float)SCALE, j->present, j->per, j->N, j->nq, j->cols, j->H, j->D);
}
static void bwd(const task *j, const sl_nn__attention *k) {
    k->cols_bwd(j->dq.f, j->ldq, j->dk.f, j->dv.f, j->ldkv, j->dout.f, j->ldo, j->q.f, j->k.f,
                j->v.f, j->p.f, j->mask, (float)SCALE, j->present, j->per, j->N, j->nq, j->cols,
                j->H, j->D);
}
static void fwd_d(const task *j) {
    sl_nn_ref_d_cols_fwd(j->o.d, j->ldo, j->p.d, j->q.d, j->ldq, j->k.d, j->v.d, j->ldkv, j->mask,
                         SCALE, j->present, j->per, j->N, j->nq, j->cols, j->H, j->D);
}
static void bwd_d(const task *j) {
    sl_nn_ref_d_cols_bwd(j->dq.d, j->ldq, j->dk.d, j->dv.d, j->ldkv, j->dout.d, j->ldo, j->q.d,
                         j->k.d, j->v.d, j->p.d, j->mask, SCALE, j->present, j->per, j->N, j->nq,
                         j->cols, j->H, j->D);
}

static void columns_are_those_of_the_twin(void **state) {
    sl_fixture *t = *state;
    for (int i = 0; i < sl_test_iters(t, 200); i++) {
        sl_arena_rewind(&t->arena, 0);
        const int cols = i % 2 ? 2 + (int)sl_rng_below(&t->rng, 3)
                               : 1 + (int)sl_rng_below(&t->rng, SL_NN_MAX_COLUMNS);
        const int nq = i % 4 == 1   ? cols
                       : i % 4 == 3 ? 1
                                    : 1 + (int)sl_rng_below(&t->rng, (uint32_t)cols);
        const task j =
            task_random(t, (int)sl_rng_below(&t->rng, 5), 1 + (int)sl_rng_below(&t->rng, 9), nq,
                        cols, 1 + (int)sl_rng_below(&t->rng, 6),
                        8 * (1 + (int)sl_rng_below(&t->rng, i % 8 == 0 ? 9 : 2)),
                        sl_rng_below(&t->rng, 2) == 0, sl_rng_below(&t->rng, 2) == 0);
        const both outputs[] = { j.o, j.p, j.dq, j.dk, j.dv };
        static const char *const names[] = { "o", "p", "dq", "dk", "dv" };
        both before[SL_LEN(outputs)];
        for (int k = 0; k < SL_LEN(outputs); k++) before[k] = both_copy(t, outputs[k]);
        fwd_d(&j);
        bwd_d(&j);
        EACH_ATTENTION(k, level) {
            for (int n = 0; n < SL_LEN(outputs); n++)
                memcpy(outputs[n].f, before[n].f, outputs[n].n * sizeof *outputs[n].f);
            fwd(&j, k);
            bwd(&j, k);
            for (int n = 0; n < SL_LEN(outputs); n++)
                both_agree(t, outputs[n], 5e-6, names[n], level, j.text);
        }
    }
}

/* Not a bit of an absent column reaches the others, and its weight is 0. */
static void absent_columns_are_not_seen(void **state) {
    sl_fixture *t = *state;
    EACH_ATTENTION(k, level) {
        sl_arena_rewind(&t->arena, 0);
        task j = task_random(t, 3, 7, 3, 3, 2, 8, true, false);
        uint8_t present[9] = { 1, 1, 1, 1, 0, 1, 0, 1, 0 }; // column 1 of set 1, 2 of 0 and 2
        j.present = present;
        fwd(&j, k);
        const both o = both_copy(t, j.o);
        for (int c = 0; c < 3; c++)
            for (int r = 0; r < j.N; r++) {
                if (present[c * 3 + r / 7]) continue;
                for (int h = 0; h < 2; h++)
                    for (int a = 0; a < 3; a++)
                        SL_CHECK(t, j.p.f[((a * j.N + r) * 2 + h) * 3 + c] == 0, "%s", level);
                for (int d = 0; d < 16; d++) {
                    j.k.f[(c * j.N + r) * j.ldkv + d] = 1e6f;
                    j.v.f[(c * j.N + r) * j.ldkv + d] = 1e6f;
                }
            }
        fwd(&j, k);
        SL_CHECK(t, memcmp(j.o.f, o.f, o.n * sizeof *o.f) == 0, "%s sees an absent column", level);
    }
}

/* Where points stand in the array does not matter: each is on its own. */
static void points_do_not_depend_on_each_other(void **state) {
    sl_fixture *t = *state;
    EACH_ATTENTION(k, level) {
        sl_arena_rewind(&t->arena, 0);
        const task j = task_random(t, 1, 21, 3, 3, 2, 16, false, false);
        fwd(&j, k);
        for (int r = 0; r < j.N; r++) {
            task one = task_random(t, 1, 1, 3, 3, 2, 16, false, false);
            one.ldo = j.ldo, one.ldq = j.ldq, one.ldkv = j.ldkv;
            one.q = both_new(t, (size_t)(3 * j.ldq));
            one.k = both_new(t, (size_t)(3 * j.ldkv));
            one.v = both_new(t, (size_t)(3 * j.ldkv));
            one.o = both_new(t, (size_t)(3 * j.ldo));
            for (int c = 0; c < 3; c++) {
                const int from = c * j.N + r;
                memcpy(one.q.f + c * j.ldq, j.q.f + from * j.ldq, 32 * sizeof *j.q.f);
                memcpy(one.k.f + c * j.ldkv, j.k.f + from * j.ldkv, 32 * sizeof *j.k.f);
                memcpy(one.v.f + c * j.ldkv, j.v.f + from * j.ldkv, 32 * sizeof *j.v.f);
            }
            fwd(&one, k);
            for (int c = 0; c < 3; c++)
                SL_CHECK(t,
                         memcmp(one.o.f + c * j.ldo, j.o.f + (c * j.N + r) * j.ldo,
                                32 * sizeof *j.o.f) == 0,
                         "%s: point %d", level, r);
        }
    }
}

static double loss(void *problem) {
    const task *j = problem;
    fwd_d(j);
    double sum = 0;
    for (int i = 0; i < j->nq * j->N; i++)
        sum += weighed(j->dout.d + i * j->ldo, j->o.d + i * j->ldo, (size_t)(j->H * j->D));
    return sum;
}

static void the_twins_gradients_are_differences(void **state) {
    sl_fixture *t = *state;
    for (int i = 0; i < 4; i++) {
        sl_arena_rewind(&t->arena, 0);
        task j = task_random(t, 2, 1, i % 2 ? 3 : 1, 3, 2, 8, i >= 2, i % 2);
        const size_t width = (size_t)(j.H * j.D);
        fwd_d(&j);
        bwd_d(&j);
        for (int r = 0; r < j.nq * j.N; r++)
            differences_agree(t, j.q.d + r * j.ldq, j.dq.d + r * j.ldq, width, loss, &j, "dq");
        for (int r = 0; r < j.cols * j.N; r++) {
            differences_agree(t, j.k.d + r * j.ldkv, j.dk.d + r * j.ldkv, width, loss, &j, "dk");
            differences_agree(t, j.v.d + r * j.ldkv, j.dv.d + r * j.ldkv, width, loss, &j, "dv");
        }
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(columns_are_those_of_the_twin),
        SL_TEST(absent_columns_are_not_seen),
        SL_TEST(points_do_not_depend_on_each_other),
        SL_TEST(the_twins_gradients_are_differences),
    };
    return sl_test_main("nn.columns", tests, SL_LEN(tests));
}

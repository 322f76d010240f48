/* Products: right by either library, by the rule, on one thread, and always the same bits. */
#include <pthread.h>

#include "nn/test/twins.h"

int omp_get_max_threads(void);
void omp_set_num_threads(int n);

static const sl_gemm_library libraries[] = { SL_GEMM_RULE, SL_GEMM_ONEDNN, SL_GEMM_OPENBLAS };

typedef struct task {
    bool ta, tb;
    int M, N, K, lda, ldb, ldc;
    float alpha, beta;
    both A, B, C;
} task;

static bool coin(sl_fixture *t) { return sl_rng_below(&t->rng, 2); }

static task task_of(sl_fixture *t, bool ta, bool tb, int M, int N, int K) {
    task j = { .ta = ta, .tb = tb, .M = M, .N = N, .K = K };
    static const float factor[] = { 0, 1, 0.5f, -2 };
    const int gap = coin(t) ? (int)sl_rng_below(&t->rng, 5) : 0;
    j.lda = (j.ta ? M : K) + gap;
    j.ldb = (j.tb ? K : N) + gap;
    j.ldc = N + gap;
    j.alpha = coin(t) ? 1 : -0.5f;
    j.beta = factor[sl_rng_below(&t->rng, 4)];
    j.A = both_random(t, (size_t)((j.ta ? K : M) * j.lda), -1, 1);
    j.B = both_random(t, (size_t)((j.tb ? N : K) * j.ldb), -1, 1);
    j.C = both_random(t, (size_t)(M * j.ldc), -1, 1);
    return j;
}

static task task_random(sl_fixture *t, int M, int N, int K) {
    const bool ta = coin(t);
    return task_of(t, ta, coin(t), M, N, K);
}

static void run(const task *j, sl_gemm_library library, const float *A, const float *B, float *C) {
    sl_gemm_by(library, j->ta, j->tb, j->M, j->N, j->K, j->alpha, A, j->lda, B, j->ldb, j->beta, C,
               j->ldc);
}

static void naive(const task *j, double *C) {
    for (int m = 0; m < j->M; m++)
        for (int n = 0; n < j->N; n++) {
            double sum = 0;
            for (int k = 0; k < j->K; k++)
                sum += j->A.d[j->ta ? k * j->lda + m : m * j->lda + k] *
                       j->B.d[j->tb ? n * j->ldb + k : k * j->ldb + n];
            double *c = &C[m * j->ldc + n];
            *c = (double)j->alpha * sum + (double)j->beta * *c;
        }
}

static const char *text(char out[128], const task *j, sl_gemm_library library) {
    snprintf(out, 128, "library %d, %c%c %d x %d x %d, alpha %g, beta %g", (int)library,
             j->ta ? 'T' : 'N', j->tb ? 'T' : 'N', j->M, j->N, j->K, (double)j->alpha,
             (double)j->beta);
    return out;
}

/* What lies between the rows of C stays as well. */
static void products_are_those_of_loops(void **state) {
    sl_fixture *t = *state;
    char shape[128];
    for (int i = 0; i < sl_test_iters(t, 200); i++) {
        sl_arena_rewind(&t->arena, 0);
        const uint32_t most = i % 40 == 0 ? 150 : 40;
        const task j =
            task_random(t, (int)sl_rng_below(&t->rng, most), (int)sl_rng_below(&t->rng, most),
                        (int)sl_rng_below(&t->rng, most));
        for (int l = 0; l < SL_LEN(libraries); l++) {
            both C = both_copy(t, j.C);
            run(&j, libraries[l], j.A.f, j.B.f, C.f);
            naive(&j, C.d);
            both_agree(t, C, 2e-5, "product", "any level", text(shape, &j, libraries[l]));
        }
    }
}

/* Large ones by a random vector: C x = A (B x). */
static void large_products_map_a_vector_as_their_factors_do(void **state) {
    sl_fixture *t = *state;
    static const int shapes[][3] = { { 700, 64, 257 }, { 96, 1024, 256 }, { 513, 129, 300 } };
    char shape[128];
    for (int s = 0; s < SL_LEN(shapes); s++) {
        const int M = shapes[s][0], N = shapes[s][1], K = shapes[s][2];
        for (int way = 0; way < 4; way++) {
            sl_arena_rewind(&t->arena, 0);
            task j = task_of(t, way & 1, way >> 1, M, N, K);
            j.beta = 0;
            both x = both_random(t, (size_t)N, -1, 1), Bx = both_new(t, (size_t)K);
            for (int k = 0; k < K; k++) {
                Bx.d[k] = 0;
                for (int n = 0; n < N; n++)
                    Bx.d[k] += j.B.d[j.tb ? n * j.ldb + k : k * j.ldb + n] * x.d[n];
            }
            for (int l = 0; l < SL_LEN(libraries); l++) {
                run(&j, libraries[l], j.A.f, j.B.f, j.C.f);
                for (int m = 0; m < M; m++) {
                    double left = 0, right = 0;
                    for (int n = 0; n < N; n++) left += (double)j.C.f[m * j.ldc + n] * x.d[n];
                    for (int k = 0; k < K; k++)
                        right += j.A.d[j.ta ? k * j.lda + m : m * j.lda + k] * Bx.d[k];
                    SL_CHECK(t, fabs(left - (double)j.alpha * right) <= 2e-3,
                             "%s: row %d: %g, not %g", text(shape, &j, libraries[l]), m, left,
                             (double)j.alpha * right);
                }
            }
        }
    }
}

/* beta = 0 means that C is not read: it may be anything before. */
static void without_beta_what_was_there_does_not_matter(void **state) {
    sl_fixture *t = *state;
    char shape[128];
    for (int K = 0; K < 20; K += 19)
        for (int l = 0; l < SL_LEN(libraries); l++) {
            sl_arena_rewind(&t->arena, 0);
            task j = task_random(t, 17, 9, K);
            j.beta = 0;
            both C = both_copy(t, j.C);
            for (int m = 0; m < j.M; m++)
                for (int n = 0; n < j.N; n++) C.f[m * j.ldc + n] = NAN;
            run(&j, libraries[l], j.A.f, j.B.f, C.f);
            naive(&j, C.d);
            both_agree(t, C, 1e-5, "product", "any level", text(shape, &j, libraries[l]));
        }
}

typedef struct crew {
    const task *j;
    sl_gemm_library library;
    float **C;
} crew;

static sl_status run_some(int64_t begin, int64_t end, int worker, void *payload) {
    const crew *c = payload;
    (void)worker;
    for (int64_t i = begin; i < end; i++) run(c->j, c->library, c->j->A.f, c->j->B.f, c->C[i]);
    return SL_OK;
}

static float *shifted(sl_fixture *t, const float *x, size_t n, size_t by) {
    float *p = sl_arena_alloc(&t->arena, (n + 32) * sizeof *p);
    assert_non_null(p);
    p = (float *)(((uintptr_t)p + 63) & ~(uintptr_t)63) + by;
    memcpy(p, x, n * sizeof *p);
    return p;
}

/* At any address and on any thread. */
static void equal_factors_give_equal_bits(void **state) {
    sl_fixture *t = *state;
    static const int shapes[][3] = { { 192, 48, 48 }, { 64, 64, 192 }, { 192, 256, 96 },
                                     { 16, 16, 100 }, { 33, 71, 57 },  { 130, 512, 70 } };
    enum { RUNS = 6 };
    sl_pool *pool;
    char shape[128];
    SL_MUST(t, sl_pool_new(&pool, 3));
    for (int s = 0; s < SL_LEN(shapes); s++)
        for (int i = 0; i < 3; i++) {
            sl_arena_rewind(&t->arena, 0);
            const task j = task_random(t, shapes[s][0], shapes[s][1], shapes[s][2]);
            for (int l = 0; l < SL_LEN(libraries); l++) {
                float *first = shifted(t, j.C.f, j.C.n, 0), *C[RUNS];
                const size_t bytes = j.C.n * sizeof *first;
                run(&j, libraries[l], shifted(t, j.A.f, j.A.n, 0), shifted(t, j.B.f, j.B.n, 0),
                    first);
                for (size_t by = 1; by < 16; by += 2) {
                    float *got = shifted(t, j.C.f, j.C.n, by * 3 % 16);
                    run(&j, libraries[l], shifted(t, j.A.f, j.A.n, by),
                        shifted(t, j.B.f, j.B.n, by * 5 % 16), got);
                    SL_CHECK(t, memcmp(got, first, bytes) == 0, "%s: %zu numbers further on",
                             text(shape, &j, libraries[l]), by);
                }
                for (int r = 0; r < RUNS; r++) C[r] = shifted(t, j.C.f, j.C.n, 0);
                SL_MUST(t, sl_par_for(pool, RUNS, 1, run_some, &(crew){ &j, libraries[l], C }));
                for (int r = 0; r < RUNS; r++)
                    SL_CHECK(t, memcmp(C[r], first, bytes) == 0, "%s: on another thread",
                             text(shape, &j, libraries[l]));
            }
        }
    sl_pool_free(pool);
}

/* Told by the bits: the libraries sum in different orders. */
static void the_rule_is_the_one_written_down(void **state) {
    sl_fixture *t = *state;
    static const struct {
        bool ta, tb;
        int M, N;
        sl_gemm_library is;
    } rules[] = {
        { false, true, 192, 512, SL_GEMM_ONEDNN },  { false, false, 192, 512, SL_GEMM_ONEDNN },
        { true, false, 127, 128, SL_GEMM_ONEDNN },  { true, false, 128, 128, SL_GEMM_OPENBLAS },
        { true, false, 128, 127, SL_GEMM_ONEDNN },  { true, false, 16, 511, SL_GEMM_ONEDNN },
        { true, false, 16, 512, SL_GEMM_OPENBLAS }, { true, false, 512, 16, SL_GEMM_OPENBLAS },
        { true, true, 512, 512, SL_GEMM_ONEDNN },
    };
    for (int r = 0; r < SL_LEN(rules); r++) {
        sl_arena_rewind(&t->arena, 0);
        const int K = 300; // long enough that one sum at least is rounded in another way
        task j = { .ta = rules[r].ta, .tb = rules[r].tb, .M = rules[r].M, .N = rules[r].N, .K = K };
        j.lda = j.ta ? j.M : K;
        j.ldb = j.tb ? K : j.N;
        j.ldc = j.N;
        j.alpha = 1;
        j.A = both_random(t, (size_t)j.M * (size_t)K, -1, 1);
        j.B = both_random(t, (size_t)j.N * (size_t)K, -1, 1);
        both C[3];
        for (int l = 0; l < 3; l++) {
            C[l] = both_new(t, (size_t)j.M * (size_t)j.N);
            run(&j, libraries[l], j.A.f, j.B.f, C[l].f);
        }
        const size_t bytes = C[0].n * sizeof *C[0].f;
        assert_memory_not_equal(C[1].f, C[2].f, bytes);
        SL_CHECK(t, memcmp(C[0].f, C[rules[r].is].f, bytes) == 0, "case %d", r);
        sl_gemm(j.ta, j.tb, j.M, j.N, K, 1, j.A.f, j.lda, j.B.f, j.ldb, 0, C[2].f, j.ldc);
        SL_CHECK(t, memcmp(C[0].f, C[2].f, bytes) == 0, "sl_gemm in case %d", r);
    }
}

/* OpenMP's setting of the calling thread is the caller's again afterwards. */
static void a_callers_number_of_threads_stays(void **state) {
    sl_fixture *t = *state;
    const int before = omp_get_max_threads();
    const task j = task_random(t, 20, 20, 20);
    for (int n = 1; n <= 3; n++) {
        omp_set_num_threads(n);
        run(&j, SL_GEMM_ONEDNN, j.A.f, j.B.f, j.C.f);
        assert_int_equal(omp_get_max_threads(), n);
    }
    omp_set_num_threads(before);
}

static void libraries_have_names_with_versions(void **state) {
    (void)state;
    int v[6];
    assert_int_equal(sscanf(sl_nn_libraries(), "oneDNN %d.%d.%d, OpenBLAS %d.%d.%d", &v[0], &v[1],
                            &v[2], &v[3], &v[4], &v[5]),
                     6);
    assert_null(strchr(strrchr(sl_nn_libraries(), 'S') + 2, ' '));
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(products_are_those_of_loops),
        SL_TEST(large_products_map_a_vector_as_their_factors_do),
        SL_TEST(without_beta_what_was_there_does_not_matter),
        SL_TEST(equal_factors_give_equal_bits),
        SL_TEST(the_rule_is_the_one_written_down),
        SL_TEST(a_callers_number_of_threads_stays),
        SL_TEST(libraries_have_names_with_versions),
    };
    return sl_test_main("nn.gemm", tests, SL_LEN(tests));
}

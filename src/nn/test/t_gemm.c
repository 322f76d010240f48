/* Products: right by either library, by the rule, on one thread, and always the same bits. */
#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nn/test/twins.h"
#include "par/par.h"

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
    sl_nn_gemm_by(library, j->ta, j->tb, j->M, j->N, j->K, j->alpha, A, j->lda, B, j->ldb, j->beta,
                  C, j->ldc);
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
    SL_MUST(t, sl_par_pool_new(&pool, 3));
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
    sl_par_pool_free(pool);
}

/* The table, and that products follow it: sl_nn_gemm has the bits of the library that the rule
 * names. Where the libraries differ in some bit, as they do below AVX-512, that distinguishes one
 * from the other.
 */
static void the_rule_is_the_one_written_down(void **state) {
    sl_fixture *t = *state;
#define D SL_GEMM_ONEDNN
#define O SL_GEMM_OPENBLAS
    static const struct {
        bool ta, tb;
        int M, N, K;
        sl_gemm_kind is;
    } kinds[] = {
        { false, false, 192, 512, 300, SL_GEMM_NN },
        { false, true, 192, 512, 255, SL_GEMM_NT },
        { false, true, 192, 511, 300, SL_GEMM_NT },
        { false, true, 4, 512, 256, SL_GEMM_NT_LARGE },
        { true, true, 512, 511, 300, SL_GEMM_NT },
        { true, false, 64, 32, 300, SL_GEMM_TN_SMALL },
        { true, false, 64, 33, 300, SL_GEMM_TN },
        { true, false, 127, 128, 300, SL_GEMM_TN },
        { true, false, 128, 128, 300, SL_GEMM_TN_WIDE },
        { true, false, 16, 511, 300, SL_GEMM_TN },
        { true, false, 16, 512, 300, SL_GEMM_TN_WIDE },
        { true, false, 512, 16, 300, SL_GEMM_TN_WIDE },
    };
#define D SL_GEMM_ONEDNN
#define O SL_GEMM_OPENBLAS
#if defined(__x86_64__)
#define B D
#else
#define B O
#endif
    static const sl_gemm_library rules[SL_GEMM_KINDS][SL_ISA_COUNT] = {
        { B, D, D }, { B, D, D }, { B, D, O }, { B, D, O }, { B, D, D }, { B, O, D },
    };
#undef B
#undef D
#undef O
    for (int r = 0; r < SL_LEN(kinds); r++) {
        sl_arena_rewind(&t->arena, 0);
        const int K = kinds[r].K; // long: one sum at least is rounded in another way
        task j = { .ta = kinds[r].ta, .tb = kinds[r].tb, .M = kinds[r].M, .N = kinds[r].N, .K = K };
        assert_int_equal(sl_nn_gemm_kind_of(j.ta, j.tb, j.M, j.N, K), kinds[r].is);
        for (int isa = 0; isa < SL_ISA_COUNT; isa++)
            assert_int_equal(sl_nn_gemm_rule((sl_isa)isa, j.ta, j.tb, j.M, j.N, K),
                             rules[kinds[r].is][isa]);
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
        const sl_gemm_library is = rules[kinds[r].is][sl_cpu()];
        SL_CHECK(t, memcmp(C[0].f, C[is].f, bytes) == 0, "case %d", r);
        sl_nn_gemm(j.ta, j.tb, j.M, j.N, K, 1, j.A.f, j.lda, j.B.f, j.ldb, 0, C[0].f, j.ldc);
        SL_CHECK(t, memcmp(C[0].f, C[is].f, bytes) == 0, "sl_nn_gemm in case %d", r);
    }
    assert_int_equal(sl_nn_gemm_status(), SL_OK);
}

/* OpenMP's setting of the calling thread is the caller's again afterwards. */
static void a_callers_number_of_threads_stays(void **state) {
    sl_fixture *t = *state;
    const task j = task_random(t, 20, 20, 20);
    run(&j, SL_GEMM_ONEDNN, j.A.f, j.B.f, j.C.f); // loads it, and OpenMP with it
    void *openmp = dlopen("libgomp.so.1", RTLD_NOW | RTLD_NOLOAD);
    assert_non_null(openmp);
    int (*get)(void);
    void (*set)(int);
    *(void **)&get = dlsym(openmp, "omp_get_max_threads");
    *(void **)&set = dlsym(openmp, "omp_set_num_threads");
    assert_true(get && set);
    const int before = get();
    for (int n = 1; n <= 3; n++) {
        set(n);
        run(&j, SL_GEMM_ONEDNN, j.A.f, j.B.f, j.C.f);
        assert_int_equal(get(), n);
    }
    set(before);
    dlclose(openmp);
}

/* The file that the library has loaded as its OpenBLAS, or NULL. */
static char *openblas_file(void) {
    static char line[4096];
    char *path = NULL;
    FILE *maps = fopen("/proc/self/maps", "r");
    assert_non_null(maps);
    while (!path && fgets(line, sizeof line, maps))
        if (strstr(line, "libopenblas")) path = strchr(line, '/');
    fclose(maps);
    if (path) path[strcspn(path, "\n")] = '\0';
    return path;
}

/* A host that uses the same OpenBLAS with several threads finds its setting again, and our products
 * do not use them. */
static void a_hosts_openblas_keeps_its_threads(void **state) {
    sl_fixture *t = *state;
    SL_MUST(t, sl_nn_prepare(1));
    void *host = dlopen(openblas_file(), RTLD_NOW | RTLD_NOLOAD);
    assert_non_null(host);
    int (*get)(void);
    void (*set)(int);
    *(void **)&get = dlsym(host, "openblas_get_num_threads");
    *(void **)&set = dlsym(host, "openblas_set_num_threads");
    assert_true(get && set);
    assert_int_equal(get(), 1); // it was loaded without workers of its own
    const task j = task_random(t, 256, 256, 256);
    both one = both_copy(t, j.C), many = both_copy(t, j.C);
    run(&j, SL_GEMM_OPENBLAS, j.A.f, j.B.f, one.f);
    set(3);
    const int threads = get(); // 3, or as many as it is built for
    run(&j, SL_GEMM_OPENBLAS, j.A.f, j.B.f, many.f);
    assert_int_equal(get(), threads);
    assert_memory_equal(one.f, many.f, one.n * sizeof *one.f);
    set(1);
    dlclose(host);
}

static int threads_of_this_process(void) {
    int n = 0;
    DIR *d = opendir("/proc/self/task");
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));) n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

/* Loading and multiplying start no threads; only our own pools do. */
static void libraries_start_no_threads(void **state) {
    sl_fixture *t = *state;
    const int before = threads_of_this_process();
    const task j = task_random(t, 100, 100, 100);
    for (int l = 0; l < SL_LEN(libraries); l++) run(&j, libraries[l], j.A.f, j.B.f, j.C.f);
    assert_int_equal(threads_of_this_process(), before);
    assert_int_equal(sl_nn_gemm_status(), SL_OK);
}

static void libraries_have_names_with_versions(void **state) {
    (void)state;
    const char *text = sl_nn_libraries();
    int v[3];
    char isa[32];
    assert_int_equal(strncmp(text, "oneDNN ", 7) == 0, sl_nn_gemm_uses(SL_GEMM_ONEDNN));
    if (sl_nn_gemm_uses(SL_GEMM_ONEDNN)) {
        assert_int_equal(sscanf(text, "oneDNN %d.%d.%d %31[a-z0-9_], ", v, v + 1, v + 2, isa), 4);
        text = strchr(text, ',') + 2;
    }
    assert_int_equal(sscanf(text, "OpenBLAS %d.%d.%d %31s", v, v + 1, v + 2, isa), 4);
}

/* What a process with `megabytes` more of address space answers; 0: as it should. */
static int with_little_memory(const task *j, int megabytes, int threads) {
    char statm[64] = "";
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || !fgets(statm, sizeof statm, f)) return 10;
    fclose(f);
    const rlim_t now = (rlim_t)strtoll(statm, NULL, 10) * (rlim_t)sysconf(_SC_PAGESIZE);
    const rlim_t most = now + ((rlim_t)megabytes << 20);
    if (setrlimit(RLIMIT_AS, &(struct rlimit){ most, most }) != 0) return 11;
    struct rlimit set;
    if (getrlimit(RLIMIT_AS, &set) != 0 || set.rlim_cur != most) return SL_TEST_SKIPPED;
    if (sl_nn_prepare(threads) != SL_ENOMEM) return 12;
    if (!strstr(sl_last_error(), "address space")) return 13;
    if (sl_nn_gemm_status() != SL_OK) return 14;
    if (threads > 1) return 0; // a single thread may have all it needs
    sl_nn_gemm(j->ta, j->tb, j->M, j->N, j->K, 1, j->A.f, j->lda, j->B.f, j->ldb, 0, j->C.f,
               j->ldc);
    if (!isnan(j->C.f[0]) || !isnan(j->C.f[(j->M - 1) * j->ldc + j->N - 1])) return 15;
    if (sl_nn_gemm_status() != SL_ENOMEM || sl_nn_gemm_status() != SL_OK) return 16;
    return 0;
}

/* Refused with a status before work starts; a product that was not announced is refused as well and
 * leaves NaN. Each in a process of its own, since what is loaded stays. */
static void without_memory_there_is_a_status(void **state) {
    sl_fixture *t = *state;
#if defined(__SANITIZE_ADDRESS__)
    skip(); // the sanitizer itself has terabytes of address space
#endif
    const task j = task_random(t, 20, 20, 20);
    static const int cases[][2] = { { 5, 1 }, { 50, 1 }, { 100, 1 }, { 400, 4 }, { 1500, 16 } };
    for (int i = 0; i < SL_LEN(cases); i++) {
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            alarm(20); // OpenBLAS without memory waits for ever
            _exit(with_little_memory(&j, cases[i][0], cases[i][1]));
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        if (WIFEXITED(status) && WEXITSTATUS(status) == SL_TEST_SKIPPED)
            skip(); // QEMU's user emulation sets no such limit
        SL_CHECK(t, WIFEXITED(status) && WEXITSTATUS(status) == 0,
                 "%d MB and %d threads: status %x", cases[i][0], cases[i][1], (unsigned)status);
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(without_memory_there_is_a_status), // first: nothing is loaded yet
        SL_TEST(products_are_those_of_loops),
        SL_TEST(large_products_map_a_vector_as_their_factors_do),
        SL_TEST(without_beta_what_was_there_does_not_matter),
        SL_TEST(equal_factors_give_equal_bits),
        SL_TEST(the_rule_is_the_one_written_down),
        SL_TEST(a_callers_number_of_threads_stays),
        SL_TEST(a_hosts_openblas_keeps_its_threads),
        SL_TEST(libraries_start_no_threads),
        SL_TEST(libraries_have_names_with_versions),
    };
    return sl_test_main("nn.gemm", tests, SL_LEN(tests));
}

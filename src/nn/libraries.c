/* libraries - oneDNN and OpenBLAS: loaded at the first product, limited to the calling thread, and
 * provided with memory before work starts.
 *
 * Loaded by dlopen, so that commands that multiply nothing map neither, and so that a host program
 * with an OpenBLAS of its own keeps it: this one is loaded locally, and its symbols are bound to
 * itself first (RTLD_DEEPBIND).
 *
 * OpenBLAS starts a worker per core when it is loaded, which needs address space; without enough of
 * it loading never ends (0.3.21 loops until mmap succeeds). Its serial variant starts no workers,
 * but it also has no lock around its table of buffers, so two threads may get the same one.
 * Therefore the variant with threads is loaded, by a thread that may use one core only: OpenBLAS
 * counts the cores of the loading thread and starts one worker for each further one. A serial
 * variant is used where there is no other, one product at a time.
 *
 * A process has one OpenBLAS of a given file. If the host has loaded the same one, its number of
 * threads is set to one while we multiply and restored afterwards.
 *
 * Its kernels are chosen by instruction set here, not by its own list of CPUs: 0.3.21 takes a CPU
 * that it does not know for a Prescott, at a fifth of the speed. And so equal instruction sets have
 * equal bits.
 *
 * oneDNN 2.6 gets parts of a product only. Its kernels copy a block of K rows of a factor to the
 * stack where that fits into 16 kB, and otherwise move the stack pointer into a heap buffer: a
 * signal frame is then written over the heap. K of 252 fits for vectors up to 32 bytes, 84 for
 * those of 64 (found by looking at the stack pointer during products of 576 shapes; nn.signals
 * repeats it). Longer sums are cut into parts that fit. */
#include <cblas.h>
#include <dlfcn.h>
#include <oneapi/dnnl/dnnl.h>
#include <oneapi/dnnl/dnnl_debug.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "nn/libraries_impl.h"

/* Sanitizers do not allow RTLD_DEEPBIND. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define BIND 0
#else
#define BIND RTLD_DEEPBIND
#endif

/* The functions we use of a library, found by name. */
#define ONEDNN(X)           \
    X(dnnl_sgemm)           \
    X(dnnl_version)         \
    X(dnnl_set_max_cpu_isa) \
    X(dnnl_get_effective_cpu_isa) X(dnnl_cpu_isa2str) X(omp_get_max_threads) X(omp_set_num_threads)
#define OPENBLAS(X)             \
    X(cblas_sgemm)              \
    X(openblas_set_num_threads) \
    X(openblas_get_num_threads) \
    X(openblas_get_parallel)    \
    X(openblas_get_config) X(openblas_get_corename) X(blas_memory_alloc) X(blas_memory_free)

/* OpenMP's, which oneDNN is built on: the setting belongs to the calling thread. Not every compiler
 * that we support comes with <omp.h>. */
int omp_get_max_threads(void);
void omp_set_num_threads(int n);
/* What OpenBLAS's products take their buffers by. Exported since GotoBLAS, in no header. */
void *blas_memory_alloc(int unused);
void blas_memory_free(void *buffer);

#define X(name) __typeof__(name) *name;
static struct { ONEDNN(X) } onednn;
static struct { OPENBLAS(X) } openblas;
#undef X

/* A loaded library. Loading is tried again after a failure: memory may have come back. */
typedef struct loaded {
    atomic_bool ready;
    char name[80]; // with version and instruction set
} loaded;

static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;
static loaded onednn_library, openblas_library;
static int onednn_most_k; // rows of a factor that it copies to the stack

static sl_status fail_load(const char *what, const char *package) {
    return sl_fail(SL_EIO, "cannot load %s: %s (Debian has it in the package %s)", what,
                   sl_dlerror(), package);
}

static sl_status find(void *out, void *handle, const char *name, const char *package) {
    void *symbol = dlsym(handle, name);
    if (!symbol) return fail_load(name, package);
    // ISO C has no cast from an object's to a function's address
    memcpy(out, &symbol, sizeof symbol);
    return SL_OK;
}

/* Is there address space for that much more? The libraries do not report a failed allocation. */
static sl_status room_for(size_t bytes, const char *what) {
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return sl_fail(SL_ENOMEM,
                       "no address space for %zu MB more, which %s needs; the limit is that of "
                       "`ulimit -v`, or use fewer threads",
                       bytes >> 20, what);
    munmap(p, bytes);
    return SL_OK;
}

/* ---------------------------------------------------------------- oneDNN -------------------- */

/* Its file is 40 MB; the rest is for what it loads itself and for machine code that it makes.
 * Without that much it ends in a segmentation fault. */
static const size_t ONEDNN_BYTES = (size_t)96 << 20;

static sl_status multiply_onednn(bool ta, bool tb, int M, int N, int K, float alpha, const float *A,
                                 int lda, const float *B, int ldb, float beta, float *C, int ldc) {
    const int threads = onednn.omp_get_max_threads();
    if (threads != 1) onednn.omp_set_num_threads(1);
    const int parts = (K + onednn_most_k - 1) / onednn_most_k;
    const int rows = (K + parts - 1) / parts;
    dnnl_status_t st = dnnl_success;
    for (int k = 0; k < K && st == dnnl_success; k += rows) {
        const size_t a = (size_t)k * (size_t)(ta ? lda : 1), b = (size_t)k * (size_t)(tb ? 1 : ldb);
        st = onednn.dnnl_sgemm(ta ? 'T' : 'N', tb ? 'T' : 'N', M, N, SL_MIN(rows, K - k), alpha,
                               A + a, lda, B + b, ldb, k == 0 ? beta : 1, C, ldc);
    }
    if (threads != 1) onednn.omp_set_num_threads(threads);
    if (st == dnnl_success) return SL_OK;
    SL_ASSERT(st == dnnl_out_of_memory); // else it refuses the shape, which would be our mistake
    return sl_fail(SL_ENOMEM, "no memory for a product of %d x %d x %d in oneDNN", M, N, K);
}

/* Products make their machine code at their first use, and do not survive a lack of memory then. */
static sl_status warm_onednn(void) {
    enum { N = 64 };
    static float a[N * N], b[N * N], c[N * N];
    for (int way = 0; way < 8; way++)
        SL_TRY(
            multiply_onednn(way & 1, way & 2, N, N, N, 1, a, N, b, N, way & 4 ? 1.0f : 0.0f, c, N));
    return SL_OK;
}

static sl_status load_onednn(void) {
    SL_TRY(room_for(ONEDNN_BYTES, "oneDNN"));
    void *handle = dlopen(SYMLAW_ONEDNN_FILE, RTLD_NOW | RTLD_LOCAL);
    if (!handle) return fail_load("oneDNN", "libdnnl2");
#define X(name) SL_TRY(find(&onednn.name, handle, #name, "libdnnl2"));
    ONEDNN(X)
#undef X
    // fails if the host has multiplied before; then the setting in effect remains
    static const dnnl_cpu_isa_t most[SL_ISA_COUNT] = { dnnl_cpu_isa_sse41, dnnl_cpu_isa_avx2,
                                                       dnnl_cpu_isa_avx512_core };
    (void)onednn.dnnl_set_max_cpu_isa(most[sl_cpu()]);
    const dnnl_cpu_isa_t isa = onednn.dnnl_get_effective_cpu_isa();
    const bool wide = isa & ~(unsigned)dnnl_cpu_isa_avx2_vnni; // it may use AVX-512
    onednn_most_k = wide ? 84 : 252;
    SL_TRY(warm_onednn());
    const dnnl_version_t *v = onednn.dnnl_version();
    const char *isa_text = onednn.dnnl_cpu_isa2str(isa);
    sl_snprintf(onednn_library.name, sizeof onednn_library.name, "oneDNN %d.%d.%d %s", v->major,
                v->minor, v->patch,
                strncmp(isa_text, "cpu_isa_", 8) == 0 ? isa_text + 8 : isa_text);
    return SL_OK;
}

/* ---------------------------------------------------------------- OpenBLAS ------------------ */

/* A product takes one of these for as long as it runs; they are kept for later ones. Address space:
 * only what is written to becomes memory. 32 << 22 bytes and a page in OpenBLAS for x86-64. */
static const size_t BUFFER_BYTES = ((size_t)128 << 20) + 4096;
static const size_t OPENBLAS_BYTES = (size_t)64 << 20; // its file is 36 MB, libgfortran 3

static int buffers;        // taken so far; under `loading`
static int multiplying;    // threads that have multiplied and still exist; under `loading`
static bool one_at_a_time; // a serial OpenBLAS
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

static atomic_bool borrowed;        // the host's number of threads was once seen not to be one
static int borrowers, host_threads; // under `turn`

/* OpenBLAS counts the cores that the loading thread may use. */
static void *open_on_one_core(const char *file) {
    cpu_set_t old, one;
    const bool bound = sched_getaffinity(0, sizeof old, &old) == 0;
    if (bound) {
        size_t core = 0;
        while (core < CPU_SETSIZE - 1 && !CPU_ISSET(core, &old)) core++;
        CPU_ZERO(&one);
        CPU_SET(core, &one);
        sched_setaffinity(0, sizeof one, &one);
    }
    void *handle = dlopen(file, RTLD_NOW | RTLD_LOCAL | BIND);
    if (bound) sched_setaffinity(0, sizeof old, &old);
    return handle;
}

/* Its kernels are chosen while it is loaded, by its list of CPUs or by a variable of the
 * environment. The process gets another list of variables for that moment: setenv would move the
 * one that other threads of the host may be reading. */
static void *open_openblas(const char *file) {
    enum { MOST = 4096 };
    static char *variables[MOST + 2];
#if defined(__x86_64__)
    static char core[SL_ISA_COUNT][32] = { "OPENBLAS_CORETYPE=NEHALEM", "OPENBLAS_CORETYPE=HASWELL",
                                           "OPENBLAS_CORETYPE=SKYLAKEX" };
#else
    static char core[SL_ISA_COUNT][32] = { "OPENBLAS_CORETYPE=ARMV8" };
#endif
    char **old = environ;
    int n = 0;
    while (old && n < MOST && old[n]) {
        variables[n] = old[n];
        n++;
    }
    const bool choose = n < MOST && !getenv("OPENBLAS_CORETYPE");
    variables[n] = core[sl_cpu()];
    variables[n + 1] = NULL;
    if (choose) environ = variables;
    void *handle = open_on_one_core(file);
    if (choose) environ = old;
    return handle;
}

static sl_status load_openblas(void) {
    SL_TRY(room_for(OPENBLAS_BYTES, "OpenBLAS"));
    void *handle = NULL;
    if (*SYMLAW_OPENBLAS_FILE) handle = open_openblas(SYMLAW_OPENBLAS_FILE);
    if (!handle) handle = open_openblas(SYMLAW_OPENBLAS_NAME);
    if (!handle) return fail_load("OpenBLAS", "libopenblas0-pthread");
#define X(name) SL_TRY(find(&openblas.name, handle, #name, "libopenblas0-pthread"));
    OPENBLAS(X)
#undef X
    one_at_a_time = openblas.openblas_get_parallel() == 0;
    char version[32] = "unknown"; // "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ..."
    const char *word = strchr(openblas.openblas_get_config(), ' ');
    if (word) sl_snprintf(version, sizeof version, "%.*s", (int)strcspn(word + 1, " "), word + 1);
    sl_snprintf(openblas_library.name, sizeof openblas_library.name, "OpenBLAS %s %s", version,
                openblas.openblas_get_corename());
    return SL_OK;
}

/* OpenBLAS waits for ever for a buffer that it cannot get, so all that `threads` threads may need
 * at once are made here, where that can fail. Threads that are multiplying now hold some; as many
 * more than requested are made. */
static sl_status take_buffers(int threads) {
    enum { MOST = 1024 };
    static void *taken[MOST];
    const int more = one_at_a_time ? 1 - buffers : threads - buffers;
    if (more <= 0) return SL_OK;
    if (threads > MOST)
        return sl_fail(SL_ELIMIT, "%d threads: products are limited to %d", threads, MOST);
    const int held = SL_MIN(buffers, multiplying);
    SL_TRY(room_for((size_t)(more + held) * BUFFER_BYTES, "OpenBLAS"));
    sl_status st = SL_OK;
    int n = 0;
    while (n < buffers + more && st == SL_OK) {
        taken[n] = openblas.blas_memory_alloc(0);
        if (taken[n])
            n++;
        else
            st = sl_fail(SL_ELIMIT, "OpenBLAS has buffers for %d threads, not for %d", n, threads);
    }
    for (int i = 0; i < n; i++) openblas.blas_memory_free(taken[i]);
    buffers = SL_MAX(buffers, n);
    return st;
}

/* Each thread is counted at its first product and until it ends, so there is a buffer for every
 * thread, also for threads that were not announced by sl_nn_prepare. */
static pthread_key_t counted;
static pthread_once_t counted_once = PTHREAD_ONCE_INIT;

static void uncount(void *unused) {
    (void)unused;
    pthread_mutex_lock(&loading);
    multiplying--;
    pthread_mutex_unlock(&loading);
}

static void make_key(void) { SL_ASSERT(pthread_key_create(&counted, uncount) == 0); }

static sl_status count_thread(void) {
    static _Thread_local bool done;
    if (done) return SL_OK;
    pthread_once(&counted_once, make_key);
    pthread_mutex_lock(&loading);
    sl_status st = take_buffers(multiplying + 1);
    if (st == SL_OK && pthread_setspecific(counted, &counted) != 0)
        st = sl_fail(SL_ENOMEM, "no memory to count a thread");
    done = st == SL_OK;
    if (done) multiplying++;
    pthread_mutex_unlock(&loading);
    return st;
}

/* The host's number of threads is one from the first product of ours to the end of the last. */
static void borrow(void) {
    pthread_mutex_lock(&turn);
    if (borrowers++ == 0) {
        host_threads = openblas.openblas_get_num_threads();
        openblas.openblas_set_num_threads(1);
    }
    pthread_mutex_unlock(&turn);
}

static void give_back(void) {
    pthread_mutex_lock(&turn);
    if (--borrowers == 0) openblas.openblas_set_num_threads(host_threads);
    pthread_mutex_unlock(&turn);
}

static sl_status multiply_openblas(bool ta, bool tb, int M, int N, int K, float alpha,
                                   const float *A, int lda, const float *B, int ldb, float beta,
                                   float *C, int ldc) {
    SL_TRY(count_thread());
    if (!atomic_load_explicit(&borrowed, memory_order_relaxed) &&
        openblas.openblas_get_num_threads() != 1)
        atomic_store(&borrowed, true);
    const bool host = atomic_load_explicit(&borrowed, memory_order_relaxed);
    if (host) borrow();
    if (one_at_a_time) pthread_mutex_lock(&turn);
    openblas.cblas_sgemm(CblasRowMajor, ta ? CblasTrans : CblasNoTrans,
                         tb ? CblasTrans : CblasNoTrans, M, N, K, alpha, A, lda, B, ldb, beta, C,
                         ldc);
    if (one_at_a_time) pthread_mutex_unlock(&turn);
    if (host) give_back();
    return SL_OK;
}

/* ---------------------------------------------------------------- both ---------------------- */

static sl_status load(loaded *l, sl_status (*how)(void)) {
    if (atomic_load_explicit(&l->ready, memory_order_acquire)) return SL_OK;
    pthread_mutex_lock(&loading);
    sl_status st = atomic_load(&l->ready) ? SL_OK : how();
    if (st == SL_OK) atomic_store_explicit(&l->ready, true, memory_order_release);
    pthread_mutex_unlock(&loading);
    return st;
}

sl_status sl_nn__product(sl_gemm_library library, bool ta, bool tb, int M, int N, int K,
                         float alpha, const float *A, int lda, const float *B, int ldb, float beta,
                         float *C, int ldc) {
    if (library == SL_GEMM_ONEDNN) {
        SL_TRY(load(&onednn_library, load_onednn));
        return multiply_onednn(ta, tb, M, N, K, alpha, A, lda, B, ldb, beta, C, ldc);
    }
    SL_TRY(load(&openblas_library, load_openblas));
    return multiply_openblas(ta, tb, M, N, K, alpha, A, lda, B, ldb, beta, C, ldc);
}

sl_status sl_nn_prepare(int threads) {
    SL_TRY(load(&openblas_library, load_openblas));
    if (sl_nn_gemm_uses(SL_GEMM_ONEDNN)) SL_TRY(load(&onednn_library, load_onednn));
    pthread_mutex_lock(&loading);
    sl_status st = take_buffers(threads);
    pthread_mutex_unlock(&loading);
    return st;
}

const char *sl_nn_libraries(void) {
    static char both[2 * sizeof onednn_library.name + 2];
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    if (sl_nn_prepare(1) != SL_OK) return "";
    if (!sl_nn_gemm_uses(SL_GEMM_ONEDNN)) return openblas_library.name;
    pthread_mutex_lock(&lock);
    if (!*both)
        sl_snprintf(both, sizeof both, "%s, %s", onednn_library.name, openblas_library.name);
    pthread_mutex_unlock(&lock);
    return both;
}

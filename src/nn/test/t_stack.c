/* Where the stack pointer is during products: on the stack, always.
 *
 * oneDNN 2.6 moves it into a heap buffer for long sums, and a signal that comes then is written
 * over the heap (nn/libraries.c). Looked at by a handler that runs on a stack of its own, thousands
 * of times, for shapes on both sides of every limit that its kernels have. */
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <ucontext.h>

#include "nn/test/twins.h"

static uintptr_t stack_begin, stack_end;
static volatile sig_atomic_t looks, outside;

static void look(int number, siginfo_t *info, void *context) {
    (void)number, (void)info;
    const ucontext_t *u = context;
#if defined(__x86_64__)
    const uintptr_t at = (uintptr_t)u->uc_mcontext.gregs[REG_RSP];
#else
    const uintptr_t at = (uintptr_t)u->uc_mcontext.sp;
#endif
    looks++;
    outside += at < stack_begin || at >= stack_end;
}

static void watch(bool on) {
    static char other[1 << 16];
    const stack_t own = { .ss_sp = other, .ss_size = sizeof other },
                  none = { .ss_flags = SS_DISABLE };
    struct sigaction action = { .sa_sigaction = look, .sa_flags = SA_SIGINFO | SA_ONSTACK };
    const struct itimerval every = { { 0, 200 }, { 0, 200 } }, never = { { 0, 0 }, { 0, 0 } };
    if (on) {
        pthread_attr_t attributes;
        void *begin;
        size_t bytes;
        assert_int_equal(pthread_getattr_np(pthread_self(), &attributes), 0);
        assert_int_equal(pthread_attr_getstack(&attributes, &begin, &bytes), 0);
        pthread_attr_destroy(&attributes);
        stack_begin = (uintptr_t)begin;
        stack_end = stack_begin + bytes;
        assert_int_equal(sigaltstack(&own, NULL), 0);
        assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
        assert_int_equal(setitimer(ITIMER_REAL, &every, NULL), 0);
        return;
    }
    setitimer(ITIMER_REAL, &never, NULL);
    signal(SIGALRM, SIG_IGN); // one may be pending
    sigaltstack(&none, NULL);
}

/* 3 looks at each of them at least. */
static void products_stay_on_the_stack(void **state) {
    sl_fixture *t = *state;
    static const int K[] = { 16, 84, 85, 128, 252, 253, 256, 300, 512, 768 };
    static const int shapes[][2] = {
        { 16, 16 }, { 96, 64 }, { 64, 256 }, { 256, 64 }, { 400, 400 }
    };
    enum { MOST = 768 * 400 };
    both A = both_random(t, MOST, -1, 1), B = both_random(t, MOST, -1, 1),
         C = both_new(t, 400 * 400);
    SL_MUST(t, sl_nn_prepare(1));
    for (int l = SL_GEMM_ONEDNN; l <= SL_GEMM_OPENBLAS; l++)
        for (int way = 0; way < 4; way++)
            for (int k = 0; k < SL_LEN(K); k++)
                for (int s = 0; s < SL_LEN(shapes); s++) {
                    const bool ta = way & 1, tb = way & 2;
                    const int M = shapes[s][0], N = shapes[s][1];
                    looks = outside = 0;
                    watch(true);
                    while (looks < 3)
                        sl_nn_gemm_by((sl_gemm_library)l, ta, tb, M, N, K[k], 1, A.f, ta ? M : K[k],
                                      B.f, tb ? K[k] : N, 0, C.f, N);
                    watch(false);
                    SL_CHECK(t, outside == 0,
                             "library %d, %c%c %d x %d x %d: off the stack in %d of %d looks", l,
                             ta ? 'T' : 'N', tb ? 'T' : 'N', M, N, K[k], (int)outside, (int)looks);
                }
    assert_int_equal(sl_nn_gemm_status(), SL_OK);
}

int main(void) {
    static const struct CMUnitTest tests[] = { SL_TEST(products_stay_on_the_stack) };
    return sl_test_main("nn.stack", tests, SL_LEN(tests));
}

/* sl_par_for: every index once, for any number of threads; failures return with their message. */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fixture/fixture.h"
#include "par/par.h"

static const int sizes[] = { 1, 2, 5 };

enum { N_MAX = 3000 };

typedef struct tally {
    _Atomic int visits[N_MAX];
    _Atomic int parts, wrong;
    int64_t n, grain;
    int workers;
} tally;

static sl_status count(int64_t begin, int64_t end, int worker, void *payload) {
    tally *y = payload;
    atomic_fetch_add(&y->parts, 1);
    if (begin % y->grain != 0 || end <= begin || end > y->n ||
        (end != y->n && end - begin != y->grain) || worker < 0 || worker >= y->workers)
        atomic_fetch_add(&y->wrong, 1);
    for (int64_t i = begin; i < end; i++) atomic_fetch_add(&y->visits[i], 1);
    return SL_OK;
}

static void check_tally(sl_fixture *t, sl_pool *pool, int64_t n, int64_t grain) {
    static tally y;
    memset(&y, 0, sizeof y);
    y.n = n;
    y.grain = grain;
    y.workers = sl_par_pool_threads(pool);
    SL_MUST(t, sl_par_for(pool, n, grain, count, &y));
    int parts = (int)((n + grain - 1) / grain);
    SL_CHECK(t, y.parts == parts && y.wrong == 0, "n %d grain %d: %d parts, %d wrong", (int)n,
             (int)grain, y.parts, y.wrong);
    for (int64_t i = 0; i < n; i++)
        SL_CHECK(t, y.visits[i] == 1, "index %d of %d visited %d times", (int)i, (int)n,
                 y.visits[i]);
}

static void every_index_is_visited_once(void **state) {
    sl_fixture *t = *state;
    for (int k = -1; k < SL_LEN(sizes); k++) {
        sl_pool *pool = NULL;
        if (k >= 0) SL_MUST(t, sl_par_pool_new(&pool, sizes[k]));
        assert_int_equal(sl_par_pool_threads(pool), k >= 0 ? sizes[k] : 1);
        check_tally(t, pool, 0, 1);
        check_tally(t, pool, 1, 1);
        check_tally(t, pool, 7, 7);
        check_tally(t, pool, 8, 7);
        check_tally(t, pool, 5, 1000);
        for (int i = 0; i < sl_test_iters(t, 100); i++) // the pool is used again and again
            check_tally(t, pool, sl_rng_below(&t->rng, N_MAX), 1 + sl_rng_below(&t->rng, 100));
        sl_par_pool_free(pool);
    }
}

static sl_status untouched(int64_t begin, int64_t end, int worker, void *payload) {
    (void)begin, (void)end, (void)worker;
    ++*(int *)payload;
    return SL_OK;
}

static void nothing_to_do_calls_nothing(void **state) {
    sl_fixture *t = *state;
    sl_pool *pool = NULL;
    int calls = 0;
    SL_MUST(t, sl_par_pool_new(&pool, 2));
    SL_MUST(t, sl_par_for(pool, 0, 10, untouched, &calls));
    SL_MUST(t, sl_par_for(pool, -5, 10, untouched, &calls));
    SL_MUST(t, sl_par_for(NULL, 0, 10, untouched, &calls));
    assert_int_equal(calls, 0);
    SL_MUST(t, sl_par_for(pool, INT64_MAX, INT64_MAX, untouched, &calls)); // no sum may overflow
    SL_MUST(t, sl_par_for(pool, INT64_MAX, INT64_MAX - 1, untouched, &calls));
    assert_int_equal(calls, 3);
    sl_par_pool_free(pool);
    sl_par_pool_free(NULL);
}

/* Both wait for each other: passes only if two parts run at the same time. */
static sl_status meet(int64_t begin, int64_t end, int worker, void *payload) {
    (void)begin, (void)end, (void)worker;
    _Atomic int *here = payload;
    atomic_fetch_add(here, 1);
    double start = sl_clock();
    while (atomic_load(here) < 2) {
        if (sl_clock() - start > 10) return sl_fail(SL_ECANCEL, "waited alone");
        nanosleep(&(struct timespec){ .tv_nsec = 100000 }, NULL);
    }
    return SL_OK;
}

static void parts_run_at_the_same_time(void **state) {
    sl_fixture *t = *state;
    sl_pool *pool = NULL;
    SL_MUST(t, sl_par_pool_new(&pool, 2));
    _Atomic int here = 0;
    SL_MUST(t, sl_par_for(pool, 2, 1, meet, &here));
    sl_par_pool_free(pool);
}

/* The caller is quick; the other worker is slow enough for the caller to fall asleep. */
static sl_status meet_then_delay(int64_t begin, int64_t end, int worker, void *payload) {
    SL_TRY(meet(begin, end, worker, payload));
    if (worker > 0) nanosleep(&(struct timespec){ .tv_nsec = 300000 }, NULL);
    atomic_fetch_add((_Atomic int *)payload, 100);
    return SL_OK;
}

/* A wait may end while polling or while asleep: both must work for workers and for the caller, with
 * and without a core for each thread. */
static void sleepers_are_woken(void **state) {
    sl_fixture *t = *state;
    for (int k = 1; k < SL_LEN(sizes); k++) {
        sl_pool *pool = NULL;
        SL_MUST(t, sl_par_pool_new(&pool, sizes[k]));
        for (int i = 0; i < sl_test_iters(t, 60); i++) {
            if (i % 2) nanosleep(&(struct timespec){ .tv_nsec = 100000 * (i % 4) }, NULL);
            _Atomic int here = 0;
            SL_MUST(t, sl_par_for(pool, 2, 1, meet_then_delay, &here));
            assert_int_equal(here, 202); // both parts have ended
        }
        sl_par_pool_free(pool);
    }
}

typedef struct trouble {
    int64_t at_limit, at_io; // parts that fail, with SL_ELIMIT and SL_EIO
    _Atomic int ready;       // the two wait for each other, so that both do run
} trouble;

static sl_status fail_some(int64_t begin, int64_t end, int worker, void *payload) {
    (void)end, (void)worker;
    trouble *y = payload;
    atomic_fetch_add(&y->ready, 1);
    while (atomic_load(&y->ready) < 2) sched_yield();
    if (begin == y->at_limit) return sl_fail(SL_ELIMIT, "part %d went too far", (int)begin);
    return sl_fail(SL_EIO, "part %d lost its disk", (int)begin);
}

/* Part 3 of more than can ever be run fails, so the loop ends only if that stops it. */
typedef struct endless {
    _Atomic int ran;
    _Atomic int after;    // parts that a worker ran after one of its own had failed
    bool failed[5];       // by worker: one of its parts failed; read by that worker only
    _Atomic double since; // when part 3 failed; 0: not yet
} endless;

static const double TIMEOUT = 60; // seconds

/* How many parts the other threads run before they see the failure is up to the scheduler: the
 * failing thread may lose its core between its part and the record of it. So the others go on and
 * yield their cores; only a minute of that means that nothing stops them. */
static sl_status fail_third(int64_t begin, int64_t end, int worker, void *payload) {
    (void)end;
    endless *y = payload;
    atomic_fetch_add(&y->ran, 1);
    if (y->failed[worker]) atomic_fetch_add(&y->after, 1);
    if (begin == 3) {
        y->failed[worker] = true;
        atomic_store(&y->since, sl_clock());
        return sl_fail(SL_ELIMIT, "part %d went too far", (int)begin);
    }
    const double since = atomic_load(&y->since);
    if (since == 0) return SL_OK;
    sched_yield();
    if (sl_clock() - since < TIMEOUT) return SL_OK;
    fprintf(stderr, "par.pool: part 3 has failed, and part %lld runs all the same\n",
            (long long)begin);
    _exit(1);
}

static void a_failing_part_stops_the_rest(void **state) {
    sl_fixture *t = *state;
    for (int k = -1; k < SL_LEN(sizes); k++) {
        sl_pool *pool = NULL;
        if (k >= 0) SL_MUST(t, sl_par_pool_new(&pool, sizes[k]));
        for (int i = 0; i < 50; i++) {
            endless y = { 0 };
            sl_fail_restore("");
            const sl_status st = sl_par_for(pool, INT64_MAX, 1, fail_third, &y);
            SL_CHECK(t, st == SL_ELIMIT, "with %d threads: %s", sl_par_pool_threads(pool),
                     sl_last_error());
            assert_string_equal(sl_last_error(), "part 3 went too far");
            if (k <= 0) assert_int_equal(y.ran, 4);
            SL_CHECK(t, y.after == 0, "a worker takes %d more parts after its failure", y.after);
        }
        check_tally(t, pool, 1000, 10); // the next loop is unaffected
        sl_par_pool_free(pool);
    }
}

/* Two parts fail, in either order: the smaller status is returned, with its own message. */
static void smallest_status_is_returned_with_its_message(void **state) {
    sl_fixture *t = *state;
    sl_pool *pool = NULL;
    SL_MUST(t, sl_par_pool_new(&pool, 2));
    for (int i = 0; i < sl_test_iters(t, 200); i++) {
        trouble y = { .at_limit = i % 2, .at_io = 1 - i % 2 };
        assert_int_equal(sl_par_for(pool, 2, 1, fail_some, &y), SL_EIO);
        SL_CHECK(t, strstr(sl_last_error(), "lost its disk"), "got: %s", sl_last_error());
    }
    sl_par_pool_free(pool);
}

static sl_status nested(int64_t begin, int64_t end, int worker, void *payload) {
    (void)begin, (void)end, (void)worker;
    int calls = 0;
    return sl_par_for(payload, 4, 1, untouched, &calls);
}

/* A nested call would wait for itself; it aborts, for any number of threads. */
static void nesting_is_refused(void **state) {
    sl_fixture *t = *state;
    for (int k = 0; k < SL_LEN(sizes); k++) {
        fflush(NULL);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            signal(SIGABRT, SIG_DFL); // cmocka's handler would print
            if (!freopen("/dev/null", "w", stderr)) _exit(3);
            alarm(20);
            sl_pool *pool = NULL;
            if (sl_par_pool_new(&pool, sizes[k]) != SL_OK) _exit(2);
            _exit(sl_par_for(pool, 8, 1, nested, pool) == SL_OK ? 0 : 1);
        }
        int how = 0;
        assert_int_equal(waitpid(child, &how, 0), child);
        SL_CHECK(t, WIFSIGNALED(how) && WTERMSIG(how) == SIGABRT, "%d threads: ended by %#x",
                 sizes[k], how);
    }
    // without a pool it is a plain loop, and those nest
    SL_MUST(t, sl_par_for(NULL, 3, 1, nested, NULL));
}

static void pools_of_wrong_size_are_refused(void **state) {
    sl_fixture *t = *state;
    sl_pool *pool = NULL;
    assert_int_equal(sl_par_pool_new(&pool, -1), SL_EINVAL);
    assert_int_equal(sl_par_pool_new(&pool, 100000), SL_EINVAL);
    assert_non_null(strstr(sl_last_error(), "100000"));
    assert_null(pool);
    SL_MUST(t, sl_par_pool_new(&pool, 0));
    assert_int_equal(sl_par_pool_threads(pool), sl_par_cores());
    assert_true(sl_par_cores() >= 1 && sl_par_cores() <= sysconf(_SC_NPROCESSORS_CONF));
    sl_par_pool_free(pool);
    pool = NULL;
    SL_EACH_ALLOCATION(t, sl_par_pool_new(&pool, 3));
    sl_par_pool_free(pool);
}

static sigset_t blockable; // all but SIGKILL, SIGSTOP and those that libc or an emulator keeps

/* An interrupt must reach the program's own thread, so no worker may take it. */
static sl_status look_at_mask(int64_t begin, int64_t end, int worker, void *payload) {
    (void)begin, (void)end;
    static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT };
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    for (int s = 1; s < NSIG; s++) {
        bool fault = s == SIGSYS || !sigismember(&blockable, s);
        for (int i = 0; i < SL_LEN(faults); i++) fault = fault || s == faults[i];
        if (worker > 0 && !fault && !sigismember(&mask, s))
            return sl_fail(SL_EINVAL, "a worker takes signal %d", s);
        for (int i = 0; i < SL_LEN(faults); i++)
            if (sigismember(&mask, faults[i])) return sl_fail(SL_EINVAL, "signal %d is blocked", s);
    }
    if (worker == 0 && sigismember(&mask, SIGINT)) return sl_fail(SL_EINVAL, "the caller");
    return meet(0, 1, worker, payload);
}

static void workers_take_no_signals(void **state) {
    sl_fixture *t = *state;
    sl_pool *pool = NULL;
    _Atomic int here = 0;
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    pthread_sigmask(SIG_SETMASK, &old, &blockable);
    assert_true(sigismember(&blockable, SIGINT) && sigismember(&blockable, SIGTERM));
    SL_MUST(t, sl_par_pool_new(&pool, 2));
    SL_MUST(t, sl_par_for(pool, 2, 1, look_at_mask, &here));
    sl_par_pool_free(pool);
}

/* ---------------------------------------------------------------- stacks -------------------- */

typedef struct stacks {
    pthread_t caller;
    _Atomic size_t least; // of the workers with threads of their own
    _Atomic int seen;
} stacks;

static sl_status look_at_stack(int64_t begin, int64_t end, int worker, void *payload) {
    (void)begin, (void)end, (void)worker;
    stacks *s = payload;
    pthread_attr_t a;
    size_t size;
    if (pthread_equal(pthread_self(), s->caller)) {
        while (s->seen == 0) sched_yield(); // leave parts to the other workers
        return SL_OK;
    }
    if (pthread_getattr_np(pthread_self(), &a) != 0 || pthread_attr_getstacksize(&a, &size) != 0)
        return sl_fail(SL_EIO, "a thread does not know its stack");
    pthread_attr_destroy(&a);
    if (size < s->least) s->least = size;
    s->seen++;
    return SL_OK;
}

/* As with `ulimit -s 128`, which a host may have been started with. */
static void workers_do_not_depend_on_the_default_stack(void **state) {
    sl_fixture *t = *state;
    pthread_attr_t usual, small;
    assert_int_equal(pthread_getattr_default_np(&usual), 0);
    assert_int_equal(pthread_attr_init(&small), 0);
    assert_int_equal(pthread_attr_setstacksize(&small, 128 << 10), 0);
    assert_int_equal(pthread_setattr_default_np(&small), 0);
    sl_pool *p = NULL;
    SL_MUST(t, sl_par_pool_new(&p, 3));
    stacks s = { .caller = pthread_self(), .least = SIZE_MAX };
    SL_MUST(t, sl_par_for(p, 100, 1, look_at_stack, &s));
    sl_par_pool_free(p);
    assert_int_equal(pthread_setattr_default_np(&usual), 0);
    pthread_attr_destroy(&small);
    pthread_attr_destroy(&usual);
    SL_CHECK(t, s.seen > 0 && s.least >= 4 * SL_STACK_BYTES, "%zu bytes", s.least);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(every_index_is_visited_once),
        SL_TEST(nothing_to_do_calls_nothing),
        SL_TEST(parts_run_at_the_same_time),
        SL_TEST(a_failing_part_stops_the_rest),
        SL_TEST(smallest_status_is_returned_with_its_message),
        SL_TEST(nesting_is_refused),
        SL_TEST(pools_of_wrong_size_are_refused),
        SL_TEST(workers_take_no_signals),
        SL_TEST(sleepers_are_woken),
        SL_TEST(workers_do_not_depend_on_the_default_stack),
    };
    return sl_test_main("par.pool", tests, SL_LEN(tests));
}

/* pool - threads that wait for sl_par_for.
 *
 * One job at a time. The caller opens it, works on it like the workers, closes it, and waits until
 * no worker is inside. A worker that wakes after the job was closed goes back to waiting; the
 * caller does not wait for it. Parts are numbered by one atomic counter.
 *
 * Whether a job is open, which it is and how many workers are inside is one atomic word, so joining
 * and leaving take no lock:
 *
 *     state   | number of the job, 47 bits | open, 1 bit | workers inside, 16 bits |
 *
 * A thread waits in two stages: it polls that word for SPIN_SECONDS, then sleeps. A training step
 * of a small model takes a few hundred microseconds and has several loops, and waking a thread
 * takes tens of microseconds. With more threads than cores no thread spins: it would take the core
 * from one that works. A thread that goes to sleep first increments `asleep` (or sets `waiting`)
 * and then reads the word once more; a thread that changes the word reads those afterwards. All are
 * sequentially consistent atomics, so one of the two always sees the other's write. */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>

#include "par/par.h"

// a thread's stack also holds the thread-local data of every library, about 64 kB here
enum { THREADS_MAX = 4096, LINE_BYTES = 1024, STACK_BYTES = 2 << 20 };

static const double SPIN_SECONDS = 50e-6;

static const uint64_t INSIDE = 0xFFFF, OPEN = 0x10000;
static const int NUMBER_SHIFT = 17;

typedef struct job {
    sl_par_fn fn;
    void *payload;
    int64_t n, grain, parts;
    _Atomic int64_t next;  // part to run next
    atomic_bool stop;      // a part failed: start no more
    sl_status st;          // the rest under the pool's lock: the smallest status,
    int64_t st_part;       // the first part that had it,
    char line[LINE_BYTES]; // and its message
} job;

typedef struct worker {
    sl_pool *pool;
    int number; // 0 is the caller and has no thread
    pthread_t thread;
} worker;

struct sl_pool {
    _Atomic uint64_t state;
    pthread_mutex_t lock;
    pthread_cond_t wake, idle;
    int threads;         // workers, the caller included
    int started;         // of those, threads that exist
    bool spin;           // before sleeping
    atomic_bool quit;    // changed under the lock
    _Atomic int asleep;  // workers that wait for `wake`
    atomic_bool waiting; // the caller waits for `idle`
    atomic_bool busy;
    job job;
    worker workers[];
};

/* Keeps the smallest status so far. Of equal ones that of the lowest part, so that the message
 * depends on the order of threads as little as possible. */
static void record(sl_pool *p, sl_status st, int64_t part) {
    job *j = &p->job;
    atomic_store(&j->stop, true);
    pthread_mutex_lock(&p->lock);
    if (st < j->st || (st == j->st && part < j->st_part)) {
        j->st = st;
        j->st_part = part;
        sl_snprintf(j->line, sizeof j->line, "%s", sl_last_error());
    }
    pthread_mutex_unlock(&p->lock);
}

static void run_parts(sl_pool *p, int number) {
    job *j = &p->job;
    while (!atomic_load(&j->stop)) {
        int64_t part = atomic_fetch_add(&j->next, 1);
        if (part >= j->parts) break;
        int64_t begin = part * j->grain;
        int64_t end = begin + SL_MIN(j->grain, j->n - begin);
        sl_status st = j->fn(begin, end, number, j->payload);
        if (st != SL_OK) record(p, st, part);
    }
}

/* What a worker or the caller waits for. */
typedef bool (*condition)(sl_pool *p, uint64_t seen);

static bool job_posted(sl_pool *p, uint64_t seen) {
    return atomic_load(&p->state) >> NUMBER_SHIFT != seen || atomic_load(&p->quit);
}

static bool all_done(sl_pool *p, uint64_t seen) {
    (void)seen;
    return (atomic_load(&p->state) & INSIDE) == 0;
}

static bool spin(sl_pool *p, condition holds, uint64_t seen) {
    if (holds(p, seen)) return true;
    if (!p->spin) return false;
    double start = sl_clock();
    do {
        sched_yield(); // another thread may need this core
        for (int i = 0; i < 16; i++) {
            sl_cpu_pause();
            if (holds(p, seen)) return true;
        }
    } while (sl_clock() - start < SPIN_SECONDS);
    return false;
}

static void wait_for_job(sl_pool *p, uint64_t seen) {
    if (spin(p, job_posted, seen)) return;
    pthread_mutex_lock(&p->lock);
    atomic_fetch_add(&p->asleep, 1);
    while (!job_posted(p, seen)) pthread_cond_wait(&p->wake, &p->lock);
    atomic_fetch_sub(&p->asleep, 1);
    pthread_mutex_unlock(&p->lock);
}

/* True if this worker is now inside a job. *seen := the number of the current job, open or not. */
static bool join(sl_pool *p, uint64_t *seen) {
    uint64_t s = atomic_load(&p->state);
    do {
        *seen = s >> NUMBER_SHIFT;
        if (!(s & OPEN)) return false;
    } while (!atomic_compare_exchange_weak(&p->state, &s, s + 1));
    return true;
}

static void leave(sl_pool *p) {
    uint64_t before = atomic_fetch_sub(&p->state, 1);
    if ((before & INSIDE) > 1 || !atomic_load(&p->waiting)) return;
    pthread_mutex_lock(&p->lock);
    pthread_cond_signal(&p->idle);
    pthread_mutex_unlock(&p->lock);
}

static void *work(void *arg) {
    worker *w = arg;
    sl_pool *p = w->pool;
    uint64_t seen = 0;
    for (;;) {
        wait_for_job(p, seen);
        if (atomic_load(&p->quit)) return NULL;
        if (!join(p, &seen)) continue; // closed before this worker woke
        run_parts(p, w->number);
        leave(p);
    }
}

/* Blocks every signal that another thread of the process can take. A fault of our own must still
 * reach the host's handler: blocked, it would end the process without one. */
static void block_signals(sigset_t *old) {
    static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS };
    sigset_t all;
    sigfillset(&all);
    for (int i = 0; i < SL_LEN(faults); i++) sigdelset(&all, faults[i]);
    pthread_sigmask(SIG_SETMASK, &all, old);
}

/* A thread inherits the mask of the one that makes it. Its stack does not depend on the limit that
 * the process was started with. */
static int start_thread(worker *w) {
    sigset_t old;
    pthread_attr_t attributes;
    int error = pthread_attr_init(&attributes);
    if (error) return error;
    error = pthread_attr_setstacksize(&attributes, STACK_BYTES);
    block_signals(&old);
    if (!error) error = pthread_create(&w->thread, &attributes, work, w);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attributes);
    return error;
}

sl_status sl_par_pool_new(sl_pool **out, int threads) {
    if (threads < 0 || threads > THREADS_MAX)
        return sl_fail(SL_EINVAL, "%d threads: must be 0 (one per core) to %d", threads,
                       THREADS_MAX);
    if (threads == 0) threads = SL_MIN(sl_par_cores(), THREADS_MAX);

    size_t bytes = sizeof(sl_pool) + (size_t)threads * sizeof(worker);
    sl_pool *p = sl_calloc(1, bytes);
    if (!p) return sl_fail_memory(1, bytes, "a pool of threads");
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->wake, NULL);
    pthread_cond_init(&p->idle, NULL);
    p->threads = threads;
    p->spin = threads * sl_par_peers() <= sl_par_cores();
    p->started = 1;
    for (int i = 1; i < threads; i++) {
        p->workers[i] = (worker){ .pool = p, .number = i };
        int error = start_thread(&p->workers[i]);
        if (error) {
            sl_par_pool_free(p);
            return sl_fail(SL_ELIMIT, "cannot start thread %d of %d: %s", i + 1, threads,
                           sl_strerror(error));
        }
        p->started++;
    }
    *out = p;
    return SL_OK;
}

void sl_par_pool_free(sl_pool *p) {
    if (!p) return;
    pthread_mutex_lock(&p->lock);
    atomic_store(&p->quit, true);
    pthread_cond_broadcast(&p->wake);
    pthread_mutex_unlock(&p->lock);
    for (int i = 1; i < p->started; i++) pthread_join(p->workers[i].thread, NULL);
    pthread_cond_destroy(&p->idle);
    pthread_cond_destroy(&p->wake);
    pthread_mutex_destroy(&p->lock);
    sl_free(p);
}

int sl_par_pool_threads(const sl_pool *p) { return p ? p->threads : 1; }

/* The same parts in order, so that a part's work does not depend on whether there is a pool. */
static sl_status run_serial(int64_t n, int64_t grain, sl_par_fn fn, void *payload) {
    for (int64_t begin = 0; begin < n;) {
        int64_t end = begin + SL_MIN(grain, n - begin);
        SL_TRY(fn(begin, end, 0, payload));
        begin = end;
    }
    return SL_OK;
}

/* No worker is inside and no job is open, so only the caller writes the job and the state. */
static void open_job(sl_pool *p, int64_t n, int64_t grain, sl_par_fn fn, void *payload) {
    job *j = &p->job;
    j->fn = fn;
    j->payload = payload;
    j->n = n;
    j->grain = grain;
    j->parts = (n - 1) / grain + 1;
    atomic_store(&j->next, 0);
    atomic_store(&j->stop, false);
    j->st = SL_OK;
    j->st_part = 0;
    uint64_t number = (atomic_load(&p->state) >> NUMBER_SHIFT) + 1;
    atomic_store(&p->state, number << NUMBER_SHIFT | OPEN);
    if (atomic_load(&p->asleep) == 0) return;
    pthread_mutex_lock(&p->lock);
    pthread_cond_broadcast(&p->wake);
    pthread_mutex_unlock(&p->lock);
}

static void close_job(sl_pool *p) {
    atomic_fetch_and(&p->state, ~OPEN);
    if (spin(p, all_done, 0)) return;
    pthread_mutex_lock(&p->lock);
    atomic_store(&p->waiting, true);
    while (!all_done(p, 0)) pthread_cond_wait(&p->idle, &p->lock);
    atomic_store(&p->waiting, false);
    pthread_mutex_unlock(&p->lock);
}

static sl_status run_pool(sl_pool *p, int64_t n, int64_t grain, sl_par_fn fn, void *payload) {
    open_job(p, n, grain, fn, payload);
    run_parts(p, 0);
    close_job(p);
    if (p->job.st != SL_OK) sl_fail_restore(p->job.line);
    return p->job.st;
}

sl_status sl_par_for(sl_pool *pool, int64_t n, int64_t grain, sl_par_fn fn, void *payload) {
    SL_ASSERT(grain > 0);
    if (!pool) return run_serial(n, grain, fn, payload);

    // a nested call would wait for itself; refused for one thread too, where it would work
    SL_ASSERT(!atomic_exchange(&pool->busy, true));
    sl_status st = n <= grain || pool->threads == 1 ? run_serial(n, grain, fn, payload)
                                                    : run_pool(pool, n, grain, fn, payload);
    atomic_store(&pool->busy, false);
    return st;
}

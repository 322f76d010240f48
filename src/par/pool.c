/* pool - threads that wait for sl_par_for.
 *
 * One job at a time. The caller publishes it under the lock, works on it like everybody else,
 * closes it, and waits until no worker is inside. A worker that wakes up after the job was closed
 * finds it so and goes back to sleep; nobody waits for it. Parts are handed out by one atomic
 * counter. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "par/par.h"

enum { THREADS_MAX = 4096, LINE_BYTES = 1024 };

typedef struct job {
    sl_par_fn fn;
    void *payload;
    int64_t n, grain, parts;
    _Atomic int64_t next;  // part to hand out
    atomic_bool stop;      // a part failed: hand out no more
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
    pthread_mutex_t lock;
    pthread_cond_t wake, idle;
    int threads;     // workers, the caller included
    int started;     // of those, threads that exist
    bool quit, open; // open: the job may be joined
    int inside;      // workers in the job
    int64_t number;  // of the job
    atomic_bool busy;
    job job;
    worker workers[];
};

/* Keeps the worst answer so far. Of equals the one with the lowest part: the order in which threads
 * come by must not choose the message where it need not. */
static void record(sl_pool *p, sl_status st, int64_t part) {
    job *j = &p->job;
    atomic_store(&j->stop, true);
    pthread_mutex_lock(&p->lock);
    if (st < j->st || (st == j->st && part < j->st_part)) {
        j->st = st;
        j->st_part = part;
        snprintf(j->line, sizeof j->line, "%s", sl_last_error());
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

static void *work(void *arg) {
    worker *w = arg;
    sl_pool *p = w->pool;
    int64_t seen = 0;
    pthread_mutex_lock(&p->lock);
    for (;;) {
        while (!p->quit && p->number == seen) pthread_cond_wait(&p->wake, &p->lock);
        if (p->quit) break;
        seen = p->number;
        if (!p->open) continue; // done before we woke
        p->inside++;
        pthread_mutex_unlock(&p->lock);
        run_parts(p, w->number);
        pthread_mutex_lock(&p->lock);
        if (--p->inside == 0) pthread_cond_signal(&p->idle);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* Workers take no signals: an interrupt belongs to the thread that can act on it. */
static int start_thread(worker *w) {
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int error = pthread_create(&w->thread, NULL, work, w);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return error;
}

sl_status sl_pool_new(sl_pool **out, int threads) {
    if (threads < 0 || threads > THREADS_MAX)
        return sl_fail(SL_EINVAL, "%d threads: must be 0 (one per core) to %d", threads,
                       THREADS_MAX);
    if (threads == 0) threads = SL_MIN(sl_cores(), THREADS_MAX);

    size_t bytes = sizeof(sl_pool) + (size_t)threads * sizeof(worker);
    sl_pool *p = sl_calloc(1, bytes);
    if (!p) return sl_fail_memory(1, bytes, "a pool of threads");
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->wake, NULL);
    pthread_cond_init(&p->idle, NULL);
    p->threads = threads;
    p->started = 1;
    for (int i = 1; i < threads; i++) {
        p->workers[i] = (worker){ .pool = p, .number = i };
        int error = start_thread(&p->workers[i]);
        if (error) {
            sl_pool_free(p);
            return sl_fail(SL_ELIMIT, "cannot start thread %d of %d: %s", i + 1, threads,
                           strerror(error));
        }
        p->started++;
    }
    *out = p;
    return SL_OK;
}

void sl_pool_free(sl_pool *p) {
    if (!p) return;
    pthread_mutex_lock(&p->lock);
    p->quit = true;
    pthread_cond_broadcast(&p->wake);
    pthread_mutex_unlock(&p->lock);
    for (int i = 1; i < p->started; i++) pthread_join(p->workers[i].thread, NULL);
    pthread_cond_destroy(&p->idle);
    pthread_cond_destroy(&p->wake);
    pthread_mutex_destroy(&p->lock);
    sl_free(p);
}

int sl_pool_threads(const sl_pool *p) { return p ? p->threads : 1; }

/* The same parts in order, so that a part's work does not depend on whether there is a pool. */
static sl_status run_serial(int64_t n, int64_t grain, sl_par_fn fn, void *payload) {
    for (int64_t begin = 0; begin < n;) {
        int64_t end = begin + SL_MIN(grain, n - begin);
        SL_TRY(fn(begin, end, 0, payload));
        begin = end;
    }
    return SL_OK;
}

static sl_status run_pool(sl_pool *p, int64_t n, int64_t grain, sl_par_fn fn, void *payload) {
    job *j = &p->job;
    pthread_mutex_lock(&p->lock);
    j->fn = fn;
    j->payload = payload;
    j->n = n;
    j->grain = grain;
    j->parts = (n - 1) / grain + 1;
    atomic_store(&j->next, 0);
    atomic_store(&j->stop, false);
    j->st = SL_OK;
    j->st_part = 0;
    p->open = true;
    p->number++;
    pthread_cond_broadcast(&p->wake);
    pthread_mutex_unlock(&p->lock);

    run_parts(p, 0);

    pthread_mutex_lock(&p->lock);
    p->open = false;
    while (p->inside > 0) pthread_cond_wait(&p->idle, &p->lock);
    sl_status st = j->st;
    if (st != SL_OK) sl_fail_restore(j->line);
    pthread_mutex_unlock(&p->lock);
    return st;
}

sl_status sl_par_for(sl_pool *pool, int64_t n, int64_t grain, sl_par_fn fn, void *payload) {
    SL_ASSERT(grain > 0);
    if (!pool) return run_serial(n, grain, fn, payload);

    // a part that calls us again would wait for itself; said also where one thread would get by
    SL_ASSERT(!atomic_exchange(&pool->busy, true));
    sl_status st = n <= grain || pool->threads == 1 ? run_serial(n, grain, fn, payload)
                                                    : run_pool(pool, n, grain, fn, payload);
    atomic_store(&pool->busy, false);
    return st;
}

/* par - threads and ranks.
 *
 * Two levels of parallel work, both with results that do not depend on how many workers there are:
 *
 *   threads   sl_par_for cuts 0..n into parts and runs them on a pool of the calling process. A
 *             worker takes the next part when it is free, so which thread runs a part is unknown;
 *             a part must write only what belongs to it.
 *   ranks     processes started by mpirun, numbered sl_par_rank() of sl_par_ranks(). sl_par_agree
 *             is an all-reduce of the minimum status, so one failing rank stops all instead of
 *             hanging them. Without MPI (preset `nompi`, or a plain start) there is one rank:
 *             ranks_one.c behaves as ranks_mpi.c does with one process.
 *
 * Work of either kind can be cancelled: a watch polls a callback of this rank, and
 * sl_par_stopping returns whether any rank was cancelled.
 *
 * After a failing part no further part is started. sl_par_for returns the smallest status of all
 * parts that ran and moves that part's message to the calling thread. */
#ifndef SL_PAR_H
#define SL_PAR_H

#include "base/base.h"

/* Work on [begin, end). `worker` is 0 .. workers-1, constant in a call: an index for scratch. */
typedef sl_status (*sl_par_fn)(int64_t begin, int64_t end, int worker, void *payload);

typedef struct sl_pool sl_pool;

/* A pool of `threads` workers, the caller being one of them; 0: one per available core. */
SL_NODISCARD sl_status sl_par_pool_new(sl_pool **out, int threads);
void sl_par_pool_free(sl_pool *p);
int sl_par_pool_threads(const sl_pool *p); // NULL is a pool of one: the caller
int sl_par_cores(void);                    // cores this process may use

/* Runs fn over 0..n in parts of `grain`. pool may be NULL (serial). Not to be nested. */
SL_NODISCARD sl_status sl_par_for(sl_pool *pool, int64_t n, int64_t grain, sl_par_fn fn,
                                  void *payload);

/* Ranks. begin once at program start, end once before exit. */
SL_NODISCARD sl_status sl_par_begin(void);
void sl_par_end(void);
/* name := the MPI library, "Open MPI v4.1.4"; "" in a build without MPI. Loads the library without
 * starting it. SL_EIO: it cannot be loaded. */
SL_NODISCARD sl_status sl_par_library(char name[80]);
int sl_par_rank(void);
int sl_par_ranks(void);
int sl_par_peers(void); // ranks, this one included, that run on the cores that this one may use
SL_NODISCARD sl_status sl_par_agree(sl_status mine); // minimum over ranks; collective
void sl_par_barrier(void);

/* Stopping. Between watch_begin and watch_end the calling thread may check, any number of
 * times, whether this rank or any other was cancelled. The callback `stop_requested` (or NULL) is
 * polled at most every 10 ms, here and while sl_par_agree waits for other ranks. Once true the
 * result stays true. In other threads sl_par_stopping returns false: the watching thread must pass
 * the request on to them. Ranks see a request at different times, so a decision that must be the
 * same on all ranks needs sl_par_agree afterwards. watch_end is collective. */
typedef bool (*sl_par_stop_fn)(void *payload);
typedef struct sl_par_watch {
    sl_par_stop_fn stop_requested;
    void *payload;
    bool stopping;
    double pause, next; // seconds between two polls, and sl_clock() of the next one
    struct sl_par_watch *outer;
} sl_par_watch;

void sl_par_watch_begin(sl_par_watch *w, sl_par_stop_fn stop_requested, void *payload);
void sl_par_watch_end(sl_par_watch *w);
bool sl_par_stopping(void);

/* Collectives over blocks of numbers that are cut into one share per rank: rank r has begin[r] ..
 * begin[r+1]-1, begin having ranks + 1 entries, the same on all ranks. A share may be empty. All
 * ranks call them in the same order. They allocate nothing; what can fail is MPI itself, SL_EIO on
 * the ranks that notice. With one rank they copy, or do nothing. */

/* recv[r (end-begin of mine) + i] := rank r's number begin[mine] + i: my share as each rank has it,
 * rank after rank. */
SL_NODISCARD sl_status sl_par_exchange(float *recv, const float *block, const int64_t *begin);
/* Every rank gets the shares of all ranks, in place. size: bytes of a number, 1, 4 or 8. */
SL_NODISCARD sl_status sl_par_gather(void *block, size_t size, const int64_t *begin);
/* Rank 0 gets all shares: whole[begin[r] ..] := rank r's `share`. whole may be NULL on others. */
SL_NODISCARD sl_status sl_par_collect(float *whole, const float *share, const int64_t *begin);
/* Every rank gets rank 0's bytes (a broadcast). */
SL_NODISCARD sl_status sl_par_share(void *bytes, size_t n);
SL_NODISCARD sl_status sl_par_sum(int64_t *x, int n); // over ranks, each of n counts

#endif

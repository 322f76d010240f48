/* par - threads and ranks.
 *
 * Two levels of parallel work, both with results that do not depend on how many workers there are:
 *
 *   threads   sl_par_for cuts 0..n into parts and runs them on a pool of the calling process. Parts
 *             are handed out as workers become free, so which thread runs a part is unknown; a part
 *             must write only what belongs to it.
 *   ranks     processes started by mpirun. sl_par_rank/ranks say who we are; sl_par_agree is an
 *             all-reduce of the minimum status, so one failing rank stops all instead of hanging
 *             them. Without MPI (preset `nompi`, or a plain start) there is one rank: ranks_one.c is
 *             the twin of ranks_mpi.c and the two answer alike for one process.
 *
 * Work of either kind can be asked to stop: a watch polls the caller of this rank, and sl_par_stopping
 * answers whether any rank was asked.
 *
 * A failing part stops the hand-out; sl_par_for returns the smallest status of all parts that ran
 * and hands that part's message to the calling thread. */
#ifndef SL_PAR_H
#define SL_PAR_H

#include "base/base.h"

/* Work on [begin, end); `worker` is 0 .. workers-1 and constant within a call: index for scratch. */
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
int sl_par_rank(void);
int sl_par_ranks(void);
int sl_par_peers(void); // ranks, this one included, that run on the cores that this one may use
SL_NODISCARD sl_status sl_par_agree(sl_status mine); // minimum over ranks; collective
void sl_par_barrier(void);

/* Stopping. Between watch_begin and watch_end the calling thread may look, as often as it likes,
 * whether this rank or any other has been asked to stop: `asked` (or NULL) is called at most every
 * 10 ms, here and while sl_par_agree waits for others. Once true it stays so. Other threads get
 * false: they must be told by the one that watches. Ranks learn of a request at different moments,
 * so what all must do alike is agreed on afterwards. watch_end is collective. */
typedef bool (*sl_par_asked)(void *payload);
typedef struct sl_par_watch {
    sl_par_asked asked;
    void *payload;
    bool stopping;
    double pause, next; // seconds between two looks, and sl_clock() of the next one
    struct sl_par_watch *outer;
} sl_par_watch;

void sl_par_watch_begin(sl_par_watch *w, sl_par_asked asked, void *payload);
void sl_par_watch_end(sl_par_watch *w);
bool sl_par_stopping(void);

/* Collectives over blocks of numbers that are cut into one share per rank: rank r has begin[r] ..
 * begin[r+1]-1, begin having ranks + 1 entries, the same on all ranks. A share may be empty. All
 * ranks call them in the same order. They allocate nothing; what can fail is MPI itself, SL_EIO on
 * the ranks that notice. With one rank they copy, or do nothing. */

/* recv[r (end-begin of mine) + i] := rank r's number begin[mine] + i: everybody's part of my share,
 * rank after rank. */
SL_NODISCARD sl_status sl_par_exchange(float *recv, const float *block, const int64_t *begin);
/* Everybody gets everybody's share, in place. size: bytes of a number, 1, 4 or 8. */
SL_NODISCARD sl_status sl_par_gather(void *block, size_t size, const int64_t *begin);
/* Rank 0 gets everybody's share: whole[begin[r] ..] := rank r's `share`. whole may be NULL elsewhere. */
SL_NODISCARD sl_status sl_par_collect(float *whole, const float *share, const int64_t *begin);
/* Everybody gets rank 0's bytes. */
SL_NODISCARD sl_status sl_par_share(void *bytes, size_t n);
SL_NODISCARD sl_status sl_par_sum(int64_t *x, int n); // over ranks, each of n counts

#endif

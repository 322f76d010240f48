/* ranks_one - what ranks_mpi.c does with one process, for builds without MPI. */
#include <string.h>

#include "par/par_impl.h"

sl_status sl_par_begin(void) { return SL_OK; }
void sl_par_end(void) {}
sl_status sl_par_library(char name[80]) {
    name[0] = '\0';
    return SL_OK;
}
int sl_par_rank(void) { return 0; }
int sl_par_ranks(void) { return 1; }
int sl_par_peers(void) { return 1; }
sl_status sl_par_agree(sl_status mine) { return mine; }
void sl_par_barrier(void) {}
void sl_par__stop_send(void) {}
bool sl_par__stop_arrived(void) { return false; }
void sl_par__stop_clear(void) {}

sl_status sl_par_exchange(float *recv, const float *block, const int64_t *begin) {
    memcpy(recv, block + begin[0], (size_t)(begin[1] - begin[0]) * sizeof *recv);
    return SL_OK;
}

sl_status sl_par_gather(void *block, size_t size, const int64_t *begin) {
    (void)block, (void)begin;
    SL_ASSERT(size == 1 || size == 4 || size == 8);
    return SL_OK;
}

sl_status sl_par_collect(float *whole, const float *share, const int64_t *begin) {
    memmove(whole + begin[0], share, (size_t)(begin[1] - begin[0]) * sizeof *whole);
    return SL_OK;
}

sl_status sl_par_share(void *bytes, size_t n) {
    (void)bytes, (void)n;
    return SL_OK;
}

sl_status sl_par_sum(int64_t *x, int n) {
    (void)x, (void)n;
    return SL_OK;
}

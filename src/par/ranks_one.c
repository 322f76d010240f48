/* ranks_one - the one-process twin of ranks_mpi.c, for builds without MPI. */
#include "par/par.h"

sl_status sl_par_begin(void) { return SL_OK; }
void sl_par_end(void) {}
int sl_par_rank(void) { return 0; }
int sl_par_ranks(void) { return 1; }
sl_status sl_par_agree(sl_status mine) { return mine; }
void sl_par_barrier(void) {}

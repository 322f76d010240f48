/* par_impl - shared inside par/: requests to stop, as messages between ranks. */
#ifndef SL_PAR_IMPL_H
#define SL_PAR_IMPL_H

#include "par/par.h"

void sl_par__stop_send(void);    // to all other ranks; the first call counts
bool sl_par__stop_arrived(void); // has another rank sent one?
void sl_par__stop_clear(void);   // collective: receives the requests not yet received

#endif

/* Inside study/ only: what a worker knows of its claim besides. */
#ifndef SL_STUDY_CLAIM_IMPL_H
#define SL_STUDY_CLAIM_IMPL_H

#include "study/study.h"

/* Seconds that go on while the machine sleeps, from an arbitrary start. */
double sl_study__clock(void);

/* From this moment on beats answer SL_ECANCEL; 0: never. */
void sl_study__claim_deadline(sl_study_claim *c, double deadline);
bool sl_study__claim_late(const sl_study_claim *c); // is that moment past?
/* Frees a claim that was lost: it is another's now. */
void sl_study__claim_abandon(sl_study_claim *c);

#endif

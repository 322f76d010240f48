/* Inside src/study only: processes that hold claims, content of claims, a worker's own claim. */
#ifndef SL_STUDY_CLAIM_IMPL_H
#define SL_STUDY_CLAIM_IMPL_H

#include "study/study.h"

/* ---------------------------------------------------------------- processes ----------------- */

/* Identifies a process, also if its pid is reused. */
typedef struct sl_study__process {
    char host[64];
    char machine[17]; // the pid namespace and boot of the machine, as a hash
    int64_t pid;
    int64_t start; // ticks since the machine's start; 0: not known
} sl_study__process;
sl_study__process sl_study__this_process(void);
/* Was it a process of this machine, and has it ended? */
bool sl_study__is_gone(const sl_study__process *p);

/* ---------------------------------------------------------------- content of a claim -------- */

enum { SL_STUDY__CLAIM_BYTES = 1024, SL_STUDY__NONCE = 33 };

typedef struct sl_study__content {
    sl_study__process by;
    char nonce[SL_STUDY__NONCE];
    int64_t beat;
    double expiry; // seconds without a beat after which it may be taken over
    double done, total;
    char text[120];
    bool released;
} sl_study__content;
/* Exactly so many bytes. A text that leaves no room, by its escapes, is left out. */
SL_NODISCARD sl_status sl_study__content_write(char out[SL_STUDY__CLAIM_BYTES],
                                               const sl_study__content *c);
/* A claim that cannot be parsed is held by an unknown process until it expires. */
void sl_study__content_read(sl_study__content *out, const char *bytes, size_t n);

/* ---------------------------------------------------------------- a worker's claim ---------- */

/* Seconds from an arbitrary start, counted while the machine sleeps too. */
double sl_study__clock(void);

/* After this time beats return SL_ECANCEL; 0: never. */
void sl_study__claim_deadline(sl_study_claim *c, double deadline);
bool sl_study__claim_late(const sl_study_claim *c); // has the deadline passed?
/* Frees a claim that was lost to another process. */
void sl_study__claim_abandon(sl_study_claim *c);

#endif

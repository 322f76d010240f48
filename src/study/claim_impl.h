/* Inside src/study only: processes that hold claims, what claims say, and what a worker knows of its own. */
#ifndef SL_STUDY_CLAIM_IMPL_H
#define SL_STUDY_CLAIM_IMPL_H

#include "study/study.h"

/* ---------------------------------------------------------------- processes ----------------- */

/* A process, so that another one with its number is not taken for it. */
typedef struct sl_study__process {
    char host[64];
    char machine[17]; // where process numbers are counted as they are here
    int64_t pid;
    int64_t start; // ticks since the machine's start; 0: not known
} sl_study__process;
sl_study__process sl_study__this_process(void);
/* Was it a process of this machine that is no more? */
bool sl_study__is_gone(const sl_study__process *p);

/* ---------------------------------------------------------------- what a claim says --------- */

enum { SL_STUDY__CLAIM_BYTES = 1024, SL_STUDY__NONCE = 33 };

typedef struct sl_study__content {
    sl_study__process by;
    char nonce[SL_STUDY__NONCE];
    int64_t beat;
    double expiry; // seconds after which its holder agrees to be dead
    double done, total;
    char text[120];
    bool released;
} sl_study__content;
/* Exactly so many bytes. A text that leaves no room, by its escapes, is left out. */
SL_NODISCARD sl_status sl_study__content_write(char out[SL_STUDY__CLAIM_BYTES],
                                               const sl_study__content *c);
/* What cannot be read says nothing: such a claim is held by an unknown process until it expires. */
void sl_study__content_read(sl_study__content *out, const char *bytes, size_t n);

/* ---------------------------------------------------------------- a worker's claim ---------- */

/* Seconds that go on while the machine sleeps, from an arbitrary start. */
double sl_study__clock(void);

/* From this moment on beats answer SL_ECANCEL; 0: never. */
void sl_study__claim_deadline(sl_study_claim *c, double deadline);
bool sl_study__claim_late(const sl_study_claim *c); // is that moment past?
/* Frees a claim that was lost: it is another's now. */
void sl_study__claim_abandon(sl_study_claim *c);

#endif

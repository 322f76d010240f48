/* stop - who is asked to stop tells all ranks.
 *
 * A launcher signals every process and kills them about a second later; a machine that goes down
 * signals those that run on it. So a rank that is asked must not wait for the next collective,
 * which the others may reach seconds later, to pass it on: it sends a message, and everybody looks
 * for one wherever work is cut into pieces. */
#include "par/par_impl.h"

static const double PAUSE_SECONDS = 0.01; // between looks: the caller may be slow to answer

static _Thread_local sl_par_watch *current;

void sl_par_watch_begin(sl_par_watch *w, sl_par_asked asked, void *payload) {
    *w = (sl_par_watch){
        .asked = asked, .payload = payload, .pause = PAUSE_SECONDS, .outer = current
    };
    current = w;
}

void sl_par_watch_end(sl_par_watch *w) {
    SL_ASSERT(current == w); // ended by the thread that began it, the inner one first
    sl_par__stop_clear();
    current = w->outer;
}

bool sl_par_stopping(void) {
    sl_par_watch *w = current;
    if (!w || w->stopping) return w != NULL;
    const double now = sl_clock();
    if (now < w->next) return false;
    w->next = now + w->pause;
    const bool asked = w->asked && w->asked(w->payload);
    if (asked) sl_par__stop_send();
    w->stopping = asked || sl_par__stop_arrived();
    return w->stopping;
}

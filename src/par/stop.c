/* stop - a rank that is asked to stop sends the request to all ranks.
 *
 * A launcher signals every process and kills them about a second later; a machine that goes down
 * signals those that run on it. The next collective may be seconds away, so a rank that is asked
 * sends a message at once, and all ranks poll for one between pieces of work. */
#include "par/par_impl.h"

static const double PAUSE_SECONDS = 0.01; // between polls: the callback may be slow

static _Thread_local sl_par_watch *current;

void sl_par_watch_begin(sl_par_watch *w, sl_par_stop_fn stop_requested, void *payload) {
    *w = (sl_par_watch){ .stop_requested = stop_requested,
                         .payload = payload,
                         .pause = PAUSE_SECONDS,
                         .outer = current };
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
    const bool requested = w->stop_requested && w->stop_requested(w->payload);
    if (requested) sl_par__stop_send();
    w->stopping = requested || sl_par__stop_arrived();
    return w->stopping;
}

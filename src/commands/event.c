/* event - progress, notes and output of a call, reported to its callback. */
#include <string.h>

#include "commands/commands_impl.h"

/* During a callback sl_last_error is that from before the call. If the callback makes calls that
 * change it, the change stays when the outer call succeeds. */
static int call_back(const sl_commands_listener *l, const symlaw_event *e) {
    char inside[SL_FAIL_LINE];
    sl_commands__keep_line(inside);
    sl_fail_restore(l->call->line);
    const int answer = l->fn(e, l->payload);
    sl_commands__keep_line(l->call->line);
    sl_fail_restore(inside);
    return answer;
}

/* Polls the callback of every rank; other events are sent by rank 0 alone. */
bool sl_commands_cancel_requested(void *listener) {
    const sl_commands_listener *l = listener;
    const symlaw_event e = {
        .size = sizeof e, .kind = SYMLAW_EVENT_POLL, .text = "", .seconds = sl_clock() - l->start
    };
    return l->fn && call_back(l, &e) != 0;
}

sl_status sl_commands_send_event(const sl_commands_listener *l, symlaw_event_kind kind,
                                 const char *text, size_t length, double done, double total) {
    // while one rank works and the others wait, a cancellation may come from any of them
    if (kind == SYMLAW_EVENT_PROGRESS && sl_par_ranks() > 1 && sl_par_stopping())
        return sl_fail(SL_ECANCEL, "stopped on request");
    if (!l->fn) return SL_OK;
    if (l->call->stop) { // cancelled at a note
        l->call->stop = false;
        return sl_fail(SL_ECANCEL, "stopped on request");
    }
    symlaw_event e = { .size = sizeof e,
                       .kind = kind,
                       .text = text,
                       .length = length,
                       .done = done,
                       .total = total,
                       .seconds = sl_clock() - l->start };
    return call_back(l, &e) == 0 ? SL_OK : sl_fail(SL_ECANCEL, "stopped on request");
}

void sl_commands_note(const sl_commands_listener *l, const char *format, ...) {
    char text[512];
    va_list args;
    va_start(args, format);
    int n = sl_vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (n < 0) return;
    size_t length = SL_MIN((size_t)n, sizeof text - 1);
    if (sl_commands_send_event(l, SYMLAW_EVENT_NOTE, text, length, 0, 0) != SL_OK)
        l->call->stop = true;
}

/* event - what a call tells while it works. */
#include <stdio.h>
#include <string.h>

#include "api/api_impl.h"

sl_status sl_api__tell(const sl_api__listener *l, sl_event_kind kind, const char *text,
                       size_t length, double done, double total) {
    if (!l->fn) return SL_OK;
    sl_event e = { .size = sizeof e,
                   .kind = kind,
                   .text = text,
                   .length = length,
                   .done = done,
                   .total = total,
                   .seconds = sl_clock() - l->start };
    return l->fn(&e, l->payload) == 0 ? SL_OK : sl_fail(SL_ECANCEL, "stopped on request");
}

void sl_api__note(const sl_api__listener *l, const char *format, ...) {
    char text[512];
    va_list args;
    va_start(args, format);
    int n = sl_vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (n < 0) return;
    size_t length = SL_MIN((size_t)n, sizeof text - 1);
    // who wants to stop says so again at the next progress or output
    sl_status ignored = sl_api__tell(l, SL_EVENT_NOTE, text, length, 0, 0);
    (void)ignored;
}

/* status - the texts of sl_status and the error message of each thread. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

static _Thread_local char last_line[SL_FAIL_LINE];

const char *sl_status_text(sl_status st) {
    switch (st) {
#define X(id, number, text) \
    case SL_##id: return text;
        SL_STATUS_LIST(X)
#undef X
    }
    return "unknown status"; // a number from a newer library, or not a status at all
}

const char *sl_last_error(void) { return last_line; }

/* Stores `line` as one line: text from outside (a file name, a cell of a table) may carry control
 * characters, and a message must not break a log or a terminal. A cut line ends in "...". */
void sl_fail_restore(const char *line) {
    size_t n = strlen(line);
    bool cut = n >= sizeof last_line;
    if (cut) {
        n = sizeof last_line - 1 - 3;
        while (n > 0 && ((unsigned char)line[n] & 0xC0) == 0x80) n--; // not inside a character
    }
    memmove(last_line, line, n); // `line` may be last_line itself
    last_line[n] = '\0';
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)last_line[i];
        if (c < 0x20 || c == 0x7F) last_line[i] = ' ';
        // U+0080..U+009F are controls too: C2 80 .. C2 9F
        unsigned char next = (unsigned char)last_line[i + 1];
        if (c == 0xC2 && next >= 0x80 && next < 0xA0) last_line[i] = last_line[i + 1] = ' ';
    }
    if (cut) memcpy(last_line + n, "...", 4);
}

sl_status(sl_fail)(sl_status st, const char *format, ...) {
    // not straight into last_line: the arguments may quote sl_last_error()
    char line[SL_FAIL_LINE + 1];
    va_list args;
    va_start(args, format);
    int n = sl_vsnprintf(line, sizeof line, format, args);
    va_end(args);
    sl_fail_restore(n >= 0 ? line : sl_status_text(st));
    return st;
}

void sl_assert_failed(const char *what, const char *file, int line) {
    char text[1024];
    sl_snprintf(text, sizeof text,
                "symlaw: internal error: %s does not hold (%s:%d); please report this\n", what,
                file, line);
    fputs(text, stderr);
    abort();
}

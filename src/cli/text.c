/* text - growing text, JSON texts, messages, standard output. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli_impl.h"

/* Text of the user must not control the terminal: control characters, also U+0080..U+009F
 * (C2 80 .. C2 9F), become blanks. */
static void blank_controls(char *text) {
    for (unsigned char *c = (unsigned char *)text; *c; c++) {
        if (*c < 0x20 || *c == 0x7F) *c = ' ';
        if (*c == 0xC2 && c[1] >= 0x80 && c[1] < 0xA0) c[0] = c[1] = ' ';
    }
}

void sl_cli__error(const char *format, ...) {
    char line[2048] = "symlaw: "; // longer than any message of the library; only arguments are cut
    const size_t head = strlen(line);
    va_list args;
    va_start(args, format);
    sl_cli__vsnprintf(line + head, sizeof line - head - 1, format, args);
    va_end(args);
    blank_controls(line);
    strcat(line, "\n");
    if (symlaw_rank() == 0) fputs(line, stderr);
}

/* ---------------------------------------------------------------- growing text -------------- */

static void reserve(sl_cli__text *t, size_t n) {
    if (n < t->cap - t->len) return;
    size_t cap = 2 * (t->len + n) + 256;
    char *text = realloc(t->text, cap);
    if (!text) {
        sl_cli__error("no memory for a text of %zu bytes", cap);
        exit(SL_CLI__SYSTEM);
    }
    t->text = text;
    t->cap = cap;
}

void sl_cli__add(sl_cli__text *t, const char *bytes, size_t n) {
    reserve(t, n);
    if (n) memcpy(t->text + t->len, bytes, n);
    t->len += n;
    t->text[t->len] = '\0';
}

void sl_cli__addf(sl_cli__text *t, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int n = sl_cli__vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (n < 0) return;
    reserve(t, (size_t)n);
    va_start(args, format);
    sl_cli__vsnprintf(t->text + t->len, (size_t)n + 1, format, args);
    va_end(args);
    t->len += (size_t)n;
}

void sl_cli__add_quoted(sl_cli__text *t, const char *value) {
    sl_cli__add(t, "\"", 1);
    for (const char *p = value; *p; p++) {
        unsigned char c = (unsigned char)*p;
        if (c < 0x20 || c == '"' || c == '\\')
            sl_cli__addf(t, "\\u%04x", c);
        else
            sl_cli__add(t, p, 1);
    }
    sl_cli__add(t, "\"", 1);
}

void sl_cli__text_clear(sl_cli__text *t) {
    free(t->text);
    *t = (sl_cli__text){ 0 };
}

/* The table of well-formed sequences of the Unicode standard, 3.9: range of the second byte. */
long sl_cli__bad_utf8(const char *value) {
    const unsigned char *s = (const unsigned char *)value;
    for (const unsigned char *p = s; *p;) {
        int n = p[0] < 0x80 ? 1 : p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : 4;
        unsigned low = p[0] == 0xE0 ? 0xA0 : p[0] == 0xF0 ? 0x90 : 0x80;
        unsigned high = p[0] == 0xED ? 0x9F : p[0] == 0xF4 ? 0x8F : 0xBF;
        if (n > 1 && (p[0] < 0xC2 || p[0] > 0xF4 || p[1] < low || p[1] > high))
            return (long)(p - s);
        for (int i = 2; i < n; i++)
            if ((p[i] & 0xC0) != 0x80) return (long)(p - s);
        p += n;
    }
    return -1;
}

/* ---------------------------------------------------------------- standard output ----------- */

int sl_cli__write(const char *bytes, size_t n, bool after_stop) {
    if (symlaw_rank() > 0) return 0;
    while (n > 0) {
        // a signal may also end a write early with a part of it done
        if (sl_cli__signal() && !after_stop) return EINTR;
        ssize_t done = write(STDOUT_FILENO, bytes, n);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return errno;
        bytes += done;
        n -= (size_t)done;
    }
    return 0;
}

int sl_cli__print(sl_cli__text *t) {
    int error = sl_cli__write(t->text, t->len, false);
    sl_cli__text_clear(t);
    if (error == 0) return SL_CLI__SUCCESS;
    if (sl_cli__signal()) return 128 + sl_cli__signal();
    sl_cli__error("cannot write to standard output: %s", sl_cli__strerror(error));
    return SL_CLI__SYSTEM;
}

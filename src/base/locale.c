/* locale - numbers, letters and messages as in the C locale, whatever the host program has set.
 *
 * setlocale(LC_ALL, "de_DE.UTF-8") in the host program makes strtod("0.5") 0 and "%g" print 0,5; in
 * Turkish "INF" is no longer "inf" in capitals; messages of the system are translated. So this file
 * alone calls functions that depend on the locale, and tests/locale checks that.
 *
 * There are two ways to be independent of the host. Reading and messages take the C locale as an
 * argument. Formatting has no such variant in C, so the thread works in the C locale for that one
 * call: uselocale changes the calling thread alone, and costs 8 ns each way where "%d" takes 150.
 *
 * One locale serves all threads. newlocale takes no memory for it and cannot fail: in glibc and
 * musl the C locale is a constant, which the test base.locale checks. */
#include <dlfcn.h>
#include <locale.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static locale_t shared;

static void make(void) { shared = newlocale(LC_ALL_MASK, "C", (locale_t)0); }

static locale_t c_locale(void) {
    pthread_once(&once, make);
    if (!shared) abort(); // never: see above. SL_ASSERT formats its message by this file
    return shared;
}

locale_t sl_locale_enter(void) { return uselocale(c_locale()); }

void sl_locale_leave(locale_t before) { uselocale(before); }

/* ---------------------------------------------------------------- formatting ---------------- */

int sl_vsnprintf(char *text, size_t size, const char *format, va_list args) {
    locale_t before = sl_locale_enter();
    const int n = vsnprintf(text, size, format, args);
    sl_locale_leave(before);
    return n;
}

int sl_snprintf(char *text, size_t size, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const int n = sl_vsnprintf(text, size, format, args);
    va_end(args);
    return n;
}

/* ---------------------------------------------------------------- reading ------------------- */

double sl_strtod(const char *text, char **end) { return strtod_l(text, end, c_locale()); }

int64_t sl_strtoll(const char *text, char **end) {
    const char *at = text;
    while (sl_isspace(*at)) at++;
    const bool negative = *at == '-';
    if (*at == '-' || *at == '+') at++;
    const char *digits = at;
    uint64_t n = 0;
    const uint64_t most = negative ? (uint64_t)INT64_MAX + 1 : INT64_MAX;
    for (; sl_isdigit(*at); at++) {
        const unsigned d = (unsigned)(*at - '0');
        n = n > (most - d) / 10 ? most : 10 * n + d;
    }
    if (end) *end = (char *)(uintptr_t)(at > digits ? at : text);
    return negative ? (int64_t)(0 - n) : (int64_t)n;
}

/* ---------------------------------------------------------------- letters ------------------- */

int sl_strncasecmp(const char *a, const char *b, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const unsigned char x = (unsigned char)sl_tolower(a[i]),
                            y = (unsigned char)sl_tolower(b[i]);
        if (x != y) return x < y ? -1 : 1;
        if (x == '\0') break;
    }
    return 0;
}

int sl_strcasecmp(const char *a, const char *b) { return sl_strncasecmp(a, b, SIZE_MAX); }

/* ---------------------------------------------------------------- messages ------------------ */

const char *sl_strerror(int error) { return strerror_l(error, c_locale()); }

const char *sl_dlerror(void) {
    locale_t before = sl_locale_enter();
    const char *text = dlerror();
    sl_locale_leave(before);
    return text ? text : "unknown error";
}

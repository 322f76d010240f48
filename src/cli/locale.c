/* locale - numbers and messages as in the C locale, as base/locale.c has them for the library.
 *
 * The program never calls setlocale, but a library that it loads might. No other file here calls
 * functions that depend on the locale; tests/locale checks that. */
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli_impl.h"

/* A constant in glibc and musl, so it is not kept: newlocale takes no memory and cannot fail. */
static locale_t c_locale(void) { return newlocale(LC_ALL_MASK, "C", (locale_t)0); }

int sl_cli__vsnprintf(char *text, size_t size, const char *format, va_list args) {
    locale_t before = uselocale(c_locale());
    const int n = vsnprintf(text, size, format, args);
    uselocale(before);
    return n;
}

bool sl_cli__whole(long long *out, const char *text) {
    char *end;
    errno = 0;
    *out = strtoll_l(text, &end, 10, c_locale());
    return end != text && *end == '\0' && errno == 0;
}

bool sl_cli__real(double *out, const char *text) {
    char *end;
    *out = strtod_l(text, &end, c_locale());
    return end != text && *end == '\0' && isfinite(*out) && !strpbrk(text, "xX");
}

const char *sl_cli__strerror(int error) { return strerror_l(error, c_locale()); }

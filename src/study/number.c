/* number - numbers in the names of runs. */
#include <math.h>
#include <string.h>

#include "study/study_impl.h"

/* digits := those of v, as few as read back; returns the exponent of the first one. */
static int shortest(char digits[24], int *n, double v) {
    char text[40];
    int p = 0;
    do sl_snprintf(text, sizeof text, "%.*e", p, v);
    while (sl_strtod(text, NULL) != v && ++p < 17);
    *n = 0;
    const char *at = text;
    for (; *at != 'e'; at++)
        if (sl_isdigit(*at)) digits[(*n)++] = *at;
    return (int)sl_strtoll(at + 1 + (at[1] == '+'), NULL);
}

const char *sl_study__number(char out[SL_STUDY__NUMBER], double v) {
    SL_ASSERT(v > 0 && isfinite(v)); // lists are checked when a plan is read
    char digits[24];
    int n;
    const int exponent = shortest(digits, &n, v);
    if (exponent >= -1 && exponent < 6)
        sl_snprintf(out, SL_STUDY__NUMBER, "%.*f", SL_MAX(n - 1 - exponent, 0), v);
    else
        sl_snprintf(out, SL_STUDY__NUMBER, "%c%s%.*se%d", digits[0], n > 1 ? "." : "", n - 1,
                    digits + 1, exponent);
    return out;
}

double sl_study__rounded(double v) {
    char text[40];
    sl_snprintf(text, sizeof text, "%.5e", v);
    return sl_strtod(text, NULL);
}

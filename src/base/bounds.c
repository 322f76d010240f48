/* bounds - do options keep to their table? */
#include "base/base.h"

/* Choices are numbered from 0 by the bars between them. */
static double choices_last(const char *choices) {
    double n = 0;
    for (; *choices; choices++) n += *choices == '|';
    return n;
}

sl_status sl_bounds_check(const sl_bounds *rows, const double *values, int n) {
    for (int i = 0; i < n; i++) {
        const double max = rows[i].choices ? choices_last(rows[i].choices) : rows[i].max;
        if (!(values[i] >= rows[i].min && values[i] <= max))
            return sl_fail(SL_EINVAL, "%s is %g, not from %g to %g", rows[i].option, values[i],
                           rows[i].min, max);
    }
    return SL_OK;
}

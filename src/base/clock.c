/* clock - elapsed time. */
#include <time.h>

#include "base/base.h"

double sl_clock(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

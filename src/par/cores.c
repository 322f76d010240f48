/* cores - how many threads are worth starting. */
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#include "par/par.h"

/* A container may own a share of the machine's time instead of a set of cores; 0: no such limit. */
static int cores_by_quota(void) {
    FILE *f = fopen("/sys/fs/cgroup/cpu.max", "re");
    if (!f) return 0;
    char line[64] = "", *at; // "max", which parses as 0, when there is no quota
    if (!fgets(line, sizeof line, f)) line[0] = '\0';
    fclose(f);
    const int64_t quota = sl_strtoll(line, &at), period = sl_strtoll(at, NULL);
    if (quota <= 0 || period <= 0) return 0;
    return (int)SL_MIN((quota + period - 1) / period, 1 << 20);
}

int sl_par_cores(void) {
    cpu_set_t set; // holds 1024 cores; with more the call fails and sysconf is used
    int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set)
                                                        : (int)sysconf(_SC_NPROCESSORS_ONLN);
    int quota = cores_by_quota();
    if (quota > 0) n = SL_MIN(n, quota);
    return SL_MAX(n, 1);
}

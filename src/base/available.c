/* available - how much memory is left, as the kernel and the container see it. */
#include <stdio.h>
#include <string.h>

#include "base/base.h"

/* The number after `key` in a file of "key value" lines, or the first number of the file when key
 * is ""; -1 when there is none ("max" in a cgroup file, or no such file). */
static int64_t number_in(const char *path, const char *key) {
    FILE *f = fopen(path, "re");
    if (!f) return -1;
    int64_t found = -1;
    char line[256];
    size_t n = strlen(key);
    while (found < 0 && fgets(line, sizeof line, f)) {
        char *end;
        const int64_t value = strncmp(line, key, n) == 0 ? sl_strtoll(line + n, &end) : -1;
        if (value >= 0 && end > line + n) found = value;
    }
    fclose(f);
    return found;
}

/* Bytes that this cgroup (version 2) may still allocate; -1 when it has no limit. The page cache
 * counts as used there, but the kernel drops its inactive part before it refuses memory. */
static int64_t left_in_group(const char *group) {
    char path[1200];
    sl_snprintf(path, sizeof path, "/sys/fs/cgroup%s/memory.max", group);
    int64_t max = number_in(path, "");
    if (max < 0) return -1;
    sl_snprintf(path, sizeof path, "/sys/fs/cgroup%s/memory.current", group);
    int64_t used = number_in(path, "");
    sl_snprintf(path, sizeof path, "/sys/fs/cgroup%s/memory.stat", group);
    int64_t cache = number_in(path, "inactive_file ");
    if (used < 0) return -1;
    if (cache > 0) used -= SL_MIN(cache, used);
    return SL_MAX(max - used, 0);
}

/* The path of our own group, "" for the root one (also what a container sees of itself). */
static void own_group(char *group, size_t size) {
    group[0] = '\0';
    FILE *f = fopen("/proc/self/cgroup", "re");
    if (!f) return;
    char line[1024];
    while (fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "0::/", 4) == 0) sl_snprintf(group, size, "%s", line + 3);
    }
    fclose(f);
    if (strcmp(group, "/") == 0) group[0] = '\0';
}

int64_t sl_mem_available(void) {
    int64_t kib = number_in("/proc/meminfo", "MemAvailable:");
    int64_t left = kib > 0 ? kib * 1024 : 0;

    // every group from ours up to the root can have a limit
    char group[1024];
    own_group(group, sizeof group);
    for (;;) {
        int64_t g = left_in_group(group);
        if (g >= 0 && (left == 0 || g < left)) left = SL_MAX(g, 1); // 0 would mean unknown
        char *slash = strrchr(group, '/');
        if (!slash) break;
        *slash = '\0';
    }
    return left;
}

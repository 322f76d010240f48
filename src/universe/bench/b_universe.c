/* b_universe - how long all functions of depth 3 over two variables take, and how much memory; and
 * how long the same set takes from the file that it is kept in.
 *
 * Every case is a process of its own, so that its peak memory is its own. The counts are checked,
 * and that all numbers of threads give the same set, before a row is printed.
 *
 *     build/bench/universe.universe        a table, tab separated */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/bench.h"
#include "universe/universe.h"

enum { REPEATS = 3, RAW = 5070402, DISTINCT = 1286353, PARTIAL = 1181, BELOW = 929 };

typedef struct outcome {
    double seconds;
    char hash[33];
} outcome;

typedef struct usage {
    double best, median, cpu, megabytes;
} usage;

/* dir: NULL to build, or where the set is kept. */
static sl_status build(outcome *out, int64_t size, int threads, const char *dir) {
    sl_universe_options o = SL_UNIVERSE_OPTIONS_INIT;
    sl_universe *u = NULL;
    sl_pool *pool = NULL;
    sl_status st;
    o.size = size;
    SL_GO(sl_par_pool_new(&pool, threads));
    double start = sl_clock();
    SL_GO(dir ? sl_universe_open(&u, pool, &o, NULL, dir) : sl_universe_new(&u, pool, &o, NULL));
    out->seconds = sl_clock() - start;
    const sl_universe_counts *c = sl_universe_count(u, 3);
    if (c->raw != RAW || c->distinct != DISTINCT || c->partial != PARTIAL ||
        sl_universe_size(u) != (size ? size : BELOW + DISTINCT))
        st = sl_fail(SL_EINVAL, "%lld distinct (%lld partly real) of %lld, |E| = %lld",
                     (long long)c->distinct, (long long)c->partial, (long long)c->raw,
                     (long long)sl_universe_size(u));
    memcpy(out->hash, sl_universe_hash(u), sizeof out->hash);
done:
    sl_universe_free(u);
    sl_par_pool_free(pool);
    return st;
}

/* Builds in a child. Its outcome comes through a pipe, what it used from the kernel. */
static bool run(outcome *out, struct rusage *used, int64_t size, int threads, const char *dir) {
    int ends[2], status;
    if (pipe(ends) != 0) return false;
    pid_t child = fork();
    if (child < 0) return false;
    if (child == 0) {
        outcome o;
        sl_status st = build(&o, size, threads, dir);
        if (st != SL_OK) fprintf(stderr, "universe.universe: %s\n", sl_last_error());
        bool sent = st == SL_OK && write(ends[1], &o, sizeof o) == (ssize_t)sizeof o;
        _exit(sent ? 0 : 1);
    }
    close(ends[1]);
    bool got = read(ends[0], out, sizeof *out) == (ssize_t)sizeof *out;
    close(ends[0]);
    return wait4(child, &status, 0, used) == child && status == 0 && got;
}

static double seconds(struct timeval t) { return (double)t.tv_sec + 1e-6 * (double)t.tv_usec; }

/* hash: empty, or what it must be. */
static bool measure(usage *m, char hash[33], int64_t size, int threads, const char *dir) {
    double wall[REPEATS], cpu[REPEATS];
    outcome first;
    struct rusage writing;
    if (dir && !run(&first, &writing, size, threads, dir)) return false; // leaves the file there
    m->megabytes = 0;
    for (int r = 0; r < REPEATS; r++) {
        outcome o;
        struct rusage used;
        if (!run(&o, &used, size, threads, dir)) return false;
        if (hash[0] && strcmp(hash, o.hash) != 0) {
            fprintf(stderr, "universe.universe: %d threads give another set\n", threads);
            return false;
        }
        memcpy(hash, o.hash, sizeof o.hash);
        wall[r] = o.seconds;
        cpu[r] = seconds(used.ru_utime) + seconds(used.ru_stime);
        m->megabytes = SL_MAX(m->megabytes, (double)used.ru_maxrss / 1000);
    }
    sl_bench_sort(wall, REPEATS);
    sl_bench_sort(cpu, REPEATS);
    m->best = wall[0];
    m->median = wall[REPEATS / 2];
    m->cpu = cpu[REPEATS / 2];
    return true;
}

/* The files kept in the folder, and it. */
static void remove_folder(const char *dir) {
    DIR *d = opendir(dir);
    for (struct dirent *e; d && (e = readdir(d));)
        if (e->d_name[0] != '.') unlinkat(dirfd(d), e->d_name, 0);
    if (d) closedir(d);
    rmdir(dir);
}

int main(void) {
    static const int64_t sizes[] = { 100000, 0 };
    static const int threads[] = { 1, 2 };
    char dir[] = "/tmp/symlaw-bench-XXXXXX";
    bool good = mkdtemp(dir);
    printf("name\tmembers\tthreads\tbest_s\tmedian_s\tcpu_s\tcandidates_per_s\tpeak_MB\thash\n");
    for (int s = 0; s < SL_LEN(sizes) && good; s++) {
        char hash[33] = "";
        for (int k = 0; k < 2 * SL_LEN(threads) && good; k++) {
            const bool kept = k >= SL_LEN(threads);
            const int workers = threads[k % SL_LEN(threads)];
            usage m;
            good = measure(&m, hash, sizes[s], workers, kept ? dir : NULL);
            if (!good) break;
            char rate[32] = "-"; // no candidates are looked at
            if (!kept) snprintf(rate, sizeof rate, "%.0f", RAW / m.median);
            printf("%s\t%lld\t%d\t%.3f\t%.3f\t%.3f\t%s\t%.0f\t%s\n",
                   kept ? "depth_3_kept" : "depth_3",
                   (long long)(sizes[s] ? sizes[s] : BELOW + DISTINCT), workers, m.best, m.median,
                   m.cpu, rate, m.megabytes, hash);
            fflush(stdout);
        }
    }
    remove_folder(dir);
    return good ? 0 : 1;
}

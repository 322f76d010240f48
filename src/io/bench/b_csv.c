/* b_csv - how fast tables are read: rows of three numbers, as different programs write them, plain
 * and packed.
 *
 * The sum of all numbers must equal the sum of those written. Then each file is read several times
 * by sl_io_csv_next and sl_io_cell_read, and for comparison with strtod on the same cells.
 *
 *     build/bench/io.csv            a million rows each
 *     build/bench/io.csv 10         ten million */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "bench/bench.h"
#include "io/io.h"

enum { COLUMNS = 3, REPEATS = 5, ROWS = 1000000 };

static const struct subject {
    const char *name, *format;
    bool packed;
} subjects[] = {
    { "short", "%.4g,%.4g,%.4g\n", false },
    { "full", "%.17g,%.17g,%.17g\n", false },
    { "quoted", "\"%.9g\",\"%.9g\",\"%.9g\"\n", false },
    { "full.gz", "%.17g,%.17g,%.17g\n", true },
};

/* A table of `rows` rows into fd; *sum of what its numbers read back as. */
static sl_status write_table(const char *path, const struct subject *sub, int64_t rows,
                             double *sum) {
    sl_rng rng;
    char line[256];
    gzFile f = gzopen(path, sub->packed ? "wb1" : "wbT");
    if (!f) return sl_fail(SL_EIO, "cannot write %s", path);
    sl_rng_init(&rng, 1, 0, 0);
    *sum = 0;
    gzputs(f, "first,second,third\n");
    for (int64_t i = 0; i < rows; i++) {
        const int n = snprintf(line, sizeof line, sub->format, 100 * sl_rng_normal(&rng),
                               sl_rng_uniform(&rng), 1e-3 * sl_rng_normal(&rng));
        gzwrite(f, line, (unsigned)n);
        for (char *p = line; *p && *p != '\n'; p += strspn(p, "\",")) {
            p += strspn(p, "\"");
            *sum += strtod(p, &p);
        }
    }
    return gzclose(f) == Z_OK ? SL_OK : sl_fail(SL_EIO, "cannot write %s", path);
}

/* Which way cells become numbers. */
typedef enum way { OURS, LIBRARY, NONE } way;

static sl_status read_table(const char *path, way w, int64_t *rows, double *sum) {
    sl_status st;
    sl_csv *c = NULL;
    const sl_cell *cells;
    *sum = 0;
    SL_GO(sl_io_csv_open(&c, path, NULL));
    const sl_number_style style = sl_io_csv_facts(c)->style;
    for (;;) {
        SL_GO(sl_io_csv_next(&cells, c));
        if (!cells) break;
        for (int j = 0; j < COLUMNS && w != NONE; j++) {
            double v;
            unsigned signs;
            if (w == LIBRARY)
                v = strtod(cells[j].text, NULL);
            else if (sl_io_cell_read(&v, &signs, &cells[j], style) != SL_CELL_NUMBER)
                SL_GO(sl_fail(SL_EFORMAT, "%s is no number", cells[j].text));
            *sum += v;
        }
    }
    *rows = sl_io_csv_row(c);
done:
    sl_io_csv_close(c);
    return st;
}

static sl_status measure(const struct subject *sub, const char *path, int64_t rows) {
    static const char *const names[] = { "read", "read by strtod", "cut only" };
    double want, got, ns[REPEATS];
    int64_t n;
    SL_TRY(write_table(path, sub, rows, &want));
    SL_TRY(read_table(path, OURS, &n, &got));
    if (n != rows || got != want)
        return sl_fail(SL_EINVAL, "%s: %lld rows of sum %.17g, not %.17g", sub->name, (long long)n,
                       got, want);
    for (way w = OURS; w <= NONE; w++) {
        for (int r = 0; r < REPEATS; r++) {
            const double start = sl_clock();
            SL_TRY(read_table(path, w, &n, &got));
            ns[r] = (sl_clock() - start) * 1e9 / (double)rows;
        }
        sl_bench_sort(ns, REPEATS);
        printf("%s\t%s\t%lldx%d\t1\t%.0f\t%.0f\t%.2f\n", names[w], sub->name, (long long)rows,
               COLUMNS, ns[0], ns[REPEATS / 2], 1e3 / ns[REPEATS / 2]);
        fflush(stdout);
    }
    return SL_OK;
}

int main(int argc, char **argv) {
    const int64_t rows = (argc > 1 ? atoi(argv[1]) : 1) * (int64_t)ROWS;
    char path[] = "/tmp/b_csv.XXXXXX";
    const int fd = mkstemp(path);
    if (fd < 0) {
        perror(path);
        return 1;
    }
    close(fd);
    sl_status st = SL_OK;
    printf("way\ttable\trows\tthreads\tbest_ns\tmedian_ns\tmillion_rows_per_s\n");
    for (int i = 0; i < SL_LEN(subjects) && st == SL_OK; i++)
        st = measure(&subjects[i], path, rows);
    if (st != SL_OK) fprintf(stderr, "io.csv: %s\n", sl_last_error());
    unlink(path);
    return st == SL_OK ? 0 : 1;
}

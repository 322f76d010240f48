/* b_json - how fast doubles become JSON and come back, which is what exporting and reading pairs
 * spends its time on.
 *
 * First everything written is read back and must be the same bits, then both ways are timed, on
 * values of four kinds: as pairs have them, as people write them, of any size, of any bits.
 *
 *     build/bench/io.json              a table, tab separated */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/bench.h"
#include "io/io.h"

enum { VALUES = 64 * 1024, REPEATS = 15 };

static double normal(sl_rng *rng) { return sl_rng_normal(rng); }

static double hundredths(sl_rng *rng) { return (double)sl_rng_below(rng, 100000) / 100; }

static double any_size(sl_rng *rng) {
    return sl_rng_normal(rng) * pow(10, sl_rng_range(rng, -50, 50));
}

static double any_bits(sl_rng *rng) {
    for (;;) {
        const uint64_t u = sl_rng_u64(rng);
        double d;
        memcpy(&d, &u, sizeof d);
        if (isfinite(d)) return d;
    }
}

static const struct subject {
    const char *name;
    double (*draw)(sl_rng *);
} subjects[] = {
    { "normal", normal },
    { "hundredths", hundredths },
    { "any_size", any_size },
    { "any_bits", any_bits },
};

static void write_all(sl_str *s, const double *x) {
    sl_str_truncate(s, 0);
    sl_io_json_open(s, NULL, '[');
    for (int i = 0; i < VALUES; i++) sl_io_json_add_real(s, NULL, x[i]);
    sl_io_json_close(s, ']');
}

static sl_status check(const char *name, const sl_str *s, const double *x) {
    sl_json *j = NULL;
    SL_TRY(sl_str_status(s));
    SL_TRY(sl_io_json_parse(&j, s->text, s->len));
    sl_status st = SL_OK;
    for (int i = 0; i < VALUES && st == SL_OK; i++) {
        const double back = sl_io_json_real(sl_io_json_at(j, i));
        if (memcmp(&back, &x[i], sizeof back) != 0)
            st = sl_fail(SL_EINVAL, "%s: %.17g reads back as %.17g", name, x[i], back);
    }
    sl_io_json_free(j);
    return st;
}

static void row(const char *way, const char *name, double *ns) {
    sl_bench_sort(ns, REPEATS);
    printf("%s\t%s\t%d\t1\t%.1f\t%.1f\t%.2f\n", way, name, VALUES, ns[0], ns[REPEATS / 2],
           1e3 / ns[REPEATS / 2]);
}

static sl_status measure(const struct subject *sub, double *x, sl_str *s) {
    double ns[REPEATS];
    sl_rng rng;
    sl_rng_init(&rng, 1, 0, 0);
    for (int i = 0; i < VALUES; i++) x[i] = sub->draw(&rng);
    write_all(s, x);
    SL_TRY(check(sub->name, s, x));

    for (int r = 0; r < REPEATS; r++) {
        const double start = sl_clock();
        write_all(s, x);
        ns[r] = (sl_clock() - start) * 1e9 / VALUES;
    }
    row("write", sub->name, ns);
    for (int r = 0; r < REPEATS; r++) {
        sl_json *j = NULL;
        const double start = sl_clock();
        SL_TRY(sl_io_json_parse(&j, s->text, s->len));
        sl_io_json_free(j);
        ns[r] = (sl_clock() - start) * 1e9 / VALUES;
    }
    row("read", sub->name, ns);
    return SL_OK;
}

int main(void) {
    sl_str s = { 0 };
    sl_status st = SL_OK;
    double *x = sl_malloc(VALUES, sizeof *x);
    if (!x) st = sl_fail_memory(VALUES, sizeof *x, "values");
    printf("way\tvalues\tn\tthreads\tbest_ns\tmedian_ns\tmillion_per_s\n");
    for (int i = 0; i < SL_LEN(subjects) && st == SL_OK; i++) st = measure(&subjects[i], x, &s);
    if (st != SL_OK) fprintf(stderr, "io.json: %s\n", sl_last_error());
    sl_free(x);
    sl_str_clear(&s);
    return st == SL_OK ? 0 : 1;
}

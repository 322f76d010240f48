/* Tables that tests of this folder read, and runs that they make. */
#ifndef SL_LAWS_TABLES_H
#define SL_LAWS_TABLES_H

#include <math.h>
#include <string.h>

#include "fixture/golden.h"
#include "laws/laws_impl.h"

#define PAPER_RUNS "studies/paper_runs.csv"
#define CHINCHILLA_RUNS "tests/golden/laws/chinchilla_runs.csv"

static inline golden open_answers(sl_fixture *t) { return golden_open(t, "laws/answers.txt"); }

/* A file of this text, with its path. */
static inline const char *file_of(sl_fixture *t, const char *name, const char *text) {
    sl_file *f = NULL;
    const char *path = sl_test_path(name);
    SL_MUST(t, sl_file_create(&f, path));
    SL_MUST(t, sl_file_write(f, text, strlen(text)));
    SL_MUST(t, sl_file_commit(&f));
    return path;
}

/* n runs on loss = exp(a) C^-b exp(noise z), C from 1e10 to 1e14. */
static inline sl_laws_table power_runs(sl_fixture *t, int n, double b, double noise) {
    sl_laws_table table = { 0 };
    for (int i = 0; i < n; i++) {
        sl_laws_run r = SL_LAWS_RUN_NONE;
        r.flops = 1e10 * exp(log(1e4) * i / (n - 1));
        r.loss = 100 * exp(-b * log(r.flops) + noise * sl_rng_normal(&t->rng));
        SL_MUST(t, sl_laws_table_add(&table, &t->arena, &r));
    }
    SL_MUST(t, sl_laws_table_end(&table, &t->arena));
    return table;
}

#endif

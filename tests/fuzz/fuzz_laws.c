/* Any bytes as a table of runs. If it is none there is a reason; if it is one, what is written of
 * it reads back as the same, and the fit ends with points in order, shares that are shares and
 * intervals that are not upside down. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "laws/laws.h"
#include "fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void round_trip(sl_arena *a, const sl_laws_table *t) {
    char path[64];
    sl_laws_table again;
    sl_str first = { 0 }, second = { 0 };
    sl_laws_table_csv(&first, t);
    if (sl_str_status(&first) != SL_OK) wrong("not written");
    const int fd = file_of(path, first.text, first.len);
    bool any = false;
    for (int c = 0; c < SL_LAWS_COLUMN_COUNT; c++) any |= t->has[c];
    if (any) {
        if (sl_laws_table_read(&again, a, path, NULL) != SL_OK)
            wrong("what was written is not read");
        if (again.n != t->n) wrong("rows are lost");
        sl_laws_table_csv(&second, &again);
        if (strcmp(first.text, second.text) != 0) wrong("reads back as something else");
    }
    sl_str_clear(&first);
    sl_str_clear(&second);
    close(fd);
}

static void check_estimate(sl_estimate e) {
    if (e.low > e.high) wrong("an interval is upside down");
}

static void check_fit(const sl_laws *l) {
    for (int i = 0; i < l->n_point; i++) {
        const sl_laws_point *p = &l->point[i];
        if (i > 0 && p->flops < l->point[i - 1].flops) wrong("points out of order");
        if (p->solved < 0 || p->solved > 1 || p->n < 1) wrong("no share");
        if (p->size < 0 || p->size >= l->n_size) wrong("no size");
    }
    for (int i = 1; i < l->n_frontier; i++)
        if (l->frontier[i] <= l->frontier[i - 1]) wrong("frontier out of order");
    for (int m = 0; m < SL_LAWS_METRIC_COUNT; m++)
        for (int f = 0; f < SL_LAWS_FORM_COUNT; f++) {
            check_estimate(l->law[m][f].exponent);
            check_estimate(sl_laws_at(&l->law[m][f], 1e20));
            if (l->law[m][f].known && isnan(l->law[m][f].exponent.value)) wrong("known, but NaN");
        }
    check_estimate(l->surface.E);
    if (l->surface.known && !(l->surface.fit.E >= 0)) wrong("E is negative");
    for (int i = 0; i < l->n_note; i++)
        if (!*l->note[i].text) wrong("an empty note");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char path[64];
    const int64_t blocks = sl_mem_blocks();
    const int fd = file_of(path, data, size);
    sl_arena a = { 0 };
    sl_laws_table t;
    sl_fail_restore("");
    const sl_status st = sl_laws_table_read(&t, &a, path, NULL);
    if (st != SL_OK) expect_reason(st);
    if (st == SL_OK) {
        sl_laws_options o = SL_LAWS_OPTIONS_INIT;
        sl_laws l;
        o.draws = 3;
        o.trials = 10;
        round_trip(&a, &t);
        const sl_status fit = sl_laws_fit(&l, &a, &t, &o);
        if (fit != SL_OK) expect_reason(fit);
        if (fit == SL_OK) check_fit(&l);
    }
    sl_arena_clear(&a);
    close(fd);
    if (sl_mem_blocks() != blocks) wrong("memory is lost");
    return 0;
}

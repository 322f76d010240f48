/* Any bytes as a plan. If it is one, its lists ascend, its sizes have names of their own, and the
 * study that has not begun knows its runs, each with a name of its own; if it is none there is a
 * reason with a place. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "io/io.h"
#include "study/study.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

_Noreturn static void wrong(const char *what) {
    fprintf(stderr, "%s: %s\n", what, sl_last_error());
    abort();
}

static void check_list(const sl_study_list *l, double least) {
    if (l->n < 1 || l->n > SL_STUDY_MAX_GRID) wrong("a list without values, or with too many");
    for (int i = 0; i < l->n; i++) {
        if (!isfinite(l->at[i]) || l->at[i] < least) wrong("a value that is none");
        if (i > 0 && !(l->at[i] > l->at[i - 1])) wrong("a list does not ascend");
    }
}

static void check_options(const char *options) {
    sl_json *j = NULL;
    if (sl_io_json_parse(&j, options, strlen(options)) != SL_OK ||
        sl_io_json_kind_of(j) != SL_JSON_OBJECT)
        wrong("options that are no object");
    sl_io_json_free(j);
}

static void check_plan(const sl_study_plan *p) {
    if (!*p->name || p->sizes < 1 || p->attempts < 1) wrong("no plan");
    for (int i = 0; i < p->sizes; i++) {
        const sl_study_size *s = &p->size[i];
        for (int k = 0; k < i; k++)
            if (strcmp(s->name, p->size[k].name) == 0) wrong("two sizes of one name");
        check_list(&s->batch, 1);
        check_list(&s->lr, 1e-12);
        check_list(&s->ratios, 1e-6);
        check_list(&s->sweep_seeds, 0);
        check_list(&s->scale_seeds, 0);
        check_options(s->train);
        for (int k = 0; k < SL_STUDY_SET_COUNT; k++)
            if (s->eval[k]) check_options(s->eval[k]);
    }
}

/* Of a folder that does not exist. */
static void check_study(const sl_study_plan *p) {
    sl_arena a = { 0 };
    sl_study s;
    sl_study_job *jobs;
    if (sl_study_look(&s, &a, p, "/nowhere/at/all") != SL_OK) wrong("no look");
    if (s.runs < 1 || s.complete || *s.notes) wrong("a study that has not begun");
    if (sl_study_jobs(&jobs, &a, &s, NULL) != s.runs) wrong("not every run is a job");
    for (int i = 0; i < s.runs; i++) {
        sl_str options = { 0 };
        if (i > 0 && strcmp(s.run[i].id, s.run[i - 1].id) == 0) wrong("two runs of one name");
        sl_study_train_options(&options, p, &s.run[i]);
        if (i == 0) check_options(options.text);
        sl_str_clear(&options);
    }
    sl_arena_clear(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const int64_t blocks = sl_mem_blocks();
    char path[64];
    sl_arena a = { 0 };
    sl_study_plan *p = NULL;
    const int fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size) wrong("no file");
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    sl_fail_restore("");
    const sl_status st = sl_study_plan_read(&p, &a, path, NULL, NULL);
    if (st == SL_OK) {
        check_plan(p);
        check_study(p);
    } else {
        if (st != SL_EFORMAT && st != SL_EINVAL) wrong("another status");
        if (p || sl_arena_mark(&a) != 0) wrong("a failure left something");
        if (!strstr(sl_last_error(), "line ")) wrong("no place");
    }
    sl_arena_clear(&a);
    close(fd);
    if (sl_mem_blocks() != blocks) wrong("memory is lost");
    return 0;
}

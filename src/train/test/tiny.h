/* A run that takes a moment, and what of it must not depend on how it was run. */
#ifndef SL_TRAIN_TINY_H
#define SL_TRAIN_TINY_H

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fixture/fixture.h"
#include "train/train_impl.h"

typedef struct tiny {
    sl_universe *u;
    sl_pairs *p;
    sl_train_config c;
} tiny;

static inline void tiny_begin(sl_fixture *t, tiny *x, const sl_pairs_options *given) {
    sl_universe_options u = SL_UNIVERSE_OPTIONS_INIT;
    sl_pairs_options o = sl_pairs_defaults();
    u.depth = 1;
    u.size = 0;
    SL_MUST(t, sl_universe_new(&x->u, NULL, &u, NULL));
    o.points = 4;
    o.draws = 50;
    o.test_size = 9;
    SL_MUST(t, sl_pairs_new(&x->p, x->u, given ? given : &o));
    x->c = (sl_train_config){ .train = sl_train_defaults(),
                              .model = sl_model_defaults(),
                              .optim = sl_optim_defaults(),
                              .seed = 3,
                              .pairs = x->p,
                              .config_json = "{\"width\":8,\"variables\":2}",
                              .out = sl_test_path("run") };
    x->c.model.width = 8;
    x->c.model.layers = 1;
    x->c.train.batch = 8;
    x->c.train.lanes = 4;
    x->c.train.steps = 12;
    x->c.train.log_steps = 5;
    x->c.train.valid_steps = 7;
    x->c.train.valid_pairs = 9;
    x->c.train.checkpoint_minutes = 0;
    x->c.optim.lr = 0.01;
    x->c.optim.kappa_steps = 1; // bounds within a few steps
}

static inline void tiny_end(tiny *x) {
    sl_pairs_free(x->p);
    sl_universe_free(x->u);
}

/* Removes a run's folder with all its files. */
static inline void tiny_remove(const char *path) {
    DIR *d = opendir(path);
    if (!d) return;
    for (struct dirent *e; (e = readdir(d));) {
        char name[1200];
        snprintf(name, sizeof name, "%s/%s", path, e->d_name);
        if (e->d_name[0] != '.') unlink(name);
    }
    closedir(d);
    rmdir(path);
}

static inline int tiny_files(const char *path, const char *with) {
    int n = 0;
    DIR *d = opendir(path);
    if (!d) return -1;
    for (struct dirent *e; (e = readdir(d));) n += strstr(e->d_name, with) != NULL;
    closedir(d);
    return n;
}

/* The text without members that are named after time. */
static inline void tiny_strip_time(char *text) {
    static const char *const name[] = { "\"seconds\":", "\"pairs_per_second\":" };
    for (int i = 0; i < SL_LEN(name); i++)
        for (char *at; (at = strstr(text, name[i]));) {
            char *end = at + strcspn(at, ",}");
            if (*end == ',') end++;
            memmove(at, end, strlen(end) + 1);
        }
}

/* Reads a log; sl_free it. */
static inline char *tiny_log(sl_fixture *t, const char *folder) {
    char path[600], *text;
    snprintf(path, sizeof path, "%s/log.jsonl", folder);
    SL_MUST(t, sl_file_read(&text, NULL, path, 1 << 22));
    tiny_strip_time(text);
    return text;
}

/* What a run left: weights, moments, constraints, sums, and its log but for times. */
typedef struct tiny_left {
    int64_t step;
    uint64_t weights, moments, constraints, sums, log;
} tiny_left;

static inline tiny_left tiny_look(sl_fixture *t, const sl_train_config *c) {
    sl_model *m;
    sl_tensor *tensors;
    sl_optim *o;
    sl_ckpt_loaded l;
    sl_train__tally sums;
    SL_MUST(t, sl_train__model(&m, c));
    SL_MUST(t, sl_train__tensors(&tensors, m));
    SL_MUST(t, sl_optim_new(&o, tensors, m->n_param, &c->optim, c->train.steps, 0, 1));
    const size_t bytes = (size_t)m->block * sizeof(float);
    float *weights = sl_calloc(1, bytes);
    assert_non_null(weights);
    SL_MUST(t, sl_ckpt_load(&l, c->out, m, weights, o));
    sl_str missing = { 0 };
    SL_MUST(t, sl_train__tally_read(&sums, &missing, l.progress));
    assert_int_equal(missing.len, 0);
    sums.seconds = sums.line_seconds = sums.pairs_per_second = 0;
    sl_str s = { 0 };
    sl_train__tally_write(&s, &sums);
    char *log = tiny_log(t, c->out);
    const size_t share = (size_t)(o->end - o->begin) * sizeof(float);
    tiny_left left = { .step = l.step,
                       .weights = sl_hash(weights, bytes, 0),
                       .moments = sl_hash(o->v, share, sl_hash(o->m, share, 0)),
                       .constraints = sl_hash(o->cpr, (size_t)o->n_tensor * sizeof *o->cpr, 0),
                       .sums = sl_hash(s.text, s.len, 0),
                       .log = sl_hash(log, strlen(log), 0) };
    sl_free(log);
    sl_str_clear(&s);
    sl_ckpt_loaded_clear(&l);
    sl_optim_free(o);
    sl_free(tensors);
    sl_free(weights);
    sl_model_free(m);
    return left;
}

static inline void tiny_same(sl_fixture *t, const tiny_left *a, const tiny_left *b,
                             const char *what) {
    SL_CHECK(t, a->step == b->step, "%s: step %lld, not %lld", what, (long long)a->step,
             (long long)b->step);
    SL_CHECK(t, a->weights == b->weights, "%s: other weights", what);
    SL_CHECK(t, a->moments == b->moments, "%s: other moments", what);
    SL_CHECK(t, a->constraints == b->constraints, "%s: other constraints", what);
    SL_CHECK(t, a->sums == b->sums, "%s: other sums", what);
    SL_CHECK(t, a->log == b->log, "%s: another log", what);
}

static inline void tiny_says(sl_fixture *t, sl_status st, sl_status want, const char *a,
                             const char *b) {
    SL_CHECK(t, st == want, "%s: %s", sl_status_text(st), sl_last_error());
    SL_CHECK(t, strstr(sl_last_error(), a) && strstr(sl_last_error(), b),
             "lacks \"%s\" or \"%s\": %s", a, b, sl_last_error());
}

#endif

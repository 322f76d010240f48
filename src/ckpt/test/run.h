/* What the tests of checkpoints share: a small run, a folder of checkpoints, its files. */
#ifndef SL_CKPT_TEST_RUN_H
#define SL_CKPT_TEST_RUN_H

#include "fixture/fixture.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ckpt/ckpt_impl.h"

/* ---------------------------------------------------------------- a run --------------------- */

/* The objects that a checkpoint is saved from and loaded into. The optimiser is filled by hand: any
 * bits must be restored, also those that no training produces. */
typedef struct run {
    sl_model *model;
    float *weights, *m, *v; // whole blocks
    sl_optim optim;
} run;

static inline sl_model_options small(void) {
    sl_model_options o = sl_model_defaults();
    o.width = 24; // vectors do not fill their places: there are gaps
    o.layers = 1;
    o.decoder_layers = 2;
    o.heads = 1; // not what 0 would mean
    o.dropout = 0.25;
    o.columns = 4;
    o.vocabulary = 30;
    return o;
}

/* Any bits of a finite number; 0 between tensors. rng NULL: another value than 0
 * everywhere, so that what is not filled in shows. */
static inline void fill(float *block, const sl_model *m, sl_rng *rng) {
    memset(block, rng ? 0 : 0x55, (size_t)m->block * sizeof *block);
    for (int i = 0; i < m->n_param && rng; i++) {
        for (int64_t k = 0; k < m->param[i].count; k++) {
            uint32_t bits = k == 0 ? 0x80000000 : sl_rng_u32(rng);
            if ((bits & 0x7F800000) == 0x7F800000) bits ^= 0x00800000;
            memcpy(&block[m->param[i].offset + k], &bits, sizeof bits);
        }
    }
}

static inline void refill(run *r, sl_rng *rng) {
    fill(r->weights, r->model, rng);
    fill(r->m, r->model, rng);
    fill(r->v, r->model, rng);
    memset(r->optim.cpr, 0x55, (size_t)r->optim.n_tensor * sizeof *r->optim.cpr);
    for (int i = 0; i < r->optim.n_tensor && rng; i++) {
        sl_cpr *c = &r->optim.cpr[i];
        double *number[] = { &c->lambda, &c->kappa, &c->sampled, &c->increase };
        for (int k = 0; k < SL_LEN(number); k++) {
            uint64_t bits = sl_rng_u64(rng);
            if ((bits >> 52) % 2048 == 2047) bits ^= UINT64_C(1) << 52;
            memcpy(number[k], &bits, sizeof bits);
        }
        c->set_at = (int64_t)sl_rng_u64(rng);
    }
    r->optim.t = rng ? (int64_t)sl_rng_u64(rng) : 0x55;
    r->optim.clamped = rng ? (int64_t)sl_rng_u64(rng) : 0x55;
}

static inline run make(sl_fixture *t, const sl_model_options *o, sl_rng *rng) {
    run r = { 0 };
    SL_MUST(t, sl_model_new(&r.model, o));
    const size_t n = (size_t)r.model->block;
    r.weights = sl_malloc(n, sizeof *r.weights);
    r.m = sl_malloc(n, sizeof *r.m);
    r.v = sl_malloc(n, sizeof *r.v);
    r.optim = (sl_optim){ .n_tensor = r.model->n_param, .end = (int64_t)n, .m = r.m, .v = r.v };
    r.optim.cpr = sl_calloc((size_t)r.optim.n_tensor, sizeof *r.optim.cpr);
    assert_true(r.weights && r.m && r.v && r.optim.cpr);
    refill(&r, rng);
    return r;
}

static inline void drop(run *r) {
    sl_model_free(r->model);
    sl_free(r->weights);
    sl_free(r->m);
    sl_free(r->v);
    sl_free(r->optim.cpr);
}

static inline bool same_bits(const run *a, const run *b) {
    const size_t n = (size_t)a->model->block * sizeof(float);
    return memcmp(a->weights, b->weights, n) == 0 && memcmp(a->m, b->m, n) == 0 &&
           memcmp(a->v, b->v, n) == 0 && a->optim.t == b->optim.t &&
           a->optim.clamped == b->optim.clamped &&
           memcmp(a->optim.cpr, b->optim.cpr, (size_t)a->optim.n_tensor * sizeof *a->optim.cpr) ==
               0;
}

static sl_str config; // last result of config_with

/* The configuration of a model, as training writes it among other things. The member of this name,
 * if one is given, has this value instead, or is left out. */
static const char *config_with(const sl_model_options *o, const char *name, const char *value) {
    sl_str_clear(&config);
    sl_io_json_open(&config, NULL, '{');
    sl_io_json_add_text(&config, "seed", "something \"else\"");
    const double variables = (double)(o->columns - 1);
    for (int i = 0; i <= sl_model_table.n; i++) {
        const sl_option *row = i < sl_model_table.n ? &sl_model_table.row[i] : NULL;
        const char *option = row ? row->name : "variables";
        const double number = row ? sl_option_number(o, row) : variables;
        if (name && strcmp(name, option) == 0) {
            if (value) sl_str_addf(&config, ",\"%s\":%s", option, value);
        } else if (row && row->kind == SL_KIND_REAL) {
            sl_io_json_add_real(&config, option, number);
        } else {
            sl_io_json_add_int(&config, option, (int64_t)number);
        }
    }
    sl_io_json_close(&config, '}');
    return sl_str_text(&config);
}

static const char *config_of(const run *r) { return config_with(&r->model->options, NULL, NULL); }

static inline void config_clear(void) { sl_str_clear(&config); }

/* ---------------------------------------------------------------- the folder ---------------- */

static const char *folder(void) {
    static char path[512];
    if (!path[0]) snprintf(path, sizeof path, "%s", sl_test_path("."));
    return path;
}

static inline void empty_folder(void) {
    DIR *d = opendir(folder());
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));)
        if (e->d_name[0] != '.') unlinkat(dirfd(d), e->d_name, 0);
    closedir(d);
}

static const char *in_folder(const char *name) { return sl_test_path(name); }

static inline bool there(const char *name) { return access(in_folder(name), F_OK) == 0; }

static inline int files(void) {
    int n = 0;
    DIR *d = opendir(folder());
    for (struct dirent *e; (e = readdir(d));) n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

static inline void put(const char *name, const void *bytes, size_t n) {
    sl_test_write(in_folder(name), bytes, n);
}

static inline void copy(const char *to, const char *from) {
    char *bytes = NULL;
    size_t n;
    assert_int_equal(sl_file_read(&bytes, &n, in_folder(from), 1 << 24), SL_OK);
    put(to, bytes, n);
    sl_free(bytes);
}

/* One bit of a file; counted from the end if negative. */
static inline void flip(const char *name, long at, int bit) {
    FILE *f = fopen(in_folder(name), "r+b");
    assert_non_null(f);
    assert_int_equal(fseek(f, at, at < 0 ? SEEK_END : SEEK_SET), 0);
    const int byte = fgetc(f) ^ 1 << bit;
    assert_int_equal(fseek(f, -1, SEEK_CUR), 0);
    assert_int_equal(fputc(byte, f), byte);
    assert_int_equal(fclose(f), 0);
}

static inline long size_of(const char *name) {
    struct stat s;
    assert_int_equal(stat(in_folder(name), &s), 0);
    return (long)s.st_size;
}

static inline sl_status save_as(const run *r, int64_t step, const char *text) {
    const sl_ckpt_meta meta = { step, text, "{\"loss\":[1,2]}", "vvv", "uuu", NULL, NULL };
    return sl_ckpt_save(folder(), r->model, r->weights, &r->optim, r->m, r->v, &meta);
}

static inline sl_status save(const run *r, int64_t step) {
    sl_status st = save_as(r, step, config_of(r));
    config_clear();
    return st;
}

static inline sl_status load(run *r, sl_ckpt_loaded *l) {
    return sl_ckpt_load(l, folder(), r->model, r->weights, &r->optim);
}

static const char NEWEST_MODEL[] = "model-00000020.safetensors";
static const char NEWEST_STATE[] = "state-00000020.safetensors";

/* Two checkpoints: `a` at step 10, `b` at step 20. */
static inline void two(sl_fixture *t, const run *a, const run *b) {
    empty_folder();
    SL_MUST(t, save(a, 10));
    SL_MUST(t, save(b, 20));
}

/* Opening the file fails, and the message has the reason. */
static inline void not_a_model(sl_fixture *t, const char *name, const char *reason) {
    sl_model *m = NULL;
    float *weights = NULL;
    sl_ckpt_loaded l = { .step = -5 };
    sl_status st = sl_ckpt_open_model(&m, &weights, &l, in_folder(name));
    SL_CHECK(t, st == SL_EFORMAT && !m && !weights && l.step == -5, "\"%s\" expected: %s", reason,
             sl_status_text(st));
    SL_CHECK(t, strstr(sl_last_error(), reason) && strstr(sl_last_error(), name),
             "\"%s\" expected: %s", reason, sl_last_error());
}

#endif

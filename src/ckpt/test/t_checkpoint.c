/* Checkpoints: saved values load to the bit, damage is detected and the older checkpoint used, and
 * a failed save leaves earlier checkpoints intact. */
#include "fixture/fixture.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ckpt/ckpt_impl.h"
#include "nn/nn.h"

/* ---------------------------------------------------------------- a run --------------------- */

/* The objects that a checkpoint is saved from and loaded into. The optimiser is filled by hand: any
 * bits must be restored, also those that no training produces. */
typedef struct run {
    sl_model *model;
    float *weights, *m, *v; // whole blocks
    sl_optim optim;
} run;

static sl_model_options small(void) {
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
static void fill(float *block, const sl_model *m, sl_rng *rng) {
    memset(block, rng ? 0 : 0x55, (size_t)m->block * sizeof *block);
    for (int i = 0; i < m->n_param && rng; i++) {
        for (int64_t k = 0; k < m->param[i].count; k++) {
            uint32_t bits = k == 0 ? 0x80000000 : sl_rng_u32(rng);
            if ((bits & 0x7F800000) == 0x7F800000) bits ^= 0x00800000;
            memcpy(&block[m->param[i].offset + k], &bits, sizeof bits);
        }
    }
}

static void refill(run *r, sl_rng *rng) {
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

static run make(sl_fixture *t, const sl_model_options *o, sl_rng *rng) {
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

static void drop(run *r) {
    sl_model_free(r->model);
    sl_free(r->weights);
    sl_free(r->m);
    sl_free(r->v);
    sl_free(r->optim.cpr);
}

static bool same_bits(const run *a, const run *b) {
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

static void config_clear(void) { sl_str_clear(&config); }

/* ---------------------------------------------------------------- the folder ---------------- */

static const char *folder(void) {
    static char path[512];
    if (!path[0]) snprintf(path, sizeof path, "%s", sl_test_path("."));
    return path;
}

static void empty_folder(void) {
    DIR *d = opendir(folder());
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));)
        if (e->d_name[0] != '.') unlinkat(dirfd(d), e->d_name, 0);
    closedir(d);
}

static const char *in_folder(const char *name) { return sl_test_path(name); }

static bool there(const char *name) { return access(in_folder(name), F_OK) == 0; }

static int files(void) {
    int n = 0;
    DIR *d = opendir(folder());
    for (struct dirent *e; (e = readdir(d));) n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

static void put(const char *name, const void *bytes, size_t n) {
    FILE *f = fopen(in_folder(name), "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static void copy(const char *to, const char *from) {
    char *bytes = NULL;
    size_t n;
    assert_int_equal(sl_file_read(&bytes, &n, in_folder(from), 1 << 24), SL_OK);
    put(to, bytes, n);
    sl_free(bytes);
}

/* One bit of a file; counted from the end if negative. */
static void flip(const char *name, long at, int bit) {
    FILE *f = fopen(in_folder(name), "r+b");
    assert_non_null(f);
    assert_int_equal(fseek(f, at, at < 0 ? SEEK_END : SEEK_SET), 0);
    const int byte = fgetc(f) ^ 1 << bit;
    assert_int_equal(fseek(f, -1, SEEK_CUR), 0);
    assert_int_equal(fputc(byte, f), byte);
    assert_int_equal(fclose(f), 0);
}

static long size_of(const char *name) {
    struct stat s;
    assert_int_equal(stat(in_folder(name), &s), 0);
    return (long)s.st_size;
}

static sl_status save_as(const run *r, int64_t step, const char *text) {
    const sl_ckpt_meta meta = { step, text, "{\"loss\":[1,2]}", "vvv", "uuu", NULL, NULL };
    return sl_ckpt_save(folder(), r->model, r->weights, &r->optim, r->m, r->v, &meta);
}

static sl_status save(const run *r, int64_t step) {
    sl_status st = save_as(r, step, config_of(r));
    config_clear();
    return st;
}

static sl_status load(run *r, sl_ckpt_loaded *l) {
    return sl_ckpt_load(l, folder(), r->model, r->weights, &r->optim);
}

/* ---------------------------------------------------------------- round trips --------------- */

static void saved_values_load_to_the_bit(void **state) {
    sl_fixture *t = *state;
    const sl_model_options o = small();
    sl_ckpt_loaded l;
    empty_folder();
    run a = make(t, &o, &t->rng), b = make(t, &o, NULL);
    SL_MUST(t, save(&a, 1200));
    SL_MUST(t, load(&b, &l));
    assert_true(same_bits(&a, &b));
    assert_int_equal(l.step, 1200);
    assert_string_equal(l.config, config_of(&a));
    assert_string_equal(l.progress, "{\"loss\":[1,2]}");
    assert_string_equal(l.vocabulary, "vvv");
    assert_string_equal(l.universe, "uuu");
    assert_string_equal(l.level, sl_nn_isa());
    assert_string_equal(l.libraries, sl_nn_libraries());
    assert_null(l.warning);
    assert_int_equal(sl_ckpt_newest(folder()), 1200);
    assert_true(there("model-00001200.safetensors") && there("state-00001200.safetensors"));
    sl_ckpt_loaded_clear(&l);
    sl_ckpt_loaded_clear(&l);
    config_clear();
    drop(&a);
    drop(&b);
}

/* Each rank reads the whole of the weights and its own part of the moments, wherever that begins.
 */
static void a_rank_reads_its_share(void **state) {
    sl_fixture *t = *state;
    const sl_model_options o = small();
    empty_folder();
    run a = make(t, &o, &t->rng), b = make(t, &o, NULL);
    SL_MUST(t, save(&a, 1));
    const int64_t block = a.model->block;
    for (int i = 0; i < sl_test_iters(t, 10); i++) {
        sl_ckpt_loaded l;
        int64_t begin = sl_rng_below(&t->rng, (uint32_t)block + 1);
        int64_t end = sl_rng_below(&t->rng, (uint32_t)block + 1);
        if (begin > end) {
            const int64_t swap = begin;
            begin = end;
            end = swap;
        }
        refill(&b, NULL);
        b.optim.begin = begin;
        b.optim.end = end;
        // exactly as long as its share, so that a sanitizer sees what goes past it
        const size_t n = (size_t)(end - begin) * sizeof(float);
        b.optim.m = sl_malloc(n, 1);
        b.optim.v = sl_malloc(n, 1);
        SL_MUST(t, load(&b, &l));
        SL_CHECK(t,
                 memcmp(b.optim.m, a.m + begin, n) == 0 && memcmp(b.optim.v, a.v + begin, n) == 0,
                 "%lld to %lld of %lld", (long long)begin, (long long)end, (long long)block);
        assert_memory_equal(a.weights, b.weights, (size_t)block * sizeof(float));
        sl_ckpt_loaded_clear(&l);
        sl_free(b.optim.m);
        sl_free(b.optim.v);
    }
    drop(&a);
    drop(&b);
}

static void a_weights_file_is_a_model(void **state) {
    sl_fixture *t = *state;
    const sl_model_options o = small();
    sl_ckpt_loaded l;
    sl_model *m = NULL;
    float *weights = NULL;
    empty_folder();
    run a = make(t, &o, &t->rng);
    SL_MUST(t, save(&a, 7));
    copy("renamed", "model-00000007.safetensors");
    SL_MUST(t, sl_ckpt_open_model(&m, &weights, &l, in_folder("renamed")));
    for (const sl_option *r = sl_model_table.row; r < sl_model_table.row + sl_model_table.n; r++)
        SL_CHECK(t, sl_option_number(&m->options, r) == sl_option_number(&o, r), "%s", r->name);
    assert_int_equal(m->options.columns, 4);
    assert_int_equal(m->options.vocabulary, 30);
    assert_memory_equal(weights, a.weights, (size_t)m->block * sizeof *weights);
    assert_int_equal(l.step, 7);
    assert_string_equal(l.config, config_of(&a));
    assert_string_equal(l.universe, "uuu");
    assert_null(l.progress);
    sl_ckpt_loaded_clear(&l);
    sl_free(weights);
    sl_model_free(m);
    config_clear();
    drop(&a);
}

/* Texts that are not given are empty ones. */
static void a_checkpoint_needs_few_texts(void **state) {
    sl_fixture *t = *state;
    const sl_model_options o = small();
    const sl_ckpt_meta meta = { .step = 0, .config = "{}" };
    sl_ckpt_loaded l;
    empty_folder();
    run a = make(t, &o, &t->rng), b = make(t, &o, NULL);
    SL_MUST(t, sl_ckpt_save(folder(), a.model, a.weights, &a.optim, a.m, a.v, &meta));
    SL_MUST(t, load(&b, &l));
    assert_true(same_bits(&a, &b));
    assert_string_equal(l.progress, "");
    assert_string_equal(l.vocabulary, "");
    assert_string_equal(l.universe, "");
    sl_ckpt_loaded_clear(&l);
    drop(&a);
    drop(&b);
}

/* Provenance in the metadata of both files. */
static void metadata_hold_provenance(void **state) {
    sl_fixture *t = *state;
    static const char *const names[] = { "model-00000003.safetensors",
                                         "state-00000003.safetensors" };
    const sl_model_options o = small();
    empty_folder();
    run a = make(t, &o, &t->rng);
    SL_MUST(t, save(&a, 3));
    for (int i = 0; i < SL_LEN(names); i++) {
        sl_st_file *f = NULL;
        SL_MUST(t, sl_ckpt_st_open(&f, in_folder(names[i])));
        assert_string_equal(sl_ckpt_st_metadata(f, "format"), "pt");
        assert_string_equal(sl_ckpt_st_metadata(f, "version"), SL_VERSION);
        assert_string_equal(sl_ckpt_st_metadata(f, "revision"), sl_ckpt_revision());
        assert_string_equal(sl_ckpt_st_metadata(f, "kind"), i ? "state" : "model");
        assert_string_equal(sl_ckpt_st_metadata(f, "step"), "3");
        for (int k = 0; k < sl_ckpt_st_count(f); k++) { // all numbers are aligned in a mapped file
            const sl_st_tensor *s = sl_ckpt_st_at(f, k);
            SL_CHECK(t, s->begin % (s->dtype == SL_F32 ? 4 : 8) == 0, "%s", s->name);
        }
        sl_ckpt_st_close(f);
    }
    assert_true(sl_ckpt_revision()[0] != 0); // "unknown" without git
    drop(&a);
}

/* ---------------------------------------------------------------- which files stay ---------- */

static void the_last_two_are_kept(void **state) {
    sl_fixture *t = *state;
    static const char *const others[] = {
        "model-1.safetensors",
        "model-000000001.safetensors",
        "model-00000001.safetensors~",
        "model-00000001.safetensors.tmp-",
        "model--0000001.safetensors",
        "model-0000000x.safetensors",
        "model-00000001.safetensors.tmp-12a",
        "state-00000001.txt",
        "model-+0000001.safetensors",
        "state-99999999999999999999.safetensors",
        "Model-00000001.safetensors",
        "notes",
    };
    char left[3][64]; // by processes that are gone
    const int process = (int)sl_test_gone();
    snprintf(left[0], sizeof left[0], "model-00000005.safetensors.tmp-%d", process);
    snprintf(left[1], sizeof left[1], "state-00000009.safetensors.tmp-%d-2", process);
    snprintf(left[2], sizeof left[2], "model-123456789012.safetensors.tmp-%d", process);
    const char *const gone[] = {
        left[0],
        left[1],
        left[2],
        "state-00000001.safetensors", // a save that was killed behind its first file
        "model-00000000.safetensors", // half of a checkpoint
    };
    const sl_model_options o = small();
    empty_folder();
    assert_int_equal(sl_ckpt_newest(folder()), -1);
    for (int i = 0; i < SL_LEN(others); i++) put(others[i], "x", 1);
    for (int i = 0; i < SL_LEN(gone); i++) put(gone[i], "x", 1);
    run a = make(t, &o, &t->rng);

    SL_MUST(t, save(&a, 2));
    for (int i = 0; i < SL_LEN(gone); i++) SL_CHECK(t, !there(gone[i]), "%s stays", gone[i]);
    SL_MUST(t, save(&a, 3));
    assert_true(there("model-00000002.safetensors") && there("state-00000002.safetensors"));
    SL_MUST(t, save(&a, 1234567890123));
    assert_false(there("model-00000002.safetensors") || there("state-00000002.safetensors"));
    assert_true(there("model-00000003.safetensors") && there("state-00000003.safetensors"));
    assert_true(there("model-1234567890123.safetensors"));
    assert_int_equal(sl_ckpt_newest(folder()), 1234567890123);
    for (int i = 0; i < SL_LEN(others); i++) SL_CHECK(t, there(others[i]), "%s is gone", others[i]);
    assert_int_equal(files(), SL_LEN(others) + 4);
    drop(&a);
}

/* A run that went on from an older checkpoint must not lose what it saves to damaged newer ones. */
static void what_was_just_saved_stays(void **state) {
    sl_fixture *t = *state;
    const sl_model_options o = small();
    empty_folder();
    run a = make(t, &o, &t->rng);
    for (int step = 100; step <= 110; step += 10) SL_MUST(t, save(&a, step));
    for (int step = 10; step <= 40; step += 10) SL_MUST(t, save(&a, step));
    assert_true(there("model-00000040.safetensors") && there("model-00000030.safetensors"));
    assert_false(there("model-00000020.safetensors"));
    assert_true(there("model-00000100.safetensors") && there("model-00000110.safetensors"));
    // a model without its state does not count as one of the two
    unlink(in_folder("state-00000040.safetensors"));
    SL_MUST(t, save(&a, 50));
    assert_true(there("model-00000030.safetensors") && there("state-00000030.safetensors"));
    // the same step once more
    SL_MUST(t, save(&a, 50));
    assert_true(there("model-00000030.safetensors") && there("model-00000050.safetensors"));
    drop(&a);
}

/* ---------------------------------------------------------------- damage -------------------- */

static const char NEWEST_MODEL[] = "model-00000020.safetensors";
static const char NEWEST_STATE[] = "state-00000020.safetensors";

/* Two checkpoints: `a` at step 10, `b` at step 20. */
static void two(sl_fixture *t, const run *a, const run *b) {
    empty_folder();
    SL_MUST(t, save(a, 10));
    SL_MUST(t, save(b, 20));
}

typedef struct damage {
    const char *what;   // shown when the test fails
    const char *reason; // part of the warning
    void (*make)(const run *other);
} damage;

static void flip_model(const run *other) { (void)other, flip(NEWEST_MODEL, -9, 3); }
static void flip_state(const run *other) { (void)other, flip(NEWEST_STATE, -9, 3); }
static void flip_config(const run *other) { (void)other, flip(NEWEST_MODEL, 40, 0); }
static void cut_model(const run *other) {
    (void)other;
    assert_int_equal(truncate(in_folder(NEWEST_MODEL), size_of(NEWEST_MODEL) - 1), 0);
}
static void cut_state(const run *other) {
    (void)other;
    assert_int_equal(truncate(in_folder(NEWEST_STATE), 0), 0);
}
static void lose_state(const run *other) { (void)other, unlink(in_folder(NEWEST_STATE)); }
static void take_older_model(const run *other) {
    (void)other;
    copy(NEWEST_MODEL, "model-00000010.safetensors");
}
static void take_older_state(const run *other) {
    (void)other;
    copy(NEWEST_STATE, "state-00000010.safetensors");
}
static void exchange(const run *other) {
    (void)other;
    copy("kept", NEWEST_MODEL);
    copy(NEWEST_MODEL, NEWEST_STATE);
    copy(NEWEST_STATE, "kept");
}
/* A state of the same step from elsewhere. */
static void foreign_state(const run *other, const char *text) {
    copy("kept", NEWEST_MODEL);
    copy("kept10m", "model-00000010.safetensors");
    copy("kept10s", "state-00000010.safetensors");
    assert_int_equal(save_as(other, 20, text), SL_OK);
    copy(NEWEST_MODEL, "kept");
    copy("model-00000010.safetensors", "kept10m");
    copy("state-00000010.safetensors", "kept10s");
}
static void other_weights(const run *other) { foreign_state(other, config_of(other)); }
static void other_config(const run *other) { foreign_state(other, "{}"); }
static void no_tensors(const run *other) {
    (void)other;
    static const char file[] = "\x08\0\0\0\0\0\0\0{}      ";
    put(NEWEST_MODEL, file, 16);
}
static void make_folder(const run *other) {
    (void)other;
    unlink(in_folder(NEWEST_MODEL));
    assert_int_equal(mkdir(in_folder(NEWEST_MODEL), 0700), 0);
}

static void a_damaged_checkpoint_is_skipped(void **state) {
    sl_fixture *t = *state;
    static const damage list[] = {
        { "a bit of the model", "model-00000020.safetensors: damaged: the data", flip_model },
        { "a bit of the state", "state-00000020.safetensors: damaged: the data", flip_state },
        { "a bit of a text", "model-00000020.safetensors: damaged: the header", flip_config },
        { "the end of the model", "model-00000020.safetensors: truncated: ", cut_model },
        { "all of the state", "no safetensors file: it has 0 bytes", cut_state },
        { "no state", "state-00000020.safetensors: No such file", lose_state },
        { "a model of another step", "model-00000020.safetensors: it is of step 10",
          take_older_model },
        { "a state of another step", "state-00000020.safetensors: it is of step 10",
          take_older_state },
        { "one for the other", "its kind is \"state\", not \"model\"", exchange },
        { "other weights", "it belongs to other weights", other_weights },
        { "another run", "it is of another run", other_config },
        { "somebody else's file",
          "no symlaw model: its metadata lack symlaw_format, kind, step, config", no_tensors },
        { "a folder", "it is a folder", make_folder },
    };
    const sl_model_options o = small();
    run a = make(t, &o, &t->rng), b = make(t, &o, &t->rng), other = make(t, &o, &t->rng);
    run got = make(t, &o, NULL);
    for (int i = 0; i < SL_LEN(list); i++) {
        sl_ckpt_loaded l;
        two(t, &a, &b);
        list[i].make(&other);
        config_clear();
        refill(&got, NULL);
        SL_MUST(t, load(&got, &l));
        SL_CHECK(t, l.step == 10 && same_bits(&got, &a), "%s: step %lld", list[i].what,
                 (long long)l.step);
        SL_CHECK(t,
                 l.warning && strstr(l.warning, list[i].reason) &&
                     strstr(l.warning, "; continued from step 10"),
                 "%s: %s", list[i].what, l.warning ? l.warning : "no warning");
        sl_ckpt_loaded_clear(&l);
    }
    assert_int_equal(rmdir(in_folder(NEWEST_MODEL)), 0);
    drop(&a);
    drop(&b);
    drop(&other);
    drop(&got);
}

/* After any change of some bytes of one file, one of the two checkpoints is loaded completely. */
static void damage_is_always_detected(void **state) {
    sl_fixture *t = *state;
    const sl_model_options o = small();
    run a = make(t, &o, &t->rng), b = make(t, &o, &t->rng), got = make(t, &o, NULL);
    two(t, &a, &b);
    copy("kept-model", NEWEST_MODEL);
    copy("kept-state", NEWEST_STATE);
    int newest = 0;
    for (int i = 0; i < sl_test_iters(t, 60); i++) {
        sl_ckpt_loaded l;
        const char *name = i % 2 ? NEWEST_MODEL : NEWEST_STATE;
        const long at = (long)sl_rng_below(&t->rng, (uint32_t)size_of(name));
        const int bit = (int)sl_rng_below(&t->rng, 8);
        if (i % 5 == 0)
            assert_int_equal(truncate(in_folder(name), at), 0);
        else
            flip(name, at, bit);
        refill(&got, NULL);
        SL_MUST(t, load(&got, &l));
        SL_CHECK(t, same_bits(&got, l.step == 20 ? &b : &a), "%s, byte %ld, bit %d", name, at, bit);
        SL_CHECK(t, (l.step == 20) == !l.warning, "%s, byte %ld, bit %d", name, at, bit);
        newest += l.step == 20;
        sl_ckpt_loaded_clear(&l);
        copy(name, i % 2 ? "kept-model" : "kept-state");
    }
    SL_CHECK(t, newest <= 2, "%d kinds of damage are harmless", newest);
    drop(&a);
    drop(&b);
    drop(&got);
}

static void without_a_whole_one_the_newest_is_named(void **state) {
    sl_fixture *t = *state;
    const sl_model_options o = small();
    sl_ckpt_loaded l;
    run a = make(t, &o, &t->rng);
    empty_folder();
    assert_int_equal(load(&a, &l), SL_EINVAL);
    SL_CHECK(t, strstr(sl_last_error(), "no checkpoint in"), "%s", sl_last_error());
    assert_int_equal(sl_ckpt_load(&l, "/nowhere", a.model, a.weights, &a.optim), SL_EINVAL);
    assert_int_equal(sl_ckpt_newest("/nowhere"), -1);

    two(t, &a, &a);
    flip_model(NULL);
    assert_int_equal(truncate(in_folder("model-00000010.safetensors"), 3), 0);
    assert_int_equal(load(&a, &l), SL_EFORMAT);
    SL_CHECK(t, strstr(sl_last_error(), "model-00000020.safetensors: damaged"), "%s",
             sl_last_error());
    assert_true(!l.config && !l.warning && !l.progress);
    drop(&a);
}

/* A model of other shapes, fewer or more tensors. */
static void a_checkpoint_of_another_model_is_refused(void **state) {
    sl_fixture *t = *state;
    sl_model_options o = small();
    sl_ckpt_loaded l;
    run a = make(t, &o, &t->rng);
    empty_folder();
    SL_MUST(t, save(&a, 10));
    const struct {
        int64_t width, layers, decoder_layers;
        const char *reason;
    } rows[] = {
        { 32, 1, 2,
          "tensor \"cells.mantissa.weight\" is F32 (24, 1), where the model needs F32"
          " (32, 1)" },
        { 24, 2, 2, "no tensor \"encoder.1.norm1.weight\"" },
        { 24, 1, 1, "tensor \"decoder.1.norm1.weight\" is none of this model" },
    };
    for (int i = 0; i < SL_LEN(rows); i++) {
        o.width = rows[i].width;
        o.layers = rows[i].layers;
        o.decoder_layers = rows[i].decoder_layers;
        run b = make(t, &o, NULL);
        assert_int_equal(load(&b, &l), SL_EFORMAT);
        SL_CHECK(t, strstr(sl_last_error(), rows[i].reason), "%s", sl_last_error());
        SL_CHECK(t, b.optim.t == 0x55 && b.weights[0] == b.m[1], "something was changed");
        drop(&b);
    }
    drop(&a);
}

/* States that lack something, or have too much, whatever their hashes say. */
static void a_state_has_all_its_tensors(void **state) {
    sl_fixture *t = *state;
    const sl_model_options o = small();
    sl_ckpt_loaded l;
    run a = make(t, &o, &t->rng), b = make(t, &o, NULL);
    empty_folder();
    SL_MUST(t, save(&a, 10));
    sl_st_file *f = NULL;
    SL_MUST(t, sl_ckpt_st_open(&f, in_folder("state-00000010.safetensors")));
    const int n = sl_ckpt_st_count(f);
    assert_int_equal(n, 4 + 2 * a.model->n_param);
    static const char *const names[] = { "kind",  "step",      "config",   "vocabulary", "universe",
                                         "level", "libraries", "progress", "model_hash" };
    sl_st_text text[SL_LEN(names)];
    for (int i = 0; i < SL_LEN(names); i++)
        text[i] = (sl_st_text){ names[i], sl_ckpt_st_metadata(f, names[i]) };
    sl_st_tensor *list = sl_malloc((size_t)n + 1, sizeof *list);
    for (int i = 0; i < n; i++) {
        list[i] = *sl_ckpt_st_at(f, i);
        list[i].data = a.weights; // any numbers will do
    }
    for (int trial = 0; trial < 18; trial++) {
        sl_st_tensor *of = &list[trial % 6], one = *of;
        const char *reason = "where the model needs";
        int count = n;
        if (trial < 6) { // gone
            *of = list[n - 1];
            count = n - 1;
            reason = "no tensor";
        } else if (trial < 12) { // a dimension more
            of->dims++;
            of->shape[one.dims] = 1;
        } else if (one.dims > 0) { // one less
            of->dims--;
        } else { // of other numbers
            of->dtype = SL_F64;
        }
        SL_MUST(t, sl_ckpt_st_write(in_folder("state-00000010.safetensors"), list, count, text,
                                    SL_LEN(text)));
        assert_int_equal(load(&b, &l), SL_EFORMAT);
        SL_CHECK(t, strstr(sl_last_error(), reason) && strstr(sl_last_error(), one.name), "%s: %s",
                 one.name, sl_last_error());
        *of = one;
    }
    list[n] = (sl_st_tensor){ .name = "more", .dtype = SL_F32, .data = a.weights };
    SL_MUST(t, sl_ckpt_st_write(in_folder("state-00000010.safetensors"), list, n + 1, text,
                                SL_LEN(text)));
    assert_int_equal(load(&b, &l), SL_EFORMAT);
    for (int i = 0; i < SL_LEN(text); i++) { // a text less
        sl_st_text less[SL_LEN(text)];
        memcpy(less, text, sizeof less);
        less[i] = text[0];
        SL_MUST(t, sl_ckpt_st_write(in_folder("state-00000010.safetensors"), list, n, less + 1,
                                    SL_LEN(text) - 1));
        if (strcmp(names[i], "level") == 0 || strcmp(names[i], "libraries") == 0) {
            SL_MUST(t, load(&b, &l)); // where it is from need not be known
            assert_string_equal(i == 5 ? l.level : l.libraries, "");
            sl_ckpt_loaded_clear(&l);
            continue;
        }
        assert_int_equal(load(&b, &l), SL_EFORMAT);
        // of what both files must say alike, the other half is there
        SL_CHECK(t, strstr(sl_last_error(), i == 3 || i == 4 ? "another run" : names[i]), "%s: %s",
                 names[i], sl_last_error());
    }
    SL_MUST(t,
            sl_ckpt_st_write(in_folder("state-00000010.safetensors"), list, n, text, SL_LEN(text)));
    SL_MUST(t, load(&b, &l)); // with all of them it is one
    sl_ckpt_loaded_clear(&l);
    sl_free(list);
    sl_ckpt_st_close(f);
    drop(&a);
    drop(&b);
}

/* Both files of an existing checkpoint, with the numbers of r, without the checks of sl_ckpt_save.
 */
static void write_unchecked(sl_fixture *t, const run *r, int64_t step) {
    char name[40], hash[33] = "";
    for (int k = 0; k < 2; k++) {
        sl_st_file *f = NULL;
        snprintf(name, sizeof name, "%s-%08lld.safetensors", k ? "state" : "model",
                 (long long)step);
        SL_MUST(t, sl_ckpt_st_open(&f, in_folder(name)));
        const int n = sl_ckpt_st_count(f);
        sl_st_tensor *list = sl_malloc((size_t)n, sizeof *list);
        void *zeros = sl_calloc((size_t)n * 4, sizeof(double));
        for (int i = 0; i < n; i++) {
            list[i] = *sl_ckpt_st_at(f, i);
            const char *bare = list[i].name + (k && i >= 4 ? 2 : 0);
            const int at = sl_model_find(r->model, bare);
            const float *block = !k ? r->weights : list[i].name[0] == 'm' ? r->m : r->v;
            list[i].data = at < 0 ? zeros : (const void *)(block + r->model->param[at].offset);
        }
        static const char *const names[] = { "kind",     "step",  "config",    "vocabulary",
                                             "universe", "level", "libraries", "progress" };
        sl_st_text text[SL_LEN(names) + 1];
        int texts = 0;
        for (int i = 0; i < SL_LEN(names) - !k; i++)
            text[texts++] = (sl_st_text){ names[i], sl_ckpt_st_metadata(f, names[i]) };
        if (k) text[texts++] = (sl_st_text){ "model_hash", hash };
        SL_MUST(t, sl_ckpt_st_write(in_folder(name), list, n, text, texts));
        sl_ckpt_st_close(f);
        SL_MUST(t, sl_ckpt_st_open(&f, in_folder(name)));
        snprintf(hash, sizeof hash, "%s", sl_ckpt_st_metadata(f, "data_hash"));
        sl_ckpt_st_close(f);
        sl_free(zeros);
        sl_free(list);
    }
}

/* ---------------------------------------------------------------- opening a model ----------- */

static void not_a_model(sl_fixture *t, const char *name, const char *reason) {
    sl_model *m = NULL;
    float *weights = NULL;
    sl_ckpt_loaded l = { .step = -5 };
    sl_status st = sl_ckpt_open_model(&m, &weights, &l, in_folder(name));
    SL_CHECK(t, st == SL_EFORMAT && !m && !weights && l.step == -5, "\"%s\" expected: %s", reason,
             sl_status_text(st));
    SL_CHECK(t, strstr(sl_last_error(), reason) && strstr(sl_last_error(), name),
             "\"%s\" expected: %s", reason, sl_last_error());
}

static void a_model_needs_its_configuration(void **state) {
    sl_fixture *t = *state;
    static const struct {
        const char *name, *value, *reason;
    } rows[] = {
        { "width", NULL, "its configuration lacks \"width\"" },
        { "layers", NULL, "its configuration lacks \"layers\"" },
        { "decoder-layers", NULL, "its configuration lacks \"decoder-layers\"" },
        { "heads", NULL, "its configuration lacks \"heads\"" },
        { "variables", NULL, "its configuration lacks \"variables\"" },
        { "heads", "\"1\"", "\"heads\" of its config is a text, not a whole number" },
        { "heads", "1.0", "\"heads\" of its config is a number, not a whole number" },
        { "dropout", "null", "\"dropout\" of its config is null, not a number" },
        { "heads", "2", "2 heads cannot share a width of 24" },
        { "width", "17", "width is 17" },
        { "width", "-8", "width is -8" },
        { "width", "9223372036854775807", "width is" },
        { "variables", "9223372036854775807", "has 9223372036854775807 variables" },
        { "variables", "-1", "has -1 variables" },
        { "width", "32", "is F32 (24, 1), where the model needs F32 (32, 1)" },
        { "layers", "2", "no tensor \"encoder.1.norm1.weight\"" },
        { "decoder-layers", "1", "tensor \"decoder.1.norm1.weight\" is none of this model" },
    };
    const sl_model_options o = small();
    run a = make(t, &o, &t->rng);
    empty_folder();
    for (int i = 0; i < SL_LEN(rows); i++) {
        SL_MUST(t, save_as(&a, 1, config_with(&o, rows[i].name, rows[i].value)));
        not_a_model(t, "model-00000001.safetensors", rows[i].reason);
    }
    config_clear();
    SL_MUST(t, save_as(&a, 1, "{"));
    not_a_model(t, "model-00000001.safetensors", "its config: JSON, line 1");
    SL_MUST(t, save_as(&a, 1, "[3]"));
    not_a_model(t, "model-00000001.safetensors", "its config is an array, not an object");
    drop(&a);
}

/* A configuration from before an option existed, and of a version to come. */
static void what_a_configuration_lacks_has_its_default(void **state) {
    sl_fixture *t = *state;
    static const char *const lacking[] = { "dropout", "attention-dropout", "norm-eps",
                                           "init-scale" };
    const sl_model_options o = small(), preset = sl_model_defaults();
    run a = make(t, &o, &t->rng);
    empty_folder();
    for (int i = 0; i < SL_LEN(lacking); i++) {
        sl_model *m;
        float *weights;
        sl_ckpt_loaded l;
        SL_MUST(t, save_as(&a, 1, config_with(&o, lacking[i], NULL)));
        SL_MUST(t, sl_ckpt_open_model(&m, &weights, &l, in_folder("model-00000001.safetensors")));
        const double got[] = { m->options.dropout, m->options.attention_dropout,
                               m->options.norm_eps, m->options.init_scale };
        const double want[] = { preset.dropout, preset.attention_dropout, preset.norm_eps,
                                preset.init_scale };
        assert_true(got[i] == want[i]);
        SL_CHECK(t, l.missing && strstr(l.missing, lacking[i]), "%s", lacking[i]);
        sl_ckpt_loaded_clear(&l);
        sl_free(weights);
        sl_model_free(m);
    }
    static const char *const formats[][2] = {
        { "2", "a newer version" }, { "0", "from 1" },
        { "\"1\"", "from 1" },      { "1.0", "from 1" },
        { "null", "from 1" },       { "9223372036854775807", "a newer version" }
    };
    for (int i = 0; i < SL_LEN(formats); i++) {
        char text[100];
        snprintf(text, sizeof text, "{\"format\":%s}", formats[i][0]);
        SL_MUST(t, save_as(&a, 1, text));
        not_a_model(t, "model-00000001.safetensors", formats[i][1]);
    }
    config_clear();
    drop(&a);
}

/* Of rows for one option, the one with the lowest last format that is not below the asked one. */
static void older_defaults_hold_up_to_their_format(void **state) {
    (void)state;
    static const sl_ckpt_older rows[] = {
        { "lr", 5, 5e-4 }, { "clip", 2, 1 }, { "lr", 2, 2e-4 }, { .option = NULL }
    };
    static const struct {
        const char *option;
        int format;
        double value; // 0: today's
    } want[] = { { "lr", 1, 2e-4 }, { "lr", 2, 2e-4 }, { "lr", 3, 5e-4 }, { "lr", 5, 5e-4 },
                 { "lr", 6, 0 },    { "clip", 1, 1 },  { "clip", 3, 0 },  { "l", 1, 0 } };
    for (int i = 0; i < SL_LEN(want); i++) {
        const sl_ckpt_older *got = sl_ckpt__older_find(rows, want[i].option, want[i].format);
        assert_true(got ? got->value == want[i].value : want[i].value == 0);
    }
    assert_null(sl_ckpt_older_default("lr", SL_CKPT_CONFIG_FORMAT)); // today's are in the tables
}

/* ---------------------------------------------------------------- NaN and infinity ---------- */

static void numbers_that_are_not_finite_are_damage(void **state) {
    sl_fixture *t = *state;
    const sl_model_options o = small();
    run a = make(t, &o, &t->rng), b = make(t, &o, &t->rng), got = make(t, &o, NULL);
    const sl_param *p = &b.model->param[b.model->n_param / 2];
    struct {
        float *at;
        const char *tensor;
    } place[] = { { &b.weights[p->offset + p->count - 1], "" },
                  { &b.m[p->offset], "m." },
                  { &b.v[p->offset + 1], "v." } };
    static const float numbers[] = { NAN, INFINITY, -INFINITY };
    for (int i = 0; i < 9; i++) {
        char name[80], *warning;
        sl_ckpt_loaded l;
        int64_t step;
        snprintf(name, sizeof name, "tensor \"%s%s\"", place[i / 3].tensor, p->name);
        two(t, &a, &b);
        const float kept = *place[i / 3].at;
        *place[i / 3].at = numbers[i % 3];
        assert_int_equal(save(&b, 30), SL_ELIMIT); // is not saved
        SL_CHECK(t, strstr(sl_last_error(), name), "%s: %s", name, sl_last_error());
        assert_int_equal(files(), 4);
        assert_int_equal(sl_ckpt_newest(folder()), 20);

        // written by other means it is not loaded
        write_unchecked(t, &b, 20);
        refill(&got, NULL);
        SL_MUST(t, load(&got, &l));
        SL_CHECK(t, l.step == 10 && same_bits(&got, &a), "%s: step %lld", name, (long long)l.step);
        SL_CHECK(t, l.warning && strstr(l.warning, name) && strstr(l.warning, "not finite"), "%s",
                 l.warning ? l.warning : "no warning");
        sl_ckpt_loaded_clear(&l);
        SL_MUST(t, sl_ckpt_look(&step, &warning, folder()));
        SL_CHECK(t, step == 10 && warning && strstr(warning, name), "%s", name);
        sl_free(warning);
        if (i < 3) not_a_model(t, NEWEST_MODEL, name);
        *place[i / 3].at = kept;
    }
    b.optim.cpr[3].kappa = NAN;
    assert_int_equal(save(&b, 30), SL_ELIMIT);
    config_clear();
    drop(&a);
    drop(&b);
    drop(&got);
}

static void other_files_are_no_models(void **state) {
    sl_fixture *t = *state;
    const sl_model_options o = small();
    run a = make(t, &o, &t->rng);
    empty_folder();
    SL_MUST(t, save(&a, 1));
    not_a_model(t, "state-00000001.safetensors", "its kind is \"state\", not \"model\"");
    flip("model-00000001.safetensors", -1, 0);
    not_a_model(t, "model-00000001.safetensors", "damaged");

    // a checkpoint file without weights; a file of another program with its own metadata
    const sl_st_text text[] = { { "kind", "model" },         { "step", "1" },
                                { "config", config_of(&a) }, { "vocabulary", "" },
                                { "universe", "" },          { "level", "" },
                                { "libraries", "" } };
    SL_MUST(t, sl_ckpt_st_write(in_folder("bare"), NULL, 0, text, SL_LEN(text)));
    not_a_model(t, "bare", "no table of tokens");
    SL_MUST(t, sl_ckpt_st_write(in_folder("bare"), NULL, 0, text + 3, SL_LEN(text) - 3));
    not_a_model(t, "bare", "no symlaw model: its metadata lack kind, step, config");
    static const char *const steps[] = { "", "-1", "1x", "9999999999999999999" };
    for (int i = 0; i < SL_LEN(steps); i++) {
        sl_st_text odd[SL_LEN(text)];
        memcpy(odd, text, sizeof odd);
        odd[1].text = steps[i];
        SL_MUST(t, sl_ckpt_st_write(in_folder("bare"), NULL, 0, odd, SL_LEN(odd)));
        not_a_model(t, "bare", "its step is \"");
    }
    config_clear();
    drop(&a);
}

/* ---------------------------------------------------------------- failing saves ------------- */

/* Whichever write fails: the older checkpoints load, and nothing half-done stays. */
static void a_full_disk_leaves_older_checkpoints(void **state) {
    sl_fixture *t = *state;
    const sl_model_options o = small();
    run a = make(t, &o, &t->rng), b = make(t, &o, &t->rng), c = make(t, &o, &t->rng);
    run got = make(t, &o, NULL);
    two(t, &a, &b);
    int failures = 0;
    for (;; failures++) {
        sl_ckpt_loaded l;
        sl_file_fail_at(failures + 1);
        sl_status st = save(&c, 30);
        sl_file_fail_at(0);
        if (st == SL_OK) break;
        assert_int_equal(st, SL_EIO);
        assert_true(there("model-00000010.safetensors") && there("state-00000010.safetensors"));
        if (failures % 16 != 0) continue; // the folder is looked at every time, loaded sometimes
        refill(&got, NULL);
        SL_MUST(t, load(&got, &l));
        SL_CHECK(t, l.step == 20 && same_bits(&got, &b) && !l.warning, "write %d", failures + 1);
        sl_ckpt_loaded_clear(&l);
    }
    assert_int_equal(failures, 2 * (1 + 1) + 4 + 3 * a.model->n_param);
    assert_int_equal(files(), 4); // 20 and 30
    sl_ckpt_loaded l;
    SL_MUST(t, load(&got, &l));
    assert_true(l.step == 30 && same_bits(&got, &c));
    sl_ckpt_loaded_clear(&l);
    drop(&a);
    drop(&b);
    drop(&c);
    drop(&got);
}

static int synced;       // calls of fsync
static bool named_first; // the model had its name at the first of them

/* Takes the place of the C library's. */
int fsync(int fd) {
    if (synced++ == 0) named_first = there("model-00000090.safetensors");
    return fdatasync(fd);
}

/* Syncing takes a slow disk longer than a launcher waits before it kills: by then the checkpoint
 * has its names. One of the same step, which may be the only one, is not replaced before. */
static void a_checkpoint_is_there_before_it_is_synced(void **state) {
    sl_fixture *t = *state;
    const sl_model_options o = small();
    run a = make(t, &o, &t->rng), b = make(t, &o, &t->rng), got = make(t, &o, NULL);
    synced = 0;
    assert_false(there("model-00000090.safetensors"));
    SL_MUST(t, save(&a, 90));
    assert_true(named_first && synced >= 2);

    sl_ckpt_loaded l;
    for (int n = 0;; n++) {
        sl_file_fail_at(n + 1);
        const sl_status st = save(&b, 90);
        sl_file_fail_at(0);
        if (st == SL_OK) break;
        assert_true(there("model-00000090.safetensors") && there("state-00000090.safetensors"));
    }
    SL_MUST(t, load(&got, &l));
    assert_true(l.step == 90 && same_bits(&got, &b));
    sl_ckpt_loaded_clear(&l);
    drop(&a);
    drop(&b);
    drop(&got);
}

static void a_missing_folder_is_named(void **state) {
    sl_fixture *t = *state;
    const sl_model_options o = small();
    const sl_ckpt_meta meta = { .step = 1, .config = "{}" };
    run a = make(t, &o, &t->rng);
    assert_int_equal(sl_ckpt_save("/nowhere/run", a.model, a.weights, &a.optim, a.m, a.v, &meta),
                     SL_EIO);
    SL_CHECK(t, strstr(sl_last_error(), "folder /nowhere/run does not exist"), "%s",
             sl_last_error());
    drop(&a);
}

static sl_status load_and_clear(run *r) {
    sl_ckpt_loaded l;
    SL_TRY(load(r, &l));
    sl_ckpt_loaded_clear(&l);
    return SL_OK;
}

static sl_status open_and_free(void) {
    sl_model *m;
    float *weights;
    sl_ckpt_loaded l;
    SL_TRY(sl_ckpt_open_model(&m, &weights, &l, in_folder(NEWEST_MODEL)));
    sl_ckpt_loaded_clear(&l);
    sl_free(weights);
    sl_model_free(m);
    return SL_OK;
}

static void each_allocation_may_fail(void **state) {
    sl_fixture *t = *state;
    const sl_model_options o = small();
    run a = make(t, &o, &t->rng), b = make(t, &o, NULL);
    two(t, &a, &a);
    const char *text = config_of(&a);
    SL_EACH_ALLOCATION(t, save_as(&a, 20, text));
    SL_EACH_ALLOCATION(t, load_and_clear(&b));
    SL_EACH_ALLOCATION(t, open_and_free());
    assert_true(same_bits(&a, &b));
    flip_state(NULL);
    SL_EACH_ALLOCATION(t, load_and_clear(&b)); // with a warning
    config_clear();
    drop(&a);
    drop(&b);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(saved_values_load_to_the_bit),
        SL_TEST(a_rank_reads_its_share),
        SL_TEST(a_weights_file_is_a_model),
        SL_TEST(a_checkpoint_needs_few_texts),
        SL_TEST(metadata_hold_provenance),
        SL_TEST(the_last_two_are_kept),
        SL_TEST(what_was_just_saved_stays),
        SL_TEST(a_damaged_checkpoint_is_skipped),
        SL_TEST(damage_is_always_detected),
        SL_TEST(without_a_whole_one_the_newest_is_named),
        SL_TEST(a_checkpoint_of_another_model_is_refused),
        SL_TEST(a_state_has_all_its_tensors),
        SL_TEST(a_model_needs_its_configuration),
        SL_TEST(what_a_configuration_lacks_has_its_default),
        SL_TEST(older_defaults_hold_up_to_their_format),
        SL_TEST(numbers_that_are_not_finite_are_damage),
        SL_TEST(other_files_are_no_models),
        SL_TEST(a_full_disk_leaves_older_checkpoints),
        SL_TEST(a_checkpoint_is_there_before_it_is_synced),
        SL_TEST(a_missing_folder_is_named),
        SL_TEST(each_allocation_may_fail),
    };
    return sl_test_main("ckpt.checkpoint", tests, SL_LEN(tests));
}

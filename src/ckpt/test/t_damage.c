/* Damage of every kind is detected, and the older checkpoint is used. */
#include <math.h>

#include "ckpt/test/run.h"

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

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(a_damaged_checkpoint_is_skipped),
        SL_TEST(damage_is_always_detected),
        SL_TEST(without_a_whole_one_the_newest_is_named),
        SL_TEST(a_checkpoint_of_another_model_is_refused),
        SL_TEST(a_state_has_all_its_tensors),
        SL_TEST(numbers_that_are_not_finite_are_damage),
    };
    return sl_test_main("ckpt.damage", tests, SL_LEN(tests));
}

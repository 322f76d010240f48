/* Checkpoints: saved values load to the bit, the last two are kept, and a failed save leaves
 * earlier checkpoints intact. */
#include "ckpt/test/run.h"
#include "nn/nn.h"

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
    flip(NEWEST_STATE, -9, 3);
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
        SL_TEST(a_full_disk_leaves_older_checkpoints),
        SL_TEST(a_checkpoint_is_there_before_it_is_synced),
        SL_TEST(a_missing_folder_is_named),
        SL_TEST(each_allocation_may_fail),
    };
    return sl_test_main("ckpt.checkpoint", tests, SL_LEN(tests));
}

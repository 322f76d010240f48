/* Folders: what is written reads back exactly; what is damaged is named and counts as missing. */
#include <float.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "fixture/fixture.h"
#include "study/study_impl.h"

static const double batch[] = { 8, 16 }, lr[] = { 1e-3 }, zero[] = { 0 }, ratios[] = { 10, 20 };
static const char *const baselines[] = { "blind" };

static sl_study_size size = { .name = "16x1",
                              .train = "{}",
                              .eval = { "{}", "{}" },
                              .batch = { batch, 2 },
                              .lr = { lr, 1 },
                              .ratios = { ratios, 2 },
                              .sweep_seeds = { zero, 1 },
                              .scale_seeds = { zero, 1 },
                              .sweep_ratio = 10 };
static const sl_study_plan plan = { .name = "look",
                                    .size = &size,
                                    .sizes = 1,
                                    .attempts = 2,
                                    .baselines = baselines,
                                    .n_baselines = 1 };

static const char *dir(void) { return sl_test_path("study"); }

static const char *folder(const char *id) {
    static char path[700];
    snprintf(path, sizeof path, "%s/runs/%s", dir(), id);
    assert_int_equal(sl_folder_make(path, 0777), SL_OK);
    return path;
}

static void write_bytes(const char *where, const char *name, const char *bytes, size_t n) {
    char path[800];
    snprintf(path, sizeof path, "%s/%s", where, name);
    sl_test_write(path, bytes, n);
}

static void write_text(const char *where, const char *name, const char *text) {
    write_bytes(where, name, text, strlen(text));
}

static double random_real(sl_rng *rng) {
    switch (sl_rng_below(rng, 5)) {
    case 0: return NAN;
    case 1: return DBL_MAX;
    case 2: return 3;
    default: return ldexp(sl_rng_range(rng, 0.5, 1), (int)sl_rng_below(rng, 120) - 60);
    }
}

static sl_study_result random_result(sl_rng *rng) {
    sl_study_result r = { .params = 1e4,
                          .flops = 1e12,
                          .checkpoint = "model-1.safetensors",
                          .cpu = "AMD \"EPYC\", 7",
                          .isa = "avx2",
                          .version = "1.0" };
    double *const numbers[] = { &r.tokens,     &r.flops_executed, &r.steps,
                                &r.loss_train, &r.loss_valid,     &r.loss_valid_expression,
                                &r.seconds,    &r.cpu_seconds,    &r.threads,
                                &r.ranks };
    for (int i = 0; i < SL_LEN(numbers); i++) *numbers[i] = random_real(rng);
    r.diverged = sl_rng_below(rng, 4) == 0;
    return r;
}

static bool same(double a, double b) { return a == b || (isnan(a) && isnan(b)); }
static bool same_text(const char *a, const char *b) { return a && b ? strcmp(a, b) == 0 : a == b; }

static void results_read_back_exactly(void **state) {
    sl_fixture *t = *state;
    char path[800];
    const char *where = folder("some");
    snprintf(path, sizeof path, "%s/result.json", where);
    for (int i = 0; i < sl_test_iters(t, 8); i++) {
        const sl_study_result a = random_result(&t->rng);
        sl_study_result b = { 0 };
        bool there;
        SL_MUST(t, sl_study_result_write(where, &a));
        SL_MUST(t, sl_study__result_read(&b, &there, &t->arena, path));
        SL_CHECK(t, there && a.diverged == b.diverged, "another one");
        SL_CHECK(t,
                 same(a.params, b.params) && same(a.tokens, b.tokens) && same(a.flops, b.flops) &&
                     same(a.flops_executed, b.flops_executed) && same(a.steps, b.steps) &&
                     same(a.loss_train, b.loss_train) && same(a.loss_valid, b.loss_valid) &&
                     same(a.loss_valid_expression, b.loss_valid_expression) &&
                     same(a.seconds, b.seconds) && same(a.cpu_seconds, b.cpu_seconds) &&
                     same(a.threads, b.threads) && same(a.ranks, b.ranks),
                 "a number differs");
        SL_CHECK(t,
                 same_text(a.checkpoint, b.checkpoint) && same_text(a.cpu, b.cpu) &&
                     same_text(a.isa, b.isa) && same_text(a.libraries, b.libraries) &&
                     same_text(a.version, b.version) && same_text(a.revision, b.revision),
                 "a text differs");
    }
}

static void attempts_are_counted_for_each_kind_of_work(void **state) {
    sl_fixture *t = *state;
    char path[800];
    int n;
    const char *message, *where = folder("tried");
    snprintf(path, sizeof path, "%s/attempts.json", where);
    SL_MUST(t, sl_study_attempt_add(where, "train", "first"));
    SL_MUST(t, sl_study_attempt_add(where, "test", "a \"quoted\" one"));
    SL_MUST(t, sl_study_attempt_add(where, "train", "second"));
    SL_MUST(t, sl_study__attempts_read(&n, &message, &t->arena, path, "train"));
    assert_int_equal(n, 2);
    assert_string_equal(message, "second");
    SL_MUST(t, sl_study__attempts_read(&n, &message, &t->arena, path, "test"));
    assert_int_equal(n, 1);
    assert_string_equal(message, "a \"quoted\" one");
    SL_MUST(t, sl_study__attempts_read(&n, &message, &t->arena, path, "withheld"));
    assert_true(n == 0 && !message);
    write_text(where, "attempts.json", "{\"train\":");
    SL_MUST(t, sl_study_attempt_add(where, "train", "third"));
    SL_MUST(t, sl_study__attempts_read(&n, &message, &t->arena, path, "train"));
    assert_int_equal(n, 1);
}

static const char evaluation[] =
    "{\"exit\":0,\"command\":\"eval\",\"seconds\":12.5,\"seeds\":3,\"all\":{\"problems\":100,"
    "\"exact\":{\"hits\":31,\"n\":300},\"close\":{\"hits\":60,\"n\":300}},\"loss\":14.5,"
    "\"loss_token\":1.25}";

static const char searched[] =
    "{\"seconds\":12.5,\"seeds\":1,\"all\":{\"exact\":{\"hits\":31,\"n\":100},"
    "\"close\":{\"hits\":60,\"n\":100}},\"loss\":null,\"loss_token\":null,\"time\":{\"most\":2.5},"
    "\"budgets\":[{\"seconds\":0.1,\"right\":20,\"n\":100,\"wrong\":0},"
    "{\"seconds\":1,\"right\":31,\"n\":100,\"wrong\":1}]}";

static sl_study_result good(double loss) {
    return (sl_study_result){ .params = 1e4,
                              .tokens = 1e5,
                              .flops = 1e12,
                              .loss_valid = loss,
                              .checkpoint = "model-1.safetensors" };
}

static const sl_study_run *run_of(const sl_study *s, const char *id) {
    for (int i = 0; i < s->runs; i++)
        if (strcmp(s->run[i].id, id) == 0) return &s->run[i];
    return NULL;
}

#define B8   "16x1-b8-lr1e-3-r10-s0"
#define B16  "16x1-b16-lr1e-3-r10-s0"
#define LONG "16x1-b16-lr1e-3-r20-s0"

/* Both runs of the sweep are trained: 16 is best. */
static void sweep_is_done(sl_fixture *t) {
    sl_study_result r = good(2);
    SL_MUST(t, sl_study_result_write(folder(B8), &r));
    r = good(1.5);
    SL_MUST(t, sl_study_result_write(folder(B16), &r));
}

static void a_study_is_read_from_its_folders(void **state) {
    sl_fixture *t = *state;
    sl_study s;
    SL_MUST(t, sl_study_look(&s, &t->arena, &plan, sl_test_path("nowhere")));
    assert_int_equal(s.runs, 2);
    assert_true(!s.complete && !s.best[0].known && s.notes[0] == '\0');
    assert_int_equal(s.run[0].state, SL_STUDY_WAITING);

    sweep_is_done(t);
    write_text(folder(LONG), "run.json", "{}");
    write_text(folder(B16), "eval-test.json", evaluation);
    SL_MUST(t, sl_study_attempt_add(folder(B16), "withheld", "no"));
    SL_MUST(t, sl_study_look(&s, &t->arena, &plan, dir()));
    assert_string_equal(s.dir, dir());
    assert_int_equal(s.runs, 3);
    assert_true(s.best[0].known && s.best[0].batch == 16 && s.best[0].loss == 1.5 &&
                s.best[0].edge);
    assert_int_equal(run_of(&s, B8)->state, SL_STUDY_DONE);
    assert_int_equal(run_of(&s, LONG)->state, SL_STUDY_BEGUN);
    const sl_study_run *r = run_of(&s, B16);
    assert_int_equal(r->state, SL_STUDY_TRAINED);
    const sl_study_evaluation *e = &r->eval[SL_STUDY_SET_TEST];
    assert_true(e->there && e->solved.trials == 100 && fabs(e->solved.hits - 31 / 3.0) < 1e-12);
    assert_true(e->r2.hits == 20 && e->loss == 1.25 && e->loss_expression == 14.5 &&
                e->seconds == 12.5);
    assert_int_equal(r->eval[SL_STUDY_SET_WITHHELD].attempts, 1);
    assert_string_equal(r->eval[SL_STUDY_SET_WITHHELD].error, "no");

    // an evaluation that has failed as often as it may is the end of its run
    SL_MUST(t, sl_study_attempt_add(folder(B16), "withheld", "again"));
    SL_MUST(t, sl_study_attempt_add(folder(LONG), "train", "no"));
    SL_MUST(t, sl_study_attempt_add(folder(LONG), "train", "no"));
    SL_MUST(t, sl_study_look(&s, &t->arena, &plan, dir()));
    assert_int_equal(run_of(&s, B16)->state, SL_STUDY_FAILED);
    assert_true(run_of(&s, B16)->trained);
    assert_int_equal(run_of(&s, LONG)->state, SL_STUDY_FAILED);
    assert_true(!s.complete); // the baseline is left
    char where[700];
    snprintf(where, sizeof where, "%s/baselines/blind", dir());
    SL_MUST(t, sl_folder_make(where, 0777));
    write_text(where, "eval-test.json", evaluation);
    SL_MUST(t, sl_study_look(&s, &t->arena, &plan, dir()));
    assert_true(s.complete && s.baseline[0].there && s.baseline[0].budgets == 0);
    write_text(where, "eval-test.json", searched);
    SL_MUST(t, sl_study_look(&s, &t->arena, &plan, dir()));
    e = &s.baseline[0];
    assert_true(e->there && e->budgets == 2 && e->seconds_most == 2.5);
    assert_true(e->budget[0].seconds == 0.1 && e->budget[0].solved == 20 &&
                e->budget[1].trials == 100 && e->budget[1].wrong == 1);

    // a run that diverged is at its end and is not the best
    sl_study_result bad = { .diverged = true, .loss_valid = NAN };
    SL_MUST(t, sl_study_result_write(folder(B16), &bad));
    SL_MUST(t, sl_study_look(&s, &t->arena, &plan, dir()));
    assert_int_equal(run_of(&s, B16)->state, SL_STUDY_FAILED);
    assert_true(s.best[0].known && s.best[0].batch == 8);
}

/* Cut at every byte, and with every byte another one. */
static void damage_is_named_and_counts_as_missing(void **state) {
    sl_fixture *t = *state;
    static const char *const files[] = { "result.json", "eval-test.json", "attempts.json" };
    sweep_is_done(t);
    for (int f = 0; f < SL_LEN(files); f++) {
        char path[800], *bytes;
        size_t n;
        write_text(folder(B16), "eval-test.json", evaluation);
        SL_MUST(t, sl_study_attempt_add(folder(B16), "train", "x"));
        snprintf(path, sizeof path, "%s/%s", folder(B16), files[f]);
        SL_MUST(t, sl_file_read(&bytes, &n, path, 1 << 20));
        for (size_t i = 0; i < n; i += 1 + n / 200) {
            sl_study s;
            sl_arena_rewind(&t->arena, 0);
            write_bytes(folder(B16), files[f], bytes, i);
            SL_MUST(t, sl_study_look(&s, &t->arena, &plan, dir()));
            if (i + 2 < n) // the line's end and the bracket
                SL_CHECK(t, strstr(s.notes, files[f]), "%s cut at %zu: notes are \"%s\"", files[f],
                         i, s.notes);
            const char kept = bytes[i];
            bytes[i] = (char)(kept ^ (1 << sl_rng_below(&t->rng, 8)));
            write_bytes(folder(B16), files[f], bytes, n);
            bytes[i] = kept;
            SL_MUST(t, sl_study_look(&s, &t->arena, &plan, dir()));
            SL_CHECK(t, run_of(&s, B16), "it is gone");
        }
        sl_free(bytes);
        unlink(path);
        sweep_is_done(t);
    }
    sl_study s;
    write_text(folder(B16), "result.json", "{\"format\":2}");
    SL_MUST(t, sl_study_look(&s, &t->arena, &plan, dir()));
    assert_non_null(strstr(s.notes, "its format is 2, and this version reads 1"));
    assert_int_equal(run_of(&s, B16)->state, SL_STUDY_WAITING);
}

static sl_status look(sl_fixture *t) {
    sl_study s;
    return sl_study_look(&s, &t->arena, &plan, dir());
}

/* jansson's memory does not fail here: where it cannot enlarge the buffer of a token it aborts. */
static void lack_of_memory_is_reported(void **state) {
    sl_fixture *t = *state;
    sweep_is_done(t);
    write_text(folder(B16), "eval-test.json", evaluation);
    SL_MUST(t, sl_study_attempt_add(folder(B16), "withheld", "no"));
    const sl_study_result r = good(1);
    const char *where = folder(B16);
    SL_EACH_ALLOCATION(t, look(t));
    SL_EACH_ALLOCATION(t, sl_study_result_write(where, &r));
    SL_EACH_ALLOCATION(t, sl_study_attempt_add(where, "train", "no"));
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(results_read_back_exactly),
        SL_TEST(attempts_are_counted_for_each_kind_of_work),
        SL_TEST(a_study_is_read_from_its_folders),
        SL_TEST(damage_is_named_and_counts_as_missing),
        SL_TEST(lack_of_memory_is_reported),
    };
    return sl_test_main("study.look", tests, SL_LEN(tests));
}

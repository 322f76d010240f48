/* Plans: what is read is what the text says, and what is wrong is reported by file, line and path.
 */
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fixture/fixture.h"
#include "study/study_impl.h"

/* Knows these options, all numbers but two. */
static sl_status check(const char *command, const char *options, bool whole, void *payload) {
    static const char *const train[] = { "width", "layers", "size",  "heads",        "withheld",
                                         "batch", "lr",     "ratio", "weights-seed", "dropout" };
    static const char *const eval[] = {
        "limit", "seeds", "formulas", "source", "search", "effort"
    };
    const bool is_train = strcmp(command, "train") == 0;
    sl_json *j = NULL;
    sl_status st = sl_io_json_parse(&j, options, strlen(options));
    if (payload) (*(int *)payload)++;
    for (sl_json_member m = sl_io_json_first(j); st == SL_OK && m.name; m = sl_io_json_next(j, m)) {
        bool known = false;
        for (int i = 0; i < (is_train ? SL_LEN(train) : SL_LEN(eval)); i++)
            known |= strcmp(m.name, (is_train ? train : eval)[i]) == 0;
        if (!known) st = sl_fail(SL_EINVAL, "no option of %s has this name", command);
        if (strcmp(m.name, "source") == 0 && strcmp(sl_io_json_text(m.value), "blind") != 0)
            st = sl_fail(SL_EINVAL, "must be blind");
    }
    const sl_json *width = sl_io_json_get(j, "width"), *heads = sl_io_json_get(j, "heads");
    if (st == SL_OK && whole && width && heads &&
        sl_io_json_int(width) % sl_io_json_int(heads) != 0)
        st = sl_fail(SL_EINVAL, "heads do not divide the width");
    sl_io_json_free(j);
    return st;
}

static sl_status read_plan(sl_study_plan **out, sl_fixture *t, const char *text) {
    const char *path = sl_test_path("plan.json");
    sl_test_write_text(path, text);
    return sl_study_plan_read(out, &t->arena, path, check, NULL);
}

static const char full[] =
    "{\"name\": \"all\", \"about\": \"of it\", \"attempts\": 3,\n"
    " \"train\": {\"dropout\": 0, \"layers\": 1, \"withheld\": 0.05},\n"
    " \"sizes\": [{\"width\": 16}, {\"width\": 32, \"layers\": 2, \"heads\": 4,\n"
    "   \"sweep\": {\"batch\": 64, \"grow\": 0}, \"scale\": {\"ratios\": [7]},\n"
    "   \"eval\": {\"test\": {\"limit\": 5}, \"withheld\": null}},\n"
    "  {\"size\": \"6.5M\"}, {\"name\": \"last\", \"width\": 8}],\n"
    " \"sweep\": {\"ratio\": 12.5, \"batch\": {\"from\": 16, \"to\": 512, \"times\": 2},\n"
    "   \"lr\": {\"from\": 1e-4, \"times\": 2.15443469, \"count\": 5}, \"seeds\": [3, 1]},\n"
    " \"scale\": {\"ratios\": [80, 5, 10], \"seeds\": [0, 1]},\n"
    " \"eval\": {\"test\": {\"limit\": 100, \"seeds\": 2}, \"withheld\": {}, \"baselines\": "
    "[\"blind\", \"search\"]}}\n";

static void a_plan_holds_what_its_text_says(void **state) {
    sl_fixture *t = *state;
    sl_study_plan *p;
    SL_MUST(t, read_plan(&p, t, full));
    assert_string_equal(p->name, "all");
    assert_string_equal(p->about, "of it");
    assert_string_equal(p->text, full);
    assert_int_equal(p->attempts, 3);
    assert_int_equal(p->sizes, 4);
    assert_int_equal(p->n_baselines, 2);
    assert_string_equal(p->baselines[0], "blind");
    assert_string_equal(p->baselines[1], "search");
    static const char *const names[] = { "16x1", "32x2", "6.5M", "last" };
    for (int i = 0; i < 4; i++) assert_string_equal(p->size[i].name, names[i]);

    const sl_study_size *s = &p->size[0];
    static const double batch[] = { 16, 32, 64, 128, 256, 512 },
                        lr[] = { 1e-4, 2.15443e-4, 4.64159e-4, 1e-3, 2.15443e-3 },
                        ratio[] = { 5, 10, 80 }, seed[] = { 1, 3 };
    assert_int_equal(s->batch.n, 6);
    assert_memory_equal(s->batch.at, batch, sizeof batch);
    assert_int_equal(s->lr.n, 5);
    assert_memory_equal(s->lr.at, lr, sizeof lr);
    assert_int_equal(s->ratios.n, 3);
    assert_memory_equal(s->ratios.at, ratio, sizeof ratio);
    assert_int_equal(s->sweep_seeds.n, 2);
    assert_memory_equal(s->sweep_seeds.at, seed, sizeof seed);
    assert_int_equal(s->scale_seeds.n, 2);
    assert_true(s->sweep_ratio == 12.5 && s->grow == 2);
    assert_string_equal(s->train, "{\"dropout\":0,\"layers\":1,\"withheld\":0.05,\"width\":16}");
    assert_string_equal(s->eval[SL_STUDY_SET_TEST], "{\"limit\":100,\"seeds\":2}");
    assert_string_equal(s->eval[SL_STUDY_SET_WITHHELD], "{}");
    assert_null(s->eval[SL_STUDY_SET_FORMULAS]);

    // a size's own members go before the study's
    s = &p->size[1];
    assert_true(s->batch.n == 1 && s->batch.at[0] == 64 && s->lr.n == 5 && s->grow == 0);
    assert_true(s->ratios.n == 1 && s->ratios.at[0] == 7 && s->scale_seeds.n == 2);
    assert_string_equal(s->train,
                        "{\"dropout\":0,\"withheld\":0.05,\"width\":32,\"layers\":2,\"heads\":4}");
    assert_string_equal(s->eval[SL_STUDY_SET_TEST], "{\"seeds\":2,\"limit\":5}");
    assert_null(s->eval[SL_STUDY_SET_WITHHELD]);

    const sl_study_run run = { .size = 1, .batch = 64, .lr = 1e-4, .ratio = 7, .seed = 3 };
    sl_str options = { 0 };
    sl_study_train_options(&options, p, &run);
    assert_string_equal(options.text, "{\"dropout\":0,\"withheld\":0.05,\"width\":32,\"layers\":2,"
                                      "\"heads\":4,\"batch\":64,\"lr\":0.0001,\"ratio\":7.0,"
                                      "\"weights-seed\":3}");
    sl_str_clear(&options);
}

static void missing_members_have_defaults(void **state) {
    sl_fixture *t = *state;
    sl_study_plan *p;
    SL_MUST(t, read_plan(&p, t,
                         "{\"name\":\"a\",\"sizes\":[{\"size\":\"6.5M\"}],\"sweep\":{\"batch\":8,"
                         "\"lr\":[1e-3]},\"scale\":{\"ratios\":5}}"));
    const sl_study_size *s = &p->size[0];
    assert_true(s->sweep_ratio == 20 && s->grow == 2 && p->attempts == 2 && !p->about);
    assert_true(s->sweep_seeds.n == 1 && s->sweep_seeds.at[0] == 0 && s->scale_seeds.at[0] == 0);
    assert_string_equal(s->eval[SL_STUDY_SET_TEST], "{}");
    assert_int_equal(p->n_baselines, 0);
}

/* A plan in which %s stands for members of the top, with one that is wrong. */
static void mistakes_are_reported_with_their_place(void **state) {
    sl_fixture *t = *state;
#define HEAD  "{\"name\": \"a\",\n"
#define SIZES "\"sizes\": [{\"width\": 16, \"layers\": 1}],\n"
#define SWEEP "\"sweep\": {\"batch\": [8], \"lr\": [1e-3]},\n"
#define SCALE "\"scale\": {\"ratios\": [5]}}"
    static const struct {
        const char *text, *says;
    } bad[] = {
        { "{\"name\": \"a\",\n  \"size\": []}",
          "line 2, size: there is no member of this name; did you mean sizes?" },
        { HEAD SWEEP SCALE, "plan.json, line 1: needs \"sizes\"" },
        { "{" SIZES SWEEP SCALE, "needs \"name\"" },
        { "{\"name\": \"a/b\"," SIZES SWEEP SCALE, "line 1, name: must be 1 to 32 letters" },
        { "[]", "line 1: must be an object, not an array" },
        { HEAD "\"sizes\": [{\"width\": 16,\n \"layers\": 1},\n {\"widht\": 3}],\n" SWEEP SCALE,
          "line 4, sizes[1].widht: no option of train has this name" },
        { HEAD "\"train\": {\n\"dropot\": 1},\n" SIZES SWEEP SCALE,
          "line 3, train.dropot: no option of train" },
        { HEAD "\"train\": {\"batch\": 1},\n" SIZES SWEEP SCALE,
          "line 2, train.batch: a plan does not set this option of train: sweep.batch lists" },
        { HEAD "\"sizes\": [{\"width\": 16, \"layers\": 1, \"heads\": 5}],\n" SWEEP SCALE,
          "line 2, sizes[0]: heads do not divide the width" },
        { HEAD "\"sizes\": [{\"width\": 16}],\n" SWEEP SCALE,
          "sizes[0]: needs a name, or size, or width and" },
        { HEAD "\"sizes\": [{\"size\": \"a\"}, {\"size\": \"a\"}],\n" SWEEP SCALE,
          "line 2, sizes[1]: is called a, like sizes[0]" },
        { HEAD "\"sizes\": [],\n" SWEEP SCALE, "sizes: must have 1 to 64 sizes" },
        { HEAD "\"sizes\": {},\n" SWEEP SCALE, "sizes: must be an array, not an object" },
        { HEAD SIZES SCALE, "needs sweep.batch" },
        { HEAD SIZES "\"sweep\": {\"batch\": [8]}," SCALE, "needs sweep.lr" },
        { HEAD SIZES "\"sweep\": {\"batch\": [8],\n\n\"lr\": [0]}," SCALE,
          "line 5, sweep.lr[0]: must be a number from 1e-12 to 1000, not 0" },
        { HEAD SIZES "\"sweep\": {\"batch\": [8, 1.5], \"lr\": 1}," SCALE,
          "sweep.batch[1]: must be a whole number from 1 to 1000000, not 1.5" },
        { HEAD SIZES "\"sweep\": {\"batch\": [8, 8], \"lr\": 1}," SCALE,
          "sweep.batch: has 8 twice" },
        { HEAD SIZES "\"sweep\": {\"batch\": \"8\", \"lr\": 1}," SCALE,
          "sweep.batch: must be a whole number" },
        { HEAD SIZES "\"sweep\": {\"batch\": [], \"lr\": 1}," SCALE,
          "sweep.batch: must have 1 to 64 values" },
        { HEAD SIZES "\"sweep\": {\"batch\": {\"from\": 1}, \"lr\": 1}," SCALE,
          "a list by steps needs times" },
        { HEAD SIZES "\"sweep\": {\"batch\": {\"from\": 1, \"times\": 2}, \"lr\": 1}," SCALE,
          "needs either to or count" },
        { HEAD SIZES
          "\"sweep\": {\"batch\": {\"from\": 1, \"times\": 2, \"upto\": 8}, \"lr\": 1}," SCALE,
          "sweep.batch.upto: there is no member of this name" },
        { HEAD SIZES "\"sweep\": {\"batch\": 8, \"lr\": 1, \"grow\": 17}," SCALE,
          "sweep.grow: must be a whole" },
        { HEAD SIZES "\"sweep\": {\"batch\": 8, \"lr\": 1, \"ratios\": 5}," SCALE,
          "did you mean ratio?" },
        { HEAD SIZES SWEEP "\"scale\": {}}", "needs scale.ratios" },
        { HEAD SIZES SWEEP "\"eval\": {\"tset\": {}}," SCALE,
          "eval.tset: there is no member of this name; did you mean test?" },
        { HEAD SIZES SWEEP "\"eval\": {\"test\": {\"limt\": 3}}," SCALE,
          "eval.test.limt: no option of eval" },
        { HEAD SIZES SWEEP "\"eval\": {\"test\": {\"model\": \"x\"}}," SCALE,
          "eval.test.model: a plan does not set" },
        { HEAD SIZES SWEEP "\"eval\": {\"test\": {\"formulas\": \"x\"}}," SCALE,
          "belongs to eval.formulas" },
        { HEAD SIZES SWEEP "\"eval\": {\"formulas\": {}}," SCALE,
          "eval.formulas: needs \"formulas\"" },
        { HEAD SIZES SWEEP "\"eval\": {\"formulas\": {\"formulas\": \"none.csv\"}}," SCALE,
          "eval.formulas.formulas: there is no file none.csv" },
        { HEAD SIZES SWEEP "\"eval\": {\"withheld\": {}}," SCALE, "eval.withheld has no problems" },
        { HEAD SIZES SWEEP "\"eval\": {\"baselines\": [\"blnd\"]}," SCALE,
          "eval.baselines[0]: must be blind; \"search\" is" },
        { HEAD SIZES SWEEP "\"eval\": {\"test\": {\"search\": \"both\"}}," SCALE,
          "eval.test.search: a plan does not set this option of eval: baselines lists" },
        { HEAD SIZES SWEEP "\"attempts\": 0," SCALE, "attempts: must be a whole number" },
        { HEAD "\"sizes\": [{\"size\": \"a\", \"sweep\": {\"bach\": 1}}],\n" SWEEP SCALE,
          "sizes[0].sweep.bach: there is no member of this name; did you mean batch?" },
        { HEAD SIZES
          "\"sweep\": {\"batch\": {\"from\": 1, \"times\": 1.3, \"count\": 40}, \"lr\": 1}," SCALE,
          "twice" },
        { HEAD SIZES
          "\"sweep\": {\"batch\": {\"from\": 100, \"times\": 1.1, \"count\": 60}, "
          "\"lr\": {\"from\": 1e-4, \"times\": 1.1, \"count\": 60}, \"seeds\": [1, 2]}," SCALE,
          "runs when all grids have grown" },
    };
    for (int i = 0; i < SL_LEN(bad); i++) {
        sl_study_plan *p = NULL;
        const sl_status st = read_plan(&p, t, bad[i].text);
        SL_CHECK(t, st == SL_EINVAL && !p, "%s is %s", bad[i].text, sl_status_text(st));
        SL_CHECK(t, strstr(sl_last_error(), bad[i].says), "%s\nsays: %s\nnot: %s", bad[i].text,
                 sl_last_error(), bad[i].says);
        SL_CHECK(t, strstr(sl_last_error(), "plan.json, line "), "no place: %s", sl_last_error());
    }
    sl_study_plan *p;
    assert_int_equal(read_plan(&p, t, "{\"name\":\n  oops}"), SL_EFORMAT);
    SL_CHECK(t, strstr(sl_last_error(), "line 2"), "%s", sl_last_error());
    assert_int_equal(sl_study_plan_read(&p, &t->arena, sl_test_path("none.json"), NULL, NULL),
                     SL_EIO);
}

/* Lines are found by a walk of their own; here a walk that knows only where new lines are. */
static void lines_are_those_of_the_text(void **state) {
    (void)state;
    static const char text[] = "\n{\n\"a\": [1, {\"b\\\"\": \"]}\",\n\"c\": [\n[], [2,\n3]]}],"
                               "\n \"d\"\n: {\"e\": null}}";
    const sl_study__place a = { NULL, "a", 0 }, a1 = { &a, NULL, 1 }, c = { &a1, "c", 0 },
                          c1 = { &c, NULL, 1 }, c11 = { &c1, NULL, 1 }, d = { NULL, "d", 0 },
                          e = { &d, "e", 0 }, none = { &a1, "none", 0 }, deep = { &none, "x", 0 };
    assert_int_equal(sl_study__line(text, NULL), 2);
    assert_int_equal(sl_study__line(text, &a), 3);
    assert_int_equal(sl_study__line(text, &a1), 3);
    assert_int_equal(sl_study__line(text, &c), 4);
    assert_int_equal(sl_study__line(text, &c1), 5);
    assert_int_equal(sl_study__line(text, &c11), 6);
    assert_int_equal(sl_study__line(text, &d), 7);
    assert_int_equal(sl_study__line(text, &e), 8);
    assert_int_equal(sl_study__line(text, &none), 3);
    assert_int_equal(sl_study__line(text, &deep), 3);
}

static const char with_formulas[] =
    "{\"name\":\"f\",\"sizes\":[{\"size\":\"a\"}],\"sweep\":{\"batch\":8,\"lr\":1},\"scale\":{"
    "\"ratios\":5},"
    "\"eval\":{\"formulas\":{\"limit\":3,\"formulas\":\"sub/some.csv\"}}}";

/* folder/sub/some.csv is named by folder/plan.json; the study has it beside its plan. */
static void a_stored_plan_needs_nothing_else(void **state) {
    sl_fixture *t = *state;
    char file[700], dir[600], copy[700], plan[700];
    snprintf(dir, sizeof dir, "%s", sl_test_path("sub"));
    snprintf(file, sizeof file, "%s/some.csv", dir);
    SL_MUST(t, sl_folder_make(dir, 0777));
    sl_test_write_text(file, "name,formula\n");
    sl_study_plan *p, *q;
    SL_MUST(t, read_plan(&p, t, with_formulas));
    assert_non_null(strstr(p->size[0].eval[SL_STUDY_SET_FORMULAS], file));

    snprintf(dir, sizeof dir, "%s", sl_test_path("study"));
    snprintf(copy, sizeof copy, "%s/some.csv", dir);
    snprintf(plan, sizeof plan, "%s/plan.json", dir);
    SL_MUST(t, sl_study_plan_store(p, dir));
    unlink(file);
    SL_MUST(t, sl_study_plan_read(&q, &t->arena, plan, check, NULL));
    assert_non_null(strstr(q->size[0].eval[SL_STUDY_SET_FORMULAS], copy));
    assert_string_equal(q->text, with_formulas);

    // the same plan in another layout is the same plan; another one is refused
    SL_MUST(t, sl_study_plan_store(q, dir));
    sl_study_plan other = *q;
    char text[sizeof with_formulas + 2];
    snprintf(text, sizeof text, " %s", with_formulas);
    other.text = text;
    SL_MUST(t, sl_study_plan_store(&other, dir));
    other.text = "{\"name\":\"g\"}";
    assert_int_equal(sl_study_plan_store(&other, dir), SL_EINVAL);
    assert_non_null(strstr(sl_last_error(), "another plan"));
    sl_test_write_text(plan, "{");
    assert_int_equal(sl_study_plan_store(q, dir), SL_EFORMAT);
    unlink(plan);
    sl_test_write_text(file, "something else\n");
    SL_MUST(t, sl_study_plan_read(&p, &t->arena, sl_test_path("plan.json"), check, NULL));
    assert_int_equal(sl_study_plan_store(p, dir), SL_EINVAL);
    assert_int_equal(access(plan, F_OK), -1);
}

static sl_status read_full(sl_fixture *t) {
    sl_study_plan *p;
    return sl_study_plan_read(&p, &t->arena, sl_test_path("plan.json"), check, NULL);
}

static sl_status store(const sl_study_plan *p) {
    char path[600];
    snprintf(path, sizeof path, "%s/plan.json", sl_test_path("stored"));
    unlink(path);
    return sl_study_plan_store(p, sl_test_path("stored"));
}

/* jansson's memory does not fail here: where it cannot enlarge the buffer of a token it aborts. */
static void lack_of_memory_is_reported(void **state) {
    sl_fixture *t = *state;
    sl_study_plan *p;
    sl_test_write_text(sl_test_path("plan.json"), full);
    SL_EACH_ALLOCATION(t, read_full(t));
    SL_MUST(t, read_plan(&p, t, full));
    SL_EACH_ALLOCATION(t, store(p));
    SL_EACH_ALLOCATION(t, sl_study_plan_store(p, sl_test_path("stored")));
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(a_plan_holds_what_its_text_says),        SL_TEST(missing_members_have_defaults),
        SL_TEST(mistakes_are_reported_with_their_place), SL_TEST(lines_are_those_of_the_text),
        SL_TEST(a_stored_plan_needs_nothing_else),       SL_TEST(lack_of_memory_is_reported),
    };
    return sl_test_main("study.plan", tests, SL_LEN(tests));
}

/* Files of a call against each other: every command, every pair of its options that name files. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands/commands_test.h"

static const char held[] = "somebody's data\n";

static void put(const char *path) { sl_test_write_text(path, held); }

static bool is_unchanged(const char *path) {
    char *text = NULL;
    if (sl_file_read(&text, NULL, path, 1000) != SL_OK) return false;
    const bool same = strcmp(text, held) == 0;
    sl_free(text);
    return same;
}

static bool is_written(const symlaw_option_info *o) {
    return o->use == SYMLAW_OPTION_OUTPUT || o->use == SYMLAW_OPTION_IN_PLACE;
}

static bool is_file(const symlaw_option_info *o) {
    return o->type == SYMLAW_OPTION_FILE || o->type == SYMLAW_OPTION_FOLDER;
}

/* A row that says nothing would be left out of the check. */
static void every_file_says_what_it_is_for(void **state) {
    sl_fixture *t = *state;
    int files = 0;
    for (int c = 0; c < symlaw_command_count(); c++) {
        const symlaw_command_info *info = symlaw_command_get(c);
        for (int i = 0; i < info->n_options; i++) {
            const symlaw_option_info *o = symlaw_command_option(info, i);
            SL_CHECK(t, is_file(o) == (o->use != SYMLAW_OPTION_NO_FILE), "%s --%s", info->name,
                     o->name);
            files += is_file(o);
            // what is called so everywhere is written everywhere
            SL_CHECK(t, strcmp(o->name, "out") != 0 || is_written(o), "%s --out", info->name);
        }
    }
    assert_true(files >= 15);
}

static sl_status call(const symlaw_command_info *info, const char *a, const char *path_a,
                      const char *b, const char *path_b) {
    char options[2048];
    snprintf(options, sizeof options, "{\"%s\":\"%s\",\"%s\":\"%s\"}", a, path_a, b, path_b);
    return symlaw_command(info->name, options, NULL, NULL, NULL);
}

static void refused(sl_fixture *t, const symlaw_command_info *info, const char *a,
                    const char *path_a, const char *b, const char *path_b) {
    const sl_status st = call(info, a, path_a, b, path_b);
    SL_CHECK(t, st == SL_EINVAL && strstr(sl_last_error(), "are one file"),
             "%s --%s %s --%s %s: %d, %s", info->name, a, path_a, b, path_b, st, sl_last_error());
}

/* No output is another file of the call, however the path is written. */
static void no_output_is_another_file(void **state) {
    sl_fixture *t = *state;
    char file[300], dots[300], symbolic[300], hard[300], none[300], none_dots[300];
    snprintf(file, sizeof file, "%s", sl_test_path("data.svg"));
    snprintf(dots, sizeof dots, "%s", sl_test_path("./data.svg"));
    snprintf(symbolic, sizeof symbolic, "%s", sl_test_path("symbolic.svg"));
    snprintf(hard, sizeof hard, "%s", sl_test_path("hard.svg"));
    snprintf(none, sizeof none, "%s", sl_test_path("none.svg"));
    snprintf(none_dots, sizeof none_dots, "%s", sl_test_path("folder/../none.svg"));
    put(file);
    assert_int_equal(symlink("data.svg", symbolic), 0);
    assert_int_equal(link(file, hard), 0);
    assert_int_equal(mkdir(sl_test_path("folder"), 0700), 0);

    int pairs = 0;
    for (int c = 0; c < symlaw_command_count(); c++) {
        const symlaw_command_info *info = symlaw_command_get(c);
        for (int i = 0; i < info->n_options; i++) {
            for (int j = 0; j < info->n_options; j++) {
                const symlaw_option_info *a = symlaw_command_option(info, i),
                                         *b = symlaw_command_option(info, j);
                if (i == j || a->type != SYMLAW_OPTION_FILE || b->type != SYMLAW_OPTION_FILE)
                    continue;
                if (!is_written(a) && !is_written(b)) continue;
                refused(t, info, a->name, file, b->name, file);
                refused(t, info, a->name, file, b->name, dots);
                refused(t, info, a->name, file, b->name, symbolic);
                refused(t, info, a->name, file, b->name, hard);
                if (is_written(a) && is_written(b))
                    refused(t, info, a->name, none, b->name, none_dots);
                pairs++;
            }
        }
    }
    assert_true(pairs >= 30);
    assert_true(is_unchanged(file) && is_unchanged(hard) && is_unchanged(symbolic));
    assert_int_not_equal(access(none, F_OK), 0);
    unlink(hard);
    unlink(symbolic);
    unlink(file);
    rmdir(sl_test_path("folder"));
}

/* Names that are alike, devices, and the folder that a file is in are no reason to refuse. */
static void other_files_are_other_files(void **state) {
    sl_fixture *t = *state;
    char a[300], b[300], text[1200];
    snprintf(a, sizeof a, "%s", sl_test_path("a.csv"));
    snprintf(b, sizeof b, "%s", sl_test_path("b.csv"));
    put(a);
    put(b);
    const char *const cases[][2] = { { a, b }, { "/dev/null", "/dev/null" }, { a, "-" } };
    for (int i = 0; i < SL_LEN(cases); i++) {
        snprintf(text, sizeof text, "{\"file\":\"%s\",\"out\":\"%s\",\"model\":\"%s\"}",
                 cases[i][0], cases[i][1], sl_test_path("."));
        (void)!symlaw_command("discover", text, NULL, NULL, NULL);
        SL_CHECK(t, strstr(sl_last_error(), "there is no checkpoint"), "%s", sl_last_error());
    }
    unlink(a);
    unlink(b);
}

/* The folder of a run stands for the run's files in it, also by links, and for no others. */
static void files_of_a_run_are_an_input(void **state) {
    sl_fixture *t = *state;
    static const char *const ours[] = { "run.json", "log.jsonl", "model-00000010.safetensors",
                                        "state-00000010.safetensors" };
    static const char *const others[] = { "eval.jsonl", "found.json", "model.safetensors" };
    char dir[300], path[400], link_path[400], text[1500];
    snprintf(dir, sizeof dir, "%s", sl_test_path("run"));
    snprintf(link_path, sizeof link_path, "%s", sl_test_path("link"));
    assert_int_equal(mkdir(dir, 0700), 0);
    for (int i = 0; i < SL_LEN(ours); i++) {
        snprintf(path, sizeof path, "%s/%s", dir, ours[i]);
        for (int turn = 0; turn < 2; turn++) { // not there yet, and there
            snprintf(text, sizeof text, "{\"model\":\"%s\",\"out\":\"%s\"}", dir, path);
            SL_CHECK(t, symlaw_command("eval", text, NULL, NULL, NULL) == SL_EINVAL, "%s", ours[i]);
            SL_CHECK(t, strstr(sl_last_error(), "--out is a file of the run that --model names"),
                     "%s", sl_last_error());
            put(path);
        }
        assert_int_equal(symlink(path, link_path), 0);
        snprintf(text, sizeof text, "{\"model\":\"%s\",\"journal\":\"%s\"}", dir, link_path);
        SL_CHECK(t, symlaw_command("eval", text, NULL, NULL, NULL) == SL_EINVAL, "%s", ours[i]);
        SL_CHECK(t, strstr(sl_last_error(), "--journal is a file of the run"), "%s",
                 sl_last_error());
        unlink(link_path);
        assert_true(is_unchanged(path));
        unlink(path);
    }
    for (int i = 0; i < SL_LEN(others); i++) {
        snprintf(text, sizeof text, "{\"model\":\"%s\",\"out\":\"%s/%s\"}", dir, dir, others[i]);
        (void)!symlaw_command("eval", text, NULL, NULL, NULL);
        SL_CHECK(t, strstr(sl_last_error(), "there is no checkpoint"), "%s", sl_last_error());
    }
    rmdir(dir);
}

/* A model that the environment names is an input too; so is what is kept beside the predictions. */
static void files_without_an_option_count(void **state) {
    sl_fixture *t = *state;
    char file[300], part[310], text[1000];
    snprintf(file, sizeof file, "%s", sl_test_path("found.jsonl"));
    snprintf(part, sizeof part, "%s.part", file);
    put(file);
    put(part);
    assert_int_equal(setenv("SYMLAW_MODEL", file, 1), 0);
    snprintf(text, sizeof text, "{\"out\":\"%s\"}", file);
    SL_CHECK(t, symlaw_command("eval", text, NULL, NULL, NULL) == SL_EINVAL,
             "written over the model");
    SL_CHECK(t, strstr(sl_last_error(), "SYMLAW_MODEL are one file"), "%s", sl_last_error());
    unsetenv("SYMLAW_MODEL");
    snprintf(text, sizeof text, "{\"model\":\"/\",\"pairs\":\"%s\",\"predictions\":\"%s\"}", part,
             file);
    SL_CHECK(t, symlaw_command("eval", text, NULL, NULL, NULL) == SL_EINVAL,
             "written over the pairs");
    SL_CHECK(t, strstr(sl_last_error(), ".part of --predictions and --pairs are one file"), "%s",
             sl_last_error());
    assert_true(is_unchanged(file) && is_unchanged(part));
    unlink(file);
    unlink(part);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        SL_TEST(every_file_says_what_it_is_for), SL_TEST(no_output_is_another_file),
        SL_TEST(other_files_are_other_files),    SL_TEST(files_of_a_run_are_an_input),
        SL_TEST(files_without_an_option_count),
    };
    unsetenv("SYMLAW_MODEL");
    return sl_test_main("api.files", tests, SL_LEN(tests));
}

/* The model that is taken where none is named: the order of places, and what is said of none. */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands/commands_impl.h"
#include "fixture/fixture.h"

/* A folder of the test's own, with an empty file where a model would be. */
typedef struct tree {
    char top[300];
} tree;

static void make_folder(const char *path) { (void)mkdir(path, 0700); }

static void put_model(sl_fixture *t, const tree *w, const char *below) {
    char path[1000];
    snprintf(path, sizeof path, "%s/%s", w->top, below);
    for (char *at = path + strlen(w->top) + 1; (at = strchr(at, '/')); at++) {
        *at = '\0';
        make_folder(path);
        *at = '/';
    }
    FILE *f = fopen(path, "wb");
    SL_CHECK(t, f, "cannot write %s", path);
    fclose(f);
}

static void drop_model(const tree *w, const char *below) {
    char path[1000];
    snprintf(path, sizeof path, "%s/%s", w->top, below);
    unlink(path);
}

static void begin(sl_fixture *t, tree *w, const char *name) {
    snprintf(w->top, sizeof w->top, "%s", sl_test_path(name));
    make_folder(w->top);
    put_model(t, w, "a/b/c/runs/none"); // the folders
    assert_int_equal(chdir(w->top), 0);
}

#define SHIPPED "share/symlaw/models/small.safetensors"

/* What is found from a/b/c, with `data` as the folder of an installed program's data. */
static sl_status look(sl_str *found, sl_str *looked, const tree *w) {
    char folder[400], data[400];
    snprintf(folder, sizeof folder, "%s/a/b/c", w->top);
    snprintf(data, sizeof data, "%s/data", w->top);
    sl_str_truncate(found, 0);
    sl_str_truncate(looked, 0);
    return sl_commands__model_search(found, looked, folder, data);
}

static void places_have_an_order(void **state) {
    sl_fixture *t = *state;
    static const char *const places[] = { // the last one first
                                          "data/symlaw/models/small.safetensors", "a/" SHIPPED,
                                          "a/b/" SHIPPED, "a/b/c/" SHIPPED, "runs/best.safetensors"
    };
    sl_str found = { 0 }, looked = { 0 };
    tree w;
    begin(t, &w, "order");
    assert_int_equal(look(&found, &looked, &w), SL_EINVAL);
    assert_true(found.len == 0);
    for (int i = 0; i < SL_LEN(places); i++)
        SL_CHECK(t, strstr(sl_last_error(), places[i]), "no %s in: %s", places[i], sl_last_error());
    SL_CHECK(t, strstr(sl_last_error(), "symlaw train"), "%s", sl_last_error());
    for (int i = 0; i < SL_LEN(places); i++) {
        put_model(t, &w, places[i]);
        SL_MUST(t, look(&found, &looked, &w));
        const size_t end = strlen(places[i]);
        SL_CHECK(t, found.len >= end && strcmp(found.text + found.len - end, places[i]) == 0,
                 "%s, not %s", found.text, places[i]);
        SL_CHECK(t, !looked.text || !strstr(looked.text, found.text), "%s", looked.text);
    }
    // three folders above are none of its own
    for (int i = 0; i < SL_LEN(places); i++) drop_model(&w, places[i]);
    put_model(t, &w, SHIPPED);
    assert_int_equal(look(&found, &looked, &w), SL_EINVAL);
    drop_model(&w, SHIPPED);
    sl_str_clear(&found);
    sl_str_clear(&looked);
}

/* Where the program is installed as it was configured to be, that place is named once. */
static void no_place_is_named_twice(void **state) {
    sl_fixture *t = *state;
    sl_str found = { 0 }, looked = { 0 };
    assert_int_equal(sl_commands__model_search(&found, &looked, "/no/such/bin", "/no/such/share"),
                     SL_EINVAL);
    const char *first = strstr(looked.text, "/no/such/share/");
    SL_CHECK(t, first && !strstr(first + 1, "/no/such/share/"), "%s", looked.text);
    sl_str_truncate(&looked, 0);
    assert_int_equal(sl_commands__model_search(&found, &looked, "/", "/no/such/share"), SL_EINVAL);
    sl_str_truncate(&looked, 0);
    assert_int_equal(sl_commands__model_search(&found, &looked, NULL, "/no/such/share"), SL_EINVAL);
    assert_string_equal(looked.text, "runs/best.safetensors, "
                                     "/no/such/share/symlaw/models/small.safetensors");
    sl_str_clear(&looked);
}

static void the_code_finds_its_folder(void **state) {
    sl_fixture *t = *state;
    char folder[PATH_MAX], program[PATH_MAX];
    SL_CHECK(t, sl_commands__code_folder(folder), "the folder of this program is unknown");
    assert_non_null(realpath("/proc/self/exe", program));
    *strrchr(program, '/') = '\0';
    assert_string_equal(folder, program);
}

/* runs/best.safetensors of the current folder, which is damaged here: no other one is taken. */
static void null_opens_the_default(void **state) {
    sl_fixture *t = *state;
    symlaw_model *m = NULL;
    tree w;
    begin(t, &w, "null");
    put_model(t, &w, "runs/best.safetensors");
    assert_int_equal(symlaw_model_open(&m, NULL), SL_EFORMAT);
    SL_CHECK(t, strstr(sl_last_error(), "runs/best.safetensors"), "%s", sl_last_error());
    SL_CHECK(t, strstr(sl_last_error(), "it is the default model"), "%s", sl_last_error());
    setenv("SYMLAW_MODEL", "/no/such/model", 1);
    assert_int_not_equal(symlaw_model_open(&m, NULL), SL_OK);
    SL_CHECK(t, strstr(sl_last_error(), "/no/such/model"), "%s", sl_last_error());
    SL_CHECK(t, !strstr(sl_last_error(), "default"), "%s", sl_last_error());
    unsetenv("SYMLAW_MODEL");
    drop_model(&w, "runs/best.safetensors");
    assert_null(m);
}

static sl_status look_once(const tree *w) {
    sl_str found = { 0 }, looked = { 0 };
    sl_status st = look(&found, &looked, w);
    sl_str_clear(&found);
    sl_str_clear(&looked);
    return st;
}

static void each_allocation_may_fail(void **state) {
    sl_fixture *t = *state;
    tree w;
    begin(t, &w, "memory");
    put_model(t, &w, "a/" SHIPPED);
    SL_EACH_ALLOCATION(t, look_once(&w));
    drop_model(&w, "a/" SHIPPED);
}

int main(void) {
    unsetenv("SYMLAW_MODEL");
    static const struct CMUnitTest tests[] = {
        SL_TEST(places_have_an_order),      SL_TEST(no_place_is_named_twice),
        SL_TEST(the_code_finds_its_folder), SL_TEST(null_opens_the_default),
        SL_TEST(each_allocation_may_fail),
    };
    return sl_test_main("api.model_default", tests, SL_LEN(tests));
}

/* The public calls about the set E. */
#include <dirent.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "fixture/fixture.h"
#include "symlaw/symlaw.h"

static symlaw_set *opened(sl_fixture *t, const symlaw_set_options *o) {
    symlaw_set *s = NULL;
    SL_MUST(t, symlaw_set_open(&s, o, NULL, NULL));
    return s;
}

static symlaw_set_options small(void) {
    symlaw_set_options o = SYMLAW_SET_OPTIONS_INIT;
    o.depth = 2;
    o.threads = 1;
    return o;
}

static void depth_two_has_929_members_found_again(void **state) {
    sl_fixture *t = *state;
    symlaw_set_options o = small();
    symlaw_set *s = opened(t, &o);
    assert_int_equal(symlaw_set_count(s), 2 + 18 + 909);
    assert_int_equal(strlen(symlaw_set_hash(s)), 32);
    for (int64_t i = 0; i < symlaw_set_count(s); i += 7) {
        symlaw_formula *f = NULL;
        int64_t found = -2;
        SL_MUST(t, symlaw_set_get(&f, s, i));
        SL_MUST(t, symlaw_set_find(&found, s, f));
        SL_CHECK(t, found == i, "member %lld is found as %lld", (long long)i, (long long)found);
        symlaw_formula_free(f);
    }
    symlaw_set_close(s);
}

static void what_has_other_variables_is_no_member(void **state) {
    sl_fixture *t = *state;
    static const char *const strangers[] = { "x3", "x1 + x64", "c1", "x1*c2", "x1 + 1", "7" };
    symlaw_set_options o = small();
    o.depth = 1;
    symlaw_set *s = opened(t, &o);
    for (int i = 0; i < SL_LEN(strangers); i++) {
        symlaw_formula *f = NULL;
        int64_t found = -2;
        SL_MUST(t, symlaw_formula_parse(&f, strangers[i], NULL, NULL, 0));
        SL_MUST(t, symlaw_set_find(&found, s, f));
        SL_CHECK(t, found == -1, "%s is member %lld", strangers[i], (long long)found);
        symlaw_formula_free(f);
    }
    symlaw_set_close(s);
}

static void options_reach_the_set(void **state) {
    sl_fixture *t = *state;
    symlaw_set_options o = small();
    o.count = 100;
    o.withheld = 0.25;
    symlaw_set *a = opened(t, &o);
    assert_int_equal(symlaw_set_count(a), 100);
    int withheld = 0;
    for (int i = 0; i < 100; i++) withheld += symlaw_set_is_withheld(a, i);
    SL_CHECK(t, withheld > 5 && withheld < 50, "%d of 100 withheld", withheld);
    assert_int_equal(symlaw_set_is_withheld(a, -1), 0);
    assert_int_equal(symlaw_set_is_withheld(a, 100), 0);

    o.seed = 1;
    symlaw_set *b = opened(t, &o);
    assert_string_not_equal(symlaw_set_hash(a), symlaw_set_hash(b));
    o.seed = 0;
    o.threads = 3;
    symlaw_set *c = opened(t, &o);
    assert_string_equal(symlaw_set_hash(a), symlaw_set_hash(c));
    o.ops = "+";
    o.depth = 1;
    o.variables = 1;
    symlaw_set *d = opened(t, &o);
    assert_int_equal(symlaw_set_count(d), 2); // x1, 2*x1
    symlaw_set_close(a);
    symlaw_set_close(b);
    symlaw_set_close(c);
    symlaw_set_close(d);
}

/* A program built when the struct ended after `variables` must get defaults for the rest, whatever
 * lies behind its struct. */
static void an_older_caller_gets_defaults(void **state) {
    sl_fixture *t = *state;
    symlaw_set_options o;
    memset(&o, 0xEE, sizeof o);
    o.size = offsetof(symlaw_set_options, ops);
    o.depth = 1;
    o.variables = 2;
    symlaw_set *s = opened(t, &o);
    assert_int_equal(symlaw_set_count(s), 20);
    symlaw_set_close(s);
}

/* ---------------------------------------------------------------- the cache ----------------- */

/* A tenth of a second of work, enough to be kept: see "Cache of a set" in docs/formats.md. */
static symlaw_set_options large(const char *cache) {
    symlaw_set_options o = SYMLAW_SET_OPTIONS_INIT;
    o.ops = "exp,+,-,*";
    o.count = 2000;
    o.withheld = 0.25;
    o.threads = 2;
    o.cache = cache;
    return o;
}

/* Where sets are kept by all of these tests, so that it is built once; made when it is needed. */
static const char *cache_path(void) {
    static char path[300];
    if (!path[0]) snprintf(path, sizeof path, "%s", sl_test_path("cache/sets"));
    return path;
}

/* Files that are kept sets; *inode: of the last one. */
static int kept(const char *folder, ino_t *inode) {
    DIR *d = opendir(folder);
    int n = 0;
    for (struct dirent *e; d && (e = readdir(d));)
        if (strncmp(e->d_name, "set-", 4) == 0) {
            *inode = e->d_ino;
            n++;
        }
    if (d) closedir(d);
    return n;
}

static int count_progress(const symlaw_event *e, void *payload) {
    *(int *)payload += e->kind == SYMLAW_EVENT_PROGRESS;
    return 0;
}

/* Opens it; *built := was anything computed? */
static symlaw_set *watched(sl_fixture *t, const symlaw_set_options *o, bool *built) {
    symlaw_set *s = NULL;
    int events = 0;
    SL_MUST(t, symlaw_set_open(&s, o, count_progress, &events));
    *built = events > 0;
    return s;
}

static void must_be_equal(sl_fixture *t, const symlaw_set *a, const symlaw_set *b) {
    assert_string_equal(symlaw_set_hash(a), symlaw_set_hash(b));
    assert_int_equal(symlaw_set_count(a), symlaw_set_count(b));
    for (int64_t i = 0; i < symlaw_set_count(a); i += 131) {
        symlaw_formula *f = NULL, *g = NULL;
        symlaw_truth same;
        SL_MUST(t, symlaw_set_get(&f, a, i));
        SL_MUST(t, symlaw_set_get(&g, b, i));
        SL_MUST(t, symlaw_formula_same(&same, f, g));
        assert_true(symlaw_yes(same));
        assert_int_equal(symlaw_set_is_withheld(a, i), symlaw_set_is_withheld(b, i));
        symlaw_formula_free(f);
        symlaw_formula_free(g);
    }
}

static void must_draw_the_same(sl_fixture *t, const symlaw_set *a, const symlaw_set *b) {
    symlaw_pairs *d = NULL, *e = NULL;
    SL_MUST(t, symlaw_pairs_open(&d, a, NULL));
    SL_MUST(t, symlaw_pairs_open(&e, b, NULL));
    for (int64_t i = 0; i < 5; i++) {
        symlaw_pair *p = NULL, *q = NULL;
        SL_MUST(t, symlaw_pairs_get(&p, d, "train", i));
        SL_MUST(t, symlaw_pairs_get(&q, e, "train", i));
        assert_int_equal(symlaw_pair_member(p), symlaw_pair_member(q));
        assert_memory_equal(symlaw_pair_y(p), symlaw_pair_y(q),
                            (size_t)symlaw_pair_rows(p) * sizeof(double));
        symlaw_pair_free(p);
        symlaw_pair_free(q);
    }
    symlaw_pairs_close(d);
    symlaw_pairs_close(e);
}

/* As the command line has it: the folder that the environment names, unless the caller names one;
 * also for a program that was built before the option was there, whatever lies behind its struct.
 */
static void the_second_set_comes_from_the_cache(void **state) {
    sl_fixture *t = *state;
    const char *folder = cache_path();
    ino_t before = 0, after = 0;
    bool built;
    assert_int_equal(setenv("SYMLAW_CACHE", folder, 1), 0);
    symlaw_set_options o = large("off");
    symlaw_set *plain = watched(t, &o, &built), *s;
    assert_true(built);
    assert_int_equal(kept(folder, &before), 0);

    memset(&o.cache, 0xEE, sizeof o.cache);
    o.size = offsetof(symlaw_set_options, cache);
    s = watched(t, &o, &built);
    assert_true(built);
    assert_int_equal(kept(folder, &before), 1);
    must_be_equal(t, plain, s);
    symlaw_set_close(s);
    s = watched(t, &o, &built);
    assert_false(built);
    must_be_equal(t, plain, s);
    must_draw_the_same(t, plain, s);
    symlaw_set_close(s);

    assert_int_equal(setenv("SYMLAW_CACHE", "off", 1), 0);
    o = large(folder);
    s = watched(t, &o, &built);
    assert_false(built);
    symlaw_set_close(s);
    assert_int_equal(kept(folder, &after), 1);
    assert_true(before == after);
    symlaw_set_close(plain);
}

typedef struct asking {
    const symlaw_set *set;
    const symlaw_formula *f;
    int64_t at;
    sl_status st;
} asking;

static void *ask(void *payload) {
    asking *a = payload;
    a->st = symlaw_set_find(&a->at, a->set, a->f);
    return NULL;
}

/* The functions that a look-up needs are built once, by whichever thread comes first. */
static void a_set_of_the_cache_finds_members(void **state) {
    sl_fixture *t = *state;
    enum { THREADS = 4 };
    const symlaw_set_options o = large(cache_path());
    symlaw_set *s = opened(t, &o);
    symlaw_formula *f[THREADS], *stranger = NULL;
    pthread_t thread[THREADS];
    asking a[THREADS];
    int64_t at = -2;
    for (int i = 0; i < THREADS; i++) {
        SL_MUST(t, symlaw_set_get(&f[i], s, 500 * i));
        a[i] = (asking){ .set = s, .f = f[i] };
        assert_int_equal(pthread_create(&thread[i], NULL, ask, &a[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(thread[i], NULL), 0);
        assert_int_equal(a[i].st, SL_OK);
        assert_int_equal(a[i].at, 500 * i);
        symlaw_formula_free(f[i]);
    }
    SL_MUST(t, symlaw_formula_parse(&stranger, "sin(x1)", NULL, NULL, 0));
    SL_MUST(t, symlaw_set_find(&at, s, stranger));
    assert_int_equal(at, -1);
    symlaw_formula_free(stranger);
    symlaw_set_close(s);
}

/* A look-up may lack memory; the set is as good as before. */
static void a_look_up_may_lack_memory(void **state) {
    sl_fixture *t = *state;
    symlaw_set_options o = small();
    o.cache = cache_path(); // too small to be kept there
    symlaw_set *s = opened(t, &o);
    symlaw_formula *f = NULL;
    int64_t at = -2;
    SL_MUST(t, symlaw_set_get(&f, s, 7));
    SL_EACH_ALLOCATION(t, symlaw_set_find(&at, s, f));
    assert_int_equal(at, 7);
    symlaw_formula_free(f);
    symlaw_set_close(s);
}

static void wrong_arguments_are_answered(void **state) {
    (void)state;
    symlaw_set *s = NULL;
    symlaw_formula *f = NULL;
    int64_t index;
    symlaw_set_options o = small();
    assert_int_equal(symlaw_set_open(NULL, &o, NULL, NULL), SL_EINVAL);
#define WRONG(field, value)                                               \
    do {                                                                  \
        o = small();                                                      \
        o.field = (value);                                                \
        assert_int_equal(symlaw_set_open(&s, &o, NULL, NULL), SL_EINVAL); \
    } while (0)
    WRONG(size, 0);
    WRONG(depth, 5);
    WRONG(depth, -1);
    WRONG(variables, 0);
    WRONG(variables, 4);
    WRONG(count, -1);
    WRONG(withheld, 1.5);
    WRONG(withheld, NAN);
    WRONG(threads, -1);
    WRONG(max_memory, -1);
    o = small();
    o.ops = "+,plus";
    assert_int_equal(symlaw_set_open(&s, &o, NULL, NULL), SL_EFORMAT);
    assert_null(s);
    assert_int_equal(symlaw_set_get(&f, NULL, 0), SL_EINVAL);
    assert_int_equal(symlaw_set_find(&index, NULL, NULL), SL_EINVAL);
    assert_int_equal(symlaw_set_count(NULL), 0);
    assert_string_equal(symlaw_set_hash(NULL), "");
    assert_int_equal(symlaw_set_is_withheld(NULL, 0), 0);
    symlaw_set_close(NULL);

    o = small();
    o.depth = 0;
    assert_int_equal(symlaw_set_open(&s, &o, NULL, NULL), SL_OK);
    assert_int_equal(symlaw_set_get(&f, s, -1), SL_EINVAL);
    assert_int_equal(symlaw_set_get(&f, s, 2), SL_EINVAL);
    assert_int_equal(symlaw_set_get(NULL, s, 0), SL_EINVAL);
    assert_int_equal(symlaw_set_find(NULL, s, NULL), SL_EINVAL);
    symlaw_set_close(s);
}

static int stop_at_once(const symlaw_event *e, void *payload) {
    int *calls = payload;
    ++*calls;
    return e->kind == SYMLAW_EVENT_PROGRESS;
}

static void a_listener_can_stop_it(void **state) {
    sl_fixture *t = *state;
    symlaw_set_options o = small();
    symlaw_set *s = NULL;
    int calls = 0;
    assert_int_equal(symlaw_set_open(&s, &o, stop_at_once, &calls), SL_ECANCEL);
    assert_null(s);
    SL_CHECK(t, calls > 0, "never called");
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(depth_two_has_929_members_found_again),
        SL_TEST(what_has_other_variables_is_no_member),
        SL_TEST(options_reach_the_set),
        SL_TEST(an_older_caller_gets_defaults),
        SL_TEST(the_second_set_comes_from_the_cache),
        SL_TEST(a_set_of_the_cache_finds_members),
        SL_TEST(a_look_up_may_lack_memory),
        SL_TEST(wrong_arguments_are_answered),
        SL_TEST(a_listener_can_stop_it),
    };
    return sl_test_main("api.set", tests, SL_LEN(tests));
}

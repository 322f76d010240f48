/* Threads with little stack: every call refuses, or has enough to end. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "commands/commands_test.h"

/* What a thread is asked for, and what came of it. */
typedef struct task {
    char model[256], table[256], out[256];
    char *brackets, *json; // nested as deep as is read
    const symlaw_formula *formula;
    const symlaw_set *set;
    const symlaw_model *trained;
    int refused, answered;
    char wrong[400]; // a call that did neither
    bool all;        // also what takes most
} task;

static void took(task *t, sl_status st, const char *what, bool good) {
    if (st == SL_ELIMIT && strstr(sl_last_error(), "of stack left"))
        t->refused++;
    else if (good)
        t->answered++;
    else
        snprintf(t->wrong, sizeof t->wrong, "%s: %d, %s", what, st, sl_last_error());
}

static void command(task *t, const char *name, const char *options) {
    const sl_status st = symlaw_command(name, options, NULL, NULL, NULL);
    took(t, st, name, st == SL_OK);
}

/* The typed calls. What they make is freed; free and close work with any stack. */
static void call_all(task *t) {
    symlaw_formula *f = NULL, *canon = NULL;
    symlaw_truth truth;
    char *text = NULL;
    double y, x = 1;
    const double *columns[] = { &x, &x };
    int64_t index;
    symlaw_pairs *data = NULL;
    symlaw_pair *sample = NULL;
    symlaw_set *set = NULL;
    symlaw_model *model = NULL;
    symlaw_discovery *found = NULL;
    symlaw_set_options small = SYMLAW_SET_OPTIONS_INIT;
    sl_status st;
    small.depth = 1;
    small.threads = 1;
#define TOOK(call)               \
    do {                         \
        st = call;               \
        took(t, st, #call, !st); \
    } while (0)
    TOOK(symlaw_formula_parse(&f, "x1 + 2*sin(x2)", NULL, NULL, 0));
    TOOK(symlaw_formula_print(&text, t->formula, "latex"));
    TOOK(symlaw_formula_canon(&canon, t->formula));
    TOOK(symlaw_formula_same(&truth, t->formula, t->formula));
    TOOK(symlaw_formula_eval(&y, t->formula, columns, 2, 1));
    symlaw_string_free(text);
    symlaw_formula_free(f);
    symlaw_formula_free(canon);
    f = NULL;
    TOOK(symlaw_set_open(&set, &small, NULL, NULL));
    TOOK(symlaw_set_find(&index, t->set, t->formula));
    TOOK(symlaw_set_get(&f, t->set, 0));
    symlaw_formula_free(f);
    f = NULL;
    TOOK(symlaw_pairs_open(&data, t->set, NULL));
    if (data) TOOK(symlaw_pairs_get(&sample, data, "train", 3));
    if (sample) TOOK(symlaw_pair_formula(&f, sample));
    symlaw_formula_free(f);
    f = NULL;
    TOOK(symlaw_model_open(&model, t->model));
    TOOK(symlaw_model_about(&text, t->trained));
    if (t->refused == 0) symlaw_string_free(text);
    const double a[4] = { 1, 2, 3, 4 }, b[4] = { 2, 4, 6, 8 };
    const double *in[] = { a };
    TOOK(symlaw_discover(&found, t->trained, in, 1, b, 4, NULL, "{\"samples\":4,\"threads\":1}",
                         NULL, NULL));
    if (found) TOOK(symlaw_discovery_formula(&f, found, 0));
    if (found) TOOK(symlaw_discovery_json(&text, found));
    if (found) symlaw_string_free(text);
    symlaw_formula_free(f);
    symlaw_discovery_free(found);
    symlaw_pair_free(sample);
    symlaw_pairs_close(data);
    symlaw_set_close(set);
    symlaw_model_close(model);
}

#define TINY \
    "\"width\":8,\"layers\":1,\"depth\":1,\"points\":4,\"batch\":2,\"lanes\":2,\"valid-pairs\":0"

static void *work(void *arg) {
    task *t = arg;
    char options[1200];
    call_all(t);
    command(t, "info", "{" TINY ",\"steps\":3}");
    command(t, "pairs", "{\"index\":3,\"depth\":1}");
    command(t, "expressions", "{\"depth\":2,\"count\":true,\"threads\":2}");
    command(t, "bench",
            "{\"what\":\"sample\",\"width\":64,\"layers\":1,\"points\":16,\"samples\":8,"
            "\"tokens\":4,\"steps\":1,\"threads\":1}");
    snprintf(options, sizeof options, "{" TINY ",\"steps\":3,\"threads\":2,\"out\":\"%s\"}",
             t->out);
    command(t, "train", options);
    snprintf(options, sizeof options, "{\"model\":\"%s\",\"limit\":2,\"samples\":4,\"threads\":1}",
             t->model);
    command(t, "eval", options);
    snprintf(options, sizeof options,
             "{\"model\":\"%s\",\"file\":\"%s\",\"samples\":4,\"threads\":1}", t->model, t->table);
    command(t, "discover", options);
    if (!t->all) return NULL;
    symlaw_formula *f = NULL;
    sl_status st = symlaw_formula_parse(&f, t->brackets, NULL, NULL, 0);
    took(t, st, "brackets", st == SL_OK);
    symlaw_formula_free(f);
    st = symlaw_command("info", t->json, NULL, NULL, NULL);
    took(t, st, "nested JSON", st == SL_EINVAL);
    return NULL;
}

static char *nested(const char *before, char open, const char *middle, char close,
                    const char *after, int n) {
    const size_t size = strlen(before) + strlen(middle) + strlen(after) + 2 * (size_t)n + 1;
    char *text = malloc(size), *w = text;
    assert_non_null(text);
    w = stpcpy(w, before);
    memset(w, open, (size_t)n);
    w = stpcpy(w + n, middle);
    memset(w, close, (size_t)n);
    strcpy(w + n, after);
    return text;
}

static void prepare(sl_fixture *t, task *x, symlaw_formula **f, symlaw_set **s, symlaw_model **m) {
    char options[600];
    symlaw_set_options small = SYMLAW_SET_OPTIONS_INIT;
    snprintf(x->model, sizeof x->model, "%s", sl_test_path("model"));
    snprintf(x->table, sizeof x->table, "%s", sl_test_path("t.csv"));
    sl_test_write_text(x->table, "a,y\n1,2\n2,4\n3,6\n4,8\n");
    snprintf(options, sizeof options, "{" TINY ",\"steps\":3,\"threads\":1,\"out\":\"%s\"}",
             x->model);
    SL_MUST(t, symlaw_command("train", options, NULL, NULL, NULL));
    small.depth = 1;
    SL_MUST(t, symlaw_formula_parse(f, "x1 + x2", NULL, NULL, 0));
    SL_MUST(t, symlaw_set_open(s, &small, NULL, NULL));
    SL_MUST(t, symlaw_model_open(m, x->model));
    x->formula = *f;
    x->set = *s;
    x->trained = *m;
    x->brackets = nested("", '(', "x1", ')', "", 400);
    x->json = nested("{\"seed\":", '[', "1", ']', "}", 2000);
#ifdef __OPTIMIZE__
    x->all = true; // without it, the deepest takes more than what is promised
#endif
#ifdef __SANITIZE_ADDRESS__
    x->all = false;
#endif
}

/* From the smallest stack that a thread can have, in small steps: first every call refuses, then
 * every call ends. Calls are made at depths that differ by less than a step, so at one size some
 * may refuse and others end. */
static void a_call_refuses_or_ends(void **state) {
    sl_fixture *t = *state;
    enum { STEP = 16 << 10, MOST = 640 << 10 };
    symlaw_formula *f = NULL;
    symlaw_set *s = NULL;
    symlaw_model *m = NULL;
    task shared = { 0 };
    prepare(t, &shared, &f, &s, &m);
#ifdef __SANITIZE_THREAD__
    enum { FEW = 0 }; // every thread gets what the sanitizer needs, which is more
#else
    enum { FEW = 2 };
#endif
    int few = 0, both = 0, enough = 0;
    for (size_t size = STEP; size <= MOST && enough < 2; size += STEP) {
        pthread_attr_t a;
        pthread_t thread;
        task x = shared;
        char name[40];
        snprintf(name, sizeof name, "run%zu", size);
        snprintf(x.out, sizeof x.out, "%s", sl_test_path(name));
        assert_int_equal(pthread_attr_init(&a), 0);
        int error = pthread_attr_setstacksize(&a, size);
        if (!error) error = pthread_create(&thread, &a, work, &x);
        pthread_attr_destroy(&a);
        // below PTHREAD_STACK_MIN, or the libraries' thread-local data alone take as much
        if (error == EINVAL) continue;
        assert_int_equal(error, 0);
        pthread_join(thread, NULL);
        SL_CHECK(t, !x.wrong[0], "%zu kB: %s", size / 1024, x.wrong);
        both += x.refused > 0 && x.answered > 0;
        SL_CHECK(t, both <= 1, "%zu kB: %d refused, %d not", size / 1024, x.refused, x.answered);
        SL_CHECK(t, enough == 0 || x.answered > 0, "%zu kB is too little again", size / 1024);
        few += x.refused >= 18;
        enough += x.answered >= 20;
    }
    SL_CHECK(t, few >= FEW && enough == 2, "refused with %d sizes, enough with %d", few, enough);
    free(shared.brackets);
    free(shared.json);
    symlaw_formula_free(f);
    symlaw_set_close(s);
    symlaw_model_close(m);
}

int main(void) {
    static const struct CMUnitTest tests[] = { SL_TEST(a_call_refuses_or_ends) };
    setenv("SYMLAW_CACHE", "off", 1);
    return sl_test_main("api.stack", tests, SL_LEN(tests));
}

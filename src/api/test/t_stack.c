/* Threads with little stack: every call refuses, or has enough to end. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "api/test/heard.h"

/* What a thread is asked for, and what came of it. */
typedef struct task {
    char model[256], table[256], out[256];
    char *brackets, *json; // nested as deep as is read
    const sl_formula *formula;
    const sl_set *set;
    const sl_trained *trained;
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
    const sl_status st = sl_command(name, options, NULL, NULL, NULL);
    took(t, st, name, st == SL_OK);
}

/* The typed calls. What they make is freed; free and close work with any stack. */
static void call_all(task *t) {
    sl_formula *f = NULL, *canon = NULL;
    sl_truth truth;
    char *text = NULL;
    double y, x = 1;
    const double *columns[] = { &x, &x };
    int64_t index;
    sl_data *data = NULL;
    sl_sample *sample = NULL;
    sl_set *set = NULL;
    sl_trained *model = NULL;
    sl_found *found = NULL;
    sl_set_options small = SL_SET_OPTIONS_INIT;
    sl_status st;
    small.depth = 1;
    small.threads = 1;
#define TOOK(call)               \
    do {                         \
        st = call;               \
        took(t, st, #call, !st); \
    } while (0)
    TOOK(sl_formula_parse(&f, "x1 + 2*sin(x2)", NULL, NULL, 0));
    TOOK(sl_formula_print(&text, t->formula, "latex"));
    TOOK(sl_formula_canon(&canon, t->formula));
    TOOK(sl_formula_same(&truth, t->formula, t->formula));
    TOOK(sl_formula_eval(&y, t->formula, columns, 2, 1));
    sl_string_free(text);
    sl_formula_free(f);
    sl_formula_free(canon);
    f = NULL;
    TOOK(sl_set_open(&set, &small, NULL, NULL));
    TOOK(sl_set_find(&index, t->set, t->formula));
    TOOK(sl_set_get(&f, t->set, 0));
    sl_formula_free(f);
    f = NULL;
    TOOK(sl_data_open(&data, t->set, NULL));
    if (data) TOOK(sl_data_get(&sample, data, "train", 3));
    if (sample) TOOK(sl_sample_formula(&f, sample));
    sl_formula_free(f);
    f = NULL;
    TOOK(sl_model_open(&model, t->model));
    TOOK(sl_model_about(&text, t->trained));
    if (t->refused == 0) sl_string_free(text);
    const double a[4] = { 1, 2, 3, 4 }, b[4] = { 2, 4, 6, 8 };
    const double *in[] = { a };
    TOOK(sl_discover(&found, t->trained, in, 1, b, 4, NULL, "{\"samples\":4,\"threads\":1}", NULL,
                     NULL));
    if (found) TOOK(sl_found_formula(&f, found, 0));
    if (found) TOOK(sl_found_json(&text, found));
    if (found) sl_string_free(text);
    sl_formula_free(f);
    sl_found_free(found);
    sl_sample_free(sample);
    sl_data_close(data);
    sl_set_close(set);
    sl_model_close(model);
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
    sl_formula *f = NULL;
    sl_status st = sl_formula_parse(&f, t->brackets, NULL, NULL, 0);
    took(t, st, "brackets", st == SL_OK);
    sl_formula_free(f);
    st = sl_command("info", t->json, NULL, NULL, NULL);
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

static void prepare(sl_fixture *t, task *x, sl_formula **f, sl_set **s, sl_trained **m) {
    char options[600];
    sl_set_options small = SL_SET_OPTIONS_INIT;
    snprintf(x->model, sizeof x->model, "%s", sl_test_path("model"));
    snprintf(x->table, sizeof x->table, "%s", sl_test_path("t.csv"));
    FILE *file = fopen(x->table, "w");
    assert_non_null(file);
    fputs("a,y\n1,2\n2,4\n3,6\n4,8\n", file);
    fclose(file);
    snprintf(options, sizeof options, "{" TINY ",\"steps\":3,\"threads\":1,\"out\":\"%s\"}",
             x->model);
    SL_MUST(t, sl_command("train", options, NULL, NULL, NULL));
    small.depth = 1;
    SL_MUST(t, sl_formula_parse(f, "x1 + x2", NULL, NULL, 0));
    SL_MUST(t, sl_set_open(s, &small, NULL, NULL));
    SL_MUST(t, sl_model_open(m, x->model));
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
 * every call ends, and there is nothing between. */
static void a_call_refuses_or_ends(void **state) {
    sl_fixture *t = *state;
    enum { STEP = 16 << 10, MOST = 640 << 10 };
    sl_formula *f = NULL;
    sl_set *s = NULL;
    sl_trained *m = NULL;
    task shared = { 0 };
    prepare(t, &shared, &f, &s, &m);
    int few = 0, enough = 0;
    for (size_t size = STEP; size <= MOST && enough < 2; size += STEP) {
        pthread_attr_t a;
        pthread_t thread;
        task x = shared;
        char name[40];
        snprintf(name, sizeof name, "run%zu", size);
        snprintf(x.out, sizeof x.out, "%s", sl_test_path(name));
        assert_int_equal(pthread_attr_init(&a), 0);
        assert_int_equal(pthread_attr_setstacksize(&a, size), 0);
        const int error = pthread_create(&thread, &a, work, &x);
        pthread_attr_destroy(&a);
        if (error == EINVAL) continue; // the libraries' thread-local data alone take as much
        assert_int_equal(error, 0);
        pthread_join(thread, NULL);
        SL_CHECK(t, !x.wrong[0], "%zu kB: %s", size / 1024, x.wrong);
        SL_CHECK(t, x.refused == 0 || x.answered == 0, "%zu kB: %d refused, %d not", size / 1024,
                 x.refused, x.answered);
        SL_CHECK(t, enough == 0 || x.answered > 0, "%zu kB is too little again", size / 1024);
        few += x.refused >= 18;
        enough += x.answered >= 20;
    }
    SL_CHECK(t, few >= 2 && enough == 2, "refused with %d sizes, enough with %d", few, enough);
    free(shared.brackets);
    free(shared.json);
    sl_formula_free(f);
    sl_set_close(s);
    sl_model_close(m);
}

int main(void) {
    static const struct CMUnitTest tests[] = { SL_TEST(a_call_refuses_or_ends) };
    setenv("SYMLAW_CACHE", "off", 1);
    return sl_test_main("api.stack", tests, SL_LEN(tests));
}

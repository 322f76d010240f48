/* A host program may have set any locale. Whatever it calls here must give the same bytes as in the
 * C locale, and leave the host's locale in force: in callbacks too, and after calls that fail.
 *
 * A transcript has everything that the public calls give: results with their whole configuration,
 * what is printed, messages, files. It is made in the C locale twice, which shows that nothing in
 * it changes by itself, and then once in each locale. Each time the current folder is a fresh one,
 * so that paths are equal. */
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands/commands.h"
#include "fixture/fixture.h"
#include "symlaw/symlaw.h"

/* A decimal comma; also an I without a dot; a decimal point of two bytes. */
static const char *const locales[] = { "de_DE.UTF-8", "tr_TR.UTF-8", "ps_AF.UTF-8" };

#define TINY                                                                         \
    "\"width\":8,\"layers\":1,\"depth\":1,\"ops\":\"+,*\",\"points\":8,\"batch\":2," \
    "\"lanes\":2,\"valid-pairs\":2,\"threads\":1"

/* ---------------------------------------------------------------- the host ------------------ */

typedef struct host {
    locale_t own;      // of the thread: LC_GLOBAL_LOCALE, or one that it uses
    char point[8];     // its decimal point
    const char *wrong; // what was found changed
} host;

static void look(host *h, const char *where) {
    char text[16];
    snprintf(text, sizeof text, "%.1f", 0.5);
    const bool same = uselocale((locale_t)0) == h->own && text[0] == '0' &&
                      strncmp(text + 1, h->point, strlen(h->point)) == 0;
    if (!same && !h->wrong) h->wrong = where;
}

typedef struct transcript {
    sl_fixture *t;
    sl_str text;
    sl_str output, notes; // of the command that runs
    host host;
} transcript;

/* Figures that time, load or free memory decide become a # each; a comma in one still shows. */
static void add_blotted(sl_str *s, const char *text, size_t n) {
    for (size_t i = 0; i < n;) {
        size_t digits = 0, e = 0;
        while (i + digits < n && strchr("0123456789.", text[i + digits])) digits++;
        if (text[i] == '.' || digits == 0) {
            sl_str_add_char(s, text[i++]);
            continue;
        }
        if (i + digits < n && text[i + digits] == 'e')
            e = 1 + strspn(text + i + digits + 1, "+-0123456789"); // 1e-05 is as good as 0.001
        sl_str_add_char(s, '#');
        i += digits + (e > 1 ? e : 0);
    }
}

static bool contains(const char *text, size_t n, const char *part) {
    return memmem(text, n, part, strlen(part)) != NULL;
}

/* JSON with such figures blotted out, by the names of its members. */
static void add_json(sl_str *s, const char *json) {
    for (const char *at = json; *at;) {
        const char *colon = strstr(at, "\":");
        if (!colon) {
            sl_str_add(s, at);
            return;
        }
        const char *name = colon;
        while (name > at && name[-1] != '"') name--;
        sl_str_add_bytes(s, at, (size_t)(colon + 2 - at));
        at = colon + 2;
        const size_t len = (size_t)(colon - name);
        size_t n = 0;
        if (contains(name, len, "second") || contains(name, len, "gflops") ||
            contains(name, len, "peak"))
            n = strspn(at, "0123456789.+-e");
        else if (*at == '{' && (contains(name, len, "cost") || contains(name, len, "time")))
            n = strcspn(at, "}");
        add_blotted(s, at, n);
        at += n;
    }
}

/* Lines of text, with the figures of those about time and memory blotted out. In a table of
 * formulas that is the one behind the status. */
static void add_lines(sl_str *s, const char *text) {
    static const char *const whole[] = { "  time ", "are free", "at most", ", after " };
    static const char *const status[] = { "scored  ", "refined  ", "snapped  " };
    while (*text) {
        const size_t n = strcspn(text, "\n") + (text[strcspn(text, "\n")] == '\n');
        size_t from = n, to = n;
        for (int i = 0; i < SL_LEN(whole); i++)
            if (contains(text, n, whole[i])) from = 0;
        for (int i = 0; i < SL_LEN(status); i++) {
            const char *at = memmem(text, n, status[i], strlen(status[i]));
            if (!at) continue;
            from = (size_t)(at - text) + strcspn(at, " ");
            to = from + strspn(text + from, " ");
            to += strcspn(text + to, " \n");
        }
        sl_str_add_bytes(s, text, from);
        add_blotted(s, text + from, to - from);
        sl_str_add_bytes(s, text + to, n - to);
        text += n;
    }
}

static int on_event(const symlaw_event *e, void *payload) {
    transcript *x = payload;
    look(&x->host, "in a callback");
    if (e->kind == SYMLAW_EVENT_OUTPUT || e->kind == SYMLAW_EVENT_EXCERPT)
        sl_str_add_bytes(&x->output, e->text, e->length);
    if (e->kind == SYMLAW_EVENT_NOTE) add_blotted(&x->notes, e->text, e->length);
    return 0;
}

/* What a call returned, and its message if it failed. */
static void add_status(transcript *x, sl_status st) {
    look(&x->host, st == SL_OK ? "after a call" : "after a failing call");
    sl_str_add(&x->text, sl_status_text(st));
    if (st != SL_OK) {
        sl_str_add(&x->text, ": ");
        sl_str_add(&x->text, sl_last_error());
    }
    sl_str_add_char(&x->text, '\n');
}

static void add_file(transcript *x, const char *path) {
    char *bytes = NULL;
    size_t n = 0;
    SL_MUST(x->t, sl_file_read(&bytes, &n, path, (size_t)1 << 24));
    sl_str_add(&x->text, path);
    sl_str_add(&x->text, "\n");
    if (strstr(path, ".json"))
        add_json(&x->text, bytes);
    else
        sl_str_add_bytes(&x->text, bytes, n); // the bytes of weights too, NULs and all
    sl_free(bytes);
}

static void add_bits(transcript *x, const double *v, int n) {
    char text[32];
    for (int i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, &v[i], sizeof bits);
        snprintf(text, sizeof text, "%016llx ", (unsigned long long)bits);
        sl_str_add(&x->text, text);
    }
    sl_str_add(&x->text, "\n");
}

static void add_owned(transcript *x, char *text) {
    sl_str_add(&x->text, text);
    sl_str_add(&x->text, "\n");
    symlaw_string_free(text);
}

/* ---------------------------------------------------------------- commands ------------------ */

static void command(transcript *x, const char *name, const char *options) {
    char *result = NULL;
    sl_str_add(&x->text, name);
    sl_str_add(&x->text, options);
    const sl_status st = symlaw_command(name, options, on_event, x, &result);
    add_status(x, st);
    if (result && strcmp(name, "bench") == 0) // of its figures all are times
        *strstr(result, ",\"seconds\"") = '\0';
    if (result) add_json(&x->text, result);
    sl_str_add(&x->text, "\n");
    const char *output = sl_str_text(&x->output);
    if (strcmp(name, "bench") == 0)
        ;
    else if (output[0] == '{')
        add_json(&x->text, output);
    else
        add_lines(&x->text, output);
    sl_str_add(&x->text, sl_str_text(&x->notes));
    symlaw_string_free(result);
    sl_str_clear(&x->output);
    sl_str_clear(&x->notes);
}

static const char table_points[] = "X1,TITLE,Y\n0.5,1.25,INF\n1.5,2.5,1.0\n2.25,-1.5,3.75\n"
                                   "3.5,0.5,5.5\n4.125,2.75,5.5\n5.0625,-2.5,10.125\n6.5,1.5,NaN\n"
                                   "7.5,4.5,10.5\n8.25,-0.5,16.0\n9.5,1.125e-1,Infinity\n";
static const char table_commas[] = "X1;TITLE;Y\n0,5;1,25;2\n1,5;2,5;1,0\n2,25;-1,5;3,75\n"
                                   "3,5;0,5;5,5\n4,125;2,75;5,5\n";
static const char pairs_lines[] =
    "{\"id\":\"a\",\"x\":[[1.5,2.25,3,4e-1]],\"y\":[2.5,3.25,4,1.4],\"expr\":\"x1 + 1.0\"}\n"
    "{\"id\":\"b\",\"x\":[[1,2,3,4]],\"y\":[INFINITY,3,4,5]}\n"
    "{\"id\":\"c\",\"x\":[[1,2,3,99999999999999999999]],\"y\":[1,2.5,3,-4.75]}\n";

static const struct call {
    const char *name, *options;
} calls[] = {
    { "info", "{\"tokens\":31.5}" },
    { "info", "{\"json\":true,\"lr\":0.001,\"steps\":7,\"tokens\":31.5}" },
    { "expressions", "{\"depth\":1,\"json\":true}" },
    { "expressions", "{\"depth\":1,\"withheld\":0.25}" },
    { "expressions", "{\"canon\":\"0.25*x1 + 1.5e-3*INPUT\",\"names\":\"TITLE,INPUT\"}" },
    { "expressions", "{\"same\":[\"0.5*x1\",\"x1/2\"]}" },
    { "expressions", "{\"canon\":\"0,5*x1\"}" },
    { "pairs", "{\"depth\":1,\"count\":2}" },
    { "pairs", "{\"depth\":1,\"index\":3,\"format\":\"pretty\"}" },
    { "pairs", "{\"depth\":1,\"index\":3,\"format\":\"csv\",\"noise\":0.05}" },
    { "pairs", "{\"depth\":1,\"points\":8,\"stats\":50,\"disjoint\":100,\"test-size\":20,"
               "\"constant-chance\":0.35,\"threads\":1}" },
    { "pairs", "{\"from\":\"pairs.jsonl\"}" },
    { "train", "{" TINY ",\"steps\":3,\"out\":\"run\"}" },
    { "info", "{\"run\":\"run\"}" },
    { "info", "{\"model\":\"run/model-00000003.safetensors\",\"tensors\":true}" },
    // the model alone: no law is behind these points, and a search for one would take minutes here
    { "discover", "{\"file\":\"points.csv\",\"model\":\"run\",\"search\":\"model\",\"samples\":8,"
                  "\"refine\":3,\"threads\":1,\"plot\":\"figure.svg\"}" },
    { "discover",
      "{\"file\":\"points.csv\",\"model\":\"run\",\"search\":\"model\",\"holdout\":0.25,"
      "\"threads\":1,\"json\":true}" },
    { "discover", "{\"file\":\"commas.csv\",\"model\":\"run\",\"threads\":1}" },
    { "discover",
      "{\"file\":\"commas.csv\",\"model\":\"run\",\"target\":\"title\",\"threads\":1}" },
    { "discover", "{\"file\":\"missing.csv\",\"model\":\"run\"}" },
    { "eval", "{\"model\":\"run\",\"limit\":3,\"samples\":4,\"seeds\":2,\"threads\":1,"
              "\"predictions\":\"predictions.jsonl\"}" },
    { "bench", "{\"what\":\"sample\",\"width\":8,\"layers\":1,\"points\":2,\"samples\":2,"
               "\"tokens\":4,\"steps\":1,\"threads\":1}" },
    // refused, with numbers in the message
    { "info", "{\"dropout\":1.75,\"tokens\":31.5}" },
    { "info", "{\"warmup\":-0.125,\"tokens\":31.5}" },
    { "info", "{\"steps\":1.5,\"tokens\":31.5}" },
    { "pairs", "{\"withheld\":\"0,5\"}" },
    { "pairs", "{\"depth\":1.25" },
    { "PAIRS", "{}" },
};

/* Every default, as the table has it. */
static void add_defaults(transcript *x) {
    for (int i = 0; i < symlaw_command_count(); i++) {
        const symlaw_command_info *c = symlaw_command_get(i);
        for (int k = 0; k < c->n_options; k++) {
            const symlaw_option_info *o = symlaw_command_option(c, k);
            sl_str_add(&x->text, c->name);
            sl_str_add(&x->text, o->name);
            sl_str_add(&x->text, o->default_value ? o->default_value : "none");
            add_bits(x, (double[]){ o->min, o->max }, 2);
        }
    }
}

/* ---------------------------------------------------------------- typed calls --------------- */

static void add_formulas(transcript *x) {
    static const char *const texts[] = { "0.5*x1 + 2.75e-3", "1.5*x1^2 - .25", "sin(0.1*TITLE)",
                                         "0,5*x1",           "1e400*x1",       "X1*inf" };
    static const char *const names[] = { "x1", "TITLE" };
    static const char *const formats[] = { "infix",  "python", "sympy", "latex",
                                           "mathml", "c",      "prefix" };
    for (int i = 0; i < SL_LEN(texts); i++) {
        symlaw_formula *f = NULL;
        const sl_status st = symlaw_formula_parse(&f, texts[i], NULL, names, 2);
        add_status(x, st);
        for (int k = 0; st == SL_OK && k < SL_LEN(formats); k++) {
            char *text = NULL;
            const sl_status printed = symlaw_formula_print(&text, f, formats[k]);
            add_status(x, printed);
            if (printed == SL_OK) add_owned(x, text);
        }
        symlaw_formula_free(f);
    }
}

static void add_pairs(transcript *x) {
    symlaw_set_options o = SYMLAW_SET_OPTIONS_INIT;
    symlaw_set *set = NULL;
    symlaw_pairs *data = NULL;
    o.depth = 1;
    o.withheld = 0.25;
    o.threads = 1;
    add_status(x, symlaw_set_open(&set, &o, on_event, x));
    add_status(x, symlaw_pairs_open(&data, set, NULL));
    int constants = 0;
    for (int i = 0; i < 20; i++) {
        symlaw_pair *s = NULL;
        symlaw_formula *f = NULL;
        char *text = NULL;
        add_status(x, symlaw_pairs_get(&s, data, "train", i));
        add_status(x, symlaw_pair_formula(&f, s));
        add_status(x, symlaw_formula_print(&text, f, "infix"));
        constants += strpbrk(text, "3456789") != NULL; // no such number is in the set itself
        add_owned(x, text);
        for (int c = 0; c < symlaw_pair_columns(s); c++)
            add_bits(x, symlaw_pair_x(s, c), symlaw_pair_rows(s));
        add_bits(x, symlaw_pair_y(s), symlaw_pair_rows(s));
        symlaw_formula_free(f);
        symlaw_pair_free(s);
    }
    SL_CHECK(x->t, constants > 0, "pairs have no constants");
    symlaw_pairs_close(data);
    data = NULL;
    add_status(x, symlaw_pairs_open(&data, set, "{\"noise\":-0.5}"));
    symlaw_set_close(set);
}

/* y = 0.75 x1 - 2.125 x2 + 0.5: found by the baselines, whatever the model says. */
static void add_discovery(transcript *x) {
    enum { ROWS = 24 };
    double x1[ROWS], x2[ROWS], y[ROWS];
    const double *columns[] = { x1, x2 };
    static const char *const names[] = { "INPUT", "title" };
    for (int i = 0; i < ROWS; i++) {
        x1[i] = i * 0.25 - 2;
        x2[i] = (i * 7 % 11) * 0.5;
        y[i] = 0.75 * x1[i] - 2.125 * x2[i] + 0.5;
    }
    symlaw_model *model = NULL;
    symlaw_discovery *found = NULL;
    char *text = NULL;
    add_status(x, symlaw_model_open(&model, "run"));
    add_status(x, symlaw_model_about(&text, model));
    add_owned(x, text);
    text = NULL;
    const char *quick = "{\"samples\":6,\"refine\":3,\"threads\":1}";
    add_status(x, symlaw_discover(&found, model, columns, 2, y, ROWS, names, quick, on_event, x));
    add_status(x, symlaw_discovery_json(&text, found));
    add_json(&x->text, text);
    symlaw_string_free(text);
    for (int64_t i = 0; i < symlaw_discovery_count(found); i++) {
        symlaw_formula *f = NULL;
        text = NULL;
        add_status(x, symlaw_discovery_formula(&f, found, i));
        add_status(x, symlaw_formula_print(&text, f, "python"));
        add_owned(x, text);
        add_bits(x, &(double){ symlaw_discovery_r2(found, i) }, 1);
        symlaw_formula_free(f);
    }
    SL_CHECK(x->t, symlaw_discovery_count(found) > 0 && symlaw_discovery_r2(found, 0) > 1 - 1e-12,
             "not found");
    symlaw_discovery_free(found);
    found = NULL;
    y[3] = INFINITY;
    add_status(x, symlaw_discover(&found, model, columns, 2, y, ROWS, names, quick, on_event, x));
    symlaw_model_close(model);
}

/* All of it, in a fresh folder. */
static void make(transcript *x) {
    static int number;
    char folder[32], before[4096];
    snprintf(folder, sizeof folder, "%d", number++);
    const char *path = sl_test_path(folder);
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(chdir(path), 0);
    sl_test_write_text("points.csv", table_points);
    sl_test_write_text("commas.csv", table_commas);
    sl_test_write_text("pairs.jsonl", pairs_lines);
    add_defaults(x);
    for (int i = 0; i < SL_LEN(calls); i++) command(x, calls[i].name, calls[i].options);
    add_formulas(x);
    add_pairs(x);
    add_discovery(x);
    add_file(x, "run/run.json");
    add_file(x, "run/log.jsonl");
    add_file(x, "run/model-00000003.safetensors");
    add_file(x, "figure.svg");
    add_file(x, "predictions.jsonl");
    assert_int_equal(chdir(before), 0);
    SL_MUST(x->t, sl_str_status(&x->text));
}

/* ---------------------------------------------------------------- comparing ----------------- */

static transcript begin(sl_fixture *t) {
    transcript x = { .t = t, .host = { .own = LC_GLOBAL_LOCALE } };
    snprintf(x.host.point, sizeof x.host.point, "%s", localeconv()->decimal_point);
    return x;
}

/* Where two texts begin to differ, for people. */
static void must_be_equal(sl_fixture *t, const transcript *a, const transcript *b,
                          const char *what) {
    SL_CHECK(t, !b->host.wrong, "%s: the host's locale was another one %s", what, b->host.wrong);
    size_t i = 0;
    while (i < a->text.len && i < b->text.len && a->text.text[i] == b->text.text[i]) i++;
    const size_t from = i < 80 ? 0 : i - 80;
    SL_CHECK(t, i == a->text.len && i == b->text.len,
             "%s: %zu bytes on\n  %.120s\nis not\n  %.120s", what, i, b->text.text + from,
             a->text.text + from);
}

static transcript expected; // in the C locale

static void nothing_changes_by_itself(void **state) {
    sl_fixture *t = *state;
    expected = begin(t);
    make(&expected);
    transcript again = begin(t);
    make(&again);
    must_be_equal(t, &expected, &again, "C");
    sl_str_clear(&again.text);
    // kept for the other tests, outside of what this one may leave behind
    char *text = malloc(expected.text.len);
    assert_non_null(text);
    memcpy(text, expected.text.text, expected.text.len);
    const size_t len = expected.text.len;
    sl_str_clear(&expected.text);
    expected.text.text = text;
    expected.text.len = len;
}

static void results_are_the_same_bytes(sl_fixture *t, const char *name) {
    assert_non_null(expected.text.text);
    if (!setlocale(LC_ALL, name)) sl_test_skip("no locale %s: tools/setup check installs it", name);
    transcript x = begin(t);
    make(&x);
    setlocale(LC_ALL, "C");
    must_be_equal(t, &expected, &x, name);
    sl_str_clear(&x.text);
}

static void in_german(void **state) { results_are_the_same_bytes(*state, locales[0]); }
static void in_turkish(void **state) { results_are_the_same_bytes(*state, locales[1]); }
static void in_pashto(void **state) { results_are_the_same_bytes(*state, locales[2]); }

/* A host with threads that have locales of their own, while the process has another. */
typedef struct caller {
    pthread_t thread;
    const char *name, *wrong;
} caller;

static int count_commas(const symlaw_event *e, void *payload) {
    (void)e;
    look(payload, "in a callback");
    return 0;
}

static void *call_in_own_locale(void *argument) {
    caller *c = argument;
    locale_t own = newlocale(LC_ALL_MASK, c->name, (locale_t)0);
    if (!own) return NULL;
    uselocale(own);
    host h = { .own = own };
    snprintf(h.point, sizeof h.point, "%s", localeconv()->decimal_point);
    for (int i = 0; i < 20; i++) {
        char *result = NULL, *text = NULL;
        symlaw_formula *f = NULL;
        const sl_status st =
            symlaw_command("info", i % 2 ? "{\"lr\":2e9}" : "{\"lr\":0.25,\"tokens\":31.5}",
                           count_commas, &h, &result);
        look(&h, st == SL_OK ? "after a call" : "after a failing call");
        if (i % 2 == 0 && !strstr(result, "\"lr\":0.25,\"warmup\":0.05,")) h.wrong = "in a result";
        if (i % 2 == 1 && st != SL_EINVAL) h.wrong = "in a refusal";
        symlaw_string_free(result);
        if (symlaw_formula_parse(&f, "0.5*x1", NULL, NULL, 0) != SL_OK ||
            symlaw_formula_print(&text, f, "c") != SL_OK)
            h.wrong = "in a formula";
        look(&h, "after a formula");
        symlaw_string_free(text);
        symlaw_formula_free(f);
    }
    c->wrong = h.wrong;
    uselocale(LC_GLOBAL_LOCALE);
    freelocale(own);
    return NULL;
}

static void threads_keep_their_locales(void **state) {
    sl_fixture *t = *state;
    caller callers[SL_LEN(locales)] = { 0 };
    for (int i = 0; i < SL_LEN(locales); i++)
        if (!setlocale(LC_ALL, locales[i])) sl_test_skip("no locale %s", locales[i]);
    setlocale(LC_ALL, locales[1]);
    for (int i = 0; i < SL_LEN(locales); i++) {
        callers[i].name = locales[i];
        assert_int_equal(pthread_create(&callers[i].thread, NULL, call_in_own_locale, &callers[i]),
                         0);
    }
    for (int i = 0; i < SL_LEN(locales); i++) pthread_join(callers[i].thread, NULL);
    SL_CHECK(t, strcmp(setlocale(LC_ALL, NULL), locales[1]) == 0, "the process's locale is %s",
             setlocale(LC_ALL, NULL));
    setlocale(LC_ALL, "C");
    for (int i = 0; i < SL_LEN(locales); i++)
        SL_CHECK(t, !callers[i].wrong, "%s: wrong %s", callers[i].name, callers[i].wrong);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(nothing_changes_by_itself),
        SL_TEST(in_german),
        SL_TEST(in_turkish),
        SL_TEST(in_pashto),
        SL_TEST(threads_keep_their_locales),
    };
    const int failed = sl_test_main("api.locale", tests, SL_LEN(tests));
    free(expected.text.text);
    return failed;
}

/* Signals of a host program: thousands of them, by handlers on the ordinary stack, while the
 * library trains, samples and evaluates. Results are the same bytes as without.
 *
 * What this is about: oneDNN 2.6's products of long sums move the stack pointer into a heap buffer,
 * and the signal frame is written there (nn/libraries.c). A library must not depend on how its host
 * handles signals. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "commands/commands_test.h"

#define MODEL                                                                       \
    "\"width\":64,\"layers\":1,\"depth\":1,\"points\":16,\"batch\":16,\"lanes\":2," \
    "\"valid-pairs\":16,\"dropout\":0,\"attention-dropout\":0"

enum { ROWS = 24 };

static volatile sig_atomic_t signals_seen;

static void on_signal(int number) {
    (void)number;
    signals_seen++;
}

/* Every 100 microseconds of the clock, or as often as the machine manages. */
static void timer(bool on) {
    struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
    const struct itimerval every = { { 0, 100 }, { 0, 100 } }, never = { { 0, 0 }, { 0, 0 } };
    if (on) {
        sigaction(SIGALRM, &action, NULL);
        setitimer(ITIMER_REAL, &every, NULL);
        return;
    }
    setitimer(ITIMER_REAL, &never, NULL);
    signal(SIGALRM, SIG_IGN); // one may be pending
}

static char *bytes_of(sl_fixture *t, const char *folder, const char *name, size_t *n) {
    char path[512], *bytes = NULL;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    SL_MUST(t, sl_file_read(&bytes, n, path, (size_t)1 << 30));
    return bytes;
}

static void train(sl_fixture *t, const char *folder, int threads, int steps) {
    char options[1024];
    snprintf(options, sizeof options, "{" MODEL ",\"steps\":%d,\"threads\":%d,\"out\":\"%s\"}",
             steps, threads, folder);
    SL_MUST(t, symlaw_command("train", options, NULL, NULL, NULL));
}

enum { STEPS = 60 };
static const char weights[] = "model-00000060.safetensors";

static const char *undisturbed(sl_fixture *t) {
    static const char *folder;
    if (folder) return folder;
    const char *path = sl_test_path("undisturbed");
    train(t, path, 2, STEPS);
    return folder = path;
}

/* Runs `work` under the timer, again and again until there were enough signals in it. */
static void disturb(sl_fixture *t, int enough, void (*work)(sl_fixture *t, int round)) {
    signals_seen = 0;
    for (int round = 0; signals_seen < enough && round < 1000; round++) {
        timer(true);
        work(t, round);
        timer(false);
    }
    SL_CHECK(t, signals_seen >= enough, "%d signals only", (int)signals_seen);
}

static void train_again(sl_fixture *t, int round) {
    char name[32];
    snprintf(name, sizeof name, "disturbed-%d", round);
    const char *folder = sl_test_path(name);
    train(t, folder, 1 + round % 2, STEPS);
    timer(false);
    size_t n, m;
    char *got = bytes_of(t, folder, weights, &n);
    char *want = bytes_of(t, undisturbed(t), weights, &m);
    SL_CHECK(t, n == m && memcmp(got, want, n) == 0, "round %d: other weights", round);
    sl_free(got);
    sl_free(want);
}

static void training_survives_signals(void **state) {
    sl_fixture *t = *state;
    undisturbed(t);
    disturb(t, 2000, train_again);
}

/* All that a discovery has to say, but for its times. */
static char *samples(sl_fixture *t, const symlaw_model *m) {
    double x[ROWS], y[ROWS];
    for (int i = 0; i < ROWS; i++) {
        x[i] = 0.25 * (i + 1);
        y[i] = x[i] * x[i] + 1 / x[i];
    }
    const double *columns[] = { x };
    symlaw_discovery *found = NULL;
    SL_MUST(t, symlaw_discover(&found, m, columns, 1, y, ROWS, NULL,
                               "{\"search\":\"model\",\"samples\":32,\"refine\":4,\"threads\":2}",
                               NULL, NULL));
    sl_str all = { 0 };
    for (int64_t i = 0; i < symlaw_discovery_count(found); i++) {
        symlaw_formula *f = NULL;
        char *text = NULL;
        SL_MUST(t, symlaw_discovery_formula(&f, found, i));
        SL_MUST(t, symlaw_formula_print(&text, f, "infix"));
        sl_str_addf(&all, "%s %a %a\n", text, symlaw_discovery_r2(found, i),
                    symlaw_discovery_log_prob(found, i));
        symlaw_string_free(text);
        symlaw_formula_free(f);
    }
    symlaw_discovery_free(found);
    SL_MUST(t, sl_str_status(&all));
    return all.text;
}

static symlaw_model *model;
static char *samples_want;

static void sample_again(sl_fixture *t, int round) {
    char *got = samples(t, model);
    timer(false);
    SL_CHECK(t, strcmp(got, samples_want) == 0, "round %d:\n%s\nnot\n%s", round, got, samples_want);
    sl_free(got);
}

static void sampling_survives_signals(void **state) {
    sl_fixture *t = *state;
    SL_MUST(t, symlaw_model_open(&model, undisturbed(t)));
    samples_want = samples(t, model);
    disturb(t, 2000, sample_again);
    sl_free(samples_want);
    symlaw_model_close(model);
}

/* Every prediction with its R2, but for the seconds that it took. */
static char *evaluation(sl_fixture *t, const char *name) {
    char options[1024], *bytes = NULL;
    const char *file = sl_test_path(name);
    snprintf(options, sizeof options,
             "{\"model\":\"%s\",\"split\":\"test\",\"limit\":40,\"samples\":8,\"seeds\":1,"
             "\"threads\":2,\"predictions\":\"%s\"}",
             undisturbed(t), file);
    SL_MUST(t, symlaw_command("eval", options, NULL, NULL, NULL));
    size_t n;
    SL_MUST(t, sl_file_read(&bytes, &n, file, (size_t)1 << 30));
    for (char *at = bytes; (at = strstr(at, "\"seconds\":"));) { // its number becomes dots
        at += strlen("\"seconds\":");
        while (strchr("0123456789.e+-", *at)) *at++ = '.';
    }
    return bytes;
}

static char *evaluation_want;

/* Without the dots that stand for times, which may have other lengths. */
static bool same_but_dots(const char *a, const char *b) {
    for (;; a++, b++) {
        while (*a == '.') a++;
        while (*b == '.') b++;
        if (*a != *b) return false;
        if (!*a) return true;
    }
}

static void evaluate_again(sl_fixture *t, int round) {
    char name[32];
    snprintf(name, sizeof name, "predictions-%d", round);
    char *got = evaluation(t, name);
    timer(false);
    SL_CHECK(t, same_but_dots(got, evaluation_want), "round %d:\n%s\nnot\n%s", round, got,
             evaluation_want);
    sl_free(got);
}

static void evaluation_survives_signals(void **state) {
    sl_fixture *t = *state;
    evaluation_want = evaluation(t, "predictions");
    disturb(t, 1000, evaluate_again);
    sl_free(evaluation_want);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        SL_TEST(training_survives_signals),
        SL_TEST(sampling_survives_signals),
        SL_TEST(evaluation_survives_signals),
    };
    setenv("SYMLAW_CACHE", "off", 1);
    return sl_test_main("api.signals", tests, SL_LEN(tests));
}

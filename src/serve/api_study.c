/* api_study - a study's folder, as it grows: its runs, their curves, its laws and its report.
 *
 * The state is the result of "symlaw study status". A thread reads it once a second while a
 * connection follows the events, or has asked for the state lately. It also fits the laws of the
 * finished runs, when there are more of them, by "symlaw laws"; requests get what it has. Files of
 * the folder are read as they are (docs/formats.md); names of runs in requests are those that the
 * status lists, and nothing else is opened. */
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "serve/serve_impl.h"

enum { CURVE = 500, FILE_MAX = 64 << 20, DRAWS = 200 };
static const double ASKED_SECONDS = 5; // after a request for the state

struct sl_serve__study {
    sl_serve *s;
    sl_serve__channel channel; // in the lock of channels
    char *last;                // event that was published last
    char *laws;      // of the finished runs, as in laws.json; NULL: none. In the same lock
    double asked;    // when the state was last asked for. In the same lock
    int64_t counted; // runs and evaluations that `laws` was made of; the thread's own
    pthread_t thread;
    bool running, stop;
    double next_resume;
};

/* ---------------------------------------------------------------- files --------------------- */

/* *bytes := a file of the folder; NULL if it is missing, too large, or there is no memory. */
static char *read_file(size_t *size, const sl_serve__study *study, const char *name) {
    char path[PATH_MAX];
    struct stat about;
    char *bytes = NULL;
    if (sl_serve__format(path, sizeof path, "%s/%s", study->s->config.study, name) >=
        (int)sizeof path)
        return NULL;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return NULL;
    if (fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && about.st_size <= FILE_MAX) {
        bytes = malloc((size_t)about.st_size + 1);
        *size = 0;
        while (bytes && *size < (size_t)about.st_size) {
            const ssize_t n = read(fd, bytes + *size, (size_t)about.st_size - *size);
            if (n <= 0) break;
            *size += (size_t)n;
        }
        if (bytes) bytes[*size] = '\0';
    }
    close(fd);
    return bytes;
}

static bool has_file(const sl_serve__study *study, const char *name) {
    char path[PATH_MAX];
    struct stat about;
    sl_serve__format(path, sizeof path, "%s/%s", study->s->config.study, name);
    return stat(path, &about) == 0 && S_ISREG(about.st_mode);
}

/* ---------------------------------------------------------------- the state ----------------- */

/* *out := the result of a command on the folder, which is option `path` of it. */
static symlaw_status command(char **out, const sl_serve__study *study, const char *name,
                             const char *path, const char *option, const char *value,
                             symlaw_event_fn on_event, void *payload) {
    sl_serve__text options = { 0 };
    sl_serve__json_open(&options, NULL, '{');
    sl_serve__json_text(&options, path, study->s->config.study);
    sl_serve__json_raw(&options, option, value);
    sl_serve__json_close(&options, '}');
    const symlaw_status st =
        options.failed ? SYMLAW_ENOMEM : symlaw_command(name, options.text, on_event, payload, out);
    sl_serve__clear(&options);
    return st;
}

static symlaw_status status(char **out, const sl_serve__study *study) {
    return command(out, study, "study", "path", "action", "\"status\"", NULL, NULL);
}

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

/* Members of the status that are shown, as the library wrote them. */
static void add_members(sl_serve__text *t, const char *result) {
    static const char *const names[] = { "folder",      "runs",      "planned",      "finished",
                                         "failed",      "active",    "flops",        "flops_done",
                                         "evaluations", "evaluated", "seconds_left", "complete",
                                         "notes" };
    for (int i = 0; i < SL_SERVE__LEN(names); i++) {
        size_t n;
        const char *value = sl_serve__json_member(result, names[i], &n);
        if (!value) continue;
        sl_serve__json_raw(t, names[i], "");
        sl_serve__add(t, value, n);
    }
}

/* A whole number of a result; 0: there is none. */
static int64_t count_of(const char *result, const char *name) {
    char digits[20];
    int64_t value = 0;
    size_t n;
    const char *at = sl_serve__json_member(result, name, &n);
    if (!at || n >= sizeof digits) return 0;
    memcpy(digits, at, n);
    digits[n] = '\0';
    return sl_serve__whole(&value, digits) ? value : 0;
}

static bool is_complete(const char *result) {
    size_t n;
    const char *complete = sl_serve__json_member(result, "complete", &n);
    return complete && strncmp(complete, "true", 4) == 0;
}

/* The laws that the study has written at its end; NULL: it has not. */
static char *final_laws(const sl_serve__study *study, const char *result) {
    size_t size;
    if (!is_complete(result)) return NULL;
    char *laws = read_file(&size, study, "laws.json");
    while (laws && size > 0 && (laws[size - 1] == '\n' || laws[size - 1] == ' '))
        laws[--size] = '\0';
    if (laws && laws[0] == '{' && !strchr(laws, '\n')) return laws;
    free(laws);
    return NULL;
}

/* The laws, and if they are not the final ones how many runs they are of. */
static void add_laws(sl_serve__text *t, sl_serve__study *study, const char *result) {
    char *laws = final_laws(study, result);
    if (laws) {
        sl_serve__json_raw(t, "laws", laws);
        sl_serve__json_raw(t, "preliminary", NULL);
        free(laws);
        return;
    }
    sl_serve__lock();
    sl_serve__json_raw(t, "laws", study->laws);
    if (study->laws) {
        sl_serve__json_open(t, "preliminary", '{');
        sl_serve__json_int(t, "runs", count_of(study->laws, "runs"));
        sl_serve__json_int(t, "of", count_of(result, "planned"));
        sl_serve__json_close(t, '}');
    } else {
        sl_serve__json_raw(t, "preliminary", NULL);
    }
    sl_serve__unlock();
}

/* The members of the status, and what else the page shows. */
static void add_state(sl_serve__text *t, sl_serve__study *study, const char *result) {
    sl_serve__json_open(t, NULL, '{');
    sl_serve__json_text(t, "name", base_name(study->s->config.study));
    add_members(t, result);
    add_laws(t, study, result);
    sl_serve__json_bool(t, "report", has_file(study, "report.html"));
    sl_serve__json_close(t, '}');
}

/* ---------------------------------------------------------------- laws as they form --------- */

static int is_stopped(const symlaw_event *e, void *payload) {
    (void)e;
    const sl_serve__study *study = payload;
    sl_serve__lock();
    const bool stop = study->stop;
    sl_serve__unlock();
    return stop;
}

/* The result without the members of every command: as in laws.json. NULL: no memory. */
static char *members_of_laws(const char *result) {
    size_t n;
    sl_serve__text t = { 0 };
    const char *source = sl_serve__json_member(result, "source", &n);
    if (!source) return NULL;
    sl_serve__puts(&t, "{\"source\":");
    sl_serve__puts(&t, source);
    if (t.failed) sl_serve__clear(&t);
    return t.text;
}

/* Fits the laws of the finished runs if their number, or that of evaluations, has changed. By the
 * thread alone. Without laws that can be fitted there are none. */
static void fit_laws(sl_serve__study *study, const char *status_result) {
    char draws[8], *result = NULL;
    const int64_t evaluated = count_of(status_result, "evaluated");
    const int64_t counted = count_of(status_result, "finished") + evaluated;
    if (counted == study->counted) return;
    if (is_complete(status_result) && has_file(study, "laws.json")) return;
    sl_serve__format(draws, sizeof draws, "%d", DRAWS);
    const symlaw_status st =
        command(&result, study, "laws", "file", "draws", draws, is_stopped, study);
    char *laws = st == SYMLAW_OK ? members_of_laws(result) : NULL;
    symlaw_string_free(result);
    if (st == SYMLAW_ENOMEM || st == SYMLAW_ECANCEL || (st == SYMLAW_OK && !laws)) return;
    study->counted = counted;
    sl_serve__lock();
    char *old = study->laws;
    study->laws = laws;
    sl_serve__unlock();
    free(old);
}

/* ---------------------------------------------------------------- events -------------------- */

static bool is_followed(sl_serve__study *study, bool *stop) {
    sl_serve__lock();
    const bool followed = study->channel.readers || sl_serve__now() - study->asked < ASKED_SECONDS;
    *stop = study->stop;
    sl_serve__unlock();
    return followed;
}

/* Publishes the state if it has changed. */
static void publish(sl_serve__study *study, const char *result) {
    sl_serve__text t = { 0 };
    add_state(&t, study, result);
    sl_serve__lock();
    if (!t.failed && (!study->last || strcmp(study->last, t.text) != 0)) {
        sl_serve__channel_publish(&study->channel, "study", t.text, true);
        free(study->last);
        study->last = t.text;
        t.text = NULL;
    }
    sl_serve__unlock();
    free(t.text);
}

/* Twice, so that the runs are not shown later for the time that the fit takes. */
static void look(sl_serve__study *study) {
    char *result = NULL;
    if (status(&result, study) != SYMLAW_OK) return;
    publish(study, result);
    fit_laws(study, result);
    publish(study, result);
    symlaw_string_free(result);
}

static void *watch(void *payload) {
    sl_serve__study *study = payload;
    bool stop = false;
    double next = 0;
    while (!stop) {
        if (is_followed(study, &stop) && !stop && sl_serve__now() >= next) {
            look(study);
            next = sl_serve__now() + 1;
        }
        usleep(50 * 1000);
    }
    return NULL;
}

bool sl_serve__study_begin(sl_serve__study **out, sl_serve *s) {
    *out = calloc(1, sizeof **out);
    if (!*out) return false;
    (*out)->s = s;
    (*out)->asked = -ASKED_SECONDS;
    (*out)->running = pthread_create(&(*out)->thread, NULL, watch, *out) == 0;
    return (*out)->running;
}

void sl_serve__study_stop(sl_serve__study *study) {
    sl_serve__lock();
    study->stop = true;
    study->channel.ended = true;
    sl_serve__channel_resume(&study->channel);
    sl_serve__unlock();
    if (study->running) pthread_join(study->thread, NULL);
}

void sl_serve__study_free(sl_serve__study *study) {
    if (!study) return;
    sl_serve__channel_clear(&study->channel);
    free(study->last);
    free(study->laws);
    free(study);
}

/* Resumes suspended readers now and then: a closed connection is found when it is written to. */
void sl_serve__study_tick(sl_serve__study *study) {
    enum { RESUME_SECONDS = 5 };
    const double now = sl_serve__now();
    if (now < study->next_resume) return;
    study->next_resume = now + RESUME_SECONDS;
    sl_serve__lock();
    sl_serve__channel_resume(&study->channel);
    sl_serve__unlock();
}

/* ---------------------------------------------------------------- a run --------------------- */

static void add_number(sl_serve__text *t, const char *name, const json_t *value) {
    if (json_is_integer(value))
        sl_serve__json_int(t, name, json_integer_value(value));
    else if (json_is_real(value))
        sl_serve__json_real(t, name, json_real_value(value));
    else
        sl_serve__json_raw(t, name, NULL);
}

/* A line of the log, as the files have it. */
static void add_point(sl_serve__text *t, const char *line, size_t n) {
    json_error_t e;
    json_t *j = sl_serve__json_read(&e, line, n);
    const char *event = json_string_value(json_object_get(j, "event"));
    if (event) {
        const bool valid = strcmp(event, "valid") == 0;
        sl_serve__json_open(t, NULL, '{');
        add_number(t, "step", json_object_get(j, "step"));
        add_number(t, valid ? "loss_valid" : "loss", json_object_get(j, "loss"));
        if (!valid) add_number(t, "lr", json_object_get(j, "lr"));
        add_number(t, "flops", json_object_get(j, "flops"));
        sl_serve__json_close(t, '}');
    }
    json_decref(j);
}

static bool is_event(const char *line, const char *name) {
    return strncmp(line, "{\"event\":\"", 10) == 0 && strncmp(line + 10, name, strlen(name)) == 0;
}

/* All validations, and of the steps so many, evenly. */
static void add_curve(sl_serve__text *t, const char *log) {
    int64_t steps = 0, at = 0;
    for (const char *line = log; *line; line += strcspn(line, "\n"), line += *line == '\n')
        steps += is_event(line, "step");
    const int64_t stride = steps / CURVE + 1;
    sl_serve__json_open(t, "curve", '[');
    for (const char *line = log; *line;) {
        const size_t n = strcspn(line, "\n");
        const bool step = is_event(line, "step");
        const bool shown = step && (at % stride == 0 || at == steps - 1);
        if (line[n] == '\n' && (shown || is_event(line, "valid"))) add_point(t, line, n);
        at += step;
        line += n + (line[n] == '\n');
    }
    sl_serve__json_close(t, ']');
}

/* Is it a run of the study? */
static bool is_run(const json_t *state, const char *name) {
    const json_t *runs = json_object_get(state, "runs");
    for (size_t i = 0; i < json_array_size(runs); i++) {
        const char *id = json_string_value(json_object_get(json_array_get(runs, i), "id"));
        if (id && strcmp(id, name) == 0) return true;
    }
    return false;
}

static void add_run(sl_serve__reply *r, const sl_serve__study *study, const char *name) {
    char file[NAME_MAX + 32];
    size_t size;
    sl_serve__format(file, sizeof file, "runs/%s/run.json", name);
    char *config = read_file(&size, study, file);
    sl_serve__format(file, sizeof file, "runs/%s/log.jsonl", name);
    char *log = read_file(&size, study, file);
    json_error_t e;
    json_t *good = config ? sl_serve__json_read(&e, config, strlen(config)) : NULL;
    sl_serve__json_open(&r->body, NULL, '{');
    sl_serve__json_text(&r->body, "name", name);
    sl_serve__json_raw(&r->body, "config", good ? config : NULL);
    add_curve(&r->body, log ? log : "");
    sl_serve__json_close(&r->body, '}');
    json_decref(good);
    free(config);
    free(log);
}

static void answer_run(const sl_serve__study *study, const sl_serve__call *c, sl_serve__reply *r) {
    char *result = NULL;
    json_error_t e;
    const symlaw_status st = status(&result, study);
    if (st != SYMLAW_OK) {
        sl_serve__fail_call(r, st);
        return;
    }
    json_t *state = sl_serve__json_read(&e, result, strlen(result));
    if (is_run(state, c->part[0]) && strlen(c->part[0]) <= NAME_MAX)
        add_run(r, study, c->part[0]);
    else
        sl_serve__fail(r, 404, "GET /api/v1/study lists the runs", "there is no run of this name");
    json_decref(state);
    symlaw_string_free(result);
}

/* ---------------------------------------------------------------- answers ------------------- */

static void answer_state(sl_serve__study *study, sl_serve__reply *r) {
    char *result = NULL;
    sl_serve__lock();
    study->asked = sl_serve__now();
    sl_serve__unlock();
    const symlaw_status st = status(&result, study);
    if (st == SYMLAW_OK)
        add_state(&r->body, study, result);
    else
        sl_serve__fail_call(r, st);
    symlaw_string_free(result);
}

static void answer_report(const sl_serve__study *study, sl_serve__reply *r) {
    size_t size = 0;
    char *page = read_file(&size, study, "report.html");
    if (!page) {
        sl_serve__fail(r, 404, "\"symlaw study report DIR\" makes one of the finished runs",
                       "the study has no report yet");
        return;
    }
    r->body = (sl_serve__text){ .text = page, .len = size, .cap = size + 1 };
    r->type = "text/html; charset=utf-8";
    r->report = true;
}

void sl_serve__answer_study(sl_serve *s, const sl_serve__call *c, sl_serve__reply *r) {
    sl_serve__study *study = s->study;
    if (!study) {
        sl_serve__fail(r, 404, "start the server with --study DIR", "no study was named");
        return;
    }
    if (c->route == SL_SERVE__STUDY_RUN) {
        answer_run(study, c, r);
    } else if (c->route == SL_SERVE__STUDY_REPORT) {
        answer_report(study, r);
    } else if (c->route == SL_SERVE__STUDY_EVENTS) {
        sl_serve__lock();
        r->type = "text/event-stream";
        r->channel = &study->channel;
        r->after_event = c->after_event;
        study->channel.references++;
        sl_serve__unlock();
    } else {
        answer_state(study, r);
    }
}

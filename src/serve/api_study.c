/* api_study - a study's folder, as it grows: its runs, their curves, its laws and its report.
 *
 * The state is what "symlaw study status" says. A thread looks at it once a second while someone
 * follows the events. Files of the folder are read as they are (docs/formats.md); names of runs in
 * requests are those that the status lists, and nothing else is opened. */
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "serve/serve_impl.h"

enum { CURVE = 500, FILE_MAX = 64 << 20 };

struct sl_serve__study {
    sl_serve *s;
    sl_serve__channel channel; // in the lock of channels
    char *last;                // event that was published last
    pthread_t thread;
    bool running, stop;
    double next_wake;
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

/* *out := the result of "symlaw study status". */
static symlaw_status status(char **out, const sl_serve__study *study) {
    sl_serve__text options = { 0 };
    sl_serve__json_open(&options, NULL, '{');
    sl_serve__json_text(&options, "action", "status");
    sl_serve__json_text(&options, "path", study->s->config.study);
    sl_serve__json_close(&options, '}');
    const symlaw_status st =
        options.failed ? SYMLAW_ENOMEM : symlaw_command("study", options.text, NULL, NULL, out);
    sl_serve__clear(&options);
    return st;
}

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

/* Members of the status that are shown, as the library wrote them. */
static void add_members(sl_serve__text *t, const char *result) {
    static const char *const names[] = { "folder",    "runs",         "finished",   "failed",
                                         "active",    "flops",        "flops_done", "evaluations",
                                         "evaluated", "seconds_left", "complete",   "notes" };
    for (int i = 0; i < SL_SERVE__LEN(names); i++) {
        size_t n;
        const char *value = sl_serve__json_member(result, names[i], &n);
        if (!value) continue;
        sl_serve__json_raw(t, names[i], "");
        sl_serve__add(t, value, n);
    }
}

/* The members of the status, and what else the page shows. */
static symlaw_status add_state(sl_serve__text *t, const sl_serve__study *study) {
    char *result = NULL;
    size_t size;
    const symlaw_status st = status(&result, study);
    if (st != SYMLAW_OK) return st;
    char *laws = read_file(&size, study, "laws.json");
    while (laws && size > 0 && (laws[size - 1] == '\n' || laws[size - 1] == ' '))
        laws[--size] = '\0';
    sl_serve__json_open(t, NULL, '{');
    sl_serve__json_text(t, "name", base_name(study->s->config.study));
    add_members(t, result);
    sl_serve__json_raw(t, "laws", laws && laws[0] == '{' && !strchr(laws, '\n') ? laws : NULL);
    sl_serve__json_bool(t, "report", has_file(study, "report.html"));
    sl_serve__json_close(t, '}');
    free(laws);
    symlaw_string_free(result);
    return SYMLAW_OK;
}

/* ---------------------------------------------------------------- events -------------------- */

static bool is_followed(sl_serve__study *study, bool *stop) {
    sl_serve__lock();
    const bool followed = study->channel.readers != NULL;
    *stop = study->stop;
    sl_serve__unlock();
    return followed;
}

static void look(sl_serve__study *study) {
    sl_serve__text t = { 0 };
    if (add_state(&t, study) != SYMLAW_OK || t.failed) {
        sl_serve__clear(&t);
        return;
    }
    sl_serve__lock();
    if (!study->last || strcmp(study->last, t.text) != 0) {
        sl_serve__channel_publish(&study->channel, "study", t.text, true);
        free(study->last);
        study->last = t.text;
        t.text = NULL;
    }
    sl_serve__unlock();
    free(t.text);
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
    (*out)->running = pthread_create(&(*out)->thread, NULL, watch, *out) == 0;
    return (*out)->running;
}

void sl_serve__study_stop(sl_serve__study *study) {
    sl_serve__lock();
    study->stop = true;
    study->channel.ended = true;
    sl_serve__channel_wake(&study->channel);
    sl_serve__unlock();
    if (study->running) pthread_join(study->thread, NULL);
}

void sl_serve__study_free(sl_serve__study *study) {
    if (!study) return;
    sl_serve__channel_clear(&study->channel);
    free(study->last);
    free(study);
}

/* Sleeping readers are woken now and then, so that those who have gone are noticed. */
void sl_serve__study_tend(sl_serve__study *study) {
    enum { WAKE_SECONDS = 5 };
    const double now = sl_serve__now();
    if (now < study->next_wake) return;
    study->next_wake = now + WAKE_SECONDS;
    sl_serve__lock();
    sl_serve__channel_wake(&study->channel);
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
        const symlaw_status st = add_state(&r->body, study);
        if (st != SYMLAW_OK) sl_serve__fail_call(r, st);
    }
}

/* api_discover - tables and discoveries: what is sent, before it becomes a job. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "serve/serve_impl.h"

/* ---------------------------------------------------------------- a table in memory --------- */

bool sl_serve__memory_open(sl_serve__memory *m, const char *bytes, size_t n) {
    m->fd = memfd_create("table", MFD_CLOEXEC);
    if (m->fd < 0) return false;
    for (size_t done = 0; done < n;) {
        const ssize_t wrote = write(m->fd, bytes + done, n - done);
        if (wrote <= 0) {
            close(m->fd);
            return false;
        }
        done += (size_t)wrote;
    }
    sl_serve__format(m->path, sizeof m->path, "/proc/self/fd/%d", m->fd);
    return true;
}

void sl_serve__memory_close(sl_serve__memory *m) { close(m->fd); }

void sl_serve__memory_read(sl_serve__text *t, const sl_serve__memory *m) {
    char bytes[1 << 14];
    off_t at = 0;
    for (;;) {
        const ssize_t n = pread(m->fd, bytes, sizeof bytes, at);
        if (n < 0) t->failed = true;
        if (n <= 0) return;
        sl_serve__add(t, bytes, (size_t)n);
        at += n;
    }
}

void sl_serve__memory_hide(sl_serve__text *t, const sl_serve__memory *m, const char *text,
                           size_t n) {
    const size_t path = strlen(m->path);
    size_t from = 0;
    for (size_t i = 0; i + path <= n;) {
        if (memcmp(text + i, m->path, path) != 0) {
            i++;
            continue;
        }
        sl_serve__add(t, text + from, i - from);
        sl_serve__puts(t, "table.csv");
        i += path;
        from = i;
    }
    sl_serve__add(t, text + from, n - from);
}

/* ---------------------------------------------------------------- size ---------------------- */

/* Lines, and the cells of the widest of the first ones by any separator, quoted or not. */
bool sl_serve__table_fits(sl_serve__reply *r, const sl_serve__config *c, const char *csv,
                          size_t n) {
    enum { LOOKED = 100 };
    static const char separators[] = ",;\t|";
    int64_t lines = 0, widest = 0;
    for (size_t i = 0; i < n;) {
        const char *end = memchr(csv + i, '\n', n - i);
        const size_t stop = end ? (size_t)(end - csv) : n;
        if (lines < LOOKED)
            for (int k = 0; separators[k]; k++) {
                int64_t cells = 1;
                for (size_t at = i; at < stop; at++) cells += csv[at] == separators[k];
                widest = cells > widest ? cells : widest;
            }
        lines++;
        i = stop + 1;
    }
    if (lines > c->max_rows + 1) {
        sl_serve__fail(r, 413, "send fewer rows, or start the server with a higher --max-rows",
                       "the table has %lld lines; at most %lld rows are taken", (long long)lines,
                       (long long)c->max_rows);
        return false;
    }
    if (widest > c->max_columns) {
        sl_serve__fail(r, 413,
                       "send fewer columns, or start the server with a higher --max-columns",
                       "the table has %lld columns; at most %lld are taken", (long long)widest,
                       (long long)c->max_columns);
        return false;
    }
    return true;
}

/* ---------------------------------------------------------------- what it holds ------------- */

/* A value of a query as the JSON that its option takes. */
static void add_from_text(sl_serve__text *t, const symlaw_option_info *o, const char *value) {
    int64_t whole;
    double real;
    if (o->type == SYMLAW_OPTION_FLAG)
        sl_serve__json_bool(t, o->name, strcmp(value, "false") != 0 && strcmp(value, "0") != 0);
    else if (o->type == SYMLAW_OPTION_INT && sl_serve__whole(&whole, value))
        sl_serve__json_int(t, o->name, whole);
    else if (o->type == SYMLAW_OPTION_REAL && sl_serve__real(&real, value))
        sl_serve__json_real(t, o->name, real);
    else
        sl_serve__json_text(t, o->name, value);
}

/* Names in the query are options of `info` that say how a table is read: those that `discover` has
 * too. */
static bool add_query(sl_serve__text *t, sl_serve__reply *r, const sl_serve__call *c) {
    for (int i = 0; i < c->n_query; i++) {
        const char *name = c->query[i].name;
        const symlaw_option_info *o = sl_serve__option_find("info", name);
        const symlaw_option_info *same = sl_serve__option_find("discover", name);
        if (!o || !same || !sl_serve__option_allowed(o)) {
            sl_serve__fail(r, 400,
                           "use options of \"symlaw discover\" that say how tables are read",
                           "\"%.60s\" is not an option of tables", name);
            return false;
        }
        add_from_text(t, o, c->query[i].value);
    }
    return true;
}

static int keep_excerpt(const symlaw_event *e, void *payload) {
    if (e->kind == SYMLAW_EVENT_EXCERPT) sl_serve__add(payload, e->text, e->length);
    return 0;
}

void sl_serve__fail_table(sl_serve__reply *r, symlaw_status st, const sl_serve__memory *table,
                          const sl_serve__text *excerpt) {
    const char *why = symlaw_last_error();
    const int status = sl_serve__http_status(st);
    sl_serve__text line = { 0 };
    sl_serve__memory_hide(&line, table, why, strlen(why));
    sl_serve__fail(r, status, sl_serve__remedy(status), "%s%s%s", line.text ? line.text : "",
                   excerpt->len ? "\n" : "", excerpt->text ? excerpt->text : "");
    sl_serve__clear(&line);
}

static void describe(sl_serve__reply *r, const sl_serve__memory *m, const char *options) {
    sl_serve__text clean = { 0 }, excerpt = { 0 };
    char *result = NULL;
    const symlaw_status st = symlaw_command("info", options, keep_excerpt, &excerpt, &result);
    if (st == SYMLAW_OK) {
        size_t n = 0;
        sl_serve__memory_hide(&clean, m, result, strlen(result));
        const char *table = clean.failed ? NULL : sl_serve__json_member(clean.text, "table", &n);
        if (table)
            sl_serve__add(&r->body, table, n);
        else
            sl_serve__fail(r, 503, sl_serve__remedy(503), "out of memory");
    } else {
        sl_serve__fail_table(r, st, m, &excerpt);
    }
    symlaw_string_free(result);
    sl_serve__clear(&clean);
    sl_serve__clear(&excerpt);
}

void sl_serve__answer_table(sl_serve *s, const sl_serve__call *c, sl_serve__reply *r) {
    sl_serve__memory m;
    sl_serve__text options = { 0 };
    if (!sl_serve__table_fits(r, &s->config, c->body, c->body_len)) return;
    if (!sl_serve__memory_open(&m, c->body, c->body_len)) {
        sl_serve__fail(r, 503, sl_serve__remedy(503), "out of memory");
        return;
    }
    sl_serve__json_open(&options, NULL, '{');
    sl_serve__json_text(&options, "table", m.path);
    if (add_query(&options, r, c)) {
        sl_serve__json_close(&options, '}');
        if (options.failed)
            sl_serve__fail(r, 503, sl_serve__remedy(503), "out of memory");
        else
            describe(r, &m, options.text);
    }
    sl_serve__clear(&options);
    sl_serve__memory_close(&m);
}

/* ---------------------------------------------------------------- a job --------------------- */

bool sl_serve__option_add(sl_serve__text *t, sl_serve__reply *r, const char *name,
                          const json_t *value) {
    switch (json_typeof(value)) {
    case JSON_STRING:
        if (strlen(json_string_value(value)) != json_string_length(value)) break;
        sl_serve__json_text(t, name, json_string_value(value));
        return true;
    case JSON_INTEGER: sl_serve__json_int(t, name, json_integer_value(value)); return true;
    case JSON_REAL: sl_serve__json_real(t, name, json_real_value(value)); return true;
    case JSON_TRUE:
    case JSON_FALSE: sl_serve__json_bool(t, name, json_is_true(value)); return true;
    case JSON_NULL: return true; // as if it was not given
    default: break;
    }
    sl_serve__fail(r, 400, "give a text, a number or a flag",
                   "option \"%.60s\" has a value that no option takes", name);
    return false;
}

static bool add_options(sl_serve__text *t, sl_serve__reply *r, const json_t *options,
                        double *timeout) {
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)options, name, value) {
        const symlaw_option_info *o = sl_serve__option_find("discover", name);
        if (!o || !sl_serve__option_allowed(o)) {
            sl_serve__fail(r, 400, "GET /api/v1/info lists the options that are taken",
                           o ? "option \"%.60s\" is not taken from requests"
                             : "\"%.60s\" is not an option of discover",
                           name);
            return false;
        }
        if (strcmp(name, "timeout") == 0 && json_is_number(value)) {
            const double seconds = json_number_value(value);
            if (seconds > 0 && seconds < *timeout) *timeout = seconds;
            if (seconds >= 0) continue;
        }
        if (!sl_serve__option_add(t, r, name, value)) return false;
    }
    return true;
}

static int threads_of(const sl_serve__config *c) {
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (c->threads > 0) return c->threads;
    return cores > c->max_jobs ? (int)(cores / c->max_jobs) : 1;
}

enum { SHOWN = 2000, FRONT_MAX = 100 };

static char *make_options(const sl_serve *s, sl_serve__reply *r, const json_t *given) {
    sl_serve__text t = { 0 };
    double timeout = s->config.max_seconds;
    sl_serve__json_open(&t, NULL, '{');
    if (given && !json_is_object(given)) {
        sl_serve__fail(r, 400, "send {\"csv\": TEXT, \"options\": {...}}",
                       "\"options\" is not an object");
        sl_serve__clear(&t);
        return NULL;
    }
    if (given && !add_options(&t, r, given, &timeout)) {
        sl_serve__clear(&t);
        return NULL;
    }
    sl_serve__json_real(&t, "timeout", timeout);
    sl_serve__json_real(&t, "max-memory", s->config.max_memory);
    sl_serve__json_int(&t, "threads", threads_of(&s->config));
    sl_serve__json_int(&t, "top", FRONT_MAX);
    sl_serve__json_int(&t, "values", SHOWN);
    sl_serve__json_close(&t, '}');
    if (t.failed) {
        sl_serve__clear(&t);
        sl_serve__fail(r, 503, sl_serve__remedy(503), "out of memory");
    }
    return t.text;
}

void sl_serve__answer_discover(sl_serve *s, const sl_serve__call *c, sl_serve__reply *r) {
    static const char remedy[] = "send {\"csv\": TEXT, \"options\": {...}}";
    const json_t *csv = json_object_get(c->json, "csv");
    const char *name;
    json_t *value;
    json_object_foreach(c->json, name,
                        value) if (strcmp(name, "csv") != 0 && strcmp(name, "options") != 0) {
        sl_serve__fail(r, 400, remedy, "\"%.60s\" is not a member of this request", name);
        return;
    }
    if (!json_is_string(csv) || json_string_length(csv) == 0) {
        sl_serve__fail(r, 400, remedy, "\"csv\" is not a text, or empty");
        return;
    }
    if (!sl_serve__table_fits(r, &s->config, json_string_value(csv), json_string_length(csv)))
        return;
    char *options = make_options(s, r, json_object_get(c->json, "options"));
    if (options)
        sl_serve__jobs_add(s->jobs, r, json_string_value(csv), json_string_length(csv), options,
                           c->client);
}

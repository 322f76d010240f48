/* api_fitted - all rows of a table with the value of a formula and the residual.
 *
 * By "symlaw fit --fitted" on the table that is sent. A formula of a discovery has numbers and no
 * constants, so it is only evaluated; a job need not keep its table. */
#include <string.h>

#include "serve/serve_impl.h"

static const char remedy[] = "send {\"csv\": TEXT, \"formula\": TEXT, \"options\": {...}}";

/* Options that say how the table is read, which `info` has too, and the target. */
static bool is_taken(const char *name) {
    const symlaw_option_info *o = sl_serve__option_find("fit", name);
    const bool reading = sl_serve__option_find("info", name) || strcmp(name, "target") == 0;
    return o && reading && sl_serve__option_allowed(o);
}

static bool add_options(sl_serve__text *t, sl_serve__reply *r, json_t *options) {
    const char *name;
    json_t *value;
    if (options && !json_is_object(options)) {
        sl_serve__fail(r, 400, remedy, "\"options\" is not an object");
        return false;
    }
    json_object_foreach(options, name, value) {
        if (!is_taken(name)) {
            sl_serve__fail(r, 400, "use \"target\" and options that say how tables are read",
                           "\"%.60s\" is not taken here", name);
            return false;
        }
        if (!sl_serve__option_add(t, r, name, value)) return false;
    }
    return true;
}

/* Is it a text without a byte 0? */
static bool is_text(const json_t *value) {
    return json_is_string(value) && json_string_length(value) > 0 &&
           strlen(json_string_value(value)) == json_string_length(value);
}

static bool check_members(sl_serve__reply *r, const sl_serve__call *c) {
    const char *name;
    json_t *value;
    json_object_foreach(c->json, name, value) {
        if (strcmp(name, "csv") == 0 || strcmp(name, "formula") == 0 ||
            strcmp(name, "options") == 0)
            continue;
        sl_serve__fail(r, 400, remedy, "\"%.60s\" is not a member of this request", name);
        return false;
    }
    const json_t *csv = json_object_get(c->json, "csv");
    if (json_is_string(csv) && json_string_length(csv) > 0 &&
        is_text(json_object_get(c->json, "formula")))
        return true;
    sl_serve__fail(r, 400, remedy, "\"csv\" or \"formula\" is not a text, or empty");
    return false;
}

/* ---------------------------------------------------------------- the rows ------------------ */

typedef struct fitting {
    sl_serve *s;
    sl_serve__text excerpt;
} fitting;

static int on_event(const symlaw_event *e, void *payload) {
    fitting *f = payload;
    if (e->kind == SYMLAW_EVENT_EXCERPT) sl_serve__add(&f->excerpt, e->text, e->length);
    return sl_serve__jobs_stopped(f->s->jobs);
}

static void fit(sl_serve *s, sl_serve__reply *r, const char *options, const sl_serve__memory *table,
                const sl_serve__memory *rows) {
    fitting f = { .s = s };
    char *result = NULL;
    const symlaw_status st = symlaw_command("fit", options, on_event, &f, &result);
    if (st == SYMLAW_OK) {
        r->type = "text/csv; charset=utf-8";
        sl_serve__memory_read(&r->body, rows);
    } else {
        sl_serve__fail_table(r, st, table, &f.excerpt);
    }
    symlaw_string_free(result);
    sl_serve__clear(&f.excerpt);
}

void sl_serve__answer_fitted(sl_serve *s, const sl_serve__call *c, sl_serve__reply *r) {
    sl_serve__text t = { 0 };
    sl_serve__memory table, rows;
    if (!check_members(r, c)) return;
    const json_t *csv = json_object_get(c->json, "csv");
    const char *text = json_string_value(csv);
    const size_t n = json_string_length(csv);
    if (!sl_serve__table_fits(r, &s->config, text, n)) return;
    sl_serve__json_open(&t, NULL, '{');
    if (!add_options(&t, r, json_object_get(c->json, "options"))) {
        sl_serve__clear(&t);
        return;
    }
    const bool in = sl_serve__memory_open(&table, text, n);
    const bool out = in && sl_serve__memory_open(&rows, "", 0);
    if (out) {
        sl_serve__json_text(&t, "formula", json_string_value(json_object_get(c->json, "formula")));
        sl_serve__json_text(&t, "file", table.path);
        sl_serve__json_text(&t, "fitted", rows.path);
        sl_serve__json_real(&t, "timeout", s->config.max_seconds);
        sl_serve__json_close(&t, '}');
    }
    if (out && !t.failed)
        fit(s, r, t.text, &table, &rows);
    else
        sl_serve__fail(r, 503, sl_serve__remedy(503), "out of memory");
    if (out) sl_serve__memory_close(&rows);
    if (in) sl_serve__memory_close(&table);
    sl_serve__clear(&t);
}

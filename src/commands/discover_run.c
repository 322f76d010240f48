/* discover_run - discovery with threads and progress, for the command and for the call. */
#include <math.h>
#include <string.h>

#include "commands/commands_impl.h"

typedef struct reporting {
    sl_commands_listener listener;
    const sl_names *names;
    sl_status st; // of writing a line
} reporting;

enum { LINE = 160, DIGITS = 4 };

/* Appends the formula, constants to a few digits: a line of progress need not be exact. */
static sl_status add_short(sl_str *s, const sl_candidate *c, const sl_names *names) {
    double value[SL_FIT_MAX_PARAMS];
    sl_candidate shown = *c;
    if (!c->expr || c->params > SL_FIT_MAX_PARAMS) return SL_OK;
    for (int i = 0; i < c->params; i++) {
        char text[40];
        sl_snprintf(text, sizeof text, "%.*g", DIGITS, c->value[i]);
        value[i] = sl_strtod(text, NULL);
        if (!isfinite(value[i])) return SL_OK;
    }
    shown.value = value;
    sl_str_add(s, ": ");
    SL_TRY(sl_discover_candidate_print(s, &shown, SL_FORMAT_INFIX, names));
    return sl_str_status(s);
}

/* "sampling, best R2 0.9987: 1.2*a": the figures come after the comma. */
static int on_progress(const char *what, double done, double total, const sl_candidate *best,
                       void *payload) {
    reporting *t = payload;
    char text[LINE];
    sl_str formula = { 0 };
    if (best && !isnan(best->r2)) {
        const sl_status st = add_short(&formula, best, t->names);
        t->st = SL_MIN(t->st, st); // a macro: it would print twice
        sl_snprintf(text, sizeof text, "%.40s, best R2 %.6g%.80s", what, best->r2,
                    sl_str_text(&formula));
    } else {
        sl_snprintf(text, sizeof text, "%.40s", what);
    }
    sl_str_clear(&formula);
    if (t->st != SL_OK) return true;
    return sl_commands_send_event(&t->listener, SYMLAW_EVENT_PROGRESS, text, strlen(text), done,
                                  total) != SL_OK;
}

static void on_front(const sl_candidate *front, int n, void *payload) {
    reporting *t = payload;
    sl_str text = { 0 };
    const sl_status st = sl_report_front_json(&text, front, n, t->names);
    t->st = SL_MIN(t->st, st);
    if (st == SL_OK && sl_commands_send_event(&t->listener, SYMLAW_EVENT_FRONT, text.text, text.len,
                                              0, 0) != SL_OK)
        t->listener.call->stop = true; // the next progress asks for it
    sl_str_clear(&text);
}

sl_status sl_commands_discover_rows(sl_discovery **out, const sl_commands_request *request,
                                    const sl_dataset *p, const sl_commands_run *run,
                                    const sl_commands_look *look) {
    sl_discover_options o;
    SL_TRY(sl_commands_discover_options(&o, look, run->common->seed));
    o.exhaustive.sigma = request->sigma;
    o.exhaustive.units = request->units;
    o.open_model = request->open;
    o.open_payload = request->payload;
    o.deadline = sl_deadline(run->listener.start, look->timeout);
    reporting to = { run->listener, request->names, SL_OK };
    if (run->listener.fn) o.on_front = on_front;
    o.front_payload = &to;
    sl_pool *pool = NULL;
    SL_TRY(sl_par_pool_new(&pool, (int)run->common->threads));
    sl_status st = sl_discover_run(out, request->model, pool, p, &o, on_progress, &to);
    sl_par_pool_free(pool);
    if (st != SL_OK || to.st == SL_OK) return st;
    sl_discover_free(*out);
    *out = NULL;
    return to.st;
}

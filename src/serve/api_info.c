/* api_info - what the server is, and what it takes. Made once, at the start. */
#include <stdlib.h>
#include <string.h>

#include "serve/serve_impl.h"

const symlaw_option_info *sl_serve__option_find(const char *command, const char *name) {
    for (int i = 0; i < symlaw_command_count(); i++) {
        const symlaw_command_info *c = symlaw_command_get(i);
        if (strcmp(c->name, command) != 0) continue;
        for (int k = 0; k < c->n_options; k++)
            if (strcmp(symlaw_command_option(c, k)->name, name) == 0)
                return symlaw_command_option(c, k);
    }
    return NULL;
}

bool sl_serve__option_allowed(const symlaw_option_info *o) {
    static const char *const own[] = { "json",     "quiet",      "format", "threads", "all",  "top",
                                       "max-rows", "max-memory", "values", "file",    "model" };
    if (o->type == SYMLAW_OPTION_FILE || o->type == SYMLAW_OPTION_FOLDER) return false;
    if (o->use != SYMLAW_OPTION_NO_FILE) return false;
    for (int i = 0; i < SL_SERVE__LEN(own); i++)
        if (strcmp(o->name, own[i]) == 0) return false;
    return true;
}

static const char *type_name(symlaw_option_type type) {
    switch (type) {
    case SYMLAW_OPTION_FLAG: return "flag";
    case SYMLAW_OPTION_INT: return "integer";
    case SYMLAW_OPTION_REAL: return "number";
    case SYMLAW_OPTION_CHOICE: return "choice";
    case SYMLAW_OPTION_TEXTS: return "texts";
    default: return "text";
    }
}

static void add_choices(sl_serve__text *t, const char *choices) {
    if (!choices) {
        sl_serve__json_raw(t, "choices", NULL);
        return;
    }
    sl_serve__json_open(t, "choices", '[');
    while (*choices) {
        const size_t n = strcspn(choices, "|");
        if (t->len && t->text[t->len - 1] != '[') sl_serve__puts(t, ",");
        sl_serve__quote(t, choices, n);
        choices += n + (choices[n] == '|');
    }
    sl_serve__json_close(t, ']');
}

static void add_option(sl_serve__text *t, const symlaw_option_info *o) {
    const bool number = o->type == SYMLAW_OPTION_INT || o->type == SYMLAW_OPTION_REAL;
    sl_serve__json_open(t, NULL, '{');
    sl_serve__json_text(t, "name", o->name);
    sl_serve__json_text(t, "type", type_name(o->type));
    sl_serve__json_text(t, "default", o->default_value);
    add_choices(t, o->choices);
    if (number) {
        sl_serve__json_real(t, "min", o->min);
        sl_serve__json_real(t, "max", o->max);
    } else {
        sl_serve__json_raw(t, "min", NULL);
        sl_serve__json_raw(t, "max", NULL);
    }
    sl_serve__json_text(t, "help", o->help);
    sl_serve__json_text(t, "group", o->group);
    sl_serve__json_close(t, '}');
}

static void add_options(sl_serve__text *t, const char *command) {
    sl_serve__json_open(t, "options", '[');
    for (int i = 0; i < symlaw_command_count(); i++) {
        const symlaw_command_info *c = symlaw_command_get(i);
        for (int k = 0; strcmp(c->name, command) == 0 && k < c->n_options; k++)
            if (sl_serve__option_allowed(symlaw_command_option(c, k)))
                add_option(t, symlaw_command_option(c, k));
    }
    sl_serve__json_close(t, ']');
}

/* The model that discover will use: null where there is none, or it cannot be read. */
static void add_model(sl_serve__text *t, const char *path) {
    symlaw_model *m = NULL;
    char *about = NULL;
    json_error_t e;
    if (symlaw_model_open(&m, path) == SYMLAW_OK && symlaw_model_about(&about, m) == SYMLAW_OK) {
        json_t *j = sl_serve__json_read(&e, about, strlen(about));
        sl_serve__json_open(t, "model", '{');
        sl_serve__json_text(t, "path", json_string_value(json_object_get(j, "path")));
        sl_serve__json_int(t, "parameters", json_integer_value(json_object_get(j, "parameters")));
        sl_serve__json_int(t, "inputs", json_integer_value(json_object_get(j, "inputs")));
        sl_serve__json_close(t, '}');
        json_decref(j);
    } else {
        sl_serve__json_raw(t, "model", NULL);
    }
    symlaw_string_free(about);
    symlaw_model_close(m);
}

static void add_limits(sl_serve__text *t, const sl_serve__config *c) {
    sl_serve__json_open(t, "limits", '{');
    sl_serve__json_int(t, "body_bytes", c->max_body);
    sl_serve__json_int(t, "rows", c->max_rows);
    sl_serve__json_int(t, "columns", c->max_columns);
    sl_serve__json_real(t, "seconds", c->max_seconds);
    sl_serve__json_int(t, "jobs", c->max_jobs);
    sl_serve__json_int(t, "queue", c->max_queue);
    sl_serve__json_int(t, "client_jobs", c->max_client);
    sl_serve__json_int(t, "connections", c->max_connections);
    sl_serve__json_close(t, '}');
}

bool sl_serve__info_make(sl_serve *s) {
    sl_serve__text t = { 0 };
    const char *study = s->config.study, *slash = study ? strrchr(study, '/') : NULL;
    sl_serve__json_open(&t, NULL, '{');
    sl_serve__json_text(&t, "version", symlaw_version());
    sl_serve__json_text(&t, "build", symlaw_build());
    add_limits(&t, &s->config);
    add_model(&t, s->config.model);
    if (study) {
        sl_serve__json_open(&t, "study", '{');
        sl_serve__json_text(&t, "name", slash && slash[1] ? slash + 1 : study);
        sl_serve__json_close(&t, '}');
    } else {
        sl_serve__json_raw(&t, "study", NULL);
    }
    add_options(&t, "discover");
    sl_serve__json_close(&t, '}');
    if (t.failed) sl_serve__clear(&t);
    s->info = t.text;
    return s->info != NULL;
}

void sl_serve__answer_info(sl_serve *s, const sl_serve__call *c, sl_serve__reply *r) {
    (void)c;
    r->fixed = s->info;
    r->fixed_len = strlen(s->info);
}

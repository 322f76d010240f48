/* options - the options of `symlaw serve`: their table, and their values. */
#include <string.h>

#include "serve/serve_impl.h"

static const char help[] =
    "Serves the page of symlaw to browsers of this machine, and a JSON API under\n"
    "/api/v1. The first line printed is the address to open. Ctrl-C ends it: running\n"
    "jobs are cancelled and connections closed.\n"
    "\n"
    "Examples:\n"
    "  symlaw serve --open                        the page, in a browser\n"
    "  symlaw serve --port 8017 --study runs/micro\n"
    "  symlaw serve --bind 0.0.0.0 --port 8017    for other machines, with a token\n"
    "\n"
    "It listens on 127.0.0.1 alone unless --bind gives another address. Then every\n"
    "request needs the token that is printed with the address; connections are not\n"
    "encrypted, so use a tunnel (ssh -L) where others can read the network. Requests\n"
    "that name another host, or come from another page, are refused.\n"
    "\n"
    "No request can name a file. Tables are sent as text and kept in memory. The\n"
    "limits below bound the work, the memory and the time of all requests; a request\n"
    "beyond one is answered by 413, 429 or 503 and says what to do.";

#define COMMON .size = sizeof(symlaw_option_info), .group = "options"
#define LIMIT  .size = sizeof(symlaw_option_info), .group = "limits", .arity = 1
#define INT    .type = SYMLAW_OPTION_INT, .value_name = "N"
#define TEXT   .type = SYMLAW_OPTION_TEXT, .arity = 1

static const symlaw_option_info rows[] = {
    { COMMON, INT, .arity = 1, .name = "port", .default_value = "0", .min = 0, .max = 65535,
      .help = "port to listen on; 0: a free one" },
    { COMMON, TEXT, .name = "bind", .value_name = "ADDRESS", .default_value = "127.0.0.1",
      .help = "address to listen on, as 0.0.0.0, ::1 or 192.168.0.7; other than loopback, requests "
              "need the token" },
    { COMMON, TEXT, .name = "token", .value_name = "TEXT",
      .help = "token that requests need, 8 letters and digits at least; if not given, --bind makes "
              "one and prints it" },
    { COMMON, TEXT, .name = "host", .value_name = "NAMES",
      .help = "further names of this machine that requests may use, separated by commas" },
    { COMMON, .type = SYMLAW_OPTION_FLAG, .name = "open", .default_value = "false",
      .help = "open the page in a browser, by xdg-open" },
    { COMMON, .type = SYMLAW_OPTION_FOLDER, .arity = 1, .name = "study", .value_name = "DIR",
      .use = SYMLAW_OPTION_INPUT, .help = "folder of a study to show" },
    { COMMON, .type = SYMLAW_OPTION_FILE, .arity = 1, .name = "model", .value_name = "MODEL",
      .use = SYMLAW_OPTION_INPUT,
      .help = "model of discover: a run's folder or a weights file; if not given, as in \"symlaw "
              "discover\"" },
    { COMMON, INT, .arity = 1, .name = "threads", .default_value = "0", .min = 0, .max = 4096,
      .help = "threads of a job; 0: the cores are shared among --max-jobs" },
    { LIMIT, INT, .name = "max-jobs", .default_value = "2", .min = 1, .max = 64,
      .help = "jobs that run at a time" },
    { LIMIT, INT, .name = "max-queue", .default_value = "16", .min = 0, .max = 1000,
      .help = "jobs that wait; further ones are answered by 503" },
    { LIMIT, INT, .name = "max-client", .default_value = "8", .min = 1, .max = 1000,
      .help = "jobs of one address that run or wait; further ones are answered by 429" },
    { LIMIT, .type = SYMLAW_OPTION_REAL, .value_name = "S", .name = "max-seconds",
      .default_value = "60", .min = 0.1, .max = 86400,
      .help = "time of a job; what it has found by then is its result" },
    { LIMIT, .type = SYMLAW_OPTION_REAL, .value_name = "GB", .name = "max-memory",
      .default_value = "1", .min = 0.01, .max = 1e6,
      .help = "memory of a job's search and of a set of expressions, in 10^9 bytes" },
    { LIMIT, INT, .name = "max-body", .default_value = "16000000", .min = 1000, .max = 2e9,
      .help = "bytes of a request's body" },
    { LIMIT, INT, .name = "max-rows", .default_value = "200000", .min = 2, .max = 1e9,
      .help = "rows of a table" },
    { LIMIT, INT, .name = "max-columns", .default_value = "500", .min = 2, .max = 1e6,
      .help = "columns of a table" },
    { LIMIT, INT, .name = "max-connections", .default_value = "512", .min = 4, .max = 10000,
      .help = "connections at a time" },
    { .size = sizeof(symlaw_option_info),
      .group = "all commands",
      .type = SYMLAW_OPTION_FLAG,
      .name = "quiet",
      .default_value = "false",
      .help = "print the address and errors alone" },
};

const symlaw_command_info sl_serve_command = {
    .size = sizeof(symlaw_command_info),
    .name = "serve",
    .summary = "the page in a browser, and a JSON API",
    .help = help,
    .n_options = SL_SERVE__LEN(rows),
};

const symlaw_option_info *sl_serve_option(int i) {
    return i >= 0 && i < SL_SERVE__LEN(rows) ? &rows[i] : NULL;
}

/* ---------------------------------------------------------------- values -------------------- */

/* Is the value one that its row allows? */
static bool check_value(char error[256], const symlaw_option_info *o, const json_t *value) {
    switch (o->type) {
    case SYMLAW_OPTION_FLAG:
        if (json_is_boolean(value)) return true;
        sl_serve__format(error, 256, "--%s is true or false", o->name);
        return false;
    case SYMLAW_OPTION_INT:
    case SYMLAW_OPTION_REAL: {
        const double x = json_number_value(value);
        const bool number =
            o->type == SYMLAW_OPTION_INT ? json_is_integer(value) : json_is_number(value);
        if (number && x >= o->min && x <= o->max) return true;
        sl_serve__format(error, 256, "--%s is %s from %g to %.10g", o->name,
                         o->type == SYMLAW_OPTION_INT ? "a whole number" : "a number", o->min,
                         o->max);
        return false;
    }
    default: break;
    }
    if (json_is_string(value) && *json_string_value(value)) return true;
    sl_serve__format(error, 256, "--%s is empty: it takes %s", o->name, o->value_name);
    return false;
}

static const symlaw_option_info *find(const char *name) {
    for (int i = 0; i < SL_SERVE__LEN(rows); i++)
        if (strcmp(rows[i].name, name) == 0) return &rows[i];
    return NULL;
}

static double number(const sl_serve__config *c, const char *name) {
    const json_t *given = json_object_get(c->json, name);
    double value = 0;
    if (given) return json_number_value(given);
    sl_serve__real(&value, find(name)->default_value);
    return value;
}

static const char *text(const sl_serve__config *c, const char *name) {
    const char *given = json_string_value(json_object_get(c->json, name));
    return given ? given : find(name)->default_value;
}

/* In an address and a cookie it stands as it is. */
static bool is_token(const char *token) {
    if (!token) return true;
    const size_t n = strlen(token);
    for (size_t i = 0; i < n; i++) {
        const char c = token[i];
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!letter && (c < '0' || c > '9') && c != '-' && c != '_') return false;
    }
    return n >= 8 && n <= 100;
}

bool sl_serve__config_read(sl_serve__config *out, char error[256], const char *options_json) {
    json_error_t e;
    const char *name;
    json_t *value;
    *out =
        (sl_serve__config){ .json = sl_serve__json_read(&e, options_json, strlen(options_json)) };
    if (!json_is_object(out->json)) {
        sl_serve__format(error, 256, "the options are not an object: %s", e.text);
        return false;
    }
    json_object_foreach(out->json, name, value) {
        const symlaw_option_info *o = find(name);
        if (!o) {
            sl_serve__format(error, 256, "unknown option --%.60s", name);
            return false;
        }
        if (!check_value(error, o, value)) return false;
    }
    out->port = (int)number(out, "port");
    out->bind = text(out, "bind");
    out->token = text(out, "token");
    out->host = text(out, "host");
    out->study = text(out, "study");
    out->model = text(out, "model");
    out->open = json_is_true(json_object_get(out->json, "open"));
    out->threads = (int)number(out, "threads");
    out->max_jobs = (int)number(out, "max-jobs");
    out->max_queue = (int)number(out, "max-queue");
    out->max_client = (int)number(out, "max-client");
    out->max_seconds = number(out, "max-seconds");
    out->max_memory = number(out, "max-memory");
    out->max_body = (int64_t)number(out, "max-body");
    out->max_rows = (int64_t)number(out, "max-rows");
    out->max_columns = (int64_t)number(out, "max-columns");
    out->max_connections = (int)number(out, "max-connections");
    if (is_token(out->token)) return true;
    sl_serve__format(error, 256, "--token has 8 to 100 letters, digits, - and _, and nothing else");
    return false;
}

void sl_serve__config_clear(sl_serve__config *c) {
    json_decref(c->json);
    *c = (sl_serve__config){ 0 };
}

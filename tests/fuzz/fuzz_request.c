/* Any bytes as a request: a line "METHOD TARGET", lines "Name: value", an empty line, the body.
 * With each guard it is either refused, with a status and an error in the form that all have, or a
 * call whose parts are what a path may hold. Foreign hosts, other origins and missing tokens never
 * pass. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "serve/serve_impl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PORT = 8017 };

_Noreturn static void wrong(const char *what, const char *detail) {
    fprintf(stderr, "%s: %s\n", what, detail ? detail : "");
    abort();
}

/* ---------------------------------------------------------------- reading the bytes --------- */

/* Cuts the next line off *at; NULL at the end. */
static char *next_line(char **at) {
    char *line = *at;
    if (!line) return NULL;
    char *end = strchr(line, '\n');
    if (end) {
        *at = end + 1;
        *end = '\0';
        if (end > line && end[-1] == '\r') end[-1] = '\0';
    } else {
        *at = NULL;
    }
    return line;
}

static void take_header(sl_serve__request *r, char *line) {
    const struct {
        const char *name, **value;
    } known[] = {
        { "Host: ", &r->host },
        { "Origin: ", &r->origin },
        { "Sec-Fetch-Site: ", &r->fetch_site },
        { "Content-Type: ", &r->content_type },
        { "Content-Length: ", &r->content_length },
        { "Transfer-Encoding: ", &r->transfer_encoding },
        { "Authorization: ", &r->authorization },
        { "Cookie: ", &r->cookie },
        { "Last-Event-ID: ", &r->last_event_id },
        { "If-None-Match: ", &r->if_none_match },
    };
    r->n_headers++;
    for (int i = 0; i < SL_SERVE__LEN(known); i++)
        if (strncmp(line, known[i].name, strlen(known[i].name)) == 0) {
            *known[i].value = line + strlen(known[i].name);
            r->n_hosts += i == 0;
        }
}

/* Returns the body. */
static char *take_request(sl_serve__request *r, char *text) {
    char *at = text, *line = next_line(&at), *blank = line ? strchr(line, ' ') : NULL;
    *r = (sl_serve__request){ .method = "GET", .target = line };
    if (blank) {
        *blank = '\0';
        r->method = line;
        r->target = blank + 1;
    }
    for (line = next_line(&at); line && *line; line = next_line(&at)) take_header(r, line);
    return at ? at : text + strlen(text);
}

/* ---------------------------------------------------------------- what must hold ------------ */

static void check_refusal(sl_serve__reply *r) {
    json_error_t e;
    json_t *j = sl_serve__json_read(&e, r->body.text ? r->body.text : "", r->body.len);
    const json_t *error = json_object_get(j, "error");
    if (r->status < 400 || r->status > 599) wrong("no status of a refusal", r->body.text);
    if (json_integer_value(json_object_get(error, "status")) != r->status ||
        !json_is_string(json_object_get(error, "text")) ||
        !json_is_string(json_object_get(error, "remedy")))
        wrong("no error", r->body.text);
    json_decref(j);
}

/* By other means than request.c: whole texts, no parsing. */
static bool is_host(const sl_serve__guard *g, const char *host) {
    static const char *const own[] = { "127.0.0.1:8017", "localhost:8017",   "[::1]:8017",
                                       "lab:8017",       "box.example:8017", "machine:8017" };
    for (int i = 0; i < (g->loopback ? 3 : SL_SERVE__LEN(own)); i++)
        if (strcasecmp(host, own[i]) == 0) return true;
    const size_t n = strlen(host), digits = strspn(host, "0123456789abcdefABCDEF.:[]");
    return !g->loopback && digits == n && n > 5 && strcmp(host + n - 5, ":8017") == 0;
}

static bool has_token(const sl_serve__guard *g, const sl_serve__call *c,
                      const sl_serve__request *r) {
    if (!g->token || c->with_token) return true;
    if (r->authorization && strstr(r->authorization, g->token)) return true;
    return r->cookie && strstr(r->cookie, "symlaw_8017=0123456789abcdef");
}

static void check_call(const sl_serve__call *c, const sl_serve__guard *g,
                       const sl_serve__request *r, size_t expected) {
    static const char scheme[] = "http://";
    const bool changes = strcmp(sl_serve__routes[c->route].method, "GET") != 0;
    if (!is_host(g, r->host)) wrong("a foreign host", r->host);
    if (changes && r->origin &&
        (strncmp(r->origin, scheme, strlen(scheme)) != 0 ||
         strcasecmp(r->origin + strlen(scheme), r->host) != 0))
        wrong("a foreign origin", r->origin);
    if (!has_token(g, c, r)) wrong("no token", r->authorization);
    if ((int64_t)expected > g->max_body) wrong("too long a body", NULL);
    for (int i = 0; i < 2 && c->part[i]; i++)
        if (strchr(c->part[i], '/') || strcmp(c->part[i], "..") == 0 || !*c->part[i])
            wrong("a part that is none", c->part[i]);
}

static void try_guard(const sl_serve__guard *g, const sl_serve__request *r, const char *body) {
    sl_serve__call c;
    sl_serve__reply reply = { 0 };
    size_t expected;
    const size_t n = strlen(body);
    bool good = sl_serve__request_head(&c, &expected, &reply, g, r);
    if (good) {
        check_call(&c, g, r, expected);
        good = sl_serve__request_body(&c, &reply, body, n < expected ? n : expected);
    }
    if (!good) {
        check_refusal(&reply);
    } else if (c.route == SL_SERVE__FORMULA) {
        sl_serve__reply answer = { .status = 200 };
        sl_serve__answer_formula(NULL, &c, &answer);
        if (answer.status != 200) check_refusal(&answer);
        sl_serve__reply_clear(&answer);
    }
    sl_serve__reply_clear(&reply);
    sl_serve__call_clear(&c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const sl_serve__guard guards[] = {
        { .port = PORT, .loopback = true, .max_body = 100000 },
        { .port = PORT,
          .token = "0123456789abcdef",
          .names = "lab,box.example",
          .own = "machine",
          .cookie = "symlaw_8017",
          .max_body = 1000 },
    };
    sl_serve__request r;
    char *text = malloc(size + 1);
    if (!text) return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    const char *body = take_request(&r, text);
    for (int i = 0; i < SL_SERVE__LEN(guards); i++) try_guard(&guards[i], &r, body);
    free(text);
    return 0;
}

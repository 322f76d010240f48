/* request - is a request allowed, and what does it ask for? Plain functions of the texts that came;
 * nothing here reads a socket or a file. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "serve/serve_impl.h"

enum { TARGET_MAX = 4096, JSON_DEPTH_MAX = 8 };

/* ---------------------------------------------------------------- refusals ------------------ */

void sl_serve__fail(sl_serve__reply *r, int status, const char *remedy, const char *format, ...) {
    char text[1024];
    va_list args;
    va_start(args, format);
    sl_serve__format_list(text, sizeof text, format, args);
    va_end(args);
    sl_serve__clear(&r->body);
    r->status = status;
    r->type = "application/json";
    r->fixed = r->etag = NULL;
    sl_serve__json_open(&r->body, NULL, '{');
    sl_serve__json_open(&r->body, "error", '{');
    sl_serve__json_int(&r->body, "status", status);
    sl_serve__json_text(&r->body, "text", text);
    sl_serve__json_text(&r->body, "remedy", remedy);
    sl_serve__json_close(&r->body, '}');
    sl_serve__json_close(&r->body, '}');
}

int sl_serve__http_status(symlaw_status st) {
    switch (st) {
    case SYMLAW_EINVAL:
    case SYMLAW_EFORMAT:
    case SYMLAW_EOVERFLOW: return 400;
    case SYMLAW_ELIMIT: return 413;
    case SYMLAW_ENOMEM:
    case SYMLAW_ECANCEL: return 503;
    default: return 500;
    }
}

const char *sl_serve__remedy(int status) {
    switch (status) {
    case 400: return "correct what the text names and send the request again";
    case 413: return "send less, or start the server with higher limits: symlaw serve --help";
    case 503: return "try again later, or start the server with higher limits";
    default: return "see the messages of the server";
    }
}

void sl_serve__fail_call(sl_serve__reply *r, symlaw_status st) {
    const int status = sl_serve__http_status(st);
    sl_serve__fail(r, status, sl_serve__remedy(status), "%s", symlaw_last_error());
}

void sl_serve__reply_clear(sl_serve__reply *r) {
    sl_serve__clear(&r->body);
    *r = (sl_serve__reply){ 0 };
}

/* ---------------------------------------------------------------- the table ----------------- */

const sl_serve__route sl_serve__routes[SL_SERVE__ROUTE_COUNT] = {
#define X(id, method, path, body, slow, query) { method, path, SL_SERVE__##body, slow, query },
    SL_SERVE__ROUTES(X)
#undef X
};

/* ---------------------------------------------------------------- small texts --------------- */

static bool is_word(const char *text, size_t n, const char *word) {
    return strlen(word) == n && memcmp(text, word, n) == 0;
}

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

static bool same_letters(const char *a, size_t n, const char *b) {
    if (strlen(b) != n) return false;
    for (size_t i = 0; i < n; i++)
        if (lower(a[i]) != lower(b[i])) return false;
    return true;
}

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    c = lower(c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Time does not depend on where the texts differ. */
static bool same_secret(const char *a, size_t n, const char *b) {
    const size_t m = strlen(b);
    unsigned different = n != m;
    for (size_t i = 0; i < n; i++)
        different |= (unsigned char)a[i] ^ (unsigned char)b[m > 0 ? i % m : 0];
    return different == 0;
}

/* ---------------------------------------------------------------- Host and Origin ----------- */

/* An address in digits: 192.168.0.7, [fe80::1]. */
static bool is_address(const char *name, size_t n) {
    if (n > 2 && name[0] == '[' && name[n - 1] == ']') {
        for (size_t i = 1; i + 1 < n; i++)
            if (hex_digit(name[i]) < 0 && name[i] != ':' && name[i] != '.') return false;
        return true;
    }
    for (size_t i = 0; i < n; i++)
        if ((name[i] < '0' || name[i] > '9') && name[i] != '.') return false;
    return n > 0;
}

static bool is_listed(const char *name, size_t n, const char *list) {
    for (const char *at = list; at && *at;) {
        const size_t word = strcspn(at, ",");
        if (word == n && word > 0) {
            size_t i = 0;
            while (i < n && lower(name[i]) == lower(at[i])) i++;
            if (i == n) return true;
        }
        at += word + (at[word] == ',');
    }
    return false;
}

/* A page elsewhere can make its name stand for this machine (DNS rebinding). It cannot choose the
 * Host that a browser sends: that is its own name. */
static bool is_own_host(const sl_serve__guard *g, const char *host) {
    const char *end = host[0] == '[' ? strchr(host, ']') : NULL;
    const size_t n = end ? (size_t)(end - host) + 1 : strcspn(host, ":");
    int64_t port = 80;
    if (host[n] == ':' && (host[n + 1] == '0' || !sl_serve__whole(&port, host + n + 1)))
        return false;
    if ((host[n] && host[n] != ':') || port != g->port) return false;
    if (is_word(host, n, "127.0.0.1") || is_word(host, n, "[::1]") ||
        same_letters(host, n, "localhost"))
        return true;
    if (is_listed(host, n, g->names)) return true;
    if (g->loopback) return false;
    return is_address(host, n) || (g->own[0] && same_letters(host, n, g->own));
}

static bool is_own_origin(const char *origin, const char *host) {
    static const char scheme[] = "http://";
    const size_t n = strlen(scheme);
    return strncmp(origin, scheme, n) == 0 && same_letters(origin + n, strlen(origin + n), host);
}

static bool check_host(sl_serve__reply *no, const sl_serve__guard *g, const sl_serve__request *r) {
    if (!r->host || r->n_hosts != 1) {
        sl_serve__fail(no, 400, "send one Host header", "the request has %s Host header",
                       r->host ? "more than one" : "no");
        return false;
    }
    if (is_own_host(g, r->host)) return true;
    sl_serve__fail(no, 421,
                   "use the address that the server printed; symlaw serve --host NAME allows "
                   "another name",
                   "Host \"%.100s\" is not a name of this server", r->host);
    return false;
}

static bool check_origin(sl_serve__reply *no, const sl_serve__request *r) {
    const bool foreign = r->origin && !is_own_origin(r->origin, r->host);
    const bool cross = r->fetch_site && (strcmp(r->fetch_site, "cross-site") == 0 ||
                                         strcmp(r->fetch_site, "same-site") == 0);
    if (!foreign && !cross) return true;
    sl_serve__fail(no, 403, "send it from the page of this server, or without an Origin header",
                   "%s requests from other pages are refused (Origin \"%.100s\")", r->method,
                   r->origin ? r->origin : "");
    return false;
}

/* ---------------------------------------------------------------- token --------------------- */

static bool has_bearer(const char *header, const char *token) {
    static const char scheme[] = "bearer ";
    if (!header || strlen(header) < strlen(scheme)) return false;
    if (!same_letters(header, strlen(scheme), scheme)) return false;
    return same_secret(header + strlen(scheme), strlen(header + strlen(scheme)), token);
}

static bool has_cookie(const char *header, const char *name, const char *token) {
    for (const char *at = header; at && *at;) {
        while (*at == ' ' || *at == ';') at++;
        const size_t n = strcspn(at, ";"), word = strcspn(at, "=;");
        if (at[word] == '=' && is_word(at, word, name) &&
            same_secret(at + word + 1, n - word - 1, token))
            return true;
        at += n;
    }
    return false;
}

static bool check_token(sl_serve__call *c, sl_serve__reply *no, const sl_serve__guard *g,
                        const sl_serve__request *r) {
    if (!g->token) return true;
    const char *in_query = sl_serve__query(c, "token");
    c->with_token = in_query && same_secret(in_query, strlen(in_query), g->token);
    if (c->with_token || has_bearer(r->authorization, g->token) ||
        has_cookie(r->cookie, g->cookie, g->token))
        return true;
    sl_serve__fail(no, 401,
                   "open the address with the token that the server printed, or send "
                   "\"Authorization: Bearer TOKEN\"",
                   "this server asks for its token");
    return false;
}

/* ---------------------------------------------------------------- path and query ------------ */

/* Decodes %XX in place, and + where it is a blank. False: malformed, a zero byte, not UTF-8. */
static bool decode(char *text, bool plus) {
    char *to = text;
    for (const char *at = text; *at; at++) {
        char c = *at == '+' && plus ? ' ' : *at;
        if (c == '%') {
            const int high = hex_digit(at[1]), low = high < 0 ? -1 : hex_digit(at[2]);
            if (low < 0) return false;
            c = (char)(16 * high + low);
            if (c == '\0') return false;
            at += 2;
        }
        *to++ = c;
    }
    *to = '\0';
    return sl_serve__is_utf8(text, (size_t)(to - text));
}

/* A part of a path is one name: not the folder above, no slash, no control character. */
static bool is_plain_part(const char *part) {
    for (const char *p = part; *p; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7F || *p == '/' || *p == '\\') return false;
    return strcmp(part, ".") != 0 && strcmp(part, "..") != 0;
}

static int split_path(char *path, char **part) {
    int n = 0;
    for (char *at = path + 1; at; n++) { // behind the first slash
        if (n == SL_SERVE__MAX_PARTS) return -1;
        char *slash = strchr(at, '/');
        if (slash) *slash++ = '\0';
        part[n] = at;
        at = slash;
    }
    return n;
}

/* Does a path of these parts match the pattern? The values of {name} go to the call. */
static bool matches(sl_serve__call *c, const char *pattern, char *const *part, int n) {
    int values = 0;
    const char *at = pattern + 1;
    for (int i = 0; i < n; i++) {
        const size_t len = strcspn(at, "/");
        if (at[0] == '{') {
            if (!*part[i]) return false;
            c->part[values++] = part[i];
        } else if (!is_word(at, len, part[i])) {
            return false;
        }
        at += len;
        if ((*at == '/') != (i + 1 < n)) return false;
        if (*at == '/') at++;
    }
    return *at == '\0';
}

static bool find_route(sl_serve__call *c, sl_serve__reply *no, const char *method,
                       char *const *part, int n) {
    bool known = false;
    sl_serve__text allow = { 0 };
    // HEAD is GET without the body, which http.c leaves out
    if (strcmp(method, "HEAD") == 0) method = "GET";
    for (int i = 0; i < SL_SERVE__ROUTE_COUNT; i++) {
        sl_serve__call try = { 0 };
        if (n < 0 || !matches(&try, sl_serve__routes[i].path, part, n)) continue;
        known = true;
        if (strcmp(sl_serve__routes[i].method, method) == 0) {
            c->route = (sl_serve__route_id)i;
            memcpy(c->part, try.part, sizeof c->part);
            sl_serve__clear(&allow);
            return true;
        }
        const bool get = strcmp(sl_serve__routes[i].method, "GET") == 0;
        sl_serve__addf(&allow, "%s%s", allow.len ? ", " : "",
                       get ? "GET, HEAD" : sl_serve__routes[i].method);
    }
    if (known) {
        sl_serve__fail(no, 405, "docs/api.md lists methods and paths",
                       "%.20s is not a method of this path; it has %s", method,
                       allow.text ? allow.text : "others");
        sl_serve__format(no->allow, sizeof no->allow, "%s", allow.text ? allow.text : "");
    } else {
        sl_serve__fail(no, 404, "GET /api/v1 lists the paths", "there is nothing at this path");
    }
    sl_serve__clear(&allow);
    return false;
}

static bool read_path(sl_serve__call *c, sl_serve__reply *no, const char *method, char *path) {
    char *part[SL_SERVE__MAX_PARTS];
    const int n = split_path(path, part);
    for (int i = 0; i < n; i++)
        if (!decode(part[i], false) || !is_plain_part(part[i])) {
            sl_serve__fail(no, 400, "write the path as docs/api.md does",
                           "the path is malformed at part %d", i + 1);
            return false;
        }
    return find_route(c, no, method, part, n);
}

const char *sl_serve__query(const sl_serve__call *c, const char *name) {
    for (int i = 0; i < c->n_query; i++)
        if (strcmp(c->query[i].name, name) == 0) return c->query[i].value;
    return NULL;
}

static bool is_in_list(const char *name, const char *list) {
    for (const char *at = list; *at;) {
        const size_t n = strcspn(at, " ");
        if (is_word(at, n, name)) return true;
        at += n + (at[n] == ' ');
    }
    return false;
}

static bool read_query(sl_serve__call *c, sl_serve__reply *no, char *query) {
    static const char remedy[] = "write the query as docs/api.md does";
    while (query && *query) {
        char *next = strchr(query, '&'), *value;
        if (next) *next++ = '\0';
        if (*query) {
            if (c->n_query == SL_SERVE__MAX_QUERY) {
                sl_serve__fail(no, 400, remedy, "the query has more than %d names",
                               SL_SERVE__MAX_QUERY);
                return false;
            }
            value = strchr(query, '=');
            if (value)
                *value++ = '\0';
            else
                value = query + strlen(query);
            if (!decode(query, true) || !decode(value, true)) {
                sl_serve__fail(no, 400, remedy, "the query is not percent-encoded UTF-8");
                return false;
            }
            if (sl_serve__query(c, query)) {
                sl_serve__fail(no, 400, remedy, "the query has \"%.60s\" twice", query);
                return false;
            }
            c->query[c->n_query++] = (sl_serve__pair){ query, value };
        }
        query = next;
    }
    return true;
}

static bool check_query(sl_serve__reply *no, const sl_serve__call *c) {
    const char *list = sl_serve__routes[c->route].query;
    for (int i = 0; i < c->n_query; i++)
        if (strcmp(list, "*") != 0 && !is_in_list(c->query[i].name, list)) {
            sl_serve__fail(no, 400, *list ? "docs/api.md lists the names" : "leave the query out",
                           "\"%.60s\" is not a name of this path's query", c->query[i].name);
            return false;
        }
    return true;
}

/* ---------------------------------------------------------------- head ---------------------- */

static bool read_target(sl_serve__call *c, sl_serve__reply *no, const sl_serve__request *r) {
    const size_t n = r->target ? strlen(r->target) : 0;
    if (n >= TARGET_MAX) {
        sl_serve__fail(no, 414, "long texts go into the body", "the address has %zu bytes", n);
        return false;
    }
    if (n == 0 || r->target[0] != '/') {
        sl_serve__fail(no, 400, "send a path that begins with a slash",
                       "the target of the request is not a path");
        return false;
    }
    c->text = malloc(n + 1);
    if (!c->text) {
        sl_serve__fail(no, 503, sl_serve__remedy(503), "out of memory");
        return false;
    }
    memcpy(c->text, r->target, n + 1);
    char *query = strchr(c->text, '?');
    if (query) *query++ = '\0';
    // the query first: without the token in it no reply may depend on the path
    return read_query(c, no, query);
}

static bool is_type(const char *header, const char *type) {
    if (!header) return false;
    size_t n = strcspn(header, ";");
    while (n > 0 && header[n - 1] == ' ') n--;
    return same_letters(header, n, type);
}

/* The length of the body is known before it comes, so that too much of it is never read. */
static bool check_body(size_t *expected, sl_serve__reply *no, const sl_serve__guard *g,
                       const sl_serve__route *route, const sl_serve__request *r) {
    int64_t length = 0;
    *expected = 0;
    if (r->transfer_encoding) {
        sl_serve__fail(no, 411, "send the body with a Content-Length",
                       "bodies without a length (Transfer-Encoding) are not taken");
        return false;
    }
    if (r->content_length) {
        const bool digits = r->content_length[0] >= '0' && r->content_length[0] <= '9';
        const bool many = strlen(r->content_length) > 18;
        if (!many && (!digits || !sl_serve__whole(&length, r->content_length))) {
            sl_serve__fail(no, 400, "send a whole number", "Content-Length is not a number");
            return false;
        }
        if (many || length > g->max_body) {
            sl_serve__fail(no, 413, "send less, or start the server with a higher --max-body",
                           "the body has %.20s bytes; at most %lld are taken", r->content_length,
                           (long long)g->max_body);
            return false;
        }
    }
    if (route->body == SL_SERVE__NO_BODY) {
        if (length == 0) return true;
        sl_serve__fail(no, 400, "leave the body out", "this request takes no body");
        return false;
    }
    if (!r->content_length) {
        sl_serve__fail(no, 411, "send the body with a Content-Length", "the request has no length");
        return false;
    }
    const char *type = route->body == SL_SERVE__JSON ? "application/json" : "text/csv";
    if (!is_type(r->content_type, type)) {
        sl_serve__fail(no, 415, "set the Content-Type", "the body must be %s, not \"%.60s\"", type,
                       r->content_type ? r->content_type : "");
        return false;
    }
    *expected = (size_t)length;
    return true;
}

static bool is_method(const char *method) {
    static const char *const known[] = { "GET", "HEAD", "POST", "DELETE" };
    for (int i = 0; i < SL_SERVE__LEN(known); i++)
        if (strcmp(method, known[i]) == 0) return true;
    return false;
}

bool sl_serve__request_head(sl_serve__call *out, size_t *expected, sl_serve__reply *no,
                            const sl_serve__guard *g, const sl_serve__request *r) {
    *out = (sl_serve__call){ 0 };
    *expected = 0;
    if (r->n_headers > SL_SERVE__MAX_HEADERS) {
        sl_serve__fail(no, 431, "send fewer headers", "the request has %d headers; %d are taken",
                       r->n_headers, SL_SERVE__MAX_HEADERS);
        return false;
    }
    if (!check_host(no, g, r) || !read_target(out, no, r)) return false;
    if (!check_token(out, no, g, r)) return false;
    if (!read_path(out, no, r->method, out->text) || !check_query(no, out)) return false;
    const sl_serve__route *route = &sl_serve__routes[out->route];
    if (strcmp(route->method, "GET") != 0 && !check_origin(no, r)) return false;
    if (!is_method(r->method) || !check_body(expected, no, g, route, r)) return false;
    if (r->last_event_id && !sl_serve__whole(&out->after_event, r->last_event_id))
        out->after_event = 0;
    if (out->after_event < 0) out->after_event = 0;
    out->if_none_match = r->if_none_match;
    return true;
}

/* ---------------------------------------------------------------- body ---------------------- */

/* Brackets within brackets: jansson would go on to 2048. */
static bool is_shallow(const char *text, size_t n) {
    int depth = 0;
    bool quoted = false;
    for (size_t i = 0; i < n; i++) {
        if (quoted && text[i] == '\\')
            i++;
        else if (text[i] == '"')
            quoted = !quoted;
        else if (!quoted && (text[i] == '{' || text[i] == '['))
            depth++;
        else if (!quoted && (text[i] == '}' || text[i] == ']'))
            depth--;
        if (depth > JSON_DEPTH_MAX) return false;
    }
    return true;
}

bool sl_serve__request_body(sl_serve__call *c, sl_serve__reply *no, const char *body, size_t n) {
    const sl_serve__body kind = sl_serve__routes[c->route].body;
    json_error_t e;
    c->body = body;
    c->body_len = n;
    if (kind == SL_SERVE__CSV && n == 0) {
        sl_serve__fail(no, 400, "send the table as the body", "the body is empty");
        return false;
    }
    if (kind != SL_SERVE__JSON) return true;
    if (!is_shallow(body, n)) {
        sl_serve__fail(no, 400, "send an object as docs/api.md describes it",
                       "the body has more than %d brackets within each other", JSON_DEPTH_MAX);
        return false;
    }
    c->json = sl_serve__json_read(&e, body, n);
    if (!c->json && json_error_code(&e) == json_error_out_of_memory) {
        sl_serve__fail(no, 503, sl_serve__remedy(503), "out of memory");
        return false;
    }
    if (!c->json) {
        sl_serve__fail(no, 400, "send well-formed JSON", "the body, line %d, column %d: %s", e.line,
                       e.column > 0 ? e.column : 1, e.text);
        return false;
    }
    if (json_is_object(c->json)) return true;
    sl_serve__fail(no, 400, "send an object as docs/api.md describes it",
                   "the body is not a JSON object");
    return false;
}

void sl_serve__call_clear(sl_serve__call *c) {
    free(c->text);
    json_decref(c->json);
    *c = (sl_serve__call){ 0 };
}

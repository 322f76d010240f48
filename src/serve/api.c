/* api - which function answers a call, and the short answers. */
#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "serve/serve_impl.h"

double sl_serve__now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

bool sl_serve__random(char *hex, size_t digits) {
    static const char digit[] = "0123456789abcdef";
    unsigned char bytes[64];
    if (digits > sizeof bytes) return false;
    size_t have = 0;
    while (have < digits) {
        const ssize_t n = getrandom(bytes + have, digits - have, 0);
        if (n < 0 && errno != EINTR) return false;
        if (n > 0) have += (size_t)n;
    }
    for (size_t i = 0; i < digits; i++) hex[i] = digit[bytes[i] & 15];
    hex[digits] = '\0';
    return true;
}

/* ---------------------------------------------------------------- routes -------------------- */

static void answer_routes(sl_serve__reply *r) {
    sl_serve__json_open(&r->body, NULL, '{');
    sl_serve__json_text(&r->body, "version", symlaw_version());
    sl_serve__json_open(&r->body, "routes", '[');
    for (int i = 0; i < SL_SERVE__ROUTE_COUNT; i++) {
        sl_serve__json_open(&r->body, NULL, '{');
        sl_serve__json_text(&r->body, "method", sl_serve__routes[i].method);
        sl_serve__json_text(&r->body, "path", sl_serve__routes[i].path);
        sl_serve__json_close(&r->body, '}');
    }
    sl_serve__json_close(&r->body, ']');
    sl_serve__json_close(&r->body, '}');
}

/* ---------------------------------------------------------------- files --------------------- */

/* Is the tag among those of If-None-Match? */
static bool is_known(const char *header, const char *etag) {
    return header && (strcmp(header, "*") == 0 || strstr(header, etag));
}

static void answer_file(const sl_serve__call *c, sl_serve__reply *r, const sl_serve__file *f) {
    r->type = f->type;
    r->etag = f->etag;
    if (is_known(c->if_none_match, f->etag)) {
        r->status = 304;
        r->fixed = "";
    } else {
        r->fixed = f->bytes;
        r->fixed_len = f->size;
    }
}

static void answer_page(sl_serve *s, const sl_serve__call *c, sl_serve__reply *r) {
    const bool whole = c->route == SL_SERVE__PAGE;
    if (c->with_token) { // the address bar and the history do not keep it
        r->status = 303;
        r->fixed = "";
        r->type = "text/plain";
        sl_serve__format(r->location, sizeof r->location, "/");
        sl_serve__format(r->cookie, sizeof r->cookie,
                         "%s=%s; Path=/; HttpOnly; SameSite=Strict; Max-Age=2592000",
                         s->guard.cookie, s->guard.token);
        return;
    }
    const sl_serve__file *f = sl_serve__files_find(&s->pages, whole ? "index.html" : c->part[0]);
    if (f)
        answer_file(c, r, f);
    else if (whole)
        sl_serve__fail(r, 404, "install symlaw, or use the API: GET /api/v1",
                       "the page is not installed: share/symlaw/web/index.html is missing");
    else
        sl_serve__fail(r, 404, "the page is at /, the API under /api/v1",
                       "there is no file of this name");
}

static void answer_examples(sl_serve *s, sl_serve__reply *r) {
    sl_serve__json_open(&r->body, NULL, '{');
    sl_serve__json_open(&r->body, "examples", '[');
    for (int i = 0; i < s->examples.n; i++) {
        sl_serve__json_open(&r->body, NULL, '{');
        sl_serve__json_text(&r->body, "name", s->examples.file[i].name);
        sl_serve__json_text(&r->body, "title", s->examples.file[i].title);
        sl_serve__json_text(&r->body, "text", s->examples.file[i].text);
        sl_serve__json_close(&r->body, '}');
    }
    sl_serve__json_close(&r->body, ']');
    sl_serve__json_close(&r->body, '}');
}

static void answer_example(sl_serve *s, const sl_serve__call *c, sl_serve__reply *r) {
    const sl_serve__file *f = sl_serve__files_find(&s->examples, c->part[0]);
    if (f)
        answer_file(c, r, f);
    else
        sl_serve__fail(r, 404, "GET /api/v1/examples lists them",
                       "there is no example of this name");
}

/* ---------------------------------------------------------------- dispatch ------------------ */

static void dispatch(sl_serve *s, const sl_serve__call *c, sl_serve__reply *r) {
    switch (c->route) {
    case SL_SERVE__ROUTES: answer_routes(r); return;
    case SL_SERVE__INFO: sl_serve__answer_info(s, c, r); return;
    case SL_SERVE__EXAMPLES: answer_examples(s, r); return;
    case SL_SERVE__EXAMPLE: answer_example(s, c, r); return;
    case SL_SERVE__TABLE: sl_serve__answer_table(s, c, r); return;
    case SL_SERVE__DISCOVER: sl_serve__answer_discover(s, c, r); return;
    case SL_SERVE__JOB:
    case SL_SERVE__CANCEL:
    case SL_SERVE__JOB_EVENTS: sl_serve__answer_job(s, c, r); return;
    case SL_SERVE__CANDIDATE: sl_serve__answer_candidate(s, c, r); return;
    case SL_SERVE__FORMULA: sl_serve__answer_formula(s, c, r); return;
    case SL_SERVE__FITTED: sl_serve__answer_fitted(s, c, r); return;
    case SL_SERVE__UNIVERSE: sl_serve__answer_universe(s, c, r); return;
    case SL_SERVE__PAIR: sl_serve__answer_pair(s, c, r); return;
    case SL_SERVE__STUDY:
    case SL_SERVE__STUDY_RUN:
    case SL_SERVE__STUDY_EVENTS:
    case SL_SERVE__STUDY_REPORT: sl_serve__answer_study(s, c, r); return;
    case SL_SERVE__PAGE:
    case SL_SERVE__PAGE_FILE: answer_page(s, c, r); return;
    case SL_SERVE__ROUTE_COUNT: break;
    }
}

void sl_serve__answer(sl_serve *s, const sl_serve__call *c, sl_serve__reply *r) {
    *r = (sl_serve__reply){ .status = 200, .type = "application/json" };
    dispatch(s, c, r);
    if (r->body.failed) sl_serve__fail(r, 503, sl_serve__remedy(503), "out of memory");
}

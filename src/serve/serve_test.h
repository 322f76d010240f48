/* For the unit tests of serve: allocations that fail, and requests as texts. The files of serve are
 * compiled for them with the allocator of base (tests/fixture/counted.h). */
#ifndef SL_SERVE_TEST_H
#define SL_SERVE_TEST_H

#include <string.h>

#include "fixture/fixture.h"
#include "serve/serve_impl.h"

/* One run with allocation n failing, or all from n on. */
typedef struct serve_fault {
    int64_t n, calls, blocks;
} serve_fault;

static inline void serve_fault_begin(serve_fault *f, int64_t n, bool forever) {
    *f = (serve_fault){ n, sl_mem_calls(), sl_mem_blocks() };
    sl_mem_fail_at(n, forever);
}

/* Was there an allocation n? To be asked when the work has ended. */
static inline bool serve_fault_hit(const serve_fault *f) {
    return sl_mem_calls() - f->calls >= f->n;
}

/* After all is freed. */
static inline void serve_fault_end(const serve_fault *f, const sl_fixture *t) {
    sl_mem_fail_at(0, false);
    SL_CHECK(t, sl_mem_blocks() == f->blocks, "with allocation %lld failing %lld blocks are left",
             (long long)f->n, (long long)(sl_mem_blocks() - f->blocks));
}

/* Blocks of jansson are counted too. */
static inline int serve_test_main(const char *name, const struct CMUnitTest *tests, int n) {
    sl_serve__json_begin();
    return sl_test_main(name, tests, n);
}

/* Is the text one JSON value, and nothing else? */
static inline bool serve_is_json(const char *text, size_t n) {
    json_error_t e;
    json_t *j = text ? sl_serve__json_read(&e, text, n) : NULL;
    json_decref(j);
    return j != NULL;
}

/* ---------------------------------------------------------------- a server without sockets -- */

static inline void serve_begin(sl_fixture *t, sl_serve *s, const char *options) {
    char error[256];
    *s = (sl_serve){ 0 };
    SL_CHECK(t, sl_serve__config_read(&s->config, error, options), "%s", error);
    s->guard = (sl_serve__guard){ .port = 80, .loopback = true, .max_body = s->config.max_body };
}

static inline void serve_end_jobs(sl_serve *s) {
    if (s->jobs) sl_serve__jobs_stop(s->jobs);
    sl_serve__jobs_free(s->jobs);
    s->jobs = NULL;
}

static inline void serve_end(sl_serve *s) {
    serve_end_jobs(s);
    sl_serve__config_clear(&s->config);
}

/* The reply of a request, as http.c would send it. */
static inline void serve_ask(sl_serve__reply *out, sl_serve *s, const char *method,
                             const char *target, const char *body) {
    char length[24];
    sl_serve__call c;
    size_t expected;
    snprintf(length, sizeof length, "%zu", strlen(body));
    const sl_serve__request r = { .method = method,
                                  .target = target,
                                  .host = "localhost",
                                  .n_hosts = 1,
                                  .n_headers = 3,
                                  .content_type = "application/json",
                                  .content_length = *body ? length : NULL };
    *out = (sl_serve__reply){ 0 };
    if (sl_serve__request_head(&c, &expected, out, &s->guard, &r) &&
        sl_serve__request_body(&c, out, body, strlen(body)))
        sl_serve__answer(s, &c, out);
    sl_serve__call_clear(&c);
}

#endif

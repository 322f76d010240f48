/* Requests: which are refused, with which status, and what the others ask for. */
#include "serve/serve_test.h"

static const sl_serve__guard own = { .port = 8017, .loopback = true, .max_body = 1000 };

/* A request of a browser on this machine. */
static sl_serve__request request(const char *method, const char *target) {
    return (sl_serve__request){
        .method = method, .target = target, .host = "localhost:8017", .n_hosts = 1, .n_headers = 1
    };
}

/* The status of the refusal, 0: it is allowed, with *c to be cleared. */
static int head(sl_serve__call *c, sl_serve__reply *refusal, const sl_serve__guard *g,
                const sl_serve__request *r) {
    size_t expected;
    *refusal = (sl_serve__reply){ 0 };
    return sl_serve__request_head(c, &expected, refusal, g, r) ? 0 : refusal->status;
}

static int status_of(const sl_serve__guard *g, const sl_serve__request *r) {
    sl_serve__call c;
    sl_serve__reply refusal;
    const int status = head(&c, &refusal, g, r);
    sl_serve__call_clear(&c);
    sl_serve__reply_clear(&refusal);
    return status;
}

static void paths_and_queries_are_decoded(void **state) {
    sl_fixture *t = *state;
    sl_serve__call c;
    sl_serve__reply no;
    sl_serve__request r = request("GET", "/api/v1/examples/a%20b%C3%B6.csv");
    assert_int_equal(head(&c, &no, &own, &r), 0);
    SL_CHECK(t, c.route == SL_SERVE__EXAMPLE && strcmp(c.part[0], "a bö.csv") == 0, "%s",
             c.part[0]);
    sl_serve__call_clear(&c);
    r = request("HEAD", "/api/v1/universe?find=x1%2Bx2+x1&&depth=2&size");
    assert_int_equal(head(&c, &no, &own, &r), 0);
    SL_CHECK(t, c.route == SL_SERVE__UNIVERSE && c.n_query == 3, "%d", c.n_query);
    SL_CHECK(t, strcmp(sl_serve__query(&c, "find"), "x1+x2 x1") == 0, "%s",
             sl_serve__query(&c, "find"));
    SL_CHECK(t, !*sl_serve__query(&c, "size") && !sl_serve__query(&c, "seed"), "size, seed");
    sl_serve__call_clear(&c);
    r = request("DELETE", "/api/v1/jobs/12");
    r.last_event_id = "41";
    assert_int_equal(head(&c, &no, &own, &r), 0);
    SL_CHECK(t, c.route == SL_SERVE__CANCEL && c.after_event == 41, "%lld",
             (long long)c.after_event);
    sl_serve__call_clear(&c);
}

static void targets_have_their_status(void **state) {
    sl_fixture *t = *state;
    char long_one[5000] = "/";
    memset(long_one + 1, 'a', sizeof long_one - 2);
    const struct {
        const char *method, *target;
        int status;
    } cases[] = {
        { "GET", "/", 0 },
        { "GET", "/api/v1/", 404 },
        { "GET", "/api/v1/jobs/", 404 },
        { "GET", "/a/b/c/d/e/f/g/h/i/j", 404 },
        { "PUT", "/api/v1/info", 405 },
        { "GET", "/api/v1/discover", 405 },
        { "GET", "/%2e%2e/x", 400 },
        { "GET", "/a%2fb", 400 },
        { "GET", "/a%00", 400 },
        { "GET", "/%f", 400 },
        { "GET", "/%ff", 400 },
        { "GET", "/a%1b", 400 },
        { "GET", "info", 400 },
        { "GET", "", 400 },
        { "GET", NULL, 400 },
        { "GET", "/api/v1/info?a=1", 400 },
        { "GET", "/api/v1/universe?depth=1&depth=2", 400 },
        { "GET", "/api/v1/universe?find=%zz", 400 },
        { "GET", "/?1&2&3&4&5&6&7&8&9&a&b&c&d&e&f&g&h&i&j&k&l&m&n&o&p", 400 },
        { "GET", long_one, 414 },
    };
    for (int i = 0; i < SL_LEN(cases); i++) {
        const sl_serve__request r = request(cases[i].method, cases[i].target);
        const int status = status_of(&own, &r);
        SL_CHECK(t, status == cases[i].status, "%s %.60s: %d, not %d", cases[i].method,
                 cases[i].target, status, cases[i].status);
    }
}

static void hosts_and_origins_have_their_status(void **state) {
    sl_fixture *t = *state;
    const sl_serve__guard open = { .port = 80, .names = "lab,box", .own = "me", .max_body = 1 };
    const struct {
        const sl_serve__guard *guard;
        const char *host, *origin;
        int status;
    } cases[] = {
        { &own, "LOCALHOST:8017", NULL, 0 },
        { &own, "[::1]:8017", "http://[::1]:8017", 0 },
        { &own, "127.0.0.1:8017", "http://127.0.0.1:8018", 403 },
        { &own, "127.0.0.1:8017", "null", 403 },
        { &own, "127.0.0.1", NULL, 421 },
        { &own, "127.0.0.1:08017", NULL, 421 },
        { &own, "evil.example:8017", NULL, 421 },
        { &own, "localhost.evil:8017", NULL, 421 },
        { &own, "[::1]x:8017", NULL, 421 },
        { &own, "", NULL, 421 },
        { &own, NULL, NULL, 400 },
        { &open, "lab", NULL, 0 },
        { &open, "BOX:80", "http://box:80", 0 },
        { &open, "me", NULL, 0 },
        { &open, "10.0.0.1", NULL, 0 },
        { &open, "labs", NULL, 421 },
        { &open, "la", NULL, 421 },
    };
    for (int i = 0; i < SL_LEN(cases); i++) {
        sl_serve__request r = request("DELETE", "/api/v1/jobs/1");
        r.host = cases[i].host;
        r.origin = cases[i].origin;
        const int status = status_of(cases[i].guard, &r);
        SL_CHECK(t, status == cases[i].status, "%s from %s: %d, not %d", cases[i].host,
                 cases[i].origin, status, cases[i].status);
    }
}

static void bodies_have_their_status(void **state) {
    sl_fixture *t = *state;
    static const struct {
        const char *target, *type, *length, *encoding;
        int status;
    } cases[] = {
        { "/api/v1/formula", "application/json", "20", NULL, 0 },
        { "/api/v1/formula", "Application/JSON ; charset=utf-8", "20", NULL, 0 },
        { "/api/v1/table", "text/csv", "1000", NULL, 0 },
        { "/api/v1/table", "text/csv", "1001", NULL, 413 },
        { "/api/v1/table", "text/csv", "99999999999999999999", NULL, 413 },
        { "/api/v1/table", "text/csv", "-1", NULL, 400 },
        { "/api/v1/table", "text/csv", "1x", NULL, 400 },
        { "/api/v1/table", "text/csv", NULL, NULL, 411 },
        { "/api/v1/table", "text/csv", "3", "chunked", 411 },
        { "/api/v1/table", "text/csvx", "3", NULL, 415 },
        { "/api/v1/table", NULL, "3", NULL, 415 },
    };
    for (int i = 0; i < SL_LEN(cases); i++) {
        sl_serve__request r = request("POST", cases[i].target);
        r.content_type = cases[i].type;
        r.content_length = cases[i].length;
        r.transfer_encoding = cases[i].encoding;
        const int status = status_of(&own, &r);
        SL_CHECK(t, status == cases[i].status, "case %d: %d, not %d", i, status, cases[i].status);
    }
}

static void tokens_are_compared_whole(void **state) {
    sl_fixture *t = *state;
    const sl_serve__guard g = {
        .port = 8017, .loopback = true, .token = "abcd1234", .cookie = "symlaw_8017"
    };
    static const struct {
        const char *target, *authorization, *cookie;
        int status;
    } cases[] = {
        { "/", NULL, NULL, 401 },
        { "/?token=abcd1234", NULL, NULL, 0 },
        { "/?token=abcd1235", NULL, NULL, 401 },
        { "/?token=abcd12341", NULL, NULL, 401 },
        { "/?token=", NULL, NULL, 401 },
        { "/api/v1/nothing", NULL, NULL, 401 }, // before it is known what there is
        { "/", "bearer abcd1234", NULL, 0 },
        { "/", "Bearer abcd123", NULL, 401 },
        { "/", "Basic abcd1234", NULL, 401 },
        { "/", "Bearer ", NULL, 401 },
        { "/", NULL, "a=b; symlaw_8017=abcd1234;c", 0 },
        { "/", NULL, "symlaw_8017=abcd1234x", 401 },
        { "/", NULL, "symlaw_801=abcd1234", 401 },
        { "/", NULL, ";;;", 401 },
    };
    for (int i = 0; i < SL_LEN(cases); i++) {
        sl_serve__request r = request("GET", cases[i].target);
        r.authorization = cases[i].authorization;
        r.cookie = cases[i].cookie;
        const int status = status_of(&g, &r);
        SL_CHECK(t, status == cases[i].status, "case %d: %d, not %d", i, status, cases[i].status);
    }
}

/* ---------------------------------------------------------------- faults -------------------- */

/* With an allocation failing, a request that is allowed is answered by 503 or as otherwise; one
 * that is refused keeps its status, and what is written of its text is not sent (failed). */
static void each_allocation_of_a_request(void **state) {
    sl_fixture *t = *state;
    static const struct {
        const char *method, *target, *body;
        int status; // 0: allowed
    } cases[] = {
        { "POST", "/api/v1/formula", "{\"text\":\"x1*sin(x1)\",\"names\":[\"a\"]}", 0 },
        { "POST", "/api/v1/formula", "{\"text\":}", 400 },
        { "POST", "/api/v1/formula", "[]", 400 },
        { "POST", "/api/v1/formula", "{\"a\":[[[[[[[[[]]]]]]]]]}", 400 },
        { "PUT", "/api/v1/jobs/1", "", 405 },
        { "GET", "/api/v1/universe?find=x1&seed=%zz", "", 400 },
    };
    for (int i = 0; i < SL_LEN(cases); i++)
        for (int64_t n = 1;; n++) {
            char length[20];
            serve_fault f;
            sl_serve__call c;
            sl_serve__reply no = { 0 };
            size_t expected;
            sl_serve__request r = request(cases[i].method, cases[i].target);
            snprintf(length, sizeof length, "%zu", strlen(cases[i].body));
            r.content_type = "application/json";
            if (*cases[i].body) r.content_length = length;
            serve_fault_begin(&f, n, false);
            const bool good = sl_serve__request_head(&c, &expected, &no, &own, &r) &&
                              sl_serve__request_body(&c, &no, cases[i].body, strlen(cases[i].body));
            const bool hit = serve_fault_hit(&f);
            sl_mem_fail_at(0, false);
            const int status = good ? 0 : no.status;
            SL_CHECK(t, status == cases[i].status || (hit && status == 503),
                     "%s with allocation %lld failing: %d", cases[i].target, (long long)n, status);
            SL_CHECK(t, good || no.body.failed || serve_is_json(no.body.text, no.body.len),
                     "half a reply: %s", no.body.text);
            sl_serve__call_clear(&c);
            sl_serve__reply_clear(&no);
            serve_fault_end(&f, t);
            if (!hit) break;
        }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(paths_and_queries_are_decoded),       SL_TEST(targets_have_their_status),
        SL_TEST(hosts_and_origins_have_their_status), SL_TEST(bodies_have_their_status),
        SL_TEST(tokens_are_compared_whole),           SL_TEST(each_allocation_of_a_request),
    };
    return serve_test_main("serve.request", tests, SL_LEN(tests));
}

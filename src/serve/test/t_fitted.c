/* All rows of a table with a formula's values, and what happens without memory. */
#include "serve/serve_test.h"

#include "fixture/counted.h"

static const char good[] = "{\"csv\":\"name;a;y\\nx;1;2,5\\n\\\"y;z\\\";2;4,5\\nz;;1\\nw;4;8\\n\","
                           "\"formula\":\"2*a + 1/2\",\"options\":{\"decimal\":\"comma\"}}";
static const char rows[] =
    "name,a,y,y_fitted,y_residual\nx,1,\"2,5\",2.5,0\n\"y;z\",2,\"4,5\",4.5,0\n"
    "z,,1,,\nw,4,8,8.5,-0.5\n";

static void open_server(sl_fixture *t, sl_serve *s) {
    serve_begin(t, s, "{\"max-jobs\":1,\"max-rows\":5}");
    assert_true(sl_serve__jobs_begin(&s->jobs, s));
}

static void every_row_has_its_value_and_residual(void **state) {
    sl_fixture *t = *state;
    sl_serve s;
    sl_serve__reply r;
    open_server(t, &s);
    serve_ask(&r, &s, "POST", "/api/v1/fitted", good);
    SL_CHECK(t, r.status == 200 && strcmp(r.body.text, rows) == 0, "%s", r.body.text);
    SL_CHECK(t, strncmp(r.type, "text/csv", 8) == 0, "%s", r.type);
    sl_serve__reply_clear(&r);
    serve_end(&s);
}

static void what_is_wrong_is_named(void **state) {
    sl_fixture *t = *state;
    static const struct {
        const char *body, *says;
        int status;
    } cases[] = {
        { "{\"csv\":\"a,b\\n1,2\\n\"}", "formula", 400 },
        { "{\"csv\":\"\",\"formula\":\"a\"}", "csv", 400 },
        { "{\"csv\":\"a,b\\n1,2\\n\",\"formula\":\"a\",\"more\":1}", "more", 400 },
        { "{\"csv\":\"a,b\\n1,2\\n\",\"formula\":\"a\",\"options\":[]}", "options", 400 },
        { "{\"csv\":\"a,b\\n1,2\\n\",\"formula\":\"a\",\"options\":{\"fitted\":\"x\"}}", "fitted",
          400 },
        { "{\"csv\":\"a,b\\n1,2\\n\",\"formula\":\"a\",\"options\":{\"file\":\"x\"}}", "file",
          400 },
        { "{\"csv\":\"a,b\\n1,2\\n\",\"formula\":\"a\",\"options\":{\"target\":[]}}", "target",
          400 },
        { "{\"csv\":\"a,b\\n1,2\\n2,3\\n\",\"formula\":\"a*(\"}", "column", 400 },
        { "{\"csv\":\"a,b\\n1,x\\n2,y\\n3,z\\n\",\"formula\":\"b\"}", "table.csv", 400 },
        { "{\"csv\":\"1\\n1\\n1\\n1\\n1\\n1\\n1\\n1\\n\",\"formula\":\"a\"}", "rows", 413 },
    };
    sl_serve s;
    open_server(t, &s);
    for (int i = 0; i < SL_LEN(cases); i++) {
        sl_serve__reply r;
        serve_ask(&r, &s, "POST", "/api/v1/fitted", cases[i].body);
        SL_CHECK(t, r.status == cases[i].status && strstr(r.body.text, cases[i].says), "%s: %s",
                 cases[i].body, r.body.text);
        SL_CHECK(t, !strstr(r.body.text, "/proc"), "%s", r.body.text);
        sl_serve__reply_clear(&r);
    }
    serve_end(&s);
}

/* Faults are of serve: the library has tests of its own, and lack of memory in jansson is known to
 * it only by its own allocator. */
static serve_fault *armed;

#undef symlaw_command
static symlaw_status without_faults(const char *name, const char *options, symlaw_event_fn on_event,
                                    void *payload, char **result) {
    const int64_t before = sl_mem_calls(), left = armed->n - (before - armed->calls);
    sl_mem_fail_at(0, false);
    const symlaw_status st = symlaw_command(name, options, on_event, payload, result);
    armed->calls += sl_mem_calls() - before;
    sl_mem_fail_at(left > 0 ? left : 0, false);
    return st;
}

static void each_allocation_of_the_rows(void **state) {
    sl_fixture *t = *state;
    sl_serve s;
    open_server(t, &s);
    sl_serve_test_command = without_faults;
    for (int64_t n = 1;; n++) {
        serve_fault f;
        armed = &f;
        sl_serve__reply r;
        serve_fault_begin(&f, n, false);
        serve_ask(&r, &s, "POST", "/api/v1/fitted", good);
        const bool hit = serve_fault_hit(&f);
        sl_mem_fail_at(0, false);
        SL_CHECK(t, (hit && r.status == 503) || (r.status == 200 && strcmp(r.body.text, rows) == 0),
                 "allocation %lld: %d %s", (long long)n, r.status, r.body.text);
        sl_serve__reply_clear(&r);
        serve_fault_end(&f, t);
        if (!hit) break;
    }
    sl_serve_test_command = symlaw_command;
    serve_end(&s);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(every_row_has_its_value_and_residual),
        SL_TEST(what_is_wrong_is_named),
        SL_TEST(each_allocation_of_the_rows),
    };
    return serve_test_main("serve.fitted", tests, SL_LEN(tests));
}

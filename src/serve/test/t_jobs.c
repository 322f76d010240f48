/* Jobs: from the request to the result, and what is left of one that finds no memory. */
#include <sched.h>
#include <time.h>

#include "serve/serve_test.h"

#include "fixture/counted.h"

static const char table[] = "a,T\n1,1\n2,2.8284271247461903\n3,5.196152422706632\n4,8\n5,11."
                            "180339887498949\n6,14.696938456699069\n";

static int status_of(sl_serve *s, const char *method, const char *target, const char *body) {
    sl_serve__reply r;
    serve_ask(&r, s, method, target, body);
    const int status = r.status;
    sl_serve__reply_clear(&r);
    return status;
}

static void request_body(char *out, size_t size) {
    sl_serve__text t = { 0 };
    sl_serve__json_open(&t, NULL, '{');
    sl_serve__json_text(&t, "csv", table);
    sl_serve__json_raw(&t, "options", "{\"effort\":\"low\",\"search\":\"exhaustive\",\"seed\":1}");
    sl_serve__json_close(&t, '}');
    snprintf(out, size, "%s", t.text);
    sl_serve__clear(&t);
}

/* The path of the job that a reply names. */
static void path_of(char *out, size_t size, const sl_serve__reply *r, const char *more) {
    size_t n = 0;
    const char *id = sl_serve__json_member(r->body.text, "job", &n);
    snprintf(out, size, "/api/v1/jobs/%.32s%s", id ? id + 1 : "?", more);
}

/* Waits, without allocations, until the job of the path is in a state from `from` on. */
static sl_serve__state wait_for(sl_serve *s, const char *path, sl_serve__state from) {
    const struct timespec moment = { .tv_nsec = 100 * 1000 };
    sl_serve__job *job = sl_serve__job_hold(s->jobs, path + strlen("/api/v1/jobs/"));
    sl_serve__state state;
    assert_non_null(job);
    for (;;) {
        sl_serve__lock();
        state = job->state;
        sl_serve__unlock();
        if (state >= from) break;
        nanosleep(&moment, NULL);
    }
    sl_serve__job_release(s->jobs, job);
    return state;
}

/* ---------------------------------------------------------------- commands ------------------ */

enum { EVENTS_MAX = 200 };

/* A discovery as it was: its events and its result. */
static struct {
    symlaw_event event[EVENTS_MAX];
    int n;
    char *result;
    symlaw_event_fn on_event;
    void *payload;
} tape;

static int record_event(const symlaw_event *e, void *payload) {
    (void)payload;
    if (tape.n < EVENTS_MAX) {
        tape.event[tape.n] = *e;
        tape.event[tape.n++].text = e->text ? strndup(e->text, e->length) : NULL;
    }
    return tape.on_event(e, tape.payload);
}

#undef symlaw_command
static symlaw_status record(const char *name, const char *options, symlaw_event_fn on_event,
                            void *payload, char **result) {
    tape.on_event = on_event;
    tape.payload = payload;
    const symlaw_status st = symlaw_command(name, options, record_event, NULL, result);
    if (st == SYMLAW_OK) tape.result = strdup(*result);
    return st;
}

static symlaw_status replay(const char *name, const char *options, symlaw_event_fn on_event,
                            void *payload, char **result) {
    (void)name;
    (void)options;
    for (int i = 0; i < tape.n; i++)
        if (on_event(&tape.event[i], payload)) return SYMLAW_ECANCEL;
    *result = strdup(tape.result);
    return *result ? SYMLAW_OK : SYMLAW_ENOMEM;
}

/* A discovery that runs out of memory at its end, with much to say. */
static symlaw_status replay_failing(const char *name, const char *options, symlaw_event_fn on_event,
                                    void *payload, char **result) {
    static const char row[] = "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20\n";
    const symlaw_event e = {
        .size = sizeof e, .kind = SYMLAW_EVENT_EXCERPT, .text = row, .length = strlen(row)
    };
    for (int i = 0; i < 10; i++) (void)on_event(&e, payload);
    const symlaw_status st = replay(name, options, on_event, payload, result);
    symlaw_string_free(*result);
    *result = NULL;
    return st == SYMLAW_OK ? SYMLAW_ENOMEM : st;
}

static void erase(void) {
    for (int i = 0; i < tape.n; i++) free((char *)tape.event[i].text);
    free(tape.result);
    memset(&tape, 0, sizeof tape);
    sl_serve_test_command = symlaw_command;
}

/* Works until it is cancelled. */
static symlaw_status work(const char *name, const char *options, symlaw_event_fn on_event,
                          void *payload, char **result) {
    (void)name;
    (void)options;
    (void)result;
    const symlaw_event e = { .size = sizeof e, .kind = SYMLAW_EVENT_POLL };
    while (!on_event(&e, payload)) sched_yield();
    return SYMLAW_ECANCEL;
}

/* ---------------------------------------------------------------- one job ------------------- */

typedef struct replies {
    int started, state, candidate; // status of each reply; 0: not asked
    char job[200000], result[200000], picture[200000];
} replies;

/* All that a client does: starts a job, waits for its end, asks for it and for its best formula.
 * heal: there is memory again when the job has ended. */
static void do_all(sl_fixture *t, replies *out, sl_serve *s, const char *body, bool heal) {
    char path[200], place[220];
    sl_serve__reply r;
    size_t n = 0;
    out->started = out->state = out->candidate = 0;
    out->job[0] = out->result[0] = out->picture[0] = '\0';
    serve_ask(&r, s, "POST", "/api/v1/discover", body);
    out->started = r.status;
    if (r.status == 202) {
        path_of(path, sizeof path, &r, "");
        path_of(place, sizeof place, &r, "/candidates/1");
    }
    sl_serve__reply_clear(&r);
    if (out->started != 202) return;
    wait_for(s, path, SL_SERVE__DONE);
    if (heal) sl_mem_fail_at(0, false);
    serve_ask(&r, s, "GET", path, "");
    out->state = r.status;
    if (r.status == 200) {
        snprintf(out->job, sizeof out->job, "%s", r.body.text);
        const char *result = sl_serve__json_member(r.body.text, "result", &n);
        SL_CHECK(t, result && n < sizeof out->result, "%s", r.body.text);
        snprintf(out->result, sizeof out->result, "%.*s", (int)n, result);
    }
    sl_serve__reply_clear(&r);
    serve_ask(&r, s, "GET", place, "");
    out->candidate = r.status;
    if (r.status == 200) snprintf(out->picture, sizeof out->picture, "%s", r.body.text);
    sl_serve__reply_clear(&r);
}

/* A reply is 503 or what it is with memory; a job has its whole result, or failed. */
static bool is_as_good(const replies *now, const replies *good) {
    const bool lost = strcmp(now->result, "null") == 0;
    if (now->started == 0 || now->started == 503) return true;
    if (now->started != 202 || (now->state != 200 && now->state != 503)) return false;
    if (now->state == 200 && !serve_is_json(now->job, strlen(now->job))) return false;
    if (now->state == 200 && !lost && strcmp(now->result, good->result) != 0) return false;
    if (now->candidate == 404) return lost || now->state == 503;
    if (now->candidate == 200) return strcmp(now->picture, good->picture) == 0;
    return now->candidate == 503;
}

/* Runs a job with allocation n failing, or all from n on until its end, and judges it. False:
 * there is no allocation n. */
static bool try_fault(sl_fixture *t, replies *now, const replies *good, sl_serve *s,
                      const char *body, int64_t n, bool forever) {
    serve_fault f;
    now->started = now->candidate = 0;
    serve_fault_begin(&f, n, forever);
    if (sl_serve__jobs_begin(&s->jobs, s)) do_all(t, now, s, body, forever);
    const bool hit = serve_fault_hit(&f);
    sl_mem_fail_at(0, false);
    SL_CHECK(t, is_as_good(now, good), "allocation %lld: %d %d %d\n%s\n%s", (long long)n,
             now->started, now->state, now->candidate, now->job, now->picture);
    serve_end_jobs(s);
    serve_fault_end(&f, t);
    return hit;
}

static bool is_complete(const replies *r) {
    return r->started == 202 && r->state == 200 && r->candidate == 200 &&
           strstr(r->result, "a^(3/2)");
}

static void each_allocation_of_a_job(void **state) {
    sl_fixture *t = *state;
    static replies good, now;
    char body[1000];
    sl_serve s;
    int lost = 0;
    request_body(body, sizeof body);
    serve_begin(t, &s, "{\"max-jobs\":1,\"threads\":1}");
    assert_true(sl_serve__jobs_begin(&s.jobs, &s));
    sl_serve_test_command = record;
    do_all(t, &good, &s, body, false);
    serve_end_jobs(&s);
    SL_CHECK(t, tape.n > 2 && is_complete(&good), "%d %s", good.started, good.job);

    sl_serve_test_command = replay;
    for (int64_t n = 1; try_fault(t, &now, &good, &s, body, n, false); n++)
        lost += !is_complete(&now);
    SL_CHECK(t, lost > 100 && is_complete(&now), "%d failures had an effect", lost);
    // no result: jansson ends the process if a number and the memory for its digits end together
    sl_serve_test_command = replay_failing;
    for (int forever = 0; forever < 2; forever++) {
        for (int64_t n = 1; try_fault(t, &now, &good, &s, body, n, forever); n++) continue;
        SL_CHECK(t, now.state == 200 && strstr(now.job, "\"status\":503"), "%s", now.job);
    }
    erase();
    serve_end(&s);
}

/* ---------------------------------------------------------------- limits and ends ----------- */

static void start(sl_fixture *t, char *path, size_t size, sl_serve *s, const char *body) {
    sl_serve__reply r;
    serve_ask(&r, s, "POST", "/api/v1/discover", body);
    SL_CHECK(t, r.status == 202, "%s", r.body.text);
    path_of(path, size, &r, "");
    sl_serve__reply_clear(&r);
}

static void a_cancelled_job_frees_its_worker(void **state) {
    sl_fixture *t = *state;
    char body[1000], first[100], second[100], third[100];
    sl_serve s;
    request_body(body, sizeof body);
    serve_begin(t, &s, "{\"max-jobs\":1,\"max-client\":5}");
    assert_true(sl_serve__jobs_begin(&s.jobs, &s));
    sl_serve_test_command = work;
    start(t, first, sizeof first, &s, body);
    wait_for(&s, first, SL_SERVE__RUNNING);
    start(t, second, sizeof second, &s, body);
    start(t, third, sizeof third, &s, body);
    // one that waits ends at once; one that runs makes room for the next
    assert_int_equal(status_of(&s, "DELETE", second, ""), 202);
    assert_int_equal(wait_for(&s, second, SL_SERVE__DONE), SL_SERVE__CANCELLED);
    assert_int_equal(status_of(&s, "DELETE", first, ""), 202);
    assert_int_equal(wait_for(&s, first, SL_SERVE__DONE), SL_SERVE__CANCELLED);
    wait_for(&s, third, SL_SERVE__RUNNING);
    assert_int_equal(status_of(&s, "DELETE", first, ""), 200); // it has ended
    erase();
    serve_end(&s);
}

static void jobs_beyond_the_limits_are_refused(void **state) {
    static const struct {
        const char *options;
        int status;
    } cases[] = {
        { "{\"max-jobs\":1,\"max-client\":2}", 429 },
        { "{\"max-jobs\":1,\"max-queue\":1}", 503 },
    };
    sl_fixture *t = *state;
    char body[1000], path[100];
    sl_serve s;
    request_body(body, sizeof body);
    sl_serve_test_command = work;
    for (int c = 0; c < SL_SERVE__LEN(cases); c++) {
        serve_begin(t, &s, cases[c].options);
        assert_true(sl_serve__jobs_begin(&s.jobs, &s));
        for (int i = 0; i < 2; i++) start(t, path, sizeof path, &s, body);
        assert_int_equal(status_of(&s, "POST", "/api/v1/discover", body), cases[c].status);
        serve_end(&s);
    }
    erase();
}

/* A client whose request was answered by 503 has no job: it may start another at once. */
static void a_job_that_was_refused_is_not_started(void **state) {
    sl_fixture *t = *state;
    char body[1000], path[100];
    sl_serve s;
    request_body(body, sizeof body);
    serve_begin(t, &s, "{\"max-jobs\":1,\"max-client\":1}");
    sl_serve_test_command = work;
    for (int64_t n = 1;; n++) {
        serve_fault f;
        assert_true(sl_serve__jobs_begin(&s.jobs, &s));
        serve_fault_begin(&f, n, false);
        const int status = status_of(&s, "POST", "/api/v1/discover", body);
        sl_mem_fail_at(0, false);
        if (status != 202) {
            assert_int_equal(status, 503);
            start(t, path, sizeof path, &s, body);
        }
        serve_end_jobs(&s);
        if (status == 202) break;
    }
    erase();
    serve_end(&s);
}

/* Jobs are kept for a while, not for ever: their number is bounded. */
static void old_jobs_are_dropped(void **state) {
    sl_fixture *t = *state;
    enum { JOBS = 100 };
    char body[1000], path[JOBS][100];
    sl_serve s;
    int kept = 0;
    request_body(body, sizeof body);
    serve_begin(t, &s, "{\"max-jobs\":1}");
    assert_true(sl_serve__jobs_begin(&s.jobs, &s));
    sl_serve_test_command = work;
    for (int i = 0; i < JOBS; i++) {
        start(t, path[i], sizeof path[i], &s, body);
        status_of(&s, "DELETE", path[i], "");
        wait_for(&s, path[i], SL_SERVE__DONE);
    }
    for (int i = 0; i < JOBS; i++) kept += status_of(&s, "GET", path[i], "") == 200;
    SL_CHECK(t, kept < JOBS && status_of(&s, "GET", path[JOBS - 1], "") == 200, "%d are kept",
             kept);
    assert_int_equal(status_of(&s, "GET", path[0], ""), 404);
    erase();
    serve_end(&s);
}

static void a_table_that_cannot_be_read_is_a_failed_job(void **state) {
    sl_fixture *t = *state;
    char path[100];
    sl_serve s;
    sl_serve__reply r;
    serve_begin(t, &s, "{\"max-jobs\":1}");
    assert_true(sl_serve__jobs_begin(&s.jobs, &s));
    start(t, path, sizeof path, &s, "{\"csv\":\"a,b\\n1,x\\n2,y\\n\"}");
    assert_int_equal(wait_for(&s, path, SL_SERVE__DONE), SL_SERVE__FAILED);
    serve_ask(&r, &s, "GET", path, "");
    SL_CHECK(t, strstr(r.body.text, "\"status\":400") && strstr(r.body.text, "table.csv"), "%s",
             r.body.text);
    SL_CHECK(t, !strstr(r.body.text, "/proc"), "%s", r.body.text);
    sl_serve__reply_clear(&r);
    serve_end(&s);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(a_cancelled_job_frees_its_worker),
        SL_TEST(jobs_beyond_the_limits_are_refused),
        SL_TEST(a_job_that_was_refused_is_not_started),
        SL_TEST(old_jobs_are_dropped),
        SL_TEST(a_table_that_cannot_be_read_is_a_failed_job),
        SL_TEST(each_allocation_of_a_job),
    };
    return serve_test_main("serve.jobs", tests, SL_LEN(tests));
}

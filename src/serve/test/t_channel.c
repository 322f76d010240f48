/* Lists of events and their readers. */
#include "serve/serve_test.h"

static int resumed;
static void count_resume(void *connection) { resumed += connection != NULL; }

/* Everything after `last`, as the text of a stream. */
static int read_after(sl_serve__channel *c, sl_serve__text *t, int64_t last) {
    return sl_serve__channel_read(c, t, &last);
}

static void a_reader_gets_what_came_after_its_last_event(void **state) {
    sl_fixture *t = *state;
    sl_serve__channel c = { 0 };
    sl_serve__text all = { 0 }, rest = { 0 };
    int64_t last = 0;
    sl_serve__channel_publish(&c, "note", "{\"a\":1}", false);
    sl_serve__channel_publish(&c, "note", "{\"a\":2}", false);
    SL_CHECK(t, sl_serve__channel_read(&c, &all, &last) == 1 && last == 2, "%s", all.text);
    SL_CHECK(t,
             strcmp(all.text, "id: 1\nevent: note\ndata: {\"a\":1}\n\n"
                              "id: 2\nevent: note\ndata: {\"a\":2}\n\n") == 0,
             "%s", all.text);
    SL_CHECK(t, sl_serve__channel_read(&c, &rest, &last) == 0 && rest.len == 0, "nothing is new");
    SL_CHECK(t, read_after(&c, &rest, 1) == 1 && strncmp(rest.text, "id: 2", 5) == 0, "%s",
             rest.text);
    c.ended = true;
    SL_CHECK(t, sl_serve__channel_read(&c, &rest, &last) == -1, "the end comes last");
    sl_serve__clear(&all);
    sl_serve__clear(&rest);
    sl_serve__channel_clear(&c);
}

static void a_replacing_event_is_the_only_one_of_its_name(void **state) {
    sl_fixture *t = *state;
    sl_serve__channel c = { 0 };
    for (int i = 0; i < 1000; i++) {
        sl_serve__channel_publish(&c, "progress", "{}", true);
        if (i % 2 == 0) sl_serve__channel_publish(&c, "front", "[]", true);
    }
    SL_CHECK(t, c.n == 2 && c.last_id == 1500, "%d events, the last is %lld", c.n,
             (long long)c.last_id);
    sl_serve__channel_clear(&c);
}

/* However many notes there are, the list is bounded, and the end has its place. */
static void a_list_is_bounded(void **state) {
    sl_fixture *t = *state;
    sl_serve__channel c = { 0 };
    for (int i = 0; i < 5000; i++) sl_serve__channel_publish(&c, "note", "{}", false);
    const int full = c.n;
    sl_serve__channel_publish(&c, "end", "{}", true);
    SL_CHECK(t, full <= 256 && c.n == full + 1, "%d, then %d", full, c.n);
    sl_serve__channel_clear(&c);
}

static void sleeping_readers_are_woken_once(void **state) {
    sl_fixture *t = *state;
    sl_serve__channel c = { 0 };
    sl_serve__reader a = { .connection = &a, .suspended = true }, b = { .connection = &b };
    sl_serve__resume = count_resume;
    resumed = 0;
    sl_serve__channel_attach(&c, &a);
    sl_serve__channel_attach(&c, &b);
    sl_serve__channel_publish(&c, "note", "{}", false);
    sl_serve__channel_publish(&c, "note", "{}", false);
    SL_CHECK(t, resumed == 1 && !a.suspended && a.resumed && !b.resumed, "resumed %d times",
             resumed);
    sl_serve__channel_detach(&c, &a);
    sl_serve__channel_detach(&c, &b);
    SL_CHECK(t, !c.readers && c.references == 0 && c.had_reader && c.last_left > 0, "%d",
             c.references);
    sl_serve__channel_clear(&c);
}

/* An event that finds no memory is missing; those before and after it are there, in order, and the
 * end of the stream comes. */
static void each_allocation_of_events(void **state) {
    sl_fixture *t = *state;
    for (int64_t n = 1;; n++) {
        serve_fault f;
        sl_serve__channel c = { 0 };
        sl_serve__text out = { 0 };
        int64_t last = 0;
        serve_fault_begin(&f, n, false);
        for (int i = 0; i < 20; i++) sl_serve__channel_publish(&c, "note", "{}", false);
        sl_serve__channel_publish(&c, "result", "{}", true);
        c.ended = true;
        const bool hit = serve_fault_hit(&f);
        sl_mem_fail_at(0, false);
        SL_CHECK(t, c.n == 21 - hit, "allocation %lld: %d events", (long long)n, c.n);
        for (int i = 0; i < c.n; i++)
            SL_CHECK(t, c.event[i].id == i + 1, "event %d has number %lld", i,
                     (long long)c.event[i].id);
        SL_CHECK(t, sl_serve__channel_read(&c, &out, &last) == 1, "no events");
        SL_CHECK(t, sl_serve__channel_read(&c, &out, &last) == -1, "no end");
        sl_serve__clear(&out);
        sl_serve__channel_clear(&c);
        serve_fault_end(&f, t);
        if (!hit) break;
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(a_reader_gets_what_came_after_its_last_event),
        SL_TEST(a_replacing_event_is_the_only_one_of_its_name),
        SL_TEST(a_list_is_bounded),
        SL_TEST(sleeping_readers_are_woken_once),
        SL_TEST(each_allocation_of_events),
    };
    return serve_test_main("serve.channel", tests, SL_LEN(tests));
}

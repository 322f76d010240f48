/* For the tests of commands: the events of one, and properties of all. */
#ifndef SL_COMMANDS_TEST_H
#define SL_COMMANDS_TEST_H

#include <string.h>

#include "fixture/fixture.h"
#include "io/io_test.h"
#include "symlaw/symlaw.h"

/* Events of a command. */
typedef struct event_log {
    sl_str output, excerpt, notes; // a note a line
    int events, stop_after;        // 0: never
    size_t largest;                // piece of output
} event_log;

static inline int log_event(const symlaw_event *e, void *payload) {
    event_log *h = payload;
    h->events++;
    SL_ASSERT(e->size == sizeof *e && e->seconds >= 0);
    if (e->kind == SYMLAW_EVENT_OUTPUT) {
        sl_str_add_bytes(&h->output, e->text, e->length);
        h->largest = SL_MAX(h->largest, e->length);
    }
    if (e->kind == SYMLAW_EVENT_EXCERPT) sl_str_add_bytes(&h->excerpt, e->text, e->length);
    if (e->kind == SYMLAW_EVENT_NOTE) {
        sl_str_add_bytes(&h->notes, e->text, e->length);
        sl_str_add_char(&h->notes, '\n');
    }
    return h->stop_after > 0 && h->events >= h->stop_after;
}

static inline void log_clear(event_log *h) {
    sl_str_clear(&h->output);
    sl_str_clear(&h->excerpt);
    sl_str_clear(&h->notes);
    *h = (event_log){ 0 };
}

static inline const char *output_of(const event_log *h) { return sl_str_text(&h->output); }

static inline int count_of(const char *text, const char *word) {
    int n = 0;
    for (const char *p = text; (p = strstr(p, word)); p += strlen(word)) n++;
    return n;
}

static inline int lines_of(const event_log *h) { return count_of(output_of(h), "\n"); }

static inline sl_json *parsed(sl_fixture *t, const char *text, size_t n) {
    sl_json *j = NULL;
    SL_MUST(t, sl_io_json_parse(&j, text, n));
    return j;
}

/* The result of a call that must succeed; its events are in h. */
static inline sl_json *result_of(sl_fixture *t, event_log *h, const char *command,
                                 const char *options) {
    char *result = NULL;
    SL_MUST(t, symlaw_command(command, options, log_event, h, &result));
    SL_CHECK(t,
             strncmp(result, "{\"exit\":0,", 10) == 0 || strncmp(result, "{\"exit\":1,", 10) == 0,
             "%s", result);
    sl_json *j = parsed(t, result, strlen(result));
    symlaw_string_free(result);
    return j;
}

/* The status of a call whose events are dropped, for tests that run out of memory. */
static inline sl_status quiet_status(const char *command, const char *options) {
    event_log h = { 0 };
    char *result = NULL;
    sl_status st = symlaw_command(command, options, log_event, &h, &result);
    sl_status output = sl_str_status(&h.output);
    symlaw_string_free(result);
    log_clear(&h);
    return st != SL_OK ? st : output;
}

/* Whenever the callback cancels, nothing is handed out and nothing leaks. */
static inline void stops_at_every_event(sl_fixture *t, const char *command, const char *options) {
    int stopped = 0;
    for (int k = 1; k < 400; k++) {
        event_log h = { .stop_after = k };
        char *result = NULL;
        sl_status st = symlaw_command(command, options, log_event, &h, &result);
        int events = h.events;
        log_clear(&h);
        if (st == SL_OK) {
            symlaw_string_free(result);
            break;
        }
        stopped++;
        assert_int_equal(st, SL_ECANCEL);
        assert_null(result);
        SL_CHECK(t, events == k, "%d more events after the stop", events - k);
    }
    SL_CHECK(t, stopped >= 2, "%s: stopped %d times only", options, stopped);
}

#endif

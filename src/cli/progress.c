/* progress - events on the terminal.
 *
 * On a terminal one line of stderr is overwritten each time; elsewhere (a log file) a plain line is
 * added every 15 seconds. Output goes to stdout and wipes that line first, because both may be the
 * same terminal. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/cli_impl.h"

static const double live_first = 0.3, live_pause = 0.1; // seconds; short work shows nothing
static const double line_first = 5, line_pause = 15;

void sl_cli__screen_init(sl_cli__screen *s, bool quiet) {
    const char *term = getenv("TERM");
    *s = (sl_cli__screen){ .quiet = quiet };
    s->live = isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
    s->next = s->live ? live_first : line_first;
}

void sl_cli__screen_wipe(sl_cli__screen *s) {
    if (s->shown) fputs("\r\033[K", stderr);
    s->shown = false;
}

static int terminal_width(void) {
    struct winsize w;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col > 0 ? w.ws_col : 80;
}

/* 75 -> "1 min 15 s" */
static void add_duration(sl_cli__text *t, double seconds) {
    long s = (long)(seconds + 0.5);
    if (s >= 3600)
        sl_cli__addf(t, "%ld h %ld min", s / 3600, s % 3600 / 60);
    else if (s >= 60)
        sl_cli__addf(t, "%ld min %ld s", s / 60, s % 60);
    else
        sl_cli__addf(t, "%ld s", s);
}

/* Bytes of the text before its first comma: the activity. Its figures follow. */
static size_t head_of(const symlaw_event *e) {
    const char *comma = memchr(e->text, ',', e->length);
    return comma ? (size_t)(comma - e->text) : e->length;
}

/* ", 45 %, 12 s left". The time left is estimated from the current activity alone: earlier ones ran
 * at another speed. */
static void add_share(sl_cli__text *t, const sl_cli__screen *s, const symlaw_event *e) {
    if (!(e->total > 0)) {
        sl_cli__addf(t, ", ");
        add_duration(t, e->seconds);
        return;
    }
    double part = e->done < e->total ? e->done / e->total : 1;
    sl_cli__addf(t, ", %.0f %%", 100 * part);
    double spent = e->seconds - s->since, made = e->done - s->at_first;
    if (spent < 1 || made <= 0 || part >= 1) return;
    sl_cli__addf(t, ", ");
    add_duration(t, spent / made * (e->total - e->done));
    sl_cli__addf(t, " left");
}

/* "training, 45 %, 12 s left, step 9/20, loss 1.2": a narrow terminal cuts off the end. */
static void describe(sl_cli__text *t, const sl_cli__screen *s, const symlaw_event *e) {
    const size_t head = head_of(e);
    sl_cli__add(t, e->text, head);
    add_share(t, s, e);
    sl_cli__add(t, e->text + head, e->length - head);
}

static void show_progress(sl_cli__screen *s, const symlaw_event *e) {
    char what[sizeof s->what];
    size_t head = head_of(e);
    if (head >= sizeof what) head = sizeof what - 1;
    memcpy(what, e->text, head);
    what[head] = '\0';
    if (strcmp(s->what, what) != 0) {
        memcpy(s->what, what, head + 1);
        s->since = e->seconds;
        s->at_first = e->done;
    }
    if (e->seconds < s->next) return;
    s->next = e->seconds + (s->live ? live_pause : line_pause);
    sl_cli__text t = { 0 };
    describe(&t, s, e);
    if (s->live) {
        sl_cli__text line = { 0 };
        sl_cli__addf(&line, "\r%.*s\033[K", terminal_width() - 1, t.text);
        fputs(line.text, stderr);
        sl_cli__text_clear(&line);
    } else {
        sl_cli__error("%s", t.text);
    }
    s->shown = s->live;
    sl_cli__text_clear(&t);
}

int sl_cli__on_event(const symlaw_event *e, void *screen) {
    sl_cli__screen *s = screen;
    switch (e->kind) {
    case SYMLAW_EVENT_PROGRESS:
        if (!s->quiet) show_progress(s, e);
        break;
    case SYMLAW_EVENT_NOTE:
        sl_cli__screen_wipe(s);
        if (!s->quiet) sl_cli__error("%.*s", (int)e->length, e->text);
        break;
    case SYMLAW_EVENT_OUTPUT:
        sl_cli__screen_wipe(s);
        s->output_error = sl_cli__write(e->text, e->length, s->stop_returned);
        break;
    case SYMLAW_EVENT_EXCERPT: sl_cli__add(&s->excerpt, e->text, e->length); break;
    case SYMLAW_EVENT_POLL:
    case SYMLAW_EVENT_FRONT: break;
    }
    // the library ignores the value returned for a note
    if (sl_cli__signal() && e->kind != SYMLAW_EVENT_NOTE) s->stop_returned = true;
    return sl_cli__signal() != 0 || s->output_error != 0;
}

/* channel - lists of events, and the connections that follow them.
 *
 * One lock for all channels and jobs: what is done within it takes microseconds. A reader that has
 * had everything is suspended; publishing resumes it. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "serve/serve_impl.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
void (*sl_serve__resume)(void *connection);

enum { EVENTS_MAX = 256 }; // beyond it notes are dropped

void sl_serve__lock(void) { pthread_mutex_lock(&lock); }
void sl_serve__unlock(void) { pthread_mutex_unlock(&lock); }
pthread_mutex_t *sl_serve__mutex(void) { return &lock; }

void sl_serve__channel_resume(sl_serve__channel *c) {
    for (sl_serve__reader *r = c->readers; r; r = r->next) {
        if (!r->suspended) continue;
        r->suspended = false;
        r->resumed = true;
        sl_serve__resume(r->connection);
    }
}

static void drop(sl_serve__channel *c, const char *name) {
    int kept = 0;
    for (int i = 0; i < c->n; i++) {
        if (strcmp(c->event[i].name, name) == 0)
            free(c->event[i].data);
        else
            c->event[kept++] = c->event[i];
    }
    c->n = kept;
}

/* Within the lock. Without memory the event is lost; `ended` still ends the stream. */
void sl_serve__channel_publish(sl_serve__channel *c, const char *name, const char *data,
                               bool replaces) {
    if (replaces) drop(c, name);
    if (c->n >= EVENTS_MAX && !replaces) return;
    if (c->n == c->room) {
        const int room = c->room ? 2 * c->room : 16;
        sl_serve__event *more = realloc(c->event, (size_t)room * sizeof *more);
        if (!more) return;
        c->event = more;
        c->room = room;
    }
    char *copy = strdup(data);
    if (!copy) return;
    c->event[c->n++] = (sl_serve__event){ ++c->last_id, name, copy };
    sl_serve__channel_resume(c);
}

void sl_serve__channel_clear(sl_serve__channel *c) {
    for (int i = 0; i < c->n; i++) free(c->event[i].data);
    free(c->event);
    *c = (sl_serve__channel){ 0 };
}

int sl_serve__channel_read(sl_serve__channel *c, sl_serve__text *t, int64_t *last) {
    int found = 0;
    for (int i = 0; i < c->n; i++) {
        const sl_serve__event *e = &c->event[i];
        if (e->id <= *last) continue;
        sl_serve__addf(t, "id: %lld\nevent: %s\ndata: ", (long long)e->id, e->name);
        sl_serve__puts(t, e->data);
        sl_serve__puts(t, "\n\n");
        *last = e->id;
        found = 1;
    }
    return found ? 1 : c->ended ? -1 : 0;
}

void sl_serve__channel_attach(sl_serve__channel *c, sl_serve__reader *r) {
    r->next = c->readers;
    c->readers = r;
    c->had_reader = true;
    c->references++;
}

void sl_serve__channel_detach(sl_serve__channel *c, sl_serve__reader *r) {
    sl_serve__reader **at = &c->readers;
    while (*at && *at != r) at = &(*at)->next;
    if (*at) *at = r->next;
    c->references--;
    c->last_left = sl_serve__now();
}

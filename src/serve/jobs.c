/* jobs - discoveries: a bounded number of workers, a bounded queue, results kept for a while.
 *
 * A job runs "symlaw discover" by symlaw_command on the table that was sent. Its events go to the
 * channel of the job. It ends by itself, by DELETE, by --max-seconds, or some seconds after the
 * last reader of its events has gone; the callback of the next event then asks the library to
 * stop, and what was found so far is the result. */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "serve/serve_impl.h"

enum { KEPT_MAX = 64, WORKERS_MAX = 64 };
static const double KEPT_SECONDS = 600;      // after its end
static const double UNFOLLOWED_SECONDS = 15; // without readers, after there were some
static const double GRACE_SECONDS = 3;       // beyond its time, before it is cancelled
static const double RESUME_SECONDS = 5;      // between checks for closed connections

struct sl_serve__jobs {
    sl_serve *s;
    pthread_cond_t work;
    pthread_t thread[WORKERS_MAX];
    int workers;
    bool stop;
    sl_serve__job *first; // the newest first
    double next_resume;
};

static const char *const state_names[] = { "queued", "running", "done", "failed", "cancelled" };

static bool is_ended(const sl_serve__job *job) { return job->state >= SL_SERVE__DONE; }

/* ---------------------------------------------------------------- running one --------------- */

typedef struct running {
    sl_serve__job *job;
    sl_serve__memory *table;
    double limit; // when it is cancelled
} running;

/* {"text":...} with further members. */
static void publish_text(running *r, const char *name, const symlaw_event *e) {
    sl_serve__text t = { 0 }, clean = { 0 };
    sl_serve__memory_hide(&clean, r->table, e->text, e->length);
    sl_serve__json_open(&t, NULL, '{');
    sl_serve__json_text(&t, "text", clean.text ? clean.text : "");
    if (e->kind == SYMLAW_EVENT_PROGRESS) {
        sl_serve__json_real(&t, "done", e->done);
        sl_serve__json_real(&t, "total", e->total);
        sl_serve__json_real(&t, "seconds", e->seconds);
    }
    sl_serve__json_close(&t, '}');
    if (!t.failed && !clean.failed)
        sl_serve__channel_publish(&r->job->channel, name, t.text, e->kind == SYMLAW_EVENT_PROGRESS);
    sl_serve__clear(&clean);
    sl_serve__clear(&t);
}

static void publish_front(running *r, const symlaw_event *e) {
    sl_serve__text t = { 0 };
    char *front = strndup(e->text, e->length);
    if (!front) return;
    sl_serve__json_open(&t, NULL, '{');
    sl_serve__json_raw(&t, "front", front);
    sl_serve__json_close(&t, '}');
    if (!t.failed) sl_serve__channel_publish(&r->job->channel, "front", t.text, true);
    sl_serve__clear(&t);
    free(r->job->front);
    r->job->front = front;
}

static int on_event(const symlaw_event *e, void *payload) {
    running *r = payload;
    sl_serve__lock();
    if (e->kind == SYMLAW_EVENT_PROGRESS) publish_text(r, "progress", e);
    if (e->kind == SYMLAW_EVENT_NOTE) publish_text(r, "note", e);
    if (e->kind == SYMLAW_EVENT_FRONT) publish_front(r, e);
    const bool stop = r->job->cancel || sl_serve__now() > r->limit;
    sl_serve__unlock();
    return stop;
}

/* ---------------------------------------------------------------- its end ------------------- */

/* NULL: no memory. */
static char *make_error(int status, const char *text) {
    sl_serve__text t = { 0 };
    sl_serve__json_open(&t, NULL, '{');
    sl_serve__json_int(&t, "status", status);
    sl_serve__json_text(&t, "text", text);
    sl_serve__json_text(&t, "remedy", sl_serve__remedy(status));
    sl_serve__json_close(&t, '}');
    if (t.failed) sl_serve__clear(&t);
    return t.text;
}

static void publish_end(sl_serve__job *job) {
    sl_serve__text t = { 0 };
    if (job->result) sl_serve__channel_publish(&job->channel, "result", job->result, true);
    if (job->error) sl_serve__channel_publish(&job->channel, "error", job->error, true);
    sl_serve__json_open(&t, NULL, '{');
    sl_serve__json_text(&t, "state", state_names[job->state]);
    sl_serve__json_close(&t, '}');
    sl_serve__channel_publish(&job->channel, "end",
                              t.text && !t.failed ? t.text : "{\"state\":\"failed\"}", true);
    sl_serve__clear(&t);
    job->channel.ended = true;
    sl_serve__channel_resume(&job->channel);
}

/* Takes the rows for pictures out of the result's member data.values. */
static bool take_rows(sl_serve__rows *rows, const json_t *result) {
    const json_t *values = json_object_get(json_object_get(result, "data"), "values");
    const json_t *x = json_object_get(values, "x"), *y = json_object_get(values, "y");
    const int inputs = (int)json_array_size(x);
    const size_t n = json_array_size(y);
    if (!values || inputs == 0 || n == 0) return true;
    rows->x = malloc((size_t)inputs * n * sizeof *rows->x);
    rows->y = malloc(n * sizeof *rows->y);
    if (!rows->x || !rows->y) return false;
    for (size_t i = 0; i < n; i++) {
        rows->y[i] = json_number_value(json_array_get(y, i));
        for (int k = 0; k < inputs; k++)
            rows->x[(size_t)k * n + i] =
                json_number_value(json_array_get(json_array_get(x, (size_t)k), i));
    }
    rows->inputs = inputs;
    rows->shown = (int64_t)n;
    rows->of = json_integer_value(json_object_get(values, "of"));
    return true;
}

typedef struct outcome {
    char *result, *error;
    json_t *parsed;
    sl_serve__rows rows;
} outcome;

/* False: no memory. */
static bool take_result(outcome *o, const char *result, const sl_serve__memory *table) {
    sl_serve__text t = { 0 };
    json_error_t e;
    sl_serve__memory_hide(&t, table, result, strlen(result));
    o->parsed = t.failed ? NULL : sl_serve__json_read(&e, t.text, t.len);
    if (o->parsed && take_rows(&o->rows, o->parsed)) {
        json_object_del(json_object_get(o->parsed, "data"), "values"); // rows has them
        o->result = t.text;
        return true;
    }
    json_decref(o->parsed); // a job that failed has no candidates
    o->parsed = NULL;
    sl_serve__clear(&t);
    return false;
}

static void make_outcome(outcome *o, symlaw_status st, const char *result, const char *excerpt,
                         const sl_serve__memory *table) {
    sl_serve__text line = { 0 };
    const char *why = symlaw_last_error();
    if (st == SYMLAW_OK) {
        if (!take_result(o, result, table)) o->error = make_error(503, "out of memory");
        return;
    }
    sl_serve__memory_hide(&line, table, why, strlen(why));
    if (*excerpt) sl_serve__addf(&line, "\n%s", excerpt);
    if (line.failed)
        o->error = make_error(503, "out of memory");
    else
        o->error = make_error(sl_serve__http_status(st), line.text);
    sl_serve__clear(&line);
}

static void finish(sl_serve__job *job, const outcome *o, bool cancelled) {
    sl_serve__lock();
    job->result = o->result;
    job->error = o->error;
    job->parsed = o->parsed;
    job->rows = o->rows;
    job->state = cancelled ? SL_SERVE__CANCELLED : o->result ? SL_SERVE__DONE : SL_SERVE__FAILED;
    job->ended = job->asked = sl_serve__now();
    publish_end(job);
    sl_serve__unlock();
}

/* ---------------------------------------------------------------- workers ------------------- */

/* Sets the file and the model, which no request can, behind the options of the request. */
static char *full_options(const sl_serve *s, const sl_serve__job *job,
                          const sl_serve__memory *table) {
    sl_serve__text t = { 0 };
    sl_serve__add(&t, job->options, strlen(job->options) - 1); // without the closing bracket
    sl_serve__json_text(&t, "file", table->path);
    if (s->config.model && !strstr(job->options, "\"search\":\"exhaustive\""))
        sl_serve__json_text(&t, "model", s->config.model);
    sl_serve__json_close(&t, '}');
    if (t.failed) sl_serve__clear(&t);
    return t.text;
}

typedef struct collector {
    running *r;
    sl_serve__text excerpt;
} collector;

static int collect_event(const symlaw_event *e, void *payload) {
    collector *n = payload;
    if (e->kind == SYMLAW_EVENT_EXCERPT) sl_serve__add(&n->excerpt, e->text, e->length);
    return on_event(e, n->r);
}

static void run(sl_serve__jobs *j, sl_serve__job *job) {
    sl_serve__memory table;
    outcome o = { 0 };
    symlaw_status st = SYMLAW_ENOMEM;
    char *result = NULL, *options = NULL;
    const bool there = sl_serve__memory_open(&table, job->csv, job->csv_len);
    running r = { job, &table, sl_serve__now() + j->s->config.max_seconds + GRACE_SECONDS };
    collector n = { .r = &r };
    free(job->csv);
    job->csv = NULL;
    if (there) options = full_options(j->s, job, &table);
    if (options) st = symlaw_command("discover", options, collect_event, &n, &result);
    sl_serve__lock();
    bool cancelled = job->cancel;
    sl_serve__unlock();
    if (st == SYMLAW_ECANCEL) cancelled = true;
    if (!options) {
        o.error = make_error(503, "out of memory");
    } else if (st != SYMLAW_ECANCEL) {
        make_outcome(&o, st, result, n.excerpt.text ? n.excerpt.text : "", &table);
    }
    symlaw_string_free(result);
    sl_serve__clear(&n.excerpt);
    free(options);
    if (there) sl_serve__memory_close(&table);
    finish(job, &o, cancelled);
}

/* The oldest that waits; within the lock. */
static sl_serve__job *next_job(sl_serve__jobs *j) {
    sl_serve__job *found = NULL;
    for (sl_serve__job *job = j->first; job; job = job->next)
        if (job->state == SL_SERVE__QUEUED) found = job;
    return found;
}

static void *worker(void *payload) {
    sl_serve__jobs *j = payload;
    sl_serve__lock();
    while (!j->stop) {
        sl_serve__job *job = next_job(j);
        if (!job) {
            pthread_cond_wait(&j->work, sl_serve__mutex());
            continue;
        }
        job->state = SL_SERVE__RUNNING;
        job->begun = sl_serve__now();
        job->references++;
        sl_serve__unlock();
        run(j, job);
        sl_serve__lock();
        job->references--;
    }
    sl_serve__unlock();
    return NULL;
}

bool sl_serve__jobs_begin(sl_serve__jobs **out, sl_serve *s) {
    sl_serve__jobs *j = calloc(1, sizeof *j);
    *out = j;
    if (!j) return false;
    j->s = s;
    pthread_cond_init(&j->work, NULL);
    while (j->workers < s->config.max_jobs) {
        if (pthread_create(&j->thread[j->workers], NULL, worker, j) != 0) return false;
        j->workers++;
    }
    return true;
}

/* ---------------------------------------------------------------- removal ------------------- */

static void free_job(sl_serve__job *job) {
    sl_serve__channel_clear(&job->channel);
    free(job->csv);
    free(job->options);
    free(job->front);
    free(job->result);
    free(job->error);
    json_decref(job->parsed);
    free(job->rows.x);
    free(job->rows.y);
    free(job);
}

/* Cancels; one that waits ends at once. Within the lock. */
static void cancel(sl_serve__job *job) {
    job->cancel = true;
    if (job->state != SL_SERVE__QUEUED) return;
    job->state = SL_SERVE__CANCELLED;
    job->ended = sl_serve__now();
    free(job->csv);
    job->csv = NULL;
    publish_end(job);
}

void sl_serve__jobs_stop(sl_serve__jobs *j) {
    sl_serve__lock();
    j->stop = true;
    for (sl_serve__job *job = j->first; job; job = job->next)
        if (!is_ended(job)) cancel(job);
    pthread_cond_broadcast(&j->work);
    sl_serve__unlock();
    for (int i = 0; i < j->workers; i++) pthread_join(j->thread[i], NULL);
    j->workers = 0;
}

bool sl_serve__jobs_stopped(sl_serve__jobs *j) {
    sl_serve__lock();
    const bool stop = j->stop;
    sl_serve__unlock();
    return stop;
}

void sl_serve__jobs_free(sl_serve__jobs *j) {
    if (!j) return;
    while (j->first) {
        sl_serve__job *job = j->first;
        j->first = job->next;
        free_job(job);
    }
    pthread_cond_destroy(&j->work);
    free(j);
}

static bool is_removable(const sl_serve__job *job) {
    return is_ended(job) && job->references == 0 && job->channel.references == 0;
}

/* Drops what is old, and of the rest the one that was asked for longest ago, as long as there are
 * more than `most`. Within the lock. */
static int drop_old(sl_serve__jobs *j, int most) {
    const double now = sl_serve__now();
    int n = 0;
    for (sl_serve__job **at = &j->first; *at;) {
        sl_serve__job *job = *at;
        if (is_removable(job) && now - job->asked > KEPT_SECONDS) {
            *at = job->next;
            free_job(job);
        } else {
            n++;
            at = &job->next;
        }
    }
    while (n > most) {
        sl_serve__job **oldest = NULL;
        for (sl_serve__job **at = &j->first; *at; at = &(*at)->next)
            if (is_removable(*at) && (!oldest || (*at)->asked < (*oldest)->asked)) oldest = at;
        if (!oldest) break;
        sl_serve__job *job = *oldest;
        *oldest = job->next;
        free_job(job);
        n--;
    }
    return n;
}

/* Had readers, and has none now, nor other requests. */
static bool is_unfollowed(const sl_serve__job *job, double now) {
    const sl_serve__channel *c = &job->channel;
    return !is_ended(job) && c->had_reader && !c->readers &&
           now - c->last_left > UNFOLLOWED_SECONDS && now - job->asked > UNFOLLOWED_SECONDS;
}

void sl_serve__jobs_tick(sl_serve__jobs *j) {
    const double now = sl_serve__now();
    sl_serve__lock();
    const bool resume = now >= j->next_resume;
    if (resume) j->next_resume = now + RESUME_SECONDS;
    for (sl_serve__job *job = j->first; job; job = job->next) {
        if (is_unfollowed(job, now)) cancel(job);
        if (resume) sl_serve__channel_resume(&job->channel);
    }
    drop_old(j, KEPT_MAX + j->s->config.max_jobs + j->s->config.max_queue);
    sl_serve__unlock();
}

/* ---------------------------------------------------------------- asking for one ------------ */

static sl_serve__job *find(sl_serve__jobs *j, const char *id) {
    sl_serve__job *job = j->first;
    while (job && strcmp(job->id, id) != 0) job = job->next;
    if (job) job->asked = sl_serve__now();
    return job;
}

sl_serve__job *sl_serve__job_hold(sl_serve__jobs *j, const char *id) {
    sl_serve__lock();
    sl_serve__job *job = find(j, id);
    if (job) job->references++;
    sl_serve__unlock();
    return job;
}

void sl_serve__job_release(sl_serve__jobs *j, sl_serve__job *job) {
    (void)j;
    sl_serve__lock();
    job->references--;
    sl_serve__unlock();
}

static void add_job(sl_serve__text *t, const sl_serve__job *job) {
    const double end = is_ended(job) ? job->ended : sl_serve__now();
    const sl_serve__event *progress = NULL;
    sl_serve__json_open(t, NULL, '{');
    sl_serve__json_text(t, "job", job->id);
    sl_serve__json_text(t, "state", state_names[job->state]);
    sl_serve__json_real(t, "seconds", job->begun > 0 ? end - job->begun : 0);
    for (int i = 0; i < job->channel.n; i++)
        if (strcmp(job->channel.event[i].name, "progress") == 0) progress = &job->channel.event[i];
    sl_serve__json_raw(t, "progress", progress ? progress->data : NULL);
    sl_serve__json_open(t, "notes", '[');
    for (int i = 0; i < job->channel.n; i++)
        if (strcmp(job->channel.event[i].name, "note") == 0)
            sl_serve__json_raw(t, NULL, job->channel.event[i].data);
    sl_serve__json_close(t, ']');
    sl_serve__json_raw(t, "front", job->front ? job->front : "[]");
    sl_serve__json_raw(t, "result", job->result);
    sl_serve__json_raw(t, "error", job->error);
    sl_serve__json_close(t, '}');
}

void sl_serve__answer_job(sl_serve *s, const sl_serve__call *c, sl_serve__reply *r) {
    sl_serve__lock();
    sl_serve__job *job = find(s->jobs, c->part[0]);
    if (!job) {
        sl_serve__unlock();
        sl_serve__fail(r, 404, "start another; finished jobs are kept for ten minutes",
                       "there is no such job");
        return;
    }
    if (c->route == SL_SERVE__JOB_EVENTS) {
        r->type = "text/event-stream";
        r->channel = &job->channel;
        r->after_event = c->after_event;
        job->channel.references++; // http.c's; until then the job stays
    } else {
        if (c->route == SL_SERVE__CANCEL && !is_ended(job)) {
            cancel(job);
            r->status = 202;
        }
        add_job(&r->body, job);
    }
    sl_serve__unlock();
}

/* ---------------------------------------------------------------- starting one -------------- */

/* Are there too many, of all or of this client? Within the lock. */
static bool is_full(sl_serve__reply *r, const sl_serve__jobs *j, const char *client) {
    const sl_serve__config *config = &j->s->config;
    int waiting = 0, active = 0, own = 0;
    for (const sl_serve__job *job = j->first; job; job = job->next) {
        waiting += job->state == SL_SERVE__QUEUED;
        active += job->state == SL_SERVE__RUNNING;
        own += !is_ended(job) && strcmp(job->client, client) == 0;
    }
    if (own >= config->max_client) {
        sl_serve__fail(r, 429, "wait for one of them, or cancel one: DELETE /api/v1/jobs/JOB",
                       "%d jobs of this client run or wait; no more are taken", own);
        return true;
    }
    if (j->stop || waiting + active >= config->max_queue + config->max_jobs) {
        sl_serve__fail(r, 503, "try again in a minute", "%d jobs wait already", waiting);
        return true;
    }
    return false;
}

static sl_serve__job *make_job(const char *csv, size_t n, char *options, const char *client) {
    sl_serve__job *job = calloc(1, sizeof *job);
    if (!job) return NULL;
    job->csv = malloc(n + 1);
    job->csv_len = n;
    job->asked = sl_serve__now();
    if (!job->csv || !sl_serve__random(job->id, 32)) {
        free(job->csv);
        free(job);
        return NULL;
    }
    memcpy(job->csv, csv, n);
    job->options = options;
    memcpy(job->client, client, strlen(client) + 1);
    return job;
}

void sl_serve__jobs_add(sl_serve__jobs *j, sl_serve__reply *r, const char *csv, size_t n,
                        char *options, const char *client) {
    sl_serve__job *job = make_job(csv, n, options, client);
    if (!job) {
        free(options);
        sl_serve__fail(r, 503, sl_serve__remedy(503), "out of memory");
        return;
    }
    r->status = 202;
    sl_serve__json_open(&r->body, NULL, '{');
    sl_serve__json_text(&r->body, "job", job->id);
    sl_serve__json_close(&r->body, '}');
    sl_serve__lock();
    drop_old(j, KEPT_MAX + j->s->config.max_jobs + j->s->config.max_queue - 1);
    // a client that does not get its id cannot ask for it
    if (r->body.failed || is_full(r, j, client)) {
        sl_serve__unlock();
        free_job(job);
        return;
    }
    job->next = j->first;
    j->first = job;
    pthread_cond_signal(&j->work);
    sl_serve__unlock();
}

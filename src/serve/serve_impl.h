/* Inside src/serve only: requests, replies, routes, and the parts that answer them. */
#ifndef SL_SERVE_IMPL_H
#define SL_SERVE_IMPL_H

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "serve/serve.h"

#define SL_SERVE__PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define SL_SERVE__LEN(a) ((int)(sizeof(a) / sizeof((a)[0])))

/* ---------------------------------------------------------------- text ---------------------- */

/* A growing text, `{0}` is empty. After an allocation that failed it takes no more. */
typedef struct sl_serve__text {
    char *text;
    size_t len, cap;
    bool failed;
} sl_serve__text;

void sl_serve__add(sl_serve__text *t, const char *bytes, size_t n);
void sl_serve__puts(sl_serve__text *t, const char *text);
SL_SERVE__PRINTF(2, 3) void sl_serve__addf(sl_serve__text *t, const char *format, ...);
void sl_serve__clear(sl_serve__text *t);
void sl_serve__quote(sl_serve__text *t, const char *value, size_t n); // as a JSON text

/* Members of an object (name) or of an array (name NULL), with their commas. */
void sl_serve__json_open(sl_serve__text *t, const char *name, char bracket); // '{' or '['
void sl_serve__json_close(sl_serve__text *t, char bracket);
void sl_serve__json_raw(sl_serve__text *t, const char *name, const char *json); // NULL: null
void sl_serve__json_text(sl_serve__text *t, const char *name, const char *value); // NULL: null
void sl_serve__json_int(sl_serve__text *t, const char *name, int64_t value);
void sl_serve__json_bool(sl_serve__text *t, const char *name, bool value);
void sl_serve__json_real(sl_serve__text *t, const char *name, double value); // not finite: null
void sl_serve__json_reals(sl_serve__text *t, const char *name, const double *value, int64_t n);

/* The text of a member of an object that the library wrote, and its length; NULL: there is none. */
const char *sl_serve__json_member(const char *object, const char *name, size_t *n);

/* In the C locale: snprintf, strtod for all of a text and finite, strerror, json_loadb. Before the
 * last, sl_serve__json_begin sets the allocator of jansson, once. */
SL_SERVE__PRINTF(3, 4)
int sl_serve__format(char *text, size_t size, const char *format, ...);
SL_SERVE__PRINTF(3, 0)
int sl_serve__format_list(char *text, size_t size, const char *format, va_list args);
bool sl_serve__real(double *out, const char *text);
bool sl_serve__whole(int64_t *out, const char *text); // up to 18 digits
const char *sl_serve__strerror(int error);
void sl_serve__json_begin(void);
json_t *sl_serve__json_read(json_error_t *e, const char *text, size_t n);
bool sl_serve__is_utf8(const char *text, size_t n);

/* ---------------------------------------------------------------- options ------------------- */

typedef struct sl_serve__config {
    json_t *json;              // owns the texts
    int port;                  // 0: a free one
    const char *bind, *token, *host, *study, *model; // NULL: not given, but for bind
    bool open;
    int threads;               // of one job; 0: the cores shared among the jobs
    int max_jobs, max_queue, max_client, max_connections;
    double max_seconds, max_memory; // of a job; memory in 10^9 bytes
    int64_t max_body, max_rows, max_columns;
} sl_serve__config;

/* False with a message in error. Clear it whatever the answer is. */
bool sl_serve__config_read(sl_serve__config *out, char error[256], const char *options_json);
void sl_serve__config_clear(sl_serve__config *c);

/* ---------------------------------------------------------------- requests ------------------ */

enum { SL_SERVE__MAX_QUERY = 24, SL_SERVE__MAX_PARTS = 8, SL_SERVE__MAX_HEADERS = 64 };

/* A request as it came. Texts that are missing are NULL. */
typedef struct sl_serve__request {
    const char *method;
    const char *target; // "/path?query", not decoded
    const char *host, *origin, *fetch_site, *content_type, *content_length, *transfer_encoding;
    const char *authorization, *cookie, *last_event_id, *if_none_match;
    int n_headers, n_hosts; // of all; called Host
} sl_serve__request;

/* What a reply is made of. http.c adds the headers that all of them have. */
typedef struct sl_serve__reply {
    int status;
    const char *type;          // of the content; a constant
    sl_serve__text body;
    const char *fixed;         // instead of body: bytes that live as long as the server
    size_t fixed_len;
    const char *etag;          // lives as long as the server; NULL: not to be kept
    char allow[32];            // methods, with 405
    char location[8];          // with 303
    char cookie[160];          // to be set
    bool report;               // a page of the report: its own styles and pictures are allowed
    bool close;                // the connection ends with it
    struct sl_serve__channel *channel; // events: the body is what it has from after_event on
    int64_t after_event;
} sl_serve__reply;

/* An error: {"error":{status, text, remedy}}. */
SL_SERVE__PRINTF(4, 5)
void sl_serve__fail(sl_serve__reply *r, int status, const char *remedy, const char *format, ...);
/* The same for a failed call of the library, whose line is the text. */
void sl_serve__fail_call(sl_serve__reply *r, symlaw_status st);
/* What the status of a call is as a status of HTTP, and what to do about one of those. */
int sl_serve__http_status(symlaw_status st);
const char *sl_serve__remedy(int status);
void sl_serve__reply_clear(sl_serve__reply *r);

typedef enum sl_serve__body { SL_SERVE__NO_BODY, SL_SERVE__JSON, SL_SERVE__CSV } sl_serve__body;

/* The router's table. `slow` ones are answered by a thread of http.c. Query names are separated by
 * blanks; "*" leaves them to the answer.
 *    id  method  path  body  slow  query */
#define SL_SERVE__ROUTES(X)                                                                       \
    X(ROUTES,       "GET",    "/api/v1",                                NO_BODY, false, "")      \
    X(INFO,         "GET",    "/api/v1/info",                           NO_BODY, false, "")      \
    X(EXAMPLES,     "GET",    "/api/v1/examples",                       NO_BODY, false, "")      \
    X(EXAMPLE,      "GET",    "/api/v1/examples/{name}",                NO_BODY, false, "")      \
    X(TABLE,        "POST",   "/api/v1/table",                          CSV,     true,  "*")     \
    X(DISCOVER,     "POST",   "/api/v1/discover",                       JSON,    true,  "")      \
    X(JOB,          "GET",    "/api/v1/jobs/{job}",                     NO_BODY, false, "")      \
    X(CANCEL,       "DELETE", "/api/v1/jobs/{job}",                     NO_BODY, false, "")      \
    X(JOB_EVENTS,   "GET",    "/api/v1/jobs/{job}/events",              NO_BODY, false, "")      \
    X(CANDIDATE,    "GET",    "/api/v1/jobs/{job}/candidates/{place}",  NO_BODY, true,  "")      \
    X(FORMULA,      "POST",   "/api/v1/formula",                        JSON,    true,  "")      \
    X(FITTED,       "POST",   "/api/v1/fitted",                         JSON,    true,  "")      \
    X(UNIVERSE,     "GET",    "/api/v1/universe",                       NO_BODY, true,           \
      "depth variables ops size seed start count find contains format")                          \
    X(PAIR,         "GET",    "/api/v1/pair",                           NO_BODY, true,           \
      "depth variables ops size seed split index member draw")                                   \
    X(STUDY,        "GET",    "/api/v1/study",                          NO_BODY, true,  "")      \
    X(STUDY_RUN,    "GET",    "/api/v1/study/runs/{name}",              NO_BODY, true,  "")      \
    X(STUDY_EVENTS, "GET",    "/api/v1/study/events",                   NO_BODY, false, "")      \
    X(STUDY_REPORT, "GET",    "/api/v1/study/report",                   NO_BODY, true,  "")      \
    X(PAGE,         "GET",    "/",                                      NO_BODY, false, "token") \
    X(PAGE_FILE,    "GET",    "/{file}",                                NO_BODY, false, "")

typedef enum sl_serve__route_id {
#define X(id, ...) SL_SERVE__##id,
    SL_SERVE__ROUTES(X)
#undef X
    SL_SERVE__ROUTE_COUNT
} sl_serve__route_id;

typedef struct sl_serve__route {
    const char *method, *path;
    sl_serve__body body;
    bool slow;
    const char *query;
} sl_serve__route;
extern const sl_serve__route sl_serve__routes[SL_SERVE__ROUTE_COUNT];

typedef struct sl_serve__pair { char *name, *value; } sl_serve__pair;

/* A request that was checked, with its route. */
typedef struct sl_serve__call {
    sl_serve__route_id route;
    char *text;                    // owns the parts and the query
    const char *part[2];           // values of {name} in the path, decoded
    int n_query;
    sl_serve__pair query[SL_SERVE__MAX_QUERY];
    int64_t after_event;           // Last-Event-ID
    const char *if_none_match;     // borrowed
    char client[64];               // its address
    const char *body;              // borrowed
    size_t body_len;
    json_t *json;                  // JSON bodies
    bool with_token;               // it came in the query: becomes a cookie
} sl_serve__call;
void sl_serve__call_clear(sl_serve__call *c);
const char *sl_serve__query(const sl_serve__call *c, const char *name); // NULL: not given

/* What requests have to match. */
typedef struct sl_serve__guard {
    int port;
    bool loopback;     // names of this machine alone
    const char *token; // NULL: none is asked for
    const char *names; // further names, separated by commas; NULL: none
    char own[256];     // this machine's name; "": unknown
    char cookie[32];   // name of the cookie
    int64_t max_body;
} sl_serve__guard;

/* Everything that can be said before the body is read: false with the reply that refuses it. Clear
 * the call whatever the answer is. *expected := the bytes of the body to come. */
bool sl_serve__request_head(sl_serve__call *out, size_t *expected, sl_serve__reply *refusal,
                            const sl_serve__guard *g, const sl_serve__request *r);
/* The body, which must live as long as the call. */
bool sl_serve__request_body(sl_serve__call *c, sl_serve__reply *refusal, const char *body,
                            size_t n);

/* ---------------------------------------------------------------- files --------------------- */

/* A file that was read at the start. */
typedef struct sl_serve__file {
    char *name;
    const char *type;
    char *bytes;
    size_t size;
    char etag[40];
    char *title, *text; // of an example: what it is, and the law in it; "" where not known
} sl_serve__file;

typedef struct sl_serve__files {
    sl_serve__file *file;
    int n;
} sl_serve__files;

/* Regular files of a folder of share/symlaw, such as "web", whose names end in one of the known
 * types. A folder that is missing has none. False: no memory. */
bool sl_serve__files_read(sl_serve__files *out, const char *folder, bool examples);
const sl_serve__file *sl_serve__files_find(const sl_serve__files *f, const char *name);
void sl_serve__files_clear(sl_serve__files *f);

/* ---------------------------------------------------------------- events -------------------- */

/* Events that readers follow: of a job, of the study. A later event of a kind that replaces takes
 * the place of the earlier ones, so a list stays short. Locked by its owner's lock. */
typedef struct sl_serve__event {
    int64_t id; // from 1
    const char *name;
    char *data; // JSON, one line
} sl_serve__event;

typedef struct sl_serve__reader {
    struct sl_serve__reader *next;
    void *connection;   // of http.c
    bool suspended;     // it waits for events
    bool resumed;       // it was, since it last had something to read
} sl_serve__reader;

typedef struct sl_serve__channel {
    sl_serve__event *event;
    int n, room;
    int64_t last_id;
    bool ended;               // no more will come
    sl_serve__reader *readers;
    double last_left;           // when the last reader went
    bool had_reader;
    int references;           // of readers, and of replies that are to become some
} sl_serve__channel;

/* ---------------------------------------------------------------- the server ---------------- */

typedef struct sl_serve__jobs sl_serve__jobs;
typedef struct sl_serve__sets sl_serve__sets;
typedef struct sl_serve__study sl_serve__study;
typedef struct sl_serve__http sl_serve__http;

typedef struct sl_serve {
    sl_serve__config config;
    const sl_serve_host *host;
    sl_serve__files pages, examples;
    char *info; // reply of /api/v1/info
    sl_serve__guard guard;
    char token[40];
    sl_serve__jobs *jobs;
    sl_serve__sets *sets;
    sl_serve__study *study; // NULL: none was named
    sl_serve__http *http;
} sl_serve;

double sl_serve__now(void); // seconds of a clock that only goes forward
bool sl_serve__random(char *hex, size_t digits); // and a final 0

/* Answers a call whose body is there. From any thread. */
void sl_serve__answer(sl_serve *s, const sl_serve__call *c, sl_serve__reply *r);

/* Makes the reply of /api/v1/info. False: no memory. */
bool sl_serve__info_make(sl_serve *s);

/* The parts of the API: api_*.c. */
void sl_serve__answer_info(sl_serve *s, const sl_serve__call *c, sl_serve__reply *r);
void sl_serve__answer_table(sl_serve *s, const sl_serve__call *c, sl_serve__reply *r);
void sl_serve__answer_discover(sl_serve *s, const sl_serve__call *c, sl_serve__reply *r);
void sl_serve__answer_formula(sl_serve *s, const sl_serve__call *c, sl_serve__reply *r);
void sl_serve__answer_job(sl_serve *s, const sl_serve__call *c, sl_serve__reply *r);
void sl_serve__answer_fitted(sl_serve *s, const sl_serve__call *c, sl_serve__reply *r);
void sl_serve__answer_candidate(sl_serve *s, const sl_serve__call *c, sl_serve__reply *r);
void sl_serve__answer_universe(sl_serve *s, const sl_serve__call *c, sl_serve__reply *r);
void sl_serve__answer_pair(sl_serve *s, const sl_serve__call *c, sl_serve__reply *r);
void sl_serve__answer_study(sl_serve *s, const sl_serve__call *c, sl_serve__reply *r);

/* ---------------------------------------------------------------- discovery ----------------- */

/* May a client give this option of `discover`? Not one that names a file, nor one that says how
 * results are printed or how much of the machine is used. */
bool sl_serve__option_allowed(const symlaw_option_info *o);
/* Option `name` of a command of the library; NULL: none. */
const symlaw_option_info *sl_serve__option_find(const char *command, const char *name);
/* Appends the member name with a value of a request. False with the reply that refuses it. */
bool sl_serve__option_add(sl_serve__text *t, sl_serve__reply *r, const char *name,
                          const json_t *value);

/* A member that has the formula in a format; null for one that the library does not have. */
void sl_serve__formula_member(sl_serve__text *t, const char *name, const symlaw_formula *f,
                              const char *format);

/* A file in memory, such as a table that a client sent. path: how the library opens it. */
typedef struct sl_serve__memory {
    int fd;
    char path[40];
} sl_serve__memory;
bool sl_serve__memory_open(sl_serve__memory *m, const char *bytes, size_t n);
void sl_serve__memory_close(sl_serve__memory *m);
/* Appends all of it. */
void sl_serve__memory_read(sl_serve__text *t, const sl_serve__memory *m);
/* Appends text in which the path has become "table.csv". */
void sl_serve__memory_hide(sl_serve__text *t, const sl_serve__memory *m, const char *text,
                           size_t n);

/* The reply to a command on the table that failed: the library's line and the rows it shows. */
void sl_serve__fail_table(sl_serve__reply *r, symlaw_status st, const sl_serve__memory *table,
                          const sl_serve__text *excerpt);

/* False with the reply 413 if the table has more rows or columns than are taken. */
bool sl_serve__table_fits(sl_serve__reply *r, const sl_serve__config *c, const char *csv, size_t n);

/* ---------------------------------------------------------------- jobs ---------------------- */

typedef enum sl_serve__state {
    SL_SERVE__QUEUED,
    SL_SERVE__RUNNING,
    SL_SERVE__DONE,
    SL_SERVE__FAILED,
    SL_SERVE__CANCELLED
} sl_serve__state;

/* Rows of a finished job, for pictures: at most SL_SERVE__SHOWN of them, evenly chosen. */
typedef struct sl_serve__rows {
    int inputs;
    int64_t shown, of;
    double *x; // column by column
    double *y;
} sl_serve__rows;

typedef struct sl_serve__job {
    struct sl_serve__job *next;
    sl_serve__channel channel; // first to last event
    char id[33], client[64];
    sl_serve__state state;
    bool cancel;            // it was asked to stop
    double begun, ended, asked; // when it began to run, ended, was last asked for
    char *csv, *options;    // until it runs
    size_t csv_len;
    char *front;            // the last front, as JSON; NULL: none
    char *result;           // as the library returned it; NULL: none
    json_t *parsed;         // the same
    char *error;            // members of the error; NULL: none
    int references;         // of answers that are being made
    sl_serve__rows rows;
} sl_serve__job;

bool sl_serve__jobs_begin(sl_serve__jobs **out, sl_serve *s);
/* Cancels all of them and waits for the workers. */
void sl_serve__jobs_stop(sl_serve__jobs *j);
bool sl_serve__jobs_stopped(sl_serve__jobs *j); // the server is about to end
void sl_serve__jobs_free(sl_serve__jobs *j);
/* Called several times a second: cancels jobs without readers, drops old ones, and resumes
 * suspended readers now and then, which finds closed connections. */
void sl_serve__jobs_tick(sl_serve__jobs *j);

/* Starts one, or refuses it. Takes options, the object of the request's options. */
void sl_serve__jobs_add(sl_serve__jobs *j, sl_serve__reply *r, const char *csv, size_t n,
                        char *options, const char *client);

/* A job that cannot be dropped while it is held; NULL: there is no such job. */
sl_serve__job *sl_serve__job_hold(sl_serve__jobs *j, const char *id);
void sl_serve__job_release(sl_serve__jobs *j, sl_serve__job *job);

/* ---------------------------------------------------------------- following events ---------- */

/* Readers: http.c attaches one, asks for bytes, detaches it. */
void sl_serve__channel_publish(sl_serve__channel *c, const char *name, const char *data,
                               bool replaces);
void sl_serve__channel_clear(sl_serve__channel *c);
/* Appends the events after *last and sets it; 1: there were some; 0: none now; -1: it has ended. */
int sl_serve__channel_read(sl_serve__channel *c, sl_serve__text *t, int64_t *last);

/* The lock of all channels, and the call that resumes a connection, which http.c sets. */
void sl_serve__lock(void);
void sl_serve__unlock(void);
pthread_mutex_t *sl_serve__mutex(void);
extern void (*sl_serve__resume)(void *connection);
void sl_serve__channel_resume(sl_serve__channel *c);
/* Both within the lock. */
void sl_serve__channel_attach(sl_serve__channel *c, sl_serve__reader *r);
void sl_serve__channel_detach(sl_serve__channel *c, sl_serve__reader *r);

/* ---------------------------------------------------------------- sets ---------------------- */

bool sl_serve__sets_begin(sl_serve__sets **out, sl_serve *s);
void sl_serve__sets_stop(sl_serve__sets *sets); // ends what is being built
void sl_serve__sets_free(sl_serve__sets *sets);

/* ---------------------------------------------------------------- the study ----------------- */

bool sl_serve__study_begin(sl_serve__study **out, sl_serve *s);
void sl_serve__study_stop(sl_serve__study *study);
void sl_serve__study_free(sl_serve__study *study);
void sl_serve__study_tick(sl_serve__study *study);

/* ---------------------------------------------------------------- HTTP ---------------------- */

/* *port := the one that is listened on. False with a message. */
bool sl_serve__http_begin(sl_serve__http **out, int *port, char error[256], sl_serve *s);
/* No further requests; the ones being answered end. Jobs are stopped before. */
void sl_serve__http_stop(sl_serve__http *h);
/* Called several times a second: closes connections that take too long. */
void sl_serve__http_tick(sl_serve__http *h);

#endif

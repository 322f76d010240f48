/* http - connections, by libmicrohttpd. The only file that uses it.
 *
 * One thread polls all sockets, by poll rather than epoll: as fast at these numbers, and events are
 * by level, so that none is lost around a suspension. Answers that take more than microseconds are
 * made by a few threads of this file (`slow` in the router's table), while their connection is
 * suspended. A stream of events is a response that is read piece by piece; where there is nothing
 * to read, its connection is suspended until the channel resumes it.
 *
 * Locks: channels' lock, then libmicrohttpd's own. It calls none of the functions below with its
 * locks held.
 *
 * Time: libmicrohttpd closes connections without traffic. What sends or reads a byte now and then
 * is closed by sl_serve__http_tick, by the time since its request should have been there, or its
 * reply gone. */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <microhttpd.h>

#include "serve/serve_impl.h"

enum { SLOW_THREADS = 4, SLOW_QUEUE = 256, SPARE_CONNECTIONS = 32, QUIET_SECONDS = 30 };
enum { CONNECTION_BYTES = 32 * 1024, STREAM_PIECE = 16 * 1024 };
static const double HEAD_SECONDS = 20;   // from the connection, or the last reply, to the headers
static const double BODY_SECONDS = 60;   // from the headers to the whole request
static const double REPLY_SECONDS = 120; // until a reply that is no stream has gone
static const double LAST_SECONDS = 3;    // at the end of the program, for replies under way

/* ---------------------------------------------------------------- types --------------------- */

typedef enum phase { WAITING, READING, WORKING, SENDING, STREAMING } phase;

/* Of a socket, from accept to close. */
typedef struct client {
    struct client *next, *before;
    int fd;
    phase phase;
    double since; // when the phase began
} client;

typedef struct stream {
    sl_serve__reader reader;
    sl_serve__channel *channel;
    int64_t last;
    sl_serve__text pending;
    size_t sent;
    bool begun;
} stream;

/* Of a request. */
typedef struct exchange {
    struct exchange *next; // in the queue of slow ones
    char *target;
    sl_serve__call call;
    sl_serve__reply reply;
    size_t expected;
    char *body;
    size_t have;
    bool headed, refused, answered;
    struct MHD_Connection *connection;
    client *client;
} exchange;

struct sl_serve__http {
    sl_serve *s;
    struct MHD_Daemon *daemon;
    pthread_mutex_t lock; // of what follows
    pthread_cond_t slow;
    pthread_t thread[SLOW_THREADS];
    int threads, queued, connections;
    exchange *first, **last;
    bool stop;
    client *clients;
};

/* ---------------------------------------------------------------- clients ------------------- */

static void enter(sl_serve__http *h, client *c, phase p) {
    if (!c) return;
    pthread_mutex_lock(&h->lock);
    c->phase = p;
    c->since = sl_serve__now();
    pthread_mutex_unlock(&h->lock);
}

static void on_connection(void *payload, struct MHD_Connection *connection, void **context,
                          enum MHD_ConnectionNotificationCode code) {
    sl_serve__http *h = payload;
    client *c = *context;
    pthread_mutex_lock(&h->lock);
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *fd =
            MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
        c = calloc(1, sizeof *c);
        h->connections++;
        if (c) {
            c->fd = fd ? fd->connect_fd : -1;
            c->since = sl_serve__now();
            c->next = h->clients;
            if (c->next) c->next->before = c;
            h->clients = c;
        }
        *context = c;
    } else {
        h->connections--;
        if (c) {
            if (c->next) c->next->before = c->before;
            *(c->before ? &c->before->next : &h->clients) = c->next;
            free(c);
        }
        *context = NULL;
    }
    pthread_mutex_unlock(&h->lock);
}

static client *client_of(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

static double time_limit(phase p) {
    switch (p) {
    case WAITING: return HEAD_SECONDS;
    case READING: return BODY_SECONDS;
    case SENDING: return REPLY_SECONDS;
    default: return 1e300;
    }
}

/* The socket is only shut down; the polling thread sees that and closes it. It is still open here:
 * on_connection takes it off the list before. */
void sl_serve__http_tick(sl_serve__http *h) {
    const double now = sl_serve__now();
    pthread_mutex_lock(&h->lock);
    for (client *c = h->clients; c; c = c->next)
        if (c->fd >= 0 && now - c->since > time_limit(c->phase)) shutdown(c->fd, SHUT_RDWR);
    pthread_mutex_unlock(&h->lock);
}

/* ---------------------------------------------------------------- streams ------------------- */

/* Bytes for the connection; 0 after it was suspended; the end. */
static ssize_t read_stream(void *payload, uint64_t position, char *buffer, size_t room) {
    (void)position;
    stream *s = payload;
    sl_serve__lock();
    if (s->sent == s->pending.len) {
        s->sent = s->pending.len = 0;
        const int more = sl_serve__channel_read(s->channel, &s->pending, &s->last);
        if (s->pending.failed || more < 0) {
            sl_serve__unlock();
            return MHD_CONTENT_READER_END_OF_STREAM;
        }
        if (more == 0 && s->begun && !s->reader.suspended) {
            // nothing new since it was suspended: a comment finds out whether the client is there
            if (s->reader.resumed) {
                s->reader.resumed = false;
                sl_serve__puts(&s->pending, ":\n\n");
            } else {
                MHD_suspend_connection(s->reader.connection);
                s->reader.suspended = true;
                sl_serve__unlock();
                return 0;
            }
        }
        if (!s->begun) sl_serve__puts(&s->pending, ":\n\n"); // headers and something go out at once
        s->begun = true;
        s->reader.resumed = false;
    }
    size_t n = s->pending.len - s->sent;
    if (n > room) n = room;
    if (n > 0) memcpy(buffer, s->pending.text + s->sent, n);
    s->sent += n;
    sl_serve__unlock();
    return (ssize_t)n;
}

static void free_stream(void *payload) {
    stream *s = payload;
    sl_serve__lock();
    sl_serve__channel_detach(s->channel, &s->reader);
    sl_serve__unlock();
    sl_serve__clear(&s->pending);
    free(s);
}

static void resume(void *connection) { MHD_resume_connection(connection); }

static struct MHD_Response *make_stream(exchange *x) {
    stream *s = calloc(1, sizeof *s);
    struct MHD_Response *response = NULL;
    if (s) {
        s->channel = x->reply.channel;
        s->last = x->reply.after_event;
        s->reader.connection = x->connection;
        sl_serve__lock();
        sl_serve__channel_attach(s->channel, &s->reader);
        sl_serve__unlock();
        response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, STREAM_PIECE, read_stream, s,
                                                     free_stream);
        if (!response) free_stream(s);
    }
    sl_serve__lock();
    x->reply.channel->references--; // the reply's; the reader has its own
    sl_serve__unlock();
    x->reply.channel = NULL;
    return response;
}

/* ---------------------------------------------------------------- replies ------------------- */

static void add_headers(struct MHD_Response *response, const sl_serve__reply *r) {
    static const char *const all[][2] = {
        { "X-Content-Type-Options", "nosniff" },
        { "Referrer-Policy", "no-referrer" },
        { "Cross-Origin-Resource-Policy", "same-origin" },
        { "Cross-Origin-Opener-Policy", "same-origin" },
        { "X-Frame-Options", "SAMEORIGIN" },
    };
    for (int i = 0; i < SL_SERVE__LEN(all); i++)
        MHD_add_response_header(response, all[i][0], all[i][1]);
    // the report has its styles, pictures and script inside; sandboxed, it is of no origin
    MHD_add_response_header(response, "Content-Security-Policy",
                            r->report ? "sandbox allow-scripts; default-src 'none'; "
                                        "style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
                                        "img-src data:; frame-ancestors 'self'"
                                      : "default-src 'self'; img-src 'self' data: blob:; "
                                        "object-src 'none'; base-uri 'none'; form-action 'none'; "
                                        "frame-ancestors 'none'");
    MHD_add_response_header(response, "Content-Type", r->type);
    MHD_add_response_header(response, "Cache-Control", r->etag ? "no-cache" : "no-store");
    if (r->etag) MHD_add_response_header(response, "ETag", r->etag);
    if (r->allow[0]) MHD_add_response_header(response, "Allow", r->allow);
    if (r->location[0]) MHD_add_response_header(response, "Location", r->location);
    if (r->cookie[0]) MHD_add_response_header(response, "Set-Cookie", r->cookie);
    if (r->status == 401) MHD_add_response_header(response, "WWW-Authenticate", "Bearer");
    if (r->status == 429 || r->status == 503)
        MHD_add_response_header(response, "Retry-After", "10");
    if (r->close) MHD_add_response_header(response, "Connection", "close");
}

/* Queues the reply. The body goes over to the response. */
static enum MHD_Result send_reply(sl_serve__http *h, exchange *x) {
    sl_serve__reply *r = &x->reply;
    struct MHD_Response *response;
    const bool streams = r->channel != NULL;
    if (streams) {
        response = make_stream(x);
    } else if (r->fixed) {
        response =
            MHD_create_response_from_buffer(r->fixed_len, (void *)r->fixed, MHD_RESPMEM_PERSISTENT);
    } else {
        response =
            MHD_create_response_from_buffer(r->body.len, r->body.text, MHD_RESPMEM_MUST_FREE);
        if (response) r->body = (sl_serve__text){ 0 };
    }
    if (!response) return MHD_NO;
    add_headers(response, r);
    enter(h, x->client, streams ? STREAMING : SENDING);
    const enum MHD_Result done = MHD_queue_response(x->connection, (unsigned)r->status, response);
    MHD_destroy_response(response);
    return done;
}

/* ---------------------------------------------------------------- slow answers -------------- */

static void *slow_thread(void *payload) {
    sl_serve__http *h = payload;
    pthread_mutex_lock(&h->lock);
    for (;;) {
        exchange *x = h->first;
        if (!x && h->stop) break;
        if (!x) {
            pthread_cond_wait(&h->slow, &h->lock);
            continue;
        }
        h->first = x->next;
        if (!h->first) h->last = &h->first;
        h->queued--;
        const bool stop = h->stop;
        pthread_mutex_unlock(&h->lock);
        if (stop)
            sl_serve__fail(&x->reply, 503, "start it again", "the server is about to end");
        else
            sl_serve__answer(h->s, &x->call, &x->reply);
        x->answered = true;
        MHD_resume_connection(x->connection);
        pthread_mutex_lock(&h->lock);
    }
    pthread_mutex_unlock(&h->lock);
    return NULL;
}

/* False: too many wait already. */
static bool enqueue(sl_serve__http *h, exchange *x) {
    pthread_mutex_lock(&h->lock);
    const bool room = h->queued < SLOW_QUEUE && !h->stop;
    if (room) {
        MHD_suspend_connection(x->connection);
        x->next = NULL;
        *h->last = x;
        h->last = &x->next;
        h->queued++;
        if (x->client) x->client->phase = WORKING;
        pthread_cond_signal(&h->slow);
    }
    pthread_mutex_unlock(&h->lock);
    return room;
}

/* ---------------------------------------------------------------- requests ------------------ */

static void *on_target(void *payload, const char *target, struct MHD_Connection *connection) {
    (void)payload;
    (void)connection;
    exchange *x = calloc(1, sizeof *x);
    if (x) x->target = strdup(target);
    return x;
}

/* Nothing is decoded before request.c does. */
static size_t keep_escapes(void *payload, struct MHD_Connection *connection, char *text) {
    (void)payload;
    (void)connection;
    return strlen(text);
}

static bool is_name(const char *a, const char *b) {
    for (; *a && *b; a++, b++) {
        const char p = *a >= 'A' && *a <= 'Z' ? (char)(*a + 32) : *a;
        if (p != *b) return false;
    }
    return *a == *b;
}

static enum MHD_Result count_header(void *payload, enum MHD_ValueKind kind, const char *name,
                                    const char *value) {
    (void)kind;
    sl_serve__request *r = payload;
    r->n_headers++;
    if (!value) return MHD_YES;
    const struct {
        const char *name, **value;
    } known[] = {
        { "host", &r->host },
        { "origin", &r->origin },
        { "sec-fetch-site", &r->fetch_site },
        { "content-type", &r->content_type },
        { "content-length", &r->content_length },
        { "transfer-encoding", &r->transfer_encoding },
        { "authorization", &r->authorization },
        { "cookie", &r->cookie },
        { "last-event-id", &r->last_event_id },
        { "if-none-match", &r->if_none_match },
    };
    if (is_name(name, "host")) r->n_hosts++;
    for (int i = 0; i < SL_SERVE__LEN(known); i++)
        if (is_name(name, known[i].name)) *known[i].value = value;
    return MHD_YES;
}

static void set_client(sl_serve__call *c, struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    const struct sockaddr *a = info ? info->client_addr : NULL;
    if (a && a->sa_family == AF_INET)
        inet_ntop(AF_INET, &((const struct sockaddr_in *)(const void *)a)->sin_addr, c->client,
                  sizeof c->client);
    if (a && a->sa_family == AF_INET6)
        inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)(const void *)a)->sin6_addr, c->client,
                  sizeof c->client);
}

/* The headers are there. */
static void read_head(sl_serve__http *h, exchange *x, const char *method) {
    sl_serve__request r = { .method = method, .target = x->target };
    MHD_get_connection_values(x->connection, MHD_HEADER_KIND, count_header, &r);
    pthread_mutex_lock(&h->lock);
    const bool many = h->connections > h->s->config.max_connections;
    pthread_mutex_unlock(&h->lock);
    if (many) {
        sl_serve__fail(&x->reply, 503, "try again later", "too many connections");
        x->refused = x->reply.close = true;
        return;
    }
    x->refused = !sl_serve__request_head(&x->call, &x->expected, &x->reply, &h->s->guard, &r);
    // a body that is not read would be taken for the next request
    if (x->refused && (r.content_length || r.transfer_encoding)) x->reply.close = true;
    if (!x->refused) set_client(&x->call, x->connection);
    if (!x->refused && x->expected > 0) {
        x->body = malloc(x->expected + 1);
        if (!x->body) {
            sl_serve__fail(&x->reply, 503, sl_serve__remedy(503), "out of memory");
            x->refused = x->reply.close = true;
        }
    }
}

static void take(exchange *x, const char *data, size_t n) {
    const size_t room = x->expected - x->have; // libmicrohttpd keeps to the length, too
    if (n > room) n = room;
    if (n > 0) memcpy(x->body + x->have, data, n);
    x->have += n;
}

static enum MHD_Result on_request(void *payload, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *data,
                                  size_t *size, void **context) {
    (void)url;
    (void)version;
    sl_serve__http *h = payload;
    exchange *x = *context;
    if (!x || !x->target) return MHD_NO; // out of memory
    if (!x->headed) {
        x->headed = true;
        x->connection = connection;
        x->client = client_of(connection);
        enter(h, x->client, READING);
        read_head(h, x, method);
        return x->refused ? send_reply(h, x) : MHD_YES; // refused before the body is read
    }
    if (*size > 0) {
        take(x, data, *size);
        *size = 0;
        return MHD_YES;
    }
    if (x->answered) return send_reply(h, x);
    if (x->body) x->body[x->have] = '\0';
    if (!sl_serve__request_body(&x->call, &x->reply, x->body ? x->body : "", x->have))
        return send_reply(h, x);
    if (sl_serve__routes[x->call.route].slow) {
        if (enqueue(h, x)) return MHD_YES;
        sl_serve__fail(&x->reply, 503, "try again later", "too many requests wait");
        return send_reply(h, x);
    }
    sl_serve__answer(h->s, &x->call, &x->reply);
    return send_reply(h, x);
}

static void on_completed(void *payload, struct MHD_Connection *connection, void **context,
                         enum MHD_RequestTerminationCode code) {
    (void)connection;
    (void)code;
    sl_serve__http *h = payload;
    exchange *x = *context;
    if (!x) return;
    enter(h, x->client, WAITING);
    if (x->reply.channel) { // it was never sent
        sl_serve__lock();
        x->reply.channel->references--;
        sl_serve__unlock();
    }
    sl_serve__call_clear(&x->call);
    sl_serve__reply_clear(&x->reply);
    free(x->target);
    free(x->body);
    free(x);
    *context = NULL;
}

/* ---------------------------------------------------------------- start and end ------------- */

static int listen_on(int *port, char error[256], const sl_serve__config *c) {
    char service[16];
    struct addrinfo hints = { .ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV,
                              .ai_socktype = SOCK_STREAM },
                    *found = NULL;
    struct sockaddr_storage own;
    socklen_t size = sizeof own;
    const int yes = 1;
    sl_serve__format(service, sizeof service, "%d", c->port);
    if (getaddrinfo(c->bind, service, &hints, &found) != 0) {
        sl_serve__format(error, 256,
                         "--bind %.100s is not an address, as 127.0.0.1, 0.0.0.0 or ::1", c->bind);
        return -1;
    }
    const int fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0) setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    const bool good = fd >= 0 && bind(fd, found->ai_addr, found->ai_addrlen) == 0 &&
                      listen(fd, 511) == 0 &&
                      getsockname(fd, (struct sockaddr *)(void *)&own, &size) == 0;
    const int why = errno;
    freeaddrinfo(found);
    if (!good) {
        if (fd >= 0) close(fd);
        sl_serve__format(error, 256, "cannot listen on %.100s port %d: %s%s", c->bind, c->port,
                         sl_serve__strerror(why),
                         why == EADDRINUSE ? "; --port 0 takes a free one" : "");
        return -1;
    }
    // getsockname has filled it; NOLINTNEXTLINE(clang-analyzer-core.*)
    *port = ntohs(own.ss_family == AF_INET6
                      ? ((const struct sockaddr_in6 *)(const void *)&own)->sin6_port
                      : ((const struct sockaddr_in *)(const void *)&own)->sin_port);
    return fd;
}

/* Messages of libmicrohttpd about closed connections are not printed. */
static void log_nothing(void *payload, const char *format, va_list args) {
    (void)payload;
    (void)format;
    (void)args;
}

static bool begin(sl_serve__http *h, int fd) {
    const sl_serve__config *c = &h->s->config;
    for (h->threads = 0; h->threads < SLOW_THREADS; h->threads++)
        if (pthread_create(&h->thread[h->threads], NULL, slow_thread, h) != 0) return false;
    // one address may have half of the connections, where there are others
    const unsigned most = (unsigned)c->max_connections;
    h->daemon = MHD_start_daemon(
        MHD_USE_POLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0, NULL, NULL,
        on_request, h, MHD_OPTION_EXTERNAL_LOGGER, log_nothing, NULL, MHD_OPTION_LISTEN_SOCKET, fd,
        MHD_OPTION_CONNECTION_LIMIT, most + SPARE_CONNECTIONS, MHD_OPTION_PER_IP_CONNECTION_LIMIT,
        h->s->guard.loopback ? 0u : (most + 1) / 2, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)QUIET_SECONDS, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES,
        MHD_OPTION_URI_LOG_CALLBACK, on_target, NULL, MHD_OPTION_UNESCAPE_CALLBACK, keep_escapes,
        NULL, MHD_OPTION_NOTIFY_CONNECTION, on_connection, h, MHD_OPTION_NOTIFY_COMPLETED,
        on_completed, h, MHD_OPTION_END);
    return h->daemon != NULL;
}

bool sl_serve__http_begin(sl_serve__http **out, int *port, char error[256], sl_serve *s) {
    sl_serve__http *h = calloc(1, sizeof *h);
    *out = h;
    if (!h) {
        sl_serve__format(error, 256, "out of memory");
        return false;
    }
    h->s = s;
    h->last = &h->first;
    pthread_mutex_init(&h->lock, NULL);
    pthread_cond_init(&h->slow, NULL);
    sl_serve__resume = resume;
    const int fd = listen_on(port, error, &s->config);
    if (fd < 0) return false;
    s->guard.port = *port;
    sl_serve__format(s->guard.cookie, sizeof s->guard.cookie, "symlaw_%d", *port);
    if (begin(h, fd)) return true;
    close(fd);
    sl_serve__format(error, 256, "cannot start the HTTP server: %s", sl_serve__strerror(errno));
    return false;
}

static bool is_answering(sl_serve__http *h) {
    bool found = false;
    pthread_mutex_lock(&h->lock);
    for (const client *c = h->clients; c && !found; c = c->next)
        found = c->phase == WORKING || c->phase == SENDING || c->phase == STREAMING;
    pthread_mutex_unlock(&h->lock);
    return found;
}

/* Until replies and the last events of streams have gone: libmicrohttpd cuts off what is left. */
static void drain(sl_serve__http *h) {
    const struct timespec tick = { .tv_nsec = 5 * 1000 * 1000 };
    const double end = sl_serve__now() + LAST_SECONDS;
    while (is_answering(h) && sl_serve__now() < end) nanosleep(&tick, NULL);
}

void sl_serve__http_stop(sl_serve__http *h) {
    if (!h) return;
    if (h->daemon) close(MHD_quiesce_daemon(h->daemon)); // no further connections
    pthread_mutex_lock(&h->lock);
    h->stop = true;
    pthread_cond_broadcast(&h->slow);
    pthread_mutex_unlock(&h->lock);
    for (int i = 0; i < h->threads; i++) pthread_join(h->thread[i], NULL);
    if (h->daemon) drain(h);
    if (h->daemon) MHD_stop_daemon(h->daemon);
    pthread_cond_destroy(&h->slow);
    pthread_mutex_destroy(&h->lock);
    free(h);
}

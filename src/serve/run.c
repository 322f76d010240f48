/* run - `symlaw serve`: start, the loop that enforces time limits, end. */
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "serve/serve_impl.h"

/* ---------------------------------------------------------------- the address --------------- */

static bool is_loopback(const char *address) {
    return strncmp(address, "127.", 4) == 0 || strcmp(address, "::1") == 0;
}

/* An address that listens everywhere is no address to open. */
static void make_url(char *url, size_t size, const sl_serve *s) {
    const char *bind = s->config.bind;
    const bool any = strcmp(bind, "0.0.0.0") == 0 || strcmp(bind, "::") == 0;
    const char *host = any && s->guard.own[0] ? s->guard.own : any ? "127.0.0.1" : bind;
    const bool six = strchr(host, ':') != NULL;
    sl_serve__format(url, size, "http://%s%s%s:%d/%s%s", six ? "[" : "", host, six ? "]" : "",
                     s->guard.port, s->guard.token ? "?token=" : "",
                     s->guard.token ? s->guard.token : "");
}

/* The child is reaped by the loop. */
static pid_t open_page(const sl_serve *s, const char *url) {
    char *arguments[] = { "xdg-open", (char *)url, NULL };
    pid_t child;
    posix_spawnattr_t attributes;
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    const int error = posix_spawnp(&child, arguments[0], NULL, &attributes, arguments, environ);
    posix_spawnattr_destroy(&attributes);
    if (error == 0) return child;
    s->host->error("xdg-open cannot be started: open the address in a browser");
    return -1;
}

/* ---------------------------------------------------------------- start and end ------------- */

static bool make_guard(sl_serve *s, char error[256]) {
    sl_serve__guard *g = &s->guard;
    g->loopback = is_loopback(s->config.bind);
    g->names = s->config.host;
    g->max_body = s->config.max_body;
    if (gethostname(g->own, sizeof g->own - 1) != 0) g->own[0] = '\0';
    g->token = s->config.token;
    if (g->loopback || g->token) return true;
    if (!sl_serve__random(s->token, 32)) {
        sl_serve__format(error, 256, "no random numbers for a token: give one with --token");
        return false;
    }
    g->token = s->token;
    return true;
}

static bool begin(sl_serve *s, char error[256]) {
    int port;
    if (!make_guard(s, error)) return false;
    sl_serve__format(error, 256, "out of memory");
    if (!sl_serve__files_read(&s->pages, "web", false)) return false;
    if (!sl_serve__files_read(&s->examples, "examples", true)) return false;
    if (!sl_serve__info_make(s)) return false;
    if (!sl_serve__sets_begin(&s->sets, s)) return false;
    if (s->config.study && !sl_serve__study_begin(&s->study, s)) return false;
    if (!sl_serve__jobs_begin(&s->jobs, s)) return false;
    return sl_serve__http_begin(&s->http, &port, error, s);
}

static void end(sl_serve *s) {
    if (s->sets) sl_serve__sets_stop(s->sets);
    if (s->study) sl_serve__study_stop(s->study);
    if (s->jobs) sl_serve__jobs_stop(s->jobs);
    sl_serve__http_stop(s->http);
    sl_serve__jobs_free(s->jobs);
    sl_serve__sets_free(s->sets);
    sl_serve__study_free(s->study);
    sl_serve__files_clear(&s->pages);
    sl_serve__files_clear(&s->examples);
    free(s->info);
}

static void print_start(const sl_serve *s, const char *url) {
    s->host->print(url);
    if (!s->guard.loopback)
        s->host->note("other machines can reach it, with the token; connections are not "
                      "encrypted");
    if (s->pages.n == 0)
        s->host->note("the page is not installed (share/symlaw/web): only the API is served");
}

static void loop(sl_serve *s, pid_t child) {
    const struct timespec tick = { .tv_nsec = 200 * 1000 * 1000 };
    while (!s->host->signal()) {
        nanosleep(&tick, NULL); // a signal ends it early
        if (child > 0 && waitpid(child, NULL, WNOHANG) == child) child = -1;
        sl_serve__http_tick(s->http);
        sl_serve__jobs_tick(s->jobs);
        if (s->study) sl_serve__study_tick(s->study);
    }
}

/* Threads take no signals: the program's thread has them, and its loop goes on at once. */
static int serve(sl_serve *s) {
    enum { GOOD = 0, SYSTEM = 3 };
    char error[256], url[400];
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool good = begin(s, error);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (good) {
        make_url(url, sizeof url, s);
        print_start(s, url);
        loop(s, s->config.open ? open_page(s, url) : -1);
    } else {
        s->host->error(error);
    }
    end(s);
    return good ? GOOD : SYSTEM;
}

int sl_serve_run(const char *options_json, const sl_serve_host *host) {
    enum { USE = 2 };
    char error[256];
    sl_serve s = { .host = host };
    int code = USE;
    signal(SIGPIPE, SIG_IGN); // of closed connections
    sl_serve__json_begin();
    if (sl_serve__config_read(&s.config, error, options_json))
        code = serve(&s);
    else
        host->error(error);
    sl_serve__config_clear(&s.config);
    return code;
}

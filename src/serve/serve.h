/* serve - the HTTP front of web/: pages and a JSON API for one machine, or for a few people.
 *
 *     connection ── http.c ──► request.c ──► api.c ──► api_*.c ──► public header of the library
 *             libmicrohttpd    checks, route   table    one file per part of the API
 *
 * http.c alone uses libmicrohttpd. It hands over a request as plain texts; request.c checks it
 * (Host, Origin, token, path, query, body) and finds its route. Both are plain functions of their
 * arguments, which a fuzz target calls without a network.
 *
 * Requests that take microseconds are answered by the thread that reads the socket. The others go
 * to a few threads of http.c, and their connection is suspended until the answer is there. A
 * discovery is a job (jobs.c): a bounded number of workers, a bounded queue, and a list of events
 * that any number of readers may follow from any point.
 *
 * Nothing is opened by a name that came with a request. Pages and examples are read once, at the
 * start (files.c); a table that was sent is a file in memory (memfd_create), which has no name.
 *
 * Memory is bounded by limits on bodies, connections, jobs kept and sets kept. An allocation that
 * fails makes one answer 503.
 *
 * Ownership: one sl_serve per process holds everything. Threads: each part has its lock. */
#ifndef SL_SERVE_H
#define SL_SERVE_H

#include <stdbool.h>

#include "symlaw/symlaw.h"

/* The command as the tables of the library describe theirs; option i of it, NULL past the end. */
extern const symlaw_command_info sl_serve_command;
const symlaw_option_info *sl_serve_option(int i);

/* What the program does for the server. */
typedef struct sl_serve_host {
    void (*print)(const char *line);   // standard output
    void (*error)(const char *message); // standard error
    void (*note)(const char *message);  // the same, unless it is to be quiet
    int (*signal)(void);               // the signal received, or 0
} sl_serve_host;

/* Serves until a signal comes; returns the exit code of the program. options_json: options of
 * sl_serve_command by name. */
int sl_serve_run(const char *options_json, const sl_serve_host *host);

#endif

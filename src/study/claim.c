/* claim - which process works in a folder.
 *
 * Claims are numbered: claim-1, claim-2, ... The highest one counts. A claim is written under
 * another name and linked into place, so it is never seen half written and only one process gets
 * it:
 *
 *     claim-3                  {"host":"a","pid":41,...,"beat":7,...}       1024 bytes
 *     claim-4   <- link        {"host":"b","pid":12,...,"beat":0,...}
 *
 * The holder writes beats in place, through the descriptor it has had since the beginning: it
 * cannot change the claim of a later holder, however long it was suspended. The next holder appends
 * a mark to the claim that it takes over. A holder detects the loss by reopening its claim, for
 * which network file systems return fresh data even where a listing of the folder is some seconds
 * old.
 *
 * No clock of another machine and no time of a file is used: a claim expires when the same bytes
 * were seen for `expiry` seconds of the watcher's own clock, which also counts while the machine
 * sleeps.
 *
 * Numbers are never reused: the last few claims stay. A process with an outdated listing may link a
 * number that was removed; it reads the folder again and removes its claim. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "study/claim_impl.h"

enum { KEPT = 8, PATH_EXTRA = 64 };

static const char PREFIX[] = "claim-", NEW[] = "claim-new-";
static const double BEAT_SECONDS = 1, BEATS_PER_EXPIRY = 8;

double sl_study__clock(void) {
    struct timespec t;
    if (clock_gettime(CLOCK_BOOTTIME, &t) != 0) return sl_clock();
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---------------------------------------------------------------- files --------------------- */

/* The number in "claim-12"; 0 for other names. */
static int64_t number_of(const char *name) {
    if (strncmp(name, PREFIX, sizeof PREFIX - 1) != 0) return 0;
    const char *digits = name + sizeof PREFIX - 1;
    const size_t n = strspn(digits, "0123456789");
    return n > 0 && n <= 15 && digits[n] == '\0' && digits[0] != '0' ? sl_strtoll(digits, NULL) : 0;
}

static sl_status fail_folder(const char *dir, int error) {
    return sl_fail(SL_EIO, "cannot claim %.300s: %s", dir, sl_strerror(error));
}

/* *out := the highest claim of a folder, 0 if it has none. */
static sl_status highest(int64_t *out, const char *dir) {
    *out = 0;
    DIR *d = opendir(dir);
    if (!d) return errno == ENOENT ? SL_OK : fail_folder(dir, errno);
    for (struct dirent *e; (e = readdir(d));) *out = SL_MAX(*out, number_of(e->d_name));
    closedir(d);
    return SL_OK;
}

static char *path_of(const char *dir, const char *prefix, const char *rest) {
    const size_t size = strlen(dir) + PATH_EXTRA;
    char *path = sl_malloc(size, 1);
    if (path) sl_snprintf(path, size, "%s/%s%s", dir, prefix, rest);
    return path;
}

static char *claim_path(const char *dir, int64_t n) {
    char digits[24];
    sl_snprintf(digits, sizeof digits, "%lld", (long long)n);
    return path_of(dir, PREFIX, digits);
}

/* bytes[0 .. *n) := claim n as it is now, up to SL_STUDY__CLAIM_BYTES + 1 of it; *n = 0: it is
 * gone. The time of the file's last change goes to *changed unless that is NULL. */
static sl_status claim_read(char bytes[SL_STUDY__CLAIM_BYTES + 1], size_t *n, double *changed,
                            const char *dir, int64_t number) {
    struct stat s;
    char *path = claim_path(dir, number);
    *n = 0;
    if (!path) return sl_fail_memory(PATH_EXTRA, 1, "a file name");
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    sl_free(path);
    if (fd < 0) return SL_OK;
    const ssize_t got = read(fd, bytes, SL_STUDY__CLAIM_BYTES + 1);
    if (got > 0) *n = (size_t)got;
    if (changed) *changed = fstat(fd, &s) == 0 ? (double)s.st_mtime : 0;
    close(fd);
    return SL_OK;
}

/* ---------------------------------------------------------------- watching ------------------ */

typedef struct seen {
    uint64_t folder; // hash of its name
    int64_t number;
    uint64_t bytes; // hash of the claim's content
    double since;   // sl_study__clock() when it was first seen
} seen;

struct sl_study_watch {
    double expiry;
    seen *list;
    int n;
    int64_t cap;
};

sl_status sl_study_watch_new(sl_study_watch **out, double expiry) {
    *out = sl_calloc(1, sizeof **out);
    if (!*out) return sl_fail_memory(1, sizeof **out, "the watch of claims");
    (*out)->expiry = expiry;
    return SL_OK;
}

void sl_study_watch_free(sl_study_watch *w) {
    if (w) sl_free(w->list);
    sl_free(w);
}

static sl_status seen_of(seen **out, sl_study_watch *w, const char *dir) {
    const uint64_t folder = sl_hash(dir, strlen(dir), 0);
    for (int i = 0; i < w->n; i++)
        if (w->list[i].folder == folder) {
            *out = &w->list[i];
            return SL_OK;
        }
    SL_TRY(sl_grow(&w->list, &w->cap, w->n, sizeof *w->list, "the watch of claims"));
    *out = &w->list[w->n++];
    **out = (seen){ .folder = folder };
    return SL_OK;
}

/* *out := may claim `number` be taken over? */
static sl_status is_free(bool *out, sl_study_watch *w, const char *dir, int64_t number) {
    char bytes[SL_STUDY__CLAIM_BYTES + 1];
    size_t n;
    sl_study__content c;
    seen *s;
    *out = number == 0;
    if (number == 0) return SL_OK;
    SL_TRY(claim_read(bytes, &n, NULL, dir, number));
    sl_study__content_read(&c, bytes, n);
    if (c.released || sl_study__is_gone(&c.by)) {
        *out = true;
        return SL_OK;
    }
    SL_TRY(seen_of(&s, w, dir));
    const uint64_t hash = sl_hash(bytes, n, 0);
    const double now = sl_study__clock();
    if (s->number != number || s->bytes != hash)
        *s = (seen){ .folder = s->folder, .number = number, .bytes = hash, .since = now };
    *out = now - s->since >= SL_MAX(w->expiry, c.expiry);
    return SL_OK;
}

/* ---------------------------------------------------------------- holding ------------------- */

struct sl_study_claim {
    char *dir, *path; // of the folder, of the claim
    char *next;       // of the claim with the next number
    int64_t number;
    int fd;
    struct stat file; // which file it is
    sl_study__content content;
    double next_beat; // by sl_study__clock
    double deadline;  // 0: none
};

static void claim_free(sl_study_claim *c) {
    if (!c) return;
    if (c->fd >= 0) close(c->fd);
    sl_free(c->dir);
    sl_free(c->path);
    sl_free(c->next);
    sl_free(c);
}

static void make_nonce(char out[SL_STUDY__NONCE]) {
    uint64_t r[2] = { 0, 0 };
    if (getentropy(r, sizeof r) != 0) {
        struct timespec t;
        clock_gettime(CLOCK_REALTIME, &t);
        r[0] = (uint64_t)t.tv_sec << 32 ^ (uint64_t)t.tv_nsec;
        r[1] = (uint64_t)getpid();
    }
    sl_snprintf(out, SL_STUDY__NONCE, "%016llx%016llx", (unsigned long long)r[0],
                (unsigned long long)r[1]);
}

static sl_status claim_new(sl_study_claim **out, const sl_study_watch *w, const char *dir,
                           int64_t number) {
    sl_study_claim *c = sl_calloc(1, sizeof *c);
    if (!c) return sl_fail_memory(1, sizeof *c, "a claim");
    c->fd = -1;
    c->number = number;
    c->content.by = sl_study__this_process();
    c->content.expiry = w->expiry;
    make_nonce(c->content.nonce);
    c->next_beat = sl_study__clock() + SL_MIN(BEAT_SECONDS, w->expiry / BEATS_PER_EXPIRY);
    c->dir = path_of(dir, "", "");
    if (c->dir) c->dir[strlen(dir)] = '\0';
    c->path = claim_path(dir, number);
    c->next = claim_path(dir, number + 1);
    if (!c->dir || !c->path || !c->next) {
        claim_free(c);
        return sl_fail_memory(PATH_EXTRA, 1, "the name of a claim");
    }
    *out = c;
    return SL_OK;
}

/* Writes the whole claim through the descriptor. */
static sl_status put(sl_study_claim *c) {
    char bytes[SL_STUDY__CLAIM_BYTES];
    SL_TRY(sl_study__content_write(bytes, &c->content));
    ssize_t n;
    do n = pwrite(c->fd, bytes, SL_STUDY__CLAIM_BYTES, 0);
    while (n < 0 && errno == EINTR);
    if (n == SL_STUDY__CLAIM_BYTES) {
        const int copy = dup(c->fd); // closing any descriptor sends it to a server
        if (copy >= 0) close(copy);
        return SL_OK;
    }
    return sl_fail(SL_EIO, "cannot write %.300s: %s", c->path, sl_strerror(n < 0 ? errno : ENOSPC));
}

/* A file server may have made the link and lost the reply: then the file has two names. */
static bool is_linked(const char *from, const char *to) {
    struct stat s;
    const int result = link(from, to), error = errno;
    if (result == 0 || (stat(from, &s) == 0 && s.st_nlink == 2)) return true;
    errno = error;
    return false;
}

/* *got: the claim was linked under its number. */
static sl_status link_claim(bool *got, sl_study_claim *c) {
    char *temp = path_of(c->dir, NEW, c->content.nonce);
    if (!temp) return sl_fail_memory(PATH_EXTRA, 1, "a file name");
    sl_status st;
    *got = false;
    c->fd = open(temp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (c->fd < 0) {
        const int error = errno;
        sl_free(temp);
        return fail_folder(c->dir, error);
    }
    SL_GO(put(c));
    *got = is_linked(temp, c->path);
    // a missing temporary was removed by a process that claimed the folder first
    if (!*got && errno != EEXIST && errno != ENOENT) SL_GO(fail_folder(c->dir, errno));
    if (*got && fstat(c->fd, &c->file) != 0) SL_GO(fail_folder(c->dir, errno));
done:
    unlink(temp);
    sl_free(temp);
    return st;
}

/* Marks the previous claim as taken over, for a holder that still runs. */
static sl_status mark_taken(const char *dir, int64_t number) {
    if (number == 0) return SL_OK;
    char *path = claim_path(dir, number);
    if (!path) return sl_fail_memory(PATH_EXTRA, 1, "a file name");
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    sl_free(path);
    if (fd < 0) return SL_OK; // removed: its holder notices that as well
    static const char mark[] = "taken over\n";
    const ssize_t n = pwrite(fd, mark, sizeof mark - 1, SL_STUDY__CLAIM_BYTES);
    const int error = errno;
    close(fd);
    return n > 0 ? SL_OK : fail_folder(dir, error);
}

/* Removes old claims, and temporaries of processes that were killed before they linked them. */
static void sweep(const char *dir, int64_t number) {
    DIR *d = opendir(dir);
    if (!d) return;
    for (struct dirent *e; (e = readdir(d));) {
        const int64_t n = number_of(e->d_name);
        const bool old = n > 0 && n <= number - KEPT;
        if (old || strncmp(e->d_name, NEW, sizeof NEW - 1) == 0) unlinkat(dirfd(d), e->d_name, 0);
    }
    closedir(d);
}

sl_status sl_study_claim_take(sl_study_claim **out, sl_study_watch *w, const char *dir) {
    sl_status st;
    int64_t number, now;
    bool free_, got;
    sl_study_claim *c = NULL;
    *out = NULL;
    SL_TRY(highest(&number, dir));
    SL_TRY(is_free(&free_, w, dir, number));
    if (!free_) return SL_OK;
    SL_TRY(sl_folder_make(dir, 0777));
    SL_TRY(claim_new(&c, w, dir, number + 1));
    SL_GO(link_claim(&got, c));
    if (!got) goto done;
    st = mark_taken(dir, number);
    if (st == SL_OK) st = highest(&now, dir);
    if (st != SL_OK || now != c->number) { // the listing was old
        unlink(c->path);
        goto done;
    }
    sweep(dir, c->number);
    *out = c;
    c = NULL;
done:
    claim_free(c);
    return st;
}

sl_status sl_study_claim_check(const sl_study_claim *c) {
    struct stat s, next;
    const int fd = open(c->path, O_RDONLY | O_CLOEXEC);
    const bool there = fd >= 0 && fstat(fd, &s) == 0;
    if (fd >= 0) close(fd);
    const bool ours = there && s.st_ino == c->file.st_ino && s.st_dev == c->file.st_dev &&
                      s.st_size == SL_STUDY__CLAIM_BYTES;
    if (ours && stat(c->next, &next) != 0) return SL_OK;
    return sl_fail(SL_ECANCEL, "%.300s was taken over by another worker", c->dir);
}

void sl_study__claim_deadline(sl_study_claim *c, double deadline) { c->deadline = deadline; }

bool sl_study__claim_late(const sl_study_claim *c) {
    return sl_deadline_passed(c->deadline, sl_study__clock());
}

sl_status sl_study_claim_beat(sl_study_claim *c, double done, double total, const char *text) {
    const double now = sl_study__clock();
    if (sl_study__claim_late(c)) return sl_fail(SL_ECANCEL, "out of time");
    if (total > 0 || *text) {
        c->content.done = done;
        c->content.total = total;
        sl_snprintf(c->content.text, sizeof c->content.text, "%s", text);
    }
    if (now < c->next_beat) return SL_OK;
    c->next_beat = now + SL_MIN(BEAT_SECONDS, c->content.expiry / BEATS_PER_EXPIRY);
    SL_TRY(sl_study_claim_check(c));
    c->content.beat++;
    return put(c);
}

void sl_study_claim_release(sl_study_claim *c) {
    if (!c) return;
    char line[SL_FAIL_LINE];
    sl_snprintf(line, sizeof line, "%s", sl_last_error());
    c->content.released = true;
    // if this fails others wait until it expires, or see that the process has ended
    if (put(c) != SL_OK) sl_fail_restore(line);
    claim_free(c);
}

void sl_study__claim_abandon(sl_study_claim *c) { claim_free(c); }

sl_status sl_study_holder_read(sl_study_holder *out, const char *dir) {
    char bytes[SL_STUDY__CLAIM_BYTES + 1];
    int64_t number;
    size_t n;
    double changed;
    sl_study__content c;
    *out = (sl_study_holder){ 0 };
    SL_TRY(highest(&number, dir));
    if (number == 0) return SL_OK;
    SL_TRY(claim_read(bytes, &n, &changed, dir, number));
    sl_study__content_read(&c, bytes, n);
    out->held = n > 0 && !c.released;
    out->gone = out->held && sl_study__is_gone(&c.by);
    sl_snprintf(out->host, sizeof out->host, "%s", c.by.host);
    out->pid = c.by.pid;
    out->done = c.done;
    out->total = c.total;
    sl_snprintf(out->text, sizeof out->text, "%s", c.text);
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    out->beat_seconds = SL_MAX((double)t.tv_sec - changed, 0);
    return SL_OK;
}

/* file - files that are written atomically, and reading a whole one.
 *
 * A file is written under a temporary name and renamed on commit. The order matters: the data must
 * be on the disk before the rename, and the directory must be on the disk before commit returns. A
 * file that carries a hash may be renamed first (publish): if the machine stops before the data are
 * on the disk, its readers detect it. What is not a regular file (a terminal, a pipe, /dev/null,
 * /dev/stdout) cannot be replaced by renaming and is written to directly, or refused, as described
 * in base.h. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "base/temporary.h"

enum { BUFFER_BYTES = 1 << 16 };

struct sl_file {
    int fd;
    char *shown;    // the caller's path, for messages
    char *path;     // the final path: links resolved, so that a link stays a link
    char *temp;     // the temporary path; NULL when written directly
    bool failed;    // a write failed: commit must fail
    bool published; // renamed, not synced
    size_t held;    // bytes waiting in buffer
    char buffer[BUFFER_BYTES];
};

static _Atomic int64_t fail_in; // writes until the one that fails; 0 or less: none

void sl_file_fail_at(int64_t n) { atomic_store(&fail_in, n); }

/* True for the write that a test selected, with errno as a full disk sets it. */
static bool refused(void) {
    if (atomic_load(&fail_in) <= 0 || atomic_fetch_sub(&fail_in, 1) != 1) return false;
    errno = ENOSPC;
    return true;
}

static char *copy(const char *text) {
    size_t n = strlen(text) + 1;
    char *p = sl_malloc(n, 1);
    if (p) memcpy(p, text, n);
    return p;
}

/* The folder part of a path, without its last slash: "a/b" -> "a", "b" -> ".", "/b" -> "/". */
static char *folder_of(const char *path) {
    const char *slash = strrchr(path, '/');
    if (!slash) return copy(".");
    size_t n = slash == path ? 1 : (size_t)(slash - path);
    char *p = sl_malloc(n + 1, 1);
    if (p) {
        memcpy(p, path, n);
        p[n] = '\0';
    }
    return p;
}

static int open_again(const char *path, int flags, mode_t mode) {
    int fd;
    do fd = open(path, flags | O_CLOEXEC, mode);
    while (fd < 0 && errno == EINTR);
    return fd;
}

/* The message if `path` cannot be created: names the folder if that is what is missing. */
static sl_status fail_create(const char *path, int error) {
    char *folder = error == ENOENT || error == ENOTDIR ? folder_of(path) : NULL;
    struct stat s;
    sl_status st;
    if (folder && stat(folder, &s) != 0 && errno == ENOENT)
        st = sl_fail(SL_EIO, "cannot write %s: folder %s does not exist", path, folder);
    else if (folder && error == ENOTDIR)
        st = sl_fail(SL_EIO, "cannot write %s: %s is not a folder", path, folder);
    else
        st = sl_fail(SL_EIO, "cannot write %s: %s", path, sl_strerror(error));
    sl_free(folder);
    return st;
}

/* The kind of a file that is not regular. */
static const char *kind_text(mode_t mode) {
    return S_ISDIR(mode)    ? "a folder"
           : S_ISFIFO(mode) ? "a pipe"
           : S_ISSOCK(mode) ? "a socket"
                            : "a device";
}

static sl_status refuse(const char *verb, const char *path, mode_t mode) {
    return sl_fail(SL_EIO, "cannot %s %s: it is %s, not a file", verb, path, kind_text(mode));
}

/* Must `path` be written in place? Files that are not regular, and descriptors of a process:
 * /dev/stdout can lead to a regular file, which the shell has open and reads afterwards. */
static bool direct(const char *path, const struct stat *s) {
    static const char *const open_files[] = { "/dev/std", "/dev/fd/", "/proc/" };
    for (int i = 0; i < SL_LEN(open_files); i++)
        if (strncmp(path, open_files[i], strlen(open_files[i])) == 0) return true;
    return !S_ISREG(s->st_mode);
}

/* Creates the temporary file, with a number behind its name when that is taken: by another thread,
 * or by a process of the same number that was killed. */
static sl_status open_temp(sl_file *f, const struct stat *old) {
    size_t size = strlen(f->path) + SL_TEMPORARY__MAX;
    f->temp = sl_malloc(size, 1);
    if (!f->temp) return sl_fail_memory(size, 1, "a file name");
    for (int i = 0; i < 1000; i++) {
        sl_temporary__name(f->temp, size, f->path, i);
        f->fd = open_again(f->temp, O_WRONLY | O_CREAT | O_EXCL, 0666);
        if (f->fd >= 0 || errno != EEXIST) break;
    }
    if (f->fd < 0) {
        int error = errno;
        sl_free(f->temp); // it was not created, so it must not be removed
        f->temp = NULL;
        return fail_create(f->shown, error);
    }
    // the new file gets the old one's permissions; where that is not allowed, the default is fine
    if (old && fchmod(f->fd, old->st_mode & 07777) != 0) errno = 0;
    return SL_OK;
}

/* A pipe is opened without blocking; its reader may open it a little later, since a shell starts
 * both ends at once. */
static sl_status open_direct(sl_file *f, const struct stat *s) {
    static const struct timespec pause = { 0, 10 * 1000 * 1000 };
    static const double reader_seconds = 1;
    if (S_ISSOCK(s->st_mode) || S_ISBLK(s->st_mode)) return refuse("write", f->shown, s->st_mode);
    const double start = sl_clock();
    for (;;) {
        // appending, because a reopened /dev/stdout would otherwise overwrite from the start
        f->fd = open_again(f->shown, O_WRONLY | O_APPEND | O_NOCTTY | O_NONBLOCK, 0);
        if (f->fd >= 0 || errno != ENXIO || !S_ISFIFO(s->st_mode)) break;
        if (sl_clock() - start > reader_seconds)
            return sl_fail(SL_EIO, "cannot write %s: it is a pipe without a reader", f->shown);
        nanosleep(&pause, NULL);
    }
    if (f->fd < 0) return fail_create(f->shown, errno);
    const int flags = fcntl(f->fd, F_GETFL); // from here on a write blocks on a slow reader
    if (flags < 0 || fcntl(f->fd, F_SETFL, flags & ~O_NONBLOCK) != 0)
        return fail_create(f->shown, errno);
    return SL_OK;
}

static sl_status create(sl_file **out, const char *path, bool own) {
    sl_status st = SL_OK;
    struct stat s;
    size_t n = strlen(path);
    if (n == 0) return sl_fail(SL_EIO, "cannot write a file without a name");

    sl_file *f = sl_malloc(1, sizeof *f);
    if (!f) return sl_fail_memory(1, sizeof *f, "a file buffer");
    f->fd = -1;
    f->path = f->temp = NULL;
    f->failed = f->published = false;
    f->held = 0;
    f->shown = copy(path);
    if (!f->shown) SL_GO(sl_fail_memory(n + 1, 1, "a file name"));

    bool exists = stat(path, &s) == 0;
    if ((exists && S_ISDIR(s.st_mode)) || path[n - 1] == '/') SL_GO(refuse("write", path, S_IFDIR));
    if (exists && own && !S_ISREG(s.st_mode)) SL_GO(refuse("write", path, s.st_mode));

    if (!exists && lstat(path, &s) == 0 && S_ISLNK(s.st_mode)) // renaming would replace the link
        SL_GO(sl_fail(SL_EIO, "cannot write %s: it is a link to what does not exist", path));

    if (exists && !own && direct(path, &s)) {
        SL_GO(open_direct(f, &s));
    } else {
        char resolved[PATH_MAX];
        f->path = copy(exists && realpath(path, resolved) ? resolved : path);
        if (!f->path) SL_GO(sl_fail_memory(n + 1, 1, "a file name"));
        SL_GO(open_temp(f, exists ? &s : NULL));
    }
    *out = f;
    return SL_OK;
done:
    sl_file_discard(&f);
    return st;
}

sl_status sl_file_create(sl_file **out, const char *path) { return create(out, path, false); }

sl_status sl_file_replace(sl_file **out, const char *path) { return create(out, path, true); }

bool sl_file_is_direct(const char *path) {
    struct stat s;
    return stat(path, &s) == 0 && !S_ISDIR(s.st_mode) && direct(path, &s);
}

static sl_status write_all(sl_file *f, const char *bytes, size_t n) {
    while (n > 0) {
        ssize_t done = write(f->fd, bytes, n);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) {
            f->failed = true;
            return sl_fail(SL_EIO, "writing %s: %s", f->shown, sl_strerror(errno));
        }
        bytes += done;
        n -= (size_t)done;
    }
    return SL_OK;
}

static sl_status flush(sl_file *f) {
    size_t n = f->held;
    f->held = 0;
    return write_all(f, f->buffer, n);
}

/* Small writes are buffered, large ones are not. sl_file_fail_at counts calls, not system calls, so
 * that a test reaches every place where a caller must check the status. */
sl_status sl_file_write(sl_file *f, const void *bytes, size_t n) {
    if (refused()) {
        f->failed = true;
        return sl_fail(SL_EIO, "writing %s: %s", f->shown, sl_strerror(errno));
    }
    if (n > sizeof f->buffer - f->held) SL_TRY(flush(f));
    if (n > sizeof f->buffer) return write_all(f, bytes, n);
    if (n) memcpy(f->buffer + f->held, bytes, n);
    f->held += n;
    return SL_OK;
}

/* Not every file system can sync a directory, or a pipe: EINVAL and the like are no failure. */
static bool synced(int fd) {
    int r;
    do r = fsync(fd);
    while (r != 0 && errno == EINTR);
    return r == 0 || errno == EINVAL || errno == ENOTSUP || errno == EROFS;
}

sl_status sl_file_append(sl_file **out, const char *path) {
    sl_status st = SL_OK;
    sl_file *f = sl_malloc(1, sizeof *f);
    if (!f) return sl_fail_memory(1, sizeof *f, "a file buffer");
    f->path = f->temp = NULL;
    f->failed = f->published = false;
    f->held = 0;
    f->fd = -1;
    f->shown = copy(path);
    if (!f->shown) SL_GO(sl_fail_memory(strlen(path) + 1, 1, "a file name"));
    struct stat s;
    if (stat(path, &s) == 0 && !S_ISREG(s.st_mode)) SL_GO(refuse("write", path, s.st_mode));
    f->fd = open_again(path, O_WRONLY | O_APPEND | O_CREAT | O_NOCTTY | O_NONBLOCK, 0666);
    if (f->fd < 0) SL_GO(fail_create(path, errno));
    if (fstat(f->fd, &s) == 0 && !S_ISREG(s.st_mode)) SL_GO(refuse("write", path, s.st_mode));
    *out = f;
    return SL_OK;
done:
    sl_file_discard(&f);
    return st;
}

sl_status sl_file_flush(sl_file *f, bool sync) {
    SL_TRY(flush(f));
    if (sync && (refused() || !synced(f->fd)))
        return sl_fail(SL_EIO, "syncing %s: %s", f->shown, sl_strerror(errno));
    return SL_OK;
}

static sl_status sync_folder(const sl_file *f) {
    char *folder = folder_of(f->path);
    if (!folder) return sl_fail_memory(strlen(f->path) + 1, 1, "a file name");
    sl_status st = SL_OK;
    int fd = open_again(folder, O_RDONLY | O_DIRECTORY, 0);
    // a folder we may write to but not read cannot be synced; the file is in place all the same
    if (fd >= 0 && !synced(fd))
        st = sl_fail(SL_EIO, "syncing folder %s: %s", folder, sl_strerror(errno));
    if (fd >= 0) close(fd);
    sl_free(folder);
    return st;
}

static sl_status finish_writing(sl_file *f) {
    if (!f->failed) return flush(f);
    return sl_fail(SL_EIO, "%s is not written: an earlier write failed", f->shown);
}

static sl_status give_name(sl_file *f) {
    if (rename(f->temp, f->path) != 0)
        return sl_fail(SL_EIO, "renaming %s to %s: %s", f->temp, f->path, sl_strerror(errno));
    sl_free(f->temp); // nothing left to remove
    f->temp = NULL;
    return SL_OK;
}

sl_status sl_file_publish(sl_file *f) {
    SL_TRY(finish_writing(f));
    if (!f->temp) return SL_OK; // written in place
    SL_TRY(give_name(f));
    f->published = true;
    return SL_OK;
}

sl_status sl_file_commit(sl_file **file) {
    sl_file *f = *file;
    sl_status st;
    SL_GO(finish_writing(f));
    if (refused() || ((f->temp || f->published) && !synced(f->fd)))
        SL_GO(sl_fail(SL_EIO, "syncing %s: %s", f->shown, sl_strerror(errno)));

    // close reports what a network file system found out late
    int fd = f->fd;
    f->fd = -1;
    if (close(fd) != 0 && errno != EINTR)
        SL_GO(sl_fail(SL_EIO, "closing %s: %s", f->shown, sl_strerror(errno)));

    const bool named = f->temp || f->published;
    if (f->temp) SL_GO(give_name(f));
    f->published = false; // discard must not remove it
    st = named ? sync_folder(f) : SL_OK;
done:
    sl_file_discard(file);
    return st;
}

void sl_file_discard(sl_file **file) {
    sl_file *f = *file;
    if (!f) return;
    *file = NULL;
    if (f->fd >= 0) close(f->fd);
    if (f->temp) unlink(f->temp);
    if (f->published) unlink(f->path);
    sl_free(f->temp);
    sl_free(f->path);
    sl_free(f->shown);
    sl_free(f);
}

sl_status sl_file_put(const char *path, const void *bytes, size_t n) {
    sl_status st;
    sl_file *f = NULL;
    SL_GO(sl_file_replace(&f, path));
    SL_GO(sl_file_write(f, bytes, n));
    st = sl_file_commit(&f);
done:
    sl_file_discard(&f);
    return st;
}

sl_status sl_folder_make(const char *path, unsigned mode) {
    size_t n = strlen(path);
    char *part = copy(path);
    if (!part) return sl_fail_memory(n + 1, 1, "a file name");
    int error = n ? 0 : ENOENT;
    for (size_t i = 1; i <= n; i++) {
        if (path[i] && path[i] != '/') continue;
        part[i] = '\0';
        error = mkdir(part, (mode_t)mode) == 0 || errno == EEXIST ? 0 : errno;
        part[i] = path[i];
    }
    sl_free(part);
    struct stat s;
    if (!error && stat(path, &s) == 0 && !S_ISDIR(s.st_mode)) error = ENOTDIR;
    // mkdir of an existing folder above may fail, as on a read-only /: only the last one counts
    return error ? sl_fail(SL_EIO, "cannot make folder %s: %s", path, sl_strerror(error)) : SL_OK;
}

sl_status sl_file_open(int *out, const char *path) {
    struct stat s;
    // without blocking: opening a pipe would wait for a writer
    const int fd = open_again(path, O_RDONLY | O_NOCTTY | O_NONBLOCK, 0);
    if (fd < 0 || fstat(fd, &s) != 0) {
        const sl_status st = sl_fail(SL_EIO, "cannot read %s: %s", path, sl_strerror(errno));
        if (fd >= 0) close(fd);
        return st;
    }
    if (!S_ISREG(s.st_mode)) {
        close(fd);
        return refuse("read", path, s.st_mode);
    }
    *out = fd;
    return SL_OK;
}

sl_status sl_file_read(char **out, size_t *n, const char *path, size_t max_bytes) {
    sl_status st;
    struct stat s;
    char *text = NULL;
    int fd;
    SL_TRY(sl_file_open(&fd, path));
    if (fstat(fd, &s) != 0) SL_GO(sl_fail(SL_EIO, "cannot read %s: %s", path, sl_strerror(errno)));

    // the size is a hint: it is 0 in /proc, and a file may grow while it is read
    size_t len = 0, cap = s.st_size > 0 ? (size_t)s.st_size : 4096;
    cap = SL_MIN(cap, max_bytes);
    for (;;) {
        // one byte past cap shows whether there is more, and holds the NUL
        char *grown = sl_realloc(text, cap + 1, 1);
        if (!grown) SL_GO(sl_fail_memory(cap + 1, 1, path));
        text = grown;
        while (len <= cap) {
            ssize_t got = read(fd, text + len, cap + 1 - len);
            if (got < 0 && errno == EINTR) continue;
            if (got < 0) SL_GO(sl_fail(SL_EIO, "reading %s: %s", path, sl_strerror(errno)));
            if (got == 0) break;
            len += (size_t)got;
        }
        if (len <= cap) break;
        if (cap >= max_bytes) SL_GO(sl_fail(SL_ELIMIT, "%s: more than %zu bytes", path, max_bytes));
        cap = cap > max_bytes / 2 ? max_bytes : 2 * cap;
    }
    text[len] = '\0';
    *out = text;
    if (n) *n = len;
    text = NULL;
    st = SL_OK;
done:
    sl_free(text);
    close(fd);
    return st;
}

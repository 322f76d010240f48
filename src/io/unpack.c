/* unpack - the bytes of a file, unpacked if it is a gzip file.
 *
 *     file --read--> raw [ used | at .. end | free ] --copy, or inflate--> the caller's buffer
 *
 * Not by zlib's gzread: that waits until its buffer is full, so a line typed at a terminal would
 * be returned thousands of lines later, and it reports a signal as an error.
 *
 * A packed file may consist of several members, as `cat a.gz b.gz` and bgzip make them, and may be
 * padded with zeros. Anything else after a member is an error. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "io/io_impl.h"

enum { RAW_BYTES = 1 << 16 };

struct sl_io__bytes {
    int fd;
    bool standard; // standard input, which is not closed
    bool checked;  // the first bytes were checked for gzip's
    bool packed;
    bool between; // a member has ended, and the next has not begun
    bool last;    // the file has no more
    char *shown;
    int64_t size, taken;
    size_t at, end;
    z_stream z;
    unsigned char raw[RAW_BYTES];
};

/* ---------------------------------------------------------------- open, close --------------- */

static int open_again(const char *path) {
    int fd;
    do fd = open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC);
    while (fd < 0 && errno == EINTR);
    return fd;
}

static sl_status open_bytes(sl_io__bytes **out, const char *path, bool own) {
    if (!*path) return sl_fail(SL_EIO, "cannot read a file without a name");
    sl_status st;
    sl_io__bytes *b = sl_malloc(1, sizeof *b);
    if (!b) return sl_fail_memory(1, sizeof *b, "a file's bytes");
    memset(b, 0, offsetof(sl_io__bytes, raw));
    b->fd = -1;
    b->standard = !own && strcmp(path, "-") == 0;
    const char *shown = b->standard ? "standard input" : path;
    b->shown = sl_malloc(strlen(shown) + 1, 1);
    if (!b->shown) SL_GO(sl_fail_memory(strlen(shown) + 1, 1, "a file name"));
    strcpy(b->shown, shown);

    struct stat s;
    if (own)
        SL_GO(sl_file_open(&b->fd, path));
    else
        b->fd = b->standard ? STDIN_FILENO : open_again(path);
    if (b->fd < 0 || fstat(b->fd, &s) != 0)
        SL_GO(sl_fail(SL_EIO, "cannot read %s: %s", shown, sl_strerror(errno)));
    if (S_ISDIR(s.st_mode))
        SL_GO(sl_fail(SL_EIO, "cannot read %s: it is a folder, not a file", shown));
    if (S_ISREG(s.st_mode)) b->size = s.st_size;
    *out = b;
    return SL_OK;
done:
    sl_io__bytes_close(b);
    return st;
}

sl_status sl_io__bytes_open(sl_io__bytes **out, const char *path) {
    return open_bytes(out, path, false);
}

sl_status sl_io__bytes_open_own(sl_io__bytes **out, const char *path) {
    return open_bytes(out, path, true);
}

void sl_io__bytes_close(sl_io__bytes *b) {
    if (!b) return;
    if (b->packed) inflateEnd(&b->z);
    if (b->fd >= 0 && !b->standard) close(b->fd);
    sl_free(b->shown);
    sl_free(b);
}

const char *sl_io__bytes_shown(const sl_io__bytes *b) { return b->shown; }
int64_t sl_io__bytes_taken(const sl_io__bytes *b) { return b->taken; }
int64_t sl_io__bytes_size(const sl_io__bytes *b) { return b->size; }

/* ---------------------------------------------------------------- raw bytes ----------------- */

/* Appends to raw what is available, at least one byte or `last`. After a failure the same call may
 * be repeated. */
static sl_status load(sl_io__bytes *b) {
    if (b->at == b->end) b->at = b->end = 0;
    const ssize_t got = read(b->fd, b->raw + b->end, sizeof b->raw - b->end);
    if (got < 0 && errno == EINTR)
        return sl_fail(SL_ECANCEL, "a signal came while waiting for %s", b->shown);
    if (got < 0) return sl_fail(SL_EIO, "reading %s: %s", b->shown, sl_strerror(errno));
    b->end += (size_t)got;
    b->taken += got;
    b->last = got == 0;
    return SL_OK;
}

static void *z_alloc(void *opaque, unsigned count, unsigned size) {
    (void)opaque;
    return sl_malloc(count, size);
}

static void z_free(void *opaque, void *p) {
    (void)opaque;
    sl_free(p);
}

/* Detects gzip. Reads more only while the bytes match, as skip_mark in lines.c does. */
static sl_status check_packed(sl_io__bytes *b) {
    while (!b->last && (b->end == 0 || (b->end == 1 && b->raw[0] == 0x1F))) SL_TRY(load(b));
    if (b->end >= 2 && b->raw[0] == 0x1F && b->raw[1] == 0x8B) {
        enum { GZIP_ONLY = 16 + MAX_WBITS };
        b->z = (z_stream){ .zalloc = z_alloc, .zfree = z_free };
        if (inflateInit2(&b->z, GZIP_ONLY) != Z_OK)
            return sl_fail(SL_ENOMEM, "no memory to unpack %s", b->shown);
        b->packed = true;
    }
    b->checked = true;
    return SL_OK;
}

/* ---------------------------------------------------------------- packed bytes -------------- */

static sl_status fail_unpack(const sl_io__bytes *b, const char *why) {
    return sl_fail(SL_EIO, "%s cannot be unpacked: %s (at byte %lld of the file)", b->shown, why,
                   (long long)(b->taken - (int64_t)(b->end - b->at)));
}

/* After a member: nothing, zeros, or the next one. *over: the file ends. */
static sl_status next_member(bool *over, sl_io__bytes *b) {
    while (b->at < b->end && b->raw[b->at] == 0) b->at++;
    *over = b->at == b->end && b->last;
    if (b->at == b->end) return SL_OK;
    if (b->raw[b->at] != 0x1F) return fail_unpack(b, "something else stands behind its end");
    b->between = false;
    return inflateReset(&b->z) == Z_OK ? SL_OK : fail_unpack(b, "zlib failed");
}

static sl_status unpack(size_t *got, sl_io__bytes *b, char *buffer, size_t n) {
    const unsigned room = (unsigned)SL_MIN(n, (size_t)INT_MAX);
    for (;;) {
        if (b->at == b->end && !b->last) SL_TRY(load(b));
        if (b->between) {
            bool over;
            SL_TRY(next_member(&over, b));
            if (over) return SL_OK;
            if (b->between) continue;
        }
        b->z.next_in = b->raw + b->at;
        b->z.avail_in = (unsigned)(b->end - b->at);
        b->z.next_out = (unsigned char *)buffer;
        b->z.avail_out = room;
        const int result = inflate(&b->z, Z_NO_FLUSH);
        b->at = b->end - b->z.avail_in;
        b->between = result == Z_STREAM_END;
        *got = room - b->z.avail_out;
        if (*got > 0) return SL_OK; // an error after these bytes is reported by the next call
        if (result == Z_MEM_ERROR) return sl_fail(SL_ENOMEM, "no memory to unpack %s", b->shown);
        if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
            return fail_unpack(b, b->z.msg ? b->z.msg : "damaged");
        if (b->last && b->at == b->end && !b->between) return fail_unpack(b, "it ends too early");
    }
}

sl_status sl_io__bytes_read(size_t *got, sl_io__bytes *b, char *buffer, size_t n) {
    SL_ASSERT(n > 0);
    *got = 0;
    if (!b->checked) SL_TRY(check_packed(b));
    if (b->packed) return unpack(got, b, buffer, n);
    if (b->at == b->end && !b->last) SL_TRY(load(b));
    *got = SL_MIN(n, b->end - b->at);
    memcpy(buffer, b->raw + b->at, *got);
    b->at += *got;
    return SL_OK;
}

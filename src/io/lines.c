/* lines - a file of lines, one at a time.
 *
 *     buffer   [ returned | seen: no LF | not scanned | free ]
 *                         ^start        ^seen         ^end   ^cap
 *
 * When the buffer is full, bytes not yet returned are moved to the front; when that is not enough,
 * it doubles. It never holds more than the longest line allowed with its CRLF. */
#include <string.h>

#include "io/io_impl.h"

enum { FIRST_BYTES = 1 << 16 };

struct sl_lines {
    sl_io__bytes *bytes;
    size_t max_bytes;
    char *buffer;
    size_t start, seen, end, cap;
    bool begun; // a byte order mark was checked for
    bool last;  // the file has no more
    bool skip;  // the rest of a line that was too long must be dropped first
    int64_t number;
};

static sl_status open_lines(sl_lines **out, const char *path, size_t max_bytes, bool own) {
    SL_ASSERT(max_bytes > 0);
    sl_status st;
    sl_lines *l = sl_calloc(1, sizeof *l);
    if (!l) return sl_fail_memory(1, sizeof *l, "lines of a file");
    SL_GO(own ? sl_io__bytes_open_own(&l->bytes, path) : sl_io__bytes_open(&l->bytes, path));
    l->max_bytes = SL_MIN(max_bytes, (size_t)PTRDIFF_MAX - 2);
    l->cap = SL_MIN((size_t)FIRST_BYTES, l->max_bytes + 2);
    l->buffer = sl_malloc(l->cap, 1);
    if (!l->buffer) SL_GO(sl_fail_memory(l->cap, 1, "lines of a file"));
    *out = l;
    return SL_OK;
done:
    sl_io_lines_close(l);
    return st;
}

sl_status sl_io_lines_open(sl_lines **out, const char *path, size_t max_bytes) {
    return open_lines(out, path, max_bytes, false);
}

sl_status sl_io_lines_open_own(sl_lines **out, const char *path, size_t max_bytes) {
    return open_lines(out, path, max_bytes, true);
}

/* Reads what is available, at least one byte or `last`. There must be room. After a failure the
 * same call may be repeated. */
static sl_status fill(sl_lines *l) {
    size_t got;
    SL_TRY(sl_io__bytes_read(&got, l->bytes, l->buffer + l->end, l->cap - l->end));
    l->end += got;
    l->last = got == 0;
    return SL_OK;
}

/* Makes room after `end`. The caller ensures that the line so far is below the largest buffer. */
static sl_status make_room(sl_lines *l) {
    if (l->start > 0) {
        memmove(l->buffer, l->buffer + l->start, l->end - l->start);
        l->seen -= l->start;
        l->end -= l->start;
        l->start = 0;
    }
    if (l->end < l->cap) return SL_OK;
    const size_t most = l->max_bytes + 2;
    const size_t cap = l->cap > most / 2 ? most : 2 * l->cap;
    char *buffer = sl_realloc(l->buffer, cap, 1);
    if (!buffer) return sl_fail_memory(cap, 1, sl_io__bytes_shown(l->bytes));
    l->buffer = buffer;
    l->cap = cap;
    return SL_OK;
}

/* A file from Windows may begin with a byte order mark. Reads more only while the bytes match one:
 * a first short line from a terminal must not wait for a second. */
static sl_status skip_mark(sl_lines *l) {
    static const char mark[3] = "\xEF\xBB\xBF";
    while (!l->last && l->end < sizeof mark && memcmp(l->buffer, mark, l->end) == 0)
        SL_TRY(fill(l));
    if (l->end >= sizeof mark && memcmp(l->buffer, mark, sizeof mark) == 0)
        l->start = l->seen = sizeof mark;
    l->begun = true;
    return SL_OK;
}

/* Drops bytes up to and with the next LF. */
static sl_status skip_rest(sl_lines *l) {
    for (;;) {
        const char *lf = memchr(l->buffer + l->start, '\n', l->end - l->start);
        l->start = l->seen = lf ? (size_t)(lf - l->buffer) + 1 : l->end;
        l->skip = !lf && !l->last;
        if (!l->skip) return SL_OK;
        l->start = l->seen = l->end = 0;
        SL_TRY(fill(l));
    }
}

/* The line is buffer[start .. stop), and what follows it begins at `next`. */
static sl_status return_line(const char **line, size_t *n, sl_lines *l, size_t stop, size_t next) {
    const size_t start = l->start;
    l->start = l->seen = next;
    l->number++;
    if (stop - start > l->max_bytes)
        return sl_fail(SL_ELIMIT, "%s:%lld: longer than %zu bytes", sl_io__bytes_shown(l->bytes),
                       (long long)l->number, l->max_bytes);
    *line = l->buffer + start;
    *n = stop - start;
    return SL_OK;
}

sl_status sl_io_lines_next(const char **line, size_t *n, sl_lines *l) {
    *line = NULL;
    *n = 0;
    if (!l->begun) SL_TRY(skip_mark(l));
    if (l->skip) SL_TRY(skip_rest(l));
    for (;;) {
        const char *lf = memchr(l->buffer + l->seen, '\n', l->end - l->seen);
        if (lf) {
            const size_t at = (size_t)(lf - l->buffer);
            const bool cr = at > l->start && lf[-1] == '\r';
            return return_line(line, n, l, at - cr, at + 1);
        }
        l->seen = l->end;
        if (l->last) return l->end > l->start ? return_line(line, n, l, l->end, l->end) : SL_OK;
        if (l->end - l->start == l->max_bytes + 2) {
            l->skip = true;
            return return_line(line, n, l, l->end, l->end);
        }
        if (l->end == l->cap) SL_TRY(make_room(l));
        SL_TRY(fill(l));
    }
}

int64_t sl_io_lines_number(const sl_lines *l) { return l->number; }

void sl_io_lines_close(sl_lines *l) {
    if (!l) return;
    sl_io__bytes_close(l->bytes);
    sl_free(l->buffer);
    sl_free(l);
}

sl_status sl_io_lines_rewrite(const char *path, size_t max_bytes, sl_lines_keep keep,
                              void *payload) {
    sl_status st;
    sl_lines *lines = NULL;
    sl_file *f = NULL;
    SL_GO(sl_io_lines_open_own(&lines, path, max_bytes));
    SL_GO(sl_file_replace(&f, path));
    for (;;) {
        const char *line;
        size_t n;
        st = sl_io_lines_next(&line, &n, lines);
        if (st == SL_ELIMIT) continue;
        if (st != SL_OK) goto done;
        if (!line) break;
        if (!keep(line, n, lines->number, payload)) continue;
        SL_GO(sl_file_write(f, line, n));
        SL_GO(sl_file_write(f, "\n", 1));
    }
    st = sl_file_commit(&f);
done:
    sl_file_discard(&f);
    sl_io_lines_close(lines);
    return st;
}

/* decode - a file's bytes as UTF-8, whatever it is encoded in.
 *
 *     bytes --read--> raw [ used | at .. end ] --as they are, or character by character--> caller
 *
 * The first RAW_BYTES are read before anything is handed on, so that the encoding is known by then
 * and does not depend on the sizes of reads:
 *
 *     a byte order mark         UTF-8, UTF-16 with either order of bytes
 *     nearly all of every       UTF-16 without a mark: characters of Latin letters, digits and
 *     second byte is 0          separators are below 256
 *     all characters valid      UTF-8, and ASCII with it
 *     else                      Windows-1252, which has Latin-1's characters and some more
 *
 * Text in UTF-8 goes from the file to the caller's buffer without a copy here. */
#include <string.h>

#include "io/io_impl.h"

enum { RAW_BYTES = 1 << 16, PER_CHARACTER = 4 };

struct sl_io__text {
    sl_io__bytes *bytes;
    sl_text_encoding encoding; // SL_ENCODING_AUTO: not known yet
    bool big;                  // of UTF-16: the higher byte comes first
    bool last;                 // the file has no more
    size_t at, end;
    char pending[PER_CHARACTER]; // of a character that did not fit
    int n_pending;
    unsigned char raw[RAW_BYTES];
};

/* ---------------------------------------------------------------- which encoding ------------ */

/* Common files that are no text. */
static sl_status check_kind(const sl_io__text *t) {
    static const struct {
        const char *begin;
        size_t n;
        const char *what;
    } known[] = {
        { "PK\3\4", 4, "a workbook or a zip archive; save the table as CSV" },
        { "\xD0\xCF\x11\xE0", 4, "a workbook of Excel; save the table as CSV" },
        { "BZh", 3, "packed by bzip2; unpack it first" },
        { "\xFD"
          "7zXZ",
          5, "packed by xz; unpack it first" },
        { "\x28\xB5\x2F\xFD", 4, "packed by zstd; unpack it first" },
        { "PAR1", 4, "a Parquet file; save the table as CSV" },
        { "\x89HDF", 4, "an HDF5 file; save the table as CSV" },
        { "\x93NUMPY", 6, "a NumPy file; numpy.savetxt writes a table of text" },
        { "%PDF", 4, "a PDF document; save the table as CSV" },
    };
    for (int i = 0; i < SL_LEN(known); i++)
        if (t->end >= known[i].n && memcmp(t->raw, known[i].begin, known[i].n) == 0)
            return sl_fail(SL_EFORMAT, "%s is no table of text: it is %s",
                           sl_io__bytes_shown(t->bytes), known[i].what);
    return SL_OK;
}

static bool has_mark(sl_io__text *t, const char *mark, size_t n) {
    if (t->end - t->at < n || memcmp(t->raw + t->at, mark, n) != 0) return false;
    t->at += n;
    return true;
}

/* Are nearly all bytes of one parity 0, and none of the other? *big: those that come first are. */
static bool is_wide(bool *big, const unsigned char *raw, size_t n) {
    size_t zeros[2] = { 0, 0 };
    for (size_t i = 0; i < n; i++) zeros[i % 2] += raw[i] == 0;
    *big = zeros[0] > zeros[1];
    return n >= 4 && SL_MIN(zeros[0], zeros[1]) == 0 && 20 * SL_MAX(zeros[0], zeros[1]) > 9 * n;
}

/* A character may be cut by the end of what was read. */
static bool is_utf8(const unsigned char *raw, size_t n, bool whole) {
    for (size_t i = 0; i < n;) {
        int used;
        if (raw[i] < 0x80) {
            i++;
            continue;
        }
        if (sl_utf8_read((const char *)raw + i, n - i, &used) < 0)
            return !whole && n - i < PER_CHARACTER;
        i += (size_t)used;
    }
    return true;
}

static sl_status find_encoding(sl_io__text *t, sl_text_encoding asked) {
    SL_TRY(check_kind(t));
    bool big = false;
    const bool little_mark = has_mark(t, "\xFF\xFE", 2);
    const bool big_mark = !little_mark && has_mark(t, "\xFE\xFF", 2);
    const bool wide = is_wide(&big, t->raw, t->end);
    t->big = big_mark || (!little_mark && wide && big);
    if (asked == SL_ENCODING_AUTO) {
        if (little_mark || big_mark || wide)
            asked = SL_ENCODING_UTF16;
        else if (memchr(t->raw, '\0', t->end))
            return sl_fail(SL_EFORMAT, "%s is no table of text: it has bytes that are 0",
                           sl_io__bytes_shown(t->bytes));
        else
            asked = is_utf8(t->raw, t->end, t->last) ? SL_ENCODING_UTF8 : SL_ENCODING_LATIN1;
    }
    if (asked == SL_ENCODING_UTF8) (void)has_mark(t, "\xEF\xBB\xBF", 3);
    t->encoding = asked;
    return SL_OK;
}

/* ---------------------------------------------------------------- characters ---------------- */

static int write_utf8(char *out, uint32_t c) {
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    const int n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (int i = n - 1; i > 0; i--, c >>= 6) out[i] = (char)(0x80 | (c & 0x3F));
    out[0] = (char)(c | (n == 2 ? 0xC0u : n == 3 ? 0xE0u : 0xF0u));
    return n;
}

/* Windows-1252 has these where Latin-1 has controls; 0: none there either. */
static const uint16_t windows_1252[32] = { 0x20AC, 0,      0x201A, 0x0192, 0x201E, 0x2026, 0x2020,
                                           0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0,
                                           0x017D, 0,      0,      0x2018, 0x2019, 0x201C, 0x201D,
                                           0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A,
                                           0x0153, 0,      0x017E, 0x0178 };

enum { REPLACEMENT = 0xFFFD };

/* The next character; what cannot be one is U+FFFD. There are bytes. */
static uint32_t next_character(sl_io__text *t) {
    const unsigned char *p = t->raw + t->at;
    if (t->encoding == SL_ENCODING_LATIN1) {
        t->at++;
        if (*p < 0x80 || *p >= 0xA0) return *p;
        return windows_1252[*p - 0x80] ? windows_1252[*p - 0x80] : REPLACEMENT;
    }
    const size_t left = t->end - t->at;
    t->at += SL_MIN(left, (size_t)2);
    if (left < 2) return REPLACEMENT;
    const uint32_t c = (uint32_t)(t->big ? p[0] << 8 | p[1] : p[1] << 8 | p[0]);
    if (c < 0xD800 || c >= 0xE000) return c;
    if (c >= 0xDC00 || left < 4) return REPLACEMENT; // half of a pair
    const uint32_t low = (uint32_t)(t->big ? p[2] << 8 | p[3] : p[3] << 8 | p[2]);
    if (low < 0xDC00 || low >= 0xE000) return REPLACEMENT;
    t->at += 2;
    return 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
}

/* ---------------------------------------------------------------- reading ------------------- */

/* Moves what is left to the front and reads until raw is full, or the file ends. */
static sl_status load(sl_io__text *t, size_t at_least) {
    memmove(t->raw, t->raw + t->at, t->end - t->at);
    t->end -= t->at;
    t->at = 0;
    while (!t->last && t->end < at_least) {
        size_t got;
        SL_TRY(sl_io__bytes_read(&got, t->bytes, (char *)t->raw + t->end, sizeof t->raw - t->end));
        t->end += got;
        t->last = got == 0;
    }
    return SL_OK;
}

sl_status sl_io__text_open(sl_io__text **out, const char *path, sl_text_encoding encoding) {
    sl_status st;
    sl_io__text *t = sl_malloc(1, sizeof *t);
    if (!t) return sl_fail_memory(1, sizeof *t, "a file's text");
    memset(t, 0, offsetof(sl_io__text, raw));
    SL_GO(sl_io__bytes_open(&t->bytes, path));
    SL_GO(load(t, sizeof t->raw));
    SL_GO(find_encoding(t, encoding));
    *out = t;
    return SL_OK;
done:
    sl_io__text_close(t);
    return st;
}

void sl_io__text_close(sl_io__text *t) {
    if (!t) return;
    sl_io__bytes_close(t->bytes);
    sl_free(t);
}

const sl_io__bytes *sl_io__text_bytes(const sl_io__text *t) { return t->bytes; }
sl_text_encoding sl_io__text_encoding(const sl_io__text *t) { return t->encoding; }

sl_status sl_io__text_read(size_t *got, sl_io__text *t, char *buffer, size_t n) {
    SL_ASSERT(n > 0);
    *got = 0;
    if (t->encoding == SL_ENCODING_UTF8) {
        if (t->at == t->end) return sl_io__bytes_read(got, t->bytes, buffer, n);
        *got = SL_MIN(n, t->end - t->at);
        memcpy(buffer, t->raw + t->at, *got);
        t->at += *got;
        return SL_OK;
    }
    while (*got < n) {
        if (t->n_pending == 0) {
            // a pair of UTF-16 must not be cut; SL_ECANCEL only while nothing was handed on
            if (t->end - t->at < PER_CHARACTER && !t->last) {
                if (*got > 0) return SL_OK;
                SL_TRY(load(t, PER_CHARACTER));
            }
            if (t->at == t->end) return SL_OK;
            t->n_pending = write_utf8(t->pending, next_character(t));
        }
        buffer[(*got)++] = t->pending[0];
        memmove(t->pending, t->pending + 1, (size_t)--t->n_pending);
    }
    return SL_OK;
}

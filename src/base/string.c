/* string - growing text, edit distance, UTF-8, numbers with grouped digits. */
#include <inttypes.h>
#include <string.h>

#include "base/base.h"

/* Room for n more bytes and the terminator. Doubles, so appending n bytes one by one costs O(n). */
static bool reserve(sl_str *s, size_t n) {
    if (s->failed) return false;
    if (n < s->cap - s->len) return true;     // also false for cap 0
    size_t cap = SL_MAX(s->cap, (size_t)256); // most texts fit: one allocation
    while (cap - s->len <= n) {
        if (cap > PTRDIFF_MAX / 2) {
            s->failed = true;
            return false;
        }
        cap *= 2;
    }
    char *text = sl_realloc(s->text, cap, 1);
    if (!text) {
        s->failed = true;
        return false;
    }
    s->text = text;
    s->cap = cap;
    return true;
}

void sl_str_add_bytes(sl_str *s, const void *bytes, size_t n) {
    if (!reserve(s, n)) return;
    if (n) memcpy(s->text + s->len, bytes, n);
    s->len += n;
    s->text[s->len] = '\0';
}

/* Most texts are a few bytes, for which measuring and calling cost more than copying. */
void sl_str_add(sl_str *s, const char *text) {
    if (s->cap && !s->failed) {
        size_t len = s->len;
        const char *at = text;
        while (*at && len + 1 < s->cap) s->text[len++] = *at++;
        if (!*at) s->len = len;
        s->text[s->len] = '\0'; // a text that did not fit is removed again
        if (!*at) return;
    }
    sl_str_add_bytes(s, text, strlen(text));
}

void sl_str_add_char(sl_str *s, char c) {
    if (s->len + 1 < s->cap && !s->failed) {
        s->text[s->len++] = c;
        s->text[s->len] = '\0';
        return;
    }
    sl_str_add_bytes(s, &c, 1);
}

void sl_str_add_uint(sl_str *s, uint64_t n) {
    char digits[20], *w = digits + sizeof digits; // 2^64 has 20 of them
    do *--w = (char)('0' + n % 10);
    while (n /= 10);
    sl_str_add_bytes(s, w, (size_t)(digits + sizeof digits - w));
}

void sl_str_addf(sl_str *s, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int n = sl_vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (n < 0) {
        s->failed = true;
        return;
    }
    if (!reserve(s, (size_t)n)) return;
    va_start(args, format);
    sl_vsnprintf(s->text + s->len, (size_t)n + 1, format, args);
    va_end(args);
    s->len += (size_t)n;
}

void sl_str_truncate(sl_str *s, size_t len) {
    if (s->failed || len >= s->len) return; // a failed text may be shorter than its owner thinks
    s->len = len;
    s->text[len] = '\0';
}

sl_status sl_str_status(const sl_str *s) {
    if (!s->failed) return SL_OK;
    return sl_fail(SL_ENOMEM, "no memory for a text of more than %zu bytes", s->len);
}

const char *sl_str_text(const sl_str *s) { return s->text ? s->text : ""; }

void sl_str_clear(sl_str *s) {
    sl_free(s->text);
    *s = (sl_str){ 0 };
}

/* Optimal string alignment: insert, delete, replace, and swap of neighbours cost 1 each. Three rows
 * of the usual table are enough, because a swap looks back two. */
int sl_edit_distance(const char *a, const char *b) {
    enum { MAX = 63 };
    size_t na = strlen(a), nb = strlen(b);
    if (na > MAX || nb > MAX) return (int)SL_MIN(SL_MAX(na, nb), (size_t)1 << 30);

    int rows[3][MAX + 1];
    int *older = rows[0], *old = rows[1], *now = rows[2];
    for (size_t j = 0; j <= nb; j++) old[j] = (int)j;
    for (size_t i = 1; i <= na; i++) {
        now[0] = (int)i;
        for (size_t j = 1; j <= nb; j++) {
            int best = old[j - 1] + (a[i - 1] != b[j - 1]);
            best = SL_MIN(best, old[j] + 1);
            best = SL_MIN(best, now[j - 1] + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                best = SL_MIN(best, older[j - 2] + 1);
            now[j] = best;
        }
        int *spare = older;
        older = old;
        old = now;
        now = spare;
    }
    return old[nb];
}

int32_t sl_utf8_read(const char *text, size_t n, int *used) {
    const unsigned char *b = (const unsigned char *)text;
    *used = 1;
    if (b[0] < 0x80) return b[0];
    int len = b[0] >= 0xf0 ? 4 : b[0] >= 0xe0 ? 3 : 2;
    if (b[0] < 0xc2 || b[0] > 0xf4 || (size_t)len > n) return -1;
    int32_t c = b[0] & (0x7f >> len);
    for (int i = 1; i < len; i++) {
        if ((b[i] & 0xc0) != 0x80) return -1;
        c = c << 6 | (b[i] & 0x3f);
    }
    bool overlong = c < (len == 3 ? 0x800 : len == 4 ? 0x10000 : 0x80);
    if (overlong || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff)) return -1;
    *used = len;
    return c;
}

const char *sl_group_digits(char buffer[32], int64_t n) {
    uint64_t u = n < 0 ? 0 - (uint64_t)n : (uint64_t)n; // -INT64_MIN does not fit int64_t
    char digits[24];
    int len = sl_snprintf(digits, sizeof digits, "%" PRIu64, u);
    char *w = buffer;
    if (n < 0) *w++ = '-';
    for (int i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0) *w++ = ',';
        *w++ = digits[i];
    }
    *w = '\0';
    return buffer;
}

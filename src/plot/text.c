/* text - numbers, escaping, and the width of text.
 *
 * The reader's font is not known. Widths are those of DejaVu Sans, the widest common font, so a
 * text that fits by them fits. */
#include <math.h>
#include <string.h>

#include "plot/plot_impl.h"

/* ---------------------------------------------------------------- numbers ------------------- */

void sl_plot__plain(char *w, const char *digits, int n, int e) {
    const int whole = SL_MAX(n + e, 0), zeros = SL_MAX(-e - n, 0);
    memcpy(w, digits, (size_t)SL_MIN(whole, n));
    w += SL_MIN(whole, n);
    for (int i = 0; i < e; i++) *w++ = '0';
    if (!whole) *w++ = '0';
    if (e < 0) {
        *w++ = '.';
        for (int i = 0; i < zeros; i++) *w++ = '0';
        memcpy(w, digits + whole, (size_t)(n - whole));
        w += n - whole;
    }
    *w = '\0';
}

void sl_plot__raised(char *w, int e) {
    static const char *const raised[] = { "⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹" };
    char digits[16];
    sl_snprintf(digits, sizeof digits, "%d", e < 0 ? -e : e);
    w = stpcpy(stpcpy(w, "10"), e < 0 ? "⁻" : "");
    for (const char *d = digits; *d; d++) w = stpcpy(w, raised[*d - '0']);
}

void sl_plot__power(char *w, const char *digits, int n, int e, int top) {
    sl_plot__plain(w, digits, n, e - top);
    w += strlen(w);
    w = stpcpy(w, "·");
    sl_plot__raised(w, top);
}

void sl_plot_number(sl_str *s, double value, int digits) {
    SL_ASSERT(digits >= 1 && digits <= 17);
    if (!isfinite(value)) {
        sl_str_add(s, isnan(value) ? "–" : value < 0 ? "−∞" : "∞");
        return;
    }
    if (value == 0) {
        sl_str_add_char(s, '0');
        return;
    }
    // d.dddde-nn
    char text[64], kept[24], out[SL_PLOT__LABEL];
    sl_snprintf(text, sizeof text, "%.*e", digits - 1, fabs(value));
    int n = 0;
    const char *at = text;
    for (; *at != 'e'; at++)
        if (*at >= '0' && *at <= '9') kept[n++] = *at;
    const int top = (int)sl_strtoll(at + 1, NULL);
    while (n > 1 && kept[n - 1] == '0') n--;

    if (value < 0) sl_str_add(s, "−");
    if (top >= -4 && top <= 5)
        sl_plot__plain(out, kept, n, top - n + 1);
    else
        sl_plot__power(out, kept, n, top - n + 1, top);
    sl_str_add(s, out);
}

void sl_plot__coord(sl_str *s, double v) {
    int64_t hundredths = (int64_t)floor(v * 100 + 0.5);
    if (hundredths < 0) {
        sl_str_add_char(s, '-');
        hundredths = -hundredths;
    }
    const int64_t part = hundredths % 100;
    sl_str_add_uint(s, (uint64_t)(hundredths / 100));
    if (!part) return;
    sl_str_add_char(s, '.');
    sl_str_add_char(s, (char)('0' + part / 10));
    if (part % 10) sl_str_add_char(s, (char)('0' + part % 10));
}

void sl_plot__put(sl_str *s, const char *format, const double *v) {
    for (size_t n; format[n = strcspn(format, "?")]; format += n + 1) {
        sl_str_add_bytes(s, format, n);
        sl_plot__coord(s, *v++);
    }
    sl_str_add(s, format);
}

/* ---------------------------------------------------------------- any text ------------------ */

/* The next character of a text of n > 0 bytes, and what stands for it. */
static int32_t next(const char *text, size_t n, int *used) {
    const int32_t c = sl_utf8_read(text, n, used);
    if (c == '\t' || c == '\n' || c == '\r') return ' ';
    if (c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0xfffe || c == 0xffff) return 0xfffd;
    return c;
}

static void put(sl_str *s, int32_t c, const char *bytes, int used) {
    switch (c) {
    case '&': sl_str_add(s, "&amp;"); break;
    case '<': sl_str_add(s, "&lt;"); break;
    case '>': sl_str_add(s, "&gt;"); break;
    case '"': sl_str_add(s, "&quot;"); break;
    case '\'': sl_str_add(s, "&#39;"); break;
    case ' ': sl_str_add_char(s, ' '); break;
    case 0xfffd: sl_str_add(s, "\xef\xbf\xbd"); break;
    default: sl_str_add_bytes(s, bytes, (size_t)used);
    }
}

/* Thousandths of the font's size. */
static int advance(int32_t c) {
    if (c < 0x80) {
        if (strchr(" !'()*,./:;I[]fijlrt|", c)) return 400;
        if (strchr("mwMW@%", c)) return 990;
        return c >= 'A' && c <= 'Z' ? 720 : 640;
    }
    if (c >= 0x300 && c < 0x370) return 0; // combining
    if (c == 0xb7 || c == 0xb9 || c == 0xb2 || c == 0xb3) return 420;
    if (c >= 0x2070 && c < 0x2090) return 440;
    return c >= 0x1100 && !(c >= 0x2000 && c < 0x2200) ? 1050 : 840;
}

double sl_plot__width(const char *text, double font) {
    const size_t n = strlen(text);
    int64_t sum = 0;
    int used;
    for (size_t i = 0; i < n; i += (size_t)used) sum += advance(next(text + i, n - i, &used));
    return (double)sum * font / 1000;
}

/* Appends characters as long as they fit into `room`; returns whether all did. */
static bool put_some(sl_str *s, const char *text, double font, double room) {
    const size_t n = strlen(text);
    int64_t sum = 0; // whole: what fits by sl_plot__width fits here
    int used;
    for (size_t i = 0; i < n; i += (size_t)used) {
        const int32_t c = next(text + i, n - i, &used);
        sum += advance(c);
        if ((double)sum * font / 1000 > room) return false;
        put(s, c, text + i, used);
    }
    return true;
}

void sl_plot__text(sl_str *s, const char *text, double font, double room) {
    const size_t mark = s->len;
    if (put_some(s, text, font, room)) return;
    sl_str_truncate(s, mark);
    (void)put_some(s, text, font, room - font);
    sl_str_add(s, "…");
}

void sl_plot_escape(sl_str *s, const char *text) { (void)put_some(s, text, 0, 0); }

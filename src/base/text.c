/* text - text from outside made safe for a terminal, a shell and an error message. */
#include <string.h>

#include "base/base.h"

/* Start of the character after the one at p. The text is UTF-8: the JSON parser has checked it. */
static size_t after(const char *text, size_t end, size_t at) {
    at++;
    while (at < end && ((unsigned char)text[at] & 0xC0) == 0x80) at++;
    return at;
}

static size_t before(const char *text, size_t start, size_t at) {
    at--;
    while (at > start && ((unsigned char)text[at] & 0xC0) == 0x80) at--;
    return at;
}

/* A terminal would execute control characters; they become blanks, also U+0080..U+009F. */
static bool is_control(const char *character) {
    unsigned char c = (unsigned char)character[0];
    return c < 0x20 || c == 0x7F || (c == 0xC2 && (unsigned char)character[1] < 0xA0);
}

static void add_visible(sl_str *s, const char *character, size_t n) {
    if (is_control(character))
        sl_str_add_char(s, ' ');
    else
        sl_str_add_bytes(s, character, n);
}

const char *sl_text_visible(sl_arena *a, const char *text) {
    static const char instead[] = "\xEF\xBF\xBD"; // U+FFFD, of three bytes
    const size_t n = strlen(text);
    char *out = sl_arena_alloc(a, 3 * n + 1), *w = out;
    if (!out) return NULL;
    for (size_t i = 0; i < n;) {
        int used;
        const bool good = sl_utf8_read(text + i, n - i, &used) >= 0;
        const char *from = !good ? instead : is_control(text + i) ? " " : text + i;
        const size_t bytes = !good ? 3 : is_control(text + i) ? 1 : (size_t)used;
        memcpy(w, from, bytes);
        w += bytes;
        i += (size_t)used;
    }
    *w = '\0';
    return out;
}

/* Letters, digits and what no shell gives a meaning; all that is not ASCII. */
static bool is_plain(char c) {
    return (unsigned char)c >= 0x80 || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || (c && strchr("_-./:,+=@%", c));
}

void sl_str_add_word(sl_str *s, const char *text) {
    const char *p = text;
    while (is_plain(*p)) p++;
    if (*text && !*p) {
        sl_str_add(s, text);
        return;
    }
    sl_str_add_char(s, '\'');
    for (p = text; *p; p++)
        if (*p == '\'')
            sl_str_add(s, "'\\''"); // ends the quotes for one that is escaped
        else
            sl_str_add_char(s, *p);
    sl_str_add_char(s, '\'');
}

void sl_str_add_excerpt(sl_str *s, const char *text, size_t offset) {
    enum { AROUND = 34 }; // characters on each side: fits a terminal of 80 columns
    size_t n = strlen(text), line = SL_MIN(offset, n), end = line;
    while (line > 0 && text[line - 1] != '\n') line--;
    while (text[end] && text[end] != '\n') end++;

    size_t from = SL_MIN(offset, end), to = from;
    for (int i = 0; i < AROUND && from > line; i++) from = before(text, line, from);
    for (int i = 0; i < AROUND && to < end; i++) to = after(text, end, to);

    const char *cut = "...";
    sl_str_add(s, "    ");
    if (from > line) sl_str_add(s, cut);
    int column = from > line ? 4 + 3 : 4;
    for (size_t i = from, next; i < to; i = next) {
        next = after(text, to, i);
        add_visible(s, text + i, next - i);
        if (i < offset) column++;
    }
    if (to < end) sl_str_add(s, cut);
    sl_str_addf(s, "\n%*s^", column, "");
}

void sl_str_add_quoted(sl_str *s, const char *text) {
    sl_str_add_char(s, '"');
    while (*text) {
        // a run of bytes without escapes is copied at once
        size_t plain = 0;
        while ((unsigned char)text[plain] >= 0x20 && (unsigned char)text[plain] < 0x7F &&
               text[plain] != '"' && text[plain] != '\\')
            plain++;
        if (plain > 0) sl_str_add_bytes(s, text, plain);
        text += plain;
        unsigned char c = (unsigned char)*text;
        if (c == '\0') break;

        int n;
        const bool good = sl_utf8_read(text, strnlen(text, 4), &n) >= 0;
        if (c == '"' || c == '\\') {
            sl_str_add_char(s, '\\');
            sl_str_add_char(s, (char)c);
        } else if (c == '\n') {
            sl_str_add(s, "\\n");
        } else if (c == '\t') {
            sl_str_add(s, "\\t");
        } else if (c < 0x20 || c == 0x7F) {
            sl_str_addf(s, "\\u%04x", c);
        } else if (good) {
            sl_str_add_bytes(s, text, (size_t)n);
        } else {
            sl_str_add(s, "\\ufffd");
        }
        text += n;
    }
    sl_str_add_char(s, '"');
}

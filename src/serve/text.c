/* text - growing text, JSON text, and what depends on the locale, in the C locale. */
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve/serve_impl.h"

/* A constant in glibc and musl: newlocale takes no memory and cannot fail. */
static locale_t c_locale(void) { return newlocale(LC_ALL_MASK, "C", (locale_t)0); }

int sl_serve__format_list(char *text, size_t size, const char *format, va_list args) {
    locale_t before = uselocale(c_locale());
    const int n = vsnprintf(text, size, format, args);
    uselocale(before);
    return n;
}

int sl_serve__format(char *text, size_t size, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const int n = sl_serve__format_list(text, size, format, args);
    va_end(args);
    return n;
}

bool sl_serve__real(double *out, const char *text) {
    char *end;
    *out = strtod_l(text, &end, c_locale());
    return end != text && *end == '\0' && isfinite(*out) && !strpbrk(text, "xX");
}

bool sl_serve__whole(int64_t *out, const char *text) {
    const char *digits = text + (*text == '-');
    int64_t n = 0;
    if (strlen(digits) < 1 || strlen(digits) > 18) return false;
    for (const char *p = digits; *p; p++) {
        if (*p < '0' || *p > '9') return false;
        n = 10 * n + (*p - '0');
    }
    *out = *text == '-' ? -n : n;
    return true;
}

const char *sl_serve__strerror(int error) { return strerror_l(error, c_locale()); }

/* An allocation of this thread failed. jansson does not always report that, and may return a tree
 * that is wrong (io/json_read.c). */
static _Thread_local bool out_of_memory;

static void *allocate(size_t size) {
    void *p = malloc(size);
    if (!p) out_of_memory = true;
    return p;
}

static void release(void *p) { free(p); }

void sl_serve__json_begin(void) { json_set_alloc_funcs(allocate, release); }

json_t *sl_serve__json_read(json_error_t *e, const char *text, size_t n) {
    out_of_memory = false;
    locale_t before = uselocale(c_locale());
    json_t *j = json_loadb(text, n, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, e);
    uselocale(before);
    if (!out_of_memory) return j;
    json_decref(j);
    *e = (json_error_t){ .line = 1, .column = 1, .text = "out of memory" };
    e->text[JSON_ERROR_TEXT_LENGTH - 1] = (char)json_error_out_of_memory; // json_error_code
    return NULL;
}

/* ---------------------------------------------------------------- growing text -------------- */

static bool reserve(sl_serve__text *t, size_t n) {
    if (t->failed) return false;
    if (n < t->cap - t->len) return true;
    const size_t cap = 2 * (t->len + n) + 256;
    char *text = realloc(t->text, cap);
    if (!text) {
        t->failed = true;
        return false;
    }
    t->text = text;
    t->cap = cap;
    return true;
}

void sl_serve__add(sl_serve__text *t, const char *bytes, size_t n) {
    if (!reserve(t, n)) return;
    if (n) memcpy(t->text + t->len, bytes, n);
    t->len += n;
    t->text[t->len] = '\0';
}

void sl_serve__puts(sl_serve__text *t, const char *text) { sl_serve__add(t, text, strlen(text)); }

void sl_serve__addf(sl_serve__text *t, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const int n = sl_serve__format_list(NULL, 0, format, args);
    va_end(args);
    if (n < 0 || !reserve(t, (size_t)n)) return;
    va_start(args, format);
    sl_serve__format_list(t->text + t->len, (size_t)n + 1, format, args);
    va_end(args);
    t->len += (size_t)n;
}

void sl_serve__clear(sl_serve__text *t) {
    free(t->text);
    *t = (sl_serve__text){ 0 };
}

/* ---------------------------------------------------------------- UTF-8 --------------------- */

/* Bytes of the character at p, of which there are n left; 0: it is none. The table of well-formed
 * sequences of the Unicode standard, 3.9: range of the second byte. */
static size_t utf8_length(const char *text, size_t left) {
    const unsigned char *p = (const unsigned char *)text;
    const size_t n = p[0] < 0x80 ? 1 : p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : 4;
    const unsigned low = p[0] == 0xE0 ? 0xA0 : p[0] == 0xF0 ? 0x90 : 0x80;
    const unsigned high = p[0] == 0xED ? 0x9F : p[0] == 0xF4 ? 0x8F : 0xBF;
    if (n > left) return 0;
    if (n > 1 && (p[0] < 0xC2 || p[0] > 0xF4 || p[1] < low || p[1] > high)) return 0;
    for (size_t i = 2; i < n; i++)
        if ((p[i] & 0xC0) != 0x80) return 0;
    return n;
}

bool sl_serve__is_utf8(const char *text, size_t size) {
    for (size_t i = 0; i < size;) {
        const size_t n = utf8_length(text + i, size - i);
        if (n == 0) return false;
        i += n;
    }
    return true;
}

/* ---------------------------------------------------------------- JSON text ----------------- */

/* A comma, unless this is the first of its list, and the name. */
static void begin(sl_serve__text *t, const char *name) {
    const char last = t->len > 0 ? t->text[t->len - 1] : '{';
    if (last != '{' && last != '[' && last != ':') sl_serve__add(t, ",", 1);
    if (!name) return;
    sl_serve__quote(t, name, strlen(name));
    sl_serve__add(t, ":", 1);
}

/* Headers may be any bytes, and a text that was cut may end within a character: what is no UTF-8
 * becomes U+FFFD. */
void sl_serve__quote(sl_serve__text *t, const char *value, size_t n) {
    sl_serve__add(t, "\"", 1);
    size_t from = 0;
    for (size_t i = 0; i < n;) {
        const unsigned char c = (unsigned char)value[i];
        const size_t length = utf8_length(value + i, n - i);
        if (length > 0 && c >= 0x20 && c != '"' && c != '\\') {
            i += length;
            continue;
        }
        sl_serve__add(t, value + from, i - from);
        from = ++i;
        if (length == 0)
            sl_serve__puts(t, "\xEF\xBF\xBD");
        else if (c == '"' || c == '\\')
            sl_serve__addf(t, "\\%c", c);
        else
            sl_serve__addf(t, "\\u%04x", c);
    }
    sl_serve__add(t, value + from, n - from);
    sl_serve__add(t, "\"", 1);
}

void sl_serve__json_open(sl_serve__text *t, const char *name, char bracket) {
    begin(t, name);
    sl_serve__add(t, &bracket, 1);
}

void sl_serve__json_close(sl_serve__text *t, char bracket) { sl_serve__add(t, &bracket, 1); }

void sl_serve__json_raw(sl_serve__text *t, const char *name, const char *json) {
    begin(t, name);
    sl_serve__puts(t, json ? json : "null");
}

void sl_serve__json_text(sl_serve__text *t, const char *name, const char *value) {
    begin(t, name);
    if (value)
        sl_serve__quote(t, value, strlen(value));
    else
        sl_serve__puts(t, "null");
}

void sl_serve__json_int(sl_serve__text *t, const char *name, int64_t value) {
    begin(t, name);
    sl_serve__addf(t, "%lld", (long long)value);
}

void sl_serve__json_bool(sl_serve__text *t, const char *name, bool value) {
    begin(t, name);
    sl_serve__puts(t, value ? "true" : "false");
}

/* The fewest digits that read back as the same number. */
void sl_serve__json_real(sl_serve__text *t, const char *name, double value) {
    char digits[40];
    double back;
    begin(t, name);
    if (!isfinite(value)) {
        sl_serve__puts(t, "null");
        return;
    }
    for (int precision = 15; precision <= 17; precision++) {
        sl_serve__format(digits, sizeof digits, "%.*g", precision, value);
        if (sl_serve__real(&back, digits) && back == value) break;
    }
    sl_serve__puts(t, digits);
}

void sl_serve__json_reals(sl_serve__text *t, const char *name, const double *value, int64_t n) {
    sl_serve__json_open(t, name, '[');
    for (int64_t i = 0; i < n; i++) sl_serve__json_real(t, NULL, value[i]);
    sl_serve__json_close(t, ']');
}

/* The comma or bracket behind a value, with all that is in it. */
static const char *skip_value(const char *at) {
    int depth = 0;
    for (bool quoted = false; *at; at++) {
        if (quoted && *at == '\\' && at[1]) {
            at++;
            continue;
        }
        if (*at == '"') quoted = !quoted;
        if (quoted) continue;
        const bool closes = *at == '}' || *at == ']';
        if (depth == 0 && (closes || *at == ',')) return at;
        depth += *at == '{' || *at == '[';
        depth -= closes;
    }
    return at;
}

const char *sl_serve__json_member(const char *object, const char *name, size_t *n) {
    const size_t length = strlen(name);
    for (const char *at = object; *at == '{' || *at == ',';) {
        const char *key = at + 1, *colon = key;
        while (*colon && *colon != ':') colon++; // names of the library have none
        if (*colon != ':') return NULL;
        const char *end = skip_value(colon + 1);
        const bool same = (size_t)(colon - key) == length + 2 && key[0] == '"' &&
                          memcmp(key + 1, name, length) == 0;
        if (same) {
            *n = (size_t)(end - colon) - 1;
            return colon + 1;
        }
        at = end;
    }
    return NULL;
}

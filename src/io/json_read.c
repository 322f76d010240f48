/* json_read - JSON text to a tree, by jansson, with our errors. */
#include <string.h>

#include <jansson.h>

#include "io/io_test.h"

/* An allocation failed. jansson does not always report that, so its allocator sets this. */
static _Thread_local bool out_of_memory;

static void *allocate(size_t size) {
    void *p = sl_malloc(size, 1);
    if (!p) out_of_memory = true;
    return p;
}

void sl_io_json_count_memory(void) { json_set_alloc_funcs(allocate, sl_free); }

/* json_loadb with our flags. NULL with *e, or with SL_ENOMEM in *st. After a failed allocation even
 * a returned tree may be wrong: jansson 2.14 drops a character of a token whose buffer could not
 * grow, so that 99999999999999999999 may be read as 1e19. Numbers are read in the C locale: jansson
 * uses only the first byte of the host's decimal point, and aborts where that has two, as in
 * ps_AF. */
static json_t *load(sl_status *st, json_error_t *e, const char *text, size_t n, size_t flags) {
    out_of_memory = false;
    locale_t before = sl_locale_enter();
    json_t *j = json_loadb(text, n, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | flags, e);
    sl_locale_leave(before);
    *st = SL_OK;
    if (out_of_memory || (!j && json_error_code(e) == json_error_out_of_memory)) {
        json_decref(j);
        j = NULL;
        *st = sl_fail(SL_ENOMEM, "no memory for JSON of %zu bytes", n);
    }
    return j;
}

sl_status sl_io_json_parse(sl_json **out, const char *text, size_t n) {
    sl_status st;
    json_error_t e;
    json_t *j = load(&st, &e, text, n, 0);
    if (st != SL_OK) return st;
    if (!j)
        return sl_fail(SL_EFORMAT, "JSON, line %d, column %d: %s", e.line, SL_MAX(e.column, 1),
                       e.text);
    *out = j;
    return SL_OK;
}

/* The length of the word around line[at], with its sign; *begin is where it begins. */
static int word_around(size_t *begin, const char *line, size_t n, size_t at) {
    size_t end = at;
    while (at > 0 && sl_isalpha(line[at - 1])) at--;
    if (at > 0 && (line[at - 1] == '-' || line[at - 1] == '+')) at--;
    while (end < n && sl_isalpha(line[end])) end++;
    *begin = at;
    return (int)SL_MIN(end - at, (size_t)100);
}

static bool is_word(const char *text, int n, const char *word) {
    if (n > 0 && (*text == '-' || *text == '+')) text++, n--;
    return (size_t)n == strlen(word) && sl_strncasecmp(text, word, (size_t)n) == 0;
}

/* jansson's messages begin or end with "end of file"; here it is the end of a line. Quoted input
 * ends with a quote, so "end of file" inside it stays. */
static void replace_file_by_line(char *text) {
    static const char end[] = "end of file";
    const size_t n = strlen(text), len = sizeof end - 1;
    char *at = text;
    if (n >= len && strncmp(text, end, len) != 0) at = text + n - len;
    if (strncmp(at, end, len) == 0) memcpy(at + strlen("end of "), "line", 4);
}

/* The error of a line. jansson's position is after a bad word, but after only the sign of a bad
 * number. */
static sl_status fail_line(json_error_t *e, const char *line, size_t n) {
    size_t blank = 0;
    while (blank < n && sl_isspace(line[blank])) blank++;
    if (blank == n) return sl_fail(SL_EFORMAT, "the line is empty");

    size_t at = (size_t)SL_MAX(e->position, 0), begin;
    at = SL_MIN(at, n);
    const int word = word_around(&begin, line, n, at);
    const char *text = line + begin;
    if (is_word(text, word, "nan") || is_word(text, word, "inf") || is_word(text, word, "infinity"))
        return sl_fail(SL_EFORMAT, "column %d: %.*s is no JSON number",
                       SL_MAX(e->column - (int)(at - begin) + 1, 1), word, text);
    replace_file_by_line(e->text);
    return sl_fail(SL_EFORMAT, "JSON, column %d: %s", SL_MAX(e->column, 1), e->text);
}

sl_status sl_io_json_parse_line(sl_json **out, const char *line, size_t n) {
    sl_status st;
    json_error_t e;
    json_t *j = load(&st, &e, line, n, 0);
    if (!j && st == SL_OK && json_error_code(&e) == json_error_numeric_overflow)
        j = load(&st, &e, line, n, JSON_DECODE_INT_AS_REAL);
    if (st != SL_OK) return st;
    if (!j) return fail_line(&e, line, n);
    *out = j;
    return SL_OK;
}

void sl_io_json_free(sl_json *j) { json_decref(j); }

sl_json_kind sl_io_json_kind_of(const sl_json *j) {
    switch (json_typeof(j)) {
    case JSON_OBJECT: return SL_JSON_OBJECT;
    case JSON_ARRAY: return SL_JSON_ARRAY;
    case JSON_STRING: return SL_JSON_TEXT;
    case JSON_INTEGER: return SL_JSON_INT;
    case JSON_REAL: return SL_JSON_REAL;
    case JSON_TRUE:
    case JSON_FALSE: return SL_JSON_BOOL;
    case JSON_NULL: break;
    }
    return SL_JSON_NULL;
}

const char *sl_io_json_kind_text(sl_json_kind kind) {
    static const char *const text[] = { "null",   "true or false", "a whole number", "a number",
                                        "a text", "an array",      "an object" };
    SL_ASSERT((unsigned)kind < (unsigned)SL_LEN(text));
    return text[kind];
}

bool sl_io_json_bool(const sl_json *j) {
    SL_ASSERT(json_is_boolean(j));
    return json_is_true(j);
}

int64_t sl_io_json_int(const sl_json *j) {
    SL_ASSERT(json_is_integer(j));
    return json_integer_value(j);
}

double sl_io_json_real(const sl_json *j) {
    SL_ASSERT(json_is_number(j));
    return json_number_value(j);
}

const char *sl_io_json_text(const sl_json *j) {
    SL_ASSERT(json_is_string(j));
    return json_string_value(j);
}

int sl_io_json_count(const sl_json *j) {
    SL_ASSERT(json_is_array(j) || json_is_object(j));
    return (int)(json_is_array(j) ? json_array_size(j) : json_object_size(j));
}

const sl_json *sl_io_json_at(const sl_json *array, int i) {
    SL_ASSERT(json_is_array(array) && i >= 0 && (size_t)i < json_array_size(array));
    return json_array_get(array, (size_t)i);
}

const sl_json *sl_io_json_get(const sl_json *object, const char *name) {
    SL_ASSERT(json_is_object(object));
    return json_object_get(object, name);
}

double sl_io_json_get_real(const sl_json *object, const char *name, double otherwise) {
    const sl_json *j = object ? sl_io_json_get(object, name) : NULL;
    return json_is_number(j) ? sl_io_json_real(j) : otherwise;
}

int64_t sl_io_json_get_int(const sl_json *object, const char *name, int64_t otherwise) {
    const sl_json *j = object ? sl_io_json_get(object, name) : NULL;
    return json_is_integer(j) ? sl_io_json_int(j) : otherwise;
}

bool sl_io_json_get_bool(const sl_json *object, const char *name, bool otherwise) {
    const sl_json *j = object ? sl_io_json_get(object, name) : NULL;
    return json_is_boolean(j) ? sl_io_json_bool(j) : otherwise;
}

const char *sl_io_json_get_text(const sl_json *object, const char *name, const char *otherwise) {
    const sl_json *j = object ? sl_io_json_get(object, name) : NULL;
    return json_is_string(j) ? sl_io_json_text(j) : otherwise;
}

static sl_json_member member(void *at) {
    if (!at) return (sl_json_member){ 0 };
    return (sl_json_member){ json_object_iter_key(at), json_object_iter_value(at), at };
}

/* jansson's iterators take a pointer to non-const but do not change the object. */
sl_json_member sl_io_json_first(const sl_json *object) {
    SL_ASSERT(json_is_object(object));
    return member(json_object_iter((json_t *)(uintptr_t)object));
}

sl_json_member sl_io_json_next(const sl_json *object, sl_json_member m) {
    return member(json_object_iter_next((json_t *)(uintptr_t)object, m.at));
}

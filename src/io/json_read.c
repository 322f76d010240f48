/* json_read - JSON text to a tree, by jansson, with our errors. */
#include <string.h>

#include <jansson.h>

#include "io/io_test.h"

/* jansson does not always say that memory was short, so its allocator does. */
static _Thread_local bool starved;

static void *give(size_t size) {
    void *p = sl_malloc(size, 1);
    if (!p) starved = true;
    return p;
}

void sl_json_count_memory(void) { json_set_alloc_funcs(give, sl_free); }

sl_status sl_json_parse(sl_json **out, const char *text, size_t n) {
    starved = false;
    json_error_t e;
    json_t *j = json_loadb(text, n, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &e);
    if (!j && (starved || json_error_code(&e) == json_error_out_of_memory))
        return sl_fail(SL_ENOMEM, "no memory for JSON of %zu bytes", n);
    if (!j)
        return sl_fail(SL_EFORMAT, "JSON, line %d, column %d: %s", e.line, SL_MAX(e.column, 1),
                       e.text);
    *out = j;
    return SL_OK;
}

void sl_json_free(sl_json *j) { json_decref(j); }

sl_json_kind sl_json_kind_of(const sl_json *j) {
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

const char *sl_json_kind_text(sl_json_kind kind) {
    static const char *const text[] = { "null",   "true or false", "a whole number", "a number",
                                        "a text", "an array",      "an object" };
    SL_ASSERT((unsigned)kind < (unsigned)SL_LEN(text));
    return text[kind];
}

bool sl_json_bool(const sl_json *j) {
    SL_ASSERT(json_is_boolean(j));
    return json_is_true(j);
}

int64_t sl_json_int(const sl_json *j) {
    SL_ASSERT(json_is_integer(j));
    return json_integer_value(j);
}

double sl_json_real(const sl_json *j) {
    SL_ASSERT(json_is_number(j));
    return json_number_value(j);
}

const char *sl_json_text(const sl_json *j) {
    SL_ASSERT(json_is_string(j));
    return json_string_value(j);
}

int sl_json_count(const sl_json *j) {
    SL_ASSERT(json_is_array(j) || json_is_object(j));
    return (int)(json_is_array(j) ? json_array_size(j) : json_object_size(j));
}

const sl_json *sl_json_at(const sl_json *array, int i) {
    SL_ASSERT(json_is_array(array) && i >= 0 && (size_t)i < json_array_size(array));
    return json_array_get(array, (size_t)i);
}

const sl_json *sl_json_get(const sl_json *object, const char *name) {
    SL_ASSERT(json_is_object(object));
    return json_object_get(object, name);
}

static sl_json_member member(void *at) {
    if (!at) return (sl_json_member){ 0 };
    return (sl_json_member){ json_object_iter_key(at), json_object_iter_value(at), at };
}

/* jansson's walk takes a pointer to something it may change, but does not change it. */
sl_json_member sl_json_first(const sl_json *object) {
    SL_ASSERT(json_is_object(object));
    return member(json_object_iter((json_t *)(uintptr_t)object));
}

sl_json_member sl_json_next(const sl_json *object, sl_json_member m) {
    return member(json_object_iter_next((json_t *)(uintptr_t)object, m.at));
}

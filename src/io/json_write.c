/* json_write - JSON straight into a text. */
#include <math.h>
#include <string.h>

#include "io/io.h"

/* What precedes a value: the comma and the name. */
static void begin(sl_str *s, const char *name) {
    if (s->len > 0) {
        char last = s->text[s->len - 1];
        if (last != '{' && last != '[' && last != '\n') sl_str_add_char(s, ',');
    }
    if (name) {
        sl_str_add_quoted(s, name);
        sl_str_add_char(s, ':');
    }
}

void sl_io_json_open(sl_str *s, const char *name, char bracket) {
    SL_ASSERT(bracket == '{' || bracket == '[');
    begin(s, name);
    sl_str_add_char(s, bracket);
}

void sl_io_json_close(sl_str *s, char bracket) {
    SL_ASSERT(bracket == '}' || bracket == ']');
    sl_str_add_char(s, bracket);
}

void sl_io_json_add_null(sl_str *s, const char *name) {
    begin(s, name);
    sl_str_add(s, "null");
}

void sl_io_json_add_bool(sl_str *s, const char *name, bool value) {
    begin(s, name);
    sl_str_add(s, value ? "true" : "false");
}

void sl_io_json_add_int(sl_str *s, const char *name, int64_t value) {
    begin(s, name);
    if (value < 0) sl_str_add_char(s, '-');
    sl_str_add_uint(s, value < 0 ? 0 - (uint64_t)value : (uint64_t)value); // millions in listings
}

void sl_io_json_add_real(sl_str *s, const char *name, double value) {
    if (!isfinite(value)) {
        sl_io_json_add_null(s, name);
        return;
    }
    char text[SL_REAL_TEXT_MAX];
    const int n = sl_real_text(text, value);
    begin(s, name);
    sl_str_add_bytes(s, text, (size_t)n);
}

void sl_io_json_add_text(sl_str *s, const char *name, const char *value) {
    if (!value) {
        sl_io_json_add_null(s, name);
        return;
    }
    begin(s, name);
    sl_str_add_quoted(s, value);
}

void sl_io_json_add_tree(sl_str *s, const char *name, const sl_json *value) {
    switch (sl_io_json_kind_of(value)) {
    case SL_JSON_NULL: sl_io_json_add_null(s, name); break;
    case SL_JSON_BOOL: sl_io_json_add_bool(s, name, sl_io_json_bool(value)); break;
    case SL_JSON_INT: sl_io_json_add_int(s, name, sl_io_json_int(value)); break;
    case SL_JSON_REAL: sl_io_json_add_real(s, name, sl_io_json_real(value)); break;
    case SL_JSON_TEXT: sl_io_json_add_text(s, name, sl_io_json_text(value)); break;
    case SL_JSON_ARRAY:
        sl_io_json_open(s, name, '[');
        for (int i = 0; i < sl_io_json_count(value); i++)
            sl_io_json_add_tree(s, NULL, sl_io_json_at(value, i));
        sl_io_json_close(s, ']');
        break;
    case SL_JSON_OBJECT:
        sl_io_json_open(s, name, '{');
        for (sl_json_member m = sl_io_json_first(value); m.name; m = sl_io_json_next(value, m))
            sl_io_json_add_tree(s, m.name, m.value);
        sl_io_json_close(s, '}');
        break;
    }
}

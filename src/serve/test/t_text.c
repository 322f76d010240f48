/* Growing texts and the JSON that is written in them. */
#include <math.h>

#include "serve/serve_test.h"

/* An object with a member of each kind. */
static void write_all(sl_serve__text *t, const char *text, double x, int64_t i) {
    const double list[] = { x, -x, 0.1 };
    sl_serve__json_open(t, NULL, '{');
    sl_serve__json_text(t, "text", text);
    sl_serve__json_text(t, "none", NULL);
    sl_serve__json_real(t, "real", x);
    sl_serve__json_int(t, "int", i);
    sl_serve__json_bool(t, "bool", true);
    sl_serve__json_reals(t, "reals", list, SL_LEN(list));
    sl_serve__json_raw(t, "raw", "{\"a\":[1,{\"b\":\"}\\\"]\"}]}");
    sl_serve__json_open(t, "empty", '[');
    sl_serve__json_close(t, ']');
    sl_serve__json_close(t, '}');
}

/* Judged by jansson, which shares no code with the writer. */
static void what_is_written_reads_back(void **state) {
    sl_fixture *t = *state;
    static const char *const piece[] = {
        "a", "\"", "\\", "\n", "\x01", "\x7f", "ö", "€", "𝄞", "/"
    };
    for (int i = 0; i < sl_test_iters(t, 500); i++) {
        char text[80] = "";
        json_error_t e;
        sl_serve__text out = { 0 };
        for (int k = 0; k < 12; k++)
            strcat(text, piece[sl_rng_below(&t->rng, (uint32_t)SL_LEN(piece))]);
        const double x =
            ldexp(sl_rng_uniform(&t->rng) - 0.5, (int)sl_rng_below(&t->rng, 200) - 100);
        const int64_t whole = (int64_t)sl_rng_u64(&t->rng) / 2;
        write_all(&out, text, x, whole);
        json_t *j = sl_serve__json_read(&e, out.text, out.len);
        SL_CHECK(t, j, "%s: %s", e.text, out.text);
        SL_CHECK(t, strcmp(json_string_value(json_object_get(j, "text")), text) == 0, "%s",
                 out.text);
        SL_CHECK(t, json_number_value(json_object_get(j, "real")) == x, "%.17g: %s", x, out.text);
        SL_CHECK(t, json_integer_value(json_object_get(j, "int")) == whole, "%s", out.text);
        SL_CHECK(t, json_number_value(json_array_get(json_object_get(j, "reals"), 1)) == -x, "%s",
                 out.text);
        SL_CHECK(t, json_is_null(json_object_get(j, "none")), "%s", out.text);
        json_decref(j);
        sl_serve__clear(&out);
    }
}

/* A header may be any bytes but zero: what is written is UTF-8 even so. */
static void any_bytes_become_json(void **state) {
    sl_fixture *t = *state;
    for (int i = 0; i < sl_test_iters(t, 2000); i++) {
        char bytes[24];
        sl_serve__text out = { 0 };
        const size_t n = sl_rng_below(&t->rng, sizeof bytes);
        for (size_t k = 0; k < n; k++) bytes[k] = (char)(1 + sl_rng_below(&t->rng, 255));
        sl_serve__quote(&out, bytes, n);
        SL_CHECK(t, serve_is_json(out.text, out.len), "not JSON: %s", out.text);
        SL_CHECK(t, sl_serve__is_utf8(out.text, out.len), "not UTF-8: %s", out.text);
        sl_serve__clear(&out);
    }
}

static void numbers_that_are_not_finite_are_null(void **state) {
    sl_fixture *t = *state;
    const double list[] = { NAN, INFINITY, -INFINITY };
    sl_serve__text out = { 0 };
    sl_serve__json_reals(&out, NULL, list, SL_LEN(list));
    SL_CHECK(t, strcmp(out.text, "[null,null,null]") == 0, "%s", out.text);
    sl_serve__clear(&out);
}

static void members_are_found_by_name(void **state) {
    sl_fixture *t = *state;
    static const char *const names[] = { "text", "none", "raw", "empty", "missing" };
    static const char *const values[] = { "\"a,}\\\"b\"", "null", "{\"a\":[1,{\"b\":\"}\\\"]\"}]}",
                                          "[]", NULL };
    sl_serve__text out = { 0 };
    write_all(&out, "a,}\"b", 1.5, 7);
    for (int i = 0; i < SL_LEN(names); i++) {
        size_t n = 0;
        const char *found = sl_serve__json_member(out.text, names[i], &n);
        SL_CHECK(t, !found == !values[i], "%s in %s", names[i], out.text);
        if (found)
            SL_CHECK(t, n == strlen(values[i]) && memcmp(found, values[i], n) == 0, "%s is %.*s",
                     names[i], (int)n, found);
    }
    sl_serve__clear(&out);
}

static void numbers_are_read_whole_or_not_at_all(void **state) {
    sl_fixture *t = *state;
    static const struct {
        const char *text;
        bool whole, real;
    } cases[] = {
        { "12", true, true },
        { "-7", true, true },
        { "", false, false },
        { "-", false, false },
        { "1.5", false, true },
        { "1e3", false, true },
        { "1 ", false, false },
        { "0x10", false, false },
        { "inf", false, false },
        { "nan", false, false },
        { "1,5", false, false },
        { "123456789012345678", true, true },
        { "1234567890123456789", false, true },
    };
    for (int i = 0; i < SL_LEN(cases); i++) {
        int64_t whole;
        double real;
        SL_CHECK(t, sl_serve__whole(&whole, cases[i].text) == cases[i].whole, "\"%s\"",
                 cases[i].text);
        SL_CHECK(t, sl_serve__real(&real, cases[i].text) == cases[i].real, "\"%s\"", cases[i].text);
    }
}

/* A text that lost a piece says so, and takes no more: it is never sent as if it were whole. */
static void a_text_without_memory_has_failed(void **state) {
    sl_fixture *t = *state;
    char text[3000];
    memset(text, '"', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    for (int64_t n = 1;; n++) {
        serve_fault f;
        sl_serve__text out = { 0 };
        serve_fault_begin(&f, n, false);
        write_all(&out, text, 0.1, 3);
        const bool hit = serve_fault_hit(&f);
        SL_CHECK(t, out.failed == hit, "allocation %lld: %s", (long long)n, out.text);
        const size_t len = out.len;
        sl_mem_fail_at(0, false);
        sl_serve__addf(&out, "%d", 1);
        SL_CHECK(t, out.len == len + !hit, "it went on after a failure");
        sl_serve__clear(&out);
        serve_fault_end(&f, t);
        if (!hit) break;
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(what_is_written_reads_back),           SL_TEST(any_bytes_become_json),
        SL_TEST(numbers_that_are_not_finite_are_null), SL_TEST(members_are_found_by_name),
        SL_TEST(numbers_are_read_whole_or_not_at_all), SL_TEST(a_text_without_memory_has_failed),
    };
    return serve_test_main("serve.text", tests, SL_LEN(tests));
}

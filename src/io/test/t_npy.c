/* Headers of .npy files are the bytes that NumPy writes: tests/golden/npy/renew.py. */
#include "fixture/fixture.h"

#include <stdlib.h>
#include <string.h>

#include "io/io.h"

#ifdef SYMLAW_SOURCE_DIR
#define GOLDEN SYMLAW_SOURCE_DIR "/tests/golden/npy/"
#else
#define GOLDEN "tests/golden/npy/"
#endif

static void headers_are_the_bytes_of_numpy(void **state) {
    sl_fixture *t = *state;
    char *text = NULL;
    SL_MUST(t, sl_file_read(&text, NULL, GOLDEN "headers.txt", 1 << 20));
    int lines = 0;
    for (char *p = text; *p; lines++) {
        int64_t shape[32];
        int dims = 0;
        for (; *p != ':'; dims++) shape[dims] = strtoll(p, &p, 10);
        sl_str s = { 0 };
        sl_io_npy_header(&s, shape, dims);
        SL_MUST(t, sl_str_status(&s));

        sl_str hex = { 0 };
        for (size_t i = 0; i < s.len; i++) sl_str_addf(&hex, "%02x", (unsigned char)s.text[i]);
        SL_MUST(t, sl_str_status(&hex));
        const size_t n = strcspn(++p, "\n");
        SL_CHECK(t, hex.len == n && memcmp(hex.text, p, n) == 0, "line %d: %s, not %.*s", lines + 1,
                 sl_str_text(&s) + 10, (int)n, p);
        p += n + 1;
        sl_str_clear(&hex);
        sl_str_clear(&s);
    }
    SL_CHECK(t, lines > 20, "only %d headers", lines);
    sl_free(text);
}

static void the_first_dimension_may_be_filled_in_later(void **state) {
    sl_fixture *t = *state;
    for (int dims = 1; dims <= 32; dims++) {
        int64_t shape[32] = { 0, 64, 3 };
        sl_str begun = { 0 }, ended = { 0 };
        sl_io_npy_header(&begun, shape, dims);
        shape[0] = INT64_MAX;
        sl_io_npy_header(&ended, shape, dims);
        SL_CHECK(t, begun.len == ended.len, "%d dimensions: %zu bytes, then %zu", dims, begun.len,
                 ended.len);
        sl_str_clear(&begun);
        sl_str_clear(&ended);
    }
}

/* Also appended to other text, which does not change the header's own bytes. */
static void a_whole_file_is_as_numpy_saves_it(void **state) {
    sl_fixture *t = *state;
    static const int64_t shape[] = { 2, 3, 4 };
    char *file = NULL;
    size_t n = 0;
    SL_MUST(t, sl_file_read(&file, &n, GOLDEN "values.npy", 1 << 20));
    for (int before = 0; before < 70; before += 23) {
        sl_str s = { 0 };
        for (int i = 0; i < before; i++) sl_str_add_char(&s, '#');
        sl_io_npy_header(&s, shape, SL_LEN(shape));
        for (int i = 0; i < 24; i++) {
            const double v = i / 3.0;
            sl_str_add_bytes(&s, &v, sizeof v);
        }
        SL_MUST(t, sl_str_status(&s));
        SL_CHECK(t, s.len == n + (size_t)before && memcmp(s.text + before, file, n) == 0,
                 "%d bytes before: not the file of NumPy", before);
        sl_str_clear(&s);
    }
    sl_free(file);
}

static sl_status header(void) {
    static const int64_t shape[] = { 1000, 64, 3 };
    sl_str s = { 0 };
    sl_io_npy_header(&s, shape, SL_LEN(shape));
    sl_status st = sl_str_status(&s);
    sl_str_clear(&s);
    return st;
}

static void lack_of_memory_is_reported(void **state) {
    sl_fixture *t = *state;
    SL_EACH_ALLOCATION(t, header());
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(headers_are_the_bytes_of_numpy),
        SL_TEST(the_first_dimension_may_be_filled_in_later),
        SL_TEST(a_whole_file_is_as_numpy_saves_it),
        SL_TEST(lack_of_memory_is_reported),
    };
    return sl_test_main("io.npy", tests, SL_LEN(tests));
}

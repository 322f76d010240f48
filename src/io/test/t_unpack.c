/* Bytes of files, packed or not: any packing and any sizes of reads give the same bytes; damage is
 * reported and never taken for the end. */
#include <string.h>
#include <zlib.h>

#include "fixture/fixture.h"
#include "io/io_impl.h"

static const char *file_of(const void *bytes, size_t n) {
    return sl_test_write(sl_test_path("bytes"), bytes, n);
}

/* Appends `n` bytes as a gzip member. */
static void pack(sl_str *out, const char *bytes, size_t n, int level) {
    unsigned char buffer[4096];
    z_stream z = { .next_in = (unsigned char *)bytes, .avail_in = (unsigned)n };
    assert_int_equal(deflateInit2(&z, level, Z_DEFLATED, 16 + 15, 8, Z_DEFAULT_STRATEGY), Z_OK);
    int answer;
    do {
        z.next_out = buffer;
        z.avail_out = sizeof buffer;
        answer = deflate(&z, Z_FINISH);
        sl_str_add_bytes(out, buffer, sizeof buffer - z.avail_out);
    } while (answer == Z_OK);
    assert_int_equal(answer, Z_STREAM_END);
    deflateEnd(&z);
}

static void random_bytes(sl_str *s, sl_rng *rng, size_t n) {
    const uint32_t range = 1 + sl_rng_below(rng, 255);
    sl_str_truncate(s, 0);
    for (size_t i = 0; i < n; i++) sl_str_add_char(s, (char)sl_rng_below(rng, range));
}

/* All of a file, `piece` bytes asked for at a time. */
static sl_status read_all(sl_str *out, const char *path, size_t piece) {
    sl_status st;
    sl_io__bytes *b = NULL;
    char buffer[10000];
    size_t got;
    sl_str_truncate(out, 0);
    SL_GO(sl_io__bytes_open(&b, path));
    do {
        SL_GO(sl_io__bytes_read(&got, b, buffer, piece));
        sl_str_add_bytes(out, buffer, got);
    } while (got > 0);
    SL_GO(sl_io__bytes_read(&got, b, buffer, piece)); // the end stays the end
    if (got > 0) st = sl_fail(SL_EINVAL, "bytes behind the end");
    if (sl_io__bytes_taken(b) != sl_io__bytes_size(b)) st = sl_fail(SL_EINVAL, "not all was read");
done:
    sl_io__bytes_close(b);
    return st == SL_OK ? sl_str_status(out) : st;
}

static void check_same(sl_fixture *t, const sl_str *got, const sl_str *want) {
    SL_CHECK(t, got->len == want->len && (!got->len || !memcmp(got->text, want->text, got->len)),
             "%zu bytes, not the %zu that were packed", got->len, want->len);
}

static void packed_bytes_are_unpacked(void **state) {
    sl_fixture *t = *state;
    sl_str all = { 0 }, part = { 0 }, packed = { 0 }, got = { 0 };
    for (int i = 0; i < sl_test_iters(t, 60); i++) {
        const int parts = 1 + (int)sl_rng_below(&t->rng, 4);
        sl_str_truncate(&all, 0);
        sl_str_truncate(&packed, 0);
        for (int k = 0; k < parts; k++) {
            random_bytes(&part, &t->rng, sl_rng_below(&t->rng, i % 6 ? 3000 : 100000));
            sl_str_add_bytes(&all, sl_str_text(&part), part.len);
            pack(&packed, sl_str_text(&part), part.len, (int)sl_rng_below(&t->rng, 10));
        }
        for (int k = (int)sl_rng_below(&t->rng, 3) * 300; k > 0; k--) sl_str_add_char(&packed, 0);
        const size_t piece = 1 + sl_rng_below(&t->rng, i % 2 ? 10 : 10000);
        SL_MUST(t, read_all(&got, file_of(packed.text, packed.len), piece));
        check_same(t, &got, &all);
        // and as it is
        all.len = all.len && (unsigned char)all.text[0] == 0x1F ? 0 : all.len;
        SL_MUST(t, read_all(&got, file_of(sl_str_text(&all), all.len), piece));
        check_same(t, &got, &all);
    }
    sl_str_clear(&all);
    sl_str_clear(&part);
    sl_str_clear(&packed);
    sl_str_clear(&got);
}

/* Files that begin a little like packed ones. */
static void the_first_two_bytes_decide(void **state) {
    sl_fixture *t = *state;
    static const char *const plain[] = { "", "\x1F", "\x1F\n", "\x8B\x1F", "\x1F\x8A\x08" };
    sl_str got = { 0 };
    for (int i = 0; i < SL_LEN(plain); i++) {
        const size_t n = strlen(plain[i]);
        SL_MUST(t, read_all(&got, file_of(plain[i], n), 1));
        SL_CHECK(t, got.len == n && memcmp(sl_str_text(&got), plain[i], n) == 0, "case %d", i);
    }
    sl_str_clear(&got);
}

/* Truncated anywhere, or with any bit flipped after its magic, a packed file gives an error or,
 * where the bit has no effect (time, system), the packed bytes. */
static void damage_is_reported(void **state) {
    sl_fixture *t = *state;
    sl_str all = { 0 }, packed = { 0 }, got = { 0 };
    for (int i = 0; i < 200; i++) sl_str_addf(&all, "%d,%d\n", i, i * i);
    pack(&packed, all.text, all.len, 6);
    int reported = 0;
    for (size_t n = 2; n < packed.len; n++) {
        const sl_status st = read_all(&got, file_of(packed.text, n), 100);
        SL_CHECK(t, st == SL_EIO, "cut after %zu of %zu: %s", n, packed.len, sl_status_text(st));
        SL_CHECK(t, strstr(sl_last_error(), "bytes cannot be unpacked: it ends too early"), "%s",
                 sl_last_error());
    }
    for (size_t bit = 16; bit < 8 * packed.len; bit += 1 + sl_rng_below(&t->rng, 6)) {
        packed.text[bit / 8] ^= (char)(1 << bit % 8);
        const sl_status st = read_all(&got, file_of(packed.text, packed.len), 100);
        packed.text[bit / 8] ^= (char)(1 << bit % 8);
        SL_CHECK(t, st == SL_OK || st == SL_EIO, "bit %zu: %s", bit, sl_status_text(st));
        if (st == SL_OK) check_same(t, &got, &all);
        reported += st == SL_EIO;
    }
    SL_CHECK(t, reported > 100, "only %d reported", reported);
    sl_str_add(&packed, "\n1,2\n");
    assert_int_equal(read_all(&got, file_of(packed.text, packed.len), 100), SL_EIO);
    SL_CHECK(t, strstr(sl_last_error(), "something else stands behind its end"), "%s",
             sl_last_error());
    sl_str_clear(&all);
    sl_str_clear(&packed);
    sl_str_clear(&got);
}

/* Lines of a packed file are those of the file. */
static void packed_lines_are_lines(void **state) {
    sl_fixture *t = *state;
    sl_str all = { 0 }, packed = { 0 };
    sl_str_add(&all, "\xEF\xBB\xBF");
    for (int i = 1; i <= 30000; i++) sl_str_addf(&all, "line %d\r\n", i);
    pack(&packed, all.text, all.len, 6);
    sl_lines *l = NULL;
    SL_MUST(t, sl_io_lines_open(&l, file_of(packed.text, packed.len), 20));
    for (int i = 1; i <= 30001; i++) {
        const char *line;
        size_t n;
        char want[32];
        SL_MUST(t, sl_io_lines_next(&line, &n, l));
        snprintf(want, sizeof want, "line %d", i);
        SL_CHECK(t, i > 30000 ? !line : line && n == strlen(want) && memcmp(line, want, n) == 0,
                 "not line %d", i);
    }
    sl_io_lines_close(l);
    sl_str_clear(&all);
    sl_str_clear(&packed);
}

/* Also zlib's allocations. */
static void lack_of_memory_is_reported(void **state) {
    sl_fixture *t = *state;
    sl_str packed = { 0 }, got = { 0 };
    char zeros[5000] = { 0 };
    pack(&packed, zeros, sizeof zeros, 6);
    const char *path = file_of(packed.text, packed.len);
    sl_str_clear(&packed);
    SL_MUST(t, read_all(&got, path, 5000)); // got is large enough from now on
    SL_EACH_ALLOCATION(t, read_all(&got, path, 5000));
    sl_str_clear(&got);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(packed_bytes_are_unpacked),  SL_TEST(the_first_two_bytes_decide),
        SL_TEST(damage_is_reported),         SL_TEST(packed_lines_are_lines),
        SL_TEST(lack_of_memory_is_reported),
    };
    return sl_test_main("io.unpack", tests, SL_LEN(tests));
}

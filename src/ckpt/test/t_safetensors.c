/* Files of tensors: ours load to the bit, those of Python's safetensors are read, and any other
 * file is refused with the reason. */
#include "fixture/fixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ckpt/ckpt.h"
#include "io/io_test.h"

#define GOLDEN "tests/golden/safetensors/"

/* ---------------------------------------------------------------- helpers ------------------- */

static char *get(sl_fixture *t, const char *path, size_t *n) {
    char *bytes = NULL;
    SL_MUST(t, sl_file_read(&bytes, n, path, 1 << 24));
    return bytes;
}

static void flip(const char *path, size_t at, int bit) {
    FILE *f = fopen(path, "r+b");
    assert_non_null(f);
    assert_int_equal(fseek(f, (long)at, SEEK_SET), 0);
    const int byte = fgetc(f) ^ 1 << bit;
    assert_int_equal(fseek(f, (long)at, SEEK_SET), 0);
    assert_int_equal(fputc(byte, f), byte);
    assert_int_equal(fclose(f), 0);
}

/* A file of any header and as many zeros as data. */
static const char *made(const char *header, size_t data) {
    static char bytes[4096];
    const char *path = sl_test_path("made");
    const uint64_t n = strlen(header);
    assert_true(8 + n + data <= sizeof bytes);
    memset(bytes, 0, sizeof bytes);
    memcpy(bytes, &n, 8);
    memcpy(bytes + 8, header, n);
    sl_test_write(path, bytes, 8 + n + data);
    return path;
}

/* It must be refused as SL_EFORMAT, with the name of the file and the reason. */
static void refused(sl_fixture *t, const char *path, const char *reason) {
    sl_st_file *f = NULL;
    sl_fail_restore("");
    sl_status st = sl_ckpt_st_open(&f, path);
    SL_CHECK(t, st == SL_EFORMAT && !f, "\"%s\" expected, but it is %s: %s", reason,
             sl_status_text(st), sl_last_error());
    SL_CHECK(t, strstr(sl_last_error(), reason) && strstr(sl_last_error(), path),
             "\"%s\" expected: %s", reason, sl_last_error());
}

/* The file of tests/golden/safetensors/renew.py. */
static const int64_t count = -7;
static const double thirds[] = { 0, 1 / 3.0, 2 / 3.0, 1, 4 / 3.0, 5 / 3.0 };
static const uint32_t w_bits[] = { 0x3FC00000, 0x80000000, 0x7FC00000, 0xFF800000, 1 };
static const sl_st_tensor tensors[] = {
    { .name = "count", .dtype = SL_I64, .data = &count },
    { .name = "none", .dtype = SL_F32, .dims = 2, .shape = { 3, 0 }, .data = w_bits },
    { .name = "thirds", .dtype = SL_F64, .dims = 2, .shape = { 2, 3 }, .data = thirds },
    { .name = "nil", .dtype = SL_I64, .dims = 1, .data = &count },
    { .name = "w", .dtype = SL_F32, .dims = 1, .shape = { 5 }, .data = w_bits },
};
static const sl_st_text texts[] = { { "z", "" }, { "a \"b\"", "\\ \n\tä€😀" }, { "format", "pt" } };

static sl_status write_golden(const char *path) {
    return sl_ckpt_st_write(path, tensors, SL_LEN(tensors), texts, SL_LEN(texts));
}

static size_t bytes_of(const sl_st_tensor *t) {
    size_t n = t->dtype == SL_F32 ? 4 : 8;
    for (int d = 0; d < t->dims; d++) n *= (size_t)t->shape[d];
    return n;
}

static bool same_tensor(const sl_st_file *f, const sl_st_tensor *want) {
    uint8_t numbers[64];
    const sl_st_tensor *got = sl_ckpt_st_find(f, want->name);
    if (!got || got->dtype != want->dtype || got->dims != want->dims || got->data) return false;
    if (memcmp(got->shape, want->shape, (size_t)want->dims * sizeof want->shape[0]) != 0)
        return false;
    const int64_t n = (int64_t)(bytes_of(want) / (want->dtype == SL_F32 ? 4 : 8));
    return sl_ckpt_st_read(f, got, 0, n, numbers) == SL_OK &&
           memcmp(numbers, want->data, bytes_of(want)) == 0;
}

/* ---------------------------------------------------------------- good files ---------------- */

static void a_file_is_as_the_documentation_says(void **state) {
    sl_fixture *t = *state;
    size_t n_want, n_got;
    const char *path = sl_test_path("ours");
    SL_MUST(t, write_golden(path));
    char *want = get(t, GOLDEN "ours.safetensors", &n_want), *got = get(t, path, &n_got);
    SL_CHECK(t, n_got == n_want && memcmp(got, want, n_got) == 0, "%zu bytes, not %zu: %.*s", n_got,
             n_want, (int)n_got - 8, got + 8);
    sl_free(want);
    sl_free(got);
}

static void what_is_written_reads_back_to_the_bit(void **state) {
    sl_fixture *t = *state;
    sl_st_file *f = NULL;
    SL_MUST(t, sl_ckpt_st_open(&f, GOLDEN "ours.safetensors"));
    SL_MUST(t, sl_ckpt_st_verify(f));
    assert_int_equal(sl_ckpt_st_count(f), SL_LEN(tensors));
    for (int i = 0; i < SL_LEN(tensors); i++) {
        assert_string_equal(sl_ckpt_st_at(f, i)->name, tensors[i].name); // by place
        SL_CHECK(t, same_tensor(f, &tensors[i]), "%s", tensors[i].name);
    }
    for (int i = 0; i < SL_LEN(texts); i++)
        assert_string_equal(sl_ckpt_st_metadata(f, texts[i].name), texts[i].text);
    assert_string_equal(sl_ckpt_st_metadata(f, "symlaw_format"), "1");
    assert_null(sl_ckpt_st_metadata(f, "Z"));
    assert_null(sl_ckpt_st_find(f, "__metadata__"));
    assert_null(sl_ckpt_st_find(f, "tensor"));
    sl_ckpt_st_close(f);
}

/* Other kinds of shapes and sizes than the stored file has, and more than one slice of data. */
static void any_tensors_read_back(void **state) {
    sl_fixture *t = *state;
    enum { MANY = 40, NUMBERS = 1 << 12, LARGE = (9 << 20) / 8 };
    uint64_t *numbers = sl_malloc(LARGE, sizeof *numbers), *back = sl_malloc(LARGE, sizeof *back);
    assert_true(numbers && back);
    for (int i = 0; i < LARGE; i++) numbers[i] = sl_rng_u64(&t->rng);
    for (int trial = 0; trial < sl_test_iters(t, 20); trial++) {
        sl_st_tensor list[MANY] = { 0 };
        char name[MANY][16];
        const int n = trial == 0 ? 0 : 1 + (int)sl_rng_below(&t->rng, MANY);
        for (int i = 0; i < n; i++) {
            snprintf(name[i], sizeof name[i], "t%d", (i * 7) % 41); // not in the order of names
            list[i].name = name[i];
            list[i].dtype = (sl_dtype)sl_rng_below(&t->rng, SL_DTYPE_COUNT);
            list[i].dims = (int)sl_rng_below(&t->rng, SL_ST_MAX_DIMS + 1);
            for (int d = 0; d < list[i].dims; d++) list[i].shape[d] = sl_rng_below(&t->rng, 8);
            list[i].data = numbers + sl_rng_below(&t->rng, 1000);
        }
        if (trial == 1) {
            list[0] = (sl_st_tensor){ .name = name[0], .dtype = SL_F64, .dims = 1 };
            list[0].shape[0] = LARGE;
            list[0].data = numbers;
        }
        const char *path = sl_test_path("any");
        sl_st_file *f = NULL;
        SL_MUST(t, sl_ckpt_st_write(path, list, n, NULL, 0));
        SL_MUST(t, sl_ckpt_st_open(&f, path));
        SL_MUST(t, sl_ckpt_st_verify(f));
        assert_int_equal(sl_ckpt_st_count(f), n);
        for (int i = 0; i < n; i++) {
            const sl_st_tensor *got = sl_ckpt_st_find(f, list[i].name);
            assert_non_null(got);
            assert_int_equal(got->dims, list[i].dims);
            const int64_t size = list[i].dtype == SL_F32 ? 4 : 8;
            const int64_t all = (int64_t)bytes_of(&list[i]) / size;
            const int64_t first = all ? sl_rng_below(&t->rng, (uint32_t)all) : 0;
            SL_MUST(t, sl_ckpt_st_read(f, got, first, all - first, back));
            SL_CHECK(t,
                     memcmp(back, (const char *)list[i].data + first * size,
                            (size_t)((all - first) * size)) == 0,
                     "trial %d, tensor %d from %lld of %lld", trial, i, (long long)first,
                     (long long)all);
        }
        sl_ckpt_st_close(f);
    }
    sl_free(numbers);
    sl_free(back);
}

/* Python's safetensors sorts tensors in another order and writes no hashes. */
static void a_file_of_python_is_read(void **state) {
    sl_fixture *t = *state;
    sl_st_file *f = NULL;
    SL_MUST(t, sl_ckpt_st_open(&f, GOLDEN "python.safetensors"));
    SL_MUST(t, sl_ckpt_st_verify(f));
    assert_int_equal(sl_ckpt_st_count(f), SL_LEN(tensors));
    for (int i = 0; i < SL_LEN(tensors); i++)
        SL_CHECK(t, same_tensor(f, &tensors[i]), "%s", tensors[i].name);
    assert_string_equal(sl_ckpt_st_metadata(f, "by"), "somebody else");
    assert_null(sl_ckpt_st_metadata(f, "symlaw_format"));
    sl_ckpt_st_close(f);
}

/* ---------------------------------------------------------------- bad files ----------------- */

#define AT(shape, begin, end) \
    "{\"dtype\":\"F32\",\"shape\":" shape ",\"data_offsets\":[" #begin "," #end "]}"

static void bad_headers_are_refused_with_the_reason(void **state) {
    sl_fixture *t = *state;
    static const struct {
        const char *header;
        size_t data;
        const char *reason; // NULL: it is good
    } rows[] = {
        { "{}", 0, NULL },
        { " {\"a\" : " AT("[2]", 0, 8) "}\n  ", 8, NULL },
        { "{\"b\":" AT("[1]", 4, 8) ",\"a\":" AT("[1]", 0, 4) "}", 8, NULL },
        { "{\"a\":" AT("[0]", 0, 0) ",\"b\":" AT("[1]", 0, 4) ",\"c\":" AT("[0]", 4, 4) "}", 4,
          NULL },
        { "{\"__metadata__\":{}}", 0, NULL },
        // not a header
        { "", 0, "header: JSON" },
        { "{", 0, "header: JSON" },
        { "{\"a\":" AT("[2]", 0, 8), 8, "header: JSON" },
        { "hello, world", 0, "header: JSON" },
        { "[]", 0, "an array, not an object" },
        { "7", 0, "a whole number, not an object" },
        { "{\"a\":" AT("[1]", 0, 4) ",\"a\":" AT("[1]", 4, 8) "}", 8, "duplicate" },
        { "{\"a\":" AT("[99999999999999999999]", 0, 4) "}", 4, "header: JSON" },
        { "{\"\xff\":" AT("[1]", 0, 4) "}", 4, "header: JSON" },
        // metadata
        { "{\"__metadata__\":[]}", 0, "__metadata__ is an array" },
        { "{\"__metadata__\":{\"x\":1}}", 0, "\"x\" of the metadata is a whole number" },
        { "{\"__metadata__\":{\"x\":\"1\",\"x\":\"1\"}}", 0, "duplicate" },
        { "{\"__metadata__\":{\"symlaw_format\":\"2\"}}", 0, "written by a newer version" },
        { "{\"__metadata__\":{\"symlaw_format\":\"123456789012345678901\"},\"a\":3}", 0,
          "written by a newer version" },
        { "{\"__metadata__\":{\"symlaw_format\":\"\"}}", 0, "damaged: symlaw_format is \"\"" },
        { "{\"__metadata__\":{\"symlaw_format\":\"0\"}}", 0, "damaged: symlaw_format" },
        { "{\"__metadata__\":{\"symlaw_format\":\"-1\"}}", 0, "damaged: symlaw_format" },
        { "{\"__metadata__\":{\"symlaw_format\":\"1x\"}}", 0, "damaged: symlaw_format" },
        { "{\"__metadata__\":{\"symlaw_format\":\"1\"}}", 0, "lack header_hash" },
        { "{\"__metadata__\":{\"symlaw_format\":\"1\",\"header_hash\":\"x\"}}", 0,
          "lack data_hash" },
        { "{\"__metadata__\":{\"header_hash\":\"x\"}}", 0, "damaged: the header" },
        // one tensor
        { "{\"a\":1}", 0, "tensor \"a\": not an object" },
        { "{\"a\":{}}", 0, "no dtype" },
        { "{\"a\":{\"dtype\":5,\"shape\":[],\"data_offsets\":[0,4]}}", 4, "no dtype" },
        { "{\"a\":{\"dtype\":\"BF16\",\"shape\":[1],\"data_offsets\":[0,2]}}", 2, "dtype BF16" },
        { "{\"a\":{\"dtype\":\"f32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4, "dtype f32" },
        { "{\"a\":{\"dtype\":\"F32\",\"data_offsets\":[0,4]}}", 4, "its shape is no list" },
        { "{\"a\":" AT("1", 0, 4) "}", 4, "its shape is no list" },
        { "{\"a\":" AT("[-1]", 0, 4) "}", 4, "its shape is no list" },
        { "{\"a\":" AT("[1.0]", 0, 4) "}", 4, "its shape is no list" },
        { "{\"a\":" AT("[1,[1]]", 0, 4) "}", 4, "its shape is no list" },
        { "{\"a\":" AT("[1,1,1,1,1]", 0, 4) "}", 4, "5 dimensions" },
        { "{\"a\":" AT("[4294967296,4294967296]", 0, 0) "}", 0, "its shape is too large" },
        { "{\"a\":" AT("[2305843009213693952]", 0, 0) "}", 0, "its shape is too large" },
        { "{\"a\":{\"dtype\":\"F32\",\"shape\":[1]}}", 4, "data_offsets are not two" },
        { "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0]}}", 4,
          "data_offsets are not two" },
        { "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4,8]}}", 4,
          "data_offsets are not two" },
        { "{\"a\":" AT("[1]", -4, 0) "}", 4, "data_offsets are not two" },
        { "{\"a\":" AT("[1]", 8, 4) "}", 8, "out of range" },
        { "{\"a\":" AT("[1]", 9223372036854775803, 9223372036854775807) "}", 8, "out of range" },
        { "{\"a\":" AT("[1]", 0, 8) "}", 8, "4 bytes by its shape, 8 by its data_offsets" },
        { "{\"a\":" AT("[3]", 0, 8) "}", 8, "12 bytes by its shape, 8 by its data_offsets" },
        // all of them together
        { "{\"a\":" AT("[1]", 0, 4) ",\"b\":" AT("[1]", 0, 4) "}", 4, "\"b\": it overlaps" },
        { "{\"a\":" AT("[2]", 0, 8) ",\"b\":" AT("[2]", 4, 12) "}", 12, "\"b\": it overlaps" },
        { "{\"a\":" AT("[2]", 0, 8) ",\"b\":" AT("[0]", 4, 4) "}", 8, "\"b\": it overlaps" },
        { "{\"a\":" AT("[1]", 4, 8) "}", 8, "a gap of 4 bytes before tensor \"a\"" },
        { "{\"a\":" AT("[1]", 0, 4) ",\"b\":" AT("[1]", 12, 16) "}", 16, "a gap of 8 bytes" },
        { "{\"a\":" AT("[1]", 0, 4) "}", 7, "3 bytes behind the last tensor" },
        { "{}", 1, "1 bytes behind" },
        { "{\"a\":" AT("[2]", 0, 8) "}", 3, "truncated: 65 of 70 bytes" },
        { "{\"a\":" AT("[200000000000]", 0, 800000000000) "}", 3, "truncated" },
    };
    for (int i = 0; i < SL_LEN(rows); i++) {
        sl_st_file *f = NULL;
        const char *path = made(rows[i].header, rows[i].data);
        if (rows[i].reason) {
            refused(t, path, rows[i].reason);
            continue;
        }
        SL_MUST(t, sl_ckpt_st_open(&f, path));
        SL_MUST(t, sl_ckpt_st_verify(f));
        sl_ckpt_st_close(f);
    }
}

/* The first 8 bytes, and things that are no files of tensors at all. */
static void files_that_are_no_safetensors_are_refused(void **state) {
    sl_fixture *t = *state;
    const char *path = sl_test_path("bytes");
    sl_st_file *f = NULL;
    static const uint64_t lengths[] = { 100000001, UINT64_C(1) << 63, UINT64_MAX };
    sl_test_write(path, "", 0);
    refused(t, path, "no safetensors file: it has 0 bytes");
    sl_test_write(path, "1234567", 7);
    refused(t, path, "no safetensors file: it has 7 bytes");
    sl_test_write(path, "# Notes\n\nsome text\n", 19);
    refused(t, path, "no safetensors file: its header would have");
    for (int i = 0; i < SL_LEN(lengths); i++) {
        sl_test_write(path, &lengths[i], 8);
        refused(t, path, "no safetensors file: its header would have");
    }
    sl_test_write(path, "\x00\xe1\xf5\x05\0\0\0\0{}", 10); // 100,000,000: as many as allowed
    refused(t, path, "truncated: 2 of 100000000 bytes of the header");

    const char *pipe = sl_test_path("pipe");
    assert_int_equal(mkfifo(pipe, 0600), 0);
    assert_int_equal(sl_ckpt_st_open(&f, pipe), SL_EIO); // and does not wait
    assert_int_equal(sl_ckpt_st_open(&f, "/tmp"), SL_EIO);
    assert_non_null(strstr(sl_last_error(), "folder"));
    assert_int_equal(sl_ckpt_st_open(&f, sl_test_path("missing")), SL_EIO);
    assert_non_null(strstr(sl_last_error(), "missing"));
    assert_null(f);
}

/* Every bit of our header counts, but for those of blanks and of other spellings of the same. */
static void a_flipped_bit_in_the_header_is_noticed(void **state) {
    sl_fixture *t = *state;
    size_t n;
    char *bytes = get(t, GOLDEN "ours.safetensors", &n);
    uint64_t header;
    memcpy(&header, bytes, 8);
    const char *path = sl_test_path("flipped");
    sl_test_write(path, bytes, n);
    int harmless = 0;
    for (size_t i = 0; i < 8 + header; i++) {
        for (int bit = 0; bit < 8; bit++) {
            sl_st_file *f = NULL;
            flip(path, i, bit);
            sl_status st = sl_ckpt_st_open(&f, path);
            if (st == SL_OK) {
                harmless++;
                const int now = bytes[i] ^ 1 << bit;
                SL_CHECK(t, now == '\n' || now == '\t' || now == '\r',
                         "byte %zu, bit %d is not noticed", i, bit);
                SL_CHECK(t, sl_ckpt_st_count(f) == SL_LEN(tensors), "byte %zu, bit %d", i, bit);
            } else {
                SL_CHECK(t, st == SL_EFORMAT && *sl_last_error(), "byte %zu, bit %d: %s", i, bit,
                         sl_status_text(st));
            }
            sl_ckpt_st_close(f);
            flip(path, i, bit);
        }
    }
    SL_CHECK(t, harmless <= 4, "%d flips are harmless", harmless);
    sl_free(bytes);
}

static void a_flipped_bit_in_the_data_is_damage(void **state) {
    sl_fixture *t = *state;
    size_t n;
    char *bytes = get(t, GOLDEN "ours.safetensors", &n);
    uint64_t header;
    memcpy(&header, bytes, 8);
    const char *path = sl_test_path("flipped");
    sl_test_write(path, bytes, n);
    for (size_t i = 8 + header; i < n; i++) {
        sl_st_file *f = NULL;
        flip(path, i, (int)(i % 8));
        SL_MUST(t, sl_ckpt_st_open(&f, path));
        assert_int_equal(sl_ckpt_st_verify(f), SL_EFORMAT);
        assert_non_null(strstr(sl_last_error(), "damaged: the data"));
        assert_non_null(strstr(sl_last_error(), path));
        sl_ckpt_st_close(f);
        flip(path, i, (int)(i % 8));
    }
    sl_free(bytes);
}

static void a_file_of_another_length_is_refused(void **state) {
    sl_fixture *t = *state;
    size_t n;
    char *bytes = get(t, GOLDEN "ours.safetensors", &n);
    uint64_t header;
    memcpy(&header, bytes, 8);
    const char *path = sl_test_path("cut");
    char why[64];
    sl_test_write(path, bytes, n);
    for (size_t i = n; i-- > 0;) {
        assert_int_equal(truncate(path, (off_t)i), 0);
        snprintf(why, sizeof why, "truncated: %zu of %zu bytes", i, n);
        refused(t, path,
                i < 8            ? "no safetensors file"
                : i < 8 + header ? "bytes of the header"
                                 : why);
    }
    char *longer = sl_calloc(n + 1, 1);
    memcpy(longer, bytes, n);
    sl_test_write(path, longer, n + 1);
    refused(t, path, "1 bytes behind");
    sl_free(longer);
    sl_free(bytes);
}

/* A file that shrinks after it was opened. */
static void a_file_cut_while_it_is_read_is_noticed(void **state) {
    sl_fixture *t = *state;
    sl_st_file *f = NULL;
    const char *path = sl_test_path("shrinks");
    double back[6];
    SL_MUST(t, write_golden(path));
    SL_MUST(t, sl_ckpt_st_open(&f, path));
    assert_int_equal(truncate(path, 460), 0);
    assert_int_equal(sl_ckpt_st_read(f, sl_ckpt_st_find(f, "thirds"), 0, 6, back), SL_EFORMAT);
    assert_non_null(strstr(sl_last_error(), "truncated while it was read"));
    assert_int_equal(sl_ckpt_st_verify(f), SL_EFORMAT);
    sl_ckpt_st_close(f);
}

/* ---------------------------------------------------------------- writing fails ------------- */

static void texts_that_json_cannot_hold_are_refused(void **state) {
    sl_fixture *t = *state;
    static const sl_st_text bad[] = { { "path", "caf\xe9" }, { "\xc0\x80", "x" } };
    static const sl_st_tensor odd = { .name = "\xed\xa0\x80", .dtype = SL_I64, .data = &count };
    const char *path = sl_test_path("latin");
    for (int i = 0; i < SL_LEN(bad); i++) {
        assert_int_equal(sl_ckpt_st_write(path, tensors, 1, &bad[i], 1), SL_EINVAL);
        assert_non_null(strstr(sl_last_error(), path));
    }
    assert_int_equal(sl_ckpt_st_write(path, &odd, 1, NULL, 0), SL_EINVAL);
    SL_CHECK(t, access(path, F_OK) != 0, "a file is there");
}

/* Whichever write fails, the old file is as it was. */
static void a_full_disk_leaves_the_old_file(void **state) {
    sl_fixture *t = *state;
    const char *path = sl_test_path("kept");
    size_t n, now;
    SL_MUST(t, sl_ckpt_st_write(path, tensors, 1, NULL, 0));
    char *before = get(t, path, &n);
    int failures = 0;
    for (;; failures++) {
        sl_file_fail_at(failures + 1);
        sl_status st = write_golden(path);
        sl_file_fail_at(0);
        if (st == SL_OK) break;
        assert_int_equal(st, SL_EIO);
        char *after = get(t, path, &now);
        SL_CHECK(t, now == n && memcmp(before, after, n) == 0, "write %d failed", failures + 1);
        sl_free(after);
    }
    assert_int_equal(failures, 5); // header, three tensors that have numbers, commit
    sl_free(before);
}

static sl_status open_and_verify(const char *path) {
    sl_st_file *f = NULL;
    SL_TRY(sl_ckpt_st_open(&f, path));
    sl_status st = sl_ckpt_st_verify(f);
    sl_ckpt_st_close(f);
    return st;
}

static int next_fd(void) {
    const int fd = dup(0);
    close(fd);
    return fd;
}

static void each_allocation_may_fail(void **state) {
    sl_fixture *t = *state;
    const char *path = sl_test_path("memory");
    const int fd = next_fd();
    SL_EACH_ALLOCATION(t, write_golden(path));
    SL_EACH_ALLOCATION(t, open_and_verify(path));
    SL_EACH_ALLOCATION(t, open_and_verify(GOLDEN "python.safetensors"));
    assert_int_equal(next_fd(), fd); // files were closed, too
}

int main(void) {
    sl_io_json_count_memory();
    static const struct CMUnitTest tests[] = {
        SL_TEST(a_file_is_as_the_documentation_says),
        SL_TEST(what_is_written_reads_back_to_the_bit),
        SL_TEST(any_tensors_read_back),
        SL_TEST(a_file_of_python_is_read),
        SL_TEST(bad_headers_are_refused_with_the_reason),
        SL_TEST(files_that_are_no_safetensors_are_refused),
        SL_TEST(a_flipped_bit_in_the_header_is_noticed),
        SL_TEST(a_flipped_bit_in_the_data_is_damage),
        SL_TEST(a_file_of_another_length_is_refused),
        SL_TEST(a_file_cut_while_it_is_read_is_noticed),
        SL_TEST(texts_that_json_cannot_hold_are_refused),
        SL_TEST(a_full_disk_leaves_the_old_file),
        SL_TEST(each_allocation_may_fail),
    };
    return sl_test_main("ckpt.safetensors", tests, SL_LEN(tests));
}

/* st_write - tensors in memory to a safetensors file. */
#include <stdlib.h>
#include <string.h>

#include "ckpt/ckpt_impl.h"

enum { ALIGN = 8, SLICE = 4 << 20 };

/* JSON cannot hold other bytes, and their replacement has another hash. */
static bool is_utf8(const char *text) {
    size_t n = strlen(text);
    while (n > 0) {
        int used;
        if (sl_utf8_read(text, n, &used) < 0) return false;
        text += used;
        n -= (size_t)used;
    }
    return true;
}

/* The caller's texts with ours, sorted, without the hash of the header. */
static sl_status gather(sl_st_text *text, const sl_st_text *given, int n_given,
                        const char *data_hash, const char *version, const char *path) {
    for (int i = 0; i < n_given; i++) {
        if (!is_utf8(given[i].name) || !is_utf8(given[i].text))
            return sl_fail(SL_EINVAL, "cannot write %s: \"%s\" of its metadata is no UTF-8", path,
                           given[i].name);
        text[i] = given[i];
    }
    text[n_given] = (sl_st_text){ SL_ST__DATA_HASH, data_hash };
    text[n_given + 1] = (sl_st_text){ SL_ST__FORMAT, version };
    qsort(text, (size_t)n_given + 2, sizeof *text, sl_ckpt__st_text_order);
    for (int i = 0; i + 1 < n_given + 2; i++)
        SL_ASSERT(strcmp(text[i].name, text[i + 1].name) != 0); // each name once
    return SL_OK;
}

/* Copies of the tensors with their places, and where they are by name. */
static sl_status lay_out(sl_st_tensor *out, const sl_st_tensor **by_name,
                         const sl_st_tensor *tensors, int n, const char *path) {
    int64_t at = 0;
    for (int i = 0; i < n; i++) {
        const sl_st_tensor *t = &tensors[i];
        SL_ASSERT((unsigned)t->dtype < SL_DTYPE_COUNT && t->dims >= 0 && t->dims <= SL_ST_MAX_DIMS);
        for (int d = 0; d < t->dims; d++) SL_ASSERT(t->shape[d] >= 0);
        SL_ASSERT(strcmp(t->name, "__metadata__") != 0);
        if (!is_utf8(t->name))
            return sl_fail(SL_EINVAL, "cannot write %s: tensor \"%s\" is no UTF-8", path, t->name);
        out[i] = *t;
        out[i].begin = at;
        at += sl_ckpt__st_bytes(t);
        by_name[i] = &out[i];
    }
    qsort(by_name, (size_t)n, sizeof *by_name, sl_ckpt__st_name_order);
    for (int i = 0; i + 1 < n; i++) SL_ASSERT(strcmp(by_name[i]->name, by_name[i + 1]->name) != 0);
    return SL_OK;
}

static void write_tensor(sl_str *s, const sl_st_tensor *t) {
    sl_io_json_open(s, t->name, '{');
    sl_io_json_add_text(s, "dtype", sl_ckpt__st_dtype_name(t->dtype));
    sl_io_json_open(s, "shape", '[');
    for (int d = 0; d < t->dims; d++) sl_io_json_add_int(s, NULL, t->shape[d]);
    sl_io_json_close(s, ']');
    sl_io_json_open(s, "data_offsets", '[');
    sl_io_json_add_int(s, NULL, t->begin);
    sl_io_json_add_int(s, NULL, t->begin + sl_ckpt__st_bytes(t));
    sl_io_json_close(s, ']');
    sl_io_json_close(s, '}');
}

/* The length and the header, padded. */
static sl_status write_header(sl_str *s, const sl_st_text *text, int n_text,
                              const sl_st_tensor *tensor, const sl_st_tensor *const *by_name, int n,
                              const char *path) {
    char hash[33];
    SL_TRY(sl_ckpt__st_header_hash(hash, text, n_text, by_name, n));
    sl_str json = { 0 };
    sl_io_json_open(&json, NULL, '{');
    sl_io_json_open(&json, "__metadata__", '{');
    for (int i = 0; i < n_text; i++) sl_io_json_add_text(&json, text[i].name, text[i].text);
    sl_io_json_add_text(&json, SL_ST__HEADER_HASH, hash);
    sl_io_json_close(&json, '}');
    for (int i = 0; i < n; i++) write_tensor(&json, &tensor[i]);
    sl_io_json_close(&json, '}');
    while (json.len % ALIGN && !json.failed) sl_str_add_char(&json, ' ');

    const uint64_t len = json.len;
    sl_str_add_bytes(s, &len, sizeof len);
    sl_str_add_bytes(s, sl_str_text(&json), json.len);
    sl_status st = sl_str_status(&json);
    if (st == SL_OK) st = sl_str_status(s);
    if (st == SL_OK && len > SL_ST__MAX_HEADER)
        st = sl_fail(SL_ELIMIT, "cannot write %s: its header would have %llu bytes", path,
                     (unsigned long long)len);
    sl_str_clear(&json);
    return st;
}

/* In slices: the kernel splits a write of many gigabytes anyway, and a test can make any of them
 * fail. */
static sl_status write_data(sl_file *f, const sl_st_tensor *t) {
    const char *at = t->data;
    for (size_t left = (size_t)sl_ckpt__st_bytes(t); left > 0;) {
        const size_t n = SL_MIN(left, (size_t)SLICE);
        SL_TRY(sl_file_write(f, at, n));
        at += n;
        left -= n;
    }
    return SL_OK;
}

sl_status sl_ckpt__st_begin(sl_file **out, const char *path, const sl_st_tensor *tensors, int n,
                            const sl_st_text *metadata, int n_metadata) {
    sl_status st;
    sl_file *f = NULL;
    sl_str header = { 0 };
    char version[16], hash[33];
    sl_snprintf(version, sizeof version, "%d", SL_CKPT_VERSION);
    sl_st_text *text = sl_malloc((size_t)n_metadata + 2, sizeof *text);
    sl_st_tensor *tensor = sl_malloc((size_t)n, sizeof *tensor);
    const sl_st_tensor **by_name = sl_malloc((size_t)n, sizeof *by_name);
    if (!text || !tensor || !by_name)
        SL_GO(sl_fail_memory((size_t)n, sizeof *tensor, "a list of tensors"));

    SL_GO(lay_out(tensor, by_name, tensors, n, path));
    SL_GO(sl_ckpt__st_data_hash(hash, tensor, n));
    SL_GO(gather(text, metadata, n_metadata, hash, version, path));
    SL_GO(write_header(&header, text, n_metadata + 2, tensor, by_name, n, path));

    SL_GO(sl_file_replace(&f, path));
    SL_GO(sl_file_write(f, header.text, header.len));
    for (int i = 0; i < n; i++) SL_GO(write_data(f, &tensor[i]));
    *out = f;
    f = NULL;
done:
    sl_file_discard(&f);
    sl_str_clear(&header);
    sl_free(by_name);
    sl_free(tensor);
    sl_free(text);
    return st;
}

sl_status sl_ckpt_st_write(const char *path, const sl_st_tensor *tensors, int n,
                           const sl_st_text *metadata, int n_metadata) {
    sl_file *f;
    SL_TRY(sl_ckpt__st_begin(&f, path, tensors, n, metadata, n_metadata));
    return sl_file_commit(&f);
}

/* st_read - safetensors files, which may be of any program and may be damaged.
 *
 * The whole header is validated on opening, before any of it is used: after that every tensor is
 * known to lie inside the file, without overlaps or gaps, with the number of bytes of its shape.
 * Data are read on request. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ckpt/ckpt_impl.h"

enum { LENGTH_BYTES = 8, SLICE = 4 << 20 };

/* No larger offset is accepted, so that sums of a few cannot overflow. */
static const int64_t MAX_OFFSET = INT64_C(1) << 60;

struct sl_st_file {
    int fd;
    char *path;
    int64_t bytes; // of the file
    int64_t data;  // where the data begin
    int n, n_text;
    sl_st_tensor *tensor;         // in the order of their data
    const sl_st_tensor **by_name; // sorted
    sl_st_text *text;             // sorted by name
    sl_json *header;              // owns names and texts
};

/* ---------------------------------------------------------------- reading bytes ------------- */

static sl_status read_at(const sl_st_file *f, void *out, int64_t at, size_t n) {
    for (char *to = out; n > 0;) {
        const ssize_t got = pread(f->fd, to, n, (off_t)at);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return sl_fail(SL_EIO, "reading %s: %s", f->path, sl_strerror(errno));
        if (got == 0)
            return sl_fail(SL_EFORMAT, "%s: truncated while it was read, at byte %lld", f->path,
                           (long long)at);
        to += got;
        at += got;
        n -= (size_t)got;
    }
    return SL_OK;
}

static sl_status open_file(sl_st_file *f) {
    struct stat s;
    SL_TRY(sl_file_open(&f->fd, f->path));
    if (fstat(f->fd, &s) != 0)
        return sl_fail(SL_EIO, "cannot read %s: %s", f->path, sl_strerror(errno));
    f->bytes = s.st_size;
    return SL_OK;
}

/* ---------------------------------------------------------------- the header ---------------- */

static sl_status parse_header(sl_st_file *f) {
    uint64_t n;
    if (f->bytes < LENGTH_BYTES)
        return sl_fail(SL_EFORMAT, "%s: no safetensors file: it has %lld bytes", f->path,
                       (long long)f->bytes);
    SL_TRY(read_at(f, &n, 0, sizeof n));
    if (n > SL_ST__MAX_HEADER)
        return sl_fail(SL_EFORMAT, "%s: no safetensors file: its header would have %llu bytes",
                       f->path, (unsigned long long)n);
    if ((int64_t)n > f->bytes - LENGTH_BYTES)
        return sl_fail(SL_EFORMAT, "%s: truncated: %lld of %lld bytes of the header", f->path,
                       (long long)(f->bytes - LENGTH_BYTES), (long long)n);
    f->data = LENGTH_BYTES + (int64_t)n;

    char *text = sl_malloc((size_t)n, 1);
    if (!text) return sl_fail_memory((size_t)n, 1, f->path);
    sl_status st = read_at(f, text, LENGTH_BYTES, (size_t)n);
    if (st == SL_OK) {
        st = sl_io_json_parse(&f->header, text, (size_t)n);
        if (st == SL_EFORMAT) st = sl_fail(st, "%s: header: %s", f->path, sl_last_error());
    }
    sl_free(text);
    SL_TRY(st);
    if (sl_io_json_kind_of(f->header) != SL_JSON_OBJECT)
        return sl_fail(SL_EFORMAT, "%s: header: %s, not an object", f->path,
                       sl_io_json_kind_text(sl_io_json_kind_of(f->header)));
    return SL_OK;
}

static sl_status read_metadata(sl_st_file *f) {
    const sl_json *j = sl_io_json_get(f->header, "__metadata__");
    if (j && sl_io_json_kind_of(j) != SL_JSON_OBJECT)
        return sl_fail(SL_EFORMAT, "%s: __metadata__ is %s, not an object", f->path,
                       sl_io_json_kind_text(sl_io_json_kind_of(j)));
    const size_t n = j ? (size_t)sl_io_json_count(j) : 0;
    f->text = sl_malloc(n, sizeof *f->text);
    if (!f->text) return sl_fail_memory(n, sizeof *f->text, "metadata");
    if (!j) return SL_OK;
    for (sl_json_member m = sl_io_json_first(j); m.name; m = sl_io_json_next(j, m)) {
        if (sl_io_json_kind_of(m.value) != SL_JSON_TEXT)
            return sl_fail(SL_EFORMAT, "%s: \"%s\" of the metadata is %s, not a text", f->path,
                           m.name, sl_io_json_kind_text(sl_io_json_kind_of(m.value)));
        f->text[f->n_text++] = (sl_st_text){ m.name, sl_io_json_text(m.value) };
    }
    qsort(f->text, n, sizeof *f->text, sl_ckpt__st_text_order);
    return SL_OK;
}

/* Checked before the tensors, which a newer version may describe in an unknown way. */
static sl_status check_version(const sl_st_file *f) {
    const char *text = sl_ckpt_st_metadata(f, SL_ST__FORMAT);
    if (!text) return SL_OK; // written by another program
    char *end;
    const int64_t version = sl_strtoll(text, &end);
    if (*end || text[0] < '1' || text[0] > '9')
        return sl_fail(SL_EFORMAT, "%s: damaged: " SL_ST__FORMAT " is \"%s\"", f->path, text);
    if (version > SL_CKPT_VERSION)
        return sl_fail(SL_EFORMAT,
                       "%s: written by a newer version: its format is %s, the newest known here"
                       " is %d",
                       f->path, text, SL_CKPT_VERSION);
    return SL_OK;
}

static sl_status bad_tensor(const sl_st_file *f, const char *name, const char *what) {
    return sl_fail(SL_EFORMAT, "%s: tensor \"%s\": %s", f->path, name, what);
}

/* The member as an array of whole numbers, none of them negative; NULL if it is none. */
static const sl_json *whole_numbers(const sl_json *object, const char *name) {
    const sl_json *j = sl_io_json_get(object, name);
    if (!j || sl_io_json_kind_of(j) != SL_JSON_ARRAY) return NULL;
    for (int i = 0; i < sl_io_json_count(j); i++) {
        const sl_json *x = sl_io_json_at(j, i);
        if (sl_io_json_kind_of(x) != SL_JSON_INT || sl_io_json_int(x) < 0) return NULL;
    }
    return j;
}

static sl_status read_dtype(sl_dtype *out, const sl_st_file *f, const char *name,
                            const sl_json *j) {
    if (!j || sl_io_json_kind_of(j) != SL_JSON_TEXT) return bad_tensor(f, name, "no dtype");
    for (sl_dtype d = 0; d < SL_DTYPE_COUNT; d++) {
        if (strcmp(sl_io_json_text(j), sl_ckpt__st_dtype_name(d)) != 0) continue;
        *out = d;
        return SL_OK;
    }
    return sl_fail(SL_EFORMAT, "%s: tensor \"%s\": dtype %s is not known here; F32, F64, I64 are",
                   f->path, name, sl_io_json_text(j));
}

/* One tensor by itself: shape, dtype and place agree. */
static sl_status read_tensor(sl_st_tensor *t, const sl_st_file *f, const char *name,
                             const sl_json *j) {
    if (sl_io_json_kind_of(j) != SL_JSON_OBJECT) return bad_tensor(f, name, "not an object");
    t->name = name;
    SL_TRY(read_dtype(&t->dtype, f, name, sl_io_json_get(j, "dtype")));

    const sl_json *shape = whole_numbers(j, "shape");
    if (!shape) return bad_tensor(f, name, "its shape is no list of whole numbers from 0");
    if (sl_io_json_count(shape) > SL_ST_MAX_DIMS)
        return sl_fail(SL_EFORMAT, "%s: tensor \"%s\": %d dimensions; at most %d are known here",
                       f->path, name, sl_io_json_count(shape), SL_ST_MAX_DIMS);
    t->dims = sl_io_json_count(shape);
    int64_t bytes = sl_ckpt__st_dtype_bytes(t->dtype);
    for (int i = 0; i < t->dims; i++) {
        t->shape[i] = sl_io_json_int(sl_io_json_at(shape, i));
        if (__builtin_mul_overflow(bytes, t->shape[i], &bytes))
            return bad_tensor(f, name, "its shape is too large");
    }

    const sl_json *place = whole_numbers(j, "data_offsets");
    if (!place || sl_io_json_count(place) != 2)
        return bad_tensor(f, name, "its data_offsets are not two whole numbers from 0");
    const int64_t end = sl_io_json_int(sl_io_json_at(place, 1));
    t->begin = sl_io_json_int(sl_io_json_at(place, 0));
    if (t->begin > end || end > MAX_OFFSET)
        return bad_tensor(f, name, "its data_offsets are out of range");
    if (end - t->begin != bytes)
        return sl_fail(SL_EFORMAT,
                       "%s: tensor \"%s\": %lld bytes by its shape, %lld by its data_offsets",
                       f->path, name, (long long)bytes, (long long)(end - t->begin));
    return SL_OK;
}

/* By place; tensors without numbers before the one that begins there. */
static int place_order(const void *a, const void *b) {
    const sl_st_tensor *x = a, *y = b;
    if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
    const int64_t nx = sl_ckpt__st_bytes(x), ny = sl_ckpt__st_bytes(y);
    if (nx != ny) return nx < ny ? -1 : 1;
    return strcmp(x->name, y->name);
}

static sl_status read_tensors(sl_st_file *f) {
    const size_t n = (size_t)sl_io_json_count(f->header);
    f->tensor = sl_calloc(n, sizeof *f->tensor);
    f->by_name = sl_malloc(n, sizeof *f->by_name);
    if (!f->tensor || !f->by_name) return sl_fail_memory(n, sizeof *f->tensor, "tensors");
    for (sl_json_member m = sl_io_json_first(f->header); m.name;
         m = sl_io_json_next(f->header, m)) {
        if (strcmp(m.name, "__metadata__") == 0) continue;
        SL_TRY(read_tensor(&f->tensor[f->n], f, m.name, m.value));
        f->n++;
    }
    qsort(f->tensor, (size_t)f->n, sizeof *f->tensor, place_order);
    for (int i = 0; i < f->n; i++) f->by_name[i] = &f->tensor[i];
    qsort(f->by_name, (size_t)f->n, sizeof *f->by_name, sl_ckpt__st_name_order);
    return SL_OK;
}

/* Each tensor begins where the one before it ends, and the last ends with the file. */
static sl_status check_places(const sl_st_file *f) {
    int64_t at = 0;
    for (int i = 0; i < f->n; i++) {
        const sl_st_tensor *t = &f->tensor[i];
        if (t->begin < at) return bad_tensor(f, t->name, "it overlaps the one before it");
        if (t->begin > at)
            return sl_fail(SL_EFORMAT, "%s: a gap of %lld bytes before tensor \"%s\"", f->path,
                           (long long)(t->begin - at), t->name);
        at += sl_ckpt__st_bytes(t);
    }
    const int64_t whole = f->data + at;
    if (f->bytes < whole)
        return sl_fail(SL_EFORMAT, "%s: truncated: %lld of %lld bytes", f->path,
                       (long long)f->bytes, (long long)whole);
    if (f->bytes > whole)
        return sl_fail(SL_EFORMAT, "%s: %lld bytes behind the last tensor", f->path,
                       (long long)(f->bytes - whole));
    return SL_OK;
}

/* A checkpoint file must have both hashes; a hash is verified in a file of any program. So a
 * flipped bit in a member's name does not turn a checkpoint into an unchecked file. */
static sl_status check_hashes(const sl_st_file *f) {
    const char *header = sl_ckpt_st_metadata(f, SL_ST__HEADER_HASH);
    const char *data = sl_ckpt_st_metadata(f, SL_ST__DATA_HASH);
    if (sl_ckpt_st_metadata(f, SL_ST__FORMAT) && (!header || !data))
        return sl_fail(SL_EFORMAT, "%s: damaged: its metadata lack %s", f->path,
                       header ? SL_ST__DATA_HASH : SL_ST__HEADER_HASH);
    if (!header) return SL_OK;
    char hash[33];
    SL_TRY(sl_ckpt__st_header_hash(hash, f->text, f->n_text, f->by_name, f->n));
    if (strcmp(hash, header) != 0)
        return sl_fail(SL_EFORMAT, "%s: damaged: the header does not have the hash it should",
                       f->path);
    return SL_OK;
}

/* ---------------------------------------------------------------- interface ----------------- */

sl_status sl_ckpt_st_open(sl_st_file **out, const char *path) {
    sl_status st;
    const size_t n = strlen(path) + 1;
    sl_st_file *f = sl_calloc(1, sizeof *f);
    if (!f) return sl_fail_memory(1, sizeof *f, "a file of tensors");
    f->fd = -1;
    f->path = sl_malloc(n, 1);
    if (!f->path) SL_GO(sl_fail_memory(n, 1, "a file name"));
    memcpy(f->path, path, n);

    SL_GO(open_file(f));
    SL_GO(parse_header(f));
    SL_GO(read_metadata(f));
    SL_GO(check_version(f));
    SL_GO(read_tensors(f));
    SL_GO(check_places(f));
    SL_GO(check_hashes(f));
    *out = f;
    return SL_OK;
done:
    sl_ckpt_st_close(f);
    return st;
}

void sl_ckpt_st_close(sl_st_file *f) {
    if (!f) return;
    if (f->fd >= 0) close(f->fd);
    if (f->header) sl_io_json_free(f->header);
    sl_free(f->text);
    sl_free(f->by_name);
    sl_free(f->tensor);
    sl_free(f->path);
    sl_free(f);
}

int sl_ckpt_st_count(const sl_st_file *f) { return f->n; }

const sl_st_tensor *sl_ckpt_st_at(const sl_st_file *f, int i) {
    SL_ASSERT(i >= 0 && i < f->n);
    return &f->tensor[i];
}

const sl_st_tensor *sl_ckpt_st_find(const sl_st_file *f, const char *name) {
    const sl_st_tensor key = { .name = name }, *at = &key;
    const sl_st_tensor *const *found =
        bsearch(&at, f->by_name, (size_t)f->n, sizeof *f->by_name, sl_ckpt__st_name_order);
    return found ? *found : NULL;
}

const char *sl_ckpt_st_metadata(const sl_st_file *f, const char *name) {
    const sl_st_text key = { .name = name };
    const sl_st_text *found =
        bsearch(&key, f->text, (size_t)f->n_text, sizeof *f->text, sl_ckpt__st_text_order);
    return found ? found->text : NULL;
}

sl_status sl_ckpt_st_read(const sl_st_file *f, const sl_st_tensor *t, int64_t first, int64_t count,
                          void *out) {
    SL_ASSERT(first >= 0 && count >= 0 && first <= sl_ckpt__st_numbers(t) - count);
    const int64_t size = sl_ckpt__st_dtype_bytes(t->dtype);
    return read_at(f, out, f->data + t->begin + first * size, (size_t)(count * size));
}

sl_status sl_ckpt_st_verify(const sl_st_file *f) {
    const char *want = sl_ckpt_st_metadata(f, SL_ST__DATA_HASH);
    if (!want) return SL_OK;
    sl_status st;
    sl_hasher *h = NULL;
    char hash[33];
    const size_t slice = (size_t)SL_MIN(f->bytes - f->data, (int64_t)SLICE);
    char *buffer = sl_malloc(slice, 1);
    if (!buffer) return sl_fail_memory(slice, 1, "reading a file");
    SL_GO(sl_hasher_new(&h));
    for (int64_t at = f->data; at < f->bytes;) {
        const size_t n = (size_t)SL_MIN(f->bytes - at, (int64_t)slice);
        SL_GO(read_at(f, buffer, at, n));
        sl_hasher_add(h, buffer, n);
        at += (int64_t)n;
    }
    sl_hasher_text(h, hash);
    st = SL_OK;
    if (strcmp(hash, want) != 0)
        st = sl_fail(SL_EFORMAT, "%s: damaged: the data do not have the hash they should", f->path);
done:
    sl_hasher_free(h);
    sl_free(buffer);
    return st;
}

/* A slice at a time, so that a large tensor takes no memory of its size. */
static sl_status finite_tensor(const sl_st_file *f, const sl_st_tensor *t, void *buffer,
                               int64_t slice) {
    const int64_t n = sl_ckpt__st_numbers(t), some = slice / sl_ckpt__st_dtype_bytes(t->dtype);
    for (int64_t at = 0; at < n; at += some) {
        const int64_t count = SL_MIN(some, n - at);
        SL_TRY(sl_ckpt_st_read(f, t, at, count, buffer));
        const int64_t bad = sl_ckpt__st_not_finite(buffer, t->dtype, count);
        if (bad >= 0)
            return sl_fail(SL_EFORMAT,
                           "%s: tensor \"%s\": number %lld is not finite: training went wrong "
                           "before it was saved",
                           f->path, t->name, (long long)(at + bad));
    }
    return SL_OK;
}

sl_status sl_ckpt_st_finite(const sl_st_file *f) {
    const size_t slice = (size_t)SL_MAX(SL_MIN(f->bytes - f->data, (int64_t)SLICE), 8);
    char *buffer = sl_malloc(slice, 1);
    if (!buffer) return sl_fail_memory(slice, 1, "reading a file");
    sl_status st = SL_OK;
    for (int i = 0; i < f->n && st == SL_OK; i++)
        st = finite_tensor(f, &f->tensor[i], buffer, (int64_t)slice);
    sl_free(buffer);
    return st;
}

/* Any bytes as a file of tensors. If they are one, its tensors fill the file end to end and can be
 * read; if not, there is a reason. Whether it is a model too is asked of all of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ckpt/ckpt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

_Noreturn static void wrong(const char *what) {
    fprintf(stderr, "%s: %s\n", what, sl_last_error());
    abort();
}

/* The answer is good, or a reason that a file can give. */
static bool good(sl_status st) {
    if (st == SL_OK) return true;
    if (st != SL_EFORMAT || !*sl_last_error()) wrong("another status, or no reason");
    return false;
}

static void read_tensors(const sl_st_file *f, const uint8_t *data, size_t size) {
    uint64_t header;
    int64_t at = 0;
    memcpy(&header, data, sizeof header);
    const uint8_t *begin = data + 8 + header;
    for (int i = 0; i < sl_ckpt_st_count(f); i++) {
        const sl_st_tensor *t = sl_ckpt_st_at(f, i);
        if (sl_ckpt_st_find(f, t->name) != t) wrong("not found by its name");
        if (t->begin != at) wrong("not where the one before it ends");
        int64_t n = 1;
        for (int d = 0; d < t->dims; d++) n *= t->shape[d];
        const int64_t bytes = t->dtype == SL_F32 ? 4 : 8;
        uint8_t number[8];
        for (int64_t k = 0; k < n; k += SL_MAX(n - 1, 1)) { // first and last
            if (sl_ckpt_st_read(f, t, k, 1, number) != SL_OK) wrong("not read");
            if (memcmp(number, begin + at + k * bytes, (size_t)bytes) != 0) wrong("other numbers");
        }
        at += n * bytes;
    }
    if (begin + at != data + size) wrong("not all of the file");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static int fd = -1;
    char path[32];
    if (fd < 0) fd = memfd_create("input", 0);
    if (fd < 0 || ftruncate(fd, 0) != 0 || pwrite(fd, data, size, 0) != (ssize_t)size)
        wrong("no file in memory");
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);

    sl_st_file *f = NULL;
    sl_fail_restore("");
    if (good(sl_ckpt_st_open(&f, path))) {
        read_tensors(f, data, size);
        good(sl_ckpt_st_verify(f));
        const char *format = sl_ckpt_st_metadata(f, "symlaw_format");
        if (format && strcmp(format, "1") != 0) wrong("of another version");
        sl_ckpt_st_close(f);
    } else if (f) {
        wrong("a file all the same");
    }

    sl_model *m = NULL;
    float *weights = NULL;
    sl_ckpt_loaded l;
    if (good(sl_ckpt_open_model(&m, &weights, &l, path))) {
        sl_ckpt_loaded_clear(&l);
        sl_free(weights);
        sl_model_free(m);
    }
    if (sl_mem_blocks() != 0) wrong("memory not given back");
    return 0;
}

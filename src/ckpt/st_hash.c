/* st_hash - hashes that detect damage. The format itself has no checksum. */
#include <string.h>

#include "ckpt/ckpt_impl.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "files hold numbers as memory does");

int sl_ckpt__st_text_order(const void *a, const void *b) {
    const sl_st_text *x = a, *y = b;
    return strcmp(x->name, y->name);
}

int sl_ckpt__st_name_order(const void *a, const void *b) {
    const sl_st_tensor *const *x = a, *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

/* With its terminator, so that adjacent texts stay distinct. */
static void add_text(sl_hasher *h, const char *text) { sl_hasher_add(h, text, strlen(text) + 1); }

static void add_int(sl_hasher *h, int64_t n) { sl_hasher_add(h, &n, sizeof n); }

/* Of the header's content and not of its bytes: the same header with other blanks or in another
 * order is not damaged. */
sl_status sl_ckpt__st_header_hash(char out[33], const sl_st_text *text, int n_text,
                                  const sl_st_tensor *const *tensor, int n) {
    sl_hasher *h = NULL;
    SL_TRY(sl_hasher_new(&h));
    for (int i = 0; i < n_text; i++) {
        if (strcmp(text[i].name, SL_ST__HEADER_HASH) == 0) continue;
        add_text(h, text[i].name);
        add_text(h, text[i].text);
    }
    add_int(h, n);
    for (int i = 0; i < n; i++) {
        add_text(h, tensor[i]->name);
        add_text(h, sl_ckpt__st_dtype_name(tensor[i]->dtype));
        add_int(h, tensor[i]->dims);
        for (int d = 0; d < tensor[i]->dims; d++) add_int(h, tensor[i]->shape[d]);
        add_int(h, tensor[i]->begin);
    }
    sl_hasher_text(h, out);
    sl_hasher_free(h);
    return SL_OK;
}

sl_status sl_ckpt__st_data_hash(char out[33], const sl_st_tensor *tensor, int n) {
    sl_hasher *h = NULL;
    SL_TRY(sl_hasher_new(&h));
    for (int i = 0; i < n; i++)
        sl_hasher_add(h, tensor[i].data, (size_t)sl_ckpt__st_bytes(&tensor[i]));
    sl_hasher_text(h, out);
    sl_hasher_free(h);
    return SL_OK;
}

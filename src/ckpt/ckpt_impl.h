/* Shared inside ckpt/ only. */
#ifndef SL_CKPT_IMPL_H
#define SL_CKPT_IMPL_H

#include "ckpt/ckpt.h"

/* ---------------------------------------------------------------- safetensors --------------- */

/* Kinds of numbers, by the names that the format has for them.   id   bytes of a number */
#define SL_ST__DTYPES(X) X(F32, 4) X(F64, 8) X(I64, 8)

static inline int64_t sl_ckpt__st_dtype_bytes(sl_dtype dtype) {
    static const int64_t bytes[SL_DTYPE_COUNT] = {
#define X(id, n) [SL_##id] = (n),
        SL_ST__DTYPES(X)
#undef X
    };
    return bytes[dtype];
}

static inline const char *sl_ckpt__st_dtype_name(sl_dtype dtype) {
    static const char *const name[SL_DTYPE_COUNT] = {
#define X(id, n) [SL_##id] = #id,
        SL_ST__DTYPES(X)
#undef X
    };
    return name[dtype];
}

/* The numbers of a tensor whose shape is known to be good. */
static inline int64_t sl_ckpt__st_numbers(const sl_st_tensor *t) {
    int64_t n = 1;
    for (int i = 0; i < t->dims; i++) n *= t->shape[i];
    return n;
}

static inline int64_t sl_ckpt__st_bytes(const sl_st_tensor *t) {
    return sl_ckpt__st_numbers(t) * sl_ckpt__st_dtype_bytes(t->dtype);
}

/* The longest header that is accepted, as in other readers. */
#define SL_ST__MAX_HEADER 100000000

/* Members of the metadata that the reader and writer handle themselves. */
#define SL_ST__FORMAT "symlaw_format"
#define SL_ST__DATA_HASH "data_hash"
#define SL_ST__HEADER_HASH "header_hash"

/* For qsort, by name: of sl_st_text, and of pointers to sl_st_tensor. */
int sl_ckpt__st_text_order(const void *a, const void *b);
int sl_ckpt__st_name_order(const void *a, const void *b);

/* Hash of a header's content: the texts (header_hash left out), then name, dtype, shape and place
 * of each tensor; both sorted by name. */
SL_NODISCARD sl_status sl_ckpt__st_header_hash(char out[33], const sl_st_text *text, int n_text,
                                          const sl_st_tensor *const *tensor, int n);
/* Which of n numbers is the first that is NaN or infinite; -1: none. */
int64_t sl_ckpt__st_not_finite(const void *numbers, sl_dtype dtype, int64_t n);

/* Hash of the data of tensors in memory, one after the other. */
SL_NODISCARD sl_status sl_ckpt__st_data_hash(char out[33], const sl_st_tensor *tensor, int n);
/* sl_ckpt_st_write up to the commit, which is left to the caller. */
SL_NODISCARD sl_status sl_ckpt__st_begin(sl_file **out, const char *path,
                                         const sl_st_tensor *tensors, int n,
                                         const sl_st_text *metadata, int n_metadata);

/* ---------------------------------------------------------------- configurations ------------ */

/* Among rows that end with one without an option: see sl_ckpt_older_default. */
const sl_ckpt_older *sl_ckpt__older_find(const sl_ckpt_older *rows, const char *option, int format);

/* ---------------------------------------------------------------- checkpoints --------------- */

typedef enum sl_ckpt__kind { SL_CKPT__MODEL, SL_CKPT__STATE } sl_ckpt__kind;

/* "model" or "state": prefix of the file's name, and "kind" in the metadata. */
const char *sl_ckpt__kind_text(sl_ckpt__kind kind);

/* *out := dir/<kind>-<step>.safetensors; sl_free it. */
SL_NODISCARD sl_status sl_ckpt__path(char **out, const char *dir, sl_ckpt__kind kind, int64_t step);
/* Step of the newest model below `limit`, by its name; -1 if there is none. */
int64_t sl_ckpt__newest_below(const char *dir, int64_t limit);
/* Removes what is older than the checkpoint before that of `step`. */
void sl_ckpt__remove_old(const char *dir, int64_t step);

/* The texts of a checkpoint file: SL_EFORMAT names what the metadata lack. The caller clears `out`
 * after any status. */
SL_NODISCARD sl_status sl_ckpt__texts(sl_ckpt_loaded *out, const sl_st_file *f, const char *path,
                                      sl_ckpt__kind kind);
/* Does the file have this tensor? SL_EFORMAT names what it has instead. */
SL_NODISCARD sl_status sl_ckpt__expect(const sl_st_tensor **out, const sl_st_file *f,
                                       const char *path, const sl_st_tensor *want);
/* Does the file have all parameters of the model, and nothing else? */
SL_NODISCARD sl_status sl_ckpt__expect_weights(const sl_st_file *f, const char *path,
                                               const sl_model *m);
/* weights := the file's, after sl_ckpt__expect_weights returned SL_OK; 0 between tensors. */
SL_NODISCARD sl_status sl_ckpt__read_weights(float *weights, const sl_st_file *f,
                                             const sl_model *m);
/* A parameter as a tensor of a file, named `prefix` and its own name; stored in `name`. */
#define SL_CKPT__NAME 64
sl_st_tensor sl_ckpt__tensor(char name[SL_CKPT__NAME], const char *prefix, const sl_param *p);
/* The tensors of a state that are not per parameter: t, clamped, cpr (lambda, kappa, sampled,
 * increase) and cpr_set_at. */
enum { SL_CKPT__ROWS = 4, SL_CKPT__CPR = 4 };
void sl_ckpt__state_rows(sl_st_tensor row[SL_CKPT__ROWS], int n_tensor);

#endif

/* ckpt - what training keeps on disk, in safetensors files that Python opens unchanged.
 *
 *     8 bytes   length n of the header, little-endian
 *     n bytes   JSON: {"__metadata__":{...texts...}, "name":{"dtype":"F32","shape":[..],
 *               "data_offsets":[a,b]}, ...}, padded with blanks to a multiple of 8
 *     data      tensors one after the other, little-endian, without gaps
 *
 * A checkpoint is two such files in the run's folder: model-<step>.safetensors has the weights
 * under their names and is all that inference needs; state-<step>.safetensors has what training
 * needs besides. Each is written under a temporary name, synced and renamed, state first: where
 * model-<step> exists its state exists too. The last two checkpoints are kept.
 *
 * safetensors has no checksum, so ours are in the metadata: "data_hash", of all data bytes, and
 * "header_hash", of the header's content. Both are verified on reading; so are version, shapes, and
 * which run, step and weights a file belongs to. NaN and infinite numbers count as damage too. A
 * damaged file is reported and the older checkpoint is used. */
#ifndef SL_CKPT_H
#define SL_CKPT_H

#include "io/io.h"
#include "model/model.h"
#include "optim/optim.h"

#define SL_CKPT_VERSION 1

/* ---------------------------------------------------------------- configurations ------------ */

/* A configuration is a JSON object: options of the run by name, and "format", the version of what
 * they mean. Without a "format" it is 1. What later versions promise is in docs/formats.md:
 *
 *   - an option that a configuration lacks did not exist when it was written, and has the default
 *     of that format;
 *   - an unknown member is kept, written back, and reported;
 *   - a format newer than ours is refused.
 *
 * The format grows when a default changes, or when an option is added that an older program must
 * not ignore. */
#define SL_CKPT_CONFIG_FORMAT 1
#define SL_CKPT_CONFIG_MEMBER "format"

/* Defaults that have changed: what a missing option meant up to a format. Current defaults are in
 * the tables of options. Rows are added, never removed.
 *    option    last format it held in    value; the place of a choice */
#define SL_CKPT_OLDER_DEFAULTS(X)

typedef struct sl_ckpt_older {
    const char *option;
    int until;        // last format
    double value;     // as sl_option has it
} sl_ckpt_older;

/* The default that the option had in this format; NULL: the current one. */
const sl_ckpt_older *sl_ckpt_older_default(const char *option, int format);

/* *out := the configuration's. SL_EFORMAT: newer than ours, or none; `where` names it. */
SL_NODISCARD sl_status sl_ckpt_config_format(int *out, const sl_json *config, const char *where);

/* Is the option required, without a default? Those that define the shape of the model are, where
 * the tensors alone do not determine it. */
bool sl_ckpt_config_needs(const char *option);
/* SL_EFORMAT: names the required option that is missing. */
SL_NODISCARD sl_status sl_ckpt_config_lacks(const char *option, const char *where);
/* Appends to a list of missing options with the defaults that they have: "noise" (0), ... */
void sl_ckpt_missing_add(sl_str *s, const char *option, double value);

/* ---------------------------------------------------------------- safetensors --------------- */

typedef enum sl_dtype { SL_F32, SL_F64, SL_I64, SL_DTYPE_COUNT } sl_dtype;

#define SL_ST_MAX_DIMS 4
typedef struct sl_st_tensor {
    const char *name;
    sl_dtype dtype;
    int dims;
    int64_t shape[SL_ST_MAX_DIMS];
    const void *data; // to write; NULL in what was read
    int64_t begin;    // of what was read: its place in the data
} sl_st_tensor;

typedef struct sl_st_text { const char *name, *text; } sl_st_text; // a member of __metadata__

/* Writes the file whole or not at all, tensors in the given order: with those of 8-byte numbers
 * first, all are aligned. data_hash, header_hash and symlaw_format are added to the metadata.
 * SL_EINVAL: a text is no UTF-8. */
SL_NODISCARD sl_status sl_ckpt_st_write(const char *path, const sl_st_tensor *tensors, int n,
                                   const sl_st_text *metadata, int n_metadata);

typedef struct sl_st_file sl_st_file;
/* Reads and checks the header: SL_EFORMAT with the reason (truncated, not safetensors,
 * overlapping or out of range tensors, a kind of numbers unknown here, a version newer than ours,
 * ...). Files written by other programs are accepted too. */
SL_NODISCARD sl_status sl_ckpt_st_open(sl_st_file **out, const char *path);
void sl_ckpt_st_close(sl_st_file *f);
int sl_ckpt_st_count(const sl_st_file *f);                                  // tensors, by place
const sl_st_tensor *sl_ckpt_st_at(const sl_st_file *f, int i);
const sl_st_tensor *sl_ckpt_st_find(const sl_st_file *f, const char *name); // NULL if there is none
const char *sl_ckpt_st_metadata(const sl_st_file *f, const char *name);     // NULL if there is none
/* out := count numbers of the tensor, from `first` on; all must be inside it. */
SL_NODISCARD sl_status sl_ckpt_st_read(const sl_st_file *f, const sl_st_tensor *t, int64_t first,
                                  int64_t count, void *out);
/* Reads all data once and compares it with data_hash: SL_EFORMAT "... damaged". A file without one,
 * written by another program, passes. */
SL_NODISCARD sl_status sl_ckpt_st_verify(const sl_st_file *f);
/* Reads all data once: SL_EFORMAT names the first tensor with a number that is NaN or infinite. */
SL_NODISCARD sl_status sl_ckpt_st_finite(const sl_st_file *f);

/* ---------------------------------------------------------------- checkpoints --------------- */

/* What a checkpoint holds besides tensors. Texts are borrowed; NULL is kept as an empty one. */
typedef struct sl_ckpt_meta {
    int64_t step;         // steps done
    const char *config;   // the run's complete configuration, a JSON object
    const char *progress; // counters and sums of the log, exact: opaque here
    const char *vocabulary, *universe; // hashes
    /* NULL, or called before every rename and removal; any status but SL_OK ends the save */
    sl_status (*guard)(void *payload);
    void *guard_payload;
} sl_ckpt_meta;

/* dir/model-<step> and dir/state-<step>; then removes what is older than the one before. weights:
 * the whole block; m, v: whole blocks too (the optimiser's own where one rank owns all). The
 * optimiser has a tensor for each parameter of the model, in the same order. SL_ELIMIT: a number is
 * NaN or infinite, and nothing is written. A failure leaves all earlier checkpoints unchanged. */
SL_NODISCARD sl_status sl_ckpt_save(const char *dir, const sl_model *model, const float *weights,
                                    const sl_optim *optim, const float *m, const float *v,
                                    const sl_ckpt_meta *meta);

/* Result of sl_ckpt_load; texts are valid until sl_ckpt_loaded_clear. */
typedef struct sl_ckpt_loaded {
    int64_t step;
    char *config, *progress, *vocabulary, *universe;
    char *level, *libraries; // of the machine that wrote it: elsewhere bits may differ
    char *warning;           // NULL, or why a newer checkpoint was skipped
    char *missing; // NULL, or the model's options that the configuration lacks, with their defaults
} sl_ckpt_loaded;
void sl_ckpt_loaded_clear(sl_ckpt_loaded *l);

/* Loads the newest valid checkpoint of dir into weights and optimiser (its share of the moments,
 * constraints, steps done). Both files are validated before either target is written, though a
 * later read error may leave them half filled. SL_EINVAL: there is no checkpoint; SL_EFORMAT: none
 * is valid or fits the model, with what is wrong with the newest. */
SL_NODISCARD sl_status sl_ckpt_load(sl_ckpt_loaded *out, const char *dir, const sl_model *model,
                                    float *weights, sl_optim *optim);
/* *step := that of the newest valid checkpoint of dir, by its files alone; *warning (sl_free it):
 * NULL, or why a newer one is skipped. Statuses as of sl_ckpt_load. */
SL_NODISCARD sl_status sl_ckpt_look(int64_t *step, char **warning, const char *dir);
/* The path of the weights of a step, existing or not; truncated where `size` is too small. */
void sl_ckpt_model_path(char *out, size_t size, const char *dir, int64_t step);
/* Step of the newest checkpoint by its name; -1 if there is none. */
int64_t sl_ckpt_newest(const char *dir);
/* Of the one before that of `step`. */
int64_t sl_ckpt_before(const char *dir, int64_t step);
/* Removes temporary files of checkpoints left by killed processes. No other process may write to
 * the folder. sl_ckpt_save calls it too. */
void sl_ckpt_sweep(const char *dir);
/* Is it the name, without a folder, of a file of a checkpoint? */
bool sl_ckpt_is_file(const char *name);

/* The model of a weights file: its options from the configuration in the metadata (members named as
 * in sl_model_table, and "variables"), its weights (sl_free them). For callers that need no
 * state. */
SL_NODISCARD sl_status sl_ckpt_open_model(sl_model **model, float **weights, sl_ckpt_loaded *out,
                                          const char *path);

/* Revision of the source this was built from, or "unknown". */
const char *sl_ckpt_revision(void);
/* The same with the compiler: "revision 1f2e3d4, gcc 12.2.0". */
const char *sl_ckpt_build(void);

#endif

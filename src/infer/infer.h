/* infer - formulas for a data set from a trained model; samples that share prefixes share work.
 *
 * The encoder reads the data once. Then the decoder writes N targets token by token. Samples with
 * the same tokens so far are at the same node of a tree of prefixes, and a node is computed once
 * for all of them:
 *
 *     step 0      start                  128 samples, 1 row of work
 *     step 1      x_1   \sin   2         as many rows as there are distinct prefixes
 *     step 2      + ^   {      x_1 ...   finished samples are removed
 *
 * A node stores its keys and values in every layer; its attention reads those of all nodes up to
 * the root. So the cost of a step is proportional to the number of distinct live prefixes.
 *
 * Sample s of a data set draws its token t by its own random number, a function of (seed, problem,
 * s, t) alone, and the arithmetic of a decoder row does not depend on other rows (model.h). Hence a
 * sample does not depend on the number of samples, on batches or on threads: it is the same, to the
 * bit, as if it were sampled alone.
 *
 * Greedy and beam decoding use the same tree. With the grammar mask only tokens are drawn that can
 * still become an expression within the length that is left, so every sample is an expression.
 *
 * Ownership: samples live in the arena they were made in. Threads: a sl_infer is read only; each
 * call has its own state. */
#ifndef SL_INFER_H
#define SL_INFER_H

#include "model/model.h"
#include "par/par.h"
#include "token/token.h"

/* ---------------------------------------------------------------- a model for use ----------- */

typedef struct sl_infer sl_infer;

/* Defaults of options of pairs/ that a configuration may lack; api/ holds them against its
 * table. */
#define SL_INFER_POINTS 64
#define SL_INFER_DROP_COLUMN 0

/* What the checkpoint has besides weights. Texts are borrowed from the sl_infer. */
typedef struct sl_infer_info {
    const sl_model *model;
    const float *weights;
    int variables;        // columns of x that it was trained on
    int points;           // rows of a data set in training
    double drop_column;   // share of training sets that lacked columns they did not need
    int64_t step;
    const char *path;     // of the weights file; "" for one that was made here
    const char *config;   // the run's, a JSON object; "{}"
    const char *hash;     // 32 hex digits of the weights
    const char *warning;  // NULL, or why a newer checkpoint of the folder was not used
    const char *missing;  // NULL, or options that the configuration lacks, with their defaults
} sl_infer_info;

/* path: a weights file, or a run's folder, whose newest complete checkpoint is used. SL_EINVAL:
 * there is none; SL_EFORMAT: it is damaged, or its vocabulary is another one. */
SL_NODISCARD sl_status sl_infer_open(sl_infer **out, const char *path);
/* A model with given weights (copied; NULL: initial ones by seed): for benches and tests. */
SL_NODISCARD sl_status sl_infer_new(sl_infer **out, const sl_model_options *o, const float *weights,
                                    uint64_t seed, int points);
void sl_infer_close(sl_infer *m);
const sl_infer_info *sl_infer_about(const sl_infer *m);

/* ---------------------------------------------------------------- options ------------------- */

enum { SL_DECODE_SAMPLE, SL_DECODE_GREEDY, SL_DECODE_BEAM };

/* Options, described by sl_infer_table (options.c) up to length. What is longer than the longest
 * target of training is never right, and a formula for people is shorter. */
enum { SL_INFER_SHORT = 96 };
typedef struct sl_infer_options {
    int decode;         // SL_DECODE_*
    double temperature; // of sampling
    int64_t top_k;      // most probable tokens to sample from; 0: all
    double top_p;       // probability of the tokens to sample from
    int64_t length;     // of a sample in tokens at most, end token included
    bool grammar;       // only tokens that can still become an expression
    bool endless;       // the end token is never drawn: for benches
    uint64_t seed;
    uint64_t problem;   // which data set of the seed's: other ones draw other numbers
    int batch;          // samples that are decoded together, which bounds memory; 0: 512
} sl_infer_options;

extern const sl_option_table sl_infer_table;
sl_infer_options sl_infer_defaults(void);

/* SL_EINVAL names the option outside its bounds. */
SL_NODISCARD sl_status sl_infer_options_check(const sl_infer_options *o);

/* ---------------------------------------------------------------- samples ------------------- */

typedef struct sl_sampled {
    int64_t number;         // of the sample
    const sl_token *tokens; // the end token included, where there is one
    int n;
    bool ended;      // by the end token; else by length
    double log_prob; // of all its tokens, as the model gives them: at temperature 1, nothing masked
} sl_sampled;

typedef struct sl_infer_cost {
    int64_t rows;    // of the decoder that were computed
    int64_t tokens;  // that were drawn: what rows would be without shared prefixes
    double encode, decode; // seconds
} sl_infer_cost;

/* Polled from the calling thread; true ends the work early. */
typedef bool (*sl_infer_stop)(void *payload);

/* Of a data set the model reads x and y. If there are fewer inputs than in training, the missing
 * columns are left out if training had such data, else filled with numbers independent of y. */

/* out[i] := sample first + i, i < count, in a; with BEAM the most probable ones in order, with
 * GREEDY one. *made: how many there are; less than count only for GREEDY and BEAM, and when `stop`
 * returned true: then the finished ones in order of their numbers, out[i].number. The result does
 * not depend on the pool. cost and stop may be NULL. */
SL_NODISCARD sl_status sl_infer_run(sl_sampled *out, int64_t *made, sl_arena *a, const sl_infer *m,
                                    sl_pool *pool, const sl_dataset *d,
                                    const sl_infer_options *o, int64_t first, int64_t count,
                                    sl_infer_cost *cost, sl_infer_stop stop, void *payload);

/* Sum of -log p of these tokens (with the end token) given the data: what training minimises. */
SL_NODISCARD sl_status sl_infer_loss(double *out, const sl_infer *m, const sl_dataset *d,
                                     const sl_token *tokens, int n);

#endif

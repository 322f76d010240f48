/* model - the paper's encoder-decoder: configuration, parameter table, forward and backward.
 *
 * A data set is a grid of cells, one per point and column, the target y being column 0. A cell is
 * two scalars (mantissa, exponent/10) put into a vector of `width` numbers, with a code of its
 * column. An encoder layer is attention over the columns of a point, attention over the points of a
 * column, and an MLP; decoder layers are the standard ones, with attention to the cells of the
 * target column. Pre-norm throughout; the token table is tied to the output.
 *
 *   cells (columns, pairs, points)   ->  encoder x L  ->  memory (pairs, points)
 *   tokens (packed, no padding)      ->  decoder x L  ->  norm, table^T -> loss
 *
 * Column-major order of cells makes every attention read whole runs of rows: points of one column
 * are consecutive, and the target's cells are the first rows of all.
 *
 * One parameter table (name, shape, initialiser, regularised or not, place) lays out one block of
 * floats. Weights, gradients, both moments of the optimiser and checkpoints have this layout;
 * sizes, FLOPs and tests walk the table. Tensors begin at multiples of 16 floats; what is between
 * is 0.
 *
 * Work that no result depends on is left out: in the last encoder layer only the target's cells are
 * read on, so queries, outputs, the second attention and the MLP run on them alone; the first
 * layer's norm and product are taken on the few vectors that all cells are combinations of
 * (affine_body.h); targets are packed; the memory's keys and values are computed once.
 * SL_MODEL_PLAIN switches the first two off, for the test that they change nothing.
 *
 * The pass is one text (pass_body.h), compiled for float with the fast kernels and for double with
 * the plain ones (model_test.h); gradients are proved in double.
 *
 * Threads: weights are read only; each thread has its own sl_work and its own gradient block. */
#ifndef SL_MODEL_H
#define SL_MODEL_H

#include "data/data.h"

/* ---------------------------------------------------------------- configuration ------------- */

#define SL_MODEL_MAX_WIDTH 4096
#define SL_MODEL_MAX_LAYERS 64
#define SL_MODEL_MAX_HEADS 64
#define SL_MODEL_MAX_TOKENS 256 // positions of a target

/* Sizes with a name: the paper's five, and small ones by the same rule.   name  width  layers */
#define SL_MODEL_SIZES(X)      \
    X("6.5M",  256,  3)        \
    X("13.5M", 320,  4)        \
    X("24M",   384,  5)        \
    X("45.5M", 448,  7)        \
    X("93M",   512, 11)        \
    X("mini",  128,  2)        \
    X("micro",  64,  2)

/* Options of the model, described by sl_model_table (options.c). */
typedef struct sl_model_options {
    int64_t width, layers;  // layers of the encoder
    int64_t decoder_layers; // 0: as many as the encoder has
    int64_t heads;          // of each attention; 0: width/64, below 64 one for each 8 of the width
    double dropout;         // of what is added to the residual stream
    double attention_dropout;
    double norm_eps;        // added to the variance in layer norms
    double init_scale;      // standard deviation of initial weights
    int64_t columns;        // cells of a point, the target's included
    int64_t vocabulary;     // rows of the token table
} sl_model_options;

extern const sl_option_table sl_model_table; // all but columns and vocabulary
sl_model_options sl_model_defaults(void);    // of two inputs and 104 tokens

/* width, layers := those of a named size; SL_EINVAL lists the names. */
SL_NODISCARD sl_status sl_model_size_find(sl_model_options *o, const char *name);
/* The name of the size with this width and these layers; NULL if none has them. */
const char *sl_model_size_of(int64_t width, int64_t layers);

/* ---------------------------------------------------------------- parameters ---------------- */

typedef enum sl_init { SL_INIT_NORMAL, SL_INIT_ZERO, SL_INIT_ONE } sl_init;

typedef struct sl_param {
    char name[48];      // "encoder.0.columns.qkv.weight"
    int dims, shape[2]; // as PyTorch would have it: a linear map is (outputs, inputs)
    int64_t offset;     // in the block
    int64_t count;
    sl_init init;
    bool regularised;   // a matrix of a linear map
    bool encoder;       // belongs to the encoder
} sl_param;

typedef struct sl_model {
    sl_model_options options; // complete: 0 layers and heads resolved
    int n_param;
    sl_param *param;
    int64_t count, count_encoder; // of parameters
    int64_t block;                // floats of a block, padding included
    struct sl_model__layout *layout;
} sl_model;

/* SL_EINVAL names the option and what is wrong with it, such as a width that heads do not
 * divide. */
SL_NODISCARD sl_status sl_model_new(sl_model **out, const sl_model_options *o);
void sl_model_free(sl_model *m);
/* The parameter of this name, or -1. */
int sl_model_find(const sl_model *m, const char *name);
/* weights := initial values; a number depends on seed, tensor and place only. */
void sl_model_init(float *weights, const sl_model *m, uint64_t seed);

/* ---------------------------------------------------------------- a batch ------------------- */

/* Some pairs, all with the same number of points. */
typedef struct sl_batch {
    int pairs, points;
    const float *mantissa, *exponent; // (columns, pairs, points); exponent/10
    const uint8_t *present;           // (columns, pairs): 0 where a pair lacks the column; or NULL
    const uint8_t *ids, *targets;     // (tokens): what the decoder reads and what it should say
    const int *begin;                 // (pairs + 1): where each pair's tokens begin
    const int64_t *number; // (pairs): of the pair in the run, counts dropout's randomness
} sl_batch;

/* A data set as the cells of one pair: mantissa, exponent (columns, rows) and present (columns),
 * the target first. Columns behind the inputs are absent, and 0. */
void sl_model_write_cells(float *mantissa, float *exponent, uint8_t *present, const sl_dataset *d,
                          int columns);

typedef struct sl_dropout {
    uint64_t key; // of the run
    bool on;
} sl_dropout;

/* ---------------------------------------------------------------- the pass ------------------ */

enum { SL_MODEL_PLAIN = 1 }; // flags

/* Activations and scratch of up to `pairs` pairs and `tokens` tokens in all. */
typedef struct sl_work sl_work;
SL_NODISCARD sl_status sl_model_work_new(sl_work **out, const sl_model *m, int pairs, int points,
                                   int tokens, int flags);
void sl_model_work_free(sl_work *w);
/* What it will take from the allocator, without taking it. */
int64_t sl_model_work_bytes(const sl_model *m, int pairs, int points, int tokens, int flags);

/* `stop` is called before every layer, forward and backward, by the thread that runs the pass. True
 * abandons the pass: it then returns NaN, and what it has added to grad is of no use. */
void sl_model_work_set_stop(sl_work *w, bool (*stop)(void *payload), void *payload);

/* Returns the sum of -log p over the batch's target tokens. grad (a block, or NULL): the gradient
 * of that sum is added to it. logits ((tokens, vocabulary), or NULL) are copied out. */
double sl_model_pass(sl_work *w, float *grad, float *logits, const float *weights,
                     const sl_batch *b, sl_dropout dropout);

/* The encoder alone: memory (pairs, points, width). Of the batch, tokens may be NULL. */
void sl_model_encode(float *memory, sl_work *w, const float *weights, const sl_batch *b);

/* ---------------------------------------------------------------- decoding ------------------ */

/* The decoder one token at a time, for callers that generate targets. Prefixes of
 * targets form a tree; a node is one token behind its parent's, and keeps its keys and values in
 * every layer, so that a step computes one row per node and attends along the way to the root.
 *
 * A node's logits are computed by operations whose order depends on the node and those above it
 * alone (nn.h, "one row at a time"): whichever nodes are run with it, on whichever thread, they are
 * the same bits. Against the pass they differ by rounding. */

/* Weights laid out for that; borrows model and weights, and is read by any number of threads. */
typedef struct sl_decoder sl_decoder;
SL_NODISCARD sl_status sl_model_decoder_new(sl_decoder **out, const sl_model *m,
                                            const float *weights);
void sl_model_decoder_free(sl_decoder *d);

#define SL_PREFIX_ROWS 96 // nodes that one call of sl_model_prefixes_run takes

/* The tree of prefixes of one data set. workers: threads that may run nodes at once. */
typedef struct sl_prefixes sl_prefixes;
SL_NODISCARD sl_status sl_model_prefixes_new(sl_prefixes **out, const sl_decoder *d, int points,
                                       int workers);
void sl_model_prefixes_free(sl_prefixes *p);
/* Forgets all nodes and takes the memory (points, width) of a data set; points as given above or
 * fewer. */
void sl_model_prefixes_begin(sl_prefixes *p, const float *memory, int points);
/* *node := a new one for token `id` behind `parent`; -1: at the start. Its depth must stay below
 * SL_MODEL_MAX_TOKENS. */
SL_NODISCARD sl_status sl_model_prefixes_add(int *node, sl_prefixes *p, int parent, int id);
/* This node gets no more children: it is freed, and so are its ancestors that have no other
 * children. A node that has children is freed with the last of them. */
void sl_model_prefixes_drop(sl_prefixes *p, int node);
int sl_model_prefixes_alive(const sl_prefixes *p); // nodes that are in use
/* logits (n, vocabulary) of what comes behind each of n nodes, whose parents have been run before.
 * Each node is run once; calls for different nodes may run at the same time with different
 * workers. */
void sl_model_prefixes_run(float *logits, sl_prefixes *p, const int *rows, int n, int worker);

/* ---------------------------------------------------------------- cost ---------------------- */

/* FLOPs of a training step over one pair: as the paper counts them, 6 (N/2 cells + N/2 tokens), and
 * as executed in matrix products here, attention included. */
double sl_model_flops_paper(const sl_model *m, double cells, double tokens);
double sl_model_flops(const sl_model *m, int points, double tokens);

#endif

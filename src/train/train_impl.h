/* train_impl - shared inside train/: sizes, pairs as the model reads them, the engine, the log. */
#ifndef SL_TRAIN_IMPL_H
#define SL_TRAIN_IMPL_H

#include <stdatomic.h>

#include "ckpt/ckpt.h"
#include "train/train.h"

/* ---------------------------------------------------------------- sizes (plan.c) ------------ */

/* Sizes of all allocations. A pure function of configuration, threads and ranks, so the plan and
 * the engine cannot disagree. */
typedef struct sl_train__shape {
    int columns, points;
    int max_tokens;          // longest target
    int batch, lanes;        // of all ranks
    int chunk, chunk_tokens; // most pairs and tokens of one pass through the model
    int rank, ranks, threads;
    int workspaces;               // lanes that can run at once
    int64_t valid;           // pairs of the validation
} sl_train__shape;

SL_NODISCARD sl_status sl_train__shape_make(sl_train__shape *out, const sl_train_options *o,
                                            int columns, int points, int max_tokens, int64_t valid,
                                            int threads, int rank, int ranks);
SL_NODISCARD sl_status sl_train__plan_fill(sl_train_plan *out, const sl_train_config *c,
                                           const sl_model *m, const sl_train__shape *s,
                                           double tokens);

/* Lane l has the pairs lane_begin(l) .. lane_begin(l+1)-1 of a batch. */
static inline int sl_train__lane_begin(const sl_train__shape *s, int lane) {
    return (int)((int64_t)s->batch * lane / s->lanes);
}
static inline int sl_train__rank_lanes(const sl_train__shape *s) { return s->lanes / s->ranks; }
/* Validation runs by groups of `chunk` pairs; a rank has a run of them. */
static inline int64_t sl_train__groups(const sl_train__shape *s) {
    return (s->valid + s->chunk - 1) / s->chunk;
}
static inline int64_t sl_train__group_begin(const sl_train__shape *s, int rank) {
    return sl_train__groups(s) * rank / s->ranks;
}

/* The parameter table as the optimiser sees it; sl_free it. */
SL_NODISCARD sl_status sl_train__tensors(sl_tensor **out, const sl_model *m);
/* The model of a configuration: columns and vocabulary are those of its pairs, if it has any. */
SL_NODISCARD sl_status sl_train__model(sl_model **out, const sl_train_config *c);

/* ---------------------------------------------------------------- pairs (feed.c) ------------ */

/* Some pairs as numbers and tokens, each at its own place, so that threads can make them in any
 * order. */
typedef struct sl_train__feed {
    int columns, points, max_tokens, pairs;
    int64_t first;               // index of the first one
    float *mantissa, *exponent;  // (pairs, columns, points)
    int *n_tokens;               // (pairs)
    uint8_t *present, *tokens;   // (pairs, columns), (pairs, max_tokens)
} sl_train__feed;

/* A source of pairs: a split, or (pairs NULL) a feed whose pairs are used repeatedly. */
typedef struct sl_train__source {
    const sl_pairs *pairs;
    sl_split split;
    const sl_train__feed *stored;
} sl_train__source;

int64_t sl_train__feed_bytes(const sl_train__shape *s, int64_t pairs);
SL_NODISCARD sl_status sl_train__feed_new(sl_train__feed *f, const sl_train__shape *s,
                                          int64_t pairs);
void sl_train__feed_clear(sl_train__feed *f);
/* Slot `at` := pair first + at of the source. */
SL_NODISCARD sl_status sl_train__feed_make(sl_train__feed *f, int at, sl_arena *a,
                                           const sl_train__source *source);
/* Slot `at` := random numbers and n tokens, by key and place. */
void sl_train__feed_random(sl_train__feed *f, int at, int n, int vocabulary, uint64_t key);

/* A place to run chunks at: activations, and room where pairs are packed for the model. */
typedef struct sl_train__workspace {
    atomic_bool taken;
    sl_work *work;
    float *mantissa, *exponent; // (columns, pairs, points) of a chunk
    int64_t *number;
    int *begin;
    uint8_t *present, *ids, *targets;
} sl_train__workspace;

int64_t sl_train__workspace_bytes(const sl_model *m, const sl_train__shape *s);
SL_NODISCARD sl_status sl_train__workspace_new(sl_train__workspace *workspace, const sl_model *m,
                                          const sl_train__shape *s);
void sl_train__workspace_clear(sl_train__workspace *workspace);

/* Pairs from .. to-1 of a feed through the model, chunk by chunk. Returns the sum of -log p; adds
 * the target tokens to *tokens, and the gradient to grad (or NULL: forward only). */
double sl_train__run_pairs(sl_train__workspace *workspace, float *grad, int64_t *tokens,
                           const float *weights, const sl_train__shape *s, const sl_train__feed *f,
                           int from, int to, sl_dropout dropout);

/* ---------------------------------------------------------------- a step (engine.c) --------- */

typedef struct sl_train__engine {
    const sl_model *model;
    sl_pool *pool;
    sl_train__shape shape;
    sl_train__source source;
    sl_dropout dropout;
    float *weights;
    float **grad;              // a block for each lane of this rank
    float *received;           // ranks > 1: the sums of all ranks for our share
    sl_optim *optim;
    int64_t *share, *lanes_of; // where each rank's numbers, and its lanes, begin
    double *loss;              // by lane, of all ranks
    int64_t *tokens;
    sl_train__feed feed[2];    // of this step and of the next
    int64_t ready;             // step whose pairs feed[step % 2] holds; -1: none
    sl_train__workspace *workspace;
    sl_arena *arena;           // by worker
    atomic_bool stop;          // what runs is abandoned: some rank is asked to stop
} sl_train__engine;

/* Everything but weights' values. */
SL_NODISCARD sl_status sl_train__engine_new(sl_train__engine *e, sl_pool *pool, const sl_model *m,
                                            const sl_train__shape *s, const sl_optim_options *o,
                                            int64_t steps, uint64_t seed,
                                            const sl_train__source *source);
void sl_train__engine_clear(sl_train__engine *e);

typedef struct sl_train__outcome {
    double loss;     // sum of -log p over the batch
    int64_t tokens;
    const char *bad; // NULL, or what was not finite: "loss" or "gradient"
    sl_optim_report optim;
} sl_train__outcome;

/* Step `step` (from 0), making the next one's pairs meanwhile if there is one. Collective. A loss
 * or gradient that is not finite is SL_ELIMIT with out->bad. A step that is abandoned because a
 * rank was asked to stop (sl_par_stopping) is SL_ECANCEL on all ranks. Both leave the weights
 * unchanged. */
SL_NODISCARD sl_status sl_train__step(sl_train__outcome *out, sl_train__engine *e, int64_t step,
                                      bool more);

/* Any thread, between pieces of work: is the step to be abandoned? One thread polls and sets
 * e->stop; the others read it. */
bool sl_train__stopping(sl_train__engine *e);
SL_NODISCARD sl_status sl_train__fail_stopped(void);

/* A free workspace; there is one for every thread that runs lanes. */
sl_train__workspace *sl_train__workspace_take(sl_train__engine *e);
void sl_train__workspace_leave(sl_train__workspace *workspace);

/* ---------------------------------------------------------------- validation (valid.c) ------ */

typedef struct sl_train__valid {
    sl_train__feed feed; // this rank's pairs
    int64_t *groups_of;  // where each rank's groups begin
    double *loss;        // by group, of all ranks
    int64_t *tokens;
} sl_train__valid;

int64_t sl_train__valid_bytes(const sl_train__shape *s);
SL_NODISCARD sl_status sl_train__valid_new(sl_train__valid *v, sl_train__engine *e,
                                           const sl_pairs *pairs);
void sl_train__valid_clear(sl_train__valid *v);
/* Sums over all validation pairs with the present weights. Collective; SL_ECANCEL as with a
 * step. */
SL_NODISCARD sl_status sl_train__validate(double *loss, int64_t *tokens, sl_train__valid *v,
                                          sl_train__engine *e);

/* ---------------------------------------------------------------- the log (log.c) ----------- */

/* State of the log that a checkpoint stores, so that a resumed run writes the same lines. */
typedef struct sl_train__tally {
    double seconds; // of the run so far
    int64_t tokens;
    // of the line in the making
    int64_t line_steps, line_tokens, line_clipped;
    double line_loss, line_grad_norm, line_seconds;
    bool valid_due; // the validation of the last step was abandoned
    // as last reported
    double loss, loss_expression, loss_valid, loss_valid_expression, pairs_per_second;
} sl_train__tally;

void sl_train__tally_init(sl_train__tally *t);
void sl_train__tally_write(sl_str *s, const sl_train__tally *t);
/* Members that the text lacks, from a version that did not count them, stay as they are in *t and
 * are appended to *missing. */
SL_NODISCARD sl_status sl_train__tally_read(sl_train__tally *t, sl_str *missing, const char *text);

typedef struct sl_train__log {
    sl_file *file;
    sl_str line;
} sl_train__log;

/* Opens the log at the end of what belongs to the first `step` steps; the rest is cut off.
 * valid_due: so is the validation of the last of them. */
SL_NODISCARD sl_status sl_train__log_open(sl_train__log *log, const char *path, int64_t step,
                                          bool valid_due);
void sl_train__log_close(sl_train__log *log);
/* A line: begin, add members to log->line, end. */
void sl_train__log_begin(sl_train__log *log, const char *event, int64_t step);
SL_NODISCARD sl_status sl_train__log_end(sl_train__log *log);
SL_NODISCARD sl_status sl_train__log_sync(sl_train__log *log);

/* ---------------------------------------------------------------- the folder (folder.c) ----- */

typedef struct sl_train__folder {
    const char *path;
    char run[512], log[512]; // files in it
    int lock;                // descriptor that keeps others out; -1: none
    bool begun;              // there was a run.json
    char pairs[33], vocabulary[33];
} sl_train__folder;

/* Checks whether a run can begin or continue there, changing nothing; locks the folder if it
 * exists. SL_EINVAL with the remedy if it cannot. */
SL_NODISCARD sl_status sl_train__folder_look(sl_train__folder *f, sl_pool *pool,
                                             const sl_train_config *c, int64_t steps);
/* Makes the folder and run.json if they are missing. */
SL_NODISCARD sl_status sl_train__folder_begin(sl_train__folder *f, const sl_train_config *c,
                                              int64_t steps);
void sl_train__folder_close(sl_train__folder *f);
/* Is the checkpoint of this run? run.json may be lost, and files may have been copied there. */
SL_NODISCARD sl_status sl_train__folder_fits(const sl_ckpt_loaded *l, const sl_train_config *c);

/* Where a configuration differs from the one that a run was begun with: true, and the first
 * member's name, or false. What the run's configuration lacks does not count. */
bool sl_train__config_differs(char *name, size_t size, const sl_json *mine, const sl_json *kept);

#endif

/* train - the training loop. Weights are the same bits for any number of threads and ranks.
 *
 * A batch is divided into a fixed number of lanes, a power of two that is part of the
 * configuration. The pairs of a lane pass through the model on one thread, in chunks that fit the
 * cache, into a gradient block of the lane:
 *
 *     batch   | p p p p | p p p p | p p p p | p p p p |        4 lanes of 4 pairs
 *     blocks      g0        g1        g2        g3
 *     sum              (g0 + g1)  +  (g2 + g3)                  always by halves
 *
 * So the sum does not depend on which thread or rank computed which lane: threads take the next
 * free lane; a rank has a subtree of lanes. Each rank owns a share of the parameters: it receives
 * the sums of all ranks for its share, finishes the tree and updates its share of the weights; then
 * all ranks gather the weights.
 *
 * While lanes run, the same threads make the pairs of the next batch. Random numbers are functions
 * of counters: pairs of their number, dropout of pair and place. So a resumed run needs only
 * weights, moments, constraints and the step.
 *
 * A run is a folder: run.json (configuration, libraries, CPU), log.jsonl (one line per event, by
 * steps), and the last two checkpoints. Times are only in the fields `seconds` and
 * `pairs_per_second`; all other fields of the log are the same however the run is executed. */
#ifndef SL_TRAIN_H
#define SL_TRAIN_H

#include "model/model.h"
#include "nn/nn.h"
#include "optim/optim.h"
#include "pairs/pairs.h"

#define SL_TRAIN_MAX_LANES SL_NN_MAX_BLOCKS

/* Options, described by sl_train_table (options.c). */
typedef struct sl_train_options {
    int64_t batch;            // pairs of a step
    double ratio;             // length in target tokens per parameter; 0: not given
    int64_t steps;            // length in steps; 0: not given
    double flops;             // length in FLOPs by the paper's count; 0: not given
    int64_t lanes;            // parts of a batch, a power of two
    int64_t valid_steps;      // between validations; 0: a twentieth of the run
    int64_t valid_pairs;      // 0: no validation
    int64_t log_steps;        // of a line of the log; 0: a thousandth of the run
    int64_t checkpoint_steps; // between checkpoints; 0: by time
    double checkpoint_minutes; // between checkpoints; 0: only at the end
    int64_t weights_seed;     // of initial weights and dropout; -1: the run's seed
} sl_train_options;

extern const sl_option_table sl_train_table;
sl_train_options sl_train_defaults(void);

/* Asked by rank 0 before everything that is written into the folder of a run. SL_ECANCEL: the
 * folder belongs to another process now. The run ends with it, and nothing is saved on the way
 * out. */
typedef sl_status (*sl_train_guard)(void *payload);

/* Everything a run is determined by, and the guard of its folder. */
typedef struct sl_train_config {
    sl_train_options train;
    sl_model_options model;
    sl_optim_options optim;
    uint64_t seed;            // of weights and dropout; data have that of their pairs
    const sl_pairs *pairs;    // borrowed; columns and points come from it
    const char *config_json;  // the same as text, to be kept with the run
    const char *out;          // folder of the run
    bool resume;              // with the options of the run's configuration; one that is missing
                              // there, from before it existed, has its default of that time
    sl_train_guard guard;     // NULL: the folder's lock alone protects it
    void *guard_payload;
    bool *diverged;           // NULL, or := true where a number that is not finite ends the run
} sl_train_config;

/* May this option be another one when a run is resumed? How often it is saved may: that changes no
 * result. All others must stay. */
bool sl_train_may_change(const char *option);

/* ---------------------------------------------------------------- cost ---------------------- */

/* What a run will take, before anything is allocated. */
typedef struct sl_train_plan {
    int64_t steps;
    double tokens_per_pair;           // mean over the first training pairs, or as given
    double flops_pair_paper, flops_pair; // per pair: the paper's formula, and as executed
    double flops;                     // of the run, by the paper's formula
    double ratio;                     // target tokens per parameter
    int64_t passes;                   // over the training pairs, begun
    int lanes, chunk;                 // lanes used; pairs of a chunk
    // bytes from the allocator, of one rank
    int64_t memory, memory_weights, memory_gradients, memory_optimiser, memory_activations,
        memory_batches;
} sl_train_plan;

/* points: 0 takes them from c->pairs; tokens: 0 measures them. c->pairs may be NULL if both are
 * given. SL_EINVAL for options that contradict each other. */
SL_NODISCARD sl_status sl_train_plan_make(sl_train_plan *out, const sl_train_config *c,
                                          const sl_model *m, int points, double tokens, int threads,
                                          int ranks);

/* ---------------------------------------------------------------- a run --------------------- */

typedef struct sl_train_report {
    int64_t step, steps;
    double loss, loss_valid;  // nats per token: the last steps, the last validation; NaN: none
    double loss_expression, loss_valid_expression; // nats per expression
    double lr, pairs_per_second, gflops; // GFLOP/s by the paper's count
    double seconds;           // of the whole run, earlier parts included
    const char *note;         // NULL, or a message: a checkpoint saved, a bound set
} sl_train_report;

/* Called after every step; anything but 0 ends the run after that step, saved, with SL_ECANCEL. A
 * request to stop that a watch of any rank sees (sl_par_watch_begin) ends it sooner: the step or
 * the validation at hand is abandoned, and what was done before is saved. */
typedef int (*sl_train_progress)(const sl_train_report *latest, void *payload);

typedef struct sl_train_result {
    int64_t step, resumed_at;      // steps done; step it was resumed at, -1: from the start
    double loss, loss_expression;  // of the last line of the log
    double loss_valid, loss_valid_expression;
    double tokens, flops, seconds;
    int bounds_set;
    int64_t peak_bytes;            // of our allocator, above what was held before the run
    char checkpoint[512];          // path of the last weights
} sl_train_result;

/* Runs or resumes until the end; a run that is at its end returns at once. SL_ECANCEL: stopped on
 * request, saved. A loss, gradient, weight or moment that is not finite is SL_ELIMIT with the step,
 * and the last checkpoint stays. SL_EINVAL: the folder holds a run and `resume` is not set, or it
 * is another run, or another process trains there. config_json is a JSON object; run.json has
 * its members, and "run". With SL_ECANCEL and whatever ends a run between steps, *out is filled
 * too. Collective over ranks; only rank 0 writes and calls progress. */
SL_NODISCARD sl_status sl_train_run(sl_train_result *out, sl_pool *pool, const sl_train_config *c,
                                    sl_train_progress progress, void *payload);

/* ---------------------------------------------------------------- timing -------------------- */

typedef struct sl_train_timing {
    int steps;
    double median, best;   // seconds of a step
    double loss;           // of the last step, nats per token
    int64_t peak_bytes, planned_bytes;
    sl_train_plan plan;
} sl_train_timing;

/* Times `steps` steps (after two that warm up) on made-up pairs of `points` points and exactly
 * `tokens` target tokens: the same step that a run takes, pairs being copied rather than computed.
 * Rank 0 calls progress, unless NULL, with step, steps and loss after every step; anything
 * but 0 ends it with SL_ECANCEL. */
SL_NODISCARD sl_status sl_train_time(sl_train_timing *out, sl_pool *pool, const sl_train_config *c,
                                     int points, int tokens, int steps, sl_train_progress progress,
                                     void *payload);

#endif

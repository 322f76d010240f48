/* Inside src/infer only: a data set that is being decoded, and the choice of a token. */
#ifndef SL_INFER_IMPL_H
#define SL_INFER_IMPL_H

#include "ckpt/ckpt.h"
#include "infer/infer.h"
#include "nn/nn.h"

/* Streams of random numbers. */
enum { SL_INFER__DRAWS = 0x5a3b1e, SL_INFER__FILLING = 0x5a3b1f };

struct sl_infer {
    sl_infer_info info;
    sl_model *model;
    float *weights;
    sl_decoder *decoder;
    sl_ckpt_loaded loaded; // of a checkpoint
    char hash[33];
    char *path;
    sl_str missing; // options that its configuration lacks
};

/* ---------------------------------------------------------------- data ---------------------- */

/* A data set as the model reads it: one batch of one pair. */
typedef struct sl_infer__cells {
    sl_batch batch;
    float *mantissa, *exponent;
    uint8_t present[SL_NN_MAX_COLUMNS];
    int64_t number;
} sl_infer__cells;

/* In a. Columns that the data lack are filled by numbers of (seed, problem). */
SL_NODISCARD sl_status sl_infer__cells_make(sl_infer__cells *out, sl_arena *a, const sl_infer *m,
                                            const sl_dataset *d, uint64_t seed,
                                            uint64_t problem);

/* ---------------------------------------------------------------- choosing ------------------ */

/* The tokens that may follow a node, and their probabilities. */
typedef struct sl_infer__choice {
    double log_prob[SL_TOKEN_COUNT]; // by the model
    double up_to[SL_TOKEN_COUNT];    // sum of the weights of tokens 0 .. i that may be drawn
    bool may[SL_TOKEN_COUNT];        // be drawn
} sl_infer__choice;

/* allowed: by the grammar; NULL: all. */
void sl_infer__choice_make(sl_infer__choice *c, const float *logits, const sl_infer_options *o,
                           const sl_token_set *allowed);
/* u in [0, 1). */
int sl_infer__choice_draw(const sl_infer__choice *c, double u);
int sl_infer__choice_best(const sl_infer__choice *c);

/* ---------------------------------------------------------------- decoding ------------------ */

/* A live prefix. */
typedef struct sl_infer__live {
    int node;
    int first, count;     // samples that stand here: places in a list of them
    sl_token_state state; // of its grammar
} sl_infer__live;

/* Work on one data set. */
typedef struct sl_infer__walk {
    const sl_infer *model;
    const sl_infer_options *o;
    sl_pool *pool;
    sl_prefixes *prefixes;
    float *memory;      // (points, width)
    int points, inputs;
    sl_infer__live *live, *next, *block; // the two take turns in the block
    int n_live, room;   // how many there are; most at once
    float *logits;      // (SL_PREFIX_ROWS, vocabulary) for each worker
    int at;             // tokens that all prefixes have, the start token not counted
    sl_infer_cost *cost;
    sl_infer_stop stop;
    void *payload;
    // called once for each live prefix when its choice is known, from any thread
    void (*use)(struct sl_infer__walk *w, int live, const sl_infer__choice *c);
    void *use_payload;
} sl_infer__walk;

/* room: most live prefixes at once. Encodes the data. Clear it whatever is returned. */
SL_NODISCARD sl_status sl_infer__walk_init(sl_infer__walk *w, const sl_infer *m, sl_pool *pool,
                                           const sl_dataset *d, const sl_infer_options *o,
                                           int room);
void sl_infer__walk_clear(sl_infer__walk *w);
/* One live prefix: the start token. */
SL_NODISCARD sl_status sl_infer__walk_begin(sl_infer__walk *w);
/* Computes all live prefixes and passes their choices to `use`. */
SL_NODISCARD sl_status sl_infer__walk_step(sl_infer__walk *w);
/* w->next[to] := w->live[from] with one more token, for the next step. */
SL_NODISCARD sl_status sl_infer__walk_branch(sl_infer__walk *w, int to, int from, int token);
/* The n prefixes of w->next become the live ones. */
void sl_infer__walk_turn(sl_infer__walk *w, int n);

SL_NODISCARD sl_status sl_infer__sample(sl_sampled *out, int64_t *made, sl_arena *a,
                                        sl_infer__walk *w, int64_t first, int64_t count);
SL_NODISCARD sl_status sl_infer__beam(sl_sampled *out, int64_t *made, sl_arena *a,
                                      sl_infer__walk *w, int64_t first, int64_t count);

#endif

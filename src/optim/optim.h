/* optim - from gradients to new weights: clipping, schedule, Adam, AdamW, AdamCPR.
 *
 * A step has a fixed order: lanes are summed, the norm of the whole gradient decides the clip
 * factor, Adam moves every number, and AdamCPR then holds each regularised tensor's sum of squares R
 * under a bound kappa by shrinking it, with a Lagrange multiplier lambda per tensor:
 *
 *     m += (1-b1)(g - m);  v = b2 v + (1-b2) g^2
 *     w -= (lr/c1) m / (sqrt(v)/sqrt(c2) + eps)              c1 = 1-b1^t, c2 = 1-b2^t
 *     lambda = max(0, lambda + (mu/n)(R - kappa));  w *= 1 - 2 lambda      once kappa is set
 *
 * kappa is found per tensor at the inflection of R: R is sampled every S steps, and the first sample
 * whose increase is smaller than the one before it (not before step 4 S) sets kappa = R. Until
 * then the tensor is free. Other ways to set kappa are options.
 *
 * Everything works on pieces: each tensor is cut into runs of at most SL_PIECE numbers, and sums go
 * piece by piece, in order, in double. A piece is the unit that threads share and that ranks own,
 * so results depend on neither.
 *
 *     tensors   |------- a -------|-- b --|------------ c ------------|
 *     pieces    |  0  |  1  |  2  |   3   |  4  |  5  |  6  |   7   |
 *
 * The arithmetic is one text for float and double (optim_test.h has the double twin). Callers write no
 * field of sl_optim but the state that a checkpoint restores: t, clamped, cpr, m, v. */
#ifndef SL_OPTIM_H
#define SL_OPTIM_H

#include "par/par.h"

#define SL_PIECE 16384

enum { SL_OPTIM_ADAMCPR, SL_OPTIM_ADAM, SL_OPTIM_ADAMW };
enum { SL_KAPPA_INFLECTION, SL_KAPPA_UNIFORM, SL_KAPPA_DEPENDENT, SL_KAPPA_WARM_START };

/*    field    option    kind    default    as text    choices    min    max    shown    help */
#define SL_OPTIM_TABLE(X)                                                                          \
    X(optimizer, "optimizer", CHOICE, SL_OPTIM_ADAMCPR, "adamcpr", "adamcpr|adam|adamw", 0, 0,     \
      "NAME", "how weights are moved")                                                             \
    X(lr, "lr", REAL, 4.6e-4, "4.6e-4", NULL, 0, 1e3, "RATE", "peak learning rate")                \
    X(warmup, "warmup", REAL, 0.05, "0.05", NULL, 0, 1, "PART",                                    \
      "part of the steps over which the learning rate rises")                                      \
    X(decay, "decay", REAL, 0.01, "0.01", NULL, 0, 1, "F",                                         \
      "learning rate at the end, as a part of the peak; a cosine leads there")                     \
    X(clip, "clip", REAL, 1.0, "1", NULL, 0, 1e9, "NORM",                                          \
      "longest gradient, by its norm over all parameters; 0: no limit")                            \
    X(beta1, "beta1", REAL, 0.9, "0.9", NULL, 0, 0.999999, "B", "memory of the mean gradient")     \
    X(beta2, "beta2", REAL, 0.98, "0.98", NULL, 0, 0.999999, "B",                                  \
      "memory of the mean squared gradient")                                                       \
    X(eps, "eps", REAL, 1e-9, "1e-9", NULL, 1e-30, 1, "EPS", "added to the root in Adam")          \
    X(weight_decay, "weight-decay", REAL, 0.1, "0.1", NULL, 0, 10, "W",                            \
      "weight decay of adamw; the others have none")                                               \
    X(kappa_init, "kappa-init", CHOICE, SL_KAPPA_INFLECTION, "inflection",                         \
      "inflection|uniform|dependent|warm-start", 0, 0, "HOW",                                      \
      "adamcpr: how the bound of a tensor is found")                                               \
    X(kappa_param, "kappa-param", REAL, 1000, "1000", NULL, 0, 1e12, "K",                          \
      "adamcpr: the bound (uniform), its ratio to the first sum of squares (dependent), or steps"  \
      " before it is set (warm-start)")                                                            \
    X(kappa_update, "kappa-update", REAL, 1.0, "1", NULL, 0, 1e6, "MU",                            \
      "adamcpr: rate of the multiplier")                                                           \
    X(kappa_steps, "kappa-steps", INT, 0, "0", NULL, 0, 1e9, "S",                                  \
      "adamcpr: steps between looks for the inflection; 0: 200, in runs below 16,000 steps a tenth"\
      " of the warm-up")

typedef struct sl_optim_options {
#define SL_OPTIM_INT(field) int64_t field;
#define SL_OPTIM_REAL(field) double field;
#define SL_OPTIM_CHOICE(field) int field;
#define X(field, option, kind, ...) SL_OPTIM_##kind(field)
    SL_OPTIM_TABLE(X)
#undef X
#undef SL_OPTIM_INT
#undef SL_OPTIM_REAL
#undef SL_OPTIM_CHOICE
} sl_optim_options;

#define SL_OPTIM__VALUE(field, option, kind, value, ...) .field = value,
#define SL_OPTIM_OPTIONS_INIT { SL_OPTIM_TABLE(SL_OPTIM__VALUE) }

SL_NODISCARD sl_status sl_optim_options_check(const sl_optim_options *o);

/* ---------------------------------------------------------------- schedule ------------------ */

/* The learning rate of step 0 .. steps-1: (s+1)/w of the peak while s < w = warmup steps, then a cosine
 * from the peak to decay times the peak. */
double sl_optim_lr(const sl_optim_options *o, int64_t step, int64_t steps);
int64_t sl_optim_warmup_steps(const sl_optim_options *o, int64_t steps);
/* S: as given, or by the rule. */
int64_t sl_optim_kappa_steps(const sl_optim_options *o, int64_t steps);

/* ---------------------------------------------------------------- state --------------------- */

/* A tensor in a block of numbers. */
typedef struct sl_tensor {
    int64_t offset, count;
    bool regularised;
} sl_tensor;

typedef struct sl_piece {
    int tensor;
    int64_t offset; // in the block
    int count;
} sl_piece;

/* The constraint on one tensor. Goes into the checkpoint as it is. */
typedef struct sl_cpr {
    double lambda;
    double kappa;       // valid if set_at >= 0
    double sampled;     // R at the last look; 0 before the first
    double increase;    // to it from the look before
    int64_t set_at;     // step (from 1) after which kappa was set; -1: not yet
} sl_cpr;

typedef struct sl_optim {
    sl_optim_options options;
    int64_t steps;         // of the whole run
    int64_t t;             // steps done
    int n_tensor, n_piece;
    sl_tensor *tensor;
    sl_piece *piece;
    sl_cpr *cpr;           // per tensor
    double *sum;           // per piece: sums of squares, of the gradient before a step
    int rank, ranks;
    int64_t *share;        // (ranks + 1): the piece that each rank's share begins with
    int first, last;       // pieces that this rank owns: first .. last-1
    int64_t begin, end;    // the numbers of the block that they span
    float *m, *v;          // moments of begin .. end
    int64_t clamped;       // times that 2 lambda had to be kept below 1/2
} sl_optim;

/* Owns share `rank` of `ranks`: a run of pieces, nearly equal in numbers, empty for some where there
 * are more ranks than pieces. Tensors come by rising offset. SL_EINVAL: the options. */
SL_NODISCARD sl_status sl_optim_new(sl_optim **out, const sl_tensor *tensors, int n_tensor,
                                    const sl_optim_options *o, int64_t steps, int rank, int ranks);
void sl_optim_free(sl_optim *s);
int64_t sl_optim_bytes(const sl_tensor *tensors, int n_tensor, int rank, int ranks);
/* begin[0 .. ranks]: where each rank's numbers begin in the block; the last is the block's end. */
void sl_optim_shares(int64_t *begin, const sl_tensor *tensors, int n_tensor, int ranks);

/* grad := the sum of n blocks by halves (sl_nn_sum_tree), piece by piece, and its sums of squares are kept
 * for the step. n: a power of two up to SL_NN_MAX_BLOCKS. share: of the owned pieces alone, and block[i]
 * holds begin .. end only; otherwise of all. A block may lie in grad, where its numbers belong. */
SL_NODISCARD sl_status sl_optim_sum(float *grad, sl_optim *s, sl_pool *pool,
                                    const float *const *block, int n, bool share);

/* What a step tells. */
typedef struct sl_optim_report {
    double lr, grad_norm;
    bool clipped;
    int bounds_set; // tensors whose kappa was set after this step
} sl_optim_report;

/* One step. grad: the gradient that sl_optim_sum made last, of which this rank has begin .. end right;
 * it is multiplied by `scale` (1 over the tokens of the batch) first. weights begin .. end are changed.
 * Collective where there are several ranks: partial sums are exchanged inside, and a
 * status other than the next is that of the exchange. A gradient that is not finite changes nothing
 * and is SL_ELIMIT. */
SL_NODISCARD sl_status sl_optim_step(sl_optim_report *out, sl_optim *s, sl_pool *pool,
                                     float *weights, const float *grad, double scale);

#endif

/* optim - from gradients to new weights: clipping, schedule, Adam, AdamW, AdamCPR.
 *
 * A step has a fixed order: lanes are summed, the norm of the whole gradient decides the clip
 * factor, Adam moves every number, and AdamCPR then holds each regularised tensor's sum of squares
 * R under a bound kappa by shrinking it, with a Lagrange multiplier lambda per tensor:
 *
 *     m += (1-b1)(g - m);  v = b2 v + (1-b2) g^2
 *     w -= (lr/c1) m / (sqrt(v)/sqrt(c2) + eps)              c1 = 1-b1^t, c2 = 1-b2^t
 *     lambda = max(0, lambda + (mu/n)(R - kappa));  w *= 1 - 2 lambda      once kappa is set
 *
 * kappa is found per tensor at the inflection of R: R is sampled every S steps, and the first
 * sample whose increase is smaller than the one before it (not before step 4 S) sets kappa = R.
 * Until then the tensor is free. Other ways to set kappa are options.
 *
 * Everything works on pieces: each tensor is cut into runs of at most SL_PIECE numbers, and sums go
 * piece by piece, in order, in double. A piece is the unit that threads share and that ranks own,
 * so results depend on neither.
 *
 *     tensors   |------- a -------|-- b --|------------ c ------------|
 *     pieces    |  0  |  1  |  2  |   3   |  4  |  5  |  6  |   7   |
 *
 * The arithmetic is one text for float and double (optim_test.h has the version in double). Callers
 * write no field of sl_optim but the state that a checkpoint restores: t, clamped, cpr, m, v. */
#ifndef SL_OPTIM_H
#define SL_OPTIM_H

#include "par/par.h"

#define SL_PIECE 16384

enum { SL_OPTIM_ADAMCPR, SL_OPTIM_ADAM, SL_OPTIM_ADAMW };
enum { SL_KAPPA_INFLECTION, SL_KAPPA_UNIFORM, SL_KAPPA_DEPENDENT, SL_KAPPA_WARM_START };

/* Options, described by sl_optim_table (options.c). */
typedef struct sl_optim_options {
    int optimizer;      // SL_OPTIM_*
    double lr;          // peak learning rate
    double warmup;      // part of the steps over which the learning rate rises
    double lr_final;    // learning rate of the last step, as a fraction of the peak
    double clip;        // largest gradient norm; 0: no limit
    double beta1, beta2;
    double eps;
    double weight_decay; // of AdamW
    int kappa_init;     // SL_KAPPA_*
    double kappa_param, kappa_update;
    int64_t kappa_steps; // 0: by the rule of sl_optim_kappa_steps
} sl_optim_options;

extern const sl_option_table sl_optim_table;
sl_optim_options sl_optim_defaults(void);

SL_NODISCARD sl_status sl_optim_options_check(const sl_optim_options *o);

/* ---------------------------------------------------------------- schedule ------------------ */

/* The learning rate of step 0 .. steps-1: (s+1)/w of the peak while s < w = warmup steps, then a
 * cosine from the peak to lr_final times the peak. */
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

/* Owns share `rank` of `ranks`: a run of pieces, nearly equal in numbers, empty for some where
 * there are more ranks than pieces. Tensors come by rising offset. SL_EINVAL: the options. */
SL_NODISCARD sl_status sl_optim_new(sl_optim **out, const sl_tensor *tensors, int n_tensor,
                                    const sl_optim_options *o, int64_t steps, int rank, int ranks);
void sl_optim_free(sl_optim *s);
int64_t sl_optim_bytes(const sl_tensor *tensors, int n_tensor, int rank, int ranks);
/* begin[0 .. ranks]: where each rank's numbers begin in the block; the last is the block's end. */
void sl_optim_shares(int64_t *begin, const sl_tensor *tensors, int n_tensor, int ranks);

/* grad := the sum of n blocks by halves (sl_nn_sum_tree), piece by piece, and its sums of squares
 * are kept for the step. n: a power of two up to SL_NN_MAX_BLOCKS. share: of the owned pieces
 * alone, and block[i] holds begin .. end only; otherwise of all. A block may lie in grad, where its
 * numbers belong. */
SL_NODISCARD sl_status sl_optim_sum(float *grad, sl_optim *s, sl_pool *pool,
                                    const float *const *block, int n, bool share);

/* What a step reports. */
typedef struct sl_optim_report {
    double lr, grad_norm;
    bool clipped;
    int bounds_set; // tensors whose kappa was set after this step
} sl_optim_report;

/* One step. grad: the gradient that sl_optim_sum made last, of which this rank has begin .. end
 * right; it is multiplied by `scale` (1 over the tokens of the batch) first. weights begin .. end
 * are changed. Collective where there are several ranks: partial sums are exchanged inside, and a
 * status other than the next is that of the exchange. A gradient that is not finite changes nothing
 * and is SL_ELIMIT. */
SL_NODISCARD sl_status sl_optim_step(sl_optim_report *out, sl_optim *s, sl_pool *pool,
                                     float *weights, const float *grad, double scale);

#endif

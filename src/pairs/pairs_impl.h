/* Inside src/pairs only: the steps of a pair, each with its own stream of random numbers. */
#ifndef SL_PAIRS_IMPL_H
#define SL_PAIRS_IMPL_H

#include "pairs/pairs.h"

/* What random numbers are for. Part of the counter, so one purpose never shifts another's numbers:
 * with noise on, constants and points stay what they were. Values are part of the definition. */
typedef enum sl_pairs__purpose {
    SL_PAIRS__PURPOSE_ORDER = 0x10,
    SL_PAIRS__PURPOSE_CONSTANTS,
    SL_PAIRS__PURPOSE_MIXTURE,
    SL_PAIRS__PURPOSE_COUNTS,
    SL_PAIRS__PURPOSE_POINTS,
    SL_PAIRS__PURPOSE_COLUMNS, // raw shift and scale, columns left out
    SL_PAIRS__PURPOSE_NOISE,
    SL_PAIRS__PURPOSE_FRESH // points besides those of the pair
} sl_pairs__purpose;

enum {
    SL_PAIRS__ATTEMPTS_PER_BASE = 64,
    SL_PAIRS__MAX_BASES = 64,   // if all of them fail, the configuration allows no pair
    SL_PAIRS__REDRAW = 1 << 19, // number of the first attempt of sl_pairs__redraw
    SL_PAIRS__MAX_COLUMNS = SL_UNIVERSE_MAX_VARS
};

struct sl_pairs {
    const sl_universe *universe;
    sl_pairs_options options;
    int variables;
    int32_t *seen, *unseen; // members of E that training sees, and the withheld ones
    int64_t n_seen, n_unseen;
};

/* The stream of one purpose for the pair that is number `number` of its split. */
static inline void sl_pairs__rng(sl_rng *r, const sl_pairs *p, sl_split split, uint64_t number,
                                 int attempt, sl_pairs__purpose purpose) {
    uint32_t stream = (uint32_t)purpose << 24 | (uint32_t)split << 20 | (uint32_t)attempt;
    sl_rng_init(r, p->options.seed, stream, number);
}

/* ---------------------------------------------------------------- order --------------------- */

/* A permutation of 0 .. n-1 and its inverse, keyed by seed, split and pass. */
typedef struct sl_pairs__key {
    uint64_t seed;
    sl_split split;
    int64_t pass;
} sl_pairs__key;
int64_t sl_pairs__permute(int64_t n, sl_pairs__key key, int64_t i);
int64_t sl_pairs__permute_inverse(int64_t n, sl_pairs__key key, int64_t i);

/* ---------------------------------------------------------------- constants ----------------- */

/* Does u get constants? */
bool sl_pairs__is_site(const sl_node *u);

/* *out := base with these constants put in, tidy; one site for each that has them, in the order of
 * base's nodes. SL_EOVERFLOW where merged numbers are too large. */
SL_NODISCARD sl_status sl_pairs__place(const sl_node **out, sl_arena *a, const sl_node *base,
                                       const sl_pair_site *site);

/* *out := base with constants put in, tidy; site[0..*n) says which, in the order of base's nodes.
 * SL_EOVERFLOW where merged numbers are too large. room for base->len sites. */
SL_NODISCARD sl_status sl_pairs__insert(const sl_node **out, sl_pair_site *site, int *n,
                                        sl_arena *a, const sl_node *base, sl_rng *rng,
                                        const sl_pairs_options *o);

/* The chance that base with random constants becomes e, over all constants that merge to it. */
SL_NODISCARD sl_status sl_pairs__chance(double *out, sl_arena *a, const sl_node *base,
                                        const sl_node *e, const sl_pairs_options *o);
/* The chance of these constants. */
double sl_pairs__draw_chance(const sl_pair_site *site, int n, const sl_pairs_options *o);
/* A name for what is left of e without numbers that add or multiply: constants do not change it. */
uint64_t sl_pairs__skeleton_hash(const sl_node *e);

/* ---------------------------------------------------------------- points -------------------- */

/* rng for the mixture, and another for how many points each cluster gets. m has room for
 * o->clusters clusters. */
void sl_pairs__mixture(sl_mixture *m, sl_rng *rng, sl_rng *counts, const sl_pairs_options *o,
                       int variables);

/* One draw of o->points points, whitened if the options say so: x[v][i]. */
SL_NODISCARD sl_status sl_pairs__draw(double *const *x, sl_arena *scratch, sl_rng *rng,
                                      const sl_mixture *m, const sl_pairs_options *o,
                                      int variables);

/* Two columns of n uniforms become two columns of independent normals; work: one column. */
void sl_pairs__normals(double *u, double *v, double *work, int n);

/* The points of a draw from its uniforms, an even number of columns; they and work (one column) are
 * used up. The same bits by either variant. */
typedef void sl_pairs__scatter(double *const *x, double *uniforms, double *work,
                               const sl_mixture *m, int points, int variables, bool white);
sl_pairs__scatter sl_pairs__scatter_base, sl_pairs__scatter_avx2;

/* ---------------------------------------------------------------- one attempt --------------- */

/* What an attempt at a pair went through, for statistics and tests. */
typedef struct sl_pairs__trace {
    // of the first draw, before points are dropped
    double mean[SL_PAIRS__MAX_COLUMNS], variance[SL_PAIRS__MAX_COLUMNS];
    int invalid;         // points of the first draw that were dropped
    bool drawn;          // were points drawn at all? if so:
    sl_mixture *mixture; // of the first draw
} sl_pairs__trace;

/* Which base and which numbers pair `index` begins with. */
typedef struct sl_pairs__start {
    const int32_t *list; // the members it may be made of
    int64_t n_list, first;
    uint64_t number; // counter of its random numbers
} sl_pairs__start;
SL_NODISCARD sl_status sl_pairs__start_of(sl_pairs__start *out, const sl_pairs *p, sl_split split,
                                          int64_t index);

/* Attempt `attempt` (from 0) at a pair. *failure is its outcome; *out is filled as far as
 * the attempt came: expression, sites, mixture and tries from POINTS on. */
SL_NODISCARD sl_status sl_pairs__attempt(sl_pair *out, sl_pair_failure *failure,
                                         sl_pairs__trace *trace, sl_arena *a, const sl_pairs *p,
                                         const sl_pairs__start *s, sl_split split, int attempt);

/* Draws new points for the expression of `pair` with random numbers of their own: are they good? */
SL_NODISCARD sl_status sl_pairs__redraw(bool *good, sl_arena *a, const sl_pairs *p,
                                        const sl_pair *pair, uint64_t number, int attempt);

/* Of expression, tokens and data. */
uint64_t sl_pairs__hash_pair(const sl_pair *pair);

/* Calls progress, which may be NULL. SL_ECANCEL: it asked to stop. */
SL_NODISCARD sl_status sl_pairs__report(sl_pairs_progress progress, const char *what, int64_t done,
                                        int64_t total, void *payload);

#endif

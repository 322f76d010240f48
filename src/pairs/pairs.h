/* pairs - the training data as a function.
 *
 * A pair is an expression with random constants and a data set of its values. None is stored:
 *
 *     pair(configuration, split, index)
 *
 * is a pure function. Its random numbers are Philox streams keyed by (seed, split, purpose) and
 * counted by the pair's number, so any thread, rank or machine makes any part of the data, and one
 * odd pair can be looked at again. How a pair comes about:
 *
 *   base        train: a permutation of 0 .. |T|k-1 (T: the members of E that are not withheld)
 *               maps the index to (base, draw), so one pass visits every base k times without a
 *               shuffle buffer; further passes have another order and fresh draws. valid, test:
 *               distinct members of T. withheld: members that training never sees.
 *   constants   every occurrence u of a variable, exp, sin or root becomes a u + b, a and b each
 *               present with probability p. Numbers are merged and operands sorted, but nothing
 *               is expanded (sl_expr_merge).
 *   points      a mixture of Gaussian and uniform clusters, rotated, each column brought to mean 0
 *               and variance 1; then y. Points without a real y below the limit are dropped and
 *               drawn again from the same mixture, up to `tries` draws in all.
 *   tokens      the LaTeX of the expression.
 *
 * A pair that cannot be had (too few points, no spread in y, too many tokens) is drawn again in
 * place: same base, next attempt, which is part of the counter; after 64 attempts the next base. So
 * every index is a pair.
 *
 * y is computed in double by expr's own evaluation, so pairs are the same bits on every CPU.
 *
 * Ownership: a pair lives in the arena it was made in. A sl_pairs borrows its universe.
 * Threads: a sl_pairs is read-only after it was made; give every thread its own arena. */
#ifndef SL_PAIRS_H
#define SL_PAIRS_H

#include "data/data.h"
#include "token/token.h"
#include "universe/universe.h"

/* ---------------------------------------------------------------- configuration ------------- */

/* Splits.           id        name */
#define SL_SPLITS(X)              \
    X(TRAIN,    "train")          \
    X(VALID,    "valid")          \
    X(TEST,     "test")           \
    X(WITHHELD, "withheld")

typedef enum sl_split {
#define X(id, name) SL_SPLIT_##id,
    SL_SPLITS(X)
#undef X
    SL_SPLIT_COUNT
} sl_split;

const char *sl_pairs_split_name(sl_split value);
sl_split sl_pairs_split_find(const char *name); // SL_SPLIT_COUNT if there is none

#define SL_PAIRS_MAX_CLUSTERS 32
#define SL_PAIRS_MAX_POINTS 4096
#define SL_PAIRS_MAX_CONSTANT 1000

/* Options, described by sl_pairs_table (options.c). */
typedef struct sl_pairs_options {
    uint64_t seed;
    int64_t points;         // of a data set
    int64_t draws;          // pairs of each expression in one pass of training
    int64_t test_size;      // pairs of each of the splits valid, test and withheld
    double constant_chance; // of each a and each b in a u + b
    int64_t constant_max;   // largest absolute value of a and b
    int64_t clusters;       // of the mixture, at most
    int shape, counts;      // SL_PAIRS_SHAPE_*, SL_PAIRS_COUNTS_*
    int whiten;             // not 0: columns have mean 0 and variance 1
    int retry;              // SL_PAIRS_RETRY_*
    int64_t tries;          // draws of points before constants are drawn anew
    double max_y;           // points with |y| >= max_y are invalid
    double min_spread;      // of y, relative to the largest |y|
    double shift, stretch;  // of raw columns, at most
    double noise;           // largest level, relative to the root mean square of y
    double drop_column;     // probability that unused columns are left out
    int64_t max_tokens;     // of a target, end token included
} sl_pairs_options;

extern const sl_option_table sl_pairs_table;
sl_pairs_options sl_pairs_defaults(void);

/* SL_EINVAL names the option outside its bounds. */
SL_NODISCARD sl_status sl_pairs_options_check(const sl_pairs_options *o);

enum { SL_PAIRS_SHAPE_CLUSTER, SL_PAIRS_SHAPE_DATASET };
enum { SL_PAIRS_COUNTS_MULTINOMIAL, SL_PAIRS_COUNTS_PROPORTIONAL };
enum { SL_PAIRS_RETRY_POINTS, SL_PAIRS_RETRY_WHOLE };

/* ---------------------------------------------------------------- a pair -------------------- */

/* The constants at one occurrence u in the base: a u + b. */
typedef struct sl_pair_site {
    sl_op op;     // VAR, EXP, SIN, or POW for a root
    int variable; // number, of a VAR
    int a, b;     // 1 and 0 where none was put in
} sl_pair_site;

typedef struct sl_cluster {
    bool uniform;
    double weight;
    int count; // points of one draw
    double centre[SL_UNIVERSE_MAX_VARS];
    double width[SL_UNIVERSE_MAX_VARS]; // standard deviation, or half of the side
    double angle;                       // two variables: of the rotation, in [0, 2 pi)
    double rotation[SL_UNIVERSE_MAX_VARS][SL_UNIVERSE_MAX_VARS]; // row vector times this
} sl_cluster;

typedef struct sl_mixture {
    int clusters;
    sl_cluster cluster[]; // as many
} sl_mixture;

typedef struct sl_pair {
    sl_split split;
    int64_t index;
    int64_t base;        // member of E
    int attempts;        // 1: the first one was good
    int tries;           // draws of points that it took
    const sl_node *expr; // tidy, over x1 .. x<inputs>
    sl_dataset data;     // fewer inputs than the universe's variables where some were left out
    int column[SL_UNIVERSE_MAX_VARS]; // which variable of the base each input is, from 1
    double noise; // level that was added to y
    const sl_token *tokens; // with the end token
    int n_tokens;
    const sl_pair_site *site; // in the order of the base's nodes
    int n_sites;
    const sl_mixture *mixture;
} sl_pair;

typedef struct sl_pairs sl_pairs;

/* SL_EINVAL for options outside the table's bounds. */
SL_NODISCARD sl_status sl_pairs_new(sl_pairs **out, const sl_universe *u,
                                    const sl_pairs_options *o);
void sl_pairs_free(sl_pairs *p);
const sl_pairs_options *sl_pairs_config(const sl_pairs *p);
const sl_universe *sl_pairs_universe(const sl_pairs *p);

/* Pairs of a split: of one pass for train, test_size for the others, 0 where nothing is
 * withheld. */
int64_t sl_pairs_size(const sl_pairs *p, sl_split split);
/* Which pass of training an index belongs to, from 0; always 0 for other splits. */
int64_t sl_pairs_pass(const sl_pairs *p, sl_split split, int64_t index);

/* *out := pair `index`, built in a. SL_EINVAL: no such index. For train any index from 0 on is a
 * pair; past sl_pairs_size a further pass begins. */
SL_NODISCARD sl_status sl_pairs_get(sl_pair *out, sl_arena *a, const sl_pairs *p, sl_split split,
                                    int64_t index);

/* *out := further rows that the pair's data could have had, at most n, in a: drawn from its mixture
 * by random numbers of their own, with the expression's value there and no noise. Fewer than n only
 * where hardly any point of the mixture is valid. The pair is one of p's. */
SL_NODISCARD sl_status sl_pairs_fresh(sl_dataset *out, sl_arena *a, const sl_pairs *p,
                                      const sl_pair *pair, int n);

/* The order of training: index to place * draws + draw and back, within a pass; place counts the
 * members of E that are not withheld. */
int64_t sl_pairs_order(const sl_pairs *p, int64_t pass, int64_t index);
int64_t sl_pairs_order_inverse(const sl_pairs *p, int64_t pass, int64_t place);

/* 32 hex digits of the first `count` pairs of a split (all of them if there are fewer): expression,
 * tokens, data. Same configuration, same digits, for any number of threads. */
SL_NODISCARD sl_status sl_pairs_hash(char out[33], sl_pool *pool, const sl_pairs *p, sl_split split,
                                     int64_t count);

/* ---------------------------------------------------------------- statistics ---------------- */

/* Why attempts failed.      id       name */
#define SL_PAIR_FAILURES(X)                                                          \
    X(NONE,     "good")                                                              \
    X(OVERFLOW, "a number of the expression beyond 64 bits")                         \
    X(LOST,     "a variable was lost")                                               \
    X(POINTS,   "too few valid points")                                              \
    X(SPREAD,   "no spread in y")                                                    \
    X(TOKENS,   "too many tokens")

typedef enum sl_pair_failure {
#define X(id, name) SL_PAIR_##id,
    SL_PAIR_FAILURES(X)
#undef X
    SL_PAIR_FAILURE_COUNT
} sl_pair_failure;

const char *sl_pairs_failure_name(sl_pair_failure value);

/* A figure beside what it should be. p: of the chi-square or Kolmogorov-Smirnov test that the
 * draws follow their law; NaN where there is no such test. */
typedef struct sl_pairs_check {
    const char *what;
    double measured, expected;
    double p;
    const char *test; // "chi-square", "Kolmogorov-Smirnov", "exact"
} sl_pairs_check;

#define SL_PAIRS_MAX_CHECKS 32
typedef struct sl_pairs_stats {
    int64_t pairs;
    int64_t attempts[SL_PAIR_FAILURE_COUNT]; // first attempts, by their outcome
    double success;                          // share of first attempts that were good
    double attempts_mean;                    // of a pair
    int64_t next_base;                       // pairs that had to take another base
    double tokens_mean, tokens_median;
    int tokens_min, tokens_max;
    double base_tokens_mean;                 // of the bases without constants
    double dropped;                          // share of points that were invalid in first draws
    double constants_mean;                   // put into an expression
    double exact_repeats;                    // share of test expressions also among `trained` ones
    int64_t trained;                         // training pairs looked at for disjointness
    int64_t shared;                          // test, valid or withheld pairs among them: must be 0
    int n_checks;
    sl_pairs_check check[SL_PAIRS_MAX_CHECKS];
} sl_pairs_stats;

/* A good generator gives a p below this once in ten thousand checks; by the seed it is either
 * always or never. A check without a test is good. */
#define SL_PAIRS_LEAST_P 1e-4
bool sl_pairs_check_good(const sl_pairs_check *c);
int sl_pairs_stats_failed(const sl_pairs_stats *stats); // checks that are not good
/* All checks are good, and no pair is in two splits. */
bool sl_pairs_stats_good(const sl_pairs_stats *stats);

/* Called with progress; anything but 0 stops with SL_ECANCEL. */
typedef int (*sl_pairs_progress)(const char *what, double done, double total, void *payload);

/* Figures of the first n training pairs, and whether a pair of another split comes among the first
 * `trained` ones. */
SL_NODISCARD sl_status sl_pairs_measure(sl_pairs_stats *out, sl_pool *pool, const sl_pairs *p,
                                        int64_t n, int64_t trained, sl_pairs_progress progress,
                                        void *payload);

/* ---------------------------------------------------------------- entropy ------------------- */

/* In nats. The entropy of targets given how they are drawn: a model that ignores the
 * data cannot have a loss per target below `expressions`. */
typedef struct sl_entropy {
    double bases;       // ln |T|; exact
    double draws;       // of base and constants, before they merge and attempts fail; exact
    double expressions; // of the expressions of training pairs; an estimate
    double error;       // its standard error
    int64_t pairs;      // that it was estimated by
} sl_entropy;

/* By the first n training pairs, n >= 2. The estimate counts all draws, of all bases, that merge to
 * one expression, and which ones fail. It has a bias, smaller than the share of attempts that fail:
 * bases with an expression in common are taken to fail equally often, and pairs that took another
 * base after 64 failures are taken for its own. Columns that are left out do not count: expressions
 * are those in the variables of the universe. The same bits for any number of threads. */
SL_NODISCARD sl_status sl_pairs_entropy(sl_entropy *out, sl_pool *pool, const sl_pairs *p,
                                        int64_t n, sl_pairs_progress progress, void *payload);

/* ---------------------------------------------------------------- pairs of others ----------- */

/* A pair of another program: fields x (one list per variable), y and, optionally, id and expr
 * (infix or Python syntax over x1, x2, ...). */
typedef struct sl_pair_input {
    const char *id; // "" if there is none
    bool id_whole;  // it was written as a whole number, not as a text
    const sl_node *expr; // NULL if there is none; tidy
    sl_dataset data;
} sl_pair_input;

/* *out := the pair of one line of JSON (n bytes, any bytes), in a. SL_EFORMAT with the reason and
 * the place in it, such as `x[1][17] is null, not a number`. variables: most inputs of x. */
SL_NODISCARD sl_status sl_pairs_read(sl_pair_input *out, sl_arena *a, const char *line, size_t n,
                                    int variables);

#endif

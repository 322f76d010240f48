/* Inside src/search only: the state of a search, the store of terms, and what methods share. */
#ifndef SL_SEARCH_IMPL_H
#define SL_SEARCH_IMPL_H

#include <stdatomic.h>

#include "search/search.h"

/* ---------------------------------------------------------------- a running search ---------- */

/* How many digits y was written with: see precision.c. */
typedef enum sl_digits_kind {
    SL_DIGITS_FULL,     // of a double, or not recognised
    SL_DIGITS_SINGLE,   // of a float
    SL_DIGITS_DECIMALS, // behind the point
    SL_DIGITS_SIGNIFICANT,
} sl_digits_kind;
typedef struct sl_digits {
    sl_digits_kind kind;
    int digits;
} sl_digits;

typedef struct sl_search__job {
    const sl_dataset *all; // the table
    sl_dataset rows;       // what is searched: columns that matter, rows without repetition, well
                           // spread first, so that any first k rows are good probes
    int column[SL_DATA_MAX_INPUTS];    // input of `all` by column of `rows`
    bool positive[SL_DATA_MAX_INPUTS]; // > 0 in every row
    const sl_search_options *o;
    sl_pool *pool;
    sl_arena arena; // of the search
    sl_search_result *result;
    double start;          // on sl_clock()
    sl_digits digits;      // that y was written down with
    bool computed;         // y is rounded, most likely after it was computed by the grammar
    double precision;      // relative rounding of y: 2^-52, or more where digits are few
    _Atomic int ended;     // sl_search_end that was requested, or SL_SEARCH__RUNNING
    _Atomic int64_t tried; // counted by methods, in large portions
    int64_t verified;      // formulas evaluated in all rows
    int64_t memory;        // bytes held now
    int short_step;        // the last that was refused memory
    double next_look;      // when to read the clock and report progress next
    sl_search_progress progress;
    sl_search_formula *kept; // offered and accepted, in order
    int n_kept;
    int64_t kept_room;
    int exact;              // of them exact
    struct sl_store *store; // of products and sums, while they are open
    int store_users;
} sl_search__job;

#define SL_SEARCH__RUNNING (-1) // value of `ended` while no end is requested

/* Fills rows, column, positive from `all`: see job.c. */
SL_NODISCARD sl_status sl_search__prepare(sl_search__job *j);

/* The result from what was kept: see run.c. */
SL_NODISCARD sl_status sl_search__finish(sl_search__job *j);

/* Must the work end? From any thread. report: from the calling thread, which then reads the clock
 * and reports progress. Cheap enough for every few hundred terms. */
bool sl_search__stop(sl_search__job *j, bool report);
void sl_search__end(sl_search__job *j, sl_search_end how); // the first one holds
/* May that many further bytes be held? If so they are counted until released. */
bool sl_search__reserve(sl_search__job *j, int64_t bytes);
void sl_search__release(sl_search__job *j, int64_t bytes);

/* A formula whose exact numbers are beyond 64-bit rationals cannot be written: it is passed over,
 * and does not end the search. */
static inline sl_status sl_search__skip_overflow(sl_status st) {
    return st == SL_EOVERFLOW ? SL_OK : st;
}

/* A formula that a method has found: in variables of j->rows, with free constants of these values.
 * It is fitted on all rows, snapped, and kept if it is exact or on the front: *kept. From the
 * calling thread. */
SL_NODISCARD sl_status sl_search__offer(bool *kept, sl_search__job *j, const sl_node *e,
                                        const double *value, int params, const char *method,
                                        int level);

/* The same for a formula that is not exact: its constants are fitted in all rows of the table and
 * rounded to exact numbers where the fit does not worsen. Kept if no kept formula of fewer bits of
 * its own leaves less (noise_offer.c). */
SL_NODISCARD sl_status sl_search__offer_noisy(bool *kept, sl_search__job *j, const sl_node *e,
                                              const double *value, int params, const char *method,
                                              int level);
/* Parts of both: the formula in the inputs of j->all, tidy; whether its expression is kept already;
 * and keeping it. */
SL_NODISCARD sl_status sl_search__to_all(const sl_node **out, sl_arena *a, const sl_search__job *j,
                                         const sl_node *e);
/* *out := has the shortest known form at most the nodes that the options allow? */
SL_NODISCARD sl_status sl_search__fits_size(bool *out, sl_arena *a, const sl_search__job *j,
                                            const sl_node *e);
bool sl_search__is_known(const sl_search__job *j, const sl_search_formula *f);
SL_NODISCARD sl_status sl_search__keep(sl_search__job *j, const sl_search_formula *f);

/* Does the formula leave nothing but noise (noise_judge.c)? Not if noise would look so much like
 * structure with less than that probability. *sigma: of that noise, relative to the formula's value
 * where errors are relative. */
#define SL_SEARCH__NOISE_PROBABILITY 1e-3
SL_NODISCARD sl_status sl_search__judge_noise(double *sigma, bool *within, const sl_search__job *j,
                                              const sl_search_formula *f, double probability);

/* Digits of a column. */
sl_digits sl_search__digits(const double *y, int64_t rows);
/* One unit of y's last digit; 0: that of a double. The rounding error has a standard deviation of
 * 1/sqrt(12) of it. */
double sl_search__last_unit(sl_digits d, double y);

/* *out := e, whose constants have these values, or something equal to it in all rows of positive
 * bases that is shorter by the prices of fit.h. */
SL_NODISCARD sl_status sl_search__simplify(const sl_node **out, sl_arena *a, const sl_node *e,
                                           const double *value, const sl_dataset *rows);

/* A method: its steps are called in order of level, all of one on all threads. */
typedef struct sl_search__method {
    const char *name;
    SL_NODISCARD sl_status (*open)(void **state, sl_search__job *j);
    /* *more: there are further levels. */
    SL_NODISCARD sl_status (*level)(bool *more, void *state, int level);
    void (*close)(void *state);
} sl_search__method;

/* The methods. */
extern const sl_search__method sl_search__lattice;   // lattice.c
extern const sl_search__method sl_search__skeletons; // skeleton.c
extern const sl_search__method sl_search__closure;   // closure.c
extern const sl_search__method sl_search__quotients; // quotients.c
extern const sl_search__method sl_search__rational;
extern const sl_search__method sl_search__small; // small.c; where the options limit the size

/* ---------------------------------------------------------------- the store of terms -------- */

/* The terms of formulas: monomials, functions of monomials, of binomials and of products with
 * constants of a list, by rank, so that simple terms come first. A term costs log2 of the product
 * of the ranks of its parts; level l of a side has the terms of cost l - 1 .. l (level 0: up to 0),
 * with simple families some levels ahead.
 *
 * The store depends on x alone: it is built once and shared by all transforms of y. */
typedef uint64_t sl_store_term;

typedef enum sl_side { SL_SIDE_PRODUCT, SL_SIDE_SUM } sl_side;

#define SL_STORE_MAX_PROBES    64 // rows that terms are evaluated at
#define SL_STORE_MAX_VARIABLES SL_DATA_MAX_INPUTS
#define SL_STORE_BATCH         8192 // terms of one call of next

typedef struct sl_store sl_store;

/* Over the first `probes` rows of j->rows. */
SL_NODISCARD sl_status sl_search__store_open(sl_store **out, sl_search__job *j, int probes);
void sl_search__store_close(sl_store *s);
int sl_search__store_stride(const sl_store *s); // probes rounded up to a multiple of 8

/* Extends the lists of parts up to this level, on all threads; the same for any number of them.
 * Must precede the terms of that level. */
SL_NODISCARD sl_status sl_search__store_extend(sl_store *s, int level);

/* A walk over the terms of one side and level, in fixed order. */
typedef struct sl_store_walk {
    const sl_store *store;
    sl_side side;
    int level;
    int simple; // terms of the last call, its first ones, that are of simple families
    int family; // the position: family of terms, and tuple in it
    size_t i, j, k, k_begin;
    bool inside, in_i, in_j;
} sl_store_walk;
void sl_search__store_walk_begin(sl_store_walk *w, const sl_store *s, sl_side side, int level);
/* out[0..) := the next terms, at most `room`; returns how many, 0 at the end. cost[]: bits of each
 * (may be NULL). */
int sl_search__store_walk_next(sl_store_term *out, float *cost, int room, sl_store_walk *w);

/* value[0..stride) := the term at the probes, the padding finite. Returns false where it is not
 * real and finite at a probe (or too large to mean anything). *exponent: the value is the logarithm
 * of the term, as of exp(u) on the product side. From any thread. */
bool sl_search__store_term_value(double *value, bool *exponent, const sl_store *s, sl_store_term t);
/* The same at the first n probes alone, n a multiple of 8. */
bool sl_search__store_value_first(double *value, bool *exponent, const sl_store *s, sl_store_term t,
                                  int n);

/* Monomials by rank, for transforms of y and closures: number i, its value at the probes. *count:
 * `want`, or as many as there are; those that levels have not yet made are made here. */
SL_NODISCARD sl_status sl_search__store_monomials(int *count, sl_store *s, int want);
const double *sl_search__store_monomial(const sl_store *s, int i);
const int8_t *sl_search__store_monomial_exponents(const sl_store *s, int i); // in halves, by column
/* Their exponents alone, without values: many more at little cost. Rows number from 0 by rank; in
 * halves, by column. */
SL_NODISCARD sl_status sl_search__store_rows(int *count, sl_store *s, int want);
const int8_t *sl_search__store_row(const sl_store *s, int i);
/* Unary functions by rank (the list R), the same way. */
int sl_search__store_count_functions(const sl_store *s, int want);
sl_store_term sl_search__store_get_function(const sl_store *s, int i);
/* Functions of one variable and of 1 +- q (the list E). */
int sl_search__store_elementaries(const sl_store *s, int want);
sl_store_term sl_search__store_elementary(const sl_store *s, int i);

/* The term as an expression in variables of j->rows. Of an exponential exp(u), not u. */
SL_NODISCARD sl_status sl_search__store_expr(const sl_node **out, sl_arena *a, const sl_store *s,
                                             sl_store_term t);

/* Constants of the list, by rank: 1, -1, 2, 1/2, ... */
int sl_search__store_count_constants(void);
double sl_search__store_get_constant(int i);

static inline double sl_search__dot(const double *a, const double *b, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

#endif

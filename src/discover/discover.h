/* discover - from a table of numbers to the formulas behind it.
 *
 *     rows -> search ------------------------------------------------+-> rank, front
 *          -> bags -> samples -> parse, canonical form, R2 -> refine -+
 *
 * Two sources fill one pool of candidates. The search (search.h) enumerates formulas; the model
 * reads bags of as many rows as it was trained on and is sampled. In SL_DISCOVER_BOTH the search
 * comes first, which takes milliseconds; if it finds a formula whose residuals are no larger than
 * the noise, the model is neither loaded nor sampled. Otherwise the model's samples are added, the
 * best are refined, and the search runs once more with parts of the samples as terms of low cost
 * (search.c).
 *
 * A sample becomes a candidate: an expression whose canonical form is new, with its R2 on
 * all rows. To refine is to free the numbers of a candidate and to fit them (fit.h); constants
 * near exact numbers are rounded when the fit does not worsen.
 *
 * The first candidate is that of least description length, sl_fit_describe, the project's one
 * criterion: bits of the formula and of its residuals. R2 alone prefers formulas with more
 * constants. Candidates that are better than all simpler ones are the front. The paper's metric
 * keeps the highest R2 whatever the size (SL_RANK_R2).
 *
 * Every candidate is listed with its status (SL_CANDIDATE_STATES).
 *
 * Budgets are counts of work (`effort`: steps of the search, samples, candidates to refine, steps
 * of a fit), so the result is the same for any number of threads. A deadline or a cancellation ends
 * the work early; the best so far is ranked and the result is marked as cut.
 *
 * R2 follows sl_num_r2, in double. A candidate that is not real and finite in all rows has none.
 *
 * Ownership: a sl_discovery owns all that it points to. Threads: no shared state. */
#ifndef SL_DISCOVER_H
#define SL_DISCOVER_H

#include "fit/fit.h"
#include "infer/infer.h"
#include "search/search.h"

/* ---------------------------------------------------------------- options ------------------- */

/* Samples of another source than a model. They are parsed, scored, refined and ranked like those of
 * a model. */
typedef struct sl_proposer {
    /* *out := sample `number` for data with so many inputs, in a: a function of these, the options'
     * seed and problem and `state`, from any thread. */
    sl_status (*get)(sl_sampled *out, sl_arena *a, int inputs, uint64_t seed, uint64_t problem,
                     int64_t number, const void *state);
    const void *state;
} sl_proposer;

/* The amounts of work of an effort. Restarts are for the best eighth of the refined candidates.
 *    id  name  samples  refined  evaluations of a fit  restarts of a fit */
#define SL_EFFORTS(X)                        \
    X(LOW,    "low",      32,   8,  60, 0)   \
    X(NORMAL, "normal",  128,  32, 200, 2)   \
    X(HIGH,   "high",   1024, 128, 400, 8)

typedef enum sl_effort {
#define X(id, ...) SL_EFFORT_##id,
    SL_EFFORTS(X)
#undef X
    SL_EFFORT_COUNT
} sl_effort;

enum { SL_SCALE_RAW, SL_SCALE_UNIT, SL_SCALE_BOTH };

/* The sources of formulas. */
enum { SL_DISCOVER_BOTH, SL_DISCOVER_EXHAUSTIVE, SL_DISCOVER_MODEL };

/* The order of candidates: by description length, or by R2. The two orders by R2 differ in what
 * counts as equal and what decides then. SL_RANK_SIMPLE: values that differ by rounding are equal,
 * and the simpler formula comes first. SL_RANK_R2, the paper's metric: only equal doubles are
 * equal, and the more probable formula comes first. */
enum { SL_RANK_BITS, SL_RANK_SIMPLE, SL_RANK_R2 };

struct sl_candidate;

/* Options, described by sl_discover_table (options.c) up to holdout. */
typedef struct sl_discover_options {
    int search;      // SL_DISCOVER_*
    int effort;      // SL_EFFORT_*
    int64_t samples; // from the model, over all bags; 0: by effort
    int64_t refine;  // candidates whose constants are fitted; -1: by effort
    int64_t bags;    // row subsets shown to the model; 0: by the number of rows
    int grammar;     // not 0: only tokens that can still become an expression
    int scale;       // SL_SCALE_*
    int baseline;    // not 0: candidates that need no model
    int rank;        // SL_RANK_*
    double holdout;  // part of the rows that neither model nor fit reads
    sl_infer_options infer; // its seed, problem and grammar are taken from here
    sl_search_options exhaustive; // its effort, deadline, progress and hints are; ops and max_size
                                  // hold for all candidates
    /* NULL, or opens a model when its first sample is needed; *out stays the callee's, NULL: none.
     */
    sl_status (*open_model)(const sl_infer **out, void *payload);
    void *open_payload;
    uint64_t seed, problem;
    double deadline;        // sl_clock() when it must be done; 0: none
    const sl_proposer *proposer; // samples are its and not the model's; NULL: the model's
    /* NULL, or takes the front so far whenever it has changed: n candidates, of which each is
     * larger and explains more than the one before. From the calling thread. */
    void (*on_front)(const struct sl_candidate *front, int n, void *payload);
    void *front_payload;
} sl_discover_options;

extern const sl_option_table sl_discover_table;
sl_discover_options sl_discover_defaults(void);
/* As in the paper: the model's samples, unmodified. */
extern const sl_option_preset sl_discover_paper[];
sl_discover_options sl_discover_paper_defaults(void);

SL_NODISCARD sl_status sl_discover_options_check(const sl_discover_options *o);

/* ---------------------------------------------------------------- candidates ---------------- */

/* Status of a candidate, from bad to good.   id  name  text */
#define SL_CANDIDATE_STATES(X)                                                              \
    X(INVALID,   "invalid",   "not an expression; see the reason")                         \
    X(DUPLICATE, "duplicate", "the same canonical form as an earlier candidate")           \
    X(SKIPPED,   "skipped",   "not reached before the work was stopped")                      \
    X(UNREAL,    "unreal",    "undefined or infinite on some rows")                           \
    X(EXCLUDED,  "excluded",  "its operators, size or units are not allowed")               \
    X(SCORED,    "scored",    "as proposed")                                         \
    X(REFINED,   "refined",   "constants fitted")                                  \
    X(SNAPPED,   "snapped",   "fitted; some constants rounded to exact values")

typedef enum sl_candidate_state {
#define X(id, name, text) SL_CANDIDATE_##id,
    SL_CANDIDATE_STATES(X)
#undef X
    SL_CANDIDATE_STATE_COUNT
} sl_candidate_state;
const char *sl_discover_candidate_state_name(sl_candidate_state value);

/* The source of a candidate: samples (of the model or of a proposer), the search, neither, or a
 * caller that fits its own formula.
 *    id  name */
#define SL_SOURCES(X)           \
    X(MODEL,    "model")        \
    X(SEARCH,   "search")       \
    X(BASELINE, "baseline")     \
    X(GIVEN,    "given")

typedef enum sl_source {
#define X(id, name) SL_SOURCE_##id,
    SL_SOURCES(X)
#undef X
    SL_SOURCE_COUNT
} sl_source;
const char *sl_discover_source_name(sl_source value);

/* An expression with fitted constants: c1 .. c<params> of expr are value[0] .. */
typedef struct sl_candidate {
    sl_candidate_state state;
    sl_source source;
    sl_token_reason reason; // INVALID: why
    const char *method;     // of the search that found it; NULL for others
    int level;              // of that method
    int64_t number; // of its sample, its formula of the search, its kind among the baselines
    int64_t same_as;        // DUPLICATE: place in the discovery's list of the first one; else -1
    int64_t times;          // samples that gave this canonical form
    const sl_token *tokens; // of a sample, as drawn; NULL for others
    int n_tokens;
    double log_prob;        // of a sample; -infinity for others
    const sl_node *expr;    // tidy; NULL if INVALID
    int params;
    const double *value;    // of the constants
    const double *error;    // their standard errors, NaN where they cannot be estimated
    int size;               // nodes, a constant being one
    double r2;              // on the rows that were fitted; NaN if UNREAL
    double r2_proposed;     // as it was proposed
    double r2_holdout;      // NaN without held-out rows
    double rms;             // error on the rows that were fitted, in the unit of y; NaN if UNREAL
    sl_bits bits;           // description length; NaN where ranks go by R2
    double evidence; // bits of the data in its favour: see sl_search_formula; NaN where ranks
                     // go by R2
    bool exact;             // holds in every row to the precision of the data
    bool front;             // ranked, and no simpler one or equally simple one is better
    double seconds;         // from the start until it was there
} sl_candidate;

/* Work that was done, and where time went. */
typedef struct sl_discover_cost {
    sl_infer_cost infer;
    int64_t samples, bags;
    int64_t invalid[SL_TOKEN_REASON_COUNT]; // samples by reason; FINE: those that are expressions
    int64_t distinct;      // canonical forms among them
    int64_t unreal, refined, evaluations;
    double search, score, refine; // seconds
} sl_discover_cost;

/* The result of the search; of two passes the sums, and the end of the last. */
typedef struct sl_discover_searched {
    int passes;          // 0: there was no search
    sl_search_end end;
    bool within_noise;   // its best formula leaves no more than the noise
    double sigma;        // of the errors of y: given, or what its best formula leaves; 0: none seen
    bool relative;       // sigma is a part of that formula's value
    int64_t tried, verified;
    int64_t memory;      // bytes at most
    sl_search_short memory_short;
    int steps, hints;
    int too_large;       // nodes of an exact formula above max_size; 0: none
} sl_discover_searched;

typedef enum sl_cut { SL_CUT_NONE, SL_CUT_TIME, SL_CUT_CANCEL } sl_cut;
const char *sl_discover_cut_name(sl_cut cut); // "", "time" or "cancel"

typedef struct sl_discovery {
    int64_t count;
    sl_candidate *candidate;  // the best first; those without R2 last, in the order of proposal
    int64_t ranked;           // that have an R2
    bool within_noise;        // residuals of the first are no larger than the noise, if known
    bool model_used;
    int model_inputs;         // number of columns that the model reads
    int model_input[SL_DATA_MAX_INPUTS]; // which, from 0
    sl_discover_searched search;
    int64_t rows_fit, rows_held;
    const bool *fitted;       // by row of the problem: was it fitted? NULL: all were
    sl_cut cut;
    sl_discover_cost cost;
    double seconds;
    sl_arena arena;
} sl_discovery;

/* done of total, what: "sampling", "refining"; the best so far, or NULL. From the calling thread.
 * Anything but 0 cancels: the work ends soon and the result has what there is. */
typedef int (*sl_discover_progress)(const char *what, double done, double total,
                                    const sl_candidate *best, void *payload);

/* SL_EINVAL: fewer than 2 rows, too many inputs. model may be NULL: then samples are a proposer's,
 * or of the model that the options open, or there are none. If there are more inputs than the model
 * accepts, it reads those that explain most. Free *out also after a cut. */
SL_NODISCARD sl_status sl_discover_run(sl_discovery **out, const sl_infer *model, sl_pool *pool,
                                       const sl_dataset *p, const sl_discover_options *o,
                                       sl_discover_progress progress, void *payload);
void sl_discover_free(sl_discovery *d);

/* Appends the candidate's formula, fitted constants as decimal numbers. */
SL_NODISCARD sl_status sl_discover_candidate_print(sl_str *s, const sl_candidate *c,
                                                   sl_format format, const sl_names *names);
/* y[i] of all rows of p; NaN where it is not real. */
SL_NODISCARD sl_status sl_discover_candidate_eval(double *y, sl_arena *scratch,
                                                  const sl_candidate *c, const sl_dataset *p);

/* Significant digits of constant k: up to the second digit of its standard error; at most `most`,
 * which is also the number without an error. */
int sl_discover_candidate_digits(const sl_candidate *c, int k, int most);

/* Rows that rounded formulas are tried on: a few of all, those that were fitted, those held out. */
typedef struct sl_rounding {
    int n;
    sl_dataset rows[3];
} sl_rounding;
/* p is the problem of the discovery, and must live as long. */
SL_NODISCARD sl_status sl_discover_rounding_make(sl_rounding *out, sl_arena *a, const sl_dataset *p,
                                        const sl_discovery *d);
/* *out := c with constants rounded for printing, in a: to the digits that their errors leave, six
 * at most, and more until the formula is real in every row where c is and leaves at most two
 * percent more unexplained than c. Exact numbers that read as decimals become constants, behind
 * those of c (sl_expr_free_decimals). It has no errors. */
SL_NODISCARD sl_status sl_discover_candidate_round(sl_candidate *out, sl_arena *a,
                                                   const sl_candidate *c, const sl_rounding *r);

#endif

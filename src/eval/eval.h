/* eval - evaluation of a model or of the search: the paper's metrics on many problems.
 *
 * A problem is a data set, mostly with the formula that made it, the truth. Candidates are those of
 * the model or of a baseline that needs no model (SL_EVAL_CANDIDATES). As in the paper the one with
 * the highest R2 is kept, of equal doubles the more probable (SL_RANK_R2 of discover's options),
 * and judged:
 *
 *     solved   it is the truth: equal canonical forms
 *     equal    it has the values of the truth at fresh points, to 1e-9, without proof
 *     close    R2 > SL_EVAL_CLOSE_R2 on the problem's points
 *     miss     none of these
 *     found    there is no truth to compare with
 *
 * Problems come from three sources: a split of pairs (the paper's test set), pairs of a file (JSON
 * lines), or a file of formulas with ranges, whose points are drawn here.
 *
 * Each problem is judged once per sampling seed. A judgement is a function of (model, problem,
 * seed, options), so the figures are the same for any number of threads and after any interruption:
 * judgements are stored line by line in a journal, and a second call with the same options
 * continues it. With a time limit per problem, threads work inside one problem, one problem after
 * the other, and a judgement that was cut is marked.
 *
 * Where errors were added to y (sl_eval_with_errors), the exact constants cannot be recovered. Then
 * a formula counts as right if it has the structure of the truth: fitted again to y without errors
 * it has the values of the truth at fresh points, to 1e-6 of their root mean square.
 *
 * Shares come with Wilson intervals at 95 %, over all judgements of one seed, and as mean and range
 * over seeds. Those about the truth are of the problems that have one; `close` is of all.
 *
 * Threads: each worker has its own state. */
#ifndef SL_EVAL_H
#define SL_EVAL_H

#include "discover/discover.h"
#include "num/num.h"
#include "pairs/pairs.h"

#define SL_EVAL_CLOSE_R2 0.99

/* ---------------------------------------------------------------- problems ------------------ */

typedef struct sl_eval_problem {
    const char *id;         // "test/17" as of pairs, a formula's name, or what the file says
    bool id_whole;          // the file has it as a whole number, and it is written so again
    const sl_node *truth;   // tidy; NULL if unknown
    const sl_token *tokens; // of the truth as training writes it; NULL if it has none
    int n_tokens;
    sl_dataset data;
    const double *y_true;   // data's y without the errors that were added here; NULL: none were
    sl_dataset fresh;       // further points of the same kind, with the truth's y; 0 rows if none
    int depth;              // of the base expression; -1 if unknown
    int constants;          // numbers in the truth; -1
} sl_eval_problem;

/* A source of problems: `get` builds problem i in the arena, the same each time, from any
 * thread. */
typedef struct sl_eval_source {
    int64_t count;
    const char *name; // "test", or a file's
    sl_status (*get)(sl_eval_problem *out, sl_arena *a, int64_t i, const struct sl_eval_source *s);
    void *state;
    void (*clear)(struct sl_eval_source *s);
} sl_eval_source;

/* Pairs of a split, the first `limit` (0: all); fresh points come from the pair's own mixture. */
SL_NODISCARD sl_status sl_eval_from_split(sl_eval_source *out, const sl_pairs *pairs,
                                          sl_split split, int64_t limit);
/* Lines as sl_pairs_read reads them, held in memory; SL_EFORMAT names file, line and reason. An id
 * is the line's number where it has none; one that comes twice is refused. */
SL_NODISCARD sl_status sl_eval_from_lines(sl_eval_source *out, const char *path, int variables,
                                          int64_t limit);
/* A table of formulas; points are drawn evenly from ranges, where the formula is real. Two layouts:
 *
 *     name,formula,lo,hi,npoints      variables x1, x2, ..., one range for all; npoints rows
 *     name,formula,variables          "m:1:5 v:0:2": names and ranges; 200 rows
 *
 * Further columns are ignored. Formulas with more than `variables` variables, or undefined in all
 * of the range, are counted in *skipped and left out. */
typedef struct sl_eval_formulas {
    int variables;  // most of a formula, 1 .. SL_DATA_MAX_INPUTS
    int rows;       // of each; 0: as the table says
    int max_points; // of npoints
    uint64_t seed;
    int64_t limit;  // the first formulas only; 0: all
} sl_eval_formulas;
SL_NODISCARD sl_status sl_eval_from_formulas(sl_eval_source *out, const char *path,
                                             const sl_eval_formulas *o, int *skipped);

/* *out := the same problems with errors in y: normal ones of standard deviation noise times the
 * root mean square of y, then y rounded to so many significant digits (0: not rounded). The truth,
 * y without errors (y_true) and fresh points stay. Takes *from, also when it fails. */
SL_NODISCARD sl_status sl_eval_with_errors(sl_eval_source *out, sl_eval_source *from, double noise,
                                           int digits, uint64_t seed);
void sl_eval_source_clear(sl_eval_source *s);

/* ---------------------------------------------------------------- judgements ---------------- */

/* Best first.             id      name */
#define SL_VERDICTS(X)          \
    X(SOLVED, "solved")         \
    X(EQUAL,  "equal")          \
    X(CLOSE,  "close")          \
    X(MISS,   "miss")           \
    X(FOUND,  "found")

typedef enum sl_verdict {
#define X(id, name) SL_VERDICT_##id,
    SL_VERDICTS(X)
#undef X
    SL_VERDICT_COUNT
} sl_verdict;
const char *sl_eval_verdict_name(sl_verdict v);
sl_verdict sl_eval_verdict_find(const char *name); // SL_VERDICT_COUNT if there is none

typedef struct sl_judgement {
    int64_t problem;
    int seed;                // which of the seeds, from 0
    sl_verdict verdict;
    bool same_tokens;        // token for token the truth
    bool cut;                // by the time limit
    double r2;               // of the one kept, on the problem's points; NaN if there is none
    double r2_fresh;         // on fresh points; NaN
    int64_t invalid[SL_TOKEN_REASON_COUNT], samples, distinct;
    bool among;              // the truth is among all candidates, kept or not
    bool claimed; // the one kept is said to hold in every row to the precision of the data
    bool structure;          // y has errors: the one kept is the truth when its numbers, but for
                             // exponents, are fitted again to y without them; else: it is the truth
    bool on_front;           // y has errors: so is one of the trade-off front
    double answered;         // seconds until the one kept was there; NaN if there is none
    const char *method;      // of the search that found it; ""
    double loss;             // -log p of the truth's tokens, given as many rows as in training; NaN
    double seconds;
    const char *expr, *latex; // of the one kept, Python syntax and LaTeX; "" if there is none
} sl_judgement;

/* Judges one problem with one sampling seed; texts in a. Truth and fresh points are used for the
 * verdict only. pool: threads inside the problem, or NULL. */
SL_NODISCARD sl_status sl_eval_judge(sl_judgement *out, sl_arena *a, const sl_infer *model,
                                     sl_pool *pool, const sl_eval_problem *p,
                                     const sl_discover_options *o);

/* Is this candidate the truth? SOLVED, EQUAL, or MISS; for tests too. */
SL_NODISCARD sl_status sl_eval_compare(sl_verdict *out, sl_arena *scratch, const sl_node *expr,
                                       const double *value, const sl_eval_problem *p);

/* ---------------------------------------------------------------- candidates ---------------- */

/* Sources of candidates. All are judged alike, so a source is one row here and one function in
 * candidates.c, which prepares the call of sl_discover_run.
 *
 *   model    its samples
 *   blind    draws from the training distribution, base and constants as in a training pair: as
 *            many as there would be samples, independent of the data
 *   linear   no samples; the constant, each input and the best linear formula by least squares
 *
 *    id  name  in words */
#define SL_EVAL_CANDIDATES(X)                                                \
    X(MODEL,  "model",  "samples of the model")                              \
    X(BLIND,  "blind",  "expressions drawn as training draws them, without a look at the data") \
    X(LINEAR, "linear", "the best linear formula, by least squares")

typedef enum sl_eval_candidates {
#define X(id, ...) SL_EVAL_CANDIDATES_##id,
    SL_EVAL_CANDIDATES(X)
#undef X
    SL_EVAL_CANDIDATES_COUNT
} sl_eval_candidates;
const char *sl_eval_candidates_name(sl_eval_candidates value);
const char *sl_eval_candidates_text(sl_eval_candidates value);

/* *out := draw `number` for a problem with so many inputs, in a: the target of a training pair of
 * `pairs` at a random place. One with more variables than that is drawn again, 64 times at most;
 * where there are fewer inputs than pairs has variables, the variables of the draw are x1, x2, ...
 * in order. The numbers depend on seed, problem and number alone. state: a sl_pairs. */
SL_NODISCARD sl_status sl_eval_blind(sl_sampled *out, sl_arena *a, int inputs, uint64_t seed,
                                     uint64_t problem, int64_t number, const void *state);

/* ---------------------------------------------------------------- a whole evaluation -------- */

typedef struct sl_eval_options {
    sl_discover_options discover; // its seed is of the first seed; seed k adds k
    int seeds;
    double timeout;      // seconds per problem and seed; 0: none
    const double *budget; // seconds whose shares are wanted, ascending; they limit nothing
    int budgets;
    const char *journal; // file of judgements already made; NULL: none is kept
    const char *identity; // what judgements depend on, as JSON: a journal of another one is refused
    sl_eval_candidates candidates;
    const sl_pairs *generator; // that BLIND draws from; NULL where it is not needed
    /* NULL, or called before everything that is written to the journal, by one thread at a time.
     * Any answer but SL_OK ends the evaluation with it: SL_ECANCEL where the folder is another
     * process's */
    sl_status (*guard)(void *payload);
    void *guard_payload;
} sl_eval_options;

/* A share of judgements with its interval; and as it differs by seed. */
typedef struct sl_share {
    int64_t hits, n; // of all seeds
    double share;    // the mean over seeds; NaN where n is 0
    sl_interval wilson; // of one seed's n with the mean number of hits
    double lo, hi;   // least and largest share of a seed
} sl_share;

/* One row: all problems, or those of a group. */
typedef struct sl_eval_row {
    char group[16], value[32]; // "depth" "2"; "constants" "10+"; "top" "sin"; "all" ""
    int64_t problems;
    sl_share solved, equal, exact; // exact: solved or equal
    sl_share same_tokens, close;   // close: R2 > 0.99, exact ones included
    sl_share among, fresh;         // fresh: R2 > 0.99 at fresh points
    sl_share structure, on_front;  // of problems with errors in y
} sl_eval_row;

/* Judgements with a truth whose formula was found within a time. */
typedef struct sl_eval_budget {
    double seconds;     // a problem
    sl_share right;     // it is the truth; where y has errors, of the right structure
    int64_t wrong;      // said to be exact, and not right
} sl_eval_budget;

#define SL_EVAL_MAX_ROWS 64
#define SL_EVAL_MAX_BUDGETS 16
typedef struct sl_eval_summary {
    int rows;
    sl_eval_row row[SL_EVAL_MAX_ROWS]; // the first one is of all
    int seeds;
    int64_t judgements, cut, resumed;
    double loss, loss_error;       // nats per expression and its standard error, over problems
    double loss_token;             // nats per token
    double distinct;               // expressions per problem and seed
    double invalid[SL_TOKEN_REASON_COUNT]; // share of samples
    double seconds_mean, seconds_median, seconds_most; // per problem and seed
    int budgets;
    sl_eval_budget budget[SL_EVAL_MAX_BUDGETS];        // as asked for
    int64_t claimed, wrong;        // judgements said to be exact; of them those that are not
    double seconds;                // of this call
} sl_eval_summary;

/* Progress callback: after each judgement of the calling thread and when all are made, from that
 * thread; solved: part of them that are solved or equal. Anything but 0 stops with SL_ECANCEL, and
 * what was judged is in the journal. */
typedef int (*sl_eval_progress)(int64_t done, int64_t total, double solved, void *payload);

/* *judgements := all of them, problem by problem, seed by seed, in a. There is a loss where the
 * candidates are the model's. */
SL_NODISCARD sl_status sl_eval_run(sl_eval_summary *out, const sl_judgement **judgements,
                                   sl_arena *a, const sl_infer *model, sl_pool *pool,
                                   const sl_eval_source *source, const sl_eval_options *o,
                                   sl_eval_progress progress, void *payload);

#endif

/* Inside src/eval only: points, problems in memory, groups of problems, the journal. */
#ifndef SL_EVAL_IMPL_H
#define SL_EVAL_IMPL_H

#include "eval/eval.h"

enum {
    SL_EVAL__FRESH = 256,     // points besides those of the problem
    SL_EVAL__NODES_MAX = 2048 // of a truth whose numbers are counted
};

/* ---------------------------------------------------------------- points -------------------- */

/* Where points are drawn: x[v] evenly from lo[v] .. hi[v]. */
typedef struct sl_eval__box {
    int inputs;
    double lo[SL_DATA_MAX_INPUTS], hi[SL_DATA_MAX_INPUTS];
    const char *const *names; // of the inputs; NULL: x1, x2, ...
} sl_eval__box;

/* *box := the ranges of a text such as "m:1:5 v:0:2", names in a. SL_EFORMAT: place in the text,
 * from 1; reason. */
SL_NODISCARD sl_status sl_eval__ranges_read(sl_eval__box *box, sl_arena *a, const char *text);

/* *out := n points of the box where e is real and of a size that can be squared, with its values,
 * in a; fewer where such points are rare, as few as 0 rows. */
SL_NODISCARD sl_status sl_eval__draw(sl_dataset *out, sl_arena *a, const sl_node *e,
                                     const sl_eval__box *box, int64_t n, sl_rng *rng);

/* *out := points of the truth in the smallest box around the problem's x; the same each time. */
SL_NODISCARD sl_status sl_eval__around(sl_dataset *out, sl_arena *a, const sl_node *truth,
                                       const sl_dataset *data);

/* ---------------------------------------------------------------- problems in memory -------- */

/* What sl_eval_from_lines and sl_eval_from_formulas hold: problems one after the other. */
typedef struct sl_eval__held {
    sl_arena arena; // of all they point to
    sl_eval_problem *problem;
    int64_t count, room;
} sl_eval__held;

SL_NODISCARD sl_status sl_eval__held_new(sl_eval__held **out);
void sl_eval__held_free(sl_eval__held *h);
/* Adds a copy of *p, whose parts live in h's arena, with what follows from its truth filled in:
 * tokens and number of constants. */
SL_NODISCARD sl_status sl_eval__held_add(sl_eval__held *h, const sl_eval_problem *p);
/* *out := the source of these problems, which takes h. name: copied. */
SL_NODISCARD sl_status sl_eval__held_source(sl_eval_source *out, sl_eval__held *h,
                                            const char *name);

SL_NODISCARD sl_status sl_eval__text(const char **out, sl_arena *a, const char *text);
/* Numbers in e that could be fitted; -1 if there are too many. */
SL_NODISCARD sl_status sl_eval__constants(int *out, sl_arena *scratch, const sl_node *e);

/* ---------------------------------------------------------------- groups -------------------- */

/* What an expression is at its top, numbers that shift or scale all of it looked through. Functions
 * follow, a row for each node of one operand: SL_EVAL__TOP_FUNCTION + op. */
#define SL_EVAL__TOPS(X)      \
    X(NUMBER, "number")       \
    X(VARIABLE, "variable")   \
    X(SUM, "sum")             \
    X(PRODUCT, "product")     \
    X(QUOTIENT, "quotient")   \
    X(POWER, "power")         \
    X(ROOT, "root")

enum {
#define X(id, name) SL_EVAL__TOP_##id,
    SL_EVAL__TOPS(X)
#undef X
    SL_EVAL__TOP_FUNCTION,
    SL_EVAL__TOP_COUNT = SL_EVAL__TOP_FUNCTION + SL_OP_COUNT
};
int sl_eval__top_of(const sl_node *e);

/* Properties of a problem for the summary. */
typedef struct sl_eval__traits {
    bool truth, fresh;    // is there one, are there any?
    bool errors;          // were any added to y?
    int depth, constants; // -1: unknown
    int top;              // of the truth
    int n_tokens;         // of the truth; 0 if it has none
} sl_eval__traits;
sl_eval__traits sl_eval__traits_of(const sl_eval_problem *p);

/* *out := figures of judgements j[problem * seeds + seed]. resumed and seconds are the caller's. */
SL_NODISCARD sl_status sl_eval__summarise(sl_eval_summary *out, sl_arena *scratch,
                                          const sl_judgement *j, const sl_eval__traits *traits,
                                          int64_t problems, int seeds);
/* The same judgements by the time that they took. */
void sl_eval__budgets_fill(sl_eval_summary *out, const sl_judgement *j,
                           const sl_eval__traits *traits, int64_t problems,
                           const sl_eval_options *o);

/* ---------------------------------------------------------------- candidates ---------------- */

/* How sl_discover_run is called for a source of candidates. `o` may point to `proposer`: a call
 * stays where it was made. */
typedef struct sl_eval__call {
    const sl_infer *model; // NULL: not used
    sl_discover_options o;
    sl_proposer proposer;
} sl_eval__call;
void sl_eval__call_make(sl_eval__call *out, const sl_infer *model, const sl_eval_options *o);

/* ---------------------------------------------------------------- judging ------------------- */

/* sl_eval_judge, with or without the loss. `stop` is polled, from the calling thread:
 * true ends with SL_ECANCEL; NULL: never. */
typedef bool (*sl_eval__stop)(void *payload);
SL_NODISCARD sl_status sl_eval__judge(sl_judgement *out, sl_arena *a, const sl_infer *model,
                                      sl_pool *pool, const sl_eval_problem *p,
                                      const sl_discover_options *o, bool loss, sl_eval__stop stop,
                                      void *payload);

/* Is it the truth when its numbers, but for exponents, are fitted again to y without errors? */
SL_NODISCARD sl_status sl_eval__structure(bool *out, sl_arena *scratch, const sl_node *expr,
                                          const double *value, const sl_eval_problem *p);

/* ---------------------------------------------------------------- journal ------------------- */

typedef struct sl_eval__journal {
    sl_file *file; // NULL: none is kept
    sl_str line;
} sl_eval__journal;

/* Called with every judgement in the journal; texts are borrowed. */
typedef sl_status (*sl_eval__kept)(const sl_judgement *j, const char *id, void *payload);

/* Opens the journal at `path` for more judgements, begun if it is not there. Refused, and left as
 * it is: a file that is no journal, or one of another identity (SL_EINVAL), or one with a damaged
 * line (SL_EFORMAT). A last line that was cut off is dropped. path NULL: no journal. */
SL_NODISCARD sl_status sl_eval__journal_open(sl_eval__journal *out, const char *path,
                                             const char *identity, sl_eval__kept kept,
                                             void *payload);
/* The line is in the file when this returns. */
SL_NODISCARD sl_status sl_eval__journal_add(sl_eval__journal *j, const sl_judgement *judgement,
                                            const char *id);
void sl_eval__journal_close(sl_eval__journal *j);

#endif

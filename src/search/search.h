/* search - the formula behind a table, by enumeration, without a model (docs/math/search.md).
 *
 * A probe is a row at which terms are compared. A term is a function without fitted constants. A
 * span is a linear space of functions whose coefficients are free. "Modulo a span" means: after
 * projection onto its orthogonal complement at the probes. A half is a subexpression of depth 2.
 * Meet in the middle: halves of formulas are hashed, and two halves with one key are a formula.
 *
 *   method      what it enumerates                                                   file
 *   products    y = c prod x_i^a_i f^p g^q, real a_i, p, q: pairs of terms f, g by   spans.c
 *               the direction of log|f| modulo span{1, log|x_i|} and log|y|
 *   sums        y = a f + b g + polynomial: the same modulo span{monomials}          spans.c
 *   rational    polynomials P, Q, R by degree: P + Q y + R y^2 = 0, log|y| = P/Q     rational.c
 *   small       all formulas of few nodes over the terms, where the size is limited  small.c
 *   lattice     expressions of a grammar with integer constants in every node:       lattice.c
 *               pairs of halves f, g with y = a f + b g + c, or y = f (a g + c),
 *               its inverse and quotients; a, b, c are free
 *   peel        (of the lattice) y less an integer multiple of a simple term         lattice_peel.c
 *   quotients   sums of two and three terms over a common divisor, each with its     quotients.c
 *               own integer constants: one table of terms for each divisor
 *   skeletons   expressions of the grammar without constants, multiplied out: the    skeleton.c
 *               constants outside of functions are linear coefficients
 *   closure     two halves with real constants: y D = N, both linear in products     closure.c
 *               of atoms, over all choices of atoms
 *   inner       real constants inside one function: a grid of them with all linear   inner.c
 *               coefficients projected out
 *   noise       terms, pairs and triples of terms by projected least squares, where  noise.c
 *               y has errors and exact keys do not match
 *
 * Work is cut into steps of a fixed order (run.c), cheapest first. A step is one level of one
 * method; an effort limits how many steps are run. A step is finished on all threads before its
 * hits are verified, and the hit of fewest bits wins: so the answer depends on the data and the
 * effort, not on the number of threads or the time. A deadline or a cancellation ends a step early
 * and marks the result as cut.
 *
 * A formula is exact if it holds in every row to the precision of the data, and if the data hold
 * more bits than the formula and the search that found it: sl_search_formula.evidence.
 *
 * Ownership: a result owns all that it shows. Threads: none shared. */
#ifndef SL_SEARCH_H
#define SL_SEARCH_H

#include "fit/fit.h"
#include "universe/universe.h"

/* ---------------------------------------------------------------- options ------------------- */

/* The grammar of the lattice: operators of a universe, and integer constants low .. high (0 left
 * out) as factor and summand of every node, as pairs are drawn. */
typedef struct sl_search_grammar {
    uint32_t ops; // bit i: operator i of SL_OPERATORS
    int variables, depth;
    int low, high;
} sl_search_grammar;

#define SL_SEARCH_GRAMMAR_INIT { SL_UNIVERSE_ALL_OPS, 2, 3, -9, 9 }

/* Progress of a search: the step, how far it is, and the best formula so far (NULL: none). */
typedef struct sl_search_progress {
    const char *what; // such as "products", "sums", "lattice", "noise"
    int level;        // of that method, from 0
    int step, steps;  // of the effort's list
    int64_t tried;    // terms, pairs and halves so far
    const struct sl_search_formula *best;
    const struct sl_search_formula *found; // all that is kept, in no order
    int n_found;
} sl_search_progress;

typedef struct sl_search_options {
    uint32_t ops;       // operators that formulas may hold: bit i of SL_OPERATORS
    int max_size;       // nodes of a formula; 0: any. Larger ones are not kept
    int effort;         // steps above it are skipped: SL_SEARCH_EFFORT_*
    int64_t max_memory; // bytes
    double sigma;       // standard deviation of y's errors where rows have none; 0: estimated
    bool exact_only;    // no search under noise
    const sl_search_grammar *grammar; // of the lattice; NULL: there is none
    const sl_units *units;            // of inputs and target; NULL: not known
    const sl_node *const *hints;      // expressions whose parts are terms of low cost; only steps
                                      // that use them are run, after a search without hints
    int n_hints;
    double deadline;                  // on sl_clock(); 0: none
    /* NULL, or called repeatedly from the calling thread; a result other than 0 cancels. */
    int (*progress)(const sl_search_progress *progress, void *payload);
    void *payload;
} sl_search_options;

enum { SL_SEARCH_EFFORT_LOW, SL_SEARCH_EFFORT_NORMAL, SL_SEARCH_EFFORT_HIGH };

#define SL_SEARCH_OPTIONS_INIT                                                             \
    { .ops = SL_EXPR_ALL_OPERATORS, .effort = SL_SEARCH_EFFORT_NORMAL, .max_memory = 1000000000 }

/* ---------------------------------------------------------------- results ------------------- */

typedef struct sl_search_formula {
    sl_fit fit;          // expression, constants, standard errors, R2
    sl_bits bits;        // description length by the project's one criterion (fit.h)
    double evidence;     // bits of the data less those of the formula and of the search that found
                         // it: by chance alone a formula as good is found once in 2^evidence
    bool exact;          // holds in every row to the precision of the data
    bool front;          // no formula of fewer or equal bits leaves less
    const char *method;  // "products", "sums", "rational", "lattice", "noise", ...
    int level, step;     // where it was found
    double seconds;      // from the start
} sl_search_formula;

typedef enum sl_search_end {
    SL_SEARCH_FOUND,  // an exact formula, or one that leaves no more than the noise
    SL_SEARCH_DONE,   // all steps of the effort are done without one
    SL_SEARCH_TIME,   // the deadline passed
    SL_SEARCH_CANCEL, // cancelled by progress
    SL_SEARCH_MEMORY, // some steps were left out for lack of memory (max_memory)
} sl_search_end;

/* Steps that were refused memory: left out, or cut short. */
typedef struct sl_search_short {
    int steps;          // 0: none
    const char *method; // of the first
    int level;
    int64_t needed;     // bytes that they requested: with so large a max_memory they run
} sl_search_short;

typedef struct sl_search_result {
    int64_t count;
    sl_search_formula *formula; // the best by description length first
    sl_search_end end;
    double sigma;               // of the errors of y: requested, by digits, or estimated; 0: none
    bool relative;              // sigma is relative to the first formula's value
    bool within_noise;          // the first formula leaves no more than noise, with evidence;
                                // false: it is the best approximation, exact or not
    int too_large;              // nodes of an exact formula above max_size, the smallest; 0: none
    int64_t tried, verified;    // terms, pairs and halves; those evaluated in all rows
    int64_t memory;             // bytes at most
    sl_search_short memory_short;
    int steps;                  // that were finished
    double seconds;
    sl_arena arena;
} sl_search_result;

/* SL_EINVAL: fewer than 3 rows. Free *out also after a cut. */
SL_NODISCARD sl_status sl_search_run(sl_search_result **out, sl_pool *pool, const sl_dataset *p,
                                     const sl_search_options *o);
void sl_search_result_free(sl_search_result *r);
/* Has e only functions that `ops` names? Sums, products and powers are how expressions are held,
 * whatever operators they were written with, so those are not distinguished. */
bool sl_search_allows(const sl_node *e, uint32_t ops);

#endif

/* search - the formula behind a table, without a model.
 *
 * Two ideas, both meet in the middle (docs/math/search.md):
 *
 *   spans     A product formula y = c * prod x_i^a_i * f^p * g^q says that log|y|, log|f| and log|g|
 *             are linearly dependent modulo span{1, log|x_i|}; a sum formula y = a f + b g +
 *             polynomial says it of y, f and g modulo span{monomials}. Every term of a store is
 *             projected onto what is left of a few probe rows when the span and a transform T(y) are
 *             taken out, normalised, rounded and hashed: two terms that collide are a formula, with
 *             all coefficients and exponents free. What is enumerated is structure alone.
 *   lattice   The grammar of a universe with whole constants in its nodes: halves of the deepest
 *             expressions are stored modulo constant and sign, and modulo factor and inversion; a
 *             half f is looked up by y - f, f - y, y/f and y*f.
 *
 * Where the data have noise exact keys say nothing; then terms and pairs of terms are scored one by
 * one by projected dot products, and the best are fitted on all rows (noise.c).
 *
 * Work is cut into steps of a fixed order (SL_SEARCH_STEPS in run.c), from cheap to dear; an effort
 * says how far down the list to go. A step is always finished, on all threads, before what it found is
 * looked at, and of what it found the formula of fewest bits wins: so the answer depends on the data and
 * the effort, never on the number of threads or the time. A deadline or a cancel on top ends a step
 * early; the result says that it was cut.
 *
 * A formula is called exact when it holds in every row to the precision of the data, and when the
 * data hold more bits than the formula and the search that found it: sl_search_formula.evidence.
 *
 * Ownership: a result owns all that it shows. Threads: none shared. */
#ifndef SL_SEARCH_H
#define SL_SEARCH_H

#include "fit/fit.h"
#include "universe/universe.h"

/* ---------------------------------------------------------------- options ------------------- */

/* The grammar of the lattice: operators of a universe, and whole constants low .. high (0 left out)
 * as factor and summand of every node, as pairs are drawn. */
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
} sl_search_progress;

typedef struct sl_search_options {
    uint32_t ops;       // operators that formulas may hold: bit i of SL_OPERATORS
    int max_size;       // nodes of a formula; 0: any. Larger ones are not kept
    int effort;         // steps with a higher number are left out: SL_SEARCH_EFFORT_*
    int64_t max_memory; // bytes
    double sigma;       // standard deviation of y's errors where the problem has none by row; 0: found out
    bool exact_only;    // no search under noise
    const sl_search_grammar *grammar; // of the lattice; NULL: there is none
    const sl_units *units;            // of inputs and target; NULL: not known
    const sl_node *const *hints;      // expressions whose parts join the store as terms of low cost; only
                                      // steps that use them are run: a search without comes first
    int n_hints;
    double deadline;    // on sl_clock(); 0: none
    /* NULL, or called now and then from the calling thread; anything but 0 ends the search early. */
    int (*progress)(const sl_search_progress *progress, void *payload);
    void *payload;
} sl_search_options;

enum { SL_SEARCH_EFFORT_LOW, SL_SEARCH_EFFORT_NORMAL, SL_SEARCH_EFFORT_HIGH, SL_SEARCH_EFFORTS };

#define SL_SEARCH_OPTIONS_INIT                                                             \
    { .ops = SL_EXPR_ALL_OPERATORS, .effort = SL_SEARCH_EFFORT_NORMAL, .max_memory = 1000000000 }

/* ---------------------------------------------------------------- results ------------------- */

typedef struct sl_search_formula {
    sl_fit fit;          // expression, constants, standard errors, R2
    sl_bits bits;        // description length by the project's one criterion (fit.h)
    double evidence;     // bits that the data hold, less those of the formula and of the search that
                         // found it: by chance alone a formula as good is found once in 2^evidence
    bool exact;          // holds in every row to the precision of the data
    bool front;          // no formula of fewer or equal bits leaves less
    const char *method;  // "products", "sums", "rational", "lattice", "noise", ...
    int level, step;     // where it was found
    double seconds;      // from the start
} sl_search_formula;

typedef enum sl_search_end {
    SL_SEARCH_FOUND,  // an exact formula, or one that leaves no more than the noise
    SL_SEARCH_DONE,   // all steps of the effort, without one
    SL_SEARCH_TIME,   // the deadline came
    SL_SEARCH_CANCEL, // cancelled by progress
    SL_SEARCH_MEMORY, // some steps were left out because they would have passed max_memory
} sl_search_end;

/* Steps that had not all the memory they asked for: left out, or cut short. */
typedef struct sl_search_short {
    int steps;          // 0: none
    const char *method; // of the first
    int level;
    int64_t needed;     // bytes that their requests came to: with so many it goes further
} sl_search_short;

typedef struct sl_search_result {
    int64_t count;
    sl_search_formula *formula; // the best by description length first
    sl_search_end end;
    double sigma;               // of the errors of y: given, of its digits, or estimated; 0: none seen
    bool relative;              // sigma is a part of the first formula's value, not of y's unit
    bool within_noise;          // the first formula leaves no more than noise, and that not by chance;
                                // false: it is the best approximation, exact or not
    int too_large;              // nodes of an exact formula above max_size, the smallest; 0: none
    int64_t tried, verified;    // terms, pairs and halves; of them looked at in all rows
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

#endif

/* data - rows to explain, and tables that they are read from.
 *
 * A problem is a view: columns that somebody else owns, a target, and what is known of the target's
 * errors. Everything above (fits, search, discovery, evaluation) takes one and never changes it. A
 * subset of its rows is again a problem, with columns of its own.
 *
 * A table is a file's rows that became a problem: which columns are inputs was told or found out, and
 * rows with a missing or infinite cell are dropped and counted. Memory is bounded: of very many rows
 * an even sample is kept.
 *
 * Ownership: a table owns its columns and names; a problem owns nothing. Threads: no shared state. */
#ifndef SL_DATA_H
#define SL_DATA_H

#include "io/io.h"
#include "num/num.h"

#define SL_DATA_MAX_INPUTS 16

/* ---------------------------------------------------------------- units --------------------- */

/* Exponents of m, kg, s, A, K, mol, cd in sixtieths, so that roots up to the sixth are whole; the
 * eighth is 0 and makes it 16 bytes. */
#define SL_DIMENSION_PART 60
typedef struct sl_dimension {
    int16_t power[8];
} sl_dimension;

/* Of the columns of a problem. A column's values times its factor are in SI units. */
typedef struct sl_units {
    sl_dimension input[SL_DATA_MAX_INPUTS], target;
    double input_factor[SL_DATA_MAX_INPUTS], target_factor;
    bool input_known[SL_DATA_MAX_INPUTS], target_known;
} sl_units;

/* ---------------------------------------------------------------- tables -------------------- */

/* Rows to explain: y by x[0] .. x[inputs - 1], all finite. */
typedef struct sl_problem {
    int inputs;
    int64_t rows;
    const double *const *x;
    const double *y;
    const double *sigma; // NULL, or the standard deviation of y by row, all > 0
    bool sigma_absolute; // false: only their ratios mean something, as of weights
} sl_problem;

/* *out := the rows of p that `pick` names, n of them, as a problem of its own; its columns in `columns`. */
SL_NODISCARD sl_status sl_problem_pick(sl_problem *out, const double **columns, sl_arena *a,
                                              const sl_problem *p, const int64_t *pick, int64_t n);

typedef struct sl_table_options {
    const char *target; // name or number (from 1); NULL: the column y or target, else the last
    const char *inputs; // names or numbers with commas between; NULL: see sl_table_read
    sl_csv_options csv;
    int max_inputs;     // what the model takes
    int64_t max_rows;   // more rows than this are sampled evenly, so memory is bounded
    uint64_t seed;      // of that sample
} sl_table_options;

#define SL_TABLE_OPTIONS_INIT \
    { .csv = SL_CSV_OPTIONS_INIT, .max_inputs = 2, .max_rows = 100000 }

/* A file's rows, and what was left out of them. */
typedef struct sl_table {
    int inputs;
    int64_t rows;                       // kept
    double *x[SL_DATA_MAX_INPUTS], *y;
    char *names[SL_DATA_MAX_INPUTS]; // of inputs, as in the file
    char *target;
    int columns;                        // of the file
    int64_t read;                       // rows of the file
    int64_t missing, infinite;          // of them dropped, because a cell that is needed was; of
                                        // sampled rows alone where the inputs were found out late
    int64_t repeated;                   // kept rows that are equal to an earlier one
    int chosen_from;                    // 0, or of how many columns the inputs were picked
    double explained;                   // then: the share of y's variance that they explain
    int text_columns;                   // that were passed over because their first cell is no number
} sl_table;

/* Told how far it is, in bytes; anything but 0 stops with SL_ECANCEL. */
typedef int (*sl_table_progress)(int64_t rows, int64_t bytes, int64_t size, void *payload);

/* Without named inputs all columns of numbers but the target are taken. If those are more than
 * max_inputs, the ones that explain the target best are: of all sets of max_inputs columns that
 * with the largest share of y's variance between the cells of a grid of quantiles, corrected for
 * the number of cells (docs/formats.md). A column's kind is that of its first cell that is not
 * missing. SL_EFORMAT: text where a number is needed, with row, line and column; SL_EINVAL: no such
 * column (near names are offered), or too few rows; SL_ELIMIT: more than 1,000 columns to choose
 * from. A failure leaves *out as it was. */
SL_NODISCARD sl_status sl_table_read(sl_table *out, const char *path, const sl_table_options *o,
                                     sl_table_progress progress, void *payload);
void sl_table_clear(sl_table *t);
static inline sl_problem sl_table_problem(const sl_table *t) {
    return (sl_problem){ .inputs = t->inputs, .rows = t->rows, .x = (const double *const *)t->x, .y = t->y };
}

#endif

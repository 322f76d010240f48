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

#define SL_DATA_MAX_INPUTS 16

/* ---------------------------------------------------------------- units --------------------- */

/* Exponents of m, kg, s, A, K, mol, cd in sixtieths, so that roots up to the sixth are whole; the
 * eighth is 0 and makes it 16 bytes. Angles, percent and counts have none: they are plain numbers. */
#define SL_DIMENSION_PART 60
typedef struct sl_dimension {
    int16_t power[8];
} sl_dimension;

bool sl_data_dimension_equal(sl_dimension a, sl_dimension b);
/* *out := a * b^(num/den). False, and *out as it was, where an exponent is no sixtieth or too large. */
bool sl_data_dimension_multiply(sl_dimension *out, sl_dimension a, sl_dimension b, int num,
                                int den);
/* Appends the name of an SI unit, as J, or the base units, as kg m^2 s^-3; 1 for none. */
void sl_data_dimension_print(sl_str *s, sl_dimension d);

/* A unit: that many SI units of a dimension. */
typedef struct sl_unit {
    sl_dimension dimension;
    double factor;
} sl_unit;

/* *out := the unit that `text` (n bytes, any bytes) says: names of SI and common units with prefixes,
 * numbers, products by *, ., a blank or a dot at half height, quotients by / (of what is to its left:
 * J/kg/K), powers as m^2, m**2, m2, s^-1, m^(1/2) or raised digits, parentheses. A temperature in
 * degC counts as one in K: where its zero lies is not known here. SL_EFORMAT with the position, and
 * a unit that is near. */
SL_NODISCARD sl_status sl_data_unit_parse(sl_unit *out, const char *text, size_t n);

/* Of the columns of a problem. A column's values times its factor are in SI units. */
typedef struct sl_units {
    sl_dimension input[SL_DATA_MAX_INPUTS], target;
    double input_factor[SL_DATA_MAX_INPUTS], target_factor;
    bool input_known[SL_DATA_MAX_INPUTS], target_known;
} sl_units;

/* Takes units out of a list such as "m=kg,v=m/s,E=J" into *out, for columns of these names (a list's
 * names may stand between quotes); what the list does not name stays as it was in *out. SL_EINVAL: no
 * such column, or one named twice; SL_EFORMAT: no unit. A failure leaves *out as it was. */
SL_NODISCARD sl_status sl_data_units_parse(sl_units *out, const char *list,
                                           const char *const *names, int inputs,
                                           const char *target);
/* The same, list NULL: none. *out := units, or NULL where no column's unit is known. */
SL_NODISCARD sl_status sl_data_units_known(const sl_units **out, sl_units *units, const char *list,
                                           const char *const *names, int inputs,
                                           const char *target);

/* Does a column's name have a unit, as "v (m/s)" or "v [m/s]"? Then *unit is it and *length the bytes
 * of the name in front. What stands in brackets and is no unit belongs to the name. */
bool sl_data_unit_of_name(sl_unit *unit, size_t *length, const char *name);

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
SL_NODISCARD sl_status sl_data_problem_pick(sl_problem *out, const double **columns, sl_arena *a,
                                              const sl_problem *p, const int64_t *pick, int64_t n);

/* column[0..k) := which k inputs of p explain y best, as those of a table are picked; *explained: the share
 * of y's variance that they explain, NaN for more than three. */
SL_NODISCARD sl_status sl_data_problem_choose(int *column, double *explained, const sl_problem *p,
                                              int k, uint64_t seed);

typedef struct sl_table_options {
    const char *target; // name or number (from 1); NULL: the column y or target, else the last
    const char *inputs; // names or numbers with commas between; NULL: see sl_data_table_read
    const char *sigma;   // column with the standard deviation of the target, > 0; NULL: none
    const char *weights; // column with weights, 1/variance up to a factor; weight 0 drops the row
    sl_csv_options csv;
    int max_inputs;     // up to SL_DATA_MAX_INPUTS
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
    double *sigma;                   // NULL without a column of sigma or weights
    bool sigma_absolute;             // of sigma, not of weights
    char *names[SL_DATA_MAX_INPUTS]; // of inputs, as in the file, but without their units
    char *target;
    sl_units units;                  // that the names have said
    int columns;                        // of the file
    int64_t read;                       // rows of the file
    int64_t missing, infinite;          // of them dropped, because a cell that is needed was; of
                                        // sampled rows alone where the inputs were found out late
    int64_t weightless;                 // dropped, because their weight is 0
    int64_t repeated;                   // kept rows that are equal to an earlier one
    int chosen_from;                    // 0, or of how many columns the inputs were picked
    double explained;                   // then: the share of y's variance that they explain
    int text_columns; // that were passed over because their first cell is no number
} sl_table;

/* Told how far it is, in bytes; anything but 0 stops with SL_ECANCEL. */
typedef int (*sl_table_progress)(int64_t rows, int64_t bytes, int64_t size, void *payload);

/* Without named inputs all columns of numbers but the target are taken. If those are more than
 * max_inputs, the ones that explain the target best are: of all sets of max_inputs columns that
 * with the largest share of y's variance between the cells of a grid of quantiles, corrected for
 * the number of cells (docs/formats.md). A column's kind is that of its first cell that is not
 * missing. A name may have a unit, as "v (m/s)" or "v [m/s]": then the column is called v, unless
 * another one is, and can be named either way.
 *
 * SL_EFORMAT: text where a number is needed, a sigma that is not above 0 or a weight that is below it,
 * with row, line and column; SL_EINVAL: no such column (near names are offered), or too few rows;
 * SL_ELIMIT: more than 1,000 columns to choose from. A failure leaves *out as it was. */
SL_NODISCARD sl_status sl_data_table_read(sl_table *out, const char *path,
                                          const sl_table_options *o, sl_table_progress progress,
                                          void *payload);
void sl_data_table_clear(sl_table *t);
static inline sl_problem sl_data_table_problem(const sl_table *t) {
    return (sl_problem){ .inputs = t->inputs,
                         .rows = t->rows,
                         .x = (const double *const *)t->x,
                         .y = t->y,
                         .sigma = t->sigma,
                         .sigma_absolute = t->sigma_absolute };
}

#endif

/* data - data sets: rows of numbers to explain, and the tables that they are read from.
 *
 * A data set is a target y and the inputs x[0] .. x[inputs - 1], columns of equally many rows, with
 * what is known of y's errors and, where they have any, the names of the columns:
 *
 *     row     x[0]   x[1]      y    sigma
 *     0       0.5    2         1.1  0.1
 *     1       0.7    3         2.3  0.1         rows: 2, inputs: 2
 *
 * It is a plain value and a view: a copy of the struct shows the same numbers, and nothing below
 * writes to them. Whatever made the columns owns them and outlives the views: a sl_table, an arena,
 * a caller of the library. Fewer inputs, or inputs in another order, are a view of the same columns
 * (sl_data_view_inputs); fewer rows are copied into an arena (sl_data_pick_rows). Pairs are made as
 * data sets; the model's encoding, fits, search, discovery and evaluation read them.
 *
 * `rows` counts the numbers of a column and `inputs` the columns of x, everywhere. `columns` counts
 * those of a file, or in the neural network all that it reads, target included.
 *
 * A table is a file's rows as a data set, and what was left out of them: which columns are inputs
 * was given or detected; rows with a missing or infinite cell are dropped and counted. Memory is
 * bounded: of very many rows an even sample is kept.
 *
 * Ownership: a table owns its columns and names; a data set owns nothing. Threads: none shared. */
#ifndef SL_DATA_H
#define SL_DATA_H

#include "io/io.h"

#define SL_DATA_MAX_INPUTS 16

/* ---------------------------------------------------------------- units --------------------- */

/* Exponents of m, kg, s, A, K, mol, cd in sixtieths, so that roots up to the sixth are whole; the
 * eighth is 0 and makes it 16 bytes. Angles, percent and counts have none: they are plain
 * numbers. */
#define SL_DIMENSION_PART 60
typedef struct sl_dimension {
    int16_t power[8];
} sl_dimension;

bool sl_data_dimension_equal(sl_dimension a, sl_dimension b);
/* *out := a * b^(num/den). False, and *out as it was, where an exponent is no sixtieth or too
 * large. */
bool sl_data_dimension_multiply(sl_dimension *out, sl_dimension a, sl_dimension b, int num,
                                int den);
/* Appends the name of an SI unit, as J, or the base units, as kg m^2 s^-3; 1 for none. */
void sl_data_dimension_print(sl_str *s, sl_dimension d);

/* A unit: that many SI units of a dimension. */
typedef struct sl_unit {
    sl_dimension dimension;
    double factor;
} sl_unit;

/* *out := the unit of `text` (n bytes, any bytes): names of SI and common units with
 * prefixes, numbers, products by *, ., a blank or a dot at half height, quotients by / (of what is
 * to its left: J/kg/K), powers as m^2, m**2, m2, s^-1, m^(1/2) or raised digits, parentheses. A
 * temperature in degC counts as one in K: where its zero lies is not known here. SL_EFORMAT with
 * the position, and a unit that is near. */
SL_NODISCARD sl_status sl_data_unit_parse(sl_unit *out, const char *text, size_t n);

/* Of the columns of a data set. A column's values times its factor are in SI units. */
typedef struct sl_units {
    sl_dimension input[SL_DATA_MAX_INPUTS], target;
    double input_factor[SL_DATA_MAX_INPUTS], target_factor;
    bool input_known[SL_DATA_MAX_INPUTS], target_known;
} sl_units;

/* Takes units out of a list such as "m=kg,v=m/s,E=J" into *out, for columns of these names (a
 * list's names may stand between quotes); what the list does not name stays as it was in *out.
 * SL_EINVAL: no such column, or one named twice; SL_EFORMAT: no unit. A failure leaves *out as it
 * was. */
SL_NODISCARD sl_status sl_data_units_parse(sl_units *out, const char *list,
                                           const char *const *names, int inputs,
                                           const char *target);
/* The same, list NULL: none. *out := units, or NULL where no column's unit is known. */
SL_NODISCARD sl_status sl_data_units_known(const sl_units **out, sl_units *units, const char *list,
                                           const char *const *names, int inputs,
                                           const char *target);

/* Does a column's name have a unit, as "v (m/s)" or "v [m/s]"? Then *unit is it and *length the
 * bytes of the name in front. What stands in brackets and is no unit belongs to the name. */
bool sl_data_unit_of_name(sl_unit *unit, size_t *length, const char *name);

/* ---------------------------------------------------------------- data sets ----------------- */

/* y and x[0] .. x[inputs - 1], all finite. */
typedef struct sl_dataset {
    int inputs;
    int64_t rows;
    const double *x[SL_DATA_MAX_INPUTS];
    const double *y;
    const double *sigma;      // NULL, or the standard deviation of y by row, all > 0
    bool sigma_absolute;      // false: only their ratios mean something, as of weights
    const char *const *names; // of the inputs; NULL: x1, x2, ...
    const char *target;       // name of y; NULL: y
} sl_dataset;

/* Columns that are given, as a data set. */
static inline sl_dataset sl_data_view(const double *const *x, int inputs, const double *y,
                                      int64_t rows) {
    SL_ASSERT(inputs >= 0 && inputs <= SL_DATA_MAX_INPUTS);
    sl_dataset d = { .inputs = inputs, .rows = rows, .y = y };
    for (int i = 0; i < inputs; i++) d.x[i] = x[i];
    return d;
}

/* d with n of its inputs, those that `column` numbers from 0, without names. */
sl_dataset sl_data_view_inputs(const sl_dataset *d, const int *column, int n);

/* *out := the rows of d that `pick` numbers from 0, n of them, copied into a. */
SL_NODISCARD sl_status sl_data_pick_rows(sl_dataset *out, sl_arena *a, const sl_dataset *d,
                                         const int64_t *pick, int64_t n);
/* The same with n rows spread over all: row i of them is i * rows / n. */
SL_NODISCARD sl_status sl_data_pick_evenly(sl_dataset *out, sl_arena *a, const sl_dataset *d,
                                           int64_t n);

/* *order := the numbers 0 .. rows - 1 in a random order, in a. */
SL_NODISCARD sl_status sl_data_shuffle(int64_t **order, sl_arena *a, int64_t rows, sl_rng *rng);

/* *held := n random rows of d, 0 < n < rows, *fit := the others, each in the order of d, so that
 * sums over rows are those of a data set without the other part. (*fitted)[row]: is it in *fit? All
 * in a. */
SL_NODISCARD sl_status sl_data_hold_out(sl_dataset *fit, sl_dataset *held, const bool **fitted,
                                        sl_arena *a, const sl_dataset *d, int64_t n, sl_rng *rng);

/* Columns to choose inputs from, any number of them: row i of column c is x[c][i * stride]. y is
 * finite in all rows; a column has NaN or an infinity where there is no number. */
typedef struct sl_columns {
    const double *const *x;
    int n;
    const double *y;
    int64_t rows, stride;
} sl_columns;

/* set[0..k) := which k of the columns explain y best, in their order; *explained: the share of y's
 * variance that they explain, NaN for more than three. 0 < k < n, k <= SL_DATA_MAX_INPUTS. */
SL_NODISCARD sl_status sl_data_choose_inputs(int *set, double *explained, const sl_columns *from,
                                             int k, uint64_t seed);

bool sl_data_constant(const sl_dataset *d); // is y?

/* What brings the inputs to mean 0 and variance 1: x -> (x - mean) * factor. */
typedef struct sl_standard {
    double mean[SL_DATA_MAX_INPUTS];
    double deviation[SL_DATA_MAX_INPUTS]; // 0 where its inverse is no double
    double factor[SL_DATA_MAX_INPUTS];    // 1/deviation, or 1: a constant input becomes 0
} sl_standard;
sl_standard sl_data_standard(const sl_dataset *d);
/* Input c in x[0..n) becomes what it is brought to. */
void sl_data_standardise(double *x, int64_t n, const sl_standard *s, int c);

/* ---------------------------------------------------------------- tables -------------------- */

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

/* Where the values of a column come from. */
typedef struct sl_table_source {
    int column;       // of the file, from 0
    bool date, words; // cells are dates; are one of two words
    double from, per; // a date is (seconds - from) / per
    const char *word[2]; // that are 0 and 1
    int date_order;      // of a date's parts: see table_date.c
} sl_table_source;

/* A file's rows, and what was left out of them. Names are those of the file without their units. */
typedef struct sl_table {
    sl_dataset data;
    sl_arena arena;            // of its columns and names
    sl_units units;            // from the names of columns
    int columns;               // of the file
    const int64_t *row;        // of the file, from 1, by row of the data
    int64_t read;              // rows of the file
    int64_t missing, infinite; // of them dropped, because a cell that is needed was; of sampled
                               // rows alone where the inputs were found out late
    int64_t weightless;        // dropped, because their weight is 0
    int64_t repeated;          // kept rows that are equal to an earlier one
    int chosen_from;           // 0, or of how many columns the inputs were picked
    double explained;          // then: the share of y's variance that they explain
    int text_columns;          // ignored because their first cell is no number
    int date_columns;          // ignored because their first cell is a date
    const char **notes;        // sentences: what was done to read it
    int n_notes;
    sl_table_source target_from, input_from[SL_DATA_MAX_INPUTS]; // for sl_data_table_rows
} sl_table;

/* Progress callback, in bytes; anything but 0 stops with SL_ECANCEL. */
typedef int (*sl_table_progress)(int64_t rows, int64_t bytes, int64_t size, void *payload);

/* Without named inputs all columns of numbers but the target are taken. If those are more than
 * max_inputs, the ones that explain the target best are: of all sets of max_inputs columns that
 * with the largest share of y's variance between the cells of a grid of quantiles, corrected for
 * the number of cells (docs/formats.md). A column's kind is that of its first cell that is not
 * missing. A name may have a unit, as "v (m/s)" or "v [m/s]": then the column is called v, unless
 * another one is, and can be named either way.
 *
 * Dates are no inputs unless named, or no other column is there; then they are days or seconds
 * since the first. A named column of two words is 0 and 1, in the order of their letters.
 *
 * SL_EFORMAT: text where a number is needed, a sigma that is not above 0 or a weight that is below
 * it, with row, line and column; SL_EINVAL: no such column (near names are offered), or too few
 * rows; SL_ELIMIT: more than 1,000 columns to choose from. A failure leaves *out as it was. */
SL_NODISCARD sl_status sl_data_table_read(sl_table *out, const char *path,
                                          const sl_table_options *o, sl_table_progress progress,
                                          void *payload);
void sl_data_table_clear(sl_table *t);

/* The options by which a table's file is opened: with what this folder knows of rows of units. */
sl_csv_options sl_data_table_csv(const sl_csv_options *o);

/* The rows of the file once more, all of them: its cells, the inputs x and the target y as t has
 * them; NaN for what is missing, infinite or no number. A status ends it. */
typedef sl_status (*sl_table_row_fn)(const sl_csv *csv, const sl_cell *cells, const double *x,
                                     double y, void *payload);
SL_NODISCARD sl_status sl_data_table_rows(const sl_table *t, const char *path,
                                          const sl_table_options *o, sl_table_row_fn on_row,
                                          void *payload);

/* What a column holds. */
typedef enum sl_column_kind {
    SL_COLUMN_NUMBER,
    SL_COLUMN_TEXT,
    SL_COLUMN_DATE,
    SL_COLUMN_CONSTANT, // the same number in every row that has one
    SL_COLUMN_EMPTY,    // every cell is missing
} sl_column_kind;
const char *sl_data_column_kind_name(sl_column_kind k); // "number"

enum { SL_TABLE_FIRST = 5, SL_TABLE_PREVIEW = 20 };

typedef struct sl_table_column {
    const char *name; // without its unit
    const char *unit; // as it is written; NULL: none
    sl_column_kind kind;
    int64_t missing;  // cells
    double min, max;  // of its finite numbers; NaN: it has none
    int64_t distinct; // values; -1: more than are counted
    const char *first[SL_TABLE_FIRST]; // the first cells that are not missing
    int n_first;
} sl_table_column;

/* All columns of a file. */
typedef struct sl_table_summary {
    sl_arena arena; // of all below
    int64_t rows;
    int columns;
    sl_table_column *column;
    char separator; // ' ': runs of blanks
    bool header;
    const char **preview; // cell c of row r is preview[r * columns + c]
    int preview_rows;
    const char **notes; // sentences: what was done to read it, and what discover would refuse
    int n_notes;
    const char *target; // that sl_data_table_read would choose by o; NULL: a note has the reason
    const char **inputs;
    int n_inputs;
} sl_table_summary;

/* Reads the file twice, so it must be one that can be. A cell that is no number in a column of them
 * is a note, not a failure. A failure leaves *out as it was. */
SL_NODISCARD sl_status sl_data_table_summary(sl_table_summary *out, const char *path,
                                             const sl_table_options *o, sl_table_progress progress,
                                             void *payload);
void sl_data_table_summary_clear(sl_table_summary *s);

/* ---------------------------------------------------------------- numbers ------------------- */

/* v = mantissa * 10^exponent with 1 <= |mantissa| < 10, rounded once to float; a mantissa that
 * rounds to 10 is 1 with the next exponent. 0 and -0 are (0, 0). v must be finite. */
void sl_data_number_split(float *mantissa, int *exponent, double v);
void sl_data_number_split_array(float *mantissa, float *exponent, const double *v, int n);
double sl_data_number_join(float mantissa, int exponent);

#endif

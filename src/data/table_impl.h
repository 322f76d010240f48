/* Shared by the files that read tables. */
#ifndef SL_TABLE_IMPL_H
#define SL_TABLE_IMPL_H

#include "data/data.h"

enum {
    SL_TABLE__SHOWN = 60,         // bytes of a name or a cell in a message
    SL_TABLE__COLUMNS_MAX = 1000, // of numbers, to pick from
};

/* ---------------------------------------------------------------- dates --------------------- */

/* The order of a date's parts where its text does not show it: 03/04/2024. */
typedef enum sl_table__order {
    SL_TABLE__ORDER_UNKNOWN, // such dates are refused
    SL_TABLE__ORDER_DAY,     // day, month, year
    SL_TABLE__ORDER_MONTH,   // month, day, year
} sl_table__order;

/* Is the text a date, a time, or both? *seconds := since 1970, in whatever zone it is in, or since
 * midnight; NaN if its order is needed and not known. *shows := the order that it proves. */
bool sl_data__table_date(double *seconds, sl_table__order *shows, const char *text, size_t n,
                         sl_table__order order);

/* Day and month of a date change places; both are at most 12. */
double sl_data__table_swap_date(double seconds);

/* ---------------------------------------------------------------- columns ------------------- */

/* *unit := that of a cell in a row of units: m/s, (m/s) or [m/s]; false if it is none. */
bool sl_data__unit_of_cell(sl_unit *unit, const char *text);

/* Appends a note to a list in an arena, formatted as by printf. */
typedef struct sl_table__notes {
    sl_arena *arena;
    const char **line;
    int n;
    bool failed; // no memory
} sl_table__notes;
enum { SL_TABLE__NOTES_MAX = 48 };
SL_PRINTF(2, 3) void sl_data__table_note(sl_table__notes *n, const char *format, ...);
/* Notes of what was done to read the file. */
void sl_data__table_note_file(sl_table__notes *n, const sl_csv *csv);

/* A file's columns, and which of them are needed. */
typedef struct sl_table__columns {
    const sl_table_options *o;
    const char *shown; // the file, for messages
    sl_csv *csv;
    int target;
    bool named;  // the inputs are
    int width; // numbers of a row that are held: the target, sigma or weights if a column has them,
               // then columns that may be inputs
    int first;   // of the latter among them: 1, or 2
    int *column; // of each, room for all and one
} sl_table__columns;

/* Target, errors and named inputs. first: the cells of the first row, NULL if there is none; a
 * target that is not named is no text there. */
SL_NODISCARD sl_status sl_data__table_find_columns(sl_table__columns *c, const sl_cell *first);
/* Text from a file, for a message: not too long, and not cut inside a character. */
const char *sl_data__table_shorten(char buffer[SL_TABLE__SHOWN + 4], const char *text);
/* *out := a column's name, in a, without its unit if no other column is called so. *unit: of no
 * dimension where there is none. */
SL_NODISCARD sl_status sl_data__table_copy_name(const char **out, bool *has_unit, sl_unit *unit,
                                           sl_arena *a, const sl_csv *csv, int column);

#endif

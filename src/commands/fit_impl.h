/* Inside commands: shared by the files of the verb `fit`. */
#ifndef SL_COMMANDS_FIT_IMPL_H
#define SL_COMMANDS_FIT_IMPL_H

#include "commands/commands_impl.h"

/* Constants of one formula have names of their own; c1 .. of the tree are these. */
typedef struct sl_commands__formula {
    const char *text;             // of the right side
    const char *const *words;     // all names in it
    int *column;                  // of the file, by word; -1: it is a constant, -2: pi or e
    int n_words;
    const char *constant[SL_FIT_MAX_PARAMS];
    int params;
    const sl_node *expr;          // over the inputs of the table, tidy
    double start[SL_FIT_MAX_PARAMS], lo[SL_FIT_MAX_PARAMS], hi[SL_FIT_MAX_PARAMS];
    bool given[SL_FIT_MAX_PARAMS];
} sl_commands__formula;

/* The columns of the file. */
typedef struct sl_commands__columns {
    const char *shown; // the file, for messages
    const char **name, **plain; // as they are, and without units
    int n;
} sl_commands__columns;

/* --start and --bounds. */
typedef struct sl_commands__constants {
    const char *start, *bounds;
} sl_commands__constants;

/* *out := the formulas of a list with ; between, each with the same target on its left side if it
 * has one; *target := that, or what it was. */
SL_NODISCARD sl_status sl_commands__formulas_split(sl_commands__formula **out, int *n,
                                                   const char **target, sl_commands_run *run,
                                                   const char *formula, const char *more);
SL_NODISCARD sl_status sl_commands__columns_read(sl_commands__columns *out, sl_arena *a,
                                                 const char *path, const sl_csv_options *o);
/* Which words of the formula are columns; the others are constants. SL_EINVAL: one looks like a
 * misspelt column, and no option names it. */
SL_NODISCARD sl_status sl_commands__formula_words(sl_commands__formula *f, sl_arena *a,
                                                  const sl_commands__columns *c,
                                                  const sl_commands__constants *o);
/* f->expr := over the inputs of the table. */
SL_NODISCARD sl_status sl_commands__formula_parse(sl_commands__formula *f, sl_commands_run *run,
                                                  const sl_table *t);
/* Starts and bounds of its constants. */
SL_NODISCARD sl_status sl_commands__formula_constants(sl_commands__formula *f,
                                                      const sl_commands__constants *o);
/* Does every entry of --start and --bounds name a constant of some formula? */
SL_NODISCARD sl_status sl_commands__constants_check(const sl_commands__constants *o,
                                                    const sl_commands__formula *f, int n);

/* *code := the group of each row, from 0 in the order of the file; *name: of the groups. */
SL_NODISCARD sl_status sl_commands__groups_read(int **code, const char ***name, int *n, sl_arena *a,
                                                const char *path, const sl_csv_options *o,
                                                const char *column, const sl_table *t);

#endif

/* Shared by the files that read tables. */
#ifndef SL_TABLE_IMPL_H
#define SL_TABLE_IMPL_H

#include "data/data.h"

/* Numbers of a table, row after row: row i of column j is value[i * width + j]. NaN or an infinity
 * where there is none. */
typedef struct sl_table__block {
    const double *value;
    int width;
    int64_t rows;
} sl_table__block;

/* set[0 .. k-1] := which k of the n columns col[] explain column y best, in the order of col;
 * *share: how much of y's variance they explain. y is finite in all rows, n > k > 0. */
SL_NODISCARD sl_status sl_table__pick(int *set, double *share, const sl_table__block *b, int y,
                                      const int *col, int n, int k, uint64_t seed);

#endif

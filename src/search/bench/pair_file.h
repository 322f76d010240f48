/* Shared by benches of pairs: a line of a file of pairs ("expr", "x" by column, "y"). */
#ifndef SL_BENCH_PAIR_H
#define SL_BENCH_PAIR_H

#include "io/io.h"
#include "search/search_impl.h"

enum { PAIR_ROWS = 4096 };

typedef struct pair {
    int columns, rows;
    double x[SL_UNIVERSE_MAX_VARS][PAIR_ROWS], y[PAIR_ROWS];
    const double *column[SL_UNIVERSE_MAX_VARS];
    char text[2048];     // of the expression
    const sl_node *expr; // set by the caller that parses it
} pair;

static inline sl_status read_pair(pair *p, const char *line, size_t n) {
    sl_json *j;
    SL_TRY(sl_io_json_parse_line(&j, line, n));
    const sl_json *x = sl_io_json_get(j, "x"), *y = sl_io_json_get(j, "y");
    p->columns = SL_MIN(sl_io_json_count(x), SL_UNIVERSE_MAX_VARS);
    p->rows = SL_MIN(sl_io_json_count(y), PAIR_ROWS);
    for (int i = 0; i < p->rows; i++) {
        for (int c = 0; c < p->columns; c++)
            p->x[c][i] = sl_io_json_real(sl_io_json_at(sl_io_json_at(x, c), i));
        p->y[i] = sl_io_json_real(sl_io_json_at(y, i));
    }
    for (int c = 0; c < p->columns; c++) p->column[c] = p->x[c];
    sl_snprintf(p->text, sizeof p->text, "%s", sl_io_json_get_text(j, "expr", "0"));
    sl_io_json_free(j);
    return SL_OK;
}

#endif

/* pair_plot - y over each variable, as characters on a terminal.
 *
 *          17 |                  .      #  |
 *             |        .   :               |
 *           y |   .                        |        one plot for each variable, the same y axis
 *             |                            |
 *        -3.2 | .                          |
 *             +--------------------------  +-----
 *              -1.9        x1         2.2   ...
 *
 * A few points are often much larger than the others, and a linear axis would show a flat line. If
 * y has one sign and spans more than three orders of magnitude the axis is logarithmic; if the
 * outer tenth of the points takes most of the axis, it is cut and they are drawn at its ends. A
 * line below the plot says so. */
#include <math.h>
#include <string.h>

#include "num/num.h"
#include "report/report_impl.h"

// two plots, or three narrow ones, side by side in 80 columns
enum { ROWS = 12, MARGIN = 13, WIDTH = 30, WIDTH_THREE = 19 };

/* How y is placed: height(y) in [low, high]. */
typedef struct axis {
    double low, high;
    bool logarithmic;
    int beyond; // points past the ends
} axis;

static double height(const axis *a, double y) { return a->logarithmic ? log10(fabs(y)) : y; }
static bool outside(const axis *a, double y) {
    return height(a, y) < a->low || height(a, y) > a->high;
}

static sl_status choose_axis(axis *a, sl_arena *scratch, const double *y, int n) {
    const size_t bytes = (size_t)n * sizeof *y;
    double *sorted = sl_arena_alloc(scratch, bytes);
    if (!sorted) return sl_fail_memory(bytes, 1, "a plot");
    memcpy(sorted, y, bytes);
    sl_num_sort(sorted, n);

    const double low = sorted[0], high = sorted[n - 1];
    const double least = SL_MIN(fabs(low), fabs(high)), most = SL_MAX(fabs(low), fabs(high));
    *a = (axis){ .low = low, .high = high };
    if ((low > 0 || high < 0) && most > 1000 * least) {
        a->logarithmic = true;
        a->low = log10(least);
        a->high = log10(most);
        return SL_OK;
    }
    const double from = sorted[n / 10], to = sorted[n - 1 - n / 10], span = to - from;
    if (span > 0 && high - low > 10 * span) {
        // it ends at the last points that are not far out
        int first = 0, last = n - 1;
        while (sorted[first] < from - span) first++;
        while (sorted[last] > to + span) last--;
        a->low = sorted[first];
        a->high = sorted[last];
        for (int i = 0; i < n; i++) a->beyond += outside(a, y[i]);
    }
    return SL_OK;
}

/* Which of n cells `v` falls in, of low .. high; the last on its side if it is beyond them, which
 * it may be by more than an int holds. */
static int cell(double v, double low, double high, int n) {
    double at = high > low ? (v - low) / (high - low) * n : n / 2.0;
    return at >= n ? n - 1 : at > 0 ? (int)at : 0;
}

typedef struct plot {
    int column;
    double low, high; // of x
    char cell[ROWS][WIDTH];
} plot;

static void mark(char *cell, char way) {
    static const char more[] = " .:#";
    if (way)
        *cell = way;
    else if (*cell != '#' && *cell != '^' && *cell != 'v')
        *cell = strchr(more, *cell)[1];
}

static void fill(plot *g, const axis *a, const sl_pair *p, int column, int width) {
    const double *x = p->data.x[column];
    g->column = column;
    g->low = g->high = x[0];
    for (int i = 1; i < p->data.rows; i++) {
        g->low = SL_MIN(g->low, x[i]);
        g->high = SL_MAX(g->high, x[i]);
    }
    memset(g->cell, ' ', sizeof g->cell);
    for (int i = 0; i < p->data.rows; i++) {
        double h = height(a, p->data.y[i]);
        char way = outside(a, p->data.y[i]) ? (h > a->high ? '^' : 'v') : '\0';
        int row = ROWS - 1 - cell(h, a->low, a->high, ROWS);
        if (a->logarithmic && p->data.y[i] < 0)
            row = ROWS - 1 - row; // the largest |y| is the lowest y
        mark(&g->cell[row][cell(x[i], g->low, g->high, width)], way);
    }
}

/* ---------------------------------------------------------------- lines --------------------- */

/* Ends a line, without the blanks at its end. */
static void end_line(sl_str *s) {
    size_t n = s->len;
    while (n > 0 && s->text[n - 1] == ' ') n--;
    sl_str_truncate(s, n);
    sl_str_add_char(s, '\n');
}

/* The y value at the top or bottom end of the axis. */
static void end_label(char out[16], const axis *a, bool top, bool negative) {
    double h = top != negative ? a->high : a->low;
    double y = !a->logarithmic ? (top ? a->high : a->low) : negative ? -pow(10, h) : pow(10, h);
    sl_snprintf(out, 16, "%.3g", y);
}

static void add_rows(sl_str *s, const plot *g, int plots, int width, const axis *a, bool negative) {
    char label[16];
    for (int r = 0; r < ROWS; r++) {
        sl_snprintf(label, sizeof label, "%s", r == ROWS / 2 ? "y" : "");
        if (r == 0 || r == ROWS - 1) end_label(label, a, r == 0, negative);
        sl_str_addf(s, "%*s ", MARGIN, label);
        for (int i = 0; i < plots; i++)
            sl_str_addf(s, "%s|%.*s", i > 0 ? "   " : "", width, g[i].cell[r]);
        end_line(s);
    }
}

/* The lower frame, and below it the ends and the name of x. */
static void add_feet(sl_str *s, const plot *g, int plots, int width) {
    char low[16], high[16], name[16];
    static const char dashes[] = "------------------------------";
    sl_str_addf(s, "%*s ", MARGIN, "");
    for (int i = 0; i < plots; i++) sl_str_addf(s, "%s+%.*s", i > 0 ? "   " : "", width, dashes);
    sl_str_addf(s, "\n%*s ", MARGIN, "");
    for (int i = 0; i < plots; i++) {
        sl_snprintf(low, sizeof low, "%.3g", g[i].low);
        sl_snprintf(high, sizeof high, "%.3g", g[i].high);
        const int n = sl_snprintf(name, sizeof name, "x%d", g[i].column + 1),
                  left = (width - n) / 2;
        sl_str_addf(s, "%s%-*s%s%*s", i > 0 ? "    " : " ", left, low, name, width - left - n,
                    high);
    }
    end_line(s);
}

sl_status sl_report__pair_plot(sl_str *s, sl_arena *scratch, const sl_pair *p) {
    plot g[SL_UNIVERSE_MAX_VARS];
    int used[SL_UNIVERSE_MAX_VARS], plots = 0;
    axis a;
    SL_TRY(choose_axis(&a, scratch, p->data.y, (int)p->data.rows));
    for (int c = 0; c < p->data.inputs; c++)
        if (sl_expr_variables(p->expr) >> c & 1) used[plots++] = c;
    const int width = plots < 3 ? WIDTH : WIDTH_THREE;
    for (int i = 0; i < plots; i++) fill(&g[i], &a, p, used[i], width);

    add_rows(s, g, plots, width, &a, p->data.y[0] < 0);
    add_feet(s, g, plots, width);
    if (a.logarithmic) sl_str_addf(s, "%*s the y axis is logarithmic\n", MARGIN, "");
    if (a.beyond > 0)
        sl_str_addf(s, "%*s the y axis is cut: %d of %d points are beyond it, marked ^ or v\n",
                    MARGIN, "", a.beyond, (int)p->data.rows);
    return SL_OK;
}

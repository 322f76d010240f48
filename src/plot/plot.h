/* plot - figures as SVG text: axes, marks, lines, bands.
 *
 * A figure is one or more panels side by side or in rows. A panel has two axes, each linear or
 * logarithmic, whose range comes from what is drawn unless it is given; layers are drawn in the order
 * they were added. Numbers on axes are chosen by the usual 1, 2, 5 rule.
 *
 *     sl_plot *p;
 *     sl_plot_new(&p, 720, 420);
 *     int panel = sl_plot_panel(p, &(sl_panel){ .x_label = "a", .y_label = "T" });
 *     sl_plot_marks(p, panel, x, y, n, &(sl_style){ .colour = 0, .label = "data" });
 *     sl_plot_line(p, panel, gx, gy, m, &(sl_style){ .colour = 1, .label = "formula" });
 *     sl_plot_svg(&text, p);
 *
 * The text is a complete <svg> that stands alone in a file and inside HTML, readable in light and dark
 * surroundings and on paper; colours are few and told apart by people who see fewer. Points that are
 * not finite (or not positive on a logarithmic axis) are left out, and lines break there. Very many
 * points are thinned to what the pixels can show. Labels are any UTF-8 text; they are escaped.
 *
 * Failures stick, as with sl_str: add freely, ask once at the end. The same figure is the same bytes.
 * Threads: no shared state. */
#ifndef SL_PLOT_H
#define SL_PLOT_H

#include "base/base.h"

typedef struct sl_plot sl_plot;

typedef struct sl_range { double lo, hi; } sl_range; // {0, 0}: from what is drawn

typedef struct sl_panel {
    const char *title, *x_label, *y_label; // NULL: none
    bool log_x, log_y;
    sl_range x, y;
    int row, column; // place in the grid of panels, from 0
    double height;   // share of the figure's height; 0: 1, as the others
} sl_panel;

typedef struct sl_style {
    int colour;        // 0, 1, 2, ...: data, first line, second line, ...
    const char *label; // in the legend; NULL: not there
    double size;       // of marks, width of lines, in pixels; 0: the usual
    bool dashed;
    bool faint;
} sl_style;

SL_NODISCARD sl_status sl_plot_new(sl_plot **out, int width, int height);
void sl_plot_free(sl_plot *p);
void sl_plot_title(sl_plot *p, const char *text);
/* Answers the panel's number. */
int sl_plot_panel(sl_plot *p, const sl_panel *panel);
void sl_plot_marks(sl_plot *p, int panel, const double *x, const double *y, int64_t n,
                   const sl_style *style);
void sl_plot_line(sl_plot *p, int panel, const double *x, const double *y, int64_t n,
                  const sl_style *style);
/* Between lo and hi. */
void sl_plot_band(sl_plot *p, int panel, const double *x, const double *lo, const double *hi,
                  int64_t n, const sl_style *style);
/* y = at, or x = at, across the panel. */
void sl_plot_rule(sl_plot *p, int panel, bool vertical, double at, const sl_style *style);

/* Appends the figure. SL_ENOMEM if anything along the way lacked memory. */
SL_NODISCARD sl_status sl_plot_svg(sl_str *s, const sl_plot *p);

#endif

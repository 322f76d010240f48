/* plot - figures as SVG text: axes, marks, lines, bands.
 *
 * A figure is a grid of panels under one title and one legend. A panel has two axes, each linear or
 * logarithmic; their ranges are given, or computed from the layers. Layers are drawn in the order
 * they were added. Ticks follow the usual 1, 2, 5 rule.
 *
 *     sl_plot *p;
 *     sl_plot_new(&p, 720, 420);
 *     int panel = sl_plot_panel(p, &(sl_panel){ .x_label = "a", .y_label = "T" });
 *     sl_plot_marks(p, panel, x, y, n, &(sl_style){ .colour = 0, .label = "data" });
 *     sl_plot_line(p, panel, gx, gy, m, &(sl_style){ .colour = 1, .label = "formula" });
 *     sl_plot_svg(&text, p);
 *
 *     +--------------------------------------+
 *     | title                                |      One legend serves all panels and is above
 *     | o data   -- formula                  |      them, so it covers nothing. Layers with the
 *     |   panel title                        |      same label share an entry.
 *     | T |....................              |
 *     |   |....................   ...        |      Boxes of one column have the same left and
 *     |   +--------------------              |      right edges, those of one row the same top
 *     |             a                        |      and bottom.
 *     +--------------------------------------+
 *
 * The text is a complete <svg>, for a file of its own or inside HTML. It has its own background:
 * white, nearly black if the reader prefers dark, white on paper. The few colours can be
 * distinguished by colour-blind readers. Points that are not finite (or not positive on a
 * logarithmic axis) are left out, and lines break there. Very many points are thinned to what the
 * pixels can show: thousands of marks become cells, darker where there are more. Labels may be any
 * bytes; they are escaped, and cut if they are too long.
 *
 * No element has an id, and all classes are below `sl-plot`, so a page can have any number of
 * figures.
 *
 * A failure is remembered, as by sl_str: add without checks, and look at the status of sl_plot_svg.
 * The same figure is the same bytes. Ownership: all arguments are copied. Threads: no shared
 * state. */
#ifndef SL_PLOT_H
#define SL_PLOT_H

#include "base/base.h"

typedef struct sl_plot sl_plot;

typedef struct sl_range { double lo, hi; } sl_range; // {0, 0}: computed from the layers

typedef struct sl_panel {
    const char *title, *x_label, *y_label; // NULL: none
    bool log_x, log_y;
    sl_range x, y;   // lo < hi; above 0 on a logarithmic axis. Points beyond are not drawn
    int row, column; // place in the grid of panels, from 0
    double height;   // weight of its share of the figure's height; 0: 1
    bool bare;       // no numbers at the x axis: a panel below has them
} sl_panel;

#define SL_PLOT_MAX_GRID 16 // rows, columns

typedef enum sl_mark {
    SL_MARK_DOT,
    SL_MARK_RING,
    SL_MARK_SQUARE,
    SL_MARK_DIAMOND,
    SL_MARK_TRIANGLE,
    SL_MARK_STAR,
} sl_mark;

typedef struct sl_style {
    int colour;        // 0, 1, 2, ...: data, first line, second line, ...; modulo 7
    double shade;      // above 0, up to 1: instead of a colour, from cold to warm, in order
    const char *label; // in the legend; NULL: none
    double size;       // radius of marks, width of lines, in pixels; 0: the default
    sl_mark mark;
    bool dashed;
    bool faint;
    bool aside;        // does not extend the axes; the part beyond them is not drawn
    const char *const *tips; // tooltips of marks, n texts; NULL: none
} sl_style;

/* width and height in pixels, 64 .. 16384. */
SL_NODISCARD sl_status sl_plot_new(sl_plot **out, int width, int height);
void sl_plot_free(sl_plot *p);
void sl_plot_title(sl_plot *p, const char *text);
/* For screen readers: a name and a description. Neither is drawn. name NULL: the title; text NULL:
 * none. */
void sl_plot_describe(sl_plot *p, const char *name, const char *text);
/* Returns the panel's number. */
int sl_plot_panel(sl_plot *p, const sl_panel *panel);
void sl_plot_marks(sl_plot *p, int panel, const double *x, const double *y, int64_t n,
                   const sl_style *style);
void sl_plot_line(sl_plot *p, int panel, const double *x, const double *y, int64_t n,
                  const sl_style *style);
/* Between lo and hi. */
void sl_plot_band(sl_plot *p, int panel, const double *x, const double *lo, const double *hi,
                  int64_t n, const sl_style *style);
/* A vertical stroke from lo to hi at each x: the uncertainty of a mark. */
void sl_plot_bars(sl_plot *p, int panel, const double *x, const double *lo, const double *hi,
                  int64_t n, const sl_style *style);
/* y = at across the panel. */
void sl_plot_rule(sl_plot *p, int panel, double at, const sl_style *style);

/* Appends the figure. SL_ENOMEM if this or an earlier call ran out of memory. */
SL_NODISCARD sl_status sl_plot_svg(sl_str *s, const sl_plot *p);

/* ---------------------------------------------------------------- for pages around figures -- */

/* Appends any bytes as text of XML and HTML, for content and attributes: &<>"' are escaped, white
 * space becomes blanks, control characters and bytes that are not UTF-8 become U+FFFD. */
void sl_plot_escape(sl_str *s, const char *text);

/* Appends a number for people, with up to `digits` (1 .. 17) significant digits: 0.25, 1234,
 * −3.1·10⁻⁷ with a true minus sign; "–" for NaN, "∞". Independent of the locale. */
void sl_plot_number(sl_str *s, double value, int digits);

/* Backgrounds of figures, for pages around them. */
#define SL_PLOT_LIGHT "#ffffff"
#define SL_PLOT_DARK "#14171b"

#endif

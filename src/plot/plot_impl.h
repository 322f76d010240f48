/* Shared inside plot: the figure, axes and their ticks, text, layout, thinning to pixels. */
#ifndef SL_PLOT_IMPL_H
#define SL_PLOT_IMPL_H

#include "plot/plot.h"

/* ---------------------------------------------------------------- a figure ------------------ */

typedef enum sl_layer_kind {
    SL_LAYER_MARKS,
    SL_LAYER_LINE,
    SL_LAYER_BAND,
    SL_LAYER_BARS,
    SL_LAYER_RULE, // one value in y; x is NULL
} sl_layer_kind;

typedef struct sl_layer {
    struct sl_layer *next;
    sl_layer_kind kind;
    int panel;
    int64_t n;
    const double *x, *y, *top; // top: the upper end of bands and bars, y being the lower one
    sl_style style;
} sl_layer;

typedef struct sl_panel_node {
    struct sl_panel_node *next;
    sl_panel panel;
} sl_panel_node;

struct sl_plot {
    int width, height;
    const char *title, *name, *description;
    sl_panel_node *panels, **panels_end; // in the order they were added
    int n_panels;
    sl_layer *layers, **layers_end;
    sl_arena arena; // of all copies
    bool failed;
};

/* ---------------------------------------------------------------- axes ---------------------- */

typedef struct sl_axis {
    bool log;
    double lo, hi;        // ends
    long double from, to; // the same, or their decimal logarithms on a logarithmic axis
} sl_axis;

/* The axis over lo .. hi, extended by `room` times its length at both ends. lo and hi must be
 * finite, and positive on a logarithmic axis. Ends that are too close to have ticks between them
 * are moved apart. */
sl_axis sl_plot__axis(bool log, double lo, double hi, double room);
/* The place of v: 0 at the start of the axis and 1 at its end, limited to a million lengths. False
 * if it has none. */
bool sl_plot__place(double *t, const sl_axis *a, double v);

#define SL_PLOT__TICKS 12
#define SL_PLOT__MINOR 96
#define SL_PLOT__LABEL 64

typedef struct sl_ticks {
    int n, minors;
    double at[SL_PLOT__TICKS]; // 0 .. 1, ascending
    char label[SL_PLOT__TICKS][SL_PLOT__LABEL];
    double minor[SL_PLOT__MINOR]; // without numbers
} sl_ticks;

/* At most `max` ticks, 2 <= max <= SL_PLOT__TICKS; at least one, two from max = 5 on. */
void sl_plot__ticks(sl_ticks *out, const sl_axis *a, int max);
/* The most ticks, up to `max`, whose labels have a gap between them on an axis of `length` pixels:
 * at least one. */
void sl_plot__ticks_fit(sl_ticks *out, const sl_axis *a, int max, double length, double font);

/* ---------------------------------------------------------------- text ---------------------- */

/* An upper bound of the width of text in pixels, from a wide sans-serif font. */
double sl_plot__width(const char *text, double font);
/* Appends text escaped, cut with an ellipsis where it would take more than `room` pixels. */
void sl_plot__text(sl_str *s, const char *text, double font, double room);
/* Writes n digits times 10^e: as a plain decimal, or as a decimal times 10^top. */
void sl_plot__plain(char *w, const char *digits, int n, int e);
void sl_plot__power(char *w, const char *digits, int n, int e, int top);
/* Writes 10 with a raised exponent. */
void sl_plot__raised(char *w, int e);
/* A coordinate, to a hundredth of a pixel. */
void sl_plot__coord(sl_str *s, double v);
/* Appends the format with a coordinate of v in place of each '?'. */
void sl_plot__put(sl_str *s, const char *format, const double *v);
#define SL_PLOT__PUT(s, format, ...) sl_plot__put(s, format, (const double[]){ __VA_ARGS__ })

/* ---------------------------------------------------------------- layout -------------------- */

typedef struct sl_box { int x, y, w, h; } sl_box;

// pixels
enum {
    SL_PLOT__PAD = 16,    // around everything
    SL_PLOT__SWATCH = 22, // width of a sample in the legend
    SL_PLOT__FONT = 12,
    SL_PLOT__FONT_NAME = 13,
    SL_PLOT__FONT_TITLE = 16,
};

typedef struct sl_place { // of a panel
    const sl_panel *panel;
    sl_box box;
    int name_x; // middle of the y axis's name
    sl_axis x, y;
    sl_ticks ticks_x, ticks_y;
} sl_place;

typedef struct sl_entry { // of the legend
    const char *label;
    int x, y;    // left end, and the middle of its line
    double room; // for the label
} sl_entry;

typedef struct sl_layout {
    const sl_plot *p;
    sl_arena *arena;
    int n, entries;
    sl_place *place; // by panel
    sl_entry *entry;
} sl_layout;

SL_NODISCARD sl_status sl_plot__layout(sl_layout *d, sl_arena *arena, const sl_plot *p);

/* ---------------------------------------------------------------- colours ------------------- */

/* The style sheet: rules for light, then the differences for dark; print is always light. */
void sl_plot__styles(sl_str *s);
/* The attributes that give an element the colour of a layer. */
void sl_plot__colour(sl_str *s, const sl_style *style);

/* ---------------------------------------------------------------- pixels -------------------- */

typedef struct sl_dot { double x, y; } sl_dot;

/* Appends dot `number` of a path. */
void sl_plot__dot(sl_str *s, int64_t number, sl_dot d);
/* Removes, in place, dots that a line does not need; the line breaks at NaN in x. Returns the
 * number of dots left. */
int64_t sl_plot__thin(sl_dot *dots, int64_t n, const sl_box *box);
/* The path of such a line, clipped to the box. */
void sl_plot__line(sl_str *s, const sl_box *box, const sl_dot *dots, int64_t n);
/* The path around a polygon, clipped to the box; work: room for 12 n dots. */
void sl_plot__area(sl_str *s, const sl_box *box, const sl_dot *dots, int64_t n, sl_dot *work);

/* Marks as cells: count[i] of those that fall into cell i, of `columns` times `rows` cells of
 * `size` pixels. */
typedef struct sl_cells {
    int size, columns, rows;
    uint32_t *count;
    int64_t filled;
} sl_cells;
SL_NODISCARD sl_status sl_plot__cells(sl_cells *out, sl_arena *a, const sl_box *box, int size,
                                      const sl_dot *dots, int64_t n);
int64_t sl_plot__cell(const sl_cells *c, const sl_box *box, sl_dot d);

#endif

/* Shared inside report: parts of pages, figures, HTML. */
#ifndef SL_REPORT_IMPL_H
#define SL_REPORT_IMPL_H

#include "num/num.h"
#include "plot/plot.h"
#include "report/report.h"

/* ---------------------------------------------------------------- text ---------------------- */

/* sl_report_line with names of another width. */
SL_PRINTF(4, 5)
void sl_report__line(sl_str *s, int width, const char *name, const char *format, ...);
/* The member "model"; null if m is NULL. */
void sl_report__model_member(sl_str *s, const sl_infer *m);
/* The member "bits": the description length of a formula and its parts. */
void sl_report__add_bits(sl_str *s, const sl_bits *bits);
/* Appends y over each variable that the expression uses, as characters. */
SL_NODISCARD sl_status sl_report__pair_plot(sl_str *s, sl_arena *scratch, const sl_pair *p);

/* ---------------------------------------------------------------- what is shown ------------- */

typedef struct sl_report__view {
    const sl_report_input *in;
    const sl_laws *l;
    const sl_laws_table *t;
    sl_arena *arena;
    const char **tip; // by row of the table: the run in a line, the tooltip of its mark
    int *point;       // by row: which of the laws' points it is part of, -1 for none
    bool *frontier;   // by point
    int number;       // of the last figure on the page
} sl_report__view;

SL_NODISCARD sl_status sl_report__view_init(sl_report__view *v, sl_arena *a,
                                            const sl_report_input *in);

/* Which size has so many parameters; -1 for none. */
int sl_report__size(const sl_report__view *v, double params);
/* The style of the runs of a size, the same in every figure. */
sl_style sl_report__size_style(const sl_report__view *v, int size);
/* Points, and room for a number of them. */
typedef struct sl_report__series {
    int n;
    double *x, *y, *low, *high;
    const char **tip;
} sl_report__series;
SL_NODISCARD sl_status sl_report__series_new(sl_report__series *out, const sl_report__view *v,
                                             int room);
/* Appends x and an estimate, scaled. tip NULL: none. */
void sl_report__put(sl_report__series *a, double x, sl_estimate e, double scale, const char *tip);
/* Draws the points with their intervals as faint bars, and empties the series. */
void sl_report__add_points(sl_plot *p, int panel, sl_report__series *a, sl_style style);

/* A metric as it is drawn: a share is in percent. */
double sl_report__metric_of(const sl_laws_run *run, sl_laws_metric m);
double sl_report__metric_at(const sl_laws_point *p, sl_laws_metric m);
extern const char *const sl_report__metric_axis[SL_LAWS_METRIC_COUNT];
/* Wilson's interval of a share, in percent; NaN where the problems are not counted. */
sl_interval sl_report__interval(const sl_report__view *v, const sl_laws_point *q, sl_laws_metric m);
/* The law's y as it is drawn: for shares 100 (1 - y), with the ends of its interval in order. */
sl_estimate sl_report__law_at(const sl_law *law, sl_laws_metric m, double flops);
/* From a to b, above 0, evenly spaced in the logarithm. */
void sl_report__grid(double *x, int n, double a, double b);
/* A law over the range of its points, with its band; nothing where it is not known. */
SL_NODISCARD sl_status sl_report__add_law(sl_plot *p, const sl_report__view *v, int panel,
                                          const sl_law *law, const char *label);
/* Is x beyond ten times the largest compute? */
bool sl_report__is_far(const sl_report__view *v, double flops);

/* ---------------------------------------------------------------- figures ------------------- */

/* Width of figures in pixels: one panel, several panels, narrow screens. */
enum { SL_REPORT__WIDTH = 720, SL_REPORT__WIDTH_PANELS = 840, SL_REPORT__WIDTH_NARROW = 360 };

/* A plot of that width, or narrow, as high as that. */
SL_NODISCARD sl_status sl_report__plot_new(sl_plot **out, bool narrow, int width, int height,
                                           int height_narrow);

/* A figure. `draw` draws it, narrow: for narrow screens; `caption` is HTML; `data` writes its table
 * of numbers. A figure that does not apply draws nothing. */
typedef struct sl_report__figure {
    const char *id, *name; // the file is id.svg; the name is for screen readers
    bool panels;           // several of them, which take more height on paper
    bool (*is)(const sl_report__view *v);
    sl_status (*draw)(sl_plot **out, const sl_report__view *v, bool narrow);
    void (*caption)(sl_str *s, const sl_report__view *v);
    void (*data)(sl_str *s, const sl_report__view *v);
} sl_report__figure;

#define SL_REPORT__FIGURE(what, id, name, panels)                \
    const sl_report__figure sl_report__fig_##what = {            \
        id, name, panels, is_##what, draw_##what, caption_##what, data_##what }

extern const sl_report__figure sl_report__fig_solved, sl_report__fig_r2, sl_report__fig_loss,
    sl_report__fig_predict, sl_report__fig_sweep, sl_report__fig_optima, sl_report__fig_allocation,
    sl_report__fig_isoflop, sl_report__fig_curves, sl_report__fig_others;

/* The data of one problem. */
sl_status sl_report__draw_problem(sl_plot **out, const sl_report_problem *p);

/* Appends the figure with number, caption and data; nothing if it is not there. */
SL_NODISCARD sl_status sl_report__add_figure(sl_str *s, sl_report__view *v,
                                             const sl_report__figure *f);

/* ---------------------------------------------------------------- HTML ---------------------- */

void sl_report__head(sl_str *s, const sl_report__view *v);
void sl_report__foot(sl_str *s);

/* v with the decimals that `value` has to so many significant digits: 0.240 beside 0.225. */
void sl_report__like(sl_str *s, double v, double value, int digits);
/* "0.225 (0.194 to 0.240)", the interval left out where there is none. */
void sl_report__estimate(sl_str *s, sl_estimate e, int digits);
/* "1,234 runs". */
void sl_report__count(sl_str *s, int64_t n, const char *one, const char *many);

/* Tables. A column's name that starts with '#' is one of numbers. class: "wide" beyond the text's
 * measure, "sort" by clicks, "dense" of many columns, "tall" with
 * a scroll bar; "" behind a figure. */
void sl_report__table_open(sl_str *s, const char *class, const char *const *names, int n);
void sl_report__table_close(sl_str *s);
#define SL_REPORT__TABLE(s, class, ...)                                                           \
    sl_report__table_open(s, class, (const char *const[]){ __VA_ARGS__ },                         \
                          SL_LEN(((const char *const[]){ __VA_ARGS__ })))

/* A cell. Numbers have so many significant digits and sort by their value. */
typedef struct sl_report__cell {
    enum { SL_CELL_IS_TEXT, SL_CELL_IS_WORDS, SL_CELL_IS_HTML, SL_CELL_IS_BLANK, SL_CELL_IS_NUMBER,
           SL_CELL_IS_FIXED, SL_CELL_IS_ESTIMATE, SL_CELL_IS_PERCENT, SL_CELL_IS_TIME } kind;
    const char *text;
    sl_estimate e;
    int digits;
} sl_report__cell;
#define SL_CELL_OF(...) ((sl_report__cell){ .kind = SL_CELL_IS_##__VA_ARGS__ })
#define SL_CELL_TEXT(t) SL_CELL_OF(TEXT, .text = (t)) // a dash for NULL
#define SL_CELL_WORDS(t) SL_CELL_OF(WORDS, .text = (t)) // may break into lines
#define SL_CELL_HTML(t) SL_CELL_OF(HTML, .text = (t))
#define SL_CELL_BLANK(v) SL_CELL_OF(BLANK, .e.value = (v)) // nothing if it is not finite
#define SL_CELL_NUMBER(v, n) SL_CELL_OF(NUMBER, .e.value = (v), .digits = (n))
#define SL_CELL_FIXED(v, n) SL_CELL_OF(FIXED, .e.value = (v), .digits = (n)) // decimals
#define SL_CELL_ESTIMATE(x, n) SL_CELL_OF(ESTIMATE, .e = (x), .digits = (n))
#define SL_CELL_PERCENT(x) SL_CELL_OF(PERCENT, .e = (x)) // of a share
#define SL_CELL_TIME(v) SL_CELL_OF(TIME, .e.value = (v)) // seconds

void sl_report__row(sl_str *s, const char *class, const sl_report__cell *cells, int n);
#define SL_REPORT__ROW(s, class, ...)                                                             \
    sl_report__row(s, class, (const sl_report__cell[]){ __VA_ARGS__ },                            \
                   SL_LEN(((const sl_report__cell[]){ __VA_ARGS__ })))

/* ---------------------------------------------------------------- parts --------------------- */

/* Sections: each has an anchor, a title, whether it is there, and what writes it. */
typedef struct sl_report__section {
    const char *id, *title;
    bool (*is)(const sl_report__view *v);
    sl_status (*add)(sl_str *s, sl_report__view *v);
} sl_report__section;

/* About laws, then about the study; a list ends with one without an id. */
extern const sl_report__section sl_report__sections_laws[], sl_report__sections_study[];

void sl_report__keys(sl_str *s, const sl_report__view *v);      // the row of key numbers
/* Sentences; as HTML or as plain text. Returns how many. */
int sl_report__sentences(sl_str *s, const sl_report__view *v, bool html);

#endif

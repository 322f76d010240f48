/* discovery_picture - data, formula and residuals as a figure.
 *
 *     one input                    more                             no formula
 *     +--------------------+       +---------+ +---------+          y over each input
 *     | y over x, curve    |       | y over  | | residual|
 *     +--------------------+       | formula | | over .. |
 *     +--------------------+       +---------+ +---------+
 *     | residual over x    |       +---------+ +---------+
 *     +--------------------+       | residual| | residual|
 *                                  | over .. | | over .. |
 *                                  +---------+ +---------+
 *
 * An axis is logarithmic if its data are positive and spread over more than three decades. The data
 * alone set the axes: a curve with a pole leaves through the top. */
#include "report/discovery_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROWS = 200000, // drawn at most: each pixel has seen many by then
    GRID = 2049,   // points of a curve, three a pixel: fast waves keep their height
    WIDTH = 720,
};

/* ---------------------------------------------------------------- what is shown ------------- */

static double *numbers(sl_arena *a, int64_t n) {
    double *w = sl_arena_alloc(a, (size_t)n * sizeof *w);
    if (!w) (void)sl_fail_memory((size_t)n, sizeof *w, "the numbers of a picture");
    return w;
}

/* Rows evenly spaced among all. */
static sl_status pick_rows(sl_report__picture *v) {
    const sl_dataset *p = v->r->data;
    v->rows = sl_data_view(p->x, p->inputs, p->y, p->rows);
    if (p->rows <= ROWS) return SL_OK;
    v->rows.rows = ROWS;
    for (int k = 0; k <= p->inputs; k++) {
        const double *from = k < p->inputs ? p->x[k] : p->y;
        double *to = numbers(v->arena, ROWS);
        if (!to) return SL_ENOMEM;
        for (int64_t i = 0; i < ROWS; i++) to[i] = from[(p->rows - 1) * i / (ROWS - 1)];
        *(k < p->inputs ? &v->rows.x[k] : &v->rows.y) = to;
    }
    return SL_OK;
}

static sl_status values(sl_report__picture *v) {
    const int64_t n = v->rows.rows;
    v->value = numbers(v->arena, n);
    v->residual = numbers(v->arena, n);
    if (!v->value || !v->residual) return SL_ENOMEM;
    SL_TRY(sl_discover_candidate_eval(v->value, v->arena, v->best, &v->rows));
    for (int64_t i = 0; i < n; i++) v->residual[i] = v->rows.y[i] - v->value[i];
    return SL_OK;
}

static void name_columns(sl_report__picture *v) {
    const sl_names *names = &v->r->names;
    for (int k = 0; k < v->r->data->inputs; k++) {
        sl_snprintf(v->plain[k], sizeof v->plain[k], "x%d", k + 1);
        const bool given = names->names && k < names->count && names->names[k];
        v->name[k] = given ? names->names[k] : v->plain[k];
    }
    v->target = v->r->target ? v->r->target : "y";
    const char *slash = v->r->file ? strrchr(v->r->file, '/') : NULL;
    v->title = slash ? slash + 1 : v->r->file;
}

/* ---------------------------------------------------------------- axes ---------------------- */

static sl_range range_of(const double *v, int64_t n) {
    sl_range r = { INFINITY, -INFINITY };
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(v[i])) continue;
        r.lo = SL_MIN(r.lo, v[i]);
        r.hi = SL_MAX(r.hi, v[i]);
    }
    return r;
}

/* Should the axis be logarithmic? The values must be positive and span more than three decades, and
 * an eighth of them must be in its lower half: else a few values near 0 would take half of the
 * picture. */
static bool is_wide(const double *v, int64_t n) {
    const sl_range r = range_of(v, n);
    if (!(r.lo > 0 && r.hi / 1000 > r.lo)) return false;
    const double middle = sqrt(r.lo) * sqrt(r.hi);
    int64_t below = 0;
    for (int64_t i = 0; i < n; i++) below += v[i] < middle;
    return below >= n / 8;
}

/* ---------------------------------------------------------------- panels -------------------- */

static const sl_style data_style = { .colour = 0 };

static void add_residuals(sl_plot *plot, const sl_report__picture *v, sl_panel panel,
                          const char *name, const double *x) {
    panel.x_label = name;
    panel.y_label = "residual";
    panel.log_x = is_wide(x, v->rows.rows);
    const int number = sl_plot_panel(plot, &panel);
    sl_plot_marks(plot, number, x, v->residual, v->rows.rows, &data_style);
    sl_plot_rule(plot, number, 0, &(sl_style){ .colour = 1, .size = 1.5 });
}

/* The formula's values along the range of its one input, as gx, gy. */
static sl_status make_curve(double *gx, double *gy, const sl_report__picture *v, sl_range x,
                            sl_range y) {
    const bool log = is_wide(v->rows.x[0], v->rows.rows);
    for (int i = 0; i < GRID; i++) {
        const double t = (double)i / (GRID - 1);
        gx[i] = log ? sl_exp(sl_log(x.lo) * (1 - t) + sl_log(x.hi) * t) : x.lo * (1 - t) + x.hi * t;
    }
    const sl_dataset along = { .inputs = 1, .rows = GRID, .x = { gx } };
    SL_TRY(sl_discover_candidate_eval(gy, v->arena, v->best, &along));
    // from far above to far below in one step is a pole and no line
    for (int i = 1; i < GRID; i++) {
        const bool down = gy[i - 1] > y.hi && gy[i] < y.lo, up = gy[i - 1] < y.lo && gy[i] > y.hi;
        if (down || up) gy[i] = NAN;
    }
    return SL_OK;
}

static sl_status one_input(sl_plot *plot, const sl_report__picture *v, const char *data,
                           const char *formula) {
    const int64_t n = v->rows.rows;
    const sl_range x = range_of(v->rows.x[0], n), y = range_of(v->rows.y, n);
    const int above = sl_plot_panel(plot, &(sl_panel){ .y_label = v->target,
                                                       .log_x = is_wide(v->rows.x[0], n),
                                                       .log_y = is_wide(v->rows.y, n),
                                                       .height = 3,
                                                       .bare = true });
    sl_plot_marks(plot, above, v->rows.x[0], v->rows.y, n, &(sl_style){ .label = data });
    add_residuals(plot, v, (sl_panel){ .row = 1 }, v->name[0], v->rows.x[0]);
    if (!(x.lo <= x.hi)) return SL_OK; // no rows
    double *gx = numbers(v->arena, GRID), *gy = numbers(v->arena, GRID);
    if (!gx || !gy) return SL_ENOMEM;
    SL_TRY(make_curve(gx, gy, v, x, y));
    sl_plot_line(plot, above, gx, gy, GRID,
                 &(sl_style){ .colour = 1, .label = formula, .aside = true });
    return SL_OK;
}

static void more_inputs(sl_plot *plot, const sl_report__picture *v, const char *data,
                        const char *formula) {
    const int64_t n = v->rows.rows;
    const sl_range y = range_of(v->rows.y, n), value = range_of(v->value, n);
    const bool log = is_wide(v->rows.y, n) && value.lo > 0;
    const int first = sl_plot_panel(
        plot,
        &(sl_panel){ .x_label = "formula", .y_label = v->target, .log_x = log, .log_y = log });
    sl_plot_marks(plot, first, v->value, v->rows.y, n, &(sl_style){ .label = data });
    sl_plot_line(plot, first, (double[]){ y.lo, y.hi }, (double[]){ y.lo, y.hi }, 2,
                 &(sl_style){ .colour = 1, .label = formula, .aside = true });

    int cell = 1;
    if (v->rows.inputs == 2)
        add_residuals(plot, v, (sl_panel){ .column = cell++ }, "formula", v->value);
    for (int k = 0; k < v->rows.inputs; k++, cell++)
        add_residuals(plot, v, (sl_panel){ .row = cell / 2, .column = cell % 2 }, v->name[k],
                      v->rows.x[k]);
}

static void data_alone(sl_plot *plot, const sl_report__picture *v, const char *data) {
    const int64_t n = v->rows.rows;
    for (int k = 0; k < v->rows.inputs; k++) {
        const int number = sl_plot_panel(plot, &(sl_panel){ .x_label = v->name[k],
                                                            .y_label = k ? NULL : v->target,
                                                            .log_x = is_wide(v->rows.x[k], n),
                                                            .log_y = is_wide(v->rows.y, n),
                                                            .column = k });
        sl_plot_marks(plot, number, v->rows.x[k], v->rows.y, n, &(sl_style){ .label = data });
    }
}

/* ---------------------------------------------------------------- the figure ---------------- */

void sl_report__r2(sl_str *s, const char *name, double r2) {
    const bool close = r2 > 0.9999 && r2 < 1; // nines would have to be counted
    sl_str_add(s, close ? "1 − R² = " : name);
    sl_plot_number(s, close ? 1 - r2 : r2, close ? 2 : 4);
}

/* "data, 1,234 rows", and the formula in the legend, whole if it is not shown elsewhere. */
static sl_status make_labels(sl_str *data, sl_str *formula, const sl_report__picture *v) {
    char digits[32];
    sl_str_addf(data, "data, %s row%s", sl_group_digits(digits, v->r->data->rows),
                v->r->data->rows == 1 ? "" : "s");
    if (v->best && v->html) {
        sl_str_add(formula, "formula");
    } else if (v->best) {
        sl_str_addf(formula, "%s = ", v->target);
        SL_TRY(sl_discover_candidate_print(formula, &v->rounded, SL_FORMAT_INFIX, &v->r->names));
        sl_str_add(formula, ", ");
        sl_report__r2(formula, "R² = ", v->best->r2);
    }
    SL_TRY(sl_str_status(data));
    return sl_str_status(formula);
}

sl_status sl_report__discovery_figure(sl_str *s, const sl_report__picture *v) {
    sl_status st;
    sl_plot *plot = NULL;
    sl_str data = { 0 }, formula = { 0 };
    SL_GO(make_labels(&data, &formula, v));
    const int height = !v->best ? 360 : v->rows.inputs == 1 ? 500 : 640;
    SL_GO(sl_plot_new(&plot, WIDTH, height));
    if (!v->html && v->title) sl_plot_title(plot, v->title);
    if (!v->best)
        data_alone(plot, v, sl_str_text(&data));
    else if (v->rows.inputs == 1)
        SL_GO(one_input(plot, v, sl_str_text(&data), sl_str_text(&formula)));
    else
        more_inputs(plot, v, sl_str_text(&data), sl_str_text(&formula));
    st = sl_plot_svg(s, plot);
done:
    sl_plot_free(plot);
    sl_str_clear(&data);
    sl_str_clear(&formula);
    return st;
}

sl_status sl_report_discovery_picture(sl_str *s, const sl_report_discovery *r, bool html) {
    SL_ASSERT(r->data->inputs >= 1 && r->data->inputs <= SL_DATA_MAX_INPUTS);
    const size_t mark = s->len;
    sl_status st;
    sl_arena arena = { 0 };
    sl_report__picture v = { .r = r, .html = html, .arena = &arena };
    v.best = r->discovery->ranked > 0 ? &r->discovery->candidate[0] : NULL;
    name_columns(&v);
    SL_GO(pick_rows(&v));
    if (v.best) {
        SL_GO(values(&v));
        SL_GO(sl_discover_rounding_make(&v.rounding, &arena, r->data, r->discovery));
        SL_GO(sl_discover_candidate_round(&v.rounded, &arena, v.best, &v.rounding));
    }
    st = html ? sl_report__discovery_page(s, &v) : sl_report__discovery_figure(s, &v);
done:
    if (st != SL_OK) sl_str_truncate(s, mark);
    sl_arena_clear(&arena);
    return st;
}

/* fig_sweep - loss against learning rate, a panel for each batch size; and the best settings of
 * each size with their laws along N. */
#include <math.h>

#include "report/report_impl.h"

enum { MAX_PANELS = 12 };

/* ---------------------------------------------------------------- panels -------------------- */

/* Distinct batch sizes of the sweep, ascending; at most MAX_PANELS. Returns how many. */
static int batches_of(double out[MAX_PANELS], const sl_report__view *v) {
    int n = 0;
    for (int i = 0; i < v->l->n_curve; i++) {
        const double b = v->l->curve[i].batch;
        int at = 0;
        while (at < n && out[at] < b) at++;
        if (!isfinite(b) || (at < n && out[at] == b) || n == MAX_PANELS) continue;
        for (int k = n++; k > at; k--) out[k] = out[k - 1];
        out[at] = b;
    }
    return n;
}

/* A sweep is something to see where a curve has two rates or more. */
static bool is_sweep(const sl_report__view *v) {
    for (int i = 0; i < v->l->n_curve; i++)
        if (v->l->curve[i].n > 1) return true;
    return false;
}

static void add_curve(sl_plot *p, const sl_report__view *v, const sl_laws_curve *c, int panel) {
    sl_style style = sl_report__size_style(v, c->size);
    sl_style line = style;
    line.size = 1.5;
    line.label = NULL;
    if (c->n_fine) sl_plot_line(p, panel, c->fine_rate, c->fine_loss, c->n_fine, &line);
    style.size = 3.5;
    sl_plot_marks(p, panel, c->rate, c->loss, c->n, &style);
    if (c->n < 2) return;
    sl_plot_marks(p, panel, &c->best_rate, &c->best_loss, 1,
                  &(sl_style){ .shade = style.shade,
                               .colour = style.colour,
                               .mark = SL_MARK_STAR,
                               .size = c->on_edge ? 5 : 6.5,
                               .faint = c->on_edge });
}

/* The legend names sizes in the order they are first drawn, and the first panel may lack some:
 * marks of no points put them into their own order. */
static void name_sizes(sl_plot *p, const sl_report__view *v, int panel) {
    for (int size = 0; size < v->l->n_size; size++)
        for (int k = 0; k < v->l->n_curve; k++) {
            if (v->l->curve[k].size != size) continue;
            sl_style style = sl_report__size_style(v, size);
            style.size = 3.5;
            sl_plot_marks(p, panel, NULL, NULL, 0, &style);
            break;
        }
}

static void widen(sl_range *r, double value) {
    if (!(isfinite(value) && value > 0)) return;
    r->lo = r->lo > 0 ? SL_MIN(r->lo, value) : value;
    r->hi = SL_MAX(r->hi, value);
}

/* The same axes for all panels, a little wider than what is drawn. */
static void axes_of(sl_range *x, sl_range *y, const sl_report__view *v) {
    *x = *y = (sl_range){ 0, 0 };
    for (int i = 0; i < v->l->n_curve; i++) {
        const sl_laws_curve *c = &v->l->curve[i];
        for (int k = 0; k < c->n; k++) {
            widen(x, c->rate[k]);
            widen(y, c->loss[k]);
        }
    }
    sl_range *const both[] = { x, y };
    for (int i = 0; i < 2; i++) {
        const double room = both[i]->lo > 0 ? pow(both[i]->hi / both[i]->lo, 0.06) : 1;
        if (!(room > 1 && isfinite(room))) {
            *both[i] = (sl_range){ 0, 0 };
            continue;
        }
        both[i]->lo /= room;
        both[i]->hi *= room;
        if (!(both[i]->lo > 0 && isfinite(both[i]->hi))) *both[i] = (sl_range){ 0, 0 };
    }
}

static sl_status draw_sweep(sl_plot **out, const sl_report__view *v, bool narrow) {
    double batch[MAX_PANELS];
    const int n = batches_of(batch, v), columns = narrow || n < 2 ? 1 : n == 2 || n == 4 ? 2 : 3;
    const int rows = (n + columns - 1) / columns;
    sl_range x, y;
    axes_of(&x, &y, v);
    SL_TRY(sl_plot_new(out, narrow ? SL_REPORT__WIDTH_NARROW : SL_REPORT__WIDTH_PANELS,
                       70 + SL_MAX(rows, 1) * (narrow   ? 230
                                               : n == 1 ? 380
                                                        : 250)));
    for (int i = 0; i < n; i++) {
        char title[48];
        sl_str number = { 0 };
        sl_plot_number(&number, batch[i], 6);
        sl_snprintf(title, sizeof title, "batch size %s", sl_str_text(&number));
        const bool failed = number.failed;
        sl_str_clear(&number);
        if (failed) return sl_fail(SL_ENOMEM, "no memory for the title of a panel");
        const bool last = i + columns >= n;
        const int panel = sl_plot_panel(*out, &(sl_panel){ .title = title,
                                                           .x_label = last ? "learning rate" : NULL,
                                                           .y_label = i % columns ? NULL : "loss",
                                                           .log_x = true,
                                                           .log_y = true,
                                                           .x = x,
                                                           .y = y,
                                                           .row = i / columns,
                                                           .column = i % columns });
        if (i == 0) name_sizes(*out, v, panel);
        for (int k = 0; k < v->l->n_curve; k++)
            if (v->l->curve[k].batch == batch[i]) add_curve(*out, v, &v->l->curve[k], panel);
    }
    return SL_OK;
}

static void caption_sweep(sl_str *s, const sl_report__view *v) {
    int edges = 0;
    for (int i = 0; i < v->l->n_curve; i++) edges += v->l->curve[i].on_edge && v->l->curve[i].n > 1;
    sl_str_add(s,
               "Validation loss against learning rate, one panel for each batch size, coloured by "
               "model size. Marks are runs (the mean over seeds), lines are Akima's "
               "interpolation of the logarithms, and stars its minima.");
    if (!edges) return;
    sl_str_add(s,
               " A small pale star is a minimum beside the edge of the rates that were tried: the "
               "true one may lie beyond.");
}

static void data_sweep(sl_str *s, const sl_report__view *v) {
    SL_REPORT__TABLE(s, "", "size", "#batch size", "#learning rate", "#loss", "minimum", "edge");
    for (int i = 0; i < v->l->n_curve; i++) {
        const sl_laws_curve *c = &v->l->curve[i];
        for (int k = 0; k <= c->n; k++) {
            const bool star = k == c->n;
            if (star && c->n < 2) continue;
            SL_REPORT__ROW(s, NULL, SL_CELL_TEXT(c->size >= 0 ? v->l->size[c->size].name : ""),
                           SL_CELL_NUMBER(c->batch, 6),
                           SL_CELL_NUMBER(star ? c->best_rate : c->rate[k], 4),
                           SL_CELL_NUMBER(star ? c->best_loss : c->loss[k], 5),
                           SL_CELL_TEXT(star ? "interpolated" : ""),
                           SL_CELL_TEXT(star && c->on_edge ? "yes" : ""));
        }
    }
    sl_report__table_close(s);
}

SL_REPORT__FIGURE(sweep, "sweep", "Loss against learning rate for each batch size and model size",
                  true);

/* ---------------------------------------------------------------- optima -------------------- */

static bool is_optima(const sl_report__view *v) {
    for (int i = 0; i < v->l->n_optimum; i++)
        if (isfinite(v->l->optimum[i].batch.value) || isfinite(v->l->optimum[i].rate.value))
            return true;
    return false;
}

static sl_status add_optima(sl_plot *p, const sl_report__view *v, int panel, bool rate) {
    const int n = v->l->n_optimum;
    sl_report__series a;
    SL_TRY(sl_report__series_new(&a, v, n));
    SL_TRY(sl_report__add_law(p, v, panel, rate ? &v->l->rate : &v->l->batch, "power law"));
    // those at an edge are hollow
    for (int edge = 0; edge < 2; edge++) {
        for (int i = 0; i < n; i++) {
            const sl_laws_optimum *o = &v->l->optimum[i];
            if ((rate ? o->rate_on_edge : o->batch_on_edge) != (edge == 1)) continue;
            sl_report__put(&a, o->params, rate ? o->rate : o->batch, 1, NULL);
        }
        sl_report__add_points(p, panel, &a,
                              (sl_style){ .mark = edge ? SL_MARK_RING : SL_MARK_STAR,
                                          .size = 6,
                                          .label = edge ? "at the edge of the sweep" : "optimum" });
    }
    return SL_OK;
}

static sl_status draw_optima(sl_plot **out, const sl_report__view *v, bool narrow) {
    SL_TRY(sl_report__plot_new(out, narrow, SL_REPORT__WIDTH_PANELS, 360, 620));
    for (int rate = 0; rate < 2; rate++) {
        const int panel = sl_plot_panel(
            *out, &(sl_panel){ .title = rate ? "learning rate" : "batch size",
                               .x_label = "parameters N",
                               .y_label = rate ? "optimal learning rate" : "optimal batch size",
                               .log_x = true,
                               .log_y = true,
                               .row = narrow ? rate : 0,
                               .column = narrow ? 0 : rate });
        SL_TRY(add_optima(*out, v, panel, rate));
    }
    return SL_OK;
}

static void add_exponent(sl_str *s, const char *what, const sl_law *law) {
    if (!law->known) return;
    sl_estimate e = law->exponent;
    if (law->falls) e = (sl_estimate){ -e.value, -e.high, -e.low };
    sl_str_addf(s, " The %s goes as N to the power ", what);
    sl_report__estimate(s, e, 2);
    sl_str_add(s, ", fitted to ");
    sl_report__count(s, law->n, "size", "sizes");
    sl_str_add(s, ", R² ");
    sl_plot_number(s, law->r2, 2);
    sl_str_add_char(s, '.');
}

static void caption_optima(sl_str *s, const sl_report__view *v) {
    bool chosen = v->l->n_optimum > 0, edge = false;
    for (int i = 0; i < v->l->n_optimum; i++) {
        chosen = chosen && v->l->optimum[i].chosen;
        edge = edge || v->l->optimum[i].batch_on_edge || v->l->optimum[i].rate_on_edge;
    }
    sl_str_add(s, chosen
                      ? "Batch size and learning rate of each model size, as the table has them: "
                        "one of each, so they are taken as the best."
                      : "Best batch size and learning rate of each model size, by interpolation "
                        "in two steps, against the number of parameters.");
    add_exponent(s, "batch size", &v->l->batch);
    add_exponent(s, "learning rate", &v->l->rate);
    if (edge)
        sl_str_add(s,
                   " Rings lie at the edge of what was tried and are bounds rather than optima.");
}

static void data_optima(sl_str *s, const sl_report__view *v) {
    SL_REPORT__TABLE(s, "", "size", "#parameters", "#batch size", "#learning rate", "#loss",
                     "edge");
    for (int i = 0; i < v->l->n_optimum; i++) {
        const sl_laws_optimum *o = &v->l->optimum[i];
        SL_REPORT__ROW(s, NULL, SL_CELL_TEXT(o->size >= 0 ? v->l->size[o->size].name : ""),
                       SL_CELL_NUMBER(o->params, 6), SL_CELL_ESTIMATE(o->batch, 3),
                       SL_CELL_ESTIMATE(o->rate, 3), SL_CELL_NUMBER(o->loss, 5),
                       SL_CELL_TEXT(o->batch_on_edge  ? o->rate_on_edge ? "both" : "batch size"
                                    : o->rate_on_edge ? "learning rate"
                                                      : ""));
    }
    sl_report__table_close(s);
}

SL_REPORT__FIGURE(optima, "optima",
                  "Optimal batch size and learning rate against the number of parameters", true);

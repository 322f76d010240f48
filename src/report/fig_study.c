/* fig_study - figures of studies only: training curves, results on other problems, the data of
 * single problems. */
#include <math.h>

#include "num/num.h"
#include "report/report_impl.h"

/* ---------------------------------------------------------------- training curves ----------- */

static bool is_curves(const sl_report__view *v) {
    for (int i = 0; i < v->in->n_curves; i++)
        if (v->in->curves[i].n > 1) return true;
    return false;
}

static sl_status draw_curves(sl_plot **out, const sl_report__view *v, bool narrow) {
    SL_TRY(sl_report__plot_new(out, narrow, SL_REPORT__WIDTH, 450, 400));
    bool flops = true;
    for (int i = 0; i < v->in->n_curves; i++) flops = flops && v->in->curves[i].flops;
    const int panel =
        sl_plot_panel(*out, &(sl_panel){ .x_label = flops ? "training compute (FLOPs)" : "step",
                                         .y_label = "loss",
                                         .log_x = true,
                                         .log_y = true });
    // by size, so that the legend is in order
    for (int size = -1; size < v->l->n_size; size++)
        for (int i = 0; i < v->in->n_curves; i++) {
            const sl_report_curve *c = &v->in->curves[i];
            if (sl_report__size(v, c->params) != size) continue;
            sl_style style = sl_report__size_style(v, size);
            style.size = 1.3;
            sl_plot_line(*out, panel, flops ? c->flops : c->step, c->loss, c->n, &style);
        }
    return SL_OK;
}

static void caption_curves(sl_str *s, const sl_report__view *v) {
    sl_str_add(s, "Loss along the training of ");
    sl_report__count(s, v->in->n_curves, "run", "runs");
    sl_str_add(s,
               ", coloured by model size. A point within a schedule is no finished run and takes "
               "no part in any law.");
}

static void data_curves(sl_str *s, const sl_report__view *v) {
    SL_REPORT__TABLE(s, "", "run", "#parameters", "#points", "#steps", "#FLOPs", "#first loss",
                     "#last loss");
    for (int i = 0; i < v->in->n_curves; i++) {
        const sl_report_curve *c = &v->in->curves[i];
        const int64_t last = c->n - 1;
        SL_REPORT__ROW(s, NULL, SL_CELL_TEXT(c->run), SL_CELL_NUMBER(c->params, 6),
                       SL_CELL_NUMBER((double)c->n, 6),
                       SL_CELL_NUMBER(c->n && c->step ? c->step[last] : NAN, 6),
                       SL_CELL_NUMBER(c->n && c->flops ? c->flops[last] : NAN, 3),
                       SL_CELL_NUMBER(c->n ? c->loss[0] : NAN, 4),
                       SL_CELL_NUMBER(c->n ? c->loss[last] : NAN, 4));
    }
    sl_report__table_close(s);
}

SL_REPORT__FIGURE(curves, "curves", "Loss during training", false);

/* ---------------------------------------------------------------- other problems ------------ */

static sl_estimate other_of(const sl_report_other *o, int which) {
    return which == 0 ? o->test : which == 1 ? o->withheld : o->formulas;
}

static bool is_others(const sl_report__view *v) {
    for (int i = 0; i < v->in->n_others; i++)
        if (isfinite(v->in->others[i].withheld.value) || isfinite(v->in->others[i].formulas.value))
            return true;
    return false;
}

static sl_status draw_others(sl_plot **out, const sl_report__view *v, bool narrow) {
    static const char *const label[] = { "test problems", "withheld expressions",
                                         "public formulas" };
    static const sl_mark mark[] = { SL_MARK_DOT, SL_MARK_SQUARE, SL_MARK_TRIANGLE };
    static const int colour[] = { 0, 2, 1 };
    SL_TRY(sl_report__plot_new(out, narrow, SL_REPORT__WIDTH, 430, 400));
    const int n = v->in->n_others;
    sl_report__series a;
    SL_TRY(sl_report__series_new(&a, v, n));
    const int panel = sl_plot_panel(*out, &(sl_panel){ .x_label = "training compute (FLOPs)",
                                                       .y_label = "solved (%)",
                                                       .log_x = true });
    for (int which = 0; which < SL_LEN(label); which++) {
        for (int i = 0; i < n; i++) {
            const sl_estimate e = other_of(&v->in->others[i], which);
            if (isfinite(e.value)) sl_report__put(&a, v->in->others[i].flops, e, 100, NULL);
        }
        sl_report__add_points(
            *out, panel, &a,
            (sl_style){
                .colour = colour[which], .mark = mark[which], .size = 4.5, .label = label[which] });
    }
    return SL_OK;
}

static void caption_others(sl_str *s, const sl_report__view *v) {
    (void)v;
    sl_str_add(s, "Share solved on the test problems, on expressions that training never drew "
                  "(withheld), and on formulas from public collections, against training compute. "
                  "Bars are 95 % intervals over problems.");
}

static void data_others(sl_str *s, const sl_report__view *v) {
    SL_REPORT__TABLE(s, "", "run", "#parameters", "#FLOPs", "#test problems",
                     "#withheld expressions", "#public formulas");
    for (int i = 0; i < v->in->n_others; i++) {
        const sl_report_other *o = &v->in->others[i];
        SL_REPORT__ROW(s, NULL, SL_CELL_TEXT(o->run), SL_CELL_NUMBER(o->params, 6),
                       SL_CELL_NUMBER(o->flops, 3), SL_CELL_PERCENT(o->test),
                       SL_CELL_PERCENT(o->withheld), SL_CELL_PERCENT(o->formulas));
    }
    sl_report__table_close(s);
}

SL_REPORT__FIGURE(others, "others", "Solved rate on withheld expressions and public formulas",
                  false);

/* ---------------------------------------------------------------- problems ------------------ */

/* The curve of what was found, in order of x. */
static sl_status add_found(sl_plot *plot, int panel, const sl_report_problem *p) {
    sl_keyed *w = sl_malloc((size_t)p->data.rows + 1, sizeof *w);
    double *x = sl_malloc(2 * (size_t)p->data.rows + 1, sizeof *x),
           *y = x ? x + p->data.rows : NULL;
    int64_t k = 0;
    for (int64_t i = 0; w && x && i < p->data.rows; i++)
        if (isfinite(p->data.x[0][i])) w[k++] = (sl_keyed){ p->data.x[0][i], i };
    if (w && x) {
        sl_num_sort_keyed(w, k);
        for (int64_t i = 0; i < k; i++) {
            x[i] = w[i].key;
            y[i] = p->predicted[w[i].at];
        }
        sl_plot_line(plot, panel, x, y, k,
                     &(sl_style){ .colour = 1, .label = "found", .size = 1.5, .aside = true });
    }
    const bool good = w && x;
    sl_free(w);
    sl_free(x);
    return good ? SL_OK : sl_fail_memory((size_t)p->data.rows, sizeof *w, "the data of a problem");
}

sl_status sl_report__draw_problem(sl_plot **out, const sl_report_problem *p) {
    SL_TRY(sl_plot_new(out, 300, 210));
    const bool one = p->data.inputs == 1 || !p->predicted;
    const int panel =
        sl_plot_panel(*out, &(sl_panel){ .x_label = one ? "x1" : "found", .y_label = "y" });
    const double *x = one ? p->data.inputs > 0 ? p->data.x[0] : NULL : p->predicted;
    if (!x || !p->data.rows) return SL_OK;
    if (one && p->predicted) SL_TRY(add_found(*out, panel, p));
    if (!one) { // on the line it is right
        double ends[] = { INFINITY, -INFINITY };
        for (int64_t i = 0; i < p->data.rows; i++)
            if (isfinite(p->data.y[i])) {
                ends[0] = SL_MIN(ends[0], p->data.y[i]);
                ends[1] = SL_MAX(ends[1], p->data.y[i]);
            }
        sl_plot_line(*out, panel, ends, ends, 2, &(sl_style){ .colour = 1, .size = 1.2 });
    }
    sl_plot_marks(*out, panel, x, p->data.y, p->data.rows,
                  &(sl_style){ .size = 3, .aside = false });
    return SL_OK;
}

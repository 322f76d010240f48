/* fig_predict - the leave-out test: predicted against measured values. */
#include <math.h>

#include "report/report_impl.h"

static bool is_predicted(const sl_laws_prediction *q, sl_laws_metric m) {
    return q->metric == m && isfinite(q->measured) && isfinite(q->predicted.value);
}

static int count(const sl_report__view *v, sl_laws_metric m) {
    int n = 0;
    for (int i = 0; i < v->l->n_prediction; i++) n += is_predicted(&v->l->prediction[i], m);
    return n;
}

static bool has_form(const sl_report__view *v, sl_laws_metric m, sl_laws_form form) {
    for (int i = 0; i < v->l->n_prediction; i++)
        if (is_predicted(&v->l->prediction[i], m) && v->l->prediction[i].form == form) return true;
    return false;
}

static bool is_predict(const sl_report__view *v) {
    for (int m = 0; m < SL_LAWS_METRIC_COUNT; m++)
        if (count(v, (sl_laws_metric)m)) return true;
    return false;
}

/* Colours by form, shapes by what was left out. */
static sl_status add_predictions(sl_plot *p, const sl_report__view *v, sl_laws_metric m,
                                 int panel) {
    static const sl_mark marks[] = { SL_MARK_DOT, SL_MARK_SQUARE, SL_MARK_TRIANGLE,
                                     SL_MARK_DIAMOND };
    static const int colour[] = { 1, 0, 2, 4 };
    const int n = v->l->n_prediction;
    const double scale = m == SL_LAWS_LOSS ? 1 : 100;
    sl_report__series a;
    SL_TRY(sl_report__series_new(&a, v, n));
    double ends[] = { INFINITY, -INFINITY };
    for (int i = 0; i < n; i++) {
        const sl_laws_prediction *q = &v->l->prediction[i];
        if (!is_predicted(q, m)) continue;
        ends[0] = SL_MIN(ends[0], scale * SL_MIN(q->measured, q->predicted.value));
        ends[1] = SL_MAX(ends[1], scale * SL_MAX(q->measured, q->predicted.value));
    }
    sl_plot_line(p, panel, ends, ends, 2,
                 &(sl_style){ .colour = 6, .size = 1, .dashed = true, .label = "as measured" });
    // the caption explains the shapes: the legend has one shape for each form
    for (int form = 0; form < SL_LAWS_PREDICTOR_COUNT; form++)
        if (has_form(v, m, (sl_laws_form)form))
            sl_plot_marks(p, panel, NULL, NULL, 0,
                          &(sl_style){ .colour = colour[form],
                                       .mark = SL_MARK_DOT,
                                       .size = 4,
                                       .label = sl_laws_form_name((sl_laws_form)form) });
    for (int form = 0; form < SL_LAWS_PREDICTOR_COUNT; form++)
        for (int split = 0; split < v->l->n_split; split++) {
            a.n = 0;
            for (int i = 0; i < n; i++) {
                const sl_laws_prediction *q = &v->l->prediction[i];
                if (!is_predicted(q, m) || (int)q->form != form || q->split != split) continue;
                sl_report__put(&a, scale * q->measured, q->predicted, scale, NULL);
            }
            if (!a.n) continue;
            sl_plot_bars(
                p, panel, a.x, a.low, a.high, a.n,
                &(sl_style){ .colour = colour[form], .size = 1, .faint = true, .aside = true });
            sl_plot_marks(p, panel, a.x, a.y, a.n,
                          &(sl_style){ .colour = colour[form],
                                       .mark = marks[split % SL_LEN(marks)],
                                       .size = 4 });
        }
    return SL_OK;
}

static sl_status draw_predict(sl_plot **out, const sl_report__view *v, bool narrow) {
    int panels = 0, at = 0;
    for (int m = 0; m < SL_LAWS_METRIC_COUNT; m++) panels += count(v, (sl_laws_metric)m) > 0;
    SL_TRY(sl_plot_new(out,
                       narrow       ? SL_REPORT__WIDTH_NARROW
                       : panels > 1 ? SL_REPORT__WIDTH_PANELS
                                    : SL_REPORT__WIDTH,
                       narrow       ? 60 + 290 * SL_MAX(panels, 1)
                       : panels > 2 ? 350
                                    : 420));
    for (int m = 0; m < SL_LAWS_METRIC_COUNT; m++) {
        if (!count(v, (sl_laws_metric)m)) continue;
        const int panel =
            sl_plot_panel(*out, &(sl_panel){ .title = sl_report__metric_axis[m],
                                             .x_label = "measured",
                                             .y_label = narrow || !at ? "predicted" : NULL,
                                             .log_x = m == SL_LAWS_LOSS,
                                             .log_y = m == SL_LAWS_LOSS,
                                             .row = narrow ? at : 0,
                                             .column = narrow ? 0 : at });
        at++;
        SL_TRY(add_predictions(*out, v, (sl_laws_metric)m, panel));
    }
    return SL_OK;
}

static void caption_predict(sl_str *s, const sl_report__view *v) {
    static const char *const shape[] = { "circles", "squares", "triangles", "diamonds" };
    sl_str_add(s,
               "Predicted against measured for runs that were left out of the fit. On the dashed "
               "line a prediction is exact; bars are its 95 % intervals. Left out were: ");
    for (int i = 0; i < v->l->n_split; i++) {
        if (i) sl_str_add(s, "; ");
        sl_plot_escape(s, v->l->split[i].name);
        if (v->l->n_split <= SL_LEN(shape)) sl_str_addf(s, " (%s)", shape[i]);
    }
    sl_str_add_char(s, '.');
}

static void data_predict(sl_str *s, const sl_report__view *v) {
    SL_REPORT__TABLE(s, "", "left out", "of", "form", "#FLOPs", "#beyond", "#measured",
                     "#predicted", "#error (%)");
    for (int i = 0; i < v->l->n_prediction; i++) {
        const sl_laws_prediction *q = &v->l->prediction[i];
        SL_REPORT__ROW(s, NULL, SL_CELL_TEXT(v->l->split[q->split].name),
                       SL_CELL_TEXT(sl_laws_metric_name(q->metric)),
                       SL_CELL_TEXT(sl_laws_form_name(q->form)),
                       SL_CELL_NUMBER(v->l->point[q->point].flops, 3), SL_CELL_NUMBER(q->factor, 3),
                       SL_CELL_NUMBER(q->measured, 4), SL_CELL_ESTIMATE(q->predicted, 4),
                       SL_CELL_NUMBER(100 * q->error, 2));
    }
    sl_report__table_close(s);
}

SL_REPORT__FIGURE(predict, "leave-out", "Predicted against measured for runs that were left out",
                  true);

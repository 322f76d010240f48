/* fig_allocation - the best size and number of tokens against compute: along the frontier, and from
 * groups of runs of equal compute. */
#include <math.h>

#include "report/report_impl.h"

enum { PARAMS = 0, TOKENS, RATIO, PANELS };

static const sl_law *law_of(const sl_report__view *v, int what) {
    return what == PARAMS ? &v->l->params : what == TOKENS ? &v->l->tokens : &v->l->ratio;
}

static double value_of(const sl_laws_point *q, int what) {
    return what == PARAMS ? q->params : what == TOKENS ? q->tokens : q->tokens / q->params;
}

static bool is_allocation(const sl_report__view *v) {
    for (int i = 0; i < v->l->n_frontier; i++) {
        const sl_laws_point *q = &v->l->point[v->l->frontier[i]];
        if (q->params > 0 && q->tokens > 0 && q->flops > 0) return true;
    }
    return false;
}

static sl_status add_frontier(sl_plot *p, const sl_report__view *v, int panel, int what) {
    const int n = v->l->n_frontier;
    sl_report__series a;
    SL_TRY(sl_report__series_new(&a, v, n));
    for (int size = -1; size < v->l->n_size; size++) {
        a.n = 0;
        for (int i = 0; i < n; i++) {
            const sl_laws_point *q = &v->l->point[v->l->frontier[i]];
            if (q->size != size) continue;
            const sl_estimate e = { .value = value_of(q, what) };
            sl_report__put(&a, q->flops, e, 1, v->tip[q->row[0]]);
        }
        sl_style style = sl_report__size_style(v, size);
        style.size = 4.5;
        style.tips = a.tip;
        if (a.n) sl_plot_marks(p, panel, a.x, a.y, a.n, &style);
    }
    return SL_OK;
}

static sl_status draw_allocation(sl_plot **out, const sl_report__view *v, bool narrow) {
    static const char *const title[] = { "parameters N*", "tokens D*", "tokens per parameter" };
    SL_TRY(sl_report__plot_new(out, narrow, SL_REPORT__WIDTH_PANELS, 350, 860));
    for (int what = 0; what < PANELS; what++) {
        const int panel = sl_plot_panel(*out, &(sl_panel){ .title = title[what],
                                                           .x_label = "training compute (FLOPs)",
                                                           .log_x = true,
                                                           .log_y = true,
                                                           .row = narrow ? what : 0,
                                                           .column = narrow ? 0 : what });
        SL_TRY(sl_report__add_law(*out, v, panel, law_of(v, what), "power law"));
        SL_TRY(add_frontier(*out, v, panel, what));
    }
    return SL_OK;
}

static void caption_allocation(sl_str *s, const sl_report__view *v) {
    sl_str_add(s, "Number of parameters, number of training tokens and their ratio of the runs on "
                  "the frontier of loss, against compute.");
    if (!v->l->params.known || !v->l->tokens.known) return;
    sl_str_add(s, " N* grows as compute to the power ");
    sl_report__estimate(s, v->l->params.exponent, 3);
    sl_str_add(s, ", D* to the power ");
    sl_report__estimate(s, v->l->tokens.exponent, 3);
    sl_str_add(s, ". Bands are 95 % bootstrap intervals.");
}

static void data_allocation(sl_str *s, const sl_report__view *v) {
    SL_REPORT__TABLE(s, "", "size", "#FLOPs", "#parameters", "#tokens", "#tokens per parameter",
                     "#loss", "#N* by law", "#D* by law");
    for (int i = 0; i < v->l->n_frontier; i++) {
        const sl_laws_point *q = &v->l->point[v->l->frontier[i]];
        SL_REPORT__ROW(s, NULL, SL_CELL_TEXT(q->size >= 0 ? v->l->size[q->size].name : ""),
                       SL_CELL_NUMBER(q->flops, 4), SL_CELL_NUMBER(q->params, 6),
                       SL_CELL_NUMBER(q->tokens, 4), SL_CELL_NUMBER(q->tokens / q->params, 4),
                       SL_CELL_NUMBER(q->loss, 5),
                       SL_CELL_NUMBER(sl_laws_at(&v->l->params, q->flops).value, 3),
                       SL_CELL_NUMBER(sl_laws_at(&v->l->tokens, q->flops).value, 3));
    }
    sl_report__table_close(s);
}

SL_REPORT__FIGURE(allocation, "allocation",
                  "Optimal parameters, tokens and their ratio against training compute", true);

/* ---------------------------------------------------------------- iso-FLOP ------------------ */

static bool is_isoflop(const sl_report__view *v) { return v->l->n_isoflop > 0; }

static sl_status draw_isoflop(sl_plot **out, const sl_report__view *v, bool narrow) {
    SL_TRY(sl_report__plot_new(out, narrow, SL_REPORT__WIDTH, 430, 400));
    sl_plot *p = *out;
    const int n = v->l->n_isoflop;
    const int panel = sl_plot_panel(p, &(sl_panel){ .x_label = "parameters N",
                                                    .y_label = "validation loss",
                                                    .log_x = true,
                                                    .log_y = true });
    for (int i = 0; i < n; i++) {
        const sl_laws_isoflop *iso = &v->l->isoflop[i];
        sl_report__series a;
        SL_TRY(sl_report__series_new(&a, v, iso->n_size));
        double *x = a.x, *y = a.y;
        sl_str label = { 0 };
        for (int k = 0; k < iso->n_size; k++) {
            x[k] = v->l->point[iso->point[k]].params;
            y[k] = v->l->point[iso->point[k]].loss;
        }
        sl_plot_number(&label, iso->flops, 2);
        sl_str_add(&label, " FLOPs");
        const double shade = n > 1 ? 0.001 + 0.999 * i / (n - 1) : 0.5;
        const sl_style style = { .shade = shade, .label = sl_str_text(&label), .size = 3.5 };
        const sl_style line = { .shade = shade, .size = 1, .faint = true };
        sl_plot_line(p, panel, x, y, iso->n_size, &line);
        sl_plot_marks(p, panel, x, y, iso->n_size, &style);
        sl_plot_marks(p, panel, &iso->params.value, &iso->loss.value, 1,
                      &(sl_style){ .shade = shade,
                                   .mark = SL_MARK_STAR,
                                   .size = 6.5,
                                   .faint = iso->on_edge,
                                   .aside = true });
        const bool failed = label.failed;
        sl_str_clear(&label);
        if (failed) return sl_fail(SL_ENOMEM, "no memory for the legend of a figure");
    }
    return SL_OK;
}

static void caption_isoflop(sl_str *s, const sl_report__view *v) {
    sl_str_add(s, "Groups of runs of equal compute: validation loss against the number of "
                  "parameters. Stars are the vertices of parabolas in the logarithm of N; a pale "
                  "one lies outside the sizes that were trained. Parabolas are biased where the "
                  "loss is not symmetric about its minimum.");
    if (!v->l->isoflop_params.known) return;
    sl_str_add(s, " Through them N* grows as compute to the power ");
    sl_report__estimate(s, v->l->isoflop_params.exponent, 3);
    sl_str_add_char(s, '.');
}

static void data_isoflop(sl_str *s, const sl_report__view *v) {
    SL_REPORT__TABLE(s, "", "#FLOPs", "#runs", "#sizes", "#N* by parabola", "#N* by Akima",
                     "#loss at N*", "outside");
    for (int i = 0; i < v->l->n_isoflop; i++) {
        const sl_laws_isoflop *iso = &v->l->isoflop[i];
        SL_REPORT__ROW(s, NULL, SL_CELL_NUMBER(iso->flops, 3), SL_CELL_NUMBER(iso->n_point, 4),
                       SL_CELL_NUMBER(iso->n_size, 4), SL_CELL_ESTIMATE(iso->params, 3),
                       SL_CELL_NUMBER(iso->akima_params, 3), SL_CELL_ESTIMATE(iso->loss, 4),
                       SL_CELL_TEXT(iso->on_edge ? "yes" : ""));
    }
    sl_report__table_close(s);
}

SL_REPORT__FIGURE(isoflop, "isoflop", "Loss against the number of parameters at equal compute",
                  false);

/* fig_compute - solved rate, R2 rate and loss against training compute.
 *
 *     marks    configurations, coloured by size; small ones behind them are their seeds
 *     bars     95 percent of a share of so many problems
 *     rings    the frontier of loss, to which the law is fitted
 *     line     the power law; dashed where no run reaches, up to ten times the largest compute
 *     band     its bootstrap interval */
#include <math.h>

#include "num/num.h"
#include "report/report_impl.h"

enum { GRID = 97 };

static sl_law const *law_of(const sl_report__view *v, sl_laws_metric m) {
    return &v->l->law[m][SL_LAWS_POWER];
}

static bool has_metric(const sl_report__view *v, sl_laws_metric m) {
    for (int i = 0; i < v->l->n_point; i++)
        if (isfinite(sl_report__metric_at(&v->l->point[i], m)) && v->l->point[i].flops > 0)
            return true;
    return false;
}

static bool has_efforts(const sl_report__view *v) {
    for (int i = 0; i < v->in->n_baselines; i++)
        if (v->in->baselines[i].n_efforts > 0) return true;
    return false;
}

static double smallest_compute(const sl_report__view *v) {
    double least = INFINITY;
    for (int i = 0; i < v->l->n_point; i++)
        if (v->l->point[i].flops > 0) least = SL_MIN(least, v->l->point[i].flops);
    return least;
}

/* ---------------------------------------------------------------- layers -------------------- */

static sl_status add_law(sl_plot *p, const sl_report__view *v, sl_laws_metric m, int panel) {
    const sl_law *law = law_of(v, m);
    const double least = SL_MIN(smallest_compute(v), law->x_min), top = v->l->c_top;
    if (!law->known || !(least > 0 && top > least && isfinite(top))) return SL_OK;
    sl_report__series a;
    SL_TRY(sl_report__series_new(&a, v, GRID));
    // first what the runs cover, then what they do not
    for (int beyond = 0; beyond < 2; beyond++) {
        a.n = 0;
        sl_report__grid(a.x, GRID, beyond ? top : least, beyond ? SL_LAWS_FAR * top : top);
        for (int i = 0; i < GRID; i++)
            sl_report__put(&a, a.x[i], sl_report__law_at(law, m, a.x[i]), 1, NULL);
        sl_plot_band(p, panel, a.x, a.low, a.high, GRID,
                     &(sl_style){ .colour = 1,
                                  .faint = beyond,
                                  .aside = true,
                                  .label = beyond ? NULL : "95 % of the law" });
        sl_plot_line(p, panel, a.x, a.y, GRID,
                     &(sl_style){ .colour = 1,
                                  .dashed = beyond,
                                  .label = beyond ? "extrapolated" : "power law" });
    }
    return SL_OK;
}

static void add_baselines(sl_plot *p, const sl_report__view *v, sl_laws_metric m, int panel) {
    for (int i = 0; i < v->in->n_baselines; i++) {
        const sl_report_baseline *b = &v->in->baselines[i];
        const double share = m == SL_LAWS_SOLVED ? b->solved.value : b->r2.value;
        if (m == SL_LAWS_LOSS || !isfinite(share)) continue;
        sl_plot_rule(p, panel, 100 * share,
                     &(sl_style){ .colour = 2 + 2 * (i % 3), .dashed = true, .label = b->name });
    }
}

/* The search pays for each problem and not before: its curve is by what one problem costs. */
static sl_status add_efforts(sl_plot *p, const sl_report__view *v, sl_laws_metric m, int panel) {
    for (int i = 0; i < v->in->n_baselines && m == SL_LAWS_SOLVED; i++) {
        const sl_report_baseline *b = &v->in->baselines[i];
        sl_report__series a;
        SL_TRY(sl_report__series_new(&a, v, b->n_efforts));
        for (int k = 0; k < b->n_efforts; k++) {
            const sl_report_effort *e = &b->efforts[k];
            if (!(e->flops > 0 && e->solved.value > 0)) continue;
            sl_report__put(&a, e->flops, e->solved, 100, NULL);
        }
        if (a.n == 0) continue;
        const int colour = 2 + 2 * (i % 3);
        sl_plot_bars(p, panel, a.x, a.low, a.high, a.n,
                     &(sl_style){ .colour = colour, .faint = true });
        sl_plot_line(p, panel, a.x, a.y, a.n, &(sl_style){ .colour = colour });
        sl_plot_marks(p, panel, a.x, a.y, a.n,
                      &(sl_style){ .colour = colour,
                                   .mark = SL_MARK_SQUARE,
                                   .size = 4,
                                   .label = "search, by compute for one problem" });
    }
    return SL_OK;
}

static sl_status add_runs(sl_plot *p, const sl_report__view *v, sl_laws_metric m, int panel) {
    const int n = v->l->n_point, rows = v->t->n;
    sl_report__series a;
    SL_TRY(sl_report__series_new(&a, v, n + rows));
    for (int size = -1; size < v->l->n_size; size++) {
        sl_style style = sl_report__size_style(v, size);
        for (int i = 0; i < rows; i++) { // seeds behind their means
            if (v->point[i] < 0 || v->l->point[v->point[i]].size != size) continue;
            if (v->l->point[v->point[i]].n < 2) continue;
            const sl_estimate e = { .value = sl_report__metric_of(&v->t->run[i], m) };
            sl_report__put(&a, v->t->run[i].flops, e, 1, v->tip[i]);
        }
        if (a.n)
            sl_plot_marks(p, panel, a.x, a.y, a.n,
                          &(sl_style){ .shade = style.shade,
                                       .colour = style.colour,
                                       .mark = style.mark,
                                       .size = 2.2,
                                       .faint = true,
                                       .tips = a.tip });
        a.n = 0;
        for (int i = 0; i < n; i++) {
            const sl_laws_point *q = &v->l->point[i];
            if (q->size != size) continue;
            const sl_interval w = sl_report__interval(v, q, m);
            const sl_estimate e = { sl_report__metric_at(q, m), w.lo, w.hi };
            sl_report__put(&a, q->flops, e, 1, v->tip[q->row[0]]);
        }
        style.size = 5;
        sl_report__add_points(p, panel, &a, style);
    }
    return SL_OK;
}

static sl_status add_frontier(sl_plot *p, const sl_report__view *v, sl_laws_metric m, int panel) {
    const int n = v->l->n_frontier;
    sl_report__series a;
    SL_TRY(sl_report__series_new(&a, v, n));
    double *x = a.x, *y = a.y;
    for (int i = 0; i < n; i++) {
        const sl_laws_point *q = &v->l->point[v->l->frontier[i]];
        x[i] = q->flops;
        y[i] = sl_report__metric_at(q, m);
    }
    if (!n) return SL_OK;
    sl_plot_line(p, panel, x, y, n,
                 &(sl_style){ .colour = 6, .size = 1, .faint = true, .label = "frontier" });
    sl_plot_marks(
        p, panel, x, y, n,
        &(sl_style){
            .colour = 6, .mark = SL_MARK_RING, .size = 7.5, .faint = true, .label = "frontier" });
    return SL_OK;
}

/* Shares from 0 up to a little above the law and the runs: a law of what is missing to one passes
 * below 0 where there is little compute. */
static sl_range range_of(const sl_report__view *v, sl_laws_metric m) {
    if (m == SL_LAWS_LOSS) return (sl_range){ 0, 0 };
    double top = sl_report__law_at(law_of(v, m), m, SL_LAWS_FAR * v->l->c_top).value;
    if (!isfinite(top)) top = 1;
    for (int i = 0; i < v->l->n_point; i++) {
        const double share = sl_report__metric_at(&v->l->point[i], m);
        if (isfinite(share)) top = SL_MAX(top, share);
    }
    for (int i = 0; i < v->in->n_baselines; i++) {
        const sl_report_baseline *b = &v->in->baselines[i];
        const double share = 100 * (m == SL_LAWS_SOLVED ? b->solved.value : b->r2.value);
        if (isfinite(share)) top = SL_MAX(top, share);
    }
    top = top > 0 ? SL_MIN(top, 100) : 1;
    return (sl_range){ -0.025 * top, top * 1.06 };
}

/* Loss on a logarithmic axis, where its law is a straight line. */
static sl_status draw(sl_plot **out, const sl_report__view *v, sl_laws_metric m, bool narrow) {
    SL_TRY(sl_report__plot_new(out, narrow, SL_REPORT__WIDTH, 470, 420));
    sl_plot *p = *out;
    const int panel = sl_plot_panel(p, &(sl_panel){ .x_label = "training compute (FLOPs)",
                                                    .y_label = sl_report__metric_axis[m],
                                                    .y = range_of(v, m),
                                                    .log_x = true,
                                                    .log_y = m == SL_LAWS_LOSS });
    SL_TRY(add_law(p, v, m, panel));
    add_baselines(p, v, m, panel);
    SL_TRY(add_efforts(p, v, m, panel));
    SL_TRY(add_runs(p, v, m, panel));
    return add_frontier(p, v, m, panel);
}

/* ---------------------------------------------------------------- words --------------------- */

static void add_law_words(sl_str *s, const sl_report__view *v, sl_laws_metric m) {
    static const char *const y[] = {
        [SL_LAWS_LOSS] = "loss", [SL_LAWS_SOLVED] = "1 − solved", [SL_LAWS_R2] = "1 − (R² > 0.99)"
    };
    const sl_law *law = law_of(v, m);
    if (!law->known) {
        sl_str_add(s, " There are too few points for a law.");
        return;
    }
    const sl_estimate e = law->exponent;
    sl_str_addf(s, " The red line is the power law of %s with exponent ", y[m]);
    sl_report__estimate(s, (sl_estimate){ -e.value, -e.high, -e.low }, 3);
    sl_str_add(s, ", fitted to ");
    sl_report__count(s, law->n, "run", "runs");
    sl_str_add(s, " of the frontier of loss (rings); R² of the fit of logarithms ");
    sl_plot_number(s, law->r2, 3);
    sl_str_add(s,
               ". The band is its 95 % bootstrap interval. <span class=\"red\">The dashed part is "
               "an extrapolation</span>, up to ten times the largest compute.");
}

static void caption(sl_str *s, const sl_report__view *v, sl_laws_metric m) {
    static const char *const first[] = {
        [SL_LAWS_LOSS] = "Validation loss at the end of training against training compute.",
        [SL_LAWS_SOLVED] = "Share of test problems solved exactly against training compute.",
        [SL_LAWS_R2] = "Share of test problems with R² above 0.99 against training compute.",
    };
    int repeated = 0;
    for (int i = 0; i < v->l->n_point; i++) repeated += v->l->point[i].n > 1;
    sl_str_add(s, first[m]);
    sl_str_add(s, " Each mark is a configuration, coloured by the number of parameters");
    sl_str_add(s, repeated ? "; small marks are its seeds." : ".");
    bool bars = false;
    for (int i = 0; i < v->l->n_point; i++)
        bars = bars || isfinite(sl_report__interval(v, &v->l->point[i], m).lo);
    if (bars) sl_str_add(s, " Bars are 95 % intervals over test problems.");
    add_law_words(s, v, m);
    if (m != SL_LAWS_LOSS && v->in->n_baselines)
        sl_str_add(s, " Horizontal dashed lines are baselines without a trained model.");
    if (m == SL_LAWS_SOLVED && has_efforts(v))
        sl_str_add(s, " Squares are the search, which is not trained: their compute is the "
                      "FLOPs-equivalent of what it spends on one problem.");
}

static void data(sl_str *s, const sl_report__view *v, sl_laws_metric m) {
    static const char *const name[] = {
        [SL_LAWS_LOSS] = "#loss", [SL_LAWS_SOLVED] = "#solved (%)", [SL_LAWS_R2] = "#R² > 0.99 (%)"
    };
    SL_REPORT__TABLE(s, "", "size", "#parameters", "#FLOPs", name[m], "#low", "#high", "#seeds",
                     "#by law", "frontier");
    for (int i = 0; i < v->l->n_point; i++) {
        const sl_laws_point *q = &v->l->point[i];
        const sl_interval w = sl_report__interval(v, q, m);
        SL_REPORT__ROW(s, NULL, SL_CELL_TEXT(q->size >= 0 ? v->l->size[q->size].name : ""),
                       SL_CELL_NUMBER(q->params, 6), SL_CELL_NUMBER(q->flops, 4),
                       SL_CELL_NUMBER(sl_report__metric_at(q, m), 5), SL_CELL_NUMBER(w.lo, 4),
                       SL_CELL_NUMBER(w.hi, 4), SL_CELL_NUMBER(q->n, 4),
                       SL_CELL_NUMBER(sl_report__law_at(law_of(v, m), m, q->flops).value, 4),
                       SL_CELL_TEXT(v->frontier[i] ? "yes" : ""));
    }
    sl_report__table_close(s);
}

/* One figure a metric. */
#define FIGURE(id, metric, text)                                                             \
    static bool is_##id(const sl_report__view *v) { return has_metric(v, metric); }          \
    static sl_status draw_##id(sl_plot **out, const sl_report__view *v, bool narrow) {       \
        return draw(out, v, metric, narrow);                                                 \
    }                                                                                        \
    static void caption_##id(sl_str *s, const sl_report__view *v) { caption(s, v, metric); } \
    static void data_##id(sl_str *s, const sl_report__view *v) { data(s, v, metric); }       \
    SL_REPORT__FIGURE(id, #id, text, false);

FIGURE(solved, SL_LAWS_SOLVED, "Solved rate against training compute")
FIGURE(r2, SL_LAWS_R2, "R² rate against training compute")
FIGURE(loss, SL_LAWS_LOSS, "Loss against training compute")

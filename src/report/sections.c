/* sections - the parts of the page about laws: fits, intervals, predictions. Those about the study
 * are in sections_study.c. */
#include <math.h>

#include "report/report_impl.h"

static void paragraph(sl_str *s, const char *html) { sl_str_addf(s, "<p>%s</p>\n", html); }

/* ---------------------------------------------------------------- compute ------------------- */

static bool is_compute(const sl_report__view *v) {
    return sl_report__fig_solved.is(v) || sl_report__fig_r2.is(v) || sl_report__fig_loss.is(v);
}

static sl_status add_compute(sl_str *s, sl_report__view *v) {
    paragraph(s,
              "Each run is one finished training; a point within a schedule is none. The frontier "
              "keeps a run if no cheaper one has a lower validation loss. The laws below are "
              "fitted to it, for accuracies to one minus the share.");
    SL_TRY(sl_report__add_figure(s, v, &sl_report__fig_solved));
    SL_TRY(sl_report__add_figure(s, v, &sl_report__fig_r2));
    return sl_report__add_figure(s, v, &sl_report__fig_loss);
}

/* ---------------------------------------------------------------- laws ---------------------- */

static bool is_laws(const sl_report__view *v) {
    for (int m = 0; m < SL_LAWS_METRIC_COUNT; m++)
        for (int f = 0; f < SL_LAWS_FORM_COUNT; f++)
            if (v->l->law[m][f].known) return true;
    return false;
}

static const char *const quantity[] = {
    [SL_LAWS_LOSS] = "loss", [SL_LAWS_SOLVED] = "1 − solved", [SL_LAWS_R2] = "1 − (R² > 0.99)"
};
static const char *const form_text[] = { [SL_LAWS_POWER] = "power law",
                                         [SL_LAWS_FLOOR] = "with a floor",
                                         [SL_LAWS_BINOMIAL] = "binomial likelihood",
                                         [SL_LAWS_SURFACE] = "surface L(N, D)" };

static void law_row(sl_str *s, const sl_report__view *v, sl_laws_metric m, sl_laws_form f) {
    const sl_law *law = &v->l->law[m][f];
    const sl_estimate none = { NAN, NAN, NAN };
    if (!law->known) return;
    SL_REPORT__ROW(s, NULL, SL_CELL_TEXT(quantity[m]), SL_CELL_TEXT(form_text[f]),
                   SL_CELL_ESTIMATE(law->exponent, 3), SL_CELL_ESTIMATE(law->coefficient, 2),
                   SL_CELL_ESTIMATE(f == SL_LAWS_FLOOR ? law->floor : none, 2),
                   SL_CELL_NUMBER(law->r2, 4), SL_CELL_NUMBER(law->n, 4));
}

static void target_row(sl_str *s, const sl_report__view *v, sl_laws_form f) {
    const sl_estimate c = v->l->target_flops[f];
    if (isnan(c.value)) return;
    const char *how = isinf(c.value) ? "<span class=\"red\">never by this law</span>"
                      : sl_report__is_far(v, c.value)
                          ? "<span class=\"red\">far extrapolation</span>"
                      : c.value > v->l->c_top ? "extrapolated"
                                              : "within the runs";
    SL_REPORT__ROW(s, NULL, SL_CELL_TEXT(form_text[f]), SL_CELL_ESTIMATE(c, 2),
                   SL_CELL_NUMBER(c.value / v->l->c_top, 2), SL_CELL_HTML(how));
}

static void add_target(sl_str *s, const sl_report__view *v) {
    bool any = false;
    for (int f = 0; f < SL_LAWS_FORM_COUNT; f++) any = any || !isnan(v->l->target_flops[f].value);
    if (!any) return;
    sl_str_addf(s, "<h3 id=\"target\">Compute for %.3g %% solved</h3>\n",
                100 * v->l->options.target);
    SL_REPORT__TABLE(s, "", "form", "#FLOPs", "#times the largest", "");
    for (int f = 0; f < SL_LAWS_FORM_COUNT; f++) target_row(s, v, (sl_laws_form)f);
    sl_report__table_close(s);
}

static sl_status add_laws(sl_str *s, sl_report__view *v) {
    sl_str_add(s,
               "<p>Every law has the form <i>y</i> = <i>c</i> <i>C</i><sup>−<i>b</i></sup>, with "
               "a floor added where the row says so. Intervals are at ");
    sl_plot_number(s, 100 * v->l->options.level, 3);
    sl_str_add(s, " %, from ");
    sl_report__count(s, v->l->options.draws, "bootstrap draw", "bootstrap draws");
    sl_str_add(s, " that resample configurations, then their seeds, before the frontier is "
                  "selected. R² is that of the fit of logarithms.</p>\n");
    SL_REPORT__TABLE(s, "wide sort", "of", "form", "#exponent", "#coefficient", "#floor", "#R²",
                     "#points");
    for (int m = 0; m < SL_LAWS_METRIC_COUNT; m++)
        for (int f = 0; f < SL_LAWS_FORM_COUNT; f++)
            law_row(s, v, (sl_laws_metric)m, (sl_laws_form)f);
    sl_report__table_close(s);
    add_target(s, v);
    return SL_OK;
}

/* ---------------------------------------------------------------- predict ------------------- */

static bool is_predict(const sl_report__view *v) {
    return v->l->n_score > 0 || sl_report__fig_predict.is(v);
}

/* The scores over all that was left out, or those of each split. */
static void score_rows(sl_str *s, const sl_report__view *v, bool all) {
    for (int i = 0; i < v->l->n_score; i++) {
        const sl_laws_score *q = &v->l->score[i];
        if ((q->split < 0) != all) continue;
        sl_report__cell cell[7] = { SL_CELL_TEXT(quantity[q->metric]) };
        int n = 1;
        if (!all) cell[n++] = SL_CELL_TEXT(v->l->split[q->split].name);
        cell[n++] = SL_CELL_TEXT(form_text[q->form]);
        cell[n++] = SL_CELL_NUMBER(q->n, 4);
        cell[n++] = SL_CELL_NUMBER(100 * (sl_exp(q->rms) - 1), 2);
        cell[n++] = SL_CELL_NUMBER(100 * q->inside, 3);
        cell[n++] = SL_CELL_TEXT(q->best ? "best" : "");
        sl_report__row(s, q->best ? "best" : NULL, cell, n);
    }
}

static sl_status add_predict(sl_str *s, sl_report__view *v) {
    paragraph(s, "The largest runs are left out, each form is fitted to the rest, and what it "
                 "predicts is held against what was measured. A law that fits is not yet one that "
                 "predicts. Errors are those of the loss, or of one minus the share.");
    SL_TRY(sl_report__add_figure(s, v, &sl_report__fig_predict));
    if (!v->l->n_score) return SL_OK;
    SL_REPORT__TABLE(s, "sort", "of", "form", "#values", "#error, rms (%)",
                     "#inside the interval (%)", "");
    score_rows(s, v, true);
    sl_report__table_close(s);
    if (v->l->n_split < 2) return SL_OK;
    sl_str_add(s, "<details><summary>By what was left out</summary>\n");
    SL_REPORT__TABLE(s, "sort", "of", "left out", "form", "#values", "#error, rms (%)",
                     "#inside the interval (%)", "");
    score_rows(s, v, false);
    sl_report__table_close(s);
    sl_str_add(s, "</details>\n");
    return SL_OK;
}

/* ---------------------------------------------------------------- settings ------------------ */

static bool is_settings(const sl_report__view *v) {
    return sl_report__fig_sweep.is(v) || sl_report__fig_optima.is(v);
}

static sl_status add_settings(sl_str *s, sl_report__view *v) {
    if (sl_report__fig_sweep.is(v))
        paragraph(
            s,
            "The best batch size and learning rate of a model size are chosen by validation loss "
            "alone. An optimum at the edge of what was tried is only a bound, and is marked.");
    SL_TRY(sl_report__add_figure(s, v, &sl_report__fig_sweep));
    return sl_report__add_figure(s, v, &sl_report__fig_optima);
}

/* ---------------------------------------------------------------- allocation ---------------- */

static bool is_allocation(const sl_report__view *v) {
    return sl_report__fig_allocation.is(v) || sl_report__fig_isoflop.is(v) || v->l->surface.known;
}

/* One constant of the surface, by both fits. */
static void surface_row(sl_str *s, const char *name, const sl_estimate *e,
                        const sl_estimate *huber) {
    const sl_report__cell cell[] = { SL_CELL_TEXT(name), SL_CELL_ESTIMATE(*e, 3),
                                     SL_CELL_ESTIMATE(huber ? *huber : *e, 3) };
    sl_report__row(s, NULL, cell, huber ? 3 : 2);
}

static void add_constants(sl_str *s, const sl_laws_surface *f, const sl_laws_surface *huber) {
    static const char *const names[] = { "constant", "#least squares", "#Huber loss" };
    const sl_laws_surface *h = huber->known ? huber : NULL;
    const sl_estimate r2 = { f->r2, NAN, NAN }, h2 = { huber->r2, NAN, NAN };
    sl_report__table_open(s, "", names, h ? 3 : 2);
    surface_row(s, "E", &f->E, h ? &h->E : NULL);
    surface_row(s, "A", &f->A, h ? &h->A : NULL);
    surface_row(s, "B", &f->B, h ? &h->B : NULL);
    surface_row(s, "α", &f->alpha, h ? &h->alpha : NULL);
    surface_row(s, "β", &f->beta, h ? &h->beta : NULL);
    surface_row(s, "exponent of N* in compute", &f->n_exponent, h ? &h->n_exponent : NULL);
    surface_row(s, "exponent of D* in compute", &f->d_exponent, h ? &h->d_exponent : NULL);
    surface_row(s, "R²", &r2, h ? &h2 : NULL);
    sl_report__table_close(s);
}

/* A power of ten as a word. */
static void add_unit(sl_str *s, double unit) {
    if (unit == 1e6 || unit == 1e9)
        sl_str_add(s, unit == 1e6 ? "a million" : "a billion");
    else
        sl_plot_number(s, unit, 3);
}

static void add_surface(sl_str *s, const sl_report__view *v) {
    const sl_laws_surface *f = &v->l->surface;
    if (!f->known) return;
    sl_str_add(s,
               "<h3 id=\"surface\">Loss as a function of size and tokens</h3>\n"
               "<div class=\"formula\"><math xmlns=\"http://www.w3.org/1998/Math/MathML\" "
               "display=\"block\"><mrow><mi>L</mi><mo>=</mo><mi>E</mi><mo>+</mo><mfrac><mi>A</mi>"
               "<msup><mi>N</mi><mi>α</mi></msup></mfrac><mo>+</mo><mfrac><mi>B</mi><msup>"
               "<mi>D</mi><mi>β</mi></msup></mfrac></mrow></math></div>\n<p>With <i>N</i> in "
               "units of ");
    add_unit(s, f->unit_params);
    sl_str_add(s, " parameters and <i>D</i> in units of ");
    add_unit(s, f->unit_tokens);
    sl_str_add(s, " tokens, fitted to the losses of ");
    sl_report__count(s, f->n, "run", "runs");
    sl_str_add(s, ", on the frontier or not.</p>\n");
    add_constants(s, f, &v->l->surface_huber);
}

static sl_status add_allocation(sl_str *s, sl_report__view *v) {
    paragraph(s, "More compute can go into a larger model or into more tokens. The runs on the "
                 "frontier show the split that gave the lowest loss.");
    SL_TRY(sl_report__add_figure(s, v, &sl_report__fig_allocation));
    SL_TRY(sl_report__add_figure(s, v, &sl_report__fig_isoflop));
    add_surface(s, v);
    return SL_OK;
}

/* ---------------------------------------------------------------- all ----------------------- */

const sl_report__section sl_report__sections_laws[] = {
    { "compute", "Accuracy and loss by compute", is_compute, add_compute },
    { "laws", "The laws", is_laws, add_laws },
    { "predict", "Does the law predict?", is_predict, add_predict },
    { "settings", "Batch size and learning rate", is_settings, add_settings },
    { "allocation", "Parameters or tokens", is_allocation, add_allocation },
    { 0 },
};

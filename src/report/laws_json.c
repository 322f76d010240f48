/* laws_json - the result of `symlaw laws` for programs. */
#include <math.h>

#include "report/report_impl.h"

static void add_estimate(sl_str *s, const char *name, sl_estimate e) {
    sl_io_json_open(s, name, '{');
    SL_JSON_FIELDS(s, &e, value, low, high);
    sl_io_json_close(s, '}');
}

/* ---------------------------------------------------------------- laws ---------------------- */

/* Members of one law; null figures where it is not known. */
static void add_law(sl_str *s, const sl_law *law) {
    sl_io_json_add_bool(s, "known", law->known);
    const sl_estimate none = { NAN, NAN, NAN };
    add_estimate(s, "exponent", law->known ? law->exponent : none);
    add_estimate(s, "coefficient", law->known ? law->coefficient : none);
    sl_io_json_add_int(s, "points", law->n);
    sl_io_json_add_real(s, "fit_r2", law->known ? law->r2 : NAN);
}

static void add_target(sl_str *s, const sl_laws *l, sl_laws_form f) {
    const sl_estimate c = l->target_flops[f];
    sl_io_json_open(s, "compute_for_target", '{');
    sl_io_json_add_real(s, "target", l->options.target);
    SL_JSON_FIELDS(s, &c, value, low, high);
    sl_io_json_add_real(s, "extrapolation", c.value / l->c_top);
    sl_io_json_close(s, '}');
}

static void add_form(sl_str *s, const sl_laws *l, sl_laws_metric m, sl_laws_form f) {
    const sl_law *law = &l->law[m][f];
    add_law(s, law);
    if (f == SL_LAWS_POWER) add_estimate(s, "curvature", law->curvature);
    if (f == SL_LAWS_FLOOR) add_estimate(s, "floor", law->floor);
    if (f == SL_LAWS_BINOMIAL) sl_io_json_add_real(s, "dispersion", law->dispersion);
    if (m == SL_LAWS_SOLVED) add_target(s, l, f);
    sl_io_json_add_int(s, "draws", law->valid);
}

/* The plain power law's members stand in front: "solved.exponent" is the paper's. */
static void add_metric(sl_str *s, const sl_laws *l, sl_laws_metric m) {
    sl_io_json_open(s, sl_laws_metric_name(m), '{');
    sl_io_json_add_text(s, "law",
                        m == SL_LAWS_LOSS ? "loss = coefficient C^-exponent"
                                          : "1 - share = coefficient C^-exponent");
    add_form(s, l, m, SL_LAWS_POWER);
    for (int f = SL_LAWS_FLOOR; f < SL_LAWS_FORM_COUNT; f++) {
        if (m == SL_LAWS_LOSS && f == SL_LAWS_BINOMIAL) continue;
        sl_io_json_open(s, sl_laws_form_name((sl_laws_form)f), '{');
        add_form(s, l, m, (sl_laws_form)f);
        sl_io_json_close(s, '}');
    }
    sl_io_json_close(s, '}');
}

static void add_law_named(sl_str *s, const char *name, const sl_law *law) {
    sl_io_json_open(s, name, '{');
    add_law(s, law);
    sl_io_json_close(s, '}');
}

static void add_frontier(sl_str *s, const sl_laws *l) {
    sl_io_json_open(s, "frontier", '[');
    for (int i = 0; i < l->n_frontier; i++) {
        const sl_laws_point *p = &l->point[l->frontier[i]];
        sl_io_json_open(s, NULL, '{');
        sl_io_json_add_text(s, "size", l->size[p->size].name);
        SL_JSON_FIELDS(s, p, flops, params, tokens, loss, solved, r2);
        sl_io_json_add_int(s, "seeds", p->n);
        sl_io_json_open(s, "rows", '[');
        for (int k = 0; k < p->n; k++) sl_io_json_add_int(s, NULL, p->row[k] + 1);
        sl_io_json_close(s, ']');
        sl_io_json_close(s, '}');
    }
    sl_io_json_close(s, ']');
}

static void add_optimal(sl_str *s, const sl_laws *l) {
    sl_io_json_open(s, "optimal", '{');
    add_law_named(s, "params", &l->params);
    add_law_named(s, "tokens", &l->tokens);
    add_law_named(s, "ratio", &l->ratio);
    sl_io_json_open(s, "at", '[');
    for (double c = l->params.known ? sl_exp(sl_log(10) * ceil(log10(l->params.x_min))) : INFINITY;
         c <= l->params.x_max * SL_LAWS_FAR; c *= 10) {
        sl_io_json_open(s, NULL, '{');
        sl_io_json_add_real(s, "flops", c);
        add_estimate(s, "params", sl_laws_at(&l->params, c));
        add_estimate(s, "tokens", sl_laws_at(&l->tokens, c));
        add_estimate(s, "ratio", sl_laws_at(&l->ratio, c));
        sl_io_json_close(s, '}');
    }
    sl_io_json_close(s, ']');
    sl_io_json_close(s, '}');
}

/* ---------------------------------------------------------------- runs and surfaces --------- */

static void add_optima(sl_str *s, const sl_laws *l) {
    sl_io_json_open(s, "optima", '[');
    for (int i = 0; i < l->n_optimum; i++) {
        const sl_laws_optimum *o = &l->optimum[i];
        sl_io_json_open(s, NULL, '{');
        sl_io_json_add_text(s, "size", l->size[o->size].name);
        sl_io_json_add_real(s, "params", o->params);
        add_estimate(s, "batch", o->batch);
        add_estimate(s, "rate", o->rate);
        SL_JSON_FIELDS(s, o, loss, batch_on_edge, rate_on_edge, chosen);
        sl_io_json_close(s, '}');
    }
    sl_io_json_close(s, ']');
}

static void add_surface(sl_str *s, const sl_laws_surface *f) {
    sl_io_json_add_bool(s, "known", f->known);
    add_estimate(s, "E", f->E);
    add_estimate(s, "A", f->A);
    add_estimate(s, "B", f->B);
    add_estimate(s, "alpha", f->alpha);
    add_estimate(s, "beta", f->beta);
    add_estimate(s, "params_exponent", f->n_exponent);
    add_estimate(s, "tokens_exponent", f->d_exponent);
    sl_io_json_add_int(s, "points", f->n);
    sl_io_json_add_real(s, "fit_r2", f->r2);
    sl_io_json_add_real(s, "rms", f->rms);
    sl_io_json_add_int(s, "draws", f->valid);
}

static void add_surfaces(sl_str *s, const sl_laws *l) {
    const sl_laws_surface *f = &l->surface;
    sl_io_json_open(s, "surface", '{');
    sl_io_json_add_text(s, "law", "L = E + A/(N/unit_params)^alpha + B/(D/unit_tokens)^beta");
    SL_JSON_FIELDS(s, f, unit_params, unit_tokens);
    sl_io_json_add_text(s, "fit", "least squares of L");
    add_surface(s, f);
    sl_io_json_add_real(s, "flops_per_param_and_token", f->flops_per);
    sl_io_json_open(s, "huber", '{');
    sl_io_json_add_real(s, "delta", l->surface_huber.delta);
    add_surface(s, &l->surface_huber);
    sl_io_json_close(s, '}');
    sl_io_json_close(s, '}');
}

static void add_isoflop(sl_str *s, const sl_laws *l) {
    sl_io_json_open(s, "isoflop", '{');
    sl_io_json_open(s, "minima", '[');
    for (int i = 0; i < l->n_isoflop; i++) {
        const sl_laws_isoflop *f = &l->isoflop[i];
        sl_io_json_open(s, NULL, '{');
        sl_io_json_add_real(s, "flops", f->flops);
        sl_io_json_add_int(s, "sizes", f->n_size);
        add_estimate(s, "params", f->params);
        add_estimate(s, "loss", f->loss);
        SL_JSON_FIELDS(s, f, akima_params, on_edge);
        sl_io_json_close(s, '}');
    }
    sl_io_json_close(s, ']');
    add_law_named(s, "params", &l->isoflop_params);
    sl_io_json_close(s, '}');
}

static void add_parts(sl_str *s, const sl_laws *l) {
    sl_io_json_open(s, "hyperparameters", '{');
    add_optima(s, l);
    add_law_named(s, "batch", &l->batch);
    add_law_named(s, "rate", &l->rate);
    sl_io_json_close(s, '}');
    if (l->n_point == 0) return;
    add_surfaces(s, l);
    add_isoflop(s, l);
}

/* ---------------------------------------------------------------- does it predict? ---------- */

static void add_split(sl_str *s, const sl_laws *l, int k) {
    const sl_laws_split *p = &l->split[k];
    sl_io_json_open(s, NULL, '{');
    sl_io_json_add_text(s, "left_out", p->name);
    if (!isnan(p->flops)) sl_io_json_add_real(s, "from_flops", p->flops);
    sl_io_json_add_int(s, "points_fitted", p->n_fit);
    sl_io_json_add_int(s, "points_left_out", p->n_left);
    sl_io_json_open(s, "predictions", '[');
    for (int i = 0; i < l->n_prediction; i++) {
        const sl_laws_prediction *q = &l->prediction[i];
        if (q->split != k) continue;
        sl_io_json_open(s, NULL, '{');
        sl_io_json_add_text(s, "metric", sl_laws_metric_name(q->metric));
        sl_io_json_add_text(s, "form", sl_laws_form_name(q->form));
        sl_io_json_add_text(s, "size", l->size[l->point[q->point].size].name);
        sl_io_json_add_real(s, "flops", l->point[q->point].flops);
        sl_io_json_add_real(s, "extrapolation", q->factor);
        add_estimate(s, "predicted", q->predicted);
        SL_JSON_FIELDS(s, q, measured, error);
        sl_io_json_close(s, '}');
    }
    sl_io_json_close(s, ']');
    sl_io_json_close(s, '}');
}

static void add_tests(sl_str *s, const sl_laws *l) {
    sl_io_json_open(s, "leave_out", '{');
    sl_io_json_open(s, "scores", '[');
    for (int i = 0; i < l->n_score; i++) {
        const sl_laws_score *c = &l->score[i];
        sl_io_json_open(s, NULL, '{');
        sl_io_json_add_text(s, "left_out", c->split < 0 ? "all" : l->split[c->split].name);
        sl_io_json_add_text(s, "metric", sl_laws_metric_name(c->metric));
        sl_io_json_add_text(s, "form", sl_laws_form_name(c->form));
        sl_io_json_add_int(s, "predictions", c->n);
        sl_io_json_add_real(s, "rms_error", c->rms);
        sl_io_json_add_real(s, "inside_interval", c->inside);
        sl_io_json_add_bool(s, "best", c->best);
        sl_io_json_close(s, '}');
    }
    sl_io_json_close(s, ']');
    sl_io_json_open(s, "splits", '[');
    for (int k = 0; k < l->n_split; k++) add_split(s, l, k);
    sl_io_json_close(s, ']');
    sl_io_json_close(s, '}');
}

/* ---------------------------------------------------------------- questions ----------------- */

static void add_forecast(sl_str *s, const char *name, const sl_laws_forecast *f) {
    sl_io_json_open(s, name, '{');
    sl_io_json_add_real(s, "flops", f->flops);
    sl_io_json_add_real(s, "extrapolation", f->factor);
    add_estimate(s, "params", f->params);
    add_estimate(s, "tokens", f->tokens);
    add_estimate(s, "loss", f->loss);
    add_estimate(s, "solved", f->solved);
    add_estimate(s, "r2", f->r2);
    sl_io_json_open(s, "surface", '{');
    add_estimate(s, "params", f->surface.params);
    add_estimate(s, "tokens", f->surface.tokens);
    add_estimate(s, "ratio", f->surface.ratio);
    add_estimate(s, "loss", f->surface.loss);
    sl_io_json_close(s, '}');
    sl_io_json_close(s, '}');
}

static void add_questions(sl_str *s, const sl_laws *l, const sl_report_question *q) {
    if (!isnan(q->params)) {
        const sl_laws_forecast f = sl_laws_forecast_run(l, q->params, q->tokens);
        add_forecast(s, "predict", &f);
    }
    if (!isnan(q->budget)) {
        const sl_laws_forecast f = sl_laws_forecast_budget(l, q->budget);
        add_forecast(s, "budget", &f);
    }
    if (!q->other) return;
    sl_io_json_open(s, "compare", '[');
    for (int i = 0; i < SL_LAWS_MULTIPLIERS; i++) {
        const sl_laws_multiplier *m = &q->multiplier[i];
        sl_io_json_open(s, NULL, '{');
        sl_io_json_add_real(s, "loss", m->loss);
        add_estimate(s, "multiplier", m->factor);
        sl_io_json_add_bool(s, "inside", m->inside);
        sl_io_json_close(s, '}');
    }
    sl_io_json_close(s, ']');
}

static const char *note_kind(sl_laws_note_kind k) {
    static const char *const name[] = { "off", "data", "edge", "curved", "far", "bias" };
    return name[k];
}

void sl_report_laws_json(sl_str *s, const sl_laws *l, const sl_report_question *q) {
    sl_io_json_add_text(s, "source", l->table->source);
    sl_io_json_add_int(s, "runs", l->table->n);
    sl_io_json_add_int(s, "configurations", l->n_point);
    sl_io_json_add_int(s, "sizes", l->n_size);
    sl_io_json_add_real(s, "largest_flops", l->c_top);
    sl_io_json_add_real(s, "level", l->options.level);
    sl_io_json_add_real(s, "seed_noise", l->seed_noise);
    add_questions(s, l, q);
    if (l->n_point > 0) {
        for (int m = 0; m < SL_LAWS_METRIC_COUNT; m++) add_metric(s, l, (sl_laws_metric)m);
        add_frontier(s, l);
        add_optimal(s, l);
    }
    add_parts(s, l);
    if (l->n_point > 0) add_tests(s, l);
    sl_io_json_open(s, "notes", '[');
    for (int i = 0; i < l->n_note; i++) {
        sl_io_json_open(s, NULL, '{');
        sl_io_json_add_text(s, "kind", note_kind(l->note[i].kind));
        sl_io_json_add_text(s, "text", l->note[i].text);
        sl_io_json_close(s, '}');
    }
    sl_io_json_close(s, ']');
}

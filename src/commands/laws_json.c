/* laws_json - the result of `symlaw laws` for programs. */
#include <math.h>

#include "commands/laws_impl.h"

void sl_commands__estimate_json(sl_str *s, const char *name, sl_estimate e) {
    sl_io_json_open(s, name, '{');
    sl_io_json_add_real(s, "value", e.value);
    sl_io_json_add_real(s, "low", e.low);
    sl_io_json_add_real(s, "high", e.high);
    sl_io_json_close(s, '}');
}

/* ---------------------------------------------------------------- laws ---------------------- */

/* Members of one law; null figures where it is not known. */
static void add_law(sl_str *s, const sl_law *law) {
    sl_io_json_add_bool(s, "known", law->known);
    const sl_estimate none = { NAN, NAN, NAN };
    sl_commands__estimate_json(s, "exponent", law->known ? law->exponent : none);
    sl_commands__estimate_json(s, "coefficient", law->known ? law->coefficient : none);
    sl_io_json_add_int(s, "points", law->n);
    sl_io_json_add_real(s, "fit_r2", law->known ? law->r2 : NAN);
}

static void add_target(sl_str *s, const sl_laws *l, sl_laws_form f) {
    const sl_estimate c = l->target_flops[f];
    sl_io_json_open(s, "compute_for_target", '{');
    sl_io_json_add_real(s, "target", l->options.target);
    sl_io_json_add_real(s, "value", c.value);
    sl_io_json_add_real(s, "low", c.low);
    sl_io_json_add_real(s, "high", c.high);
    sl_io_json_add_real(s, "extrapolation", c.value / l->c_top);
    sl_io_json_close(s, '}');
}

static void add_form(sl_str *s, const sl_laws *l, sl_laws_metric m, sl_laws_form f) {
    const sl_law *law = &l->law[m][f];
    add_law(s, law);
    if (f == SL_LAWS_POWER) sl_commands__estimate_json(s, "curvature", law->curvature);
    if (f == SL_LAWS_FLOOR) sl_commands__estimate_json(s, "floor", law->floor);
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

void sl_commands__law_json(sl_str *s, const char *name, const sl_law *law) {
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
        sl_io_json_add_real(s, "flops", p->flops);
        sl_io_json_add_real(s, "params", p->params);
        sl_io_json_add_real(s, "tokens", p->tokens);
        sl_io_json_add_real(s, "loss", p->loss);
        sl_io_json_add_real(s, "solved", p->solved);
        sl_io_json_add_real(s, "r2", p->r2);
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
    sl_commands__law_json(s, "params", &l->params);
    sl_commands__law_json(s, "tokens", &l->tokens);
    sl_commands__law_json(s, "ratio", &l->ratio);
    sl_io_json_open(s, "at", '[');
    for (double c = l->params.known ? sl_exp(sl_log(10) * ceil(log10(l->params.x_min))) : INFINITY;
         c <= l->params.x_max * SL_LAWS_FAR; c *= 10) {
        sl_io_json_open(s, NULL, '{');
        sl_io_json_add_real(s, "flops", c);
        sl_commands__estimate_json(s, "params", sl_laws_at(&l->params, c));
        sl_commands__estimate_json(s, "tokens", sl_laws_at(&l->tokens, c));
        sl_commands__estimate_json(s, "ratio", sl_laws_at(&l->ratio, c));
        sl_io_json_close(s, '}');
    }
    sl_io_json_close(s, ']');
    sl_io_json_close(s, '}');
}

/* ---------------------------------------------------------------- questions ----------------- */

static void add_forecast(sl_str *s, const char *name, const sl_commands__forecast *f) {
    sl_io_json_open(s, name, '{');
    sl_io_json_add_real(s, "flops", f->flops);
    sl_io_json_add_real(s, "extrapolation", f->factor);
    sl_commands__estimate_json(s, "params", f->params);
    sl_commands__estimate_json(s, "tokens", f->tokens);
    sl_commands__estimate_json(s, "loss", f->loss);
    sl_commands__estimate_json(s, "solved", f->solved);
    sl_commands__estimate_json(s, "r2", f->r2);
    sl_io_json_open(s, "surface", '{');
    sl_commands__estimate_json(s, "params", f->surface.params);
    sl_commands__estimate_json(s, "tokens", f->surface.tokens);
    sl_commands__estimate_json(s, "ratio", f->surface.ratio);
    sl_commands__estimate_json(s, "loss", f->surface.loss);
    sl_io_json_close(s, '}');
    sl_io_json_close(s, '}');
}

static void add_questions(sl_str *s, const sl_laws *l, const sl_commands__ask *ask) {
    if (!isnan(ask->params)) {
        const sl_commands__forecast f = sl_commands__forecast_run(l, ask->params, ask->tokens);
        add_forecast(s, "predict", &f);
    }
    if (!isnan(ask->budget)) {
        const sl_commands__forecast f = sl_commands__forecast_budget(l, ask->budget);
        add_forecast(s, "budget", &f);
    }
    if (!ask->other) return;
    sl_io_json_open(s, "compare", '[');
    for (int i = 0; i < SL_LAWS_MULTIPLIERS; i++) {
        const sl_laws_multiplier *m = &ask->multiplier[i];
        sl_io_json_open(s, NULL, '{');
        sl_io_json_add_real(s, "loss", m->loss);
        sl_commands__estimate_json(s, "multiplier", m->factor);
        sl_io_json_add_bool(s, "inside", m->inside);
        sl_io_json_close(s, '}');
    }
    sl_io_json_close(s, ']');
}

static const char *note_kind(sl_laws_note_kind k) {
    static const char *const name[] = { "off", "data", "edge", "curved", "far", "bias" };
    return name[k];
}

void sl_commands__laws_json(sl_str *s, const sl_laws *l, const sl_commands__ask *ask) {
    sl_io_json_add_text(s, "source", l->table->source);
    sl_io_json_add_int(s, "runs", l->table->n);
    sl_io_json_add_int(s, "configurations", l->n_point);
    sl_io_json_add_int(s, "sizes", l->n_size);
    sl_io_json_add_real(s, "largest_flops", l->c_top);
    sl_io_json_add_real(s, "level", l->options.level);
    sl_io_json_add_real(s, "seed_noise", l->seed_noise);
    add_questions(s, l, ask);
    if (l->n_point > 0) {
        for (int m = 0; m < SL_LAWS_METRIC_COUNT; m++) add_metric(s, l, (sl_laws_metric)m);
        add_frontier(s, l);
        add_optimal(s, l);
    }
    sl_commands__laws_json_parts(s, l);
    if (l->n_point > 0) sl_commands__laws_json_tests(s, l);
    sl_io_json_open(s, "notes", '[');
    for (int i = 0; i < l->n_note; i++) {
        sl_io_json_open(s, NULL, '{');
        sl_io_json_add_text(s, "kind", note_kind(l->note[i].kind));
        sl_io_json_add_text(s, "text", l->note[i].text);
        sl_io_json_close(s, '}');
    }
    sl_io_json_close(s, ']');
}

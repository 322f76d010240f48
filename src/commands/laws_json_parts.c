/* laws_json_parts - the second half of the result: hyper-parameters, surface, iso-FLOP, tests. */
#include <math.h>

#include "commands/laws_impl.h"

static void add_optima(sl_str *s, const sl_laws *l) {
    sl_io_json_open(s, "optima", '[');
    for (int i = 0; i < l->n_optimum; i++) {
        const sl_laws_optimum *o = &l->optimum[i];
        sl_io_json_open(s, NULL, '{');
        sl_io_json_add_text(s, "size", l->size[o->size].name);
        sl_io_json_add_real(s, "params", o->params);
        sl_commands__estimate_json(s, "batch", o->batch);
        sl_commands__estimate_json(s, "rate", o->rate);
        sl_io_json_add_real(s, "loss", o->loss);
        sl_io_json_add_bool(s, "batch_on_edge", o->batch_on_edge);
        sl_io_json_add_bool(s, "rate_on_edge", o->rate_on_edge);
        sl_io_json_add_bool(s, "chosen", o->chosen);
        sl_io_json_close(s, '}');
    }
    sl_io_json_close(s, ']');
}

static void add_surface(sl_str *s, const sl_laws_surface *f) {
    sl_io_json_add_bool(s, "known", f->known);
    sl_commands__estimate_json(s, "E", f->E);
    sl_commands__estimate_json(s, "A", f->A);
    sl_commands__estimate_json(s, "B", f->B);
    sl_commands__estimate_json(s, "alpha", f->alpha);
    sl_commands__estimate_json(s, "beta", f->beta);
    sl_commands__estimate_json(s, "params_exponent", f->n_exponent);
    sl_commands__estimate_json(s, "tokens_exponent", f->d_exponent);
    sl_io_json_add_int(s, "points", f->n);
    sl_io_json_add_real(s, "fit_r2", f->r2);
    sl_io_json_add_real(s, "rms", f->rms);
    sl_io_json_add_int(s, "draws", f->valid);
}

static void add_surfaces(sl_str *s, const sl_laws *l) {
    const sl_laws_surface *f = &l->surface;
    sl_io_json_open(s, "surface", '{');
    sl_io_json_add_text(s, "law", "L = E + A/(N/unit_params)^alpha + B/(D/unit_tokens)^beta");
    sl_io_json_add_real(s, "unit_params", f->unit_params);
    sl_io_json_add_real(s, "unit_tokens", f->unit_tokens);
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
        sl_commands__estimate_json(s, "params", f->params);
        sl_commands__estimate_json(s, "loss", f->loss);
        sl_io_json_add_real(s, "akima_params", f->akima_params);
        sl_io_json_add_bool(s, "on_edge", f->on_edge);
        sl_io_json_close(s, '}');
    }
    sl_io_json_close(s, ']');
    sl_commands__law_json(s, "params", &l->isoflop_params);
    sl_io_json_close(s, '}');
}

void sl_commands__laws_json_parts(sl_str *s, const sl_laws *l) {
    sl_io_json_open(s, "hyperparameters", '{');
    add_optima(s, l);
    sl_commands__law_json(s, "batch", &l->batch);
    sl_commands__law_json(s, "rate", &l->rate);
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
        sl_commands__estimate_json(s, "predicted", q->predicted);
        sl_io_json_add_real(s, "measured", q->measured);
        sl_io_json_add_real(s, "error", q->error);
        sl_io_json_close(s, '}');
    }
    sl_io_json_close(s, ']');
    sl_io_json_close(s, '}');
}

void sl_commands__laws_json_tests(sl_str *s, const sl_laws *l) {
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

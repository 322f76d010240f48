/* sentences - the findings as sentences, and the row of key numbers. A sentence whose law is not
 * known is left out. */
#include <math.h>

#include "report/report_impl.h"

typedef struct text { // the same sentence for a page and for a terminal
    sl_str *s;
    bool html;
    const sl_report__view *v;
} text;

static void add_power(const text *t, const sl_law *law, bool signed_) {
    sl_estimate e = law->exponent;
    if (law->falls && signed_) e = (sl_estimate){ -e.value, -e.high, -e.low };
    sl_str_add(t->s, t->html ? "<i>C</i><sup>" : "C^");
    sl_report__like(t->s, e.value, e.value, 3);
    if (t->html) sl_str_add(t->s, "</sup>");
    if (!isfinite(e.low) || !isfinite(e.high)) return;
    sl_str_add(t->s, " (");
    sl_report__like(t->s, e.low, e.value, 3);
    sl_str_add(t->s, " to ");
    sl_report__like(t->s, e.high, e.value, 3);
    sl_str_add_char(t->s, ')');
}

/* "an extrapolation to 440 times the largest compute", in red on a page. */
static void add_far(const text *t, double flops) {
    if (!sl_report__is_far(t->v, flops)) return;
    sl_str_add(t->s, ", ");
    sl_str_add(t->s, t->html ? "<span class=\"red\">" : "");
    sl_str_add(t->s, "an extrapolation to ");
    sl_plot_number(t->s, flops / t->v->l->c_top, 2);
    sl_str_add(t->s, " times the largest compute");
    sl_str_add(t->s, t->html ? "</span>" : "");
}

static bool is_curved(const sl_law *law) {
    return law->curvature.low > 0 || law->curvature.high < 0; // false for NaN
}

static bool say_loss(const text *t) {
    const sl_law *law = &t->v->l->law[SL_LAWS_LOSS][SL_LAWS_POWER];
    if (!law->known || !(law->x_min > 0 && law->x_max > law->x_min)) return false;
    sl_str_addf(t->s, "Validation loss %s as ", law->exponent.value > 0 ? "falls" : "rises");
    add_power(t, law, true);
    sl_str_addf(t->s, " over %.1f orders of magnitude of compute: ",
                (sl_log(law->x_max) - sl_log(law->x_min)) / sl_log(10));
    sl_report__count(t->s, law->n, "run", "runs");
    sl_str_add(t->s, " on the frontier, R² ");
    sl_plot_number(t->s, law->r2, 3);
    sl_str_add(t->s, is_curved(law) ? ", though the points are curved." : ".");
    return true;
}

/* The accuracy of the cheapest and of the most expensive run on the frontier. */
static bool ends_of(double *from, double *to, const sl_laws *l, sl_laws_metric m) {
    *from = *to = NAN;
    for (int i = 0; i < l->n_frontier; i++) {
        const double share = sl_report__metric_at(&l->point[l->frontier[i]], m);
        if (!isfinite(share)) continue;
        if (isnan(*from)) *from = share;
        *to = share;
    }
    return isfinite(*from) && l->n_frontier > 1;
}

static bool say_accuracy(const text *t) {
    const sl_laws *l = t->v->l;
    double from, to;
    sl_laws_metric m = SL_LAWS_SOLVED;
    if (!ends_of(&from, &to, l, m) && !ends_of(&from, &to, l, m = SL_LAWS_R2)) return false;
    sl_str_addf(t->s, "%s %s from %.1f to %.1f percent along the frontier",
                m == SL_LAWS_SOLVED ? "The solved rate" : "The share with R² above 0.99",
                to >= from ? "rises" : "falls", from, to);
    const sl_estimate c = l->target_flops[SL_LAWS_POWER];
    if (m == SL_LAWS_SOLVED && isfinite(c.value) && c.value > 0) {
        sl_str_add(t->s, "; by its power law ");
        sl_plot_number(t->s, 100 * l->options.target, 3);
        sl_str_add(t->s, " percent needs ");
        sl_report__estimate(t->s, c, 2);
        sl_str_add(t->s, " FLOPs");
        add_far(t, c.value);
    }
    sl_str_add_char(t->s, '.');
    return true;
}

static bool say_ratio(const text *t) {
    const sl_laws *l = t->v->l;
    if (!l->ratio.known || !l->params.known || !l->tokens.known) return false;
    const double from = l->ratio.x_min, to = l->ratio.x_max;
    sl_str_add(t->s, "The best number of parameters grows as ");
    add_power(t, &l->params, true);
    sl_str_add(t->s, " and that of tokens as ");
    add_power(t, &l->tokens, true);
    sl_str_add(t->s, ": ");
    sl_plot_number(t->s, sl_laws_at(&l->ratio, from).value, 2);
    sl_str_add(t->s, " tokens per parameter at ");
    sl_plot_number(t->s, from, 2);
    sl_str_add(t->s, " FLOPs, ");
    sl_report__estimate(t->s, sl_laws_at(&l->ratio, to), 2);
    sl_str_add(t->s, " at ");
    sl_plot_number(t->s, to, 2);
    sl_str_add_char(t->s, '.');
    return true;
}

/* How far off the best form was for the loss, over all that was left out. */
static bool say_prediction(const text *t) {
    static const char *const form[] = { [SL_LAWS_POWER] = "a power law",
                                        [SL_LAWS_FLOOR] = "a power law with a floor",
                                        [SL_LAWS_BINOMIAL] = "the binomial likelihood",
                                        [SL_LAWS_SURFACE] = "the surface L(N, D)" };
    const sl_laws *l = t->v->l;
    for (int i = 0; i < l->n_score; i++) {
        const sl_laws_score *q = &l->score[i];
        if (q->split != -1 || q->metric != SL_LAWS_LOSS || !q->best || !isfinite(q->rms)) continue;
        sl_str_addf(t->s, "With the largest runs left out, %s predicts their loss best, off by ",
                    form[q->form]);
        sl_plot_number(t->s, 100 * (sl_exp(q->rms) - 1), 2);
        sl_str_add(t->s, " percent (root mean square).");
        return true;
    }
    return false;
}

int sl_report__sentences(sl_str *s, const sl_report__view *v, bool html) {
    static bool (*const say[])(const text *) = { say_loss, say_accuracy, say_ratio,
                                                 say_prediction };
    const text t = { s, html, v };
    int n = 0;
    for (int i = 0; i < SL_LEN(say) && n < 3; i++) {
        const size_t mark = s->len;
        sl_str_add(s, html ? "<p class=\"lead\">" : "");
        if (say[i](&t)) {
            sl_str_add(s, html ? "</p>\n" : "\n");
            n++;
        } else {
            sl_str_truncate(s, mark);
        }
    }
    return n;
}

/* ---------------------------------------------------------------- key numbers --------------- */

static void open_key(sl_str *s, const char *name) { sl_str_addf(s, "<div><dt>%s</dt><dd>", name); }

static void close_key(sl_str *s) { sl_str_add(s, "</dd></div>\n"); }

static void add_interval(sl_str *s, sl_estimate e, int digits) {
    if (!isfinite(e.low) || !isfinite(e.high)) return;
    sl_str_add(s, "<small>");
    sl_report__like(s, e.low, e.value, digits);
    sl_str_add(s, " to ");
    sl_report__like(s, e.high, e.value, digits);
    sl_str_add(s, "</small>");
}

static void key_estimate(sl_str *s, const char *name, sl_estimate e, int digits) {
    if (!isfinite(e.value)) return;
    open_key(s, name);
    sl_report__like(s, e.value, e.value, digits);
    add_interval(s, e, digits);
    close_key(s);
}

static void key_law(sl_str *s, const char *name, const sl_law *law, bool minus) {
    if (!law->known) return;
    sl_estimate e = law->exponent;
    if (minus) e = (sl_estimate){ -e.value, -e.high, -e.low };
    key_estimate(s, name, e, 3);
}

static void key_target(sl_str *s, const sl_report__view *v) {
    const sl_estimate c = v->l->target_flops[SL_LAWS_POWER];
    if (!isfinite(c.value)) return;
    char name[64];
    sl_snprintf(name, sizeof name, "FLOPs for %.3g %% solved", 100 * v->l->options.target);
    open_key(s, name);
    sl_plot_number(s, c.value, 2);
    add_interval(s, c, 2);
    if (sl_report__is_far(v, c.value)) {
        sl_str_add(s, "<small class=\"red\">extrapolated to ");
        sl_plot_number(s, c.value / v->l->c_top, 2);
        sl_str_add(s, " times the largest compute</small>");
    }
    close_key(s);
}

static void key_runs(sl_str *s, const sl_report__view *v) {
    double flops = 0;
    int finished = 0;
    for (int i = 0; i < v->t->n; i++) {
        if (isfinite(v->t->run[i].flops)) flops += v->t->run[i].flops;
        finished += sl_laws_finished(&v->t->run[i]);
    }
    open_key(s, "finished runs");
    sl_plot_number(s, finished, 6);
    sl_str_add(s, "<small>");
    sl_report__count(s, v->l->n_size, "size", "sizes");
    if (flops > 0) {
        sl_str_add(s, ", ");
        sl_plot_number(s, flops, 2);
        sl_str_add(s, " FLOPs in all");
    }
    sl_str_add(s, "</small>");
    close_key(s);
}

static void key_best(sl_str *s, const sl_report__view *v, const char *name, sl_laws_metric m) {
    double best = NAN;
    int at = 0;
    for (int i = 0; i < v->l->n_point; i++) {
        const double y = sl_report__metric_at(&v->l->point[i], m);
        if (!isfinite(y) || (m == SL_LAWS_LOSS ? y >= best : y <= best)) continue;
        best = y;
        at = i;
    }
    if (isnan(best)) return;
    open_key(s, name);
    sl_report__like(s, best, best, 3);
    sl_str_add(s, m == SL_LAWS_LOSS ? "" : " %");
    const sl_interval w = sl_report__interval(v, &v->l->point[at], m);
    add_interval(s, (sl_estimate){ best, w.lo, w.hi }, 3);
    close_key(s);
}

void sl_report__keys(sl_str *s, const sl_report__view *v) {
    const sl_laws *l = v->l;
    sl_str_add(s, "<dl class=\"keys wide\">\n");
    key_law(s, "exponent of loss", &l->law[SL_LAWS_LOSS][SL_LAWS_POWER], true);
    key_law(s, "exponent of 1 − solved", &l->law[SL_LAWS_SOLVED][SL_LAWS_POWER], true);
    key_law(s, "exponent of 1 − R² rate", &l->law[SL_LAWS_R2][SL_LAWS_POWER], true);
    key_target(s, v);
    if (l->ratio.known)
        key_estimate(s, "best tokens per parameter", sl_laws_at(&l->ratio, l->ratio.x_max), 2);
    key_best(s, v, "best validation loss", SL_LAWS_LOSS);
    key_best(s, v, "best solved rate", SL_LAWS_SOLVED);
    key_runs(s, v);
    sl_str_add(s, "</dl>\n");
}

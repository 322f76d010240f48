/* laws_table - the result of `symlaw laws` for people: the answer first, then the laws. */
#include <math.h>

#include "report/report_impl.h"

static const char *estimate_text(char buffer[96], const char *format, sl_estimate e) {
    char v[32], low[32], high[32];
    // the formats are those of this folder: one number each
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    sl_snprintf(v, sizeof v, format, e.value);
    sl_snprintf(low, sizeof low, format, e.low);
    sl_snprintf(high, sizeof high, format, e.high);
#pragma GCC diagnostic pop
    if (isnan(e.value))
        sl_snprintf(buffer, 96, "not known");
    else if (isnan(e.low))
        sl_snprintf(buffer, 96, "%s (no interval)", v);
    else
        sl_snprintf(buffer, 96, "%s (%s to %s)", v, low, high);
    return buffer;
}

static const char *far_text(char buffer[48], double factor) {
    buffer[0] = '\0';
    if (factor > SL_LAWS_FAR) sl_snprintf(buffer, 48, "  EXTRAPOLATION x%.3g", factor);
    return buffer;
}

/* ---------------------------------------------------------------- the answer ---------------- */

static bool is_curved(const sl_law *law) {
    return law->curvature.low > 0 || law->curvature.high < 0;
}

static void add_forecast(sl_str *s, const sl_laws *l, const sl_laws_forecast *f, bool run) {
    char a[96], b[96], far[48];
    sl_str_addf(s, "%s %.4g%s: ", run ? "at N and D, FLOPs" : "with FLOPs", f->flops,
                far_text(far, f->factor));
    sl_str_addf(s, "loss %s", estimate_text(a, "%.4g", f->loss));
    if (!run && l->surface.known && is_curved(&l->law[SL_LAWS_LOSS][SL_LAWS_POWER]))
        sl_str_addf(s, " by the power law, though the points are curved, and %s by the surface",
                    estimate_text(b, "%.4g", f->surface.loss));
    if (l->law[SL_LAWS_SOLVED][SL_LAWS_POWER].known)
        sl_str_addf(s, ", solved %s", estimate_text(b, "%.3f", f->solved));
    sl_str_add(s, "\n\n");
    sl_str_add(s, run ? "the run\n" : "the budget\n");
    sl_report_line(s, "N", "%s%s", estimate_text(a, "%.4g", f->params),
                   run ? ", given" : ", by the frontier fit");
    sl_report_line(s, "D", "%s%s", estimate_text(a, "%.4g", f->tokens),
                   run ? ", given" : ", by the frontier fit");
    if (l->surface.known) {
        sl_report_line(s, "best N", "%s, by the surface",
                       estimate_text(a, "%.4g", f->surface.params));
        sl_report_line(s, "best D", "%s, by the surface",
                       estimate_text(a, "%.4g", f->surface.tokens));
        sl_report_line(s, "best loss", "%s, by the surface",
                       estimate_text(a, "%.4g", f->surface.loss));
    }
    sl_report_line(s, "loss", "%s, by the %s", estimate_text(a, "%.4g", f->loss),
                   run ? "surface at N and D"
                   : is_curved(&l->law[SL_LAWS_LOSS][SL_LAWS_POWER])
                       ? "frontier's power law, though the points are curved"
                       : "frontier's power law");
    if (l->law[SL_LAWS_SOLVED][SL_LAWS_POWER].known)
        sl_report_line(s, "solved", "%s%s", estimate_text(a, "%.3f", f->solved),
                       run ? ", if N and D were the best for this compute" : "");
    if (l->law[SL_LAWS_R2][SL_LAWS_POWER].known)
        sl_report_line(s, "R2 > 0.99", "%s%s", estimate_text(a, "%.3f", f->r2),
                       run ? ", if N and D were the best for this compute" : "");
    sl_str_add(s, "\n");
}

static void add_compare(sl_str *s, const sl_report_question *q) {
    char a[96];
    const sl_laws_multiplier *m = q->multiplier;
    sl_str_addf(s, "for loss %.4g %s needs %s times the compute\n", m[1].loss,
                q->other->table->source, estimate_text(a, "%.3g", m[1].factor));
    for (int i = 0; i < SL_LAWS_MULTIPLIERS; i++)
        sl_report_line(s, "multiplier", "%s at loss %.4g%s", estimate_text(a, "%.3g", m[i].factor),
                       m[i].loss,
                       m[i].inside ? "" : ", which only one of them reaches: EXTRAPOLATION");
    sl_str_add(s, "\n");
}

/* A table without accuracies. Losses of language models have a floor: then its law is the one to
 * read. */
static void add_loss(sl_str *s, const sl_laws *l) {
    char a[96], b[96];
    const sl_law *loss = &l->law[SL_LAWS_LOSS][SL_LAWS_POWER];
    const sl_law *floor = &l->law[SL_LAWS_LOSS][SL_LAWS_FLOOR];
    sl_str_addf(s, "loss falls as C^-b with b = %s%s\n", estimate_text(a, "%.4f", loss->exponent),
                is_curved(loss) ? ", though the points are curved" : "");
    if (floor->known && floor->floor.low > 0)
        sl_str_addf(s, "above a floor of %s it falls with b = %s\n",
                    estimate_text(a, "%.4g", floor->floor),
                    estimate_text(b, "%.4f", floor->exponent));
}

static void add_target(sl_str *s, const sl_laws *l) {
    char a[96], far[48];
    const sl_law *solved = &l->law[SL_LAWS_SOLVED][SL_LAWS_POWER];
    const sl_law *loss = &l->law[SL_LAWS_LOSS][SL_LAWS_POWER];
    const sl_estimate c = l->target_flops[SL_LAWS_POWER];
    if (solved->known)
        sl_str_addf(s, "%g solved needs %s FLOPs%s\n", l->options.target,
                    estimate_text(a, "%.3g", c), far_text(far, c.value / l->c_top));
    else if (loss->known)
        add_loss(s, l);
    else if (l->n_optimum > 0)
        sl_str_addf(s, "best batch size and learning rate of %d sizes\n", l->n_optimum);
    else
        sl_str_add(s, "no law can be fitted to this table; the notes say why\n");
}

/* ---------------------------------------------------------------- laws ---------------------- */

static void add_law(sl_str *s, const sl_laws *l, sl_laws_metric m, sl_laws_form f) {
    char a[96], far[48];
    const sl_law *law = &l->law[m][f];
    static const char *const name[] = { "loss", "1 - solved", "1 - R2" };
    if (!law->known) return;
    sl_str_addf(s, "  %-10s  %-8s  %-28s  %6.4f  %3d", name[m], sl_laws_form_name(f),
                estimate_text(a, "%.4f", law->exponent), law->r2, law->n);
    if (f == SL_LAWS_FLOOR) sl_str_addf(s, "  floor %s", estimate_text(a, "%.4g", law->floor));
    if (f == SL_LAWS_BINOMIAL) sl_str_addf(s, "  dispersion %.3g", law->dispersion);
    sl_str_add(s, "\n");
    if (m != SL_LAWS_SOLVED) return;
    const sl_estimate c = l->target_flops[f];
    sl_str_addf(s, "  %-10s  %-8s  %g solved: %s FLOPs%s\n", "", "", l->options.target,
                estimate_text(a, "%.3g", c), far_text(far, c.value / l->c_top));
}

static void add_laws(sl_str *s, const sl_laws *l) {
    bool any = false;
    for (int m = 0; m < SL_LAWS_METRIC_COUNT; m++) any |= l->law[m][SL_LAWS_POWER].known;
    if (!any) return;
    int runs = 0; // of the table: some are not finished, or of a sweep
    for (int i = 0; i < l->n_point; i++) runs += l->point[i].n;
    sl_str_addf(s, "\nlaws of %d points%s of %d configurations (%d runs), %g %% intervals\n",
                l->n_frontier, l->options.bins == SL_LAWS_BINS_NONE ? ", all" : " on the frontier",
                l->n_point, runs, 100 * l->options.level);
    sl_str_addf(s, "  %-10s  %-8s  %-28s  %-6s  %3s\n", "y", "form", "exponent b of y = c C^-b",
                "R2", "n");
    for (int m = 0; m < SL_LAWS_METRIC_COUNT; m++)
        for (int f = 0; f < SL_LAWS_FORM_COUNT; f++)
            add_law(s, l, (sl_laws_metric)m, (sl_laws_form)f);
}

static void add_optimal(sl_str *s, const sl_laws *l) {
    char a[96], b[96], c[96];
    if (!l->params.known) return;
    sl_str_add(s, "\nbest N and D on the frontier\n");
    sl_report_line(s, "N*", "C^%s, R2 %.3f", estimate_text(a, "%.3f", l->params.exponent),
                   l->params.r2);
    if (!l->tokens.known) return;
    sl_report_line(s, "D*", "C^%s, R2 %.3f", estimate_text(a, "%.3f", l->tokens.exponent),
                   l->tokens.r2);
    for (double x = sl_exp(sl_log(10) * ceil(log10(l->params.x_min) - 1e-9));
         x <= l->params.x_max * SL_LAWS_FAR; x *= 10)
        sl_str_addf(s, "  C %.0e  N* %s  D* %s  D*/N* %s%s\n", x,
                    estimate_text(a, "%.3g", sl_laws_at(&l->params, x)),
                    estimate_text(b, "%.3g", sl_laws_at(&l->tokens, x)),
                    estimate_text(c, "%.3g", sl_laws_at(&l->ratio, x)),
                    x > l->c_top ? "  extrapolated" : "");
}

static void add_sweep(sl_str *s, const sl_laws *l) {
    char a[96], b[96];
    if (l->n_optimum == 0) return;
    sl_str_add(s, "\nbest batch size and learning rate\n");
    for (int i = 0; i < l->n_optimum; i++) {
        const sl_laws_optimum *o = &l->optimum[i];
        sl_str_addf(s, "  %-10s  batch %s%s  rate %s%s%s\n", l->size[o->size].name,
                    estimate_text(a, "%.3g", o->batch), o->batch_on_edge ? " at edge" : "",
                    estimate_text(b, "%.3g", o->rate), o->rate_on_edge ? " at edge" : "",
                    o->chosen ? "  given, not swept" : "");
    }
    if (l->batch.known)
        sl_report_line(s, "batch*", "N^%s", estimate_text(a, "%.3f", l->batch.exponent));
    if (l->rate.known)
        sl_report_line(s, "rate*", "N^%s", estimate_text(a, "%.3f", l->rate.exponent));
}

static void add_surface(sl_str *s, const char *name, const sl_laws_surface *f) {
    char a[96];
    if (!f->known) return;
    sl_str_addf(s, "  %s: rms %.4g, R2 %.4f, %d points\n", name, f->rms, f->r2, f->n);
    sl_report_line(s, "E", "%s", estimate_text(a, "%.5g", f->E));
    sl_report_line(s, "A", "%s", estimate_text(a, "%.5g", f->A));
    sl_report_line(s, "B", "%s", estimate_text(a, "%.5g", f->B));
    sl_report_line(s, "alpha", "%s", estimate_text(a, "%.4f", f->alpha));
    sl_report_line(s, "beta", "%s", estimate_text(a, "%.4f", f->beta));
    sl_report_line(s, "N*", "C^%s", estimate_text(a, "%.3f", f->n_exponent));
}

static void add_surfaces(sl_str *s, const sl_laws *l) {
    if (!l->surface.known) return;
    sl_str_add(s, "\nsurface L = E + A/(N/1e6)^alpha + B/(D/1e9)^beta\n");
    add_surface(s, "squared loss", &l->surface);
    add_surface(s, "Huber loss", &l->surface_huber);
}

static void add_isoflop(sl_str *s, const sl_laws *l) {
    char a[96];
    if (l->n_isoflop == 0) return;
    sl_str_add(s, "\niso-FLOP minima (parabolas, biased)\n");
    for (int i = 0; i < l->n_isoflop; i++) {
        const sl_laws_isoflop *f = &l->isoflop[i];
        sl_str_addf(s, "  C %.3g  %d sizes  N* %s%s\n", f->flops, f->n_size,
                    estimate_text(a, "%.3g", f->params), f->on_edge ? "  outside the sizes" : "");
    }
    if (l->isoflop_params.known)
        sl_report_line(s, "N*", "C^%s", estimate_text(a, "%.3f", l->isoflop_params.exponent));
}

/* ---------------------------------------------------------------- leave-out tests ----------- */

static void add_score(sl_str *s, const sl_laws *l, const sl_laws_score *c) {
    sl_str_addf(s, "  %-16s  %-7s  %-8s  %3d  %6.1f %%",
                c->split < 0 ? "all" : l->split[c->split].name, sl_laws_metric_name(c->metric),
                sl_laws_form_name(c->form), c->n, 100 * c->rms);
    if (isnan(c->inside))
        sl_str_add(s, "       -");
    else
        sl_str_addf(s, "  %4.0f %%", 100 * c->inside);
    sl_str_add(s, c->best ? "  best\n" : "\n");
}

/* The farthest point that was predicted, by each form. */
static void add_farthest(sl_str *s, const sl_laws *l, int split) {
    char a[96];
    int far = -1;
    for (int i = 0; i < l->n_prediction; i++) {
        const sl_laws_prediction *p = &l->prediction[i];
        if (p->split == split && (far < 0 || p->factor > l->prediction[far].factor)) far = i;
    }
    if (far < 0) return;
    const sl_laws_prediction *f = &l->prediction[far];
    sl_str_addf(s, "\nwithout the %s: predictions for %.3g FLOPs, %.3g times the largest fitted\n",
                l->split[split].name, l->point[f->point].flops, f->factor);
    for (int i = 0; i < l->n_prediction; i++) {
        const sl_laws_prediction *p = &l->prediction[i];
        if (p->split != split || p->point != f->point) continue;
        sl_str_addf(s, "  %-7s  %-8s  %-28s  measured %.4f  error %+.1f %%\n",
                    sl_laws_metric_name(p->metric), sl_laws_form_name(p->form),
                    estimate_text(a, "%.4f", p->predicted), p->measured, 100 * p->error);
    }
}

static void add_tests(sl_str *s, const sl_laws *l) {
    if (l->n_split == 0) return;
    sl_str_add(s, "\nleave-out test: errors of y on frontier runs that were left out of the fit\n");
    sl_str_addf(s, "  %-16s  %-7s  %-8s  %3s  %8s  %6s\n", "left out", "y", "form", "n", "rms",
                "inside");
    for (int i = 0; i < l->n_score; i++) add_score(s, l, &l->score[i]);
    add_farthest(s, l, 0);
}

void sl_report_laws_table(sl_str *s, const sl_laws *l, const sl_report_question *q) {
    if (!isnan(q->params)) {
        const sl_laws_forecast f = sl_laws_forecast_run(l, q->params, q->tokens);
        add_forecast(s, l, &f, true);
    }
    if (!isnan(q->budget)) {
        const sl_laws_forecast f = sl_laws_forecast_budget(l, q->budget);
        add_forecast(s, l, &f, false);
    }
    if (q->other) add_compare(s, q);
    add_target(s, l);
    add_laws(s, l);
    add_optimal(s, l);
    add_sweep(s, l);
    add_surfaces(s, l);
    add_isoflop(s, l);
    add_tests(s, l);
    if (l->n_note > 0) sl_str_add(s, "\nnotes\n");
    for (int i = 0; i < l->n_note; i++) sl_str_addf(s, "  %s\n", l->note[i].text);
}

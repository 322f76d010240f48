/* fit_table - a fit for people: rounded to the digits that the data support. */
#include <math.h>
#include <string.h>

#include "num/num.h"
#include "report/fit_impl.h"

enum { FEW = 6, MANY = 15 }; // digits of a constant without an error, and beside one

typedef struct page {
    const sl_report_fit *r;
    sl_discovery discovery; // the formulas as candidates
    sl_rounding rounding;
    sl_arena arena;
} page;

static sl_status add_target(sl_str *s, const page *p) {
    return sl_report__add_variable(s, 1, &(sl_names){ &p->r->base.target, 1 });
}

/* The formula with rounded constants. */
static sl_status add_fitted(sl_str *s, page *p, const sl_candidate *c) {
    const size_t mark = sl_arena_mark(&p->arena);
    sl_candidate shown;
    SL_TRY(sl_discover_candidate_round(&shown, &p->arena, c, &p->rounding));
    SL_TRY(sl_discover_candidate_print(s, &shown, SL_FORMAT_INFIX, &p->r->base.names));
    sl_arena_rewind(&p->arena, mark);
    return SL_OK;
}

/* "2.501 +- 0.012" */
static void add_value(sl_str *s, const sl_curve *c, int k) {
    const sl_candidate digits = { .value = c->fit.value, .error = c->fit.error };
    const double error = c->fit.error[k];
    if (isfinite(error) && error > 0)
        sl_str_addf(s, "%.*g +- %.2g", sl_discover_candidate_digits(&digits, k, MANY),
                    c->fit.value[k], error);
    else
        sl_str_addf(s, "%.*g", FEW, c->fit.value[k] + 0.0); // not -0
}

static const char *state_of(const sl_curve *c, int k) {
    return c->idle[k]        ? "  without influence"
           : c->tied[k]      ? "  not determined"
           : c->bound[k] < 0 ? "  at its lower bound"
           : c->bound[k] > 0 ? "  at its upper bound"
                             : "";
}

/* ---------------------------------------------------------------- the first formula --------- */

static sl_status add_constants(sl_str *s, page *p) {
    const sl_report_formula *f = &p->r->formula[0];
    sl_fit_dimensions d = { .homogeneous = false };
    if (p->r->base.units) SL_TRY(sl_fit_units(&d, &p->arena, f->curve.fit.expr, p->r->base.units));
    for (int k = 0; k < f->curve.fit.params; k++) {
        sl_str_addf(s, "  %-13s %s = ", k == 0 ? "constants" : "", f->constant[k]);
        add_value(s, &f->curve, k);
        if (d.homogeneous && !sl_data_dimension_equal(d.constant[k], (sl_dimension){ { 0 } })) {
            sl_str_add_char(s, ' ');
            sl_data_dimension_print(s, d.constant[k]);
        }
        sl_str_addf(s, "%s\n", state_of(&f->curve, k));
    }
    return SL_OK;
}

/* Pairs of constants whose correlation says something, the strongest first. */
static void add_correlations(sl_str *s, const sl_report_formula *f) {
    enum { SHOWN = 10 };
    const int n = f->curve.fit.params;
    double below = INFINITY;
    int line = 0, last_j = -1, last_k = -1;
    for (; line < SHOWN; line++) {
        double best = 0;
        int at_j = -1, at_k = -1;
        for (int j = 0; j < n; j++)
            for (int k = j + 1; k < n; k++) {
                const double c = fabs(f->curve.correlation[j * n + k]);
                const bool later =
                    c < below || (c == below && (j > last_j || (j == last_j && k > last_k)));
                if (!(c > best) || !later) continue;
                best = c;
                at_j = j;
                at_k = k;
            }
        if (at_j < 0 || best < 0.05) break;
        below = best;
        last_j = at_j;
        last_k = at_k;
        sl_str_addf(s, "%s%s, %s: %.3f", line == 0 ? "" : "; ", f->constant[at_j],
                    f->constant[at_k], f->curve.correlation[at_j * n + at_k]);
    }
}

static void add_figures(sl_str *s, const sl_report_fit *r, const sl_curve *c) {
    const double degrees = (double)(r->base.data->rows - c->fit.params);
    sl_report_line(s, "error", "%.3g rms", c->rms);
    if (c->fit.r2 > 0.9999 && c->fit.r2 < 1)
        sl_report_line(s, "1 - R2", "%.1e", 1 - c->fit.r2);
    else
        sl_report_line(s, "R2", "%.6g", c->fit.r2);
    if (isfinite(c->chi2) && degrees > 0)
        sl_report_line(s, "chi-square", "%.4g for %.0f degrees of freedom, p = %.2g", c->chi2,
                       degrees, sl_num_chi2_tail(c->chi2, degrees));
    sl_report_line(s, "criteria", "%.1f bits, AIC %.2f, BIC %.2f", c->bits.total, c->aic, c->bic);
}

static sl_status add_first(sl_str *s, page *p) {
    const sl_report_fit *r = p->r;
    const sl_report_formula *f = &r->formula[0];
    SL_TRY(add_target(s, p));
    sl_str_add(s, " = ");
    if (isnan(f->curve.fit.r2)) {
        sl_str_addf(s, "%s: no fit\n\n", f->text ? f->text : "");
        return SL_OK;
    }
    SL_TRY(add_fitted(s, p, &p->discovery.candidate[0]));
    sl_str_add(s, "\n\n");
    if (f->text) sl_report_line(s, "formula", "%s", f->text);
    add_figures(s, r, &f->curve);
    SL_TRY(add_constants(s, p));
    if (f->curve.fit.params > 1) {
        sl_str correlations = { 0 };
        add_correlations(&correlations, f);
        if (correlations.len > 0)
            sl_report_line(s, "correlations", "%s", sl_str_text(&correlations));
        const sl_status st = sl_str_status(&correlations);
        sl_str_clear(&correlations);
        SL_TRY(st);
    }
    const bool known = isfinite(f->curve.chi2);
    sl_report_line(s, "std errors", "%s",
                   known ? "by the given sigma (absolute)" : "scaled by the residuals");
    return SL_OK;
}

/* ---------------------------------------------------------------- several ------------------- */

static sl_status add_comparison(sl_str *s, page *p) {
    const sl_report_fit *r = p->r;
    int at = 0;
    if (r->n < 2) return SL_OK;
    sl_str_add(s, "\n  rank      bits       AIC       BIC  R2         error      constants  "
                  "formula\n");
    for (int i = 0; i < r->n; i++) {
        const sl_report_formula *f = &r->formula[i];
        const sl_curve *c = &f->curve;
        if (isnan(c->fit.r2)) {
            sl_str_addf(s, "  %4s  not defined in every row: %s\n", "-", f->text ? f->text : "");
            continue;
        }
        sl_str_addf(s, "  %4d  %8.1f  %8.2f  %8.2f  %-9.6f  %-9.3g  %9d  ", i + 1, c->bits.total,
                    c->aic, c->bic, c->fit.r2, c->rms, c->fit.params);
        SL_TRY(add_fitted(s, p, &p->discovery.candidate[at++]));
        if (f->text) sl_str_addf(s, "    (%s)", f->text);
        if (!f->text) sl_str_add(s, "    (discovered)");
        if (!c->converged) sl_str_add(s, ", not converged");
        sl_str_add_char(s, '\n');
    }
    return SL_OK;
}

/* ---------------------------------------------------------------- groups -------------------- */

static void add_group(sl_str *s, const sl_report_group *g, const char *const *constant) {
    sl_str_addf(s, "  %-16s  %6lld  ", g->name, (long long)g->rows);
    if (!g->fitted) {
        sl_str_add(s, "fewer rows than constants\n");
        return;
    }
    if (isnan(g->curve.fit.r2)) {
        sl_str_add(s, "no fit\n");
        return;
    }
    sl_str_addf(s, "%-9.6f  %-9.3g  ", g->curve.fit.r2, g->curve.rms);
    for (int k = 0; k < g->curve.fit.params; k++) {
        sl_str_addf(s, "%s%s = ", k == 0 ? "" : ", ", constant[k]);
        add_value(s, &g->curve, k);
        sl_str_add(s, state_of(&g->curve, k));
    }
    if (!g->curve.converged) sl_str_add(s, ", not converged");
    sl_str_add_char(s, '\n');
}

static void add_groups(sl_str *s, const sl_report_fit *r) {
    const sl_report_group_test *t = &r->test;
    if (!r->group) return;
    sl_str_addf(s, "\n  %-16.40s    rows  R2         error      constants\n", r->group_column);
    for (int g = 0; g < r->n_groups; g++) add_group(s, &r->group[g], r->group_constant);
    if (isnan(t->p)) {
        sl_report_line(s, "differences", "no test: %s",
                       r->n_groups < 2 ? "there is one group" : "a group has no fit of its own");
        return;
    }
    if (isfinite(t->f))
        sl_report_line(s, "differences", "F = %.4g (%.0f, %.0f), p = %.2g: constants %s", t->f,
                       t->degrees, t->remaining, t->p,
                       t->p < 0.01 ? "differ between groups" : "may be common to all groups");
    else
        sl_report_line(s, "differences", "chi-square %.4g (%.0f), p = %.2g: constants %s", t->chi2,
                       t->degrees, t->p,
                       t->p < 0.01 ? "differ between groups" : "may be common to all groups");
    sl_report_line(s, "bits", "%.1f with common constants, %.1f with those of each group",
                   t->bits_common, t->bits_separate);
}

/* ---------------------------------------------------------------- all of it ----------------- */

static void add_sentence(void *s, const char *sentence) {
    sl_report_line(s, "note", "%s", sentence);
}

static sl_status add_work(sl_str *s, const page *p) {
    const sl_report_discovery *b = &p->r->base;
    const sl_table *t = b->table;
    char digits[32];
    sl_str_add_char(s, '\n');
    SL_TRY(sl_report_fit_notes(p->r, add_sentence, s));
    sl_str_addf(s, "  %-13s ", "columns");
    SL_TRY(add_target(s, p));
    for (int v = 1; v <= b->names.count; v++) {
        sl_str_add(s, v == 1 ? " by " : ", ");
        SL_TRY(sl_report__add_variable(s, v, &b->names));
    }
    sl_str_add_char(s, '\n');
    sl_str_addf(s, "  %-13s %s", "rows", sl_group_digits(digits, t->data.rows));
    if (t->missing > 0)
        sl_str_addf(s, "; %s dropped, because a cell is missing",
                    sl_group_digits(digits, t->missing));
    if (t->infinite > 0)
        sl_str_addf(s, "; %s dropped, because a cell is infinite",
                    sl_group_digits(digits, t->infinite));
    if (t->weightless > 0)
        sl_str_addf(s, "; %s of weight 0 dropped", sl_group_digits(digits, t->weightless));
    sl_str_add_char(s, '\n');
    for (int i = 0; i < t->n_notes; i++) sl_report_line(s, "read", "%s", t->notes[i]);
    if (b->units) SL_TRY(sl_report__add_units(s, b->units, &b->names, b->target));
    return SL_OK;
}

static sl_status add_all(sl_str *s, page *p) {
    SL_TRY(sl_report__fit_discovery(&p->discovery, &p->arena, p->r));
    SL_TRY(sl_discover_rounding_make(&p->rounding, &p->arena, p->r->base.data, &p->discovery));
    SL_TRY(add_first(s, p));
    SL_TRY(add_comparison(s, p));
    add_groups(s, p->r);
    return add_work(s, p);
}

sl_status sl_report_fit_table(sl_str *s, const sl_report_fit *r) {
    page p = { .r = r };
    const sl_status st = add_all(s, &p);
    sl_arena_clear(&p.arena);
    return st;
}

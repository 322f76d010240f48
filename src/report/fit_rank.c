/* fit_rank - formulas in order, groups tested, and what has to be said of a fit. */
#include <math.h>
#include <stdlib.h>

#include "num/num.h"
#include "report/fit_impl.h"

/* ---------------------------------------------------------------- order --------------------- */

static double criterion(const sl_report_formula *f, int rank) {
    const sl_curve *c = &f->curve;
    if (isnan(c->fit.r2)) return INFINITY;
    const double v = rank == SL_REPORT_RANK_AIC   ? c->aic
                     : rank == SL_REPORT_RANK_BIC ? c->bic
                                                  : c->bits.total;
    return isnan(v) ? INFINITY : v;
}

void sl_report_fit_rank(sl_report_fit *r) {
    for (int i = 1; i < r->n; i++) // few, and equal ones keep their order
        for (int k = i; k > 0; k--) {
            if (!(criterion(&r->formula[k], r->rank) < criterion(&r->formula[k - 1], r->rank)))
                break;
            const sl_report_formula f = r->formula[k];
            r->formula[k] = r->formula[k - 1];
            r->formula[k - 1] = f;
        }
}

/* ---------------------------------------------------------------- groups -------------------- */

void sl_report_fit_test(sl_report_group_test *out, const sl_report_fit *r) {
    const sl_curve *common = &r->formula[0].curve;
    const double k = common->fit.params;
    double sse = 0, rows = 0;
    *out = (sl_report_group_test){ .f = NAN, .chi2 = NAN, .p = NAN };
    out->bits_common = common->bits.total;
    out->bits_separate = common->bits.structure + common->bits.numbers;
    for (int g = 0; g < r->n_groups; g++) {
        const sl_report_group *group = &r->group[g];
        const bool good = group->fitted && !isnan(group->curve.fit.r2);
        sse += good ? group->curve.sse : NAN;
        rows += (double)group->rows;
        out->bits_separate += good ? group->curve.bits.constants + group->curve.bits.data : NAN;
    }
    out->degrees = k * (r->n_groups - 1);
    out->remaining = rows - k * r->n_groups;
    const double less = common->sse - sse;
    if (isnan(less) || out->degrees <= 0) return;
    if (isfinite(common->chi2)) {
        const double sigma = r->base.data->sigma ? 1 : r->sigma;
        out->chi2 = less / (sigma * sigma);
        out->p = sl_num_chi2_tail(out->chi2, out->degrees);
    } else if (out->remaining > 0) {
        out->f = less / out->degrees / (sse / out->remaining);
        out->p = sl_num_f_tail(out->f, out->degrees, out->remaining);
    }
}

/* ---------------------------------------------------------------- sentences ----------------- */

/* "a, b and c" of the constants that are marked; how many. */
static int list_constants(sl_str *s, const sl_report_formula *f, const bool *mark) {
    int n = 0, left = 0;
    for (int k = 0; k < f->curve.fit.params; k++) left += mark[k];
    for (int k = 0; k < f->curve.fit.params; k++) {
        if (!mark[k]) continue;
        left--;
        sl_str_addf(s, "%s%s", n == 0 ? "" : left == 0 ? " and " : ", ", f->constant[k]);
        n++;
    }
    return n;
}

static sl_status say_determined(const sl_report_formula *f, sl_report_sentence say, void *payload) {
    sl_str s = { 0 };
    int n = list_constants(&s, f, f->curve.idle);
    if (n > 0) {
        sl_str_addf(&s, " %s no influence on the formula's values, so the data do not determine %s",
                    n == 1 ? "has" : "have", n == 1 ? "it" : "them");
        say(payload, sl_str_text(&s));
        sl_str_truncate(&s, 0);
    }
    n = list_constants(&s, f, f->curve.tied);
    if (n > 0) {
        sl_str_addf(&s, n == 1 ? " is not determined: others make up for any value of it"
                               : " are not determined each for itself: a change of one is made up "
                                 "for by the others; merge them, or hold one by --bounds");
        say(payload, sl_str_text(&s));
        sl_str_truncate(&s, 0);
    }
    bool at_bound[SL_FIT_MAX_PARAMS] = { false };
    for (int k = 0; k < f->curve.fit.params; k++) at_bound[k] = f->curve.bound[k] != 0;
    n = list_constants(&s, f, at_bound);
    if (n > 0) {
        sl_str_addf(&s, " %s at a bound; standard errors are as if there were none",
                    n == 1 ? "is" : "are");
        say(payload, sl_str_text(&s));
    }
    const sl_status st = sl_str_status(&s);
    sl_str_clear(&s);
    return st;
}

sl_status sl_report_fit_notes(const sl_report_fit *r, sl_report_sentence say, void *payload) {
    const sl_report_formula *f = &r->formula[0];
    if (r->cut == SL_CUT_TIME) say(payload, "the time limit was reached; this is the best so far");
    if (r->cut == SL_CUT_CANCEL) say(payload, "stopped on request; this is the best so far");
    if (isnan(f->curve.fit.r2)) {
        say(payload, "no constants were found for which the formula is defined in every row; "
                     "--start gives values to begin with");
        return SL_OK;
    }
    if (!f->curve.converged && r->cut == SL_CUT_NONE)
        say(payload, "the fit has not converged: the sum of squares still falls; the formula may "
                     "have more constants than the data can determine, or need start values "
                     "(--start)");
    if (r->base.data->rows == f->curve.fit.params && f->curve.fit.params > 0)
        say(payload, "there are as many constants as rows: the fit is exact and says nothing of "
                     "the errors");
    return say_determined(f, say, payload);
}

/* ---------------------------------------------------------------- as candidates ------------- */

sl_status sl_report__fit_discovery(sl_discovery *out, sl_arena *a, const sl_report_fit *r) {
    *out = (sl_discovery){ .within_noise = true, .rows_fit = r->base.data->rows };
    out->candidate = sl_arena_alloc(a, (size_t)(r->n + 1) * sizeof *out->candidate);
    if (!out->candidate) return sl_fail_memory((size_t)r->n, sizeof *out->candidate, "formulas");
    for (int i = 0; i < r->n; i++) {
        const sl_report_formula *f = &r->formula[i];
        const sl_curve *c = &f->curve;
        if (isnan(c->fit.r2)) continue;
        out->candidate[out->count++] =
            (sl_candidate){ .state = SL_CANDIDATE_REFINED,
                            .source = f->text ? SL_SOURCE_GIVEN : SL_SOURCE_SEARCH,
                            .same_as = -1,
                            .times = 1,
                            .log_prob = -INFINITY,
                            .expr = c->fit.expr,
                            .params = c->fit.params,
                            .value = c->fit.value,
                            .error = c->fit.error,
                            .size = sl_expr_nodes(c->fit.expr),
                            .r2 = c->fit.r2,
                            .r2_proposed = NAN,
                            .r2_holdout = NAN,
                            .rms = c->rms,
                            .bits = c->bits,
                            .evidence = NAN };
    }
    out->ranked = out->cost.refined = out->count;
    return SL_OK;
}

sl_status sl_report_fit_picture(sl_str *s, const sl_report_fit *r, bool html) {
    sl_report_discovery shown = r->base;
    sl_discovery d;
    sl_arena a = { 0 };
    sl_status st;
    SL_GO(sl_report__fit_discovery(&d, &a, r));
    shown.discovery = &d;
    shown.top = d.count;
    st = sl_report_discovery_picture(s, &shown, html);
done:
    sl_arena_clear(&a);
    return st;
}

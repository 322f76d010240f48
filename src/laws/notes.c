/* notes - text on what is switched off and why, optima at an edge, curvature, extrapolation. */
#include <math.h>
#include <string.h>

#include "laws/laws_impl.h"

/* SL_TRY of a note. */
#define NOTE(kind, ...) SL_TRY(sl_laws__note(l, a, SL_LAWS_NOTE_##kind, __VA_ARGS__))

static sl_status switched_off(sl_laws *l, sl_arena *a) {
    const bool *has = l->table->has;
    if (l->n_point == 0) {
        NOTE(OFF, "No laws against compute: no finished run has FLOPs, or parameters and tokens to "
                  "derive them from.");
        return SL_OK;
    }
    if (!has[SL_LAWS_COLUMN_loss])
        NOTE(OFF,
             "No laws of the loss and no surface: there is no column of losses. The frontier is "
             "that of the %s rate.",
             has[SL_LAWS_COLUMN_solved] ? "solved" : "R2");
    else if (!l->law[SL_LAWS_LOSS][SL_LAWS_POWER].known)
        NOTE(OFF, "No laws: the frontier has %d point%s, and a law needs three.", l->n_frontier,
             l->n_frontier == 1 ? "" : "s");
    if (!has[SL_LAWS_COLUMN_solved])
        NOTE(OFF, "No law of the solved rate: there is no column for it.");
    if (!has[SL_LAWS_COLUMN_r2]) NOTE(OFF, "No law of the R2 rate: there is no column for it.");
    if ((has[SL_LAWS_COLUMN_solved] || has[SL_LAWS_COLUMN_r2]) && !has[SL_LAWS_COLUMN_trials] &&
        !(l->options.trials > 0))
        NOTE(OFF, "No binomial likelihood: the table gives shares without the number of problems "
                  "(--trials).");
    if (!has[SL_LAWS_COLUMN_params])
        NOTE(OFF, "No best N and D and no surface: there is no column of parameters.");
    else if (!has[SL_LAWS_COLUMN_tokens])
        NOTE(OFF, "No best D and no surface: there is no column of tokens or ratios.");
    else if (has[SL_LAWS_COLUMN_loss] && !l->surface.known)
        NOTE(OFF, "No surface L(N, D): it needs six runs in which N and D vary, each on its own, "
                  "and losses that fall with both.");
    if (l->n_isoflop == 0 && has[SL_LAWS_COLUMN_params])
        NOTE(OFF, "No iso-FLOP minima: no three sizes have runs of equal compute (within 10 %%).");
    if (l->n_split == 0) NOTE(OFF, "No leave-out test: too few runs are left without the largest.");
    return SL_OK;
}

static sl_status about_sweep(sl_laws *l, sl_arena *a) {
    int chosen = 0, edges = 0;
    sl_str s = { 0 };
    if (l->n_optimum == 0) {
        NOTE(OFF, "No best batch size and learning rate: the table has no runs with both, beside "
                  "parameters and loss.");
        return SL_OK;
    }
    for (int i = 0; i < l->n_optimum; i++) {
        const sl_laws_optimum *o = &l->optimum[i];
        const bool edge = o->batch_on_edge || o->rate_on_edge;
        chosen += o->chosen;
        if (!edge) continue;
        sl_str_addf(&s, "%s%s (%s)", edges++ ? ", " : "", l->size[o->size].name,
                    !o->rate_on_edge    ? "batch size"
                    : !o->batch_on_edge ? "learning rate"
                                        : "both");
    }
    sl_status st = sl_str_status(&s);
    if (st == SL_OK && edges > 0)
        st = sl_laws__note(l, a, SL_LAWS_NOTE_EDGE,
                           "Best batch size or learning rate at the edge of what was tried: %s. "
                           "Extend the sweep there.",
                           s.text);
    sl_str_clear(&s);
    SL_TRY(st);
    if (chosen > 0)
        NOTE(DATA,
             "%d of %d sizes have one batch size and one learning rate: those are taken as the "
             "best, nothing was searched.",
             chosen, l->n_optimum);
    else if (isnan(l->seed_noise))
        NOTE(OFF, "No intervals for single optima: no run was repeated with another seed.");
    return SL_OK;
}

static sl_status about_shape(sl_laws *l, sl_arena *a) {
    for (int m = 0; m < SL_LAWS_METRIC_COUNT; m++) {
        const sl_law *p = &l->law[m][SL_LAWS_POWER], *f = &l->law[m][SL_LAWS_FLOOR];
        const char *what = m == SL_LAWS_LOSS     ? "loss"
                           : m == SL_LAWS_SOLVED ? "1 - solved"
                                                 : "1 - R2";
        if (!p->known) continue;
        if (p->curvature.low > 0)
            NOTE(CURVED,
                 "The points of %s are curved: the law flattens with compute, so the power law "
                 "is too optimistic beyond them.",
                 what);
        if (p->curvature.high < 0)
            NOTE(CURVED,
                 "The points of %s are curved: the law steepens with compute, so the power law "
                 "is too pessimistic beyond them.",
                 what);
        if (f->known && f->fit.floor == 0)
            NOTE(DATA, "No floor is seen in %s: the law with a floor is the power law.", what);
    }
    int whole = 0;
    for (int i = 0; i < l->n_frontier; i++) {
        const sl_laws_point *p = &l->point[l->frontier[i]];
        whole += p->solved == 1 || p->r2 == 1;
    }
    if (whole > 0)
        NOTE(DATA,
             "Frontier runs with a share of 1, left out of power laws because 0 has no "
             "logarithm: %d.",
             whole);
    return SL_OK;
}

static sl_status about_extrapolation(sl_laws *l, sl_arena *a) {
    const double c = l->target_flops[SL_LAWS_POWER].value;
    const sl_law *law = &l->law[SL_LAWS_SOLVED][SL_LAWS_POWER];
    if (!law->known) return SL_OK;
    if (!(c < INFINITY))
        NOTE(FAR, "The law of the solved rate does not reach %g.", l->options.target);
    else if (sl_laws_factor(law, c) > SL_LAWS_FAR)
        NOTE(FAR, "The compute for %g solved is %.3g times the largest run's: an extrapolation.",
             l->options.target, sl_laws_factor(law, c));
    return SL_OK;
}

sl_status sl_laws__notes(sl_laws *l, sl_arena *a) {
    for (int i = 0; i < l->table->n_note; i++) NOTE(DATA, "%s", l->table->note[i]);
    SL_TRY(switched_off(l, a));
    SL_TRY(about_sweep(l, a));
    if (l->n_point == 0) return SL_OK;
    SL_TRY(about_shape(l, a));
    SL_TRY(about_extrapolation(l, a));
    if (l->options.draws == 0)
        NOTE(OFF, "No intervals: the number of bootstrap draws is 0.");
    else if (isnan(l->seed_noise))
        NOTE(DATA, "No run was repeated with another seed: intervals come from differences between "
                   "configurations alone.");
    if (l->n_isoflop > 0)
        NOTE(BIAS, "Parabolas through runs of equal compute are biased where the loss is not "
                   "symmetric in ln N; compare N* with that of the surface.");
    return SL_OK;
}

/* laws_tests - the leave-out tests for people. */
#include <math.h>

#include "commands/laws_impl.h"

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
                    sl_commands__estimate_text(a, "%.4f", p->predicted), p->measured,
                    100 * p->error);
    }
}

void sl_commands__laws_table_tests(sl_str *s, const sl_laws *l) {
    if (l->n_split == 0) return;
    sl_str_add(s, "\ndoes the law predict? errors of y on frontier runs that were left out\n");
    sl_str_addf(s, "  %-16s  %-7s  %-8s  %3s  %8s  %6s\n", "left out", "y", "form", "n", "rms",
                "inside");
    for (int i = 0; i < l->n_score; i++) add_score(s, l, &l->score[i]);
    add_farthest(s, l, 0);
}

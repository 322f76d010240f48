/* fit - everything that a table allows, in order. */
#include <math.h>

#include "laws/laws_impl.h"

static sl_status check(const sl_laws_options *o) {
    if (!(o->target > 0 && o->target < 1))
        return sl_fail(SL_EINVAL, "the target must be a share between 0 and 1, not %g", o->target);
    if (!(o->level > 0 && o->level < 1))
        return sl_fail(SL_EINVAL, "the level must be between 0 and 1, not %g", o->level);
    if (o->draws < 0 || o->draws > 1000000 || o->n_bins < 1 || o->n_bins > 1000000)
        return sl_fail(SL_EINVAL, "draws and bins must be at most a million, bins at least one");
    if (!(o->trials >= 0 && o->trials <= 1e12))
        return sl_fail(SL_EINVAL, "trials must be from 0 to 1e12, not %g", o->trials);
    return SL_OK;
}

static bool anything(const sl_laws_table *t) {
    for (int i = 0; i < t->n; i++) {
        if (sl_laws_finished(&t->run[i])) return true;
    }
    return false;
}

/* The fits that need points; a table may hold runs of the sweep only. */
static sl_status against_compute(sl_laws *l, sl_arena *a) {
    int *points;
    SL_LAWS__TRY_ALLOC(points, a, l->n_point);
    for (int i = 0; i < l->n_point; i++) points[i] = i;
    SL_TRY(sl_laws__laws(l, a, points, l->n_point));
    for (int i = 0; i < l->n_frontier; i++) l->point[l->frontier[i]].on_frontier = true;
    if (l->options.plain) return SL_OK;
    SL_TRY(sl_laws__surface(&l->surface, a, l, points, l->n_point, false));
    SL_TRY(sl_laws__surface(&l->surface_huber, a, l, points, l->n_point, true));
    SL_TRY(sl_laws__isoflop(l, a));
    return sl_laws__leave_out(l, a);
}

sl_status sl_laws_fit(sl_laws *out, sl_arena *a, const sl_laws_table *t,
                      const sl_laws_options *options) {
    static const sl_laws_options defaults = SL_LAWS_OPTIONS_INIT;
    sl_laws l = { .table = t, .options = options ? *options : defaults, .seed_noise = NAN };
    SL_TRY(check(&l.options));
    if (!anything(t))
        return sl_fail(
            SL_EFORMAT,
            "%.200s%shas no finished run with a loss or an accuracy; columns are found by "
            "names such as params, tokens, flops, loss, solved, or named by --columns%s%.300s",
            t->source, *t->source ? " " : "the table ", t->columns ? "; those of the file: " : "",
            t->columns ? t->columns : "");
    SL_TRY(sl_laws__points(&l, a));
    if (l.n_point > 0) SL_TRY(against_compute(&l, a));
    if (!l.options.plain) SL_TRY(sl_laws__sweep(&l, a));
    if (!l.options.plain) SL_TRY(sl_laws__notes(&l, a));
    *out = l;
    return SL_OK;
}

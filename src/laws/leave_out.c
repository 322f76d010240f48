/* leave_out - the largest runs are left out, each form is fitted to the rest and predicts what was
 * left out. */
#include <math.h>

#include "laws/laws_impl.h"

enum { MAX_SPLITS = 4, DRAWS = 200 };

static bool is_left(const sl_laws *l, const sl_laws_split *s, int point) {
    const sl_laws_point *p = &l->point[point];
    return s->sizes > 0 ? p->size >= l->n_size - s->sizes : p->flops >= s->flops;
}

static void add_splits(sl_laws_split *split, int *n, const sl_laws *l) {
    static const char *const name[] = { "largest size", "2 largest sizes", "3 largest sizes" };
    split[(*n)++] = (sl_laws_split){ .name = "largest decade", .flops = l->c_top / 10 };
    for (int k = 1; k <= 3 && l->n_size - k >= 2; k++)
        split[(*n)++] = (sl_laws_split){ .name = name[k - 1], .flops = NAN, .sizes = k };
}

/* ---------------------------------------------------------------- one split ----------------- */

static double measured_of(const sl_laws_point *p, sl_laws_metric m) {
    return m == SL_LAWS_LOSS ? p->loss : m == SL_LAWS_SOLVED ? p->solved : p->r2;
}

static sl_estimate share_of(sl_estimate y) {
    return (sl_estimate){ 1 - y.value, 1 - y.high, 1 - y.low };
}

static void predict(sl_laws_prediction *out, int *n, const sl_laws *l, const sl_laws *rest,
                    int split, int point, sl_laws_metric m, sl_laws_form f) {
    const sl_laws_point *p = &l->point[point];
    const double measured = measured_of(p, m), y = m == SL_LAWS_LOSS ? measured : 1 - measured;
    sl_estimate e;
    if (f == SL_LAWS_SURFACE) {
        if (m != SL_LAWS_LOSS || isnan(p->params) || isnan(p->tokens)) return;
        e = sl_laws_surface_at(&rest->surface, p->params, p->tokens);
    } else {
        e = sl_laws_at(&rest->law[m][f], p->flops);
    }
    if (isnan(e.value) || !(y > 0)) return;
    out[(*n)++] = (sl_laws_prediction){ .split = split,
                                        .point = point,
                                        .metric = m,
                                        .form = f,
                                        .factor = p->flops / rest->c_top,
                                        .predicted = m == SL_LAWS_LOSS ? e : share_of(e),
                                        .measured = measured,
                                        .error = e.value / y - 1 };
}

static sl_status run_split(sl_laws *l, sl_laws_split *s, int split, sl_laws_prediction *out,
                           int *n_out, sl_arena *scratch) {
    sl_laws rest = { .table = l->table,
                     .options = l->options,
                     .size = l->size,
                     .n_size = l->n_size,
                     .point = l->point,
                     .n_point = l->n_point };
    int *points, n = 0;
    rest.options.draws = SL_MIN(l->options.draws, DRAWS);
    SL_LAWS__TRY_ALLOC(points, scratch, l->n_point);
    for (int i = 0; i < l->n_point; i++) {
        if (!is_left(l, s, i)) points[n++] = i;
    }
    for (int i = 0; i < l->n_frontier; i++) s->n_left += is_left(l, s, l->frontier[i]);
    if (n < 3 || s->n_left == 0) return SL_OK;
    rest.c_top = l->point[points[n - 1]].flops;
    SL_TRY(sl_laws__laws(&rest, scratch, points, n));
    SL_TRY(sl_laws__surface(&rest.surface, scratch, &rest, points, n, false));
    s->n_fit = rest.n_frontier;
    for (int i = 0; i < l->n_frontier; i++) {
        if (!is_left(l, s, l->frontier[i])) continue;
        for (int m = 0; m < SL_LAWS_METRIC_COUNT; m++)
            for (int f = 0; f < SL_LAWS_PREDICTOR_COUNT; f++)
                predict(out, n_out, l, &rest, split, l->frontier[i], (sl_laws_metric)m,
                        (sl_laws_form)f);
    }
    return SL_OK;
}

/* ---------------------------------------------------------------- which is best ------------- */

static sl_laws_score score_of(const sl_laws *l, int split, sl_laws_metric m, sl_laws_form f) {
    sl_laws_score s = { .split = split, .metric = m, .form = f };
    double sum = 0;
    int inside = 0, known = 0;
    for (int i = 0; i < l->n_prediction; i++) {
        const sl_laws_prediction *p = &l->prediction[i];
        if ((split >= 0 && p->split != split) || p->metric != m || p->form != f) continue;
        const double e = sl_log(1 + p->error);
        sum += e * e;
        s.n++;
        if (isnan(p->predicted.low)) continue;
        known++;
        inside += p->measured >= p->predicted.low && p->measured <= p->predicted.high;
    }
    s.rms = s.n ? sqrt(sum / s.n) : NAN;
    s.inside = known ? (double)inside / known : NAN;
    return s;
}

/* Forms are compared where they have predicted as much as any other has. */
static sl_status add_scores(sl_laws *l, sl_arena *a) {
    sl_laws_score *list;
    SL_LAWS__TRY_ALLOC(list, a, (l->n_split + 1) * SL_LAWS_METRIC_COUNT * SL_LAWS_PREDICTOR_COUNT);
    l->score = list;
    for (int split = -1; split < l->n_split; split++) {
        for (int m = 0; m < SL_LAWS_METRIC_COUNT; m++) {
            const int first = l->n_score;
            int most = 0, best = -1;
            for (int f = 0; f < SL_LAWS_PREDICTOR_COUNT; f++) {
                const sl_laws_score s = score_of(l, split, (sl_laws_metric)m, (sl_laws_form)f);
                if (s.n > 0) list[l->n_score++] = s;
                most = SL_MAX(most, s.n);
            }
            for (int i = first; i < l->n_score; i++) {
                if (list[i].n == most && (best < 0 || list[i].rms < list[best].rms)) best = i;
            }
            if (best >= 0) list[best].best = true;
        }
    }
    return SL_OK;
}

sl_status sl_laws__leave_out(sl_laws *l, sl_arena *a) {
    sl_laws_split *split;
    sl_laws_prediction *out;
    SL_LAWS__TRY_ALLOC(split, a, MAX_SPLITS);
    SL_LAWS__TRY_ALLOC(
        out, a, MAX_SPLITS * SL_LAWS_METRIC_COUNT * SL_LAWS_PREDICTOR_COUNT * (l->n_frontier + 1));
    int n_split = 0, n = 0, kept = 0;
    add_splits(split, &n_split, l);
    for (int i = 0; i < n_split; i++) {
        sl_arena scratch = { 0 };
        const int before = n;
        split[kept] = split[i];
        const sl_status st = run_split(l, &split[kept], kept, out, &n, &scratch);
        sl_arena_clear(&scratch);
        SL_TRY(st);
        kept += n > before; // a split without predictions is dropped
    }
    l->split = split;
    l->n_split = kept;
    l->prediction = out;
    l->n_prediction = n;
    return add_scores(l, a);
}

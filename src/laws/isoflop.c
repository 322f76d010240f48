/* isoflop - runs of equal compute and several sizes: the size of least loss.
 *
 * A parabola in ln N is fitted to the loss, and Akima's curve laid through it. A loss that is
 * E + A/N^alpha + B/D^beta is no parabola in ln N: steeper on one side where the exponents differ,
 * so the vertex moves with how far the sizes reach to either side. The bias is of the same sign at
 * every budget, so the exponent suffers less than N* itself. */
#include <math.h>
#include <stdlib.h>

#include "laws/laws_impl.h"
#include "num/num.h"

/* Budgets that count as equal. */
#define SAME_FLOPS 1.1

typedef struct parabola {
    double vertex, value; // ln N, loss
    bool good;
} parabola;

/* Loss against ln N without point `skip`. */
static sl_status fit_parabola(parabola *out, sl_arena *scratch, const double *x, const double *y,
                              int n, int skip) {
    const size_t mark = sl_arena_mark(scratch);
    double *col, coef[3];
    sl_lsq lsq;
    int m = 0;
    SL_LAWS__TRY_ALLOC(col, scratch, 4 * n);
    const double middle = sl_num_mean(x, n);
    for (int i = 0; i < n; i++) {
        const double u = x[i] - middle;
        if (i == skip) continue;
        col[m] = 1, col[n + m] = u, col[2 * n + m] = u * u, col[3 * n + m] = y[i];
        m++;
    }
    const double *const list[3] = { col, col + n, col + 2 * n };
    const sl_status st = sl_num_lsq_fit(&lsq, coef, NULL, scratch, list, col + 3 * n, NULL, m, 3);
    sl_arena_rewind(scratch, mark);
    out->good = st == SL_OK && lsq.rank == 3 && coef[2] > 0;
    out->vertex = out->good ? middle - coef[1] / (2 * coef[2]) : NAN;
    out->value = out->good ? coef[0] - coef[1] * coef[1] / (4 * coef[2]) : NAN;
    out->good = out->good && isfinite(out->vertex) && fabs(out->vertex) < 300;
    return st;
}

/* The jackknife: the spread of the vertices with one point left out. */
static sl_status jackknife(sl_estimate *params, sl_estimate *loss, sl_arena *scratch,
                           const parabola *p, const double *x, const double *y, int n,
                           double level) {
    double sum[2] = { 0 }, square[2] = { 0 };
    *params = (sl_estimate){ sl_exp(p->vertex), NAN, NAN };
    *loss = (sl_estimate){ p->value, NAN, NAN };
    for (int i = 0; i < n && n > 3; i++) {
        parabola one;
        SL_TRY(fit_parabola(&one, scratch, x, y, n, i));
        if (!one.good) return SL_OK; // no vertex without this run: no interval
        const double d[2] = { one.vertex - p->vertex, one.value - p->value };
        for (int k = 0; k < 2; k++) sum[k] += d[k], square[k] += d[k] * d[k];
    }
    if (n <= 3) return SL_OK;
    const double z = sl_num_normal_quantile(0.5 + level / 2);
    const double part = (double)(n - 1) / n;
    const double se_x = sqrt(part * fmax(square[0] - sum[0] * sum[0] / n, 0));
    const double se_y = sqrt(part * fmax(square[1] - sum[1] * sum[1] / n, 0));
    params->low = sl_exp(p->vertex - z * se_x);
    params->high = sl_exp(p->vertex + z * se_x);
    loss->low = p->value - z * se_y;
    loss->high = p->value + z * se_y;
    return SL_OK;
}

/* NaN unless it is inside. 25 values per gap, as Porian et al. */
static sl_status akima_minimum(double *out, sl_arena *scratch, const double *x, const double *y,
                               int n) {
    const size_t mark = sl_arena_mark(scratch);
    sl_akima curve;
    int low = 0;
    double lowest = INFINITY;
    const int places = 25 * (n - 1);
    SL_TRY(sl_num_akima_init(&curve, scratch, x, y, n));
    *out = NAN;
    for (int i = 0; i <= places; i++) {
        const double at = i == places ? x[n - 1] : x[0] + (x[n - 1] - x[0]) * i / places;
        const double v = sl_num_akima_at(&curve, at);
        if (v < lowest) lowest = v, low = i, *out = sl_exp(at);
    }
    if (low == 0 || low == places) *out = NAN;
    sl_arena_rewind(scratch, mark);
    return SL_OK;
}

/* The best point of each size among points [from, to), by size. */
static int best_by_size(int *best, const sl_laws *l, int from, int to) {
    int n = 0;
    for (int s = 0; s < l->n_size; s++) {
        int low = -1;
        for (int i = from; i < to; i++) {
            const sl_laws_point *p = &l->point[i];
            if (p->size != s || isnan(p->loss) || isnan(p->params)) continue;
            if (low < 0 || p->loss < l->point[low].loss) low = i;
        }
        if (low >= 0 && (n == 0 || l->point[best[n - 1]].params < l->point[low].params))
            best[n++] = low;
    }
    return n;
}

static sl_status add_budget(sl_laws_isoflop *out, sl_arena *a, sl_arena *scratch, const sl_laws *l,
                            const int *best, int n, int n_point) {
    double *x, *y;
    int *point;
    parabola p;
    SL_LAWS__TRY_ALLOC(x, scratch, n);
    SL_LAWS__TRY_ALLOC(y, scratch, n);
    SL_LAWS__TRY_ALLOC(point, a, n);
    double ln_flops = 0;
    for (int i = 0; i < n; i++) {
        const sl_laws_point *q = &l->point[best[i]];
        x[i] = sl_log(q->params);
        y[i] = q->loss;
        point[i] = best[i];
        ln_flops += sl_log(q->flops) / n;
    }
    SL_TRY(fit_parabola(&p, scratch, x, y, n, -1));
    *out = (sl_laws_isoflop){ .flops = sl_exp(ln_flops),
                              .n_point = n_point,
                              .n_size = n,
                              .point = point,
                              .params = { NAN, NAN, NAN },
                              .loss = { NAN, NAN, NAN },
                              .on_edge = !p.good || p.vertex < x[0] || p.vertex > x[n - 1] };
    if (p.good) SL_TRY(jackknife(&out->params, &out->loss, scratch, &p, x, y, n, l->options.level));
    return akima_minimum(&out->akima_params, scratch, x, y, n);
}

static sl_status law_of_minima(sl_laws *l, sl_arena *a) {
    double *x, *y;
    int n = 0;
    SL_LAWS__TRY_ALLOC(x, a, l->n_isoflop);
    SL_LAWS__TRY_ALLOC(y, a, l->n_isoflop);
    for (int i = 0; i < l->n_isoflop; i++) {
        const sl_laws_isoflop *f = &l->isoflop[i];
        if (f->on_edge) continue;
        x[n] = f->flops;
        y[n++] = f->params.value;
    }
    const sl_laws__pairs p = { x, y, NULL, n };
    return sl_laws__pairs_law(&l->isoflop_params, a, &p, &l->options, SL_LAWS__STREAM_BUDGETS);
}

static sl_status fit(sl_laws *l, sl_arena *a, sl_arena *scratch) {
    int *best;
    sl_laws_isoflop *list;
    SL_LAWS__TRY_ALLOC(best, scratch, l->n_size);
    SL_LAWS__TRY_ALLOC(list, a, l->n_point / 3 + 1);
    l->isoflop = list;
    for (int from = 0, to; from < l->n_point; from = to) {
        for (to = from; to < l->n_point && l->point[to].flops <= SAME_FLOPS * l->point[from].flops;)
            to++;
        if (to - from < 3) continue;
        const int n = best_by_size(best, l, from, to);
        if (n >= 3) SL_TRY(add_budget(&list[l->n_isoflop++], a, scratch, l, best, n, to - from));
    }
    return law_of_minima(l, a);
}

sl_status sl_laws__isoflop(sl_laws *l, sl_arena *a) {
    sl_arena scratch = { 0 };
    const sl_status st = fit(l, a, &scratch);
    sl_arena_clear(&scratch);
    return st;
}

/* sweep - the best batch size and learning rate of each size, by interpolation in two steps.
 *
 * Step 1, for each batch size: Akima's curve through (ln rate, ln loss), its minimum over 100
 * places. Step 2: the same over ln batch on the minima of step 1; the rate at the best batch size
 * comes from a curve through (ln batch, ln best rate). (Porian et al. 2024, "Resolving
 * discrepancies in compute-optimal scaling".) Where runs were repeated with other seeds a place has
 * their mean.
 *
 * An optimum is on the edge unless it lies between the second and the last but one place of its
 * grid. With three places those are one and the same; then it is inside if the middle one is
 * lowest.
 *
 * Intervals: ln loss of each place gets normal noise of the deviation between seeds, over the root
 * of their number, and all is interpolated again. Without repeated seeds there are none. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "laws/laws_impl.h"
#include "num/num.h"

enum { FINE = 100 };

/* One place of a size's grid. */
typedef struct cell {
    int size;
    double batch, rate, ratio;
    double ln_loss; // of the mean over seeds
    double sum;
    int n;
} cell;

typedef struct grid {
    const cell *cell;
    int n;
    double *x, *y, *room; // for curves: n values each
    double *noisy;        // ln losses of a draw
} grid;

static int compare(double a, double b) { return (a > b) - (a < b); }

static int by_place(const void *pa, const void *pb) {
    const cell *a = pa, *b = pb;
    if (a->size != b->size) return a->size - b->size;
    if (a->ratio != b->ratio) return compare(a->ratio, b->ratio);
    if (a->batch != b->batch) return compare(a->batch, b->batch);
    return compare(a->rate, b->rate);
}

/* Tokens of runs with one planned ratio differ a little. */
#define SAME_RATIO 0.01

static bool same_ratio(double a, double b) { return a == b || fabs(a - b) <= SAME_RATIO * b; }

/* ---------------------------------------------------------------- places -------------------- */

static bool is_swept(const sl_laws_run *r) {
    return sl_laws_finished(r) && strcmp(r->phase, "scale") != 0 && !isnan(r->batch) &&
           !isnan(r->rate) && !isnan(r->loss) && !isnan(r->params);
}

static sl_status find_cells(cell **out, int *n, const sl_laws *l, sl_arena *scratch) {
    const sl_laws_table *t = l->table;
    cell *c;
    SL_LAWS__TRY_ALLOC(c, scratch, t->n);
    int m = 0, k = 0;
    for (int i = 0; i < t->n; i++) {
        const sl_laws_run *r = &t->run[i];
        if (!is_swept(r)) continue;
        c[m++] = (cell){ .size = sl_laws__size_of(l, r),
                         .batch = r->batch,
                         .rate = r->rate,
                         .ratio = isnan(r->ratio) ? 0 : r->ratio,
                         .sum = r->loss,
                         .n = 1 };
    }
    // ratios that are alike become the same, then equal places become one
    qsort(c, (size_t)m, sizeof *c, by_place);
    for (int i = 1; i < m; i++) {
        if (c[i].size == c[i - 1].size && same_ratio(c[i].ratio, c[i - 1].ratio))
            c[i].ratio = c[i - 1].ratio;
    }
    qsort(c, (size_t)m, sizeof *c, by_place);
    for (int i = 0; i < m; i++) {
        if (k > 0 && by_place(&c[k - 1], &c[i]) == 0) {
            c[k - 1].sum += c[i].sum;
            c[k - 1].n++;
        } else {
            c[k++] = c[i];
        }
    }
    for (int i = 0; i < k; i++) c[i].ln_loss = sl_log(c[i].sum / c[i].n);
    *out = c;
    *n = k;
    return SL_OK;
}

/* The grid of a size: that of the ratio with most places, of equal ones the first. *at becomes the
 * place after the size. */
static void choose_grid(grid *g, const cell *c, int n, int *at) {
    const int size = c[*at].size;
    g->n = 0;
    while (*at < n && c[*at].size == size) {
        const int from = *at;
        while (*at < n && c[*at].size == size && c[*at].ratio == c[from].ratio) ++*at;
        if (*at - from > g->n) g->n = *at - from, g->cell = c + from;
    }
}

/* ---------------------------------------------------------------- one curve ----------------- */

typedef struct minimum {
    double x, y;
    bool on_edge;
} minimum;

/* The minimum of the curve through n points; fine_x and fine_y (or NULL) get the curve. */
static sl_status curve_minimum(minimum *out, sl_akima *curve, sl_arena *scratch, const double *x,
                               const double *y, int n, double *fine_x, double *fine_y) {
    int low = 0;
    for (int i = 1; i < n; i++) {
        if (y[i] < y[low]) low = i;
    }
    if (n == 1) {
        *out = (minimum){ x[0], y[0], true };
        return SL_OK;
    }
    SL_TRY(sl_num_akima_init(curve, scratch, x, y, n));
    *out = (minimum){ NAN, INFINITY, true };
    for (int i = 0; i < FINE; i++) {
        const double at = i == FINE - 1 ? x[n - 1] : x[0] + (x[n - 1] - x[0]) * i / (FINE - 1);
        const double v = sl_num_akima_at(curve, at);
        if (v < out->y) out->x = at, out->y = v;
        if (fine_x) fine_x[i] = sl_exp(at), fine_y[i] = sl_exp(v);
    }
    out->on_edge = n == 3 ? low != 1 : n < 3 || out->x < x[1] || out->x > x[n - 2];
    return SL_OK;
}

/* ---------------------------------------------------------------- both steps ---------------- */

typedef struct best {
    double ln_batch, ln_rate, ln_loss;
    bool batch_on_edge, rate_on_edge;
} best;

static sl_status add_curve(sl_laws *out, sl_arena *a, const grid *g, int from, int n,
                           const minimum *m, double *fine) {
    sl_laws_curve *curve = (sl_laws_curve *)(uintptr_t)&out->curve[out->n_curve++];
    double *rate, *loss;
    SL_LAWS__TRY_ALLOC(rate, a, n);
    SL_LAWS__TRY_ALLOC(loss, a, n);
    for (int i = 0; i < n; i++) {
        rate[i] = g->cell[from + i].rate;
        loss[i] = sl_exp(g->cell[from + i].ln_loss);
    }
    *curve = (sl_laws_curve){ .size = g->cell[from].size,
                              .batch = g->cell[from].batch,
                              .rate = rate,
                              .loss = loss,
                              .n = n,
                              .fine_rate = fine,
                              .fine_loss = fine + FINE,
                              .n_fine = n > 1 ? FINE : 0,
                              .best_rate = sl_exp(m->x),
                              .best_loss = sl_exp(m->y),
                              .on_edge = m->on_edge };
    return SL_OK;
}

/* ln_loss: by place. keep: the curves are stored in out->curve. */
static sl_status find_best(best *b, sl_laws *out, sl_arena *a, sl_arena *scratch, const grid *g,
                           const double *ln_loss, bool keep) {
    double *x = g->room, *rate = x + g->n, *loss = rate + g->n;
    bool one_edge = false, several = false;
    int n = 0;
    for (int i = 1; i < g->n; i++) several |= g->cell[i].batch == g->cell[i - 1].batch;
    for (int from = 0, to; from < g->n; from = to) {
        double *fine = NULL;
        sl_akima curve;
        minimum m;
        for (to = from; to < g->n && g->cell[to].batch == g->cell[from].batch; to++)
            g->x[to - from] = sl_log(g->cell[to].rate), g->y[to - from] = ln_loss[to];
        if (keep) SL_LAWS__TRY_ALLOC(fine, a, 2 * FINE);
        SL_TRY(curve_minimum(&m, &curve, scratch, g->x, g->y, to - from, fine,
                             fine ? fine + FINE : NULL));
        if (keep) SL_TRY(add_curve(out, a, g, from, to - from, &m, fine));
        if (several && to - from < 2) continue; // one rate has no optimum
        x[n] = sl_log(g->cell[from].batch);
        rate[n] = m.x;
        loss[n++] = m.y;
        one_edge |= m.on_edge;
    }
    minimum m;
    sl_akima curve;
    SL_TRY(curve_minimum(&m, &curve, scratch, x, loss, n, NULL, NULL));
    *b = (best){ m.x, rate[0], m.y, m.on_edge, one_edge };
    if (n == 1) return SL_OK;
    SL_TRY(sl_num_akima_init(&curve, scratch, x, rate, n));
    b->ln_rate = sl_num_akima_at(&curve, m.x);
    return SL_OK;
}

/* The rate is on the edge if that of the batch size nearest to the best is. */
static bool rate_on_edge(const sl_laws *out, int first, double ln_batch) {
    double nearest = INFINITY;
    bool edge = true;
    for (int i = first; i < out->n_curve; i++) {
        const double away = fabs(sl_log(out->curve[i].batch) - ln_batch);
        if (out->curve[i].n > 1 && away < nearest) nearest = away, edge = out->curve[i].on_edge;
    }
    return edge;
}

static sl_status draw_best(double *batch, double *rate, sl_laws *out, sl_arena *a,
                           sl_arena *scratch, const grid *g, int k, int n_size) {
    const size_t mark = sl_arena_mark(scratch);
    for (int d = 0; d < out->options.draws; d++) {
        best b;
        sl_rng rng;
        sl_rng_init(&rng, out->options.seed, SL_LAWS__STREAM_SWEEP,
                    (uint64_t)d * 1024 + (uint64_t)(k % 1024));
        for (int i = 0; i < g->n; i++)
            g->noisy[i] =
                g->cell[i].ln_loss + out->seed_noise / sqrt(g->cell[i].n) * sl_rng_normal(&rng);
        SL_TRY(find_best(&b, out, a, scratch, g, g->noisy, false));
        sl_arena_rewind(scratch, mark);
        batch[(size_t)d * (size_t)n_size + (size_t)k] = sl_exp(b.ln_batch);
        rate[(size_t)d * (size_t)n_size + (size_t)k] = sl_exp(b.ln_rate);
    }
    return SL_OK;
}

static sl_status add_optimum(sl_laws_optimum *o, sl_laws *out, sl_arena *a, sl_arena *scratch,
                             const grid *g) {
    best b;
    const int first = out->n_curve, size = g->cell[0].size;
    for (int i = 0; i < g->n; i++) g->noisy[i] = g->cell[i].ln_loss;
    SL_TRY(find_best(&b, out, a, scratch, g, g->noisy, true));
    *o = (sl_laws_optimum){ .size = size,
                            .params = out->size[size].params,
                            .batch = { sl_exp(b.ln_batch), NAN, NAN },
                            .rate = { sl_exp(b.ln_rate), NAN, NAN },
                            .loss = sl_exp(b.ln_loss),
                            .batch_on_edge = b.batch_on_edge,
                            .chosen = g->n == 1,
                            .first_curve = first,
                            .n_curve = out->n_curve - first };
    o->rate_on_edge = rate_on_edge(out, first, b.ln_batch);
    if (o->chosen) o->batch_on_edge = o->rate_on_edge = false;
    return SL_OK;
}

/* ---------------------------------------------------------------- laws in N ----------------- */

static sl_status laws_in_params(sl_laws *out, sl_arena *a, sl_laws_optimum *o, int n,
                                const double *batch, const double *rate, bool drawn) {
    double *x, *y, *z;
    SL_LAWS__TRY_ALLOC(x, a, n);
    SL_LAWS__TRY_ALLOC(y, a, n);
    SL_LAWS__TRY_ALLOC(z, a, n);
    for (int i = 0; i < n; i++) x[i] = o[i].params, y[i] = o[i].batch.value, z[i] = o[i].rate.value;
    const sl_laws__pairs pb = { x, y, drawn ? batch : NULL, n },
                         pr = { x, z, drawn ? rate : NULL, n };
    SL_TRY(sl_laws__pairs_law(&out->batch, a, &pb, &out->options, SL_LAWS__STREAM_SIZES));
    return sl_laws__pairs_law(&out->rate, a, &pr, &out->options, SL_LAWS__STREAM_SIZES);
}

static sl_estimate interval_of(double value, const double *draws, double *room, int i, int n,
                               const sl_laws_options *o) {
    for (int d = 0; d < o->draws; d++) room[d] = draws[(size_t)d * (size_t)n + (size_t)i];
    return sl_laws__interval(value, room, o->draws, o->level);
}

static sl_status fit(sl_laws *out, sl_arena *a, sl_arena *scratch) {
    cell *c;
    int n_cell, n = 0;
    SL_TRY(find_cells(&c, &n_cell, out, scratch));
    if (n_cell == 0) return SL_OK;
    sl_laws_curve *curves;
    sl_laws_optimum *o;
    double *batch, *rate, *room;
    grid g = { 0 };
    const size_t size = (size_t)out->n_size, draws = (size_t)out->options.draws;
    SL_LAWS__TRY_ALLOC(curves, a, n_cell);
    SL_LAWS__TRY_ALLOC(o, a, size);
    SL_LAWS__TRY_ALLOC(batch, scratch, size * draws);
    SL_LAWS__TRY_ALLOC(rate, scratch, size * draws);
    SL_LAWS__TRY_ALLOC(room, scratch, draws);
    SL_LAWS__TRY_ALLOC(g.x, scratch, n_cell);
    SL_LAWS__TRY_ALLOC(g.y, scratch, n_cell);
    SL_LAWS__TRY_ALLOC(g.noisy, scratch, n_cell);
    SL_LAWS__TRY_ALLOC(g.room, scratch, 3 * n_cell);
    out->curve = curves;
    int sizes = 0;
    for (int i = 0; i < n_cell; i++) sizes += i == 0 || c[i].size != c[i - 1].size;
    const bool drawn = !isnan(out->seed_noise) && draws > 0;
    for (int at = 0; at < n_cell; n++) {
        choose_grid(&g, c, n_cell, &at);
        SL_TRY(add_optimum(&o[n], out, a, scratch, &g));
        if (drawn) SL_TRY(draw_best(batch, rate, out, a, scratch, &g, n, sizes));
    }
    for (int i = 0; i < n && drawn; i++) {
        if (o[i].chosen) continue;
        o[i].batch = interval_of(o[i].batch.value, batch, room, i, n, &out->options);
        o[i].rate = interval_of(o[i].rate.value, rate, room, i, n, &out->options);
    }
    out->optimum = o;
    out->n_optimum = n;
    return laws_in_params(out, a, o, n, batch, rate, drawn);
}

sl_status sl_laws__sweep(sl_laws *out, sl_arena *a) {
    sl_arena scratch = { 0 };
    const sl_status st = fit(out, a, &scratch);
    sl_arena_clear(&scratch);
    return st;
}

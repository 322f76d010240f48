/* The grid of inner constants at the probes.
 *
 * A column c of unit length outside the span explains (c.t)^2 of a unit target t; the two columns
 * of a wave explain the square of t's projection onto their plane. On the grid the squared length
 * of c outside the span is |c|^2 less the squares of its dot products with the span's basis. That
 * loses digits, so near a minimum columns are orthogonalised one by one instead. */
#include <math.h>
#include <string.h>

#include "search/inner_impl.h"

enum { N = SL_INNER__PROBES, LANES = 8 };

static const double INDEPENDENT =
    1e-9; // squared part of a column that is outside the span at least

/* Partial sums in a fixed order, which compilers can vectorise. */
static double dot(const double *a, const double *b) {
    double sum[LANES] = { 0 };
    for (int i = 0; i < N; i += LANES)
        for (int k = 0; k < LANES; k++) sum[k] += a[i + k] * b[i + k];
    return ((sum[0] + sum[4]) + (sum[1] + sum[5])) + ((sum[2] + sum[6]) + (sum[3] + sum[7]));
}

/* Columns of a point at the probes, the padding zero. */
typedef struct columns {
    double value[2][N];
    int n;
} columns;

static void evaluate(columns *c, const sl_inner *s, sl_search__inner_family f,
                     const sl_search__inner_point *at, int z) {
    double *const column[2] = { c->value[0], c->value[1] };
    c->n = sl_search__inner_traits_of[f].columns;
    sl_search__inner_columns(column, f, at, s->monomial[z].value, &s->monomial[z].range, s->probes);
    for (int k = 0; k < c->n; k++)
        for (int i = s->probes; i < N; i++) c->value[k][i] = 0;
}

static void multiply(columns *out, const columns *c, const double *m) {
    out->n = c->n;
    for (int k = 0; k < c->n; k++)
        for (int i = 0; i < N; i++) out->value[k][i] = c->value[k][i] * m[i];
}

/* ---------------------------------------------------------------- on the grid --------------- */

/* Products of columns outside the span: [0][0], [0][1], [1][1]; false where they are dependent. */
typedef struct gram {
    double first, cross, second;
} gram;

static bool make_gram(gram *g, const sl_search__inner_span *p, const columns *c) {
    const double *a = c->value[0], *b = c->value[1];
    double all = dot(a, a), other = 0;
    *g = (gram){ .first = all };
    if (c->n == 2) g->second = other = dot(b, b), g->cross = dot(a, b);
    for (int k = 0; k < p->base; k++) {
        double u = dot(p->unit[k], a);
        g->first -= u * u;
        if (c->n == 1) continue;
        double v = dot(p->unit[k], b);
        g->second -= v * v, g->cross -= u * v;
    }
    if (!(g->first > INDEPENDENT * all) || !isfinite(all)) return false;
    if (c->n == 1) return true;
    double area = g->first * g->second - g->cross * g->cross;
    return g->second > INDEPENDENT * other && isfinite(other) &&
           area > INDEPENDENT * g->first * g->second;
}

static double explained(const gram *g, const columns *c, const double *target) {
    double u = dot(c->value[0], target);
    if (c->n == 1) return u * u / g->first;
    double v = dot(c->value[1], target), area = g->first * g->second - g->cross * g->cross;
    return (u * u * g->second - 2 * u * v * g->cross + v * v * g->first) / area;
}

/* One point: all m and targets. */
static void score_point(sl_search__inner_candidate *best, const sl_inner *s,
                        sl_search__inner_family f, const sl_search__inner_point *at, int z,
                        int monomials) {
    const sl_search__inner_span *p = &s->span[sl_search__inner_traits_of[f].side];
    columns plain, c;
    gram g;
    evaluate(&plain, s, f, at, z);
    for (int m = 0; m < monomials; m++) {
        if (m == 0)
            c = plain;
        else
            multiply(&c, &plain, s->monomial[m].value);
        if (!make_gram(&g, p, &c)) continue;
        for (int t = 0; t < p->targets; t++) {
            double left = 1 - explained(&g, &c, p->target[t].left);
            sl_search__inner_candidate *to = &best[m * SL_INNER__TARGETS + t];
            if (left < to->left) to->left = left, to->at = *at;
        }
    }
}

void sl_search__inner_scan(sl_search__inner_candidate *best, const sl_inner *s,
                           sl_search__inner_family f, int z, int monomials, int frequencies) {
    const sl_search__inner_traits *traits = &sl_search__inner_traits_of[f];
    int sizes[SL_INNER__COORDINATES];
    for (int k = 0; k < SL_INNER__COORDINATES; k++)
        sizes[k] = sl_search__inner_grid_size(traits->coordinate[k], frequencies);
    for (int sign = 1; sign > -traits->signs; sign -= 2) {
        for (int i = 0; i < sizes[0]; i++) {
            if (sl_search__stop(s->job, false)) return;
            for (int k = 0; k < sizes[1]; k++) {
                sl_search__inner_point at = { .sign = sign };
                at.t[0] = sl_search__inner_grid(traits->coordinate[0], i);
                at.t[1] = sl_search__inner_grid(traits->coordinate[1], k);
                score_point(best, s, f, &at, z, monomials);
            }
        }
    }
    int64_t points = (int64_t)sizes[0] * sizes[1] * traits->signs * monomials;
    atomic_fetch_add(&s->job->tried, points * s->span[traits->side].targets);
}

/* ---------------------------------------------------------------- near a minimum ------------ */

/* c := outside the n units, of unit length; false where nothing is left. */
static bool separate(double *c, const double (*unit)[N], int n, const double *also) {
    double before = dot(c, c), after;
    for (int repeat = 0; repeat < 2; repeat++) {
        for (int k = 0; k < n + (also != NULL); k++) {
            const double *u = k < n ? unit[k] : also;
            double product = dot(u, c);
            for (int i = 0; i < N; i++) c[i] -= product * u[i];
        }
    }
    after = dot(c, c);
    if (!(after > 1e-24 * before) || !isfinite(before)) return false;
    for (int i = 0; i < N; i++) c[i] /= sqrt(after);
    return true;
}

/* Relative residual of the target at a point, infinite outside of the domain. */
static double left_at(const sl_inner *s, const sl_search__inner_candidate *c,
                      const sl_search__inner_point *at) {
    const sl_search__inner_span *p = &s->span[sl_search__inner_traits_of[c->family].side];
    columns plain, column;
    double rest[N];
    evaluate(&plain, s, c->family, at, c->z);
    multiply(&column, &plain, s->monomial[c->m].value);
    memcpy(rest, p->target[c->target].left, sizeof rest);
    for (int k = 0; k < column.n; k++) {
        const double *also = k ? column.value[0] : NULL;
        if (!separate(column.value[k], p->unit, p->base, also)) return INFINITY;
        double product = dot(column.value[k], rest);
        for (int i = 0; i < N; i++) rest[i] -= product * column.value[k][i];
    }
    return dot(rest, rest);
}

/* Takes a point if it is inside and leaves less. */
static bool move_to(sl_search__inner_candidate *c, const sl_inner *s,
                    const sl_search__inner_point *at) {
    const sl_search__inner_traits *traits = &sl_search__inner_traits_of[c->family];
    for (int k = 0; k < SL_INNER__COORDINATES; k++)
        if (!sl_search__inner_inside(traits->coordinate[k], at->t[k])) return false;
    double left = left_at(s, c, at);
    if (!(left < c->left)) return false;
    c->left = left, c->at = *at;
    return true;
}

/* Pattern search of Hooke and Jeeves: steps along each coordinate, then the combined step once
 * more, because the minimum of two constants often lies in a narrow valley; steps are halved where
 * none leads down. */
void sl_search__inner_minimize(sl_search__inner_candidate *c, const sl_inner *s) {
    const sl_search__inner_traits *traits = &sl_search__inner_traits_of[c->family];
    const int rounds = traits->coordinate[1] == SL_INNER__NONE ? 40 : 120;
    double part = 0.5;
    c->left = left_at(s, c, &c->at);
    for (int round = 0; round < rounds && part > 1e-7 && c->left > 1e-20; round++) {
        sl_search__inner_point before = c->at, further;
        bool moved = false;
        for (int k = 0; k < SL_INNER__COORDINATES; k++) {
            double step = part * sl_search__inner_grid_step(traits->coordinate[k]);
            for (int way = -1; step > 0 && way <= 1; way += 2) {
                sl_search__inner_point at = c->at;
                at.t[k] += way * step;
                moved |= move_to(c, s, &at);
            }
        }
        further = c->at;
        for (int k = 0; k < SL_INNER__COORDINATES; k++) further.t[k] += further.t[k] - before.t[k];
        if (!moved)
            part *= 0.5;
        else if (traits->coordinate[1] != SL_INNER__NONE)
            (void)move_to(c, s, &further);
    }
}

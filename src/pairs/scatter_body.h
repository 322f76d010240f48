/* scatter_body - uniforms to points, the inner loops. Included by scatter.c and scatter.avx2.c
 * under two names, SCATTER. They differ in the instructions the compiler may use, not in a bit of
 * the result: no sum is reordered and nothing is fused. */
#include <math.h>

#include "base/vector.h"
#include "pairs/pairs_impl.h"

/* What `place` does, for two variables in one loop: by far the most frequent case. */
static void place_in_plane(double *restrict x0, double *restrict x1, const double *restrict t0,
                           const double *restrict t1, const sl_cluster *c, int n) {
    const double (*r)[SL_PAIRS__MAX_COLUMNS] = c->rotation;
    for (int i = 0; i < n; i++) {
        double a = c->centre[0] + c->width[0] * t0[i], b = c->centre[1] + c->width[1] * t1[i];
        x0[i] = a * r[0][0] + b * r[1][0];
        x1[i] = a * r[0][1] + b * r[1][1];
    }
}

/* n points of a cluster, in columns: t, around 0 and of width 1, moved to their place x. */
static void place(double *const *x, double *const *t, const sl_cluster *c, int begin, int n,
                  int D) {
    for (int v = 0; v < D; v++) {
        double *at = t[v] + begin, centre = c->centre[v], width = c->width[v];
        for (int i = 0; i < n; i++) at[i] = centre + width * at[i];
    }
    for (int v = 0; v < D; v++) {
        double *restrict to = x[v] + begin;
        const double *a = t[0] + begin, by = c->rotation[0][v];
        for (int i = 0; i < n; i++) to[i] = a[i] * by;
        for (int w = 1; w < D; w++) {
            const double *b = t[w] + begin, more = c->rotation[w][v];
            for (int i = 0; i < n; i++) to[i] += b[i] * more;
        }
    }
}

/* Sums run in four strands, of every fourth number each, that do not wait for one another. */
enum { STRANDS = 4, PARTS = STRANDS / WD };
typedef union strands {
    dvec part[PARTS];
    double of[STRANDS];
} strands;

SL_INLINE void add(strands *sum, const double *x) {
    for (int k = 0; k < PARTS; k++) sum->part[k] += d_load(x + k * WD);
}

SL_INLINE void add_squares(strands *sum, const double *x) {
    for (int k = 0; k < PARTS; k++) sum->part[k] += d_load(x + k * WD) * d_load(x + k * WD);
}

static double total(const strands *s) {
    return (s->of[0] + s->of[1]) + (s->of[2] + s->of[3]);
}

/* Mean 0 and variance 1. The mean is taken twice: points may lie close, and scaling would blow up
 * the rounding error of the first, which is that of numbers of x's size. */
static void whiten(double *x, int n) {
    strands sum = { .of = { 0 } }, rest = sum, squares = sum;
    const int fours = n & ~3;
    bool alike = true;
    for (int i = 1; i < n && alike; i++) alike = x[i] == x[0];

    for (int i = 0; i < fours; i += 4) add(&sum, x + i);
    for (int i = fours; i < n; i++) sum.of[i & 3] += x[i];
    const double mean = total(&sum) / n;
    for (int i = 0; i < n; i++) x[i] -= mean;

    for (int i = 0; i < fours; i += 4) {
        add(&rest, x + i);
        add_squares(&squares, x + i);
    }
    for (int i = fours; i < n; i++) {
        rest.of[i & 3] += x[i];
        squares.of[i & 3] += x[i] * x[i];
    }
    const double more = total(&rest) / n, variance = total(&squares) / n - more * more;
    const double scale = alike ? 0 : 1 / sqrt(variance); // all alike: what is left is rounding
    for (int i = 0; i < n; i++) x[i] = (x[i] - more) * scale;
}

void SCATTER(double *const *x, double *uniforms, double *work, const sl_mixture *m, int points,
             int D, bool white) {
    double *t[SL_PAIRS__MAX_COLUMNS + 1]; // an even number of columns
    for (int v = 0; v < D + D % 2; v++) t[v] = uniforms + v * points;
    int begin = 0;
    for (int k = 0; k < m->clusters; k++) {
        const sl_cluster *c = &m->cluster[k];
        const int n = c->count;
        for (int v = 0; v < D && c->uniform; v++)
            for (int i = begin; i < begin + n; i++) t[v][i] = 2 * t[v][i] - 1;
        for (int v = 0; v < D && !c->uniform; v += 2)
            sl_pairs__normals(t[v] + begin, t[v + 1] + begin, work, n);
        if (D == 2)
            place_in_plane(x[0] + begin, x[1] + begin, t[0] + begin, t[1] + begin, c, n);
        else
            place(x, t, c, begin, n, D);
        begin += n;
    }
    SL_ASSERT(begin == points);
    for (int v = 0; v < D && white; v++) whiten(x[v], points);
}

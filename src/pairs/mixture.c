/* mixture - where the points of a data set come from (Kamienny et al. 2022, appendix).
 *
 * A few clusters, each Gaussian or uniform around its centre, with its own width along each axis
 * and its own rotation, which turns the centre too. Centres are standard normal; squared widths are
 * uniform on [0, 1): of a Gaussian that is the variance, of a uniform cluster the width is half of
 * its side. Then all points together are brought to mean 0 and variance 1 in each column.
 *
 * A draw takes as many uniforms from its stream whatever the shapes are, so the numbers of a point
 * depend on its place alone. It is an even number for each point: two uniforms make two normals,
 * and two points of different shape that shared them would not be independent. */
#include <math.h>

#include "pairs/pairs_impl.h"

#define TWO_PI 0x1.921fb54442d18p2

/* ---------------------------------------------------------------- the mixture --------------- */

/* A rotation without preferred direction (Haar measure on SO(D)): an angle in the plane, a random
 * unit quaternion in space. */
static void draw_rotation(sl_cluster *c, sl_rng *rng, int D) {
    c->angle = 0;
    c->rotation[0][0] = 1;
    if (D == 2) {
        c->angle = TWO_PI * sl_rng_uniform(rng);
        double s = sl_sin(c->angle), k = sl_cos(c->angle);
        c->rotation[0][0] = c->rotation[1][1] = k;
        c->rotation[0][1] = s;
        c->rotation[1][0] = -s;
    }
    if (D == 3) {
        double q[4], norm2 = 0;
        for (int i = 0; i < 4; i++) {
            q[i] = sl_rng_normal(rng); // never all 0: the generator's normals are not 0
            norm2 += q[i] * q[i];
        }
        double s = 2 / norm2, w = q[0], x = q[1], y = q[2], z = q[3];
        double r[3][3] = {
            { 1 - s * (y * y + z * z), s * (x * y - z * w), s * (x * z + y * w) },
            { s * (x * y + z * w), 1 - s * (x * x + z * z), s * (y * z - x * w) },
            { s * (x * z - y * w), s * (y * z + x * w), 1 - s * (x * x + y * y) },
        };
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) c->rotation[i][j] = r[i][j];
    }
}

/* One draw of N points over the weights, or their shares rounded down with the rest dealt out. */
static void set_counts(sl_mixture *m, sl_rng *rng, const sl_pairs_options *o) {
    const int N = (int)o->points, K = m->clusters;
    double edge[SL_PAIRS_MAX_CLUSTERS], sum = 0;
    for (int k = 0; k < K; k++) {
        m->cluster[k].count = 0;
        edge[k] = sum += m->cluster[k].weight;
    }
    int left = N;
    if (o->counts == SL_PAIRS_COUNTS_PROPORTIONAL) {
        for (int k = 0; k < K; k++)
            left -= m->cluster[k].count = (int)floor(m->cluster[k].weight * N);
        for (int k = 0; left > 0; k = (k + 1) % K, left--) m->cluster[k].count++;
        return;
    }
    double u[64];
    for (int n; left > 0; left -= n) {
        n = SL_MIN(left, SL_LEN(u));
        sl_rng_uniforms(u, rng, n);
        for (int i = 0; i < n; i++) {
            int k = 0; // edges passed: counting all of them is faster than guessing where to stop
            for (int e = 0; e < K - 1; e++) k += u[i] * sum >= edge[e];
            m->cluster[k].count++;
        }
    }
}

void sl_pairs__mixture(sl_mixture *m, sl_rng *rng, sl_rng *counts, const sl_pairs_options *o,
                       int variables) {
    m->clusters = 1 + (int)sl_rng_below(rng, (uint32_t)o->clusters);
    bool uniform = sl_rng_below(rng, 2);
    double sum = 0;
    for (int k = 0; k < m->clusters; k++) {
        sl_cluster *c = &m->cluster[k];
        c->uniform = o->shape == SL_PAIRS_SHAPE_DATASET ? uniform : sl_rng_below(rng, 2);
        c->weight = sl_rng_uniform(rng) + 0x1p-54; // (0, 1): a single cluster has a weight
        sum += c->weight;
        for (int v = 0; v < variables; v++) c->centre[v] = sl_rng_normal(rng);
        for (int v = 0; v < variables; v++) c->width[v] = sqrt(sl_rng_uniform(rng));
        draw_rotation(c, rng, variables);
    }
    for (int k = 0; k < m->clusters; k++) m->cluster[k].weight /= sum;
    set_counts(m, counts, o);
}

/* ---------------------------------------------------------------- points -------------------- */

/* u[2i], u[2i+1], two uniforms, become two independent normals (Box and Muller). n is even. */
static void make_normal(double *u, double *work, int n) {
    double *radius = work, *angle = work + n / 2, *turn = work + n;
    for (int i = 0; i < n / 2; i++) {
        radius[i] = 1 - u[2 * i]; // (0, 1]
        angle[i] = TWO_PI * u[2 * i + 1];
    }
    sl_log_array(radius, radius, n / 2);
    sl_cos_array(turn, angle, n / 2);
    sl_sin_array(angle, angle, n / 2);
    for (int i = 0; i < n / 2; i++) {
        double r = sqrt(-2 * radius[i]);
        u[2 * i] = r * turn[i];
        u[2 * i + 1] = r * angle[i];
    }
}

/* Points begin .. end-1 of a cluster: t[i*even + v], around 0 and of width 1, moved to its place. D
 * is written out at each call, so that the loops over it are. */
static inline __attribute__((always_inline)) void
place(double *const *x, const double *t, const sl_cluster *c, int begin, int end, int D) {
    const int even = (D + 1) & ~1;
    for (int i = begin; i < end; i++) {
        double at[MAX_COLUMNS];
        for (int v = 0; v < D; v++) at[v] = c->centre[v] + c->width[v] * t[i * even + v];
        for (int v = 0; v < D; v++) {
            double sum = at[0] * c->rotation[0][v];
            for (int w = 1; w < D; w++) sum += at[w] * c->rotation[w][v];
            x[v][i] = sum;
        }
    }
}

/* Sums in four strands, of every fourth number each, that do not wait for one another. */
static double sum_of(const double *x, int n, bool squares) {
    double s[4] = { 0 };
    int i = 0;
    for (; i + 4 <= n; i += 4)
        for (int k = 0; k < 4; k++) s[k] += squares ? x[i + k] * x[i + k] : x[i + k];
    for (; i < n; i++) s[i % 4] += squares ? x[i] * x[i] : x[i];
    return (s[0] + s[1]) + (s[2] + s[3]);
}

/* x less its mean, whose rounding error stays: it is that of numbers of x's size. */
static void centre(double *x, int n) {
    double mean = sum_of(x, n, false) / n;
    for (int i = 0; i < n; i++) x[i] -= mean;
}

static void whiten(double *x, int n) {
    bool alike = true;
    for (int i = 1; i < n && alike; i++) alike = x[i] == x[0];
    centre(x, n);
    centre(x, n); // points may lie close: scaling would blow up the error of the first mean
    double variance = sum_of(x, n, true) / n;
    double scale = alike ? 0 : 1 / sqrt(variance); // all alike: what is left is rounding
    for (int i = 0; i < n; i++) x[i] *= scale;
}

sl_status sl_pairs__draw(double *const *x, sl_arena *scratch, sl_rng *rng, const sl_mixture *m,
                         const sl_pairs_options *o, int variables) {
    const int N = (int)o->points, D = variables, even = (D + 1) & ~1, n = N * even;
    const size_t mark = sl_arena_mark(scratch);
    double *t = sl_arena_alloc(scratch, (size_t)n * 3 * sizeof *t);
    if (!t) return sl_fail_memory((size_t)n * 3, sizeof *t, "points");
    double *work = t + n;
    sl_rng_uniforms(t, rng, n);

    int begin = 0;
    for (int k = 0; k < m->clusters; k++) {
        const sl_cluster *c = &m->cluster[k];
        const int end = begin + c->count;
        if (c->uniform)
            for (int i = begin * even; i < end * even; i++) t[i] = 2 * t[i] - 1;
        else
            make_normal(t + begin * even, work, c->count * even);
        switch (D) {
        case 1: place(x, t, c, begin, end, 1); break;
        case 2: place(x, t, c, begin, end, 2); break;
        case 3: place(x, t, c, begin, end, 3); break;
        default: SL_ASSERT(!"at most MAX_COLUMNS variables");
        }
        begin = end;
    }
    SL_ASSERT(begin == N);
    for (int v = 0; v < D && o->whiten; v++) whiten(x[v], N);
    sl_arena_rewind(scratch, mark);
    return SL_OK;
}

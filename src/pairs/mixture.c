/* mixture - where the points of a data set come from (Kamienny et al. 2022, appendix).
 *
 * A few clusters, each Gaussian or uniform around its centre, with its own width along each axis
 * and its own rotation, which turns the centre too. Centres are standard normal; squared widths are
 * uniform on [0, 1): of a Gaussian that is the variance, of a uniform cluster the width is half of
 * its side. Then all points together are brought to mean 0 and variance 1 in each column.
 *
 * The number of uniforms that a draw takes does not depend on the shapes, so the numbers of a point
 * depend on its place alone. It is even for each point: two uniforms make two normals, and two
 * points of different shape that shared them would not be independent. */
#include <math.h>

#include "pairs/pairs_impl.h"

/* ---------------------------------------------------------------- normals ------------------- */

#define TWO_PI 0x1.921fb54442d18p2

/* Box and Muller (1958): a radius and an angle make two. */
void sl_pairs__normals(double *u, double *v, double *work, int n) {
    for (int i = 0; i < n; i++) {
        u[i] = 1 - u[i]; // (0, 1]
        v[i] = TWO_PI * v[i];
    }
    sl_log_array(u, u, n);
    sl_sincos_array(v, work, v, n);
    for (int i = 0; i < n; i++) {
        double radius = sqrt(-2 * u[i]);
        u[i] = radius * work[i];
        v[i] = radius * v[i];
    }
}

/* ---------------------------------------------------------------- counts -------------------- */

/* Shares of the weights rounded down, the rest assigned in order. */
static void deal_counts(sl_mixture *m, int points) {
    int left = points;
    for (int k = 0; k < m->clusters; k++)
        left -= m->cluster[k].count = (int)floor(m->cluster[k].weight * points);
    for (int k = 0; left > 0; k = (k + 1) % m->clusters, left--) m->cluster[k].count++;
}

/* One multinomial draw: a point belongs to the first cluster whose edge it lies below. */
static void draw_counts(sl_mixture *m, sl_rng *rng, int points) {
    double u[64], edge = 0;
    int below[SL_PAIRS_MAX_CLUSTERS] = { 0 };
    for (int n, left = points; left > 0; left -= n) {
        n = SL_MIN(left, SL_LEN(u));
        sl_rng_uniforms(u, rng, n);
        edge = 0;
        for (int k = 0; k < m->clusters - 1; k++) {
            edge += m->cluster[k].weight;
            for (int i = 0; i < n; i++) below[k] += u[i] < edge;
        }
    }
    below[m->clusters - 1] = points;
    for (int k = 0; k < m->clusters; k++) m->cluster[k].count = below[k] - (k ? below[k - 1] : 0);
}

/* ---------------------------------------------------------------- the mixture --------------- */

/* The number of uniforms that a cluster takes from its stream. Normals are made of them in
 * pairs. */
enum { U_SHAPE, U_WEIGHT, U_ANGLE, U_WIDTH, U_NORMAL = U_WIDTH + SL_PAIRS__MAX_COLUMNS };
enum { MAX_PAIRS = 4, MAX_UNIFORMS = U_NORMAL + 2 * MAX_PAIRS };

/* Pairs of normals that a cluster needs: for its centre, and in space for its rotation. */
static int normal_pairs(int variables) { return variables == 3 ? 4 : 1; }

/* What the uniforms of all clusters become: elementary functions are fastest on arrays. */
typedef struct values {
    double normal[SL_PAIRS_MAX_CLUSTERS][2 * MAX_PAIRS];
    double angle[SL_PAIRS_MAX_CLUSTERS], sine[SL_PAIRS_MAX_CLUSTERS], cosine[SL_PAIRS_MAX_CLUSTERS];
} values;

static void compute(values *out, const double *u, int clusters, int pairs) {
    enum { MOST = SL_PAIRS_MAX_CLUSTERS * MAX_PAIRS };
    double a[MOST], b[MOST], work[MOST];
    const int each = U_NORMAL + 2 * pairs;
    for (int k = 0; k < clusters; k++, u += each) {
        out->angle[k] = TWO_PI * u[U_ANGLE];
        for (int i = 0; i < pairs; i++) {
            a[k * pairs + i] = u[U_NORMAL + 2 * i];
            b[k * pairs + i] = u[U_NORMAL + 2 * i + 1];
        }
    }
    sl_sincos_array(out->sine, out->cosine, out->angle, clusters);
    sl_pairs__normals(a, b, work, clusters * pairs);
    for (int i = 0; i < clusters * pairs; i++) {
        out->normal[i / pairs][2 * (i % pairs)] = a[i];
        out->normal[i / pairs][2 * (i % pairs) + 1] = b[i];
    }
}

/* The rotation of a quaternion, which need not have length 1. */
static void rotate_in_space(sl_cluster *c, const double *q) {
    double(*r)[SL_PAIRS__MAX_COLUMNS] = c->rotation;
    double w = q[0], x = q[1], y = q[2], z = q[3];
    double s = 2 / (w * w + x * x + y * y + z * z);
    r[0][0] = 1 - s * (y * y + z * z), r[0][1] = s * (x * y - z * w), r[0][2] = s * (x * z + y * w);
    r[1][0] = s * (x * y + z * w), r[1][1] = 1 - s * (x * x + z * z), r[1][2] = s * (y * z - x * w);
    r[2][0] = s * (x * z - y * w), r[2][1] = s * (y * z + x * w), r[2][2] = 1 - s * (x * x + y * y);
}

/* A rotation without preferred direction (Haar measure on SO(D)): an angle in the plane, the
 * direction of four normals as a quaternion in space. */
static void set_rotation(sl_cluster *c, int D, double sine, double cosine, const double *normal) {
    c->rotation[0][0] = 1;
    if (D == 2) {
        c->rotation[0][0] = c->rotation[1][1] = cosine;
        c->rotation[0][1] = sine;
        c->rotation[1][0] = -sine;
    }
    if (D == 3) rotate_in_space(c, normal);
}

void sl_pairs__mixture(sl_mixture *m, sl_rng *rng, sl_rng *counts, const sl_pairs_options *o,
                       int variables) {
    const int pairs = normal_pairs(variables), D = variables, each = U_NORMAL + 2 * pairs;
    double first[2], all[SL_PAIRS_MAX_CLUSTERS * MAX_UNIFORMS], sum = 0;
    values v;
    sl_rng_uniforms(first, rng, 2);
    m->clusters = 1 + (int)(first[0] * (double)o->clusters);
    sl_rng_uniforms(all, rng, m->clusters * each);
    compute(&v, all, m->clusters, pairs);

    for (int k = 0; k < m->clusters; k++) {
        const double *u = all + k * each;
        sl_cluster *c = &m->cluster[k];
        *c = (sl_cluster){ .angle = D == 2 ? v.angle[k] : 0 };
        c->uniform = (o->shape == SL_PAIRS_SHAPE_DATASET ? first[1] : u[U_SHAPE]) < 0.5;
        c->weight = u[U_WEIGHT] + 0x1p-54; // (0, 1): a single cluster has a weight
        sum += c->weight;
        for (int i = 0; i < D; i++) {
            c->centre[i] = v.normal[k][i];
            c->width[i] = sqrt(u[U_WIDTH + i]);
        }
        set_rotation(c, D, v.sine[k], v.cosine[k], v.normal[k] + 4);
    }
    for (int k = 0; k < m->clusters; k++) m->cluster[k].weight /= sum;
    if (o->counts == SL_PAIRS_COUNTS_PROPORTIONAL)
        deal_counts(m, (int)o->points);
    else
        draw_counts(m, counts, (int)o->points);
}

/* ---------------------------------------------------------------- points -------------------- */

sl_status sl_pairs__draw(double *const *x, sl_arena *scratch, sl_rng *rng, const sl_mixture *m,
                         const sl_pairs_options *o, int variables) {
    const int N = (int)o->points, n = N * (variables + variables % 2);
    const size_t mark = sl_arena_mark(scratch);
    double *t = sl_arena_alloc(scratch, (size_t)(n + N) * sizeof *t);
    if (!t) return sl_fail_memory((size_t)(n + N), sizeof *t, "points");
    sl_rng_uniforms(t, rng, n);
    static sl_pairs__scatter *const scatter[SL_ISA_COUNT] =
        SL_ISA_VARIANTS(sl_pairs__scatter_base, sl_pairs__scatter_avx2, sl_pairs__scatter_avx2);
    scatter[sl_cpu()](x, t, t + n, m, N, variables, o->whiten);
    sl_arena_rewind(scratch, mark);
    return SL_OK;
}

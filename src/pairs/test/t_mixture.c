/* Where points come from: the mixture's own laws, points that follow it, and whitening. The twin
 * draws every point again from the same stream by libm in long double. Tests of distribution fail
 * by chance for about one seed in 1,000. */
#include "pairs/test/naive.h"

#include <stdlib.h>

enum { MAX_D = SL_UNIVERSE_MAX_VARS };

#define PI 3.14159265358979323846

static sl_mixture *mixture_room(sl_fixture *t) {
    sl_mixture *m =
        sl_arena_alloc(&t->arena, sizeof *m + SL_PAIRS_MAX_CLUSTERS * sizeof m->cluster[0]);
    assert_non_null(m);
    return m;
}

static void columns_room(sl_fixture *t, double *x[MAX_D], int64_t points) {
    for (int v = 0; v < MAX_D; v++) {
        x[v] = sl_arena_alloc(&t->arena, (size_t)points * sizeof *x[v]);
        assert_non_null(x[v]);
    }
}

static void draw_mixture(sl_fixture *t, sl_mixture *m, const sl_pairs_options *o, int D) {
    sl_rng a, b;
    sl_rng_init(&a, sl_rng_u64(&t->rng), 1, 0);
    sl_rng_init(&b, sl_rng_u64(&t->rng), 2, 0);
    sl_pairs__mixture(m, &a, &b, o, D);
}

static sl_pairs_options random_options(sl_fixture *t) {
    sl_pairs_options o = sl_pairs_defaults();
    o.points = 2 + sl_rng_below(&t->rng, 200);
    o.clusters = 1 + sl_rng_below(&t->rng, SL_PAIRS_MAX_CLUSTERS);
    o.shape = (int)sl_rng_below(&t->rng, 2);
    o.counts = (int)sl_rng_below(&t->rng, 2);
    o.whiten = (int)sl_rng_below(&t->rng, 2);
    return o;
}

/* ---------------------------------------------------------------- the mixture --------------- */

static void mixtures_are_well_formed(void **state) {
    sl_fixture *t = *state;
    sl_mixture *m = mixture_room(t);
    int both = 0;
    for (int i = 0; i < sl_test_iters(t, 5000); i++) {
        const sl_pairs_options o = random_options(t);
        const int D = 1 + i % MAX_D, N = (int)o.points;
        draw_mixture(t, m, &o, D);
        SL_CHECK(t, m->clusters >= 1 && m->clusters <= o.clusters, "%d clusters", m->clusters);
        int points = 0, floors = 0, uniform = 0;
        double weights = 0;
        for (int k = 0; k < m->clusters; k++) {
            const sl_cluster *c = &m->cluster[k];
            SL_CHECK(t, c->weight > 0 && c->count >= 0, "weight %g, %d points", c->weight,
                     c->count);
            for (int v = 0; v < D; v++)
                SL_CHECK(t, c->width[v] >= 0 && c->width[v] < 1, "width %g", c->width[v]);
            points += c->count;
            weights += c->weight;
            uniform += c->uniform;
            floors += (int)floor(c->weight * N);
        }
        SL_CHECK(t, points == N, "%d points of %d", points, N);
        SL_CHECK(t, fabs(weights - 1) < 1e-14, "weights sum to %.17g", weights);
        SL_CHECK(t, o.shape == SL_PAIRS_SHAPE_CLUSTER || uniform == 0 || uniform == m->clusters,
                 "%d of %d are uniform", uniform, m->clusters);
        both += o.shape == SL_PAIRS_SHAPE_CLUSTER && uniform > 0 && uniform < m->clusters;
        if (o.counts != SL_PAIRS_COUNTS_PROPORTIONAL) continue;
        // rounded down, and one more for the first ones until all are dealt out
        for (int k = 0; k < m->clusters; k++) {
            int want = (int)floor(m->cluster[k].weight * N) + (k < N - floors);
            SL_CHECK(t, m->cluster[k].count == want, "%d points, not %d, for %g of %d",
                     m->cluster[k].count, want, m->cluster[k].weight, N);
        }
    }
    assert_true(both > 0);
}

static void rotations_are_rotations(void **state) {
    sl_fixture *t = *state;
    sl_mixture *m = mixture_room(t);
    for (int i = 0; i < sl_test_iters(t, 3000); i++) {
        const sl_pairs_options o = random_options(t);
        const int D = 1 + i % MAX_D;
        draw_mixture(t, m, &o, D);
        for (int k = 0; k < m->clusters; k++) {
            const sl_cluster *c = &m->cluster[k];
            const double(*r)[MAX_D] = c->rotation;
            double det = r[0][0];
            if (D == 2) det = r[0][0] * r[1][1] - r[0][1] * r[1][0];
            if (D == 3)
                det = r[0][0] * (r[1][1] * r[2][2] - r[1][2] * r[2][1]) -
                      r[0][1] * (r[1][0] * r[2][2] - r[1][2] * r[2][0]) +
                      r[0][2] * (r[1][0] * r[2][1] - r[1][1] * r[2][0]);
            SL_CHECK(t, fabs(det - 1) < 1e-14, "determinant %.17g in %d", det, D);
            for (int a = 0; a < D; a++)
                for (int b = 0; b < D; b++) {
                    double rows = 0, columns = 0;
                    for (int v = 0; v < D; v++) {
                        rows += r[a][v] * r[b][v];
                        columns += r[v][a] * r[v][b];
                    }
                    SL_CHECK(t, fabs(rows - (a == b)) < 1e-14 && fabs(columns - (a == b)) < 1e-14,
                             "rows %d, %d: %g; columns: %g", a, b, rows, columns);
                }
            if (D != 2) continue;
            // the angle that is reported is the one that is used: x1 turns towards x2
            double turned = atan2(r[0][1], r[0][0]);
            if (turned < 0) turned += 2 * PI;
            SL_CHECK(t, c->angle >= 0 && c->angle < 2 * PI && fabs(c->angle - turned) < 1e-13,
                     "angle %.17g, rotated by %.17g", c->angle, turned);
        }
    }
}

/* Numbers in [0, 1) of many mixtures that should be uniform. */
typedef struct sample {
    double *v;
    int n;
} sample;

static void add(sample *s, int most, double v) {
    if (!s->v) s->v = sl_malloc((size_t)most, sizeof *s->v);
    if (s->v && s->n < most) s->v[s->n++] = v;
}

static void must_be_uniform(sl_fixture *t, sample *s, int n, int D) {
    double p[32];
    SL_ASSERT(n <= SL_LEN(p));
    for (int i = 0; i < n; i++) {
        p[i] = s[i].n ? sl_num_ks_uniform(s[i].v, s[i].n) : 1;
        sl_free(s[i].v);
    }
    for (int i = 0; i < n; i++)
        SL_CHECK(t, p[i] > 1e-4, "sample %d of %d: p = %g, %d variables", i, s[i].n, p[i], D);
}

/* Share of the first of two uniform weights: below s with probability s/(2(1-s)) up to 1/2. */
static double share_cdf(double s) { return s <= 0.5 ? s / (2 * (1 - s)) : 1 - (1 - s) / (2 * s); }

static void mixtures_follow_their_laws(void **state) {
    sl_fixture *t = *state;
    sl_mixture *m = mixture_room(t);
    const int n = sl_test_iters(t, 6000);
    for (int D = 1; D <= MAX_D; D++) {
        // centre, width, angle; weight of the first of two; rotation in space: angle, entries
        sample s[5 + 9] = { { 0 } };
        sl_pairs_options o = sl_pairs_defaults();
        int clusters[5] = { 0 }, shapes[4] = { 0 };
        for (int i = 0; i < n; i++) {
            draw_mixture(t, m, &o, D);
            clusters[m->clusters - 1]++;
            for (int k = 0; k < m->clusters; k++) {
                const sl_cluster *c = &m->cluster[k];
                for (int v = 0; v < D; v++) {
                    add(&s[0], 15 * n, erfc(-c->centre[v] / sqrt(2)) / 2);
                    add(&s[1], 15 * n, c->width[v] * c->width[v]);
                }
                if (D == 2) add(&s[2], 5 * n, c->angle / (2 * PI));
                if (D != 3) continue;
                // a random rotation is by an angle of density (1 - cos)/pi, and takes each axis to
                // a random place of the sphere, all of whose coordinates are uniform
                double angle =
                    acos((c->rotation[0][0] + c->rotation[1][1] + c->rotation[2][2] - 1) / 2);
                add(&s[4], 5 * n, (angle - sin(angle)) / PI);
                for (int j = 0; j < 9; j++)
                    add(&s[5 + j], 5 * n, (c->rotation[j / 3][j % 3] + 1) / 2);
            }
            if (m->clusters < 2) continue;
            shapes[m->cluster[0].uniform * 2 + m->cluster[1].uniform]++;
            if (m->clusters == 2) add(&s[3], n, share_cdf(m->cluster[0].weight));
        }
        must_be_uniform(t, s, SL_LEN(s), D);
        SL_CHECK(t, p_equal(clusters, 5) > 1e-4, "clusters: p = %g", p_equal(clusters, 5));
        SL_CHECK(t, p_equal(shapes, 4) > 1e-4, "shapes: p = %g", p_equal(shapes, 4));
    }
}

/* Every part of a mixture as a class, of `classes` that are equally likely. */
typedef struct part {
    int value, classes;
} part;

static part of_uniform(double u) { return (part){ (int)fmin(fmax(u * 4, 0), 3), 4 }; }

enum { MAX_PARTS = 20 };

/* Those of a mixture of two clusters or more; entries of one rotation belong together, so one. */
static int parts_of(part out[MAX_PARTS], const sl_mixture *m, int most, bool one_shape, int D) {
    int n = 0;
    const double w0 = m->cluster[0].weight, w1 = m->cluster[1].weight;
    out[n++] = (part){ m->clusters - 2, most - 1 };
    out[n++] = of_uniform(share_cdf(w0 / (w0 + w1)));
    for (int k = 0; k < 2; k++) {
        const sl_cluster *c = &m->cluster[k];
        if (k == 0 || !one_shape) out[n++] = (part){ c->uniform, 2 };
        for (int v = 0; v < D; v++) {
            out[n++] = of_uniform(erfc(-c->centre[v] / sqrt(2)) / 2);
            out[n++] = of_uniform(c->width[v] * c->width[v]);
        }
        if (D == 2) out[n++] = of_uniform(c->angle / (2 * PI));
        if (D == 3) out[n++] = of_uniform((c->rotation[0][0] + 1) / 2);
    }
    return n;
}

/* No part depends on another: not within a cluster, nor of the next one. */
static void parts_of_a_mixture_are_independent(void **state) {
    sl_fixture *t = *state;
    static int count[MAX_PARTS][MAX_PARTS][16];
    sl_mixture *m = mixture_room(t);
    for (int D = 1; D <= MAX_D; D++)
        for (int shape = 0; shape < 2; shape++) {
            sl_pairs_options o = sl_pairs_defaults();
            part a[MAX_PARTS] = { { 0 } };
            int n = 0;
            o.shape = shape;
            memset(count, 0, sizeof count);
            for (int i = 0; i < sl_test_iters(t, 4000); i++) {
                draw_mixture(t, m, &o, D);
                if (m->clusters < 2) continue;
                n = parts_of(a, m, (int)o.clusters, shape == SL_PAIRS_SHAPE_DATASET, D);
                for (int j = 0; j < n; j++)
                    for (int k = 0; k < j; k++)
                        count[j][k][a[j].value * a[k].classes + a[k].value]++;
            }
            for (int j = 0; j < n; j++)
                for (int k = 0; k < j; k++) {
                    double p = p_equal(count[j][k], a[j].classes * a[k].classes);
                    SL_CHECK(t, p > 1e-6, "parts %d and %d, %d variables, shape %d: p = %g", j, k,
                             D, shape, p);
                }
        }
}

static void a_data_set_of_one_shape_has_either(void **state) {
    sl_fixture *t = *state;
    sl_mixture *m = mixture_room(t);
    sl_pairs_options o = sl_pairs_defaults();
    o.shape = SL_PAIRS_SHAPE_DATASET;
    int shapes[2] = { 0 };
    for (int i = 0; i < sl_test_iters(t, 3000); i++) {
        draw_mixture(t, m, &o, 2);
        shapes[m->cluster[0].uniform]++;
    }
    SL_CHECK(t, p_equal(shapes, 2) > 1e-4, "%d and %d", shapes[0], shapes[1]);
}

/* Chi-square of counts against weights, all mixtures together. */
static void multinomial_counts_follow_the_weights(void **state) {
    sl_fixture *t = *state;
    sl_mixture *m = mixture_room(t);
    sl_pairs_options o = sl_pairs_defaults();
    o.points = 1000;
    double chi2 = 0;
    int freedom = 0;
    for (int i = 0; i < sl_test_iters(t, 500); i++) {
        draw_mixture(t, m, &o, 2);
        double least = 1, sum = 0;
        for (int k = 0; k < m->clusters; k++) {
            double mean = m->cluster[k].weight * 1000, off = m->cluster[k].count - mean;
            least = fmin(least, m->cluster[k].weight);
            sum += off * off / mean;
        }
        if (least < 0.02) continue; // too few expected for the law of chi-square
        chi2 += sum;
        freedom += m->clusters - 1;
    }
    double p = sl_num_chi2_tail(chi2, freedom);
    SL_CHECK(t, freedom > 500 && p > 1e-4 && p < 1 - 1e-4, "chi-square %g of %d: p = %g", chi2,
             freedom, p);
}

/* ---------------------------------------------------------------- points -------------------- */

/* A draw by the book: an even number of columns of uniforms is read, one column after the other;
 * two uniforms of a point, from columns side by side, make two normals, and uniform clusters take
 * them as they come; centre and all are turned. */
static void twin(long double *x[MAX_D], sl_rng *rng, const sl_mixture *m, const sl_pairs_options *o,
                 int D) {
    const int N = (int)o->points;
    static double u[MAX_D + 1][SL_PAIRS_MAX_POINTS];
    for (int v = 0; v < (D + 1) / 2 * 2; v++)
        for (int k = 0; k < N; k++) u[v][k] = sl_rng_uniform(rng);
    int i = 0;
    for (int k = 0; k < m->clusters; k++)
        for (int j = 0; j < m->cluster[k].count; j++, i++) {
            const sl_cluster *c = &m->cluster[k];
            long double at[MAX_D];
            for (int v = 0; v < D; v++) {
                long double radius = sqrtl(-2 * logl(1 - (long double)u[v / 2 * 2][i]));
                long double angle = 2 * acosl(-1) * u[v / 2 * 2 + 1][i];
                long double step = radius * (v % 2 ? sinl(angle) : cosl(angle));
                if (c->uniform) step = 2 * (long double)u[v][i] - 1;
                at[v] = c->centre[v] + c->width[v] * step;
            }
            for (int v = 0; v < D; v++) {
                x[v][i] = 0;
                for (int w = 0; w < D; w++) x[v][i] += at[w] * c->rotation[w][v];
            }
        }
    assert_int_equal(i, N);
    for (int v = 0; v < D && o->whiten; v++) {
        long double mean = 0, variance = 0;
        for (i = 0; i < N; i++) mean += x[v][i] / N;
        for (i = 0; i < N; i++) variance += (x[v][i] - mean) * (x[v][i] - mean) / N;
        for (i = 0; i < N; i++) x[v][i] = (x[v][i] - mean) / sqrtl(variance);
    }
}

/* Two draws from one stream, at sizes of all kinds: odd numbers of numbers among them. */
static void points_are_those_of_the_twin(void **state) {
    sl_fixture *t = *state;
    for (int i = 0; i < sl_test_iters(t, 1500); i++) {
        double *x[MAX_D];
        long double *want[MAX_D];
        sl_rng rng, same;
        sl_arena_rewind(&t->arena, 0);
        sl_mixture *m = mixture_room(t);
        sl_pairs_options o = random_options(t);
        const int D = 1 + i % MAX_D;
        if (i % 2) o.points = 2 + sl_rng_below(&t->rng, 6);
        const int N = (int)o.points;
        columns_room(t, x, N + 1);
        for (int v = 0; v < MAX_D; v++) {
            want[v] = sl_arena_alloc(&t->arena, (size_t)N * sizeof *want[v]);
            x[v][N] = 42;
        }
        draw_mixture(t, m, &o, D);
        sl_rng_init(&rng, sl_rng_u64(&t->rng), 3, 0);
        same = rng;
        for (int draw = 0; draw < 2; draw++) {
            const size_t mark = sl_arena_mark(&t->arena);
            SL_MUST(t, sl_pairs__draw(x, &t->arena, &rng, m, &o, D));
            SL_CHECK(t, sl_arena_mark(&t->arena) == mark, "the arena is not as it was");
            twin(want, &same, m, &o, D);
            for (int v = 0; v < D; v++) {
                double mean = 0, variance = 0;
                for (int k = 0; k < N; k++) {
                    // two points may lie close: what they are scaled by then is less exact
                    SL_CHECK(t, fabsl(x[v][k] - want[v][k]) < (N < 10 ? 1e-9 : 1e-11),
                             "draw %d, x%d[%d] of %d is %.17g, not %.17Lg", draw, v + 1, k, N,
                             x[v][k], want[v][k]);
                    mean += x[v][k] / N;
                    variance += x[v][k] * x[v][k] / N;
                }
                assert_true(x[v][N] == 42);
                if (!o.whiten) continue;
                SL_CHECK(t, fabs(mean) < 1e-14, "mean %g", mean);
                SL_CHECK(t, fabs(variance - 1) < 1e-13, "variance %.17g", variance);
            }
        }
    }
}

/* Compiled for every CPU and for AVX2: the same bits, at every size. */
static void variants_give_the_same_bits(void **state) {
    static sl_pairs__scatter *const scatter[SL_ISA_COUNT] =
        SL_ISA_VARIANTS(sl_pairs__scatter_base, sl_pairs__scatter_avx2, sl_pairs__scatter_avx2);
    sl_fixture *t = *state;
    if (sl_cpu_best() < SL_ISA_AVX2) skip();
    for (int i = 0; i < sl_test_iters(t, 600); i++) {
        const sl_pairs_options o = random_options(t);
        const int D = 1 + i % MAX_D, N = (int)o.points;
        double *x[MAX_D], *y[MAX_D];
        sl_arena_rewind(&t->arena, 0);
        sl_mixture *m = mixture_room(t);
        columns_room(t, x, N);
        columns_room(t, y, N);
        draw_mixture(t, m, &o, D);
        double *u = sl_arena_alloc(&t->arena, (size_t)N * (MAX_D + 2) * sizeof *u);
        double *v = sl_arena_alloc(&t->arena, (size_t)N * (MAX_D + 2) * sizeof *v);
        assert_true(u && v);
        sl_rng_uniforms(u, &t->rng, N * (MAX_D + 1));
        memcpy(v, u, (size_t)N * (MAX_D + 1) * sizeof *v);
        scatter[SL_ISA_BASE](x, u, u + N * (MAX_D + 1), m, N, D, o.whiten);
        scatter[SL_ISA_AVX2](y, v, v + N * (MAX_D + 1), m, N, D, o.whiten);
        for (int c = 0; c < D; c++)
            SL_CHECK(t, memcmp(x[c], y[c], (size_t)N * sizeof *x[c]) == 0, "column %d of %d, %d",
                     c + 1, D, N);
    }
}

/* The step that led from the centre to a point, in widths. */
static void undo(double step[MAX_D], const sl_cluster *c, double *const *x, int i, int D) {
    for (int v = 0; v < D; v++) {
        double at = 0;
        for (int w = 0; w < D; w++) at += x[w][i] * c->rotation[v][w]; // back: transposed
        step[v] = (at - c->centre[v]) / c->width[v];
    }
}

/* Steps back from the points are normal, or uniform on (-1, 1), and independent: among the axes of
 * a point, and from point to point, also where one cluster ends and one of other shape begins. */
static void points_follow_their_laws(void **state) {
    sl_fixture *t = *state;
    enum { CELLS = 6 };
    const int n = sl_test_iters(t, 3000);
    for (int D = 1; D <= MAX_D; D++) {
        sample s[2] = { { 0 } }; // steps of Gaussian and of uniform clusters
        // of (this, next) in cells: axes of a point; points of a cluster; points of two shapes
        int together[3][CELLS * CELLS] = { { 0 } };
        sl_pairs_options o = sl_pairs_defaults();
        o.points = 16;
        o.whiten = 0;
        for (int i = 0; i < n; i++) {
            double *x[MAX_D], last = 0;
            sl_rng rng;
            sl_arena_rewind(&t->arena, 0);
            sl_mixture *m = mixture_room(t);
            columns_room(t, x, o.points);
            draw_mixture(t, m, &o, D);
            sl_rng_init(&rng, sl_rng_u64(&t->rng), 3, 0);
            SL_MUST(t, sl_pairs__draw(x, &t->arena, &rng, m, &o, D));
            const sl_cluster *before = NULL;
            for (int k = 0, at = 0; k < m->clusters; k++) {
                const sl_cluster *c = &m->cluster[k];
                for (int j = 0; j < c->count; j++, at++) {
                    double u[MAX_D];
                    undo(u, c, x, at, D);
                    for (int v = 0; v < D; v++) {
                        u[v] = c->uniform ? (u[v] + 1) / 2 : erfc(-u[v] / sqrt(2)) / 2;
                        SL_CHECK(t, u[v] > -1e-9 && u[v] < 1 + 1e-9, "step to %g of 1", u[v]);
                        add(&s[c->uniform ? 1 : 0], 16 * n * D, u[v]);
                        u[v] = fmin(fmax(u[v], 0), 1 - 1e-9);
                        if (v > 0)
                            together[0][(int)(last * CELLS) * CELLS + (int)(u[v] * CELLS)]++;
                        else if (before && (before == c || before->uniform != c->uniform))
                            together[before == c ? 1 : 2]
                                    [(int)(last * CELLS) * CELLS + (int)(u[v] * CELLS)]++;
                        last = u[v];
                    }
                    before = c;
                }
            }
        }
        for (int k = D == 1; k < 3; k++) {
            double p = p_equal(together[k], CELLS * CELLS);
            if (p < 1e-4)
                for (int j = 0; j < 2; j++) sl_free(s[j].v);
            SL_CHECK(t, p >= 1e-4, "neighbours, case %d, %d variables: p = %g", k, D, p);
        }
        must_be_uniform(t, s, 2, D);
    }
}

/* Points that lie close far from 0: their mean is known no better than to a part of its own size,
 * which scaling must not blow up. */
static void narrow_columns_are_whitened_exactly(void **state) {
    sl_fixture *t = *state;
    for (int i = 0; i < sl_test_iters(t, 300); i++) {
        double *x[MAX_D];
        sl_pairs_options o = sl_pairs_defaults();
        sl_arena_rewind(&t->arena, 0);
        sl_mixture *m = mixture_room(t);
        const int D = 1 + i % MAX_D, N = 3 + i % 70;
        columns_room(t, x, N);
        o.points = N;
        o.clusters = 1;
        draw_mixture(t, m, &o, D);
        for (int v = 0; v < D; v++) m->cluster[0].width[v] = 1e-9;
        SL_MUST(t, sl_pairs__draw(x, &t->arena, &t->rng, m, &o, D));
        for (int v = 0; v < D; v++) {
            long double mean = 0, variance = 0;
            for (int k = 0; k < N; k++) mean += x[v][k] / N;
            for (int k = 0; k < N; k++) variance += x[v][k] * x[v][k] / N;
            SL_CHECK(t, fabsl(mean) < 1e-13L && fabsl(variance - 1) < 1e-13L,
                     "mean %Lg, variance %.17Lg of %d", mean, variance, N);
        }
    }
}

/* A column without spread has nothing to be scaled by: it becomes 0, whatever rounding makes of its
 * mean. */
static void a_constant_column_becomes_zero(void **state) {
    sl_fixture *t = *state;
    sl_mixture *m = mixture_room(t);
    sl_pairs_options o = sl_pairs_defaults();
    for (int i = 0; i < 200; i++) {
        double *x[MAX_D];
        columns_room(t, x, 100);
        o.points = 2 + i % 90;
        o.clusters = 1;
        draw_mixture(t, m, &o, 2);
        sl_cluster *c = &m->cluster[0];
        c->rotation[0][0] = c->rotation[1][1] = 1;
        c->rotation[0][1] = c->rotation[1][0] = 0;
        c->width[0] = 0;
        SL_MUST(t, sl_pairs__draw(x, &t->arena, &t->rng, m, &o, 2));
        for (int k = 0; k < o.points; k++)
            SL_CHECK(t, x[0][k] == 0, "%g of %lld alike at %.17g", x[0][k], (long long)o.points,
                     c->centre[0]);
    }
}

static sl_status draw(sl_fixture *t, double *const *x, const sl_mixture *m,
                      const sl_pairs_options *o) {
    sl_rng rng = t->rng;
    return sl_pairs__draw(x, &t->arena, &rng, m, o, 3);
}

static void each_allocation_may_fail(void **state) {
    sl_fixture *t = *state;
    const sl_pairs_options o = sl_pairs_defaults();
    sl_mixture *m = mixture_room(t);
    double *x[MAX_D];
    columns_room(t, x, o.points);
    draw_mixture(t, m, &o, 3);
    SL_EACH_ALLOCATION(t, draw(t, x, m, &o));
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(mixtures_are_well_formed),           SL_TEST(rotations_are_rotations),
        SL_TEST(mixtures_follow_their_laws),         SL_TEST(parts_of_a_mixture_are_independent),
        SL_TEST(a_data_set_of_one_shape_has_either), SL_TEST(multinomial_counts_follow_the_weights),
        SL_TEST(points_are_those_of_the_twin),       SL_TEST(variants_give_the_same_bits),
        SL_TEST(points_follow_their_laws),           SL_TEST(narrow_columns_are_whitened_exactly),
        SL_TEST(a_constant_column_becomes_zero),     SL_TEST(each_allocation_may_fail),
    };
    return sl_test_main("pairs.mixture", tests, SL_LEN(tests));
}

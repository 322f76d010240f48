/* The fast kernels that neither multiply matrices nor attend: one text for all instruction sets.
 *
 * A norm is a chain: sum of a row, mean, squares, root, quotient. One row leaves the machine
 * waiting at every link, so four rows (ROWS) walk the chain together, and their horizontal sums are
 * taken at once. Four rows of the widest model are 16 KB: a second look at them finds them in the
 * first cache.
 *
 * Column sums (db, dgain, doffset) stay in the first cache, and each row is added to them where
 * they lie. Four rows side by side, summed in registers first, were tried: on a Zen 3 they were no
 * faster at 64 columns, a tenth slower at 256, and half as fast at 1024, where rows are 4 KB apart
 * and all their lines fall into one set of the cache.
 *
 * A kernel is a function of one piece of a row, n numbers from column c on, inlined into a loop
 * over whole vectors and once for the rest, where n < W. What its caller left out (bits, a bias,
 * the norm) are constants there, so each combination is a loop of its own.
 *
 * The order of a sum depends on N, C and W alone. */
#include <math.h>

#include "nn/exponential.h"
#include "nn/pointwise_impl.h"

enum { ROWS = 4 };

/* ---------------------------------------------------------------- residual and norm --------- */

typedef struct residual_norm {
    bool join, bias, drop, norm; // which parts there are
    const float *x, *y, *b, *gain, *offset;
    float *xo, *h, *stat;
    const uint8_t *mask;
    float scale, eps;
    int C;
} residual_norm;

/* xo = x + dropout(y + b), of one piece of one row. Numbers past n are 0. */
SL_INLINE vec join(const residual_norm *s, size_t row, int c, int n) {
    const size_t at = row * (size_t)s->C + (size_t)c;
    vec x = v_load_n(s->x + at, n);
    if (!s->join) return x;
    vec y = v_load_n(s->y + at, n);
    if (s->bias) y += v_load_n(s->b + c, n);
    if (s->drop) {
        const uint8_t *mask = s->mask + row * (((size_t)s->C + 7) / 8);
        x = v_fma(v_keep(y, mask, (size_t)c, n), v_set(s->scale), x);
    } else {
        x += y;
    }
    v_store_n(s->xo + at, x, n);
    return x;
}

SL_INLINE vec join_row(const residual_norm *s, size_t row) {
    vec sum0 = v_set(0), sum1 = v_set(0);
    int c = 0;
    for (; c + 2 * W <= s->C; c += 2 * W) {
        sum0 += join(s, row, c, W);
        sum1 += join(s, row, c + W, W);
    }
    for (; c + W <= s->C; c += W) sum0 += join(s, row, c, W);
    if (c < s->C) sum1 += join(s, row, c, s->C - c);
    return sum0 + sum1;
}

SL_INLINE vec squares_of_row(const float *x, float mean, int C) {
    const vec m = v_set(mean);
    vec sum0 = v_set(0), sum1 = v_set(0);
    int c = 0;
    for (; c + 2 * W <= C; c += 2 * W) {
        const vec d0 = v_load(x + c) - m, d1 = v_load(x + c + W) - m;
        sum0 = v_fma(d0, d0, sum0);
        sum1 = v_fma(d1, d1, sum1);
    }
    for (; c + W <= C; c += W) {
        const vec d = v_load(x + c) - m;
        sum0 = v_fma(d, d, sum0);
    }
    if (c < C) {
        const vec d = v_load_tail(x + c, C - c, mean) - m;
        sum1 = v_fma(d, d, sum1);
    }
    return sum0 + sum1;
}

SL_INLINE void norm(const residual_norm *s, const float *x, float *h, vec mean, vec rstd, int c,
                    int n) {
    const vec z = (v_load_n(x + c, n) - mean) * rstd;
    v_store_n(h + c, v_fma(z, v_load_n(s->gain + c, n), v_load_n(s->offset + c, n)), n);
}

/* Up to ROWS rows from `row` on; a row's result does not depend on its neighbours. */
SL_INLINE void residual_norm_rows(const residual_norm *s, size_t row, int rows) {
    vec sum[ROWS];
    for (int r = 0; r < rows; r++) sum[r] = join_row(s, row + (size_t)r);
    if (!s->norm) return;

    const float *x = (s->join ? s->xo : s->x) + row * (size_t)s->C;
    const float share = (float)s->C;
    for (int r = rows; r < ROWS; r++) sum[r] = sum[0];
    float mean[ROWS], rstd[ROWS];
    v4_store(mean, v_sums(sum[0], sum[1], sum[2], sum[3]) / share);

    for (int r = 0; r < rows; r++)
        sum[r] = squares_of_row(x + (size_t)r * (size_t)s->C, mean[r], s->C);
    for (int r = rows; r < ROWS; r++) sum[r] = sum[0];
    const vec4 variance = v_sums(sum[0], sum[1], sum[2], sum[3]) / share;
    for (int r = 0; r < ROWS; r++) rstd[r] = 1 / sqrtf(variance[r] + s->eps);

    for (int r = 0; r < rows; r++) {
        const float *x_r = x + (size_t)r * (size_t)s->C;
        float *h_r = s->h + (row + (size_t)r) * (size_t)s->C;
        const vec m = v_set(mean[r]), d = v_set(rstd[r]);
        int c = 0;
        for (; c + W <= s->C; c += W) norm(s, x_r, h_r, m, d, c, W);
        if (c < s->C) norm(s, x_r, h_r, m, d, c, s->C - c);
        s->stat[2 * (row + (size_t)r)] = mean[r];
        s->stat[2 * (row + (size_t)r) + 1] = rstd[r];
    }
}

SL_INLINE void residual_norm_all(residual_norm s, bool joined, bool biased, bool dropped,
                                 bool normed, int N) {
    s.join = joined, s.bias = biased, s.drop = dropped, s.norm = normed;
    for (int n = 0; n < N; n += ROWS) residual_norm_rows(&s, (size_t)n, SL_MIN(ROWS, N - n));
}

static void residual_norm_fwd(float *xo, float *h, float *stat, const float *x, const float *y,
                              const float *b, const uint8_t *mask, float scale, const float *gain,
                              const float *offset, float eps, int N, int C) {
    const residual_norm s = { .x = x, .y = y, .b = b, .gain = gain, .offset = offset, .xo = xo,
                              .h = h, .stat = stat, .mask = mask, .scale = scale, .eps = eps,
                              .C = C };
    const bool normed = gain != NULL;
    if (!y && normed) residual_norm_all(s, false, false, false, true, N);
    else if (!y) return;
    else if (normed && mask && b) residual_norm_all(s, true, true, true, true, N);
    else if (normed && mask) residual_norm_all(s, true, false, true, true, N);
    else if (normed && b) residual_norm_all(s, true, true, false, true, N);
    else if (normed) residual_norm_all(s, true, false, false, true, N);
    else if (mask && b) residual_norm_all(s, true, true, true, false, N);
    else if (mask) residual_norm_all(s, true, false, true, false, N);
    else if (b) residual_norm_all(s, true, true, false, false, N);
    else residual_norm_all(s, true, false, false, false, N);
}

typedef struct back {
    bool norm, branch, drop, bias; // branch: dy is computed
    float *dx, *dy, *db, *dgain, *doffset;
    const float *dh, *xo, *gain, *stat;
    const uint8_t *mask;
    float scale;
    int C;
    // of each of the rows in work: dx += rstd dh gain + flat + tilt (xo - mean)
    float mean[ROWS], rstd[ROWS], flat[ROWS], tilt[ROWS];
} back;

/* Adds g = dh gain to g_sum, and g (xo - mean) to gd_sum. */
SL_INLINE void weigh(const back *s, const float *dh, const float *xo, vec mean, vec *g_sum,
                     vec *gd_sum, int c, int n) {
    const vec g = v_load_n(dh + c, n) * v_load_n(s->gain + c, n); // 0 past n
    *g_sum += g;
    *gd_sum = v_fma(g, v_load_n(xo + c, n) - mean, *gd_sum);
}

SL_INLINE void weigh_rows(back *s, size_t row, int rows) {
    vec g[ROWS], gd[ROWS];
    for (int r = 0; r < rows; r++) {
        const float *dh = s->dh + (row + (size_t)r) * (size_t)s->C;
        const float *xo = s->xo + (row + (size_t)r) * (size_t)s->C;
        s->mean[r] = s->stat[2 * (row + (size_t)r)];
        s->rstd[r] = s->stat[2 * (row + (size_t)r) + 1];
        const vec mean = v_set(s->mean[r]);
        vec g0 = v_set(0), g1 = v_set(0), gd0 = v_set(0), gd1 = v_set(0);
        int c = 0;
        for (; c + 2 * W <= s->C; c += 2 * W) {
            weigh(s, dh, xo, mean, &g0, &gd0, c, W);
            weigh(s, dh, xo, mean, &g1, &gd1, c + W, W);
        }
        for (; c + W <= s->C; c += W) weigh(s, dh, xo, mean, &g0, &gd0, c, W);
        if (c < s->C) weigh(s, dh, xo, mean, &g1, &gd1, c, s->C - c);
        g[r] = g0 + g1;
        gd[r] = gd0 + gd1;
    }
    for (int r = rows; r < ROWS; r++)
        g[r] = g[0], gd[r] = gd[0], s->mean[r] = s->mean[0], s->rstd[r] = s->rstd[0];

    // flat = -rstd mean(g); tilt (xo - mean) = -rstd mean(g z) z, which has two more rstd
    const float share = -1.0f / (float)s->C;
    const vec4 rstd = v4_load(s->rstd);
    v4_store(s->flat, v_sums(g[0], g[1], g[2], g[3]) * share * rstd);
    v4_store(s->tilt, v_sums(gd[0], gd[1], gd[2], gd[3]) * share * rstd * (rstd * rstd));
}

SL_INLINE void add_to(float *sum, vec x, int n) { v_store_n(sum, v_load_n(sum, n) + x, n); }

/* n numbers from column c on, of row r of those in work, which is row `row` of all. */
SL_INLINE void back_piece(const back *s, size_t row, int r, int c, int n) {
    const size_t at = row * (size_t)s->C + (size_t)c;
    vec dx = v_load_n(s->dx + at, n);
    if (s->norm) {
        const vec dh = v_load_n(s->dh + at, n), e = dh * v_set(s->rstd[r]);
        const vec d = v_load_n(s->xo + at, n) - v_set(s->mean[r]);
        dx += v_fma(e, v_load_n(s->gain + c, n), v_fma(d, v_set(s->tilt[r]), v_set(s->flat[r])));
        v_store_n(s->dx + at, dx, n);
        v_store_n(s->dgain + c, v_fma(e, d, v_load_n(s->dgain + c, n)), n);
        add_to(s->doffset + c, dh, n);
    }
    if (!s->branch) return;
    if (s->drop) {
        const uint8_t *mask = s->mask + row * (((size_t)s->C + 7) / 8);
        dx = v_keep(dx * v_set(s->scale), mask, (size_t)c, n);
    }
    v_store_n(s->dy + at, dx, n);
    if (s->bias) add_to(s->db + c, dx, n);
}

SL_INLINE void back_rows(back *s, size_t row, int rows) {
    if (s->norm) weigh_rows(s, row, rows);
    for (int r = 0; r < rows; r++) {
        int c = 0;
        for (; c + W <= s->C; c += W) back_piece(s, row + (size_t)r, r, c, W);
        if (c < s->C) back_piece(s, row + (size_t)r, r, c, s->C - c);
    }
}

SL_INLINE void back_all(back s, bool normed, bool branched, bool dropped, bool biased, int N) {
    s.norm = normed, s.branch = branched, s.drop = dropped, s.bias = biased;
    for (int n = 0; n < N; n += ROWS) back_rows(&s, (size_t)n, SL_MIN(ROWS, N - n));
}

static void residual_norm_bwd(float *dx, float *dy, float *db, float *dgain, float *doffset,
                     const float *dh, const float *xo, const float *stat, const uint8_t *mask,
                     float scale, const float *gain, int N, int C) {
    const back s = { .dx = dx, .dy = dy, .db = db, .dgain = dgain, .doffset = doffset, .dh = dh,
                     .xo = xo, .gain = gain, .stat = stat, .mask = mask, .scale = scale, .C = C };
    const bool normed = gain != NULL;
    if (!dy && normed) back_all(s, true, false, false, false, N);
    else if (!dy) return;
    else if (normed && mask && db) back_all(s, true, true, true, true, N);
    else if (normed && mask) back_all(s, true, true, true, false, N);
    else if (normed && db) back_all(s, true, true, false, true, N);
    else if (normed) back_all(s, true, true, false, false, N);
    else if (mask && db) back_all(s, false, true, true, true, N);
    else if (mask) back_all(s, false, true, true, false, N);
    else if (db) back_all(s, false, true, false, true, N);
    else back_all(s, false, true, false, false, N);
}

/* ---------------------------------------------------------------- activation ---------------- */

SL_INLINE vec sigmoid(vec u) { return v_set(1) / (v_set(1) + v_exp(v_set(0) - u)); }

SL_INLINE void silu(float *a, float *u, const float *b, int n) {
    const vec x = v_load_n(u, n) + v_load_n(b, n);
    v_store_n(u, x, n);
    v_store_n(a, x * sigmoid(x), n);
}

static void silu_fwd(float *a, float *u, const float *b, int N, int K) {
    for (int row = 0; row < N; row++, a += K, u += K) {
        int k = 0;
        for (; k + W <= K; k += W) silu(a + k, u + k, b + k, W);
        if (k < K) silu(a + k, u + k, b + k, K - k);
    }
}

SL_INLINE void silu_back(float *du, float *db, const float *da, const float *u, int n) {
    const vec x = v_load_n(u, n), s = sigmoid(x);
    const vec d = v_load_n(da, n) * v_fma(x * s, v_set(1) - s, s);
    v_store_n(du, d, n);
    add_to(db, d, n);
}

static void silu_bwd(float *du, float *db, const float *da, const float *u, int N, int K) {
    for (int row = 0; row < N; row++, du += K, da += K, u += K) {
        int k = 0;
        for (; k + W <= K; k += W) silu_back(du + k, db + k, da + k, u + k, W);
        if (k < K) silu_back(du + k, db + k, da + k, u + k, K - k);
    }
}

/* ---------------------------------------------------------------- ends of the model --------- */

/* A run of rows of one column, by columns c .. of the width: the weights stay in registers. */
SL_INLINE void cells(float *x, const float *m, const float *e, const float *wm, const float *we,
                     const float *code, int rows, int C, int n) {
    const vec a = v_load_n(wm, n), b = v_load_n(we, n), o = v_load_n(code, n);
    for (int r = 0; r < rows; r++)
        v_store_n(x + (size_t)r * (size_t)C, v_fma(v_set(m[r]), a, v_fma(v_set(e[r]), b, o)), n);
}

static void cells_fwd(float *x, const float *m, const float *e, const float *wm, const float *we,
                      const float *code, int N, int cols, int C) {
    for (int col = 0; col < cols; col++, code += C)
        for (int r = 0; r < N; r += ROWS) {
            const int rows = SL_MIN(ROWS, N - r);
            int c = 0;
            if (rows == ROWS)
                for (; c + W <= C; c += W) cells(x + c, m, e, wm + c, we + c, code + c, ROWS, C, W);
            for (; c + W <= C; c += W) cells(x + c, m, e, wm + c, we + c, code + c, rows, C, W);
            if (c < C) cells(x + c, m, e, wm + c, we + c, code + c, rows, C, C - c);
            x += (size_t)rows * (size_t)C;
            m += rows;
            e += rows;
        }
}

enum { WIDE = 4, RUN_ROWS = 64 }; // 12 sums in registers hide their own latency

SL_INLINE void cells_back(float *dwm, float *dwe, float *dcode, const float *dx, const float *m,
                          const float *e, int rows, int C, int vectors, int n) {
    vec sum_m[WIDE], sum_e[WIDE], sum[WIDE];
    for (int i = 0; i < vectors; i++) sum_m[i] = sum_e[i] = sum[i] = v_set(0);
    for (int r = 0; r < rows; r++)
        for (int i = 0; i < vectors; i++) {
            const vec d = v_load_n(dx + (size_t)r * (size_t)C + i * W, n);
            sum_m[i] = v_fma(v_set(m[r]), d, sum_m[i]);
            sum_e[i] = v_fma(v_set(e[r]), d, sum_e[i]);
            sum[i] += d;
        }
    for (int i = 0; i < vectors; i++) {
        v_store_n(dwm + i * W, v_load_n(dwm + i * W, n) + sum_m[i], n);
        v_store_n(dwe + i * W, v_load_n(dwe + i * W, n) + sum_e[i], n);
        v_store_n(dcode + i * W, v_load_n(dcode + i * W, n) + sum[i], n);
    }
}

static void cells_bwd(float *dwm, float *dwe, float *dcode, const float *dx, const float *m,
                      const float *e, int N, int cols, int C) {
    for (int col = 0; col < cols; col++, dcode += C)
        for (int r = 0; r < N; r += RUN_ROWS) {
            const int rows = SL_MIN(RUN_ROWS, N - r);
            int c = 0;
            for (; c + WIDE * W <= C; c += WIDE * W)
                cells_back(dwm + c, dwe + c, dcode + c, dx + c, m, e, rows, C, WIDE, W);
            for (; c + W <= C; c += W)
                cells_back(dwm + c, dwe + c, dcode + c, dx + c, m, e, rows, C, 1, W);
            if (c < C) cells_back(dwm + c, dwe + c, dcode + c, dx + c, m, e, rows, C, 1, C - c);
            dx += (size_t)rows * (size_t)C;
            m += rows;
            e += rows;
        }
}

static void tokens_fwd(float *x, const uint8_t *id, const uint8_t *at, const float *table,
                       const float *code, int N, int C) {
    for (int i = 0; i < N; i++, x += C) {
        const float *t = table + (size_t)id[i] * (size_t)C, *o = code + (size_t)at[i] * (size_t)C;
        int c = 0;
        for (; c + W <= C; c += W) v_store(x + c, v_load(t + c) + v_load(o + c));
        if (c < C) v_store_n(x + c, v_load_n(t + c, C - c) + v_load_n(o + c, C - c), C - c);
    }
}

SL_INLINE void add_both(float *a, float *b, const float *x, int n) {
    const vec d = v_load_n(x, n);
    v_store_n(a, v_load_n(a, n) + d, n);
    v_store_n(b, v_load_n(b, n) + d, n);
}

static void tokens_bwd(float *dtable, float *dcode, const float *dx, const uint8_t *id,
                       const uint8_t *at, int N, int C) {
    for (int i = 0; i < N; i++, dx += C) {
        float *t = dtable + (size_t)id[i] * (size_t)C, *o = dcode + (size_t)at[i] * (size_t)C;
        int c = 0;
        for (; c + W <= C; c += W) add_both(t + c, o + c, dx + c, W);
        if (c < C) add_both(t + c, o + c, dx + c, C - c);
    }
}

SL_INLINE float largest(const float *z, int V) {
    vec top0 = v_set(-HUGE_VALF), top1 = top0;
    int i = 0;
    for (; i + 2 * W <= V; i += 2 * W) {
        top0 = v_max(top0, v_load(z + i));
        top1 = v_max(top1, v_load(z + i + W));
    }
    for (; i + W <= V; i += W) top0 = v_max(top0, v_load(z + i));
    if (i < V) top1 = v_max(top1, v_load_tail(z + i, V - i, -HUGE_VALF));
    return v_largest(v_max(top0, top1));
}

/* e = exp(z - top), unless e is NULL; returns their sum, lane by lane. */
SL_INLINE vec powers(float *e, const float *z, float top, int V) {
    const vec t = v_set(top);
    vec sum0 = v_set(0), sum1 = v_set(0);
    int i = 0;
    for (; i + 2 * W <= V; i += 2 * W) {
        const vec a = v_exp(v_load(z + i) - t), b = v_exp(v_load(z + i + W) - t);
        if (e) v_store(e + i, a), v_store(e + i + W, b);
        sum0 += a;
        sum1 += b;
    }
    for (; i + W <= V; i += W) {
        const vec a = v_exp(v_load(z + i) - t);
        if (e) v_store(e + i, a);
        sum0 += a;
    }
    if (i < V) {
        const vec a = v_exp(v_load_tail(z + i, V - i, -HUGE_VALF) - t);
        if (e) v_store_tail(e + i, a, V - i);
        sum1 += a;
    }
    return sum0 + sum1;
}

SL_INLINE void multiply(float *x, float by, int n) {
    int i = 0;
    for (; i + W <= n; i += W) v_store(x + i, v_load(x + i) * v_set(by));
    if (i < n) v_store_tail(x + i, v_load_tail(x + i, n - i, 0) * v_set(by), n - i);
}

/* Up to four rows. *product is multiplied by their sums of powers; returns the sum of top - z at
 * the targets. */
SL_INLINE double xent_rows(double *product, float *dz, const float *z, const uint8_t *target,
                           int rows, int V) {
    double below = 0;
    float top[ROWS], sum[ROWS];
    vec s[ROWS];
    for (int r = 0; r < rows; r++) {
        const float *z_r = z + (size_t)r * (size_t)V;
        top[r] = largest(z_r, V);
        below += (double)top[r] - (double)z_r[target[r]]; // before dz, which may be z
    }
    for (int r = 0; r < rows; r++) {
        const size_t at = (size_t)r * (size_t)V;
        s[r] = powers(dz ? dz + at : NULL, z + at, top[r], V);
    }
    for (int r = rows; r < ROWS; r++) s[r] = s[0];
    v4_store(sum, v_sums(s[0], s[1], s[2], s[3]));
    for (int r = 0; r < rows; r++) {
        *product *= (double)sum[r];
        if (!dz) continue;
        float *dz_r = dz + (size_t)r * (size_t)V;
        multiply(dz_r, 1.0f / sum[r], V);
        dz_r[target[r]] -= 1.0f;
    }
    return below;
}

/* -log softmax = log(sum of powers) + top - z. The logarithm of a product is the sum of logarithms,
 * so one is taken for 32 rows: a row's sum is between 1 and V. */
static double xent(float *dz, const float *z, const uint8_t *target, int N, int V) {
    enum { ROWS_PER_LOG = 32 };
    SL_ASSERT(V <= 1 << 16); // the product of 32 of them is a double
    double loss = 0, product = 1;
    for (int i = 0; i < N; i += ROWS) {
        const size_t at = (size_t)i * (size_t)V;
        const int rows = SL_MIN(ROWS, N - i);
        loss += xent_rows(&product, dz ? dz + at : NULL, z + at, target + i, rows, V);
        if ((i + ROWS) % ROWS_PER_LOG == 0) loss += log(product), product = 1;
    }
    return loss + log(product);
}

static void exp_array(float *y, const float *x, int n) {
    int i = 0;
    for (; i + W <= n; i += W) v_store(y + i, v_exp(v_load(x + i)));
    if (i < n) v_store_tail(y + i, v_exp(v_load_tail(x + i, n - i, 0)), n - i);
}

/* rows_body - kernels whose rows do not know each other, for one instruction set. */
#include <math.h>

#include "nn/exponential.h"
#include "nn/rows_impl.h"

/* ---------------------------------------------------------------- panels -------------------- */

/* A tile is TALL rows by one panel, held in registers: 12 sums, what the instruction set has room
 * for. */
enum { VECS = SL_PANEL / W, TALL = W == 16 ? 12 : W == 8 ? 6 : 2 };
/* Inputs that are taken at a time: a panel's part and the rows of a tile stay in the first cache.
 * What is summed so far waits in y meanwhile, which loses nothing: a sum is a float either way. */
enum { DEEP = 256 };

typedef struct tile {
    float *y;
    const float *x, *panel, *b; // b: NULL, or to be added at the end
    int ldy, ldx;
    int C, n; // inputs; outputs, up to SL_PANEL
    bool on;  // y has the sum of the inputs before these
} tile;

SL_INLINE int in_vector(int n, int v) { return SL_MAX(0, SL_MIN(W, n - v * W)); }

/* rows and n are known to the compiler in the calls that count. */
SL_INLINE void multiply(const tile *t, int rows, int n) {
    vec s[TALL][VECS];
#pragma GCC unroll 12
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 4
        for (int v = 0; v < VECS; v++) {
            const int some = in_vector(n, v);
            const float *y = t->y + (size_t)r * (size_t)t->ldy + v * W;
            s[r][v] = t->on && some > 0 ? v_load_n(y, some) : v_set(0);
        }
    const float *x = t->x, *w = t->panel;
    const size_t ldx = (size_t)t->ldx;
    for (int c = 0; c < t->C; c++, x++, w += SL_PANEL) {
        vec p[VECS];
#pragma GCC unroll 4
        for (int v = 0; v < VECS; v++) p[v] = v_load(w + v * W);
#pragma GCC unroll 12
        for (int r = 0; r < rows; r++) {
            const vec a = v_set(x[(size_t)r * ldx]);
#pragma GCC unroll 4
            for (int v = 0; v < VECS; v++) s[r][v] = v_fma(a, p[v], s[r][v]);
        }
    }
#pragma GCC unroll 12
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 4
        for (int v = 0; v < VECS; v++) {
            const int some = in_vector(n, v);
            if (some <= 0) continue;
            if (t->b) s[r][v] += v_load_n(t->b + v * W, some);
            v_store_n(t->y + (size_t)r * (size_t)t->ldy + v * W, s[r][v], some);
        }
}

/* Up to TALL rows; a full tile and a full panel are the cases that count. */
static void multiply_rows(const tile *t, int rows) {
    if (t->n < SL_PANEL) {
        for (int r = 0; r < rows; r++) {
            tile one = *t;
            one.x += (size_t)r * (size_t)t->ldx;
            one.y += (size_t)r * (size_t)t->ldy;
            multiply(&one, 1, t->n);
        }
        return;
    }
    switch (rows) {
#define CASE(n) \
    case n: multiply(t, SL_MIN(n, TALL), SL_PANEL); break;
        CASE(1) CASE(2)
#if defined(__AVX2__)
        CASE(3) CASE(4) CASE(5) CASE(6)
#endif
#if defined(__AVX512F__)
        CASE(7) CASE(8) CASE(9) CASE(10) CASE(11) CASE(12)
#endif
#undef CASE
    }
}

static void panels_fwd(float *y, int ldy, const float *x, int ldx, const float *panels,
                       const float *b, int N, int C, int K) {
    for (int c = 0; c < C; c += DEEP) {
        const bool end = c + DEEP >= C;
        tile t = { .ldy = ldy, .ldx = ldx, .C = end ? C - c : DEEP, .on = c > 0 };
        for (int k = 0; k < K; k += SL_PANEL) {
            t.panel = panels + (size_t)k * (size_t)C + (size_t)c * SL_PANEL;
            t.b = b && end ? b + k : NULL;
            t.n = SL_MIN(SL_PANEL, K - k);
            for (int r = 0; r < N; r += TALL) {
                t.y = y + (size_t)r * (size_t)ldy + k;
                t.x = x + (size_t)r * (size_t)ldx + c;
                multiply_rows(&t, SL_MIN(TALL, N - r));
            }
        }
    }
}

/* ---------------------------------------------------------------- softmax ------------------- */

/* Past n there is nothing that counts. */
SL_INLINE vec scores_at(const float *z, int i, int n) {
    return i + W <= n ? v_load(z + i) : v_load_tail(z + i, n - i, -HUGE_VALF);
}

/* Returns one over the sum, which the powers are still to be multiplied by. */
SL_INLINE float powers_of(float *z, float scale, int n) {
    vec top = v_set(-HUGE_VALF), sum = v_set(0);
    for (int i = 0; i < n; i += W) top = v_max(top, scores_at(z, i, n));
    const vec t = v_set(v_largest(top)), s = v_set(scale);
    for (int i = 0; i < n; i += W) {
        const vec e = v_exp((scores_at(z, i, n) - t) * s); // exp(-infinity) is 0
        v_store_n(z + i, e, SL_MIN(W, n - i));
        sum += e;
    }
    return 1 / v_sums(sum, sum, sum, sum)[0];
}

static void softmax_rows(float *z, int ld, float scale, int N, int n) {
    for (int r = 0; r < N; r++, z += ld) {
        const vec over = v_set(powers_of(z, scale, n));
        for (int i = 0; i < n; i += W) {
            const int some = SL_MIN(W, n - i);
            v_store_n(z + i, v_load_n(z + i, some) * over, some);
        }
    }
}

/* ---------------------------------------------------------------- attention of a row -------- */

/* Products of a query's head with four keys' at a time. */
SL_INLINE void scores_of_four(float *p, const float *q, const float *const *k, int at, int D) {
    vec s[4] = { v_set(0), v_set(0), v_set(0), v_set(0) };
    int c = 0;
    for (; c + W <= D; c += W) {
        const vec a = v_load(q + c);
        for (int i = 0; i < 4; i++) s[i] = v_fma(a, v_load(k[i] + at + c), s[i]);
    }
    if (c < D) {
        const vec a = v_load_n(q + c, D - c);
        for (int i = 0; i < 4; i++) s[i] = v_fma(a, v_load_n(k[i] + at + c, D - c), s[i]);
    }
    v4_store(p, v_sums(s[0], s[1], s[2], s[3]));
}

enum { STRIP = 8 }; // vectors of a result that are summed at once

/* o = over (p[0] v[0] + p[1] v[1] + ...), for `strip` vectors of it. */
SL_INLINE void weigh_values(float *o, const float *p, const float *const *kv, int value, int T,
                            vec over, int strip) {
    vec s[STRIP];
#pragma GCC unroll 8
    for (int i = 0; i < strip; i++) s[i] = v_set(0);
    for (int t = 0; t < T; t++) {
        const vec a = v_set(p[t]);
        const float *v = kv[t] + value;
#pragma GCC unroll 8
        for (int i = 0; i < strip; i++) s[i] = v_fma(a, v_load(v + i * W), s[i]);
    }
#pragma GCC unroll 8
    for (int i = 0; i < strip; i++) v_store(o + i * W, s[i] * over);
}

/* Keys lie far from each other, so each is read from end to end, all heads of it, before the next
 * ones. */
static void attn_row_fwd(float *o, const float *q, const float *const *kv, int T, int H, int D,
                         float *p) {
    const float scale = 1 / sqrtf((float)D);
    const int row = T + 3; // scores are written by fours
    for (int t = 0; t < T; t += 4) {
        const float *k[4]; // the last key again for those that are not there
        for (int i = 0; i < 4; i++) k[i] = kv[SL_MIN(t + i, T - 1)];
        for (int i = 0; i < 4 && t + 4 + i < T; i++) // the next ones, on their way meanwhile
            for (int c = 0; c < H * D; c += 16) __builtin_prefetch(kv[t + 4 + i] + c);
        for (int h = 0; h < H; h++) scores_of_four(p + h * row + t, q + h * D, k, h * D, D);
    }
    for (int h = 0; h < H; h++) {
        float *weight = p + h * row;
        const vec over = v_set(powers_of(weight, scale, T));
        const int value = (H + h) * D;
        int c = 0;
        for (; c + STRIP * W <= D; c += STRIP * W)
            weigh_values(o + h * D + c, weight, kv, value + c, T, over, STRIP);
        for (; c + W <= D; c += W)
            weigh_values(o + h * D + c, weight, kv, value + c, T, over, 1);
        if (c < D) {
            vec s = v_set(0);
            for (int t = 0; t < T; t++)
                s = v_fma(v_set(weight[t]), v_load_n(kv[t] + value + c, D - c), s);
            v_store_n(o + h * D + c, s * over, D - c);
        }
    }
}

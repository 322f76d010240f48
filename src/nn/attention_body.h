/* attention_body - attention of one group of queries to one group of keys, for one instruction set.
 *
 * Everything but the softmax is one small product, C[m][n] (+)= sum over k of A(m,k) B[k][n], that
 * stays in the first two caches. It is computed in tiles of registers: rows of A are broadcast,
 * vectors of B are read from panels,
 *
 *     panel of B    [k = 0: 2 vectors][k = 1: 2 vectors] ...      one after the other in scratch
 *     tile of C     6 rows x 2 vectors: 12 sums in registers, 12 multiply-adds for 8 loads
 *
 * so the packing of B costs one pass over it and the rest reads neighbouring bytes. Packing
 * matters: rows of q, k and v are 3 H D numbers apart, often a multiple of 1024 bytes, and 64 of
 * them fall on a few sets of the first cache.
 *
 *     forward    S = Q K^T            A = Q rows        B = K, transposed while packing
 *                O = P V              A = P rows        B = V
 *     backward   dP = dO V^T          A = dO rows       B = V, transposed
 *                dV = P^T dO          A = P columns     B = dO
 *                dQ = dS K            A = dS rows       B = K
 *                dK = dS^T Q          A = dS columns    B = Q
 *
 * Queries are taken in blocks of SL_ATTN__BLOCK. With causal, tiles above the diagonal are neither
 * computed nor read: what is left out is decided by tile, what lies above the diagonal inside a
 * tile is 0 in P and dS. */
#include "nn/attention_impl.h"
#include "nn/exponential.h"

enum { PANEL = 2 * W, ROWS = 6, ROWS_NARROW = 8, DEPTH = 256 };

/* ---------------------------------------------------------------- packing ------------------- */

SL_INLINE size_t panels(int n) { return (size_t)((n + PANEL - 1) / PANEL); }

/* Panels of B[k][n] = x[k][n], k < K; N is a multiple of 8. Room: panels(N) K PANEL numbers. */
static void pack(float *out, const float *x, int ldx, int K, int N) {
    for (int n = 0; n < N; n += PANEL, out += (size_t)K * PANEL) {
        const float *from = x + n;
        const int width = SL_MIN(PANEL, N - n);
        if (width == PANEL)
            for (int k = 0; k < K; k++) {
                const float *row = from + (size_t)k * (size_t)ldx;
                v_store(out + (size_t)k * PANEL, v_load(row));
                v_store(out + (size_t)k * PANEL + W, v_load(row + W));
            }
        else
            for (int k = 0; k < K; k++)
                for (int i = 0; i < PANEL; i += UNIT)
                    unit_store(out + (size_t)k * PANEL + i,
                               i < width ? unit_load(from + (size_t)k * (size_t)ldx + i)
                                         : (unit){ 0 });
    }
}

/* Panels of B[k][n] = x[n][k], k < K, a multiple of 8, n < N. Up to the next multiple of 16 the
 * last row stands again: what is made of it falls past the keys, where the weights are 0. */
static void pack_transposed(float *out, const float *x, int ldx, int K, int N) {
    for (int n = 0; n < sl_nn_attn_row(N); n += UNIT) {
        float *to = out + (size_t)(n / PANEL) * (size_t)K * PANEL + n % PANEL;
        const float *row[UNIT];
        for (int i = 0; i < UNIT; i++) row[i] = x + (size_t)SL_MIN(n + i, N - 1) * (size_t)ldx;
        for (int k = 0; k < K; k += 4) {
            unit r[4];
            for (int i = 0; i < 4; i++) {
                const vec4 lo = v4_load(row[i] + k);
#if SL_VECTOR_BYTES == 16
                r[i] = lo;
#else
                const vec4 hi = v4_load(row[i + 4] + k);
                r[i] = __builtin_shufflevector(lo, hi, 0, 1, 2, 3, 4, 5, 6, 7);
#endif
            }
            unit_transpose(r);
            for (int i = 0; i < 4; i++) unit_store(to + (size_t)(k + i) * PANEL, r[i]);
        }
    }
}

/* ---------------------------------------------------------------- product ------------------- */

/* A as it stands: A(m,k) = a[m am + k ak]. One of am, ak is 1, which the compiler knows. */
typedef struct factor {
    const float *a;
    size_t am, ak;
} factor;

/* The first n numbers, n being W or, of vectors of 16, half of that. */
SL_INLINE vec load_first(const float *x, int n) { return W == 16 ? v_load_n(x, n) : v_load(x); }
SL_INLINE void store_first(float *x, vec a, int n) {
    if (W == 16) v_store_n(x, a, n);
    else v_store(x, a);
}

/* C[0 .. rows)[0 .. vectors W) of one panel; the last vector's first `last` numbers are written.
 * rows, vectors and by_rows are constants where this is called. */
SL_INLINE void tile(float *C, size_t ldc, factor A, const float *B, int K, const int rows,
                 const int vectors, int last, bool add, const bool by_rows) {
    vec sum[ROWS_NARROW][2];
    SL_UNROLL for (int m = 0; m < rows; m++)
        SL_UNROLL for (int v = 0; v < vectors; v++) sum[m][v] = (vec){ 0 };
    for (int k = 0; k < K; k++, B += PANEL) {
        vec b[2];
        SL_UNROLL for (int v = 0; v < vectors; v++) b[v] = v_load(B + v * W);
        SL_UNROLL for (int m = 0; m < rows; m++) {
            const vec a = v_set(by_rows ? A.a[(size_t)m * A.am + (size_t)k] : A.a[m]);
            SL_UNROLL for (int v = 0; v < vectors; v++) sum[m][v] = v_fma(a, b[v], sum[m][v]);
        }
        if (!by_rows) A.a += A.ak;
    }
    if (add)
        SL_UNROLL for (int m = 0; m < rows; m++)
            SL_UNROLL for (int v = 0; v < vectors; v++)
                sum[m][v] += load_first(C + (size_t)m * ldc + v * W,
                                        v == vectors - 1 ? last : W);
    SL_UNROLL for (int m = 0; m < rows; m++)
        SL_UNROLL for (int v = 0; v < vectors; v++)
            store_first(C + (size_t)m * ldc + v * W, sum[m][v],
                        v == vectors - 1 ? last : W);
}

#define CASES(rows_max, vectors, by_rows)                                                  \
    switch (rows) {                                                                        \
    case 1: tile(C, ldc, A, B, K, 1, vectors, last, add, by_rows); return;                 \
    case 2: tile(C, ldc, A, B, K, 2, vectors, last, add, by_rows); return;                 \
    case 3: tile(C, ldc, A, B, K, 3, vectors, last, add, by_rows); return;                 \
    case 4: tile(C, ldc, A, B, K, 4, vectors, last, add, by_rows); return;                 \
    case 5: tile(C, ldc, A, B, K, 5, vectors, last, add, by_rows); return;                 \
    case 6: tile(C, ldc, A, B, K, 6, vectors, last, add, by_rows); return;                 \
    case 7: tile(C, ldc, A, B, K, SL_MIN(7, rows_max), vectors, last, add, by_rows); return; \
    default: tile(C, ldc, A, B, K, rows_max, vectors, last, add, by_rows); return;         \
    }

static void tile_of_rows(float *C, size_t ldc, factor A, const float *B, int K, int rows,
                         int vectors, int last, bool add) {
    if (vectors == 2) CASES(ROWS, 2, true) else CASES(ROWS_NARROW, 1, true)
}
static void tile_of_columns(float *C, size_t ldc, factor A, const float *B, int K, int rows,
                            int vectors, int last, bool add) {
    if (vectors == 2) CASES(ROWS, 2, false) else CASES(ROWS_NARROW, 1, false)
}
#undef CASES

/* What a product leaves out below or above a diagonal, counted in tiles: k or n = m + diagonal. */
typedef enum cut { CUT_NONE, CUT_N_ABOVE, CUT_K_ABOVE, CUT_K_BELOW } cut;

/* C (M,N) = A B, or added to it. B in panels of depth B_depth >= K; N is a multiple of 8.
 *
 *     CUT_N_ABOVE   C[m][n] is needed for n <= m + diagonal only
 *     CUT_K_ABOVE   A(m,k) is 0 for k > m + diagonal
 *     CUT_K_BELOW   A(m,k) is 0 for k < m + diagonal */
static void product(float *C, int ldc, factor A, const float *B, int B_depth, int M, int N, int K,
                    bool add, cut left_out, int diagonal) {
    for (int k0 = 0; k0 < K; k0 += DEPTH, add = true)
        for (int n = 0; n < N; n += PANEL) {
            const float *panel = B + (size_t)(n / PANEL) * (size_t)B_depth * PANEL;
            const int width = SL_MIN(PANEL, N - n), vectors = (width + W - 1) / W;
            const int last = width - (vectors - 1) * W;
            const int step = vectors == 2 ? ROWS : ROWS_NARROW;
            for (int m = 0; m < M; m += step) {
                const int rows = SL_MIN(step, M - m);
                int lo = k0, hi = SL_MIN(k0 + DEPTH, K);
                if (left_out == CUT_N_ABOVE && n > m + rows - 1 + diagonal) continue;
                if (left_out == CUT_K_ABOVE) hi = SL_MIN(hi, m + rows + diagonal);
                if (left_out == CUT_K_BELOW) lo = SL_MAX(lo, m + diagonal);
                if (add && lo >= hi) continue;
                const factor part = { A.a + (size_t)m * A.am + (size_t)lo * A.ak, A.am, A.ak };
                float *c = C + (size_t)m * (size_t)ldc + n;
                const float *b = panel + (size_t)lo * PANEL;
                if (A.ak == 1)
                    tile_of_rows(c, (size_t)ldc, part, b, hi - lo, rows, vectors, last, add);
                else
                    tile_of_columns(c, (size_t)ldc, part, b, hi - lo, rows, vectors, last, add);
            }
        }
}

/* ---------------------------------------------------------------- softmax ------------------- */

/* Rows are taken four at a time: a row alone is one chain of maximum, exponentials, sum and
 * division, which the CPU would wait for. Row i of them sees `seen` + i grows keys. */
enum { GROUP = 4 };
typedef struct extent {
    int seen, grows;
    int row; // numbers in a row, those past the keys being 0
} extent;

SL_INLINE int seen_by(extent e, int i) { return e.seen + i * e.grows; }
SL_INLINE ivec mask_up_to(int n) { return i_count() < (ivec)(n - (ivec){ 0 }); }

/* Scores s in p become softmax(s / sqrt(D)), base2 being log2(e) / sqrt(D). */
SL_INLINE void softmax(float *p, extent e, float base2, const int rows) {
    const int whole = e.seen / W * W, end = seen_by(e, rows - 1); // every row has `whole`
    const size_t row = (size_t)e.row;
    const vec least = v_set(-__builtin_inff()), slope = v_set(base2);
    vec top[GROUP] = { least, least, least, least }, total[GROUP] = { { 0 } };
    for (int j = 0; j < whole; j += W)
        SL_UNROLL for (int i = 0; i < rows; i++)
            top[i] = v_max(v_load(p + (size_t)i * row + j), top[i]);
    for (int j = whole; j < end; j += W)
        SL_UNROLL for (int i = 0; i < rows; i++)
            top[i] = v_max(v_choose(mask_up_to(seen_by(e, i) - j), v_load(p + (size_t)i * row + j),
                                   least), top[i]);

    const vec4 highest = v_maxima(top[0], top[1], top[2], top[3]);
    SL_UNROLL for (int i = 0; i < rows; i++) top[i] = v_set(highest[i]);
    for (int j = 0; j < whole; j += W)
        SL_UNROLL for (int i = 0; i < rows; i++) {
            float *at = p + (size_t)i * row + j;
            const vec power = v_exp2((v_load(at) - top[i]) * slope);
            total[i] += power;
            v_store(at, power);
        }
    for (int j = whole; j < end; j += W)
        SL_UNROLL for (int i = 0; i < rows; i++) {
            float *at = p + (size_t)i * row + j;
            const vec power = v_choose(mask_up_to(seen_by(e, i) - j),
                                       v_exp2((v_load(at) - top[i]) * slope), (vec){ 0 });
            total[i] += power;
            v_store(at, power);
        }

    const vec4 share = 1 / v_sums(total[0], total[1], total[2], total[3]);
    SL_UNROLL for (int i = 0; i < rows; i++) top[i] = v_set(share[i]);
    int j = 0;
    for (; j < end; j += W)
        SL_UNROLL for (int i = 0; i < rows; i++) {
            float *at = p + (size_t)i * row + j;
            v_store(at, v_load(at) * top[i]);
        }
    for (; j < e.row; j += W)
        SL_UNROLL for (int i = 0; i < rows; i++) v_store(p + (size_t)i * row + j, (vec){ 0 });
}

/* out[0 .. n) := what dropout leaves of p, multiplied by scale. n is a multiple of W. */
SL_INLINE void drop(float *out, const float *p, const uint8_t *mask, float scale, int n) {
    for (int j = 0; j < n; j += W)
        v_store(out + j, v_keep(v_load(p + j) * v_set(scale), mask, (size_t)j, W));
}

/* dp, the gradient of what went into the second product, becomes the gradient of the scores before
 * their division: ds = p (dp - sum of dp p) root. Past the keys of a row p is 0, and ds is up to
 * n. */
SL_INLINE void softmax_bwd(float *dp, const float *p, const uint8_t *mask, float scale, extent e,
                        int n, float root, const int rows) {
    const int end = seen_by(e, rows - 1);
    const size_t row = (size_t)e.row;
    vec total[GROUP] = { { 0 } };
    int j = 0;
    for (; j < end; j += W)
        SL_UNROLL for (int i = 0; i < rows; i++) {
            const size_t at = (size_t)i * row + (size_t)j;
            vec d = v_load(dp + at);
            if (mask) {
                d = v_keep(d * v_set(scale), mask, at, W);
                v_store(dp + at, d);
            }
            total[i] = v_fma(d, v_load(p + at), total[i]);
        }
    const vec4 mean = v_sums(total[0], total[1], total[2], total[3]);
    SL_UNROLL for (int i = 0; i < rows; i++) total[i] = v_set(mean[i]);
    for (j = 0; j < end; j += W)
        SL_UNROLL for (int i = 0; i < rows; i++) {
            const size_t at = (size_t)i * row + (size_t)j;
            v_store(dp + at, v_load(p + at) * v_set(root) * (v_load(dp + at) - total[i]));
        }
    for (; j < n; j += W)
        SL_UNROLL for (int i = 0; i < rows; i++) v_store(dp + (size_t)i * row + j, (vec){ 0 });
}

/* ---------------------------------------------------------------- attention ----------------- */

static void attn_fwd(float *o, int ldo, float *p, const float *q, int ldq, const float *k,
                     const float *v, int ldkv, const uint8_t *mask, float scale, int Tq, int Tk,
                     int H, int D, bool causal, float *scratch) {
    const int row = sl_nn_attn_row(Tk);
    const float base2 = (float)(1.4426950408889634 / __builtin_sqrt((double)D));
    float *k_t = scratch;                                   // panels of D x row
    float *v_packed = k_t + panels(row) * (size_t)D * PANEL; // panels of Tk x D
    float *kept = v_packed + panels(D) * (size_t)Tk * PANEL; // (BLOCK, row): P after dropout
    for (int h = 0; h < H; h++) {
        const int head = h * D;
        pack_transposed(k_t, k + head, ldkv, D, Tk);
        pack(v_packed, v + head, ldkv, Tk, D);
        for (int i0 = 0; i0 < Tq; i0 += SL_ATTN__BLOCK) {
            const int rows = SL_MIN(SL_ATTN__BLOCK, Tq - i0);
            const int seen = causal ? i0 + rows : Tk; // by the last of them
            const size_t at = ((size_t)h * (size_t)Tq + (size_t)i0) * (size_t)row;
            float *p_i = p + at;
            const float *weights = p_i;
            product(p_i, row, (factor){ q + (size_t)i0 * (size_t)ldq + head, (size_t)ldq, 1 }, k_t,
                    D, rows, sl_nn_attn_row(seen), D, false, causal ? CUT_N_ABOVE : CUT_NONE, i0);
            extent e = { causal ? i0 + 1 : Tk, causal, row };
            int i = 0;
            for (; i + GROUP <= rows; i += GROUP, e.seen += GROUP * e.grows)
                softmax(p_i + (size_t)i * (size_t)row, e, base2, GROUP);
            for (; i < rows; i++, e.seen += e.grows)
                softmax(p_i + (size_t)i * (size_t)row, e, base2, 1);
            if (mask) {
                drop(kept, p_i, mask + at / 8, scale, rows * row);
                weights = kept;
            }
            product(o + (size_t)i0 * (size_t)ldo + head, ldo, (factor){ weights, (size_t)row, 1 },
                    v_packed, Tk, rows, D, seen, false, causal ? CUT_K_ABOVE : CUT_NONE, i0);
        }
    }
}

/* dx (rows of keys, D) (+)= w^T y, w being (rows, row) of a block of queries that begins at i0 and
 * y packed. Keys before the block were written by earlier blocks; with causal the block is the
 * first to see its own. */
static void add_to_keys(float *dx, int ldkv, const float *w, int row, const float *y, int i0,
                        int rows, int seen, int D, bool causal) {
    const factor A = { w, 1, (size_t)row };
    if (!causal) {
        product(dx, ldkv, A, y, rows, seen, D, rows, i0 > 0, CUT_NONE, 0);
        return;
    }
    product(dx, ldkv, A, y, rows, i0, D, rows, true, CUT_NONE, 0);
    product(dx + (size_t)i0 * (size_t)ldkv, ldkv, (factor){ w + i0, 1, (size_t)row }, y, rows, rows,
            D, rows, false, CUT_K_BELOW, 0);
}

static void attn_bwd(float *dq, int ldq, float *dk, float *dv, int ldkv, const float *dout, int ldo,
                     const float *q, const float *k, const float *v, const float *p,
                     const uint8_t *mask, float scale, int Tq, int Tk, int H, int D, bool causal,
                     float *scratch) {
    const int row = sl_nn_attn_row(Tk);
    const float root = (float)(1 / __builtin_sqrt((double)D));
    const size_t block = (size_t)SL_MIN(Tq, SL_ATTN__BLOCK);
    float *v_t = scratch;                                    // panels of D x row
    float *k_packed = v_t + panels(row) * (size_t)D * PANEL; // panels of Tk x D
    float *rows_packed = k_packed + panels(D) * (size_t)Tk * PANEL; // of BLOCK x D: dO, then Q
    float *kept = rows_packed + panels(D) * block * PANEL;          // (BLOCK, row): P after dropout
    float *ds = kept + block * (size_t)row;                         // (BLOCK, row): dP, then dS
    for (int h = 0; h < H; h++) {
        const int head = h * D;
        pack_transposed(v_t, v + head, ldkv, D, Tk);
        pack(k_packed, k + head, ldkv, Tk, D);
        for (int i0 = 0; i0 < Tq; i0 += SL_ATTN__BLOCK) {
            const int rows = SL_MIN(SL_ATTN__BLOCK, Tq - i0);
            const int seen = causal ? i0 + rows : Tk;
            const size_t at = ((size_t)h * (size_t)Tq + (size_t)i0) * (size_t)row;
            const size_t at_q = (size_t)i0 * (size_t)ldq + (size_t)head;
            const float *dout_i = dout + (size_t)i0 * (size_t)ldo + head, *weights = p + at;

            product(ds, row, (factor){ dout_i, (size_t)ldo, 1 }, v_t, D, rows, sl_nn_attn_row(seen),
                    D, false, causal ? CUT_N_ABOVE : CUT_NONE, i0);
            extent e = { causal ? i0 + 1 : Tk, causal, row };
            int i = 0;
            for (; i + GROUP <= rows; i += GROUP, e.seen += GROUP * e.grows) {
                const size_t here = (size_t)i * (size_t)row;
                softmax_bwd(ds + here, p + at + here, mask ? mask + (at + here) / 8 : NULL, scale,
                            e, sl_nn_attn_row(seen), root, GROUP);
            }
            for (; i < rows; i++, e.seen += e.grows) {
                const size_t here = (size_t)i * (size_t)row;
                softmax_bwd(ds + here, p + at + here, mask ? mask + (at + here) / 8 : NULL, scale,
                            e, sl_nn_attn_row(seen), root, 1);
            }
            if (mask) {
                drop(kept, p + at, mask + at / 8, scale, rows * row);
                weights = kept;
            }

            pack(rows_packed, dout_i, ldo, rows, D);
            add_to_keys(dv + head, ldkv, weights, row, rows_packed, i0, rows, seen, D, causal);
            product(dq + at_q, ldq, (factor){ ds, (size_t)row, 1 }, k_packed, Tk, rows, D, seen,
                    false, causal ? CUT_K_ABOVE : CUT_NONE, i0);
            pack(rows_packed, q + at_q, ldq, rows, D);
            add_to_keys(dk + head, ldkv, ds, row, rows_packed, i0, rows, seen, D, causal);
        }
    }
}

/* The plain twins of linear.c, attention.c and columns.c: the definitions as loops, in the order of
 * the formulas, without optimisation. Included by attention_float.c and attention_double.c, which
 * set SL_REAL and SL_NN. */
#include <math.h>
#include <string.h>

static SL_REAL keep_factor(const uint8_t *mask, size_t bit, SL_REAL scale) {
    if (!mask) return 1;
    return (mask[bit / 8] >> (bit % 8)) & 1 ? scale : 0;
}

static SL_REAL dot(const SL_REAL *a, const SL_REAL *b, int n) {
    SL_REAL sum = 0;
    for (int i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

static void add_multiple(SL_REAL *y, SL_REAL a, const SL_REAL *x, int n) {
    for (int i = 0; i < n; i++) y[i] += a * x[i];
}

static SL_REAL inverse_root(int D) { return 1 / (SL_REAL)sqrt((double)D); }

/* Of the numbers i with seen[i]; the others become 0, and all do if none is seen. */
static void softmax(SL_REAL *p, const bool *seen, int n) {
    SL_REAL top = -(SL_REAL)HUGE_VAL, sum = 0;
    for (int i = 0; i < n; i++)
        if (seen[i] && p[i] > top) top = p[i];
    for (int i = 0; i < n; i++) {
        p[i] = seen[i] ? (SL_REAL)exp((double)(p[i] - top)) : 0;
        sum += p[i];
    }
    for (int i = 0; i < n; i++)
        if (seen[i]) p[i] /= sum;
}

/* ---------------------------------------------------------------- linear -------------------- */

void SL_NN(linear_fwd)(SL_REAL *y, int ldy, const SL_REAL *x, int ldx, const SL_REAL *W,
                       const SL_REAL *b, int N, int C, int K) {
    for (size_t n = 0; n < (size_t)N; n++)
        for (size_t k = 0; k < (size_t)K; k++)
            y[n * (size_t)ldy + k] =
                dot(x + n * (size_t)ldx, W + k * (size_t)C, C) + (b ? b[k] : 0);
}

void SL_NN(linear_bwd_x)(SL_REAL *dx, int ldx, const SL_REAL *dy, int ldy, const SL_REAL *W, int N,
                         int C, int K, bool add) {
    for (size_t n = 0; n < (size_t)N; n++) {
        SL_REAL *dx_n = dx + n * (size_t)ldx;
        if (!add) memset(dx_n, 0, (size_t)C * sizeof *dx_n);
        for (size_t k = 0; k < (size_t)K; k++)
            add_multiple(dx_n, dy[n * (size_t)ldy + k], W + k * (size_t)C, C);
    }
}

void SL_NN(linear_bwd_w)(SL_REAL *dW, SL_REAL *db, const SL_REAL *dy, int ldy, const SL_REAL *x,
                         int ldx, int N, int C, int K) {
    for (size_t n = 0; n < (size_t)N; n++)
        for (size_t k = 0; k < (size_t)K; k++) {
            const SL_REAL dy_nk = dy[n * (size_t)ldy + k];
            add_multiple(dW + k * (size_t)C, dy_nk, x + n * (size_t)ldx, C);
            if (db) db[k] += dy_nk;
        }
}

/* ---------------------------------------------------------------- attention ----------------- */

void SL_NN(attn_fwd)(SL_REAL *o, int ldo, SL_REAL *p, const SL_REAL *q, int ldq, const SL_REAL *k,
                     const SL_REAL *v, int ldkv, const uint8_t *mask, SL_REAL scale, int Tq, int Tk,
                     int H, int D, bool causal, SL_REAL *scratch) {
    const size_t row = (size_t)sl_nn_attn_row(Tk);
    const SL_REAL root = inverse_root(D);
    (void)scratch;
    for (int h = 0; h < H; h++)
        for (int i = 0; i < Tq; i++) {
            const size_t at = ((size_t)h * (size_t)Tq + (size_t)i) * row;
            const SL_REAL *q_i = q + (size_t)i * (size_t)ldq + (size_t)h * (size_t)D;
            SL_REAL *o_i = o + (size_t)i * (size_t)ldo + (size_t)h * (size_t)D, *p_i = p + at;
            const int seen = causal ? i + 1 : Tk;
            SL_REAL top = -(SL_REAL)HUGE_VAL, sum = 0;
            memset(p_i, 0, row * sizeof *p_i);
            memset(o_i, 0, (size_t)D * sizeof *o_i);
            for (int j = 0; j < seen; j++) {
                p_i[j] = root * dot(q_i, k + (size_t)j * (size_t)ldkv + (size_t)h * (size_t)D, D);
                if (p_i[j] > top) top = p_i[j];
            }
            for (int j = 0; j < seen; j++) {
                p_i[j] = (SL_REAL)exp((double)(p_i[j] - top));
                sum += p_i[j];
            }
            for (int j = 0; j < seen; j++) {
                p_i[j] /= sum;
                add_multiple(o_i, p_i[j] * keep_factor(mask, at + (size_t)j, scale),
                             v + (size_t)j * (size_t)ldkv + (size_t)h * (size_t)D, D);
            }
        }
}

void SL_NN(attn_bwd)(SL_REAL *dq, int ldq, SL_REAL *dk, SL_REAL *dv, int ldkv, const SL_REAL *dout,
                     int ldo, const SL_REAL *q, const SL_REAL *k, const SL_REAL *v,
                     const SL_REAL *p, const uint8_t *mask, SL_REAL scale, int Tq, int Tk, int H,
                     int D, bool causal, SL_REAL *scratch) {
    const size_t row = (size_t)sl_nn_attn_row(Tk);
    const SL_REAL root = inverse_root(D);
    SL_REAL *dp = scratch; // one row
    for (int h = 0; h < H; h++) {
        const size_t head = (size_t)h * (size_t)D;
        for (int j = 0; j < Tk; j++) {
            memset(dk + (size_t)j * (size_t)ldkv + head, 0, (size_t)D * sizeof *dk);
            memset(dv + (size_t)j * (size_t)ldkv + head, 0, (size_t)D * sizeof *dv);
        }
        for (int i = 0; i < Tq; i++) {
            const size_t at = ((size_t)h * (size_t)Tq + (size_t)i) * row;
            const size_t q_i = (size_t)i * (size_t)ldq + head;
            const SL_REAL *dout_i = dout + (size_t)i * (size_t)ldo + head, *p_i = p + at;
            const int seen = causal ? i + 1 : Tk;
            SL_REAL sum = 0;
            for (int j = 0; j < seen; j++) {
                const size_t k_j = (size_t)j * (size_t)ldkv + head;
                const SL_REAL factor = keep_factor(mask, at + (size_t)j, scale);
                add_multiple(dv + k_j, factor * p_i[j], dout_i, D);
                dp[j] = factor * dot(dout_i, v + k_j, D);
                sum += dp[j] * p_i[j];
            }
            memset(dq + q_i, 0, (size_t)D * sizeof *dq);
            for (int j = 0; j < seen; j++) {
                const size_t k_j = (size_t)j * (size_t)ldkv + head;
                const SL_REAL ds = p_i[j] * (dp[j] - sum) * root; // softmax's gradient
                add_multiple(dq + q_i, ds, k + k_j, D);
                add_multiple(dk + k_j, ds, q + q_i, D);
            }
        }
    }
}

/* ---------------------------------------------------------------- columns ------------------- */

/* Row r of column c and bit (row, h, c) of the dropout. */
static size_t cell(int c, int r, int N) { return (size_t)c * (size_t)N + (size_t)r; }
static size_t cell_bit(size_t row, int h, int c, int H, int cols) {
    return row * ((((size_t)H * (size_t)cols + 7) / 8) * 8) + (size_t)h * (size_t)cols + (size_t)c;
}

static bool is_present(const uint8_t *present, int c, int r, int per, int N) {
    return !present || present[c * (N / per) + r / per];
}

void SL_NN(cols_fwd)(SL_REAL *o, int ldo, SL_REAL *p, const SL_REAL *q, int ldq, const SL_REAL *k,
                     const SL_REAL *v, int ldkv, const uint8_t *mask, SL_REAL scale,
                     const uint8_t *present, int per, int N, int nq, int cols, int H, int D) {
    const SL_REAL root = inverse_root(D);
    for (int a = 0; a < nq; a++)
        for (int r = 0; r < N; r++)
            for (int h = 0; h < H; h++) {
                const size_t ask = cell(a, r, N), head = (size_t)h * (size_t)D;
                const SL_REAL *q_a = q + ask * (size_t)ldq + head;
                SL_REAL *p_a = p + (ask * (size_t)H + (size_t)h) * (size_t)cols;
                SL_REAL *o_a = o + ask * (size_t)ldo + head;
                bool seen[SL_NN_MAX_COLUMNS];
                for (int c = 0; c < cols; c++) {
                    seen[c] = is_present(present, c, r, per, N);
                    p_a[c] = root * dot(q_a, k + cell(c, r, N) * (size_t)ldkv + head, D);
                }
                softmax(p_a, seen, cols);
                memset(o_a, 0, (size_t)D * sizeof *o_a);
                for (int c = 0; c < cols; c++)
                    add_multiple(
                        o_a, p_a[c] * keep_factor(mask, cell_bit(ask, h, c, H, cols), scale),
                        v + cell(c, r, N) * (size_t)ldkv + head, D);
            }
}

void SL_NN(cols_bwd)(SL_REAL *dq, int ldq, SL_REAL *dk, SL_REAL *dv, int ldkv, const SL_REAL *dout,
                     int ldo, const SL_REAL *q, const SL_REAL *k, const SL_REAL *v,
                     const SL_REAL *p, const uint8_t *mask, SL_REAL scale, const uint8_t *present,
                     int per, int N, int nq, int cols, int H, int D) {
    const SL_REAL root = inverse_root(D);
    (void)present, (void)per; // p is 0 where a column is absent, and so is every gradient
    for (int c = 0; c < cols; c++)
        for (int r = 0; r < N; r++) {
            memset(dk + cell(c, r, N) * (size_t)ldkv, 0, (size_t)H * (size_t)D * sizeof *dk);
            memset(dv + cell(c, r, N) * (size_t)ldkv, 0, (size_t)H * (size_t)D * sizeof *dv);
        }
    for (int a = 0; a < nq; a++)
        for (int r = 0; r < N; r++)
            for (int h = 0; h < H; h++) {
                const size_t ask = cell(a, r, N), head = (size_t)h * (size_t)D;
                const SL_REAL *p_a = p + (ask * (size_t)H + (size_t)h) * (size_t)cols;
                const SL_REAL *q_a = q + ask * (size_t)ldq + head;
                const SL_REAL *dout_a = dout + ask * (size_t)ldo + head;
                SL_REAL *dq_a = dq + ask * (size_t)ldq + head, dp[SL_NN_MAX_COLUMNS], sum = 0;
                for (int c = 0; c < cols; c++) {
                    const size_t k_c = cell(c, r, N) * (size_t)ldkv + head;
                    const SL_REAL factor =
                        keep_factor(mask, cell_bit(ask, h, c, H, cols), scale);
                    add_multiple(dv + k_c, factor * p_a[c], dout_a, D);
                    dp[c] = factor * dot(dout_a, v + k_c, D);
                    sum += dp[c] * p_a[c];
                }
                memset(dq_a, 0, (size_t)D * sizeof *dq_a);
                for (int c = 0; c < cols; c++) {
                    const size_t k_c = cell(c, r, N) * (size_t)ldkv + head;
                    const SL_REAL ds = p_a[c] * (dp[c] - sum) * root;
                    add_multiple(dq_a, ds, k + k_c, D);
                    add_multiple(dk + k_c, ds, q_a, D);
                }
            }
}

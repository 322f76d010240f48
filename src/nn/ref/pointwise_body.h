/* The plain twins of all kernels that neither multiply matrices nor attend: one text, compiled for
 * float and for double. Each is the formula of nn_kernels.h, line by line. */
#include <math.h>

/* What dropout multiplies number (n, c) by. */
static SL_REAL kept(const uint8_t *mask, SL_REAL scale, int n, int c, int C) {
    if (!mask) return 1;
    const size_t row = ((size_t)C + 7) / 8;
    return mask[(size_t)n * row + (size_t)c / 8] >> (c % 8) & 1 ? scale : 0;
}

/* ---------------------------------------------------------------- residual and norm --------- */

void SL_NN(residual_norm_fwd)(SL_REAL *xo, SL_REAL *h, SL_REAL *stat, const SL_REAL *x,
                              const SL_REAL *y, const SL_REAL *b, const uint8_t *mask,
                              SL_REAL scale, const SL_REAL *gain, const SL_REAL *offset,
                              SL_REAL eps, int N, int C) {
    for (int n = 0; n < N; n++) {
        const size_t at = (size_t)n * (size_t)C;
        const SL_REAL *seen = x + at;
        if (y) {
            for (int c = 0; c < C; c++)
                xo[at + (size_t)c] = x[at + (size_t)c] + (y[at + (size_t)c] + (b ? b[c] : 0)) *
                                                             kept(mask, scale, n, c, C);
            seen = xo + at;
        }
        if (!gain) continue;
        SL_REAL mean = 0, variance = 0;
        for (int c = 0; c < C; c++) mean += seen[c];
        mean /= (SL_REAL)C;
        for (int c = 0; c < C; c++) variance += (seen[c] - mean) * (seen[c] - mean);
        variance /= (SL_REAL)C;
        const SL_REAL rstd = 1 / (SL_REAL)sqrt((double)(variance + eps));
        for (int c = 0; c < C; c++)
            h[at + (size_t)c] = (seen[c] - mean) * rstd * gain[c] + offset[c];
        stat[2 * n] = mean;
        stat[2 * n + 1] = rstd;
    }
}

/* With z = (xo - mean) rstd and g = dh gain, the gradient of the norm is
 *
 *     rstd (g - mean(g) - z mean(g z))
 *
 * A change of the mean or the variance of a row changes nothing after the norm. */
void SL_NN(residual_norm_bwd)(SL_REAL *dx, SL_REAL *dy, SL_REAL *db, SL_REAL *dgain,
                              SL_REAL *doffset, const SL_REAL *dh, const SL_REAL *xo,
                              const SL_REAL *stat, const uint8_t *mask, SL_REAL scale,
                              const SL_REAL *gain, int N, int C) {
    for (int n = 0; n < N; n++) {
        const size_t at = (size_t)n * (size_t)C;
        SL_REAL *dx_n = dx + at;
        if (gain) {
            const SL_REAL mean = stat[2 * n], rstd = stat[2 * n + 1];
            const SL_REAL *dh_n = dh + at, *xo_n = xo + at;
            SL_REAL mean_g = 0, mean_gz = 0;
            for (int c = 0; c < C; c++) {
                mean_g += dh_n[c] * gain[c];
                mean_gz += dh_n[c] * gain[c] * (xo_n[c] - mean) * rstd;
            }
            mean_g /= (SL_REAL)C;
            mean_gz /= (SL_REAL)C;
            for (int c = 0; c < C; c++) {
                const SL_REAL z = (xo_n[c] - mean) * rstd;
                dx_n[c] += rstd * (dh_n[c] * gain[c] - mean_g - z * mean_gz);
                dgain[c] += dh_n[c] * z;
                doffset[c] += dh_n[c];
            }
        }
        if (!dy) continue;
        for (int c = 0; c < C; c++) {
            const SL_REAL d = dx_n[c] * kept(mask, scale, n, c, C);
            dy[at + (size_t)c] = d;
            if (db) db[c] += d;
        }
    }
}

/* ---------------------------------------------------------------- activation ---------------- */

static SL_REAL sigmoid(SL_REAL u) { return (SL_REAL)(1 / (1 + exp(-(double)u))); }

void SL_NN(silu_fwd)(SL_REAL *a, SL_REAL *u, const SL_REAL *b, int N, int K) {
    for (int n = 0; n < N; n++)
        for (int k = 0; k < K; k++) {
            const size_t at = (size_t)n * (size_t)K + (size_t)k;
            u[at] += b[k];
            a[at] = u[at] * sigmoid(u[at]);
        }
}

void SL_NN(silu_bwd)(SL_REAL *du, SL_REAL *db, const SL_REAL *da, const SL_REAL *u, int N, int K) {
    for (int n = 0; n < N; n++)
        for (int k = 0; k < K; k++) {
            const size_t at = (size_t)n * (size_t)K + (size_t)k;
            const SL_REAL s = sigmoid(u[at]);
            du[at] = da[at] * s * (1 + u[at] * (1 - s));
            db[k] += du[at];
        }
}

/* ---------------------------------------------------------------- ends of the model --------- */

void SL_NN(cells_fwd)(SL_REAL *x, const SL_REAL *m, const SL_REAL *e, const SL_REAL *wm,
                      const SL_REAL *we, const SL_REAL *code, int N, int cols, int C) {
    for (int col = 0; col < cols; col++)
        for (int r = 0; r < N; r++) {
            const size_t row = (size_t)col * (size_t)N + (size_t)r;
            for (int c = 0; c < C; c++)
                x[row * (size_t)C + (size_t)c] =
                    m[row] * wm[c] + e[row] * we[c] + code[(size_t)col * (size_t)C + (size_t)c];
        }
}

void SL_NN(cells_bwd)(SL_REAL *dwm, SL_REAL *dwe, SL_REAL *dcode, const SL_REAL *dx,
                      const SL_REAL *m, const SL_REAL *e, int N, int cols, int C) {
    for (int col = 0; col < cols; col++)
        for (int r = 0; r < N; r++) {
            const size_t row = (size_t)col * (size_t)N + (size_t)r;
            for (int c = 0; c < C; c++) {
                const SL_REAL d = dx[row * (size_t)C + (size_t)c];
                dwm[c] += m[row] * d;
                dwe[c] += e[row] * d;
                dcode[(size_t)col * (size_t)C + (size_t)c] += d;
            }
        }
}

void SL_NN(tokens_fwd)(SL_REAL *x, const uint8_t *id, const uint8_t *at, const SL_REAL *table,
                       const SL_REAL *code, int N, int C) {
    for (int i = 0; i < N; i++)
        for (int c = 0; c < C; c++)
            x[(size_t)i * (size_t)C + (size_t)c] = table[(size_t)id[i] * (size_t)C + (size_t)c] +
                                                   code[(size_t)at[i] * (size_t)C + (size_t)c];
}

void SL_NN(tokens_bwd)(SL_REAL *dtable, SL_REAL *dcode, const SL_REAL *dx, const uint8_t *id,
                       const uint8_t *at, int N, int C) {
    for (int i = 0; i < N; i++)
        for (int c = 0; c < C; c++) {
            const SL_REAL d = dx[(size_t)i * (size_t)C + (size_t)c];
            dtable[(size_t)id[i] * (size_t)C + (size_t)c] += d;
            dcode[(size_t)at[i] * (size_t)C + (size_t)c] += d;
        }
}

double SL_NN(xent)(SL_REAL *dz, const SL_REAL *z, const uint8_t *target, int N, int V) {
    double loss = 0;
    for (int i = 0; i < N; i++) {
        const SL_REAL *z_i = z + (size_t)i * (size_t)V;
        SL_REAL *dz_i = dz ? dz + (size_t)i * (size_t)V : NULL;
        double top = -HUGE_VAL, sum = 0;
        for (int v = 0; v < V; v++) // by fmax gcc 12.2 for aarch64 ends in an internal error
            if ((double)z_i[v] > top) top = (double)z_i[v];
        for (int v = 0; v < V; v++) sum += exp((double)z_i[v] - top);
        loss += log(sum) - ((double)z_i[target[i]] - top);
        for (int v = 0; dz && v < V; v++)
            dz_i[v] = (SL_REAL)(exp((double)z_i[v] - top) / sum) - (v == target[i] ? 1 : 0);
    }
    return loss;
}

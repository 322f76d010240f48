/* The first norm and the first product of the encoder, without computing either: part of
 * pass_body.h.
 *
 * A cell enters as x = m wm + e we + code[c], three vectors and two scalars. With the mean taken
 * out of each vector (wm', we', code'), its norm is
 *
 *     h = rstd (m wm' + e we' + code'[c]) gain + offset,
 *     1/rstd^2 = eps + |m wm' + e we' + code'[c]|^2 / d         a quadratic form in (m, e)
 *
 * so h is a combination of `columns` + 3 fixed vectors Z, and the product with a matrix W is the
 * same combination of the vectors Z W^T:
 *
 *     s = (rstd m, rstd e, 0 .. rstd (place c) .. 0, 1)     q = s (Z W^T) + b
 *
 * A (n, d) x (d, 3d) product shrinks to (n, columns + 3) x (columns + 3, 3d), forward and twice on
 * the way back, and the norm of n rows disappears. Exact but for rounding. */

/* Rows of Z, and columns of S. */
static int affine_rank(const sl_model *m) { return (int)m->options.columns + 3; }

/* The vectors behind Z: wm, we, code[0] ... with their means taken out. */
static void affine_vectors(const struct WORK *w, const REAL *weights) {
    const sl_model__layout *l = w->model->layout;
    const int d = (int)w->model->options.width, k = affine_rank(w->model);
    for (int i = 0; i < k - 1; i++) {
        const REAL *from = i == 0   ? weights + l->mantissa_w
                           : i == 1 ? weights + l->exponent_w
                                    : w->column_code + (i - 2) * d;
        double mean = 0;
        for (int j = 0; j < d; j++) mean += (double)from[j];
        mean /= d;
        for (int j = 0; j < d; j++)
            w->affine.centred[i * d + j] = (REAL)((double)from[j] - mean);
    }
}

/* (1/d) a . b */
static double affine_product(const REAL *a, const REAL *b, int d) {
    double s = 0;
    for (int j = 0; j < d; j++) s += (double)a[j] * (double)b[j];
    return s / d;
}

/* S and Z of the batch at hand. */
static void affine_prepare(const struct WORK *w, const REAL *weights) {
    const sl_model_options *o = &w->model->options;
    const sl_model__encoder *at = &w->model->layout->encoder[0];
    const int d = (int)o->width, k = affine_rank(w->model);
    const affine *f = &w->affine;
    affine_vectors(w, weights);
    const REAL *wm = f->centred, *we = f->centred + d;
    const REAL mm = (REAL)affine_product(wm, wm, d), me = (REAL)(2 * affine_product(wm, we, d)),
               ee = (REAL)affine_product(we, we, d);
    memset(f->S, 0, (size_t)w->n * (size_t)k * sizeof *f->S);
    for (int c = 0; c < o->columns; c++) {
        const REAL *code = f->centred + (2 + c) * d;
        const REAL mc = (REAL)(2 * affine_product(wm, code, d)),
                   ec = (REAL)(2 * affine_product(we, code, d)),
                   cc = (REAL)(affine_product(code, code, d) + o->norm_eps);
        for (int r = c * w->R; r < (c + 1) * w->R; r++) {
            const REAL m = w->mantissa[r], e = w->exponent[r];
            // at least eps but for rounding, which vectors that nearly cancel could take below 0
            const REAL variance = m * (m * mm + e * me + mc) + e * (e * ee + ec) + cc;
            const REAL rstd = 1 / SQRT(SL_MAX(variance, (REAL)o->norm_eps));
            REAL *s = f->S + (size_t)r * (size_t)k;
            s[0] = rstd * m;
            s[1] = rstd * e;
            s[2 + c] = rstd;
            s[k - 1] = 1;
        }
    }
    const REAL *gain = weights + at->norm1_g, *offset = weights + at->norm1_b;
    for (int i = 0; i < k - 1; i++)
        for (int j = 0; j < d; j++) f->Z[i * d + j] = gain[j] * f->centred[i * d + j];
    memcpy(f->Z + (k - 1) * d, offset, (size_t)d * sizeof *f->Z);
}

/* ZW := Z W^T, its last row with b.   W (K, d) */
static void affine_product_with(const struct WORK *w, const REAL *W, const REAL *b, int K) {
    const int d = (int)w->model->options.width, k = affine_rank(w->model);
    NN(linear_fwd)(w->affine.ZW, K, w->affine.Z, d, W, NULL, k, d, K);
    for (int j = 0; j < K; j++) w->affine.ZW[(k - 1) * K + j] += b[j];
}

/* y = h W^T + b for the first `rows` cells.   y (rows, K) */
static void affine_fwd(const struct WORK *w, REAL *y, int ldy, const REAL *W, const REAL *b,
                       int rows, int K) {
    const int k = affine_rank(w->model);
    affine_product_with(w, W, b, K);
    NN(linear_bwd_x)(y, ldy, w->affine.S, k, w->affine.ZW, rows, K, k, false);
}

/* dW, db += of the same; adds to dS, the gradient of S, and to dZ. */
static void affine_bwd(const struct WORK *w, REAL *dW, REAL *db, const REAL *dy, int ldy,
                       const REAL *W, const REAL *b, int rows, int K) {
    const int d = (int)w->model->options.width, k = affine_rank(w->model);
    const affine *f = &w->affine;
    affine_product_with(w, W, b, K); // six rows: cheaper made again than kept for each map
    NN(linear_fwd)(f->dS_part, k, dy, ldy, f->ZW, NULL, rows, K, k);
    for (size_t i = 0; i < (size_t)rows * (size_t)k; i++) f->dS[i] += f->dS_part[i];

    REAL *dZW = f->ZW; // not needed any more
    memset(dZW, 0, (size_t)(k * K) * sizeof *dZW);
    NN(linear_bwd_w)(dZW, NULL, f->S, k, dy, ldy, rows, K, k);
    for (int j = 0; j < K; j++) db[j] += dZW[(k - 1) * K + j];
    NN(linear_bwd_w)(dW, NULL, dZW, K, f->Z, d, k, d, K);
    NN(linear_bwd_x)(f->dZ, d, dZW, K, W, k, d, K, true);
}

/* From dS and dZ to the norm's parameters and to wm, we and the codes (dcode, added to). */
static void affine_close(const struct WORK *w, const REAL *weights, REAL *grad, REAL *dcode) {
    const sl_model_options *o = &w->model->options;
    const sl_model__layout *l = w->model->layout;
    const sl_model__encoder *at = &l->encoder[0];
    const int d = (int)o->width, k = affine_rank(w->model), columns = (int)o->columns;
    const affine *f = &w->affine;

    // sums of dvariance times the products of (m, e, 1), by column
    double mm = 0, me = 0, ee = 0, mc[SL_NN_MAX_COLUMNS] = { 0 }, ec[SL_NN_MAX_COLUMNS] = { 0 },
           cc[SL_NN_MAX_COLUMNS] = { 0 };
    for (int c = 0; c < columns; c++) {
        for (int r = c * w->R; r < (c + 1) * w->R; r++) {
            const double m = (double)w->mantissa[r], e = (double)w->exponent[r];
            const REAL *s = f->S + (size_t)r * (size_t)k, *ds = f->dS + (size_t)r * (size_t)k;
            const double rstd = (double)s[2 + c];
            const double drstd = (double)ds[0] * m + (double)ds[1] * e + (double)ds[2 + c];
            const double dvar = -0.5 * rstd * rstd * rstd * drstd;
            mm += dvar * m * m;
            me += dvar * m * e;
            ee += dvar * e * e;
            mc[c] += dvar * m;
            ec[c] += dvar * e;
            cc[c] += dvar;
        }
    }
    const REAL *gain = weights + at->norm1_g, *wm = f->centred, *we = f->centred + d;
    REAL *dgain = grad + at->norm1_g, *doffset = grad + at->norm1_b;
    for (int j = 0; j < d; j++) doffset[j] += f->dZ[(k - 1) * d + j];
    for (int i = 0; i < k - 1; i++) {
        REAL *to = i == 0   ? grad + l->mantissa_w
                   : i == 1 ? grad + l->exponent_w
                            : dcode + (i - 2) * d;
        REAL *dv = f->dZ + i * d; // becomes the gradient of the centred vector
        double mean = 0;
        for (int j = 0; j < d; j++) {
            double quadratic = 0; // half of what the variance says
            if (i == 0) {
                quadratic = mm * (double)wm[j] + me * (double)we[j];
                for (int c = 0; c < columns; c++)
                    quadratic += mc[c] * (double)f->centred[(2 + c) * d + j];
            } else if (i == 1) {
                quadratic = me * (double)wm[j] + ee * (double)we[j];
                for (int c = 0; c < columns; c++)
                    quadratic += ec[c] * (double)f->centred[(2 + c) * d + j];
            } else {
                quadratic = mc[i - 2] * (double)wm[j] + ec[i - 2] * (double)we[j] +
                            cc[i - 2] * (double)f->centred[i * d + j];
            }
            dgain[j] += dv[j] * f->centred[i * d + j];
            dv[j] = (REAL)((double)dv[j] * (double)gain[j] + 2 * quadratic / d);
            mean += (double)dv[j];
        }
        mean /= d;
        for (int j = 0; j < d; j++) to[j] += (REAL)((double)dv[j] - mean);
    }
}

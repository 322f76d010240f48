/* describe - bits of the residuals of a formula, and its evidence.
 *
 * y is written in cells of its resolution: precision * rms(y), where a double's precision counts as
 * 2^-44 and not 2^-52, because a formula of ten operations has that much rounding of its own. A
 * residual r costs -log2 of the probability of its cell,
 *
 *     sigma known      log2(sigma sqrt(2 pi)/cell) + (r/sigma)^2/2 * log2 e
 *     not known        the mean of that at sigma = rms(r), log2(rms(r) sqrt(2 pi e)/cell)
 *
 * and at least 0 on average. Where only ratios of sigma by row are known, residuals are divided by
 * sigma/(geometric mean of sigma) first.
 *
 * Where nothing at all is known, errors may also be relative: sigma_i = s |f_i|, with s = rms(r/f).
 * The sum of log2 |f_i| is part of the density, so both are bits of the same y, and the shorter
 * description counts. Why |f| and not |y|: docs/math/criterion.md. */
#include <math.h>

#include "fit/fit_impl.h"

static const double HALF_LOG2_2PI = 1.3257480647361593; // log2(sqrt(2 pi))
static const double HALF_LOG2_E = 0.7213475204444817;   // log2(sqrt(e))
static const double IN_CELL = 0.28867513459481287;      // 1/sqrt(12), of a uniform law

/* ---------------------------------------------------------------- errors of rows ------------ */

/* The standard deviation of a row's error: base * (by_row * p->sigma), and a part of |y|. */
typedef struct error_model {
    const sl_dataset *p;
    double unit; // a power of two that brings |y| near 1; all below is in that unit
    double cell; // resolution of y
    bool known;  // the errors are; else base is 1
    double base, relative;
    double by_row; // where the problem has sigma by row
} error_model;

static double largest(const double *y, int64_t n) {
    double top = 0;
    for (int64_t i = 0; i < n; i++) top = fmax(top, fabs(y[i]));
    return top;
}

/* 2^-44 of a double: see above. */
static double cell_of(const sl_dataset *p, double unit, const sl_noise *noise) {
    static const double ROUNDING = 0x1p-44;
    double squares = 0;
    for (int64_t i = 0; i < p->rows; i++) squares += unit * p->y[i] * (unit * p->y[i]);
    const double size = squares > 0 ? sqrt(squares / (double)p->rows) : 1;
    return size * fmax(noise ? noise->precision : 0, ROUNDING);
}

static void error_model_make(error_model *r, const sl_dataset *p, const sl_noise *noise) {
    const double top = largest(p->y, p->rows);
    const double unit = top > 0 ? ldexp(1, -SL_MAX(-1000, SL_MIN(1000, ilogb(top)))) : 1;
    const bool absolute = p->sigma && p->sigma_absolute;
    *r = (error_model){
        .p = p, .unit = unit, .cell = cell_of(p, unit, noise), .base = 1, .by_row = 1
    };
    if (p->sigma) r->by_row = absolute ? unit : 1 / sl_fit__log_mean(p->sigma, p->rows);
    r->known = absolute || (noise && (noise->sigma > 0 || noise->relative > 0));
    if (r->known && !absolute) {
        r->base = unit * noise->sigma;
        r->relative = noise->relative;
    }
}

/* Of row i: the standard deviation of its error, never below that of rounding to a cell; or, where
 * errors are not known, its weight, whose geometric mean is 1. */
static double sigma_of(const error_model *r, int64_t i) {
    const double s = r->base * (r->p->sigma ? r->by_row * r->p->sigma[i] : 1);
    if (!r->known) return s;
    const double part = r->relative * r->unit * r->p->y[i];
    return fmax(sqrt(s * s + part * part), IN_CELL * r->cell);
}

/* Bits of all residuals f[i] - y[i], f NULL: those of the constant `level` (in units). */
static double data_bits(const error_model *r, const double *f, double level) {
    const double n = (double)r->p->rows;
    double squares = 0, spread = 0; // of r/sigma; sum of log2 of sigma
    for (int64_t i = 0; i < r->p->rows; i++) {
        const double value = f ? r->unit * f[i] : level, s = sigma_of(r, i);
        const double off = (value - r->unit * r->p->y[i]) / s;
        squares += off * off;
        spread += sl_fit__log2(s / r->cell);
    }
    if (isnan(squares)) return INFINITY;
    if (r->known) return fmax(0, spread + n * HALF_LOG2_2PI + squares * HALF_LOG2_E);
    const double rms = sqrt(squares / n);
    if (rms == 0) return 0;
    return fmax(0, spread + n * (sl_fit__log2(rms) + HALF_LOG2_2PI + HALF_LOG2_E));
}

/* ---------------------------------------------------------------- relative errors ----------- */

static const double CHOICE = 1; // further bits of relative errors, the rarer kind

void sl_fit_relative_scale(double *scale, const double *f, const sl_dataset *p) {
    static const double FLOOR = 1.0 / 64;
    const double top = largest(p->y, p->rows);
    bool positive = true, negative = true;
    double squares = 0;
    for (int64_t i = 0; i < p->rows; i++) {
        positive = positive && p->y[i] > 0;
        negative = negative && p->y[i] < 0;
        if (top > 0) squares += p->y[i] / top * (p->y[i] / top);
    }
    const double rms = top * sqrt(squares / (double)p->rows);
    const double least = positive || negative ? 0 : FLOOR * rms;
    for (int64_t i = 0; i < p->rows; i++) scale[i] = fmax(fabs(f[i]), least);
}

/* Bits of y where errors are s scale[i], *s the best for these residuals. */
static double relative_bits(double *s, const error_model *r, const double *f, const double *scale) {
    const double n = (double)r->p->rows, least = IN_CELL * r->cell;
    double squares = 0, bits = CHOICE + n * HALF_LOG2_2PI;
    for (int64_t i = 0; i < r->p->rows; i++) {
        const double off = (f[i] - r->p->y[i]) / scale[i];
        squares += off * off;
    }
    *s = sqrt(squares / n);
    if (!isfinite(*s)) return INFINITY;
    for (int64_t i = 0; i < r->p->rows; i++) {
        const double sigma = fmax(*s * (r->unit * scale[i]), least);
        const double off = r->unit * (f[i] - r->p->y[i]) / sigma;
        bits += sl_fit__log2(sigma / r->cell) + off * off * HALF_LOG2_E;
    }
    return fmax(0, bits);
}

/* out->data, and out->relative where relative errors are the shorter description. scale: room for
 * rows. */
static void choose_errors(sl_bits *out, const error_model *r, const double *f, double *scale) {
    double s;
    out->data = data_bits(r, f, 0);
    if (r->known || r->p->sigma || out->data == 0 || isinf(out->data)) return;
    sl_fit_relative_scale(scale, f, r->p);
    const double bits = relative_bits(&s, r, f, scale);
    if (!(bits < out->data)) return;
    out->data = bits;
    out->relative = s;
}

/* ---------------------------------------------------------------- entry points -------------- */

sl_status sl_fit_describe(sl_bits *out, const sl_fit *f, const sl_dataset *p,
                          const sl_noise *noise) {
    double *y = sl_malloc_aligned(2 * (size_t)p->rows, sizeof *y);
    if (!y) return sl_fail_memory(2 * (size_t)p->rows, sizeof *y, "values");
    sl_arena scratch = { 0 };
    const sl_status st = sl_expr_eval(y, &scratch, f->expr, p->x, p->rows, f->value);
    if (st == SL_OK) {
        error_model r;
        error_model_make(&r, p, noise);
        sl_fit_price(out, f->expr, f->value, f->error, p->inputs, p->rows);
        choose_errors(out, &r, y, y + p->rows);
        out->total += out->data;
    }
    sl_arena_clear(&scratch);
    sl_free(y);
    return st;
}

double sl_fit_bits_by_r2(const sl_fit *f, int inputs, int64_t rows) {
    static const double LEAST_LEFT = 1e-15;
    if (isnan(f->r2)) return INFINITY;
    sl_bits b;
    sl_fit_price(&b, f->expr, f->value, f->error, inputs, rows);
    return b.total + 0.5 * (double)rows * sl_fit__log2(fmax(1 - f->r2, LEAST_LEFT));
}

sl_status sl_fit_evidence(double *out, const sl_bits *formula, const sl_dataset *p,
                          const sl_noise *noise, double tried) {
    error_model r;
    error_model_make(&r, p, noise);
    double weight = 0, sum = 0;
    for (int64_t i = 0; i < p->rows; i++) {
        const double w = 1 / (sigma_of(&r, i) * sigma_of(&r, i));
        weight += w;
        sum += w * r.unit * p->y[i];
    }
    const double known = formula->structure + formula->numbers + formula->constants;
    const double searched = fmax(0, sl_fit__log2(fmax(tried, 1)) - formula->structure);
    *out = data_bits(&r, NULL, sum / weight) - formula->data - known - searched;
    return SL_OK;
}

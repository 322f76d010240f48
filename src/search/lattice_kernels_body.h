/* The text of all variants of lattice_kernels.h; the including file names the table. */
#include <math.h>

#include "search/lattice_kernels.h"

/* Ratios below this are rounding errors of 0, those above LARGE say nothing. */
#define SMALL 1e-9
#define LARGE 1e30
/* A part of its size that a vector may differ from a constant one by rounding alone. */
#define FLAT 1e-11

static void combine(double *restrict out, double p, const double *restrict q, int n, int op) {
    switch (op) {
    case 0:
        for (int i = 0; i < n; i++) out[i] = p + q[i];
        break;
    case 1:
        for (int i = 0; i < n; i++) out[i] = p - q[i];
        break;
    case 2:
        for (int i = 0; i < n; i++) out[i] = p * q[i];
        break;
    case 3:
        for (int i = 0; i < n; i++) out[i] = p / q[i];
        break;
    default:
        for (int i = 0; i < n; i++) out[i] = q[i] / p;
    }
}

/* r rounded to a float, 0 where it is tiny, a mark where flat or not finite. */
static inline float settle(double r, bool none, bool one) {
    r = fabs(r) < SMALL ? 0.0 : r;
    r = one ? SL_LATTICE__ONE : r;
    r = none ? SL_LATTICE__NONE : r;
    return (float)r;
}

static void affine(sl_search__lattice_keys *restrict keys, const double *const *v, int n) {
    const double *restrict v0 = v[0], *restrict v1 = v[1], *restrict v2 = v[2], *restrict v3 = v[3],
                           *restrict v4 = v[4];
    for (int i = 0; i < n; i++) {
        double d1 = v1[i] - v0[i], d2 = v2[i] - v0[i], d3 = v3[i] - v0[i], d4 = v4[i] - v0[i];
        double inverse = 1 / d1, size = fabs(v0[i]);
        double r2 = d2 * inverse, r3 = d3 * inverse, r4 = d4 * inverse;
        double reach = fabs(d1) + fabs(d2) + fabs(d3) + fabs(d4);
        double sum = fabs(r2) + fabs(r3) + fabs(r4);
        bool one = reach < FLAT * size;
        bool none = !(sum < LARGE && reach < LARGE) && !one;
        keys->ratio[0][i] = settle(r2, none, one);
        keys->ratio[1][i] = settle(r3, none, one);
        keys->ratio[2][i] = settle(r4, none, one);
    }
}

static void project(sl_search__lattice_keys *restrict keys, const double *const *v, int n,
                    const double *p) {
    const double *restrict v0 = v[0], *restrict v1 = v[1], *restrict v2 = v[2], *restrict v3 = v[3],
                           *restrict v4 = v[4], *restrict v5 = v[5];
    const double p2 = p[2], p3 = p[3], p4 = p[4], p5 = p[5];
    for (int i = 0; i < n; i++) {
        double d1 = v1[i] - v0[i], d2 = v2[i] - v0[i], d3 = v3[i] - v0[i], d4 = v4[i] - v0[i],
               d5 = v5[i] - v0[i];
        double e2 = d2 - p2 * d1, e3 = d3 - p3 * d1, e4 = d4 - p4 * d1, e5 = d5 - p5 * d1;
        double inverse = 1 / e2;
        double r3 = e3 * inverse, r4 = e4 * inverse, r5 = e5 * inverse;
        double reach = fabs(d1) + fabs(d2) + fabs(d3) + fabs(d4) + fabs(d5);
        double left = fabs(e2) + fabs(e3) + fabs(e4) + fabs(e5);
        double sum = fabs(r3) + fabs(r4) + fabs(r5);
        bool one = left < FLAT * reach;
        bool none = !(reach < LARGE && reach > FLAT * fabs(v0[i])) || !(sum < LARGE || one);
        keys->ratio[0][i] = settle(r3, none, one);
        keys->ratio[1][i] = settle(r4, none, one);
        keys->ratio[2][i] = settle(r5, none, one);
        keys->tag[i] = (float)((d2 - d3 + d4) / (d1 + d5));
    }
}

/* 1 / length of e, with a sign that e and -e have in common. */
static inline double direction(double e1, double e2, double e3, double e4) {
    double side = 0.618 * e1 + 0.755 * e2 + 0.57 * e3 + 0.43 * e4;
    double inverse = 1 / sqrt(e1 * e1 + e2 * e2 + e3 * e3 + e4 * e4);
    return side < 0 ? -inverse : inverse;
}

/* A part of a length as a key: between 1 and 3, where cells are of about one width. */
static inline float settle_part(double part, bool none, bool one) {
    double r = 2 + part;
    r = one ? SL_LATTICE__ONE : r;
    r = none ? SL_LATTICE__NONE : r;
    return (float)r;
}

/* Errors of the three parts where those of the four differences are these. */
static inline void set_errors(sl_search__lattice_keys *restrict keys, int i, const double *error,
                              double inverse) {
    double all = sqrt(error[0] * error[0] + error[1] * error[1] + error[2] * error[2] +
                      error[3] * error[3]);
    for (int k = 0; k < 3; k++) {
        double part = fabs((double)keys->ratio[k][i] - 2);
        keys->error[k][i] = (float)((error[k + 1] + all * part) * fabs(inverse));
    }
}

static void affine_rounded(sl_search__lattice_keys *restrict keys, const double *const *v, int n,
                           const double *error, const double *const *size, double flat) {
    const double *restrict v0 = v[0], *restrict v1 = v[1], *restrict v2 = v[2], *restrict v3 = v[3],
                           *restrict v4 = v[4];
    for (int i = 0; i < n; i++) {
        double d1 = v1[i] - v0[i], d2 = v2[i] - v0[i], d3 = v3[i] - v0[i], d4 = v4[i] - v0[i];
        double inverse = direction(d1, d2, d3, d4);
        double reach = fabs(d1) + fabs(d2) + fabs(d3) + fabs(d4);
        bool one = reach < flat * fabs(v0[i]);
        bool none = !(reach < LARGE && fabs(inverse) < LARGE) && !one;
        keys->ratio[0][i] = settle_part(d2 * inverse, none, one);
        keys->ratio[1][i] = settle_part(d3 * inverse, none, one);
        keys->ratio[2][i] = settle_part(d4 * inverse, none, one);
    }
    if (!error) return;
    for (int i = 0; i < n; i++) {
        double first = error[0] * fabs(size[0][i]), each[4];
        for (int k = 0; k < 4; k++) each[k] = first + error[k + 1] * fabs(size[k + 1][i]);
        set_errors(keys, i, each,
                   direction(v1[i] - v0[i], v2[i] - v0[i], v3[i] - v0[i], v4[i] - v0[i]));
    }
}

static void project_rounded(sl_search__lattice_keys *restrict keys, const double *const *v, int n,
                            const double *p, const double *error, double flat) {
    const double *restrict v0 = v[0], *restrict v1 = v[1], *restrict v2 = v[2], *restrict v3 = v[3],
                           *restrict v4 = v[4], *restrict v5 = v[5];
    const double p2 = p[2], p3 = p[3], p4 = p[4], p5 = p[5];
    for (int i = 0; i < n; i++) {
        double d1 = v1[i] - v0[i], d2 = v2[i] - v0[i], d3 = v3[i] - v0[i], d4 = v4[i] - v0[i],
               d5 = v5[i] - v0[i];
        double e2 = d2 - p2 * d1, e3 = d3 - p3 * d1, e4 = d4 - p4 * d1, e5 = d5 - p5 * d1;
        double inverse = direction(e2, e3, e4, e5);
        double reach = fabs(d1) + fabs(d2) + fabs(d3) + fabs(d4) + fabs(d5);
        double left = fabs(e2) + fabs(e3) + fabs(e4) + fabs(e5);
        bool one = left < flat * reach;
        bool none = !(reach < LARGE && reach > FLAT * fabs(v0[i])) ||
                    !(fabs(inverse) < LARGE || one);
        keys->ratio[0][i] = settle_part(e3 * inverse, none, one);
        keys->ratio[1][i] = settle_part(e4 * inverse, none, one);
        keys->ratio[2][i] = settle_part(e5 * inverse, none, one);
        keys->tag[i] = (float)((d2 - d3 + d4) / (d1 + d5));
        set_errors(keys, i, error + 2, inverse);
    }
}

static void scale(sl_search__lattice_keys *restrict keys, const double *const *v, int n) {
    const double *restrict v0 = v[0], *restrict v1 = v[1], *restrict v2 = v[2], *restrict v3 = v[3];
    for (int i = 0; i < n; i++) {
        double inverse = 1 / v0[i];
        double r1 = v1[i] * inverse, r2 = v2[i] * inverse, r3 = v3[i] * inverse;
        double sum = fabs(r1) + fabs(r2) + fabs(r3);
        double reach = fabs(r1 - 1) + fabs(r2 - 1) + fabs(r3 - 1);
        bool none = !(sum < LARGE && fabs(v0[i]) < LARGE && reach > FLAT);
        keys->ratio[0][i] = settle(r1, none, false);
        keys->ratio[1][i] = settle(r2, none, false);
        keys->ratio[2][i] = settle(r3, none, false);
    }
}

static void reduce(float *restrict ratio, const double *const *v, const double *restrict p,
                   const double *restrict q, const double (*w)[2], int n, int stride) {
    const double *restrict v0 = v[0], *restrict v1 = v[1], *restrict v2 = v[2], *restrict v3 = v[3];
    const double a0 = w[0][0], a1 = w[1][0], a2 = w[2][0], a3 = w[3][0];
    const double b0 = w[0][1], b1 = w[1][1], b2 = w[2][1], b3 = w[3][1];
    float *restrict out1 = ratio, *restrict out2 = ratio + stride, *restrict out3 = out2 + stride;
    float *restrict out4 = out3 + stride;
    for (int i = 0; i < n; i++) {
        double e0 = v0[i] - a0 * p[i] - b0 * q[i], e1 = v1[i] - a1 * p[i] - b1 * q[i];
        double e2 = v2[i] - a2 * p[i] - b2 * q[i], e3 = v3[i] - a3 * p[i] - b3 * q[i];
        double inverse = 1 / e0;
        double r1 = e1 * inverse, r2 = e2 * inverse, r3 = e3 * inverse;
        double size = fabs(v0[i]) + fabs(v1[i]) + fabs(v2[i]) + fabs(v3[i]);
        double left = fabs(e0) + fabs(e1) + fabs(e2) + fabs(e3);
        double sum = fabs(r1) + fabs(r2) + fabs(r3);
        bool none = !(sum < LARGE && left > 1e-9 * size);
        out1[i] = settle(r1, none, false);
        out2[i] = settle(r2, none, false);
        out3[i] = settle(r3, none, false);
        out4[i] = (float)fabs(inverse);
    }
}

static void reduce_rounded(float *restrict ratio, const double *const *v, const double *restrict p,
                           const double *restrict q, const double (*w)[2], int n, int stride) {
    const double *restrict v0 = v[0], *restrict v1 = v[1], *restrict v2 = v[2], *restrict v3 = v[3];
    const double a0 = w[0][0], a1 = w[1][0], a2 = w[2][0], a3 = w[3][0];
    const double b0 = w[0][1], b1 = w[1][1], b2 = w[2][1], b3 = w[3][1];
    float *restrict out1 = ratio, *restrict out2 = ratio + stride, *restrict out3 = out2 + stride;
    float *restrict out4 = out3 + stride;
    for (int i = 0; i < n; i++) {
        double e0 = v0[i] - a0 * p[i] - b0 * q[i], e1 = v1[i] - a1 * p[i] - b1 * q[i];
        double e2 = v2[i] - a2 * p[i] - b2 * q[i], e3 = v3[i] - a3 * p[i] - b3 * q[i];
        double inverse = direction(e0, e1, e2, e3);
        double size = fabs(v0[i]) + fabs(v1[i]) + fabs(v2[i]) + fabs(v3[i]);
        double left = fabs(e0) + fabs(e1) + fabs(e2) + fabs(e3);
        bool none = !(fabs(inverse) < LARGE && left > 1e-9 * size);
        out1[i] = settle_part(e1 * inverse, none, false);
        out2[i] = settle_part(e2 * inverse, none, false);
        out3[i] = settle_part(e3 * inverse, none, false);
        out4[i] = (float)fabs(inverse);
    }
}

static void against(double *restrict out, const double *restrict v,
                    const double *restrict inverse_v, double y, int n, int what) {
    const double inverse_y = 1 / y;
    switch (what) {
    case 0:
        for (int i = 0; i < n; i++) out[i] = y * v[i];
        break;
    case 1:
        for (int i = 0; i < n; i++) out[i] = y * inverse_v[i];
        break;
    case 2:
        for (int i = 0; i < n; i++) out[i] = v[i] * inverse_y;
        break;
    default:
        for (int i = 0; i < n; i++) out[i] = inverse_v[i] * inverse_y;
    }
}

static void invert(double *restrict out, const double *restrict v, int n) {
    for (int i = 0; i < n; i++) out[i] = 1 / v[i];
}

static void root(double *restrict out, const double *restrict v, int n) {
    for (int i = 0; i < n; i++) out[i] = sqrt(v[i]);
}

static void square(double *out, const double *v, int n) {
    for (int i = 0; i < n; i++) out[i] = v[i] * v[i];
}

static void fold(uint32_t *restrict out, const float *restrict ratio, int64_t n, int64_t stride,
                 int shift) {
    const float *restrict r1 = ratio + stride, *restrict r2 = r1 + stride;
    for (int64_t i = 0; i < n; i++)
        out[i] = sl_search__lattice_high(sl_search__lattice_cell(ratio[i], shift),
                                         sl_search__lattice_cell(r1[i], shift),
                                         sl_search__lattice_cell(r2[i], shift));
}

static void hash(sl_search__lattice_keys *restrict keys, int n, int shift) {
    for (int i = 0; i < n; i++) {
        uint32_t a = sl_search__lattice_cell(keys->ratio[0][i], shift);
        uint32_t b = sl_search__lattice_cell(keys->ratio[1][i], shift);
        uint32_t c = sl_search__lattice_cell(keys->ratio[2][i], shift);
        keys->high[i] = sl_search__lattice_high(a, b, c);
        keys->low[i] = sl_search__lattice_low(a, b, c);
    }
}

static void border(uint32_t *restrict out, const sl_search__lattice_keys *restrict keys, int n,
                   int shift) {
    for (int i = 0; i < n; i++) {
        uint32_t apart = 0;
        for (int k = 0; k < 3; k++) {
            float r = keys->ratio[k][i], e = keys->error[k][i];
            uint32_t cells =
                sl_search__lattice_cell(r + e, shift) - sl_search__lattice_cell(r - e, shift);
            cells = cells + 1 < 3 ? cells & 1 : cells == 2 ? 2 : 3; // 0, 1 and -1; 2; more
            apart = cells > apart ? cells : apart;
        }
        out[i] = apart;
    }
}

static double dot(const double *restrict a, const double *restrict b, int rows) {
    double part[8] = { 0 }, sum = 0; // eight partial sums: the order of additions is fixed
    for (int r = 0; r < rows; r += 8)
        for (int i = 0; i < 8; i++) part[i] += a[r + i] * b[r + i];
    for (int i = 0; i < 8; i++) sum += part[i];
    return sum;
}

static void dots(double *out, int64_t stride, const double *restrict v,
                 const double *restrict vectors, int64_t n, int rows) {
    for (int64_t k = 0; k < n; k++) out[k * stride] = dot(v, vectors + k * rows, rows);
}

static int64_t explained(const sl_search__lattice_meeting *m, const double *const *part, int n) {
    const double *restrict y = part[0], *restrict norm = part[1], *restrict t = part[2],
                 *restrict u = part[3];
    const sl_search__lattice_meeting k = *m;
    int64_t found = 0;
    for (int i = 0; i < n; i++) found += sl_search__lattice_explains(&k, y[i], norm[i], t[i], u[i]);
    return found;
}

const sl_search__lattice_kernels KERNELS = {
    combine, affine, project, affine_rounded, project_rounded, against,
    invert,  root,   square,  scale,          reduce,          reduce_rounded,
    fold,    hash,   border,  dots,           explained
};

/* lattice_kernels - the inner loops of the lattice search, over blocks of halves.
 *
 * A half has values v[0] .. v[5] at six probes. Its keys are ratios that do not change under what
 * is free in a formula:
 *
 *   affine    a v + b has the ratios (v[i] - v[0]) / (v[1] - v[0]), i = 2, 3, 4
 *   project   a v + b y + c has the ratios e[i] / e[2], i = 3, 4, 5, where
 *             e[i] = v[i] - v[0] - p[i] (v[1] - v[0]) and p[i] is (y[i] - y[0]) / (y[1] - y[0])
 *
 * Where y is rounded the key is the direction of (v[i] - v[0]) or e[i], three of its four parts.
 *
 * Ratios are held as floats and rounded to cells: the cell is what is hashed. Two special triples
 * stand for halves that have no ratios: LATTICE_NONE where a value is not finite or all are equal,
 * LATTICE_ONE where the half alone explains y.
 *
 * The text is compiled once per instruction set. Every operation is one IEEE operation and sums
 * have a fixed order, so all variants give the same bits. */
#ifndef SL_SEARCH_LATTICE_KERNELS_H
#define SL_SEARCH_LATTICE_KERNELS_H

#include "base/base.h"

enum { SL_LATTICE__PROBES = 6, SL_LATTICE__BLOCK = 256 };

#define SL_LATTICE__NONE 2e33f
#define SL_LATTICE__ONE  3e33f

typedef struct sl_search__lattice_keys {
    float ratio[3][SL_LATTICE__BLOCK];
    float error[3][SL_LATTICE__BLOCK]; // of the ratios, where y is rounded
    float tag[SL_LATTICE__BLOCK];      // a ratio that does not depend on y
    uint32_t high[SL_LATTICE__BLOCK], low[SL_LATTICE__BLOCK];
} sl_search__lattice_keys;

/* Blocks of values by probe. */
typedef struct sl_search__lattice_block {
    double v[SL_LATTICE__PROBES][SL_LATTICE__BLOCK];
} sl_search__lattice_block;

/* y less parts of two terms t and u, and what a further one must explain of it (lattice_sums.c). */
typedef struct sl_search__lattice_meeting {
    double of_t, of_u;     // coefficients of y less the further term
    double over_t, over_u; // 1 / square of t, and of u without t
    double t_in_u;
    double need;           // squares of what is left, less those that may be
} sl_search__lattice_meeting;

/* Does a term explain them? Its dot products with y, itself, t and u. */
static inline bool sl_search__lattice_explains(const sl_search__lattice_meeting *m, double with_y,
                                               double norm, double with_t, double with_u) {
    double d = with_y - m->of_t * with_t - m->of_u * with_u, e = with_u - m->t_in_u * with_t;
    double left = norm - with_t * with_t * m->over_t - e * e * m->over_u;
    left = left > 1e-9 ? left : 1e-9; // less is rounding
    return d * d >= m->need * left;
}

typedef struct sl_search__lattice_kernels {
    /* out = p op q[], op being + - * / or (reversed) q / p: 0 .. 4. */
    void (*combine)(double *out, double p, const double *q, int n, int op);
    void (*affine)(sl_search__lattice_keys *keys, const double *const *v, int n);
    void (*project)(sl_search__lattice_keys *keys, const double *const *v, int n, const double *p);
    /* The same where y is rounded: not ratios to one difference, which may be small and uncertain,
     * but parts of the length of all four, plus 2. error: in parts of size[], by probe; in project
     * those of y less what the rows 0 and 1 give, for a half whose coefficient is 1. NULL leaves
     * keys->error alone. flat: relative size that is rounding. */
    void (*affine_rounded)(sl_search__lattice_keys *keys, const double *const *v, int n,
                           const double *error, const double *const *size, double flat);
    void (*project_rounded)(sl_search__lattice_keys *keys, const double *const *v, int n,
                            const double *p, const double *error, double flat);
    /* out = y v, y / v, v / y, 1 / (y v): 0 .. 3, at one probe; inverse_v = 1 / v. */
    void (*against)(double *out, const double *v, const double *inverse_v, double y, int n,
                    int what);
    void (*invert)(double *out, const double *v, int n);
    void (*root)(double *out, const double *v, int n);
    void (*square)(double *out, const double *v, int n); // out may be v
    /* v[i] / v[0], i = 1, 2, 3: what a factor does not change. */
    void (*scale)(sl_search__lattice_keys *keys, const double *const *v, int n);
    /* e[k] = v[k] - w[k][0] p - w[k][1] q, k = 0 .. 3; ratio[] := e[1] / e[0], at `stride` e[2] /
     * e[0], at 2 stride e[3] / e[0], at 3 stride |1 / e[0]|. */
    void (*reduce)(float *ratio, const double *const *v, const double *p, const double *q,
                   const double (*w)[2], int n, int stride);
    /* e[1], e[2] and e[3] as parts of the length of e, plus 2; at 3 stride |1 / length|. */
    void (*reduce_rounded)(float *ratio, const double *const *v, const double *p, const double *q,
                           const double (*w)[2], int n, int stride);
    /* out[i] := a hash of the cells of ratio[i], ratio[stride + i] and ratio[2 stride + i]. */
    void (*fold)(uint32_t *out, const float *ratio, int64_t n, int64_t stride, int shift);
    /* high, low := hashes of the cells. */
    void (*hash)(sl_search__lattice_keys *keys, int n, int shift);
    /* out[i] := 1 where a ratio less and plus its error is in two cells, 2 where in more, 0
     * else. */
    void (*border)(uint32_t *out, const sl_search__lattice_keys *keys, int n, int shift);
    /* out[k * stride] := dot product of v with vector k of n, one behind the other. At most 64
     * rows, a multiple of 8. */
    void (*dots)(double *out, int64_t stride, const double *v, const double *vectors, int64_t n,
                 int rows);
    /* How many terms explain what is needed: dot products with y, themselves, t and u. */
    int64_t (*explained)(const sl_search__lattice_meeting *m, const double *const *part, int n);
} sl_search__lattice_kernels;

extern const sl_search__lattice_kernels sl_search__lattice_kernels_base,
    sl_search__lattice_kernels_avx2, sl_search__lattice_kernels_avx512;
const sl_search__lattice_kernels *sl_search__lattice_kernels_at(sl_isa isa);

static inline uint32_t sl_search__lattice_cell(float ratio, int shift) {
    union {
        float f;
        uint32_t u;
    } bits = { ratio };
    return (bits.u + (1u << (shift - 1))) >> shift;
}

static inline uint32_t sl_search__lattice_mix(uint32_t h) {
    h ^= h >> 15;
    h *= 0x2C1B3C6Du;
    h ^= h >> 12;
    h *= 0x297A2D39u;
    return h ^ h >> 15;
}
static inline uint32_t sl_search__lattice_high(uint32_t a, uint32_t b, uint32_t c) {
    return sl_search__lattice_mix(a * 0x9E3779B1u + b * 0x85EBCA77u + c * 0xC2B2AE3Du);
}
static inline uint32_t sl_search__lattice_low(uint32_t a, uint32_t b, uint32_t c) {
    return sl_search__lattice_mix(a * 0x27D4EB2Fu + b * 0x165667B1u + c * 0xD3A2646Du +
                                  0x5bd1e995u);
}
static inline uint64_t sl_search__lattice_key(uint32_t a, uint32_t b, uint32_t c) {
    uint64_t key =
        (uint64_t)sl_search__lattice_high(a, b, c) << 32 | sl_search__lattice_low(a, b, c);
    return key ? key : 1;
}

#endif

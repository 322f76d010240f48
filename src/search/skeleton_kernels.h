/* skeleton_kernels - the inner loops of the search by skeletons, over blocks of variants.
 *
 * A block has values by row, one number per variant. Every operation is one IEEE operation and sums
 * have a fixed order, so that all instruction sets give the same bits. */
#ifndef SL_SEARCH_SKELETON_KERNELS_H
#define SL_SEARCH_SKELETON_KERNELS_H

#include "base/base.h"

enum {
    SL_SKELETON__DIMS = 8,       // directions that are left when columns are taken out
    SL_SKELETON__DIMS_WIDE = 16, // the same for variants of many columns
    SL_SKELETON__LANES = 8,      // blocks are padded to a multiple
    SL_SKELETON__PIVOTS = 64,    // rows of an elimination at most
    SL_SKELETON__BLOCK = 128,    // variants at once
    SL_SKELETON__SIEVED = 64,    // the same where a block is long
    SL_SKELETON__SPAN = 40,      // directions that columns may be taken out of
    SL_SKELETON__BESIDE = 4,     // columns of a variant beside another
    SL_SKELETON__TOGETHER = 6,   // columns of two variants
    SL_SKELETON__MINORS = 20,    // the most of them: subsets of 3 of 6 rows
};

/* Images of a block: by direction, one number per variant. */
typedef struct sl_search__skeleton_image {
    double q[SL_SKELETON__DIMS][SL_SKELETON__BLOCK];
} sl_search__skeleton_image;

typedef struct sl_search__skeleton_wide {
    double q[SL_SKELETON__DIMS_WIDE][SL_SKELETON__BLOCK];
} sl_search__skeleton_wide;

/* Minors of a block, in the same way. */
typedef struct sl_search__skeleton_minors {
    double of[SL_SKELETON__MINORS][SL_SKELETON__BLOCK];
} sl_search__skeleton_minors;

enum { SL_SKELETON__FIVE = 5 };

/* Four columns for each variant of a factor, of which the first is the same for all of them, in
 * directions 0 to 4. */
typedef struct sl_search__skeleton_four {
    double a[SL_SKELETON__FIVE]; // of length 1
    const sl_search__skeleton_image *b;
    /* The others: sum over r of c[r][d] value[r stride + i], and the same of x; without x any
     * vector. */
    const double (*c)[SL_SKELETON__FIVE], (*x)[SL_SKELETON__FIVE];
    const double *c_value, *x_value;
    int64_t stride;
} sl_search__skeleton_four;

typedef struct sl_search__skeleton_kernels {
    /* out[] := a[] b[]. */
    void (*multiply)(double *out, const double *a, const double *b, int rows);
    /* v less what it has of n orthonormal vectors, `rows` apart, four at once; returns v . v then.
     * rows: a multiple of 8. */
    double (*deflate)(double *v, const double *basis, int n, int rows);
    /* Gaussian elimination of n columns that are `rows` apart, in place: each is made of length 1,
     * then the largest element that is left of it by those before it is its pivot. left[k] := that
     * element; one that is not finite is 0. rows: a multiple of 8, at most SL_SKELETON__PIVOTS. */
    void (*eliminate)(double *left, double *a, int n, int rows);
    /* out->q[d][i] := sum over r of across[r][d] v[r stride + i], normalised to length 1 over d; 0
     * where less than `least` is left of the vector with the weights w[r]. */
    void (*images)(sl_search__skeleton_image *out, const double *across, const double *w,
                   const double *v, int64_t stride, int rows, int n, double least);
    void (*images_wide)(sl_search__skeleton_wide *out, const double *across, const double *w,
                        const double *v, int64_t stride, int rows, int n, double least);
    /* left[i] := the square of what the `count` vectors image[..].q[.][i] leave of direction 0.
     * They are made orthonormal, one after the other; 0 where the square of what is left of one is
     * below `least`. */
    void (*leave)(double *left, sl_search__skeleton_image *image, int count, int n, double least);
    void (*leave_wide)(double *left, sl_search__skeleton_wide *image, int count, int n,
                       double least);
    /* The variants whose image in one direction is next to 0: at[] := those with |q| < least times
     * the sum of |m[k] v|, where q is the sum over k of m[k] v[row[k] stride + i]; returns how
     * many. n: a multiple of SL_SKELETON__SIEVED. */
    int (*sieve)(int *at, const float *m, const int *row, int rows, const float *v, int64_t stride,
                 float least, int n);
    /* Of two columns, v and w, with images q and p: those whose span has direction 0, by |q1 p2 -
     * q2 p1| < least sqrt((q0 p1 - q1 p0)^2 + (q0 p2 - q2 p0)^2). */
    int (*sieve_two)(int *at, const double (*m)[3], const double *v, const double *w,
                     int64_t stride, int rows, int n, double least);
    /* All minors of `count` columns in `size` directions from `first` on, by ascending set of
     * directions (bit d is direction first + d). */
    void (*minors)(sl_search__skeleton_minors *out, const sl_search__skeleton_image *image,
                   int count, int first, int size, int n);
    /* Variants of a block of n whose product with v, the sum of v[k] m->of[k][i] over k < minors,
     * is below `least`: at[] := which; returns how many. */
    int (*meet)(int *at, const double *v, const sl_search__skeleton_minors *m, int minors, int n,
                double least);
    /* Variants of a block of n for which the determinant of four columns in directions 1 to 4 is
     * below `least`, relative to the lengths of the last two, and below `turned` relative to those
     * that have direction 0, unless these are rounding alone: at[] := which; returns how many. */
    int (*meet_four)(int *at, const sl_search__skeleton_four *f, int rows, int n, double least,
                     double turned);
    /* out[r][0 ..] := as many of the `span` directions across[r stride + d] as are asked for, less
     * what they have of the columns, `rows` apart, that are not next to 0 in these directions;
     * their lengths are of order 1 if the columns' are. false: there are too few. stride: span
     * rounded up to a multiple of SL_SKELETON__LANES, with 0 there. */
    bool (*beside)(double *out, int dims, const double *across, int span, const double *column,
                   int n, int rows, double least);
    /* high, low := hashes of q[2..4] / q[1] in cells; 0 where direction 0 has all of it. */
    void (*keys)(uint32_t *high, uint32_t *low, const sl_search__skeleton_image *image, int n);
} sl_search__skeleton_kernels;

extern const sl_search__skeleton_kernels sl_search__skeleton_kernels_base,
    sl_search__skeleton_kernels_avx2, sl_search__skeleton_kernels_avx512;
const sl_search__skeleton_kernels *sl_search__skeleton_kernels_at(sl_isa isa);

#endif

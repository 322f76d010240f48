/* skeleton_kernels - the inner loops of the search by skeletons, over blocks of variants.
 *
 * A block has values by row, one number per variant. Every operation is one IEEE operation and sums
 * have a fixed order, so that all instruction sets give the same bits. */
#ifndef SL_SEARCH_SKELETON_KERNELS_H
#define SL_SEARCH_SKELETON_KERNELS_H

#include "base/base.h"

enum {
    SL_SKELETON__DIMS = 8,   // directions that are left when columns are taken out
    SL_SKELETON__LANES = 8,  // blocks are padded to a multiple
    SL_SKELETON__BLOCK = 128, // variants at once
    SL_SKELETON__BESIDE = 3,  // columns of a variant beside another
};

/* Images of a block: by direction, one number per variant. */
typedef struct sl_search__skeleton_image {
    double q[SL_SKELETON__DIMS][SL_SKELETON__BLOCK];
} sl_search__skeleton_image;

typedef struct sl_search__skeleton_kernels {
    /* v less what it has of n orthonormal vectors, `rows` apart, four at once; returns v . v then.
     * rows: a multiple of 8. */
    double (*deflate)(double *v, const double *basis, int n, int rows);
    /* out->q[d][i] := sum over r of across[r][d] v[r stride + i], normalised to length 1 over d; 0
     * where less than `least` is left of the vector with the weights w[r]. */
    void (*images)(sl_search__skeleton_image *out, const double *across, const double *w,
                   const double *v, int64_t stride, int rows, int n, double least);
    /* left[i] := the square of what the n vectors image[..].q[.][i] leave of direction 0. They are
     * made orthonormal, one after the other. */
    void (*leave)(double *left, sl_search__skeleton_image *image, int count, int n);
    /* The same beside m orthonormal vectors; the images, at most SL_SKELETON__BESIDE, stay as they
     * are. */
    void (*leave_beside)(double *left, const sl_search__skeleton_image *image, int count, int n,
                         const double (*other)[SL_SKELETON__DIMS], int m);
    /* high, low := hashes of q[2..4] / q[1] in cells; 0 where direction 0 has all of it. */
    void (*keys)(uint32_t *high, uint32_t *low, const sl_search__skeleton_image *image, int n);
} sl_search__skeleton_kernels;

extern const sl_search__skeleton_kernels sl_search__skeleton_kernels_base,
    sl_search__skeleton_kernels_avx2, sl_search__skeleton_kernels_avx512;
const sl_search__skeleton_kernels *sl_search__skeleton_kernels_at(sl_isa isa);

#endif

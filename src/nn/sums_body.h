/* Sums of gradient blocks: one text for all instruction sets. They are bound by memory: each block
 * is read once, up to eight side by side into registers. More are summed in runs so short
 * that the partial sums stay in the first cache. */
#include "base/vector.h"
#include "nn/pointwise_impl.h"

enum { LEAF = 8, RUN = 1024, PARTS = 8 };
_Static_assert(SL_NN_MAX_BLOCKS == LEAF << (PARTS - 1), "a part for each level of the tree");

SL_INLINE vec sum_2(const float *const *b, int64_t at, int n) {
    return v_load_n(b[0] + at, n) + v_load_n(b[1] + at, n);
}
SL_INLINE vec sum_4(const float *const *b, int64_t at, int n) {
    return sum_2(b, at, n) + sum_2(b + 2, at, n);
}
/* A piece of the sum of 1, 2, 4 or 8 blocks. */
SL_INLINE vec sum_leaf(const float *const *b, int n_blocks, int64_t at, int n) {
    if (n_blocks == 1) return v_load_n(b[0] + at, n);
    if (n_blocks == 2) return sum_2(b, at, n);
    if (n_blocks == 4) return sum_4(b, at, n);
    return sum_4(b, at, n) + sum_4(b + 4, at, n);
}

/* Squares go to two sums by turns, so that one need not wait for the other. */
typedef struct squares {
    v_squares even, odd;
} squares;

static double squares_total(const squares *s) {
    return v_squares_sum(s->even) + v_squares_sum(s->odd);
}

/* out[i] = the sum of numbers at + i of the blocks, for i < n, and with s its squares as well. */
SL_INLINE void leaf_numbers(float *out, squares *s, const float *const *b, int n_blocks,
                            int64_t at, int64_t n) {
    squares q = { 0 };
    if (s) q = *s;
    int64_t i = 0;
    for (; i + 2 * W <= n; i += 2 * W) {
        const vec x = sum_leaf(b, n_blocks, at + i, W), y = sum_leaf(b, n_blocks, at + i + W, W);
        v_store(out + i, x), v_store(out + i + W, y);
        if (s) q.even = v_add_squares(q.even, x), q.odd = v_add_squares(q.odd, y);
    }
    for (int k; i < n; i += k) {
        k = (int)SL_MIN(W, n - i);
        const vec x = sum_leaf(b, n_blocks, at + i, k);
        v_store_n(out + i, x, k);
        if (s) q.even = v_add_squares(q.even, x);
    }
    if (s) *s = q;
}

SL_INLINE void leaf_run(float *out, squares *s, const float *const *b, int n_blocks, int64_t at,
                        int64_t n) {
    switch (n_blocks) {
        case 1: leaf_numbers(out, s, b, 1, at, n); break;
        case 2: leaf_numbers(out, s, b, 2, at, n); break;
        case 4: leaf_numbers(out, s, b, 4, at, n); break;
        default: leaf_numbers(out, s, b, LEAF, at, n); break;
    }
}

/* out[0 .. n) = the sum of a run of n_blocks >= LEAF blocks; n <= RUN. */
static void tree_run(float *out, float (*part)[RUN], const float *const *b, int n_blocks,
                     int64_t at, int n) {
    if (n_blocks == LEAF) {
        leaf_numbers(out, NULL, b, LEAF, at, n);
        return;
    }
    tree_run(out, part, b, n_blocks / 2, at, n);
    tree_run(part[0], part + 1, b + n_blocks / 2, n_blocks / 2, at, n);
    const float *halves[2] = { out, part[0] };
    leaf_numbers(out, NULL, halves, 2, 0, n);
}

static double sum_tree(float *out, const float *const *block, int n_blocks, int64_t n) {
    SL_ASSERT(n_blocks >= 1 && n_blocks <= SL_NN_MAX_BLOCKS && (n_blocks & (n_blocks - 1)) == 0);
    squares s = { 0 };
    if (n_blocks <= LEAF) {
        leaf_run(out, &s, block, n_blocks, 0, n);
        return squares_total(&s);
    }
    float part[PARTS][RUN];
    const float *const halves[2] = { part[0], part[1] };
    for (int64_t at = 0; at < n; at += RUN) {
        const int run = (int)SL_MIN(RUN, n - at), half = n_blocks / 2;
        tree_run(part[0], part + 2, block, half, at, run);
        tree_run(part[1], part + 2, block + half, half, at, run);
        leaf_numbers(out + at, &s, halves, 2, 0, run);
    }
    return squares_total(&s);
}

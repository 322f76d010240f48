/* columns_body - attention over the columns of each point, for one instruction set.
 *
 * Every point has its own tiny problem: nq queries, cols keys. UNIT points of one head are taken at
 * a time, and the vectors run along D where numbers of one point meet, along the points where
 * scores do:
 *
 *     dots      for each point the nq x cols sums in registers, vectors along D; left in `part`
 *     fold      UNIT of those vectors, one per point, to one vector of scores: no horizontal sums
 *     softmax   on vectors of points
 *     combine   for each point its numbers as broadcast factors, vectors along D
 *
 * Where fewer points are left, the last one stands in for those missing, and is not stored
 * again. */
#include "nn/attention_impl.h"
#include "nn/exponential.h"

typedef struct columns {
    int N, nq, cols, H, D;
    size_t ldo, ldq, ldkv;
    const uint8_t *mask;
    float scale;
} columns;

/* The numbers of UNIT points, one vector for each pair of a query a and a key c, at a cols + c. */
typedef struct pairs {
    float of[SL_NN_MAX_COLUMNS * SL_NN_MAX_COLUMNS][UNIT];
} pairs;

SL_INLINE size_t cell(const columns *s, int c, int r) {
    return (size_t)c * (size_t)s->N + (size_t)SL_MIN(r, s->N - 1);
}

/* One vector of the sums over each of UNIT vectors. */
SL_INLINE unit fold(float part[UNIT][UNIT]) {
    unit r[UNIT];
    for (int i = 0; i < UNIT; i++) r[i] = unit_load(part[i]);
    return unit_sums(r);
}

/* out[a, c] = x[a] y[c] for the points from r on: products of heads. */
SL_INLINE void dots(pairs *out, const columns *s, const float *x, size_t ldx, const float *y, int r,
                 const int nq, const int cols) {
    float part[SL_NN_MAX_COLUMNS * SL_NN_MAX_COLUMNS][UNIT][UNIT];
    for (int i = 0; i < UNIT; i++) {
        const float *x_a[SL_NN_MAX_COLUMNS], *y_c[SL_NN_MAX_COLUMNS];
        unit sum[SL_NN_MAX_COLUMNS][SL_NN_MAX_COLUMNS];
        for (int a = 0; a < nq; a++) x_a[a] = x + cell(s, a, r + i) * ldx;
        for (int c = 0; c < cols; c++) y_c[c] = y + cell(s, c, r + i) * s->ldkv;
        for (int a = 0; a < nq; a++)
            for (int c = 0; c < cols; c++) sum[a][c] = (unit){ 0 };
        for (int d = 0; d < s->D; d += UNIT)
            for (int c = 0; c < cols; c++) {
                const unit y_d = unit_load(y_c[c] + d);
                for (int a = 0; a < nq; a++)
                    sum[a][c] = unit_fma(unit_load(x_a[a] + d), y_d, sum[a][c]);
            }
        for (int a = 0; a < nq; a++)
            for (int c = 0; c < cols; c++) unit_store(part[a * cols + c][i], sum[a][c]);
    }
    for (int k = 0; k < nq * cols; k++) unit_store(out->of[k], fold(part[k]));
}

/* kept[k] := what dropout leaves of x[k], multiplied by the scale; kept may be x. */
SL_INLINE void drop_pairs(pairs *kept, const pairs *x, const columns *s, int h, int r, const int nq,
                       const int cols) {
    const size_t bytes = ((size_t)s->H * (size_t)cols + 7) / 8, bit = (size_t)h * (size_t)cols;
    const bool over = bit % 8 + (size_t)cols > 8; // into the next byte
    for (int a = 0; a < nq; a++) {
        int32_t word[UNIT];
        for (int i = 0; i < UNIT; i++) {
            const uint8_t *row = s->mask + cell(s, a, r + i) * bytes + bit / 8;
            word[i] = (row[0] | (over ? row[1] << 8 : 0)) >> (bit % 8);
        }
        iunit words;
        memcpy(&words, word, sizeof words);
        for (int c = 0; c < cols; c++) {
            const iunit mask = -((words >> c) & 1);
            const unit left = unit_load(x->of[a * cols + c]) * unit_set(s->scale);
            unit_store(kept->of[a * cols + c], (unit)((iunit)left & mask));
        }
    }
}

/* Softmax over the keys c that are there; the others become 0, and all do if none is there. */
SL_INLINE void softmax_pairs(pairs *p, const iunit *there, float base2, const int nq,
                             const int cols) {
    for (int a = 0; a < nq; a++) {
        unit e[SL_NN_MAX_COLUMNS], total = { 0 };
        unit top = unit_set(-__builtin_inff());
        for (int c = 0; c < cols; c++) {
            e[c] = unit_load(p->of[a * cols + c]);
            const iunit more = (e[c] > top) & there[c];
            top = (unit)(((iunit)e[c] & more) | ((iunit)top & ~more));
        }
        for (int c = 0; c < cols; c++) {
            e[c] = (unit)((iunit)unit_exp2((e[c] - top) * unit_set(base2)) & there[c]);
            total += e[c];
        }
        const unit share = 1 / total;
        for (int c = 0; c < cols; c++)
            unit_store(p->of[a * cols + c], (unit)((iunit)(e[c] * share) & there[c]));
    }
}

SL_INLINE float *numbers(const columns *s, const float *p, int a, int r, int h) {
    return (float *)(uintptr_t)(p + (cell(s, a, r) * (size_t)s->H + (size_t)h) * (size_t)s->cols);
}

SL_INLINE void cols_fwd_of(const columns *s, float *o, float *p, const float *q, const float *k,
                        const float *v, const uint8_t *present, int per, const int nq,
                        const int cols) {
    const float base2 = (float)(1.4426950408889634 / __builtin_sqrt((double)s->D));
    for (int r = 0; r < s->N; r += UNIT) {
        const int points = SL_MIN(UNIT, s->N - r);
        iunit there[SL_NN_MAX_COLUMNS];
        for (int c = 0; c < cols; c++) {
            int32_t mask[UNIT];
            for (int i = 0; i < UNIT; i++) {
                const int set = present ? SL_MIN(r + i, s->N - 1) / per : 0;
                mask[i] = !present || present[c * (s->N / per) + set] ? -1 : 0;
            }
            memcpy(&there[c], mask, sizeof mask);
        }
        for (int h = 0; h < s->H; h++) {
            const int head = h * s->D;
            pairs w;
            dots(&w, s, q + head, s->ldq, k + head, r, nq, cols);
            softmax_pairs(&w, there, base2, nq, cols);
            for (int a = 0; a < nq; a++)
                for (int i = 0; i < points; i++)
                    for (int c = 0; c < cols; c++)
                        numbers(s, p, a, r + i, h)[c] = w.of[a * cols + c][i];
            if (s->mask) drop_pairs(&w, &w, s, h, r, nq, cols);

            for (int i = 0; i < points; i++)
                for (int d = head; d < head + s->D; d += UNIT) {
                    unit sum[SL_NN_MAX_COLUMNS];
                    for (int a = 0; a < nq; a++) sum[a] = (unit){ 0 };
                    for (int c = 0; c < cols; c++) {
                        const unit v_c = unit_load(v + cell(s, c, r + i) * s->ldkv + d);
                        for (int a = 0; a < nq; a++)
                            sum[a] = unit_fma(unit_set(w.of[a * cols + c][i]), v_c, sum[a]);
                    }
                    for (int a = 0; a < nq; a++)
                        unit_store(o + cell(s, a, r + i) * s->ldo + d, sum[a]);
                }
        }
    }
}

/* Absent columns need no word here: their p is 0, and with it every gradient of theirs. */
SL_INLINE void cols_bwd_of(const columns *s, float *dq, float *dk, float *dv, const float *dout,
                        const float *q, const float *k, const float *v, const float *p,
                        const int nq, const int cols) {
    const unit root = unit_set((float)(1 / __builtin_sqrt((double)s->D)));
    for (int r = 0; r < s->N; r += UNIT) {
        const int points = SL_MIN(UNIT, s->N - r);
        for (int h = 0; h < s->H; h++) {
            const int head = h * s->D;
            pairs w, kept, ds;
            for (int a = 0; a < nq; a++)
                for (int i = 0; i < UNIT; i++)
                    for (int c = 0; c < cols; c++)
                        w.of[a * cols + c][i] = numbers(s, p, a, r + i, h)[c];
            dots(&ds, s, dout + head, s->ldo, v + head, r, nq, cols);
            if (s->mask) {
                drop_pairs(&kept, &w, s, h, r, nq, cols);
                drop_pairs(&ds, &ds, s, h, r, nq, cols);
            }
            const pairs *left = s->mask ? &kept : &w;
            for (int a = 0; a < nq; a++) {
                unit total = { 0 };
                for (int c = 0; c < cols; c++)
                    total = unit_fma(unit_load(ds.of[a * cols + c]),
                                        unit_load(w.of[a * cols + c]), total);
                for (int c = 0; c < cols; c++) {
                    const int ac = a * cols + c;
                    unit_store(ds.of[ac],
                               unit_load(w.of[ac]) * root * (unit_load(ds.of[ac]) - total));
                }
            }

            for (int i = 0; i < points; i++)
                for (int d = head; d < head + s->D; d += UNIT) {
                    unit q_a[SL_NN_MAX_COLUMNS], dout_a[SL_NN_MAX_COLUMNS];
                    unit dq_a[SL_NN_MAX_COLUMNS];
                    for (int a = 0; a < nq; a++) {
                        q_a[a] = unit_load(q + cell(s, a, r + i) * s->ldq + d);
                        dout_a[a] = unit_load(dout + cell(s, a, r + i) * s->ldo + d);
                        dq_a[a] = (unit){ 0 };
                    }
                    for (int c = 0; c < cols; c++) {
                        const size_t at = cell(s, c, r + i) * s->ldkv + (size_t)d;
                        const unit k_c = unit_load(k + at);
                        unit dk_c = { 0 }, dv_c = { 0 };
                        for (int a = 0; a < nq; a++) {
                            const unit ds_ac = unit_set(ds.of[a * cols + c][i]);
                            dq_a[a] = unit_fma(ds_ac, k_c, dq_a[a]);
                            dk_c = unit_fma(ds_ac, q_a[a], dk_c);
                            dv_c = unit_fma(unit_set(left->of[a * cols + c][i]), dout_a[a],
                                               dv_c);
                        }
                        unit_store(dk + at, dk_c);
                        unit_store(dv + at, dv_c);
                    }
                    for (int a = 0; a < nq; a++)
                        unit_store(dq + cell(s, a, r + i) * s->ldq + d, dq_a[a]);
                }
        }
    }
}

/* The counts that models have become constants, so that sums stay in registers. */
#define COUNTS(call)                                                    \
    if (cols == 3 && nq == 3) call(3, 3);                               \
    else if (cols == 3 && nq == 1) call(1, 3);                          \
    else if (cols == 2 && nq == 2) call(2, 2);                          \
    else if (cols == 2 && nq == 1) call(1, 2);                          \
    else if (cols == 4 && nq == 4) call(4, 4);                          \
    else if (cols == 4 && nq == 1) call(1, 4);                          \
    else call(nq, cols);

static void cols_fwd(float *o, int ldo, float *p, const float *q, int ldq, const float *k,
                     const float *v, int ldkv, const uint8_t *mask, float scale,
                     const uint8_t *present, int per, int N, int nq, int cols, int H, int D) {
    const columns s = { N, nq, cols, H, D, (size_t)ldo, (size_t)ldq, (size_t)ldkv, mask, scale };
#define CALL(a, c) cols_fwd_of(&s, o, p, q, k, v, present, per, a, c)
    COUNTS(CALL)
#undef CALL
}

static void cols_bwd(float *dq, int ldq, float *dk, float *dv, int ldkv, const float *dout, int ldo,
                     const float *q, const float *k, const float *v, const float *p,
                     const uint8_t *mask, float scale, const uint8_t *present, int per, int N,
                     int nq, int cols, int H, int D) {
    const columns s = { N, nq, cols, H, D, (size_t)ldo, (size_t)ldq, (size_t)ldkv, mask, scale };
    (void)present, (void)per;
#define CALL(a, c) cols_bwd_of(&s, dq, dk, dv, dout, q, k, v, p, a, c)
    COUNTS(CALL)
#undef CALL
}
#undef COUNTS

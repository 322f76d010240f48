/* table_pick - which columns of a table explain another best.
 *
 * Every column is cut at its quantiles into bins of as many rows, and k columns together make a
 * grid of cells. Rows of one cell are alike in these columns; if they are also alike in y, the
 * columns explain y. With n rows, G cells that have any, m_g rows in cell g, and means of y over
 * all and over a cell,
 *
 *                 sum_g sum_(i in g) (y_i - mean_g)^2 / (n - G)
 *     share = 1 - ---------------------------------------------
 *                        sum_i (y_i - mean)^2 / (n - 1)
 *
 * and 0 if n <= G or y is constant.
 *
 * The degrees of freedom correct for the number of cells: by chance alone the share is 0 on
 * average, however many there are. No shape of the law is assumed, and an interaction such as
 * x1*x2, to which neither column alone is correlated, is seen.
 *
 *     rows     N = 4096 drawn evenly, or all if there are fewer: enough for 1000 cells
 *     bins     b, the largest of 2 .. 32 with 4 b^k <= N: four rows a cell, if they spread evenly
 *     bin      of a value with r smaller ones among N: floor(b r / N). Equal values share a bin.
 *              Cells without a finite number are a bin of their own, so a column that is mostly
 *              empty cannot win by the few rows it has.
 *
 * All sets of k <= 3 are tried, in the order of the columns, and the first of the best is taken. Of
 * more than 64 columns only the 64 best of their own (k = 1) are tried together. A grid of more
 * than three columns has more cells than rows; then the best pair is taken, the best pair of the
 * others, and so on until there are k: each column that alone or with another says something of y
 * comes before those that do not. */
#include <math.h>
#include <string.h>

#include "data/table_impl.h"
#include "num/num.h"

enum {
    ROWS_MAX = 4096,
    BINS_MAX = 32,
    ROWS_PER_CELL = 4,
    TRIED_MAX = 64,
    GRID_MAX = 3,     // columns of one grid
    CELLS_MAX = 4096, // (bins + 1)^k is at most 33, 33^2, 11^3
    STREAM = 0x7069636b
};

/* The rows that are looked at. */
typedef struct picker {
    const sl_columns *from;
    int rows;
    int64_t row[ROWS_MAX];
    double y[ROWS_MAX]; // centred, and within -1 .. 1 or so
    double total;       // sum of their squares
    double sorted[ROWS_MAX];
    double sum[CELLS_MAX];
    int count[CELLS_MAX];
} picker;

/* Rows drawn evenly without repeats, in their order (Knuth's algorithm S). Not every so many-th: a
 * table that walks through a grid has the same x2 in each of those. */
static void draw_rows(picker *p, uint64_t seed) {
    const int64_t all = p->from->rows;
    const int64_t wanted = SL_MIN(all, (int64_t)ROWS_MAX);
    sl_rng rng;
    sl_rng_init(&rng, seed, STREAM, 0);
    for (int64_t i = 0; i < all && p->rows < wanted; i++) {
        const bool taken =
            all == wanted || sl_rng_uniform(&rng) * (double)(all - i) < (double)(wanted - p->rows);
        if (taken) p->row[p->rows++] = i;
    }
}

/* y without its mean, over a power of two so that squares neither overflow nor vanish. */
static void take_target(picker *p) {
    double largest = 0;
    for (int i = 0; i < p->rows; i++) {
        p->y[i] = p->from->y[p->row[i] * p->from->stride];
        largest = fmax(largest, fabs(p->y[i]));
    }
    int exponent;
    frexp(largest, &exponent);
    for (int i = 0; i < p->rows; i++) p->y[i] = ldexp(p->y[i], -exponent);
    bool constant = true;
    for (int i = 1; i < p->rows; i++) constant = constant && p->y[i] == p->y[0];
    const double mean = sl_num_mean(p->y, p->rows);
    p->total = 0;
    for (int i = 0; i < p->rows; i++) {
        p->y[i] = constant ? 0 : p->y[i] - mean;
        p->total += p->y[i] * p->y[i];
    }
}

static int bins_for(int rows, int k) {
    int bins = 2;
    for (; bins < BINS_MAX; bins++) {
        int64_t cells = 1;
        for (int i = 0; i < k; i++) cells *= bins + 1;
        if (ROWS_PER_CELL * cells > rows) break;
    }
    return bins;
}

/* bin[i] of each row; `bins` where there is no finite number. */
static void cut_column(uint8_t *bin, picker *p, int column, int bins) {
    const double *value = p->from->x[column];
    const int64_t stride = p->from->stride;
    for (int i = 0; i < p->rows; i++) p->sorted[i] = value[p->row[i] * stride];
    sl_num_sort(p->sorted, p->rows);
    for (int i = 0; i < p->rows; i++) {
        const double v = value[p->row[i] * stride];
        int lo = 0, hi = p->rows; // the first that is not smaller
        while (lo < hi) {
            const int mid = (lo + hi) / 2;
            if (p->sorted[mid] < v)
                lo = mid + 1;
            else
                hi = mid;
        }
        bin[i] = (uint8_t)(isfinite(v) ? (int)((int64_t)bins * lo / p->rows) : bins);
    }
}

static double share_of(picker *p, const uint8_t *const *bin, int k, int bins) {
    int cells = 1;
    for (int j = 0; j < k; j++) cells *= bins + 1;
    SL_ASSERT(cells <= CELLS_MAX);
    memset(p->sum, 0, (size_t)cells * sizeof p->sum[0]);
    memset(p->count, 0, (size_t)cells * sizeof p->count[0]);
    for (int i = 0; i < p->rows; i++) {
        int cell = 0;
        for (int j = 0; j < k; j++) cell = cell * (bins + 1) + bin[j][i];
        p->sum[cell] += p->y[i];
        p->count[cell]++;
    }
    int used = 0;
    double between = 0;
    for (int c = 0; c < cells; c++) {
        if (p->count[c] == 0) continue;
        used++;
        between += p->sum[c] * p->sum[c] / p->count[c];
    }
    if (p->rows <= used || p->total == 0) return 0;
    const double within = fmax(0, p->total - between);
    return 1 - within / (p->rows - used) / (p->total / (p->rows - 1));
}

/* Moves set[0..k-1] to the next one of k of n, the last place moving fastest; false behind the
 * last. */
static bool next_set(int *set, int k, int n) {
    int i = k - 1;
    while (i >= 0 && set[i] == n - k + i) i--;
    if (i < 0) return false;
    set[i]++;
    for (int j = i + 1; j < k; j++) set[j] = set[j - 1] + 1;
    return true;
}

/* keep[0 .. returned) := the TRIED_MAX columns with the largest share alone, in order. */
static int keep_best(int *keep, picker *p, uint8_t *bin) {
    double share[TRIED_MAX];
    const uint8_t *const one[1] = { bin };
    const int bins = bins_for(p->rows, 1);
    int kept = 0;
    for (int j = 0; j < p->from->n; j++) {
        cut_column(bin, p, j, bins);
        const double s = share_of(p, one, 1, bins);
        // the worst makes room, the later of equals first
        int worst = -1;
        for (int i = 0; kept == TRIED_MAX && i < kept; i++)
            if (worst < 0 || share[i] <= share[worst]) worst = i;
        if (worst >= 0 && share[worst] >= s) continue;
        if (worst >= 0) {
            memmove(keep + worst, keep + worst + 1, (size_t)(kept - worst - 1) * sizeof keep[0]);
            memmove(share + worst, share + worst + 1, (size_t)(kept - worst - 1) * sizeof share[0]);
            kept--;
        }
        keep[kept] = j;
        share[kept++] = s;
    }
    return kept;
}

static void try_sets(int *set, double *share, picker *p, const uint8_t *bin, int n, int k,
                     int bins) {
    int tried[SL_DATA_MAX_INPUTS];
    const uint8_t *of[SL_DATA_MAX_INPUTS];
    for (int j = 0; j < k; j++) tried[j] = j;
    *share = -INFINITY;
    do {
        for (int j = 0; j < k; j++) of[j] = bin + (size_t)tried[j] * ROWS_MAX;
        const double s = share_of(p, of, k, bins);
        if (s <= *share) continue;
        *share = s;
        memcpy(set, tried, (size_t)k * sizeof set[0]);
    } while (next_set(tried, k, n));
}

/* Pairs, the best first. */
static void try_pairs(int *set, picker *p, const uint8_t *bin, int n, int k, int bins) {
    bool taken[TRIED_MAX] = { false };
    for (int count = 0; count < k;) {
        int best[2] = { -1, -1 };
        double most = -INFINITY;
        for (int i = 0; i < n; i++)
            for (int j = i + 1; j < n && !taken[i]; j++) {
                const uint8_t *const of[2] = { bin + (size_t)i * ROWS_MAX,
                                               bin + (size_t)j * ROWS_MAX };
                const double s = taken[j] ? -INFINITY : share_of(p, of, 2, bins);
                if (s <= most) continue;
                most = s;
                best[0] = i;
                best[1] = j;
            }
        for (int i = 0; i < 2 && count < k; i++) {
            // of an odd number the last is whichever is left
            int one = best[i];
            for (int j = 0; one < 0 && j < n; j++)
                if (!taken[j]) one = j;
            taken[one] = true;
            count++;
        }
    }
    for (int i = 0, at = 0; i < n; i++)
        if (taken[i]) set[at++] = i;
}

sl_status sl_data_choose_inputs(int *set, double *explained, const sl_columns *from, int k,
                                uint64_t seed) {
    SL_ASSERT(k > 0 && k <= SL_DATA_MAX_INPUTS && from->n > k && from->rows > 0);
    sl_status st = SL_OK;
    int keep[TRIED_MAX], n = SL_MIN(from->n, (int)TRIED_MAX);
    picker *p = sl_calloc(1, sizeof *p);
    uint8_t *bin = sl_malloc((size_t)n * ROWS_MAX, 1);
    if (!p || !bin) SL_GO(sl_fail_memory(1, sizeof *p + (size_t)TRIED_MAX * ROWS_MAX, "bins"));
    p->from = from;
    draw_rows(p, seed);
    take_target(p);

    if (from->n > TRIED_MAX)
        n = keep_best(keep, p, bin);
    else
        for (int j = 0; j < n; j++) keep[j] = j;
    const bool pairs = k > GRID_MAX;
    const int bins = bins_for(p->rows, pairs ? 2 : k);
    for (int j = 0; j < n; j++) cut_column(bin + (size_t)j * ROWS_MAX, p, keep[j], bins);
    if (pairs)
        try_pairs(set, p, bin, n, k, bins);
    else
        try_sets(set, explained, p, bin, n, k, bins);
    for (int j = 0; j < k; j++) set[j] = keep[set[j]];
    *explained = pairs ? NAN : fmax(0, *explained);
done:
    sl_free(bin);
    sl_free(p);
    return st;
}

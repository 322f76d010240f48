/* skeleton_screen - is y a sum of these terms, with at most two of them changed?
 *
 * Variants are compared by their images in directions orthogonal to all columns without constants
 * inside (skeleton_directions.c), of which the first is that of y:
 *
 *   none   y is a formula if nothing of it is left;
 *   one    a variant of a term adds a few columns: y is a formula if direction 0 is in the span of
 *          their images;
 *   two    two variants of different terms: their images are parallel but for direction 0, so they
 *          meet in a key. Only the first column of either is taken: these two terms have no
 *          summands outside of functions.
 *   pairs  two variants of different terms with their further columns: each against each.
 *   inside two constants in one term, in two of its factors: one is fixed, then as with one.
 *
 * The images of all variants of a factor are one product of matrices: the directions, times the
 * other factors' values, times the values of the variants.
 *
 * Rows are weighted by 1/|y|. Where y is rounded, a residual of that size is allowed, and the keys
 * of pairs are cells of that width, looked up with their neighbours. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "search/lattice_kernels.h"
#include "search/skeleton_impl.h"

enum {
    DIMS = SL_SKELETON__DIMS,
    K = SL_SKELETON__FITTED,
    BLOCK = SL_SKELETON__BLOCK,
    VARIED = SL_SKELETON__VARIED,
    CELL = 16, // where y is rounded: width of a key's cells, in parts of the doubt
    SLOTS = 1 << 14,
    BLOCKS = 48,       // of variants, for pairs
    BLOCKS_INSIDE = 4, // of one factor, beside another of the same term
};
/* Squares of what may be left of direction 0, and of an image by rounding. */
static const double LEFT = 1e-14, LEAST = 1e-18;
static const double LITTLE = 1e-8; // part of y that few columns leave more of
static const double APART = 1e-6, PARALLEL = 1e-5;
/* Determinant of two variants that are compared further; where y is rounded, in doubts; of two that
 * have a column in common. Square of what is left of an image by rounding. */
static const double DETERMINANT = 1e-7, DOUBTS = 4, SHARED = 1e-11, DEPENDENT_IMAGE = 1e-16;
/* The determinant without y's direction as a part of the one with it; where y is rounded, in
 * doubts. */
static const double TURNED = 1e-3, TURNED_DOUBTS = 100;
static const double DOUBT_TWO = 3e-3; // where y is rounded: largest doubt for two variants

/* Two factors of a term, each with a constant inside: the columns are a, a variant of the fixed one
 * beside a summand of the other, b, the reverse, c, the product of both, and x, one further column.
 * Without y's direction they are dependent. */
typedef struct inside {
    const sl_search__skeleton_piece *fixed, *other;
    double lead[K], further[K]; // the other factors' first columns; one of a further column
    bool has_further;
    double c[K][SL_SKELETON__FIVE], x[K][SL_SKELETON__FIVE];
    sl_search__skeleton_image b[BLOCKS_INSIDE];
} inside;

typedef struct screen {
    sl_skeletons *s;
    int worker;
    uint32_t sets;
    int32_t at; // base
    sl_search__skeleton_directions d;
    sl_search__skeleton_image image[VARIED + 1];
    double alone[DIMS]; // image of a fixed factor beside a summand of the other
    double left[BLOCK];
    uint32_t high[BLOCK], low[BLOCK];
    // variants stored for comparison
    int waiting;
    sl_search__skeleton_change change[SLOTS / 2];
    double direction[SLOTS / 2][DIMS];
    uint64_t key[SLOTS];
    int32_t stamp[SLOTS], place[SLOTS];
    int32_t turn;
    inside two;
    // variants with all their columns, made orthonormal, for pairs
    bool pairs, pairs_alone, inside;
    int blocks;
    struct block {
        sl_search__skeleton_image image[SL_SKELETON__BESIDE];
        sl_search__skeleton_change first;
        int count, n;
        struct minors {
            int columns, size; // 0 columns: not made
            sl_search__skeleton_minors m;
        } minors[2]; // in directions from 0 and from 1 on
    } block[BLOCKS];
    // where y is rounded
    sl_search__skeleton_fitting fitting;
    sl_arena scratch;
} screen;

/* ---------------------------------------------------------------- hits ---------------------- */

sl_status sl_search__skeleton_add_hit(sl_skeletons *s, int worker,
                                      const sl_search__skeleton_hit *hit, double left,
                                      sl_search__skeleton_fitting *f, sl_arena *scratch) {
    sl_search__skeleton_hits *h = &s->hits[worker];
    sl_search__skeleton_hit new = *hit;
    if (f) {
        bool fits;
        SL_TRY(sl_search__skeleton_fits(&fits, f, &new, scratch));
        sl_arena_rewind(scratch, 0);
        if (!fits) return SL_OK;
        // the residual of exact data is rounding
        if (s->sigma > 0) new.left = f->rank + 1e-3 * SL_MIN(left, 100);
    }
    if (h->count == h->room) {
        int64_t room = SL_MAX(64, 2 * h->room);
        sl_search__skeleton_hit *more = sl_realloc(h->hit, (size_t)room, sizeof *more);
        if (!more) return sl_fail_memory((size_t)room, sizeof *more, "the hits of a search");
        h->hit = more;
        h->room = room;
    }
    h->hit[h->count++] = new;
    return SL_OK;
}

static sl_status add_hit(screen *c, const sl_search__skeleton_change *a,
                         const sl_search__skeleton_change *b, double left) {
    sl_search__skeleton_hit hit;
    memset(&hit, 0, sizeof hit);
    hit.base = c->at;
    hit.changes = (a != NULL) + (b != NULL);
    hit.plain = c->d.plain;
    if (a) hit.change[0] = *a;
    if (b) hit.change[1] = *b;
    return sl_search__skeleton_add_hit(c->s, c->worker, &hit, left, &c->fitting, &c->scratch);
}

/* Images i of the block and `other` agree but for direction 0, and differ in that: the square of
 * the sine between them; infinite where they do not. */
static double angle_between(const screen *c, int i, const double *other) {
    double a = 0, b = 0, product = 0, rest = 0;
    const double mine = c->image[0].q[0][i];
    for (int d = 1; d < DIMS; d++) {
        double q = c->image[0].q[d][i];
        a += q * q, b += other[d] * other[d], product += q * other[d];
    }
    const double scale = product / b, apart = fabs(mine - scale * other[0]);
    const double size = fabs(mine) + fabs(scale * other[0]);
    const double most = SL_MAX(PARALLEL, 0.5 * CELL * c->d.doubt);
    for (int d = 1; d < DIMS; d++) {
        double q = c->image[0].q[d][i] - scale * other[d];
        rest += q * q;
    }
    return rest < most * most * a && apart > SL_MAX(APART, c->d.doubt) * size ? rest / a : INFINITY;
}

/* Stores variant i under a key, for comparison with later ones. */
static void wait(screen *c, int i, const sl_search__skeleton_change *change, uint64_t key,
                 uint64_t at) {
    c->stamp[at] = c->turn;
    c->key[at] = key;
    c->place[at] = c->waiting;
    c->change[c->waiting] = *change;
    for (int d = 0; d < DIMS; d++) c->direction[c->waiting][d] = c->image[0].q[d][i];
    c->waiting++;
}

static uint64_t place_of(uint64_t key) { return (key >> 13) & (SLOTS - 1); }

/* Compares variant i of the block with the one stored under its key; stores it if there is none. */
static sl_status meet(screen *c, int i, const sl_search__skeleton_change *change) {
    const uint64_t key = (uint64_t)c->high[i] << 32 | c->low[i];
    if (key == 0 || c->waiting == SLOTS / 2) return SL_OK;
    uint64_t at = place_of(key);
    for (; c->stamp[at] == c->turn; at = (at + 1) & (SLOTS - 1)) {
        if (c->key[at] != key) continue;
        const sl_search__skeleton_change *other = &c->change[c->place[at]];
        if (other->term == change->term || angle_between(c, i, c->direction[c->place[at]]) > 1)
            return SL_OK;
        return add_hit(c, other, change, 0);
    }
    wait(c, i, change, key, at);
    return SL_OK;
}

/* The same where y is rounded: all cells within reach are looked up, in three directions. */
static sl_status meet_rounded(screen *c, int i, const sl_search__skeleton_change *change) {
    double size = 0, sign = 0;
    int32_t cell[3][2];
    if (c->waiting == SLOTS / 2 || c->d.doubt > DOUBT_TWO) return SL_OK;
    for (int d = 1; d < DIMS; d++) {
        double q = c->image[0].q[d][i];
        size += q * q, sign += q / (d + 0.5);
    }
    if (!(size > c->d.doubt * c->d.doubt)) return SL_OK;
    const double scale = (sign < 0 ? -1 : 1) / (sqrt(size) * CELL * c->d.doubt);
    for (int k = 0; k < 3; k++) {
        double u = c->image[0].q[1 + k][i] * scale, low = floor(u);
        cell[k][0] = (int32_t)low;
        cell[k][1] = (int32_t)low + (u - low < 0.5 ? -1 : 1);
    }
    for (int way = 7; way >= 0; way--) {
        const uint64_t key =
            sl_search__lattice_key((uint32_t)cell[0][way & 1], (uint32_t)cell[1][way >> 1 & 1],
                                   (uint32_t)cell[2][way >> 2]);
        uint64_t at = place_of(key);
        for (; c->stamp[at] == c->turn; at = (at + 1) & (SLOTS - 1)) {
            const sl_search__skeleton_change *other = &c->change[c->place[at]];
            if (c->key[at] != key || other->term == change->term) continue;
            double angle = angle_between(c, i, c->direction[c->place[at]]);
            if (angle < 1) SL_TRY(add_hit(c, other, change, angle / (c->d.doubt * c->d.doubt)));
        }
        if (way == 0) wait(c, i, change, key, at);
    }
    return SL_OK;
}

/* ---------------------------------------------------------------- variants ------------------ */

/* Stores the block's images for comparison with those of other terms. */
static void keep_block(screen *c, sl_search__skeleton_change change, int count, int from, int n) {
    if (!c->pairs || change.set != SL_SKELETON__ONE || c->blocks == BLOCKS) return;
    struct block *b = &c->block[c->blocks++];
    b->count = SL_MIN(count, SL_SKELETON__BESIDE);
    b->n = n;
    b->minors[0].columns = b->minors[1].columns = 0;
    b->first = change;
    b->first.variant = from;
    memcpy(b->image, c->image, (size_t)b->count * sizeof *b->image);
}

/* One variant of a block: a formula, or stored for comparison. x: fixed beside it. */
static sl_status try_variant(screen *c, int i, const sl_search__skeleton_change *change,
                             const sl_search__skeleton_fixed *x) {
    const double reach = c->d.doubt * c->d.doubt;
    if (c->left[i] < SL_MAX(LEFT, reach))
        return add_hit(c, x ? &x->change : change, x ? change : NULL, c->left[i] / reach);
    if (x) return SL_OK;
    return c->d.doubt > 0 ? meet_rounded(c, i, change) : meet(c, i, change);
}

/* A column of a variant times a product of the other factors. */
typedef struct pick {
    int product, column;
} pick;

/* Which columns of a variant are taken in: a formula has few constants, so first those that need
 * least of them. */
static int pick_columns(pick *out, const screen *c, int count) {
    int n = 0;
    for (int further = 0; further <= SL_SKELETON__FACTORS; further++)
        for (int i = 0; i < c->d.products; i++)
            for (int k = 0; k < count && n < c->d.most; k++)
                if (c->d.further[i] + (k > 0) == further) out[n++] = (pick){ i, k };
    return n;
}

/* Variants from .. from + n of a factor; m: directions times the other factors, by column. */
static sl_status try_block(screen *c, const sl_search__skeleton_piece *p,
                           sl_search__skeleton_change change, const sl_search__skeleton_fixed *x,
                           const pick *picks, int count, double (*m)[K][DIMS], int from, int n) {
    const sl_search__skeleton_set *set = &p->set[change.set];
    const sl_search__skeleton_kernels *kernels = c->s->kernels;
    for (int i = 0; i < count; i++) {
        const int64_t column = (int64_t)picks[i].column * set->rows * set->stride;
        kernels->images(&c->image[i], m[i][0], c->d.product[picks[i].product],
                        set->value + column + from, set->stride, c->d.rows, n, LEAST);
    }
    if (!x && !c->pairs_alone) kernels->keys(c->high, c->low, &c->image[0], n);
    if (x && sl_search__skeleton_has_summand(p)) {
        for (int d = 0; d < DIMS; d++)
            for (int i = 0; i < n; i++) c->image[count].q[d][i] = c->alone[d];
        count++;
    }
    kernels->leave(c->left, c->image, count, n, DEPENDENT_IMAGE);
    if (!x) keep_block(c, change, count, from, n);
    for (int i = 0; i < n && !c->pairs_alone; i++) {
        change.variant = from + i;
        SL_TRY(try_variant(c, i, &change, x));
    }
    return SL_OK;
}

/* Adds a column of variant i to an orthonormal basis of n, unless it is in its span. */
static int extend(double (*basis)[DIMS], int n, const screen *c,
                  const sl_search__skeleton_image *image, int i) {
    double *v = basis[n];
    for (int d = 0; d < DIMS; d++) v[d] = image->q[d][i];
    const double size = c->s->kernels->deflate(v, basis[0], n, DIMS);
    if (!(size > DEPENDENT_IMAGE)) return n;
    for (int d = 0; d < DIMS; d++) v[d] /= sqrt(size);
    return n + 1;
}

/* The square of what p columns of variant i of a and q of variant k of b leave of direction 0. */
static double left_by_both(const screen *c, const struct block *a, int i, int p,
                           const struct block *b, int k, int q) {
    double basis[SL_SKELETON__TOGETHER + 1][DIMS], rest[DIMS] = { 1 };
    int n = 0;
    for (int o = 0; o < p; o++) n = extend(basis, n, c, &a->image[o], i);
    for (int o = 0; o < q; o++) n = extend(basis, n, c, &b->image[o], k);
    return c->s->kernels->deflate(rest, basis[0], n, DIMS);
}

/* The minors of `count` columns of a block in `size` directions from `first` on. */
static const sl_search__skeleton_minors *minors_of(const screen *c, struct block *b, int count,
                                                   int first, int size) {
    struct minors *m = &b->minors[first];
    if (m->columns != count || m->size != size)
        c->s->kernels->minors(&m->m, b->image, count, first, size, b->n);
    m->columns = count;
    m->size = size;
    return &m->m;
}

int sl_search__skeleton_make_signs(double *sign, int p, int size) {
    int n = 0;
    for (unsigned set = 1u << size; set-- > 0;) {
        if (__builtin_popcount(set) != p) continue;
        int sum = p * (p - 1) / 2;
        for (unsigned rest = set; rest; rest &= rest - 1) sum += __builtin_ctz(rest);
        sign[n++] = sum % 2 ? -1 : 1;
    }
    return n;
}

/* Two blocks of variants of different terms: p columns of either one's, q of the other's. */
typedef struct both {
    struct block *a, *b;
    int p, q;
    double sign[SL_SKELETON__MINORS];
    int terms; // of a determinant
} both;

/* The determinant of variant i of a and k of b in as many directions, from `first` on. */
static double determinant(const screen *c, const both *x, int i, int k, int first) {
    const sl_search__skeleton_minors *m = minors_of(c, x->a, x->p, first, x->p + x->q);
    const sl_search__skeleton_minors *o = minors_of(c, x->b, x->q, first, x->p + x->q);
    double sum = 0;
    for (int t = 0; t < x->terms; t++) sum += x->sign[t] * m->of[x->terms - 1 - t][i] * o->of[t][k];
    return fabs(sum);
}

/* Variant i of a and k of b, if y takes part in their dependence: one of their columns alone, which
 * two variants of one function often share, is dependent in direction 0 too. Steep functions are
 * next to 0 in all rows but one: any two of them are next to dependent with and without y. */
static sl_status check_both(screen *c, const both *x, int i, int k) {
    const double reach = SL_MAX(LEFT, c->d.doubt * c->d.doubt);
    const double with_y = determinant(c, x, i, k, 0),
                 most = SL_MAX(TURNED, TURNED_DOUBTS * c->d.doubt);
    if (with_y < SHARED || determinant(c, x, i, k, 1) > most * with_y) return SL_OK;
    const double left = left_by_both(c, x->a, i, x->p, x->b, k, x->q);
    sl_search__skeleton_change one = x->a->first, two = x->b->first;
    if (!(left < reach)) return SL_OK;
    one.variant += i, two.variant += k;
    return add_hit(c, &one, &two, left / reach);
}

/* All variants of block a beside all of block b. Without direction 0, which is y's, the columns of
 * two variants of a formula are dependent: their determinant in as many directions is 0. */
static sl_status try_beside(screen *c, struct block *a, struct block *b) {
    const int most = SL_MIN(c->d.most, SL_SKELETON__TOGETHER);
    const double least = SL_MAX(DETERMINANT, DOUBTS * c->d.doubt);
    both x = { .a = a, .b = b, .p = a->count, .q = b->count };
    while (x.p + x.q > most) *(x.p > x.q ? &x.p : &x.q) -= 1;
    x.terms = sl_search__skeleton_make_signs(x.sign, x.p, x.p + x.q);
    const sl_search__skeleton_minors *m = minors_of(c, a, x.p, 1, x.p + x.q);
    const sl_search__skeleton_minors *o = minors_of(c, b, x.q, 1, x.p + x.q);
    for (int i = 0; i < a->n; i++) {
        double v[SL_SKELETON__MINORS];
        int at[BLOCK];
        for (int t = 0; t < x.terms; t++) v[t] = x.sign[t] * m->of[x.terms - 1 - t][i];
        const int found = c->s->kernels->meet(at, v, o, x.terms, b->n, least);
        for (int k = 0; k < found; k++) SL_TRY(check_both(c, &x, i, at[k]));
    }
    return SL_OK;
}

static sl_status try_pairs(screen *c) {
    int64_t tried = 0;
    for (int i = 0; i < c->blocks; i++)
        for (int k = i + 1; k < c->blocks; k++) {
            struct block *a = &c->block[i], *b = &c->block[k];
            if (a->first.term == b->first.term || SL_MAX(a->count, b->count) < 2) continue;
            SL_TRY(try_beside(c, a, b));
            tried += (int64_t)a->n * b->n;
        }
    atomic_fetch_add_explicit(&c->s->job->tried, tried, memory_order_relaxed);
    return SL_OK;
}

/* The image of the first product, which has a fixed factor. */
static void set_alone(screen *c) {
    double size = 0;
    for (int d = 0; d < DIMS; d++) {
        c->alone[d] = 0;
        for (int r = 0; r < c->d.rows; r++) c->alone[d] += c->d.across[r][d] * c->d.product[0][r];
        size += c->alone[d] * c->alone[d];
    }
    for (int d = 0; d < DIMS && size > 0; d++) c->alone[d] /= sqrt(size);
}

/* Variants of factor f of term t, from .. from + count. */
static sl_status try_factor(screen *c, int t, int f, int set, const sl_search__skeleton_fixed *x,
                            int32_t from, int32_t count) {
    const sl_search__skeleton_term *term = &c->s->term[c->d.base->term[t]];
    const sl_search__skeleton_piece *p = &c->s->piece[term->piece[f]];
    sl_search__skeleton_change change = { (int8_t)t, (int8_t)f, (int8_t)set, 0 };
    const int32_t end = from + count;
    double m[VARIED][K][DIMS];
    pick picks[VARIED];
    if (count == 0 || c->d.rows > p->set[set].rows) return SL_OK;
    sl_search__skeleton_multiply_plains(&c->d, term, f, x);
    const int n = pick_columns(picks, c, p->columns);
    if (x) set_alone(c);
    for (int i = 0; i < n; i++)
        for (int r = 0; r < c->d.rows; r++)
            for (int d = 0; d < DIMS; d++)
                m[i][r][d] = c->d.across[r][d] * c->d.product[picks[i].product][r];
    for (; from < end && n > 0; from += BLOCK)
        SL_TRY(try_block(c, p, change, x, picks, n, m, from, SL_MIN(BLOCK, end - from)));
    return SL_OK;
}

/* lead and further columns of the factors that are not varied. */
static void take_leads(inside *w, screen *c, const sl_search__skeleton_term *term, int f, int g) {
    w->has_further = false;
    memcpy(w->lead, c->s->weight, (size_t)c->d.rows * sizeof *w->lead);
    memcpy(w->further, c->s->weight, (size_t)c->d.rows * sizeof *w->lead);
    for (int k = 0; k < term->factors; k++) {
        const sl_search__skeleton_piece *p = &c->s->piece[term->piece[k]];
        if (k == f || k == g || p->plains == 0) continue;
        const bool further = !w->has_further && p->plains > 1;
        for (int r = 0; r < c->d.rows; r++) {
            w->lead[r] *= p->value[0][r];
            w->further[r] *= p->value[further][r];
        }
        w->has_further = w->has_further || further;
    }
}

/* m[r][d] := directions 0 to 4, times two vectors. */
static void multiply_across(double (*m)[SL_SKELETON__FIVE], const screen *c, const double *v,
                            const double *w, int64_t stride) {
    for (int r = 0; r < c->d.rows; r++)
        for (int d = 0; d < SL_SKELETON__FIVE; d++)
            m[r][d] = c->d.across[r][d] * v[r] * w[r * stride];
}

/* The columns of variant i of the fixed factor beside variants of the other from `from` on. */
static void set_four(sl_search__skeleton_four *four, inside *w, const screen *c, int i, int from) {
    const sl_search__skeleton_set *mine = &w->fixed->set[SL_SKELETON__ONE];
    const sl_search__skeleton_set *its = &w->other->set[SL_SKELETON__ONE];
    const int64_t column = mine->rows * (int64_t)mine->stride;
    const double *value = mine->value + i;
    double size = 0;
    multiply_across(w->c, c, w->lead, value, mine->stride);
    *four = (sl_search__skeleton_four){ .b = &w->b[from / BLOCK],
                                        .c = w->c,
                                        .c_value = its->value + from,
                                        .x = w->x,
                                        .x_value = its->value + from,
                                        .stride = its->stride };
    if (w->other->columns > 1) {
        four->x = w->c;
        four->x_value += its->rows * (int64_t)its->stride;
    } else if (w->fixed->columns > 1) {
        multiply_across(w->x, c, w->lead, value + column, mine->stride);
    } else if (w->has_further) {
        multiply_across(w->x, c, w->further, value, mine->stride);
    } else {
        four->x = NULL;
    }
    for (int d = 0; d < SL_SKELETON__FIVE; d++) {
        for (int r = 0; r < c->d.rows; r++) four->a[d] += w->c[r][d];
        size += four->a[d] * four->a[d];
    }
    for (int d = 0; d < SL_SKELETON__FIVE; d++)
        four->a[d] = sl_search__skeleton_has_summand(w->other) && size > 0 ? four->a[d] / sqrt(size)
                                                                           : 0.7 - 0.3 * d;
}

/* b: images of the other factor's variants beside a summand of the fixed one. */
static void set_beside(inside *w, const screen *c) {
    const sl_search__skeleton_set *its = &w->other->set[SL_SKELETON__ONE];
    double m[K][DIMS];
    for (int r = 0; r < c->d.rows; r++)
        for (int d = 0; d < DIMS; d++) m[r][d] = c->d.across[r][d] * w->lead[r];
    for (int from = 0; from < its->count; from += BLOCK) {
        sl_search__skeleton_image *to = &w->b[from / BLOCK];
        if (sl_search__skeleton_has_summand(w->fixed))
            c->s->kernels->images(to, m[0], w->lead, its->value + from, its->stride, c->d.rows,
                                  SL_MIN(BLOCK, its->count - from), LEAST);
        else
            memset(to, 0, sizeof *to);
    }
}

static sl_status try_two_factors(screen *c, inside *w, int t, int f, int g) {
    const sl_search__skeleton_term *term = &c->s->term[c->d.base->term[t]];
    const int32_t mine = w->fixed->set[SL_SKELETON__ONE].count;
    const int32_t its = w->other->set[SL_SKELETON__ONE].count;
    const double least = SL_MAX(DETERMINANT, DOUBTS * c->d.doubt);
    const double turned = SL_MAX(TURNED, TURNED_DOUBTS * c->d.doubt);
    sl_search__skeleton_fixed x = { w->fixed, { (int8_t)t, (int8_t)f, SL_SKELETON__ONE, 0 } };
    take_leads(w, c, term, f, g);
    set_beside(w, c);
    for (; x.change.variant < mine; x.change.variant++)
        for (int from = 0; from < its; from += BLOCK) {
            sl_search__skeleton_four four;
            int at[BLOCK];
            set_four(&four, w, c, x.change.variant, from);
            const int found = c->s->kernels->meet_four(at, &four, c->d.rows,
                                                       SL_MIN(BLOCK, its - from), least, turned);
            // kernels read whole vectors: the variants beside it are tried, too
            for (int k = 0, last = -1; k < found; k++) {
                const int lanes = SL_SKELETON__LANES, first = from + at[k] / lanes * lanes;
                if (first != last)
                    SL_TRY(try_factor(c, t, g, SL_SKELETON__ONE, &x, first,
                                      SL_MIN(lanes, its - first)));
                last = first;
            }
        }
    atomic_fetch_add_explicit(&c->s->job->tried, (int64_t)mine * its, memory_order_relaxed);
    return SL_OK;
}

/* Two factors of a term: the one with fewer variants is fixed. Of one term alone divisors are left
 * to skeleton_both.c. */
static sl_status try_inside(screen *c, int t) {
    const sl_search__skeleton_term *term = &c->s->term[c->d.base->term[t]];
    for (int f = 0; f < term->factors; f++)
        for (int g = 0; g < term->factors; g++) {
            inside *w = &c->two;
            w->fixed = &c->s->piece[term->piece[f]];
            w->other = &c->s->piece[term->piece[g]];
            const sl_search__skeleton_set *mine = &w->fixed->set[SL_SKELETON__ONE];
            const sl_search__skeleton_set *its = &w->other->set[SL_SKELETON__ONE];
            if (f == g || mine->count > its->count || (mine->count == its->count && f > g))
                continue;
            if (c->d.base->terms == 1 && w->fixed->divisor.columns + w->other->divisor.columns > 0)
                continue;
            if (mine->count == 0 || c->d.rows > SL_MIN(mine->rows, its->rows)) continue;
            if (its->count <= BLOCKS_INSIDE * BLOCK) SL_TRY(try_two_factors(c, w, t, f, g));
        }
    return SL_OK;
}

static sl_status try_columns(screen *c) {
    bool nothing;
    if (!sl_search__skeleton_find_directions(&nothing, &c->d, &c->s->base[c->at])) return SL_OK;
    // where y is rounded many columns fit it: few come first
    if (nothing) return c->pairs_alone ? SL_OK : add_hit(c, NULL, NULL, c->d.rank);
    c->turn++;
    c->waiting = c->blocks = 0;
    for (int t = 0; t < c->d.base->terms; t++)
        for (int f = 0; f < c->s->term[c->d.base->term[t]].factors; f++)
            for (int set = 0; set < SL_SKELETON__SETS; set++) {
                const int32_t piece = c->s->term[c->d.base->term[t]].piece[f];
                const int32_t count = c->s->piece[piece].set[set].count;
                if (!(c->sets >> set & 1)) continue;
                SL_TRY(try_factor(c, t, f, set, NULL, 0, count));
                atomic_fetch_add_explicit(&c->s->job->tried, count, memory_order_relaxed);
            }
    for (int t = 0; t < c->d.base->terms && c->inside && c->d.doubt < DOUBT_TWO; t++)
        SL_TRY(try_inside(c, t));
    return try_pairs(c);
}

/* Has a factor of a skeleton a phase? */
static bool has_phase(const screen *c) {
    const sl_search__skeleton_base *b = &c->s->base[c->at];
    for (int t = 0; t < b->terms; t++) {
        const sl_search__skeleton_term *term = &c->s->term[b->term[t]];
        for (int f = 0; f < term->factors; f++)
            if (c->s->piece[term->piece[f]].sine) return true;
    }
    return false;
}

/* Many smooth columns leave next to nothing of any smooth function, the true one and its variants
 * among them, which rounding then hides: again with fewer. */
static sl_status try_base(screen *c) {
    c->d.left = 1;
    SL_TRY(try_columns(c));
    if (!(c->d.left < LITTLE) || c->s->sigma > 0 || !has_phase(c)) return SL_OK;
    c->d.plain = true;
    sl_status st = try_columns(c);
    c->d.plain = false;
    return st;
}

/* The stored variants are large, and set before they are used. */
static void begin_screen(screen *c, const sl_search__skeleton_screening *g, int worker) {
    c->s = g->s;
    c->d.s = g->s;
    c->d.plain = false;
    c->worker = worker;
    c->sets = g->sets;
    c->inside = g->inside;
    c->pairs_alone = g->pairs_alone;
    c->turn = 0;
    memset(c->stamp, 0, sizeof c->stamp);
    c->scratch = (sl_arena){ 0 };
    sl_search__skeleton_fitting_begin(&c->fitting, g->s);
}

sl_status sl_search__skeleton_screen(int64_t begin, int64_t end, int worker, void *payload) {
    const sl_search__skeleton_screening *g = payload;
    screen *c = sl_malloc_aligned(1, sizeof *c);
    if (!c) return sl_fail_memory(1, sizeof *c, "skeletons");
    begin_screen(c, g, worker);
    sl_status st = SL_OK;
    for (int64_t i = begin; i < end && st == SL_OK; i++) {
        if (sl_search__stop(g->s->job, worker == 0)) break;
        c->at = g->base[i];
        c->pairs = i < g->pairs;
        st = try_base(c);
    }
    sl_arena_clear(&c->scratch);
    sl_free(c);
    return st;
}

/* skeleton_clear - skeletons multiplied by their divisors: no constant is enumerated.
 *
 * x1/(a x1 + b x2 + c) + sin(x2)/(d x1 + e x2 + f) is not linear in its constants. Multiplied by
 * both divisors it is y D = N, with D in the span of the products of {x1, x2, 1} with itself, and N
 * in that of x1 {x1, x2, 1} and sin(x2) {x1, x2, 1}: all coefficients are free, and the test of a
 * skeleton is whether these columns, those of D times y, are linearly dependent in the rows. That a
 * coefficient of D is then a product of constants is not used: with 64 rows and 30 columns a true
 * skeleton leaves 1e-14, another one 1e-4.
 *
 * N comes first, then the columns of D one by one: the first that depends on those before it is a
 * hit, unless it depends on columns of D alone (sin^2 + cos^2 = 1). Where all divisors make too
 * many columns, those are left out that hold phases, or some of the divisors have no constants.
 * skeleton_clear_verify.c finds the constants of a hit. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "search/skeleton_impl.h"

typedef sl_search__skeleton_space space;
typedef sl_search__skeleton_cleared cleared;
typedef sl_search__skeleton_clear_hit hit;
typedef sl_search__skeleton_extent extent;

enum {
    CLEARED = SL_SKELETON__CLEARED,
    ROWS = SL_SKELETON__ROWS,
    SPARE = 6, // rows beyond the columns
    SPARE_ROUNDED = 12,
    GRAIN = 128,
    HITS_MAX = 48,
    BATCH = 4, // hits that are solved at once: the same for any number of threads
};
/* Part of a column that is rounding error; that is left of one in the span of others; that is left
 * of a column of D beside the others of D, and the former relative to that. */
static const double LEAST = 1e-20; // square of a part of a column
static const double DEPENDENT = 1e-11, NOTHING = 1e-11, FEW = 1e-7, RATIO = 1e-10;
static const double ROUNDING = 4e-15; // what a true dependence leaves of a column

/* ---------------------------------------------------------------- spaces -------------------- */

static void set_one(space *s, int rows) {
    s->count = 1;
    s->name[0] = 0;
    for (int r = 0; r < rows; r++) s->value[0][r] = 1;
}

/* *out := products of the columns of a and the n given ones; 0 rows: their names alone. false: too
 * many. */
static bool multiply(space *out, const space *a, const double (*value)[ROWS], const uint64_t *name,
                     int n, uint32_t use, int rows) {
    out->count = 0;
    for (int k = 0; k < n; k++) {
        if (!(use >> k & 1)) continue;
        for (int i = 0; i < a->count; i++) {
            const uint64_t product = a->name[i] + name[k];
            int at = 0;
            while (at < out->count && out->name[at] != product) at++;
            if (at < out->count) continue;
            if (at == CLEARED) return false;
            out->name[out->count++] = product;
            for (int r = 0; r < rows; r++) out->value[at][r] = a->value[i][r] * value[k][r];
        }
    }
    return true;
}

/* A product of several factors is made in two places in turn. */
typedef struct product {
    cleared *c;
    int at, rows;
    bool good;
} product;

static void times(product *p, const double (*value)[ROWS], const uint64_t *name, int n,
                  uint32_t use) {
    space *from = &p->c->scratch[p->at], *to = &p->c->scratch[1 - p->at];
    p->good = p->good && multiply(to, from, value, name, n, use, p->rows);
    p->at = 1 - p->at;
}

/* Times all divisors of the mask that are not of this term (-1: all). */
static void times_divisors(product *p, int but) {
    for (int i = 0; i < p->c->divisors; i++) {
        const sl_search__skeleton_divisor *d = p->c->divisor[i].divisor;
        if (!(p->c->mask >> i & 1) || p->c->divisor[i].term == but) continue;
        for (int k = 0; k < d->power; k++) times(p, d->value, d->name, d->columns, p->c->use[i]);
    }
}

bool sl_search__skeleton_is_cleared(const cleared *c, int t, int f) {
    for (int i = 0; i < c->divisors; i++)
        if (c->divisor[i].term == t && c->divisor[i].factor == f) return c->mask >> i & 1;
    return false;
}

int sl_search__skeleton_columns(const double (**value)[ROWS], const uint64_t **name,
                                const cleared *c, int t, int f) {
    const sl_search__skeleton_piece *p = &c->s->piece[c->s->term[c->base->term[t]].piece[f]];
    const bool replaced = c->replaced.term == t && c->replaced.factor == f;
    *value = replaced ? c->replaced.value : p->value;
    *name = replaced ? c->replaced.name : p->name;
    if (replaced) return c->replaced.n;
    return c->lean >> t & 1 ? SL_MIN(p->plains, 1) : p->plains;
}

/* The products of a term's numerator, but for one factor (-1: of all), times the divisors of the
 * others. NULL: too many. */
static const space *products_of_term(cleared *c, int t, int but, int rows) {
    const sl_search__skeleton_term *term = &c->s->term[c->base->term[t]];
    product p = { c, 0, rows, true };
    set_one(&c->scratch[0], rows);
    for (int f = 0; f < term->factors && p.good; f++) {
        const double(*value)[ROWS];
        const uint64_t *name;
        const int n = sl_search__skeleton_columns(&value, &name, c, t, f);
        if (f != but && !sl_search__skeleton_is_cleared(c, t, f))
            times(&p, value, name, n, UINT32_MAX);
    }
    if (p.good) times_divisors(&p, t);
    return p.good ? &c->scratch[p.at] : NULL;
}

/* Adds the columns of a term. */
static bool add_term(cleared *c, int t, int rows) {
    const space *s = products_of_term(c, t, -1, rows);
    if (!s) return false;
    for (int i = 0; i < s->count; i++) {
        int at = 0;
        while (at < c->above.count && c->above.name[at] != s->name[i]) at++;
        if (at < c->above.count) continue;
        if (at == CLEARED) return false;
        c->above.name[at] = s->name[i];
        if (rows) memcpy(c->above.value[at], s->value[i], (size_t)rows * sizeof(double));
        c->above.count++;
    }
    return true;
}

bool sl_search__skeleton_clear(cleared *c, int rows) {
    product p = { c, 0, rows, true };
    set_one(&c->scratch[0], rows);
    times_divisors(&p, -1);
    if (!p.good) return false;
    space *s = &c->scratch[p.at];
    c->below.count = s->count;
    memcpy(c->below.name, s->name, (size_t)s->count * sizeof s->name[0]);
    for (int i = 0; i < s->count && rows; i++)
        memcpy(c->below.value[i], s->value[i], (size_t)rows * sizeof(double));
    c->above.count = 0;
    for (int t = 0; t < c->base->terms; t++)
        if (!add_term(c, t, rows)) return false;
    return c->above.count + c->below.count <= SL_MIN(CLEARED, c->rows_most - SPARE);
}

bool sl_search__skeleton_find_divisors(cleared *c, const sl_skeletons *s, int32_t base) {
    c->s = s;
    c->base = &s->base[base];
    c->divisors = 0;
    c->replaced.term = -1;
    c->rows_most = s->rows;
    c->every = false;
    for (int t = 0; t < c->base->terms; t++) {
        const sl_search__skeleton_term *term = &s->term[c->base->term[t]];
        for (int f = 0; f < term->factors; f++) {
            const sl_search__skeleton_piece *p = &s->piece[term->piece[f]];
            if (p->divisor.columns == 0) continue;
            if (c->divisors == SL_SKELETON__DIVISORS) return false;
            c->divisor[c->divisors++] =
                (sl_search__skeleton_below){ (int8_t)t, (int8_t)f, &p->divisor };
        }
    }
    return c->divisors > 0;
}

void sl_search__skeleton_use_columns(cleared *c, extent e) {
    c->lean = e.lean;
    for (int i = 0; i < c->divisors; i++) {
        const sl_search__skeleton_divisor *d = c->divisor[i].divisor;
        c->use[i] = 0;
        for (int k = 0; k < d->columns; k++)
            if (e.phases || d->sine[k] < 0) c->use[i] |= 1u << k;
    }
}

/* ---------------------------------------------------------------- dependence ---------------- */

/* v less what it has of the basis; returns what part of it is left. *length: of that. */
static double project(double *v, double *length, const cleared *c, const double *basis, int n) {
    const sl_search__skeleton_kernels *kernels = c->s->kernels;
    const double whole = sqrt(kernels->deflate(v, basis, 0, c->rows));
    double before = whole, left = whole;
    for (int pass = 0; pass < 3; pass++) {
        left = sqrt(kernels->deflate(v, basis, n, c->rows));
        if (!(left < 0.1 * before) || left < 1e-13 * whole) break;
        before = left;
    }
    *length = left;
    return whole > 0 ? left / whole : 0;
}

/* The weighted column as the next of the basis; returns what part of it was left. */
static double push(double *basis, int *n, const cleared *c, const double *column,
                   const double *weight) {
    double *v = basis + *n * c->rows, length;
    for (int r = 0; r < c->rows; r++) v[r] = column[r] * weight[r];
    const double left = project(v, &length, c, basis, *n);
    if (!(left > DEPENDENT)) return left > 0 ? left : 0;
    for (int r = 0; r < c->rows; r++) v[r] /= length;
    ++*n;
    return left;
}

/* Part of column i of D that is left beside those of D before it. */
static double left_of_below(const cleared *c, int i) {
    double basis[CLEARED * ROWS], left = 1;
    int n = 0;
    for (int k = 0; k <= i; k++) left = push(basis, &n, c, c->below.value[k], c->s->below);
    return left;
}

bool sl_search__skeleton_is_dependent(bool *fits, cleared *c) {
    *fits = sl_search__skeleton_clear(c, 0);
    if (!*fits) return false;
    const int columns = c->above.count + c->below.count, all = c->rows_most / 8 * 8;
    const int spare = c->s->sigma > 0 ? SPARE_ROUNDED : SPARE;
    c->rows = c->every ? all : SL_MIN((columns + spare + 7) / 8 * 8, all);
    (void)sl_search__skeleton_clear(c, c->rows);
    if (c->s->sigma > 0) return sl_search__skeleton_is_dependent_rounded(c, NULL);
    c->n = 0;
    for (int i = 0; i < c->above.count; i++)
        (void)push(c->basis, &c->n, c, c->above.value[i], c->s->above);
    for (int i = 0; i < c->below.count; i++) {
        const double left = push(c->basis, &c->n, c, c->below.value[i], c->s->below);
        if (left > NOTHING) continue;
        const double own = left_of_below(c, i);
        c->left = left / own;
        if (own > FEW && left < RATIO * own) return true;
    }
    return false;
}

/* ---------------------------------------------------------------- which skeletons ----------- */

static uint64_t mix(uint64_t v) {
    v = (v ^ v >> 32) * 0xD6E8FEB86659FD93u;
    return v ^ v >> 32;
}

/* A number for what a factor is to these levels: x1 + x2 and x1 - x2 are one divisor. */
static uint64_t number_of_piece(const sl_skeletons *s, int32_t i) {
    const sl_search__skeleton_divisor *d = &s->piece[i].divisor;
    uint64_t sum = (uint64_t)d->power;
    if (d->columns == 0) return mix((uint64_t)i + 1);
    for (int k = 0; k < d->columns; k++) sum += mix(d->name[k]);
    return mix(sum);
}

static uint64_t number_of_base(const sl_skeletons *s, const sl_search__skeleton_base *b,
                               const uint64_t *piece) {
    uint64_t sum = 0;
    for (int t = 0; t < b->terms; t++) {
        const sl_search__skeleton_term *term = &s->term[b->term[t]];
        uint64_t whole = 0;
        for (int f = 0; f < term->factors; f++) whole += mix(piece[term->piece[f]]);
        sum += mix(whole);
    }
    return mix(sum) | 1;
}

/* *list := the skeletons with divisors. Of those that have the same columns one is first; the
 * others are -1 - base, and differ from it only where a divisor has no constants. */
static sl_status list_bases(int32_t *list, int32_t *n, const sl_skeletons *s, cleared *c) {
    const int64_t size = (int64_t)1 << (ilogb(SL_MAX(s->bases, 1)) + 2);
    uint64_t *seen = sl_calloc((size_t)size, sizeof *seen);
    uint64_t *piece = sl_malloc((size_t)SL_MAX(s->pieces, 1), sizeof *piece);
    *n = 0;
    for (int32_t i = 0; i < s->pieces && piece; i++) piece[i] = number_of_piece(s, i);
    for (int32_t i = 0; i < s->bases && seen && piece; i++) {
        if (!sl_search__skeleton_find_divisors(c, s, i)) continue;
        const uint64_t number = number_of_base(s, &s->base[i], piece);
        int64_t at = (int64_t)(number >> 8) & (size - 1);
        while (seen[at] && seen[at] != number) at = (at + 1) & (size - 1);
        list[(*n)++] = seen[at] ? -1 - i : i;
        seen[at] = number;
    }
    const bool good = seen && piece;
    sl_free(seen);
    sl_free(piece);
    return good ? SL_OK : sl_fail_memory((size_t)size, sizeof *seen, "skeletons");
}

/* Makes that list once. *done := false where there is no memory. */
static sl_status make_list(bool *done, sl_skeletons *s) {
    const int64_t bytes = s->bases * (int64_t)sizeof *s->with_divisors;
    *done = s->with_divisors || sl_search__reserve(s->job, bytes);
    if (!*done || s->with_divisors) return SL_OK;
    s->bytes += bytes;
    s->with_divisors = sl_malloc((size_t)SL_MAX(s->bases, 1), sizeof *s->with_divisors);
    cleared *c = sl_malloc_aligned(1, sizeof *c);
    sl_status st = s->with_divisors && c ? list_bases(s->with_divisors, &s->n_with_divisors, s, c)
                                         : sl_fail_memory(1, sizeof *c, "skeletons");
    sl_free(c);
    return st;
}

/* ---------------------------------------------------------------- screening ----------------- */

typedef struct hits {
    hit *hit;
    int64_t count, room;
} hits;

typedef struct screening {
    sl_skeletons *s;
    hits *hits; // by worker
    sl_search__skeleton_clearing how;
} screening;

/* Is the dependence one in all rows, too? Few rows more than columns let many smooth ones pass. */
static bool holds(cleared *c) {
    bool fits;
    c->every = true;
    const bool out = sl_search__skeleton_is_dependent(&fits, c);
    c->every = false;
    return out;
}

/* Adds the hit, with its dependence, if that is one. */
static sl_status add_hit(hits *h, cleared *c, const hit *from) {
    if (!holds(c)) return SL_OK;
    if (h->count == h->room) {
        int64_t room = SL_MAX(64, 2 * h->room);
        hit *more = sl_realloc(h->hit, (size_t)room, sizeof *more);
        if (!more) return sl_fail_memory((size_t)room, sizeof *more, "the hits of a search");
        h->hit = more;
        h->room = room;
    }
    hit *to = &h->hit[h->count++];
    *to = *from;
    to->columns = c->above.count + c->below.count;
    to->left = c->left;
    return SL_OK;
}

static int count_bits(uint32_t mask) {
    int n = 0;
    for (; mask; mask &= mask - 1) n++;
    return n;
}

/* All choices of so many divisors. */
static sl_status try_masks(bool *any, cleared *c, hits *h, int32_t base, int size, extent e) {
    sl_search__skeleton_use_columns(c, e);
    for (c->mask = 1; c->mask < 1u << c->divisors; c->mask++) {
        bool fits;
        if (count_bits(c->mask) != size) continue;
        if (sl_search__skeleton_is_dependent(&fits, c))
            SL_TRY(
                add_hit(h, c, &(hit){ .base = base, .mask = c->mask, .extent = e, .inner = -1 }));
        *any = *any || fits;
    }
    return SL_OK;
}

static bool has_phases(const cleared *c) {
    for (int i = 0; i < c->divisors; i++)
        for (int k = 0; k < c->divisor[i].divisor->columns; k++)
            if (c->divisor[i].divisor->sine[k] >= 0) return true;
    return false;
}

/* Where all columns are too many: all divisors without further columns above, and without phases;
 * all divisors but one; then as many as fit. first: of skeletons with the same columns. */
static sl_status try_some(cleared *c, hits *h, int32_t base, bool first) {
    const extent all = { true, 0 }, lean = { true, UINT32_MAX }, plain = { false, 0 };
    const int n = c->divisors;
    const bool phases = has_phases(c);
    bool fits = false;
    if (!first && n == 1) return SL_OK;
    sl_search__skeleton_use_columns(c, all);
    c->mask = (1u << n) - 1;
    if (sl_search__skeleton_clear(c, 0)) return SL_OK;
    if (first) SL_TRY(try_masks(&fits, c, h, base, n, lean));
    if (first && phases) SL_TRY(try_masks(&fits, c, h, base, n, plain));
    for (int size = n - 1; size > 0 && !fits; size--)
        SL_TRY(try_masks(&fits, c, h, base, size, plain));
    if (n > 1) SL_TRY(try_masks(&fits, c, h, base, n - 1, lean));
    if (phases && n > 1) SL_TRY(try_masks(&fits, c, h, base, n - 1, all));
    return SL_OK;
}

/* ---------------------------------------------------------------- one constant inside ------- */

/* A constant inside a function of a numerator: with v the function and W the products it occurs in,
 * the columns v W are added to those without it. As in skeleton_screen.c the latter are projected
 * out, and all variants v of a factor are compared by their images in eight directions: a formula
 * is one whose images are dependent. */
enum {
    DIMS = SL_SKELETON__DIMS,
    BLOCK = SL_SKELETON__BLOCK,
    VARIED = DIMS - 1, // columns v W
    FITTED = SL_SKELETON__FITTED,
};

typedef struct variation {
    cleared c;
    double product[VARIED][FITTED]; // W, weighted
    double across[VARIED][FITTED][DIMS];
    sl_search__skeleton_image image[VARIED];
    double left[BLOCK];
    // of a divisor: its function, its columns without that
    double function[ROWS], rest[SL_SKELETON__BELOW][ROWS];
    sl_arena scratch;
} variation;

/* Directions orthogonal to the basis. */
static bool find_directions(variation *v, int columns) {
    cleared *c = &v->c;
    int n = 0;
    const int rank = c->n;
    for (int r = 0; r < c->rows && n < DIMS; r++) {
        double *to = c->basis + (rank + n) * c->rows, length;
        for (int i = 0; i < c->rows; i++) to[i] = i == (r * 11) % c->rows;
        if (!(project(to, &length, c, c->basis, rank + n) > 0.05)) continue;
        for (int i = 0; i < c->rows; i++) to[i] /= length;
        n++;
    }
    for (int k = 0; k < columns; k++)
        for (int r = 0; r < c->rows; r++)
            for (int d = 0; d < DIMS; d++)
                v->across[k][r][d] = c->basis[(rank + d) * c->rows + r] * v->product[k][r];
    return n == DIMS;
}

static bool is_nothing(const sl_search__skeleton_image *image, int i) {
    double size = 0;
    for (int d = 0; d < DIMS; d++) size += image->q[d][i] * image->q[d][i];
    return size == 0;
}

/* Without its function only the summand beside it is left of factor f of term t. */
static void leave_out(cleared *c, const sl_search__skeleton_piece *p, int t, int f) {
    sl_search__skeleton_replaced *to = &c->replaced;
    to->term = t, to->factor = f;
    to->n = p->plains > 0 && p->plain[p->plains - 1]->op == SL_OP_NUM;
    to->name[0] = 0;
    for (int r = 0; r < ROWS; r++) to->value[0][r] = 1;
}

/* The basis of all columns. */
static void push_all(cleared *c) {
    c->n = 0;
    for (int i = 0; i < c->above.count; i++)
        (void)push(c->basis, &c->n, c, c->above.value[i], c->s->above);
    for (int i = 0; i < c->below.count; i++)
        (void)push(c->basis, &c->n, c, c->below.value[i], c->s->below);
}

/* W, and the basis of the columns without the function; returns how many products, 0: none fit.
 * *changed: columns of a variant that are taken, all of them or, without phase, the first. */
static int take_fixed(int *changed, variation *v, const sl_search__skeleton_piece *p, int t,
                      int f) {
    cleared *c = &v->c;
    leave_out(c, p, t, f);
    const space *w = sl_search__skeleton_clear(c, 0) ? products_of_term(c, t, f, 0) : NULL;
    const int columns = c->above.count + c->below.count;
    if (!w) return 0;
    *changed = w->count * p->columns > VARIED ? 1 : p->columns;
    c->rows = (columns + DIMS + 7) / 8 * 8;
    if (w->count * *changed > VARIED || c->rows > c->rows_most) return 0;
    (void)sl_search__skeleton_clear(c, c->rows);
    w = products_of_term(c, t, f, c->rows);
    for (int k = 0; k < w->count; k++)
        for (int r = 0; r < c->rows; r++) v->product[k][r] = w->value[k][r] * c->s->above[r];
    push_all(c);
    return w->count;
}

/* A factor of a numerator or a function of a divisor whose variants are tried: the hit that one of
 * them would be. */
typedef struct varied {
    hits *h;
    const sl_search__skeleton_piece *piece;
    hit hit;
} varied;

/* A variant whose images are dependent is a formula if y takes part in that. */
static sl_status check_variant(variation *v, const varied *x) {
    cleared *c = &v->c;
    bool good, fits;
    c->mask = x->hit.mask;
    sl_status st = sl_search__skeleton_begin(&good, c, c->s, &x->hit, &v->scratch);
    sl_search__skeleton_use_columns(c, x->hit.extent);
    if (st == SL_OK && good && sl_search__skeleton_is_dependent(&fits, c))
        st = add_hit(x->h, c, &x->hit);
    (void)sl_search__skeleton_find_divisors(c, c->s, x->hit.base); // without the variant
    sl_arena_rewind(&v->scratch, 0);
    return st;
}

/* All variants, in rows of which the basis and so many products are known. */
static sl_status try_variants(variation *v, varied *x, int products) {
    const sl_search__skeleton_set *set = &x->piece->set[SL_SKELETON__ONE];
    const sl_search__skeleton_kernels *kernels = v->c.s->kernels;
    const int rows = v->c.rows;
    for (int32_t from = 0; from < set->count; from += BLOCK) {
        const int n = (int)SL_MIN(BLOCK, set->count - from);
        int count = 0;
        for (int k = 0; k < products; k++)
            for (int i = 0; i < x->hit.changed; i++) {
                const double *value = set->value + (int64_t)i * set->rows * set->stride + from;
                kernels->images(&v->image[count++], v->across[k][0], v->product[k], value,
                                set->stride, rows, n, LEAST);
            }
        kernels->leave(v->left, v->image, count, n);
        for (int i = 0; i < n; i++) {
            bool nothing = false;
            for (int k = 0; k < count && !nothing; k++) nothing = is_nothing(&v->image[k], i);
            x->hit.change.variant = from + i;
            if (nothing) SL_TRY(check_variant(v, x));
        }
    }
    atomic_fetch_add_explicit(&v->c.s->job->tried, set->count, memory_order_relaxed);
    return SL_OK;
}

/* All variants of factor f of term t. */
static sl_status vary_above(bool *fits, variation *v, hits *h, int32_t base, int t, int f,
                            extent e) {
    cleared *c = &v->c;
    const sl_search__skeleton_piece *p = &c->s->piece[c->s->term[c->base->term[t]].piece[f]];
    varied x = { h, p, { .base = base, .mask = c->mask, .extent = e, .inner = -1 } };
    x.hit.change = (sl_search__skeleton_change){ (int8_t)t, (int8_t)f, SL_SKELETON__ONE, 0 };
    c->rows_most = SL_MIN(p->set[SL_SKELETON__ONE].rows, c->s->rows);
    sl_search__skeleton_use_columns(c, e);
    const int products = take_fixed(&x.hit.changed, v, p, t, f);
    *fits = products > 0;
    return *fits && find_directions(v, products) ? try_variants(v, &x, products) : SL_OK;
}

static sl_status vary_base(variation *v, hits *h, int32_t base) {
    cleared *c = &v->c;
    const bool phases = has_phases(c);
    for (int t = 0; t < c->base->terms; t++)
        for (int f = 0; f < c->s->term[c->base->term[t]].factors; f++) {
            const sl_search__skeleton_piece *p =
                &c->s->piece[c->s->term[c->base->term[t]].piece[f]];
            bool fits = false;
            c->mask = (1u << c->divisors) - 1;
            if (sl_search__skeleton_is_cleared(c, t, f) || p->set[SL_SKELETON__ONE].count == 0)
                continue;
            SL_TRY(vary_above(&fits, v, h, base, t, f, (extent){ true, 0 }));
            if (fits) continue;
            SL_TRY(vary_above(&fits, v, h, base, t, f, (extent){ true, 1u << t }));
            if (phases) SL_TRY(vary_above(&fits, v, h, base, t, f, (extent){ false, 0 }));
        }
    return SL_OK;
}

/* ---------------------------------------------------------------- inside a divisor ---------- */

/* A constant inside a function u of a divisor: with a variant v of it, the columns of y D and of N
 * that have u get v in its place. v->product := these columns without v; returns how many, 0: they
 * are too many. 0 rows: counts them alone. */
static int take_inner(variation *v, int i, const sl_search__skeleton_inner *u, int rows) {
    cleared *c = &v->c;
    const sl_search__skeleton_divisor *d = c->divisor[i].divisor;
    sl_search__skeleton_divisor rest = *d;
    uint64_t name[VARIED];
    int n = 0;
    rest.value = v->rest;
    for (int k = 0; k < d->columns && rows; k++)
        for (int r = 0; r < rows && (u->columns >> k & 1); r++)
            v->rest[k][r] = d->value[k][r] / v->function[r];
    c->divisor[i].divisor = &rest;
    c->use[i] = u->columns;
    product p = { c, 0, rows, true };
    set_one(&c->scratch[0], rows);
    times_divisors(&p, -1);
    const space *below = &c->scratch[p.at];
    bool good = p.good && below->count <= VARIED;
    for (; good && n < below->count; n++)
        for (int r = 0; r < rows; r++) v->product[n][r] = below->value[n][r] * c->s->below[r];
    const int first = n;
    for (int t = 0; t < c->base->terms && good; t++) {
        const space *w = t != c->divisor[i].term ? products_of_term(c, t, -1, rows) : NULL;
        good = w || t == c->divisor[i].term;
        for (int k = 0; w && k < w->count && good; k++) {
            int at = first;
            while (at < n && name[at] != w->name[k]) at++;
            if (at < n) continue;
            good = n < VARIED;
            if (!good) break;
            name[n] = w->name[k];
            for (int r = 0; r < rows; r++) v->product[n][r] = w->value[k][r] * c->s->above[r];
            n++;
        }
    }
    c->divisor[i].divisor = d;
    return good ? n : 0;
}

/* The products, and the basis of the columns without the function; returns how many products. */
static int take_without(variation *v, int i, const sl_search__skeleton_inner *u, int columns) {
    cleared *c = &v->c;
    const uint32_t use = c->use[i], fixed = use & ~u->columns & ~u->beside;
    const int products = take_inner(v, i, u, 0);
    c->use[i] = fixed;
    if (products == 0 || products * columns > VARIED || !fixed || !sl_search__skeleton_clear(c, 0))
        return 0;
    const int count = c->above.count + c->below.count;
    c->rows = (count + DIMS + 7) / 8 * 8;
    if (c->rows > c->rows_most) return 0;
    const int rows = c->rows;
    (void)take_inner(v, i, u, rows);
    c->use[i] = fixed;
    (void)sl_search__skeleton_clear(c, rows);
    push_all(c);
    return products;
}

/* All variants of function number `inner` of divisor i. */
static sl_status vary_below(bool *fits, variation *v, hits *h, int32_t base, int i, int inner,
                            extent e) {
    cleared *c = &v->c;
    const sl_search__skeleton_inner *u = &c->divisor[i].divisor->inner[inner];
    const sl_search__skeleton_piece *p = &c->s->piece[u->piece];
    const int t = c->divisor[i].term, f = c->divisor[i].factor;
    varied x = { h, p, { .base = base, .mask = c->mask, .extent = e, .inner = inner } };
    x.hit.change = (sl_search__skeleton_change){ (int8_t)t, (int8_t)f, SL_SKELETON__ONE, 0 };
    x.hit.changed = e.phases && u->beside ? p->columns : 1;
    c->rows_most = SL_MIN(p->set[SL_SKELETON__ONE].rows, c->s->rows);
    sl_search__skeleton_use_columns(c, e);
    SL_TRY(sl_expr_eval(v->function, &v->scratch, u->function, c->s->x, c->rows_most, NULL));
    sl_arena_rewind(&v->scratch, 0);
    const int products = take_without(v, i, u, x.hit.changed);
    *fits = products > 0;
    return *fits && find_directions(v, products) ? try_variants(v, &x, products) : SL_OK;
}

/* Divisors that are sums or functions of one: x1 alone most often has no constant. */
static uint32_t sums_of(const cleared *c) {
    uint32_t mask = 0;
    for (int i = 0; i < c->divisors; i++) {
        const int t = c->divisor[i].term, f = c->divisor[i].factor;
        const sl_search__skeleton_term *term = &c->s->term[c->base->term[t]];
        if (c->s->node[term->factor[f].node]->op != SL_OP_VAR) mask |= 1u << i;
    }
    return mask;
}

static sl_status vary_divisors(variation *v, hits *h, int32_t base) {
    cleared *c = &v->c;
    const bool phases = has_phases(c);
    const uint32_t all = (1u << c->divisors) - 1, sums = sums_of(c);
    for (int i = 0; i < c->divisors; i++)
        for (int k = 0; k < c->divisor[i].divisor->inners; k++) {
            const sl_search__skeleton_divisor *d = c->divisor[i].divisor;
            bool fits = false;
            if (d->power != 1 || d->inner[k].piece < 0 ||
                c->s->piece[d->inner[k].piece].set[SL_SKELETON__ONE].count == 0)
                continue;
            for (int way = 0; way < 4 && !fits; way++) {
                c->mask = way & 2 ? sums : all;
                if ((way & 1 && !phases) || (way & 2 && sums == all)) continue;
                SL_TRY(vary_below(&fits, v, h, base, i, k, (extent){ !(way & 1), 0 }));
            }
        }
    return SL_OK;
}

/* ---------------------------------------------------------------- threads ------------------- */

static sl_status vary_part(int64_t begin, int64_t end, int worker, void *payload) {
    const screening *g = payload;
    sl_status st = SL_OK;
    variation *v = sl_malloc_aligned(1, sizeof *v);
    if (!v) return sl_fail_memory(1, sizeof *v, "skeletons");
    v->scratch = (sl_arena){ 0 };
    for (int64_t i = begin; i < end && st == SL_OK; i++) {
        if (sl_search__stop(g->s->job, worker == 0)) break;
        const int32_t base = g->s->with_divisors[i];
        if (base < 0) continue;
        (void)sl_search__skeleton_find_divisors(&v->c, g->s, base);
        st = g->how == SL_SKELETON__CLEAR_VARIED_ABOVE ? vary_base(v, &g->hits[worker], base)
                                                       : vary_divisors(v, &g->hits[worker], base);
    }
    sl_arena_clear(&v->scratch);
    sl_free(v);
    return st;
}

static sl_status screen_part(int64_t begin, int64_t end, int worker, void *payload) {
    const screening *g = payload;
    sl_status st = SL_OK;
    cleared *c = sl_malloc_aligned(1, sizeof *c);
    if (!c) return sl_fail_memory(1, sizeof *c, "skeletons");
    for (int64_t i = begin; i < end && st == SL_OK; i++) {
        if (sl_search__stop(g->s->job, worker == 0)) break;
        const int32_t at = g->s->with_divisors[i], base = at < 0 ? -1 - at : at;
        bool fits = false;
        (void)sl_search__skeleton_find_divisors(c, g->s, base);
        if (g->how == SL_SKELETON__CLEAR_SOME)
            st = try_some(c, &g->hits[worker], base, at >= 0);
        else if (at >= 0)
            st = try_masks(&fits, c, &g->hits[worker], base, c->divisors, (extent){ true, 0 });
    }
    atomic_fetch_add_explicit(&g->s->job->tried, end - begin, memory_order_relaxed);
    sl_free(c);
    return st;
}

/* ---------------------------------------------------------------- a level ------------------- */

/* What a dependence leaves, in steps of 2^3: true ones leave rounding errors, and smooth columns
 * that only approximate y leave more. */
static int leaves(const hit *h) { return h->left < ROUNDING ? 0 : ilogb(h->left / ROUNDING) / 3; }

/* Fewer columns first, then what leaves less, then the order of skeletons. */
static int by_columns(const void *a, const void *b) {
    const hit *p = a, *q = b;
    if (p->columns != q->columns) return p->columns < q->columns ? -1 : 1;
    if (leaves(p) != leaves(q)) return leaves(p) < leaves(q) ? -1 : 1;
    if (p->base != q->base) return p->base < q->base ? -1 : 1;
    if (p->mask != q->mask) return p->mask < q->mask ? -1 : 1;
    return memcmp(&p->change, &q->change, sizeof p->change);
}

/* What leaves least first, of these fewer columns. */
static int by_rest(const void *a, const void *b) {
    const int p = leaves(a), q = leaves(b);
    return p != q ? (p < q ? -1 : 1) : by_columns(a, b);
}

typedef struct solving {
    const sl_skeletons *s;
    const hit *hit;
    sl_search__skeleton_solution *solution;
} solving;

static sl_status solve_part(int64_t begin, int64_t end, int worker, void *payload) {
    const solving *g = payload;
    for (int64_t i = begin; i < end; i++) {
        if (sl_search__stop(g->s->job, worker == 0)) break;
        SL_TRY(sl_search__skeleton_clear_solve(&g->solution[i], g->s, &g->hit[i]));
    }
    return SL_OK;
}

/* Half of those that are tried leave least, the others have fewest columns: a true dependence of
 * nearly dependent columns leaves more than rounding. */
static void sort_hits(hits *h) {
    if (h->count == 0) return;
    qsort(h->hit, (size_t)h->count, sizeof *h->hit, by_rest);
    const int64_t first = SL_MIN(h->count, HITS_MAX / 2);
    qsort(h->hit + first, (size_t)(h->count - first), sizeof *h->hit, by_columns);
}

/* The constants of some hits on all threads, then their formulas in order; and the next. */
static sl_status verify(sl_skeletons *s, hits *h, int level) {
    sl_status st = SL_OK;
    bool good = false;
    sort_hits(h);
    const int64_t n = SL_MIN(h->count, HITS_MAX);
    for (int64_t from = 0; from < n && st == SL_OK && !good; from += BATCH) {
        sl_search__skeleton_solution solution[BATCH] = { { .found = false } };
        const int64_t batch = SL_MIN(n - from, BATCH);
        solving g = { s, h->hit + from, solution };
        st = sl_par_for(s->job->pool, batch, 1, solve_part, &g);
        if (sl_search__stop(s->job, true)) break;
        for (int64_t i = 0; i < batch && st == SL_OK && !good; i++)
            if (solution[i].found)
                st = sl_search__skeleton_clear_offer(&good, s, &g.hit[i], &solution[i], level);
    }
    return st;
}

static sl_status gather(hits *all, const hits *by_worker, int workers) {
    for (int w = 0; w < workers; w++) all->room += by_worker[w].count;
    all->hit = sl_malloc((size_t)SL_MAX(all->room, 1), sizeof *all->hit);
    if (!all->hit) return sl_fail_memory((size_t)all->room, sizeof *all->hit, "hits of a search");
    for (int w = 0; w < workers; w++) {
        if (by_worker[w].count)
            memcpy(all->hit + all->count, by_worker[w].hit,
                   (size_t)by_worker[w].count * sizeof *all->hit);
        all->count += by_worker[w].count;
    }
    return SL_OK;
}

/* Rows of large |y| would have columns of D alone, those of small |y| columns of N alone. */
static void set_weights(sl_skeletons *s) {
    double mean = 0;
    for (int r = 0; r < s->rows; r++) mean += log(fabs(s->y[r])) / s->rows;
    for (int r = 0; r < s->rows; r++) {
        s->above[r] = 1 / (exp(mean) + fabs(s->y[r]));
        s->below[r] = s->above[r] * s->y[r];
    }
}

sl_status sl_search__skeleton_clear_all(sl_skeletons *s, sl_search__skeleton_clearing how,
                                        int level) {
    bool done;
    sl_status st = make_list(&done, s);
    if (st != SL_OK || !done) return st;
    const int workers = sl_par_pool_threads(s->job->pool);
    hits all = { 0 };
    screening g = { s, sl_calloc((size_t)workers, sizeof *g.hits), how };
    if (!g.hits) return sl_fail_memory((size_t)workers, sizeof *g.hits, "skeletons");
    set_weights(s);
    const bool vary =
        how == SL_SKELETON__CLEAR_VARIED_BELOW || how == SL_SKELETON__CLEAR_VARIED_ABOVE;
    st = sl_par_for(s->job->pool, s->n_with_divisors, GRAIN, vary ? vary_part : screen_part, &g);
    if (st == SL_OK) st = gather(&all, g.hits, workers);
    if (st == SL_OK && !sl_search__stop(s->job, true)) st = verify(s, &all, level);
    for (int w = 0; w < workers; w++) sl_free(g.hits[w].hit);
    sl_free(g.hits);
    sl_free(all.hit);
    return st;
}

/* skeleton_space - y D = N: the columns of a skeleton that is multiplied by its divisors, and
 * whether they are dependent.
 *
 * N comes first, then the columns of D one by one: the first that depends on those before it is a
 * hit, unless it depends on columns of D alone (sin^2 + cos^2 = 1). */
#include <math.h>
#include <string.h>

#include "search/skeleton_impl.h"

typedef sl_search__skeleton_space space;
typedef sl_search__skeleton_cleared cleared;

enum {
    CLEARED = SL_SKELETON__CLEARED,
    ROWS = SL_SKELETON__ROWS,
    SPARE = 6, // rows beyond the columns
    SPARE_ROUNDED = 12,
};
/* What is left of a column in the span of others, and of one of D beside the others of D; the
 * former relative to the latter. */
static const double DEPENDENT = 1e-11, NOTHING = 1e-11, FEW = 1e-7, RATIO = 1e-10;
/* Rounding of a column, relative to what is left of the worst one before it: that is how uncertain
 * directions are. Such a dependence is one if it is that part of what is left of D. */
static const double ROUNDING = 1e-15, UNCERTAIN_RATIO = 1e-4;
/* The same for elimination: what is left of a column that is tested further, with rounding as
 * above, and what is left beside others of D of one that is in their span by FEW. */
static const double PASSES = 1e-8, PASSES_ROUNDING = 1e-14, OWN = FEW / 10;

/* ---------------------------------------------------------------- spaces -------------------- */

/* Places of names, plus 1, by hash. */
enum { NAME_SLOTS = 128 };
typedef struct names {
    uint8_t slot[NAME_SLOTS];
} names;

/* The place of a name among those of a space; a new one is added behind them. -1: too many. */
static inline int place_of_name(space *s, names *n, uint64_t name) {
    uint64_t at = name * 0x9E3779B97F4A7C15u >> 57;
    for (; n->slot[at]; at = (at + 1) % NAME_SLOTS)
        if (s->name[n->slot[at] - 1] == name) return n->slot[at] - 1;
    if (s->count == CLEARED) return -1;
    s->name[s->count++] = name;
    n->slot[at] = (uint8_t)s->count;
    return s->count - 1;
}

static void set_one(space *s, int rows) {
    s->count = 1;
    s->name[0] = 0;
    for (int r = 0; r < rows; r++) s->value[0][r] = 1;
}

/* *out := products of the columns of a and the n given ones; 0 rows: their names alone. false: too
 * many. */
static bool multiply(space *out, const sl_search__skeleton_kernels *kernels, const space *a,
                     const double (*value)[ROWS], const uint64_t *name, int n, uint32_t use,
                     int rows) {
    names places = { { 0 } };
    out->count = 0;
    for (int k = 0; k < n; k++) {
        if (!(use >> k & 1)) continue;
        for (int i = 0; i < a->count; i++) {
            const int before = out->count, at = place_of_name(out, &places, a->name[i] + name[k]);
            if (at < 0) return false;
            if (at < before) continue;
            if (rows) kernels->multiply(out->value[at], a->value[i], value[k], rows);
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
    p->good = p->good && multiply(to, p->c->s->kernels, from, value, name, n, use, p->rows);
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

const space *sl_search__skeleton_divisor_products(cleared *c, int rows) {
    product p = { c, 0, rows, true };
    set_one(&c->scratch[0], rows);
    times_divisors(&p, -1);
    return p.good ? &c->scratch[p.at] : NULL;
}

bool sl_search__skeleton_is_cleared(const cleared *c, int t, int f) {
    for (int i = 0; i < c->divisors; i++)
        if (c->divisor[i].term == t && c->divisor[i].factor == f) return c->mask >> i & 1;
    return false;
}

const sl_search__skeleton_replaced *sl_search__skeleton_replaced_of(const cleared *c, int t,
                                                                    int f) {
    for (int k = 0; k < SL_LEN(c->replaced); k++)
        if (c->replaced[k].term == t && c->replaced[k].factor == f) return &c->replaced[k];
    return NULL;
}

int sl_search__skeleton_columns(const double (**value)[ROWS], const uint64_t **name,
                                const cleared *c, int t, int f) {
    const sl_search__skeleton_piece *p = &c->s->piece[c->s->term[c->base->term[t]].piece[f]];
    const sl_search__skeleton_replaced *replaced = sl_search__skeleton_replaced_of(c, t, f);
    *value = replaced ? replaced->value : p->value;
    *name = replaced ? replaced->name : p->name;
    if (replaced) return replaced->n;
    return c->lean >> t & 1 ? SL_MIN(p->plains, 1) : p->plains;
}

/* The products of a term's numerator, but for one factor (-1: of all), times the divisors of the
 * others. NULL: too many. */
const space *sl_search__skeleton_term_products(cleared *c, int t, int but, int rows) {
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
static bool add_term(cleared *c, names *places, int t, int rows) {
    const space *s = sl_search__skeleton_term_products(c, t, -1, rows);
    if (!s) return false;
    for (int i = 0; i < s->count; i++) {
        const int before = c->above.count, at = place_of_name(&c->above, places, s->name[i]);
        if (at < 0) return false;
        if (at == before && rows)
            memcpy(c->above.value[at], s->value[i], (size_t)rows * sizeof(double));
    }
    return true;
}

bool sl_search__skeleton_clear(cleared *c, int rows) {
    const space *s = sl_search__skeleton_divisor_products(c, rows);
    if (!s) return false;
    c->below.count = s->count;
    memcpy(c->below.name, s->name, (size_t)s->count * sizeof s->name[0]);
    for (int i = 0; i < s->count && rows; i++)
        memcpy(c->below.value[i], s->value[i], (size_t)rows * sizeof(double));
    names places = { { 0 } };
    c->above.count = 0;
    for (int t = 0; t < c->base->terms; t++)
        if (!add_term(c, &places, t, rows)) return false;
    return c->above.count + c->below.count <= SL_MIN(CLEARED, c->rows_most - SPARE);
}

bool sl_search__skeleton_find_divisors(cleared *c, const sl_skeletons *s, int32_t base) {
    c->s = s;
    c->base = &s->base[base];
    c->divisors = 0;
    c->replaced[0].term = c->replaced[1].term = -1;
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

void sl_search__skeleton_use_columns(cleared *c, sl_search__skeleton_extent e) {
    c->lean = e.lean;
    for (int i = 0; i < c->divisors; i++) {
        const sl_search__skeleton_divisor *d = c->divisor[i].divisor;
        c->use[i] = 0;
        for (int k = 0; k < d->columns; k++)
            if (e.phases || d->sine[k] < 0) c->use[i] |= 1u << k;
        if (e.own) c->use[i] &= d->own;
    }
}

bool sl_search__skeleton_has_phases(const cleared *c) {
    for (int i = 0; i < c->divisors; i++)
        for (int k = 0; k < c->divisor[i].divisor->columns; k++)
            if (c->divisor[i].divisor->sine[k] >= 0) return true;
    return false;
}

/* ---------------------------------------------------------------- dependence ---------------- */

/* v less what it has of the basis; returns what part of it is left. *length: of that. */
double sl_search__skeleton_project(double *v, double *length, const cleared *c, const double *basis,
                                   int n) {
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

/* The weighted column as the next of the basis; returns what part of it was left. *least: the
 * smallest part of all. */
static double push(double *basis, int *n, double *least, const cleared *c, const double *column,
                   const double *weight) {
    double *v = basis + *n * c->rows, length;
    c->s->kernels->multiply(v, column, weight, c->rows);
    const double left = sl_search__skeleton_project(v, &length, c, basis, *n);
    if (!(left > DEPENDENT)) return left > 0 ? left : 0;
    *least = SL_MIN(*least, left);
    for (int r = 0; r < c->rows; r++) v[r] /= length;
    ++*n;
    return left;
}

/* Those of N; returns the smallest part. */
static double push_above(cleared *c) {
    double least = 1;
    c->n = 0;
    for (int i = 0; i < c->above.count; i++)
        (void)push(c->basis, &c->n, &least, c, c->above.value[i], c->s->above);
    return least;
}

void sl_search__skeleton_push_all(cleared *c) {
    double least = push_above(c);
    for (int i = 0; i < c->below.count; i++)
        (void)push(c->basis, &c->n, &least, c, c->below.value[i], c->s->below);
}

bool sl_search__skeleton_add_orthogonal(cleared *c, int dims) {
    const int rank = c->n;
    int n = 0;
    for (int r = 0; r < c->rows && n < dims; r++) {
        double *to = c->basis + (rank + n) * c->rows, length;
        for (int i = 0; i < c->rows; i++) to[i] = i == (r * 11) % c->rows;
        if (!(sl_search__skeleton_project(to, &length, c, c->basis, rank + n) > 0.05)) continue;
        for (int i = 0; i < c->rows; i++) to[i] /= length;
        n++;
    }
    return n == dims;
}

/* Part of column i of D that is left beside those of D before it. */
static double left_of_below(const cleared *c, int i) {
    double basis[CLEARED * ROWS], left = 1, least = 1;
    int n = 0;
    for (int k = 0; k <= i; k++) left = push(basis, &n, &least, c, c->below.value[k], c->s->below);
    return left;
}

/* left[i] := what elimination leaves of column i of D, beside those of N too if `above`, as a part
 * of what passes. */
static void eliminate(double *left, cleared *c, bool above) {
    double each[CLEARED], *v = c->basis, least = 1;
    const int n = above ? c->above.count : 0;
    const sl_search__skeleton_kernels *kernels = c->s->kernels;
    for (int i = 0; i < n; i++, v += c->rows)
        kernels->multiply(v, c->above.value[i], c->s->above, c->rows);
    for (int i = 0; i < c->below.count; i++, v += c->rows)
        kernels->multiply(v, c->below.value[i], c->s->below, c->rows);
    kernels->eliminate(each, c->basis, n + c->below.count, c->rows);
    for (int i = 0; i < n + c->below.count; i++) {
        if (i >= n) left[i - n] = each[i] / SL_MAX(PASSES, PASSES_ROUNDING / least);
        if (each[i] > DEPENDENT) least = SL_MIN(least, each[i]);
    }
}

/* A quick test that leaves out most of what is not dependent. What elimination leaves of a column
 * is at least what orthogonal projection does, but for the root of the number of rows, and in
 * practice at most some ten times that. */
static bool may_depend(cleared *c) {
    double left[CLEARED], own[CLEARED];
    bool any = false;
    eliminate(left, c, true);
    for (int i = 0; i < c->below.count; i++) any = any || left[i] < 1;
    if (!any) return false;
    eliminate(own, c, false);
    for (int i = 0; i < c->below.count; i++)
        if (left[i] < 1 && own[i] > OWN / PASSES) return true;
    return false;
}

bool sl_search__skeleton_is_dependent(bool *fits, cleared *c) {
    *fits = sl_search__skeleton_clear(c, 0);
    if (!*fits) return false;
    const int columns = c->above.count + c->below.count, all = c->rows_most / 8 * 8;
    const int spare = c->s->sigma > 0 ? SPARE_ROUNDED : SPARE;
    c->rows = c->every ? all : SL_MIN((columns + spare + 7) / 8 * 8, all);
    (void)sl_search__skeleton_clear(c, c->rows);
    if (c->s->sigma > 0) return sl_search__skeleton_is_dependent_rounded(c, NULL);
    if (!may_depend(c)) return false;
    double least = push_above(c);
    bool uncertain = false;
    for (int i = 0; i < c->below.count; i++) {
        const double error = ROUNDING / least;
        const double left = push(c->basis, &c->n, &least, c, c->below.value[i], c->s->below);
        if (left > SL_MAX(NOTHING, error)) continue;
        const double own = left_of_below(c, i), part = left / own;
        if (!(own > FEW)) continue;
        if (part < RATIO) {
            c->left = part;
            return true;
        }
        if (left < error && part < UNCERTAIN_RATIO) {
            c->left = uncertain ? SL_MIN(c->left, part) : part;
            uncertain = true;
        }
    }
    return uncertain;
}

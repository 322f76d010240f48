/* Inside src/search only: products of sums, written out. What it does is told in lattice_expand.c.
 */
#ifndef SL_SEARCH_LATTICE_EXPAND_IMPL_H
#define SL_SEARCH_LATTICE_EXPAND_IMPL_H

#include "search/lattice_kernels.h"
#include "search/search_impl.h"

enum {
    SL_EXPAND__ROWS = 64,   // looked at; the last ones only judge what the first have found
    SL_EXPAND__FITTED = 40, // that terms are projected in
    SL_EXPAND__RANK = 30,   // of the terms without inner constants at most
    SL_EXPAND__COLUMNS = 1 << 14,
    SL_EXPAND__GROUPS = 1 << 14,
    SL_EXPAND__PIECES = 96,
    SL_EXPAND__FACTORS = 3,   // of a term
    SL_EXPAND__TERMS = 6,     // of a base: x1 + x2 + u times v + w
    SL_EXPAND__PRODUCTS = 64, // columns of one term's plain part or of a variant
};

/* A function of the inputs, and its values. */
typedef struct sl_expand__column {
    const sl_node *expr;
    double value[SL_EXPAND__ROWS];
} sl_expand__column;

/* Columns that come with free coefficients; the first is what the base has. */
typedef struct sl_expand__group {
    int32_t begin, count;
    bool fraction; // the constant inside is no whole number
} sl_expand__group;

/* A node of depth 1 or 2, such as exp(x1): all that constants outside of functions make of it, and
 * variants with one constant inside. */
typedef struct sl_expand__piece {
    sl_expand__group plain;
    int32_t variant, variants; // groups
} sl_expand__piece;

typedef struct sl_expand__term {
    int factors;
    int16_t piece[SL_EXPAND__FACTORS];
} sl_expand__term;

typedef struct sl_expand__base {
    int terms;
    sl_expand__term term[SL_EXPAND__TERMS];
} sl_expand__base;

/* One factor of one term of a base has a constant inside; term < 0: there is none. */
typedef struct sl_expand__change {
    int16_t term, factor;
    int32_t variant;
} sl_expand__change;

typedef struct sl_expand__hit {
    int32_t base;
    int changes;
    sl_expand__change change[2];
} sl_expand__hit;

typedef struct sl_expand__hits {
    sl_expand__hit *hit;
    int64_t count, room;
} sl_expand__hits;

typedef struct sl_expand {
    sl_search__job *job;
    const sl_lattice__kernels *kernels;
    int low, high; // constants
    bool whole;    // variants with fractions are left out
    int rows, variables;
    const double *x[2], *y;
    double weight[SL_EXPAND__ROWS]; // 1 / |y|
    sl_expand__column *column;
    sl_expand__group *group;
    int32_t columns, groups;
    sl_expand__piece piece[SL_EXPAND__PIECES];
    // pieces of sums; those under a quotient and 1; functions of depth 2
    int sums, inverses, pieces;
    sl_expand__base *base;
    int32_t bases, base_room;
    sl_expand__hits *hits; // by worker
    sl_arena arena;
} sl_expand;

/* lattice_expand_pieces.c: those of sums, then all others. */
SL_NODISCARD sl_status sl_expand__sum_pieces(sl_expand *x);
SL_NODISCARD sl_status sl_expand__other_pieces(sl_expand *x);

/* A product of one column each of a term's factors. */
typedef struct sl_expand__product {
    int factors;
    int32_t column[SL_EXPAND__FACTORS];
} sl_expand__product;
/* out[] := the columns of a term, its base first; factor `changed` (-1: none) has its group
 * `variant` instead, and so has every other factor that is the same piece. Answers how many, at
 * most SL_EXPAND__PRODUCTS. */
int sl_expand__products(sl_expand__product *out, const sl_expand *x, const sl_expand__term *t,
                        int changed, int32_t variant);
/* value[] := the product times the weights in the first n rows. Answers false where that is no
 * number to calculate with. */
bool sl_expand__value(double *value, const sl_expand *x, const sl_expand__product *p, int n);

/* lattice_expand_settle.c: the formulas of these hits are fitted in all rows, thinned out and
 * offered. */
SL_NODISCARD sl_status sl_expand__settle(sl_expand *x, sl_expand__hits *hits, int level);

#endif

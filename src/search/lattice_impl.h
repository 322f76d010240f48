/* Inside src/search only: the lattice search. lattice.c describes the method. */
#ifndef SL_SEARCH_LATTICE_IMPL_H
#define SL_SEARCH_LATTICE_IMPL_H

#include "search/lattice_kernels.h"
#include "search/search_impl.h"

enum {
    SL_LATTICE__LEVELS = 5, // constants of one half: 0 .. 4
    SL_LATTICE__STORED = 2, // halves of up to this many constants are stored, others looked up
    SL_LATTICE__INNERS = 1 << 20,  // inner expressions at most: a code has 20 bits for them
    SL_LATTICE__FACTORS = 1 << 21, // factors at most
    SL_LATTICE__ROWS = 64,         // that hits are checked at
    SL_LATTICE__CHOSEN = 8, // rows chosen as probes: those of halves, two more for sums of terms
    SL_LATTICE__SHIFT_EXACT = 6, // bits of a ratio's float that keys leave out where y is exact
    SL_LATTICE__OTHERS = 4,  // terms of a sum beyond the first two
    SL_LATTICE__COLUMNS = 3 + SL_LATTICE__OTHERS, // coefficients of a formula
    SL_LATTICE__LINEAR = 14,                      // of any linear fit
};

/* ---------------------------------------------------------------- inner expressions --------- */

/* a x + b. */
typedef struct sl_search__lattice_atom {
    int32_t factor, summand;
    int8_t variable, constants;
} sl_search__lattice_atom;

typedef enum sl_search__lattice_op {
    SL_LATTICE__ATOM,
    SL_LATTICE__SUM,
    SL_LATTICE__DIFFERENCE,
    SL_LATTICE__PRODUCT,
    SL_LATTICE__QUOTIENT,
    SL_LATTICE__EXP,
    SL_LATTICE__SIN,
    SL_LATTICE__SQRT,
    SL_LATTICE__SQUARE, // of an atom, whose constants count once
} sl_search__lattice_op;

/* Depth 0 or 1: an atom, its square, two atoms and an operator, or factor * function(atom) +
 * summand. */
typedef struct sl_search__lattice_inner {
    uint8_t op, constants;
    int32_t left, right; // atoms
    int32_t factor, summand;
} sl_search__lattice_inner;

/* A set of keys. */
typedef struct sl_search__lattice_set {
    uint64_t *slot; // 0: free
    int64_t size, count;
} sl_search__lattice_set;

/* Inner expressions by number of constants. Within a number the primitive ones come first: those
 * that no expression of fewer constants, or an earlier one, equals up to a factor (list FULL) or up
 * to a factor and a summand (list SHIFT). */
typedef struct sl_search__lattice_list {
    int32_t *id; // places in sl_lattice.inner; the list FULL has all, in their order
    double *value[SL_LATTICE__PROBES];
    int32_t begin[SL_LATTICE__LEVELS + 1], middle[SL_LATTICE__LEVELS];
    int64_t count, room, value_room[SL_LATTICE__PROBES];
} sl_search__lattice_list;

/* FULL: one of each value vector and its negative. SHIFT: one up to sign and summand. FACTOR:
 * halves of few constants up to a factor, operands of products of three factors; sums come last. */
enum { SL_LATTICE__FULL, SL_LATTICE__SHIFT, SL_LATTICE__FACTOR, SL_LATTICE__LISTS };

/* ---------------------------------------------------------------- halves -------------------- */

/* Two inner expressions and an operator, a function of one plus a ratio of constants, or one alone.
 * EXP_NEGATIVE is exp(-p). */
typedef enum sl_search__lattice_family {
    SL_LATTICE__HALF_SINGLE,
    SL_LATTICE__HALF_SUM,
    SL_LATTICE__HALF_DIFFERENCE,
    SL_LATTICE__HALF_PRODUCT,
    SL_LATTICE__HALF_QUOTIENT,
    SL_LATTICE__HALF_EXP,
    SL_LATTICE__HALF_EXP_NEGATIVE,
    SL_LATTICE__HALF_SIN,
    SL_LATTICE__HALF_SQRT,
    SL_LATTICE__HALF_SQRT_NEGATIVE,
    SL_LATTICE__HALF_SQUARE, // powers of one operand, whose constants count once
    SL_LATTICE__HALF_CUBE,
    SL_LATTICE__HALF_THREE_HALVES,
    // of a half in sl_lattice.factor and an inner expression
    SL_LATTICE__HALF_TIMES, // h d
    SL_LATTICE__HALF_PER,   // h / d
    SL_LATTICE__HALF_UNDER, // d / h
} sl_search__lattice_family;

/* constants:3 family:4 p:21 q:20. Smaller means simpler. q is a place among ratios for functions.
 */
typedef uint64_t sl_search__lattice_code;
#define SL_LATTICE__CODE(constants, family, p, q) \
    ((uint64_t)(constants) << 45 | (uint64_t)(family) << 41 | (uint64_t)(p) << 20 | (uint64_t)(q))
static inline int sl_search__lattice_constants_of(sl_search__lattice_code code) {
    return (int)(code >> 45 & 7);
}
static inline sl_search__lattice_family sl_search__lattice_family_of(sl_search__lattice_code code) {
    return (sl_search__lattice_family)(code >> 41 & 15);
}

/* ---------------------------------------------------------------- table --------------------- */

typedef struct sl_search__lattice_slot {
    _Atomic uint64_t key;  // 0: free
    _Atomic uint64_t word; // complement of code:48 tag:16; 0 until written
} sl_search__lattice_slot;

enum { SL_LATTICE__FILTER_BITS = 24 };

/* Halves by key, the smallest code of each; a bit filter in front. */
typedef struct sl_search__lattice_table {
    sl_search__lattice_slot *slot;
    _Atomic uint32_t *filter; // bit by the top of a key
    int64_t size;             // a power of 2
    _Atomic int64_t count;
} sl_search__lattice_table;

/* ---------------------------------------------------------------- a lattice ----------------- */

/* How two halves make y; the affine one has a free factor and summand.
 *    id        y = */
typedef enum sl_search__lattice_form {
    SL_LATTICE__FORM_SUM,        // a f + b g + c
    SL_LATTICE__FORM_ONE,        // a f + c
    SL_LATTICE__FORM_TIMES,      // f (a g + c)
    SL_LATTICE__FORM_PER,        // (a g + c) / f
    SL_LATTICE__FORM_OVER,       // f / (a g + c)
    SL_LATTICE__FORM_INVERSE,    // 1 / (f (a g + c))
    SL_LATTICE__FORM_FACTOR,     // a f
    SL_LATTICE__FORM_RECIPROCAL, // a / f
    SL_LATTICE__FORM_TERMS,      // a sum of up to six terms
    SL_LATTICE__FORM_EXP_TIMES,  // f (exp(a g + c) + r), either sign of exp
    SL_LATTICE__FORM_EXP_PER,    // (exp(a g + c) + r) / f
    SL_LATTICE__FORM_ROOT_TIMES, // f (sqrt(a g + c) + r), either sign of the root
    SL_LATTICE__FORM_ROOT_PER,   // (sqrt(a g + c) + r) / f
} sl_search__lattice_form;

/* times * root^(1/degree) * exp(power), degree 1 (no root), 2 or 4; times.den 0: not a number. */
typedef struct sl_search__lattice_fraction {
    int32_t num, den;
} sl_search__lattice_fraction;
typedef struct sl_search__lattice_number {
    sl_search__lattice_fraction times, root, power;
    int8_t degree;
} sl_search__lattice_number;

typedef struct sl_search__lattice_hit {
    uint64_t key;
    sl_search__lattice_code f, g;
    sl_search__lattice_code others[SL_LATTICE__OTHERS]; // further terms
    int8_t n_others;            // of them in the linear combination
    int8_t peeled;              // factor of others[0], which is a summand of its own; 0: none
    int8_t beside;              // r of the forms with a function
    uint16_t tag_f, tag_g;
    uint8_t form;
    bool good;             // verified, then:
    bool sure;             // its digits distinguish it from other formulas
    double coefficient[SL_LATTICE__COLUMNS]; // of f, of g, the summand, of the others
    sl_search__lattice_number number[SL_LATTICE__COLUMNS]; // that they are, where y is rounded
    double price;          // constants that are not trivial
} sl_search__lattice_hit;

typedef struct sl_search__lattice_hits {
    sl_search__lattice_hit *hit;
    int64_t count, room;
    int64_t mark; // count before a stage whose hits may be dropped
} sl_search__lattice_hits;

typedef struct sl_search__lattice_ratio {
    int32_t num, den;
    double value;
} sl_search__lattice_ratio;

typedef struct sl_lattice {
    sl_search__job *job;
    const sl_search__lattice_kernels *kernels;
    sl_search_grammar grammar;
    int variables;
    int rows;                            // that hits are checked at
    int row[SL_LATTICE__ROWS];           // probes first
    double *x[SL_UNIVERSE_MAX_VARS], *y; // at these
    double smallest;                     // smallest |y| > 0
    double noise;                        // largest relative error of y by rounding; 0: none
    double error[SL_LATTICE__PROBES], project_error[SL_LATTICE__PROBES]; // of y and of `project`
    double *rounding, least_rounding; // error of y by row, and the smallest above 0
    double flat_affine, flat_project; // a half that differs from y by no more explains it alone
    int shift; // bits of a ratio's float that keys leave out

    sl_search__lattice_atom *atom;
    int32_t atoms, atom_begin[4]; // by number of constants
    sl_search__lattice_ratio *ratio;
    int64_t atom_room, ratio_room;
    int32_t ratio_begin[4]; // 0; integers; others; end
    sl_search__lattice_inner *inner;
    int64_t inners, inner_room;
    sl_search__lattice_set full, scale, shifted,
        affine; // keys of inner expressions that are listed
    sl_search__lattice_list list[SL_LATTICE__LISTS];
    int levels;                      // of inner expressions that are there
    sl_search__lattice_code *factor; // codes of the list FACTOR
    int64_t factors, factor_room;
    int factor_levels; // constants of those, plus 1

    sl_search__lattice_table sums, products, scales;
    sl_search__lattice_table targets; // what y asks of g beside f; a tag is a form
    double y_probe[SL_LATTICE__PROBES], project[SL_LATTICE__PROBES];
    void *scratch;                 // of all workers
    sl_search__lattice_hits *hits; // by worker
} sl_lattice;

/* Error by rounding of y[row] less its combination of rows 0 and 1 modulo {1, y}. */
double sl_search__lattice_error_at(const sl_lattice *l, int row);

/* lattice_inner.c: atoms, ratios and lists. */
SL_NODISCARD sl_status sl_search__lattice_atoms(sl_lattice *l);
/* Extends them to that many constants. *done: there was memory. */
SL_NODISCARD sl_status sl_search__lattice_extend(bool *done, sl_lattice *l, int constants);

/* lattice_table.c */
/* *done := false where max_memory does not allow it. Keeps what an older table holds. */
SL_NODISCARD sl_status sl_search__lattice_table_grow(bool *done, sl_lattice *l,
                                                     sl_search__lattice_table *t, int64_t halves);
void sl_search__lattice_table_clear(sl_lattice *l, sl_search__lattice_table *t);
/* Sets the filter's bit for halves that explain y alone. */
void sl_search__lattice_table_open(sl_search__lattice_table *t, const sl_lattice *l);
/* Inserts the word and returns the one that was there under the key (0: none). Keeps the smaller
 * code. From any thread. *added += 1 where the key is new; the caller adds that to t->count. */
uint64_t sl_search__lattice_table_put(sl_search__lattice_table *t, int64_t *added, uint64_t key,
                                      uint64_t word);
uint64_t sl_search__lattice_table_get(const sl_search__lattice_table *t, uint64_t key);
static inline bool sl_search__lattice_table_may_hold(const sl_search__lattice_table *t,
                                                     uint32_t high) {
    uint32_t bit = high >> (32 - SL_LATTICE__FILTER_BITS);
    return atomic_load_explicit(&t->filter[bit >> 5], memory_order_relaxed) >> (bit & 31) & 1;
}
/* The word under key k of a block, and that key; 0: none, or a value without a ratio. */
static inline uint64_t sl_search__lattice_table_find(uint64_t *key,
                                                     const sl_search__lattice_table *t,
                                                     const sl_search__lattice_keys *keys, int k) {
    if (!sl_search__lattice_table_may_hold(t, keys->high[k])) return 0;
    float ratio = keys->ratio[0][k];
    if (ratio == SL_LATTICE__ONE || ratio == SL_LATTICE__NONE) return 0;
    *key = (uint64_t)keys->high[k] << 32 | keys->low[k];
    return sl_search__lattice_table_get(t, *key ? *key : 1);
}
/* The same; where y is rounded, in the first cell within reach that has one. */
uint64_t sl_search__lattice_find(uint64_t *key, const sl_search__lattice_table *t,
                                 const sl_search__lattice_keys *keys, int k, const sl_lattice *l);
static inline void sl_search__lattice_table_prefetch(const sl_search__lattice_table *t,
                                                     uint64_t key) {
    __builtin_prefetch(&t->slot[(int64_t)(key & (uint64_t)(t->size - 1))]);
}
/* For an entry to be put: its part of the filter too. */
static inline void sl_search__lattice_table_prefetch_put(const sl_search__lattice_table *t,
                                                         uint64_t key) {
    sl_search__lattice_table_prefetch(t, key);
    __builtin_prefetch(&t->filter[key >> (64 - SL_LATTICE__FILTER_BITS) >> 5]);
}

/* Bytes counted as the job's. SL_OK and NULL where max_memory does not allow them. */
SL_NODISCARD sl_status sl_search__lattice_alloc(void **out, sl_lattice *l, size_t count,
                                                size_t size);
void sl_search__lattice_free(sl_lattice *l, void *p, size_t count, size_t size);

/* lattice_halves.c: passes over all halves of that many constants. */
typedef enum sl_search__lattice_pass {
    SL_LATTICE__STORE,         // halves: both tables are filled, pairs of sums are hits
    SL_LATTICE__STORE_TRIPLES, // products of three factors: the same for sums alone
    SL_LATTICE__LOOK_SUMS,
    SL_LATTICE__LOOK_TRIPLES,
    SL_LATTICE__LOOK_PRODUCTS,
    SL_LATTICE__LOOK_TRIPLE_PRODUCTS,
    SL_LATTICE__COLLECT, // halves up to a factor, into the table `scales`
    SL_LATTICE__STORE_TARGETS, // halves f: y f, y / f, f / y and 1 / (y f), into that table
    SL_LATTICE__STORE_TRIPLE_TARGETS,
    SL_LATTICE__LOOK_ALL, // halves g in the table of sums, and in that of targets
} sl_search__lattice_pass;
/* How many halves the pass has. */
int64_t sl_search__lattice_halves(sl_lattice *l, int constants, sl_search__lattice_pass what);
SL_NODISCARD sl_status sl_search__lattice_walk(sl_lattice *l, int constants,
                                               sl_search__lattice_pass what);

/* lattice_block.c */
typedef struct sl_search__lattice_scratch {
    sl_search__lattice_block block, function, inverse, product;
    sl_search__lattice_keys keys;
    int32_t chosen[SL_LATTICE__BLOCK];
    uint32_t border[SL_LATTICE__BLOCK]; // 1, 2: within reach of so many other cells; 3: more
} sl_search__lattice_scratch;

/* A block of halves: values in s->block, and the operands that make code k. */
typedef struct sl_search__lattice_batch {
    sl_lattice *l;
    int constants;
    sl_search__lattice_pass what;
    sl_search__lattice_scratch *s;
    sl_search__lattice_hits *hits;
    int n;
    sl_search__lattice_family family;
    bool swapped;      // the right operand comes first
    uint32_t p;        // the left operand
    const int32_t *id; // right operands
    int32_t ratio;
} sl_search__lattice_batch;
SL_NODISCARD sl_status sl_search__lattice_process_block(const sl_search__lattice_batch *b);

/* lattice_terms.c */
/* Appends the halves of that many constants to FACTOR. */
SL_NODISCARD sl_status sl_search__lattice_factors(sl_lattice *l, int constants);
/* Sums of three or four terms: `fixed` of them (1 or 2) without constants, the first of them of
 * depth 1 where `near`; two with that many constants at most. fixed 0: the inputs themselves. */
SL_NODISCARD sl_status sl_search__lattice_terms(sl_lattice *l, int fixed, int constants, bool near);
SL_NODISCARD sl_status sl_search__lattice_list_reserve(bool *done, sl_lattice *l,
                                                       sl_search__lattice_list *list, int64_t more);
void sl_search__lattice_list_add(sl_search__lattice_list *list, int32_t id, const double *v);
bool sl_search__lattice_is_sum(sl_search__lattice_code code);
/* *out := the codes of t with least .. most constants, sorted; *n of them. */
SL_NODISCARD sl_status sl_search__lattice_codes(sl_search__lattice_code **out, int64_t *n,
                                                const sl_search__lattice_table *t, int least,
                                                int most);

/* lattice_sums.c: where y is rounded, sums of `terms` terms, 2 to 5, by least squares: the last one
 * has at most `constants` constants, the others none. */
SL_NODISCARD sl_status sl_search__lattice_sums(sl_lattice *l, int terms, int constants);

/* lattice_peel.c: y less a term of that many constants, times least .. most or their negatives, is
 * a quotient of an inner expression of up to `inner` constants by a stored half. */
SL_NODISCARD sl_status sl_search__lattice_peel(sl_lattice *l, int constants, int inner, int least,
                                               int most);

/* lattice_inverse.c: functions of stored halves, times inner expressions of that many constants. */
SL_NODISCARD sl_status sl_search__lattice_invert(sl_lattice *l, int constants);

/* lattice_halves.c */
SL_NODISCARD sl_status sl_search__lattice_add_hit(sl_search__lattice_hits *h,
                                                  sl_search__lattice_hit hit);

/* lattice_check.c */
/* A formula as a linear fit: t = sum of coefficient[k] column[k]. */
typedef struct sl_search__lattice_linear {
    int columns, rows;
    double column[SL_LATTICE__LINEAR][SL_LATTICE__ROWS], t[SL_LATTICE__ROWS], w[SL_LATTICE__ROWS];
    double reach[SL_LATTICE__ROWS]; // largest error of t by rounding
    double size;                    // largest |t|
} sl_search__lattice_linear;
/* Does it hold in the rows from `from` on? */
bool sl_search__lattice_holds(const sl_search__lattice_linear *m, const double *coefficient,
                              int from);
SL_NODISCARD sl_status sl_search__lattice_check(sl_search__lattice_hit *hit, sl_arena *scratch,
                                                const sl_lattice *l);
double sl_search__lattice_half_at(const sl_lattice *l, sl_search__lattice_code code, int row);
/* The same in row k, a probe, from the values that the list FULL has. */
double sl_search__lattice_half_probe(const sl_lattice *l, sl_search__lattice_code code, int k);
/* lattice_snap.c: coefficients that may be exact numbers become these, the others are fitted again.
 * *sure: enough digits of each are known to distinguish the formula from others. */
SL_NODISCARD sl_status sl_search__lattice_snap(bool *sure, double *coefficient,
                                               sl_search__lattice_number *number, sl_arena *scratch,
                                               const sl_search__lattice_linear *m);
/* The cheapest number within reach of v that costs less than `most` bits. */
bool sl_search__lattice_near_number(sl_search__lattice_number *out, double v, double reach,
                                    double most);
double sl_search__lattice_number_value(sl_search__lattice_number n);
double sl_search__lattice_number_bits(sl_search__lattice_number n);
/* NULL: no memory. */
const sl_node *sl_search__lattice_number_expr(sl_arena *a, sl_search__lattice_number n);

/* *out := the formula with free constants c1 .. c<params>, of these values. */
SL_NODISCARD sl_status sl_search__lattice_expr(const sl_node **out, double *value, int *params,
                                               sl_arena *a, const sl_lattice *l,
                                               const sl_search__lattice_hit *hit);

#endif

/* Inside src/search only: skeletons of the grammar, one by one. skeleton.c describes the method. */
#ifndef SL_SEARCH_SKELETON_IMPL_H
#define SL_SEARCH_SKELETON_IMPL_H

#include "search/search_impl.h"
#include "search/skeleton_kernels.h"

enum {
    SL_SKELETON__ROWS = 64,     // in use; the last ones only verify hits
    SL_SKELETON__FITTED = 40,   // that terms are projected in at most
    SL_SKELETON__RANK = 32,     // columns without inner constants of a skeleton
    SL_SKELETON__FACTORS = 5,   // of a term
    SL_SKELETON__TERMS = 8,     // of a skeleton
    SL_SKELETON__PRODUCTS = 16, // columns of a term without inner constants
    SL_SKELETON__PLAIN = 6,     // columns of a piece without inner constants
    SL_SKELETON__CHANGED = 4,   // columns of a variant of a piece
    SL_SKELETON__VARIED = 6,    // of a variant times columns of other factors
    SL_SKELETON__SLOTS = 24,    // places of a piece for constants
    SL_SKELETON__QUARTERS = 32, // of an exponent
    SL_SKELETON__INPUTS = 2,
    SL_SKELETON__BELOW = 10,   // columns of a divisor
    SL_SKELETON__CLEARED = 48, // columns of y D = N
    SL_SKELETON__DIVISORS = 6, // of a skeleton
    SL_SKELETON__INNERS = 4,   // functions in a divisor
};

/* ---------------------------------------------------------------- factors ------------------- */

/* An expression to the power quarters / 4. */
typedef struct sl_search__skeleton_factor {
    int16_t node, quarters;
} sl_search__skeleton_factor;

/* A place in a piece for a factor (free constant 1) and a summand (free constant 2). */
typedef struct sl_search__skeleton_slot {
    const sl_node *node;                       // that gets them
    const sl_node *expr[SL_SKELETON__CHANGED]; // the piece's columns with both
    const sl_program *program[SL_SKELETON__CHANGED];
    bool factor, summand; // which of them it takes
    bool fractions;       // the summand may be a fraction, of two constants
    bool negated;         // the factor may be -1 beside it
} sl_search__skeleton_slot;

typedef struct sl_search__skeleton_variant {
    int16_t slot;
    int8_t factor, over; // constants are factor and summand / over
    int8_t summand;
} sl_search__skeleton_variant;

/* Variants with one constant, and with a fraction of two. Those with two constants in one or two
 * slots are too many to be stored: skeleton_two.c has them. */
enum {
    SL_SKELETON__ONE,
    SL_SKELETON__FRACTION,
    SL_SKELETON__SETS,
    SL_SKELETON__TWO = SL_SKELETON__SETS
};

typedef struct sl_search__skeleton_set {
    int32_t count, stride; // stride: count rounded up to a multiple of the kernels' lanes
    int rows;              // that values are there for
    sl_search__skeleton_variant *list;
    double *value; // by column, row and variant
} sl_search__skeleton_set;

/* A function in a divisor, as a factor of its own: node to the power quarters / 4. */
typedef struct sl_search__skeleton_inner {
    const sl_node *function, *node;
    int quarters;
    int16_t piece;            // of that factor; -1: there is none
    uint32_t columns, beside; // of the divisor: that have the function; that have its cosine
} sl_search__skeleton_inner;

/* The sum in a factor 1/(...)^power as a linear space: all constants in it that are outside of
 * functions are coefficients of these columns. A sine comes with its cosine, for a phase. */
typedef struct sl_search__skeleton_divisor {
    int columns, power;                      // 0: the factor is no divisor
    const sl_node *expr[SL_SKELETON__BELOW]; // the coefficient of the first is not 0
    uint64_t name[SL_SKELETON__BELOW];
    int8_t sine[SL_SKELETON__BELOW]; // of a cosine: its sine's place; else -1
    uint32_t own;                    // columns that are its summands, phases of these, or 1
    const sl_node *angle[SL_SKELETON__BELOW], *rest[SL_SKELETON__BELOW]; // of a sine: sin(angle)
                                                                         // rest; rest may be NULL
    double (*value)[SL_SKELETON__ROWS];
    int inners;
    sl_search__skeleton_inner inner[SL_SKELETON__INNERS];
} sl_search__skeleton_divisor;

/* A factor with its constants: those outside of functions span a space of columns, those inside are
 * enumerated as variants. */
typedef struct sl_search__skeleton_piece {
    sl_search__skeleton_factor factor;
    int plains, columns; // columns: of a variant
    const sl_node *plain[SL_SKELETON__PLAIN];
    uint64_t name[SL_SKELETON__PLAIN]; // of the plain columns: sums of them are names of products
    sl_search__skeleton_divisor divisor;
    double (*value)[SL_SKELETON__ROWS]; // of the plain columns
    bool sine;                          // with its cosine, so that a phase is free
    int slots;
    sl_search__skeleton_slot slot[SL_SKELETON__SLOTS];
    sl_search__skeleton_set set[SL_SKELETON__SETS];
} sl_search__skeleton_piece;

/* ---------------------------------------------------------------- skeletons ----------------- */

/* A product of factors, without its coefficient. */
typedef struct sl_search__skeleton_term {
    int16_t factors;
    sl_search__skeleton_factor factor[SL_SKELETON__FACTORS]; // by node
    int16_t piece[SL_SKELETON__FACTORS];
} sl_search__skeleton_term;

/* A sum of terms. Those with a common divisor that is a sum have more places for constants. */
typedef struct sl_search__skeleton_base {
    int8_t terms;
    bool quotient;
    int32_t term[SL_SKELETON__TERMS]; // ascending
} sl_search__skeleton_base;

/* One factor of one term has constants inside. */
typedef struct sl_search__skeleton_change {
    int8_t term, factor, set;
    int32_t variant;
} sl_search__skeleton_change;

typedef struct sl_search__skeleton_hit {
    int32_t base;
    int changes;
    bool plain;  // without phases beside the changes
    double left; // where y is rounded: rank of its columns, plus a part of 1 by what it leaves
    sl_search__skeleton_change change[2];
} sl_search__skeleton_hit;

typedef struct sl_search__skeleton_hits {
    sl_search__skeleton_hit *hit;
    int64_t count, room;
} sl_search__skeleton_hits;

/* A table that grows. */
typedef struct sl_search__skeleton_index {
    int32_t *slot; // place + 1; 0: free
    int64_t size;
} sl_search__skeleton_index;

typedef struct sl_skeletons {
    sl_search__job *job;
    const sl_search__skeleton_kernels *kernels;
    int low, high; // constants
    int rows, variables;
    const double *x[SL_SKELETON__INPUTS], *y;
    double weight[SL_SKELETON__ROWS];                          // 1 / |y|
    double above[SL_SKELETON__ROWS], below[SL_SKELETON__ROWS]; // weights of N and of y D
    double rounding[SL_SKELETON__ROWS]; // half a unit of y's last digit, times the weight
    double sigma;                       // standard deviation of that; 0: y has all digits

    const sl_node **node; // of factors
    int32_t nodes, node_room;
    sl_search__skeleton_term *term;
    int32_t terms, term_room;
    sl_search__skeleton_base *base;
    int32_t bases, base_room;
    int32_t *with_divisors, n_with_divisors; // skeletons of skeleton_clear.c; NULL: not listed yet
    sl_search__skeleton_piece *piece;
    int32_t pieces, piece_room;
    sl_search__skeleton_index node_index, term_index, base_index;
    int64_t bytes;                  // counted as the job's
    uint32_t made;                  // bit i: variants of set i
    uint32_t levels_run;            // bit i: level i
    uint32_t screened;              // bit i: of all skeletons of level i, whatever its number is
    sl_search__skeleton_hits *hits; // by worker
    sl_arena arena;
    sl_arena scratch; // of canonical forms that may be known
} sl_skeletons;

/* *items := room for one more behind the n there are. *out := false where max_memory does not allow
 * it. */
SL_NODISCARD sl_status sl_search__skeleton_grow(bool *out, sl_skeletons *s, void **items, int32_t n,
                                                int32_t *room, size_t size);

/* skeleton_bases.c: all skeletons of two terms and more. *done := false where there is no
 * memory. */
SL_NODISCARD sl_status sl_search__skeleton_list(bool *done, sl_skeletons *s);

/* skeleton_pieces.c: the pieces of all terms, and their variants of a set, in that many rows. */
SL_NODISCARD sl_status sl_search__skeleton_make_pieces(bool *done, sl_skeletons *s);
SL_NODISCARD sl_status sl_search__skeleton_make_piece(sl_search__skeleton_piece *p, sl_skeletons *s,
                                                      sl_search__skeleton_factor f);
/* A piece without places for constants inside. */
SL_NODISCARD sl_status sl_search__skeleton_make_columns(sl_search__skeleton_piece *p,
                                                        sl_skeletons *s,
                                                        sl_search__skeleton_factor f);
SL_NODISCARD sl_status sl_search__skeleton_make_variants(bool *done, sl_skeletons *s, int set,
                                                         int rows);
/* Has a piece a summand outside of its functions? Its last plain column is 1 then. */
bool sl_search__skeleton_has_summand(const sl_search__skeleton_piece *p);
/* Is a plain column what a phase adds to a sine? */
static inline bool sl_search__skeleton_is_phase(const sl_search__skeleton_piece *p, int column) {
    return p->sine && column % 2 == 1; // sin, cos, 1 or sin^2, sin cos, sin, cos, 1
}
/* *out := column c of a variant, with its constants in it. */
SL_NODISCARD sl_status sl_search__skeleton_variant_expr(const sl_node **out, sl_arena *a,
                                                        const sl_search__skeleton_piece *p,
                                                        const sl_search__skeleton_variant *v,
                                                        int c);
/* Nodes of a piece that get constants: factor * node + summand. */
typedef struct sl_search__skeleton_places {
    int n;
    const sl_node *node[2], *factor[2], *summand[2];
} sl_search__skeleton_places;
/* out[c] := column c of the piece of `node` with these. */
SL_NODISCARD sl_status sl_search__skeleton_put_constants(const sl_node **out, sl_arena *a,
                                                         const sl_search__skeleton_piece *p,
                                                         const sl_node *node,
                                                         const sl_search__skeleton_places *places);

/* skeleton_function.c: a level of functions of halves. */
SL_NODISCARD sl_status sl_search__skeleton_functions(sl_skeletons *s, int level);

/* skeleton_two.c: a level of two constants inside one factor; column c of such a variant; and of
 * one of any set. */
SL_NODISCARD sl_status sl_search__skeleton_screen_two(bool *done, sl_skeletons *s);
SL_NODISCARD sl_status sl_search__skeleton_change_expr(const sl_node **out, sl_arena *a,
                                                       const sl_skeletons *s,
                                                       const sl_search__skeleton_piece *p,
                                                       const sl_search__skeleton_change *change,
                                                       int c);

/* skeleton_divisors.c: the divisor of a piece, if it is one; and a name for a product of powers,
 * such that those of factors add up to that of their product. */
SL_NODISCARD sl_status sl_search__skeleton_make_divisor(sl_search__skeleton_piece *p,
                                                        sl_skeletons *s);
uint64_t sl_search__skeleton_name(const sl_node *e);
/* *out := the divisor with a variant of its function number `inner`, in `a`; *good := false where
 * it is not real in all rows. From any thread. */
SL_NODISCARD sl_status sl_search__skeleton_vary_divisor(bool *good,
                                                        sl_search__skeleton_divisor *out,
                                                        sl_arena *a, const sl_skeletons *s,
                                                        const sl_search__skeleton_divisor *d,
                                                        int inner, int32_t variant);

/* skeleton_fits.c: a fit of hits in all rows. One for each worker. */
typedef struct sl_search__skeleton_fitting {
    const sl_skeletons *s;
    double weight[SL_SKELETON__ROWS]; // to units of half of y's last digit, or of y
    int rank;
    double left; // of the last vector: its square
    double basis[SL_SKELETON__FITTED + 1][SL_SKELETON__ROWS];
} sl_search__skeleton_fitting;
void sl_search__skeleton_fitting_begin(sl_search__skeleton_fitting *f, const sl_skeletons *s);
/* *out := does y differ from the columns of the hit by no more than rounding in all rows, or, where
 * y is exact, by little? f->rank: of these columns. */
SL_NODISCARD sl_status sl_search__skeleton_fits(bool *out, sl_search__skeleton_fitting *f,
                                                const sl_search__skeleton_hit *h,
                                                sl_arena *scratch);

/* skeleton_directions.c: the columns of a skeleton's terms without constants inside, and directions
 * orthogonal to them, in a few rows. */
typedef struct sl_search__skeleton_directions {
    const sl_skeletons *s;
    const sl_search__skeleton_base *base;
    bool plain; // phases are left out
    int rows, rank;
    double left;  // part of y that the plain columns leave
    double doubt; // part of y's direction that rounding may have made
    int most;     // columns of a variant that may be taken in
    // of the plain columns, then orthogonal to them
    double basis[(SL_SKELETON__RANK + SL_SKELETON__DIMS + 1) * SL_SKELETON__FITTED];
    double across[SL_SKELETON__FITTED][SL_SKELETON__DIMS]; // the latter by row
    // products of a term's other factors; of how many the column is not the factor's first one
    double product[SL_SKELETON__PRODUCTS][SL_SKELETON__FITTED];
    int products, further[SL_SKELETON__PRODUCTS];
} sl_search__skeleton_directions;
/* The rows that a skeleton is projected in. */
int sl_search__skeleton_rows(const sl_skeletons *s, const sl_search__skeleton_base *base);
/* false where there are too many columns. *nothing: none of y is left beside them. */
bool sl_search__skeleton_find_directions(bool *nothing, sl_search__skeleton_directions *d,
                                         const sl_search__skeleton_base *base);
/* The same in two parts: the basis of the plain columns and, behind them, y's direction; then the
 * other directions, false where there are too few. */
bool sl_search__skeleton_find_basis(bool *nothing, sl_search__skeleton_directions *d,
                                    const sl_search__skeleton_base *base);
bool sl_search__skeleton_add_directions(sl_search__skeleton_directions *d);
/* A factor of a term whose variant is fixed. */
typedef struct sl_search__skeleton_fixed {
    const sl_search__skeleton_piece *piece;
    sl_search__skeleton_change change;
} sl_search__skeleton_fixed;
/* product[] := all products of the plain columns of a term's factors but one (-1: of all), times
 * the weights; at most SL_SKELETON__PRODUCTS. The first has what the skeleton has. variant: NULL,
 * or the factor that has the columns of a variant. */
void sl_search__skeleton_multiply_plains(sl_search__skeleton_directions *d,
                                         const sl_search__skeleton_term *t, int but,
                                         const sl_search__skeleton_fixed *variant);

/* The determinant of p columns of one variant and size - p of another is a sum, over sets of p
 * directions, of minors of the first times minors of the other in the directions that are left.
 * The latter are in the reverse order. sign[] := those of the sum, in that order; returns how many
 * there are. */
int sl_search__skeleton_make_signs(double *sign, int p, int size);
/* skeleton_screen.c: bases begin .. end against variants of these sets; hits of the worker. */
typedef struct sl_search__skeleton_screening {
    sl_skeletons *s;
    const int32_t *base; // which
    int32_t pairs;       // so many of them: pairs of variants with several columns are tried
    bool pairs_alone;    // one variant was tried before
    uint32_t sets;       // bit i: variants of set i take part
    bool inside;         // and pairs of factors of one term
} sl_search__skeleton_screening;
/* Adds a hit, with f only if it holds in all rows. left: what it leaves, for their order. */
SL_NODISCARD sl_status sl_search__skeleton_add_hit(sl_skeletons *s, int worker,
                                                   const sl_search__skeleton_hit *hit, double left,
                                                   sl_search__skeleton_fitting *f,
                                                   sl_arena *scratch);
SL_NODISCARD sl_status sl_search__skeleton_screen(int64_t begin, int64_t end, int worker,
                                                  void *payload);

/* skeleton_verify.c: the formulas of these hits are fitted in all rows, reduced and offered. */
SL_NODISCARD sl_status sl_search__skeleton_verify(sl_skeletons *s, sl_search__skeleton_hits *hits,
                                                  int level);

/* All products of one column of each factor, for verification. */
typedef struct sl_search__skeleton_product {
    int factors;
    const sl_node *const *list[SL_SKELETON__FACTORS];
    int count[SL_SKELETON__FACTORS];
} sl_search__skeleton_product;
/* Is y a combination of these columns? If so it is offered. */
SL_NODISCARD sl_status sl_search__skeleton_verify_products(
    bool *good, sl_skeletons *s, const sl_search__skeleton_product *product, int n, int level);

/* ---------------------------------------------------------------- without divisors ---------- */

/* A skeleton multiplied by some of its divisors, y D = N: the spaces of D and N. */
typedef struct sl_search__skeleton_space {
    int count;
    uint64_t name[SL_SKELETON__CLEARED];
    double value[SL_SKELETON__CLEARED][SL_SKELETON__ROWS];
} sl_search__skeleton_space;

/* A divisor of a term. */
typedef struct sl_search__skeleton_below {
    int8_t term, factor;
    const sl_search__skeleton_divisor *divisor;
} sl_search__skeleton_below;

/* Columns that a factor of one term has in the place of its plain ones. */
typedef struct sl_search__skeleton_replaced {
    int term, factor; // term -1: none
    int n;
    uint64_t name[SL_SKELETON__CHANGED + 1];
    const sl_node *expr[SL_SKELETON__CHANGED + 1];
    double value[SL_SKELETON__CHANGED + 1][SL_SKELETON__ROWS];
} sl_search__skeleton_replaced;

typedef struct sl_search__skeleton_cleared {
    const sl_skeletons *s;
    const sl_search__skeleton_base *base;
    int divisors;
    sl_search__skeleton_below divisor[SL_SKELETON__DIVISORS];
    uint32_t mask;                       // those that y is multiplied by
    uint32_t use[SL_SKELETON__DIVISORS]; // columns of a divisor
    uint32_t lean; // terms of whose factors above only the first column is used
    sl_search__skeleton_replaced replaced[2];
    sl_search__skeleton_space above, below, scratch[2];
    // what its test needs
    int rows_most;
    bool every;  // of these rows; else a few more than columns
    double left; // of the first column that depends on others, in parts of what D leaves of it
    int rows, n; // n: of the basis
    double basis[(SL_SKELETON__CLEARED + 1) * SL_SKELETON__ROWS];
} sl_search__skeleton_cleared;

/* Which columns take part. */
typedef struct sl_search__skeleton_extent {
    bool phases;   // cosines of divisors
    uint32_t lean; // as above
    bool own;      // of divisors only those columns
} sl_search__skeleton_extent;

/* A factor with a constant inside. */
typedef struct sl_search__skeleton_inside {
    int columns; // of it; 0: there is none
    int inner;   // it is a divisor, and its function with that number; -1: it is none
    sl_search__skeleton_change change;
} sl_search__skeleton_inside;

typedef struct sl_search__skeleton_clear_hit {
    int32_t base;
    uint32_t mask;
    int columns;
    double left; // part of a column; by rounding alone about 1e-15
    sl_search__skeleton_extent extent;
    sl_search__skeleton_inside inside[2];
    int32_t alike; // 0, or 1 + the piece whose variant is in the place of every such function
} sl_search__skeleton_clear_hit;

typedef struct sl_search__skeleton_clear_hits {
    sl_search__skeleton_clear_hit *hit;
    int64_t count, room;
} sl_search__skeleton_clear_hits;

/* skeleton_space.c: which divisors a skeleton has; false: none or too many. */
bool sl_search__skeleton_find_divisors(sl_search__skeleton_cleared *c, const sl_skeletons *s,
                                       int32_t base);
/* Sets which columns are in use. */
void sl_search__skeleton_use_columns(sl_search__skeleton_cleared *c, sl_search__skeleton_extent e);
/* The spaces of mask and columns in use in the first rows; false: too many columns. */
bool sl_search__skeleton_clear(sl_search__skeleton_cleared *c, int rows);
/* The products of all divisors of the mask, and those of a term's numerator, but for one factor
 * (-1: of all), times the divisors of the others; 0 rows: their names alone. NULL: too many. They
 * are in scratch. */
const sl_search__skeleton_space *
sl_search__skeleton_divisor_products(sl_search__skeleton_cleared *c, int rows);
const sl_search__skeleton_space *sl_search__skeleton_term_products(sl_search__skeleton_cleared *c,
                                                                   int t, int but, int rows);
/* Divisors that are sums or functions of one: x1 alone most often has no constant. */
uint32_t sl_search__skeleton_sums(const sl_search__skeleton_cleared *c);
/* Has a divisor a sine, so that there may be phases? */
bool sl_search__skeleton_has_phases(const sl_search__skeleton_cleared *c);
/* v less what it has of the basis; returns what part of it is left. *length: of that. */
double sl_search__skeleton_project(double *v, double *length, const sl_search__skeleton_cleared *c,
                                   const double *basis, int n);
/* The basis of all columns. */
void sl_search__skeleton_push_all(sl_search__skeleton_cleared *c);
/* Puts so many directions orthogonal to the basis behind it; c->n stays. false: too few. */
bool sl_search__skeleton_add_orthogonal(sl_search__skeleton_cleared *c, int dims);
/* Are y D and N dependent? *fits := false: there are too many columns to tell. */
bool sl_search__skeleton_is_dependent(bool *fits, sl_search__skeleton_cleared *c);
/* A factor of a term outside of the divisors that are cleared: its columns; returns how many. */
int sl_search__skeleton_columns(const double (**value)[SL_SKELETON__ROWS], const uint64_t **name,
                                const sl_search__skeleton_cleared *c, int t, int f);
/* What is in the place of its plain columns; NULL: nothing. */
const sl_search__skeleton_replaced *
sl_search__skeleton_replaced_of(const sl_search__skeleton_cleared *c, int t, int f);
bool sl_search__skeleton_is_cleared(const sl_search__skeleton_cleared *c, int t, int f);
/* skeleton_clear.c: adds the hit, with its dependence, if that is one. */
SL_NODISCARD sl_status sl_search__skeleton_add_clear_hit(sl_search__skeleton_clear_hits *h,
                                                         sl_search__skeleton_cleared *c,
                                                         const sl_search__skeleton_clear_hit *from);
/* skeleton_vary.c: adds the hit, with its constants inside, if it is a dependence in which y takes
 * part. The divisors, mask and rows_most of c are those of the skeleton afterwards. */
SL_NODISCARD sl_status sl_search__skeleton_check_hit(sl_search__skeleton_clear_hits *h,
                                                     sl_search__skeleton_cleared *c,
                                                     const sl_search__skeleton_clear_hit *from,
                                                     sl_arena *scratch);
typedef enum sl_search__skeleton_clearing {
    SL_SKELETON__CLEAR_ALL,             // no constant inside functions, all divisors and columns
    SL_SKELETON__CLEAR_SOME,            // where these are too many: some of them
    SL_SKELETON__CLEAR_ALIKE,           // one constant, in all places of a function
    SL_SKELETON__CLEAR_VARIED_BELOW,    // one constant inside a function of a divisor
    SL_SKELETON__CLEAR_VARIED_ABOVE,    // one inside a function of a numerator
    SL_SKELETON__CLEAR_VARIED_WIDE,     // both, of more columns
    SL_SKELETON__CLEAR_VARIED_TWO,      // one inside each of two functions: what is cheap
    SL_SKELETON__CLEAR_VARIED_TWO_MORE, // and some more
    SL_SKELETON__CLEAR_VARIED_BOTH,     // the same of one term, where their columns are apart
} sl_search__skeleton_clearing;
typedef struct sl_search__skeleton_clear_screening {
    sl_skeletons *s;
    sl_search__skeleton_clear_hits *hits; // by worker
    sl_search__skeleton_clearing how;
} sl_search__skeleton_clear_screening;
/* skeleton_vary.c: skeletons begin .. end of those with divisors, with one constant inside. */
SL_NODISCARD sl_status sl_search__skeleton_vary(int64_t begin, int64_t end, int worker,
                                                void *payload);
/* Without its function only the summand beside it is left of factor f of term t. */
void sl_search__skeleton_leave_out(sl_search__skeleton_cleared *c,
                                   const sl_search__skeleton_piece *p, int t, int f);
/* skeleton_both.c: of those that have one term, with a constant in each of two functions whose
 * columns are apart. */
SL_NODISCARD sl_status sl_search__skeleton_vary_both(int64_t begin, int64_t end, int worker,
                                                     void *payload);
/* skeleton_vary_two.c: the same with one constant inside each of two functions. */
SL_NODISCARD sl_status sl_search__skeleton_vary_two(int64_t begin, int64_t end, int worker,
                                                    void *payload);
/* skeleton_alike.c: skeletons with another function in the place of one of theirs. */
typedef struct sl_search__skeleton_alike {
    const sl_skeletons *from;
    sl_skeletons s; // its pieces, nodes and arenas are its own
} sl_search__skeleton_alike;
SL_NODISCARD sl_status sl_search__skeleton_alike_begin(sl_search__skeleton_alike *k,
                                                       const sl_skeletons *s);
void sl_search__skeleton_alike_end(sl_search__skeleton_alike *k);
/* k->s := with that variant of the function that a piece is. */
SL_NODISCARD sl_status sl_search__skeleton_alike_set(sl_search__skeleton_alike *k, int32_t function,
                                                     int32_t variant);
/* All functions and variants; hits are those of the workers. *done := false where there is no
 * memory. */
SL_NODISCARD sl_status sl_search__skeleton_screen_alike(bool *done, sl_skeletons *s,
                                                        sl_search__skeleton_clear_hits *hits);
/* All skeletons with divisors; hits are verified and offered. */
SL_NODISCARD sl_status sl_search__skeleton_clear_all(sl_skeletons *s,
                                                     sl_search__skeleton_clearing how, int level);

/* skeleton_clear_rounded.c: the same where y is rounded, in c->rows rows that the spaces of c have.
 * product: NULL, or room for D. */
bool sl_search__skeleton_is_dependent_rounded(sl_search__skeleton_cleared *c, double *product);
/* What uniform errors leave at most, with so many degrees of freedom, in halves of a unit. */
double sl_search__skeleton_rounding_limit(double freedom);
/* A constant of a divisor that becomes exact: a number, or of a cosine the phase that its sine
 * gets. constant -1: none. */
typedef struct sl_search__skeleton_snapped {
    int constant, phase;
    double value;
} sl_search__skeleton_snapped;
/* The next of n constants with these standard errors. sine[k] of a cosine: its sine's number, -1
 * where that has coefficient 1; else NO_SINE. */
#define SL_SKELETON__NO_SINE (-2)
sl_search__skeleton_snapped sl_search__skeleton_choose_number(const sl_skeletons *s,
                                                              const double *x, const double *error,
                                                              const bool *decided, const int *sine,
                                                              int n);

/* skeleton_clear_verify.c: *c := the skeleton of a hit, with what is changed in it, in `a`; mask
 * and columns in use stay. *good := false where that is not real in all rows. From any thread. */
SL_NODISCARD sl_status sl_search__skeleton_begin(bool *good, sl_search__skeleton_cleared *c,
                                                 const sl_skeletons *s,
                                                 const sl_search__skeleton_clear_hit *h,
                                                 sl_arena *a);
/* The constants of the divisors of a hit. */
enum { SL_SKELETON__UNKNOWNS = 25 };
typedef struct sl_search__skeleton_solution {
    bool found;
    uint32_t mask, use[SL_SKELETON__DIVISORS];
    double constant[SL_SKELETON__UNKNOWNS]; // of the columns in use but for the first of a divisor
} sl_search__skeleton_solution;
/* From any thread. */
SL_NODISCARD sl_status sl_search__skeleton_clear_solve(sl_search__skeleton_solution *out,
                                                       const sl_skeletons *s,
                                                       const sl_search__skeleton_clear_hit *h);
/* Constants become exact numbers, and the formula is offered. */
SL_NODISCARD sl_status sl_search__skeleton_clear_offer(bool *good, sl_skeletons *s,
                                                       const sl_search__skeleton_clear_hit *h,
                                                       const sl_search__skeleton_solution *x,
                                                       int level);

#endif

/* Inside closure*.c only: shapes of formulas that are linear in all constants but one.
 *
 * A formula of two halves, such as (A + a)/(B + b) + (C + c)(D + d), becomes linear in all products
 * of its constants once it is multiplied by its denominators: y D = N, where N and D are sums of
 * products of atoms. An atom is a function without free constants, or one with one inside, a curve.
 * A shape lists the products of up to four atoms; each has a coefficient of its own. The test of a
 * choice of atoms is linear algebra: is the first product of D, times y, in the span of the
 * others? */
#ifndef SL_SEARCH_CLOSURE_IMPL_H
#define SL_SEARCH_CLOSURE_IMPL_H

#include "search/closure_kernels.h"
#include "search/search_impl.h"
#include "search/write.h"

enum {
    SL_CLOSURE__ROWS = 96,    // in use at most
    SL_CLOSURE__COLUMNS = 36, // of one system
    SL_CLOSURE__SLOTS = 6,    // of one shape: four that are filled, two that follow others
    SL_CLOSURE__PARTS = 2048, // columns of values that atoms are made of
    SL_CLOSURE__ATOMS = 1536,
    SL_CLOSURE__CURVES = 96,
};

/* ---------------------------------------------------------------- atoms --------------------- */

/* Functions with a constant k inside.     of the argument h */
#define SL_CLOSURE__FAMILIES(X)                                                  \
    X(RATE)      /* exp(k h)                                          */         \
    X(WAVE)      /* sin(k h) and cos(k h)                             */         \
    X(ROOT)      /* sqrt(h + k)                                       */         \
    X(ROOT_DOWN) /* sqrt(k - h)                                       */         \
    X(RATE_ROOT) /* exp(sqrt(h + k))                                  */         \
    X(FALL_ROOT) /* exp(-sqrt(h + k))                                 */

typedef enum sl_search__closure_family {
#define X(id) SL_CLOSURE__##id,
    SL_CLOSURE__FAMILIES(X)
#undef X
} sl_search__closure_family;

typedef struct sl_search__closure_curve {
    sl_search__closure_family family;
    const sl_node *argument;
    double h[SL_CLOSURE__ROWS], low, high; // the argument in the rows, its ends
} sl_search__closure_curve;

/* parts: columns that come together, as sin and cos of one argument do: sin(u + b) is a combination
 * of both. The first is in every formula with the atom. No parts: the slot is empty. */
typedef struct sl_search__closure_atom {
    int part[2], parts;
    int curve;       // -1: none; else its place
    double constant; // inside the curve
} sl_search__closure_atom;

/* Atoms by their places: [begin, end). */
typedef struct sl_search__closure_list {
    int begin, end;
} sl_search__closure_list;

typedef double sl_search__closure_values[SL_CLOSURE__ROWS];

typedef struct sl_closure {
    sl_search__job *job;
    int rows, fitted; // in all, and those that are not held out
    int variables;
    const double *x[SL_UNIVERSE_MAX_VARS], *y;
    sl_search__closure_values side[2]; // weights of the rows in N; and times y, in D
    int parts, atoms, curves;
    sl_search__closure_values *value; // by part
    const sl_node **expr;             // by part; NULL for those of curves
    sl_search__closure_atom *atom;
    sl_search__closure_curve *curve;
    sl_search__closure_list simple; // the atom without parts first, falling exponentials last
    int falling;                    // falling exponentials
    sl_search__closure_list nested; // functions of two inputs and of functions
    sl_search__closure_list grid;        // curves of one input at points of a grid
    sl_search__closure_list nested_grid; // and of functions of inputs
    sl_arena arena;
} sl_closure;

/* What it may hold. */
#define SL_CLOSURE__BYTES                                                                         \
    ((int64_t)(sizeof(sl_closure) + SL_CLOSURE__PARTS * (sizeof(sl_search__closure_values) + 8) + \
               SL_CLOSURE__ATOMS * sizeof(sl_search__closure_atom) +                              \
               SL_CLOSURE__CURVES * sizeof(sl_search__closure_curve) + 200000))

/* Fills the lists. */
SL_NODISCARD sl_status sl_search__closure_make_atoms(sl_closure *c);  // closure_atoms.c
SL_NODISCARD sl_status sl_search__closure_make_curves(sl_closure *c); // closure_curves.c
/* room[0 .. parts) := the curve with this constant, two parts of waves and roots, one of others;
 * false where a value is not of moderate size. */
bool sl_search__closure_curve_values(sl_search__closure_values *room, const sl_closure *c,
                                     const sl_search__closure_curve *k, double constant);
/* Part i of the curve; each call adds the constant as a free one. */
const sl_node *sl_search__closure_write_curve(sl_writer *w, const sl_search__closure_curve *k,
                                              int i, const sl_node *constant);

/* ---------------------------------------------------------------- shapes -------------------- */

/* y D = N. A space is the product of the spans {1, atom} of its slots, by bits. */
typedef struct sl_search__closure_shape {
    int slots;    // that are filled
    int need;     // of them these with an atom: without it is a case of another shape
    int below;    // the space of D
    int lead;     // the slots whose product is sure to be in D
    int apart[2]; // two slots that do not multiply in D, where it has their sum; 0: none
    int above[3]; // N: the sum of these spaces
    struct {
        int8_t first, second;
    } order[3]; // atoms of these slots are interchangeable: only first <= second is tried
    int orders;
    bool twice; // slots 4 and 5 have the atoms of 2 and 3
} sl_search__closure_shape;

extern const sl_search__closure_shape sl_search__closure_halves[], sl_search__closure_nested[];
extern const int sl_search__closure_halves_count, sl_search__closure_nested_count;

/* A product of parts; in D times y. */
typedef struct sl_search__closure_column {
    int16_t part[SL_CLOSURE__SLOTS]; // descending; -1: none
    bool below;
} sl_search__closure_column;

/* A shape with atoms in its slots. */
typedef struct sl_search__closure_choice {
    const sl_search__closure_shape *shape;
    int atom[SL_CLOSURE__SLOTS];
} sl_search__closure_choice;

/* out[] := the columns over the slots `filled` that hold a part of one of the slots `with` (0: all
 * of them), at most `room`, but for the leading one. Returns how many, or room + 1 where there are
 * more. */
int sl_search__closure_columns(sl_search__closure_column *out, int room, const sl_closure *c,
                               const sl_search__closure_choice *k, int filled, int with);
/* The product of the first parts of the slots that lead. */
sl_search__closure_column sl_search__closure_lead(const sl_closure *c,
                                                  const sl_search__closure_choice *k);
/* Values of a curve for a constant off the grid, in place of those of its parts. */
typedef struct sl_search__closure_override {
    int part, parts;
    sl_search__closure_values value[2];
} sl_search__closure_override;
/* v[0 .. rows) := the column, in weighted rows; override may be NULL. */
void sl_search__closure_evaluate(double *v, const sl_closure *c, sl_search__closure_column k,
                                 const sl_search__closure_override *override, int rows);

/* ---------------------------------------------------------------- bases --------------------- */

/* Orthonormal columns of a growing span. */
typedef struct sl_search__closure_basis {
    const sl_closure *c;
    const sl_search__closure_kernels *kernels;
    const sl_search__closure_override *override; // NULL: none
    int rows, padded;                    // padded: for the kernels, with zeros
    int n;
    double q[SL_CLOSURE__COLUMNS][SL_CLOSURE__ROWS];
} sl_search__closure_basis;

/* An empty basis over the first rows. */
void sl_search__closure_basis_clear(sl_search__closure_basis *t, const sl_closure *c, int rows,
                                    const sl_search__closure_override *override);
/* Adds the part of a column outside of the span, unless that is rounding. */
void sl_search__closure_basis_push(sl_search__closure_basis *t, sl_search__closure_column k);
/* v[0 .. padded) := the lead outside of the span, relative to its length outside of `below`, the
 * span of the other columns of D. Returns the length of v; infinite where the lead depends on D
 * alone. */
double sl_search__closure_basis_residual(double *v, const sl_search__closure_basis *t,
                                         const sl_search__closure_basis *below,
                                         sl_search__closure_column lead);

/* ---------------------------------------------------------------- the search ---------------- */

/* A choice with a small residual. */
typedef struct sl_search__closure_hit {
    sl_search__closure_choice choice;
    int columns;
    double rest;  // residual of the lead, relative to its length
    double score; // the lower the better
    double constant;
} sl_search__closure_hit;

enum { SL_CLOSURE__BEST = 16 }; // hits of one part of a scan

/* What is scanned: a shape, one slot from a list of its own (-1: none), the others from the first
 * of the simple list. */
typedef struct sl_search__closure_scan {
    const sl_search__closure_shape *shape;
    int special;
    sl_search__closure_list list;
    int simple;         // atoms of the simple list in use
    int atoms, columns; // most slots that are not empty, and most columns
    int rows;           // of those that are fitted
} sl_search__closure_scan;

/* Parts that a scan is cut into, and part `number`: its best choices into best[], by score. Returns
 * how many, at most SL_CLOSURE__BEST. basis: scratch. From any thread. */
int sl_search__closure_scan_parts(const sl_search__closure_scan *s);
int sl_search__closure_scan_run(sl_search__closure_hit *best, const sl_closure *c,
                                const sl_search__closure_scan *s, sl_search__closure_basis basis[2],
                                int number);

/* Moves the constant inside a curve to a minimum of the residual of the lead; returns that
 * residual. From any thread. */
double sl_search__closure_refine(double *constant, const sl_closure *c,
                                 const sl_search__closure_atom *curve,
                                 sl_search__closure_column lead,
                                 const sl_search__closure_column *list, int n);
/* The atom of the choice that is a curve; NULL: none. */
const sl_search__closure_atom *sl_search__closure_curve_of(const sl_closure *c,
                                                           const sl_search__closure_choice *k);
/* All columns of a choice: into out[SL_CLOSURE__COLUMNS]. */
int sl_search__closure_all_columns(sl_search__closure_column *out, const sl_closure *c,
                                   const sl_search__closure_choice *k);

/* Solves for the coefficients, drops columns that are not needed, and offers the formula. */
SL_NODISCARD sl_status sl_search__closure_verify(bool *kept, sl_closure *c,
                                                 const sl_search__closure_hit *h, int level);

/* Residual of a lead that is in the span, up to rounding. */
static const double SL_CLOSURE__NOTHING = 1e-9;

#endif

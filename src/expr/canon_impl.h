/* Sums of terms, the form in which canonical algebra is done; shared by poly.c and the files of
 * canonical forms.
 *
 *     3*x1^2*exp(x2) - sqrt(x1 + 1)      two terms: coef 3,  factors (x1, 2) (exp(x2), 1)
 *                                                   coef -1, factors (x1 + 1, 1/2)
 *
 * Factors are sorted by base and have distinct bases; a base is a canonical node of one of these
 * kinds:
 *
 *     NUM     a whole number > 1 without a square factor that we know of, exponent in (0, 1)
 *     PI VAR PAR, functions but for EXP; ABS is not canonical, |u| being sqrt(u^2)
 *     EXP     exponent 1, and at most one in a term: exp(a)*exp(b) is exp(a+b)
 *     ADD     exponent negative, or in (0, 1): whole positive powers are multiplied out
 *     MUL     a product that has no real root factor by factor: sqrt(x1*x2), sqrt(-x1); exponent not whole, < 1
 *     POW     u^2, standing for |u|: sqrt(u^2); exponent not whole, < 1
 *     RAISE   exponent 1, at most one for a u, and u^r does not stand beside u^v */
#ifndef SL_CANON_IMPL_H
#define SL_CANON_IMPL_H

#include "expr/expr_impl.h"

typedef struct factor {
    const sl_node *base;
    sl_rat exp;
} factor;

typedef struct term {
    sl_rat coef;
    const factor *f;
    int n;
} term;

typedef struct poly {
    term *t;
    int n, cap;
} poly;

/* One canonicalisation. Terms and factors made so far are counted: expansion is bounded by work and
 * memory, not only by the size of the result. */
typedef struct work {
    sl_arena *a;
    int terms, factors;
} work;

#define WORK_MAX_TERMS (8 * SL_EXPR_MAX)
#define WORK_MAX_FACTORS (64 * SL_EXPR_MAX)

/* Reading canonical nodes. */
SL_NODISCARD sl_status sl_expr__poly_read(poly *p, work *w, const sl_node *canonical);
SL_NODISCARD sl_status sl_expr__poly_read_term(term *t, work *w, const sl_node *canonical);

SL_NODISCARD sl_status sl_expr__poly_push(poly *p, work *w, term t); // unsorted append
SL_NODISCARD sl_status sl_expr__poly_collect(poly *p); // sort, add like terms, drop zeros
SL_NODISCARD sl_status sl_expr__poly_scale(poly *p, work *w, sl_rat by);
/* The canonical node of a collected sum. */
SL_NODISCARD sl_status sl_expr__poly_node(const sl_node **out, work *w, const poly *p);
SL_NODISCARD sl_status sl_expr__poly_product_node(const sl_node **out, work *w, sl_rat coef,
                                             const factor *f, int n);

/* out += a*b, terms unsorted; canon.c's sl_expr__canon_product is asked where merging factors is not
 * enough. */
SL_NODISCARD sl_status sl_expr__poly_mul(poly *out, work *w, const poly *a, const poly *b);

/* Equal bases of this kind just add exponents; the others may turn into something else. */
static inline bool sl_expr__canon_is_plain(const sl_node *base) {
    return base->op == SL_OP_VAR || base->op == SL_OP_PAR || base->op == SL_OP_SIN ||
           (base->op >= SL_OP_COS && base->op <= SL_OP_PI);
}

/* A product as it is gathered: any canonical base to any exponent. */
typedef struct entry {
    const sl_node *base;
    sl_rat exp;
    bool primitive; // an ADD without content and with a positive first coefficient
} entry;

/* out += coef * the product of the entries, expanded, terms unsorted. */
SL_NODISCARD sl_status sl_expr__canon_product(poly *out, work *w, sl_rat coef, const entry *list,
                                              int n);

/* out += exp(argument), or what its logarithms make of it. */
SL_NODISCARD sl_status sl_expr__canon_exp(poly *out, work *w, const sl_node *argument);
/* out += op(argument), the argument canonical. */
SL_NODISCARD sl_status sl_expr__canon_function(poly *out, work *w, sl_op op,
                                               const sl_node *argument);

/* p := room for n things in the arena; returns SL_ENOMEM from the calling function without. */
#define SL_CANON_NEW(p, w, n)                                                       \
    do {                                                                            \
        size_t count_ = (size_t)SL_MAX((n), 1);                                     \
        (p) = sl_arena_alloc((w)->a, count_ * sizeof *(p));                         \
        if (!(p)) return sl_fail_memory(count_, sizeof *(p), "algebra");            \
    } while (0)

/* Makes room for one more in a list p of n that has room for cap. */
#define SL_CANON_GROW(p, n, cap, w)                                                 \
    do {                                                                            \
        if ((n) < (cap)) break;                                                     \
        void *old_ = (p);                                                           \
        (cap) = SL_MAX(8, 2 * (cap));                                               \
        SL_CANON_NEW(p, w, cap);                                                    \
        if (n) memcpy((p), old_, (size_t)(n) * sizeof *(p));                        \
    } while (0)

static inline sl_status sl_expr__canon_overflow(void) {
    return sl_fail(SL_EOVERFLOW, "an exact number passes 64 bits");
}

#endif

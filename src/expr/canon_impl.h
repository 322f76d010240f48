/* Sums of terms, the form in which canonical algebra is done; shared by poly.c and canon*.c.
 *
 *     3*x1^2*exp(x2) - sqrt(x1 + 1)      two terms: coef 3,  factors (x1, 2) (exp(x2), 1)
 *                                                   coef -1, factors (x1 + 1, 1/2)
 *
 * Factors are sorted by base and have distinct bases; a base is a canonical node of one of these
 * kinds:
 *
 *     NUM     an integer > 1 without a known square factor, exponent in (0, 1)
 *     PI VAR PAR, functions except EXP; ABS is not canonical, |u| is sqrt(u^2)
 *     EXP     exponent 1, and at most one in a term: exp(a)*exp(b) is exp(a+b)
 *     ADD     exponent negative, or in (0, 1): positive integer powers are multiplied out
 *     MUL     a product that has no real root factor by factor: sqrt(x1*x2), sqrt(-x1); exponent
 *             fractional, < 1
 *     POW     u^2, for |u| as sqrt(u^2); exponent fractional, < 1
 *     RAISE   exponent 1, at most one for a base u, and not beside a power of u */
#ifndef SL_CANON_IMPL_H
#define SL_CANON_IMPL_H

#include "expr/expr_impl.h"

typedef struct sl_factor {
    const sl_node *base;
    sl_rat exp;
} sl_factor;

typedef struct sl_poly_term {
    sl_rat coef;
    const sl_factor *f;
    int n;
} sl_poly_term;

typedef struct sl_poly {
    sl_poly_term *t;
    int n, cap;
} sl_poly;

/* One canonicalisation. Terms and factors made so far are counted: expansion is bounded by work and
 * memory, not only by the size of the result. */
typedef struct sl_canon_work {
    sl_arena *a;
    int terms, factors;
} sl_canon_work;

#define SL_CANON_MAX_TERMS (8 * SL_EXPR_MAX)
#define SL_CANON_MAX_FACTORS (64 * SL_EXPR_MAX)

/* Reading canonical nodes. */
SL_NODISCARD sl_status sl_expr__poly_read(sl_poly *p, sl_canon_work *w, const sl_node *canonical);
SL_NODISCARD sl_status sl_expr__poly_read_term(sl_poly_term *t, sl_canon_work *w,
                                               const sl_node *canonical);

SL_NODISCARD sl_status sl_expr__poly_push(sl_poly *p, sl_canon_work *w,
                                          sl_poly_term t); // unsorted append
SL_NODISCARD sl_status sl_expr__poly_collect(sl_poly *p); // sort, add like terms, drop zeros
SL_NODISCARD sl_status sl_expr__poly_scale(sl_poly *p, sl_canon_work *w, sl_rat by);
/* The canonical node of a collected sum. */
SL_NODISCARD sl_status sl_expr__poly_node(const sl_node **out, sl_canon_work *w, const sl_poly *p);
SL_NODISCARD sl_status sl_expr__poly_product_node(const sl_node **out, sl_canon_work *w,
                                                  sl_rat coef, const sl_factor *f, int n);

/* out += a*b, terms unsorted; by sl_expr__canon_product where merging factors is not enough. */
SL_NODISCARD sl_status sl_expr__poly_mul(sl_poly *out, sl_canon_work *w, const sl_poly *a,
                                         const sl_poly *b);

/* Powers of such a base multiply by adding exponents; those of other bases may need rewriting. */
static inline bool sl_expr__canon_is_plain(const sl_node *base) {
    return base->op == SL_OP_VAR || base->op == SL_OP_PAR || base->op == SL_OP_SIN ||
           (base->op >= SL_OP_COS && base->op <= SL_OP_PI);
}

/* A product as it is gathered: any canonical base to any exponent. */
typedef struct sl_canon_entry {
    const sl_node *base;
    sl_rat exp;
    bool primitive; // an ADD without content and with a positive first coefficient
} sl_canon_entry;

/* out += coef * the product of the entries, expanded, terms unsorted. */
SL_NODISCARD sl_status sl_expr__canon_product(sl_poly *out, sl_canon_work *w, sl_rat coef,
                                              const sl_canon_entry *list, int n);

/* out += exp(argument), simplified where the argument has logarithms. */
SL_NODISCARD sl_status sl_expr__canon_exp(sl_poly *out, sl_canon_work *w, const sl_node *argument);
/* out += op(argument), the argument canonical. */
SL_NODISCARD sl_status sl_expr__canon_function(sl_poly *out, sl_canon_work *w, sl_op op,
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

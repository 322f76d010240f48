/* The search under noise, inside src/search only: models y = scale m(eta) whose eta is linear in
 * known columns, their fit in the space of y, and the choice of simple coefficients. */
#ifndef SL_NOISE_IMPL_H
#define SL_NOISE_IMPL_H

#include "search/noise_kernels.h"
#include "search/search_impl.h"

#define SL_NOISE__COLUMNS 64 // of one model: the span's and the terms'
#define SL_NOISE__TERMS 3    // of the store in one model
#define SL_NOISE__EVIDENCE 10 // bits that a formula needs: once in a thousand tables of pure noise

/* ---------------------------------------------------------------- models -------------------- */

/* y = scale m(eta). A product has eta = log|y| over columns 1, log|x|, log|f|; a sum has eta =
 * T(y).   id   m(eta)   name */
#define SL_NOISE__LINKS(X)                        \
    X(IDENTITY,       "y")                        \
    X(LOG,            "log y")                    \
    X(INVERSE,        "1/y")                      \
    X(SQUARE,         "y^2")                      \
    X(INVERSE_SQUARE, "1/y^2")

typedef enum sl_search__noise_link {
#define X(id, name) SL_NOISE__##id,
    SL_NOISE__LINKS(X)
#undef X
    SL_NOISE__LINK_COUNT
} sl_search__noise_link;

/* The values that the coefficient of a column may take, and their prices. */
typedef enum sl_search__noise_kind {
    SL_NOISE__FACTOR,      // logarithm of a factor: free, or 0 for a factor of 1
    SL_NOISE__COEFFICIENT, // of a term of a sum: free, 1, -1, or 0 for no such term
    SL_NOISE__EXPONENT,    // rational, of small denominator; expensive otherwise
    SL_NOISE__ODD,         // of a base of both signs whose sign counts: 1, -1, 3, -3
    SL_NOISE__EVEN,        // of a base of both signs whose sign does not: 0, 2, -2
    SL_NOISE__RATE,        // factor of the argument of exp: free or rational, not 0
} sl_search__noise_kind;

typedef struct sl_search__noise_model {
    sl_search__noise_link link;
    int rows, columns;
    const double *column[SL_NOISE__COLUMNS]; // rows each
    sl_search__noise_kind kind[SL_NOISE__COLUMNS];
    double price[SL_NOISE__COLUMNS]; // bits of the column itself, paid unless its coefficient is 0
    const double *scale;                     // by row; NULL: 1
    const double *y;
    const double *weight;                    // 1/standard deviation up to a factor; NULL: 1
    double sigma;                            // of y where the weight is 1; 0: not known
    double least;                            // a sum of squares that is only rounding
} sl_search__noise_model;

typedef struct sl_search__noise_fit {
    double coefficient[SL_NOISE__COLUMNS];
    bool fixed[SL_NOISE__COLUMNS];
    double rss;   // weighted sum of squares in the space of y; infinite where there is no fit
    double bits;  // of the residuals and of the coefficients and columns
    double price; // of these the coefficients' and columns'
} sl_search__noise_fit;

/* Scratch columns of a fit. */
#define SL_NOISE__SCRATCH 4

/* Least-squares coefficients in the space of y, fixed ones unchanged: a weighted linear fit of T(y)
 * where `start`, then at most `steps` Gauss-Newton steps, each of which lowers the sum of
 * squares. */
void sl_search__noise_fit_run(sl_search__noise_fit *f, const sl_search__noise_model *m, bool start,
                              int steps, double *scratch);

/* Rounds coefficients to simple numbers, or drops their columns, while that shortens the
 * description; then fits the others again, by at most `steps` steps. */
void sl_search__noise_simplify(sl_search__noise_fit *f, const sl_search__noise_model *m, int steps,
                               double *scratch);

/* The normal equations at f: matrix[a][b] (lower half) of the columns column[0 .. n) that are not
 * fixed. */
typedef struct sl_search__noise_equations {
    int n;
    int column[SL_NOISE__COLUMNS];
    double matrix[SL_NOISE__COLUMNS][SL_NOISE__COLUMNS];
    double right[SL_NOISE__COLUMNS];
} sl_search__noise_equations;
void sl_search__noise_equations_at(sl_search__noise_equations *e, const sl_search__noise_model *m,
                                   const sl_search__noise_fit *f, double *scratch);

/* mu[] := the model's y by row. */
void sl_search__noise_predict(double *mu, const sl_search__noise_model *m,
                              const sl_search__noise_fit *f);

/* Bits of residuals of this weighted sum of squares: by chi-square if sigma is known. */
double sl_search__noise_residual_bits(const sl_search__noise_model *m, double rss);

/* Bits of a coefficient of this kind at this value. error: its standard error where it was
 * fitted; 0: it is exact. */
double sl_search__noise_price(sl_search__noise_kind kind, double value, double error, int rows);

/* ---------------------------------------------------------------- spans --------------------- */

extern const sl_search__method sl_search__noise;

#define SL_NOISE__PROBES 64 // rows that terms are compared at
#define SL_NOISE__DIMS 48   // of the complement of a span there, at most

/* A family of models: its link, and the columns that every model of it may have. A product has 1
 * and log|x_i|, a sum monomials of low degree. Terms are compared outside the span of these. */
typedef struct sl_search__noise_span {
    const sl_search__noise_kernels *kernels;
    sl_side side;
    sl_search__noise_link link;
    int degree;
    int base;                                       // columns
    const double *column[SL_NOISE__COLUMNS];        // in all rows
    int8_t power[SL_NOISE__COLUMNS][SL_DATA_MAX_INPUTS]; // of x_i in column c, in sums
    int variable[SL_NOISE__COLUMNS];                // of a product's column c: log|x_v|; -1: 1
    int probes, stride, dims;
    double *projector;                              // dims x stride; weights are in it
    double weight[SL_NOISE__PROBES];
    float target[SL_NOISE__DIMS];                   // of T(y), unit length
    double target_square;                           // its squared length before
} sl_search__noise_span;

/* Over the first rows of the job; columns and projector in the arena. dims is 0 where too few
 * rows are left, or y is inside the span. */
SL_NODISCARD sl_status sl_search__noise_span_make(sl_search__noise_span *out, sl_arena *a,
                                                  const sl_search__job *j, const double *weight,
                                                  sl_side side, sl_search__noise_link link,
                                                  int degree, int stride);
/* How many columns it would have. */
int sl_search__noise_span_base(const sl_search__job *j, sl_side side, int degree);

/* q[0 .. dims) := the projection of values at the probes, scaled to unit length; false where it is
 * 0. */
bool sl_search__noise_project(float *q, const sl_search__noise_span *s, const double *value);

/* ---------------------------------------------------------------- terms and candidates ------ */

/* The first terms of a side of the store: their values at the probes, logarithms on the product
 * side. */
typedef struct sl_search__noise_terms {
    int n, room, stride;
    sl_store_term *term;
    float *cost;
    double *value;   // stride each
    int *order;      // by cost
    int level;       // of the store that comes next
} sl_search__noise_terms;

/* Terms of a side, whole levels of the store until there are `want`; further calls with a larger
 * want go on where the last one ended. Terms that are not finite at a probe are left out. */
SL_NODISCARD sl_status sl_search__noise_terms_gather(sl_search__noise_terms *t, sl_search__job *j,
                                                     sl_store *s, sl_side side, int want);
void sl_search__noise_terms_clear(sl_search__noise_terms *t, sl_search__job *j);

/* A model to be fitted: terms of the store (places in sl_search__noise_terms); or a monomial z such
 * that y^p z is in the span (place in the store's list; -1: none); or a term f of products such
 * that y f^(-power/2) is in the span of a sum. The smaller score the better. */
typedef struct sl_search__noise_candidate {
    double score;
    int span, n;
    int at[SL_NOISE__TERMS]; // terms of the span's side; with a power at[0] is f, and n is 0
    int monomial;
    int power;               // of f, in halves; 0: there is none
} sl_search__noise_candidate;

/* The order of candidates: by score, then by terms, so that it is total. */
int sl_search__noise_candidate_cmp(const void *a, const void *b);

/* A list of the best `room` candidates. */
typedef struct sl_search__noise_top {
    int n, room;
    double worst; // score that a further one has to be below
    sl_search__noise_candidate *list; // a heap while it is full
} sl_search__noise_top;
void sl_search__noise_top_add(sl_search__noise_top *t, const sl_search__noise_candidate *c);
void sl_search__noise_top_finish(sl_search__noise_top *t); // sorted; nothing is added after that

/* Work of a level: terms, terms that pairs are made of, and how many of the best are kept. */
typedef struct sl_search__noise_effort {
    int terms, pair_terms, keep_one, keep_two, keep_three, triple_pairs;
    int monomials, factors; // that polynomials are multiplied by
    int offers;
} sl_search__noise_effort;

/* The best candidates of a span by projected residuals: of one, two and three terms. Appends to
 * top[0 .. 3). */
SL_NODISCARD sl_status sl_search__noise_screen(sl_search__noise_top top[SL_NOISE__TERMS],
                                               sl_search__job *j, const sl_search__noise_span *s,
                                               int span, const sl_search__noise_terms *t,
                                               const sl_search__noise_effort *e);

/* ---------------------------------------------------------------- fits in all rows ---------- */

#define SL_NOISE__SPANS 12

/* What models are made of: spans, terms and monomials, in all rows of the job. */
typedef struct sl_search__noise_parts {
    sl_search__job *j;
    sl_store *store;
    int rows;
    const double *weight; // by row; NULL: 1
    double sigma, least;  // as in sl_search__noise_model
    int spans;
    sl_search__noise_span span[SL_NOISE__SPANS];
    sl_search__noise_terms terms[2]; // by side
} sl_search__noise_parts;

/* A term that candidates use, in all rows: its value, or its logarithm on the product side. */
typedef struct sl_search__noise_column {
    int at;       // place in terms
    sl_side side;
    bool real;    // finite in all rows
    bool rate;    // logarithm of an exponential: its coefficient is a rate
    int sign;     // of the term: 1, -1, 0 for both
    double *value;
    int8_t *signs; // by row, where sign is 0
} sl_search__noise_column;

/* A fitted candidate. scale_sign: of y in front of everything; odd: bit k, the sign of base
 * variable or term k counts (variables first). */
typedef struct sl_search__noise_outcome {
    sl_search__noise_candidate candidate;
    sl_search__noise_fit fit;
    int sign;
    uint32_t odd;
} sl_search__noise_outcome;

/* out[0 .. n) := candidates fitted by `steps` steps, coefficients simplified, on all threads; those
 * that cannot be have infinite bits. */
SL_NODISCARD sl_status sl_search__noise_fit_all(sl_search__noise_outcome *out,
                                                const sl_search__noise_parts *p,
                                                const sl_search__noise_candidate *candidate, int n,
                                                int steps);

int sl_search__noise_outcome_cmp(const void *a, const void *b); // by bits

/* *out := are residuals of neighbouring rows correlated, at that significance? fitted: the
 * formula's values. */
SL_NODISCARD sl_status sl_search__noise_has_structure(bool *out, const double *r,
                                                      const double *const *x, int inputs,
                                                      const double *fitted, int n,
                                                      double probability, sl_arena *scratch);
/* *out := may a formula within the noise end the search? y of six digits and more may have been
 * computed, and the residual of a wrong formula may pass for noise. Then few constants and
 * residuals that are clearly noise are required; otherwise the search continues. */
SL_NODISCARD sl_status sl_search__noise_is_certain(bool *out, const sl_search__job *j,
                                                   const sl_search_formula *f);

/* An outcome as an expression with free constants of these values. */
SL_NODISCARD sl_status sl_search__noise_expr(const sl_node **out, double *value, int *params,
                                             sl_arena *a, const sl_search__noise_parts *p,
                                             const sl_search__noise_outcome *o);

#endif

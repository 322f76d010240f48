/* Inside the store of terms only (store*.c): forms, functions, constants, families, parts, lists.
 *
 * Four tables define it. A form defines how a value is made of one or two parts, a constant and a
 * function; evaluation and expression both read it, so they agree. A family names the lists that
 * fill a form, how many levels ahead it runs, and what it makes: terms of a side or parts of a
 * list. The rank of a function or constant is its place in its table.
 *
 * A part is a term whose values are stored. A term is one 64-bit word:
 *
 *     63        62..58  57..52    51..48    47..24      23..0
 *     exponent  form    constant  function  first part  second part */
#ifndef SL_STORE_IMPL_H
#define SL_STORE_IMPL_H

#include "search/search_impl.h"

#define SL_STORE__MAX_PARTS (1 << 24)
#define SL_STORE__CHUNK (1 << 13)       // parts whose values are one block
#define SL_STORE__MAX_EXP 30.0          // largest argument of an exp that means anything
#define SL_STORE__POWER 8               // largest exponent of a monomial, in halves
#define SL_STORE__LEVELS 40             // of parts and terms
#define SL_STORE__DECAYS_FROM 8         // level from which on there are exp(-z1) - exp(-z2)

/* ---------------------------------------------------------------- forms --------------------- */

/* one + sign * a * f(c * a^p * b^q), or a + c b.
 *    id               text               one  sign  outer  p   q   sum    function */
#define SL_STORE_FORMS(X)                                                                  \
    X(MONOMIAL,         "z",               0,   1, false,  0,  0, false, false)            \
    X(HINT,             "h",               0,   1, false,  0,  0, false, false)            \
    X(SCALED,           "c a",             0,   1, false,  1,  0, false, false)            \
    X(SUM,              "a + c b",         0,   1, false,  1,  1, true,  false)            \
    X(PRODUCT,          "c a b",           0,   1, false,  1,  1, false, false)            \
    X(QUOTIENT,         "c a/b",           0,   1, false,  1, -1, false, false)            \
    X(SQUARE,           "c a^2",           0,   1, false,  2,  0, false, false)            \
    X(SQUARE_PRODUCT,   "c a^2 b",         0,   1, false,  2,  1, false, false)            \
    X(ONE_SCALED,       "1 + c a",         1,   1, false,  1,  0, false, false)            \
    X(ONE_PRODUCT,      "1 + c a b",       1,   1, false,  1,  1, false, false)            \
    X(ONE_SUM,          "1 +- a +- b",     1,   1, false,  1,  1, true,  false)            \
    X(FUNCTION,         "f(c a)",          0,   1, false,  1,  0, false, true)             \
    X(FUNCTION_PRODUCT, "f(c a b)",        0,   1, false,  1,  1, false, true)             \
    X(TIMES,            "a f(c b)",        0,   1, true,   0,  1, false, true)             \
    X(ONE_PLUS,         "1 + a f(c b)",    1,   1, true,   0,  1, false, true)             \
    X(ONE_MINUS,        "1 - a f(c b)",    1,  -1, true,   0,  1, false, true)

typedef enum sl_store_form {
#define X(id, ...) SL_FORM_##id,
    SL_STORE_FORMS(X)
#undef X
    SL_FORM_COUNT
} sl_store_form;

typedef struct sl_search__store_form {
    const char *text;
    int one, sign;
    bool outer;     // a is a factor of the function
    int p, q;       // powers of a and b inside
    bool sum;       // of a and c b instead of the product. ONE_SUM: the constant's bits are signs
    bool function;
} sl_search__store_form;

extern const sl_search__store_form sl_search__store_forms[SL_FORM_COUNT];

/* ---------------------------------------------------------------- functions and constants --- */

#define SL_STORE__BIT(o) (UINT32_C(1) << SL_OPERATOR_##o)

/* power: of its argument alone. exponential: of arguments up to SL_STORE__MAX_EXP. even_or_odd: or
 * for positive arguments alone: then negative constants inside give no new function.
 *    id           text          power  exponential  even_or_odd  operators */
#define SL_STORE_FUNCTIONS(X)                                                                    \
    X(SIN,         "sin(u)",       false, false, true,  SL_STORE__BIT(SIN))                      \
    X(COS,         "cos(u)",       false, false, true,  SL_STORE__BIT(COS))                      \
    X(EXP,         "exp(u)",       false, true,  false, SL_STORE__BIT(EXP))                      \
    X(RECIPROCAL,  "1/u",          true,  false, true,  SL_STORE__BIT(DIV))                      \
    X(SQRT,        "sqrt(u)",      true,  false, true,  SL_STORE__BIT(SQRT))                     \
    X(LOG,         "log(u)",       false, false, true,  SL_STORE__BIT(LOG))                      \
    X(EXPM1,       "exp(u) - 1",   false, true,  false, SL_STORE__BIT(EXP) | SL_STORE__BIT(SUB)) \
    X(SQUARE,      "u^2",          true,  false, true,  SL_STORE__BIT(MUL))                      \
    X(TANH,        "tanh(u)",      false, true,  true,  SL_STORE__BIT(TANH))                     \
    X(COSH,        "cosh(u)",      false, true,  true,  SL_STORE__BIT(COSH))                     \
    X(RSQRT,       "1/sqrt(u)",    true,  false, true,  SL_STORE__BIT(SQRT) | SL_STORE__BIT(DIV))\
    X(EXPP1,       "1 + exp(u)",   false, true,  false, SL_STORE__BIT(EXP) | SL_STORE__BIT(ADD)) \
    X(RSQUARE,     "1/u^2",        true,  false, true,  SL_STORE__BIT(MUL) | SL_STORE__BIT(DIV))

typedef enum sl_search__store_function_id {
#define X(id, ...) SL_STORE__##id,
    SL_STORE_FUNCTIONS(X)
#undef X
    SL_STORE__FUNCTIONS
} sl_search__store_function_id;

typedef struct sl_search__store_function {
    const char *text;
    bool power, exponential, even_or_odd;
    uint32_t operators;
} sl_search__store_function;

extern const sl_search__store_function sl_search__store_functions[SL_STORE__FUNCTIONS];

/* num/den pi^power. */
typedef struct sl_search__store_constant {
    int16_t num, den;
    int8_t pi;
} sl_search__store_constant;

extern const sl_search__store_constant sl_search__store_constants[];
extern const int sl_search__store_n_constants; // at most 64
bool sl_search__store_constant_allowed(int i, uint32_t ops, bool summand);

/* ---------------------------------------------------------------- term words ---------------- */

static inline sl_store_term sl_search__term_make(bool exponent, sl_store_form form, unsigned choice,
                                                 uint32_t a, uint32_t b) {
    return (sl_store_term)exponent << 63 | (sl_store_term)form << 58 | (sl_store_term)choice << 48 |
           (sl_store_term)a << 24 | b;
}
static inline unsigned sl_search__term_choice(unsigned constant, unsigned function) {
    return constant << 4 | function;
}
static inline bool sl_search__term_exponent(sl_store_term t) { return t >> 63; }
static inline sl_store_form sl_search__term_form(sl_store_term t) {
    return (sl_store_form)(t >> 58 & 31);
}
static inline unsigned sl_search__term_constant(sl_store_term t) { return t >> 52 & 63; }
static inline unsigned sl_search__term_function(sl_store_term t) { return t >> 48 & 15; }
static inline uint32_t sl_search__term_a(sl_store_term t) { return t >> 24 & 0xffffff; }
static inline uint32_t sl_search__term_b(sl_store_term t) { return t & 0xffffff; }

/* ---------------------------------------------------------------- lists --------------------- */

/* Of parts, and of choices (constants and functions) with operators that are allowed. */
typedef enum sl_search__store_list_id {
    SL_LIST_SHORT,      // monomials of a binomial: x, 1, x^2, x y
    SL_LIST_MONOMIALS,  // by degree
    SL_LIST_PURE,       // of them the pure numbers, where units are known; else the same list
    SL_LIST_HINTS,      // sub-expressions of hints
    SL_LIST_BINOMIALS,  // q1 + c q2 of short monomials
    SL_LIST_ARGUMENTS,  // what functions are taken of
    SL_LIST_FUNCTIONS,  // f(argument)
    SL_LIST_VARIABLES,  // x
    SL_LIST_SHIFTED,    // 1 +- q, of short monomials
    SL_LIST_ELEMENTARY, // f(x), and powers and logarithms of 1 +- q, by place
    SL_LIST_DECAYS,     // exp(-z)
    SL_LIST_GENERIC,    // all expressions by complexity, up to three variables
    SL_LIST_PARTS,      // number of lists of parts

    SL_LIST_ONE = SL_LIST_PARTS, // nothing to choose
    SL_LIST_SIGNS,               // of 1 +- a +- b
    SL_LIST_FACTORS,             // all constants
    SL_LIST_FACTORS_12,
    SL_LIST_FACTORS_4,
    SL_LIST_SUMMANDS,            // constants of a sum
    SL_LIST_SUMMANDS_12,
    SL_LIST_SUMMANDS_4,
    SL_LIST_SUMMANDS_WHOLE,      // of 1 + c z: |c| >= 1, because z may be 1/z
    SL_LIST_UNITS,               // 1 and -1 of a sum
    SL_LIST_OTHERS,              // all but these
    SL_LIST_OTHERS_12,
    SL_LIST_OF_MONOMIAL,         // functions of c z that are no monomials
    SL_LIST_OF_ANY,              // functions of c u
    SL_LIST_FACTOR,              // functions of c u as a factor: no power, no exponential
    SL_LIST_PLAIN,               // functions of u
    SL_LIST_ALGEBRAIC,           // of them powers and logarithms
    SL_LIST_LOGARITHM,           // of them log alone
    SL_LIST_DECAY,               // exp(-u)
    SL_LIST_MINUS,               // -1 of a sum
    SL_LIST_PAIR_FACTOR,         // of them for products of two binomials, as a factor
    SL_LIST_PAIR,                // and as a summand
    SL_LIST_COUNT
} sl_search__store_list_id;

typedef struct sl_search__store_list {
    uint32_t *id; // of parts, or choices
    float *rank;  // ascending
    float *bits;  // log2 rank
    size_t count, room;
} sl_search__store_list;

/* ---------------------------------------------------------------- families ------------------ */

/* Which pairs of places in the first and the second list. */
typedef enum sl_search__store_pairs {
    SL_PAIRS_ALL,
    SL_PAIRS_DISTINCT,
    SL_PAIRS_UP,   // second after first
    SL_PAIRS_DOWN, // second before first
    SL_PAIRS_DOWN_OR_SAME,
    SL_PAIRS_PRIMITIVE, // all, the second a binomial that SL_FIRST_PRIMITIVE would take
    SL_PAIRS_WHOLE      // all, the second one that SL_FIRST_WHOLE would take
} sl_search__store_pairs;

/* Which first parts: the terms of others equal simpler terms of another family. */
typedef enum sl_search__store_firsts {
    SL_FIRST_ANY,
    SL_FIRST_UNSCALED, // without a constant: the exponent's factor is fitted
    SL_FIRST_NO_POWER, // of a factor the exponent is fitted
    SL_FIRST_SUM,      // products of factors are several factors
    SL_FIRST_COPRIME,  // binomials without a common factor: that is the other monomial's
    SL_FIRST_WHOLE,    // binomials q1 + c q2 with |c| >= 1: the others are these times a number
    SL_FIRST_PRIMITIVE // both
} sl_search__store_firsts;

typedef struct sl_search__store_family {
    const char *text;
    int8_t of;                 // sl_side, or for parts -1 - list
    bool exponent;
    uint8_t form;
    uint8_t first, second, choices; // lists
    int8_t ahead;              // levels
    uint8_t first_level;
    uint8_t min_variables, max_variables;
    uint8_t pairs, firsts;
    bool simple;
    uint32_t operators;
} sl_search__store_family;

#define SL_STORE__OF_LIST(list) (-1 - (int)(list))

extern const sl_search__store_family sl_search__store_families[];
extern const int sl_search__store_n_families;
bool sl_search__store_family_open(const sl_store *s, const sl_search__store_family *f);

/* ---------------------------------------------------------------- the store ----------------- */

typedef struct sl_search__store_chunk {
    double *value;
    sl_store_term *term;
    sl_dimension *dimension; // NULL: units are not known
} sl_search__store_chunk;

/* Values that a list has already: keys of seven probes. */
typedef struct sl_search__store_seen {
    uint64_t *key; // 0: free
    size_t count, room;
} sl_search__store_seen;

/* Monomials in order of degree, the exponents of each in halves. */
typedef struct sl_search__store_exponents {
    int8_t (*row)[SL_STORE_MAX_VARIABLES];
    size_t count, room;
    int degree; // in halves, done
} sl_search__store_exponents;

/* Where the enumeration by complexity is. */
typedef struct sl_search__store_generic {
    size_t begin[SL_STORE__LEVELS]; // of a complexity in the list
    int complexity;                 // the present one
    int split;                      // 0: functions of the previous one; else the first operand's
    size_t i, j;
    int operation;
} sl_search__store_generic;

struct sl_store {
    sl_search__job *job;
    uint32_t ops;
    int variables, probes, stride;
    double constant[64];
    double *power; // by variable and exponent + SL_STORE__POWER, stride numbers each
    sl_search__store_chunk chunk[SL_STORE__MAX_PARTS / SL_STORE__CHUNK];
    size_t parts;
    sl_search__store_list list[SL_LIST_COUNT];
    sl_search__store_seen seen[SL_LIST_PARTS];
    sl_search__store_exponents exponents;
    size_t short_rows;    // of them the first ones, of the list SHORT
    size_t monomial_rows; // up to here they are in the list MONOMIALS
    size_t pure_rows;     // and in PURE, those that are pure numbers
    bool units;           // are known
    sl_dimension input[SL_STORE_MAX_VARIABLES];
    const sl_node **hint; // expressions of parts that hints have
    sl_search__store_generic generic;
    int level[SL_LIST_PARTS]; // that a list has been extended to; -1: none
    bool full;                // no more memory is granted
    int64_t held;             // bytes reserved
    struct sl_search__store_batch *batch;
};

static inline const double *sl_search__store_value(const sl_store *s, uint32_t part) {
    const size_t place = part % SL_STORE__CHUNK;
    return s->chunk[part / SL_STORE__CHUNK].value + place * (size_t)s->stride;
}
static inline sl_store_term sl_search__store_term(const sl_store *s, uint32_t part) {
    return s->chunk[part / SL_STORE__CHUNK].term[part % SL_STORE__CHUNK];
}

static inline const sl_dimension *sl_search__store_part_dimension(const sl_store *s,
                                                                  uint32_t part) {
    return &s->chunk[part / SL_STORE__CHUNK].dimension[part % SL_STORE__CHUNK];
}
static inline const sl_search__store_list *sl_search__store_list_of(const sl_store *s, int list) {
    return &s->list[list == SL_LIST_PURE && !s->units ? SL_LIST_MONOMIALS : list];
}

/* Units and hints of the job's options. */
void sl_search__store_open_units(sl_store *s);
SL_NODISCARD sl_status sl_search__store_open_hints(sl_store *s);
/* *d := the term's; not known without units. False: it adds unequal dimensions, or has a function
 * of one. */
bool sl_search__store_dimension(sl_dimension *d, const sl_store *s, sl_store_term t);
bool sl_search__store_is_number(const sl_dimension *d); // or not known
/* May the list hold the term, as for its dimension? */
bool sl_search__store_dimension_fits(const sl_store *s, sl_search__store_list_id list,
                                     sl_store_term t);

/* May that many more bytes be held? If not the store is full, which is no error. */
bool sl_search__store_reserve(sl_store *s, size_t bytes);

/* The term without the filters of sl_search__store_term_value, o[0..n), n a multiple of 8. False:
 * not finite, or an exponential of too large an argument. */
bool sl_search__store_evaluate(double *o, const sl_store *s, sl_store_term t, int n);
bool sl_search__store_constant_value(const double *v, int n); // are all about equal?
bool sl_search__store_all_finite(const double *v, int n);

/* Lists. */
SL_NODISCARD sl_status sl_search__store_list_add(sl_store *s, sl_search__store_list_id list,
                                                 uint32_t id, double rank);
SL_NODISCARD sl_status sl_search__store_open_choices(sl_store *s);
/* A new part with these values; *id its number. *stored false: the store is full. */
SL_NODISCARD sl_status sl_search__store_part_add(bool *stored, uint32_t *id, sl_store *s,
                                                 sl_store_term t, const double *value);

/* Exponents of monomials up to that many, or as many as there are. */
SL_NODISCARD sl_status sl_search__store_exponents_extend(sl_store *s, size_t want);
SL_NODISCARD sl_status sl_search__store_open_short(sl_store *s);
SL_NODISCARD sl_status sl_search__store_monomials_extend(sl_store *s, size_t want);
/* Pure numbers among the first `rows` monomials. */
SL_NODISCARD sl_status sl_search__store_pure_extend(sl_store *s, size_t rows);

/* Expressions by complexity up to that many. */
SL_NODISCARD sl_status sl_search__store_generic_extend(sl_store *s, size_t want);

/* Tuples of one family at one level, in fixed order. */
typedef struct sl_search__store_range {
    const sl_store *store;
    const sl_search__store_family *family;
    double low, high;    // product of ranks: above low, up to high
    size_t i, j, k;      // the next tuple
    size_t k_begin;      // least k of the last pair
    bool in_i, in_j;     // j and k are set for this i; k is for this j
    bool by_choice;      // the dimension depends on the choice, not on the pair alone
} sl_search__store_range;

/* False: the family has nothing at this level. */
bool sl_search__store_range_begin(sl_search__store_range *r, const sl_store *s,
                                  const sl_search__store_family *f, int level);
int sl_search__store_range_next(sl_store_term *out, float *cost, int room,
                                sl_search__store_range *r);

/* Candidates of a list, in batches: evaluated on all threads, then kept in their order if their
 * values are new. `rank`: of those kept; 0: by place. */
typedef struct sl_search__store_batch sl_search__store_batch;
SL_NODISCARD sl_status sl_search__store_batch_new(sl_search__store_batch **out, sl_store *s);
void sl_search__store_batch_free(sl_search__store_batch *b);
sl_store_term *sl_search__store_batch_room(sl_search__store_batch *b); // for SL_STORE_BATCH terms
SL_NODISCARD sl_status sl_search__store_batch_keep(sl_store *s, int n,
                                                   sl_search__store_list_id list, double rank);

#endif

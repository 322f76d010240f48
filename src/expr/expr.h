/* expr - symbolic expressions as flat prefix arrays.
 *
 * An expression is one run of 8-byte nodes in prefix order. Each node carries the size of its own
 * subtree, so the first operand sits at e + 1 and the operand after c sits at c + c->len:
 *
 *     x1*sin(x2) + x1       ADD   MUL   VAR   SIN   VAR   VAR
 *     len                    6     4     1     2     1     1
 *     arg                    2     2    (x)1   1   (x)2  (x)1       operands, or variable number
 *
 * The kinds of node are numbers, pi, variables, free constants, n-ary sums and products, powers
 * with a rational exponent, powers with any other exponent, and functions of one operand. Other
 * operators (-, /, neg, sqrt) are surface syntax: x1 - x2/x1 is held as x1 + (-1)*x2*x1^(-1),
 * sqrt(u) as u^(1/2), and e as exp(1).
 *
 * Numbers are exact rationals. Small ones (-128..127 over 1..255) live in `arg`; larger ones take
 * two further slots behind the node (len 3) that hold numerator and denominator. A number that fits
 * the small form always uses it, so equal numbers are equal bytes.
 *
 *     -7/3   NUM arg = pack(-7, 3) len 1          10^9   NUM arg = 0 len 3 | int64 10^9 | int64 1
 *
 * Flat because copying is memcpy, equality is memcmp, hashing is one pass, and a cache on disk
 * holds the same bytes. The price is that replacing a subtree rebuilds the array; with at most
 * SL_EXPR_MAX nodes that costs less than chasing pointers would.
 *
 * Four levels of tidiness:
 *
 *   raw         any well-formed tree, as the enumeration or a random generator builds it
 *   tidy        nested sums and products lifted, numbers merged, operands sorted (sl_expr_tidy).
 *               Every parser returns it
 *   merged      tidy, and numbers gathered without multiplying out (sl_expr_merge): what inserting
 *               constants into an expression needs
 *   canonical   tidy, expanded and rewritten to a fixed point (sl_expr_canon): one form for one
 *               function as far as the rules of docs/math/canonical.md reach
 *
 * Meaning: real arithmetic. u^(p/q) with q > 1 needs u >= 0, a negative power needs u != 0; u^v
 * with a v that is no number needs u > 0, or u = 0 and v > 0; log u needs u > 0, asin u and acos u
 * need -1 <= u <= 1; elsewhere the value is NaN, and NaN propagates. A function with an empty
 * domain has the canonical form 1/0.
 *
 * Ownership: a `const sl_node *` lives in the arena that built it; nothing frees one expression.
 * Threads: no shared state. Give every thread its own arena. */
#ifndef SL_EXPR_H
#define SL_EXPR_H

#include "base/base.h"

#define SL_EXPR_MAX 16384     // node slots of one expression
#define SL_EXPR_MAX_DEPTH 200 // nesting that parsers accept: recursion over a tree stays bounded
#define SL_EXPR_MAX_VARS 64   // highest variable number
#define SL_EXPR_SET_VARS 3    // that expressions of the universe and of the model may have

/* The nodes. Evaluator, printers and rules all expand this table.
 *    id    name      operands (-1: two or more)   commutes */
#define SL_NODES(X)                     \
    X(NUM, "number",   0, false)        \
    X(VAR, "variable", 0, false)        \
    X(PAR, "constant", 0, false)        \
    X(ADD, "sum",     -1, true)         \
    X(MUL, "product", -1, true)         \
    X(POW, "power",    2, false)        \
    X(EXP, "exp",      1, false)        \
    X(SIN, "sin",      1, false)        \
    X(COS, "cos",      1, false)        \
    X(LOG, "log",      1, false)        \
    X(TAN, "tan",      1, false)        \
    X(TANH, "tanh",    1, false)        \
    X(SINH, "sinh",    1, false)        \
    X(COSH, "cosh",    1, false)        \
    X(ASIN, "asin",    1, false)        \
    X(ACOS, "acos",    1, false)        \
    X(ATAN, "atan",    1, false)        \
    X(ABS, "abs",      1, false)        \
    X(PI, "pi",        0, false)        \
    X(RAISE, "raise",  2, false) /* u^v, v no number; POW has those */

typedef enum sl_op {
#define X(id, name, operands, commutes) SL_OP_##id,
    SL_NODES(X)
#undef X
    SL_OP_COUNT
} sl_op;

/* The operators of the surface syntax and of the universe; sl_expr_apply lowers each to nodes. The
 * order is the raw order of the enumeration and part of its definition.
 *    id    text   operands */
#define SL_OPERATORS(X)     \
    X(EXP,  "exp",  1)      \
    X(SIN,  "sin",  1)      \
    X(NEG,  "neg",  1)      \
    X(SQRT, "sqrt", 1)      \
    X(ADD,  "+",    2)      \
    X(SUB,  "-",    2)      \
    X(MUL,  "*",    2)      \
    X(DIV,  "/",    2)      \
    X(LOG,  "log",  1)      \
    X(COS,  "cos",  1)      \
    X(TAN,  "tan",  1)      \
    X(TANH, "tanh", 1)      \
    X(SINH, "sinh", 1)      \
    X(COSH, "cosh", 1)      \
    X(ASIN, "asin", 1)      \
    X(ACOS, "acos", 1)      \
    X(ATAN, "atan", 1)      \
    X(ABS,  "abs",  1)      \
    X(POW,  "^",    2)

typedef enum sl_operator {
#define X(id, text, operands) SL_OPERATOR_##id,
    SL_OPERATORS(X)
#undef X
    SL_OPERATOR_COUNT
} sl_operator;

/* Functions of one operand: a node and an operator of that id.   id   name in <math.h> */
#define SL_EXPR_FUNCTIONS(X)                                                                       \
    X(EXP, exp) X(SIN, sin) X(COS, cos) X(LOG, log) X(TAN, tan) X(TANH, tanh) X(SINH, sinh)        \
    X(COSH, cosh) X(ASIN, asin) X(ACOS, acos) X(ATAN, atan) X(ABS, fabs)

/* Sets of operators: bit i stands for row i. The first eight rows are those that the default
 * universe combines, and so a part of what its hash is of. */
#define SL_EXPR_FIRST_OPERATORS ((1u << (SL_OPERATOR_DIV + 1)) - 1)
#define SL_EXPR_ALL_OPERATORS ((1u << SL_OPERATOR_COUNT) - 1)

const char *sl_expr_operator_text(sl_operator o);
int sl_expr_operator_operands(sl_operator o);
/* The operator called `text` (n bytes), or SL_OPERATOR_COUNT. */
sl_operator sl_expr_operator_find(const char *text, size_t n);

typedef struct sl_node {
    uint8_t op;   // sl_op
    uint8_t zero; // always 0, so that equal trees are equal bytes
    uint16_t arg; // operands; number of VAR, PAR (from 1); packed NUM; 0 of PI
    uint32_t len; // slots of the subtree, this one included
} sl_node;

/* ---------------------------------------------------------------- exact numbers ------------- */

/* num/den in lowest terms, den > 0. Operations answer false instead of wrapping; *out may be an
 * operand and is unchanged on false. */
typedef struct sl_rat { int64_t num, den; } sl_rat;

#define SL_RAT(n) ((sl_rat){ (n), 1 })
bool sl_expr_rat_make(sl_rat *out, int64_t num,
                      int64_t den); // false: den = 0, or not representable
bool sl_expr_rat_add(sl_rat *out, sl_rat a, sl_rat b);
bool sl_expr_rat_mul(sl_rat *out, sl_rat a, sl_rat b);
bool sl_expr_rat_pow(sl_rat *out, sl_rat a, int64_t n); // 0^negative is false
int sl_expr_rat_cmp(sl_rat a, sl_rat b);                // -1, 0, 1
double sl_expr_rat_double(sl_rat a);                    // nearest double up to one rounding
static inline bool sl_expr_rat_is_int(sl_rat a) { return a.den == 1; }
static inline bool sl_expr_rat_is(sl_rat a, int64_t n) { return a.den == 1 && a.num == n; }

/* ---------------------------------------------------------------- structure ----------------- */

sl_rat sl_expr_num_value(const sl_node *e); // of a NUM node
/* Writes a NUM node at w, where 3 slots are free; returns the place behind it. */
sl_node *sl_expr_num_put(sl_node *w, sl_rat v);
static inline bool sl_expr_num_is(const sl_node *e, int64_t n) {
    return e->op == SL_OP_NUM && sl_expr_rat_is(sl_expr_num_value(e), n);
}

static inline const sl_node *sl_expr_next(const sl_node *operand) { return operand + operand->len; }
/* Slots from a node to the next in prefix order, its first operand if it has any: for a walk over
 * all nodes. What is behind a large number are its digits. */
static inline uint32_t sl_expr_step(const sl_node *e) { return e->op == SL_OP_NUM ? e->len : 1; }
static inline bool sl_expr_equal(const sl_node *a, const sl_node *b); // same bytes
/* Total order on structure; 0 means the same bytes. Unequal ones may be the same function:
 * sl_expr_same decides that, or returns SL_UNKNOWN. */
int sl_expr_cmp(const sl_node *a, const sl_node *b);
int sl_expr_nodes(const sl_node *e);     // nodes; a number counts as one
int sl_expr_max_var(const sl_node *e);   // highest variable number, 0 if none
int sl_expr_max_par(const sl_node *e);
uint64_t sl_expr_variables(const sl_node *e); // bit v: x(v+1) is in it
uint64_t sl_expr_hash(const sl_node *e); // of the bytes

/* Is this run of n slots a well-formed expression? For bytes that come from outside. */
bool sl_expr_valid(const sl_node *e, size_t n);

/* Builders: raw trees in an arena. NULL when it has no memory or SL_EXPR_MAX is passed. */
const sl_node *sl_expr_num(sl_arena *a, sl_rat value);
const sl_node *sl_expr_int(sl_arena *a, int64_t value);
const sl_node *sl_expr_var(sl_arena *a, int number);
const sl_node *sl_expr_par(sl_arena *a, int number);
const sl_node *sl_expr_nary(sl_arena *a, sl_op op, const sl_node *const *operands,
                            int n); // ADD, MUL
const sl_node *sl_expr_pow(sl_arena *a, const sl_node *base, sl_rat exponent);
const sl_node *sl_expr_fn(sl_arena *a, sl_op op, const sl_node *operand); // EXP .. ABS
const sl_node *sl_expr_pi(sl_arena *a);
/* base^exponent for any exponent; a number makes the POW that sl_expr_pow would. */
const sl_node *sl_expr_power(sl_arena *a, const sl_node *base, const sl_node *exponent);
/* Is this a node of a function of one operand? */
bool sl_expr_is_fn(sl_op op);
const sl_node *sl_expr_copy(sl_arena *a, const sl_node *e);
/* An operator of the surface on one or two operands (q ignored for one). */
const sl_node *sl_expr_apply(sl_arena *a, sl_operator o, const sl_node *p, const sl_node *q);

/* ---------------------------------------------------------------- normal forms -------------- */

/* *out := e with nested sums and products lifted, numbers merged (also 0*u = 0, 1*u = u, u^1 = u,
 * u^0 = 1, and exact powers of numbers; 1/0 where such a u holds 1/0 or sqrt(-1)), operands sorted.
 * No distribution, no like terms collected, no function rules. Idempotent. SL_EOVERFLOW when merged
 * numbers pass 64 bits. */
SL_NODISCARD sl_status sl_expr_tidy(const sl_node **out, sl_arena *a, const sl_node *e);

/* *out := tidy(e) with numbers merged further, as long as nothing is multiplied out: they leave
 * integer powers, (3u)^2 = 9u^2, and, as far as they have integer roots, fractional powers,
 * sqrt(12u) = 2 sqrt(3u); a number is multiplied into a sum that it alone multiplies, 2(u + 3) = 2u
 * + 6; and odd and even functions lose the sign of an argument whose first term is negative.
 * Idempotent, also under sl_expr_tidy. */
SL_NODISCARD sl_status sl_expr_merge(const sl_node **out, sl_arena *a, const sl_node *e);

/* Two of its rules, for what foretells its results. (c u)^exponent = *out (*stays u)^exponent: *out
 * is the largest number that small primes give; false past 64 bits. Is the first term of a tidy e
 * negative? */
bool sl_expr_merge_root(sl_rat *out, sl_rat *stays, sl_rat c, sl_rat exponent);
bool sl_expr_leads_negative(const sl_node *e);

/* *out := the canonical form of e, built in `a`. On failure *out and the arena are unchanged.
 * SL_ELIMIT: expansion passes SL_EXPR_MAX slots; SL_EOVERFLOW: an exact number passes 64 bits. */
SL_NODISCARD sl_status sl_expr_canon(const sl_node **out, sl_arena *a, const sl_node *e);

/* The canonical form of `p o q` where p and q are canonical already: the same bytes as
 * sl_expr_canon of sl_expr_apply, without processing the operands again. Used by the enumeration of
 * the universe. */
SL_NODISCARD sl_status sl_expr_canon_apply(const sl_node **out, sl_arena *a, sl_operator o,
                                           const sl_node *p, const sl_node *q);

/* Is e 1/0, the canonical form of an empty domain? */
bool sl_expr_is_undefined(const sl_node *e);
/* Has a tidy expression an undefined number in it, such as 0 to a negative power, a negative number
 * to a fractional one, or log(0)? Then its domain is empty. */
bool sl_expr_has_undefined(const sl_node *e);

/* Do a and b agree wherever both are real? SL_NO is proved by a probe where they differ by more
 * than their error bounds, SL_YES by equal canonical forms; agreement at every probe alone is only
 * SL_UNKNOWN, as are forms that pass a limit. SL_ENOMEM is the only failure. */
SL_NODISCARD sl_status sl_expr_same(sl_truth *out, sl_arena *scratch, const sl_node *a,
                                    const sl_node *b);

/* ---------------------------------------------------------------- text ---------------------- */

/* Formats.            id      name       reads back with */
#define SL_FORMATS(X)              \
    X(INFIX,  "infix",  INFIX)     \
    X(PYTHON, "python", INFIX)     \
    X(SYMPY,  "sympy",  INFIX)     \
    X(LATEX,  "latex",  LATEX)     \
    X(MATHML, "mathml", COUNT)     \
    X(C,      "c",      INFIX)     \
    X(PREFIX, "prefix", PREFIX)    \
    X(NUMPY,  "numpy",  INFIX)     \
    X(JULIA,  "julia",  INFIX)     \
    X(EXCEL,  "excel",  COUNT)     \
    X(JSON,   "json",   COUNT)

typedef enum sl_format {
#define X(id, name, reads) SL_FORMAT_##id,
    SL_FORMATS(X)
#undef X
    SL_FORMAT_COUNT
} sl_format;

const char *sl_expr_format_name(sl_format value);
sl_format sl_expr_format_find(const char *name); // SL_FORMAT_COUNT if there is none

/* Column names: names[i] is what x(i+1) is called. `{0}` means x1, x2, ... The strings are
 * borrowed. With count > 0 only variables up to `count` exist, under either spelling; a name that
 * is no identifier, or is the name of a function, is written between backticks: `my col`; text for
 * Python, NumPy, Julia and C has x1, x2, ... in its place, text for SymPy in place of all names,
 * and text for Excel has cells, of which x1 is A2. */
typedef struct sl_names {
    const char *const *names; // NULL: plain x1..x<count>
    int count;                // 0: any variable up to SL_EXPR_MAX_VARS
} sl_names;

/* Where reading stopped and why: byte offset from 0, with line and column from 1 for people. */
typedef struct sl_text_error {
    size_t offset;
    int line, column;
    char reason[160];
} sl_text_error;

/* *out := the tidy form of `text` (n bytes, any bytes). format: INFIX reads infix, Python, SymPy
 * and C spellings; LATEX; PREFIX. names and error may be NULL. SL_EFORMAT with position and reason
 * in *error and in sl_last_error. Work and memory are bounded by SL_EXPR_MAX whatever n is. */
SL_NODISCARD sl_status sl_expr_parse(const sl_node **out, sl_arena *a, sl_format format,
                                     const char *text, size_t n, const sl_names *names,
                                     sl_text_error *error);

/* *words := the names in a text of INFIX, each once, in a: of columns, variables and constants, pi
 * and e among them, but not of functions. Ends where the text cannot be read. */
SL_NODISCARD sl_status sl_expr_infix_words(const char *const **words, int *n, sl_arena *a,
                                           const char *text, size_t length);

/* Appends e to s. Parsing it again (formats that read back) and tidying gives tidy(e). */
SL_NODISCARD sl_status sl_expr_print(sl_str *s, sl_format format, const sl_node *e,
                                     const sl_names *names);

/* The same with free constant k written as the number params[k - 1], the shortest decimal that
 * reads back; a negative one makes a minus sign as a negative number of the tree would. params must
 * be finite. Each format spells exponents its own way; PREFIX has no decimals and writes it as the
 * parser of INFIX would read it. */
SL_NODISCARD sl_status sl_expr_print_values(sl_str *s, sl_format format, const sl_node *e,
                                            const sl_names *names, const double *params);

/* ---------------------------------------------------------------- terms --------------------- */

/* What readers build expressions with, of text and of tokens. Node arrays would copy operands with
 * every operator, so a reader grows a tree of terms in an arena. Operations reuse their operands,
 * and division goes into factors: a/(b*c^2) is a * b^-1 * c^-2. A failure is noted once in the
 * builder; it makes NULL, and so does a NULL operand, so that calls nest. */
typedef struct sl_expr_term sl_expr_term;
typedef struct sl_expr_builder {
    sl_arena *arena;
    const size_t *at; // where the reader is, which a failure notes; may be NULL
    bool fold;        // numbers of a product merge as they are read, so that a failure knows where
    int made;         // terms so far: the bound on memory
    sl_status st;
    size_t where;     // of the failure
    char reason[sizeof((sl_text_error *)0)->reason];
} sl_expr_builder;

sl_expr_term *sl_expr_term_num(sl_expr_builder *build, sl_rat value);
sl_expr_term *sl_expr_term_leaf(sl_expr_builder *build, sl_op op, int number); // VAR, PAR
sl_expr_term *sl_expr_term_add(sl_expr_builder *build, sl_expr_term *a, sl_expr_term *b);
sl_expr_term *sl_expr_term_mul(sl_expr_builder *build, sl_expr_term *a, sl_expr_term *b);
sl_expr_term *sl_expr_term_div(sl_expr_builder *build, sl_expr_term *a, sl_expr_term *b);
sl_expr_term *sl_expr_term_neg(sl_expr_builder *build, sl_expr_term *a);
sl_expr_term *sl_expr_term_pow(sl_expr_builder *build, sl_expr_term *base, sl_rat exponent);
sl_expr_term *sl_expr_term_fn(sl_expr_builder *build, sl_op op, // EXP .. ABS
                              sl_expr_term *operand);
/* The exact value of a term without variables; false, without a failure, if it has none. */
bool sl_expr_term_value(sl_expr_builder *build, sl_rat *out, sl_expr_term *t);
/* *out := the tidy expression, built at `mark` of the arena, where the terms began. Failures as
 * those of sl_expr_tidy, and SL_ELIMIT past SL_EXPR_MAX; they leave the arena at `mark`. */
SL_NODISCARD sl_status sl_expr_term_end(const sl_node **out, sl_expr_builder *build, size_t mark,
                                        const sl_expr_term *t);

/* ---------------------------------------------------------------- numbers to be fitted ------ */

/* *out := e with its numbers made free constants c1, c2, ... in prefix order, *n of them, and
 * value[k] := what number k + 1 was. Rational exponents and pi stay, and so do the factors 1 and
 * -1, which are signs rather than constants; the result is not tidied, so that values belong to
 * places. Free constants that e has already keep their numbers and values, the new ones follow, and
 * *n counts both. SL_ELIMIT: more than max. */
SL_NODISCARD sl_status sl_expr_free_numbers(const sl_node **out, double *value, int *n, int max,
                                            sl_arena *a, const sl_node *e);
/* The same for those numbers that people write as decimals, for printing: 1.7*sin(2.3*x) and not
 * 17*sin(23*x/10)/10. Where one has a numerator of two digits over 10, 100, ..., all whose
 * denominator is a multiple of 5 become constants; otherwise e stays as it is: 2*m*r^2/5. */
SL_NODISCARD sl_status sl_expr_free_decimals(const sl_node **out, double *value, int *n, int max,
                                             sl_arena *a, const sl_node *e);

/* *out := tidy(e with free constant k made the number value[k - 1] wherever known[k - 1], the
 * others numbered anew from 1 in their order). One that tidying takes away, as in 0*c2, leaves its
 * number unused. */
SL_NODISCARD sl_status sl_expr_bind(const sl_node **out, sl_arena *a, const sl_node *e,
                                    const sl_rat *value, const bool *known);

/* *out := tidy(e) with exp(0), sin(0), log(1) and similar constants evaluated, which tidying
 * leaves. */
SL_NODISCARD sl_status sl_expr_fold(const sl_node **out, sl_arena *a, const sl_node *e);

/* *out := e with variable v replaced by with[v - 1] (NULL: left alone), not tidied. */
SL_NODISCARD sl_status sl_expr_substitute(const sl_node **out, sl_arena *a, const sl_node *e,
                                          const sl_node *const *with, int n);

/* ---------------------------------------------------------------- values -------------------- */

/* A compiled expression: straight-line code over blocks of points. Lives in its arena. */
typedef struct sl_program sl_program;

SL_NODISCARD sl_status sl_expr_compile(const sl_program **out, sl_arena *a, const sl_node *e);

/* y[i] = value at (x[0][i], x[1][i], ...), NaN where not real (a division by zero is NaN; overflow
 * is infinite). x[v] is the column of variable v + 1, at least sl_expr_max_var of them; params the
 * values of the free constants. scratch: its memory is rewound before return. The value of a point
 * does not depend on n nor on its place, and is the same bits on every CPU. */
SL_NODISCARD sl_status sl_expr_program_run(double *y, const sl_program *p, const double *const *x,
                                           int64_t n, const double *params, sl_arena *scratch);

/* compile and run in one. */
SL_NODISCARD sl_status sl_expr_eval(double *y, sl_arena *scratch, const sl_node *e,
                                    const double *const *x, int64_t n, const double *params);

/* op(x) of a function of one operand: the bits that sl_expr_program_run would have. */
double sl_expr_fn_value(sl_op op, double x);

/* Reference: the value in long double at one point, by plain recursion, with a bound on the error
 * of any evaluation of e's operations with unit roundoff u (0x1p-53 double, 0x1p-64 long double).
 * bound is infinite where there is none; value NaN where not real. */
void sl_expr_eval_ref(long double *value, long double *bound, const sl_node *e,
                      const long double *x, const long double *params, long double u);

/* *out := de/d(op number), tidy; op is SL_OP_PAR or SL_OP_VAR. */
SL_NODISCARD sl_status sl_expr_diff(const sl_node **out, sl_arena *a, const sl_node *e, sl_op op,
                                    int number);

/* *out := de/dx<number> for people to read: of its tidy and its canonical form the shorter one. */
SL_NODISCARD sl_status sl_expr_derivative(const sl_node **out, sl_arena *a, const sl_node *e,
                                          int number);

/* ---------------------------------------------------------------- inline parts -------------- */

#include <string.h>
static inline bool sl_expr_equal(const sl_node *a, const sl_node *b) {
    return a->len == b->len && memcmp(a, b, a->len * sizeof *a) == 0;
}

#endif

/* The tables of the store: forms, functions, constants, families.
 *
 * Ranks come from places: constant and function number i of its table has rank i + 1, and a tuple
 * costs log2 of the product of its ranks. The order of these tables is a prior over formulas: what
 * comes first is searched first. */
#include <math.h>

#include "search/store_impl.h"

const sl_search__store_form sl_search__store_forms[SL_FORM_COUNT] = {
#define X(id, text, one, sign, outer, p, q, sum, function) \
    { text, one, sign, outer, p, q, sum, function },
    SL_STORE_FORMS(X)
#undef X
};

const sl_search__store_function sl_search__store_functions[SL_STORE__FUNCTIONS] = {
#define X(id, text, power, exponential, even_or_odd, operators) \
    { text, power, exponential, even_or_odd, operators },
    SL_STORE_FUNCTIONS(X)
#undef X
};
_Static_assert(SL_STORE__FUNCTIONS <= 16, "a term has four bits for its function");
_Static_assert(SL_FORM_COUNT <= 32, "a term has five bits for its form");

/* ---------------------------------------------------------------- constants ----------------- */

const sl_search__store_constant sl_search__store_constants[] = {
    { 1, 1, 0 },   { -1, 1, 0 }, { 2, 1, 0 },   { 1, 2, 0 },  { -2, 1, 0 }, { -1, 2, 0 },
    { 1, 2, -1 },  { 2, 1, 1 },  { 3, 1, 0 },   { -3, 1, 0 }, { 1, 3, 0 },  { -1, 3, 0 },
    { 1, 1, 1 },   { 4, 1, 0 },  { -4, 1, 0 },  { 1, 4, 0 },  { -1, 4, 0 }, { -2, 1, 1 },
    { -1, 2, -1 }, { 2, 3, 0 },  { -2, 3, 0 },  { 3, 2, 0 },  { -3, 2, 0 }, { 1, 1, -1 },
    { -1, 1, 1 },  { 5, 1, 0 },  { -5, 1, 0 },  { 1, 5, 0 },  { -1, 5, 0 }, { 6, 1, 0 },
    { -6, 1, 0 },  { 1, 6, 0 },  { -1, 6, 0 },  { 7, 1, 0 },  { -7, 1, 0 }, { 8, 1, 0 },
    { -8, 1, 0 },  { 1, 8, 0 },  { -1, 8, 0 },  { 9, 1, 0 },  { -9, 1, 0 }, { 1, 10, 0 },
    { -1, 10, 0 }, { 10, 1, 0 }, { -10, 1, 0 }, { 1, 2, 1 },  { 4, 1, 1 },  { 1, 4, -1 },
    { 1, 1, 2 },   { 3, 4, 0 },  { -3, 4, 0 },  { 4, 3, 0 },  { -4, 3, 0 },
};
const int sl_search__store_n_constants = SL_LEN(sl_search__store_constants);
_Static_assert(SL_LEN(sl_search__store_constants) <= 64, "a term has six bits for its constant");

int sl_search__store_count_constants(void) { return sl_search__store_n_constants; }

double sl_search__store_get_constant(int i) {
    const sl_search__store_constant c = sl_search__store_constants[i];
    const double pi = 0x1.921fb54442d18p+1;
    double v = (double)c.num / c.den;
    for (int k = 0; k < c.pi; k++) v *= pi;
    for (int k = 0; k > c.pi; k--) v /= pi;
    return v;
}

/* Every constant but 1 and -1 multiplies; a negative one is subtracted or negated. */
bool sl_search__store_constant_allowed(int i, uint32_t ops, bool summand) {
    const sl_search__store_constant c = sl_search__store_constants[i];
    const bool unit = (c.num == 1 || c.num == -1) && c.den == 1 && c.pi == 0;
    const uint32_t minus = SL_STORE__BIT(SUB) | SL_STORE__BIT(NEG);
    if (!unit && !(ops & SL_STORE__BIT(MUL))) return false;
    if (c.pi < 0 && !(ops & SL_STORE__BIT(DIV))) return false;
    if (c.num > 0) return !summand || (ops & SL_STORE__BIT(ADD));
    if (!summand) return ops & minus;
    return (ops & SL_STORE__BIT(SUB)) || ((ops & SL_STORE__BIT(ADD)) && (ops & SL_STORE__BIT(NEG)));
}

/* ---------------------------------------------------------------- families ------------------ */

#define Q      SL_LIST_SHORT
#define Z      SL_LIST_MONOMIALS
#define P      SL_LIST_PURE
#define H      SL_LIST_HINTS
#define X      SL_LIST_VARIABLES
#define O      SL_LIST_SHIFTED
#define E      SL_LIST_ELEMENTARY
#define W      SL_LIST_BINOMIALS
#define A      SL_LIST_ARGUMENTS
#define R      SL_LIST_FUNCTIONS
#define G      SL_LIST_GENERIC
#define ONE    SL_LIST_ONE
#define C      SL_LIST_FACTORS
#define C12    SL_LIST_FACTORS_12
#define C4     SL_LIST_FACTORS_4
#define S      SL_LIST_SUMMANDS
#define S12    SL_LIST_SUMMANDS_12
#define S4     SL_LIST_SUMMANDS_4
#define UNITS  SL_LIST_UNITS
#define OF_Z   SL_LIST_OF_MONOMIAL
#define OF_ANY SL_LIST_OF_ANY
#define FACTOR SL_LIST_FACTOR
#define PLAIN  SL_LIST_PLAIN

#define ADDS SL_STORE__BIT(ADD) // whether a sum may subtract is up to its constant
#define MUL  SL_STORE__BIT(MUL)
#define DIV  SL_STORE__BIT(DIV)
#define EXP  SL_STORE__BIT(EXP)

#define PART(text, list, form, first, second, choices, ahead, low, high, pairs, ops)            \
    {                                                                                           \
        text, SL_STORE__OF_LIST(list), false, SL_FORM_##form, first, second, choices, ahead, 0, \
            low, high, SL_PAIRS_##pairs, SL_FIRST_ANY, false, ops                               \
    }
#define TERM(text, side, form, first, second, choices, ahead, pairs, simple, ops) \
    SOME(text, side, form, first, ANY, second, choices, ahead, pairs, simple, ops)
#define SOME(text, side, form, first, firsts, second, choices, ahead, pairs, simple, ops)      \
    {                                                                                          \
        text, SL_SIDE_##side, false, SL_FORM_##form, first, second, choices, ahead, 0, 0, 255, \
            SL_PAIRS_##pairs, SL_FIRST_##firsts, simple, ops                                   \
    }
#define EXPO(text, form, first, second, ahead, simple, ops) \
    SOME_EXPO(text, form, first, UNSCALED, second, ahead, simple, ops)
#define SOME_EXPO(text, form, first, firsts, second, ahead, simple, ops)                   \
    {                                                                                      \
        text, SL_SIDE_PRODUCT, true, SL_FORM_##form, first, second, ONE, ahead, 0, 0, 255, \
            SL_PAIRS_ALL, SL_FIRST_##firsts, simple, (ops) | EXP                           \
    }
/* Exponents that are variables: exp(z log u). */
#define POWER(text, base, ahead)                                                                  \
    {                                                                                             \
        text, SL_SIDE_PRODUCT, true, SL_FORM_TIMES, Z, base, SL_LIST_LOGARITHM, ahead, 0, 0, 255, \
            SL_PAIRS_ALL, SL_FIRST_ANY, true, MUL | EXP | SL_STORE__BIT(LOG)                      \
    }
#define FEW(text, side, exponent, form, first, second, choices, ahead, from, pairs, ops)           \
    {                                                                                              \
        text, SL_SIDE_##side, exponent, SL_FORM_##form, first, second, choices, ahead, from, 0, 3, \
            SL_PAIRS_##pairs, SL_FIRST_ANY, false, ops                                             \
    }

/* In the order in which they are walked. w: binomial, z: monomial, r: function of an argument, g:
 * expression of the enumeration by complexity, e: function of x or of 1 +- q.
 *
 * On the product side a term f means c f^p, so powers of one part and constants in an exponent are
 * left out. On the sum side it means c f. */
const sl_search__store_family sl_search__store_families[] = {
    // parts
    PART("1 +- q", O, ONE_SCALED, Q, ONE, UNITS, 0, 0, 255, ALL, 0),
    PART("f(x)", E, FUNCTION, X, ONE, PLAIN, 0, 0, 255, ALL, 0),
    PART("f(1 +- q)", E, FUNCTION, O, ONE, SL_LIST_ALGEBRAIC, 0, 0, 255, ALL, 0),
    PART("q1 +- q2", W, SUM, Q, Q, UNITS, 0, 0, 255, UP, 0),
    PART("q1 + c q2", W, SUM, Q, Q, SL_LIST_OTHERS, 0, 0, 2, DISTINCT, MUL),
    PART("q1 + c q2", W, SUM, Q, Q, SL_LIST_OTHERS_12, 0, 3, 255, DISTINCT, MUL),
    PART("c z", A, SCALED, P, ONE, C, 0, 0, 255, ALL, 0),
    PART("c w", A, SCALED, W, ONE, C, 0, 0, 255, ALL, 0),
    PART("c w z", A, PRODUCT, W, Z, C12, -1, 0, 255, ALL, MUL),
    PART("c w^2", A, SQUARE, W, ONE, C4, -1, 0, 255, ALL, MUL),
    PART("c w^2 z", A, SQUARE_PRODUCT, W, Z, C4, -1, 0, 255, ALL, MUL),
    PART("w1 w2", A, PRODUCT, W, W, ONE, -1, 0, 255, DOWN, MUL),
    PART("z + c r", A, SUM, Z, R, S4, -3, 0, 255, ALL, 0),
    PART("z r", A, PRODUCT, Z, R, ONE, -3, 0, 255, ALL, MUL),
    PART("c r", A, SCALED, R, ONE, C4, -3, 0, 255, ALL, 0),
    PART("exp(-z)", SL_LIST_DECAYS, FUNCTION, P, ONE, SL_LIST_DECAY, 0, 0, 255, ALL, 0),
    PART("h", A, SCALED, H, ONE, ONE, 0, 0, 255, ALL, 0),
    PART("1 +- r", A, ONE_SCALED, R, ONE, UNITS, -2, 0, 255, ALL, 0),
    PART("f(a)", R, FUNCTION, A, ONE, PLAIN, 0, 0, 255, ALL, 0),
    PART("1 +- r", R, ONE_SCALED, R, ONE, UNITS, -2, 0, 255, ALL, 0),
    PART("h", R, SCALED, H, ONE, ONE, 0, 0, 255, ALL, 0),

    // products
    EXPO("exp(z)", SCALED, Z, ONE, 7, true, 0),
    TERM("h", PRODUCT, SCALED, H, ONE, ONE, 7, ALL, true, 0),
    EXPO("exp(h)", SCALED, H, ONE, 5, true, 0),
    TERM("1 + c z", PRODUCT, ONE_SCALED, P, ONE, SL_LIST_SUMMANDS_WHOLE, 6, ALL, true, 0),
    TERM("f(c z)", PRODUCT, FUNCTION, P, ONE, FACTOR, 6, ALL, true, 0),
    TERM("w", PRODUCT, SCALED, W, ONE, ONE, 3, ALL, true, 0),
    EXPO("exp(w)", SCALED, W, ONE, 4, true, 0),
    SOME("f(c w)", PRODUCT, FUNCTION, W, WHOLE, ONE, FACTOR, 4, ALL, true, 0),
    POWER("x^z", X, 6),
    POWER("w^z", W, 5),
    SOME_EXPO("exp(w z)", PRODUCT, W, PRIMITIVE, Z, 3, false, MUL),
    SOME_EXPO("exp(w^2 z)", SQUARE_PRODUCT, W, PRIMITIVE, Z, 3, false, MUL),
    SOME("f(c w z)", PRODUCT, FUNCTION_PRODUCT, W, COPRIME, Z, FACTOR, 2, ALL, false, MUL),
    TERM("f(c z e)", PRODUCT, FUNCTION_PRODUCT, E, Z, FACTOR, 3, ALL, false, MUL),
    TERM("1 + z1 f(c z2)", PRODUCT, ONE_PLUS, P, P, OF_Z, 1, ALL, false, MUL | ADDS),
    TERM("1 - z1 f(c z2)", PRODUCT, ONE_MINUS, P, P, OF_Z, 1, ALL, false, MUL | SL_STORE__BIT(SUB)),
    TERM("1 + z f(c w)", PRODUCT, ONE_PLUS, Z, W, OF_ANY, 1, ALL, false, MUL | ADDS),
    TERM("1 - z f(c w)", PRODUCT, ONE_MINUS, Z, W, OF_ANY, 1, ALL, false, MUL | SL_STORE__BIT(SUB)),
    TERM("1 +- z1 +- z2", PRODUCT, ONE_SUM, P, P, SL_LIST_SIGNS, 2, DOWN, false, 0),
    FEW("f(w1 w2)", PRODUCT, false, FUNCTION_PRODUCT, W, W, SL_LIST_PAIR_FACTOR, 3, 0, DOWN_OR_SAME,
        MUL),
    FEW("exp(w1 w2)", PRODUCT, true, PRODUCT, W, W, ONE, 2, 0, DOWN_OR_SAME, MUL | EXP),
    SOME("r", PRODUCT, SCALED, R, NO_POWER, ONE, ONE, 0, ALL, false, 0),
    SOME("a", PRODUCT, SCALED, A, SUM, ONE, ONE, 0, ALL, false, 0),
    EXPO("exp(a)", SCALED, A, ONE, 0, false, 0),
    TERM("1 + c r", PRODUCT, ONE_SCALED, R, ONE, S, 0, ALL, false, 0),
    TERM("1 + c z r", PRODUCT, ONE_PRODUCT, Z, R, S, -1, ALL, false, MUL),
    EXPO("exp(z r)", PRODUCT, Z, R, -1, false, MUL),
    EXPO("exp(r)", SCALED, R, ONE, -1, false, 0),
    TERM("r1 + c r2", PRODUCT, SUM, R, R, S12, -2, DISTINCT, false, 0),
    TERM("w + c r", PRODUCT, SUM, W, R, S12, -2, ALL, false, 0),
    TERM("1 + c r1 r2", PRODUCT, ONE_PRODUCT, R, R, S12, -2, DOWN_OR_SAME, false, MUL),
    { "exp(-z1) - exp(-z2)", SL_SIDE_PRODUCT, false, SL_FORM_SUM, SL_LIST_DECAYS, SL_LIST_DECAYS,
      SL_LIST_MINUS, 5, SL_STORE__DECAYS_FROM, 0, 255, SL_PAIRS_DOWN, SL_FIRST_ANY, false, 0 },
    FEW("g", PRODUCT, false, SCALED, G, ONE, ONE, 5, 3, ALL, 0),
    FEW("exp(g)", PRODUCT, true, SCALED, G, ONE, ONE, 5, 3, ALL, EXP),
    FEW("f(g)", PRODUCT, false, FUNCTION, G, ONE, SL_LIST_PAIR_FACTOR, 5, 3, ALL, 0),
    FEW("g1 +- g2", PRODUCT, false, SUM, G, G, UNITS, 1, 3, DOWN, 0),

    // sums
    TERM("z", SUM, SCALED, Z, ONE, ONE, 7, ALL, true, 0),
    TERM("h", SUM, SCALED, H, ONE, ONE, 7, ALL, true, 0),
    TERM("f(c z)", SUM, FUNCTION, P, ONE, OF_Z, 5, ALL, true, 0),
    SOME("f(c w)", SUM, FUNCTION, W, WHOLE, ONE, OF_ANY, 4, ALL, true, 0),
    TERM("z1 f(c z2)", SUM, TIMES, Z, P, OF_Z, 2, ALL, false, MUL),
    TERM("z f(c w)", SUM, TIMES, Z, W, OF_ANY, 2, WHOLE, false, MUL),
    TERM("z/w", SUM, QUOTIENT, Z, W, ONE, 5, PRIMITIVE, false, DIV),
    SOME("f(c w z)", SUM, FUNCTION_PRODUCT, W, COPRIME, Z, OF_ANY, 1, ALL, false, MUL),
    TERM("f(c z e)", SUM, FUNCTION_PRODUCT, E, Z, OF_Z, 3, ALL, false, MUL),
    TERM("z h", SUM, PRODUCT, Z, H, ONE, 4, ALL, false, MUL),
    FEW("f(w1 w2)", SUM, false, FUNCTION_PRODUCT, W, W, SL_LIST_PAIR, 4, 0, DOWN_OR_SAME, MUL),
    TERM("r", SUM, SCALED, R, ONE, ONE, 0, ALL, false, 0),
    TERM("z r", SUM, PRODUCT, Z, R, ONE, -1, ALL, false, MUL),
    TERM("r1 r2", SUM, PRODUCT, R, R, ONE, -2, DOWN_OR_SAME, false, MUL),
    TERM("r1/r2", SUM, QUOTIENT, R, R, ONE, -2, DISTINCT, false, DIV),
    TERM("w r", SUM, PRODUCT, W, R, ONE, -2, ALL, false, MUL),
    FEW("g", SUM, false, SCALED, G, ONE, ONE, 5, 3, ALL, 0),
    FEW("f(g)", SUM, false, FUNCTION, G, ONE, SL_LIST_PAIR, 5, 3, ALL, 0),
    FEW("g1 g2", SUM, false, PRODUCT, G, G, ONE, 1, 3, DOWN_OR_SAME, MUL),
    FEW("g1/g2", SUM, false, QUOTIENT, G, G, ONE, 1, 3, DISTINCT, DIV),
};
const int sl_search__store_n_families = SL_LEN(sl_search__store_families);

bool sl_search__store_family_open(const sl_store *s, const sl_search__store_family *f) {
    return s->variables >= f->min_variables && s->variables <= f->max_variables &&
           (f->operators & ~s->ops) == 0;
}

/* What the files of token share among themselves: the vocabulary and the grammar. */
#ifndef SL_TOKEN_IMPL_H
#define SL_TOKEN_IMPL_H

#include "token/token.h"

/* ---------------------------------------------------------------- vocabulary ---------------- */

/* What a token is to the grammar, whose terminals these are: all but NONE.
 *    id             in docs/formats.md */
#define SL_TERMINALS(X)                   \
    X(NONE,          "special")           \
    X(END,           "end")               \
    X(ZERO,          "digit")             \
    X(DIGIT,         "digit")             \
    X(PLUS,          "sign")              \
    X(MINUS,         "sign")              \
    X(TIMES,         "sign")              \
    X(POWER,         "power")             \
    X(OPEN_BRACE,    "bracket")           \
    X(CLOSE_BRACE,   "bracket")           \
    X(OPEN,          "bracket")           \
    X(CLOSE,         "bracket")           \
    X(FRACTION,      "fraction")          \
    X(ROOT,          "root")              \
    X(FUNCTION,      "function")          \
    X(EULER,         "base of exp")       \
    X(VARIABLE,      "variable")

/* What is reserved may be something else again. */
#define SL_CLASSES(X)                     \
    SL_TERMINALS(X)                       \
    X(SIGN,          "sign")              \
    X(OPERAND,       "operand")           \
    X(MARK,          "mark")

typedef enum sl_class {
#define X(id, name) SL_CLASS_##id,
    SL_CLASSES(X)
#undef X
    SL_CLASS_COUNT
} sl_class;

#define SL_TERMINAL_END (SL_CLASS_VARIABLE + 1)
#define SL_SET(class) (1u << SL_CLASS_##class)

/* The vocabulary. A number is part of every checkpoint: rows are never renumbered, renamed or used
 * for something else; a reserved row may come into use. C rows are one character, W rows more.
 *     number  id          text             class         in use */
#define SL_TOKENS(C, W)                                         \
    W(  0, PAD,         "<pad>",         NONE,         true)    \
    W(  1, START,       "<start>",       NONE,         true)    \
    W(  2, END,         "<end>",         END,          true)    \
    W(  3, MASK,        "<mask>",        NONE,         false)   \
    C(  4, 0,           '0',             ZERO,         true)    \
    C(  5, 1,           '1',             DIGIT,        true)    \
    C(  6, 2,           '2',             DIGIT,        true)    \
    C(  7, 3,           '3',             DIGIT,        true)    \
    C(  8, 4,           '4',             DIGIT,        true)    \
    C(  9, 5,           '5',             DIGIT,        true)    \
    C( 10, 6,           '6',             DIGIT,        true)    \
    C( 11, 7,           '7',             DIGIT,        true)    \
    C( 12, 8,           '8',             DIGIT,        true)    \
    C( 13, 9,           '9',             DIGIT,        true)    \
    C( 14, PLUS,        '+',             PLUS,         true)    \
    C( 15, MINUS,       '-',             MINUS,        true)    \
    W( 16, CDOT,        "\\cdot",        TIMES,        true)    \
    C( 17, POWER,       '^',             POWER,        true)    \
    C( 18, OPEN_BRACE,  '{',             OPEN_BRACE,   true)    \
    C( 19, CLOSE_BRACE, '}',             CLOSE_BRACE,  true)    \
    C( 20, OPEN,        '(',             OPEN,         true)    \
    C( 21, CLOSE,       ')',             CLOSE,        true)    \
    W( 22, FRAC,        "\\frac",        FRACTION,     true)    \
    W( 23, SQRT,        "\\sqrt",        ROOT,         true)    \
    W( 24, SIN,         "\\sin",         FUNCTION,     true)    \
    C( 25, E,           'e',             EULER,        true)    \
    W( 26, X_1,         "x_1",           VARIABLE,     true)    \
    W( 27, X_2,         "x_2",           VARIABLE,     true)    \
    W( 28, X_3,         "x_3",           VARIABLE,     true)    \
    W( 29, X_4,         "x_4",           VARIABLE,     false)   \
    W( 30, X_5,         "x_5",           VARIABLE,     false)   \
    W( 31, X_6,         "x_6",           VARIABLE,     false)   \
    W( 32, X_7,         "x_7",           VARIABLE,     false)   \
    W( 33, X_8,         "x_8",           VARIABLE,     false)   \
    W( 34, X_9,         "x_9",           VARIABLE,     false)   \
    W( 35, C_1,         "c_1",           OPERAND,      false)   \
    W( 36, C_2,         "c_2",           OPERAND,      false)   \
    W( 37, C_3,         "c_3",           OPERAND,      false)   \
    W( 38, C_4,         "c_4",           OPERAND,      false)   \
    W( 39, C_5,         "c_5",           OPERAND,      false)   \
    W( 40, C_6,         "c_6",           OPERAND,      false)   \
    W( 41, C_7,         "c_7",           OPERAND,      false)   \
    W( 42, C_8,         "c_8",           OPERAND,      false)   \
    W( 43, C_9,         "c_9",           OPERAND,      false)   \
    W( 44, COS,         "\\cos",         FUNCTION,     false)   \
    W( 45, TAN,         "\\tan",         FUNCTION,     false)   \
    W( 46, COT,         "\\cot",         FUNCTION,     false)   \
    W( 47, SEC,         "\\sec",         FUNCTION,     false)   \
    W( 48, CSC,         "\\csc",         FUNCTION,     false)   \
    W( 49, ARCSIN,      "\\arcsin",      FUNCTION,     false)   \
    W( 50, ARCCOS,      "\\arccos",      FUNCTION,     false)   \
    W( 51, ARCTAN,      "\\arctan",      FUNCTION,     false)   \
    W( 52, SINH,        "\\sinh",        FUNCTION,     false)   \
    W( 53, COSH,        "\\cosh",        FUNCTION,     false)   \
    W( 54, TANH,        "\\tanh",        FUNCTION,     false)   \
    W( 55, EXP,         "\\exp",         FUNCTION,     false)   \
    W( 56, LN,          "\\ln",          FUNCTION,     false)   \
    W( 57, LOG,         "\\log",         FUNCTION,     false)   \
    W( 58, MIN,         "\\min",         FUNCTION,     false)   \
    W( 59, MAX,         "\\max",         FUNCTION,     false)   \
    W( 60, GAMMA_OF,    "\\Gamma",       FUNCTION,     false)   \
    C( 61, BAR,         '|',             MARK,         false)   \
    W( 62, LFLOOR,      "\\lfloor",      OPEN,         false)   \
    W( 63, RFLOOR,      "\\rfloor",      CLOSE,        false)   \
    W( 64, LCEIL,       "\\lceil",       OPEN,         false)   \
    W( 65, RCEIL,       "\\rceil",       CLOSE,        false)   \
    C( 66, OPEN_INDEX,  '[',             OPEN,         false)   \
    C( 67, CLOSE_INDEX, ']',             CLOSE,        false)   \
    W( 68, PI,          "\\pi",          OPERAND,      false)   \
    W( 69, INFTY,       "\\infty",       OPERAND,      false)   \
    C( 70, I,           'i',             OPERAND,      false)   \
    C( 71, POINT,       '.',             DIGIT,        false)   \
    C( 72, EQUAL,       '=',             SIGN,         false)   \
    C( 73, LESS,        '<',             SIGN,         false)   \
    C( 74, GREATER,     '>',             SIGN,         false)   \
    W( 75, LE,          "\\le",          SIGN,         false)   \
    W( 76, GE,          "\\ge",          SIGN,         false)   \
    W( 77, NE,          "\\ne",          SIGN,         false)   \
    C( 78, SLASH,       '/',             SIGN,         false)   \
    W( 79, TIMES,       "\\times",       SIGN,         false)   \
    W( 80, PM,          "\\pm",          SIGN,         false)   \
    C( 81, FACTORIAL,   '!',             MARK,         false)   \
    C( 82, COMMA,       ',',             MARK,         false)   \
    C( 83, SUBSCRIPT,   '_',             MARK,         false)   \
    C( 84, PRIME,       '\'',            MARK,         false)   \
    W( 85, PARTIAL,     "\\partial",     FUNCTION,     false)   \
    W( 86, NABLA,       "\\nabla",       FUNCTION,     false)   \
    W( 87, INT,         "\\int",         FUNCTION,     false)   \
    W( 88, SUM,         "\\sum",         FUNCTION,     false)   \
    W( 89, PROD,        "\\prod",        FUNCTION,     false)   \
    W( 90, LIM,         "\\lim",         FUNCTION,     false)   \
    C( 91, T,           't',             OPERAND,      false)   \
    C( 92, Y,           'y',             OPERAND,      false)   \
    W( 93, ALPHA,       "\\alpha",       OPERAND,      false)   \
    W( 94, BETA,        "\\beta",        OPERAND,      false)   \
    W( 95, GAMMA,       "\\gamma",       OPERAND,      false)   \
    W( 96, THETA,       "\\theta",       OPERAND,      false)   \
    W( 97, LAMBDA,      "\\lambda",      OPERAND,      false)   \
    W( 98, MU,          "\\mu",          OPERAND,      false)   \
    W( 99, RHO,         "\\rho",         OPERAND,      false)   \
    W(100, SIGMA,       "\\sigma",       OPERAND,      false)   \
    W(101, TAU,         "\\tau",         OPERAND,      false)   \
    W(102, PHI,         "\\phi",         OPERAND,      false)   \
    W(103, OMEGA,       "\\omega",       OPERAND,      false)

enum {
#define X(number, id, text, class, in_use) SL_TOKEN__##id = number,
    SL_TOKENS(X, X)
#undef X
};

#define SL_TOKEN_DIGITS 18    // of a number: it and its negative fit 64 bits whatever they are

typedef struct sl_token_row {
    const char *text;
    uint8_t length;
    uint8_t class;
    bool in_use;
} sl_token_row;
extern const sl_token_row sl_token__rows[SL_TOKEN_COUNT];

/* ---------------------------------------------------------------- grammar ------------------- */

/* Symbols on the grammar's stack beside its terminals: what is still to come, and what a reader
 * does once it has come.   id   fewest tokens it can be */
#define SL_PARTS(X)       \
    X(SUM,            1)  \
    X(TAIL,           0)  \
    X(PRODUCT,        1)  \
    X(REST,           0)  \
    X(NUMBER_REST,    0)  \
    X(MULTIPLIER,     1)  \
    X(NUMBER,         1)  \
    X(FACTOR,         1)  \
    X(BELOW,          4)  \
    X(RAISED,         0)  \
    X(EXPONENT,       1)  \
    X(MAGNITUDE,      1)  \
    X(RATIO_BELOW,    4)  \
    X(INTEGER,        1)  \
    X(DIGITS,         0)

#define SL_ACTIONS(X) X(ADD) X(SUBTRACT) X(NEGATE) X(MULTIPLY) X(DIVIDE) X(RAISE) X(RATIO) \
                      X(SQRT) X(SIN) X(EXP) X(INTEGER)

enum sl_part {
    SL_PART_FIRST = SL_TERMINAL_END - 1,
#define X(id, least) SL_PART_##id,
    SL_PARTS(X)
#undef X
    SL_PART_END
};

typedef enum sl_action {
    SL_ACTION_FIRST = SL_PART_END - 1,
#define X(id) SL_ACTION_##id,
    SL_ACTIONS(X)
#undef X
    SL_SYMBOL_COUNT
} sl_action;

#define SL_IS_TERMINAL(symbol) ((symbol) < SL_TERMINAL_END)
#define SL_IS_ACTION(symbol) ((symbol) >= SL_PART_END)

/* A rule: on a token of one of these classes, the part is these symbols. A part none of whose rules
 * has the class is nothing at all, if it can be. */
enum { SL_RULES = 6, SL_RULE_LENGTH = 6 };
typedef struct sl_rule {
    uint32_t on;
    uint8_t symbols[SL_RULE_LENGTH]; // up to the first 0
} sl_rule;
extern const sl_rule sl_token__grammar[SL_PART_END - SL_TERMINAL_END][SL_RULES];
extern const uint8_t sl_token__least[SL_SYMBOL_COUNT];

/* Builds the expression while the tokens are taken. */
typedef struct sl_token_reader sl_token_reader;
void sl_token__shift(sl_token_reader *r, int id); // a digit or variable was taken
void sl_token__act(sl_token_reader *r, sl_action action);

/* sl_token_push, with the actions that become due done by r, which may be NULL. */
sl_token_reason sl_token__take(sl_token_state *s, int id, sl_token_reader *r);

#endif

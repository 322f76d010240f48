/* Shared by parsers and printers: names, the state of a parser, and a product as a fraction.
 *
 * A parser grows terms (sl_expr_builder of the face): linked lists of operands in the caller's
 * arena. Sums and products are lists that grow at the end, so a + b + c + ... is one flat term and
 * costs one link per operand. The finished tree is written as one prefix array, tidied, and moved
 * down over the terms.
 *
 * Division goes into factors: a/(b*c^2) grows a * b^-1 * c^-2. Printers rely on it: they gather the
 * factors with negative exponents under one fraction bar, and write (b*c)^(-1) where the tree holds
 * the inverse of a product. */
#ifndef SL_TEXT_IMPL_H
#define SL_TEXT_IMPL_H

#include "expr/expr_impl.h"

/* ---------------------------------------------------------------- names --------------------- */

/* A function of one operand that text may call: a node of the table, or a spelling of something
 * else. */
typedef enum sl_function {
    // below: the sl_op itself
    SL_FUNCTION_SQRT = SL_OP_COUNT,
    SL_FUNCTION_NEG,
    SL_FUNCTION_LOG10, // log(u)/log(10)
    SL_FUNCTION_LOG2,
    SL_FUNCTION_LOG1P, // log(1 + u)
    SL_FUNCTION_EXPM1, // exp(u) - 1
    SL_FUNCTION_NONE
} sl_function;

/* The function of this name or alias: ln, arcsin, fabs, ... */
sl_function sl_expr__text_function(const char *name);
/* What a node of a function is called in this format. */
const char *sl_expr__text_function_name(sl_op op, sl_format format);

/* The exact constants that have names. */
typedef enum sl_constant { SL_CONSTANT_NONE, SL_CONSTANT_PI, SL_CONSTANT_E } sl_constant;

/* Is `name` one of them: pi, M_PI, e, M_E, also behind underscores? The caller checks that no
 * column has that name. */
sl_constant sl_expr__text_exact(const char *name);
/* pi, or M_PI in C, behind as many underscores as it takes for no column to be meant; how many. */
enum { SL_TEXT_PI = SL_EXPR_MAX_VARS + 8 };
int sl_expr__text_spell_pi(char spelled[SL_TEXT_PI], sl_format format, const sl_names *names);
/* How pi is written in infix and prefix text and in the dialects of infix, so that it reads back
 * whatever the columns are called. */
void sl_expr__text_print_pi(sl_str *s, sl_format format, const sl_names *names);

/* The variable called `name`: a column name first, then x1, x2, ...; or 0. */
int sl_expr__text_variable(const sl_names *names, const char *name);
/* The free constant called `name`: c1, c2, ...; or 0. A column name comes before it. */
int sl_expr__text_constant(const char *name);
bool sl_expr__text_is_identifier(const char *name); // of ASCII letters, digits and _
/* The column name that reads back as this variable, or NULL: write x<number>. */
const char *sl_expr__text_column_name(const sl_names *names, int number);
/* Underscores to write before x<number> or c<number>: as many as it takes for no column to be
 * meant. */
int sl_expr__text_underscores(const sl_names *names, char letter, int number);
/* Why `name` is nothing that can be read here, with the nearest known word. */
void sl_expr__text_explain(char *reason, size_t size, const sl_names *names, const char *name);


/* ---------------------------------------------------------------- reading ------------------- */

struct sl_expr_term {
    uint8_t op;      // sl_op
    uint16_t number; // of VAR, PAR
    uint16_t depth;  // of the tree below; 0 for a leaf
    int count;       // operands of ADD, MUL
    sl_rat value;    // of NUM; exponent of POW
    struct sl_expr_term *first, *last, *next;
};

typedef struct sl_reader {
    const char *text;
    size_t n, at;
    sl_expr_builder build;
    const sl_names *names;
    char *name; // room for one decoded name
    size_t name_size;
    int nest; // open brackets: the bound on recursion
    bool in_bars; // the innermost open bracket is a plain |, so that the next one closes it
} sl_reader;

/* Notes the first failure; the answer is NULL, so that a parser can return it. */
SL_PRINTF(4, 5)
sl_expr_term *sl_expr__term_fail(sl_expr_builder *b, sl_status st, size_t where, const char *format,
                                 ...);
#define sl_expr__text_fail(r, ...) sl_expr__term_fail(&(r)->build, __VA_ARGS__)
/* Fails unless one more bracket may open at `where`; the caller closes with r->nest--. */
bool sl_expr__text_open(sl_reader *r, size_t where);
/* A piece of the text for a message: printable, short, in a caller's buffer, which is returned. */
enum { SL_TEXT_QUOTE = 40 };
const char *sl_expr__text_quote(char buffer[SL_TEXT_QUOTE], const char *text, size_t n);
/* Fails with a message for a character that begins nothing. */
sl_expr_term *sl_expr__text_bad_character(sl_reader *r, size_t where);

/* An unsigned decimal number at r->at, such as 12, 0.5, .5, 2.5e-3, which is stepped over. The
 * value is exact. False after a failure; the caller has seen a digit, or a point before one. */
bool sl_expr__text_number(sl_reader *r, sl_rat *out, bool with_exponent);
/* Collects a name, byte by byte, for the look-ups; longer than any known one is cut. */
void sl_expr__text_name_begin(sl_reader *r, size_t *len);
void sl_expr__text_name_add(sl_reader *r, size_t *len, const char *bytes, size_t n);
/* `name` between backticks at r->at into r->name; a backtick inside is written twice. */
bool sl_expr__text_quoted_name(sl_reader *r);

/* What the face does not offer of terms: functions by their spelling, pi or exp(1),
 * base^exponent. */
sl_expr_term *sl_expr__term_call(sl_expr_builder *b, sl_function f, sl_expr_term *operand);
sl_expr_term *sl_expr__term_exact(sl_expr_builder *b, sl_constant which);
sl_expr_term *sl_expr__term_power(sl_expr_builder *b, sl_expr_term *base, sl_expr_term *exponent);

sl_expr_term *sl_expr__text_infix(sl_reader *r);
sl_expr_term *sl_expr__text_latex(sl_reader *r);
sl_expr_term *sl_expr__text_prefix(sl_reader *r);

/* ---------------------------------------------------------------- printing ------------------ */

/* An expression as sign * num/den * factors / factors. Of a sum or a function the only factor is
 * the expression itself. Where free constants have values, params is not NULL: a constant above the
 * bar gives its sign to the whole and is to be written without it, and such constants come
 * first. */
typedef struct sl_fraction {
    const sl_node *e;
    const double *params;
    const sl_node *number; // the operand that is num/den, or NULL
    bool negative;
    uint64_t num, den;
    int above, below; // factors besides the number
} sl_fraction;

sl_fraction sl_expr__text_fraction(const sl_node *e, const double *params);
/* The factors of one side, in order: start with NULL, end with NULL. A factor below the bar is
 * given as it stands in the tree; its exponent is to be written with the other sign. */
const sl_node *sl_expr__text_factor(const sl_fraction *f, const sl_node *before, bool below);
/* Does the tree begin with a minus when written as a term of a sum? */
bool sl_expr__text_negative(const sl_node *e, const double *params);
/* The size of a constant's value as digits 10^exponent, the exponent 0 unless the size is unusual;
 * together the shortest decimal that reads back. */
typedef struct sl_decimal {
    char digits[SL_REAL_TEXT_MAX];
    int exponent;
} sl_decimal;
sl_decimal sl_expr__text_decimal(double value);

/* A factor as a base with a positive exponent where it stands below the bar. */
static inline sl_rat sl_expr__text_exponent(const sl_node *factor, bool below) {
    sl_rat p = sl_expr__exponent(factor);
    return below ? (sl_rat){ -p.num, p.den } : p;
}

/* params NULL: free constants are written by name. */
void sl_expr__text_print_infix(sl_str *s, sl_format format, const sl_node *e, const sl_names *names,
                               const double *params);
void sl_expr__text_print_math(sl_str *s, sl_format format, const sl_node *e, const sl_names *names,
                              const double *params);
void sl_expr__text_print_prefix(sl_str *s, const sl_node *e, const sl_names *names,
                                const double *params);
void sl_expr__text_print_json(sl_str *s, const sl_node *e, const sl_names *names,
                              const double *params);
/* A variable or free constant as infix and prefix text write it: a column name that is no
 * identifier goes between backticks. In text for a programming language such a name, or a reserved
 * word, is replaced by x<n>; in text for SymPy every name is, because SymPy defines hundreds of
 * names. In text for Excel a variable is the cell of its column in row 2. */
void sl_expr__text_print_name(sl_str *s, sl_format format, const sl_node *e, const sl_names *names);

#endif

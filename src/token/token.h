/* token - expressions as the model reads and writes them.
 *
 * A target is the LaTeX of an expression, one token per command, brace, sign, variable and digit,
 * closed by an end token:
 *
 *     x_1^{2} + 12 x_2        x_1 ^ { 2 } + 1 2 x_2 <end>
 *
 * The LaTeX is expr's (SL_FORMAT_LATEX), so spelling is defined in one place.
 * The vocabulary has 104 rows: specials, digits, the symbols in use, and named rows that are
 * reserved for further operators and variables, so that a model's shape outlives them.
 *
 * Going back is stricter than reading LaTeX from people: one grammar, LL(1), held in one table
 * (grammar.c). The same table drives three things:
 *
 *   reading    ids to an expression, or the reason why not and at which token
 *   state      a prefix fed token by token, as a decoder produces it
 *   next       the set of tokens that may follow a prefix: exactly those after which a complete
 *              sequence still exists, in as many tokens as are left
 *
 * What the grammar accepts is a form. Its value can still fail: a number beyond 64-bit rationals,
 * or an expression that is undefined. Those are reasons of their own, and no mask can foresee them.
 *
 * Threads: no shared state. */
#ifndef SL_TOKEN_H
#define SL_TOKEN_H

#include "expr/expr.h"

typedef uint8_t sl_token;

#define SL_TOKEN_COUNT 104 // rows of the vocabulary: the model's embedding has this many
#define SL_TOKEN_MAX 256   // longest target, end token included
#define SL_TOKEN_VARIABLES SL_EXPR_SET_VARS // that formulas of the model may have

enum { SL_TOKEN_PAD = 0, SL_TOKEN_START = 1, SL_TOKEN_END = 2 };

/* "\\frac", "x_1", "7", "<end>"; NULL for no such id. */
const char *sl_token_text(int id);
/* The id whose text is these n bytes; -1 if there is none. */
int sl_token_find(const char *text, size_t n);
bool sl_token_reserved(int id); // named, but not in use
/* 32 hex digits, a hash of all ids and texts, which a checkpoint stores. They stay when a
 * reserved row comes into use. */
void sl_token_vocabulary_hash(char out[33]);

/* ---------------------------------------------------------------- to and from expressions --- */

/* ids[0..*n) := e with the end token. SL_ELIMIT: longer than `max`, a number of more than 18
 * digits, or nested too deep; SL_EINVAL: something without a token, such as a cosine or x_9.
 * `scratch` holds the text meanwhile and is left empty: keep one per thread and its memory is used
 * again. */
SL_NODISCARD sl_status sl_token_from_expr(sl_token *ids, int *n, int max, const sl_node *e,
                                          sl_str *scratch);

/* The same from the LaTeX that sl_expr_print made, for callers that have it already. */
SL_NODISCARD sl_status sl_token_from_latex(sl_token *ids, int *n, int max, const char *latex,
                                           size_t length);

/* Appends the LaTeX that ids (without start, with or without end token) spell, whatever they are;
 * of a printed expression, the same bytes. */
void sl_token_to_latex(sl_str *s, const sl_token *ids, int n);

/* Why a sequence is no expression.   id  name  text */
#define SL_TOKEN_REASONS(X)                                                                    \
    X(FINE,       "fine",       "an expression")                                               \
    X(UNKNOWN,    "unknown",    "an id outside the vocabulary")                                \
    X(RESERVED,   "reserved",   "a token that is not in use")                                  \
    X(SPECIAL,    "special",    "a pad or start token inside")                                 \
    X(SYNTAX,     "syntax",     "a token that cannot stand here")                              \
    X(EARLY_END,  "early-end",  "the end token where the expression is incomplete")            \
    X(NO_END,     "no-end",     "no end token: cut off at the longest length")                 \
    X(AFTER_END,  "after-end",  "tokens behind the end token")                                 \
    X(VARIABLE,   "variable",   "a variable that the data do not have")                        \
    X(NUMBER,     "number",     "a number of more than 18 digits")                             \
    X(DEEP,       "deep",       "nested too deep")                                             \
    X(OVERFLOW,   "overflow",   "an exact number beyond 64 bits")                              \
    X(UNDEFINED,  "undefined",  "undefined everywhere, such as 1/0")

typedef enum sl_token_reason {
#define X(id, name, text) SL_TOKEN_##id,
    SL_TOKEN_REASONS(X)
#undef X
    SL_TOKEN_REASON_COUNT
} sl_token_reason;

const char *sl_token_reason_name(sl_token_reason value);
const char *sl_token_reason_text(sl_token_reason value);

/* *out := the tidy expression that ids[0..n) (without start token, with end token) spell, if
 * *reason is SL_TOKEN_FINE; else NULL, and *at is the token that fails (n: what is missing; 0 where
 * the value is at fault). Forms are judged by sl_token_push, up to SL_TOKEN_MAX tokens: work and
 * memory are bounded whatever n is. A status is about memory only. variables: how many there are,
 * 1 .. 3. */
SL_NODISCARD sl_status sl_token_to_expr(const sl_node **out, sl_token_reason *reason, int *at,
                                        sl_arena *a, const sl_token *ids, int n, int variables);

/* ---------------------------------------------------------------- prefixes ------------------ */

/* Where a prefix stands: what the grammar still expects, innermost last. A plain value: copy it to
 * fork a prefix. */
#define SL_TOKEN_MAX_DEPTH 64
#define SL_TOKEN_STACK (SL_TOKEN_MAX_DEPTH * 8 + 16)
typedef struct sl_token_state {
    uint8_t stack[SL_TOKEN_STACK];
    uint16_t top;      // symbols on the stack; 0: the end token has been taken
    uint16_t need;     // fewest tokens that complete the prefix, end token included
    uint8_t digits;    // of the number being written
    uint8_t depth;     // brackets and braces open
    uint8_t variables;
} sl_token_state;

typedef struct sl_token_set { uint64_t bits[2]; } sl_token_set;
static inline bool sl_token_in(const sl_token_set *s, int id) {
    return s->bits[id >> 6] >> (id & 63) & 1;
}

void sl_token_begin(sl_token_state *s, int variables);
/* Takes one more token. Anything but SL_TOKEN_FINE leaves the state as it was. */
sl_token_reason sl_token_push(sl_token_state *s, int id);
/* The tokens that sl_token_push takes and after which the form can still be completed with `room`
 * tokens in all, this one and the end token included. Never empty while room >= need and top >
 * 0. */
void sl_token_next(sl_token_set *out, const sl_token_state *s, int room);

#endif

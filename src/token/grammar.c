/* The grammar: which sequences of tokens are an expression.
 *
 * It is LL(1): what a part becomes is decided by the next token alone. So a prefix is a stack of
 * the symbols still to come, and everything follows from that stack: whether a token fits, which
 * tokens fit, and how many are needed at least. docs/formats.md has the same grammar as text; a
 * test compares a recogniser written from there with this table.
 *
 * The rules are wider than what the printer writes (any order of factors, brackets where none are
 * needed), and narrower than what people write: what has two readings is not in them. A number does
 * not follow a factor without \cdot, and \frac does not follow a number: 2\frac{1}{3} may be mixed.
 *
 * Two limits are not in the table: digits of a number, and brackets in each other. A token that
 * must be followed by a bracket is refused where no further bracket may open, not only the bracket
 * itself. So every accepted prefix can be completed, with as few tokens as `least` gives. */
#include "token/token_impl.h"

#define T(id) SL_CLASS_##id
#define P(id) SL_PART_##id
#define A(id) SL_ACTION_##id

#define INTEGERS (SL_SET(ZERO) | SL_SET(DIGIT))
/* What a factor that is no number begins with; all but a variable open a bracket. */
#define WITHOUT_FRACTION \
    (SL_SET(VARIABLE) | SL_SET(EULER) | SL_SET(ROOT) | SL_SET(FUNCTION) | SL_SET(OPEN))
#define FACTORS (WITHOUT_FRACTION | SL_SET(FRACTION))
#define OPENERS ((FACTORS & ~SL_SET(VARIABLE)) | SL_SET(POWER))

// clang-format off
const sl_rule sl_token__grammar[SL_PART_END - SL_TERMINAL_END][SL_RULES] = {
#define PART(id) [SL_PART_##id - SL_TERMINAL_END]
    PART(SUM) = {
        { SL_SET(MINUS),      { T(MINUS), P(PRODUCT), A(NEGATE), P(TAIL) } },
        { INTEGERS | FACTORS, { P(PRODUCT), P(TAIL) } },
    },
    PART(TAIL) = {
        { SL_SET(PLUS),       { T(PLUS), P(PRODUCT), A(ADD), P(TAIL) } },
        { SL_SET(MINUS),      { T(MINUS), P(PRODUCT), A(SUBTRACT), P(TAIL) } },
    },
    PART(PRODUCT) = {
        { INTEGERS,           { P(NUMBER), P(NUMBER_REST) } },
        { FACTORS,            { P(FACTOR), P(REST) } },
    },
    PART(REST) = { // of a product, behind a factor
        { SL_SET(TIMES),      { T(TIMES), P(MULTIPLIER) } },
        { FACTORS,            { P(FACTOR), A(MULTIPLY), P(REST) } },
    },
    PART(NUMBER_REST) = { // the same behind a number
        { SL_SET(TIMES),      { T(TIMES), P(MULTIPLIER) } },
        { WITHOUT_FRACTION,   { P(FACTOR), A(MULTIPLY), P(REST) } },
    },
    PART(MULTIPLIER) = {
        { INTEGERS,           { P(NUMBER), A(MULTIPLY), P(NUMBER_REST) } },
        { FACTORS,            { P(FACTOR), A(MULTIPLY), P(REST) } },
    },
    PART(NUMBER) = {
        { INTEGERS,           { P(INTEGER), P(RAISED) } },
    },
    PART(FACTOR) = {
        { SL_SET(VARIABLE),   { T(VARIABLE), P(RAISED) } },
        { SL_SET(OPEN),       { T(OPEN), P(SUM), T(CLOSE), P(RAISED) } },
        { SL_SET(FUNCTION),   { T(FUNCTION), T(OPEN), P(SUM), T(CLOSE), A(SIN), P(RAISED) } },
        { SL_SET(ROOT),
          { T(ROOT), T(OPEN_BRACE), P(SUM), T(CLOSE_BRACE), A(SQRT), P(RAISED) } },
        { SL_SET(EULER),
          { T(EULER), T(POWER), T(OPEN_BRACE), P(SUM), T(CLOSE_BRACE), A(EXP) } },
        { SL_SET(FRACTION),   { T(FRACTION), T(OPEN_BRACE), P(SUM), P(BELOW) } },
    },
    PART(BELOW) = { // a part of its own, so that a nested fraction takes one place on the stack
        { SL_SET(CLOSE_BRACE),
          { T(CLOSE_BRACE), T(OPEN_BRACE), P(SUM), T(CLOSE_BRACE), A(DIVIDE) } },
    },
    PART(RAISED) = {
        { SL_SET(POWER),      { T(POWER), T(OPEN_BRACE), P(EXPONENT), T(CLOSE_BRACE), A(RAISE) } },
    },
    PART(EXPONENT) = {
        { SL_SET(MINUS),      { T(MINUS), P(MAGNITUDE), A(NEGATE) } },
        { INTEGERS | SL_SET(FRACTION), { P(MAGNITUDE) } },
    },
    PART(MAGNITUDE) = {
        { INTEGERS,           { P(INTEGER) } },
        { SL_SET(FRACTION),
          { T(FRACTION), T(OPEN_BRACE), P(INTEGER), P(RATIO_BELOW), A(RATIO) } },
    },
    PART(RATIO_BELOW) = {
        { SL_SET(CLOSE_BRACE), { T(CLOSE_BRACE), T(OPEN_BRACE), P(INTEGER), T(CLOSE_BRACE) } },
    },
    PART(INTEGER) = {
        { SL_SET(ZERO),       { T(ZERO), A(INTEGER) } },
        { SL_SET(DIGIT),      { T(DIGIT), P(DIGITS), A(INTEGER) } },
    },
    PART(DIGITS) = {
        { SL_SET(ZERO),       { T(ZERO), P(DIGITS) } },
        { SL_SET(DIGIT),      { T(DIGIT), P(DIGITS) } },
    },
#undef PART
};
// clang-format on

const uint8_t sl_token__least[SL_SYMBOL_COUNT] = {
#define X(id, name) [SL_CLASS_##id] = SL_CLASS_##id != SL_CLASS_NONE,
    SL_TERMINALS(X)
#undef X
#define X(id, least) [SL_PART_##id] = least,
        SL_PARTS(X)
#undef X
};

/* The rule of a part for a class, or NULL. */
static const sl_rule *rule_of(int part, uint32_t class) {
    const sl_rule *rules = sl_token__grammar[part - SL_TERMINAL_END];
    for (int i = 0; i < SL_RULES && rules[i].on; i++)
        if (rules[i].on & class) return &rules[i];
    return NULL;
}

static uint32_t first_of(int part) {
    const sl_rule *rules = sl_token__grammar[part - SL_TERMINAL_END];
    uint32_t on = 0;
    for (int i = 0; i < SL_RULES; i++) on |= rules[i].on;
    return on;
}

/* A part of 0 tokens. */
static bool can_be_nothing(int part) { return sl_token__least[part] == 0; }

/* ---------------------------------------------------------------- one token ----------------- */

void sl_token_begin(sl_token_state *s, int variables) {
    SL_ASSERT(variables >= 1 && variables <= SL_TOKEN_VARIABLES);
    *s = (sl_token_state){
        .stack = { SL_CLASS_END, SL_PART_SUM }, .top = 2, .need = 2, .variables = (uint8_t)variables
    };
}

/* May a token of this class come next, whatever the limits? A part that has a rule for the class
 * begins with it, so there is no need to look further. */
static bool fits(const sl_token_state *s, sl_class class) {
    for (int i = s->top - 1; i >= 0; i--) {
        const int symbol = s->stack[i];
        if (SL_IS_ACTION(symbol)) continue;
        if (SL_IS_TERMINAL(symbol)) return symbol == (int)class;
        if (rule_of(symbol, 1u << class)) return true;
        if (!can_be_nothing(symbol)) return false;
    }
    return false;
}

static sl_token_reason judge(const sl_token_state *s, int id) {
    if (s->top == 0) return SL_TOKEN_AFTER_END;
    if (id < 0 || id >= SL_TOKEN_COUNT) return SL_TOKEN_UNKNOWN;
    const sl_token_row *row = &sl_token__rows[id];
    if (!row->in_use) return SL_TOKEN_RESERVED;
    if (row->class == SL_CLASS_NONE) return SL_TOKEN_SPECIAL;
    if (!fits(s, row->class))
        return row->class == SL_CLASS_END ? SL_TOKEN_EARLY_END : SL_TOKEN_SYNTAX;
    const uint32_t class = 1u << row->class;
    if (class == SL_SET(VARIABLE) && id - SL_TOKEN__X_1 >= s->variables) return SL_TOKEN_VARIABLE;
    // a digit after a digit belongs to the same number: two numbers are never adjacent
    if ((class & INTEGERS) && s->digits == SL_TOKEN_DIGITS) return SL_TOKEN_NUMBER;
    if ((class & OPENERS) && s->depth == SL_TOKEN_MAX_DEPTH) return SL_TOKEN_DEEP;
    return SL_TOKEN_FINE;
}

/* Puts a rule's symbols in place of the part on top. */
static void expand(sl_token_state *s, const sl_rule *rule) {
    int n = 0;
    while (n < SL_RULE_LENGTH && rule->symbols[n]) n++;
    SL_ASSERT(s->top + n <= SL_TOKEN_STACK); // at most 7 symbols stay below each open bracket
    while (n-- > 0) {
        s->stack[s->top++] = rule->symbols[n];
        s->need = (uint16_t)(s->need + sl_token__least[rule->symbols[n]]);
    }
}

sl_token_reason sl_token__take(sl_token_state *s, int id, sl_token_reader *r) {
    const sl_token_reason reason = judge(s, id);
    if (reason != SL_TOKEN_FINE) return reason;
    const sl_class class = sl_token__rows[id].class;
    const uint32_t set = 1u << class;
    s->digits = set & INTEGERS ? (uint8_t)(s->digits + 1) : 0;

    // it fits, so this ends at a terminal
    for (;;) {
        const int symbol = s->stack[--s->top];
        s->need = (uint16_t)(s->need - sl_token__least[symbol]);
        if (SL_IS_TERMINAL(symbol)) break;
        if (SL_IS_ACTION(symbol)) {
            if (r) sl_token__act(r, (sl_action)symbol);
            continue;
        }
        const sl_rule *rule = rule_of(symbol, set);
        if (rule) expand(s, rule);
    }
    if (set & (SL_SET(OPEN_BRACE) | SL_SET(OPEN))) s->depth++;
    if (set & (SL_SET(CLOSE_BRACE) | SL_SET(CLOSE))) s->depth--;
    if (r && (set & (INTEGERS | SL_SET(VARIABLE)))) sl_token__shift(r, id);
    return SL_TOKEN_FINE;
}

sl_token_reason sl_token_push(sl_token_state *s, int id) { return sl_token__take(s, id, NULL); }

/* ---------------------------------------------------------------- all tokens ---------------- */

/* The fewest tokens that complete a prefix once a token of this class, which fits, is taken. */
static int need_after(const sl_token_state *s, uint32_t class) {
    int need = s->need, i = s->top - 1;
    // empty parts need no token; a part with a rule becomes its symbols, and so on
    for (;; i--) {
        int symbol = s->stack[i];
        const sl_rule *rule = NULL;
        if (SL_IS_ACTION(symbol)) continue;
        while (!SL_IS_TERMINAL(symbol) && (rule = rule_of(symbol, class))) {
            need -= sl_token__least[symbol];
            for (int k = 0; k < SL_RULE_LENGTH; k++) need += sl_token__least[rule->symbols[k]];
            symbol = rule->symbols[0];
        }
        if (SL_IS_TERMINAL(symbol)) return need - 1;
    }
}

/* The ids in use. */
static const uint8_t used[] = {
#define USED_true(number) number,
#define USED_false(number)
#define X(number, id, text, class, in_use) USED_##in_use(number)
    SL_TOKENS(X, X)
#undef X
};

void sl_token_next(sl_token_set *out, const sl_token_state *s, int room) {
    uint32_t classes = 0;
    for (int i = s->top - 1; i >= 0; i--) {
        const int symbol = s->stack[i];
        if (SL_IS_ACTION(symbol)) continue;
        classes |= SL_IS_TERMINAL(symbol) ? 1u << symbol : first_of(symbol);
        if (!can_be_nothing(symbol)) break;
    }
    if (s->depth == SL_TOKEN_MAX_DEPTH) classes &= ~OPENERS;
    if (s->digits == SL_TOKEN_DIGITS) classes &= ~INTEGERS;

    // no token costs more than a fraction, \frac{a}{b}, where nothing was needed
    enum { DEAREST = 7 };
    if (room < s->need + DEAREST) {
        for (uint32_t left = classes; left; left &= left - 1) {
            const uint32_t class = left & -left;
            if (need_after(s, class) >= room) classes &= ~class;
        }
    }

    *out = (sl_token_set){ { 0, 0 } };
    for (int i = 0; i < SL_LEN(used); i++) {
        const uint64_t in = classes >> sl_token__rows[used[i]].class & 1;
        out->bits[used[i] >> 6] |= in << (used[i] & 63);
    }
    for (int v = s->variables; v < SL_TOKEN_VARIABLES; v++) {
        const int id = SL_TOKEN__X_1 + v;
        out->bits[id >> 6] &= ~((uint64_t)1 << (id & 63));
    }
}

/* Prefix text: tokens between blanks, an operator before its operands.
 *
 *     + * 2 x1 sqrt x2         2*x1 + sqrt(x2)
 *     ^ x1 -3/4                x1^(-3/4)
 *
 * Tokens: the operators of the surface and the functions, numbers such as -7, 3/4 and 0.5, pi and
 * e, variables, c<n>, names between backticks.
 *
 * Operators that wait for operands are a list and not recursion: a sum of a thousand operands, made
 * binary from the left, begins with a thousand plus signs. */
#include "expr/text_impl.h"

enum { CALL = SL_OPERATOR_COUNT }; // functions, also those that SL_OPERATORS does not list

typedef struct frame {
    struct frame *below;
    int op; // sl_operator or CALL
    sl_function function;
    int operands_left;
    sl_expr_term *first; // of two operands, once it is there
    size_t start;
} frame;

typedef struct parser {
    sl_reader *r;
    frame *top, *spare;
    int frames;
    size_t start, end; // of the token
} parser;

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/* Steps over blanks and one token. False at the end of the text. */
static bool advance(parser *p) {
    sl_reader *r = p->r;
    while (r->at < r->n && is_blank(r->text[r->at])) r->at++;
    p->start = p->end = r->at;
    if (r->at >= r->n) return false;
    if (r->text[r->at] == '`') {
        if (!sl_expr__text_quoted_name(r)) return false;
        if (r->at < r->n && !is_blank(r->text[r->at])) {
            sl_expr__text_fail(r, SL_EFORMAT, r->at,
                               "a blank must follow a name between backticks");
            return false;
        }
    }
    while (r->at < r->n && !is_blank(r->text[r->at])) r->at++;
    p->end = r->at;
    return true;
}

static bool push(parser *p, int op, sl_function function, int operands_left) {
    sl_reader *r = p->r;
    frame *f = p->spare;
    if (f) {
        p->spare = f->below;
    } else {
        if (++p->frames > SL_EXPR_MAX) {
            sl_expr__text_fail(r, SL_ELIMIT, p->start,
                               "more than %d operators wait for operands here", SL_EXPR_MAX);
            return false;
        }
        f = sl_arena_alloc(r->build.arena, sizeof *f);
        if (!f) {
            sl_expr__text_fail(r, SL_ENOMEM, p->start, "no memory for an expression");
            return false;
        }
    }
    *f = (frame){ .below = p->top,
                  .op = op,
                  .function = function,
                  .operands_left = operands_left,
                  .start = p->start };
    p->top = f;
    return true;
}

static sl_expr_term *apply(parser *p, const frame *f, sl_expr_term *t) {
    sl_reader *r = p->r;
    switch (f->op) {
    case CALL: return sl_expr__term_call(&r->build, f->function, t);
    case SL_OPERATOR_POW: return sl_expr__term_power(&r->build, f->first, t);
    case SL_OPERATOR_ADD: return sl_expr_term_add(&r->build, f->first, t);
    case SL_OPERATOR_SUB:
        return sl_expr_term_add(&r->build, f->first, sl_expr_term_neg(&r->build, t));
    case SL_OPERATOR_MUL: return sl_expr_term_mul(&r->build, f->first, t);
    default: break;
    }
    SL_ASSERT(f->op == SL_OPERATOR_DIV);
    return sl_expr_term_div(&r->build, f->first, t);
}

/* Appends t to the innermost incomplete operator, and repeats while operators become complete.
 * Returns the whole term once no operator is left. */
static sl_expr_term *reduce(parser *p, sl_expr_term *t) {
    while (t && p->top) {
        frame *f = p->top;
        if (--f->operands_left > 0) {
            f->first = t;
            return NULL;
        }
        t = apply(p, f, t);
        p->top = f->below;
        f->below = p->spare;
        p->spare = f;
    }
    return t;
}

/* -7, 3/4, 0.5e3. The token must be a number to its end. */
static sl_expr_term *number(parser *p) {
    sl_reader *r = p->r;
    const char *text = r->text;
    bool negative = text[p->start] == '-';
    size_t end = p->end;
    r->at = p->start + (text[p->start] == '-' || text[p->start] == '+');
    sl_rat v, den;
    if (!sl_expr__text_number(r, &v, true)) return NULL;
    sl_expr_term *t = sl_expr_term_num(&r->build, v);
    if (r->at + 1 < end && text[r->at] == '/' && text[r->at + 1] >= '0' && text[r->at + 1] <= '9') {
        r->at++;
        if (!sl_expr__text_number(r, &den, true)) return NULL;
        t = sl_expr_term_div(&r->build, t, sl_expr_term_num(&r->build, den));
    }
    if (r->at != end) {
        char quote[SL_TEXT_QUOTE];
        return sl_expr__text_fail(r, SL_EFORMAT, r->at, "\"%s\" is not a number",
                                  sl_expr__text_quote(quote, text + p->start, end - p->start));
    }
    return negative ? sl_expr_term_neg(&r->build, t) : t;
}

static sl_expr_term *named(parser *p) {
    sl_reader *r = p->r;
    int k;
    if ((k = sl_expr__text_variable(r->names, r->name)))
        return sl_expr_term_leaf(&r->build, SL_OP_VAR, k);
    if (r->text[p->start] != '`' && (k = sl_expr__text_constant(r->name)))
        return sl_expr_term_leaf(&r->build, SL_OP_PAR, k);
    const sl_constant exact = sl_expr__text_exact(r->name);
    if (r->text[p->start] != '`' && exact) return sl_expr__term_exact(&r->build, exact);
    char reason[sizeof r->build.reason];
    sl_expr__text_explain(reason, sizeof reason, r->names, r->name);
    return sl_expr__text_fail(r, SL_EFORMAT, p->start, "%s", reason);
}

static bool is_number(const parser *p) {
    const char *c = p->r->text + p->start, *end = p->r->text + p->end;
    if (*c == '-' || *c == '+') c++;
    if (c < end && *c == '.') c++;
    return c < end && *c >= '0' && *c <= '9';
}

/* A word must be text; anything else is refused here, before it is quoted or looked up. */
static bool is_text(parser *p) {
    sl_reader *r = p->r;
    int used;
    for (size_t i = p->start; i < p->end; i += (size_t)used) {
        int32_t c = sl_utf8_read(r->text + i, p->end - i, &used);
        if (c < 0x20 || c == 0x7f || c == '=') {
            sl_expr__text_bad_character(r, i);
            return false;
        }
    }
    return true;
}

sl_expr_term *sl_expr__text_prefix(sl_reader *r) {
    parser p = { .r = r };
    sl_expr_term *whole = NULL;
    while (advance(&p)) {
        const char *word = r->text + p.start;
        size_t n = p.end - p.start, len;
        char quote[SL_TEXT_QUOTE];
        if (whole)
            return sl_expr__text_fail(r, SL_EFORMAT, p.start,
                                      "\"%s\" follows a complete expression",
                                      sl_expr__text_quote(quote, word, n));
        if (*word == '`') {
            whole = reduce(&p, named(&p));
        } else if (is_number(&p)) {
            whole = reduce(&p, number(&p));
        } else {
            if (!is_text(&p)) return NULL;
            sl_expr__text_name_begin(r, &len);
            sl_expr__text_name_add(r, &len, word, n);
            sl_operator o = sl_expr_operator_find(word, n);
            sl_function f = sl_expr__text_function(r->name);
            if (f != SL_FUNCTION_NONE)
                push(&p, CALL, f, 1);
            else if (o != SL_OPERATOR_COUNT)
                push(&p, (int)o, SL_FUNCTION_NONE, 2);
            else
                whole = reduce(&p, named(&p));
        }
        if (r->build.st != SL_OK) return NULL;
    }
    if (r->build.st != SL_OK) return NULL;
    if (!whole && !p.top)
        return sl_expr__text_fail(r, SL_EFORMAT, r->n, "no expression, only blanks");
    if (!whole) {
        char quote[SL_TEXT_QUOTE];
        size_t end = p.top->start;
        while (end < r->n && !is_blank(r->text[end])) end++;
        return sl_expr__text_fail(
            r, SL_EFORMAT, r->n, "the text ends where an operand of \"%s\" should be",
            sl_expr__text_quote(quote, r->text + p.top->start, end - p.top->start));
    }
    return whole;
}

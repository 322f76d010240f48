/* Between tokens and the LaTeX they are cut from. */
#include "token/token_impl.h"

/* ---------------------------------------------------------------- text to tokens ------------ */

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/* Bytes of the longest token that may begin here: a command, a name with its subscript, or one
 * character. If they are no token, a message quotes them. */
static size_t cut(const char *text, const char *end) {
    const char *c = text + 1;
    if (*text == '\\') {
        while (c < end && is_letter(*c)) c++;
    } else if (is_letter(*text) && c < end && *c == '_') {
        c++;
        if (c < end && *c == '{')
            while (c < end && *c != '}') c++;
        if (c < end) c++;
    }
    return (size_t)(c - text);
}

static sl_status no_token(const char *text, size_t n, int id) {
    const int shown = (int)SL_MIN(n, (size_t)40);
    const unsigned char byte = (unsigned char)*text;
    if (byte < 0x20 || byte > 0x7e)
        return sl_fail(SL_EINVAL, "there is no token for byte 0x%02x", byte);
    if (id < 0) return sl_fail(SL_EINVAL, "there is no token for \"%.*s\"", shown, text);
    return sl_fail(SL_EINVAL, "the token \"%.*s\" is reserved, not in use", shown, text);
}

sl_status sl_token_from_latex(sl_token *ids, int *n, int max, const char *latex, size_t length) {
    const char *end = latex + length;
    int count = 0, digits = 0, depth = 0;
    for (const char *c = latex; c < end;) {
        if (*c == ' ') { // says nothing
            c++;
            continue;
        }
        const size_t bytes = cut(c, end);
        const int id = sl_token_find(c, bytes);
        if (id < 0 || !sl_token__rows[id].in_use) return no_token(c, bytes, id);
        digits = is_digit(*c) ? digits + 1 : 0;
        if (digits > SL_TOKEN_DIGITS)
            return sl_fail(SL_ELIMIT, "a number of more than %d digits", SL_TOKEN_DIGITS);
        const sl_class class = sl_token__rows[id].class;
        depth += (class == SL_CLASS_OPEN_BRACE || class == SL_CLASS_OPEN) -
                 (class == SL_CLASS_CLOSE_BRACE || class == SL_CLASS_CLOSE);
        if (depth > SL_TOKEN_MAX_DEPTH)
            return sl_fail(SL_ELIMIT, "more than %d brackets in each other", SL_TOKEN_MAX_DEPTH);
        if (count >= max - 1)
            return sl_fail(SL_ELIMIT, "more than %d tokens, end token included", max);
        ids[count++] = (sl_token)id;
        c += bytes;
    }
    if (count >= max) return sl_fail(SL_ELIMIT, "no room for an end token");
    ids[count++] = SL_TOKEN_END;
    *n = count;
    return SL_OK;
}

sl_status sl_token_from_expr(sl_token *ids, int *n, int max, const sl_node *e, sl_str *scratch) {
    for (const sl_node *c = e; c < e + e->len;
         c += sl_expr_step(c)) // x^{y} has tokens, but no grammar
        if (c->op == SL_OP_RAISE)
            return sl_fail(SL_EINVAL, "there are no tokens for powers with such an exponent");
    sl_str_truncate(scratch, 0);
    sl_status st = sl_expr_print(scratch, SL_FORMAT_LATEX, e, NULL);
    if (st == SL_OK) st = sl_token_from_latex(ids, n, max, scratch->text, scratch->len);
    if (scratch->failed)
        sl_str_clear(scratch); // a failure stays until cleared, and would apply to the next text
    else
        sl_str_truncate(scratch, 0);
    return st;
}

/* ---------------------------------------------------------------- tokens to text ------------ */

/* Can an operand end with this token, or begin with it? */
static bool ends_operand(sl_class c) {
    return c == SL_CLASS_ZERO || c == SL_CLASS_DIGIT || c == SL_CLASS_CLOSE_BRACE ||
           c == SL_CLASS_CLOSE || c == SL_CLASS_EULER || c == SL_CLASS_VARIABLE ||
           c == SL_CLASS_OPERAND;
}

static bool begins_operand(sl_class c) {
    return c == SL_CLASS_ZERO || c == SL_CLASS_DIGIT || c == SL_CLASS_OPEN ||
           c == SL_CLASS_FRACTION || c == SL_CLASS_ROOT || c == SL_CLASS_FUNCTION ||
           c == SL_CLASS_EULER || c == SL_CLASS_VARIABLE || c == SL_CLASS_OPERAND;
}

static bool is_number(sl_class c) { return c == SL_CLASS_ZERO || c == SL_CLASS_DIGIT; }
static bool is_sign(sl_class c) { return c == SL_CLASS_PLUS || c == SL_CLASS_MINUS; }

/* Does the printer put a blank between a and b? `before` is what stands before a: a minus between
 * two operands has blanks, one before its first operand has none. */
static bool is_apart(const sl_token_row *before, const sl_token_row *a, const sl_token_row *b) {
    if (a->class == SL_CLASS_NONE || b->class == SL_CLASS_NONE) return true;
    if (a->class == SL_CLASS_TIMES || b->class == SL_CLASS_TIMES) return true;
    if (a->class == SL_CLASS_SIGN || b->class == SL_CLASS_SIGN) return true;
    if (is_sign(b->class)) return ends_operand(a->class);
    if (is_sign(a->class)) return before && ends_operand(before->class);
    // the letter would become part of the command's name
    if (*a->text == '\\' && is_letter(*b->text)) return true;
    if (is_number(a->class) && is_number(b->class)) return false;
    return ends_operand(a->class) && begins_operand(b->class);
}

void sl_token_to_latex(sl_str *s, const sl_token *ids, int n) {
    static const sl_token_row stranger = { "", 0, SL_CLASS_NONE, false };
    const sl_token_row *before = NULL, *last = NULL;
    if (n > 0 && ids[n - 1] == SL_TOKEN_END) n--;
    for (int i = 0; i < n; i++) {
        const char *text = sl_token_text(ids[i]);
        const sl_token_row *row = &stranger;
        if (text && ids[i] != SL_TOKEN_END) row = &sl_token__rows[ids[i]];
        if (last && is_apart(before, last, row)) sl_str_add_char(s, ' ');
        if (text)
            sl_str_add(s, text);
        else
            sl_str_addf(s, "<%d>", ids[i]);
        before = last;
        last = row;
    }
}

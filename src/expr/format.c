/* The tables of formats and operators, by number and by name. */
#include "expr/expr.h"

#define X(id, text, operands) [SL_OPERATOR_##id] = { text, operands },
static const struct {
    const char *text;
    int operands;
} operators[SL_OPERATOR_COUNT] = { SL_OPERATORS(X) };
#undef X

SL_DEFINE_NAMES(sl_expr_format_name, sl_format, SL_FORMATS, SL_ROW_NAME)

sl_format sl_expr_format_find(const char *name) {
    sl_format f = 0;
    while (f < SL_FORMAT_COUNT && strcmp(sl_expr_format_name(f), name) != 0) f++;
    return f;
}

const char *sl_expr_operator_text(sl_operator o) {
    SL_ASSERT((unsigned)o < SL_OPERATOR_COUNT);
    return operators[o].text;
}

int sl_expr_operator_operands(sl_operator o) {
    SL_ASSERT((unsigned)o < SL_OPERATOR_COUNT);
    return operators[o].operands;
}

sl_operator sl_expr_operator_find(const char *text, size_t n) {
    int o = 0;
    while (o < SL_OPERATOR_COUNT &&
           (strlen(operators[o].text) != n || memcmp(operators[o].text, text, n) != 0))
        o++;
    return (sl_operator)o;
}

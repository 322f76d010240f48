/* The tree as JSON, for programs that do not read formulas.
 *
 *     2*x1^2/3 + 1.5     {"op":"sum","of":[{"op":"product","of":[{"number":"2/3"},
 *                         {"op":"power","of":[{"variable":1,"name":"x1"},{"number":"2"}]}]},
 *                         {"constant":1,"value":1.5}]}
 *
 * Operators are the nodes of the table; a power with any exponent is a power. Exact numbers are
 * texts, since readers of JSON make doubles of numbers. */
#include "expr/text_impl.h"

#include <inttypes.h>

typedef struct printer {
    sl_str *s;
    const sl_names *names;
    const double *params; // values of the free constants, or NULL
} printer;

static const char *operator_name(sl_op op) {
#define X(id, name, operands, commutes) [SL_OP_##id] = name,
    static const char *const names[SL_OP_COUNT] = { SL_NODES(X) };
#undef X
    return names[op == SL_OP_RAISE ? SL_OP_POW : op];
}

static void put_number(printer *p, sl_rat v) {
    sl_str_addf(p->s, "{\"number\":\"%" PRId64, v.num);
    if (v.den != 1) sl_str_addf(p->s, "/%" PRId64, v.den);
    sl_str_add(p->s, "\"}");
}

static void put_variable(printer *p, const sl_node *e) {
    char plain[16];
    const char *name = sl_expr__text_column_name(p->names, e->arg);
    sl_snprintf(plain, sizeof plain, "x%d", e->arg);
    sl_str_addf(p->s, "{\"variable\":%d,\"name\":", e->arg);
    sl_str_add_quoted(p->s, name ? name : plain);
    sl_str_add_char(p->s, '}');
}

static void put_constant(printer *p, const sl_node *e) {
    char text[SL_REAL_TEXT_MAX];
    sl_str_addf(p->s, "{\"constant\":%d", e->arg);
    if (p->params) {
        sl_real_text(text, p->params[e->arg - 1]);
        sl_str_addf(p->s, ",\"value\":%s", text);
    }
    sl_str_add_char(p->s, '}');
}

static void put(printer *p, const sl_node *e) {
    switch ((sl_op)e->op) {
    case SL_OP_NUM: put_number(p, sl_expr_num_value(e)); return;
    case SL_OP_VAR: put_variable(p, e); return;
    case SL_OP_PAR: put_constant(p, e); return;
    default: break;
    }
    sl_str_addf(p->s, "{\"op\":\"%s\",\"of\":[", operator_name((sl_op)e->op));
    for (const sl_node *c = e + 1; c < e + e->len; c = sl_expr_next(c)) {
        if (c > e + 1) sl_str_add_char(p->s, ',');
        put(p, c);
    }
    sl_str_add(p->s, "]}");
}

void sl_expr__text_print_json(sl_str *s, const sl_node *e, const sl_names *names,
                              const double *params) {
    printer p = { s, names, params };
    put(&p, e);
}

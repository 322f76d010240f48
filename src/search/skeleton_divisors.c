/* skeleton_divisors - divisors as linear spaces.
 *
 * In 1/(2 x1 + sin(x2 + 3) - 5) every constant outside of the function is a coefficient: the sum is
 * a combination of x1, sin(x2), cos(x2) and 1. Multiplied by it, a formula is linear in these
 * constants (skeleton_clear.c), and none of them is enumerated. Columns are products of powers.
 * Each has a name, a number such that names add up when columns are multiplied: equal columns of a
 * product are found by their names alone. */
#include <math.h>
#include <string.h>

#include "search/skeleton_impl.h"

typedef sl_search__skeleton_divisor divisor;

enum { WHOLE = 4, BELOW = SL_SKELETON__BELOW, FACTORS = 4, CHOICES = 4 };

/* ---------------------------------------------------------------- names --------------------- */

static uint64_t name_of_power(const sl_node *e, int64_t quarters) {
    if (e->op == SL_OP_NUM) return 0;
    if (e->op == SL_OP_MUL) {
        uint64_t sum = 0;
        for (const sl_node *at = e + 1; at < e + e->len; at = sl_expr_next(at))
            sum += name_of_power(at, quarters);
        return sum;
    }
    if (e->op == SL_OP_POW) {
        const sl_rat power = sl_expr_num_value(sl_expr_next(e + 1));
        if (quarters % power.den == 0)
            return name_of_power(e + 1, quarters / power.den * power.num);
    }
    return sl_expr_hash(e) * (uint64_t)quarters;
}

uint64_t sl_search__skeleton_name(const sl_node *e) { return name_of_power(e, WHOLE); }

/* ---------------------------------------------------------------- columns ------------------- */

/* A factor of a summand as columns: the factor itself, what a phase adds, powers below it, 1. */
typedef struct choices {
    int n;
    const sl_node *expr[CHOICES];
    int sine; // place of a sine, followed by its cosine; -1: none
    const sl_node
        *node; // the first is a function, node to the power quarters / 4; NULL: it is none
    int quarters;
} choices;

typedef struct making {
    sl_skeletons *s;
    divisor *d;
    bool failed; // no memory
    bool full;   // too many columns
} making;

static const sl_node *kept(making *m, const sl_node *e) {
    if (!e) m->failed = true;
    return e;
}

static void choose_function(making *m, choices *c, const sl_node *e, const sl_node *node,
                            int quarters) {
    c->node = node;
    c->quarters = quarters;
    c->expr[c->n++] = e;
    if (e->op == SL_OP_SIN) {
        c->sine = 0;
        c->expr[c->n++] = kept(m, sl_expr_fn(&m->s->arena, SL_OP_COS, e + 1));
    }
    c->expr[c->n++] = kept(m, sl_expr_int(&m->s->arena, 1));
}

/* x^power and all powers below it. */
static void choose_powers(making *m, choices *c, const sl_node *x, int power) {
    for (int k = power; k > 1 && c->n < CHOICES - 2; k--)
        c->expr[c->n++] = kept(m, sl_expr_pow(&m->s->arena, x, SL_RAT(k)));
    c->expr[c->n++] = x;
    c->expr[c->n++] = kept(m, sl_expr_int(&m->s->arena, 1));
}

/* A root of what is negative in the rows has a negative factor in it. */
static bool is_real(const making *m, const sl_node *e, double *value) {
    if (sl_expr_eval(value, &m->s->scratch, e, m->s->x, m->s->rows, NULL) != SL_OK) return false;
    for (int r = 0; r < m->s->rows; r++)
        if (!(fabs(value[r]) < 1e30)) return false;
    return true;
}

/* (sign u + summand)^power, canonical or not. */
static const sl_node *shifted_root(making *m, const sl_node *u, int sign, int summand,
                                   sl_rat power) {
    sl_arena *a = &m->s->arena;
    const sl_node *part[2] = { kept(m, sl_expr_int(a, sign)), u }, *sum = u;
    if (sign != 1 && part[0]) sum = kept(m, sl_expr_nary(a, SL_OP_MUL, part, 2));
    const sl_node *terms[2] = { sum, kept(m, sl_expr_int(a, summand)) };
    if (m->failed) return NULL;
    if (summand != 0) sum = kept(m, sl_expr_nary(a, SL_OP_ADD, terms, 2));
    return sum ? kept(m, sl_expr_pow(a, sum, power)) : NULL;
}

/* A root of what is negative in the rows has a negative factor in it; one of what has both signs,
 * a summand. Which one is found by its variants. */
static void choose_root(making *m, choices *c, const sl_node *e, sl_rat power) {
    double value[SL_SKELETON__ROWS];
    const sl_node *node = e + 1, *real = is_real(m, e, value) ? e : NULL;
    for (int summand = 0; summand <= m->s->high && !real && !m->failed; summand++)
        for (int sign = summand ? 1 : -1; sign >= -1 && !real && !m->failed; sign -= 2) {
            const sl_node *root = shifted_root(m, node, sign, summand, power);
            if (root && is_real(m, root, value)) real = root;
        }
    if (!m->failed)
        choose_function(m, c, real ? real : e, node, (int)(power.num * WHOLE / power.den));
}

static choices choose(making *m, const sl_node *e) {
    choices c = { .sine = -1 };
    if (e->op == SL_OP_VAR) {
        choose_powers(m, &c, e, 1);
    } else if (e->op == SL_OP_EXP || e->op == SL_OP_SIN) {
        choose_function(m, &c, e, e, WHOLE);
    } else if (e->op == SL_OP_POW) {
        const sl_rat power = sl_expr_num_value(sl_expr_next(e + 1));
        if (power.den > 1)
            choose_root(m, &c, e, power);
        else if (e[1].op == SL_OP_VAR && power.num > 0 && power.num < CHOICES)
            choose_powers(m, &c, e + 1, (int)power.num);
        else
            c.expr[c.n++] = e;
    } else {
        c.expr[c.n++] = e;
    }
    return c;
}

/* The product of the factors, but for number `but` (-1: of all); NULL: it has none. */
static const sl_node *product_of(making *m, const sl_node *const *factor, int n, int but) {
    const sl_node *list[FACTORS], *out;
    int count = 0;
    for (int i = 0; i < n; i++)
        if (i != but && factor[i]->op != SL_OP_NUM) list[count++] = factor[i];
    if (count == 0) return NULL;
    if (count == 1) return list[0];
    out = kept(m, sl_expr_nary(&m->s->arena, SL_OP_MUL, list, count));
    return out;
}

/* Place of the column in the divisor, to which it is added; -1: it is not real or there is no room.
 */
static int add_column(making *m, const sl_node *e) {
    divisor *d = m->d;
    const uint64_t name = sl_search__skeleton_name(e);
    for (int i = 0; i < d->columns; i++)
        if (d->name[i] == name) return i;
    if (d->columns == BELOW) m->full = true;
    if (m->full || !is_real(m, e, d->value[d->columns])) return -1;
    d->expr[d->columns] = e;
    d->name[d->columns] = name;
    d->sine[d->columns] = -1;
    return d->columns++;
}

/* The function that is the first choice of a factor; NULL: there is no room for it. */
static sl_search__skeleton_inner *find_inner(divisor *d, const choices *c) {
    for (int i = 0; i < d->inners; i++)
        if (sl_expr_equal(d->inner[i].function, c->expr[0])) return &d->inner[i];
    if (d->inners == SL_SKELETON__INNERS) return NULL;
    d->inner[d->inners] = (sl_search__skeleton_inner){
        .function = c->expr[0], .node = c->node, .quarters = c->quarters, .piece = -1
    };
    return &d->inner[d->inners++];
}

/* Column number `at` has the first choice of some factors. */
static void note_inners(divisor *d, const choices *c, int n, const sl_node *const *factor, int at) {
    for (int i = 0; i < n; i++) {
        if (!c[i].node || factor[i] != c[i].expr[0]) continue;
        sl_search__skeleton_inner *inner = find_inner(d, &c[i]);
        if (inner) inner->columns |= 1u << at;
    }
}

/* All columns of a product: one of the choices of each factor. */
static void add_columns(making *m, const choices *c, int n) {
    int all = 1;
    for (int i = 0; i < n; i++) all *= c[i].n;
    for (int k = 0; k < all && !m->failed && !m->full; k++) {
        const sl_node *factor[FACTORS];
        int sine = -1;
        for (int i = 0, rest = k; i < n; i++) {
            const int at = rest % c[i].n;
            factor[i] = c[i].expr[at];
            if (c[i].sine >= 0 && at == c[i].sine) sine = i;
            rest /= c[i].n;
        }
        const sl_node *e = product_of(m, factor, n, -1);
        if (!e && !m->failed) e = kept(m, sl_expr_int(&m->s->arena, 1));
        if (m->failed) return;
        const int at = add_column(m, e);
        const bool own = k == 0 || e->op == SL_OP_NUM;
        if (at >= 0) note_inners(m->d, c, n, factor, at);
        if (at >= 0 && own) m->d->own |= 1u << at;
        if (sine < 0 || at < 0 || m->d->angle[at]) continue;
        m->d->angle[at] = factor[sine] + 1;
        m->d->rest[at] = product_of(m, factor, n, sine);
        factor[sine] = c[sine].expr[c[sine].sine + 1];
        if (m->failed || !(e = product_of(m, factor, n, -1))) return;
        const int cosine = add_column(m, e);
        if (cosine >= 0) m->d->sine[cosine] = (int8_t)at;
        if (cosine >= 0 && own) m->d->own |= 1u << cosine;
    }
}

/* The columns of one summand, without its number. */
static void add_summand(making *m, const sl_node *e) {
    choices c[FACTORS];
    int n = 0;
    const sl_node *at = e->op == SL_OP_MUL ? e + 1 : e;
    for (; at < e + e->len; at = sl_expr_next(at)) {
        if (at->op == SL_OP_NUM) continue;
        if (n == FACTORS) {
            m->full = true;
            return;
        }
        c[n++] = choose(m, at);
    }
    if (n > 0 && !m->failed) add_columns(m, c, n);
}

sl_status sl_search__skeleton_make_divisor(sl_search__skeleton_piece *p, sl_skeletons *s) {
    const sl_node *node = s->node[p->factor.node];
    making m = { s, &p->divisor, false, false };
    if (p->factor.quarters >= 0 || p->factor.quarters % WHOLE != 0) return SL_OK;
    if (node->op != SL_OP_VAR && node->op != SL_OP_SIN && node->op != SL_OP_ADD) return SL_OK;
    p->divisor.value = sl_arena_alloc(&s->arena, BELOW * sizeof *p->divisor.value);
    if (!p->divisor.value) return sl_fail(SL_ENOMEM, "no memory for a skeleton");
    if (node->op == SL_OP_ADD)
        for (const sl_node *at = node + 1; at < node + node->len; at = sl_expr_next(at))
            add_summand(&m, at);
    else
        add_summand(&m, node);
    if (m.failed) return sl_fail(SL_ENOMEM, "no memory for a skeleton");
    p->divisor.power = -p->factor.quarters / WHOLE;
    if (m.full) p->divisor = (divisor){ 0 };
    for (int i = 0; i < p->divisor.inners; i++)
        for (int k = 0; k < p->divisor.columns; k++) {
            const int sine = p->divisor.sine[k];
            if (sine >= 0 && p->divisor.inner[i].columns >> sine & 1)
                p->divisor.inner[i].beside |= 1u << k;
        }
    return SL_OK;
}

/* ---------------------------------------------------------------- variants ------------------ */

/* A column with another function in the place of `old`; NULL: no memory. */
static const sl_node *exchange(sl_arena *a, const sl_node *column, const sl_node *old,
                               const sl_node *new) {
    const sl_node *list[FACTORS];
    int n = 0;
    if (sl_expr_equal(column, old)) return new;
    if (column->op != SL_OP_MUL) return column;
    for (const sl_node *at = column + 1; at < column + column->len && n < FACTORS;
         at = sl_expr_next(at))
        list[n++] = sl_expr_equal(at, old) ? new : at;
    return sl_expr_nary(a, SL_OP_MUL, list, n);
}

/* Column k, with another function in the place of `old`. */
static sl_status exchange_column(bool *good, divisor *d, sl_arena *a, const sl_skeletons *s, int k,
                                 const sl_node *old, const sl_node *new) {
    const sl_node *e = exchange(a, d->expr[k], old, new);
    if (!e) return sl_fail(SL_ENOMEM, "no memory for a formula");
    d->expr[k] = e;
    d->name[k] = sl_search__skeleton_name(e);
    if (d->angle[k]) d->angle[k] = new + 1;
    SL_TRY(sl_expr_eval(d->value[k], a, e, s->x, s->rows, NULL));
    for (int r = 0; r < s->rows; r++) *good = *good && fabs(d->value[k][r]) < 1e30;
    return SL_OK;
}

sl_status sl_search__skeleton_vary_divisor(bool *good, divisor *out, sl_arena *a,
                                           const sl_skeletons *s, const divisor *d, int inner,
                                           int32_t variant) {
    const sl_search__skeleton_inner *u = &d->inner[inner];
    const sl_search__skeleton_piece *p = &s->piece[u->piece];
    const sl_search__skeleton_variant *v = &p->set[SL_SKELETON__ONE].list[variant];
    const sl_node *new[2] = { NULL }, *cosine = NULL;
    *out = *d;
    *good = true;
    out->value = sl_arena_alloc(a, BELOW * sizeof *out->value);
    if (!out->value) return sl_fail(SL_ENOMEM, "no memory for a formula");
    memcpy(out->value, d->value, (size_t)d->columns * sizeof *out->value);
    for (int k = 0; k < SL_MIN(p->columns, 2); k++)
        SL_TRY(sl_search__skeleton_variant_expr(&new[k], a, p, v, k));
    if (u->beside) cosine = sl_expr_fn(a, SL_OP_COS, u->function + 1);
    if (u->beside && !cosine) return sl_fail(SL_ENOMEM, "no memory for a formula");
    for (int k = 0; k < d->columns && *good; k++) {
        if (u->columns >> k & 1)
            SL_TRY(exchange_column(good, out, a, s, k, u->function, new[0]));
        else if (u->beside >> k & 1)
            SL_TRY(exchange_column(good, out, a, s, k, cosine, new[1]));
    }
    return SL_OK;
}

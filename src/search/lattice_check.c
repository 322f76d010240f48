/* lattice_check - a hit at many rows: the free coefficients by least squares, then every row.
 *
 * Rows are weighted by 1/t^2, t being the required value of the affine half: otherwise the rows of
 * largest |y| dominate, and a formula that misses the small ones passes. A row's error is allowed
 * to be as large as rounding makes it, relative to the terms that are added, but terms that cancel
 * to less than a millionth are no formula. */
#include <math.h>
#include <string.h>

#include "num/num.h"
#include "search/lattice_impl.h"

static const double TOLERANCE = 1e-9, ROUNDING = 4e-15, CANCELLATION = 1e6;
static const double ROUNDED =
    1.6; // halves of a unit of y's last digit, where coefficients are fitted
enum { FIRST_ROWS = 12 };

/* ---------------------------------------------------------------- values -------------------- */

static double atom_at(const sl_lattice *l, int32_t i, int row) {
    const sl_search__lattice_atom *t = &l->atom[i];
    return t->factor * l->x[t->variable][row] + t->summand;
}

static double inner_at(const sl_lattice *l, uint32_t id, int row) {
    const sl_search__lattice_inner *e = &l->inner[id];
    double p = atom_at(l, e->left, row);
    switch ((sl_search__lattice_op)e->op) {
    case SL_LATTICE__ATOM: return p;
    case SL_LATTICE__SUM: return p + atom_at(l, e->right, row);
    case SL_LATTICE__DIFFERENCE: return p - atom_at(l, e->right, row);
    case SL_LATTICE__PRODUCT: return p * atom_at(l, e->right, row);
    case SL_LATTICE__QUOTIENT: return p / atom_at(l, e->right, row);
    case SL_LATTICE__EXP: return e->factor * sl_exp(p) + e->summand;
    case SL_LATTICE__SIN: return e->factor * sl_sin(p) + e->summand;
    case SL_LATTICE__SQUARE: return p * p;
    default: return e->factor * sqrt(p) + e->summand;
    }
}

typedef struct half {
    int constants;
    sl_search__lattice_family family;
    uint32_t p, q;
} half;

static half half_of(sl_search__lattice_code h) {
    return (half){ sl_search__lattice_constants_of(h), sl_search__lattice_family_of(h),
                   (uint32_t)(h >> 20) & 0x1FFFFF, (uint32_t)h & 0xFFFFF };
}

/* A half of two inner expressions, or of one and a ratio, from their values. */
static double combined(const sl_lattice *l, half h, double p, double q) {
    switch (h.family) {
    case SL_LATTICE__HALF_SINGLE: return p;
    case SL_LATTICE__HALF_SUM: return p + q;
    case SL_LATTICE__HALF_DIFFERENCE: return p - q;
    case SL_LATTICE__HALF_PRODUCT: return p * q;
    case SL_LATTICE__HALF_QUOTIENT: return p / q;
    case SL_LATTICE__HALF_EXP: return sl_exp(p) + l->ratio[h.q].value;
    case SL_LATTICE__HALF_EXP_NEGATIVE: return sl_exp(-p) + l->ratio[h.q].value;
    case SL_LATTICE__HALF_SIN: return sl_sin(p) + l->ratio[h.q].value;
    case SL_LATTICE__HALF_SQRT: return sqrt(p) + l->ratio[h.q].value;
    case SL_LATTICE__HALF_SQUARE: return p * p + l->ratio[h.q].value;
    case SL_LATTICE__HALF_CUBE: return p * p * p + l->ratio[h.q].value;
    case SL_LATTICE__HALF_THREE_HALVES: return p * sqrt(p) + l->ratio[h.q].value;
    default: return sqrt(-p) + l->ratio[h.q].value;
    }
}

static bool is_binary(sl_search__lattice_family family) {
    return family >= SL_LATTICE__HALF_SUM && family <= SL_LATTICE__HALF_QUOTIENT;
}

/* Three factors: the half f and the inner expression d. */
static double of_three(sl_search__lattice_family family, double f, double d) {
    return family == SL_LATTICE__HALF_TIMES ? f * d
           : family == SL_LATTICE__HALF_PER ? f / d
                                            : d / f;
}

double sl_search__lattice_half_at(const sl_lattice *l, sl_search__lattice_code code, int row) {
    half h = half_of(code);
    if (h.family >= SL_LATTICE__HALF_TIMES)
        return of_three(h.family, sl_search__lattice_half_at(l, l->factor[h.p], row),
                        inner_at(l, h.q, row));
    return combined(l, h, inner_at(l, h.p, row), is_binary(h.family) ? inner_at(l, h.q, row) : 0);
}

double sl_search__lattice_half_probe(const sl_lattice *l, sl_search__lattice_code code, int k) {
    const double *value = l->list[SL_LATTICE__FULL].value[k];
    half h = half_of(code);
    if (h.family >= SL_LATTICE__HALF_TIMES)
        return of_three(h.family, sl_search__lattice_half_probe(l, l->factor[h.p], k), value[h.q]);
    return combined(l, h, value[h.p], is_binary(h.family) ? value[h.q] : 0);
}

/* ---------------------------------------------------------------- a form as a linear fit ---- */

typedef sl_search__lattice_linear linear;

static bool has_two(sl_search__lattice_form form) {
    return form != SL_LATTICE__FORM_ONE && form != SL_LATTICE__FORM_FACTOR &&
           form != SL_LATTICE__FORM_RECIPROCAL;
}

static bool is_linear(sl_search__lattice_form form) {
    return form == SL_LATTICE__FORM_SUM || form == SL_LATTICE__FORM_ONE ||
           form == SL_LATTICE__FORM_FACTOR || form == SL_LATTICE__FORM_TERMS;
}

/* The required value of the affine part in a row where y and f have these values. */
static double target(sl_search__lattice_form form, double y, double f, double r) {
    switch (form) {
    case SL_LATTICE__FORM_EXP_TIMES: return sl_log(fabs(y / f - r));
    case SL_LATTICE__FORM_EXP_PER: return sl_log(fabs(y * f - r));
    case SL_LATTICE__FORM_ROOT_TIMES: return (y / f - r) * (y / f - r);
    case SL_LATTICE__FORM_ROOT_PER: return (y * f - r) * (y * f - r);
    case SL_LATTICE__FORM_TIMES: return y / f;
    case SL_LATTICE__FORM_PER:
    case SL_LATTICE__FORM_RECIPROCAL: return y * f;
    case SL_LATTICE__FORM_OVER: return f / y;
    case SL_LATTICE__FORM_INVERSE: return 1 / (y * f);
    default: return y;
    }
}

/* Its derivative by y. */
static double slope(sl_search__lattice_form form, double y, double f, double r) {
    switch (form) {
    case SL_LATTICE__FORM_EXP_TIMES: return 1 / (y - r * f);
    case SL_LATTICE__FORM_EXP_PER: return f / (y * f - r);
    case SL_LATTICE__FORM_ROOT_TIMES: return 2 * (y / f - r) / f;
    case SL_LATTICE__FORM_ROOT_PER: return 2 * (y * f - r) * f;
    case SL_LATTICE__FORM_TIMES: return 1 / f;
    case SL_LATTICE__FORM_PER:
    case SL_LATTICE__FORM_RECIPROCAL: return f;
    case SL_LATTICE__FORM_OVER: return f / (y * y);
    case SL_LATTICE__FORM_INVERSE: return 1 / (y * y * f);
    default: return 1;
    }
}

static bool set_row(linear *m, const sl_lattice *l, const sl_search__lattice_hit *h, int r) {
    double f = sl_search__lattice_half_at(l, h->f, r), y = l->y[r], one = 1;
    if (h->peeled) y -= h->peeled * sl_search__lattice_half_at(l, h->others[0], r);
    double g = has_two(h->form) ? sl_search__lattice_half_at(l, h->g, r) : 0;
    double t = target(h->form, y, f, h->beside);
    const double *part[SL_LATTICE__COLUMNS];
    double other[SL_LATTICE__OTHERS];
    m->columns = 0;
    if (is_linear(h->form)) part[m->columns++] = &f;
    if (has_two(h->form)) part[m->columns++] = &g;
    if (h->form != SL_LATTICE__FORM_FACTOR) part[m->columns++] = &one;
    for (int k = 0; k < h->n_others; k++) {
        other[k] = sl_search__lattice_half_at(l, h->others[k], r);
        part[m->columns++] = &other[k];
    }
    for (int k = 0; k < m->columns; k++) {
        if (!(fabs(*part[k]) < 1e100)) return false;
        m->column[k][r] = *part[k];
    }
    m->t[r] = t;
    double size = fabs(t) + 1e-6 * l->smallest;
    m->reach[r] = TOLERANCE * fabs(t);
    if (l->noise > 0) { // rows by their own digits
        size = fabs(slope(h->form, y, f, h->beside)) * SL_MAX(l->rounding[r], l->least_rounding);
        m->reach[r] = ROUNDED * size;
    }
    m->w[r] = 1 / (size * size);
    m->size = SL_MAX(m->size, fabs(t));
    return fabs(t) < 1e150 && m->w[r] < 1e300 && m->w[r] > 1e-300;
}

bool sl_search__lattice_holds(const linear *m, const double *coefficient, int from) {
    for (int r = from; r < m->rows; r++) {
        double sum = 0, size = 0;
        for (int k = 0; k < m->columns; k++) {
            sum += coefficient[k] * m->column[k][r];
            size += fabs(coefficient[k] * m->column[k][r]);
        }
        if (!(fabs(sum - m->t[r]) <= m->reach[r] + ROUNDING * size)) return false;
        if (!(size <= CANCELLATION * m->size)) return false;
    }
    return true;
}

static sl_status fit(bool *good, double *coefficient, sl_arena *scratch, const linear *m) {
    sl_lsq lsq;
    const double *column[SL_LATTICE__COLUMNS];
    for (int k = 0; k < SL_LATTICE__COLUMNS; k++) column[k] = m->column[k];
    SL_TRY(
        sl_num_lsq_fit(&lsq, coefficient, NULL, scratch, column, m->t, m->w, m->rows, m->columns));
    *good = lsq.rank == m->columns && sl_search__lattice_holds(m, coefficient, 0);
    return SL_OK;
}

/* ---------------------------------------------------------------- the check ----------------- */

static bool is_whole(double v) { return fabs(v - nearbyint(v)) <= 1e-7 * fabs(v); }

/* 0 for a coefficient whose term is below rounding in all rows; 1 for one that is nearly 1. */
static double tidy(double v, const double *column, const linear *m) {
    bool seen = false;
    for (int r = 0; r < m->rows && !seen; r++) seen = fabs(v * column[r]) > 1e-10 * fabs(m->t[r]);
    if (!seen) return 0;
    return fabs(fabs(v) - 1) < 1e-9 ? (v < 0 ? -1 : 1) : v;
}

static double price_of(double v) {
    return v == 0 || v == 1 ? 0 : v == -1 ? 0.1 : is_whole(v) ? 1 : is_whole(2520 * v) ? 2 : 4;
}

/* Coefficients by their place: of f, of g, the summand. */
static void set_coefficients(sl_search__lattice_hit *h, const linear *m, const double *coefficient,
                             const sl_search__lattice_number *number) {
    bool there[SL_LATTICE__COLUMNS] = { is_linear(h->form), has_two(h->form),
                                        h->form != SL_LATTICE__FORM_FACTOR };
    for (int i = 0; i < h->n_others; i++) there[3 + i] = true;
    h->price = half_of(h->f).constants + (has_two(h->form) ? half_of(h->g).constants : 0);
    h->price += price_of(h->beside);
    if (h->peeled) h->price += half_of(h->others[0]).constants + price_of(h->peeled);
    for (int i = 0, k = 0; i < SL_LATTICE__COLUMNS; i++) {
        h->coefficient[i] = 0;
        h->number[i] = (sl_search__lattice_number){ .degree = 1 };
        if (!there[i]) continue;
        h->coefficient[i] = tidy(coefficient[k], m->column[k], m);
        h->number[i] = number[k];
        h->price += price_of(h->coefficient[i]);
        k++;
    }
}

sl_status sl_search__lattice_check(sl_search__lattice_hit *hit, sl_arena *scratch,
                                   const sl_lattice *l) {
    linear m = { .rows = SL_MIN(FIRST_ROWS, l->rows) };
    double coefficient[SL_LATTICE__COLUMNS] = { 0 };
    sl_search__lattice_number number[SL_LATTICE__COLUMNS] = { 0 };
    hit->good = false;
    hit->sure = true;
    for (int r = 0; r < m.rows; r++)
        if (!set_row(&m, l, hit, r)) return SL_OK;
    bool good;
    SL_TRY(fit(&good, coefficient, scratch, &m));
    if (!good) return SL_OK;
    for (; m.rows < l->rows; m.rows++)
        if (!set_row(&m, l, hit, m.rows)) return SL_OK;
    SL_TRY(fit(&good, coefficient, scratch, &m));
    if (!good) return SL_OK;
    if (l->noise > 0) SL_TRY(sl_search__lattice_snap(&hit->sure, coefficient, number, scratch, &m));
    set_coefficients(hit, &m, coefficient, number);
    hit->good = true;
    return SL_OK;
}

/* ---------------------------------------------------------------- expressions --------------- */

/* Builders pass NULL on; the status is read once at the end. */
typedef struct builder {
    sl_arena *a;
    const sl_lattice *l;
    double *value;
    int params;
} builder;

static const sl_node *two(builder *b, sl_op op, const sl_node *p, const sl_node *q) {
    const sl_node *operands[] = { p, q };
    return p && q ? sl_expr_nary(b->a, op, operands, 2) : NULL;
}

static const sl_node *apply(builder *b, sl_operator o, const sl_node *p, const sl_node *q) {
    return p && (q || sl_expr_operator_operands(o) == 1) ? sl_expr_apply(b->a, o, p, q) : NULL;
}

static const sl_node *with_constants(builder *b, const sl_node *u, int64_t factor,
                                     int64_t summand) {
    if (factor != 1) u = two(b, SL_OP_MUL, sl_expr_int(b->a, factor), u);
    if (summand != 0) u = two(b, SL_OP_ADD, u, sl_expr_int(b->a, summand));
    return u;
}

static const sl_node *atom_expr(builder *b, int32_t i) {
    const sl_search__lattice_atom *t = &b->l->atom[i];
    return with_constants(b, sl_expr_var(b->a, t->variable + 1), t->factor, t->summand);
}

static const sl_node *inner_expr(builder *b, uint32_t id) {
    const sl_search__lattice_inner *e = &b->l->inner[id];
    const sl_node *p = atom_expr(b, e->left);
    static const sl_operator operators[] = {
        [SL_LATTICE__SUM] = SL_OPERATOR_ADD,     [SL_LATTICE__DIFFERENCE] = SL_OPERATOR_SUB,
        [SL_LATTICE__PRODUCT] = SL_OPERATOR_MUL, [SL_LATTICE__QUOTIENT] = SL_OPERATOR_DIV,
        [SL_LATTICE__EXP] = SL_OPERATOR_EXP,     [SL_LATTICE__SIN] = SL_OPERATOR_SIN,
        [SL_LATTICE__SQRT] = SL_OPERATOR_SQRT
    };
    if (e->op == SL_LATTICE__ATOM) return p;
    if (e->op == SL_LATTICE__SQUARE) return p ? sl_expr_pow(b->a, p, SL_RAT(2)) : NULL;
    if (e->op < SL_LATTICE__EXP) return apply(b, operators[e->op], p, atom_expr(b, e->right));
    return with_constants(b, apply(b, operators[e->op], p, NULL), e->factor, e->summand);
}

static const sl_node *half_expr(builder *b, sl_search__lattice_code code);

static const sl_node *triple_expr(builder *b, half h) {
    const sl_node *f = half_expr(b, b->l->factor[h.p]), *d = inner_expr(b, h.q);
    if (h.family == SL_LATTICE__HALF_TIMES) return apply(b, SL_OPERATOR_MUL, f, d);
    return h.family == SL_LATTICE__HALF_PER ? apply(b, SL_OPERATOR_DIV, f, d)
                                            : apply(b, SL_OPERATOR_DIV, d, f);
}

static const sl_node *function_expr(builder *b, sl_search__lattice_family family,
                                    const sl_node *p) {
    switch (family) {
    case SL_LATTICE__HALF_EXP:
    case SL_LATTICE__HALF_EXP_NEGATIVE: return apply(b, SL_OPERATOR_EXP, p, NULL);
    case SL_LATTICE__HALF_SIN: return apply(b, SL_OPERATOR_SIN, p, NULL);
    case SL_LATTICE__HALF_SQUARE: return p ? sl_expr_pow(b->a, p, SL_RAT(2)) : NULL;
    case SL_LATTICE__HALF_CUBE: return p ? sl_expr_pow(b->a, p, SL_RAT(3)) : NULL;
    case SL_LATTICE__HALF_THREE_HALVES: return p ? sl_expr_pow(b->a, p, (sl_rat){ 3, 2 }) : NULL;
    default: return apply(b, SL_OPERATOR_SQRT, p, NULL);
    }
}

static const sl_node *half_expr(builder *b, sl_search__lattice_code code) {
    half h = half_of(code);
    if (h.family >= SL_LATTICE__HALF_TIMES) return triple_expr(b, h);
    const sl_node *p = inner_expr(b, h.p);
    sl_rat ratio;
    switch (h.family) {
    case SL_LATTICE__HALF_SINGLE: return p;
    case SL_LATTICE__HALF_SUM: return apply(b, SL_OPERATOR_ADD, p, inner_expr(b, h.q));
    case SL_LATTICE__HALF_DIFFERENCE: return apply(b, SL_OPERATOR_SUB, p, inner_expr(b, h.q));
    case SL_LATTICE__HALF_PRODUCT: return apply(b, SL_OPERATOR_MUL, p, inner_expr(b, h.q));
    case SL_LATTICE__HALF_QUOTIENT: return apply(b, SL_OPERATOR_DIV, p, inner_expr(b, h.q));
    case SL_LATTICE__HALF_EXP_NEGATIVE:
    case SL_LATTICE__HALF_SQRT_NEGATIVE: p = apply(b, SL_OPERATOR_NEG, p, NULL); break;
    default: break;
    }
    p = function_expr(b, h.family, p);
    const sl_search__lattice_ratio *r = &b->l->ratio[h.q];
    if (r->num == 0) return p;
    return sl_expr_rat_make(&ratio, r->num, r->den) ? two(b, SL_OP_ADD, p, sl_expr_num(b->a, ratio))
                                                    : NULL;
}

/* Coefficient i times u; u NULL: the coefficient alone. *there: the term is not empty; then NULL is
 * lack of memory. */
static const sl_node *term(builder *b, bool *there, const sl_search__lattice_hit *h, int i,
                           const sl_node *u, bool alone) {
    const double coefficient = h->coefficient[i];
    *there = coefficient != 0;
    if (!*there) return NULL;
    if (!alone && coefficient == 1) return u;
    if (!alone && coefficient == -1) return apply(b, SL_OPERATOR_NEG, u, NULL);
    const sl_node *c;
    if (h->number[i].times.den) {
        c = sl_search__lattice_number_expr(b->a, h->number[i]);
    } else {
        b->value[b->params++] = coefficient;
        c = sl_expr_par(b->a, b->params);
    }
    return alone ? c : two(b, SL_OP_MUL, c, u);
}

/* coefficient[0] f + coefficient[1] g + coefficient[2], without zero terms. */
static const sl_node *affine_expr(builder *b, const sl_search__lattice_hit *h, const sl_node *f,
                                  const sl_node *g) {
    const sl_node *part[SL_LATTICE__COLUMNS] = { NULL }, *sum = NULL;
    bool there[SL_LATTICE__COLUMNS] = { false }, any = false;
    if (f) part[0] = term(b, &there[0], h, 0, f, false);
    if (g) part[1] = term(b, &there[1], h, 1, g, false);
    part[2] = term(b, &there[2], h, 2, NULL, true);
    for (int i = 0; i < h->n_others; i++)
        part[3 + i] = term(b, &there[3 + i], h, 3 + i, half_expr(b, h->others[i]), false);
    for (int i = 0; i < SL_LATTICE__COLUMNS; i++) {
        if (!there[i]) continue;
        sum = any ? two(b, SL_OP_ADD, sum, part[i]) : part[i];
        any = true;
    }
    return any ? sum : sl_expr_int(b->a, 0);
}

/* The function of an affine half, with the sign that it has in the first row, and r. */
static const sl_node *inverse_expr(builder *b, const sl_search__lattice_hit *h, const sl_node *g) {
    bool times = h->form == SL_LATTICE__FORM_EXP_TIMES || h->form == SL_LATTICE__FORM_ROOT_TIMES;
    bool root = h->form == SL_LATTICE__FORM_ROOT_TIMES || h->form == SL_LATTICE__FORM_ROOT_PER;
    double f = sl_search__lattice_half_at(b->l, h->f, 0), y = b->l->y[0];
    bool negative = (times ? y / f : y * f) - h->beside < 0;
    const sl_node *u =
        apply(b, root ? SL_OPERATOR_SQRT : SL_OPERATOR_EXP, affine_expr(b, h, NULL, g), NULL);
    if (negative) u = apply(b, SL_OPERATOR_NEG, u, NULL);
    return h->beside ? two(b, SL_OP_ADD, u, sl_expr_int(b->a, h->beside)) : u;
}

static const sl_node *build(builder *b, const sl_search__lattice_hit *h) {
    const sl_node *f = half_expr(b, h->f), *g = has_two(h->form) ? half_expr(b, h->g) : NULL;
    if (!f || (has_two(h->form) && !g)) return NULL;
    switch ((sl_search__lattice_form)h->form) {
    case SL_LATTICE__FORM_SUM:
    case SL_LATTICE__FORM_ONE:
    case SL_LATTICE__FORM_TERMS:
    case SL_LATTICE__FORM_FACTOR: return affine_expr(b, h, f, g);
    case SL_LATTICE__FORM_TIMES: return apply(b, SL_OPERATOR_MUL, f, affine_expr(b, h, NULL, g));
    case SL_LATTICE__FORM_PER:
    case SL_LATTICE__FORM_RECIPROCAL:
        return apply(b, SL_OPERATOR_DIV, affine_expr(b, h, NULL, g), f);
    case SL_LATTICE__FORM_OVER: return apply(b, SL_OPERATOR_DIV, f, affine_expr(b, h, NULL, g));
    case SL_LATTICE__FORM_EXP_TIMES:
    case SL_LATTICE__FORM_ROOT_TIMES: return apply(b, SL_OPERATOR_MUL, f, inverse_expr(b, h, g));
    case SL_LATTICE__FORM_EXP_PER:
    case SL_LATTICE__FORM_ROOT_PER: return apply(b, SL_OPERATOR_DIV, inverse_expr(b, h, g), f);
    default:
        return apply(b, SL_OPERATOR_DIV, sl_expr_int(b->a, 1),
                     apply(b, SL_OPERATOR_MUL, f, affine_expr(b, h, NULL, g)));
    }
}

sl_status sl_search__lattice_expr(const sl_node **out, double *value, int *params, sl_arena *a,
                                  const sl_lattice *l, const sl_search__lattice_hit *hit) {
    builder b = { a, l, value, 0 };
    const sl_node *e = build(&b, hit);
    if (hit->peeled) {
        const sl_node *term = half_expr(&b, hit->others[0]);
        e = two(&b, SL_OP_ADD, two(&b, SL_OP_MUL, sl_expr_int(a, hit->peeled), term), e);
    }
    if (!e) return sl_fail(SL_ENOMEM, "no memory for a formula of the lattice");
    *params = b.params;
    return sl_expr_tidy(out, a, e);
}

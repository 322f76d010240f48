/* Products in canonical form: one list of (base, exponent), normalised and multiplied out.
 * docs/math/canonical.md lists the rules; names in brackets are theirs. */
#include "expr/canon_impl.h"

/* ---------------------------------------------------------------- products ------------------ */

/* base^exponent with an exponent that is no number, uncollected. */
typedef struct raised {
    const sl_node *base;
    sl_poly exponent;
} raised;

typedef struct product {
    sl_rat coef;
    sl_canon_entry *part; // sorted by base
    int n, cap;
    sl_poly exponent;   // the argument of the one exp, uncollected
    const sl_node *exp; // or the only exp so far, taken as it is
    raised *raised;
    int n_raised, cap_raised;
    bool zero;
} product;

static sl_status times_number(product *p, sl_rat v) {
    return sl_expr_rat_mul(&p->coef, p->coef, v) ? SL_OK : sl_expr__canon_overflow();
}

/* p *= base^exp; adds to the exponent of an equal base. */
static sl_status add_part(product *p, sl_canon_work *w, const sl_node *base, sl_rat exp,
                          bool primitive) {
    int lo = 0, hi = p->n;
    while (lo < hi) {
        int mid = (lo + hi) / 2, c = sl_expr__cmp_base(p->part[mid].base, base);
        if (c == 0) {
            sl_canon_entry *x = &p->part[mid];
            x->primitive |= primitive;
            return sl_expr_rat_add(&x->exp, x->exp, exp) ? SL_OK : sl_expr__canon_overflow();
        }
        if (c < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    SL_CANON_GROW(p->part, p->n, p->cap, w);
    memmove(p->part + lo + 1, p->part + lo, (size_t)(p->n - lo) * sizeof *p->part);
    p->part[lo] = (sl_canon_entry){ base, exp, primitive };
    p->n++;
    return SL_OK;
}

static void drop_part(product *p, int i) {
    p->n--;
    memmove(p->part + i, p->part + i + 1, (size_t)(p->n - i) * sizeof *p->part);
}

static sl_rat floor_of(sl_rat r) {
    int64_t q = r.num / r.den;
    return SL_RAT(q - (r.num < 0 && q * r.den != r.num));
}

static sl_rat minus(sl_rat r) { return (sl_rat){ -r.num, r.den }; }

/* p *= n^exp for an integer n >= 1 and a fractional exponent: by primes as far as they are cheap to
 * find [numbers]. What is left has no prime factor below 1000, so it is at most a 6th power. */
static sl_status times_root(product *p, sl_canon_work *w, int64_t n, sl_rat exp) {
    for (int64_t prime = 2; n > 1 && prime < 1000; prime += 1 + (prime > 2)) {
        if (prime * prime > n) prime = n;
        int64_t k = 0;
        for (; n % prime == 0; n /= prime) k++;
        if (!k) continue;
        const sl_node *base = sl_expr_int(w->a, prime);
        if (!base) return sl_fail_memory(1, sizeof *base, "a number");
        sl_rat e;
        if (!sl_expr_rat_mul(&e, exp, SL_RAT(k))) return sl_expr__canon_overflow();
        SL_TRY(add_part(p, w, base, e, false));
    }
    if (n == 1) return SL_OK;
    for (int64_t k = 6; k >= 1; k--) {
        sl_rat root;
        bool exact;
        SL_TRY(sl_expr__num_pow(&root, &exact, SL_RAT(n), (sl_rat){ 1, k }));
        if (!exact) continue;
        const sl_node *base = sl_expr_int(w->a, root.num);
        if (!base) return sl_fail_memory(1, sizeof *base, "a number");
        sl_rat e;
        if (!sl_expr_rat_mul(&e, exp, SL_RAT(k))) return sl_expr__canon_overflow();
        return add_part(p, w, base, e, false);
    }
    return SL_OK; // k = 1 is always exact
}

/* p *= v^exp for v > 0, or any v != 0 and an integer exponent. */
static sl_status times_power_of_number(product *p, sl_canon_work *w, sl_rat v, sl_rat exp) {
    if (sl_expr_rat_is(v, 1)) return SL_OK;
    if (sl_expr_rat_is_int(exp)) {
        sl_rat r;
        if (!sl_expr_rat_pow(&r, v, exp.num)) return sl_expr__canon_overflow();
        return times_number(p, r);
    }
    SL_TRY(times_root(p, w, v.num, exp));
    return times_root(p, w, v.den, minus(exp));
}

/* p *= exp(sum of more). */
static sl_status times_exp_of(product *p, sl_canon_work *w, const sl_poly *more) {
    if (p->exp) {
        SL_TRY(sl_expr__poly_read(&p->exponent, w, p->exp + 1));
        p->exp = NULL;
    }
    for (int i = 0; i < more->n; i++) SL_TRY(sl_expr__poly_push(&p->exponent, w, more->t[i]));
    return SL_OK;
}

/* p *= exp(argument)^exp = exp(exp*argument) [exp]. One exp alone is kept as it stands. */
static sl_status times_exp(product *p, sl_canon_work *w, const sl_node *base, sl_rat exp) {
    if (!p->exp && !p->exponent.n && sl_expr_rat_is(exp, 1)) {
        p->exp = base;
        return SL_OK;
    }
    sl_poly more;
    SL_TRY(sl_expr__poly_read(&more, w, base + 1));
    SL_TRY(sl_expr__poly_scale(&more, w, exp));
    return times_exp_of(p, w, &more);
}

/* p *= base^(sum of more); adds to the exponent of an equal base [powers with other exponents]. */
static sl_status times_raised(product *p, sl_canon_work *w, const sl_node *base,
                              const sl_poly *more) {
    if (base->op == SL_OP_EXP) { // exp(u)^v = exp(u v)
        sl_poly u, uv = { 0 };
        SL_TRY(sl_expr__poly_read(&u, w, base + 1));
        SL_TRY(sl_expr__poly_mul(&uv, w, &u, more));
        return times_exp_of(p, w, &uv);
    }
    if (base->op == SL_OP_RAISE) { // (t^u)^v = t^(u v), since t^u is never negative
        sl_poly u, uv = { 0 };
        SL_TRY(sl_expr__poly_read(&u, w, sl_expr_next(base + 1)));
        SL_TRY(sl_expr__poly_mul(&uv, w, &u, more));
        return times_raised(p, w, base + 1, &uv);
    }
    if (base->op == SL_OP_NUM && sl_expr_num_value(base).num < 0) return SL_EXPR__UNDEFINED;
    if (sl_expr_num_is(base, 1)) return SL_OK;
    int k = 0;
    while (k < p->n_raised && sl_expr__cmp_base(p->raised[k].base, base) != 0) k++;
    if (k == p->n_raised) {
        SL_CANON_GROW(p->raised, p->n_raised, p->cap_raised, w);
        p->raised[p->n_raised++] = (raised){ .base = base };
    }
    sl_poly *sum = &p->raised[k].exponent;
    for (int i = 0; i < more->n; i++) SL_TRY(sl_expr__poly_push(sum, w, more->t[i]));
    return SL_OK;
}

static sl_status times_power_of_raised(product *p, sl_canon_work *w, const sl_node *base,
                                       sl_rat exp) {
    sl_poly v;
    SL_TRY(sl_expr__poly_read(&v, w, sl_expr_next(base + 1)));
    SL_TRY(sl_expr__poly_scale(&v, w, exp)); // u^v is never negative, so (u^v)^r = u^(r v)
    return times_raised(p, w, base + 1, &v);
}

static sl_status times_sum(product *p, sl_canon_work *w, const sl_node *sum, sl_rat exp,
                           bool primitive);
static sl_status times_term(product *p, sl_canon_work *w, const sl_poly_term *t, sl_rat exp);

/* p *= base^exp for the base of a factor of a term. A sum under an integer power has no content;
 * under a fractional one it may still hold its sign and more, whatever the new exponent is. */
static sl_status times_factor(product *p, sl_canon_work *w, const sl_factor *f, sl_rat exp) {
    if (f->base->op == SL_OP_EXP) return times_exp(p, w, f->base, exp);
    if (f->base->op == SL_OP_RAISE) return times_power_of_raised(p, w, f->base, exp);
    return add_part(p, w, f->base, exp, f->base->op == SL_OP_ADD && sl_expr_rat_is_int(f->exp));
}

/* p *= (u^a)^r with u^a a factor of a term, r fractional, a*r = ar [powers]. For u < 0 the left
 * side is real only where a is an integer: then u^a < 0 for odd a, which has no such power, and
 * |u|^(a*r) for even a. */
static sl_status times_power_of_factor(product *p, sl_canon_work *w, const sl_factor *f,
                                       sl_rat ar) {
    if (!sl_expr_rat_is_int(f->exp) || f->exp.num % 2 != 0) return times_factor(p, w, f, ar);
    sl_rat half;
    if (!sl_expr_rat_mul(&half, ar, (sl_rat){ 1, 2 })) return sl_expr__canon_overflow();
    if (f->base->op == SL_OP_ADD) { // its square is a sum again
        sl_poly sum, square = { 0 };
        const sl_node *node;
        SL_TRY(sl_expr__poly_read(&sum, w, f->base));
        SL_TRY(sl_expr__poly_mul(&square, w, &sum, &sum));
        SL_TRY(sl_expr__poly_collect(&square));
        SL_TRY(sl_expr__poly_node(&node, w, &square));
        if (node->op == SL_OP_ADD) return times_sum(p, w, node, half, false);
        sl_poly_term t;
        SL_TRY(sl_expr__poly_read_term(&t, w, node));
        return times_term(p, w, &t, half);
    }
    const sl_node *square; // an integer power of it is expanded again by normalise
    SL_TRY(
        sl_expr__poly_product_node(&square, w, SL_RAT(1), &(sl_factor){ f->base, SL_RAT(2) }, 1));
    return add_part(p, w, square, half, false);
}

/* p *= t^exp. */
static sl_status times_term(product *p, sl_canon_work *w, const sl_poly_term *t, sl_rat exp) {
    if (exp.num == 0) return SL_OK;
    if (t->coef.num == 0) {
        if (exp.num < 0) return SL_EXPR__UNDEFINED;
        p->zero = true;
        return SL_OK;
    }
    if (sl_expr_rat_is_int(exp)) {
        SL_TRY(times_power_of_number(p, w, t->coef, exp));
        for (int i = 0; i < t->n; i++) {
            sl_rat e;
            if (!sl_expr_rat_mul(&e, t->f[i].exp, exp)) return sl_expr__canon_overflow();
            SL_TRY(times_factor(p, w, &t->f[i], e));
        }
        return SL_OK;
    }
    // a fractional power: factors positive everywhere are taken out [roots of products] ...
    sl_rat size = t->coef;
    if (size.num < 0) size.num = -size.num;
    SL_TRY(times_power_of_number(p, w, size, exp));
    sl_factor *rest;
    SL_CANON_NEW(rest, w, t->n);
    int n = 0;
    for (int i = 0; i < t->n; i++) {
        const sl_factor *f = &t->f[i];
        sl_rat e;
        if (!sl_expr_rat_mul(&e, f->exp, exp)) return sl_expr__canon_overflow();
        if (f->base->op == SL_OP_EXP)
            SL_TRY(times_exp(p, w, f->base, e));
        else if (f->base->op == SL_OP_RAISE)
            SL_TRY(times_power_of_raised(p, w, f->base, e));
        else if (f->base->op == SL_OP_NUM || f->base->op == SL_OP_PI)
            SL_TRY(add_part(p, w, f->base, e, false));
        else
            rest[n++] = *f;
    }
    // ... and the rest keeps its sign and stays one factor
    bool negative = t->coef.num < 0;
    if (n == 0) return negative ? SL_EXPR__UNDEFINED : SL_OK;
    if (n == 1 && !negative) {
        sl_rat e;
        if (!sl_expr_rat_mul(&e, rest[0].exp, exp)) return sl_expr__canon_overflow();
        return times_power_of_factor(p, w, &rest[0], e);
    }
    const sl_node *base;
    SL_TRY(sl_expr__poly_product_node(&base, w, SL_RAT(negative ? -1 : 1), rest, n));
    return add_part(p, w, base, exp, false);
}

/* ---------------------------------------------------------------- content of sums ----------- */

/* The largest positive rational that divides all coefficients into integers without a common
 * factor. */
static sl_status numeric_content(sl_rat *out, const sl_poly *s) {
    int64_t num = 0, den = 1;
    for (int i = 0; i < s->n; i++) {
        num = sl_expr__gcd(num, s->t[i].coef.num);
        sl_rat lcm;
        if (!sl_expr_rat_mul(&lcm, SL_RAT(den / sl_expr__gcd(den, s->t[i].coef.den)),
                             SL_RAT(s->t[i].coef.den)))
            return sl_expr__canon_overflow();
        den = lcm.num;
    }
    *out = (sl_rat){ num, den };
    return SL_OK;
}

static const sl_factor *find_base(const sl_poly_term *t, const sl_node *base) {
    for (int i = 0; i < t->n; i++)
        if (sl_expr__cmp_base(t->f[i].base, base) == 0) return &t->f[i];
    return NULL;
}

/* The powers of plain bases that all terms share, those with a negative exponent anywhere included
 * [content]: x1*x2 + x1^2 has x1, and 1 + x2/x1 has 1/x1. */
static int common_factors(sl_factor *out, const sl_poly *s) {
    int n = 0;
    for (int i = 0; i < s->n; i++) {
        for (int j = 0; j < s->t[i].n; j++) {
            const sl_factor *f = &s->t[i].f[j];
            if (!sl_expr__canon_is_plain(f->base)) continue;
            // a base is counted at its first occurrence; if a term lacks it, the least is 0 or less
            bool seen = false;
            for (int k = 0; k < i && !seen; k++) seen = find_base(&s->t[k], f->base) != NULL;
            if (seen) continue;
            sl_rat least = i == 0 ? f->exp : SL_RAT(0);
            for (int k = 0; k < s->n; k++) {
                const sl_factor *g = find_base(&s->t[k], f->base);
                sl_rat e = g ? g->exp : SL_RAT(0);
                if (sl_expr_rat_cmp(e, least) < 0) least = e;
            }
            if (least.num != 0) out[n++] = (sl_factor){ f->base, least };
        }
    }
    return n;
}

/* *t := t without the common factors. */
static sl_status strip(sl_poly_term *t, sl_canon_work *w, const sl_factor *common, int n_common) {
    sl_factor *f;
    int n = 0;
    SL_CANON_NEW(f, w, t->n + n_common);
    for (int i = 0; i < t->n; i++) {
        f[n] = t->f[i];
        for (int k = 0; k < n_common; k++)
            if (sl_expr__cmp_base(common[k].base, f[n].base) == 0 &&
                !sl_expr_rat_add(&f[n].exp, f[n].exp, minus(common[k].exp)))
                return sl_expr__canon_overflow();
        if (f[n].exp.num != 0) n++;
    }
    for (int k = 0; k < n_common; k++) { // a missing base appears with a negative exponent
        if (find_base(t, common[k].base)) continue;
        int at = n++;
        for (; at > 0 && sl_expr__cmp_base(f[at - 1].base, common[k].base) > 0; at--)
            f[at] = f[at - 1];
        f[at] = (sl_factor){ common[k].base, minus(common[k].exp) };
    }
    t->f = f;
    t->n = n;
    return SL_OK;
}

/* p *= sum^exp [content]. For an integer exponent everything common to the terms is taken out, and
 * the sign of the first; for a fractional one only a positive number. The rest is the part. */
static sl_status times_sum(product *p, sl_canon_work *w, const sl_node *sum, sl_rat exp,
                           bool primitive) {
    if (exp.num == 0) return SL_OK;
    if (primitive) return add_part(p, w, sum, exp, true);
    sl_poly s;
    SL_TRY(sl_expr__poly_read(&s, w, sum));
    sl_rat number;
    SL_TRY(numeric_content(&number, &s));
    bool whole = sl_expr_rat_is_int(exp), changed = false;
    if (whole) {
        sl_factor *common;
        int room = 0;
        for (int i = 0; i < s.n; i++) room += s.t[i].n;
        SL_CANON_NEW(common, w, room);
        const int n = common_factors(common, &s);
        if (n) {
            changed = true;
            for (int i = 0; i < s.n; i++) SL_TRY(strip(&s.t[i], w, common, n));
            SL_TRY(sl_expr__poly_collect(&s)); // sorts again; no two terms can be alike
            SL_TRY(times_term(p, w, &(sl_poly_term){ SL_RAT(1), common, n }, exp));
        }
        if (s.t[0].coef.num < 0) number.num = -number.num;
    }
    if (!sl_expr_rat_is(number, 1)) {
        changed = true;
        SL_TRY(times_power_of_number(p, w, number, exp));
        sl_rat inverse = number.num < 0 ? (sl_rat){ -number.den, -number.num }
                                        : (sl_rat){ number.den, number.num };
        SL_TRY(sl_expr__poly_scale(&s, w, inverse));
    }
    if (changed) SL_TRY(sl_expr__poly_node(&sum, w, &s));
    return add_part(p, w, sum, exp, whole);
}

/* ---------------------------------------------------------------- normalising a product ----- */

/* Must the part be rewritten now that its exponent is complete? */
static bool needs_rewrite(const sl_canon_entry *x) {
    bool whole = sl_expr_rat_is_int(x->exp), above_one = x->exp.num > x->exp.den;
    switch (x->base->op) {
    case SL_OP_MUL:
    case SL_OP_POW: return whole || above_one;
    case SL_OP_ADD: return !x->primitive && (whole || above_one);
    default: return false;
    }
}

/* Takes integer powers out of products and unnormalised sums. By falling size: what comes out of a
 * base is smaller, so the exponent of a base is complete when it is processed. */
static sl_status normalise(product *p, sl_canon_work *w) {
    for (;;) {
        int pick = -1;
        for (int i = 0; i < p->n; i++)
            if (needs_rewrite(&p->part[i]) &&
                (pick < 0 || p->part[i].base->len > p->part[pick].base->len))
                pick = i;
        if (pick < 0) return SL_OK;
        sl_canon_entry x = p->part[pick];
        sl_rat whole = sl_expr_rat_is_int(x.exp) ? x.exp : floor_of(x.exp), rest;
        if (!sl_expr_rat_add(&rest, x.exp, minus(whole))) return sl_expr__canon_overflow();
        if (rest.num == 0)
            drop_part(p, pick);
        else
            p->part[pick].exp = rest;
        if (x.base->op == SL_OP_ADD) {
            // where the sum has no content it comes back under the same base, marked as primitive
            SL_TRY(times_sum(p, w, x.base, whole, false));
        } else {
            sl_poly_term t;
            SL_TRY(sl_expr__poly_read_term(&t, w, x.base));
            SL_TRY(times_term(p, w, &t, whole));
        }
    }
}

static bool contains_sum(const sl_node *e) {
    for (uint32_t i = 0; i < e->len; i += sl_expr_step(&e[i]))
        if (e[i].op == SL_OP_ADD) return true;
    return false;
}

/* p *= base^exp for any canonical base. */
static sl_status times_base(product *p, sl_canon_work *w, const sl_node *base, sl_rat exp) {
    if (base->op == SL_OP_ADD) return times_sum(p, w, base, exp, false);
    sl_poly_term t;
    SL_TRY(sl_expr__poly_read_term(&t, w, base));
    return times_term(p, w, &t, exp);
}

/* The place of the one logarithm among the factors of t, or -1. */
static int only_log(const sl_poly_term *t) {
    int at = -1;
    for (int i = 0; i < t->n; i++) {
        if (t->f[i].base->op != SL_OP_LOG) continue;
        if (at >= 0 || !sl_expr_rat_is(t->f[i].exp, 1)) return -1;
        at = i;
    }
    return at;
}

/* exp(3 log u) = u^3, exp(v log u) = u^v [exp]. */
static sl_status take_logs(product *p, sl_canon_work *w) {
    SL_TRY(sl_expr__poly_collect(&p->exponent));
    sl_poly all = p->exponent, rest = { 0 };
    int logs = 0;
    for (int i = 0; i < all.n; i++) logs += only_log(&all.t[i]) >= 0;
    if (!logs) return SL_OK;
    p->exponent = (sl_poly){ 0 };
    for (int i = 0; i < all.n; i++) {
        sl_poly_term t = all.t[i];
        const int at = only_log(&t);
        if (at < 0) {
            SL_TRY(sl_expr__poly_push(&rest, w, t));
            continue;
        }
        const sl_node *base = t.f[at].base + 1;
        if (t.n == 1) {
            SL_TRY(times_base(p, w, base, t.coef));
            continue;
        }
        sl_factor *f;
        SL_CANON_NEW(f, w, t.n);
        memcpy(f, t.f, (size_t)at * sizeof *f);
        memcpy(f + at, t.f + at + 1, (size_t)(t.n - at - 1) * sizeof *f);
        t.f = f;
        t.n--;
        SL_TRY(times_raised(p, w, base, &(sl_poly){ &t, 1, 1 }));
    }
    for (int i = 0; i < rest.n; i++) SL_TRY(sl_expr__poly_push(&p->exponent, w, rest.t[i]));
    return SL_OK;
}

/* The part with this base, or -1. */
static int find_part(const product *p, const sl_node *base) {
    for (int i = 0; i < p->n; i++)
        if (sl_expr__cmp_base(p->part[i].base, base) == 0) return i;
    return -1;
}

/* Takes the number out of a collected exponent and returns it. */
static sl_rat take_number(sl_poly *exponent) {
    const int last = exponent->n - 1; // where numbers sort to
    if (last < 0 || exponent->t[last].n > 0) return SL_RAT(0);
    exponent->n--;
    return exponent->t[last].coef;
}

/* Joins u^v with the power of u that stands among the parts: u^2 u^v = u^(2 + v). For u > 0 known
 * beforehand the number leaves: 2^(v + 1) = 2 * 2^v. *changed: the list of parts has changed. */
static sl_status join_raised(bool *changed, product *p, sl_canon_work *w, raised *x) {
    SL_TRY(sl_expr__poly_collect(&x->exponent));
    if (x->exponent.n == 0) return SL_OK; // u^0 is 1, or was a number that is among the parts now
    const bool positive =
        x->base->op == SL_OP_PI || (x->base->op == SL_OP_NUM && sl_expr_num_value(x->base).num > 0);
    const int at = positive ? -1 : find_part(p, x->base);
    if (at >= 0) {
        SL_TRY(sl_expr__poly_push(&x->exponent, w, (sl_poly_term){ p->part[at].exp, NULL, 0 }));
        SL_TRY(sl_expr__poly_collect(&x->exponent));
        drop_part(p, at);
        *changed = true;
    }
    const bool number = x->exponent.n == 1 && x->exponent.t[0].n == 0;
    if (!positive && !number) return SL_OK;
    const sl_rat exp = take_number(&x->exponent);
    if (exp.num == 0) return SL_OK;
    *changed = true;
    return times_base(p, w, x->base, exp);
}

static sl_status normalise_powers(product *p, sl_canon_work *w) {
    SL_TRY(take_logs(p, w));
    SL_TRY(normalise(p, w));
    for (bool changed = p->n_raised > 0; changed;) {
        changed = false;
        for (int k = 0; k < p->n_raised; k++) SL_TRY(join_raised(&changed, p, w, &p->raised[k]));
        if (changed) SL_TRY(normalise(p, w));
    }
    return SL_OK;
}

/* Inserts u^v where it belongs among the factors. */
static sl_status put_raised(sl_factor *f, int *n, sl_canon_work *w, raised *x) {
    if (x->exponent.n == 0) return SL_OK;
    const sl_node *v;
    SL_TRY(sl_expr__poly_node(&v, w, &x->exponent));
    const sl_node *node = sl_expr_power(w->a, x->base, v);
    if (!node) {
        if ((size_t)x->base->len + v->len >= SL_EXPR_MAX)
            return sl_fail(SL_ELIMIT, "expression grows beyond %d nodes", SL_EXPR_MAX);
        return sl_fail_memory(v->len, sizeof *node, "a power");
    }
    int at = (*n)++;
    for (; at > 0 && sl_expr__cmp_base(f[at - 1].base, node) > 0; at--) f[at] = f[at - 1];
    f[at] = (sl_factor){ node, SL_RAT(1) };
    return SL_OK;
}

/* out += the product, whose parts are gathered. */
static sl_status finish(sl_poly *out, sl_canon_work *w, product *p) {
    SL_TRY(normalise_powers(p, w));
    if (p->zero) return SL_OK;

    // what remains is one term ...
    sl_factor *f;
    sl_canon_entry *sums;
    SL_CANON_NEW(f, w, p->n + 1 + p->n_raised);
    SL_CANON_NEW(sums, w, p->n);
    int n_f = 0, n_sums = 0;
    if (p->exponent.n) {
        const sl_node *argument; // collected when logarithms were looked for
        SL_TRY(sl_expr__poly_node(&argument, w, &p->exponent));
        SL_TRY(sl_expr__fn(&p->exp, w->a, SL_OP_EXP, argument));
    }
    for (int i = 0; i < p->n; i++) {
        sl_canon_entry x = p->part[i];
        if (x.exp.num == 0) continue;
        if (x.base->op == SL_OP_NUM || (x.base->op == SL_OP_ADD && x.exp.num >= x.exp.den)) {
            sl_rat whole = floor_of(x.exp);
            if (x.base->op == SL_OP_ADD)
                sums[n_sums++] = (sl_canon_entry){ x.base, whole, true };
            else
                SL_TRY(times_power_of_number(p, w, sl_expr_num_value(x.base), whole));
            if (!sl_expr_rat_add(&x.exp, x.exp, minus(whole))) return sl_expr__canon_overflow();
            if (x.exp.num == 0) continue;
        }
        if (p->exp && sl_expr__cmp_base(p->exp, x.base) < 0)
            f[n_f++] = (sl_factor){ p->exp, SL_RAT(1) }, p->exp = NULL;
        f[n_f++] = (sl_factor){ x.base, x.exp };
    }
    if (p->exp) f[n_f++] = (sl_factor){ p->exp, SL_RAT(1) };
    for (int k = 0; k < p->n_raised; k++) SL_TRY(put_raised(f, &n_f, w, &p->raised[k]));
    sl_poly_term t = { p->coef, f, n_f };
    if (!n_sums) return sl_expr__poly_push(out, w, t);

    // ... times sums, which are multiplied out
    sl_poly r = { &t, 1, 1 };
    for (int i = 0; i < n_sums; i++) {
        sl_poly s;
        SL_TRY(sl_expr__poly_read(&s, w, sums[i].base));
        for (int64_t k = 0; k < sums[i].exp.num; k++) {
            sl_poly next = { 0 };
            SL_TRY(sl_expr__poly_mul(&next, w, &r, &s));
            SL_TRY(sl_expr__poly_collect(&next));
            r = next;
        }
    }
    for (int i = 0; i < r.n; i++) SL_TRY(sl_expr__poly_push(out, w, r.t[i]));
    return SL_OK;
}

sl_status sl_expr__canon_product(sl_poly *out, sl_canon_work *w, sl_rat coef,
                                 const sl_canon_entry *list, int n) {
    product p = { .coef = coef };
    // content matters only where a sum could cancel: without a fractional or negative power of a
    // sum, sums are multiplied out as they are
    bool cancels = false;
    for (int i = 0; i < n && !cancels; i++) {
        const sl_node *b = list[i].base;
        if (b->op == SL_OP_ADD)
            cancels = !sl_expr_rat_is_int(list[i].exp) || list[i].exp.num < 0;
        else if (b->op == SL_OP_MUL || b->op == SL_OP_POW)
            cancels = contains_sum(b);
    }
    for (int i = 0; i < n; i++) {
        const sl_node *b = list[i].base;
        if (b->op == SL_OP_ADD) {
            SL_TRY(times_sum(&p, w, b, list[i].exp, list[i].primitive || !cancels));
            continue;
        }
        sl_poly_term t;
        SL_TRY(sl_expr__poly_read_term(&t, w, b));
        SL_TRY(times_term(&p, w, &t, list[i].exp));
    }
    return finish(out, w, &p);
}

sl_status sl_expr__canon_exp(sl_poly *out, sl_canon_work *w, const sl_node *argument) {
    product p = { .coef = SL_RAT(1) };
    SL_TRY(sl_expr__poly_read(&p.exponent, w, argument));
    return finish(out, w, &p);
}

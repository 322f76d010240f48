/* Sums of terms: read from canonical nodes, multiply, collect, write back. */
#include "expr/canon_impl.h"

#include <stdlib.h>

/* ---------------------------------------------------------------- reading ------------------- */

sl_status sl_expr__poly_read_term(sl_poly_term *t, sl_canon_work *w, const sl_node *e) {
    *t = (sl_poly_term){ SL_RAT(1), NULL, 0 };
    if (e->op == SL_OP_NUM) {
        t->coef = sl_expr_num_value(e);
        return SL_OK;
    }
    const sl_node *c = e;
    int left = 1;
    if (e->op == SL_OP_MUL) {
        c = e + 1;
        left = e->arg;
        if (c->op == SL_OP_NUM) t->coef = sl_expr_num_value(c), c = sl_expr_next(c), left--;
    }
    sl_factor *f;
    SL_CANON_NEW(f, w, left);
    t->f = f;
    t->n = left;
    for (; left--; c = sl_expr_next(c))
        *f++ = (sl_factor){ sl_expr__base(c), sl_expr__exponent(c) };
    return SL_OK;
}

sl_status sl_expr__poly_read(sl_poly *p, sl_canon_work *w, const sl_node *e) {
    int n = e->op == SL_OP_ADD ? e->arg : 1;
    SL_CANON_NEW(p->t, w, n);
    p->n = 0;
    p->cap = n;
    if (e->op != SL_OP_ADD) {
        if (sl_expr_num_is(e, 0)) return SL_OK; // zero is the sum of nothing
        p->n = 1;
        return sl_expr__poly_read_term(&p->t[0], w, e);
    }
    const sl_node *c = e + 1;
    for (; p->n < n; p->n++, c = sl_expr_next(c))
        SL_TRY(sl_expr__poly_read_term(&p->t[p->n], w, c));
    return SL_OK;
}

/* ---------------------------------------------------------------- building ------------------ */

sl_status sl_expr__poly_push(sl_poly *p, sl_canon_work *w, sl_poly_term t) {
    if (++w->terms > SL_CANON_MAX_TERMS)
        return sl_fail(SL_ELIMIT, "expansion passes %d terms", SL_CANON_MAX_TERMS);
    SL_CANON_GROW(p->t, p->n, p->cap, w);
    p->t[p->n++] = t;
    return SL_OK;
}

static int cmp_terms(const sl_poly_term *a, const sl_poly_term *b) {
    int n = SL_MIN(a->n, b->n);
    for (int i = 0; i < n; i++) {
        int c = sl_expr__cmp_base(a->f[i].base, b->f[i].base);
        if (!c) c = -sl_expr_rat_cmp(a->f[i].exp, b->f[i].exp);
        if (c) return c;
    }
    return (a->n < b->n) - (a->n > b->n); // a term comes before its own prefix
}

static int cmp_terms_qsort(const void *a, const void *b) { return cmp_terms(a, b); }

sl_status sl_expr__poly_collect(sl_poly *p) {
    if (p->n <= 24) {
        // insertion: sums are short, and often nearly sorted because their parts were
        for (int i = 1; i < p->n; i++) {
            sl_poly_term t = p->t[i];
            int j = i;
            for (; j > 0 && cmp_terms(&p->t[j - 1], &t) > 0; j--) p->t[j] = p->t[j - 1];
            p->t[j] = t;
        }
    } else {
        qsort(p->t, (size_t)p->n, sizeof *p->t, cmp_terms_qsort);
    }
    int kept = 0;
    for (int i = 0; i < p->n;) {
        sl_poly_term t = p->t[i];
        for (i++; i < p->n && cmp_terms(&t, &p->t[i]) == 0; i++)
            if (!sl_expr_rat_add(&t.coef, t.coef, p->t[i].coef)) return sl_expr__canon_overflow();
        if (t.coef.num != 0) p->t[kept++] = t;
    }
    p->n = kept;
    return SL_OK;
}

sl_status sl_expr__poly_scale(sl_poly *p, sl_canon_work *w, sl_rat by) {
    sl_poly_term *t;
    SL_CANON_NEW(t, w, p->n);
    for (int i = 0; i < p->n; i++) {
        t[i] = p->t[i];
        if (!sl_expr_rat_mul(&t[i].coef, t[i].coef, by)) return sl_expr__canon_overflow();
    }
    p->t = t;
    p->cap = p->n;
    return SL_OK;
}

/* ---------------------------------------------------------------- multiplying --------------- */

/* a*b by merging two sorted lists. *simple := false where merging alone does not give the
 * product. */
static sl_status merge(sl_poly_term *out, bool *simple, sl_canon_work *w, const sl_poly_term *a,
                       const sl_poly_term *b) {
    *simple = true;
    if (!sl_expr_rat_mul(&out->coef, a->coef, b->coef)) return sl_expr__canon_overflow();
    if (!a->n || !b->n) {
        out->f = a->n ? a->f : b->f;
        out->n = a->n + b->n;
        return SL_OK;
    }
    // u^v, which sorts last, may join a power of u on the other side
    if (a->f[a->n - 1].base->op == SL_OP_RAISE || b->f[b->n - 1].base->op == SL_OP_RAISE) {
        *simple = false;
        return SL_OK;
    }
    if ((w->factors += a->n + b->n) > SL_CANON_MAX_FACTORS)
        return sl_fail(SL_ELIMIT, "expansion passes %d factors", SL_CANON_MAX_FACTORS);
    sl_factor *f;
    SL_CANON_NEW(f, w, (a->n + b->n));
    out->f = f;
    int i = 0, j = 0, n = 0;
    while (i < a->n && j < b->n) {
        const sl_factor *x = &a->f[i], *y = &b->f[j];
        if (x->base->op == SL_OP_EXP && y->base->op == SL_OP_EXP) {
            *simple = false; // exp(a)*exp(b) = exp(a+b)
            return SL_OK;
        }
        int c = sl_expr__cmp_base(x->base, y->base);
        if (c) {
            f[n++] = c < 0 ? (i++, *x) : (j++, *y);
            continue;
        }
        if (!sl_expr__canon_is_plain(x->base)) {
            *simple = false;
            return SL_OK;
        }
        f[n].base = x->base;
        if (!sl_expr_rat_add(&f[n].exp, x->exp, y->exp)) return sl_expr__canon_overflow();
        if (f[n].exp.num != 0) n++;
        i++, j++;
    }
    for (; i < a->n; i++) f[n++] = a->f[i];
    for (; j < b->n; j++) f[n++] = b->f[j];
    out->n = n;
    return SL_OK;
}

sl_status sl_expr__poly_mul(sl_poly *out, sl_canon_work *w, const sl_poly *a, const sl_poly *b) {
    for (int i = 0; i < a->n; i++) {
        for (int j = 0; j < b->n; j++) {
            const sl_poly_term *x = &a->t[i], *y = &b->t[j];
            sl_poly_term t;
            bool simple;
            SL_TRY(merge(&t, &simple, w, x, y));
            if (simple) {
                SL_TRY(sl_expr__poly_push(out, w, t));
                continue;
            }
            sl_canon_entry *list;
            SL_CANON_NEW(list, w, (x->n + y->n));
            for (int k = 0; k < x->n + y->n; k++) {
                const sl_factor *f = k < x->n ? &x->f[k] : &y->f[k - x->n];
                // in a term a sum to an integer power is in its normal form already
                list[k] = (sl_canon_entry){ f->base, f->exp, sl_expr_rat_is_int(f->exp) };
            }
            SL_TRY(sl_expr__canon_product(out, w, t.coef, list, x->n + y->n));
        }
    }
    return SL_OK;
}

/* ---------------------------------------------------------------- writing ------------------- */

static size_t factor_len(const sl_factor *f) {
    return f->base->len + (sl_expr_rat_is(f->exp, 1) ? 0 : 1 + sl_expr__num_len(f->exp));
}

static size_t term_len(sl_rat coef, const sl_factor *f, int n) {
    bool number = n == 0 || !sl_expr_rat_is(coef, 1);
    size_t len = (size_t)(n + number > 1) + (number ? sl_expr__num_len(coef) : 0);
    for (int i = 0; i < n; i++) len += factor_len(&f[i]);
    return len;
}

static sl_node *put_term(sl_node *w, sl_rat coef, const sl_factor *f, int n) {
    bool number = n == 0 || !sl_expr_rat_is(coef, 1);
    if (n + number > 1)
        *w++ = (sl_node){ .op = SL_OP_MUL,
                          .arg = (uint16_t)(n + number),
                          .len = (uint32_t)term_len(coef, f, n) };
    if (number) w = sl_expr_num_put(w, coef);
    for (int i = 0; i < n; i++) {
        bool power = !sl_expr_rat_is(f[i].exp, 1);
        if (power)
            *w++ = (sl_node){ .op = SL_OP_POW, .arg = 2, .len = (uint32_t)factor_len(&f[i]) };
        w = sl_expr__put(w, f[i].base);
        if (power) w = sl_expr_num_put(w, f[i].exp);
    }
    return w;
}

sl_status sl_expr__poly_product_node(const sl_node **out, sl_canon_work *w, sl_rat coef,
                                     const sl_factor *f, int n) {
    sl_node *r = NULL;
    SL_TRY(sl_expr__room(&r, w->a, term_len(coef, f, n)));
    put_term(r, coef, f, n);
    *out = r;
    return SL_OK;
}

sl_status sl_expr__poly_node(const sl_node **out, sl_canon_work *w, const sl_poly *p) {
    if (p->n == 0) return sl_expr__poly_product_node(out, w, SL_RAT(0), NULL, 0);
    if (p->n == 1) return sl_expr__poly_product_node(out, w, p->t[0].coef, p->t[0].f, p->t[0].n);
    size_t len = 1;
    for (int i = 0; i < p->n; i++) len += term_len(p->t[i].coef, p->t[i].f, p->t[i].n);
    sl_node *r = NULL, *at;
    SL_TRY(sl_expr__room(&r, w->a, len)); // and so p->n fits arg
    *r = (sl_node){ .op = SL_OP_ADD, .arg = (uint16_t)p->n, .len = (uint32_t)len };
    at = r + 1;
    for (int i = 0; i < p->n; i++) at = put_term(at, p->t[i].coef, p->t[i].f, p->t[i].n);
    *out = r;
    return SL_OK;
}

/* quotients_check - a hit at many rows, and the formula.
 *
 * Both terms are evaluated in up to SL_QUOTIENTS__ROWS rows, and their coefficients are solved for
 * by least squares, rows weighted by 1/y^2. The formula holds if no row is off by more than
 * rounding, relative to the terms; terms that nearly cancel are rejected. */
#include <math.h>

#include "num/num.h"
#include "search/quotients_impl.h"

static const double TOLERANCE = 1e-11, CANCELLATION = 1e5;
/* Where y is rounded: errors of a row, in halves of a unit of its last digit. */
static const double ROUNDED = 1.6;
enum { FIRST_ROWS = 10 };

/* ---------------------------------------------------------------- values -------------------- */

static sl_search__quotients_variant variant_of(const sl_quotients *q, sl_search__quotients_class c,
                                               sl_search__quotients_mode mode, int place) {
    return q->factor[sl_search__quotients_class_of(c)][mode].variant[place];
}

static double product_at(const sl_quotients *q, const sl_search__quotients_product *p,
                         sl_search__quotients_mode mode, sl_search__quotients_code code, int row) {
    sl_search__quotients_class class[SL_QUOTIENTS__FACTORS];
    const int n = sl_search__quotients_factors_of(class, p);
    double v = 1;
    for (int i = 0; i < n; i++)
        v *= sl_search__quotients_factor_at(
            class[i], variant_of(q, class[i], mode, sl_search__quotients_place(code, i)),
            q -> x[class[i].variable][row]);
    return v;
}

static double core_at(const sl_quotients *q, const sl_search__quotients_core *c,
                      const sl_search__quotients_bottom *b, int row) {
    double sum = 0;
    if (c->parts == 0) return 1;
    for (int i = 0; i < c->parts; i++)
        sum += b->sign[i] * c->factor[i] *
               product_at(q, &c->part[i], SL_QUOTIENTS__FULL, b->part[i], row);
    const bool outer = c->kind == SL_QUOTIENTS__LINEAR || c->kind == SL_QUOTIENTS__SINE;
    double u =
        sl_search__quotients_function(c->kind, c->exponent, sum) + (double)b->summand / b->factor;
    return sl_search__quotients_power(u, outer ? c->exponent : 1);
}

static sl_search__quotients_product top_product(const sl_quotients *q,
                                                const sl_search__quotients_hit *h, int term) {
    return sl_search__quotients_times(q->bases.numerator[h->term[term].top.numerator],
                                      q->bases.structure[h->structure].product);
}

static double term_at(const sl_quotients *q, const sl_search__quotients_hit *h, int term, int row) {
    const sl_search__quotients_term *t = &h->term[term];
    sl_search__quotients_product p = top_product(q, h, term);
    return product_at(q, &p, SL_QUOTIENTS__SCALE, t->top.code, row) *
           core_at(q, &q->bases.structure[h->structure].core, &t->bottom, row);
}

/* ---------------------------------------------------------------- the check ----------------- */

static bool is_whole(double v) { return fabs(v - nearbyint(v)) <= 1e-7 * fabs(v); }

static double price_of(double v) {
    return fabs(v - 1) < 1e-9   ? 0
           : fabs(v + 1) < 1e-9 ? 0.1
           : is_whole(v)        ? 1
           : is_whole(2520 * v) ? 2
                                : 4;
}

/* Values of the terms. */
typedef struct values {
    int terms;
    double v[3][SL_QUOTIENTS__ROWS];
} values;

static bool holds(const values *m, const double *coefficient, const sl_quotients *q, int rows) {
    double most = 0, largest = 0;
    for (int r = 0; r < rows; r++) {
        double sum = 0, size = 0;
        for (int t = 0; t < m->terms; t++) {
            sum += coefficient[t] * m->v[t][r];
            size += fabs(coefficient[t] * m->v[t][r]);
        }
        if (!(fabs(sum - q->y[r]) <= TOLERANCE * size + ROUNDED * q->rounding[r])) return false;
        most = SL_MAX(most, size), largest = SL_MAX(largest, fabs(q->y[r]));
    }
    return most <= CANCELLATION * largest;
}

/* All coefficients in the first `rows` rows. */
static sl_status solve(bool *good, double *coefficient, sl_arena *scratch, const values *m,
                       const sl_quotients *q, int rows) {
    double weight[SL_QUOTIENTS__ROWS];
    const double *column[] = { m->v[0], m->v[1], m->v[2] };
    sl_lsq lsq;
    for (int r = 0; r < rows; r++) {
        const double size = q->precision > 0 ? q->rounding[r] : q->y[r];
        weight[r] = 1 / (size * size);
    }
    size_t mark = sl_arena_mark(scratch);
    SL_TRY(sl_num_lsq_fit(&lsq, coefficient, NULL, scratch, column, q->y, weight, rows, m->terms));
    sl_arena_rewind(scratch, mark);
    *good = lsq.rank == m->terms && holds(m, coefficient, q, rows);
    return SL_OK;
}

sl_status sl_search__quotients_check(sl_search__quotients_hit *h, sl_arena *scratch,
                                     const sl_quotients *q) {
    values m = { .terms = h->terms };
    bool good = false;
    h->good = false;
    for (int stage = 0; stage < 2; stage++) {
        const int from = stage == 0 ? 0 : SL_MIN(FIRST_ROWS, q->rows);
        const int rows = stage == 0 ? SL_MIN(FIRST_ROWS, q->rows) : q->rows;
        for (int t = 0; t < h->terms; t++)
            for (int r = from; r < rows; r++) {
                m.v[t][r] = term_at(q, h, t, r);
                if (!(fabs(m.v[t][r]) < 1e100)) return SL_OK;
            }
        SL_TRY(solve(&good, h->coefficient, scratch, &m, q, rows));
        if (!good) return SL_OK;
    }
    h->price = 0;
    for (int t = 0; t < h->terms; t++)
        h->price += h->term[t].constants + price_of(h->coefficient[t]);
    h->good = true;
    return SL_OK;
}

sl_status sl_search__quotients_snap(sl_search__quotients_hit *h, sl_arena *scratch,
                                    const sl_quotients *q) {
    sl_search__lattice_linear m = { .rows = q->rows, .columns = h->terms };
    for (int r = 0; r < q->rows; r++) {
        for (int t = 0; t < h->terms; t++) m.column[t][r] = term_at(q, h, t, r);
        m.t[r] = q->y[r];
        m.reach[r] = ROUNDED * q->rounding[r];
        m.w[r] = 1 / (q->rounding[r] * q->rounding[r]);
        m.size = SL_MAX(m.size, fabs(q->y[r]));
    }
    SL_TRY(sl_search__lattice_snap(&h->sure, h->coefficient, h->number, scratch, &m));
    h->price = 0;
    for (int t = 0; t < h->terms; t++)
        h->price += h->term[t].constants + price_of(h->coefficient[t]);
    return SL_OK;
}

/* ---------------------------------------------------------------- the formula --------------- */

/* A coefficient: a number, or a free constant. */
static const sl_node *coefficient_expr(sl_writer *w, const sl_search__quotients_hit *h, int t) {
    if (h->number[t].times.den == 0) return sl_search__write_constant(w, h->coefficient[t]);
    const sl_node *e = sl_search__lattice_number_expr(w->arena, h->number[t]);
    w->failed = w->failed || !e;
    return e;
}

static const sl_node *product_expr(sl_writer *w, const sl_quotients *q,
                                   const sl_search__quotients_product *p,
                                   sl_search__quotients_mode mode, sl_search__quotients_code code) {
    sl_search__quotients_class class[SL_QUOTIENTS__FACTORS];
    const int n = sl_search__quotients_factors_of(class, p);
    const sl_node *e = sl_search__write_int(w, 1);
    for (int i = 0; i < n; i++) {
        sl_search__quotients_variant t =
            variant_of(q, class[i], mode, sl_search__quotients_place(code, i));
        e = sl_search__write_times(w, e, sl_search__quotients_factor_expr(w, class[i], t));
    }
    return e;
}

static const sl_node *core_expr(sl_writer *w, const sl_quotients *q,
                                const sl_search__quotients_core *c,
                                const sl_search__quotients_bottom *b) {
    const sl_node *sum = NULL;
    if (c->parts == 0) return sl_search__write_int(w, 1);
    for (int i = 0; i < c->parts; i++) {
        const sl_node *p = product_expr(w, q, &c->part[i], SL_QUOTIENTS__FULL, b->part[i]);
        p = sl_search__write_times(w, sl_search__write_int(w, b->sign[i] * c->factor[i]), p);
        sum = i == 0 ? p : sl_search__write_plus(w, sum, p);
    }
    sl_rat summand = SL_RAT(0);
    if (b->summand && !sl_expr_rat_make(&summand, b->summand, b->factor)) return NULL;
    return sl_search__quotients_function_expr(w, c->kind, c->exponent, sum, SL_RAT(1), summand);
}

sl_status sl_search__quotients_offer(sl_quotients *q, const sl_search__quotients_hit *h,
                                     int level) {
    sl_arena a = { 0 };
    sl_writer w = { .arena = &a };
    const sl_node *e = NULL;
    sl_status st;
    bool kept;
    for (int t = 0; t < h->terms; t++) {
        sl_search__quotients_product p = top_product(q, h, t);
        const sl_node *f = sl_search__write_times(
            &w, coefficient_expr(&w, h, t),
            product_expr(&w, q, &p, SL_QUOTIENTS__SCALE, h->term[t].top.code));
        f = sl_search__write_times(
            &w, f, core_expr(&w, q, &q->bases.structure[h->structure].core, &h->term[t].bottom));
        e = t == 0 ? f : sl_search__write_plus(&w, e, f);
    }
    SL_GO(sl_search__write_status(&w));
    SL_GO(sl_expr_tidy(&e, &a, e));
    const double precision = q->job->precision;
    q->job->precision = SL_MAX(precision, q->precision); // exact means: up to rounding
    if (h->sure || q->precision == 0)
        st =
            sl_search__offer(&kept, q->job, e, w.value, w.params, sl_search__quotients.name, level);
    else if (!q->job->o->exact_only)
        st = sl_search__offer_noisy(&kept, q->job, e, w.value, w.params, sl_search__quotients.name,
                                    level);
    q->job->precision = precision;
done:
    sl_arena_clear(&a);
    return st;
}

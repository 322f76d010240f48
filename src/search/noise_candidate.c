/* Candidates in all rows: columns of their terms, signs, fit and simplified coefficients. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "search/noise_impl.h"

/* Costs of the store begin at -7, because families run up to seven levels ahead; with this on top
 * the sum of 2^-bits over all terms is about 1, as of a code. */
static const double TERM_BITS = 12;

/* Scratch columns of a thread: scale, weights, predictions, and those of the fit. */
enum { ROOM = 3 + SL_NOISE__SCRATCH };

typedef struct work {
    const sl_search__noise_parts *p;
    const sl_search__noise_candidate *candidate;
    sl_search__noise_outcome *out;
    sl_search__noise_column *column;
    int columns;
    int steps;     // of Gauss and Newton
    int *place[2]; // by side: of a term among the columns, -1: none
    double *block; // values of columns
    int8_t *sign_block;
    double *scratch; // of each thread
} work;

/* ---------------------------------------------------------------- columns of terms ---------- */

static int named_terms(const sl_search__noise_candidate *c) { return c->power ? 1 : c->n; }

static sl_side named_side(const sl_search__noise_parts *p, const sl_search__noise_candidate *c) {
    return c->power ? SL_SIDE_PRODUCT : p->span[c->span].side;
}

/* Terms that candidates name, each once, in the order of the candidates. */
static sl_status list_columns(work *w, int n) {
    int total = 0;
    for (int side = 0; side < 2; side++) {
        int terms = w->p->terms[side].n;
        w->place[side] = sl_malloc((size_t)terms, sizeof(int));
        if (!w->place[side]) return sl_fail_memory((size_t)terms, sizeof(int), "terms of models");
        for (int k = 0; k < terms; k++) w->place[side][k] = -1;
    }
    for (int k = 0; k < n; k++) total += named_terms(&w->candidate[k]);
    w->column = sl_calloc((size_t)total, sizeof *w->column);
    if (!w->column) return sl_fail_memory((size_t)total, sizeof *w->column, "terms of models");
    for (int k = 0; k < n; k++) {
        const sl_search__noise_candidate *c = &w->candidate[k];
        sl_side side = named_side(w->p, c);
        for (int t = 0; t < named_terms(c); t++) {
            int *place = &w->place[side][c->at[t]];
            if (*place >= 0) continue;
            *place = w->columns;
            w->column[w->columns++] = (sl_search__noise_column){ .at = c->at[t], .side = side };
        }
    }
    size_t cells = (size_t)w->columns * (size_t)w->p->rows;
    w->block = sl_malloc(cells, sizeof *w->block);
    w->sign_block = sl_malloc(cells, 1);
    if (!w->block || !w->sign_block)
        return sl_fail_memory(cells, sizeof *w->block, "terms of models in all rows");
    return SL_OK;
}

/* Signs of a term, then its logarithm. */
static void take_logarithm(sl_search__noise_column *c, int rows) {
    bool positive = true, negative = true;
    for (int i = 0; i < rows; i++) {
        c->signs[i] = c->value[i] < 0 ? -1 : 1;
        positive &= c->value[i] > 0;
        negative &= c->value[i] < 0;
        c->value[i] = fabs(c->value[i]);
    }
    c->sign = positive ? 1 : negative ? -1 : 0;
    sl_log_array(c->value, c->value, rows);
}

static void set_positive(sl_search__noise_column *c, int rows) {
    memset(c->signs, 1, (size_t)rows);
    c->sign = 1;
}

static sl_status fill_columns(int64_t begin, int64_t end, int worker, void *payload) {
    work *w = payload;
    const sl_search__noise_parts *p = w->p;
    sl_arena arena = { 0 };
    sl_status st = SL_OK;
    (void)worker;
    for (int64_t k = begin; k < end; k++) {
        sl_search__noise_column *c = &w->column[k];
        sl_store_term term = p->terms[c->side].term[c->at];
        const sl_node *e;
        double probe[SL_NOISE__PROBES + 8];
        c->value = w->block + k * p->rows;
        c->signs = w->sign_block + k * p->rows;
        sl_arena_rewind(&arena, 0);
        bool known = sl_search__store_term_value(probe, &c->rate, p->store, term);
        st = sl_search__store_expr(&e, &arena, p->store, term);
        c->real = false;
        if (st == SL_EOVERFLOW) { // no candidate has it
            st = SL_OK;
            continue;
        }
        SL_GO(st);
        // the logarithm directly: the exponential may overflow
        bool exponential = c->rate && e->op == SL_OP_EXP;
        if (exponential) e = e + 1;
        SL_GO(sl_expr_eval(c->value, &arena, e, p->j->rows.x, p->rows, NULL));
        if (exponential)
            set_positive(c, p->rows);
        else if (c->side == SL_SIDE_PRODUCT)
            take_logarithm(c, p->rows);
        double sum = 0;
        for (int i = 0; i < p->rows; i++) sum += c->value[i];
        c->real = known && isfinite(sum);
    }
done:
    sl_arena_clear(&arena);
    return st;
}

/* ---------------------------------------------------------------- models -------------------- */

/* Which factors' signs determine the sign of y: the choice that agrees with most rows. sign[i] :=
 * the product of those signs times the overall one. */
typedef struct signs {
    int n;
    const double *column[SL_DATA_MAX_INPUTS]; // inputs of both signs
    const int8_t *term[SL_NOISE__TERMS];
    int at[SL_DATA_MAX_INPUTS + SL_NOISE__TERMS]; // column of the model
    int inputs;
} signs;

static int sign_at(const signs *s, int k, int row) {
    if (k < s->inputs) return s->column[k][row] < 0 ? -1 : 1;
    return s->term[k - s->inputs][row];
}

static void choose_signs(double *scale, uint32_t *odd, int *overall, const signs *s,
                         const double *y, int rows) {
    double most = -1;
    for (uint32_t set = 0; set < 1u << SL_MIN(s->n, 6); set++) {
        double sum = 0;
        for (int i = 0; i < rows; i++) {
            int sign = 1;
            for (int k = 0; k < s->n && k < 6; k++) {
                if (set >> k & 1) sign *= sign_at(s, k, i);
            }
            sum += sign * y[i];
        }
        if (fabs(sum) > most * (1 + 1e-9))
            most = fabs(sum), *odd = set, *overall = sum < 0 ? -1 : 1;
    }
    for (int i = 0; i < rows; i++) {
        scale[i] = *overall;
        for (int k = 0; k < s->n && k < 6; k++) {
            if (*odd >> k & 1) scale[i] *= sign_at(s, k, i);
        }
    }
}

static void add_column(sl_search__noise_model *m, const double *column, sl_search__noise_kind kind,
                       double price) {
    m->column[m->columns] = column;
    m->kind[m->columns] = kind;
    m->price[m->columns++] = price;
}

static void product_model(sl_search__noise_model *m, double *scale, sl_search__noise_outcome *o,
                          const work *w, const sl_search__noise_candidate *c) {
    const sl_search__noise_span *s = &w->p->span[c->span];
    signs list = { .n = 0 };
    for (int b = 0; b < s->base; b++) {
        int v = s->variable[b];
        if (v >= 0 && !w->p->j->positive[v]) {
            list.at[list.n] = m->columns;
            list.column[list.n++] = w->p->j->rows.x[v];
        }
        add_column(m, s->column[b], v < 0 ? SL_NOISE__FACTOR : SL_NOISE__EXPONENT, v < 0 ? 0 : 1);
    }
    list.inputs = list.n;
    for (int t = 0; t < c->n; t++) {
        const sl_search__noise_column *f = &w->column[w->place[s->side][c->at[t]]];
        if (f->sign == 0) {
            list.at[list.n] = m->columns;
            list.term[list.n++ - list.inputs] = f->signs;
        }
        add_column(m, f->value, f->rate ? SL_NOISE__RATE : SL_NOISE__EXPONENT,
                   w->p->terms[s->side].cost[c->at[t]] + TERM_BITS);
    }
    choose_signs(scale, &o->odd, &o->sign, &list, m->y, m->rows);
    for (int k = 0; k < list.n; k++) {
        m->kind[list.at[k]] = o->odd >> k & 1 ? SL_NOISE__ODD : SL_NOISE__EVEN;
    }
    m->scale = scale;
}

/* z^(-1/p) by row for y^p z in the span, with y's sign where p is even. */
static bool closure_scale(double *scale, sl_search__noise_outcome *o, const work *w,
                          const sl_search__noise_candidate *c, sl_search__noise_link link) {
    const sl_search__noise_parts *p = w->p;
    bool even = link == SL_NOISE__SQUARE || link == SL_NOISE__INVERSE_SQUARE;
    double sum = 0, sign = 1;
    for (int i = 0; i < p->rows; i++) sum += p->j->rows.y[i];
    if (even && sum < 0) sign = o->sign = -1;
    const int8_t *power =
        c->monomial < 0 ? NULL : sl_search__store_monomial_exponents(p->store, c->monomial);
    for (int i = 0; i < p->rows; i++) {
        double z = 1;
        for (int v = 0; power && v < p->j->rows.inputs; v++) {
            double x = p->j->rows.x[v][i];
            if (power[v] & 1) x = sqrt(x);
            for (int k = 0, n = abs(power[v] & 1 ? power[v] : power[v] / 2); k < n; k++)
                z = power[v] < 0 ? z / x : z * x;
        }
        switch (link) {
        case SL_NOISE__INVERSE: break;
        case SL_NOISE__SQUARE: z = 1 / sqrt(z); break;
        case SL_NOISE__INVERSE_SQUARE: z = sqrt(z); break;
        default: z = 1 / z;
        }
        scale[i] = sign * z;
        if (!isfinite(scale[i]) || scale[i] == 0) return false;
    }
    return true;
}

/* f^(power/2) by row; false where it is not real. */
static bool factor_scale(double *scale, const work *w, const sl_search__noise_candidate *c) {
    const sl_search__noise_column *f = &w->column[w->place[SL_SIDE_PRODUCT][c->at[0]]];
    if (f->sign == 0 && c->power % 2) return false;
    for (int i = 0; i < w->p->rows; i++) {
        double size = sl_exp(0.5 * c->power * f->value[i]);
        scale[i] *= c->power / 2 % 2 && f->signs[i] < 0 ? -size : size;
        if (!isfinite(scale[i]) || scale[i] == 0) return false;
    }
    return true;
}

static bool sum_model(sl_search__noise_model *m, double *scale, sl_search__noise_outcome *o,
                      const work *w, const sl_search__noise_candidate *c) {
    const sl_search__noise_span *s = &w->p->span[c->span];
    for (int b = 0; b < s->base; b++) {
        int degree = 0;
        for (int v = 0; v < w->p->j->rows.inputs; v++) degree += s->power[b][v];
        add_column(m, s->column[b], SL_NOISE__COEFFICIENT, degree ? log2(s->base) : 0.5);
    }
    for (int t = 0; t < c->n; t++) {
        const sl_search__noise_column *f = &w->column[w->place[s->side][c->at[t]]];
        add_column(m, f->value, SL_NOISE__COEFFICIENT,
                   w->p->terms[s->side].cost[c->at[t]] + TERM_BITS);
    }
    m->scale = scale;
    return closure_scale(scale, o, w, c, s->link) && (!c->power || factor_scale(scale, w, c));
}

/* ---------------------------------------------------------------- the fit ------------------- */

static const double RELATIVE_BITS = 1; // of errors that are relative, as in fit/describe.c
/* Relative errors are tried where the present residuals make them worse by at most this many bits a
 * row. */
static const double RELATIVE_SLACK = 0.1;

/* The mean of log2, by products of so many mantissas: one logarithm for all of these. */
static double mean_log2(const double *v, int n) {
    enum { FACTORS = 512 };
    double product = 1, logs = 0;
    for (int i = 0; i < n; i++) {
        int exponent;
        product *= frexp(v[i], &exponent);
        logs += exponent;
        if (i % FACTORS != FACTORS - 1 && i != n - 1) continue;
        logs += log2(product);
        product = 1;
    }
    return logs / n;
}

/* weight[] := 1/|mu|, of geometric mean 1; false where errors relative to mu are much worse an
 * explanation of the residuals than errors of one size, or mu is 0. */
static bool relative_weights(double *weight, const sl_search__noise_model *m,
                             const sl_search__noise_fit *f) {
    const sl_dataset p = { .rows = m->rows, .y = m->y };
    double squares = 0, plain = 0;
    sl_search__noise_predict(weight, m, f);
    for (int i = 0; i < m->rows; i++) plain += (m->y[i] - weight[i]) * (m->y[i] - weight[i]);
    double *mu = weight + m->rows;
    memcpy(mu, weight, (size_t)m->rows * sizeof *mu);
    sl_fit_relative_scale(weight, mu, &p);
    for (int i = 0; i < m->rows; i++) {
        double off = (m->y[i] - mu[i]) / weight[i];
        squares += off * off;
    }
    const double logs = mean_log2(weight, m->rows);
    if (!isfinite(squares) || !isfinite(logs)) return false;
    double worse = 0.5 * log2(squares / plain) + logs; // bits a row
    if (!(worse < RELATIVE_SLACK)) return false;
    for (int i = 0; i < m->rows; i++) weight[i] = exp2(logs) / weight[i];
    return true;
}

/* The same model by relative errors, where that is the shorter description. weight: room for two
 * columns. */
static void fit_relative(sl_search__noise_outcome *o, const sl_search__noise_fit *free,
                         const sl_search__noise_model *m, int steps, double *weight,
                         double *scratch) {
    sl_search__noise_model relative = *m;
    sl_search__noise_fit fit = *free;
    double all = 0, weighted = 0;
    if (!isfinite(free->rss) || !relative_weights(weight, m, free)) return;
    for (int i = 0; i < m->rows; i++) {
        double y = m->y[i], wy = weight[i] * y;
        all += y * y, weighted += wy * wy;
    }
    relative.weight = weight;
    relative.least = m->least * weighted / all;
    sl_search__noise_fit_run(&fit, &relative, false, steps, scratch);
    sl_search__noise_simplify(&fit, &relative, steps, scratch);
    fit.bits += RELATIVE_BITS, fit.price += RELATIVE_BITS;
    if (fit.bits < o->fit.bits) o->fit = fit;
}

static void fit_model(sl_search__noise_outcome *o, const sl_search__noise_model *m, const work *w,
                      double *weight, double *scratch) {
    sl_search__noise_fit_run(&o->fit, m, true, w->steps, scratch);
    sl_search__noise_fit free = o->fit;
    sl_search__noise_simplify(&o->fit, m, w->steps, scratch);
    if (!m->weight && m->sigma == 0) fit_relative(o, &free, m, w->steps, weight, scratch);
}

static void fit_one(sl_search__noise_outcome *o, const work *w, const sl_search__noise_candidate *c,
                    double *room) {
    const sl_search__noise_parts *p = w->p;
    const sl_search__noise_span *s = &p->span[c->span];
    double *scale = room, *weight = room + p->rows, *scratch = room + 3 * p->rows;
    sl_search__noise_model m = { .link = s->link,
                                 .rows = p->rows,
                                 .y = p->j->rows.y,
                                 .weight = p->weight,
                                 .sigma = p->sigma,
                                 .least = p->least };
    *o = (sl_search__noise_outcome){ .candidate = *c, .sign = 1 };
    o->fit.rss = o->fit.bits = o->fit.price = INFINITY;
    for (int t = 0; t < named_terms(c); t++) {
        if (!w->column[w->place[named_side(p, c)][c->at[t]]].real) return;
    }
    if (s->base + c->n > SL_NOISE__COLUMNS) return;
    if (s->side == SL_SIDE_PRODUCT)
        product_model(&m, scale, o, w, c);
    else if (!sum_model(&m, scale, o, w, c))
        return;
    fit_model(o, &m, w, weight, scratch);
    // the family, and the factor of a polynomial
    double extra = 2 + (c->monomial > 0 ? 2 + log2(1 + c->monomial) : 0);
    if (c->power) extra += TERM_BITS + p->terms[SL_SIDE_PRODUCT].cost[c->at[0]] + abs(c->power);
    o->fit.bits += extra, o->fit.price += extra;
}

static sl_status fit_some(int64_t begin, int64_t end, int worker, void *payload) {
    work *w = payload;
    double *room = w->scratch + (int64_t)worker * w->p->rows * ROOM;
    for (int64_t k = begin; k < end; k++) {
        if (sl_search__stop(w->p->j, false)) {
            w->out[k] = (sl_search__noise_outcome){ .candidate = w->candidate[k] };
            w->out[k].fit.bits = w->out[k].fit.rss = INFINITY;
        } else {
            fit_one(&w->out[k], w, &w->candidate[k], room);
        }
    }
    return SL_OK;
}

static sl_status run(work *w, int n) {
    sl_pool *pool = w->p->j->pool;
    size_t threads = (size_t)SL_MAX(sl_par_pool_threads(pool), 1);
    SL_TRY(list_columns(w, n));
    w->scratch = sl_malloc(threads * (size_t)w->p->rows, ROOM * sizeof(double));
    if (!w->scratch)
        return sl_fail_memory(threads * (size_t)w->p->rows, sizeof(double), "fits of models");
    SL_TRY(sl_par_for(pool, w->columns, 16, fill_columns, w));
    return sl_par_for(pool, n, 16, fit_some, w);
}

sl_status sl_search__noise_fit_all(sl_search__noise_outcome *out, const sl_search__noise_parts *p,
                                   const sl_search__noise_candidate *candidate, int n, int steps) {
    work w = { .p = p, .candidate = candidate, .out = out, .steps = steps };
    sl_status st = run(&w, n);
    sl_free(w.place[0]), sl_free(w.place[1]), sl_free(w.column);
    sl_free(w.block), sl_free(w.sign_block), sl_free(w.scratch);
    return st;
}

int sl_search__noise_outcome_cmp(const void *a, const void *b) {
    const sl_search__noise_outcome *p = a, *q = b;
    if (p->fit.bits != q->fit.bits) return p->fit.bits < q->fit.bits ? -1 : 1;
    return sl_search__noise_candidate_cmp(&p->candidate, &q->candidate);
}

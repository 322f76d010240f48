/* lattice_sums - sums of terms by least squares, where y is rounded.
 *
 * A key of three ratios has next to no digits of a term that is small beside the others; all rows
 * together have more. So no keys are used here. Terms are vectors over the rows in units of y's
 * last digit, with the constant projected out, and a sum is a hit if its squared residual is that
 * of rounding, 1/12 a row.
 *
 *     y = a t + b u + c f + d,  t and u of few terms, f of many
 *
 * The residual follows from dot products: those of the few with all are computed once, and a
 * further f costs a few operations. With one or two terms projected out of y and of all others, the
 * same finds sums of four and five terms. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "search/lattice_impl.h"

enum { ROWS = SL_LATTICE__ROWS, CHUNK = 256, SHORT = 16, TAKEN_MAX = 2, FIXED_MAX = TAKEN_MAX + 2 };

/* With more hits than this y has too few digits to decide between them: all are dropped. */
enum { HITS_MAX = 4000, ROWS_LEAST = 20 };

typedef double vector[ROWS];

/* Dot products of the terms modulo those that are projected out. */
typedef struct products {
    double *with_y, *norm; // of all terms
    double *gram;          // of the first ones with all
} products;

typedef struct sums {
    sl_lattice *l;
    const sl_search__lattice_code *code;
    int64_t count; // terms that the last one is chosen from
    int64_t first; // the others are among these first ones
    int taken;     // terms that are projected out before the last three
    vector *value; // of length 1, without the constant's part
    vector y;
    double limit;                           // of the squares that a sum leaves
    products *room;                         // all terms; then TAKEN_MAX for each worker
    _Atomic int64_t *hits;                  // number of hits
    double (*brief)[SHORT], brief_y[SHORT]; // of two terms
} sums;

/* ---------------------------------------------------------------- vectors ------------------- */

/* v less what it has of n vectors of length 1; twice, against rounding. Returns its square. */
static double project_out(double *v, const vector *basis, int n) {
    for (int i = 0; i < 2 * n; i++) {
        const double *b = basis[i % n], c = sl_search__dot(v, b, ROWS);
        for (int r = 0; r < ROWS; r++) v[r] -= c * b[r];
    }
    return sl_search__dot(v, v, ROWS);
}

static void scale(double *v, double by) {
    for (int r = 0; r < ROWS; r++) v[r] *= by;
}

/* value[] := the terms that are finite in every row and differ from a constant, in units of y's
 * last digit; their codes are kept, in order. */
static void set_values(sums *s, sl_search__lattice_code *code) {
    const sl_lattice *l = s->l;
    int64_t kept = 0, first = 0;
    vector weight = { 0 }, one[1];
    for (int r = 0; r < l->rows; r++) weight[r] = 0.5 / SL_MAX(l->rounding[r], l->least_rounding);
    memcpy(one[0], weight, sizeof weight);
    scale(one[0], 1 / sqrt(sl_search__dot(weight, weight, ROWS)));
    for (int64_t i = 0; i < s->count; i++) {
        double *v = s->value[kept];
        memset(v, 0, sizeof(vector));
        for (int r = 0; r < l->rows; r++)
            v[r] = weight[r] * sl_search__lattice_half_at(l, code[i], r);
        const double before = sl_search__dot(v, v, ROWS), after = project_out(v, one, 1);
        if (!(before < 1e200 && after > 1e-16 * before)) continue;
        scale(v, 1 / sqrt(after));
        code[kept++] = code[i];
        first += i < s->first;
    }
    s->count = kept;
    s->first = first;
    for (int r = 0; r < ROWS; r++) s->y[r] = r < l->rows ? weight[r] * l->y[r] : 0;
    const double squares = project_out(s->y, one, 1);
    // the mean of uniform squares is 1/12, their standard deviation 0.075
    s->limit = l->rows / 12.0 + 6 * 0.075 * sqrt(l->rows) + 1e-14 * squares;
}

/* ---------------------------------------------------------------- hits ---------------------- */

static sl_status add_hit(const sums *s, int worker, const int64_t *term, int n) {
    if (atomic_fetch_add(s->hits, 1) >= HITS_MAX) return SL_OK;
    sl_search__lattice_hit hit = { .f = s->code[term[0]],
                                   .form = SL_LATTICE__FORM_TERMS,
                                   .n_others = (int8_t)SL_MAX(n - 2, 0) };
    if (n == 1) hit.form = SL_LATTICE__FORM_ONE;
    if (n == 2) hit.form = SL_LATTICE__FORM_SUM;
    if (n > 1) hit.g = s->code[term[1]];
    for (int k = 2; k < n; k++) hit.others[k - 2] = s->code[term[k]];
    return sl_search__lattice_add_hit(&s->l->hits[worker], hit);
}

static bool is_over(const sums *s, int worker) {
    return atomic_load(s->hits) > HITS_MAX || sl_search__stop(s->l->job, worker == 0);
}

/* ---------------------------------------------------------------- the last term ------------- */

/* Terms that are projected out or chosen before the last one, and an orthonormal basis of them. */
typedef struct fixed {
    int n;
    int64_t term[FIXED_MAX + 1];
    vector basis[FIXED_MAX + 1];
} fixed;

/* Adds a term; false where it depends on the others. */
static bool fix(fixed *f, const sums *s, int64_t term) {
    double *v = f->basis[f->n];
    memcpy(v, s->value[term], sizeof(vector));
    const double left = project_out(v, f->basis, f->n);
    if (!(left > 1e-10)) return false;
    scale(v, 1 / sqrt(left));
    f->term[f->n++] = term;
    return true;
}

/* The last terms from .. from + n that explain what is needed. */
static sl_status add_last(const sums *s, int worker, fixed *f, const sl_search__lattice_meeting *m,
                          const double *const *part, int64_t from, int n) {
    if (s->l->kernels->explained(m, part, n) == 0) return SL_OK;
    for (int i = 0; i < n; i++) {
        if (!sl_search__lattice_explains(m, part[0][i], part[1][i], part[2][i], part[3][i]))
            continue;
        vector left;
        memcpy(left, s->y, sizeof left);
        const int before = f->n;
        if (!fix(f, s, from + i)) continue;
        const bool good = project_out(left, f->basis, f->n) <= s->limit;
        if (good) SL_TRY(add_hit(s, worker, f->term, f->n));
        f->n = before;
    }
    return SL_OK;
}

/* All last terms behind the fixed ones; p: dot products modulo the terms that are projected out. */
static sl_status meet(const sums *s, int worker, const products *p, fixed *f, int taken) {
    const int64_t t = f->term[taken], u = f->term[taken + 1];
    const double *gt = p->gram + t * s->count, *gu = p->gram + u * s->count;
    vector left;
    memcpy(left, s->y, sizeof left);
    const double squares = project_out(left, f->basis, f->n);
    if (squares <= s->limit) return add_hit(s, worker, f->term, f->n);
    // dot products without t have no part of it, then those of u have none
    sl_search__lattice_meeting m = { .need = squares - s->limit, .over_t = 1 / p->norm[t] };
    m.t_in_u = gt[u] * m.over_t;
    m.over_u = 1 / (p->norm[u] - gt[u] * m.t_in_u);
    m.of_u = (p->with_y[u] - m.t_in_u * p->with_y[t]) * m.over_u;
    m.of_t = p->with_y[t] * m.over_t - m.of_u * m.t_in_u;
    for (int64_t from = u + 1; from < s->count; from += CHUNK) {
        const int n = (int)SL_MIN(CHUNK, s->count - from);
        const double *const part[] = { p->with_y + from, p->norm + from, gt + from, gu + from };
        SL_TRY(add_last(s, worker, f, &m, part, from, n));
    }
    return SL_OK;
}

/* to := dot products without the term t. */
static void deflate(const products *to, const products *from, const sums *s, int64_t t) {
    const int64_t n = s->count;
    const double *gt = from->gram + t * n, over = 1 / from->norm[t];
    for (int64_t i = 0; i < n; i++) {
        to->with_y[i] = from->with_y[i] - from->with_y[t] * over * gt[i];
        to->norm[i] = from->norm[i] - gt[i] * gt[i] * over;
    }
    for (int64_t k = t + 1; k < s->first; k++) {
        const double *g = from->gram + k * n, c = g[t] * over;
        double *out = to->gram + k * n;
        for (int64_t i = t + 1; i < n; i++) out[i] = g[i] - c * gt[i];
    }
}

/* Two terms before the last. */
static sl_status meet_from(const sums *s, int worker, const products *p, fixed *f, int64_t t) {
    const int taken = f->n;
    sl_status st = SL_OK;
    if (!fix(f, s, t)) return SL_OK;
    for (int64_t u = t + 1; u < s->first && st == SL_OK; u++) {
        if (is_over(s, worker)) break;
        if (!fix(f, s, u)) continue;
        st = meet(s, worker, p, f, taken);
        f->n = taken + 1;
    }
    f->n = taken;
    return st;
}

/* Projects terms out until s->taken are; t is the next. */
static sl_status take_from(const sums *s, int worker, const products *p, fixed *f, int64_t t) {
    if (f->n == s->taken) return meet_from(s, worker, p, f, t);
    const products *next = &s->room[1 + worker * TAKEN_MAX + f->n];
    const int before = f->n;
    if (!fix(f, s, t)) return SL_OK;
    deflate(next, p, s, t);
    sl_status st = SL_OK;
    for (int64_t u = t + 1; u < s->first && st == SL_OK; u++) st = take_from(s, worker, next, f, u);
    f->n = before;
    return st;
}

static sl_status take_part(int64_t begin, int64_t end, int worker, void *payload) {
    const sums *s = payload;
    for (int64_t t = begin; t < end; t++) {
        fixed f = { .n = 0 };
        if (is_over(s, worker)) return SL_OK;
        SL_TRY(take_from(s, worker, &s->room[0], &f, t));
        atomic_fetch_add_explicit(&s->l->job->tried, s->count * s->first / 2, memory_order_relaxed);
    }
    return SL_OK;
}

/* ---------------------------------------------------------------- two terms ----------------- */

/* There are too many terms here to keep dot products. They are compared in fewer dimensions first:
 * the residual there is a lower bound. */
static void shorten(double *out, const double *v) {
    for (int k = 0; k < SHORT; k++) {
        double sum = 0;
        // orthogonal rows of signs: those of Hadamard's matrix
        for (int r = 0; r < ROWS; r++)
            sum += __builtin_popcount((unsigned)(r & (4 * k + 1))) & 1 ? -v[r] : v[r];
        out[k] = sum / 8;
    }
}

static sl_status shorten_part(int64_t begin, int64_t end, int worker, void *payload) {
    (void)worker;
    const sums *s = payload;
    for (int64_t i = begin; i < end; i++) {
        double *v = s->brief[i];
        shorten(v, s->value[i]);
        s->room[0].norm[i] = sl_search__dot(v, v, SHORT);
        s->room[0].with_y[i] = sl_search__dot(v, s->brief_y, SHORT);
    }
    return SL_OK;
}

static sl_status meet_one(const sums *s, int worker, int64_t t) {
    const products *p = &s->room[0];
    double with_t[CHUNK];
    fixed f = { .n = 0 };
    if (!fix(&f, s, t) || !(p->norm[t] > 1e-9)) return SL_OK;
    sl_search__lattice_meeting m = { .over_t = 1 / p->norm[t] };
    m.of_t = p->with_y[t] * m.over_t;
    m.need = sl_search__dot(s->brief_y, s->brief_y, SHORT) - m.of_t * p->with_y[t] - s->limit;
    for (int64_t from = t + 1; from < s->count; from += CHUNK) {
        const int n = (int)SL_MIN(CHUNK, s->count - from);
        const double *const part[] = { p->with_y + from, p->norm + from, with_t, with_t };
        s->l->kernels->dots(with_t, 1, s->brief[t], s->brief[from], n, SHORT);
        SL_TRY(add_last(s, worker, &f, &m, part, from, n));
    }
    return SL_OK;
}

static sl_status meet_part(int64_t begin, int64_t end, int worker, void *payload) {
    const sums *s = payload;
    for (int64_t t = begin; t < end; t++) {
        if (is_over(s, worker)) return SL_OK;
        SL_TRY(meet_one(s, worker, t));
    }
    atomic_fetch_add_explicit(&s->l->job->tried, (end - begin) * s->count, memory_order_relaxed);
    return SL_OK;
}

/* ---------------------------------------------------------------- the whole ----------------- */

static bool allot(products *p, sl_arena *a, const sums *s, bool gram) {
    p->with_y = sl_arena_alloc(a, (size_t)s->count * sizeof(double));
    p->norm = sl_arena_alloc(a, (size_t)s->count * sizeof(double));
    p->gram = gram ? sl_arena_alloc(a, (size_t)(s->first * s->count) * sizeof(double)) : NULL;
    return p->with_y && p->norm && (p->gram || !gram);
}

static sl_status gram_part(int64_t begin, int64_t end, int worker, void *payload) {
    (void)worker;
    const sums *s = payload;
    const products *p = &s->room[0];
    for (int64_t i = begin; i < end; i++) {
        s->l->kernels->dots(&p->with_y[i], 1, s->y, s->value[i], 1, ROWS);
        p->norm[i] = 1;
        s->l->kernels->dots(p->gram + i, s->count, s->value[i], s->value[0], s->first, ROWS);
    }
    return SL_OK;
}

static sl_status run(sums *s, sl_search__lattice_code *code, int terms, sl_arena *a) {
    sl_pool *pool = s->l->job->pool;
    const int rooms = 1 + (s->taken > 0 ? TAKEN_MAX * sl_par_pool_threads(pool) : 0);
    bool enough = true;
    s->value = sl_arena_alloc(a, (size_t)s->count * sizeof *s->value);
    s->room = sl_arena_alloc(a, (size_t)rooms * sizeof *s->room);
    s->brief = sl_arena_alloc(a, (size_t)s->count * sizeof *s->brief);
    if (!s->value || !s->room || !s->brief)
        return sl_fail_memory((size_t)s->count, sizeof *s->value, "sums of terms");
    set_values(s, code);
    for (int i = 0; i < rooms && enough; i++) enough = allot(&s->room[i], a, s, terms > 2);
    if (!enough) return sl_fail_memory((size_t)s->count, sizeof(double), "sums of terms");
    if (terms == 2) {
        shorten(s->brief_y, s->y);
        SL_TRY(sl_par_for(pool, s->count, 1024, shorten_part, s));
        return sl_par_for(pool, s->first, 16, meet_part, s);
    }
    SL_TRY(sl_par_for(pool, s->count, 64, gram_part, s));
    return sl_par_for(pool, s->first, 1, take_part, s);
}

/* Sums are halves of their own, and found term by term. *plain: those without constants come first,
 * of two factors at most where `two`. */
static int64_t choose_terms(sl_search__lattice_code *code, int64_t n, int64_t *plain, bool two) {
    int64_t kept = 0;
    *plain = 0;
    for (int64_t i = 0; i < n; i++) {
        const int constants = sl_search__lattice_constants_of(code[i]);
        const bool triple = sl_search__lattice_family_of(code[i]) >= SL_LATTICE__HALF_TIMES;
        if (sl_search__lattice_is_sum(code[i]) || (triple && constants > 0)) continue;
        code[kept++] = code[i];
        if (constants == 0 && !(two && triple)) *plain = kept;
    }
    return kept;
}

/* By number of terms: how many terms all but the last are chosen from, and the last. */
static const struct {
    int first, last;
} sizes[] = { [2] = { 8000, 30000 }, [3] = { 150, 30000 }, [4] = { 80, 2000 }, [5] = { 40, 1000 } };

sl_status sl_search__lattice_sums(sl_lattice *l, int terms, int constants) {
    sl_search__lattice_code *code = NULL;
    sl_arena a = { 0 };
    sums s = { .l = l, .taken = SL_MAX(terms - 3, 0) };
    _Atomic int64_t hits = 0;
    const int workers = sl_par_pool_threads(l->job->pool);
    if (l->noise == 0 || l->rows < ROWS_LEAST) return SL_OK;
    for (int w = 0; w < workers; w++) l->hits[w].mark = l->hits[w].count;
    s.hits = &hits;
    sl_status st = sl_search__lattice_codes(&code, &s.count, &l->sums, 0, constants);
    if (st == SL_OK) s.count = choose_terms(code, s.count, &s.first, terms > 2);
    s.code = code;
    s.count = SL_MIN(s.count, sizes[terms].last);
    s.first = SL_MIN(s.first, sizes[terms].first);
    const int rooms = 1 + (s.taken > 0 ? TAKEN_MAX * workers : 0);
    const int64_t each = ROWS + SHORT + rooms * (2 + (terms > 2 ? s.first : 0));
    const int64_t bytes = s.count * each * (int64_t)sizeof(double);
    if (st == SL_OK && s.count > 1 && sl_search__reserve(l->job, bytes)) {
        st = run(&s, code, terms, &a);
        sl_search__release(l->job, bytes);
        for (int w = 0; w < workers && hits > HITS_MAX; w++) l->hits[w].count = l->hits[w].mark;
    }
    sl_arena_clear(&a);
    sl_free(code);
    return st;
}

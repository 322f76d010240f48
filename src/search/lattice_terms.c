/* lattice_terms - beyond two halves: products of three factors, sums of three and four terms.
 *
 * Factors. Halves of few constants up to a factor become a list of their own, by which inner
 * expressions are multiplied or divided once more (lattice_halves.c).
 *
 * Terms. y = a t + b u + c f + d g + e: for every t (and u) of few constants the vectors f and g
 * are reduced modulo {1, y, t, u} and hashed; two with one key are a formula. Each choice of t and
 * u has a small table of its own that stays in a thread's cache, so nothing is shared. All
 * coefficients are free, and (x + 3) u is two terms without any constant. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "search/lattice_impl.h"

/* ---------------------------------------------------------------- factors ------------------- */

enum { DIGITS = 1 << 16 };

/* Sorts codes, 48 bits, by three digits of 16. */
static void sort_codes(sl_search__lattice_code *code, sl_search__lattice_code *room, int64_t n) {
    int64_t *begin = (int64_t *)(room + n), count;
    for (int shift = 0; shift < 48; shift += 16) {
        memset(begin, 0, (DIGITS + 1) * sizeof *begin);
        for (int64_t i = 0; i < n; i++) begin[(code[i] >> shift & (DIGITS - 1)) + 1]++;
        for (count = 1; count < DIGITS; count++) begin[count] += begin[count - 1];
        for (int64_t i = 0; i < n; i++) room[begin[code[i] >> shift & (DIGITS - 1)]++] = code[i];
        memcpy(code, room, (size_t)n * sizeof *code);
    }
}

bool sl_search__lattice_is_sum(sl_search__lattice_code code) {
    sl_search__lattice_family family = sl_search__lattice_family_of(code);
    return family == SL_LATTICE__HALF_SUM || family == SL_LATTICE__HALF_DIFFERENCE;
}

sl_status sl_search__lattice_codes(sl_search__lattice_code **out, int64_t *n,
                                   const sl_search__lattice_table *t, int least, int most) {
    int64_t count = atomic_load(&t->count);
    *out = sl_malloc((size_t)(2 * count + DIGITS + 1), sizeof **out);
    if (!*out) return sl_fail_memory((size_t)count, 2 * sizeof **out, "the lattice search");
    *n = 0;
    for (int64_t i = 0; i < t->size; i++) {
        if (!t->slot[i].key) continue;
        sl_search__lattice_code code = ~t->slot[i].word >> 16;
        int constants = sl_search__lattice_constants_of(code);
        if (constants >= least && constants <= most) (*out)[(*n)++] = code;
    }
    sort_codes(*out, *out + count, *n);
    return SL_OK;
}

static sl_status keep_factors(bool *done, sl_lattice *l, const sl_search__lattice_code *code,
                              int64_t n, int constants) {
    sl_search__lattice_list *list = &l->list[SL_LATTICE__FACTOR];
    *done = list->count + n < SL_LATTICE__FACTORS;
    if (*done) SL_TRY(sl_search__lattice_list_reserve(done, l, list, n));
    if (!*done) return SL_OK;
    sl_search__lattice_code *more =
        sl_realloc(l->factor, (size_t)(list->count + n + 1), sizeof *more);
    if (!more) return sl_fail_memory((size_t)n, sizeof *more, "the lattice search");
    l->factor = more;
    list->begin[constants] = (int32_t)list->count;
    for (int sums = 0; sums < 2; sums++) {
        for (int64_t i = 0; i < n; i++) {
            double v[SL_LATTICE__PROBES];
            if (sl_search__lattice_is_sum(code[i]) != (sums == 1)) continue;
            for (int k = 0; k < SL_LATTICE__PROBES; k++)
                v[k] = sl_search__lattice_half_probe(l, code[i], k);
            more[list->count] = code[i];
            sl_search__lattice_list_add(list, (int32_t)list->count, v);
        }
        if (sums == 0) list->middle[constants] = (int32_t)list->count;
    }
    list->begin[constants + 1] = (int32_t)list->count;
    l->factor_levels = constants + 1;
    return SL_OK;
}

sl_status sl_search__lattice_factors(sl_lattice *l, int constants) {
    sl_search__lattice_table *t = &l->scales;
    sl_search__lattice_code *code = NULL;
    int64_t n;
    bool done;
    if (l->factor_levels != constants) return SL_OK;
    SL_TRY(sl_search__lattice_table_grow(
        &done, l, t, t->count + sl_search__lattice_halves(l, constants, SL_LATTICE__COLLECT)));
    if (!done) return SL_OK;
    SL_TRY(sl_search__lattice_walk(l, constants, SL_LATTICE__COLLECT));
    sl_status st = sl_search__lattice_codes(&code, &n, t, constants, constants);
    if (st == SL_OK) st = keep_factors(&done, l, code, n, constants);
    sl_free(code);
    return st;
}

/* ---------------------------------------------------------------- terms --------------------- */

enum { ROWS = SL_LATTICE__CHOSEN, FIXED_MAX = 2 };

typedef struct terms {
    sl_lattice *l;
    int fixed;                    // terms that are projected out besides 1 and y
    int64_t first, simple, count; // terms that come first among the fixed, that are fixed, all
    const sl_search__lattice_code *code;
    double *value[ROWS]; // less those at row 0 and modulo y: 6 remain; value[1]: the part of y
    int64_t size;        // slots of a table
    uint64_t *key;       // by worker
    int32_t *term;
    uint32_t *fold;  // by worker: a hash of each term's key
    int32_t *chosen; // by worker: terms
    float *ratio;    // by worker: three columns, and one of |1 / residual 0|
} terms;

/* Values at ROWS rows, modulo 1 and y: value[k], k from 2 on; value[1] is the part of y. */
static void reduce(terms *t, int64_t i) {
    const sl_lattice *l = t->l;
    double v[ROWS];
    for (int r = 0; r < ROWS; r++)
        v[r] = r < SL_LATTICE__PROBES ? sl_search__lattice_half_probe(l, t->code[i], r)
                                      : sl_search__lattice_half_at(l, t->code[i], r);
    double step = l->y[1] - l->y[0];
    t->value[1][i] = (v[1] - v[0]) / step;
    for (int r = 2; r < ROWS; r++)
        t->value[r][i] = (v[r] - v[0]) - (l->y[r] - l->y[0]) / step * (v[1] - v[0]);
}

/* Residuals modulo the fixed terms too: weights of the rows in each, by elimination with the
 * largest pivot. Returns false where a fixed term vanishes. */
typedef struct elimination {
    int left; // residuals: 6 - fixed
    int pivot[FIXED_MAX];
    int row[ROWS]; // of residual k
    double weight[ROWS]
                 [FIXED_MAX];   // residual k = value[row[k]] - sum of weight[k][j] value[pivot[j]]
    double weight_y[FIXED_MAX]; // the same for value[1]
} elimination;

static bool eliminate(elimination *e, const terms *t, const int64_t *fixed) {
    double a[FIXED_MAX][ROWS], c[ROWS][FIXED_MAX] = { { 0 } };
    bool used[ROWS] = { false };
    for (int j = 0; j < t->fixed; j++) {
        for (int r = 1; r < ROWS; r++) a[j][r] = t->value[r][fixed[j]];
        double before = 0, after = 0;
        for (int r = 2; r < ROWS; r++) before = SL_MAX(before, fabs(a[j][r]));
        for (int i = 0; i < j; i++) {
            double at = a[j][e->pivot[i]];
            for (int r = 1; r < ROWS; r++) a[j][r] -= at * a[i][r];
        }
        int best = -1;
        for (int r = 2; r < ROWS; r++)
            if (!used[r] && fabs(a[j][r]) > after) after = fabs(a[j][r]), best = r;
        if (best < 0 || !(after > 1e-9 * before)) return false;
        used[best] = true;
        e->pivot[j] = best;
        double pivot = a[j][best];
        for (int r = 1; r < ROWS; r++) a[j][r] /= pivot;
    }
    e->left = 0;
    // value[row] = residual + sum a[j][row] * (value[pivot j] reduced by the pivots before)
    for (int r = 1; r < ROWS; r++) {
        if (used[r]) continue;
        for (int j = t->fixed - 1; j >= 0; j--) {
            // NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign): a has rows below t->fixed
            c[r][j] = a[j][r];
            for (int i = j + 1; i < t->fixed; i++) c[r][j] -= c[r][i] * a[j][e->pivot[i]];
        }
        if (r == 1) {
            memcpy(e->weight_y, c[r], sizeof c[r]);
            continue;
        }
        e->row[e->left] = r;
        memcpy(e->weight[e->left++], c[r], sizeof c[r]);
    }
    return true;
}

/* Keys of all terms modulo the fixed ones, into the worker's columns. */
static void fill_ratios(float *ratio, const terms *t, const elimination *e, int64_t n) {
    const double *p0 = t->value[e->pivot[0]];
    const double *p1 = t->value[e->pivot[t->fixed - 1]];
    double w[4][2];
    const double *v[4];
    for (int k = 0; k < 4; k++) {
        v[k] = t->value[e->row[k]];
        w[k][0] = e->weight[k][0];
        w[k][1] = t->fixed > 1 ? e->weight[k][1] : 0;
    }
    const sl_search__lattice_kernels *kernels = t->l->kernels;
    if (t->l->noise > 0)
        kernels->reduce_rounded(ratio, v, p0, p1, (const double(*)[2])w, (int)n, (int)t->count);
    else
        kernels->reduce(ratio, v, p0, p1, (const double(*)[2])w, (int)n, (int)t->count);
}

/* Residual of term i where the row has these weights. */
static double residual(const terms *t, const elimination *e, int row, const double *weight,
                       int64_t i) {
    double v = t->value[row][i];
    for (int j = 0; j < t->fixed; j++) v -= weight[j] * t->value[e->pivot[j]][i];
    return v;
}

/* Two terms of one key: is y part of their dependence, or are they dependent with the fixed terms
 * alone? */
static bool needs_y(const terms *t, const elimination *e, int64_t f, int64_t g) {
    double a = residual(t, e, 1, e->weight_y, f) * residual(t, e, e->row[0], e->weight[0], g);
    double b = residual(t, e, 1, e->weight_y, g) * residual(t, e, e->row[0], e->weight[0], f);
    return fabs(a - b) > 1e-7 * (fabs(a) + fabs(b));
}

/* The state for one choice of fixed terms. */
typedef struct meeting {
    terms *t;
    int worker;
    const int64_t *fixed;
    elimination e;
    uint64_t *key; // 0: free
    int32_t *term;
    uint64_t mask; // slots less 1
    const float *ratio;
    double error[4], error_all; // of the residuals and of their length, where y is rounded
} meeting;

static uint64_t place_of(const meeting *m, uint64_t key) {
    uint64_t at = key & m->mask;
    while (m->key[at] && m->key[at] != key) at = (at + 1) & m->mask;
    return at;
}

/* Term i has the key of another: a hit, unless y has no part in it. */
static sl_status add_meeting(const meeting *m, int64_t i, int64_t other) {
    const terms *t = m->t;
    if (!needs_y(t, &m->e, i, other)) return SL_OK;
    sl_search__lattice_hit hit = { .f = t->code[i],
                                   .g = t->code[other],
                                   .form = SL_LATTICE__FORM_TERMS,
                                   .n_others = (int8_t)t->fixed };
    for (int k = 0; k < t->fixed; k++) hit.others[k] = t->code[m->fixed[k]];
    return sl_search__lattice_add_hit(&t->l->hits[m->worker], hit);
}

/* Cells of term i along one axis: its own first, then that which rounding of y may have moved it
 * to. */
static int cells_of(uint32_t cell[2], const meeting *m, int axis, int64_t i) {
    const terms *t = m->t;
    float r = m->ratio[axis * t->count + i];
    cell[0] = sl_search__lattice_cell(r, t->l->shift);
    if (t->l->noise == 0) return 1;
    double e = (m->error[axis + 1] + m->error_all * fabs((double)r - 2)) *
               (double)m->ratio[3 * t->count + i];
    uint32_t low = sl_search__lattice_cell((float)(r - e), t->l->shift);
    uint32_t high = sl_search__lattice_cell((float)(r + e), t->l->shift);
    cell[1] = low != cell[0] ? low : high;
    return cell[1] == cell[0] ? 1 : 2;
}

static sl_status meet_term(const meeting *m, int64_t i) {
    uint32_t cell[3][2];
    int n[3];
    if (m->ratio[i] == SL_LATTICE__NONE) return SL_OK;
    for (int axis = 0; axis < 3; axis++) n[axis] = cells_of(cell[axis], m, axis, i);
    for (int way = n[0] * n[1] * n[2] - 1; way >= 0; way--) {
        uint64_t key = sl_search__lattice_key(cell[0][way % n[0]], cell[1][way / n[0] % n[1]],
                                              cell[2][way / (n[0] * n[1])]);
        uint64_t at = place_of(m, key);
        if (m->key[at]) {
            SL_TRY(add_meeting(m, i, m->term[at]));
        } else if (way == 0) {
            m->key[at] = key;
            m->term[at] = (int32_t)i;
        }
    }
    return SL_OK;
}

static void set_errors(meeting *m) {
    const sl_lattice *l = m->t->l;
    for (int k = 0; k < 4 && l->noise > 0; k++) {
        m->error[k] = sl_search__lattice_error_at(l, m->e.row[k]);
        for (int j = 0; j < m->t->fixed; j++)
            m->error[k] += fabs(m->e.weight[k][j]) * sl_search__lattice_error_at(l, m->e.pivot[j]);
    }
    m->error_all = sqrt(sl_search__dot(m->error, m->error, 4));
}

/* seen: a map of bits. Was this one set? Sets it. */
static inline int see(uint64_t *seen, uint32_t bit) {
    const uint64_t word = seen[bit >> 6];
    seen[bit >> 6] = word | (uint64_t)1 << (bit & 63);
    return (int)(word >> (bit & 63) & 1);
}

/* chosen[] := the terms from `first` on that may have the key of another, in order; returns how
 * many. Most keys occur once: a map of bits, which stays in a near cache, leaves some percent.
 * Where y is rounded keys are uncertain, and all terms are chosen. */
static int64_t choose_alike(int32_t *chosen, const meeting *m, int64_t first) {
    enum { LATER = 14 }; // bits of the map of later terms: 2 KB
    const terms *t = m->t;
    uint32_t *fold = t->fold + m->worker * t->count;
    int64_t later = 0, n = 0;
    if (t->l->noise > 0) {
        for (int64_t i = first; i < t->count; i++) chosen[n++] = (int32_t)i;
        return n;
    }
    t->l->kernels->fold(fold + first, m->ratio + first, t->count - first, t->count, t->l->shift);
    uint64_t *seen = m->key, again[1 << (LATER - 6)] = { 0 };
    const int shift = 32 - __builtin_ctzll((uint64_t)t->size) - 3; // 8 bits a slot of the table
    memset(seen, 0, (size_t)t->size);
    for (int64_t i = first; i < t->count; i++) {
        chosen[later] = (int32_t)i;
        later += see(seen, fold[i] >> shift);
    }
    for (int64_t k = 0; k < later; k++) (void)see(again, fold[chosen[k]] & ((1 << LATER) - 1));
    for (int64_t i = first; i < t->count && later > 0; i++) {
        const uint32_t bit = fold[i] & ((1 << LATER) - 1);
        chosen[n] = (int32_t)i;
        n += (int)(again[bit >> 6] >> (bit & 63) & 1);
    }
    return n;
}

static sl_status meet(terms *t, int worker, const int64_t *fixed) {
    float *ratio = t->ratio + 4 * worker * t->count;
    int32_t *chosen = t->chosen + worker * t->count;
    meeting m = { .t = t,
                  .worker = worker,
                  .fixed = fixed,
                  .key = t->key + worker * t->size,
                  .term = t->term + worker * t->size,
                  .ratio = ratio };
    if (!eliminate(&m.e, t, fixed)) return SL_OK;
    set_errors(&m);
    fill_ratios(ratio, t, &m.e, t->count);
    // a sum is found from its first terms as fixed ones only: the others come behind them
    const int64_t n = choose_alike(chosen, &m, fixed[t->fixed - 1] + 1);
    int64_t size = 64;
    while (size < 2 * n) size *= 2;
    m.mask = (uint64_t)size - 1;
    memset(m.key, 0, (size_t)size * sizeof *m.key);
    for (int64_t i = 0; i < n; i++) SL_TRY(meet_term(&m, chosen[i]));
    atomic_fetch_add_explicit(&t->l->job->tried, t->count, memory_order_relaxed);
    return SL_OK;
}

static sl_status meet_part(int64_t begin, int64_t end, int worker, void *payload) {
    terms *t = payload;
    for (int64_t i = begin; i < end; i++) {
        if (t->fixed == 1) {
            if (sl_search__stop(t->l->job, worker == 0)) return SL_OK;
            SL_TRY(meet(t, worker, &i));
        }
        for (int64_t k = i + 1; k < t->simple && t->fixed == 2; k++) {
            if (sl_search__stop(t->l->job, worker == 0)) return SL_OK;
            SL_TRY(meet(t, worker, (int64_t[]){ i, k }));
        }
    }
    return SL_OK;
}

static sl_status reduce_part(int64_t begin, int64_t end, int worker, void *payload) {
    (void)worker;
    for (int64_t i = begin; i < end; i++) reduce(payload, i);
    return SL_OK;
}

static sl_status run_terms(terms *t, sl_arena *a) {
    sl_lattice *l = t->l;
    size_t workers = (size_t)sl_par_pool_threads(l->job->pool);
    t->size = 1024;
    while (t->size < 2 * t->count) t->size *= 2;
    int64_t bytes = (ROWS * 8 + (int64_t)workers * 24) * t->count + (int64_t)workers * 12 * t->size;
    if (!sl_search__reserve(l->job, bytes)) return SL_OK;
    bool enough = true;
    for (int r = 1; r < ROWS; r++) {
        t->value[r] = sl_arena_alloc(a, (size_t)t->count * sizeof(double));
        enough = enough && t->value[r];
    }
    t->key = sl_arena_alloc(a, workers * (size_t)t->size * sizeof *t->key);
    t->term = sl_arena_alloc(a, workers * (size_t)t->size * sizeof *t->term);
    t->ratio = sl_arena_alloc(a, 4 * workers * (size_t)t->count * sizeof *t->ratio);
    t->fold = sl_arena_alloc(a, workers * (size_t)t->count * sizeof *t->fold);
    t->chosen = sl_arena_alloc(a, workers * (size_t)t->count * sizeof *t->chosen);
    sl_status st = SL_OK;
    if (!enough || !t->key || !t->term || !t->ratio || !t->fold || !t->chosen)
        st = sl_fail_memory((size_t)t->count, sizeof(double), "sums of terms");
    if (st == SL_OK) st = sl_par_for(l->job->pool, t->count, 1024, reduce_part, t);
    if (st == SL_OK) st = sl_par_for(l->job->pool, t->first, 1, meet_part, t);
    sl_search__release(l->job, bytes);
    return st;
}

/* Terms of a sum: no sums, and products of three factors only with at most `triples` constants. */
static int64_t choose_terms(sl_search__lattice_code *code, int64_t n, int triples) {
    int64_t kept = 0;
    for (int64_t i = 0; i < n; i++) {
        bool triple = sl_search__lattice_family_of(code[i]) >= SL_LATTICE__HALF_TIMES;
        if (!sl_search__lattice_is_sum(code[i]) &&
            !(triple && sl_search__lattice_constants_of(code[i]) > triples))
            code[kept++] = code[i];
    }
    return kept;
}

/* How many of the terms are fixed: those without constants, of two factors at most. */
static void choose_fixed(terms *t, bool near) {
    while (t->simple < t->count &&
           t->code[t->simple] < SL_LATTICE__CODE(0, SL_LATTICE__HALF_TIMES, 0, 0))
        t->simple++;
    t->first = t->simple;
    while (near && t->first > 0 &&
           sl_search__lattice_family_of(t->code[t->first - 1]) != SL_LATTICE__HALF_SINGLE)
        t->first--;
}

sl_status sl_search__lattice_terms(sl_lattice *l, int fixed, int constants, bool near) {
    sl_search__lattice_code *code = NULL;
    sl_arena a = { 0 };
    const bool inputs = fixed == 0;
    terms t = { .l = l, .fixed = inputs ? SL_MIN(l->variables, FIXED_MAX) : fixed };
    if (l->rows < ROWS + 2) return SL_OK;
    sl_status st = sl_search__lattice_codes(&code, &t.count, &l->sums, 0, constants);
    t.code = code;
    int triples = inputs ? 1 : fixed > 1 ? -1 : near ? 1 : 0;
    if (st == SL_OK) t.count = choose_terms(code, t.count, triples);
    choose_fixed(&t, near);
    if (inputs) t.first = 1, t.simple = t.fixed; // the inputs have the smallest codes
    if (st == SL_OK && t.count > 2) st = run_terms(&t, &a);
    sl_arena_clear(&a);
    sl_free(code);
    return st;
}

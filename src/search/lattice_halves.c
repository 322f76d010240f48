/* lattice_halves - all halves with a number of constants, in blocks: stored or looked up.
 *
 * A pass is a list of runs: one family, a range of left and a range of right operands. Runs are cut
 * into units of one left operand and some hundred right ones, which threads take as they are free.
 * The equivalence under which halves are compared limits the operands:
 *
 *   affine   (sums, and what is stored) a factor and a summand are free. So one operand of a sum is
 *            primitive up to both, factors of a product are primitive up to a factor.
 *   scale    (look-ups of products) a factor is free, a summand is not.
 *
 * Two operands of a sum with factors of their own, 2 p + 3 q, are a run of their own; where one of
 * them is primitive the other has the ratio of both factors. */
#include <math.h>
#include <string.h>

#include "search/lattice_impl.h"

enum { UNIT = 4 * SL_LATTICE__BLOCK, RUNS_MAX = 128, GRAIN = 8 };

typedef struct run {
    sl_search__lattice_family family;
    int left, right; // lists
    int32_t p, p_end, q, q_end;
    bool triangle;            // only q at or behind p
    uint32_t families;        // of binary ones: bits
    int32_t ratio, ratio_end; // of functions
    int64_t unit;             // the first
} run;

typedef struct walk {
    sl_lattice *l;
    int constants;
    sl_search__lattice_pass what;
    bool affine;
    int runs;
    run run[RUNS_MAX];
    int64_t units;
} walk;

/* ---------------------------------------------------------------- runs ---------------------- */

static int64_t blocks_of(const run *r) { return (r->q_end - r->q + UNIT - 1) / UNIT; }

static void add_run(walk *w, run r) {
    if (r.p >= r.p_end || r.q >= r.q_end) return;
    SL_ASSERT(w->runs < RUNS_MAX);
    r.unit = w->units;
    w->units += (int64_t)(r.p_end - r.p) * blocks_of(&r);
    w->run[w->runs++] = r;
}

static int32_t begin_of(const walk *w, int list, int c) { return w->l->list[list].begin[c]; }
static int32_t middle_of(const walk *w, int list, int c) { return w->l->list[list].middle[c]; }
static int32_t end_of(const walk *w, int list, int c) { return w->l->list[list].begin[c + 1]; }

static bool has(const walk *w, sl_operator o) { return w->l->grammar.ops >> o & 1; }

/* Functions, or operands alone: no left operand. */
static void add_unary(walk *w, sl_search__lattice_family family, int list, int32_t q, int32_t q_end,
                      int ratios) {
    const int32_t *begin = w->l->ratio_begin;
    add_run(w, (run){ .family = family,
                      .right = list,
                      .p_end = 1,
                      .q = q,
                      .q_end = q_end,
                      .ratio = begin[ratios],
                      .ratio_end = begin[ratios + 1] });
}

static void add_functions(walk *w, int c, int ratios) {
    const int FULL = SL_LATTICE__FULL;
    // with a summand behind the function, a factor cannot be taken out of a root or of exp
    int powers = ratios ? SL_LATTICE__FULL : SL_LATTICE__SHIFT;
    int32_t roots_end = ratios ? end_of(w, FULL, c) : middle_of(w, FULL, c);
    if (has(w, SL_OPERATOR_EXP)) {
        add_unary(w, SL_LATTICE__HALF_EXP, powers, begin_of(w, powers, c), end_of(w, powers, c),
                  ratios);
        add_unary(w, SL_LATTICE__HALF_EXP_NEGATIVE, powers, begin_of(w, powers, c),
                  end_of(w, powers, c), ratios);
    }
    if (has(w, SL_OPERATOR_SIN))
        add_unary(w, SL_LATTICE__HALF_SIN, FULL, begin_of(w, FULL, c), end_of(w, FULL, c), ratios);
    if (has(w, SL_OPERATOR_SQRT)) {
        add_unary(w, SL_LATTICE__HALF_SQRT, FULL, begin_of(w, FULL, c), roots_end, ratios);
        add_unary(w, SL_LATTICE__HALF_SQRT_NEGATIVE, FULL, begin_of(w, FULL, c), roots_end, ratios);
    }
    if (ratios || !has(w, SL_OPERATOR_MUL)) return;
    add_unary(w, SL_LATTICE__HALF_SQUARE, FULL, begin_of(w, FULL, c), roots_end, 0);
    add_unary(w, SL_LATTICE__HALF_CUBE, FULL, begin_of(w, FULL, c), roots_end, 0);
    if (has(w, SL_OPERATOR_SQRT))
        add_unary(w, SL_LATTICE__HALF_THREE_HALVES, FULL, begin_of(w, FULL, c), roots_end, 0);
}

static void add_products(walk *w, int c1, int c2) {
    const int FULL = SL_LATTICE__FULL;
    uint32_t families = 0;
    if (has(w, SL_OPERATOR_MUL)) families |= 1u << 2;
    if (has(w, SL_OPERATOR_DIV)) families |= w->affine ? 3u << 3 : 1u << 3;
    if (c1 > c2 || !families) return;
    add_run(w, (run){ .left = FULL,
                      .right = FULL,
                      .families = families,
                      .triangle = c1 == c2,
                      .p = begin_of(w, FULL, c1),
                      .p_end = middle_of(w, FULL, c1),
                      .q = begin_of(w, FULL, c2),
                      .q_end = middle_of(w, FULL, c2) });
}

static void add_sums(walk *w, int c1, int c2) {
    const int SHIFT = SL_LATTICE__SHIFT, right = w->affine ? SHIFT : SL_LATTICE__FULL;
    run r = { .left = SHIFT, .right = right };
    if (!has(w, SL_OPERATOR_ADD) && !has(w, SL_OPERATOR_SUB)) return;
    r.families = 3; // either sign: factors may be negative
    // both primitive; in the list FULL that is up to a factor, with summands
    r.p = begin_of(w, SHIFT, c1), r.p_end = middle_of(w, SHIFT, c1);
    r.q = begin_of(w, right, c2), r.q_end = middle_of(w, right, c2);
    r.triangle = w->affine && c1 == c2;
    if (!w->affine || c1 <= c2) add_run(w, r);
    // the right one with a factor of its own
    r.triangle = false;
    r.q = r.q_end, r.q_end = end_of(w, right, c2);
    add_run(w, r);
    // both
    r.p = r.p_end, r.p_end = end_of(w, SHIFT, c1);
    r.triangle = w->affine && c1 == c2;
    if (!w->affine || c1 <= c2) add_run(w, r);
}

/* Three factors: halves times or over an inner expression, and inner expressions over halves. A sum
 * times a factor is a sum of products, found elsewhere. */
static void add_triples(walk *w, int c1, int c2) {
    const int FACTOR = SL_LATTICE__FACTOR, FULL = SL_LATTICE__FULL;
    run r = { .left = FULL,
              .right = FACTOR, // the long list
              .p = begin_of(w, FULL, c2),
              .p_end = middle_of(w, FULL, c2) };
    uint32_t times = has(w, SL_OPERATOR_MUL) ? 1u << 2 : 0;
    uint32_t over = has(w, SL_OPERATOR_DIV) ? 1u << 3 : 0;
    r.q = begin_of(w, FACTOR, c1), r.q_end = middle_of(w, FACTOR, c1);
    r.families = times | over | over << 1;
    if (r.families) add_run(w, r);
    r.q = r.q_end, r.q_end = end_of(w, FACTOR, c1);
    r.families = over;
    if (r.families) add_run(w, r);
}

static void plan(walk *w, sl_lattice *l, int c, sl_search__lattice_pass what) {
    bool triples = what == SL_LATTICE__STORE_TRIPLES || what == SL_LATTICE__LOOK_TRIPLES ||
                   what == SL_LATTICE__LOOK_TRIPLE_PRODUCTS ||
                   what == SL_LATTICE__STORE_TRIPLE_TARGETS;
    *w = (walk){ .l = l,
                 .constants = c,
                 .what = what,
                 .affine = what != SL_LATTICE__LOOK_PRODUCTS && what != SL_LATTICE__COLLECT &&
                           what != SL_LATTICE__STORE_TARGETS };
    for (int c1 = 0; triples && c1 <= c; c1++)
        if (c1 < l->factor_levels && c - c1 < l->levels) add_triples(w, c1, c - c1);
    if (triples) return;
    int list = w->affine ? SL_LATTICE__SHIFT : SL_LATTICE__FULL;
    if (c < l->levels)
        add_unary(w, SL_LATTICE__HALF_SINGLE, list, begin_of(w, list, c), middle_of(w, list, c), 0);
    for (int c1 = 0; c1 <= c && l->grammar.depth >= 3; c1++) {
        if (c1 >= l->levels || c - c1 >= l->levels) continue;
        add_sums(w, c1, c - c1);
        add_products(w, c1, c - c1);
    }
    if (l->grammar.depth < 2) return;
    for (int ratios = 0; ratios <= (w->affine ? 0 : SL_MIN(c, 2)); ratios++)
        if (c - ratios < l->levels) add_functions(w, c - ratios, ratios);
}

int64_t sl_search__lattice_halves(sl_lattice *l, int constants, sl_search__lattice_pass what) {
    walk w;
    int64_t n = 0;
    plan(&w, l, constants, what);
    for (int i = 0; i < w.runs; i++) {
        const run *r = &w.run[i];
        int64_t pairs = (int64_t)(r->p_end - r->p) * (r->q_end - r->q);
        if (r->triangle) pairs = (pairs + r->p_end - r->p) / 2;
        n += r->families ? pairs * __builtin_popcount(r->families)
                         : pairs * (r->ratio_end - r->ratio);
    }
    return n;
}

/* ---------------------------------------------------------------- values of a block --------- */

static sl_status do_binary(sl_search__lattice_batch *b, const run *r, int32_t i, int32_t q) {
    const sl_lattice *l = b->l;
    static const sl_search__lattice_family family[] = {
        SL_LATTICE__HALF_SUM, SL_LATTICE__HALF_DIFFERENCE, SL_LATTICE__HALF_PRODUCT,
        SL_LATTICE__HALF_QUOTIENT, SL_LATTICE__HALF_QUOTIENT
    };
    static const sl_search__lattice_family family_of_three[] = { 0, 0, SL_LATTICE__HALF_TIMES,
                                                                 SL_LATTICE__HALF_UNDER,
                                                                 SL_LATTICE__HALF_PER };
    const bool triple = r->right == SL_LATTICE__FACTOR;
    b->p = (uint32_t)l->list[r->left].id[i];
    for (int op = 0; op < SL_LEN(family); op++) {
        if (!(r->families >> op & 1)) continue;
        for (int k = 0; k < SL_LATTICE__PROBES; k++)
            l->kernels->combine(b->s->block.v[k], l->list[r->left].value[k][i],
                                l->list[r->right].value[k] + q, b->n, op);
        b->family = triple ? family_of_three[op] : family[op];
        b->swapped = op == 4 || triple;
        SL_TRY(sl_search__lattice_process_block(b));
    }
    return SL_OK;
}

/* out := the function of the family of q[]. */
static void apply(double *out, const sl_lattice *l, sl_search__lattice_family family,
                  const double *q, int n) {
    bool negative =
        family == SL_LATTICE__HALF_EXP_NEGATIVE || family == SL_LATTICE__HALF_SQRT_NEGATIVE;
    for (int i = 0; i < n; i++) out[i] = negative ? -q[i] : q[i];
    switch (family) {
    case SL_LATTICE__HALF_EXP:
    case SL_LATTICE__HALF_EXP_NEGATIVE: sl_exp_array(out, out, n); break;
    case SL_LATTICE__HALF_SIN: sl_sin_array(out, out, n); break;
    case SL_LATTICE__HALF_SQRT:
    case SL_LATTICE__HALF_SQRT_NEGATIVE: l->kernels->root(out, out, n); break;
    case SL_LATTICE__HALF_SQUARE:
        for (int i = 0; i < n; i++) out[i] = q[i] * q[i];
        break;
    case SL_LATTICE__HALF_CUBE:
        for (int i = 0; i < n; i++) out[i] = q[i] * q[i] * q[i];
        break;
    case SL_LATTICE__HALF_THREE_HALVES:
        l->kernels->root(out, out, n);
        for (int i = 0; i < n; i++) out[i] *= q[i];
        break;
    default: break;
    }
}

static sl_status do_unary(sl_search__lattice_batch *b, const run *r, int32_t q) {
    const sl_lattice *l = b->l;
    sl_search__lattice_block *u = &b->s->function;
    b->family = r->family;
    for (int k = 0; k < SL_LATTICE__PROBES; k++)
        apply(u->v[k], l, r->family, l->list[r->right].value[k] + q, b->n);
    for (b->ratio = r->ratio; b->ratio < r->ratio_end; b->ratio++) {
        for (int k = 0; k < SL_LATTICE__PROBES; k++)
            l->kernels->combine(b->s->block.v[k], l->ratio[b->ratio].value, u->v[k], b->n, 0);
        SL_TRY(sl_search__lattice_process_block(b));
    }
    return SL_OK;
}

static const run *run_of(const walk *w, int64_t unit) {
    int i = w->runs - 1;
    while (w->run[i].unit > unit) i--;
    return &w->run[i];
}

static sl_status do_unit(const walk *w, int64_t unit, sl_search__lattice_scratch *s,
                         sl_search__lattice_hits *hits) {
    const run *r = run_of(w, unit);
    int64_t blocks = blocks_of(r), at = unit - r->unit;
    int32_t i = r->p + (int32_t)(at / blocks), q = r->q + (int32_t)(at % blocks) * UNIT;
    int32_t end = SL_MIN(q + UNIT, r->q_end);
    if (r->triangle) q = SL_MAX(q, i);
    for (; q < end; q += SL_LATTICE__BLOCK) {
        sl_search__lattice_batch b = { .l = w->l,
                                       .constants = w->constants,
                                       .what = w->what,
                                       .s = s,
                                       .hits = hits,
                                       .n = SL_MIN(SL_LATTICE__BLOCK, end - q),
                                       .id = w->l->list[r->right].id + q };
        if (r->families)
            SL_TRY(do_binary(&b, r, i, q));
        else
            SL_TRY(do_unary(&b, r, q));
    }
    return SL_OK;
}

static sl_status do_units(int64_t begin, int64_t end, int worker, void *payload) {
    const walk *w = payload;
    sl_search__lattice_scratch *s = (sl_search__lattice_scratch *)w->l->scratch + worker;
    for (int64_t unit = begin; unit < end; unit++) {
        if (sl_search__stop(w->l->job, worker == 0)) return SL_OK;
        SL_TRY(do_unit(w, unit, s, &w->l->hits[worker]));
    }
    atomic_fetch_add_explicit(&w->l->job->tried, (end - begin) * UNIT, memory_order_relaxed);
    return SL_OK;
}

sl_status sl_search__lattice_walk(sl_lattice *l, int constants, sl_search__lattice_pass what) {
    walk w;
    plan(&w, l, constants, what);
    return sl_par_for(l->job->pool, w.units, GRAIN, do_units, &w);
}

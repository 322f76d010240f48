/* lattice_peel - y less one simple term is a quotient.
 *
 * y = a t + h / (b g + c): a sum of two quotients of which one has many constants. To meet in the
 * middle, both would be enumerated with all their constants. Instead, for each t and integer a, h /
 * (y - a t) is looked up among the halves g, whose factor and summand are free: h has few
 * constants, g has those of the table. */
#include <math.h>
#include <string.h>

#include "search/lattice_impl.h"

enum { USED = 5 }; // probes of an affine key

typedef struct peeling {
    sl_lattice *l;
    const sl_search__lattice_code *term;
    int64_t terms;
    int least, most;           // |a|
    int32_t count;             // of h and of 1 / h
    const int32_t *id;         // inner expressions, for both
    const double *value[USED]; // h, then 1 / h
} peeling;

static sl_status look_up(const peeling *p, int worker, sl_search__lattice_keys *keys, int32_t from,
                         int n, sl_search__lattice_code term, int a) {
    const sl_lattice *l = p->l;
    const sl_search__lattice_table *t = &l->products;
    l->kernels->hash(keys, n, l->shift);
    for (int k = 0; k < n; k++) {
        uint64_t key, word = sl_search__lattice_find(&key, t, keys, k, l);
        if (!word) continue;
        int32_t id = p->id[(from + k) % (p->count / 2)];
        sl_search__lattice_hit hit = {
            .key = key,
            .f = SL_LATTICE__CODE(l->inner[id].constants, SL_LATTICE__HALF_SINGLE, id, 0),
            .g = word >> 16,
            .others = { term },
            .form = from + k < p->count / 2 ? SL_LATTICE__FORM_OVER : SL_LATTICE__FORM_INVERSE,
            .peeled = (int8_t)a
        };
        SL_TRY(sl_search__lattice_add_hit(&l->hits[worker], hit));
    }
    return SL_OK;
}

/* All h against y less a times a term. */
static sl_status peel(const peeling *p, int worker, sl_search__lattice_code term,
                      const double *value, int a) {
    const sl_lattice *l = p->l;
    sl_search__lattice_block block;
    sl_search__lattice_keys keys;
    const double *v[SL_LATTICE__PROBES];
    double left[USED], error[USED];
    for (int k = 0; k < USED; k++) {
        left[k] = l->y_probe[k] - a * value[k];
        if (!(fabs(left[k]) > 1e-6 * fabs(l->y_probe[k]))) return SL_OK;
        error[k] = l->rounding[k] / fabs(left[k]);
    }
    for (int k = 0; k < SL_LATTICE__PROBES; k++) v[k] = block.v[k];
    for (int32_t from = 0; from < p->count; from += SL_LATTICE__BLOCK) {
        int n = SL_MIN(SL_LATTICE__BLOCK, p->count - from);
        for (int k = 0; k < USED; k++)
            l->kernels->against(block.v[k], p->value[k] + from, p->value[k] + from, left[k], n, 2);
        if (l->noise > 0)
            l->kernels->affine_rounded(&keys, v, n, error, v, 0);
        else
            l->kernels->affine(&keys, v, n);
        SL_TRY(look_up(p, worker, &keys, from, n, term, a));
    }
    return SL_OK;
}

static sl_status peel_part(int64_t begin, int64_t end, int worker, void *payload) {
    const peeling *p = payload;
    double value[USED];
    for (int64_t i = begin; i < end; i++) {
        if (sl_search__stop(p->l->job, worker == 0)) return SL_OK;
        for (int k = 0; k < USED; k++)
            value[k] = sl_search__lattice_half_probe(p->l, p->term[i], k);
        for (int a = p->least; a <= p->most; a++)
            for (int sign = -1; sign <= 1; sign += 2)
                SL_TRY(peel(p, worker, p->term[i], value, sign * a));
    }
    atomic_fetch_add_explicit(&p->l->job->tried,
                              (end - begin) * 2 * (p->most - p->least + 1) * p->count,
                              memory_order_relaxed);
    return SL_OK;
}

/* Terms t of that many constants: all without constants, else quotients by a sum. */
static int64_t choose(sl_search__lattice_code *code, int64_t n, const sl_lattice *l,
                      int constants) {
    int64_t kept = 0;
    for (int64_t i = 0; i < n; i++) {
        sl_search__lattice_family family = sl_search__lattice_family_of(code[i]);
        bool quotient = family == SL_LATTICE__HALF_UNDER &&
                        sl_search__lattice_is_sum(l->factor[code[i] >> 20 & 0x1FFFFF]);
        if (!sl_search__lattice_is_sum(code[i]) && (constants == 0 || quotient))
            code[kept++] = code[i];
    }
    return kept;
}

/* Values of h and of 1 / h, h with that many constants at most. */
static sl_status fill(peeling *p, sl_arena *a, int constants) {
    const sl_search__lattice_list *list = &p->l->list[SL_LATTICE__FULL];
    int32_t n = 0, at = 0;
    for (int c = 0; c <= constants; c++) n += list->middle[c] - list->begin[c];
    int32_t *id = sl_arena_alloc(a, (size_t)SL_MAX(n, 1) * sizeof *id);
    if (!id) return sl_fail_memory((size_t)n, sizeof *id, "the lattice search");
    for (int k = 0; k < USED; k++) {
        double *value = sl_arena_alloc(a, (size_t)SL_MAX(2 * n, 1) * sizeof *value);
        if (!value) return sl_fail_memory((size_t)n, sizeof *value, "the lattice search");
        at = 0;
        for (int c = 0; c <= constants; c++)
            for (int32_t i = list->begin[c]; i < list->middle[c]; i++, at++) {
                id[at] = list->id[i];
                value[at] = list->value[k][i];
                value[n + at] = 1 / list->value[k][i];
            }
        p->value[k] = value;
    }
    p->id = id;
    p->count = 2 * n;
    return SL_OK;
}

sl_status sl_search__lattice_peel(sl_lattice *l, int constants, int inner, int least, int most) {
    sl_search__lattice_code *code = NULL;
    sl_arena a = { 0 };
    peeling p = { .l = l, .least = least, .most = SL_MIN(most, l->grammar.high) };
    if (!l->products.size || l->levels <= inner || l->variables > 2) return SL_OK;
    if (!(l->grammar.ops >> SL_OPERATOR_DIV & 1)) return SL_OK;
    sl_status st = sl_search__lattice_codes(&code, &p.terms, &l->sums, constants, constants);
    if (st == SL_OK) p.terms = choose(code, p.terms, l, constants);
    p.term = code;
    if (st == SL_OK) st = fill(&p, &a, inner);
    if (st == SL_OK) st = sl_par_for(l->job->pool, p.terms, 16, peel_part, &p);
    sl_arena_clear(&a);
    sl_free(code);
    return st;
}

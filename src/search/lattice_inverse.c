/* lattice_inverse - exp or a root of a half, times or over something.
 *
 * y = f (u(a g + c) + r) or y = (u(a g + c) + r) / f: the inverse of u at y / f - r or y f - r is
 * looked up among the halves g, whose factor and summand are free. So a function of a sum of two
 * terms is found although it is deeper than a half: (x2 + 4)^2 (exp(9 x1/x2 + 8 x2) + 2). Without
 * r, f runs through the list FACTOR, up to a factor; with an integer r, through all inner
 * expressions. */
#include <math.h>
#include <string.h>

#include "search/lattice_impl.h"

enum { USED = 5, GRAIN = 1 }; // probes of an affine key
enum { PAIRS_MAX = 256, LEFT = USED - 3 };

/* Two inner expressions without constants, and what is orthogonal to them and to 1. */
typedef struct pair {
    int32_t p, q;
    double across[LEFT][USED];
} pair;

typedef struct inverting {
    sl_lattice *l;
    const sl_search__lattice_list *list;
    int64_t count;
    bool factors; // the list FACTOR
    int pairs;
    const pair *pair;
} inverting;

/* Functions, and their forms: y = f (u + r), y = (u + r) / f. */
static const struct {
    sl_operator op;
    sl_search__lattice_form form[2];
} functions[] = {
    { SL_OPERATOR_EXP, { SL_LATTICE__FORM_EXP_TIMES, SL_LATTICE__FORM_EXP_PER } },
    { SL_OPERATOR_SQRT, { SL_LATTICE__FORM_ROOT_TIMES, SL_LATTICE__FORM_ROOT_PER } },
};

/* The code of f, number i of the list. */
static sl_search__lattice_code code_of(const inverting *p, int64_t i) {
    int32_t id = p->list->id[i];
    return p->factors ? p->l->factor[id]
                      : SL_LATTICE__CODE(p->l->inner[id].constants, SL_LATTICE__HALF_SINGLE, id, 0);
}

static sl_status look_up(const inverting *p, int worker, sl_search__lattice_keys *keys,
                         int64_t from, int n, sl_search__lattice_form form, int r) {
    const sl_lattice *l = p->l;
    const sl_search__lattice_table *t = &l->products;
    l->kernels->hash(keys, n, l->shift);
    for (int k = 0; k < n; k++) {
        uint64_t key, word = sl_search__lattice_find(&key, t, keys, k, l);
        if (!word) continue;
        sl_search__lattice_hit hit = { .key = key,
                                       .f = code_of(p, from + k),
                                       .g = word >> 16,
                                       .form = (uint8_t)form,
                                       .beside = (int8_t)r };
        SL_TRY(sl_search__lattice_add_hit(&l->hits[worker], hit));
    }
    return SL_OK;
}

/* Combinations of two plain terms that give u. */
static sl_status look_for_pairs(const inverting *p, int worker, const sl_search__lattice_block *u,
                                const sl_search__lattice_block *sizes, int64_t from, int n,
                                sl_search__lattice_form form, int r) {
    const sl_lattice *l = p->l;
    double size[SL_LATTICE__BLOCK], left[SL_LATTICE__BLOCK]; // size: what rounding leaves
    for (int i = 0; i < n; i++) {
        size[i] = 0;
        for (int k = 1; k < USED; k++) size[i] += fabs(u->v[k][i] - u->v[0][i]);
        size[i] *= 1e-10;
        for (int k = 0; k < USED && l->noise > 0; k++)
            size[i] += l->error[k] * fabs(sizes->v[k][i]);
    }
    for (int m = 0; m < p->pairs; m++) {
        const double(*w)[USED] = p->pair[m].across;
        for (int i = 0; i < n; i++) {
            double a = 0, b = 0;
            for (int k = 0; k < USED; k++) a += w[0][k] * u->v[k][i], b += w[1][k] * u->v[k][i];
            left[i] = fabs(a) + fabs(b);
        }
        for (int i = 0; i < n; i++) {
            if (!(left[i] < size[i])) continue;
            sl_search__lattice_hit hit = {
                .f = code_of(p, from + i),
                .g = SL_LATTICE__CODE(0, SL_LATTICE__HALF_SINGLE, p->pair[m].p, 0),
                .others = { SL_LATTICE__CODE(0, SL_LATTICE__HALF_SINGLE, p->pair[m].q, 0) },
                .form = (uint8_t)form,
                .beside = (int8_t)r,
                .n_others = 1
            };
            SL_TRY(sl_search__lattice_add_hit(&p->l->hits[worker], hit));
        }
    }
    return SL_OK;
}

/* What is orthogonal to 1, p and q at the probes; returns false where these are dependent. */
static bool set_pair(pair *out, const sl_search__lattice_list *list, int32_t p, int32_t q) {
    double basis[3 + LEFT][USED];
    int n = 0;
    *out = (pair){ .p = list->id[p], .q = list->id[q] };
    for (int i = 0; i < 3 + USED && n < 3 + LEFT; i++) {
        double *v = basis[n], whole = 0, size = 0;
        for (int k = 0; k < USED; k++) {
            v[k] = i == 0 ? 1 : i < 3 ? list->value[k][i == 1 ? p : q] : k == i - 3;
            whole += v[k] * v[k];
        }
        for (int b = 0; b < 2 * n; b++) { // twice, against rounding
            const double *e = basis[b % n];
            double c = 0;
            for (int k = 0; k < USED; k++) c += v[k] * e[k];
            for (int k = 0; k < USED; k++) v[k] -= c * e[k];
        }
        for (int k = 0; k < USED; k++) size += v[k] * v[k];
        if (i < 3 && !(size > 1e-8 * whole)) return false;
        if (i >= 3 && !(size > 1e-2)) continue;
        for (int k = 0; k < USED; k++) v[k] /= sqrt(size);
        n++;
    }
    memcpy(out->across, basis[3], sizeof out->across);
    return n == 3 + LEFT;
}

static int list_pairs(pair *out, const sl_lattice *l) {
    const sl_search__lattice_list *list = &l->list[SL_LATTICE__SHIFT];
    int n = 0;
    for (int32_t p = 0; p < list->middle[0]; p++)
        for (int32_t q = p + 1; q < list->middle[0] && n < PAIRS_MAX; q++)
            n += set_pair(&out[n], list, p, q);
    return n;
}

/* z[] := y f - r or y / f - r at the probes; NaN where the sign changes. */
static void subtract(sl_search__lattice_block *z, const inverting *p, int64_t from, int n,
                     bool over, int r) {
    const sl_lattice *l = p->l;
    for (int k = 0; k < USED; k++) {
        const double *f = p->list->value[k] + from;
        double *out = z->v[k];
        l->kernels->combine(out, l->y_probe[k], f, n, over ? 3 : 2);
        for (int i = 0; i < n; i++) out[i] -= r;
        for (int i = 0; i < n && k > 0; i++)
            if (z->v[0][i] * out[i] <= 0) out[i] = NAN;
    }
}

/* What a relative error of y is multiplied by in log|z| or z^2. */
static void set_sizes(sl_search__lattice_block *out, const sl_search__lattice_block *z, int n,
                      int r, bool square) {
    for (int k = 0; k < USED; k++)
        for (int i = 0; i < n; i++) {
            double v = z->v[k][i];
            out->v[k][i] = square ? 2 * v * (v + r) : (v + r) / v;
        }
}

static sl_status invert_block(const inverting *p, int worker, int64_t from, int n, int r) {
    const sl_lattice *l = p->l;
    sl_search__lattice_block z, u, sizes;
    sl_search__lattice_keys keys;
    const double *v[SL_LATTICE__PROBES], *size[SL_LATTICE__PROBES];
    for (int k = 0; k < SL_LATTICE__PROBES; k++) v[k] = u.v[k], size[k] = sizes.v[k];
    for (int over = 0; over < 2; over++) {
        subtract(&z, p, from, n, over == 1, r);
        for (int i = 0; i < SL_LEN(functions); i++) {
            if (!(l->grammar.ops >> functions[i].op & 1)) continue;
            for (int k = 0; k < USED; k++) {
                for (int m = 0; m < n; m++) u.v[k][m] = fabs(z.v[k][m]);
                if (i == 0) sl_log_array(u.v[k], u.v[k], n);
                if (i == 1) l->kernels->square(u.v[k], u.v[k], n);
            }
            sl_search__lattice_form form = functions[i].form[1 - over];
            if (l->noise > 0) {
                set_sizes(&sizes, &z, n, r, i == 1);
                l->kernels->affine_rounded(&keys, v, n, l->error, size, 0);
            } else {
                l->kernels->affine(&keys, v, n);
            }
            SL_TRY(look_up(p, worker, &keys, from, n, form, r));
            SL_TRY(look_for_pairs(p, worker, &u, &sizes, from, n, form, r));
        }
    }
    return SL_OK;
}

static sl_status invert_part(int64_t begin, int64_t end, int worker, void *payload) {
    const inverting *p = payload;
    const sl_search_grammar *g = &p->l->grammar;
    for (int64_t block = begin; block < end; block++) {
        int64_t from = block * SL_LATTICE__BLOCK;
        int n = (int)SL_MIN(SL_LATTICE__BLOCK, p->count - from);
        if (sl_search__stop(p->l->job, worker == 0)) return SL_OK;
        if (p->factors) SL_TRY(invert_block(p, worker, from, n, 0));
        for (int r = g->low; r <= g->high && !p->factors; r++)
            if (r != 0 && r >= -99 && r <= 99) SL_TRY(invert_block(p, worker, from, n, r));
        atomic_fetch_add_explicit(&p->l->job->tried, (p->factors ? 4 : 4 * (g->high - g->low)) * n,
                                  memory_order_relaxed);
    }
    return SL_OK;
}

sl_status sl_search__lattice_invert(sl_lattice *l, int constants) {
    if (!l->products.size || l->levels <= constants) return SL_OK;
    const sl_search__lattice_list *full = &l->list[SL_LATTICE__FULL];
    pair pairs[PAIRS_MAX];
    int n = list_pairs(pairs, l);
    inverting list[] = {
        { l, &l->list[SL_LATTICE__FACTOR], l->list[SL_LATTICE__FACTOR].count, true, n, pairs },
        { l, full, full->begin[constants + 1], false, n, pairs },
    };
    for (int i = 0; i < SL_LEN(list); i++) {
        int64_t blocks = (list[i].count + SL_LATTICE__BLOCK - 1) / SL_LATTICE__BLOCK;
        SL_TRY(sl_par_for(l->job->pool, blocks, GRAIN, invert_part, &list[i]));
    }
    return SL_OK;
}

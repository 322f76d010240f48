/* lattice_inverse - exp or a root of a half, times or over something.
 *
 * y = f (u(a g + c) + r) or y = (u(a g + c) + r) / f: what u's inverse makes of y / f - r or y f -
 * r is looked up among the halves g, whose factor and summand are free. So a function of a sum of
 * two terms is found although it is deeper than a half: (x2 + 4)^2 (exp(9 x1/x2 + 8 x2) + 2).
 * Without r the list FACTOR is what f runs through, up to a factor; with a whole r all inner
 * expressions. */
#include <math.h>
#include <string.h>

#include "search/lattice_impl.h"

enum { USED = 5, GRAIN = 1 }; // probes of an affine key

typedef struct inverting {
    sl_lattice *l;
    const sl_lattice__list *list;
    int64_t count;
    bool factors; // the list FACTOR
} inverting;

/* Functions, and their forms: y = f (u + r), y = (u + r) / f. */
static const struct {
    sl_operator op;
    sl_lattice__form form[2];
} functions[] = {
    { SL_OPERATOR_EXP, { SL_LATTICE__FORM_EXP_TIMES, SL_LATTICE__FORM_EXP_PER } },
    { SL_OPERATOR_SQRT, { SL_LATTICE__FORM_ROOT_TIMES, SL_LATTICE__FORM_ROOT_PER } },
};

static sl_status look_up(const inverting *p, int worker, sl_lattice__keys *keys, int64_t from,
                         int n, sl_lattice__form form, int r) {
    const sl_lattice *l = p->l;
    const sl_lattice__table *t = &l->products;
    l->kernels->hash(keys, n, l->shift);
    for (int k = 0; k < n; k++) {
        if (!sl_lattice__table_may_hold(t, keys->high[k])) continue;
        if (keys->ratio[0][k] == SL_LATTICE__ONE || keys->ratio[0][k] == SL_LATTICE__NONE) continue;
        uint64_t key = (uint64_t)keys->high[k] << 32 | keys->low[k];
        uint64_t word = sl_lattice__table_get(t, key ? key : 1);
        if (!word) continue;
        int32_t id = p->list->id[from + k];
        sl_lattice__hit hit = { .key = key,
                                .f = p->factors ? l->factor[id]
                                                : SL_LATTICE__CODE(l->inner[id].constants,
                                                                   SL_LATTICE__HALF_SINGLE, id, 0),
                                .g = word >> 16,
                                .form = (uint8_t)form,
                                .beside = (int8_t)r };
        SL_TRY(sl_lattice__add_hit(&l->hits[worker], hit));
    }
    return SL_OK;
}

/* z[] := y f - r or y / f - r at the probes; NaN where the sign changes. */
static void subtract(sl_lattice__block *z, const inverting *p, int64_t from, int n, bool over,
                     int r) {
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

static sl_status invert_block(const inverting *p, int worker, int64_t from, int n, int r) {
    const sl_lattice *l = p->l;
    sl_lattice__block z, u;
    sl_lattice__keys keys;
    const double *v[SL_LATTICE__PROBES];
    for (int k = 0; k < SL_LATTICE__PROBES; k++) v[k] = u.v[k];
    for (int over = 0; over < 2; over++) {
        subtract(&z, p, from, n, over == 1, r);
        for (int i = 0; i < SL_LEN(functions); i++) {
            if (!(l->grammar.ops >> functions[i].op & 1)) continue;
            for (int k = 0; k < USED; k++) {
                for (int m = 0; m < n; m++) u.v[k][m] = fabs(z.v[k][m]);
                if (i == 0) sl_log_array(u.v[k], u.v[k], n);
                if (i == 1) l->kernels->square(u.v[k], u.v[k], n);
            }
            l->kernels->affine(&keys, v, n, NULL);
            SL_TRY(look_up(p, worker, &keys, from, n, functions[i].form[1 - over], r));
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

sl_status sl_lattice__invert(sl_lattice *l, int constants) {
    if (l->noise > 0 || !l->products.size || l->levels <= constants) return SL_OK;
    const sl_lattice__list *full = &l->list[SL_LATTICE__FULL];
    inverting list[] = {
        { l, &l->list[SL_LATTICE__FACTOR], l->list[SL_LATTICE__FACTOR].count, true },
        { l, full, full->begin[constants + 1], false },
    };
    for (int i = 0; i < SL_LEN(list); i++) {
        int64_t blocks = (list[i].count + SL_LATTICE__BLOCK - 1) / SL_LATTICE__BLOCK;
        SL_TRY(sl_par_for(l->job->pool, blocks, GRAIN, invert_part, &list[i]));
    }
    return SL_OK;
}

/* One level of the enumeration: from raw candidates to classes of equal functions.
 *
 * Candidates are taken in chunks. For each candidate of a chunk the pool determines where it is
 * real, which cells its key probes fall in, and whether it agrees with a class listed before the
 * chunk. Then one thread, in raw order, compares the others with the classes that this chunk has
 * listed, and lists those that are new. Only that part depends on order, and three in four
 * candidates do not reach it. A candidate belongs to the earliest class that it agrees with, so
 * where the chunks end makes no difference. */
#include "universe/universe_impl.h"

#include <math.h>
#include <string.h>

enum { CHUNK = 1 << 16, GRAIN = 1 << 11, BATCH = 32, AHEAD = 12 };

/* ---------------------------------------------------------------- candidates ---------------- */

sl_universe__candidate sl_universe__candidate_at(const sl_universe *u, const sl_universe__level *l,
                                                 int64_t raw) {
    if (raw < l->unary)
        return (sl_universe__candidate){ l->prev + raw / u->n_unary, -1,
                                         u->unary[raw % u->n_unary] };
    raw -= l->unary;
    int64_t pair = raw / u->n_binary;
    return (sl_universe__candidate){ l->prev + pair / l->n_all, pair % l->n_all,
                                     u->binary[raw % u->n_binary] };
}

static long double combine_one(sl_operator op, long double a, long double b) {
    switch (op) {
    case SL_OPERATOR_ADD: return a + b;
    case SL_OPERATOR_SUB: return a - b;
    case SL_OPERATOR_MUL: return a * b;
    case SL_OPERATOR_POW: return a > 0 || (a == 0 && b > 0) ? powl(a, b) : (long double)NAN;
    default: return a / b;
    }
}

/* One operation at many probes. Both widths are this code, so that the fast one decides as the wide
 * one would. */
#define COMBINE(name, real)                                                                     \
    static void name(real *restrict out, sl_operator op, const real *a, const real *b, int n) { \
        switch (op) {                                                                           \
        case SL_OPERATOR_ADD:                                                                   \
            for (int i = 0; i < n; i++) out[i] = a[i] + b[i];                                   \
            return;                                                                             \
        case SL_OPERATOR_SUB:                                                                   \
            for (int i = 0; i < n; i++) out[i] = a[i] - b[i];                                   \
            return;                                                                             \
        case SL_OPERATOR_MUL:                                                                   \
            for (int i = 0; i < n; i++) out[i] = a[i] * b[i];                                   \
            return;                                                                             \
        case SL_OPERATOR_DIV:                                                                   \
            for (int i = 0; i < n; i++) out[i] = a[i] / b[i];                                   \
            return;                                                                             \
        case SL_OPERATOR_POW: /* never used with fast values */                                 \
            for (int i = 0; i < n; i++) out[i] = (real)combine_one(op, a[i], b[i]);             \
            return;                                                                             \
        default: SL_ASSERT(!"a binary operator");                                               \
        }                                                                                       \
    }
COMBINE(combine, long double)
COMBINE(combine_fast, double)

static long double unary_one(sl_operator op, long double a) {
    switch (op) {
#define X(id, name) \
    case SL_OPERATOR_##id: return name##l(a);
        SL_EXPR_FUNCTIONS(X)
#undef X
    case SL_OPERATOR_NEG: return -a;
    case SL_OPERATOR_SQRT: return sqrtl(a);
    default: break;
    }
    SL_ASSERT(!"a unary operator");
    return NAN;
}

static const long double *wide(const sl_universe *u, int64_t k) {
    return u->listed.value + k * u->probes;
}
static const double *fast(const sl_universe *u, int64_t k) {
    return u->listed.fast + k * u->probes;
}

void sl_universe__values(long double *out, const sl_universe *u, const sl_universe__level *l,
                         int64_t raw) {
    if (l->raw == 0) { // level 0 is the variables themselves
        memcpy(out, wide(u, raw), (size_t)u->probes * sizeof *out);
        return;
    }
    if (raw < l->unary) {
        memcpy(out, l->unary_value + raw * u->probes, (size_t)u->probes * sizeof *out);
        return;
    }
    sl_universe__candidate c = sl_universe__candidate_at(u, l, raw);
    const long double *p = wide(u, c.p), *q = wide(u, c.q);
    combine(out, c.form.op, c.form.swapped ? q : p, c.form.swapped ? p : q, u->probes);
    for (int i = 0; i < u->probes; i++)
        if (!isfinite(out[i])) out[i] = NAN;
}

static void values_fast(double *out, const sl_universe *u, const sl_universe__level *l,
                        int64_t raw) {
    if (l->raw == 0) {
        memcpy(out, fast(u, raw), (size_t)u->probes * sizeof *out);
        return;
    }
    if (raw < l->unary) {
        const long double *v = l->unary_value + raw * u->probes;
        for (int i = 0; i < u->probes; i++) out[i] = (double)v[i];
        return;
    }
    sl_universe__candidate c = sl_universe__candidate_at(u, l, raw);
    const double *p = fast(u, c.p), *q = fast(u, c.q);
    combine_fast(out, c.form.op, c.form.swapped ? q : p, c.form.swapped ? p : q, u->probes);
}

/* ---------------------------------------------------------------- shape and keys ------------- */

enum kind { FULL, PARTIAL, CONSTANT, NOWHERE };

typedef struct seen {
    uint64_t key[SL_UNIVERSE__MAX_ORTHANTS]; // where `full` has a bit
    uint8_t full, close;                     // close: a second cell is near
    uint8_t kind;
    uint32_t known; // the earliest class before this chunk that it agrees with
    sl_universe__probe_set real;
} seen;

static bool is_constant(const long double *v, int probes) {
    long double lo = INFINITY, hi = -INFINITY;
    for (int i = 0; i < probes; i++) {
        if (isnan(v[i])) continue;
        lo = fminl(lo, v[i]);
        hi = fmaxl(hi, v[i]);
    }
    return hi - lo < SL_UNIVERSE__CONSTANT_SPREAD;
}

static void set_key(seen *s, int o, const long double *v) {
    sl_universe__keys k = sl_universe__keys_of(v, o);
    s->key[o] = k.first;
    if (k.second != k.first) s->close |= (uint8_t)(1 << o);
}

/* From all values: for candidates with one operand, and where exponents or zeros need care. */
static void look_at_all(seen *s, const sl_universe *u, const sl_universe__level *l, int64_t raw) {
    long double v[SL_UNIVERSE__MAX_PROBES];
    sl_universe__shape sh;
    sl_universe__values(v, u, l, raw);
    sl_universe__shape_of(&sh, v, u->probes);
    *s = (seen){ .full = sh.full, .real = sh.real };
    s->kind = !sh.real ? NOWHERE : is_constant(v, u->probes) ? CONSTANT : sh.full ? FULL : PARTIAL;
    // a constant that is real only in part is counted among the partial ones
    if (s->kind == CONSTANT && !sh.full) s->kind = PARTIAL;
    for (int o = 0; o < u->orthants; o++)
        if (sh.full >> o & 1) set_key(s, o, v + o * SL_UNIVERSE__PER_ORTHANT);
}

static bool may_overflow(sl_operator op, const sl_universe__shape *a, const sl_universe__shape *b) {
    const int limit = 16300; // of 16383
    switch (op) {
    case SL_OPERATOR_MUL: return a->exp_max + b->exp_max > limit;
    case SL_OPERATOR_DIV: return a->exp_max - b->exp_min > limit;
    default: return SL_MAX(a->exp_max, b->exp_max) > limit;
    }
}

/* From one or two probes an orthant: where a function is real follows from its operands. */
static void look(seen *s, const sl_universe *u, const sl_universe__level *l, int64_t raw) {
    if (raw < l->unary) {
        look_at_all(s, u, l, raw);
        return;
    }
    sl_universe__candidate c = sl_universe__candidate_at(u, l, raw);
    int64_t first = c.form.swapped ? c.q : c.p, second = c.form.swapped ? c.p : c.q;
    const sl_universe__shape *a = &u->listed.shape[first], *b = &u->listed.shape[second];
    sl_universe__probe_set real = a->real & b->real;
    uint8_t full = a->full & b->full;
    if (!full || c.form.op == SL_OPERATOR_POW || may_overflow(c.form.op, a, b) ||
        (c.form.op == SL_OPERATOR_DIV && (b->zero & real))) {
        if (!real)
            *s = (seen){ .kind = NOWHERE };
        else
            look_at_all(s, u, l, raw);
        return;
    }
    *s = (seen){ .full = full, .real = real, .kind = FULL };
    const long double *va = wide(u, first), *vb = wide(u, second);
    int o = __builtin_ctz(full) * SL_UNIVERSE__PER_ORTHANT;
    long double v0 = combine_one(c.form.op, va[o], vb[o]);
    long double v1 = combine_one(c.form.op, va[o + 1], vb[o + 1]);
    if (fabsl(v0 - v1) < SL_UNIVERSE__CONSTANT_SPREAD) {
        look_at_all(s, u, l, raw); // perhaps a constant
        return;
    }
    for (o = 0; o < u->orthants; o++) {
        if (!(full >> o & 1)) continue;
        const long double *a12 = va + o * SL_UNIVERSE__PER_ORTHANT,
                          *b12 = vb + o * SL_UNIVERSE__PER_ORTHANT;
        long double v[SL_UNIVERSE__PER_ORTHANT];
        v[0] = combine_one(c.form.op, a12[0], b12[0]);
        if (fabsl(v[0]) < 0x1.02p-8L)
            combine(v, c.form.op, a12, b12, SL_UNIVERSE__PER_ORTHANT); // keys look further
        set_key(s, o, v);
    }
}

/* ---------------------------------------------------------------- known or new -------------- */

static const sl_universe__level *level_of(const sl_universe *u, const sl_universe__class *c) {
    return &u->level[c->level];
}

static bool is_moderate(const sl_universe *u, const sl_universe__level *l, int64_t raw) {
    if (l->raw == 0) return true;
    if (raw < l->unary) return false;
    sl_universe__candidate c = sl_universe__candidate_at(u, l, raw);
    if (c.form.op == SL_OPERATOR_POW) return false;
    const sl_universe__shape *p = &u->listed.shape[c.p], *q = &u->listed.shape[c.q];
    return p->exp_max < 300 && q->exp_max < 300 && p->exp_min > -300 && q->exp_min > -300;
}

/* A candidate to be found; its values are computed when first needed. */
typedef struct wanted {
    const sl_universe *u;
    const sl_universe__level *l;
    int64_t raw;
    bool has_fast, has_wide, moderate;
    double fast[SL_UNIVERSE__MAX_PROBES];
    long double wide[SL_UNIVERSE__MAX_PROBES];
} wanted;

/* Field by field: an initialiser would clear the values too, 2 KB for each of millions. */
static void want(wanted *w, const sl_universe *u, const sl_universe__level *l, int64_t raw) {
    w->u = u;
    w->l = l;
    w->raw = raw;
    w->has_fast = w->has_wide = w->moderate = false;
}

static const long double *wide_values(wanted *w) {
    if (!w->has_wide) sl_universe__values(w->wide, w->u, w->l, w->raw);
    w->has_wide = true;
    return w->wide;
}

/* Do the candidate and class c agree where both are real? Agreement in double, with half the
 * tolerance and without overflow, is enough; everything else is decided in long double. */
static bool is_same(wanted *w, const sl_universe__class *c) {
    const sl_universe *u = w->u;
    const sl_universe__level *l = level_of(u, c);
    if (!w->has_fast) {
        w->has_fast = true;
        w->moderate = is_moderate(u, w->l, w->raw);
        if (w->moderate) values_fast(w->fast, u, w->l, w->raw);
    }
    if (w->moderate && is_moderate(u, l, c->raw)) {
        double v[SL_UNIVERSE__MAX_PROBES];
        values_fast(v, u, l, c->raw);
        int wrong = 0;
        for (int i = 0; i < u->probes; i++) // NaN compares as not wrong
            wrong |=
                fabs(w->fast[i] - v[i]) > (double)SL_UNIVERSE__TOLERANCE / 2 * (1 + fabs(v[i]));
        if (!wrong) return true;
    }
    long double v[SL_UNIVERSE__MAX_PROBES];
    sl_universe__values(v, u, l, c->raw);
    return sl_universe__agree(wide_values(w), v, u->probes);
}

/* The first class of a key, from class `from` and before `best`, that agrees; else best. */
static uint32_t find_by_key(wanted *w, uint64_t key, uint32_t from, uint32_t best) {
    uint64_t at = key | 1;
    for (uint32_t k; sl_universe__table_next(&w->u->found, key, &at, &k);)
        if (k >= from && k < best && is_same(w, &w->u->class[k])) return k;
    return best;
}

static uint64_t second_key(wanted *w, int o) {
    return sl_universe__keys_of(wide_values(w) + o * SL_UNIVERSE__PER_ORTHANT, o).second;
}

/* The earliest class, not before `from`, that the candidate agrees with. */
static uint32_t find(wanted *w, const seen *s, uint32_t from) {
    uint32_t best = SL_UNIVERSE__NO_CLASS;
    for (int o = 0; o < w->u->orthants; o++) {
        if (!(s->full >> o & 1)) continue;
        best = find_by_key(w, s->key[o], from, best);
        if (s->close >> o & 1) best = find_by_key(w, second_key(w, o), from, best);
    }
    return best;
}

sl_status sl_universe__add_class(sl_universe *u, int i, int64_t raw, sl_universe__probe_set real) {
    if (u->n_class == u->cap_class) {
        int64_t cap = SL_MAX(1024, u->cap_class + u->cap_class / 2);
        sl_universe__class *more = sl_realloc(u->class, (size_t)cap, sizeof *more);
        if (!more) return sl_fail_memory((size_t)cap, sizeof *more, "the list of functions");
        u->class = more;
        u->cap_class = cap;
    }
    u->class[u->n_class++] = (sl_universe__class){ .raw = raw, .level = (int8_t)i, .real = real };
    // every probe of every orthant may become a key before the next call
    if ((double)(u->found.n + 2 * SL_UNIVERSE__MAX_PROBES) > 0.6 * (double)(u->found.mask + 1) ||
        !u->found.slot)
        SL_TRY(sl_universe__table_grow(&u->found,
                                       u->found.n + 2 * SL_UNIVERSE__MAX_PROBES)); // doubles it
    return SL_OK;
}

/* Lists the candidate, or records the class it belongs to; classes from `chunk` on are still to be
 * compared. */
static sl_status place(sl_universe *u, sl_universe__level *l, int i, int64_t raw, const seen *s,
                       uint32_t chunk) {
    wanted w;
    want(&w, u, l, raw);
    uint32_t known = s->known != SL_UNIVERSE__NO_CLASS ? s->known : find(&w, s, chunk);
    if (known != SL_UNIVERSE__NO_CLASS) {
        l->class_of[raw] = known;
        l->counts.known++;
        return SL_OK;
    }
    uint32_t k = (uint32_t)u->n_class;
    SL_TRY(sl_universe__add_class(u, i, raw, s->real));
    l->class_of[raw] = k;
    for (int o = 0; o < u->orthants; o++) {
        if (!(s->full >> o & 1)) continue;
        sl_universe__table_add(&u->found, s->key[o], k);
        if (s->close >> o & 1) sl_universe__table_add(&u->found, second_key(&w, o), k);
    }
    return SL_OK;
}

/* ---------------------------------------------------------------- real only in part --------- */

typedef struct partials {
    int64_t *raw;
    long double *value; // (n, probes)
    uint32_t *known;    // class of an earlier function that agrees, or SL_UNIVERSE__NO_CLASS
    int n;
    int64_t cap;
} partials;

static sl_status keep_partial(partials *p, int64_t raw) {
    SL_TRY(sl_grow(&p->raw, &p->cap, p->n, sizeof *p->raw, "candidates"));
    p->raw[p->n++] = raw;
    return SL_OK;
}

typedef struct sweep {
    sl_universe *u;
    partials *p;
    sl_universe__table keys; // (probe, cell) of every value of every partial -> its place in p
    uint64_t *filter;        // bit set over rough values, small enough to stay in cache
} sweep;

enum { FILTER_BITS = 1 << 23 };

/* A value to about 2^-26, at a probe, as a bit of the filter. */
static uint64_t rough(double v, int probe) {
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return ((bits >> 26) + (uint64_t)probe * 0x9e3779b97f4a7c15u) * 0xd6e8feb86659fd93u >> 41;
}
_Static_assert(FILTER_BITS == 1ull << (64 - 41), "rough() gives a bit of the filter");

static void lower(uint32_t *to, uint32_t k) {
    uint32_t now = __atomic_load_n(to, __ATOMIC_RELAXED);
    while (k < now &&
           !__atomic_compare_exchange_n(to, &now, k, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}

/* Which of the classes begin..end agree with a partial candidate? The earliest is kept. In double
 * first: only a value that passes the filter is worth the exact key. */
static sl_status sweep_classes(int64_t begin, int64_t end, int worker, void *payload) {
    (void)worker;
    sweep *s = payload;
    const sl_universe *u = s->u;
    for (int64_t k = begin; k < end; k++) {
        const sl_universe__class *c = &u->class[k];
        double v[SL_UNIVERSE__MAX_PROBES];
        long double exact[SL_UNIVERSE__MAX_PROBES];
        bool has_exact = false;
        values_fast(v, u, level_of(u, c), c->raw);
        for (int i = 0; i < u->probes; i++) {
            uint64_t bit = rough(v[i], i);
            if (!(s->filter[bit / 64] >> bit % 64 & 1) || isnan(v[i])) continue;
            if (!has_exact) sl_universe__values(exact, u, level_of(u, c), c->raw);
            has_exact = true;
            uint64_t key = sl_universe__key(sl_universe__cell(exact[i]), i), at = key | 1;
            for (uint32_t j; sl_universe__table_next(&s->keys, key, &at, &j);)
                if (sl_universe__agree(s->p->value + (int64_t)j * u->probes, exact, u->probes))
                    lower(&s->p->known[j], (uint32_t)k);
        }
    }
    return SL_OK;
}

static void add_sweep_keys(sweep *s, long double v, int i, uint32_t j) {
    sl_universe__table_add_keys(&s->keys, sl_universe__value_keys(v, i), j);
    for (int side = -1; side <= 1; side += 2) {
        uint64_t bit = rough((double)(v * (1 + side * 0x1p-36L)), i);
        s->filter[bit / 64] |= 1ull << bit % 64;
    }
}

static sl_status place_partials(sl_universe *u, sl_pool *pool, sl_universe__level *l, int level_no,
                                partials *p) {
    sl_status st = SL_OK;
    const int P = u->probes;
    sweep s = { .u = u, .p = p };
    if (!p->n) return SL_OK;
    p->value = sl_malloc((size_t)p->n, (size_t)P * sizeof *p->value);
    p->known = sl_malloc((size_t)p->n, sizeof *p->known);
    s.filter = sl_calloc(FILTER_BITS / 64, sizeof *s.filter);
    if (!p->value || !p->known || !s.filter) {
        st = sl_fail_memory((size_t)p->n, (size_t)P * sizeof *p->value, "partly real functions");
        goto done;
    }
    SL_GO(sl_universe__table_grow(&s.keys, 2 * (int64_t)p->n * P));
    for (int j = 0; j < p->n; j++) {
        long double *v = p->value + (int64_t)j * P;
        sl_universe__values(v, u, l, p->raw[j]);
        p->known[j] = SL_UNIVERSE__NO_CLASS;
        for (int i = 0; i < P; i++) {
            if (!isnan(v[i])) add_sweep_keys(&s, v[i], i, (uint32_t)j);
        }
    }
    SL_GO(sl_par_for(pool, u->n_class, 512, sweep_classes, &s));

    // in raw order, against the partials listed before: those have a key at each of their probes
    for (int j = 0; j < p->n; j++) {
        const long double *v = p->value + (int64_t)j * P;
        l->counts.partial_raw++;
        if (is_constant(v, P)) {
            l->counts.constant++;
            continue;
        }
        uint32_t known = p->known[j];
        for (int i = 0; i < P && known == SL_UNIVERSE__NO_CLASS; i++) {
            if (isnan(v[i])) continue;
            uint64_t key = sl_universe__key(sl_universe__cell(v[i]), i), at = key | 1;
            long double other[SL_UNIVERSE__MAX_PROBES];
            for (uint32_t k; known == SL_UNIVERSE__NO_CLASS &&
                             sl_universe__table_next(&u->found, key, &at, &k);) {
                sl_universe__values(other, u, level_of(u, &u->class[k]), u->class[k].raw);
                if (sl_universe__agree(v, other, P)) known = k;
            }
        }
        if (known != SL_UNIVERSE__NO_CLASS) {
            l->class_of[p->raw[j]] = known;
            l->counts.known++;
            continue;
        }
        sl_universe__shape sh;
        sl_universe__shape_of(&sh, v, P);
        uint32_t k = (uint32_t)u->n_class;
        SL_GO(sl_universe__add_class(u, level_no, p->raw[j], sh.real));
        l->class_of[p->raw[j]] = k;
        l->counts.partial++;
        for (int i = 0; i < P; i++)
            if (!isnan(v[i]))
                sl_universe__table_add_keys(&u->found, sl_universe__value_keys(v[i], i), k);
    }
done:
    sl_free(s.filter);
    sl_universe__table_clear(&s.keys);
    sl_free(p->value);
    sl_free(p->known);
    p->value = NULL;
    p->known = NULL;
    return st;
}

/* ---------------------------------------------------------------- the level ----------------- */

typedef struct chunk {
    const sl_universe *u;
    const sl_universe__level *l;
    int64_t begin;
    seen *seen;
} chunk;

static void prefetch(const sl_universe *u, const seen *s) {
    for (int o = 0; o < u->orthants; o++)
        if (s->full >> o & 1) sl_universe__table_prefetch(&u->found, s->key[o] | 1);
}

static sl_status look_at_part(int64_t begin, int64_t end, int worker, void *payload) {
    (void)worker;
    chunk *c = payload;
    for (int64_t i = begin; i < end; i += BATCH) {
        int64_t stop = SL_MIN(end, i + BATCH);
        for (int64_t k = i; k < stop; k++) { // prefetches for all before any look-up
            seen *s = &c->seen[k];
            look(s, c->u, c->l, c->begin + k);
            s->known = SL_UNIVERSE__NO_CLASS;
            prefetch(c->u, s);
        }
        for (int64_t k = i; k < stop; k++) {
            if (c->seen[k].kind != FULL) continue;
            wanted w;
            want(&w, c->u, c->l, c->begin + k);
            c->seen[k].known = find(&w, &c->seen[k], 0);
        }
    }
    return SL_OK;
}

static sl_status unary_values(sl_universe *u, sl_universe__level *l) {
    l->unary_value = sl_malloc((size_t)l->unary, (size_t)u->probes * sizeof *l->unary_value);
    if (!l->unary_value) return sl_fail_memory((size_t)l->unary, (size_t)u->probes * 16, "values");
    for (int64_t r = 0; r < l->unary; r++) {
        sl_universe__candidate c = sl_universe__candidate_at(u, l, r);
        const long double *p = wide(u, c.p);
        long double *v = l->unary_value + r * u->probes;
        for (int i = 0; i < u->probes; i++) {
            v[i] = unary_one(c.form.op, p[i]);
            if (!isfinite(v[i])) v[i] = NAN;
        }
    }
    return SL_OK;
}

sl_status sl_universe__enumerate(sl_universe *u, sl_pool *pool, int i,
                                 const sl_universe_watch *watch) {
    sl_status st = SL_OK;
    sl_universe__level *l = &u->level[i];
    partials partly = { 0 };
    l->class_begin = u->n_class;
    l->counts.raw = l->raw;
    chunk c = { .u = u, .l = l, .seen = sl_malloc(CHUNK, sizeof(seen)) };
    l->class_of = sl_malloc((size_t)l->raw, sizeof *l->class_of);
    if (!c.seen || !l->class_of) {
        st = sl_fail_memory((size_t)l->raw, sizeof *l->class_of, "candidates");
        goto done;
    }
    SL_GO(unary_values(u, l));
    for (c.begin = 0; c.begin < l->raw; c.begin += CHUNK) {
        int64_t n = SL_MIN(CHUNK, l->raw - c.begin);
        if (sl_universe__report(watch, i, "comparing candidates", (double)c.begin,
                                (double)l->raw)) {
            st = sl_fail(SL_ECANCEL, "cancelled in level %d", i);
            goto done;
        }
        const uint32_t listed = (uint32_t)u->n_class;
        SL_GO(sl_par_for(pool, n, GRAIN, look_at_part, &c));
        for (int64_t k = 0; k < n; k++) {
            const seen *ahead = &c.seen[SL_MIN(k + AHEAD, n - 1)];
            if (ahead->known == SL_UNIVERSE__NO_CLASS) prefetch(u, ahead);
            int64_t raw = c.begin + k;
            l->class_of[raw] = SL_UNIVERSE__NO_CLASS;
            switch (c.seen[k].kind) {
            case FULL: SL_GO(place(u, l, i, raw, &c.seen[k], listed)); break;
            case PARTIAL: SL_GO(keep_partial(&partly, raw)); break;
            case CONSTANT: l->counts.constant++; break;
            case NOWHERE: l->counts.nowhere++; break;
            }
        }
    }
    SL_GO(place_partials(u, pool, l, i, &partly));
    l->class_end = u->n_class;
    l->counts.distinct = l->class_end - l->class_begin;
done:
    sl_free(c.seen);
    sl_free(partly.raw);
    return st;
}

/* ---------------------------------------------------------------- looking up ---------------- */

static long double value_at(const sl_universe *u, const sl_universe__class *c, int i) {
    const sl_universe__level *l = level_of(u, c);
    if (l->raw == 0) return wide(u, c->raw)[i];
    if (c->raw < l->unary) return l->unary_value[c->raw * u->probes + i];
    sl_universe__candidate k = sl_universe__candidate_at(u, l, c->raw);
    long double p = wide(u, k.p)[i], q = wide(u, k.q)[i];
    return k.form.swapped ? combine_one(k.form.op, q, p) : combine_one(k.form.op, p, q);
}

/* A function that fills no orthant may share any probes with its class, so all classes are
 * compared, in order; one probe decides nearly every comparison. */
static uint32_t find_partial(const sl_universe *u, const long double *v,
                             sl_universe__probe_set real) {
    long double other[SL_UNIVERSE__MAX_PROBES];
    for (int64_t k = 0; k < u->n_class; k++) {
        const sl_universe__class *c = &u->class[k];
        sl_universe__probe_set shared = real & c->real;
        if (!shared) continue;
        int i = (uint64_t)shared ? __builtin_ctzll((uint64_t)shared)
                                 : 64 + __builtin_ctzll((uint64_t)(shared >> 64));
        if (!(fabsl(value_at(u, c, i) - v[i]) <= 2 * SL_UNIVERSE__TOLERANCE * (1 + fabsl(v[i]))))
            continue;
        sl_universe__values(other, u, level_of(u, c), c->raw);
        if (sl_universe__agree(v, other, u->probes)) return (uint32_t)k;
    }
    return SL_UNIVERSE__NO_CLASS;
}

uint32_t sl_universe__find_class(const sl_universe *u, const long double *v) {
    long double other[SL_UNIVERSE__MAX_PROBES];
    sl_universe__shape sh;
    sl_universe__shape_of(&sh, v, u->probes);
    if (!sh.full) return find_partial(u, v, sh.real);
    uint32_t best = SL_UNIVERSE__NO_CLASS;
    for (int o = 0; o < u->orthants; o++) {
        if (!(sh.full >> o & 1)) continue;
        sl_universe__keys both = sl_universe__keys_of(v + o * SL_UNIVERSE__PER_ORTHANT, o);
        for (int pass = 0; pass < 1 + (both.second != both.first); pass++) {
            uint64_t key = pass ? both.second : both.first, at = key | 1;
            for (uint32_t k; sl_universe__table_next(&u->found, key, &at, &k);) {
                if (k >= best) continue;
                sl_universe__values(other, u, level_of(u, &u->class[k]), u->class[k].raw);
                if (sl_universe__agree(v, other, u->probes)) best = k;
            }
        }
    }
    return best;
}

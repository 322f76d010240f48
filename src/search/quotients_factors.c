/* quotients_factors - occurrences of inputs and functions with integer constants.
 *
 * A factor such as sin(x1)^-1 becomes (a sin(c x1 + d) + b)^-1. Its variants are listed by number
 * of constants, each value vector once: up to sign where the factor is part of a sum (FULL), up to
 * a factor where it is part of a term (SCALE), because the coefficient of a term is free. */
#include <math.h>
#include <string.h>

#include "search/lattice_kernels.h"
#include "search/quotients_impl.h"

enum { KEY_SHIFT = 6 };
/* Slots of a set by number of constants: no larger than needed, because it is cleared for every
 * list. */
static const int64_t set_sizes[] = { 64, 512, 1 << 14, 1 << 18 };

/* ---------------------------------------------------------------- classes ------------------- */

int sl_search__quotients_factors_of(sl_search__quotients_class *out,
                                    const sl_search__quotients_product *p) {
    int n = 0;
    for (int v = 0; v < SL_QUOTIENTS__VARIABLES; v++) {
        const bool whole = p->power[v] % 2 == 0;
        const sl_search__quotients_class list[] = {
            { whole ? SL_QUOTIENTS__LINEAR : SL_QUOTIENTS__ROOT, (int8_t)v,
              (int8_t)(whole ? p->power[v] / 2 : p->power[v]) },
            { SL_QUOTIENTS__SINE, (int8_t)v, p->sine[v] },
            { SL_QUOTIENTS__RATE, (int8_t)v, p->rate[v] },
        };
        for (int i = 0; i < SL_LEN(list); i++) {
            if (list[i].exponent == 0) continue;
            if (n == SL_QUOTIENTS__FACTORS || list[i].exponent > SL_QUOTIENTS__EXPONENTS ||
                list[i].exponent < -SL_QUOTIENTS__EXPONENTS)
                return -1;
            out[n++] = list[i];
        }
    }
    return n;
}

double sl_search__quotients_power(double base, int k) {
    double r = 1;
    for (int i = 0; i < (k < 0 ? -k : k); i++) r *= base;
    return k < 0 ? 1 / r : r;
}

double sl_search__quotients_function(int kind, int exponent, double u) {
    switch (kind) {
    case SL_QUOTIENTS__ROOT: return sl_search__quotients_power(sqrt(u), exponent);
    case SL_QUOTIENTS__SINE: return sl_sin(u);
    case SL_QUOTIENTS__RATE: return sl_exp(0.5 * exponent * u);
    default: return u;
    }
}

/* The power outside of a and b. */
static int outer_exponent(int kind, int exponent) {
    return kind == SL_QUOTIENTS__LINEAR || kind == SL_QUOTIENTS__SINE ? exponent : 1;
}

double sl_search__quotients_factor_at(sl_search__quotients_class c, sl_search__quotients_variant t,
                                      double x) {
    double u = sl_search__quotients_function(c.kind, c.exponent, t.c * x + t.d);
    return sl_search__quotients_power(t.a * u + t.b, outer_exponent(c.kind, c.exponent));
}

/* ---------------------------------------------------------------- keys ---------------------- */

void sl_search__quotients_set_clear(sl_search__quotients_set *s) {
    if (s->count) memset(s->slot, 0, (size_t)s->size * sizeof *s->slot);
    s->count = 0;
}

bool sl_search__quotients_set_add(sl_search__quotients_set *s, uint64_t key) {
    if (4 * s->count > 3 * s->size) return false;
    for (uint64_t at = key >> 7;; at++) {
        uint64_t *slot = &s->slot[at & (uint64_t)(s->size - 1)];
        if (*slot == key) return false;
        if (*slot == 0) {
            *slot = key;
            s->count++;
            return true;
        }
    }
}

uint64_t sl_search__quotients_key(const double *v, sl_search__quotients_mode mode) {
    uint64_t h = 0x9E3779B97F4A7C15u;
    double unit = mode == SL_QUOTIENTS__SCALE ? 1 / v[0] : v[0] < 0 ? -1 : 1;
    for (int k = 0; k < SL_QUOTIENTS__PROBES; k++) {
        double size = fabs(v[k]);
        if (!(size < 1e30 && size > 1e-30)) return 0;
        h = (h ^ sl_search__lattice_cell((float)(v[k] * unit), KEY_SHIFT)) * 0xD6E8FEB86659FD93u;
        h ^= h >> 32;
    }
    return h ? h : 1;
}

/* ---------------------------------------------------------------- variants ------------------ */

typedef struct maker {
    sl_quotients *q;
    sl_search__quotients_class class;
    sl_search__quotients_mode mode;
    sl_search__quotients_set set;
    int32_t count;
    sl_search__quotients_variant variant[SL_QUOTIENTS__PLACES];
    double v[SL_QUOTIENTS__PROBES][SL_QUOTIENTS__PLACES];
} maker;

static bool is_factor(const sl_quotients *q, int a) {
    return a == 1 || (a != 0 && a >= q->grammar.low && a <= q->grammar.high);
}

static bool is_summand(const sl_quotients *q, int b) {
    return b == 0 || (b >= q->grammar.low && b <= q->grammar.high);
}

static void add_variant(maker *m, const double *u, sl_search__quotients_variant t) {
    double v[SL_QUOTIENTS__PROBES];
    int k = outer_exponent(m->class.kind, m->class.exponent);
    if (m->count == SL_QUOTIENTS__PLACES) return;
    for (int i = 0; i < SL_QUOTIENTS__PROBES; i++)
        v[i] = sl_search__quotients_power(t.a * u[i] + t.b, k);
    uint64_t key = sl_search__quotients_key(v, m->mode);
    if (!key || !sl_search__quotients_set_add(&m->set, key)) return;
    m->variant[m->count] = t;
    for (int i = 0; i < SL_QUOTIENTS__PROBES; i++) m->v[i][m->count] = v[i];
    m->count++;
}

/* All a and b with that many constants. The sign of the whole is free, so a > 0. */
static void add_outer(maker *m, const double *u, int c, int d, int constants) {
    const sl_quotients *q = m->q;
    const int most = SL_MAX(SL_MAX(q->grammar.high, -q->grammar.low), 1);
    for (int a = 1; a <= most; a++)
        for (int b = -most; b <= most; b++) {
            if ((a != 1) + (b != 0) != constants) continue;
            if (!is_factor(q, a) && !is_factor(q, -a)) continue;
            if (!is_summand(q, b) && !is_summand(q, -b)) continue;
            if (m->mode == SL_QUOTIENTS__SCALE && b == 0 && a != 1) continue;
            add_variant(
                m, u, (sl_search__quotients_variant){ (int8_t)a, (int8_t)b, (int8_t)c, (int8_t)d });
        }
}

/* sin(-c x + d) is -sin(c x - d); exp(c x + d) differs from exp(c x) by a factor. */
static bool is_inner(const maker *m, int c, int d) {
    if (m->class.kind == SL_QUOTIENTS__LINEAR) return c == 1 && d == 0;
    if (m->class.kind == SL_QUOTIENTS__SINE && c < 0) return false;
    bool factor =
        is_factor(m->q, c) || (m->class.kind == SL_QUOTIENTS__SINE && is_factor(m->q, -c));
    return factor && is_summand(m->q, d);
}

static void add_variants(maker *m, int constants) {
    const int low = SL_MIN(m->q->grammar.low, 0), high = SL_MAX(m->q->grammar.high, 1);
    const double *x = m->q->x[m->class.variable];
    double u[SL_QUOTIENTS__PROBES];
    for (int c = low; c <= SL_MAX(high, -low); c++)
        for (int d = low; d <= high; d++) {
            int left = constants - (c != 1) - (d != 0);
            if (left < 0 || left > 2 || !is_inner(m, c, d)) continue;
            for (int k = 0; k < SL_QUOTIENTS__PROBES; k++)
                u[k] =
                    sl_search__quotients_function(m->class.kind, m->class.exponent, c * x[k] + d);
            add_outer(m, u, c, d, left);
        }
}

/* ---------------------------------------------------------------- lists --------------------- */

/* Values and variants in one block. */
static sl_status keep(bool *done, sl_search__quotients_factor *f, const maker *m) {
    const size_t n = (size_t)SL_MAX(m->count, 1);
    const size_t each = SL_QUOTIENTS__PROBES * sizeof(double) + sizeof *f->variant;
    sl_quotients *q = m->q;
    *done = sl_search__reserve(q->job, (int64_t)(n * each));
    if (!*done) return SL_OK;
    q->factor_bytes += (int64_t)(n * each);
    f->v[0] = sl_malloc_aligned(n, each);
    if (!f->v[0]) return sl_fail_memory(n, each, "factors of quotients");
    f->count = m->count;
    for (int k = 0; k < SL_QUOTIENTS__PROBES; k++) {
        f->v[k] = f->v[0] + (size_t)k * n;
        memcpy(f->v[k], m->v[k], (size_t)m->count * sizeof(double));
    }
    f->variant = (sl_search__quotients_variant *)(f->v[0] + SL_QUOTIENTS__PROBES * n);
    memcpy(f->variant, m->variant, (size_t)m->count * sizeof *f->variant);
    return SL_OK;
}

static sl_status make_factor(bool *done, maker *m, sl_search__quotients_class c,
                             sl_search__quotients_mode mode, int constants) {
    sl_search__quotients_factor *f = &m->q->factor[sl_search__quotients_class_of(c)][mode];
    m->class = c;
    m->mode = mode;
    m->count = 0;
    sl_search__quotients_set_clear(&m->set);
    for (int n = 0; n <= SL_QUOTIENTS__CONSTANTS; n++) {
        f->begin[n] = m->count;
        if (n <= constants) add_variants(m, n);
    }
    f->begin[SL_QUOTIENTS__CONSTANTS + 1] = m->count;
    return keep(done, f, m);
}

static sl_status make_all(bool *done, maker *m, int constants) {
    const sl_quotients *q = m->q;
    for (int kind = 0; kind < SL_QUOTIENTS__KINDS; kind++)
        for (int v = 0; v < q->variables; v++)
            for (int e = -SL_QUOTIENTS__EXPONENTS; e <= SL_QUOTIENTS__EXPONENTS; e++)
                for (int mode = 0; mode < SL_QUOTIENTS__MODES && *done; mode++) {
                    sl_search__quotients_class c = { (int8_t)kind, (int8_t)v, (int8_t)e };
                    if (q->needed[sl_search__quotients_class_of(c)][mode])
                        SL_TRY(make_factor(done, m, c, (sl_search__quotients_mode)mode, constants));
                }
    return SL_OK;
}

void sl_search__quotients_free_factors(sl_quotients *q) {
    for (int i = 0; i < SL_QUOTIENTS__CLASSES; i++)
        for (int mode = 0; mode < SL_QUOTIENTS__MODES; mode++) {
            sl_free(q->factor[i][mode].v[0]);
            q->factor[i][mode] = (sl_search__quotients_factor){ 0 };
        }
    sl_search__release(q->job, q->factor_bytes);
    q->factor_bytes = 0;
    q->constants = -1;
}

sl_status sl_search__quotients_make_factors(bool *done, sl_quotients *q, int constants) {
    *done = true;
    if (q->constants >= constants) return SL_OK;
    sl_search__quotients_free_factors(q);
    const int64_t size = set_sizes[constants];
    const int64_t bytes = (int64_t)sizeof(maker) + size * (int64_t)sizeof(uint64_t);
    *done = sl_search__reserve(q->job, bytes);
    if (!*done) return SL_OK;
    sl_status st = SL_OK;
    maker *m = sl_malloc(1, sizeof *m);
    uint64_t *slot = sl_calloc((size_t)size, sizeof *slot);
    if (!m || !slot) st = sl_fail_memory(1, (size_t)bytes, "factors of quotients");
    if (st == SL_OK) {
        m->q = q;
        m->set = (sl_search__quotients_set){ slot, size, 0 };
        st = make_all(done, m, constants);
    }
    if (st == SL_OK && *done) q->constants = constants;
    sl_free(slot);
    sl_free(m);
    sl_search__release(q->job, bytes);
    return st;
}

/* ---------------------------------------------------------------- expressions --------------- */

static const sl_node *number(sl_writer *w, sl_rat r) {
    if (w->failed) return NULL;
    const sl_node *e = sl_expr_num(w->arena, r);
    if (!e) w->failed = true;
    return e;
}

static const sl_node *affine(sl_writer *w, const sl_node *u, sl_rat a, sl_rat b) {
    if (!sl_expr_rat_is(a, 1)) u = sl_search__write_times(w, number(w, a), u);
    return b.num == 0 ? u : sl_search__write_plus(w, u, number(w, b));
}

const sl_node *sl_search__quotients_function_expr(sl_writer *w, int kind, int exponent,
                                                  const sl_node *u, sl_rat a, sl_rat b) {
    if (kind == SL_QUOTIENTS__SINE) u = sl_search__write_function(w, SL_OP_SIN, u);
    if (kind == SL_QUOTIENTS__ROOT) u = sl_search__write_power(w, u, (sl_rat){ exponent, 2 });
    if (kind == SL_QUOTIENTS__RATE) {
        sl_rat rate = exponent % 2 ? (sl_rat){ exponent, 2 } : SL_RAT(exponent / 2);
        u = sl_search__write_function(w, SL_OP_EXP, affine(w, u, rate, SL_RAT(0)));
    }
    return sl_search__write_power(w, affine(w, u, a, b), SL_RAT(outer_exponent(kind, exponent)));
}

const sl_node *sl_search__quotients_factor_expr(sl_writer *w, sl_search__quotients_class c,
                                                sl_search__quotients_variant t) {
    const sl_node *u =
        affine(w, sl_search__write_variable(w, c.variable + 1), SL_RAT(t.c), SL_RAT(t.d));
    return sl_search__quotients_function_expr(w, c.kind, c.exponent, u, SL_RAT(t.a), SL_RAT(t.b));
}

/* spans_target - transforms of y.
 *
 * The first few have tables for pairs of terms. The others, thousands, are looked up by the
 * direction of their image: y^p z, y^p - c z and functions of y, z being a monomial or a function
 * of the store. One parallel term is a formula; two terms are found by spans_pairs.c. */
#include <math.h>
#include <string.h>

#include "par/par.h"
#include "search/spans_impl.h"

enum {
    PRODUCT_MONOMIALS = 256, // z of y - c z
    PRODUCT_FUNCTIONS = 400,
    FIRST_MONOMIALS = 40,      // z of exp(y z), log(y z), log(1 - y z), y^p - c z
    PRODUCT_ELEMENTARIES = 80, // z of exp(y z)
    SUM_MONOMIALS = 4096,      // z of y^p z
    SUM_FUNCTIONS = 600,
    TARGETS_MAX = 4 * SUM_MONOMIALS + 4 * SUM_FUNCTIONS + 64,
    TARGET_STORE_LEVEL = 4, // of the store, for functions
    /* Entries of the table of y itself in the smallest span, and of the others. A full table is
     * still looked up: then one of the two terms of a formula has to be among the first. */
    LIMIT_MAIN = 4 << 20,
    LIMIT_OTHER = 1 << 14,
};

/* ---------------------------------------------------------------- values -------------------- */

static double to_power(double y, int power) {
    switch (power) {
    case 1: return y;
    case -1: return 1 / y;
    case 2: return y * y;
    default: return 1 / (y * y);
    }
}

static double function_of(sl_search__spans_kind kind, double y) {
    switch (kind) {
    case SL_SPANS__SIN: return sl_sin(y);
    case SL_SPANS__COS: return sl_cos(y);
    case SL_SPANS__TAN: return sl_sin(y) / sl_cos(y);
    case SL_SPANS__EXP: return sl_exp(y);
    case SL_SPANS__REST: return sl_log(1 - y);
    default: return sl_log(y);
    }
}

/* Of logarithms to other bases: log 10, of decibels of power and of pressure, of magnitudes, log 2.
 */
static const double scales[] = {
    2.302585092994045684,  0.2302585092994045684, 0.1151292546497022842,
    0.9210340371976182736, 0.6931471805599453094,
};

double sl_search__spans_scale(int i) { return scales[i]; }

static double ratio(double t) { return (1 - t) / (1 + t); }

bool sl_search__spans_transform(double *out, const sl_search__spans_target *t, const double *y,
                                const double *factor, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        double z = factor ? factor[i] : 1, p = to_power(y[i], t->power);
        if (t->kind == SL_SPANS__TIMES)
            out[i] = p * z;
        else if (t->kind == SL_SPANS__LESS)
            out[i] = p - sl_search__store_get_constant(t->constant) * z;
        else if (t->kind == SL_SPANS__RATIO)
            out[i] = ratio(t->power == 2 ? sqrt(y[i]) : y[i]);
        else if (t->kind == SL_SPANS__LEVEL)
            out[i] = sl_exp(sl_search__spans_scale(t->constant) * (factor ? y[i] - z : y[i]));
        else
            out[i] = function_of(t->kind, y[i] * z);
        if (!isfinite(out[i])) return false;
        // a difference of nearly equal numbers is rounding; one that y does not change has no
        // information
        if (t->kind == SL_SPANS__LESS &&
            (fabs(out[i]) > 1e4 * fabs(p) || fabs(out[i]) < 1e-9 * fabs(p)))
            return false;
    }
    return true;
}

/* Is y in the range of the inverse of this transform? */
static bool in_range(const sl_spans *s, sl_search__spans_kind kind) {
    const double half_turn = 3.14159265358979323846;
    double low = s->y_low, high = s->y_high;
    switch (kind) {
    case SL_SPANS__SIN:
    case SL_SPANS__TAN: return low >= -half_turn / 2 && high <= half_turn / 2;
    case SL_SPANS__COS: return low >= 0 && high <= half_turn;
    case SL_SPANS__EXP: return low >= -30 && high <= 30;
    case SL_SPANS__LOG: return low > 0;
    default: return true;
    }
}

/* ---------------------------------------------------------------- the list ------------------ */

static void add(sl_spans *s, sl_search__spans_target t) {
    if (s->targets < TARGETS_MAX && (t.factor || in_range(s, t.kind))) s->target[s->targets++] = t;
}

static void add_plain(sl_spans *s, sl_search__spans_kind kind, int power, int constant) {
    add(s, (sl_search__spans_target){ .kind = kind, .power = (int8_t)power, .constant = constant });
}

/* exp(y z), log(y z), log(1 - y z) and y^p +- z. */
static void product_targets_of(sl_spans *s, int i) {
    static const int8_t powers[] = { -1, 2, -2 };
    const sl_search__spans_factor factor = SL_SPANS__MONOMIAL;
    add(s, (sl_search__spans_target){ SL_SPANS__EXP, 1, factor, i, 0 });
    add(s, (sl_search__spans_target){ SL_SPANS__LOG, 1, factor, i, 0 });
    add(s, (sl_search__spans_target){ SL_SPANS__REST, 1, factor, i, 0 });
    for (int p = 0; p < SL_LEN(powers); p++)
        for (int c = 0; c < 2; c++)
            add(s, (sl_search__spans_target){ SL_SPANS__LESS, powers[p], factor, i, c });
}

static sl_status product_targets(sl_spans *s) {
    static const int8_t powers[] = { 1, 2, -1, -2 };
    add_plain(s, SL_SPANS__TIMES, 1, 0);
    add_plain(s, SL_SPANS__LESS, 1, 0); // y - 1, y + 1: the first constants are 1 and -1
    add_plain(s, SL_SPANS__LESS, 1, 1);
    add_plain(s, SL_SPANS__COS, 1, 0);
    add_plain(s, SL_SPANS__EXP, 1, 0);
    s->tables = s->targets;
    for (int c = 0; c < sl_search__store_count_constants(); c++)
        for (int p = 0; p < SL_LEN(powers); p++) add_plain(s, SL_SPANS__LESS, powers[p], c);
    add_plain(s, SL_SPANS__SIN, 1, 0);
    add_plain(s, SL_SPANS__TAN, 1, 0);
    add_plain(s, SL_SPANS__LOG, 1, 0);
    add_plain(s, SL_SPANS__REST, 1, 0);
    add_plain(s, SL_SPANS__RATIO, 1, 0);
    add_plain(s, SL_SPANS__RATIO, 2, 0);
    int monomials;
    SL_TRY(sl_search__store_monomials(&monomials, s->job->store, PRODUCT_MONOMIALS));
    for (int i = 0; i < SL_MIN(monomials, FIRST_MONOMIALS); i++) product_targets_of(s, i);
    int elementaries = sl_search__store_elementaries(s->store, PRODUCT_ELEMENTARIES);
    for (int i = 0; i < elementaries; i++)
        add(s, (sl_search__spans_target){ SL_SPANS__EXP, 1, SL_SPANS__ELEMENTARY, i, 0 });
    for (int i = 0; i < monomials; i++)
        for (int c = 0; c < (i < 64 ? 10 : 4); c++)
            add(s, (sl_search__spans_target){ SL_SPANS__LESS, 1, SL_SPANS__MONOMIAL, i, c });
    int functions = sl_search__store_count_functions(s->store, PRODUCT_FUNCTIONS);
    for (int i = 0; i < functions; i++)
        for (int c = 0; c < 6; c++)
            add(s, (sl_search__spans_target){ SL_SPANS__LESS, 1, SL_SPANS__FUNCTION, i, c });
    return SL_OK;
}

static sl_status sum_targets(sl_spans *s) {
    static const int8_t powers[] = { 1, -1, 2, -2 };
    for (int p = 0; p < SL_LEN(powers); p++) add_plain(s, SL_SPANS__TIMES, powers[p], 0);
    add_plain(s, SL_SPANS__LOG, 1, 0);
    s->tables = s->targets;
    add_plain(s, SL_SPANS__SIN, 1, 0);
    add_plain(s, SL_SPANS__COS, 1, 0);
    add_plain(s, SL_SPANS__EXP, 1, 0);
    int monomials;
    SL_TRY(sl_search__store_monomials(&monomials, s->job->store, SUM_MONOMIALS));
    for (int k = 0; k < SL_LEN(scales); k++) {
        add_plain(s, SL_SPANS__LEVEL, 1, k);
        for (int i = 0; i < SL_MIN(monomials, s->job->rows.inputs); i++)
            add(s, (sl_search__spans_target){ SL_SPANS__LEVEL, 1, SL_SPANS__MONOMIAL, i, k });
    }
    for (int i = 0; i < monomials; i++)
        for (int p = 0; p < SL_LEN(powers); p++)
            add(s,
                (sl_search__spans_target){ SL_SPANS__TIMES, powers[p], SL_SPANS__MONOMIAL, i, 0 });
    int functions = sl_search__store_count_functions(s->store, SUM_FUNCTIONS);
    for (int i = 0; i < functions; i++)
        for (int p = 0; p < 3; p++)
            add(s,
                (sl_search__spans_target){ SL_SPANS__TIMES, powers[p], SL_SPANS__FUNCTION, i, 0 });
    return SL_OK;
}

/* ---------------------------------------------------------------- images -------------------- */

sl_store_term sl_search__spans_factor_term(const sl_spans *s, const sl_search__spans_target *t) {
    return t->factor == SL_SPANS__FUNCTION ? sl_search__store_get_function(s->store, t->index)
                                           : sl_search__store_elementary(s->store, t->index);
}

/* value[0..stride) := the target at the probes, or its logarithm, 0 in the padding. */
static bool target_value(double *value, const sl_spans *s, const sl_search__spans_target *t) {
    double of_function[SL_STORE_MAX_PROBES];
    const double *factor = NULL;
    bool exponent = false;
    if (t->factor == SL_SPANS__MONOMIAL) factor = sl_search__store_monomial(s->store, t->index);
    if (t->factor == SL_SPANS__FUNCTION || t->factor == SL_SPANS__ELEMENTARY) {
        factor = of_function;
        if (!sl_search__store_term_value(of_function, &exponent, s->store,
                                         sl_search__spans_factor_term(s, t)))
            return false;
        if (exponent) return false;
    }
    memset(value, 0, (size_t)s->stride * sizeof *value);
    if (!sl_search__spans_transform(value, t, s->job->rows.y, factor, s->probes)) return false;
    if (s->side == SL_SIDE_SUM) return true;
    for (int k = 0; k < s->probes; k++) value[k] = fabs(value[k]);
    sl_log_array(value, value, s->probes);
    for (int k = 0; k < s->probes; k++)
        if (!isfinite(value[k])) return false;
    return true;
}

static sl_status images_part(int64_t begin, int64_t end, int worker, void *payload) {
    sl_spans *s = payload;
    double value[SL_STORE_MAX_PROBES];
    (void)worker;
    for (int64_t t = begin; t < end; t++) {
        bool real = target_value(value, s, &s->target[t]);
        for (int i = 0; i < s->spans; i++) {
            sl_search__spans_image *image = &s->image[i][t];
            *image = (sl_search__spans_image){ .size = 0 };
            if (!real) continue;
            double size;
            sl_search__spans_project(image->q, &size, s, i, value);
            if (isfinite(size)) image->size = sqrt(size + (s->side == SL_SIDE_PRODUCT));
        }
    }
    return SL_OK;
}

static double norm_of(const double *q) {
    double n = 0;
    for (int d = 0; d < SL_SPANS__DIMS; d++) n += q[d] * q[d];
    return n;
}

bool sl_search__spans_is_seen(const sl_search__spans_image *image) {
    return image->size > 0 && norm_of(image->q) > 1e-17 * image->size * image->size;
}

/* ---------------------------------------------------------------- directory ----------------- */

static void put_directory(sl_search__spans_directory *d, uint64_t key, int target) {
    if (!key) key = 1;
    d->filter[key >> 40 & 4095] |= 1ull << (key >> 52 & 63);
    uint64_t slot = key & d->mask;
    while (d->key[slot] && d->key[slot] != key) slot = (slot + 1) & d->mask;
    if (d->key[slot]) return;
    d->key[slot] = key;
    d->target[slot] = target;
}

int sl_search__spans_look_up(const sl_search__spans_directory *d, uint64_t key) {
    if (!key) key = 1;
    if (!(d->filter[key >> 40 & 4095] >> (key >> 52 & 63) & 1)) return -1;
    uint64_t slot = key & d->mask;
    while (d->key[slot] && d->key[slot] != key) slot = (slot + 1) & d->mask;
    return d->key[slot] ? d->target[slot] : -1;
}

/* The targets from..from + SL_SPANS__BLOCK - 1; of equal directions the first one stays. */
static void put_block(const sl_spans *s, sl_search__spans_directory *d, int span, int from) {
    sl_search__spans_numbers q = { { 0 } };
    uint64_t key[SL_SPANS__BLOCK];
    double norm[SL_SPANS__BLOCK];
    const sl_search__spans_image *image = s->image[span] + from;
    int n = SL_MIN(s->targets - from, (int)SL_SPANS__BLOCK);
    for (int t = 0; t < n; t++)
        for (int i = 0; i < SL_SPANS__DIMS; i++) q[i][t] = image[t].q[i];
    s->kernels->direct(key, norm, q);
    for (int t = 0; t < n; t++)
        if (sl_search__spans_is_seen(&image[t])) put_directory(d, key[t], from + t);
}

static sl_status open_directory(sl_spans *s, int span) {
    sl_search__spans_directory *d = sl_arena_alloc(&s->arena, sizeof *d);
    uint64_t size = 16;
    while (size < 4 * (uint64_t)s->targets) size *= 2;
    if (!d) return sl_fail_memory(1, sizeof *d, "the transforms of y");
    memset(d, 0, sizeof *d);
    d->mask = size - 1;
    d->key = sl_arena_alloc(&s->arena, size * sizeof *d->key);
    d->target = sl_arena_alloc(&s->arena, size * sizeof *d->target);
    if (!d->key || !d->target) return sl_fail_memory(size, 12, "the transforms of y");
    memset(d->key, 0, size * sizeof *d->key);
    s->directory[span] = d;
    for (int from = 0; from < s->targets; from += SL_SPANS__BLOCK) put_block(s, d, span, from);
    return SL_OK;
}

void sl_search__spans_find_basis(double basis[SL_SPANS__DIMS - 1][SL_SPANS__DIMS],
                                 const double *image, int left) {
    double all[SL_SPANS__DIMS][SL_SPANS__DIMS], size = sqrt(norm_of(image));
    int n = 1;
    for (int d = 0; d < SL_SPANS__DIMS; d++) all[0][d] = image[d] / size;
    memset(basis, 0, sizeof(double[SL_SPANS__DIMS - 1][SL_SPANS__DIMS]));
    for (int i = 0; i < left && n < left; i++) {
        double *v = all[n];
        for (int d = 0; d < SL_SPANS__DIMS; d++)
            v[d] = d >= left ? 0 : 0.3 + (d == i) - 0.7 * (d == (i + 1) % left);
        for (int repeat = 0; repeat < 3; repeat++)
            for (int k = 0; k < n; k++) {
                double c = 0;
                for (int d = 0; d < SL_SPANS__DIMS; d++) c += all[k][d] * v[d];
                for (int d = 0; d < SL_SPANS__DIMS; d++) v[d] -= c * all[k][d];
            }
        double length = sqrt(norm_of(v));
        if (length < 1e-3) continue;
        for (int d = 0; d < SL_SPANS__DIMS; d++) basis[n - 1][d] = v[d] /= length;
        n++;
    }
}

/* Which targets have tables in which span, and how many entries these may have. With fewer than
 * four dimensions left of a span any two terms would have one key. */
static sl_status open_tables(sl_spans *s) {
    for (int i = 0; i < s->spans; i++) {
        for (int t = 0; t < s->tables; t++) {
            if (!sl_search__spans_is_seen(&s->image[i][t]) || s->span[i].left < 4) continue;
            if (s->side == SL_SIDE_SUM && i > 0 && t > 2) continue;
            SL_TRY(sl_search__spans_table_open(&s->table[i][t], s->job,
                                               i || t ? LIMIT_OTHER : LIMIT_MAIN));
            sl_search__spans_find_basis(s->table[i][t].basis, s->image[i][t].q, s->span[i].left);
        }
    }
    return SL_OK;
}

static void find_range(sl_spans *s) {
    const double *y = s->job->rows.y;
    s->y_low = s->y_high = y[0];
    for (int64_t i = 1; i < s->job->rows.rows; i++) {
        s->y_low = SL_MIN(s->y_low, y[i]);
        s->y_high = SL_MAX(s->y_high, y[i]);
    }
}

sl_status sl_search__spans_open_targets(sl_spans *s) {
    find_range(s);
    s->target = sl_arena_alloc(&s->arena, (TARGETS_MAX + 1) * sizeof *s->target);
    if (!s->target) return sl_fail_memory(TARGETS_MAX, sizeof *s->target, "the transforms of y");
    SL_TRY(sl_search__store_extend(s->job->store, TARGET_STORE_LEVEL));
    SL_TRY(s->side == SL_SIDE_PRODUCT ? product_targets(s) : sum_targets(s));
    for (int i = 0; i < s->spans; i++) {
        s->image[i] = sl_arena_alloc(&s->arena, (size_t)s->targets * sizeof **s->image);
        if (!s->image[i])
            return sl_fail_memory((size_t)s->targets, sizeof **s->image, "the transforms of y");
    }
    SL_TRY(sl_par_for(s->job->pool, s->targets, 256, images_part, s));
    for (int i = 0; i < s->spans; i++) SL_TRY(open_directory(s, i));
    return open_tables(s);
}

/* y^p - c z is a monomial: a sum of two monomials, which terms of the store write as a product
 * where it is one. */
static bool is_written_better(const sl_search__spans_target *t) {
    return t->kind == SL_SPANS__LESS && t->power != 1 && t->factor != SL_SPANS__ONE;
}

/* Targets that lie in the span: formulas without any term. */
sl_status sl_search__spans_no_terms(sl_spans *s) {
    for (int t = 0; t < s->targets && !s->found; t++) {
        if (is_written_better(&s->target[t])) continue;
        for (int i = 0; i < s->spans; i++) {
            if (s->image[i][t].size == 0 || sl_search__spans_is_seen(&s->image[i][t])) continue;
            sl_search__spans_hit hit = { .span = (int16_t)i, .target = t, .n = 0 };
            SL_TRY(sl_search__spans_verify(s, &hit));
            break;
        }
    }
    return SL_OK;
}

/* skeleton_two - two constants inside one factor: exp(-5 x1 - 5 x2), 1/sin(6 x2 - 4).
 *
 * A factor has up to some ten thousand variants with two constants, in one slot or in two: too many
 * to be stored for all factors, and to be compared in eight directions for every skeleton. So
 * factors are taken one after the other. The variants of one are evaluated, then all skeletons that
 * have it are screened. The image of a variant that makes a formula is all in direction 0, which
 * is y's. So one other direction rules out nearly all variants, and it is a combination of them
 * that is 0 in as many rows as possible. What is left is compared in all directions.
 *
 * The other factors of the term have no constants: with more columns, more directions would be
 * needed. A sine has its phase: two columns, three directions. Where y is rounded this level does
 * not apply. */
#include <math.h>
#include <string.h>

#include "search/skeleton_impl.h"

typedef sl_search__skeleton_piece piece;
typedef sl_search__skeleton_slot slot;

enum {
    ROWS = SL_SKELETON__FITTED,
    DIMS = SL_SKELETON__DIMS,
    LANES = SL_SKELETON__LANES,
    SIEVED = SL_SKELETON__SIEVED,
    CHUNK = 256,        // variants that are evaluated, or screened, at once
    VARIANTS = 1 << 15, // of a factor
    COLUMNS = 2,        // of a factor
    CONSTANTS = 4,
    PROBES = 6,     // rows that tell variants apart
    KEYS = 1 << 16, // slots for their keys
};
static const double LEFT = 1e-14, LEAST = 1e-18; // squares, as in skeleton_screen.c
/* An image that is next to 0: as a part of the sum of what is added up, also in floats; of that in
 * direction 0. */
static const double CANCELLED = 1e-11, SIEVE = 1e-6;
static const float CANCELLED_NARROW = 4e-6f; // more than SL_SKELETON__RANK + 5 roundings

/* ---------------------------------------------------------------- variants ------------------ */

/* Of each slot a factor and a summand; the slots may be the same. */
typedef struct variant {
    int8_t slot[2], constant[CONSTANTS];
} variant;

/* What constant number k of a slot is; false: it has no such number. */
static bool constant_of(int8_t *out, const sl_skeletons *s, const slot *t, int k) {
    const int range = s->high - s->low + 1;
    const int value = s->low + k % range, kind = k / range;
    out[0] = 1, out[1] = 0;
    if (kind == 0) out[0] = (int8_t)value;
    if (kind > 0) out[1] = (int8_t)value;
    if (kind == 2) out[0] = -1;
    return value != 0 &&
           (kind > 0 ? t->summand && (kind == 1 || t->negated) : t->factor && value != 1);
}

static int add_variant(variant *list, int n, const variant *v) {
    if (n < VARIANTS) list[n] = *v;
    return SL_MIN(n + 1, VARIANTS);
}

/* All variants, those of two slots one after the other. */
static int list_variants(variant *list, const sl_skeletons *s, const piece *p) {
    const int most = 3 * (s->high - s->low + 1);
    int n = 0;
    if (p->columns > COLUMNS) return 0;
    for (int i = 0; i < p->slots; i++) {
        variant v = { { (int8_t)i, (int8_t)i }, { 1, 0, 1, 0 } };
        const bool both = p->slot[i].factor && p->slot[i].summand;
        for (int a = s->low; a <= s->high && both; a++)
            for (int b = s->low; b <= s->high; b++) {
                v.constant[0] = (int8_t)a, v.constant[1] = (int8_t)b;
                if (a != 0 && a != 1 && b != 0) n = add_variant(list, n, &v);
            }
        for (int k = i + 1; k < p->slots; k++) {
            v.slot[1] = (int8_t)k;
            for (int a = 0; a < most; a++) {
                if (!constant_of(v.constant, s, &p->slot[i], a)) continue;
                for (int b = 0; b < most; b++)
                    if (constant_of(v.constant + 2, s, &p->slot[k], b))
                        n = add_variant(list, n, &v);
            }
        }
    }
    return n;
}

/* The nodes of a variant's slots, with these constants. */
static sl_search__skeleton_places places_of(const piece *p, const variant *v,
                                            const sl_node *const *constant) {
    return (sl_search__skeleton_places){ v->slot[0] == v->slot[1] ? 1 : 2,
                                         { p->slot[v->slot[0]].node, p->slot[v->slot[1]].node },
                                         { constant[0], constant[2] },
                                         { constant[1], constant[3] } };
}

static sl_status expr_of(const sl_node **out, sl_arena *a, const sl_skeletons *s, const piece *p,
                         const variant *v, int c) {
    const sl_node *constant[CONSTANTS], *column[SL_SKELETON__CHANGED];
    sl_rat value[CONSTANTS];
    bool known[CONSTANTS];
    for (int k = 0; k < CONSTANTS; k++) {
        constant[k] = sl_expr_par(a, k + 1);
        value[k] = SL_RAT(v->constant[k]);
        known[k] = true;
        if (!constant[k]) return sl_fail(SL_ENOMEM, "no memory for a skeleton");
    }
    const sl_search__skeleton_places places = places_of(p, v, constant);
    SL_TRY(sl_search__skeleton_put_constants(column, a, p, s->node[p->factor.node], &places));
    return sl_expr_bind(out, a, column[c], value, known);
}

sl_status sl_search__skeleton_change_expr(const sl_node **out, sl_arena *a, const sl_skeletons *s,
                                          const piece *p, const sl_search__skeleton_change *change,
                                          int c) {
    if (change->set != SL_SKELETON__TWO)
        return sl_search__skeleton_variant_expr(out, a, p,
                                                &p->set[change->set].list[change->variant], c);
    variant *list = sl_malloc(VARIANTS, sizeof *list);
    if (!list) return sl_fail_memory(VARIANTS, sizeof *list, "variants");
    (void)list_variants(list, s, p);
    sl_status st = expr_of(out, a, s, p, &list[change->variant], c);
    sl_free(list);
    return st;
}

/* ---------------------------------------------------------------- values -------------------- */

/* A factor of a term of a skeleton. */
typedef struct use {
    int32_t base;
    int8_t term, factor;
} use;

/* A worker's. */
typedef struct workspace {
    sl_skeletons *s;
    int worker;
    int count, stride; // of variants
    int rows_most;     // that they have values in
    variant list[VARIANTS];
    int32_t place[VARIANTS];                    // in the list of all variants
    uint64_t key[KEYS];                         // 0: free
    double x[ROWS][SL_SKELETON__INPUTS][CHUNK]; // a row's inputs, once for every variant
    double constant[CONSTANTS][CHUNK];
    double value[COLUMNS][ROWS * VARIANTS]; // by row and variant
    float narrow[ROWS * VARIANTS];          // of the first column, times a factor for each variant
    sl_search__skeleton_directions d;
    double three[ROWS][3], all[ROWS][DIMS]; // directions times the other factors
    bool complete;                          // are they set?
    int row[ROWS], rows;                    // in which one direction is not 0
    double one[ROWS];                       // that direction times the other factors there
    float one_narrow[ROWS];
    sl_search__skeleton_image image[COLUMNS];
    sl_arena scratch;
} workspace;

typedef struct screening {
    sl_skeletons *s;
    const use *use;      // by piece
    const int32_t *last; // one past the last of a piece
    workspace **workspace;
} screening;

static void set_inputs(workspace *w) {
    for (int r = 0; r < ROWS; r++)
        for (int v = 0; v < w->s->variables; v++)
            for (int i = 0; i < CHUNK; i++) w->x[r][v][i] = w->s->x[v][r];
}

/* Values of variants from .. from + n, which have the same slots: their constants are variables. */
static sl_status evaluate_chunk(workspace *w, const piece *p, const sl_program *const *program,
                                int rows, int from, int n) {
    const double *x[SL_SKELETON__INPUTS + CONSTANTS];
    for (int k = 0; k < CONSTANTS; k++) {
        x[w->s->variables + k] = w->constant[k];
        for (int i = 0; i < n; i++) w->constant[k][i] = w->list[from + i].constant[k];
    }
    for (int c = 0; c < p->columns; c++)
        for (int r = 0; r < rows; r++) {
            for (int v = 0; v < w->s->variables; v++) x[v] = w->x[r][v];
            SL_TRY(sl_expr_program_run(&w->value[c][r * w->stride + from], program[c], x, n, NULL,
                                       &w->scratch));
        }
    return SL_OK;
}

/* Variants from .. end, which have the same slots. */
static sl_status evaluate_slots(workspace *w, const piece *p, int rows, int from, int end) {
    const sl_node *constant[CONSTANTS], *column[SL_SKELETON__CHANGED];
    const sl_program *program[COLUMNS];
    for (int k = 0; k < CONSTANTS; k++)
        if (!(constant[k] = sl_expr_var(&w->scratch, w->s->variables + k + 1)))
            return sl_fail(SL_ENOMEM, "no memory for a skeleton");
    const sl_search__skeleton_places places = places_of(p, &w->list[from], constant);
    SL_TRY(sl_search__skeleton_put_constants(column, &w->scratch, p, w->s->node[p->factor.node],
                                             &places));
    for (int c = 0; c < p->columns; c++)
        SL_TRY(sl_expr_compile(&program[c], &w->scratch, column[c]));
    for (int at = from; at < end; at += CHUNK) {
        if (sl_search__stop(w->s->job, w->worker == 0)) return SL_OK;
        SL_TRY(evaluate_chunk(w, p, program, rows, at, SL_MIN(CHUNK, end - at)));
    }
    sl_arena_rewind(&w->scratch, 0);
    return SL_OK;
}

/* All variants in the first rows. */
static sl_status evaluate_rows(workspace *w, const piece *p, int rows) {
    w->stride = (w->count + SIEVED - 1) / SIEVED * SIEVED;
    for (int c = 0; c < p->columns; c++)
        memset(w->value[c], 0, (size_t)w->stride * (size_t)rows * sizeof(double));
    for (int from = 0, end; from < w->count; from = end) {
        const variant *v = &w->list[from];
        for (end = from; end < w->count && !memcmp(w->list[end].slot, v->slot, sizeof v->slot);)
            end++;
        SL_TRY(evaluate_slots(w, p, rows, from, end));
    }
    return SL_OK;
}

/* Hash of PROBES values that are `stride` apart, up to a factor; 0: they are no numbers. */
static uint64_t key_of(const double *v, int64_t stride) {
    enum { SHIFT = 16 }; // bits that leave rounding out
    const double inverse = 1 / v[0];
    uint64_t h = 0x9E3779B97F4A7C15u;
    if (!(fabs(v[0]) < HUGE_VAL)) return 0;
    for (int k = 1; k < PROBES; k++) {
        const double ratio = v[k * stride] * inverse;
        uint64_t bits;
        if (!(fabs(v[k * stride]) < HUGE_VAL)) return 0;
        memcpy(&bits, &ratio, sizeof bits);
        h = (h ^ (bits + (1u << (SHIFT - 1))) >> SHIFT) * 0xD6E8FEB86659FD93u;
        h ^= h >> 32;
    }
    return h ? h : 1;
}

static bool is_new(workspace *w, uint64_t key) {
    uint64_t at = key >> 7 & (KEYS - 1);
    for (; w->key[at]; at = (at + 1) & (KEYS - 1))
        if (w->key[at] == key) return false;
    w->key[at] = key;
    return true;
}

/* Leaves out variants that are no numbers, and those that differ from others, or from the factor
 * without constants, by a coefficient alone: exp(2 x1 + x2 - 5) from exp(2 x1 + x2). They are most
 * of all. A phase beside a sine is free, too, so its first column says enough. */
static void leave_out_equal(workspace *w, const piece *p) {
    int kept = 0;
    memset(w->key, 0, sizeof w->key);
    for (int k = 0; k < p->plains; k++) (void)is_new(w, key_of(p->value[k], 1));
    for (int i = 0; i < w->count; i++) {
        const uint64_t key = key_of(&w->value[0][i], w->stride);
        if (!key || !is_new(w, key)) continue;
        w->place[kept] = i;
        w->list[kept++] = w->list[i];
    }
    w->count = kept;
}

/* Floats hold about 76 decades: the factor brings the middle of those of a variant to 1. */
static void make_narrow(workspace *w) {
    double least[SIEVED], most[SIEVED], scale[SIEVED];
    for (int from = 0; from < w->stride; from += SIEVED) {
        for (int i = 0; i < SIEVED; i++) least[i] = 1e300, most[i] = 1e-300;
        for (int r = 0; r < w->rows_most; r++)
            for (int i = 0; i < SIEVED; i++) {
                const double size = fabs(w->value[0][r * w->stride + from + i]);
                most[i] = size > most[i] ? size : most[i];
                least[i] = (size > 0 ? size : 1e300) < least[i] ? size : least[i];
            }
        for (int i = 0; i < SIEVED; i++) {
            scale[i] = 1 / sqrt(least[i]) / sqrt(most[i]);
            scale[i] = SL_MIN(scale[i], 1e30 / most[i]);
        }
        for (int r = 0; r < w->rows_most; r++)
            for (int i = 0; i < SIEVED; i++) {
                const int64_t at = r * w->stride + from + i;
                w->narrow[at] = (float)(w->value[0][at] * scale[i]);
            }
    }
}

/* The variants of a piece in all rows that its uses need. */
static sl_status evaluate(workspace *w, const piece *p, const use *list, int32_t uses) {
    w->rows_most = PROBES;
    for (int32_t k = 0; k < uses; k++)
        w->rows_most =
            SL_MAX(w->rows_most, sl_search__skeleton_rows(w->s, &w->s->base[list[k].base]));
    w->count = list_variants(w->list, w->s, p);
    w->stride = 0;
    if (w->count == 0) return SL_OK; // its columns may be too many for a workspace
    SL_TRY(evaluate_rows(w, p, PROBES));
    leave_out_equal(w, p);
    SL_TRY(evaluate_rows(w, p, w->rows_most));
    if (p->columns == 1) make_narrow(w);
    return SL_OK;
}

/* ---------------------------------------------------------------- screening ----------------- */

/* Some variants in all directions. */
static sl_status check(workspace *w, const piece *p, const use *u, int from) {
    const sl_search__skeleton_kernels *kernels = w->s->kernels;
    double left[LANES];
    for (int c = 0; c < p->columns; c++)
        kernels->images(&w->image[c], w->all[0], w->d.product[0], &w->value[c][from], w->stride,
                        w->d.rows, LANES, LEAST);
    kernels->leave(left, w->image, p->columns, LANES, LEAST);
    for (int i = 0; i < SL_MIN(LANES, w->count - from); i++) {
        if (!(left[i] < LEFT)) continue;
        sl_search__skeleton_hit hit;
        memset(&hit, 0, sizeof hit);
        hit.base = u->base;
        hit.changes = 1;
        hit.change[0] = (sl_search__skeleton_change){ u->term, u->factor, SL_SKELETON__TWO,
                                                      w->place[from + i] };
        SL_TRY(sl_search__skeleton_add_hit(w->s, w->worker, &hit, 0, NULL, &w->scratch));
    }
    return SL_OK;
}

/* Vector k of a triangular system has 0 in the pivots of those before it. v := it is in that form;
 * pivot[] := where each is largest. */
static void make_triangular(double *v, int *pivot, const workspace *w, int n) {
    const int rows = w->d.rows;
    double left[SL_SKELETON__RANK + 1];
    memcpy(v, w->d.basis, (size_t)n * (size_t)rows * sizeof *v);
    w->s->kernels->eliminate(left, v, n, rows);
    for (int k = 0; k < n; k++) {
        pivot[k] = 0;
        for (int r = 1; r < rows; r++)
            if (fabs(v[k * rows + r]) > fabs(v[k * rows + pivot[k]])) pivot[k] = r;
    }
}

/* The row outside of these in which the basis is largest: where it is next to 0, rounding is most
 * of it. */
static int find_further(const workspace *w, const int *pivot, int n) {
    const int rows = w->d.rows;
    double size[ROWS] = { 0 };
    int best = 0;
    for (int k = 0; k < n; k++)
        for (int r = 0; r < rows; r++)
            size[r] += w->d.basis[k * rows + r] * w->d.basis[k * rows + r];
    for (int k = 0; k < n; k++) size[pivot[k]] = -1;
    for (int r = 1; r < rows; r++)
        if (size[r] > size[best]) best = r;
    return best;
}

/* A direction orthogonal to y and the plain columns that is 0 in all rows but one more than these
 * are. */
static void find_one(workspace *w) {
    const sl_search__skeleton_directions *d = &w->d;
    double v[(SL_SKELETON__RANK + 1) * ROWS], most = 0;
    const int n = d->rank + 1;
    make_triangular(v, w->row, w, n);
    w->row[n] = find_further(w, w->row, n);
    w->one[n] = 1;
    w->rows = n + 1;
    for (int k = n - 1; k >= 0; k--) {
        double sum = 0;
        for (int j = k + 1; j <= n; j++) sum += v[k * d->rows + w->row[j]] * w->one[j];
        w->one[k] = -sum / v[k * d->rows + w->row[k]];
    }
    for (int k = 0; k < w->rows; k++) {
        w->one[k] *= d->product[0][w->row[k]];
        most = SL_MAX(most, fabs(w->one[k]));
    }
    for (int k = 0; k < w->rows; k++) {
        w->one[k] /= most;
        w->one_narrow[k] = (float)w->one[k];
    }
}

/* Is the image of variant i in that direction next to 0, too, beside what is added up? */
static bool is_cancelled(const workspace *w, int i) {
    double sum = 0, size = 0;
    for (int k = 0; k < w->rows; k++) {
        const double v = w->one[k] * w->value[0][w->row[k] * w->stride + i];
        sum += v, size += fabs(v);
    }
    return fabs(sum) < CANCELLED * size;
}

/* All directions, times the other factors; false: there are too few. */
static bool complete(workspace *w) {
    sl_search__skeleton_directions *d = &w->d;
    if (w->complete) return true;
    w->complete = sl_search__skeleton_add_directions(d);
    for (int r = 0; r < d->rows && w->complete; r++)
        for (int k = 0; k < DIMS; k++) {
            w->all[r][k] = d->across[r][k] * d->product[0][r];
            if (k < 3) w->three[r][k] = w->all[r][k];
        }
    return w->complete;
}

/* at[] := variants of CHUNK from `from` on that may make a formula; returns how many. */
static int sieve(int *at, workspace *w, const piece *p, int from) {
    const sl_search__skeleton_kernels *kernels = w->s->kernels;
    const int n = SL_MIN(CHUNK, w->stride - from);
    if (p->columns > 1)
        return kernels->sieve_two(at, w->three, &w->value[0][from], &w->value[1][from], w->stride,
                                  w->d.rows, n, SIEVE);
    return kernels->sieve(at, w->one_narrow, w->row, w->rows, &w->narrow[from], w->stride,
                          CANCELLED_NARROW, n);
}

static sl_status screen_use(workspace *w, const piece *p, const use *u) {
    const sl_search__skeleton_base *base = &w->s->base[u->base];
    sl_search__skeleton_directions *d = &w->d;
    bool nothing;
    if (!sl_search__skeleton_find_basis(&nothing, d, base) || nothing) return SL_OK;
    sl_search__skeleton_multiply_plains(d, &w->s->term[base->term[u->term]], u->factor, NULL);
    if (d->products == 0) return SL_OK;
    w->complete = false;
    if (p->columns == 1)
        find_one(w);
    else if (!complete(w))
        return SL_OK;
    for (int from = 0; from < w->stride; from += CHUNK) {
        int at[CHUNK];
        const int found = sieve(at, w, p, from);
        for (int k = 0, last = -1; k < found; k++) {
            const int group = from + at[k] / LANES * LANES;
            if (group == last || !(p->columns > 1 || is_cancelled(w, from + at[k]))) continue;
            if (!complete(w)) return SL_OK;
            SL_TRY(check(w, p, u, group));
            last = group;
        }
    }
    return SL_OK;
}

/* All uses of some pieces. */
static sl_status screen_pieces(int64_t begin, int64_t end, int worker, void *payload) {
    const screening *g = payload;
    workspace *w = g->workspace[worker];
    w->worker = worker;
    for (int64_t i = begin; i < end; i++) {
        const int32_t first = i ? g->last[i - 1] : 0;
        if (first == g->last[i] || sl_search__stop(g->s->job, worker == 0)) continue;
        SL_TRY(evaluate(w, &g->s->piece[i], &g->use[first], g->last[i] - first));
        for (int32_t k = first; k < g->last[i] && w->count > 0; k++) {
            if (sl_search__stop(g->s->job, worker == 0)) return SL_OK;
            SL_TRY(screen_use(w, &g->s->piece[i], &g->use[k]));
            atomic_fetch_add_explicit(&g->s->job->tried, w->count, memory_order_relaxed);
        }
    }
    return SL_OK;
}

/* ---------------------------------------------------------------- the level ----------------- */

/* Adds the uses of all pieces to last[]; list: NULL, or where last[] says they are. */
static void walk_uses(use *list, int32_t *last, const sl_skeletons *s) {
    for (int32_t b = 0; b < s->bases; b++)
        for (int t = 0; t < s->base[b].terms; t++) {
            const sl_search__skeleton_term *term = &s->term[s->base[b].term[t]];
            for (int f = 0; f < term->factors; f++) {
                const int32_t at = last[term->piece[f]]++;
                if (list) list[at] = (use){ b, (int8_t)t, (int8_t)f };
            }
        }
}

/* *list := the uses of pieces one after the other, those of piece i before last[i]. */
static sl_status list_uses(use **list, int32_t *last, const sl_skeletons *s) {
    int32_t sum = 0;
    walk_uses(NULL, last, s);
    for (int32_t i = 0; i < s->pieces; i++) {
        const int32_t n = last[i];
        last[i] = sum;
        sum += n;
    }
    *list = sl_malloc((size_t)SL_MAX(sum, 1), sizeof **list);
    if (!*list) return sl_fail_memory((size_t)sum, sizeof **list, "skeletons");
    walk_uses(*list, last, s);
    return SL_OK;
}

static sl_status new_workspace(workspace **out, sl_skeletons *s) {
    workspace *w = *out = sl_malloc_aligned(1, sizeof *w);
    if (!w) return sl_fail_memory(1, sizeof *w, "variants");
    w->s = s;
    w->d.s = s;
    w->d.plain = false;
    w->scratch = (sl_arena){ 0 };
    set_inputs(w);
    return SL_OK;
}

static void free_workspace(workspace *w) {
    if (w) sl_arena_clear(&w->scratch);
    sl_free(w);
}

sl_status sl_search__skeleton_screen_two(bool *done, sl_skeletons *s) {
    const int workers = sl_par_pool_threads(s->job->pool);
    const int64_t uses = (int64_t)s->bases * SL_SKELETON__TERMS; // most have fewer
    const int64_t bytes = workers * (int64_t)sizeof(workspace) + uses * (int64_t)sizeof(use);
    *done = sl_search__reserve(s->job, bytes);
    if (!*done) return SL_OK;
    use *list = NULL;
    int32_t *last = sl_calloc((size_t)SL_MAX(s->pieces, 1), sizeof *last);
    workspace **w = sl_calloc((size_t)workers, sizeof *w);
    sl_status st = last && w ? SL_OK : sl_fail_memory((size_t)s->pieces, sizeof *last, "skeletons");
    if (st == SL_OK) st = list_uses(&list, last, s);
    for (int i = 0; i < workers && st == SL_OK; i++) st = new_workspace(&w[i], s);
    screening g = { s, list, last, w };
    if (st == SL_OK) st = sl_par_for(s->job->pool, s->pieces, 1, screen_pieces, &g);
    for (int i = 0; i < workers && w; i++) free_workspace(w[i]);
    sl_free(w);
    sl_free(last);
    sl_free(list);
    sl_search__release(s->job, bytes);
    return st;
}

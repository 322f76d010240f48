/* lattice - the grammar of pairs with integer constants, by meeting in the middle.
 *
 * An expression of depth 3 is two halves of depth 2 and an operator; a half is two inner
 * expressions of depth 1 and an operator, or a function of one. Each constant multiplies the number
 * of halves by about 20, so every constant that can be is left free:
 *
 *   sums       y = a f + b g + c: f and g are equal modulo span{1, y}, up to a factor. Six
 *              probes, less two for the span, less one for the factor, leave three ratios: the key.
 *              Two halves with one key are a formula, for any a, b and c. Halves are stored and
 *              compared in one pass; none is looked up twice.
 *   products   y = f (a g + c), its inverse and both quotients: halves g are stored by ratios of
 *              differences, which a and c do not change; y f, y / f, f / y and 1 / (y f) are looked
 *              up.
 *
 * So halves are enumerated up to a factor and a summand (sums, and what is stored) or up to a
 * factor (what is looked up by products). Level n has the halves with n further constants: up to
 * SL_LATTICE__STORED they are stored, above it only looked up: as f, and as g among what y asks of
 * g beside each f of few constants, which is stored for that (the table `targets`; where y is
 * exact). A level is always finished; its formulas of fewest constants are offered. Forms beyond
 * two halves have files of their own: three factors and more terms (lattice_terms.c), functions of
 * halves (lattice_inverse.c), two quotients (lattice_peel.c), sums of many terms (skeleton.c).
 *
 * Data with few digits: keys are directions instead of ratios, cells are as wide as the rounding of
 * y, and all cells within its reach are looked up. Coefficients become exact numbers one at a time
 * (lattice_snap.c), and sums of terms of different sizes are found by least squares
 * (lattice_sums.c). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "num/num.h"
#include "search/lattice_impl.h"

enum { OFFERS = 12, FORMS = 4 };

/* ---------------------------------------------------------------- rows ---------------------- */

/* Probes of moderate |y|, far apart in every column. */
static void choose_probes(int *row, const sl_dataset *p) {
    enum { CANDIDATES = 24 };
    int rows = (int)p->rows, order[400] = { 0 };
    double size[400], sorted[400];
    for (int i = 0; i < rows; i++) sorted[i] = fabs(p->y[i]);
    sl_num_sort(sorted, rows);
    double middle = sorted[rows * 2 / 5];
    if (middle == 0) middle = sorted[rows - 1];
    for (int i = 0; i < rows; i++) {
        size[i] = fabs(log((fabs(p->y[i]) + 1e-300) / middle));
        int at = i;
        for (; at > 0 && size[order[at - 1]] > size[i]; at--) order[at] = order[at - 1];
        order[at] = i;
    }
    int candidates = SL_MIN(SL_MAX(CANDIDATES, rows * 3 / 8), rows), n = 0;
    row[n++] = order[0];
    while (n < SL_MIN(SL_LATTICE__CHOSEN, rows)) {
        double most = -1;
        int best = order[n];
        for (int k = 0; k < candidates; k++) {
            double apart = INFINITY;
            for (int c = 0; c < n; c++) {
                double least = INFINITY, sum = 0;
                for (int v = 0; v < p->inputs; v++) {
                    double d = fabs(p->x[v][order[k]] - p->x[v][row[c]]);
                    least = SL_MIN(least, d), sum += d;
                }
                apart = SL_MIN(apart, least + 0.1 * sum);
            }
            if (apart > most) most = apart, best = order[k];
        }
        row[n++] = best;
    }
}

/* The second probe is the one whose y differs most from the first's: p[i] divides by that. */
static void order_probes(int *row, const double *y) {
    int far = 1;
    for (int k = 2; k < SL_LATTICE__PROBES; k++)
        if (fabs(y[row[k]] - y[row[0]]) > fabs(y[row[far]] - y[row[0]])) far = k;
    int second = row[1];
    row[1] = row[far], row[far] = second;
}

static sl_status choose_rows(sl_lattice *l) {
    const sl_dataset *p = &l->job->rows;
    bool taken[400] = { false };
    choose_probes(l->row, p);
    order_probes(l->row, p->y);
    int n = SL_MIN(SL_LATTICE__CHOSEN, (int)p->rows);
    for (int k = 0; k < n; k++) taken[l->row[k]] = true;
    for (int i = 0; i < p->rows && n < SL_LATTICE__ROWS; i++)
        if (!taken[i]) l->row[n++] = i;
    l->rows = n;
    for (int v = 0; v <= l->variables; v++) {
        double *column = sl_arena_alloc(&l->job->arena, (size_t)n * sizeof *column);
        if (!column) return sl_fail_memory((size_t)n, sizeof *column, "the lattice search");
        const double *from = v < l->variables ? p->x[v] : p->y;
        for (int r = 0; r < n; r++) column[r] = from[l->row[r]];
        if (v < l->variables)
            l->x[v] = column;
        else
            l->y = column;
    }
    l->smallest = INFINITY;
    for (int r = 0; r < n; r++)
        if (l->y[r] != 0) l->smallest = SL_MIN(l->smallest, fabs(l->y[r]));
    for (int k = 0; k < SL_LATTICE__PROBES; k++) {
        l->y_probe[k] = l->y[k];
        l->project[k] = (l->y[k] - l->y[0]) / (l->y[1] - l->y[0]);
    }
    return SL_OK;
}

double sl_search__lattice_error_at(const sl_lattice *l, int row) {
    double part = fabs((l->y[row] - l->y[0]) / (l->y[1] - l->y[0]));
    return l->rounding[row] + l->rounding[0] + part * (l->rounding[1] + l->rounding[0]);
}

/* Half a unit of the last digit of y by row, where digits are few; then cells are several roundings
 * of y wide. */
static sl_status set_precision(sl_lattice *l) {
    const sl_dataset *p = &l->job->rows;
    sl_digits digits = sl_search__digits(p->y, p->rows);
    l->shift = SL_LATTICE__SHIFT_EXACT;
    l->rounding = sl_arena_alloc(&l->job->arena, (size_t)l->rows * sizeof *l->rounding);
    if (!l->rounding) return sl_fail_memory((size_t)l->rows, sizeof(double), "the lattice search");
    double typical = 0;
    l->least_rounding = INFINITY;
    for (int r = 0; r < l->rows; r++) {
        l->rounding[r] = 0.5 * sl_search__last_unit(digits, l->y[r]);
        if (l->rounding[r] > 0) l->least_rounding = SL_MIN(l->least_rounding, l->rounding[r]);
        double part = l->y[r] != 0 ? l->rounding[r] / fabs(l->y[r]) : 0;
        l->noise = SL_MAX(l->noise, part);
        typical += part / l->rows;
    }
    if (l->noise < 1e-12) l->noise = 0;
    while (l->noise > 0 && ldexp(1, l->shift - 22) < 128 * typical && l->shift < 14) l->shift++;
    double step = fabs(l->y[1] - l->y[0]);
    for (int k = 0; k < SL_LATTICE__PROBES; k++) {
        l->error[k] = l->rounding[k] / fabs(l->y[k]);
        l->project_error[k] = sl_search__lattice_error_at(l, k);
        l->flat_project += l->project_error[k] / step;
        if (k < 5) l->flat_affine += 4 * l->error[k]; // the probes of an affine key
    }
    return SL_OK;
}

/* ---------------------------------------------------------------- open and close ------------ */

static void close_lattice(void *state) {
    sl_lattice *l = state;
    if (!l) return;
    sl_search__lattice_set *set[] = { &l->full, &l->scale, &l->shifted, &l->affine };
    for (int i = 0; i < SL_LEN(set); i++)
        sl_search__lattice_free(l, set[i]->slot, (size_t)set[i]->size, sizeof *set[i]->slot);
    for (int i = 0; i < SL_LATTICE__LISTS; i++) {
        sl_search__lattice_list *list = &l->list[i];
        sl_search__lattice_free(l, list->id, (size_t)list->room, sizeof *list->id);
        for (int k = 0; k < SL_LATTICE__PROBES; k++)
            sl_search__lattice_free(l, list->value[k], (size_t)list->value_room[k], sizeof(double));
    }
    sl_search__lattice_free(l, l->inner, (size_t)l->inner_room, sizeof *l->inner);
    sl_search__lattice_free(l, l->atom, (size_t)l->atom_room, sizeof *l->atom);
    sl_search__lattice_free(l, l->ratio, (size_t)l->ratio_room, sizeof *l->ratio);
    sl_search__lattice_table_clear(l, &l->sums);
    sl_search__lattice_table_clear(l, &l->products);
    sl_search__lattice_table_clear(l, &l->scales);
    sl_search__lattice_table_clear(l, &l->targets);
    sl_free(l->factor);
    if (l->hits)
        for (int w = 0; w < sl_par_pool_threads(l->job->pool); w++) sl_free(l->hits[w].hit);
    sl_free(l->hits);
    sl_free(l->scratch);
    sl_free(l);
}

/* Does the grammar apply to these data? */
static bool applies(const sl_search__job *j) {
    const sl_search_grammar *g = j->o->grammar;
    return g && j->rows.inputs >= 1 && j->rows.inputs <= SL_UNIVERSE_MAX_VARS &&
           j->rows.inputs <= g->variables && j->rows.rows > SL_LATTICE__PROBES + 1;
}

static sl_status open_lattice(void **state, sl_search__job *j) {
    *state = NULL;
    if (!applies(j)) return SL_OK;
    sl_status st;
    sl_lattice *l = sl_calloc(1, sizeof *l);
    if (!l) return sl_fail_memory(1, sizeof *l, "the lattice search");
    l->job = j;
    l->kernels = sl_search__lattice_kernels_at(sl_cpu());
    l->grammar = *j->o->grammar;
    l->variables = j->rows.inputs;
    int workers = sl_par_pool_threads(j->pool);
    l->hits = sl_calloc((size_t)workers, sizeof *l->hits);
    l->scratch = sl_malloc_aligned((size_t)workers, sizeof(sl_search__lattice_scratch));
    if (!l->hits || !l->scratch) {
        st = sl_fail_memory((size_t)workers, sizeof(sl_search__lattice_scratch),
                            "the lattice search");
        goto done;
    }
    SL_GO(choose_rows(l));
    SL_GO(set_precision(l));
    SL_GO(sl_search__lattice_atoms(l));
    *state = l;
    return SL_OK;
done:
    close_lattice(l);
    return st;
}

/* ---------------------------------------------------------------- a level ------------------- */

static int cmp_hit(const void *a, const void *b) {
    const sl_search__lattice_hit *p = a, *q = b;
    if (p->good != q->good) return p->good ? -1 : 1;
    if (p->good && p->sure != q->sure) return p->sure ? -1 : 1;
    if (p->price != q->price) return p->price < q->price ? -1 : 1;
    if (p->form != q->form) return p->form < q->form ? -1 : 1;
    if (p->f != q->f) return p->f < q->f ? -1 : 1;
    if (p->g != q->g) return p->g < q->g ? -1 : 1;
    if (p->peeled != q->peeled) return p->peeled < q->peeled ? -1 : 1;
    if (p->beside != q->beside) return p->beside < q->beside ? -1 : 1;
    for (int i = 0; i < SL_LATTICE__OTHERS; i++)
        if (p->others[i] != q->others[i]) return p->others[i] < q->others[i] ? -1 : 1;
    return 0;
}

typedef struct checking {
    sl_lattice *l;
    sl_search__lattice_hits all;
} checking;

static sl_status check_part(int64_t begin, int64_t end, int worker, void *payload) {
    checking *c = payload;
    sl_arena scratch = { 0 };
    sl_status st = SL_OK;
    for (int64_t i = begin; i < end && st == SL_OK; i++) {
        if (sl_search__stop(c->l->job, worker == 0)) break;
        st = sl_search__lattice_check(&c->all.hit[i], &scratch, c->l);
    }
    sl_arena_clear(&scratch);
    return st;
}

/* g := the table's final entry under the key, which does not depend on the order of threads. Where
 * that is f or equal to it, the other half is the one recorded in the hit. */
static void find_partner(sl_lattice *l, sl_search__lattice_hit *h) {
    if (h->form != SL_LATTICE__FORM_SUM || l->noise > 0) return;
    uint64_t word = sl_search__lattice_table_get(&l->sums, h->key);
    uint16_t tag = (uint16_t)word;
    if (tag == h->tag_f) h->f = h->g, h->tag_f = h->tag_g;
    h->g = word >> 16, h->tag_g = tag;
}

static sl_status gather_hits(checking *c) {
    sl_lattice *l = c->l;
    int64_t n = 0;
    for (int w = 0; w < sl_par_pool_threads(l->job->pool); w++) n += l->hits[w].count;
    if (n == 0) return SL_OK;
    c->all.hit = sl_malloc((size_t)n, sizeof *c->all.hit);
    if (!c->all.hit) return sl_fail_memory((size_t)n, sizeof *c->all.hit, "the hits of a search");
    for (int w = 0; w < sl_par_pool_threads(l->job->pool); w++) {
        if (l->hits[w].count)
            memcpy(c->all.hit + c->all.count, l->hits[w].hit,
                   (size_t)l->hits[w].count * sizeof *c->all.hit);
        c->all.count += l->hits[w].count;
        l->hits[w].count = 0;
    }
    for (int64_t i = 0; i < n; i++) find_partner(l, &c->all.hit[i]);
    return sl_par_for(l->job->pool, n, 64, check_part, c);
}

static sl_status offer_best(checking *c, int level) {
    sl_lattice *l = c->l;
    sl_arena a = { 0 };
    sl_status st = SL_OK;
    const double precision = l->job->precision;
    l->job->precision = SL_MAX(precision, l->noise); // exact means: up to rounding
    if (c->all.count) qsort(c->all.hit, (size_t)c->all.count, sizeof *c->all.hit, cmp_hit);
    for (int64_t i = 0, offers = 0; i < c->all.count && c->all.hit[i].good; i++) {
        const sl_search__lattice_hit *h = &c->all.hit[i];
        if (i > 0 && cmp_hit(h, h - 1) == 0) continue;
        if (offers++ == OFFERS) break;
        const sl_node *e;
        double value[SL_LATTICE__COLUMNS];
        int params;
        bool kept;
        SL_GO(sl_search__lattice_expr(&e, value, &params, &a, l, h));
        if (h->sure)
            SL_GO(
                sl_search__offer(&kept, l->job, e, value, params, sl_search__lattice.name, level));
        else if (!l->job->o->exact_only)
            SL_GO(sl_search__offer_noisy(&kept, l->job, e, value, params, sl_search__lattice.name,
                                         level));
    }
done:
    l->job->precision = precision;
    sl_arena_clear(&a);
    return st;
}

static sl_status verify_hits(sl_lattice *l, int level) {
    checking c = { .l = l };
    sl_status st = gather_hits(&c);
    if (st == SL_OK) st = offer_best(&c, level);
    sl_free(c.all.hit);
    return st;
}

/* Room for further halves in a table. */
static sl_status make_room(bool *done, sl_lattice *l, sl_search__lattice_table *t, int64_t halves) {
    SL_TRY(sl_search__lattice_table_grow(done, l, t, t->count + halves));
    if (t->size) sl_search__lattice_table_open(t, l);
    return SL_OK;
}

/* Halves of that many constants: stored where there is room, else looked up. */
static sl_status run_halves(sl_lattice *l, int constants) {
    bool done = false, stored = false;
    SL_TRY(sl_search__lattice_extend(&done, l, constants));
    if (sl_search__stop(l->job, true)) return SL_OK;
    int64_t halves = sl_search__lattice_halves(l, constants, SL_LATTICE__STORE);
    SL_TRY(make_room(&stored, l, &l->sums, halves));
    if (stored) SL_TRY(make_room(&stored, l, &l->products, halves));
    if (!l->sums.size || !l->products.size) return SL_OK;
    if (stored) SL_TRY(sl_search__lattice_walk(l, constants, SL_LATTICE__STORE));
    bool again = stored && l->noise > 0; // sums are not found by the pass that stores the halves
    for (int c = again ? 0 : constants; c <= constants && (!stored || again); c++)
        SL_TRY(sl_search__lattice_walk(l, c, SL_LATTICE__LOOK_SUMS));
    for (int c = stored ? 0 : constants; c <= constants; c++)
        SL_TRY(sl_search__lattice_walk(l, c, SL_LATTICE__LOOK_PRODUCTS));
    return SL_OK;
}

/* Looks up the halves of that many constants; the first kind extends the inner expressions too. */
static sl_status look_up_halves(sl_lattice *l, int constants, sl_search__lattice_pass what) {
    bool done;
    if (!l->sums.size || !l->products.size) return SL_OK;
    if (l->levels == constants) SL_TRY(sl_search__lattice_extend(&done, l, constants));
    if (sl_search__stop(l->job, true)) return SL_OK;
    return sl_search__lattice_walk(l, constants, what);
}

/* Stores what y asks of g beside halves f of up to that many constants, and beside products of
 * three factors without constants. */
static sl_status store_targets(bool *done, sl_lattice *l, int constants) {
    int64_t halves = sl_search__lattice_halves(l, 0, SL_LATTICE__STORE_TRIPLE_TARGETS);
    for (int c = 0; c <= constants; c++)
        halves += sl_search__lattice_halves(l, c, SL_LATTICE__STORE_TARGETS);
    SL_TRY(make_room(done, l, &l->targets, FORMS * halves));
    if (!*done) return SL_OK;
    for (int c = 0; c <= constants; c++)
        SL_TRY(sl_search__lattice_walk(l, c, SL_LATTICE__STORE_TARGETS));
    return sl_search__lattice_walk(l, 0, SL_LATTICE__STORE_TRIPLE_TARGETS);
}

/* Halves g of that many constants, for sums and for y = f (a g + c) and its like: f has fewer
 * constants here, and is in the table. */
static sl_status look_up_all(sl_lattice *l, int constants, int stored) {
    bool done = false;
    if (l->noise == 0 && l->products.size) SL_TRY(store_targets(&done, l, stored));
    SL_TRY(look_up_halves(l, constants, done ? SL_LATTICE__LOOK_ALL : SL_LATTICE__LOOK_SUMS));
    sl_search__lattice_table_clear(l, &l->targets);
    return SL_OK;
}

/* Products of three factors. */
static sl_status run_triples(sl_lattice *l, int constants) {
    bool stored = false;
    SL_TRY(sl_search__lattice_factors(l, constants));
    if (constants < SL_LATTICE__STORED) {
        SL_TRY(make_room(&stored, l, &l->sums,
                         sl_search__lattice_halves(l, constants, SL_LATTICE__STORE_TRIPLES)));
    }
    if (!l->sums.size) return SL_OK;
    if (stored) SL_TRY(sl_search__lattice_walk(l, constants, SL_LATTICE__STORE_TRIPLES));
    if (stored && l->noise == 0) return SL_OK;
    return sl_search__lattice_walk(l, constants, SL_LATTICE__LOOK_TRIPLES);
}

/* ---------------------------------------------------------------- the list of levels -------- */

/* PRODUCTS, SUMS, TRIPLE_PRODUCTS and ALL look up what is not stored. PEEL: near is for terms with
 * factor 1. */
typedef enum kind {
    HALVES,
    TRIPLES,
    TERMS,
    PRODUCTS,
    TRIPLE_PRODUCTS,
    SUMS,
    ALL, // fixed: constants of targets
    PEEL,
    INVERSE,
    SQUARES, // fixed: terms; see sl_search__lattice_sums
} kind;

/* By cost, as far as levels need each other; run.c has the order in which they are run. The last
 * one is run last. Formulas of one level are offered together. */
static const struct stage {
    int level;
    kind kind;
    int constants, fixed;
    bool near; // see sl_search__lattice_terms
} stages[] = {
    { 0, HALVES, 0, 0, false },
    { 0, TRIPLES, 0, 0, false },
    { 1, HALVES, 1, 0, false },
    { 1, TERMS, 0, 1, false },
    { 1, SQUARES, 1, 3, false },
    { 1, SQUARES, 0, 4, false },
    { 1, SQUARES, 0, 5, false },
    { 2, SQUARES, 1, 2, false },
    { 2, TERMS, 1, 1, false },
    { 2, TERMS, 0, 2, false },
    { 2, HALVES, 2, 0, false },
    { 3, TRIPLES, 1, 0, false },
    { 4, TRIPLE_PRODUCTS, 0, 0, false },
    { 4, TRIPLE_PRODUCTS, 1, 0, false },
    { 4, INVERSE, 2, 0, false },
    { 4, TERMS, 1, 0, false },
    { 5, PEEL, 0, 1, true },
    { 5, PEEL, 1, 0, true },
    { 6, TERMS, 1, 2, true },
    { 7, ALL, 3, 1, false },
    { 8, PEEL, 0, 1, false },
    { 8, PEEL, 1, 0, false },
    { 9, TERMS, 2, 1, true },
    { 10, TERMS, 1, 2, false },
    { 11, PRODUCTS, 3, 0, false },
    { 12, PRODUCTS, 4, 0, false },
    { 12, SUMS, 4, 0, false },
};

static sl_status run_stage(sl_lattice *l, const struct stage *s) {
    switch (s->kind) {
    case HALVES: return run_halves(l, s->constants);
    case TRIPLES: return run_triples(l, s->constants);
    case SQUARES: return sl_search__lattice_sums(l, s->fixed, s->constants);
    case INVERSE: return sl_search__lattice_invert(l, s->constants);
    case PEEL:
        return sl_search__lattice_peel(l, s->constants, s->fixed, s->near ? 1 : 2, s->near ? 1 : 9);
    case PRODUCTS: return look_up_halves(l, s->constants, SL_LATTICE__LOOK_PRODUCTS);
    case TRIPLE_PRODUCTS: return look_up_halves(l, s->constants, SL_LATTICE__LOOK_TRIPLE_PRODUCTS);
    case SUMS: return look_up_halves(l, s->constants, SL_LATTICE__LOOK_SUMS);
    case ALL: return look_up_all(l, s->constants, s->fixed);
    default: return sl_search__lattice_terms(l, s->fixed, s->constants, s->near);
    }
}

static sl_status run_level(bool *more, void *state, int level) {
    sl_lattice *l = state;
    *more = false;
    if (!l || !l->atom || !l->ratio) return SL_OK;
    for (int i = 0; i < SL_LEN(stages); i++) {
        if (stages[i].level > level) *more = true;
        if (stages[i].level != level || sl_search__stop(l->job, true)) continue;
        SL_TRY(run_stage(l, &stages[i]));
    }
    return verify_hits(l, level);
}

const sl_search__method sl_search__lattice = { "lattice", open_lattice, run_level, close_lattice };

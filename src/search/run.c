/* run - the steps of a search, cheapest first. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "search/inner_impl.h"
#include "search/noise_impl.h"
#include "search/search_impl.h"
#include "search/spans_impl.h"

/* ---------------------------------------------------------------- the list of steps --------- */

/* Every level of a method comes once. Steps with an effort above the requested one are skipped. */
typedef struct step {
    const sl_search__method *method;
    int level, effort;
} step;

// clang-format off
#define BOTH(level, effort) \
    { &sl_search__spans_products, level, effort }, { &sl_search__spans_sums, level, effort }

#define CLOSURE(level, effort) { &sl_search__closure, level, effort }

#define LATTICE(level, effort) { &sl_search__lattice, level, effort }

#define SKELETON(level, effort) { &sl_search__skeletons, level, effort }

#define QUOTIENTS(level, effort) { &sl_search__quotients, level, effort }

#define NOISE(level, effort) { &sl_search__noise, level, effort }

#define INNER(level, effort) { &sl_search__inner, level, effort }

/* Finds the laws of most tables. */
#define FIRST                                                                      \
    { &sl_search__rational, 0, SL_SEARCH_EFFORT_LOW },                             \
    BOTH(0, SL_SEARCH_EFFORT_LOW), BOTH(1, SL_SEARCH_EFFORT_LOW),                  \
    BOTH(2, SL_SEARCH_EFFORT_LOW), BOTH(3, SL_SEARCH_EFFORT_LOW),                  \
    { &sl_search__rational, 1, SL_SEARCH_EFFORT_LOW },                             \
    { &sl_search__small, 0, SL_SEARCH_EFFORT_LOW }

/* The grammar of pairs: these levels find most of them. */
#define LATTICES LATTICE(0, SL_SEARCH_EFFORT_LOW), LATTICES_NEXT
#define LATTICES_NEXT                                                              \
    LATTICE(1, SL_SEARCH_EFFORT_LOW), QUOTIENTS(0, SL_SEARCH_EFFORT_LOW),          \
    LATTICE(2, SL_SEARCH_EFFORT_LOW)

/* Sums of several terms, by what a level finds in a second. */
#define SKELETONS                                                                  \
    SKELETON(0, SL_SEARCH_EFFORT_LOW), SKELETON(2, SL_SEARCH_EFFORT_LOW),          \
    SKELETON(5, SL_SEARCH_EFFORT_LOW), SKELETON(14, SL_SEARCH_EFFORT_NORMAL),      \
    SKELETON(4, SL_SEARCH_EFFORT_NORMAL), QUOTIENTS(1, SL_SEARCH_EFFORT_NORMAL),   \
    SKELETON(3, SL_SEARCH_EFFORT_NORMAL)

/* More constants inside, in a half or in a term, and real constants, in the same order. */
#define LATE                                                                       \
    CLOSURE(0, SL_SEARCH_EFFORT_LOW), SKELETON(16, SL_SEARCH_EFFORT_NORMAL),       \
    SKELETON(7, SL_SEARCH_EFFORT_NORMAL), SKELETON(10, SL_SEARCH_EFFORT_NORMAL),   \
    SKELETON(8, SL_SEARCH_EFFORT_NORMAL), LATTICE(7, SL_SEARCH_EFFORT_NORMAL),     \
    QUOTIENTS(3, SL_SEARCH_EFFORT_NORMAL), LATTICE(11, SL_SEARCH_EFFORT_NORMAL),   \
    SKELETON(15, SL_SEARCH_EFFORT_NORMAL), SKELETON(6, SL_SEARCH_EFFORT_NORMAL),   \
    SKELETON(12, SL_SEARCH_EFFORT_NORMAL), SKELETON(13, SL_SEARCH_EFFORT_NORMAL),  \
    LATTICE(3, SL_SEARCH_EFFORT_LOW), LATTICE(4, SL_SEARCH_EFFORT_LOW),            \
    QUOTIENTS(2, SL_SEARCH_EFFORT_NORMAL), LATTICE(5, SL_SEARCH_EFFORT_NORMAL),    \
    LATTICE(6, SL_SEARCH_EFFORT_LOW), SKELETON(9, SL_SEARCH_EFFORT_NORMAL),        \
    SKELETON(11, SL_SEARCH_EFFORT_NORMAL), CLOSURE(1, SL_SEARCH_EFFORT_NORMAL),    \
    CLOSURE(2, SL_SEARCH_EFFORT_NORMAL), QUOTIENTS(4, SL_SEARCH_EFFORT_NORMAL)

#define LAST                                                                       \
    LATTICE(8, SL_SEARCH_EFFORT_NORMAL), QUOTIENTS(5, SL_SEARCH_EFFORT_HIGH),      \
    CLOSURE(3, SL_SEARCH_EFFORT_HIGH),                                             \
    BOTH(10, SL_SEARCH_EFFORT_HIGH), BOTH(11, SL_SEARCH_EFFORT_HIGH),              \
    LATTICE(9, SL_SEARCH_EFFORT_HIGH), LATTICE(10, SL_SEARCH_EFFORT_HIGH),         \
    LATTICE(12, SL_SEARCH_EFFORT_HIGH),                                            \
    BOTH(12, SL_SEARCH_EFFORT_HIGH), BOTH(13, SL_SEARCH_EFFORT_HIGH)

/* y of full precision may have been computed, or may be a measurement with random errors: what
 * comes first is the same, then the search under noise has a formula or none (see after_first). */
#define FULL_PRECISION                                                             \
    FIRST, LATTICES, SKELETON(1, SL_SEARCH_EFFORT_LOW),                            \
    BOTH(4, SL_SEARCH_EFFORT_LOW), BOTH(5, SL_SEARCH_EFFORT_LOW),                  \
    BOTH(6, SL_SEARCH_EFFORT_LOW), BOTH(7, SL_SEARCH_EFFORT_LOW), SKELETONS,       \
    BOTH(8, SL_SEARCH_EFFORT_NORMAL),                                              \
    NOISE(0, SL_SEARCH_EFFORT_LOW), NOISE(1, SL_SEARCH_EFFORT_LOW),                \
    INNER(0, SL_SEARCH_EFFORT_LOW)
#define FULL_PRECISION_LAST                                                        \
    INNER(1, SL_SEARCH_EFFORT_NORMAL),                                             \
    NOISE(3, SL_SEARCH_EFFORT_NORMAL), BOTH(9, SL_SEARCH_EFFORT_NORMAL), LAST

static const step steps_exact[] = {
    FULL_PRECISION, LATE, NOISE(2, SL_SEARCH_EFFORT_LOW), FULL_PRECISION_LAST,
};

static const step steps_noisy[] = {
    FULL_PRECISION, NOISE(2, SL_SEARCH_EFFORT_LOW), LATE, FULL_PRECISION_LAST,
};

/* y of few digits, or with errors of known size. */
static const step steps_measured[] = {
    FIRST,
    NOISE(0, SL_SEARCH_EFFORT_LOW), INNER(0, SL_SEARCH_EFFORT_LOW),
    NOISE(1, SL_SEARCH_EFFORT_LOW), NOISE(2, SL_SEARCH_EFFORT_LOW),
    LATTICES, SKELETON(1, SL_SEARCH_EFFORT_LOW), SKELETONS,
    BOTH(4, SL_SEARCH_EFFORT_LOW),
    BOTH(5, SL_SEARCH_EFFORT_LOW), NOISE(3, SL_SEARCH_EFFORT_NORMAL),
    INNER(1, SL_SEARCH_EFFORT_NORMAL), BOTH(6, SL_SEARCH_EFFORT_LOW), LATE,
    BOTH(7, SL_SEARCH_EFFORT_LOW),
    BOTH(8, SL_SEARCH_EFFORT_NORMAL), BOTH(9, SL_SEARCH_EFFORT_NORMAL), LAST,
};

/* y rounded to DIGITS_COMPUTED digits or more, most likely after it was computed, where a grammar
 * is given: levels of the lattice of moderate cost come before the expensive ones under noise.
 * Skeletons have other levels then. */
static const step steps_rounded[] = {
    FIRST,
    NOISE(0, SL_SEARCH_EFFORT_LOW), LATTICE(0, SL_SEARCH_EFFORT_LOW),
    INNER(0, SL_SEARCH_EFFORT_LOW), NOISE(1, SL_SEARCH_EFFORT_LOW), LATTICES_NEXT,
    SKELETON(0, SL_SEARCH_EFFORT_LOW), SKELETON(1, SL_SEARCH_EFFORT_LOW),
    SKELETON(2, SL_SEARCH_EFFORT_LOW), SKELETON(3, SL_SEARCH_EFFORT_NORMAL),
    QUOTIENTS(1, SL_SEARCH_EFFORT_NORMAL), SKELETON(4, SL_SEARCH_EFFORT_NORMAL),
    SKELETON(5, SL_SEARCH_EFFORT_LOW), LATTICE(3, SL_SEARCH_EFFORT_LOW),
    LATTICE(4, SL_SEARCH_EFFORT_LOW), CLOSURE(0, SL_SEARCH_EFFORT_LOW),
    QUOTIENTS(2, SL_SEARCH_EFFORT_NORMAL), SKELETON(6, SL_SEARCH_EFFORT_NORMAL),
    SKELETON(7, SL_SEARCH_EFFORT_NORMAL), BOTH(4, SL_SEARCH_EFFORT_LOW),
    BOTH(5, SL_SEARCH_EFFORT_LOW), QUOTIENTS(3, SL_SEARCH_EFFORT_NORMAL),
    CLOSURE(1, SL_SEARCH_EFFORT_NORMAL), CLOSURE(2, SL_SEARCH_EFFORT_NORMAL),
    QUOTIENTS(4, SL_SEARCH_EFFORT_NORMAL), LATTICE(5, SL_SEARCH_EFFORT_NORMAL),
    BOTH(6, SL_SEARCH_EFFORT_LOW), NOISE(2, SL_SEARCH_EFFORT_LOW),
    INNER(1, SL_SEARCH_EFFORT_NORMAL), BOTH(7, SL_SEARCH_EFFORT_LOW),
    BOTH(8, SL_SEARCH_EFFORT_NORMAL), SKELETON(8, SL_SEARCH_EFFORT_NORMAL),
    SKELETON(9, SL_SEARCH_EFFORT_NORMAL), SKELETON(10, SL_SEARCH_EFFORT_NORMAL),
    SKELETON(11, SL_SEARCH_EFFORT_NORMAL), SKELETON(12, SL_SEARCH_EFFORT_NORMAL),
    SKELETON(13, SL_SEARCH_EFFORT_NORMAL), SKELETON(14, SL_SEARCH_EFFORT_NORMAL),
    SKELETON(15, SL_SEARCH_EFFORT_NORMAL), SKELETON(16, SL_SEARCH_EFFORT_NORMAL),
    NOISE(3, SL_SEARCH_EFFORT_NORMAL), BOTH(9, SL_SEARCH_EFFORT_NORMAL),
    LATTICE(6, SL_SEARCH_EFFORT_LOW), LATTICE(7, SL_SEARCH_EFFORT_NORMAL),
    LATTICE(11, SL_SEARCH_EFFORT_NORMAL), LAST,
};
// clang-format on

enum { STEPS = SL_LEN(steps_exact), METHODS_MAX = 16, DIGITS_COMPUTED = 5, ROWS_COMPUTED = 48 };
_Static_assert(SL_LEN(steps_noisy) == STEPS, "all orders have the same steps");
_Static_assert(SL_LEN(steps_measured) == STEPS, "all orders have the same steps");
_Static_assert(SL_LEN(steps_rounded) == STEPS, "all orders have the same steps");

/* Has y at least DIGITS_COMPUTED digits on average? */
static bool is_computed(const sl_search__job *j) {
    double digits = 0;
    int64_t n = 0;
    for (int64_t i = 0; i < j->all->rows; i++) {
        const double y = fabs(j->all->y[i]), unit = sl_search__last_unit(j->digits, y);
        if (y > 0 && unit > 0) digits += log10(y / unit), n++;
    }
    return digits >= (DIGITS_COMPUTED - 1) * (double)n;
}

static const step *steps_of(const sl_search__job *j) {
    bool known = j->o->sigma > 0 || j->all->sigma;
    if (known) return steps_measured;
    if (j->digits.kind == SL_DIGITS_FULL) return steps_exact;
    return is_computed(j) && j->o->grammar ? steps_rounded : steps_measured;
}

/* ---------------------------------------------------------------- stopping ------------------ */

static const double LOOK_SECONDS = 0.01;

void sl_search__end(sl_search__job *j, sl_search_end how) {
    int running = SL_SEARCH__RUNNING;
    atomic_compare_exchange_strong(&j->ended, &running, (int)how);
}

static bool ended(sl_search__job *j) {
    return atomic_load_explicit(&j->ended, memory_order_relaxed) != SL_SEARCH__RUNNING;
}

/* The kept formula of fewest bits; NULL: none is kept. */
static const sl_search_formula *best_of(const sl_search__job *j) {
    const sl_search_formula *best = NULL;
    for (int i = 0; i < j->n_kept; i++)
        if (!best || j->kept[i].bits.total < best->bits.total) best = &j->kept[i];
    return best;
}

bool sl_search__stop(sl_search__job *j, bool report) {
    if (ended(j)) return true;
    if (!report) return false;
    double now = sl_clock();
    if (sl_deadline_passed(j->o->deadline, now)) sl_search__end(j, SL_SEARCH_TIME);
    if (ended(j) || now < j->next_look || !j->o->progress) return ended(j);
    j->next_look = now + LOOK_SECONDS;
    j->progress.tried = atomic_load(&j->tried);
    j->progress.best = best_of(j);
    j->progress.found = j->kept;
    j->progress.n_found = j->n_kept;
    if (j->o->progress(&j->progress, j->o->payload) != 0) sl_search__end(j, SL_SEARCH_CANCEL);
    return ended(j);
}

/* Records that this step needed more bytes than were allowed. */
static void note_short(sl_search__job *j, int64_t needed) {
    sl_search_short *s = &j->result->memory_short;
    if (s->steps == 0) s->method = j->progress.what, s->level = j->progress.level;
    if (s->steps == 0 || j->short_step != j->progress.step) s->steps++;
    j->short_step = j->progress.step;
    s->needed = SL_MAX(s->needed, needed);
}

bool sl_search__reserve(sl_search__job *j, int64_t bytes) {
    if (bytes > j->o->max_memory - j->memory) {
        note_short(j, j->memory + bytes);
        return false;
    }
    j->memory += bytes;
    j->result->memory = SL_MAX(j->result->memory, j->memory);
    return true;
}

void sl_search__release(sl_search__job *j, int64_t bytes) { j->memory -= bytes; }

/* ---------------------------------------------------------------- steps --------------------- */

/* A method of some step: opened at its first step, done when it has no further level. */
typedef struct running {
    const sl_search__method *method;
    void *state;
    bool more;
} running;

typedef struct methods {
    running list[METHODS_MAX];
    int n;
} methods;

static sl_status find_method(running **out, methods *m, sl_search__job *j,
                             const sl_search__method *method) {
    for (int i = 0; i < m->n; i++) {
        *out = &m->list[i];
        if (m->list[i].method == method) return SL_OK;
    }
    SL_ASSERT(m->n < METHODS_MAX);
    running *r = &m->list[m->n];
    *r = (running){ method, NULL, true };
    SL_TRY(method->open(&r->state, j));
    m->n++;
    *out = r;
    return SL_OK;
}

static sl_status run_step(sl_search__job *j, methods *m, const step *s) {
    running *r;
    SL_TRY(find_method(&r, m, j, s->method));
    if (r->more) SL_TRY(s->method->level(&r->more, r->state, s->level));
    return SL_OK;
}

/* A step that is run even after an exact formula above the size limit: it may find the same law in
 * a shorter form. */
static bool is_early(const step *s) {
    const bool spans =
        s->method == &sl_search__spans_products || s->method == &sl_search__spans_sums;
    return s->method == &sl_search__rational || (spans && s->level <= 3);
}

/* Hints are terms of the store, so methods without a store find nothing new. By level 6 all parts
 * of hints have been combined with terms of that cost; higher levels repeat the search without
 * hints. */
static bool uses_hints(const step *s) {
    enum { SPANS = 6, NOISE = 2 };
    const bool spans =
        s->method == &sl_search__spans_products || s->method == &sl_search__spans_sums;
    if (spans) return s->level <= SPANS;
    return s->method == &sl_search__small || (s->method == &sl_search__noise && s->level <= NOISE);
}

/* Above the effort, or without use: `small` serves a size limit only, and after an exact formula
 * above that limit only approximations remain, for which low levels suffice. */
static bool is_left_out(const sl_search__job *j, const step *s) {
    const bool small = s->method == &sl_search__small;
    const bool approximates = small || (s->method == &sl_search__noise && s->level <= 1);
    if (s->effort > j->o->effort || (small && j->o->max_size == 0)) return true;
    if (j->o->n_hints > 0 && !uses_hints(s)) return true;
    return j->result->too_large > 0 && !approximates && !is_early(s);
}

/* The steps to go on with after step i: a formula that leaves nothing but noise means that y has
 * errors, and then the search under noise comes first. */
static sl_status after_first(const step **steps, const sl_search__job *j, int i) {
    static const double LIKELY = 0.2; // an approximation by chance seldom looks so much like noise
    static const step first[] = { FULL_PRECISION };
    const sl_search_formula *best = best_of(j);
    if (*steps != steps_exact || i != SL_LEN(first) - 1 || !best) return SL_OK;
    double sigma;
    bool noise;
    SL_TRY(sl_search__judge_noise(&sigma, &noise, j, best, LIKELY));
    if (noise) *steps = steps_noisy;
    return SL_OK;
}

/* Is the level of a step one of as many as its method has steps, and that step its only one? A
 * level missing from a list would never run. */
static bool is_listed_once(const step *steps, int i) {
    int levels = 0, same = 0;
    for (int k = 0; k < STEPS; k++) {
        if (steps[k].method != steps[i].method) continue;
        levels++;
        same += steps[k].level == steps[i].level;
    }
    return steps[i].level < levels && same == 1;
}

static sl_status run_steps(sl_search__job *j) {
    methods m = { .n = 0 };
    sl_status st = SL_OK;
    const step *steps = steps_of(j);
    // few rows have no formula of many constants
    j->computed = steps == steps_rounded && j->rows.rows >= ROWS_COMPUTED &&
                  j->rows.inputs <= j->o->grammar->variables;
    j->progress.steps = STEPS;
    // without inputs that vary nothing explains y
    for (int i = 0; i < STEPS && st == SL_OK && j->rows.inputs > 0; i++) {
        SL_ASSERT(is_listed_once(steps, i));
        if (is_left_out(j, &steps[i])) continue;
        j->progress.step = i;
        j->progress.what = steps[i].method->name;
        j->progress.level = steps[i].level;
        j->next_look = 0; // every step is reported
        if (sl_search__stop(j, true)) break;
        st = run_step(j, &m, &steps[i]);
        if (st == SL_OK && !ended(j)) j->result->steps++;
        if (st == SL_OK) st = after_first(&steps, j, i);
        if (j->exact > 0) sl_search__end(j, SL_SEARCH_FOUND);
    }
    for (int i = m.n - 1; i >= 0; i--) m.list[i].method->close(m.list[i].state);
    return st;
}

/* ---------------------------------------------------------------- the result ---------------- */

static int cmp_formula(const void *a, const void *b) {
    const sl_search_formula *p = a, *q = b;
    if (p->bits.total != q->bits.total) return p->bits.total < q->bits.total ? -1 : 1;
    return sl_expr_cmp(p->fit.expr, q->fit.expr);
}

/* Marks the formulas on the front: none of fewer or equal bits leaves less. */
static void mark_front(sl_search_formula *f, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        f[i].front = true;
        for (int64_t k = 0; k < n && f[i].front; k++) {
            double mine = f[i].bits.total - f[i].bits.data, its = f[k].bits.total - f[k].bits.data;
            bool same = f[k].bits.data == f[i].bits.data;
            bool better = f[k].bits.data < f[i].bits.data || (same && k < i);
            if (k != i && its <= mine && better) f[i].front = false;
        }
    }
}

sl_status sl_search__finish(sl_search__job *j) {
    sl_search_result *r = j->result;
    size_t bytes = (size_t)SL_MAX(j->n_kept, 1) * sizeof *r->formula;
    r->formula = sl_arena_alloc(&r->arena, bytes);
    if (!r->formula) return sl_fail_memory(1, bytes, "the formulas of a search");
    if (j->n_kept) memcpy(r->formula, j->kept, (size_t)j->n_kept * sizeof *r->formula);
    r->count = j->n_kept;
    if (j->n_kept) qsort(r->formula, (size_t)j->n_kept, sizeof *r->formula, cmp_formula);
    mark_front(r->formula, r->count);
    if (r->count)
        SL_TRY(sl_search__judge_noise(&r->sigma, &r->within_noise, j, &r->formula[0],
                                      SL_SEARCH__NOISE_PROBABILITY));
    r->relative = r->count && r->formula[0].bits.relative > 0;
    int how = atomic_load(&j->ended);
    if (how == SL_SEARCH__RUNNING)
        how = r->memory_short.steps > 0 ? SL_SEARCH_MEMORY : SL_SEARCH_DONE;
    if (j->exact > 0 && how != SL_SEARCH_CANCEL) how = SL_SEARCH_FOUND;
    if (j->exact > 0) r->too_large = 0;
    r->end = (sl_search_end)how;
    r->tried = atomic_load(&j->tried);
    r->verified = j->verified;
    r->seconds = sl_clock() - j->start;
    return SL_OK;
}

void sl_search_result_free(sl_search_result *r) {
    if (!r) return;
    sl_arena_clear(&r->arena);
    sl_free(r);
}

sl_status sl_search_run(sl_search_result **out, sl_pool *pool, const sl_dataset *p,
                        const sl_search_options *o) {
    if (p->rows < 3)
        return sl_fail(SL_EINVAL, "%lld rows: a search needs at least 3", (long long)p->rows);
    sl_status st;
    sl_search__job j = {
        .all = p, .o = o, .pool = pool, .start = sl_clock(), .precision = 0x1p-52
    };
    atomic_store(&j.ended, SL_SEARCH__RUNNING);
    j.result = sl_calloc(1, sizeof *j.result);
    if (!j.result) return sl_fail_memory(1, sizeof *j.result, "the result of a search");
    SL_GO(sl_search__prepare(&j));
    SL_GO(run_steps(&j));
    st = sl_search__finish(&j);
done:
    sl_free(j.kept);
    sl_arena_clear(&j.arena);
    if (st != SL_OK) sl_search_result_free(j.result), j.result = NULL;
    *out = j.result;
    return st;
}

/* skeleton_alike - a constant inside a function, the same wherever the function occurs.
 *
 * x1 sin(8 x2 - 1)/(x1 + 6 x2) - x2 sin(8 x2)/(x1 + x2) has two factors with a constant inside, and
 * levels that change one of them miss it. Here a function is replaced by a variant in all factors,
 * and the skeletons that have it more than once are tested as if there were no constant in it
 * (skeleton_space.c). Squares of it, as products of divisors have them, need no rule of their own.
 */
#include <string.h>

#include "search/skeleton_impl.h"

typedef sl_search__skeleton_alike alike;
typedef sl_search__skeleton_cleared cleared;
typedef sl_search__skeleton_clear_hit hit;
typedef sl_search__skeleton_extent extent;

enum { WHOLE = 4, OPERANDS = 64 };

/* ---------------------------------------------------------------- the function replaced ----- */

static bool contains(const sl_node *e, const sl_node *u) {
    for (const sl_node *at = e; at < e + e->len; at += sl_expr_step(at))
        if (sl_expr_equal(at, u)) return true;
    return false;
}

/* e with `new` in the place of `old`; NULL: no memory. */
static const sl_node *replace(sl_arena *a, const sl_node *e, const sl_node *old,
                              const sl_node *new) {
    const sl_node *operand[OPERANDS];
    int n = 0;
    if (sl_expr_equal(e, old)) return new;
    if (!contains(e, old)) return e;
    if (e->op != SL_OP_ADD && e->op != SL_OP_MUL) {
        const sl_node *inner = replace(a, e + 1, old, new);
        if (!inner) return NULL;
        return e->op == SL_OP_POW ? sl_expr_pow(a, inner, sl_expr_num_value(sl_expr_next(e + 1)))
                                  : sl_expr_fn(a, (sl_op)e->op, inner);
    }
    for (const sl_node *at = e + 1; at < e + e->len && n < OPERANDS; at = sl_expr_next(at))
        if (!(operand[n++] = replace(a, at, old, new))) return NULL;
    return sl_expr_nary(a, (sl_op)e->op, operand, n);
}

sl_status sl_search__skeleton_alike_begin(alike *k, const sl_skeletons *s) {
    const size_t nodes = (size_t)s->nodes, pieces = (size_t)s->pieces;
    *k = (alike){ .from = s, .s = *s };
    k->s.arena = k->s.scratch = (sl_arena){ 0 };
    k->s.node = sl_malloc(nodes, sizeof *k->s.node);
    k->s.piece = sl_malloc(pieces, sizeof *k->s.piece);
    if (!k->s.node || !k->s.piece) return sl_fail_memory(pieces, sizeof *k->s.piece, "skeletons");
    memcpy(k->s.node, s->node, nodes * sizeof *k->s.node);
    memcpy(k->s.piece, s->piece, pieces * sizeof *k->s.piece);
    return SL_OK;
}

void sl_search__skeleton_alike_end(alike *k) {
    sl_free(k->s.node);
    sl_free(k->s.piece);
    sl_arena_clear(&k->s.arena);
    sl_arena_clear(&k->s.scratch);
}

/* As they were. */
static void restore(alike *k) {
    for (int32_t i = 0; i < k->s.pieces; i++) {
        const int node = k->s.piece[i].factor.node;
        if (k->s.node[node] != k->from->node[node]) k->s.piece[i] = k->from->piece[i];
    }
    memcpy(k->s.node, k->from->node, (size_t)k->s.nodes * sizeof *k->s.node);
    sl_arena_rewind(&k->s.arena, 0);
}

sl_status sl_search__skeleton_alike_set(alike *k, int32_t function, int32_t variant) {
    const sl_search__skeleton_piece *p = &k->from->piece[function];
    const sl_node *old = k->from->node[p->factor.node], *new;
    restore(k);
    SL_TRY(sl_search__skeleton_variant_expr(&new, &k->s.arena, p,
                                            &p->set[SL_SKELETON__ONE].list[variant], 0));
    for (int32_t i = 0; i < k->s.nodes; i++)
        if (!(k->s.node[i] = replace(&k->s.arena, k->from->node[i], old, new)))
            return sl_fail(SL_ENOMEM, "no memory for a skeleton");
    for (int32_t i = 0; i < k->s.pieces; i++) {
        const sl_search__skeleton_factor f = k->from->piece[i].factor;
        if (k->s.node[f.node] == k->from->node[f.node]) continue;
        SL_TRY(sl_search__skeleton_make_columns(&k->s.piece[i], &k->s, f));
    }
    return SL_OK;
}

/* ---------------------------------------------------------------- skeletons ----------------- */

/* A function and a variant of it. */
typedef struct task {
    int32_t function, variant;
} task;

typedef struct screening {
    sl_skeletons *s;
    sl_search__skeleton_clear_hits *hits; // by worker
    const task *task;
} screening;

/* Has the skeleton more than one factor that is changed? */
static bool is_changed_twice(const alike *k, const sl_search__skeleton_base *b) {
    int n = 0;
    for (int t = 0; t < b->terms; t++) {
        const sl_search__skeleton_term *term = &k->s.term[b->term[t]];
        for (int f = 0; f < term->factors; f++) {
            const int node = k->s.piece[term->piece[f]].factor.node;
            n += k->s.node[node] != k->from->node[node];
        }
    }
    return n > 1;
}

/* All divisors, with all columns or those that fit. */
static sl_status try_base(const screening *g, int worker, const alike *k, cleared *c, hit h) {
    const extent all = { .phases = true }, plain = { .phases = false };
    const extent lean = { .phases = true, .lean = UINT32_MAX };
    (void)sl_search__skeleton_find_divisors(c, &k->s, h.base);
    const extent way[] = { all, plain, lean };
    bool fits = false;
    h.mask = c->mask = (1u << c->divisors) - 1;
    for (int i = 0; i < SL_LEN(way) && !fits; i++) {
        h.extent = way[i];
        sl_search__skeleton_use_columns(c, way[i]);
        if (sl_search__skeleton_is_dependent(&fits, c))
            SL_TRY(sl_search__skeleton_add_clear_hit(&g->hits[worker], c, &h));
    }
    return SL_OK;
}

static sl_status try_task(const screening *g, int worker, alike *k, cleared *c, task t) {
    int64_t tried = 0;
    SL_TRY(sl_search__skeleton_alike_set(k, t.function, t.variant));
    for (int32_t i = 0; i < g->s->n_with_divisors; i++) {
        const int32_t base = g->s->with_divisors[i];
        if (base < 0 || !is_changed_twice(k, &g->s->base[base])) continue;
        if (sl_search__stop(g->s->job, worker == 0)) break;
        SL_TRY(try_base(
            g, worker, k, c,
            (hit){ .base = base, .alike = t.function + 1, .inside[0].change.variant = t.variant }));
        tried++;
    }
    atomic_fetch_add_explicit(&g->s->job->tried, tried, memory_order_relaxed);
    return SL_OK;
}

static sl_status screen_part(int64_t begin, int64_t end, int worker, void *payload) {
    const screening *g = payload;
    alike k;
    cleared *c = sl_malloc_aligned(1, sizeof *c);
    sl_status st = sl_search__skeleton_alike_begin(&k, g->s);
    if (!c) st = sl_fail_memory(1, sizeof *c, "skeletons");
    for (int64_t i = begin; i < end && st == SL_OK; i++)
        st = try_task(g, worker, &k, c, g->task[i]);
    sl_search__skeleton_alike_end(&k);
    sl_free(c);
    return st;
}

/* Functions of inputs, with all their variants of one constant. */
static int32_t list_tasks(task *out, const sl_skeletons *s) {
    int32_t n = 0;
    for (int32_t i = 0; i < s->pieces; i++) {
        const sl_search__skeleton_piece *p = &s->piece[i];
        const sl_node *node = s->node[p->factor.node];
        if (p->factor.quarters != WHOLE || (node->op != SL_OP_EXP && node->op != SL_OP_SIN) ||
            node[1].op != SL_OP_VAR)
            continue;
        for (int32_t v = 0; v < p->set[SL_SKELETON__ONE].count; v++, n++)
            if (out) out[n] = (task){ i, v };
    }
    return n;
}

sl_status sl_search__skeleton_screen_alike(bool *done, sl_skeletons *s,
                                           sl_search__skeleton_clear_hits *hits) {
    const int32_t n = list_tasks(NULL, s);
    const int64_t bytes =
        sl_par_pool_threads(s->job->pool) *
        (s->pieces * (int64_t)sizeof *s->piece + s->nodes * (int64_t)sizeof *s->node);
    *done = sl_search__reserve(s->job, bytes);
    if (!*done) return SL_OK;
    task *list = sl_malloc((size_t)SL_MAX(n, 1), sizeof *list);
    sl_status st = list ? SL_OK : sl_fail_memory((size_t)n, sizeof *list, "skeletons");
    if (st == SL_OK) {
        (void)list_tasks(list, s);
        screening g = { s, hits, list };
        st = sl_par_for(s->job->pool, n, 4, screen_part, &g);
    }
    sl_free(list);
    sl_search__release(s->job, bytes);
    return st;
}

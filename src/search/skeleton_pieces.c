/* skeleton_pieces - the factors of terms and their variants with constants inside.
 *
 * A variable or a function u of a pair becomes a u + b. Outside of functions and divisors that is a
 * linear combination: (a x + b)^2 is one of x^2, x and 1, sin(x + b) one of sin(x) and cos(x).
 * These columns are the plain part of a piece; their coefficients are free. Constants inside are
 * enumerated: every place in a piece that takes constants is a slot, an expression with two free
 * constants, factor and summand, compiled once and evaluated for each of their values. Variants
 * that are a multiple of the piece itself or of another variant are left out. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "search/lattice_kernels.h"
#include "search/skeleton_impl.h"

typedef sl_search__skeleton_piece piece;
typedef sl_search__skeleton_slot slot;
typedef sl_search__skeleton_variant variant;

enum { WHOLE = 4, ROWS = SL_SKELETON__ROWS };

/* ---------------------------------------------------------------- expressions --------------- */

/* A builder that stops at the first lack of memory. */
typedef struct builder {
    sl_arena *a;
    bool failed;
} builder;

static const sl_node *checked(builder *b, const sl_node *e) {
    if (!e) b->failed = true;
    return e;
}

static const sl_node *power(builder *b, const sl_node *e, int quarters) {
    sl_rat r;
    if (quarters == WHOLE || b->failed) return e;
    (void)sl_expr_rat_make(&r, quarters, WHOLE);
    return checked(b, sl_expr_pow(b->a, e, r));
}

static const sl_node *two(builder *b, sl_op op, const sl_node *p, const sl_node *q) {
    if (b->failed) return NULL;
    return checked(b, sl_expr_nary(b->a, op, (const sl_node *[]){ p, q }, 2));
}

static const sl_node *function(builder *b, sl_op op, const sl_node *e) {
    return b->failed ? NULL : checked(b, sl_expr_fn(b->a, op, e));
}

static const sl_node *number(builder *b, int n) {
    return b->failed ? NULL : checked(b, sl_expr_int(b->a, n));
}

/* The nodes that get constants: one, the free constants 1 and 2. */
static sl_search__skeleton_places one_place(builder *b, const sl_node *u) {
    const sl_node *c1 = checked(b, sl_expr_par(b->a, 1)), *c2 = checked(b, sl_expr_par(b->a, 2));
    return (sl_search__skeleton_places){ 1, { u }, { c1 }, { c2 } };
}

/* e with constants at these nodes. */
static const sl_node *put_constants(builder *b, const sl_node *e,
                                    const sl_search__skeleton_places *p) {
    bool inside = false;
    for (int i = 0; i < p->n; i++) inside = inside || (p->node[i] >= e && p->node[i] < e + e->len);
    if (b->failed) return NULL;
    if (!inside) return e;
    const sl_node *out = e;
    if (e->op == SL_OP_POW) {
        const sl_node *base = put_constants(b, e + 1, p);
        const sl_rat exponent = sl_expr_num_value(sl_expr_next(e + 1));
        out = b->failed ? NULL : checked(b, sl_expr_pow(b->a, base, exponent));
    } else if (e->op == SL_OP_ADD || e->op == SL_OP_MUL) {
        const sl_node *operand[64], *at = e + 1;
        int n = 0;
        for (; at < e + e->len && n < SL_LEN(operand); at = sl_expr_next(at))
            operand[n++] = put_constants(b, at, p);
        out = b->failed ? NULL : checked(b, sl_expr_nary(b->a, (sl_op)e->op, operand, n));
    } else if (e->op != SL_OP_VAR) {
        out = function(b, (sl_op)e->op, put_constants(b, e + 1, p));
    }
    for (int i = 0; i < p->n; i++)
        if (p->node[i] == e)
            out = two(b, SL_OP_ADD, two(b, SL_OP_MUL, p->factor[i], out), p->summand[i]);
    return out;
}

/* The columns of u^(quarters/4) but for 1; returns how many. sine: a phase is free. */
static int columns_of(const sl_node **out, builder *b, const sl_node *u, int quarters, bool sine) {
    if (!sine || quarters > 2 * WHOLE) return out[0] = power(b, u, quarters), 1;
    const sl_node *cosine = function(b, SL_OP_COS, u + 1);
    int n = 0;
    if (quarters == 2 * WHOLE) {
        out[n++] = power(b, u, quarters);
        out[n++] = two(b, SL_OP_MUL, u, cosine);
    }
    out[n++] = u;
    out[n++] = cosine;
    return n;
}

/* ---------------------------------------------------------------- a piece ------------------- */

static bool is_whole(int quarters) { return quarters % WHOLE == 0; }

/* Is a summand of the node no constant inside? */
static bool is_linear(sl_search__skeleton_factor f) {
    return is_whole(f.quarters) && f.quarters > 0;
}

/* Adds a column if it is finite and of moderate size in all rows. */
static sl_status add_plain(piece *p, sl_skeletons *s, const sl_node *e) {
    double *value = p->value[p->plains];
    if (p->plains == SL_SKELETON__PLAIN) return SL_OK;
    SL_TRY(sl_expr_eval(value, &s->arena, e, s->x, s->rows, NULL));
    for (int r = 0; r < s->rows; r++)
        if (!(fabs(value[r]) < 1e100)) return SL_OK;
    p->name[p->plains] = sl_search__skeleton_name(e);
    p->plain[p->plains++] = e;
    return SL_OK;
}

static sl_status add_slot(piece *p, sl_skeletons *s, builder *b, const sl_node *const *column,
                          int columns, slot kind) {
    if (b->failed) return sl_fail(SL_ENOMEM, "no memory for a skeleton");
    if (p->slots == SL_SKELETON__SLOTS) return SL_OK;
    slot *to = &p->slot[p->slots++];
    *to = kind;
    p->columns = columns;
    for (int c = 0; c < columns; c++) {
        to->expr[c] = column[c];
        SL_TRY(sl_expr_compile(&to->program[c], &s->arena, column[c]));
    }
    return SL_OK;
}

/* Is node u of the argument e one of its summands, so that a constant beside it is one of e? */
static bool is_summand(const sl_node *e, const sl_node *u) {
    const sl_node *at = e->op == SL_OP_ADD ? e + 1 : e, *end = e + e->len;
    for (; at < end; at = sl_expr_next(at)) {
        const sl_node *inner = at;
        if (at->op == SL_OP_MUL && at->arg == 2 && at[1].op == SL_OP_NUM)
            inner = sl_expr_next(at + 1);
        if (inner == u) return true;
    }
    return false;
}

/* Is u a factor of the node, or what the node is a power of? A root of -(a x + b)^2 is one of
 * -(x + b/a)^2. */
static bool is_factor(const sl_node *node, const sl_node *u) {
    if (node->op == SL_OP_POW) return u == node + 1;
    const sl_node *at = node + 1;
    if (node->op != SL_OP_MUL) return false;
    while (at < node + node->len && at != u) at = sl_expr_next(at);
    return at == u && u < node + node->len;
}

/* Slots at every variable and function inside `e`, which is the node or its argument. free:
 * summands of e make no difference. */
static sl_status add_inner_slots(piece *p, sl_skeletons *s, builder *b, const sl_node *node,
                                 const sl_node *e, bool free) {
    for (const sl_node *u = e; u < e + e->len; u += sl_expr_step(u)) {
        bool root = u->op == SL_OP_POW && sl_expr_num_value(sl_expr_next(u + 1)).den > 1;
        if (u->op != SL_OP_VAR && u->op != SL_OP_EXP && u->op != SL_OP_SIN && !root) continue;
        const sl_node *column[SL_SKELETON__CHANGED];
        const sl_search__skeleton_places place = one_place(b, u);
        const sl_node *changed = put_constants(b, node, &place);
        if (b->failed) break;
        int n = columns_of(column, b, changed, p->factor.quarters, p->sine);
        slot kind = { .node = u, .factor = true, .summand = !(free && is_summand(e, u)) };
        kind.fractions = is_factor(node, u);
        SL_TRY(add_slot(p, s, b, column, n, kind));
    }
    return b->failed ? sl_fail(SL_ENOMEM, "no memory for a skeleton") : SL_OK;
}

/* (u + c2)^power, and (c2 - u)^power where signs matter. */
static sl_status add_outer_slot(piece *p, sl_skeletons *s, builder *b, const sl_node *u,
                                int quarters) {
    const sl_search__skeleton_places place = one_place(b, u);
    const sl_node *column = power(b, put_constants(b, u, &place), quarters);
    return add_slot(
        p, s, b, &column, 1,
        (slot){ .node = u, .summand = true, .fractions = true, .negated = !is_whole(quarters) });
}

static sl_status add_plains(piece *p, sl_skeletons *s, builder *b, const sl_node *node) {
    const int quarters = p->factor.quarters;
    const sl_node *column[SL_SKELETON__CHANGED];
    int n = columns_of(column, b, node, quarters, p->sine);
    const sl_node *one = number(b, 1), *negative = NULL;
    if (!is_whole(quarters)) negative = power(b, two(b, SL_OP_MUL, number(b, -1), node), quarters);
    if (b->failed) return sl_fail(SL_ENOMEM, "no memory for a skeleton");
    for (int i = 0; i < n; i++) SL_TRY(add_plain(p, s, column[i]));
    if (negative) SL_TRY(add_plain(p, s, negative));
    for (int q = quarters - WHOLE; is_whole(quarters) && q > 0 && n == 1; q -= WHOLE) {
        const sl_node *lower = power(b, node, q);
        if (b->failed) return sl_fail(SL_ENOMEM, "no memory for a skeleton");
        SL_TRY(add_plain(p, s, lower));
    }
    // a root is a function, whatever its power: a summand is outside of it
    return quarters > 0 || !is_whole(quarters) ? add_plain(p, s, one) : SL_OK;
}

bool sl_search__skeleton_has_summand(const piece *p) {
    return p->plains > 0 && p->plain[p->plains - 1]->op == SL_OP_NUM;
}

sl_status sl_search__skeleton_make_columns(piece *p, sl_skeletons *s,
                                           sl_search__skeleton_factor f) {
    const sl_node *node = s->node[f.node];
    builder b = { .a = &s->arena };
    *p = (piece){ .factor = f, .columns = 1 };
    p->sine = is_linear(f) && node->op == SL_OP_SIN && f.quarters <= 2 * WHOLE;
    p->value = sl_arena_alloc(&s->arena, SL_SKELETON__PLAIN * sizeof *p->value);
    if (!p->value) return sl_fail(SL_ENOMEM, "no memory for a skeleton");
    SL_TRY(add_plains(p, s, &b, node));
    return sl_search__skeleton_make_divisor(p, s);
}

sl_status sl_search__skeleton_make_piece(piece *p, sl_skeletons *s, sl_search__skeleton_factor f) {
    const sl_node *node = s->node[f.node];
    builder b = { .a = &s->arena };
    SL_TRY(sl_search__skeleton_make_columns(p, s, f));
    if (node->op == SL_OP_VAR) {
        if (!is_linear(f)) SL_TRY(add_outer_slot(p, s, &b, node, f.quarters));
    } else if (node->op == SL_OP_EXP || node->op == SL_OP_SIN) {
        SL_TRY(add_inner_slots(p, s, &b, node, node + 1, is_linear(f)));
        if (!is_linear(f)) SL_TRY(add_outer_slot(p, s, &b, node, f.quarters));
    } else {
        SL_TRY(add_inner_slots(p, s, &b, node, node, false));
    }
    return SL_OK;
}

static sl_status add_piece(bool *done, sl_skeletons *s, sl_search__skeleton_factor f) {
    SL_TRY(sl_search__skeleton_grow(done, s, (void **)&s->piece, s->pieces, &s->piece_room,
                                    sizeof *s->piece));
    *done = *done && s->pieces < INT16_MAX;
    if (!*done) return SL_OK;
    SL_TRY(sl_search__skeleton_make_piece(&s->piece[s->pieces], s, f));
    s->pieces++;
    return SL_OK;
}

enum { POWERS = 2 * SL_SKELETON__QUARTERS + 1 };

/* *out := the piece of a factor; place[] is 0 where it has none yet. */
static sl_status find_piece(bool *done, int16_t *out, sl_skeletons *s, int16_t *place,
                            sl_search__skeleton_factor f) {
    int16_t *at = &place[f.node * POWERS + f.quarters + SL_SKELETON__QUARTERS];
    if (*at == 0) {
        SL_TRY(add_piece(done, s, f));
        *at = (int16_t)s->pieces;
    }
    *out = (int16_t)(*at - 1);
    return SL_OK;
}

/* The pieces of functions in the divisor of piece i. */
static sl_status find_inners(bool *done, sl_skeletons *s, int16_t *place, int32_t i) {
    for (int k = 0; k < s->piece[i].divisor.inners && *done; k++) {
        const sl_search__skeleton_inner u = s->piece[i].divisor.inner[k];
        int16_t node = 0, at;
        while (node < s->nodes && !sl_expr_equal(s->node[node], u.node)) node++;
        if (node == s->nodes || abs(u.quarters) > SL_SKELETON__QUARTERS) continue;
        SL_TRY(find_piece(done, &at, s, place,
                          (sl_search__skeleton_factor){ node, (int16_t)u.quarters }));
        s->piece[i].divisor.inner[k].piece = at; // the list of pieces may have moved
    }
    return SL_OK;
}

sl_status sl_search__skeleton_make_pieces(bool *done, sl_skeletons *s) {
    size_t places = (size_t)s->nodes * POWERS;
    int16_t *place = sl_calloc(SL_MAX(places, 1), sizeof *place); // piece + 1
    sl_status st = SL_OK;
    *done = true;
    if (!place) return sl_fail_memory(places, sizeof *place, "skeletons");
    for (int32_t i = 0; i < s->terms && *done && st == SL_OK; i++)
        for (int k = 0; k < s->term[i].factors && *done && st == SL_OK; k++)
            st = find_piece(done, &s->term[i].piece[k], s, place, s->term[i].factor[k]);
    for (int32_t i = 0; i < s->pieces && *done && st == SL_OK; i++)
        st = find_inners(done, s, place, i);
    sl_free(place);
    return st;
}

/* ---------------------------------------------------------------- variants ------------------ */

enum { LIST_MAX = 1 << 13, KEYS = 2 * LIST_MAX };

static bool coprime(int a, int b) {
    a = abs(a);
    while (b) {
        int c = a % b;
        a = b;
        b = c;
    }
    return a == 1;
}

static void add(variant *out, int *n, int slot_at, int factor, int summand, int over) {
    if (*n < LIST_MAX)
        out[(*n)++] = (variant){ (int16_t)slot_at, (int8_t)factor, (int8_t)over, (int8_t)summand };
}

/* The constants of one slot that belong to a set. */
static void list_constants(variant *out, int *n, const sl_skeletons *s, const slot *t, int at,
                           int set) {
    const int largest = SL_MIN(SL_MAX(s->high, -s->low), 64);
    const bool one = set == SL_SKELETON__ONE;
    for (int a = s->low; a <= s->high && t->factor && one; a++)
        if (a != 0 && a != 1) add(out, n, at, a, 0, 1);
    if (!t->summand || !(one || t->fractions)) return;
    for (int over = one ? 1 : 2; over <= (one ? 1 : largest); over++)
        for (int b = s->low; b <= s->high; b++) {
            if (b == 0 || !coprime(b, over)) continue;
            add(out, n, at, 1, b, over);
            if (t->negated) add(out, n, at, -1, b, over);
        }
}

static int list_variants(variant *out, const sl_skeletons *s, const piece *p, int set) {
    int n = 0;
    for (int i = 0; i < p->slots; i++) list_constants(out, &n, s, &p->slot[i], i, set);
    return n;
}

/* A key that does not depend on a factor of the values; 0: they are not finite or not of moderate
 * size. */
static uint64_t key_of(const double *v, int rows) {
    for (int r = 0; r < rows; r++)
        if (!(fabs(v[r]) < 1e100)) return 0;
    float ratio[3];
    for (int k = 0; k < 3; k++) ratio[k] = (float)(v[k + 1] / v[0]);
    return sl_search__lattice_key(sl_search__lattice_cell(ratio[0], 6),
                                  sl_search__lattice_cell(ratio[1], 6),
                                  sl_search__lattice_cell(ratio[2], 6)) |
           1;
}

/* Is the key new to the table? */
static bool is_new(uint64_t *table, uint64_t key) {
    uint64_t at = (key >> 20) & (KEYS - 1);
    for (; table[at]; at = (at + 1) & (KEYS - 1))
        if (table[at] == key) return false;
    table[at] = key;
    return true;
}

typedef struct making {
    sl_skeletons *s;
    int set, rows;
    _Atomic int64_t bytes;
} making;

/* A worker's room for the variants of one piece. */
typedef struct workspace {
    variant list[LIST_MAX];
    uint64_t key[KEYS];
    double value[];
} workspace;

static sl_status evaluate(double *to, const making *m, const piece *p, const variant *v,
                          sl_arena *scratch) {
    const double constant[2] = { v->factor, (double)v->summand / v->over };
    for (int c = 0; c < p->columns; c++)
        SL_TRY(sl_expr_program_run(to + c * m->rows, p->slot[v->slot].program[c], m->s->x, m->rows,
                                   constant, scratch));
    return SL_OK;
}

/* The values of variants, one after the other, as blocks by column and row. */
static sl_status keep_variants(making *m, piece *p, const workspace *w, int kept) {
    sl_search__skeleton_set *set = &p->set[m->set];
    const int lanes = SL_SKELETON__LANES, width = p->columns * m->rows;
    set->count = kept;
    set->stride = (kept + lanes - 1) / lanes * lanes;
    set->rows = m->rows;
    if (kept == 0) return SL_OK;
    set->list = sl_malloc((size_t)kept, sizeof *set->list);
    set->value = sl_calloc((size_t)set->stride * (size_t)width, sizeof *set->value);
    if (!set->list || !set->value)
        return sl_fail_memory((size_t)set->stride * (size_t)width, sizeof(double), "variants");
    memcpy(set->list, w->list, (size_t)kept * sizeof *set->list);
    for (int i = 0; i < kept; i++)
        for (int k = 0; k < width; k++)
            set->value[(int64_t)k * set->stride + i] = w->value[(int64_t)i * width + k];
    atomic_fetch_add(&m->bytes,
                     (int64_t)kept * (int64_t)sizeof *set->list + (int64_t)set->stride * width * 8);
    return SL_OK;
}

static sl_status make_part(int64_t begin, int64_t end, int worker, void *payload) {
    making *m = payload;
    sl_arena scratch = { 0 };
    sl_status st = SL_OK;
    const size_t width = SL_SKELETON__CHANGED * (size_t)m->rows;
    workspace *w = sl_malloc(1, sizeof *w + LIST_MAX * width * sizeof(double));
    if (!w) return sl_fail_memory(LIST_MAX, width * sizeof(double), "variants");
    for (int64_t i = begin; i < end && st == SL_OK; i++) {
        piece *p = &m->s->piece[i];
        if (sl_search__stop(m->s->job, worker == 0)) break;
        int n = list_variants(w->list, m->s, p, m->set), kept = 0;
        memset(w->key, 0, sizeof w->key);
        if (p->plains > 0) (void)is_new(w->key, key_of(p->value[0], m->rows));
        for (int k = 0; k < n && st == SL_OK; k++) {
            double *to = w->value + (int64_t)kept * p->columns * m->rows;
            st = evaluate(to, m, p, &w->list[k], &scratch);
            uint64_t key = st == SL_OK ? key_of(to, m->rows) : 0;
            if (key && is_new(w->key, key)) w->list[kept++] = w->list[k];
        }
        if (st == SL_OK) st = keep_variants(m, p, w, kept);
    }
    sl_free(w);
    sl_arena_clear(&scratch);
    return st;
}

sl_status sl_search__skeleton_make_variants(bool *done, sl_skeletons *s, int set, int rows) {
    making m = { .s = s, .set = set, .rows = rows };
    int64_t most = 0;
    variant *list = sl_malloc(LIST_MAX, sizeof *list);
    *done = false;
    if (!list) return sl_fail_memory(LIST_MAX, sizeof *list, "variants");
    for (int32_t i = 0; i < s->pieces; i++)
        most += (int64_t)list_variants(list, s, &s->piece[i], set) * s->piece[i].columns;
    sl_free(list);
    most *= rows * (int64_t)sizeof(double);
    if (!sl_search__reserve(s->job, most)) return SL_OK;
    sl_status st = sl_par_for(s->job->pool, s->pieces, 16, make_part, &m);
    sl_search__release(s->job, most - m.bytes);
    s->bytes += m.bytes;
    *done = st == SL_OK && !sl_search__stop(s->job, true);
    return st;
}

sl_status sl_search__skeleton_variant_expr(const sl_node **out, sl_arena *a, const piece *p,
                                           const variant *v, int c) {
    sl_rat value[2] = { SL_RAT(v->factor), SL_RAT(0) };
    (void)sl_expr_rat_make(&value[1], v->summand, v->over);
    return sl_expr_bind(out, a, p->slot[v->slot].expr[c], value, (bool[]){ true, true });
}

sl_status sl_search__skeleton_put_constants(const sl_node **out, sl_arena *a, const piece *p,
                                            const sl_node *node,
                                            const sl_search__skeleton_places *places) {
    builder b = { .a = a };
    (void)columns_of(out, &b, put_constants(&b, node, places), p->factor.quarters, p->sine);
    return b.failed ? sl_fail(SL_ENOMEM, "no memory for a skeleton") : SL_OK;
}

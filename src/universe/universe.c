/* The universe of a configuration, and the set E drawn from it. */
#include "universe/universe_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Streams of the generator, so that no two uses share numbers. */
enum { STREAM_SAMPLE = 1, STREAM_WITHHELD = 2 };

/* ---------------------------------------------------------------- operators ----------------- */

sl_status sl_universe_ops_parse(uint32_t *out, const char *text) {
    uint32_t ops = 0;
    for (const char *at = text;;) {
        at += strspn(at, ", \t");
        size_t n = strcspn(at, ", \t");
        if (!n) break;
        sl_operator o = sl_expr_operator_find(at, n);
        if (o == SL_OPERATOR_COUNT) {
            sl_str known = { 0 };
            sl_universe_ops_print(&known, SL_EXPR_ALL_OPERATORS);
            sl_status st = sl_fail(SL_EFORMAT, "unknown operator \"%.*s\"; there are %s",
                                   (int)SL_MIN(n, 40), at, sl_str_text(&known));
            sl_str_clear(&known);
            return st;
        }
        ops |= 1u << o;
        at += n;
    }
    if (!ops) return sl_fail(SL_EFORMAT, "no operators given");
    *out = ops;
    return SL_OK;
}

void sl_universe_ops_print(sl_str *s, uint32_t ops) {
    bool any = false;
    for (int o = 0; o < SL_OPERATOR_COUNT; o++) {
        if (!(ops >> o & 1)) continue;
        if (any) sl_str_add_char(s, ',');
        sl_str_add(s, sl_expr_operator_text((sl_operator)o));
        any = true;
    }
}

/* p+q, p-q, q-p, p*q, p/q, q/p: the other order only where it is another function. */
static void set_forms(sl_universe *u) {
    for (int o = 0; o < SL_OPERATOR_COUNT; o++) {
        sl_operator op = (sl_operator)o;
        if (!(u->options.ops >> o & 1)) continue;
        if (sl_expr_operator_operands(op) == 1) {
            u->unary[u->n_unary++] = (sl_universe__form){ op, false };
            continue;
        }
        u->binary[u->n_binary++] = (sl_universe__form){ op, false };
        if (op == SL_OPERATOR_SUB || op == SL_OPERATOR_DIV || op == SL_OPERATOR_POW)
            u->binary[u->n_binary++] = (sl_universe__form){ op, true };
    }
}

/* ---------------------------------------------------------------- progress ------------------ */

int sl_universe__report(const sl_universe_watch *w, int i, const char *what, double done,
                        double total) {
    return w && w->progress ? w->progress(i, what, done, total, w->payload) : 0;
}

void sl_universe__note(const sl_universe_watch *w, const char *text) {
    if (w && w->note) w->note(text, w->payload);
}

/* ---------------------------------------------------------------- listed functions ---------- */

static sl_status grow_operands(sl_universe__operands *l, int64_t more, int probes) {
    size_t n = (size_t)(l->n + more), P = (size_t)probes;
    void *e = sl_realloc(l->expr, n, sizeof *l->expr);
    if (e) l->expr = e;
    void *v = sl_realloc(l->value, n, P * sizeof *l->value);
    if (v) l->value = v;
    void *f = sl_realloc(l->fast, n, P * sizeof *l->fast);
    if (f) l->fast = f;
    void *s = sl_realloc(l->shape, n, sizeof *l->shape);
    if (s) l->shape = s;
    if (!e || !v || !f || !s) return sl_fail_memory(n, P * 24, "values of functions");
    return SL_OK;
}

static void list_function(sl_universe *u, const sl_node *e, const long double *v) {
    sl_universe__operands *l = &u->listed;
    long double *to = l->value + l->n * u->probes;
    for (int i = 0; i < u->probes; i++) {
        to[i] = v[i];
        l->fast[l->n * u->probes + i] = (double)v[i];
    }
    sl_universe__shape_of(&l->shape[l->n], to, u->probes);
    l->expr[l->n++] = e;
}

/* All classes of level i, in canonical form, as operands of the next. */
static sl_status list_level(sl_universe *u, sl_pool *pool, int i, const sl_universe_watch *watch) {
    sl_universe__level *l = &u->level[i];
    const int64_t n = l->class_end - l->class_begin;
    sl_status st = SL_OK;
    const sl_node **expr = sl_malloc((size_t)n, sizeof *expr);
    uint32_t *chosen = sl_malloc((size_t)n, sizeof *chosen);
    if (!expr || !chosen) {
        st = sl_fail_memory((size_t)n, sizeof *expr, "a level");
        goto done;
    }
    for (int64_t k = 0; k < n; k++) chosen[k] = (uint32_t)(l->class_begin + k);
    SL_GO(sl_universe__canonical(u, pool, i, expr, chosen, n, watch));
    SL_GO(grow_operands(&u->listed, n, u->probes));
    l->begin = u->listed.n;
    for (int64_t k = 0; k < n; k++) {
        long double v[SL_UNIVERSE__MAX_PROBES];
        sl_universe__values(v, u, l, u->class[chosen[k]].raw);
        list_function(u, expr[k], v);
    }
done:
    sl_free(expr);
    sl_free(chosen);
    return st;
}

static sl_status list_variables(sl_universe *u) {
    const int n = u->options.variables;
    SL_TRY(grow_operands(&u->listed, n, u->probes));
    for (int x = 0; x < n; x++) {
        const sl_node *e = sl_expr_var(&u->own[0].arena, x + 1);
        if (!e) return sl_fail_memory(1, sizeof *e, "a variable");
        long double v[SL_UNIVERSE__MAX_PROBES];
        for (int i = 0; i < u->probes; i++) v[i] = u->point[i][x];
        list_function(u, e, v);
        SL_TRY(sl_universe__add_class(u, 0, x, u->listed.shape[x].real));
        for (int o = 0; o < u->orthants; o++)
            sl_universe__table_add_keys(
                &u->found, sl_universe__keys_of(v + o * SL_UNIVERSE__PER_ORTHANT, o), (uint32_t)x);
    }
    u->level[0].class_end = n;
    u->level[0].counts = (sl_universe_counts){ .raw = n, .distinct = n };
    return SL_OK;
}

/* ---------------------------------------------------------------- cost ---------------------- */

/* Bytes that level i will need at its peak; about a quarter of candidates are new, in half of the
 * orthants or more. A little high on purpose. */
static double level_bytes(const sl_universe *u, const sl_universe__level *l, bool last) {
    double raw = (double)l->raw, fresh = 0.3 * raw;
    double entries = fresh * u->orthants, slots = 1024;
    while (slots * 0.6 < entries) slots *= 2;
    double kept = last && u->options.size ? SL_MIN(fresh, (double)u->options.size) : fresh;
    return raw * 4 + slots * sizeof(sl_universe__slot) * 1.5 +
           fresh * (sizeof(sl_universe__class) + 8) + kept * (250 + 24) +
           (last ? 0 : fresh * (u->probes * 24.0 + sizeof(sl_universe__shape)));
}

static const char *bytes_text(char buffer[32], double bytes) {
    sl_snprintf(buffer, 32, bytes < 1e9 ? "%.0f MB" : "%.1f GB", bytes / (bytes < 1e9 ? 1e6 : 1e9));
    return buffer;
}

static sl_status check_cost(const sl_universe *u, int i, const sl_universe_watch *watch) {
    const sl_universe__level *l = &u->level[i];
    char raw[32], text[256], size[2][32];
    if (l->raw >= (int64_t)SL_UNIVERSE__NO_CLASS)
        return sl_fail(SL_ELIMIT,
                       "level %d has %s raw candidates, more than 2^32; take less depth, fewer "
                       "variables or operators",
                       i, sl_group_digits(raw, l->raw));
    double need = level_bytes(u, l, i == u->options.depth);
    double most = (double)(u->options.max_memory ? u->options.max_memory : sl_mem_available());
    sl_snprintf(text, sizeof text, "level %d has %s raw candidates and needs about %s", i,
                sl_group_digits(raw, l->raw), bytes_text(size[0], need));
    if (most > 0 && need > most)
        return sl_fail(SL_ELIMIT,
                       "%s, but %s are %s; take less depth, fewer variables or operators, or "
                       "allow more",
                       text, bytes_text(size[1], most), u->options.max_memory ? "allowed" : "free");
    if (need > 1e9) sl_universe__note(watch, text);
    return SL_OK;
}

/* ---------------------------------------------------------------- the set E ----------------- */

typedef struct ranked {
    uint64_t rank;
    uint32_t class;
} ranked;

static int cmp_ranked(const void *a, const void *b) {
    const ranked *x = a, *y = b;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    return (x->class > y->class) - (x->class < y->class);
}

static int cmp_class(const void *a, const void *b) {
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static uint64_t rank_of(const sl_universe *u, uint32_t stream, const sl_universe__class *c) {
    sl_rng rng; // by first candidate, so that it depends on nothing but the definition
    sl_rng_init(&rng, u->options.seed, stream, (uint64_t)c->level << 56 | (uint64_t)c->raw);
    return sl_rng_u64(&rng);
}

/* chosen[0..k) := the k classes of l with the smallest rank, in listing order. */
static sl_status sample_level(uint32_t *chosen, const sl_universe *u, const sl_universe__level *l,
                              int64_t k) {
    const int64_t n = l->class_end - l->class_begin;
    ranked *r = sl_malloc((size_t)n, sizeof *r);
    if (!r) return sl_fail_memory((size_t)n, sizeof *r, "a sample");
    for (int64_t i = 0; i < n; i++) {
        uint32_t c = (uint32_t)(l->class_begin + i);
        r[i] = (ranked){ k < n ? rank_of(u, STREAM_SAMPLE, &u->class[c]) : 0, c };
    }
    if (k < n) qsort(r, (size_t)n, sizeof *r, cmp_ranked);
    for (int64_t i = 0; i < k; i++) chosen[i] = r[i].class;
    if (k < n) qsort(chosen, (size_t)k, sizeof *chosen, cmp_class);
    sl_free(r);
    return SL_OK;
}

/* The members: full lower levels, and of the level where |E| is reached a sample. */
static sl_status choose_members(sl_universe *u, sl_pool *pool, const sl_universe_watch *watch) {
    int64_t want = u->options.size ? SL_MIN(u->options.size, u->n_class) : u->n_class;
    u->member = sl_malloc((size_t)want, sizeof *u->member);
    u->member_class = sl_malloc((size_t)want, sizeof *u->member_class);
    u->index_of_class = sl_malloc((size_t)u->n_class, sizeof *u->index_of_class);
    if (!u->member || !u->member_class || !u->index_of_class)
        return sl_fail_memory((size_t)want, sizeof *u->member, "the members of E");
    memset(u->index_of_class, 0xff, (size_t)u->n_class * sizeof *u->index_of_class);
    for (int i = 0; i <= u->options.depth; i++) {
        sl_universe__level *l = &u->level[i];
        int64_t k = SL_MIN(want - u->n_member, l->class_end - l->class_begin);
        u->member_end[i] = u->n_member + k;
        if (k == 0) continue; // E is full, or the level empty
        uint32_t *chosen = u->member_class + u->n_member;
        SL_TRY(sample_level(chosen, u, l, k));
        if (i < u->options.depth || u->options.depth == 0) {
            for (int64_t m = 0; m < k; m++)
                u->member[u->n_member + m] = u->listed.expr[l->begin + chosen[m] - l->class_begin];
        } else {
            SL_TRY(sl_universe__canonical(u, pool, i, u->member + u->n_member, chosen, k, watch));
        }
        u->n_member += k;
    }
    for (int64_t m = 0; m < u->n_member; m++) u->index_of_class[u->member_class[m]] = (uint32_t)m;
    return SL_OK;
}

/* The share of members with the smallest rank is withheld: more withheld contains less. */
static sl_status choose_withheld(sl_universe *u) {
    const int64_t n = u->n_member, k = (int64_t)(u->options.withheld * (double)n + 0.5);
    u->withheld = sl_calloc((size_t)(n + 7) / 8, 1);
    ranked *r = sl_malloc((size_t)n, sizeof *r);
    if (!r || !u->withheld) {
        sl_free(r);
        return sl_fail_memory((size_t)n, sizeof *r, "withheld members");
    }
    for (int64_t m = 0; m < n; m++)
        r[m] = (ranked){ rank_of(u, STREAM_WITHHELD, &u->class[u->member_class[m]]), (uint32_t)m };
    if (k) qsort(r, (size_t)n, sizeof *r, cmp_ranked);
    for (int64_t m = 0; m < k; m++) u->withheld[r[m].class / 8] |= (uint8_t)(1 << r[m].class % 8);
    sl_free(r);
    return SL_OK;
}

/* Names what was built: what it was built of, then every member's bytes, then which are withheld.
 * Size and seed are in the members. */
sl_status sl_universe__hash_members(const sl_universe *u, char out[33]) {
    sl_hasher *h = NULL;
    sl_str s = { 0 };
    sl_status st;
    const sl_universe_options *o = &u->options;
    sl_str_addf(&s, "symlaw universe 1; depth %d; variables %d; ops ", o->depth, o->variables);
    sl_universe_ops_print(&s, o->ops);
    SL_GO(sl_str_status(&s));
    SL_GO(sl_hasher_new(&h));
    sl_hasher_add(h, s.text, s.len);
    for (int64_t m = 0; m < u->n_member;) { // members that lie end to end go in one piece
        const sl_node *begin = u->member[m], *end = begin;
        for (; m < u->n_member && u->member[m] == end; m++) end += end->len;
        sl_hasher_add(h, begin, (size_t)(end - begin) * sizeof *begin);
    }
    sl_hasher_add(h, u->withheld, (size_t)(u->n_member + 7) / 8);
    sl_hasher_text(h, out);
done:
    sl_hasher_free(h);
    sl_str_clear(&s);
    return st;
}

/* ---------------------------------------------------------------- building ------------------ */

sl_status sl_universe__check(const sl_universe_options *o) {
    if (o->depth < 0 || o->depth > SL_UNIVERSE_MAX_DEPTH)
        return sl_fail(SL_EINVAL, "depth %d is not in 0..%d", o->depth, SL_UNIVERSE_MAX_DEPTH);
    if (o->variables < 1 || o->variables > SL_UNIVERSE_MAX_VARS)
        return sl_fail(SL_EINVAL, "a set over %d variables; it can have 1 to %d", o->variables,
                       SL_UNIVERSE_MAX_VARS);
    if (!o->ops || o->ops & ~SL_EXPR_ALL_OPERATORS)
        return sl_fail(SL_EINVAL, "no such set of operators: %#x", o->ops);
    if (o->size < 0) return sl_fail(SL_EINVAL, "a set of size %lld", (long long)o->size);
    if (!(o->withheld >= 0 && o->withheld <= 1))
        return sl_fail(SL_EINVAL, "withheld part %g is not in 0..1", o->withheld);
    return SL_OK;
}

/* Level i, if it is within the depth: its operands and candidates, and whether memory suffices. The
 * level below has n_prev functions, listed (or to be listed) from `prev` on. */
static sl_status plan_level(sl_universe *u, int i, int64_t prev, int64_t n_prev,
                            const sl_universe_watch *watch) {
    if (i > u->options.depth) return SL_OK;
    sl_universe__level *l = &u->level[i];
    l->prev = prev;
    l->n_prev = n_prev;
    l->n_all = prev + n_prev;
    l->unary = n_prev * u->n_unary;
    l->raw = l->unary + n_prev * l->n_all * u->n_binary;
    return l->raw ? check_cost(u, i, watch) : SL_OK;
}

static sl_status build(sl_universe *u, sl_pool *pool, const sl_universe_watch *watch) {
    u->n_own = sl_par_pool_threads(pool);
    u->own = sl_calloc((size_t)u->n_own, sizeof *u->own);
    if (!u->own) return sl_fail_memory((size_t)u->n_own, sizeof *u->own, "arenas");
    u->orthants = 1 << u->options.variables;
    u->probes = u->orthants * SL_UNIVERSE__PER_ORTHANT;
    sl_universe__probes(u->point, u->options.variables);
    set_forms(u);
    SL_TRY(list_variables(u));
    SL_TRY(plan_level(u, 1, 0, u->options.variables, watch));
    for (int i = 1; i <= u->options.depth; i++) {
        sl_universe__level *l = &u->level[i];
        double start = sl_clock();
        if (l->raw)
            SL_TRY(sl_universe__enumerate(u, pool, i, watch));
        else
            l->class_begin = l->class_end = u->n_class; // no operator fits, or nothing to combine
        // the cost of the next level is known now: check it before this level is listed
        SL_TRY(plan_level(u, i + 1, u->listed.n, l->class_end - l->class_begin, watch));
        if (i < u->options.depth) SL_TRY(list_level(u, pool, i, watch));
        l->counts.seconds = sl_clock() - start;
    }
    double start = sl_clock();
    SL_TRY(choose_members(u, pool, watch));
    u->level[u->options.depth].counts.seconds += sl_clock() - start;
    SL_TRY(choose_withheld(u));
    return sl_universe__hash_members(u, u->hash);
}

sl_status sl_universe_new(sl_universe **out, sl_pool *pool, const sl_universe_options *o,
                          const sl_universe_watch *watch) {
    SL_TRY(sl_universe__check(o));
    sl_universe *u = sl_calloc(1, sizeof *u);
    if (!u) return sl_fail_memory(1, sizeof *u, "a universe");
    u->options = *o;
    sl_status st = build(u, pool, watch);
    if (st != SL_OK)
        sl_universe_free(u);
    else
        *out = u;
    return st;
}

void sl_universe__release(sl_universe *u) {
    for (int i = 0; i <= SL_UNIVERSE_MAX_DEPTH; i++) {
        sl_universe__level *l = &u->level[i];
        sl_free(l->unary_value);
        sl_free(l->class_of);
        l->unary_value = NULL;
        l->class_of = NULL;
    }
    sl_free(u->listed.expr);
    sl_free(u->listed.value);
    sl_free(u->listed.fast);
    sl_free(u->listed.shape);
    u->listed = (sl_universe__operands){ 0 };
    sl_free(u->class);
    u->class = NULL;
    u->n_class = u->cap_class = 0;
    sl_universe__table_clear(&u->found);
    sl_free(u->member_class);
    sl_free(u->index_of_class);
    u->member_class = u->index_of_class = NULL;
}

void sl_universe_free(sl_universe *u) {
    if (!u) return;
    sl_universe__release(u);
    for (int i = 0; i < u->n_own && u->own; i++) sl_arena_clear(&u->own[i].arena);
    sl_free(u->own);
    sl_free(u->member);
    sl_free(u->withheld);
    sl_free(u->image);
    sl_free(u);
}

/* ---------------------------------------------------------------- queries ------------------- */

const sl_universe_options *sl_universe_config(const sl_universe *u) { return &u->options; }
int64_t sl_universe_size(const sl_universe *u) { return u->n_member; }
const char *sl_universe_hash(const sl_universe *u) { return u->hash; }

const sl_node *sl_universe_get(const sl_universe *u, int64_t index) {
    SL_ASSERT(index >= 0 && index < u->n_member);
    return u->member[index];
}

int sl_universe_level(const sl_universe *u, int64_t index) {
    SL_ASSERT(index >= 0 && index < u->n_member);
    int i = 0;
    while (index >= u->member_end[i]) i++;
    return i;
}

bool sl_universe_withheld(const sl_universe *u, int64_t index) {
    SL_ASSERT(index >= 0 && index < u->n_member);
    return u->withheld[index / 8] >> index % 8 & 1;
}

const sl_universe_counts *sl_universe_count(const sl_universe *u, int i) {
    SL_ASSERT(i >= 0 && i <= u->options.depth);
    return &u->level[i].counts;
}

bool sl_universe_can_find(const sl_universe *u) { return u->index_of_class; }

static uint32_t class_of(const sl_universe *u, const sl_node *e) {
    SL_ASSERT(sl_universe_can_find(u)); // not after sl_universe_open
    if (sl_expr_max_var(e) > u->options.variables || sl_expr_max_par(e))
        return SL_UNIVERSE__NO_CLASS;
    long double v[SL_UNIVERSE__MAX_PROBES];
    for (int i = 0; i < u->probes; i++) {
        long double bound;
        sl_expr_eval_ref(&v[i], &bound, e, u->point[i], NULL, 0x1p-64L);
        if (!isfinite(v[i])) v[i] = NAN;
    }
    return sl_universe__find_class(u, v);
}

int64_t sl_universe_find(const sl_universe *u, const sl_node *e) {
    const uint32_t k = class_of(u, e);
    if (k == SL_UNIVERSE__NO_CLASS || u->index_of_class[k] == SL_UNIVERSE__NO_CLASS) return -1;
    return u->index_of_class[k];
}

bool sl_universe_lists(const sl_universe *u, const sl_node *e) {
    return class_of(u, e) != SL_UNIVERSE__NO_CLASS;
}

/* From classes to expressions: the shortest canonical form among the candidates of a class. */
#include "universe/universe_impl.h"

/* The candidates of chosen classes, grouped: those of chosen[k] are member[first[k] .. first[k+1]],
 * in raw order. */
typedef struct groups {
    int64_t *first;
    uint32_t *member;
} groups;

static void groups_clear(groups *g) {
    sl_free(g->first);
    sl_free(g->member);
}

/* Counting sort of the raw candidates by class; place[] maps a class of this level to its k. */
static sl_status group(groups *g, const sl_universe__level *l, const uint32_t *chosen, int64_t n) {
    sl_status st = SL_OK;
    const int64_t classes = l->class_end - l->class_begin;
    uint32_t *place = sl_malloc((size_t)classes, sizeof *place);
    int64_t *fill = sl_malloc((size_t)n, sizeof *fill);
    g->first = sl_calloc((size_t)n + 1, sizeof *g->first);
    if (!place || !fill || !g->first) {
        st = sl_fail_memory((size_t)classes, sizeof *place, "groups of candidates");
        goto done;
    }
    for (int64_t k = 0; k < classes; k++) place[k] = SL_UNIVERSE__NO_CLASS;
    for (int64_t k = 0; k < n; k++) place[chosen[k] - l->class_begin] = (uint32_t)k;
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t r = 0; r < l->raw; r++) {
            int64_t c = l->class_of[r];
            if (c < l->class_begin || c >= l->class_end ||
                place[c - l->class_begin] == SL_UNIVERSE__NO_CLASS)
                continue;
            uint32_t k = place[c - l->class_begin];
            if (pass)
                g->member[fill[k]++] = (uint32_t)r;
            else
                g->first[k + 1]++;
        }
        if (pass) break;
        for (int64_t k = 0; k < n; k++) {
            fill[k] = g->first[k];
            g->first[k + 1] += g->first[k];
        }
        g->member = sl_malloc((size_t)g->first[n], sizeof *g->member);
        if (!g->member) {
            st = sl_fail_memory((size_t)g->first[n], sizeof *g->member, "groups of candidates");
            goto done;
        }
    }
done:
    sl_free(place);
    sl_free(fill);
    return st;
}

typedef struct job {
    sl_universe *u;
    const sl_universe__level *l;
    const groups *g;
    const sl_node **expr;
    int64_t offset;
} job;

static sl_status canon_of(const sl_node **out, sl_arena *a, const job *j, int64_t raw) {
    sl_universe__candidate c = sl_universe__candidate_at(j->u, j->l, raw);
    const sl_node *p = j->u->listed.expr[c.p], *q = c.q < 0 ? NULL : j->u->listed.expr[c.q];
    return sl_expr_canon_apply(out, a, c.form.op, c.form.swapped ? q : p, c.form.swapped ? p : q);
}

static sl_universe__probe_set where_real(const job *j, int64_t raw) {
    long double v[SL_UNIVERSE__MAX_PROBES];
    sl_universe__shape s;
    sl_universe__values(v, j->u, j->l, raw);
    sl_universe__shape_of(&s, v, j->u->probes);
    return s.real;
}

/* A later candidate of a class takes over when it has fewer nodes and is real at the same probes as
 * the first one. The second condition matters because agreement is not transitive: what is real
 * elsewhere may differ from other members of the class there (docs/decisions/0001). A candidate
 * that passes a limit is none, unless it is the first. */
static sl_status shortest_forms(int64_t begin, int64_t end, int worker, void *payload) {
    job *j = payload;
    sl_arena *a = &j->u->own[worker].arena;
    for (int64_t k = j->offset + begin; k < j->offset + end; k++) {
        const int64_t first = j->g->first[k], last = j->g->first[k + 1];
        const sl_universe__probe_set real = j->u->class[j->l->class_of[j->g->member[first]]].real;
        const sl_node *best;
        SL_TRY(canon_of(&best, a, j, j->g->member[first]));
        int nodes = sl_expr_nodes(best);
        for (int64_t m = first + 1; m < last; m++) {
            const sl_node *e;
            size_t mark = sl_arena_mark(a);
            sl_status st = canon_of(&e, a, j, j->g->member[m]);
            if (st == SL_ELIMIT || st == SL_EOVERFLOW) continue;
            SL_TRY(st);
            int n = sl_expr_nodes(e);
            if (n < nodes && where_real(j, j->g->member[m]) == real) {
                best = e; // the longer one stays in the arena unused; few are replaced
                nodes = n;
            } else {
                sl_arena_rewind(a, mark);
            }
        }
        j->expr[k] = best;
    }
    return SL_OK;
}

sl_status sl_universe__canonical(sl_universe *u, sl_pool *pool, int i, const sl_node **expr,
                                 const uint32_t *chosen, int64_t n,
                                 const sl_universe_watch *watch) {
    enum { STEP = 1 << 16 };
    groups g = { 0 };
    sl_status st;
    job j = { .u = u, .l = &u->level[i], .g = &g, .expr = expr };
    SL_GO(group(&g, j.l, chosen, n));
    for (; j.offset < n; j.offset += STEP) {
        if (sl_universe__report(watch, i, "writing canonical forms", (double)j.offset, (double)n)) {
            st = sl_fail(SL_ECANCEL, "cancelled in level %d", i);
            goto done;
        }
        SL_GO(sl_par_for(pool, SL_MIN(STEP, n - j.offset), 64, shortest_forms, &j));
    }
done:
    groups_clear(&g);
    return st;
}

/* Hints: candidate expressions from outside, such as samples of a model. Their sub-expressions
 * become parts: those of most hints first, small ones before large ones. */
#include <stdlib.h>
#include <string.h>

#include "search/store_impl.h"

enum { MAX_HINTS = 4096, MAX_SLOTS = 200 };

typedef struct hint {
    const sl_node *e; // tidy, in variables of the job's rows
    int hints, last;  // hints that contain it; the last of them
    int order;
} hint;

typedef struct hints {
    hint *list;
    int n;
    sl_arena *arena;
    const sl_node *variable[SL_EXPR_MAX_VARS]; // by number in the hint; NULL: not searched
} hints;

/* Not a variable alone, which is a monomial. Free constants and inputs that are not searched have
 * no values. */
static bool is_part(const hints *h, const sl_node *e) {
    bool variable = false;
    if (e->op == SL_OP_VAR || e->op == SL_OP_NUM || e->len > MAX_SLOTS) return false;
    for (const sl_node *n = e; n < e + e->len; n += sl_expr_step(n)) {
        if (n->op == SL_OP_PAR || (n->op == SL_OP_VAR && !h->variable[n->arg - 1])) return false;
        variable = variable || n->op == SL_OP_VAR;
    }
    return variable;
}

static sl_status join(hints *h, const sl_node *e, int number) {
    const sl_node *mine;
    SL_TRY(sl_expr_substitute(&mine, h->arena, e, h->variable, SL_LEN(h->variable)));
    const sl_status st = sl_expr_merge(&mine, h->arena, mine);
    if (st != SL_OK) return st == SL_ENOMEM ? st : SL_OK; // numbers that pass 64 bits are no hint
    for (int i = 0; i < h->n; i++) {
        if (!sl_expr_equal(h->list[i].e, mine)) continue;
        h->list[i].hints += h->list[i].last != number;
        h->list[i].last = number;
        return SL_OK;
    }
    if (h->n < MAX_HINTS) {
        h->list[h->n] = (hint){ mine, 1, number, h->n };
        h->n++;
    }
    return SL_OK;
}

static int by_hints(const void *p, const void *q) {
    const hint *a = p, *b = q;
    if (a->hints != b->hints) return a->hints > b->hints ? -1 : 1;
    const int na = sl_expr_nodes(a->e), nb = sl_expr_nodes(b->e);
    if (na != nb) return na < nb ? -1 : 1;
    return a->order - b->order;
}

static sl_status gather(hints *h, const sl_store *s) {
    const sl_search_options *o = s->job->o;
    for (int v = 0; v < s->variables; v++) {
        h->variable[s->job->column[v]] = sl_expr_var(h->arena, v + 1);
        if (!h->variable[s->job->column[v]])
            return sl_fail_memory(1, sizeof(sl_node), "a variable");
    }
    for (int i = 0; i < o->n_hints; i++)
        for (const sl_node *n = o->hints[i]; n < o->hints[i] + o->hints[i]->len;
             n += sl_expr_step(n))
            if (is_part(h, n)) SL_TRY(join(h, n, i));
    qsort(h->list, (size_t)h->n, sizeof *h->list, by_hints);
    return SL_OK;
}

/* Hints may use operators that the options exclude for terms: the user supplied them. */
static sl_status add(sl_store *s, const sl_node *e, int number) {
    double value[SL_STORE_MAX_PROBES];
    const sl_store_term t =
        sl_search__term_make(false, SL_FORM_HINT, 0, (uint32_t)number, (uint32_t)s->parts);
    bool stored;
    uint32_t id;
    SL_TRY(sl_expr_eval(value, &s->job->arena, e, s->job->rows.x, s->probes, NULL));
    for (int i = s->probes; i < s->stride; i++) value[i] = value[0];
    if (!sl_search__store_all_finite(value, s->stride) ||
        sl_search__store_constant_value(value, s->stride))
        return SL_OK;
    SL_TRY(sl_search__store_part_add(&stored, &id, s, t, value));
    if (!stored) return SL_OK;
    return sl_search__store_list_add(s, SL_LIST_HINTS, id,
                                     (double)s->list[SL_LIST_HINTS].count + 1);
}

sl_status sl_search__store_open_hints(sl_store *s) {
    sl_status st = SL_OK;
    if (s->job->o->n_hints == 0) return SL_OK;
    hints h = { .arena = &s->job->arena };
    h.list = sl_malloc(MAX_HINTS, sizeof *h.list);
    if (!h.list) return sl_fail_memory(MAX_HINTS, sizeof *h.list, "parts of hints");
    SL_GO(gather(&h, s));
    s->hint = sl_arena_alloc(&s->job->arena, (size_t)SL_MAX(h.n, 1) * sizeof *s->hint);
    if (!s->hint) {
        st = sl_fail_memory((size_t)h.n, sizeof *s->hint, "parts of hints");
        goto done;
    }
    for (int i = 0; i < h.n; i++) {
        s->hint[i] = h.list[i].e;
        SL_GO(add(s, h.list[i].e, i));
    }
done:
    sl_free(h.list);
    return st;
}

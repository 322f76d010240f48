/* held - problems that are kept in memory, and what follows from a truth. */
#include <string.h>

#include "eval/eval_impl.h"

sl_status sl_eval__text(const char **out, sl_arena *a, const char *text) {
    const char *copy = sl_arena_text(a, text, strlen(text));
    if (!copy) return sl_fail_memory(strlen(text) + 1, 1, "a text");
    *out = copy;
    return SL_OK;
}

sl_status sl_eval__constants(int *out, sl_arena *scratch, const sl_node *e) {
    double value[SL_EVAL__NODES_MAX];
    const sl_node *free_form;
    const size_t mark = sl_arena_mark(scratch);
    sl_status st = sl_expr_free_numbers(&free_form, value, out, SL_LEN(value), scratch, e);
    sl_arena_rewind(scratch, mark);
    if (st == SL_ELIMIT) *out = -1;
    return st == SL_ELIMIT ? SL_OK : st;
}

/* As training would write the truth: numbers merged, nothing multiplied out. What has no tokens,
 * such as a cosine, or too many, is left without. */
static sl_status make_tokens(sl_eval_problem *p, sl_arena *a) {
    sl_token ids[SL_TOKEN_MAX], *kept;
    sl_str text = { 0 };
    const sl_node *merged;
    int n;
    const size_t mark = sl_arena_mark(a);
    sl_status st = sl_expr_merge(&merged, a, p->truth);
    if (st == SL_OK) st = sl_token_from_expr(ids, &n, SL_TOKEN_MAX, merged, &text);
    sl_str_clear(&text);
    sl_arena_rewind(a, mark);
    if (st == SL_ELIMIT || st == SL_EOVERFLOW || st == SL_EINVAL) return SL_OK;
    SL_TRY(st);
    kept = sl_arena_alloc(a, (size_t)n);
    if (!kept) return sl_fail_memory((size_t)n, 1, "tokens");
    memcpy(kept, ids, (size_t)n);
    p->tokens = kept;
    p->n_tokens = n;
    return SL_OK;
}

sl_status sl_eval__held_new(sl_eval__held **out) {
    *out = sl_calloc(1, sizeof **out);
    return *out ? SL_OK : sl_fail_memory(1, sizeof **out, "problems");
}

void sl_eval__held_free(sl_eval__held *h) {
    if (!h) return;
    sl_free(h->problem);
    sl_arena_clear(&h->arena);
    sl_free(h);
}

sl_status sl_eval__held_add(sl_eval__held *h, const sl_eval_problem *p) {
    SL_TRY(sl_grow(&h->problem, &h->room, h->count, sizeof *h->problem, "problems"));
    sl_eval_problem *q = &h->problem[h->count];
    *q = *p;
    q->constants = -1;
    if (q->truth) {
        SL_TRY(sl_eval__constants(&q->constants, &h->arena, q->truth));
        SL_TRY(make_tokens(q, &h->arena));
    }
    h->count++;
    return SL_OK;
}

static sl_status get(sl_eval_problem *out, sl_arena *a, int64_t i, const sl_eval_source *s) {
    (void)a;
    const sl_eval__held *h = s->state;
    SL_ASSERT(i >= 0 && i < h->count);
    *out = h->problem[i];
    return SL_OK;
}

static void clear(sl_eval_source *s) { sl_eval__held_free(s->state); }

sl_status sl_eval__held_source(sl_eval_source *out, sl_eval__held *h, const char *name) {
    const char *copy;
    SL_TRY(sl_eval__text(&copy, &h->arena, name));
    *out =
        (sl_eval_source){ .count = h->count, .name = copy, .get = get, .state = h, .clear = clear };
    return SL_OK;
}

void sl_eval_source_clear(sl_eval_source *s) {
    if (s->clear) s->clear(s);
    *s = (sl_eval_source){ 0 };
}

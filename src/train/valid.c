/* valid - the loss on pairs that training does not see.
 *
 * The pairs are made once and kept. They run by groups of as many pairs as a chunk has, whichever
 * thread or rank takes a group; sums are added group by group. */
#include <string.h>

#include "train/train_impl.h"

int64_t sl_train__valid_bytes(const sl_train__shape *s) {
    if (s->valid == 0) return 0;
    const int64_t first = sl_train__group_begin(s, s->rank) * s->chunk;
    const int64_t last = SL_MIN(sl_train__group_begin(s, s->rank + 1) * s->chunk, s->valid);
    return sl_train__feed_bytes(s, SL_MAX(last - first, 0)) +
           sl_train__groups(s) * (int64_t)(sizeof(double) + sizeof(int64_t));
}

typedef struct job {
    sl_train__valid *v;
    sl_train__engine *e;
    sl_train__source source;
    _Atomic int64_t next; // group of ours to be run
} job;

static sl_status make_some(int64_t begin, int64_t end, int worker, void *payload) {
    job *j = payload;
    for (int64_t i = begin; i < end; i++)
        SL_TRY(sl_train__feed_make(&j->v->feed, (int)i, &j->e->arena[worker], &j->source));
    return SL_OK;
}

sl_status sl_train__valid_new(sl_train__valid *v, sl_train__engine *e, const sl_pairs *pairs) {
    const sl_train__shape *s = &e->shape;
    const size_t groups = (size_t)sl_train__groups(s);
    sl_status st;
    *v = (sl_train__valid){ 0 };
    v->groups_of = sl_calloc((size_t)s->ranks + 1, sizeof *v->groups_of);
    v->loss = sl_calloc(groups, sizeof *v->loss);
    v->tokens = sl_calloc(groups, sizeof *v->tokens);
    if (!v->groups_of || !v->loss || !v->tokens)
        SL_GO(sl_fail_memory(groups, sizeof *v->loss, "sums of the validation"));
    for (int r = 0; r <= s->ranks; r++) v->groups_of[r] = sl_train__group_begin(s, r);

    const int64_t first = v->groups_of[s->rank] * s->chunk;
    const int64_t last = SL_MIN(v->groups_of[s->rank + 1] * s->chunk, s->valid);
    SL_GO(sl_train__feed_new(&v->feed, s, SL_MAX(last - first, 0)));
    v->feed.first = first;
    job j = { .v = v, .e = e, .source = { .pairs = pairs, .split = SL_SPLIT_VALID } };
    st = sl_par_for(e->pool, v->feed.pairs, 8, make_some, &j);
done:
    if (st != SL_OK) sl_train__valid_clear(v);
    return st;
}

void sl_train__valid_clear(sl_train__valid *v) {
    sl_train__feed_clear(&v->feed);
    sl_free(v->groups_of);
    sl_free(v->loss);
    sl_free(v->tokens);
    *v = (sl_train__valid){ 0 };
}

/* One of as many parts as there are workspaces: takes groups until there are none. */
static sl_status run_groups(int64_t begin, int64_t end, int worker, void *payload) {
    (void)begin, (void)end, (void)worker;
    job *j = payload;
    sl_train__valid *v = j->v;
    const sl_train__shape *s = &j->e->shape;
    const int64_t first = v->groups_of[s->rank], last = v->groups_of[s->rank + 1];
    sl_train__workspace *workspace = sl_train__workspace_take(j->e);
    for (int64_t i; (i = first + atomic_fetch_add(&j->next, 1)) < last;) {
        const int from = (int)(i - first) * s->chunk;
        const int to = SL_MIN(from + s->chunk, v->feed.pairs);
        v->tokens[i] = 0;
        v->loss[i] = sl_train__run_pairs(workspace, NULL, &v->tokens[i], j->e->weights, s, &v->feed,
                                         from, to, (sl_dropout){ .on = false });
        if (sl_train__stopping(j->e)) break;
    }
    sl_train__workspace_leave(workspace);
    const sl_status st = sl_nn_gemm_status();
    return st == SL_OK && sl_train__stopping(j->e) ? sl_train__fail_stopped() : st;
}

sl_status sl_train__validate(double *loss, int64_t *tokens, sl_train__valid *v,
                             sl_train__engine *e) {
    job j = { .v = v, .e = e };
    SL_TRY(sl_par_agree(sl_par_for(e->pool, e->shape.workspaces, 1, run_groups, &j)));
    SL_TRY(sl_par_gather(v->loss, sizeof *v->loss, v->groups_of));
    SL_TRY(sl_par_gather(v->tokens, sizeof *v->tokens, v->groups_of));
    *loss = 0;
    *tokens = 0;
    for (int64_t i = 0; i < v->groups_of[e->shape.ranks]; i++) {
        *loss += v->loss[i];
        *tokens += v->tokens[i];
    }
    return SL_OK;
}

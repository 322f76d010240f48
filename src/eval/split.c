/* split - problems from a split of pairs: nothing is stored, each is made when it is asked for. */
#include <string.h>

#include "eval/eval_impl.h"

typedef struct state {
    const sl_pairs *pairs;
    sl_split split;
} state;

static sl_status get(sl_eval_problem *out, sl_arena *a, int64_t i, const sl_eval_source *s) {
    const state *from = s->state;
    sl_pair pair;
    char id[64];
    SL_ASSERT(i >= 0 && i < s->count);
    SL_TRY(sl_pairs_get(&pair, a, from->pairs, from->split, i));
    *out = (sl_eval_problem){
        .truth = pair.expr,
        .tokens = pair.tokens,
        .n_tokens = pair.n_tokens,
        .depth = sl_universe_level(sl_pairs_universe(from->pairs), pair.base),
    };
    sl_snprintf(id, sizeof id, "%s/%lld", sl_pairs_split_name(from->split), (long long)i);
    SL_TRY(sl_eval__text(&out->id, a, id));

    out->data = pair.data;
    SL_TRY(sl_eval__constants(&out->constants, a, pair.expr));
    return sl_pairs_fresh(&out->fresh, a, from->pairs, &pair, SL_EVAL__FRESH); // without noise
}

static void clear(sl_eval_source *s) { sl_free(s->state); }

sl_status sl_eval_from_split(sl_eval_source *out, const sl_pairs *pairs, sl_split split,
                             int64_t limit) {
    const int64_t size = sl_pairs_size(pairs, split);
    if (size == 0)
        return sl_fail(SL_EINVAL,
                       "no expressions are withheld, so the split %s is empty: there is nothing "
                       "to judge",
                       sl_pairs_split_name(split));
    state *s = sl_malloc(1, sizeof *s);
    if (!s) return sl_fail_memory(1, sizeof *s, "problems");
    *s = (state){ pairs, split };
    *out = (sl_eval_source){ .count = limit > 0 ? SL_MIN(limit, size) : size,
                             .name = sl_pairs_split_name(split),
                             .get = get,
                             .state = s,
                             .clear = clear };
    return SL_OK;
}

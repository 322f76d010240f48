/* candidates - where the formulas that are judged come from: a model, or a baseline beside it. */
#include <math.h>
#include <string.h>

#include "eval/eval_impl.h"

/* ---------------------------------------------------------------- names --------------------- */

SL_DEFINE_NAMES(sl_eval_candidates_name, sl_eval_candidates, SL_EVAL_CANDIDATES, SL_ROW_NAME)
SL_DEFINE_NAMES(sl_eval_candidates_text, sl_eval_candidates, SL_EVAL_CANDIDATES, SL_ROW_TEXT)

/* ---------------------------------------------------------------- blind draws --------------- */

enum { STREAM_BLIND = 0xe7a1b1, ATTEMPTS = 64 };

/* name[c] := what column c + 1 of the pair is called for a problem with so many inputs. Answers
 * whether the expression's variables fit. Where they do not they keep their names, and the sample
 * is one of a column that is not there. */
static bool name_columns(int *name, const sl_pair *pair, int inputs, int variables) {
    const uint64_t used = sl_expr_variables(pair->expr);
    int count = 0;
    for (int c = 0; c < pair->data.inputs; c++) count += (int)(used >> c & 1);
    const bool fits = count <= inputs, all = inputs >= variables;
    for (int c = 0, next = 1; c < pair->data.inputs; c++)
        name[c] = all || !fits ? pair->column[c] : used >> c & 1 ? next++ : 0;
    return fits;
}

/* *out := e with its variables renamed. Their order stays, and with it that of operands. */
static sl_status rename_variables(const sl_node **out, sl_arena *a, const sl_node *e,
                                  const int *name) {
    sl_node *r = sl_arena_alloc(a, e->len * sizeof *r);
    if (!r) return sl_fail_memory(e->len, sizeof *r, "an expression");
    memcpy(r, e, e->len * sizeof *r);
    for (uint32_t i = 0; i < r->len; i += sl_expr_step(&r[i]))
        if (r[i].op == SL_OP_VAR) r[i].arg = (uint16_t)name[r[i].arg - 1];
    *out = r;
    return SL_OK;
}

/* One attempt: ids[0..*n) are its tokens. */
static sl_status draw_target(sl_token *ids, int *n, bool *fits, sl_arena *scratch,
                             const sl_pairs *pairs, int inputs, int64_t index) {
    const int variables = sl_universe_config(sl_pairs_universe(pairs))->variables;
    int name[SL_UNIVERSE_MAX_VARS];
    const sl_node *e;
    sl_str text = { 0 };
    sl_pair pair;
    SL_TRY(sl_pairs_get(&pair, scratch, pairs, SL_SPLIT_TRAIN, index));
    *fits = name_columns(name, &pair, inputs, variables);
    SL_TRY(rename_variables(&e, scratch, pair.expr, name));
    sl_status st = sl_token_from_expr(ids, n, SL_TOKEN_MAX, e, &text);
    sl_str_clear(&text);
    return st;
}

sl_status sl_eval_blind(sl_sampled *out, sl_arena *a, int inputs, uint64_t seed, uint64_t problem,
                        int64_t number, const void *state) {
    const size_t mark = sl_arena_mark(a);
    sl_token ids[SL_TOKEN_MAX];
    bool fits = false;
    sl_rng rng;
    int n = 0;
    sl_rng_init(&rng, seed, STREAM_BLIND, problem << 32 | (uint64_t)number);
    for (int i = 0; i < ATTEMPTS && !fits; i++) {
        // every number below 2^62 is a place of training
        const int64_t index = (int64_t)(sl_rng_u64(&rng) >> 2);
        sl_status st = draw_target(ids, &n, &fits, a, state, inputs, index);
        sl_arena_rewind(a, mark); // the pair's data are not needed
        SL_TRY(st);
    }
    sl_token *tokens = sl_arena_alloc(a, (size_t)n);
    if (!tokens) return sl_fail_memory((size_t)n, 1, "tokens");
    memcpy(tokens, ids, (size_t)n);
    *out = (sl_sampled){
        .number = number, .tokens = tokens, .n = n, .ended = true, .log_prob = -INFINITY
    };
    return SL_OK;
}

/* ---------------------------------------------------------------- one call each ------------- */

typedef void prepare(sl_eval__call *c, const sl_eval_options *o);

static void prepare_MODEL(sl_eval__call *c, const sl_eval_options *o) { (void)c, (void)o; }

static void prepare_BLIND(sl_eval__call *c, const sl_eval_options *o) {
    c->model = NULL;
    c->proposer = (sl_proposer){ sl_eval_blind, o->generator };
    c->o.proposer = &c->proposer;
}

/* Baselines are all that discovery has without samples, and each of them is linear. */
static void prepare_LINEAR(sl_eval__call *c, const sl_eval_options *o) {
    (void)o;
    c->model = NULL;
    c->o.baseline = true;
}

void sl_eval__call_make(sl_eval__call *out, const sl_infer *model, const sl_eval_options *o) {
#define X(id, ...) prepare_##id,
    static prepare *const how[] = { SL_EVAL_CANDIDATES(X) };
#undef X
    *out = (sl_eval__call){ .model = model, .o = o->discover };
    how[o->candidates](out, o);
}

/* beam - the most probable targets, as far as keeping the best `count` prefixes at each step finds
 * them. Log-probabilities are compared as they are: there is no bonus for length. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "infer/infer_impl.h"

/* A prefix and one token more. */
typedef struct step {
    double log_prob;
    int live, token;
} step;

/* A live prefix's past. */
typedef struct past {
    double log_prob;
    sl_token *tokens; // (length)
} past;

typedef struct beam {
    int width, length;
    past *past, *past_next;
    step *steps; // (width, SL_TOKEN_COUNT): what each live prefix may become, the likeliest first
    int *n_steps;
    sl_sampled *ended; // the best finished ones, best first
    int n_ended;
} beam;

/* The likelier first; of equals, the one whose prefix was the likelier, then the lower token. */
static int by_log_prob(const void *a, const void *b) {
    const step *x = a, *y = b;
    if (x->log_prob != y->log_prob) return x->log_prob > y->log_prob ? -1 : 1;
    return x->live != y->live ? x->live - y->live : x->token - y->token;
}

/* Lists what a live prefix may become; no more than `width` of them can matter. */
static void list_steps(sl_infer__walk *w, int live, const sl_infer__choice *c) {
    beam *b = w->use_payload;
    step *s = b->steps + (size_t)live * SL_TOKEN_COUNT;
    int n = 0;
    for (int i = 0; i < SL_TOKEN_COUNT; i++)
        if (c->may[i]) s[n++] = (step){ b->past[live].log_prob + c->log_prob[i], live, i };
    qsort(s, (size_t)n, sizeof *s, by_log_prob);
    b->n_steps[live] = SL_MIN(n, b->width);
}

/* All live prefixes' steps in one list, the best first; returns how many. */
static int merge_steps(beam *b, int n_live) {
    int n = 0;
    for (int f = 0; f < n_live; f++)
        for (int i = 0; i < b->n_steps[f]; i++)
            b->steps[n++] = b->steps[(size_t)f * SL_TOKEN_COUNT + (size_t)i];
    qsort(b->steps, (size_t)n, sizeof *b->steps, by_log_prob);
    return n;
}

/* Inserts a finished target at its place among the best. */
static sl_status finish(beam *b, sl_arena *a, const step *s, int at) {
    int k = b->n_ended;
    while (k > 0 && b->ended[k - 1].log_prob < s->log_prob) k--;
    if (k == b->width) return SL_OK;
    sl_token *tokens = sl_arena_alloc(a, (size_t)at + 1);
    if (!tokens) return sl_fail_memory((size_t)at + 1, 1, "samples");
    memcpy(tokens, b->past[s->live].tokens, (size_t)at);
    tokens[at] = (sl_token)s->token;
    if (b->n_ended < b->width) b->n_ended++;
    memmove(b->ended + k + 1, b->ended + k, (size_t)(b->n_ended - 1 - k) * sizeof *b->ended);
    b->ended[k] = (sl_sampled){
        .tokens = tokens, .n = at + 1, .log_prob = s->log_prob, .ended = s->token == SL_TOKEN_END
    };
    return SL_OK;
}

/* Could a live prefix of this probability still matter? */
static bool is_hopeless(const beam *b, double log_prob) {
    return b->n_ended == b->width && b->ended[b->width - 1].log_prob >= log_prob;
}

static sl_status advance(beam *b, sl_arena *a, sl_infer__walk *w) {
    SL_TRY(sl_infer__walk_step(w));
    const int n = merge_steps(b, w->n_live);
    int n_live = 0;
    for (int i = 0; i < n && n_live < b->width; i++) {
        const step *s = &b->steps[i];
        if (is_hopeless(b, s->log_prob)) break;
        if (s->token == SL_TOKEN_END || w->at + 1 == b->length) {
            SL_TRY(finish(b, a, s, w->at));
            continue;
        }
        SL_TRY(sl_infer__walk_branch(w, n_live, s->live, s->token));
        past *p = &b->past_next[n_live++];
        p->log_prob = s->log_prob;
        memcpy(p->tokens, b->past[s->live].tokens, (size_t)w->at);
        p->tokens[w->at] = (sl_token)s->token;
    }
    sl_infer__walk_turn(w, n_live);
    past *spare = b->past;
    b->past = b->past_next;
    b->past_next = spare;
    return SL_OK;
}

static sl_status beam_new(beam *b, sl_arena *a, int width, int length) {
    const size_t n = (size_t)width;
    *b = (beam){ .width = width,
                 .length = length,
                 .past = sl_arena_alloc(a, 2 * n * sizeof *b->past),
                 .steps = sl_arena_alloc(a, n * SL_TOKEN_COUNT * sizeof *b->steps),
                 .n_steps = sl_arena_alloc(a, n * sizeof *b->n_steps),
                 .ended = sl_arena_alloc(a, n * sizeof *b->ended) };
    sl_token *tokens = sl_arena_alloc(a, 2 * n * (size_t)length);
    if (!b->past || !b->steps || !b->n_steps || !b->ended || !tokens)
        return sl_fail_memory(n * SL_TOKEN_COUNT, sizeof *b->steps, "a beam");
    for (size_t i = 0; i < 2 * n; i++) b->past[i] = (past){ .tokens = tokens + i * (size_t)length };
    b->past_next = b->past + n;
    return SL_OK;
}

sl_status sl_infer__beam(sl_sampled *out, int64_t *made, sl_arena *a, sl_infer__walk *w,
                         int64_t first, int64_t count) {
    sl_arena scratch = { 0 };
    beam b;
    sl_status st;
    SL_GO(beam_new(&b, &scratch, (int)count, (int)w->o->length));
    w->use = list_steps;
    w->use_payload = &b;
    SL_GO(sl_infer__walk_begin(w));
    while (w->n_live > 0 && !(w->stop && w->stop(w->payload))) SL_GO(advance(&b, a, w));
    for (int i = 0; i < b.n_ended; i++) {
        out[i] = b.ended[i];
        out[i].number = first + i;
        if (w->cost) w->cost->tokens += out[i].n;
    }
    *made = b.n_ended;
done:
    sl_arena_clear(&scratch);
    return st;
}

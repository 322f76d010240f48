/* sample - many samples, each with random numbers of its own, along one tree of prefixes. */
#include <string.h>

#include "infer/infer_impl.h"

typedef struct sample {
    sl_rng rng;
    double log_prob;
    int n;      // tokens so far
    int token;  // just drawn
    bool ended; // by the end token
    bool done;
} sample;

/* A batch of samples. */
typedef struct batch {
    int count;
    sample *sample;
    sl_token *tokens;        // (count, length)
    int *order, *order_next; // samples at the live prefixes, prefix by prefix
} batch;

static sl_status batch_new(batch *c, sl_arena *a, int count, int length) {
    const size_t n = (size_t)count;
    *c = (batch){ .count = count,
                  .sample = sl_arena_alloc(a, n * sizeof *c->sample),
                  .tokens = sl_arena_alloc(a, n * (size_t)length),
                  .order = sl_arena_alloc(a, n * sizeof *c->order),
                  .order_next = sl_arena_alloc(a, n * sizeof *c->order) };
    if (!c->sample || !c->tokens || !c->order || !c->order_next)
        return sl_fail_memory(n, (size_t)length, "samples");
    return SL_OK;
}

static void draw(sl_infer__walk *w, int live, const sl_infer__choice *choice) {
    batch *c = w->use_payload;
    const sl_infer__live *f = &w->live[live];
    for (int i = f->first; i < f->first + f->count; i++) {
        sample *s = &c->sample[c->order[i]];
        s->token = w->o->decode == SL_DECODE_GREEDY
                       ? sl_infer__choice_best(choice)
                       : sl_infer__choice_draw(choice, sl_rng_uniform(&s->rng));
        s->log_prob += choice->log_prob[s->token];
        c->tokens[(size_t)c->order[i] * (size_t)w->o->length + (size_t)s->n++] = (sl_token)s->token;
        s->ended = s->token == SL_TOKEN_END;
        s->done = s->ended || s->n == w->o->length;
    }
}

/* The samples of a live prefix go on, those with the same token together; finished ones leave. */
static sl_status part(sl_infer__walk *w, batch *c, int live, int *n_live, int *places) {
    const sl_infer__live f = w->live[live];
    int count[SL_TOKEN_COUNT] = { 0 }, place[SL_TOKEN_COUNT];
    for (int i = f.first; i < f.first + f.count; i++) {
        const sample *s = &c->sample[c->order[i]];
        if (!s->done) count[s->token]++;
    }
    for (int id = 0; id < SL_TOKEN_COUNT; id++) {
        if (count[id] == 0) continue;
        SL_TRY(sl_infer__walk_branch(w, *n_live, live, id));
        w->next[*n_live].first = place[id] = *places;
        w->next[*n_live].count = count[id];
        *places += count[id];
        ++*n_live;
    }
    for (int i = f.first; i < f.first + f.count; i++) {
        const sample *s = &c->sample[c->order[i]];
        if (!s->done) c->order_next[place[s->token]++] = c->order[i];
    }
    return SL_OK;
}

static sl_status step(sl_infer__walk *w, batch *c) {
    int n_live = 0, places = 0;
    SL_TRY(sl_infer__walk_step(w));
    for (int i = 0; i < w->n_live; i++) SL_TRY(part(w, c, i, &n_live, &places));
    sl_infer__walk_turn(w, n_live);
    int *order = c->order;
    c->order = c->order_next;
    c->order_next = order;
    return SL_OK;
}

static sl_status run_batch(sl_infer__walk *w, batch *c, int64_t first, bool *stopped) {
    for (int i = 0; i < c->count; i++) {
        c->sample[i] = (sample){ 0 };
        sl_rng_init(&c->sample[i].rng, w->o->seed, SL_INFER__DRAWS,
                    w->o->problem << 32 | (uint64_t)(first + i));
        c->order[i] = i;
    }
    w->use = draw;
    w->use_payload = c;
    SL_TRY(sl_infer__walk_begin(w));
    w->live[0].first = 0;
    w->live[0].count = c->count;
    while (w->n_live > 0) {
        if (w->stop && w->stop(w->payload)) {
            *stopped = true;
            break;
        }
        SL_TRY(step(w, c));
    }
    return SL_OK;
}

/* Copies what is done. */
static sl_status hand_out(sl_sampled *out, int64_t *made, sl_arena *a, const sl_infer__walk *w,
                          const batch *c, int64_t first) {
    for (int i = 0; i < c->count; i++) {
        const sample *s = &c->sample[i];
        if (w->cost) w->cost->tokens += s->n;
        if (!s->done) continue;
        sl_token *tokens = sl_arena_alloc(a, (size_t)s->n);
        if (!tokens) return sl_fail_memory((size_t)s->n, 1, "samples");
        memcpy(tokens, c->tokens + (size_t)i * (size_t)w->o->length, (size_t)s->n);
        out[(*made)++] = (sl_sampled){ first + i, tokens, s->n, s->ended, s->log_prob };
    }
    return SL_OK;
}

sl_status sl_infer__sample(sl_sampled *out, int64_t *made, sl_arena *a, sl_infer__walk *w,
                           int64_t first, int64_t count) {
    sl_arena scratch = { 0 };
    bool stopped = false;
    sl_status st = SL_OK;
    for (int64_t done = 0; done < count && !stopped; done += w->room) {
        batch c;
        sl_arena_rewind(&scratch, 0);
        SL_GO(batch_new(&c, &scratch, (int)SL_MIN(w->room, count - done), (int)w->o->length));
        SL_GO(run_batch(w, &c, first + done, &stopped));
        SL_GO(hand_out(out, made, a, w, &c, first + done));
    }
done:
    sl_arena_clear(&scratch);
    return st;
}

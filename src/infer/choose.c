/* choose - from a node's logits to the next token. */
#include <math.h>
#include <stdlib.h>

#include "infer/infer_impl.h"

typedef struct ranked {
    double weight;
    int id;
} ranked;

/* The likelier first; of equals the lower id. */
static int by_weight(const void *a, const void *b) {
    const ranked *x = a, *y = b;
    if (x->weight != y->weight) return x->weight > y->weight ? -1 : 1;
    return x->id - y->id;
}

/* Leaves the K likeliest, and of those the fewest that have probability P together. */
static void cut_tail(sl_infer__choice *c, double *weight, const sl_infer_options *o) {
    ranked order[SL_TOKEN_COUNT];
    int n = 0;
    for (int i = 0; i < SL_TOKEN_COUNT; i++)
        if (c->may[i]) order[n++] = (ranked){ weight[i], i };
    qsort(order, (size_t)n, sizeof *order, by_weight);
    int kept = o->top_k > 0 ? SL_MIN(n, (int)o->top_k) : n;
    double total = 0, sum = 0;
    for (int i = 0; i < kept; i++) total += order[i].weight;
    for (int i = 0; i < kept && o->top_p < 1; i++) {
        sum += order[i].weight;
        if (sum >= o->top_p * total) kept = i + 1;
    }
    for (int i = kept; i < n; i++) {
        c->may[order[i].id] = false;
        weight[order[i].id] = 0;
    }
}

void sl_infer__choice_make(sl_infer__choice *c, const float *logits, const sl_infer_options *o,
                           const sl_token_set *allowed) {
    enum { V = SL_TOKEN_COUNT };
    double weight[V], top = -INFINITY, sum = 0;
    for (int i = 0; i < V; i++) // by fmax gcc 12.2 for aarch64 ends in an internal error
        if ((double)logits[i] > top) top = (double)logits[i];
    for (int i = 0; i < V; i++) c->log_prob[i] = (double)logits[i] - top;
    sl_exp_array(weight, c->log_prob, V);
    for (int i = 0; i < V; i++) sum += weight[i];
    const double log_sum = sl_log(sum);

    double best = -INFINITY; // of what may be drawn: weights are relative to it, so one is 1
    for (int i = 0; i < V; i++) {
        c->may[i] = (!allowed || sl_token_in(allowed, i)) && !(o->endless && i == SL_TOKEN_END);
        if (c->may[i]) best = fmax(best, c->log_prob[i]);
    }
    for (int i = 0; i < V; i++) weight[i] = (c->log_prob[i] - best) / o->temperature;
    sl_exp_array(weight, weight, V);
    for (int i = 0; i < V; i++)
        if (!c->may[i]) weight[i] = 0;
    if (o->top_k > 0 || o->top_p < 1) cut_tail(c, weight, o);
    sum = 0;
    for (int i = 0; i < V; i++) {
        c->up_to[i] = sum += weight[i];
        c->log_prob[i] -= log_sum;
    }
}

int sl_infer__choice_draw(const sl_infer__choice *c, double u) {
    const double at = u * c->up_to[SL_TOKEN_COUNT - 1];
    int last = 0;
    for (int i = 0; i < SL_TOKEN_COUNT; i++) {
        if (!c->may[i]) continue;
        if (c->up_to[i] > at) return i;
        last = i;
    }
    return last; // rounding took us past the end
}

int sl_infer__choice_best(const sl_infer__choice *c) {
    int best = -1;
    for (int i = 0; i < SL_TOKEN_COUNT; i++)
        if (c->may[i] && (best < 0 || c->log_prob[i] > c->log_prob[best])) best = i;
    return best;
}

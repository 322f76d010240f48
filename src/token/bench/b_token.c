/* b_token - how fast expressions become tokens and back, and how fast a decoder's masks are, one
 * core.
 *
 * Expressions are random ones of depth 3 with numbers put in, tidied, as the training data have
 * them. Everything is checked before it is timed: what is written reads back, and every token is in
 * the set of those that may follow.
 *
 *     from_expr    expression to tokens: printing and cutting      per expression
 *     from_latex   the cutting alone                               per expression
 *     to_expr      tokens to expression                            per expression
 *     push         one token taken                                 per token
 *     push_next    the same, and the set of what may follow        per token
 *     push_tight   the same, with no more room than is needed      per token
 *
 *     build/bench/token.token             a table, tab separated */
#include <stdio.h>
#include <string.h>

#include "bench/bench.h"
#include "expr/expr_test.h"
#include "token/token.h"

enum { SAMPLE = 20000, REPEATS = 9, VARIABLES = 2 };

typedef struct sample {
    const sl_node *e;
    const char *latex;
    size_t length;
    sl_token *ids;
    int n;
} sample;

typedef struct bench {
    sample s[SAMPLE];
    int64_t tokens; // of all
    sl_arena work;
    sl_str scratch;
    uint64_t sink; // keeps the compiler from leaving things out
} bench;

/* ---------------------------------------------------------------- the sample ---------------- */

static sl_status draw(sample *s, sl_arena *a, sl_rng *rng, bench *b) {
    const sl_expr_random_options o = { .depth = 3, .variables = VARIABLES, .p_leaf = 0.1 };
    for (;;) {
        sl_token ids[SL_TOKEN_MAX];
        const sl_node *e, *back;
        sl_token_reason reason;
        int at;
        sl_arena_rewind(&b->work, 0);
        SL_TRY(sl_expr_random(&e, &b->work, rng, &o));
        SL_TRY(sl_expr_insert_numbers(&e, &b->work, rng, e, 0.2, 9));
        if (sl_expr_tidy(&e, &b->work, e) != SL_OK) continue;
        if (sl_token_from_expr(ids, &s->n, SL_TOKEN_MAX, e, &b->scratch) != SL_OK) continue;
        SL_TRY(sl_token_to_expr(&back, &reason, &at, &b->work, ids, s->n, VARIABLES));
        if (reason == SL_TOKEN_UNDEFINED) continue;
        if (!back || !sl_expr_equal(back, e))
            return sl_fail(SL_EINVAL, "does not read back: %s", sl_token_reason_name(reason));
        s->e = sl_expr_copy(a, e);
        s->ids = sl_arena_alloc(a, (size_t)s->n);
        if (!s->e || !s->ids) return sl_fail_memory(1, 1, "an expression");
        memcpy(s->ids, ids, (size_t)s->n);
        SL_TRY(sl_expr_print(&b->scratch, SL_FORMAT_LATEX, e, NULL));
        char *latex = sl_arena_alloc(a, b->scratch.len);
        if (!latex) return sl_fail_memory(b->scratch.len, 1, "a text");
        memcpy(latex, b->scratch.text, b->scratch.len);
        s->latex = latex;
        s->length = b->scratch.len;
        sl_str_truncate(&b->scratch, 0);
        return SL_OK;
    }
}

static sl_status check_prefixes(const sample *s) {
    sl_token_state state;
    sl_token_begin(&state, VARIABLES);
    for (int i = 0; i < s->n; i++) {
        for (int room = s->n - i; room <= SL_TOKEN_MAX; room += SL_TOKEN_MAX) {
            sl_token_set next;
            sl_token_next(&next, &state, room);
            if (!sl_token_in(&next, s->ids[i]))
                return sl_fail(SL_EINVAL, "token %d may not follow", i);
        }
        if (sl_token_push(&state, s->ids[i]) != SL_TOKEN_FINE)
            return sl_fail(SL_EINVAL, "token %d is not taken", i);
    }
    return state.top == 0 ? SL_OK : sl_fail(SL_EINVAL, "not at its end");
}

static sl_status prepare(bench *b, sl_arena *a) {
    sl_rng rng;
    sl_rng_init(&rng, 1, 0, 0);
    for (int i = 0; i < SAMPLE; i++) {
        SL_TRY(draw(&b->s[i], a, &rng, b));
        SL_TRY(check_prefixes(&b->s[i]));
        b->tokens += b->s[i].n;
    }
    return SL_OK;
}

/* ---------------------------------------------------------------- cases --------------------- */

static sl_status run_from_expr(bench *b) {
    sl_token ids[SL_TOKEN_MAX];
    for (int i = 0, n; i < SAMPLE; i++) {
        SL_TRY(sl_token_from_expr(ids, &n, SL_TOKEN_MAX, b->s[i].e, &b->scratch));
        b->sink += ids[n / 2];
    }
    return SL_OK;
}

static sl_status run_from_latex(bench *b) {
    sl_token ids[SL_TOKEN_MAX];
    for (int i = 0, n; i < SAMPLE; i++) {
        SL_TRY(sl_token_from_latex(ids, &n, SL_TOKEN_MAX, b->s[i].latex, b->s[i].length));
        b->sink += ids[n / 2];
    }
    return SL_OK;
}

static sl_status run_to_expr(bench *b) {
    for (int i = 0; i < SAMPLE; i++) {
        const sl_node *e;
        sl_token_reason reason;
        int at;
        sl_arena_rewind(&b->work, 0);
        SL_TRY(sl_token_to_expr(&e, &reason, &at, &b->work, b->s[i].ids, b->s[i].n, VARIABLES));
        b->sink += e->len;
    }
    return SL_OK;
}

/* room: tokens that next is given; 0: next is not asked; -1: as many as this expression needs. */
static sl_status push(bench *b, int room) {
    for (int i = 0; i < SAMPLE; i++) {
        const sample *s = &b->s[i];
        sl_token_state state;
        sl_token_begin(&state, VARIABLES);
        for (int k = 0; k < s->n; k++) {
            sl_token_set next = { { 0, 0 } };
            if (room) sl_token_next(&next, &state, room > 0 ? room : s->n - k);
            b->sink += next.bits[0] + (uint64_t)sl_token_push(&state, s->ids[k]);
        }
    }
    return SL_OK;
}

static sl_status run_push(bench *b) { return push(b, 0); }
static sl_status run_push_next(bench *b) { return push(b, SL_TOKEN_MAX); }
static sl_status run_push_tight(bench *b) { return push(b, -1); }

/* ---------------------------------------------------------------- measuring ----------------- */

static sl_status measure(bench *b, const char *name, const char *unit, int64_t items,
                         sl_status (*run)(bench *)) {
    double t[REPEATS];
    for (int r = 0; r < REPEATS; r++) {
        const double start = sl_clock();
        SL_TRY(run(b));
        t[r] = (sl_clock() - start) * 1e9 / (double)items;
    }
    sl_bench_sort(t, REPEATS);
    printf("%s\t%lld %ss\t1\t%.1f\t%.1f\t%.0f\n", name, (long long)items, unit, t[0],
           t[REPEATS / 2], 1e9 / t[REPEATS / 2]);
    return SL_OK;
}

static sl_status measure_all(bench *b, sl_arena *a) {
    SL_TRY(prepare(b, a));
    printf("name\titems\tthreads\tbest_ns_per_item\tmedian_ns_per_item\titems_per_s\n");
    SL_TRY(measure(b, "from_expr", "expression", SAMPLE, run_from_expr));
    SL_TRY(measure(b, "from_latex", "expression", SAMPLE, run_from_latex));
    SL_TRY(measure(b, "to_expr", "expression", SAMPLE, run_to_expr));
    SL_TRY(measure(b, "push", "token", b->tokens, run_push));
    SL_TRY(measure(b, "push_next", "token", b->tokens, run_push_next));
    return measure(b, "push_tight", "token", b->tokens, run_push_tight);
}

int main(void) {
    sl_arena a = { 0 };
    bench *b = sl_calloc(1, sizeof *b);
    sl_status st = b ? measure_all(b, &a) : sl_fail_memory(1, sizeof *b, "a sample");
    if (st != SL_OK) fprintf(stderr, "token.token: %s\n", sl_last_error());
    const bool idle = b && b->sink == 0;
    if (b) {
        sl_arena_clear(&b->work);
        sl_str_clear(&b->scratch);
    }
    sl_free(b);
    sl_arena_clear(&a);
    return st == SL_OK && !idle ? 0 : 1;
}

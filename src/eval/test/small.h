/* Problems of a few lines for the tests of this folder. */
#ifndef SL_EVAL_SMALL_H
#define SL_EVAL_SMALL_H

#include <math.h>
#include <string.h>

#include "eval/eval_impl.h"
#include "fixture/formula.h"

/* A problem whose x are drawn from lo .. hi where the truth is real, with fresh ones alike. */
static inline sl_eval_problem problem_of(sl_fixture *t, const sl_node *truth, double lo, double hi,
                                         int64_t rows, int64_t fresh) {
    sl_eval_problem p = { .id = "p", .truth = truth, .depth = -1, .constants = -1 };
    sl_eval__box box = { .inputs = 2, .lo = { lo, lo }, .hi = { hi, hi } };
    SL_MUST(t, sl_eval__draw(&p.data, &t->arena, truth, &box, rows, &t->rng));
    SL_MUST(t, sl_eval__draw(&p.fresh, &t->arena, truth, &box, fresh, &t->rng));
    return p;
}

/* The whole file, in the arena. */
static inline char *file_text(sl_fixture *t, const char *path) {
    char *text, *copy;
    size_t n;
    SL_MUST(t, sl_file_read(&text, &n, path, 1 << 24));
    copy = sl_arena_alloc(&t->arena, n + 1);
    assert_non_null(copy);
    memcpy(copy, text, n + 1);
    sl_free(text);
    return copy;
}

/* Equal, or both NaN. */
static inline bool alike(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

/* All of a judgement but its time. */
static inline bool same_judgement(const sl_judgement *a, const sl_judgement *b) {
    return a->problem == b->problem && a->seed == b->seed && a->verdict == b->verdict &&
           a->same_tokens == b->same_tokens && a->among == b->among && a->cut == b->cut &&
           alike(a->r2, b->r2) && alike(a->r2_fresh, b->r2_fresh) && alike(a->loss, b->loss) &&
           a->samples == b->samples && a->distinct == b->distinct &&
           memcmp(a->invalid, b->invalid, sizeof a->invalid) == 0 &&
           a->claimed == b->claimed && a->structure == b->structure &&
           a->on_front == b->on_front && strcmp(a->method, b->method) == 0 &&
           strcmp(a->expr, b->expr) == 0 && strcmp(a->latex, b->latex) == 0;
}

#endif

/* b_canon - how fast candidates of depth 3 get their canonical form, one core.
 *
 * A candidate is a random operator on random canonical forms p, q: p of depth 2, q of depth 0 to 2,
 * as the enumeration combines them. The forms are made here, by algebra alone. Every candidate is
 * checked before anything is timed: both routes give the same bytes, the result is a fixed point,
 * and it has the values of the candidate wherever that is real.
 *
 *     apply    sl_expr_canon_apply(p, q), for p and q known to be canonical
 *     whole    sl_expr_canon of the tree sl_expr_apply(p, q), without that assumption
 *
 *     build/bench/expr.canon               a table, tab separated
 *     build/bench/expr.canon --print N     the first N candidates: operator, p, q as Python writes
 * them */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "expr/expr.h"

enum { SAMPLE = 200000, MAX_FORMS = 4000, REPEATS = 9, POINTS = 8 };

typedef struct forms {
    const sl_node *form[MAX_FORMS];
    int n, begin; // begin: of the last level
} forms;

typedef struct candidate {
    sl_operator op;
    const sl_node *p, *q;
} candidate;

/* A new form joins the list; a number, 1/0 or a form that is there already does not. */
static sl_status join(forms *f, sl_arena *a, sl_operator o, const sl_node *p, const sl_node *q) {
    const sl_node *e;
    SL_TRY(sl_expr_canon_apply(&e, a, o, p, q));
    if (e->op == SL_OP_NUM || sl_expr_is_undefined(e) || sl_expr_max_var(e) == 0) return SL_OK;
    for (int i = 0; i < f->n; i++)
        if (sl_expr_equal(f->form[i], e)) return SL_OK;
    if (f->n == MAX_FORMS) return sl_fail(SL_ELIMIT, "more than %d forms", MAX_FORMS);
    f->form[f->n++] = e;
    return SL_OK;
}

static sl_status make_forms(forms *f, sl_arena *a) {
    f->n = f->begin = 0;
    for (int v = 1; v <= 2; v++)
        if (!(f->form[f->n++] = sl_expr_var(a, v))) return sl_fail_memory(1, 8, "a variable");
    for (int level = 1; level <= 2; level++) {
        const int begin = f->begin, end = f->n;
        for (int p = begin; p < end; p++) {
            for (sl_operator o = 0; o < SL_OPERATOR_COUNT; o++) {
                const bool unary = sl_expr_operator_operands(o) == 1;
                for (int q = 0; q < (unary ? 1 : end); q++) {
                    SL_TRY(join(f, a, o, f->form[p], f->form[q]));
                    if (!unary) SL_TRY(join(f, a, o, f->form[q], f->form[p]));
                }
            }
        }
        f->begin = end;
    }
    return SL_OK;
}

/* Of all candidates, each with the same chance: four for every p, six for every p and q. */
static void draw(candidate *c, const forms *f, sl_rng *rng) {
    static const struct {
        sl_operator op;
        bool swapped;
    } binary[] = {
        { SL_OPERATOR_ADD, false }, { SL_OPERATOR_SUB, false }, { SL_OPERATOR_SUB, true },
        { SL_OPERATOR_MUL, false }, { SL_OPERATOR_DIV, false }, { SL_OPERATOR_DIV, true },
    };
    const int last = f->n - f->begin;
    c->p = f->form[f->begin + (int)sl_rng_below(rng, (uint32_t)last)];
    const int k = (int)sl_rng_below(rng, (uint32_t)(4 + 6 * f->n));
    if (k < 4) {
        c->op = (sl_operator)k; // exp, sin, neg, sqrt come first in the table
        c->q = NULL;
        return;
    }
    c->q = f->form[(k - 4) / 6];
    c->op = binary[(k - 4) % 6].op;
    if (binary[(k - 4) % 6].swapped) {
        const sl_node *p = c->p;
        c->p = c->q;
        c->q = p;
    }
}

/* Real where the candidate is, and equal up to what rounding may have done to both. */
static bool keeps_values(const sl_node *whole, const sl_node *canon, sl_rng *rng) {
    for (int i = 0; i < POINTS; i++) {
        long double x[2], v, d, cv, cd;
        for (int k = 0; k < 2; k++) x[k] = sl_rng_range(rng, -3, 3);
        sl_expr_eval_ref(&v, &d, whole, x, NULL, 0x1p-64L);
        sl_expr_eval_ref(&cv, &cd, canon, x, NULL, 0x1p-64L);
        if (!isfinite(v) || !isfinite(d) || !isfinite(cd) || isinf(cv)) continue;
        if (!(fabsl(v - cv) <= 4 * (d + cd))) return false;
    }
    return true;
}

static sl_status check(const candidate *c, sl_arena *a, sl_rng *rng) {
    for (int i = 0; i < SAMPLE; i++) {
        const sl_node *direct, *whole, *canon, *again;
        const size_t mark = sl_arena_mark(a);
        if (!(whole = sl_expr_apply(a, c[i].op, c[i].p, c[i].q)))
            return sl_fail_memory(1, 8, "a candidate");
        SL_TRY(sl_expr_canon(&canon, a, whole));
        SL_TRY(sl_expr_canon_apply(&direct, a, c[i].op, c[i].p, c[i].q));
        SL_TRY(sl_expr_canon(&again, a, canon));
        if (!sl_expr_equal(direct, canon)) return sl_fail(SL_EINVAL, "candidate %d: two forms", i);
        if (!sl_expr_equal(again, canon))
            return sl_fail(SL_EINVAL, "candidate %d: no fixed point", i);
        if (!keeps_values(whole, canon, rng))
            return sl_fail(SL_EINVAL, "candidate %d: other values", i);
        sl_arena_rewind(a, mark);
    }
    return SL_OK;
}

static sl_status run(const candidate *c, sl_arena *a, bool whole) {
    for (int i = 0; i < SAMPLE; i++) {
        const sl_node *e;
        const size_t mark = sl_arena_mark(a);
        if (whole) {
            if (!(e = sl_expr_apply(a, c[i].op, c[i].p, c[i].q)))
                return sl_fail_memory(1, 8, "a candidate");
            SL_TRY(sl_expr_canon(&e, a, e));
        } else {
            SL_TRY(sl_expr_canon_apply(&e, a, c[i].op, c[i].p, c[i].q));
        }
        sl_arena_rewind(a, mark);
    }
    return SL_OK;
}

static sl_status measure(const candidate *c, sl_arena *a, bool whole) {
    double t[REPEATS];
    for (int r = 0; r < REPEATS; r++) {
        double start = sl_clock();
        SL_TRY(run(c, a, whole));
        t[r] = (sl_clock() - start) * 1e9 / SAMPLE;
    }
    sl_bench_sort(t, REPEATS);
    printf("%s\t%d\t1\t%.0f\t%.0f\t%.0f\n", whole ? "whole" : "apply", SAMPLE, t[0], t[REPEATS / 2],
           1e9 / t[REPEATS / 2]);
    return SL_OK;
}

static sl_status print(const candidate *c, int n) {
    sl_str s = { 0 };
    sl_status st = SL_OK;
    for (int i = 0; i < n && st == SL_OK; i++) {
        sl_str_addf(&s, "%s\t", sl_expr_operator_text(c[i].op));
        SL_GO(sl_expr_print(&s, SL_FORMAT_PYTHON, c[i].p, NULL));
        sl_str_add_char(&s, '\t');
        if (c[i].q) SL_GO(sl_expr_print(&s, SL_FORMAT_PYTHON, c[i].q, NULL));
        sl_str_add_char(&s, '\n');
    }
    SL_GO(sl_str_status(&s));
    fputs(sl_str_text(&s), stdout);
done:
    sl_str_clear(&s);
    return st;
}

static sl_status bench(candidate *c, sl_arena *a, int n_print) {
    static forms f;
    sl_rng rng;
    sl_rng_init(&rng, 1, 0, 0);
    SL_TRY(make_forms(&f, a));
    for (int i = 0; i < SAMPLE; i++) draw(&c[i], &f, &rng);
    if (n_print) return print(c, SL_MIN(n_print, SAMPLE));
    SL_TRY(check(c, a, &rng));
    printf("name\tcandidates\tthreads\tbest_ns_per_candidate\tmedian_ns_per_candidate\t"
           "candidates_per_s\n");
    SL_TRY(measure(c, a, false));
    return measure(c, a, true);
}

int main(int argc, char **argv) {
    sl_arena a = { 0 };
    int n_print = argc == 3 && strcmp(argv[1], "--print") == 0 ? atoi(argv[2]) : 0;
    if (argc != 1 && n_print <= 0) {
        fprintf(stderr, "usage: expr.canon [--print N]\n");
        return 2;
    }
    candidate *c = sl_malloc(SAMPLE, sizeof *c);
    sl_status st = c ? bench(c, &a, n_print) : sl_fail_memory(SAMPLE, sizeof *c, "candidates");
    if (st != SL_OK) fprintf(stderr, "expr.canon: %s\n", sl_last_error());
    sl_free(c);
    sl_arena_clear(&a);
    return st == SL_OK ? 0 : 1;
}

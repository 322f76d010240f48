/* b_refine - how often constants are found again.
 *
 * 1,000 pairs of the default configuration (the paper's: 100,000 expressions up to depth 3, 64
 * points), the first of the test split that have constants. The numbers of each expression become
 * free, each is multiplied by a random factor between 0.5 and 1.5, and sl_fit_refine starts from
 * there, with up to 8 restarts. Found: R2 > 1 - 1e-10. Printed for all pairs, for those where no
 * constant is a factor inside of a sine, and by what stands around the constants, a pair counting
 * for each kind it has. lower: fits whose R2 is below that of the start, of which there must be
 * none.
 *
 *     build/bench/eval.refine [PAIRS] [SEED] */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "fit/fit.h"
#include "num/num.h"
#include "pairs/pairs.h"

/* Of pairs, by the constants they have; and of constants, by the innermost power or function around
 * them, a sine being two kinds. */
#define KINDS(X)                                     \
    X(ALL, "all")                                    \
    X(TAME, "no constant is a factor inside of sin") \
    X(WILD, "a constant is a factor inside of sin")  \
    X(OPEN, "around it: only sums and products")     \
    X(WHOLE, "around it: whole power or quotient")   \
    X(ROOT, "around it: root")                       \
    X(EXP, "around it: exp")                         \
    X(PHASE, "around it: sin, not as a factor")      \
    X(WAVE, "around it: sin, as a factor")

typedef enum kind {
#define X(id, text) id,
    KINDS(X)
#undef X
        KIND_COUNT
} kind;

static const char *const kind_text[] = {
#define X(id, text) text,
    KINDS(X)
#undef X
};

typedef struct tally {
    int pairs, found, starts, lower;
    double seconds, slowest;
} tally;

/* Which kinds are in e, that stands within `around` and, if so, somewhere inside of a sine? */
static void kinds_of(bool *has, const sl_node *e, kind around, bool factor, bool in_sine) {
    if (e->op == SL_OP_PAR) {
        has[around == PHASE && factor ? WAVE : around] = true;
        has[WILD] = has[WILD] || (factor && in_sine);
        return;
    }
    if (e->op == SL_OP_NUM || e->op == SL_OP_VAR) return;
    if (e->op == SL_OP_POW)
        around = sl_expr_rat_is_int(sl_expr_num_value(sl_expr_next(e + 1))) ? WHOLE : ROOT;
    if (e->op == SL_OP_EXP) around = EXP;
    if (e->op == SL_OP_SIN) around = PHASE;
    in_sine = in_sine || e->op == SL_OP_SIN;
    const sl_node *c = e + 1;
    const int operands = e->op == SL_OP_POW ? 1 : e->arg;
    for (int i = 0; i < operands; i++, c = sl_expr_next(c))
        kinds_of(has, c, around, e->op == SL_OP_MUL, in_sine);
}

static sl_status one(tally *t, const sl_pair *pair, const sl_node *skeleton, const double *truth,
                     int n, uint64_t seed, sl_arena *a) {
    double start[SL_FIT_MAX_PARAMS], before;
    sl_rng rng;
    sl_rng_init(&rng, seed, 0xb43f, (uint64_t)pair->index);
    for (int k = 0; k < n; k++) start[k] = truth[k] * sl_rng_range(&rng, 0.5, 1.5);
    const sl_dataset p =
        sl_data_view(pair->data.x, pair->data.inputs, pair->data.y, pair->data.rows);
    const sl_refine_options o = {
        .evaluations = 200, .restarts = 8, .seed = seed, .stream = (uint64_t)pair->index
    };
    double *y = sl_arena_alloc(a, (size_t)pair->data.rows * sizeof *y);
    if (!y) return sl_fail_memory((size_t)pair->data.rows, sizeof *y, "values");
    SL_TRY(sl_expr_eval(y, a, skeleton, p.x, p.rows, start));
    before = sl_num_r2(y, p.y, p.rows);

    sl_fit fit;
    const double begin = sl_clock();
    SL_TRY(sl_fit_refine(&fit, a, skeleton, start, &p, &o));
    const double seconds = sl_clock() - begin;
    const bool found = fit.r2 > 1 - 1e-10;
    bool has[KIND_COUNT] = { false };
    kinds_of(has, skeleton, OPEN, false, false);
    has[ALL] = true;
    has[TAME] = !has[WILD];
    for (int k = 0; k < KIND_COUNT; k++) {
        if (!has[k]) continue;
        t[k].pairs++;
        t[k].found += found;
        t[k].starts += fit.starts;
        t[k].lower += fit.r2 < before || (isnan(fit.r2) && !isnan(before));
        t[k].seconds += seconds;
        t[k].slowest = fmax(t[k].slowest, seconds);
    }
    return SL_OK;
}

static sl_status bench(int pairs, uint64_t seed) {
    sl_status st;
    sl_universe *u = NULL;
    sl_pool *pool = NULL;
    sl_pairs *p = NULL;
    sl_arena a = { 0 };
    tally t[KIND_COUNT] = { 0 };
    sl_universe_options uo = SL_UNIVERSE_OPTIONS_INIT;
    sl_pairs_options po = sl_pairs_defaults();
    po.test_size = 3 * (int64_t)pairs; // more than a third has constants
    SL_GO(sl_par_pool_new(&pool, sl_par_cores()));
    SL_GO(sl_universe_new(&u, pool, &uo, NULL));
    SL_GO(sl_pairs_new(&p, u, &po));
    for (int64_t i = 0; t[ALL].pairs < pairs && i < sl_pairs_size(p, SL_SPLIT_TEST); i++) {
        sl_pair pair;
        const sl_node *free, *skeleton;
        double truth[SL_FIT_MAX_PARAMS];
        int n;
        sl_arena_rewind(&a, 0);
        SL_GO(sl_pairs_get(&pair, &a, p, SL_SPLIT_TEST, i));
        SL_GO(sl_expr_free_numbers(&free, truth, &n, SL_LEN(truth), &a, pair.expr));
        SL_GO(sl_expr_tidy(&skeleton, &a, free));
        if (n > 0) SL_GO(one(t, &pair, skeleton, truth, n, seed, &a));
    }
    printf("kind\tpairs\tfound\tpercent\tlower\tstarts\tms\tslowest ms\n");
    for (int k = 0; k < KIND_COUNT; k++) {
        const double n = fmax(t[k].pairs, 1);
        printf("%s\t%d\t%d\t%.1f\t%d\t%.2f\t%.3f\t%.1f\n", kind_text[k], t[k].pairs, t[k].found,
               100 * t[k].found / n, t[k].lower, t[k].starts / n, 1e3 * t[k].seconds / n,
               1e3 * t[k].slowest);
    }
done:
    sl_arena_clear(&a);
    sl_pairs_free(p);
    sl_universe_free(u);
    sl_par_pool_free(pool);
    return st;
}

int main(int argc, char **argv) {
    const int pairs = argc > 1 ? atoi(argv[1]) : 1000;
    const uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
    if (bench(pairs, seed) == SL_OK) return 0;
    fprintf(stderr, "eval.refine: %s\n", sl_last_error());
    return 1;
}

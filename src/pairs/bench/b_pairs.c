/* b_pairs - how fast pairs are made.
 *
 * Complete pairs of the default configuration (100,000 expressions up to depth 3, 64 points,
 * tokens), by one thread and by all cores, and each step alone. Checked first: y against the judge
 * sl_expr_eval_ref within its error bound, tokens by reading them back.
 *
 *     build/bench/pairs.pairs           a table, tab separated
 *     build/bench/pairs.pairs pair      only complete pairs, on one thread */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/bench.h"
#include "pairs/pairs_impl.h"

enum { CHECKED = 2000, PAIRS = 20000, REPEATS = 7, MAX_THREADS = 64 };

typedef struct bench {
    const sl_pairs *p;
    sl_arena arena[MAX_THREADS];
    double sink; // keeps results alive
} bench;

/* ---------------------------------------------------------------- check --------------------- */

static bool right(const sl_pair *pair) {
    for (int i = 0; i < pair->data.rows; i++) {
        long double at[SL_UNIVERSE_MAX_VARS], value, bound;
        for (int c = 0; c < pair->data.inputs; c++) at[c] = pair->data.x[c][i];
        sl_expr_eval_ref(&value, &bound, pair->expr, at, NULL, 0x1p-53L);
        if (!(fabsl(pair->data.y[i] - value) <= bound)) return false;
    }
    return true;
}

static sl_status check(bench *b) {
    for (int64_t i = 0; i < CHECKED; i++) {
        sl_pair pair;
        const sl_node *e;
        sl_token_reason reason;
        int at;
        sl_arena_rewind(&b->arena[0], 0);
        SL_TRY(sl_pairs_get(&pair, &b->arena[0], b->p, SL_SPLIT_TRAIN, i));
        if (!right(&pair)) return sl_fail(SL_EINVAL, "pair %lld: wrong y", (long long)i);
        SL_TRY(sl_token_to_expr(&e, &reason, &at, &b->arena[0], pair.tokens, pair.n_tokens,
                                pair.data.inputs));
        if (!e || !sl_expr_equal(e, pair.expr))
            return sl_fail(SL_EINVAL, "pair %lld: wrong tokens", (long long)i);
    }
    return SL_OK;
}

/* ---------------------------------------------------------------- cases --------------------- */

static sl_status make_pairs(int64_t begin, int64_t end, int worker, void *payload) {
    bench *b = payload;
    for (int64_t i = begin; i < end; i++) {
        sl_pair pair;
        sl_arena_rewind(&b->arena[worker], 0);
        SL_TRY(sl_pairs_get(&pair, &b->arena[worker], b->p, SL_SPLIT_TRAIN, i));
    }
    return SL_OK;
}

static sl_status only_start(int64_t begin, int64_t end, int worker, void *payload) {
    bench *b = payload;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        sl_pairs__start s;
        SL_TRY(sl_pairs__start_of(&s, b->p, SL_SPLIT_TRAIN, i));
        b->sink += (double)s.first;
    }
    return SL_OK;
}

static sl_status with_constants(const sl_node **out, bench *b, int64_t i, sl_arena *a) {
    static _Thread_local sl_pair_site site[SL_EXPR_MAX];
    const sl_node *base = sl_universe_get(b->p->universe, i % sl_universe_size(b->p->universe));
    sl_rng rng;
    int n;
    sl_pairs__rng(&rng, b->p, SL_SPLIT_TRAIN, (uint64_t)i, 0, SL_PAIRS__PURPOSE_CONSTANTS);
    return sl_pairs__insert(out, site, &n, a, base, &rng, &b->p->options);
}

static sl_status only_constants(int64_t begin, int64_t end, int worker, void *payload) {
    bench *b = payload;
    for (int64_t i = begin; i < end; i++) {
        const sl_node *e;
        sl_arena_rewind(&b->arena[worker], 0);
        SL_TRY(with_constants(&e, b, i * 37, &b->arena[worker]));
    }
    return SL_OK;
}

static sl_status and_tokens(int64_t begin, int64_t end, int worker, void *payload) {
    bench *b = payload;
    sl_str text = { 0 };
    sl_status st = SL_OK;
    for (int64_t i = begin; i < end && st == SL_OK; i++) {
        const sl_node *e;
        sl_token ids[SL_TOKEN_MAX];
        int n;
        sl_arena_rewind(&b->arena[worker], 0);
        SL_GO(with_constants(&e, b, i * 37, &b->arena[worker]));
        st = sl_token_from_expr(ids, &n, SL_TOKEN_MAX, e, &text);
        if (st == SL_ELIMIT) st = SL_OK;
    }
done:
    sl_str_clear(&text);
    return st;
}

static sl_status only_points(int64_t begin, int64_t end, int worker, void *payload) {
    bench *b = payload;
    const sl_pairs_options *o = &b->p->options;
    for (int64_t i = begin; i < end; i++) {
        sl_rng rng[3];
        sl_arena *a = &b->arena[worker];
        sl_arena_rewind(a, 0);
        for (int k = 0; k < 3; k++)
            sl_pairs__rng(&rng[k], b->p, SL_SPLIT_TRAIN, (uint64_t)i, 0,
                          (sl_pairs__purpose)(SL_PAIRS__PURPOSE_MIXTURE + k));
        sl_mixture *m = sl_arena_alloc(a, sizeof *m + (size_t)o->clusters * sizeof m->cluster[0]);
        double *x = sl_arena_alloc(a, (size_t)o->points * SL_PAIRS__MAX_COLUMNS * sizeof *x);
        if (!m || !x) return sl_fail_memory(1, sizeof *m, "points");
        double *column[] = { x, x + o->points, x + 2 * o->points };
        sl_pairs__mixture(m, &rng[0], &rng[1], o, b->p->variables);
        SL_TRY(sl_pairs__draw(column, a, &rng[2], m, o, b->p->variables));
    }
    return SL_OK;
}

static const struct {
    const char *name;
    sl_par_fn fn;
} cases[] = {
    { "pair", make_pairs },
    { "which", only_start },
    { "constants", only_constants },
    { "constants+tokens", and_tokens },
    { "mixture+points", only_points },
};

/* ---------------------------------------------------------------- timing -------------------- */

static sl_status measure(bench *b, sl_pool *pool, int k) {
    double t[REPEATS];
    for (int r = 0; r < REPEATS; r++) {
        double start = sl_clock();
        SL_TRY(sl_par_for(pool, PAIRS, 100, cases[k].fn, b));
        t[r] = (sl_clock() - start) * 1e6 / PAIRS;
    }
    sl_bench_sort(t, REPEATS);
    printf("%s\t%lldx%d\t%d\t%.3f\t%.3f\t%.0f\n", cases[k].name, (long long)b->p->options.points,
           b->p->variables, sl_par_pool_threads(pool), t[0], t[REPEATS / 2], 1e6 / t[REPEATS / 2]);
    fflush(stdout);
    return SL_OK;
}

static sl_status run(bench *b, sl_pool *pool, const char *only) {
    SL_TRY(check(b));
    printf("name\tshape\tthreads\tbest_us\tmedian_us\tper_s\n");
    for (int k = 0; k < SL_LEN(cases); k++)
        if (!only || strcmp(only, cases[k].name) == 0) SL_TRY(measure(b, NULL, k));
    return only || sl_par_pool_threads(pool) == 1 ? SL_OK : measure(b, pool, 0);
}

int main(int argc, char **argv) {
    static bench b;
    sl_pool *pool = NULL;
    sl_universe *u = NULL;
    sl_pairs *p = NULL;
    sl_universe_options uo = SL_UNIVERSE_OPTIONS_INIT;
    sl_pairs_options o = sl_pairs_defaults();
    sl_status st;
    if (argc > 2) {
        fprintf(stderr, "usage: pairs.pairs [CASE]\n");
        return 2;
    }
    SL_GO(sl_par_pool_new(&pool, SL_MIN(sl_par_cores(), MAX_THREADS)));
    SL_GO(sl_universe_new(&u, pool, &uo, NULL));
    SL_GO(sl_pairs_new(&p, u, &o));
    b.p = p;
    st = run(&b, pool, argc == 2 ? argv[1] : NULL);
done:
    if (st != SL_OK) fprintf(stderr, "pairs.pairs: %s\n", sl_last_error());
    for (int i = 0; i < MAX_THREADS; i++) sl_arena_clear(&b.arena[i]);
    sl_pairs_free(p);
    sl_universe_free(u);
    sl_par_pool_free(pool);
    return st == SL_OK ? 0 : 1;
}

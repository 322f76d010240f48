/* One pair: what it says of itself is true, it is the same on every thread, and what one option
 * concerns leaves alone what it does not. */
#include "pairs/test/naive.h"

enum { MAX_D = SL_UNIVERSE_MAX_VARS };

/* ---------------------------------------------------------------- settings ------------------ */

/* The defaults, small, and then each knob turned. */
static bool setting(sl_pairs_options *o, int k) {
    *o = sl_pairs_defaults();
    o->points = 12;
    o->draws = 3;
    o->test_size = 40;
    switch (k) {
    case 0: return true;
    case 1: o->drop_column = 1; return true;
    case 2: o->drop_column = 0.5; return true;
    case 3: o->shift = 5; return true;
    case 4: o->stretch = 100; return true;
    case 5:
        o->shift = 0.5;
        o->stretch = 3;
        o->whiten = 0;
        return true;
    case 6: o->retry = SL_PAIRS_RETRY_WHOLE; return true;
    case 7: o->tries = 1; return true;
    case 8: o->points = 2; return true;
    case 9: o->points = 77; return true;
    case 10: o->max_y = 2; return true;
    case 11: o->min_spread = 1; return true;
    case 12: o->max_tokens = 20; return true;
    case 13:
        o->constant_chance = 1;
        o->constant_max = 1000;
        return true;
    case 14: o->constant_chance = 0; return true;
    case 15:
        o->clusters = SL_PAIRS_MAX_CLUSTERS;
        o->shape = SL_PAIRS_SHAPE_DATASET;
        o->counts = SL_PAIRS_COUNTS_PROPORTIONAL;
        return true;
    case 16:
        o->clusters = 1;
        o->tries = 1000;
        return true;
    case 17:
        o->seed = UINT64_MAX;
        o->draws = 1;
        o->drop_column = 1;
        o->shift = 2;
        o->retry = SL_PAIRS_RETRY_WHOLE;
        return true;
    default: return false;
    }
}

/* ---------------------------------------------------------------- the judge ----------------- */

typedef struct seen {
    int pairs, values, bounded, compared, left_out, again, more;
} seen;

static void judge_expression(sl_fixture *t, const sl_pairs *p, const sl_pair *e) {
    const sl_node *base = sl_universe_get(sl_pairs_universe(p), e->base), *again;
    const int D = sl_universe_config(sl_pairs_universe(p))->variables;
    SL_MUST(t, sl_expr_tidy(&again, &t->arena, e->expr));
    SL_CHECK(t, same_bytes(again, e->expr), "not tidy: %s", text_of(e->expr));

    // columns: all, or those that are used; the expression calls them by their place
    unsigned used = variables_in(base), named = variables_in(e->expr), back = 0, all = 0;
    for (int c = 0; c < e->data.inputs; c++) {
        SL_CHECK(t, e->column[c] >= 1 && e->column[c] <= D, "column %d", e->column[c]);
        SL_CHECK(t, c == 0 || e->column[c] > e->column[c - 1], "columns out of order");
        if (named >> c & 1) back |= 1u << (e->column[c] - 1);
        all |= 1u << (e->column[c] - 1);
    }
    SL_CHECK(t, named >> e->data.inputs == 0 && back == used, "%s is not over the variables of %s",
             text_of(e->expr), text_of(base));
    SL_CHECK(t, all == used || e->data.inputs == D, "columns %x of %x used", all, used);
    const double chance = sl_pairs_config(p)->drop_column;
    SL_CHECK(t, chance > 0 || e->data.inputs == D, "a column is missing");
    SL_CHECK(t, chance < 1 || all == used, "a column is left over");

    SL_CHECK(t, e->n_tokens <= sl_pairs_config(p)->max_tokens, "%d tokens", e->n_tokens);
    tokens_spell(t, e->tokens, e->n_tokens, e->expr, e->data.inputs);
}

static void judge_values(sl_fixture *t, const sl_pairs *p, const sl_pair *e, seen *n) {
    const sl_pairs_options *o = sl_pairs_config(p);
    double lo = INFINITY, hi = -INFINITY;
    assert_int_equal(e->data.rows, o->points);
    for (int i = 0; i < e->data.rows; i++) {
        long double x[MAX_D], of_base[MAX_D] = { NAN, NAN, NAN }, v, bound;
        for (int c = 0; c < e->data.inputs; c++) {
            SL_CHECK(t, isfinite(e->data.x[c][i]), "x%d[%d] is %g", c + 1, i, e->data.x[c][i]);
            x[c] = of_base[e->column[c] - 1] = e->data.x[c][i];
        }
        SL_CHECK(t, fabs(e->data.y[i]) < o->max_y, "y[%d] is %g", i, e->data.y[i]);
        lo = fmin(lo, e->data.y[i]);
        hi = fmax(hi, e->data.y[i]);
        sl_expr_eval_ref(&v, &bound, e->expr, x, NULL, 0x1p-53L);
        n->values++;
        if (!isnan(v) && !isinf(bound)) {
            n->bounded++;
            SL_CHECK(t, fabsl(e->data.y[i] - v) <= bound, "y[%d] is %.17g, not %.17Lg: %s", i,
                     e->data.y[i], v, text_of(e->expr));
        } else {
            SL_CHECK(t, !isnan(v) || bound > 0, "y[%d] is %g where %s is not real", i, e->data.y[i],
                     text_of(e->expr));
        }
        // the base with its sites is the same function
        if (i >= 3) continue;
        naive s = { .x = of_base, .site = e->site, .n = e->n_sites };
        const sl_node *base = sl_universe_get(sl_pairs_universe(p), e->base);
        int agrees = naive_agrees(&s, base, e->expr, x);
        SL_CHECK(t, !s.wrong && agrees >= 0, "%s is not %s with its constants", text_of(e->expr),
                 text_of(base));
        n->compared += agrees;
    }
    SL_CHECK(t, hi > lo && hi - lo >= o->min_spread * fmax(fabs(lo), fabs(hi)), "y from %g to %g",
             lo, hi);
}

static void judge_pair(sl_fixture *t, const sl_pairs *p, const sl_pair *e, seen *n) {
    const sl_pairs_options *o = sl_pairs_config(p);
    const sl_universe *u = sl_pairs_universe(p);
    SL_CHECK(t, e->base >= 0 && e->base < sl_universe_size(u), "base %lld", (long long)e->base);
    SL_CHECK(t, sl_universe_withheld(u, e->base) == (e->split == SL_SPLIT_WITHHELD),
             "base %lld in %s", (long long)e->base, sl_pairs_split_name(e->split));
    SL_CHECK(t, e->attempts >= 1 && e->tries >= 1 && e->tries <= o->tries, "attempt %d, try %d",
             e->attempts, e->tries);
    SL_CHECK(t, e->noise == 0, "noise %g", e->noise);
    judge_expression(t, p, e);
    judge_values(t, p, e, n);

    int points = 0;
    SL_CHECK(t, e->mixture->clusters >= 1 && e->mixture->clusters <= o->clusters, "%d clusters",
             e->mixture->clusters);
    for (int k = 0; k < e->mixture->clusters; k++) points += e->mixture->cluster[k].count;
    assert_int_equal(points, o->points);

    // all rows of one draw, as they were: then whitening shows. So it is always with whole draws.
    const bool raw = o->shift > 0 || o->stretch > 1;
    for (int c = 0; c < e->data.inputs && o->whiten && !raw; c++) {
        if (e->tries > 1 && o->retry == SL_PAIRS_RETRY_POINTS) break;
        double mean = 0, square = 0;
        const double *x = e->data.x[c], rows = (double)e->data.rows;
        for (int i = 0; i < e->data.rows; i++) mean += x[i] / rows;
        for (int i = 0; i < e->data.rows; i++) square += x[i] * x[i] / rows;
        SL_CHECK(t, fabs(mean) < 1e-12 && fabs(square - 1) < 1e-12, "mean %g, square %g", mean,
                 square);
    }
    n->pairs++;
    n->left_out += e->data.inputs < sl_universe_config(u)->variables;
    n->again += e->attempts > 1;
    n->more += e->tries > 1;
}

static void pairs_are_what_they_say(void **state) {
    sl_fixture *t = *state;
    static const struct {
        int depth, variables;
    } sets[] = { { 1, 1 }, { 1, 2 }, { 1, 3 }, { 2, 1 }, { 2, 2 }, { 2, 3 } };
    seen n = { 0 };
    for (int s = 0; s < SL_LEN(sets); s++) {
        sl_universe *u = small_universe(t, sets[s].depth, sets[s].variables, NULL, 0.25);
        sl_pairs_options o;
        for (int k = 0; setting(&o, k); k++) {
            sl_pairs *p = pairs_of(t, u, &o);
            for (sl_split split = 0; split < SL_SPLIT_COUNT; split++) {
                int64_t size = sl_pairs_size(p, split) * (split == SL_SPLIT_TRAIN ? 3 : 1);
                for (int i = 0; i < sl_test_iters(t, 5); i++) {
                    sl_pair e;
                    int64_t index = sl_rng_below(&t->rng, (uint32_t)size);
                    sl_arena_rewind(&t->arena, 0);
                    SL_MUST(t, sl_pairs_get(&e, &t->arena, p, split, index));
                    assert_true(e.split == split && e.index == index);
                    judge_pair(t, p, &e, &n);
                }
            }
            sl_pairs_free(p);
        }
        sl_universe_free(u);
    }
    // the judge had something to judge
    SL_CHECK(t, n.bounded > n.values * 9 / 10 && n.compared > n.pairs * 2, "%d of %d values, %d",
             n.bounded, n.values, n.compared);
    SL_CHECK(t, n.left_out > 100 && n.again > 100 && n.more > 100, "%d left out, %d, %d again",
             n.left_out, n.again, n.more);
}

/* ---------------------------------------------------------------- data by hand -------------- */

/* Rows of draws one after another, kept while their y is good: a twin of how a table is filled,
 * from the pair's own streams. Its mixtures and draws are those of mixture.c, which has its own
 * judge; y is evaluated one point at a time. */
static int fill_by_hand(sl_fixture *t, double *x[MAX_D], double *y, const sl_pairs *p,
                        const sl_pair *e, int *tries) {
    const sl_pairs_options *o = sl_pairs_config(p);
    const int D = sl_universe_config(sl_pairs_universe(p))->variables, N = (int)o->points;
    sl_rng mixture, counts, points, columns;
    sl_pairs__start start;
    SL_MUST(t, sl_pairs__start_of(&start, p, e->split, e->index));
    sl_pairs__rng(&mixture, p, e->split, start.number, e->attempts - 1, SL_PAIRS__PURPOSE_MIXTURE);
    sl_pairs__rng(&counts, p, e->split, start.number, e->attempts - 1, SL_PAIRS__PURPOSE_COUNTS);
    sl_pairs__rng(&points, p, e->split, start.number, e->attempts - 1, SL_PAIRS__PURPOSE_POINTS);
    sl_pairs__rng(&columns, p, e->split, start.number, e->attempts - 1, SL_PAIRS__PURPOSE_COLUMNS);
    sl_rng_uniform(&columns); // whether columns are left out
    double offset[MAX_D], factor[MAX_D];
    for (int v = 0; v < D; v++) {
        offset[v] = o->shift * (2 * sl_rng_uniform(&columns) - 1);
        factor[v] = pow(o->stretch, 2 * sl_rng_uniform(&columns) - 1);
    }
    sl_mixture *m =
        sl_arena_alloc(&t->arena, sizeof *m + (size_t)o->clusters * sizeof m->cluster[0]);
    double *draw[MAX_D];
    for (int v = 0; v < D; v++) draw[v] = sl_arena_alloc(&t->arena, (size_t)N * sizeof *draw[v]);
    int have = 0;
    for (*tries = 1; *tries <= o->tries && have < N; ++*tries) {
        const bool whole = o->retry == SL_PAIRS_RETRY_WHOLE;
        if (whole) have = 0;
        if (whole || *tries == 1) sl_pairs__mixture(m, &mixture, &counts, o, D);
        SL_MUST(t, sl_pairs__draw(draw, &t->arena, &points, m, o, D));
        for (int i = 0; i < N && have < N; i++) {
            const double *at[MAX_D];
            for (int v = 0; v < D; v++) x[v][have] = draw[v][i] * factor[v] + offset[v];
            for (int c = 0; c < e->data.inputs; c++) at[c] = &x[e->column[c] - 1][have];
            SL_MUST(t, sl_expr_eval(&y[have], &t->arena, e->expr, at, 1, NULL));
            have += fabs(y[have]) < o->max_y; // not where it is NaN
        }
    }
    --*tries;
    return have;
}

static void tables_are_filled_by_good_rows_in_order(void **state) {
    sl_fixture *t = *state;
    int more = 0;
    for (int variables = 1; variables <= MAX_D; variables++) {
        sl_universe *u = small_universe(t, 1, variables, NULL, 0);
        sl_pairs_options o;
        for (int k = 0; setting(&o, k); k++) {
            sl_pairs *p = pairs_of(t, u, &o);
            const int N = (int)o.points;
            for (int i = 0; i < sl_test_iters(t, 6); i++) {
                sl_pair e;
                double *x[MAX_D], *y;
                int tries;
                sl_arena_rewind(&t->arena, 0);
                SL_MUST(t,
                        sl_pairs_get(&e, &t->arena, p, SL_SPLIT_TRAIN, sl_rng_below(&t->rng, 100)));
                for (int v = 0; v < MAX_D; v++)
                    x[v] = sl_arena_alloc(&t->arena, (size_t)(N + 1) * sizeof *x[v]);
                y = sl_arena_alloc(&t->arena, (size_t)(N + 1) * sizeof *y);
                int have = fill_by_hand(t, x, y, p, &e, &tries);
                SL_CHECK(t, have == N && tries == e.tries,
                         "setting %d: %d rows in %d tries, not %d", k, have, tries, e.tries);
                more += tries > 1;
                for (int j = 0; j < N; j++) {
                    for (int c = 0; c < e.data.inputs; c++) {
                        // powers of the stretch are libm's here
                        double want = x[e.column[c] - 1][j], slack = o.stretch > 1 ? 1e-12 : 0;
                        SL_CHECK(t, fabs(e.data.x[c][j] - want) <= slack * fmax(1, fabs(want)),
                                 "setting %d: x%d[%d] is %.17g, not %.17g", k, c + 1, j,
                                 e.data.x[c][j], want);
                    }
                    SL_CHECK(t, o.stretch > 1 || e.data.y[j] == y[j], "setting %d: y[%d]", k, j);
                }
            }
            sl_pairs_free(p);
        }
        sl_universe_free(u);
    }
    assert_true(more > 10);
}

/* ---------------------------------------------------------------- the same for everyone ----- */

static uint64_t mix(uint64_t h, const void *bytes, size_t n) {
    const uint8_t *b = bytes;
    for (size_t i = 0; i < n; i++) h = (h ^ b[i]) * UINT64_C(0x100000001b3); // FNV-1a
    return h;
}

/* Of all that a pair is. */
static uint64_t print_of(const sl_pair *e) {
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    h = mix(h, &e->split, sizeof e->split);
    h = mix(h, &e->index, sizeof e->index);
    h = mix(h, &e->base, sizeof e->base);
    h = mix(h, &e->attempts, sizeof e->attempts);
    h = mix(h, &e->tries, sizeof e->tries);
    h = mix(h, e->expr, e->expr->len * sizeof *e->expr);
    h = mix(h, &e->data.inputs, sizeof e->data.inputs);
    h = mix(h, &e->data.rows, sizeof e->data.rows);
    for (int c = 0; c < e->data.inputs; c++) {
        h = mix(h, &e->column[c], sizeof e->column[c]);
        h = mix(h, e->data.x[c], (size_t)e->data.rows * sizeof *e->data.x[c]);
    }
    h = mix(h, e->data.y, (size_t)e->data.rows * sizeof *e->data.y);
    h = mix(h, &e->noise, sizeof e->noise);
    h = mix(h, e->tokens, (size_t)e->n_tokens);
    for (int k = 0; k < e->n_sites; k++) {
        h = mix(h, &e->site[k].op, sizeof e->site[k].op);
        h = mix(h, &e->site[k].a, sizeof e->site[k].a);
        h = mix(h, &e->site[k].b, sizeof e->site[k].b);
    }
    for (int k = 0; k < e->mixture->clusters; k++) {
        h = mix(h, &e->mixture->cluster[k].weight, sizeof(double));
        h = mix(h, &e->mixture->cluster[k].count, sizeof(int));
        h = mix(h, &e->mixture->cluster[k].centre[0], sizeof(double));
    }
    return h;
}

enum { SHARED = 300 };

typedef struct cluster {
    const sl_pairs *p;
    uint64_t *print;
    sl_arena arena[3];
    uint64_t step; // pairs are asked for in another order
} cluster;

static sl_status ask(int64_t begin, int64_t end, int worker, void *payload) {
    cluster *w = payload;
    for (int64_t i = begin; i < end; i++) {
        sl_pair e;
        int64_t k = (int64_t)((uint64_t)i * w->step % SHARED);
        if (i % 3 == 0) sl_arena_rewind(&w->arena[worker], 0); // else it lies behind others
        SL_TRY(sl_pairs_get(&e, &w->arena[worker], w->p, (sl_split)(k % 4), k / 4));
        w->print[k] = print_of(&e);
    }
    return SL_OK;
}

static void a_pair_is_the_same_in_every_thread_and_order(void **state) {
    sl_fixture *t = *state;
    static const uint64_t steps[] = { 1, 7, 299, 77 };
    static uint64_t first[SHARED], print[SHARED];
    sl_universe *u = small_universe(t, 2, 2, NULL, 0.5);
    sl_pairs_options o;
    for (int k = 0; setting(&o, k); k += 3) {
        o.noise = 0.1;
        o.test_size = 1000;
        for (int i = 0; i < SL_LEN(steps); i++) {
            sl_pool *pool;
            sl_pairs *p = pairs_of(t, u, &o);
            cluster w = { p, i ? print : first, .step = steps[i] };
            // arenas that were used for something else
            for (int a = 0; a < 3; a++)
                for (int j = 0; j < i; j++) {
                    size_t bytes = 1 + sl_rng_below(&t->rng, 10000);
                    memset(sl_arena_alloc(&w.arena[a], bytes), 0xff, bytes);
                }
            SL_MUST(t, sl_par_pool_new(&pool, SL_MAX(i, 1)));
            SL_MUST(t, sl_par_for(pool, SHARED, 7, ask, &w));
            sl_par_pool_free(pool);
            for (int a = 0; a < 3; a++) sl_arena_clear(&w.arena[a]);
            sl_pairs_free(p);
            for (int j = 0; i && j < SHARED; j++)
                SL_CHECK(t, print[j] == first[j], "setting %d, way %d: pair %d", k, i, j);
        }
        for (int j = 1; j < SHARED; j++) assert_true(first[j] != first[j - 1]);
    }
    sl_universe_free(u);
}

/* ---------------------------------------------------------------- one option at a time ------ */

/* Two configurations over one universe, and pair i of both. */
typedef struct two {
    sl_universe *u;
    sl_pairs *p, *q;
    sl_pair a, b;
} two;

static void two_begin(sl_fixture *t, two *w, const sl_pairs_options *o, const sl_pairs_options *r) {
    w->u = small_universe(t, 2, 2, NULL, 0);
    w->p = pairs_of(t, w->u, o);
    w->q = pairs_of(t, w->u, r);
}

static void two_get(sl_fixture *t, two *w, int64_t i) {
    sl_arena_rewind(&t->arena, 0);
    SL_MUST(t, sl_pairs_get(&w->a, &t->arena, w->p, SL_SPLIT_TRAIN, i));
    SL_MUST(t, sl_pairs_get(&w->b, &t->arena, w->q, SL_SPLIT_TRAIN, i));
}

static void two_end(two *w) {
    sl_pairs_free(w->p);
    sl_pairs_free(w->q);
    sl_universe_free(w->u);
}

static bool same_doubles(const double *a, const double *b, int64_t n) {
    return memcmp(a, b, (size_t)n * sizeof *a) == 0;
}

static bool same_sites(const sl_pair *a, const sl_pair *b) {
    if (a->base != b->base || a->n_sites != b->n_sites) return false;
    for (int k = 0; k < a->n_sites; k++)
        if (a->site[k].a != b->site[k].a || a->site[k].b != b->site[k].b) return false;
    return true;
}

/* What noise does: y, and nothing else. Its level is uniform, and it is normal; both from a stream
 * of its own. */
static void noise_changes_y_alone(void **state) {
    sl_fixture *t = *state;
    sl_pairs_options o, noisy;
    setting(&o, 10); // many points are drawn again
    noisy = o;
    noisy.noise = 0.3;
    two w;
    two_begin(t, &w, &o, &noisy);
    const int n = sl_test_iters(t, 600);
    double *level = sl_malloc((size_t)n, sizeof *level);
    double *step = sl_malloc((size_t)(n * o.points), sizeof *step);
    assert_true(level && step);
    for (int i = 0; i < n; i++) {
        two_get(t, &w, i);
        double squares = 0;
        for (int k = 0; k < o.points; k++) squares += w.a.data.y[k] * w.a.data.y[k];
        double rms = sqrt(squares / (double)o.points);
        SL_CHECK(t, w.b.noise >= 0 && w.b.noise < noisy.noise, "level %g", w.b.noise);
        level[i] = w.b.noise / noisy.noise;
        sl_pairs__start start;
        sl_rng rng;
        SL_MUST(t, sl_pairs__start_of(&start, w.q, SL_SPLIT_TRAIN, i));
        sl_pairs__rng(&rng, w.q, SL_SPLIT_TRAIN, start.number, w.b.attempts - 1,
                      SL_PAIRS__PURPOSE_NOISE);
        assert_true(w.b.noise == noisy.noise * sl_rng_uniform(&rng));
        for (int k = 0; k < o.points; k++)
            step[i * o.points + k] =
                sl_num_normal_cdf((w.b.data.y[k] - w.a.data.y[k]) / (w.b.noise * rms));
        sl_pair quiet = w.b;
        quiet.data.y = w.a.data.y;
        quiet.noise = 0;
        SL_CHECK(t, print_of(&quiet) == print_of(&w.a), "pair %d: more than y has changed", i);
    }
    double p_level = sl_num_ks_uniform(level, n), p_step = sl_num_ks_uniform(step, n * o.points);
    sl_free(level);
    sl_free(step);
    SL_CHECK(t, p_level > 1e-4 && p_step > 1e-4, "p = %g, %g", p_level, p_step);
    two_end(&w);
}

static void leaving_columns_out_changes_names_alone(void **state) {
    sl_fixture *t = *state;
    sl_pairs_options o, less;
    setting(&o, 0);
    less = o;
    less.drop_column = 1;
    two w;
    two_begin(t, &w, &o, &less);
    int fewer = 0;
    for (int i = 0; i < sl_test_iters(t, 300); i++) {
        two_get(t, &w, i);
        assert_true(w.a.attempts == w.b.attempts && w.a.tries == w.b.tries);
        assert_true(same_sites(&w.a, &w.b) && same_doubles(w.a.data.y, w.b.data.y, w.a.data.rows));
        for (int c = 0; c < w.b.data.inputs; c++)
            assert_true(same_doubles(w.a.data.x[w.b.column[c] - 1], w.b.data.x[c], w.a.data.rows));
        // called by the base's names it is the same expression
        sl_node *named = sl_arena_alloc(&t->arena, w.b.expr->len * sizeof *named);
        memcpy(named, w.b.expr, w.b.expr->len * sizeof *named);
        for (uint32_t k = 0; k < named->len; k += named[k].op == SL_OP_NUM ? named[k].len : 1)
            if (named[k].op == SL_OP_VAR) named[k].arg = (uint16_t)w.b.column[named[k].arg - 1];
        SL_CHECK(t, same_bytes(named, w.a.expr), "%s and %s", text_of(w.a.expr), text_of(named));
        fewer += w.b.data.inputs < 2;
    }
    assert_true(fewer > 3);
    two_end(&w);
}

/* In the share that was asked for; only where there is a column to leave out. */
static void columns_are_left_out_with_the_given_probability(void **state) {
    sl_fixture *t = *state;
    sl_universe *u = small_universe(t, 1, 3, NULL, 0);
    sl_pairs_options o;
    setting(&o, 0);
    o.draws = 1000;
    o.drop_column = 0.3;
    o.points = 4;
    sl_pairs *p = pairs_of(t, u, &o);
    int count[2] = { 0 };
    for (int i = 0; i < sl_test_iters(t, 3000); i++) {
        sl_pair e;
        sl_arena_rewind(&t->arena, 0);
        SL_MUST(t, sl_pairs_get(&e, &t->arena, p, SL_SPLIT_TRAIN, i));
        assert_true(variables_in(sl_universe_get(u, e.base)) != 7); // depth 1: at most two
        count[e.data.inputs < 3]++;
    }
    double q = p_shares(count, (double[]){ 0.7, 0.3 }, 2);
    SL_CHECK(t, q > 1e-4, "%d of %d: p = %g", count[1], count[0] + count[1], q);
    sl_pairs_free(p);
    sl_universe_free(u);
}

/* Raw columns are an affine image of the plain ones, where neither had to be drawn again; by
 * amounts within their bounds and spread as they should be. */
static void raw_columns_are_images_of_plain_ones(void **state) {
    sl_fixture *t = *state;
    const double S = 3, F = 20;
    sl_pairs_options o, raw;
    setting(&o, 0);
    raw = o;
    raw.shift = S;
    raw.stretch = F;
    two w;
    two_begin(t, &w, &o, &raw);
    const int n = sl_test_iters(t, 1500);
    double *moved = sl_malloc((size_t)n * 2, sizeof *moved);
    double *scaled = sl_malloc((size_t)n * 2, sizeof *scaled);
    assert_true(moved && scaled);
    int found = 0;
    for (int i = 0; i < n; i++) {
        two_get(t, &w, i);
        if (w.a.attempts != w.b.attempts) continue;
        SL_CHECK(t, same_sites(&w.a, &w.b) && same_bytes(w.a.expr, w.b.expr), "pair %d", i);
        if (w.a.tries > 1 || w.b.tries > 1) continue;
        for (int c = 0; c < 2; c++) {
            const double *x = w.a.data.x[c], *z = w.b.data.x[c];
            int lo = 0, hi = 0;
            for (int k = 1; k < w.a.data.rows; k++) {
                if (x[k] < x[lo]) lo = k;
                if (x[k] > x[hi]) hi = k;
            }
            double factor = (z[hi] - z[lo]) / (x[hi] - x[lo]), offset = z[lo] - factor * x[lo];
            for (int k = 0; k < w.a.data.rows; k++)
                SL_CHECK(t, fabs(z[k] - (factor * x[k] + offset)) < 1e-12 * (1 + fabs(factor) + S),
                         "x%d[%d] is not on the line", c + 1, k);
            moved[found] = (offset / S + 1) / 2;
            scaled[found++] = (log(factor) / log(F) + 1) / 2;
        }
    }
    // those that are found have passed a filter, so only the bounds and the rough spread
    double lo = INFINITY, hi = -INFINITY, low = INFINITY, high = -INFINITY;
    for (int k = 0; k < found; k++) {
        lo = fmin(lo, moved[k]), hi = fmax(hi, moved[k]);
        low = fmin(low, scaled[k]), high = fmax(high, scaled[k]);
    }
    sl_free(moved);
    sl_free(scaled);
    SL_CHECK(t, found > n / 4, "only %d columns of %d", found, 2 * n);
    SL_CHECK(t, lo > -1e-9 && lo < 0.05 && hi > 0.95 && hi < 1 + 1e-9, "moved by %g to %g", lo, hi);
    SL_CHECK(t, low > -1e-9 && low < 0.05 && high > 0.95 && high < 1 + 1e-9, "scaled %g to %g", low,
             high);
    two_end(&w);
}

/* Uniform, where nothing filters: over functions that are real and spread everywhere. */
static void raw_amounts_follow_their_laws(void **state) {
    sl_fixture *t = *state;
    const double S = 3, F = 20;
    sl_universe *u = small_universe(t, 1, 2, "+,-", 0);
    sl_pairs_options o;
    setting(&o, 0);
    o.draws = 1000;
    o.points = 8;
    o.shift = S;
    o.stretch = F;
    o.min_spread = 0;
    sl_pairs *p = pairs_of(t, u, &o);
    const int n = sl_test_iters(t, 2000);
    double *value = sl_malloc((size_t)n * 4, sizeof *value);
    assert_non_null(value);
    for (int i = 0; i < n; i++) {
        sl_pair e;
        sl_arena_rewind(&t->arena, 0);
        SL_MUST(t, sl_pairs_get(&e, &t->arena, p, SL_SPLIT_TRAIN, i));
        for (int c = 0; c < 2; c++) { // a whitened column has mean 0 and variance 1
            double mean = 0, variance = 0;
            for (int k = 0; k < 8; k++) mean += e.data.x[c][k] / 8;
            for (int k = 0; k < 8; k++)
                variance += (e.data.x[c][k] - mean) * (e.data.x[c][k] - mean) / 8;
            value[c * n + i] = (mean / S + 1) / 2;
            value[(2 + c) * n + i] = (log(variance) / 2 / log(F) + 1) / 2;
        }
    }
    double q[4];
    for (int k = 0; k < 4; k++) q[k] = sl_num_ks_uniform(value + k * n, n);
    sl_free(value);
    for (int k = 0; k < 4; k++) SL_CHECK(t, q[k] > 1e-4, "law %d: p = %g", k, q[k]);
    sl_pairs_free(p);
    sl_universe_free(u);
}

/* What only decides whether a pair is good leaves those alone that are good both ways. */
static void limits_leave_good_pairs_alone(void **state) {
    sl_fixture *t = *state;
    for (int k = 0; k < 6; k++) {
        sl_pairs_options o, other;
        setting(&o, 0);
        other = o;
        if (k == 0) other.min_spread = 1;
        if (k == 1) other.retry = SL_PAIRS_RETRY_WHOLE;
        if (k == 2) other.tries = 1;
        if (k == 3) other.max_tokens = 15;
        if (k == 4) other.max_y = 2;
        if (k == 5) other.test_size = 7; // of other splits only
        two w;
        two_begin(t, &w, &o, &other);
        int same = 0, differ = 0;
        for (int i = 0; i < sl_test_iters(t, 300); i++) {
            two_get(t, &w, i);
            bool first = w.a.attempts == 1 && w.b.attempts == 1 && w.a.tries == 1 && w.b.tries == 1;
            SL_CHECK(t, !first || print_of(&w.a) == print_of(&w.b), "case %d, pair %d", k, i);
            same += first;
            differ += print_of(&w.a) != print_of(&w.b);
        }
        SL_CHECK(t, same > 10 && (k == 5 ? differ == 0 : differ > 0), "case %d: %d same, %d not", k,
                 same, differ);
        two_end(&w);
    }
}

/* ---------------------------------------------------------------- attempts ------------------ */

/* exp(x1) is positive, so its range is less than its largest value: with such a spread asked for it
 * fails 64 times, and then the other member is taken, x1. */
static void after_64_attempts_comes_the_next_base(void **state) {
    sl_fixture *t = *state;
    sl_universe *u = small_universe(t, 1, 1, "exp", 0);
    sl_pairs_options o;
    setting(&o, 0);
    o.constant_chance = 0;
    o.min_spread = 1;
    o.draws = 20;
    assert_int_equal(sl_universe_size(u), 2);
    sl_pairs *p = pairs_of(t, u, &o);
    int late = 0;
    for (int i = 0; i < 40; i++) {
        sl_pair e;
        SL_MUST(t, sl_pairs_get(&e, &t->arena, p, SL_SPLIT_TRAIN, i));
        bool first = sl_pairs_order(p, 0, i) / o.draws == 0; // x1 is listed first
        SL_CHECK(t, e.attempts == (first ? 1 : 65), "pair %d: %d attempts", i, e.attempts);
        assert_int_equal(e.base, 0);
        assert_true(e.expr->op == SL_OP_VAR);
        late += !first;
    }
    assert_int_equal(late, 20);
    sl_pairs_free(p);
    sl_universe_free(u);
}

/* With a message that says which pair and why, and the arena as it was. */
static void what_cannot_be_had_is_reported(void **state) {
    sl_fixture *t = *state;
    static const char *const why[] = { "too few valid points", "too many tokens",
                                       "no spread in y" };
    for (int k = 0; k < SL_LEN(why); k++) {
        sl_pairs_options o;
        sl_pair e;
        setting(&o, 0);
        if (k == 0) o.max_y = 1e-100;
        if (k == 1) {
            o.max_tokens = 2; // x_1 alone
            o.constant_chance = 1;
        }
        if (k == 2) {
            o.shift = 1e6; // x1 is some 4 wide, and far from 0
            o.min_spread = 1;
            o.constant_chance = 0;
        }
        sl_universe *u = small_universe(t, k == 2 ? 0 : 1, 2, NULL, 0);
        sl_pairs *p = pairs_of(t, u, &o);
        const size_t mark = sl_arena_mark(&t->arena);
        sl_status st = sl_pairs_get(&e, &t->arena, p, SL_SPLIT_TEST, 5);
        SL_CHECK(t, st == SL_ELIMIT, "case %d: %s", k, sl_status_text(st));
        SL_CHECK(t, strstr(sl_last_error(), "test/5") && strstr(sl_last_error(), why[k]),
                 "case %d says: %s", k, sl_last_error());
        assert_true(sl_arena_mark(&t->arena) == mark);
        sl_pairs_free(p);
        sl_universe_free(u);
    }
}

/* ---------------------------------------------------------------- tokens -------------------- */

/* All of depth 2 with random constants; the whole set in t_long_tokens.c. */
static void tokens_of_depth_two_go_round(void **state) {
    sl_fixture *t = *state;
    sl_universe *u = small_universe(t, 2, 2, NULL, 0);
    int prefixes = 0;
    for (int64_t i = 0; i < sl_universe_size(u); i++) {
        sl_pairs_options o = sl_pairs_defaults();
        sl_pair_site site[256];
        sl_token ids[SL_TOKEN_MAX];
        sl_str scratch = { 0 };
        const sl_node *e;
        int n, n_sites;
        o.constant_chance = 0.25 * (double)(i % 4);
        o.constant_max = i % 3 ? 9 : 1000;
        sl_arena_rewind(&t->arena, 0);
        SL_MUST(
            t, sl_pairs__insert(&e, site, &n_sites, &t->arena, sl_universe_get(u, i), &t->rng, &o));
        SL_MUST(t, sl_token_from_expr(ids, &n, SL_TOKEN_MAX, e, &scratch));
        sl_str_clear(&scratch);
        tokens_spell(t, ids, n, e, 2);
        masks_fit(t, ids, n, 2, 3);
        prefixes += n / 3;
    }
    assert_true(prefixes > 3000);
    sl_universe_free(u);
}

/* ---------------------------------------------------------------- faults -------------------- */

static sl_status make_and_free(const sl_universe *u, const sl_pairs_options *o) {
    sl_pairs *p;
    SL_TRY(sl_pairs_new(&p, u, o));
    sl_pairs_free(p);
    return SL_OK;
}

static void each_allocation_may_fail(void **state) {
    sl_fixture *t = *state;
    sl_universe *u = small_universe(t, 1, 2, NULL, 0.2);
    sl_pairs_options o;
    setting(&o, 10); // points are drawn again, which takes another table
    o.points = 100;
    o.drop_column = 1;
    o.noise = 1;
    SL_EACH_ALLOCATION(t, make_and_free(u, &o));
    sl_pairs *p = pairs_of(t, u, &o);
    int more = 0;
    for (int i = 0; i < 10; i++) {
        sl_pair e;
        SL_EACH_ALLOCATION(t, sl_pairs_get(&e, &t->arena, p, (sl_split)(i % 4), i));
        more += e.tries > 1;
    }
    assert_true(more > 0);
    sl_pairs_free(p);
    sl_universe_free(u);
}

/* An arena that may not grow: reported as such, and left as it was. */
static void an_arena_too_small_is_left_as_it_was(void **state) {
    sl_fixture *t = *state;
    sl_universe *u = small_universe(t, 1, 2, NULL, 0);
    sl_pairs_options o;
    setting(&o, 0);
    sl_pairs *p = pairs_of(t, u, &o);
    int good = 0;
    for (size_t limit = 64; limit < 100000; limit += limit / 2) {
        sl_arena a = { .limit = limit };
        sl_pair e;
        assert_non_null(sl_arena_alloc(&a, 16));
        const size_t mark = sl_arena_mark(&a);
        sl_status st = sl_pairs_get(&e, &a, p, SL_SPLIT_TRAIN, 3);
        good += st == SL_OK;
        SL_CHECK(t, st == SL_OK || (st == SL_ENOMEM && sl_arena_mark(&a) == mark), "%s with %zu",
                 sl_status_text(st), limit);
        sl_arena_clear(&a);
    }
    assert_in_range(good, 1, 17);
    sl_pairs_free(p);
    sl_universe_free(u);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(pairs_are_what_they_say),
        SL_TEST(tables_are_filled_by_good_rows_in_order),
        SL_TEST(a_pair_is_the_same_in_every_thread_and_order),
        SL_TEST(noise_changes_y_alone),
        SL_TEST(leaving_columns_out_changes_names_alone),
        SL_TEST(columns_are_left_out_with_the_given_probability),
        SL_TEST(raw_columns_are_images_of_plain_ones),
        SL_TEST(raw_amounts_follow_their_laws),
        SL_TEST(limits_leave_good_pairs_alone),
        SL_TEST(after_64_attempts_comes_the_next_base),
        SL_TEST(what_cannot_be_had_is_reported),
        SL_TEST(tokens_of_depth_two_go_round),
        SL_TEST(each_allocation_may_fail),
        SL_TEST(an_arena_too_small_is_left_as_it_was),
    };
    return sl_test_main("pairs.pairs", tests, SL_LEN(tests));
}

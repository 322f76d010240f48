/* Points besides those of a pair: of its mixture, in its columns, with its expression's values. */
#include "pairs/test/naive.h"

enum { MAX_D = SL_UNIVERSE_MAX_VARS, MOST = 256 };

static bool setting(sl_pairs_options *o, int k) {
    *o = sl_pairs_defaults();
    o->points = 64;
    o->draws = 3;
    o->test_size = 40;
    switch (k) {
    case 0: return true;
    case 1: o->noise = 0.5; return true;
    case 2:
        o->drop_column = 1;
        o->shift = 5;
        o->stretch = 10;
        return true;
    case 3: o->max_y = 1; return true; // most points are not valid
    case 4: o->retry = SL_PAIRS_RETRY_WHOLE; return true;
    case 5: o->points = 300; return true; // more in one draw than are requested
    case 6: o->points = 7; return true;
    default: return false;
    }
}

typedef struct fresh {
    double x[MAX_D][MOST], y[MOST];
    int have;
} fresh;

static sl_status draw(fresh *f, sl_arena *a, const sl_pairs *p, const sl_pair *e, int n) {
    const size_t before = sl_arena_mark(a), each = (size_t)(e->data.inputs + 1) * sizeof(double);
    sl_dataset d;
    SL_TRY(sl_pairs_fresh(&d, a, p, e, n));
    assert_true(sl_arena_mark(a) <= before + (size_t)n * each + 15); // scratch is given back
    f->have = (int)d.rows;
    assert_int_equal(d.inputs, e->data.inputs);
    for (int c = 0; c < d.inputs; c++) memcpy(f->x[c], d.x[c], (size_t)d.rows * sizeof(double));
    memcpy(f->y, d.y, (size_t)d.rows * sizeof(double));
    return SL_OK;
}

/* A twin: whole draws from the stream of fresh points, one point after the other; of the valid ones
 * of the last draw as many as are still missing, evenly. */
static void draw_by_hand(sl_fixture *t, fresh *f, const sl_pairs *p, const sl_pair *e, int n) {
    const sl_pairs_options *o = sl_pairs_config(p);
    const int D = sl_universe_config(sl_pairs_universe(p))->variables, N = (int)o->points;
    sl_rng columns, points;
    sl_pairs__start start;
    SL_MUST(t, sl_pairs__start_of(&start, p, e->split, e->index));
    sl_pairs__rng(&columns, p, e->split, start.number, e->attempts - 1, SL_PAIRS__PURPOSE_COLUMNS);
    sl_pairs__rng(&points, p, e->split, start.number, e->attempts - 1, SL_PAIRS__PURPOSE_FRESH);
    sl_rng_uniform(&columns);
    double offset[MAX_D], factor[MAX_D], *x[MAX_D], y;
    for (int v = 0; v < D; v++) {
        offset[v] = o->shift * (2 * sl_rng_uniform(&columns) - 1);
        factor[v] = pow(o->stretch, 2 * sl_rng_uniform(&columns) - 1);
        x[v] = sl_arena_alloc(&t->arena, (size_t)N * sizeof *x[v]);
    }
    int *good = sl_arena_alloc(&t->arena, (size_t)N * sizeof *good);
    f->have = 0;
    for (int d = 0; d < 4 * o->tries * (n / N + 1) && f->have < n; d++) {
        SL_MUST(t, sl_pairs__draw(x, &t->arena, &points, e->mixture, o, D));
        int valid = 0;
        for (int i = 0; i < N; i++) {
            const double *at[MAX_D];
            for (int v = 0; v < D; v++) x[v][i] = x[v][i] * factor[v] + offset[v];
            for (int c = 0; c < e->data.inputs; c++) at[c] = &x[e->column[c] - 1][i];
            SL_MUST(t, sl_expr_eval(&y, &t->arena, e->expr, at, 1, NULL));
            if (fabs(y) < o->max_y) good[valid++] = i;
        }
        const int take = valid < n - f->have ? valid : n - f->have;
        for (int i = 0; i < take; i++) {
            for (int c = 0; c < e->data.inputs; c++)
                f->x[c][f->have] = x[e->column[c] - 1][good[i * valid / take]];
            f->have++;
        }
    }
}

static void fresh_points_are_further_draws(void **state) {
    sl_fixture *t = *state;
    int full = 0, partly = 0, pairs = 0;
    for (int variables = 1; variables <= MAX_D; variables++) {
        sl_universe *u = small_universe(t, 1, variables, NULL, 0.2);
        sl_pairs_options o;
        for (int k = 0; setting(&o, k); k++) {
            sl_pairs *p = pairs_of(t, u, &o);
            for (int i = 0; i < sl_test_iters(t, 8); i++) {
                static fresh a, b, again;
                sl_pair e;
                const int n = i == 0 ? MOST : 1 + (int)sl_rng_below(&t->rng, MOST);
                const sl_split split = (sl_split)(i % SL_SPLIT_COUNT);
                sl_arena_rewind(&t->arena, 0);
                SL_MUST(t, sl_pairs_get(&e, &t->arena, p, split, sl_rng_below(&t->rng, 40)));
                const uint64_t was = sl_pairs__hash_pair(&e);
                SL_MUST(t, draw(&a, &t->arena, p, &e, n));
                SL_MUST(t, draw(&again, &t->arena, p, &e, n));
                SL_CHECK(t, sl_pairs__hash_pair(&e) == was, "the pair has changed");
                draw_by_hand(t, &b, p, &e, n);
                SL_CHECK(t, a.have == b.have && a.have <= n, "setting %d: %d points, not %d", k,
                         a.have, b.have);
                full += a.have == n;
                partly += a.have < n;
                for (int j = 0; j < a.have; j++) {
                    const double *at[MAX_D];
                    double y;
                    for (int c = 0; c < e.data.inputs; c++) {
                        const double off = fabs(a.x[c][j] - b.x[c][j]);
                        SL_CHECK(t, off <= 1e-13 * (1 + fabs(b.x[c][j])),
                                 "setting %d of %d, n %d, have %d: x[%d][%d]: %g, not %g", k,
                                 variables, n, a.have, c, j, a.x[c][j], b.x[c][j]);
                        assert_true(a.x[c][j] == again.x[c][j]);
                        at[c] = &a.x[c][j];
                    }
                    // no noise, and the same each time
                    SL_MUST(t, sl_expr_eval(&y, &t->arena, e.expr, at, 1, NULL));
                    SL_CHECK(t, y == a.y[j] && y == again.y[j] && fabs(y) < o.max_y, "y %g, not %g",
                             a.y[j], y);
                    for (int r = 0; r < e.data.rows; r++)
                        SL_CHECK(t, a.x[0][j] != e.data.x[0][r], "point %d is the pair's point %d",
                                 j, r);
                }
                pairs++;
            }
            sl_pairs_free(p);
        }
        sl_universe_free(u);
    }
    SL_CHECK(t, full > pairs * 9 / 10, "%d of %d have all points, %d not", full, pairs, partly);
}

static void each_allocation_may_fail(void **state) {
    sl_fixture *t = *state;
    static fresh f;
    sl_universe *u = small_universe(t, 1, 2, NULL, 0);
    sl_pairs_options o;
    setting(&o, 3);
    sl_pairs *p = pairs_of(t, u, &o);
    sl_arena held = { 0 };
    sl_pair e;
    SL_MUST(t, sl_pairs_get(&e, &held, p, SL_SPLIT_TEST, 5));
    SL_EACH_ALLOCATION(t, draw(&f, &t->arena, p, &e, 100));
    sl_arena_clear(&held);
    sl_pairs_free(p);
    sl_universe_free(u);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(fresh_points_are_further_draws),
        SL_TEST(each_allocation_may_fail),
    };
    return sl_test_main("pairs.fresh", tests, SL_LEN(tests));
}

/* Pixels: thinned and clipped lines cover what the whole ones do, inside the box and nowhere else.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fixture/fixture.h"
#include "plot/plot_impl.h"

static const sl_box box = { 40, 20, 120, 80 };

static bool in_box(sl_dot d, double more) {
    return d.x >= box.x - more && d.x <= box.x + box.w + more && d.y >= box.y - more &&
           d.y <= box.y + box.h + more;
}

/* Strokes of a path of M, L and h0, as pairs of ends. */
static int read_path(sl_dot (*out)[2], int room, const char *path) {
    int n = 0;
    sl_dot at = { 0, 0 };
    bool move = true;
    for (const char *p = path; *p;) {
        if (*p == 'z') {
            p++;
        } else if (strncmp(p, "h0", 2) == 0) {
            out[n][0] = out[n][1] = at;
            n++;
            p += 2;
        } else {
            if (*p == 'M' || *p == 'L') move = *p++ == 'M';
            char *end;
            sl_dot d;
            d.x = strtod(p, &end);
            assert_true(end > p);
            p = end;
            d.y = strtod(p, &end);
            assert_true(end > p);
            p = end;
            if (!move) {
                assert_true(n < room);
                out[n][0] = at;
                out[n++][1] = d;
            }
            at = d;
            move = false;
        }
    }
    return n;
}

static double distance(sl_dot p, const sl_dot s[2]) {
    const double dx = s[1].x - s[0].x, dy = s[1].y - s[0].y, length = dx * dx + dy * dy;
    double t = length > 0 ? ((p.x - s[0].x) * dx + (p.y - s[0].y) * dy) / length : 0;
    t = SL_MIN(SL_MAX(t, 0), 1);
    return hypot(p.x - s[0].x - t * dx, p.y - s[0].y - t * dy);
}

static double nearest(sl_dot p, sl_dot (*strokes)[2], int n) {
    double best = INFINITY;
    for (int i = 0; i < n; i++) best = SL_MIN(best, distance(p, strokes[i]));
    return best;
}

/* A walk in and around the box, with breaks, at times along the edges. */
static int walk(sl_dot *dots, int n, sl_rng *r) {
    const double step = pow(10, sl_rng_range(r, -1, 2));
    sl_dot at = { sl_rng_range(r, 0, 200), sl_rng_range(r, 0, 120) };
    for (int i = 0; i < n; i++) {
        const uint32_t way = sl_rng_below(r, 4);
        if (way != 0) at.x += step * sl_rng_normal(r);
        if (way != 1) at.y += step * sl_rng_normal(r);
        if (!in_box(at, 300)) at = (sl_dot){ 100, 60 };
        dots[i] = sl_rng_below(r, 12) ? at : (sl_dot){ NAN, NAN };
    }
    return n;
}

static void what_is_inside_is_drawn_and_nothing_else(void **state) {
    sl_fixture *t = *state;
    enum { N = 30 };
    for (int i = 0; i < sl_test_iters(t, 300); i++) {
        sl_dot dots[N], whole[2 * N][2], drawn[2 * N][2];
        sl_str s = { 0 };
        walk(dots, N, &t->rng);
        int n = 0;
        for (int k = 0; k < N; k++) {
            const bool alone =
                (k == 0 || isnan(dots[k - 1].x)) && (k + 1 == N || isnan(dots[k + 1].x));
            if (isnan(dots[k].x)) continue;
            if (!alone && (k == 0 || isnan(dots[k - 1].x))) continue;
            whole[n][0] = alone ? dots[k] : dots[k - 1];
            whole[n++][1] = dots[k];
        }
        sl_plot__line(&s, &box, dots, N);
        const int m = read_path(drawn, SL_LEN(drawn), sl_str_text(&s));
        for (int k = 0; k < m; k++)
            for (int j = 0; j <= 8; j++) {
                const sl_dot p = { drawn[k][0].x + (drawn[k][1].x - drawn[k][0].x) * j / 8,
                                   drawn[k][0].y + (drawn[k][1].y - drawn[k][0].y) * j / 8 };
                SL_CHECK(t, in_box(p, 0), "outside: %g %g", p.x, p.y);
                SL_CHECK(t, nearest(p, whole, n) < 0.02, "not of the line: %g %g", p.x, p.y);
            }
        for (int k = 0; k < n; k++)
            for (int j = 0; j <= 50; j++) {
                const sl_dot p = { whole[k][0].x + (whole[k][1].x - whole[k][0].x) * j / 50,
                                   whole[k][0].y + (whole[k][1].y - whole[k][0].y) * j / 50 };
                if (in_box(p, -0.01))
                    SL_CHECK(t, nearest(p, drawn, m) < 0.02, "left out: %g %g", p.x, p.y);
            }
        sl_str_clear(&s);
    }
}

/* Each column of pixels is covered from the same lowest to the same highest place, breaks stay
 * breaks, and a million points become few. */
static void a_thinned_line_covers_the_same_pixels(void **state) {
    sl_fixture *t = *state;
    enum { N = 20000 };
    sl_dot *dots = sl_malloc(2 * N, sizeof *dots), *kept = dots + N;
    assert_non_null(dots);
    for (int i = 0; i < sl_test_iters(t, 12); i++) {
        const double waves = pow(10, sl_rng_range(&t->rng, 0, 3.5)), noise = i % 2 ? 0.3 : 0;
        int breaks = 0;
        for (int k = 0; k < N; k++) {
            const double x = (double)k / N;
            dots[k] = (sl_dot){ box.x - 5 + (box.w + 10) * x,
                                60 + 30 * sin(waves * x) + noise * sl_rng_normal(&t->rng) };
            if (k % 7001 == 7000) dots[k] = (sl_dot){ NAN, NAN };
            breaks += isnan(dots[k].x);
        }
        memcpy(kept, dots, N * sizeof *dots);
        const int64_t n = sl_plot__thin(kept, N, &box);
        SL_CHECK(t, n < 4 * (2 * box.w + 4) + 4 * breaks, "%lld left", (long long)n);

        double range[2][130][2];
        for (int side = 0; side < 2; side++)
            for (int c = 0; c < 130; c++) range[side][c][0] = 1e9, range[side][c][1] = -1e9;
        const sl_dot *from[] = { dots, kept };
        for (int side = 0; side < 2; side++)
            for (int64_t k = 0; k + 1 < (side ? n : N); k++) {
                const sl_dot *d = from[side] + k;
                if (isnan(d[0].x)) breaks -= side;
                if (isnan(d[0].x) || isnan(d[1].x)) continue;
                for (int j = 0; j <= 200; j++) { // densely along the stroke
                    const double x = d[0].x + (d[1].x - d[0].x) * j / 200;
                    const double y = d[0].y + (d[1].y - d[0].y) * j / 200;
                    const int c = (int)(x - box.x + 5);
                    range[side][c][0] = SL_MIN(range[side][c][0], y);
                    range[side][c][1] = SL_MAX(range[side][c][1], y);
                    if (!side && j == 1) break; // the dots themselves are dense enough
                }
            }
        assert_int_equal(breaks, 0);
        // a twentieth of a pixel sideways is more along a steep stroke
        const double room = 0.15 + 0.05 * 30 * waves / (box.w + 10) + 2 * noise;
        for (int c = 6; c < 5 + box.w; c++)
            for (int end = 0; end < 2; end++)
                SL_CHECK(t, fabs(range[0][c][end] - range[1][c][end]) < room,
                         "waves %g, column %d: %g, not %g", waves, c, range[1][c][end],
                         range[0][c][end]);
    }
    sl_free(dots);
}

/* A wave of some hundred dots stays within a tenth of a pixel; a straight line becomes its ends. */
static void straight_stretches_become_one(void **state) {
    sl_fixture *t = *state;
    enum { N = 400 };
    sl_dot dots[N], kept[N], strokes[N][2];
    for (int k = 0; k < N; k++) dots[k] = (sl_dot){ 40 + k * 0.6, 60 + 25 * sin(k * 0.02) };
    memcpy(kept, dots, sizeof dots);
    const int64_t n = sl_plot__thin(kept, N, &(sl_box){ 40, 20, 240, 80 });
    SL_CHECK(t, n > 10 && n < 120, "%lld of %d", (long long)n, N);
    for (int64_t k = 0; k + 1 < n; k++) memcpy(strokes[k], kept + k, sizeof strokes[k]);
    for (int k = 0; k < N; k++)
        SL_CHECK(t, nearest(dots[k], strokes, (int)n - 1) < 0.06, "dot %d is lost", k);

    for (int k = 0; k < N; k++) kept[k] = (sl_dot){ 40 + k * 0.6, 30 + k * 0.1 };
    assert_true(sl_plot__thin(kept, N, &(sl_box){ 40, 20, 240, 80 }) <= 11);
    assert_true(kept[0].x == 40);
}

/* Nonzero winding number of p. */
static bool in_polygon(sl_dot p, const sl_dot *d, int n) {
    int winding = 0;
    for (int i = 0; i < n; i++) {
        const sl_dot a = d[i], b = d[(i + 1) % n];
        const double side = (b.x - a.x) * (p.y - a.y) - (p.x - a.x) * (b.y - a.y);
        if (a.y <= p.y && b.y > p.y && side > 0) winding++;
        if (a.y > p.y && b.y <= p.y && side < 0) winding--;
    }
    return winding != 0;
}

static double edge_distance(sl_dot p, const sl_dot *d, int n) {
    double best = INFINITY;
    for (int i = 0; i < n; i++)
        best = SL_MIN(best, distance(p, (sl_dot[]){ d[i], d[(i + 1) % n] }));
    return best;
}

static void a_clipped_area_has_the_same_inside(void **state) {
    sl_fixture *t = *state;
    enum { N = 24 };
    for (int i = 0; i < sl_test_iters(t, 300); i++) {
        sl_dot dots[N], work[12 * N], drawn[7 * N][2], around[7 * N];
        sl_str s = { 0 };
        for (int k = 0; k < N; k++) // a band with jumps, which may leave the box on any side
            dots[k] = (sl_dot){ (k < N / 2 ? k : N - 1 - k) * 20.0 - 15,
                                60 + 60 * sl_rng_normal(&t->rng) };
        sl_plot__area(&s, &box, dots, N, work);
        const int n = read_path(drawn, SL_LEN(drawn), sl_str_text(&s));
        for (int k = 0; k < n; k++) {
            around[k] = drawn[k][0];
            assert_true(in_box(drawn[k][0], 0) && in_box(drawn[k][1], 0));
        }
        if (n) around[n] = drawn[n - 1][1];
        for (int k = 0; k < 60; k++) {
            const sl_dot p = { sl_rng_range(&t->rng, box.x, box.x + box.w),
                               sl_rng_range(&t->rng, box.y, box.y + box.h) };
            if (!in_box(p, -0.05) || edge_distance(p, dots, N) < 0.05) continue; // too close to say
            SL_CHECK(t, in_polygon(p, dots, N) == (n && in_polygon(p, around, n + 1)), "%g %g", p.x,
                     p.y);
        }
        sl_str_clear(&s);
    }
}

static void cells_count_every_mark(void **state) {
    sl_fixture *t = *state;
    enum { N = 5000 };
    sl_dot dots[N];
    for (int k = 0; k < N; k++)
        dots[k] = (sl_dot){ sl_rng_range(&t->rng, box.x, box.x + box.w),
                            sl_rng_range(&t->rng, box.y, box.y + box.h) };
    dots[0] = (sl_dot){ box.x, box.y };
    dots[1] = (sl_dot){ box.x + box.w, box.y + box.h }; // belongs to the last cell
    for (int size = 1; size < 9; size++) {
        sl_cells c;
        SL_MUST(t, sl_plot__cells(&c, &t->arena, &box, size, dots, N));
        assert_int_equal(c.columns, (box.w + size - 1) / size);
        assert_int_equal(c.rows, (box.h + size - 1) / size);
        int64_t sum = 0, filled = 0;
        for (int k = 0; k < c.columns * c.rows; k++) {
            sum += c.count[k];
            filled += c.count[k] > 0;
        }
        assert_int_equal(sum, N);
        assert_int_equal(filled, c.filled);
        assert_true(c.count[0] > 0 && c.count[c.columns * c.rows - 1] > 0);
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(what_is_inside_is_drawn_and_nothing_else),
        SL_TEST(a_thinned_line_covers_the_same_pixels),
        SL_TEST(straight_stretches_become_one),
        SL_TEST(a_clipped_area_has_the_same_inside),
        SL_TEST(cells_count_every_mark),
    };
    return sl_test_main("plot.pixels", tests, SL_LEN(tests));
}

/* The fast kernels beside their plain twins in double: odd shapes, every part left out, every level
 * of this CPU. */
#include "nn/test/twins.h"

static const int widths[] = { 1, 3, 8, 13, 16, 24, 31, 40, 64, 104, 264 };
static const int counts[] = { 1, 2, 3, 4, 5, 11 };

static const char *shape_text(int N, int C, int parts) {
    static char text[64];
    snprintf(text, sizeof text, "N %d, C %d, parts %x", N, C, (unsigned)parts);
    return text;
}

/* ---------------------------------------------------------------- residual and norm --------- */

enum { JOIN = 1, BIAS = 2, DROP = 4, NORM = 8, IN_PLACE = 16, SEAMS = 32 };

static void residual_norm_fwd_case(sl_fixture *t, int N, int C, int parts) {
    const size_t n = (size_t)N * (size_t)C;
    const char *shape = shape_text(N, C, parts);
    const both x0 = both_random(t, n, 1, 5), y = both_random(t, n, -2, 2);
    const both b = both_random(t, (size_t)C, -1, 1), gain = both_random(t, (size_t)C, 0.5, 2);
    const both offset = both_random(t, (size_t)C, -1, 1);
    const uint8_t *bits = bytes_random(t, (size_t)N * (((size_t)C + 7) / 8), 256);
    const uint8_t *mask = parts & DROP ? bits : NULL;
    const bool norm = parts & NORM, join = parts & JOIN, bias = parts & BIAS;
    EACH_VARIANT(k, level) {
        const size_t mark = sl_arena_mark(&t->arena);
        const both x = both_copy(t, x0), h = both_new(t, n), stat = both_new(t, 2 * (size_t)N);
        const both xo = parts & IN_PLACE ? x : both_new(t, n);
        k->residual_norm_fwd(join ? xo.f : NULL, norm ? h.f : NULL, norm ? stat.f : NULL, x.f,
                             join ? y.f : NULL, bias ? b.f : NULL, mask, 1.25f,
                             norm ? gain.f : NULL, norm ? offset.f : NULL, 1e-3f, N, C);
        sl_nn_ref_d_residual_norm_fwd(join ? xo.d : NULL, norm ? h.d : NULL, norm ? stat.d : NULL,
                                      x.d, join ? y.d : NULL, bias ? b.d : NULL, mask, 1.25,
                                      norm ? gain.d : NULL, norm ? offset.d : NULL, (double)1e-3f,
                                      N, C);
        if (join) both_agree(t, xo, 1e-6, "xo", level, shape);
        if (norm) both_agree(t, h, 2e-5, "h", level, shape);
        if (norm) both_agree(t, stat, 1e-5, "stat", level, shape);
        sl_arena_rewind(&t->arena, mark);
    }
}

static void residual_norm_fwd_is_its_twin(void **state) {
    sl_fixture *t = *state;
    for (int i = 0; i < SL_LEN(widths); i++)
        for (int j = 0; j < SL_LEN(counts); j++)
            for (int parts = 0; parts < SEAMS; parts++) {
                sl_arena_rewind(&t->arena, 0);
                residual_norm_fwd_case(t, counts[j], widths[i], parts);
            }
}

static void residual_norm_bwd_case(sl_fixture *t, int N, int C, int parts) {
    const size_t n = (size_t)N * (size_t)C;
    const char *shape = shape_text(N, C, parts);
    const both dx0 = both_random(t, n, -1, 1), dh = both_random(t, n, -1, 1);
    const both xo = both_random(t, n, -2, 2), gain = both_random(t, (size_t)C, 0.5, 2);
    const both stat = both_random(t, 2 * (size_t)N, 0.5, 1);
    const both sums0 = both_random(t, 3 * (size_t)C, -1, 1);
    const uint8_t *bits = bytes_random(t, (size_t)N * (((size_t)C + 7) / 8), 256);
    const uint8_t *mask = parts & DROP ? bits : NULL;
    const bool norm = parts & NORM, join = parts & JOIN, bias = parts & BIAS;
    EACH_VARIANT(k, level) {
        const size_t mark = sl_arena_mark(&t->arena);
        const both dx = both_copy(t, dx0), dy = both_new(t, n), sums = both_copy(t, sums0);
        float *sf = sums.f;
        double *sd = sums.d;
        k->residual_norm_bwd(dx.f, join ? dy.f : NULL, bias ? sf : NULL, norm ? sf + C : NULL,
                             norm ? sf + 2 * C : NULL, norm ? dh.f : NULL, norm ? xo.f : NULL,
                             norm ? stat.f : NULL, mask, 1.25f, norm ? gain.f : NULL, N, C);
        sl_nn_ref_d_residual_norm_bwd(dx.d, join ? dy.d : NULL, bias ? sd : NULL,
                                      norm ? sd + C : NULL, norm ? sd + 2 * C : NULL,
                                      norm ? dh.d : NULL, norm ? xo.d : NULL, norm ? stat.d : NULL,
                                      mask, 1.25, norm ? gain.d : NULL, N, C);
        both_agree(t, dx, 5e-6, "dx", level, shape);
        if (join) both_agree(t, dy, 5e-6, "dy", level, shape);
        both_agree(t, sums, 1e-5, "db, dgain, doffset", level, shape);
        sl_arena_rewind(&t->arena, mark);
    }
}

static void residual_norm_bwd_is_its_twin(void **state) {
    sl_fixture *t = *state;
    for (int i = 0; i < SL_LEN(widths); i++)
        for (int j = 0; j < SL_LEN(counts); j++)
            for (int parts = 0; parts < IN_PLACE; parts++) {
                sl_arena_rewind(&t->arena, 0);
                residual_norm_bwd_case(t, counts[j], widths[i], parts);
            }
}

/* A row's bits are the same alone and among others: what a batch holds besides must not matter. */
static void a_row_does_not_see_its_neighbours(void **state) {
    sl_fixture *t = *state;
    enum { N = 7, C = 72 };
    const size_t n = (size_t)N * C, bytes = C / 8;
    const both x = both_random(t, n, -1, 1), y = both_random(t, n, -1, 1);
    const both w = both_random(t, 3 * C, 0, 1);
    const uint8_t *mask = bytes_random(t, N * bytes, 256);
    EACH_VARIANT(k, level) {
        float xo[N * C], h[N * C], stat[2 * N], one_xo[C], one_h[C], one_stat[2];
        k->residual_norm_fwd(xo, h, stat, x.f, y.f, w.f, mask, 2, w.f + C, w.f + 2 * C, 1e-5f, N,
                             C);
        for (size_t r = 0; r < N; r++) {
            k->residual_norm_fwd(one_xo, one_h, one_stat, x.f + r * C, y.f + r * C, w.f,
                                 mask + r * bytes, 2, w.f + C, w.f + 2 * C, 1e-5f, 1, C);
            SL_CHECK(t,
                     memcmp(one_xo, xo + r * C, sizeof one_xo) == 0 &&
                         memcmp(one_h, h + r * C, sizeof one_h) == 0 &&
                         memcmp(one_stat, stat + 2 * r, sizeof one_stat) == 0,
                     "row %zu at %s", r, level);
        }
    }
}

/* ---------------------------------------------------------------- activation ---------------- */

static void silu_is_its_twin(void **state) {
    sl_fixture *t = *state;
    for (int i = 0; i < SL_LEN(widths); i++)
        for (int j = 0; j < SL_LEN(counts); j++)
            for (int in_place = 0; in_place < 2; in_place++) {
                const int N = counts[j], K = widths[i];
                const size_t n = (size_t)N * (size_t)K;
                const char *shape = shape_text(N, K, in_place);
                sl_arena_rewind(&t->arena, 0);
                const both u0 = both_random(t, n, -12, 12), b = both_random(t, (size_t)K, -1, 1);
                const both da0 = both_random(t, n, -1, 1);
                const both db0 = both_random(t, (size_t)K, -1, 1);
                EACH_VARIANT(k, level) {
                    const both u = both_copy(t, u0), a = both_new(t, n), da = both_copy(t, da0);
                    const both du = in_place ? da : both_new(t, n), db = both_copy(t, db0);
                    k->silu_fwd(a.f, u.f, b.f, N, K);
                    sl_nn_ref_d_silu_fwd(a.d, u.d, b.d, N, K);
                    both_agree(t, u, 1e-7, "u", level, shape);
                    both_agree(t, a, 5e-7, "a", level, shape);
                    k->silu_bwd(du.f, db.f, da.f, u.f, N, K);
                    sl_nn_ref_d_silu_bwd(du.d, db.d, da.d, u.d, N, K);
                    both_agree(t, du, 2e-6, "du", level, shape);
                    both_agree(t, db, 5e-6, "db", level, shape);
                }
            }
}

/* Far from 0 the activation is the line or nothing, and NaN is not lost. */
static void silu_far_out(void **state) {
    sl_fixture *t = *state;
    EACH_VARIANT(k, level) {
        float u[8] = { 100, 1e30f, -100, -1e30f, NAN, 0, INFINITY, 30 }, b[8] = { 0 }, a[8];
        k->silu_fwd(a, u, b, 1, 8);
        SL_CHECK(t, a[0] == 100 && a[1] == 1e30f && a[6] == INFINITY && a[7] == 30, "%s", level);
        SL_CHECK(t, a[2] == 0 && a[3] == 0 && a[5] == 0 && isnan(a[4]), "%s", level);
        float da[8] = { 1, 1, 1, 1, 1, 1, 1, 1 }, du[8], db[8] = { 0 };
        u[6] = -30;
        k->silu_bwd(du, db, da, u, 1, 8);
        SL_CHECK(t, du[0] == 1 && du[1] == 1 && du[2] == 0 && du[3] == 0 && isnan(du[4]), "%s",
                 level);
        SL_CHECK(t, du[5] == 0.5f && fabsf(du[6]) < 1e-11f && du[7] == 1, "%s", level);
    }
}

/* ---------------------------------------------------------------- ends of the model --------- */

static void cells_are_their_twin(void **state) {
    sl_fixture *t = *state;
    static const int rows[] = { 1, 3, 4, 63, 64, 70 };
    for (int i = 0; i < SL_LEN(widths); i++)
        for (int j = 0; j < SL_LEN(rows); j++)
            for (int cols = 1; cols <= 3; cols++) {
                const int N = rows[j], C = widths[i];
                const size_t cells = (size_t)N * (size_t)cols, n = cells * (size_t)C;
                const size_t width = (size_t)C;
                const char *shape = shape_text(N, C, cols);
                sl_arena_rewind(&t->arena, 0);
                const both m = both_random(t, cells, -1, 1), e = both_random(t, cells, -1, 1);
                const both wm = both_random(t, width, -1, 1), we = both_random(t, width, -1, 1);
                const both code = both_random(t, width * (size_t)cols, -1, 1);
                const both dx = both_random(t, n, -1, 1);
                EACH_VARIANT(k, level) {
                    const size_t mark = sl_arena_mark(&t->arena);
                    const both x = both_new(t, n), dwm = both_copy(t, wm), dwe = both_copy(t, we);
                    const both dcode = both_copy(t, code);
                    k->cells_fwd(x.f, m.f, e.f, wm.f, we.f, code.f, N, cols, C);
                    sl_nn_ref_d_cells_fwd(x.d, m.d, e.d, wm.d, we.d, code.d, N, cols, C);
                    both_agree(t, x, 5e-7, "x", level, shape);
                    k->cells_bwd(dwm.f, dwe.f, dcode.f, dx.f, m.f, e.f, N, cols, C);
                    sl_nn_ref_d_cells_bwd(dwm.d, dwe.d, dcode.d, dx.d, m.d, e.d, N, cols, C);
                    both_agree(t, dwm, 1e-5, "dwm", level, shape);
                    both_agree(t, dwe, 1e-5, "dwe", level, shape);
                    both_agree(t, dcode, 1e-5, "dcode", level, shape);
                    sl_arena_rewind(&t->arena, mark);
                }
            }
}

static void tokens_are_their_twin(void **state) {
    sl_fixture *t = *state;
    enum { V = 104, T = 9 };
    for (int i = 0; i < SL_LEN(widths); i++)
        for (int N = 0; N <= 40; N += 8) {
            const int C = widths[i];
            const size_t n = (size_t)N * (size_t)C;
            const char *shape = shape_text(N, C, 0);
            sl_arena_rewind(&t->arena, 0);
            const both table = both_random(t, (size_t)V * (size_t)C, -1, 1);
            const both code = both_random(t, (size_t)T * (size_t)C, -1, 1);
            const both dx = both_random(t, n, -1, 1);
            const uint8_t *id = bytes_random(t, (size_t)N, V), *at = bytes_random(t, (size_t)N, T);
            EACH_VARIANT(k, level) {
                const both x = both_new(t, n), dtable = both_copy(t, table);
                const both dcode = both_copy(t, code);
                k->tokens_fwd(x.f, id, at, table.f, code.f, N, C);
                sl_nn_ref_d_tokens_fwd(x.d, id, at, table.d, code.d, N, C);
                both_agree(t, x, 2e-7, "x", level, shape);
                k->tokens_bwd(dtable.f, dcode.f, dx.f, id, at, N, C);
                sl_nn_ref_d_tokens_bwd(dtable.d, dcode.d, dx.d, id, at, N, C);
                both_agree(t, dtable, 5e-6, "dtable", level, shape);
                both_agree(t, dcode, 5e-6, "dcode", level, shape);
            }
        }
}

/* ---------------------------------------------------------------- loss ---------------------- */

enum { APART, ON_Z, NO_GRADIENT, WAYS };

static void xent_is_its_twin(void **state) {
    sl_fixture *t = *state;
    static const int vocabularies[] = { 1, 2, 7, 16, 104, 129, 256 }, rows[] = { 1, 4, 31, 32, 75 };
    for (int i = 0; i < SL_LEN(vocabularies); i++)
        for (int j = 0; j < SL_LEN(rows); j++)
            for (int way = 0; way < WAYS; way++) {
                const int N = rows[j], V = vocabularies[i];
                const size_t n = (size_t)N * (size_t)V;
                const char *shape = shape_text(N, V, way);
                sl_arena_rewind(&t->arena, 0);
                const both z0 = both_random(t, n, -20, 20);
                const uint8_t *target = bytes_random(t, (size_t)N, (uint32_t)V);
                EACH_VARIANT(k, level) {
                    const size_t mark = sl_arena_mark(&t->arena);
                    const both z = both_copy(t, z0), dz = way == ON_Z ? z : both_new(t, n);
                    const double exact =
                        sl_nn_ref_d_xent(way == NO_GRADIENT ? NULL : dz.d, z.d, target, N, V);
                    const double got = k->xent(way == NO_GRADIENT ? NULL : dz.f, z.f, target, N, V);
                    SL_CHECK(t, fabs(got - exact) <= 2e-7 * (N + fabs(exact)),
                             "%s at %s: %.12g, not %.12g", shape, level, got, exact);
                    if (way != NO_GRADIENT) both_agree(t, dz, 1e-6, "dz", level, shape);
                    sl_arena_rewind(&t->arena, mark);
                }
            }
}

/* An id that cannot come (-inf) has no share; a row with NaN, or with infinity, is NaN and leaves
 * the others alone. */
static void xent_takes_infinities(void **state) {
    sl_fixture *t = *state;
    enum { V = 21, N = 6 };
    EACH_VARIANT(k, level) {
        float z[N * V], dz[N * V];
        uint8_t target[N];
        for (int i = 0; i < N * V; i++) z[i] = (float)(i % 5);
        for (int i = 0; i < N; i++) target[i] = (uint8_t)(3 * i);
        z[0 * V + 7] = z[1 * V + 20] = z[4 * V + 0] = -INFINITY;
        z[4 * V + 5] = 1000;
        double loss = k->xent(dz, z, target, N, V);
        SL_CHECK(t, isfinite(loss), "%s: %g", level, loss);
        SL_CHECK(t, dz[7] == 0 && dz[V + 20] == 0 && dz[4 * V] == 0, "%s", level);
        SL_CHECK(t, dz[4 * V + 5] == 1 && dz[4 * V + 12] == -1, "%s", level);
        for (int bad = 0; bad < 2; bad++) {
            z[2 * V + 20] = bad ? INFINITY : NAN;
            loss = k->xent(dz, z, target, N, V);
            SL_CHECK(t, isnan(loss), "%s: %g", level, loss);
            for (int i = 0; i < V; i++) SL_CHECK(t, isnan(dz[2 * V + i]), "%s: %d", level, i);
            for (int i = 0; i < V; i++) SL_CHECK(t, !isnan(dz[1 * V + i]), "%s: %d", level, i);
            for (int i = 0; i < V; i++) SL_CHECK(t, !isnan(dz[3 * V + i]), "%s: %d", level, i);
        }
    }
}

/* ---------------------------------------------------------------- exp ----------------------- */

static double ulps(float y, double exact) {
    const float nearest = (float)exact;
    const double ulp = (double)(nextafterf(nearest, INFINITY) - nearest);
    return fabs((double)y - exact) / ulp;
}

static void exp_is_within_its_ulps(void **state) {
    sl_fixture *t = *state;
    enum { N = 999 };
    for (int cpu = 0; cpu <= (int)sl_cpu_best(); cpu++) {
        const sl_nn__pointwise *k = sl_nn__pointwise_at((sl_isa)cpu);
        float x[N], y[N];
        double worst = 0;
        for (int round = 0; round < sl_test_iters(t, 100); round++) {
            const double wide = round % 2 ? 1 : 87.3;
            for (int i = 0; i < N; i++) x[i] = (float)sl_rng_range(&t->rng, -wide, wide);
            k->exp_array(y, x, N);
            for (int i = 0; i < N; i++) {
                const double u = ulps(y[i], exp((double)x[i]));
                if (u > worst) worst = u;
                SL_CHECK(t, u <= 1.1, "%s: exp(%a) is %a, off by %g ulp", sl_isa_name((sl_isa)cpu),
                         (double)x[i], (double)y[i], u);
            }
        }
        SL_CHECK(t, worst > 0.5, "%g: nothing was measured", worst);
    }
}

/* Also where 2^k is no normal float, and beyond what can be represented. */
static void exp_at_its_edges(void **state) {
    sl_fixture *t = *state;
    static const struct {
        float x, y;
    } known[] = {
        { 0, 1 },
        { -0.0f, 1 },
        { 1e-30f, 1 },
        { -1e-30f, 1 },
        { -INFINITY, 0 },
        { -87.69f, 0 },
        { -88.1f, 0 },
        { -1000, 0 },
        { -3e38f, 0 },
        { 88.38f, INFINITY },
        { 89.5f, INFINITY },
        { 1000, INFINITY },
        { 3e38f, INFINITY },
        { INFINITY, INFINITY },
    };
    for (int cpu = 0; cpu <= (int)sl_cpu_best(); cpu++)
        for (int i = 0; i < SL_LEN(known); i++) {
            // in a whole vector, and in a rest; NaN beside it
            float x[17], y[17];
            for (int j = 0; j < 17; j++) x[j] = j % 2 ? NAN : known[i].x;
            sl_nn__pointwise_at((sl_isa)cpu)->exp_array(y, x, 17);
            for (int j = 0; j < 17; j++)
                SL_CHECK(t, j % 2 ? isnan(y[j]) : y[j] == known[i].y, "%s: exp(%g) is %g",
                         sl_isa_name((sl_isa)cpu), (double)x[j], (double)y[j]);
        }
}

static void every_isa_has_its_table(void **state) {
    (void)state;
#if defined(__x86_64__)
    const int compiled = SL_ISA_COUNT;
#else
    const int compiled = 1;
#endif
    for (int i = 0; i < compiled; i++) {
        const sl_nn__pointwise *k = sl_nn__pointwise_at((sl_isa)i);
#define X(name) assert_true(k->name != NULL);
        SL_NN__POINTWISE(X)
#undef X
        for (int j = 0; j < i; j++) assert_true(sl_nn__pointwise_at((sl_isa)j) != k);
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(residual_norm_fwd_is_its_twin),
        SL_TEST(residual_norm_bwd_is_its_twin),
        SL_TEST(a_row_does_not_see_its_neighbours),
        SL_TEST(silu_is_its_twin),
        SL_TEST(silu_far_out),
        SL_TEST(cells_are_their_twin),
        SL_TEST(tokens_are_their_twin),
        SL_TEST(xent_is_its_twin),
        SL_TEST(xent_takes_infinities),
        SL_TEST(exp_is_within_its_ulps),
        SL_TEST(exp_at_its_edges),
        SL_TEST(every_isa_has_its_table),
    };
    return sl_test_main("nn.pointwise", tests, SL_LEN(tests));
}

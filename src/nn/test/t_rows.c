/* Kernels for single rows: beside plain loops in double, and the same bits whatever rows stand
 * beside them. At all levels that this CPU has. */
#include "nn/rows_impl.h"
#include "nn/test/twins.h"

typedef struct rows {
    int N, C, K, ldx, ldy;
    both x, W, b, y;
    float *panels;
} rows;

static rows rows_random(sl_fixture *t) {
    rows r = { .N = 1 + (int)sl_rng_below(&t->rng, 40),
               .C = 1 + (int)sl_rng_below(&t->rng, sl_rng_below(&t->rng, 4) ? 70 : 700),
               .K = 1 + (int)sl_rng_below(&t->rng, 70) };
    r.ldx = r.C + (int)sl_rng_below(&t->rng, 5);
    r.ldy = r.K + (int)sl_rng_below(&t->rng, 5);
    r.x = both_random(t, (size_t)r.N * (size_t)r.ldx, -1, 1);
    r.y = both_random(t, (size_t)r.N * (size_t)r.ldy, -1, 1);
    r.b = both_random(t, (size_t)r.K, -1, 1);
    const bool across = sl_rng_below(&t->rng, 2);
    const int ldw = (across ? r.K : r.C) + (int)sl_rng_below(&t->rng, 3);
    both W = both_random(t, (size_t)(across ? r.C : r.K) * (size_t)ldw, -1, 1);
    r.W = both_new(t, (size_t)r.K * (size_t)r.C);
    for (int k = 0; k < r.K; k++)
        for (int c = 0; c < r.C; c++) r.W.d[k * r.C + c] = W.d[across ? c * ldw + k : k * ldw + c];
    const size_t n = sl_nn_panels_size(r.C, r.K);
    r.panels = sl_arena_alloc(&t->arena, n * sizeof *r.panels);
    assert_non_null(r.panels);
    sl_nn_panels_pack(r.panels, W.f, ldw, r.C, r.K, across);
    return r;
}

static void products_are_those_of_plain_loops(void **state) {
    sl_fixture *t = *state;
    char shape[96];
    for (int i = 0; i < sl_test_iters(t, 120); i++) {
        sl_arena_rewind(&t->arena, 0);
        rows r = rows_random(t);
        const bool bias = sl_rng_below(&t->rng, 2);
        sl_nn_ref_d_linear_fwd(r.y.d, r.ldy, r.x.d, r.ldx, r.W.d, bias ? r.b.d : NULL, r.N, r.C,
                               r.K);
        for (sl_isa cpu = SL_ISA_BASE; cpu <= sl_cpu_best(); cpu++) {
            sl_nn__rows_at(cpu)->panels_fwd(r.y.f, r.ldy, r.x.f, r.ldx, r.panels,
                                            bias ? r.b.f : NULL, r.N, r.C, r.K);
            snprintf(shape, sizeof shape, "N %d, C %d, K %d, bias %d", r.N, r.C, r.K, bias);
            both_agree(t, r.y, 5e-5, "y", sl_isa_name(cpu), shape);
        }
    }
}

/* Of a batch of rows, and one after the other: the same bits; with FMA or without, one sum in
 * order. */
static void rows_are_independent(void **state) {
    sl_fixture *t = *state;
    for (int i = 0; i < sl_test_iters(t, 60); i++) {
        sl_arena_rewind(&t->arena, 0);
        rows r = rows_random(t);
        float *one = sl_arena_alloc(&t->arena, (size_t)r.K * sizeof *one);
        assert_non_null(one);
        for (sl_isa cpu = SL_ISA_BASE; cpu <= sl_cpu_best(); cpu++) {
            const sl_nn__rows *k = sl_nn__rows_at(cpu);
            k->panels_fwd(r.y.f, r.ldy, r.x.f, r.ldx, r.panels, r.b.f, r.N, r.C, r.K);
            for (int n = 0; n < r.N; n++) {
                k->panels_fwd(one, r.K, r.x.f + n * r.ldx, r.ldx, r.panels, r.b.f, 1, r.C, r.K);
                SL_CHECK(t, memcmp(one, r.y.f + n * r.ldy, (size_t)r.K * sizeof *one) == 0,
                         "%s: row %d of %d depends on the others", sl_isa_name(cpu), n, r.N);
            }
            const float *x = r.x.f, *w = r.panels; // of the first number
            float sum = 0;
            for (int c = 0; c < r.C; c++)
                sum = cpu == SL_ISA_BASE ? sum + x[c] * w[c * SL_PANEL]
                                         : fmaf(x[c], w[c * SL_PANEL], sum);
            SL_CHECK(t, r.y.f[0] == sum + r.b.f[0], "%s: the sum is not taken in order",
                     sl_isa_name(cpu));
        }
    }
}

static void softmax_is_that_of_plain_loops(void **state) {
    sl_fixture *t = *state;
    for (int i = 0; i < sl_test_iters(t, 100); i++) {
        sl_arena_rewind(&t->arena, 0);
        const int N = 1 + (int)sl_rng_below(&t->rng, 6), n = 1 + (int)sl_rng_below(&t->rng, 70);
        const int ld = n + (int)sl_rng_below(&t->rng, 4);
        const float scale = (float)sl_rng_range(&t->rng, 0.01, 3);
        const both from = both_random(t, (size_t)N * (size_t)ld, -20, 20);
        for (sl_isa cpu = SL_ISA_BASE; cpu <= sl_cpu_best(); cpu++) {
            both z = both_copy(t, from);
            sl_nn__rows_at(cpu)->softmax_rows(z.f, ld, scale, N, n);
            for (int r = 0; r < N; r++) {
                double *row = z.d + r * ld, top = row[0], sum = 0;
                for (int k = 0; k < n; k++) top = fmax(top, row[k]);
                for (int k = 0; k < n; k++) sum += row[k] = exp((row[k] - top) * (double)scale);
                for (int k = 0; k < n; k++) row[k] /= sum;
            }
            both_agree(t, z, 1e-6, "softmax", sl_isa_name(cpu), "");
        }
    }
}

static void a_row_attends_to_keys_anywhere(void **state) {
    sl_fixture *t = *state;
    enum { MOST = 40 };
    for (int i = 0; i < sl_test_iters(t, 80); i++) {
        sl_arena_rewind(&t->arena, 0);
        const int H = 1 + (int)sl_rng_below(&t->rng, 4),
                  D = 8 * (1 + (int)sl_rng_below(&t->rng, 9));
        const int T = 1 + (int)sl_rng_below(&t->rng, MOST), d = H * D;
        const both q = both_random(t, (size_t)d, -1, 1);
        const both kv = both_random(t, (size_t)(T * 2 * d), -1, 1);
        both o = both_new(t, (size_t)d);
        const float *at[MOST];
        int order[MOST];
        float p[4 * (MOST + 3)];
        for (int k = 0; k < T; k++) order[k] = k;
        for (int k = T - 1; k > 0; k--) {
            const int other = (int)sl_rng_below(&t->rng, (uint32_t)k + 1), was = order[k];
            order[k] = order[other];
            order[other] = was;
        }
        for (int k = 0; k < T; k++) at[k] = kv.f + order[k] * 2 * d;
        for (int h = 0; h < H; h++) {
            double w[MOST], sum = 0;
            for (int k = 0; k < T; k++) {
                double s = 0;
                for (int c = 0; c < D; c++)
                    s += q.d[h * D + c] * kv.d[order[k] * 2 * d + h * D + c];
                sum += w[k] = exp(s / sqrt(D));
            }
            for (int c = 0; c < D; c++) {
                o.d[h * D + c] = 0;
                for (int k = 0; k < T; k++)
                    o.d[h * D + c] += w[k] / sum * kv.d[order[k] * 2 * d + d + h * D + c];
            }
        }
        for (sl_isa cpu = SL_ISA_BASE; cpu <= sl_cpu_best(); cpu++) {
            sl_nn__rows_at(cpu)->attn_row_fwd(o.f, q.f, at, T, H, D, p);
            both_agree(t, o, 1e-5, "o", sl_isa_name(cpu), "");
        }
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(products_are_those_of_plain_loops),
        SL_TEST(rows_are_independent),
        SL_TEST(softmax_is_that_of_plain_loops),
        SL_TEST(a_row_attends_to_keys_anywhere),
    };
    return sl_test_main("nn.rows", tests, SL_LEN(tests));
}

/* The plain twins: their gradients by central differences in double, and float beside double.
 *
 * A kernel is made a function of one number by weighing its outputs: L = sum of w out. Then its
 * backward pass, given w, must say what (L(q + h) - L(q - h)) / 2h says of every input q. */
#include "nn/test/twins.h"

enum { MOST = 8 }; // arrays of a kernel

typedef struct problem {
    sl_fixture *t;
    int N, C, cols;
    double *in[MOST], *grad[MOST], *w[2];
    size_t n[MOST];
    int inputs;
    const uint8_t *mask, *id, *at;
    bool join, bias, norm;
    double (*loss)(const struct problem *p);
} problem;

static double *doubles(sl_fixture *t, size_t n, double lo, double hi) {
    double *x = sl_arena_alloc(&t->arena, (n + 1) * sizeof *x);
    assert_non_null(x);
    for (size_t i = 0; i < n; i++) x[i] = sl_rng_range(&t->rng, lo, hi);
    return x;
}

static void input(problem *p, size_t n, double lo, double hi) {
    p->in[p->inputs] = doubles(p->t, n, lo, hi);
    p->grad[p->inputs] = doubles(p->t, n, 0, 0);
    p->n[p->inputs++] = n;
}

static double weighed(const double *w, const double *x, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += w[i] * x[i];
    return sum;
}

/* grad[] is what the backward pass said. */
static void differences_agree(problem *p, const char *what) {
    const double h = 1e-5;
    for (int i = 0; i < p->inputs; i++)
        for (size_t k = 0; k < p->n[i]; k++) {
            const double q = p->in[i][k];
            p->in[i][k] = q + h;
            const double above = p->loss(p);
            p->in[i][k] = q - h;
            const double below = p->loss(p);
            p->in[i][k] = q;
            const double slope = (above - below) / (2 * h), got = p->grad[i][k];
            SL_CHECK(p->t, fabs(slope - got) <= 1e-7 * fmax(1, fabs(slope)),
                     "%s: input %d, number %zu: %.12g, by differences %.12g", what, i, k, got,
                     slope);
        }
}

/* ---------------------------------------------------------------- residual and norm --------- */

enum { X, Y, B, GAIN, OFFSET };

static void residual_norm_run(const problem *p, double *xo, double *h, double *stat) {
    sl_nn_ref_d_residual_norm_fwd(p->join ? xo : NULL, h, stat, p->in[X], p->join ? p->in[Y] : NULL,
                                  p->bias ? p->in[B] : NULL, p->mask, 1.25,
                                  p->norm ? p->in[GAIN] : NULL, p->norm ? p->in[OFFSET] : NULL,
                                  1e-2, p->N, p->C);
}

static double residual_norm_loss(const problem *p) {
    const size_t mark = sl_arena_mark(&p->t->arena), n = p->n[X];
    double *xo = doubles(p->t, n, 0, 0), *h = doubles(p->t, n, 0, 0);
    double *stat = doubles(p->t, 2 * (size_t)p->N, 0, 0);
    residual_norm_run(p, xo, h, stat);
    const double sum =
        weighed(p->w[0], p->join ? xo : p->in[X], n) + (p->norm ? weighed(p->w[1], h, n) : 0);
    sl_arena_rewind(&p->t->arena, mark);
    return sum;
}

static void residual_norm_slopes(void **state) {
    sl_fixture *t = *state;
    for (int parts = 0; parts < 16; parts++) {
        sl_arena_rewind(&t->arena, 0);
        problem p = { .t = t,
                      .N = 3,
                      .C = 11,
                      .loss = residual_norm_loss,
                      .join = parts & 1,
                      .bias = parts & 2,
                      .norm = parts & 8 };
        const size_t n = (size_t)p.N * (size_t)p.C, width = (size_t)p.C;
        p.mask = parts & 4 ? bytes_random(t, 2 * (size_t)p.N, 256) : NULL;
        input(&p, n, -2, 2);
        input(&p, n, -2, 2);
        input(&p, width, -1, 1);
        input(&p, width, 0.5, 2);
        input(&p, width, -1, 1);
        for (int i = 0; i < 2; i++) p.w[i] = doubles(t, n, -1, 1);

        double *xo = doubles(t, n, 0, 0), *h = doubles(t, n, 0, 0);
        double *stat = doubles(t, 2 * (size_t)p.N, 0, 0);
        residual_norm_run(&p, xo, h, stat);
        memcpy(p.grad[X], p.w[0], n * sizeof *p.grad[X]);
        sl_nn_ref_d_residual_norm_bwd(p.grad[X], p.join ? p.grad[Y] : NULL,
                                      p.join && p.bias ? p.grad[B] : NULL, p.grad[GAIN],
                                      p.grad[OFFSET], p.w[1], p.join ? xo : p.in[X], stat, p.mask,
                                      1.25, p.norm ? p.in[GAIN] : NULL, p.N, p.C);
        char what[32];
        snprintf(what, sizeof what, "residual_norm, parts %x", (unsigned)parts);
        differences_agree(&p, what);
    }
}

/* ---------------------------------------------------------------- activation ---------------- */

static double silu_loss(const problem *p) {
    const size_t mark = sl_arena_mark(&p->t->arena), n = p->n[0];
    double *a = doubles(p->t, n, 0, 0), *u = doubles(p->t, n, 0, 0);
    memcpy(u, p->in[0], n * sizeof *u);
    sl_nn_ref_d_silu_fwd(a, u, p->in[1], p->N, p->C);
    const double sum = weighed(p->w[0], a, n);
    sl_arena_rewind(&p->t->arena, mark);
    return sum;
}

static void silu_slopes(void **state) {
    sl_fixture *t = *state;
    problem p = { .t = t, .N = 4, .C = 9, .loss = silu_loss };
    const size_t n = (size_t)p.N * (size_t)p.C;
    input(&p, n, -6, 6);
    input(&p, (size_t)p.C, -1, 1);
    p.w[0] = doubles(t, n, -1, 1);
    double *a = doubles(t, n, 0, 0), *u = doubles(t, n, 0, 0);
    memcpy(u, p.in[0], n * sizeof *u);
    sl_nn_ref_d_silu_fwd(a, u, p.in[1], p.N, p.C);
    sl_nn_ref_d_silu_bwd(p.grad[0], p.grad[1], p.w[0], u, p.N, p.C);
    differences_agree(&p, "silu");
}

/* ---------------------------------------------------------------- ends of the model --------- */

static double cells_loss(const problem *p) {
    const size_t mark = sl_arena_mark(&p->t->arena);
    const size_t n = (size_t)p->N * (size_t)p->cols * (size_t)p->C;
    double *x = doubles(p->t, n, 0, 0);
    // m and e are data: w[1] holds both
    const double *m = p->w[1], *e = m + p->N * p->cols;
    sl_nn_ref_d_cells_fwd(x, m, e, p->in[0], p->in[1], p->in[2], p->N, p->cols, p->C);
    const double sum = weighed(p->w[0], x, n);
    sl_arena_rewind(&p->t->arena, mark);
    return sum;
}

static void cells_slopes(void **state) {
    sl_fixture *t = *state;
    problem p = { .t = t, .N = 5, .cols = 3, .C = 7, .loss = cells_loss };
    const size_t cells = (size_t)p.N * (size_t)p.cols, width = (size_t)p.C;
    input(&p, width, -1, 1);
    input(&p, width, -1, 1);
    input(&p, width * (size_t)p.cols, -1, 1);
    p.w[0] = doubles(t, cells * width, -1, 1);
    p.w[1] = doubles(t, 2 * cells, -1, 1);
    sl_nn_ref_d_cells_bwd(p.grad[0], p.grad[1], p.grad[2], p.w[0], p.w[1], p.w[1] + cells, p.N,
                          p.cols, p.C);
    differences_agree(&p, "cells");
}

static double tokens_loss(const problem *p) {
    const size_t mark = sl_arena_mark(&p->t->arena), n = (size_t)p->N * (size_t)p->C;
    double *x = doubles(p->t, n, 0, 0);
    sl_nn_ref_d_tokens_fwd(x, p->id, p->at, p->in[0], p->in[1], p->N, p->C);
    const double sum = weighed(p->w[0], x, n);
    sl_arena_rewind(&p->t->arena, mark);
    return sum;
}

static void tokens_slopes(void **state) {
    sl_fixture *t = *state;
    enum { IDS = 5, PLACES = 4 };
    problem p = { .t = t, .N = 9, .C = 6, .loss = tokens_loss };
    p.id = bytes_random(t, (size_t)p.N, IDS);
    p.at = bytes_random(t, (size_t)p.N, PLACES);
    input(&p, IDS * (size_t)p.C, -1, 1);
    input(&p, PLACES * (size_t)p.C, -1, 1);
    p.w[0] = doubles(t, (size_t)p.N * (size_t)p.C, -1, 1);
    sl_nn_ref_d_tokens_bwd(p.grad[0], p.grad[1], p.w[0], p.id, p.at, p.N, p.C);
    differences_agree(&p, "tokens");
}

static double xent_loss(const problem *p) {
    return sl_nn_ref_d_xent(NULL, p->in[0], p->id, p->N, p->C);
}

static void xent_slopes(void **state) {
    sl_fixture *t = *state;
    problem p = { .t = t, .N = 6, .C = 9, .loss = xent_loss };
    p.id = bytes_random(t, (size_t)p.N, (uint32_t)p.C);
    input(&p, (size_t)p.N * (size_t)p.C, -3, 3);
    assert_true(sl_nn_ref_d_xent(p.grad[0], p.in[0], p.id, p.N, p.C) == xent_loss(&p));
    differences_agree(&p, "xent");
}

/* Two logits apart by 1: log(1 + 1/e) and log(1 + e). */
static void xent_of_a_known_row(void **state) {
    (void)state;
    const double z[] = { 701, 700, 701, 700 };
    const uint8_t target[] = { 0, 1 };
    assert_true(fabs(sl_nn_ref_d_xent(NULL, z, target, 1, 2) - log1p(exp(-1))) < 1e-15);
    assert_true(fabs(sl_nn_ref_d_xent(NULL, z, target, 2, 2) - log1p(exp(-1)) - log1p(exp(1))) <
                1e-15);
}

/* ---------------------------------------------------------------- float beside double ------- */

static void float_twins_are_the_same_text(void **state) {
    sl_fixture *t = *state;
    enum { N = 5, C = 19, COLS = 2 };
    const size_t n = (size_t)N * COLS * C;
    const both x = both_random(t, n, -2, 2), y = both_random(t, n, -2, 2);
    const both b = both_random(t, C, -1, 1), gain = both_random(t, C, 0.5, 2);
    const both code = both_random(t, COLS * C, -1, 1), m = both_random(t, N * COLS, -1, 1);
    const both xo = both_new(t, n), h = both_new(t, n), stat = both_new(t, 2 * N * COLS);
    const uint8_t *mask = bytes_random(t, 3 * N * COLS, 256), *id = bytes_random(t, N * COLS, COLS);
    sl_nn_ref_f_residual_norm_fwd(xo.f, h.f, stat.f, x.f, y.f, b.f, mask, 2, gain.f, b.f, 1e-3f,
                                  N * COLS, C);
    sl_nn_ref_d_residual_norm_fwd(xo.d, h.d, stat.d, x.d, y.d, b.d, mask, 2, gain.d, b.d, 1e-3,
                                  N * COLS, C);
    both_agree(t, xo, 1e-6, "xo", "ref", "");
    both_agree(t, h, 1e-5, "h", "ref", "");
    both_agree(t, stat, 1e-5, "stat", "ref", "");

    const both dx = both_copy(t, y), dy = both_new(t, n), db = both_copy(t, b);
    const both dgain = both_copy(t, b), doffset = both_copy(t, b);
    sl_nn_ref_f_residual_norm_bwd(dx.f, dy.f, db.f, dgain.f, doffset.f, x.f, xo.f, stat.f, mask, 2,
                                  gain.f, N * COLS, C);
    sl_nn_ref_d_residual_norm_bwd(dx.d, dy.d, db.d, dgain.d, doffset.d, x.d, xo.d, stat.d, mask, 2,
                                  gain.d, N * COLS, C);
    both_agree(t, dx, 1e-5, "dx", "ref", "");
    both_agree(t, dy, 1e-5, "dy", "ref", "");
    both_agree(t, db, 1e-5, "db", "ref", "");
    both_agree(t, dgain, 1e-5, "dgain", "ref", "");
    both_agree(t, doffset, 1e-5, "doffset", "ref", "");

    sl_nn_ref_f_silu_fwd(h.f, xo.f, b.f, N * COLS, C);
    sl_nn_ref_d_silu_fwd(h.d, xo.d, b.d, N * COLS, C);
    both_agree(t, h, 1e-6, "a", "ref", "");
    sl_nn_ref_f_silu_bwd(dy.f, db.f, y.f, xo.f, N * COLS, C);
    sl_nn_ref_d_silu_bwd(dy.d, db.d, y.d, xo.d, N * COLS, C);
    both_agree(t, dy, 1e-5, "du", "ref", "");
    both_agree(t, db, 1e-5, "db", "ref", "");

    const both dcode = both_copy(t, code);
    sl_nn_ref_f_cells_fwd(xo.f, m.f, stat.f, b.f, gain.f, code.f, N, COLS, C);
    sl_nn_ref_d_cells_fwd(xo.d, m.d, stat.d, b.d, gain.d, code.d, N, COLS, C);
    both_agree(t, xo, 1e-5, "x", "ref", "");
    sl_nn_ref_f_cells_bwd(db.f, dgain.f, dcode.f, y.f, m.f, stat.f, N, COLS, C);
    sl_nn_ref_d_cells_bwd(db.d, dgain.d, dcode.d, y.d, m.d, stat.d, N, COLS, C);
    both_agree(t, db, 1e-5, "dwm", "ref", "");
    both_agree(t, dgain, 1e-5, "dwe", "ref", "");
    both_agree(t, dcode, 1e-5, "dcode", "ref", "");

    sl_nn_ref_f_tokens_fwd(xo.f, id, id, code.f, code.f, N * COLS, C);
    sl_nn_ref_d_tokens_fwd(xo.d, id, id, code.d, code.d, N * COLS, C);
    both_agree(t, xo, 1e-6, "x", "ref", "");
    sl_nn_ref_f_tokens_bwd(dcode.f, code.f, y.f, id, id, N * COLS, C);
    sl_nn_ref_d_tokens_bwd(dcode.d, code.d, y.d, id, id, N * COLS, C);
    both_agree(t, dcode, 1e-5, "dtable", "ref", "");
    both_agree(t, code, 1e-5, "dcode", "ref", "");

    const double f = sl_nn_ref_f_xent(h.f, y.f, id, N * COLS, C);
    const double d = sl_nn_ref_d_xent(h.d, y.d, id, N * COLS, C);
    assert_true(fabs(f - d) < 1e-5);
    both_agree(t, h, 1e-6, "dz", "ref", "");
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(residual_norm_slopes),
        SL_TEST(silu_slopes),
        SL_TEST(cells_slopes),
        SL_TEST(tokens_slopes),
        SL_TEST(xent_slopes),
        SL_TEST(xent_of_a_known_row),
        SL_TEST(float_twins_are_the_same_text),
    };
    return sl_test_main("nn.pointwise_ref", tests, SL_LEN(tests));
}

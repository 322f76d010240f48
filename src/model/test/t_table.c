/* Sizes, the parameter table, initial values, FLOPs. */
#include <math.h>
#include <string.h>

#include "fixture/fixture.h"
#include "model/model.h"

static sl_model *named(sl_fixture *t, const char *size) {
    sl_model_options o = sl_model_defaults();
    sl_model *m = NULL;
    SL_MUST(t, sl_model_size_find(&o, size));
    SL_MUST(t, sl_model_new(&m, &o));
    return m;
}

/* The paper prints its sizes to two digits behind the point. */
static void the_papers_sizes_come_out(void **state) {
    sl_fixture *t = *state;
    static const struct {
        const char *name;
        double millions;
    } rows[] = {
        { "6.5M", 6.48 },   { "13.5M", 13.40 }, { "24M", 24.01 },
        { "45.5M", 45.53 }, { "93M", 93.08 },
    };
    for (int i = 0; i < SL_LEN(rows); i++) {
        sl_model *m = named(t, rows[i].name);
        double millions = (double)m->count / 1e6;
        assert_string_equal(sl_model_size_of(m->options.width, m->options.layers), rows[i].name);
        SL_CHECK(t, fabs(millions - rows[i].millions) <= 0.005, "%s has %.4f million", rows[i].name,
                 millions);
        sl_model_free(m);
    }
}

/* L (32 d^2 + 40 d) + 2 d^2 + 6 d + V d. */
static void the_count_follows_its_formula(void **state) {
    sl_fixture *t = *state;
    for (int i = 0; i < sl_test_iters(t, 20); i++) {
        sl_model_options o = sl_model_defaults();
        int64_t d = o.width = 8 * (1 + (int)sl_rng_below(&t->rng, 12));
        int64_t L = o.layers = 1 + (int)sl_rng_below(&t->rng, 4);
        o.heads = 1;
        int64_t V = o.vocabulary = 1 + (int)sl_rng_below(&t->rng, 200);
        sl_model *m = NULL;
        SL_MUST(t, sl_model_new(&m, &o));
        int64_t want = L * (32 * d * d + 40 * d) + 2 * d * d + 6 * d + V * d;
        SL_CHECK(t, m->count == want, "width %lld, layers %lld: %lld parameters, not %lld",
                 (long long)d, (long long)L, (long long)m->count, (long long)want);
        sl_model_free(m);
    }
}

/* Tensors stand one behind the other, each at the start of a cache line; names are distinct. */
static void the_table_lays_out_one_block(void **state) {
    sl_fixture *t = *state;
    sl_model *m = named(t, "micro");
    int64_t end = 0, count = 0, encoder = 0;
    for (int i = 0; i < m->n_param; i++) {
        const sl_param *p = &m->param[i];
        int64_t numbers = (int64_t)p->shape[0] * (p->dims == 2 ? p->shape[1] : 1);
        SL_CHECK(t, p->offset % 16 == 0 && p->offset >= end && p->offset < end + 16,
                 "%s stands at %lld, the one before ends at %lld", p->name, (long long)p->offset,
                 (long long)end);
        SL_CHECK(t, p->count == numbers, "%s has %lld numbers", p->name, (long long)p->count);
        SL_CHECK(t, sl_model_find(m, p->name) == i, "%s comes twice", p->name);
        bool matrix = p->dims == 2 && strcmp(p->name, "tokens.weight") != 0;
        SL_CHECK(t, p->regularised == matrix, "%s: regularised is %d", p->name, p->regularised);
        end = p->offset + p->count;
        count += p->count;
        if (p->encoder) encoder += p->count;
    }
    SL_CHECK(t, m->count == count && m->count_encoder == encoder && m->block >= end, "sums");
    SL_CHECK(t, sl_model_find(m, "encoder.2.norm1.weight") == -1, "micro has two layers");
    sl_model_free(m);
}

/* Matrices are normal with the scale asked for, biases 0, gains 1; a tensor's numbers depend on the
 * seed and its place in the table alone. */
static void initial_values_follow_their_law(void **state) {
    sl_fixture *t = *state;
    sl_model *m = named(t, "micro");
    float *a = sl_malloc_aligned((size_t)m->block, sizeof *a);
    float *b = sl_malloc_aligned((size_t)m->block, sizeof *b);
    SL_CHECK(t, a && b, "no memory");
    sl_model_init(a, m, 7);
    sl_model_init(b, m, 8);
    int64_t used = 0;
    for (int i = 0; i < m->n_param; i++) {
        const sl_param *p = &m->param[i];
        double mean = 0, square = 0, equal = 0;
        for (int64_t j = 0; j < p->count; j++) {
            double x = a[p->offset + j];
            mean += x / (double)p->count;
            square += x * x / (double)p->count;
            equal += a[p->offset + j] == b[p->offset + j];
        }
        for (; used < p->offset; used++) SL_CHECK(t, a[used] == 0, "padding is not 0");
        used = p->offset + p->count;
        bool norm = strstr(p->name, "norm") && strstr(p->name, ".weight");
        if (p->dims == 2) {
            double error = 1 / sqrt((double)p->count); // of the mean, in units of the scale
            SL_CHECK(t, fabs(mean / 0.02) < 5 * error && fabs(square / 0.0004 - 1) < 8 * error,
                     "%s: mean %g, mean square %g", p->name, mean, square);
            SL_CHECK(t, equal == 0, "%s does not depend on the seed", p->name);
        } else {
            SL_CHECK(t, mean == norm && square == norm, "%s: mean %g", p->name, mean);
        }
    }
    sl_model_init(b, m, 7);
    SL_CHECK(t, memcmp(a, b, (size_t)m->block * sizeof *a) == 0, "the same seed, other numbers");
    sl_free(b);
    sl_free(a);
    sl_model_free(m);
}

static void default_heads_follow_the_width(void **state) {
    sl_fixture *t = *state;
    static const int rows[][2] = { { 16, 2 },  { 32, 4 },  { 48, 6 }, { 64, 1 },
                                   { 128, 2 }, { 320, 5 }, { 512, 8 } };
    for (int i = 0; i < SL_LEN(rows); i++) {
        sl_model_options o = sl_model_defaults();
        o.width = rows[i][0];
        sl_model *m = NULL;
        SL_MUST(t, sl_model_new(&m, &o));
        SL_CHECK(t, m->options.heads == rows[i][1] && m->options.decoder_layers == 3,
                 "width %d has %lld heads", rows[i][0], (long long)m->options.heads);
        sl_model_free(m);
    }
}

static void wrong_options_are_named(void **state) {
    sl_fixture *t = *state;
    static const struct {
        int64_t width, layers, heads, columns, vocabulary;
        double dropout;
        const char *says;
    } rows[] = {
        { 20, 1, 0, 3, 104, 0, "multiple of 8" }, { 4, 1, 0, 3, 104, 0, "width is 4" },
        { 64, 0, 0, 3, 104, 0, "layers is 0" },   { 64, 1, 3, 3, 104, 0, "3 heads" },
        { 64, 1, 16, 3, 104, 0, "16 heads" },     { 64, 1, 1, 9, 104, 0, "9 columns" },
        { 64, 1, 1, 3, 257, 0, "257 tokens" },    { 64, 1, 1, 3, 104, 0.95, "dropout is 0.95" },
        { 64, 1, 1, 3, 104, NAN, "dropout is" },  { 1024, 1, 1, 3, 104, 0, "at most 512" },
    };
    for (int i = 0; i < SL_LEN(rows); i++) {
        sl_model_options o = sl_model_defaults();
        o.width = rows[i].width;
        o.layers = rows[i].layers;
        o.heads = rows[i].heads;
        o.columns = rows[i].columns;
        o.vocabulary = rows[i].vocabulary;
        o.dropout = rows[i].dropout;
        sl_model *m = NULL;
        sl_status st = sl_model_new(&m, &o);
        SL_CHECK(t, st == SL_EINVAL && strstr(sl_last_error(), rows[i].says), "case %d: %d, %s", i,
                 st, sl_last_error());
    }
    sl_model_options o = sl_model_defaults();
    SL_CHECK(t, sl_model_size_find(&o, "7M") == SL_EINVAL && strstr(sl_last_error(), "micro"), "%s",
             sl_last_error());
}

/* The paper's formula, and ours: without attention and ends, a model of one layer on each side
 * executes what its matrices say. */
static void flops_follow_their_formulas(void **state) {
    sl_fixture *t = *state;
    sl_model *m = named(t, "6.5M");
    double paper = sl_model_flops_paper(m, 192, 31.5);
    SL_CHECK(t, fabs(paper / (3.0 * 6.481e6 * 223.5) - 1) < 1e-3, "%g", paper);
    // by hand for width 256, 64 points, 3 columns, 32 tokens
    double d = 256, rows = 0, pairs_of = 0;
    rows += 192 * 13 + 192 * 16 + 192 * 2 + 64 * 14; // encoder
    rows += 3 * (32 * 14 + 64 * 2);                  // decoder
    rows += 3 + 32;                                  // codes
    pairs_of += 2 * 192 * (3 + 64) + 64 * (3 + 64) + 3 * 32 * (16.5 + 64);
    double thin = 3 * 192 * 6; // the first layer's queries, keys and values
    double want =
        3 * (2 * rows * d * d + 2 * thin * d + 4 * pairs_of * d + 2 * 32 * d * 104 + 4 * 192 * d);
    double have = sl_model_flops(m, 64, 32);
    SL_CHECK(t, fabs(have / want - 1) < 1e-12, "%.12g, not %.12g", have, want);
    sl_model_free(m);
}

static void lack_of_memory_is_reported(void **state) {
    sl_fixture *t = *state;
    sl_model_options o = sl_model_defaults();
    o.width = 16;
    sl_model *m = NULL;
    SL_EACH_ALLOCATION(t, sl_model_new(&m, &o));
    sl_model_free(m);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(the_papers_sizes_come_out),      SL_TEST(the_count_follows_its_formula),
        SL_TEST(the_table_lays_out_one_block),   SL_TEST(initial_values_follow_their_law),
        SL_TEST(default_heads_follow_the_width), SL_TEST(wrong_options_are_named),
        SL_TEST(flops_follow_their_formulas),    SL_TEST(lack_of_memory_is_reported),
    };
    return sl_test_main("model.table", tests, SL_LEN(tests));
}

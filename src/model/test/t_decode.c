/* Decoding one token at a time: the logits of the pass, in bits independent of other prefixes. */
#include <math.h>
#include <string.h>

#include "batch.h"

typedef struct setting {
    int width, layers, decoder_layers, heads, columns, points, length;
} setting;

static const setting settings[] = {
    { 16, 1, 2, 2, 3, 5, 7 },  { 24, 1, 2, 3, 2, 16, 17 }, { 64, 2, 1, 1, 3, 20, 33 },
    { 40, 1, 3, 1, 4, 7, 40 }, { 8, 1, 1, 1, 2, 1, 1 },    { 128, 1, 2, 2, 3, 17, 12 },
};

enum { V = 104 };

typedef struct bench {
    sl_model *m;
    test_batch t;
    float *weights, *memory;
    sl_decoder *decoder;
    int length;
} bench;

static void set_up(sl_fixture *t, bench *x, const setting *s) {
    sl_model_options o = sl_model_defaults();
    o.width = s->width;
    o.layers = s->layers;
    o.decoder_layers = s->decoder_layers;
    o.heads = s->heads;
    o.columns = s->columns;
    x->length = s->length;
    SL_MUST(t, sl_model_new(&x->m, &o));
    random_batch(&x->t, &t->rng, x->m, s->points, (int[]){ s->length, 0 });
    const size_t n = (size_t)x->m->block;
    double *weights = sl_malloc(n, sizeof *weights);
    x->weights = sl_malloc_aligned(n, sizeof(float));
    x->memory = sl_malloc_aligned((size_t)(s->points * s->width), sizeof(float));
    SL_CHECK(t, weights && x->weights && x->memory, "no memory");
    random_weights(weights, &t->rng, x->m);
    for (size_t i = 0; i < n; i++) x->weights[i] = (float)weights[i];
    sl_free(weights);
    sl_work *w = NULL;
    SL_MUST(t, sl_model_work_new(&w, x->m, 1, s->points, 1, 0));
    sl_batch cells = x->t.b;
    cells.ids = cells.targets = NULL;
    cells.begin = NULL;
    sl_model_encode(x->memory, w, x->weights, &cells);
    sl_model_work_free(w);
    SL_MUST(t, sl_model_decoder_new(&x->decoder, x->m, x->weights));
}

static void tear_down(bench *x) {
    sl_model_decoder_free(x->decoder);
    sl_free(x->memory);
    sl_free(x->weights);
    sl_model_free(x->m);
}

/* The logits of a prefix's every position by the pass in double, from the same floats. */
static double *logits_of_pass(sl_fixture *t, const bench *x) {
    double *weights = sl_arena_alloc(&t->arena, (size_t)x->m->block * sizeof *weights);
    double *logits = sl_arena_alloc(&t->arena, (size_t)(x->length * V) * sizeof *logits);
    sl_work_d *w = NULL;
    SL_CHECK(t, weights && logits, "no memory");
    for (int64_t i = 0; i < x->m->block; i++) weights[i] = (double)x->weights[i];
    SL_MUST(t, sl_model_work_new_d(&w, x->m, 1, x->t.b.points, x->length, 0));
    sl_model_pass_d(w, NULL, logits, weights, &x->t.b, (sl_dropout){ 0 });
    sl_model_work_free_d(w);
    return logits;
}

static void cached_logits_are_those_of_the_pass(void **state) {
    sl_fixture *t = *state;
    for (int k = 0; k < SL_LEN(settings); k++) {
        sl_arena_rewind(&t->arena, 0);
        bench x = { 0 };
        sl_prefixes *p = NULL;
        set_up(t, &x, &settings[k]);
        const double *want = logits_of_pass(t, &x);
        SL_MUST(t, sl_model_prefixes_new(&p, x.decoder, settings[k].points + 3, 1));
        sl_model_prefixes_begin(p, x.memory, settings[k].points);
        int node = -1;
        for (int i = 0; i < x.length; i++) {
            float logits[V];
            SL_MUST(t, sl_model_prefixes_add(&node, p, node, x.t.ids[i]));
            sl_model_prefixes_run(logits, p, &node, 1, 0);
            double largest = 1;
            for (int v = 0; v < V; v++) largest = fmax(largest, fabs(want[i * V + v]));
            for (int v = 0; v < V; v++) {
                const double wrong = fabs((double)logits[v] - want[i * V + v]);
                SL_CHECK(t, wrong <= 1e-5 * largest,
                         "setting %d, position %d, token %d: %.9g, not %.9g", k, i, v,
                         (double)logits[v], want[i * V + v]);
            }
        }
        sl_model_prefixes_free(p);
        tear_down(&x);
    }
}

/* A tree that grows at random, run in parts of any size by any worker; each node's logits are those
 * of its prefix alone in a tree of its own. */
enum { NODES = 150 };

typedef struct grown {
    int node, parent, id, depth; // parent: place in the list
    float logits[V];
} grown;

static void grow(sl_fixture *t, sl_prefixes *p, grown *list) {
    int n = 0;
    SL_MUST(t, sl_model_prefixes_add(&list[0].node, p, -1, 1));
    list[0].parent = -1;
    list[0].id = 1;
    list[0].depth = 0;
    sl_model_prefixes_run(list[n++].logits, p, &list[0].node, 1, 0);
    while (n < NODES) {
        // the new ones have parents that have been run
        const int wanted = 1 + (int)sl_rng_below(&t->rng, 30), more = SL_MIN(NODES - n, wanted);
        int node[30];
        for (int i = 0; i < more; i++) {
            grown *g = &list[n + i];
            do g->parent = (int)sl_rng_below(&t->rng, (uint32_t)n);
            while (list[g->parent].depth > 20);
            g->id = (int)sl_rng_below(&t->rng, V);
            g->depth = list[g->parent].depth + 1;
            SL_MUST(t, sl_model_prefixes_add(&g->node, p, list[g->parent].node, g->id));
            node[i] = g->node;
        }
        const int cut = (int)sl_rng_below(&t->rng, (uint32_t)more + 1);
        float logits[30 * V];
        if (cut > 0) sl_model_prefixes_run(logits, p, node, cut, 1);
        if (cut < more) sl_model_prefixes_run(logits + cut * V, p, node + cut, more - cut, 0);
        for (int i = 0; i < more; i++)
            memcpy(list[n + i].logits, logits + i * V, sizeof list[0].logits);
        n += more;
    }
}

static void alone(sl_fixture *t, float *logits, sl_prefixes *p, const bench *x, const grown *list,
                  int at) {
    int way[64], n = 0, node = -1;
    for (int i = at; i >= 0; i = list[i].parent) way[n++] = list[i].id;
    sl_model_prefixes_begin(p, x->memory, x->t.b.points);
    while (n > 0) {
        SL_MUST(t, sl_model_prefixes_add(&node, p, node, way[--n]));
        sl_model_prefixes_run(logits, p, &node, 1, 0);
    }
}

static void a_node_does_not_depend_on_company(void **state) {
    sl_fixture *t = *state;
    for (int k = 0; k < SL_LEN(settings); k++) {
        bench x = { 0 };
        sl_prefixes *p = NULL, *q = NULL;
        set_up(t, &x, &settings[k]);
        grown *list = sl_malloc(NODES, sizeof *list);
        assert_non_null(list);
        SL_MUST(t, sl_model_prefixes_new(&p, x.decoder, settings[k].points, 2));
        SL_MUST(t, sl_model_prefixes_new(&q, x.decoder, settings[k].points, 1));
        sl_model_prefixes_begin(p, x.memory, settings[k].points);
        grow(t, p, list);
        assert_int_equal(sl_model_prefixes_alive(p), NODES);
        for (int i = 0; i < NODES; i += 7) {
            float logits[V];
            alone(t, logits, q, &x, list, i);
            SL_CHECK(t, memcmp(logits, list[i].logits, sizeof logits) == 0,
                     "setting %d: node %d of depth %d differs alone", k, i, list[i].depth);
        }
        sl_free(list);
        sl_model_prefixes_free(q);
        sl_model_prefixes_free(p);
        tear_down(&x);
    }
}

/* Dropping a leaf frees its ancestors without other children; their room is used again. */
static void dropped_nodes_are_used_again(void **state) {
    sl_fixture *t = *state;
    bench x = { 0 };
    sl_prefixes *p = NULL;
    int root, a, b, c;
    set_up(t, &x, &settings[0]);
    SL_MUST(t, sl_model_prefixes_new(&p, x.decoder, 5, 1));
    sl_model_prefixes_begin(p, x.memory, 5);
    SL_MUST(t, sl_model_prefixes_add(&root, p, -1, 1));
    SL_MUST(t, sl_model_prefixes_add(&a, p, root, 2));
    SL_MUST(t, sl_model_prefixes_add(&b, p, root, 3));
    SL_MUST(t, sl_model_prefixes_add(&c, p, a, 4));
    sl_model_prefixes_drop(p, root);
    sl_model_prefixes_drop(p, a); // c is behind both
    assert_int_equal(sl_model_prefixes_alive(p), 4);
    sl_model_prefixes_drop(p, c);
    assert_int_equal(sl_model_prefixes_alive(p), 2);
    sl_model_prefixes_drop(p, b);
    assert_int_equal(sl_model_prefixes_alive(p), 0);
    const int64_t bytes = sl_mem_bytes();
    for (int i = 0; i < 1000; i++) {
        SL_MUST(t, sl_model_prefixes_add(&root, p, -1, 1));
        SL_MUST(t, sl_model_prefixes_add(&a, p, root, 2));
        sl_model_prefixes_drop(p, root);
        sl_model_prefixes_drop(p, a);
    }
    assert_true(sl_mem_bytes() == bytes);
    sl_model_prefixes_free(p);
    tear_down(&x);
}

static sl_status make_all(const bench *x) {
    sl_decoder *d = NULL;
    sl_prefixes *p = NULL;
    sl_status st;
    int node = -1;
    SL_GO(sl_model_decoder_new(&d, x->m, x->weights));
    SL_GO(sl_model_prefixes_new(&p, d, 5, 2));
    sl_model_prefixes_begin(p, x->memory, 5);
    for (int i = 0; i < 700; i++) SL_GO(sl_model_prefixes_add(&node, p, i % 200 ? node : -1, 3));
done:
    sl_model_prefixes_free(p);
    sl_model_decoder_free(d);
    return st;
}

static void lack_of_memory_is_reported(void **state) {
    sl_fixture *t = *state;
    bench x = { 0 };
    set_up(t, &x, &settings[0]);
    SL_EACH_ALLOCATION(t, make_all(&x));
    tear_down(&x);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(cached_logits_are_those_of_the_pass),
        SL_TEST(a_node_does_not_depend_on_company),
        SL_TEST(dropped_nodes_are_used_again),
        SL_TEST(lack_of_memory_is_reported),
    };
    return sl_test_main("model.decode", tests, SL_LEN(tests));
}

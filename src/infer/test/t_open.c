/* Models from files: what was saved comes back, and an unknown vocabulary is refused. */
#include "small.h"

/* Writes the weights with a configuration as training has it. */
static const char *save(sl_fixture *t, const sl_infer *m, int variables, int points) {
    const sl_infer_info *i = sl_infer_about(m);
    const sl_model_options *o = &i->model->options;
    const char *path = sl_test_path("model.safetensors");
    const int n = i->model->n_param;
    sl_str config = { 0 };
    sl_st_tensor *list = sl_arena_alloc(&t->arena, (size_t)n * sizeof *list);
    assert_non_null(list);
    for (int k = 0; k < n; k++) {
        const sl_param *p = &i->model->param[k];
        list[k] = (sl_st_tensor){ .name = p->name,
                                  .dtype = SL_F32,
                                  .dims = p->dims,
                                  .shape = { p->shape[0], p->shape[1] },
                                  .data = i->weights + p->offset };
    }
    sl_io_json_open(&config, NULL, '{');
    for (const sl_option *r = sl_model_table.row; r < sl_model_table.row + sl_model_table.n; r++)
        if (r->kind == SL_KIND_INT)
            sl_io_json_add_int(&config, r->name, (int64_t)sl_option_number(o, r));
        else
            sl_io_json_add_real(&config, r->name, sl_option_number(o, r));
    sl_io_json_add_int(&config, "variables", variables);
    sl_io_json_add_int(&config, "points", points);
    sl_io_json_close(&config, '}');
    SL_MUST(t, sl_str_status(&config));
    const sl_st_text texts[] = {
        { "config", config.text }, { "kind", "model" }, { "step", "5" },     { "vocabulary", "" },
        { "universe", "" },        { "level", "" },     { "libraries", "" },
    };
    SL_MUST(t, sl_ckpt_st_write(path, list, n, texts, SL_LEN(texts)));
    sl_str_clear(&config);
    return path;
}

static void what_was_saved_comes_back(void **state) {
    sl_fixture *t = *state;
    small s = { 0 };
    sl_infer *m;
    small_begin(t, &s, 0.3);
    SL_MUST(t, sl_infer_open(&m, save(t, s.m, 2, 17)));
    const sl_infer_info *a = sl_infer_about(s.m), *b = sl_infer_about(m);
    assert_string_equal(a->hash, b->hash);
    assert_int_equal(b->variables, 2);
    assert_int_equal(b->points, 17);
    assert_int_equal(b->step, 5);
    sl_infer_close(m);
    small_end(&s);
}

/* The shapes of tensors do not determine how many variables there are. */
static void variables_without_tokens_are_refused(void **state) {
    sl_fixture *t = *state;
    small s = { 0 };
    small_begin(t, &s, 0.3);
    for (int variables = 0; variables < SL_NN_MAX_COLUMNS; variables++) {
        sl_infer *m = NULL;
        const bool good = variables >= 1 && variables <= 3;
        const sl_status st = sl_infer_open(&m, save(t, s.m, variables, 64));
        SL_CHECK(t, st == (good ? SL_OK : SL_EFORMAT), "%d variables: status %d", variables,
                 (int)st);
        sl_infer_close(m);
    }
    small_end(&s);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(what_was_saved_comes_back),
        SL_TEST(variables_without_tokens_are_refused),
    };
    return sl_test_main("infer.open", tests, SL_LEN(tests));
}

/* A weights file is a model: what it must have, defaults of older formats, files that are none. */
#include "ckpt/test/run.h"

static void a_model_needs_its_configuration(void **state) {
    sl_fixture *t = *state;
    static const struct {
        const char *name, *value, *reason;
    } rows[] = {
        { "width", NULL, "its configuration lacks \"width\"" },
        { "layers", NULL, "its configuration lacks \"layers\"" },
        { "decoder-layers", NULL, "its configuration lacks \"decoder-layers\"" },
        { "heads", NULL, "its configuration lacks \"heads\"" },
        { "variables", NULL, "its configuration lacks \"variables\"" },
        { "heads", "\"1\"", "\"heads\" of its config is a text, not a whole number" },
        { "heads", "1.0", "\"heads\" of its config is a number, not a whole number" },
        { "dropout", "null", "\"dropout\" of its config is null, not a number" },
        { "heads", "2", "2 heads cannot share a width of 24" },
        { "width", "17", "width is 17" },
        { "width", "-8", "width is -8" },
        { "width", "9223372036854775807", "width is" },
        { "variables", "9223372036854775807", "has 9223372036854775807 variables" },
        { "variables", "-1", "has -1 variables" },
        { "width", "32", "is F32 (24, 1), where the model needs F32 (32, 1)" },
        { "layers", "2", "no tensor \"encoder.1.norm1.weight\"" },
        { "decoder-layers", "1", "tensor \"decoder.1.norm1.weight\" is none of this model" },
    };
    const sl_model_options o = small();
    run a = make(t, &o, &t->rng);
    empty_folder();
    for (int i = 0; i < SL_LEN(rows); i++) {
        SL_MUST(t, save_as(&a, 1, config_with(&o, rows[i].name, rows[i].value)));
        not_a_model(t, "model-00000001.safetensors", rows[i].reason);
    }
    config_clear();
    SL_MUST(t, save_as(&a, 1, "{"));
    not_a_model(t, "model-00000001.safetensors", "its config: JSON, line 1");
    SL_MUST(t, save_as(&a, 1, "[3]"));
    not_a_model(t, "model-00000001.safetensors", "its config is an array, not an object");
    drop(&a);
}

/* A configuration from before an option existed, and of a version to come. */
static void what_a_configuration_lacks_has_its_default(void **state) {
    sl_fixture *t = *state;
    static const char *const lacking[] = { "dropout", "attention-dropout", "norm-eps",
                                           "init-scale" };
    const sl_model_options o = small(), preset = sl_model_defaults();
    run a = make(t, &o, &t->rng);
    empty_folder();
    for (int i = 0; i < SL_LEN(lacking); i++) {
        sl_model *m;
        float *weights;
        sl_ckpt_loaded l;
        SL_MUST(t, save_as(&a, 1, config_with(&o, lacking[i], NULL)));
        SL_MUST(t, sl_ckpt_open_model(&m, &weights, &l, in_folder("model-00000001.safetensors")));
        const double got[] = { m->options.dropout, m->options.attention_dropout,
                               m->options.norm_eps, m->options.init_scale };
        const double want[] = { preset.dropout, preset.attention_dropout, preset.norm_eps,
                                preset.init_scale };
        assert_true(got[i] == want[i]);
        SL_CHECK(t, l.missing && strstr(l.missing, lacking[i]), "%s", lacking[i]);
        sl_ckpt_loaded_clear(&l);
        sl_free(weights);
        sl_model_free(m);
    }
    static const char *const formats[][2] = {
        { "2", "a newer version" }, { "0", "from 1" },
        { "\"1\"", "from 1" },      { "1.0", "from 1" },
        { "null", "from 1" },       { "9223372036854775807", "a newer version" }
    };
    for (int i = 0; i < SL_LEN(formats); i++) {
        char text[100];
        snprintf(text, sizeof text, "{\"format\":%s}", formats[i][0]);
        SL_MUST(t, save_as(&a, 1, text));
        not_a_model(t, "model-00000001.safetensors", formats[i][1]);
    }
    config_clear();
    drop(&a);
}

/* Of rows for one option, the one with the lowest last format that is not below the asked one. */
static void older_defaults_hold_up_to_their_format(void **state) {
    (void)state;
    static const sl_ckpt_older rows[] = {
        { "lr", 5, 5e-4 }, { "clip", 2, 1 }, { "lr", 2, 2e-4 }, { .option = NULL }
    };
    static const struct {
        const char *option;
        int format;
        double value; // 0: today's
    } want[] = { { "lr", 1, 2e-4 }, { "lr", 2, 2e-4 }, { "lr", 3, 5e-4 }, { "lr", 5, 5e-4 },
                 { "lr", 6, 0 },    { "clip", 1, 1 },  { "clip", 3, 0 },  { "l", 1, 0 } };
    for (int i = 0; i < SL_LEN(want); i++) {
        const sl_ckpt_older *got = sl_ckpt__older_find(rows, want[i].option, want[i].format);
        assert_true(got ? got->value == want[i].value : want[i].value == 0);
    }
    assert_null(sl_ckpt_older_default("lr", SL_CKPT_CONFIG_FORMAT)); // today's are in the tables
}

static void other_files_are_no_models(void **state) {
    sl_fixture *t = *state;
    const sl_model_options o = small();
    run a = make(t, &o, &t->rng);
    empty_folder();
    SL_MUST(t, save(&a, 1));
    not_a_model(t, "state-00000001.safetensors", "its kind is \"state\", not \"model\"");
    flip("model-00000001.safetensors", -1, 0);
    not_a_model(t, "model-00000001.safetensors", "damaged");

    // a checkpoint file without weights; a file of another program with its own metadata
    const sl_st_text text[] = { { "kind", "model" },         { "step", "1" },
                                { "config", config_of(&a) }, { "vocabulary", "" },
                                { "universe", "" },          { "level", "" },
                                { "libraries", "" } };
    SL_MUST(t, sl_ckpt_st_write(in_folder("bare"), NULL, 0, text, SL_LEN(text)));
    not_a_model(t, "bare", "no table of tokens");
    SL_MUST(t, sl_ckpt_st_write(in_folder("bare"), NULL, 0, text + 3, SL_LEN(text) - 3));
    not_a_model(t, "bare", "no symlaw model: its metadata lack kind, step, config");
    static const char *const steps[] = { "", "-1", "1x", "9999999999999999999" };
    for (int i = 0; i < SL_LEN(steps); i++) {
        sl_st_text odd[SL_LEN(text)];
        memcpy(odd, text, sizeof odd);
        odd[1].text = steps[i];
        SL_MUST(t, sl_ckpt_st_write(in_folder("bare"), NULL, 0, odd, SL_LEN(odd)));
        not_a_model(t, "bare", "its step is \"");
    }
    config_clear();
    drop(&a);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(a_model_needs_its_configuration),
        SL_TEST(what_a_configuration_lacks_has_its_default),
        SL_TEST(older_defaults_hold_up_to_their_format),
        SL_TEST(other_files_are_no_models),
    };
    return sl_test_main("ckpt.open", tests, SL_LEN(tests));
}

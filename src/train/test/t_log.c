/* The log is cut where it should be; sums come back with all their bits; configurations differ by
 * name. */
#include "train/test/tiny.h"

static const char *write_file(sl_fixture *t, const char *text) {
    const char *path = sl_test_path("log.jsonl");
    sl_file *f;
    SL_MUST(t, sl_file_create(&f, path));
    SL_MUST(t, sl_file_write(f, text, strlen(text)));
    SL_MUST(t, sl_file_commit(&f));
    return path;
}

static void a_log_is_cut_behind_its_step(void **state) {
    sl_fixture *t = *state;
    static const char one[] = "{\"event\":\"step\",\"step\":1}\n",
                      two[] = "{\"event\":\"v\",\"step\":2}\n",
                      three[] = "{\"event\":\"pass\",\"step\":3}\n";
    char text[400], want[400];
    for (int keep = 0; keep <= 4; keep++)
        for (size_t torn = 0; torn <= 8; torn += 4) {
            snprintf(text, sizeof text, "%s%snonsense\n[]\n{\"step\":\"1\"}\n%s%.*s", one, two,
                     three, (int)torn, one);
            const char *path = write_file(t, text);
            sl_train__log log;
            SL_MUST(t, sl_train__log_open(&log, path, keep, false));
            sl_train__log_begin(&log, "step", 7);
            sl_io_json_add_real(&log.line, "loss", 0.5);
            SL_MUST(t, sl_train__log_end(&log));
            SL_MUST(t, sl_train__log_sync(&log));
            sl_train__log_close(&log);
            sl_train__log_close(&log);
            char *got;
            SL_MUST(t, sl_file_read(&got, NULL, path, 1000));
            snprintf(want, sizeof want, "%s%s%s{\"event\":\"step\",\"step\":7,\"loss\":0.5}\n",
                     keep >= 1 ? one : "", keep >= 2 ? two : "", keep >= 3 ? three : "");
            SL_CHECK(t, strcmp(got, want) == 0, "cut at %d, torn at %zu:\n%s", keep, torn, got);
            sl_free(got);
        }
    // a line that lacks only its end is whole
    const char *path = write_file(t, "{\"event\":\"step\",\"step\":1}");
    sl_train__log log;
    SL_MUST(t, sl_train__log_open(&log, path, 1, false));
    sl_train__log_close(&log);
    char *got;
    SL_MUST(t, sl_file_read(&got, NULL, path, 1000));
    assert_string_equal(got, one);
    sl_free(got);
    unlink(path);
}

static sl_status open_and_write(const char *path) {
    sl_train__log log;
    sl_status st = sl_train__log_open(&log, path, 1, false);
    if (st == SL_OK) {
        sl_train__log_begin(&log, "step", 2);
        st = sl_train__log_end(&log);
    }
    sl_train__log_close(&log);
    return st;
}

static void faults_of_a_log_are_reported(void **state) {
    sl_fixture *t = *state;
    const char *path = write_file(t, "{\"event\":\"step\",\"step\":1}\n");
    SL_EACH_ALLOCATION(t, open_and_write(path));
    for (int n = 1; n <= 4; n++) { // two writes, a commit, a line
        sl_file_fail_at(n);
        tiny_says(t, open_and_write(path), SL_EIO, "log.jsonl", "space");
    }
    sl_file_fail_at(0);
    SL_MUST(t, open_and_write(path));
    unlink(path);
    tiny_says(t, open_and_write(sl_test_path("none/log.jsonl")), SL_EIO, "none", "does not exist");
}

static void sums_come_back_with_all_their_bits(void **state) {
    sl_fixture *t = *state;
    for (int i = 0; i < sl_test_iters(t, 200); i++) {
        sl_train__tally a = { 0 }, b;
        double *real[] = { &a.seconds,
                           &a.line_loss,
                           &a.line_grad_norm,
                           &a.line_seconds,
                           &a.loss,
                           &a.loss_expression,
                           &a.loss_valid,
                           &a.loss_valid_expression,
                           &a.pairs_per_second };
        int64_t *whole[] = { &a.tokens, &a.line_steps, &a.line_tokens, &a.line_clipped };
        for (int k = 0; k < SL_LEN(real); k++)
            *real[k] = exp(20 * sl_rng_normal(&t->rng)) * sl_rng_normal(&t->rng);
        for (int k = 0; k < SL_LEN(whole); k++)
            *whole[k] = (int64_t)(sl_rng_u64(&t->rng) >> sl_rng_below(&t->rng, 63) >> 1);
        sl_str s = { 0 };
        sl_train__tally_write(&s, &a);
        memset(&b, 0, sizeof b);
        sl_str none = { 0 };
        SL_MUST(t, sl_train__tally_read(&b, &none, s.text));
        assert_int_equal(none.len, 0);
        SL_CHECK(t, memcmp(&a, &b, sizeof a) == 0, "not the same: %s", s.text);
        sl_str_clear(&s);
    }
    sl_train__tally a, b;
    sl_str s = { 0 }, missing = { 0 };
    sl_train__tally_init(&a);
    sl_train__tally_write(&s, &a);
    SL_MUST(t, sl_train__tally_read(&b, &missing, s.text));
    assert_true(isnan(b.loss) && isnan(b.loss_valid_expression) && b.tokens == 0);
    sl_str_clear(&s);
    tiny_says(t, sl_train__tally_read(&b, &missing, "{\"seconds\":1,\"tokens\":1.5}"), SL_EFORMAT,
              "progress", "tokens");
    tiny_says(t, sl_train__tally_read(&b, &missing, "{\"seconds\":\"1\"}"), SL_EFORMAT, "progress",
              "seconds");
    tiny_says(t, sl_train__tally_read(&b, &missing, "[]"), SL_EFORMAT, "progress", "object");
    assert_int_equal(sl_train__tally_read(&b, &missing, "{"), SL_EFORMAT);
    assert_int_equal(missing.len, 0);

    // what an older version has not counted stays as it is, and is named
    b.tokens = 77;
    SL_MUST(t, sl_train__tally_read(&b, &missing, "{\"seconds\":1.5,\"of_a_later_one\":3}"));
    assert_true(b.tokens == 77 && b.seconds == 1.5);
    assert_non_null(strstr(sl_str_text(&missing), "\"tokens\", \"line_steps\""));
    assert_null(strstr(sl_str_text(&missing), "\"seconds\""));
    sl_str_clear(&missing);
}

static void configurations_differ_by_name(void **state) {
    sl_fixture *t = *state;
    static const struct {
        const char *mine, *kept, *name; // NULL: the same
    } row[] = {
        { "{}", "{}", NULL },
        { "{\"a\":1}", "{\"a\":1.0}", NULL },
        { "{\"a\":1,\"b\":\"x\"}", "{\"b\":\"x\",\"a\":1}", NULL },
        { "{\"a\":1,\"b\":\"x\"}", "{\"b\":\"y\",\"a\":1}", "b" },
        { "{\"a\":1}", "{\"a\":2}", "a" },
        { "{\"a\":1}", "{}", NULL }, // from before it existed
        { "{}", "{\"a\":1}", "a" },
        { "{\"format\":2}", "{\"format\":1}", NULL },
        { "{\"a\":true}", "{\"a\":false}", "a" },
        { "{\"a\":true}", "{\"a\":1}", "a" },
        { "{\"a\":null}", "{\"a\":null}", NULL },
        { "{\"a\":[1,2]}", "{\"a\":[1,2]}", NULL },
        { "{\"a\":[1,2]}", "{\"a\":[1,3]}", "a" },
        { "{\"a\":[1,2]}", "{\"a\":[1]}", "a" },
        { "{\"a\":{\"b\":1}}", "{\"a\":{\"b\":1}}", NULL },
        { "{\"a\":{\"b\":1}}", "{\"a\":{\"b\":2}}", "a" },
        { "{\"a\":{\"b\":1}}", "{\"a\":{}}", "a" },
        { "{\"a\":{\"b\":1}}", "{\"a\":{\"c\":1}}", "a" },
        { "{\"checkpoint-steps\":1}", "{\"checkpoint-steps\":2}", NULL },
        { "{\"checkpoint-minutes\":1}", "{}", NULL },
        { "{}", "{\"run\":{\"level\":\"x\"}}", NULL },
    };
    for (int i = 0; i < SL_LEN(row); i++) {
        sl_json *a, *b;
        char name[50] = "";
        SL_MUST(t, sl_io_json_parse(&a, row[i].mine, strlen(row[i].mine)));
        SL_MUST(t, sl_io_json_parse(&b, row[i].kept, strlen(row[i].kept)));
        const bool differs = sl_train__config_differs(name, sizeof name, a, b);
        SL_CHECK(t, differs == (row[i].name != NULL), "%s and %s", row[i].mine, row[i].kept);
        if (differs) assert_string_equal(name, row[i].name);
        sl_io_json_free(a);
        sl_io_json_free(b);
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(a_log_is_cut_behind_its_step),
        SL_TEST(faults_of_a_log_are_reported),
        SL_TEST(sums_come_back_with_all_their_bits),
        SL_TEST(configurations_differ_by_name),
    };
    return sl_test_main("train.log", tests, SL_LEN(tests));
}

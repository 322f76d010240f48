/* The options of `symlaw serve`: defaults, ranges, and what is wrong with others. */
#include "serve/serve_test.h"

static void without_options_all_have_their_defaults(void **state) {
    sl_fixture *t = *state;
    sl_serve__config c;
    char error[256] = "";
    SL_CHECK(t, sl_serve__config_read(&c, error, "{}"), "%s", error);
    SL_CHECK(t, strcmp(c.bind, "127.0.0.1") == 0 && !c.token && !c.study && !c.model && !c.open,
             "%s", c.bind);
    SL_CHECK(t, c.max_jobs == 2 && c.max_body == 16000000 && c.max_seconds == 60, "%d %lld %g",
             c.max_jobs, (long long)c.max_body, c.max_seconds);
    sl_serve__config_clear(&c);
}

static void given_options_count(void **state) {
    sl_fixture *t = *state;
    sl_serve__config c;
    char error[256] = "";
    const bool good = sl_serve__config_read(
        &c, error,
        "{\"port\":8017,\"bind\":\"::1\",\"token\":\"abcd-1234\",\"open\":true,\"study\":\"runs\","
        "\"max-seconds\":0.5,\"max-rows\":77,\"quiet\":true}");
    SL_CHECK(t, good, "%s", error);
    SL_CHECK(t,
             c.port == 8017 && strcmp(c.bind, "::1") == 0 && c.open && c.max_rows == 77 &&
                 c.max_seconds == 0.5 && strcmp(c.study, "runs") == 0,
             "port %d", c.port);
    sl_serve__config_clear(&c);
}

static void every_limit_has_a_range_that_is_kept(void **state) {
    sl_fixture *t = *state;
    int numbers = 0;
    for (int i = 0; sl_serve_option(i); i++) {
        const symlaw_option_info *o = sl_serve_option(i);
        if (o->type != SYMLAW_OPTION_INT && o->type != SYMLAW_OPTION_REAL) continue;
        const double values[] = { o->min, o->max, o->min - 1, o->max + 1 };
        for (int k = 0; k < SL_LEN(values); k++) {
            char json[100], error[256] = "";
            sl_serve__config c;
            snprintf(json, sizeof json,
                     o->type == SYMLAW_OPTION_INT ? "{\"%s\":%.0f}" : "{\"%s\":%.17g}", o->name,
                     values[k]);
            const bool good = sl_serve__config_read(&c, error, json);
            SL_CHECK(t, good == (k < 2), "%s: %s", json, error);
            SL_CHECK(t, good || strstr(error, o->name), "%s: %s", json, error);
            sl_serve__config_clear(&c);
        }
        numbers++;
    }
    SL_CHECK(t, numbers >= 10, "%d options with a range", numbers);
}

static void what_is_wrong_is_named(void **state) {
    sl_fixture *t = *state;
    static const char *const cases[][2] = {
        { "{", "not an object" },
        { "[]", "not an object" },
        { "{\"prot\":1}", "--prot" },
        { "{\"port\":1.5}", "--port is a whole number" },
        { "{\"port\":\"1\"}", "--port is a whole number" },
        { "{\"open\":1}", "--open is true or false" },
        { "{\"bind\":\"\"}", "--bind is empty" },
        { "{\"study\":null}", "--study is empty" },
        { "{\"token\":\"short\"}", "--token has 8" },
        { "{\"token\":\"with blanks\"}", "--token has 8" },
    };
    for (int i = 0; i < SL_LEN(cases); i++) {
        sl_serve__config c;
        char error[256] = "";
        SL_CHECK(t, !sl_serve__config_read(&c, error, cases[i][0]), "%s is taken", cases[i][0]);
        SL_CHECK(t, strstr(error, cases[i][1]), "%s: %s", cases[i][0], error);
        sl_serve__config_clear(&c);
    }
}

static void each_allocation_of_the_options(void **state) {
    sl_fixture *t = *state;
    for (int64_t n = 1;; n++) {
        serve_fault f;
        sl_serve__config c;
        char error[256] = "";
        serve_fault_begin(&f, n, false);
        const bool good = sl_serve__config_read(&c, error, "{\"port\":1,\"token\":\"abcd1234\"}");
        const bool hit = serve_fault_hit(&f);
        SL_CHECK(t, good == !hit && (good || *error), "allocation %lld: %s", (long long)n, error);
        sl_serve__config_clear(&c);
        serve_fault_end(&f, t);
        if (!hit) break;
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(without_options_all_have_their_defaults), SL_TEST(given_options_count),
        SL_TEST(every_limit_has_a_range_that_is_kept),    SL_TEST(what_is_wrong_is_named),
        SL_TEST(each_allocation_of_the_options),
    };
    return serve_test_main("serve.options", tests, SL_LEN(tests));
}

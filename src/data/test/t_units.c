/* Units: texts say what they say, and what is none is refused with its place. */
#include "fixture/fixture.h"

#include <math.h>
#include <string.h>

#include "data/data.h"

static sl_unit parsed(sl_fixture *t, const char *text) {
    sl_unit u;
    SL_MUST(t, sl_data_unit_parse(&u, text, strlen(text)));
    return u;
}

static const char *printed(sl_dimension d) {
    static char text[200];
    sl_str s = { 0 };
    sl_data_dimension_print(&s, d);
    snprintf(text, sizeof text, "%s", sl_str_text(&s));
    sl_str_clear(&s);
    return text;
}

static void units_are_read(void **state) {
    sl_fixture *t = *state;
    static const struct {
        const char *text, *dimension;
        double factor;
    } cases[] = {
        { "m/s", "m s^-1", 1 },
        { "kg*m^2/s^2", "J", 1 },
        { "J", "J", 1 },
        { "N m", "J", 1 },
        { "N\xc2\xb7m", "J", 1 },
        { "1", "1", 1 },
        { "1/s", "s^-1", 1 },
        { "s^-1", "s^-1", 1 },
        { "s-1", "s^-1", 1 },
        { "s\xe2\x81\xbb\xc2\xb9", "s^-1", 1 },
        { "m\xc2\xb2", "m^2", 1 },
        { "m2", "m^2", 1 },
        { "m**2", "m^2", 1 },
        { "km/h", "m s^-1", 1000.0 / 3600 },
        { "ohm", "ohm", 1 },
        { "k\xce\xa9", "ohm", 1000 },
        { "\xc2\xb5m", "m", 1e-6 },
        { "um", "m", 1e-6 },
        { "mm", "m", 1e-3 },
        { "min", "s", 60 },
        { "Pa", "Pa", 1 },
        { "hPa", "Pa", 100 },
        { "cd", "cd", 1 },
        { "dam", "m", 10 },
        { "kg", "kg", 1 },
        { "mg", "kg", 1e-6 },
        { "rad", "1", 1 },
        { "deg", "1", 3.14159265358979323846 / 180 },
        { "%", "1", 0.01 },
        { "rad/s", "s^-1", 1 },
        { "J/kg/K", "m^2 s^-2 K^-1", 1 },
        { "J/(kg K)", "m^2 s^-2 K^-1", 1 },
        { "J/(mol*K)", "kg m^2 s^-2 K^-1 mol^-1", 1 },
        { "W/m^2/K^4", "kg s^-3 K^-4", 1 },
        { "m^3/(kg*s^2)", "kg^-1 m^3 s^-2", 1 },
        { "m^(1/2)", "m^(1/2)", 1 },
        { "m^0.5", "m^(1/2)", 1 },
        { "s^-1.5", "s^(-3/2)", 1 },
        { "s^-0.5", "s^(-1/2)", 1 },
        { "s^\xe2\x88\x92"
          "0.5",
          "s^(-1/2)", 1 },
        { "m^(21/2)", "m^(21/2)", 1 },
        { "V/m", "kg m s^-3 A^-1", 1 },
        { "kWh", "J", 3.6e6 },
        { "eV", "J", 1.602176634e-19 },
        { "MeV", "J", 1.602176634e-13 },
        { "10^3 kg", "kg", 1000 },
        { "1e-3 m", "m", 1e-3 },
        { "degC", "K", 1 },
        { "\xc2\xb0"
          "C",
          "K", 1 },
        { "meters", "m", 1 },
        { "kilometers/hour", "m s^-1", 1000.0 / 3600 },
        { " kg . m ", "kg m", 1 },
        { "mol/L", "m^-3 mol", 1000 },
        { "mM", "m^-3 mol", 1 },
        { "F", "F", 1 },
        { "V*s", "Wb", 1 },
        { "A*s", "C", 1 },
        { "kg/(A*s^2)", "T", 1 },
    };
    for (int i = 0; i < SL_LEN(cases); i++) {
        const sl_unit u = parsed(t, cases[i].text);
        SL_CHECK(t, strcmp(printed(u.dimension), cases[i].dimension) == 0, "%s is %s, not %s",
                 cases[i].text, printed(u.dimension), cases[i].dimension);
        SL_CHECK(t, fabs(u.factor / cases[i].factor - 1) < 1e-12, "%s: %.17g", cases[i].text,
                 u.factor);
    }
}

static void what_is_no_unit_is_refused_with_its_place(void **state) {
    sl_fixture *t = *state;
    static const struct {
        const char *text, *says;
    } cases[] = {
        { "", "missing" },
        { "m/", "byte 3" },
        { "kgg", "did you mean \"kg\"" },
        { "m/Ss", "byte 3" },
        { "joul", "\"joule\"" },
        { "m^", "power" },
        { "m^99999", "power" },
        { "m^5.55", "power" },
        { "m^(1/7)", "sixtieth" },
        { "m^(1/0)", "power" },
        { "(m", ") is missing" },
        { "m)", ") too many" },
        { "0 m", "above 0" },
        { "m^60*m^60*m^60*m^60*m^60*m^60*m^60*m^60*m^60*m^60", "too high" },
        { "1e999", "above 0" },
        { "\xff\xfe", "no unit" },
        { "m^-", "power" },
        { "((((((((((((((((((m))))))))))))))))))", "too many" },
        { "furlong", "no unit that is known" },
    };
    for (int i = 0; i < SL_LEN(cases); i++) {
        sl_unit u = { .factor = 77 };
        const sl_status st = sl_data_unit_parse(&u, cases[i].text, strlen(cases[i].text));
        SL_CHECK(t, st == SL_EFORMAT && u.factor == 77, "\"%s\" is read", cases[i].text);
        SL_CHECK(t, strstr(sl_last_error(), cases[i].says), "\"%s\": %s", cases[i].text,
                 sl_last_error());
    }
}

/* What is printed reads back. */
static void dimensions_read_back(void **state) {
    sl_fixture *t = *state;
    for (int k = 0; k < sl_test_iters(t, 2000); k++) {
        sl_dimension d = { { 0 } };
        for (int i = 0; i < 7; i++)
            if (sl_rng_below(&t->rng, 2))
                d.power[i] = (int16_t)(10 * (int)sl_rng_below(&t->rng, 60) - 300);
        const sl_unit u = parsed(t, printed(d));
        SL_CHECK(t, sl_data_dimension_equal(u.dimension, d) && u.factor == 1, "%s", printed(d));
    }
}

static void dimensions_multiply(void **state) {
    sl_fixture *t = *state;
    const sl_dimension m = parsed(t, "m").dimension, J = parsed(t, "J").dimension;
    sl_dimension d;
    assert_true(sl_data_dimension_multiply(&d, J, m, -1, 1));
    assert_string_equal(printed(d), "N");
    assert_true(sl_data_dimension_multiply(&d, (sl_dimension){ { 0 } }, J, 1, 3));
    assert_string_equal(printed(d), "kg^(1/3) m^(2/3) s^(-2/3)");
    assert_false(sl_data_dimension_multiply(&d, J, m, 1, 7));
    assert_false(sl_data_dimension_multiply(&d, J, m, 600, 1));
    assert_string_equal(printed(d), "kg^(1/3) m^(2/3) s^(-2/3)"); // as it was
}

static const char *const names[] = { "m", "v", "a, b" };

static void lists_name_columns(void **state) {
    sl_fixture *t = *state;
    sl_units u = { .input_factor = { 5 } };
    SL_MUST(t, sl_data_units_parse(&u, "v = km/h, \"a, b\"=1,E=J", names, 3, "E"));
    assert_true(!u.input_known[0] && u.input_factor[0] == 5);
    assert_true(u.input_known[1] && u.input_known[2] && u.target_known);
    assert_string_equal(printed(u.input[1]), "m s^-1");
    assert_string_equal(printed(u.input[2]), "1");
    assert_string_equal(printed(u.target), "J");
    assert_true(fabs(u.input_factor[1] * 3.6 - 1) < 1e-12 && u.target_factor == 1);
    static const struct {
        const char *list, *says;
        sl_status st;
    } cases[] = {
        { "w=m", "\"w\"; there are \"m\", \"v\"", SL_EINVAL },
        { "m", "missing", SL_EFORMAT },
        { "m=kg,m=g", "twice", SL_EINVAL },
        { "m=kg,", "missing", SL_EFORMAT },
        { "m=", "missing", SL_EFORMAT },
        { "", "missing", SL_EFORMAT },
        { "v=m/sek", "byte 3", SL_EFORMAT },
        { "\"a, b=1", "missing", SL_EFORMAT },
    };
    for (int i = 0; i < SL_LEN(cases); i++) {
        sl_units v = u;
        const sl_status st = sl_data_units_parse(&v, cases[i].list, names, 3, "E");
        SL_CHECK(t, st == cases[i].st && memcmp(&u, &v, sizeof u) == 0, "%s", cases[i].list);
        SL_CHECK(t, strstr(sl_last_error(), cases[i].says), "%s: %s", cases[i].list,
                 sl_last_error());
    }
}

static void names_have_units(void **state) {
    sl_fixture *t = *state;
    static const struct {
        const char *name;
        int length; // -1: no unit
        const char *dimension;
    } cases[] = {
        { "v (m/s)", 1, "m s^-1" }, { "v [m/s]", 1, "m s^-1" },
        { "v_[m/s]", 1, "m s^-1" }, { "c(J/(kg K))", 1, "m^2 s^-2 K^-1" },
        { "T (K)", 1, "K" },        { "share (%)", 5, "1" },
        { "n [1]", 1, "1" },        { "n (-)", 1, "1" },
        { "v", -1, NULL },          { "(m/s)", -1, NULL },
        { "v (fast)", -1, NULL },   { "sensor (2)", -1, NULL },
        { "v ()", -1, NULL },       { "v )", -1, NULL },
        { "", -1, NULL },           { "f(x)", -1, NULL },
        { "a (b) [kg]", 5, "kg" },
    };
    sl_fail_restore("as it was");
    for (int i = 0; i < SL_LEN(cases); i++) {
        sl_unit u = { .factor = 77 };
        size_t length = 99;
        const bool has = sl_data_unit_of_name(&u, &length, cases[i].name);
        SL_CHECK(t, has == (cases[i].length >= 0), "%s", cases[i].name);
        if (has) {
            SL_CHECK(t, (int)length == cases[i].length, "%s: %zu", cases[i].name, length);
            SL_CHECK(t, strcmp(printed(u.dimension), cases[i].dimension) == 0, "%s is %s",
                     cases[i].name, printed(u.dimension));
        } else {
            SL_CHECK(t, u.factor == 77 && length == 99, "%s", cases[i].name);
        }
    }
    assert_string_equal(sl_last_error(), "as it was");
}

static sl_status fail_once(void) {
    sl_units u = { 0 };
    const sl_status st = sl_data_units_parse(&u, "w=m", names, 3, "E");
    return st == SL_EINVAL ? SL_OK : st;
}

static void lack_of_memory_is_reported(void **state) {
    sl_fixture *t = *state;
    SL_EACH_ALLOCATION(t, fail_once());
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(units_are_read),
        SL_TEST(what_is_no_unit_is_refused_with_its_place),
        SL_TEST(dimensions_read_back),
        SL_TEST(dimensions_multiply),
        SL_TEST(lists_name_columns),
        SL_TEST(names_have_units),
        SL_TEST(lack_of_memory_is_reported),
    };
    return sl_test_main("data.units", tests, SL_LEN(tests));
}

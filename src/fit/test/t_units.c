/* Dimensions of constants: what makes a formula homogeneous, and what cannot be. */
#include "fixture/formula.h"

#include <string.h>

#include "fit/fit.h"

static const char *const names[] = { "x1", "x2", "x3" };

static const char *printed(sl_dimension d) {
    static char text[200];
    sl_str s = { 0 };
    sl_data_dimension_print(&s, d);
    snprintf(text, sizeof text, "%s", sl_str_text(&s));
    sl_str_clear(&s);
    return text;
}

typedef struct unit_case {
    const char *formula, *units;
    const char *result;      // NULL: not homogeneous
    const char *constant[3]; // of c1, c2, c3
} unit_case;

static const unit_case cases[] = {
    { "x1*x2^2/2", "x1=kg,x2=m/s,y=J", "J", { NULL } },
    { "x1*x2/2", "x1=kg,x2=m/s,y=J", NULL, { NULL } },
    { "c1*x1*x2", "x1=kg,x2=m/s,y=J", "J", { "m s^-1" } },
    { "c1*x1 + c2", "x1=s,y=m", "m", { "m s^-1", "m" } },
    { "x1 + c1", "x1=s", "s", { "s" } },
    { "x1 + 3", "x1=s", NULL, { NULL } },
    { "x1 + x2", "x1=s,x2=m", NULL, { NULL } },
    { "x1 + x2", "x1=s", "s", { NULL } }, // x2 may be anything
    { "c1*exp(-c2*x1)", "x1=s,y=A", "A", { "A", "s^-1" } },
    { "exp(x1)", "x1=s", NULL, { NULL } },
    { "exp(x1)", "x1=rad", "1", { NULL } },
    { "sqrt(x1/c1)", "x1=m,y=s", "s", { "m s^-2" } },
    { "2*pi*sqrt(x1/c1)", "x1=m,y=s", "s", { "m s^-2" } },
    { "c1*sin(c2*x1 + c3)", "x1=s,y=V", "V", { "V", "s^-1", "1" } },
    { "c1*x1/(x1 + c2)", "x1=mol/L,y=mol/s", "s^-1 mol", { "s^-1 mol", "m^-3 mol" } },
    { "c1*x1^c2", "x1=m,y=J", "J", { NULL, "1" } },
    { "c1*(x1/x2)^c2", "x1=m,x2=m,y=J", "J", { "J", "1" } },
    { "(x1/x2)^c2", "x1=m,x2=m,y=J", NULL, { NULL } },
    { "(x1/x2)^(c1*x3)", "x1=m,x2=m,x3=s", "1", { "s^-1" } },
    { "x1^x2", "x1=m", NULL, { NULL } },
    { "abs(x1)", "x1=m,y=m", "m", { NULL } },
    { "log(x1)", "x1=m", NULL, { NULL } },
    { "log(x1/c1)", "x1=m", "1", { "m" } },
    { "x1^(1/7)", "x1=m", NULL, { NULL } }, // no sixtieths
    { "x1*c1 + x2*c1", "x1=m,x2=s", NULL, { NULL } },
    { "(x1 + c1)*(x1 + c2)", "x1=m,y=m^2", "m^2", { "m", "m" } },
    { "(c1 + c2*x1)*(x2 + c3)", "x1=m,x2=s,y=s", "s", { "1", "m^-1", "s" } },
};

static void constants_get_the_units_they_need(void **state) {
    sl_fixture *t = *state;
    for (int i = 0; i < SL_LEN(cases); i++) {
        sl_units u = { 0 };
        sl_fit_dimensions d;
        SL_MUST(t, sl_data_units_parse(&u, cases[i].units, names, 3, "y"));
        SL_MUST(t, sl_fit_units(&d, &t->arena, parsed(t, cases[i].formula), &u));
        SL_CHECK(t, d.homogeneous == (cases[i].result != NULL), "%s with %s", cases[i].formula,
                 cases[i].units);
        if (!d.homogeneous) continue;
        SL_CHECK(t, strcmp(printed(d.result), cases[i].result) == 0, "%s: %s", cases[i].formula,
                 printed(d.result));
        for (int k = 0; k < 3; k++)
            if (cases[i].constant[k])
                SL_CHECK(t, strcmp(printed(d.constant[k]), cases[i].constant[k]) == 0,
                         "%s: c%d in %s, not %s", cases[i].formula, k + 1, printed(d.constant[k]),
                         cases[i].constant[k]);
    }
}

static sl_status once(sl_fixture *t, const sl_node *e) {
    sl_arena a = { 0 };
    sl_units u = { 0 };
    sl_fit_dimensions d;
    (void)t;
    const sl_status st = sl_fit_units(&d, &a, e, &u);
    sl_arena_clear(&a);
    return st;
}

static void lack_of_memory_is_reported(void **state) {
    sl_fixture *t = *state;
    const sl_node *e = parsed(t, "(x1 + c1)^c2*sin(x2) + abs(x1*x2) + pi");
    SL_EACH_ALLOCATION(t, once(t, e));
    // also where the arena's chunk is at its end
    sl_status st = SL_ENOMEM;
    for (size_t limit = 64; st != SL_OK; limit += 64) {
        sl_arena a = { .limit = limit };
        sl_units u = { 0 };
        sl_fit_dimensions d;
        st = sl_fit_units(&d, &a, e, &u);
        sl_arena_clear(&a);
        SL_CHECK(t, (st == SL_OK || st == SL_ENOMEM) && limit < 1 << 20, "%zu bytes: %d", limit,
                 (int)st);
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(constants_get_the_units_they_need),
        SL_TEST(lack_of_memory_is_reported),
    };
    return sl_test_main("fit.units", tests, SL_LEN(tests));
}

/* Dates as tables have them, against days that were counted by the calendar of another program
 * (Python's datetime). */
#include <math.h>
#include <string.h>

#include "data/table_impl.h"
#include "fixture/fixture.h"

static void dates_are_read(void **state) {
    sl_fixture *t = *state;
    static const struct {
        const char *text;
        double want; // seconds since 1970; NaN: the order is needed
        sl_table__order shows;
    } cases[] = {
        { "2024-03-01", 1709251200, SL_TABLE__ORDER_UNKNOWN },
        { "2024/3/1", 1709251200, SL_TABLE__ORDER_UNKNOWN },
        { "2024-03-01 12:30", 1709296200, SL_TABLE__ORDER_UNKNOWN },
        { "2024-03-01T12:30:05.25Z", 1709296205.25, SL_TABLE__ORDER_UNKNOWN },
        { "2024-03-01T12:30:00+01:00", 1709292600, SL_TABLE__ORDER_UNKNOWN },
        { "20240301T000000", NAN, SL_TABLE__ORDER_UNKNOWN }, // without colons it is none
        { "01.03.2024", 1709251200, SL_TABLE__ORDER_DAY },
        { "1.3.24", 1709251200, SL_TABLE__ORDER_DAY },
        { "31/12/1999", 946598400, SL_TABLE__ORDER_DAY },
        { "12/31/1999", 946598400, SL_TABLE__ORDER_MONTH },
        { "03/01/2024", NAN, SL_TABLE__ORDER_UNKNOWN },
        { "03/03/2024", 1709424000, SL_TABLE__ORDER_UNKNOWN },
        { "1 Mar 2024", 1709251200, SL_TABLE__ORDER_UNKNOWN },
        { "01-Mar-24 1:00 PM", 1709298000, SL_TABLE__ORDER_UNKNOWN },
        { "March 1, 2024", 1709251200, SL_TABLE__ORDER_UNKNOWN },
        { "1900-01-01", -2208988800, SL_TABLE__ORDER_UNKNOWN },
        { "12:30:05", 45005, SL_TABLE__ORDER_UNKNOWN },
        { "12:05 AM", 300, SL_TABLE__ORDER_UNKNOWN },
    };
    for (int i = 0; i < SL_LEN(cases); i++) {
        double v;
        sl_table__order shows;
        const char *text = cases[i].text;
        const bool is =
            sl_data__table_date(&v, &shows, text, strlen(text), SL_TABLE__ORDER_UNKNOWN);
        if (strncmp(text, "2024030", 7) == 0) {
            SL_CHECK(t, !is, "%s is a date", text);
            continue;
        }
        SL_CHECK(t, is && (v == cases[i].want || (isnan(v) && isnan(cases[i].want))), "%s is %.17g",
                 text, v);
        SL_CHECK(t, shows == cases[i].shows, "%s shows %d", text, (int)shows);
    }
}

static void what_is_no_date_is_refused(void **state) {
    sl_fixture *t = *state;
    static const char *const texts[] = { "2024-02-30", "2023-02-29", "2024-13-01", "1.5",
                                         "20240301",   "1.2.3",      "12:61",      "25:00:00x",
                                         "Mayday 1",   "2024-03",    "a-b-c",      "2024-03-01x",
                                         "12/31/199",  "1e5",        "13 PM",      "1 Foo 2024" };
    for (int i = 0; i < SL_LEN(texts); i++) {
        double v;
        sl_table__order shows;
        SL_CHECK(
            t,
            !sl_data__table_date(&v, &shows, texts[i], strlen(texts[i]), SL_TABLE__ORDER_UNKNOWN),
            "%s is a date", texts[i]);
    }
}

/* Day first, swapped, is month first. */
static void swapped_dates_are_those_of_the_other_order(void **state) {
    sl_fixture *t = *state;
    for (int year = 1896; year < 2105; year += 4)
        for (int a = 1; a <= 12; a++)
            for (int b = 1; b <= 12; b++) {
                char text[40];
                double day, month;
                sl_table__order shows;
                const int n = sl_snprintf(text, sizeof text, "%d/%d/%04d 10:30", a, b, year);
                assert_true(
                    sl_data__table_date(&day, &shows, text, (size_t)n, SL_TABLE__ORDER_DAY));
                assert_true(
                    sl_data__table_date(&month, &shows, text, (size_t)n, SL_TABLE__ORDER_MONTH));
                SL_CHECK(t, sl_data__table_swap_date(day) == month, "%s: %g", text, day - month);
            }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(dates_are_read),
        SL_TEST(what_is_no_date_is_refused),
        SL_TEST(swapped_dates_are_those_of_the_other_order),
    };
    return sl_test_main("data.table_date", tests, SL_LEN(tests));
}

/* The clock goes forward, in seconds. */
#include <time.h>

#include "fixture/fixture.h"

static void clock_counts_seconds(void **state) {
    sl_fixture *t = *state;
    double start = sl_clock(), last = start;
    for (int i = 0; i < 1000; i++) {
        double now = sl_clock();
        SL_CHECK(t, now >= last, "%.9f after %.9f", now, last);
        last = now;
    }
    nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
    double slept = sl_clock() - last;
    SL_CHECK(t, slept >= 0.02 && slept < 10, "0.02 s of sleep took %.6f s", slept);
}

int main(void) {
    static const struct CMUnitTest tests[] = { SL_TEST(clock_counts_seconds) };
    return sl_test_main("base.clock", tests, SL_LEN(tests));
}

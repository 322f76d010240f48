/* Ranks: the same program alone and, as par.ranks.two, started twice by mpirun (which sets
 * SL_TEST_RANKS). Every test is collective: all ranks run it. */
#include <stdlib.h>
#include <string.h>

#include "fixture/fixture.h"
#include "par/par.h"

static int expected(void) {
    const char *text = getenv("SL_TEST_RANKS");
    return text ? atoi(text) : 1;
}

static void ranks_know_themselves(void **state) {
    sl_fixture *t = *state;
    SL_CHECK(t, sl_par_ranks() == expected(), "%d ranks, want %d", sl_par_ranks(), expected());
    assert_in_range(sl_par_rank(), 0, sl_par_ranks() - 1);
    sl_par_barrier();
    SL_MUST(t, sl_par_agree(SL_OK));
}

/* Each rank fails in turn: all must hear it, with the message, and then agree again. */
static void one_failing_rank_stops_all(void **state) {
    sl_fixture *t = *state;
    for (int who = 0; who < sl_par_ranks(); who++) {
        sl_status mine = SL_OK;
        sl_fail_restore("");
        if (sl_par_rank() == who) mine = sl_fail(SL_EFORMAT, "rank says %d", who);
        assert_int_equal(sl_par_agree(mine), SL_EFORMAT);
        char want[64];
        snprintf(want, sizeof want, "rank says %d", who);
        SL_CHECK(t, strstr(sl_last_error(), want), "rank %d heard: %s", sl_par_rank(),
                 sl_last_error());
        SL_MUST(t, sl_par_agree(SL_OK));
    }
}

/* All fail differently: the smallest status is everybody's. */
static void the_smallest_status_is_agreed_on(void **state) {
    (void)state;
    static const sl_status by_rank[] = { SL_EINVAL, SL_EIO, SL_ELIMIT };
    sl_status want = SL_OK;
    for (int i = 0; i < sl_par_ranks(); i++) want = SL_MIN(want, by_rank[i % 3]);
    assert_int_equal(sl_par_agree(sl_fail(by_rank[sl_par_rank() % 3], "mine")), want);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(ranks_know_themselves),
        SL_TEST(one_failing_rank_stops_all),
        SL_TEST(the_smallest_status_is_agreed_on),
    };
    if (sl_par_begin() != SL_OK) {
        print_error("%s\n", sl_last_error());
        return EXIT_FAILURE;
    }
    int failed = sl_test_main("par.ranks", tests, SL_LEN(tests));
    sl_par_end();
    return failed;
}

/* Commands of several ranks: the same program alone and, as api.ranks.two and api.ranks.four, under
 * mpirun. Every test is collective. */
#include <stdlib.h>
#include <unistd.h>

#include "commands/commands_test.h"
#include "par/par.h"

/* One rank runs out of memory, early or late: all ranks return, and none waits for a rank that is
 * gone. */
static void one_rank_without_memory_stops_all(void **state) {
    sl_fixture *t = *state;
    char folder[256], options[512];
    snprintf(folder, sizeof folder, "%s", sl_test_path("run"));
    SL_MUST(t, sl_par_share(folder, sizeof folder));
    snprintf(options, sizeof options,
             "{\"width\":8,\"layers\":1,\"depth\":1,\"ops\":\"+,*\",\"points\":4,\"batch\":4,"
             "\"lanes\":4,\"steps\":1,\"valid-pairs\":0,\"threads\":1,\"out\":\"%s\"}",
             folder);
    for (int failing = 0; failing < sl_par_ranks(); failing++)
        for (int n = 1; n <= 12; n++) {
            char *result = NULL;
            const int64_t blocks = sl_mem_blocks();
            if (sl_par_rank() == failing) sl_mem_fail_at(n, false);
            const sl_status st = symlaw_command("train", options, NULL, NULL, &result);
            sl_mem_fail_at(0, false);
            SL_CHECK(t, st == SL_ENOMEM && !result, "allocation %d of rank %d: %d, %s", n, failing,
                     st, sl_last_error());
            SL_CHECK(t, sl_mem_blocks() == blocks, "allocation %d of rank %d leaks", n, failing);
            SL_MUST(t, sl_par_agree(SL_OK)); // none is left over from the command
        }
    sl_par_barrier();
    if (sl_par_rank() == 0) rmdir(folder);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(one_rank_without_memory_stops_all),
    };
    setenv("SYMLAW_CACHE", "off", 1); // a set from there takes other allocations
    if (sl_par_begin() != SL_OK) {
        print_error("%s\n", sl_last_error());
        return EXIT_FAILURE;
    }
    int failed = sl_test_main("api.ranks", tests, SL_LEN(tests));
    sl_par_end();
    return failed;
}

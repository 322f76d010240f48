/* Ten million rows through a pipe: the sample is whole and even over all of them, the counts are
 * exact, and memory is what the sample takes. */
#include <math.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "data/data.h"
#include "fixture/fixture.h"
#include "num/num.h"

enum { ROWS = 10000000, KEPT = 100000, GAP = 1000 };

/* Row i is i, i mod 997 and their sum; every GAP-th misses a cell. */
static _Noreturn void write_rows(int fd) {
    FILE *f = fdopen(fd, "w");
    fprintf(f, "a,b,y\n");
    for (int64_t i = 0; i < ROWS; i++) {
        if (i % GAP == 0)
            fprintf(f, "%lld,,1\n", (long long)i);
        else
            fprintf(f, "%lld,%lld,%lld\n", (long long)i, (long long)(i % 997),
                    (long long)(i + i % 997));
    }
    _exit(fclose(f) != 0);
}

static void ten_million_rows_are_sampled(void **state) {
    sl_fixture *t = *state;
    int ends[2];
    char path[32];
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(ends[0]);
        write_rows(ends[1]);
    }
    close(ends[1]);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    sl_table_options o = SL_TABLE_OPTIONS_INIT;
    o.inputs = "a,b";
    o.seed = t->seed;
    sl_table a;
    sl_mem_peak_reset();
    const int64_t before = sl_mem_bytes();
    SL_MUST(t, sl_data_table_read(&a, path, &o, NULL, NULL));
    const int64_t peak = sl_mem_peak() - before;
    close(ends[0]);
    waitpid(child, NULL, 0);
    assert_true(a.read == ROWS && a.data.rows == KEPT && a.missing == ROWS / GAP &&
                a.infinite == 0);
    assert_int_equal(a.repeated, 0);
    SL_CHECK(t, peak < 16000000, "%lld bytes", (long long)peak);

    double *u = sl_malloc(KEPT, sizeof *u);
    assert_non_null(u);
    for (int i = 0; i < KEPT; i++) {
        const double v = a.data.x[0][i];
        SL_CHECK(t, a.data.x[1][i] == fmod(v, 997) && a.data.y[i] == v + fmod(v, 997),
                 "a row of pieces");
        SL_CHECK(t, i == 0 || a.data.x[0][i - 1] < v, "not in order");
        u[i] = v / ROWS;
    }
    const double p = sl_num_ks_uniform(u, KEPT);
    SL_CHECK(t, p > 1e-6, "not even: p = %g", p);
    sl_free(u);
    sl_data_table_clear(&a);
}

int main(void) {
    static const struct CMUnitTest tests[] = { SL_TEST(ten_million_rows_are_sampled) };
    return sl_test_main("data.long_table", tests, SL_LEN(tests));
}

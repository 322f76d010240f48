/* Ranks: the same program alone and, as par.ranks.two and par.ranks.four, started several times by
 * mpirun (which sets SL_TEST_RANKS). Every test is collective: all ranks run it. */
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "fixture/fixture.h"
#include "par/par.h"

static int expected(void) {
    const char *text = getenv("SL_TEST_RANKS");
    return text ? atoi(text) : 1;
}

static void rank_and_number_of_ranks_are_known(void **state) {
    sl_fixture *t = *state;
    SL_CHECK(t, sl_par_ranks() == expected(), "%d ranks, want %d", sl_par_ranks(), expected());
    assert_in_range(sl_par_rank(), 0, sl_par_ranks() - 1);
    sl_par_barrier();
    SL_MUST(t, sl_par_agree(SL_OK));
}

/* Every rank sends which cores it may use; ranks with equal sets share them. */
static void peers_have_the_same_cores(void **state) {
    sl_fixture *t = *state;
    cpu_set_t set;
    int64_t begin[65];
    uint64_t cores[64];
    int same = 0;
    assert_true(sl_par_ranks() <= 64);
    CPU_ZERO(&set);
    assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
    for (int r = 0; r <= sl_par_ranks(); r++) begin[r] = r;
    cores[sl_par_rank()] = sl_hash(&set, sizeof set, 0);
    SL_MUST(t, sl_par_gather(cores, sizeof cores[0], begin));
    for (int r = 0; r < sl_par_ranks(); r++) same += cores[r] == cores[sl_par_rank()];
    SL_CHECK(t, sl_par_peers() == same, "%d peers, want %d", sl_par_peers(), same);
}

/* Each rank fails in turn: all must get the status and the message, and then agree again. */
static void one_failing_rank_stops_all(void **state) {
    sl_fixture *t = *state;
    for (int failing = 0; failing < sl_par_ranks(); failing++) {
        sl_status mine = SL_OK;
        sl_fail_restore("");
        if (sl_par_rank() == failing) mine = sl_fail(SL_EFORMAT, "failure %d", failing);
        assert_int_equal(sl_par_agree(mine), SL_EFORMAT);
        char expect[64];
        snprintf(expect, sizeof expect, "failure %d", failing);
        SL_CHECK(t, strstr(sl_last_error(), expect), "rank %d got: %s", sl_par_rank(),
                 sl_last_error());
        SL_MUST(t, sl_par_agree(SL_OK));
    }
}

/* All fail differently: all get the smallest status. */
static void the_smallest_status_is_agreed_on(void **state) {
    (void)state;
    static const sl_status by_rank[] = { SL_EINVAL, SL_EIO, SL_ELIMIT };
    sl_status want = SL_OK;
    for (int i = 0; i < sl_par_ranks(); i++) want = SL_MIN(want, by_rank[i % 3]);
    assert_int_equal(sl_par_agree(sl_fail(by_rank[sl_par_rank() % 3], "mine")), want);
}

/* ---------------------------------------------------------------- shares -------------------- */

/* Number i of rank r's block: a float that holds it exactly and no two alike. */
static float number_of(int r, int64_t i) { return (float)(r * 4000000 + i); }

/* Shares for this many ranks, the same on all of them: random cuts, empty ones among them, or one
 * share that has all. begin[0] is not always 0. */
static int64_t cut(int64_t *begin, sl_fixture *t, int max, int kind) {
    int ranks = sl_par_ranks();
    begin[0] = (int64_t)sl_rng_below(&t->rng, 5);
    for (int r = 0; r < ranks; r++) {
        int64_t n = (int64_t)sl_rng_below(&t->rng, (uint32_t)max + 1);
        if (kind == 1) n = max;                           // all alike
        if (kind == 2 && r != max % ranks) n = 0;         // one has all
        if (kind == 3 && sl_rng_below(&t->rng, 2)) n = 0; // some have none
        begin[r + 1] = begin[r] + n;
    }
    return begin[ranks];
}

typedef struct blocks {
    int64_t *begin;
    float *block, *recv;
    int64_t end, mine;
} blocks;

/* recv begins as NaN, so that what is not written, or written past the end, shows. */
static void make_blocks(blocks *b, sl_fixture *t, int max, int kind) {
    int ranks = sl_par_ranks(), rank = sl_par_rank();
    b->begin = sl_malloc((size_t)ranks + 1, sizeof *b->begin);
    assert_non_null(b->begin);
    b->end = cut(b->begin, t, max, kind);
    b->mine = b->begin[rank + 1] - b->begin[rank];
    b->block = sl_malloc((size_t)b->end + 1, sizeof *b->block);
    b->recv = sl_malloc((size_t)SL_MAX(ranks * b->mine, b->end) + 1, sizeof *b->recv);
    assert_true(b->block && b->recv);
    for (int64_t i = 0; i <= b->end; i++) b->block[i] = number_of(rank, i);
    for (int64_t i = 0; i <= SL_MAX(ranks * b->mine, b->end); i++) b->recv[i] = NAN;
}

static void free_blocks(blocks *b) {
    sl_free(b->begin);
    sl_free(b->block);
    sl_free(b->recv);
}

static void check_exchange(sl_fixture *t, int max, int kind) {
    blocks b;
    make_blocks(&b, t, max, kind);
    int64_t first = b.begin[sl_par_rank()];
    SL_MUST(t, sl_par_exchange(b.recv, b.block, b.begin));
    for (int r = 0; r < sl_par_ranks(); r++) {
        for (int64_t i = 0; i < b.mine; i++)
            SL_CHECK(t, b.recv[r * b.mine + i] == number_of(r, first + i), "rank %d, %d of %d", r,
                     (int)i, (int)b.mine);
    }
    SL_CHECK(t, isnan(b.recv[sl_par_ranks() * b.mine]), "written past the end");
    free_blocks(&b);
}

static void check_gather(sl_fixture *t, int max, int kind) {
    blocks b;
    make_blocks(&b, t, max, kind);
    SL_MUST(t, sl_par_gather(b.block, sizeof *b.block, b.begin));
    for (int r = 0; r < sl_par_ranks(); r++) {
        for (int64_t i = b.begin[r]; i < b.begin[r + 1]; i++)
            SL_CHECK(t, b.block[i] == number_of(r, i), "rank %d, number %d", r, (int)i);
    }
    for (int64_t i = 0; i < b.begin[0]; i++)
        SL_CHECK(t, b.block[i] == number_of(sl_par_rank(), i), "written before the first share");
    SL_CHECK(t, b.block[b.end] == number_of(sl_par_rank(), b.end), "written past the end");
    free_blocks(&b);
}

static void check_collect(sl_fixture *t, int max, int kind) {
    blocks b;
    make_blocks(&b, t, max, kind);
    float *whole = sl_par_rank() == 0 ? b.recv : NULL;
    SL_MUST(t, sl_par_collect(whole, b.block + b.begin[sl_par_rank()], b.begin));
    for (int r = 0; r < sl_par_ranks() && whole; r++) {
        for (int64_t i = b.begin[r]; i < b.begin[r + 1]; i++)
            SL_CHECK(t, whole[i] == number_of(r, i), "rank %d, number %d", r, (int)i);
    }
    for (int64_t i = 0; i < b.begin[0]; i++)
        SL_CHECK(t, isnan(b.recv[i]), "written before the first share");
    SL_CHECK(t, isnan(b.recv[b.end]), "written past the end");
    free_blocks(&b);
}

static void shares_reach_their_ranks(void **state) {
    sl_fixture *t = *state;
    for (int i = 0; i < sl_test_iters(t, 60); i++) {
        int max = (int)sl_rng_below(&t->rng, i % 3 ? 4 : 3000);
        check_exchange(t, max, i % 4);
        check_gather(t, max, i % 4);
        check_collect(t, max, i % 4);
    }
}

/* More than one message, with a rest; the last number of the largest still is an exact float. */
static void long_shares_reach_their_ranks(void **state) {
    sl_fixture *t = *state;
    enum { LONG = (1 << 20) + 12345 };
    for (int kind = 1; kind <= 2; kind++) {
        check_exchange(t, LONG, kind);
        check_gather(t, LONG, kind);
        check_collect(t, LONG, kind);
    }
}

/* Numbers of other sizes: bytes, and doubles as the optimiser's sums. */
static void numbers_of_any_size_are_gathered(void **state) {
    sl_fixture *t = *state;
    int ranks = sl_par_ranks(), rank = sl_par_rank();
    int64_t begin[64];
    assert_true(ranks < SL_LEN(begin));
    for (int i = 0; i < 20; i++) {
        int64_t end = cut(begin, t, 40, i % 4);
        double *x = sl_calloc((size_t)end + 1, sizeof *x);
        char *c = sl_calloc((size_t)end + 1, sizeof *c);
        assert_true(x && c);
        for (int64_t k = begin[rank]; k < begin[rank + 1]; k++) {
            x[k] = 1.0 / (double)(k + 3);
            c[k] = (char)(k % 100 + 1);
        }
        SL_MUST(t, sl_par_gather(x, sizeof *x, begin));
        SL_MUST(t, sl_par_gather(c, sizeof *c, begin));
        for (int64_t k = begin[0]; k < end; k++)
            SL_CHECK(t, x[k] == 1.0 / (double)(k + 3) && c[k] == (char)(k % 100 + 1), "number %d",
                     (int)k);
        assert_true(x[end] == 0 && c[end] == 0);
        sl_free(x);
        sl_free(c);
    }
}

static void bytes_of_rank_0_reach_all_ranks(void **state) {
    sl_fixture *t = *state;
    enum { LONG = (4 << 20) + 77 }; // more than one message
    unsigned char *bytes = sl_malloc(LONG + 1, 1);
    assert_non_null(bytes);
    static const size_t sizes[] = { 0, 1, 1000, LONG };
    for (int i = 0; i < SL_LEN(sizes); i++) {
        size_t n = sizes[i];
        for (size_t k = 0; k <= n; k++) bytes[k] = sl_par_rank() ? 0xAB : (unsigned char)(k * 7);
        SL_MUST(t, sl_par_share(bytes, n));
        for (size_t k = 0; k < n; k++)
            SL_CHECK(t, bytes[k] == (unsigned char)(k * 7), "byte %zu of %zu", k, n);
        if (sl_par_rank()) assert_int_equal(bytes[n], 0xAB);
    }
    sl_free(bytes);
}

static void counts_are_added_up(void **state) {
    sl_fixture *t = *state;
    int64_t x[3] = { sl_par_rank() + 1, INT64_C(1) << 40, 5 }, ranks = sl_par_ranks();
    SL_MUST(t, sl_par_sum(x, 2));
    assert_int_equal(x[0], ranks * (ranks + 1) / 2);
    assert_int_equal(x[1], ranks << 40);
    assert_int_equal(x[2], 5);
    SL_MUST(t, sl_par_sum(x, 0));
}

/* Ranks must call with equal shares. Unequal ones are used here because they make MPI fail: rank 1
 * sends more than rank 0 receives. */
static void an_error_of_mpi_is_a_status(void **state) {
    sl_fixture *t = *state;
    int ranks = sl_par_ranks(), rank = sl_par_rank();
    if (ranks == 1) return;
    int64_t begin[64] = { 0 };
    assert_true(ranks < SL_LEN(begin));
    for (int r = 2; r <= ranks; r++) begin[r] = rank == 0 ? 4 : 8;
    float whole[8], share[8] = { 0 };
    sl_status st = sl_par_collect(whole, share, begin);
    if (rank == 0) {
        assert_int_equal(st, SL_EIO);
        SL_CHECK(t, strstr(sl_last_error(), "MPI: collecting shares"), "%s", sl_last_error());
    }
    SL_MUST(t, sl_par_agree(SL_OK));
}

static bool is_set(void *payload) { return *(bool *)payload; }

/* A request to any rank stops all, and only during this watch: the next begins without one. */
static void a_request_to_stop_reaches_all(void **state) {
    sl_fixture *t = *state;
    const int ranks = sl_par_ranks(), rank = sl_par_rank();
    for (int target = 0; target <= ranks; target++) { // the last time, all ranks at once
        bool requested = target == rank || target == ranks;
        sl_par_watch watch;
        sl_par_watch_begin(&watch, is_set, &requested);
        while (!sl_par_stopping()) {
        }
        assert_true(sl_par_stopping());
        sl_par_watch_end(&watch);
        assert_false(sl_par_stopping()); // no watch

        sl_par_watch_begin(&watch, NULL, NULL);
        assert_false(sl_par_stopping());
        const double start = sl_clock();
        while (sl_clock() - start < 0.03) assert_false(sl_par_stopping());
        SL_MUST(t, sl_par_agree(SL_OK)); // before the next request
        sl_par_watch_end(&watch);
    }
}

/* Rank 0 works and polls; another, which waits for it in sl_par_agree, is asked to stop. */
static void a_waiting_rank_passes_a_request_on(void **state) {
    (void)state;
    const int ranks = sl_par_ranks(), rank = sl_par_rank();
    for (int target = 1; target < ranks; target++) {
        bool requested = target == rank;
        sl_status st = SL_OK;
        sl_par_watch watch;
        sl_par_watch_begin(&watch, is_set, &requested);
        if (rank == 0) {
            while (!sl_par_stopping()) {
            }
            st = sl_fail(SL_ECANCEL, "left the work");
        }
        assert_int_equal(sl_par_agree(st), SL_ECANCEL);
        assert_non_null(strstr(sl_last_error(), "left the work"));
        sl_par_watch_end(&watch);
    }
}

/* A watch may begin inside another; the inner one's request does not stop the outer one. */
static void watches_nest(void **state) {
    (void)state;
    if (sl_par_ranks() > 1) return; // there a request stops all ranks
    bool outer = false, inner = true;
    sl_par_watch a, b;
    sl_par_watch_begin(&a, is_set, &outer);
    assert_false(sl_par_stopping());
    sl_par_watch_begin(&b, is_set, &inner);
    assert_true(sl_par_stopping());
    sl_par_watch_end(&b);
    assert_false(sl_par_stopping());
    outer = true;
    while (!sl_par_stopping()) {
    }
    sl_par_watch_end(&a);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(rank_and_number_of_ranks_are_known),
        SL_TEST(peers_have_the_same_cores),
        SL_TEST(one_failing_rank_stops_all),
        SL_TEST(the_smallest_status_is_agreed_on),
        SL_TEST(shares_reach_their_ranks),
        SL_TEST(long_shares_reach_their_ranks),
        SL_TEST(numbers_of_any_size_are_gathered),
        SL_TEST(bytes_of_rank_0_reach_all_ranks),
        SL_TEST(counts_are_added_up),
        SL_TEST(a_request_to_stop_reaches_all),
        SL_TEST(a_waiting_rank_passes_a_request_on),
        SL_TEST(watches_nest),
        SL_TEST(an_error_of_mpi_is_a_status),
    };
    if (sl_par_begin() != SL_OK) {
        print_error("%s\n", sl_last_error());
        return EXIT_FAILURE;
    }
    int failed = sl_test_main("par.ranks", tests, SL_LEN(tests));
    sl_par_end();
    return failed;
}

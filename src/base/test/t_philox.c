/* The generator: Random123's known answers, how a stream reads the counter, and whether the numbers
 * have the distribution they claim. The distribution tests fail by chance for about one seed in
 * 10,000; the fixture's seed is fixed unless SL_TEST_SEED is set. */
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixture/fixture.h"

/* philox4x32 with 10 rounds, from kat_vectors of Random123. */
static void known_answers(void **state) {
    sl_fixture *t = *state;
    static const struct {
        uint32_t counter[4], key[2], want[4];
    } kat[] = {
        { { 0, 0, 0, 0 }, { 0, 0 }, { 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8 } },
        { { 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff },
          { 0xffffffff, 0xffffffff },
          { 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd } },
        { { 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344 },
          { 0xa4093822, 0x299f31d0 },
          { 0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1 } },
    };
    for (int i = 0; i < SL_LEN(kat); i++) {
        const uint32_t *c = kat[i].counter;
        sl_philox_block b = sl_philox((uint64_t)kat[i].key[1] << 32 | kat[i].key[0],
                                      (uint64_t)c[3] << 32 | c[2], (uint64_t)c[1] << 32 | c[0]);
        for (int j = 0; j < 4; j++)
            SL_CHECK(t, b.v[j] == kat[i].want[j], "vector %d word %d: %08x", i, j, b.v[j]);
    }
}

/* seed is the key; stream, index and block number have their own words of the counter. */
static void a_stream_reads_its_own_counters(void **state) {
    sl_fixture *t = *state;
    const uint64_t seed = 0x0123456789abcdef, index = 0xfedcba9876543210;
    const uint32_t stream = 0xdeadbeef;
    sl_rng r;
    sl_rng_init(&r, seed, stream, index);
    for (uint32_t block = 0; block < 10; block++) {
        sl_philox_block b = sl_philox(seed, index, (uint64_t)stream << 32 | block);
        for (int j = 0; j < 4; j++) assert_int_equal(sl_rng_u32(&r), b.v[j]);
    }
    // a 64-bit number is two words, low first, also across blocks
    sl_rng one = r, two = r;
    sl_rng_u32(&one), sl_rng_u32(&two);
    for (int i = 0; i < 10; i++) {
        uint64_t low = sl_rng_u32(&two), high = sl_rng_u32(&two);
        SL_CHECK(t, sl_rng_u64(&one) == (high << 32 | low), "word pair %d", i);
    }
}

/* Does reading n uniforms of r stop the program? Asked of a child. */
static bool aborts(sl_rng r, double *out, int n) {
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (!freopen("/dev/null", "w", stderr)) _exit(2);
        signal(SIGABRT, SIG_DFL);
        sl_rng_uniforms(out, &r, n);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFSIGNALED(status)) assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

/* n at once are the same bits as n one by one, from any place in the stream and leaving it at the
 * same place; n on both sides of what wide code does at a time. */
static void many_uniforms_are_those_of_the_stream(void **state) {
    sl_fixture *t = *state;
    enum { MOST = 300 };
    double out[MOST + 1];
    for (int n = 0; n <= MOST; n++) {
        sl_rng many, one;
        sl_rng_init(&many, sl_rng_u64(&t->rng), sl_rng_u32(&t->rng), sl_rng_u64(&t->rng));
        for (uint32_t k = sl_rng_below(&t->rng, 12); k > 0; k--) sl_rng_u32(&many);
        one = many;
        out[n] = 42;
        sl_rng_uniforms(out, &many, n);
        for (int i = 0; i < n; i++) {
            double u = sl_rng_uniform(&one);
            SL_CHECK(t, out[i] == u, "number %d of %d is %a, not %a", i, n, out[i], u);
        }
        SL_CHECK(t, out[n] == 42, "%d are %d", n, n + 1);
        for (int i = 0; i < 9; i++) assert_int_equal(sl_rng_u32(&many), sl_rng_u32(&one));
    }
}

/* The last blocks of a stream can still be had; what would pass its end stops the program. */
static void many_uniforms_stop_where_the_stream_ends(void **state) {
    (void)state;
    enum { BLOCKS = 40 };
    sl_rng r, one;
    double out[2 * BLOCKS + 2];
    sl_rng_init(&r, 1, 2, 3);
    r.lo |= UINT32_MAX - BLOCKS;
    one = r;
    sl_rng last = r;
    sl_rng_uniforms(out, &r, 2 * BLOCKS);
    for (int i = 0; i < 2 * BLOCKS; i++) assert_true(out[i] == sl_rng_uniform(&one));
    assert_true(aborts(last, out, 2 * BLOCKS + 2));
    assert_false(aborts(last, out, 2 * BLOCKS));
}

/* Past its last block a stream would become the next one: that must stop the program. */
static void an_exhausted_stream_stops(void **state) {
    (void)state;
    sl_rng r;
    sl_rng_init(&r, 1, 2, 3);
    r.lo |= UINT32_MAX - 1; // as if all blocks but one had been read
    for (int i = 0; i < 4; i++) sl_rng_u32(&r);
    double out;
    assert_true(aborts(r, &out, 1));
}

/* Data sets are functions of these numbers: they must never change. The normals also show that one
 * takes four words. */
static void numbers_are_those_stored(void **state) {
    sl_fixture *t = *state;
    static const double normal[4] = { 0x1.b569a89e4c494p+0, 0x1.b329c951bdd6p-1,
                                      0x1.ba4800e862f88p-1, -0x1.0d79adf2b0e7bp-1 };
    sl_rng r, words;
    sl_rng_init(&r, 20, 24, 2);
    words = r;
    for (int i = 0; i < SL_LEN(normal); i++) {
        double x = sl_rng_normal(&r);
        SL_CHECK(t, x == normal[i], "normal %d is %a", i, x);

        // the same by libm, to its accuracy
        uint64_t a = sl_rng_u64(&words), b = sl_rng_u64(&words);
        double u = ldexp((double)(a >> 12) + 0.5, -52), v = ldexp((double)(b >> 12) + 0.5, -52);
        double y = sqrt(-2 * log(u)) * sin(v * acos(0)) * (b & 1 ? -1 : 1);
        SL_CHECK(t, fabs(x - y) <= 1e-15 * fabs(y), "normal %d is %.17g, by libm %.17g", i, x, y);
    }
    for (int i = 0; i < 100; i++) {
        double u = sl_rng_uniform(&r);
        assert_true(u == ldexp((double)(sl_rng_u64(&words) >> 11), -53));
        double x = sl_rng_range(&r, -3, 5);
        assert_true(x == -3 + 8 * sl_rng_uniform(&words));
    }
}

/* Pearson's statistic of counts against equal shares, as standard deviations from its mean. */
static double chi_square(const int *count, int cells, int n) {
    double share = (double)n / cells, sum = 0;
    for (int i = 0; i < cells; i++) sum += (count[i] - share) * (count[i] - share) / share;
    return (sum - (cells - 1)) / sqrt(2.0 * (cells - 1));
}

static void below_is_uniform(void **state) {
    sl_fixture *t = *state;
    enum { CELLS = 97 };
    int n = sl_test_iters(t, 100000), count[CELLS] = { 0 };
    for (int i = 0; i < n; i++) {
        uint32_t v = sl_rng_below(&t->rng, CELLS);
        SL_CHECK(t, v < CELLS, "%u", v);
        count[v]++;
    }
    double chi = chi_square(count, CELLS, n);
    SL_CHECK(t, fabs(chi) < 4.5, "chi-square is %.2f deviations off", chi);
    for (int i = 0; i < 100; i++) assert_int_equal(sl_rng_below(&t->rng, 1), 0);
}

/* With n = 3 * 2^30 and nothing drawn again, every third number would come twice as often. */
static void below_is_fair_where_it_is_hardest(void **state) {
    sl_fixture *t = *state;
    const uint32_t bound = UINT32_C(3) << 30;
    int n = sl_test_iters(t, 30000), count[3] = { 0 };
    for (int i = 0; i < n; i++) {
        uint32_t v = sl_rng_below(&t->rng, bound);
        SL_CHECK(t, v < bound, "%u", v);
        count[v % 3]++;
    }
    double chi = chi_square(count, 3, n);
    SL_CHECK(t, chi < 8, "counts %d %d %d", count[0], count[1], count[2]);
}

static void uniform_is_uniform(void **state) {
    sl_fixture *t = *state;
    enum { CELLS = 128 };
    int n = sl_test_iters(t, 100000), high[CELLS] = { 0 }, low[CELLS] = { 0 };
    for (int i = 0; i < n; i++) {
        double u = sl_rng_uniform(&t->rng);
        SL_CHECK(t, u >= 0 && u < 1, "%a", u);
        high[(int)(u * CELLS)]++;
        low[(int)(ldexp(u, 53) - ldexp(floor(ldexp(u, 46)), 7))]++; // the last 7 of 53 bits
    }
    double chi_high = chi_square(high, CELLS, n), chi_low = chi_square(low, CELLS, n);
    SL_CHECK(t, fabs(chi_high) < 4.5, "chi-square is %.2f deviations off", chi_high);
    SL_CHECK(t, fabs(chi_low) < 4.5, "last bits: chi-square is %.2f deviations off", chi_low);
}

static int cmp_double(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Moments, and Kolmogorov and Smirnov's largest distance to the normal distribution function. */
static void normal_is_normal(void **state) {
    sl_fixture *t = *state;
    int n = sl_test_iters(t, 50000);
    double *x = sl_malloc((size_t)n, sizeof *x), m[5] = { 0 };
    assert_non_null(x);
    for (int i = 0; i < n; i++) {
        x[i] = sl_rng_normal(&t->rng);
        double power = 1;
        for (int k = 1; k <= 4; k++) m[k] += (power *= x[i]) / n;
    }
    qsort(x, (size_t)n, sizeof *x, cmp_double);
    double distance = 0;
    for (int i = 0; i < n; i++) {
        double p = 0.5 * erfc(-x[i] / sqrt(2.0));
        distance = fmax(distance, fmax(p - (double)i / n, (double)(i + 1) / n - p));
    }
    sl_free(x);
    // 4 deviations each: the variance of x^k is 1, 2, 15, 96 over n
    SL_CHECK(t, fabs(m[1]) < 4 / sqrt(n), "mean %g", m[1]);
    SL_CHECK(t, fabs(m[2] - 1) < 4 * sqrt(2.0 / n), "second moment %g", m[2]);
    SL_CHECK(t, fabs(m[3]) < 4 * sqrt(15.0 / n), "third moment %g", m[3]);
    SL_CHECK(t, fabs(m[4] - 3) < 4 * sqrt(96.0 / n), "fourth moment %g", m[4]);
    SL_CHECK(t, distance < 2.2 / sqrt(n), "largest distance %g of %d", distance, n);
}

/* The first numbers of neighbouring indices, streams and seeds are as unrelated as one stream's
 * own: no repeats, no correlation. */
static void neighbouring_streams_are_unrelated(void **state) {
    sl_fixture *t = *state;
    int n = sl_test_iters(t, 20000);
    uint64_t seed = sl_rng_u64(&t->rng);
    for (int kind = 0; kind < 3; kind++) {
        double product = 0, previous = 0;
        uint64_t previous_bits = 0;
        for (int i = 0; i <= n; i++) {
            sl_rng r;
            uint32_t j = (uint32_t)i;
            sl_rng_init(&r, seed + (kind == 0 ? j : 0), kind == 1 ? j : 7, kind == 2 ? j : 9);
            sl_rng copy = r;
            uint64_t bits = sl_rng_u64(&r);
            double u = sl_rng_uniform(&copy) - 0.5;
            SL_CHECK(t, i == 0 || bits != previous_bits, "kind %d: %d repeats", kind, i);
            if (i > 0) product += u * previous;
            previous = u, previous_bits = bits;
        }
        // a product of two has variance 1/144
        double r = product / sqrt(n / 144.0);
        SL_CHECK(t, fabs(r) < 4.5, "kind %d: correlation is %.2f deviations", kind, r);
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(known_answers),
        SL_TEST(a_stream_reads_its_own_counters),
        SL_TEST(many_uniforms_are_those_of_the_stream),
        SL_TEST(many_uniforms_stop_where_the_stream_ends),
        SL_TEST(an_exhausted_stream_stops),
        SL_TEST(numbers_are_those_stored),
        SL_TEST(below_is_uniform),
        SL_TEST(below_is_fair_where_it_is_hardest),
        SL_TEST(uniform_is_uniform),
        SL_TEST(normal_is_normal),
        SL_TEST(neighbouring_streams_are_unrelated),
    };
    return sl_test_main("base.philox", tests, SL_LEN(tests));
}

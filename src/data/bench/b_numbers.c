/* b_numbers - how fast numbers become mantissas and exponents, one core.
 *
 * Numbers are normal ones of many sizes, 192 in a data set. It is checked first that they come back
 * to a float's precision.
 *
 *     build/bench/data.numbers            a table, tab separated */
#include <math.h>
#include <stdio.h>

#include "data/data.h"
#include "num/num.h"

enum { REPEATS = 9, NUMBERS = 192, SETS = 1000 };

typedef struct bench {
    double numbers[SETS][NUMBERS];
    float mantissa[NUMBERS], exponent[NUMBERS];
    uint64_t sink; // keeps the compiler from leaving things out
} bench;

static sl_status prepare(bench *b) {
    sl_rng rng;
    sl_rng_init(&rng, 1, 0, 0);
    for (int k = 0; k < SETS; k++) {
        for (int i = 0; i < NUMBERS; i++) {
            const double v = b->numbers[k][i] =
                sl_rng_normal(&rng) * sl_exp(6 * sl_rng_normal(&rng));
            float m;
            int e;
            sl_data_number_split(&m, &e, v);
            const double error = sl_data_number_join(m, e) / v - 1;
            if (!(fabsf(m) >= 1 && fabsf(m) < 10 && fabs(error) <= 0x1p-24))
                return sl_fail(SL_EINVAL, "%g is split wrongly", v);
        }
    }
    return SL_OK;
}

static sl_status measure(bench *b) {
    double t[REPEATS];
    SL_TRY(prepare(b));
    for (int r = 0; r < REPEATS; r++) {
        const double start = sl_clock();
        for (int k = 0; k < SETS; k++) {
            sl_data_number_split_array(b->mantissa, b->exponent, b->numbers[k], NUMBERS);
            b->sink += b->mantissa[k % NUMBERS] > 2;
        }
        t[r] = (sl_clock() - start) * 1e9 / SETS;
    }
    sl_num_sort(t, REPEATS);
    printf("name\titems\tthreads\tbest_ns_per_item\tmedian_ns_per_item\titems_per_s\n");
    printf("split\t%d sets\t1\t%.1f\t%.1f\t%.0f\n", (int)SETS, t[0], t[REPEATS / 2],
           1e9 / t[REPEATS / 2]);
    return SL_OK;
}

int main(void) {
    bench *b = sl_calloc(1, sizeof *b);
    sl_status st = b ? measure(b) : sl_fail_memory(1, sizeof *b, "numbers");
    if (st != SL_OK) fprintf(stderr, "data.numbers: %s\n", sl_last_error());
    const bool idle = b && b->sink == 0;
    sl_free(b);
    return st == SL_OK && !idle ? 0 : 1;
}

/* b_eval - how fast expressions are evaluated, one core.
 *
 * Every case is first compared with sl_expr_eval_ref, within its error bound; then timed. A
 * node-point is one node of the expression at one point; numbers that stand for signs and exponents
 * are nodes of the representation but not work, so only surface operators and leaves are counted.
 * Rows "run" time a compiled program, rows "eval" compile each time as well.
 *
 *     build/bench/expr.eval                 a table, tab separated
 *     build/bench/expr.eval 'x1*x2' 64      one expression, one size
 *     build/bench/expr.eval --list          the expressions of the table, one a line */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "expr/expr.h"

enum { VARS = 2, MOST = 1000000, REPEATS = 15 };

/* nodes: leaves and operators as written here. floor: million node-points/s that we claim. */
static const struct {
    const char *text;
    int nodes;
    double floor;
} cases[] = {
    { "x1 + x2", 3, 300 },
    { "x1 - x2", 3, 300 },
    { "x1*x2", 3, 300 },
    { "x1/x2", 3, 300 },
    { "x1*x2 + x1/x2 - x1", 9, 300 },
    { "(x1 + x2)*(x1 - x2)/(x1*x2 + 3)", 13, 300 },
    { "sqrt(x1*x2)", 4, 0 },
    { "exp(x1)", 2, 60 },
    { "sin(x1)", 2, 60 },
    { "x2^(1/3)", 2, 0 },
    { "exp(x1)*sin(x2) + sqrt(x1)/x2", 10, 60 },
    { "sin(2*x1 + 1)*exp(-x2/3) - x1", 14, 60 },
};

static bool right(const sl_node *e, const double *const *x, const double *y, int n) {
    for (int i = 0; i < n; i++) {
        long double at[VARS], value, bound;
        for (int v = 0; v < VARS; v++) at[v] = x[v][i];
        sl_expr_eval_ref(&value, &bound, e, at, NULL, 0x1p-53L);
        if (!(fabsl(y[i] - value) <= bound)) {
            fprintf(stderr, "point %d: %.17g, but the value is %.20Lg +- %Lg\n", i, y[i], value,
                    bound);
            return false;
        }
    }
    return true;
}

/* Nanoseconds per point, best and median. */
static sl_status measure(double *best, double *median, const sl_node *e, const sl_program *p,
                         double *y, const double *const *x, int n, sl_arena *scratch) {
    double t[REPEATS];
    const int calls = (1 << 20) / n + 1;
    for (int r = 0; r < REPEATS; r++) {
        double start = sl_clock();
        for (int c = 0; c < calls; c++)
            SL_TRY(p ? sl_expr_program_run(y, p, x, n, NULL, scratch)
                     : sl_expr_eval(y, scratch, e, x, n, NULL));
        t[r] = (sl_clock() - start) * 1e9 / ((double)calls * n);
    }
    sl_bench_sort(t, REPEATS);
    *best = t[0];
    *median = t[REPEATS / 2];
    return SL_OK;
}

static sl_status bench(const char *text, int nodes, double floor_rate, int n, double *y,
                       const double *const *x, sl_arena *a) {
    const sl_node *e;
    const sl_program *p;
    SL_TRY(sl_expr_parse(&e, a, SL_FORMAT_INFIX, text, strlen(text), NULL, NULL));
    if (sl_expr_max_var(e) > VARS)
        return sl_fail(SL_EINVAL, "%s: only x1 and x2 have values", text);
    if (nodes == 0) nodes = sl_expr_nodes(e);
    SL_TRY(sl_expr_compile(&p, a, e));
    SL_TRY(sl_expr_program_run(y, p, x, n, NULL, a));
    if (!right(e, x, y, SL_MIN(n, 10000))) return sl_fail(SL_EINVAL, "%s is wrong", text);

    for (int compiled = 1; compiled >= 0; compiled--) {
        double best, median;
        SL_TRY(measure(&best, &median, e, compiled ? p : NULL, y, x, n, a));
        printf("%s\t%s\t%d\t1\t%.4f\t%.4f\t%.4f\t%.0f\t%.0f\n", text, compiled ? "run" : "eval", n,
               best / nodes, median / nodes, median, 1e3 * nodes / median, floor_rate);
    }
    return SL_OK;
}

int main(int argc, char **argv) {
    static const int sizes[] = { 64, 10000, MOST };
    sl_status st = SL_OK;
    sl_arena a = { 0 };
    sl_rng rng;
    if (argc == 2 && strcmp(argv[1], "--list") == 0) {
        for (int i = 0; i < SL_LEN(cases); i++) printf("%s\t%d\n", cases[i].text, cases[i].nodes);
        return 0;
    }
    double *memory = sl_malloc((VARS + 1) * (size_t)MOST, sizeof *memory);
    if (!memory) return 3;
    const double *x[VARS] = { memory, memory + MOST };
    double *y = memory + VARS * (size_t)MOST;
    sl_rng_init(&rng, 1, 0, 0);
    for (int i = 0; i < VARS * MOST; i++) memory[i] = sl_rng_range(&rng, 0.1, 5);

    printf("name\tmode\tn\tthreads\tbest_ns_per_node_point\tmedian_ns_per_node_point\t"
           "median_ns_per_point\tmillion_node_points_per_s\tfloor\n");
    if (argc > 1) {
        int n = argc > 2 ? atoi(argv[2]) : 64;
        st = n >= 1 && n <= MOST ? bench(argv[1], 0, 0, n, y, x, &a)
                                 : sl_fail(SL_EINVAL, "1 to %d points", MOST);
    } else {
        for (int i = 0; i < SL_LEN(cases) && st == SL_OK; i++)
            for (int s = 0; s < SL_LEN(sizes) && st == SL_OK; s++)
                st = bench(cases[i].text, cases[i].nodes, cases[i].floor, sizes[s], y, x, &a);
    }
    if (st != SL_OK) fprintf(stderr, "expr.eval: %s\n", sl_last_error());
    sl_arena_clear(&a);
    sl_free(memory);
    return st == SL_OK ? 0 : 1;
}

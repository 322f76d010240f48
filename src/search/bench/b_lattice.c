/* b_lattice - how many pairs of a file the search recovers in how much time.
 *
 * The file has one pair a line, as `symlaw pairs --split test --out FILE` writes them. A pair
 * counts as recovered if the formula agrees with its expression at fresh points: columns of
 * different rows put together, and points between two rows. "close" is a formula that does so only
 * to the digits of y: some of its constants are not the true ones. Two times are printed: wall
 * time, and CPU time over the number of threads, which other load on the machine disturbs less.
 * The last table has every step that was run: in how many pairs, its CPU time over the number of
 * threads in the mean, how many pairs it found, and how many for each of these CPU-seconds.
 *
 *     build/bench/search.lattice FILE [pairs] [seconds of CPU time a thread] [digits of y]
 *                                [threads] [noise]
 *
 * noise: 1 runs the steps of the search under noise too, as `symlaw eval` does. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "search/bench/pair_file.h"

enum { FRESH = 400, BUDGETS = 5 };
static const double budgets[BUDGETS] = { 0.1, 0.5, 1, 3, 10 };

/* A step, in the order in which steps were first run. */
typedef struct step_cost {
    const char *what;
    int level, runs, found;
    double seconds;
} step_cost;

enum { STEPS_MAX = 128 };

typedef struct step_costs {
    step_cost list[STEPS_MAX];
    int n;
} step_costs;

typedef struct clocks {
    double start, limit;
    int threads;
    step_costs *steps;
    step_cost *now;   // NULL: before the first step
    double now_start; // of that step
} clocks;

static double cpu_seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }

static step_cost *find_step(step_costs *s, const char *what, int level) {
    for (int i = 0; i < s->n; i++)
        if (s->list[i].level == level && !strcmp(s->list[i].what, what)) return &s->list[i];
    SL_ASSERT(s->n < STEPS_MAX);
    s->list[s->n] = (step_cost){ .what = what, .level = level };
    return &s->list[s->n++];
}

/* Ends the step that runs now. */
static void end_step(clocks *c) {
    if (!c->now) return;
    c->now->runs++;
    c->now->seconds += (cpu_seconds() - c->now_start) / c->threads;
    c->now = NULL;
}

static int watch(const sl_search_progress *progress, void *payload) {
    clocks *c = payload;
    step_cost *step = find_step(c->steps, progress->what, progress->level);
    if (step != c->now) {
        end_step(c);
        c->now = step;
        c->now_start = cpu_seconds();
    }
    return (cpu_seconds() - c->start) / c->threads > c->limit;
}

static double rounded(double v, int digits) {
    char text[64];
    if (digits <= 0) return v;
    sl_snprintf(text, sizeof text, "%.*e", digits - 1, v);
    return sl_strtod(text, NULL);
}

/* The pair of a line, y of that many digits (0: all), and its expression. */
static sl_status read_problem(pair *p, sl_arena *a, const char *line, size_t n, int digits) {
    SL_TRY(read_pair(p, line, n));
    for (int i = 0; i < p->rows; i++) p->y[i] = rounded(p->y[i], digits);
    return sl_expr_parse(&p->expr, a, SL_FORMAT_INFIX, p->text, strlen(p->text), NULL, NULL);
}

/* Do both agree where both are real? tolerance is relative to the larger of them and of y. */
static sl_status agree(bool *out, sl_arena *a, const pair *p, const sl_fit *fit, double tolerance) {
    double *x[SL_UNIVERSE_MAX_VARS], *truth, *got;
    const double *column[SL_UNIVERSE_MAX_VARS];
    sl_rng rng;
    sl_rng_init(&rng, 7, 1, 0);
    truth = sl_arena_alloc(a, FRESH * sizeof *truth);
    got = sl_arena_alloc(a, FRESH * sizeof *got);
    for (int c = 0; c < p->columns; c++) column[c] = x[c] = sl_arena_alloc(a, FRESH * sizeof **x);
    for (int i = 0; i < FRESH; i++) {
        double t = sl_rng_uniform(&rng);
        for (int c = 0; c < p->columns; c++) {
            int r = (int)sl_rng_below(&rng, (uint32_t)p->rows),
                s = (int)sl_rng_below(&rng, (uint32_t)p->rows);
            x[c][i] = i % 2 ? p->x[c][r] : t * p->x[c][r] + (1 - t) * p->x[c][s];
        }
    }
    SL_TRY(sl_expr_eval(truth, a, p->expr, column, FRESH, NULL));
    SL_TRY(sl_expr_eval(got, a, fit->expr, column, FRESH, fit->value));
    int good = 0, bad = 0;
    for (int i = 0; i < FRESH; i++) {
        if (!isfinite(truth[i]) || !isfinite(got[i])) continue;
        double size = fabs(truth[i]) + 1e-3 * fabs(p->y[i % p->rows]);
        *(fabs(truth[i] - got[i]) <= tolerance * size ? &good : &bad) += 1;
    }
    *out = good >= 20 && bad <= (good + bad) / 50; // next to poles both lose their digits
    return SL_OK;
}

typedef struct tally {
    int pairs, found, close, wrong, by_cpu[BUDGETS], by_clock[BUDGETS];
} tally;

static sl_status run(tally *t, step_costs *steps, sl_pool *pool, const pair *p, sl_arena *a,
                     double limit, int digits, bool noise) {
    sl_search_grammar grammar = SL_SEARCH_GRAMMAR_INIT;
    sl_search_options o = SL_SEARCH_OPTIONS_INIT;
    sl_search_result *r;
    clocks c = { .start = cpu_seconds(),
                 .limit = limit,
                 .threads = SL_MIN(sl_par_pool_threads(pool), 2),
                 .steps = steps };
    o.grammar = &grammar;
    o.effort = SL_SEARCH_EFFORT_HIGH;
    o.exact_only = !noise;
    o.progress = watch;
    o.payload = &c;
    sl_dataset problem = sl_data_view(p->column, p->columns, p->y, p->rows);
    SL_TRY(sl_search_run(&r, pool, &problem, &o));
    double cpu = (cpu_seconds() - c.start) / c.threads;
    end_step(&c);
    bool found = r->count > 0 && (r->formula[0].exact || noise), right = false, close = false;
    bool exact = found && r->formula[0].exact;
    sl_str text = { 0 }, truth = { 0 };
    sl_status st = sl_expr_print(&truth, SL_FORMAT_INFIX, p->expr, NULL);
    if (found && st == SL_OK) {
        st = agree(&right, a, p, &r->formula[0].fit, digits > 0 ? 1e-9 : 1e-6);
        if (st == SL_OK && digits > 0 && !right)
            st = agree(&close, a, p, &r->formula[0].fit, pow(10, 1 - digits));
        if (st == SL_OK)
            st = sl_expr_print_values(&text, SL_FORMAT_INFIX, r->formula[0].fit.expr, NULL,
                                      r->formula[0].fit.value);
    }
    printf("%d\t%s\t%.3f\t%.3f\t%d\t%.0f\t%s\t%s\t%s\n", t->pairs,
           !found  ? "none"
           : right ? "right"
           : close ? "close"
           : exact ? "WRONG"
                   : "no",
           cpu, r->seconds, found ? r->formula[0].level : -1, (double)r->memory / 1e6,
           found ? r->formula[0].method : "-", sl_str_text(&text), sl_str_text(&truth));
    fflush(stdout);
    t->pairs++;
    t->found += right;
    if (right) find_step(steps, r->formula[0].method, r->formula[0].level)->found++;
    t->close += close;
    t->wrong += exact && !right && !close;
    for (int b = 0; b < BUDGETS; b++) {
        t->by_cpu[b] += right && cpu <= budgets[b];
        t->by_clock[b] += right && r->seconds <= budgets[b];
    }
    sl_search_result_free(r);
    sl_str_clear(&text);
    sl_str_clear(&truth);
    return st;
}

static void print_steps(const step_costs *s) {
    printf("step\tlevel\truns\tseconds\tfound\tper second\n");
    for (int i = 0; i < s->n; i++) {
        const step_cost *c = &s->list[i];
        printf("%s\t%d\t%d\t%.3f\t%d\t%.3f\n", c->what, c->level, c->runs,
               c->seconds / SL_MAX(c->runs, 1), c->found, c->found / SL_MAX(c->seconds, 1e-3));
    }
}

static void print_tally(const tally *t) {
    printf("pairs %d  right %d  close %d  wrong %d\n", t->pairs, t->found, t->close, t->wrong);
    printf("seconds ");
    for (int b = 0; b < BUDGETS; b++) printf("\t%g", budgets[b]);
    printf("\nby CPU  ");
    for (int b = 0; b < BUDGETS; b++) printf("\t%.3f", (double)t->by_cpu[b] / t->pairs);
    printf("\nby clock");
    for (int b = 0; b < BUDGETS; b++) printf("\t%.3f", (double)t->by_clock[b] / t->pairs);
    printf("\n");
}

int main(int argc, char **argv) {
    static pair p;
    static step_costs steps;
    if (argc < 2)
        return printf("usage: %s FILE [pairs] [seconds] [digits] [threads] [noise]\n", argv[0]), 2;
    int pairs = argc > 2 ? atoi(argv[2]) : 300, digits = argc > 4 ? atoi(argv[4]) : 0;
    double limit = argc > 3 ? atof(argv[3]) : 10;
    bool noise = argc > 6 && atoi(argv[6]);
    sl_pool *pool;
    sl_arena a = { 0 };
    tally t = { 0 };
    FILE *f = fopen(argv[1], "r");
    char *line = NULL;
    size_t room = 0;
    ssize_t n;
    if (!f || sl_par_pool_new(&pool, argc > 5 ? atoi(argv[5]) : 2) != SL_OK) return 1;
    while (t.pairs < pairs && (n = getline(&line, &room, f)) > 0) {
        sl_arena_rewind(&a, 0);
        sl_status st = read_problem(&p, &a, line, (size_t)n, digits);
        if (st == SL_OK) st = run(&t, &steps, pool, &p, &a, limit, digits, noise);
        if (st != SL_OK) return printf("%s\n", sl_last_error()), 1;
    }
    print_steps(&steps);
    print_tally(&t);
    free(line);
    fclose(f);
    sl_arena_clear(&a);
    sl_par_pool_free(pool);
    return t.pairs == 0;
}

/* b_formulas - which formulas of a file the search finds, and after how long.
 *
 *     build/bench/search.formulas examples/formulas/feynman.csv [seconds] [threads] [seed] [rows]
 * [name]
 *
 * `3` seconds are wall time, `3c` are CPU-seconds of all threads divided by their number: for a
 * machine that is not idle.
 *
 * Columns of the file: name, formula, and variables as `name:low:high name:low:high ...`, or nvars,
 * lo and hi. Rows are drawn uniformly; y is the formula's value. One line a formula, tab separated:
 * outcome, name, seconds, CPU-seconds of all threads, method, level, terms tried, megabytes, the
 * formula found. `right` holds in 1,000 rows that were not searched, `false` does not. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "par/par.h"
#include "search/search.h"

enum { FRESH = 1000, ROWS_MAX = 10000, INPUTS_MAX = SL_DATA_MAX_INPUTS, LINE = 4096, DRAWS = 100 };

typedef struct task {
    char line[LINE];
    char *name, *formula, *names[INPUTS_MAX];
    double low[INPUTS_MAX], high[INPUTS_MAX];
    int inputs, rows;
    const sl_node *expr;
    double *x[INPUTS_MAX], *y;
} task;

static const char *const usage =
    "search.formulas FILE.csv [seconds] [threads] [seed] [rows] [name]\n";

static double cpu_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Cells of a line without quotes; returns how many. */
static int split(char **cell, int most, char *line, const char *between) {
    int n = 0;
    char *rest = NULL;
    for (char *at = strtok_r(line, between, &rest); at && n < most;
         at = strtok_r(NULL, between, &rest))
        cell[n++] = at;
    return n;
}

static bool read_variables(task *k, char *text) {
    char *cell[INPUTS_MAX], *part[3];
    k->inputs = split(cell, INPUTS_MAX, text, " ");
    for (int v = 0; v < k->inputs; v++) {
        if (split(part, 3, cell[v], ":") != 3) return false;
        k->names[v] = part[0];
        k->low[v] = sl_strtod(part[1], NULL);
        k->high[v] = sl_strtod(part[2], NULL);
    }
    return k->inputs > 0;
}

/* A line of the file; `plain`: columns are nvars, lo, hi. */
static bool read_task(task *k, sl_arena *a, bool plain) {
    static char number[INPUTS_MAX][8];
    char *cell[8];
    int n = split(cell, 8, k->line, ",\r\n");
    if (n < (plain ? 5 : 3)) return false;
    k->name = cell[0], k->formula = cell[1];
    if (!plain && !read_variables(k, cell[2])) return false;
    if (plain) k->inputs = (int)sl_strtoll(cell[2], NULL);
    for (int v = 0; plain && v < k->inputs; v++) {
        sl_snprintf(number[v], sizeof number[v], "x%d", v + 1);
        k->names[v] = number[v];
        k->low[v] = sl_strtod(cell[3], NULL), k->high[v] = sl_strtod(cell[4], NULL);
    }
    sl_names names = { (const char *const *)k->names, k->inputs };
    return sl_expr_parse(&k->expr, a, SL_FORMAT_INFIX, k->formula, strlen(k->formula), &names,
                         NULL) == SL_OK;
}

/* Rows where y is real and finite. */
static bool draw(task *k, sl_arena *a, sl_rng *rng, int rows) {
    for (int i = 0, tries = 0; i < rows && tries < DRAWS * rows; tries++) {
        const double *at[INPUTS_MAX];
        for (int v = 0; v < k->inputs; v++) {
            k->x[v][i] = sl_rng_range(rng, k->low[v], k->high[v]);
            at[v] = &k->x[v][i];
        }
        if (sl_expr_eval(&k->y[i], a, k->expr, at, 1, NULL) != SL_OK) return false;
        i += isfinite(k->y[i]);
        if (i == rows) return true;
    }
    return false;
}

static bool is_right(task *k, sl_arena *a, const sl_fit *f) {
    static double got[FRESH];
    if (sl_expr_eval(got, a, f->expr, (const double *const *)k->x, FRESH, f->value) != SL_OK)
        return false;
    for (int i = 0; i < FRESH; i++)
        if (!(fabs(got[i] - k->y[i]) <= 1e-6 * (fabs(k->y[i]) + 1e-9))) return false;
    return true;
}

typedef struct totals {
    int tasks, right, wrong;
} totals;

typedef struct limit {
    double seconds;
    bool cpu; // of which kind they are
} limit;

/* Ends a search whose CPU-seconds are used up. */
static int look_at_cpu(const sl_search_progress *progress, void *payload) {
    const double *end = payload;
    (void)progress;
    return cpu_seconds() >= *end;
}

static bool run(task *k, sl_arena *a, sl_pool *pool, limit l, uint64_t seed, totals *sum) {
    sl_rng rng;
    sl_search_result *r;
    sl_search_options o = SL_SEARCH_OPTIONS_INIT;
    sl_str text = { 0 };
    sl_names names = { (const char *const *)k->names, k->inputs };
    sl_rng_init(&rng, seed, 0, sl_hash(k->name, strlen(k->name), 0));
    if (!draw(k, a, &rng, k->rows)) return false;
    sl_dataset p = sl_data_view((const double *const *)k->x, k->inputs, k->y, k->rows);
    double start = sl_clock(), cpu = cpu_seconds();
    double cpu_end = cpu + l.seconds * sl_par_pool_threads(pool);
    o.effort = SL_SEARCH_EFFORT_HIGH;
    o.exact_only = true;
    if (l.cpu)
        o.progress = look_at_cpu, o.payload = &cpu_end;
    else
        o.deadline = start + l.seconds;
    if (sl_search_run(&r, pool, &p, &o) != SL_OK) return false;
    double wall = sl_clock() - start;
    cpu = cpu_seconds() - cpu;
    bool found = r->count > 0, right = false;
    if (found && draw(k, a, &rng, FRESH)) right = is_right(k, a, &r->formula[0].fit);
    if (found && sl_expr_print_values(&text, SL_FORMAT_INFIX, r->formula[0].fit.expr, &names,
                                      r->formula[0].fit.value) != SL_OK)
        return false;
    printf("%s\t%s\t%.4f\t%.4f\t%s\t%d\t%lld\t%.1f\t%s\n",
           !found  ? "nothing"
           : right ? "right"
                   : "false",
           k->name, wall, cpu, found ? r->formula[0].method : "-", found ? r->formula[0].level : -1,
           (long long)r->tried, (double)r->memory / 1e6, sl_str_text(&text));
    sum->tasks++, sum->right += right, sum->wrong += found && !right;
    sl_str_clear(&text);
    sl_search_result_free(r);
    return true;
}

int main(int argc, char **argv) {
    task k = { .rows = argc > 5 ? (int)sl_strtoll(argv[5], NULL) : 200 };
    char *unit = "";
    limit l = { .seconds = argc > 2 ? sl_strtod(argv[2], &unit) : 1 };
    l.cpu = *unit == 'c';
    uint64_t seed = argc > 4 ? (uint64_t)sl_strtoll(argv[4], NULL) : 1;
    sl_arena a = { 0 };
    sl_pool *pool;
    totals sum = { 0 };
    FILE *f = argc > 1 ? fopen(argv[1], "r") : NULL;
    if (!f || k.rows < 3 || k.rows > ROWS_MAX) return fputs(usage, stderr), 2;
    if (sl_par_pool_new(&pool, argc > 3 ? (int)sl_strtoll(argv[3], NULL) : 0) != SL_OK) return 1;
    k.y = sl_malloc(ROWS_MAX, sizeof *k.y);
    for (int v = 0; v < INPUTS_MAX; v++) k.x[v] = sl_malloc(ROWS_MAX, sizeof *k.x[v]);
    bool plain = fgets(k.line, LINE, f) && strstr(k.line, "nvars");
    while (fgets(k.line, LINE, f)) {
        sl_arena_rewind(&a, 0);
        if (!read_task(&k, &a, plain)) {
            fprintf(stderr, "%s: not read: %s\n", k.line, sl_last_error());
            continue;
        }
        if (argc > 6 && strcmp(argv[6], k.name) != 0) continue;
        if (!run(&k, &a, pool, l, seed, &sum)) fprintf(stderr, "%s: %s\n", k.name, sl_last_error());
        fflush(stdout);
    }
    fprintf(stderr, "%d of %d right, %d false, within %g %s\n", sum.right, sum.tasks, sum.wrong,
            l.seconds, l.cpu ? "CPU-s a thread" : "s");
    fclose(f);
    for (int v = 0; v < INPUTS_MAX; v++) sl_free(k.x[v]);
    sl_free(k.y);
    sl_par_pool_free(pool);
    sl_arena_clear(&a);
    return 0;
}

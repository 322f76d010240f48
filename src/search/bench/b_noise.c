/* b_noise - formulas of a table recovered from noisy rows.
 *
 *     build/bench/search.noise FILE NOISE SECONDS [EFFORT [EVERY [NAME]]]
 *
 * FILE has lines name,formula,variables (variables: name:low:high ...). 200 rows are drawn, and y
 * gets errors whose size the search does not know. NOISE is one of
 *
 *     0.01     normal, a hundredth of the rms of y
 *     3%       normal, relative to each y
 *     4d       y is rounded to that many digits
 *     float    y is rounded to single precision
 *     floats   inputs and y are, the inputs first
 *     xfloat   the inputs are, after y was computed of them
 *
 * SECONDS: limit of a formula, in CPU time a thread; 0: none, all steps of the effort (0, 1, 2) are
 * done. EVERY: only every EVERY-th formula.
 *
 * A formula has the right structure if with its free constants fitted again to the rows without
 * errors it differs from the truth by less than 1e-6 at 100 further rows. One line a formula: right
 * (the headline), front (one of the others) or wrong, with CPU-seconds, nodes of the headline,
 * formula and truth; then the counts. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "search/search.h"

enum { ROWS = 200, FRESH = 100, ALL = ROWS + FRESH, INPUTS = 16, THREADS = 2 };

typedef struct task {
    char name[64], formula[512];
    char label[INPUTS][32];
    const char *labels[INPUTS];
    double low[INPUTS], high[INPUTS];
    int inputs;
    double x[INPUTS][ALL], clean[ALL], y[ALL], rms;
} task;

/* name,formula,variables; the formula may hold commas, so the last comma counts. */
static bool parse_line(task *t, char *line) {
    char *comma = strchr(line, ','), *last = strrchr(line, ',');
    if (last && !strchr(last, ':')) { // a further column behind the variables
        *last = 0;
        last = strrchr(line, ',');
    }
    if (!comma || comma == last) return false;
    *comma = *last = 0;
    snprintf(t->name, sizeof t->name, "%.63s", line);
    snprintf(t->formula, sizeof t->formula, "%s", comma + 1);
    size_t n = strlen(t->formula);
    if (t->formula[0] == '"') memmove(t->formula, t->formula + 1, n), t->formula[n - 2] = 0;
    t->inputs = 0;
    for (char *word = strtok(last + 1, " \r\n"); word && t->inputs < INPUTS;
         word = strtok(NULL, " \r\n")) {
        if (sscanf(word, "%31[^:]:%lf:%lf", t->label[t->inputs], &t->low[t->inputs],
                   &t->high[t->inputs]) == 3) {
            t->labels[t->inputs] = t->label[t->inputs];
            t->inputs++;
        }
    }
    return t->inputs > 0;
}

static double rounded(double v, int digits) {
    char text[64];
    snprintf(text, sizeof text, "%.*e", digits - 1, v);
    return atof(text);
}

/* y := the clean one with errors of this kind. */
static void add_errors(task *t, const char *noise, sl_rng *rng) {
    const double size = atof(noise);
    for (int i = 0; i < ALL; i++) {
        const double y = t->y[i] = t->clean[i];
        if (noise[0] == 'x') {
            for (int v = 0; v < t->inputs; v++) t->x[v][i] = (float)t->x[v][i];
            continue;
        }
        if (noise[0] == 'f')
            t->y[i] = (float)y;
        else if (strchr(noise, 'd'))
            t->y[i] = rounded(y, atoi(noise));
        else if (strchr(noise, '%'))
            t->y[i] = y * (1 + size / 100 * sl_rng_normal(rng));
        else
            t->y[i] = y + size * t->rms * sl_rng_normal(rng);
    }
}

/* Rows where the formula is real, with errors. */
static bool draw(task *t, sl_arena *a, const char *noise) {
    const sl_node *e;
    const sl_names names = { t->labels, t->inputs };
    if (sl_expr_parse(&e, a, SL_FORMAT_INFIX, t->formula, strlen(t->formula), &names, NULL) !=
        SL_OK)
        return false;
    sl_rng rng;
    sl_rng_init(&rng, 1, 1, sl_hash(t->name, strlen(t->name), 0));
    for (int i = 0, tries = 0; i < ALL; tries++) {
        const double *columns[INPUTS];
        for (int v = 0; v < t->inputs; v++) {
            t->x[v][i] = sl_rng_range(&rng, t->low[v], t->high[v]);
            if (strcmp(noise, "floats") == 0) t->x[v][i] = (float)t->x[v][i];
            columns[v] = &t->x[v][i];
        }
        if (sl_expr_eval(&t->clean[i], a, e, columns, 1, NULL) != SL_OK || tries > 100 * ALL)
            return false;
        i += isfinite(t->clean[i]);
    }
    t->rms = 0;
    for (int i = 0; i < ROWS; i++) t->rms += t->clean[i] * t->clean[i] / ROWS;
    t->rms = sqrt(t->rms);
    add_errors(t, noise, &rng);
    const double *columns[INPUTS];
    for (int v = 0; v < t->inputs; v++) columns[v] = t->x[v];
    return sl_expr_eval(t->clean, a, e, columns, ALL, NULL) == SL_OK; // inputs may be rounded now
}

static bool is_right(const task *t, sl_arena *a, const sl_fit *f, const double *const *x) {
    const sl_dataset clean = sl_data_view(x, t->inputs, t->clean, ROWS);
    const sl_refine_options o = { .evaluations = 400, .restarts = 2 };
    double got[ALL];
    sl_fit again;
    if (sl_fit_constants(&again, a, f->expr, f->params, f->value, &clean, &o) != SL_OK)
        return false;
    if (sl_expr_eval(got, a, again.expr, x, ALL, again.value) != SL_OK) return false;
    for (int i = 0; i < ALL; i++) {
        if (!(fabs(got[i] - t->clean[i]) <= 1e-6 * (fabs(t->clean[i]) + 1e-3 * t->rms)))
            return false;
    }
    return true;
}

static void print_formula(const task *t, const sl_fit *f) {
    sl_str s = { 0 };
    const sl_names names = { t->labels, t->inputs };
    if (sl_expr_print_values(&s, SL_FORMAT_INFIX, f->expr, &names, f->value) == SL_OK)
        printf("%.300s", sl_str_text(&s));
    sl_str_clear(&s);
}

static double cpu_seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }

/* The limit is one of CPU time, so that other work on the machine does not matter. */
static int is_over(const sl_search_progress *progress, void *payload) {
    (void)progress;
    return cpu_seconds() > *(double *)payload;
}

static int nodes_of(const sl_node *e) {
    int n = 0;
    for (const sl_node *c = e; c < e + e->len; c += sl_expr_step(c)) n++;
    return n;
}

/* 2: the first formula is right, 1: another of the front, 0: none. */
static int try_one(task *t, sl_pool *pool, const char *noise, double seconds, int effort) {
    sl_arena a = { 0 };
    const double *x[INPUTS];
    for (int v = 0; v < t->inputs; v++) x[v] = t->x[v];
    if (!draw(t, &a, noise)) {
        printf("skipped\t%s: %s\n", t->name, sl_last_error());
        sl_arena_clear(&a);
        return -1;
    }
    const sl_dataset p = sl_data_view(x, t->inputs, t->y, ROWS);
    sl_search_options o = SL_SEARCH_OPTIONS_INIT;
    sl_search_result *r;
    o.effort = effort;
    const double start = cpu_seconds();
    double end = start + THREADS * seconds;
    if (seconds > 0) o.progress = is_over, o.payload = &end;
    if (sl_search_run(&r, pool, &p, &o) != SL_OK) {
        printf("failed\t%s: %s\n", t->name, sl_last_error());
        exit(1);
    }
    const double took = cpu_seconds() - start;
    int right = 0, place = 0;
    for (int64_t k = 0; k < r->count && !right; k++) {
        if (!r->formula[k].front && k) continue;
        place++;
        if (is_right(t, &a, &r->formula[k].fit, x)) right = k == 0 ? 2 : 1;
    }
    printf("%s\t%s\t%d\t%.2f s\t%d nodes\tplace %d\tnoise %d\t",
           right == 2 ? "right"
           : right    ? "front"
                      : "wrong",
           t->name, t->inputs, took, r->count ? nodes_of(r->formula[0].fit.expr) : 0,
           right ? place : 0, r->within_noise);
    if (r->count) print_formula(t, &r->formula[0].fit);
    printf("\t%s\n", t->formula);
    fflush(stdout);
    sl_search_result_free(r);
    sl_arena_clear(&a);
    return right;
}

int main(int argc, char **argv) {
    static task t;
    char line[2048];
    if (argc < 4) {
        fprintf(stderr, "usage: %s FILE NOISE SECONDS [EFFORT [EVERY [NAME]]]\n", argv[0]);
        return 2;
    }
    int effort = argc > 4 ? atoi(argv[4]) : 1, every = argc > 5 ? atoi(argv[5]) : 1;
    FILE *f = fopen(argv[1], "r");
    sl_pool *pool;
    if (!f || sl_par_pool_new(&pool, THREADS) != SL_OK) return 1;
    int counts[3] = { 0 }, number = 0;
    while (fgets(line, sizeof line, f)) {
        if (!parse_line(&t, line) || number++ % every) continue;
        if (argc > 6 && strcmp(argv[6], t.name)) continue;
        int right = try_one(&t, pool, argv[2], atof(argv[3]), effort);
        if (right >= 0) counts[right]++;
    }
    printf("noise %s: right %d, on the front %d more, wrong %d\n", argv[2], counts[2], counts[1],
           counts[0]);
    sl_par_pool_free(pool);
    fclose(f);
    return 0;
}

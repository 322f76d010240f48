/* points - configurations (runs up to the seed), which are the points of all laws; resamples. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "laws/laws_impl.h"

/* ---------------------------------------------------------------- which rows ---------------- */

typedef struct key {
    const char *id;
    double params, batch, rate, ratio, flops;
    int row;
} key;

static double or_zero(double v) { return isnan(v) ? 0 : v; }
static int compare(double a, double b) { return (a > b) - (a < b); }

static int by_id(const void *pa, const void *pb) {
    const key *a = pa, *b = pb;
    const int c = strcmp(a->id, b->id);
    if (c) return c;
    if (a->flops != b->flops) return compare(b->flops, a->flops); // the last one first
    return a->row - b->row;
}

static int by_configuration(const void *pa, const void *pb) {
    const key *a = pa, *b = pb;
    if (a->params != b->params) return compare(a->params, b->params);
    if (a->batch != b->batch) return compare(a->batch, b->batch);
    if (a->rate != b->rate) return compare(a->rate, b->rate);
    if (a->ratio != b->ratio) return compare(a->ratio, b->ratio);
    return a->row - b->row;
}

/* Rows for the frontier: finished, with a compute, not for the sweep alone, and of rows with one id
 * the last: the loss inside a learning rate schedule is not that of a finished run. */
static sl_status find_rows(key **out, int *n, sl_laws *l, sl_arena *a) {
    const sl_laws_table *t = l->table;
    key *k;
    SL_LAWS__TRY_ALLOC(k, a, t->n);
    int m = 0, inside = 0, unfinished = 0;
    for (int i = 0; i < t->n; i++) {
        const sl_laws_run *r = &t->run[i];
        if (!sl_laws_finished(r)) {
            unfinished++;
            continue;
        }
        if (isnan(r->flops) || strcmp(r->phase, "sweep") == 0) continue;
        k[m++] = (key){ r->id,
                        or_zero(r->params),
                        or_zero(r->batch),
                        or_zero(r->rate),
                        or_zero(r->ratio),
                        r->flops,
                        i };
    }
    qsort(k, (size_t)m, sizeof *k, by_id);
    int kept = 0;
    for (int i = 0; i < m; i++) {
        const bool same = kept > 0 && *k[i].id && strcmp(k[i].id, k[kept - 1].id) == 0;
        inside += same;
        if (!same) k[kept++] = k[i];
    }
    *out = k;
    *n = kept;
    if (unfinished > 0)
        SL_TRY(sl_laws__note(l, a, SL_LAWS_NOTE_DATA,
                             "Left out, not finished or without a result: %d of %d runs.",
                             unfinished, t->n));
    if (inside > 0)
        SL_TRY(sl_laws__note(
            l, a, SL_LAWS_NOTE_DATA,
            "Left out, earlier points of runs that have a later one: %d. A point inside "
            "a learning rate schedule is no run.",
            inside));
    return SL_OK;
}

/* ---------------------------------------------------------------- configurations ------------ */

/* The planned ratio, or the actual one: the tokens of two seeds differ by less than this part. */
#define SAME_RATIO 0.01

static bool same_configuration(const key *a, const key *b) {
    return a->params == b->params && a->batch == b->batch && a->rate == b->rate &&
           b->ratio <= a->ratio * (1 + SAME_RATIO);
}

static void add_mean(double *sum, int *n, double v) {
    if (isnan(v)) return;
    *sum += v;
    ++*n;
}

static double mean_of(double sum, int n) { return n ? sum / n : NAN; }

static void fill_point(sl_laws_point *p, const sl_laws *l) {
    double sum[7] = { 0 };
    int n[7] = { 0 };
    for (int i = 0; i < p->n; i++) {
        const sl_laws_run *r = &l->table->run[p->row[i]];
        const double v[7] = {
            r->params, r->tokens, r->flops, r->loss, r->solved, r->r2, r->trials
        };
        for (int k = 0; k < 7; k++) add_mean(&sum[k], &n[k], v[k]);
    }
    double *const to[7] = { &p->params, &p->tokens, &p->flops, &p->loss,
                            &p->solved, &p->r2,     &p->trials };
    for (int k = 0; k < 7; k++) *to[k] = mean_of(sum[k], n[k]);
    if (isnan(p->trials) && l->options.trials > 0) p->trials = l->options.trials;
}

static int by_flops(const void *pa, const void *pb) {
    const sl_laws_point *a = pa, *b = pb;
    if (a->flops != b->flops) return compare(a->flops, b->flops);
    return a->row[0] - b->row[0];
}

static sl_status make_points(sl_laws *l, sl_arena *a, key *k, int n) {
    const bool repeats = l->table->has[SL_LAWS_COLUMN_seed];
    int *row;
    SL_LAWS__TRY_ALLOC(row, a, n);
    SL_LAWS__TRY_ALLOC(l->point, a, n);
    qsort(k, (size_t)n, sizeof *k, by_configuration);
    for (int i = 0, first = 0; i < n; i++) {
        row[i] = k[i].row;
        if (i > 0 && repeats && same_configuration(&k[first], &k[i])) {
            l->point[l->n_point - 1].n++;
            continue;
        }
        first = i;
        l->point[l->n_point++] = (sl_laws_point){ .row = row + i, .n = 1 };
    }
    for (int i = 0; i < l->n_point; i++) fill_point(&l->point[i], l);
    qsort(l->point, (size_t)l->n_point, sizeof *l->point, by_flops);
    return SL_OK;
}

/* ---------------------------------------------------------------- sizes --------------------- */

static int by_params(const void *pa, const void *pb) {
    const sl_laws_size *a = pa, *b = pb;
    const int c = compare(or_zero(a->params), or_zero(b->params));
    return c ? c : strcmp(a->name, b->name);
}

/* Counts of parameters that were read off a figure differ by less than this part. */
#define SAME_SIZE 0.01

static bool same_size(const sl_laws_size *a, const char *name, double params) {
    if (*a->name && *name) return strcmp(a->name, name) == 0;
    return isnan(params) ? isnan(a->params) : fabs(params / a->params - 1) <= SAME_SIZE;
}

static int find_size(const sl_laws *l, const sl_laws_run *r) {
    for (int i = 0; i < l->n_size; i++) {
        if (same_size(&l->size[i], r->size, r->params)) return i;
    }
    return -1;
}

int sl_laws__size_of(const sl_laws *l, const sl_laws_run *r) {
    const int i = find_size(l, r);
    if (i >= 0) return i;
    for (int k = 0; k < l->n_size; k++) { // sizes without a name got one
        if (fabs(r->params / l->size[k].params - 1) <= SAME_SIZE) return k;
    }
    return 0;
}

static sl_status find_sizes(sl_laws *l, sl_arena *a) {
    sl_laws_size *size;
    SL_LAWS__TRY_ALLOC(size, a, l->table->n);
    l->size = size;
    for (int i = 0; i < l->table->n; i++) {
        const sl_laws_run *r = &l->table->run[i];
        if (sl_laws_finished(r) && find_size(l, r) < 0)
            size[l->n_size++] = (sl_laws_size){ r->size, r->params };
    }
    qsort(size, (size_t)l->n_size, sizeof *size, by_params);
    for (int i = 0; i < l->n_size; i++) {
        char text[32];
        if (*size[i].name) continue;
        size[i].name = isnan(size[i].params)
                           ? "?"
                           : sl_laws__text(a, "%s", sl_laws__count_text(text, size[i].params));
        if (!size[i].name) return sl_fail(SL_ENOMEM, "no memory for names of sizes");
    }
    for (int i = 0; i < l->n_point; i++)
        l->point[i].size = sl_laws__size_of(l, &l->table->run[l->point[i].row[0]]);
    return SL_OK;
}

/* ---------------------------------------------------------------- noise --------------------- */

/* Pooled over configurations: each contributes its squares about its own mean. */
static double seed_noise(const sl_laws *l) {
    double sum = 0;
    int free = 0;
    for (int i = 0; i < l->n_point; i++) {
        const sl_laws_point *p = &l->point[i];
        double mean = 0;
        int n = 0;
        for (int k = 0; k < p->n; k++) {
            const double v = l->table->run[p->row[k]].loss;
            if (!isnan(v)) mean += sl_log(v), n++;
        }
        if (n < 2) continue;
        mean /= n;
        for (int k = 0; k < p->n; k++) {
            const double v = l->table->run[p->row[k]].loss;
            if (!isnan(v)) sum += (sl_log(v) - mean) * (sl_log(v) - mean);
        }
        free += n - 1;
    }
    return free > 0 ? sqrt(sum / free) : NAN;
}

sl_status sl_laws__points(sl_laws *l, sl_arena *a) {
    key *k;
    int n;
    SL_TRY(find_rows(&k, &n, l, a));
    SL_TRY(make_points(l, a, k, n));
    SL_TRY(find_sizes(l, a));
    l->seed_noise = seed_noise(l);
    l->c_top = n > 0 ? l->point[l->n_point - 1].flops : NAN;
    return SL_OK;
}

/* ---------------------------------------------------------------- samples ------------------- */

/* Means over rows of a configuration: of all of them once, or (rng) of as many drawn at random,
 * `times` times over. */
static void draw_point(sl_laws__obs *o, const sl_laws_table *t, const sl_laws_point *p, int times,
                       sl_rng *rng) {
    double sum[SL_LAWS_METRIC_COUNT] = { 0 };
    int n[SL_LAWS_METRIC_COUNT] = { 0 };
    for (int i = 0; i < times * p->n; i++) {
        const int k = rng ? (int)sl_rng_below(rng, (uint32_t)p->n) : i;
        const sl_laws_run *r = &t->run[p->row[k]];
        add_mean(&sum[SL_LAWS_LOSS], &n[SL_LAWS_LOSS], r->loss);
        add_mean(&sum[SL_LAWS_SOLVED], &n[SL_LAWS_SOLVED], 1 - r->solved);
        add_mean(&sum[SL_LAWS_R2], &n[SL_LAWS_R2], 1 - r->r2);
    }
    for (int m = 0; m < SL_LAWS_METRIC_COUNT; m++) o->y[m] = mean_of(sum[m], n[m]);
}

int sl_laws__sample(sl_laws__obs *obs, int *pick, const sl_laws *l, const int *points, int n,
                    int64_t draw) {
    sl_rng rng;
    for (int i = 0; i < n; i++) pick[i] = draw < 0;
    if (draw >= 0) {
        sl_rng_init(&rng, l->options.seed, SL_LAWS__STREAM_ROWS, (uint64_t)draw);
        for (int i = 0; i < n; i++) pick[sl_rng_below(&rng, (uint32_t)n)]++;
    }
    int m = 0;
    for (int i = 0; i < n; i++) {
        const sl_laws_point *p = &l->point[points[i]];
        if (pick[i] == 0) continue;
        sl_laws__obs *o = &obs[m];
        *o = (sl_laws__obs){ .flops = p->flops,
                             .params = p->params,
                             .tokens = p->tokens,
                             .x = sl_log(p->flops),
                             .trials = p->trials,
                             .weight = pick[i] };
        draw_point(o, l->table, p, pick[i], draw < 0 ? NULL : &rng);
        o->score = l->table->has[SL_LAWS_COLUMN_loss]     ? o->y[SL_LAWS_LOSS]
                   : l->table->has[SL_LAWS_COLUMN_solved] ? o->y[SL_LAWS_SOLVED]
                                                          : o->y[SL_LAWS_R2];
        pick[m++] = points[i]; // never ahead of i
    }
    return m;
}

/* ---------------------------------------------------------------- frontier ------------------ */

static int bin_of(const sl_laws__obs *o, const sl_laws__obs *first, const sl_laws__obs *last,
                  const sl_laws_options *opt) {
    const bool ln = opt->bins == SL_LAWS_BINS_LOG;
    const double at = ln ? o->x - first->x : o->flops - first->flops;
    const double whole = ln ? last->x - first->x : last->flops - first->flops;
    if (!(whole > 0)) return 0;
    return SL_MIN((int)(at / whole * opt->n_bins), opt->n_bins - 1);
}

int sl_laws__frontier(int *index, int *best, const sl_laws__obs *obs, int n,
                      const sl_laws_options *o) {
    int m = 0;
    if (o->bins == SL_LAWS_BINS_NONE) {
        for (int i = 0; i < n; i++) index[i] = i;
        return n;
    }
    for (int b = 0; b < o->n_bins; b++) best[b] = -1;
    for (int i = 0; i < n; i++) {
        const int b = bin_of(&obs[i], &obs[0], &obs[n - 1], o);
        if (isnan(obs[i].score)) continue;
        if (best[b] < 0 || obs[i].score < obs[best[b]].score) best[b] = i;
    }
    double lowest = INFINITY;
    for (int b = 0; b < o->n_bins; b++) {
        if (best[b] < 0 || !(obs[best[b]].score < lowest)) continue;
        lowest = obs[best[b]].score;
        index[m++] = best[b];
    }
    return m;
}

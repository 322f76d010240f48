/* stats - do the pairs follow the laws they are drawn by?
 *
 * Laws are tested on first attempts, valid or not: a pair that is kept has passed a filter (its y
 * is real at enough points), so kept constants are not distributed as drawn ones. Of mixtures the
 * first counts, too: where whole data sets are redrawn, the last one has passed the filter. Figures
 * of pairs (tokens, attempts) are of those that are kept.
 *
 * Pairs are made in blocks by all threads; each leaves a record, and records are tallied in order.
 * So the figures are the same for any number of threads, and memory is bounded except for the
 * numbers that the Kolmogorov-Smirnov tests sort. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "num/num.h"
#include "pairs/pairs_impl.h"

enum { BLOCK = 1 << 12, BASE_CLASSES = 100 };

sl_status sl_pairs__report(sl_pairs_progress progress, const char *what, int64_t done,
                           int64_t total, void *payload) {
    if (!progress || progress(what, (double)done, (double)total, payload) == 0) return SL_OK;
    return sl_fail(SL_ECANCEL, "stopped on request");
}

/* ---------------------------------------------------------------- records ------------------- */

/* The record of one pair. Base, sites and trace are of its first attempt, in the worker's arena. */
typedef struct record {
    sl_pair_failure failure; // of the first attempt
    int attempts, tokens, base_tokens, constants;
    int64_t base;
    sl_pairs__trace trace;
    const sl_pair_site *site;
    int n_sites;
} record;

typedef struct workers {
    const sl_pairs *p;
    int64_t begin;   // of the current block
    record *record;  // of the block
    sl_arena *arena; // by worker: the current pair
    sl_arena *first; // by worker: first attempts of the block
} workers;

static sl_status base_tokens(int *n, const sl_pairs *p, int64_t base) {
    sl_token ids[SL_TOKEN_MAX];
    sl_str text = { 0 };
    sl_status st =
        sl_token_from_expr(ids, n, SL_TOKEN_MAX, sl_universe_get(p->universe, base), &text);
    sl_str_clear(&text);
    if (st != SL_ELIMIT) return st;
    *n = SL_TOKEN_MAX; // too long even without constants
    return SL_OK;
}

static sl_status measure_pair(record *r, workers *w, int64_t index, int worker) {
    sl_pairs__start start;
    sl_pair pair;
    *r = (record){ .attempts = 0 };
    SL_TRY(sl_pairs__start_of(&start, w->p, SL_SPLIT_TRAIN, index));
    SL_TRY(sl_pairs__attempt(&pair, &r->failure, &r->trace, &w->first[worker], w->p, &start,
                             SL_SPLIT_TRAIN, 0));
    r->base = pair.base;
    r->site = pair.site;
    r->n_sites = pair.n_sites;
    if (r->failure != SL_PAIR_NONE) {
        sl_arena_rewind(&w->arena[worker], 0);
        SL_TRY(sl_pairs_get(&pair, &w->arena[worker], w->p, SL_SPLIT_TRAIN, index));
    }
    r->attempts = pair.attempts;
    r->tokens = pair.n_tokens;
    for (int i = 0; i < pair.n_sites; i++)
        r->constants += (pair.site[i].a != 1) + (pair.site[i].b != 0);
    return base_tokens(&r->base_tokens, w->p, pair.base);
}

static sl_status measure_some(int64_t begin, int64_t end, int worker, void *payload) {
    workers *w = payload;
    for (int64_t i = begin; i < end; i++)
        SL_TRY(measure_pair(&w->record[i], w, w->begin + i, worker));
    return SL_OK;
}

/* ---------------------------------------------------------------- tally --------------------- */

/* Numbers that one law should have made. */
typedef struct numbers {
    double *v;
    int64_t n, cap;
} numbers;

static sl_status numbers_add(numbers *s, double v) {
    SL_TRY(sl_grow(&s->v, &s->cap, s->n, sizeof *s->v, "statistics"));
    s->v[s->n++] = v;
    return SL_OK;
}

typedef struct tally {
    int64_t pairs, attempts, base_tokens, constants, invalid, drawn; // drawn: points in all
    int64_t length[SL_TOKEN_MAX + 1];                                // pairs by tokens
    int64_t places, factors, summands, sum_factors, sum_summands;
    int64_t factor[2 * SL_PAIRS_MAX_CONSTANT + 1],
        summand[2 * SL_PAIRS_MAX_CONSTANT + 1]; // by value + largest
    int64_t clusters[SL_PAIRS_MAX_CLUSTERS], uniform, shapes;
    int64_t base[BASE_CLASSES];
    double sum_base;
    double mean, variance; // worst of a column: |mean|, |variance - 1|
    numbers angle, centre, width;
    int64_t *rank; // by member of E: its place among those of training
} tally;

static void tally_constants(tally *t, const record *r, int max) {
    for (int k = 0; k < r->n_sites; k++) {
        const sl_pair_site *s = &r->site[k];
        t->places++;
        if (s->a != 1) t->factors++, t->sum_factors += s->a, t->factor[s->a + max]++;
        if (s->b != 0) t->summands++, t->sum_summands += s->b, t->summand[s->b + max]++;
    }
}

static sl_status tally_mixture(tally *t, const sl_mixture *m, const sl_pairs *p) {
    t->clusters[m->clusters - 1]++;
    for (int k = 0; k < m->clusters; k++) {
        const sl_cluster *c = &m->cluster[k];
        if (k == 0 || p->options.shape == SL_PAIRS_SHAPE_CLUSTER) {
            t->uniform += c->uniform;
            t->shapes++;
        }
        SL_TRY(numbers_add(&t->angle, c->angle / (2 * M_PI)));
        for (int v = 0; v < p->variables; v++) {
            SL_TRY(numbers_add(&t->centre, sl_num_normal_cdf(c->centre[v])));
            SL_TRY(numbers_add(&t->width, c->width[v] * c->width[v]));
        }
    }
    return SL_OK;
}

static sl_status tally_pair(tally *t, sl_pairs_stats *out, const record *r, const sl_pairs *p) {
    const int classes = (int)SL_MIN(BASE_CLASSES, p->n_seen);
    out->attempts[r->failure]++;
    out->next_base += r->attempts > SL_PAIRS__ATTEMPTS_PER_BASE;
    t->pairs++;
    t->attempts += r->attempts;
    t->length[r->tokens]++;
    t->base_tokens += r->base_tokens;
    t->constants += r->constants;
    t->base[t->rank[r->base] * classes / p->n_seen]++;
    t->sum_base += (double)t->rank[r->base];
    tally_constants(t, r, (int)p->options.constant_max);
    if (!r->trace.drawn) return SL_OK;
    SL_TRY(tally_mixture(t, r->trace.mixture, p));
    t->invalid += r->trace.invalid;
    t->drawn += p->options.points;
    for (int v = 0; v < p->variables; v++) {
        t->mean = fmax(t->mean, fabs(r->trace.mean[v]));
        t->variance = fmax(t->variance, fabs(r->trace.variance[v] - 1));
    }
    return SL_OK;
}

static sl_status tally_new(tally **out, const sl_pairs *p) {
    size_t members = (size_t)sl_universe_size(p->universe);
    tally *t = sl_calloc(1, sizeof *t);
    if (!t) return sl_fail_memory(1, sizeof *t, "statistics");
    t->rank = sl_calloc(members, sizeof *t->rank);
    *out = t; // for the caller to free, whole or not
    if (!t->rank) return sl_fail_memory(members, sizeof *t->rank, "statistics");
    for (int64_t i = 0; i < p->n_seen; i++) t->rank[p->seen[i]] = i;
    return SL_OK;
}

static void tally_free(tally *t) {
    if (!t) return;
    sl_free(t->angle.v);
    sl_free(t->centre.v);
    sl_free(t->width.v);
    sl_free(t->rank);
    sl_free(t);
}

/* ---------------------------------------------------------------- laws ---------------------- */

static void add_check(sl_pairs_stats *s, const char *what, double measured, double expected,
                      double p, const char *test) {
    SL_ASSERT(s->n_checks < SL_PAIRS_MAX_CHECKS);
    s->check[s->n_checks++] = (sl_pairs_check){ what, measured, expected, p, test };
}

/* Did n kinds occur in their shares? Reported for them is `measured`. Neighbours are merged until
 * EXPECTED counts are expected: with fewer the statistic does not follow the chi-square
 * distribution, and two pairs of the same hundredth of E would give a false alarm. */
static void check_counts(sl_pairs_stats *s, const char *what, const int64_t *count,
                         const double *share, int n, double measured, double expected) {
    enum { EXPECTED = 5 };
    double total = 0, chi2 = 0, mean = 0, seen = 0;
    for (int i = 0; i < n; i++) total += (double)count[i];
    if (total == 0) return;
    int freedom = -1;
    bool possible = true;
    double left = total; // expected of those that follow
    for (int i = 0; i < n; i++) {
        possible = possible && (share[i] > 0 || count[i] == 0);
        mean += total * share[i];
        seen += (double)count[i];
        left -= total * share[i];
        if (i < n - 1 && (mean < EXPECTED || left < EXPECTED)) continue;
        if (mean > 0) chi2 += (seen - mean) * (seen - mean) / mean;
        freedom++;
        mean = seen = 0;
    }
    double p = !possible ? 0 : freedom > 0 ? sl_num_chi2_tail(chi2, freedom) : 1;
    add_check(s, what, measured, expected, p, "chi-square");
}

static void check_share(sl_pairs_stats *s, const char *what, int64_t hits, int64_t n,
                        double chance) {
    if (n == 0) return;
    check_counts(s, what, (int64_t[]){ hits, n - hits }, (double[]){ chance, 1 - chance }, 2,
                 (double)hits / (double)n, chance);
}

/* Are they uniform on [0, 1)? Reported is their mean, in the units of the quantity. */
static void check_uniform(sl_pairs_stats *s, const char *what, numbers *u, double scale) {
    if (u->n == 0) return;
    double mean = sl_num_mean(u->v, u->n) * scale;
    add_check(s, what, mean, scale / 2, sl_num_ks_uniform(u->v, u->n), "Kolmogorov-Smirnov");
}

static void check_exact(sl_pairs_stats *s, const char *what, double measured, double most) {
    add_check(s, what, measured, 0, measured <= most ? 1 : 0, "exact");
}

static void check_constants(sl_pairs_stats *s, const tally *t, const sl_pairs_options *o) {
    const int max = (int)o->constant_max, n = 2 * max + 1;
    double share[2 * SL_PAIRS_MAX_CONSTANT + 1] = { 0 };
    check_share(s, "factor present", t->factors, t->places, o->constant_chance);
    check_share(s, "summand present", t->summands, t->places, o->constant_chance);
    for (int v = -max; v <= max; v++) share[v + max] = v == 0 || v == 1 ? 0 : 1.0 / (n - 2);
    check_counts(s, "value of a factor", t->factor, share, n,
                 (double)t->sum_factors / (double)t->factors, -1.0 / (n - 2));
    for (int v = -max; v <= max; v++) share[v + max] = v == 0 ? 0 : 1.0 / (n - 1);
    check_counts(s, "value of a summand", t->summand, share, n,
                 (double)t->sum_summands / (double)t->summands, 0);
}

static void check_points(sl_pairs_stats *s, tally *t, const sl_pairs *p) {
    const int most = (int)p->options.clusters;
    double share[SL_PAIRS_MAX_CLUSTERS], clusters = 0, mixtures = 0;
    for (int k = 0; k < most; k++) {
        share[k] = 1.0 / most;
        mixtures += (double)t->clusters[k];
        clusters += (double)t->clusters[k] * (k + 1);
    }
    check_counts(s, "clusters", t->clusters, share, most, clusters / mixtures, (1 + most) / 2.0);
    check_share(s, "uniform shape", t->uniform, t->shapes, 0.5);
    if (p->variables == 2) check_uniform(s, "rotation angle", &t->angle, 2 * M_PI);
    check_uniform(s, "cluster centre, as its quantile", &t->centre, 1);
    check_uniform(s, "cluster width, squared", &t->width, 1);
    if (!p->options.whiten) return;
    check_exact(s, "worst |mean| of a column", t->mean, 1e-12);
    check_exact(s, "worst |variance - 1| of a column", t->variance, 1e-12);
}

/* Places of bases in the list of training expressions, in classes. More even than a draw with
 * replacement: after a whole pass each base has occurred equally often. */
static void check_bases(sl_pairs_stats *s, const tally *t, const sl_pairs *p) {
    const int classes = (int)SL_MIN(BASE_CLASSES, p->n_seen);
    double share[BASE_CLASSES] = { 0 };
    for (int64_t i = 0; i < p->n_seen; i++)
        share[i * classes / p->n_seen] += 1.0 / (double)p->n_seen;
    check_counts(s, "place of the base in E", t->base, share, classes,
                 t->sum_base / (double)t->pairs, (double)(p->n_seen - 1) / 2);
}

static void set_figures(sl_pairs_stats *s, const tally *t) {
    const double n = (double)t->pairs;
    int64_t tokens = 0, below = 0;
    bool half = false;
    for (int k = 0; k <= SL_TOKEN_MAX; k++) {
        if (!t->length[k]) continue;
        if (below == 0) s->tokens_min = k;
        s->tokens_max = k;
        tokens += k * t->length[k];
        below += t->length[k];
        if (!half && 2 * below >= t->pairs) {
            s->tokens_median = k;
            half = true;
        }
    }
    s->tokens_mean = (double)tokens / n;
    s->success = (double)s->attempts[SL_PAIR_NONE] / n;
    s->attempts_mean = (double)t->attempts / n;
    s->base_tokens_mean = (double)t->base_tokens / n;
    s->constants_mean = (double)t->constants / n;
    s->dropped = t->drawn ? (double)t->invalid / (double)t->drawn : 0;
}

/* ---------------------------------------------------------------- disjoint splits ----------- */

/* Pairs of the other splits, found by hash; and the expressions of test, found by theirs. */
typedef struct known {
    uint64_t *slot; // 0: empty
    uint8_t *met;   // by slot: was it seen in training?
    uint64_t mask;
} known;

static sl_status known_new(known *k, int64_t n) {
    uint64_t slots = 16;
    while (slots < (uint64_t)n * 2) slots *= 2;
    k->mask = slots - 1;
    k->slot = sl_calloc(slots, sizeof *k->slot);
    k->met = sl_calloc(slots, sizeof *k->met);
    if (!k->slot || !k->met) return sl_fail_memory(slots, sizeof *k->slot, "hashes of pairs");
    return SL_OK;
}

static void known_free(known *k) {
    sl_free(k->slot);
    sl_free(k->met);
}

/* The slot of h, or the empty one where it would go. */
static uint64_t known_at(const known *k, uint64_t h) {
    uint64_t i = h & k->mask;
    while (k->slot[i] && k->slot[i] != h) i = (i + 1) & k->mask;
    return i;
}

typedef struct search {
    const sl_pairs *p;
    sl_arena *arena;
    known pair, expr;
    int64_t begin; // of the current block
} search;

static uint64_t hash_expr(const sl_pair *pair) { return sl_expr_hash(pair->expr) | 1; }

/* Several threads may mark the same slot, all with the same value. */
static void mark(const known *k, uint64_t h) {
    uint64_t i = known_at(k, h);
    if (k->slot[i]) __atomic_store_n(&k->met[i], 1, __ATOMIC_RELAXED);
}

static sl_status search_some(int64_t begin, int64_t end, int worker, void *payload) {
    const search *s = payload;
    for (int64_t i = s->begin + begin; i < s->begin + end; i++) {
        sl_pair pair;
        sl_arena_rewind(&s->arena[worker], 0);
        SL_TRY(sl_pairs_get(&pair, &s->arena[worker], s->p, SL_SPLIT_TRAIN, i));
        mark(&s->pair, sl_pairs__hash_pair(&pair) | 1);
        mark(&s->expr, hash_expr(&pair));
    }
    return SL_OK;
}

static sl_status learn_split(search *s, sl_split split) {
    for (int64_t i = 0; i < sl_pairs_size(s->p, split); i++) {
        sl_pair pair;
        sl_arena_rewind(&s->arena[0], 0);
        SL_TRY(sl_pairs_get(&pair, &s->arena[0], s->p, split, i));
        uint64_t h = sl_pairs__hash_pair(&pair) | 1;
        s->pair.slot[known_at(&s->pair, h)] = h;
        if (split != SL_SPLIT_TEST) continue;
        h = hash_expr(&pair);
        s->expr.slot[known_at(&s->expr, h)] = h;
    }
    return SL_OK;
}

static sl_status disjoint(sl_pairs_stats *out, sl_pool *pool, const sl_pairs *p, sl_arena *arena,
                          int64_t trained, sl_pairs_progress progress, void *payload) {
    sl_status st;
    search s = { .p = p, .arena = arena };
    SL_GO(known_new(&s.pair, 3 * p->options.test_size));
    SL_GO(known_new(&s.expr, p->options.test_size));
    for (sl_split split = SL_SPLIT_VALID; split < SL_SPLIT_COUNT; split++)
        SL_GO(learn_split(&s, split));
    for (; s.begin < trained; s.begin += BLOCK) {
        SL_GO(sl_pairs__report(progress, "comparing splits", s.begin, trained, payload));
        SL_GO(sl_par_for(pool, SL_MIN(BLOCK, trained - s.begin), 64, search_some, &s));
    }
    int64_t repeats = 0, expressions = 0;
    for (uint64_t i = 0; i <= s.pair.mask; i++) out->shared += s.pair.met[i];
    for (uint64_t i = 0; i <= s.expr.mask; i++) {
        expressions += s.expr.slot[i] != 0;
        repeats += s.expr.met[i];
    }
    out->trained = trained;
    out->exact_repeats = expressions ? (double)repeats / (double)expressions : 0;
    check_exact(out, "pairs of other splits met in training", (double)out->shared, 0);
done:
    known_free(&s.pair);
    known_free(&s.expr);
    return st;
}

/* ---------------------------------------------------------------- all of it ----------------- */

/* Pairs of a block: first attempts stay in memory until they are tallied, with their points. */
static int64_t block_of(const sl_pairs *p, int64_t n) {
    return SL_MIN(n, SL_MAX(BLOCK / 64, BLOCK / (1 + p->options.points / 128)));
}

static sl_status measure(sl_pairs_stats *out, tally *t, sl_pool *pool, workers *w, int64_t n,
                         sl_pairs_progress progress, void *payload) {
    const int64_t block = block_of(w->p, n);
    for (w->begin = 0; w->begin < n; w->begin += block) {
        const int64_t count = SL_MIN(block, n - w->begin);
        SL_TRY(sl_pairs__report(progress, "drawing pairs", w->begin, n, payload));
        SL_TRY(sl_par_for(pool, count, 16, measure_some, w));
        for (int64_t i = 0; i < count; i++) SL_TRY(tally_pair(t, out, &w->record[i], w->p));
        for (int k = 0; k < sl_par_pool_threads(pool); k++) sl_arena_rewind(&w->first[k], 0);
    }
    return SL_OK;
}

sl_status sl_pairs_measure(sl_pairs_stats *out, sl_pool *pool, const sl_pairs *p, int64_t n,
                           int64_t trained, sl_pairs_progress progress, void *payload) {
    if (n < 1) return sl_fail(SL_EINVAL, "statistics of %lld pairs", (long long)n);
    const size_t threads = (size_t)sl_par_pool_threads(pool), block = (size_t)block_of(p, n);
    sl_status st;
    tally *t = NULL;
    *out = (sl_pairs_stats){ .pairs = n };
    workers w = { .p = p,
                  .record = sl_malloc(block, sizeof *w.record),
                  .arena = sl_calloc(threads, sizeof *w.arena),
                  .first = sl_calloc(threads, sizeof *w.first) };
    if (!w.record || !w.arena || !w.first) {
        st = sl_fail_memory(block, sizeof *w.record, "statistics");
        goto done;
    }
    SL_GO(tally_new(&t, p));
    SL_GO(measure(out, t, pool, &w, n, progress, payload));
    set_figures(out, t);
    check_points(out, t, p);
    check_constants(out, t, &p->options);
    check_bases(out, t, p);
    st = disjoint(out, pool, p, w.arena, trained, progress, payload);
done:
    for (size_t i = 0; i < threads; i++) {
        if (w.arena) sl_arena_clear(&w.arena[i]);
        if (w.first) sl_arena_clear(&w.first[i]);
    }
    sl_free(w.arena);
    sl_free(w.first);
    sl_free(w.record);
    tally_free(t);
    return st;
}

/* ---------------------------------------------------------------- verdict ------------------- */

bool sl_pairs_check_good(const sl_pairs_check *c) { return !(c->p < SL_PAIRS_LEAST_P); }

int sl_pairs_stats_failed(const sl_pairs_stats *stats) {
    int n = 0;
    for (int i = 0; i < stats->n_checks; i++) n += !sl_pairs_check_good(&stats->check[i]);
    return n;
}

bool sl_pairs_stats_good(const sl_pairs_stats *stats) {
    return sl_pairs_stats_failed(stats) == 0 && stats->shared == 0;
}

/* entropy - entropy of the targets of training, given how they are drawn.
 *
 * Draws are easy: a base out of all, and at each site a factor and a summand. But several draws
 * give one expression, also of several bases (2 x1 has what x1 has with a factor 2), and some draws
 * fail:
 *
 *     H = E[-ln p(e)],   p(e) = 1/|T| sum over bases B of P(B -> e) s(e) / Z(B)
 *
 * where P(B -> e) is the chance that B with random constants becomes e (match.c), s(e) the chance
 * that e gets a good data set, and Z(B) that of an attempt at B to be good. The mean is over pairs
 * as they are drawn. Logarithms of chances come without bias from waiting: if the first success is
 * the n-th attempt, the mean of 1 + 1/2 + ... + 1/(n-1) is -ln of the chance. For s(e), data sets
 * are drawn until one is good; for Z(B), the attempts that the pair took are counted, since they do
 * not depend on what came out. Z of other bases with the same e is taken for equal: they differ in
 * numbers only.
 *
 * Ways to make e that match.c misses would make H too large. The draw of the pair itself always
 * counts. */
#include <math.h>
#include <stdlib.h>

#include "num/num.h"
#include "pairs/pairs_impl.h"

/* ---------------------------------------------------------------- bases alike --------------- */

/* Bases by skeleton_hash, sorted. */
typedef struct relative {
    uint64_t skeleton_hash;
    int32_t base;
} relative;

static int cmp_relative(const void *a, const void *b) {
    const relative *x = a, *y = b;
    return x->skeleton_hash != y->skeleton_hash ? (x->skeleton_hash < y->skeleton_hash ? -1 : 1)
                                                : (x->base > y->base) - (x->base < y->base);
}

static sl_status relatives(relative **out, const sl_pairs *p) {
    relative *f = sl_malloc((size_t)p->n_seen, sizeof *f);
    if (!f) return sl_fail_memory((size_t)p->n_seen, sizeof *f, "bases");
    for (int64_t i = 0; i < p->n_seen; i++)
        f[i] = (relative){ sl_pairs__skeleton_hash(sl_universe_get(p->universe, p->seen[i])),
                           p->seen[i] };
    qsort(f, (size_t)p->n_seen, sizeof *f, cmp_relative);
    *out = f;
    return SL_OK;
}

static int64_t same_hash_begin(const relative *f, int64_t n, uint64_t skeleton_hash) {
    int64_t lo = 0, hi = n;
    while (lo < hi) {
        const int64_t mid = lo + (hi - lo) / 2;
        if (f[mid].skeleton_hash < skeleton_hash)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* ---------------------------------------------------------------- estimate ------------------ */

enum { BLOCK = 1 << 10, DATA_SETS = 1 << 12 }; // at most so many data sets for one expression

typedef struct estimate {
    const sl_pairs *p;
    const relative *relative;
    sl_arena *arena;  // by worker
    double *surprise; // by pair: what has the mean H
    int64_t begin;    // of the current block
} estimate;

static double harmonic(int n) {
    double sum = 0;
    for (int i = n; i > 0; i--) sum += 1.0 / i;
    return sum;
}

/* The sum of P(B -> e) over bases. */
static sl_status chance_by_all(double *out, const estimate *s, sl_arena *a, const sl_pair *pair) {
    const sl_pairs *p = s->p;
    const sl_node *e; // as it was before columns were left out
    SL_TRY(sl_pairs__place(&e, a, sl_universe_get(p->universe, pair->base), pair->site));
    const uint64_t skeleton_hash = sl_pairs__skeleton_hash(e);
    double sum = 0;
    for (int64_t i = same_hash_begin(s->relative, p->n_seen, skeleton_hash);
         i < p->n_seen && s->relative[i].skeleton_hash == skeleton_hash; i++) {
        double chance;
        SL_TRY(sl_pairs__chance(&chance, a, sl_universe_get(p->universe, s->relative[i].base), e,
                                &p->options));
        sum += chance;
    }
    *out = fmax(sum, sl_pairs__draw_chance(pair->site, pair->n_sites, &p->options));
    return SL_OK;
}

static sl_status surprise_of(double *out, const estimate *s, sl_arena *a, int64_t index) {
    sl_pairs__start start;
    sl_pair pair;
    double chance;
    SL_TRY(sl_pairs__start_of(&start, s->p, SL_SPLIT_TRAIN, index));
    SL_TRY(sl_pairs_get(&pair, a, s->p, SL_SPLIT_TRAIN, index));
    SL_TRY(chance_by_all(&chance, s, a, &pair));
    bool good = false;
    int sets = 0;
    for (; !good && sets < DATA_SETS; sets++)
        SL_TRY(sl_pairs__redraw(&good, a, s->p, &pair, start.number, sets));
    const int attempts = (pair.attempts - 1) % SL_PAIRS__ATTEMPTS_PER_BASE + 1;
    *out =
        sl_log((double)s->p->n_seen) - sl_log(chance) + harmonic(sets - 1) - harmonic(attempts - 1);
    return SL_OK;
}

static sl_status estimate_some(int64_t begin, int64_t end, int worker, void *payload) {
    const estimate *s = payload;
    for (int64_t i = s->begin + begin; i < s->begin + end; i++) {
        sl_arena_rewind(&s->arena[worker], 0);
        SL_TRY(surprise_of(&s->surprise[i], s, &s->arena[worker], i));
    }
    return SL_OK;
}

/* Of something that is there with chance c, and then one of n values. */
static double entropy_of(double c, double n) {
    return (c > 0 ? -c * sl_log(c / n) : 0) - (c < 1 ? (1 - c) * sl_log(1 - c) : 0);
}

static double entropy_of_draws(const sl_pairs *p) {
    const sl_pairs_options *o = &p->options;
    const double max = (double)o->constant_max;
    const double site =
        entropy_of(o->constant_chance, 2 * max - 1) + entropy_of(o->constant_chance, 2 * max);
    int64_t sites = 0;
    for (int64_t i = 0; i < p->n_seen; i++) {
        const sl_node *base = sl_universe_get(p->universe, p->seen[i]);
        for (uint32_t k = 0; k < base->len; k += sl_expr_step(&base[k]))
            sites += sl_pairs__is_site(&base[k]);
    }
    return sl_log((double)p->n_seen) + site * (double)sites / (double)p->n_seen;
}

sl_status sl_pairs_entropy(sl_entropy *out, sl_pool *pool, const sl_pairs *p, int64_t n,
                           sl_pairs_progress progress, void *payload) {
    if (n < 2) return sl_fail(SL_EINVAL, "an entropy estimated by %lld pairs", (long long)n);
    const size_t threads = (size_t)sl_par_pool_threads(pool);
    sl_status st;
    relative *all = NULL;
    estimate s = { .p = p,
                   .arena = sl_calloc(threads, sizeof *s.arena),
                   .surprise = sl_malloc((size_t)n, sizeof *s.surprise) };
    if (!s.arena || !s.surprise) {
        st = sl_fail_memory((size_t)n, sizeof *s.surprise, "an entropy");
        goto done;
    }
    SL_GO(relatives(&all, p));
    s.relative = all;
    for (; s.begin < n; s.begin += BLOCK) {
        SL_GO(sl_pairs__report(progress, "estimating the entropy", s.begin, n, payload));
        SL_GO(sl_par_for(pool, SL_MIN(BLOCK, n - s.begin), 16, estimate_some, &s));
    }
    *out = (sl_entropy){ .pairs = n,
                         .bases = sl_log((double)p->n_seen),
                         .draws = entropy_of_draws(p),
                         .expressions = sl_num_mean(s.surprise, n),
                         .error = sqrt(sl_num_variance(s.surprise, n) / (double)n) };
done:
    for (size_t i = 0; s.arena && i < threads; i++) sl_arena_clear(&s.arena[i]);
    sl_free(s.arena);
    sl_free(s.surprise);
    sl_free(all);
    return st;
}

/* simulate - runs from a known law. */
#include <math.h>
#include <string.h>

#include "laws/laws_impl.h"

const sl_laws_simulation SL_LAWS_SIMULATION_INIT = {
#define X(field, value) .field = value,
    SL_LAWS_SIMULATE_TABLE(X)
#undef X
};

typedef struct member {
    const char *name;
    size_t offset;
} member;

static const member members[] = {
#define X(field, value) { #field, offsetof(sl_laws_simulation, field) },
    SL_LAWS_SIMULATE_TABLE(X)
#undef X
};

static sl_status check(const sl_laws_simulation *s) {
    const double runs = s->sizes * s->ratios * s->seeds;
    const double whole[] = { s->sizes, s->ratios, s->seeds, s->trials };
    bool good = s->E >= 0 && s->noise >= 0 && s->noise <= 10;
    for (int i = 0; i < SL_LEN(whole); i++)
        good = good && whole[i] >= 1 && whole[i] <= 1e9 && whole[i] == floor(whole[i]);
    const double positive[] = {
        s->A,        s->B,        s->alpha, s->beta,  s->solved_scale, s->solved_power,
        s->r2_scale, s->r2_power, s->n_min, s->n_max, s->ratio_min,    s->ratio_max,
        s->flops_per
    };
    for (int i = 0; i < SL_LEN(positive); i++)
        good = good && positive[i] > 0 && positive[i] <= 1e30;
    if (!good || s->E > 1e30)
        return sl_fail(SL_EINVAL,
                       "a simulation needs E, noise >= 0, whole numbers of sizes, ratios, "
                       "seeds and trials, and everything else above 0");
    if (s->n_max < s->n_min || s->ratio_max < s->ratio_min)
        return sl_fail(SL_EINVAL, "a simulation needs n_min <= n_max and ratio_min <= ratio_max");
    if (!(runs <= SL_LAWS__MAX_RUNS))
        return sl_fail(SL_EINVAL, "a simulation has at most %d runs, not %g", SL_LAWS__MAX_RUNS,
                       runs);
    return SL_OK;
}

sl_status sl_laws_simulation_read(sl_laws_simulation *s, const char *text) {
    for (const char *at = text; *at;) {
        const size_t n = strcspn(at, ","), k = strcspn(at, "=");
        int i = 0;
        while (i < SL_LEN(members) &&
               !(strlen(members[i].name) == k && strncmp(members[i].name, at, k) == 0))
            i++;
        char *end = NULL;
        const double v = k < n && i < SL_LEN(members) ? sl_strtod(at + k + 1, &end) : NAN;
        if (!end || end != at + n || end == at + k + 1 || !isfinite(v))
            return sl_fail(
                SL_EINVAL,
                "\"%.*s\" is no constant of a simulation with its value; those are E, A, "
                "B, alpha, beta, noise, solved_scale, solved_power, r2_scale, r2_power, "
                "trials, sizes, ratios, seeds, n_min, n_max, ratio_min, ratio_max, "
                "flops_per, as in sizes=4,noise=0.02",
                (int)SL_MIN(n, (size_t)60), at);
        *(double *)(void *)((char *)s + members[i].offset) = v;
        at += n + (at[n] == ',');
    }
    return check(s);
}

double sl_laws_simulation_exponent(const sl_laws_simulation *s) {
    return s->alpha * s->beta / (s->alpha + s->beta);
}

/* From low to high in n even steps of the logarithm. */
static double spaced(double low, double high, int i, double n) {
    return n < 2 ? low : low * sl_exp(sl_log(high / low) * i / (n - 1));
}

static double hits_of(sl_rng *rng, double p, double trials) {
    double hits = 0;
    if (trials > 1e4) { // the normal limit is close enough
        const double v = trials * p + sqrt(trials * p * (1 - p)) * sl_rng_normal(rng);
        return floor(SL_MAX(0, SL_MIN(trials, v)) + 0.5);
    }
    for (int i = 0; i < (int)trials; i++) hits += sl_rng_uniform(rng) < p;
    return hits;
}

/* exp(power ln(scale (L - E))), at most 1. */
static double failure(const sl_laws_simulation *s, double loss, double scale, double power) {
    const double y = sl_exp(power * sl_log(scale * (loss - s->E)));
    return SL_MIN(y, 1);
}

static sl_laws_run one_run(const sl_laws_simulation *s, int i, int k, int seed, sl_rng *rng) {
    sl_laws_run r = SL_LAWS_RUN_NONE;
    r.params = floor(spaced(s->n_min, s->n_max, i, s->sizes) + 0.5);
    r.ratio = spaced(s->ratio_min, s->ratio_max, k, s->ratios);
    r.tokens = r.params * r.ratio;
    r.flops = s->flops_per * r.params * r.tokens;
    const sl_laws_constants c = { s->E, s->A, s->B, s->alpha, s->beta };
    const double loss = sl_laws__surface_value(&c, r.params, r.tokens);
    r.loss = loss * sl_exp(s->noise * sl_rng_normal(rng));
    r.trials = s->trials;
    r.solved_hits = hits_of(rng, 1 - failure(s, loss, s->solved_scale, s->solved_power), s->trials);
    r.r2_hits = hits_of(rng, 1 - failure(s, loss, s->r2_scale, s->r2_power), s->trials);
    r.seed = seed;
    return r;
}

sl_status sl_laws_simulate(sl_laws_table *out, sl_arena *a, const sl_laws_simulation *s,
                           uint64_t seed) {
    sl_laws_table t = { .source = "" };
    sl_rng rng;
    SL_TRY(check(s));
    sl_rng_init(&rng, seed, SL_LAWS__STREAM_SIMULATE, 0);
    for (int i = 0; i < (int)s->sizes; i++) {
        for (int k = 0; k < (int)s->ratios; k++) {
            for (int m = 0; m < (int)s->seeds; m++) {
                sl_laws_run r = one_run(s, i, k, m, &rng);
                char text[32], id[64];
                sl_laws__count_text(text, r.params);
                sl_snprintf(id, sizeof id, "%s-%.4g-%d", text, r.ratio, m);
                r.id = id;
                r.size = text;
                r.phase = "scale";
                r.status = "done";
                SL_TRY(sl_laws_table_add(&t, a, &r));
            }
        }
    }
    SL_TRY(sl_laws_table_end(&t, a));
    *out = t;
    return SL_OK;
}

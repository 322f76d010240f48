/* Offers of formulas that are not exact: fitted in all rows of the table, constants rounded to
 * exact numbers where that shortens the description, kept if on the front. */
#include <math.h>

#include "search/search_impl.h"

/* What is known of y's errors beside p->sigma. */
static sl_noise known_noise(const sl_search__job *j) {
    return (sl_noise){ .sigma = j->o->sigma, .precision = j->precision };
}

static bool stop_fit(void *payload) { return sl_search__stop(payload, false); }

/* A formula's fit, its description, and the weights that it was fitted by. */
typedef struct attempt {
    sl_fit fit;
    sl_bits bits;
    sl_dataset p; // the table, with sigma by row where errors are taken for relative
} attempt;

static sl_status fit_by(attempt *out, sl_search__job *j, const sl_node *e, const double *value,
                        int params, const sl_dataset *p) {
    const sl_refine_options o = {
        .evaluations = 60, .restarts = -1, .stop = stop_fit, .payload = j
    };
    sl_noise noise = known_noise(j);
    out->p = *p;
    SL_TRY(sl_fit_constants(&out->fit, &j->result->arena, e, params, value, p, &o));
    return sl_fit_describe(&out->bits, &out->fit, j->all, &noise);
}

/* Errors relative to the formula's values: weights are those of the last fit, so a second one
 * follows the first. scale: room for rows. */
static sl_status fit_relative(attempt *best, sl_search__job *j, double *scale) {
    enum { ROUNDS = 2 };
    attempt next = *best;
    sl_dataset p = *j->all;
    sl_arena scratch = { 0 };
    sl_status st = SL_OK;
    p.sigma = scale;
    p.sigma_absolute = false;
    for (int round = 0; round < ROUNDS && st == SL_OK && isfinite(next.bits.total); round++) {
        const sl_fit f = next.fit;
        SL_GO(sl_expr_eval(scale, &scratch, f.expr, p.x, p.rows, f.value));
        sl_fit_relative_scale(scale, scale, &p);
        for (int64_t i = 0; i < p.rows; i++)
            if (!(scale[i] > 0) || !isfinite(scale[i])) goto done;
        SL_GO(fit_by(&next, j, f.expr, f.value, f.params, &p));
        // errors of one size are described by a fit of their own weights
        if (next.bits.relative > 0 && next.bits.total < best->bits.total) *best = next;
    }
done:
    sl_arena_clear(&scratch);
    return st;
}

/* Constants made exact where that shortens the description. */
static sl_status snap(attempt *best, sl_search__job *j) {
    const sl_refine_options o = {
        .evaluations = 60, .restarts = -1, .stop = stop_fit, .payload = j
    };
    sl_noise noise = known_noise(j);
    sl_fit snapped = best->fit;
    sl_bits shorter;
    int n;
    SL_TRY(sl_fit_snap(&snapped, &n, &j->result->arena, &best->p, &o));
    if (n == 0) return SL_OK;
    SL_TRY(sl_fit_describe(&shorter, &snapped, j->all, &noise));
    if (shorter.total < best->bits.total) best->fit = snapped, best->bits = shorter;
    return SL_OK;
}

/* R2 in the table as it is, whatever the weights of the fit. */
static sl_status plain_r2(sl_fit *fit, const sl_dataset *p) {
    double *value = sl_malloc_aligned((size_t)p->rows, sizeof *value);
    if (!value) return sl_fail_memory((size_t)p->rows, sizeof *value, "values");
    sl_arena scratch = { 0 };
    sl_status st = sl_expr_eval(value, &scratch, fit->expr, p->x, p->rows, fit->value);
    if (st == SL_OK) fit->r2 = sl_fit_r2(value, p);
    sl_arena_clear(&scratch);
    sl_free(value);
    return st;
}

/* The shortest description of a formula: by errors of one size or, where nothing is known of them,
 * relative ones; with free constants, and with those that are close to simple numbers made exact. A
 * sigma for all rows becomes one of each, so that standard errors are by it. */
static sl_status fit_and_snap(sl_fit *fit, sl_bits *bits, sl_search__job *j, const sl_node *e,
                              const double *value, int params) {
    attempt best;
    sl_dataset p = *j->all;
    double *sigma = NULL;
    sl_status st;
    if (!p.sigma) {
        sigma = sl_malloc((size_t)p.rows, sizeof *sigma);
        if (!sigma) return sl_fail_memory((size_t)p.rows, sizeof *sigma, "errors of rows");
        for (int64_t i = 0; i < p.rows; i++) sigma[i] = j->o->sigma;
    }
    if (!p.sigma && j->o->sigma > 0) p.sigma = sigma, p.sigma_absolute = true;
    SL_GO(fit_by(&best, j, e, value, params, &p));
    if (isfinite(best.bits.total) && best.fit.params > 0) {
        if (!p.sigma) SL_GO(fit_relative(&best, j, sigma));
        SL_GO(snap(&best, j));
        if (best.p.sigma != j->all->sigma) SL_GO(plain_r2(&best.fit, j->all));
    }
    *fit = best.fit, *bits = best.bits;
done:
    sl_free(sigma);
    return st;
}

static const double READABLE = 3; // bits that the conventional form may cost more

/* The same formula in a shorter form, such as a*sqrt(b) for sqrt(a^2*b) where a is positive. */
static sl_status shorten(sl_fit *fit, sl_bits *bits, sl_search__job *j) {
    const sl_node *shorter;
    sl_fit again;
    sl_bits fewer;
    SL_TRY(sl_search__simplify(&shorter, &j->result->arena, fit->expr, fit->value, j->all));
    if (sl_expr_equal(shorter, fit->expr)) return SL_OK;
    SL_TRY(fit_and_snap(&again, &fewer, j, shorter, fit->value, fit->params));
    if (fewer.total < bits->total + READABLE) *fit = again, *bits = fewer;
    return SL_OK;
}

/* Does a kept formula of no more bits leave no more? */
static bool is_beaten(const sl_search__job *j, const sl_bits *b) {
    double own = b->total - b->data;
    for (int k = 0; k < j->n_kept; k++) {
        const sl_bits *other = &j->kept[k].bits;
        if (other->total - other->data <= own && other->data <= b->data) return true;
    }
    return false;
}

static bool is_candidate(const sl_search__job *j, const sl_search_formula *f) {
    bool real = isfinite(f->bits.total) && isfinite(f->fit.r2);
    return real && !sl_search__is_known(j, f) && !is_beaten(j, &f->bits);
}

sl_status sl_search__offer_noisy(bool *kept, sl_search__job *j, const sl_node *e,
                                 const double *value, int params, const char *method, int level) {
    sl_arena *a = &j->result->arena;
    size_t mark = sl_arena_mark(a);
    const sl_node *whole;
    sl_search_formula f = { .method = method, .level = level, .step = j->progress.step };
    sl_noise noise = known_noise(j);
    *kept = false;
    j->verified++;
    SL_TRY(sl_search__to_all(&whole, a, j, e));
    SL_TRY(fit_and_snap(&f.fit, &f.bits, j, whole, value, params));
    bool fits = true;
    if (is_candidate(j, &f)) SL_TRY(shorten(&f.fit, &f.bits, j));
    if (is_candidate(j, &f)) SL_TRY(sl_search__fits_size(&fits, a, j, f.fit.expr));
    if (!fits || !is_candidate(j, &f)) {
        sl_arena_rewind(a, mark);
        return SL_OK;
    }
    SL_TRY(
        sl_fit_evidence(&f.evidence, &f.bits, j->all, &noise, 1 + (double)atomic_load(&j->tried)));
    f.seconds = sl_clock() - j->start;
    *kept = true;
    return sl_search__keep(j, &f);
}

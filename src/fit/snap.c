/* snap - fitted constants rounded to exact numbers where the fit does not worsen.
 *
 * Each constant has a tolerance: half its standard error where there is noise, and two of them
 * where being that close to a number can hardly be chance; where the fit is exact, three of them,
 * which are then errors of rounding, and at least 1e-9 of its size. Within it these numbers are
 * tried:
 *
 *   0, 1, -1        always: they make the formula simpler
 *   integers        while at most a fifth of all numbers is that close to one
 *   fractions       of denominator up to 12, or 16, 32, 64, the smallest that is close enough;
 *                   while at most a twentieth of all numbers is that close to one of them, by two
 *                   errors a fiftieth
 *
 *   pi and roots    fractions of pi, 1/pi, pi^2, sqrt(pi), ... and roots of fractions: the cheapest
 *                   of fewer bits than the constant has digits (exact.c)
 *
 * Redundant constants, as in 2 exp(x + 3), and those of a vanished term have infinite errors. One
 * of them must go: 0, 1 and -1 are tried for every constant, 0 first, and the data decide.
 *
 * The closest number is tried first: it is put in place, the other constants are fitted again, and
 * the formula is kept if 1 - R2 has not grown beyond 1e-12, or by more than the share that two
 * standard errors make, and never by more than a twenty-fifth, and if its description length
 * (describe.c) is the shorter. Where the errors of y are known, what two standard errors make is
 * chi-square + 4, however small the residuals are. For exact data that is a verification at full
 * precision: a residual that leaves the level of rounding costs bits in every row, the constant
 * saves 40 once. This repeats until nothing is accepted, so a second call changes nothing.
 *
 * Decimals: a constant of an exact fit that is left and lies within 1e-12 of a short decimal
 * becomes that decimal, but stays a constant: 9.81, not 9.8100000000000023 and not 981/100. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fit/fit_impl.h"

typedef struct choice {
    int k; // of the constant, from 0
    sl_fit__exact value;
    double distance; // in tolerances
} choice;

enum { EVALUATIONS = 60, MAX_CHOICES = 6 * SL_FIT_MAX_PARAMS };
static const double EXACT = 1e-12; // 1 - R2 that is rounding

/* ---------------------------------------------------------------- choices ------------------- */

/* A fit, what it leaves unexplained, and its description length, of the data and in all. */
typedef struct state {
    sl_fit *fit;
    double loss, data, bits;
} state;

static bool is_exact(const state *s) { return s->loss <= SL_FIT__GOOD; }

static double tolerance(const state *s, int k) {
    const double se = s->fit->error[k], small = 1e-9 * fabs(s->fit->value[k]);
    if (isnan(se)) return small;
    return is_exact(s) ? fmax(small, 3 * se) : se / 2;
}

static void add_choice(choice *list, int *n, const state *s, int k, double tol,
                       sl_fit__exact value) {
    const double distance = fabs(s->fit->value[k] - sl_fit__exact_value(value));
    if (!(distance <= tol)) return;
    for (int i = 0; i < *n; i++)
        if (list[i].k == k && list[i].value.shape == value.shape &&
            sl_expr_rat_cmp(list[i].value.times, value.times) == 0)
            return;
    list[(*n)++] = (choice){ k, value, isinf(tol) ? -1 : distance / fmax(tol, 1e-300) };
}

static void offer(choice *list, int *n, const state *s, int k, double tol, int64_t num,
                  int64_t den) {
    sl_fit__exact value = { .shape = 0 };
    if (sl_expr_rat_make(&value.times, num, den)) add_choice(list, n, s, k, tol, value);
}

static sl_status offer_irrational(choice *list, int *n, const state *s, int k, sl_arena *scratch) {
    const double v = s->fit->value[k], tol = fmax(tolerance(s, k), 1e-15 * fabs(v));
    sl_fit__exact value;
    bool found = false;
    const double digits = sl_fit__log2(fabs(v) / tol); // that the constant has
    if (v != 0 && isfinite(tol))
        SL_TRY(sl_fit__near_exact(&found, &value, scratch, v, tol, 1, digits));
    if (found) add_choice(list, n, s, k, tol, value);
    return SL_OK;
}

static void offer_all(choice *list, int *n, const state *s, int k, bool loose) {
    const double v = s->fit->value[k], tol = tolerance(s, k), zero = is_exact(s) ? 1e-6 : 0;
    const int64_t sign = v < 0 ? -1 : 1;
    offer(list, n, s, k, loose ? INFINITY : fmax(tol, zero), 0, 1);
    offer(list, n, s, k, loose ? INFINITY : tol, sign, 1);
    if (loose) offer(list, n, s, k, INFINITY, -sign, 1);
    if (fabs(v) > 1e9) return; // every double of that size is an integer or nearly so
    const double wide = is_exact(s) ? tol : 4 * tol; // two standard errors
    if (2 * wide <= 0.2)
        offer(list, n, s, k, wide, (int64_t)rint(v), 1);
    else if (2 * tol <= 0.2)
        offer(list, n, s, k, tol, (int64_t)rint(v), 1);

    // how many fractions there are between two integers, up to each denominator
    static const struct {
        int den, many;
    } steps[] = {
        { 2, 2 },  { 3, 4 },   { 4, 6 },   { 5, 10 },  { 6, 12 },  { 7, 18 },  { 8, 22 },
        { 9, 28 }, { 10, 32 }, { 11, 42 }, { 12, 46 }, { 16, 54 }, { 32, 70 }, { 64, 102 }
    };
    for (int i = 0; i < SL_LEN(steps) && 2 * tol * steps[i].many <= 0.05; i++) {
        const double num = rint(v * steps[i].den);
        const double reach = 2 * wide * steps[i].many <= 0.02 ? wide : tol;
        if (fabs(v - num / steps[i].den) > reach) continue;
        offer(list, n, s, k, reach, (int64_t)num, steps[i].den);
        return;
    }
}

/* 0 before 1 and -1 where any number will do. */
static int rank(const choice *c) { return c->value.times.num != 0; }

static int cmp_choice(const void *a, const void *b) {
    const choice *x = a, *y = b;
    if (x->distance != y->distance) return x->distance < y->distance ? -1 : 1;
    if (rank(x) != rank(y)) return rank(x) - rank(y);
    const sl_fit__exact u = x->value, v = y->value;
    if (u.shape != v.shape) return u.shape < v.shape ? -1 : 1;
    if (u.times.den != v.times.den) return u.times.den < v.times.den ? -1 : 1;
    if (x->k != y->k) return x->k < y->k ? -1 : 1;
    return sl_expr_rat_cmp(u.times, v.times);
}

/* ---------------------------------------------------------------- one choice ---------------- */

static bool is_as_good(double r2, double loss, double data, const state *s, const sl_dataset *p) {
    static const double TWO_ERRORS = 2.8853900817779268; // bits of chi-square + 4
    if (r2 == 0 && s->fit->r2 == 1) return false;        // of a target without spread
    if (p->sigma && p->sigma_absolute && data <= s->data + TWO_ERRORS) return true;
    const double spare = (double)(p->rows - s->fit->params);
    return loss <= fmax(EXACT, s->loss * (1 + 4 / fmax(spare, 100)));
}

/* Puts the number in place and fits the others; on success that is the new fit. */
static sl_status try_choice(bool *accepted, state *s, sl_arena *a, const choice *c,
                            const sl_dataset *p, const sl_refine_options *o) {
    const size_t mark = sl_arena_mark(a);
    double value[SL_FIT_MAX_PARAMS], loss;
    sl_bits bits;
    sl_fit *fit = s->fit, trial;
    int n = fit->params;
    const sl_node *e;
    for (int k = 0; k < n; k++) value[k] = fit->value[k];
    const sl_status st = sl_fit__put_exact(&e, value, &n, a, fit->expr, c->k, c->value);
    *accepted = false;
    if (st == SL_EOVERFLOW || st == SL_ELIMIT)
        return SL_OK; // too many nodes or digits after merging
    SL_TRY(st);
    sl_refine_options near = *o;
    near.evaluations = EVALUATIONS;
    near.restarts = -1;
    SL_TRY(sl_fit__run(&trial, a, e, n, value, p, &near));
    SL_TRY(sl_fit__score(&trial.r2, &loss, e, trial.value, p));
    trial.evaluations += fit->evaluations;
    trial.starts = fit->starts;
    trial.stopped = trial.stopped || fit->stopped;
    SL_TRY(sl_fit_describe(&bits, &trial, p, NULL));
    *accepted = is_as_good(trial.r2, loss, bits.data, s, p) && bits.total < s->bits;
    if (*accepted) {
        *fit = trial;
        s->loss = loss;
        s->data = bits.data;
        s->bits = bits.total;
    } else {
        fit->evaluations = trial.evaluations;
        fit->stopped = trial.stopped;
        sl_arena_rewind(a, mark);
    }
    return SL_OK;
}

/* ---------------------------------------------------------------- decimals ------------------ */

double sl_fit_short_decimal(double v) {
    for (int digits = 1; digits <= 9; digits++) {
        char text[SL_REAL_TEXT_MAX];
        sl_snprintf(text, sizeof text, "%.*g", digits, v);
        const double w = sl_strtod(text, NULL);
        if (fabs(w - v) <= 1e-12 * fabs(v)) return w;
    }
    return v;
}

static sl_status shorten(state *s, const sl_dataset *p) {
    sl_fit *fit = s->fit;
    double value[SL_FIT_MAX_PARAMS], r2, loss;
    for (int k = 0; k < fit->params; k++) value[k] = sl_fit_short_decimal(fit->value[k]);
    SL_TRY(sl_fit__score(&r2, &loss, fit->expr, value, p));
    if (!is_as_good(r2, loss, INFINITY, s, p)) return SL_OK;
    for (int k = 0; k < fit->params; k++) fit->value[k] = value[k];
    fit->r2 = r2;
    return SL_OK;
}

/* ---------------------------------------------------------------- the whole ----------------- */

sl_status sl_fit_snap(sl_fit *fit, int *snapped, sl_arena *a, const sl_dataset *p,
                      const sl_refine_options *o) {
    *snapped = 0;
    if (isnan(fit->r2) || fit->params > SL_FIT_MAX_PARAMS) return SL_OK;
    state s = { .fit = fit };
    sl_bits bits;
    SL_TRY(sl_fit__score(&fit->r2, &s.loss, fit->expr, fit->value, p));
    SL_TRY(sl_fit_describe(&bits, fit, p, NULL));
    s.data = bits.data;
    s.bits = bits.total;
    bool accepted = true;
    while (accepted) {
        choice list[MAX_CHOICES];
        int n = 0;
        bool loose = false;
        for (int k = 0; k < fit->params; k++) loose = loose || isinf(fit->error[k]);
        for (int k = 0; k < fit->params; k++) {
            offer_all(list, &n, &s, k, loose);
            SL_TRY(offer_irrational(list, &n, &s, k, a));
        }
        qsort(list, (size_t)n, sizeof *list, cmp_choice);
        accepted = false;
        for (int i = 0; i < n && !accepted && !fit->stopped; i++) {
            SL_TRY(try_choice(&accepted, &s, a, &list[i], p, o));
            *snapped += accepted;
        }
    }
    return is_exact(&s) && fit->params > 0 ? shorten(&s, p) : SL_OK;
}

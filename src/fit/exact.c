/* exact - numbers that constants may be: fractions, and fractions of pi, of its powers and of
 * roots.
 *
 * What a number costs is what sl_fit_price says of it as an expression. A constant of so many
 * digits is close to some number of fewer bits than its digits once in a few times only, whatever
 * the number: so one that is, is worth a try. */
#include <math.h>

#include "fit/fit_impl.h"

/* Factors beside a fraction: (base)^(num/den), the base a whole number times pi or not.
 *    whole number   pi?   exponent   */
typedef struct factor {
    int whole;
    bool pi;
    int num, den;
    double value;
} factor;

static const factor factors[SL_FIT__FACTORS] = {
    [0] = { 1, false, 1, 1, 1 },
    { 1, true, 1, 1, 3.14159265358979323846 },
    { 1, true, -1, 1, 0.31830988618379067154 },
    { 1, true, 2, 1, 9.86960440108935861883 },
    { 1, true, -2, 1, 0.10132118364233777144 },
    { 2, false, 1, 2, 1.41421356237309504880 },
    { 3, false, 1, 2, 1.73205080756887729353 },
    { 1, true, 1, 2, 1.77245385090551602730 },
    { 1, true, -1, 2, 0.56418958354775628695 },
    { 2, true, 1, 2, 2.50662827463100050242 },
    { 2, true, -1, 2, 0.39894228040143267794 },
};

double sl_fit__exact_value(sl_fit__exact x) {
    return sl_rat_double(x.times) * factors[x.factor].value;
}

const sl_node *sl_fit__exact_expr(sl_arena *a, sl_fit__exact x) {
    const sl_node *part[2] = { sl_expr_num(a, x.times), NULL };
    const factor *f = &factors[x.factor];
    if (x.factor == 0 || !part[0]) return part[0];
    const sl_node *base[2] = { sl_expr_int(a, f->whole), f->pi ? sl_expr_pi(a) : NULL };
    if (!base[0] || (f->pi && !base[1])) return NULL;
    const sl_node *both = f->pi ? sl_expr_nary(a, SL_OP_MUL, base, 2) : base[0];
    part[1] = both ? sl_expr_pow(a, both, (sl_rat){ f->num, f->den }) : NULL;
    return part[1] ? sl_expr_nary(a, SL_OP_MUL, part, 2) : NULL;
}

/* Structure and numbers of it, tidy. */
static sl_status bits_of(double *bits, sl_arena *scratch, sl_fit__exact x) {
    const size_t mark = sl_arena_mark(scratch);
    const sl_node *e = sl_fit__exact_expr(scratch, x), *tidy;
    if (!e) return sl_fail(SL_ENOMEM, "no memory for an exact number");
    SL_TRY(sl_expr_tidy(&tidy, scratch, e));
    sl_bits b;
    sl_fit_price(&b, tidy, NULL, NULL, 1, 1);
    *bits = b.total;
    sl_arena_rewind(scratch, mark);
    return SL_OK;
}

sl_status sl_fit__near_irrational(bool *found, sl_fit__exact *out, sl_arena *scratch, double v,
                                  double tolerance) {
    enum { DENOMINATOR_MAX = 24, NUMERATOR_MAX = 100 };
    double least = sl_fit__log2(fabs(v) / tolerance); // digits that the constant has
    *found = false;
    for (int k = 1; k < SL_LEN(factors); k++) {
        const double part = v / factors[k].value;
        for (int den = 1; den <= DENOMINATOR_MAX; den++) {
            sl_fit__exact x = { .factor = k };
            const double num = rint(part * den);
            double bits;
            if (num == 0 || fabs(num) > NUMERATOR_MAX) continue;
            if (!sl_rat_make(&x.times, (int64_t)num, den)) continue;
            if (!(fabs(v - sl_fit__exact_value(x)) <= tolerance)) continue;
            SL_TRY(bits_of(&bits, scratch, x));
            if (bits < least) {
                *found = true;
                *out = x;
                least = bits;
            }
            break; // larger denominators cost more
        }
    }
    return SL_OK;
}

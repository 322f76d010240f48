/* budgets - judgements by the time until the answer was there: how far a second goes.
 *
 * One evaluation answers for all budgets: an answer counts for each that is not shorter than its
 * time. A formula that is said to hold exactly and does not is counted as wrong, whatever its R2.
 */
#include <math.h>

#include "eval/eval_impl.h"
#include "num/num.h"

static const double level = 0.95;

static bool is_right(const sl_judgement *j, const sl_eval__traits *t) {
    if (t->errors) return j->structure;
    return j->verdict == SL_VERDICT_SOLVED || j->verdict == SL_VERDICT_EQUAL;
}

static void fill_one(sl_eval_budget *b, const sl_judgement *j, const sl_eval__traits *traits,
                     int64_t problems, int seeds) {
    b->right = (sl_share){ .share = NAN, .lo = NAN, .hi = NAN };
    for (int k = 0; k < seeds; k++) {
        int64_t hits = 0, n = 0;
        for (int64_t i = 0; i < problems; i++) {
            const sl_judgement *one = &j[i * seeds + k];
            if (!traits[i].truth) continue;
            const bool there = one->answered <= b->seconds, right = is_right(one, &traits[i]);
            n++;
            hits += there && right;
            b->wrong += there && one->claimed && !right;
        }
        if (n > 0) {
            b->right.lo =
                fmin(b->right.lo, (double)hits / (double)n); // of NaN and a number, the number
            b->right.hi = fmax(b->right.hi, (double)hits / (double)n);
        }
        b->right.hits += hits;
        b->right.n += n;
    }
    if (b->right.n > 0) b->right.share = (double)b->right.hits / (double)b->right.n;
    b->right.wilson = sl_num_wilson((double)b->right.hits / seeds, b->right.n / seeds, level);
}

void sl_eval__budgets_fill(sl_eval_summary *out, const sl_judgement *j,
                           const sl_eval__traits *traits, int64_t problems,
                           const sl_eval_options *o) {
    SL_ASSERT(o->budgets <= SL_EVAL_MAX_BUDGETS);
    out->budgets = o->budgets;
    for (int b = 0; b < o->budgets; b++) {
        out->budget[b] = (sl_eval_budget){ .seconds = o->budget[b] };
        fill_one(&out->budget[b], j, traits, problems, o->seeds);
    }
    for (int64_t i = 0; i < problems * o->seeds; i++) {
        const sl_eval__traits *t = &traits[i / o->seeds];
        out->claimed += j[i].claimed;
        out->wrong += t->truth && j[i].claimed && !is_right(&j[i], t);
    }
}

/* judge - one problem, one seed: what the model finds, and what that is worth. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "eval/eval_impl.h"

static const double perfect_r2 = 1 - 1e-9; // below, a candidate is not compared by values

SL_DEFINE_NAMES(sl_eval_verdict_name, sl_verdict, SL_VERDICTS, SL_ROW_NAME)

sl_verdict sl_eval_verdict_find(const char *name) {
    sl_verdict v = 0;
    while (v < SL_VERDICT_COUNT && strcmp(sl_eval_verdict_name(v), name) != 0) v++;
    return v;
}

/* ---------------------------------------------------------------- figures ------------------- */

/* R2 as it can be written down and read again: one below all doubles is the least of them. */
static double in_range(double r2) { return r2 < -DBL_MAX ? -DBL_MAX : r2; }

static sl_status r2_on(double *out, sl_arena *scratch, const sl_candidate *c, const sl_dataset *p) {
    const size_t mark = sl_arena_mark(scratch);
    double *y = sl_arena_alloc(scratch, (size_t)p->rows * sizeof *y);
    if (!y) return sl_fail_memory((size_t)p->rows, sizeof *y, "values");
    sl_status st = sl_discover_candidate_eval(y, scratch, c, p);
    if (st == SL_OK) *out = in_range(sl_num_r2(y, p->y, p->rows));
    sl_arena_rewind(scratch, mark);
    return st;
}

static sl_status print(const char **out, sl_arena *a, const sl_candidate *c, sl_format format,
                       const sl_dataset *d) {
    const sl_names names = { d->names, d->inputs };
    sl_str s = { 0 };
    sl_status st = sl_discover_candidate_print(&s, c, format, d->names ? &names : NULL);
    if (st == SL_OK) st = sl_eval__text(out, a, sl_str_text(&s));
    sl_str_clear(&s);
    return st;
}

/* -log p of the truth, given as many rows as the model was trained on, evenly taken. */
static sl_status measure_loss(double *out, sl_arena *scratch, const sl_infer *model,
                              const sl_eval_problem *p) {
    const int64_t n = SL_MIN(p->data.rows, (int64_t)sl_infer_about(model)->points);
    const size_t mark = sl_arena_mark(scratch);
    sl_dataset d;
    SL_TRY(sl_data_pick_evenly(&d, scratch, &p->data, n));
    sl_status st = sl_infer_loss(out, model, &d, p->tokens, p->n_tokens);
    sl_arena_rewind(scratch, mark);
    if (st == SL_OK && !isfinite(*out)) *out = NAN;
    return st;
}

/* ---------------------------------------------------------------- the truth ----------------- */

/* Is a formula of the truth's structure on the trade-off front, behind the first? */
static sl_status is_on_front(bool *out, sl_arena *scratch, const sl_discovery *d,
                             const sl_eval_problem *p) {
    *out = false;
    for (int64_t i = 1; i < d->ranked && !*out; i++)
        if (d->candidate[i].front)
            SL_TRY(
                sl_eval__structure(out, scratch, d->candidate[i].expr, d->candidate[i].value, p));
    return SL_OK;
}

/* Is the truth among the ranked candidates behind the first? Most are distinguished by canonical
 * forms. */
static sl_status is_among(bool *out, sl_arena *scratch, const sl_discovery *d,
                          const sl_eval_problem *p) {
    const sl_node *truth, *form;
    const size_t mark = sl_arena_mark(scratch);
    sl_status st = sl_expr_canon(&truth, scratch, p->truth);
    if (st == SL_ENOMEM) return st;
    const bool canonical = st == SL_OK;
    const size_t inner = sl_arena_mark(scratch);
    *out = false;
    for (int64_t i = 1; i < d->ranked && !*out; i++) {
        const sl_candidate *c = &d->candidate[i];
        if (canonical && c->params == 0) {
            st = sl_expr_canon(&form, scratch, c->expr);
            if (st == SL_ENOMEM) goto done;
            *out =
                st == SL_OK && sl_expr_equal(form, truth); // forms too large for the rules differ
            sl_arena_rewind(scratch, inner);
        }
        if (*out || !(c->r2 > perfect_r2)) continue;
        sl_verdict v;
        SL_GO(sl_eval_compare(&v, scratch, c->expr, c->value, p));
        *out = v != SL_VERDICT_MISS;
    }
    st = SL_OK;
done:
    sl_arena_rewind(scratch, mark);
    return st;
}

static sl_status judge_best(sl_judgement *j, sl_arena *a, const sl_discovery *d,
                            const sl_eval_problem *p) {
    const sl_candidate *best = &d->candidate[0];
    SL_TRY(r2_on(&j->r2, a, best, &p->data));
    if (p->fresh.rows > 0) SL_TRY(r2_on(&j->r2_fresh, a, best, &p->fresh));
    SL_TRY(print(&j->expr, a, best, SL_FORMAT_PYTHON, &p->data));
    SL_TRY(print(&j->latex, a, best, SL_FORMAT_LATEX, &p->data));
    j->answered = best->seconds;
    j->claimed = best->exact;
    if (best->method) SL_TRY(sl_eval__text(&j->method, a, best->method));
    if (!p->truth) {
        j->verdict = SL_VERDICT_FOUND;
        return SL_OK;
    }
    SL_TRY(sl_eval_compare(&j->verdict, a, best->expr, best->value, p));
    j->among = j->verdict != SL_VERDICT_MISS;
    if (!j->among) SL_TRY(is_among(&j->among, a, d, p));
    j->structure = j->verdict != SL_VERDICT_MISS;
    if (!j->structure && p->y_true)
        SL_TRY(sl_eval__structure(&j->structure, a, best->expr, best->value, p));
    j->on_front = j->structure;
    if (!j->on_front && p->y_true) SL_TRY(is_on_front(&j->on_front, a, d, p));
    if (j->verdict == SL_VERDICT_MISS && j->r2 > SL_EVAL_CLOSE_R2) j->verdict = SL_VERDICT_CLOSE;
    j->same_tokens = best->tokens && p->tokens && best->n_tokens == p->n_tokens &&
                     memcmp(best->tokens, p->tokens, (size_t)p->n_tokens) == 0;
    return SL_OK;
}

/* ---------------------------------------------------------------- one judgement ------------- */

typedef struct watch {
    sl_eval__stop stop;
    void *payload;
} watch;

static int on_progress(const char *what, double done, double total, const sl_candidate *best,
                       void *payload) {
    (void)what, (void)done, (void)total, (void)best;
    const watch *w = payload;
    return w->stop && w->stop(w->payload);
}

sl_status sl_eval__judge(sl_judgement *out, sl_arena *a, const sl_infer *model, sl_pool *pool,
                         const sl_eval_problem *p, const sl_discover_options *o, bool loss,
                         sl_eval__stop stop, void *payload) {
    sl_discovery *d = NULL;
    sl_status st;
    watch w = { stop, payload };
    sl_judgement j = { .problem = (int64_t)o->problem,
                       .verdict = SL_VERDICT_MISS,
                       .r2 = NAN,
                       .r2_fresh = NAN,
                       .loss = NAN,
                       .answered = NAN,
                       .method = "",
                       .expr = "",
                       .latex = "" };
    SL_GO(sl_discover_run(&d, model, pool, &p->data, o, on_progress, &w));
    if (d->cut == SL_CUT_CANCEL) SL_GO(sl_fail(SL_ECANCEL, "stopped while judging %s", p->id));
    j.cut = d->cut == SL_CUT_TIME;
    j.seconds = d->seconds;
    j.samples = d->cost.samples;
    j.distinct = d->cost.distinct;
    memcpy(j.invalid, d->cost.invalid, sizeof j.invalid);
    if (d->ranked > 0) SL_GO(judge_best(&j, a, d, p));
    const bool fits = model && p->data.inputs <= sl_infer_about(model)->variables;
    if (loss && fits && p->tokens) SL_GO(measure_loss(&j.loss, a, model, p));
    *out = j;
done:
    sl_discover_free(d);
    return st;
}

sl_status sl_eval_judge(sl_judgement *out, sl_arena *a, const sl_infer *model, sl_pool *pool,
                        const sl_eval_problem *p, const sl_discover_options *o) {
    return sl_eval__judge(out, a, model, pool, p, o, true, NULL, NULL);
}

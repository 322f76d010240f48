/* study_status - the progress of a study, for events and for the actions status and init. */
#include <math.h>
#include <string.h>

#include "commands/study_impl.h"

/* ---------------------------------------------------------------- rates --------------------- */

/* The cost of finished runs. */
typedef struct rates {
    double flops, seconds; // of training
    double eval_seconds;   // of evaluations
    int evals;
} rates;

static bool is_evaluated_on(const sl_study *study, const sl_study_run *run, int set) {
    return run->scale && study->plan->size[run->size].eval[set];
}

static rates rates_of(const sl_study *study) {
    rates r = { 0 };
    for (int i = 0; i < study->runs; i++) {
        const sl_study_run *run = &study->run[i];
        if (run->trained && run->result.seconds > 0 && run->result.flops > 0) {
            r.flops += run->result.flops;
            r.seconds += run->result.seconds;
        }
        for (int k = 0; k < SL_STUDY_SET_COUNT; k++)
            if (run->eval[k].there && run->eval[k].seconds > 0) {
                r.eval_seconds += run->eval[k].seconds;
                r.evals++;
            }
    }
    return r;
}

static sl_status read_holder(sl_study_holder *out, const sl_study *study, const char *kind,
                             const char *name) {
    sl_str dir = { 0 };
    sl_str_addf(&dir, "%s/%s/%s", study->dir, kind, name);
    sl_status st = sl_str_status(&dir);
    if (st == SL_OK) st = sl_study_holder_read(out, dir.text);
    sl_str_clear(&dir);
    if (st != SL_EIO) return st;
    *out = (sl_study_holder){ 0 }; // it cannot be looked into: the worker says so
    return SL_OK;
}

/* Part of a run's training that is done. */
static double part_of(const sl_study_run *run, const sl_study_holder *h) {
    if (run->trained || run->result.diverged || run->state == SL_STUDY_FAILED) return 1;
    const bool training = strncmp(h->text, "training", 8) == 0;
    return training && h->total > 0 ? SL_MIN(h->done / h->total, 1) : 0;
}

/* ---------------------------------------------------------------- the tally ----------------- */

/* How many targets make up a run's tokens is not known before it ran. *out := what finished runs
 * took over what was expected; 1 if none has finished. */
static sl_status calibrate(double *out, const sl_study *study) {
    double expected = 0, taken = 0;
    for (int i = 0; i < study->runs; i++) {
        const sl_study_run *run = &study->run[i];
        double flops;
        if (!run->trained || !(run->result.flops > 0)) continue;
        SL_TRY(sl_commands__study_flops(&flops, study->plan, run));
        expected += flops;
        taken += run->result.flops;
    }
    *out = expected > 0 ? taken / expected : 1;
    return SL_OK;
}

static sl_status flops_of(double *out, const sl_study *study, const sl_study_run *run,
                          double factor) {
    if (run->trained && run->result.flops > 0) {
        *out = run->result.flops;
        return SL_OK;
    }
    SL_TRY(sl_commands__study_flops(out, study->plan, run));
    *out *= factor;
    return SL_OK;
}

static sl_status add_run(sl_report_tally *t, const sl_study *study, const sl_study_run *run,
                         double factor) {
    double flops;
    sl_study_holder h;
    SL_TRY(flops_of(&flops, study, run, factor));
    SL_TRY(read_holder(&h, study, "runs", run->id));
    const bool active = h.held && !h.gone;
    t->runs++;
    t->finished += run->trained || run->state == SL_STUDY_FAILED;
    t->failed += run->state == SL_STUDY_FAILED;
    t->flops += flops;
    t->flops_done += flops * part_of(run, &h);
    for (int k = 0; k < SL_STUDY_SET_COUNT; k++) {
        t->evaluations += is_evaluated_on(study, run, k);
        t->evaluated += is_evaluated_on(study, run, k) && run->eval[k].there;
    }
    if (!active) return SL_OK;
    t->active++;
    if (!t->text[0])
        sl_snprintf(t->text, sizeof t->text, "%.80s%s%.70s", run->id, h.text[0] ? ": " : "",
                    h.text);
    return SL_OK;
}

/* Runs of scale that the sweep of a size has not decided yet: their settings are not known, but
 * their cost is. Those that the sweep has trained by then are counted twice. */
static sl_status add_ahead(sl_report_tally *t, const sl_study *study, int size, double factor) {
    const sl_study_size *z = &study->plan->size[size];
    if (study->best[size].known) return SL_OK;
    for (int i = 0; i < z->ratios.n; i++) {
        const sl_study_run run = { .size = size,
                                   .batch = z->batch.at[z->batch.n / 2],
                                   .lr = z->lr.at[0],
                                   .ratio = z->ratios.at[i] };
        double flops;
        SL_TRY(sl_commands__study_flops(&flops, study->plan, &run));
        t->runs += z->scale_seeds.n;
        t->flops += factor * flops * z->scale_seeds.n;
        for (int k = 0; k < SL_STUDY_SET_COUNT; k++)
            t->evaluations += z->eval[k] ? z->scale_seeds.n : 0;
    }
    return SL_OK;
}

sl_status sl_commands__study_tally(sl_report_tally *out, const sl_commands__study_context *s,
                                   const sl_study *study) {
    (void)s;
    *out = (sl_report_tally){ 0 };
    double factor;
    SL_TRY(calibrate(&factor, study));
    for (int i = 0; i < study->runs; i++) SL_TRY(add_run(out, study, &study->run[i], factor));
    for (int i = 0; i < study->plan->sizes; i++) SL_TRY(add_ahead(out, study, i, factor));
    const rates r = rates_of(study);
    const double train = (out->flops - out->flops_done) * r.seconds / r.flops;
    const double eval = (out->evaluations - out->evaluated) * r.eval_seconds / r.evals;
    out->seconds_left = r.flops > 0 ? train + (r.evals > 0 ? eval : 0) : NAN;
    out->seconds_left /= SL_MAX(out->active, 1);
    return SL_OK;
}

sl_status sl_commands__study_progress(const sl_commands__study_context *s,
                                      const sl_report_tally *t) {
    char text[320];
    const bool training = t->flops_done < t->flops * (1 - 1e-9);
    int n;
    if (training)
        n = sl_snprintf(text, sizeof text, "study, %d of %d runs, %.3g of %.3g FLOPs%s%s",
                        t->finished, t->runs, t->flops_done, t->flops, t->text[0] ? ", " : "",
                        t->text);
    else
        n = sl_snprintf(text, sizeof text, "evaluating, %d of %d evaluations%s%s", t->evaluated,
                        t->evaluations, t->text[0] ? ", " : "", t->text);
    return sl_commands_send_event(&s->run->listener, SYMLAW_EVENT_PROGRESS, text,
                                  SL_MIN((size_t)SL_MAX(n, 0), sizeof text - 1),
                                  training ? t->flops_done : t->evaluated,
                                  training ? t->flops : t->evaluations);
}

/* ---------------------------------------------------------------- `status` ------------------ */

sl_status sl_commands__study_status(const sl_commands__study_context *s, sl_str *result) {
    sl_status st;
    sl_arena arena = { 0 };
    sl_study study;
    sl_report_tally t;
    double factor;
    sl_str *out = &s->run->output;
    SL_GO(sl_study_look(&study, &arena, s->plan, s->dir));
    SL_GO(sl_commands__study_tally(&t, s, &study));
    SL_GO(calibrate(&factor, &study));
    sl_report_run *runs = sl_arena_alloc(&arena, (size_t)(study.runs + 1) * sizeof *runs);
    if (!runs) SL_GO(sl_fail_memory((size_t)study.runs, sizeof *runs, "the state of runs"));
    for (int i = 0; i < study.runs; i++) {
        sl_report_run *r = &runs[i];
        r->run = &study.run[i];
        SL_GO(flops_of(&r->flops, &study, r->run, factor));
        SL_GO(read_holder(&r->holder, &study, "runs", r->run->id));
        r->part = part_of(r->run, &r->holder);
    }
    sl_io_json_add_text(result, "folder", s->dir);
    sl_report_status_json(result, &study, runs, study.runs, &t);
    if (!s->options->common.json) sl_report_status_table(out, &study, runs, study.runs, &t);
    st = sl_commands__output(s->run);
done:
    sl_arena_clear(&arena);
    return st;
}

/* ---------------------------------------------------------------- before it begins ---------- */

sl_status sl_commands__study_outlook(const sl_commands__study_context *s, const sl_study *study,
                                     sl_str *out) {
    int sweep = 0, scale = 0, sets = 0;
    double flops = 0, factor;
    const sl_study_plan *p = s->plan;
    SL_TRY(calibrate(&factor, study));
    for (int i = 0; i < study->runs; i++) {
        double f;
        SL_TRY(flops_of(&f, study, &study->run[i], factor));
        flops += f;
        sweep += study->run[i].sweep;
    }
    for (int i = 0; i < p->sizes; i++) {
        scale += p->size[i].ratios.n * p->size[i].scale_seeds.n;
        for (int k = 0; k < SL_STUDY_SET_COUNT; k++) sets += p->size[i].eval[k] != NULL;
    }
    sl_str_addf(
        out,
        "%s: %d sizes; a sweep of %d runs, then %d runs with the best settings of each size, "
        "%s\n",
        p->name, p->sizes, sweep, scale, sets ? "evaluated" : "without an evaluation");
    sl_str_addf(out, "about %.2g FLOPs as the paper counts for the %d runs that are known by now\n",
                flops, study->runs);
    sl_str_addf(out, "\"symlaw info\" with the plan shows every run with its cost and time\n");
    return sl_str_status(out);
}

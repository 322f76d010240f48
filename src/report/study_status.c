/* study_status - the state of each run of a study, and the progress of all. */
#include <math.h>
#include <string.h>

#include "report/report_impl.h"

static bool is_held(const sl_report_run *r) { return r->holder.held && !r->holder.gone; }

static const char *state_text(const sl_report_run *r) {
    const sl_study_run *run = r->run;
    if (run->state == SL_STUDY_FAILED) return run->result.diverged ? "diverged" : "failed";
    if (run->state == SL_STUDY_DONE) return "done";
    if (is_held(r)) return run->trained ? "evaluating" : "training";
    return run->state == SL_STUDY_TRAINED ? "trained"
           : run->state == SL_STUDY_BEGUN ? "begun"
                                          : "waiting";
}

static const char *phase_text(const sl_study_run *run) {
    return run->sweep && run->scale ? "sweep and scale" : run->scale ? "scale" : "sweep";
}

/* Steps of training that are done, and all of them; NaN: not known. */
static void steps_of(double *done, double *all, const sl_report_run *r) {
    const sl_study_holder *h = &r->holder;
    const bool trained = r->run->trained;
    const bool training = is_held(r) && h->total > 0 && strncmp(h->text, "training", 8) == 0;
    *all = trained ? r->run->result.steps : training ? h->total : NAN;
    *done = trained ? *all : training ? h->done : NAN;
}

static void add_run_json(sl_str *s, const sl_study *study, const sl_report_run *r) {
    const sl_study_run *run = r->run;
    double step, steps;
    steps_of(&step, &steps, r);
    sl_io_json_open(s, NULL, '{');
    sl_io_json_add_text(s, "id", run->id);
    sl_io_json_add_text(s, "size", study->plan->size[run->size].name);
    sl_io_json_add_text(s, "phase", phase_text(run));
    sl_io_json_add_text(s, "state", state_text(r));
    SL_JSON_FIELDS(s, run, batch, lr, ratio, seed);
    sl_io_json_add_real(s, "step", step);
    sl_io_json_add_real(s, "steps", steps);
    sl_io_json_add_real(s, "flops", r->flops);
    sl_io_json_add_real(s, "flops_done", r->flops * r->part);
    sl_io_json_add_real(s, "loss_valid", run->trained ? run->result.loss_valid : NAN);
    sl_io_json_add_real(s, "seconds", run->trained ? run->result.seconds : NAN);
    SL_JSON_FIELDS(s, run, attempts, error);
    if (is_held(r)) {
        sl_io_json_open(s, "worker", '{');
        SL_JSON_FIELDS(s, &r->holder, host, pid);
        sl_io_json_add_text(s, "progress", r->holder.text);
        sl_io_json_close(s, '}');
    }
    sl_io_json_close(s, '}');
}

void sl_report_status_json(sl_str *s, const sl_study *study, const sl_report_run *runs, int n,
                           const sl_report_tally *t) {
    sl_io_json_open(s, "runs", '[');
    for (int i = 0; i < n; i++) add_run_json(s, study, &runs[i]);
    sl_io_json_close(s, ']');
    sl_io_json_add_int(s, "planned", t->runs);
    SL_JSON_FIELDS(s, t, finished, failed, active, flops, flops_done, evaluations, evaluated);
    sl_io_json_add_real(s, "seconds_left", study->complete ? 0 : t->seconds_left);
    SL_JSON_FIELDS(s, study, complete, notes);
}

static void add_run(sl_str *s, const sl_report_run *r) {
    const sl_study_run *run = r->run;
    const sl_study_holder *h = &r->holder;
    sl_str_addf(s, "  %-36s %-10s %9.3g", run->id, state_text(r), r->flops);
    if (run->trained)
        sl_str_addf(s, "  loss %.4f, %.1f s", run->result.loss_valid, run->result.seconds);
    if (is_held(r)) sl_str_addf(s, "  %s:%lld %.60s", h->host, (long long)h->pid, h->text);
    if (run->error) sl_str_addf(s, "  %.100s", run->error);
    sl_str_add_char(s, '\n');
}

void sl_report_status_table(sl_str *s, const sl_study *study, const sl_report_run *runs, int n,
                            const sl_report_tally *t) {
    char left[32];
    sl_str_addf(s, "  %-36s %-10s %9s\n", "run", "state", "FLOPs");
    for (int i = 0; i < n; i++) add_run(s, &runs[i]);
    sl_str_addf(s, "\n%d of %d runs finished, %d failed, %d running\n", t->finished, t->runs,
                t->failed, t->active);
    sl_str_addf(s, "%.3g of %.3g FLOPs done, %.3g remain; %d of %d evaluations done\n",
                t->flops_done, t->flops, t->flops - t->flops_done, t->evaluated, t->evaluations);
    if (study->complete)
        sl_str_add(s, "the study is complete\n");
    else if (isnan(t->seconds_left))
        sl_str_add(s, "no run has finished yet: remaining time unknown\n");
    else
        sl_str_addf(s,
                    "about %s remaining at the rate of the finished runs; runs that the sweep has "
                    "not decided yet are estimated\n",
                    sl_report_duration(left, t->seconds_left));
    sl_str_add(s, study->notes ? study->notes : "");
}

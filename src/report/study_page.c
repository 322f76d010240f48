/* study_page - the page of a study, filled from its folders: what laws/ has found, and beside
 * it the training curves, baselines, other problem sets, costs, machines and failures. */
#include <math.h>
#include <string.h>

#include "report/report_impl.h"

/* ---------------------------------------------------------------- small parts --------------- */

static void *room(sl_arena *a, int n, size_t size) {
    return sl_arena_alloc(a, (size_t)(n > 0 ? n : 1) * size);
}

#define ROOM(out, a, n)                                                              \
    do {                                                                             \
        (out) = room(a, n, sizeof *(out));                                           \
        if (!(out)) return sl_fail_memory((size_t)(n), sizeof *(out), "the report"); \
    } while (0)

/* Wilson's interval of a share. */
static sl_estimate share_of(const sl_study_share *s) {
    if (isnan(s->hits) || !(s->trials > 0)) return (sl_estimate){ NAN, NAN, NAN };
    const sl_interval i = sl_num_wilson(s->hits, (int64_t)s->trials, 0.95);
    return (sl_estimate){ s->hits / s->trials, i.lo, i.hi };
}

/* ---------------------------------------------------------------- training curves ----------- */

enum { LINE_BYTES = 1 << 16, VALIDATIONS_MAX = 4096 };

static bool is_validation(const sl_json *line) {
    return sl_io_json_kind_of(line) == SL_JSON_OBJECT &&
           strcmp(sl_io_json_get_text(line, "event", ""), "valid") == 0;
}

/* A line that is no JSON was left by a killed process: it is ignored. */
static sl_status take_line(sl_report_curve *out, double *const to[3], const char *line, size_t n) {
    sl_json *j = NULL;
    const sl_status st = sl_io_json_parse_line(&j, line, n);
    if (st == SL_OK && is_validation(j) && out->n < VALIDATIONS_MAX) {
        to[0][out->n] = sl_io_json_get_real(j, "step", NAN);
        to[1][out->n] = sl_io_json_get_real(j, "flops", NAN);
        to[2][out->n] = sl_io_json_get_real(j, "loss", NAN);
        out->n++;
    }
    sl_io_json_free(j);
    return st == SL_EFORMAT ? SL_OK : st;
}

/* The validations of a run's log. A log that cannot be read leaves the curve empty. */
static sl_status read_curve(sl_report_curve *out, sl_arena *a, const char *path) {
    sl_lines *lines = NULL;
    const char *line;
    size_t n;
    double *to[3];
    sl_status st = sl_io_lines_open_own(&lines, path, LINE_BYTES);
    if (st != SL_OK) return st == SL_ENOMEM ? st : SL_OK;
    for (int i = 0; i < SL_LEN(to); i++) {
        to[i] = room(a, VALIDATIONS_MAX, sizeof *to[i]);
        if (!to[i]) SL_GO(sl_fail_memory(VALIDATIONS_MAX, sizeof *to[i], "a training curve"));
    }
    out->step = to[0];
    out->flops = to[1];
    out->loss = to[2];
    for (;;) {
        st = sl_io_lines_next(&line, &n, lines);
        if (st == SL_OK && !line) break;
        if (st == SL_OK) st = take_line(out, to, line, n);
        if (st != SL_OK && st != SL_ELIMIT) goto done; // a line too long is no validation
    }
    st = SL_OK;
done:
    sl_io_lines_close(lines);
    return st == SL_ENOMEM ? st : SL_OK;
}

static bool has_curve(const sl_study_run *run) { return run->scale && run->trained; }

static bool same_configuration(const sl_study_run *x, const sl_study_run *y) {
    return x->size == y->size && x->batch == y->batch && x->lr == y->lr && x->ratio == y->ratio;
}

/* One of each configuration: of the runs of scale that have come to their end, that with the first
 * seed. Seeds of a configuration stand side by side. */
static bool is_shown(const sl_study *s, int r) {
    if (!has_curve(&s->run[r])) return false;
    for (int i = r - 1; i >= 0 && same_configuration(&s->run[i], &s->run[r]); i--)
        if (has_curve(&s->run[i])) return false;
    return true;
}

static sl_status add_curves(sl_report_input *out, sl_arena *a, const sl_study *s) {
    sl_report_curve *curve;
    sl_str path = { 0 };
    sl_status st = SL_OK;
    ROOM(curve, a, s->runs);
    for (int r = 0; r < s->runs && st == SL_OK; r++) {
        const sl_study_run *run = &s->run[r];
        if (!is_shown(s, r)) continue;
        sl_report_curve *c = &curve[out->n_curves];
        *c = (sl_report_curve){ .run = run->id, .params = run->result.params };
        sl_str_truncate(&path, 0);
        sl_str_addf(&path, "%s/runs/%s/log.jsonl", s->dir, run->id);
        st = sl_str_status(&path);
        if (st == SL_OK) st = read_curve(c, a, path.text);
        if (c->n > 0) out->n_curves++;
    }
    sl_str_clear(&path);
    out->curves = curve;
    return st;
}

/* ---------------------------------------------------------------- figures of runs ----------- */

static const char *baseline_note(const char *name) {
    if (strcmp(name, "blind") == 0)
        return "draws from the generator that ignore the data; the best of as many as the models "
               "sample";
    if (strcmp(name, "linear") == 0) return "the linear formula that least squares gives";
    if (sl_study_is_search(name))
        return "exhaustive search at effort low, without a model, one thread a problem; the first "
               "200 test problems at most";
    return NULL;
}

/* Up to the time of the last formula found. peak: FLOP/s of one thread; NaN: not measured. */
static sl_status add_efforts(sl_report_baseline *to, sl_arena *a, const sl_study_evaluation *e,
                             double peak) {
    sl_report_effort *list;
    ROOM(list, a, SL_STUDY_BUDGETS);
    for (int i = 0; i < e->budgets; i++) {
        const sl_study_budget *b = &e->budget[i];
        if (i > 0 && b[-1].seconds >= e->seconds_most) break;
        list[to->n_efforts++] =
            (sl_report_effort){ .seconds = b->seconds,
                                .flops = b->seconds * peak,
                                .solved = share_of(&(sl_study_share){ b->solved, b->trials }),
                                .wrong = b->wrong };
    }
    to->efforts = list;
    return SL_OK;
}

static sl_status add_baselines(sl_report_input *out, sl_arena *a, const sl_study *s, double peak) {
    sl_report_baseline *to;
    ROOM(to, a, s->plan->n_baselines);
    for (int b = 0; b < s->plan->n_baselines; b++) {
        const sl_study_evaluation *e = &s->baseline[b];
        const char *name = s->plan->baselines[b];
        if (!e->there) continue;
        sl_report_baseline *one = &to[out->n_baselines++];
        *one = (sl_report_baseline){ .name = name,
                                     .note = baseline_note(name),
                                     .solved = share_of(&e->solved),
                                     .r2 = share_of(&e->r2) };
        SL_TRY(add_efforts(one, a, e, peak));
    }
    out->baselines = to;
    return SL_OK;
}

static sl_status add_others(sl_report_input *out, sl_arena *a, const sl_study *s) {
    sl_report_other *to;
    ROOM(to, a, s->runs);
    for (int r = 0; r < s->runs; r++) {
        const sl_study_run *run = &s->run[r];
        const sl_study_evaluation *e = run->eval;
        if (!e[SL_STUDY_SET_WITHHELD].there && !e[SL_STUDY_SET_FORMULAS].there) continue;
        to[out->n_others++] =
            (sl_report_other){ .run = run->id,
                               .params = run->result.params,
                               .flops = run->result.flops,
                               .test = share_of(&e[SL_STUDY_SET_TEST].solved),
                               .withheld = share_of(&e[SL_STUDY_SET_WITHHELD].solved),
                               .formulas = share_of(&e[SL_STUDY_SET_FORMULAS].solved) };
    }
    out->others = to;
    return SL_OK;
}

static sl_status add_origins(sl_report_input *out, sl_arena *a, const sl_study *s) {
    sl_report_origin *to;
    ROOM(to, a, s->runs);
    for (int r = 0; r < s->runs; r++) {
        const sl_study_run *run = &s->run[r];
        const sl_study_result *x = &run->result;
        if (!run->trained) continue;
        sl_str version = { 0 };
        sl_str_addf(&version, "%s (%s)", x->version ? x->version : "unknown",
                    x->revision ? x->revision : "unknown");
        const char *text = version.failed ? NULL : sl_arena_text(a, version.text, version.len);
        sl_str_clear(&version);
        if (!text) return sl_fail(SL_ENOMEM, "no memory for the report");
        to[out->n_origins++] = (sl_report_origin){
            .run = run->id, .cpu = x->cpu, .isa = x->isa, .libraries = x->libraries, .version = text
        };
    }
    out->origins = to;
    return SL_OK;
}

/* A failure of training or, of a trained run, the first failure of a missing evaluation: earlier
 * failures of training no longer matter. */
static bool failure_of(sl_report_failure *out, const sl_study_run *run) {
    if (run->state != SL_STUDY_FAILED) return false;
    *out = (sl_report_failure){ .run = run->id,
                                .state = run->result.diverged ? "diverged" : "failed",
                                .error = run->error,
                                .tries = run->attempts };
    if (run->trained) *out = (sl_report_failure){ .run = run->id, .state = "not evaluated" };
    for (int e = 0; e < SL_STUDY_SET_COUNT && run->trained && !out->error; e++) {
        if (run->eval[e].there) continue;
        out->error = run->eval[e].error;
        out->tries = run->eval[e].attempts;
    }
    if (!out->error) out->error = "";
    return true;
}

static sl_status add_failures(sl_report_input *out, sl_arena *a, const sl_study *s) {
    sl_report_failure *to;
    ROOM(to, a, s->runs);
    for (int r = 0; r < s->runs; r++)
        if (failure_of(&to[out->n_failures], &s->run[r])) out->n_failures++;
    out->failures = to;
    return SL_OK;
}

/* ---------------------------------------------------------------- cost ---------------------- */

/* Phases that cost something, in the order they are done. */
enum { COST_SWEEP, COST_SCALE, COST_EVALUATE, COST_COUNT };
static const char *const cost_name[] = { "sweep", "scale", "evaluate" };

typedef struct sums {
    int64_t runs;
    double seconds, cpu_seconds, flops;
    double executed, thread_seconds; // in products of matrices; wall seconds x threads
} sums;

static double known(double x) { return isnan(x) ? 0 : x; }

static void add_training(sums *to, const sl_study_result *x) {
    to->runs++;
    to->seconds += known(x->seconds);
    to->cpu_seconds += known(x->cpu_seconds);
    to->flops += known(x->flops);
    to->executed += known(x->flops_executed);
    to->thread_seconds += known(x->seconds) * fmax(1, known(x->threads)) * fmax(1, known(x->ranks));
}

static void add_evaluation(sums *to, const sl_study_evaluation *e) {
    if (!e->there) return;
    to->runs++;
    to->seconds += known(e->seconds);
    to->cpu_seconds += known(e->cpu_seconds);
}

static void sum_costs(sums to[COST_COUNT], const sl_study *s) {
    for (int r = 0; r < s->runs; r++) {
        const sl_study_run *run = &s->run[r];
        if (run->trained) add_training(&to[run->scale ? COST_SCALE : COST_SWEEP], &run->result);
        for (int e = 0; e < SL_STUDY_SET_COUNT; e++)
            add_evaluation(&to[COST_EVALUATE], &run->eval[e]);
    }
    for (int b = 0; b < s->plan->n_baselines; b++)
        add_evaluation(&to[COST_EVALUATE], &s->baseline[b]);
}

/* peak: FLOP/s of one thread of this machine; NaN: not measured. */
static sl_status add_costs(sl_report_input *out, sl_arena *a, const sl_study *s, double peak) {
    sl_report_cost *to;
    sums sum[COST_COUNT] = { 0 };
    ROOM(to, a, COST_COUNT);
    sum_costs(sum, s);
    for (int c = 0; c < COST_COUNT; c++) {
        if (sum[c].runs == 0) continue;
        const double rate = sum[c].executed / sum[c].thread_seconds;
        to[out->n_costs++] = (sl_report_cost){ .phase = cost_name[c],
                                               .runs = sum[c].runs,
                                               .seconds = sum[c].seconds,
                                               .cpu_seconds = sum[c].cpu_seconds,
                                               .flops = c == COST_EVALUATE ? NAN : sum[c].flops,
                                               .executed = sum[c].executed,
                                               .share = c == COST_EVALUATE || isnan(peak)
                                                            ? NAN
                                                            : sl_report_peak_share(rate, peak) };
    }
    out->costs = to;
    return SL_OK;
}

/* ---------------------------------------------------------------- all of it ----------------- */

sl_status sl_report_study(sl_report_input *out, sl_arena *a, const sl_study *study,
                          const sl_laws *laws, double peak) {
    *out = (sl_report_input){ .title = study->plan->name,
                              .subtitle = study->plan->about,
                              .laws = laws,
                              .plan = study->plan->text };
    SL_TRY(add_curves(out, a, study));
    SL_TRY(add_baselines(out, a, study, peak));
    SL_TRY(add_others(out, a, study));
    SL_TRY(add_origins(out, a, study));
    SL_TRY(add_failures(out, a, study));
    return add_costs(out, a, study, peak);
}

void sl_report_costs_table(sl_str *s, const sl_report_input *in) {
    char a[32], b[32];
    sl_str_add(s, "\n  phase       runs    time of runs        CPU      FLOPs  share of sgemm\n");
    for (int i = 0; i < in->n_costs; i++) {
        const sl_report_cost *c = &in->costs[i];
        sl_str_addf(s, "  %-10s %5lld %15s %10s", c->phase, (long long)c->runs,
                    sl_report_duration(a, c->seconds), sl_report_duration(b, c->cpu_seconds));
        if (!isnan(c->flops)) sl_str_addf(s, " %10.3g", c->flops);
        if (!isnan(c->share)) sl_str_addf(s, " %15.2f", c->share);
        sl_str_add_char(s, '\n');
    }
}

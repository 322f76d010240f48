/* study_runner - the jobs of a study as calls of the commands train and eval.
 *
 * A job's folder is the --out of train and the --model of eval, so users can inspect, resume and
 * evaluate it with these commands too. Events of the inner command become heartbeats of the claim
 * and progress of the study; its output and notes are dropped.
 *
 * A run that was begun is resumed. A run whose loss is not finite is tried as often as the plan
 * says and then recorded as diverged: its learning rate is too high. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "ckpt/ckpt.h"
#include "commands/study_impl.h"

/* ---------------------------------------------------------------- options ------------------- */

/* Are all options of a size consistent? */
static sl_status check_train(sl_commands_run *run) {
    sl_commands__setup setup = { 0 };
    sl_train_plan plan;
    enum { TOKENS = 32 }; // that they fit does not depend on it
    sl_status st = sl_commands__setup_read(&setup, run, sl_commands__training_of(run));
    if (st == SL_OK)
        st = sl_train_plan_make(&plan, &setup.config, setup.model, (int)setup.pairs.points, TOKENS,
                                1, 1);
    sl_commands__setup_clear(&setup);
    return st;
}

sl_status sl_commands__study_check(const char *command, const char *options_json, bool whole,
                                   void *payload) {
    (void)payload;
    const bool train = strcmp(command, "train") == 0;
    sl_commands_run run = { .command = train ? &sl_commands__train : &sl_commands__eval };
    sl_json *given = NULL;
    sl_status st;
    SL_GO(sl_io_json_parse(&given, options_json, strlen(options_json)));
    SL_GO(sl_commands__run_options(&run, given));
    if (whole && train) st = check_train(&run);
done:
    sl_commands__run_options_clear(&run);
    sl_io_json_free(given);
    return st;
}

/* ---------------------------------------------------------------- cost ---------------------- */

static sl_status runner_flops(double *out, const sl_study_runner *r, const sl_study_plan *plan,
                              const sl_study_run *run) {
    (void)r;
    if (run->trained && run->result.flops > 0) {
        *out = run->result.flops;
        return SL_OK;
    }
    return sl_commands__study_flops(out, plan, run);
}

/* ---------------------------------------------------------------- while it runs ------------- */

/* One job under way. */
typedef struct job {
    sl_commands__runner *runner;
    const sl_study *study;
    sl_study_claim *claim; // rank 0
    char label[SL_STUDY_ID + 40];
    sl_status failed; // a beat that could not be written
    char line[SL_FAIL_LINE];
    sl_commands_call call; // of the inner listener
    sl_commands_listener listener;
} job;

static const sl_commands_listener *outer(const job *j) { return &j->runner->study->run->listener; }

/* Nonzero: the work must end. */
static int beat(job *j, double done, double total, const char *text) {
    if (!j->claim) return 0;
    const sl_status st = sl_study_claim_beat(j->claim, done, total, text);
    if (st == SL_OK) return 0;
    if (st != SL_ECANCEL && j->failed == SL_OK) {
        j->failed = st;
        sl_snprintf(j->line, sizeof j->line, "%s", sl_last_error());
    }
    return 1;
}

enum { BRIEF = 120 };

/* "training, step 9/20, loss 1.2, 300 pairs/s, ..." up to the third comma. */
static void make_brief(char out[BRIEF], const symlaw_event *e) {
    size_t n = 0;
    for (int commas = 0; n < e->length && n < BRIEF - 1; n++)
        if (e->text[n] == ',' && ++commas == 3) break;
    sl_snprintf(out, BRIEF, "%.*s", (int)n, e->text);
}

/* The run and its progress. */
static int show(job *j, const char *brief) {
    char text[320];
    const sl_report_tally *t = &j->runner->tally;
    const char *comma = strchr(brief, ',');
    const int n = sl_snprintf(text, sizeof text, "study, %d of %d runs, %s%s", t->finished, t->runs,
                              j->label, comma ? comma : "");
    return sl_commands_send_event(outer(j), SYMLAW_EVENT_PROGRESS, text,
                                  SL_MIN((size_t)SL_MAX(n, 0), sizeof text - 1), t->flops_done,
                                  t->flops) != SL_OK;
}

static int on_event(const symlaw_event *e, void *payload) {
    job *j = payload;
    if (e->kind == SYMLAW_EVENT_PROGRESS) {
        char brief[BRIEF];
        make_brief(brief, e);
        if (beat(j, e->done, e->total, brief)) return 1;
        return show(j, brief);
    }
    if (e->kind == SYMLAW_EVENT_POLL)
        return beat(j, 0, 0, "") || sl_commands_cancel_requested((void *)outer(j));
    return 0;
}

/* An sl_par_stop_fn: the same between events. */
static bool is_cancelled(void *payload) {
    job *j = payload;
    return beat(j, 0, 0, "") || sl_commands_cancel_requested((void *)outer(j));
}

static sl_status guard(void *payload) {
    const job *j = payload;
    return j->claim ? sl_study_claim_check(j->claim) : SL_OK;
}

static void job_begin(job *j, const sl_study_runner *r, const sl_study *study,
                      const sl_study_job *what, sl_study_claim *claim) {
    *j = (job){ .runner = r->payload, .study = study, .claim = claim };
    const sl_study_run *run = &study->run[what->run];
    if (what->kind == SL_STUDY_JOB_TRAIN)
        sl_snprintf(j->label, sizeof j->label, "%s", run->id);
    else if (what->kind == SL_STUDY_JOB_EVAL)
        sl_snprintf(j->label, sizeof j->label, "%s on %s", run->id, sl_study_set_name(what->set));
    else
        sl_snprintf(j->label, sizeof j->label, "baseline %s",
                    study->plan->baselines[what->baseline]);
    sl_commands__keep_line(j->call.line);
    j->listener = (sl_commands_listener){ on_event, j, sl_clock(), &j->call };
    if (sl_par_rank() > 0) j->listener.fn = NULL;
}

/* A beat that failed is why the work was stopped. */
static sl_status job_end(const job *j, sl_status st) {
    if (st != SL_ECANCEL || j->failed == SL_OK) return st;
    return sl_fail(j->failed, "%s", j->line);
}

/* Of this process. */
static double cpu_seconds(void) {
    struct rusage u;
    if (getrusage(RUSAGE_SELF, &u) != 0) return NAN;
    return (double)u.ru_utime.tv_sec + (double)u.ru_stime.tv_sec +
           1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* ---------------------------------------------------------------- training ------------------ */

static sl_status train_options(sl_str *s, const job *j, const sl_study_run *run, const char *dir) {
    sl_study_train_options(s, j->study->plan, run);
    SL_TRY(sl_str_status(s));
    sl_str_truncate(s, s->len - 1); // the closing bracket: more follows
    sl_io_json_add_text(s, "out", dir);
    sl_io_json_add_bool(s, "resume", true);
    sl_io_json_add_int(s, "threads", j->runner->study->threads);
    sl_io_json_close(s, '}');
    return sl_str_status(s);
}

static void set_provenance(sl_study_result *r, const job *j, char cpu[128]) {
    r->cpu = sl_cpu_model(cpu);
    r->isa = sl_nn_isa();
    r->libraries = sl_nn_libraries();
    r->version = SL_VERSION;
    r->revision = sl_ckpt_revision();
    r->threads = sl_commands__threads(j->runner->study->run);
    if (j->runner->study->threads > 0) r->threads = j->runner->study->threads;
    r->ranks = sl_par_ranks();
}

/* cpu: of all ranks, in the `elapsed` seconds of this call. What a run took before it was resumed
 * is not known and is taken to be in proportion to its time. */
static sl_status write_result(const job *j, const char *dir, const sl_json *reported, double cpu,
                              double elapsed) {
    char name[128];
    const double seconds = sl_io_json_get_real(reported, "training_seconds", NAN);
    const double step = sl_io_json_get_real(reported, "step", NAN);
    const sl_json *plan = sl_io_json_get(reported, "plan");
    const char *file = sl_io_json_get_text(reported, "checkpoint", "");
    const char *slash = strrchr(file, '/');
    sl_study_result r = { .params = sl_io_json_get_real(reported, "parameters", NAN),
                          .tokens = sl_io_json_get_real(reported, "tokens", NAN),
                          .flops = sl_io_json_get_real(reported, "flops", NAN),
                          .steps = step,
                          .loss_train = sl_io_json_get_real(reported, "loss", NAN),
                          .loss_valid = sl_io_json_get_real(reported, "loss_valid", NAN),
                          .loss_valid_expression =
                              sl_io_json_get_real(reported, "loss_valid_expression", NAN),
                          .seconds = seconds,
                          .cpu_seconds = cpu * SL_MAX(seconds / elapsed, 1),
                          .checkpoint = slash ? slash + 1 : file };
    r.flops_executed = r.flops * sl_io_json_get_real(plan, "flops_pair", NAN) /
                       sl_io_json_get_real(plan, "flops_pair_paper", NAN);
    set_provenance(&r, j, name);
    SL_TRY(guard((void *)j));
    return sl_study_result_write(dir, &r);
}

static sl_status write_diverged(const job *j, const char *dir, double cpu, double elapsed) {
    char name[128];
    sl_study_result r = sl_study_no_result();
    r.seconds = elapsed;
    r.cpu_seconds = cpu;
    r.diverged = true;
    set_provenance(&r, j, name);
    SL_TRY(guard((void *)j));
    return sl_study_result_write(dir, &r);
}

/* *out := the seconds of all ranks. */
static sl_status sum_cpu(double *out, double mine) {
    int64_t micro = (int64_t)(1e6 * mine);
    SL_TRY(sl_par_sum(&micro, 1));
    *out = 1e-6 * (double)micro;
    return SL_OK;
}

/* Collective. */
static sl_status train(job *j, const sl_study_run *run, const char *dir) {
    sl_status st;
    sl_str options = { 0 };
    char *result = NULL, line[SL_FAIL_LINE];
    sl_json *reported = NULL;
    double cpu = cpu_seconds();
    sl_commands_inner inner = { .guard = guard, .payload = j };
    sl_par_watch watch;
    SL_GO(sl_par_agree(train_options(&options, j, run, dir)));
    sl_par_watch_begin(&watch, is_cancelled, j);
    st = sl_par_agree(
        sl_commands__run_inner(&result, &sl_commands__train, options.text, &j->listener, &inner));
    sl_par_watch_end(&watch);
    if (st != SL_OK && st != SL_ELIMIT) goto done;
    sl_snprintf(line, sizeof line, "%s", sl_last_error());
    sl_status summed = sum_cpu(&cpu, cpu_seconds() - cpu);
    if (summed != SL_OK) SL_GO(summed);
    const double elapsed = SL_MAX(sl_clock() - j->listener.start, 1e-9);
    if (sl_par_rank() > 0) { // rank 0 says what it comes to
        st = SL_OK;
        goto done;
    }
    if (st == SL_OK) {
        SL_GO(sl_io_json_parse(&reported, result, strlen(result)));
        st = write_result(j, dir, reported, cpu, elapsed);
    } else if (inner.diverged && run->attempts + 1 >= j->study->plan->attempts) {
        st = write_diverged(j, dir, cpu, elapsed);
    } else {
        sl_fail_restore(line);
    }
done:
    sl_io_json_free(reported);
    sl_free(result);
    sl_str_clear(&options);
    return st;
}

/* ---------------------------------------------------------------- evaluating ---------------- */

/* model: the folder of the run. */
static sl_status eval_options(sl_str *s, const job *j, const sl_study_job *what, const char *model,
                              const char *journal) {
    const sl_study_plan *plan = j->study->plan;
    const char *given = plan->size[j->study->run[what->run].size].eval[what->set];
    if (what->kind == SL_STUDY_JOB_BASELINE)
        SL_TRY(sl_study_baseline_options(s, plan->baselines[what->baseline], given));
    else
        sl_str_add(s, given ? given : "{}");
    SL_TRY(sl_str_status(s));
    sl_str_truncate(s, s->len - 1);
    sl_io_json_add_text(s, "model", model);
    sl_io_json_add_text(s, "journal", journal);
    if (what->set == SL_STUDY_SET_TEST) sl_io_json_add_text(s, "split", "test");
    if (what->set == SL_STUDY_SET_WITHHELD) sl_io_json_add_text(s, "split", "withheld");
    sl_io_json_add_int(s, "threads", j->runner->study->threads);
    sl_io_json_close(s, '}');
    return sl_str_status(s);
}

/* The result of eval, and what the run of it took. */
static sl_status write_evaluation(const job *j, const char *path, const char *result, double cpu) {
    sl_status st;
    sl_file *f = NULL;
    sl_str s = { 0 };
    char name[128];
    const char *end = strrchr(result, '}');
    SL_ASSERT(end);
    sl_str_add_bytes(&s, result, (size_t)(end - result));
    sl_io_json_add_real(&s, "cpu_seconds", cpu);
    sl_io_json_add_text(&s, "cpu", sl_cpu_model(name));
    sl_io_json_add_text(&s, "isa", sl_nn_isa());
    sl_io_json_add_text(&s, "libraries", sl_nn_libraries());
    sl_io_json_add_text(&s, "revision", sl_ckpt_revision());
    sl_str_add(&s, "}\n");
    SL_GO(sl_str_status(&s));
    SL_GO(sl_file_replace(&f, path));
    SL_GO(sl_file_write(f, s.text, s.len));
    SL_GO(guard((void *)j));
    st = sl_file_commit(&f);
done:
    sl_file_discard(&f);
    sl_str_clear(&s);
    return st;
}

/* After a failure the evaluation starts from the beginning: its journal may be the reason, damaged
 * or of another version of the program. If it cannot be removed, the evaluation refuses it. */
static sl_status drop_journal(const job *j, const sl_study_job *what, const char *path) {
    const sl_study *s = j->study;
    const sl_study_evaluation *before = what->kind == SL_STUDY_JOB_BASELINE
                                            ? &s->baseline[what->baseline]
                                            : &s->run[what->run].eval[what->set];
    if (before->attempts == 0) return SL_OK;
    SL_TRY(guard((void *)j));
    unlink(path);
    return SL_OK;
}

/* This rank alone. */
static sl_status evaluate(job *j, const sl_study_job *what, const char *dir) {
    sl_status st;
    sl_str options = { 0 }, model = { 0 }, path = { 0 }, journal = { 0 };
    char *result = NULL;
    const double cpu = cpu_seconds();
    sl_commands_inner inner = { .guard = guard, .payload = j, .alone = true };
    const char *set = sl_study_set_name(what->set);
    sl_str_addf(&model, "%s/runs/%s", j->study->dir, j->study->run[what->run].id);
    sl_str_addf(&path, "%s/eval-%s.json", dir, set);
    sl_str_addf(&journal, "%s/eval-%s.jsonl", dir, set);
    SL_GO(sl_str_status(&model));
    SL_GO(sl_str_status(&path));
    SL_GO(sl_str_status(&journal));
    SL_GO(eval_options(&options, j, what, model.text, journal.text));
    SL_GO(drop_journal(j, what, journal.text));
    SL_GO(sl_commands__run_inner(&result, &sl_commands__eval, options.text, &j->listener, &inner));
    st = write_evaluation(j, path.text, result, cpu_seconds() - cpu);
done:
    sl_free(result);
    sl_str_clear(&journal);
    sl_str_clear(&path);
    sl_str_clear(&model);
    sl_str_clear(&options);
    return st;
}

/* ---------------------------------------------------------------- the runner ---------------- */

/* A job that failed, for the user. */
static void note_failure(const job *j) {
    sl_commands_note(outer(j), "%s failed: %.300s", j->label, sl_last_error());
}

static sl_status work(const sl_study_runner *r, const sl_study *study, const sl_study_job *what,
                      const char *dir, sl_study_claim *claim) {
    job j;
    job_begin(&j, r, study, what, claim);
    sl_status st = what->kind == SL_STUDY_JOB_TRAIN ? train(&j, &study->run[what->run], dir)
                                                    : evaluate(&j, what, dir);
    st = job_end(&j, st);
    if (st != SL_OK && st != SL_ECANCEL && sl_par_rank() == 0) note_failure(&j);
    return st;
}

/* Lines of notes that are new. */
static void report_notes(sl_commands__runner *r, const sl_study *study) {
    for (const char *line = study->notes; line && *line;) {
        const size_t n = strcspn(line, "\n");
        sl_str one = { 0 };
        sl_str_add_bytes(&one, line, n);
        sl_str_add_char(&one, '\n');
        if (sl_str_status(&one) == SL_OK && !strstr(sl_str_text(&r->notes), one.text)) {
            sl_str_add_bytes(&r->notes, one.text, one.len);
            sl_commands_note(&r->study->run->listener, "%.*s", (int)SL_MIN(n, (size_t)400), line);
        }
        sl_str_clear(&one);
        line += n + (line[n] == '\n');
    }
}

/* Progress at most a few times a second; in between only polls for cancellation. */
static sl_status report(const sl_study_runner *runner, const sl_study *study, const char *text) {
    static const double pause = 0.3;
    sl_commands__runner *r = runner->payload;
    const sl_commands__study_context *s = r->study;
    const double now = sl_clock();
    if (*text == '\0' || now >= r->next_tally) {
        report_notes(r, study);
        SL_TRY(sl_commands__study_tally(&r->tally, s, study));
        r->next_tally = now + pause;
        if (*text) sl_snprintf(r->tally.text, sizeof r->tally.text, "%s", text);
        return sl_commands__study_progress(s, &r->tally);
    }
    if (sl_par_stopping() || sl_commands_cancel_requested((void *)&s->run->listener))
        return sl_fail(SL_ECANCEL, "stopped on request");
    return SL_OK;
}

void sl_commands__runner_init(sl_commands__runner *r, const sl_commands__study_context *s) {
    *r = (sl_commands__runner){ .study = s };
    r->runner = (sl_study_runner){ work, runner_flops, report, r };
}

void sl_commands__runner_clear(sl_commands__runner *r) { sl_str_clear(&r->notes); }

sl_status sl_commands__study_worker(bool *out_of_time, const sl_commands__study_context *s,
                                    bool wait) {
    sl_commands__runner r;
    sl_commands__runner_init(&r, s);
    const sl_study_worker_options o = { .expiry = s->expiry, .seconds = s->seconds, .wait = wait };
    const sl_status st = sl_study_work(out_of_time, s->plan, s->dir, &r.runner, &o);
    sl_commands__runner_clear(&r);
    return st;
}

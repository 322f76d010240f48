/* study_report - the laws of a study and its report: laws.json, report.html and figures/ in the
 * folder of the study, written each time. */
#include <math.h>
#include <string.h>

#include "commands/study_impl.h"

/* FLOP/s of one thread in products of matrices, while all cores are at work. */
static sl_status measure_peak(double *out) {
    static const double seconds = 0.3;
    sl_pool *pool = NULL;
    double rate = NAN;
    sl_status st = sl_par_pool_new(&pool, 0);
    if (st == SL_OK) st = sl_commands__gemm_rate(&rate, pool, SL_COMMANDS__SQUARE, seconds);
    *out = rate / sl_par_pool_threads(pool);
    sl_par_pool_free(pool);
    return st;
}

static sl_status write_laws(const sl_commands__study_context *s, const sl_laws *laws) {
    const sl_report_question none = { .params = NAN, .tokens = NAN, .budget = NAN };
    sl_str text = { 0 };
    sl_io_json_open(&text, NULL, '{');
    sl_report_laws_json(&text, laws, &none);
    sl_io_json_close(&text, '}');
    sl_str_add_char(&text, '\n');
    const sl_status st = sl_commands__study_write(s, "laws.json", &text);
    sl_str_clear(&text);
    return st;
}

static sl_status write_page(const sl_commands__study_context *s, const sl_report_input *in) {
    sl_str text = { 0 };
    sl_status st;
    SL_GO(sl_report_html(&text, in));
    SL_GO(sl_commands__study_write(s, "report.html", &text));
    sl_str_truncate(&text, 0);
    sl_str_addf(&text, "%s/figures", s->dir);
    SL_GO(sl_str_status(&text));
    st = sl_report_figures_folder(in, text.text);
done:
    sl_str_clear(&text);
    return st;
}

static sl_status add_findings(const sl_commands__study_context *s, const sl_report_input *in,
                              sl_str *result) {
    sl_str sentences = { 0 }, path = { 0 };
    sl_str *out = &s->run->output;
    sl_status st = sl_report_sentences(&sentences, in);
    sl_str_addf(&path, "%s/report.html", s->dir);
    if (st == SL_OK) st = sl_str_status(&path);
    if (st == SL_OK) {
        sl_io_json_add_text(result, "findings", sl_str_text(&sentences));
        sl_io_json_add_text(result, "report", path.text);
        if (!s->options->common.json) {
            char took[32];
            sl_report_costs_table(out, in);
            sl_str_addf(out, "  this command took %s\n\n%s\n%s\n",
                        sl_report_duration(took, sl_clock() - s->run->listener.start),
                        sl_str_text(&sentences), path.text);
        }
        st = sl_str_status(out);
    }
    sl_str_clear(&sentences);
    sl_str_clear(&path);
    return st;
}

/* No run has finished that laws could be fitted to. */
static sl_status add_no_findings(const sl_commands__study_context *s, sl_str *result) {
    sl_io_json_add_text(result, "findings", NULL);
    sl_io_json_add_text(result, "report", NULL);
    if (!s->options->common.json) sl_str_add(&s->run->output, "no finished run to fit a law to\n");
    return sl_str_status(&s->run->output);
}

/* ---------------------------------------------------------------- the page ------------------ */

static sl_status add_unfinished(sl_report_input *out, sl_arena *a,
                                const sl_commands__study_context *s, const sl_study *study) {
    sl_report_tally t;
    char text[160];
    if (study->complete) return SL_OK;
    SL_TRY(sl_commands__study_tally(&t, s, study));
    sl_snprintf(text, sizeof text, "%d of %d runs and %d of %d evaluations are done", t.finished,
                t.runs, t.evaluated, t.evaluations);
    out->unfinished = sl_arena_text(a, text, strlen(text));
    return out->unfinished ? SL_OK : sl_fail(SL_ENOMEM, "no memory for the report");
}

/* If the study was named by its folder, "study run" with that folder would find nothing to do. */
static void add_command(sl_str *to, const sl_commands__study_context *s) {
    sl_str name = { 0 };
    const bool folder = strcmp(s->named, s->dir) == 0;
    sl_str_addf(&name, "%s%s", s->named, folder ? "/plan.json" : "");
    sl_str_add(to, "symlaw study run ");
    sl_str_add_word(to, sl_str_text(&name));
    if (folder) {
        sl_str_truncate(&name, 0);
        sl_str_addf(&name, "runs/%s-again", s->plan->name);
        sl_str_add(to, " --out ");
        sl_str_add_word(to, sl_str_text(&name));
    }
    to->failed = to->failed || name.failed;
    sl_str_clear(&name);
}

/* The test problems of a model, as the command eval opens them. */
static sl_status open_problems(sl_commands__problems *out, sl_infer **model,
                               const sl_commands__study_context *s, const char *folder) {
    static const char options[] = "{\"split\":\"test\",\"limit\":200}";
    sl_commands_run run = { .command = &sl_commands__eval, .listener = s->run->listener };
    sl_json *given = NULL;
    sl_status st;
    SL_GO(sl_io_json_parse(&given, options, sizeof options - 1));
    SL_GO(sl_commands__run_options(&run, given));
    SL_GO(sl_infer_open(model, folder));
    st = sl_commands__problems_open(out, &run, run.options, sl_infer_about(*model), false);
done:
    sl_arena_clear(&run.arena);
    sl_commands__run_options_clear(&run);
    sl_io_json_free(given);
    return st;
}

/* Problems that the best model solved and missed. If its model or its judgements are missing or
 * damaged, the report has no examples. */
static sl_status add_problems(sl_report_input *out, sl_arena *a,
                              const sl_commands__study_context *s, const sl_study *study) {
    const int best = sl_study_best_run(study);
    if (best < 0 || !study->run[best].eval[SL_STUDY_SET_TEST].there) return SL_OK;
    sl_commands__problems problems = { 0 };
    sl_infer *model = NULL;
    sl_str path = { 0 };
    sl_str_addf(&path, "%s/runs/%s", study->dir, study->run[best].id);
    sl_status st = sl_str_status(&path);
    if (st == SL_OK) st = open_problems(&problems, &model, s, path.text);
    sl_str_add(&path, "/eval-test.jsonl");
    if (st == SL_OK) st = sl_str_status(&path);
    if (st == SL_OK) st = sl_report_study_problems(out, a, &problems.source, path.text);
    if (st != SL_OK && st != SL_ENOMEM && st != SL_ECANCEL) {
        sl_commands_note(&s->run->listener,
                         "the report shows no solved and missed problems: %.300s", sl_last_error());
        st = SL_OK;
    }
    sl_commands__problems_clear(&problems);
    sl_infer_close(model);
    sl_str_clear(&path);
    return st;
}

static sl_status make_page(sl_report_input *out, sl_arena *a, const sl_commands__study_context *s,
                           const sl_study *study, const sl_laws *laws) {
    sl_str command = { 0 };
    double peak;
    SL_TRY(measure_peak(&peak));
    SL_TRY(sl_report_study(out, a, study, laws, peak));
    add_command(&command, s);
    out->command = command.failed ? NULL : sl_arena_text(a, command.text, command.len);
    sl_str_clear(&command);
    if (!out->command) return sl_fail(SL_ENOMEM, "no memory for the report");
    SL_TRY(add_unfinished(out, a, s, study));
    return add_problems(out, a, s, study);
}

sl_status sl_commands__study_report(const sl_commands__study_context *s, const sl_study *study,
                                    sl_arena *a, sl_str *result) {
    sl_laws_table table;
    sl_laws laws;
    sl_report_input in;
    bool any = false;
    for (int r = 0; r < study->runs; r++)
        any = any || (study->run[r].trained && study->run[r].scale);
    if (!any) return add_no_findings(s, result);
    SL_TRY(sl_study_table(&table, a, study));
    SL_TRY(sl_laws_fit(&laws, a, &table, NULL));
    SL_TRY(write_laws(s, &laws));
    SL_TRY(make_page(&in, a, s, study, &laws));
    SL_TRY(write_page(s, &in));
    if (in.unfinished)
        sl_commands_note(&s->run->listener,
                         "the study is not complete: %s; the report covers these", in.unfinished);
    return add_findings(s, &in, result);
}

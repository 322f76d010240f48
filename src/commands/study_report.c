/* study_report - the laws that a study's runs follow, and its report: laws.json, report.html and
 * figures/ in the folder of the study, made anew each time. */
#include <math.h>
#include <string.h>

#include "commands/laws_impl.h"
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
    const sl_commands__ask ask = { .params = NAN, .tokens = NAN, .budget = NAN };
    sl_str text = { 0 };
    sl_io_json_open(&text, NULL, '{');
    sl_commands__laws_json(&text, laws, &ask);
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

/* What it cost, phase by phase; seconds: of this command. */
static void add_costs(sl_str *out, const sl_report_input *in, double seconds) {
    char a[32], b[32];
    sl_str_add(out, "\n  phase       runs    time of runs        CPU      FLOPs  share of sgemm\n");
    for (int i = 0; i < in->n_costs; i++) {
        const sl_report_cost *c = &in->costs[i];
        sl_str_addf(out, "  %-10s %5lld %15s %10s", c->phase, (long long)c->runs,
                    sl_commands__duration(a, c->seconds), sl_commands__duration(b, c->cpu_seconds));
        if (!isnan(c->flops)) sl_str_addf(out, " %10.3g", c->flops);
        if (!isnan(c->share)) sl_str_addf(out, " %15.2f", c->share);
        sl_str_add_char(out, '\n');
    }
    sl_str_addf(out, "  this command took %s\n\n", sl_commands__duration(a, seconds));
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
        if (!sl_commands__named(s->run, "json")->flag) {
            add_costs(out, in, sl_clock() - s->run->listener.start);
            sl_str_addf(out, "%s\n%s\n", sl_str_text(&sentences), path.text);
        }
        st = sl_str_status(out);
    }
    sl_str_clear(&sentences);
    sl_str_clear(&path);
    return st;
}

/* No run has come to an end that laws could be fitted to. */
static sl_status add_no_findings(const sl_commands__study_context *s, sl_str *result) {
    sl_io_json_add_text(result, "findings", NULL);
    sl_io_json_add_text(result, "report", NULL);
    if (!sl_commands__named(s->run, "json")->flag)
        sl_str_add(&s->run->output, "no run is finished that a law could be fitted to\n");
    return sl_str_status(&s->run->output);
}

sl_status sl_commands__study_report(const sl_commands__study_context *s, const sl_study *study,
                                    sl_arena *a, sl_str *result) {
    sl_laws_table table;
    sl_laws laws;
    sl_report_input in;
    double peak;
    bool any = false;
    for (int r = 0; r < study->runs; r++)
        any = any || (study->run[r].trained && study->run[r].scale);
    if (!any) return add_no_findings(s, result);
    SL_TRY(sl_study_table(&table, a, study));
    SL_TRY(sl_laws_fit(&laws, a, &table, NULL));
    SL_TRY(write_laws(s, &laws));
    SL_TRY(measure_peak(&peak));
    SL_TRY(sl_commands__study_page(&in, a, s, study, &laws, peak));
    SL_TRY(write_page(s, &in));
    if (in.unfinished)
        sl_commands__note(&s->run->listener,
                          "the study is not complete: %s; the report is of these", in.unfinished);
    return add_findings(s, &in, result);
}

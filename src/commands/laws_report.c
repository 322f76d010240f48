/* laws_report - the page of `laws --report`, and its figures as files. */
#include <string.h>

#include "commands/laws_impl.h"
#include "report/report.h"

static void add_option(sl_str *s, const sl_commands__run *run, const char *name) {
    const sl_commands__value *v = sl_commands__named(run, name);
    if (!v->given || !v->text[0]) return;
    sl_str_addf(s, " --%s ", name);
    sl_commands__add_word(s, v->text[0]);
}

/* The command that makes the page again. */
static void add_command(sl_str *s, const sl_commands__run *run, const sl_laws *l) {
    sl_str_add(s, "symlaw laws ");
    sl_commands__add_word(s, sl_commands__named(run, "file")->text[0]);
    add_option(s, run, "columns");
    add_option(s, run, "bins");
    sl_str_addf(s, " --target-solved %.10g --draws %d --seed %llu", l->options.target,
                l->options.draws, (unsigned long long)l->options.seed);
    if (l->options.trials > 0) sl_str_addf(s, " --trials %.0f", l->options.trials);
    add_option(s, run, "report");
    add_option(s, run, "figures");
}

static void add_subtitle(sl_str *s, const sl_laws *l) {
    static const char *const bins[] = { [SL_LAWS_BINS_LOG] = "logarithmic bins of compute",
                                        [SL_LAWS_BINS_LINEAR] = "linear bins of compute",
                                        [SL_LAWS_BINS_NONE] = "no selection" };
    sl_str_addf(s, "%d %s of %d %s; frontier by %s.", l->table->n,
                l->table->n == 1 ? "run" : "runs", l->n_size, l->n_size == 1 ? "size" : "sizes",
                bins[l->options.bins]);
}

sl_status sl_commands__laws_report(sl_commands__run *run, const sl_laws *l, sl_file **page) {
    const char *file = sl_commands__named(run, "file")->text[0];
    const char *figures = sl_commands__named(run, "figures")->text[0], *slash = strrchr(file, '/');
    sl_str title = { 0 }, subtitle = { 0 }, command = { 0 }, html = { 0 };
    sl_status st;
    sl_str_addf(&title, "Scaling laws of %s",
                strcmp(file, "-") == 0 ? "a table"
                : slash                ? slash + 1
                                       : file);
    add_subtitle(&subtitle, l);
    add_command(&command, run, l);
    SL_GO(sl_str_status(&title));
    SL_GO(sl_str_status(&subtitle));
    SL_GO(sl_str_status(&command));
    const sl_report_input in = {
        .title = title.text, .subtitle = subtitle.text, .laws = l, .command = command.text
    };
    if (figures) SL_GO(sl_report_figures_folder(&in, figures));
    if (*page) {
        SL_GO(sl_report_html(&html, &in));
        SL_GO(sl_file_write(*page, html.text, html.len));
        st = sl_file_commit(page);
    }
done:
    sl_str_clear(&title);
    sl_str_clear(&subtitle);
    sl_str_clear(&command);
    sl_str_clear(&html);
    return st;
}

/* laws_page - the page of a table of runs, and its figures as files. */
#include <string.h>

#include "report/report_impl.h"

static void add_subtitle(sl_str *s, const sl_laws *l) {
    static const char *const bins[] = { [SL_LAWS_BINS_LOG] = "logarithmic bins of compute",
                                        [SL_LAWS_BINS_LINEAR] = "linear bins of compute",
                                        [SL_LAWS_BINS_NONE] = "no selection" };
    sl_str_addf(s, "%d %s of %d %s; frontier by %s.", l->table->n,
                l->table->n == 1 ? "run" : "runs", l->n_size, l->n_size == 1 ? "size" : "sizes",
                bins[l->options.bins]);
}

sl_status sl_report_laws_page(sl_file **page, const char *figures, const sl_laws *l,
                              const char *file, const char *command) {
    const char *slash = strrchr(file, '/');
    sl_str title = { 0 }, subtitle = { 0 }, html = { 0 };
    sl_status st;
    sl_str_addf(&title, "Scaling laws of %s",
                strcmp(file, "-") == 0 ? "a table"
                : slash                ? slash + 1
                                       : file);
    add_subtitle(&subtitle, l);
    SL_GO(sl_str_status(&title));
    SL_GO(sl_str_status(&subtitle));
    const sl_report_input in = {
        .title = title.text, .subtitle = subtitle.text, .laws = l, .command = command
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
    sl_str_clear(&html);
    return st;
}

/* checks - which parts of the program work, and what to do about those that do not. */
#include "report/report_impl.h"

static const char *const states[] = { "works", "absent", "failed" };

void sl_report_checks_table(sl_str *s, const sl_report_check *c, int n) {
    int bad = 0;
    for (int i = 0; i < n; i++) bad += c[i].state != SL_REPORT_CHECK_GOOD;
    if (bad == 0)
        sl_str_addf(s, "symlaw %s: every part works\n\n", SL_VERSION);
    else
        sl_str_addf(s, "symlaw %s: %d part%s missing or not working\n\n", SL_VERSION, bad,
                    bad == 1 ? " is" : "s are");
    for (int i = 0; i < n; i++) {
        const bool good = c[i].state == SL_REPORT_CHECK_GOOD;
        sl_report_line(s, c[i].part, "%s%s%s", good ? "" : states[c[i].state], good ? "" : ": ",
                       c[i].text);
        if (c[i].remedy) sl_report_line(s, "", "%s", c[i].remedy);
    }
}

void sl_report_checks_json(sl_str *s, const sl_report_check *c, int n) {
    sl_io_json_open(s, "parts", '[');
    for (int i = 0; i < n; i++) {
        sl_io_json_open(s, NULL, '{');
        sl_io_json_add_text(s, "part", c[i].part);
        sl_io_json_add_text(s, "state", states[c[i].state]);
        sl_io_json_add_text(s, "text", c[i].text);
        sl_io_json_add_text(s, "remedy", c[i].remedy); // null: none is needed
        sl_io_json_close(s, '}');
    }
    sl_io_json_close(s, ']');
}

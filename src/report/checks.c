/* checks - which parts of the program work, and what to do about those that do not. */
#include "report/report_impl.h"

static const char *const states[] = { "works", "absent", "failed" };

/* "does not work: products, model"; `none` if no part is in that state. */
static void add_names(sl_str *s, const sl_report_check *c, int n, sl_report_check_state state,
                      const char *before, const char *none) {
    bool first = true;
    for (int i = 0; i < n; i++) {
        if (c[i].state != state) continue;
        sl_str_addf(s, "%s%s", first ? before : ", ", c[i].part);
        first = false;
    }
    if (first) sl_str_add(s, none);
}

void sl_report_checks_table(sl_str *s, const sl_report_check *c, int n) {
    sl_str_addf(s, "symlaw %s: ", SL_VERSION);
    add_names(s, c, n, SL_REPORT_CHECK_FAILED, "does not work: ", "every part works");
    add_names(s, c, n, SL_REPORT_CHECK_ABSENT, "; absent: ", "");
    sl_str_add(s, "\n\n");
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

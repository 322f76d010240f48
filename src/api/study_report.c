/* study_report - the laws that a study's runs follow, and its report. */
#include <string.h>

#include "api/study_impl.h"

sl_status sl_api__study_report(const sl_api__study_context *s, const sl_study *study, sl_arena *a,
                               sl_str *result) {
    (void)a;
    (void)study;
    sl_str *out = &s->run->output;
    sl_json_add_text(result, "report", NULL);
    if (!sl_api__named(s->run, "json")->flag) sl_str_addf(out, "%s/runs.csv\n", s->dir);
    return sl_str_status(out);
}

/* text - small parts that several results share. */
#include <math.h>

#include "report/report_impl.h"

static void add_line(sl_str *s, int width, const char *name, const char *format, va_list args) {
    char text[400];
    sl_vsnprintf(text, sizeof text, format, args);
    sl_str_addf(s, "  %-*s %s\n", width, name, text);
}

void sl_report_line(sl_str *s, const char *name, const char *format, ...) {
    va_list args;
    va_start(args, format);
    add_line(s, 13, name, format, args);
    va_end(args);
}

void sl_report__line(sl_str *s, int width, const char *name, const char *format, ...) {
    va_list args;
    va_start(args, format);
    add_line(s, width, name, format, args);
    va_end(args);
}

const char *sl_report_duration(char buffer[32], double seconds) {
    if (!(seconds >= 0 && seconds < 1e12)) {
        sl_snprintf(buffer, 32, "unknown");
        return buffer;
    }
    const int64_t s = (int64_t)(seconds + 0.5);
    if (s >= 2 * 86400)
        sl_snprintf(buffer, 32, "%.1f days", seconds / 86400);
    else if (s >= 3600)
        sl_snprintf(buffer, 32, "%lld h %lld min", (long long)(s / 3600),
                    (long long)(s % 3600 / 60));
    else if (s >= 60)
        sl_snprintf(buffer, 32, "%lld min %lld s", (long long)(s / 60), (long long)(s % 60));
    else if (s >= 10)
        sl_snprintf(buffer, 32, "%lld s", (long long)s);
    else
        sl_snprintf(buffer, 32, "%.2g s", seconds);
    return buffer;
}

double sl_report_peak_share(double rate, double peak) {
    const double share = rate / peak;
    return share > 0 && share <= 1 ? share : NAN;
}

void sl_report_model_json(sl_str *s, const sl_infer *m) {
    const sl_infer_info *i = sl_infer_about(m);
    SL_JSON_FIELDS(s, i, path, hash, step);
    sl_io_json_add_int(s, "parameters", i->model->count);
    sl_io_json_add_int(s, "inputs", i->variables);
    sl_io_json_add_int(s, "points", i->points);
    sl_io_json_add_text(s, "warning", i->warning); // null: none
}

void sl_report__model_member(sl_str *s, const sl_infer *m) {
    if (!m) {
        sl_io_json_add_null(s, "model");
        return;
    }
    sl_io_json_open(s, "model", '{');
    sl_report_model_json(s, m);
    sl_io_json_close(s, '}');
}

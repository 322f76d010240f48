/* csv_write - cells of a table, straight into a sl_str. */
#include <math.h>
#include <string.h>

#include "io/io.h"

void sl_io_csv_add_text(sl_str *s, const char *text) {
    if (!strpbrk(text, ",;\"\t\r\n|") && *text != ' ') {
        sl_str_add(s, text);
        return;
    }
    sl_str_add_char(s, '"');
    for (; *text; text++) {
        if (*text == '"') sl_str_add_char(s, '"');
        sl_str_add_char(s, *text);
    }
    sl_str_add_char(s, '"');
}

void sl_io_csv_add_number(sl_str *s, double v) {
    char text[SL_REAL_TEXT_MAX];
    if (!isfinite(v)) return;
    if (v == floor(v) && fabs(v) < 1e15) {
        sl_str_addf(s, "%.0f", v);
        return;
    }
    sl_real_text(text, v);
    sl_str_add(s, text);
}

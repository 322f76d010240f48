/* Any bytes as a unit, as a list of units and as a column's name. A unit has a factor above 0, and
 * its dimension reads back as it prints; what is none has a reason with a place. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/data.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

_Noreturn static void wrong(const char *what) {
    fprintf(stderr, "%s: %s\n", what, sl_last_error());
    abort();
}

static void check(const sl_unit *u) {
    sl_str s = { 0 };
    sl_unit back;
    if (!(u->factor > 0) || !isfinite(u->factor) || u->dimension.power[7] != 0) wrong("no unit");
    sl_data_dimension_print(&s, u->dimension);
    if (sl_data_unit_parse(&back, sl_str_text(&s), s.len) != SL_OK) wrong("not read back");
    if (!sl_data_dimension_equal(back.dimension, u->dimension)) wrong("reads back as another one");
    sl_str_clear(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const names[] = { "m", "v (m/s)" };
    sl_unit u;
    sl_units all = { 0 };
    size_t length;
    sl_fail_restore("");
    if (sl_data_unit_parse(&u, (const char *)data, size) == SL_OK)
        check(&u);
    else if (!strstr(sl_last_error(), "byte "))
        wrong("no place");
    char *text = malloc(size + 1);
    if (!text) return 0;
    memcpy(text, data, size);
    text[size] = 0;
    if (sl_data_unit_of_name(&u, &length, text)) {
        check(&u);
        if (length == 0 || length >= strlen(text)) wrong("a name that is none");
    }
    (void)!sl_data_units_parse(&all, text, names, 2, "y");
    free(text);
    return 0;
}

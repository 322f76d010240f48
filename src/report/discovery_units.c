/* discovery_units - units of columns and constants. */
#include <math.h>
#include <string.h>

#include "report/discovery_impl.h"

/* Are all columns in SI units? Then so are the constants. */
static bool is_si(const sl_units *u, int inputs) {
    bool si = !u->target_known || u->target_factor == 1;
    for (int i = 0; i < inputs; i++) si = si && (!u->input_known[i] || u->input_factor[i] == 1);
    return si;
}

sl_status sl_report__constant_units(sl_fit_dimensions *out, sl_arena *scratch,
                                    const sl_candidate *c, const sl_units *units) {
    const size_t mark = sl_arena_mark(scratch);
    const sl_status st = sl_fit_units(out, scratch, c->expr, units);
    sl_arena_rewind(scratch, mark);
    return st;
}

/* "kg", or "3600 s" where the column's numbers are hours. */
static void add_unit(sl_str *s, sl_dimension d, double factor) {
    if (factor != 1) sl_str_addf(s, "%.6g ", factor);
    sl_data_dimension_print(s, d);
}

sl_status sl_report__add_units(sl_str *s, const sl_units *u, const sl_names *names,
                               const char *target) {
    const char *between = "";
    sl_str_addf(s, "  %-13s ", "units");
    if (u->target_known) {
        SL_TRY(sl_report__add_variable(s, 1, &(sl_names){ &target, 1 }));
        sl_str_add(s, " in ");
        add_unit(s, u->target, u->target_factor);
        between = ", ";
    }
    for (int i = 0; i < names->count; i++) {
        if (!u->input_known[i]) continue;
        sl_str_add(s, between);
        SL_TRY(sl_report__add_variable(s, i + 1, names));
        sl_str_add(s, " in ");
        add_unit(s, u->input[i], u->input_factor[i]);
        between = ", ";
    }
    if (!is_si(u, names->count))
        sl_str_add(s, "; constants are for the columns as they are, not in SI units");
    sl_str_add_char(s, '\n');
    return SL_OK;
}

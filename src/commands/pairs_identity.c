/* pairs_identity - what names a configuration of pairs. */
#include <stdlib.h>
#include <string.h>

#include "commands/commands.h"

sl_status sl_commands__identify(sl_report_identity *out, sl_pool *pool, const sl_pairs *p,
                                bool hashes) {
    *out = (sl_report_identity){ .pairs = p };
    for (sl_split s = 0; hashes && s < SL_SPLIT_COUNT; s++)
        if (sl_pairs_size(p, s) > 0)
            SL_TRY(sl_pairs_hash(out->hash[s], pool, p, s, SL_REPORT_HASHED));
    return SL_OK;
}

static void add_option(sl_str *s, const symlaw_option_info *o, const sl_commands__value *v) {
    const char *preset = o->default_value;
    switch (o->type) {
    case SYMLAW_OPTION_INT:
        if (v->whole != sl_strtoll(preset, NULL))
            sl_str_addf(s, " --%s %lld", o->name, (long long)v->whole);
        return;
    case SYMLAW_OPTION_REAL: {
        if (v->real == sl_strtod(preset, NULL)) return;
        char text[32]; // as short as it may be to be read as the same number
        sl_snprintf(text, sizeof text, "%.15g", v->real);
        if (sl_strtod(text, NULL) != v->real) sl_snprintf(text, sizeof text, "%.17g", v->real);
        sl_str_addf(s, " --%s %s", o->name, text);
        return;
    }
    default:
        if (strcmp(v->text[0], preset) == 0) return;
        // a list of operators has what a shell would obey
        sl_str_addf(s, o->type == SYMLAW_OPTION_TEXT ? " --%s '%s'" : " --%s %s", o->name,
                    v->text[0]);
    }
}

void sl_commands__pairs_command(sl_str *s, const sl_commands__run *run) {
    static const char *const names[] = { "seed",           "depth",    "variables", "ops",
                                         "size",           "withheld",
#define X(field, option, ...) option,
                                         SL_PAIRS_TABLE(X)
#undef X
    };
    for (int i = 0; i < SL_LEN(names); i++) {
        const sl_commands__value *v = sl_commands__named(run, names[i]);
        add_option(s, &run->info->options[v - run->values], v);
    }
}

/* pairs_identity - options and hashes that identify a configuration of pairs. */
#include <string.h>

#include "commands/commands_impl.h"

sl_status sl_commands__identify(sl_report_identity *out, sl_pool *pool, const sl_pairs *p,
                                bool hashes) {
    *out = (sl_report_identity){ .pairs = p };
    for (sl_split s = 0; hashes && s < SL_SPLIT_COUNT; s++)
        if (sl_pairs_size(p, s) > 0)
            SL_TRY(sl_pairs_hash(out->hash[s], pool, p, s, SL_REPORT_HASHED));
    return SL_OK;
}

/* " --points 32" where that is not the default. */
static void add_option(sl_str *s, const void *options, const sl_option *o) {
    char text[SL_OPTION_TEXT_MAX];
    if (o->kind == SL_KIND_TEXT) {
        const char *value = *sl_option_texts(options, o);
        // a list of operators has what a shell would interpret
        if (strcmp(value, o->text) != 0) sl_str_addf(s, " --%s '%s'", o->name, value);
        return;
    }
    const sl_option now = { .kind = o->kind,
                            .choices = o->choices,
                            .value = sl_option_number(options, o) };
    if (now.value != o->value)
        sl_str_addf(s, " --%s %s", o->name, sl_option_default_text(text, &now));
}

/* The options of the set and of pairs, but for memory. */
void sl_commands__pairs_command(sl_str *s, const sl_commands_run *run) {
    add_option(s, run->options, sl_commands__row(run, &run->common->seed));
    for (int i = 0; i < run->table->n; i++) {
        const sl_option *o = &run->table->row[i];
        const bool data = sl_option_find(&sl_pairs_table, o->name) ||
                          sl_option_find(&sl_commands__set_table, o->name);
        if (data && strcmp(o->name, "max-memory") != 0) add_option(s, run->options, o);
    }
}

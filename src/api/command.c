/* command - symlaw_command, and the functions for several processes. */
#include "api/api_impl.h"

int symlaw_command_count(void) { return sl_commands_count(); }

const symlaw_command_info *symlaw_command_get(int i) { return sl_commands_get(i); }

const symlaw_option_info *symlaw_command_option(const symlaw_command_info *command, int i) {
    return sl_commands_option(command, i);
}

symlaw_status symlaw_command(const char *name, const char *options_json, symlaw_event_fn on_event,
                             void *payload, char **result_json) {
    SL_API__PUBLIC(sl_commands_run_named(
        name, options_json, &(sl_commands_listener){ on_event, payload, sl_clock(), &call },
        result_json));
}

/* ---------------------------------------------------------------- ranks --------------------- */

/* Without a check of the stack: the program calls it even for --version. */
symlaw_status symlaw_begin(void) { return sl_par_begin(); }
void symlaw_end(void) { sl_par_end(); }
int symlaw_rank(void) { return sl_par_rank(); }
int symlaw_ranks(void) { return sl_par_ranks(); }

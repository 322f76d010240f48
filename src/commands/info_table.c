/* info_table - the columns of a table. */
#include "commands/commands_impl.h"

sl_status sl_commands__info_table(sl_commands_run *run, const sl_commands__info_options *options,
                                  sl_str *result) {
    sl_status st;
    sl_table_options o = SL_TABLE_OPTIONS_INIT;
    sl_table_summary t = { 0 };
    const char *path = options->table;
    int kept = -1;
    o.max_inputs = SL_DATA_MAX_INPUTS; // as of discover
    o.seed = (uint64_t)options->common.seed;
    SL_TRY(sl_commands_reading_options(&o.csv, &options->reading));
    o.csv.shown = sl_commands__table_shown(path);
    SL_GO(sl_commands__table_keep(&path, &kept, run));
    SL_GO(sl_data_table_summary(&t, path, &o, sl_commands__table_progress, &run->listener));
    sl_report_table_json(result, options->table, &t);
    if (!options->common.json) SL_GO(sl_report_table_text(&run->output, options->table, &t));
    st = sl_commands__output(run);
done:
    sl_commands__table_release(kept);
    sl_data_table_summary_clear(&t);
    return st;
}

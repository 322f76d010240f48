/* study_setup - the options of a run of a study as train reads them, and its cost. */
#include <string.h>

#include "commands/study_impl.h"

sl_status sl_commands__study_setup(sl_commands__setup *out, const sl_study_plan *plan,
                                   const sl_study_run *run, int64_t threads) {
    sl_commands_run inner = { .command = &sl_commands__train };
    sl_str options = { 0 };
    sl_json *given = NULL;
    sl_status st;
    *out = (sl_commands__setup){ 0 };
    sl_study_train_options(&options, plan, run);
    SL_GO(sl_str_status(&options));
    SL_GO(sl_io_json_parse(&given, options.text, options.len));
    SL_GO(sl_commands__run_options(&inner, given));
    inner.common->threads = threads;
    st = sl_commands__setup_read(out, &inner, sl_commands__training_of(&inner)); // borrows nothing
done:
    sl_io_json_free(given);
    sl_commands__run_options_clear(&inner);
    sl_str_clear(&options);
    return st;
}

/* Target tokens of a pair by depth of the set, with the usual operators: near enough before any run
 * has a result of its own. Measuring them would build the set. */
static double usual_tokens(int depth) {
    static const double by_depth[] = { 2.7, 5.7, 13, 31.5 };
    return by_depth[SL_MIN(SL_MAX(depth, 0), SL_LEN(by_depth) - 1)];
}

sl_status sl_commands__study_flops(double *out, const sl_study_plan *plan,
                                   const sl_study_run *run) {
    sl_commands__setup setup;
    sl_train_plan cost;
    sl_status st;
    SL_GO(sl_commands__study_setup(&setup, plan, run, 0));
    SL_GO(sl_train_plan_make(&cost, &setup.config, setup.model, (int)setup.pairs.points,
                             usual_tokens(setup.universe.depth), 1, 1));
    *out = cost.flops;
done:
    sl_commands__setup_clear(&setup);
    return st;
}

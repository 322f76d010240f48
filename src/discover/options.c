/* options - names, the table of options, and what an effort is worth. */
#include "discover/discover_impl.h"

SL_DEFINE_NAMES(sl_discover_candidate_state_name, sl_candidate_state, SL_CANDIDATE_STATES,
                SL_ROW_NAME)
SL_DEFINE_NAMES(sl_discover_source_name, sl_source, SL_SOURCES, SL_ROW_NAME)

const char *sl_discover_cut_name(sl_cut cut) {
    static const char *const names[] = { [SL_CUT_TIME] = "time", [SL_CUT_CANCEL] = "cancel" };
    return cut == SL_CUT_NONE ? "" : names[cut];
}

#define ROW(field, option, ...) SL_OPTION(sl_discover_options, field, option, __VA_ARGS__)

static const sl_option rows[] = {
    ROW(search, "search", .value = SL_DISCOVER_BOTH, .choices = "both|exhaustive|model",
        .shown = "SOURCE",
        .help = "source of formulas: exhaustive: the search alone; model: a model's samples "
                "alone; both: the search, and the model where the search finds nothing within "
                "the noise"),
    ROW(effort, "effort", .value = SL_EFFORT_NORMAL, .choices = "low|normal|high", .shown = "LEVEL",
        .help = "amount of work: steps of the search, samples, candidates to refine, steps of a "
                "fit"),
    ROW(samples, "samples", .value = 0, .max = 1e6, .shown = "N",
        .help = "samples from the model, over all row subsets; 0: by effort (32, 128, 1024)"),
    ROW(refine, "refine", .value = -1, .min = -1, .max = 1e6, .shown = "N",
        .help = "candidates whose constants are fitted; -1: by effort (8, 32, 128); 0: none"),
    ROW(bags, "bags", .value = 0, .max = 1000, .shown = "N",
        .help = "row subsets shown to the model; 0: one, up to 8 where there are more rows than "
                "it takes"),
    ROW(grammar, "grammar", .value = 1, .choices = "off|on", .shown = "SWITCH",
        .help = "sample only tokens that can still become an expression"),
    ROW(scale, "scale", .value = SL_SCALE_BOTH, .choices = "raw|unit|both", .shown = "HOW",
        .help = "inputs of the model: unmodified, standardised to mean 0 and variance 1, or half "
                "of the samples each"),
    ROW(baseline, "baseline", .value = 1, .choices = "off|on", .shown = "SWITCH",
        .help = "candidates that need no model: a constant, each input, the best linear formula"),
    ROW(rank, "rank", .value = SL_RANK_BITS, .choices = "bits|simple|r2", .shown = "RULE",
        .help = "order of formulas: bits: least description length; simple: of those within "
                "1e-12 of the highest R2 the simplest; r2: highest R2, of equal ones the more "
                "probable"),
    ROW(holdout, "holdout", .value = 0, .max = 0.9, .shown = "PART",
        .help = "part of the rows that is held out from model and fit, to judge the formulas by"),
};

const sl_option_table sl_discover_table = { rows, SL_LEN(rows) };

const sl_option_preset sl_discover_paper[] = {
    { "search", SL_DISCOVER_MODEL },
    { "refine", 0 },
    { "grammar", 0 },
    { "scale", SL_SCALE_RAW },
    { "baseline", 0 },
    { "rank", SL_RANK_R2 },
    { .name = NULL },
};

sl_discover_options sl_discover_defaults(void) {
    sl_discover_options o = { .infer = sl_infer_defaults(), .exhaustive = SL_SEARCH_OPTIONS_INIT };
    sl_option_defaults(&o, &sl_discover_table);
    return o;
}

sl_discover_options sl_discover_paper_defaults(void) {
    sl_discover_options o = sl_discover_defaults();
    sl_option_presets(&o, &sl_discover_table, sl_discover_paper);
    return o;
}

sl_status sl_discover_options_check(const sl_discover_options *o) {
    SL_TRY(sl_option_check(o, &sl_discover_table));
    return sl_infer_options_check(&o->infer);
}

sl_discover__budget sl_discover__budget_of(const sl_discover_options *o) {
    static const sl_discover__budget efforts[] = {
#define X(id, name, samples, refined, evaluations, restarts) \
    { samples, refined, evaluations, restarts },
        SL_EFFORTS(X)
#undef X
    };
    sl_discover__budget b = efforts[o->effort];
    if (o->samples > 0) b.samples = o->samples;
    if (o->refine >= 0) b.refined = o->refine;
    return b;
}

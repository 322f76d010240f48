/* options - names, whether options keep to their table, and what an effort is worth. */
#include "discover/discover_impl.h"

const char *sl_discover_candidate_state_name(sl_candidate_state s) {
#define X(id, name, text) name,
    static const char *const names[] = { SL_CANDIDATE_STATES(X) };
#undef X
    SL_ASSERT(s < SL_CANDIDATE_STATE_COUNT);
    return names[s];
}

const char *sl_discover_cut_name(sl_cut cut) {
    static const char *const names[] = { [SL_CUT_TIME] = "time", [SL_CUT_CANCEL] = "cancel" };
    return cut == SL_CUT_NONE ? "" : names[cut];
}

const char *sl_discover_source_name(sl_source s) {
#define X(id, name) name,
    static const char *const names[] = { SL_SOURCES(X) };
#undef X
    SL_ASSERT(s < SL_SOURCE_COUNT);
    return names[s];
}

sl_status sl_discover_options_check(const sl_discover_options *o) {
    static const sl_bounds rows[] = { SL_DISCOVER_TABLE(SL_BOUNDS_ROW) };
    const double values[] = {
#define X(field, ...) (double)o->field,
        SL_DISCOVER_TABLE(X)
#undef X
    };
    SL_TRY(sl_bounds_check(rows, values, SL_LEN(rows)));
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

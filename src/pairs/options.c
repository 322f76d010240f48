/* options - names of splits and failures, and whether options keep to their table. */
#include <string.h>

#include "pairs/pairs.h"

const char *sl_pairs_split_name(sl_split s) {
#define X(id, name) name,
    static const char *const names[] = { SL_SPLITS(X) };
#undef X
    SL_ASSERT(s < SL_SPLIT_COUNT);
    return names[s];
}

sl_split sl_pairs_split_find(const char *name) {
    sl_split s = SL_SPLIT_TRAIN;
    while (s < SL_SPLIT_COUNT && strcmp(sl_pairs_split_name(s), name) != 0) s++;
    return s;
}

const char *sl_pairs_failure_name(sl_pair_failure f) {
#define X(id, name) name,
    static const char *const names[] = { SL_PAIR_FAILURES(X) };
#undef X
    SL_ASSERT(f < SL_PAIR_FAILURE_COUNT);
    return names[f];
}

sl_status sl_pairs_options_check(const sl_pairs_options *o) {
    static const sl_bounds rows[] = { SL_PAIRS_TABLE(SL_BOUNDS_ROW) };
    const double values[] = {
#define X(field, ...) (double)o->field,
        SL_PAIRS_TABLE(X)
#undef X
    };
    return sl_bounds_check(rows, values, SL_LEN(rows));
}

/* options - names of splits and failures, and whether options keep to their table. */
#include <math.h>
#include <string.h>

#include "pairs/pairs.h"

const char *sl_split_name(sl_split s) {
#define X(id, name) name,
    static const char *const names[] = { SL_SPLITS(X) };
#undef X
    SL_ASSERT(s < SL_SPLIT_COUNT);
    return names[s];
}

sl_split sl_split_find(const char *name) {
    sl_split s = SL_SPLIT_TRAIN;
    while (s < SL_SPLIT_COUNT && strcmp(sl_split_name(s), name) != 0) s++;
    return s;
}

const char *sl_pair_failure_name(sl_pair_failure f) {
#define X(id, name) name,
    static const char *const names[] = { SL_PAIR_FAILURES(X) };
#undef X
    SL_ASSERT(f < SL_PAIR_FAILURE_COUNT);
    return names[f];
}

/* Choices are numbered from 0 by the bars between them. */
static double choices_last(const char *choices) {
    double n = 0;
    for (; *choices; choices++) n += *choices == '|';
    return n;
}

sl_status sl_pairs_options_check(const sl_pairs_options *o) {
    static const struct {
        const char *option, *choices;
        double min, max;
    } rows[] = {
#define X(field, option, kind, value, text, choices, min, max, shown, help) \
    { option, choices, min, max },
        SL_PAIRS_TABLE(X)
#undef X
    };
    const double value[] = {
#define X(field, ...) (double)o->field,
        SL_PAIRS_TABLE(X)
#undef X
    };
    for (int i = 0; i < SL_LEN(rows); i++) {
        double max = rows[i].choices ? choices_last(rows[i].choices) : rows[i].max;
        if (!(value[i] >= rows[i].min && value[i] <= max))
            return sl_fail(SL_EINVAL, "%s is %g, not from %g to %g", rows[i].option, value[i],
                           rows[i].min, max);
    }
    return SL_OK;
}

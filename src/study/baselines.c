/* baselines - sources of formulas other than a trained model, as options of eval.
 *
 * Most replace the model's samples by other samples. The search takes no samples and has no seed,
 * but a problem that it does not solve costs its full effort: so one pass over the first problems
 * of the test set, at the lowest effort. Effort is work, not time: the results are the same on
 * every machine, and the report draws the time until each was found. */
#include <string.h>

#include "study/study_impl.h"

enum { SEARCHED = 200 }; // problems

bool sl_study_is_search(const char *baseline) { return strcmp(baseline, "search") == 0; }

static void add_search(sl_str *s, const sl_json *set) {
    const int64_t limit = set ? sl_io_json_get_int(set, "limit", 0) : 0;
    sl_io_json_add_text(s, "search", "exhaustive");
    sl_io_json_add_text(s, "effort", "low");
    sl_io_json_add_int(s, "seeds", 1);
    sl_io_json_add_int(s, "limit", limit > 0 ? SL_MIN(limit, SEARCHED) : SEARCHED);
}

sl_status sl_study_baseline_options(sl_str *s, const char *name, const char *set) {
    sl_json *given = NULL;
    if (set) SL_TRY(sl_io_json_parse(&given, set, strlen(set)));
    sl_io_json_open(s, NULL, '{');
    if (sl_study_is_search(name)) {
        add_search(s, given);
    } else {
        sl_io_json_add_text(s, "source", name);
        if (given)
            for (sl_json_member m = sl_io_json_first(given); m.name; m = sl_io_json_next(given, m))
                sl_io_json_add_tree(s, m.name, m.value);
    }
    sl_io_json_close(s, '}');
    sl_io_json_free(given);
    return sl_str_status(s);
}

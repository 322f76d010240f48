/* plan_options - options of train and eval in a plan: which of them a plan may set, and how those
 * of the study and of a size become one object. */
#include <string.h>
#include <unistd.h>

#include "study/study_impl.h"

/* Options that the study sets itself, and the members of a plan that replace them. */
typedef struct reserved {
    const char *command, *option, *instead;
} reserved;

static const reserved table[] = {
    { "train", "batch", "sweep.batch lists batch sizes" },
    { "train", "lr", "sweep.lr lists learning rates" },
    { "train", "ratio", "sweep.ratio and scale.ratios give the lengths of runs" },
    { "train", "steps", "sweep.ratio and scale.ratios give the lengths of runs" },
    { "train", "flops", "sweep.ratio and scale.ratios give the lengths of runs" },
    { "train", "weights-seed", "sweep.seeds and scale.seeds list seeds" },
    { "train", "out", "every run has a folder of the study" },
    { "train", "resume", "runs of a study are always resumed" },
    { "eval", "model", "the study evaluates its own models" },
    { "eval", "source", "baselines lists sources that are no model" },
    { "eval", "search", "baselines lists the search" },
    { "eval", "budgets", "results must not depend on the speed of a machine" },
    { "eval", "split", "the name of the set is the split" },
    { "eval", "pairs", "the sets are test, withheld and formulas" },
    { "eval", "predictions", "results are in the run's folder" },
    { "eval", "journal", "the journal is in the run's folder" },
    { "eval", "out", "results are in the run's folder" },
    { "eval", "timeout", "results must not depend on the speed of a machine" },
    { NULL, "json", "results are in the run's folder" },
    { NULL, "quiet", "it is an option of the study's command" },
    { NULL, "threads", "it is an option of the study's command" },
};

static const char *instead_of(const char *command, const char *option) {
    for (int i = 0; i < SL_LEN(table); i++)
        if ((!table[i].command || strcmp(table[i].command, command) == 0) &&
            strcmp(table[i].option, option) == 0)
            return table[i].instead;
    return NULL;
}

static bool among(const char *name, const char *const *names, int n) {
    for (int i = 0; i < n; i++)
        if (strcmp(name, names[i]) == 0) return true;
    return false;
}

/* Checks the option by itself with the caller's check. */
static sl_status check_one(const sl_study__reader *r, const sl_study__place *p, const char *command,
                           sl_json_member m) {
    const char *instead = instead_of(command, m.name);
    if (instead)
        return sl_study__fail(r, p, "a plan does not set this option of %s: %s", command, instead);
    if (!r->check) return SL_OK;
    sl_str one = { 0 };
    sl_io_json_open(&one, NULL, '{');
    sl_io_json_add_tree(&one, m.name, m.value);
    sl_io_json_close(&one, '}');
    sl_status st = sl_str_status(&one);
    if (st == SL_OK) st = r->check(command, one.text, false, r->payload);
    if (st == SL_EINVAL) st = sl_study__fail(r, p, "%s", sl_last_error());
    sl_str_clear(&one);
    return st;
}

sl_status sl_study__options_check(const sl_study__reader *r, const sl_study__place *p,
                                  const sl_json *options, const char *command,
                                  const char *const *but, int n_but) {
    if (!options) return SL_OK;
    SL_TRY(sl_study__kind(r, p, options, SL_JSON_OBJECT));
    for (sl_json_member m = sl_io_json_first(options); m.name; m = sl_io_json_next(options, m))
        if (!among(m.name, but, n_but))
            SL_TRY(check_one(r, &(sl_study__place){ p, m.name, 0 }, command, m));
    return SL_OK;
}

sl_status sl_study__options_merge(const char **out, sl_arena *a, const sl_json *common,
                                  const sl_json *own, const char *const *but, int n_but) {
    sl_str s = { 0 };
    sl_io_json_open(&s, NULL, '{');
    if (common)
        for (sl_json_member m = sl_io_json_first(common); m.name; m = sl_io_json_next(common, m))
            if (!own || !sl_io_json_get(own, m.name)) sl_io_json_add_tree(&s, m.name, m.value);
    if (own)
        for (sl_json_member m = sl_io_json_first(own); m.name; m = sl_io_json_next(own, m))
            if (!among(m.name, but, n_but)) sl_io_json_add_tree(&s, m.name, m.value);
    sl_io_json_close(&s, '}');
    return sl_study__take(out, a, &s);
}

/* ---------------------------------------------------------------- files of formulas --------- */

/* path := the first of the three places at which there is a file. */
static bool find_file(sl_str *path, const char *plan, const char *name) {
    const char *slash = strrchr(plan, '/'), *last = strrchr(name, '/');
    const int dir = slash ? (int)(slash - plan) + 1 : 0;
    last = last ? last + 1 : name;
    for (int i = 0; i < 3; i++) {
        sl_str_truncate(path, 0);
        if (i < 2 && name[0] != '/') sl_str_addf(path, "%.*s", dir, plan);
        sl_str_add(path, i == 0 && name[0] != '/' ? last : name);
        if (!path->failed && access(path->text, R_OK) == 0) return true;
    }
    return false;
}

sl_status sl_study__formulas_find(const char **options, const sl_study__reader *r,
                                  const sl_study__place *p) {
    sl_status st;
    sl_json *j = NULL;
    sl_str path = { 0 }, s = { 0 };
    SL_GO(sl_io_json_parse(&j, *options, strlen(*options)));
    const sl_json *file = sl_io_json_get(j, "formulas");
    const sl_study__place here = { p, "formulas", 0 };
    if (!file || sl_io_json_kind_of(file) != SL_JSON_TEXT) {
        st = sl_study__fail(r, p, "needs \"formulas\": the name of a file of formulas");
        goto done;
    }
    const bool there = find_file(&path, r->path, sl_io_json_text(file));
    SL_GO(sl_str_status(&path));
    if (!there) {
        st = sl_study__fail(r, &here,
                            "there is no file %.200s, neither beside the plan nor below "
                            "the current folder",
                            sl_io_json_text(file));
        goto done;
    }
    sl_io_json_open(&s, NULL, '{');
    for (sl_json_member m = sl_io_json_first(j); m.name; m = sl_io_json_next(j, m))
        if (strcmp(m.name, "formulas") == 0)
            sl_io_json_add_text(&s, m.name, path.text);
        else
            sl_io_json_add_tree(&s, m.name, m.value);
    sl_io_json_close(&s, '}');
    st = sl_study__take(options, r->arena, &s);
done:
    sl_str_clear(&path);
    sl_str_clear(&s);
    sl_io_json_free(j);
    return st;
}

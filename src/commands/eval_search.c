/* eval_search - evaluations of the search: whether a model is needed, defaults of discovery, and
 * the list of times. */
#include <math.h>
#include <string.h>

#include "commands/commands_impl.h"

/* ---------------------------------------------------------------- sources of formulas ------ */

bool sl_commands__eval_exhaustive(const sl_commands__eval_options *o) {
    return o->look.discover.search == SL_DISCOVER_EXHAUSTIVE;
}

bool sl_commands__eval_searches(const sl_commands__eval_options *o) {
    return o->look.discover.search != SL_DISCOVER_MODEL;
}

bool sl_commands__eval_needs_model(const sl_commands_run *run, const sl_commands__eval_options *o) {
    return !sl_commands__eval_exhaustive(o) || *sl_commands__by_caller(run, &o->model);
}

/* A model alone is evaluated as in the paper. With the search, the formula that "symlaw discover"
 * would show first is judged. */
sl_status sl_commands__eval_search_defaults(sl_commands_run *run, sl_commands__eval_options *o) {
    sl_discover_options *d = &o->look.discover;
    if (!sl_commands__eval_searches(o)) return SL_OK;
    for (int i = 0; i < sl_discover_table.n; i++) {
        const sl_option *row = &sl_discover_table.row[i];
        if (*sl_commands__by_caller(run, (const char *)d + row->offset) ||
            row->offset == offsetof(sl_discover_options, search))
            continue;
        sl_option_set(d, row, row->value);
    }
    if (sl_commands__eval_exhaustive(o) && o->source != SL_EVAL_CANDIDATES_MODEL)
        return sl_fail(
            SL_EINVAL,
            "--source %s is about samples, and --search exhaustive takes none; leave out "
            "one of them",
            sl_eval_candidates_name((sl_eval_candidates)o->source));
    return SL_OK;
}

/* ---------------------------------------------------------------- times --------------------- */

/* The default: far apart, from the shortest times on. */
static const double usual_budgets[] = { 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100 };

static sl_status read_list(double *out, int *n, const char *list) {
    for (const char *at = list;; at++) {
        char *end;
        const double seconds = sl_strtod(at, &end);
        if (end == at || !(seconds > 0 && seconds <= 1e6) || (*end && *end != ','))
            return sl_fail(SL_EINVAL,
                           "--budgets must be seconds with commas between, such as 0.1,1,10, not "
                           "\"%.40s\"",
                           list);
        if (*n == SL_EVAL_MAX_BUDGETS)
            return sl_fail(SL_EINVAL, "--budgets has more than %d times", SL_EVAL_MAX_BUDGETS);
        if (*n > 0 && seconds <= out[*n - 1])
            return sl_fail(SL_EINVAL, "--budgets must grow: %g comes after %g", seconds,
                           out[*n - 1]);
        out[(*n)++] = seconds;
        if (!*end) return SL_OK;
        at = end;
    }
}

sl_status sl_commands__eval_budgets(double out[SL_EVAL_MAX_BUDGETS], int *n, sl_commands_run *run,
                                    sl_commands__eval_options *o) {
    *n = 0;
    if (o->budgets && *sl_commands__by_caller(run, &o->look.timeout))
        return sl_fail(SL_EINVAL,
                       "--budgets says how long a problem may take, and --timeout too; leave out "
                       "--timeout");
    if (o->budgets) {
        SL_TRY(read_list(out, n, o->budgets));
        o->look.timeout = out[*n - 1];
    } else if (sl_commands__eval_searches(o)) {
        memcpy(out, usual_budgets, sizeof usual_budgets);
        *n = SL_LEN(usual_budgets);
    }
    return SL_OK;
}

/* ---------------------------------------------------------------- the lattice's grammar ----- */

/* Of the pairs that the problems come from, or the default. */
sl_search_grammar sl_commands__eval_grammar(const sl_commands__problems *p) {
    sl_search_grammar g = SL_SEARCH_GRAMMAR_INIT;
    if (!p->pairs) return g;
    const sl_universe_options *u = sl_universe_config(p->universe);
    g.ops = u->ops;
    g.variables = u->variables;
    g.depth = u->depth;
    g.high = (int)sl_pairs_config(p->pairs)->constant_max;
    g.low = -g.high;
    return g;
}

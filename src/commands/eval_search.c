/* eval_search - evaluations of the search: whether a model is needed, what discovery does where the
 * options do not say, and the list of times. */
#include <math.h>
#include <string.h>

#include "commands/commands.h"

/* ---------------------------------------------------------------- who proposes formulas ----- */

static bool search_is(const sl_commands__run *run, const char *name) {
    const char *text = sl_commands__named(run, "search")->text[0];
    return text && strcmp(text, name) == 0;
}

bool sl_commands__eval_exhaustive(const sl_commands__run *run) {
    return search_is(run, "exhaustive");
}

bool sl_commands__eval_searches(const sl_commands__run *run) {
    return search_is(run, "exhaustive") || search_is(run, "both");
}

bool sl_commands__eval_needs_model(const sl_commands__run *run) {
    return !sl_commands__eval_exhaustive(run) || sl_commands__named(run, "model")->told;
}

/* The paper's way is that of a model alone. Where the search is asked, what is judged is what
 * "symlaw discover" would show. */
sl_status sl_commands__eval_search_defaults(sl_commands__run *run) {
#define ROW(field, option, kind, value, text, ...) { option, text },
    static const struct { const char *name, *text; } usual[] = { SL_DISCOVER_TABLE(ROW) };
#undef ROW
    if (!sl_commands__eval_searches(run)) return SL_OK;
    for (int i = 0; i < SL_LEN(usual); i++) {
        const int at = sl_commands__option_find(run->info, usual[i].name);
        if (at < 0 || run->values[at].told || strcmp(usual[i].name, "search") == 0) continue;
        sl_commands__value *v = &run->values[at];
        switch (run->info->options[at].type) {
        case SYMLAW_OPTION_CHOICE: v->text[0] = usual[i].text; break;
        case SYMLAW_OPTION_INT: v->whole = sl_strtoll(usual[i].text, NULL); break;
        default: v->real = sl_strtod(usual[i].text, NULL);
        }
        v->given = true;
    }
    const sl_commands__value *source = sl_commands__named(run, "source");
    if (sl_commands__eval_exhaustive(run) && strcmp(source->text[0], "model") != 0)
        return sl_fail(
            SL_EINVAL,
            "--source %s is about samples, and --search exhaustive takes none; leave out "
            "one of them",
            source->text[0]);
    return SL_OK;
}

/* ---------------------------------------------------------------- times --------------------- */

/* Where nobody asks for any: wide apart, from the fastest answers on. */
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

sl_status sl_commands__eval_budgets(double out[SL_EVAL_MAX_BUDGETS], int *n,
                                    sl_commands__run *run) {
    const char *list = sl_commands__named(run, "budgets")->text[0];
    const int timeout = sl_commands__option_find(run->info, "timeout");
    *n = 0;
    if (list && run->values[timeout].told)
        return sl_fail(SL_EINVAL,
                       "--budgets says how long a problem may take, and --timeout too; leave out "
                       "--timeout");
    if (list) {
        SL_TRY(read_list(out, n, list));
        run->values[timeout].real = out[*n - 1];
    } else if (sl_commands__eval_searches(run)) {
        memcpy(out, usual_budgets, sizeof usual_budgets);
        *n = SL_LEN(usual_budgets);
    }
    return SL_OK;
}

/* ---------------------------------------------------------------- the lattice's grammar ----- */

/* Of the pairs that the problems come from, or the usual one. */
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

/* discover_notes - what was done and with which data, as lines below the table or as notes. */
#include <math.h>
#include <string.h>

#include "commands/commands.h"

static const char *plural(int64_t n) { return n == 1 ? "" : "s"; }

/* " (2 syntax, 1 no-end)" */
static void add_reasons(sl_str *s, const int64_t *invalid) {
    const char *between = " (";
    for (int i = 0; i < SL_TOKEN_REASON_COUNT; i++) {
        if (i == SL_TOKEN_FINE || invalid[i] == 0) continue;
        sl_str_addf(s, "%s%lld %s", between, (long long)invalid[i],
                    sl_token_reason_name((sl_token_reason)i));
        between = ", ";
    }
    if (strcmp(between, ", ") == 0) sl_str_add_char(s, ')');
}

/* Which steps did not fit, and what they need, in the unit of the option and rounded up. False: all
 * did, or it does not matter. */
static bool memory_line(char *line, size_t size, const sl_discover_searched *d) {
    const sl_search_short *m = &d->memory_short;
    if (d->passes == 0 || d->end != SL_SEARCH_MEMORY) return false;
    sl_snprintf(
        line, size,
        "%d step%s left out or cut short, the first %s, level %d; from --max-memory %.2f on "
        "more of them fit",
        m->steps, m->steps == 1 ? " was" : "s were", m->method, m->level,
        ceil((double)m->needed / 1e7) / 100);
    return true;
}

/* "128 thousand terms and pairs in 12 steps, 40 verified, 35 MB" */
static void add_search(sl_str *s, const sl_commands__finding *f) {
    static const char *const ends[] = { [SL_SEARCH_FOUND] = "",
                                        [SL_SEARCH_DONE] = "; all steps of the effort",
                                        [SL_SEARCH_TIME] = "; cut by the time limit",
                                        [SL_SEARCH_CANCEL] = "; cut on request",
                                        [SL_SEARCH_MEMORY] = "; all steps that fit the memory" };
    const sl_discover_searched *d = &f->found->search;
    char tried[32], digits[32];
    if (d->passes == 0) return;
    sl_str_addf(s, "  %-13s %s terms and pairs in %d step%s, %s looked at in all rows, %.0f MB%s\n",
                "search", sl_group_digits(tried, d->tried), d->steps, plural(d->steps),
                sl_group_digits(digits, d->verified), ceil((double)d->memory / 1e6), ends[d->end]);
    char line[200];
    if (memory_line(line, sizeof line, d)) sl_commands__line(s, "memory", "%s", line);
    if (d->too_large > 0)
        sl_commands__line(s, "too large", "an exact formula of %d nodes; --max-size leaves it out",
                          d->too_large);
    if (d->sigma > 0 && d->within_noise && d->relative)
        sl_commands__line(s, "noise", "%.2g %% of the target", 100 * d->sigma);
    else if (d->sigma > 0 && d->within_noise)
        sl_commands__line(s, "noise", "%.2g rms in the target", d->sigma);
    if (d->passes > 1)
        sl_commands__line(s, "hints", "%d samples of the model, for a second search", d->hints);
}

static void add_samples(sl_str *s, const sl_discover_cost *c) {
    int64_t invalid = 0;
    for (int i = 0; i < SL_TOKEN_REASON_COUNT; i++)
        if (i != SL_TOKEN_FINE) invalid += c->invalid[i];
    sl_str_addf(s, "  %-13s %lld from %lld bag%s of rows: %lld distinct, %lld invalid", "samples",
                (long long)c->samples, (long long)c->bags, plural(c->bags), (long long)c->distinct,
                (long long)invalid);
    add_reasons(s, c->invalid);
    sl_str_addf(s, ", %lld not real in every row\n", (long long)c->unreal);
    sl_commands__line(s, "fitted", "%lld candidate%s, %lld evaluation%s", (long long)c->refined,
                      plural(c->refined), (long long)c->evaluations, plural(c->evaluations));
}

/* Calls `say` with each thing that is worth knowing about the data. */
typedef void (*sayer)(void *to, const char *name, const char *sentence);

static void say_rows(sayer say, void *to, const sl_table *t) {
    char line[300], digits[32], kept[32];
    int n = sl_snprintf(line, sizeof line, "%s", sl_group_digits(kept, t->rows));
    if (t->rows < t->read)
        n += sl_snprintf(line + n, sizeof line - (size_t)n, " of %s",
                         sl_group_digits(digits, t->read));
    const char *between = ": ";
    if (t->missing > 0) {
        n += sl_snprintf(line + n, sizeof line - (size_t)n, "%s%lld with a missing cell dropped",
                         between, (long long)t->missing);
        between = ", ";
    }
    if (t->infinite > 0) {
        n += sl_snprintf(line + n, sizeof line - (size_t)n, "%s%lld with an infinite cell dropped",
                         between, (long long)t->infinite);
        between = ", ";
    }
    if (t->weightless > 0) {
        n += sl_snprintf(line + n, sizeof line - (size_t)n, "%s%lld of weight 0 dropped", between,
                         (long long)t->weightless);
        between = ", ";
    }
    if (t->rows < t->read - t->missing - t->infinite - t->weightless) {
        n += sl_snprintf(line + n, sizeof line - (size_t)n, "%s%san even sample (--max-rows)",
                         between,
                         t->missing + t->infinite + t->weightless > 0 ? "of the others " : "");
        between = ", ";
    }
    if (t->repeated > 0)
        sl_snprintf(line + n, sizeof line - (size_t)n, "%s%lld repeat%s an earlier one", between,
                    (long long)t->repeated, t->repeated == 1 ? "s" : "");
    say(to, "rows", line);
}

static void say_columns(sayer say, void *to, const sl_commands__finding *f) {
    const sl_table *t = f->table;
    char line[300];
    if (t->chosen_from > 0) {
        char share[40] = "";
        if (isfinite(t->explained))
            sl_snprintf(share, sizeof share, ", %.0f %% of the variance", 100 * t->explained);
        sl_snprintf(line, sizeof line,
                    "%d of %d columns of numbers, picked because they explain most%s; --inputs "
                    "names others",
                    t->inputs, t->chosen_from, share);
        say(to, "inputs", line);
    }
    if (t->text_columns > 0) {
        sl_snprintf(line, sizeof line, "%d column%s of text passed over", t->text_columns,
                    plural(t->text_columns));
        say(to, "text", line);
    }
    if (f->constant)
        say(to, "target",
            "constant: it is the same in every row, so any formula but this number "
            "says more than the data");
}

static void say_cut(sayer say, void *to, const sl_commands__finding *f) {
    if (f->found->cut == SL_CUT_TIME)
        say(to, "cut", "by the time limit: the best so far, which other runs may not repeat");
    if (f->found->cut == SL_CUT_CANCEL) say(to, "cut", "on request: the best so far");
}

static void say_line(void *to, const char *name, const char *sentence) {
    sl_commands__line(to, name, "%s", sentence);
}

/* Which inputs the model was shown, where there are more than it takes. */
static sl_status add_shown(sl_str *s, const sl_commands__finding *f) {
    const sl_discovery *d = f->found;
    if (!d->model_asked || d->model_inputs == f->table->inputs) return SL_OK;
    sl_str_addf(s, "  %-13s", "shown to it");
    for (int i = 0; i < d->model_inputs; i++) {
        sl_str_add(s, i > 0 ? ", " : " ");
        SL_TRY(sl_commands__add_variable(s, d->model_input[i] + 1, &f->names));
    }
    sl_str_addf(s, ": the inputs that explain most; it takes %d\n", d->model_inputs);
    return SL_OK;
}

/* The columns as formulas spell them. Of two with the same name the second is x2 or so there. */
static sl_status add_columns(sl_str *s, const sl_commands__finding *f) {
    sl_str_addf(s, "  %-13s ", "columns");
    SL_TRY(sl_commands__add_variable(s, 1, &(sl_names){ &f->target, 1 }));
    sl_str_add(s, " by ");
    for (int i = 0; i < f->names.count; i++) {
        if (i > 0) sl_str_add(s, ", ");
        SL_TRY(sl_commands__add_variable(s, i + 1, &f->names));
        for (int k = 0; k < i; k++)
            if (strcmp(f->names.names[k], f->names.names[i]) == 0) {
                sl_str_addf(s, " (another \"%s\")", f->names.names[i]);
                break;
            }
    }
    sl_str_add_char(s, '\n');
    return SL_OK;
}

static sl_status add_model(sl_str *s, const sl_commands__finding *f) {
    if (!f->model) {
        if (f->model_note) sl_commands__line(s, "model", "%s", f->model_note);
        return SL_OK;
    }
    const sl_infer_info *m = sl_infer_about(f->model);
    add_samples(s, &f->found->cost);
    sl_str_addf(s, "  %-13s %s, step %lld, %.8s\n", "model", m->path, (long long)m->step, m->hash);
    return add_shown(s, f);
}

sl_status sl_commands__finding_work(sl_str *s, const sl_commands__finding *f) {
    sl_str_add_char(s, '\n');
    SL_TRY(add_columns(s, f));
    if (f->units) SL_TRY(sl_commands__add_units(s, f->units, &f->names, f->target));
    say_rows(say_line, s, f->table);
    say_columns(say_line, s, f);
    add_search(s, f);
    SL_TRY(add_model(s, f));
    sl_commands__line(s, "seed", "%llu", (unsigned long long)f->seed);
    say_cut(say_line, s, f);
    return SL_OK;
}

static void say_note(void *to, const char *name, const char *sentence) {
    sl_commands__note(to, "%s: %s", name, sentence);
}

void sl_commands__finding_notes(const sl_commands__listener *l, const sl_commands__finding *f) {
    sl_commands__listener to = *l;
    const sl_table *t = f->table;
    if (t->rows < t->read) say_rows(say_note, &to, t);
    say_columns(say_note, &to, f);
    char line[200];
    if (memory_line(line, sizeof line, &f->found->search)) say_note(&to, "memory", line);
    say_cut(say_note, &to, f);
    if (f->found->ranked == 0)
        sl_commands__note(l, "no formula was found: none of the candidates is real in every row");
}

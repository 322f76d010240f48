/* discovery_notes - what was done and with which data, as lines below the table or as notes. */
#include <math.h>
#include <string.h>

#include "report/discovery_impl.h"

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

/* Steps that did not fit into memory, and the memory they need, in the unit of the option, rounded
 * up. False: all fitted, or it does not matter. */
static bool memory_line(char *line, size_t size, const sl_discover_searched *d) {
    const sl_search_short *m = &d->memory_short;
    if (d->passes == 0 || d->end != SL_SEARCH_MEMORY) return false;
    sl_snprintf(
        line, size,
        "%d step%s skipped or cut short, the first %s, level %d; --max-memory %.2f allows more of "
        "them",
        m->steps, m->steps == 1 ? " was" : "s were", m->method, m->level,
        ceil((double)m->needed / 1e7) / 100);
    return true;
}

/* "128 thousand terms and pairs in 12 steps, 40 verified, 35 MB" */
static void add_search(sl_str *s, const sl_report_discovery *f) {
    static const char *const ends[] = { [SL_SEARCH_FOUND] = "",
                                        [SL_SEARCH_DONE] = "; all steps of this --effort",
                                        [SL_SEARCH_TIME] = "; stopped by the time limit",
                                        [SL_SEARCH_CANCEL] = "; stopped on request",
                                        [SL_SEARCH_MEMORY] = "; all steps that fit the memory" };
    const sl_discover_searched *d = &f->discovery->search;
    char tried[32], digits[32];
    if (d->passes == 0) return;
    sl_str_addf(
        s, "  %-13s %s terms and pairs tried in %d step%s, %s checked on all rows, %.0f MB%s\n",
        "search", sl_group_digits(tried, d->tried), d->steps, plural(d->steps),
        sl_group_digits(digits, d->verified), ceil((double)d->memory / 1e6), ends[d->end]);
    char line[200];
    if (memory_line(line, sizeof line, d)) sl_report_line(s, "memory", "%s", line);
    if (d->too_large > 0)
        sl_report_line(s, "too large", "an exact formula of %d nodes is above --max-size",
                       d->too_large);
    if (d->sigma > 0 && d->within_noise && d->relative)
        sl_report_line(s, "noise", "%.2g %% of the target", 100 * d->sigma);
    else if (d->sigma > 0 && d->within_noise)
        sl_report_line(s, "noise", "%.2g rms in the target", d->sigma);
    if (d->passes > 1)
        sl_report_line(s, "hints", "%d samples of the model guided a second search", d->hints);
}

static void add_samples(sl_str *s, const sl_discover_cost *c) {
    int64_t invalid = 0;
    for (int i = 0; i < SL_TOKEN_REASON_COUNT; i++)
        if (i != SL_TOKEN_FINE) invalid += c->invalid[i];
    sl_str_addf(s, "  %-13s %lld from %lld row subset%s: %lld distinct, %lld invalid", "samples",
                (long long)c->samples, (long long)c->bags, plural(c->bags), (long long)c->distinct,
                (long long)invalid);
    add_reasons(s, c->invalid);
    sl_str_addf(s, ", %lld undefined on some rows\n", (long long)c->unreal);
    sl_report_line(s, "fitted", "%lld candidate%s, %lld evaluation%s", (long long)c->refined,
                   plural(c->refined), (long long)c->evaluations, plural(c->evaluations));
}

static void say_rows(sl_report_message say, void *to, const sl_table *t) {
    char line[300], digits[32], kept[32];
    int n = sl_snprintf(line, sizeof line, "%s", sl_group_digits(kept, t->data.rows));
    if (t->data.rows < t->read)
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
    if (t->data.rows < t->read - t->missing - t->infinite - t->weightless) {
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

/* Inputs that were left out, as a line before the formula. False: none was. */
static bool inputs_line(char *line, size_t size, const sl_table *t) {
    char share[40] = "";
    if (t->chosen_from == 0) return false;
    if (isfinite(t->explained))
        sl_snprintf(share, sizeof share, ", %.0f %% of the variance", 100 * t->explained);
    sl_snprintf(line, size,
                "%d of %d numeric columns, those that explain most%s; --inputs selects others",
                t->data.inputs, t->chosen_from, share);
    return true;
}

static void say_columns(sl_report_message say, void *to, const sl_report_discovery *f) {
    const sl_table *t = f->table;
    char line[300];
    if (t->text_columns > 0) {
        sl_snprintf(line, sizeof line, "%d text column%s ignored", t->text_columns,
                    plural(t->text_columns));
        say(to, "text", line);
    }
    for (int i = 0; i < t->n_notes; i++) say(to, "read", t->notes[i]);
    if (f->constant)
        say(to, "target",
            "constant: the same value in every row, which supports no formula but this number");
}

static void say_cut(sl_report_message say, void *to, const sl_report_discovery *f) {
    if (f->discovery->cut == SL_CUT_TIME)
        say(to, "stopped", "by the time limit: the best so far, which another run may not repeat");
    if (f->discovery->cut == SL_CUT_CANCEL) say(to, "stopped", "on request: the best so far");
}

static void say_line(void *to, const char *name, const char *sentence) {
    sl_report_line(to, name, "%s", sentence);
}

/* The inputs that the model reads, if there are more than it accepts. */
static sl_status add_shown(sl_str *s, const sl_report_discovery *f) {
    const sl_discovery *d = f->discovery;
    if (!d->model_used || d->model_inputs == f->table->data.inputs) return SL_OK;
    sl_str_add(s, "model inputs:");
    for (int i = 0; i < d->model_inputs; i++) {
        sl_str_add(s, i > 0 ? ", " : " ");
        SL_TRY(sl_report__add_variable(s, d->model_input[i] + 1, &f->names));
    }
    sl_str_addf(s, ": those that explain most; the model takes %d\n", d->model_inputs);
    return SL_OK;
}

/* The columns as formulas spell them. Of two with the same name the second is x2 or so there. */
static sl_status add_columns(sl_str *s, const sl_report_discovery *f) {
    sl_str_addf(s, "  %-13s ", "columns");
    SL_TRY(sl_report__add_variable(s, 1, &(sl_names){ &f->target, 1 }));
    sl_str_add(s, " by ");
    for (int i = 0; i < f->names.count; i++) {
        if (i > 0) sl_str_add(s, ", ");
        SL_TRY(sl_report__add_variable(s, i + 1, &f->names));
        for (int k = 0; k < i; k++)
            if (strcmp(f->names.names[k], f->names.names[i]) == 0) {
                sl_str_addf(s, " (another \"%s\")", f->names.names[i]);
                break;
            }
    }
    sl_str_add_char(s, '\n');
    return SL_OK;
}

static sl_status add_model(sl_str *s, const sl_report_discovery *f) {
    if (!f->model) {
        if (f->model_note) sl_report_line(s, "model", "%s", f->model_note);
        return SL_OK;
    }
    const sl_infer_info *m = sl_infer_about(f->model);
    add_samples(s, &f->discovery->cost);
    sl_str_addf(s, "  %-13s %s, step %lld, %.8s\n", "model", m->path, (long long)m->step, m->hash);
    return SL_OK;
}

/* Columns that were not used change what the formula means, so they come first. */
sl_status sl_report__discovery_before(sl_str *s, const sl_report_discovery *f) {
    char line[300];
    const size_t before = s->len;
    if (inputs_line(line, sizeof line, f->table)) sl_str_addf(s, "inputs: %s\n", line);
    if (f->model) SL_TRY(add_shown(s, f));
    if (s->len > before) sl_str_add_char(s, '\n');
    return SL_OK;
}

sl_status sl_report__discovery_work(sl_str *s, const sl_report_discovery *f) {
    sl_str_add_char(s, '\n');
    SL_TRY(add_columns(s, f));
    if (f->units) SL_TRY(sl_report__add_units(s, f->units, &f->names, f->target));
    say_rows(say_line, s, f->table);
    say_columns(say_line, s, f);
    add_search(s, f);
    SL_TRY(add_model(s, f));
    sl_report_line(s, "seed", "%llu", (unsigned long long)f->seed);
    say_cut(say_line, s, f);
    return SL_OK;
}

void sl_report_discovery_notes(const sl_report_discovery *f, sl_report_message message,
                               void *payload) {
    const sl_table *t = f->table;
    char line[300];
    if (inputs_line(line, sizeof line, t)) message(payload, "inputs", line);
    if (t->data.rows < t->read) say_rows(message, payload, t);
    say_columns(message, payload, f);
    if (memory_line(line, sizeof line, &f->discovery->search)) message(payload, "memory", line);
    say_cut(message, payload, f);
    if (f->discovery->ranked == 0)
        message(payload, "no formula found", "every candidate is undefined on some rows");
}

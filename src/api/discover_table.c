/* discover_table - what was found, for people: rounded to what the data can tell. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/api_impl.h"

/* ---------------------------------------------------------------- numbers ------------------- */

/* A fit of 0.9999999 and one of 0.99999 differ by a factor of a hundred in what they leave. */
static const char *r2_text(char out[24], double r2) {
    if (isnan(r2))
        sl_snprintf(out, 24, "-");
    else if (r2 == 1)
        sl_snprintf(out, 24, "1");
    else if (r2 > 0.9999)
        sl_snprintf(out, 24, "1 - %.1e", 1 - r2);
    else if (r2 > -1000)
        sl_snprintf(out, 24, "%.6f", fabs(r2) < 5e-7 ? 0 : r2); // not -0.000000
    else
        sl_snprintf(out, 24, "%.3g", r2);
    return out;
}

enum { FEW = 6, MANY = 15 }; // digits of a constant without an error, and beside one

/* What the table is made from, besides the finding itself. */
typedef struct page {
    const sl_api__finding *f;
    sl_rounding rounding; // rows to try rounded formulas on
    sl_arena arena;
} page;

/* order[0..n) := the constants as the formula shows them, from the left; answers n. Printed as
 * symbols they are c1, c2, ... and nothing else is a c with a digit behind it. */
static sl_status order_constants(int *n, int *order, const sl_candidate *c) {
    sl_str s = { 0 };
    sl_status st = sl_expr_print(&s, SL_FORMAT_INFIX, c->expr, NULL);
    const char *text = sl_str_text(&s);
    *n = 0;
    for (const char *at = text; st == SL_OK && *at && *n < c->params; at++) {
        if (at[0] != 'c' || at[1] < '0' || at[1] > '9') continue;
        const int k = (int)sl_strtoll(at + 1, NULL) - 1;
        bool known = k < 0 || k >= c->params;
        for (int i = 0; i < *n; i++) known = known || order[i] == k;
        if (!known) order[(*n)++] = k;
    }
    sl_str_clear(&s);
    return st;
}

static sl_status add_constants(sl_str *s, page *p, const sl_candidate *c) {
    const size_t mark = sl_arena_mark(&p->arena);
    int *order = sl_arena_alloc(&p->arena, (size_t)c->params * sizeof *order), n;
    if (!order) return sl_fail(SL_ENOMEM, "no memory for %d constants", c->params);
    SL_TRY(order_constants(&n, order, c));
    for (int i = 0; i < n; i++) {
        const double value = c->value[order[i]], error = c->error[order[i]];
        if (i > 0) sl_str_add(s, ", ");
        if (isfinite(error))
            sl_str_addf(s, "%.*g +- %.2g", sl_candidate_digits(c, order[i], MANY), value, error);
        else
            sl_str_addf(s, "%.*g", FEW, value);
    }
    sl_arena_rewind(&p->arena, mark);
    return SL_OK;
}

/* The formula with rounded constants. */
static sl_status add_formula(sl_str *s, page *p, const sl_candidate *c) {
    const size_t mark = sl_arena_mark(&p->arena);
    sl_candidate shown;
    SL_TRY(sl_candidate_round(&shown, &p->arena, c, &p->rounding));
    SL_TRY(sl_candidate_print(s, &shown, SL_FORMAT_INFIX, &p->f->names));
    sl_arena_rewind(&p->arena, mark);
    return SL_OK;
}

/* Variable v as formulas spell it: in backticks where its name is no word. */
static sl_status add_variable(sl_str *s, int v, const sl_names *names) {
    sl_arena a = { 0 };
    const sl_node *x = sl_expr_var(&a, v);
    sl_status st = x ? sl_expr_print(s, SL_FORMAT_INFIX, x, names)
                     : sl_fail(SL_ENOMEM, "no memory for a column's name");
    sl_arena_clear(&a);
    return st;
}

static sl_status add_target(sl_str *s, const sl_api__finding *f) {
    return add_variable(s, 1, &(sl_names){ &f->target, 1 });
}

static const char *plural(int64_t n) { return n == 1 ? "" : "s"; }

/* ---------------------------------------------------------------- the best one -------------- */

static void add_origin(sl_str *s, const sl_api__finding *f, const sl_candidate *c) {
    static const char *const texts[] = {
#define X(id, name, text) text,
        SL_CANDIDATE_STATES(X)
#undef X
    };
    char line[200];
    sl_snprintf(line, sizeof line, "%s: %s", sl_candidate_state_name(c->state), texts[c->state]);
    sl_api__line(s, "status", "%s", line);
    if (c->source == SL_SOURCE_MODEL)
        sl_api__line(s, "proposed by", "the model, in %lld of %lld samples", (long long)c->times,
                     (long long)f->found->cost.samples);
    else
        sl_api__line(s, "proposed by", "the baselines, which need no model");
}

/* What explains the data best for its size, if that is not the best one. */
static sl_status add_advised(sl_str *s, page *p) {
    const sl_discovery *d = p->f->found;
    char r2[24];
    if (d->advised <= 0) return SL_OK;
    const sl_candidate *c = &d->candidate[d->advised];
    sl_str_addf(s, "  %-13s ", "advised");
    SL_TRY(add_formula(s, p, c));
    sl_str_addf(s, "   R2 %s, %d node%s: better for its size (BIC)\n", r2_text(r2, c->r2), c->size,
                plural(c->size));
    return SL_OK;
}

static sl_status add_best(sl_str *s, page *p) {
    const sl_api__finding *f = p->f;
    const sl_candidate *c = &f->found->candidate[0];
    char text[24];
    SL_TRY(add_target(s, f));
    sl_str_add(s, " = ");
    SL_TRY(add_formula(s, p, c));
    sl_str_add(s, "\n\n");
    sl_api__line(s, "R2", "%s", r2_text(text, c->r2));
    if (f->found->rows_held > 0)
        sl_api__line(s, "held-out R2", "%s, on %lld rows", r2_text(text, c->r2_holdout),
                     (long long)f->found->rows_held);
    if (c->params > 0) {
        sl_str_addf(s, "  %-13s ", "constants");
        SL_TRY(add_constants(s, p, c));
        sl_str_add_char(s, '\n');
    }
    sl_api__line(s, "size", "%d node%s", c->size, plural(c->size));
    add_origin(s, f, c);
    SL_TRY(add_advised(s, p));
    sl_api__line(s, "time", "%.2f s: reading %.2f, model %.2f, scoring %.2f, fitting %.2f",
                 f->read_seconds + f->found->seconds, f->read_seconds,
                 f->found->cost.infer.encode + f->found->cost.infer.decode, f->found->cost.score,
                 f->found->cost.refine);
    return SL_OK;
}

/* ---------------------------------------------------------------- the others ---------------- */

static sl_status add_row(sl_str *s, page *p, int64_t i) {
    const sl_api__finding *f = p->f;
    const sl_candidate *c = &f->found->candidate[i];
    char r2[24];
    sl_str_addf(s, "  %5lld  %-11s  ", (long long)i + 1, r2_text(r2, c->r2));
    if (f->found->rows_held > 0) sl_str_addf(s, "%-11s  ", r2_text(r2, c->r2_holdout));
    sl_str_addf(s, "%4d  %-9s  %6.2f  ", c->size, sl_candidate_state_name(c->state), c->seconds);
    if (sl_api__can_print(c))
        SL_TRY(add_formula(s, p, c));
    else
        sl_str_addf(s, "(%s)",
                    c->expr ? "a constant beyond doubles" : sl_token_reason_text(c->reason));
    sl_str_add_char(s, '\n');
    return SL_OK;
}

static void add_heading(sl_str *s, const page *p) {
    sl_str_add(s, "\n   rank  R2           ");
    if (p->f->found->rows_held > 0) sl_str_add(s, "held-out R2  ");
    sl_str_add(s, "size  status          s  formula\n");
}

static sl_status add_rows(sl_str *s, page *p, int64_t from) {
    const sl_api__finding *f = p->f;
    const int64_t to = SL_MIN(f->top, f->found->count);
    if (from >= to) return SL_OK;
    add_heading(s, p);
    for (int64_t i = from; i < to; i++) SL_TRY(add_row(s, p, i));
    return SL_OK;
}

/* The best formula of each smaller size, from where the table above ends: R2 always prefers what
 * has more constants, people often do not. */
static sl_status add_simpler(sl_str *s, page *p) {
    const sl_api__finding *f = p->f;
    int64_t shown = 0;
    for (int64_t i = f->top; i < f->found->ranked && shown < f->top; i++) {
        const sl_candidate *c = &f->found->candidate[i];
        if (!c->front || !sl_api__can_print(c) || c->r2 <= 0) continue;
        if (shown == 0 && f->top <= 1) add_heading(s, p); // no rows above that have one
        if (shown++ == 0) sl_str_add(s, "  simpler ones, each the best of its size:\n");
        SL_TRY(add_row(s, p, i));
    }
    return SL_OK;
}

/* ---------------------------------------------------------------- what was done ------------- */

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

static void add_samples(sl_str *s, const sl_discover_cost *c) {
    int64_t invalid = 0;
    for (int i = 0; i < SL_TOKEN_REASON_COUNT; i++)
        if (i != SL_TOKEN_FINE) invalid += c->invalid[i];
    sl_str_addf(s, "  %-13s %lld from %lld bag%s of rows: %lld distinct, %lld invalid", "samples",
                (long long)c->samples, (long long)c->bags, plural(c->bags), (long long)c->distinct,
                (long long)invalid);
    add_reasons(s, c->invalid);
    sl_str_addf(s, ", %lld not real in every row\n", (long long)c->unreal);
    sl_api__line(s, "fitted", "%lld candidate%s, %lld evaluation%s", (long long)c->refined,
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
    if (t->rows < t->read - t->missing - t->infinite) {
        n += sl_snprintf(line + n, sizeof line - (size_t)n, "%s%san even sample (--max-rows)",
                         between, t->missing + t->infinite > 0 ? "of the others " : "");
        between = ", ";
    }
    if (t->repeated > 0)
        sl_snprintf(line + n, sizeof line - (size_t)n, "%s%lld repeat%s an earlier one", between,
                    (long long)t->repeated, t->repeated == 1 ? "s" : "");
    say(to, "rows", line);
}

static void say_columns(sayer say, void *to, const sl_api__finding *f) {
    const sl_table *t = f->table;
    char line[300];
    if (t->chosen_from > 0) {
        sl_snprintf(line, sizeof line,
                    "%d of %d columns of numbers, picked because they "
                    "explain most, %.0f %% of the variance; --inputs names others",
                    t->inputs, t->chosen_from, 100 * t->explained);
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

static void say_cut(sayer say, void *to, const sl_api__finding *f) {
    if (f->found->cut == SL_CUT_TIME)
        say(to, "cut", "by the time limit: the best so far, which other runs may not repeat");
    if (f->found->cut == SL_CUT_CANCEL) say(to, "cut", "on request: the best so far");
}

static void say_line(void *to, const char *name, const char *sentence) {
    sl_api__line(to, name, "%s", sentence);
}

/* The columns as formulas spell them. Of two with the same name the second is x2 or so there. */
static sl_status add_columns(sl_str *s, const sl_api__finding *f) {
    sl_str_addf(s, "  %-13s ", "columns");
    SL_TRY(add_target(s, f));
    sl_str_add(s, " by ");
    for (int i = 0; i < f->names.count; i++) {
        if (i > 0) sl_str_add(s, ", ");
        SL_TRY(add_variable(s, i + 1, &f->names));
        for (int k = 0; k < i; k++)
            if (strcmp(f->names.names[k], f->names.names[i]) == 0) {
                sl_str_addf(s, " (another \"%s\")", f->names.names[i]);
                break;
            }
    }
    sl_str_add_char(s, '\n');
    return SL_OK;
}

static sl_status add_work(sl_str *s, const sl_api__finding *f) {
    const sl_infer_info *m = sl_infer_about(f->model);
    sl_str_add_char(s, '\n');
    SL_TRY(add_columns(s, f));
    say_rows(say_line, s, f->table);
    say_columns(say_line, s, f);
    add_samples(s, &f->found->cost);
    sl_str_addf(s, "  %-13s %s, step %lld, %.8s\n", "model", m->path, (long long)m->step, m->hash);
    sl_api__line(s, "seed", "%llu", (unsigned long long)f->seed);
    say_cut(say_line, s, f);
    return SL_OK;
}

/* ---------------------------------------------------------------- all of it ----------------- */

static sl_status add_all(sl_str *s, page *p) {
    const bool some = p->f->found->ranked > 0;
    const sl_problem all = sl_table_problem(p->f->table);
    SL_TRY(sl_rounding_make(&p->rounding, &p->arena, &all, p->f->found));
    if (some)
        SL_TRY(add_best(s, p));
    else
        sl_str_add(s, "no formula was found: none of the candidates is real in every row\n");
    SL_TRY(add_rows(s, p, some ? 1 : 0));
    SL_TRY(add_simpler(s, p));
    return add_work(s, p->f);
}

sl_status sl_api__finding_table(sl_str *s, const sl_api__finding *f) {
    if (!f->found) return SL_OK; // a note says why
    page p = { .f = f };
    sl_status st = add_all(s, &p);
    sl_arena_clear(&p.arena);
    return st;
}

static void say_note(void *to, const char *name, const char *sentence) {
    sl_api__note(to, "%s: %s", name, sentence);
}

void sl_api__finding_notes(const sl_api__listener *l, const sl_api__finding *f) {
    sl_api__listener to = *l;
    const sl_table *t = f->table;
    if (t->rows < t->read) say_rows(say_note, &to, t);
    say_columns(say_note, &to, f);
    say_cut(say_note, &to, f);
    if (f->found->ranked == 0)
        sl_api__note(l, "no formula was found: none of the candidates is real in every row");
}

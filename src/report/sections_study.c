/* sections_study - the parts of the page about the runs: training, problems, cost, machines, the
 * table of all runs, how to reproduce them. */
#include <math.h>
#include <string.h>

#include "report/report_impl.h"

enum { MANY = 40 }; // runs; the table of more has a scroll bar of its own

/* ---------------------------------------------------------------- training ------------------ */

static bool is_training(const sl_report__view *v) { return sl_report__fig_curves.is(v); }

static sl_status add_training(sl_str *s, sl_report__view *v) {
    return sl_report__add_figure(s, v, &sl_report__fig_curves);
}

/* ---------------------------------------------------------------- baselines ----------------- */

static bool is_baselines(const sl_report__view *v) { return v->in->n_baselines > 0; }

/* Share solved by the search within each time. */
static void add_efforts(sl_str *s, const sl_report_baseline *b) {
    if (b->n_efforts == 0) return;
    sl_str_add(s, "<p>");
    sl_plot_escape(s, b->name);
    sl_str_add(s,
               " by what is spent on one problem. The FLOPs-equivalent is CPU-seconds times the "
               "rate at which one thread of this machine multiplies matrices, measured with this "
               "report. Wrong: said to hold exactly, and false at fresh points.</p>\n");
    SL_REPORT__TABLE(s, "sort", "#CPU-seconds a problem", "#FLOPs-equivalent", "#solved", "#wrong");
    for (int i = 0; i < b->n_efforts; i++) {
        SL_REPORT__ROW(s, NULL, SL_CELL_BLANK(b->efforts[i].seconds),
                       SL_CELL_BLANK(b->efforts[i].flops), SL_CELL_PERCENT(b->efforts[i].solved),
                       SL_CELL_BLANK(b->efforts[i].wrong));
    }
    sl_report__table_close(s);
}

static sl_status add_baselines(sl_str *s, sl_report__view *v) {
    sl_str_add(s, "<p>What the same test problems yield without a trained model.</p>\n");
    SL_REPORT__TABLE(s, "sort", "baseline", "#solved", "#R² > 0.99", "how");
    for (int i = 0; i < v->in->n_baselines; i++) {
        const sl_report_baseline *b = &v->in->baselines[i];
        SL_REPORT__ROW(s, NULL, SL_CELL_TEXT(b->name), SL_CELL_PERCENT(b->solved),
                       SL_CELL_PERCENT(b->r2), SL_CELL_WORDS(b->note));
    }
    sl_report__table_close(s);
    for (int i = 0; i < v->in->n_baselines; i++) add_efforts(s, &v->in->baselines[i]);
    return SL_OK;
}

/* ---------------------------------------------------------------- other problems ------------ */

static bool is_others(const sl_report__view *v) { return sl_report__fig_others.is(v); }

static sl_status add_others(sl_str *s, sl_report__view *v) {
    return sl_report__add_figure(s, v, &sl_report__fig_others);
}

/* ---------------------------------------------------------------- problems ------------------ */

static bool is_problems(const sl_report__view *v) { return v->in->n_problems > 0; }

static void add_formula(sl_str *s, const char *name, const char *mathml, const char *text) {
    if (!mathml && !text) return;
    sl_str_addf(s, "<dt>%s</dt><dd>", name);
    if (mathml)
        sl_str_add(s, mathml);
    else
        sl_plot_escape(s, text);
    sl_str_add(s, "</dd>\n");
}

static void add_data(sl_str *s, const sl_report_problem *p) {
    enum { INPUTS = 16 };
    static const char *const x[INPUTS] = { "#x1",  "#x2",  "#x3",  "#x4",  "#x5",  "#x6",
                                           "#x7",  "#x8",  "#x9",  "#x10", "#x11", "#x12",
                                           "#x13", "#x14", "#x15", "#x16" };
    const char *names[INPUTS + 2];
    const int inputs = SL_MIN(p->data.inputs, INPUTS);
    for (int k = 0; k < inputs; k++) names[k] = x[k];
    names[inputs] = "#y";
    names[inputs + 1] = "#found";
    sl_str_add(s, "<details><summary>Data</summary>\n");
    sl_report__table_open(s, "", names, inputs + 1 + (p->predicted != NULL));
    for (int64_t i = 0; i < p->data.rows; i++) {
        sl_report__cell cell[INPUTS + 2];
        for (int k = 0; k < inputs; k++) cell[k] = SL_CELL_NUMBER(p->data.x[k][i], 4);
        cell[inputs] = SL_CELL_NUMBER(p->data.y[i], 4);
        if (p->predicted) cell[inputs + 1] = SL_CELL_NUMBER(p->predicted[i], 4);
        sl_report__row(s, NULL, cell, inputs + 1 + (p->predicted != NULL));
    }
    sl_report__table_close(s);
    sl_str_add(s, "</details>\n");
}

static sl_status add_problem(sl_str *s, const sl_report_problem *p) {
    sl_plot *plot = NULL;
    sl_status st;
    sl_str_add(s, "<div class=\"problem\">\n<dl>\n");
    add_formula(s, "true", p->truth_mathml, p->truth);
    add_formula(s, "found", p->found_mathml, p->found);
    sl_str_add(s, "<dt>R²</dt><dd>");
    sl_plot_number(s, p->r2, 4);
    sl_str_add(s, "</dd>\n</dl>\n<figure>\n");
    SL_GO(sl_report__draw_problem(&plot, p));
    sl_plot_describe(plot,
                     p->data.inputs == 1 || !p->predicted
                         ? "Data of the problem, y against x1"
                         : "Data of the problem, y against what was "
                           "found",
                     NULL);
    st = sl_plot_svg(s, plot);
    add_data(s, p);
    sl_str_add(s, "</figure>\n</div>\n");
done:
    sl_plot_free(plot);
    return st;
}

static sl_status add_problems(sl_str *s, sl_report__view *v) {
    sl_str_add(s, "<p>Test problems and what the model with the lowest validation loss found for "
                  "them. In the figures each mark is a data point; on the line what was found "
                  "agrees with it.</p>\n");
    for (int solved = 1; solved >= 0; solved--) {
        bool any = false;
        for (int i = 0; i < v->in->n_problems; i++) {
            const sl_report_problem *p = &v->in->problems[i];
            if (p->solved != (solved == 1)) continue;
            if (!any) sl_str_addf(s, "<h3>%s</h3>\n", solved ? "Solved" : "Missed");
            any = true;
            SL_TRY(add_problem(s, p));
        }
    }
    return SL_OK;
}

/* ---------------------------------------------------------------- cost ---------------------- */

static bool is_cost(const sl_report__view *v) { return v->in->n_costs > 0; }

/* rate: of one phase; that of all would mix what computes with what does not. */
static void cost_row(sl_str *s, const sl_report_cost *c, bool rate) {
    SL_REPORT__ROW(
        s, NULL, SL_CELL_TEXT(c->phase), SL_CELL_NUMBER((double)c->runs, 6),
        SL_CELL_TIME(c->seconds), SL_CELL_TIME(c->cpu_seconds), SL_CELL_NUMBER(c->flops, 3),
        SL_CELL_NUMBER(rate && c->executed > 0 ? c->executed / c->seconds / 1e9 : NAN, 3),
        SL_CELL_NUMBER(c->share, 2));
}

static sl_status add_cost(sl_str *s, sl_report__view *v) {
    sl_report_cost sum = { .phase = "all", .share = NAN };
    SL_REPORT__TABLE(s, "", "phase", "#runs", "#time of runs", "#CPU time", "#FLOPs", "#GFLOP/s",
                     "#share of sgemm");
    for (int i = 0; i < v->in->n_costs; i++) {
        const sl_report_cost *c = &v->in->costs[i];
        cost_row(s, c, true);
        sum.runs += c->runs;
        sum.seconds += isfinite(c->seconds) ? c->seconds : 0;
        sum.cpu_seconds += isfinite(c->cpu_seconds) ? c->cpu_seconds : 0;
        sum.flops += isfinite(c->flops) ? c->flops : 0;
    }
    if (v->in->n_costs > 1) cost_row(s, &sum, false);
    sl_report__table_close(s);
    sl_str_add(s,
               "<p class=\"note\">Times are summed over runs: runs side by side count each. FLOPs "
               "are as the laws count them, the paper's way. GFLOP/s are of the operations that "
               "were carried out, which are fewer; the share is of what as many threads of the "
               "machine that made this page reach in large single-precision matrix "
               "products.</p>\n");
    return SL_OK;
}

/* ---------------------------------------------------------------- machines ------------------ */

static bool is_origins(const sl_report__view *v) { return v->in->n_origins > 0; }

static bool same(const char *a, const char *b) { return strcmp(a ? a : "", b ? b : "") == 0; }

static bool same_origin(const sl_report_origin *a, const sl_report_origin *b) {
    return same(a->libraries, b->libraries) && same(a->cpu, b->cpu) && same(a->isa, b->isa) &&
           same(a->version, b->version);
}

static sl_status add_origins(sl_str *s, sl_report__view *v) {
    const sl_report_origin *o = v->in->origins;
    const int n = v->in->n_origins;
    bool mixed = false;
    for (int i = 1; i < n; i++) mixed = mixed || !same_origin(o, o + i);
    if (mixed)
        sl_str_add(
            s, "<p class=\"note bad\"><span class=\"red\">These runs are mixed:</span> they "
               "come from different CPUs, instruction sets, libraries or versions of the program. "
               "Results of the same run may differ in rounding between them.</p>\n");
    SL_REPORT__TABLE(s, "wide", "CPU", "instruction set", "libraries", "version", "#runs", "which");
    for (int i = 0; i < n; i++) {
        int first = 0, runs = 0;
        while (!same_origin(o + first, o + i)) first++;
        if (first < i) continue; // has its row
        for (int k = i; k < n; k++) runs += same_origin(o + i, o + k);
        const bool most = 2 * runs > n;
        sl_str which = { 0 };
        if (most) sl_str_add(&which, "all others");
        for (int k = i; !most && k < n; k++) {
            if (!same_origin(o + i, o + k)) continue;
            sl_str_addf(&which, "%s%s", which.len ? ", " : "", o[k].run ? o[k].run : "");
        }
        SL_REPORT__ROW(s, NULL, SL_CELL_TEXT(o[i].cpu), SL_CELL_TEXT(o[i].isa),
                       SL_CELL_WORDS(o[i].libraries), SL_CELL_TEXT(o[i].version),
                       SL_CELL_NUMBER(runs, 6),
                       runs == n ? SL_CELL_TEXT("all") : SL_CELL_WORDS(sl_str_text(&which)));
        s->failed = s->failed || which.failed;
        sl_str_clear(&which);
    }
    sl_report__table_close(s);
    return SL_OK;
}

/* ---------------------------------------------------------------- failures ------------------ */

static bool is_failures(const sl_report__view *v) { return v->in->n_failures > 0; }

static sl_status add_failures(sl_str *s, sl_report__view *v) {
    sl_str_add(
        s, "<p>Runs without a result take no part in any law. Of one that is not evaluated, the "
           "loss does.</p>\n");
    SL_REPORT__TABLE(s, "", "run", "state", "#tries", "error");
    for (int i = 0; i < v->in->n_failures; i++) {
        const sl_report_failure *f = &v->in->failures[i];
        SL_REPORT__ROW(s, NULL, SL_CELL_TEXT(f->run), SL_CELL_TEXT(f->state),
                       SL_CELL_NUMBER(f->tries, 4), SL_CELL_WORDS(f->error));
    }
    sl_report__table_close(s);
    return SL_OK;
}

/* ---------------------------------------------------------------- runs ---------------------- */

/* Columns of the table of runs: which column of laws', its heading, digits (0: one decimal), scale.
 * With `even` all have the decimals of the largest. */
static const struct {
    sl_laws_column column;
    const char *name;
    int digits;
    double scale;
    bool even;
} number_column[] = {
    { SL_LAWS_COLUMN_params, "#N", 6, 1, false },
    { SL_LAWS_COLUMN_tokens, "#D", 3, 1, false },
    { SL_LAWS_COLUMN_flops, "#FLOPs", 3, 1, false },
    { SL_LAWS_COLUMN_batch, "#batch", 6, 1, false },
    { SL_LAWS_COLUMN_rate, "#rate", 3, 1, false },
    { SL_LAWS_COLUMN_seed, "#seed", 6, 1, false },
    { SL_LAWS_COLUMN_loss, "#loss", 4, 1, true },
    { SL_LAWS_COLUMN_loss_test, "#test loss", 4, 1, true },
    { SL_LAWS_COLUMN_solved, "#solved (%)", 0, 100, false },
    { SL_LAWS_COLUMN_r2, "#R² (%)", 0, 100, false },
};

static double number_of(const sl_laws_run *r, sl_laws_column c) {
    switch (c) {
    case SL_LAWS_COLUMN_params: return r->params;
    case SL_LAWS_COLUMN_tokens: return r->tokens;
    case SL_LAWS_COLUMN_flops: return r->flops;
    case SL_LAWS_COLUMN_batch: return r->batch;
    case SL_LAWS_COLUMN_rate: return r->rate;
    case SL_LAWS_COLUMN_seed: return r->seed;
    case SL_LAWS_COLUMN_loss: return r->loss;
    case SL_LAWS_COLUMN_loss_test: return r->loss_test;
    case SL_LAWS_COLUMN_solved: return r->solved;
    case SL_LAWS_COLUMN_r2: return r->r2;
    default: return NAN;
    }
}

static const char *text_of(const sl_laws_run *r, sl_laws_column c) {
    return c == SL_LAWS_COLUMN_id      ? r->id
           : c == SL_LAWS_COLUMN_size  ? r->size
           : c == SL_LAWS_COLUMN_phase ? r->phase
                                       : r->status;
}

static const struct {
    sl_laws_column column;
    const char *name;
} text_column[] = { { SL_LAWS_COLUMN_id, "run" },
                    { SL_LAWS_COLUMN_size, "size" },
                    { SL_LAWS_COLUMN_phase, "phase" },
                    { SL_LAWS_COLUMN_status, "status" } };

/* Does any run have a text here? "done" does not count. */
static bool has_text(const sl_laws_table *t, sl_laws_column c) {
    for (int i = 0; i < t->n; i++)
        if (text_of(&t->run[i], c)[0] &&
            !(c == SL_LAWS_COLUMN_status && sl_laws_finished(&t->run[i])))
            return true;
    return false;
}

static bool has_number(const sl_laws_table *t, sl_laws_column c) {
    for (int i = 0; i < t->n; i++)
        if (isfinite(number_of(&t->run[i], c))) return true;
    return false;
}

/* Decimals that give the largest number of a column so many digits; -1 if they would be too many or
 * none. */
static int decimals_of(const sl_laws_table *t, sl_laws_column c, int digits) {
    double most = 0;
    for (int i = 0; i < t->n; i++)
        if (isfinite(number_of(&t->run[i], c))) most = SL_MAX(most, fabs(number_of(&t->run[i], c)));
    if (!(most > 1e-3 && most < 1e5)) return -1;
    return SL_MAX(digits - 1 - (int)floor(log10(most)), 0);
}

static void run_row(sl_str *s, const sl_report__view *v, int i, const int *decimals) {
    const sl_laws_run *r = &v->t->run[i];
    const bool frontier = v->point[i] >= 0 && v->frontier[v->point[i]];
    sl_report__cell cell[SL_LEN(text_column) + SL_LEN(number_column) + 1];
    int n = 0;
    for (int k = 0; k < SL_LEN(text_column); k++)
        if (has_text(v->t, text_column[k].column))
            cell[n++] = SL_CELL_TEXT(text_of(r, text_column[k].column));
    for (int k = 0; k < SL_LEN(number_column); k++) {
        if (!has_number(v->t, number_column[k].column)) continue;
        const double y = number_of(r, number_column[k].column) * number_column[k].scale;
        const int fixed = number_column[k].digits == 0 ? 1
                          : number_column[k].even      ? decimals[k]
                                                       : -1;
        cell[n++] =
            fixed >= 0 ? SL_CELL_FIXED(y, fixed) : SL_CELL_NUMBER(y, number_column[k].digits);
    }
    cell[n++] = SL_CELL_TEXT(frontier ? "yes" : "");
    sl_report__row(s, frontier ? "best" : NULL, cell, n);
}

static bool always(const sl_report__view *v) {
    (void)v;
    return true;
}

static sl_status add_runs(sl_str *s, sl_report__view *v) {
    const char *names[SL_LEN(text_column) + SL_LEN(number_column) + 1];
    int n = 0;
    for (int k = 0; k < SL_LEN(text_column); k++)
        if (has_text(v->t, text_column[k].column)) names[n++] = text_column[k].name;
    for (int k = 0; k < SL_LEN(number_column); k++)
        if (has_number(v->t, number_column[k].column)) names[n++] = number_column[k].name;
    names[n++] = "frontier";
    sl_str_add(s, "<p>");
    sl_report__count(s, v->t->n, "run", "runs");
    sl_str_add(s, " in the table, with N parameters and D tokens");
    if (has_number(v->t, SL_LAWS_COLUMN_solved) || has_number(v->t, SL_LAWS_COLUMN_r2))
        sl_str_add(s, "; solved and R² are the shares of problems solved and with R² above 0.99");
    sl_str_add(s, ". Marked rows are on the frontier of loss. A click on a heading sorts by "
                  "it.</p>\n");
    int decimals[SL_LEN(number_column)];
    for (int k = 0; k < SL_LEN(number_column); k++)
        decimals[k] = decimals_of(v->t, number_column[k].column, number_column[k].digits);
    sl_report__table_open(s, v->t->n > MANY ? "wide sort dense tall" : "wide sort dense", names, n);
    for (int i = 0; i < v->t->n; i++) run_row(s, v, i, decimals);
    sl_report__table_close(s);
    return SL_OK;
}

/* ---------------------------------------------------------------- notes --------------------- */

static bool is_notes(const sl_report__view *v) { return v->l->n_note + v->t->n_note > 0; }

static sl_status add_notes(sl_str *s, sl_report__view *v) {
    sl_str_add(s, "<ul>\n");
    for (int i = 0; i < v->l->n_note; i++) {
        const bool far = v->l->note[i].kind == SL_LAWS_NOTE_FAR;
        sl_str_addf(s, "<li%s>", far ? " class=\"red\"" : "");
        sl_plot_escape(s, v->l->note[i].text);
        sl_str_add(s, "</li>\n");
    }
    for (int i = 0; i < v->t->n_note; i++) {
        bool said = false; // by the laws already
        for (int k = 0; k < v->l->n_note; k++)
            said = said || strcmp(v->l->note[k].text, v->t->note[i]) == 0;
        if (said) continue;
        sl_str_add(s, "<li>");
        sl_plot_escape(s, v->t->note[i]);
        sl_str_add(s, "</li>\n");
    }
    sl_str_add(s, "</ul>\n");
    return SL_OK;
}

/* ---------------------------------------------------------------- how to repeat it ---------- */

static bool is_repeat(const sl_report__view *v) { return v->in->command || v->in->plan; }

/* Lines stay lines, which sl_plot_escape makes blanks. */
static void add_lines(sl_str *s, const char *text) {
    while (*text) {
        const char *end = strchr(text, '\n');
        const size_t n = end ? (size_t)(end - text) : strlen(text);
        sl_str line = { 0 };
        sl_str_add_bytes(&line, text, n);
        sl_plot_escape(s, sl_str_text(&line));
        s->failed = s->failed || line.failed;
        sl_str_clear(&line);
        if (!end) return;
        sl_str_add_char(s, '\n');
        text = end + 1;
    }
}

static sl_status add_repeat(sl_str *s, sl_report__view *v) {
    if (v->in->command) {
        sl_str_add(s, "<pre><code>");
        add_lines(s, v->in->command);
        sl_str_add(s, "</code></pre>\n");
    }
    if (v->in->plan) {
        sl_str_add(s, "<details><summary>The plan</summary>\n<pre><code>");
        add_lines(s, v->in->plan);
        sl_str_add(s, "</code></pre></details>\n");
    }
    return SL_OK;
}

/* ---------------------------------------------------------------- all ----------------------- */

const sl_report__section sl_report__sections_study[] = {
    { "training", "Training curves", is_training, add_training },
    { "baselines", "Baselines", is_baselines, add_baselines },
    { "others", "Other problems", is_others, add_others },
    { "problems", "Solved and missed", is_problems, add_problems },
    { "cost", "What it cost", is_cost, add_cost },
    { "machines", "Machines and versions", is_origins, add_origins },
    { "failures", "Runs that failed", is_failures, add_failures },
    { "runs", "All runs", always, add_runs },
    { "notes", "Notes", is_notes, add_notes },
    { "repeat", "How to repeat it", is_repeat, add_repeat },
    { 0 },
};

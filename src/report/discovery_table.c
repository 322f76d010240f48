/* discovery_table - a discovery as text, rounded to significant digits. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/discovery_impl.h"

/* ---------------------------------------------------------------- numbers ------------------- */

/* A fit of 0.9999999 and one of 0.99999 differ by a factor of a hundred in what they leave. */
static bool is_close(double r2) { return r2 > 0.9999 && r2 < 1; }

/* The cell of a column R2. */
static const char *r2_text(char out[24], double r2) {
    if (isnan(r2))
        sl_snprintf(out, 24, "-");
    else if (r2 == 1)
        sl_snprintf(out, 24, "1");
    else if (is_close(r2))
        sl_snprintf(out, 24, "1-R2=%.1e", 1 - r2);
    else if (r2 > -1000)
        sl_snprintf(out, 24, "%.6f", fabs(r2) < 5e-7 ? 0 : r2); // not -0.000000
    else
        sl_snprintf(out, 24, "%.3g", r2);
    return out;
}

/* A line of an R2: "R2  0.9731", "1 - R2  2.4e-09"; of the rows held out: "held-out R2  0.9731, on
 * 9 rows", "held-out  1 - R2 = 2.4e-09, on 9 rows". */
static void add_r2(sl_str *s, double r2, int64_t held) {
    char text[24], rows[40] = "";
    if (held > 0) sl_snprintf(rows, sizeof rows, ", on %lld rows", (long long)held);
    if (is_close(r2))
        sl_report_line(s, held ? "held-out" : "1 - R2", "%s%.1e%s", held ? "1 - R2 = " : "", 1 - r2,
                       rows);
    else
        sl_report_line(s, held ? "held-out R2" : "R2", "%s%s", r2_text(text, r2), rows);
}

enum { FEW = 6, MANY = 15 }; // digits of a constant without an error, and beside one

/* The input of the table besides the discovery. */
typedef struct page {
    const sl_report_discovery *f;
    sl_rounding rounding; // rows to try rounded formulas on
    sl_arena arena;
} page;

/* order[0..n) := the constants as the formula shows them, from the left; returns n. Printed as
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
    sl_fit_dimensions d = { .homogeneous = false };
    if (!order) return sl_fail(SL_ENOMEM, "no memory for %d constants", c->params);
    SL_TRY(order_constants(&n, order, c));
    if (p->f->units && c->params <= SL_FIT_MAX_PARAMS)
        SL_TRY(sl_report__constant_units(&d, &p->arena, c, p->f->units));
    for (int i = 0; i < n; i++) {
        const double value = c->value[order[i]], error = c->error[order[i]];
        if (i > 0) sl_str_add(s, ", ");
        if (isfinite(error) && error > 0)
            sl_str_addf(s, "%.*g +- %.2g", sl_discover_candidate_digits(c, order[i], MANY), value,
                        error);
        else
            sl_str_addf(s, "%.*g", FEW, value);
        if (d.homogeneous &&
            !sl_data_dimension_equal(d.constant[order[i]], (sl_dimension){ { 0 } })) {
            sl_str_add_char(s, ' ');
            sl_data_dimension_print(s, d.constant[order[i]]);
        }
    }
    sl_arena_rewind(&p->arena, mark);
    return SL_OK;
}

/* The formula with rounded constants. */
static sl_status add_formula(sl_str *s, page *p, const sl_candidate *c) {
    const size_t mark = sl_arena_mark(&p->arena);
    sl_candidate shown;
    SL_TRY(sl_discover_candidate_round(&shown, &p->arena, c, &p->rounding));
    SL_TRY(sl_discover_candidate_print(s, &shown, SL_FORMAT_INFIX, &p->f->names));
    sl_arena_rewind(&p->arena, mark);
    return SL_OK;
}

/* "  dT/da         2*3.01*a", of the formula with rounded constants. */
static sl_status add_derivative(sl_str *s, page *p, const sl_candidate *c) {
    const size_t mark = sl_arena_mark(&p->arena);
    const sl_report_discovery *f = p->f;
    sl_candidate shown;
    const sl_node *e;
    sl_str name = { 0 };
    sl_status st;
    SL_GO(sl_discover_candidate_round(&shown, &p->arena, c, &p->rounding));
    SL_GO(sl_expr_derivative(&e, &p->arena, c->expr, f->derivative));
    int n = c->params + sl_expr_nodes(e);
    double *value = sl_arena_alloc(&p->arena, (size_t)n * sizeof *value);
    if (!value) SL_GO(sl_fail_memory((size_t)n, sizeof *value, "constants of a derivative"));
    if (c->params > 0) memcpy(value, shown.value, (size_t)c->params * sizeof *value);
    SL_GO(sl_expr_free_decimals(&e, value, &n, n, &p->arena, e));
    sl_str_add_char(&name, 'd');
    SL_GO(sl_report__add_variable(&name, 1, &(sl_names){ &f->target, 1 }));
    sl_str_add(&name, "/d");
    SL_GO(sl_report__add_variable(&name, f->derivative, &f->names));
    sl_str_addf(s, "  %-13s ", sl_str_text(&name));
    SL_GO(sl_expr_print_values(s, SL_FORMAT_INFIX, e, &f->names, value));
    sl_str_add_char(s, '\n');
done:
    sl_str_clear(&name);
    sl_arena_rewind(&p->arena, mark);
    return st;
}

sl_status sl_report__add_variable(sl_str *s, int v, const sl_names *names) {
    sl_arena a = { 0 };
    const sl_node *x = sl_expr_var(&a, v);
    sl_status st = x ? sl_expr_print(s, SL_FORMAT_INFIX, x, names)
                     : sl_fail(SL_ENOMEM, "no memory for a column's name");
    sl_arena_clear(&a);
    return st;
}

static sl_status add_target(sl_str *s, const sl_report_discovery *f) {
    return sl_report__add_variable(s, 1, &(sl_names){ &f->target, 1 });
}

static const char *plural(int64_t n) { return n == 1 ? "" : "s"; }

/* ---------------------------------------------------------------- the best one -------------- */

/* "search, products, level 3" */
static void add_origin(sl_str *s, const sl_report_discovery *f, const sl_candidate *c) {
    sl_str_addf(s, "  %-13s ", "found by");
    switch (c->source) {
    case SL_SOURCE_MODEL:
        sl_str_addf(s, "the model, in %lld of %lld samples", (long long)c->times,
                    (long long)f->discovery->cost.samples);
        break;
    case SL_SOURCE_SEARCH:
        sl_str_addf(s, "search, %s, level %d", c->method ? c->method : "-", c->level);
        if (!f->discovery->model_used) sl_str_add(s, "; the model was not used");
        break;
    case SL_SOURCE_BASELINE:
        sl_str_add(s, "the baselines: a constant, inputs, a linear formula");
        break;
    case SL_SOURCE_GIVEN:
    case SL_SOURCE_COUNT: break;
    }
    sl_str_add_char(s, '\n');
}

/* The size in nodes, and the bits of the formula and of its residuals. */
static void add_size(sl_str *s, const sl_candidate *c) {
    sl_str_addf(s, "  %-13s %d node%s", "size", c->size, plural(c->size));
    if (isfinite(c->bits.total))
        sl_str_addf(s, "; %.1f bits: structure %.1f, numbers %.1f, constants %.1f, data %.1f",
                    c->bits.total, c->bits.structure, c->bits.numbers, c->bits.constants,
                    c->bits.data);
    sl_str_add_char(s, '\n');
    if (isfinite(c->evidence) && c->evidence >= 0)
        sl_report_line(s, "by chance", "1 in 2^%.0f", floor(c->evidence));
}

static void add_time(sl_str *s, const sl_report_discovery *f) {
    const sl_discover_cost *c = &f->discovery->cost;
    sl_str_addf(s, "  %-13s %.2f s: reading %.2f", "time", f->read_seconds + f->discovery->seconds,
                f->read_seconds);
    if (f->discovery->search.passes > 0) sl_str_addf(s, ", search %.2f", c->search);
    if (f->discovery->model_used)
        sl_str_addf(s, ", model %.2f", c->infer.encode + c->infer.decode);
    sl_str_addf(s, ", scoring %.2f, fitting %.2f\n", c->score, c->refine);
}

static sl_status add_best(sl_str *s, page *p) {
    const sl_report_discovery *f = p->f;
    const sl_candidate *c = &f->discovery->candidate[0];
    if (!f->discovery->within_noise)
        sl_str_add(s, "no formula within the noise; best approximation: ");
    SL_TRY(add_target(s, f));
    sl_str_add(s, " = ");
    SL_TRY(add_formula(s, p, c));
    sl_str_add(s, "\n\n");
    if (isfinite(c->rms)) sl_report_line(s, "error", "%.3g rms", c->rms);
    add_r2(s, c->r2, 0);
    if (f->discovery->rows_held > 0) add_r2(s, c->r2_holdout, f->discovery->rows_held);
    if (c->params > 0) {
        sl_str_addf(s, "  %-13s ", "constants");
        SL_TRY(add_constants(s, p, c));
        sl_str_add_char(s, '\n');
    }
    if (f->derivative) SL_TRY(add_derivative(s, p, c));
    add_size(s, c);
    add_origin(s, f, c);
    add_time(s, f);
    return SL_OK;
}

/* ---------------------------------------------------------------- the front ----------------- */

static void add_figures(sl_str *s, const page *p, const sl_candidate *c) {
    char text[24];
    sl_snprintf(text, sizeof text, "%.3g", c->rms);
    sl_str_addf(s, "%-9s  ", isfinite(c->rms) ? text : "-");
    sl_str_addf(s, "%-12s  ", r2_text(text, c->r2));
    if (p->f->discovery->rows_held > 0) sl_str_addf(s, "%-12s  ", r2_text(text, c->r2_holdout));
    sl_snprintf(text, sizeof text, "%.1f", c->bits.total);
    sl_str_addf(s, "%4d  %8s  ", c->size, isfinite(c->bits.total) ? text : "-");
}

static void add_heading(sl_str *s, const page *p, const char *first) {
    sl_str_addf(s, "%s  error      R2            ", first);
    if (p->f->discovery->rows_held > 0) sl_str_add(s, "held-out R2   ");
    sl_str_add(s, "size      bits  ");
}

/* The best `top` of the front by their rank, from small to large, the best one marked. */
static sl_status add_front(sl_str *s, page *p) {
    const sl_report_discovery *f = p->f;
    const sl_discovery *d = f->discovery;
    const size_t mark = sl_arena_mark(&p->arena);
    int64_t *shown = sl_arena_alloc(&p->arena, (size_t)d->ranked * sizeof *shown), n = 0;
    if (!shown) return sl_fail(SL_ENOMEM, "no memory for %lld formulas", (long long)d->ranked);
    for (int64_t i = 0; i < d->ranked && n < f->top; i++) {
        const sl_candidate *c = &d->candidate[i];
        if (i > 0 && (!c->front || !sl_report__can_print(c))) continue;
        int64_t at = n++;
        for (; at > 0 && d->candidate[shown[at - 1]].size > c->size; at--)
            shown[at] = shown[at - 1];
        shown[at] = i;
    }
    if (n > 1) {
        add_heading(s, p, "\n  front:");
        sl_str_add(s, "formula\n");
    }
    for (int64_t i = 0; i < n && n > 1; i++) {
        const sl_candidate *c = &d->candidate[shown[i]];
        sl_str_add(s, shown[i] == 0 ? "       *  " : "          ");
        add_figures(s, p, c);
        SL_TRY(add_formula(s, p, c));
        sl_str_add_char(s, '\n');
    }
    sl_arena_rewind(&p->arena, mark);
    return SL_OK;
}

/* ---------------------------------------------------------------- every candidate ----------- */

static sl_status add_row(sl_str *s, page *p, int64_t i) {
    const sl_candidate *c = &p->f->discovery->candidate[i];
    sl_str_addf(s, "  %6lld  ", (long long)i + 1);
    add_figures(s, p, c);
    sl_str_addf(s, "%-9s  %-8s  %6.2f  ", sl_discover_candidate_state_name(c->state),
                sl_discover_source_name(c->source), c->seconds);
    if (sl_report__can_print(c))
        SL_TRY(add_formula(s, p, c));
    else
        sl_str_addf(s, "(%s)", c->expr ? "a constant overflows" : sl_token_reason_text(c->reason));
    sl_str_add_char(s, '\n');
    return SL_OK;
}

static sl_status add_rows(sl_str *s, page *p) {
    const sl_discovery *d = p->f->discovery;
    add_heading(s, p, "\n    rank");
    sl_str_add(s, "status     source   seconds  formula\n");
    for (int64_t i = 0; i < d->count; i++) SL_TRY(add_row(s, p, i));
    return SL_OK;
}

/* ---------------------------------------------------------------- all of it ----------------- */

static sl_status add_all(sl_str *s, page *p) {
    const bool some = p->f->discovery->ranked > 0;
    SL_TRY(sl_discover_rounding_make(&p->rounding, &p->arena, p->f->data, p->f->discovery));
    SL_TRY(sl_report__discovery_before(s, p->f));
    if (some)
        SL_TRY(add_best(s, p));
    else
        sl_str_add(s, "no formula found: every candidate is undefined on some rows\n");
    if (p->f->all)
        SL_TRY(add_rows(s, p));
    else
        SL_TRY(add_front(s, p));
    return sl_report__discovery_work(s, p->f);
}

sl_status sl_report_discovery_table(sl_str *s, const sl_report_discovery *f) {
    if (!f->discovery) return SL_OK; // a note says why
    page p = { .f = f };
    sl_status st = add_all(s, &p);
    sl_arena_clear(&p.arena);
    return st;
}

/* discovery_json - a discovery as members of an object, in full precision; docs/formats.md
 * describes them. */
#include <math.h>
#include <string.h>

#include "report/discovery_impl.h"

/* A cell of an R2 or a time that is not known is null: sl_io_json_add_real sees to that. */
static sl_status add_constants(sl_str *s, const sl_candidate *c, const sl_units *units) {
    sl_fit_dimensions d = { 0 };
    sl_arena scratch = { 0 };
    sl_status st = SL_OK;
    const bool known = units && c->params > 0 && c->params <= SL_FIT_MAX_PARAMS;
    if (known) st = sl_report__constant_units(&d, &scratch, c, units);
    sl_arena_clear(&scratch);
    SL_TRY(st);
    sl_io_json_open(s, "constants", '[');
    for (int i = 0; i < c->params; i++) {
        sl_io_json_open(s, NULL, '{');
        sl_io_json_add_real(s, "value", c->value[i]);
        sl_io_json_add_real(s, "error", c->error[i]);
        sl_str unit = { 0 };
        if (known && d.homogeneous) {
            sl_data_dimension_print(&unit, d.constant[i]);
            st = sl_str_status(&unit);
            sl_io_json_add_text(s, "unit", sl_str_text(&unit));
        }
        sl_str_clear(&unit);
        SL_TRY(st);
        sl_io_json_close(s, '}');
    }
    sl_io_json_close(s, ']');
    return SL_OK;
}

void sl_report__add_bits(sl_str *s, const sl_bits *bits) {
    sl_io_json_open(s, "bits", '{');
    SL_JSON_FIELDS(s, bits, structure, numbers, constants, data, total);
    sl_io_json_close(s, '}');
}

static sl_status add_figures(sl_str *s, const sl_candidate *c, const sl_units *units) {
    SL_JSON_FIELDS(s, c, r2, r2_holdout, r2_proposed, rms, size);
    sl_report__add_bits(s, &c->bits);
    sl_io_json_add_real(s, "evidence", c->evidence);
    return add_constants(s, c, units);
}

static sl_status add_text(sl_str *s, const char *name, const sl_candidate *c, sl_format format,
                          const sl_names *names) {
    sl_str text = { 0 };
    sl_status st = sl_discover_candidate_print(&text, c, format, names);
    if (st == SL_OK) st = sl_str_status(&text);
    if (st == SL_OK) sl_io_json_add_text(s, name, sl_str_text(&text));
    sl_str_clear(&text);
    return st;
}

bool sl_report__can_print(const sl_candidate *c) {
    for (int i = 0; i < c->params; i++)
        if (!isfinite(c->value[i])) return false;
    return c->expr != NULL;
}

/* With c1, c2, ... for the constants, of x1, x2, ...: with their values it is the formula to the
 * last bit (symlaw_formula_bind). */
static sl_status add_skeleton(sl_str *s, const sl_candidate *c) {
    sl_str text = { 0 };
    const sl_names plain = { NULL, 0 };
    sl_status st = sl_expr_print(&text, SL_FORMAT_INFIX, c->expr, &plain);
    if (st == SL_OK) st = sl_str_status(&text);
    if (st == SL_OK) sl_io_json_add_text(s, "skeleton", sl_str_text(&text));
    sl_str_clear(&text);
    return st;
}

/* Text for programs has x1, x2, ... whatever the names of columns; text for people has the
 * names. */
static sl_status add_texts(sl_str *s, const sl_candidate *c, const sl_names *names) {
    const sl_names plain = { NULL, names->count };
    SL_TRY(add_text(s, "formula", c, SL_FORMAT_INFIX, names));
    SL_TRY(add_text(s, "python", c, SL_FORMAT_PYTHON, &plain));
    return add_text(s, "latex", c, SL_FORMAT_LATEX, names);
}

sl_status sl_report_front_json(sl_str *s, const sl_candidate *front, int n, const sl_names *names) {
    sl_io_json_open(s, NULL, '[');
    for (int i = 0; i < n; i++) {
        const sl_candidate *c = &front[i];
        if (!sl_report__can_print(c)) continue;
        sl_io_json_open(s, NULL, '{');
        SL_TRY(add_text(s, "formula", c, SL_FORMAT_INFIX, names));
        SL_TRY(add_text(s, "latex", c, SL_FORMAT_LATEX, names));
        SL_TRY(add_text(s, "mathml", c, SL_FORMAT_MATHML, names));
        SL_JSON_FIELDS(s, c, r2, rms, size);
        sl_report__add_bits(s, &c->bits);
        sl_io_json_close(s, '}');
    }
    sl_io_json_close(s, ']');
    return sl_str_status(s);
}

static sl_status add_tokens(sl_str *s, const sl_candidate *c) {
    sl_str text = { 0 };
    sl_token_to_latex(&text, c->tokens, c->n_tokens);
    sl_status st = sl_str_status(&text);
    if (st == SL_OK) sl_io_json_add_text(s, "tokens", sl_str_text(&text));
    sl_str_clear(&text);
    return st;
}

/* With constants rounded for people to read, as in the table. */
static sl_status add_rounded(sl_str *s, const sl_candidate *c, const sl_names *names,
                             const sl_rounding *r) {
    sl_arena a = { 0 };
    sl_candidate shown;
    sl_status st;
    SL_GO(sl_discover_candidate_round(&shown, &a, c, r));
    SL_GO(add_text(s, "short", &shown, SL_FORMAT_INFIX, names));
    st = add_text(s, "mathml", &shown, SL_FORMAT_MATHML, names);
done:
    sl_arena_clear(&a);
    return st;
}

/* r NULL: without rounded texts. */
static sl_status add_candidate(sl_str *s, const sl_candidate *c, int64_t place,
                               const sl_names *names, const sl_units *units, const sl_rounding *r) {
    sl_io_json_open(s, NULL, '{');
    sl_io_json_add_int(s, "place", place);
    sl_io_json_add_text(s, "status", sl_discover_candidate_state_name(c->state));
    sl_io_json_add_text(s, "source", sl_discover_source_name(c->source));
    if (c->source == SL_SOURCE_SEARCH) {
        SL_JSON_FIELDS(s, c, method, level, exact);
    }
    sl_io_json_add_int(s, "number", c->number);
    if (c->state == SL_CANDIDATE_INVALID)
        sl_io_json_add_text(s, "reason", sl_token_reason_name(c->reason));
    if (c->state == SL_CANDIDATE_DUPLICATE) sl_io_json_add_int(s, "same_as", c->same_as + 1);
    if (sl_report__can_print(c)) {
        SL_TRY(add_texts(s, c, names));
        SL_TRY(add_skeleton(s, c));
        if (r) SL_TRY(add_rounded(s, c, names, r));
    }
    if (c->tokens) SL_TRY(add_tokens(s, c));
    SL_TRY(add_figures(s, c, units));
    SL_JSON_FIELDS(s, c, front, log_prob, times, seconds);
    sl_io_json_close(s, '}');
    return SL_OK;
}

static void add_counts(sl_str *s, const sl_discovery *d) {
    const sl_discover_cost *c = &d->cost;
    sl_io_json_open(s, "counts", '{');
    sl_io_json_add_int(s, "candidates", d->count);
    sl_io_json_add_int(s, "ranked", d->ranked);
    SL_JSON_FIELDS(s, c, samples, bags, distinct, unreal, refined, evaluations);
    SL_JSON_FIELDS(s, d, rows_fit, rows_held);
    sl_io_json_open(s, "invalid", '{');
    for (int i = 0; i < SL_TOKEN_REASON_COUNT; i++)
        if (i != SL_TOKEN_FINE)
            sl_io_json_add_int(s, sl_token_reason_name((sl_token_reason)i), c->invalid[i]);
    sl_io_json_close(s, '}');
    sl_io_json_close(s, '}');
}

static void add_cost(sl_str *s, const sl_discovery *d) {
    const sl_discover_cost *c = &d->cost;
    sl_io_json_open(s, "cost", '{');
    SL_JSON_FIELDS(s, &c->infer, encode, decode);
    SL_JSON_FIELDS(s, c, search, score, refine);
    sl_io_json_add_real(s, "all", d->seconds);
    sl_io_json_add_int(s, "decoder_rows", c->infer.rows);
    sl_io_json_add_int(s, "tokens", c->infer.tokens);
    sl_io_json_close(s, '}');
}

static void add_search(sl_str *s, const sl_discovery *d) {
    static const char *const ends[] = { [SL_SEARCH_FOUND] = "found",
                                        [SL_SEARCH_DONE] = "done",
                                        [SL_SEARCH_TIME] = "time",
                                        [SL_SEARCH_CANCEL] = "cancel",
                                        [SL_SEARCH_MEMORY] = "memory" };
    const sl_discover_searched *r = &d->search;
    sl_io_json_add_bool(s, "model_asked", d->model_used);
    if (r->passes == 0) {
        sl_io_json_add_null(s, "search");
        return;
    }
    sl_io_json_open(s, "search", '{');
    sl_io_json_add_text(s, "end", ends[r->end]);
    SL_JSON_FIELDS(s, r, passes, steps, hints, sigma);
    sl_io_json_add_text(s, "noise", r->relative ? "relative" : "additive");
    SL_JSON_FIELDS(s, r, tried, verified, memory);
    sl_io_json_add_int(s, "memory_needed", r->memory_short.needed);
    sl_io_json_add_int(s, "too_large", r->too_large);
    sl_io_json_close(s, '}');
}

sl_status sl_report_candidates_json(sl_str *s, const sl_discovery *d, const sl_names *names,
                                    const sl_units *units, int64_t top, const sl_rounding *r) {
    const char *cut = sl_discover_cut_name(d->cut);
    sl_io_json_add_text(s, "cut", *cut ? cut : NULL);
    sl_io_json_add_bool(s, "within_noise", d->within_noise);
    sl_io_json_open(s, "candidates", '[');
    for (int64_t i = 0; i < SL_MIN(top, d->count); i++)
        SL_TRY(add_candidate(s, &d->candidate[i], i + 1, names, units, NULL));
    sl_io_json_close(s, ']');
    sl_io_json_open(s, "front", '[');
    for (int64_t i = 0; i < d->ranked; i++)
        if (d->candidate[i].front)
            SL_TRY(add_candidate(s, &d->candidate[i], i + 1, names, units, r));
    sl_io_json_close(s, ']');
    add_search(s, d);
    add_counts(s, d);
    add_cost(s, d);
    return SL_OK;
}

static void add_column(sl_str *s, const char *name, const double *v, int64_t rows, int64_t shown) {
    sl_io_json_open(s, name, '[');
    for (int64_t i = 0; i < shown; i++)
        sl_io_json_add_real(s, NULL, v[(int64_t)((double)i * (double)rows / (double)shown)]);
    sl_io_json_close(s, ']');
}

/* Rows as they were read, the same of every column, evenly chosen. */
static void add_values(sl_str *s, const sl_dataset *p, int64_t most) {
    const int64_t shown = SL_MIN(most, p->rows);
    if (shown == 0) return;
    sl_io_json_open(s, "values", '{');
    sl_io_json_add_int(s, "of", p->rows);
    sl_io_json_open(s, "x", '[');
    for (int i = 0; i < p->inputs; i++) add_column(s, NULL, p->x[i], p->rows, shown);
    sl_io_json_close(s, ']');
    add_column(s, "y", p->y, p->rows, shown);
    sl_io_json_close(s, '}');
}

/* Names as the file has them: sl_io_json_add_text makes any bytes a text. */
static void add_data(sl_str *s, const sl_report_discovery *f) {
    const sl_table *t = f->table;
    sl_io_json_open(s, "data", '{');
    sl_io_json_add_text(s, "file", f->file);
    sl_io_json_add_text(s, "target", t->data.target);
    sl_io_json_open(s, "inputs", '[');
    for (int i = 0; i < t->data.inputs; i++) sl_io_json_add_text(s, NULL, t->data.names[i]);
    sl_io_json_close(s, ']');
    SL_JSON_FIELDS(s, t, columns, text_columns, date_columns);
    sl_io_json_open(s, "notes", '[');
    for (int i = 0; i < t->n_notes; i++) sl_io_json_add_text(s, NULL, t->notes[i]);
    sl_io_json_close(s, ']');
    sl_io_json_add_int(s, "rows_read", t->read);
    sl_io_json_add_int(s, "rows", t->data.rows);
    SL_JSON_FIELDS(s, t, missing, infinite, weightless, repeated);
    sl_io_json_add_bool(s, "constant", f->constant);
    if (t->chosen_from > 0) {
        SL_JSON_FIELDS(s, t, chosen_from, explained);
    }
    sl_io_json_add_real(s, "seconds", f->read_seconds);
    add_values(s, f->data, f->values);
    sl_io_json_close(s, '}');
}

/* The derivative of the best one, with all digits. */
static sl_status add_derivative(sl_str *s, const sl_report_discovery *f, const sl_names *names) {
    sl_candidate c = f->discovery->candidate[0];
    sl_arena a = { 0 };
    sl_status st;
    SL_GO(sl_expr_derivative(&c.expr, &a, c.expr, f->derivative));
    sl_io_json_open(s, "derivative", '{');
    sl_io_json_add_text(s, "input", f->data->names[f->derivative - 1]);
    SL_GO(add_texts(s, &c, names));
    sl_io_json_close(s, '}');
done:
    sl_arena_clear(&a);
    return st;
}

/* The best one is also a member of its own. */
static sl_status add_best(sl_str *s, const sl_report_discovery *f, const sl_names *names) {
    if (f->discovery->ranked == 0) {
        sl_io_json_add_null(s, "formula");
        sl_io_json_add_null(s, "tree");
        sl_io_json_add_null(s, "r2");
        return SL_OK;
    }
    SL_TRY(add_text(s, "formula", &f->discovery->candidate[0], SL_FORMAT_INFIX, names));
    sl_str_add(s, ",\"tree\":");
    SL_TRY(sl_discover_candidate_print(s, &f->discovery->candidate[0], SL_FORMAT_JSON, names));
    if (f->derivative) SL_TRY(add_derivative(s, f, names));
    sl_io_json_add_real(s, "r2", f->discovery->candidate[0].r2);
    return SL_OK;
}

sl_status sl_report_discovery_json(sl_str *s, const sl_report_discovery *f) {
    sl_report__model_member(s, f->model);
    if (!f->discovery) {
        sl_io_json_add_null(s, "formula");
        sl_io_json_add_null(s, "r2");
        sl_io_json_add_text(s, "cut", sl_discover_cut_name(SL_CUT_TIME));
        return SL_OK;
    }
    add_data(s, f);
    SL_TRY(add_best(s, f, &f->names));
    sl_arena a = { 0 };
    sl_rounding r;
    sl_status st = sl_discover_rounding_make(&r, &a, f->data, f->discovery);
    if (st == SL_OK)
        st = sl_report_candidates_json(s, f->discovery, &f->names, f->units, f->top, &r);
    sl_arena_clear(&a);
    return st;
}

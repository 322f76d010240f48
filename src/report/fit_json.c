/* fit_json - a fit as members of a JSON object, in full precision. */
#include <math.h>

#include "report/fit_impl.h"

static sl_status add_text(sl_str *s, const char *name, const sl_curve *c, sl_format format,
                          const sl_names *names) {
    sl_str text = { 0 };
    sl_status st = sl_expr_print_values(&text, format, c->fit.expr, names, c->fit.value);
    if (st == SL_OK) st = sl_str_status(&text);
    if (st == SL_OK) sl_io_json_add_text(s, name, sl_str_text(&text));
    sl_str_clear(&text);
    return st;
}

static sl_status add_unit(sl_str *s, const sl_fit_dimensions *d, int k) {
    sl_str unit = { 0 };
    sl_data_dimension_print(&unit, d->constant[k]);
    sl_io_json_add_text(s, "unit", sl_str_text(&unit));
    const sl_status st = sl_str_status(&unit);
    sl_str_clear(&unit);
    return st;
}

static sl_status add_constants(sl_str *s, const sl_curve *c, const char *const *name,
                               const sl_fit_dimensions *units) {
    const int n = c->fit.params;
    sl_io_json_open(s, "constants", '[');
    for (int k = 0; k < n; k++) {
        sl_io_json_open(s, NULL, '{');
        sl_io_json_add_text(s, "name", name[k]);
        sl_io_json_add_real(s, "value", c->fit.value[k]);
        sl_io_json_add_real(s, "error", c->fit.error[k]);
        sl_io_json_add_bool(s, "determined", !c->idle[k] && !c->tied[k]);
        sl_io_json_add_text(s, "bound", c->bound[k] < 0 ? "low" : c->bound[k] > 0 ? "high" : NULL);
        if (units && units->homogeneous) SL_TRY(add_unit(s, units, k));
        sl_io_json_close(s, '}');
    }
    sl_io_json_close(s, ']');
    sl_io_json_open(s, "correlation", '[');
    for (int j = 0; j < n; j++) {
        sl_io_json_open(s, NULL, '[');
        for (int k = 0; k < n; k++) sl_io_json_add_real(s, NULL, c->correlation[j * n + k]);
        sl_io_json_close(s, ']');
    }
    sl_io_json_close(s, ']');
    return SL_OK;
}

/* Members of one fit. */
static sl_status add_curve(sl_str *s, const sl_curve *c, const char *const *constant,
                           const sl_names *names, const sl_fit_dimensions *units) {
    const bool real = !isnan(c->fit.r2);
    const sl_names plain = { NULL, names->count };
    if (real) {
        SL_TRY(add_text(s, "fitted", c, SL_FORMAT_INFIX, names));
        SL_TRY(add_text(s, "python", c, SL_FORMAT_PYTHON, &plain));
        SL_TRY(add_text(s, "latex", c, SL_FORMAT_LATEX, names));
        SL_TRY(add_constants(s, c, constant, units));
    } else {
        sl_io_json_add_null(s, "fitted");
    }
    sl_io_json_add_bool(s, "converged", real && c->converged);
    sl_io_json_add_real(s, "r2", c->fit.r2);
    SL_JSON_FIELDS(s, c, rms, chi2, aic, bic);
    if (real) sl_report__add_bits(s, &c->bits);
    sl_io_json_add_int(s, "size", sl_expr_nodes(c->fit.expr));
    SL_JSON_FIELDS(s, &c->fit, starts, evaluations);
    return SL_OK;
}

static sl_status add_formula(sl_str *s, const sl_report_fit *r, int i, sl_arena *a) {
    const sl_report_formula *f = &r->formula[i];
    sl_fit_dimensions units;
    if (r->base.units) SL_TRY(sl_fit_units(&units, a, f->curve.fit.expr, r->base.units));
    sl_io_json_open(s, NULL, '{');
    sl_io_json_add_int(s, "place", i + 1);
    sl_io_json_add_text(s, "source", f->text ? "given" : "search");
    sl_io_json_add_text(s, "formula", f->text);
    SL_TRY(add_curve(s, &f->curve, f->constant, &r->base.names, r->base.units ? &units : NULL));
    sl_io_json_close(s, '}');
    return SL_OK;
}

static sl_status add_groups(sl_str *s, const sl_report_fit *r) {
    const sl_report_group_test *t = &r->test;
    sl_io_json_open(s, "groups", '[');
    for (int g = 0; g < r->n_groups; g++) {
        sl_io_json_open(s, NULL, '{');
        sl_io_json_add_text(s, "group", r->group[g].name);
        sl_io_json_add_int(s, "rows", r->group[g].rows);
        if (r->group[g].fitted)
            SL_TRY(add_curve(s, &r->group[g].curve, r->group_constant, &r->base.names, NULL));
        sl_io_json_close(s, '}');
    }
    sl_io_json_close(s, ']');
    sl_io_json_open(s, "group_test", '{');
    sl_io_json_add_text(s, "test", isfinite(t->f) ? "F" : isfinite(t->chi2) ? "chi-square" : NULL);
    sl_io_json_add_real(s, "statistic", isfinite(t->f) ? t->f : t->chi2);
    SL_JSON_FIELDS(s, t, degrees, remaining, p, bits_common, bits_separate);
    sl_io_json_close(s, '}');
    return SL_OK;
}

static void add_data(sl_str *s, const sl_report_fit *r) {
    const sl_table *t = r->base.table;
    sl_io_json_open(s, "data", '{');
    sl_io_json_add_text(s, "file", r->base.file);
    sl_io_json_add_text(s, "target", t->data.target);
    sl_io_json_open(s, "inputs", '[');
    for (int i = 0; i < t->data.inputs; i++) sl_io_json_add_text(s, NULL, t->data.names[i]);
    sl_io_json_close(s, ']');
    sl_io_json_add_int(s, "rows_read", t->read);
    sl_io_json_add_int(s, "rows", t->data.rows);
    SL_JSON_FIELDS(s, t, missing, infinite, weightless);
    sl_io_json_open(s, "notes", '[');
    for (int i = 0; i < t->n_notes; i++) sl_io_json_add_text(s, NULL, t->notes[i]);
    sl_io_json_close(s, ']');
    sl_io_json_close(s, '}');
}

static void add_note(void *s, const char *sentence) { sl_io_json_add_text(s, NULL, sentence); }

sl_status sl_report_fit_json(sl_str *s, const sl_report_fit *r) {
    sl_arena a = { 0 };
    sl_status st = SL_OK;
    add_data(s, r);
    sl_io_json_add_text(s, "cut", r->cut ? sl_discover_cut_name(r->cut) : NULL);
    sl_io_json_open(s, "notes", '[');
    SL_TRY(sl_report_fit_notes(r, add_note, s));
    sl_io_json_close(s, ']');
    sl_io_json_open(s, "formulas", '[');
    for (int i = 0; i < r->n && st == SL_OK; i++) st = add_formula(s, r, i, &a);
    sl_io_json_close(s, ']');
    sl_arena_clear(&a);
    SL_TRY(st);
    return r->group ? add_groups(s, r) : SL_OK;
}

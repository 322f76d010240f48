/* discovery - discovery as a call: arrays in, formulas out. */
#include <math.h>
#include <string.h>

#include "api/api_impl.h"
#include "report/report.h"

/* ---------------------------------------------------------------- the call ------------------ */

typedef struct call_options {
    sl_commands_common common;
    sl_commands_look look;
    double sigma;
} call_options;

static const sl_option own_rows[] = {
    // the command also takes the name of a column
    SL_OPTION(call_options, sigma, "sigma", .value = 0, .max = 1e308, .shown = "VALUE",
              .help = "standard deviation of the target's errors; 0: estimated"),
    SL_COMMANDS_TIMEOUT(call_options, look.timeout),
};
static const sl_option_table own = { own_rows, SL_LEN(own_rows) };

static sl_commands_command the_call = {
    .info = { .name = "discover" },
    .parts = { SL_COMMANDS_LOOK_PARTS(call_options, look, NULL, sl_commands_short_samples),
               { &own, 0, "options", NULL },
               { &sl_commands_repeat_table, 0, "all commands", NULL } },
};

static sl_status check_column(const double *column, int64_t rows, const char *name) {
    for (int64_t i = 0; i < rows; i++)
        if (!isfinite(column[i]))
            return sl_fail(
                SL_EINVAL,
                "symlaw_discover: %s has no finite number in row %lld; leave such rows out", name,
                (long long)i + 1);
    return SL_OK;
}

static sl_status check_data(const sl_dataset *p) {
    if (p->rows < 2)
        return sl_fail(SL_EINVAL, "symlaw_discover: %lld rows; a formula needs 2 at least",
                       (long long)p->rows);
    for (int i = 0; i < p->inputs; i++) {
        char name[80];
        sl_snprintf(name, sizeof name, "input %d", i + 1);
        if (!p->x[i]) return sl_fail(SL_EINVAL, "symlaw_discover: %s is NULL", name);
        if (p->names && !p->names[i])
            return sl_fail(SL_EINVAL, "symlaw_discover: the name of %s is NULL", name);
        if (p->names) sl_snprintf(name, sizeof name, "input %d (%.60s)", i + 1, p->names[i]);
        SL_TRY(check_column(p->x[i], p->rows, name));
    }
    for (int64_t i = 0; p->sigma && i < p->rows; i++)
        if (!(p->sigma[i] > 0) || !isfinite(p->sigma[i]))
            return sl_fail(SL_EINVAL, "symlaw_discover: sigma of row %lld is no number above 0",
                           (long long)i + 1);
    return check_column(p->y, p->rows, "y");
}

static sl_status copy_names(symlaw_discovery *f, const char *const *names, int n) {
    const char **list = sl_arena_alloc(&f->arena, (size_t)n * sizeof *list);
    if (!list) return sl_fail_memory((size_t)n, sizeof *list, "names of inputs");
    for (int i = 0; i < n; i++) {
        const size_t size = strlen(names[i]) + 1;
        char *copy = sl_arena_alloc(&f->arena, size);
        if (!copy) return sl_fail_memory(size, 1, "a name of an input");
        list[i] = memcpy(copy, names[i], size);
    }
    f->names.names = list;
    return SL_OK;
}

/* Of the inputs by their names, and of y. */
static sl_status read_units(symlaw_discovery *f, const char *list, const char *target) {
    char plain[SL_DATA_MAX_INPUTS][8];
    const char *names[SL_DATA_MAX_INPUTS];
    for (int i = 0; i < f->names.count; i++) {
        sl_snprintf(plain[i], sizeof plain[i], "x%d", i + 1);
        names[i] = f->names.names ? f->names.names[i] : plain[i];
    }
    return sl_data_units_known(&f->units_known, &f->units, list, names, f->names.count,
                               target ? target : "y");
}

static sl_status find(symlaw_discovery *f, const symlaw_model *model, const sl_dataset *p,
                      const sl_json *given, const sl_commands_listener *listener) {
    call_options o = { .sigma = 0 };
    const sl_commands_run run = { .options = &o, .common = &o.common, .listener = *listener };
    SL_TRY(sl_commands_options_read(&o, NULL, sl_commands_table(&the_call), given));
    SL_TRY(read_units(f, o.look.units, p->target));
    const sl_commands_request request = { .model = model ? model->infer : NULL,
                                          .names = &f->names,
                                          .sigma = o.sigma,
                                          .units = f->units_known };
    return sl_commands_discover_rows(&f->discovery, &request, p, &run, &o.look);
}

static sl_status discover(symlaw_discovery **out, const symlaw_model *model, const sl_dataset *p,
                          const char *options_json, const sl_commands_listener *listener) {
    sl_status st;
    sl_json *given = NULL;
    symlaw_discovery *f = sl_calloc(1, sizeof *f);
    if (!f) return sl_fail_memory(1, sizeof *f, "what is found");
    f->names.count = p->inputs;
    if (p->names) SL_GO(copy_names(f, p->names, p->inputs));
    if (options_json) SL_GO(sl_io_json_parse(&given, options_json, strlen(options_json)));
    SL_GO(find(f, model, p, given, listener));
    *out = f;
    f = NULL;
done:
    sl_io_json_free(given);
    symlaw_discovery_free(f);
    return st;
}

/* *out := the caller's struct; what an older caller lacks is 0. */
static sl_status read_rows(symlaw_rows *out, const symlaw_rows *caller) {
    if (!caller) return sl_fail(SL_EINVAL, "symlaw_discover: rows is NULL");
    if (caller->size < sizeof caller->size)
        return sl_fail(SL_EINVAL, "symlaw_discover: rows.size is not set; use SYMLAW_ROWS_INIT");
    *out = (symlaw_rows){ 0 };
    memcpy(out, caller, SL_MIN(caller->size, sizeof *out));
    return out->x && out->y ? SL_OK : sl_fail(SL_EINVAL, "symlaw_discover: x or y is NULL");
}

/* *out := the caller's rows as a data set, which is a view of them. */
static sl_status view(sl_dataset *out, const symlaw_rows *caller) {
    symlaw_rows rows, *r = &rows;
    SL_TRY(read_rows(r, caller));
    if (r->n_inputs < 1 || r->n_inputs > SL_DATA_MAX_INPUTS)
        return sl_fail(SL_EINVAL, "symlaw_discover: %d inputs; 1 to %d can be given", r->n_inputs,
                       SL_DATA_MAX_INPUTS);
    *out = sl_data_view(r->x, r->n_inputs, r->y, r->rows);
    out->names = r->names;
    out->target = r->target;
    out->sigma = r->sigma;
    out->sigma_absolute = !r->sigma_relative;
    return check_data(out);
}

static sl_status choose_inputs(int *column, const symlaw_rows *caller, int k, uint64_t seed) {
    symlaw_rows r;
    double explained;
    SL_TRY(read_rows(&r, caller));
    if (!column || k < 1 || k > SL_DATA_MAX_INPUTS || k >= r.n_inputs || r.rows < 1)
        return sl_fail(SL_EINVAL,
                       "symlaw_rows_choose_inputs: column is NULL, there are no rows, or %d of %d "
                       "inputs cannot be chosen; 1 to %d can, of more",
                       k, r.n_inputs, SL_DATA_MAX_INPUTS);
    for (int i = 0; i < r.n_inputs; i++)
        if (!r.x[i]) return sl_fail(SL_EINVAL, "symlaw_rows_choose_inputs: x[%d] is NULL", i);
    SL_TRY(check_column(r.y, r.rows, "y"));
    const sl_columns from = { r.x, r.n_inputs, r.y, r.rows, 1 };
    return sl_data_choose_inputs(column, &explained, &from, k, seed);
}

symlaw_status symlaw_rows_choose_inputs(int *column, const symlaw_rows *rows, int k,
                                        uint64_t seed) {
    SL_API__PUBLIC(choose_inputs(column, rows, k, seed));
}

static sl_status discover_rows(symlaw_discovery **out, const symlaw_model *model,
                               const symlaw_rows *rows, const char *options_json,
                               const sl_commands_listener *listener) {
    if (!out) return sl_fail(SL_EINVAL, "symlaw_discover: out is NULL");
    sl_dataset d;
    SL_TRY(view(&d, rows));
    return discover(out, model, &d, options_json, listener);
}

symlaw_status symlaw_discover_rows(symlaw_discovery **out, const symlaw_model *model,
                                   const symlaw_rows *rows, const char *options_json,
                                   symlaw_event_fn on_event, void *payload) {
    SL_API__PUBLIC(discover_rows(out, model, rows, options_json,
                                 &(sl_commands_listener){ on_event, payload, sl_clock(), &call }));
}

symlaw_status symlaw_discover(symlaw_discovery **out, const symlaw_model *model,
                              const double *const *x, int n_inputs, const double *y, int64_t rows,
                              const char *const *names, const char *options_json,
                              symlaw_event_fn on_event, void *payload) {
    const symlaw_rows all = {
        .size = sizeof all, .x = x, .n_inputs = n_inputs, .y = y, .rows = rows, .names = names
    };
    return symlaw_discover_rows(out, model, &all, options_json, on_event, payload);
}

void symlaw_discovery_free(symlaw_discovery *f) {
    if (!f) return;
    sl_discover_free(f->discovery);
    sl_arena_clear(&f->arena);
    sl_free(f);
}

/* ---------------------------------------------------------------- questions ----------------- */

static const sl_candidate *candidate(const symlaw_discovery *f, int64_t i) {
    return i >= 0 && i < symlaw_discovery_count(f) ? &f->discovery->candidate[i] : NULL;
}

int64_t symlaw_discovery_count(const symlaw_discovery *f) { return f ? f->discovery->ranked : 0; }

int symlaw_discovery_within_noise(const symlaw_discovery *f) {
    return f && f->discovery->within_noise;
}

static sl_status formula_of(symlaw_formula **out, const symlaw_discovery *f, int64_t i) {
    const sl_candidate *c = candidate(f, i);
    if (!out || !c)
        return sl_fail(SL_EINVAL,
                       "symlaw_discovery_formula: out is NULL, or there is no formula %lld",
                       (long long)i);
    return sl_api__formula_fitted(out, c->expr, c->value, c->params, &f->names);
}

symlaw_status symlaw_discovery_formula(symlaw_formula **out, const symlaw_discovery *f, int64_t i) {
    SL_API__PUBLIC(formula_of(out, f, i));
}

/* A public function: a candidate's value, or what stands for none. */
#define FIGURE(type, function, value, none)               \
    type function(const symlaw_discovery *f, int64_t i) { \
        const sl_candidate *c = candidate(f, i);          \
        return c ? (value) : (none);                      \
    }
FIGURE(double, symlaw_discovery_r2, c->r2, NAN)
FIGURE(double, symlaw_discovery_rmse, c->rms, NAN)
FIGURE(double, symlaw_discovery_bits, c->bits.total, NAN)
FIGURE(double, symlaw_discovery_evidence, c->evidence, NAN)
FIGURE(int, symlaw_discovery_size, c->size, 0)
FIGURE(const char *, symlaw_discovery_source, sl_discover_source_name(c->source), NULL)
FIGURE(double, symlaw_discovery_holdout_r2, c->r2_holdout, NAN)
FIGURE(double, symlaw_discovery_log_prob, c->log_prob, NAN)
FIGURE(const char *, symlaw_discovery_status, sl_discover_candidate_state_name(c->state), NULL)
FIGURE(int, symlaw_discovery_constants, c->params, 0)

int symlaw_discovery_on_front(const symlaw_discovery *f, int64_t i) {
    const sl_candidate *c = candidate(f, i);
    return c && c->front;
}

double symlaw_discovery_constant(const symlaw_discovery *f, int64_t i, int k, double *error) {
    const sl_candidate *c = candidate(f, i);
    const bool there = c && k >= 0 && k < c->params;
    if (error) *error = there ? c->error[k] : NAN;
    return there ? c->value[k] : NAN;
}

const char *symlaw_discovery_cut(const symlaw_discovery *f) {
    return f ? sl_discover_cut_name(f->discovery->cut) : "";
}

static sl_status write_json(char **json, const symlaw_discovery *f) {
    if (!json || !f) return sl_fail(SL_EINVAL, "symlaw_discovery_json: json or found is NULL");
    sl_status st;
    sl_str s = { 0 };
    sl_io_json_open(&s, NULL, '{');
    SL_GO(sl_report_candidates_json(&s, f->discovery, &f->names, f->units_known,
                                    f->discovery->count, NULL));
    sl_io_json_close(&s, '}');
    SL_GO(sl_str_status(&s));
    *json = s.text;
    s = (sl_str){ 0 };
done:
    sl_str_clear(&s);
    return st;
}

symlaw_status symlaw_discovery_json(char **json, const symlaw_discovery *f) {
    SL_API__PUBLIC(write_json(json, f));
}

static sl_status draw(char **svg, const symlaw_discovery *f, const symlaw_rows *rows) {
    if (!svg || !f) return sl_fail(SL_EINVAL, "symlaw_discovery_picture: svg or found is NULL");
    sl_dataset d;
    SL_TRY(view(&d, rows));
    if (d.inputs != f->names.count)
        return sl_fail(SL_EINVAL, "symlaw_discovery_picture: %d inputs; %d were looked at",
                       d.inputs, f->names.count);
    const sl_report_discovery r = { .data = &d,
                                    .discovery = f->discovery,
                                    .names = f->names,
                                    .target = d.target,
                                    .units = f->units_known };
    sl_status st;
    sl_str s = { 0 };
    SL_GO(sl_report_discovery_picture(&s, &r, false));
    SL_GO(sl_str_status(&s));
    *svg = s.text;
    s = (sl_str){ 0 };
done:
    sl_str_clear(&s);
    return st;
}

symlaw_status symlaw_discovery_picture(char **svg, const symlaw_discovery *f,
                                       const symlaw_rows *rows) {
    SL_API__PUBLIC(draw(svg, f, rows));
}

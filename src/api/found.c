/* found - discovery as a call: arrays in, formulas out. */
#include <math.h>
#include <string.h>

#include "api/api_impl.h"

/* ---------------------------------------------------------------- the work ------------------ */

typedef struct reporting {
    sl_api__listener listener;
    const sl_names *names;
    sl_status st; // of writing a line
} reporting;

enum { LINE = 160, DIGITS = 4 };

/* Appends the formula, constants to a few digits: a line of progress need not be exact. */
static sl_status add_short(sl_str *s, const sl_candidate *c, const sl_names *names) {
    double value[SL_FIT_MAX_PARAMS];
    sl_candidate shown = *c;
    if (!c->expr || c->params > SL_FIT_MAX_PARAMS) return SL_OK;
    for (int i = 0; i < c->params; i++) {
        char text[40];
        sl_snprintf(text, sizeof text, "%.*g", DIGITS, c->value[i]);
        value[i] = sl_strtod(text, NULL);
        if (!isfinite(value[i])) return SL_OK;
    }
    shown.value = value;
    sl_str_add(s, ": ");
    SL_TRY(sl_candidate_print(s, &shown, SL_FORMAT_INFIX, names));
    return sl_str_status(s);
}

/* "sampling, best R2 0.9987: 1.2*a": what is behind the comma are figures. */
static int on_progress(const char *what, double done, double total, const sl_candidate *best,
                       void *payload) {
    reporting *t = payload;
    char text[LINE];
    sl_str formula = { 0 };
    if (best && !isnan(best->r2)) {
        const sl_status st = add_short(&formula, best, t->names);
        t->st = SL_MIN(t->st, st); // a macro: it would print twice
        sl_snprintf(text, sizeof text, "%.40s, best R2 %.6g%.80s", what, best->r2,
                    sl_str_text(&formula));
    } else {
        sl_snprintf(text, sizeof text, "%.40s", what);
    }
    sl_str_clear(&formula);
    if (t->st != SL_OK) return true;
    return sl_api__send_event(&t->listener, SL_EVENT_PROGRESS, text, strlen(text), done, total) !=
           SL_OK;
}

/* Sums and products are always allowed. */
static const uint32_t arithmetic = 1u << SL_OPERATOR_NEG | 1u << SL_OPERATOR_ADD |
                                   1u << SL_OPERATOR_SUB | 1u << SL_OPERATOR_MUL |
                                   1u << SL_OPERATOR_DIV | 1u << SL_OPERATOR_POW;

sl_status sl_api__search_options(sl_search_options *out, const sl_api__run *run) {
    const char *ops = sl_api__named(run, "ops")->text[0];
    *out = (sl_search_options)SL_SEARCH_OPTIONS_INIT;
    if (ops) SL_TRY(sl_universe_ops_parse(&out->ops, ops));
    out->ops |= arithmetic;
    out->max_size = (int)sl_api__named(run, "max-size")->whole;
    out->max_memory = (int64_t)(sl_api__named(run, "max-memory")->real * 1e9);
    return SL_OK;
}

sl_status sl_api__find(sl_discovery **out, const sl_api__asked *asked, const sl_dataset *p,
                       const sl_api__run *run) {
    sl_discover_options o;
    sl_api__discover_options(&o, run);
    SL_TRY(sl_api__search_options(&o.exhaustive, run));
    o.exhaustive.sigma = asked->sigma;
    o.exhaustive.units = asked->units;
    o.open_model = asked->open;
    o.open_payload = asked->payload;
    const double timeout = sl_api__named(run, "timeout")->real;
    if (timeout > 0) o.deadline = run->listener.start + timeout;
    reporting to = { run->listener, asked->names, SL_OK };
    sl_pool *pool = NULL;
    SL_TRY(sl_pool_new(&pool, (int)sl_api__named(run, "threads")->whole));
    sl_status st = sl_discover_run(out, asked->model, pool, p, &o, on_progress, &to);
    sl_pool_free(pool);
    if (st != SL_OK || to.st == SL_OK) return st;
    sl_discovery_free(*out);
    *out = NULL;
    return to.st;
}

/* ---------------------------------------------------------------- the call ------------------ */

/* A value here; the command also takes the name of a column. */
#define SL_API__SIGMA(X)                                     \
    X(SIGMA, "sigma", REAL, 1, "VALUE", "0", NULL, 0, 1e308, \
      "standard deviation of the target's errors; 0: it is estimated")

static const sl_option_info options[] = { SL_DISCOVER_TABLE(SL_API__DISCOVER_OPTION) //
                                          SL_INFER_SHORT_TABLE(SL_API__INFER_OPTION) //
                                          SL_API__SEARCH(SL_API__SEARCH_OPTION)      //
                                          SL_API__SIGMA(SL_API__SEARCH_OPTION)       //
                                          SL_API__TIMEOUT(SL_API__OPTION)            //
                                          SL_API__REPEAT(SL_API__COMMON_OPTION) };

static const sl_command_info info = { .name = "discover",
                                      .options = options,
                                      .n_options = SL_LEN(options) };

static sl_status check_column(const double *column, int64_t rows, const char *name) {
    for (int64_t i = 0; i < rows; i++)
        if (!isfinite(column[i]))
            return sl_fail(SL_EINVAL,
                           "sl_discover: %s has no finite number in row %lld; leave such rows out",
                           name, (long long)i + 1);
    return SL_OK;
}

static sl_status check_data(const sl_dataset *p) {
    if (p->rows < 2)
        return sl_fail(SL_EINVAL, "sl_discover: %lld rows; a formula needs 2 at least",
                       (long long)p->rows);
    for (int i = 0; i < p->inputs; i++) {
        char name[24];
        sl_snprintf(name, sizeof name, "input %d", i + 1);
        if (!p->x[i]) return sl_fail(SL_EINVAL, "sl_discover: %s is NULL", name);
        if (p->names && !p->names[i])
            return sl_fail(SL_EINVAL, "sl_discover: the name of %s is NULL", name);
        SL_TRY(check_column(p->x[i], p->rows, name));
    }
    return check_column(p->y, p->rows, "y");
}

static sl_status copy_names(sl_found *f, const char *const *names, int n) {
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
static sl_status read_units(sl_found *f, const char *list) {
    char plain[SL_DATA_MAX_INPUTS][8];
    const char *names[SL_DATA_MAX_INPUTS];
    for (int i = 0; i < f->names.count; i++) {
        sl_snprintf(plain[i], sizeof plain[i], "x%d", i + 1);
        names[i] = f->names.names ? f->names.names[i] : plain[i];
    }
    return sl_api__units(&f->units_known, &f->units, list, names, f->names.count, "y");
}

static sl_status find(sl_found *f, const sl_trained *model, const sl_dataset *p,
                      const sl_json *given, const sl_api__listener *listener) {
    sl_api__value values[SL_LEN(options)];
    const sl_api__run run = { .info = &info, .values = values, .listener = *listener };
    SL_TRY(sl_api__options_read(values, &info, given));
    SL_TRY(read_units(f, sl_api__named(&run, "units")->text[0]));
    const sl_api__asked asked = { .model = model ? model->infer : NULL,
                                  .names = &f->names,
                                  .sigma = sl_api__named(&run, "sigma")->real,
                                  .units = f->units_known };
    return sl_api__find(&f->discovery, &asked, p, &run);
}

static sl_status discover(sl_found **out, const sl_trained *model, const sl_dataset *p,
                          const char *options_json, const sl_api__listener *listener) {
    SL_TRY(check_data(p));

    sl_status st;
    sl_json *given = NULL;
    sl_found *f = sl_calloc(1, sizeof *f);
    if (!f) return sl_fail_memory(1, sizeof *f, "what is found");
    f->names.count = p->inputs;
    if (p->names) SL_GO(copy_names(f, p->names, p->inputs));
    if (options_json) SL_GO(sl_json_parse(&given, options_json, strlen(options_json)));
    SL_GO(find(f, model, p, given, listener));
    *out = f;
    f = NULL;
done:
    sl_json_free(given);
    sl_found_free(f);
    return st;
}

static sl_status discover_columns(sl_found **out, const sl_trained *model, const double *const *x,
                                  int inputs, const double *y, int64_t rows,
                                  const char *const *names, const char *options_json,
                                  const sl_api__listener *listener) {
    if (!out || !x || !y) return sl_fail(SL_EINVAL, "sl_discover: out, x or y is NULL");
    if (inputs < 1 || inputs > SL_DATA_MAX_INPUTS)
        return sl_fail(SL_EINVAL, "sl_discover: %d inputs; 1 to %d can be given", inputs,
                       SL_DATA_MAX_INPUTS);
    sl_dataset d = sl_data_view(x, inputs, y, rows);
    d.names = names;
    return discover(out, model, &d, options_json, listener);
}

sl_status sl_discover(sl_found **out, const sl_trained *model, const double *const *x, int n_inputs,
                      const double *y, int64_t rows, const char *const *names,
                      const char *options_json, sl_event_fn on_event, void *payload) {
    SL_API__PUBLIC(discover_columns(out, model, x, n_inputs, y, rows, names, options_json,
                                    &(sl_api__listener){ on_event, payload, sl_clock(), &call }));
}

void sl_found_free(sl_found *f) {
    if (!f) return;
    sl_discovery_free(f->discovery);
    sl_arena_clear(&f->arena);
    sl_free(f);
}

/* ---------------------------------------------------------------- questions ----------------- */

static const sl_candidate *candidate(const sl_found *f, int64_t i) {
    return i >= 0 && i < sl_found_count(f) ? &f->discovery->candidate[i] : NULL;
}

int64_t sl_found_count(const sl_found *f) { return f ? f->discovery->ranked : 0; }

int sl_found_within_noise(const sl_found *f) { return f && f->discovery->within_noise; }

static sl_status formula_of(sl_formula **out, const sl_found *f, int64_t i) {
    const sl_candidate *c = candidate(f, i);
    if (!out || !c)
        return sl_fail(SL_EINVAL, "sl_found_formula: out is NULL, or there is no formula %lld",
                       (long long)i);
    return sl_api__formula_fitted(out, c->expr, c->value, c->params, &f->names);
}

sl_status sl_found_formula(sl_formula **out, const sl_found *f, int64_t i) {
    SL_API__PUBLIC(formula_of(out, f, i));
}

double sl_found_r2(const sl_found *f, int64_t i) {
    const sl_candidate *c = candidate(f, i);
    return c ? c->r2 : NAN;
}

double sl_found_error(const sl_found *f, int64_t i) {
    const sl_candidate *c = candidate(f, i);
    return c ? c->rms : NAN;
}

double sl_found_bits(const sl_found *f, int64_t i) {
    const sl_candidate *c = candidate(f, i);
    return c ? c->bits.total : NAN;
}

double sl_found_evidence(const sl_found *f, int64_t i) {
    const sl_candidate *c = candidate(f, i);
    return c ? c->evidence : NAN;
}

int sl_found_size(const sl_found *f, int64_t i) {
    const sl_candidate *c = candidate(f, i);
    return c ? c->size : 0;
}

int sl_found_front(const sl_found *f, int64_t i) {
    const sl_candidate *c = candidate(f, i);
    return c && c->front;
}

const char *sl_found_source(const sl_found *f, int64_t i) {
    const sl_candidate *c = candidate(f, i);
    return c ? sl_source_name(c->source) : NULL;
}

double sl_found_holdout(const sl_found *f, int64_t i) {
    const sl_candidate *c = candidate(f, i);
    return c ? c->r2_holdout : NAN;
}

double sl_found_log_prob(const sl_found *f, int64_t i) {
    const sl_candidate *c = candidate(f, i);
    return c ? c->log_prob : NAN;
}

const char *sl_found_status(const sl_found *f, int64_t i) {
    const sl_candidate *c = candidate(f, i);
    return c ? sl_candidate_state_name(c->state) : NULL;
}

int sl_found_constants(const sl_found *f, int64_t i) {
    const sl_candidate *c = candidate(f, i);
    return c ? c->params : 0;
}

double sl_found_constant(const sl_found *f, int64_t i, int k, double *error) {
    const sl_candidate *c = candidate(f, i);
    const bool there = c && k >= 0 && k < c->params;
    if (error) *error = there ? c->error[k] : NAN;
    return there ? c->value[k] : NAN;
}

const char *sl_api__cut_name(sl_cut cut) {
    switch (cut) {
    case SL_CUT_NONE: break;
    case SL_CUT_TIME: return "time";
    case SL_CUT_CANCEL: return "cancel";
    }
    return "";
}

const char *sl_found_cut(const sl_found *f) { return f ? sl_api__cut_name(f->discovery->cut) : ""; }

static sl_status write_json(char **json, const sl_found *f) {
    if (!json || !f) return sl_fail(SL_EINVAL, "sl_found_json: json or found is NULL");
    sl_status st;
    sl_str s = { 0 };
    sl_json_open(&s, NULL, '{');
    SL_GO(sl_api__found_json(&s, f->discovery, &f->names, f->units_known, f->discovery->count));
    sl_json_close(&s, '}');
    SL_GO(sl_str_status(&s));
    *json = s.text;
    s = (sl_str){ 0 };
done:
    sl_str_clear(&s);
    return st;
}

sl_status sl_found_json(char **json, const sl_found *f) { SL_API__PUBLIC(write_json(json, f)); }

/* training - what a training takes, and the tensors of a model. */
#include "report/report_impl.h"

// parts of a plan's memory      field        what people call it
#define PARTS(X)                  \
    X(weights, "weights")         \
    X(gradients, "gradients")     \
    X(optimiser, "optimizer")     \
    X(activations, "activations") \
    X(batches, "batches")

void sl_report_plan_json(sl_str *s, const sl_train_plan *p) {
    sl_io_json_open(s, "plan", '{');
    SL_JSON_FIELDS(s, p, steps, tokens_per_pair, ratio, flops, flops_pair_paper, flops_pair, lanes,
                   chunk);
    sl_io_json_open(s, "memory", '{');
    sl_io_json_add_int(s, "total", p->memory);
#define X(field, name) sl_io_json_add_int(s, name, p->memory_##field);
    PARTS(X)
#undef X
    sl_io_json_close(s, '}');
    sl_io_json_close(s, '}');
}

void sl_report_memory_table(sl_str *s, const sl_train_plan *p) {
    sl_str_add(s, "\nmemory, in MB\n");
#define X(field, name) sl_report_line(s, name, "%10.1f", 1e-6 * (double)p->memory_##field);
    PARTS(X)
#undef X
    sl_report_line(s, "all", "%10.1f", 1e-6 * (double)p->memory);
}

/* ---------------------------------------------------------------- tensors ------------------- */

static void add_shape(char out[32], const sl_param *p) {
    if (p->dims == 1)
        sl_snprintf(out, 32, "%d", p->shape[0]);
    else
        sl_snprintf(out, 32, "%d x %d", p->shape[0], p->shape[1]);
}

void sl_report_tensor_table(sl_str *s, const sl_model *m) {
    sl_str_add(s, "\ntensors (* regularised)\n");
    for (int i = 0; i < m->n_param; i++) {
        const sl_param *p = &m->param[i];
        char shape[32], digits[32];
        add_shape(shape, p);
        sl_str_addf(s, "  %-44s %-12s %12s %s\n", p->name, shape, sl_group_digits(digits, p->count),
                    p->regularised ? "*" : "");
    }
}

void sl_report_tensor_json(sl_str *s, const sl_model *m) {
    sl_io_json_open(s, "tensors", '[');
    for (int i = 0; i < m->n_param; i++) {
        const sl_param *p = &m->param[i];
        sl_io_json_open(s, NULL, '{');
        sl_io_json_add_text(s, "name", p->name);
        sl_io_json_open(s, "shape", '[');
        for (int d = 0; d < p->dims; d++) sl_io_json_add_int(s, NULL, p->shape[d]);
        sl_io_json_close(s, ']');
        sl_io_json_add_bool(s, "regularised", p->regularised);
        sl_io_json_close(s, '}');
    }
    sl_io_json_close(s, ']');
}

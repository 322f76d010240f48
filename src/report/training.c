/* training - the cost of a training, the tensors of a model. */
#include "report/report_impl.h"

// parts of a plan's memory      field        name in the table
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

static void add_memory(sl_str *s, const sl_train_plan *p) {
    sl_str_add(s, "\nmemory, in MB\n");
#define X(field, name) sl_report_line(s, name, "%10.1f", 1e-6 * (double)p->memory_##field);
    PARTS(X)
#undef X
    sl_report_line(s, "all", "%10.1f", 1e-6 * (double)p->memory);
}

void sl_report_training_table(sl_str *s, const sl_report_training *t) {
    const sl_train_plan *p = t->plan;
    const sl_model *m = t->model;
    const sl_model_options *o = &m->options;
    const double pairs = (double)p->steps * (double)t->batch;
    char a[32], b[32], c[32];
    sl_str_add(s, "model\n");
    sl_report_line(s, "parameters", "%s: %s in the encoder, %s in the decoder",
                   sl_group_digits(a, m->count), sl_group_digits(b, m->count_encoder),
                   sl_group_digits(c, m->count - m->count_encoder));
    sl_report_line(s, "shape", "width %lld, %lld + %lld layers, %lld head%s", (long long)o->width,
                   (long long)o->layers, (long long)o->decoder_layers, (long long)o->heads,
                   o->heads == 1 ? "" : "s");

    sl_str_add(s, "\na pair\n");
    sl_report_line(s, "cells", "%lld points of %lld columns, %g target tokens",
                   (long long)t->points, (long long)o->columns, p->tokens_per_pair);
    sl_report_line(s, "FLOPs", "%.4g as the paper counts, %.4g executed", p->flops_pair_paper,
                   p->flops_pair);

    sl_str_add(s, "\nthe run\n");
    sl_report_line(s, "steps", "%s of %lld pairs", sl_group_digits(a, p->steps),
                   (long long)t->batch);
    sl_report_line(s, "pairs", "%s", sl_group_digits(a, (int64_t)pairs));
    sl_report_line(s, "tokens", "%.4g, %.4g per parameter", pairs * p->tokens_per_pair, p->ratio);
    sl_report_line(s, "FLOPs", "%.4g as the paper counts, %.4g executed", p->flops,
                   pairs * p->flops_pair);
    add_memory(s, p);
    sl_str_addf(s, "  with %d thread%s; %.1f are free\n", t->threads, t->threads == 1 ? "" : "s",
                1e-6 * (double)t->memory_free);
}

void sl_report_training_json(sl_str *s, const sl_report_training *t) {
    const sl_model *m = t->model;
    sl_io_json_add_int(s, "parameters", m->count);
    sl_io_json_add_int(s, "parameters_encoder", m->count_encoder);
    sl_io_json_add_int(s, "parameters_decoder", m->count - m->count_encoder);
    sl_report_plan_json(s, t->plan);
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

/* cmd_info - the verb `info`: what a model and its training would take, or what a file or a folder
 * of a run holds. Nothing of the model's size is allocated. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "commands/commands_impl.h"

typedef sl_commands__info_options options;

#define ROW(field, option, ...) SL_OPTION(options, field, option, __VA_ARGS__)

static const sl_option own_rows[] = {
    ROW(model, "model", .path = SL_PATH_FILE_INPUT, .shown = "FILE",
        .help = "print what a weights file holds, and whether it is complete"),
    ROW(run, "run", .path = SL_PATH_FOLDER_INPUT, .shown = "DIR",
        .help = "print the progress of the run in DIR"),
    ROW(plan, "plan", .path = SL_PATH_FILE_INPUT, .shown = "PLAN",
        .help = "print every run of a study's plan, with FLOPs and time"),
    ROW(table, "table", .path = SL_PATH_FILE_INPUT, .shown = "FILE",
        .help = "print what the columns of a table hold, and which of them \"symlaw discover\" "
                "takes; - is standard input"),
    ROW(ranks, "ranks", .value = 1, .min = 1, .max = 1e6, .shown = "R",
        .help = "--plan: times for R processes, each as fast as this machine, with perfect "
                "scaling"),
    ROW(rate, "rate", .value = NAN, .min = 1, .max = 1e30, .shown = "FLOP/S",
        .help = "--plan: times at this rate of training, by the paper's count of FLOPs, without "
                "measuring"),
    ROW(tensors, "tensors", .help = "print every tensor with its shape"),
    ROW(tokens, "tokens", .value = NAN, .min = 1, .max = SL_TOKEN_MAX, .shown = "T",
        .help = "target tokens of a pair; if not given, they are measured as in training, for "
                "which the set of expressions is built"),
};
static const sl_option_table own = { own_rows, SL_LEN(own_rows) };

static const char help[] =
    "Prints the size of a model and the cost of its training, from the options of\n"
    "\"symlaw train\": parameters, steps, FLOPs, memory. Nothing is trained. The plan\n"
    "is the one that training follows: a length by --ratio or --flops depends on the\n"
    "length of targets, which is measured on the first training pairs. With --tokens\n"
    "their set is not built.\n"
    "\n"
    "FLOPs are counted twice: as in the paper, 6 for each parameter and item, half of\n"
    "the parameters processing the cells of the data and half the tokens; and as\n"
    "executed here in matrix products, attention included.\n"
    "\n"
    "Of a study's plan it prints the sweep and the runs of scale of every size. Steps\n"
    "are timed for a few seconds to estimate the time on this machine; evaluations\n"
    "are not counted.\n"
    "\n"
    "Examples:\n"
    "  symlaw info studies/paper.json                 the paper's study\n"
    "  symlaw info studies/paper.json --rate 1e15 --ranks 8\n"
    "  symlaw info --size 6.5M --ratio 5              the paper's smallest run\n"
    "  symlaw info --size 93M --tokens 32 --json      the largest, at once\n"
    "  symlaw info --width 128 --layers 2 --tensors   every tensor of a model\n"
    "  symlaw info --model runs/a/model-00001000.safetensors\n"
    "  symlaw info --run runs/a                       its progress\n"
    "  symlaw info --table data.csv                   columns of a table";

/* ---------------------------------------------------------------- a plan -------------------- */

static void add_table(sl_str *s, const sl_commands__setup *u, const sl_train_plan *p) {
    const sl_model *m = u->model;
    const sl_model_options *o = &m->options;
    const double pairs = (double)p->steps * (double)u->config.train.batch;
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
                   (long long)u->pairs.points, (long long)o->columns, p->tokens_per_pair);
    sl_report_line(s, "FLOPs", "%.4g as the paper counts, %.4g executed", p->flops_pair_paper,
                   p->flops_pair);

    sl_str_add(s, "\nthe run\n");
    sl_report_line(s, "steps", "%s of %lld pairs", sl_group_digits(a, p->steps),
                   (long long)u->config.train.batch);
    sl_report_line(s, "pairs", "%s", sl_group_digits(a, (int64_t)pairs));
    sl_report_line(s, "tokens", "%.4g, %.4g per parameter", pairs * p->tokens_per_pair, p->ratio);
    sl_report_line(s, "FLOPs", "%.4g as the paper counts, %.4g executed", p->flops,
                   pairs * p->flops_pair);
    sl_report_memory_table(s, p);
    sl_str_addf(s, "  with %d thread%s; %.1f are free\n", u->threads, u->threads == 1 ? "" : "s",
                1e-6 * (double)sl_mem_available());
}

static void add_json(sl_str *s, const sl_commands__setup *u, const sl_train_plan *p) {
    sl_io_json_add_int(s, "parameters", u->model->count);
    sl_io_json_add_int(s, "parameters_encoder", u->model->count_encoder);
    sl_io_json_add_int(s, "parameters_decoder", u->model->count - u->model->count_encoder);
    sl_report_plan_json(s, p);
}

/* The paper's, by its FLOPs: taken where no set can be built. */
static const double paper_tokens = 31.5;

sl_status sl_commands__plan_make(sl_train_plan *out, const sl_commands_run *run,
                                 sl_commands__setup *u, double tokens) {
    sl_universe *set = NULL;
    sl_pairs *pairs = NULL;
    // first of all what needs no set: options that contradict each other are told at once
    SL_TRY(sl_train_plan_make(out, &u->config, u->model, (int)u->pairs.points,
                              tokens > 0 ? tokens : paper_tokens, u->threads, 1));
    if (tokens > 0) return SL_OK;
    sl_status st =
        sl_commands_universe(&set, &u->universe, u->threads, SL_COMMANDS_MEMBERS, &run->listener);
    if (st == SL_ELIMIT) {
        sl_commands_note(&run->listener,
                         "%s; targets are taken to have %g tokens; --tokens says "
                         "otherwise",
                         sl_last_error(), paper_tokens);
        return SL_OK;
    }
    if (st == SL_OK) st = sl_pairs_new(&pairs, set, &u->pairs);
    u->config.pairs = pairs;
    if (st == SL_OK) st = sl_train_plan_make(out, &u->config, u->model, 0, 0, u->threads, 1);
    u->config.pairs = NULL;
    sl_pairs_free(pairs);
    sl_universe_free(set);
    return st;
}

static sl_status plan(sl_commands_run *run, sl_str *result) {
    options *o = run->options;
    sl_commands__setup u;
    sl_train_plan p;
    sl_status st;
    SL_GO(sl_commands__setup_read(&u, run, &o->training));
    SL_GO(sl_commands__plan_make(&p, run, &u, isnan(o->tokens) ? 0 : o->tokens));
    add_json(result, &u, &p);
    if (o->tensors) sl_report_tensor_json(result, u.model);
    if (run->common->json) goto done;
    add_table(&run->output, &u, &p);
    if (o->tensors) sl_report_tensor_table(&run->output, u.model);
    st = sl_commands__output(run);
done:
    sl_commands__setup_clear(&u);
    return st;
}

static sl_status work(sl_commands_run *run, sl_str *result, bool *ok) {
    const options *o = run->options;
    const void *const jobs[] = { &o->model, &o->run, &o->plan, &o->table };
    const void *job;
    (void)ok; // a damaged file is a failure, not an answer
    SL_TRY(sl_commands__one_job(&job, run, jobs, SL_LEN(jobs)));
    if (job == &o->model) return sl_commands__info_model(run, o->model, o->tensors, result);
    if (job == &o->run) return sl_commands__info_run(run, o->run, result);
    if (job == &o->table) return sl_commands__info_table(run, o, result);
    if (job == &o->plan) return sl_commands__info_plan(run, o, result);
    return plan(run, result);
}

sl_commands_command sl_commands__info = {
    .info = { .name = "info",
              .summary = "cost of a model or a study; contents of a file, a table or a run",
              .help = help,
              .positional = "plan" },
    .work = work,
    .size = sizeof(options),
    .parts = { { &own, 0, "options", NULL },
               SL_COMMANDS_READING_PART(options, reading),
               SL_COMMANDS__TRAINING_PARTS(options, training),
               SL_COMMANDS_COMMON_PART },
};

/* cmd_info - the verb `info`: what a model and its training would take, or what a file or a folder
 * of a run holds. Nothing of the model's size is allocated. */
#include <stdio.h>
#include <string.h>

#include "commands/commands.h"

#define OWN_OPTIONS(X)                                                                             \
    X(MODEL, "model", FILE_IN, 1, "FILE", NULL, NULL, 0, 0,                                        \
      "print what a file of weights holds, and whether it is whole")                               \
    X(RUN, "run", FOLDER_IN, 1, "DIR", NULL, NULL, 0, 0, "print how far the run in DIR is")        \
    X(PLAN, "plan", FILE_IN, 1, "PLAN", NULL, NULL, 0, 0,                                          \
      "print every run of a study's plan, with FLOPs and time")                                    \
    X(RANKS, "ranks", INT, 1, "R", "1", NULL, 1, 1e6,                                              \
      "--plan: times for R processes, each as fast as this machine; they are taken to scale "      \
      "perfectly")                                                                                 \
    X(RATE, "rate", REAL, 1, "FLOP/S", NULL, NULL, 1, 1e30,                                        \
      "--plan: times at this rate in training, as the paper counts FLOPs; nothing is measured")    \
    X(TENSORS, "tensors", FLAG, 0, NULL, "false", NULL, 0, 0, "print every tensor with its shape") \
    X(TOKENS, "tokens", REAL, 1, "T", NULL, NULL, 1, SL_TOKEN_MAX,                                 \
      "target tokens of a pair; if it is not given, they are measured as training does, for "      \
      "which "                                                                                     \
      "the set of expressions is built")

enum {
    OWN_OPTIONS(SL_COMMANDS__ID) SL_COMMANDS__RUN_IDS SL_COMMANDS__COMMON(SL_COMMANDS__ID)
        OPT_COUNT_ALL
};

static const symlaw_option_info options[] = { OWN_OPTIONS(
    SL_COMMANDS__OPTION) SL_COMMANDS__RUN_OPTIONS //
                                                  SL_COMMANDS__COMMON(SL_COMMANDS__COMMON_OPTION) };

static const char help[] =
    "Prints what a model has and what training it would take, from the options of\n"
    "\"symlaw train\": parameters, steps, FLOPs, memory. Nothing is trained. The plan\n"
    "is the one that training follows: a length by --ratio or --flops depends on how\n"
    "long targets are, which the first training pairs tell. --tokens spares their\n"
    "set.\n"
    "\n"
    "FLOPs are counted twice: as the paper does, 6 for each parameter and item, half\n"
    "of the parameters seeing the cells of the data and half the tokens; and as\n"
    "executed here in products of matrices, attention included.\n"
    "\n"
    "Of a study's plan it prints the sweep and the runs of scale of every size. Steps\n"
    "are timed for a few seconds to say how long that takes here; evaluations are not\n"
    "counted.\n"
    "\n"
    "Examples:\n"
    "  symlaw info studies/paper.json                 the paper's study\n"
    "  symlaw info studies/paper.json --rate 1e15 --ranks 8\n"
    "  symlaw info --size 6.5M --ratio 5              the paper's smallest run\n"
    "  symlaw info --size 93M --tokens 32 --json      the largest, at once\n"
    "  symlaw info --width 128 --layers 2 --tensors   every tensor of a model\n"
    "  symlaw info --model runs/a/model-00001000.safetensors\n"
    "  symlaw info --run runs/a                       how far is it?";

static const sl_commands__value *value(const sl_commands__run *run, int option) {
    return &run->values[option];
}

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

sl_status sl_commands__plan_make(sl_train_plan *out, const sl_commands__run *run,
                                 sl_commands__setup *u, double tokens) {
    sl_universe *set = NULL;
    sl_pairs *pairs = NULL;
    // first of all what needs no set: options that contradict each other are told at once
    SL_TRY(sl_train_plan_make(out, &u->config, u->model, (int)u->pairs.points,
                              tokens > 0 ? tokens : paper_tokens, u->threads, 1));
    if (tokens > 0) return SL_OK;
    sl_status st =
        sl_commands__universe(&set, &u->universe, u->threads, SL_COMMANDS__MEMBERS, &run->listener);
    if (st == SL_ELIMIT) {
        sl_commands__note(&run->listener,
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

static sl_status plan(sl_commands__run *run, sl_str *result) {
    sl_commands__setup u;
    sl_train_plan p;
    sl_status st;
    SL_GO(sl_commands__setup_read(&u, run));
    const sl_commands__value *tokens = value(run, OPT_TOKENS);
    SL_GO(sl_commands__plan_make(&p, run, &u, tokens->given ? tokens->real : 0));
    add_json(result, &u, &p);
    if (value(run, OPT_TENSORS)->flag) sl_report_tensor_json(result, u.model);
    if (value(run, OPT_JSON)->flag) goto done;
    add_table(&run->output, &u, &p);
    if (value(run, OPT_TENSORS)->flag) sl_report_tensor_table(&run->output, u.model);
    st = sl_commands__output(run);
done:
    sl_commands__setup_clear(&u);
    return st;
}

static sl_status work(sl_commands__run *run, sl_str *result, bool *ok) {
    static const int jobs[] = { OPT_MODEL, OPT_RUN, OPT_PLAN };
    int job;
    (void)ok; // a damaged file is a failure, not an answer
    SL_TRY(sl_commands__one_job(&job, run, jobs, SL_LEN(jobs)));
    if (job == OPT_MODEL)
        return sl_commands__info_model(run, value(run, OPT_MODEL)->text[0],
                                       value(run, OPT_TENSORS)->flag, result);
    if (job == OPT_RUN) return sl_commands__info_run(run, value(run, OPT_RUN)->text[0], result);
    if (job == OPT_PLAN) return sl_commands__info_plan(run, value(run, OPT_PLAN)->text[0], result);
    return plan(run, result);
}

const sl_commands__command sl_commands__info = {
    .info = { .name = "info",
              .summary = "what a model or a study takes; what a file or a run holds",
              .help = help,
              .options = options,
              .n_options = SL_LEN(options),
              .positional = "plan" },
    .work = work,
};

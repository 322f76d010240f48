/* info - the command `info`: the cost of a model and its training, the contents of a file, the
 * progress of a run. Nothing of the model's size is allocated. */
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

/* The paper's, computed from its FLOPs. Used where no set can be built. */
static const double paper_tokens = 31.5;

sl_status sl_commands__plan_make(sl_train_plan *out, const sl_commands_run *run,
                                 sl_commands__setup *u, double tokens) {
    sl_universe *set = NULL;
    sl_pairs *pairs = NULL;
    // without a set first: options that contradict each other fail at once
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
    const sl_report_training training = { .model = u.model,
                                          .plan = &p,
                                          .batch = u.config.train.batch,
                                          .points = u.pairs.points,
                                          .threads = u.threads,
                                          .memory_free = sl_mem_available() };
    sl_report_training_json(result, &training);
    if (o->tensors) sl_report_tensor_json(result, u.model);
    if (run->common->json) goto done;
    sl_report_training_table(&run->output, &training);
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
              .summary = "cost of a model or a study; contents of a file, table or run",
              .help = help,
              .positional = "plan" },
    .work = work,
    .size = sizeof(options),
    .parts = { { &own, 0, "options", NULL },
               SL_COMMANDS_READING_PART(options, reading),
               SL_COMMANDS__TRAINING_PARTS(options, training),
               SL_COMMANDS_COMMON_PART },
};

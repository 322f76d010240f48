/* eval - the command `eval`: its options, the journal of judgements, and what a cancelled
 * evaluation leaves. Judging is done in eval/. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "commands/commands_impl.h"

#define NAME(id, name, ...) "|" name
#define SOURCES             (&("" SL_EVAL_CANDIDATES(NAME))[1])

typedef sl_commands__eval_options options;

#define ROW(field, option, ...) SL_OPTION(options, field, option, __VA_ARGS__)

static const sl_option own_rows[] = {
    ROW(model, "model", .path = SL_PATH_FILE_INPUT, .shown = "PATH",
        .help = "a weights file, or the folder of a run, whose newest checkpoint is taken; if not "
                "given, what SYMLAW_MODEL names, or runs/best.safetensors, or the model that is "
                "installed with the program"),
    ROW(source, "source", .value = SL_EVAL_CANDIDATES_MODEL, .choices = SOURCES, .shown = "SOURCE",
        .help = "source of samples: the model, or, to compare it with, blind draws from its "
                "training distribution, or the best linear formula alone"),
    ROW(split, "split", .value = NAN, .choices = SL_COMMANDS__EVAL_SPLITS, .shown = "SPLIT",
        .help = "problems of the model's data that training has not seen; test if no other "
                "problems are given"),
    ROW(pairs, "pairs", .path = SL_PATH_FILE_INPUT, .shown = "FILE",
        .help = "problems of a file, a JSON object a line: x, y and, if known, id and expr"),
    ROW(formulas, "formulas", .path = SL_PATH_FILE_INPUT, .shown = "FILE",
        .help = "problems from a table of formulas: name, formula, lo, hi, npoints; or name, "
                "formula and variables, a cell such as \"m:1:5 v:0:2\": names and ranges"),
    ROW(rows, "rows", .value = 0, .max = 1e6, .shown = "N",
        .help = "--formulas: rows that are drawn for a formula; 0: npoints of the table, or 200"),
    ROW(limit, "limit", .value = 0, .max = 1e12, .shown = "N",
        .help = "the first N problems only; 0: all"),
    ROW(max_points, "max-points", .value = 1000, .min = 2, .max = 1e6, .shown = "N",
        .help = "--formulas: largest number of points of a formula, where npoints is larger"),
    ROW(noise, "noise", .value = 0, .max = 1e6, .shown = "PART",
        .help = "add normal errors to y, of a standard deviation of PART times its root mean "
                "square"),
    ROW(digits, "digits", .value = 0, .max = 17, .shown = "N",
        .help = "round y to N significant digits; 0: not at all"),
    ROW(seeds, "seeds", .value = 3, .min = 1, .max = 1000, .shown = "N",
        .help = "evaluations of each problem, with samples of their own: --seed, --seed + 1, ..."),
    ROW(look.timeout, "timeout", .value = 0, .max = 1e6, .shown = "S",
        .help = "seconds for a problem, after which the best so far is judged; 0: no limit"),
    ROW(budgets, "budgets", .shown = "LIST",
        .help = "seconds for a problem, such as 0.1,1,10: one run with the largest, and the share "
                "that is recovered within each"),
    ROW(predictions, "predictions", .path = SL_PATH_FILE_OUTPUT, .shown = "FILE",
        .help = "write what the first seed found, a JSON object a line, in the order of the "
                "problems"),
    ROW(journal, "journal", .path = SL_PATH_FILE_IN_PLACE, .shown = "FILE",
        .help = "keep judgements in FILE, and continue after those that it has; if not given, "
                "--predictions uses FILE.part; /dev/null keeps none"),
    SL_COMMANDS_OUT(options),
};
static const sl_option_table own = { own_rows, SL_LEN(own_rows) };

static const char help[] =
    "Evaluates a model: for each problem it writes --samples formulas, the one with\n"
    "the highest R2 is kept (of equal ones the more probable), and that one is\n"
    "  solved   the truth: equal canonical forms\n"
    "  equal    the truth's values at fresh points, without proof\n"
    "  close    R2 > 0.99\n"
    "  miss     none of these\n"
    "  found    where the truth is not known\n"
    "Acc_solved is the share of solved and equal, Acc_R2 that of R2 > 0.99. Shares\n"
    "have 95 % intervals and are also given for each seed.\n"
    "\n"
    "By default the model's samples are used unmodified, as in the paper. --refine,\n"
    "--grammar, --scale and --baseline switch on what \"symlaw discover\" does besides;\n"
    "--rank simple keeps what it would show first: of the formulas within 1e-12 of\n"
    "the highest R2 the simplest.\n"
    "\n"
    "--search exhaustive evaluates the search without a model, --search both the\n"
    "search with a model, each as \"symlaw discover\" would answer: --effort, --refine\n"
    "and the like have its defaults. --budgets 0.1,1,10 prints the share that is\n"
    "recovered within each time; wrong is a formula that is reported as exact and is\n"
    "not. With --noise or --digits a formula is right in structure if it becomes the\n"
    "truth when its constants are fitted to y without errors. Without --model,\n"
    "--split is that of \"symlaw pairs\".\n"
    "\n"
    "Baselines, evaluated like the model and on the same problems: --source blind\n"
    "takes the best of --samples expressions drawn from the training distribution\n"
    "without reading the data; --source linear takes the best linear formula.\n"
    "\n"
    "Examples:\n"
    "  symlaw eval --limit 50 --seeds 1                   the model of \"discover\"\n"
    "  symlaw eval --model runs/small                     its test split, 3 seeds\n"
    "  symlaw eval --model runs/small --source blind      the level of chance\n"
    "  symlaw eval --search exhaustive --budgets 0.1,1 \\\n"
    "      --formulas examples/formulas/feynman.csv\n"
    "  symlaw eval --model runs/small --journal eval.jsonl   resumes after a stop\n"
    "  symlaw eval --model runs/small --pairs pairs.jsonl --predictions found.jsonl\n"
    "  symlaw eval --model runs/small --refine -1 \\\n"
    "      --formulas examples/formulas/public.csv\n"
    "\n"
    "A prediction has id, expr (Python), latex, r2, status and seconds. The file\n"
    "appears at the end; until then judgements are in FILE.part. After a stop or a\n"
    "crash the same command resumes.\n"
    "\n"
    "The same options give the same figures for any number of threads. With\n"
    "--timeout they depend on the machine; what was cut is counted and marked.";

/* ---------------------------------------------------------------- what is asked ------------- */

/* The files of predictions and judgements. */
typedef struct place {
    const char *predictions; // NULL: none are written
    sl_file *file;           // the predictions', where it cannot be opened twice; else NULL
    const char *journal;     // NULL: none is kept
    sl_str beside;           // the journal's path, where it has the predictions' name
} place;

/* Checks before the work that the file can be created. A pipe or a device stays open: the reader of
 * a pipe would take a close for the end of the data. */
static sl_status try_file(place *p) {
    if (strcmp(p->predictions, "-") == 0)
        return sl_fail(SL_EINVAL, "--predictions needs a file: it cannot go to standard output");
    SL_TRY(sl_file_create(&p->file, p->predictions));
    if (!sl_file_is_direct(p->predictions)) sl_file_discard(&p->file);
    return SL_OK;
}

static sl_status place_find(place *p, const sl_commands_run *run) {
    const options *o = run->options;
    p->predictions = o->predictions;
    p->journal = o->journal;
    if (p->journal && strcmp(p->journal, "-") == 0)
        return sl_fail(SL_EINVAL, "--journal needs a file: it is read again to resume");
    const bool given = p->journal;
    if (given && strcmp(p->journal, "/dev/null") == 0) p->journal = NULL; // said to want none
    if (!p->predictions) return SL_OK;
    SL_TRY(try_file(p));
    if (given || p->file) return SL_OK; // beside a pipe or a device nothing can be kept
    sl_str_addf(&p->beside, "%s.part", p->predictions);
    SL_TRY(sl_str_status(&p->beside));
    p->journal = p->beside.text;
    return sl_commands__file_check(run, "the .part of --predictions", p->journal,
                                   SL_PATH_FILE_IN_PLACE);
}

/* One source of problems; --split test, also as the result records it, where none was named. */
static sl_status check_source(sl_commands_run *run) {
    options *o = run->options;
    const void *const jobs[] = { &o->split, &o->pairs, &o->formulas }, *chosen;
    SL_TRY(sl_commands__one_job(&chosen, run, jobs, SL_LEN(jobs)));
    if (!chosen) o->split = 0; // test
    return SL_OK;
}

/* All that a judgement depends on: a call that continues a journal must agree with it. */
static void add_identity(sl_str *s, const sl_commands_run *run, const sl_infer *model,
                         const sl_commands__problems *p) {
    const options *o = run->options;
    const void *const fields[] = { &o->common.seed,   &o->seeds,          &o->look.timeout,
                                   &o->noise,         &o->digits,         &o->look.ops,
                                   &o->look.max_size, &o->look.max_memory };
    sl_io_json_open(s, NULL, '{');
    sl_io_json_add_text(s, "version", SL_VERSION);
    sl_io_json_add_text(s, "model", model ? sl_infer_about(model)->hash : NULL);
    sl_commands__option_write(s, o, sl_commands__row(run, &o->source));
    sl_io_json_add_text(s, "problems", p->hash);
    sl_io_json_add_int(s, "count", p->source.count);
    for (int i = 0; i < SL_LEN(fields); i++)
        sl_commands__option_write(s, o, sl_commands__row(run, fields[i]));
    sl_commands__options_write(s, &o->look.discover, &sl_discover_table);
    sl_commands__options_write(s, &o->look.discover.infer, &sl_infer_table);
    sl_io_json_close(s, '}');
}

/* ---------------------------------------------------------------- while it runs ------------- */

typedef struct watcher {
    const sl_commands_run *run;
    int64_t done, total;
} watcher;

static int on_judgement(int64_t done, int64_t total, double solved, void *payload) {
    watcher *w = payload;
    char line[128];
    w->done = done;
    w->total = total;
    const int n = sl_snprintf(line, sizeof line, "evaluating, %lld/%lld, solved %.3f",
                              (long long)done, (long long)total, solved);
    return sl_commands_send_event(&w->run->listener, SYMLAW_EVENT_PROGRESS, line, (size_t)n,
                                  (double)done, (double)total) != SL_OK;
}

static sl_status fail_stopped(const watcher *w, const place *p) {
    if (!p->journal)
        return sl_fail(SL_ECANCEL,
                       "stopped on request after %lld of %lld judgements; with --journal FILE they "
                       "would have been kept",
                       (long long)w->done, (long long)w->total);
    return sl_fail(
        SL_ECANCEL,
        "stopped on request; %lld of %lld judgements are kept in %.300s; the same command "
        "continues",
        (long long)w->done, (long long)w->total, p->journal);
}

/* ---------------------------------------------------------------- the work ------------------ */

/* When they are written, the journal with their name is removed. If they cannot be written, it
 * stays, and the figures are still printed. */
static sl_status write_predictions(sl_commands_run *run, place *p, const sl_report_evaluation *r) {
    sl_status st = p->file ? SL_OK : sl_file_create(&p->file, p->predictions);
    if (st == SL_OK) st = sl_report_write_predictions(&p->file, r);
    if (st == SL_OK && p->journal && p->journal == p->beside.text) unlink(p->journal);
    if (st != SL_EIO) return st;
    sl_commands_fail_late(run, st);
    p->predictions = NULL;
    return SL_OK;
}

/* Fills the result and prints. */
static sl_status report_outcome(sl_commands_run *run, place *p, const sl_report_evaluation *r,
                                sl_str *result) {
    const options *o = run->options;
    if (p->predictions) SL_TRY(write_predictions(run, p, r));
    sl_report_evaluation_json(result, r);
    sl_io_json_add_text(result, "predictions", p->predictions);
    sl_io_json_add_text(result, "journal", o->journal);
    if (o->common.json) return SL_OK;
    sl_report_evaluation_table(&run->output, r);
    if (p->predictions) sl_report_line(&run->output, "predictions", "%s", p->predictions);
    return sl_commands__output(run);
}

static sl_status evaluate(sl_commands_run *run, place *p, const sl_infer *model, sl_pool *pool,
                          const sl_commands__problems *problems, sl_str *result) {
    options *of = run->options;
    char search[SL_OPTION_TEXT_MAX];
    sl_status st;
    sl_str identity = { 0 };
    sl_arena arena = { 0 };
    sl_eval_summary summary;
    watcher w = { .run = run };
    sl_eval_options o = { .seeds = (int)of->seeds,
                          .journal = p->journal,
                          .candidates = (sl_eval_candidates)of->source,
                          .generator = problems->pairs };
    double budgets[SL_EVAL_MAX_BUDGETS];
    sl_report_evaluation r = { .model = model,
                               .search = sl_option_choice(
                                   search, sl_commands__row(run, &of->look.discover.search),
                                   of->look.discover.search),
                               .source = &problems->source,
                               .hash = problems->hash,
                               .skipped = problems->skipped,
                               .summary = &summary,
                               .candidates = o.candidates,
                               .seed = of->common.seed };
    const sl_search_grammar grammar = sl_commands__eval_grammar(problems);
    if (run->inner) {
        o.guard = run->inner->guard;
        o.guard_payload = run->inner->payload;
    }
    SL_GO(sl_commands_discover_options(&o.discover, &of->look, of->common.seed));
    o.discover.exhaustive.grammar = &grammar;
    SL_GO(sl_commands__eval_budgets(budgets, &o.budgets, run, of));
    o.budget = budgets;
    o.timeout = r.timeout = of->look.timeout; // which budgets may have set
    SL_GO(sl_discover_options_check(&o.discover));
    add_identity(&identity, run, model, problems);
    SL_GO(sl_str_status(&identity));
    o.identity = identity.text;
    st = sl_eval_run(&summary, &r.judgements, &arena,
                     sl_commands__eval_exhaustive(of) ? NULL : model, pool, &problems->source, &o,
                     on_judgement, &w);
    if (st == SL_ECANCEL) st = fail_stopped(&w, p);
    if (st == SL_OK) st = report_outcome(run, p, &r, result);
done:
    sl_arena_clear(&arena);
    sl_str_clear(&identity);
    return st;
}

/* *out := the model, NULL if none is needed. The output files are checked before it is opened. */
static sl_status open_model(sl_infer **out, sl_commands_run *run, place *where) {
    options *o = run->options;
    const bool needed = sl_commands__eval_needs_model(run, o);
    if (needed) SL_TRY(sl_commands__model_named(&o->model, run));
    SL_TRY(place_find(where, run));
    if (!needed) return SL_OK;
    SL_TRY(sl_commands__model_open(out, run, o->model));
    return sl_commands__model_notes(&run->listener, *out);
}

static sl_status work(sl_commands_run *run, sl_str *result, bool *ok) {
    (void)ok; // figures are no verdict
    options *o = run->options;
    sl_status st;
    place where = { 0 };
    sl_infer *model = NULL;
    sl_commands__problems problems = { 0 };
    sl_pool *pool = NULL;
    run->costly = true;
    SL_GO(sl_commands__eval_search_defaults(run, o));
    SL_GO(check_source(run));
    SL_GO(open_model(&model, run, &where));
    SL_GO(sl_commands__problems_open(&problems, run, o, model ? sl_infer_about(model) : NULL,
                                     o->source == SL_EVAL_CANDIDATES_BLIND));
    if (problems.skipped > 0)
        sl_commands_note(&run->listener,
                         "%d formulas are skipped: more than %d variables, or no real values",
                         problems.skipped, problems.variables);
    SL_GO(sl_par_pool_new(&pool, sl_commands__threads(run)));
    st = evaluate(run, &where, model, pool, &problems, result);
done:
    sl_par_pool_free(pool);
    sl_commands__problems_clear(&problems);
    sl_infer_close(model);
    sl_file_discard(&where.file);
    sl_str_clear(&where.beside);
    return st;
}

sl_commands_command sl_commands__eval = {
    .info = { .name = "eval",
              .summary = "evaluate a model by the formulas that it finds",
              .help = help },
    .work = work,
    .size = sizeof(options),
    .parts = { { &own, 0, "options", NULL },
               SL_COMMANDS_LOOK_PARTS(options, look, sl_discover_paper, NULL),
               SL_COMMANDS_COMMON_PART },
};

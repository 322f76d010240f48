/* cmd_eval - the verb `eval`: its options, where judgements are kept meanwhile, and what is left
 * after a stop. The judging is eval/'s. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "commands/commands.h"

#define NAME(id, name, ...) "|" name
#define SOURCES             (&("" SL_EVAL_CANDIDATES(NAME))[1])

#define OWN_OPTIONS(X)                                                                             \
    X(MODEL, "model", FILE_IN, 1, "PATH", NULL, NULL, 0, 0,                                        \
      "a file of weights, or the folder of a run, whose newest checkpoint is taken; if it is not " \
      "given, what SYMLAW_MODEL names, or runs/best.safetensors, or the model that is installed "  \
      "with the program")                                                                          \
    X(SOURCE, "source", CHOICE, 1, "SOURCE", "model", SOURCES, 0, 0,                               \
      "whose samples: the model's, or, to compare it with, blind draws from what it was trained "  \
      "on, or none but the best linear formula")                                                   \
    X(SPLIT, "split", CHOICE, 1, "SPLIT", NULL, "test|valid|withheld", 0, 0,                       \
      "problems that belong to the model's training and that it has not seen; test if nothing "    \
      "else is asked for")                                                                         \
    X(PAIRS, "pairs", FILE_IN, 1, "FILE", NULL, NULL, 0, 0,                                        \
      "problems of others, a JSON object a line: x, y and, if known, id and expr")                 \
    X(FORMULAS, "formulas", FILE_IN, 1, "FILE", NULL, NULL, 0, 0,                                  \
      "problems from a table of formulas: name, formula, lo, hi, npoints; or name, formula and "   \
      "variables, a cell such as \"m:1:5 v:0:2\": names and ranges")                               \
    X(ROWS, "rows", INT, 1, "N", "0", NULL, 0, 1e6,                                                \
      "--formulas: rows that are drawn for a formula; 0: npoints of the table, or 200")            \
    X(LIMIT, "limit", INT, 1, "N", "0", NULL, 0, 1e12, "the first N problems only; 0: all")        \
    X(MAX_POINTS, "max-points", INT, 1, "N", "1000", NULL, 2, 1e6,                                 \
      "--formulas: most points that are drawn for a formula, where npoints says how many")         \
    X(NOISE, "noise", REAL, 1, "PART", "0", NULL, 0, 1e6,                                          \
      "add normal errors to y, of a standard deviation of PART times its root mean square")        \
    X(DIGITS, "digits", INT, 1, "N", "0", NULL, 0, 17,                                             \
      "round y to N significant digits; 0: not at all")                                            \
    X(SEEDS, "seeds", INT, 1, "N", "3", NULL, 1, 1000,                                             \
      "how often each problem is judged, with samples of their own: --seed, --seed + 1, ...")      \
    X(TIMEOUT, "timeout", REAL, 1, "S", "0", NULL, 0, 1e6,                                         \
      "seconds for a problem, after which the best so far is judged; 0: no limit")                 \
    X(BUDGETS, "budgets", TEXT, 1, "LIST", NULL, NULL, 0, 0,                                       \
      "seconds for a problem, such as 0.1,1,10: one run with the largest, and the share that is "  \
      "recovered within each")                                                                     \
    X(PREDICTIONS, "predictions", FILE_OUT, 1, "FILE", NULL, NULL, 0, 0,                           \
      "write what the first seed found, a JSON object a line, in the order of the problems")       \
    X(JOURNAL, "journal", FILE_INOUT, 1, "FILE", NULL, NULL, 0, 0,                                 \
      "keep judgements in FILE, and go on behind those that it has; with --predictions FILE.part"  \
      " if it is not given; /dev/null keeps none")                                                 \
    X(OUT, "out", FILE_OUT, 1, "FILE", NULL, NULL, 0, 0,                                           \
      "write to FILE, which appears whole or not at all; - is standard output")

enum {
    OWN_OPTIONS(SL_COMMANDS__ID) SL_COMMANDS__SEARCH(SL_COMMANDS__ID)
        SL_DISCOVER_PAPER_TABLE(SL_COMMANDS__TABLE_ID) SL_INFER_TABLE(SL_COMMANDS__TABLE_ID)
            SL_COMMANDS__COMMON(SL_COMMANDS__ID) OPT_COUNT_ALL
};

static const symlaw_option_info options[] = { OWN_OPTIONS(SL_COMMANDS__OPTION)                //
                                              SL_COMMANDS__SEARCH(SL_COMMANDS__SEARCH_OPTION) //
                                              SL_DISCOVER_PAPER_TABLE(
                                                  SL_COMMANDS__DISCOVER_OPTION)         //
                                              SL_INFER_TABLE(SL_COMMANDS__INFER_OPTION) //
                                              SL_COMMANDS__COMMON(SL_COMMANDS__COMMON_OPTION) };

static const char help[] =
    "Judges a model by what it finds: for each problem it writes --samples formulas,\n"
    "the one with the highest R2 is kept (of equal ones the more probable), and\n"
    "that one is\n"
    "  solved   the truth: equal canonical forms\n"
    "  equal    the truth's values at fresh points, without proof\n"
    "  close    R2 > 0.99\n"
    "  miss     none of these\n"
    "  found    where the truth is not known\n"
    "Acc_solved is the share of solved and equal, Acc_R2 that of R2 > 0.99. Shares\n"
    "come with 95 % intervals and for each seed.\n"
    "\n"
    "By default what the model says is taken as it is, as in the paper. --refine,\n"
    "--grammar, --scale and --baseline switch on what \"symlaw discover\" does\n"
    "besides; --rank simple keeps what it would show first: of the formulas within\n"
    "1e-12 of the highest R2 the simplest.\n"
    "\n"
    "--search exhaustive judges the search without a model, --search both the search\n"
    "with a model's help, each as \"symlaw discover\" would answer: --effort, --refine\n"
    "and the like have its defaults. --budgets 0.1,1,10 prints what is recovered\n"
    "within each time; wrong is a formula that is said to hold exactly and does not.\n"
    "With --noise or --digits a formula is right in structure if it becomes the truth\n"
    "when its numbers are fitted to y without errors. Without --model, --split is\n"
    "that of \"symlaw pairs\".\n"
    "\n"
    "Baselines, judged as the model is and on the same problems: --source blind takes\n"
    "the best of --samples expressions that are drawn as training draws them, without\n"
    "a look at the data; --source linear takes the best linear formula.\n"
    "\n"
    "Examples:\n"
    "  symlaw eval --limit 50 --seeds 1                   the model of \"discover\"\n"
    "  symlaw eval --model runs/small                     its test split, 3 seeds\n"
    "  symlaw eval --model runs/small --source blind      what chance would find\n"
    "  symlaw eval --search exhaustive --budgets 0.1,1 \\\n"
    "      --formulas examples/formulas/feynman.csv\n"
    "  symlaw eval --model runs/small --journal eval.jsonl   goes on after a stop\n"
    "  symlaw eval --model runs/small --pairs pairs.jsonl --predictions found.jsonl\n"
    "  symlaw eval --model runs/small --refine -1 \\\n"
    "      --formulas examples/formulas/public.csv\n"
    "\n"
    "A prediction has id, expr (Python), latex, r2, status and seconds. The file\n"
    "appears at the end; until then judgements are in FILE.part. After a stop or a\n"
    "crash the same command goes on.\n"
    "\n"
    "The same options give the same figures for any number of threads. With\n"
    "--timeout they depend on the machine; what was cut is counted and marked.";

static const sl_commands__value *value(const sl_commands__run *run, int option) {
    return &run->values[option];
}

static const char *text(const sl_commands__run *run, int option) {
    return value(run, option)->text[0];
}

/* ---------------------------------------------------------------- what is asked ------------- */

/* Where judgements are kept while it runs. */
typedef struct place {
    const char *predictions; // NULL: none are written
    sl_file *file;           // the predictions', where it cannot be opened twice; else NULL
    const char *journal;     // NULL: none is kept
    sl_str beside;           // the journal's path, where it has the predictions' name
} place;

/* That a file can be made there is seen before the work, not after it. A pipe or a device stays
 * open: whoever reads a pipe takes its first end for the last. */
static sl_status try_file(place *p) {
    if (strcmp(p->predictions, "-") == 0)
        return sl_fail(SL_EINVAL, "--predictions needs a file: it cannot go to standard output");
    SL_TRY(sl_file_create(&p->file, p->predictions));
    if (!sl_file_is_direct(p->predictions)) sl_file_discard(&p->file);
    return SL_OK;
}

static sl_status place_find(place *p, const sl_commands__run *run) {
    p->predictions = text(run, OPT_PREDICTIONS);
    p->journal = text(run, OPT_JOURNAL);
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
                                   SYMLAW_OPTION_IN_PLACE);
}

/* One source of problems; --split test, also as the result records it, where none was named. */
static sl_status check_source(sl_commands__run *run) {
    static const int jobs[] = { OPT_SPLIT, OPT_PAIRS, OPT_FORMULAS };
    int chosen;
    SL_TRY(sl_commands__one_job(&chosen, run, jobs, SL_LEN(jobs)));
    if (chosen >= 0) return SL_OK;
    run->values[OPT_SPLIT].text[0] = "test";
    run->values[OPT_SPLIT].given = true;
    return SL_OK;
}

static sl_eval_candidates source_of(const sl_commands__run *run) {
    return sl_eval_candidates_find(text(run, OPT_SOURCE));
}

/* All that a judgement depends on: who goes on with a journal must agree with it. */
static void add_identity(sl_str *s, const sl_commands__run *run, const sl_infer *model,
                         const sl_commands__problems *p) {
    sl_io_json_open(s, NULL, '{');
    sl_io_json_add_text(s, "version", SL_VERSION);
    sl_io_json_add_text(s, "model", model ? sl_infer_about(model)->hash : NULL);
    sl_commands__option_write(s, &options[OPT_SOURCE], value(run, OPT_SOURCE));
    sl_io_json_add_text(s, "problems", p->hash);
    sl_io_json_add_int(s, "count", p->source.count);
#define WRITE(field, ...) \
    sl_commands__option_write(s, &options[OPT_##field], value(run, OPT_##field));
    WRITE(SEED)
    WRITE(SEEDS)
    WRITE(TIMEOUT)
    WRITE(NOISE)
    WRITE(DIGITS)
    WRITE(OPS)
    WRITE(MAX_SIZE)
    WRITE(MAX_MEMORY)
    SL_DISCOVER_PAPER_TABLE(WRITE)
    SL_INFER_TABLE(WRITE)
#undef WRITE
    sl_io_json_close(s, '}');
}

/* ---------------------------------------------------------------- while it runs ------------- */

typedef struct watcher {
    const sl_commands__run *run;
    int64_t done, total;
} watcher;

static int on_judgement(int64_t done, int64_t total, double solved, void *payload) {
    watcher *w = payload;
    char line[128];
    w->done = done;
    w->total = total;
    const int n = sl_snprintf(line, sizeof line, "evaluating, %lld/%lld, solved %.3f",
                              (long long)done, (long long)total, solved);
    return sl_commands__send_event(&w->run->listener, SYMLAW_EVENT_PROGRESS, line, (size_t)n,
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

/* With them the journal that has their name is done with. Where they cannot be written it stays,
 * and the figures are printed all the same. */
static sl_status write_predictions(sl_commands__run *run, place *p, const sl_report_evaluation *r) {
    sl_status st = p->file ? SL_OK : sl_file_create(&p->file, p->predictions);
    if (st == SL_OK) st = sl_report_write_predictions(&p->file, r);
    if (st == SL_OK && p->journal && p->journal == p->beside.text) unlink(p->journal);
    if (st != SL_EIO) return st;
    sl_commands__fail_late(run, st);
    p->predictions = NULL;
    return SL_OK;
}

/* What stands in the result and is printed. */
static sl_status tell_outcome(sl_commands__run *run, place *p, const sl_report_evaluation *r,
                              sl_str *result) {
    if (p->predictions) SL_TRY(write_predictions(run, p, r));
    sl_report_evaluation_json(result, r);
    sl_io_json_add_text(result, "predictions", p->predictions);
    sl_io_json_add_text(result, "journal", text(run, OPT_JOURNAL));
    if (value(run, OPT_JSON)->flag) return SL_OK;
    sl_report_evaluation_table(&run->output, r);
    if (p->predictions) sl_report_line(&run->output, "predictions", "%s", p->predictions);
    return sl_commands__output(run);
}

static sl_status evaluate(sl_commands__run *run, place *p, const sl_infer *model, sl_pool *pool,
                          const sl_commands__problems *problems, sl_str *result) {
    sl_status st;
    sl_str identity = { 0 };
    sl_arena arena = { 0 };
    sl_eval_summary summary;
    watcher w = { .run = run };
    sl_eval_options o = { .seeds = (int)value(run, OPT_SEEDS)->whole,
                          .journal = p->journal,
                          .candidates = source_of(run),
                          .generator = problems->pairs };
    double budgets[SL_EVAL_MAX_BUDGETS];
    sl_report_evaluation r = { .model = model,
                               .search = sl_commands__named(run, "search")->text[0],
                               .source = &problems->source,
                               .hash = problems->hash,
                               .skipped = problems->skipped,
                               .summary = &summary,
                               .candidates = o.candidates,
                               .seed = value(run, OPT_SEED)->whole };
    const sl_search_grammar grammar = sl_commands__eval_grammar(problems);
    if (run->inner) {
        o.guard = run->inner->guard;
        o.guard_payload = run->inner->payload;
    }
    sl_commands__discover_options(&o.discover, run);
    SL_GO(sl_commands__search_options(&o.discover.exhaustive, run));
    o.discover.exhaustive.grammar = &grammar;
    SL_GO(sl_commands__eval_budgets(budgets, &o.budgets, run));
    o.budget = budgets;
    o.timeout = r.timeout = value(run, OPT_TIMEOUT)->real; // which budgets may have set
    SL_GO(sl_discover_options_check(&o.discover));
    add_identity(&identity, run, model, problems);
    SL_GO(sl_str_status(&identity));
    o.identity = identity.text;
    st = sl_eval_run(&summary, &r.judgements, &arena,
                     sl_commands__eval_exhaustive(run) ? NULL : model, pool, &problems->source, &o,
                     on_judgement, &w);
    if (st == SL_ECANCEL) st = fail_stopped(&w, p);
    if (st == SL_OK) st = tell_outcome(run, p, &r, result);
done:
    sl_arena_clear(&arena);
    sl_str_clear(&identity);
    return st;
}

/* *out := the model, NULL where none is needed; between its name and the work of opening it the
 * places of output are looked at. */
static sl_status open_model(sl_infer **out, sl_commands__run *run, place *where) {
    const char *path = NULL;
    if (sl_commands__eval_needs_model(run)) SL_TRY(sl_commands__model_named(&path, run));
    SL_TRY(place_find(where, run));
    if (!path) return SL_OK;
    SL_TRY(sl_commands__model_open(out, run, path));
    return sl_commands__model_notes(&run->listener, *out);
}

static sl_status work(sl_commands__run *run, sl_str *result, bool *ok) {
    (void)ok; // figures are no verdict
    sl_status st;
    place where = { 0 };
    sl_infer *model = NULL;
    sl_commands__problems problems = { 0 };
    sl_pool *pool = NULL;
    run->costly = true;
    SL_GO(sl_commands__eval_search_defaults(run));
    SL_GO(check_source(run));
    SL_GO(open_model(&model, run, &where));
    SL_GO(sl_commands__problems_open(&problems, run, model ? sl_infer_about(model) : NULL,
                                     source_of(run) == SL_EVAL_CANDIDATES_BLIND));
    if (problems.skipped > 0)
        sl_commands__note(&run->listener,
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

const sl_commands__command sl_commands__eval = {
    .info = { .name = "eval",
              .summary = "judge a model by the formulas that it finds",
              .help = help,
              .options = options,
              .n_options = SL_LEN(options) },
    .work = work,
};

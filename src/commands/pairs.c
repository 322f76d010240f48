/* pairs - the command `pairs`: its options, and which of four jobs they select: a range of pairs,
 * statistics, hashes, or a check of a file. */
#include <math.h>
#include <string.h>

#include "commands/commands_impl.h"

// "|train|valid|..." without its first bar
#define X(id, name) "|" name
static const char splits[] = SL_SPLITS(X), formats[] = SL_COMMANDS__PAIR_FORMATS(X);
#undef X

typedef struct options {
    sl_commands_common common;
    int split, format;                  // SL_SPLIT_*, SL_COMMANDS__PAIR_*
    int64_t start, count, index, stats; // SL_NONE: not given
    int64_t disjoint;
    bool hash;
    const char *from; // NULL: not given
    int64_t errors;
    const char *out;
    sl_commands__set_options set;
    sl_pairs_options pairs;
} options;

#define ROW(field, option, ...) SL_OPTION(options, field, option, __VA_ARGS__)

/* --start and --count have no default, so that giving them together with --index is detected. */
static const sl_option own_rows[] = {
    ROW(split, "split", .value = SL_SPLIT_TRAIN, .choices = splits + 1, .shown = "SPLIT",
        .help = "split: train, or one of those that training never sees"),
    ROW(start, "start", .value = NAN, .max = 1e15, .shown = "I",
        .help = "first pair; 0 if not given"),
    ROW(count, "count", .value = NAN, .max = 1e12, .shown = "N",
        .help = "number of pairs; if not given, 10 of train, and the rest of another split"),
    ROW(index, "index", .value = NAN, .max = 1e15, .shown = "I", .help = "this pair only"),
    ROW(format, "format", .value = SL_COMMANDS__PAIR_JSONL, .choices = formats + 1,
        .shown = "FORMAT",
        .help = "JSON lines; a table for spreadsheets; an array for NumPy; text for people"),
    SL_COMMANDS_OUT(options),
    ROW(stats, "stats", .value = NAN, .min = 1, .max = 1e9, .shown = "N",
        .help = "print statistics of the first N training pairs, and test them against their "
                "distributions"),
    ROW(disjoint, "disjoint", .value = 1000000, .max = 1e12, .shown = "N",
        .help = "--stats: training pairs that are compared with the pairs of other splits"),
    ROW(hash, "hash", .help = "print the configuration and a hash of each split"),
    ROW(from, "from", .path = SL_PATH_FILE_INPUT, .shown = "FILE",
        .help = "check pairs of a file, one JSON object a line; - is standard input"),
    ROW(errors, "errors", .value = 20, .max = 1e9, .shown = "N",
        .help = "--from: bad lines to print, and notes"),
};
static const sl_option_table own = { own_rows, SL_LEN(own_rows) };

static const char help[] =
    "Prints training data: pairs of an expression and a data set of its values. Pairs\n"
    "are not stored. Each is computed from the configuration, its split and its\n"
    "number, so it is the same on every machine, for any number of threads and for\n"
    "any range.\n"
    "\n"
    "An expression of the set E (see \"symlaw expressions\") gets random constants:\n"
    "each variable, exp, sin and root u becomes a*u + b, where a and b are present at\n"
    "random. They are integers from -9 to 9 (--constant-max), a without 0 and 1, b\n"
    "without 0: these would delete u or change nothing. Points are drawn from a few\n"
    "random clusters; points where the expression has no real value are drawn again,\n"
    "and so are constants with which there are too few. Training uses every\n"
    "expression --draws times in a shuffled order, then begins again with fresh\n"
    "draws. The splits valid and test have the same expressions with other constants\n"
    "and data; withheld has expressions that training never sees, if --withheld is\n"
    "above 0.\n"
    "\n"
    "A JSON line has id (such as \"test/17\"), base (index in E), expr (Python),\n"
    "latex, tokens (ids with the end token, without the start token), x (one list\n"
    "per variable) and y. CSV has a row per point; of one pair (--index) just x1,\n"
    "x2, y. The array of .npy is (pairs, points, variables + 1) with y last; columns\n"
    "that were left out are nan.\n"
    "\n"
    "Examples:\n"
    "  symlaw pairs --index 7 --format pretty              print one pair\n"
    "  symlaw pairs --split test --out test.jsonl          the whole test split\n"
    "  symlaw pairs --count 100000 --format npy --out train.npy\n"
    "  symlaw pairs --index 7 --format csv --out table.csv\n"
    "  symlaw pairs --stats 20000                          test their distributions\n"
    "  symlaw pairs --split withheld --withheld 0.01 --count 3 --format pretty\n"
    "  symlaw pairs --hash                                 to compare machines\n"
    "  symlaw pairs --from test.jsonl                      check a file line by line\n"
    "\n"
    "--from needs x, of up to --variables columns, and y in each line; id and expr\n"
    "are optional. Bad lines are named with their reason; where expr does not give\n"
    "y, a note says so. The exit code is 1 when a line is bad or there is none, and\n"
    "when --stats finds something wrong.";

/* ---------------------------------------------------------------- which pairs --------------- */

static sl_status fail_nothing_withheld(void) {
    return sl_fail(SL_EINVAL,
                   "no expressions are withheld; give --withheld 0.01, here and in training");
}

/* Checks that do not need the set. */
static sl_status check_export(const sl_commands_run *run) {
    const options *o = run->options;
    const int64_t *const range[] = { &o->start, &o->count };
    for (int i = 0; i < SL_LEN(range) && o->index != SL_NONE; i++)
        if (*range[i] != SL_NONE)
            return sl_fail(SL_EINVAL,
                           "--index is one pair and --%s says which of many; give one of "
                           "them",
                           sl_commands__row(run, range[i])->name);
    if (o->common.json &&
        (o->format == SL_COMMANDS__PAIR_CSV || o->format == SL_COMMANDS__PAIR_NPY)) {
        char name[SL_OPTION_TEXT_MAX];
        return sl_fail(SL_EINVAL,
                       "--json prints JSON lines, --format %s does not; give one of them",
                       sl_option_choice(name, sl_commands__row(run, &o->format), o->format));
    }
    if (o->split == SL_SPLIT_WITHHELD && o->set.withheld == 0) return fail_nothing_withheld();
    return SL_OK;
}

/* Fills in the range, and checks it against the size of the split. */
static sl_status choose_range(sl_commands__export *x, const options *o) {
    const int64_t size = sl_pairs_size(x->pairs, x->split);
    const bool train = x->split == SL_SPLIT_TRAIN;
    if (size == 0) return fail_nothing_withheld();
    if (o->index != SL_NONE) {
        x->alone = true;
        x->start = o->index;
        x->count = 1;
    } else {
        x->start = o->start == SL_NONE ? 0 : o->start;
        x->count = o->count != SL_NONE ? o->count : train ? 10 : SL_MAX(size - x->start, 1);
    }
    if (!train && x->count > 0 && x->start + x->count > size) {
        char past[32], n[32], last[32];
        return sl_fail(SL_EINVAL,
                       "there is no pair %s: %s has %s pair%s, 0 to %s; --test-size makes "
                       "more",
                       sl_group_digits(past, SL_MAX(x->start, size)), sl_pairs_split_name(x->split),
                       sl_group_digits(n, size), size == 1 ? "" : "s",
                       sl_group_digits(last, size - 1));
    }
    return SL_OK;
}

static void note_pass(sl_commands_run *run, const sl_commands__export *x) {
    if (x->split != SL_SPLIT_TRAIN || x->count == 0) return;
    const int64_t first = sl_pairs_pass(x->pairs, x->split, x->start);
    const int64_t last = sl_pairs_pass(x->pairs, x->split, x->start + x->count - 1);
    char size[32], pass[32];
    if (last > 0)
        sl_commands_note(&run->listener,
                         "one pass of training has %s pairs; %s pass %s, with fresh draws",
                         sl_group_digits(size, sl_pairs_size(x->pairs, x->split)),
                         first == last ? "these are of" : "these continue into",
                         sl_group_digits(pass, last + 1));
}

/* ---------------------------------------------------------------- jobs ---------------------- */

static sl_status export_pairs(sl_commands_run *run, sl_pool *pool, const sl_pairs *p,
                              sl_str *result) {
    const options *o = run->options;
    sl_commands__export x = { .pairs = p,
                              .split = (sl_split)o->split,
                              .format = (sl_commands__pair_format)o->format };
    const bool json = o->common.json;
    sl_report_identity id;
    SL_TRY(choose_range(&x, o));
    note_pass(run, &x);
    SL_TRY(sl_commands__identify(&id, pool, p, false));
    if (json) x.format = SL_COMMANDS__PAIR_JSONL; // also in place of pretty
    run->printed = json;
    SL_TRY(sl_commands__export_pairs(run, pool, &x));
    sl_io_json_add_text(result, "split", sl_pairs_split_name(x.split));
    SL_JSON_FIELDS(result, &x, start, count);
    sl_report_identity_json(result, &id);
    return SL_OK;
}

static sl_status print_identity(sl_commands_run *run, const sl_report_identity *id,
                                sl_str *result) {
    sl_report_identity_json(result, id);
    if (run->common->json) return SL_OK;
    sl_str command = { 0 };
    sl_commands__pairs_command(&command, run);
    const sl_status st = sl_str_status(&command);
    sl_report_identity_table(&run->output, id, sl_str_text(&command));
    sl_str_clear(&command);
    return st == SL_OK ? sl_commands__output(run) : st;
}

static sl_status hash(sl_commands_run *run, sl_pool *pool, const sl_pairs *p, sl_str *result) {
    sl_report_identity id;
    SL_TRY(sl_commands__identify(&id, pool, p, true));
    return print_identity(run, &id, result);
}

static int on_progress(const char *what, double done, double total, void *payload) {
    return sl_commands_send_event(payload, SYMLAW_EVENT_PROGRESS, what, strlen(what), done,
                                  total) != SL_OK;
}

static sl_status measure(sl_commands_run *run, sl_pool *pool, const sl_pairs *p, sl_str *result,
                         bool *ok) {
    enum { ENTROPY_PAIRS = 20000 }; // an error of 0.03 to 0.06 nats
    const options *o = run->options;
    const int64_t n = o->stats;
    sl_report_identity id;
    sl_pairs_stats stats;
    sl_entropy entropy;
    SL_TRY(sl_commands__identify(&id, pool, p, true));
    SL_TRY(sl_pairs_measure(&stats, pool, p, n, o->disjoint, on_progress, &run->listener));
    SL_TRY(sl_pairs_entropy(&entropy, pool, p, SL_MAX(2, SL_MIN(n, ENTROPY_PAIRS)), on_progress,
                            &run->listener));
    SL_TRY(print_identity(run, &id, result));
    sl_report_pairs_stats_json(result, &stats, &entropy);
    *ok = sl_pairs_stats_good(&stats);
    if (run->common->json) return SL_OK;
    sl_report_pairs_stats_table(&run->output, &stats, &entropy);
    return sl_commands__output(run);
}

static sl_status with_pairs(sl_commands_run *run, const void *job, sl_str *result, bool *ok) {
    const options *o = run->options;
    sl_universe_options uo;
    sl_pairs_options po = o->pairs;
    const int threads = (int)o->common.threads;
    po.seed = (uint64_t)o->common.seed;
    SL_TRY(sl_commands__universe_options(&uo, &o->set, o->common.seed));
    SL_TRY(sl_pairs_options_check(&po)); // before the set is built
    if (!job) SL_TRY(check_export(run));

    sl_status st;
    sl_universe *u = NULL;
    sl_pairs *p = NULL;
    sl_pool *pool = NULL;
    SL_GO(sl_commands_universe(&u, &uo, threads, SL_COMMANDS_MEMBERS, &run->listener));
    SL_GO(sl_pairs_new(&p, u, &po));
    SL_GO(sl_par_pool_new(&pool, threads));
    st = job == &o->stats  ? measure(run, pool, p, result, ok)
         : job == &o->hash ? hash(run, pool, p, result)
                           : export_pairs(run, pool, p, result);
done:
    sl_par_pool_free(pool);
    sl_pairs_free(p);
    sl_universe_free(u);
    return st;
}

/* --split and --format belong to a range of pairs. With another job they would be ignored, and a
 * user would mistake figures of training for those of the split. */
static sl_status check_range_only(const sl_commands_run *run, const void *job) {
    const options *o = run->options;
    const int *const only[] = { &o->split, &o->format };
    for (int i = 0; i < SL_LEN(only) && job; i++) {
        const sl_option *row = sl_commands__row(run, only[i]);
        if (*only[i] != (int)row->value)
            return sl_fail(SL_EINVAL, "--%s has no meaning with --%s; leave it out", row->name,
                           sl_commands__row(run, job)->name);
    }
    return SL_OK;
}

static sl_status work(sl_commands_run *run, sl_str *result, bool *ok) {
    const options *o = run->options;
    const void *const range[] = { &o->index, &o->start, &o->count };
    const void *job = NULL;
    // a range is one job, whichever options say which
    for (int i = 0; i < SL_LEN(range); i++) {
        const void *const jobs[] = { &o->stats, &o->hash, &o->from, range[i] }, *chosen;
        SL_TRY(sl_commands__one_job(&chosen, run, jobs, SL_LEN(jobs)));
        if (chosen != range[i]) job = chosen;
    }
    SL_TRY(check_range_only(run, job));
    if (job == &o->from)
        return sl_commands__check_file(run, o->from, (int)o->set.variables, o->errors, result, ok);
    return with_pairs(run, job, result, ok);
}

sl_commands_command sl_commands__pairs = {
    .info = { .name = "pairs",
              .summary = "show, export and check expression-dataset pairs",
              .help = help },
    .work = work,
    .size = sizeof(options),
    .parts = { { &own, 0, "options", NULL },
               SL_COMMANDS__SET_PART(options, set),
               SL_COMMANDS_PAIRS_PART(options, pairs),
               SL_COMMANDS_COMMON_PART },
};

/* cmd_pairs - the verb `pairs`: its options, and which of four jobs they ask for: a range of pairs,
 * figures, hashes, or a check of somebody else's file. */
#include <string.h>

#include "commands/commands.h"

// "|train|valid|..." without its first bar
#define X(id, name) "|" name
static const char splits[] = SL_SPLITS(X), formats[] = SL_COMMANDS__PAIR_FORMATS(X);
#undef X

/* --start and --count have no default in the table, because it must be seen that they were given
 * beside --index. */
#define OWN_OPTIONS(X)                                                                      \
    X(SPLIT, "split", CHOICE, 1, "SPLIT", "train", splits + 1, 0, 0,                        \
      "which pairs: to train on, or one of those that training never sees")                 \
    X(START, "start", INT, 1, "I", NULL, NULL, 0, 1e15, "first pair; 0 if it is not given") \
    X(COUNT, "count", INT, 1, "N", NULL, NULL, 0, 1e12,                                     \
      "how many; if it is not given, 10 of train, and the rest of another split")           \
    X(INDEX, "index", INT, 1, "I", NULL, NULL, 0, 1e15, "this pair only")                   \
    X(FORMAT, "format", CHOICE, 1, "FORMAT", "jsonl", formats + 1, 0, 0,                    \
      "JSON lines; a table for spreadsheets; an array for NumPy; text for people")          \
    X(OUT, "out", FILE_OUT, 1, "FILE", NULL, NULL, 0, 0,                                    \
      "write to FILE, which appears whole or not at all; - is standard output")             \
    X(STATS, "stats", INT, 1, "N", NULL, NULL, 1, 1e9,                                      \
      "print figures of the first N training pairs, and check that they follow their laws") \
    X(DISJOINT, "disjoint", INT, 1, "N", "1000000", NULL, 0, 1e12,                          \
      "--stats: training pairs to look through for pairs of other splits")                  \
    X(HASH, "hash", FLAG, 0, NULL, "false", NULL, 0, 0,                                     \
      "print the configuration and a hash of each split")                                   \
    X(FROM, "from", FILE_IN, 1, "FILE", NULL, NULL, 0, 0,                                   \
      "check pairs that others made, one JSON object a line; - is standard input")          \
    X(ERRORS, "errors", INT, 1, "N", "20", NULL, 0, 1e9, "--from: bad lines to show, and notes")

enum {
    OWN_OPTIONS(SL_COMMANDS__ID) SL_COMMANDS__UNIVERSE(SL_COMMANDS__ID)
        SL_PAIRS_TABLE(SL_COMMANDS__TABLE_ID) SL_COMMANDS__COMMON(SL_COMMANDS__ID) OPT_COUNT_ALL
};

static const symlaw_option_info options[] = { OWN_OPTIONS(SL_COMMANDS__OPTION)                    //
                                              SL_COMMANDS__UNIVERSE(SL_COMMANDS__UNIVERSE_OPTION) //
                                              SL_PAIRS_TABLE(SL_COMMANDS__PAIRS_OPTION)           //
                                              SL_COMMANDS__COMMON(SL_COMMANDS__COMMON_OPTION) };

static const char help[] =
    "Prints training data: pairs of an expression and a data set of its values.\n"
    "Pairs are not stored. Each is computed from the configuration, its split and\n"
    "its number, so it is the same on every machine, for any number of threads and\n"
    "however it is asked for.\n"
    "\n"
    "An expression of the set E (see \"symlaw expressions\") gets random constants:\n"
    "each variable, exp, sin and root u becomes a*u + b, where a and b are there by\n"
    "chance. They are whole numbers from -9 to 9 (--constant-max), a without 0 and 1,\n"
    "b without 0: these would delete u or change nothing. Points are drawn from a few\n"
    "random clusters; points where the expression has no real value are drawn again,\n"
    "and so are constants with which there are too few. Training goes through every\n"
    "expression --draws times in a shuffled order; then it begins again with fresh\n"
    "draws. The splits valid and test have the same expressions with other constants\n"
    "and data; withheld has expressions that training never sees, if --withheld\n"
    "keeps some.\n"
    "\n"
    "A JSON line has id (such as \"test/17\"), base (index in E), expr (Python),\n"
    "latex, tokens (ids with the end token, without the start token), x (one list\n"
    "per variable) and y. CSV has a row per point; of one pair (--index) just x1,\n"
    "x2, y. The array of .npy is (pairs, points, variables + 1) with y last; columns\n"
    "that were left out are nan.\n"
    "\n"
    "Examples:\n"
    "  symlaw pairs --index 7 --format pretty              look at one pair\n"
    "  symlaw pairs --split test --out test.jsonl          the whole test split\n"
    "  symlaw pairs --count 100000 --format npy --out train.npy\n"
    "  symlaw pairs --index 7 --format csv --out table.csv\n"
    "  symlaw pairs --stats 20000                          do they follow their laws?\n"
    "  symlaw pairs --split withheld --withheld 0.01 --count 3 --format pretty\n"
    "  symlaw pairs --hash                                 to compare machines by\n"
    "  symlaw pairs --from test.jsonl                      check a file line by line\n"
    "\n"
    "--from needs x, of up to --variables columns, and y in each line; id and expr\n"
    "are optional. Bad lines are named with their reason; where expr does not give\n"
    "y, a note says so. The exit code is 1 when a line is bad or there is none, and\n"
    "when --stats finds something wrong.";

static const sl_commands__value *value(const sl_commands__run *run, int option) {
    return &run->values[option];
}

static sl_commands__pair_format format_of(const sl_commands__run *run) {
#define X(id, name) name,
    static const char *const names[] = { SL_COMMANDS__PAIR_FORMATS(X) };
#undef X
    int i = 0;
    while (strcmp(names[i], value(run, OPT_FORMAT)->text[0]) != 0) i++; // a choice of the table
    return (sl_commands__pair_format)i;
}

/* ---------------------------------------------------------------- which pairs --------------- */

static sl_status fail_nothing_withheld(void) {
    return sl_fail(SL_EINVAL,
                   "no expressions are withheld; give --withheld 0.01, here and in training");
}

/* What can be seen before the set is built. */
static sl_status check_export(const sl_commands__run *run) {
    const int range[] = { OPT_START, OPT_COUNT };
    for (int i = 0; i < SL_LEN(range) && value(run, OPT_INDEX)->given; i++)
        if (value(run, range[i])->given)
            return sl_fail(SL_EINVAL,
                           "--index is one pair and --%s says which of many; give one of "
                           "them",
                           options[range[i]].name);
    sl_commands__pair_format f = format_of(run);
    if (value(run, OPT_JSON)->flag && (f == SL_COMMANDS__PAIR_CSV || f == SL_COMMANDS__PAIR_NPY))
        return sl_fail(SL_EINVAL,
                       "--json prints JSON lines, --format %s does not; give one of them",
                       value(run, OPT_FORMAT)->text[0]);
    if (strcmp(value(run, OPT_SPLIT)->text[0], "withheld") == 0 &&
        value(run, OPT_WITHHELD)->real == 0)
        return fail_nothing_withheld();
    return SL_OK;
}

/* Fills in the range, and holds it against what the split has. */
static sl_status choose_range(sl_commands__export *x, const sl_commands__run *run) {
    const int64_t size = sl_pairs_size(x->pairs, x->split);
    const bool train = x->split == SL_SPLIT_TRAIN;
    if (size == 0) return fail_nothing_withheld();
    if (value(run, OPT_INDEX)->given) {
        x->alone = true;
        x->start = value(run, OPT_INDEX)->whole;
        x->count = 1;
    } else {
        x->start = value(run, OPT_START)->whole; // 0 if it was not given
        x->count = value(run, OPT_COUNT)->given ? value(run, OPT_COUNT)->whole
                   : train                      ? 10
                                                : SL_MAX(size - x->start, 1);
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

static void note_pass(sl_commands__run *run, const sl_commands__export *x) {
    if (x->split != SL_SPLIT_TRAIN || x->count == 0) return;
    const int64_t first = sl_pairs_pass(x->pairs, x->split, x->start);
    const int64_t last = sl_pairs_pass(x->pairs, x->split, x->start + x->count - 1);
    char size[32], pass[32];
    if (last > 0)
        sl_commands__note(&run->listener,
                          "one pass of training has %s pairs; %s pass %s, with fresh draws",
                          sl_group_digits(size, sl_pairs_size(x->pairs, x->split)),
                          first == last ? "these are of" : "these continue into",
                          sl_group_digits(pass, last + 1));
}

/* ---------------------------------------------------------------- jobs ---------------------- */

static sl_status export_pairs(sl_commands__run *run, sl_pool *pool, const sl_pairs *p,
                              sl_str *result) {
    sl_commands__export x = { .pairs = p,
                              .split = sl_pairs_split_find(value(run, OPT_SPLIT)->text[0]),
                              .format = format_of(run) };
    const bool json = value(run, OPT_JSON)->flag;
    sl_report_identity id;
    SL_TRY(choose_range(&x, run));
    note_pass(run, &x);
    SL_TRY(sl_commands__identify(&id, pool, p, false));
    if (json) x.format = SL_COMMANDS__PAIR_JSONL; // also in place of pretty
    run->printed = json;
    SL_TRY(sl_commands__export_pairs(run, pool, &x));
    sl_io_json_add_text(result, "split", sl_pairs_split_name(x.split));
    sl_io_json_add_int(result, "start", x.start);
    sl_io_json_add_int(result, "count", x.count);
    sl_report_identity_json(result, &id);
    return SL_OK;
}

static sl_status print_identity(sl_commands__run *run, const sl_report_identity *id,
                                sl_str *result) {
    sl_report_identity_json(result, id);
    if (value(run, OPT_JSON)->flag) return SL_OK;
    sl_str command = { 0 };
    sl_commands__pairs_command(&command, run);
    const sl_status st = sl_str_status(&command);
    sl_report_identity_table(&run->output, id, sl_str_text(&command));
    sl_str_clear(&command);
    return st == SL_OK ? sl_commands__output(run) : st;
}

static sl_status hash(sl_commands__run *run, sl_pool *pool, const sl_pairs *p, sl_str *result) {
    sl_report_identity id;
    SL_TRY(sl_commands__identify(&id, pool, p, true));
    return print_identity(run, &id, result);
}

static int on_progress(const char *what, double done, double total, void *payload) {
    return sl_commands__send_event(payload, SYMLAW_EVENT_PROGRESS, what, strlen(what), done,
                                   total) != SL_OK;
}

static sl_status measure(sl_commands__run *run, sl_pool *pool, const sl_pairs *p, sl_str *result,
                         bool *ok) {
    enum { ENTROPY_PAIRS = 20000 }; // an error of 0.03 to 0.06 nats
    const int64_t n = value(run, OPT_STATS)->whole;
    sl_report_identity id;
    sl_pairs_stats stats;
    sl_entropy entropy;
    SL_TRY(sl_commands__identify(&id, pool, p, true));
    SL_TRY(sl_pairs_measure(&stats, pool, p, n, value(run, OPT_DISJOINT)->whole, on_progress,
                            &run->listener));
    SL_TRY(sl_pairs_entropy(&entropy, pool, p, SL_MAX(2, SL_MIN(n, ENTROPY_PAIRS)), on_progress,
                            &run->listener));
    SL_TRY(print_identity(run, &id, result));
    sl_report_pairs_stats_json(result, &stats, &entropy);
    *ok = sl_pairs_stats_good(&stats);
    if (value(run, OPT_JSON)->flag) return SL_OK;
    sl_report_pairs_stats_table(&run->output, &stats, &entropy);
    return sl_commands__output(run);
}

static sl_status with_pairs(sl_commands__run *run, int job, sl_str *result, bool *ok) {
    sl_universe_options o;
    sl_pairs_options po;
    const int threads = (int)value(run, OPT_THREADS)->whole;
    sl_commands__pairs_options(&po, run);
    SL_TRY(sl_commands__universe_options(&o, run));
    SL_TRY(sl_pairs_options_check(&po)); // before the set is built
    if (job < 0) SL_TRY(check_export(run));

    sl_status st;
    sl_universe *u = NULL;
    sl_pairs *p = NULL;
    sl_pool *pool = NULL;
    SL_GO(sl_commands__universe(&u, &o, threads, SL_COMMANDS__MEMBERS, &run->listener));
    SL_GO(sl_pairs_new(&p, u, &po));
    SL_GO(sl_par_pool_new(&pool, threads));
    switch (job) {
    case OPT_STATS: st = measure(run, pool, p, result, ok); break;
    case OPT_HASH: st = hash(run, pool, p, result); break;
    default: st = export_pairs(run, pool, p, result);
    }
done:
    sl_par_pool_free(pool);
    sl_pairs_free(p);
    sl_universe_free(u);
    return st;
}

/* --split and --format are about a range of pairs. With another job they would be ignored, and
 * figures of training taken for those of the split. */
static sl_status check_range_only(const sl_commands__run *run, int job) {
    const int only[] = { OPT_SPLIT, OPT_FORMAT };
    for (int i = 0; i < SL_LEN(only) && job >= 0; i++) {
        const symlaw_option_info *o = &options[only[i]];
        if (strcmp(value(run, only[i])->text[0], o->default_value) != 0)
            return sl_fail(SL_EINVAL, "--%s has no meaning with --%s; leave it out", o->name,
                           options[job].name);
    }
    return SL_OK;
}

static sl_status work(sl_commands__run *run, sl_str *result, bool *ok) {
    static const int range[] = { OPT_INDEX, OPT_START, OPT_COUNT };
    int job = -1;
    // a range is one job, whichever options say which
    for (int i = 0; i < SL_LEN(range); i++) {
        const int jobs[] = { OPT_STATS, OPT_HASH, OPT_FROM, range[i] };
        int chosen;
        SL_TRY(sl_commands__one_job(&chosen, run, jobs, SL_LEN(jobs)));
        if (chosen != range[i]) job = chosen;
    }
    SL_TRY(check_range_only(run, job));
    if (job == OPT_FROM)
        return sl_commands__check_file(run, value(run, OPT_FROM)->text[0],
                                       (int)value(run, OPT_VARIABLES)->whole,
                                       value(run, OPT_ERRORS)->whole, result, ok);
    return with_pairs(run, job, result, ok);
}

const sl_commands__command sl_commands__pairs = {
    .info = { .name = "pairs",
              .summary = "show, export and check expression-dataset pairs",
              .help = help,
              .options = options,
              .n_options = SL_LEN(options) },
    .work = work,
};

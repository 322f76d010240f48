/* cmd_expressions - the verb `expressions`: its options, and which of five jobs they ask for. */
#include <string.h>

#include "commands/commands.h"

// "|infix|python|..." without its first bar
#define X(id, name, reads) "|" name
static const char formats[] = SL_FORMATS(X);
#undef X

#define OWN_OPTIONS(X)                                                                        \
    X(COUNT, "count", FLAG, 0, NULL, "false", NULL, 0, 0,                                     \
      "print how many there are per depth, and what was dropped and why")                     \
    X(SAMPLE, "sample", INT, 1, "N", NULL, NULL, 1, 1e12,                                     \
      "list only N members, drawn at random by --seed")                                       \
    X(FIND, "find", TEXT, 1, "EXPR", NULL, NULL, 0, 0,                                        \
      "print which member is this function: its index and how it is listed")                  \
    X(CANON, "canon", TEXT, 1, "EXPR", NULL, NULL, 0, 0,                                      \
      "print the canonical form of an expression")                                            \
    X(SAME, "same", TEXTS, 2, "A B", NULL, NULL, 0, 0,                                        \
      "are two expressions the same function wherever both are real? yes, no or unknown")     \
    X(FORMAT, "format", CHOICE, 1, "FORMAT", "infix", formats + 1, 0, 0,                      \
      "how to write expressions")                                                             \
    X(INPUT_FORMAT, "input-format", CHOICE, 1, "FORMAT", "infix", "infix|latex|prefix", 0, 0, \
      "how --find, --canon and --same are written; infix reads python, sympy and c too")      \
    X(NAMES, "names", TEXT, 1, "A,B,...", NULL, NULL, 0, 0,                                   \
      "names of x1, x2, ... in what is read and written")                                     \
    X(OUT, "out", FILE_OUT, 1, "FILE", NULL, NULL, 0, 0,                                      \
      "write to FILE, which appears whole or not at all; - is standard output")

enum {
    SL_COMMANDS__UNIVERSE(SL_COMMANDS__ID) OWN_OPTIONS(SL_COMMANDS__ID)
        SL_COMMANDS__COMMON(SL_COMMANDS__ID) OPT_COUNT_ALL
};

static const symlaw_option_info options[] = { SL_COMMANDS__UNIVERSE(SL_COMMANDS__UNIVERSE_OPTION) //
                                              OWN_OPTIONS(SL_COMMANDS__OPTION)                    //
                                              SL_COMMANDS__COMMON(SL_COMMANDS__COMMON_OPTION) };

static const char help[] =
    "Lists the distinct expressions up to a depth, in a fixed order, one per line.\n"
    "An expression of depth n combines one of depth n-1 with an operator and, if\n"
    "that needs a second operand, any of depth n-1 or less. Each function is listed\n"
    "once, in the shortest form found; constants and functions that are real nowhere\n"
    "are left out.\n"
    "\n"
    "The last depth can be large, so the set holds a sample of it by default\n"
    "(--size). The same options give the same set on every machine; --count prints\n"
    "its hash. A large one is kept in ~/.cache/symlaw for the next listing;\n"
    "SYMLAW_CACHE=FOLDER keeps it elsewhere, SYMLAW_CACHE=off nowhere.\n"
    "\n"
    "Examples:\n"
    "  symlaw expressions --depth 2                        all 929 of two variables\n"
    "  symlaw expressions --depth 3 --count                numbers only, per depth\n"
    "  symlaw expressions --sample 5 --format latex        five at random\n"
    "  symlaw expressions --depth 4 --variables 1 --ops 'exp,sin,+,*' --count\n"
    "  symlaw expressions --canon '(x1 + x2)^2 - x2^2'     the canonical form\n"
    "  symlaw expressions --same 'exp(x1)*exp(x2)' 'exp(x1 + x2)'\n"
    "  symlaw expressions --depth 2 --find 'x1*x2/x1'      which member is it?\n"
    "\n"
    "The exit code is 1 when --find finds nothing and when --same says no or\n"
    "unknown.";

/* ---------------------------------------------------------------- helpers ------------------- */

static const sl_commands__value *value(const sl_commands__run *run, int option) {
    return &run->values[option];
}

static sl_format format_of(const sl_commands__run *run, int option) {
    return sl_expr_format_find(
        value(run, option)->text[0]); // a choice of the table, so it is known
}

/* An answer in words: printed unless the result object is. */
static sl_status print_line(sl_commands__run *run, const char *text) {
    if (value(run, OPT_JSON)->flag) return SL_OK;
    sl_str_add(&run->output, text);
    sl_str_add_char(&run->output, '\n');
    return sl_commands__output(run);
}

/* ---------------------------------------------------------------- without a set ------------- */

static sl_status canon(sl_commands__run *run, const sl_names *names, sl_str *result) {
    const sl_node *e;
    SL_TRY(sl_commands__read_expr(&e, run, "--canon", value(run, OPT_CANON)->text[0],
                                  format_of(run, OPT_INPUT_FORMAT), names));
    SL_TRY(sl_expr_canon(&e, &run->arena, e));
    sl_str text = { 0 };
    sl_status st;
    SL_GO(sl_expr_print(&text, format_of(run, OPT_FORMAT), e, names));
    SL_GO(sl_str_status(&text));
    sl_io_json_add_text(result, "expr", text.text);
    sl_io_json_add_int(result, "nodes", sl_expr_nodes(e));
    sl_io_json_add_bool(result, "real", !sl_expr_is_undefined(e));
    if (sl_expr_is_undefined(e))
        sl_commands__note(&run->listener, "the expression is real nowhere");
    st = print_line(run, text.text);
done:
    sl_str_clear(&text);
    return st;
}

static sl_status same(sl_commands__run *run, const sl_names *names, sl_str *result, bool *ok) {
    sl_format format = format_of(run, OPT_INPUT_FORMAT);
    const sl_node *a, *b;
    SL_TRY(sl_commands__read_expr(&a, run, "--same, first expression",
                                  value(run, OPT_SAME)->text[0], format, names));
    SL_TRY(sl_commands__read_expr(&b, run, "--same, second expression",
                                  value(run, OPT_SAME)->text[1], format, names));
    sl_truth t;
    SL_TRY(sl_expr_same(&t, &run->arena, a, b));
    *ok = sl_yes(t);
    const char *answer = sl_yes(t) ? "yes" : sl_no(t) ? "no" : "unknown";
    if (!sl_yes(t) && !sl_no(t))
        sl_commands__note(&run->listener,
                          "no tested point distinguishes them, but their canonical forms differ");
    sl_io_json_add_text(result, "answer", answer);
    return print_line(run, answer);
}

/* ---------------------------------------------------------------- with one ------------------ */

/* A set that is a sample looks like all there is; say that it is not. */
static void note_sample(sl_commands__run *run, const sl_universe *u) {
    int64_t all = 0;
    for (int i = 0; i <= sl_universe_config(u)->depth; i++)
        all += sl_universe_count(u, i)->distinct;
    char a[32], b[32];
    if (sl_universe_size(u) < all)
        sl_commands__note(&run->listener, "the set holds %s of %s expressions; --size 0 takes all",
                          sl_group_digits(a, sl_universe_size(u)), sl_group_digits(b, all));
}

static sl_status find(sl_commands__run *run, const sl_universe *u, const sl_node *e,
                      const sl_names *names, sl_str *result, bool *ok) {
    const int64_t index = sl_universe_find(u, e);
    *ok = index >= 0;
    if (index < 0) {
        sl_io_json_add_null(result, "index");
        if (sl_universe_lists(u, e))
            sl_commands__note(&run->listener,
                              "it is a function of this universe, but not in the sample");
        note_sample(run, u);
        return print_line(run, "not in the set");
    }
    sl_str text = { 0 }, line = { 0 };
    sl_status st;
    SL_GO(sl_expr_print(&text, format_of(run, OPT_FORMAT), sl_universe_get(u, index), names));
    SL_GO(sl_str_status(&text));
    sl_io_json_add_int(result, "index", index);
    sl_io_json_add_int(result, "level", sl_universe_level(u, index));
    sl_io_json_add_text(result, "expr", text.text);
    sl_io_json_add_bool(result, "withheld", sl_universe_withheld(u, index));
    sl_str_addf(&line, "%lld\t%s", (long long)index, text.text);
    SL_GO(sl_str_status(&line));
    st = print_line(run, line.text);
done:
    sl_str_clear(&line);
    sl_str_clear(&text);
    return st;
}

static sl_status list(sl_commands__run *run, const sl_universe *u, const sl_names *names,
                      sl_str *result) {
    sl_commands__listing l = { .universe = u,
                               .format = format_of(run, OPT_FORMAT),
                               .names = names,
                               .sample = value(run, OPT_SAMPLE)->whole, // 0 when it was not given
                               .json = value(run, OPT_JSON)->flag };
    int64_t listed;
    if (!l.sample) note_sample(run, u);
    SL_TRY(sl_commands__list(&listed, run, &l));
    sl_io_json_add_int(result, "listed", listed);
    return SL_OK;
}

static sl_status with_set(sl_commands__run *run, const sl_names *names, sl_str *result, bool *ok) {
    sl_universe_options o;
    SL_TRY(sl_commands__universe_options(&o, run));
    if (names->count != o.variables)
        return sl_fail(SL_EINVAL,
                       "--names has %d names, but --variables is %d; give --variables %d",
                       names->count, o.variables, names->count);

    // a text that cannot be read must not cost the waiting
    const sl_node *wanted = NULL;
    const char *text = value(run, OPT_FIND)->text[0];
    if (text)
        SL_TRY(sl_commands__read_expr(&wanted, run, "--find", text,
                                      format_of(run, OPT_INPUT_FORMAT), names));

    sl_status st;
    sl_universe *u = NULL;
    // --count shows the enumeration and what it took, so it always runs
    sl_commands__need need =
        wanted || value(run, OPT_COUNT)->flag ? SL_COMMANDS__BUILT : SL_COMMANDS__MEMBERS;
    SL_GO(sl_commands__universe(&u, &o, (int)value(run, OPT_THREADS)->whole, need, &run->listener));
    if (wanted)
        SL_GO(find(run, u, wanted, names, result, ok));
    else if (!value(run, OPT_COUNT)->flag)
        SL_GO(list(run, u, names, result));
    sl_report_count_json(result, u);
    if (value(run, OPT_COUNT)->flag && !value(run, OPT_JSON)->flag) {
        sl_report_count_table(&run->output, u);
        SL_GO(sl_commands__output(run));
    }
done:
    sl_universe_free(u);
    return st;
}

static sl_status work(sl_commands__run *run, sl_str *result, bool *ok) {
    static const int jobs[] = { OPT_COUNT, OPT_SAMPLE, OPT_FIND, OPT_CANON, OPT_SAME };
    sl_names names;
    int job;
    SL_TRY(sl_commands__one_job(&job, run, jobs, SL_LEN(jobs)));
    SL_TRY(sl_commands__read_names(&names, run, value(run, OPT_NAMES)->text[0]));
    if (!names.names) names.count = (int)value(run, OPT_VARIABLES)->whole;
    if (job == OPT_CANON) return canon(run, &names, result);
    if (job == OPT_SAME) return same(run, &names, result, ok);
    return with_set(run, &names, result, ok);
}

const sl_commands__command sl_commands__expressions = {
    .info = { .name = "expressions",
              .summary = "list, count and explore distinct expressions up to a depth",
              .help = help,
              .options = options,
              .n_options = SL_LEN(options) },
    .work = work,
};

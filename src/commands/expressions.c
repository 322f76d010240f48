/* expressions - the command `expressions`: its options, and which of five jobs they select. */
#include <math.h>
#include <string.h>

#include "commands/commands_impl.h"

// "|infix|python|..." without its first bar
#define X(id, name, reads) "|" name
static const char formats[] = SL_FORMATS(X);
#undef X

typedef struct options {
    sl_commands_common common;
    sl_commands__set_options set;
    bool count_only;
    int64_t sample;                                // SL_NONE: not given
    const char *find, *canon, *names, *derivative; // NULL: not given
    const char *same[SL_OPTION_TEXTS_COUNT];
    int format, input_format;
    const char *out;
} options;

#define ROW(field, option, ...) SL_OPTION(options, field, option, __VA_ARGS__)

// in place order of input-format
static const sl_format input_formats[] = { SL_FORMAT_INFIX, SL_FORMAT_LATEX, SL_FORMAT_PREFIX };

static const sl_option own_rows[] = {
    ROW(count_only, "count-only", .alias = "count",
        .help = "print the number of expressions per depth, and what was dropped and why"),
    ROW(sample, "sample", .value = NAN, .min = 1, .max = 1e12, .shown = "N",
        .help = "list only N members, sampled by --seed"),
    ROW(find, "find", .shown = "EXPR",
        .help = "print which member is this function: its index and how it is listed"),
    ROW(canon, "canon", .shown = "EXPR", .help = "print the canonical form of an expression"),
    ROW(derivative, "derivative", .shown = "X",
        .help = "print the derivative of --canon with respect to a variable instead; it is exact"),
    ROW(same, "same", .shown = "A B",
        .help = "are two expressions the same function wherever both are real? yes, no or unknown"),
    ROW(format, "format", .value = SL_FORMAT_INFIX, .choices = formats + 1, .shown = "FORMAT",
        .help = "format of printed expressions"),
    ROW(input_format, "input-format", .value = 0, .choices = "infix|latex|prefix",
        .shown = "FORMAT",
        .help = "format of --find, --canon and --same; infix reads python, sympy and c too"),
    ROW(names, "names", .shown = "A,B,...",
        .help = "names of x1, x2, ... in what is read and written"),
    SL_COMMANDS_OUT(options),
};
static const sl_option_table own = { own_rows, SL_LEN(own_rows) };

static const char help[] =
    "Lists the distinct expressions up to a depth, in a fixed order, one per line.\n"
    "An expression of depth n combines one of depth n-1 with an operator and, if\n"
    "that needs a second operand, any of depth n-1 or less. Each function is listed\n"
    "once, in the shortest form found; constants and functions with an empty domain\n"
    "are left out.\n"
    "\n"
    "The last depth can be large, so the set holds a sample of it by default\n"
    "(--set-size). The same options give the same set on every machine; --count-only\n"
    "prints its hash. A large one is cached in ~/.cache/symlaw for the next listing;\n"
    "SYMLAW_CACHE=FOLDER names another folder, SYMLAW_CACHE=off switches it off.\n"
    "\n"
    "Examples:\n"
    "  symlaw expressions --depth 2                        all 929 of two variables\n"
    "  symlaw expressions --depth 3 --count-only           numbers only, per depth\n"
    "  symlaw expressions --sample 5 --format latex        five at random\n"
    "  symlaw expressions --depth 4 --variables 1 --ops 'exp,sin,+,*' --count-only\n"
    "  symlaw expressions --canon '(x1 + x2)^2 - x2^2'     the canonical form\n"
    "  symlaw expressions --canon 'sin(x1^2)' --derivative x1\n"
    "  symlaw expressions --same 'exp(x1)*exp(x2)' 'exp(x1 + x2)'\n"
    "  symlaw expressions --depth 2 --find 'x1*x2/x1'      which member is it?\n"
    "\n"
    "The exit code is 1 when --find finds nothing and when --same says no or\n"
    "unknown.";

/* ---------------------------------------------------------------- helpers ------------------- */

static const options *options_of(const sl_commands_run *run) { return run->options; }

static sl_format format_of(const sl_commands_run *run) {
    return (sl_format)options_of(run)->format;
}

static sl_format input_format_of(const sl_commands_run *run) {
    return input_formats[options_of(run)->input_format];
}

/* A line of text, printed unless the result object is. */
static sl_status print_line(sl_commands_run *run, const char *text) {
    if (run->common->json) return SL_OK;
    sl_str_add(&run->output, text);
    sl_str_add_char(&run->output, '\n');
    return sl_commands__output(run);
}

/* ---------------------------------------------------------------- without a set ------------- */

/* *e := its derivative by the variable that --derivative names. */
static sl_status differentiate(const sl_node **e, sl_commands_run *run, const sl_names *names) {
    const sl_node *x;
    SL_TRY(sl_commands__read_expr(&x, run, "--derivative", options_of(run)->derivative,
                                  SL_FORMAT_INFIX, names));
    if (x->op != SL_OP_VAR)
        return sl_fail(SL_EINVAL, "--derivative takes a variable, such as x1, not \"%.40s\"",
                       options_of(run)->derivative);
    return sl_expr_derivative(e, &run->arena, *e, x->arg);
}

static sl_status canon(sl_commands_run *run, const sl_names *names, sl_str *result) {
    const sl_node *e;
    SL_TRY(sl_commands__read_expr(&e, run, "--canon", options_of(run)->canon, input_format_of(run),
                                  names));
    if (options_of(run)->derivative)
        SL_TRY(differentiate(&e, run, names));
    else
        SL_TRY(sl_expr_canon(&e, &run->arena, e));
    sl_str text = { 0 };
    sl_status st;
    SL_GO(sl_expr_print(&text, format_of(run), e, names));
    SL_GO(sl_str_status(&text));
    sl_io_json_add_text(result, "expr", text.text);
    sl_io_json_add_int(result, "nodes", sl_expr_nodes(e));
    sl_io_json_add_bool(result, "real", !sl_expr_is_undefined(e));
    if (sl_expr_is_undefined(e))
        sl_commands_note(&run->listener, "the expression is undefined everywhere");
    st = print_line(run, text.text);
done:
    sl_str_clear(&text);
    return st;
}

static sl_status same(sl_commands_run *run, const sl_names *names, sl_str *result, bool *ok) {
    sl_format format = input_format_of(run);
    const sl_node *a, *b;
    SL_TRY(sl_commands__read_expr(&a, run, "--same, first expression", options_of(run)->same[0],
                                  format, names));
    SL_TRY(sl_commands__read_expr(&b, run, "--same, second expression", options_of(run)->same[1],
                                  format, names));
    sl_truth t;
    SL_TRY(sl_expr_same(&t, &run->arena, a, b));
    *ok = sl_yes(t);
    const char *answer = sl_yes(t) ? "yes" : sl_no(t) ? "no" : "unknown";
    if (!sl_yes(t) && !sl_no(t))
        sl_commands_note(&run->listener,
                         "no tested point distinguishes them, but their canonical forms differ");
    sl_io_json_add_text(result, "answer", answer);
    return print_line(run, answer);
}

/* ---------------------------------------------------------------- with one ------------------ */

/* A listing of a sample looks complete; the note says that it is not. */
static void note_sample(sl_commands_run *run, const sl_universe *u) {
    int64_t all = 0;
    for (int i = 0; i <= sl_universe_config(u)->depth; i++)
        all += sl_universe_count(u, i)->distinct;
    char a[32], b[32];
    if (sl_universe_size(u) < all)
        sl_commands_note(&run->listener,
                         "the set holds %s of %s expressions; --set-size 0 takes all",
                         sl_group_digits(a, sl_universe_size(u)), sl_group_digits(b, all));
}

static sl_status find(sl_commands_run *run, const sl_universe *u, const sl_node *e,
                      const sl_names *names, sl_str *result, bool *ok) {
    const int64_t index = sl_universe_find(u, e);
    *ok = index >= 0;
    if (index < 0) {
        sl_io_json_add_null(result, "index");
        if (sl_universe_lists(u, e))
            sl_commands_note(&run->listener,
                             "it is a function of this universe, but not in the sample");
        note_sample(run, u);
        return print_line(run, "not in the set");
    }
    sl_str text = { 0 }, line = { 0 };
    sl_status st;
    SL_GO(sl_expr_print(&text, format_of(run), sl_universe_get(u, index), names));
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

static sl_status list(sl_commands_run *run, const sl_universe *u, const sl_names *names,
                      sl_str *result) {
    const int64_t sample = options_of(run)->sample;
    sl_commands__listing l = { .universe = u,
                               .format = format_of(run),
                               .names = names,
                               .sample = sample == SL_NONE ? 0 : sample,
                               .json = run->common->json };
    int64_t listed;
    if (!l.sample) note_sample(run, u);
    SL_TRY(sl_commands__list(&listed, run, &l));
    sl_io_json_add_int(result, "listed", listed);
    return SL_OK;
}

static sl_status with_set(sl_commands_run *run, const sl_names *names, sl_str *result, bool *ok) {
    const options *p = options_of(run);
    sl_universe_options o;
    SL_TRY(sl_commands__universe_options(&o, &p->set, p->common.seed));
    if (names->count != o.variables)
        return sl_fail(SL_EINVAL,
                       "--names has %d names, but --variables is %d; give --variables %d",
                       names->count, o.variables, names->count);

    // a text that cannot be read must not cost the waiting
    const sl_node *wanted = NULL;
    if (p->find)
        SL_TRY(
            sl_commands__read_expr(&wanted, run, "--find", p->find, input_format_of(run), names));

    sl_status st;
    sl_universe *u = NULL;
    // --count-only shows the enumeration and what it took, so it always runs
    sl_commands_need need = wanted || p->count_only ? SL_COMMANDS_BUILT : SL_COMMANDS_MEMBERS;
    SL_GO(sl_commands_universe(&u, &o, (int)p->common.threads, need, &run->listener));
    if (wanted)
        SL_GO(find(run, u, wanted, names, result, ok));
    else if (!p->count_only)
        SL_GO(list(run, u, names, result));
    sl_report_count_json(result, u);
    if (p->count_only && !run->common->json) {
        sl_report_count_table(&run->output, u);
        SL_GO(sl_commands__output(run));
    }
done:
    sl_universe_free(u);
    return st;
}

static sl_status work(sl_commands_run *run, sl_str *result, bool *ok) {
    const options *o = run->options;
    const void *const jobs[] = { &o->count_only, &o->sample, &o->find, &o->canon, &o->same };
    const void *job;
    sl_names names;
    SL_TRY(sl_commands__one_job(&job, run, jobs, SL_LEN(jobs)));
    SL_TRY(sl_commands__read_names(&names, run, o->names));
    if (o->derivative && job != &o->canon)
        return sl_fail(SL_EINVAL, "--derivative says what --canon EXPR is to be differentiated by; "
                                  "give both");
    if (!names.names) names.count = (int)o->set.variables;
    if (job == &o->canon) return canon(run, &names, result);
    if (job == &o->same) return same(run, &names, result, ok);
    return with_set(run, &names, result, ok);
}

sl_commands_command sl_commands__expressions = {
    .info = { .name = "expressions",
              .summary = "list, count and explore distinct expressions up to a depth",
              .help = help },
    .work = work,
    .size = sizeof(options),
    .parts = { SL_COMMANDS__SET_PART(options, set),
               { &own, 0, "options", NULL },
               SL_COMMANDS_COMMON_PART },
};

/* help - texts from the tables. */
#include <string.h>

#include "cli/cli_impl.h"

enum { WIDTH = 80, COLUMN = 26 };

const char sl_cli__summary[] = "the laws behind tables of numbers, and how finding them scales";
const char sl_cli__examples[] = "  symlaw expressions --depth 2 --format python\n"
                                "  symlaw expressions --same 'exp(x1)*exp(x2)' 'exp(x1 + x2)'\n"
                                "  symlaw pairs --index 7 --format pretty\n"
                                "  symlaw info --size 6.5M --ratio 5\n"
                                "  symlaw train --size micro --steps 2000 --out runs/first\n"
                                "  symlaw discover data.csv\n"
                                "  symlaw fit 'y = a*exp(-k*t)' data.csv\n"
                                "  symlaw eval --model runs/first --split test\n"
                                "  symlaw laws studies/paper_runs.csv\n"
                                "  symlaw study run studies/micro.json\n"
                                "  symlaw bench train --size 6.5M\n"
                                "  symlaw doctor\n"
                                "  symlaw serve --open\n";
const char sl_cli__exit_codes[] =
    "Exit codes: 0 success, 1 the answer is no or unknown, 2 wrong use or unreadable\n"
    "input, 3 out of memory or a failed file, 130 and 143 interrupted.\n";
const char sl_cli__environment[] =
    "  SYMLAW_MODEL   model of discover and eval where --model is not given\n"
    "  SYMLAW_CACHE   folder of sets of expressions, or off\n"
    "  SYMLAW_CPU     base, avx2 or avx512: the widest instructions that are used\n";

void sl_cli__help_all(sl_cli__text *t) {
    sl_cli__addf(t,
                 "symlaw " SYMLAW_VERSION " - %s\n\nusage: symlaw COMMAND [options]\n\ncommands:\n",
                 sl_cli__summary);
    for (int i = 0; i < sl_cli__command_count(); i++) {
        const symlaw_command_info *c = sl_cli__command_get(i);
        sl_cli__addf(t, "  %-14s %s\n", c->name, c->summary);
    }
    sl_cli__addf(
        t,
        "  %-14s %s\n  %-14s %s\n\nexamples:\n%s\n"
        "\"symlaw COMMAND --help\" shows the options of a command.\n\n%s\nenvironment:\n%s",
        "help", "show this, or the help of a command: symlaw help COMMAND", "completion",
        "print a completion script: symlaw completion bash|zsh|fish", sl_cli__examples,
        sl_cli__exit_codes, sl_cli__environment);
}

/* Words of `text` from the current column on, wrapped into the right-hand side. A part that must
 * not be split stays whole if it fits a line. */
static void add_wrapped(sl_cli__text *t, int *column, const char *text, bool one_piece) {
    one_piece = one_piece && strlen(text) <= WIDTH - COLUMN;
    while (*text) {
        int n = (int)(one_piece ? strlen(text) : strcspn(text, " "));
        if (*column + 1 + n > WIDTH) {
            sl_cli__addf(t, "\n%*s", COLUMN, "");
            *column = COLUMN;
        } else if (*column > COLUMN) {
            sl_cli__addf(t, " ");
            ++*column;
        }
        sl_cli__add(t, text, (size_t)n);
        *column += n;
        text += n;
        while (*text == ' ') text++;
    }
}

void sl_cli__facts(sl_cli__text *facts, const symlaw_option_info *o) {
    const char *between = "";
    bool number = o->type == SYMLAW_OPTION_INT || o->type == SYMLAW_OPTION_REAL;
    if (o->choices) {
        for (const char *p = o->choices; *p; p++)
            sl_cli__add(facts, *p == '|' ? ", " : p, *p == '|' ? 2 : 1);
        between = "; ";
    } else if (number && o->max < 1e9) {
        sl_cli__addf(facts, "%g .. %.10g", o->min, o->max);
        between = ", ";
    }
    if (o->default_value && o->type != SYMLAW_OPTION_FLAG)
        sl_cli__addf(facts, "%sdefault %s", between, o->default_value);
}

static void add_option(sl_cli__text *t, const symlaw_option_info *o, bool positional) {
    sl_cli__text facts = { 0 };
    const size_t begin = t->len;
    sl_cli__addf(t, "  %s%s--%s%s%s", positional ? o->value_name : "", positional ? ", " : "",
                 o->name, o->value_name ? " " : "", o->value_name ? o->value_name : "");
    const int left = (int)(t->len - begin);
    int column = COLUMN;
    if (left >= COLUMN)
        sl_cli__addf(t, "\n%*s", COLUMN, "");
    else
        sl_cli__addf(t, "%*s", COLUMN - left, "");
    add_wrapped(t, &column, o->help, false);
    sl_cli__facts(&facts, o);
    if (facts.len > 0) {
        sl_cli__text brackets = { 0 };
        sl_cli__addf(&brackets, "[%s]", facts.text);
        add_wrapped(t, &column, brackets.text, true);
        sl_cli__text_clear(&brackets);
    }
    sl_cli__addf(t, "\n");
    sl_cli__text_clear(&facts);
}

void sl_cli__help_command(sl_cli__text *t, const symlaw_command_info *c) {
    sl_cli__addf(t, "symlaw %s - %s\n\nusage: symlaw %s", c->name, c->summary, c->name);
    for (int i = 0; i < 2; i++)
        if (sl_cli__positional(c, i))
            sl_cli__addf(t, " [%s%s]", sl_cli__positional(c, i)->value_name,
                         c->repeats ? " ..." : "");
    sl_cli__addf(t, " [options]\n\n%s\n", c->help);
    const char *group = "";
    for (int i = 0; i < c->n_options; i++) {
        const symlaw_option_info *o = sl_cli__option(c, i);
        if (strcmp(group, o->group) != 0) sl_cli__addf(t, "\n%s:\n", o->group);
        group = o->group;
        add_option(t, o, o == sl_cli__positional(c, 0) || o == sl_cli__positional(c, 1));
    }
    static const symlaw_option_info help = { .name = "help", .help = "show this" };
    add_option(t, &help, false);
}

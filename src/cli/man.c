/* man - manual pages as roff, from the tables. */
#include <string.h>

#include "cli/cli_impl.h"

/* Text as roff takes it: no byte of it is a request or an escape. */
static void add_text(sl_cli__text *t, const char *text, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '\\')
            sl_cli__addf(t, "\\e");
        else if (text[i] == '-')
            sl_cli__addf(t, "\\-");
        else if (text[i] == '^' || text[i] == '~' || text[i] == '`' || text[i] == '\'')
            sl_cli__addf(t, "\\(%s",
                         text[i] == '^'   ? "ha"
                         : text[i] == '~' ? "ti"
                         : text[i] == '`' ? "ga"
                                          : "aq");
        else
            sl_cli__add(t, text + i, 1);
    }
}

static void add_line(sl_cli__text *t, const char *text, size_t n) {
    if (n > 0 && (text[0] == '.' || text[0] == '\'')) sl_cli__addf(t, "\\&");
    add_text(t, text, n);
    sl_cli__addf(t, "\n");
}

/* Paragraphs between empty lines; lines that begin with a blank stay as they are. */
static void add_paragraphs(sl_cli__text *t, const char *text) {
    bool plain = false, begun = false;
    while (*text) {
        const size_t n = strcspn(text, "\n");
        const bool indented = text[0] == ' ';
        if (indented != plain && n > 0) {
            sl_cli__addf(t, indented ? ".nf\n" : ".fi\n");
            plain = indented;
        }
        if (n > 0)
            add_line(t, text, n);
        else if (begun)
            sl_cli__addf(t, plain ? ".fi\n.PP\n" : ".PP\n");
        if (n == 0) plain = false;
        begun = true;
        text += n + (text[n] == '\n');
    }
    if (plain) sl_cli__addf(t, ".fi\n");
}

static void add_title(sl_cli__text *t, const char *command) {
    sl_cli__addf(t, ".TH SYMLAW");
    if (command) sl_cli__addf(t, "\\-");
    for (const char *p = command ? command : ""; *p; p++)
        sl_cli__addf(t, "%c", *p >= 'a' && *p <= 'z' ? *p - 'a' + 'A' : *p);
    sl_cli__addf(t, " 1 \"\" \"symlaw " SYMLAW_VERSION "\" \"symlaw\"\n.SH NAME\nsymlaw");
    if (command) sl_cli__addf(t, "\\-%s", command);
    sl_cli__addf(t, " \\- ");
}

static void add_section(sl_cli__text *t, const char *title, const char *text) {
    sl_cli__addf(t, ".SH %s\n", title);
    add_paragraphs(t, text);
}

static void add_option(sl_cli__text *t, const symlaw_option_info *o) {
    sl_cli__text facts = { 0 };
    sl_cli__addf(t, ".TP\n\\fB\\-\\-");
    add_text(t, o->name, strlen(o->name));
    sl_cli__addf(t, "\\fR");
    if (o->value_name) {
        sl_cli__addf(t, " \\fI");
        add_text(t, o->value_name, strlen(o->value_name));
        sl_cli__addf(t, "\\fR");
    }
    sl_cli__addf(t, "\n");
    add_line(t, o->help, strlen(o->help));
    sl_cli__facts(&facts, o);
    if (facts.len > 0) {
        sl_cli__addf(t, "[");
        add_text(t, facts.text, facts.len);
        sl_cli__addf(t, "]\n");
    }
    sl_cli__text_clear(&facts);
}

void sl_cli__man_command(sl_cli__text *t, const symlaw_command_info *c) {
    add_title(t, c->name);
    add_line(t, c->summary, strlen(c->summary));
    sl_cli__addf(t, ".SH SYNOPSIS\n\\fBsymlaw %s\\fR", c->name);
    for (int i = 0; i < 2; i++)
        if (sl_cli__positional(c, i))
            sl_cli__addf(t, " [\\fI%s\\fR%s]", sl_cli__positional(c, i)->value_name,
                         c->repeats ? " ..." : "");
    sl_cli__addf(t, " [\\fIoptions\\fR]\n");
    add_section(t, "DESCRIPTION", c->help);
    sl_cli__addf(t, ".SH OPTIONS\n");
    const char *group = "";
    for (int i = 0; i < c->n_options; i++) {
        const symlaw_option_info *o = sl_cli__option(c, i);
        if (strcmp(group, o->group) != 0) {
            sl_cli__addf(t, ".SS ");
            add_line(t, o->group, strlen(o->group));
        }
        group = o->group;
        add_option(t, o);
    }
    add_section(t, "EXIT STATUS", sl_cli__exit_codes);
    sl_cli__addf(t, ".SH SEE ALSO\n.BR symlaw (1)\n");
}

void sl_cli__man_all(sl_cli__text *t) {
    add_title(t, NULL);
    add_line(t, sl_cli__summary, strlen(sl_cli__summary));
    sl_cli__addf(t, ".SH SYNOPSIS\n\\fBsymlaw\\fR \\fICOMMAND\\fR [\\fIoptions\\fR]\n"
                    ".SH COMMANDS\n");
    for (int i = 0; i < sl_cli__command_count(); i++) {
        const symlaw_command_info *c = sl_cli__command_get(i);
        sl_cli__addf(t, ".TP\n\\fB%s\\fR\n", c->name);
        add_line(t, c->summary, strlen(c->summary));
    }
    add_section(t, "EXAMPLES", sl_cli__examples);
    add_section(t, "EXIT STATUS", sl_cli__exit_codes);
    add_section(t, "ENVIRONMENT", sl_cli__environment);
    sl_cli__addf(t, ".SH SEE ALSO\n");
    for (int i = 0; i < sl_cli__command_count(); i++)
        sl_cli__addf(t, ".BR symlaw\\-%s (1)%s\n", sl_cli__command_get(i)->name,
                     i + 1 < sl_cli__command_count() ? "," : "");
}

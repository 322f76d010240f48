/* complete - completion scripts for bash, zsh and fish, from the tables. */
#include <string.h>

#include "cli/cli_impl.h"

/* Appends the text with `before` in front of each byte that is in `special`. */
static void add_escaped(sl_cli__text *t, const char *text, const char *special,
                        const char *before) {
    for (; *text; text++) {
        if (strchr(special, *text)) sl_cli__addf(t, "%s", before);
        sl_cli__add(t, text, 1);
    }
}

static void add_choices(sl_cli__text *t, const char *choices) {
    for (; *choices; choices++) sl_cli__add(t, *choices == '|' ? " " : choices, 1);
}

static void add_command_names(sl_cli__text *t) {
    for (int i = 0; i < sl_cli__command_count(); i++)
        sl_cli__addf(t, "%s%s", i > 0 ? " " : "", sl_cli__command_get(i)->name);
}

/* ---------------------------------------------------------------- bash ---------------------- */

/* Completion of a value: words, or the names of files or folders; none for free values. Always a
 * command. */
static void bash_value(sl_cli__text *t, const symlaw_option_info *o) {
    if (o->choices) {
        sl_cli__addf(t, "COMPREPLY=($(compgen -W \"");
        add_choices(t, o->choices);
        sl_cli__addf(t, "\" -- \"$cur\"))");
    } else if (o->type == SYMLAW_OPTION_FILE || o->type == SYMLAW_OPTION_FOLDER) {
        sl_cli__addf(t,
                     "compopt -o filenames; local IFS=$'\\n'; "
                     "COMPREPLY=($(compgen -%c -- \"$cur\"))",
                     o->type == SYMLAW_OPTION_FILE ? 'f' : 'd');
    } else {
        sl_cli__addf(t, ":");
    }
}

static void bash_command(sl_cli__text *t, const symlaw_command_info *c) {
    const symlaw_option_info *bare = sl_cli__positional(c, 0), *next = sl_cli__positional(c, 1);
    sl_cli__addf(t, "    %s)\n        case \"$prev\" in\n", c->name);
    for (int i = 0; i < c->n_options; i++) {
        const symlaw_option_info *o = sl_cli__option(c, i);
        if (o->arity == 0) continue;
        sl_cli__addf(t, "        --%s) ", o->name);
        bash_value(t, o);
        sl_cli__addf(t, "; return ;;\n");
    }
    sl_cli__addf(t, "        esac\n");
    if (bare) {
        sl_cli__addf(t, "        case \"$cur\" in\n        -*) ;;\n        *) ");
        if (next) sl_cli__addf(t, "if [ \"$COMP_CWORD\" -eq 2 ]; then ");
        bash_value(t, bare);
        if (next) {
            sl_cli__addf(t, "; else ");
            bash_value(t, next);
            sl_cli__addf(t, "; fi");
        }
        sl_cli__addf(t, "; return ;;\n        esac\n");
    }
    sl_cli__addf(t, "        COMPREPLY=($(compgen -W \"--help");
    for (int i = 0; i < c->n_options; i++) sl_cli__addf(t, " --%s", sl_cli__option(c, i)->name);
    sl_cli__addf(t, "\" -- \"$cur\")) ;;\n");
}

static void bash(sl_cli__text *t) {
    sl_cli__addf(
        t, "# bash completion for symlaw; use it with: source <(symlaw completion bash)\n"
           "_symlaw() {\n"
           "    local cur=\"${COMP_WORDS[COMP_CWORD]}\" prev=\"${COMP_WORDS[COMP_CWORD-1]}\"\n"
           "    COMPREPLY=()\n"
           "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
           "        COMPREPLY=($(compgen -W \"");
    add_command_names(t);
    sl_cli__addf(t, " help completion --help --version\" -- \"$cur\"))\n"
                    "        return\n"
                    "    fi\n"
                    "    case \"${COMP_WORDS[1]}\" in\n"
                    "    completion) COMPREPLY=($(compgen -W \"bash zsh fish\" -- \"$cur\")) ;;\n"
                    "    help) COMPREPLY=($(compgen -W \"");
    add_command_names(t);
    sl_cli__addf(t, "\" -- \"$cur\")) ;;\n");
    for (int i = 0; i < sl_cli__command_count(); i++) bash_command(t, sl_cli__command_get(i));
    sl_cli__addf(t, "    esac\n}\ncomplete -F _symlaw symlaw\n");
}

/* ---------------------------------------------------------------- zsh ----------------------- */

static void zsh_value(sl_cli__text *t, const symlaw_option_info *o) {
    sl_cli__addf(t, ":");
    add_escaped(t, o->value_name, "[]\\:", "\\");
    sl_cli__addf(t, ":");
    if (o->choices) {
        sl_cli__addf(t, "(");
        add_choices(t, o->choices);
        sl_cli__addf(t, ")");
    } else {
        sl_cli__addf(t, "%s",
                     o->type == SYMLAW_OPTION_FILE     ? "_files"
                     : o->type == SYMLAW_OPTION_FOLDER ? "_files -/"
                                                       : " ");
    }
}

/* One specification of _arguments: '--depth=[help]:N: ' between single quotes. */
static void zsh_option(sl_cli__text *t, const symlaw_option_info *o) {
    sl_cli__addf(t, "            '--%s%s[", o->name, o->arity == 1 ? "=" : "");
    for (const char *p = o->help; *p; p++) {
        if (*p == '\'')
            sl_cli__addf(t, "'\\''");
        else
            add_escaped(t, (char[]){ *p, '\0' }, "[]\\:", "\\");
    }
    sl_cli__addf(t, "]");
    for (int i = 0; i < o->arity; i++) zsh_value(t, o);
    sl_cli__addf(t, "' \\\n");
}

static void zsh(sl_cli__text *t) {
    sl_cli__addf(
        t,
        "#compdef symlaw\n"
        "# zsh completion for symlaw; put it into a folder of $fpath as _symlaw, or use it with:\n"
        "# source <(symlaw completion zsh)\n"
        "_symlaw() {\n"
        "    if (( CURRENT == 2 )); then\n"
        "        local -a commands=(\n");
    for (int i = 0; i < sl_cli__command_count(); i++) {
        sl_cli__addf(t, "            '%s:", sl_cli__command_get(i)->name);
        add_escaped(t, sl_cli__command_get(i)->summary, "'", "'\\'");
        sl_cli__addf(t, "'\n");
    }
    sl_cli__addf(t, "            'help:show help'\n"
                    "            'completion:print a completion script'\n"
                    "        )\n"
                    "        _describe command commands\n"
                    "        return\n"
                    "    fi\n"
                    "    local word=$words[2]\n"
                    "    shift words\n"
                    "    (( CURRENT-- ))\n"
                    "    case $word in\n"
                    "    completion) _arguments '1:shell:(bash zsh fish)' ;;\n"
                    "    help) _arguments '1:command:(");
    add_command_names(t);
    sl_cli__addf(t, ")' ;;\n");
    for (int i = 0; i < sl_cli__command_count(); i++) {
        const symlaw_command_info *c = sl_cli__command_get(i);
        sl_cli__addf(t, "    %s)\n        _arguments \\\n", c->name);
        for (int k = 0; k < c->n_options; k++) zsh_option(t, sl_cli__option(c, k));
        for (int k = 0; k < 2 && sl_cli__positional(c, k); k++) {
            sl_cli__addf(t, "            '%d", k + 1);
            zsh_value(t, sl_cli__positional(c, k));
            sl_cli__addf(t, "' \\\n");
        }
        sl_cli__addf(t, "            '--help[show help]' ;;\n");
    }
    sl_cli__addf(t, "    esac\n"
                    "}\n"
                    "if [[ $funcstack[1] == _symlaw ]]; then _symlaw \"$@\"; else compdef _symlaw "
                    "symlaw; fi\n");
}

/* ---------------------------------------------------------------- fish ---------------------- */

static void fish_value(sl_cli__text *t, const symlaw_option_info *o) {
    if (o->type == SYMLAW_OPTION_FILE) sl_cli__addf(t, " -F");
    if (o->type == SYMLAW_OPTION_FOLDER) sl_cli__addf(t, " -a '(__fish_complete_directories)'");
    if (!o->choices) return;
    sl_cli__addf(t, " -a '");
    add_choices(t, o->choices);
    sl_cli__addf(t, "'");
}

static void fish_option(sl_cli__text *t, const char *command, const symlaw_option_info *o) {
    sl_cli__addf(t, "complete -c symlaw -n '__fish_seen_subcommand_from %s' -l %s", command,
                 o->name);
    if (o->arity > 0) sl_cli__addf(t, o->type == SYMLAW_OPTION_FILE ? " -r" : " -x");
    fish_value(t, o);
    sl_cli__addf(t, " -d '");
    add_escaped(t, o->help, "'\\", "\\");
    sl_cli__addf(t, "'\n");
}

static void fish(sl_cli__text *t) {
    sl_cli__addf(t, "# fish completion for symlaw; use it with: symlaw completion fish | source\n"
                    "complete -c symlaw -f\n");
    for (int i = 0; i < sl_cli__command_count(); i++) {
        const symlaw_command_info *c = sl_cli__command_get(i);
        sl_cli__addf(t, "complete -c symlaw -n __fish_use_subcommand -a %s -d '", c->name);
        add_escaped(t, c->summary, "'\\", "\\");
        sl_cli__addf(t, "'\n");
    }
    sl_cli__addf(
        t,
        "complete -c symlaw -n __fish_use_subcommand -a help -d 'show help'\n"
        "complete -c symlaw -n __fish_use_subcommand -a completion -d 'print a completion script'\n"
        "complete -c symlaw -n __fish_use_subcommand -l help -d 'show help'\n"
        "complete -c symlaw -n __fish_use_subcommand -l version -d 'show the version'\n"
        "complete -c symlaw -n '__fish_seen_subcommand_from completion' -a 'bash zsh fish'\n"
        "complete -c symlaw -n '__fish_seen_subcommand_from help' -a '");
    add_command_names(t);
    sl_cli__addf(t, "'\n");
    for (int i = 0; i < sl_cli__command_count(); i++) {
        const symlaw_command_info *c = sl_cli__command_get(i);
        for (int k = 0; k < c->n_options; k++) fish_option(t, c->name, sl_cli__option(c, k));
        for (int k = 0; k < 2 && sl_cli__positional(c, k); k++) {
            sl_cli__addf(t, "complete -c symlaw -n '__fish_seen_subcommand_from %s'", c->name);
            fish_value(t, sl_cli__positional(c, k));
            sl_cli__addf(t, "\n");
        }
        sl_cli__addf(t,
                     "complete -c symlaw -n '__fish_seen_subcommand_from %s' -l help "
                     "-d 'show help'\n",
                     c->name);
    }
}

bool sl_cli__complete(sl_cli__text *t, const char *shell) {
    if (strcmp(shell, "bash") == 0)
        bash(t);
    else if (strcmp(shell, "zsh") == 0)
        zsh(t);
    else if (strcmp(shell, "fish") == 0)
        fish(t);
    else
        return false;
    return true;
}

/* command - the table of commands, and what they all have in common: reading options, the frame of
 * the result, where output goes. */
#include <stdlib.h>
#include <string.h>

#include "commands/commands_impl.h"

static sl_commands_command *const commands[] = {
    &sl_commands__expressions, &sl_commands__pairs, &sl_commands__train, &sl_commands__discover,
    &sl_commands__fit,         &sl_commands__eval,  &sl_commands__laws,  &sl_commands__study,
    &sl_commands__info,        &sl_commands__bench, &sl_commands__doctor
};

int sl_commands_count(void) { return SL_LEN(commands); }

const symlaw_command_info *sl_commands_get(int i) {
    if (i < 0 || i >= SL_LEN(commands)) return NULL;
    (void)sl_commands_table(commands[i]); // n_options is its
    return &commands[i]->info;
}

const symlaw_option_info *sl_commands_option(const symlaw_command_info *command, int i) {
    for (int k = 0; command && k < SL_LEN(commands); k++)
        if (command == &commands[k]->info)
            return i >= 0 && i < sl_commands_table(commands[k])->n ? &commands[k]->option[i] : NULL;
    return NULL;
}

static sl_status find_command(sl_commands_command **out, const char *name) {
    sl_commands_guess g = { .word = name };
    for (int i = 0; i < SL_LEN(commands); i++) {
        *out = commands[i];
        if (strcmp(commands[i]->info.name, name) == 0) return SL_OK;
        sl_commands_guess_offer(&g, commands[i]->info.name);
    }
    char end[96];
    return sl_fail(SL_EINVAL, "unknown command %.60s%s", name, sl_commands_guess_text(&g, "", end));
}

enum { FAILED = 3, STOPPED = 130 }; // as shells call a program that Ctrl-C has ended

/* "exit" comes first, so that it can be read without a JSON parser. */
static void frame(sl_str *s, const sl_commands_run *run, const sl_str *members, bool ok) {
    sl_io_json_open(s, NULL, '{');
    const int code = run->late ? FAILED : run->stopped ? STOPPED : ok ? 0 : 1;
    sl_io_json_add_int(s, "exit", run->exit_code ? run->exit_code : code);
    sl_io_json_add_text(s, "command", run->command->info.name);
    sl_io_json_add_text(s, "version", SL_VERSION);
    sl_io_json_open(s, "config", '{');
    sl_commands__options_write(s, run->options, run->table);
    sl_io_json_close(s, '}');
    sl_io_json_add_real(s, "seconds", sl_clock() - run->listener.start);
    if (run->late) sl_io_json_add_text(s, "error", run->late_line);
    if (members->len > 0) {
        sl_str_add_char(s, ',');
        sl_str_add_bytes(s, members->text, members->len);
    }
    sl_io_json_close(s, '}');
}

/* The file that output goes to; NULL: the callback. The command itself writes to a folder. */
static const char *output_path(const sl_commands_run *run) {
    const sl_option *o = sl_option_find(run->table, "out");
    return o && o->path == SL_PATH_FILE_OUTPUT ? *sl_option_texts(run->options, o) : NULL;
}

/* The texts of options live in *given. */
static sl_status begin(sl_commands_run *run, sl_json **given, const char *options_json) {
    SL_TRY(sl_cpu_check(getenv(SL_CPU_VARIABLE), sl_cpu_best()));
    if (options_json) SL_TRY(sl_io_json_parse(given, options_json, strlen(options_json)));
    SL_TRY(sl_commands__run_options(run, *given));
    SL_TRY(sl_commands__files_check(run));
    return sl_commands__output_begin(run, output_path(run));
}

static sl_status run_command(char **result_json, sl_commands_command *c, const char *options_json,
                             const sl_commands_listener *listener, sl_commands_inner *inner) {
    sl_status st;
    sl_str members = { 0 }, result = { 0 };
    bool ok = true;
    sl_json *given = NULL;
    sl_commands_run run = { .command = c, .listener = *listener, .inner = inner };

    // a rank that has not come so far must not let the others wait in the work
    st = begin(&run, &given, options_json);
    SL_GO(inner && inner->alone ? st : sl_par_agree(st));
    SL_GO(c->work(&run, &members, &ok));
    SL_GO(sl_str_status(&members));
    frame(&result, &run, &members, ok);
    SL_GO(sl_str_status(&result));

    if (run.common->json && !run.printed) {
        sl_str_add_bytes(&run.output, result.text, result.len);
        sl_str_add_char(&run.output, '\n');
    }
    SL_GO(sl_commands__output_end(&run));
    if (run.late) {
        sl_fail_restore(run.late_line);
        SL_GO(run.late);
    }
    *result_json = result.text;
    result = (sl_str){ 0 };
done:
    sl_commands__output_discard(&run);
    sl_arena_clear(&run.arena);
    for (int i = 0; i < SL_LEN(run.kept); i++) sl_io_json_free(run.kept[i]);
    sl_str_clear(&result);
    sl_str_clear(&members);
    sl_commands__run_options_clear(&run);
    sl_io_json_free(given);
    return st;
}

sl_status sl_commands__run_inner(char **result_json, sl_commands_command *c,
                                 const char *options_json, const sl_commands_listener *l,
                                 sl_commands_inner *inner) {
    return run_command(result_json, c, options_json, l, inner);
}

sl_status sl_commands_run_named(const char *name, const char *options_json,
                                const sl_commands_listener *listener, char **result_json) {
    if (!name) return sl_fail(SL_EINVAL, "symlaw_command: no name of a command");
    sl_commands_command *c;
    SL_TRY(find_command(&c, name));
    if (sl_par_ranks() > 1 && !c->info.ranks)
        return sl_fail(SL_EINVAL,
                       "%s runs as one process, not as %d; start it without mpirun or srun", name,
                       sl_par_ranks());
    char *result = NULL;
    sl_commands_listener polled = *listener, reported = *listener;
    if (sl_par_rank() > 0) reported.fn = NULL;
    sl_par_watch watch;
    sl_par_watch_begin(&watch, sl_commands_cancel_requested, &polled);
    sl_status st = sl_par_agree(run_command(&result, c, options_json, &reported, NULL));
    sl_par_watch_end(&watch);
    if (st == SL_OK && result_json)
        *result_json = result;
    else
        sl_free(result);
    return st;
}

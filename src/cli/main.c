/* main - the program `symlaw`: picks the command and the exit code. Overview: cli_impl.h. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli_impl.h"

/* ---------------------------------------------------------------- a command ----------------- */

static int code_of(symlaw_status st) {
    switch (st) {
    case SYMLAW_OK: return SL_CLI__SUCCESS;
    case SYMLAW_EINVAL:
    case SYMLAW_EFORMAT:
    case SYMLAW_ELIMIT:
    case SYMLAW_EOVERFLOW: return SL_CLI__USE;
    case SYMLAW_ENOMEM:
    case SYMLAW_EIO:
    case SYMLAW_ECANCEL: break;
    }
    return SL_CLI__SYSTEM;
}

/* Prints the message of a command that has ended; returns the exit code. */
static int finish(const sl_cli__screen *s, symlaw_status st, const char *result) {
    static const char stopped[] = "{\"exit\":130,", any[] = "{\"exit\":";
    if ((st == SYMLAW_ECANCEL || st == SYMLAW_OK) && s->output_error && s->output_error != EINTR) {
        sl_cli__error("cannot write to standard output: %s", sl_cli__strerror(s->output_error));
        return SL_CLI__SYSTEM;
    }
    if (st == SYMLAW_ECANCEL) { // without a signal here, another rank had one
        sl_cli__error("interrupted: %s", symlaw_last_error());
        return 128 + (sl_cli__signal() ? sl_cli__signal() : SIGINT);
    }
    if (st != SYMLAW_OK) {
        sl_cli__error("%s", symlaw_last_error());
        if (s->excerpt.len > 0) {
            fputs(s->excerpt.text, stderr);
            fputs("\n", stderr);
        }
        return code_of(st);
    }
    if (strncmp(result, stopped, strlen(stopped)) == 0) {
        sl_cli__error("interrupted: this is what there was by then");
        return 128 + (sl_cli__signal() ? sl_cli__signal() : SIGINT);
    }
    int code = 0;
    for (const char *digit = result + strlen(any); *digit >= '0' && *digit <= '9'; digit++)
        code = 10 * code + (*digit - '0');
    return code;
}

static int help_command(const symlaw_command_info *info) {
    sl_cli__text t = { 0 };
    sl_cli__help_command(&t, info);
    return sl_cli__print(&t);
}

/* The library's message suggests a name. */
static int fail_command(const char *name) {
    if (symlaw_command(name, NULL, NULL, NULL, NULL) != SYMLAW_OK)
        sl_cli__error("%s", symlaw_last_error());
    sl_cli__error("\"symlaw help\" lists the commands");
    return SL_CLI__USE;
}

/* In the format of head and tail. */
static int print_heading(const char *word, bool first) {
    sl_cli__text t = { 0 };
    sl_cli__addf(&t, "%s==> %s <==\n", first ? "" : "\n", word);
    return sl_cli__print(&t);
}

static int run_call(const symlaw_command_info *info, const sl_cli__args *args, int call) {
    sl_cli__screen screen;
    sl_cli__text json = { 0 };
    char *result = NULL;
    if (args->heading) {
        const int code = print_heading(args->words[call], call == 0);
        if (code != SL_CLI__SUCCESS) return code;
    }
    sl_cli__call_options(&json, args, info, call);
    sl_cli__screen_init(&screen, args->quiet);
    symlaw_status st = symlaw_command(info->name, json.text, sl_cli__on_event, &screen, &result);
    sl_cli__screen_wipe(&screen);
    const int code = finish(&screen, st, result);
    sl_cli__text_clear(&screen.excerpt);
    sl_cli__text_clear(&json);
    symlaw_string_free(result);
    return code;
}

static void print_line(const char *line) {
    sl_cli__text t = { 0 };
    sl_cli__addf(&t, "%s\n", line);
    sl_cli__print(&t);
}

static void print_message(const char *message) { sl_cli__error("%s", message); }
static void print_nothing(const char *message) { (void)message; }

static int run_serve(const sl_cli__args *args) {
    const sl_serve_host host = { print_line, print_message,
                                 args->quiet ? print_nothing : print_message, sl_cli__signal };
    sl_cli__text json = { 0 };
    sl_cli__call_options(&json, args, &sl_serve_command, 0);
    const int code = sl_serve_run(json.text, &host);
    sl_cli__text_clear(&json);
    return code;
}

/* One call for each word, the worst of their exit codes; a signal ends them all. */
static int run_command(const symlaw_command_info *info, int argc, char **argv) {
    sl_cli__args args;
    if (!sl_cli__parse(&args, info, argc, argv)) return SL_CLI__USE;
    int worst = SL_CLI__SUCCESS;
    if (args.help) {
        worst = help_command(info);
    } else if (info == &sl_serve_command) {
        worst = run_serve(&args);
    } else {
        int call = 0;
        do {
            const int code = run_call(info, &args, call);
            if (code > worst) worst = code;
        } while (++call < args.n_words && !sl_cli__signal());
    }
    sl_cli__args_clear(&args);
    return worst;
}

/* ---------------------------------------------------------------- help, version, completion - */

static int print_help(int argc, char **argv) {
    const symlaw_command_info *info = argc > 0 ? sl_cli__command(argv[0]) : NULL;
    bool ours = argc > 0 && (strcmp(argv[0], "help") == 0 || strcmp(argv[0], "completion") == 0);
    if (argc > 0 && !info && !ours) return fail_command(argv[0]);
    if (info) return help_command(info);
    sl_cli__text t = { 0 };
    sl_cli__help_all(&t);
    return sl_cli__print(&t);
}

static int print_version(void) {
    sl_cli__text t = { 0 };
    sl_cli__addf(&t, "symlaw %s (%s)\n", symlaw_version(), symlaw_build());
    return sl_cli__print(&t);
}

static int print_completion(int argc, char **argv) {
    sl_cli__text t = { 0 };
    if (argc == 1 && sl_cli__complete(&t, argv[0])) return sl_cli__print(&t);
    sl_cli__error("give one shell: symlaw completion bash, zsh or fish");
    return SL_CLI__USE;
}

/* For the build, which installs the pages: no help mentions it. */
static int print_man(int argc, char **argv) {
    const symlaw_command_info *info = argc > 0 ? sl_cli__command(argv[0]) : NULL;
    sl_cli__text t = { 0 };
    if (argc > 0 && !info) return fail_command(argv[0]);
    if (info)
        sl_cli__man_command(&t, info);
    else
        sl_cli__man_all(&t);
    return sl_cli__print(&t);
}

/* If a standard stream is closed, the next file opened would get its descriptor and receive
 * messages. The placeholders are opened in the wrong direction, so using them is still an error. */
static void hold_standard_streams(void) {
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            if (open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) != fd) _exit(SL_CLI__SYSTEM);
}

static int program(int argc, char **argv) {
    if (argc < 2) return print_help(0, NULL);
    const char *word = argv[1];
    argc -= 2;
    argv += 2;
    if (strcmp(word, "help") == 0 || strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
        return print_help(argc, argv);
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) return print_version();
    if (strcmp(word, "completion") == 0) return print_completion(argc, argv);
    if (strcmp(word, "--man") == 0) return print_man(argc, argv);
    const symlaw_command_info *info = sl_cli__command(word);
    return info ? run_command(info, argc, argv) : fail_command(word);
}

int main(int argc, char **argv) {
    hold_standard_streams();
    sl_cli__signals();
    if (symlaw_begin() != SYMLAW_OK) {
        sl_cli__error("%s", symlaw_last_error());
        return SL_CLI__SYSTEM;
    }
    const int code = program(argc, argv), rank = symlaw_rank();
    symlaw_end();
    return rank == 0 ? code : SL_CLI__SUCCESS;
}

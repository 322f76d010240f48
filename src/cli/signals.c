/* signals - handlers of SIGINT, SIGTERM, SIGHUP and SIGPIPE. */
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli_impl.h"

static volatile sig_atomic_t came;
static struct timespec came_at;

/* Seconds within which a second signal is the same request. timeout(1) sends each signal twice, to
 * the process and to its group. One request to stop several ranks may reach each of them several
 * times, from the terminal, the launcher and the batch system. They must end together: a rank that
 * exits early would lose the checkpoint of all. Launchers kill ranks that do not end. */
static const double ALONE_SECONDS = 0.05, RANKS_SECONDS = 10;

/* The first signal is a request: the callback of the next event returns it, and the work stops
 * cleanly. A second one exits at once. */
static void on_signal(int number) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (!came) {
        came = number;
        came_at = now;
        return;
    }
    double since =
        (double)(now.tv_sec - came_at.tv_sec) + 1e-9 * (double)(now.tv_nsec - came_at.tv_nsec);
    if (since > (symlaw_ranks() > 1 ? RANKS_SECONDS : ALONE_SECONDS)) _exit(128 + number);
}

/* The reader of the output has closed the pipe. On a terminal, as after `| head`, no message is
 * needed; a log gets one. The program ends by the signal, as shells expect. */
static void on_closed_pipe(int number) {
    static const char message[] = "symlaw: output pipe closed\n";
    if (!isatty(STDERR_FILENO)) {
        ssize_t ignored = write(STDERR_FILENO, message, sizeof message - 1);
        (void)ignored;
    }
    raise(number); // reset to its default by SA_RESETHAND, and delivered on return
}

void sl_cli__signals(void) {
    struct sigaction action = { .sa_handler =
                                    on_signal }; // no SA_RESTART: a blocked write must wake
    sigemptyset(&action.sa_mask);
    static const int asks[] = { SIGINT, SIGTERM, SIGHUP };
    for (size_t i = 0; i < sizeof asks / sizeof asks[0]; i++) {
        struct sigaction old; // a signal ignored at start (nohup) stays ignored
        if (sigaction(asks[i], NULL, &old) == 0 && old.sa_handler == SIG_IGN) continue;
        sigaction(asks[i], &action, NULL);
    }
    // the parent process may have ignored it
    action.sa_handler = on_closed_pipe;
    action.sa_flags = (int)SA_RESETHAND;
    sigaction(SIGPIPE, &action, NULL);
    // past a limit on the size of files a write then fails, like one to a full disk
    action.sa_handler = SIG_IGN;
    action.sa_flags = 0;
    sigaction(SIGXFSZ, &action, NULL);
}

int sl_cli__signal(void) { return came; }

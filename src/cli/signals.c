/* signals - Ctrl-C and friends. */
#include <signal.h>
#include <unistd.h>

#include "cli/cli_impl.h"

static volatile sig_atomic_t came;

/* The first one asks: the next event answers that the work should stop, which leaves nothing half
 * done. Who sends a second one does not want to wait. */
static void on_signal(int number) {
    if (came) _exit(128 + number);
    came = number;
}

void sl_cli__signals(void) {
    struct sigaction action = { .sa_handler =
                                    on_signal }; // no SA_RESTART: a blocked write must wake
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    // whoever started us may have ignored it, as some do
    action.sa_handler = SIG_DFL;
    sigaction(SIGPIPE, &action, NULL);
}

int sl_cli__signal(void) { return came; }

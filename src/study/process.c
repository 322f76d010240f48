/* process - runs an external program and collects its output. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "study/slurm_impl.h"

static sl_status fail_start(const char *program, int error) {
    return sl_fail(SL_EIO, "%s cannot be started: %s", program, sl_strerror(error));
}

static void close_pair(int pair[2]) {
    for (int i = 0; i < 2; i++) {
        if (pair[i] >= 0) close(pair[i]);
        pair[i] = -1;
    }
}

/* A process group of its own: Ctrl-C at the terminal must not end an sbatch that has submitted but
 * not printed the number yet. Signals have their defaults. */
static int attributes_set(posix_spawnattr_t *a) {
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    int error = posix_spawnattr_setsigdefault(a, &all);
    if (!error) error = posix_spawnattr_setsigmask(a, &none);
    if (!error) error = posix_spawnattr_setpgroup(a, 0);
    if (!error)
        error = posix_spawnattr_setflags(a, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK |
                                                POSIX_SPAWN_SETPGROUP);
    return error;
}

/* 0, or why it cannot be started. */
static int start(pid_t *pid, const char *const *argv, int out, int err) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int error = posix_spawn_file_actions_init(&actions);
    if (error) return error;
    error = posix_spawnattr_init(&attributes);
    if (!error) {
        error = attributes_set(&attributes);
        if (!error) error = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
        if (!error) error = posix_spawn_file_actions_adddup2(&actions, out, 1);
        if (!error) error = posix_spawn_file_actions_adddup2(&actions, err, 2);
        if (!error)
            error = posix_spawnp(pid, argv[0], &actions, &attributes, (char *const *)argv, environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* Reads both pipes until both are closed. False: the deadline came first. */
static bool collect(int fd[2], sl_str *text[2], double deadline) {
    while (fd[0] >= 0 || fd[1] >= 0) {
        const double left = deadline - sl_clock();
        if (left <= 0) return false;
        struct pollfd polled[2] = { { .fd = fd[0], .events = POLLIN },
                                    { .fd = fd[1], .events = POLLIN } };
        if (poll(polled, 2, (int)SL_MIN(left * 1e3 + 1, 1e6)) < 0 && errno != EINTR) return false;
        for (int i = 0; i < 2; i++) {
            if (fd[i] < 0 || !polled[i].revents) continue;
            char bytes[4096];
            const ssize_t n = read(fd[i], bytes, sizeof bytes);
            if (n < 0 && errno == EINTR) continue;
            if (n <= 0) {
                close(fd[i]);
                fd[i] = -1;
            } else if (text[i]->len < SL_STUDY__OUTPUT) {
                sl_str_add_bytes(text[i], bytes, (size_t)n);
            }
        }
    }
    return true;
}

/* Waits for a process that has closed its outputs or was killed. A host that ignores SIGCHLD loses
 * the exit status, which then counts as a failure. */
static int wait_for(pid_t pid) {
    int status = 0;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR) return 255;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

sl_status sl_study__execute(int *code, bool *missing, sl_str *out, sl_str *err,
                            const char *const *argv, double seconds) {
    int pipes[2][2] = { { -1, -1 }, { -1, -1 } };
    pid_t pid = -1;
    *missing = false;
    int error = 0;
    for (int i = 0; i < 2 && !error; i++)
        if (pipe2(pipes[i], O_CLOEXEC) != 0) error = errno;
    if (!error) error = start(&pid, argv, pipes[0][1], pipes[1][1]);
    if (error) {
        for (int i = 0; i < 2; i++) close_pair(pipes[i]);
        *missing = error == ENOENT;
        return fail_start(argv[0], error);
    }
    int fd[2] = { pipes[0][0], pipes[1][0] };
    for (int i = 0; i < 2; i++) close(pipes[i][1]);

    const bool ended = collect(fd, (sl_str *[]){ out, err }, sl_clock() + seconds);
    close_pair(fd);
    if (!ended) kill(-pid, SIGKILL); // its group, of which it is the leader
    *code = wait_for(pid);
    if (!ended)
        return sl_fail(SL_EIO, "%s did not respond within %g s; is Slurm's controller up?", argv[0],
                       seconds);
    SL_TRY(sl_str_status(out));
    return sl_str_status(err);
}

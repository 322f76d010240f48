/* study_child - processes that work for a study on this machine.
 *
 * Each is in a process group of its own: Ctrl-C at the terminal reaches the coordinator alone,
 * which signals each of them once. A second signal would end a worker without saving. If the
 * coordinator is killed, the kernel signals them (PR_SET_PDEATHSIG). */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "commands/study_impl.h"

enum { TEXT_MOST = 1 << 16, UNKNOWN_END = 255 };

/* In the new process: only what is safe between fork and exec. */
_Noreturn static void become(const char *const *argv, int errors, pid_t parent) {
    static const int asks[] = { SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ };
    sigset_t none;
    for (int i = 0; i < SL_LEN(asks); i++) signal(asks[i], SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(3); // the parent ended before prctl
    const int nothing = open("/dev/null", O_RDWR);
    if (nothing >= 0) {
        dup2(nothing, 0);
        dup2(nothing, 1);
    }
    dup2(errors, 2);
    execvp(argv[0], (char *const *)argv);
    static const char says[] = "the program of the workers cannot be started\n";
    const ssize_t ignored = write(2, says, sizeof says - 1);
    (void)ignored;
    _exit(127);
}

sl_status sl_commands__child_start(sl_commands__child *c, const char *const *argv) {
    int ends[2];
    *c = (sl_commands__child){ .errors = -1, .ended = true };
    if (pipe2(ends, O_CLOEXEC) != 0)
        return sl_fail(SL_EIO, "cannot start a worker: %s", sl_strerror(errno));
    const pid_t parent = getpid(), pid = fork();
    if (pid == 0) become(argv, ends[1], parent);
    const int error = errno;
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return sl_fail(SL_EIO, "cannot start a worker: %s", sl_strerror(error));
    }
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    *c = (sl_commands__child){ .pid = pid, .errors = ends[0] };
    return SL_OK;
}

/* The parent of a process; 0: there is none such. */
static int64_t parent_of(int64_t pid) {
    char path[64], text[512];
    sl_snprintf(path, sizeof path, "/proc/%lld/stat", (long long)pid);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    if (fd >= 0) close(fd);
    text[n > 0 ? n : 0] = '\0';
    const char *at = strrchr(text, ')'); // ") S 123": the state, the parent
    return at && strlen(at) > 4 ? sl_strtoll(at + 4, NULL) : 0;
}

/* Signals the processes of a launcher; returns how many. */
static int signal_children(int64_t launcher, int signal) {
    int sent = 0;
    DIR *d = opendir("/proc");
    for (struct dirent *e; d && (e = readdir(d));) {
        const int64_t pid = sl_isdigit(e->d_name[0]) ? sl_strtoll(e->d_name, NULL) : 0;
        if (pid > 0 && parent_of(pid) == launcher) sent += kill((pid_t)pid, signal) == 0;
    }
    if (d) closedir(d);
    return sent;
}

void sl_commands__child_stop(sl_commands__child *c, int signal) {
    if (c->ended || c->stopping) return;
    c->stopping = true;
    if (c->launcher && signal_children(c->pid, signal) > 0) return;
    kill((pid_t)c->pid, signal);
}

/* Of a long text the end is kept: it has the reason. */
static void read_errors(sl_commands__child *c) {
    char bytes[1024];
    for (ssize_t n; c->errors >= 0 && (n = read(c->errors, bytes, sizeof bytes)) != 0;) {
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return;
        if (c->text.len >= TEXT_MOST) {
            memmove(c->text.text, c->text.text + TEXT_MOST / 2, c->text.len - TEXT_MOST / 2);
            sl_str_truncate(&c->text, c->text.len - TEXT_MOST / 2);
        }
        sl_str_add_bytes(&c->text, bytes, (size_t)n);
    }
}

static void note_end(sl_commands__child *c, int status) {
    c->ended = true;
    c->code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    read_errors(c);
}

void sl_commands__child_look(sl_commands__child *c) {
    int status;
    if (c->ended) return;
    read_errors(c);
    const pid_t got = waitpid((pid_t)c->pid, &status, WNOHANG);
    if (got == (pid_t)c->pid) note_end(c, status);
    if (got < 0 && errno == ECHILD) { // a host that ignores SIGCHLD hides how it ended
        note_end(c, 0);
        c->code = UNKNOWN_END;
    }
}

/* A worker saves within seconds of the signal; one that does not end is killed. */
void sl_commands__child_clear(sl_commands__child *c) {
    static const struct timespec moment = { 0, 20 * 1000 * 1000 };
    const double end = sl_clock() + 30;
    int status = 0;
    sl_commands__child_stop(c, SIGTERM);
    for (sl_commands__child_look(c); !c->ended && sl_clock() < end; sl_commands__child_look(c))
        nanosleep(&moment, NULL);
    if (!c->ended) {
        kill((pid_t)c->pid, SIGKILL);
        while (waitpid((pid_t)c->pid, &status, 0) < 0 && errno == EINTR) {
        }
    }
    c->ended = true;
    if (c->errors >= 0) close(c->errors);
    c->errors = -1;
    sl_str_clear(&c->text);
}

/* ---------------------------------------------------------------- several ------------------- */

static int living(sl_commands__child *c, int n) {
    int count = 0;
    for (int i = 0; i < n; i++) {
        sl_commands__child_look(&c[i]);
        count += !c[i].ended;
    }
    return count;
}

/* Its last line, without the name of the program. */
static void last_line_of(char out[600], const sl_commands__child *c) {
    const char *text = sl_str_text(&c->text), *at = text;
    for (const char *p = text; *p; p++)
        if (*p == '\n' && p[1]) at = p + 1;
    static const char name[] = "symlaw: ";
    if (strncmp(at, name, sizeof name - 1) == 0) at += sizeof name - 1;
    sl_snprintf(out, 600, "%.*s", (int)strcspn(at, "\n"), at);
}

/* The status of all of them together. */
static sl_status judge(bool *out_of_time, const sl_commands__child *c, int n, bool stopping) {
    enum { STOPPED_INT = 130, STOPPED_TERM = 143, KILLED = 128 };
    *out_of_time = false;
    for (int i = 0; i < n; i++) {
        char words[600];
        const int code = c[i].code;
        if (code == SL_COMMANDS__OUT_OF_TIME) *out_of_time = true;
        if (code == 0 || code == 1 || code == SL_COMMANDS__OUT_OF_TIME) continue;
        if (stopping && (code == STOPPED_INT || code == STOPPED_TERM)) continue;
        last_line_of(words, &c[i]);
        if (code > KILLED && !words[0])
            sl_snprintf(words, sizeof words, "it was ended by signal %d", code - KILLED);
        return sl_fail(SL_EIO, "a worker has failed: %s", words[0] ? words : "it said nothing");
    }
    if (stopping) return sl_fail(SL_ECANCEL, "stopped on request");
    return SL_OK;
}

/* If other workers have done the work of one that failed, its failure is only noted. */
static sl_status note_if_done(const sl_commands__study_context *s, sl_status st) {
    char line[SL_FAIL_LINE];
    sl_arena arena = { 0 };
    sl_study study;
    if (st != SL_EIO) return st;
    sl_snprintf(line, sizeof line, "%s", sl_last_error());
    const bool complete = sl_study_look(&study, &arena, s->plan, s->dir) == SL_OK && study.complete;
    sl_arena_clear(&arena);
    if (complete) {
        sl_commands_note(&s->run->listener, "%.400s; the others have done its work", line);
        return SL_OK;
    }
    static const char more[] = "the same command continues";
    if (strstr(line, more)) return sl_fail(SL_EIO, "%s", line);
    return sl_fail(SL_EIO, "%.800s; %s", line, more);
}

/* The progress of the study, for the terminal. */
static sl_status show(const sl_commands__study_context *s) {
    sl_arena arena = { 0 };
    sl_study study;
    sl_report_tally t;
    sl_status st = sl_study_look(&study, &arena, s->plan, s->dir);
    if (st == SL_OK) st = sl_commands__study_tally(&t, s, &study);
    if (st == SL_OK) st = sl_commands__study_progress(s, &t);
    sl_arena_clear(&arena);
    return st;
}

sl_status sl_commands__children_wait(bool *out_of_time, sl_commands__child *c, int n,
                                     const sl_commands__study_context *s) {
    static const struct timespec moment = { 0, 20 * 1000 * 1000 };
    static const double pause = 0.5,
                        share = 0.01; // seconds between two looks; of the time for them
    sl_status st = SL_OK;
    bool stopping = false;
    double next = 0;
    while (living(c, n) > 0) {
        bool stop = sl_par_stopping() || sl_commands_cancel_requested(&s->run->listener);
        const double now = sl_clock();
        if (!stop && !stopping && now >= next) {
            st = show(s);
            stop = st == SL_ECANCEL;
            if (st != SL_OK && !stop) break;
            next = sl_clock() + SL_MAX(pause, (sl_clock() - now) / share);
        }
        if (stop && !stopping) {
            stopping = true;
            for (int i = 0; i < n; i++) sl_commands__child_stop(&c[i], SIGTERM);
        }
        nanosleep(&moment, NULL);
    }
    if (st != SL_OK && st != SL_ECANCEL) return st; // the caller asks them to stop
    return note_if_done(s, judge(out_of_time, c, n, stopping));
}

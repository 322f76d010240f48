/* temporary - names of temporary files, and removal of those that no process will finish.
 *
 *     run.json.tmp-5d1c09e2-41235-1
 *     ^name        ^machine ^process number on that machine
 *                                 ^not the first try
 *
 * A killed process cannot remove its temporary files, and those of checkpoints are large. The next
 * owner of the folder removes them. But a folder may be shared by machines and containers, where
 * process 41235 may be gone here and alive there. So the name has a hash of the kernel's boot and
 * of the namespace of process numbers. If they are those of this process, the writer either exists
 * or does not. Otherwise the time of the last write decides: a writer of symlaw never pauses for
 * ten minutes. If one was suspended for longer, its rename fails with an error; no other file is
 * harmed. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "base/temporary.h"

enum { MACHINE_DIGITS = 8, PROCESS_DIGITS = 7, QUIET_SECONDS = 600 }; // pid_max is at most 2^22

static const char MARK[] = ".tmp-";

size_t sl_machine(char out[SL_MACHINE_MAX], bool *booted) {
    size_t n = 0;
    const int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    const ssize_t boot = fd >= 0 ? read(fd, out, 64) : -1;
    if (fd >= 0) close(fd);
    *booted = boot > 0;
    if (boot > 0) n += (size_t)boot;
    const ssize_t space = readlink("/proc/self/ns/pid", out + n, 64);
    return space > 0 ? n + (size_t)space : n;
}

static uint32_t machine(void) {
    char text[SL_MACHINE_MAX + 64];
    bool booted;
    size_t n = sl_machine(text, &booted);
    if (!booted && gethostname(text + n, 64) == 0) n += strnlen(text + n, 64);
    return (uint32_t)sl_hash(text, n, 0);
}

void sl_temporary__name(char *out, size_t size, const char *path, int i) {
    int n = sl_snprintf(out, size, "%s%s%08lx-%ld", path, MARK, (unsigned long)machine(),
                        (long)getpid());
    if (i > 0) sl_snprintf(out + n, size - (size_t)n, "-%d", i);
}

/* The parts of such a name. */
typedef struct temporary {
    size_t stem; // length of the name that it is for
    bool known;  // it says which machine
    uint32_t machine;
    pid_t process;
} temporary;

/* Digits at `at`, 1 .. most of them without a leading zero; 0 if there are none such. */
static size_t digits(const char *at, size_t most) {
    const size_t n = strspn(at, "0123456789");
    return n <= most && at[0] != '0' ? n : 0;
}

/* Of MACHINE_DIGITS digits, which are there. */
static uint32_t hexadecimal(const char *at) {
    uint32_t n = 0;
    for (int i = 0; i < MACHINE_DIGITS; i++)
        n = n << 4 | (uint32_t)(at[i] <= '9' ? at[i] - '0' : at[i] - 'a' + 10);
    return n;
}

static bool parse(temporary *t, const char *name) {
    const char *mark = NULL;
    for (const char *at = name; (at = strstr(at, MARK)); at++) mark = at; // the last one
    if (!mark || mark == name) return false;
    const char *at = mark + sizeof MARK - 1;
    *t = (temporary){ .stem = (size_t)(mark - name) };
    if (strspn(at, "0123456789abcdef") == MACHINE_DIGITS && at[MACHINE_DIGITS] == '-') {
        t->known = true;
        t->machine = hexadecimal(at);
        at += MACHINE_DIGITS + 1;
    }
    size_t n = digits(at, PROCESS_DIGITS);
    if (n == 0) return false;
    t->process = (pid_t)sl_strtoll(at, NULL);
    at += n;
    if (*at == '-') at += 1 + (n = digits(at + 1, 3));
    return n > 0 && *at == '\0';
}

size_t sl_file_temporary(const char *name) {
    temporary t;
    return parse(&t, name) ? t.stem : 0;
}

static bool is_quiet(const struct stat *s) {
    return s->st_mtim.tv_sec < time(NULL) - QUIET_SECONDS;
}

static bool is_gone(pid_t process) { return kill(process, 0) != 0 && errno == ESRCH; }

static bool is_abandoned(const temporary *t, const struct stat *s, bool alone) {
    if (t->known && t->machine == machine()) return is_gone(t->process);
    return is_quiet(s) || (!t->known && alone && is_gone(t->process));
}

void sl_file_sweep(const char *dir, bool (*ours)(const char *name, size_t n), bool alone) {
    DIR *d = opendir(dir);
    if (!d) return;
    for (struct dirent *e; (e = readdir(d));) {
        temporary t;
        struct stat s;
        if (parse(&t, e->d_name) && ours(e->d_name, t.stem) &&
            fstatat(dirfd(d), e->d_name, &s, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(s.st_mode) &&
            is_abandoned(&t, &s, alone))
            unlinkat(dirfd(d), e->d_name, 0);
    }
    closedir(d);
}

/* claim_process - identity of this process, and whether another one of this machine still runs. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "study/claim_impl.h"

static void read_machine(sl_study__process *p) {
    char text[SL_MACHINE_MAX + sizeof p->host];
    bool booted;
    const size_t n = sl_machine(text, &booted);
    if (gethostname(p->host, sizeof p->host) != 0) p->host[0] = '\0';
    p->host[sizeof p->host - 1] = '\0';
    const size_t name = strlen(p->host);
    memcpy(text + n, p->host, name);
    sl_snprintf(p->machine, sizeof p->machine, "%016llx",
                (unsigned long long)sl_hash(text, n + name, 0));
}

typedef enum life { GONE, LIVES, HIDDEN } life;

/* GONE: there is no such process, or it is a zombie. HIDDEN: it exists but /proc does not show it;
 * /proc may hide processes of other users. */
static life read_start(int64_t *start, int64_t pid) {
    char path[64], text[1024];
    sl_snprintf(path, sizeof path, "/proc/%lld/stat", (long long)pid);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    if (fd >= 0) close(fd);
    if (n <= 0) return kill((pid_t)pid, 0) != 0 && errno == ESRCH ? GONE : HIDDEN;
    text[n] = '\0';
    const char *at = strrchr(text, ')'); // behind the name, which may hold anything
    if (!at || strlen(at) < 3 || at[2] == 'Z' || at[2] == 'X') return GONE;
    for (int field = 2; at && field < 22; field++) at = strchr(at + 1, ' ');
    *start = at ? sl_strtoll(at + 1, NULL) : 0;
    return LIVES;
}

sl_study__process sl_study__this_process(void) {
    sl_study__process p = { .pid = getpid() };
    read_machine(&p);
    (void)read_start(&p.start, p.pid);
    return p;
}

bool sl_study__is_gone(const sl_study__process *p) {
    const sl_study__process me = sl_study__this_process();
    int64_t start = 0;
    if (me.start == 0 || p->start == 0 || strcmp(p->machine, me.machine) != 0) return false;
    const life l = read_start(&start, p->pid);
    return l == GONE || (l == LIVES && start != p->start);
}

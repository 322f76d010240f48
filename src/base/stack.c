/* stack - checks that the calling thread has enough of it.
 *
 * Measured with painted stacks: commands take up to 60 kB, the libraries that multiply included;
 * 400 nested brackets, the most that the parser takes, 200 kB; JSON nested as deep as jansson
 * allows 160 kB. With less, a fault inside would end the host program.
 *
 * The bounds of a stack are read once per thread. For the first thread of a process the C library
 * would read them from /proc, which may need more stack than there is; the kernel lets that stack
 * grow until the limit, counted from its end, and the end holds the name of the program. A caller
 * that runs on a stack it allocated (a coroutine) is outside of these bounds, and passes. */
#include <pthread.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/base.h"

enum { TEXT_BYTES = 32 << 10 }; // printf takes a good part of it, under a sanitizer more

typedef struct bounds {
    bool known;
    uintptr_t low, high; // the stack is [low, high); both 0: unknown
} bounds;

static bounds read_first_bounds(void) {
    bounds b = { .known = true };
    struct rlimit limit;
    const char *name = (const char *)getauxval(AT_EXECFN);
    const uintptr_t page = getauxval(AT_PAGESZ);
    if (!name || !page || getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return b;
    const uintptr_t behind = (uintptr_t)name + strlen(name) + 1 + sizeof(void *); // and a null
    b.high = (behind + page - 1) / page * page;
    if (limit.rlim_cur < b.high) b.low = b.high - limit.rlim_cur;
    return b;
}

static bounds read_bounds(void) {
    if (gettid() == getpid()) return read_first_bounds();
    bounds b = { .known = true };
    pthread_attr_t a;
    void *address;
    size_t size, guard;
    if (pthread_getattr_np(pthread_self(), &a) != 0) return b;
    if (pthread_attr_getstack(&a, &address, &size) == 0 &&
        pthread_attr_getguardsize(&a, &guard) == 0) {
        b.low = (uintptr_t)address + guard; // versions differ in whether it is part of the size
        b.high = (uintptr_t)address + size;
    }
    pthread_attr_destroy(&a);
    return b;
}

sl_status sl_stack_check(void) {
    static _Thread_local bounds own;
    if (!own.known) own = read_bounds();
    const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    if (here < own.low || here >= own.high || here - own.low >= SL_STACK_BYTES) return SL_OK;
#define REMEDY "raise the limit (ulimit -s 8192), or start the thread with a larger stack"
    if (here - own.low < TEXT_BYTES) { // too little to write a number
        _Static_assert(SL_STACK_BYTES == 256 << 10 && TEXT_BYTES == 32 << 10, "as the text says");
        sl_fail_restore(
            "the calling thread has less than 32 kB of stack left, and 256 are needed; " REMEDY);
        return SL_ELIMIT;
    }
    return sl_fail(SL_ELIMIT,
                   "the calling thread has %d kB of stack left, and %d are needed; " REMEDY,
                   (int)((here - own.low) / 1024), SL_STACK_BYTES / 1024);
}

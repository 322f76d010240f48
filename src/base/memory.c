/* memory - allocation that can be counted and made to fail. */
#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/base.h"

static _Atomic int64_t blocks; // allocated and not freed
static _Atomic int64_t calls;  // allocations requested
static _Atomic int64_t bytes_now, bytes_peak;
static _Atomic int64_t fail_at; // the number of the call that fails; 0: none
static atomic_bool fail_on;     // and all calls after it

/* Counts the call; true if a test requested that it fails. The failing call is given by its
 * absolute number, so of two threads that allocate at once exactly one fails. */
static bool refused(void) {
    int64_t call = atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed) + 1;
    int64_t at = atomic_load_explicit(&fail_at, memory_order_relaxed);
    if (at == 0) return false;
    return call == at || (call > at && atomic_load_explicit(&fail_on, memory_order_relaxed));
}

static bool product(size_t *bytes, size_t count, size_t size) {
    return !__builtin_mul_overflow(count, size, bytes) && *bytes <= PTRDIFF_MAX;
}

/* The C library knows the size of each block, so none is stored a second time. */
static void count_bytes(int64_t change) {
    int64_t now = atomic_fetch_add_explicit(&bytes_now, change, memory_order_relaxed) + change;
    int64_t peak = atomic_load_explicit(&bytes_peak, memory_order_relaxed);
    while (now > peak && !atomic_compare_exchange_weak_explicit(
                             &bytes_peak, &peak, now, memory_order_relaxed, memory_order_relaxed))
        ;
}

static void *counted(void *p) {
    if (!p) return NULL;
    atomic_fetch_add_explicit(&blocks, 1, memory_order_relaxed);
    count_bytes((int64_t)malloc_usable_size(p));
    return p;
}

void *sl_malloc(size_t count, size_t size) {
    size_t bytes;
    if (refused() || !product(&bytes, count, size)) return NULL;
    return counted(malloc(bytes ? bytes : 1));
}

void *sl_calloc(size_t count, size_t size) {
    size_t bytes;
    if (refused() || !product(&bytes, count, size)) return NULL;
    return counted(calloc(bytes ? bytes : 1, 1));
}

void *sl_realloc(void *p, size_t count, size_t size) {
    size_t bytes;
    if (refused() || !product(&bytes, count, size)) return NULL;
    if (!p) return counted(malloc(bytes ? bytes : 1));
    int64_t before = (int64_t)malloc_usable_size(p);
    void *q = realloc(p, bytes ? bytes : 1);
    if (q) count_bytes((int64_t)malloc_usable_size(q) - before);
    return q;
}

/* Not aligned to huge pages: the C library would keep up to one behind each block, and count it.
 * The kernel takes the whole ones that lie inside. */
void *sl_malloc_aligned(size_t count, size_t size) {
    enum { LINE = 64, PAGE = 4096, HUGE = 2 << 20 };
    size_t bytes;
    if (refused() || !product(&bytes, count, size)) return NULL;
    void *p = NULL;
    if (posix_memalign(&p, LINE, bytes ? bytes : 1) != 0) return NULL;
    if (bytes >= (size_t)2 * HUGE) { // only advice
        const size_t skip = -(uintptr_t)p % PAGE;
        madvise((char *)p + skip, (bytes - skip) / PAGE * PAGE, MADV_HUGEPAGE);
    }
    return counted(p);
}

void sl_free(void *p) {
    if (!p) return;
    atomic_fetch_sub_explicit(&blocks, 1, memory_order_relaxed);
    count_bytes(-(int64_t)malloc_usable_size(p));
    free(p);
}

sl_status(sl_fail_memory)(size_t count, size_t size, const char *what) {
    size_t bytes;
    if (!product(&bytes, count, size))
        return sl_fail(SL_ENOMEM, "no memory for %s: %zu times %zu bytes", what, count, size);
    if (bytes >= (size_t)1 << 20)
        return sl_fail(SL_ENOMEM, "no memory for %s: %.1f MiB", what, (double)bytes / 1048576.0);
    return sl_fail(SL_ENOMEM, "no memory for %s: %zu bytes", what, bytes);
}

sl_status sl_grow(void *array, int64_t *room, int64_t n, size_t size, const char *what) {
    enum { FIRST = 64 };
    if (n < *room) return SL_OK;
    const size_t more = *room ? 2 * (size_t)*room : FIRST;
    void *p;
    memcpy(&p, array, sizeof p); // a pointer of another type
    p = sl_realloc(p, more, size);
    if (!p) return sl_fail_memory(more, size, what);
    memcpy(array, &p, sizeof p);
    *room = (int64_t)more;
    return SL_OK;
}

void sl_mem_fail_at(int64_t n, bool forever) {
    atomic_store(&fail_on, forever);
    atomic_store(&fail_at, n > 0 ? atomic_load(&calls) + n : 0);
}

int64_t sl_mem_blocks(void) { return atomic_load(&blocks); }
int64_t sl_mem_calls(void) { return atomic_load(&calls); }
int64_t sl_mem_bytes(void) { return atomic_load(&bytes_now); }
int64_t sl_mem_peak(void) { return atomic_load(&bytes_peak); }
void sl_mem_peak_reset(void) { atomic_store(&bytes_peak, atomic_load(&bytes_now)); }

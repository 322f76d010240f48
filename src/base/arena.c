/* arena - allocation by pointer bump, release by mark.
 *
 * A mark is the number of bytes allocated so far. Every chunk stores how many were allocated before
 * it, so a rewind finds the chunk a mark belongs to by comparing two numbers. When the mark
 * lies in an older chunk, that chunk is not filled further: the newest one, which is the largest,
 * stays the one being filled and now begins at the mark. So a loop that works and rewinds reaches
 * the memory it needs once and then allocates nothing. */
#include <string.h>

#include "base/base.h"

#if defined(__SANITIZE_ADDRESS__)
#define WITH_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WITH_ASAN 1
#endif
#endif

#ifdef WITH_ASAN
#include <sanitizer/asan_interface.h>
#define POISON(p, n)   ASAN_POISON_MEMORY_REGION(p, n)
#define UNPOISON(p, n) ASAN_UNPOISON_MEMORY_REGION(p, n)
#else
#define POISON(p, n)   ((void)(p), (void)(n))
#define UNPOISON(p, n) ((void)(p), (void)(n))
#endif

enum { ALIGN = 16, FIRST_CHUNK = 4096 };

struct sl_arena_chunk {
    sl_arena_chunk *older;
    size_t before; // bytes allocated in older chunks
    size_t bytes;  // room for data in this one
    size_t unused; // keeps the data aligned
};
_Static_assert(sizeof(sl_arena_chunk) % ALIGN == 0, "data after the header must be aligned");

static char *data(sl_arena_chunk *c) { return (char *)(c + 1); }

/* Sizes in the arena are multiples of ALIGN and never 0, so that every allocation has an address
 * of its own. */
static size_t rounded(size_t bytes) { return bytes ? (bytes + ALIGN - 1) / ALIGN * ALIGN : ALIGN; }

/* Adds a chunk with room for `need`. The old one's tail is unused until a rewind. */
static bool grow(sl_arena *a, size_t need, size_t used) {
    size_t bytes = a->chunk ? 2 * a->chunk->bytes : FIRST_CHUNK - sizeof(sl_arena_chunk);
    if (a->limit) bytes = SL_MIN(bytes, a->limit - used); // more could never be allocated
    bytes = SL_MAX(bytes / ALIGN * ALIGN, need);
    sl_arena_chunk *c = sl_malloc(1, sizeof *c + bytes);
    if (!c) return false;
    *c = (sl_arena_chunk){ .older = a->chunk, .before = used, .bytes = bytes };
    POISON(data(c), bytes);
    a->chunk = c;
    a->before = used;
    a->at = data(c);
    a->end = a->at + bytes;
    return true;
}

static void drop(sl_arena_chunk *c) {
    UNPOISON(data(c), c->bytes); // before it returns to malloc
    sl_free(c);
}

void *sl_arena_alloc(sl_arena *a, size_t bytes) {
    if (bytes > PTRDIFF_MAX / 4) return NULL; // keeps the sums below from overflowing
    size_t need = rounded(bytes);
    size_t used = sl_arena_mark(a);
    if (a->limit && (used > a->limit || need > a->limit - used)) return NULL;
    if (!a->chunk || need > (size_t)(a->end - a->at)) {
        if (!grow(a, need, used)) return NULL;
    }
    char *p = a->at;
    a->at += need;
    UNPOISON(p, bytes); // not `need`: an overrun into the padding is an overrun
    return p;
}

const char *sl_arena_text(sl_arena *a, const char *text, size_t n) {
    char *copy = sl_arena_alloc(a, n + 1);
    if (!copy) return NULL;
    memcpy(copy, text, n);
    copy[n] = '\0';
    return copy;
}

void sl_arena_shrink(sl_arena *a, void *p, size_t bytes, size_t kept) {
    char *start = p;
    SL_ASSERT(kept <= bytes);
    SL_ASSERT(start + rounded(bytes) == a->at); // else p is not the newest, or was before a rewind
    a->at = start + (kept ? rounded(kept) : 0);
    POISON(start, rounded(bytes));
    UNPOISON(start, kept);
}

size_t sl_arena_mark(const sl_arena *a) {
    return a->chunk ? a->before + (size_t)(a->at - data(a->chunk)) : 0;
}

void sl_arena_rewind(sl_arena *a, size_t mark) {
    sl_arena_chunk *newest = a->chunk;
    SL_ASSERT(mark <= sl_arena_mark(a));
    if (!newest) return;
    if (mark < a->before) {
        while (newest->older && newest->older->before >= mark) { // holds nothing that is kept
            sl_arena_chunk *c = newest->older;
            newest->older = c->older;
            drop(c);
        }
        // what the next older chunk holds past the mark is free now
        if (newest->older) {
            sl_arena_chunk *c = newest->older;
            size_t kept = mark - c->before;
            POISON(data(c) + kept, c->bytes - kept);
        }
        newest->before = a->before = mark;
    }
    a->at = data(newest) + (mark - a->before);
    POISON(a->at, (size_t)(a->end - a->at));
}

void sl_arena_clear(sl_arena *a) {
    while (a->chunk) {
        sl_arena_chunk *c = a->chunk;
        a->chunk = c->older;
        drop(c);
    }
    a->at = a->end = NULL;
    a->before = 0; // the limit stays: the caller set it
}

/* Failures of arena allocations: SL_EACH_ALLOCATION makes calls of malloc fail, but an arena makes
 * few of them. Here the arena's limit is 16 bytes, 32 bytes, ... until the call succeeds, so each
 * request for scratch fails in some run. */
#ifndef SL_NUM_TIGHT_H
#define SL_NUM_TIGHT_H

#include "base/base.h"
#include "fixture/fixture.h"

#define EACH_LIMIT(t, call)                                                                \
    do {                                                                                   \
        int refused_ = 0;                                                                  \
        size_t had_ = sl_arena_mark(&(t)->arena);                                          \
        for ((t)->arena.limit = had_ + 16;; (t)->arena.limit += 16, refused_++) {          \
            sl_status st_ = (call);                                                        \
            if (st_ == SL_OK) break;                                                       \
            SL_CHECK(t, st_ == SL_ENOMEM, "%s", sl_status_text(st_));                      \
            SL_CHECK(t, sl_arena_mark(&(t)->arena) == had_, "the arena is not as it was"); \
        }                                                                                  \
        (t)->arena.limit = 0;                                                              \
        SL_CHECK(t, refused_ > 0, "needs no memory");                                      \
    } while (0)

#endif

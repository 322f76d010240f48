/* Inside src/api only: the body of a public call, and the handles. */
#ifndef SL_API_IMPL_H
#define SL_API_IMPL_H

#include <pthread.h>

#include "commands/commands.h"

/* ---------------------------------------------------------------- calls --------------------- */

/* The body of every public function that returns a status. `work` may use `call`. */
#define SL_API__PUBLIC(work)               \
    do {                                   \
        sl_commands_call call;                 \
        SL_TRY(sl_commands_enter(&call));      \
        return sl_commands_leave(&call, work); \
    } while (0)

/* ---------------------------------------------------------------- handles ------------------- */

struct symlaw_formula {
    sl_arena arena;
    const sl_node *e;
    sl_names names;
    int params;          // fitted constants: c1 .. c<params> of e have
    const double *value; // these values
};

/* *out := a formula of its own with a copy of e. */
SL_NODISCARD sl_status sl_api__formula_of(symlaw_formula **out, const sl_node *e);
/* The same with the values of e's free constants and the names of its variables, copied too. */
SL_NODISCARD sl_status sl_api__formula_fitted(symlaw_formula **out, const sl_node *e,
                                              const double *value, int params,
                                              const sl_names *names);

struct symlaw_set {
    sl_universe *universe; // the members
    int threads;           // for building
    pthread_mutex_t lock;  // of `built`
    sl_universe *built; // the same set for symlaw_set_find; NULL until it is needed, or `universe`
};

struct symlaw_pairs {
    sl_pairs *pairs; // of the set that the caller keeps open
};

struct symlaw_pair {
    sl_arena arena;
    sl_pair pair;
};

struct symlaw_model {
    sl_infer *infer;
};

struct symlaw_discovery {
    sl_discovery *discovery;
    sl_arena arena; // of the names
    sl_names names;
    sl_units units;
    const sl_units *units_known; // those, or NULL
};

#endif

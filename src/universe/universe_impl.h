/* What the files of universe share: functions as values at probes, and the table that finds
 * them. */
#ifndef SL_UNIVERSE_IMPL_H
#define SL_UNIVERSE_IMPL_H

#include "universe/universe.h"

/* ---------------------------------------------------------------- probes -------------------- */

#define SL_UNIVERSE__PER_ORTHANT 12
#define SL_UNIVERSE__MAX_ORTHANTS 8
#define SL_UNIVERSE__MAX_PROBES (SL_UNIVERSE__PER_ORTHANT * SL_UNIVERSE__MAX_ORTHANTS)
/* Relative to 1 + |value|: rounding errors are below 1e-15, differences are above 1e-9. */
#define SL_UNIVERSE__TOLERANCE 1e-11L
#define SL_UNIVERSE__CONSTANT_SPREAD 1e-12L

typedef unsigned __int128 sl_universe__probe_set; // bit i: probe i

typedef long double sl_universe__probe_point[SL_UNIVERSE_MAX_VARS];

/* The probes over so many variables. Probe i lies in orthant i / SL_UNIVERSE__PER_ORTHANT; bit v of
 * the orthant's number is set where x(v+1) < 0. Those of an orthant go outwards from 0: near it
 * functions are least often so large that a sum with them shows nothing of the other operand, which
 * makes for better keys. */
void sl_universe__probes(sl_universe__probe_point *point, int variables);

/* A value's cell on a grid that is relative (2^-26) above 2^-8 in size and absolute (2^-34)
 * below. */
uint64_t sl_universe__cell(long double v);
/* The same, and the second cell that it nearly is in, or the same one again: values that are equal
 * up to rounding share one. */
typedef struct sl_universe__cells { uint64_t first, second; } sl_universe__cells;
sl_universe__cells sl_universe__cells_of(long double v);

static inline uint64_t sl_universe__key(uint64_t cell, int probe) {
    uint64_t h = (cell ^ (uint64_t)(probe + 1) * 0x9e3779b97f4a7c15u) * 0xd6e8feb86659fd93u;
    h = (h ^ h >> 32) * 0xd6e8feb86659fd93u;
    return h ^ h >> 29;
}

/* The keys of a function real throughout orthant o, from its values there: the cell at the first
 * probe, and as long as values are so small that their cell is absolute, the next one too, or all
 * functions that are tiny at one probe would share a key. `second` is the key of a value on the
 * other side of a near edge, and `first` again if no edge is near. */
typedef struct sl_universe__keys { uint64_t first, second; } sl_universe__keys;
sl_universe__keys sl_universe__keys_of(const long double *v, int o);
/* The keys of one value at one probe, for functions that fill no orthant. */
sl_universe__keys sl_universe__value_keys(long double v, int probe);
#define SL_UNIVERSE__CELL_IS_ABSOLUTE (1ull << 62)

/* A function as the enumeration sees it: which probes are real, which orthants throughout. */
typedef struct sl_universe__shape {
    sl_universe__probe_set real, zero; // zero: real and 0
    uint8_t full;         // orthants real at all of their probes
    int exp_min, exp_max; // binary exponents of the values that are not 0
} sl_universe__shape;

void sl_universe__shape_of(sl_universe__shape *s, const long double *v, int probes);

/* ---------------------------------------------------------------- table --------------------- */

/* Open addressing from 64-bit keys to class numbers; a key may be there several times, and is found
 * in the order of insertion. */
typedef struct sl_universe__slot {
    uint64_t key; // 0: empty
    uint32_t value;
} sl_universe__slot;

typedef struct sl_universe__table {
    sl_universe__slot *slot;
    uint64_t mask; // slots - 1
    int64_t n;
} sl_universe__table;

/* Makes room for n entries. */
SL_NODISCARD sl_status sl_universe__table_grow(sl_universe__table *t, int64_t n);
void sl_universe__table_clear(sl_universe__table *t);
static inline void sl_universe__table_prefetch(const sl_universe__table *t, uint64_t key) {
    __builtin_prefetch(&t->slot[key & t->mask]);
}
/* The table has room for it. */
static inline void sl_universe__table_add(sl_universe__table *t, uint64_t key, uint32_t value) {
    uint64_t i = (key |= 1) & t->mask;
    while (t->slot[i].key) i = (i + 1) & t->mask;
    t->slot[i] = (sl_universe__slot){ key, value };
    t->n++;
}
/* Both keys of a value or function; they are one where no edge is near. */
static inline void sl_universe__table_add_keys(sl_universe__table *t, sl_universe__keys k,
                                               uint32_t value) {
    sl_universe__table_add(t, k.first, value);
    if (k.second != k.first) sl_universe__table_add(t, k.second, value);
}
/* Visits the entries of a key: start with *at = key, returns false after the last. */
static inline bool sl_universe__table_next(const sl_universe__table *t, uint64_t key, uint64_t *at,
                                           uint32_t *value) {
    key |= 1;
    for (uint64_t i = *at & t->mask; t->slot[i].key; i = (i + 1) & t->mask)
        if (t->slot[i].key == key) {
            *value = t->slot[i].value;
            *at = i + 1;
            return true;
        }
    return false;
}

/* ---------------------------------------------------------------- levels -------------------- */

/* The forms in which operators combine operands, in raw order. */
typedef struct sl_universe__form {
    sl_operator op;
    bool swapped; // q op p
} sl_universe__form;

/* The listed functions so far, level after level: what candidates are made of. */
typedef struct sl_universe__operands {
    int64_t n;
    const sl_node **expr; // canonical
    long double *value;   // (n, probes); NaN where not real
    double *fast;         // the same, rounded
    sl_universe__shape *shape;
} sl_universe__operands;

typedef struct sl_universe__level {
    int64_t begin;
    int64_t prev, n_prev, n_all;    // operands: prev .. prev+n_prev the level below, 0 .. n_all all
    int64_t raw, unary;             // candidates; the first `unary` of them have one operand
    int64_t class_begin, class_end; // its classes
    long double *unary_value;       // (unary, probes)
    uint32_t *class_of;             // of each raw candidate; SL_UNIVERSE__NO_CLASS: dropped
    sl_universe_counts counts;
} sl_universe__level;

#define SL_UNIVERSE__NO_CLASS UINT32_MAX

typedef struct sl_universe__class {
    int64_t raw; // its first candidate
    int8_t level;
    sl_universe__probe_set real;
} sl_universe__class;

/* What a worker writes to all the time is kept a cache line away from the next one's. */
typedef struct sl_universe__own_arena {
    sl_arena arena;
    char apart[128];
} sl_universe__own_arena;

typedef struct sl_universe {
    sl_universe_options options;
    int probes, orthants;
    sl_universe__probe_point point[SL_UNIVERSE__MAX_PROBES];
    sl_universe__form unary[SL_OPERATOR_COUNT], binary[2 * SL_OPERATOR_COUNT];
    int n_unary, n_binary;
    sl_universe__operands listed;
    sl_universe__level level[SL_UNIVERSE_MAX_DEPTH + 1];
    sl_universe__class *class;
    int64_t n_class, cap_class;
    sl_universe__table found;
    sl_universe__own_arena *own; // one per worker: canonical forms
    int n_own;
    // E
    const sl_node **member;
    int64_t member_end[SL_UNIVERSE_MAX_DEPTH + 1]; // by level
    uint32_t *member_class;
    uint32_t *index_of_class; // SL_UNIVERSE__NO_CLASS: not in E; NULL: no classes are in memory
    uint8_t *withheld;        // bit per member
    int64_t n_member;
    char hash[33];
    char *image; // the bytes of its file, which the members are in; NULL: they are in `own`
    size_t image_bytes;
} sl_universe;

/* A raw candidate taken apart. q = -1 for one operand; with `swapped` the operation is q op p. */
typedef struct sl_universe__candidate {
    int64_t p, q; // places in `listed`
    sl_universe__form form;
} sl_universe__candidate;

sl_universe__candidate sl_universe__candidate_at(const sl_universe *u, const sl_universe__level *l,
                                                 int64_t raw);
void sl_universe__values(long double *out, const sl_universe *u, const sl_universe__level *l,
                         int64_t raw);
/* Equal at every probe where both are real, and there is one. That two different functions share an
 * orthant, or even one probe, and agree there to 11 digits has not been seen. */
bool sl_universe__agree(const long double *a, const long double *b, int probes);

/* One more class, of level i; makes room in `found` for as many keys as it can have. */
SL_NODISCARD sl_status sl_universe__add_class(sl_universe *u, int i, int64_t raw,
                                              sl_universe__probe_set real);

/* Classes of level i: counts, class, found, class_of. */
SL_NODISCARD sl_status sl_universe__enumerate(sl_universe *u, sl_pool *pool, int i,
                                              const sl_universe_watch *watch);
/* expr[k] := canonical form of class chosen[k] of level i, the shortest of its candidates'. */
SL_NODISCARD sl_status sl_universe__canonical(sl_universe *u, sl_pool *pool, int i,
                                              const sl_node **expr, const uint32_t *chosen,
                                              int64_t n, const sl_universe_watch *watch);
/* The earliest class that agrees with these values, or SL_UNIVERSE__NO_CLASS. */
uint32_t sl_universe__find_class(const sl_universe *u, const long double *v);

SL_NODISCARD sl_status sl_universe__check(const sl_universe_options *o);
/* Gives back all but the members and what is known of them. */
void sl_universe__release(sl_universe *u);
SL_NODISCARD sl_status sl_universe__hash_members(const sl_universe *u, char out[33]);

int sl_universe__report(const sl_universe_watch *w, int i, const char *what, double done,
                      double total);
void sl_universe__note(const sl_universe_watch *w, const char *text);

/* ---------------------------------------------------------------- cache --------------------- */

/* Of the file's format, and of rules whose change sl_universe__rules does not show. */
enum { SL_UNIVERSE__CACHE_VERSION = 2 };

/* *out := a hash of what the rules do that make a set of its options: operators, canonical forms,
 * comparison, sample, withheld part. Takes milliseconds. SL_ENOMEM is the only failure. */
SL_NODISCARD sl_status sl_universe__rules(uint64_t *out);

/* Where sets are kept, and how much of it. */
typedef struct sl_universe__cache {
    const char *dir; // NULL: no files
    uint64_t rules;
    int64_t min_raw; // a set of fewer candidates is built sooner than written
    int max_files;
    int64_t max_bytes; // of all files together
} sl_universe__cache;
#define SL_UNIVERSE__CACHE_INIT { NULL, 0, 100000, 16, (int64_t)1 << 30 }

/* sl_universe_open, with limits that tests can choose. */
SL_NODISCARD sl_status sl_universe__open(sl_universe **out, sl_pool *pool,
                                         const sl_universe_options *o,
                                         const sl_universe_watch *watch,
                                         const sl_universe__cache *c);
/* Appends where the set of o is, or would be, kept. */
void sl_universe__cache_path(sl_str *s, const sl_universe_options *o, const sl_universe__cache *c);

#endif

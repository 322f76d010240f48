/* universe - every distinct expression up to a depth.
 *
 * Level 0 is the variables. The raw candidates of level i are, in this order,
 *
 *     for p in level i-1:                              exp p, sin p, neg p, sqrt p
 *     for p in level i-1, for q in levels 0..i-1:      p+q, p-q, q-p, p*q, p/q, q/p
 *
 * (operators that the configuration leaves out are skipped), and each is compared with everything
 * listed before it. Two functions are the same if they agree at every probe where both are real.
 * Probes are 12 fixed points in each orthant of the variables, values are long double. A new
 * function is listed; a known one belongs to the earliest class that it agrees with. The first
 * candidate's canonical form stands for a class until a later candidate of it, real at the same
 * probes, has a shorter one. Constants, and functions real at no probe, are dropped. Agreement
 * where both are real is not transitive, so the order above is part of the definition.
 *
 * Most functions are real throughout at least one orthant. The few real only on part of one, such
 * as sqrt(x1^2 - x2^2), are taken last in each level, so whether they are listed never changes
 * which of the others are.
 *
 * How it is fast: a candidate's value at a probe is one operation on its operands' values. Per
 * orthant one probe (more where values are tiny), rounded, is a hash key; candidates of one class
 * meet there and are compared at all probes. So a handful of operations and look-ups decide most
 * candidates, and algebra runs only for what is kept.
 *
 * The set E of a configuration is the full lower levels and a seeded sample of the last one: the
 * classes with the smallest Philox(seed, raw index of the first candidate), so a larger E contains
 * a smaller one. It is a value: same configuration, same bytes, same hash, for any number of
 * threads. So it can be kept in a file (cache.c): sl_universe_open has the members from there in
 * hundredths of a second, and builds them where there is no good file. */
#ifndef SL_UNIVERSE_H
#define SL_UNIVERSE_H

#include "expr/expr.h"
#include "par/par.h"

#define SL_UNIVERSE_MAX_DEPTH 4
#define SL_UNIVERSE_MAX_VARS SL_EXPR_SET_VARS

typedef struct sl_universe_options {
    int depth;          // 0 .. SL_UNIVERSE_MAX_DEPTH
    int variables;      // 1 .. SL_UNIVERSE_MAX_VARS
    uint32_t ops;       // bit i: operator i of SL_OPERATORS takes part
    int64_t size;       // |E|; 0: the whole last level
    uint64_t seed;
    double withheld;    // part of E kept from training
    int64_t max_memory; // bytes; 0: what the machine has free
} sl_universe_options;

/* The operators of the default universe, which stored hashes depend on. */
#define SL_UNIVERSE_ALL_OPS SL_EXPR_FIRST_OPERATORS
#define SL_UNIVERSE_OPTIONS_INIT { 3, 2, SL_UNIVERSE_ALL_OPS, 100000, 0, 0.0, 0 }

/* Counts of the raw candidates of a level. raw = constant + nowhere + known + distinct. */
typedef struct sl_universe_counts {
    int64_t raw;
    int64_t distinct;    // listed functions of exactly this depth, the next line included
    int64_t partial;     // of these, real only on part of an orthant
    int64_t partial_raw; // candidates of that kind, listed or not, constants included
    int64_t constant;
    int64_t nowhere;     // real at no probe
    int64_t known;       // the same function as one listed before
    double seconds;      // 0 when the set was read from a file
} sl_universe_counts;

typedef struct sl_universe sl_universe;

/* Called now and then with how far level `level` is; anything but 0 stops with SL_ECANCEL. A level
 * that needs much memory is announced by `note` before it starts, and so is a set that cannot be
 * kept after it was built. NULL: silent. */
typedef struct sl_universe_watch {
    int (*progress)(int level, const char *what, double done, double total, void *payload);
    void (*note)(const char *text, void *payload);
    void *payload;
} sl_universe_watch;

SL_NODISCARD sl_status sl_universe_new(sl_universe **out, sl_pool *pool,
                                       const sl_universe_options *o,
                                       const sl_universe_watch *watch);
/* The same members, levels, counts and hash, without the table of all functions, which is most of
 * the memory: sl_universe_find and sl_universe_lists must not be called. They come from a file in
 * the folder `dir` if there is a good one; else they are built, and the file is written, with `dir`
 * made if missing. No file is ever an error: one that is damaged, or made by other rules, is not
 * used; that none can be written is a note. dir NULL: no files. */
SL_NODISCARD sl_status sl_universe_open(sl_universe **out, sl_pool *pool,
                                        const sl_universe_options *o,
                                        const sl_universe_watch *watch, const char *dir);
void sl_universe_free(sl_universe *u);

const sl_universe_options *sl_universe_config(const sl_universe *u);
int64_t sl_universe_size(const sl_universe *u);                      // |E| as built
const sl_node *sl_universe_get(const sl_universe *u, int64_t index); // canonical, borrowed
int sl_universe_level(const sl_universe *u, int64_t index);          // depth of member `index`
bool sl_universe_withheld(const sl_universe *u, int64_t index);
const sl_universe_counts *sl_universe_count(const sl_universe *u, int i);
const char *sl_universe_hash(const sl_universe *u);                  // of configuration and members

bool sl_universe_can_find(const sl_universe *u); // is it from sl_universe_new?
/* The member that is the same function as e, by agreement at the probes; -1 if there is none. */
int64_t sl_universe_find(const sl_universe *u, const sl_node *e);
/* Is e one of the distinct functions, in the sample E or not? */
bool sl_universe_lists(const sl_universe *u, const sl_node *e);

/* Operators from text such as "+,-,*,/,exp": commas or blanks between; SL_EFORMAT names what is
 * unknown. */
SL_NODISCARD sl_status sl_universe_ops_parse(uint32_t *out, const char *text);
void sl_universe_ops_print(sl_str *s, uint32_t ops);

#endif

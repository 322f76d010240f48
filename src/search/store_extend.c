/* Lists of parts, extended level by level.
 *
 * Candidates are made in a fixed order and in batches. The values of a batch are computed on all
 * threads; then, in order, those whose values no earlier part of the list has are kept. So the
 * lists are the same for any number of threads. */
#include <math.h>
#include <string.h>

#include "search/store_impl.h"

enum { KEY_PROBES = 7, GRAIN = 128, PURE_AHEAD = 12, SHORT_LEVEL = 9 };

struct sl_search__store_batch {
    sl_store *store;
    sl_search__store_list_id list;
    sl_store_term term[SL_STORE_BATCH];
    uint64_t key[SL_STORE_BATCH]; // of the values; 0: not a candidate
    double *value;
};

sl_status sl_search__store_batch_new(sl_search__store_batch **out, sl_store *s) {
    const size_t n = (size_t)SL_STORE_BATCH * (size_t)s->stride;
    sl_search__store_batch *b = sl_malloc(1, sizeof *b);
    if (!b) return sl_fail_memory(1, sizeof *b, "a batch of terms");
    b->store = s;
    b->value = sl_malloc_aligned(n, sizeof *b->value);
    if (!b->value) {
        sl_free(b);
        return sl_fail_memory(n, sizeof *b->value, "the values of a batch of terms");
    }
    *out = b;
    return SL_OK;
}

void sl_search__store_batch_free(sl_search__store_batch *b) {
    if (b) sl_free(b->value);
    sl_free(b);
}

sl_store_term *sl_search__store_batch_room(sl_search__store_batch *b) { return b->term; }

/* ---------------------------------------------------------------- values on all threads ----- */

/* Twenty bits of the mantissas of a few probes. */
static uint64_t key_of(const double *v, int n) {
    uint64_t h = 0;
    for (int i = 0; i < SL_MIN(n, KEY_PROBES); i++) {
        uint64_t b;
        const double x = v[i] + 0.0; // -0 is 0
        memcpy(&b, &x, sizeof b);
        h = (h ^ ((b + (UINT64_C(1) << 31)) >> 32)) * UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 31;
    }
    return h ? h : 1;
}

static bool is_monomial(const sl_store *s, uint32_t part) {
    const sl_store_term t = sl_search__store_term(s, part);
    if (sl_search__term_form(t) == SL_FORM_SCALED)
        return sl_search__term_form(sl_search__store_term(s, sl_search__term_a(t))) ==
               SL_FORM_MONOMIAL;
    return sl_search__term_form(t) == SL_FORM_MONOMIAL;
}

/* Does a simpler term have the same values? A power of a monomial is a monomial; a constant inside
 * a power is a factor of it, inside a logarithm a summand; a sign inside an even or odd function is
 * a factor of it or disappears. */
static bool is_redundant(const sl_store *s, sl_search__store_list_id list, sl_store_term t) {
    if (list != SL_LIST_FUNCTIONS && list != SL_LIST_ELEMENTARY) return false;
    if (sl_search__term_form(t) != SL_FORM_FUNCTION) return false;
    const sl_search__store_function *f = &sl_search__store_functions[sl_search__term_function(t)];
    const sl_store_term u = sl_search__store_term(s, sl_search__term_a(t));
    if (f->power && is_monomial(s, sl_search__term_a(t))) return true;
    if (sl_search__term_form(u) == SL_FORM_SUM || sl_search__term_form(u) == SL_FORM_ONE_SCALED)
        return false;
    const unsigned c = sl_search__term_constant(u);
    if (c && (f->power || sl_search__term_function(t) == SL_STORE__LOG)) return true;
    return f->even_or_odd && sl_search__store_constants[c].num < 0;
}

/* Numbers are parts of the enumeration by complexity alone, as far as algebra makes them. */
static bool is_number(const sl_store *s, sl_search__store_list_id list, sl_store_term t,
                      const double *v) {
    if (!sl_search__store_constant_value(v, s->stride)) return false;
    const unsigned f = sl_search__term_function(t);
    return list != SL_LIST_GENERIC ||
           (sl_search__term_form(t) == SL_FORM_FUNCTION && !sl_search__store_functions[f].power);
}

/* A difference that is negative at all probes is negated, so that it has logarithms and roots. */
static void orient(sl_store_term *t, double *v, int n) {
    for (int i = 0; i < n; i++)
        if (!(v[i] < 0)) return;
    *t = sl_search__term_make(false, SL_FORM_SUM, sl_search__term_choice(1, 0),
                              sl_search__term_b(*t), sl_search__term_a(*t));
    for (int i = 0; i < n; i++) v[i] = -v[i];
}

static sl_status evaluate(int64_t begin, int64_t end, int worker, void *payload) {
    sl_search__store_batch *b = payload;
    const sl_store *s = b->store;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        double *v = b->value + (size_t)i * (size_t)s->stride;
        b->key[i] = 0;
        if (!sl_search__store_dimension_fits(s, b->list, b->term[i]) ||
            is_redundant(s, b->list, b->term[i]) ||
            !sl_search__store_evaluate(v, s, b->term[i], s->stride) ||
            is_number(s, b->list, b->term[i], v))
            continue;
        if (b->list == SL_LIST_BINOMIALS && sl_search__term_constant(b->term[i]) == 1)
            orient(&b->term[i], v, s->stride);
        b->key[i] = key_of(v, s->probes);
    }
    return SL_OK;
}

/* ---------------------------------------------------------------- distinct values ----------- */

static void put_key(uint64_t *key, size_t room, uint64_t k) {
    size_t i = (size_t)k & (room - 1);
    while (key[i] && key[i] != k) i = (i + 1) & (room - 1);
    key[i] = k;
}

static sl_status grow(sl_store *s, sl_search__store_seen *seen) {
    const size_t room = seen->room ? 2 * seen->room : 4096;
    if (!sl_search__store_reserve(s, (room - seen->room) * sizeof *seen->key)) return SL_OK;
    uint64_t *key = sl_calloc(room, sizeof *key);
    if (!key) return sl_fail_memory(room, sizeof *key, "keys of terms");
    for (size_t i = 0; i < seen->room; i++)
        if (seen->key[i]) put_key(key, room, seen->key[i]);
    sl_free(seen->key);
    seen->key = key;
    seen->room = room;
    return SL_OK;
}

/* *fresh: the list has no such values yet; from now on it has. */
static sl_status look_up(bool *fresh, sl_store *s, sl_search__store_seen *seen, uint64_t k) {
    *fresh = false;
    if (2 * seen->count >= seen->room) SL_TRY(grow(s, seen));
    if (s->full) return SL_OK;
    size_t i = (size_t)k & (seen->room - 1);
    while (seen->key[i] && seen->key[i] != k) i = (i + 1) & (seen->room - 1);
    if (seen->key[i]) return SL_OK;
    seen->key[i] = k;
    seen->count++;
    *fresh = true;
    return SL_OK;
}

/* 1 a is a itself and is not stored again. */
static sl_status keep(sl_store *s, sl_search__store_list_id list, sl_store_term t, const double *v,
                      double rank) {
    uint32_t id = sl_search__term_a(t);
    bool stored = true;
    if (sl_search__term_form(t) != SL_FORM_SCALED || sl_search__term_constant(t) != 0)
        SL_TRY(sl_search__store_part_add(&stored, &id, s, t, v));
    if (!stored) return SL_OK;
    return sl_search__store_list_add(s, list, id,
                                     rank > 0 ? rank : (double)s->list[list].count + 1);
}

sl_status sl_search__store_batch_keep(sl_store *s, int n, sl_search__store_list_id list,
                                      double rank) {
    sl_search__store_batch *b = s->batch;
    b->list = list;
    SL_TRY(sl_par_for(s->job->pool, n, GRAIN, evaluate, b));
    for (int i = 0; i < n && !s->full; i++) {
        bool fresh;
        if (!b->key[i]) continue;
        SL_TRY(look_up(&fresh, s, &s->seen[list], b->key[i]));
        if (fresh)
            SL_TRY(keep(s, list, b->term[i], b->value + (size_t)i * (size_t)s->stride, rank));
    }
    return SL_OK;
}

/* ---------------------------------------------------------------- levels -------------------- */

static size_t most(sl_search__store_list_id list) {
    return list == SL_LIST_BINOMIALS ? (size_t)1 << 16 : (size_t)1 << 19;
}

/* One list by one level. Parts of a level are equal in rank: three quarters of its end; of short
 * lists the rank is the place. */
static sl_status extend(sl_store *s, sl_search__store_list_id list, int level) {
    const bool by_place = list == SL_LIST_SHIFTED || list == SL_LIST_ELEMENTARY;
    const double rank = by_place ? 0 : level ? 0.75 * ldexp(1, level) : 1;
    for (int i = 0; i < sl_search__store_n_families; i++) {
        const sl_search__store_family *f = &sl_search__store_families[i];
        sl_search__store_range r;
        if (f->of != SL_STORE__OF_LIST(list) || !sl_search__store_range_begin(&r, s, f, level))
            continue;
        for (;;) {
            if (s->full || s->list[list].count >= most(list)) return SL_OK;
            if (sl_search__stop(s->job, true)) return SL_OK;
            const int n = sl_search__store_range_next(s->batch->term, NULL, SL_STORE_BATCH, &r);
            if (!n) break;
            SL_TRY(sl_search__store_batch_keep(s, n, list, rank));
        }
    }
    return SL_OK;
}

/* How many levels ahead of the terms a list of parts must be. */
static int reach(sl_search__store_list_id list) {
    int most_ahead = 0;
    for (int i = 0; i < sl_search__store_n_families; i++) {
        const sl_search__store_family *f = &sl_search__store_families[i];
        if (f->of >= 0 && (f->first == list || f->second == list))
            most_ahead = SL_MAX(most_ahead, f->ahead);
    }
    return most_ahead;
}

static sl_status extend_to(sl_store *s, sl_search__store_list_id list, int level) {
    while (s->level[list] < level) {
        SL_TRY(extend(s, list, s->level[list] + 1));
        if (sl_search__stop(s->job, false)) return SL_OK;
        s->level[list]++;
    }
    return SL_OK;
}

sl_status sl_search__store_extend(sl_store *s, int level) {
    const size_t one = 1;
    level = SL_MIN(level, SL_STORE__LEVELS - 1);
    SL_TRY(
        sl_search__store_monomials_extend(s, one << SL_MIN(level + reach(SL_LIST_MONOMIALS), 30)));
    SL_TRY(sl_search__store_pure_extend(s, one << SL_MIN(level + PURE_AHEAD, 18)));
    SL_TRY(extend_to(s, SL_LIST_SHIFTED, SHORT_LEVEL));
    SL_TRY(extend_to(s, SL_LIST_ELEMENTARY, SHORT_LEVEL));
    SL_TRY(extend_to(s, SL_LIST_BINOMIALS, level + reach(SL_LIST_BINOMIALS)));
    if (level >= SL_STORE__DECAYS_FROM)
        SL_TRY(extend_to(s, SL_LIST_DECAYS, level + reach(SL_LIST_DECAYS)));
    while (s->level[SL_LIST_FUNCTIONS] < level && !sl_search__stop(s->job, false)) {
        const int next = s->level[SL_LIST_FUNCTIONS] + 1;
        SL_TRY(extend_to(s, SL_LIST_ARGUMENTS, next));
        SL_TRY(extend_to(s, SL_LIST_FUNCTIONS, next));
    }
    return sl_search__store_generic_extend(s, one << SL_MIN(level + reach(SL_LIST_GENERIC), 30));
}

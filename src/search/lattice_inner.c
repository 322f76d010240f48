/* lattice_inner - expressions of depth 0 and 1 with constants, the operands of halves.
 *
 * Each is listed once: values at the probes, rounded, are its key. Four keys decide up to what it
 * is new. FULL: no other has the same values up to sign; SCALE: up to a factor; SHIFT: up to sign
 * and a summand; AFFINE: up to a factor and a summand. Expressions are enumerated by number of
 * constants, so the listed one has the fewest. */
#include <math.h>
#include <string.h>

#include "search/lattice_impl.h"

enum { KEY_SHIFT = 6, RAW_MAX = 1 << 23, ATOMS_MAX = 1 << 16 };

/* ---------------------------------------------------------------- memory -------------------- */

sl_status sl_search__lattice_alloc(void **out, sl_lattice *l, size_t count, size_t size) {
    *out = NULL;
    if (!sl_search__reserve(l->job, (int64_t)(count * size))) return SL_OK;
    *out = sl_malloc_aligned(count, size);
    if (!*out) {
        sl_search__release(l->job, (int64_t)(count * size));
        return sl_fail_memory(count, size, "the lattice search");
    }
    return SL_OK;
}

void sl_search__lattice_free(sl_lattice *l, void *p, size_t count, size_t size) {
    if (!p) return;
    sl_free(p);
    sl_search__release(l->job, (int64_t)(count * size));
}

/* *p := room for `want` things, with the first `count` of the old ones. *done: there was room. */
static sl_status grow(bool *done, sl_lattice *l, void **p, int64_t count, int64_t room,
                      int64_t want, size_t size) {
    void *more;
    *done = false;
    SL_TRY(sl_search__lattice_alloc(&more, l, (size_t)want, size));
    if (!more) return SL_OK;
    if (count) memcpy(more, *p, (size_t)count * size);
    sl_search__lattice_free(l, *p, (size_t)room, size);
    *p = more;
    *done = true;
    return SL_OK;
}

/* ---------------------------------------------------------------- atoms and ratios ---------- */

static bool is_factor(const sl_search_grammar *g, int a) {
    return a == 1 || (a != 0 && a >= g->low && a <= g->high);
}

static bool is_summand(const sl_search_grammar *g, int b) {
    return b == 0 || (b >= g->low && b <= g->high);
}

static int constants_of(int a, int b) { return (a != 1) + (b != 0); }

/* Calls for every factor and summand with that many constants together; from[] and the loop bounds
 * take in 1 and 0, which are no constants. */
#define EACH_PAIR(g, a, b, constants)                                     \
    for (int a = SL_MIN((g)->low, 1); a <= SL_MAX((g)->high, 1); a++)     \
        for (int b = SL_MIN((g)->low, 0); b <= SL_MAX((g)->high, 0); b++) \
            if (is_factor(g, a) && is_summand(g, b) && constants_of(a, b) == (constants))

static int64_t pairs_of(const sl_search_grammar *g, int constants) {
    int64_t factors = 0, summands = 0;
    for (int v = g->low; v <= g->high; v++) factors += v != 0 && v != 1, summands += v != 0;
    return constants == 0 ? 1 : constants == 1 ? factors + summands : factors * summands;
}

static int64_t gcd(int64_t a, int64_t b) {
    while (b) {
        int64_t c = a % b;
        a = b;
        b = c;
    }
    return a < 0 ? -a : a;
}

/* Summand over factor: the values of r in u + r where a factor is free. */
static sl_status make_ratios(sl_lattice *l) {
    const sl_search_grammar *g = &l->grammar;
    int64_t room = 1 + pairs_of(g, 1) + pairs_of(g, 2);
    void *p;
    SL_TRY(sl_search__lattice_alloc(&p, l, (size_t)room, sizeof *l->ratio));
    if (!p) return SL_OK;
    l->ratio = p;
    l->ratio_room = room;
    int32_t n = 0;
    l->ratio[n++] = (sl_search__lattice_ratio){ 0, 1, 0 };
    l->ratio_begin[1] = n;
    for (int b = g->low; b <= g->high; b++)
        if (b != 0) l->ratio[n++] = (sl_search__lattice_ratio){ b, 1, b };
    l->ratio_begin[2] = n;
    for (int a = 2; a <= SL_MAX(g->high, -g->low); a++)
        for (int b = g->low; b <= g->high; b++)
            if (b != 0 && gcd(b, a) == 1 && n < room)
                l->ratio[n++] = (sl_search__lattice_ratio){ b, a, (double)b / a };
    l->ratio_begin[3] = n;
    return SL_OK;
}

sl_status sl_search__lattice_atoms(sl_lattice *l) {
    const sl_search_grammar *g = &l->grammar;
    int64_t room = 0;
    int most = 2;
    while (most > 0 && l->variables * pairs_of(g, most) > ATOMS_MAX) most--;
    for (int c = 0; c <= most; c++) room += l->variables * pairs_of(g, c);
    void *p;
    SL_TRY(sl_search__lattice_alloc(&p, l, (size_t)room, sizeof *l->atom));
    if (!p) return SL_OK;
    l->atom = p;
    l->atom_room = room;
    for (int c = 0; c <= 2; c++) {
        l->atom_begin[c] = l->atoms;
        for (int v = 0; v < l->variables && c <= most; v++) EACH_PAIR(g, a, b, c)
        l->atom[l->atoms++] = (sl_search__lattice_atom){ a, b, (int8_t)v, (int8_t)c };
    }
    l->atom_begin[3] = l->atoms;
    return make_ratios(l);
}

/* ---------------------------------------------------------------- keys ---------------------- */

static uint64_t key_of(const double *w) {
    uint64_t h = 0x9E3779B97F4A7C15u;
    for (int k = 0; k < SL_LATTICE__PROBES; k++) {
        double r = fabs(w[k]) < 1e-9 ? 0 : w[k];
        h = (h ^ sl_search__lattice_cell((float)r, KEY_SHIFT)) * 0xD6E8FEB86659FD93u;
        h ^= h >> 32;
    }
    return h ? h : 1;
}

static uint64_t key_full(const double *v) {
    double w[SL_LATTICE__PROBES], sign = v[0] < 0 ? -1 : 1;
    for (int k = 0; k < SL_LATTICE__PROBES; k++) w[k] = sign * v[k];
    return key_of(w);
}

static uint64_t key_scale(const double *v) {
    double w[SL_LATTICE__PROBES];
    for (int k = 0; k < SL_LATTICE__PROBES; k++) w[k] = v[k] / v[0];
    return key_of(w);
}

static uint64_t key_shift(const double *v) {
    double w[SL_LATTICE__PROBES], sign = v[1] - v[0] < 0 ? -1 : 1;
    for (int k = 0; k < SL_LATTICE__PROBES; k++) w[k] = sign * (v[k] - v[0]);
    return key_of(w);
}

static uint64_t key_affine(const double *v) {
    double w[SL_LATTICE__PROBES];
    for (int k = 0; k < SL_LATTICE__PROBES; k++) w[k] = (v[k] - v[0]) / (v[1] - v[0]);
    return key_of(w);
}

static bool set_insert(uint64_t *slot, int64_t size, uint64_t key) {
    uint64_t at = (key * 0x9E3779B97F4A7C15u) >> 20;
    for (;; at++) {
        uint64_t *s = &slot[at & (uint64_t)(size - 1)];
        if (*s == key) return false;
        if (*s == 0) {
            *s = key;
            return true;
        }
    }
}

/* Room for that many more keys. */
static sl_status set_reserve(bool *done, sl_lattice *l, sl_search__lattice_set *set, int64_t more) {
    int64_t size = SL_MAX(set->size, 1024);
    *done = true;
    while (size < 2 * (set->count + more)) size *= 2;
    if (size == set->size) return SL_OK;
    void *p;
    SL_TRY(sl_search__lattice_alloc(&p, l, (size_t)size, sizeof *set->slot));
    if (!p) {
        *done = false;
        return SL_OK;
    }
    memset(p, 0, (size_t)size * sizeof *set->slot);
    for (int64_t i = 0; i < set->size; i++)
        if (set->slot[i]) set_insert(p, size, set->slot[i]);
    sl_search__lattice_free(l, set->slot, (size_t)set->size, sizeof *set->slot);
    set->slot = p;
    set->size = size;
    return SL_OK;
}

static bool set_add(sl_search__lattice_set *set, uint64_t key) {
    bool fresh = set_insert(set->slot, set->size, key);
    set->count += fresh;
    return fresh;
}

/* ---------------------------------------------------------------- expressions of a level ---- */

/* A new expression, and the equivalences under which it is new. */
typedef struct fresh {
    sl_search__lattice_inner inner;
    bool scale, shift, affine;
    double v[SL_LATTICE__PROBES];
} fresh;

typedef struct maker {
    sl_lattice *l;
    fresh *list;
    int64_t count, room;
    int constants;
    double (*atom)[SL_LATTICE__PROBES]; // their values
    bool *root;                         // is the atom never negative?
    bool done;                          // there was memory for all
} maker;

/* Values that keys can distinguish: finite, of a size between 1e-30 and 1e30, not all equal. */
static bool is_good(const double *v) {
    double reach = 0;
    for (int k = 0; k < SL_LATTICE__PROBES; k++) {
        double size = fabs(v[k]);
        if (!(size < 1e30 && size > 1e-30)) return false;
        reach = SL_MAX(reach, fabs(v[k] - v[0]));
    }
    return reach > 1e-10 * fabs(v[0]);
}

static sl_status make_room(maker *m) {
    bool done;
    int64_t want = SL_MAX(4096, 2 * m->room);
    void *p = m->list;
    SL_TRY(set_reserve(&done, m->l, &m->l->full, want));
    if (done) SL_TRY(grow(&done, m->l, &p, m->count, m->room, want, sizeof *m->list));
    if (done) m->list = p, m->room = want;
    m->done = done;
    return SL_OK;
}

static sl_status propose(maker *m, const double *v, sl_search__lattice_inner inner) {
    if (!m->done || !is_good(v)) return SL_OK;
    if (m->count == m->room) SL_TRY(make_room(m));
    if (!m->done || !set_add(&m->l->full, key_full(v))) return SL_OK;
    fresh *f = &m->list[m->count++];
    inner.constants = (uint8_t)m->constants;
    f->inner = inner;
    memcpy(f->v, v, sizeof f->v);
    return SL_OK;
}

static bool has(const sl_lattice *l, sl_operator o) { return l->grammar.ops >> o & 1; }

static sl_status propose_atoms(maker *m) {
    const sl_lattice *l = m->l;
    if (m->constants > 2) return SL_OK;
    for (int32_t i = l->atom_begin[m->constants]; i < l->atom_begin[m->constants + 1]; i++)
        SL_TRY(propose(m, m->atom[i],
                       (sl_search__lattice_inner){ .op = SL_LATTICE__ATOM, .left = i }));
    return SL_OK;
}

static sl_status propose_squares(maker *m) {
    const sl_lattice *l = m->l;
    double v[SL_LATTICE__PROBES];
    if (m->constants > 2 || !has(l, SL_OPERATOR_MUL)) return SL_OK;
    for (int32_t i = l->atom_begin[m->constants]; i < l->atom_begin[m->constants + 1]; i++) {
        for (int k = 0; k < SL_LATTICE__PROBES; k++) v[k] = m->atom[i][k] * m->atom[i][k];
        SL_TRY(propose(m, v, (sl_search__lattice_inner){ .op = SL_LATTICE__SQUARE, .left = i }));
    }
    return SL_OK;
}

static sl_status propose_pair(maker *m, int32_t i, int32_t j, sl_operator o,
                              sl_search__lattice_op op) {
    double v[SL_LATTICE__PROBES];
    if (!has(m->l, o)) return SL_OK;
    for (int k = 0; k < SL_LATTICE__PROBES; k++) {
        double p = m->atom[i][k], q = m->atom[j][k];
        v[k] = op == SL_LATTICE__SUM          ? p + q
               : op == SL_LATTICE__DIFFERENCE ? p - q
               : op == SL_LATTICE__PRODUCT    ? p * q
                                              : p / q;
    }
    return propose(m, v, (sl_search__lattice_inner){ .op = (uint8_t)op, .left = i, .right = j });
}

static sl_status propose_pairs(maker *m, int left, int right) {
    const int32_t *begin = m->l->atom_begin;
    for (int32_t i = begin[left]; i < begin[left + 1]; i++) {
        if (sl_search__stop(m->l->job, true)) return SL_OK;
        for (int32_t j = begin[right]; j < begin[right + 1]; j++) {
            if (left < right || (left == right && i <= j)) {
                SL_TRY(propose_pair(m, i, j, SL_OPERATOR_ADD, SL_LATTICE__SUM));
                SL_TRY(propose_pair(m, i, j, SL_OPERATOR_SUB, SL_LATTICE__DIFFERENCE));
                SL_TRY(propose_pair(m, i, j, SL_OPERATOR_MUL, SL_LATTICE__PRODUCT));
            }
            SL_TRY(propose_pair(m, i, j, SL_OPERATOR_DIV, SL_LATTICE__QUOTIENT));
        }
    }
    return SL_OK;
}

static double function_at(sl_search__lattice_op op, double x) {
    return op == SL_LATTICE__EXP ? sl_exp(x) : op == SL_LATTICE__SIN ? sl_sin(x) : sqrt(x);
}

static sl_status propose_function(maker *m, int32_t i, sl_operator o, sl_search__lattice_op op,
                                  int outer) {
    double u[SL_LATTICE__PROBES], v[SL_LATTICE__PROBES];
    if (!has(m->l, o) || (op == SL_LATTICE__SQRT && !m->root[i])) return SL_OK;
    for (int k = 0; k < SL_LATTICE__PROBES; k++) u[k] = function_at(op, m->atom[i][k]);
    EACH_PAIR(&m->l->grammar, a, b, outer) {
        for (int k = 0; k < SL_LATTICE__PROBES; k++) v[k] = a * u[k] + b;
        SL_TRY(propose(
            m, v,
            (sl_search__lattice_inner){ .op = (uint8_t)op, .left = i, .factor = a, .summand = b }));
    }
    return SL_OK;
}

static sl_status propose_functions(maker *m, int inside, int outer) {
    const int32_t *begin = m->l->atom_begin;
    for (int32_t i = begin[inside]; i < begin[inside + 1]; i++) {
        SL_TRY(propose_function(m, i, SL_OPERATOR_EXP, SL_LATTICE__EXP, outer));
        SL_TRY(propose_function(m, i, SL_OPERATOR_SIN, SL_LATTICE__SIN, outer));
        SL_TRY(propose_function(m, i, SL_OPERATOR_SQRT, SL_LATTICE__SQRT, outer));
    }
    return SL_OK;
}

static sl_status propose_all(maker *m) {
    SL_TRY(propose_atoms(m));
    if (m->l->grammar.depth < 2) return SL_OK;
    SL_TRY(propose_squares(m));
    for (int inside = 0; inside <= 2; inside++) {
        int other = m->constants - inside;
        if (other < 0 || other > 2) continue;
        SL_TRY(propose_pairs(m, inside, other));
        SL_TRY(propose_functions(m, inside, other));
    }
    return SL_OK;
}

/* Atoms at the probes, and whether they have a root in every row. */
static sl_status value_atoms(maker *m, sl_arena *a) {
    const sl_lattice *l = m->l;
    m->atom = sl_arena_alloc(a, (size_t)l->atoms * sizeof *m->atom);
    m->root = sl_arena_alloc(a, (size_t)l->atoms * sizeof *m->root);
    if (!m->atom || !m->root)
        return sl_fail_memory((size_t)l->atoms, sizeof *m->atom, "the lattice search");
    for (int32_t i = 0; i < l->atoms; i++) {
        const sl_search__lattice_atom *t = &l->atom[i];
        const double *x = l->x[t->variable];
        m->root[i] = true;
        for (int r = 0; r < l->rows; r++)
            if (t->factor * x[r] + t->summand < 0) m->root[i] = false;
        for (int k = 0; k < SL_LATTICE__PROBES; k++) m->atom[i][k] = t->factor * x[k] + t->summand;
    }
    return SL_OK;
}

/* ---------------------------------------------------------------- lists --------------------- */

static sl_status mark_fresh(int64_t begin, int64_t end, int worker, void *payload) {
    (void)worker;
    maker *m = payload;
    for (int64_t what = begin; what < end; what++)
        for (int64_t i = 0; i < m->count; i++) {
            fresh *f = &m->list[i];
            if (what == 0) f->scale = set_add(&m->l->scale, key_scale(f->v));
            if (what == 1) f->shift = set_add(&m->l->shifted, key_shift(f->v));
            if (what == 2) f->affine = set_add(&m->l->affine, key_affine(f->v));
        }
    return SL_OK;
}

sl_status sl_search__lattice_list_reserve(bool *done, sl_lattice *l, sl_search__lattice_list *list,
                                          int64_t more) {
    int64_t want = SL_MAX(list->room, 1024);
    *done = true;
    while (want < list->count + more) want *= 2;
    if (want == list->room) return SL_OK;
    void *id = list->id;
    SL_TRY(grow(done, l, &id, list->count, list->room, want, sizeof *list->id));
    if (!*done) return SL_OK;
    list->id = id;
    list->room = want;
    for (int k = 0; k < SL_LATTICE__PROBES; k++) {
        void *value = list->value[k];
        SL_TRY(grow(done, l, &value, list->count, list->value_room[k], want, sizeof(double)));
        if (!*done) return SL_OK;
        list->value[k] = value;
        list->value_room[k] = want;
    }
    return SL_OK;
}

void sl_search__lattice_list_add(sl_search__lattice_list *list, int32_t id, const double *v) {
    list->id[list->count] = id;
    for (int k = 0; k < SL_LATTICE__PROBES; k++) list->value[k][list->count] = v[k];
    list->count++;
}

/* FULL: primitive ones first; their order is that of sl_lattice.inner. */
static void append_full(sl_lattice *l, maker *m, int32_t *id) {
    sl_search__lattice_list *list = &l->list[SL_LATTICE__FULL];
    list->begin[m->constants] = (int32_t)list->count;
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t i = 0; i < m->count; i++) {
            if (m->list[i].scale != (pass == 0)) continue;
            id[i] = (int32_t)l->inners;
            l->inner[l->inners++] = m->list[i].inner;
            sl_search__lattice_list_add(list, id[i], m->list[i].v);
        }
        if (pass == 0) list->middle[m->constants] = (int32_t)list->count;
    }
    list->begin[m->constants + 1] = (int32_t)list->count;
}

static void append_shift(sl_lattice *l, maker *m, const int32_t *id) {
    sl_search__lattice_list *list = &l->list[SL_LATTICE__SHIFT];
    list->begin[m->constants] = (int32_t)list->count;
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t i = 0; i < m->count; i++)
            if (m->list[i].shift && m->list[i].affine == (pass == 0))
                sl_search__lattice_list_add(list, id[i], m->list[i].v);
        if (pass == 0) list->middle[m->constants] = (int32_t)list->count;
    }
    list->begin[m->constants + 1] = (int32_t)list->count;
}

static sl_status reserve_all(bool *done, sl_lattice *l, int64_t more) {
    sl_search__lattice_set *set[] = { &l->scale, &l->shifted, &l->affine };
    *done = l->inners + more <= SL_LATTICE__INNERS;
    for (int i = 0; i < SL_LEN(set) && *done; i++) SL_TRY(set_reserve(done, l, set[i], more));
    for (int i = 0; i < SL_LATTICE__FACTOR && *done; i++)
        SL_TRY(sl_search__lattice_list_reserve(done, l, &l->list[i], more));
    if (!*done || l->inners + more <= l->inner_room) return SL_OK;
    int64_t want = SL_MAX(l->inners + more, 2 * l->inner_room);
    void *p = l->inner;
    SL_TRY(grow(done, l, &p, l->inners, l->inner_room, want, sizeof *l->inner));
    if (*done) l->inner = p, l->inner_room = want;
    return SL_OK;
}

static sl_status append(maker *m, sl_arena *a) {
    sl_lattice *l = m->l;
    SL_TRY(reserve_all(&m->done, l, m->count));
    if (!m->done) return SL_OK;
    int32_t *id = sl_arena_alloc(a, (size_t)SL_MAX(m->count, 1) * sizeof *id);
    if (!id) return sl_fail_memory((size_t)m->count, sizeof *id, "the lattice search");
    SL_TRY(sl_par_for(l->job->pool, 3, 1, mark_fresh, m));
    append_full(l, m, id);
    append_shift(l, m, id);
    return SL_OK;
}

/* Expressions proposed, before equal ones are dropped. */
static double raw_count(const sl_lattice *l, int constants) {
    double n = 0;
    for (int i = 0; i <= 2; i++) {
        int other = constants - i;
        if (other < 0 || other > 2) continue;
        double left = l->atom_begin[i + 1] - l->atom_begin[i];
        double right = l->atom_begin[other + 1] - l->atom_begin[other];
        n += 2.5 * left * right + 3 * left * (double)pairs_of(&l->grammar, other);
    }
    return n;
}

sl_status sl_search__lattice_extend(bool *done, sl_lattice *l, int constants) {
    sl_status st;
    sl_arena a = { 0 };
    maker m = { .l = l, .constants = constants, .done = true };
    *done = false;
    if (raw_count(l, constants) > RAW_MAX) return SL_OK;
    SL_GO(value_atoms(&m, &a));
    SL_GO(propose_all(&m));
    if (m.done && !sl_search__stop(l->job, true)) {
        SL_GO(append(&m, &a));
        *done = m.done;
        if (m.done) l->levels = constants + 1;
    }
done:
    sl_search__lattice_free(l, m.list, (size_t)m.room, sizeof *m.list);
    sl_arena_clear(&a);
    return st;
}

/* The store itself: memory of parts and lists, opening, closing, access. */
#include <math.h>
#include <string.h>

#include "search/store_impl.h"

bool sl_search__store_reserve(sl_store *s, size_t bytes) {
    if (s->full) return false;
    if (!sl_search__reserve(s->job, (int64_t)bytes)) {
        s->full = true;
        return false;
    }
    s->held += (int64_t)bytes;
    return true;
}

/* ---------------------------------------------------------------- lists and parts ----------- */

static sl_status grow(sl_search__store_list *l, size_t room) {
    uint32_t *id = sl_realloc(l->id, room, sizeof *id);
    if (id) l->id = id;
    float *rank = sl_realloc(l->rank, room, sizeof *rank);
    if (rank) l->rank = rank;
    float *bits = sl_realloc(l->bits, room, sizeof *bits);
    if (bits) l->bits = bits;
    if (!id || !rank || !bits) return sl_fail_memory(room, sizeof *id, "a list of terms");
    l->room = room;
    return SL_OK;
}

sl_status sl_search__store_list_add(sl_store *s, sl_search__store_list_id list, uint32_t id,
                                    double rank) {
    sl_search__store_list *l = &s->list[list];
    if (l->count == l->room) {
        const size_t room = l->room ? 2 * l->room : 64;
        if (!sl_search__store_reserve(s, (room - l->room) * (sizeof *l->id + 2 * sizeof *l->rank)))
            return SL_OK;
        SL_TRY(grow(l, room));
    }
    l->id[l->count] = id;
    l->rank[l->count] = (float)rank;
    l->bits[l->count] = (float)log2(rank);
    l->count++;
    return SL_OK;
}

static sl_status new_chunk(sl_store *s, sl_search__store_chunk *c) {
    const size_t n = SL_STORE__CHUNK * (size_t)s->stride;
    const size_t others = sizeof *c->term + (s->units ? sizeof *c->dimension : 0);
    if (!sl_search__store_reserve(s, n * sizeof *c->value + SL_STORE__CHUNK * others)) return SL_OK;
    c->value = sl_malloc_aligned(n, sizeof *c->value);
    if (!c->value) return sl_fail_memory(n, sizeof *c->value, "values of terms");
    if (s->units) c->dimension = sl_malloc(SL_STORE__CHUNK, sizeof *c->dimension);
    if (s->units && !c->dimension)
        return sl_fail_memory(SL_STORE__CHUNK, sizeof *c->dimension, "dimensions of terms");
    c->term = sl_malloc(SL_STORE__CHUNK, sizeof *c->term);
    if (!c->term) return sl_fail_memory(SL_STORE__CHUNK, sizeof *c->term, "terms");
    return SL_OK;
}

sl_status sl_search__store_part_add(bool *stored, uint32_t *id, sl_store *s, sl_store_term t,
                                    const double *value) {
    sl_search__store_chunk *c = &s->chunk[s->parts / SL_STORE__CHUNK];
    const size_t place = s->parts % SL_STORE__CHUNK, n = (size_t)s->stride;
    *stored = false;
    if (s->parts == SL_STORE__MAX_PARTS - 1) s->full = true;
    if (!c->term && !s->full) SL_TRY(new_chunk(s, c));
    if (s->full) return SL_OK;
    memcpy(c->value + place * n, value, n * sizeof *value);
    c->term[place] = t;
    if (c->dimension) (void)sl_search__store_dimension(&c->dimension[place], s, t);
    *id = (uint32_t)s->parts++;
    *stored = true;
    return SL_OK;
}

/* ---------------------------------------------------------------- opening ------------------- */

/* x^(h/2) at the probes, h from -SL_STORE__POWER on; the padding is as the first probe. Roots of
 * columns that are not positive are never used. */
static void fill_powers(sl_store *s) {
    double *p = s->power;
    for (int v = 0; v < s->variables; v++) {
        for (int h = -SL_STORE__POWER; h <= SL_STORE__POWER; h++) {
            for (int k = 0; k < s->stride; k++) {
                const double x = s->job->rows.x[v][k < s->probes ? k : 0];
                const double base = h % 2 ? sqrt(fabs(x)) : x;
                const int times = (h < 0 ? -h : h) / (h % 2 ? 1 : 2);
                double y = 1;
                for (int i = 0; i < times; i++) y *= base;
                *p++ = h < 0 ? 1 / y : y;
            }
        }
    }
}

static sl_status open_all(sl_store *s) {
    const size_t n = (size_t)s->variables * (2 * SL_STORE__POWER + 1) * (size_t)s->stride;
    s->power = sl_malloc(n, sizeof *s->power);
    if (!s->power) return sl_fail_memory(n, sizeof *s->power, "powers of columns");
    fill_powers(s);
    for (int i = 0; i < sl_search__store_n_constants; i++)
        s->constant[i] = sl_search__store_get_constant(i);
    for (int i = 0; i < SL_LIST_PARTS; i++) s->level[i] = -1;
    sl_search__store_open_units(s);
    SL_TRY(sl_search__store_batch_new(&s->batch, s));
    SL_TRY(sl_search__store_open_choices(s));
    SL_TRY(sl_search__store_open_short(s));
    return sl_search__store_open_hints(s);
}

sl_status sl_search__store_open(sl_store **out, sl_search__job *j, int probes) {
    const int n = j->rows.inputs;
    if (n < 1 || n > SL_STORE_MAX_VARIABLES)
        return sl_fail(SL_EINVAL,
                       "a search takes 1 to %d inputs, not %d: name the ones that matter",
                       SL_STORE_MAX_VARIABLES, n);
    SL_ASSERT(probes >= 1 && probes <= SL_STORE_MAX_PROBES && probes <= j->rows.rows);
    sl_store *s = sl_calloc(1, sizeof *s);
    if (!s) return sl_fail_memory(1, sizeof *s, "the store of terms");
    s->job = j;
    s->ops = j->o->ops;
    s->variables = n;
    s->probes = probes;
    s->stride = (probes + 7) / 8 * 8;
    const sl_status st = open_all(s);
    if (st != SL_OK) {
        sl_search__store_close(s);
        return st;
    }
    *out = s;
    return SL_OK;
}

void sl_search__store_close(sl_store *s) {
    if (!s) return;
    for (int i = 0; i < SL_LEN(s->chunk); i++) {
        sl_free(s->chunk[i].value);
        sl_free(s->chunk[i].term);
        sl_free(s->chunk[i].dimension);
    }
    for (int i = 0; i < SL_LIST_COUNT; i++) {
        sl_free(s->list[i].id);
        sl_free(s->list[i].rank);
        sl_free(s->list[i].bits);
    }
    for (int i = 0; i < SL_LIST_PARTS; i++) sl_free(s->seen[i].key);
    sl_free(s->exponents.row);
    sl_free(s->power);
    sl_search__store_batch_free(s->batch);
    sl_search__release(s->job, s->held);
    sl_free(s);
}

/* ---------------------------------------------------------------- access -------------------- */

int sl_search__store_stride(const sl_store *s) { return s->stride; }

sl_status sl_search__store_monomials(int *count, sl_store *s, int want) {
    SL_TRY(sl_search__store_monomials_extend(s, (size_t)want));
    *count = (int)SL_MIN(s->list[SL_LIST_MONOMIALS].count, (size_t)want);
    return SL_OK;
}

const double *sl_search__store_monomial(const sl_store *s, int i) {
    return sl_search__store_value(s, s->list[SL_LIST_MONOMIALS].id[i]);
}

const int8_t *sl_search__store_monomial_exponents(const sl_store *s, int i) {
    const sl_store_term t = sl_search__store_term(s, s->list[SL_LIST_MONOMIALS].id[i]);
    return s->exponents.row[sl_search__term_a(t)];
}

/* The first rows of exponents are those of short monomials, which come once more by rank. */
sl_status sl_search__store_rows(int *count, sl_store *s, int want) {
    SL_TRY(sl_search__store_exponents_extend(s, (size_t)want + s->short_rows));
    *count = (int)SL_MIN(s->exponents.count - s->short_rows, (size_t)want);
    return SL_OK;
}

const int8_t *sl_search__store_row(const sl_store *s, int i) {
    return s->exponents.row[s->short_rows + (size_t)i];
}

int sl_search__store_count_functions(const sl_store *s, int want) {
    return (int)SL_MIN(s->list[SL_LIST_FUNCTIONS].count, (size_t)want);
}

int sl_search__store_elementaries(const sl_store *s, int want) {
    return (int)SL_MIN(s->list[SL_LIST_ELEMENTARY].count, (size_t)want);
}

sl_store_term sl_search__store_elementary(const sl_store *s, int i) {
    return sl_search__store_term(s, s->list[SL_LIST_ELEMENTARY].id[i]);
}

sl_store_term sl_search__store_get_function(const sl_store *s, int i) {
    return sl_search__store_term(s, s->list[SL_LIST_FUNCTIONS].id[i]);
}

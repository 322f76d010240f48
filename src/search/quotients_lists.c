/* quotients_lists - all terms of one structure, in two lists.
 *
 * A term is top times bottom. Tops are the numerators times the product of the structure, merged
 * before constants go in, as canonical forms are: x1 times x1 is one occurrence, (a x1 + b)^2.
 * Bottoms are the core with its constants. Both lists are by number of constants, and hold each
 * value vector at the probes once up to a factor. */
#include <math.h>
#include <string.h>

#include "search/quotients_impl.h"

enum { PROBES = SL_QUOTIENTS__PROBES };

static bool has_room(sl_search__quotients_list *list) {
    if (list->count == list->room && list->flush) list->flush(list->payload);
    return list->count < list->room;
}

/* Behind has_room. */
static void append(sl_search__quotients_list *list, const double *v) {
    for (int k = 0; k < PROBES; k++) list->v[k][list->count] = v[k];
    list->count++;
}

/* ---------------------------------------------------------------- products ------------------ */

typedef struct multiplier {
    const sl_quotients *q;
    sl_search__quotients_mode mode;
    int factors;
    const sl_search__quotients_factor *factor[SL_QUOTIENTS__FACTORS];
    sl_search__quotients_list *list;
    sl_search__quotients_set *set;   // NULL: all are new
    sl_search__quotients_code *code; // of the list's places; or
    sl_search__quotients_top *top;
    int32_t numerator;
} multiplier;

static bool begin_product(multiplier *m, const sl_search__quotients_product *p) {
    sl_search__quotients_class class[SL_QUOTIENTS__FACTORS];
    m->factors = sl_search__quotients_factors_of(class, p);
    for (int i = 0; i < m->factors; i++)
        m->factor[i] = &m->q->factor[sl_search__quotients_class_of(class[i])][m->mode];
    return m->factors >= 0;
}

static void add_product(multiplier *m, const double *v, sl_search__quotients_code code) {
    if (m->set) {
        uint64_t key = sl_search__quotients_key(v, m->mode);
        if (!key || !sl_search__quotients_set_add(m->set, key)) return;
    }
    if (!has_room(m->list)) return;
    if (m->top)
        m->top[m->list->count] = (sl_search__quotients_top){ code, m->numerator };
    else
        m->code[m->list->count] = code;
    append(m->list, v);
}

/* Variants begin .. end of factor i, times v, as far as there is room; returns how many. */
static int32_t multiply_run(multiplier *m, int i, int32_t begin, int32_t end, const double *v,
                            sl_search__quotients_code code) {
    const sl_search__quotients_factor *f = m->factor[i];
    const int32_t at = m->list->count, n = SL_MIN(end - begin, m->list->room - at);
    for (int k = 0; k < PROBES; k++) {
        double *restrict to = m->list->v[k] + at;
        const double *restrict from = f->v[k] + begin;
        for (int32_t t = 0; t < n; t++) to[t] = v[k] * from[t];
    }
    for (int32_t t = 0; t < n; t++) {
        sl_search__quotients_code all = code | (uint64_t)(begin + t) << (16 * i);
        if (m->top)
            m->top[at + t] = (sl_search__quotients_top){ all, m->numerator };
        else
            m->code[at + t] = all;
    }
    m->list->count += n;
    return n;
}

/* Where all are new: factor i with exactly that many constants, times v, and times those behind it
 * without constants. False: these are not one variant each. */
static bool multiply_last(multiplier *m, int i, int constants, const double *v,
                          sl_search__quotients_code code) {
    const sl_search__quotients_factor *f = m->factor[i];
    const int32_t end = f->begin[constants + 1];
    double w[PROBES];
    memcpy(w, v, sizeof w);
    for (int j = i + 1; j < m->factors; j++) {
        if (m->factor[j]->begin[1] != 1) return false;
        for (int k = 0; k < PROBES; k++) w[k] *= m->factor[j]->v[k][0];
    }
    for (int32_t begin = f->begin[constants]; begin < end && has_room(m->list);)
        begin += multiply_run(m, i, begin, end, w, code);
    return true;
}

/* Factors from i on with exactly that many constants, times v. */
static void multiply(multiplier *m, int i, int constants, const double *v,
                     sl_search__quotients_code code) {
    if (i == m->factors) {
        if (constants == 0) add_product(m, v, code);
        return;
    }
    const sl_search__quotients_factor *f = m->factor[i];
    const int least = i == m->factors - 1 ? constants : 0;
    for (int c = least; c <= constants; c++) {
        if (c == constants && !m->set && multiply_last(m, i, c, v, code)) return;
        for (int32_t t = f->begin[c]; t < f->begin[c + 1]; t++) {
            double w[PROBES];
            for (int k = 0; k < PROBES; k++) w[k] = v[k] * f->v[k][t];
            multiply(m, i + 1, constants - c, w, code | (uint64_t)t << (16 * i));
        }
    }
}

static const double ones[PROBES] = { 1, 1, 1, 1, 1, 1 };

/* Appends tops of exactly that many constants. */
static void add_tops(sl_search__quotients_work *w, const sl_quotients *q,
                     const sl_search__quotients_structure *s, int constants) {
    multiplier m = { .q = q, .mode = SL_QUOTIENTS__SCALE, .list = &w->tops, .top = w->top };
    for (int i = 0; i < q->numerators; i++) {
        sl_search__quotients_product p =
            sl_search__quotients_times(q->bases.numerator[i], s->product);
        m.numerator = i;
        if (begin_product(&m, &p)) multiply(&m, 0, constants, ones, 0);
    }
}

static void make_tops(sl_search__quotients_work *w, const sl_quotients *q,
                      const sl_search__quotients_structure *s, int constants) {
    w->tops.count = 0;
    for (int c = 0; c <= SL_QUOTIENTS__CONSTANTS; c++) {
        w->tops.begin[c] = w->tops.count;
        if (c <= constants) add_tops(w, q, s, c);
    }
    w->tops.begin[SL_QUOTIENTS__CONSTANTS + 1] = w->tops.count;
}

/* What is not kept gets no more room than stays in the cache; returns how much there was. */
static int32_t begin_stream(sl_search__quotients_list *list) {
    enum { STREAMED = 4 * SL_QUOTIENTS__BLOCK };
    const int32_t room = list->room;
    list->room = SL_MIN(room, list->count + STREAMED);
    return room;
}

void sl_search__quotients_stream_tops(sl_search__quotients_work *w, const sl_quotients *q,
                                      const sl_search__quotients_structure *s, int constants) {
    const int32_t room = begin_stream(&w->tops);
    add_tops(w, q, s, constants);
    w->tops.flush(w->tops.payload);
    w->tops.room = room;
}

static bool make_part(sl_search__quotients_work *w, const sl_quotients *q,
                      const sl_search__quotients_product *p, int i, int constants) {
    sl_search__quotients_list *list = &w->part[i];
    multiplier m = {
        .q = q, .mode = SL_QUOTIENTS__FULL, .list = list, .code = w->part_code[i], .set = &w->set
    };
    if (!begin_product(&m, p)) return false;
    sl_search__quotients_set_clear(&w->set);
    if (m.factors < 2) m.set = NULL;
    list->count = 0;
    for (int c = 0; c <= SL_QUOTIENTS__CONSTANTS; c++) {
        list->begin[c] = list->count;
        if (c <= constants) multiply(&m, 0, c, ones, 0);
    }
    list->begin[SL_QUOTIENTS__CONSTANTS + 1] = list->count;
    return true;
}

/* ---------------------------------------------------------------- cores --------------------- */

typedef struct adder {
    sl_search__quotients_work *w;
    const sl_quotients *q;
    const sl_search__quotients_core *core;
    bool distinct; // equal sums are dropped
    int summand; // the one part that may have a summand, where equal sums are not dropped; -1: all
    bool alone[SL_QUOTIENTS__PARTS]; // is the part one factor, with a summand outside?
    const sl_search__quotients_factor *factor[SL_QUOTIENTS__PARTS];
    sl_search__quotients_bottom b;
} adder;

/* Sums of the largest number of constants (`last`) are looked up without a test for duplicates,
 * which would cost more than the look-up. Most duplicates differ in the part that has the summand,
 * so only one part may have it. */
static void begin_sums(adder *a, bool last) {
    a->summand = -1;
    for (int i = 0; i < a->core->parts; i++) {
        sl_search__quotients_class class[SL_QUOTIENTS__FACTORS];
        const int n = sl_search__quotients_factors_of(class, &a->core->part[i]);
        a->alone[i] = n == 1 && (class[0].exponent == 1 || class[0].kind == SL_QUOTIENTS__ROOT ||
                                 class[0].kind == SL_QUOTIENTS__RATE);
        if (n > 0)
            a->factor[i] =
                &a->q->factor[sl_search__quotients_class_of(class[0])][SL_QUOTIENTS__FULL];
        if (last && a->alone[i] && a->summand < 0) a->summand = i;
    }
    a->distinct = !last;
}

static bool is_left_out(const adder *a, int i, int32_t t) {
    if (a->summand < 0 || a->summand == i || !a->alone[i]) return false;
    return a->factor[i]->variant[sl_search__quotients_place(a->w->part_code[i][t], 0)].b != 0;
}

static void add_bottom(adder *a, const double *u) {
    sl_search__quotients_work *w = a->w;
    const int kind = a->core->kind, e = a->core->exponent;
    const bool outer = kind == SL_QUOTIENTS__LINEAR || kind == SL_QUOTIENTS__SINE;
    const double r = (double)a->b.summand / a->b.factor;
    double v[PROBES];
    for (int k = 0; k < PROBES; k++) v[k] = sl_search__quotients_power(u[k] + r, outer ? e : 1);
    uint64_t key = sl_search__quotients_key(v, SL_QUOTIENTS__SCALE);
    if (!key || (a->distinct && !sl_search__quotients_set_add(&w->set, key))) return;
    if (!has_room(&w->bottoms)) return;
    w->bottom[w->bottoms.count] = a->b;
    append(&w->bottoms, v);
}

/* The function of a sum plus b/a, with that many constants in b and a. */
static void finish_sum(adder *a, const double *sum, int constants) {
    const sl_search__quotients_core *c = a->core;
    const int most = SL_MAX(a->q->grammar.high, -a->q->grammar.low);
    double u[PROBES];
    for (int k = 0; k < PROBES; k++)
        u[k] = sl_search__quotients_function(c->kind, c->exponent, sum[k]);
    a->b.summand = 0, a->b.factor = 1;
    if (constants == 0) {
        add_bottom(a, u);
        return;
    }
    if (c->kind == SL_QUOTIENTS__LINEAR || constants > 2) return;
    for (int f = constants == 1 ? 1 : 2; f <= (constants == 1 ? 1 : most); f++)
        for (int s = a->q->grammar.low; s <= a->q->grammar.high; s++) {
            if (s == 0) continue;
            a->b.summand = (int8_t)s, a->b.factor = (int8_t)f;
            add_bottom(a, u);
        }
}

/* Parts from i on with that many constants, all signs but that of the first. A function of the sum
 * has constants of its own, and the sum in it may have either sign. */
static void add_parts(adder *a, int i, int constants, const double *sum) {
    const sl_search__quotients_core *c = a->core;
    if (i == c->parts || i == SL_QUOTIENTS__PARTS) {
        finish_sum(a, sum, constants);
        return;
    }
    const sl_search__quotients_list *list = &a->w->part[i];
    const bool linear = c->kind == SL_QUOTIENTS__LINEAR;
    const bool one_sign = i == 0 && (linear || c->kind == SL_QUOTIENTS__SINE);
    const int least = linear && i == c->parts - 1 ? constants : 0;
    for (int n = least; n <= constants; n++)
        for (int32_t t = list->begin[n]; t < list->begin[n + 1]; t++) {
            if (is_left_out(a, i, t)) continue;
            for (int sign = 1; sign >= (one_sign ? 1 : -1); sign -= 2) {
                double v[PROBES];
                for (int k = 0; k < PROBES; k++)
                    v[k] = sum[k] + sign * c->factor[i] * list->v[k][t];
                a->b.part[i] = a->w->part_code[i][t];
                a->b.sign[i] = (int8_t)sign;
                add_parts(a, i + 1, constants - n, v);
            }
        }
}

/* Appends bottoms of exactly that many constants. */
static void add_bottoms(sl_search__quotients_work *w, const sl_quotients *q,
                        const sl_search__quotients_core *c, int constants, bool distinct) {
    static const double zeros[PROBES] = { 0 };
    adder a = { .w = w, .q = q, .core = c };
    begin_sums(&a, !distinct);
    if (c->parts > 0) {
        add_parts(&a, 0, constants, zeros);
    } else if (constants == 0) {
        w->bottom[0] = (sl_search__quotients_bottom){ .factor = 1 };
        append(&w->bottoms, ones);
    }
}

/* Parts are listed up to the largest number of constants in use. */
static bool make_bottoms(sl_search__quotients_work *w, const sl_quotients *q,
                         const sl_search__quotients_core *c, int constants) {
    w->bottoms.count = 0;
    for (int i = 0; i < c->parts; i++)
        if (!make_part(w, q, &c->part[i], i, SL_MAX(q->stored, q->streamed))) return false;
    sl_search__quotients_set_clear(&w->set);
    for (int n = 0; n <= SL_QUOTIENTS__CONSTANTS; n++) {
        w->bottoms.begin[n] = w->bottoms.count;
        if (n <= constants) add_bottoms(w, q, c, n, true);
    }
    w->bottoms.begin[SL_QUOTIENTS__CONSTANTS + 1] = w->bottoms.count;
    return true;
}

void sl_search__quotients_stream_bottoms(sl_search__quotients_work *w, const sl_quotients *q,
                                         const sl_search__quotients_structure *s, int constants) {
    const int32_t room = begin_stream(&w->bottoms);
    add_bottoms(w, q, &s->core, constants, false);
    w->bottoms.flush(w->bottoms.payload);
    w->bottoms.room = room;
}

bool sl_search__quotients_make_lists(sl_search__quotients_work *w, const sl_quotients *q,
                                     const sl_search__quotients_structure *s, int constants) {
    w->tops.flush = w->bottoms.flush = NULL;
    if (!make_bottoms(w, q, &s->core, constants)) return false;
    make_tops(w, q, s, constants);
    return w->tops.count > 0 && w->bottoms.count > 0;
}

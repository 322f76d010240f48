/* closure_shapes - which products a formula of two halves has when it is written y D = N.
 *
 * P, Q, R, S are the atoms of the four slots, A the span {1, A}: a factor and a summand at every
 * atom are free. A half P Q below is any of a P Q + b P + c Q + d, so P + Q as well as P times Q.
 */
#include <string.h>

#include "search/closure_impl.h"

enum {
    P = 1,
    Q = 2,
    R = 4,
    S = 8,
    R2 = 16, // as R and S once more
    S2 = 32,
    PQ = P | Q,
    RS = R | S,
    RS2 = R2 | S2,
    QRS = Q | RS,
    PQRS = PQ | RS,
};

/* Two halves of two atoms each. By row: slots, those needed, D, its leading slots, those apart, N,
 * orders. */
const sl_search__closure_shape sl_search__closure_halves[] = {
    // y = P Q + R S
    { 4, 0, 0, 0, { 0 }, { PQ, RS }, { { 0, 1 }, { 2, 3 }, { 0, 2 } }, 3, 0 },
    // y = P Q / (R S)
    { 4, RS, RS, RS, { 0 }, { PQ }, { { 0, 1 }, { 2, 3 } }, 2, 0 },
    // y = P Q / (R + S)
    { 4, RS, RS, R, { RS }, { PQ }, { { 0, 1 }, { 2, 3 } }, 2, 0 },
    // y = P / Q + R S
    { 4, Q, Q, Q, { 0 }, { P, QRS }, { { 2, 3 } }, 1, 0 },
    // y = P / Q + R + S
    { 4, QRS, Q, Q, { 0 }, { P, Q | R, Q | S }, { { 2, 3 } }, 1, 0 },
    // y = P + Q + R S
    { 4, PQ, 0, 0, { 0 }, { P, Q, RS }, { { 0, 1 }, { 2, 3 } }, 2, 0 },
    // y = P / Q + R / S
    { 4, Q | S, Q | S, Q | S, { 0 }, { P | S, R | Q }, { { 1, 3 } }, 1, 0 },
    // y = P R S / Q
    { 4, Q, Q, Q, { 0 }, { P | RS }, { { 0, 2 }, { 2, 3 } }, 2, 0 },
    // y = P / (Q R S)
    { 4, QRS, QRS, QRS, { 0 }, { P }, { { 1, 2 }, { 2, 3 } }, 2, 0 },
    // y = P / (Q (R + S))
    { 4, QRS, QRS, Q | R, { RS }, { P }, { { 2, 3 } }, 1, 0 },
    // y = P Q R S
    { 4, 0, 0, 0, { 0 }, { PQRS }, { { 0, 1 }, { 1, 2 }, { 2, 3 } }, 3, 0 },
    // y = 1 / ((P + Q) (R + S))
    { 4, PQRS, PQRS, P | R, { PQ, RS }, { 0 }, { { 0, 1 }, { 2, 3 }, { 0, 2 } }, 3, 0 },
    // y = 1 / (P Q (R + S))
    { 4, PQRS, PQRS, PQ | R, { RS }, { 0 }, { { 0, 1 }, { 2, 3 } }, 2, 0 },
    // y = P / (R + S) + Q / (R + S), the sums with coefficients of their own
    { 4, R, RS | RS2, R | R2, { RS, RS2 }, { P | RS, Q | RS }, { { 0, 1 }, { 2, 3 } }, 2, 1 },
};
const int sl_search__closure_halves_count = SL_LEN(sl_search__closure_halves);

/* One half is one atom, in the third slot. */
const sl_search__closure_shape sl_search__closure_nested[] = {
    // y = P Q + R
    { 3, 0, 0, 0, { 0 }, { PQ, R }, { { 0, 1 } }, 1, 0 },
    // y = P Q / R
    { 3, 0, R, R, { 0 }, { PQ }, { { 0, 1 } }, 1, 0 },
    // y = R / (P Q)
    { 3, PQ, PQ, PQ, { 0 }, { R }, { { 0, 1 } }, 1, 0 },
    // y = R / (P + Q)
    { 3, PQ, PQ, P, { PQ }, { R }, { { 0, 1 } }, 1, 0 },
    // y = P Q R
    { 3, PQ, 0, 0, { 0 }, { PQ | R }, { { 0, 1 } }, 1, 0 },
    // y = P / Q + R
    { 3, Q, Q, Q, { 0 }, { P, Q | R }, { { 0 } }, 0, 0 },
    // y = P R / Q
    { 3, Q, Q, Q, { 0 }, { P | R }, { { 0 } }, 0, 0 },
    // y = P / (Q R)
    { 3, Q, Q | R, Q | R, { 0 }, { P }, { { 0 } }, 0, 0 },
};
const int sl_search__closure_nested_count = SL_LEN(sl_search__closure_nested);

/* ---------------------------------------------------------------- columns ------------------- */

static void sort_parts(sl_search__closure_column *k) {
    for (int i = 1; i < SL_CLOSURE__SLOTS; i++)
        for (int j = i; j > 0 && k->part[j] > k->part[j - 1]; j--) {
            int16_t swap = k->part[j];
            k->part[j] = k->part[j - 1], k->part[j - 1] = swap;
        }
}

static sl_search__closure_column none(bool below) {
    return (sl_search__closure_column){ { -1, -1, -1, -1, -1, -1 }, below };
}

sl_search__closure_column sl_search__closure_lead(const sl_closure *c,
                                                  const sl_search__closure_choice *k) {
    sl_search__closure_column lead = none(true);
    for (int s = 0; s < SL_CLOSURE__SLOTS; s++) {
        const sl_search__closure_atom *a = &c->atom[k->atom[s]];
        if (k->shape->lead >> s & 1 && a->parts > 0) lead.part[s] = (int16_t)a->part[0];
    }
    sort_parts(&lead);
    return lead;
}

static bool same(const sl_search__closure_column *a, const sl_search__closure_column *b) {
    return a->below == b->below && memcmp(a->part, b->part, sizeof a->part) == 0;
}

typedef struct list {
    sl_search__closure_column *out;
    int n, room;
    const sl_closure *c;
    const sl_search__closure_choice *k;
    sl_search__closure_column lead;
} list;

/* A product of D that its shape does not have? */
static bool is_apart(const list *l, const sl_search__closure_column *k) {
    const sl_search__closure_shape *s = l->k->shape;
    int slots = 0;
    for (int i = 0; i < SL_CLOSURE__SLOTS; i++) slots |= (k->part[i] >= 0) << i;
    for (int i = 0; i < 2; i++)
        if ((k->below || s->twice) && s->apart[i] && (slots & s->apart[i]) == s->apart[i])
            return true;
    return false;
}

static void add(list *l, sl_search__closure_column k) {
    if (is_apart(l, &k)) return;
    sort_parts(&k);
    if (same(&k, &l->lead)) return;
    for (int i = 0; i < l->n; i++)
        if (same(&k, &l->out[i])) return;
    if (l->n < l->room) l->out[l->n] = k;
    l->n = SL_MIN(l->n + 1, l->room + 1);
}

/* The products of one space from slot s on; with: slots of which one must have a part, 0: it has.
 */
static void add_space(list *l, int space, int with, int s, sl_search__closure_column k) {
    if (l->n > l->room || (with && !(with >> s))) return;
    if (s == SL_CLOSURE__SLOTS) {
        add(l, k);
        return;
    }
    const sl_search__closure_atom *a = &l->c->atom[l->k->atom[s]];
    add_space(l, space, with, s + 1, k);
    if (!(space >> s & 1)) return;
    if (with >> s & 1) with = 0;
    for (int i = 0; i < a->parts; i++) {
        k.part[s] = (int16_t)a->part[i];
        add_space(l, space, with, s + 1, k);
    }
}

int sl_search__closure_columns(sl_search__closure_column *out, int room, const sl_closure *c,
                               const sl_search__closure_choice *k, int filled, int with) {
    const sl_search__closure_shape *s = k->shape;
    list l = { out, 0, room, c, k, .lead = sl_search__closure_lead(c, k) };
    for (int i = 0; i < SL_LEN(s->above); i++)
        if (!with || s->above[i] & with) add_space(&l, s->above[i] & filled, with, 0, none(false));
    if (!with || s->below & with) add_space(&l, s->below & filled, with, 0, none(true));
    return l.n;
}

int sl_search__closure_all_columns(sl_search__closure_column *out, const sl_closure *c,
                                   const sl_search__closure_choice *k) {
    const int n =
        sl_search__closure_columns(out, SL_CLOSURE__COLUMNS, c, k, (1 << SL_CLOSURE__SLOTS) - 1, 0);
    return SL_MIN(n, SL_CLOSURE__COLUMNS);
}

const sl_search__closure_atom *sl_search__closure_curve_of(const sl_closure *c,
                                                           const sl_search__closure_choice *k) {
    for (int s = 0; s < k->shape->slots; s++)
        if (c->atom[k->atom[s]].curve >= 0) return &c->atom[k->atom[s]];
    return NULL;
}

void sl_search__closure_evaluate(double *v, const sl_closure *c, sl_search__closure_column k,
                                 const sl_search__closure_override *override, int rows) {
    memcpy(v, c->side[k.below], (size_t)rows * sizeof *v);
    for (int i = 0; i < SL_CLOSURE__SLOTS; i++) {
        if (k.part[i] < 0) break;
        const double *part = c->value[k.part[i]];
        if (override && k.part[i] >= override->part && k.part[i] < override->part + override->parts)
            part = override->value[k.part[i] - override->part];
        for (int r = 0; r < rows; r++) v[r] *= part[r];
    }
}

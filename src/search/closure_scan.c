/* closure_scan - all choices of atoms for a shape: is the lead in the span of the other columns?
 *
 * Slots are filled one after the other. A column is added to an orthonormal basis as soon as the
 * slots of its product are filled, so the innermost loop adds only those of the last slot. Slots of
 * D come first, because they determine the leading column; a slot with a list of its own comes
 * last. A part of the work is one choice of the atoms of the first two slots. */
#include <math.h>
#include <string.h>

#include "search/closure_impl.h"

/* ---------------------------------------------------------------- bases --------------------- */

static const double DEPENDENT = 1e-7, LOSSY = 1e-2,
                    TRIVIAL = 1e-5; // of a column outside of the span

static void put(double *v, const sl_search__closure_basis *t, sl_search__closure_column k) {
    sl_search__closure_evaluate(v, t->c, k, t->override, t->rows);
    for (int r = t->rows; r < t->padded; r++) v[r] = 0;
}

/* Projects v, again if little was left of it; returns the part of its length that is left. *after:
 * that length. */
static double project(double *v, double *after, const sl_search__closure_basis *t) {
    const int rows = t->padded, stride = SL_CLOSURE__ROWS;
    const double before = t->kernels->project(v, t->q[0], 0, rows, stride);
    double left = t->kernels->project(v, t->q[0], t->n, rows, stride);
    if (left < LOSSY * LOSSY * before) left = t->kernels->project(v, t->q[0], t->n, rows, stride);
    *after = sqrt(left);
    return before > 0 ? sqrt(left / before) : 0;
}

void sl_search__closure_basis_clear(sl_search__closure_basis *t, const sl_closure *c, int rows,
                                    const sl_search__closure_override *override) {
    t->c = c;
    t->kernels = sl_search__closure_kernels_at(sl_cpu());
    t->override = override;
    t->rows = rows;
    t->padded = (rows + SL_CLOSURE__LANES - 1) / SL_CLOSURE__LANES * SL_CLOSURE__LANES;
    t->n = 0;
}

void sl_search__closure_basis_push(sl_search__closure_basis *t, sl_search__closure_column k) {
    if (t->n == SL_CLOSURE__COLUMNS) return;
    double *v = t->q[t->n], length;
    put(v, t, k);
    if (!(project(v, &length, t) > DEPENDENT)) return;
    for (int r = 0; r < t->padded; r++) v[r] *= 1 / length;
    t->n++;
}

double sl_search__closure_basis_residual(double *v, const sl_search__closure_basis *t,
                                         const sl_search__closure_basis *below,
                                         sl_search__closure_column lead) {
    double own, length;
    put(v, below, lead);
    if (!(project(v, &own, below) > TRIVIAL)) return INFINITY;
    project(v, &length, t);
    for (int r = 0; r < t->padded; r++) v[r] /= own;
    return length / own;
}

/* ---------------------------------------------------------------- a scan -------------------- */

typedef struct scanner {
    const sl_closure *c;
    const sl_search__closure_scan *scan;
    sl_search__closure_basis *basis, *below; // of all columns, and of those of D
    int order[SL_CLOSURE__SLOTS];            // slots as they are filled
    int below_slots;                         // of them so many are of D, but for the special one
    int filled, atoms;
    sl_search__closure_choice choice;
    sl_search__closure_hit *best;
    int n_best;
    int64_t tests;
} scanner;

static void order_slots(scanner *s) {
    const sl_search__closure_shape *shape = s->scan->shape;
    int n = 0;
    for (int i = 0; i < shape->slots; i++)
        if (i != s->scan->special && shape->below >> i & 1) s->order[n++] = i;
    s->below_slots = n;
    for (int i = 0; i < shape->slots; i++)
        if (i != s->scan->special && !(shape->below >> i & 1)) s->order[n++] = i;
    if (s->scan->special >= 0) s->order[n] = s->scan->special;
}

/* May the slot have this atom beside those that are filled? */
static bool in_order(const scanner *s, int slot, int atom) {
    const sl_search__closure_shape *shape = s->scan->shape;
    if (shape->need >> slot & 1 && s->c->atom[atom].parts == 0) return false;
    for (int i = 0; i < shape->orders; i++) {
        int first = shape->order[i].first, second = shape->order[i].second;
        if (second == slot && s->filled >> first & 1 && s->choice.atom[first] > atom) return false;
        if (first == slot && s->filled >> second & 1 && atom > s->choice.atom[second]) return false;
    }
    return true;
}

static void keep(scanner *s, const sl_search__closure_hit *h) {
    int i = s->n_best < SL_CLOSURE__BEST ? s->n_best++ : SL_CLOSURE__BEST;
    for (; i > 0 && h->score < s->best[i - 1].score; i--)
        if (i < SL_CLOSURE__BEST) s->best[i] = s->best[i - 1];
    if (i < SL_CLOSURE__BEST) s->best[i] = *h;
}

/* All slots are filled. */
static void test_choice(scanner *s, sl_search__closure_hit *curve_best) {
    double v[SL_CLOSURE__ROWS];
    s->tests++;
    const sl_search__closure_atom *special =
        s->scan->special < 0 ? NULL : &s->c->atom[s->choice.atom[s->scan->special]];
    sl_search__closure_hit h = { s->choice, s->basis->n, .score = s->basis->n };
    h.rest = sl_search__closure_basis_residual(v, s->basis, s->below,
                                               sl_search__closure_lead(s->c, &s->choice));
    if (!(h.rest < INFINITY)) return;
    if (!special || special->curve < 0) {
        if (h.rest < SL_CLOSURE__NOTHING) keep(s, &h);
        return;
    }
    h.constant = special->constant;
    h.score = (s->scan->rows - h.columns) * sl_log(h.rest + 1e-14);
    if (curve_best->columns > 0) {
        int before = curve_best->choice.atom[s->scan->special];
        if (s->c->atom[before].curve != special->curve)
            keep(s, curve_best), curve_best->columns = 0;
    }
    if (curve_best->columns == 0 || h.score < curve_best->score) *curve_best = h;
}

/* Adds the columns that hold a part of these slots (0: all); false if they are too many. */
static bool push_columns(scanner *s, int with) {
    sl_search__closure_column list[SL_CLOSURE__COLUMNS];
    const int most = SL_MIN(s->scan->columns, 2 * s->scan->rows / 3);
    int n =
        sl_search__closure_columns(list, SL_CLOSURE__COLUMNS, s->c, &s->choice, s->filled, with);
    if (s->basis->n + n > most) return false;
    for (int i = 0; i < n; i++) {
        sl_search__closure_basis_push(s->basis, list[i]);
        if (list[i].below) sl_search__closure_basis_push(s->below, list[i]);
    }
    return true;
}

static void fill(scanner *s, int depth, int number);

/* The slot, and the one that follows it. */
static int bits_of(const scanner *s, int slot) {
    return 1 << slot | (s->scan->shape->twice && slot >= 2 ? 4 << slot : 0);
}

static void put_atom(scanner *s, int slot, int atom) {
    s->choice.atom[slot] = atom;
    if (s->scan->shape->twice && slot >= 2) s->choice.atom[slot + 2] = atom;
}

static void fill_with(scanner *s, int depth, int atom, int number,
                      sl_search__closure_hit *curve_best) {
    const int slot = s->order[depth], bits = bits_of(s, slot), atoms = s->atoms;
    const int mark = s->basis->n, below = s->below->n;
    const bool last = depth + 1 == s->scan->shape->slots;
    put_atom(s, slot, atom);
    s->filled |= bits;
    if (slot != s->scan->special) s->atoms += s->c->atom[atom].parts > 0;
    bool good = s->atoms <= s->scan->atoms;
    if (good && depth + 1 >= s->below_slots)
        good = push_columns(s, depth + 1 == s->below_slots ? 0 : bits);
    if (good && last) test_choice(s, curve_best);
    if (good && !last) fill(s, depth + 1, number);
    s->filled &= ~bits;
    s->basis->n = mark;
    s->below->n = below;
    s->atoms = atoms;
}

static void fill(scanner *s, int depth, int number) {
    const sl_search__closure_list simple = { s->c->simple.begin,
                                             s->c->simple.begin + s->scan->simple };
    const int n = s->scan->simple, slot = s->order[depth];
    const bool special = slot == s->scan->special;
    sl_search__closure_list list = special ? s->scan->list : simple;
    sl_search__closure_hit curve_best = { .columns = 0 };
    if (depth < 2) {
        list.begin = simple.begin + (depth == 0 ? number / n : number % n);
        list.end = list.begin + 1;
    }
    for (int a = list.begin; a < list.end; a++)
        if (in_order(s, slot, a)) fill_with(s, depth, a, number, &curve_best);
    if (curve_best.columns > 0) keep(s, &curve_best);
    if (!special) put_atom(s, slot, simple.begin);
}

int sl_search__closure_scan_parts(const sl_search__closure_scan *s) {
    return s->simple * s->simple;
}

int sl_search__closure_scan_run(sl_search__closure_hit *best, const sl_closure *c,
                                const sl_search__closure_scan *scan,
                                sl_search__closure_basis basis[2], int number) {
    scanner s = { c, scan, &basis[0], &basis[1], .choice = { .shape = scan->shape }, .best = best };
    for (int i = 0; i < 2; i++) sl_search__closure_basis_clear(&basis[i], c, scan->rows, NULL);
    order_slots(&s);
    for (int i = 0; i < SL_CLOSURE__SLOTS; i++) s.choice.atom[i] = c->simple.begin;
    if (scan->special >= 0) put_atom(&s, scan->special, scan->list.begin);
    if (s.below_slots == 0 && !push_columns(&s, 0)) return 0;
    fill(&s, 0, number);
    atomic_fetch_add(&c->job->tried, s.tests);
    return s.n_best;
}

/* closure - quotients of linear combinations, with real constants anywhere in them.
 *
 * y D = N, where N and D are linear combinations of monomials times {1, atoms}: every coefficient
 * is free, so constants that are no whole numbers cost nothing. An atom is a function of a simple
 * argument, such as exp(x1/x2); sin and cos of one argument come together, because sin(u + b) is a
 * combination of both, and exp(u + b) is a multiple of exp(u). One atom may have a real constant
 * inside, exp(k x), sin(k x), sqrt(x + k): that one is found by a line search for the least
 * residual.
 *
 * One monomial of D has the coefficient 1, each in turn, so that it times y is a combination of
 * columns, some of which hold y. It is solved by least squares on most rows and accepted on those
 * held out; columns are then dropped one by one as long as the formula holds. Sets of columns come
 * from small to large: the first that holds is not blown up by factors that N and D have in common.
 *
 *   level 0   one atom of the list            level 2   one atom with a constant inside
 *   level 1   two atoms of the list           level 3   one of the list and one with a constant */
#include <math.h>
#include <string.h>

#include "search/search_impl.h"

enum { ROWS = 96, ROWS_LEAST = 24, COLUMNS = 40, ATOMS_MAX = 160, OFFERS = 8, LINE = 48 };
static const double TOLERANCE = 1e-8;

/* ---------------------------------------------------------------- atoms --------------------- */

/* Functions of an argument.          id       text, of the argument %s */
typedef struct atom {
    const sl_node *expr[2]; // one expression, or two that come together
    int count;
    double value[2][ROWS];
} atom;

/* exp(k x), sin(k x) with cos(k x), sqrt(x + k). */
typedef enum curve { CURVE_EXP, CURVE_SIN, CURVE_SQRT, CURVES } curve;

typedef struct closure {
    sl_search__job *job;
    int rows, fitted; // in all, and those that are not held out
    int variables;
    const double *x[SL_UNIVERSE_MAX_VARS], *y;
    int atoms;
    atom atom[ATOMS_MAX];
    sl_arena arena;
} closure;

static sl_status add_atom(closure *c, const char *text, const char *twin) {
    const char *texts[] = { text, twin };
    atom *t = &c->atom[c->atoms];
    SL_ASSERT(c->atoms < ATOMS_MAX);
    *t = (atom){ .count = twin ? 2 : 1 };
    for (int i = 0; i < t->count; i++) {
        SL_TRY(sl_expr_parse(&t->expr[i], &c->arena, SL_FORMAT_INFIX, texts[i], strlen(texts[i]),
                             NULL, NULL));
        SL_TRY(sl_expr_eval(t->value[i], &c->arena, t->expr[i], c->x, c->rows, NULL));
        for (int r = 0; r < c->rows; r++)
            if (!(fabs(t->value[i][r]) < 1e12)) return SL_OK; // not real everywhere: left out
    }
    c->atoms++;
    return SL_OK;
}

static sl_status add_functions(closure *c, const char *argument) {
    char text[96], twin[96];
    sl_snprintf(text, sizeof text, "exp(%s)", argument);
    SL_TRY(add_atom(c, text, NULL));
    sl_snprintf(text, sizeof text, "exp(-(%s))", argument);
    SL_TRY(add_atom(c, text, NULL));
    sl_snprintf(text, sizeof text, "sin(%s)", argument);
    sl_snprintf(twin, sizeof twin, "cos(%s)", argument);
    SL_TRY(add_atom(c, text, twin));
    sl_snprintf(text, sizeof text, "sqrt(%s)", argument);
    SL_TRY(add_atom(c, text, NULL));
    sl_snprintf(text, sizeof text, "sqrt(-(%s))", argument);
    return add_atom(c, text, NULL);
}

static sl_status make_atoms(closure *c) {
    static const char *const one[] = {
        "x%d", "x%d^2", "exp(x%d)", "sin(x%d)", "sqrt(x%d)", "1/x%d"
    };
    static const char *const two[] = { "x%d*x%d", "x%d/x%d", "x%d+x%d", "x%d-x%d" };
    char argument[48];
    for (int v = 1; v <= c->variables; v++)
        for (int i = 0; i < SL_LEN(one) && c->variables < 3; i++) {
            sl_snprintf(argument, sizeof argument, one[i], v);
            SL_TRY(add_functions(c, argument));
        }
    for (int v = 1; v <= c->variables; v++)
        for (int w = 1; w <= c->variables; w++)
            for (int i = 0; i < SL_LEN(two); i++) {
                if (v == w || (w < v && i != 1)) continue;
                sl_snprintf(argument, sizeof argument, two[i], v, w);
                SL_TRY(add_functions(c, argument));
            }
    return SL_OK;
}

/* ---------------------------------------------------------------- columns ------------------- */

/* A column: a monomial times a part of an atom, or nothing; in the denominator times y. */
typedef struct column {
    int8_t power[SL_UNIVERSE_MAX_VARS];
    int8_t atom; // -1: none; else place among parts
    bool below;
} column;

/* Parts of the atoms at work: expressions and values. */
typedef struct parts {
    int count;
    const sl_node *expr[4];
    const double *value[4];
} parts;

typedef struct system {
    const closure *c;
    parts parts;
    int columns;
    column lead;                       // of D, with coefficient 1
    double target[ROWS], weight[ROWS]; // the lead times y
    column column[COLUMNS];
    double value[COLUMNS][ROWS];
    double coefficient[COLUMNS];
} system;

static double monomial_at(const system *s, column k, int r) {
    double z = k.atom >= 0 ? s->parts.value[k.atom][r] : 1;
    for (int i = 0; i < s->c->variables; i++)
        for (int p = 0; p < k.power[i]; p++) z *= s->c->x[i][r];
    return z;
}

static void add_column(system *s, column k) {
    bool lead =
        k.below && k.atom == s->lead.atom && !memcmp(k.power, s->lead.power, sizeof k.power);
    if (s->columns == COLUMNS || lead) return;
    double *v = s->value[s->columns];
    for (int r = 0; r < s->c->rows; r++) {
        double z = monomial_at(s, k, r);
        v[r] = k.below ? -z * s->c->y[r] : z;
    }
    s->column[s->columns++] = k;
}

/* All monomials of a degree times one part. */
static void add_monomials(system *s, int degree, int part, bool below) {
    for (int a = degree; a >= 0; a--)
        for (int b = degree - a; b >= 0; b--) {
            int c = degree - a - b;
            if ((b && s->c->variables < 2) || (c && s->c->variables < 3)) continue;
            add_column(s, (column){ { (int8_t)a, (int8_t)b, (int8_t)c }, (int8_t)part, below });
        }
}

/* Monomials that lead D: 1, variables, products of two. */
static int leads(int variables) { return 1 + variables + variables * (variables + 1) / 2; }

static column lead_of(int i, int variables) {
    column k = { .atom = -1, .below = true };
    if (i == 0) return k;
    if (i <= variables) return k.power[i - 1] = 1, k;
    i -= variables + 1;
    for (int a = 0; a < variables; a++)
        for (int b = a; b < variables; b++)
            if (i-- == 0) return k.power[a]++, k.power[b]++, k;
    return k;
}

/* size 0 .. 2: degrees of N beside 1 and beside atoms, and of D. */
enum { SIZES = 3 };
static void make_columns(system *s, int size, int lead) {
    static const int plain[SIZES] = { 1, 2, 3 }, times[SIZES] = { 1, 1, 2 };
    static const int under[SIZES] = { 0, 1, 2 }, under_times[SIZES] = { -1, 0, 0 };
    s->columns = 0;
    s->lead = lead_of(lead, s->c->variables);
    for (int r = 0; r < s->c->rows; r++) {
        s->target[r] = monomial_at(s, s->lead, r) * s->c->y[r];
        s->weight[r] = 1 / (s->target[r] * s->target[r] + 1e-200);
    }
    for (int d = 0; d <= plain[size]; d++) add_monomials(s, d, -1, false);
    for (int p = 0; p < s->parts.count; p++)
        for (int d = 0; d <= times[size]; d++) add_monomials(s, d, p, false);
    for (int d = 0; d <= under[size]; d++) add_monomials(s, d, -1, true);
    for (int p = 0; p < s->parts.count; p++)
        for (int d = 0; d <= under_times[size]; d++) add_monomials(s, d, p, true);
}

/* ---------------------------------------------------------------- solving ------------------- */

/* *rest := root mean square of what is left of y, in parts of y, on the rows that are fitted. */
static sl_status solve(double *rest, system *s, const bool *use, sl_arena *scratch) {
    const closure *c = s->c;
    const double *list[COLUMNS] = { NULL };
    double found[COLUMNS];
    int place[COLUMNS], n = 0;
    sl_lsq lsq;
    for (int k = 0; k < s->columns; k++) {
        s->coefficient[k] = 0;
        if (!use || use[k]) place[n] = k, list[n++] = s->value[k];
    }
    SL_TRY(sl_lsq_fit(&lsq, found, NULL, scratch, list, s->target, s->weight, c->fitted, n));
    for (int i = 0; i < n; i++) s->coefficient[place[i]] = found[i];
    *rest = lsq.rank > 0 ? sqrt(lsq.sse / c->fitted) : INFINITY;
    if (isnan(*rest)) *rest = INFINITY;
    return SL_OK;
}

/* Does y D = N hold in all rows, also those held out, with a D that is not 0 up to rounding? */
static bool holds(const system *s) {
    const closure *c = s->c;
    for (int r = 0; r < c->rows; r++) {
        double sum = 0, below = s->target[r], size = fabs(s->target[r]);
        for (int k = 0; k < s->columns; k++) {
            double v = s->coefficient[k] * s->value[k][r];
            sum += v;
            if (s->column[k].below) below -= v, size += fabs(v);
        }
        if (!(fabs(s->target[r] - sum) <= TOLERANCE * fabs(below))) return false;
        if (!(fabs(below) > 1e-7 * size)) return false;
    }
    return true;
}

/* Leaves out columns, those of least effect first, as long as the rest holds. */
static sl_status thin_out(system *s, bool *use, sl_arena *scratch) {
    bool tried[COLUMNS] = { false };
    double rest;
    for (;;) {
        int least = -1;
        double effect = INFINITY;
        for (int k = 0; k < s->columns; k++) {
            double most = 0;
            for (int r = 0; r < s->c->rows; r++)
                most = SL_MAX(most, fabs(s->coefficient[k] * s->value[k][r] / s->target[r]));
            if (use[k] && !tried[k] && most < effect) effect = most, least = k;
        }
        if (least < 0) return solve(&rest, s, use, scratch);
        tried[least] = true;
        use[least] = false;
        SL_TRY(solve(&rest, s, use, scratch));
        if (holds(s)) continue;
        use[least] = true;
        SL_TRY(solve(&rest, s, use, scratch));
    }
}

/* ---------------------------------------------------------------- formulas ------------------ */

static const sl_node *both(sl_arena *a, sl_op op, const sl_node *p, const sl_node *q) {
    const sl_node *list[] = { p, q };
    return p && q ? sl_expr_nary(a, op, list, 2) : NULL;
}

/* e times the column without y. */
static const sl_node *monomial_expr(sl_arena *a, const system *s, const sl_node *e,
                                    const column *k) {
    for (int i = 0; i < s->c->variables && e; i++) {
        const sl_node *x = sl_expr_var(a, i + 1);
        if (k->power[i])
            e = both(a, SL_OP_MUL, e, x ? sl_expr_pow(a, x, SL_RAT(k->power[i])) : NULL);
    }
    return k->atom >= 0 && e ? both(a, SL_OP_MUL, e, s->parts.expr[k->atom]) : e;
}

static sl_status offer(bool *kept, closure *c, const system *s, int level, const double *inside,
                       int insides) {
    const sl_node *above = NULL,
                  *below = monomial_expr(&c->arena, s, sl_expr_int(&c->arena, 1), &s->lead), *e;
    double value[COLUMNS + 1];
    int params = insides;
    for (int i = 0; i < insides; i++) value[i] = inside[i];
    for (int k = 0; k < s->columns; k++) {
        if (s->coefficient[k] == 0) continue;
        value[params++] = s->coefficient[k];
        const sl_node *term =
            monomial_expr(&c->arena, s, sl_expr_par(&c->arena, params), &s->column[k]);
        if (!term) return sl_fail(SL_ENOMEM, "no memory for a formula of a closure");
        const sl_node **sum = s->column[k].below ? &below : &above;
        *sum = *sum ? both(&c->arena, SL_OP_ADD, *sum, term) : term;
        if (!*sum) return sl_fail(SL_ENOMEM, "no memory for a formula of a closure");
    }
    *kept = false;
    if (!above || !below || params > SL_FIT_MAX_PARAMS) return SL_OK;
    e = sl_expr_apply(&c->arena, SL_OPERATOR_DIV, above, below);
    if (!e) return sl_fail(SL_ENOMEM, "no memory for a formula of a closure");
    return sl_search__offer(kept, c->job, e, value, params, "closure", level);
}

/* ---------------------------------------------------------------- a choice of atoms --------- */

/* What a level tries: number i is a set of atoms and perhaps a curve. */
typedef struct choice {
    int atom[2];         // -1: none
    int curve, variable; // -1: none
} choice;

typedef struct attempt {
    closure *c;
    int level, size, lead;
    int64_t count;
    bool *good;     // by number
    double *inside; // the constant of the curve
} attempt;

static int64_t choices(const closure *c, int level) {
    int64_t n = c->atoms, curves = CURVES * c->variables;
    return level == 0 ? n : level == 1 ? n * (n - 1) / 2 : level == 2 ? curves : curves * n;
}

static choice choice_of(const closure *c, int level, int64_t i) {
    choice k = { { -1, -1 }, -1, -1 };
    if (level == 0) k.atom[0] = (int)i;
    if (level == 1) {
        int64_t first = 0;
        for (int64_t row = c->atoms - 1; i >= row; row--) i -= row, first++;
        k.atom[0] = (int)first, k.atom[1] = (int)(first + 1 + i);
    }
    if (level >= 2) {
        int64_t curves = CURVES * c->variables;
        if (level == 3) k.atom[0] = (int)(i / curves);
        k.curve = (int)(i % curves) % CURVES, k.variable = (int)(i % curves) / CURVES;
    }
    return k;
}

static void add_parts(system *s, const atom *t) {
    for (int i = 0; i < t->count; i++) {
        s->parts.expr[s->parts.count] = t->expr[i];
        s->parts.value[s->parts.count++] = t->value[i];
    }
}

/* room[] := the curve with this constant. */
static bool bend(double room[2][ROWS], const closure *c, choice k, double inside) {
    const double *x = c->x[k.variable];
    for (int r = 0; r < c->rows; r++) {
        double at = k.curve == CURVE_SQRT ? x[r] + inside : inside * x[r];
        room[0][r] = k.curve == CURVE_EXP   ? sl_exp(at)
                     : k.curve == CURVE_SIN ? sl_sin(at)
                                            : sqrt(at);
        room[1][r] = k.curve == CURVE_SIN ? sl_cos(at) : 0;
        if (!(fabs(room[0][r]) < 1e12)) return false;
    }
    return true;
}

/* The residual with the curve's constant. */
static sl_status rest_at(double *rest, system *s, choice k, double inside, int size, int lead,
                         double room[2][ROWS], sl_arena *scratch) {
    *rest = INFINITY;
    if (!bend(room, s->c, k, inside)) return SL_OK;
    make_columns(s, size, lead);
    return solve(rest, s, NULL, scratch);
}

/* Golden section within two steps of the grid around its best points. */
static sl_status line_search(double *inside, system *s, choice k, int size, int lead,
                             double room[2][ROWS], sl_arena *scratch) {
    enum { POINTS = 73 };
    double rest[POINTS], best = INFINITY, step = 0.25;
    const double golden = 0.61803398874989485;
    for (int i = 0; i < POINTS; i++)
        SL_TRY(rest_at(&rest[i], s, k, step * (i - POINTS / 2) + 0.003, size, lead, room, scratch));
    int at = 0;
    for (int i = 0; i < POINTS; i++)
        if (rest[i] < best) best = rest[i], at = i;
    *inside = step * (at - POINTS / 2) + 0.003;
    double low = *inside - step, high = *inside + step, p = high - golden * (high - low), q, f, g;
    q = low + golden * (high - low);
    SL_TRY(rest_at(&f, s, k, p, size, lead, room, scratch));
    SL_TRY(rest_at(&g, s, k, q, size, lead, room, scratch));
    for (int i = 0; i < LINE; i++) {
        if (f < g) {
            high = q, q = p, g = f, p = high - golden * (high - low);
            SL_TRY(rest_at(&f, s, k, p, size, lead, room, scratch));
        } else {
            low = p, p = q, f = g, q = low + golden * (high - low);
            SL_TRY(rest_at(&g, s, k, q, size, lead, room, scratch));
        }
        if (i == 12 && SL_MIN(f, g) > 0.03 * best) break; // no root of the residual here
    }
    *inside = 0.5 * (low + high);
    return SL_OK;
}

static sl_status try_choice(bool *good, double *inside, system *s, const attempt *a, int64_t i,
                            sl_arena *scratch) {
    closure *c = a->c;
    double room[2][ROWS], rest;
    choice k = choice_of(c, a->level, i);
    s->c = c;
    s->parts.count = 0;
    *good = false;
    for (int n = 0; n < 2; n++)
        if (k.atom[n] >= 0) add_parts(s, &c->atom[k.atom[n]]);
    if (k.curve >= 0) {
        for (int n = 0; n < (k.curve == CURVE_SIN ? 2 : 1); n++) {
            s->parts.expr[s->parts.count] = NULL;
            s->parts.value[s->parts.count++] = room[n];
        }
        SL_TRY(line_search(inside, s, k, a->size, a->lead, room, scratch));
        if (!bend(room, c, k, *inside)) return SL_OK;
    }
    make_columns(s, a->size, a->lead);
    if (3 * s->columns > 2 * c->fitted) return SL_OK; // too many to mean anything
    SL_TRY(solve(&rest, s, NULL, scratch));
    *good = rest < 1e-7 && (k.curve >= 0 || holds(s));
    return SL_OK;
}

static sl_status try_part(int64_t begin, int64_t end, int worker, void *payload) {
    attempt *a = payload;
    sl_arena scratch = { 0 };
    system *s = sl_malloc(1, sizeof *s);
    sl_status st = s ? SL_OK : sl_fail_memory(1, sizeof *s, "a closure");
    for (int64_t i = begin; i < end && st == SL_OK; i++) {
        if (sl_search__stop(a->c->job, worker == 0)) break;
        st = try_choice(&a->good[i], &a->inside[i], s, a, i, &scratch);
    }
    atomic_fetch_add(&a->c->job->tried, end - begin);
    sl_free(s);
    sl_arena_clear(&scratch);
    return st;
}

/* Curves as expressions of free constant 1. */
static sl_status curve_exprs(system *s, closure *c, choice k) {
    const sl_node *x = sl_expr_var(&c->arena, k.variable + 1), *p = sl_expr_par(&c->arena, 1);
    const sl_node *at = both(&c->arena, k.curve == CURVE_SQRT ? SL_OP_ADD : SL_OP_MUL, p, x);
    int last = s->parts.count - 1;
    if (!at) return sl_fail(SL_ENOMEM, "no memory for a formula of a closure");
    if (k.curve == CURVE_EXP) s->parts.expr[last] = sl_expr_fn(&c->arena, SL_OP_EXP, at);
    if (k.curve == CURVE_SQRT) s->parts.expr[last] = sl_expr_pow(&c->arena, at, (sl_rat){ 1, 2 });
    if (k.curve == CURVE_SIN) {
        s->parts.expr[last - 1] = sl_expr_fn(&c->arena, SL_OP_SIN, at);
        s->parts.expr[last] = sl_expr_fn(&c->arena, SL_OP_COS, at);
    }
    return s->parts.expr[last] ? SL_OK : sl_fail(SL_ENOMEM, "no memory for a formula of a closure");
}

/* Thins out what is good and offers it. */
static sl_status settle(attempt *a) {
    closure *c = a->c;
    sl_arena scratch = { 0 };
    sl_status st = SL_OK;
    int offers = 0;
    double room[2][ROWS];
    system *s = sl_malloc(1, sizeof *s);
    if (!s) return sl_fail_memory(1, sizeof *s, "a closure");
    for (int64_t i = 0; i < a->count && offers < OFFERS; i++) {
        bool good, kept, use[COLUMNS];
        if (!a->good[i]) continue;
        choice k = choice_of(c, a->level, i);
        SL_GO(try_choice(&good, &a->inside[i], s, a, i, &scratch));
        if (k.curve >= 0) {
            if (!bend(room, c, k, a->inside[i])) continue;
            for (int n = 0; n < (k.curve == CURVE_SIN ? 2 : 1); n++)
                s->parts.value[s->parts.count - 1 - n] = room[k.curve == CURVE_SIN ? 1 - n : 0];
            SL_GO(curve_exprs(s, c, k));
        }
        for (int n = 0; n < s->columns; n++) use[n] = s->coefficient[n] != 0;
        SL_GO(thin_out(s, use, &scratch));
        SL_GO(offer(&kept, c, s, a->level, &a->inside[i], k.curve >= 0));
        offers++;
    }
done:
    sl_free(s);
    sl_arena_clear(&scratch);
    return st;
}

/* ---------------------------------------------------------------- the method ---------------- */

static void close_closure(void *state) {
    closure *c = state;
    if (!c) return;
    sl_arena_clear(&c->arena);
    sl_search__release(c->job, (int64_t)sizeof *c);
    sl_free(c);
}

static sl_status open_closure(void **state, sl_search__job *j) {
    const sl_problem *p = &j->rows;
    *state = NULL;
    if (!j->o->grammar || p->inputs < 1 || p->inputs > SL_UNIVERSE_MAX_VARS || p->rows < ROWS_LEAST)
        return SL_OK;
    for (int64_t r = 0; r < p->rows; r++)
        if (!(fabs(p->y[r]) > 1e-100 && fabs(p->y[r]) < 1e100)) return SL_OK;
    if (!sl_search__reserve(j, (int64_t)sizeof(closure))) return SL_OK;
    closure *c = sl_calloc(1, sizeof *c);
    if (!c) {
        sl_search__release(j, (int64_t)sizeof *c);
        return sl_fail_memory(1, sizeof *c, "a closure");
    }
    c->job = j;
    c->rows = (int)SL_MIN(p->rows, ROWS);
    c->fitted = c->rows - SL_MAX(6, c->rows / 5);
    c->variables = p->inputs;
    for (int v = 0; v < p->inputs; v++) c->x[v] = p->x[v];
    c->y = p->y;
    sl_status st = make_atoms(c);
    if (st != SL_OK) close_closure(c), c = NULL;
    *state = c;
    return st;
}

static sl_status run_level(bool *more, void *state, int level) {
    closure *c = state;
    *more = c && level < 3;
    if (!c || level > 3) return SL_OK;
    attempt a = { .c = c, .level = level, .count = choices(c, level) };
    sl_status st = SL_OK;
    size_t mark = sl_arena_mark(&c->arena);
    a.good = sl_arena_alloc(&c->arena, (size_t)a.count + 1);
    a.inside = sl_arena_alloc(&c->arena, ((size_t)a.count + 1) * sizeof *a.inside);
    if (!a.good || !a.inside) return sl_fail_memory((size_t)a.count, sizeof *a.inside, "a closure");
    const int exact = c->job->exact;
    const int all = SIZES * leads(c->variables);
    for (int i = 0; i < all && st == SL_OK && c->job->exact == exact; i++) {
        if (sl_search__stop(c->job, true)) break;
        a.size = i / leads(c->variables), a.lead = i % leads(c->variables);
        memset(a.good, 0, (size_t)a.count);
        st = sl_par_for(c->job->pool, a.count, 4, try_part, &a);
        if (st == SL_OK) st = settle(&a);
    }
    sl_arena_rewind(&c->arena, mark);
    return st;
}

const sl_search__method sl_search__closure = { "closure", open_closure, run_level, close_closure };

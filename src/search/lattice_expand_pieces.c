/* lattice_expand_pieces - the nodes that sums are made of, with what constants make of them.
 *
 * A node u of a pair becomes a u + b. Outside of functions that is a linear combination: (a x +
 * b)^2 is one of x^2, x and 1, sin(x + b) one of sin(x) and cos(x). These columns are the plain
 * part of a piece. Constants that are left inside, such as the 3 of exp(3 x), make variants, one
 * for each value.
 *
 * Pieces are written as text: u and v are inputs, k is the constant of a variant, columns are
 * separated by `;`, families of variants by `|`. The letter in front of a family says what k runs
 * through. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "search/lattice_expand_impl.h"

enum { TEXT = 160, CONSTANTS_MAX = 256 };

typedef struct pattern {
    const char *plain, *variants;
} pattern;

/* k: w whole, not 0 or 1; p whole, from 2 on; s whole, not 0; r fractions, not 0. */
static const pattern sums_of_one[] = {
    { "u;1", "" },
    { "u^2;u;1", "" },
    { "exp(u);1", "w:exp(k*u)" },
    { "sin(u);cos(u);1", "p:sin(k*u);cos(k*u)" },
    { "sqrt(u);sqrt(-u);1", "r:sqrt(u+k)|r:sqrt(k-u)" },
};
static const pattern sums_of_two = { "u*v;u;v;1", "" };
static const pattern sums_of_two_ordered = { "u/v;1/v", "r:u/(v+k);1/(v+k)" };

static const pattern inverses_of_one[] = {
    { "1/u", "r:1/(u+k)" },
    { "1/u^2", "r:1/(u+k)^2" },
    { "exp(-u);1", "w:exp(-k*u)|r:1/(exp(u)+k)" },
    { "1/sin(u)", "p:1/sin(k*u)|r:1/(sin(u)+k)|s:1/sin(u+k)" },
    { "1/sqrt(u);1/sqrt(-u)", "r:1/sqrt(u+k)|r:1/sqrt(k-u)|r:1/(sqrt(u)+k)|r:1/(sqrt(-u)+k)" },
};
static const pattern inverses_of_two[] = {
    { "1/(u*v)", "r:1/((u+k)*v)|r:1/(u*(v+k))" },
    { "1/(u+v)", "r:1/(u+k*v)|s:1/(u+v+k)" },
    { "1/(u-v)", "s:1/(u-v+k)" },
};

/* Arguments of functions. */
static const pattern arguments_of_one[] = {
    { "u^2", "w:k*u^2|r:(u+k)^2" },
    { "exp(u)", "w:k*exp(u)|w:exp(k*u)" },
    { "sin(u)", "w:k*sin(u)|s:sin(u+k)|p:sin(k*u)" },
    { "sqrt(u)", "w:k*sqrt(u)|r:sqrt(u+k)" },
};
static const pattern arguments_of_two[] = {
    { "u*v", "w:k*u*v|s:u*(v+k)|s:(u+k)*v" },
    { "u+v", "w:k*u+v|w:u+k*v" },
    { "u-v", "w:k*u-v|w:k*v-u" },
};
static const pattern arguments_of_two_ordered = { "u/v", "w:k*u/v|r:u/(v+k)|s:(u+k)/v" };

/* ---------------------------------------------------------------- columns ------------------- */

/* A column where the text is real; else none. */
static sl_status add_column(sl_expand *x, const char *text, size_t n) {
    const sl_node *e;
    if (x->columns == SL_EXPAND__COLUMNS) return SL_OK;
    sl_expand__column *c = &x->column[x->columns];
    size_t mark = sl_arena_mark(&x->arena);
    SL_TRY(sl_expr_parse(&e, &x->arena, SL_FORMAT_INFIX, text, n, NULL, NULL));
    SL_TRY(sl_expr_eval(c->value, &x->arena, e, x->x, x->rows, NULL));
    bool good = true;
    for (int r = 0; r < x->rows; r++) good = good && fabs(c->value[r]) < 1e100;
    if (!good) {
        sl_arena_rewind(&x->arena, mark);
        return SL_OK;
    }
    c->expr = e;
    x->columns++;
    return SL_OK;
}

/* out := `text` of n bytes with u, v and k put in. */
static size_t put_in(char *out, const char *text, size_t n, int u, int v, const char *k) {
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        char one[16] = { text[i] };
        const char *word = one;
        if (text[i] == 'u' || text[i] == 'v')
            sl_snprintf(one, sizeof one, "x%d", (text[i] == 'u' ? u : v) + 1);
        else if (text[i] == 'k')
            word = k;
        for (; *word && at + 1 < TEXT; word++) out[at++] = *word;
    }
    out[at] = 0;
    return at;
}

static sl_status add_group(sl_expand__group *g, sl_expand *x, const char *text, size_t n, int u,
                           int v, const char *k) {
    g->begin = x->columns;
    for (size_t i = 0; i < n;) {
        char column[TEXT];
        size_t end = i;
        while (end < n && text[end] != ';') end++;
        size_t length = put_in(column, text + i, end - i, u, v, k);
        SL_TRY(add_column(x, column, length));
        i = end + 1;
    }
    g->count = x->columns - g->begin;
    return SL_OK;
}

/* ---------------------------------------------------------------- constants ----------------- */

typedef struct constant {
    int num, den;
} constant;

static bool coprime(int a, int b) {
    a = abs(a);
    while (b) {
        int c = a % b;
        a = b;
        b = c;
    }
    return a == 1;
}

static int constants_of(constant *out, const sl_expand *x, char what) {
    int n = 0, largest = SL_MAX(x->high, -x->low);
    for (int den = 1; den <= (what == 'r' && !x->whole ? largest : 1); den++)
        for (int num = x->low; num <= x->high; num++) {
            bool good = num != 0 && coprime(num, den);
            if (what == 'w') good = good && num != 1;
            if (what == 'p') good = num > 1;
            if (good && n < CONSTANTS_MAX) out[n++] = (constant){ num, den };
        }
    return n;
}

static sl_status add_family(sl_expand *x, const char *text, size_t n, int u, int v) {
    constant list[CONSTANTS_MAX];
    int count = constants_of(list, x, text[0]);
    for (int i = 0; i < count && x->groups < SL_EXPAND__GROUPS; i++) {
        char k[32];
        if (list[i].den == 1)
            sl_snprintf(k, sizeof k, "(%d)", list[i].num);
        else
            sl_snprintf(k, sizeof k, "(%d/%d)", list[i].num, list[i].den);
        sl_expand__group *g = &x->group[x->groups];
        SL_TRY(add_group(g, x, text + 2, n - 2, u, v, k));
        g->fraction = list[i].den > 1;
        if (g->count) x->groups++;
    }
    return SL_OK;
}

static sl_status add_piece(sl_expand *x, pattern p, int u, int v) {
    SL_ASSERT(x->pieces < SL_EXPAND__PIECES);
    sl_expand__piece *piece = &x->piece[x->pieces++];
    SL_TRY(add_group(&piece->plain, x, p.plain, strlen(p.plain), u, v, ""));
    piece->variant = x->groups;
    for (const char *family = p.variants; *family;) {
        size_t n = strcspn(family, "|");
        SL_TRY(add_family(x, family, n, u, v));
        family += n + (family[n] == '|');
    }
    piece->variants = x->groups - piece->variant;
    return SL_OK;
}

/* ---------------------------------------------------------------- lists --------------------- */

sl_status sl_expand__sum_pieces(sl_expand *x) {
    for (int u = 0; u < x->variables; u++)
        for (int i = 0; i < SL_LEN(sums_of_one); i++) SL_TRY(add_piece(x, sums_of_one[i], u, u));
    for (int u = 0; u < x->variables; u++)
        for (int v = 0; v < x->variables; v++) {
            if (u < v) SL_TRY(add_piece(x, sums_of_two, u, v));
            if (u != v) SL_TRY(add_piece(x, sums_of_two_ordered, u, v));
        }
    x->sums = x->pieces;
    return SL_OK;
}

/* out := `wrap` with every column of the argument's text in place of its k; such as exp(k) around
 * u+v. Families keep their letters. */
static void wrap(char *out, size_t room, const char *around, const char *families) {
    size_t at = 0;
    for (const char *f = families; *f && at + 1 < room;) {
        size_t n = strcspn(f, "|"), from = f[1] == ':' ? 2 : 0;
        for (size_t i = 0; i < from; i++) out[at++] = f[i];
        for (const char *c = around; *c && at + n + 3 < room; c++) {
            if (*c != '#') {
                out[at++] = *c;
                continue;
            }
            out[at++] = '(';
            memcpy(out + at, f + from, n - from);
            at += n - from;
            out[at++] = ')';
        }
        f += n;
        if (*f == '|') out[at++] = *f++;
    }
    out[at] = 0;
}

static sl_status add_functions(sl_expand *x, pattern argument, int u, int v) {
    static const pattern around[] = {
        { "exp(#);1", "exp#" },
        { "sin(#);cos(#);1", "sin#;cos#" },
        { "sqrt(#);sqrt(-#);1", "sqrt#" },
        { "exp(-#);1", "exp(-#)" },
    };
    for (int i = 0; i < SL_LEN(around); i++) {
        char plain[TEXT], variants[4 * TEXT], more[TEXT];
        wrap(plain, sizeof plain, around[i].plain, argument.plain);
        wrap(variants, sizeof variants, around[i].variants, argument.variants);
        if (i == 2) {
            sl_snprintf(more, sizeof more, "|r:sqrt(%s+k)", argument.plain);
            strcat(variants, more);
        }
        SL_TRY(add_piece(x, (pattern){ plain, variants }, u, v));
    }
    return SL_OK;
}

static sl_status add_inverses(sl_expand *x) {
    SL_TRY(add_piece(x, (pattern){ "1", "" }, 0, 0));
    for (int u = 0; u < x->variables; u++)
        for (int i = 0; i < SL_LEN(inverses_of_one); i++)
            SL_TRY(add_piece(x, inverses_of_one[i], u, u));
    for (int i = 0; i < SL_LEN(inverses_of_two) && x->variables > 1; i++)
        SL_TRY(add_piece(x, inverses_of_two[i], 0, 1));
    x->inverses = x->pieces;
    return SL_OK;
}

sl_status sl_expand__other_pieces(sl_expand *x) {
    SL_TRY(add_inverses(x));
    for (int u = 0; u < x->variables; u++)
        for (int i = 0; i < SL_LEN(arguments_of_one); i++)
            SL_TRY(add_functions(x, arguments_of_one[i], u, u));
    for (int i = 0; i < SL_LEN(arguments_of_two) && x->variables > 1; i++)
        SL_TRY(add_functions(x, arguments_of_two[i], 0, 1));
    for (int u = 0; u < x->variables && x->variables > 1; u++)
        SL_TRY(add_functions(x, arguments_of_two_ordered, u, 1 - u));
    return SL_OK;
}

/* ---------------------------------------------------------------- terms --------------------- */

int sl_expand__products(sl_expand__product *out, const sl_expand *x, const sl_expand__term *t,
                        int changed, int32_t variant) {
    sl_expand__group g[SL_EXPAND__FACTORS];
    int all = 1;
    for (int f = 0; f < t->factors; f++) {
        bool same = changed >= 0 && t->piece[f] == t->piece[changed];
        g[f] = same ? x->group[variant] : x->piece[t->piece[f]].plain;
        all *= g[f].count;
    }
    if (all > SL_EXPAND__PRODUCTS) all = SL_EXPAND__PRODUCTS;
    for (int i = 0; i < all; i++) {
        sl_expand__product *p = &out[i];
        p->factors = t->factors;
        for (int f = 0, rest = i; f < t->factors; f++) {
            p->column[f] = g[f].begin + rest % g[f].count;
            rest /= g[f].count;
        }
    }
    return all;
}

bool sl_expand__value(double *value, const sl_expand *x, const sl_expand__product *p, int n) {
    double size = 0;
    memcpy(value, x->weight, (size_t)n * sizeof *value);
    for (int f = 0; f < p->factors; f++) {
        const double *v = x->column[p->column[f]].value;
        for (int r = 0; r < n; r++) value[r] *= v[r];
    }
    for (int r = 0; r < n; r++) size = SL_MAX(size, fabs(value[r]));
    return size < 1e30 && size > 1e-30;
}

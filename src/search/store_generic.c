/* Expressions by complexity, for up to three variables.
 *
 * Complexity 1 has the variables and 1 to 5; complexity c the functions of complexity c - 1, and
 * sums, differences, products and quotients of two whose complexities add up to c - 1. One of each
 * value at the probes is kept. */
#include "search/store_impl.h"

enum { SUM, PRODUCT, DIFFERENCE, QUOTIENT, OPERATIONS };
enum { MAX_GENERIC = 1 << 19 };

static const sl_search__store_function_id functions[] = {
    SL_STORE__SIN,  SL_STORE__COS,    SL_STORE__EXP,        SL_STORE__LOG,
    SL_STORE__SQRT, SL_STORE__SQUARE, SL_STORE__RECIPROCAL,
};

static int max_complexity(const sl_store *s) {
    static const int most[] = { 0, 12, 9, 8 };
    return s->variables < SL_LEN(most) ? most[s->variables] : 0;
}

/* Constants 2, 3, 4, 5 of the list. */
static bool is_digit(int constant) {
    const sl_search__store_constant c = sl_search__store_constants[constant];
    return c.num >= 2 && c.num <= 5 && c.den == 1 && c.pi == 0;
}

static int leaves(sl_store_term *out, const sl_store *s) {
    const sl_search__store_list *l = &s->list[SL_LIST_SHORT];
    int n = 0;
    for (int v = 0; v <= s->variables && v < (int)l->count; v++) // the last of them is 1
        out[n++] = sl_search__term_make(false, SL_FORM_SCALED, 0, l->id[v], 0);
    for (int c = 0; c < sl_search__store_n_constants && s->variables < (int)l->count; c++)
        if (is_digit(c))
            out[n++] =
                sl_search__term_make(false, SL_FORM_SCALED, sl_search__term_choice((unsigned)c, 0),
                                     l->id[s->variables], 0);
    return n;
}

/* Functions of the previous complexity. */
static int next_functions(sl_store_term *out, int room, sl_store *s) {
    sl_search__store_generic *g = &s->generic;
    const uint32_t *id = s->list[SL_LIST_GENERIC].id;
    int n = 0;
    for (; g->i < g->begin[g->complexity]; g->i++, g->operation = 0) {
        for (; g->operation < SL_LEN(functions); g->operation++) {
            const sl_search__store_function_id f = functions[g->operation];
            if (n == room) return n;
            if (sl_search__store_functions[f].operators & ~s->ops) continue;
            out[n++] = sl_search__term_make(false, SL_FORM_FUNCTION, sl_search__term_choice(0, f),
                                            id[g->i], 0);
        }
    }
    return n;
}

/* Sums and products once for each unordered pair. */
static bool binary(sl_store_term *out, const sl_store *s, int operation, uint32_t a, uint32_t b,
                   bool first) {
    static const struct {
        sl_store_form form;
        int constant;
        uint32_t operators;
        bool commutes;
    } rows[OPERATIONS] = {
        [SUM] = { SL_FORM_SUM, 0, SL_STORE__BIT(ADD), true },
        [PRODUCT] = { SL_FORM_PRODUCT, 0, SL_STORE__BIT(MUL), true },
        [DIFFERENCE] = { SL_FORM_SUM, 1, SL_STORE__BIT(SUB), false },
        [QUOTIENT] = { SL_FORM_QUOTIENT, 0, SL_STORE__BIT(DIV), false },
    };
    if ((rows[operation].operators & ~s->ops) || (rows[operation].commutes && !first)) return false;
    *out =
        sl_search__term_make(false, rows[operation].form,
                             sl_search__term_choice((unsigned)rows[operation].constant, 0), a, b);
    return true;
}

/* Pairs of complexities split and rest. */
static int next_pairs(sl_store_term *out, int room, sl_store *s) {
    sl_search__store_generic *g = &s->generic;
    const uint32_t *id = s->list[SL_LIST_GENERIC].id;
    const int rest = g->complexity - 1 - g->split;
    int n = 0;
    for (; g->i < g->begin[g->split + 1]; g->i++, g->j = g->begin[rest]) {
        for (; g->j < g->begin[rest + 1]; g->j++, g->operation = SUM) {
            const bool first = g->split < rest || (g->split == rest && g->i <= g->j);
            for (; g->operation < OPERATIONS; g->operation++) {
                if (n == room) return n;
                n += binary(&out[n], s, g->operation, id[g->i], id[g->j], first);
            }
        }
    }
    return n;
}

/* On to the next split, or beyond the last one. */
static void next_split(sl_search__store_generic *g) {
    g->split++;
    g->i = g->begin[g->split];
    g->operation = SUM;
    if (g->split <= g->complexity - 2) g->j = g->begin[g->complexity - 1 - g->split];
}

/* Candidates of the present complexity; none: it is done. */
static int next(sl_store_term *out, int room, sl_store *s) {
    sl_search__store_generic *g = &s->generic;
    int n = 0;
    if (g->complexity == 1) {
        if (!g->split++) return leaves(out, s);
        return 0;
    }
    while (n < room) {
        if (g->split > SL_MAX(0, g->complexity - 2)) break;
        n += g->split ? next_pairs(out + n, room - n, s) : next_functions(out + n, room - n, s);
        if (n < room) next_split(g);
    }
    return n;
}

static void next_complexity(sl_store *s) {
    sl_search__store_generic *g = &s->generic;
    g->begin[++g->complexity] = s->list[SL_LIST_GENERIC].count;
    g->split = 0;
    g->i = g->complexity > 1 ? g->begin[g->complexity - 1] : 0;
    g->operation = 0;
}

sl_status sl_search__store_generic_extend(sl_store *s, size_t want) {
    sl_search__store_generic *g = &s->generic;
    want = SL_MIN(want, MAX_GENERIC);
    if (!g->complexity) next_complexity(s);
    while (s->list[SL_LIST_GENERIC].count < want && g->complexity <= max_complexity(s) &&
           !s->full) {
        if (sl_search__stop(s->job, true)) return SL_OK;
        const int n = next(sl_search__store_batch_room(s->batch), SL_STORE_BATCH, s);
        if (n)
            SL_TRY(sl_search__store_batch_keep(s, n, SL_LIST_GENERIC, 0));
        else
            next_complexity(s);
    }
    return SL_OK;
}

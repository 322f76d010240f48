/* ranges - variables of a formula and where they are drawn from, as one cell of a table says it:
 *
 *     m:1:5 v:0:2.5
 *
 * A name is an identifier, so that formula, answer and any program that checks it spell it alike.
 */
#include <math.h>
#include <string.h>

#include "eval/eval_impl.h"

static bool is_space(char c) { return c == ' ' || c == '\t'; }

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* A place in the text. */
typedef struct cursor {
    const char *text, *at;
} cursor;

static sl_status bad(const cursor *c, const char *reason) {
    return sl_fail(SL_EFORMAT, "character %d: %s", (int)(c->at - c->text) + 1, reason);
}

static sl_status read_name(const char **out, sl_arena *a, cursor *c) {
    const char *begin = c->at, *end = begin;
    if (!is_letter(*end)) return bad(c, "a name begins with a letter");
    while (is_letter(*end) || is_digit(*end)) end++;
    c->at = end;
    if (*end != ':') return bad(c, "after a name comes a colon, as in m:1:5");
    *out = sl_arena_text(a, begin, (size_t)(end - begin));
    return *out ? SL_OK : sl_fail_memory((size_t)(end - begin) + 1, 1, "a name");
}

/* The colon, and the number behind it. */
static sl_status read_bound(double *out, cursor *c) {
    if (*c->at != ':') return bad(c, "a range has two ends, as in m:1:5");
    c->at++;
    char *end;
    *out = sl_strtod(c->at, &end);
    if (end == c->at || is_space(*c->at) || !isfinite(*out)) return bad(c, "is not a number");
    c->at = end;
    return SL_OK;
}

static sl_status read_range(sl_eval__box *box, const char **names, sl_arena *a, cursor *c) {
    const int v = box->inputs;
    const cursor begin = *c;
    if (v == SL_DATA_MAX_INPUTS)
        return bad(c, "more variables than the 16 that a formula may have");
    SL_TRY(read_name(&names[v], a, c));
    for (int k = 0; k < v; k++)
        if (strcmp(names[k], names[v]) == 0) return bad(&begin, "this name is there twice");
    SL_TRY(read_bound(&box->lo[v], c));
    SL_TRY(read_bound(&box->hi[v], c));
    if (*c->at && !is_space(*c->at)) return bad(c, "after a range comes a space");
    if (!(box->lo[v] < box->hi[v])) return bad(&begin, "the low end must be below the high end");
    box->inputs++;
    return SL_OK;
}

sl_status sl_eval__ranges_read(sl_eval__box *box, sl_arena *a, const char *text) {
    const char **list = sl_arena_alloc(a, SL_DATA_MAX_INPUTS * sizeof *list);
    if (!list) return sl_fail_memory(SL_DATA_MAX_INPUTS, sizeof *list, "names");
    cursor c = { text, text };
    *box = (sl_eval__box){ 0 };
    for (;;) {
        while (is_space(*c.at)) c.at++;
        if (!*c.at) break;
        SL_TRY(read_range(box, list, a, &c));
    }
    if (box->inputs == 0) return bad(&c, "there is no variable; write name:low:high");
    box->names = list;
    return SL_OK;
}

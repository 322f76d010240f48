/* Tokens and expressions: there and back, against the reader of LaTeX, and every reason to refuse.
 */
#include "fixture/fixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "expr/expr_test.h"
#include "token/test/spell.h"
#include "token/token_impl.h"
#include "token/token_test.h"

/* ---------------------------------------------------------------- examples ------------------ */

static void expressions_become_these_tokens(void **state) {
    sl_fixture *t = *state;
    static const struct {
        const char *prefix, *tokens;
    } known[] = {
        { "+ ^ x1 2 * 12 x2", "x_1 ^ { 2 } + 1 2 x_2 <end>" },
        { "0", "0 <end>" },
        { "-7", "- 7 <end>" },
        { "/ 3 4", "\\frac { 3 } { 4 } <end>" },
        { "sqrt x3", "\\sqrt { x_3 } <end>" },
        { "* 3 ^ 2 1/3", "3 \\cdot 2 ^ { \\frac { 1 } { 3 } } <end>" },
        { "^ exp x1 3", "( e ^ { x_1 } ) ^ { 3 } <end>" },
        { "- neg sin x1 exp / x1 x2", "- e ^ { \\frac { x_1 } { x_2 } } - \\sin ( x_1 ) <end>" },
        { "^ * x1 x2 -1", "( x_1 x_2 ) ^ { - 1 } <end>" },
    };
    for (int i = 0; i < SL_LEN(known); i++) {
        const sl_node *e;
        sl_token ids[SL_TOKEN_MAX];
        int n;
        char text[512] = "";
        sl_str s = { 0 };
        SL_MUST(t, sl_expr_parse(&e, &t->arena, SL_FORMAT_PREFIX, known[i].prefix,
                                 strlen(known[i].prefix), NULL, NULL));
        const sl_status st = sl_token_from_expr(ids, &n, SL_TOKEN_MAX, e, &s);
        SL_CHECK(t, st == SL_OK && s.len == 0 && !s.failed, "%s: %s", known[i].prefix,
                 sl_last_error());
        sl_str_clear(&s);
        for (int k = 0; k < n; k++) {
            strcat(text, k ? " " : "");
            strcat(text, sl_token_text(ids[k]));
        }
        SL_CHECK(t, strcmp(text, known[i].tokens) == 0, "%s is %s", known[i].prefix, text);
    }
}

static void what_has_no_tokens_is_reported(void **state) {
    sl_fixture *t = *state;
    static const struct {
        const char *prefix;
        int max;
        sl_status st;
        const char *says;
    } known[] = {
        { "cos x1", 256, SL_EINVAL, "\\cos" },
        { "log x1", 256, SL_EINVAL, "\\log" },
        { "tan x1", 256, SL_EINVAL, "\\tan" },
        { "acos tanh x1", 256, SL_EINVAL, "\\arccos" },
        { "abs x1", 256, SL_EINVAL, "\\left" },
        { "* 2 pi", 256, SL_EINVAL, "\\pi" },
        { "^ x1 x2", 256, SL_EINVAL, "exponent" },
        { "+ x1 x4", 256, SL_EINVAL, "x_4" },
        { "+ x1 x10", 256, SL_EINVAL, "x_{10}" },
        { "* x1 c1", 256, SL_EINVAL, "c_1" },
        { "c65535", 256, SL_EINVAL, "c_{65535}" },
        { "999999999999999999", 256, SL_OK, "" },
        { "1000000000000000000", 256, SL_ELIMIT, "18 digits" },
        { "/ 1 1000000000000000000", 256, SL_ELIMIT, "18 digits" },
        { "^ x1 2", 6, SL_OK, "" },
        { "^ x1 2", 5, SL_ELIMIT, "5 tokens" },
        { "^ x1 2", 1, SL_ELIMIT, "1 tokens" },
        { "^ x1 2", 0, SL_ELIMIT, "0 tokens" },
    };
    for (int i = 0; i < SL_LEN(known); i++) {
        const sl_node *e;
        sl_token ids[SL_TOKEN_MAX];
        int n = -1;
        sl_str s = { 0 };
        SL_MUST(t, sl_expr_parse(&e, &t->arena, SL_FORMAT_PREFIX, known[i].prefix,
                                 strlen(known[i].prefix), NULL, NULL));
        const sl_status st = sl_token_from_expr(ids, &n, known[i].max, e, &s);
        const bool empty = s.len == 0 && !s.failed;
        sl_str_clear(&s);
        SL_CHECK(t, st == known[i].st && empty, "%s: %s", known[i].prefix, sl_last_error());
        SL_CHECK(t, st == SL_OK || strstr(sl_last_error(), known[i].says), "%s: %s",
                 known[i].prefix, sl_last_error());
        SL_CHECK(t, st != SL_OK || (n <= known[i].max && ids[n - 1] == SL_TOKEN_END), "%d", n);
    }
    // text that sl_expr_print never makes
    static const struct {
        const char *text, *says;
    } odd[] = {
        { "\\", "\"\\\"" },   { "x_", "\"x_\"" },       { "x_{1", "\"x_{1\"" },
        { "1 + x", "\"x\"" }, { "x_1 x_a", "\"x_a\"" }, { "\\sine", "\\sine" },
        { "&", "\"&\"" },     { "\xc3\xa4", "0xc3" },   { "<end>", "\"<\"" },
    };
    for (int i = 0; i < SL_LEN(odd); i++) {
        sl_token ids[8];
        int n;
        SL_CHECK(t, sl_token_from_latex(ids, &n, 8, odd[i].text, strlen(odd[i].text)) == SL_EINVAL,
                 "%s is cut into tokens", odd[i].text);
        SL_CHECK(t, strstr(sl_last_error(), odd[i].says), "%s: %s", odd[i].text, sl_last_error());
    }
}

/* 64 brackets in each other have tokens, 65 have not: what is written can be read. */
static void nesting_is_written_as_deep_as_it_is_read(void **state) {
    sl_fixture *t = *state;
    const sl_node *e = sl_expr_var(&t->arena, 1);
    for (int depth = 1; depth <= SL_TOKEN_MAX_DEPTH + 1; depth++) {
        sl_token ids[SL_TOKEN_MAX];
        int n, at;
        sl_str s = { 0 };
        e = sl_expr_fn(&t->arena, SL_OP_SIN, e);
        const sl_status st = sl_token_from_expr(ids, &n, SL_TOKEN_MAX, e, &s);
        sl_str_clear(&s);
        if (depth > SL_TOKEN_MAX_DEPTH) {
            SL_CHECK(t, st == SL_ELIMIT && strstr(sl_last_error(), "64"), "%s", sl_last_error());
            return;
        }
        SL_MUST(t, st);
        const sl_node *back;
        sl_token_reason reason;
        SL_MUST(t, sl_token_to_expr(&back, &reason, &at, &t->arena, ids, n, 1));
        SL_CHECK(t, back && sl_expr_equal(back, e), "%d deep is %s", depth,
                 sl_token_reason_name(reason));
    }
}

/* ---------------------------------------------------------------- reasons ------------------- */

static void each_reason_has_its_case(void **state) {
    sl_fixture *t = *state;
    static const struct {
        const char *tokens; // between blanks; #n is the id n
        int variables;
        sl_token_reason reason;
        int at;
    } known[] = {
        { "x_1 <end>", 1, SL_TOKEN_FINE, 0 },
        { "x_1 + #104 <end>", 1, SL_TOKEN_UNKNOWN, 2 },
        { "#255", 1, SL_TOKEN_UNKNOWN, 0 },
        { "\\cos ( x_1 ) <end>", 1, SL_TOKEN_RESERVED, 0 },
        { "x_1 <mask> <end>", 1, SL_TOKEN_RESERVED, 1 },
        { "2 . 5 <end>", 1, SL_TOKEN_RESERVED, 1 },
        { "<start> x_1 <end>", 1, SL_TOKEN_SPECIAL, 0 },
        { "x_1 <pad> <end>", 1, SL_TOKEN_SPECIAL, 1 },
        { "x_1 + + x_1 <end>", 1, SL_TOKEN_SYNTAX, 2 },
        { "+ x_1 <end>", 1, SL_TOKEN_SYNTAX, 0 },
        { "x_1 2 <end>", 1, SL_TOKEN_SYNTAX, 1 },
        { "0 1 <end>", 1, SL_TOKEN_SYNTAX, 1 },
        { "2 \\frac { 1 } { 3 } <end>", 1, SL_TOKEN_SYNTAX, 1 },
        { "2 ^ { 2 } \\frac { 1 } { 3 } <end>", 1, SL_TOKEN_SYNTAX, 5 },
        { "2 \\cdot \\frac { 1 } { 3 } <end>", 1, SL_TOKEN_FINE, 0 },
        { "x_1 ^ 2 <end>", 1, SL_TOKEN_SYNTAX, 2 },
        { "x_1 ^ { x_1 } <end>", 1, SL_TOKEN_SYNTAX, 3 },
        { "x_1 ^ { 2 } ^ { 2 } <end>", 1, SL_TOKEN_SYNTAX, 5 },
        { "e ^ { x_1 } ^ { 2 } <end>", 1, SL_TOKEN_SYNTAX, 5 },
        { "e x_1 <end>", 1, SL_TOKEN_SYNTAX, 1 },
        { "( x_1 } <end>", 1, SL_TOKEN_SYNTAX, 2 },
        { "\\sin { x_1 } <end>", 1, SL_TOKEN_SYNTAX, 1 },
        { "x_1 x_3 x_1 + <end>", 2, SL_TOKEN_VARIABLE, 1 },
        { "x_1 + x_3 <end>", 3, SL_TOKEN_FINE, 0 },
        { "x_1 ^ x_3 <end>", 2, SL_TOKEN_SYNTAX, 2 }, // no variable at all can stand there
        { "<end>", 1, SL_TOKEN_EARLY_END, 0 },
        { "( x_1 <end>", 1, SL_TOKEN_EARLY_END, 2 },
        { "x_1 - <end>", 1, SL_TOKEN_EARLY_END, 2 },
        { "", 1, SL_TOKEN_NO_END, 0 },
        { "x_1 + 1", 1, SL_TOKEN_NO_END, 3 },
        { "( x_1 +", 1, SL_TOKEN_NO_END, 3 },
        { "x_1 <end> <end>", 1, SL_TOKEN_AFTER_END, 2 },
        { "x_1 <end> <pad> <pad>", 1, SL_TOKEN_AFTER_END, 2 },
        { "x_1 <end> #200", 1, SL_TOKEN_AFTER_END, 2 },
        { "1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 <end>", 1, SL_TOKEN_FINE, 0 },
        { "1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 <end>", 1, SL_TOKEN_NUMBER, 18 },
        { "9 ^ { 9 9 } <end>", 1, SL_TOKEN_OVERFLOW, 0 },
        { "9 ^ { 9 9 } + <end>", 1, SL_TOKEN_EARLY_END, 7 }, // the form first
        { "\\frac { 1 } { 0 } <end>", 1, SL_TOKEN_UNDEFINED, 0 },
        { "\\frac { x_1 } { 0 x_1 } <end>", 1, SL_TOKEN_UNDEFINED, 0 },
        { "\\frac { 1 } { 1 - 1 } <end>", 1, SL_TOKEN_UNDEFINED, 0 },
        { "0 ^ { - 1 } <end>", 1, SL_TOKEN_UNDEFINED, 0 },
        { "0 \\sin ( 0 ^ { - 2 } ) <end>", 1, SL_TOKEN_UNDEFINED, 0 },
        { "x_1 ^ { \\frac { 1 } { 0 } } <end>", 1, SL_TOKEN_UNDEFINED, 0 },
        { "x_1 ^ { - \\frac { 0 } { 0 } } <end>", 1, SL_TOKEN_UNDEFINED, 0 },
        { "x_1 + \\sqrt { - 4 } <end>", 1, SL_TOKEN_UNDEFINED, 0 },
        { "\\sqrt { 4 } <end>", 1, SL_TOKEN_FINE, 0 },
        { "x_1 ^ { 0 } <end>", 1, SL_TOKEN_FINE, 0 },
    };
    bool seen[SL_TOKEN_REASON_COUNT] = { [SL_TOKEN_DEEP] = true }; // in the next test
    for (int i = 0; i < SL_LEN(known); i++) {
        sl_token ids[64];
        int n = 0, at = -1;
        char text[128], *rest = text;
        strcpy(text, known[i].tokens);
        for (char *w; (w = strtok_r(rest, " ", &rest));)
            ids[n++] = (sl_token)(*w == '#' ? atoi(w + 1) : sl_token_find(w, strlen(w)));
        const sl_node *e = (const sl_node *)text; // must be overwritten
        sl_token_reason reason;
        SL_MUST(t, sl_token_to_expr(&e, &reason, &at, &t->arena, ids, n, known[i].variables));
        SL_CHECK(t, reason == known[i].reason && at == known[i].at, "%s: %s at %d", known[i].tokens,
                 sl_token_reason_name(reason), at);
        SL_CHECK(t, !e == (reason != SL_TOKEN_FINE), "%s", known[i].tokens);
        seen[reason] = true;
    }
    for (int r = 0; r < SL_TOKEN_REASON_COUNT; r++)
        SL_CHECK(t, seen[r], "no case of %s", sl_token_reason_name((sl_token_reason)r));
}

/* Any length may be given: no more than SL_TOKEN_MAX tokens are looked at. */
static void long_sequences_are_refused(void **state) {
    sl_fixture *t = *state;
    enum { LONG = 1000000 };
    sl_token *ids = sl_malloc(LONG, 1);
    const sl_node *e;
    sl_token_reason reason;
    int at;
    SL_CHECK(t, ids, "no memory");
    const size_t mark = sl_arena_mark(&t->arena);
    for (int i = 0; i < LONG; i++) ids[i] = SL_TOKEN__X_1; // a product
    SL_MUST(t, sl_token_to_expr(&e, &reason, &at, &t->arena, ids, LONG, 1));
    const bool all = !e && reason == SL_TOKEN_NO_END && at == SL_TOKEN_MAX;
    ids[SL_TOKEN_MAX] = SL_TOKEN_END;
    SL_MUST(t, sl_token_to_expr(&e, &reason, &at, &t->arena, ids, SL_TOKEN_MAX + 1, 1));
    const bool one_too_many = !e && reason == SL_TOKEN_NO_END && at == SL_TOKEN_MAX;
    ids[SL_TOKEN_MAX - 1] = SL_TOKEN_END;
    SL_MUST(t, sl_token_to_expr(&e, &reason, &at, &t->arena, ids, LONG, 1));
    const bool behind = !e && reason == SL_TOKEN_AFTER_END && at == SL_TOKEN_MAX;
    const bool given_back = sl_arena_mark(&t->arena) == mark;
    SL_MUST(t, sl_token_to_expr(&e, &reason, &at, &t->arena, ids, SL_TOKEN_MAX, 1));
    const bool longest = e && e->op == SL_OP_MUL && e->arg == SL_TOKEN_MAX - 1;
    memset(ids, SL_TOKEN__OPEN, LONG);
    SL_MUST(t, sl_token_to_expr(&e, &reason, &at, &t->arena, ids, LONG, 1));
    const bool deep = !e && reason == SL_TOKEN_DEEP && at == SL_TOKEN_MAX_DEPTH;
    sl_free(ids);
    SL_CHECK(t, all && one_too_many && behind, "a long sequence is not cut");
    SL_CHECK(t, longest, "the longest is not read");
    SL_CHECK(t, deep && given_back, "too deep");
}

/* ---------------------------------------------------------------- there and back ------------ */

static sl_rat random_number(sl_rng *rng) {
    sl_rat v = SL_RAT(0);
    int64_t num = pick(rng, 13) - 6, den = 1 + pick(rng, 4);
    if (pick(rng, 8) == 0) num = (int64_t)(sl_rng_u64(rng) >> (5 + pick(rng, 56)));
    if (pick(rng, 16) == 0) den = 1 + (int64_t)(sl_rng_u64(rng) >> (5 + pick(rng, 56)));
    (void)sl_expr_rat_make(&v, num, den); // always representable
    return v;
}

/* A raw tree of all nodes that have tokens, also in shapes that no operator of the surface makes.
 */
static const sl_node *random_tree(sl_arena *a, sl_rng *rng, int depth) {
    const sl_node *operands[4];
    const int kind = depth == 0 ? pick(rng, 4) : pick(rng, 12);
    if (kind == 0) return sl_expr_num(a, random_number(rng));
    if (kind < 4) return sl_expr_var(a, 1 + pick(rng, 3));
    if (kind < 9) {
        const int n = 2 + pick(rng, 3);
        for (int i = 0; i < n; i++) operands[i] = random_tree(a, rng, depth - 1);
        return sl_expr_nary(a, kind < 6 ? SL_OP_ADD : SL_OP_MUL, operands, n);
    }
    operands[0] = random_tree(a, rng, depth - 1);
    if (kind == 9) return sl_expr_fn(a, pick(rng, 2) ? SL_OP_EXP : SL_OP_SIN, operands[0]);
    const sl_rat half = { 1 - 2 * pick(rng, 2), 2 };
    return sl_expr_pow(a, operands[0], pick(rng, 2) ? random_number(rng) : half);
}

/* A tidy or canonical expression, or NULL where it has no such form within 64 bits. */
static const sl_node *random_expression(sl_fixture *t) {
    const sl_expr_random_options o = { 1 + pick(&t->rng, 5), 3, 9, 0.15, 0, false };
    const sl_node *e;
    const int kind = pick(&t->rng, 4);
    if (kind == 0)
        e = random_tree(&t->arena, &t->rng, 1 + pick(&t->rng, 4));
    else
        SL_MUST(t, sl_expr_random(&e, &t->arena, &t->rng, &o));
    if (kind == 1 && sl_expr_insert_numbers(&e, &t->arena, &t->rng, e, 0.4, 99) != SL_OK)
        return NULL;
    sl_status st = pick(&t->rng, 2) ? sl_expr_tidy(&e, &t->arena, e) : SL_ELIMIT;
    if (st == SL_ELIMIT) st = sl_expr_canon(&e, &t->arena, e);
    return st == SL_OK ? e : NULL;
}

/* NaN wherever it is looked at. */
static bool is_real_nowhere(sl_fixture *t, const sl_node *e) {
    enum { N = 16 };
    double x[3][N], y[N];
    for (int v = 0; v < 3; v++)
        for (int i = 0; i < N; i++) x[v][i] = sl_rng_range(&t->rng, -3, 3);
    SL_MUST(t, sl_expr_eval(y, &t->arena, e, (const double *[]){ x[0], x[1], x[2] }, N, NULL));
    for (int i = 0; i < N; i++)
        if (!isnan(y[i])) return false;
    return true;
}

static void tokens_are_the_printed_text_and_read_back(void **state) {
    sl_fixture *t = *state;
    int fine = 0, undefined = 0, limit = 0;
    sl_str scratch = { 0 };
    for (int i = 0; i < sl_test_iters(t, 4000); i++) {
        sl_arena_rewind(&t->arena, 0);
        const sl_node *e = random_expression(t);
        sl_token ids[SL_TOKEN_MAX];
        int n, at;
        if (!e) continue;
        sl_str printed = { 0 };
        SL_MUST(t, sl_expr_print(&printed, SL_FORMAT_LATEX, e, NULL));
        const sl_status st = sl_token_from_expr(ids, &n, SL_TOKEN_MAX, e, &scratch);
        SL_CHECK(t, st == SL_OK || st == SL_ELIMIT, "%s: %s", printed.text, sl_last_error());
        SL_CHECK(t, scratch.len == 0, "the scratch is not left empty");
        if (st == SL_OK) {
            // its spelling is the text, byte by byte, and the text has no other tokens
            SL_CHECK(t, strcmp(spell(ids, n), printed.text) == 0, "%s is spelled %s", printed.text,
                     spell(ids, n));
            SL_CHECK(t, strcmp(spell(ids, n - 1), printed.text) == 0, "without its end: %s",
                     spell(ids, n - 1));
            const sl_node *back;
            sl_token_reason reason;
            SL_MUST(t, sl_token_to_expr(&back, &reason, &at, &t->arena, ids, n, 3));
            if (reason == SL_TOKEN_UNDEFINED) {
                SL_CHECK(t, is_real_nowhere(t, e), "%s is real somewhere", printed.text);
                undefined++;
            } else {
                SL_CHECK(t, reason == SL_TOKEN_FINE, "%s: %s at %d", printed.text,
                         sl_token_reason_name(reason), at);
                SL_CHECK(t, sl_expr_equal(back, e), "%s reads back as %s", printed.text,
                         spell(ids, n));
                fine++;
            }
        }
        limit += st == SL_ELIMIT;
        sl_str_clear(&printed);
    }
    sl_str_clear(&scratch);
    print_message("%d read back, %d undefined, %d too long\n", fine, undefined, limit);
    SL_CHECK(t, fine > 1000 && undefined > 0 && limit > 0, "a case was never met");
}

/* The reader of LaTeX, which shares no code with this one, reads the same from the spelling. Its
 * numbers are merged in another order, so it may overflow where this does not, and the reverse. */
static void the_latex_reader_agrees(void **state) {
    sl_fixture *t = *state;
    int fine = 0, undefined = 0, both = 0, here = 0, there = 0; // overflow
    for (int i = 0; i < sl_test_iters(t, 6000); i++) {
        sl_token ids[SL_TOKEN_MAX];
        int n, at;
        const sl_node *e, *judged = NULL;
        sl_token_reason reason;
        sl_arena_rewind(&t->arena, 0);
        sl_token_random(ids, &n, &t->rng, 3, 2 + pick(&t->rng, pick(&t->rng, 2) ? 20 : 255));
        SL_MUST(t, sl_token_to_expr(&e, &reason, &at, &t->arena, ids, n, 3));
        const char *text = spell(ids, n);
        const sl_status st =
            sl_expr_parse(&judged, &t->arena, SL_FORMAT_LATEX, text, strlen(text), NULL, NULL);
        SL_CHECK(t, st == SL_OK || st == SL_EOVERFLOW || reason == SL_TOKEN_UNDEFINED,
                 "\"%s\" is %s; %s", text, sl_token_reason_name(reason), sl_last_error());
        if (reason == SL_TOKEN_FINE) {
            SL_CHECK(t, sl_expr_valid(e, e->len), "\"%s\": no valid expression", text);
            SL_CHECK(t, st == SL_EOVERFLOW || sl_expr_equal(e, judged), "\"%s\" is another", text);
            fine++;
        } else if (reason == SL_TOKEN_UNDEFINED) {
            SL_CHECK(t, st != SL_OK || is_real_nowhere(t, judged), "\"%s\" is real", text);
            undefined++;
        } else {
            SL_CHECK(t, reason == SL_TOKEN_OVERFLOW && at == 0, "\"%s\": %s", text,
                     sl_token_reason_name(reason));
        }
        both += reason == SL_TOKEN_OVERFLOW && st == SL_EOVERFLOW;
        here += reason == SL_TOKEN_OVERFLOW && st != SL_EOVERFLOW;
        there += reason != SL_TOKEN_OVERFLOW && st == SL_EOVERFLOW;
    }
    print_message("%d alike, %d undefined; beyond 64 bits %d, only here %d, only there %d\n", fine,
                  undefined, both, here, there);
    SL_CHECK(t, fine > 1000 && undefined > 0 && both > 0, "a case was never met");
    SL_CHECK(t, 20 * (here + there) < both, "they differ too often in what is beyond 64 bits");
}

/* Spelling loses nothing: any tokens in use are cut from it again, whether or not they make sense.
 */
static void any_tokens_are_spelled_without_loss(void **state) {
    sl_fixture *t = *state;
    for (int i = 0; i < sl_test_iters(t, 2000); i++) {
        sl_token ids[64], back[65];
        const int n = pick(&t->rng, 20);
        int n_back;
        int digits = 0;
        for (int k = 0; k < n; k++) {
            do ids[k] = (sl_token)(SL_TOKEN__0 + pick(&t->rng, SL_TOKEN__X_3 - SL_TOKEN__0 + 1));
            while (ids[k] == SL_TOKEN_END || (digits == 18 && ids[k] <= SL_TOKEN__9));
            digits = ids[k] <= SL_TOKEN__9 ? digits + 1 : 0;
        }
        const char *text = spell(ids, n);
        SL_MUST(t, sl_token_from_latex(back, &n_back, 65, text, strlen(text)));
        SL_CHECK(t, n_back == n + 1 && memcmp(ids, back, (size_t)n) == 0, "\"%s\" loses tokens",
                 text);
    }
    // and every id can be shown
    sl_token all[256];
    for (int id = 0; id < 256; id++) all[id] = (sl_token)id;
    const char *text = spell(all, 256);
    for (int id = 0; id < SL_TOKEN_COUNT; id++)
        SL_CHECK(t, strstr(text, sl_token_text(id)), "%s is not shown", sl_token_text(id));
    SL_CHECK(t, strstr(text, "<104> <105>") && strstr(text, "<255>"), "%s", text);
}

/* ---------------------------------------------------------------- faults -------------------- */

static sl_status write_once(const sl_node *e, sl_str *scratch) {
    sl_token ids[SL_TOKEN_MAX];
    int n;
    return sl_token_from_expr(ids, &n, SL_TOKEN_MAX, e, scratch);
}

/* A scratch that has failed must be good for the next time. */
static sl_status write_afresh(const sl_node *e) {
    sl_str scratch = { 0 };
    const sl_status st = write_once(e, &scratch);
    sl_status next = SL_OK;
    if (st != SL_OK) {
        sl_mem_fail_at(0, false);
        next = write_once(e, &scratch);
    }
    sl_str_clear(&scratch);
    if (next != SL_OK) return sl_fail(SL_EINVAL, "the failure sticks to the scratch");
    return st;
}

static sl_status read_once(sl_arena *a, const sl_token *ids, int n) {
    const sl_node *e;
    sl_token_reason reason;
    int at;
    SL_TRY(sl_token_to_expr(&e, &reason, &at, a, ids, n, 3));
    return e ? SL_OK : sl_fail(SL_EINVAL, "%s at %d", sl_token_reason_name(reason), at);
}

static void missing_memory_is_reported(void **state) {
    sl_fixture *t = *state;
    // deep inverses of a long product: the longest expression that so few tokens make
    sl_token ids[SL_TOKEN_MAX];
    int n = 0, inner;
    for (int i = 0; i < 20; i++) {
        SL_MUST(t, sl_token_from_latex(ids + n, &inner, 16, "\\frac{1}{", 9));
        n += inner - 1;
    }
    while (n < SL_TOKEN_MAX - 21) ids[n++] = SL_TOKEN__X_2;
    for (int i = 0; i < 20; i++) ids[n++] = SL_TOKEN__CLOSE_BRACE;
    ids[n++] = SL_TOKEN_END;
    const sl_node *e;
    sl_token_reason reason;
    int at;
    SL_MUST(t, sl_token_to_expr(&e, &reason, &at, &t->arena, ids, n, 3));
    SL_CHECK(t, e && e->len > 2048, "not as long as it was to be");
    SL_EACH_ALLOCATION(t, read_once(&t->arena, ids, n));

    SL_MUST(t, sl_token_from_latex(ids, &n, SL_TOKEN_MAX, "x_1^{2} + 12 x_2", 16));
    SL_EACH_ALLOCATION(t, read_once(&t->arena, ids, n));
    SL_MUST(t, sl_token_to_expr(&e, &reason, &at, &t->arena, ids, n, 3));
    SL_EACH_ALLOCATION(t, write_afresh(e));
}

/* Where no memory is missing, reading leaves the expression in the arena and nothing beside it. */
static void reading_gives_scratch_back(void **state) {
    sl_fixture *t = *state;
    sl_token ids[SL_TOKEN_MAX];
    int n, at;
    const char text[] = "\\frac{x_1 - 3}{\\sin(x_2)^{2}} + 4 e^{x_1 x_2}";
    SL_MUST(t, sl_token_from_latex(ids, &n, SL_TOKEN_MAX, text, sizeof text - 1));
    for (int i = 0; i < 3; i++) {
        const size_t mark = sl_arena_mark(&t->arena);
        const sl_node *e;
        sl_token_reason reason;
        SL_MUST(t, sl_token_to_expr(&e, &reason, &at, &t->arena, ids, n, 3));
        const size_t used = sl_arena_mark(&t->arena) - mark;
        SL_CHECK(t, used <= e->len * sizeof *e + 16, "%zu bytes for %u nodes", used, e->len);
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(expressions_become_these_tokens),
        SL_TEST(what_has_no_tokens_is_reported),
        SL_TEST(nesting_is_written_as_deep_as_it_is_read),
        SL_TEST(each_reason_has_its_case),
        SL_TEST(long_sequences_are_refused),
        SL_TEST(tokens_are_the_printed_text_and_read_back),
        SL_TEST(the_latex_reader_agrees),
        SL_TEST(any_tokens_are_spelled_without_loss),
        SL_TEST(missing_memory_is_reported),
        SL_TEST(reading_gives_scratch_back),
    };
    return sl_test_main("token.tokens", tests, SL_LEN(tests));
}

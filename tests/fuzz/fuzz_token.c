/* Any bytes as token ids. The reader and the prefixes agree on where they fail; the set of tokens
 * that may follow holds what is taken and nothing else; and an expression that was read prints to
 * tokens that read back as the same bytes.
 *
 * Bytes that begin with `$`, which is the id of a reserved token, are LaTeX and cut into tokens
 * first: so the corpus can be read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "token/token.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

_Noreturn static void wrong(const char *what, const sl_token *ids, int n) {
    sl_str s = { 0 };
    sl_token_to_latex(&s, ids, n);
    fprintf(stderr, "%s: %s\n%s\n", what, sl_str_text(&s), sl_last_error());
    abort();
}

static bool is_form(sl_token_reason r) {
    return r == SL_TOKEN_FINE || r == SL_TOKEN_OVERFLOW || r == SL_TOKEN_UNDEFINED;
}

/* The same sequence token by token; its end is as far as `n` says, so that room gets tight. */
static void fuzz_prefixes(const sl_token *ids, int n, int variables, sl_token_reason reason,
                          int at) {
    sl_token_state s;
    sl_token_begin(&s, variables);
    for (int i = 0; i < n && i < SL_TOKEN_MAX; i++) {
        sl_token_set next;
        const int room = n - i;
        const sl_token_state before = s;
        sl_token_next(&next, &s, room);
        if (s.top > 0 && room >= s.need && !(next.bits[0] | next.bits[1]))
            wrong("a prefix without an end", ids, i);
        const sl_token_reason r = sl_token_push(&s, ids[i]);
        const bool in = ids[i] < SL_TOKEN_COUNT && sl_token_in(&next, ids[i]);
        if (in != (r == SL_TOKEN_FINE && s.need + 1 <= room)) wrong("a wrong set", ids, i + 1);
        if (r == SL_TOKEN_FINE) continue;
        if (memcmp(&s, &before, sizeof s) != 0) wrong("a refused token is noted", ids, i + 1);
        if (r != reason || at != i) wrong("reader and prefix differ", ids, i + 1);
        return;
    }
    if (n <= SL_TOKEN_MAX && (s.top == 0) != is_form(reason)) wrong("they end differently", ids, n);
}

/* e printed, cut and read again. What is too long for tokens is not at fault. */
static void fuzz_round_trip(sl_arena *a, const sl_node *e, const sl_token *from, int n_from) {
    sl_str s = { 0 };
    sl_token ids[SL_TOKEN_MAX];
    int n, at;
    const sl_status st = sl_token_from_expr(ids, &n, SL_TOKEN_MAX, e, &s);
    if (st != SL_OK && st != SL_ELIMIT) wrong("not written", from, n_from);
    if (s.len) wrong("scratch is left", from, n_from);
    sl_str_clear(&s);
    if (st != SL_OK) return;
    const sl_node *back;
    sl_token_reason reason;
    if (sl_token_to_expr(&back, &reason, &at, a, ids, n, 3) != SL_OK) abort();
    if (!back || !sl_expr_equal(back, e)) wrong("does not read back", ids, n);

    sl_token_to_latex(&s, ids, n);
    if (sl_expr_parse(&back, a, SL_FORMAT_LATEX, sl_str_text(&s), s.len, NULL, NULL) != SL_OK)
        wrong("its LaTeX is not read", ids, n);
    if (!sl_expr_equal(back, e)) wrong("its LaTeX is another", ids, n);
    sl_str_clear(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    sl_token cut[SL_TOKEN_MAX];
    const sl_token *ids = data;
    int n = (int)SL_MIN(size, (size_t)1 << 20);
    if (size > 0 && data[0] == '$') {
        if (sl_token_from_latex(cut, &n, SL_TOKEN_MAX, (const char *)data + 1, size - 1) != SL_OK)
            return 0;
        ids = cut;
    }
    for (int variables = 1; variables <= 3; variables++) {
        sl_arena a = { 0 };
        const sl_node *e = NULL, *tidy;
        sl_token_reason reason;
        int at;
        if (sl_token_to_expr(&e, &reason, &at, &a, ids, n, variables) != SL_OK) abort();
        if (!e != (reason != SL_TOKEN_FINE) || at < 0 || at > n) wrong("no due answer", ids, n);
        if (!e && sl_arena_mark(&a) != 0) wrong("scratch is kept", ids, n);
        fuzz_prefixes(ids, n, variables, reason, at);
        if (e) {
            if (!sl_expr_valid(e, e->len)) wrong("no valid expression", ids, n);
            if (sl_expr_tidy(&tidy, &a, e) != SL_OK || !sl_expr_equal(tidy, e))
                wrong("not tidy", ids, n);
            if (sl_expr_max_var(e) > variables) wrong("a variable too many", ids, n);
            fuzz_round_trip(&a, e, ids, n);
        }
        sl_arena_clear(&a);
    }
    return 0;
}

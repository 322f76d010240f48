/* The grammar: its table is LL(1) and complete, the sets of tokens that may follow are exact, and
 * what is taken is the language that docs/formats.md describes. */
#include "fixture/fixture.h"

#include <string.h>

#include "expr/expr_test.h"
#include "token/test/spell.h"
#include "token/token_impl.h"
#include "token/token_test.h"

/* ---------------------------------------------------------------- the table ----------------- */

enum { PARTS = SL_PART_END - SL_TERMINAL_END, FAR = 1000 };

typedef struct facts { // what follows from the rules alone, by fix-point
    uint32_t first[SL_SYMBOL_COUNT], follow[PARTS];
    int least[SL_SYMBOL_COUNT];
} facts;

static const sl_rule *rule(int part, int i) { return &sl_token__grammar[part][i]; }
static int length(const sl_rule *r) {
    int n = 0;
    while (n < SL_RULE_LENGTH && r->symbols[n]) n++;
    return n;
}

/* A part that may be nothing is one whose `least` says so; all else is derived. */
static void derive(facts *f) {
    *f = (facts){ 0 };
    for (int s = 1; s < SL_TERMINAL_END; s++) f->first[s] = 1u << s, f->least[s] = 1;
    for (int p = 0; p < PARTS; p++)
        f->least[SL_TERMINAL_END + p] = sl_token__least[SL_TERMINAL_END + p] == 0 ? 0 : FAR;
    f->follow[SL_PART_SUM - SL_TERMINAL_END] = SL_SET(END);
    for (bool changed = true; changed;) {
        changed = false;
        for (int p = 0; p < PARTS; p++) {
            for (int i = 0; i < SL_RULES && rule(p, i)->on; i++) {
                const uint8_t *s = rule(p, i)->symbols;
                const int n = length(rule(p, i)), part = SL_TERMINAL_END + p;
                int sum = 0;
                uint32_t first = 0;
                for (int k = n - 1; k >= 0; k--) {
                    first = f->least[s[k]] ? f->first[s[k]] : first | f->first[s[k]];
                    sum += f->least[s[k]];
                }
                first &= rule(p, i)->on; // a rule may ask for less than its symbols would take
                if ((f->first[part] | first) != f->first[part])
                    f->first[part] |= first, changed = true;
                if (sum < f->least[part]) f->least[part] = sum, changed = true;
                uint32_t behind = f->follow[p];
                for (int k = n - 1; k >= 0; k--) {
                    const bool is_part = !SL_IS_TERMINAL(s[k]) && !SL_IS_ACTION(s[k]);
                    uint32_t *follow = is_part ? &f->follow[s[k] - SL_TERMINAL_END] : NULL;
                    if (follow && (*follow | behind) != *follow) *follow |= behind, changed = true;
                    behind = f->least[s[k]] ? f->first[s[k]] : behind | f->first[s[k]];
                }
            }
        }
    }
}

static void the_table_is_ll1(void **state) {
    sl_fixture *t = *state;
    facts f;
    derive(&f);
    for (int p = 0; p < PARTS; p++) {
        const int part = SL_TERMINAL_END + p;
        uint32_t seen = 0;
        SL_CHECK(t, rule(p, 0)->on, "part %d has no rule", p);
        for (int i = 0; i < SL_RULES && rule(p, i)->on; i++) {
            const sl_rule *r = rule(p, i);
            const int first = r->symbols[0];
            SL_CHECK(t, first && !SL_IS_ACTION(first) && f.least[first] > 0,
                     "rule %d of part %d can begin with nothing", i, p);
            SL_CHECK(t, !(r->on & ~f.first[first]), "rule %d of part %d is chosen on other tokens",
                     i, p);
            SL_CHECK(t, !(seen & r->on), "part %d: two rules for a token", p);
            seen |= r->on;
            for (int k = 0; k < length(r); k++)
                SL_CHECK(t, r->symbols[k] < SL_SYMBOL_COUNT, "no such symbol");
        }
        SL_CHECK(t, sl_token__least[part] > 0 || !(seen & f.follow[p]),
                 "part %d: a token may belong to it or come behind it", p);
        SL_CHECK(t, sl_token__least[part] == f.least[part], "part %d needs %d tokens", p,
                 f.least[part]);
    }
    for (int s = 1; s < SL_SYMBOL_COUNT; s++) // least of terminals and actions
        SL_CHECK(t, sl_token__least[s] == f.least[s], "symbol %d", s);
}

/* ---------------------------------------------------------------- the naive twin ------------ */

/* The grammar of docs/formats.md once more, as functions that call each other. `at` stops at the
 * first token that cannot be taken. */
typedef struct twin {
    const sl_token *ids;
    int n, at, variables, depth;
} twin;

static bool is(const twin *w, const char *text) {
    return w->at < w->n && w->ids[w->at] < SL_TOKEN_COUNT &&
           strcmp(sl_token_text(w->ids[w->at]), text) == 0;
}

static bool take(twin *w, const char *text) {
    if (!is(w, text)) return false;
    const bool opens = strchr("({", *text), closes = strchr(")}", *text);
    if (opens && w->depth == SL_TOKEN_MAX_DEPTH) return false;
    w->depth += opens - closes;
    w->at++;
    return true;
}

static bool is_digit(const twin *w) {
    static const char *const digits[] = { "0", "1", "2", "3", "4", "5", "6", "7", "8", "9" };
    for (int i = 0; i < 10; i++)
        if (is(w, digits[i])) return true;
    return false;
}

static bool twin_sum(twin *w);

static bool twin_integer(twin *w) {
    if (!is_digit(w)) return false;
    if (take(w, "0")) return true;
    int n = 0;
    while (is_digit(w) && n < 18) w->at++, n++;
    return !is_digit(w);
}

static bool twin_power(twin *w) { // with the brackets that say it may be absent
    if (!is(w, "^")) return true;
    if (!take(w, "^") || !take(w, "{")) return false;
    take(w, "-");
    if (take(w, "\\frac")) {
        if (!take(w, "{") || !twin_integer(w) || !take(w, "}")) return false;
        if (!take(w, "{") || !twin_integer(w) || !take(w, "}")) return false;
    } else if (!twin_integer(w)) {
        return false;
    }
    return take(w, "}");
}

static bool begins_factor(const twin *w) {
    return is(w, "x_1") || is(w, "x_2") || is(w, "x_3") || is(w, "(") || is(w, "\\sin") ||
           is(w, "\\sqrt") || is(w, "e") || is(w, "\\frac");
}

static bool twin_factor(twin *w) {
    if (is(w, "x_1") || (w->variables > 1 && is(w, "x_2")) || (w->variables > 2 && is(w, "x_3"))) {
        w->at++;
        return twin_power(w);
    }
    if (take(w, "(")) return twin_sum(w) && take(w, ")") && twin_power(w);
    if (take(w, "\\sin")) return take(w, "(") && twin_sum(w) && take(w, ")") && twin_power(w);
    if (take(w, "\\sqrt")) return take(w, "{") && twin_sum(w) && take(w, "}") && twin_power(w);
    if (take(w, "e")) return take(w, "^") && take(w, "{") && twin_sum(w) && take(w, "}");
    if (take(w, "\\frac"))
        return take(w, "{") && twin_sum(w) && take(w, "}") && take(w, "{") && twin_sum(w) &&
               take(w, "}");
    return false;
}

static bool twin_any(twin *w, bool *number) {
    *number = is_digit(w);
    return *number ? twin_integer(w) && twin_power(w) : twin_factor(w);
}

static bool twin_product(twin *w) {
    bool number;
    if (!twin_any(w, &number)) return false;
    for (;;) {
        if (take(w, "\\cdot")) {
            if (!twin_any(w, &number)) return false;
        } else if (begins_factor(w)) {
            if (number && is(w, "\\frac")) return false;
            if (!twin_factor(w)) return false;
            number = false;
        } else {
            return true;
        }
    }
}

static bool twin_sum(twin *w) {
    take(w, "-");
    if (!twin_product(w)) return false;
    while (take(w, "+") || take(w, "-"))
        if (!twin_product(w)) return false;
    return true;
}

static bool twin_text(twin *w) { return twin_sum(w) && take(w, "<end>") && w->at == w->n; }

static bool is_form(sl_token_reason r) {
    return r == SL_TOKEN_FINE || r == SL_TOKEN_OVERFLOW || r == SL_TOKEN_UNDEFINED;
}

/* Is it the same to the twin, and does it fail at the same token? Where brackets are too deep, the
 * grammar is ahead: it refuses what can only be followed by one. */
static bool check_twin(sl_fixture *t, const sl_token *ids, int n, int variables) {
    twin w = { .ids = ids, .n = n, .variables = variables };
    const bool form = twin_text(&w);
    const sl_node *e;
    sl_token_reason reason;
    int at;
    const size_t mark = sl_arena_mark(&t->arena);
    SL_MUST(t, sl_token_to_expr(&e, &reason, &at, &t->arena, ids, n, variables));
    sl_arena_rewind(&t->arena, mark);
    SL_CHECK(t, is_form(reason) == form, "\"%s\" is %s, but the twin says otherwise", spell(ids, n),
             sl_token_reason_name(reason));
    if (!form && reason != SL_TOKEN_DEEP)
        SL_CHECK(t, at == w.at, "\"%s\" is %s at %d, the twin stops at %d", spell(ids, n),
                 sl_token_reason_name(reason), at, w.at);
    return form;
}

/* One token more, less, other, or two of them swapped. */
static void mutate(sl_token *ids, int *n, sl_rng *rng) {
    const int at = pick(rng, *n), id = pick(rng, pick(rng, 4) ? SL_TOKEN__X_3 + 1 : 256);
    switch (pick(rng, 4)) {
    case 0:
        if (*n == SL_TOKEN_MAX) return;
        memmove(ids + at + 1, ids + at, (size_t)(*n - at));
        ids[at] = (sl_token)id;
        ++*n;
        return;
    case 1:
        memmove(ids + at, ids + at + 1, (size_t)(*n - at - 1));
        --*n;
        return;
    case 2: ids[at] = (sl_token)id; return;
    default: {
        const int other = pick(rng, *n);
        const sl_token kept = ids[at];
        ids[at] = ids[other];
        ids[other] = kept;
    }
    }
}

static void the_language_is_the_documents(void **state) {
    sl_fixture *t = *state;
    int forms = 0, others = 0;
    for (int i = 0; i < sl_test_iters(t, 3000); i++) {
        sl_token ids[SL_TOKEN_MAX];
        int n;
        const int variables = 1 + pick(&t->rng, 3);
        sl_token_random(ids, &n, &t->rng, variables,
                        2 + pick(&t->rng, pick(&t->rng, 2) ? 20 : 255));
        SL_CHECK(t, check_twin(t, ids, n, variables), "a walk along the masks is no form");
        for (int k = 0; k < 4 && n > 1; k++) {
            mutate(ids, &n, &t->rng);
            const bool form = check_twin(t, ids, n, variables);
            forms += form;
            others += !form;
        }
    }
    print_message("mutated: %d forms, %d others\n", forms, others);
    SL_CHECK(t, forms > 100 && others > 100, "the mutations show one side only");
}

/* All short sequences: every one of up to 5 tokens, by one token of each class. */
static void short_sequences_are_the_documents(void **state) {
    sl_fixture *t = *state;
    static const char *const some[] = { "x_1", "0", "2", "+",      "-",      "\\cdot", "^", "{",
                                        "}",   "(", ")", "\\frac", "\\sqrt", "\\sin",  "e" };
    enum { K = SL_LEN(some) };
    sl_token of[SL_LEN(some)], ids[6];
    int forms = 0;
    for (int i = 0; i < K; i++) of[i] = (sl_token)sl_token_find(some[i], strlen(some[i]));
    for (int n = 0; n <= 4; n++) {
        int count = 1;
        for (int i = 0; i < n; i++) count *= K;
        for (int code = 0; code < count; code++) {
            for (int i = 0, c = code; i < n; i++, c /= K) ids[i] = of[c % K];
            ids[n] = SL_TOKEN_END;
            forms += check_twin(t, ids, n + 1, 1);
        }
    }
    print_message("%d forms of up to 4 tokens\n", forms);
    SL_CHECK(t, forms > 0, "no form");
}

/* ---------------------------------------------------------------- the masks ----------------- */

/* A real expression's tokens, or a walk. */
static void some_form(sl_fixture *t, sl_token *ids, int *n, int variables) {
    if (pick(&t->rng, 2)) {
        sl_token_random(ids, n, &t->rng, variables, 2 + pick(&t->rng, SL_TOKEN_MAX - 1));
        return;
    }
    const sl_expr_random_options o = { 1 + pick(&t->rng, 4), variables, 9, 0.1, 0, false };
    const sl_node *e;
    sl_str s = { 0 };
    const size_t mark = sl_arena_mark(&t->arena);
    SL_MUST(t, sl_expr_random(&e, &t->arena, &t->rng, &o));
    sl_status st = sl_expr_tidy(&e, &t->arena, e);
    if (st == SL_OK) st = sl_token_from_expr(ids, n, SL_TOKEN_MAX, e, &s);
    sl_str_clear(&s);
    sl_arena_rewind(&t->arena, mark);
    if (st != SL_OK) sl_token_random(ids, n, &t->rng, variables, SL_TOKEN_MAX); // too long
}

/* Completes a prefix by tokens that each bring the end one nearer. */
static void complete(sl_fixture *t, sl_token *ids, int *n, sl_token_state s) {
    while (s.top > 0) {
        const int need = s.need, from = pick(&t->rng, SL_TOKEN_COUNT);
        int k = 0;
        for (; k < SL_TOKEN_COUNT; k++) {
            sl_token_state after = s;
            const int id = (from + k) % SL_TOKEN_COUNT;
            if (sl_token_push(&after, id) != SL_TOKEN_FINE || after.need != need - 1) continue;
            s = after;
            ids[(*n)++] = (sl_token)id;
            break;
        }
        SL_CHECK(t, k < SL_TOKEN_COUNT, "no token brings \"%s\" nearer to its end", spell(ids, *n));
    }
}

/* No sequence of fewer than `less` tokens completes the prefix; one token of each class is tried,
 * which is enough, since tokens of a class are alike to the grammar. */
static bool can_end_within(const sl_token_state *s, int less) {
    static const sl_token of_class[] = {
        SL_TOKEN__0,           SL_TOKEN__1,     SL_TOKEN__PLUS,       SL_TOKEN__MINUS,
        SL_TOKEN__CDOT,        SL_TOKEN__POWER, SL_TOKEN__OPEN_BRACE, SL_TOKEN__OPEN,
        SL_TOKEN__CLOSE_BRACE, SL_TOKEN__CLOSE, SL_TOKEN__FRAC,       SL_TOKEN__SQRT,
        SL_TOKEN__SIN,         SL_TOKEN__E,     SL_TOKEN__X_1,        SL_TOKEN__END
    };
    if (s->top == 0) return true;
    for (int i = 0; less > 0 && i < SL_LEN(of_class); i++) {
        sl_token_state after = *s;
        if (sl_token_push(&after, of_class[i]) == SL_TOKEN_FINE && can_end_within(&after, less - 1))
            return true;
    }
    return false;
}

typedef struct counts {
    int64_t allowed, forbidden, short_of_room, values;
} counts;

/* prefix, token, and the shortest rest. */
static void check_allowed(sl_fixture *t, const sl_token *form, int cut, int id,
                          const sl_token_state *after, counts *c) {
    sl_token ids[SL_TOKEN_MAX + SL_TOKEN_STACK];
    int total = cut;
    memcpy(ids, form, (size_t)cut);
    ids[total++] = (sl_token)id;
    complete(t, ids, &total, *after);
    SL_CHECK(t, total == cut + 1 + after->need, "\"%s\" was to be complete in %d",
             spell(ids, total), after->need);
    if (total > SL_TOKEN_MAX) return; // longer than what is read
    const sl_node *e;
    sl_token_reason reason;
    int at;
    const size_t mark = sl_arena_mark(&t->arena);
    SL_MUST(t, sl_token_to_expr(&e, &reason, &at, &t->arena, ids, total, after->variables));
    sl_arena_rewind(&t->arena, mark);
    SL_CHECK(t, is_form(reason), "\"%s\" was allowed and is %s at %d", spell(ids, total),
             sl_token_reason_name(reason), at);
    c->values += reason != SL_TOKEN_FINE;
}

/* prefix, token, then what followed the prefix, then whatever completes: none is a form. */
static void check_forbidden(sl_fixture *t, const sl_token *form, int n, int cut, int id,
                            int variables) {
    static const char *const rests[] = { "", "x_1", "1", "}", ")", "(x_1)", "{x_1}", "^{2}" };
    for (int k = 0; k <= SL_LEN(rests); k++) {
        sl_token ids[SL_TOKEN_MAX + 16];
        int total = cut;
        memcpy(ids, form, (size_t)cut);
        ids[total++] = (sl_token)id;
        if (k == SL_LEN(rests)) {
            memcpy(ids + total, form + cut, (size_t)(n - cut));
            total += n - cut;
        } else {
            int rest;
            SL_MUST(t, sl_token_from_latex(ids + total, &rest, 16, rests[k], strlen(rests[k])));
            total += rest;
        }
        const sl_node *e;
        sl_token_reason reason;
        int at;
        SL_MUST(t, sl_token_to_expr(&e, &reason, &at, &t->arena, ids, total, variables));
        SL_CHECK(t, !e && !is_form(reason) && at == cut,
                 "token %d of \"%s\" was forbidden, is %s at %d", cut, spell(ids, total),
                 sl_token_reason_name(reason), at);
    }
}

static void the_tokens_that_may_follow_are_exact(void **state) {
    sl_fixture *t = *state;
    counts c = { 0 };
    for (int i = 0; i < sl_test_iters(t, 10000); i++) {
        sl_token ids[SL_TOKEN_MAX];
        int n;
        const int variables = 1 + pick(&t->rng, 3);
        sl_token_state s;
        some_form(t, ids, &n, variables);
        const int cut = pick(&t->rng, n); // of the whole only the end token would be left
        sl_token_begin(&s, variables);
        for (int k = 0; k < cut; k++)
            SL_CHECK(t, sl_token_push(&s, ids[k]) == SL_TOKEN_FINE, "%d", k);
        const int room = pick(&t->rng, 2) ? s.need - 1 + pick(&t->rng, 12) : SL_TOKEN_MAX;
        sl_token_set next;
        sl_token_next(&next, &s, room);
        SL_CHECK(t, (next.bits[0] | next.bits[1]) || room < s.need, "nothing may follow \"%s\"",
                 spell(ids, cut));
        SL_CHECK(t, next.bits[1] >> (SL_TOKEN_COUNT - 64) == 0, "a bit without a token");
        if (s.need <= 3 && pick(&t->rng, 100) == 0)
            SL_CHECK(t, can_end_within(&s, s.need) && !can_end_within(&s, s.need - 1),
                     "\"%s\" does not need %d", spell(ids, cut), s.need);
        for (int id = 0; id < SL_TOKEN_COUNT; id++) {
            sl_token_state after = s;
            const bool taken = sl_token_push(&after, id) == SL_TOKEN_FINE;
            const bool fits = taken && after.need + 1 <= room;
            SL_CHECK(t, sl_token_in(&next, id) == fits, "\"%s\" then %s in %d: %s", spell(ids, cut),
                     sl_token_text(id), room, fits ? "forbidden" : "allowed");
            SL_CHECK(t, taken || memcmp(&after, &s, sizeof s) == 0,
                     "a refused token changes things");
            if (pick(&t->rng, 32) == 0) { // the proof, for some
                if (taken)
                    check_allowed(t, ids, cut, id, &after, &c);
                else
                    check_forbidden(t, ids, n, cut, id, variables);
            }
            c.allowed += fits;
            c.forbidden += !taken;
            c.short_of_room += taken && !fits;
        }
    }
    print_message(
        "%lld allowed, %lld forbidden, %lld of them for lack of room; %lld of bad value\n",
        (long long)c.allowed, (long long)(c.forbidden + c.short_of_room),
        (long long)c.short_of_room, (long long)c.values);
    SL_CHECK(t, c.short_of_room > 0 && c.values > 0, "a case was never met");
}

/* ---------------------------------------------------------------- limits -------------------- */

/* Opens brackets by repeating `text` until no more fit, and closes them again. */
static void deepest(sl_fixture *t, const char *text, int each, bool at_first) {
    sl_token ids[64];
    int n;
    SL_MUST(t, sl_token_from_latex(ids, &n, 64, text, strlen(text)));
    n--; // the end token
    sl_token_state s;
    sl_token_begin(&s, 3);
    int k = 0;
    sl_token_reason reason = SL_TOKEN_FINE;
    while (reason == SL_TOKEN_FINE) reason = sl_token_push(&s, ids[k++ % n]);
    k--;
    SL_CHECK(t, reason == SL_TOKEN_DEEP && s.depth == SL_TOKEN_MAX_DEPTH,
             "%s ends at depth %d as %s", text, s.depth, sl_token_reason_name(reason));
    SL_CHECK(t, k / n == SL_TOKEN_MAX_DEPTH / each, "%s fits %d times", text, k / n);
    SL_CHECK(t, !at_first || k % n == 0, "%s fails inside", text);
    sl_token rest[SL_TOKEN_STACK];
    int more = 0;
    complete(t, rest, &more, s);
}

static void nesting_has_a_limit(void **state) {
    sl_fixture *t = *state;
    deepest(t, "(", 1, true);
    deepest(t, "\\sin(", 1, true);
    deepest(t, "\\sqrt{", 1, true);
    deepest(t, "e^{", 1, true);
    deepest(t, "\\frac{", 1, true);
    deepest(t, "\\frac{1}{", 1, true);
    // what keeps most symbols waiting
    deepest(t, "1 - x_1 \\sin(", 1, false);
    deepest(t, "-x_1 \\sqrt{", 1, false);
    deepest(t, "1 - 2 \\cdot e^{", 1, false);
    deepest(t, "x_1 - x_2 \\frac{", 1, false);
    deepest(t, "(x_1 - 2 \\sin(", 2, true);
}

/* Brackets side by side are not in each other: 100 of each kind. */
static void closed_brackets_do_not_count(void **state) {
    sl_fixture *t = *state;
    static const char *const pieces[] = { "(x_1)",     "x_1^{2}",           "\\sin(x_1)",
                                          "e^{x_1}",   "\\sqrt{x_1}",       "\\frac{x_1}{x_2}",
                                          "(1)^{-2} ", "x_1^{\\frac{1}{2}}" };
    for (int i = 0; i < SL_LEN(pieces); i++) {
        sl_token ids[2000];
        int n;
        char text[4000] = "";
        sl_token_state s;
        for (int k = 0; k < 100; k++) strcat(text, pieces[i]);
        SL_MUST(t, sl_token_from_latex(ids, &n, SL_LEN(ids), text, strlen(text)));
        sl_token_begin(&s, 3);
        for (int k = 0; k < n; k++) {
            const sl_token_reason r = sl_token_push(&s, ids[k]);
            SL_CHECK(t, r == SL_TOKEN_FINE, "%s: %s at %d", pieces[i], sl_token_reason_name(r), k);
        }
        SL_CHECK(t, s.top == 0 && s.depth == 0 && s.need == 0, "%s: not at the end", pieces[i]);
    }
}

static void exponents_count_as_nesting(void **state) {
    sl_fixture *t = *state;
    sl_token_state s;
    sl_token_begin(&s, 1);
    for (int i = 0; i < SL_TOKEN_MAX_DEPTH - 1; i++)
        SL_CHECK(t, sl_token_push(&s, SL_TOKEN__OPEN) == SL_TOKEN_FINE, "bracket %d", i);
    SL_CHECK(t, sl_token_push(&s, SL_TOKEN__X_1) == SL_TOKEN_FINE, "x_1");
    SL_CHECK(t, sl_token_push(&s, SL_TOKEN__POWER) == SL_TOKEN_FINE, "^");
    SL_CHECK(t, sl_token_push(&s, SL_TOKEN__OPEN_BRACE) == SL_TOKEN_FINE, "{");
    SL_CHECK(t, sl_token_push(&s, SL_TOKEN__FRAC) == SL_TOKEN_DEEP, "\\frac in the last exponent");
    sl_token_set next;
    sl_token_next(&next, &s, SL_TOKEN_MAX);
    SL_CHECK(t, !sl_token_in(&next, SL_TOKEN__FRAC) && sl_token_in(&next, SL_TOKEN__2), "the set");
    sl_token rest[SL_TOKEN_STACK];
    int n = 0;
    complete(t, rest, &n, s);
}

static void numbers_have_18_digits_at_most(void **state) {
    sl_fixture *t = *state;
    sl_token_state s;
    sl_token_set next;
    sl_token_begin(&s, 1);
    for (int round = 0; round < 2; round++) { // the second number counts anew
        for (int i = 0; i < 18; i++) {
            sl_token_next(&next, &s, SL_TOKEN_MAX);
            SL_CHECK(t, sl_token_in(&next, SL_TOKEN__9), "digit %d", i);
            SL_CHECK(t, sl_token_push(&s, SL_TOKEN__9) == SL_TOKEN_FINE, "digit %d", i);
        }
        for (int d = 0; d < 10; d++)
            SL_CHECK(t, sl_token_push(&s, SL_TOKEN__0 + d) == SL_TOKEN_NUMBER, "digit 19");
        sl_token_next(&next, &s, SL_TOKEN_MAX);
        SL_CHECK(t,
                 !sl_token_in(&next, SL_TOKEN__0) && !sl_token_in(&next, SL_TOKEN__9) &&
                     sl_token_in(&next, SL_TOKEN__CDOT),
                 "the set");
        SL_CHECK(t, sl_token_push(&s, SL_TOKEN__CDOT) == SL_TOKEN_FINE, "a product");
    }
    SL_CHECK(t, sl_token_push(&s, SL_TOKEN__0) == SL_TOKEN_FINE, "0");
    SL_CHECK(t, sl_token_push(&s, SL_TOKEN__0) == SL_TOKEN_SYNTAX, "00");
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(the_table_is_ll1),
        SL_TEST(the_language_is_the_documents),
        SL_TEST(short_sequences_are_the_documents),
        SL_TEST(the_tokens_that_may_follow_are_exact),
        SL_TEST(nesting_has_a_limit),
        SL_TEST(closed_brackets_do_not_count),
        SL_TEST(exponents_count_as_nesting),
        SL_TEST(numbers_have_18_digits_at_most),
    };
    return sl_test_main("token.grammar", tests, SL_LEN(tests));
}

/* Text is as good as the expression: what is written in any format that reads back is read as the
 * same bytes, for all of depth 2, for random candidates of depth 3, and with numbers inserted. */
#include "universe/universe.h"

#include "expr/expr_test.h"
#include "fixture/fixture.h"

static const sl_format reads_with[] = {
#define X(id, name, reads) SL_FORMAT_##reads,
    SL_FORMATS(X)
#undef X
};

/* e is tidy. */
static void goes_round(sl_fixture *t, const sl_node *e, sl_format format) {
    sl_str first = { 0 }, second = { 0 };
    char text[2000];
    const sl_node *back;
    SL_MUST(t, sl_expr_print(&first, format, e, NULL));
    snprintf(text, sizeof text, "%s", sl_str_text(&first));
    sl_status st =
        sl_expr_parse(&back, &t->arena, reads_with[format], first.text, first.len, NULL, NULL);
    if (st == SL_OK) st = sl_expr_print(&second, format, back, NULL);
    bool same_text = st == SL_OK && strcmp(sl_str_text(&first), sl_str_text(&second)) == 0;
    sl_str_clear(&first);
    sl_str_clear(&second);
    SL_CHECK(t, st == SL_OK, "%s cannot be read back: %s\n%s", sl_expr_format_name(format), text,
             sl_last_error());
    SL_CHECK(t, sl_expr_equal(back, e), "%s is read as something else: %s",
             sl_expr_format_name(format), text);
    SL_CHECK(t, same_text, "%s is written otherwise the second time: %s",
             sl_expr_format_name(format), text);
}

static void all_formats(sl_fixture *t, const sl_node *e) {
    for (sl_format f = 0; f < SL_FORMAT_COUNT; f++)
        if (reads_with[f] != SL_FORMAT_COUNT) goes_round(t, e, f);
}

/* e with numbers put in, in one format: the next that reads back, so that all have their turn. */
static void numbered(sl_fixture *t, const sl_node *e, int64_t turn) {
    const sl_node *n;
    sl_format f = (sl_format)(turn % SL_FORMAT_COUNT);
    if (reads_with[f] == SL_FORMAT_COUNT) f = SL_FORMAT_INFIX;
    SL_MUST(t, sl_expr_insert_numbers(&n, &t->arena, &t->rng, e, 0.3, 1000));
    SL_MUST(t, sl_expr_tidy(&n, &t->arena, n));
    goes_round(t, n, f);
}

static sl_universe *depth_two(sl_fixture *t) {
    sl_universe *u;
    sl_universe_options o = SL_UNIVERSE_OPTIONS_INIT;
    o.depth = 2;
    o.size = 0;
    SL_MUST(t, sl_universe_new(&u, NULL, &o, NULL));
    return u;
}

static void depth_two_goes_round(void **state) {
    sl_fixture *t = *state;
    sl_universe *u = depth_two(t);
    for (int64_t i = 0; i < sl_universe_size(u); i++) {
        sl_arena_rewind(&t->arena, 0);
        all_formats(t, sl_universe_get(u, i));
        for (int k = 0; k < SL_FORMAT_COUNT; k++) numbered(t, sl_universe_get(u, i), k);
    }
    sl_universe_free(u);
}

static void random_expressions_of_depth_three_go_round(void **state) {
    sl_fixture *t = *state;
    sl_universe *u = depth_two(t);
    uint32_t size = (uint32_t)sl_universe_size(u);
    for (int i = 0; i < sl_test_iters(t, 20000); i++) {
        const sl_node *p = sl_universe_get(u, sl_rng_below(&t->rng, size)), *e;
        const sl_node *q = sl_universe_get(u, sl_rng_below(&t->rng, size));
        sl_arena_rewind(&t->arena, 0);
        sl_operator o = (sl_operator)sl_rng_below(&t->rng, SL_OPERATOR_DIV + 1);
        SL_MUST(t, sl_expr_canon_apply(&e, &t->arena, o, p, q));
        if (sl_expr_is_undefined(e)) continue;
        all_formats(t, e);
        numbered(t, e, i);
    }
    sl_universe_free(u);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(depth_two_goes_round),
        SL_TEST(random_expressions_of_depth_three_go_round),
    };
    return sl_test_main("universe.roundtrip", tests, SL_LEN(tests));
}

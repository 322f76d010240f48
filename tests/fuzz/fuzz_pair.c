/* Any bytes as a line that holds a pair. If they are one, its numbers are finite and as many as it
 * says, and what is written from it reads back the same; if not, there is a reason and nothing else
 * has changed. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/io.h"
#include "pairs/pairs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

_Noreturn static void wrong(const char *what) {
    fprintf(stderr, "%s: %s\n", what, sl_last_error());
    abort();
}

static void add_list(sl_str *s, const char *name, const double *v, int64_t n) {
    sl_io_json_open(s, name, '[');
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(v[i])) wrong("not finite");
        sl_io_json_add_real(s, NULL, v[i]);
    }
    sl_io_json_close(s, ']');
}

static void write_pair(sl_str *s, const sl_pair_input *g) {
    sl_io_json_open(s, NULL, '{');
    sl_io_json_add_text(s, "id", g->id);
    if (g->expr) {
        sl_str expr = { 0 };
        if (!sl_expr_valid(g->expr, g->expr->len)) wrong("no valid expression");
        if (sl_expr_max_var(g->expr) > g->data.inputs || sl_expr_max_par(g->expr) > 0)
            wrong("an expression of something else");
        if (sl_expr_print(&expr, SL_FORMAT_INFIX, g->expr, NULL) != SL_OK) wrong("not printed");
        sl_io_json_add_text(s, "expr", sl_str_text(&expr));
        sl_str_clear(&expr);
    }
    sl_io_json_open(s, "x", '[');
    for (int i = 0; i < g->data.inputs; i++) add_list(s, NULL, g->data.x[i], g->data.rows);
    sl_io_json_close(s, ']');
    add_list(s, "y", g->data.y, g->data.rows);
    sl_io_json_close(s, '}');
    if (sl_str_status(s) != SL_OK) wrong("not written");
}

static void round_trip(sl_arena *a, const sl_pair_input *g, int variables) {
    sl_str s = { 0 };
    sl_pair_input back;
    write_pair(&s, g);
    if (sl_pairs_read(&back, a, s.text, s.len, variables) != SL_OK) wrong("not read back");
    const size_t bytes = (size_t)g->data.rows * sizeof(double);
    bool same = back.data.inputs == g->data.inputs && back.data.rows == g->data.rows &&
                strcmp(back.id, g->id) == 0 && memcmp(back.data.y, g->data.y, bytes) == 0 &&
                !back.expr == !g->expr && (!g->expr || sl_expr_equal(back.expr, g->expr));
    for (int i = 0; i < g->data.inputs && same; i++)
        same = memcmp(back.data.x[i], g->data.x[i], bytes) == 0;
    if (!same) wrong("reads back as something else");
    sl_str_clear(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    for (int variables = 1; variables <= SL_UNIVERSE_MAX_VARS; variables++) {
        sl_arena a = { 0 };
        sl_pair_input g = { .data.rows = -1 };
        sl_fail_restore("");
        sl_status st = sl_pairs_read(&g, &a, (const char *)data, size, variables);
        if (st != SL_OK) {
            if (st != SL_EFORMAT && st != SL_ELIMIT) wrong("another status");
            if (!*sl_last_error() || g.data.rows != -1 || sl_arena_mark(&a) != 0)
                wrong("a failure without its due");
        } else {
            if (g.data.inputs < 1 || g.data.inputs > variables || g.data.rows < 2) wrong("no data");
            round_trip(&a, &g, variables);
        }
        sl_arena_clear(&a);
    }
    return 0;
}

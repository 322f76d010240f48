/* What the fuzz targets of expression text share. Any bytes may be given. If they are an
 * expression, it is valid and tidy, prints in every format, and every format that reads back gives
 * the same bytes. */
#ifndef SL_FUZZ_TEXT_H
#define SL_FUZZ_TEXT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expr/expr.h"

#define X(id, name, reads) [SL_FORMAT_##id] = SL_FORMAT_##reads,
static const sl_format fuzz_reader_of[SL_FORMAT_COUNT] = { SL_FORMATS(X) };
#undef X

/* Names that collide with everything, beside none at all. */
static const char *const fuzz_given[] = { "x2", "c1", "e", "my `col`\\^{}", "exp", "m", "x_1", "" };

_Noreturn static void fuzz_wrong(const char *what, const char *text) {
    fprintf(stderr, "%s: %s\n%s\n", what, text, sl_last_error());
    abort();
}

static void fuzz_round_trip(sl_arena *a, const sl_node *e, const sl_names *names) {
    for (int f = 0; f < SL_FORMAT_COUNT; f++) {
        sl_str s = { 0 };
        if (sl_expr_print(&s, (sl_format)f, e, names) != SL_OK) fuzz_wrong("not printed", "");
        size_t mark = sl_arena_mark(a);
        const sl_node *back;
        if (fuzz_reader_of[f] != SL_FORMAT_COUNT) {
            if (sl_expr_parse(&back, a, (sl_format)f, s.text, s.len, names, NULL) != SL_OK)
                fuzz_wrong("not read back", s.text);
            if (!sl_expr_equal(back, e)) fuzz_wrong("reads back as something else", s.text);
        }
        sl_arena_rewind(a, mark);
        sl_str_clear(&s);
    }
}

static void fuzz_text(sl_format format, const uint8_t *data, size_t size) {
    for (int with_names = 0; with_names < 2; with_names++) {
        const sl_names names = { fuzz_given, SL_LEN(fuzz_given) };
        const sl_names *given = with_names ? &names : NULL;
        sl_arena a = { 0 };
        const sl_node *e = NULL, *tidy;
        sl_text_error error = { .offset = SIZE_MAX };
        sl_status st = sl_expr_parse(&e, &a, format, (const char *)data, size, given, &error);
        if (st != SL_OK) {
            bool placed = error.offset <= size && error.line > 0 && error.column > 0 &&
                        error.reason[0] && memchr(error.reason, 0, sizeof error.reason);
            if (e || sl_arena_mark(&a) != 0 || !placed) fuzz_wrong("a failure without its due", "");
        } else {
            if (!sl_expr_valid(e, e->len)) fuzz_wrong("no valid expression", "");
            if (sl_expr_tidy(&tidy, &a, e) != SL_OK || !sl_expr_equal(tidy, e))
                fuzz_wrong("not tidy", "");
            fuzz_round_trip(&a, e, given);
        }
        sl_arena_clear(&a);
    }
}

#endif

/* lines - problems that others made: pairs as JSON lines, read once and held. */
#include <stdlib.h>
#include <string.h>

#include "eval/eval_impl.h"

enum { LINE_BYTES_MAX = 64000000 };

typedef struct reader {
    const char *name; // of the file, in messages
    sl_lines *lines;
    sl_eval__held *held;
    int64_t *line; // of each problem
    int64_t room;
    int variables;
} reader;

static bool is_blank(const char *line, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (line[i] != ' ' && line[i] != '\t' && line[i] != '\r') return false;
    return true;
}

/* The reason stands already; the place goes before it. */
static sl_status placed(const reader *r, sl_status st) {
    if (st != SL_EFORMAT && st != SL_ELIMIT) return st;
    return sl_fail(st, "%s:%lld: %s", r->name, (long long)sl_io_lines_number(r->lines),
                   sl_last_error());
}

static sl_status note_line(reader *r) {
    const int64_t count = r->held->count;
    SL_TRY(sl_grow(&r->line, &r->room, count, sizeof *r->line, "problems"));
    r->line[count] = sl_io_lines_number(r->lines);
    return SL_OK;
}

static sl_status read_line(reader *r, const char *line, size_t n) {
    sl_arena *a = &r->held->arena;
    sl_pair_input g;
    SL_TRY(placed(r, sl_pairs_read(&g, a, line, n, r->variables)));
    sl_eval_problem p = { .id = g.id, .id_whole = g.id_whole, .truth = g.expr, .depth = -1 };
    if (!*g.id) {
        char id[32];
        sl_snprintf(id, sizeof id, "%lld", (long long)sl_io_lines_number(r->lines));
        SL_TRY(sl_eval__text(&p.id, a, id));
        p.id_whole = true;
    }
    p.data = g.data;
    p.fresh = (sl_dataset){ .inputs = g.data.inputs };
    if (g.expr) SL_TRY(sl_eval__around(&p.fresh, a, g.expr, &p.data));
    SL_TRY(note_line(r));
    return sl_eval__held_add(r->held, &p);
}

static sl_status read_lines(reader *r, int64_t limit) {
    while (limit <= 0 || r->held->count < limit) {
        const char *line;
        size_t n;
        SL_TRY(sl_io_lines_next(&line, &n, r->lines));
        if (!line) break;
        if (!is_blank(line, n)) SL_TRY(read_line(r, line, n));
    }
    if (r->held->count == 0) return sl_fail(SL_EFORMAT, "%s: there are no pairs in it", r->name);
    return SL_OK;
}

typedef struct named {
    const char *id;
    int64_t line;
} named;

static int by_id(const void *pa, const void *pb) {
    const named *a = pa, *b = pb;
    const int c = strcmp(a->id, b->id);
    return c ? c : (a->line > b->line) - (a->line < b->line);
}

/* Answers are distinguished by their ids. */
static sl_status check_ids(const reader *r) {
    const int64_t n = r->held->count;
    named *list = sl_malloc((size_t)n, sizeof *list);
    if (!list) return sl_fail_memory((size_t)n, sizeof *list, "ids");
    for (int64_t i = 0; i < n; i++) list[i] = (named){ r->held->problem[i].id, r->line[i] };
    qsort(list, (size_t)n, sizeof *list, by_id);
    sl_status st = SL_OK;
    for (int64_t i = 1; i < n && st == SL_OK; i++)
        if (strcmp(list[i - 1].id, list[i].id) == 0)
            st = sl_fail(SL_EFORMAT, "%s:%lld: the id \"%.80s\" is that of line %lld too", r->name,
                         (long long)list[i].line, list[i].id, (long long)list[i - 1].line);
    sl_free(list);
    return st;
}

sl_status sl_eval_from_lines(sl_eval_source *out, const char *path, int variables, int64_t limit) {
    sl_status st;
    reader r = { .name = strcmp(path, "-") == 0 ? "standard input" : path, .variables = variables };
    SL_GO(sl_eval__held_new(&r.held));
    SL_GO(sl_io_lines_open(&r.lines, path, LINE_BYTES_MAX));
    SL_GO(read_lines(&r, limit));
    SL_GO(check_ids(&r));
    SL_GO(sl_eval__held_source(out, r.held, r.name));
    r.held = NULL;
done:
    sl_eval__held_free(r.held);
    sl_io_lines_close(r.lines);
    sl_free(r.line);
    return st;
}

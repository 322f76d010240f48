/* study_problems - a few test problems that the study's best model solved, and a few that it
 * missed, with their data and what was found: for the report. */
#include <math.h>
#include <string.h>

#include "report/report_impl.h"

enum { SHOWN = 3, LINE_BYTES = 1 << 20 }; // of each kind; of a journal

/* ---------------------------------------------------------------- judgements ---------------- */

typedef struct found {
    bool there, solved;
    double r2;
    const char *expr; // Python syntax
} found;

/* Judgements of the first sampling seed. */
static sl_status take_judgement(found *to, sl_arena *a, const sl_json *j) {
    if (sl_io_json_kind_of(j) != SL_JSON_OBJECT || sl_io_json_get_int(j, "seed", -1) != 0)
        return SL_OK;
    const int64_t i = sl_io_json_get_int(j, "problem", -1);
    const sl_verdict v = sl_eval_verdict_find(sl_io_json_get_text(j, "verdict", ""));
    const char *expr = sl_io_json_get_text(j, "expr", "");
    if (i < 0 || i >= SL_REPORT_PROBLEMS || v == SL_VERDICT_COUNT || !*expr) return SL_OK;
    const char *copy = sl_arena_text(a, expr, strlen(expr));
    if (!copy) return sl_fail_memory(strlen(expr) + 1, 1, "the report");
    to[i] = (found){ .there = true,
                     .solved = v == SL_VERDICT_SOLVED || v == SL_VERDICT_EQUAL,
                     .r2 = sl_io_json_get_real(j, "r2", NAN),
                     .expr = copy };
    return SL_OK;
}

/* A journal that cannot be read, or a line of it, leaves problems out and is no failure. */
static sl_status read_judgements(found *to, sl_arena *a, const char *path) {
    sl_lines *lines = NULL;
    const char *line;
    size_t n;
    sl_status st = sl_io_lines_open_own(&lines, path, LINE_BYTES);
    while (st == SL_OK) {
        sl_json *j = NULL;
        st = sl_io_lines_next(&line, &n, lines);
        if (st != SL_OK || !line) break;
        st = sl_io_json_parse_line(&j, line, n);
        if (st == SL_OK) st = take_judgement(to, a, j);
        sl_io_json_free(j);
    }
    sl_io_lines_close(lines);
    return st == SL_ENOMEM ? st : SL_OK;
}

/* ---------------------------------------------------------------- one problem --------------- */

static sl_status print(const char **out, sl_arena *a, sl_format format, const sl_node *e) {
    sl_str s = { 0 };
    sl_status st = sl_expr_print(&s, format, e, &(sl_names){ 0 });
    if (st == SL_OK) st = sl_str_status(&s);
    if (st == SL_OK) {
        *out = sl_arena_text(a, sl_str_text(&s), s.len);
        if (!*out) st = sl_fail_memory(s.len + 1, 1, "the report");
    }
    sl_str_clear(&s);
    return st;
}

/* A printed expression reads back; a text that does not is shown unmodified. */
static sl_status add_found(sl_report_problem *to, sl_arena *a, const found *f) {
    const sl_node *e = NULL;
    sl_text_error error;
    to->found = f->expr;
    const sl_status st = sl_expr_parse(&e, a, SL_FORMAT_PYTHON, f->expr, strlen(f->expr),
                                       &(sl_names){ .count = to->data.inputs }, &error);
    if (st != SL_OK) return st == SL_ENOMEM ? st : SL_OK;
    SL_TRY(print(&to->found, a, SL_FORMAT_INFIX, e));
    SL_TRY(print(&to->found_mathml, a, SL_FORMAT_MATHML, e));
    double *y = sl_arena_alloc(a, (size_t)to->data.rows * sizeof *y);
    if (!y) return sl_fail_memory((size_t)to->data.rows, sizeof *y, "the report");
    SL_TRY(sl_expr_eval(y, a, e, to->data.x, to->data.rows, NULL));
    to->predicted = y;
    return SL_OK;
}

static sl_status add_problem(sl_report_problem *to, sl_arena *a, const sl_eval_problem *p,
                             const found *f) {
    *to = (sl_report_problem){ .solved = f->solved, .data = p->data, .r2 = f->r2 };
    SL_TRY(print(&to->truth, a, SL_FORMAT_INFIX, p->truth));
    SL_TRY(print(&to->truth_mathml, a, SL_FORMAT_MATHML, p->truth));
    return add_found(to, a, f);
}

/* ---------------------------------------------------------------- which --------------------- */

/* The longest truths among the solved, the first among the missed. */
static sl_status choose(sl_report_problem *to, int *n, sl_arena *a, const sl_eval_source *source,
                        const found *f, bool solved) {
    int64_t best[SHOWN];
    uint32_t length[SHOWN] = { 0 };
    int chosen = 0;
    for (int64_t i = 0; i < source->count && i < SL_REPORT_PROBLEMS; i++) {
        sl_eval_problem p;
        if (!f[i].there || f[i].solved != solved) continue;
        const size_t mark = sl_arena_mark(a);
        SL_TRY(source->get(&p, a, i, source));
        const uint32_t len = p.truth ? p.truth->len : 0;
        sl_arena_rewind(a, mark);
        if (len == 0) continue;
        if (chosen < SHOWN) {
            best[chosen] = i;
            length[chosen++] = len;
        } else if (solved) {
            int least = 0;
            for (int k = 1; k < SHOWN; k++)
                if (length[k] < length[least]) least = k;
            if (len > length[least]) {
                best[least] = i;
                length[least] = len;
            }
        }
    }
    for (int k = 0; k < chosen; k++) {
        sl_eval_problem p;
        SL_TRY(source->get(&p, a, best[k], source));
        SL_TRY(add_problem(&to[(*n)++], a, &p, &f[best[k]]));
    }
    return SL_OK;
}

sl_status sl_report_study_problems(sl_report_input *out, sl_arena *a, const sl_eval_source *source,
                                   const char *judgements) {
    sl_report_problem *to = sl_arena_alloc(a, 2 * SHOWN * sizeof *to);
    found *f = sl_arena_alloc(a, SL_REPORT_PROBLEMS * sizeof *f);
    int n = 0;
    if (!to || !f) return sl_fail(SL_ENOMEM, "no memory for the report");
    memset(f, 0, SL_REPORT_PROBLEMS * sizeof *f);
    SL_TRY(read_judgements(f, a, judgements));
    SL_TRY(choose(to, &n, a, source, f, true));
    SL_TRY(choose(to, &n, a, source, f, false));
    out->problems = to;
    out->n_problems = n;
    return SL_OK;
}

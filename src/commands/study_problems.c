/* study_problems - a few test problems that the study's best model solved, and a few that it
 * missed, with their data and what was found: for the report. */
#include <math.h>
#include <string.h>

#include "commands/study_impl.h"

enum { SHOWN = 3, LOOKED_AT = 200, LINE_BYTES = 1 << 20 }; // of each kind; problems; of a journal

/* ---------------------------------------------------------------- the best run -------------- */

int sl_commands__study_best(const sl_study *s) {
    int best = -1;
    for (int r = 0; r < s->runs; r++) {
        const sl_study_run *run = &s->run[r];
        if (!run->scale || !run->trained || !run->result.checkpoint ||
            isnan(run->result.loss_valid))
            continue;
        if (best < 0 || run->result.loss_valid < s->run[best].result.loss_valid) best = r;
    }
    return best;
}

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
    if (i < 0 || i >= LOOKED_AT || v == SL_VERDICT_COUNT || !*expr) return SL_OK;
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

/* An expression of ours reads back; what does not is shown as text. */
static sl_status add_found(sl_report_problem *to, sl_arena *a, const found *f) {
    const sl_node *e = NULL;
    sl_text_error error;
    to->found = f->expr;
    const sl_status st = sl_expr_parse(&e, a, SL_FORMAT_PYTHON, f->expr, strlen(f->expr),
                                       &(sl_names){ .count = to->inputs }, &error);
    if (st != SL_OK) return st == SL_ENOMEM ? st : SL_OK;
    SL_TRY(print(&to->found, a, SL_FORMAT_INFIX, e));
    SL_TRY(print(&to->found_mathml, a, SL_FORMAT_MATHML, e));
    double *y = sl_arena_alloc(a, (size_t)to->n * sizeof *y);
    if (!y) return sl_fail_memory((size_t)to->n, sizeof *y, "the report");
    SL_TRY(sl_expr_eval(y, a, e, to->x, to->n, NULL));
    to->predicted = y;
    return SL_OK;
}

static sl_status add_problem(sl_report_problem *to, sl_arena *a, const sl_eval_problem *p,
                             const found *f) {
    *to = (sl_report_problem){ .solved = f->solved,
                               .inputs = p->data.inputs,
                               .n = p->data.rows,
                               .x = p->data.x,
                               .y = p->data.y,
                               .r2 = f->r2 };
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
    for (int64_t i = 0; i < source->count && i < LOOKED_AT; i++) {
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

/* The test problems of a model, as the command eval opens them. */
static sl_status open_problems(sl_commands__problems *out, sl_infer **model,
                               const sl_commands__study_context *s, const char *folder) {
    static const char options[] = "{\"split\":\"test\",\"limit\":200}";
    const symlaw_command_info *info = &sl_commands__eval.info;
    sl_json *given = NULL;
    sl_commands__run run = { .info = info, .listener = s->run->listener };
    sl_status st;
    run.values = sl_calloc((size_t)info->n_options, sizeof *run.values);
    if (!run.values) return sl_fail_memory((size_t)info->n_options, sizeof *run.values, "options");
    SL_GO(sl_io_json_parse(&given, options, sizeof options - 1));
    SL_GO(sl_commands__options_read(run.values, info, given));
    SL_GO(sl_infer_open(model, folder));
    st = sl_commands__problems_open(out, &run, sl_infer_about(*model), false);
done:
    sl_arena_clear(&run.arena);
    sl_free(run.values);
    sl_io_json_free(given);
    return st;
}

sl_status sl_commands__study_problems(sl_report_input *out, sl_arena *a,
                                      const sl_commands__study_context *s, const sl_study *study) {
    const int best = sl_commands__study_best(study);
    if (best < 0 || !study->run[best].eval[SL_STUDY_SET_TEST].there) return SL_OK;
    sl_commands__problems problems = { 0 };
    sl_infer *model = NULL;
    sl_str path = { 0 };
    sl_report_problem *to = sl_arena_alloc(a, 2 * SHOWN * sizeof *to);
    found *f = sl_arena_alloc(a, LOOKED_AT * sizeof *f);
    if (!to || !f) return sl_fail(SL_ENOMEM, "no memory for the report");
    memset(f, 0, LOOKED_AT * sizeof *f);

    sl_str_addf(&path, "%s/runs/%s", study->dir, study->run[best].id);
    sl_status st = sl_str_status(&path);
    if (st == SL_OK) st = open_problems(&problems, &model, s, path.text);
    sl_str_add(&path, "/eval-test.jsonl");
    if (st == SL_OK) st = sl_str_status(&path);
    if (st == SL_OK) st = read_judgements(f, a, path.text);
    for (int solved = 1; solved >= 0 && st == SL_OK; solved--)
        st = choose(to, &out->n_problems, a, &problems.source, f, solved);
    // a model or a file of judgements that is lost or damaged takes the examples, not the report
    if (st != SL_OK && st != SL_ENOMEM && st != SL_ECANCEL) {
        sl_commands__note(&s->run->listener,
                          "the report shows no solved and missed problems: %.300s",
                          sl_last_error());
        out->n_problems = 0;
        st = SL_OK;
    }
    out->problems = to;
    sl_commands__problems_clear(&problems);
    sl_infer_close(model);
    sl_str_clear(&path);
    return st;
}

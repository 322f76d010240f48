/* log - the log of a run: one JSON object a line, by steps, the same for every way to run it.
 *
 * Lines are flushed as they come and synced before a checkpoint is saved, so at least the lines of
 * a checkpoint's steps are there. A run that goes on from a checkpoint cuts off what stands behind
 * it and writes those lines again; sums of a line that was half done are in the checkpoint. */
#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "train/train_impl.h"

/* ---------------------------------------------------------------- sums ---------------------- */

// what a checkpoint keeps      kind  member
#define TALLY(X)                   \
    X(REAL, seconds)               \
    X(INT, tokens)                 \
    X(INT, line_steps)             \
    X(INT, line_tokens)            \
    X(INT, line_clipped)           \
    X(REAL, line_loss)             \
    X(REAL, line_grad_norm)        \
    X(REAL, line_seconds)          \
    X(REAL, loss)                  \
    X(REAL, loss_expression)       \
    X(REAL, loss_valid)            \
    X(REAL, loss_valid_expression) \
    X(REAL, pairs_per_second)

void sl_train__tally_init(sl_train__tally *t) {
    *t = (sl_train__tally){ .loss = NAN,
                            .loss_expression = NAN,
                            .loss_valid = NAN,
                            .loss_valid_expression = NAN,
                            .pairs_per_second = NAN };
}

/* Reals are written with as many digits as it takes to read the same bits back; NaN is null. */
void sl_train__tally_write(sl_str *s, const sl_train__tally *t) {
#define ADD_REAL        sl_io_json_add_real
#define ADD_INT         sl_io_json_add_int
#define X(kind, member) ADD_##kind(s, #member, t->member);
    sl_io_json_open(s, NULL, '{');
    TALLY(X)
    if (t->valid_due) sl_io_json_add_bool(s, "valid_due", true);
    sl_io_json_close(s, '}');
#undef X
}

static sl_status read_int(int64_t *out, const sl_json *j, const char *name) {
    const sl_json *v = sl_io_json_get(j, name);
    if (sl_io_json_kind_of(v) != SL_JSON_INT)
        return sl_fail(SL_EFORMAT, "progress of the checkpoint: no whole number \"%s\"", name);
    *out = sl_io_json_int(v);
    return SL_OK;
}

static sl_status read_real(double *out, const sl_json *j, const char *name) {
    const sl_json *v = sl_io_json_get(j, name);
    const sl_json_kind kind = sl_io_json_kind_of(v);
    if (kind != SL_JSON_INT && kind != SL_JSON_REAL && kind != SL_JSON_NULL)
        return sl_fail(SL_EFORMAT, "progress of the checkpoint: no number \"%s\"", name);
    *out = kind == SL_JSON_NULL ? NAN : sl_io_json_real(v);
    return SL_OK;
}

sl_status sl_train__tally_read(sl_train__tally *t, sl_str *missing, const char *text) {
    sl_json *j = NULL;
    sl_status st;
    SL_GO(sl_io_json_parse(&j, text, strlen(text)));
    if (sl_io_json_kind_of(j) != SL_JSON_OBJECT)
        SL_GO(sl_fail(SL_EFORMAT, "progress of the checkpoint is no object"));
#define READ_REAL read_real
#define READ_INT  read_int
#define X(kind, member)                                                          \
    if (!sl_io_json_get(j, #member))                                             \
        sl_str_addf(missing, "%s\"%s\"", missing->len > 0 ? ", " : "", #member); \
    else                                                                         \
        SL_GO(READ_##kind(&t->member, j, #member));
    TALLY(X)
#undef X
    const sl_json *due = sl_io_json_get(j, "valid_due");
    t->valid_due = due && sl_io_json_kind_of(due) == SL_JSON_BOOL && sl_io_json_bool(due);
    st = sl_str_status(missing);
done:
    sl_io_json_free(j);
    return st;
}

/* ---------------------------------------------------------------- cutting ------------------- */

enum { LINE_MAX_BYTES = 1 << 20 };

typedef struct cut {
    int64_t step;
    bool valid_due;
} cut;

/* Does the line belong to the first `step` steps? One that is no line of ours, torn when the
 * machine stopped, does not, nor does a validation of the last step that is still due. */
static bool is_kept(const char *line, size_t n, int64_t number, void *payload) {
    const cut *c = payload;
    (void)number;
    sl_json *j = NULL;
    if (sl_io_json_parse_line(&j, line, n) != SL_OK) return false;
    const sl_json *at = sl_io_json_kind_of(j) == SL_JSON_OBJECT ? sl_io_json_get(j, "step") : NULL;
    const sl_json *event = at ? sl_io_json_get(j, "event") : NULL;
    bool kept = at && sl_io_json_kind_of(at) == SL_JSON_INT && sl_io_json_int(at) <= c->step;
    if (kept && c->valid_due && sl_io_json_int(at) == c->step && event &&
        sl_io_json_kind_of(event) == SL_JSON_TEXT && strcmp(sl_io_json_text(event), "valid") == 0)
        kept = false;
    sl_io_json_free(j);
    return kept;
}

/* ---------------------------------------------------------------- lines --------------------- */

sl_status sl_train__log_open(sl_train__log *log, const char *path, int64_t step, bool valid_due) {
    *log = (sl_train__log){ 0 };
    cut c = { step, valid_due };
    if (access(path, F_OK) == 0) SL_TRY(sl_io_lines_rewrite(path, LINE_MAX_BYTES, is_kept, &c));
    return sl_file_append(&log->file, path);
}

void sl_train__log_close(sl_train__log *log) {
    sl_file_discard(&log->file);
    sl_str_clear(&log->line);
    *log = (sl_train__log){ 0 };
}

void sl_train__log_begin(sl_train__log *log, const char *event, int64_t step) {
    sl_str_truncate(&log->line, 0);
    sl_io_json_open(&log->line, NULL, '{');
    sl_io_json_add_text(&log->line, "event", event);
    sl_io_json_add_int(&log->line, "step", step);
}

sl_status sl_train__log_end(sl_train__log *log) {
    sl_io_json_close(&log->line, '}');
    sl_str_add_char(&log->line, '\n');
    SL_TRY(sl_str_status(&log->line));
    SL_TRY(sl_file_write(log->file, log->line.text, log->line.len));
    return sl_file_flush(log->file, false);
}

sl_status sl_train__log_sync(sl_train__log *log) { return sl_file_flush(log->file, true); }

/* output - the output of a command: in large pieces to the callback, or to a file.
 *
 * The file is opened before the work, so that a wrong path fails at once, and renamed after it, so
 * that it is never visible half written. If the disk is full by then, the result must not be lost:
 * the output of long work is kept until the file is written, else it goes to the callback. */
#include <string.h>

#include "commands/commands_impl.h"

enum { PIECE_BYTES = 1 << 16 };

/* After a cancellation the callback's return value is ignored. */
static sl_status pass_on(sl_commands_run *run) {
    SL_TRY(sl_str_status(&run->output));
    size_t n = run->output.len;
    if (n == 0) return SL_OK;
    if (run->stopped) run->listener.call->stop = false; // at a note: it was acted on
    if (run->file) SL_TRY(sl_file_write(run->file, run->output.text, n));
    const sl_status st = run->file ? sl_commands_send_event(&run->listener, SYMLAW_EVENT_PROGRESS,
                                                            "writing", 7, run->done, run->total)
                                   : sl_commands_send_event(&run->listener, SYMLAW_EVENT_OUTPUT,
                                                            run->output.text, n, 0, 0);
    if (!(st == SL_ECANCEL && run->stopped)) SL_TRY(st);
    sl_str_truncate(&run->output, 0);
    return SL_OK;
}

sl_status sl_commands__output(sl_commands_run *run) {
    if (run->costly && run->file) return sl_str_status(&run->output);
    // a failed text stops growing, so it must not wait for its size
    return run->output.failed || run->output.len >= PIECE_BYTES ? pass_on(run) : SL_OK;
}

sl_status sl_commands__output_begin(sl_commands_run *run, const char *path) {
    if (!path || strcmp(path, "-") == 0) return SL_OK; // "-", as elsewhere: no file
    return sl_file_create(&run->file, path);
}

/* All of it at once to the file, or to the callback with the status of the file. */
static sl_status write_or_send(sl_commands_run *run) {
    const sl_str *s = &run->output;
    SL_TRY(sl_str_status(s));
    sl_status st = s->len ? sl_file_write(run->file, s->text, s->len) : SL_OK;
    if (st == SL_OK) st = sl_file_commit(&run->file);
    if (st == SL_OK || s->len == 0) return st;
    char line[1024];
    sl_snprintf(line, sizeof line, "%s", sl_last_error());
    (void)!sl_commands_send_event(&run->listener, SYMLAW_EVENT_OUTPUT, s->text, s->len, 0,
                                  0); // it fails anyway
    sl_fail_restore(line);
    return st;
}

sl_status sl_commands__output_end(sl_commands_run *run) {
    if (run->costly && run->file) return write_or_send(run);
    SL_TRY(pass_on(run));
    return run->file ? sl_file_commit(&run->file) : SL_OK;
}

void sl_commands_fail_late(sl_commands_run *run, sl_status st) {
    if (st == SL_OK || run->late != SL_OK) return;
    run->late = st;
    sl_snprintf(run->late_line, sizeof run->late_line, "%s", sl_last_error());
}

void sl_commands__output_discard(sl_commands_run *run) {
    sl_file_discard(&run->file);
    sl_str_clear(&run->output);
}

/* beside - what commands that read a table and print a formula share: the error of the target,
 * names for people, and the files that are written beside the result. */
#include <math.h>
#include <string.h>

#include "commands/commands_impl.h"

sl_status sl_commands__sigma_find(double *number, const char **column, const char *text,
                                  const char *weights) {
    char *end;
    *number = 0;
    *column = NULL;
    if (!text) return SL_OK;
    if (weights)
        return sl_fail(SL_EINVAL, "--sigma and --weights both say how good rows are; give one");
    const double x = sl_strtod(text, &end);
    if (end == text || *end) {
        *column = text;
        return SL_OK;
    }
    if (!(x > 0) || isinf(x))
        return sl_fail(SL_EINVAL, "--sigma must be a number above 0 or a column, not \"%.40s\"",
                       text);
    *number = x;
    return SL_OK;
}

sl_status sl_commands__table_names(sl_report_discovery *f, sl_arena *a, const sl_table *t) {
    const char **names = sl_arena_alloc(a, SL_DATA_MAX_INPUTS * sizeof *names);
    bool good = names;
    for (int i = 0; i < t->data.inputs && good; i++) {
        names[i] = sl_text_visible(a, t->data.names[i]);
        good = names[i];
    }
    f->target = good ? sl_text_visible(a, t->data.target) : NULL;
    if (!f->target) return sl_fail(SL_ENOMEM, "no memory for names of columns");
    f->names = (sl_names){ names, t->data.inputs };
    return SL_OK;
}

sl_status sl_commands__picture_find(bool *html, const char *path) {
    const char *end = strrchr(path, '.');
    *html = end && (strcmp(end, ".html") == 0 || strcmp(end, ".htm") == 0);
    if (*html || (end && strcmp(end, ".svg") == 0)) return SL_OK;
    return sl_fail(SL_EINVAL, "--plot draws FILE.svg or FILE.html, not \"%.200s\"", path);
}

sl_status sl_commands__beside_open(sl_file **out, sl_commands_run *run, const char *path,
                                   const char *what) {
    if (!path) return SL_OK;
    const sl_status st = sl_file_create(out, path);
    if (st != SL_EIO) return st;
    sl_commands_fail_late(run, st);
    sl_commands_note(&run->listener, "there will be no %s: %s", what, run->late_line);
    return SL_OK;
}

sl_status sl_commands__beside_write(sl_file **file, sl_str *s) {
    SL_TRY(sl_str_status(s));
    SL_TRY(sl_file_write(*file, s->text, s->len));
    return sl_file_commit(file);
}

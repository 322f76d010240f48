/* plan_store - the plan that a study keeps, with the files it needs. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "study/study_impl.h"

/* text := the JSON in one layout. */
static sl_status normal_form(sl_str *out, const char *text, size_t n) {
    sl_json *j = NULL;
    SL_TRY(sl_io_json_parse(&j, text, n));
    sl_io_json_add_tree(out, NULL, j);
    sl_io_json_free(j);
    return sl_str_status(out);
}

/* Does the file at path hold this plan? */
static sl_status compare(const sl_study_plan *plan, const char *path, const char *dir) {
    enum { MOST = 1 << 20 };
    sl_status st;
    char *text = NULL;
    size_t n;
    sl_str ours = { 0 }, theirs = { 0 };
    SL_GO(sl_file_read(&text, &n, path, MOST));
    SL_GO(normal_form(&ours, plan->text, strlen(plan->text)));
    st = normal_form(&theirs, text, n);
    if (st == SL_ENOMEM) goto done;
    if (st != SL_OK)
        st = sl_fail(SL_EFORMAT,
                     "%.300s is damaged: it is no JSON; remove it to store the plan anew", path);
    else if (strcmp(ours.text, theirs.text) != 0)
        st = sl_fail(SL_EINVAL,
                     "%.300s holds a study of another plan; give another folder with --out, or go "
                     "on with the plan that is there: symlaw study run %.300s",
                     dir, dir);
done:
    sl_str_clear(&ours);
    sl_str_clear(&theirs);
    sl_free(text);
    return st;
}

/* Copies a file of formulas to dir, by its last name. A file of this name must be identical. */
static sl_status copy_file(const char *from, const char *dir) {
    const char *slash = strrchr(from, '/');
    sl_status st;
    sl_str to = { 0 };
    char *bytes = NULL, *there = NULL;
    size_t n, m;
    sl_str_addf(&to, "%s/%s", dir, slash ? slash + 1 : from);
    SL_GO(sl_str_status(&to));
    SL_GO(sl_file_read(&bytes, &n, from, SL_STUDY__MAX_FILE));
    if (access(to.text, F_OK) != 0) {
        st = sl_file_put(to.text, bytes, n);
        goto done;
    }
    SL_GO(sl_file_read(&there, &m, to.text, SL_STUDY__MAX_FILE));
    if (n != m || memcmp(bytes, there, n) != 0)
        st = sl_fail(SL_EINVAL,
                     "%.300s is another file than %.300s, which the plan names; rename one",
                     to.text, from);
done:
    sl_free(bytes);
    sl_free(there);
    sl_str_clear(&to);
    return st;
}

static sl_status copy_formulas(const sl_study_size *s, const char *dir) {
    const char *options = s->eval[SL_STUDY_SET_FORMULAS];
    if (!options) return SL_OK;
    sl_json *j = NULL;
    SL_TRY(sl_io_json_parse(&j, options, strlen(options)));
    const sl_status st = copy_file(sl_io_json_text(sl_io_json_get(j, "formulas")), dir);
    sl_io_json_free(j);
    return st;
}

sl_status sl_study_plan_store(const sl_study_plan *plan, const char *dir) {
    sl_status st;
    sl_str path = { 0 };
    SL_GO(sl_folder_make(dir, 0777));
    sl_str_addf(&path, "%s/plan.json", dir);
    SL_GO(sl_str_status(&path));
    if (access(path.text, F_OK) == 0) {
        st = compare(plan, path.text, dir);
        goto done;
    }
    // the plan comes last: a folder with a plan is complete
    for (int i = 0; i < plan->sizes; i++) SL_GO(copy_formulas(&plan->size[i], dir));
    st = sl_file_put(path.text, plan->text, strlen(plan->text));
done:
    sl_str_clear(&path);
    return st;
}

/* files - result.json, eval-<set>.json and attempts.json of a run's folder.
 *
 * Each is one JSON object, written atomically. What cannot be parsed is SL_EFORMAT with the reason,
 * and the caller decides what to do. */
#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "study/study_impl.h"

/* ---------------------------------------------------------------- objects ------------------- */

/* *out := the JSON object in a file; NULL if there is no file. SL_EFORMAT: it is damaged. */
static sl_status read_object(sl_json **out, const char *path) {
    char *text = NULL;
    size_t n;
    *out = NULL;
    if (access(path, F_OK) != 0) return SL_OK;
    SL_TRY(sl_file_read(&text, &n, path, SL_STUDY__MAX_FILE));
    sl_json *j = NULL;
    sl_status st = sl_io_json_parse(&j, text, n);
    sl_free(text);
    SL_TRY(st);
    if (sl_io_json_kind_of(j) == SL_JSON_OBJECT) {
        *out = j;
        return SL_OK;
    }
    st = sl_fail(SL_EFORMAT, "it holds %s, not an object",
                 sl_io_json_kind_text(sl_io_json_kind_of(j)));
    sl_io_json_free(j);
    return st;
}

static sl_status object_write(const char *dir, const char *name, const sl_str *object) {
    sl_str path = { 0 };
    sl_str_addf(&path, "%s/%s", dir, name);
    sl_status st = sl_str_status(&path);
    if (st == SL_OK) st = sl_str_status(object);
    if (st == SL_OK) st = sl_file_put(path.text, object->text, object->len);
    sl_str_clear(&path);
    return st;
}

static bool is_number(const sl_json *j) {
    return sl_io_json_kind_of(j) == SL_JSON_INT || sl_io_json_kind_of(j) == SL_JSON_REAL;
}

/* *out := a number, NaN for null. */
static sl_status get_number(double *out, const sl_json *object, const char *name) {
    const sl_json *j = sl_io_json_get(object, name);
    *out = NAN;
    if (!j) return sl_fail(SL_EFORMAT, "it lacks \"%s\"", name);
    if (sl_io_json_kind_of(j) == SL_JSON_NULL) return SL_OK;
    if (!is_number(j))
        return sl_fail(SL_EFORMAT, "\"%s\" is %s, not a number", name,
                       sl_io_json_kind_text(sl_io_json_kind_of(j)));
    *out = sl_io_json_real(j);
    return SL_OK;
}

/* *out := a text in a, NULL for null. */
static sl_status get_text(const char **out, sl_arena *a, const sl_json *object, const char *name) {
    const sl_json *j = sl_io_json_get(object, name);
    *out = NULL;
    if (!j) return sl_fail(SL_EFORMAT, "it lacks \"%s\"", name);
    if (sl_io_json_kind_of(j) == SL_JSON_NULL) return SL_OK;
    if (sl_io_json_kind_of(j) != SL_JSON_TEXT)
        return sl_fail(SL_EFORMAT, "\"%s\" is %s, not a text", name,
                       sl_io_json_kind_text(sl_io_json_kind_of(j)));
    return sl_study__copy(out, a, sl_io_json_text(j), strlen(sl_io_json_text(j)));
}

/* ---------------------------------------------------------------- result.json --------------- */

#define NUMBERS(X)    \
    X(params)         \
    X(tokens)         \
    X(flops)          \
    X(flops_executed) \
    X(steps)          \
    X(loss_train)     \
    X(loss_valid) X(loss_valid_expression) X(threads) X(ranks) X(seconds) X(cpu_seconds)
#define TEXTS(X) X(checkpoint) X(cpu) X(isa) X(libraries) X(version) X(revision)

enum { RESULT_FORMAT = 1 };

sl_status sl_study_result_write(const char *dir, const sl_study_result *r) {
    sl_str s = { 0 };
    sl_io_json_open(&s, NULL, '{');
    sl_io_json_add_int(&s, "format", RESULT_FORMAT);
    sl_io_json_add_bool(&s, "diverged", r->diverged);
#define X(field) sl_io_json_add_real(&s, #field, r->field);
    NUMBERS(X)
#undef X
#define X(field) sl_io_json_add_text(&s, #field, r->field);
    TEXTS(X)
#undef X
    sl_io_json_close(&s, '}');
    sl_str_add_char(&s, '\n');
    const sl_status st = object_write(dir, "result.json", &s);
    sl_str_clear(&s);
    return st;
}

static sl_status result_parse(sl_study_result *out, sl_arena *a, const sl_json *j) {
    double format;
    SL_TRY(get_number(&format, j, "format"));
    if (format != RESULT_FORMAT)
        return sl_fail(SL_EFORMAT, "its format is %g, and this version reads %d", format,
                       RESULT_FORMAT);
    const sl_json *diverged = sl_io_json_get(j, "diverged");
    if (!diverged || sl_io_json_kind_of(diverged) != SL_JSON_BOOL)
        return sl_fail(SL_EFORMAT, "\"diverged\" is neither true nor false");
    out->diverged = sl_io_json_bool(diverged);
#define X(field) SL_TRY(get_number(&out->field, j, #field));
    NUMBERS(X)
#undef X
#define X(field) SL_TRY(get_text(&out->field, a, j, #field));
    TEXTS(X)
#undef X
    if (!out->diverged && !(out->params > 0 && out->flops > 0))
        return sl_fail(SL_EFORMAT, "params and flops must be above 0");
    return SL_OK;
}

sl_status sl_study__result_read(sl_study_result *out, bool *there, sl_arena *a, const char *path) {
    sl_json *j;
    *there = false;
    SL_TRY(read_object(&j, path));
    if (!j) return SL_OK;
    sl_study_result r = { 0 };
    const sl_status st = result_parse(&r, a, j);
    sl_io_json_free(j);
    SL_TRY(st);
    *out = r;
    *there = true;
    return SL_OK;
}

/* ---------------------------------------------------------------- eval-<set>.json ----------- */

/* A share of all judgements; hits and trials of one sampling seed. */
static sl_status get_share(sl_study_share *out, const sl_json *all, const char *name,
                           double seeds) {
    const sl_json *j = sl_io_json_get(all, name);
    if (!j || sl_io_json_kind_of(j) != SL_JSON_OBJECT)
        return sl_fail(SL_EFORMAT, "\"all\" lacks \"%s\"", name);
    double hits, n;
    SL_TRY(get_number(&hits, j, "hits"));
    SL_TRY(get_number(&n, j, "n"));
    if (!(hits >= 0 && hits <= n)) return sl_fail(SL_EFORMAT, "%g hits of %g", hits, n);
    *out = n > 0 ? (sl_study_share){ hits / seeds, n / seeds } : (sl_study_share){ NAN, NAN };
    return SL_OK;
}

/* Only evaluations of the search have them. */
static sl_status get_budgets(sl_study_evaluation *out, const sl_json *list, double seeds) {
    if (!list || sl_io_json_kind_of(list) != SL_JSON_ARRAY) return SL_OK;
    if (sl_io_json_count(list) > SL_STUDY_BUDGETS)
        return sl_fail(SL_EFORMAT, "\"budgets\" has more than %d", SL_STUDY_BUDGETS);
    for (int i = 0; i < sl_io_json_count(list); i++) {
        const sl_json *j = sl_io_json_at(list, i);
        sl_study_budget *b = &out->budget[i];
        if (sl_io_json_kind_of(j) != SL_JSON_OBJECT)
            return sl_fail(SL_EFORMAT, "budgets[%d] is no object", i);
        SL_TRY(get_number(&b->seconds, j, "seconds"));
        SL_TRY(get_number(&b->solved, j, "right"));
        SL_TRY(get_number(&b->trials, j, "n"));
        SL_TRY(get_number(&b->wrong, j, "wrong"));
        b->solved /= seeds;
        b->trials /= seeds;
        b->wrong /= seeds;
    }
    out->budgets = sl_io_json_count(list);
    return SL_OK;
}

static sl_status evaluation_parse(sl_study_evaluation *out, const sl_json *j) {
    double seeds;
    SL_TRY(get_number(&seeds, j, "seeds"));
    if (!(seeds >= 1)) return sl_fail(SL_EFORMAT, "%g sampling seeds", seeds);
    const sl_json *all = sl_io_json_get(j, "all"), *cpu = sl_io_json_get(j, "cpu_seconds");
    if (!all || sl_io_json_kind_of(all) != SL_JSON_OBJECT)
        return sl_fail(SL_EFORMAT, "it lacks \"all\"");
    SL_TRY(get_share(&out->solved, all, "exact", seeds));
    SL_TRY(get_share(&out->r2, all, "close", seeds));
    SL_TRY(get_number(&out->loss_expression, j, "loss"));
    SL_TRY(get_number(&out->loss, j, "loss_token"));
    SL_TRY(get_number(&out->seconds, j, "seconds"));
    out->cpu_seconds = cpu && is_number(cpu) ? sl_io_json_real(cpu) : NAN;
    SL_TRY(get_budgets(out, sl_io_json_get(j, "budgets"), seeds));
    const sl_json *time = sl_io_json_get(j, "time");
    if (time && sl_io_json_kind_of(time) == SL_JSON_OBJECT)
        out->seconds_most = sl_io_json_get_real(time, "most", NAN);
    out->there = true;
    return SL_OK;
}

sl_status sl_study__evaluation_read(sl_study_evaluation *out, const char *path) {
    sl_json *j;
    SL_TRY(read_object(&j, path));
    if (!j) return SL_OK;
    sl_study_evaluation e = *out;
    const sl_status st = evaluation_parse(&e, j);
    sl_io_json_free(j);
    if (st == SL_OK) *out = e;
    return st;
}

/* ---------------------------------------------------------------- attempts.json ------------- */

static sl_status attempt_parse(int *n, const char **message, sl_arena *a, const sl_json *j) {
    double count;
    if (sl_io_json_kind_of(j) != SL_JSON_OBJECT) return sl_fail(SL_EFORMAT, "it holds no attempts");
    SL_TRY(get_number(&count, j, "failures"));
    if (!(count >= 1 && count <= 1e6)) return sl_fail(SL_EFORMAT, "%g failures", count);
    *n = (int)count;
    return get_text(message, a, j, "message");
}

sl_status sl_study__attempts_read(int *n, const char **message, sl_arena *a, const char *path,
                                  const char *what) {
    sl_json *j;
    *n = 0;
    *message = NULL;
    SL_TRY(read_object(&j, path));
    const sl_json *mine = j ? sl_io_json_get(j, what) : NULL;
    const sl_status st = mine ? attempt_parse(n, message, a, mine) : SL_OK;
    sl_io_json_free(j);
    return st;
}

/* A damaged file is overwritten and counts as no failures so far. */
sl_status sl_study_attempt_add(const char *dir, const char *what, const char *message) {
    sl_status st;
    sl_arena a = { 0 };
    sl_str path = { 0 }, s = { 0 };
    sl_json *old = NULL;
    int n = 0;
    const char *last;
    sl_str_addf(&path, "%s/attempts.json", dir);
    SL_GO(sl_str_status(&path));
    st = sl_study__attempts_read(&n, &last, &a, path.text, what);
    if (st == SL_OK) st = read_object(&old, path.text);
    if (st != SL_OK && st != SL_EFORMAT) goto done;
    sl_io_json_open(&s, NULL, '{');
    if (old)
        for (sl_json_member m = sl_io_json_first(old); m.name; m = sl_io_json_next(old, m))
            if (strcmp(m.name, what) != 0) sl_io_json_add_tree(&s, m.name, m.value);
    sl_io_json_open(&s, what, '{');
    sl_io_json_add_int(&s, "failures", n + 1);
    sl_io_json_add_text(&s, "message", message);
    sl_io_json_close(&s, '}');
    sl_io_json_close(&s, '}');
    sl_str_add_char(&s, '\n');
    st = object_write(dir, "attempts.json", &s);
done:
    sl_io_json_free(old);
    sl_str_clear(&path);
    sl_str_clear(&s);
    sl_arena_clear(&a);
    return st;
}

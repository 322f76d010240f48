/* place - the place of an error in a plan: its path, and its line.
 *
 * The JSON parser keeps no lines. The text, known to be valid, is scanned again from the top to the
 * member. */
#include <string.h>

#include "study/study_impl.h"

/* ---------------------------------------------------------------- the line ------------------ */

static const char *skip_blanks(const char *at) { return at + strspn(at, " \t\r\n"); }

static const char *skip_text(const char *at) {
    for (at++; *at != '"'; at++)
        if (*at == '\\') at++;
    return at + 1;
}

static const char *skip_value(const char *at) {
    int depth = 0;
    do {
        if (*at == '"') {
            at = skip_text(at);
            continue;
        }
        if (*at == '{' || *at == '[') depth++;
        if (*at == '}' || *at == ']') depth--;
        at += depth > 0 || *at == '}' || *at == ']' ? 1 : strcspn(at, ",]} \t\r\n");
    } while (depth > 0);
    return at;
}

/* Where the value of a place begins; *mark: where its member begins, or the deepest one found above
 * it. A name that the text writes with escapes is not found. */
static const char *find(const char **mark, const char *text, const sl_study__place *p) {
    if (!p) return *mark = skip_blanks(text);
    const char *at = find(mark, text, p->up);
    if (!at) return NULL;
    const bool object = *at == '{';
    at = skip_blanks(at + 1);
    for (int i = 0; *at != '}' && *at != ']'; i++) {
        const char *begin = at;
        bool here = i == p->index;
        if (object) {
            at = skip_text(at);
            const size_t n = (size_t)(at - begin) - 2; // without the quotes
            here = p->name && strlen(p->name) == n && memcmp(begin + 1, p->name, n) == 0;
            at = skip_blanks(skip_blanks(at) + 1); // after the colon
        }
        if (here) {
            *mark = begin;
            return at;
        }
        at = skip_blanks(skip_value(at));
        if (*at == ',') at = skip_blanks(at + 1);
    }
    return NULL;
}

int sl_study__line(const char *text, const sl_study__place *p) {
    const char *mark = text;
    int line = 1;
    (void)find(&mark, text, p);
    for (; text < mark; text++) line += *text == '\n';
    return line;
}

/* ---------------------------------------------------------------- messages ------------------ */

static void add_path(sl_str *s, const sl_study__place *p) {
    if (!p) return;
    add_path(s, p->up);
    if (p->name)
        sl_str_addf(s, "%s%.60s", p->up ? "." : "", p->name);
    else
        sl_str_addf(s, "[%d]", p->index);
}

sl_status sl_study__fail(const sl_study__reader *r, const sl_study__place *p, const char *format,
                         ...) {
    char message[600];
    va_list args;
    va_start(args, format);
    sl_vsnprintf(message, sizeof message, format, args);
    va_end(args);
    sl_str path = { 0 };
    add_path(&path, p);
    const sl_status st =
        sl_fail(SL_EINVAL, "%.200s, line %d%s%.200s: %s", r->path, sl_study__line(r->text, p),
                p ? ", " : "", sl_str_text(&path), message);
    sl_str_clear(&path);
    return st;
}

/* ---------------------------------------------------------------- shape --------------------- */

sl_status sl_study__kind(const sl_study__reader *r, const sl_study__place *p, const sl_json *j,
                         sl_json_kind kind) {
    if (sl_io_json_kind_of(j) == kind) return SL_OK;
    return sl_study__fail(r, p, "must be %s, not %s", sl_io_json_kind_text(kind),
                          sl_io_json_kind_text(sl_io_json_kind_of(j)));
}

/* The nearest of n names; NULL if none is near. */
static const char *near_name(const char *word, const char *const *names, int n) {
    const char *best = NULL;
    int least = 2 + (int)SL_MIN(strlen(word), (size_t)64) / 4;
    for (int i = 0; i < n; i++) {
        const int d = sl_edit_distance(word, names[i]);
        if (d < least) {
            least = d;
            best = names[i];
        }
    }
    return best;
}

sl_status sl_study__members(const sl_study__reader *r, const sl_study__place *p,
                            const sl_json *object, const char *const *names, int n) {
    if (!object) return SL_OK;
    SL_TRY(sl_study__kind(r, p, object, SL_JSON_OBJECT));
    for (sl_json_member m = sl_io_json_first(object); m.name; m = sl_io_json_next(object, m)) {
        int i = 0;
        while (i < n && strcmp(names[i], m.name) != 0) i++;
        if (i < n) continue;
        const sl_study__place here = { p, m.name, 0 };
        const char *best = near_name(m.name, names, n);
        sl_str list = { 0 };
        for (int k = 0; k < n; k++) sl_str_addf(&list, "%s%s", k > 0 ? ", " : "", names[k]);
        const sl_status st =
            best ? sl_study__fail(r, &here, "there is no member of this name; did you mean %s?",
                                  best)
                 : sl_study__fail(r, &here, "there is no member of this name; there are %s",
                                  sl_str_text(&list));
        sl_str_clear(&list);
        return st;
    }
    return SL_OK;
}

/* ---------------------------------------------------------------- texts --------------------- */

sl_status sl_study__copy(const char **out, sl_arena *a, const char *text, size_t n) {
    const char *copy = sl_arena_text(a, text, n);
    if (!copy) return sl_fail_memory(n + 1, 1, "a text of a study");
    *out = copy;
    return SL_OK;
}

sl_status sl_study__take(const char **out, sl_arena *a, sl_str *s) {
    sl_status st = sl_str_status(s);
    if (st == SL_OK) st = sl_study__copy(out, a, sl_str_text(s), s->len);
    sl_str_clear(s);
    return st;
}

/* journal - judgements as they are made, one line of JSON each, behind a line that says of what:
 *
 *     {"journal":"symlaw eval","version":1,"identity":{"model":"...","samples":128}}
 *     {"id":"test/0","seed":0,"verdict":"solved","problem":0, ...}
 *
 * Lines are flushed one by one, so a process that is killed loses at most the line it was writing.
 * That one has no line feed: it is dropped when the journal is opened again, and its judgement made
 * once more. Any other line that cannot be read means that another program wrote into the file, and
 * is reported.
 *
 * Reals are written such that the same bits come back; what has no value is null. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "eval/eval_impl.h"

enum { LINE_BYTES_MAX = 1 << 24, VERSION = 1 };

static const char kind_name[] = "symlaw eval";

// members of a line that are plain values     kind  member
#define MEMBERS(X)       \
    X(int, problem)      \
    X(bool, same_tokens) \
    X(bool, among)       \
    X(bool, cut)         \
    X(real, r2)          \
    X(real, r2_fresh)    \
    X(real, loss)        \
    X(int, samples)      \
    X(int, distinct)     \
    X(real, seconds)     \
    X(text, expr)        \
    X(text, latex)

// later members: a journal that lacks them is of a version that had no search
#define LATER(X)       \
    X(bool, claimed)   \
    X(bool, structure) \
    X(bool, on_front)  \
    X(real, answered)  \
    X(text, method)

/* ---------------------------------------------------------------- one line ------------------ */

static void write_judgement(sl_str *s, const sl_judgement *j, const char *id) {
#define X(kind, member) sl_io_json_add_##kind(s, #member, j->member);
    sl_io_json_open(s, NULL, '{');
    sl_io_json_add_text(s, "id", id);
    sl_io_json_add_int(s, "seed", j->seed);
    sl_io_json_add_text(s, "verdict", sl_eval_verdict_name(j->verdict));
    MEMBERS(X)
    LATER(X)
#undef X
    sl_io_json_open(s, "invalid", '{');
    for (int r = 0; r < SL_TOKEN_REASON_COUNT; r++)
        if (j->invalid[r])
            sl_io_json_add_int(s, sl_token_reason_name((sl_token_reason)r), j->invalid[r]);
    sl_io_json_close(s, '}');
    sl_io_json_close(s, '}');
    sl_str_add_char(s, '\n');
}

static sl_status wrong(const char *name) {
    return sl_fail(SL_EFORMAT, "\"%s\" is missing or not what it should be", name);
}

static sl_status read_int(int64_t *out, const sl_json *from, const char *name) {
    const sl_json *v = sl_io_json_get(from, name);
    if (!v || sl_io_json_kind_of(v) != SL_JSON_INT || sl_io_json_int(v) < 0) return wrong(name);
    *out = sl_io_json_int(v);
    return SL_OK;
}

static sl_status read_bool(bool *out, const sl_json *from, const char *name) {
    const sl_json *v = sl_io_json_get(from, name);
    if (!v || sl_io_json_kind_of(v) != SL_JSON_BOOL) return wrong(name);
    *out = sl_io_json_bool(v);
    return SL_OK;
}

static sl_status read_real(double *out, const sl_json *from, const char *name) {
    const sl_json *v = sl_io_json_get(from, name);
    const sl_json_kind kind = v ? sl_io_json_kind_of(v) : SL_JSON_TEXT;
    if (kind != SL_JSON_INT && kind != SL_JSON_REAL && kind != SL_JSON_NULL) return wrong(name);
    *out = kind == SL_JSON_NULL ? NAN : sl_io_json_real(v);
    return SL_OK;
}

/* Borrowed from the tree. */
static sl_status read_text(const char **out, const sl_json *from, const char *name) {
    const sl_json *v = sl_io_json_get(from, name);
    if (!v || sl_io_json_kind_of(v) != SL_JSON_TEXT) return wrong(name);
    *out = sl_io_json_text(v);
    return SL_OK;
}

static sl_status read_invalid(int64_t out[SL_TOKEN_REASON_COUNT], const sl_json *v) {
    if (!v || sl_io_json_kind_of(v) != SL_JSON_OBJECT) return wrong("invalid");
    int known = 0;
    for (int r = 0; r < SL_TOKEN_REASON_COUNT; r++) {
        const char *name = sl_token_reason_name((sl_token_reason)r);
        out[r] = 0;
        if (!sl_io_json_get(v, name)) continue;
        SL_TRY(read_int(&out[r], v, name));
        known++;
    }
    return known == sl_io_json_count(v) ? SL_OK : wrong("invalid");
}

static sl_status read_judgement(sl_judgement *j, const char **id, const sl_json *from) {
    const char *verdict;
    int64_t seed;
    if (sl_io_json_kind_of(from) != SL_JSON_OBJECT) return sl_fail(SL_EFORMAT, "it is no object");
    *j = (sl_judgement){ .answered = NAN, .method = "" };
    SL_TRY(read_text(id, from, "id"));
    SL_TRY(read_int(&seed, from, "seed"));
    if (seed > INT_MAX) return wrong("seed");
    j->seed = (int)seed;
    SL_TRY(read_text(&verdict, from, "verdict"));
    j->verdict = sl_eval_verdict_find(verdict);
    if (j->verdict == SL_VERDICT_COUNT) return wrong("verdict");
#define X(kind, member) SL_TRY(read_##kind(&j->member, from, #member));
    MEMBERS(X)
#undef X
#define X(kind, member) \
    if (sl_io_json_get(from, #member)) SL_TRY(read_##kind(&j->member, from, #member));
    LATER(X)
#undef X
    return read_invalid(j->invalid, sl_io_json_get(from, "invalid"));
}

static sl_status take_line(const char *line, size_t n, sl_eval__kept kept, void *payload) {
    sl_json *j = NULL;
    sl_judgement judgement;
    const char *id;
    sl_status st;
    SL_GO(sl_io_json_parse_line(&j, line, n));
    SL_GO(read_judgement(&judgement, &id, j));
    st = kept(&judgement, id, payload);
done:
    sl_io_json_free(j);
    return st;
}

/* ---------------------------------------------------------------- the first line ------------ */

static sl_status write_header(sl_str *s, const char *identity) {
    SL_ASSERT(!strchr(identity, '\n')); // it is part of a line
    sl_io_json_open(s, NULL, '{');
    sl_io_json_add_text(s, "journal", kind_name);
    sl_io_json_add_int(s, "version", VERSION);
    sl_str_addf(s, ",\"identity\":%s", identity);
    sl_io_json_close(s, '}');
    return sl_str_status(s);
}

static bool is_scalar(const sl_json *j) {
    return j && sl_io_json_kind_of(j) != SL_JSON_OBJECT && sl_io_json_kind_of(j) != SL_JSON_ARRAY;
}

/* A blank and the value. */
static void show(sl_str *s, const sl_json *j) {
    const size_t at = s->len;
    sl_str_add_char(s, '\n'); // behind which no comma is due
    sl_io_json_add_tree(s, NULL, j);
    if (!s->failed) s->text[at] = ' ';
}

static bool same_scalar(const sl_json *a, const sl_json *b) {
    if (sl_io_json_kind_of(a) != sl_io_json_kind_of(b)) return false;
    switch (sl_io_json_kind_of(a)) {
    case SL_JSON_BOOL: return sl_io_json_bool(a) == sl_io_json_bool(b);
    case SL_JSON_INT: return sl_io_json_int(a) == sl_io_json_int(b);
    case SL_JSON_REAL: return sl_io_json_real(a) == sl_io_json_real(b);
    case SL_JSON_TEXT: return strcmp(sl_io_json_text(a), sl_io_json_text(b)) == 0;
    default: return true;
    }
}

/* Are the two the same? If not, *why names the first member where they differ, and how. */
static bool same(sl_str *why, const sl_json *theirs, const sl_json *ours, const char *name) {
    const sl_json_kind kind = theirs && ours ? sl_io_json_kind_of(ours) : SL_JSON_NULL;
    if (kind == SL_JSON_OBJECT && sl_io_json_kind_of(theirs) == kind) {
        for (sl_json_member m = sl_io_json_first(ours); m.name; m = sl_io_json_next(ours, m))
            if (!same(why, sl_io_json_get(theirs, m.name), m.value, m.name)) return false;
        for (sl_json_member m = sl_io_json_first(theirs); m.name; m = sl_io_json_next(theirs, m))
            if (!sl_io_json_get(ours, m.name)) return same(why, m.value, NULL, m.name);
        return true;
    }
    bool equal = theirs && ours;
    if (equal && kind == SL_JSON_ARRAY && sl_io_json_kind_of(theirs) == kind) {
        const int n = sl_io_json_count(ours);
        equal = sl_io_json_count(theirs) == n;
        for (int i = 0; i < n && equal; i++)
            if (!same(why, sl_io_json_at(theirs, i), sl_io_json_at(ours, i), name)) return false;
    } else if (equal) {
        equal = is_scalar(theirs) && is_scalar(ours) && same_scalar(theirs, ours);
    }
    if (equal) return true;
    sl_str_addf(why, "its \"%s\" is", name);
    if (is_scalar(theirs) && is_scalar(ours)) {
        show(why, theirs);
        sl_str_add(why, ", not");
        show(why, ours);
    } else {
        sl_str_add(why, " another");
    }
    return false;
}

static sl_status no_journal(const char *path) {
    return sl_fail(SL_EINVAL, "%s is not a journal of an evaluation; it is left unchanged", path);
}

static sl_status compare_headers(const char *path, const sl_json *theirs, const sl_json *ours) {
    const sl_json *kind =
        sl_io_json_kind_of(theirs) == SL_JSON_OBJECT ? sl_io_json_get(theirs, "journal") : NULL;
    if (!kind || sl_io_json_kind_of(kind) != SL_JSON_TEXT ||
        strcmp(sl_io_json_text(kind), kind_name) != 0)
        return no_journal(path);
    sl_str why = { 0 };
    sl_status st = SL_OK;
    if (!same(&why, theirs, ours, "identity")) {
        st = sl_str_status(&why);
        if (st == SL_OK)
            st = sl_fail(SL_EINVAL,
                         "%s is the journal of another evaluation: %.300s; name another file, or "
                         "remove this one",
                         path, sl_str_text(&why));
    }
    sl_str_clear(&why);
    return st;
}

static sl_status check_header(const char *path, const char *line, size_t n, const sl_str *header) {
    if (n == header->len && memcmp(line, header->text, n) == 0) return SL_OK;
    sl_json *theirs = NULL, *ours = NULL;
    sl_status st = sl_io_json_parse_line(&theirs, line, n);
    if (st == SL_EFORMAT) return no_journal(path);
    if (st == SL_OK) st = sl_io_json_parse(&ours, header->text, header->len);
    if (st == SL_OK) st = compare_headers(path, theirs, ours);
    sl_io_json_free(theirs);
    sl_io_json_free(ours);
    return st;
}

/* ---------------------------------------------------------------- a file that is there ------ */

/* Does the file end in a line feed? An empty one has no line that could lack it. */
static sl_status is_whole(bool *out, const char *path) {
    int fd;
    char last = '\n';
    SL_TRY(sl_file_open(&fd, path));
    const bool read_it = lseek(fd, -1, SEEK_END) < 0 || read(fd, &last, 1) >= 0;
    const int error = errno;
    close(fd);
    if (!read_it) return sl_fail(SL_EIO, "reading %s: %s", path, sl_strerror(error));
    *out = last == '\n';
    return SL_OK;
}

/* What reading a journal found out. */
typedef struct scan {
    const char *path;
    const sl_str *header;
    bool whole;   // it ends in a line feed
    int64_t good; // lines from the start that can be kept
    sl_eval__kept kept;
    void *payload;
} scan;

static sl_status scan_lines(scan *s, sl_lines *lines) {
    const char *line;
    size_t n;
    SL_TRY(sl_io_lines_next(&line, &n, lines));
    if (!line) return SL_OK;
    // a process that was killed while it wrote the first line
    if (!s->whole && n < s->header->len && memcmp(line, s->header->text, n) == 0) return SL_OK;
    SL_TRY(check_header(s->path, line, n, s->header));
    s->good = 1;
    for (;;) {
        sl_status st = sl_io_lines_next(&line, &n, lines);
        if (st == SL_OK && !line) return SL_OK;
        if (st == SL_OK) st = take_line(line, n, s->kept, s->payload);
        if (st == SL_OK) {
            s->good++;
            continue;
        }
        if (st != SL_EFORMAT && st != SL_ELIMIT) return st;
        char reason[512];
        sl_snprintf(reason, sizeof reason, "%s", sl_last_error());
        const int64_t number = sl_io_lines_number(lines);
        SL_TRY(sl_io_lines_next(&line, &n, lines));
        if (!line && !s->whole) return SL_OK; // the last one, cut off
        return sl_fail(SL_EFORMAT, "%s:%lld: a damaged line: %s", s->path, (long long)number,
                       reason);
    }
}

static bool is_good(const char *line, size_t n, int64_t number, void *payload) {
    (void)line;
    (void)n;
    return number <= ((const scan *)payload)->good;
}

static sl_status read_journal(scan *s) {
    sl_lines *lines = NULL;
    SL_TRY(is_whole(&s->whole, s->path));
    SL_TRY(sl_io_lines_open_own(&lines, s->path, LINE_BYTES_MAX));
    sl_status st = scan_lines(s, lines);
    sl_io_lines_close(lines);
    SL_TRY(st);
    return s->whole ? SL_OK : sl_io_lines_rewrite(s->path, LINE_BYTES_MAX, is_good, s);
}

/* ---------------------------------------------------------------- the journal --------------- */

sl_status sl_eval__journal_open(sl_eval__journal *out, const char *path, const char *identity,
                                sl_eval__kept kept, void *payload) {
    *out = (sl_eval__journal){ 0 };
    if (!path) return SL_OK;
    sl_status st;
    sl_str header = { 0 };
    scan s = { .path = path, .header = &header, .kept = kept, .payload = payload };
    SL_GO(write_header(&header, identity ? identity : "{}"));
    if (access(path, F_OK) == 0) SL_GO(read_journal(&s));
    SL_GO(sl_file_append(&out->file, path));
    if (s.good == 0) {
        sl_str_add_char(&header, '\n');
        SL_GO(sl_str_status(&header));
        SL_GO(sl_file_write(out->file, header.text, header.len));
        SL_GO(sl_file_flush(out->file, false));
    }
    st = SL_OK;
done:
    sl_str_clear(&header);
    if (st != SL_OK) sl_eval__journal_close(out);
    return st;
}

sl_status sl_eval__journal_add(sl_eval__journal *j, const sl_judgement *judgement, const char *id) {
    if (!j->file) return SL_OK;
    sl_str_truncate(&j->line, 0);
    write_judgement(&j->line, judgement, id);
    SL_TRY(sl_str_status(&j->line));
    SL_TRY(sl_file_write(j->file, j->line.text, j->line.len));
    return sl_file_flush(j->file, false);
}

void sl_eval__journal_close(sl_eval__journal *j) {
    sl_file_discard(&j->file);
    sl_str_clear(&j->line);
    *j = (sl_eval__journal){ 0 };
}

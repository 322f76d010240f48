/* Text to expression: the common part. The grammars are parse_infix.c, parse_latex.c and
 * parse_prefix.c; each builds terms (parse_term.c), which become nodes here. */
#include "expr/text_impl.h"

/* ---------------------------------------------------------------- failures ------------------ */

bool sl_expr__text_open(sl_reader *r, size_t where) {
    // an operation needs at most two brackets around it: (\frac{..}{..})^2
    enum { MOST = 2 * SL_EXPR_MAX_DEPTH };
    if (r->nest < MOST) {
        r->nest++;
        return true;
    }
    sl_expr__text_fail(r, SL_ELIMIT, where, "nested deeper than %d brackets", MOST);
    return false;
}

const char *sl_expr__text_quote(char buffer[SL_TEXT_QUOTE], const char *text, size_t n) {
    enum { MOST = SL_TEXT_QUOTE - 8 };
    size_t w = 0;
    int used;
    for (size_t i = 0; i < n; i += (size_t)used) {
        int32_t c = sl_utf8_read(text + i, n - i, &used);
        if (w + (size_t)used > MOST) {
            memcpy(buffer + w, "...", 3);
            w += 3;
            break;
        }
        if (c < 0x20 || c == 0x7f) {
            buffer[w++] = '?';
            continue;
        }
        memcpy(buffer + w, text + i, (size_t)used);
        w += (size_t)used;
    }
    buffer[w] = '\0';
    return buffer;
}

sl_expr_term *sl_expr__text_bad_character(sl_reader *r, size_t where) {
    if (where >= r->n) return sl_expr__text_fail(r, SL_EFORMAT, where, "the text ends too early");
    int used;
    int32_t c = sl_utf8_read(r->text + where, r->n - where, &used);
    unsigned byte = (unsigned char)r->text[where];
    if (c < 0) return sl_expr__text_fail(r, SL_EFORMAT, where, "byte 0x%02x is not UTF-8", byte);
    if (c == 0) return sl_expr__text_fail(r, SL_EFORMAT, where, "a NUL byte");
    if (c < 0x20 || c == 0x7f)
        return sl_expr__text_fail(r, SL_EFORMAT, where, "control character 0x%02x", byte);
    if (c == '=')
        return sl_expr__text_fail(r, SL_EFORMAT, where,
                                  "\"=\" in an expression; give one side only");
    // signs that word processors substitute
    const char *instead = c == 0x2212 || c == 0x2013 || c == 0x2010              ? "-"
                          : c == 0xd7 || c == 0xb7 || c == 0x22c5 || c == 0x2217 ? "*"
                          : c == 0xf7 || c == 0x2215 || c == 0x2044              ? "/"
                          : c == 0xb2                                            ? "^2"
                          : c == 0xb3                                            ? "^3"
                                                                                 : NULL;
    if (instead)
        return sl_expr__text_fail(r, SL_EFORMAT, where, "\"%.*s\" is not read; write %s", used,
                                  r->text + where, instead);
    return sl_expr__text_fail(r, SL_EFORMAT, where, "unexpected \"%.*s\"", used, r->text + where);
}

/* ---------------------------------------------------------------- pieces of text ------------ */

static bool is_digit(const sl_reader *r, size_t at) {
    return at < r->n && r->text[at] >= '0' && r->text[at] <= '9';
}

/* The decimal exponent at r->at if there is one, bounded: larger ones need texts of 10^17
 * digits. */
static int64_t read_exponent(sl_reader *r) {
    size_t at = r->at;
    if (at >= r->n || (r->text[at] | 0x20) != 'e') return 0;
    at++;
    bool negative = at < r->n && r->text[at] == '-';
    if (at < r->n && (r->text[at] == '-' || r->text[at] == '+')) at++;
    if (!is_digit(r, at)) return 0; // the e begins something else
    int64_t e = 0;
    for (; is_digit(r, at); at++) e = SL_MIN(10 * e + (r->text[at] - '0'), INT64_MAX / 20);
    r->at = at;
    return negative ? -e : e;
}

bool sl_expr__text_number(sl_reader *r, sl_rat *out, bool with_exponent) {
    typedef unsigned __int128 wide;
    const wide most = (wide)1 << 122; // 36 digits, with room for one more
    size_t start = r->at;
    wide m = 0;
    int64_t zeros = 0,
            scale = 0; // value = m * 10^(zeros + scale); zeros are put off: none may follow
    bool point = false, large = false;
    for (; r->at < r->n; r->at++) {
        char c = r->text[r->at];
        if (c == '.' && !point) {
            point = true;
            continue;
        }
        if (c < '0' || c > '9') break;
        if (point) scale--;
        if (c == '0') {
            zeros += m != 0;
            continue;
        }
        for (; zeros >= 0 && !large; zeros--) {
            m *= 10;
            large = m > most;
        }
        zeros = 0;
        m = m + (wide)(unsigned)(c - '0');
    }
    scale += zeros;
    if (with_exponent) scale += read_exponent(r);

    wide den = 1;
    if (m == 0) scale = 0;
    // multiply up; or divide out the twos and fives that m has and multiply the others down
    for (; scale > 0 && !large; scale--) {
        m *= 10;
        large = m > most;
    }
    int64_t twos = -scale, fives = -scale;
    for (; twos > 0 && m % 2 == 0; twos--) m /= 2;
    for (; fives > 0 && m % 5 == 0; fives--) m /= 5;
    for (; twos > 0 && !large; twos--) large = (den *= 2) > most;
    for (; fives > 0 && !large; fives--) large = (den *= 5) > most;
    if (large || m > INT64_MAX || den > INT64_MAX) {
        char quote[SL_TEXT_QUOTE];
        sl_expr__text_fail(r, SL_EOVERFLOW, start, "%s is a number beyond 64-bit rationals",
                           sl_expr__text_quote(quote, r->text + start, r->at - start));
        return false;
    }
    *out = (sl_rat){ (int64_t)m, (int64_t)den };
    return true;
}

void sl_expr__text_name_begin(sl_reader *r, size_t *len) {
    *len = 0;
    r->name[0] = '\0';
}

void sl_expr__text_name_add(sl_reader *r, size_t *len, const char *bytes, size_t n) {
    size_t fits = SL_MIN(n, r->name_size - 1 - *len);
    memcpy(r->name + *len, bytes, fits);
    *len += fits;
    r->name[*len] = '\0';
}

bool sl_expr__text_quoted_name(sl_reader *r) {
    size_t start = r->at++, len;
    sl_expr__text_name_begin(r, &len);
    for (; r->at < r->n; r->at++) {
        char c = r->text[r->at];
        if (c == '\0') break;
        if (c == '`') {
            if (r->at + 1 >= r->n || r->text[r->at + 1] != '`') {
                r->at++;
                return true;
            }
            r->at++;
        }
        sl_expr__text_name_add(r, &len, &c, 1);
    }
    if (r->at < r->n)
        sl_expr__text_bad_character(r, r->at);
    else
        sl_expr__text_fail(r, SL_EFORMAT, start,
                           "the backtick that begins this name is never closed");
    return false;
}

/* ---------------------------------------------------------------- the whole ----------------- */

/* A name longer than every known one is unknown whatever follows, so that much room is enough. */
static size_t longest_name(const sl_names *names) {
    size_t most = 80; // words of the grammar, and underscores before x64
    for (int i = 0; names && names->names && i < names->count; i++)
        if (names->names[i]) most = SL_MAX(most, strlen(names->names[i]) + 1);
    return most;
}

/* Fills *error and the thread's message from the failure that the reader recorded. */
static sl_status report(const sl_reader *r, sl_text_error *error) {
    if (r->build.st == SL_ENOMEM)
        return sl_fail(r->build.st, "%s", r->build.reason); // no error of the text
    sl_text_error e = { .offset = r->build.where, .line = 1, .column = 1 };
    for (size_t i = 0; i < r->build.where; i++) {
        if (r->text[i] == '\n') {
            e.line++;
            e.column = 1;
        } else {
            e.column += (r->text[i] & 0xc0) != 0x80; // characters, not bytes
        }
    }
    memcpy(e.reason, r->build.reason, sizeof e.reason);
    if (error) *error = e;
    if (memchr(r->text, '\n', r->n))
        return sl_fail(r->build.st, "line %d, column %d: %s", e.line, e.column, e.reason);
    return sl_fail(r->build.st, "column %d: %s", e.column, e.reason);
}

static sl_expr_term *read_text(sl_reader *r, sl_format format) {
    switch (format) {
    case SL_FORMAT_LATEX: return sl_expr__text_latex(r);
    case SL_FORMAT_PREFIX: return sl_expr__text_prefix(r);
    default: return sl_expr__text_infix(r);
    }
}

sl_status sl_expr_parse(const sl_node **out, sl_arena *a, sl_format format, const char *text,
                        size_t n, const sl_names *names, sl_text_error *error) {
#define X(id, name, reads) [SL_FORMAT_##id] = SL_FORMAT_##reads,
    static const sl_format reader_of[SL_FORMAT_COUNT] = { SL_FORMATS(X) };
#undef X
    SL_ASSERT((unsigned)format < SL_FORMAT_COUNT);
    if (reader_of[format] == SL_FORMAT_COUNT)
        return sl_fail(SL_EINVAL, "expressions are not read from %s", sl_expr_format_name(format));

    size_t mark = sl_arena_mark(a);
    sl_reader r = { .text = n ? text : "", .n = n, .names = names };
    r.build = (sl_expr_builder){ .arena = a, .at = &r.at, .fold = true };
    r.name_size = longest_name(names) + 2;
    r.name = sl_arena_alloc(a, r.name_size);
    if (!r.name) return sl_fail_memory(r.name_size, 1, "a name");

    sl_expr_term *t = read_text(&r, reader_of[format]);
    sl_status st = r.build.st;
    if (st == SL_OK) {
        st = sl_expr_term_end(out, &r.build, mark, t);
        // where in the text a merged number or the number of nodes passed its limit is not known
        if (st != SL_OK) sl_expr__text_fail(&r, st, 0, "%s", sl_last_error());
    }
    if (st != SL_OK) {
        st = report(&r, error);
        sl_arena_rewind(a, mark);
    }
    return st;
}

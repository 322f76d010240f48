/* cell - the value of a table cell: a number, missing, infinite, or text.
 *
 * A number must be the nearest double in any locale, and tables have millions of them: strtod
 * depends on the locale and is too slow. Let w be the digits as a whole number below 10^19 and the
 * value w 10^e. While |e| <= 27, 5^|e| is below 2^63, and
 *
 *     e >= 0    w 5^e fits 128 bits, and the value is that, times 2^e
 *     e < 0     w 2^s / 5^-e, with w shifted to the top of 128 bits, has at least 64 bits before
 *               the point; of the rest it only matters whether it is 0
 *
 * so both are known exactly and rounded once, ties to even. Where w and 10^|e| are doubles
 * themselves, their quotient or product is that rounding. All other numbers are rewritten as digits
 * and an exponent without a point and passed to strtod.
 *
 * Measured on a Zen 3: 17 digits in 45 ns, 4 in 29; strtod takes 123 and 94. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/io_impl.h"

typedef unsigned __int128 wide;

enum {
    DIGITS_FAST = 19,  // fit 64 bits
    POWER_FAST = 27,   // 5 to it fits 63
    POWER_DOUBLE = 22, // 10 to it is a double
    DIGITS_KEPT = 800, // more than decide any rounding: the middle of two doubles has up to 767
    POWER_READ = 1000000000, // no text has enough digits to compensate a larger one
    POWER_MAX = 100000       // far beyond doubles, with DIGITS_KEPT digits
};

// clang-format off
static const uint64_t power_of_5[POWER_FAST + 1] = {
    1, 5, 25, 125, 625, 3125, 15625, 78125, 390625, 1953125, 9765625, 48828125, 244140625,
    1220703125, 6103515625, 30517578125, 152587890625, 762939453125, 3814697265625,
    19073486328125, 95367431640625, 476837158203125, 2384185791015625, 11920928955078125,
    59604644775390625, 298023223876953125, 1490116119384765625, 7450580596923828125
};
static const double power_of_10[POWER_DOUBLE + 1] = {
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22
};
// clang-format on

/* ---------------------------------------------------------------- rounding ------------------ */

/* The double nearest to (m + r) 2^e, where 0 < r < 1 if `more` and else r = 0. m has its top bit
 * set; the result is neither subnormal nor infinite. */
static double round_once(uint64_t m, bool more, int e) {
    const uint64_t kept = m >> 11, left = m & 0x7FF;
    const bool up = left > 0x400 || (left == 0x400 && (more || kept % 2 == 1));
    // the leading one adds to the exponent; so does a carry out of the mantissa, as it must
    const uint64_t bits = ((uint64_t)(e + 11 + 1074) << 52) + kept + up;
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* w 10^e, |e| <= POWER_FAST. */
static double scale(uint64_t w, int e) {
    if (w == 0) return 0;
    if (w <= 1ull << 53 && e >= -POWER_DOUBLE && e <= POWER_DOUBLE)
        return e < 0 ? (double)w / power_of_10[-e] : (double)w * power_of_10[e];

    const int shift = __builtin_clzll(w);
    wide v = (wide)(w << shift) << 64;
    int exponent = -shift - 64 + e;
    bool more = false;
    if (e < 0) {
        const wide all = v;
        v /= power_of_5[-e];
        more = v * power_of_5[-e] != all;
    } else {
        v = (wide)w * power_of_5[e];
        exponent = e;
    }
    // the top 64 bits, and whether anything is below them
    const uint64_t high = (uint64_t)(v >> 64);
    const int zeros = high ? __builtin_clzll(high) : 64 + __builtin_clzll((uint64_t)v);
    v <<= zeros;
    return round_once((uint64_t)(v >> 64), more || (uint64_t)v != 0, exponent + 64 - zeros);
}

/* ---------------------------------------------------------------- spelling ------------------ */

/* The parts of a number's text: sign, digits around a point, power of ten. */
typedef struct spelling {
    bool negative;
    const char *digits; // from the first one on, with the point among them
    const char *end;    // after the last
    uint64_t w;         // the first DIGITS_FAST digits that count
    int counted;        // digits from the first that is not 0
    int64_t behind;     // digits behind the point
    int64_t power;
} spelling;

/* Reads the text from `at` to `end` as a number; false if it is none. `decimal`, `other`: what may
 * stand for the point. */
static bool spell(spelling *s, const char *at, const char *end, char decimal, char other) {
    *s = (spelling){ 0 };
    if (at < end && (*at == '+' || *at == '-')) {
        s->negative = *at++ == '-';
    } else if (end - at > 3 && memcmp(at, "\xE2\x88\x92", 3) == 0) { // U+2212, a minus that is one
        s->negative = true;
        at += 3;
    }
    s->digits = at;
    const char *point = NULL;
    int64_t n = 0;
    for (; at < end; at++) {
        const unsigned d = (unsigned)(unsigned char)*at - '0';
        if (d <= 9) {
            n++;
            if (s->counted < DIGITS_FAST) s->w = 10 * s->w + d;
            if (s->counted > 0 || d > 0) s->counted += s->counted < DIGITS_KEPT;
        } else if (!point && (*at == decimal || *at == other)) {
            point = at;
        } else {
            break;
        }
    }
    if (n == 0) return false;
    s->end = at;
    if (point) s->behind = at - point - 1;
    if (at == end) return true;

    // E, or D as Fortran writes it
    if (!memchr("eEdD", *at, 4)) return false;
    at++;
    bool down = false;
    if (at < end && (*at == '+' || *at == '-')) down = *at++ == '-';
    if (at == end) return false;
    for (; at < end && *at >= '0' && *at <= '9'; at++)
        if (s->power < POWER_READ) s->power = 10 * s->power + (*at - '0');
    if (down) s->power = -s->power;
    return at == end;
}

/* By strtod, from the first DIGITS_KEPT digits as a whole number and a power of ten. */
static double by_library(const spelling *s) {
    char text[DIGITS_KEPT + 32];
    int n = 0;
    int64_t power = s->power - s->behind;
    bool more = false;
    for (const char *p = s->digits; p < s->end; p++) {
        if (*p < '0' || *p > '9' || (n == 0 && *p == '0')) continue;
        if (n < DIGITS_KEPT) {
            text[n++] = *p;
        } else {
            power++;
            more = more || *p != '0';
        }
    }
    if (n == 0) return 0;
    if (more) text[n - 1] = '1'; // no tie is this long, so any digit but 0 rounds alike
    power = SL_MAX(-(int64_t)POWER_MAX, SL_MIN(power, (int64_t)POWER_MAX));
    sl_snprintf(text + n, sizeof text - (size_t)n, "e%lld", (long long)power);
    return sl_strtod(text, NULL);
}

static double value_of(const spelling *s) {
    const int64_t e = s->power - s->behind;
    double v = s->counted <= DIGITS_FAST && e >= -POWER_FAST && e <= POWER_FAST
                   ? scale(s->w, (int)e)
                   : by_library(s);
    return s->negative ? -v : v;
}

/* ---------------------------------------------------------------- marks --------------------- */

/* Digits with marks between them, as people write numbers: 421,204  1.234,5  1 234.5  1'000.
 *
 *     groups     runs of three digits behind one to three, the same mark before each
 *     decimal    one point or comma, the last mark of all
 *
 * One mark with three digits behind it may be either. */
typedef struct marked {
    char group;   // ',' '.' or ' ' for all else that groups digits; 0: none
    char decimal; // '.' or ','; 0: none
    bool unclear; // the only mark, which is `decimal` here, may as well group digits
} marked;

enum { MARKS_MAX = 16, LOOSE_MAX = 64 }; // marks of a number; bytes of one that has some

/* Bytes of the mark at `at`, 0 if there is none; *as: what stands for it. */
static size_t mark_at(char *as, const char *at, const char *end) {
    static const struct {
        const char *text;
        char as;
    } known[] = {
        { ",", ',' },
        { ".", '.' },
        { " ", ' ' },
        { "'", ' ' },
        { "\xC2\xA0", ' ' },     // no-break space
        { "\xE2\x80\x89", ' ' }, // thin space
        { "\xE2\x80\xAF", ' ' }, // narrow no-break space
        { "\xE2\x80\x99", ' ' }, // right single quotation mark
    };
    for (int i = 0; i < SL_LEN(known); i++) {
        const size_t n = strlen(known[i].text);
        if ((size_t)(end - at) < n || memcmp(at, known[i].text, n) != 0) continue;
        *as = known[i].as;
        return n;
    }
    return 0;
}

/* Digits, marks and an exponent from `at` to `end`, without a sign; `out` (LOOSE_MAX bytes) := the
 * same without marks, but for '.' in the place of the last one. */
static bool read_marks(marked *m, char *out, const char *at, const char *end) {
    char mark[MARKS_MAX], *w = out, *last = out;
    int run[MARKS_MAX + 1] = { 0 }, n = 0;
    const bool zero = at < end && *at == '0';
    *m = (marked){ 0 };
    if (end - at >= LOOSE_MAX) return false;
    while (at < end && *at != 'e' && *at != 'E' && *at != 'd' && *at != 'D') {
        if (*at >= '0' && *at <= '9') {
            run[n]++;
            *w++ = *at++;
            continue;
        }
        const size_t used = n < MARKS_MAX ? mark_at(&mark[n], at, end) : 0;
        if (used == 0) return false;
        n++;
        last = w;
        at += used;
    }
    const bool power = at < end;
    bool groups = n > 0 && run[0] >= 1 && run[0] <= 3 && !zero;
    for (int i = 1; i < n; i++) groups = groups && run[i] == 3 && mark[i] == mark[0];
    const bool ended = n > 0 && mark[n - 1] == mark[0] && run[n] == 3 && groups && !power;
    // of several marks the last may be another one, before decimals
    bool headed = n > 1 && run[0] >= 1 && run[0] <= 3 && !zero && mark[n - 1] != mark[0];
    for (int i = 1; i < n; i++)
        headed = headed && run[i] == 3 && (i == n - 1 || mark[i] == mark[0]);
    if (n == 1 && mark[0] != ' ') {
        m->decimal = mark[0];
        m->unclear = ended;
    } else if (ended) {
        m->group = mark[0];
    } else if (headed && mark[n - 1] != ' ') {
        m->group = mark[0];
        m->decimal = mark[n - 1];
    } else if (n > 0) {
        return false;
    }
    // the point, then the exponent
    if (m->decimal) {
        memmove(last + 1, last, (size_t)(w - last));
        *last = '.';
        w++;
    }
    while (at < end) *w++ = *at++;
    *w = '\0';
    return w > out;
}

/* Without what may stand around a number: a sign, a currency, a percent sign, blanks. */
typedef struct bare {
    const char *at, *end;
    bool negative;
    unsigned signs;
} bare;

static size_t blank_at(const char *at, const char *end) {
    char as;
    const size_t n = mark_at(&as, at, end);
    return n > 0 && as == ' ' && *at != '\'' ? n : 0;
}

static size_t currency_at(const char *at, const char *end) {
    static const char *const known[] = { "$", "\xE2\x82\xAC", "\xC2\xA3", "\xC2\xA5" };
    for (int i = 0; i < SL_LEN(known); i++) {
        const size_t n = strlen(known[i]);
        if ((size_t)(end - at) >= n && memcmp(at, known[i], n) == 0) return n;
    }
    return 0;
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool find_bare(bare *b, const char *at, const char *end) {
    bool sign = false;
    *b = (bare){ .at = at, .end = end };
    for (size_t n; b->at < end && !is_digit(*b->at) && *b->at != '.' && *b->at != ','; b->at += n) {
        n = 1;
        if (!sign && (*b->at == '-' || *b->at == '+')) {
            b->negative = *b->at == '-';
            sign = true;
        } else if (!sign && end - b->at > 3 && memcmp(b->at, "\xE2\x88\x92", 3) == 0) {
            b->negative = sign = true;
            n = 3;
        } else if (!(b->signs & SL_SIGN_CURRENCY) && currency_at(b->at, end) > 0) {
            n = currency_at(b->at, end);
            b->signs |= SL_SIGN_CURRENCY;
        } else {
            n = b->signs & SL_SIGN_CURRENCY ? blank_at(b->at, end) : 0;
            if (n == 0) return false;
        }
    }
    // the last digit or point ends the number; behind it one sign and blanks
    const char *stop = end;
    while (stop > b->at && !is_digit(stop[-1]) && stop[-1] != '.' && stop[-1] != ',') stop--;
    b->end = stop;
    for (size_t n; stop < end; stop += n) {
        n = blank_at(stop, end);
        if (n > 0) continue;
        if (b->signs & (SL_SIGN_CURRENCY | SL_SIGN_PERCENT)) return false;
        n = *stop == '%' ? 1 : currency_at(stop, end);
        b->signs |= *stop == '%' ? SL_SIGN_PERCENT : SL_SIGN_CURRENCY;
        if (n == 0) return false;
    }
    return b->end > b->at;
}

unsigned sl_io__cell_marks(const sl_cell *cell) {
    bare b;
    marked m;
    char digits[LOOSE_MAX];
    if (!find_bare(&b, cell->text, cell->text + cell->n) || !read_marks(&m, digits, b.at, b.end))
        return 0;
    unsigned seen = 0;
    if (m.group == ',') seen |= SL_CELL__COMMA_GROUP;
    if (m.group == '.') seen |= SL_CELL__POINT_GROUP;
    if (m.decimal == ',') seen |= m.unclear ? SL_CELL__COMMA_UNCLEAR : SL_CELL__COMMA_DECIMAL;
    if (m.decimal == '.') seen |= m.unclear ? SL_CELL__POINT_UNCLEAR : SL_CELL__POINT_DECIMAL;
    return seen;
}

static bool may(sl_mark_use style, sl_mark_use use) {
    return style == use || style == SL_MARK_EITHER;
}

/* A number with signs around it or marks in it that are no plain decimal point. */
static bool read_loose(double *out, unsigned *signs, const sl_cell *cell, sl_number_style style) {
    bare b;
    marked m;
    spelling s;
    char digits[LOOSE_MAX];
    if (!find_bare(&b, cell->text, cell->text + cell->n) || !read_marks(&m, digits, b.at, b.end))
        return false;
    const sl_mark_use group = m.group == ',' ? style.comma : style.point;
    const sl_mark_use decimal = m.decimal == ',' ? style.comma : style.point;
    if (m.unclear && decimal == SL_MARK_EITHER) {
        *signs = SL_SIGN_UNCLEAR;
        return false;
    }
    const bool regroup = m.unclear && decimal == SL_MARK_GROUP;
    if (m.group && m.group != ' ' && !may(group, SL_MARK_GROUP)) return false;
    if (m.decimal && !regroup && !may(decimal, SL_MARK_DECIMAL)) return false;
    if (regroup) { // the mark before the last three digits goes
        char *point = strchr(digits, '.');
        memmove(point, point + 1, strlen(point));
    }
    if (!spell(&s, digits, digits + strlen(digits), '.', '.')) return false;
    s.negative = b.negative;
    *out = value_of(&s);
    *signs = b.signs | (m.group || regroup ? SL_SIGN_GROUPS : 0u);
    return true;
}

/* ---------------------------------------------------------------- words --------------------- */

static bool is_word(const char *text, size_t n, const char *word) {
    return strlen(word) == n && sl_strncasecmp(text, word, n) == 0;
}

static bool is_missing(const char *text, size_t n) {
    static const char *const words[] = {
        "NA", "N/A", "NaN", "+NaN", "-NaN",    "null",    "none",  "#N/A",  "?",      "-",
        "--", "---", ".",   "n.a.", "#VALUE!", "#DIV/0!", "#REF!", "#NUM!", "#NAME?", "#NULL!",
    };
    for (int i = 0; i < SL_LEN(words); i++)
        if (is_word(text, n, words[i])) return true;
    return n == 0;
}

static bool is_infinite(const char *text, size_t n) {
    if (n > 0 && (*text == '+' || *text == '-')) text++, n--;
    return is_word(text, n, "inf") || is_word(text, n, "infinity");
}

static sl_cell_kind kind_of_word(double *out, const sl_cell *cell) {
    *out = NAN;
    if (is_missing(cell->text, cell->n)) return SL_CELL_MISSING;
    if (!is_infinite(cell->text, cell->n)) return SL_CELL_TEXT;
    *out = cell->text[0] == '-' ? -INFINITY : INFINITY;
    return SL_CELL_INFINITE;
}

sl_cell_kind sl_io_cell_number(double *out, const sl_cell *cell, char separator) {
    spelling s;
    if (!spell(&s, cell->text, cell->text + cell->n, '.', separator == ',' ? '.' : ','))
        return kind_of_word(out, cell);
    *out = value_of(&s);
    return isfinite(*out) ? SL_CELL_NUMBER : SL_CELL_INFINITE;
}

sl_cell_kind sl_io_cell_read(double *out, unsigned *signs, const sl_cell *cell,
                             sl_number_style style) {
    spelling s;
    // the marks that are decimal without doubt
    const bool point = style.point == SL_MARK_DECIMAL, comma = style.comma == SL_MARK_DECIMAL;
    *signs = 0;
    if ((point || comma) &&
        spell(&s, cell->text, cell->text + cell->n, point ? '.' : ',', comma ? ',' : '.'))
        *out = value_of(&s);
    else if (!read_loose(out, signs, cell, style))
        return kind_of_word(out, cell);
    return isfinite(*out) ? SL_CELL_NUMBER : SL_CELL_INFINITE;
}

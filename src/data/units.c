/* units - texts such as kg*m^2/s^2 as exponents of the SI's base units and a factor.
 *
 *     unit    = part { [ "*" | "." | blank | "/" ] part }
 *     part    = ( name | number | "(" unit ")" ) [ power ]
 *     power   = ( "^" | "**" ) ( [sign] digits [ "/" digits ] | "(" the same ")" ) | [sign] digits
 *
 * Raised digits (U+00B2, U+2070, ...) are a power too. A quotient is of all that is to its left, so
 * J/kg/K is J/(kg K), and J/kg K is (J/kg) K. */
#include <math.h>
#include <string.h>

#include "data/unit_impl.h"

enum { DEPTH_MAX = 16, POWER_MAX = INT16_MAX };

/* ---------------------------------------------------------------- dimensions ---------------- */

bool sl_data_dimension_equal(sl_dimension a, sl_dimension b) {
    return memcmp(&a, &b, sizeof a) == 0;
}

bool sl_data_dimension_multiply(sl_dimension *out, sl_dimension a, sl_dimension b, int num,
                                int den) {
    sl_dimension d = { { 0 } };
    SL_ASSERT(den > 0);
    for (int i = 0; i < 7; i++) {
        const int64_t product = (int64_t)b.power[i] * num, sum = a.power[i] + product / den;
        if (product % den != 0 || sum < INT16_MIN || sum > INT16_MAX) return false;
        d.power[i] = (int16_t)sum;
    }
    *out = d;
    return true;
}

/* In the order that people write them. */
static const struct {
    int place;
    const char *name;
} base_units[] = { { 1, "kg" }, { 0, "m" },   { 2, "s" }, { 3, "A" },
                   { 4, "K" },  { 5, "mol" }, { 6, "cd" } };

static int common_divisor(int a, int b) { return b == 0 ? a : common_divisor(b, a % b); }

void sl_data_dimension_print(sl_str *s, sl_dimension d) {
    static const sl_dimension none = { { 0 } };
    const char *name = sl_data__unit_name_of(d);
    if (name || sl_data_dimension_equal(d, none)) {
        sl_str_add(s, name ? name : "1");
        return;
    }
    const char *between = "";
    for (int i = 0; i < SL_LEN(base_units); i++) {
        const int power = d.power[base_units[i].place];
        if (power == 0) continue;
        sl_str_addf(s, "%s%s", between, base_units[i].name);
        between = " ";
        const int part = common_divisor(power < 0 ? -power : power, SL_DIMENSION_PART);
        const int num = power / part, den = SL_DIMENSION_PART / part;
        if (den != 1)
            sl_str_addf(s, "^(%d/%d)", num, den);
        else if (num != 1)
            sl_str_addf(s, "^%d", num);
    }
}

/* ---------------------------------------------------------------- reading ------------------- */

typedef struct reader {
    const char *text, *at, *end;
    int depth;
} reader;

static sl_status fail_at(const reader *r, const char *at, const char *reason) {
    return sl_fail(SL_EFORMAT, "unit \"%.*s\", byte %d: %s", (int)SL_MIN(r->end - r->text, 60),
                   r->text, (int)(at - r->text) + 1, reason);
}

static void skip_blanks(reader *r) {
    while (r->at < r->end && sl_isspace(*r->at)) r->at++;
}

/* Is `mark` next? Then it is passed. */
static bool take(reader *r, const char *mark) {
    const size_t n = strlen(mark);
    if ((size_t)(r->end - r->at) < n || memcmp(r->at, mark, n) != 0) return false;
    r->at += n;
    return true;
}

/* A raised digit or sign: 0 .. 9, 10 for -, 11 for +; -1: none. Passed if it is one. */
static int take_raised(reader *r) {
    static const char *const raised[] = { "\xe2\x81\xb0", "\xc2\xb9",     "\xc2\xb2",
                                          "\xc2\xb3",     "\xe2\x81\xb4", "\xe2\x81\xb5",
                                          "\xe2\x81\xb6", "\xe2\x81\xb7", "\xe2\x81\xb8",
                                          "\xe2\x81\xb9", "\xe2\x81\xbb", "\xe2\x81\xba" };
    for (int i = 0; i < SL_LEN(raised); i++)
        if (take(r, raised[i])) return i;
    return -1;
}

static bool take_digits(int *out, reader *r) {
    const char *from = r->at;
    int64_t n = 0;
    while (r->at < r->end && sl_isdigit(*r->at) && n <= POWER_MAX) n = 10 * n + (*r->at++ - '0');
    *out = (int)n;
    return r->at > from && n <= POWER_MAX;
}

static bool take_signed(int *out, reader *r) {
    const bool minus = take(r, "-") || take(r, "\xe2\x88\x92");
    if (!minus) (void)take(r, "+");
    if (!take_digits(out, r)) return false;
    if (minus) *out = -*out;
    return true;
}

/* A power in raised digits. */
static bool read_raised(int *num, reader *r) {
    int digit = take_raised(r), sign = 1, digits = 0;
    *num = 0;
    if (digit >= 10) {
        sign = digit == 10 ? -1 : 1;
        digit = take_raised(r);
    }
    for (; digit >= 0 && digit < 10 && *num <= POWER_MAX; digit = take_raised(r), digits++)
        *num = 10 * *num + digit;
    *num *= sign;
    return digits > 0 && digit < 0 && *num <= POWER_MAX;
}

/* The power behind a part; 1/1 where there is none. A bare one must follow at once: m2, s-1. */
static sl_status read_power(int *num, int *den, reader *r, bool bare) {
    const char *from = r->at;
    *num = *den = 1;
    if (take(r, "^") || take(r, "**")) {
        const bool bracket = take(r, "(");
        const bool minus = r->at < r->end && (*r->at == '-' || (unsigned char)*r->at == 0xe2);
        bool good = take_signed(num, r);
        if (good && bracket && take(r, "/")) {
            good = take_digits(den, r) && *den > 0;
        } else if (good && take(r, ".5")) { // m^0.5, s^-1.5
            good = r->at == r->end || !sl_isdigit(*r->at);
            *num = 2 * *num + (minus ? -1 : 1);
            *den = 2;
        }
        if (!good || (bracket && !take(r, ")")))
            return fail_at(r, from,
                           "a power is a whole number, as m^2 or s^-1, or a fraction, as m^(1/2)");
        return SL_OK;
    }
    if (take_raised(&(reader){ .at = r->at, .end = r->end }) >= 0)
        return read_raised(num, r) ? SL_OK : fail_at(r, from, "a power that is no number");
    const char next = from < r->end ? *from : 0, after = from + 1 < r->end ? from[1] : 0;
    const bool sign = next == '-' || next == '+';
    if (!bare || !(sl_isdigit(next) || (sign && sl_isdigit(after)))) return SL_OK;
    return take_signed(num, r) ? SL_OK : fail_at(r, from, "a power that is too high");
}

static bool is_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '%' || (unsigned char)c >= 0x80;
}

/* Letters, and of characters beyond ASCII those that are no raised digits and no dots. */
static size_t name_length(const reader *r) {
    reader at = *r;
    while (at.at < at.end && is_name(*at.at)) {
        reader ahead = at;
        if (take_raised(&ahead) >= 0 || take(&ahead, "\xc2\xb7") || take(&ahead, "\xe2\x8b\x85") ||
            take(&ahead, "\xe2\x88\x92"))
            break;
        at.at++;
    }
    return (size_t)(at.at - r->at);
}

static sl_status read_name(sl_unit *out, reader *r) {
    const size_t n = name_length(r);
    if (n == 0) return fail_at(r, r->at, "a unit is missing here, as kg, m/s or 1");
    if (!sl_data__unit_find(out, r->at, n)) {
        const char *near = sl_data__unit_near(r->at, n);
        char reason[120];
        sl_snprintf(reason, sizeof reason, "\"%.*s\" is no unit that is known here%s%s%s",
                    (int)SL_MIN(n, (size_t)40), r->at, near ? "; did you mean \"" : "",
                    near ? near : "", near ? "\"?" : "");
        return fail_at(r, r->at, reason);
    }
    r->at += n;
    return SL_OK;
}

static sl_status read_number(sl_unit *out, reader *r) {
    char digits[40];
    size_t n = 0;
    while (r->at + n < r->end && n + 1 < sizeof digits &&
           (sl_isdigit(r->at[n]) || r->at[n] == '.' ||
            (n > 0 && (r->at[n] == 'e' || r->at[n] == 'E') && r->at + n + 1 < r->end &&
             (sl_isdigit(r->at[n + 1]) || r->at[n + 1] == '-' || r->at[n + 1] == '+')) ||
            (n > 0 && (r->at[n] == '-' || r->at[n] == '+') &&
             (r->at[n - 1] == 'e' || r->at[n - 1] == 'E'))))
        n++;
    memcpy(digits, r->at, n);
    digits[n] = 0;
    char *end;
    *out = (sl_unit){ .factor = sl_strtod(digits, &end) };
    if (end == digits || !(out->factor > 0) || !isfinite(out->factor))
        return fail_at(r, r->at, "a factor must be a number above 0");
    r->at += end - digits;
    return SL_OK;
}

static sl_status read_product(sl_unit *out, reader *r);

static sl_status read_part(sl_unit *out, reader *r, int sign) {
    const char *from = r->at;
    sl_unit part;
    int num, den;
    bool named = false;
    if (take(r, "(")) {
        if (++r->depth > DEPTH_MAX) return fail_at(r, from, "too many parentheses");
        SL_TRY(read_product(&part, r));
        if (!take(r, ")")) return fail_at(r, r->at, "a ) is missing");
        r->depth--;
    } else if (r->at < r->end && (sl_isdigit(*r->at) || *r->at == '.')) {
        SL_TRY(read_number(&part, r));
    } else {
        SL_TRY(read_name(&part, r));
        named = true;
    }
    SL_TRY(read_power(&num, &den, r, named));
    if (!sl_data_dimension_multiply(&out->dimension, out->dimension, part.dimension, sign * num,
                                    den))
        return fail_at(r, from, "a power that is no sixtieth of a whole one, or too high");
    out->factor *= pow(part.factor, sign * (double)num / den);
    if (!(out->factor > 0) || !isfinite(out->factor))
        return fail_at(r, from, "the unit's size is beyond all numbers");
    return SL_OK;
}

/* Up to the end or a closing bracket. */
static sl_status read_product(sl_unit *out, reader *r) {
    *out = (sl_unit){ .factor = 1 };
    skip_blanks(r);
    SL_TRY(read_part(out, r, 1));
    for (;;) {
        skip_blanks(r);
        if (r->at == r->end || *r->at == ')') return SL_OK;
        const int sign = take(r, "/") ? -1 : 1;
        if (sign > 0 && !take(r, "*") && !take(r, ".") && !take(r, "\xc2\xb7"))
            (void)take(r, "\xe2\x8b\x85");
        skip_blanks(r);
        SL_TRY(read_part(out, r, sign));
    }
}

sl_status sl_data_unit_parse(sl_unit *out, const char *text, size_t n) {
    reader r = { .text = text, .at = text, .end = text + n };
    sl_unit u;
    SL_TRY(read_product(&u, &r));
    if (r.at < r.end) return fail_at(&r, r.at, "a ) too many");
    *out = u;
    return SL_OK;
}

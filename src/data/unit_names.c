/* unit_names - the units that have names.
 *
 * A name is looked up as it stands first, then without a prefix: min is a minute and no milli-inch,
 * Pa no peta-year. */
#include <string.h>

#include "data/unit_impl.h"

static const double PI = 3.14159265358979323846;

/* SHORT: takes k, M, m, ...; LONG: takes kilo, mega, ...; COHERENT: takes short ones, and prints.
 */
typedef enum prefixes { NONE, SHORT, LONG, COHERENT } prefixes;

typedef struct row {
    const char *name;
    prefixes takes;
    double factor;
    int8_t power[7]; // m kg s A K mol cd
} row;

static const row rows[] = {
    // base units, and one that takes the prefixes of its kilo
    { "m", SHORT, 1, { 1 } },
    { "kg", NONE, 1, { 0, 1 } },
    { "g", SHORT, 1e-3, { 0, 1 } },
    { "s", SHORT, 1, { 0, 0, 1 } },
    { "A", SHORT, 1, { 0, 0, 0, 1 } },
    { "K", SHORT, 1, { 0, 0, 0, 0, 1 } },
    { "mol", SHORT, 1, { 0, 0, 0, 0, 0, 1 } },
    { "cd", SHORT, 1, { 0, 0, 0, 0, 0, 0, 1 } },
    // derived SI units
    { "N", COHERENT, 1, { 1, 1, -2 } },
    { "Pa", COHERENT, 1, { -1, 1, -2 } },
    { "J", COHERENT, 1, { 2, 1, -2 } },
    { "W", COHERENT, 1, { 2, 1, -3 } },
    { "C", COHERENT, 1, { 0, 0, 1, 1 } },
    { "V", COHERENT, 1, { 2, 1, -3, -1 } },
    { "F", COHERENT, 1, { -2, -1, 4, 2 } },
    { "ohm", COHERENT, 1, { 2, 1, -3, -2 } },
    { "Ohm", SHORT, 1, { 2, 1, -3, -2 } },
    { "\xce\xa9", SHORT, 1, { 2, 1, -3, -2 } },     // Omega
    { "\xe2\x84\xa6", SHORT, 1, { 2, 1, -3, -2 } }, // the ohm sign
    { "S", COHERENT, 1, { -2, -1, 3, 2 } },
    { "Wb", COHERENT, 1, { 2, 1, -2, -1 } },
    { "T", COHERENT, 1, { 0, 1, -2, -1 } },
    { "H", COHERENT, 1, { 2, 1, -2, -2 } },
    { "Hz", SHORT, 1, { 0, 0, -1 } },
    { "Bq", SHORT, 1, { 0, 0, -1 } },
    { "lm", SHORT, 1, { 0, 0, 0, 0, 0, 0, 1 } },
    { "lx", SHORT, 1, { -2, 0, 0, 0, 0, 0, 1 } },
    { "Gy", SHORT, 1, { 2, 0, -2 } },
    { "Sv", SHORT, 1, { 2, 0, -2 } },
    { "kat", SHORT, 1, { 0, 0, -1, 0, 0, 1 } },
    // plain numbers
    { "rad", SHORT, 1, { 0 } },
    { "sr", SHORT, 1, { 0 } },
    { "deg", NONE, PI / 180, { 0 } },
    { "\xc2\xb0", NONE, PI / 180, { 0 } }, // the degree sign
    { "arcmin", NONE, PI / 10800, { 0 } },
    { "arcsec", NONE, PI / 648000, { 0 } },
    { "%", NONE, 0.01, { 0 } },
    { "percent", NONE, 0.01, { 0 } },
    { "ppm", NONE, 1e-6, { 0 } },
    { "count", NONE, 1, { 0 } },
    // time
    { "sec", NONE, 1, { 0, 0, 1 } },
    { "min", NONE, 60, { 0, 0, 1 } },
    { "h", NONE, 3600, { 0, 0, 1 } },
    { "hr", NONE, 3600, { 0, 0, 1 } },
    { "d", NONE, 86400, { 0, 0, 1 } },
    { "day", NONE, 86400, { 0, 0, 1 } },
    { "yr", SHORT, 31557600, { 0, 0, 1 } },
    { "a", SHORT, 31557600, { 0, 0, 1 } },
    { "rpm", NONE, 2 * PI / 60, { 0, 0, -1 } },
    // length, area, volume
    { "\xc3\x85", NONE, 1e-10, { 1 } }, // Angstrom
    { "angstrom", NONE, 1e-10, { 1 } },
    { "au", NONE, 149597870700, { 1 } },
    { "AU", NONE, 149597870700, { 1 } },
    { "ly", SHORT, 9460730472580800, { 1 } },
    { "pc", SHORT, 3.0856775814913673e16, { 1 } },
    { "in", NONE, 0.0254, { 1 } },
    { "inch", NONE, 0.0254, { 1 } },
    { "ft", NONE, 0.3048, { 1 } },
    { "yd", NONE, 0.9144, { 1 } },
    { "mi", NONE, 1609.344, { 1 } },
    { "nmi", NONE, 1852, { 1 } },
    { "ha", NONE, 1e4, { 2 } },
    { "L", SHORT, 1e-3, { 3 } },
    { "l", SHORT, 1e-3, { 3 } },
    { "gal", NONE, 0.003785411784, { 3 } },
    // speed
    { "mph", NONE, 0.44704, { 1, 0, -1 } },
    { "kph", NONE, 1 / 3.6, { 1, 0, -1 } },
    { "kn", NONE, 1852.0 / 3600, { 1, 0, -1 } },
    // mass and amount
    { "t", SHORT, 1000, { 0, 1 } },
    { "u", NONE, 1.66053906892e-27, { 0, 1 } },
    { "Da", SHORT, 1.66053906892e-27, { 0, 1 } },
    { "lb", NONE, 0.45359237, { 0, 1 } },
    { "oz", NONE, 0.028349523125, { 0, 1 } },
    { "M", SHORT, 1000, { -3, 0, 0, 0, 0, 1 } },
    // force, pressure, energy, power
    { "lbf", NONE, 4.4482216152605, { 1, 1, -2 } },
    { "dyn", NONE, 1e-5, { 1, 1, -2 } },
    { "bar", SHORT, 1e5, { -1, 1, -2 } },
    { "atm", NONE, 101325, { -1, 1, -2 } },
    { "mmHg", NONE, 133.322387415, { -1, 1, -2 } },
    { "Torr", SHORT, 101325.0 / 760, { -1, 1, -2 } },
    { "psi", NONE, 6894.757293168361, { -1, 1, -2 } },
    { "P", SHORT, 0.1, { -1, 1, -1 } },
    { "eV", SHORT, 1.602176634e-19, { 2, 1, -2 } },
    { "Wh", SHORT, 3600, { 2, 1, -2 } },
    { "cal", SHORT, 4.184, { 2, 1, -2 } },
    { "erg", NONE, 1e-7, { 2, 1, -2 } },
    { "hp", NONE, 745.6998715822702, { 2, 1, -3 } },
    // electricity and temperature
    { "Ah", SHORT, 3600, { 0, 0, 1, 1 } },
    { "G", SHORT, 1e-4, { 0, 1, -2, -1 } },
    { "degC", NONE, 1, { 0, 0, 0, 0, 1 } },
    { "\xc2\xb0"
      "C",
      NONE,
      1,
      { 0, 0, 0, 0, 1 } },
    { "degF", NONE, 5.0 / 9, { 0, 0, 0, 0, 1 } },
    // written out
    { "meter", LONG, 1, { 1 } },
    { "metre", LONG, 1, { 1 } },
    { "gram", LONG, 1e-3, { 0, 1 } },
    { "second", LONG, 1, { 0, 0, 1 } },
    { "minute", NONE, 60, { 0, 0, 1 } },
    { "hour", NONE, 3600, { 0, 0, 1 } },
    { "year", NONE, 31557600, { 0, 0, 1 } },
    { "ampere", LONG, 1, { 0, 0, 0, 1 } },
    { "kelvin", LONG, 1, { 0, 0, 0, 0, 1 } },
    { "mole", LONG, 1, { 0, 0, 0, 0, 0, 1 } },
    { "candela", LONG, 1, { 0, 0, 0, 0, 0, 0, 1 } },
    { "newton", LONG, 1, { 1, 1, -2 } },
    { "pascal", LONG, 1, { -1, 1, -2 } },
    { "joule", LONG, 1, { 2, 1, -2 } },
    { "watt", LONG, 1, { 2, 1, -3 } },
    { "coulomb", LONG, 1, { 0, 0, 1, 1 } },
    { "volt", LONG, 1, { 2, 1, -3, -1 } },
    { "farad", LONG, 1, { -2, -1, 4, 2 } },
    { "siemens", LONG, 1, { -2, -1, 3, 2 } },
    { "weber", LONG, 1, { 2, 1, -2, -1 } },
    { "tesla", LONG, 1, { 0, 1, -2, -1 } },
    { "henry", LONG, 1, { 2, 1, -2, -2 } },
    { "hertz", LONG, 1, { 0, 0, -1 } },
    { "liter", LONG, 1e-3, { 3 } },
    { "litre", LONG, 1e-3, { 3 } },
    { "degree", NONE, PI / 180, { 0 } },
    { "radian", LONG, 1, { 0 } },
};

static const struct {
    const char *name;
    bool is_long;
    double factor;
} table_of_prefixes[] = {
    { "da", false, 1e1 },        { "d", false, 1e-1 },    { "c", false, 1e-2 },
    { "m", false, 1e-3 },        { "u", false, 1e-6 },    { "\xc2\xb5", false, 1e-6 }, // micro sign
    { "\xce\xbc", false, 1e-6 },                                                       // mu
    { "n", false, 1e-9 },        { "p", false, 1e-12 },   { "f", false, 1e-15 },
    { "a", false, 1e-18 },       { "h", false, 1e2 },     { "k", false, 1e3 },
    { "M", false, 1e6 },         { "G", false, 1e9 },     { "T", false, 1e12 },
    { "P", false, 1e15 },        { "E", false, 1e18 },    { "centi", true, 1e-2 },
    { "milli", true, 1e-3 },     { "micro", true, 1e-6 }, { "nano", true, 1e-9 },
    { "pico", true, 1e-12 },     { "kilo", true, 1e3 },   { "mega", true, 1e6 },
    { "giga", true, 1e9 },
};

static void fill(sl_unit *out, const row *r, double factor) {
    *out = (sl_unit){ .factor = factor * r->factor };
    for (int i = 0; i < 7; i++)
        out->dimension.power[i] = (int16_t)(SL_DIMENSION_PART * r->power[i]);
}

/* The row of this name; a name that is written out may have an s. */
static const row *find_row(const char *name, size_t n) {
    for (int i = 0; i < SL_LEN(rows); i++) {
        const size_t length = strlen(rows[i].name);
        const bool plural = n == length + 1 && length > 3 && name[length] == 's';
        if ((n == length || plural) && memcmp(rows[i].name, name, length) == 0) return &rows[i];
    }
    return NULL;
}

bool sl_data__unit_find(sl_unit *out, const char *name, size_t n) {
    const row *r = find_row(name, n);
    if (r) {
        fill(out, r, 1);
        return true;
    }
    for (int i = 0; i < SL_LEN(table_of_prefixes); i++) {
        const size_t length = strlen(table_of_prefixes[i].name);
        if (n <= length || memcmp(name, table_of_prefixes[i].name, length) != 0) continue;
        r = find_row(name + length, n - length);
        if (!r || r->takes == NONE || (r->takes == LONG) != table_of_prefixes[i].is_long) continue;
        fill(out, r, table_of_prefixes[i].factor);
        return true;
    }
    return false;
}

const char *sl_data__unit_near(const char *name, size_t n) {
    char word[16];
    const char *best = NULL;
    if (n == 0 || n >= sizeof word) return NULL;
    memcpy(word, name, n);
    word[n] = 0;
    int least = 1 + (int)n / 2; // changes that are a slip and no other word
    for (int i = 0; i < SL_LEN(rows); i++) {
        const bool other_case = sl_strcasecmp(word, rows[i].name) == 0;
        const int distance = other_case ? 0 : sl_edit_distance(word, rows[i].name);
        if (distance >= least) continue;
        least = distance;
        best = rows[i].name;
    }
    return best;
}

const char *sl_data__unit_name_of(sl_dimension d) {
    for (int i = 0; i < SL_LEN(rows); i++) {
        sl_unit u;
        fill(&u, &rows[i], 1);
        if (rows[i].takes == COHERENT && sl_data_dimension_equal(u.dimension, d))
            return rows[i].name;
    }
    return NULL;
}

/* table_date - dates and times as tables have them.
 *
 *     2024-03-01  2024/3/1  20240301T123000     year, month, day
 *     01.03.2024                                day, month, year: points say so
 *     03/01/2024  3-1-24                        either order: other dates of the column decide
 *     1 Mar 2024  01-Mar-24  March 1, 2024      the month in letters
 *     ... 12:30  12:30:05.25  12:30 PM  Z  +01:00  behind a date or alone
 *
 * Seconds are counted without leap seconds. A zone behind the time is taken off. */
#include <math.h>
#include <string.h>

#include "data/table_impl.h"

typedef struct scan {
    const char *at, *end;
} scan;

static bool is_digit(const scan *s) { return s->at < s->end && *s->at >= '0' && *s->at <= '9'; }

static bool take(scan *s, char c) {
    if (s->at == s->end || *s->at != c) return false;
    s->at++;
    return true;
}

static void skip_blanks(scan *s) {
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\t')) s->at++;
}

/* A whole number of up to `most` digits; *digits: how many, 0 if there is none. */
static int number(scan *s, int *digits, int most) {
    int v = 0;
    for (*digits = 0; *digits < most && is_digit(s); s->at++, ++*digits)
        v = 10 * v + (*s->at - '0');
    return v;
}

/* Of the Gregorian calendar, from 1970-01-01. */
static int64_t days_of(int year, int month, int day) {
    const int64_t y = year - (month <= 2), era = (y >= 0 ? y : y - 399) / 400;
    const int64_t in_era = y - era * 400;
    const int64_t in_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + in_era * 365 + in_era / 4 - in_era / 100 + in_year - 719468;
}

static bool is_day(int year, int month, int day) {
    static const int days[] = { 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    if (month < 1 || month > 12 || day < 1 || day > days[month - 1]) return false;
    const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return month != 2 || day < 29 || leap;
}

double sl_data__table_swap_date(double seconds) {
    const double all = floor(seconds / 86400);
    const int64_t z = (int64_t)all + 719468, era = (z >= 0 ? z : z - 146096) / 146097;
    const int64_t in_era = z - era * 146097;
    const int64_t years = (in_era - in_era / 1460 + in_era / 36524 - in_era / 146096) / 365;
    const int64_t in_year = in_era - (365 * years + years / 4 - years / 100);
    const int64_t m = (5 * in_year + 2) / 153;
    const int day = (int)(in_year - (153 * m + 2) / 5 + 1), month = (int)(m < 10 ? m + 3 : m - 9);
    const int year = (int)(years + era * 400 + (month <= 2));
    return 86400.0 * (double)days_of(year, day, month) + (seconds - 86400 * all);
}

/* 0: the letters name none. */
static int month_name(scan *s) {
    static const char *const names[] = { "january",   "february", "march",    "april",
                                         "may",       "june",     "july",     "august",
                                         "september", "october",  "november", "december" };
    size_t n = 0;
    while (s->at + n < s->end && sl_isalpha(s->at[n])) n++;
    for (int i = 0; i < SL_LEN(names); i++) {
        const bool whole = n == strlen(names[i]);
        if ((n != 3 && !whole && !(n == 4 && i == 8)) || sl_strncasecmp(s->at, names[i], n) != 0)
            continue;
        s->at += n;
        take(s, '.');
        return i + 1;
    }
    return 0;
}

/* Two digits are a year of 1969 to 2068, as of POSIX. */
static int full_year(int year, int digits) {
    return digits > 2 ? year : year >= 69 ? 1900 + year : 2000 + year;
}

static bool put(double *seconds, int year, int month, int day) {
    if (!is_day(year, month, day)) return false;
    *seconds = 86400.0 * (double)days_of(year, month, day);
    return true;
}

/* Two numbers and a year, between the same marks. */
static bool read_short(double *seconds, sl_table__order *shows, scan *s, int first, char mark,
                       sl_table__order order) {
    int n, year_digits;
    const int second = number(s, &n, 2);
    if (n == 0 || !take(s, mark)) return false;
    const int read = number(s, &year_digits, 4), year = full_year(read, year_digits);
    if (year_digits != 2 && year_digits != 4) return false;
    const bool day_first = is_day(year, second, first), month_first = is_day(year, first, second);
    if (mark == '.' || (day_first && !month_first))
        *shows = SL_TABLE__ORDER_DAY;
    else if (month_first && !day_first)
        *shows = SL_TABLE__ORDER_MONTH;
    if (*shows != SL_TABLE__ORDER_UNKNOWN) order = *shows;
    if (order == SL_TABLE__ORDER_DAY) return put(seconds, year, second, first);
    if (order == SL_TABLE__ORDER_MONTH) return put(seconds, year, first, second);
    *seconds = NAN;
    return first == second ? put(seconds, year, first, second) : day_first && month_first;
}

static bool read_date(double *seconds, sl_table__order *shows, scan *s, sl_table__order order) {
    int digits, n;
    int month = month_name(s);
    if (month > 0) { // March 1, 2024
        skip_blanks(s);
        const int day = number(s, &n, 2);
        take(s, ',');
        skip_blanks(s);
        const int year = number(s, &digits, 4);
        return n > 0 && digits == 4 && put(seconds, year, month, day);
    }
    const int first = number(s, &digits, 8);
    if (digits == 8) // 20240301: only with a time, else it is a number
        return s->at < s->end && put(seconds, first / 10000, first / 100 % 100, first % 100);
    if (digits == 0 || s->at == s->end) return false;
    const char mark = *s->at;
    if (mark != '-' && mark != '/' && mark != '.' && mark != ' ') return false;
    s->at++;
    if (mark == '.') skip_blanks(s);
    const scan before = *s;
    month = digits <= 2 ? month_name(s) : 0;
    if (month > 0) { // 1 Mar 2024
        if (!take(s, mark) && !take(s, ' ')) return false;
        const int year = number(s, &n, 4);
        return (n == 2 || n == 4) && put(seconds, full_year(year, n), month, first);
    }
    *s = before;
    if (mark == ' ') return false;
    if (digits <= 2) return read_short(seconds, shows, s, first, mark, order);
    if (digits != 4 || mark == '.') return false;
    month = number(s, &n, 2);
    if (n == 0 || !take(s, mark)) return false;
    const int day = number(s, &n, 2);
    return n > 0 && put(seconds, first, month, day);
}

/* Adds the time of day and takes off the zone. */
static bool read_time(double *seconds, scan *s) {
    int n;
    double v = 3600 * number(s, &n, 2);
    if (n == 0 || !take(s, ':')) return false;
    const double hours = v / 3600;
    const int minutes = number(s, &n, 2);
    if (n != 2 || minutes > 59 || hours > 24) return false;
    v += 60 * minutes;
    if (take(s, ':')) {
        const int whole = number(s, &n, 2);
        if (n != 2 || whole > 60) return false;
        v += whole;
        if (s->at < s->end && (*s->at == '.' || *s->at == ',')) {
            double unit = 0.1;
            for (s->at++; is_digit(s); s->at++, unit /= 10) v += unit * (*s->at - '0');
        }
    }
    skip_blanks(s);
    if (s->end - s->at == 2 && (s->at[1] == 'M' || s->at[1] == 'm')) {
        const bool after = *s->at == 'P' || *s->at == 'p';
        if ((!after && *s->at != 'A' && *s->at != 'a') || hours < 1 || hours > 12) return false;
        v += after && hours < 12 ? 43200 : !after && hours == 12 ? -43200 : 0;
        s->at = s->end;
    } else if (take(s, 'Z')) {
    } else if (s->at < s->end && (*s->at == '+' || *s->at == '-')) {
        const double sign = *s->at++ == '-' ? -1 : 1;
        const int zone = number(s, &n, 2);
        if (n != 2) return false;
        take(s, ':');
        v -= sign * (3600 * zone + 60 * number(s, &n, 2));
    }
    *seconds += v;
    return true;
}

bool sl_data__table_date(double *seconds, sl_table__order *shows, const char *text, size_t n,
                         sl_table__order order) {
    scan s = { text, text + n };
    *seconds = 0;
    *shows = SL_TABLE__ORDER_UNKNOWN;
    if (n < 4 || n > 40) return false;
    if (read_date(seconds, shows, &s, order)) {
        if (s.at == s.end) return true;
        if (!take(&s, 'T')) {
            take(&s, ',');
            if (s.at == s.end || *s.at != ' ') return false;
            skip_blanks(&s);
        }
        return read_time(seconds, &s) && s.at == s.end;
    }
    s.at = text;
    *seconds = 0;
    *shows = SL_TABLE__ORDER_UNKNOWN;
    return read_time(seconds, &s) && s.at == s.end;
}

/* option - fields of structs by the rows that describe them. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/base.h"

/* ---------------------------------------------------------------- fields -------------------- */

static void *field(const void *options, const sl_option *o) {
    return (char *)(uintptr_t)options + o->offset;
}

double sl_option_number(const void *options, const sl_option *o) {
    const void *at = field(options, o);
    switch (o->kind) {
    case SL_KIND_FLAG: return *(const bool *)at;
    case SL_KIND_INT: return (double)*(const int64_t *)at;
    case SL_KIND_REAL: return *(const double *)at;
    case SL_KIND_CHOICE: return *(const int *)at;
    case SL_KIND_TEXT:
    case SL_KIND_TEXTS: break;
    }
    SL_ASSERT(!"a number");
    return 0;
}

void sl_option_set(void *options, const sl_option *o, double value) {
    void *at = field(options, o);
    switch (o->kind) {
    case SL_KIND_FLAG: *(bool *)at = value != 0; return;
    case SL_KIND_INT:
        if (value >= 0x1p63) // too large for its row, whatever that is
            *(int64_t *)at = INT64_MAX;
        else
            *(int64_t *)at = isnan(value) || value < -0x1p63 ? SL_NONE : (int64_t)value;
        return;
    case SL_KIND_REAL: *(double *)at = value; return;
    case SL_KIND_CHOICE: *(int *)at = isnan(value) ? -1 : (int)value; return;
    case SL_KIND_TEXT:
    case SL_KIND_TEXTS: break;
    }
    SL_ASSERT(!"a number");
}

const char **sl_option_texts(const void *options, const sl_option *o) {
    SL_ASSERT(o->kind == SL_KIND_TEXT || o->kind == SL_KIND_TEXTS);
    return field(options, o);
}

bool sl_option_is_given(const void *options, const sl_option *o) {
    const void *at = field(options, o);
    switch (o->kind) {
    case SL_KIND_FLAG: return true;
    case SL_KIND_INT: return *(const int64_t *)at != SL_NONE;
    case SL_KIND_REAL: return !isnan(*(const double *)at);
    case SL_KIND_CHOICE: return *(const int *)at >= 0;
    case SL_KIND_TEXT:
    case SL_KIND_TEXTS: break;
    }
    return *sl_option_texts(options, o) != NULL;
}

void sl_option_copy(void *to, const void *from, const sl_option *o) {
    static const size_t size[] = {
        [SL_KIND_FLAG] = sizeof(bool),   [SL_KIND_INT] = sizeof(int64_t),
        [SL_KIND_REAL] = sizeof(double), [SL_KIND_CHOICE] = sizeof(int),
        [SL_KIND_TEXT] = sizeof(char *), [SL_KIND_TEXTS] = SL_OPTION_TEXTS_COUNT * sizeof(char *),
    };
    memcpy(field(to, o), field(from, o), size[o->kind]);
}

static bool same_text(const char *a, const char *b) { return a && b ? strcmp(a, b) == 0 : a == b; }

bool sl_option_same(const void *a, const void *b, const sl_option *o) {
    if (o->kind != SL_KIND_TEXT && o->kind != SL_KIND_TEXTS)
        return sl_option_number(a, o) == sl_option_number(b, o);
    const char **x = sl_option_texts(a, o), **y = sl_option_texts(b, o);
    return same_text(x[0], y[0]) && (o->kind == SL_KIND_TEXT || same_text(x[1], y[1]));
}

/* ---------------------------------------------------------------- choices ------------------- */

int sl_option_place(const sl_option *o, const char *name) {
    const size_t n = strlen(name);
    const char *at = o->choices;
    for (int i = 0;; i++) {
        const size_t m = strcspn(at, "|");
        if (m == n && memcmp(at, name, n) == 0) return i;
        if (!at[m]) return -1;
        at += m + 1;
    }
}

const char *sl_option_choice(char name[SL_OPTION_TEXT_MAX], const sl_option *o, int place) {
    const char *at = o->choices;
    SL_ASSERT(place >= 0);
    for (int i = 0; i < place; i++) {
        at += strcspn(at, "|");
        SL_ASSERT(*at == '|');
        at++;
    }
    const size_t n = strcspn(at, "|");
    SL_ASSERT(n < SL_OPTION_TEXT_MAX);
    memcpy(name, at, n);
    name[n] = '\0';
    return name;
}

static double choices_last(const char *choices) {
    double n = 0;
    for (; *choices; choices++) n += *choices == '|';
    return n;
}

/* ---------------------------------------------------------------- defaults ------------------ */

/* 0.00046 is 4.6e-4, and 1e-05 is 1e-5. */
static const char *number_text(char text[SL_OPTION_TEXT_MAX], double x) {
    if (x == floor(x) && fabs(x) < 1e15) {
        sl_snprintf(text, SL_OPTION_TEXT_MAX, "%.0f", x);
    } else if (fabs(x) >= 1e-3 && fabs(x) < 1e15) {
        sl_snprintf(text, SL_OPTION_TEXT_MAX, "%.15g", x);
        if (sl_strtod(text, NULL) != x) sl_snprintf(text, SL_OPTION_TEXT_MAX, "%.17g", x);
    } else {
        int digits = 0;
        do sl_snprintf(text, SL_OPTION_TEXT_MAX, "%.*e", digits, x);
        while (sl_strtod(text, NULL) != x && ++digits < 17);
        char *e = strchr(text, 'e') + 1;
        long exponent = (long)sl_strtoll(e, NULL);
        sl_snprintf(e, SL_OPTION_TEXT_MAX - (size_t)(e - text), "%ld", exponent);
    }
    return text;
}

const char *sl_option_default_text(char text[SL_OPTION_TEXT_MAX], const sl_option *o) {
    if (o->kind == SL_KIND_TEXT || o->kind == SL_KIND_TEXTS) return o->text;
    if (isnan(o->value)) return NULL;
    if (o->kind == SL_KIND_FLAG) return o->value != 0 ? "true" : "false";
    if (o->kind == SL_KIND_CHOICE) return sl_option_choice(text, o, (int)o->value);
    return number_text(text, o->value);
}

void sl_option_defaults(void *options, const sl_option_table *t) {
    for (const sl_option *o = t->row; o < t->row + t->n; o++) {
        if (o->kind == SL_KIND_TEXTS)
            for (int i = 0; i < SL_OPTION_TEXTS_COUNT; i++) sl_option_texts(options, o)[i] = NULL;
        else if (o->kind == SL_KIND_TEXT)
            *sl_option_texts(options, o) = o->text;
        else
            sl_option_set(options, o, o->value);
    }
}

void sl_option_presets(void *options, const sl_option_table *t, const sl_option_preset *list) {
    for (; list->name; list++) sl_option_set(options, sl_option_get(t, list->name), list->value);
}

/* ---------------------------------------------------------------- names, bounds ------------- */

const sl_option *sl_option_find(const sl_option_table *t, const char *name) {
    for (const sl_option *o = t->row; o < t->row + t->n; o++)
        if (strcmp(o->name, name) == 0) return o;
    for (const sl_option *o = t->row; o < t->row + t->n; o++)
        if (o->alias && strcmp(o->alias, name) == 0) return o;
    return NULL;
}

const sl_option *sl_option_get(const sl_option_table *t, const char *name) {
    const sl_option *o = sl_option_find(t, name);
    SL_ASSERT(o != NULL);
    return o;
}

sl_status sl_option_check(const void *options, const sl_option_table *t) {
    for (const sl_option *o = t->row; o < t->row + t->n; o++) {
        if (o->kind == SL_KIND_TEXT || o->kind == SL_KIND_TEXTS || o->kind == SL_KIND_FLAG)
            continue;
        if (isnan(o->value) && !sl_option_is_given(options, o)) continue;
        const double x = sl_option_number(options, o);
        const double max = o->choices ? choices_last(o->choices) : o->max;
        if (!(x >= o->min && x <= max))
            return sl_fail(SL_EINVAL, "%s is %g, not from %g to %g", o->name, x, o->min, max);
    }
    return SL_OK;
}

/* plan_list - lists of numbers in a plan: plain ones, and ones made by a step. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "study/study_impl.h"

const sl_study__range sl_study__batch = { "batch", 1, 1e6, true };
const sl_study__range sl_study__lr = { "lr", 1e-12, 1e3, false };
const sl_study__range sl_study__ratio = { "ratio", 1e-6, 1e9, false };
const sl_study__range sl_study__seed = { "weights-seed", 0, 9007199254740991.0, true };

bool sl_study__in_range(const sl_study__range *g, double v) {
    return v >= g->min && v <= g->max && (!g->whole || v == floor(v));
}

sl_status sl_study__number_read(double *out, const sl_study__reader *r, const sl_study__place *p,
                                const sl_json *j, const sl_study__range *g) {
    const sl_json_kind kind = sl_io_json_kind_of(j);
    const bool number = kind == SL_JSON_INT || kind == SL_JSON_REAL;
    if (number && sl_study__in_range(g, sl_io_json_real(j))) {
        *out = sl_io_json_real(j);
        return SL_OK;
    }
    char got[40];
    if (number) sl_snprintf(got, sizeof got, "%.15g", sl_io_json_real(j));
    return sl_study__fail(r, p, "must be a %s from %.16g to %.16g, not %s",
                          g->whole ? "whole number" : "number", g->min, g->max,
                          number ? got : sl_io_json_kind_text(kind));
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The values of {"from", "times", "to" or "count"}; returns how many, or -1 if there are too many.
 */
static int make_steps(double v[SL_STUDY_MAX_GRID], double from, double times, double to, int count,
                      const sl_study__range *g) {
    double x = from;
    int n = 0;
    // a last value that exceeds `to` by rounding only is included
    for (; n < count && x <= to * (1 + 1e-6); x *= times) {
        if (n == SL_STUDY_MAX_GRID) return -1;
        v[n] = g->whole ? round(x) : n > 0 ? sl_study__rounded(x) : x;
        n++;
    }
    return n;
}

static sl_status read_steps(double v[SL_STUDY_MAX_GRID], int *n, const sl_study__reader *r,
                            const sl_study__place *p, const sl_json *j, const sl_study__range *g) {
    static const char *const names[] = { "from", "times", "to", "count" };
    static const sl_study__range step = { "", 1.001, 1e6, false },
                                 counts = { "", 1, SL_STUDY_MAX_GRID, true };
    double value[] = { 0, 0, HUGE_VAL, SL_STUDY_MAX_GRID + 1 };
    const sl_study__range *const kinds[] = { g, &step, g, &counts };
    SL_TRY(sl_study__members(r, p, j, names, SL_LEN(names)));
    for (int i = 0; i < SL_LEN(names); i++) {
        const sl_json *m = sl_io_json_get(j, names[i]);
        if (m)
            SL_TRY(sl_study__number_read(&value[i], r, &(sl_study__place){ p, names[i], 0 }, m,
                                         kinds[i]));
        else if (i < 2)
            return sl_study__fail(r, p, "a list by steps needs %s", names[i]);
    }
    if (!sl_io_json_get(j, "to") == !sl_io_json_get(j, "count"))
        return sl_study__fail(r, p, "a list by steps needs either to or count");
    *n = make_steps(v, value[0], value[1], value[2], (int)value[3], g);
    if (*n < 0) return sl_study__fail(r, p, "has more than %d values", SL_STUDY_MAX_GRID);
    if (*n == 0) return sl_study__fail(r, p, "has no values: to is below from");
    return SL_OK;
}

static sl_status read_values(double v[SL_STUDY_MAX_GRID], int *n, const sl_study__reader *r,
                             const sl_study__place *p, const sl_json *j, const sl_study__range *g) {
    const sl_json_kind kind = sl_io_json_kind_of(j);
    if (kind == SL_JSON_OBJECT) return read_steps(v, n, r, p, j, g);
    *n = 1;
    if (kind != SL_JSON_ARRAY) return sl_study__number_read(v, r, p, j, g);
    *n = sl_io_json_count(j);
    if (*n < 1 || *n > SL_STUDY_MAX_GRID)
        return sl_study__fail(r, p, "must have 1 to %d values, not %d", SL_STUDY_MAX_GRID, *n);
    for (int i = 0; i < *n; i++)
        SL_TRY(sl_study__number_read(&v[i], r, &(sl_study__place){ p, NULL, i },
                                     sl_io_json_at(j, i), g));
    return SL_OK;
}

sl_status sl_study__list_read(sl_study_list *out, const sl_study__reader *r,
                              const sl_study__place *p, const sl_json *j,
                              const sl_study__range *g) {
    double v[SL_STUDY_MAX_GRID];
    int n = 0;
    SL_TRY(read_values(v, &n, r, p, j, g));
    qsort(v, (size_t)n, sizeof v[0], ascending);
    for (int i = 0; i < n; i++) {
        if (!sl_study__in_range(g, v[i]))
            return sl_study__fail(r, p, "%g is beyond %.16g, the largest %s", v[i], g->max,
                                  g->option);
        if (i > 0 && v[i] == v[i - 1]) return sl_study__fail(r, p, "has %.15g twice", v[i]);
    }
    double *at = sl_arena_alloc(r->arena, (size_t)n * sizeof *at);
    if (!at) return sl_fail_memory((size_t)n, sizeof *at, "a list of a plan");
    memcpy(at, v, (size_t)n * sizeof *at);
    *out = (sl_study_list){ at, n };
    return SL_OK;
}

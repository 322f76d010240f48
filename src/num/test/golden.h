/* Reads tests/golden/num/answers.txt: `case <kind>`, then lines of `<key> <count> <values>`.
 *
 *     golden g = golden_open(t);
 *     while (golden_case(&g, "akima")) {
 *         int n;
 *         const double *x = golden_get(&g, "x", &n);       // NULL when the case has no such line
 *     }
 *     golden_close(&g);                                    // fails if no case was found
 *
 * Tests run from the top of the source tree unless the build names it. */
#ifndef SL_NUM_GOLDEN_H
#define SL_NUM_GOLDEN_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fixture/fixture.h"
#include "num/num.h"

#ifdef SYMLAW_SOURCE_DIR
#define GOLDEN_FILE SYMLAW_SOURCE_DIR "/tests/golden/num/answers.txt"
#else
#define GOLDEN_FILE "tests/golden/num/answers.txt"
#endif

typedef struct golden {
    sl_fixture *t;
    char *text;
    const char *begin, *end; // of the present case
    int cases;
} golden;

static inline golden golden_open(sl_fixture *t) {
    golden g = { .t = t };
    size_t n;
    SL_MUST(t, sl_file_read(&g.text, &n, GOLDEN_FILE, 1 << 20));
    g.begin = g.end = g.text;
    return g;
}

static inline void golden_close(golden *g) {
    SL_CHECK(g->t, g->cases > 0, "no such case in " GOLDEN_FILE);
    sl_free(g->text);
}

static inline bool golden_case(golden *g, const char *kind) {
    char head[64];
    snprintf(head, sizeof head, "\ncase %s\n", kind);
    g->begin = strstr(g->end, head);
    if (!g->begin) return false;
    g->begin += strlen(head) - 1; // keeps the line's end, so that every key follows one
    g->end = strstr(g->begin, "\ncase ");
    if (!g->end) g->end = g->begin + strlen(g->begin);
    g->cases++;
    return true;
}

static inline double *golden_get(golden *g, const char *key, int *n) {
    char head[64];
    snprintf(head, sizeof head, "\n%s ", key);
    if (n) *n = 0;
    char *at = strstr(g->begin, head);
    if (!at || at >= g->end) return NULL;
    int count = (int)strtol(at + strlen(head), &at, 10);
    double *x = sl_arena_alloc(&g->t->arena, (size_t)count * sizeof *x);
    SL_CHECK(g->t, x, "no memory");
    for (int i = 0; i < count; i++) {
        char *next;
        x[i] = strtod(at, &next);
        SL_CHECK(g->t, next != at && next <= g->end, "%s has fewer than %d values", key, count);
        at = next;
    }
    if (n) *n = count;
    return x;
}

/* A single value that must be there. */
static inline double golden_one(golden *g, const char *key) {
    const double *x = golden_get(g, key, NULL);
    SL_CHECK(g->t, x, "case without %s", key);
    return x[0];
}

/* |a - b| <= tol * |b|, and NaN is near NaN. */
static inline bool near(double a, double b, double tol) {
    if (isnan(a) || isnan(b)) return isnan(a) && isnan(b);
    return a == b || fabs(a - b) <= tol * fabs(b);
}

#endif

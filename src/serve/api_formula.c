/* api_formula - formulas in all formats, and one formula of a job with its pictures. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "serve/serve_impl.h"

enum { NAMES_MAX = 64, CONSTANTS_MAX = 256, CURVE = 400, SIDE = 60, PARTIAL = 100 };

/* ---------------------------------------------------------------- formats ------------------- */

/* All that the library may have. One that it does not have is left out. */
static const char *const formats[] = { "infix", "python", "numpy",  "sympy", "c",     "julia",
                                       "excel", "latex",  "mathml", "json",  "prefix" };

static char *print(sl_serve__text *t, const symlaw_formula *f, const char *format) {
    char *text = NULL;
    const symlaw_status st = symlaw_formula_print(&text, f, format);
    if (st == SYMLAW_ENOMEM) t->failed = true; // not to be taken for a format that is missing
    return st == SYMLAW_OK ? text : NULL;
}

void sl_serve__formula_member(sl_serve__text *t, const char *name, const symlaw_formula *f,
                              const char *format) {
    char *text = print(t, f, format);
    sl_serve__json_text(t, name, text);
    symlaw_string_free(text);
}

/* The member formats: the formula in all of them. */
static void add_formats(sl_serve__text *t, const symlaw_formula *f) {
    sl_serve__json_open(t, "formats", '{');
    for (int i = 0; i < SL_SERVE__LEN(formats); i++) {
        char *text = print(t, f, formats[i]);
        if (text) sl_serve__json_text(t, formats[i], text);
        symlaw_string_free(text);
    }
    sl_serve__json_close(t, '}');
}

/* ---------------------------------------------------------------- POST /formula ------------- */

static bool read_names(const char **names, int *n, sl_serve__reply *r, const json_t *given) {
    *n = 0;
    if (!given || json_is_null(given)) return true;
    const size_t count = json_array_size(given);
    if (!json_is_array(given) || count > NAMES_MAX) {
        sl_serve__fail(r, 400, "send at most 64 texts", "\"names\" is not a list of names");
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        const char *name = json_string_value(json_array_get(given, i));
        if (!name || !*name) {
            sl_serve__fail(r, 400, "send texts", "name %zu is not a text", i + 1);
            return false;
        }
        names[(*n)++] = name;
    }
    return true;
}

void sl_serve__answer_formula(sl_serve *s, const sl_serve__call *c, sl_serve__reply *r) {
    (void)s;
    static const char remedy[] = "send {\"text\": TEXT, \"format\": \"infix\", \"names\": [...]}";
    const char *names[NAMES_MAX], *key;
    const json_t *text = json_object_get(c->json, "text"),
                 *format = json_object_get(c->json, "format");
    json_t *value;
    symlaw_formula *f = NULL, *canon = NULL;
    int n;
    json_object_foreach(c->json, key, value) if (strcmp(key, "text") != 0 &&
                                                 strcmp(key, "format") != 0 &&
                                                 strcmp(key, "names") != 0) {
        sl_serve__fail(r, 400, remedy, "\"%.60s\" is not a member of this request", key);
        return;
    }
    if (!json_is_string(text) || (format && !json_is_string(format)) ||
        strlen(json_string_value(text)) != json_string_length(text)) {
        sl_serve__fail(r, 400, remedy, "\"text\" or \"format\" is not a text");
        return;
    }
    if (!read_names(names, &n, r, json_object_get(c->json, "names"))) return;
    symlaw_status st =
        symlaw_formula_parse(&f, json_string_value(text),
                             format ? json_string_value(format) : "infix", n ? names : NULL, n);
    if (st == SYMLAW_OK) st = symlaw_formula_canon(&canon, f);
    if (st == SYMLAW_OK) {
        sl_serve__json_open(&r->body, NULL, '{');
        sl_serve__formula_member(&r->body, "canonical", canon, "infix");
        sl_serve__formula_member(&r->body, "mathml", f, "mathml");
        sl_serve__formula_member(&r->body, "latex", f, "latex");
        add_formats(&r->body, f);
        sl_serve__json_close(&r->body, '}');
    } else {
        sl_serve__fail_call(r, st);
    }
    symlaw_formula_free(canon);
    symlaw_formula_free(f);
}

/* ---------------------------------------------------------------- pictures ------------------ */

typedef struct picture {
    sl_serve__text *t;
    const symlaw_formula *f;
    const sl_serve__rows *rows;
    const char **names;
} picture;

static const double *column(const picture *p, int k) { return p->rows->x + k * p->rows->shown; }

static bool evaluate(double *y, const picture *p, const double *const *x, int64_t n) {
    return symlaw_formula_eval(y, p->f, x, p->rows->inputs, n) == SYMLAW_OK;
}

static void range(double *low, double *high, const double *x, int64_t n) {
    *low = INFINITY, *high = -INFINITY;
    for (int64_t i = 0; i < n; i++) *low = fmin(*low, x[i]), *high = fmax(*high, x[i]);
}

static int by_value(const void *a, const void *b) {
    const double p = *(const double *)a, q = *(const double *)b;
    return (p > q) - (p < q);
}

static bool median(double *out, const double *x, int64_t n) {
    double *copy = malloc((size_t)n * sizeof *copy);
    if (!copy) return false;
    memcpy(copy, x, (size_t)n * sizeof *copy);
    qsort(copy, (size_t)n, sizeof *copy, by_value);
    *out = copy[n / 2];
    free(copy);
    return true;
}

static void fill(double *x, int n, double low, double high) {
    for (int i = 0; i < n; i++) x[i] = low + (high - low) * i / (n - 1);
}

static bool add_rows(const picture *p) {
    const int64_t n = p->rows->shown;
    const double *x[NAMES_MAX];
    double *fitted = malloc((size_t)n * sizeof *fitted);
    for (int k = 0; k < p->rows->inputs; k++) x[k] = column(p, k);
    const bool good = fitted && evaluate(fitted, p, x, n);
    if (good) {
        sl_serve__json_open(p->t, "x", '[');
        for (int k = 0; k < p->rows->inputs; k++) sl_serve__json_reals(p->t, NULL, x[k], n);
        sl_serve__json_close(p->t, ']');
        sl_serve__json_reals(p->t, "y", p->rows->y, n);
        sl_serve__json_reals(p->t, "fitted", fitted, n);
        for (int64_t i = 0; i < n; i++) fitted[i] = p->rows->y[i] - fitted[i];
        sl_serve__json_reals(p->t, "residual", fitted, n);
        sl_serve__json_int(p->t, "shown", n);
        sl_serve__json_int(p->t, "of", p->rows->of);
    }
    free(fitted);
    return good;
}

/* The formula along one input, the others at their medians. */
static bool add_line(const picture *p, const char *name, int along, int points) {
    double low, high, *grid = malloc((size_t)points * 3 * sizeof *grid), other = 0;
    double *flat = calloc((size_t)points * (size_t)p->rows->inputs, sizeof *flat);
    const double *x[NAMES_MAX];
    bool good = grid && flat;
    for (int k = 0; k < p->rows->inputs && good; k++) {
        x[k] = flat + k * points;
        if (k == along) {
            range(&low, &high, column(p, k), p->rows->shown);
            fill(grid, points, low, high);
            x[k] = grid;
        } else {
            good = median(&other, column(p, k), p->rows->shown);
            for (int i = 0; i < points; i++) flat[k * points + i] = other;
        }
    }
    good = good && evaluate(grid + points, p, x, points);
    if (good) {
        sl_serve__json_open(p->t, name, '{');
        if (!name) sl_serve__json_text(p->t, "name", p->names[along]);
        sl_serve__json_reals(p->t, "x", grid, points);
        sl_serve__json_reals(p->t, "y", grid + points, points);
        sl_serve__json_close(p->t, '}');
    }
    free(flat);
    free(grid);
    return good;
}

static bool add_grid(const picture *p) {
    enum { CELLS = SIDE * SIDE };
    double side[2][SIDE], *cell = malloc(3 * CELLS * sizeof *cell), low, high;
    if (!cell) return false;
    for (int k = 0; k < 2; k++) {
        range(&low, &high, column(p, k), p->rows->shown);
        fill(side[k], SIDE, low, high);
    }
    for (int i = 0; i < CELLS; i++) {
        cell[i] = side[0][i % SIDE];
        cell[CELLS + i] = side[1][i / SIDE];
    }
    const double *x[2] = { cell, cell + CELLS };
    const bool good = evaluate(cell + 2 * CELLS, p, x, CELLS);
    if (good) {
        sl_serve__json_open(p->t, "grid", '{');
        sl_serve__json_reals(p->t, "x1", side[0], SIDE);
        sl_serve__json_reals(p->t, "x2", side[1], SIDE);
        sl_serve__json_open(p->t, "y", '['); // row i has x2[i]
        for (int i = 0; i < SIDE; i++)
            sl_serve__json_reals(p->t, NULL, cell + 2 * CELLS + i * SIDE, SIDE);
        sl_serve__json_close(p->t, ']');
        sl_serve__json_close(p->t, '}');
    }
    free(cell);
    return good;
}

static bool add_pictures(const picture *p) {
    bool good = true;
    if (p->rows->inputs == 1) return add_line(p, "curve", 0, CURVE);
    if (p->rows->inputs == 2) good = add_grid(p);
    sl_serve__json_open(p->t, "partial", '[');
    for (int k = 0; k < p->rows->inputs && good; k++) good = add_line(p, NULL, k, PARTIAL);
    sl_serve__json_close(p->t, ']');
    return good;
}

/* ---------------------------------------------------------------- a candidate --------------- */

/* The formula of this place among the candidates and the front; NULL: there is none. */
static const json_t *find_candidate(const json_t *result, int64_t place) {
    static const char *const lists[] = { "front", "candidates" };
    for (int k = 0; k < SL_SERVE__LEN(lists); k++) {
        const json_t *list = json_object_get(result, lists[k]);
        for (size_t i = 0; i < json_array_size(list); i++) {
            const json_t *one = json_array_get(list, i);
            if (json_integer_value(json_object_get(one, "place")) == place) return one;
        }
    }
    return NULL;
}

/* *out := the formula with its constants, and with these names. */
static symlaw_status read_candidate(symlaw_formula **out, const json_t *one,
                                    const char *const *names, int n) {
    const json_t *constants = json_object_get(one, "constants");
    const char *text = json_string_value(json_object_get(one, "skeleton"));
    double value[CONSTANTS_MAX];
    symlaw_formula *plain = NULL;
    const size_t count = json_array_size(constants);
    if (count > CONSTANTS_MAX) return SYMLAW_ELIMIT;
    for (size_t i = 0; i < count; i++)
        value[i] = json_number_value(json_object_get(json_array_get(constants, i), "value"));
    symlaw_status st = symlaw_formula_parse(&plain, text ? text : "", "infix", NULL, 0);
    if (st == SYMLAW_OK) st = symlaw_formula_bind(out, plain, value, (int)count, names, n);
    symlaw_formula_free(plain);
    return st;
}

static int names_of(const char **names, const json_t *data) {
    const json_t *inputs = json_object_get(data, "inputs");
    int n = 0;
    for (size_t i = 0; i < json_array_size(inputs) && n < NAMES_MAX; i++)
        names[n++] = json_string_value(json_array_get(inputs, i));
    return n;
}

/* All but the closing bracket. False: no memory. */
static bool add_candidate(const picture *p, const json_t *data, const json_t *one, int n) {
    sl_serve__text *t = p->t;
    const bool rows = p->rows->shown > 0 && p->rows->inputs == n;
    sl_serve__json_open(t, NULL, '{');
    sl_serve__json_int(t, "place", json_integer_value(json_object_get(one, "place")));
    sl_serve__json_text(t, "formula", json_string_value(json_object_get(one, "formula")));
    sl_serve__formula_member(t, "mathml", p->f, "mathml");
    sl_serve__formula_member(t, "latex", p->f, "latex");
    add_formats(t, p->f);
    sl_serve__json_open(t, "rows", '{');
    sl_serve__json_open(t, "names", '[');
    for (int i = 0; i < n; i++) sl_serve__json_text(t, NULL, p->names[i]);
    sl_serve__json_close(t, ']');
    sl_serve__json_text(t, "target", json_string_value(json_object_get(data, "target")));
    if (rows && !add_rows(p)) return false;
    sl_serve__json_close(t, '}');
    return !rows || add_pictures(p);
}

static void show(const sl_serve__job *job, const json_t *one, sl_serve__reply *r) {
    const json_t *data = json_object_get(job->parsed, "data");
    const char *names[NAMES_MAX];
    const int n = names_of(names, data);
    symlaw_formula *f = NULL;
    const symlaw_status st = read_candidate(&f, one, names, n);
    if (st != SYMLAW_OK) {
        sl_serve__fail_call(r, st);
        return;
    }
    const picture p = { &r->body, f, &job->rows, names };
    if (add_candidate(&p, data, one, n))
        sl_serve__json_close(&r->body, '}');
    else
        sl_serve__fail(r, 503, sl_serve__remedy(503), "out of memory");
    symlaw_formula_free(f);
}

void sl_serve__answer_candidate(sl_serve *s, const sl_serve__call *c, sl_serve__reply *r) {
    int64_t place;
    sl_serve__job *job = sl_serve__job_hold(s->jobs, c->part[0]);
    if (!job) {
        sl_serve__fail(r, 404, "start another; finished jobs are kept for ten minutes",
                       "there is no such job");
        return;
    }
    sl_serve__lock();
    const json_t *result = job->parsed; // set once, and read only from then on
    sl_serve__unlock();
    const json_t *one = sl_serve__whole(&place, c->part[1]) ? find_candidate(result, place) : NULL;
    if (one)
        show(job, one, r);
    else if (!result)
        sl_serve__fail(r, 404, "wait for its end: GET /api/v1/jobs/JOB",
                       "the job has no result yet, or none at all");
    else
        sl_serve__fail(r, 404, "use a \"place\" of the result's front",
                       "there is no formula of this place");
    sl_serve__job_release(s->jobs, job);
}

/* Shared inside laws: what a draw of the bootstrap is made of, and the fits of each form. */
#ifndef SL_LAWS_IMPL_H
#define SL_LAWS_IMPL_H

#include "laws/laws.h"

/* Streams of the random number generator. */
enum {
    SL_LAWS__STREAM_ROWS = 0x4c41, // configurations and seeds of a draw
    SL_LAWS__STREAM_SWEEP,
    SL_LAWS__STREAM_SIZES,
    SL_LAWS__STREAM_SIMULATE,
    SL_LAWS__STREAM_BUDGETS,
};

enum { SL_LAWS__MAX_RUNS = 20000 };

/* Room for count x each bytes in a; NULL past the limits. */
void *sl_laws__alloc(sl_arena *a, size_t count, size_t each);
/* A formatted text in the arena; NULL without memory. */
SL_PRINTF(2, 3) const char *sl_laws__text(sl_arena *a, const char *format, ...);
/* Append a formatted text to the notes of a table, or of a result. */
SL_NODISCARD SL_PRINTF(3, 4) sl_status
    sl_laws__table_note(sl_laws_table *t, sl_arena *a, const char *format, ...);
SL_NODISCARD SL_PRINTF(4, 5) sl_status
    sl_laws__note(sl_laws *out, sl_arena *a, sl_laws_note_kind kind, const char *format, ...);
/* 6480000 -> "6.48M". */
const char *sl_laws__count_text(char buffer[32], double n);

/* ---------------------------------------------------------------- reading ------------------- */

typedef struct sl_laws__names { // the file's names of the columns, from --columns
    const char *name[SL_LAWS_COLUMN_COUNT]; // NULL: the usual names
} sl_laws__names;
SL_NODISCARD sl_status sl_laws__names_read(sl_laws__names *out, sl_arena *a, const char *map);
/* The index of `name` in the list of a column's names; -1 if none. Lower is better. */
int sl_laws__name_rank(const sl_laws__names *names, sl_laws_column column, const char *name);
bool sl_laws__column_is_text(sl_laws_column column);
const char *sl_laws__column_name(sl_laws_column column);
double *sl_laws__number(sl_laws_run *run, sl_laws_column column);     // of a number column
const char **sl_laws__text_of(sl_laws_run *run, sl_laws_column column); // of a text column

/* ---------------------------------------------------------------- samples ------------------- */

/* A point of the data or of a draw. */
typedef struct sl_laws__obs {
    double flops, params, tokens;
    double x;                       // ln flops
    double y[SL_LAWS_METRIC_COUNT]; // loss, 1 - solved, 1 - r2; NaN where unknown
    double score; // minimised on the frontier: the loss, or 1 - solved where no run has a loss
    double trials;
    double weight; // how often the configuration was drawn
} sl_laws__obs;

/* out->point, size, seed_noise and c_top from the table. */
SL_NODISCARD sl_status sl_laws__points(sl_laws *out, sl_arena *a);
/* Which of l->size a run has. */
int sl_laws__size_of(const sl_laws *l, const sl_laws_run *r);
/* obs[0 .. return value) := the points, or (draw >= 0) a resample of them: configurations, then
 * seeds. pick[i] (room for n): the point of obs[i]. In the order of points, each once. */
int sl_laws__sample(sl_laws__obs *obs, int *pick, const sl_laws *l, const int *points, int n,
                    int64_t draw);
/* index[0 .. return value) := the frontier of obs, which are in order of compute. best: room for
 * n_bins. */
int sl_laws__frontier(int *index, int *best, const sl_laws__obs *obs, int n,
                      const sl_laws_options *o);

/* ---------------------------------------------------------------- forms --------------------- */

/* ln y = a + b ln x by least squares, weighted; at least two different x, else false. */
bool sl_laws__line(sl_laws_draw *out, const double *x, const double *ln_y, const double *w, int n);
/* Correlation of the logarithms, squared: R2 of the line. */
double sl_laws__line_r2(const sl_laws_draw *line, const double *x, const double *ln_y,
                        const double *w, int n);
/* Second-order coefficient of ln y on x, with an interval of two standard errors. */
SL_NODISCARD sl_status sl_laws__curvature(sl_estimate *out, sl_arena *scratch, const double *x,
                                          const double *ln_y, int n);
/* ln y = ln(floor + exp(a + b x)), floor >= 0, b < 0, by least squares: a grid search, then a local
 * refinement. *known = false with fewer than four different x, or where y does not fall. */
SL_NODISCARD sl_status sl_laws__floor(sl_laws_draw *out, bool *known, sl_arena *scratch,
                                      const double *x, const double *ln_y, const double *w, int n);
/* Failures among trials with probability exp(a + b x). share: failures/trials. False if there is no
 * maximum inside. */
bool sl_laws__binomial(sl_laws_draw *out, const double *x, const double *share,
                       const double *trials, const double *w, int n);

/* Fills a law's estimates from `fit` and `draw`. */
void sl_laws__estimate(sl_law *law);
/* low and high of value from n draws (NaN: none), sorted in place. */
sl_estimate sl_laws__interval(double value, double *draws, int n, double level);

/* All laws against compute of these points, with draws, and their frontier; out has table, options,
 * point and size. Leave-out tests call it with part of the points. */
SL_NODISCARD sl_status sl_laws__laws(sl_laws *out, sl_arena *a, const int *points, int n);

SL_NODISCARD sl_status sl_laws__surface(sl_laws_surface *out, sl_arena *a, const sl_laws *l,
                                        const int *points, int n, bool huber);
double sl_laws__surface_value(const sl_laws_constants *c, double params, double tokens);
SL_NODISCARD sl_status sl_laws__sweep(sl_laws *out, sl_arena *a);
SL_NODISCARD sl_status sl_laws__isoflop(sl_laws *out, sl_arena *a);
SL_NODISCARD sl_status sl_laws__leave_out(sl_laws *out, sl_arena *a);
SL_NODISCARD sl_status sl_laws__notes(sl_laws *out, sl_arena *a);

/* A power law through n points with intervals by resampling them: for laws in N, and iso-FLOP. x
 * and y are positive, x ascends. */
typedef struct sl_laws__pairs {
    const double *x, *y; // draw d takes x[i], y[d * n + i] if y_draws, else y[i]
    const double *y_draws;
    int n;
} sl_laws__pairs;
SL_NODISCARD sl_status sl_laws__pairs_law(sl_law *out, sl_arena *a, const sl_laws__pairs *p,
                                          const sl_laws_options *o, uint32_t stream);

#define SL_LAWS__TRY_ALLOC(p, a, count)                                                           \
    do {                                                                                          \
        (p) = sl_laws__alloc((a), (size_t)(count), sizeof *(p));                                  \
        if (!(p)) return sl_fail_memory((size_t)(count), sizeof *(p), #p);                        \
    } while (0)

#endif

/* laws - scaling laws from a table of runs: how loss and accuracy change with compute, the best
 * size, batch size and learning rate, and confidence intervals of all of these.
 *
 * A table is the only input. A row is a finished training run:
 *
 *     N params   D tokens   C flops   loss   solved, r2 (shares of problems)   seed   batch   rate
 *
 * Analyses that need a missing column are switched off, with a note.
 *
 *   points     Runs that differ in nothing but the seed are one configuration, and a configuration
 *              is one point: the mean over its seeds. The best of several seeds would be biased.
 *   frontier   Compute is cut into 1500 bins, logarithmic or linear; the lowest loss of each bin is
 *              kept if it is below everything cheaper. Points have the compute of their runs.
 *   laws       y = c C^-b for y = loss, 1 - solved, 1 - r2 on the frontier. Three forms: POWER,
 *              least squares of ln y on ln C (the paper's); FLOOR, the same with y = e + c C^-b,
 *              e >= 0; BINOMIAL, the likelihood of hits among trials, for the two accuracies.
 *              Trials are problems: samples drawn again for the same problems are no new trials.
 *              Variance beyond the binomial is estimated from training seeds.
 *   lines      N*(C), D*(C) and D*(C)/N*(C): least squares on logarithms of the frontier's runs.
 *   sweep      Batch size* and learning rate* of each size by two steps of Akima interpolation of
 *              ln loss on ln rate, then on ln batch (Porian et al. 2024); then power laws in N.
 *   surface    L(N, D) = E + A/N^alpha + B/D^beta, of L itself. For given exponents it is linear in
 *              E, A, B >= 0, so the search is in two dimensions, with non-negative least squares
 *              inside, and has no starting points. Squared and Huber loss.
 *   iso-FLOP   Groups of runs of equal compute and three sizes or more: the vertex of a parabola in
 *              ln N, and the minimum of Akima's curve. The parabola is biased: the loss is not
 *              symmetric about its minimum in ln N, so the vertex moves with how far the sizes
 *              reach to either side.
 *   tests      The largest compute decade and the largest one, two and three sizes are left out in
 *              turn; each form is fitted to the rest and predicts the frontier's runs among them.
 *
 * Intervals. All draws resample before anything is selected: configurations with replacement, then
 * the seeds of each. Each draw selects its own frontier. Quantities of a selected frontier get
 * percentile intervals. Without selection (bins NONE) the plain power law gets bootstrap-t
 * intervals (each draw's deviation in units of its own standard error), which is what small samples
 * need. Of 4,000 simulated tables they hold the truth in 93 %; with a selected frontier it is 90 to
 * 100 %, and 83 % where the best ratio lies outside the grid of runs (README, test/t_coverage.c).
 * They are intervals of the law, not of a single run, which scatters about it.
 *
 * Values that are not known are NaN; for a whole law `known` is false. Draws depend on (seed,
 * stream, draw) alone: the same table and options give the same figures.
 *
 * Ownership: table and result are allocated in the caller's arena; a result also points into its
 * table. Threads: no shared state, but sl_laws_at uses scratch memory of the law: one thread per
 * law. */
#ifndef SL_LAWS_H
#define SL_LAWS_H

#include "base/base.h"

/* A figure and its interval (95 % by default). low and high are NaN where it is not known. */
typedef struct sl_estimate {
    double value, low, high;
} sl_estimate;

/* ---------------------------------------------------------------- the table ----------------- */

/* Columns: field, kind (T text, R number), name that is written, names that are read, help. Names
 * are read in any case of letters, '-' and blanks as '_'; of several in a file the first of this
 * list is taken. */
#define SL_LAWS_COLUMNS(X)                                                                        \
    X(id, T, "id", "id|run|run_id", "name of the run")                                            \
    X(size, T, "size", "size|model|model_size|size_name", "name of the model's size")             \
    X(phase, T, "phase", "phase|stage", "sweep, scale or both")                                   \
    X(status, T, "status", "status|state", "done, or why the run is not finished")                \
    X(params, R, "params", "params|n_params|num_params|parameters|model_params|n",                \
      "N, parameters")                                                                            \
    X(tokens, R, "tokens", "tokens|n_tokens|num_tokens|train_tokens|training_tokens|d",           \
      "D, tokens")                                                                                \
    X(flops, R, "flops", "flops|total_flops|training_flops|train_flops|compute|c", "C, FLOPs")    \
    X(loss, R, "loss", "loss_valid|valid_loss|val_loss|validation_loss|loss|l",                   \
      "validation loss")                                                                          \
    X(loss_test, R, "loss_test", "loss_test|test_loss", "test loss")                              \
    X(solved, R, "solved", "solved|acc_solved|solved_rate|accuracy|acc",                          \
      "share of problems solved")                                                                 \
    X(solved_hits, R, "solved_hits", "solved_hits|hits_solved|n_solved|hits", "problems solved")  \
    X(r2, R, "r2", "r2|acc_r2|acc_r2_099|r2_rate", "share of problems with R2 > 0.99")            \
    X(r2_hits, R, "r2_hits", "r2_hits|hits_r2|n_r2", "problems with R2 > 0.99")                   \
    X(trials, R, "trials", "trials|n_trials|problems|n_problems|n_test",                          \
      "problems that were tried")                                                                 \
    X(seed, R, "seed", "seed|random_seed|train_seed", "training seed")                            \
    X(batch, R, "batch", "batch|batch_size|bs", "batch size")                                     \
    X(rate, R, "rate", "rate|learning_rate|lr", "learning rate")                                  \
    X(ratio, R, "ratio", "ratio|tokens_per_param|tokens_per_parameter|d_over_n", "D/N, planned")

typedef enum sl_laws_column {
#define X(field, ...) SL_LAWS_COLUMN_##field,
    SL_LAWS_COLUMNS(X)
#undef X
        SL_LAWS_COLUMN_COUNT
} sl_laws_column;

/* One run. Texts are never NULL ("" where there is none), numbers are NaN where there are none.
 * solved and r2 are shares in [0, 1]; with trials they are hits/trials. */
typedef struct sl_laws_run {
#define SL_LAWS_FIELD_T const char *
#define SL_LAWS_FIELD_R double
#define X(field, kind, ...) SL_LAWS_FIELD_##kind field;
    SL_LAWS_COLUMNS(X)
#undef X
} sl_laws_run;

typedef struct sl_laws_table {
    const char *source; // path, or "" for a table that was built by sl_laws_table_add
    sl_laws_run *run;
    int n, room;
    bool has[SL_LAWS_COLUMN_COUNT];         // the column exists, or was derived from others
    const char *name[SL_LAWS_COLUMN_COUNT]; // in the file; NULL if it has none
    const char **note;                      // sentences: what was derived, what was left out
    int n_note;
    const char *columns; // all names of a CSV file, for messages; NULL: another kind of table
} sl_laws_table;

/* An empty row: texts "", numbers NaN. */
extern const sl_laws_run SL_LAWS_RUN_NONE;

/* Reads CSV (with a header; other separators and gzip as sl_csv) or JSON lines (the first character
 * is '{'). map: NULL, or "params=N_nonemb,loss=L": names of the file's columns.
 * SL_EFORMAT names line and column of what cannot be read. Tokens missing are ratio x params; flops
 * missing are 6 N D; both are noted. */
SL_NODISCARD sl_status sl_laws_table_read(sl_laws_table *out, sl_arena *a, const char *path,
                                          const char *map);
/* Appends a copy of the run and its texts. Start with `{0}`; when all are in, call _end. */
SL_NODISCARD sl_status sl_laws_table_add(sl_laws_table *t, sl_arena *a, const sl_laws_run *run);
/* Checks all rows, derives what can be derived, sets `has`. _read has done it. SL_EFORMAT. */
SL_NODISCARD sl_status sl_laws_table_end(sl_laws_table *t, sl_arena *a);
/* Appends the table as CSV: the columns that it has, by our names. _read gives the same rows. */
void sl_laws_table_csv(sl_str *s, const sl_laws_table *t);

/* Is the run finished, with a loss or an accuracy? A finished status is "", done, finished,
 * complete, completed or ok. */
bool sl_laws_finished(const sl_laws_run *run);

/* ---------------------------------------------------------------- options ------------------- */

typedef enum sl_laws_bins {
    SL_LAWS_BINS_LOG,
    SL_LAWS_BINS_LINEAR,
    SL_LAWS_BINS_NONE, // all finished runs, no selection: for runs that are all alike
} sl_laws_bins;

typedef struct sl_laws_options {
    sl_laws_bins bins;
    int n_bins;
    double target; // share of problems solved whose compute is estimated
    double trials; // problems tried, where the table has no such column; 0: unknown
    int draws;     // of the bootstrap; 0: no intervals
    double level;  // of intervals
    uint64_t seed;
    bool plain; // power laws and lines against compute alone: no other form, no surface, no tests
} sl_laws_options;

#define SL_LAWS_OPTIONS_INIT                                                                      \
    { .bins = SL_LAWS_BINS_LOG, .n_bins = 1500, .target = 0.8, .draws = 1000, .level = 0.95 }

/* ---------------------------------------------------------------- points -------------------- */

/* A configuration: the runs that differ in nothing but the seed, as their mean. */
typedef struct sl_laws_point {
    const int *row; // of the table, n of them
    int n;
    double params, tokens, flops;
    double loss, solved, r2; // NaN where no run has it
    double trials;           // of one run: the same problems for each seed
    bool on_frontier;
    int size; // which of sl_laws.size
} sl_laws_point;

typedef struct sl_laws_size {
    const char *name; // from the table, or parameters such as "6.5M"
    double params;
} sl_laws_size;

/* ---------------------------------------------------------------- laws ---------------------- */

typedef enum sl_laws_metric {
    SL_LAWS_LOSS,
    SL_LAWS_SOLVED, // y = 1 - solved
    SL_LAWS_R2,     // y = 1 - r2
    SL_LAWS_METRIC_COUNT
} sl_laws_metric;

typedef enum sl_laws_form {
    SL_LAWS_POWER,
    SL_LAWS_FLOOR,
    SL_LAWS_BINOMIAL, // not for the loss
    SL_LAWS_FORM_COUNT,
    SL_LAWS_SURFACE = SL_LAWS_FORM_COUNT, // in leave-out tests alone
    SL_LAWS_PREDICTOR_COUNT
} sl_laws_form;

const char *sl_laws_metric_name(sl_laws_metric m); // "loss", "solved", "r2"
const char *sl_laws_form_name(sl_laws_form f);     // "power", "floor", "binomial", "surface"

/* The parameters of a law: y = floor + exp(a) x^b. One for the data, one for each draw. */
typedef struct sl_laws_draw {
    double a, b, floor;
    double mean, spread, sigma; // mean and sum of squares of ln x, residual deviation: bootstrap-t
    double n;
} sl_laws_draw;

/* y = coefficient x^exponent + floor; where y falls, y = coefficient x^-exponent + floor. */
typedef struct sl_law {
    bool known;
    bool falls;   // the exponent's sign is reversed
    bool student; // bootstrap-t instead of percentiles
    int n;        // points
    int valid;    // draws that could be fitted
    sl_estimate exponent, coefficient, floor;
    sl_estimate curvature; // second-order term of ln y on ln x; its interval holds 0 unless curved
    double r2;             // of ln y on ln x
    double dispersion;     // BINOMIAL: variance over the binomial one; else NaN
    double x_min, x_max;   // range of the points
    double x_top;          // largest x of all finished runs: extrapolation counts from here
    double level;
    sl_laws_draw fit;
    const sl_laws_draw *draw;
    int n_draw;
    double *scratch; // room for n_draw values
} sl_law;

/* The law's y at x, with its interval. For accuracies y is 1 - share. NaN if it is not known. */
sl_estimate sl_laws_at(const sl_law *law, double x);
/* The x at which the law has this y; infinite where a floor is above it. */
sl_estimate sl_laws_inverse(const sl_law *law, double y);
/* x over the largest compute of the runs; above 1 it is an extrapolation. */
double sl_laws_factor(const sl_law *law, double x);
/* Beyond this factor a figure is marked. */
#define SL_LAWS_FAR 10

/* ---------------------------------------------------------------- sweep --------------------- */

/* Loss against learning rate at one size and batch size: measured, and interpolated. */
typedef struct sl_laws_curve {
    int size;
    double batch;
    const double *rate, *loss; // n measured, ascending; the mean over seeds
    int n;
    const double *fine_rate, *fine_loss; // n_fine interpolated; 0 where n is 1
    int n_fine;
    double best_rate, best_loss; // of the interpolation
    bool on_edge;                // the minimum is not between the second and the last but one
} sl_laws_curve;

/* The best hyper-parameters of one size. */
typedef struct sl_laws_optimum {
    int size;
    double params;
    sl_estimate batch, rate;
    double loss;
    bool batch_on_edge, rate_on_edge;
    bool chosen; // one batch size and one rate in the table: taken as the best, without a search
    int first_curve, n_curve; // of sl_laws.curve, in order of batch size
} sl_laws_optimum;

/* ---------------------------------------------------------------- surface ------------------- */

/* L = E + A/(N/unit_params)^alpha + B/(D/unit_tokens)^beta. */
typedef struct sl_laws_constants {
    double E, A, B, alpha, beta;
} sl_laws_constants;

typedef struct sl_laws_surface {
    bool known;
    bool huber;
    double delta;                     // of the Huber loss, in units of the loss
    double unit_params, unit_tokens;  // 1e6 and 1e9
    int n, valid;
    sl_estimate E, A, B, alpha, beta; // A and B in these units
    double r2, rms;                   // of L
    double flops_per;                 // C = flops_per N D: the median of the runs
    double c_top;                     // largest compute of the runs
    /* N* = coefficient C^exponent of the least loss at compute C. */
    sl_estimate n_exponent, d_exponent;
    sl_laws_constants fit;
    const sl_laws_constants *draw;
    int n_draw;
    double level;
    double *scratch;
} sl_laws_surface;

sl_estimate sl_laws_surface_at(const sl_laws_surface *s, double params, double tokens);
/* The N and D of least loss at this compute, D/N and that loss. */
typedef struct sl_laws_allocation {
    sl_estimate params, tokens, ratio, loss;
} sl_laws_allocation;
sl_laws_allocation sl_laws_allocate(const sl_laws_surface *s, double flops);

/* ---------------------------------------------------------------- iso-FLOP ------------------ */

typedef struct sl_laws_isoflop {
    double flops;
    int n_point;      // configurations of this compute
    int n_size;       // sizes among them
    const int *point; // of sl_laws.point, the best of each size: n_size of them
    sl_estimate params, loss; // vertex of the parabola; NaN where it opens downwards
    double akima_params;      // minimum of Akima's curve; NaN if it is at an end
    bool on_edge;             // the vertex is outside the runs' sizes
} sl_laws_isoflop;

/* ---------------------------------------------------------------- leave-out tests ----------- */

typedef struct sl_laws_split {
    const char *name; // "largest decade", "largest size", "2 largest sizes", ...
    double flops;     // runs of this compute and more are left out; NaN: by size
    int sizes;        // so many sizes are left out; 0: by compute
    int n_fit, n_left; // points of the frontier: of the rest, and left out
} sl_laws_split;

typedef struct sl_laws_prediction {
    int split, point;
    sl_laws_metric metric;
    sl_laws_form form;
    double factor;         // of extrapolation: this compute over the largest that was fitted
    sl_estimate predicted; // loss, or a share
    double measured;
    double error;          // predicted/measured - 1 of y: the loss, or 1 - share
} sl_laws_prediction;

/* The errors of one form over all predictions of a metric (split -1) or those of one split. */
typedef struct sl_laws_score {
    int split;
    sl_laws_metric metric;
    sl_laws_form form;
    int n;
    double rms;    // of ln(predicted/measured) of y
    double inside; // share of measured values inside the interval of the law
    bool best;
} sl_laws_score;

/* ---------------------------------------------------------------- the result ---------------- */

typedef enum sl_laws_note_kind {
    SL_LAWS_NOTE_OFF,    // something is switched off, and why
    SL_LAWS_NOTE_DATA,   // about the table
    SL_LAWS_NOTE_EDGE,   // an optimum at the edge of what was tried
    SL_LAWS_NOTE_CURVED, // points that do not lie on a straight line
    SL_LAWS_NOTE_FAR,    // an extrapolation beyond SL_LAWS_FAR
    SL_LAWS_NOTE_BIAS,   // a known bias
} sl_laws_note_kind;

typedef struct sl_laws_note {
    sl_laws_note_kind kind;
    const char *text; // one sentence or two
} sl_laws_note;

typedef struct sl_laws {
    const sl_laws_table *table;
    sl_laws_options options;
    const sl_laws_size *size; // by parameters
    int n_size;
    sl_laws_point *point; // by compute; of rows that are not for the sweep alone
    int n_point;
    const int *frontier; // of point, by compute
    int n_frontier;
    double c_top; // largest compute of all finished runs

    sl_law law[SL_LAWS_METRIC_COUNT][SL_LAWS_FORM_COUNT];
    sl_estimate target_flops[SL_LAWS_FORM_COUNT]; // compute for options.target solved
    sl_law params, tokens, ratio; // N*, D*, D*/N* against compute

    const sl_laws_curve *curve;
    int n_curve;
    const sl_laws_optimum *optimum; // by size; 0 where nothing is known
    int n_optimum;
    sl_law batch, rate; // against N

    sl_laws_surface surface, surface_huber;
    const sl_laws_isoflop *isoflop;
    int n_isoflop;
    sl_law isoflop_params; // N* of the parabolas against compute

    const sl_laws_split *split;
    int n_split;
    const sl_laws_prediction *prediction;
    int n_prediction;
    const sl_laws_score *score;
    int n_score;

    double seed_noise; // deviation of ln loss between seeds of one configuration; NaN: no repeats
    const sl_laws_note *note;
    int n_note;
} sl_laws;

/* Fits everything that the table allows. options NULL: the defaults. SL_EINVAL: options outside
 * their range; SL_EFORMAT: no finished run has a loss or an accuracy. */
SL_NODISCARD sl_status sl_laws_fit(sl_laws *out, sl_arena *a, const sl_laws_table *t,
                                   const sl_laws_options *options);

/* ---------------------------------------------------------------- two recipes --------------- */

/* Compute that `other` needs for a loss, over what `base` needs: below 1 the other is cheaper. */
typedef struct sl_laws_multiplier {
    double loss;
    sl_estimate factor;
    bool inside; // both frontiers reach this loss
} sl_laws_multiplier;
enum { SL_LAWS_MULTIPLIERS = 3 };
/* At the ends and in the middle of the losses that both reach; where they share none, between them.
 * SL_EFORMAT if one has no law of the loss. */
SL_NODISCARD sl_status sl_laws_compare(sl_laws_multiplier out[SL_LAWS_MULTIPLIERS], sl_arena *a,
                                       const sl_laws *base, const sl_laws *other);

/* ---------------------------------------------------------------- simulation ---------------- */

/* Runs from a known law: loss = (E + A/(N/1e6)^alpha + B/(D/1e9)^beta) exp(noise z),
 * 1 - solved = (solved_scale (L - E))^solved_power, at most 1, and the same for r2; hits are drawn
 * from `trials` problems. Sizes are spaced evenly in ln N, ratios in ln D/N; C = flops_per N D. */
#define SL_LAWS_SIMULATE_TABLE(X)                                                                 \
    X(E, 0.0)                                                                                     \
    X(A, 0.8)                                                                                     \
    X(B, 0.15)                                                                                    \
    X(alpha, 0.5)                                                                                 \
    X(beta, 0.4)                                                                                  \
    X(noise, 0.01)                                                                                \
    X(solved_scale, 1.0)                                                                          \
    X(solved_power, 0.5)                                                                          \
    X(r2_scale, 0.8)                                                                              \
    X(r2_power, 1.0)                                                                              \
    X(trials, 1000)                                                                               \
    X(sizes, 5)                                                                                   \
    X(ratios, 5)                                                                                  \
    X(seeds, 1)                                                                                   \
    X(n_min, 6.5e6)                                                                               \
    X(n_max, 9.3e7)                                                                               \
    X(ratio_min, 5)                                                                               \
    X(ratio_max, 80)                                                                              \
    X(flops_per, 6)

typedef struct sl_laws_simulation {
#define X(field, value) double field;
    SL_LAWS_SIMULATE_TABLE(X)
#undef X
} sl_laws_simulation;

extern const sl_laws_simulation SL_LAWS_SIMULATION_INIT;

/* "E=0.1,sizes=4": sets members of *s. SL_EINVAL names what is unknown or out of range. */
SL_NODISCARD sl_status sl_laws_simulation_read(sl_laws_simulation *s, const char *text);
SL_NODISCARD sl_status sl_laws_simulate(sl_laws_table *out, sl_arena *a,
                                        const sl_laws_simulation *s, uint64_t seed);
/* The exponent of (L - E) in compute on the true frontier: alpha beta/(alpha + beta). */
double sl_laws_simulation_exponent(const sl_laws_simulation *s);

/* ---------------------------------------------------------------- forecasts ----------------- */

/* What the laws say of a budget, or of a size and its tokens. solved and r2 are shares. */
typedef struct sl_laws_forecast {
    double flops, factor;       // compute, and over the largest run's
    sl_estimate params, tokens; // N* and D* of the frontier; of a run those given
    sl_laws_allocation surface; // those of the surface
    sl_estimate loss;           // of a run that of the surface at N and D, else of the law
    sl_estimate solved, r2;     // of the laws, which hold for the best N and D
} sl_laws_forecast;
sl_laws_forecast sl_laws_forecast_budget(const sl_laws *l, double flops);
sl_laws_forecast sl_laws_forecast_run(const sl_laws *l, double params, double tokens);

#endif

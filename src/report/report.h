/* report - results as text, figures and pages: a discovery, an evaluation, pairs, laws, a study.
 *
 * A result is a struct, and each form of it is one function that appends to an sl_str:
 *
 *     result                   text       JSON       other
 *     sl_report_discovery      _table     _json      _csv, _paste, _notes, _picture (SVG, HTML)
 *     sl_report_evaluation     _table     _json      sl_report_write_predictions (JSON lines)
 *     sl_laws                  _table     _json      sl_report_laws_page (HTML, SVG)
 *     sl_pairs_stats, ...      _table     _json      sl_report_pair (one pair as text)
 *     sl_study, sl_report_run  _table     _json      sl_report_html (HTML), sl_report_figures (SVG)
 *
 * JSON functions append members to an open object, in full precision; their shapes are in
 * docs/formats.md. Text is rounded to significant digits. The functions see results, not options of
 * commands; nothing here prints, and only the functions with an sl_file or a folder write files.
 * Text functions of HTML escape any bytes, except in `*_mathml`, which is markup.
 *
 * The page of a study or of a table of runs is one HTML file that needs nothing else: no network,
 * no fonts, a few lines of script that sort tables. It is readable in light and dark, on narrow
 * screens and on paper.
 *
 *     sl_report_input in = { .title = "micro", .laws = &laws };
 *     sl_report_html(&page, &in);                  the page
 *     sl_report_figures(&in, save, payload);       each figure as an SVG file
 *     sl_report_sentences(&text, &in);             what was found, in three sentences
 *
 *     what was found, key numbers        always
 *     accuracy and loss by compute       what the table has columns for
 *     does the law predict               where runs can be left out
 *     sweep, optimal settings            where batch size and learning rate vary
 *     optimal size and tokens
 *     training curves, problems, cost,   where the caller has them: a study (sl_report_study)
 *     machines, how to reproduce it
 *     all runs                           always
 *
 * A part that is NULL or empty is left out with its section, its figure and its line in the
 * contents. Figures are numbered in the order of the page. The same input is the same bytes. Every
 * number comes with its interval, and every value beyond ten times the largest compute of the table
 * is marked as an extrapolation in red words.
 *
 * Ownership: inputs are borrowed during the call. Threads: no shared state. */
#ifndef SL_REPORT_H
#define SL_REPORT_H

#include "ckpt/ckpt.h"
#include "discover/discover.h"
#include "eval/eval.h"
#include "laws/laws.h"
#include "pairs/pairs.h"
#include "study/study.h"
#include "train/train.h"

/* ---------------------------------------------------------------- small parts --------------- */

/* Appends a line of a table: "  name          text\n". */
SL_PRINTF(3, 4) void sl_report_line(sl_str *s, const char *name, const char *format, ...);
/* 75 -> "1 min 15 s", 0.25 -> "0.25 s" */
const char *sl_report_duration(char buffer[32], double seconds);
/* rate / peak, FLOP/s as executed over those of products of matrices alone; NaN where it is above
 * 1: then the machine was busy with something else while the peak was measured. */
double sl_report_peak_share(double rate, double peak);
/* Members: path and figures of the model. */
void sl_report_model_json(sl_str *s, const sl_infer *m);

/* ---------------------------------------------------------------- parts of the program ------ */

typedef enum sl_report_check_state {
    SL_REPORT_CHECK_GOOD,
    SL_REPORT_CHECK_ABSENT, // optional: some functions are missing
    SL_REPORT_CHECK_FAILED, // it should work and does not
} sl_report_check_state;

/* A part that was tried. */
typedef struct sl_report_check {
    const char *part;
    sl_report_check_state state;
    char text[400];     // what it is, or why it does not work
    const char *remedy; // NULL: none is needed
} sl_report_check;
void sl_report_checks_table(sl_str *s, const sl_report_check *c, int n);
void sl_report_checks_json(sl_str *s, const sl_report_check *c, int n);

/* ---------------------------------------------------------------- a table ------------------- */

/* The columns of a table as text and as the member `table`. file: its name as it was given. */
SL_NODISCARD sl_status sl_report_table_text(sl_str *s, const char *file, const sl_table_summary *t);
void sl_report_table_json(sl_str *s, const char *file, const sl_table_summary *t);

/* ---------------------------------------------------------------- a discovery --------------- */

typedef struct sl_report_discovery {
    const sl_infer *model;         // NULL: it was not used
    const char *model_note;        // then: why
    const char *file;              // as it was given; NULL: none
    const sl_table *table;         // NULL: it was not read to its end
    const sl_dataset *data;        // of the table
    bool constant;                 // the target is the same in every row
    const sl_discovery *discovery; // NULL as well
    sl_names names;                // of inputs, fit for a terminal
    const char *target;            // name of y
    const sl_units *units;         // NULL: not known
    double read_seconds;
    uint64_t seed;
    int64_t top; // candidates to show
    bool all;    // every one of them
    int derivative; // number of the input that the best formula is to be differentiated by; 0: none
    int64_t values; // rows to list in JSON
} sl_report_discovery;

/* The best formula with its figures, the front or every candidate, what was done; rounded. */
SL_NODISCARD sl_status sl_report_discovery_table(sl_str *s, const sl_report_discovery *r);
SL_NODISCARD sl_status sl_report_discovery_json(sl_str *s, const sl_report_discovery *r);
/* The part of it that is about formulas: candidates 0 .. top - 1, the front, counts. units NULL:
 * not known. r NULL: the front has no formulas with rounded constants. */
SL_NODISCARD sl_status sl_report_candidates_json(sl_str *s, const sl_discovery *d,
                                                 const sl_names *names, const sl_units *units,
                                                 int64_t top, const sl_rounding *r);
/* An array of the front so far, as sl_discover_options.on_front has it. */
SL_NODISCARD sl_status sl_report_front_json(sl_str *s, const sl_candidate *front, int n,
                                            const sl_names *names);
/* Every candidate as a row of CSV. */
SL_NODISCARD sl_status sl_report_discovery_csv(sl_str *s, const sl_report_discovery *r);
/* A formula over the columns of a table as a line to be pasted, with lines of comments before it
 * where columns had to be renamed. value: of its constants. t: whose columns are the cells of a
 * spreadsheet; NULL: x1 is in the first column, x2 in the second, ... */
SL_NODISCARD sl_status sl_report_paste(sl_str *s, const sl_node *e, const double *value,
                                       const sl_names *names, const sl_table *t, sl_format format);
/* The best formula alone, or its derivative, to be pasted. */
SL_NODISCARD sl_status sl_report_discovery_paste(sl_str *s, const sl_report_discovery *r,
                                                 sl_format format);
/* Called with notes about the data and the work, for output without a table. */
typedef void (*sl_report_message)(void *payload, const char *name, const char *sentence);
void sl_report_discovery_notes(const sl_report_discovery *f, sl_report_message message,
                               void *payload);
/* A picture of data, formula and residuals: an <svg>, or with html a page around it that also has
 * the formula (MathML), its figures and the table of the next `top` ones. One input: y over it with
 * the curve, residuals below. More: y over the formula's value, and residuals over each input (and,
 * for two, over the formula's value). No candidate that has an R2: y over each input. Of very many
 * rows as many are drawn as can be distinguished. */
SL_NODISCARD sl_status sl_report_discovery_picture(sl_str *s, const sl_report_discovery *r,
                                                   bool html);

/* ---------------------------------------------------------------- a fit --------------------- */

/* A formula that was fitted. */
typedef struct sl_report_formula {
    const char *text;            // as it was given; NULL: it was discovered
    const char *const *constant; // names of its constants
    sl_curve curve;
} sl_report_formula;

typedef struct sl_report_group {
    const char *name;
    int64_t rows;
    bool fitted; // false: it has fewer rows than constants
    sl_curve curve;
} sl_report_group;

/* Constants common to all groups against constants of each: how probable is a sum of squares that
 * is smaller by so much, if they are common? NaN where it cannot be said. */
typedef struct sl_report_group_test {
    double f;                  // the statistic of the F-test; NaN: it is the chi-square test
    double chi2;               // the statistic of that
    double degrees, remaining; // degrees of freedom; remaining: of the residuals
    double p;
    double bits_common, bits_separate; // description lengths
} sl_report_group_test;

/* What formulas are ranked by; the lowest is the best. */
enum { SL_REPORT_RANK_BITS, SL_REPORT_RANK_AIC, SL_REPORT_RANK_BIC };
#define SL_REPORT_RANKS "bits|aic|bic"

typedef struct sl_report_fit {
    sl_report_discovery base; // file, table, data, names, target, units, read_seconds, seed
    sl_report_formula *formula;
    int n;
    int rank;     // SL_REPORT_RANK_*
    double sigma; // of the target, where it is one number; 0: not given
    sl_cut cut;
    const char *group_column; // NULL: no groups
    const char *const *group_constant; // names of constants
    const sl_report_group *group;
    int n_groups;
    sl_report_group_test test; // of the first formula
} sl_report_fit;

/* formula[] in the order of the rank; those without an R2 come last. */
void sl_report_fit_rank(sl_report_fit *r);
/* The test by the groups and the first formula, whose constants are common. */
void sl_report_fit_test(sl_report_group_test *out, const sl_report_fit *r);
/* Calls back with what has to be known of the first formula's fit: constants that are not
 * determined, a fit that has not converged. */
typedef void (*sl_report_sentence)(void *payload, const char *sentence);
SL_NODISCARD sl_status sl_report_fit_notes(const sl_report_fit *r, sl_report_sentence say,
                                           void *payload);
/* The first formula with its constants and figures, all formulas in one table where there are
 * several, the groups; rounded. */
SL_NODISCARD sl_status sl_report_fit_table(sl_str *s, const sl_report_fit *r);
SL_NODISCARD sl_status sl_report_fit_json(sl_str *s, const sl_report_fit *r);
/* As sl_report_discovery_picture. */
SL_NODISCARD sl_status sl_report_fit_picture(sl_str *s, const sl_report_fit *r, bool html);

/* ---------------------------------------------------------------- an evaluation ------------- */

/* judgements: problem by problem, seed by seed. */
typedef struct sl_report_evaluation {
    const sl_infer *model; // NULL: none was used
    const char *search;    // "model", "exhaustive", "both"
    const sl_eval_source *source;
    const char *hash;      // of all problems
    int skipped;           // problems that were left out
    const sl_eval_summary *summary;
    const sl_judgement *judgements;
    sl_eval_candidates candidates;
    int64_t seed;   // the first one
    double timeout; // seconds a problem; 0: none
} sl_report_evaluation;
void sl_report_evaluation_table(sl_str *s, const sl_report_evaluation *r);
void sl_report_evaluation_json(sl_str *s, const sl_report_evaluation *r);
/* The file gets a line for each problem, in their order: what the first seed found. Then it
 * appears, and *file is NULL. */
SL_NODISCARD sl_status sl_report_write_predictions(sl_file **file, const sl_report_evaluation *r);

/* ---------------------------------------------------------------- expressions and pairs ----- */

/* Counts of the candidates of each level of a universe. */
void sl_report_count_table(sl_str *s, const sl_universe *u);
void sl_report_count_json(sl_str *s, const sl_universe *u);

/* One pair, and y over each variable that its expression uses, as characters. */
SL_NODISCARD sl_status sl_report_pair(sl_str *s, sl_arena *scratch, const sl_pairs *pairs,
                                      const sl_pair *p);

/* Identifies a configuration of pairs. hash[i] is of the first SL_REPORT_HASHED pairs of split i,
 * or "". options: those that are not defaults, as on a command line. */
enum { SL_REPORT_HASHED = 1000 };
typedef struct sl_report_identity {
    const sl_pairs *pairs;
    char hash[SL_SPLIT_COUNT][33];
} sl_report_identity;
void sl_report_identity_table(sl_str *s, const sl_report_identity *id, const char *options);
void sl_report_identity_json(sl_str *s, const sl_report_identity *id);

void sl_report_pairs_stats_table(sl_str *s, const sl_pairs_stats *stats, const sl_entropy *entropy);
void sl_report_pairs_stats_json(sl_str *s, const sl_pairs_stats *stats, const sl_entropy *entropy);
void sl_report_entropy_json(sl_str *s, const sl_entropy *e); // a member, "entropy"

/* ---------------------------------------------------------------- training ------------------ */

/* The cost of a training. */
typedef struct sl_report_training {
    const sl_model *model;
    const sl_train_plan *plan;
    int64_t batch, points; // pairs of a step, points of a pair
    int threads;
    int64_t memory_free; // bytes that the machine has
} sl_report_training;
void sl_report_training_table(sl_str *s, const sl_report_training *t);
void sl_report_training_json(sl_str *s, const sl_report_training *t);
void sl_report_plan_json(sl_str *s, const sl_train_plan *p); // a member, "plan"
/* The parameter table of a model, a line each. */
void sl_report_tensor_table(sl_str *s, const sl_model *m);
void sl_report_tensor_json(sl_str *s, const sl_model *m);

/* A file of weights. */
typedef struct sl_report_weights {
    const char *path;
    const sl_st_file *file;
    const sl_json *config;   // of the metadata; NULL: none
    const char *config_text; // the same as text
    bool hashed;             // it has a checksum, which is right
    bool tensors;            // list them
} sl_report_weights;
void sl_report_weights_table(sl_str *s, const sl_report_weights *w);
void sl_report_weights_json(sl_str *s, const sl_report_weights *w);

/* The progress of a run, from the files of its folder. */
typedef struct sl_report_progress {
    const char *dir;
    const sl_json *config;
    const char *config_text;
    int64_t step;                     // last one of the log; -1: none
    double loss, loss_valid, seconds; // of the log; NaN: none
    int64_t steps;                    // of the whole run; 0: not known
    int64_t saved;                    // step of the newest complete checkpoint; -1: none
    const char *warning;              // NULL, or why a newer checkpoint is not used
} sl_report_progress;
void sl_report_progress_table(sl_str *s, const sl_report_progress *r);
void sl_report_progress_json(sl_str *s, const sl_report_progress *r);

/* ---------------------------------------------------------------- laws ---------------------- */

/* Predictions to report with the laws. NaN and NULL: none. */
typedef struct sl_report_question {
    double params, tokens; // of a run
    double budget;         // FLOPs
    const sl_laws *other;  // to compare with
    sl_laws_multiplier multiplier[SL_LAWS_MULTIPLIERS];
} sl_report_question;
void sl_report_laws_table(sl_str *s, const sl_laws *l, const sl_report_question *q);
void sl_report_laws_json(sl_str *s, const sl_laws *l, const sl_report_question *q);
/* The page of a table of runs into *page, which then appears (*page NULL: none), and its figures
 * into a folder (NULL: none). file: the table's name; command: that writes the page. */
SL_NODISCARD sl_status sl_report_laws_page(sl_file **page, const char *figures, const sl_laws *l,
                                           const char *file, const char *command);

/* ---------------------------------------------------------------- how far a study is -------- */

/* All figures of a moment. FLOPs are of training, by the paper's count; a run under way counts by
 * its share of steps. */
typedef struct sl_report_tally {
    int runs, finished, failed, active; // active: claimed by a process that lives
    double flops, flops_done;
    int evaluations, evaluated;
    double seconds_left; // NaN: no run has finished yet
    char text[160];      // of one that is under way
} sl_report_tally;

typedef struct sl_report_run {
    const sl_study_run *run;
    sl_study_holder holder;
    double flops, part; // of training; the part that is done
} sl_report_run;

/* A line for each of n runs, then the tally. */
void sl_report_status_table(sl_str *s, const sl_study *study, const sl_report_run *runs, int n,
                            const sl_report_tally *t);
void sl_report_status_json(sl_str *s, const sl_study *study, const sl_report_run *runs, int n,
                           const sl_report_tally *t);

/* The cost of a study before it is run. FLOPs are counted as in the paper unless `executed`. */
typedef struct sl_report_run_cost {
    double tokens, flops, seconds;
} sl_report_run_cost;

typedef struct sl_report_size_cost {
    double params, tokens; // tokens: of a pair
    double batch;          // the one that the costs are computed for
    double flops_pair, flops_pair_executed;
    int64_t memory;
    int sweep_runs, grow_runs; // grow: at most, if the best point is at an edge of the grid
    double sweep_flops;        // of one run
    double sweep_seconds;      // of all runs
    sl_report_run_cost *scale; // a run of each ratio of the plan
    double rate;               // FLOP/s in training, of one process
    double share;              // of the sgemm rate, as executed; NaN
    int64_t measured;          // pairs of a step that was timed; 0: the share is an assumption
} sl_report_size_cost;

typedef struct sl_report_study_cost {
    const sl_study_plan *plan;
    const sl_report_size_cost *size; // one for each size of the plan
    double peak;                     // FLOP/s of products on all threads; NaN: not measured
    double given;                    // rate that the user gave; NaN
    double ranks;
    int threads;
    double flops_sweep, flops_scale, flops_grow, seconds_sweep, seconds_scale;
    int runs_sweep, runs_scale, runs_grow;
} sl_report_study_cost;
void sl_report_study_cost_table(sl_str *s, const sl_report_study_cost *o);
void sl_report_study_cost_json(sl_str *s, const sl_report_study_cost *o);

/* ---------------------------------------------------------------- the page of a study ------- */

/* Shares of problems are estimates: a value with its interval, NaN where they are not known. */

typedef struct sl_report_curve { // the losses of one run along its training
    const char *run;             // id
    double params;
    int64_t n;
    const double *step, *flops, *loss; // loss: validation, or training where there is none
} sl_report_curve;

/* What was solved when so much had been spent on each problem. */
typedef struct sl_report_effort {
    double seconds; // of a CPU
    double flops;   // their equivalent: what products of matrices would take in that time; NaN
    sl_estimate solved;
    double wrong;   // said to be exact, and not
} sl_report_effort;

typedef struct sl_report_baseline { // no model: a line in the figures of accuracies
    const char *name, *note;        // note: how it was obtained; NULL: none
    sl_estimate solved, r2;
    const sl_report_effort *efforts; // the search: ascending; a curve in the figure
    int n_efforts;
} sl_report_baseline;

typedef struct sl_report_other { // a run's result on problems other than the test set
    const char *run;
    double params, flops;
    sl_estimate test, withheld, formulas; // solved; formulas: the public ones
} sl_report_other;

typedef struct sl_report_cost {
    const char *phase;
    int64_t runs;
    double seconds, cpu_seconds, flops; // summed over runs; NaN: not known
    double share;                       // of the machine's measured sgemm rate
    double executed;                    // operations that products of matrices took; 0: not known
} sl_report_cost;

typedef struct sl_report_origin { // where a run was made
    const char *run, *libraries, *cpu, *isa, *version;
} sl_report_origin;

typedef struct sl_report_failure {
    const char *run, *state, *error; // state: "failed", "diverged", "not evaluated"
    int tries;
} sl_report_failure;

typedef struct sl_report_problem {
    bool solved;
    const char *truth_mathml, *found_mathml; // as sl_expr_print writes them; NULL: none
    const char *truth, *found;               // as text; shown where there is no MathML
    sl_dataset data;
    const double *predicted; // values by row of what was found; NULL: none
    double r2;
} sl_report_problem;

typedef struct sl_report_input {
    const char *title;      // NULL: "Scaling laws"
    const char *subtitle;   // one line: what was studied; NULL: none
    const sl_laws *laws;    // with its table; NULL: there are none yet
    const char *unfinished; // what is done of a study that is not complete; NULL: all of it

    int n_curves, n_baselines, n_others, n_costs, n_origins, n_failures, n_problems;
    const sl_report_curve *curves;
    const sl_report_baseline *baselines;
    const sl_report_other *others;
    const sl_report_cost *costs;
    const sl_report_origin *origins;
    const sl_report_failure *failures;
    const sl_report_problem *problems;
    const char *command; // that repeats it; NULL: none
    const char *plan;    // JSON text; NULL: none
} sl_report_input;

/* Appends the page. */
SL_NODISCARD sl_status sl_report_html(sl_str *out, const sl_report_input *in);

/* Calls back for each figure that the page has, in its order, with a file name ("loss.svg") and the
 * text of a complete SVG file. A callback that fails ends it. */
typedef sl_status (*sl_report_save)(const char *name, const char *svg, size_t n, void *payload);
SL_NODISCARD sl_status sl_report_figures(const sl_report_input *in, sl_report_save save,
                                         void *payload);
/* The same into a folder, which is made if it is not there. */
SL_NODISCARD sl_status sl_report_figures_folder(const sl_report_input *in, const char *folder);

/* Appends the findings, one sentence a line: up to three, by the columns of the table. */
SL_NODISCARD sl_status sl_report_sentences(sl_str *out, const sl_report_input *in);

/* *out := all of that but the problems, from the folders of a study, in a. peak: FLOP/s of one
 * thread of this machine in products of matrices; NaN: not measured. */
SL_NODISCARD sl_status sl_report_study(sl_report_input *out, sl_arena *a, const sl_study *study,
                                       const sl_laws *laws, double peak);
/* Adds a few problems that a model solved, and a few that it missed. judgements: the journal of its
 * evaluation on the source. */
SL_NODISCARD sl_status sl_report_study_problems(sl_report_input *out, sl_arena *a,
                                                const sl_eval_source *source,
                                                const char *judgements);
enum { SL_REPORT_PROBLEMS = 200 }; // that are looked at
/* The cost of each phase as text. */
void sl_report_costs_table(sl_str *s, const sl_report_input *in);

#endif

/* report - a scaling study, or a plain table of runs, as one page and its figures.
 *
 * The page is one HTML file that needs nothing else: no network, no fonts, a few lines of script
 * that sort tables. It reads in light and dark, on a telephone and on paper.
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
 *     training curves, problems, cost,   where the caller has them: a study
 *     machines, how to repeat it
 *     all runs                           always
 *
 * A part that is NULL or empty is left out with its section, its figure and its line in the
 * contents. Figures are numbered in the order of the page. The same input is the same bytes.
 *
 * Every number comes with its interval, and every value beyond ten times the largest compute of the
 * table is marked as an extrapolation in red words.
 *
 * Ownership: the input is borrowed during the call. Texts are any bytes and are escaped, but for
 * `*_mathml`, which is markup. Threads: no shared state. */
#ifndef SL_REPORT_H
#define SL_REPORT_H

#include "base/base.h"
#include "laws/laws.h"

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
    int inputs;
    int64_t n;
    const double *const *x; // inputs arrays of n
    const double *y;
    const double *predicted; // n values of what was found; NULL: none
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

/* Appends what was found, one sentence a line: three where the table has what they speak of. */
SL_NODISCARD sl_status sl_report_sentences(sl_str *out, const sl_report_input *in);

#endif

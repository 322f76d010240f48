/* Inside src/commands only: what `symlaw laws` was asked, and how the answer is written. */
#ifndef SL_COMMANDS_LAWS_IMPL_H
#define SL_COMMANDS_LAWS_IMPL_H

#include "commands/commands.h"
#include "laws/laws.h"

/* What is asked besides the laws. NaN and NULL: not asked. */
typedef struct sl_commands__ask {
    double params, tokens; // --predict
    double budget;         // --budget
    const sl_laws *other;  // --compare
    sl_laws_multiplier multiplier[SL_LAWS_MULTIPLIERS];
} sl_commands__ask;

/* "N=1e9,D=2e10". */
SL_NODISCARD sl_status sl_commands__predict_read(sl_commands__ask *out, const char *text);

/* What the laws say of a budget, or of a size and its tokens. solved and r2 are shares. */
typedef struct sl_commands__forecast {
    double flops, factor;            // compute, and over the largest run's
    sl_estimate params, tokens;      // N* and D* of the frontier; of the question for --predict
    sl_laws_allocation surface;      // those of the surface
    sl_estimate loss;                // of the surface at N and D for --predict, else of the law
    sl_estimate solved, r2;          // of the laws, which hold for the best N and D
} sl_commands__forecast;
sl_commands__forecast sl_commands__forecast_budget(const sl_laws *l, double flops);
sl_commands__forecast sl_commands__forecast_run(const sl_laws *l, double params, double tokens);

/* For programs: members of an object; for people: the answer, then tables. */
void sl_commands__laws_json(sl_str *s, const sl_laws *l, const sl_commands__ask *ask);
void sl_commands__laws_table(sl_str *s, const sl_laws *l, const sl_commands__ask *ask);
/* Their second halves. */
void sl_commands__laws_json_parts(sl_str *s, const sl_laws *l);
void sl_commands__laws_json_tests(sl_str *s, const sl_laws *l);
void sl_commands__laws_table_tests(sl_str *s, const sl_laws *l);
void sl_commands__law_json(sl_str *s, const char *name, const sl_law *law);
void sl_commands__estimate_json(sl_str *s, const char *name, sl_estimate e);
/* "1.23e+21 (1e+20 to 1e+23)" by a format for one number. */
const char *sl_commands__estimate_text(char buffer[96], const char *format, sl_estimate e);
/* "", or "  EXTRAPOLATION x270" beyond SL_LAWS_FAR. */
const char *sl_commands__far_text(char buffer[48], double factor);

/* Writes the page, if *page is open for it, and the figures into the folder of --figures. */
SL_NODISCARD sl_status sl_commands__laws_report(sl_commands__run *run, const sl_laws *l,
                                                sl_file **page);

#endif

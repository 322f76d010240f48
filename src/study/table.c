/* table - the runs of a study as rows: for laws, and as runs.csv. */
#include <math.h>
#include <string.h>

#include "study/study_impl.h"

/* Runs with a result; those that diverged as well, which have no losses. */
static bool has_row(const sl_study_run *r) { return r->trained || r->result.diverged; }

static const char *phase_of(const sl_study_run *r) {
    return r->sweep && r->scale ? "both" : r->sweep ? "sweep" : "scale";
}

static double share(const sl_study_share *s) { return s->trials > 0 ? s->hits / s->trials : NAN; }

sl_status sl_study_table(sl_laws_table *out, sl_arena *a, const sl_study *study) {
    *out = (sl_laws_table){ .source = study->dir };
    for (int i = 0; i < study->runs; i++) {
        const sl_study_run *r = &study->run[i];
        if (!has_row(r)) continue;
        const sl_study_evaluation *test = &r->eval[SL_STUDY_SET_TEST];
        sl_laws_run row = SL_LAWS_RUN_NONE;
        row.id = r->id;
        row.size = study->plan->size[r->size].name;
        row.phase = phase_of(r);
        row.status = r->trained ? "done" : "diverged";
        row.params = r->result.params;
        row.tokens = r->result.tokens;
        row.flops = r->result.flops;
        row.loss = r->result.loss_valid;
        row.loss_test = test->loss;
        row.solved = share(&test->solved);
        row.solved_hits = test->solved.hits;
        row.r2 = share(&test->r2);
        row.r2_hits = test->r2.hits;
        row.trials = test->solved.trials;
        row.seed = (double)r->seed;
        row.batch = r->batch;
        row.rate = r->lr;
        row.ratio = r->ratio;
        SL_TRY(sl_laws_table_add(out, a, &row));
    }
    return sl_laws_table_end(out, a);
}

/* ---------------------------------------------------------------- runs.csv ------------------ */

/* A value of a column: a text, or a number. */
typedef struct cell {
    const char *text; // NULL: number
    double number;
} cell;

/* The input of a row. */
typedef struct row {
    const sl_study_run *run;
    const char *size;
    const sl_study_result *result;
    const sl_study_evaluation *test, *withheld, *formulas;
} row;

#define TEXT(x)   ((cell){ .text = (x) ? (x) : "" })
#define NUMBER(x) ((cell){ .number = (x) })

// columns: first those that laws reads, by its names; then other values; times last
#define COLUMNS(X)                                                    \
    X(id, TEXT(r->run->id))                                           \
    X(size, TEXT(r->size))                                            \
    X(phase, TEXT(phase_of(r->run)))                                  \
    X(status, TEXT(r->run->trained ? "done" : "diverged"))            \
    X(params, NUMBER(r->result->params))                              \
    X(tokens, NUMBER(r->result->tokens))                              \
    X(flops, NUMBER(r->result->flops))                                \
    X(loss, NUMBER(r->result->loss_valid))                            \
    X(loss_test, NUMBER(r->test->loss))                               \
    X(solved, NUMBER(share(&r->test->solved)))                        \
    X(solved_hits, NUMBER(r->test->solved.hits))                      \
    X(r2, NUMBER(share(&r->test->r2)))                                \
    X(r2_hits, NUMBER(r->test->r2.hits))                              \
    X(trials, NUMBER(r->test->solved.trials))                         \
    X(seed, NUMBER((double)r->run->seed))                             \
    X(batch, NUMBER(r->run->batch))                                   \
    X(rate, NUMBER(r->run->lr))                                       \
    X(ratio, NUMBER(r->run->ratio))                                   \
    X(steps, NUMBER(r->result->steps))                                \
    X(flops_executed, NUMBER(r->result->flops_executed))              \
    X(loss_train, NUMBER(r->result->loss_train))                      \
    X(loss_expression, NUMBER(r->result->loss_valid_expression))      \
    X(loss_test_expression, NUMBER(r->test->loss_expression))         \
    X(withheld_solved, NUMBER(share(&r->withheld->solved)))           \
    X(withheld_r2, NUMBER(share(&r->withheld->r2)))                   \
    X(withheld_trials, NUMBER(r->withheld->solved.trials))            \
    X(withheld_loss, NUMBER(r->withheld->loss))                       \
    X(withheld_loss_expression, NUMBER(r->withheld->loss_expression)) \
    X(formulas_solved, NUMBER(share(&r->formulas->solved)))           \
    X(formulas_r2, NUMBER(share(&r->formulas->r2)))                   \
    X(formulas_trials, NUMBER(r->formulas->solved.trials))            \
    X(checkpoint, TEXT(r->result->checkpoint))                        \
    X(cpu, TEXT(r->result->cpu))                                      \
    X(isa, TEXT(r->result->isa))                                      \
    X(libraries, TEXT(r->result->libraries))                          \
    X(version, TEXT(r->result->version))                              \
    X(revision, TEXT(r->result->revision))                            \
    X(seconds_train, NUMBER(r->result->seconds))                      \
    X(seconds_train_cpu, NUMBER(r->result->cpu_seconds))              \
    X(seconds_test, NUMBER(r->test->seconds))                         \
    X(seconds_withheld, NUMBER(r->withheld->seconds))                 \
    X(seconds_formulas, NUMBER(r->formulas->seconds))

static void add_cell(sl_str *s, const cell *c, bool first) {
    if (!first) sl_str_add_char(s, ',');
    if (c->text)
        sl_io_csv_add_text(s, c->text);
    else
        sl_io_csv_add_number(s, c->number);
}

static void add_row(sl_str *s, const row *r) {
    SL_ASSERT(r->run != NULL); // rows are made of runs
    const cell cells[] = {
#define X(name, value) value,
        COLUMNS(X)
#undef X
    };
    for (int i = 0; i < SL_LEN(cells); i++) add_cell(s, &cells[i], i == 0);
    sl_str_add_char(s, '\n');
}

void sl_study_csv(sl_str *s, const sl_study *study) {
    static const char *const names[] = {
#define X(name, value) #name,
        COLUMNS(X)
#undef X
    };
    for (int i = 0; i < SL_LEN(names); i++) sl_str_addf(s, "%s%s", i > 0 ? "," : "", names[i]);
    sl_str_add_char(s, '\n');
    for (int i = 0; i < study->runs; i++) {
        const sl_study_run *run = &study->run[i];
        if (has_row(run))
            add_row(s, &(row){ run, study->plan->size[run->size].name, &run->result,
                               &run->eval[SL_STUDY_SET_TEST], &run->eval[SL_STUDY_SET_WITHHELD],
                               &run->eval[SL_STUDY_SET_FORMULAS] });
    }
}

int sl_study_best_run(const sl_study *s) {
    int best = -1;
    for (int r = 0; r < s->runs; r++) {
        const sl_study_run *run = &s->run[r];
        if (!run->scale || !run->trained || !run->result.checkpoint ||
            isnan(run->result.loss_valid))
            continue;
        if (best < 0 || run->result.loss_valid < s->run[best].result.loss_valid) best = r;
    }
    return best;
}

/* Inside src/study only: places in a plan, numbers in names, the expansion of a plan to runs. */
#ifndef SL_STUDY_IMPL_H
#define SL_STUDY_IMPL_H

#include "io/io.h"
#include "study/study.h"

/* ---------------------------------------------------------------- numbers ------------------- */

enum { SL_STUDY__NUMBER = 32 };
/* The shortest decimal that reads back as v > 0, so that two numbers never have one text: 16, 12.5,
 * 4e-3, 2.15443e-4; without an exponent from 0.1 up to a million. */
const char *sl_study__number(char out[SL_STUDY__NUMBER], double v);
/* v to six significant digits: keeps values of a geometric list short in names. */
double sl_study__rounded(double v);

/* ---------------------------------------------------------------- places -------------------- */

/* A member of a plan, as a path from the top. */
typedef struct sl_study__place {
    const struct sl_study__place *up; // NULL: the plan itself
    const char *name;                 // of a member; NULL: an element
    int index;                        // of an element
} sl_study__place;

/* A plan that is being read. */
typedef struct sl_study__reader {
    const char *path, *text;
    sl_arena *arena;
    sl_study_check check;
    void *payload;
} sl_study__reader;

/* SL_EINVAL: "<file>, line 14, sizes[2].width: ...". An argument may be the line of
 * sl_last_error. */
SL_PRINTF(3, 4)
sl_status sl_study__fail(const sl_study__reader *r, const sl_study__place *p, const char *format,
                         ...);
/* The line of a place, from 1; of the nearest one above it that is found. */
int sl_study__line(const char *text, const sl_study__place *p);

/* SL_EINVAL if a member of the object at p has none of n names, with the nearest name. NULL is an
 * empty object. */
SL_NODISCARD sl_status sl_study__members(const sl_study__reader *r, const sl_study__place *p,
                                         const sl_json *object, const char *const *names, int n);
/* SL_EINVAL if the value at p is not of this kind. */
SL_NODISCARD sl_status sl_study__kind(const sl_study__reader *r, const sl_study__place *p,
                                      const sl_json *j, sl_json_kind kind);

/* ---------------------------------------------------------------- parts of a plan ----------- */

/* What a list holds, and which option of train one of its values is. */
typedef struct sl_study__range {
    const char *option;
    double min, max;
    bool whole;
} sl_study__range;
extern const sl_study__range sl_study__batch, sl_study__lr, sl_study__ratio, sl_study__seed;

/* Is v a value of this kind? */
bool sl_study__in_range(const sl_study__range *g, double v);
/* *out := a number, a list of numbers, or a first number and a step, ascending. */
SL_NODISCARD sl_status sl_study__list_read(sl_study_list *out, const sl_study__reader *r,
                                           const sl_study__place *p, const sl_json *j,
                                           const sl_study__range *g);
SL_NODISCARD sl_status sl_study__number_read(double *out, const sl_study__reader *r,
                                             const sl_study__place *p, const sl_json *j,
                                             const sl_study__range *g);

/* Checks every option of the object at p by itself; `but` are members that are no options. */
SL_NODISCARD sl_status sl_study__options_check(const sl_study__reader *r, const sl_study__place *p,
                                               const sl_json *options, const char *command,
                                               const char *const *but, int n_but);
/* *out := the members of `common` that are not in `own`, then those of `own`, without `but`. Either
 * may be NULL. */
SL_NODISCARD sl_status sl_study__options_merge(const char **out, sl_arena *a, const sl_json *common,
                                               const sl_json *own, const char *const *but,
                                               int n_but);
/* *options := the same object with the path of its file of formulas resolved: beside the plan by
 * its last name, below the plan's folder, below the current one. */
SL_NODISCARD sl_status sl_study__formulas_find(const char **options, const sl_study__reader *r,
                                               const sl_study__place *p);

/* *out := a copy in a. */
SL_NODISCARD sl_status sl_study__copy(const char **out, sl_arena *a, const char *text, size_t n);
/* *out := the text of s in a, or its failure; s is cleared. */
SL_NODISCARD sl_status sl_study__take(const char **out, sl_arena *a, sl_str *s);

/* ---------------------------------------------------------------- phases -------------------- */

/* Where the states of runs come from: folders, or a test. `run` has its id and configuration only;
 * the source fills in trained, result, eval, attempts, error, and whether it is BEGUN. */
typedef struct sl_study__source {
    sl_status (*run)(sl_study_run *run, sl_arena *a, void *payload);
    sl_status (*baseline)(sl_study_evaluation *out, sl_arena *a, const char *name, void *payload);
    void *payload;
} sl_study__source;

/* All of *out but dir and notes. A pure function of the plan and of the source. */
SL_NODISCARD sl_status sl_study__expand(sl_study *out, sl_arena *a, const sl_study_plan *plan,
                                        const sl_study__source *source);
/* id := the name of a run, by its size, batch, lr, ratio and seed. */
void sl_study__id(char id[SL_STUDY_ID], const char *size, const sl_study_run *run);

/* The run from whose data the baselines' problems are drawn: the first one of scale that has not
 * failed; -1: it is not known yet, or there is none (*never). It may not be trained yet. */
int sl_study__baseline_run(bool *never, const sl_study *study);

sl_study_evaluation sl_study__no_evaluation(void); // all values NaN or NULL

/* ---------------------------------------------------------------- files --------------------- */

enum { SL_STUDY__MAX_FILE = 64 << 20 }; // an evaluation with all its groups is below a megabyte

/* The contents of files; texts in a. SL_EFORMAT names what is wrong. *there: the file exists. */
SL_NODISCARD sl_status sl_study__result_read(sl_study_result *out, bool *there, sl_arena *a,
                                             const char *path);
SL_NODISCARD sl_status sl_study__evaluation_read(sl_study_evaluation *out, const char *path);
SL_NODISCARD sl_status sl_study__attempts_read(int *n, const char **message, sl_arena *a,
                                               const char *path, const char *what);

#endif

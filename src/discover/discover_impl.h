/* Inside src/discover only: the rows, the bags that a model reads, candidates in work. */
#ifndef SL_DISCOVER_IMPL_H
#define SL_DISCOVER_IMPL_H

#include <math.h>
#include <stdatomic.h>

#include "discover/discover.h"

/* Streams of random numbers. */
enum {
    SL_DISCOVER__HOLDOUT = 0xd15c01,
    SL_DISCOVER__BAGS = 0xd15c02,
    SL_DISCOVER__RESTARTS = 0xd15c03,
};

/* R2 this close count as equal: then simplicity decides. */
#define SL_DISCOVER__TIE 1e-12

/* ---------------------------------------------------------------- ending early -------------- */

/* Read by all threads; only the calling thread, which is worker 0 of every pool, reports
 * progress. */
typedef struct sl_discover__control {
    double start, deadline; // 0: none
    double half;            // when sampling must end for the fits to have their share; 0: never
    _Atomic bool short_of_samples; // it came
    _Atomic int64_t sampled;       // samples that are done, while sampling
    _Atomic int cut;        // sl_cut
    sl_discover_progress progress;
    void *payload;
    const char *what; // is going on
    double done, total;
    double reported; // when progress was, last
    const sl_candidate *best;
} sl_discover__control;

/* Must the work end? For any thread. report: called by the calling thread, which may report
 * progress. */
bool sl_discover__stop(sl_discover__control *c, bool report);

/* ---------------------------------------------------------------- rows and bags ------------- */

/* The rows to fit and those held out. Without a holdout the former are the caller's data set. */
typedef struct sl_discover__rows {
    sl_dataset fit, held;
    sl_standard standard; // of the inputs to fit
    int shown, column[SL_DATA_MAX_INPUTS]; // inputs that the model is shown: how many, which
    bool constant; // y is
    const bool *fitted; // by row: is it among those to fit? NULL: all are
} sl_discover__rows;
SL_NODISCARD sl_status sl_discover__rows_make(sl_discover__rows *out, sl_arena *a,
                                              const sl_dataset *p, const sl_discover_options *o);

/* Rows that the model reads together, and the number of samples for them. */
typedef struct sl_discover__bag {
    bool unit; // inputs brought to mean 0 and variance 1
    sl_dataset data;
    int64_t first, count; // samples
} sl_discover__bag;
/* *bags := *n bags for all samples, in a. points: rows that the model takes. */
SL_NODISCARD sl_status sl_discover__bags_make(sl_discover__bag **bags, int *n, sl_arena *a,
                                              const sl_discover__rows *rows, int points,
                                              const sl_discover_options *o, int64_t samples);

/* ---------------------------------------------------------------- candidates ---------------- */

/* A candidate while it is worked on. */
typedef struct sl_discover__work {
    sl_candidate c;
    bool unit;              // its variables are the inputs brought to mean 0 and variance 1
    const sl_node *form;    // canonical form, by which duplicates are known; before substitution
    const double *start;    // values of the free constants of c.expr, as proposed
} sl_discover__work;

typedef struct sl_discover__pool {
    sl_arena *arena;  // of the discovery
    sl_discover__rows rows;
    const sl_discover_options *o;
    sl_pool *threads;
    sl_arena *scratch; // one per worker
    int workers;
    sl_discover__work *work;
    int64_t count, room;
    sl_discover__control control;
    sl_discover_cost *cost;
    sl_noise noise; // in y, as far as it is known
    int64_t tried;  // by the search
    uint64_t front_hash; // of the front that was reported last
    int found;           // formulas of the search that it was made of
} sl_discover__pool;

#define SL_DISCOVER__NO_BITS { NAN, NAN, NAN, NAN, NAN, 0 }
/* Members of a candidate whose figures are not known yet. */
#define SL_DISCOVER__NO_FIGURES                                                        \
    .r2 = NAN, .r2_proposed = NAN, .r2_holdout = NAN, .rms = NAN, .evidence = NAN,     \
    .bits = SL_DISCOVER__NO_BITS

/* Room for so many more. Candidates may move. */
SL_NODISCARD sl_status sl_discover__reserve(sl_discover__pool *p, int64_t more);
/* The best so far, for progress: among it and candidates from `first` on. */
void sl_discover__find_best(sl_discover__pool *p, int64_t first);

/* Candidates from samples: parsed, known ones marked, the others scored. */
SL_NODISCARD sl_status sl_discover__take_samples(sl_discover__pool *p, const sl_sampled *s,
                                                 int64_t n, bool unit);
/* Those that need no model. */
SL_NODISCARD sl_status sl_discover__take_baselines(sl_discover__pool *p);
/* Those of a search. hints: parts of the samples so far are terms of low cost. */
SL_NODISCARD sl_status sl_discover__search(sl_discover__pool *p, sl_discover_searched *s,
                                           double deadline, bool hints);
/* Formulas of a search become candidates: see formulas.c. */
SL_NODISCARD sl_status sl_discover__take_formulas(sl_discover__pool *p, const sl_search_formula *f,
                                                  int64_t n);
/* Reports the front of the candidates and of these formulas of a search, if it has changed. No
 * other thread may be at work on candidates. */
void sl_discover__report_front(sl_discover__pool *p, const sl_search_formula *found, int n);
/* Marks what the options do not allow. */
SL_NODISCARD sl_status sl_discover__exclude(sl_discover__pool *p);
/* Fits and snaps the best ones. */
SL_NODISCARD sl_status sl_discover__refine(sl_discover__pool *p);
/* place[0..) := the candidates that have an R2, the best first by R2 (SL_RANK_SIMPLE, SL_RANK_R2);
 * returns how many. */
int64_t sl_discover__order(int64_t *place, const sl_discover__work *work, int64_t count, int rank);
/* The same of n candidates that are described, by their bits. */
void sl_discover__order_bits(int64_t *place, const sl_discover__work *work, int64_t n);
/* A candidate as a fit; its values and errors are borrowed, and not written to. */
sl_fit sl_discover__fit_of(const sl_candidate *c);
/* place[0..2n) := of n ranked ones the first by R2, the first by bits, the second by R2, ... */
SL_NODISCARD sl_status sl_discover__mix(int64_t *place, int64_t n, sl_discover__pool *p);
/* Takes out of them, and marks, what fitting has made the same as a better one. */
SL_NODISCARD sl_status sl_discover__merge(sl_discover__pool *p, int64_t *place, int64_t *n);

/* d := the candidates of the pool, ranked, with the front marked. */
SL_NODISCARD sl_status sl_discover__list(sl_discovery *d, sl_discover__pool *p);

/* *form := the canonical form of e; e itself if it has none. */
SL_NODISCARD sl_status sl_discover__form(const sl_node **form, sl_arena *a, const sl_node *e);
/* *e := the shortest of *e, its canonical form, and that with common factors taken out of a sum. */
SL_NODISCARD sl_status sl_discover__neat(const sl_node **e, sl_arena *a, const sl_node *form);
/* *out := a copy of v[0..n) in a. */
SL_NODISCARD sl_status sl_discover__copy(const double **out, sl_arena *a, const double *v, int n);

/* r2 := of the candidate's expression on these rows. */
SL_NODISCARD sl_status sl_discover__score(double *r2, sl_arena *scratch, const sl_node *e,
                                          const double *value, const sl_dataset *p);

/* The amounts of work of an effort. */
typedef struct sl_discover__budget {
    int64_t samples, refined;
    int evaluations, restarts;
} sl_discover__budget;
sl_discover__budget sl_discover__budget_of(const sl_discover_options *o);

#endif

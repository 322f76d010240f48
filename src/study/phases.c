/* phases - the runs of a study: a pure function of the plan and of the states of its runs.
 *
 * A size's grid has two axes, batch size and learning rate. When all its runs are finished, the
 * point with the least mean validation loss is the optimum. If that is at an end of an axis, the
 * axis gets one more value there, by the step between its two last values, at most `grow` times;
 * then the study waits for the new runs. An axis of one value is fixed: it has no step and no edge.
 * A grid of one point is not swept. Runs are only added, since a finished run stays finished. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "study/study_impl.h"

/* ---------------------------------------------------------------- runs ---------------------- */

sl_study_evaluation sl_study__no_evaluation(void) {
    return (sl_study_evaluation){ .solved = { NAN, NAN },
                                  .r2 = { NAN, NAN },
                                  .loss = NAN,
                                  .loss_expression = NAN,
                                  .seconds = NAN,
                                  .cpu_seconds = NAN,
                                  .seconds_most = NAN };
}

sl_study_result sl_study_no_result(void) {
    return (sl_study_result){ .params = NAN,
                              .tokens = NAN,
                              .flops = NAN,
                              .flops_executed = NAN,
                              .steps = NAN,
                              .loss_train = NAN,
                              .loss_valid = NAN,
                              .loss_valid_expression = NAN,
                              .seconds = NAN,
                              .cpu_seconds = NAN,
                              .threads = NAN,
                              .ranks = NAN };
}

void sl_study__id(char id[SL_STUDY_ID], const char *size, const sl_study_run *run) {
    char batch[SL_STUDY__NUMBER], lr[SL_STUDY__NUMBER], ratio[SL_STUDY__NUMBER];
    const int n = sl_snprintf(id, SL_STUDY_ID, "%s-b%s-lr%s-r%s-s%lld", size,
                              sl_study__number(batch, run->batch), sl_study__number(lr, run->lr),
                              sl_study__number(ratio, run->ratio), (long long)run->seed);
    SL_ASSERT(n < SL_STUDY_ID); // names have 32 characters, numbers 23
}

/* Runs as they become known; in the arena, moved when they grow. */
typedef struct builder {
    sl_arena *arena;
    const sl_study_plan *plan;
    const sl_study__source *source;
    sl_study_run *run;
    int n, room;
    int size;  // that is being expanded
    int first; // of its runs
} builder;

static sl_status make_room(builder *b) {
    if (b->n < b->room) return SL_OK;
    const int room = SL_MAX(64, 2 * b->room);
    sl_study_run *run = sl_arena_alloc(b->arena, (size_t)room * sizeof *run);
    if (!run) return sl_fail_memory((size_t)room, sizeof *run, "runs of a study");
    if (b->n > 0) memcpy(run, b->run, (size_t)b->n * sizeof *run);
    b->run = run;
    b->room = room;
    return SL_OK;
}

/* *out := the index of this run; the first time it is added with its state from the source. */
static sl_status need(int *out, builder *b, double batch, double lr, double ratio, double seed) {
    for (int i = b->first; i < b->n; i++) {
        const sl_study_run *r = &b->run[i];
        *out = i;
        if (r->batch == batch && r->lr == lr && r->ratio == ratio && r->seed == (int64_t)seed)
            return SL_OK;
    }
    SL_TRY(make_room(b));
    sl_study_run *r = &b->run[ *out = b->n];
    *r = (sl_study_run){ .size = b->size,
                         .batch = batch,
                         .lr = lr,
                         .ratio = ratio,
                         .seed = (int64_t)seed,
                         .result = sl_study_no_result() };
    for (int k = 0; k < SL_STUDY_SET_COUNT; k++) r->eval[k] = sl_study__no_evaluation();
    sl_study__id(r->id, b->plan->size[b->size].name, r);
    SL_TRY(b->source->run(r, b->arena, b->source->payload));
    b->n++;
    return SL_OK;
}

/* Did training diverge, or fail as often as allowed? */
static bool has_failed(const sl_study_run *r, const sl_study_plan *plan) {
    return !r->trained && (r->result.diverged || r->attempts >= plan->attempts);
}

/* ---------------------------------------------------------------- a grid -------------------- */

enum { MAX_AXIS = SL_STUDY_MAX_GRID + 32 }; // a plan grows by 16 on each side at most

typedef struct axis {
    double at[MAX_AXIS];
    int n, below, above; // values added at both ends
    const sl_study__range *range;
} axis;

static void axis_init(axis *x, const sl_study_list *list, const sl_study__range *range) {
    *x = (axis){ .n = list->n, .range = range };
    memcpy(x->at, list->at, (size_t)list->n * sizeof x->at[0]);
}

/* One more value at the lower or the upper end. False if there can be none. */
static bool axis_extend(axis *x, bool up, int most) {
    if (x->n < 2 || (up ? x->above : x->below) >= most) return false;
    const double end = up ? x->at[x->n - 1] : x->at[0];
    const double next = end * (end / (up ? x->at[x->n - 2] : x->at[1]));
    const double v = x->range->whole ? round(next) : sl_study__rounded(next);
    if (!sl_study__in_range(x->range, v) || (up ? v <= end : v >= end)) return false;
    if (!up) memmove(x->at + 1, x->at, (size_t)x->n * sizeof x->at[0]);
    x->at[up ? x->n : 0] = v;
    x->n++;
    (*(up ? &x->above : &x->below))++;
    return true;
}

/* If the optimum is at an end of the axis: extends it there. *edge: it cannot be extended. */
static bool axis_follow(axis *x, int best, int most, bool *edge) {
    if (x->n < 2 || (best > 0 && best < x->n - 1)) return false;
    const bool extended = axis_extend(x, best > 0, most);
    if (!extended) *edge = true;
    return extended;
}

/* Mean validation loss over seeds, infinite where one has failed; *open: some are not finished. */
static sl_status point_loss(double *out, bool *open, builder *b, double batch, double lr) {
    const sl_study_size *s = &b->plan->size[b->size];
    double sum = 0;
    for (int i = 0; i < s->sweep_seeds.n; i++) {
        int at;
        SL_TRY(need(&at, b, batch, lr, s->sweep_ratio, s->sweep_seeds.at[i]));
        sl_study_run *r = &b->run[at];
        r->sweep = true;
        if (r->trained && isfinite(r->result.loss_valid))
            sum += r->result.loss_valid;
        else if (r->trained || has_failed(r, b->plan))
            sum = HUGE_VAL;
        else
            *open = true;
    }
    *out = sum / s->sweep_seeds.n;
    return SL_OK;
}

/* best := the optimum of the grid; the first of equal ones. */
static sl_status find_best(sl_study_best *best, int at[2], bool *open, builder *b,
                           const axis *batch, const axis *lr) {
    *best = (sl_study_best){ .loss = HUGE_VAL };
    for (int i = 0; i < batch->n; i++)
        for (int k = 0; k < lr->n; k++) {
            double loss;
            SL_TRY(point_loss(&loss, open, b, batch->at[i], lr->at[k]));
            if ((i > 0 || k > 0) && !(loss < best->loss)) continue;
            *best = (sl_study_best){ .batch = batch->at[i], .lr = lr->at[k], .loss = loss };
            at[0] = i;
            at[1] = k;
        }
    best->known = !*open;
    return SL_OK;
}

static sl_status sweep(sl_study_best *best, builder *b) {
    const sl_study_size *s = &b->plan->size[b->size];
    axis batch, lr;
    axis_init(&batch, &s->batch, &sl_study__batch);
    axis_init(&lr, &s->lr, &sl_study__lr);
    if (batch.n == 1 && lr.n == 1) {
        *best = (sl_study_best){ .known = true, .batch = batch.at[0], .lr = lr.at[0], .loss = NAN };
        return SL_OK;
    }
    for (;;) {
        int at[2] = { 0, 0 };
        bool open = false, edge = false;
        SL_TRY(find_best(best, at, &open, b, &batch, &lr));
        if (open || isinf(best->loss)) return SL_OK;
        const bool more_batch = axis_follow(&batch, at[0], s->grow, &edge);
        const bool more_lr = axis_follow(&lr, at[1], s->grow, &edge);
        best->edge = edge;
        if (!more_batch && !more_lr) return SL_OK;
    }
}

static sl_status scale(builder *b, const sl_study_best *best) {
    const sl_study_size *s = &b->plan->size[b->size];
    if (!best->known || isinf(best->loss)) return SL_OK;
    for (int i = 0; i < s->ratios.n; i++)
        for (int k = 0; k < s->scale_seeds.n; k++) {
            int at;
            SL_TRY(need(&at, b, best->batch, best->lr, s->ratios.at[i], s->scale_seeds.at[k]));
            b->run[at].scale = true;
        }
    return SL_OK;
}

/* ---------------------------------------------------------------- states -------------------- */

static sl_study_state state_of(const sl_study_run *r, const sl_study_plan *plan) {
    if (has_failed(r, plan)) return SL_STUDY_FAILED;
    if (!r->trained) return r->state; // WAITING or BEGUN, from the source
    bool left = false, failed = false;
    for (int k = 0; k < SL_STUDY_SET_COUNT && r->scale; k++) {
        if (!plan->size[r->size].eval[k] || r->eval[k].there) continue;
        if (r->eval[k].attempts < plan->attempts)
            left = true;
        else
            failed = true;
    }
    return left ? SL_STUDY_TRAINED : failed ? SL_STUDY_FAILED : SL_STUDY_DONE;
}

static int by_configuration(const void *x, const void *y) {
    const sl_study_run *a = x, *b = y;
#define COMPARE(field) \
    if (a->field != b->field) return a->field < b->field ? -1 : 1
    COMPARE(size);
    COMPARE(batch);
    COMPARE(lr);
    COMPARE(ratio);
    COMPARE(seed);
#undef COMPARE
    return 0;
}

int sl_study__baseline_run(bool *never, const sl_study *study) {
    *never = false;
    for (int i = 0; i < study->plan->sizes; i++)
        if (!study->best[i].known) return -1;
    for (int i = 0; i < study->runs; i++) {
        const sl_study_run *r = &study->run[i];
        if (r->scale && study->plan->size[r->size].eval[SL_STUDY_SET_TEST] &&
            !has_failed(r, study->plan))
            return i;
    }
    *never = true;
    return -1;
}

static bool is_complete(const sl_study *s) {
    bool never;
    for (int i = 0; i < s->plan->sizes; i++)
        if (!s->best[i].known) return false;
    for (int i = 0; i < s->runs; i++)
        if (s->run[i].state != SL_STUDY_DONE && s->run[i].state != SL_STUDY_FAILED) return false;
    (void)sl_study__baseline_run(&never, s);
    for (int i = 0; i < s->plan->n_baselines; i++)
        if (!never && !s->baseline[i].there && s->baseline[i].attempts < s->plan->attempts)
            return false;
    return true;
}

sl_status sl_study__expand(sl_study *out, sl_arena *a, const sl_study_plan *plan,
                           const sl_study__source *source) {
    const size_t sizes = (size_t)plan->sizes, baselines = (size_t)SL_MAX(plan->n_baselines, 1);
    builder b = { .arena = a, .plan = plan, .source = source };
    *out = (sl_study){ .plan = plan, .dir = "", .notes = "" };
    out->best = sl_arena_alloc(a, sizes * sizeof *out->best);
    out->baseline = sl_arena_alloc(a, baselines * sizeof *out->baseline);
    if (!out->best || !out->baseline)
        return sl_fail_memory(sizes + baselines, sizeof *out->baseline, "a study");
    for (int i = 0; i < plan->sizes; i++) {
        b.size = i;
        b.first = b.n;
        SL_TRY(sweep(&out->best[i], &b));
        SL_TRY(scale(&b, &out->best[i]));
    }
    for (int i = 0; i < plan->n_baselines; i++) {
        out->baseline[i] = sl_study__no_evaluation();
        SL_TRY(source->baseline(&out->baseline[i], a, plan->baselines[i], source->payload));
    }
    for (int i = 0; i < b.n; i++) b.run[i].state = state_of(&b.run[i], plan);
    if (b.n > 0) qsort(b.run, (size_t)b.n, sizeof *b.run, by_configuration);
    out->run = b.run;
    out->runs = b.n;
    out->complete = is_complete(out);
    return SL_OK;
}

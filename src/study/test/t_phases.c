/* Phases: a study is played through on made-up results, in random order, and held against what a
 * plan promises. */
#include <math.h>
#include <string.h>

#include "fixture/fixture.h"
#include "study/study_impl.h"

enum { MOST = 6000 };

/* What has been done in a made-up study. Outcomes depend on the job and on `seed` alone, not on
 * when it was done. */
typedef struct world {
    const sl_study_plan *plan;
    uint64_t seed;
    double centre_batch, centre_lr; // where the loss is least
    int fails;                      // per mille of trainings that fail, and again as many diverge
    int n;
    struct deed {
        char id[SL_STUDY_ID + 24]; // "train <run>", "test <run>", "baseline <name>"
        int failures;
        bool done;
    } deed[MOST];
} world;

static uint64_t draw(const world *w, const char *id, uint64_t salt) {
    return sl_hash(id, strlen(id), w->seed * 1000 + salt);
}

static struct deed *deed_of(world *w, const char *what, const char *id) {
    char name[SL_STUDY_ID + 24];
    snprintf(name, sizeof name, "%s %s", what, id);
    for (int i = 0; i < w->n; i++)
        if (strcmp(w->deed[i].id, name) == 0) return &w->deed[i];
    SL_ASSERT(w->n < MOST);
    struct deed *d = &w->deed[w->n++];
    *d = (struct deed){ 0 };
    memcpy(d->id, name, sizeof name);
    return d;
}

static double loss_of(const world *w, const sl_study_run *r) {
    const double b = log(r->batch / w->centre_batch), l = log(r->lr / w->centre_lr);
    return 1 + 0.1 * b * b + 0.05 * l * l + 0.02 * (double)(draw(w, r->id, 3) % 1000) / 1000;
}

/* 0: it succeeds; 1: it fails each time; 2: it diverges. */
static int fate(const world *w, const char *id) {
    const int x = (int)(draw(w, id, 4) % 1000);
    return x < w->fails ? 1 : x < 2 * w->fails ? 2 : 0;
}

static sl_status answer_run(sl_study_run *r, sl_arena *a, void *payload) {
    world *w = payload;
    (void)a;
    const struct deed *d = deed_of(w, "train", r->id);
    r->attempts = d->failures;
    if (d->failures > 0) r->state = SL_STUDY_BEGUN;
    if (!d->done) return SL_OK;
    r->result.diverged = fate(w, r->id) == 2;
    r->trained = !r->result.diverged;
    if (r->trained) r->result.loss_valid = loss_of(w, r);
    for (int k = 0; k < SL_STUDY_SET_COUNT; k++) {
        d = deed_of(w, sl_study_set_name((sl_study_set)k), r->id);
        r->eval[k].there = d->done;
        r->eval[k].attempts = d->failures;
    }
    return SL_OK;
}

static sl_status answer_baseline(sl_study_evaluation *e, sl_arena *a, const char *name,
                                 void *payload) {
    (void)a;
    e->there = deed_of(payload, "baseline", name)->done;
    return SL_OK;
}

static sl_status look(sl_study *out, sl_arena *a, world *w) {
    const sl_study__source source = { answer_run, answer_baseline, w };
    return sl_study__expand(out, a, w->plan, &source);
}

static void work(world *w, const sl_study *s, const sl_study_job *job) {
    if (job->kind == SL_STUDY_JOB_BASELINE) {
        deed_of(w, "baseline", s->plan->baselines[job->baseline])->done = true;
        return;
    }
    const char *id = s->run[job->run].id;
    const bool train = job->kind == SL_STUDY_JOB_TRAIN;
    struct deed *d = deed_of(w, train ? "train" : sl_study_set_name(job->set), id);
    if (train ? fate(w, id) == 1 : draw(w, d->id, 5) % 1000 < (uint64_t)w->fails)
        d->failures++;
    else
        d->done = true;
}

/* ---------------------------------------------------------------- random plans -------------- */

static sl_study_list random_list(sl_fixture *t, double first, double step, int most) {
    const int n = 1 + (int)sl_rng_below(&t->rng, (uint32_t)most);
    double *at = sl_arena_alloc(&t->arena, (size_t)n * sizeof *at);
    assert_non_null(at);
    for (int i = 0; i < n; i++, first *= step) at[i] = first;
    return (sl_study_list){ at, n };
}

static sl_study_list seeds(sl_fixture *t) {
    sl_study_list l = random_list(t, 1, 2, 2);
    ((double *)l.at)[0] = sl_rng_below(&t->rng, 2);
    return l;
}

static sl_study_plan *random_plan(sl_fixture *t) {
    static const char *const names[] = { "8x1", "16x1", "16x2" };
    static const char *const baselines[] = { "blind", "linear" };
    sl_study_plan *p = sl_arena_alloc(&t->arena, sizeof *p);
    assert_non_null(p);
    *p = (sl_study_plan){ .name = "random", .attempts = 1 + (int)sl_rng_below(&t->rng, 2) };
    p->sizes = 1 + (int)sl_rng_below(&t->rng, 3);
    p->size = sl_arena_alloc(&t->arena, (size_t)p->sizes * sizeof *p->size);
    assert_non_null(p->size);
    p->baselines = baselines;
    p->n_baselines = (int)sl_rng_below(&t->rng, 3);
    for (int i = 0; i < p->sizes; i++) {
        p->size[i] = (sl_study_size){ .name = names[i],
                                      .train = "{}",
                                      .batch = random_list(t, 1 + sl_rng_below(&t->rng, 8), 2, 3),
                                      .lr = random_list(t, 1e-3, 2, 3),
                                      .ratios = random_list(t, 5, 2, 3),
                                      .sweep_seeds = seeds(t),
                                      .scale_seeds = seeds(t),
                                      .sweep_ratio = 10,
                                      .grow = (int)sl_rng_below(&t->rng, 4) };
        for (int k = 0; k < SL_STUDY_SET_COUNT; k++)
            if (sl_rng_below(&t->rng, 2)) p->size[i].eval[k] = "{}";
    }
    return p;
}

static world *random_world(sl_fixture *t, const sl_study_plan *plan) {
    world *w = sl_arena_alloc(&t->arena, sizeof *w);
    assert_non_null(w);
    w->plan = plan;
    w->seed = sl_rng_u64(&t->rng);
    w->centre_batch = exp(sl_rng_range(&t->rng, 0, 4));
    w->centre_lr = exp(sl_rng_range(&t->rng, -9, -4));
    w->fails = sl_rng_below(&t->rng, 3) == 0 ? 100 : 0;
    w->n = 0;
    return w;
}

/* ---------------------------------------------------------------- laws ---------------------- */

static bool same_run(const sl_study_run *a, const sl_study_run *b) {
    return strcmp(a->id, b->id) == 0 && a->size == b->size && a->batch == b->batch &&
           a->lr == b->lr && a->ratio == b->ratio && a->seed == b->seed && a->sweep == b->sweep &&
           a->scale == b->scale && a->state == b->state;
}

static bool same_study(const sl_study *a, const sl_study *b) {
    if (a->runs != b->runs || a->complete != b->complete) return false;
    for (int i = 0; i < a->runs; i++)
        if (!same_run(&a->run[i], &b->run[i])) return false;
    for (int i = 0; i < a->plan->sizes; i++)
        if (a->best[i].known != b->best[i].known || a->best[i].batch != b->best[i].batch ||
            a->best[i].lr != b->best[i].lr || a->best[i].edge != b->best[i].edge)
            return false;
    return true;
}

static const sl_study_run *run_of(const sl_study *s, const char *id) {
    for (int i = 0; i < s->runs; i++)
        if (strcmp(s->run[i].id, id) == 0) return &s->run[i];
    return NULL;
}

/* Looks twice, and does jobs at random until there is nothing left. *out: the study at its end. */
static void play(sl_fixture *t, sl_study *out, world *w, sl_rng *order) {
    sl_study before = { 0 };
    for (int steps = 0;; steps++) {
        SL_CHECK(t, steps < MOST, "it does not end");
        sl_study s, again;
        sl_study_job *jobs;
        SL_MUST(t, look(&s, &t->arena, w));
        SL_MUST(t, look(&again, &t->arena, w));
        SL_CHECK(t, same_study(&s, &again), "two looks differ");
        for (int i = 0; i < before.runs; i++) {
            const sl_study_run *now = run_of(&s, before.run[i].id);
            SL_CHECK(t, now, "%s is gone", before.run[i].id);
            SL_CHECK(t, now->sweep == before.run[i].sweep && now->scale >= before.run[i].scale,
                     "%s is not asked for any more", now->id);
        }
        const int n = sl_study_jobs(&jobs, &t->arena, &s, NULL);
        SL_CHECK(t, s.complete == (n == 0), "complete %d with %d jobs", s.complete, n);
        for (int i = 0; i < n; i++)
            SL_CHECK(t, jobs[i].kind == SL_STUDY_JOB_TRAIN || s.run[jobs[i].run].trained,
                     "%s has no model to work with", jobs[i].folder);
        if (n == 0) {
            *out = s;
            return;
        }
        work(w, &s, &jobs[sl_rng_below(order, (uint32_t)n)]);
        before = s;
    }
}

/* Distinct values of an axis in the sweep of a size, ascending. */
static int axis_of(double at[64], const sl_study *s, int size, bool lr) {
    int n = 0;
    for (int i = 0; i < s->runs; i++) {
        const sl_study_run *r = &s->run[i];
        const double v = lr ? r->lr : r->batch;
        int k = 0;
        if (r->size != size || !r->sweep) continue;
        while (k < n && at[k] < v) k++;
        if (k < n && at[k] == v) continue;
        memmove(at + k + 1, at + k, (size_t)(n - k) * sizeof at[0]);
        at[k] = v;
        n++;
    }
    return n;
}

/* The mean loss of a point, from the world and not from the study. */
static double mean_loss(const world *w, const sl_study_size *s, int size, double batch, double lr) {
    double sum = 0;
    for (int i = 0; i < s->sweep_seeds.n; i++) {
        sl_study_run r = { .size = size,
                           .batch = batch,
                           .lr = lr,
                           .ratio = s->sweep_ratio,
                           .seed = (int64_t)s->sweep_seeds.at[i] };
        sl_study__id(r.id, s->name, &r);
        sum += fate(w, r.id) == 0 ? loss_of(w, &r) : HUGE_VAL;
    }
    return sum / s->sweep_seeds.n;
}

static void check_size(sl_fixture *t, const world *w, const sl_study *s, int i) {
    const sl_study_size *size = &s->plan->size[i];
    const sl_study_best *best = &s->best[i];
    double batch[64], lr[64];
    const int nb = axis_of(batch, s, i, false), nl = axis_of(lr, s, i, true);
    const sl_study_list *lists[] = { &size->batch, &size->lr };
    const double *axes[] = { batch, lr };
    const int counts[] = { nb, nl };
    SL_CHECK(t, best->known, "not known at the end");
    for (int k = 0; k < 2 && nb > 0; k++) {
        const int more = counts[k] - lists[k]->n;
        SL_CHECK(t, more >= 0 && more <= (lists[k]->n > 1 ? 2 * size->grow : 0),
                 "%d values were added to %d, and %d may be", more, lists[k]->n, size->grow);
        bool first = false;
        for (int j = 0; j < counts[k]; j++) first |= axes[k][j] == lists[k]->at[0];
        SL_CHECK(t, first, "the plan's own values are gone");
    }

    // the least of all points, and whether it is at an end
    double least = HUGE_VAL;
    for (int a = 0; a < nb; a++)
        for (int b = 0; b < nl; b++) least = fmin(least, mean_loss(w, size, i, batch[a], lr[b]));
    if (nb > 0 && isfinite(least)) {
        SL_CHECK(t, fabs(best->loss - least) < 1e-12, "%g is not the least, %g is", best->loss,
                 least);
        const bool edge = (nb > 1 && (best->batch == batch[0] || best->batch == batch[nb - 1])) ||
                          (nl > 1 && (best->lr == lr[0] || best->lr == lr[nl - 1]));
        SL_CHECK(t, edge == best->edge, "edge %d, not %d", best->edge, edge);
    }
    int scaled = 0;
    for (int r = 0; r < s->runs; r++) {
        if (s->run[r].size != i || !s->run[r].scale) continue;
        SL_CHECK(t, s->run[r].batch == best->batch && s->run[r].lr == best->lr, "%s is not best",
                 s->run[r].id);
        scaled++;
    }
    const bool wanted = nb == 0 || isfinite(least);
    SL_CHECK(t, scaled == (wanted ? size->ratios.n * size->scale_seeds.n : 0), "%d scale runs",
             scaled);
}

static void a_study_comes_to_its_end_in_any_order(void **state) {
    sl_fixture *t = *state;
    for (int i = 0; i < sl_test_iters(t, 20); i++) {
        sl_arena_rewind(&t->arena, 0);
        const sl_study_plan *plan = random_plan(t);
        world *w = random_world(t, plan), *other = sl_arena_alloc(&t->arena, sizeof *other);
        assert_non_null(other);
        *other = *w;
        sl_study a, b;
        sl_rng order;
        sl_rng_init(&order, t->seed, 1, (uint64_t)i);
        play(t, &a, w, &order);
        play(t, &b, other, &order);
        SL_CHECK(t, same_study(&a, &b), "the order of work shows in its end");
        for (int k = 0; k < plan->sizes; k++) check_size(t, w, &a, k);
        for (int k = 0; k < a.runs; k++)
            SL_CHECK(t, a.run[k].state == SL_STUDY_DONE || a.run[k].state == SL_STUDY_FAILED,
                     "%s is not at its end", a.run[k].id);
        if (w->fails == 0)
            for (int k = 0; k < a.runs; k++) assert_int_equal(a.run[k].state, SL_STUDY_DONE);
    }
}

/* ---------------------------------------------------------------- single rules -------------- */

static const double three[] = { 8, 16, 32 }, rates[] = { 1e-3, 2e-3, 4e-3 }, one[] = { 4e-3 },
                    zero[] = { 0 }, ratios[] = { 10, 20 };

static sl_study_size size_of(sl_study_list batch, sl_study_list lr, int grow) {
    return (sl_study_size){ .name = "16x1",
                            .train = "{}",
                            .eval = { "{}" },
                            .batch = batch,
                            .lr = lr,
                            .ratios = { ratios, 2 },
                            .sweep_seeds = { zero, 1 },
                            .scale_seeds = { zero, 1 },
                            .sweep_ratio = 10,
                            .grow = grow };
}

static void a_grid_of_one_point_is_not_swept(void **state) {
    sl_fixture *t = *state;
    sl_study_size size = size_of((sl_study_list){ three, 1 }, (sl_study_list){ one, 1 }, 2);
    const sl_study_plan plan = { .size = &size, .sizes = 1, .attempts = 1 };
    world *w = random_world(t, &plan);
    sl_study s;
    SL_MUST(t, look(&s, &t->arena, w));
    assert_int_equal(s.runs, 2);
    assert_true(s.best[0].known && isnan(s.best[0].loss) && !s.best[0].edge);
    assert_string_equal(s.run[0].id, "16x1-b8-lr4e-3-r10-s0");
    assert_true(s.run[0].scale && !s.run[0].sweep);
}

static void the_grid_follows_the_optimum_by_the_steps_of_the_list(void **state) {
    sl_fixture *t = *state;
    sl_study_size size = size_of((sl_study_list){ three, 3 }, (sl_study_list){ rates, 3 }, 3);
    const sl_study_plan plan = { .size = &size, .sizes = 1, .attempts = 1 };
    world *w = random_world(t, &plan);
    w->fails = 0;
    w->centre_batch = 3.9; // two steps below the list
    w->centre_lr = 1.7e-2; // two steps above it
    sl_study s;
    double at[64];
    play(t, &s, w, &t->rng);
    assert_true(s.best[0].batch == 4 && s.best[0].lr == 1.6e-2 && !s.best[0].edge);
    assert_int_equal(axis_of(at, &s, 0, false), 5);
    assert_true(at[0] == 2 && at[1] == 4);
    assert_int_equal(axis_of(at, &s, 0, true), 6);
    assert_true(at[5] == 3.2e-2);
    // the sweep's run at the optimum is one of scale as well
    const sl_study_run *both = run_of(&s, "16x1-b4-lr1.6e-2-r10-s0");
    assert_true(both && both->sweep && both->scale);

    size.grow = 1;
    w->n = 0;
    play(t, &s, w, &t->rng);
    assert_true(s.best[0].batch == 4 && s.best[0].lr == 8e-3 && s.best[0].edge);
}

/* Batch sizes stay whole, and rates short. */
static void values_that_are_added_are_rounded(void **state) {
    sl_fixture *t = *state;
    static const double odd[] = { 8, 12 }, thirds[] = { 4.64159e-4, 1e-3, 2.15443e-3 };
    sl_study_size size = size_of((sl_study_list){ odd, 2 }, (sl_study_list){ thirds, 3 }, 2);
    const sl_study_plan plan = { .size = &size, .sizes = 1, .attempts = 1 };
    world *w = random_world(t, &plan);
    w->fails = 0;
    w->centre_batch = 1000;
    w->centre_lr = 1;
    sl_study s;
    double at[64];
    play(t, &s, w, &t->rng);
    assert_int_equal(axis_of(at, &s, 0, false), 4);
    assert_true(at[2] == 18 && at[3] == 27);
    assert_int_equal(axis_of(at, &s, 0, true), 5);
    assert_true(at[3] == 4.64157e-3 && at[4] == 9.99994e-3);
    assert_true(s.best[0].edge);
}

static void jobs_are_the_longest_first_and_sweeps_before_scale(void **state) {
    sl_fixture *t = *state;
    sl_study_size sizes[] = { size_of((sl_study_list){ three, 2 }, (sl_study_list){ one, 1 }, 0),
                              size_of((sl_study_list){ three, 1 }, (sl_study_list){ one, 1 }, 0) };
    sizes[1].name = "32x1";
    const sl_study_plan plan = { .size = sizes, .sizes = 2, .attempts = 1 };
    world *w = random_world(t, &plan);
    w->fails = 0;
    sl_study s;
    sl_study_job *jobs;
    double flops[8];
    SL_MUST(t, look(&s, &t->arena, w));
    assert_int_equal(s.runs, 4); // two of the sweep of one size, two of the other's scale
    for (int i = 0; i < 4; i++) flops[i] = i;
    assert_int_equal(sl_study_jobs(&jobs, &t->arena, &s, flops), 4);
    const int expected[] = { 1, 0, 3, 2 };
    for (int i = 0; i < 4; i++) assert_int_equal(jobs[i].run, expected[i]);
    char folder[SL_STUDY_ID + 16];
    snprintf(folder, sizeof folder, "runs/%s", s.run[1].id);
    assert_string_equal(jobs[0].folder, folder);

    // an evaluation waits behind all training
    work(w, &s, &jobs[2]);
    SL_MUST(t, look(&s, &t->arena, w));
    assert_int_equal(sl_study_jobs(&jobs, &t->arena, &s, flops), 4);
    assert_int_equal(jobs[3].kind, SL_STUDY_JOB_EVAL);
    assert_int_equal(jobs[3].set, SL_STUDY_SET_TEST);
}

static void numbers_in_names_read_back(void **state) {
    sl_fixture *t = *state;
    static const struct {
        double v;
        const char *text;
    } known[] = { { 16, "16" },         { 0.5, "0.5" },      { 12.5, "12.5" },
                  { 999999, "999999" }, { 1e6, "1e6" },      { 4e-3, "4e-3" },
                  { 0.1, "0.1" },       { 0.099, "9.9e-2" }, { 2.15443e-4, "2.15443e-4" },
                  { 1.25e9, "1.25e9" }, { 100, "100" } };
    char text[SL_STUDY__NUMBER];
    for (int i = 0; i < SL_LEN(known); i++)
        assert_string_equal(sl_study__number(text, known[i].v), known[i].text);
    for (int i = 0; i < sl_test_iters(t, 2000); i++) {
        const double v = exp(sl_rng_range(&t->rng, -28, 20));
        sl_study__number(text, v);
        SL_CHECK(t, sl_strtod(text, NULL) == v, "%.17g is written %s", v, text);
        SL_CHECK(t, strlen(text) <= 23, "%s is long", text);
    }
}

static sl_status one_look(sl_fixture *t, world *w) {
    sl_study s;
    sl_study_job *jobs;
    SL_TRY(look(&s, &t->arena, w));
    return sl_study_jobs(&jobs, &t->arena, &s, NULL) < 0 ? SL_ENOMEM : SL_OK;
}

static void lack_of_memory_is_reported(void **state) {
    sl_fixture *t = *state;
    sl_study_size size = size_of((sl_study_list){ three, 3 }, (sl_study_list){ rates, 3 }, 1);
    const sl_study_plan plan = { .size = &size, .sizes = 1, .attempts = 1 };
    world *w = random_world(t, &plan);
    SL_EACH_ALLOCATION(t, one_look(t, w));
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(a_study_comes_to_its_end_in_any_order),
        SL_TEST(a_grid_of_one_point_is_not_swept),
        SL_TEST(the_grid_follows_the_optimum_by_the_steps_of_the_list),
        SL_TEST(values_that_are_added_are_rounded),
        SL_TEST(jobs_are_the_longest_first_and_sweeps_before_scale),
        SL_TEST(numbers_in_names_read_back),
        SL_TEST(lack_of_memory_is_reported),
    };
    return sl_test_main("study.phases", tests, SL_LEN(tests));
}

/* run - all problems, all seeds: what the journal has is taken from it, the rest is shared out.
 *
 * Two passes over the pool. The first asks every problem what the summary counts it by, and whether
 * the journal has the same one. The second makes the judgements that are missing; a part is
 * one problem with one seed. With a time limit that pass is a plain loop, and the pool works inside
 * each problem: else the time would depend on what the other threads do.
 *
 * What workers share is behind one lock: the list of judgements, the arena of their texts, the
 * journal. */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "eval/eval_impl.h"
#include "nn/nn.h"

typedef struct evaluation {
    const sl_infer *model;
    sl_pool *inner; // threads inside a problem
    const sl_eval_source *source;
    const sl_eval_options *o;
    sl_eval_progress progress;
    void *payload;
    // by problem * seeds + seed
    int64_t total;
    sl_judgement *judgement;
    const char **kept; // id that the journal has there; NULL: not judged yet
    int64_t *missing;
    int64_t n_missing;
    sl_eval__traits *traits; // by problem
    sl_arena *worker;        // by worker
    sl_arena ids;            // of `kept`
    atomic_bool stop;

    pthread_mutex_t lock;
    sl_arena *texts;
    sl_eval__journal journal;
    int64_t done, exact;
    int64_t reported; // count last reported; used by the caller's thread alone
} evaluation;

/* Workers have numbers, the caller is number 0. */
typedef struct slot {
    evaluation *e;
    int worker;
} slot;

/* ---------------------------------------------------------------- judgements so far --------- */

static sl_status keep(evaluation *e, const sl_judgement *j) {
    sl_judgement *to = &e->judgement[j->problem * e->o->seeds + j->seed];
    sl_judgement copy = *j;
    SL_TRY(sl_eval__text(&copy.expr, e->texts, j->expr));
    SL_TRY(sl_eval__text(&copy.latex, e->texts, j->latex));
    SL_TRY(sl_eval__text(&copy.method, e->texts, j->method));
    *to = copy;
    e->done++;
    e->exact += j->verdict == SL_VERDICT_SOLVED || j->verdict == SL_VERDICT_EQUAL;
    return SL_OK;
}

/* A judgement of the journal. Those of problems and seeds outside this call are ignored, and stay
 * in the journal. */
static sl_status take_kept(const sl_judgement *j, const char *id, void *payload) {
    evaluation *e = payload;
    if (j->problem >= e->source->count || j->seed >= e->o->seeds) return SL_OK;
    const int64_t at = j->problem * e->o->seeds + j->seed;
    if (e->kept[at]) return SL_OK; // two processes at once: they judge alike
    SL_TRY(sl_eval__text(&e->kept[at], &e->ids, id));
    return keep(e, j);
}

/* ---------------------------------------------------------------- first pass ---------------- */

static sl_status describe(int64_t begin, int64_t end, int worker, void *payload) {
    evaluation *e = payload;
    for (int64_t i = begin; i < end; i++) {
        sl_eval_problem p;
        sl_arena_rewind(&e->worker[worker], 0);
        SL_TRY(e->source->get(&p, &e->worker[worker], i, e->source));
        e->traits[i] = sl_eval__traits_of(&p);
        for (int k = 0; k < e->o->seeds; k++) {
            const char *id = e->kept[i * e->o->seeds + k];
            if (id && strcmp(id, p.id) != 0)
                return sl_fail(SL_EINVAL,
                               "%s is the journal of other problems: number %lld is \"%.80s\" "
                               "there, but \"%.80s\" in %s",
                               e->o->journal, (long long)i, id, p.id, e->source->name);
        }
    }
    return SL_OK;
}

/* ---------------------------------------------------------------- second pass --------------- */

/* The caller's thread runs the callback; others read whether it cancelled. */
static bool must_stop(void *payload) {
    const slot *s = payload;
    evaluation *e = s->e;
    if (s->worker == 0 && e->progress) {
        pthread_mutex_lock(&e->lock);
        const int64_t done = e->done, exact = e->exact;
        pthread_mutex_unlock(&e->lock);
        e->reported = done;
        const double share = done > 0 ? (double)exact / (double)done : 0;
        if (e->progress(done, e->total, share, e->payload)) atomic_store(&e->stop, true);
    }
    return atomic_load(&e->stop);
}

/* May the journal be written? */
static sl_status ask_guard(const sl_eval_options *o) {
    return o->journal && o->guard ? o->guard(o->guard_payload) : SL_OK;
}

static sl_status finish(evaluation *e, const sl_judgement *j, const char *id) {
    pthread_mutex_lock(&e->lock);
    sl_status st = ask_guard(e->o);
    if (st == SL_OK) st = sl_eval__journal_add(&e->journal, j, id);
    if (st == SL_OK) st = keep(e, j);
    pthread_mutex_unlock(&e->lock);
    return st;
}

static sl_status judge_some(int64_t begin, int64_t end, int worker, void *payload) {
    evaluation *e = payload;
    slot s = { e, worker };
    sl_arena *a = &e->worker[worker];
    for (int64_t i = begin; i < end; i++) {
        const int64_t at = e->missing[i], problem = at / e->o->seeds;
        const int seed = (int)(at % e->o->seeds);
        sl_eval__call c;
        sl_eval_problem p;
        sl_judgement j;
        sl_eval__call_make(&c, e->model, e->o);
        c.o.seed += (uint64_t)seed;
        c.o.problem = (uint64_t)problem;
        c.o.deadline = sl_deadline(sl_clock(), e->o->timeout);
        sl_arena_rewind(a, 0);
        SL_TRY(e->source->get(&p, a, problem, e->source));
        // the loss does not depend on the seed: once is enough
        SL_TRY(sl_eval__judge(&j, a, c.model, e->inner, &p, &c.o, seed == 0, must_stop, &s));
        j.problem = problem;
        j.seed = seed;
        SL_TRY(finish(e, &j, p.id));
        if (must_stop(&s)) return sl_fail(SL_ECANCEL, "stopped");
    }
    return SL_OK;
}

/* ---------------------------------------------------------------- the whole ----------------- */

static sl_status check(const sl_eval_source *source, const sl_eval_options *o) {
    SL_TRY(sl_discover_options_check(&o->discover));
    if (o->seeds < 1) return sl_fail(SL_EINVAL, "%d seeds: at least 1 is needed", o->seeds);
    if ((unsigned)o->candidates >= SL_EVAL_CANDIDATES_COUNT)
        return sl_fail(SL_EINVAL, "candidates of kind %d: there is no such source",
                       (int)o->candidates);
    if (o->candidates == SL_EVAL_CANDIDATES_BLIND && !o->generator)
        return sl_fail(SL_EINVAL, "blind draws need the pairs that they are drawn from");
    if (o->budgets > SL_EVAL_MAX_BUDGETS)
        return sl_fail(SL_EINVAL, "%d budgets: %d at most", o->budgets, SL_EVAL_MAX_BUDGETS);
    if (!(o->timeout >= 0)) return sl_fail(SL_EINVAL, "a timeout of %g seconds", o->timeout);
    if (source->count > INT64_MAX / 1024 / o->seeds)
        return sl_fail(SL_ELIMIT, "%lld problems with %d seeds", (long long)source->count,
                       o->seeds);
    return SL_OK;
}

static sl_status make_room(evaluation *e, sl_arena *a, int workers) {
    const size_t n = (size_t)e->total, problems = (size_t)e->source->count;
    e->judgement = sl_arena_alloc(a, n * sizeof *e->judgement);
    e->kept = sl_calloc(n, sizeof *e->kept);
    e->missing = sl_malloc(n, sizeof *e->missing);
    e->traits = sl_malloc(problems, sizeof *e->traits);
    e->worker = sl_calloc((size_t)workers, sizeof *e->worker);
    if (!e->judgement || !e->kept || !e->missing || !e->traits || !e->worker)
        return sl_fail_memory(n, sizeof *e->judgement, "judgements");
    return SL_OK;
}

static sl_status judge_all(evaluation *e, sl_pool *pool) {
    SL_TRY(sl_par_for(pool, e->source->count, 8, describe, e));
    for (int64_t i = 0; i < e->total; i++)
        if (!e->kept[i]) e->missing[e->n_missing++] = i;
    const bool timed = e->o->timeout > 0;
    e->inner = timed ? pool : NULL;
    sl_status st = sl_par_for(timed ? NULL : pool, e->n_missing, 1, judge_some, e);
    slot caller = { e, 0 };
    if (st == SL_OK && e->reported < e->total && must_stop(&caller)) st = SL_ECANCEL;
    if (st == SL_ECANCEL)
        return sl_fail(SL_ECANCEL, "stopped after %lld of %lld judgements", (long long)e->done,
                       (long long)e->total);
    SL_TRY(st);
    for (int64_t i = 0; i < e->total; i++)
        e->judgement[i].loss = e->judgement[i / e->o->seeds * e->o->seeds].loss;
    return SL_OK;
}

sl_status sl_eval_run(sl_eval_summary *out, const sl_judgement **judgements, sl_arena *a,
                      const sl_infer *model, sl_pool *pool, const sl_eval_source *source,
                      const sl_eval_options *o, sl_eval_progress progress, void *payload) {
    SL_TRY(check(source, o));
    const double start = sl_clock();
    const int workers = sl_par_pool_threads(pool);
    SL_TRY(sl_nn_prepare(workers)); // each encodes its own problems
    const size_t mark = sl_arena_mark(a);
    sl_status st;
    evaluation e = { .model = model,
                     .source = source,
                     .o = o,
                     .progress = progress,
                     .payload = payload,
                     .total = source->count * o->seeds,
                     .texts = a };
    pthread_mutex_init(&e.lock, NULL);
    SL_GO(make_room(&e, a, workers));
    SL_GO(ask_guard(o));
    SL_GO(sl_eval__journal_open(&e.journal, o->journal, o->identity, take_kept, &e));
    const int64_t resumed = e.done;
    SL_GO(judge_all(&e, pool));
    SL_GO(sl_eval__summarise(out, a, e.judgement, e.traits, source->count, o->seeds));
    sl_eval__budgets_fill(out, e.judgement, e.traits, source->count, o);
    out->resumed = resumed;
    out->seconds = sl_clock() - start;
    *judgements = e.judgement;
done:
    sl_eval__journal_close(&e.journal);
    for (int w = 0; w < workers && e.worker; w++) sl_arena_clear(&e.worker[w]);
    sl_free(e.worker);
    sl_free(e.traits);
    sl_free(e.missing);
    sl_free(e.kept);
    sl_arena_clear(&e.ids);
    pthread_mutex_destroy(&e.lock);
    if (st != SL_OK) sl_arena_rewind(a, mark);
    return st;
}

/* A whole evaluation: the same for any number of threads, after any interruption and through any
 * journal; and failures are reported. */
#include "eval/test/tiny.h"

#include <unistd.h>

static const char *const formulas[] = { "x1", "x2/2 - x1", "x1*x2 + 3", "", "sin(30*x1)" };
enum { PROBLEMS = SL_LEN(formulas), SEEDS = 2, TOTAL = PROBLEMS * SEEDS };

typedef struct world {
    sl_infer *model;
    sl_eval_source source;
    sl_eval_options o;
    sl_arena arena; // of judgements
    sl_eval_summary summary;
    const sl_judgement *j;
} world;

static void begin(sl_fixture *t, world *w) {
    const char *path = sl_test_path("pairs.jsonl");
    *w = (world){ .model = tiny_model(t) };
    tiny_lines(t, path, formulas, PROBLEMS, 0);
    SL_MUST(t, sl_eval_from_lines(&w->source, path, 2, 0));
    w->o =
        (sl_eval_options){ .discover = tiny_options(6), .seeds = SEEDS, .identity = "{\"who\":1}" };
    w->o.discover.seed = 40;
}

static void end(world *w) {
    sl_eval_source_clear(&w->source);
    sl_infer_close(w->model);
    sl_arena_clear(&w->arena);
}

typedef struct listener {
    int calls, stop_at; // at which call to stop; 0: never
    int64_t done, total;
    double solved;
} listener;

static int listen(int64_t done, int64_t total, double solved, void *payload) {
    listener *l = payload;
    if (done < l->done) l->calls = -1000; // it goes back
    l->done = done;
    l->total = total;
    l->solved = solved;
    return ++l->calls == l->stop_at;
}

static sl_status run(world *w, sl_pool *pool, listener *l) {
    return sl_eval_run(&w->summary, &w->j, &w->arena, w->model, pool, &w->source, &w->o,
                       l ? listen : NULL, l);
}

/* All but times, and how many came from a journal. */
static bool same_run(const world *a, const world *b) {
    for (int i = 0; i < TOTAL; i++)
        if (!same_judgement(&a->j[i], &b->j[i])) return false;
    const sl_eval_summary *p = &a->summary, *q = &b->summary;
    if (p->rows != q->rows || !alike(p->loss, q->loss) || p->distinct != q->distinct ||
        p->cut != q->cut || p->judgements != q->judgements)
        return false;
    return memcmp(p->row, q->row, (size_t)p->rows * sizeof p->row[0]) == 0;
}

static void each_problem_is_judged_with_each_seed(void **state) {
    sl_fixture *t = *state;
    world w;
    begin(t, &w);
    listener l = { 0 };
    SL_MUST(t, run(&w, NULL, &l));
    SL_CHECK(t, l.calls >= TOTAL && l.done == TOTAL && l.total == TOTAL, "%d calls, %lld done",
             l.calls, (long long)l.done);
    assert_true(w.summary.judgements == TOTAL && w.summary.resumed == 0 && w.summary.cut == 0);
    assert_true(w.summary.row[0].problems == PROBLEMS && w.summary.seconds > 0);
    int differ = 0, exact = 0;
    for (int i = 0; i < TOTAL; i++) {
        sl_eval_problem p;
        sl_judgement want;
        sl_discover_options o = w.o.discover;
        o.seed = 40 + (uint64_t)(i % SEEDS);
        o.problem = (uint64_t)(i / SEEDS);
        SL_MUST(t, w.source.get(&p, &t->arena, i / SEEDS, &w.source));
        SL_MUST(t, sl_eval_judge(&want, &t->arena, w.model, NULL, &p, &o));
        want.seed = i % SEEDS;
        SL_CHECK(t, same_judgement(&w.j[i], &want), "judgement %d: %s, not %s", i, w.j[i].expr,
                 want.expr);
        differ += i % SEEDS && memcmp(w.j[i].invalid, w.j[i - 1].invalid, sizeof want.invalid);
        differ += i % SEEDS && w.j[i].distinct != w.j[i - 1].distinct;
        exact += want.verdict == SL_VERDICT_SOLVED || want.verdict == SL_VERDICT_EQUAL;
    }
    SL_CHECK(t, differ > 0, "seeds do not matter");
    assert_true(w.j[0].verdict == SL_VERDICT_SOLVED && w.j[2].verdict <= SL_VERDICT_EQUAL);
    assert_true(w.j[6].verdict == SL_VERDICT_FOUND && w.j[8].verdict == SL_VERDICT_MISS);
    assert_true(fabs(l.solved - (double)exact / TOTAL) < 1e-15);
    // in the row of all, by truth or not
    assert_true(w.summary.row[0].exact.hits == exact && w.summary.row[0].exact.n == TOTAL - SEEDS);
    end(&w);
}

static void threads_do_not_matter(void **state) {
    sl_fixture *t = *state;
    world a;
    begin(t, &a);
    SL_MUST(t, run(&a, NULL, NULL));
    for (int threads = 1; threads <= 3; threads++)
        for (int timed = 0; timed < 2; timed++) {
            world b = a;
            sl_pool *pool;
            listener l = { 0 };
            b.arena = (sl_arena){ 0 };
            b.o.timeout = timed ? 1e6 : 0;
            SL_MUST(t, sl_par_pool_new(&pool, threads));
            SL_MUST(t, run(&b, pool, &l));
            SL_CHECK(t, same_run(&a, &b), "%d threads%s", threads, timed ? " inside" : "");
            assert_true(l.done == TOTAL);
            sl_par_pool_free(pool);
            sl_arena_clear(&b.arena);
        }
    end(&a);
}

/* Stopped at any call of the listener; what was done is in the journal, and is not done again. */
static void any_interruption_is_resumed(void **state) {
    sl_fixture *t = *state;
    const char *path = sl_test_path("journal");
    world a;
    begin(t, &a);
    SL_MUST(t, run(&a, NULL, NULL));
    sl_pool *pool;
    SL_MUST(t, sl_par_pool_new(&pool, 2));
    int stopped = 0, last = 0;
    for (int n = 1; !last; n++) {
        world b = a;
        listener l = { .stop_at = n };
        b.arena = (sl_arena){ 0 };
        b.o.journal = path;
        unlink(path);
        const size_t mark = sl_arena_mark(&b.arena);
        const sl_status st = run(&b, n % 2 ? NULL : pool, &l);
        last = st == SL_OK && n > TOTAL;
        SL_CHECK(t, st == SL_OK || st == SL_ECANCEL, "%s", sl_last_error());
        if (st == SL_ECANCEL) {
            stopped++;
            assert_true(sl_arena_mark(&b.arena) == mark);
            SL_CHECK(t, strstr(sl_last_error(), "stopped after"), "%s", sl_last_error());
        }
        listener again = { 0 };
        SL_MUST(t, run(&b, n % 2 ? pool : NULL, &again));
        SL_CHECK(t, same_run(&a, &b), "another result after a stop at call %d", n);
        // at least what had been reported, and no more than the lines
        const char *text = file_text(t, path);
        int lines = 0;
        for (const char *c = text; *c; c++) lines += *c == '\n';
        SL_CHECK(t, lines == TOTAL + 1 && b.summary.resumed >= l.done, "%d lines, %lld resumed",
                 lines, (long long)b.summary.resumed);
        sl_arena_clear(&b.arena);
    }
    SL_CHECK(t, stopped >= TOTAL / 2, "%d stops", stopped); // threads may be done before
    sl_par_pool_free(pool);
    end(&a);
}

typedef struct guard {
    int calls, lost_at; // the call from which on the folder is another's
} guard;

static sl_status ask(void *payload) {
    guard *g = payload;
    return ++g->calls < g->lost_at ? SL_OK : sl_fail(SL_ECANCEL, "it is another's");
}

/* A process that has lost the folder adds nothing to the journal, which may be in use by another.
 */
static void a_lost_folder_gets_no_judgement(void **state) {
    sl_fixture *t = *state;
    const char *path = sl_test_path("guarded");
    world a;
    begin(t, &a);
    SL_MUST(t, run(&a, NULL, NULL));
    for (int n = 1; n <= TOTAL + 1; n++) { // the first call is before the file is opened
        world b = a;
        guard g = { .lost_at = n };
        b.arena = (sl_arena){ 0 };
        b.o.journal = path;
        b.o.guard = ask;
        b.o.guard_payload = &g;
        unlink(path);
        assert_int_equal(run(&b, NULL, NULL), SL_ECANCEL);
        assert_int_equal(g.calls, n);
        int lines = 0;
        if (n > 1)
            for (const char *c = file_text(t, path); *c; c++) lines += *c == '\n';
        assert_int_equal(n > 1 || access(path, F_OK) != 0, 1);
        assert_int_equal(lines, n > 1 ? n - 1 : 0); // the header and n - 2 judgements
        b.o.guard = NULL;
        SL_MUST(t, run(&b, NULL, NULL));
        SL_CHECK(t, same_run(&a, &b), "another result after call %d", n);
        sl_arena_clear(&b.arena);
    }
    end(&a);
}

/* A journal serves fewer problems or seeds than it has, and more. */
static void a_journal_serves_other_numbers(void **state) {
    sl_fixture *t = *state;
    const char *path = sl_test_path("grown");
    world a;
    begin(t, &a);
    SL_MUST(t, run(&a, NULL, NULL));
    world b = a;
    b.arena = (sl_arena){ 0 };
    b.o.journal = path;
    b.o.seeds = 1;
    b.source.count = 3;
    SL_MUST(t, run(&b, NULL, NULL));
    b.o.seeds = SEEDS;
    b.source.count = PROBLEMS;
    SL_MUST(t, run(&b, NULL, NULL));
    assert_true(b.summary.resumed == 3 && same_run(&a, &b));
    // two processes at once: a line that comes twice counts once
    char *text = file_text(t, path), *twice = sl_arena_alloc(&t->arena, 2 * strlen(text) + 1);
    sprintf(twice, "%s%s", text, strchr(text, '\n') + 1);
    sl_test_write_text(path, twice);
    SL_MUST(t, run(&b, NULL, NULL));
    assert_true(b.summary.resumed == TOTAL && same_run(&a, &b));
    b.o.seeds = 1;
    b.source.count = 2;
    SL_MUST(t, run(&b, NULL, NULL));
    assert_true(b.summary.resumed == 2 && b.summary.judgements == 2);
    for (int i = 0; i < 2; i++) assert_true(same_judgement(&b.j[i], &a.j[i * SEEDS]));
    sl_arena_clear(&b.arena);
    end(&a);
}

static void other_journals_are_refused(void **state) {
    sl_fixture *t = *state;
    const char *path = sl_test_path("refused");
    world w;
    begin(t, &w);
    w.o.journal = path;
    SL_MUST(t, run(&w, NULL, NULL));
    // other problems under the same identity
    char *text = file_text(t, path);
    char *at = strstr(text, "\"id\":\"3\"");
    assert_non_null(at);
    at[6] = '8';
    sl_test_write_text(path, text);
    assert_int_equal(run(&w, NULL, NULL), SL_EINVAL);
    SL_CHECK(t, strstr(sl_last_error(), "number 2 is \"8\" there, but \"3\""), "%s",
             sl_last_error());
    w.o.identity = "{\"who\":2}";
    assert_int_equal(run(&w, NULL, NULL), SL_EINVAL);
    SL_CHECK(t, strstr(sl_last_error(), "its \"who\" is 1, not 2"), "%s", sl_last_error());
    end(&w);
}

static void options_are_checked(void **state) {
    sl_fixture *t = *state;
    world w;
    begin(t, &w);
    w.o.seeds = 0;
    assert_int_equal(run(&w, NULL, NULL), SL_EINVAL);
    w.o.seeds = 1;
    w.o.timeout = NAN;
    assert_int_equal(run(&w, NULL, NULL), SL_EINVAL);
    w.o.timeout = 0;
    w.o.discover.holdout = 7;
    assert_int_equal(run(&w, NULL, NULL), SL_EINVAL);
    SL_CHECK(t, strstr(sl_last_error(), "holdout"), "%s", sl_last_error());
    end(&w);
}

static void time_limits_cut(void **state) {
    sl_fixture *t = *state;
    world w;
    begin(t, &w);
    w.o.timeout = 1e-9;
    SL_MUST(t, run(&w, NULL, NULL));
    assert_true(w.summary.cut == TOTAL && w.j[0].cut);
    end(&w);
}

/* A problem that cannot be had ends the run, with its own words. */
static sl_status broken(sl_eval_problem *out, sl_arena *a, int64_t i, const sl_eval_source *s) {
    const sl_eval_source *inner = s->state;
    if (i == 3) return sl_fail(SL_EIO, "number three is lost");
    return inner->get(out, a, i, inner);
}

static void a_broken_source_ends_it(void **state) {
    sl_fixture *t = *state;
    world w;
    begin(t, &w);
    sl_eval_source inner = w.source;
    w.source = (sl_eval_source){ .count = PROBLEMS, .name = "b", .get = broken, .state = &inner };
    assert_int_equal(run(&w, NULL, NULL), SL_EIO);
    assert_string_equal(sl_last_error(), "number three is lost");
    w.source = inner;
    end(&w);
}

/* A write of the journal that fails is reported, and what is there is good. */
static void each_write_may_fail(void **state) {
    sl_fixture *t = *state;
    const char *path = sl_test_path("full");
    world a;
    begin(t, &a);
    a.o.seeds = 1;
    SL_MUST(t, run(&a, NULL, NULL));
    int failed = 0;
    for (int64_t n = 1;; n++) {
        world b = a;
        b.arena = (sl_arena){ 0 };
        b.o.journal = path;
        unlink(path);
        sl_file_fail_at(n);
        const sl_status st = run(&b, NULL, NULL);
        sl_file_fail_at(0);
        SL_CHECK(t, st == SL_OK || st == SL_EIO, "%s", sl_status_text(st));
        SL_MUST(t, run(&b, NULL, NULL));
        for (int i = 0; i < PROBLEMS; i++) assert_true(same_judgement(&b.j[i], &a.j[i]));
        sl_arena_clear(&b.arena);
        if (st == SL_OK) break;
        failed++;
    }
    assert_int_equal(failed, PROBLEMS + 1);
    end(&a);
}

static sl_status run_once(world *w, sl_fixture *t, const char *path) {
    unlink(path);
    return sl_eval_run(&w->summary, &w->j, &t->arena, w->model, NULL, &w->source, &w->o, NULL,
                       NULL);
}

static void each_allocation_may_fail(void **state) {
    sl_fixture *t = *state;
    world w;
    begin(t, &w);
    w.o.journal = sl_test_path("memory");
    w.o.discover = tiny_options(2);
    w.source.count = 2;
    SL_EACH_ALLOCATION(t, run_once(&w, t, w.o.journal));
    end(&w);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(each_problem_is_judged_with_each_seed),
        SL_TEST(threads_do_not_matter),
        SL_TEST(any_interruption_is_resumed),
        SL_TEST(a_lost_folder_gets_no_judgement),
        SL_TEST(a_journal_serves_other_numbers),
        SL_TEST(other_journals_are_refused),
        SL_TEST(options_are_checked),
        SL_TEST(time_limits_cut),
        SL_TEST(a_broken_source_ends_it),
        SL_TEST(each_write_may_fail),
        SL_TEST(each_allocation_may_fail),
    };
    return sl_test_main("eval.run", tests, SL_LEN(tests));
}

/* A run: the same bits for any number of threads, stopped or not; it learns; it says what is wrong.
 */
#include "train/test/tiny.h"

/* ---------------------------------------------------------------- helpers ------------------- */

/* Keeps notes; stops at a step. */
typedef struct event_log {
    int64_t stop_at; // 0: never
    int64_t last;
    int calls, finite; // after steps; of these, with figures
    char notes[4000];
} event_log;

static int listen(const sl_train_report *n, void *payload) {
    event_log *e = payload;
    if (n->note) {
        const size_t len = strlen(e->notes);
        snprintf(e->notes + len, sizeof e->notes - len, "%s\n", n->note);
    } else {
        e->calls++;
        e->last = n->step;
        e->finite += isfinite(n->loss) && n->loss_expression > n->loss && n->pairs_per_second > 0 &&
                     n->gflops > 0 && n->lr > 0;
    }
    return !n->note && e->stop_at && n->step >= e->stop_at;
}

static sl_status run(sl_train_result *out, const sl_train_config *c, int threads, event_log *e) {
    sl_pool *pool = NULL;
    if (threads > 0) SL_TRY(sl_par_pool_new(&pool, threads));
    sl_status st = sl_train_run(out, pool, c, e ? listen : NULL, e);
    sl_par_pool_free(pool);
    return st;
}

static tiny_left run_fresh(sl_fixture *t, sl_train_config *c, int threads) {
    sl_train_result out;
    tiny_remove(c->out);
    c->resume = false;
    SL_MUST(t, run(&out, c, threads, NULL));
    return tiny_look(t, c);
}

/* ---------------------------------------------------------------- the same bits ------------- */

static void threads_do_not_matter(void **state) {
    sl_fixture *t = *state;
    tiny x;
    tiny_begin(t, &x, NULL);
    x.c.train.batch = 11; // lanes of two and three pairs
    const tiny_left want = run_fresh(t, &x.c, 0);
    assert_int_equal(want.step, 12);
    for (int threads = 1; threads <= 3; threads++) {
        const tiny_left got = run_fresh(t, &x.c, threads);
        char what[40];
        snprintf(what, sizeof what, "%d threads", threads);
        tiny_same(t, &got, &want, what);
    }
    x.c.seed++; // but the seed does
    const tiny_left other = run_fresh(t, &x.c, 0);
    assert_true(other.weights != want.weights && other.log != want.log);
    tiny_remove(x.c.out);
    tiny_end(&x);
}

/* Stopped after every k-th step and resumed with another number of threads. */
static void stopping_and_resuming_does_not_matter(void **state) {
    sl_fixture *t = *state;
    tiny x;
    tiny_begin(t, &x, NULL);
    const tiny_left want = run_fresh(t, &x.c, 2);
    for (int k = 1; k <= 5; k += 2) {
        sl_train_result out;
        int parts = 0;
        double seconds = 0;
        tiny_remove(x.c.out);
        x.c.resume = true; // nothing there: from the start
        for (int64_t at = k;; at += k, parts++) {
            event_log e = { .stop_at = at };
            const sl_status st = run(&out, &x.c, parts % 3, &e);
            assert_int_equal(out.resumed_at, parts ? at - k : -1);
            SL_CHECK(t, out.seconds > seconds, "%g after %g", out.seconds, seconds); // all parts'
            seconds = out.seconds;
            if (st == SL_OK) break;
            tiny_says(t, st, SL_ECANCEL, "stopped at step", "resume");
            assert_int_equal(out.step, at);
            assert_int_equal(sl_ckpt_newest(x.c.out), at);
            SL_CHECK(t, access(out.checkpoint, R_OK) == 0, "no file %s", out.checkpoint);
        }
        assert_int_equal(out.step, 12);
        const tiny_left got = tiny_look(t, &x.c);
        char what[40];
        snprintf(what, sizeof what, "stops every %d steps", k);
        tiny_same(t, &got, &want, what);
    }
    tiny_remove(x.c.out);
    tiny_end(&x);
}

/* Killed some steps behind a checkpoint: the log has lines too many, the last of them torn. */
static void what_lies_behind_the_checkpoint_is_done_again(void **state) {
    sl_fixture *t = *state;
    tiny x;
    tiny_begin(t, &x, NULL);
    x.c.train.log_steps = 2;
    const tiny_left want = run_fresh(t, &x.c, 1);
    event_log e = { .stop_at = 5 };
    sl_train_result out;
    tiny_remove(x.c.out);
    assert_int_equal(run(&out, &x.c, 1, &e), SL_ECANCEL);
    char path[600];
    snprintf(path, sizeof path, "%s/log.jsonl", x.c.out);
    sl_file *f;
    SL_MUST(t, sl_file_append(&f, path));
    static const char more[] = "{\"event\":\"step\",\"step\":6,\"loss\":1}\n"
                               "{\"event\":\"valid\",\"step\":7}\n{\"event\":\"step\",\"st";
    SL_MUST(t, sl_file_write(f, more, sizeof more - 1));
    SL_MUST(t, sl_file_flush(f, false));
    sl_file_discard(&f);
    x.c.resume = true;
    SL_MUST(t, run(&out, &x.c, 1, NULL));
    const tiny_left got = tiny_look(t, &x.c);
    tiny_same(t, &got, &want, "killed");
    tiny_remove(x.c.out);
    tiny_end(&x);
}

/* A checkpoint that was damaged: the one before it serves. */
static void a_damaged_checkpoint_costs_time_only(void **state) {
    sl_fixture *t = *state;
    tiny x;
    tiny_begin(t, &x, NULL);
    const tiny_left want = run_fresh(t, &x.c, 1);
    event_log e = { .stop_at = 9 };
    sl_train_result out;
    tiny_remove(x.c.out);
    x.c.train.checkpoint_steps = 3;
    assert_int_equal(run(&out, &x.c, 1, &e), SL_ECANCEL);
    assert_int_equal(truncate(out.checkpoint, 1000), 0);
    x.c.resume = true;
    event_log again = { 0 };
    SL_MUST(t, run(&out, &x.c, 1, &again));
    assert_int_equal(out.resumed_at, 6);
    SL_CHECK(t, strstr(again.notes, "continued from step 6"), "%s", again.notes);
    SL_CHECK(t, strstr(again.notes, "resumed at step 6 of 12"), "%s", again.notes);
    const tiny_left got = tiny_look(t, &x.c);
    tiny_same(t, &got, &want, "damaged");
    tiny_remove(x.c.out);
    tiny_end(&x);
}

/* ---------------------------------------------------------------- the log ------------------- */

static int count(const char *text, const char *word) {
    int n = 0;
    for (const char *at = text; (at = strstr(at, word)); at++) n++;
    return n;
}

static void the_log_has_its_lines(void **state) {
    sl_fixture *t = *state;
    tiny x;
    sl_pairs_options o = sl_pairs_defaults();
    o.points = 4;
    o.draws = 1; // a pass is short
    o.test_size = 9;
    tiny_begin(t, &x, &o);
    const int64_t pass = sl_pairs_size(x.p, SL_SPLIT_TRAIN);
    x.c.train.steps = 2 * pass / 8 + 3;
    x.c.train.log_steps = 4;
    event_log e = { 0 };
    sl_train_result out;
    SL_MUST(t, run(&out, &x.c, 6, &e));
    const int64_t steps = x.c.train.steps;
    assert_int_equal(e.calls, steps);
    assert_int_equal(e.finite, steps); // before the first line, too
    assert_int_equal(e.last, steps);
    char *log = tiny_log(t, x.c.out);
    assert_int_equal(count(log, "\"event\":\"step\""), (steps + 3) / 4);
    assert_int_equal(count(log, "\"event\":\"valid\""), steps / 7 + (steps % 7 != 0));
    assert_int_equal(count(log, "\"event\":\"pass\""), (8 * steps - 1) / pass);
    assert_int_equal(count(log, "\"event\":\"bound\""), out.bounds_set);
    assert_int_equal(count(log, "\n"), count(log, "{\"event\""));
    assert_true(out.bounds_set > 0);
    char want[64];
    snprintf(want, sizeof want, "{\"event\":\"pass\",\"step\":%lld,\"pass\":2}",
             (long long)(pass / 8 + 1));
    SL_CHECK(t, strstr(log, want), "no %s", want);
    SL_CHECK(t, strstr(e.notes, "pass 2 over the training pairs"), "%s", e.notes);
    SL_CHECK(t, strstr(e.notes, "set, ") && strstr(e.notes, " in all"), "%s", e.notes);
    SL_CHECK(t, strstr(e.notes, "6 threads share 4 lanes"), "%s", e.notes);
    SL_CHECK(t, strstr(e.notes, "saved at step"), "%s", e.notes);
    sl_free(log);

    // the first line by hand: the mean of four steps
    sl_model *m;
    SL_MUST(t, sl_train__model(&m, &x.c));
    int64_t tokens = 0;
    for (int i = 0; i < 32; i++) {
        sl_pair pair;
        sl_arena_rewind(&t->arena, 0);
        SL_MUST(t, sl_pairs_get(&pair, &t->arena, x.p, SL_SPLIT_TRAIN, i));
        tokens += pair.n_tokens;
    }
    char path[600], *text;
    size_t n;
    snprintf(path, sizeof path, "%s/log.jsonl", x.c.out);
    SL_MUST(t, sl_file_read(&text, &n, path, 1 << 22));
    sl_json *j;
    const char *line = strstr(text, "{\"event\":\"step\"");
    SL_MUST(t, sl_io_json_parse_line(&j, line, strcspn(line, "\n")));
    assert_int_equal(sl_io_json_int(sl_io_json_get(j, "step")), 4);
    assert_int_equal(sl_io_json_int(sl_io_json_get(j, "tokens")), tokens);
    assert_true(sl_io_json_real(sl_io_json_get(j, "flops")) ==
                sl_model_flops_paper(m, 32 * 12.0, (double)tokens));
    assert_true(sl_io_json_real(sl_io_json_get(j, "lr")) == sl_optim_lr(&x.c.optim, 3, steps));
    const double loss = sl_io_json_real(sl_io_json_get(j, "loss"));
    const double expression = sl_io_json_real(sl_io_json_get(j, "loss_expression"));
    SL_CHECK(t, fabs(expression * 32 / (loss * (double)tokens) - 1) < 1e-12, "%g %g", loss,
             expression);
    SL_CHECK(t, loss > 1 && loss < 6, "log(104) is 4.6, not %g", loss);
    assert_true(sl_io_json_real(sl_io_json_get(j, "seconds")) > 0);
    assert_true(sl_io_json_real(sl_io_json_get(j, "pairs_per_second")) > 0);
    sl_io_json_free(j);
    sl_free(text);
    sl_model_free(m);
    tiny_remove(x.c.out);
    tiny_end(&x);
}

/* No bound can be set in so short a run. */
static void a_run_without_bounds_is_reported(void **state) {
    sl_fixture *t = *state;
    tiny x;
    tiny_begin(t, &x, NULL);
    x.c.train.steps = 3;
    x.c.train.valid_pairs = 0;
    event_log e = { 0 };
    sl_train_result out;
    SL_MUST(t, run(&out, &x.c, 1, &e));
    SL_CHECK(t, strstr(e.notes, "after step 4, and the run has 3: none will be"), "%s", e.notes);
    assert_true(isnan(out.loss_valid) && isfinite(out.loss));
    assert_int_equal(out.bounds_set, 0);
    tiny_remove(x.c.out);
    tiny_end(&x);
}

/* ---------------------------------------------------------------- it learns ----------------- */

static void the_loss_falls(void **state) {
    sl_fixture *t = *state;
    tiny x;
    tiny_begin(t, &x, NULL);
    x.c.model.width = 16;
    x.c.train.steps = 200;
    x.c.train.log_steps = 20;
    x.c.train.valid_steps = 200;
    x.c.optim.kappa_steps = 0;
    for (int kind = SL_OPTIM_ADAMCPR; kind <= SL_OPTIM_ADAMW; kind++) {
        sl_train_result out;
        x.c.optim.optimizer = kind;
        tiny_remove(x.c.out);
        SL_MUST(t, run(&out, &x.c, 2, NULL));
        SL_CHECK(t, out.loss < 2.5, "optimiser %d: %g nats per token after 200 steps", kind,
                 out.loss);
        SL_CHECK(t, out.loss_valid < 2.5, "optimiser %d: %g in validation", kind, out.loss_valid);
    }
    tiny_remove(x.c.out);
    tiny_end(&x);
}

/* ---------------------------------------------------------------- what goes wrong ----------- */

/* Weights of this size in the newest checkpoint, in all tensors from `first` on (below 0: from the
 * end): options alone are kept from such. */
static void inflate(sl_fixture *t, const sl_train_config *c, int64_t step, int first, float size) {
    sl_model *m;
    sl_tensor *tensors;
    sl_optim *o;
    sl_ckpt_loaded l;
    SL_MUST(t, sl_train__model(&m, c));
    SL_MUST(t, sl_train__tensors(&tensors, m));
    SL_MUST(t, sl_optim_new(&o, tensors, m->n_param, &c->optim, c->train.steps, 0, 1));
    float *weights = sl_calloc((size_t)m->block, sizeof *weights);
    SL_MUST(t, sl_ckpt_load(&l, c->out, m, weights, o));
    assert_int_equal(l.step, step);
    for (int k = first < 0 ? m->n_param + first : first; k < m->n_param; k++)
        for (int64_t i = 0; i < m->param[k].count; i++)
            weights[m->param[k].offset + i] = i % 3 ? size : -size;
    const sl_ckpt_meta meta = {
        l.step, l.config, l.progress, l.vocabulary, l.universe, NULL, NULL
    };
    SL_MUST(t, sl_ckpt_save(c->out, m, weights, o, o->m, o->v, &meta));
    sl_ckpt_loaded_clear(&l);
    sl_optim_free(o);
    sl_free(tensors);
    sl_free(weights);
    sl_model_free(m);
}

static void what_is_not_finite_ends_the_run(void **state) {
    sl_fixture *t = *state;
    tiny x;
    tiny_begin(t, &x, NULL);
    sl_train_result out;
    x.c.train.checkpoint_steps = 1;
    event_log e = { .stop_at = 4 };
    assert_int_equal(run(&out, &x.c, 1, &e), SL_ECANCEL);
    inflate(t, &x.c, 4, 0, 3e38f);
    x.c.resume = true;
    const sl_status st = run(&out, &x.c, 2, NULL);
    tiny_says(t, st, SL_ELIMIT, "step 5: the loss is not finite", "training pairs 32 to 39");
    char lr[40];
    snprintf(lr, sizeof lr, "learning rate %.3g", sl_optim_lr(&x.c.optim, 4, 12));
    tiny_says(t, st, SL_ELIMIT, lr, "the checkpoint of step 4 is kept");
    tiny_says(t, st, SL_ELIMIT, "lower learning rate (--lr)", "would come to the same step");
    assert_int_equal(out.step, 4);
    assert_int_equal(sl_ckpt_newest(x.c.out), 4);
    tiny_remove(x.c.out);
    tiny_end(&x);
}

/* Loss and gradient of the step are finite, and squares of the gradient are not: such moments are
 * never saved. */
static void a_state_that_is_not_finite_is_not_saved(void **state) {
    sl_fixture *t = *state;
    tiny x;
    tiny_begin(t, &x, NULL);
    sl_train_result out;
    x.c.train.checkpoint_steps = 1;
    x.c.train.valid_pairs = 0;
    x.c.optim.clip = 0;
    event_log e = { .stop_at = 4 };
    assert_int_equal(run(&out, &x.c, 1, &e), SL_ECANCEL);
    inflate(t, &x.c, 4, -2, 1e25f);
    x.c.resume = true;
    const sl_status st = run(&out, &x.c, 1, NULL);
    tiny_says(t, st, SL_ELIMIT, "step 5: tensor \"v.",
              "of the state has a number that is not finite");
    tiny_says(t, st, SL_ELIMIT, "the checkpoint of step 4 is kept", "lower learning rate (--lr)");
    int64_t step;
    char *warning;
    SL_MUST(t, sl_ckpt_look(&step, &warning, x.c.out));
    assert_true(step == 4 && !warning);
    tiny_remove(x.c.out);
    tiny_end(&x);
}

static void a_folder_with_a_run_is_not_taken(void **state) {
    sl_fixture *t = *state;
    tiny x;
    tiny_begin(t, &x, NULL);
    sl_train_result out;
    event_log e = { .stop_at = 4 };
    char deep[600];
    snprintf(deep, sizeof deep, "%s/below", sl_test_path("deep"));
    x.c.out = deep;
    assert_int_equal(run(&out, &x.c, 1, &e), SL_ECANCEL);
    tiny_says(t, run(&out, &x.c, 1, NULL), SL_EINVAL, "saved at step 4 of 12", "resume it");

    // another configuration, by the first member that differs; how often to save may change
    x.c.resume = true;
    x.c.config_json = "{\"width\":16,\"variables\":2}";
    tiny_says(t, run(&out, &x.c, 1, NULL), SL_EINVAL, "\"width\"", "another folder");
    x.c.config_json = "{\"width\":8}";
    tiny_says(t, run(&out, &x.c, 1, NULL), SL_EINVAL, "\"variables\"", "another folder");

    // other data by the same options
    sl_pairs_options o = *sl_pairs_config(x.p);
    sl_pairs *other;
    o.seed = 5;
    SL_MUST(t, sl_pairs_new(&other, x.u, &o));
    x.c.config_json = "{\"width\":8,\"variables\":2}";
    x.c.pairs = other;
    tiny_says(t, run(&out, &x.c, 1, NULL), SL_EINVAL, "training pairs", "other data");
    sl_pairs_free(other);

    // as it was: to the end, and once more at once
    x.c.pairs = x.p;
    x.c.config_json = "{\"checkpoint-steps\":1,\"variables\":2.0,\"width\":8}";
    SL_MUST(t, run(&out, &x.c, 1, NULL));
    assert_int_equal(out.resumed_at, 4);
    sl_train_result again;
    event_log silent = { 0 };
    SL_MUST(t, run(&again, &x.c, 1, &silent));
    assert_int_equal(again.step, 12);
    assert_int_equal(again.resumed_at, 12);
    assert_int_equal(silent.calls, 0);
    assert_true(again.loss == out.loss && again.loss_valid == out.loss_valid);
    assert_true(again.loss_expression == out.loss_expression && again.tokens == out.tokens);
    assert_true(again.seconds == out.seconds);
    assert_true(again.flops == out.flops && again.bounds_set == out.bounds_set);
    assert_true(again.loss_valid_expression == out.loss_valid_expression);
    assert_string_equal(again.checkpoint, out.checkpoint);
    tiny_remove(deep);
    rmdir(sl_test_path("deep"));
    tiny_end(&x);
}

/* One that was begun and never saved: refused, or begun anew. */
static void a_run_without_a_checkpoint_is_begun_anew(void **state) {
    sl_fixture *t = *state;
    tiny x;
    tiny_begin(t, &x, NULL);
    const tiny_left want = run_fresh(t, &x.c, 1);
    sl_train_result out;
    char name[600];
    for (int i = 0; i < 2; i++) {
        snprintf(name, sizeof name, "%s/%s-00000012.safetensors", x.c.out, i ? "model" : "state");
        assert_int_equal(unlink(name), 0);
    }
    tiny_says(t, run(&out, &x.c, 1, NULL), SL_EINVAL, "saved nothing yet", "resume it");
    x.c.resume = true;
    SL_MUST(t, run(&out, &x.c, 1, NULL));
    assert_int_equal(out.resumed_at, -1);
    const tiny_left got = tiny_look(t, &x.c);
    tiny_same(t, &got, &want, "begun anew");

    snprintf(name, sizeof name, "%s/run.json", x.c.out);
    assert_int_equal(truncate(name, 9), 0);
    tiny_says(t, run(&out, &x.c, 1, NULL), SL_EFORMAT, "run.json", "damaged");
    static const char *const damaged[][2] = {
        { "[]", "it is" },
        { "{\"width\":8,\"variables\":2,\"run\":5}", "\"run\" is" },
    };
    for (int i = 0; i < SL_LEN(damaged); i++) {
        sl_file *f;
        SL_MUST(t, sl_file_create(&f, name));
        SL_MUST(t, sl_file_write(f, damaged[i][0], strlen(damaged[i][0])));
        SL_MUST(t, sl_file_commit(&f));
        tiny_says(t, run(&out, &x.c, 1, NULL), SL_EFORMAT, "run.json is damaged", damaged[i][1]);
    }
    tiny_remove(x.c.out);
    tiny_end(&x);
}

/* A folder is refused before a path in it would be cut off. */
static void long_names_are_whole_or_refused(void **state) {
    sl_fixture *t = *state;
    tiny x;
    tiny_begin(t, &x, NULL);
    x.c.train.steps = 1;
    x.c.train.valid_pairs = 0;
    char path[600], want[700];
    int taken = 0, refused = 0;
    for (size_t n = 440; n < 480; n += 7) {
        const int head = snprintf(path, sizeof path, "%s", sl_test_path("long"));
        for (size_t i = (size_t)head; i < n; i++) path[i] = i % 100 == 99 ? '/' : 'x';
        path[n] = '\0';
        x.c.out = path;
        sl_train_result out;
        const sl_status st = run(&out, &x.c, 1, NULL);
        if (st == SL_EINVAL) {
            refused++;
            continue;
        }
        SL_MUST(t, st);
        taken++;
        snprintf(want, sizeof want, "%s/model-00000001.safetensors", path);
        assert_string_equal(out.checkpoint, want);
        tiny_remove(path);
    }
    SL_CHECK(t, taken >= 2 && refused >= 1, "%d, %d", taken, refused);
    for (char *slash; (slash = strrchr(path, '/')) && strstr(slash, "long") == NULL;) {
        *slash = '\0';
        rmdir(path);
    }
    tiny_end(&x);
}

/* run.json is lost: the checkpoint itself says whose it is. */
static void a_checkpoint_of_another_run_is_not_taken(void **state) {
    sl_fixture *t = *state;
    tiny x;
    tiny_begin(t, &x, NULL);
    const tiny_left want = run_fresh(t, &x.c, 1);
    sl_train_result out;
    event_log e = { .stop_at = 4 };
    char name[600];
    tiny_remove(x.c.out);
    assert_int_equal(run(&out, &x.c, 1, &e), SL_ECANCEL);
    snprintf(name, sizeof name, "%s/run.json", x.c.out);
    assert_int_equal(unlink(name), 0);
    x.c.resume = true;
    x.c.config_json = "{\"width\":8,\"variables\":3}";
    tiny_says(t, run(&out, &x.c, 1, NULL), SL_EINVAL, "\"variables\"", "another folder");
    x.c.config_json = "{\"width\":8,\"variables\":2}";

    // another set of expressions by the same options
    sl_universe_options o = *sl_universe_config(x.u);
    sl_universe *u;
    sl_pairs *other;
    o.size = 10;
    SL_MUST(t, sl_universe_new(&u, NULL, &o, NULL));
    SL_MUST(t, sl_pairs_new(&other, u, sl_pairs_config(x.p)));
    x.c.pairs = other;
    tiny_says(t, run(&out, &x.c, 1, NULL), SL_EINVAL, "set of expressions", "other data");
    sl_pairs_free(other);
    sl_universe_free(u);

    x.c.pairs = x.p;
    SL_MUST(t, run(&out, &x.c, 1, NULL));
    assert_int_equal(out.resumed_at, 4);
    const tiny_left got = tiny_look(t, &x.c);
    tiny_same(t, &got, &want, "without run.json");
    tiny_remove(x.c.out);
    tiny_end(&x);
}

/* While a run is active, a second one in its folder is refused. */
typedef struct second {
    const sl_train_config *c;
    sl_status st;
} second;
static int try_second(const sl_train_report *n, void *payload) {
    second *s = payload;
    sl_train_config c = *s->c;
    sl_train_result out;
    c.resume = true;
    if (n->step == 2) s->st = sl_train_run(&out, NULL, &c, NULL, NULL);
    return n->step == 2;
}

static void two_runs_do_not_share_a_folder(void **state) {
    sl_fixture *t = *state;
    tiny x;
    tiny_begin(t, &x, NULL);
    sl_train_result out;
    second s = { .c = &x.c };
    assert_int_equal(sl_train_run(&out, NULL, &x.c, try_second, &s), SL_ECANCEL);
    SL_CHECK(t, s.st == SL_EINVAL, "%s", sl_status_text(s.st));
    tiny_remove(x.c.out);

    // two that look before there is a folder: one begins, the other may not, now or when it has
    // ended
    sl_train__folder one, other;
    SL_MUST(t, sl_train__folder_look(&one, NULL, &x.c, 12));
    SL_MUST(t, sl_train__folder_look(&other, NULL, &x.c, 12));
    SL_MUST(t, sl_train__folder_begin(&one, &x.c, 12));
    tiny_says(t, sl_train__folder_begin(&other, &x.c, 12), SL_EINVAL, "another process",
              "is training");
    sl_train__folder_close(&one);
    sl_train__folder_close(&other);
    tiny_remove(x.c.out);
    SL_MUST(t, sl_train__folder_look(&one, NULL, &x.c, 12));
    SL_MUST(t, sl_train__folder_look(&other, NULL, &x.c, 12));
    SL_MUST(t, sl_train__folder_begin(&one, &x.c, 12));
    sl_train__folder_close(&one);
    tiny_says(t, sl_train__folder_begin(&other, &x.c, 12), SL_EINVAL, "another process",
              "has begun");
    sl_train__folder_close(&other);
    tiny_remove(x.c.out);
    tiny_end(&x);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(threads_do_not_matter),
        SL_TEST(stopping_and_resuming_does_not_matter),
        SL_TEST(what_lies_behind_the_checkpoint_is_done_again),
        SL_TEST(a_damaged_checkpoint_costs_time_only),
        SL_TEST(the_log_has_its_lines),
        SL_TEST(a_run_without_bounds_is_reported),
        SL_TEST(the_loss_falls),
        SL_TEST(what_is_not_finite_ends_the_run),
        SL_TEST(a_state_that_is_not_finite_is_not_saved),
        SL_TEST(a_folder_with_a_run_is_not_taken),
        SL_TEST(a_run_without_a_checkpoint_is_begun_anew),
        SL_TEST(a_checkpoint_of_another_run_is_not_taken),
        SL_TEST(long_names_are_whole_or_refused),
        SL_TEST(two_runs_do_not_share_a_folder),
    };
    return sl_test_main("train.run", tests, SL_LEN(tests));
}

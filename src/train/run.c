/* run - from a configuration to trained weights in a folder.
 *
 * All ranks go through the same loop and hold the same sums; rank 0 alone has the folder and the
 * log. What one of them decides by itself (rank 0 by the clock to save, any by its caller to stop)
 * is shared after each step, together with whether anything failed, so ranks never part ways.
 *
 * A request to stop does not wait for the step to end: launchers kill soon after they ask, and a
 * step of a large model takes seconds. Up to the optimiser's part a step changes nothing that a
 * checkpoint holds, so it is abandoned and the steps before it are saved. A validation is abandoned
 * too; the checkpoint says that it is due, and the run that goes on from there begins with it. */
#include <math.h>
#include <string.h>

#include "nn/nn.h"
#include "train/train_impl.h"

typedef struct run {
    const sl_train_config *c;
    sl_pool *pool;
    sl_train_progress progress;
    void *payload;
    int rank;

    sl_model *model;
    sl_train_plan plan;
    sl_train__shape shape;
    sl_train__engine engine;
    sl_train__valid valid;
    sl_train__folder folder; // rank 0
    sl_train__log log;       // rank 0
    sl_ckpt_loaded loaded;
    sl_str missing; // sums that the checkpoint lacks

    int64_t step, resumed_at,
        saved; // steps done; where it was resumed, and last saved: -1 if never
    int64_t log_steps, valid_steps;
    sl_train__tally tally;
    double clock_begin, seconds_before; // of earlier parts of the run
    double clock_saved;
    bool requested; // rank 0: progress was answered with a request to stop
    bool stopping;  // all ranks know of one
    sl_train_report latest;
} run;

/* ---------------------------------------------------------------- progress ------------------ */

static void clock_on(run *r) {
    r->tally.seconds = r->seconds_before + (sl_clock() - r->clock_begin);
}

/* The reported figures, from the sums of the line in the making. */
static void set_figures(const run *r, sl_train__tally *t) {
    const double pairs = (double)t->line_steps * r->shape.batch;
    t->loss = t->line_loss / (double)t->line_tokens;
    t->loss_expression = t->line_loss / pairs;
    t->pairs_per_second = pairs / SL_MAX(t->line_seconds, 1e-9);
}

/* Rank 0: calls progress, with a message or without. */
static void report_progress(run *r, const char *note) {
    if (r->rank != 0 || !r->progress) return;
    sl_train__tally first = r->tally, *t = &r->tally;
    if (isnan(t->loss) && t->line_steps > 0) { // no line yet: as far as it has come
        set_figures(r, &first);
        t = &first;
    }
    clock_on(r);
    r->latest.step = r->step;
    r->latest.steps = r->plan.steps;
    r->latest.loss = t->loss;
    r->latest.loss_expression = t->loss_expression;
    r->latest.loss_valid = t->loss_valid;
    r->latest.loss_valid_expression = t->loss_valid_expression;
    r->latest.pairs_per_second = t->pairs_per_second;
    r->latest.gflops = t->pairs_per_second * r->plan.flops_pair_paper * 1e-9;
    r->latest.seconds = r->tally.seconds;
    r->latest.note = note;
    if (r->progress(&r->latest, r->payload) != 0) r->requested = true;
}

SL_PRINTF(2, 3) static void note(run *r, const char *format, ...) {
    char text[1024];
    va_list args;
    va_start(args, format);
    sl_vsnprintf(text, sizeof text, format, args);
    va_end(args);
    report_progress(r, text);
}

/* ---------------------------------------------------------------- log lines ----------------- */

/* Rank 0, before anything is written into the folder: is it still ours? */
static sl_status ask_guard(const run *r) {
    return r->c->guard ? r->c->guard(r->c->guard_payload) : SL_OK;
}

static double flops_so_far(const run *r) {
    const double pairs = (double)r->step * r->shape.batch;
    return sl_model_flops_paper(r->model, pairs * r->shape.columns * r->shape.points,
                                (double)r->tally.tokens);
}

/* All ranks: the step's figures into the sums. */
static void add_step(run *r, const sl_train__outcome *o, double seconds) {
    sl_train__tally *t = &r->tally;
    clock_on(r);
    t->tokens += o->tokens;
    t->line_steps++;
    t->line_tokens += o->tokens;
    t->line_loss += o->loss;
    t->line_grad_norm += o->optim.grad_norm;
    t->line_clipped += o->optim.clipped;
    t->line_seconds += seconds;
    r->latest.lr = o->optim.lr;
}

/* All ranks: are the sums due as a line? Then they become the reported figures. */
static bool end_line(run *r) {
    sl_train__tally *t = &r->tally;
    if (t->line_steps < r->log_steps && r->step < r->plan.steps) return false;
    set_figures(r, t);
    return true;
}

static sl_status log_step(run *r) {
    const sl_train__tally *t = &r->tally;
    const double steps = (double)t->line_steps;
    sl_str *s = &r->log.line;
    clock_on(r);
    sl_train__log_begin(&r->log, "step", r->step);
    SL_JSON_FIELDS(s, t, loss, loss_expression);
    sl_io_json_add_real(s, "lr", r->latest.lr);
    sl_io_json_add_real(s, "grad_norm", t->line_grad_norm / steps);
    sl_io_json_add_real(s, "clipped", (double)t->line_clipped / steps);
    sl_io_json_add_int(s, "tokens", t->tokens);
    sl_io_json_add_real(s, "flops", flops_so_far(r));
    SL_JSON_FIELDS(s, t, seconds, pairs_per_second);
    return sl_train__log_end(&r->log);
}

static sl_status log_bounds(run *r, int bounds_set) {
    const sl_optim *o = r->engine.optim;
    int all = 0;
    for (int i = 0; i < o->n_tensor; i++) {
        all += o->cpr[i].set_at >= 0;
        if (o->cpr[i].set_at != o->t) continue;
        sl_train__log_begin(&r->log, "bound", r->step);
        sl_io_json_add_text(&r->log.line, "tensor", r->model->param[i].name);
        sl_io_json_add_real(&r->log.line, "kappa", o->cpr[i].kappa);
        SL_TRY(sl_train__log_end(&r->log));
    }
    note(r, "step %lld: %d bound%s set, %d in all", (long long)r->step, bounds_set,
         bounds_set == 1 ? "" : "s", all);
    return SL_OK;
}

static sl_status log_valid(run *r) {
    const sl_train__tally *t = &r->tally;
    sl_str *s = &r->log.line;
    clock_on(r);
    sl_train__log_begin(&r->log, "valid", r->step);
    sl_io_json_add_real(s, "loss", t->loss_valid);
    sl_io_json_add_real(s, "loss_expression", t->loss_valid_expression);
    sl_io_json_add_int(s, "pairs", r->shape.valid);
    sl_io_json_add_int(s, "tokens", t->tokens);
    sl_io_json_add_real(s, "flops", flops_so_far(r));
    sl_io_json_add_real(s, "seconds", t->seconds);
    return sl_train__log_end(&r->log);
}

/* Rank 0, before a step: does it begin another pass over the training pairs? */
static sl_status log_pass(run *r) {
    const int64_t first = r->step * r->shape.batch, last = first + r->shape.batch - 1;
    const int64_t pass = sl_pairs_pass(r->c->pairs, SL_SPLIT_TRAIN, last);
    const int64_t before = first ? sl_pairs_pass(r->c->pairs, SL_SPLIT_TRAIN, first - 1) : 0;
    if (pass == before) return SL_OK;
    SL_TRY(ask_guard(r));
    sl_train__log_begin(&r->log, "pass", r->step + 1);
    sl_io_json_add_int(&r->log.line, "pass", pass + 1);
    SL_TRY(sl_train__log_end(&r->log));
    note(r, "step %lld: pass %lld over the training pairs begins, with fresh constants and points",
         (long long)r->step + 1, (long long)pass + 1);
    return SL_OK;
}

/* ---------------------------------------------------------------- saving -------------------- */

static sl_status save_files(run *r, const float *m, const float *v) {
    sl_str progress = { 0 };
    clock_on(r);
    sl_train__tally_write(&progress, &r->tally);
    sl_status st;
    SL_GO(sl_str_status(&progress));
    SL_GO(ask_guard(r));
    SL_GO(sl_train__log_sync(&r->log));
    const sl_ckpt_meta meta = { .step = r->step,
                                .config = r->c->config_json ? r->c->config_json : "{}",
                                .progress = progress.text,
                                .vocabulary = r->folder.vocabulary,
                                .universe = sl_universe_hash(sl_pairs_universe(r->c->pairs)),
                                .guard = r->c->guard,
                                .guard_payload = r->c->guard_payload };
    st = sl_ckpt_save(r->folder.path, r->model, r->engine.weights, r->engine.optim, m, v, &meta);
done:
    sl_str_clear(&progress);
    return st;
}

/* Adds to a failure what is left to go on from. */
static sl_status with_kept(const run *r, sl_status st) {
    if (r->saved < 0) return sl_fail(st, "%.600s; nothing was saved before", sl_last_error());
    return sl_fail(st, "%.600s; the checkpoint of step %lld is kept", sl_last_error(),
                   (long long)r->saved);
}

/* Whatever of a step is not finite ends the run: with the message so far, what is left, and what
 * helps. A resumed run takes the same steps again, so going on with the same options does not. */
static sl_status fail_not_finite(const run *r, int64_t step, sl_status st) {
    char line[600];
    sl_snprintf(line, sizeof line, "step %lld: %s", (long long)step, sl_last_error());
    if (r->c->diverged) *r->c->diverged = true;
    if (r->saved < 0)
        return sl_fail(
            st,
            "%s; nothing was saved before; begin again with a lower learning rate (--lr) "
            "or a smaller --clip",
            line);
    return sl_fail(
        st,
        "%s; the checkpoint of step %lld is kept, and its numbers are finite; resumed with the "
        "same options, the run would come to the same step: begin another with a lower learning "
        "rate (--lr) or a smaller --clip",
        line, (long long)r->saved);
}

/* Collective. Where ranks share the moments, rank 0 collects them in blocks that lie idle now. */
static sl_status save(run *r) {
    sl_train__engine *e = &r->engine;
    const float *m = e->optim->m, *v = e->optim->v;
    if (r->shape.ranks > 1) {
        SL_TRY(sl_par_collect(e->grad[0], m, e->share));
        SL_TRY(sl_par_collect(e->received, v, e->share));
        m = e->grad[0];
        v = e->received;
    }
    sl_status st = r->rank == 0 ? save_files(r, m, v) : SL_OK;
    if (st == SL_EIO) st = with_kept(r, st);
    if (st == SL_ELIMIT) st = fail_not_finite(r, r->step, st);
    SL_TRY(sl_par_agree(st));
    r->saved = r->step;
    r->clock_saved = sl_clock();
    return SL_OK;
}

static bool save_due(const run *r) {
    const sl_train_options *o = &r->c->train;
    if (r->step == r->plan.steps) return true;
    if (o->checkpoint_steps > 0) return r->step % o->checkpoint_steps == 0;
    return o->checkpoint_minutes > 0 && sl_clock() - r->clock_saved >= 60 * o->checkpoint_minutes;
}

/* Collective. Some rank was asked to stop: what is done so far is saved, if it is not yet. */
static sl_status stop(run *r) {
    r->stopping = true;
    return r->saved == r->step ? SL_OK : save(r);
}

/* ---------------------------------------------------------------- beginning ----------------- */

static sl_status make_plan(run *r) {
    const sl_train_config *c = r->c;
    const sl_pairs_options *o = sl_pairs_config(c->pairs);
    const int64_t valid = SL_MIN(c->train.valid_pairs, sl_pairs_size(c->pairs, SL_SPLIT_VALID));
    SL_TRY(sl_train__model(&r->model, c));
    SL_TRY(sl_train__shape_make(&r->shape, &c->train, (int)r->model->options.columns,
                                (int)o->points, (int)o->max_tokens, valid,
                                sl_par_pool_threads(r->pool), r->rank, sl_par_ranks()));
    SL_TRY(sl_train__plan_fill(&r->plan, c, r->model, &r->shape, 0));
    const int64_t steps = r->plan.steps;
    r->log_steps = c->train.log_steps ? c->train.log_steps : SL_MAX(steps / 1000, 1);
    r->valid_steps = c->train.valid_steps ? c->train.valid_steps : SL_MAX(steps / 20, 1);
    return SL_OK;
}

static sl_status make_engine(run *r) {
    const sl_train__source source = { .pairs = r->c->pairs, .split = SL_SPLIT_TRAIN };
    SL_TRY(sl_train__engine_new(&r->engine, r->pool, r->model, &r->shape, &r->c->optim,
                                r->plan.steps, r->c->seed, &source));
    return r->shape.valid > 0 ? sl_train__valid_new(&r->valid, &r->engine, r->c->pairs) : SL_OK;
}

/* Initial weights, or those of the newest checkpoint with all that belongs to them. */
static sl_status load(run *r) {
    if (!r->c->resume || sl_ckpt_newest(r->c->out) < 0) {
        sl_model_init(r->engine.weights, r->model, r->c->seed);
        return SL_OK;
    }
    SL_TRY(sl_ckpt_load(&r->loaded, r->c->out, r->model, r->engine.weights, r->engine.optim));
    SL_TRY(sl_train__folder_fits(&r->loaded, r->c));
    SL_TRY(sl_train__tally_read(&r->tally, &r->missing, r->loaded.progress));
    r->step = r->resumed_at = r->saved = r->loaded.step;
    r->seconds_before = r->tally.seconds;
    return SL_OK;
}

/* All ranks read the same files; that they saw the same is checked, not believed. */
static sl_status same_step(const run *r) {
    int64_t step = r->step;
    SL_TRY(sl_par_share(&step, sizeof step));
    if (step == r->step) return SL_OK;
    return sl_fail(SL_EIO, "rank %d finds step %lld in %s where rank 0 finds step %lld", r->rank,
                   (long long)r->step, r->c->out, (long long)step);
}

static bool is_unfinished(const run *r) { return r->step < r->plan.steps || r->tally.valid_due; }

static sl_status begin(run *r) {
    SL_TRY(sl_par_agree(make_plan(r)));
    sl_status st = SL_OK;
    if (r->rank == 0) st = sl_train__folder_look(&r->folder, r->pool, r->c, r->plan.steps);
    SL_TRY(sl_par_agree(st));
    SL_TRY(sl_par_agree(make_engine(r)));
    SL_TRY(sl_par_agree(load(r)));
    SL_TRY(sl_par_agree(same_step(r)));
    if (r->rank == 0 && is_unfinished(r)) {
        st = sl_train__folder_begin(&r->folder, r->c, r->plan.steps);
        if (st == SL_OK) st = ask_guard(r);
        if (st == SL_OK)
            st = sl_train__log_open(&r->log, r->folder.log, r->step, r->tally.valid_due);
        if (st == SL_EIO && r->saved >= 0) st = with_kept(r, st);
    }
    return sl_par_agree(st);
}

/* A checkpoint that does not say is not known to differ. */
static bool differs(const char *theirs, const char *ours) {
    return *theirs && strcmp(theirs, ours) != 0;
}

/* What the user should know before the first step. */
static void note_beginning(run *r) {
    const sl_train_config *c = r->c;
    const sl_ckpt_loaded *l = &r->loaded;
    const int lanes = sl_train__rank_lanes(&r->shape);
    const int64_t looks = 4 * sl_optim_kappa_steps(&c->optim, r->plan.steps);
    if (l->warning) note(r, "%s", l->warning);
    if (c->resume && r->resumed_at < 0)
        note(r,
             r->folder.begun ? "%s has no checkpoint: the run begins again at its first step"
                             : "%s has no run to resume: one begins",
             c->out);
    if (r->resumed_at >= 0)
        note(r, "resumed at step %lld of %lld", (long long)r->step, (long long)r->plan.steps);
    if (r->missing.len > 0)
        note(r, "the checkpoint lacks %s: they are counted from here on", r->missing.text);
    if (l->level && (differs(l->level, sl_nn_isa()) || differs(l->libraries, sl_nn_libraries())))
        note(r,
             "the checkpoint is from %s with %s, this is %s with %s: bits may differ from those of "
             "an uninterrupted run",
             l->level, l->libraries, sl_nn_isa(), sl_nn_libraries());
    if (c->optim.optimizer == SL_OPTIM_ADAMCPR && c->optim.kappa_init == SL_KAPPA_INFLECTION &&
        looks > r->plan.steps)
        note(r, "the first bound can be set after step %lld, and the run has %lld: none will be",
             (long long)looks, (long long)r->plan.steps);
    if (r->shape.threads > lanes)
        note(r, "%d threads share %d lanes: no more than %d of them work at once", r->shape.threads,
             lanes, lanes);
}

/* ---------------------------------------------------------------- the loop ------------------ */

static sl_status fail_bad(const run *r, const sl_train__outcome *o) {
    const int64_t first = r->step * r->shape.batch;
    return fail_not_finite(
        r, r->step + 1,
        sl_fail(SL_ELIMIT, "the %s is not finite (training pairs %lld to %lld, learning rate %.3g)",
                o->bad, (long long)first, (long long)(first + r->shape.batch - 1),
                sl_optim_lr(&r->c->optim, r->step, r->plan.steps)));
}

static sl_status validate(run *r) {
    double loss;
    int64_t tokens;
    SL_TRY(sl_train__validate(&loss, &tokens, &r->valid, &r->engine));
    if (!isfinite(loss))
        return fail_not_finite(r, r->step,
                               sl_fail(SL_ELIMIT, "the loss on validation pairs is not finite"));
    r->tally.loss_valid = loss / (double)tokens;
    r->tally.loss_valid_expression = loss / (double)r->shape.valid;
    return SL_OK;
}

/* The validation that the run was stopped in, before the steps behind it. */
static sl_status validate_due(run *r) {
    sl_status st = validate(r);
    if (st == SL_ECANCEL) return stop(r);
    SL_TRY(st);
    r->tally.valid_due = false;
    if (r->rank == 0) st = ask_guard(r);
    if (r->rank == 0 && st == SL_OK) st = log_valid(r);
    if (st == SL_EIO) st = with_kept(r, st);
    SL_TRY(sl_par_agree(st));
    return save(r); // else the checkpoint would still have it due
}

/* Rank 0: reports the step, to the log and to the caller. */
static sl_status report(run *r, const sl_train__outcome *o, bool line, bool valid) {
    if (line || valid || o->optim.bounds_set > 0) SL_TRY(ask_guard(r));
    if (line) SL_TRY(log_step(r));
    if (o->optim.bounds_set > 0) SL_TRY(log_bounds(r, o->optim.bounds_set));
    if (valid) SL_TRY(log_valid(r));
    report_progress(r, NULL);
    return SL_OK;
}

static sl_status one_step(run *r) {
    sl_status st = r->rank == 0 ? log_pass(r) : SL_OK;
    if (st == SL_EIO) st = with_kept(r, st);
    SL_TRY(sl_par_agree(st));

    sl_train__outcome o;
    const double begun = sl_clock();
    st = sl_train__step(&o, &r->engine, r->step, r->step + 1 < r->plan.steps);
    if (st == SL_ECANCEL) return stop(r);
    if (o.bad) return fail_bad(r, &o);
    SL_TRY(st);
    r->step++;
    add_step(r, &o, sl_clock() - begun);
    const bool line = end_line(r);
    const bool valid =
        r->shape.valid > 0 && (r->step % r->valid_steps == 0 || r->step == r->plan.steps);
    if (valid) {
        st = validate(r);
        r->tally.valid_due = st == SL_ECANCEL;
        if (st != SL_ECANCEL) SL_TRY(st);
    }

    enum { STOP, SAVE, REQUESTS };
    int64_t requested[REQUESTS] = { 0 };
    st = SL_OK;
    if (r->rank == 0) {
        st = report(r, &o, line, valid && !r->tally.valid_due);
        if (st == SL_EIO) st = with_kept(r, st);
        requested[SAVE] = save_due(r);
    }
    requested[STOP] = r->tally.valid_due || r->requested || sl_par_stopping();
    SL_TRY(sl_par_agree(st));
    SL_TRY(sl_par_sum(requested, REQUESTS));
    if (line) {
        sl_train__tally *t = &r->tally;
        t->line_steps = t->line_tokens = t->line_clipped = 0;
        t->line_loss = t->line_grad_norm = t->line_seconds = 0;
    }
    if (requested[STOP]) return stop(r);
    if (!requested[SAVE]) return SL_OK;
    SL_TRY(save(r));
    note(r, "saved at step %lld", (long long)r->step);
    return SL_OK;
}

/* ---------------------------------------------------------------- the whole ----------------- */

static void fill_result(sl_train_result *out, const run *r) {
    const sl_train__tally *t = &r->tally;
    *out = (sl_train_result){ .step = r->step,
                              .resumed_at = r->resumed_at,
                              .loss = t->loss,
                              .loss_expression = t->loss_expression,
                              .loss_valid = t->loss_valid,
                              .loss_valid_expression = t->loss_valid_expression,
                              .tokens = (double)t->tokens,
                              .flops = flops_so_far(r),
                              .seconds = t->seconds };
    for (int i = 0; i < r->engine.optim->n_tensor; i++)
        out->bounds_set += r->engine.optim->cpr[i].set_at >= 0;
    if (r->saved >= 0)
        sl_ckpt_model_path(out->checkpoint, sizeof out->checkpoint, r->c->out, r->saved);
}

sl_status sl_train_run(sl_train_result *out, sl_pool *pool, const sl_train_config *c,
                       sl_train_progress progress, void *payload) {
    const int64_t held = sl_mem_bytes();
    sl_status st;
    run r = { .c = c,
              .pool = pool,
              .progress = progress,
              .payload = payload,
              .rank = sl_par_rank(),
              .resumed_at = -1,
              .saved = -1,
              .folder = { .lock = -1 } };
    r.clock_begin = r.clock_saved = sl_clock();
    r.latest.lr = NAN;
    sl_train__tally_init(&r.tally);
    sl_mem_peak_reset();
    SL_GO(begin(&r));
    if (is_unfinished(&r)) note_beginning(&r);
    while (is_unfinished(&r) && st == SL_OK) {
        st = r.tally.valid_due ? validate_due(&r) : one_step(&r);
        if (st == SL_OK && r.stopping && is_unfinished(&r))
            st = sl_fail(SL_ECANCEL,
                         "stopped at step %lld of %lld, saved in %s: resume it to continue",
                         (long long)r.step, (long long)r.plan.steps, c->out);
    }
    fill_result(out, &r);
    out->peak_bytes = sl_mem_peak() - held;
done:
    sl_train__log_close(&r.log);
    sl_train__folder_close(&r.folder);
    sl_train__valid_clear(&r.valid);
    sl_train__engine_clear(&r.engine);
    sl_model_free(r.model);
    sl_ckpt_loaded_clear(&r.loaded);
    sl_str_clear(&r.missing);
    return st;
}

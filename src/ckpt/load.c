/* load - the newest valid checkpoint back into weights and optimiser. */
#include <string.h>

#include "ckpt/ckpt_impl.h"

enum { CPR = SL_CKPT__CPR, ROWS = SL_CKPT__ROWS, LINE = 1024 };

/* A checkpoint that is being validated. */
typedef struct pair {
    char *path[2]; // by sl_ckpt__kind
    sl_st_file *file[2];
    sl_ckpt_loaded texts[2];
} pair;

static void close_pair(pair *p) {
    for (int k = 0; k < 2; k++) {
        sl_ckpt_loaded_clear(&p->texts[k]);
        sl_ckpt_st_close(p->file[k]);
        sl_free(p->path[k]);
    }
}

static sl_status expect_state(const sl_st_file *f, const char *path, const sl_model *m) {
    sl_st_tensor row[ROWS];
    sl_ckpt__state_rows(row, m->n_param);
    for (int i = 0; i < ROWS; i++) SL_TRY(sl_ckpt__expect(NULL, f, path, &row[i]));
    for (int i = 0; i < 2 * m->n_param; i++) {
        char name[SL_CKPT__NAME];
        const sl_st_tensor want = sl_ckpt__tensor(name, i % 2 ? "v." : "m.", &m->param[i / 2]);
        SL_TRY(sl_ckpt__expect(NULL, f, path, &want));
    }
    if (sl_ckpt_st_count(f) != ROWS + 2 * m->n_param)
        return sl_fail(SL_EFORMAT, "%s: %d tensors, where %d are known", path, sl_ckpt_st_count(f),
                       ROWS + 2 * m->n_param);
    return SL_OK;
}

static sl_status open_pair(pair *p, const char *dir, int64_t step) {
    for (sl_ckpt__kind k = SL_CKPT__MODEL; k <= SL_CKPT__STATE; k++) {
        SL_TRY(sl_ckpt__path(&p->path[k], dir, k, step));
        SL_TRY(sl_ckpt_st_open(&p->file[k], p->path[k]));
        SL_TRY(sl_ckpt__texts(&p->texts[k], p->file[k], p->path[k], k));
    }
    return SL_OK;
}

/* Both files by themselves and against each other, cheapest first; all data last. m: NULL, or the
 * model that they must fit. */
static sl_status check(const pair *p, int64_t step, const sl_model *m) {
    const sl_ckpt_loaded *model = &p->texts[SL_CKPT__MODEL], *state = &p->texts[SL_CKPT__STATE];
    const char *path = p->path[SL_CKPT__STATE];
    for (int k = 0; k < 2; k++)
        if (p->texts[k].step != step)
            return sl_fail(SL_EFORMAT, "%s: it is of step %lld", p->path[k],
                           (long long)p->texts[k].step);
    if (strcmp(model->config, state->config) != 0 ||
        strcmp(model->vocabulary, state->vocabulary) != 0 ||
        strcmp(model->universe, state->universe) != 0)
        return sl_fail(SL_EFORMAT, "%s: it is of another run than the model beside it", path);
    // sl_ckpt_st_open ensures that a checkpoint file has data_hash
    if (strcmp(sl_ckpt_st_metadata(p->file[SL_CKPT__STATE], "model_hash"),
               sl_ckpt_st_metadata(p->file[SL_CKPT__MODEL], SL_ST__DATA_HASH)) != 0)
        return sl_fail(SL_EFORMAT, "%s: it belongs to other weights than the model beside it",
                       path);
    if (m) SL_TRY(sl_ckpt__expect_weights(p->file[SL_CKPT__MODEL], p->path[SL_CKPT__MODEL], m));
    if (m) SL_TRY(expect_state(p->file[SL_CKPT__STATE], path, m));
    for (int k = 0; k < 2; k++) SL_TRY(sl_ckpt_st_verify(p->file[k]));
    for (int k = 0; k < 2; k++) SL_TRY(sl_ckpt_st_finite(p->file[k]));
    return SL_OK;
}

static sl_status read_all(void *out, const sl_st_file *f, const char *name) {
    const sl_st_tensor *t = sl_ckpt_st_find(f, name);
    return sl_ckpt_st_read(f, t, 0, sl_ckpt__st_numbers(t), out);
}

/* out := the part of a moment that this rank owns. */
static sl_status read_share(float *out, const sl_st_file *f, const char *prefix, const sl_model *m,
                            int64_t begin, int64_t end) {
    memset(out, 0, (size_t)(end - begin) * sizeof *out);
    for (int i = 0; i < m->n_param; i++) {
        const sl_param *p = &m->param[i];
        const int64_t from = SL_MAX(begin, p->offset), to = SL_MIN(end, p->offset + p->count);
        if (from >= to) continue;
        char name[SL_CKPT__NAME];
        const sl_st_tensor want = sl_ckpt__tensor(name, prefix, p);
        SL_TRY(sl_ckpt_st_read(f, sl_ckpt_st_find(f, want.name), from - p->offset, to - from,
                               out + (from - begin)));
    }
    return SL_OK;
}

static sl_status read_state(sl_optim *o, const sl_st_file *f, const sl_model *m) {
    sl_status st;
    const size_t n = (size_t)m->n_param;
    double(*cpr)[CPR] = sl_malloc(n, sizeof *cpr);
    int64_t *set_at = sl_malloc(n, sizeof *set_at);
    if (!cpr || !set_at) SL_GO(sl_fail_memory(n, sizeof *cpr, "constraints of a checkpoint"));
    SL_GO(read_all(&o->t, f, "t"));
    SL_GO(read_all(&o->clamped, f, "clamped"));
    SL_GO(read_all(cpr, f, "cpr"));
    SL_GO(read_all(set_at, f, "cpr_set_at"));
    SL_GO(read_share(o->m, f, "m.", m, o->begin, o->end));
    SL_GO(read_share(o->v, f, "v.", m, o->begin, o->end));
    for (size_t i = 0; i < n; i++)
        o->cpr[i] = (sl_cpr){ cpr[i][0], cpr[i][1], cpr[i][2], cpr[i][3], set_at[i] };
done:
    sl_free(set_at);
    sl_free(cpr);
    return st;
}

static sl_status load_step(sl_ckpt_loaded *out, const char *dir, int64_t step, const sl_model *m,
                           float *weights, sl_optim *optim) {
    sl_status st;
    pair p = { 0 };
    SL_GO(open_pair(&p, dir, step));
    SL_GO(check(&p, step, m));
    SL_GO(sl_ckpt__read_weights(weights, p.file[SL_CKPT__MODEL], m));
    SL_GO(read_state(optim, p.file[SL_CKPT__STATE], m));
    *out = p.texts[SL_CKPT__STATE];
    p.texts[SL_CKPT__STATE] = (sl_ckpt_loaded){ 0 };
done:
    close_pair(&p);
    return st;
}

static sl_status look_step(const char *dir, int64_t step) {
    pair p = { 0 };
    sl_status st = open_pair(&p, dir, step);
    if (st == SL_OK) st = check(&p, step, NULL);
    close_pair(&p);
    return st;
}

/* ---------------------------------------------------------------- choosing ------------------ */

/* Checkpoints are tried from the newest on. */
typedef struct search {
    char newest[LINE]; // message on the newest one; "": none
    int tried;
} search;

/* The next older step, or -1 to end the search; `st` is the status of the step before. Lack of
 * memory does not make a file invalid, so it is no reason to take an older one. */
static int64_t next_step(search *s, const char *dir, int64_t step, sl_status st) {
    if (st == SL_OK || st == SL_ENOMEM) return -1;
    if (step < INT64_MAX && s->tried++ == 0)
        sl_snprintf(s->newest, sizeof s->newest, "%s", sl_last_error());
    return sl_ckpt__newest_below(dir, step);
}

/* Ends a search: sets *warning, or the message of the failure. */
static sl_status end_search(char **warning, const search *s, const char *dir, int64_t step,
                            sl_status st, const char *verb) {
    *warning = NULL;
    if (st == SL_ENOMEM || (st == SL_OK && !s->newest[0])) return st;
    if (s->tried == 0) return sl_fail(SL_EINVAL, "no checkpoint in %s", dir);
    if (st != SL_OK)
        return sl_fail(SL_EFORMAT, "%s%s", s->newest,
                       s->tried > 1 ? "; the older one is not valid either" : "");
    const size_t n = strlen(s->newest) + 64;
    *warning = sl_malloc(n, 1);
    if (!*warning) return sl_fail_memory(n, 1, "a warning");
    sl_snprintf(*warning, n, "%s; %s step %lld", s->newest, verb, (long long)step);
    return SL_OK;
}

sl_status sl_ckpt_load(sl_ckpt_loaded *out, const char *dir, const sl_model *model, float *weights,
                       sl_optim *optim) {
    SL_ASSERT(optim->n_tensor == model->n_param);
    search s = { 0 };
    sl_status st = SL_EINVAL;
    char *warning;
    *out = (sl_ckpt_loaded){ 0 };
    for (int64_t step = INT64_MAX; (step = next_step(&s, dir, step, st)) >= 0;)
        st = load_step(out, dir, step, model, weights, optim);
    st = end_search(&warning, &s, dir, out->step, st, "continued from");
    out->warning = warning;
    if (st != SL_OK) sl_ckpt_loaded_clear(out);
    return st;
}

sl_status sl_ckpt_look(int64_t *step, char **warning, const char *dir) {
    search s = { 0 };
    sl_status st = SL_EINVAL;
    *step = -1;
    for (int64_t at = INT64_MAX; (at = next_step(&s, dir, at, st)) >= 0; *step = at)
        st = look_step(dir, at);
    return end_search(warning, &s, dir, *step, st, "the newest valid one is of");
}

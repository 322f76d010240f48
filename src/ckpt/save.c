/* save - writes a checkpoint: the state, then the model, then removes old ones. */
#include <string.h>
#include <unistd.h>

#include "ckpt/ckpt_impl.h"
#include "nn/nn.h"

enum { TEXTS = 16, CPR = SL_CKPT__CPR, ROWS = SL_CKPT__ROWS };

sl_st_tensor sl_ckpt__tensor(char name[SL_CKPT__NAME], const char *prefix, const sl_param *p) {
    sl_st_tensor t = { .name = name, .dtype = SL_F32, .dims = p->dims };
    sl_snprintf(name, SL_CKPT__NAME, "%s%s", prefix, p->name);
    for (int d = 0; d < p->dims; d++) t.shape[d] = p->shape[d];
    return t;
}

void sl_ckpt__state_rows(sl_st_tensor row[ROWS], int n_tensor) {
    row[0] = (sl_st_tensor){ .name = "t", .dtype = SL_I64 };
    row[1] = (sl_st_tensor){ .name = "clamped", .dtype = SL_I64 };
    row[2] =
        (sl_st_tensor){ .name = "cpr", .dtype = SL_F64, .dims = 2, .shape = { n_tensor, CPR } };
    row[3] = (sl_st_tensor){ .name = "cpr_set_at", .dtype = SL_I64, .dims = 1 };
    row[3].shape[0] = n_tensor;
}

/* Metadata of both files. */
static int add_texts(sl_st_text text[TEXTS], char step[24], sl_ckpt__kind kind,
                     const sl_ckpt_meta *meta) {
    const sl_st_text list[] = {
        { "format", "pt" }, // as in files of PyTorch; some loaders require it
        { "version", SL_VERSION },
        { "revision", sl_ckpt_revision() },
        { "kind", sl_ckpt__kind_text(kind) },
        { "step", step },
        { "config", meta->config },
        { "vocabulary", meta->vocabulary },
        { "universe", meta->universe },
        { "level", sl_nn_isa() },
        { "libraries", sl_nn_libraries() },
    };
    sl_snprintf(step, 24, "%lld", (long long)meta->step);
    for (int i = 0; i < SL_LEN(list); i++) {
        text[i] = list[i];
        if (!text[i].text) text[i].text = "";
    }
    return SL_LEN(list);
}

/* The contents of the two files. */
typedef struct parts {
    sl_st_tensor *model;         // (n_param)
    sl_st_tensor *state;         // (ROWS + 2 n_param)
    char (*name)[SL_CKPT__NAME]; // (3 n_param): of the model's, of m, of v
    double *cpr;                 // (n_param, CPR)
    int64_t *set_at;             // (n_param)
} parts;

static void clear(parts *p) {
    sl_free(p->model);
    sl_free(p->state);
    sl_free(p->name);
    sl_free(p->cpr);
    sl_free(p->set_at);
}

static sl_status allocate(parts *p, int n_param) {
    const size_t n = (size_t)n_param;
    *p = (parts){ sl_malloc(n, sizeof *p->model), sl_malloc(ROWS + 2 * n, sizeof *p->state),
                  sl_malloc(3 * n, sizeof *p->name), sl_malloc(n * CPR, sizeof *p->cpr),
                  sl_malloc(n, sizeof *p->set_at) };
    if (p->model && p->state && p->name && p->cpr && p->set_at) return SL_OK;
    clear(p);
    return sl_fail_memory(ROWS + 2 * n, sizeof *p->state, "the list of a checkpoint's tensors");
}

/* Numbers of 8 bytes come first, so that all are aligned in a mapped file. */
static void fill(parts *p, const sl_model *model, const float *weights, const sl_optim *optim,
                 const float *m, const float *v) {
    const int n = model->n_param;
    for (int i = 0; i < n; i++) {
        const sl_cpr *c = &optim->cpr[i];
        const double row[CPR] = { c->lambda, c->kappa, c->sampled, c->increase };
        memcpy(p->cpr + (size_t)i * CPR, row, sizeof row);
        p->set_at[i] = c->set_at;
    }
    sl_st_tensor *s = p->state;
    sl_ckpt__state_rows(s, n);
    s[0].data = &optim->t;
    s[1].data = &optim->clamped;
    s[2].data = p->cpr;
    s[3].data = p->set_at;
    s += ROWS;
    for (int i = 0; i < n; i++) {
        const sl_param *param = &model->param[i];
        p->model[i] = sl_ckpt__tensor(p->name[i], "", param);
        s[i] = sl_ckpt__tensor(p->name[n + i], "m.", param);
        s[n + i] = sl_ckpt__tensor(p->name[2 * n + i], "v.", param);
        p->model[i].data = weights + param->offset;
        s[i].data = m + param->offset;
        s[n + i].data = v + param->offset;
    }
}

static sl_status ask_guard(const sl_ckpt_meta *meta) {
    return meta->guard ? meta->guard(meta->guard_payload) : SL_OK;
}

/* Writes one file of the two. A launcher may kill this process before a slow sync ends, so the file
 * is renamed before it is synced: readers compare hashes. Not where it would replace one of the
 * same step, which stays until the new one is synced. */
static sl_status put(sl_file **out, bool *named, const char *path, const sl_st_tensor *tensors,
                     int n, const sl_st_text *text, int n_text, const sl_ckpt_meta *meta) {
    SL_TRY(sl_ckpt__st_begin(out, path, tensors, n, text, n_text));
    SL_TRY(ask_guard(meta));
    if (access(path, F_OK) == 0) return SL_OK;
    SL_TRY(sl_file_publish(*out));
    *named = true;
    return SL_OK;
}

/* Another process owns the folder now: a published file stays, since the file of that name may
 * already be the other's. */
static void leave(sl_file **f, bool named) {
    char line[SL_FAIL_LINE];
    if (!*f) return;
    sl_snprintf(line, sizeof line, "%s", sl_last_error());
    if (!named || sl_file_commit(f) != SL_OK) sl_file_discard(f);
    sl_fail_restore(line);
}

/* The state holds the hash of its weights. If saving an existing step is killed between the two
 * files, the mismatch is detected. */
static sl_status write_files(const char *dir, const parts *p, int n_param,
                             const sl_ckpt_meta *meta) {
    sl_status st;
    sl_file *state = NULL, *model = NULL;
    char *path = NULL, step[24], hash[33];
    bool state_named = false, model_named = false;
    sl_st_text text[TEXTS];
    SL_TRY(sl_ckpt__st_data_hash(hash, p->model, n_param));
    int n = add_texts(text, step, SL_CKPT__STATE, meta);
    text[n++] = (sl_st_text){ "progress", meta->progress ? meta->progress : "" };
    text[n++] = (sl_st_text){ "model_hash", hash };
    SL_TRY(sl_ckpt__path(&path, dir, SL_CKPT__STATE, meta->step));
    SL_GO(put(&state, &state_named, path, p->state, ROWS + 2 * n_param, text, n, meta));

    sl_free(path);
    path = NULL;
    SL_GO(sl_ckpt__path(&path, dir, SL_CKPT__MODEL, meta->step));
    n = add_texts(text, step, SL_CKPT__MODEL, meta);
    SL_GO(put(&model, &model_named, path, p->model, n_param, text, n, meta));
    SL_GO(sl_file_commit(&state));
    SL_GO(ask_guard(meta));
    st = sl_file_commit(&model);
done:
    if (st == SL_ECANCEL) {
        leave(&model, model_named);
        leave(&state, state_named);
    }
    sl_file_discard(&model);
    sl_file_discard(&state);
    sl_free(path);
    return st;
}

/* Refuses numbers that are NaN or infinite: training could not resume from them. */
static sl_status check_finite(const sl_st_tensor *tensor, int n, sl_ckpt__kind kind) {
    for (int i = 0; i < n; i++) {
        const sl_st_tensor *t = &tensor[i];
        if (sl_ckpt__st_not_finite(t->data, t->dtype, sl_ckpt__st_numbers(t)) >= 0)
            return sl_fail(SL_ELIMIT, "tensor \"%s\" of the %s has a number that is not finite",
                           t->name, sl_ckpt__kind_text(kind));
    }
    return SL_OK;
}

sl_status sl_ckpt_save(const char *dir, const sl_model *model, const float *weights,
                       const sl_optim *optim, const float *m, const float *v,
                       const sl_ckpt_meta *meta) {
    SL_ASSERT(optim->n_tensor == model->n_param && meta->step >= 0);
    parts p;
    SL_TRY(allocate(&p, model->n_param));
    fill(&p, model, weights, optim, m, v);
    sl_status st = check_finite(p.model, model->n_param, SL_CKPT__MODEL);
    if (st == SL_OK) st = check_finite(p.state, ROWS + 2 * model->n_param, SL_CKPT__STATE);
    if (st == SL_OK) {
        sl_ckpt_sweep(dir); // first: they may fill the disk
        st = write_files(dir, &p, model->n_param, meta);
    }
    clear(&p);
    if (st == SL_OK) st = ask_guard(meta);
    if (st == SL_OK) sl_ckpt__remove_old(dir, meta->step);
    return st;
}

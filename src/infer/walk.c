/* walk - one data set: the encoder once, then a step for all live prefixes at a time. */
#include "infer/infer_impl.h"

static sl_status encode(sl_infer__walk *w, const sl_dataset *d) {
    const sl_infer *m = w->model;
    sl_arena scratch = { 0 };
    sl_work *work = NULL;
    sl_infer__cells cells;
    sl_status st;
    SL_GO(sl_infer__cells_make(&cells, &scratch, m, d, w->o->seed, w->o->problem));
    SL_GO(sl_model_work_new(&work, m->model, 1, (int)d->rows, 1, 0));
    sl_model_encode(w->memory, work, m->weights, &cells.batch);
    st = sl_nn_gemm_status();
done:
    sl_model_work_free(work);
    sl_arena_clear(&scratch);
    return st;
}

sl_status sl_infer__walk_init(sl_infer__walk *w, const sl_infer *m, sl_pool *pool,
                              const sl_dataset *d, const sl_infer_options *o, int room) {
    *w = (sl_infer__walk){
        .model = m, .o = o, .pool = pool, .points = (int)d->rows, .inputs = d->inputs, .room = room
    };
    const size_t workers = (size_t)sl_par_pool_threads(pool);
    const size_t cells = (size_t)d->rows * (size_t)m->model->options.width;
    const size_t numbers = workers * SL_PREFIX_ROWS * SL_TOKEN_COUNT;
    w->memory = sl_malloc_aligned(cells, sizeof *w->memory);
    w->block = sl_malloc(2 * (size_t)room, sizeof *w->block);
    w->logits = sl_malloc_aligned(numbers, sizeof *w->logits);
    if (!w->memory || !w->block || !w->logits)
        return sl_fail_memory(2 * (size_t)room, sizeof *w->block, "samples");
    w->live = w->block;
    w->next = w->block + room;
    SL_TRY(encode(w, d));
    return sl_model_prefixes_new(&w->prefixes, m->decoder, w->points, (int)workers);
}

void sl_infer__walk_clear(sl_infer__walk *w) {
    sl_free(w->logits);
    sl_free(w->block);
    sl_free(w->memory);
    sl_model_prefixes_free(w->prefixes);
}

sl_status sl_infer__walk_begin(sl_infer__walk *w) {
    sl_infer__live *f = &w->live[0];
    sl_model_prefixes_begin(w->prefixes, w->memory, w->points);
    SL_TRY(sl_model_prefixes_add(&f->node, w->prefixes, -1, SL_TOKEN_START));
    sl_token_begin(&f->state, w->inputs);
    w->n_live = 1;
    w->at = 0;
    return SL_OK;
}

static sl_status run_fronts(int64_t begin, int64_t end, int worker, void *payload) {
    sl_infer__walk *w = payload;
    float *logits = w->logits + (size_t)worker * SL_PREFIX_ROWS * SL_TOKEN_COUNT;
    int node[SL_PREFIX_ROWS];
    const int first = (int)begin, n = (int)(end - begin);
    sl_infer__choice choice;
    SL_ASSERT(n > 0);
    for (int i = 0; i < n; i++) node[i] = w->live[first + i].node;
    sl_model_prefixes_run(logits, w->prefixes, node, n, worker);
    for (int i = 0; i < n; i++) {
        sl_token_set allowed;
        if (w->o->grammar)
            sl_token_next(&allowed, &w->live[first + i].state, (int)w->o->length - w->at);
        sl_infer__choice_make(&choice, logits + i * SL_TOKEN_COUNT, w->o,
                              w->o->grammar ? &allowed : NULL);
        w->use(w, first + i, &choice);
    }
    return SL_OK;
}

/* Rows are shared out evenly among threads, in whole tiles of nn's kernels; a row's result does not
 * depend on how. */
sl_status sl_infer__walk_step(sl_infer__walk *w) {
    enum { TILE = 6 };
    const int threads = sl_par_pool_threads(w->pool);
    int part = (w->n_live + threads - 1) / threads;
    part = SL_MIN(SL_PREFIX_ROWS, (part + TILE - 1) / TILE * TILE);
    if (w->cost) w->cost->rows += w->n_live;
    return sl_par_for(w->n_live > TILE ? w->pool : NULL, w->n_live, part, run_fronts, w);
}

sl_status sl_infer__walk_branch(sl_infer__walk *w, int to, int from, int token) {
    SL_ASSERT(to < w->room);
    sl_infer__live *f = &w->next[to];
    SL_TRY(sl_model_prefixes_add(&f->node, w->prefixes, w->live[from].node, token));
    if (!w->o->grammar) return SL_OK;
    f->state = w->live[from].state;
    SL_ASSERT(sl_token_push(&f->state, token) == SL_TOKEN_FINE);
    return SL_OK;
}

void sl_infer__walk_turn(sl_infer__walk *w, int n) {
    for (int i = 0; i < w->n_live; i++) sl_model_prefixes_drop(w->prefixes, w->live[i].node);
    sl_infer__live *live = w->live;
    w->live = w->next;
    w->next = live;
    w->n_live = n;
    w->at++;
}

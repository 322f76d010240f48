/* run - samples of a data set, and the loss of a target. */
#include <string.h>

#include "infer/infer_impl.h"

enum { BATCH = 512, MOST_BEAMS = 4096 };

sl_status sl_infer_run(sl_sampled *out, int64_t *made, sl_arena *a, const sl_infer *m,
                       sl_pool *pool, const sl_dataset *d, const sl_infer_options *o, int64_t first,
                       int64_t count, sl_infer_cost *cost, sl_infer_stop stop, void *payload) {
    SL_ASSERT(d->rows > 0 && d->inputs > 0 && first >= 0 && count >= 0);
    *made = 0;
    if (o->decode == SL_DECODE_GREEDY) count = SL_MIN(count, 1);
    if (o->decode == SL_DECODE_BEAM && count > MOST_BEAMS)
        return sl_fail(SL_EINVAL, "beam search keeps at most %d at a time", MOST_BEAMS);
    SL_TRY(sl_infer_options_check(o));
    if (count == 0) return SL_OK;
    const int64_t batch = o->decode == SL_DECODE_BEAM ? count : o->batch > 0 ? o->batch : BATCH;
    const double start = sl_clock();
    sl_infer__walk w;
    sl_status st = sl_infer__walk_init(&w, m, pool, d, o, (int)SL_MIN(count, batch));
    if (st != SL_OK) goto done;
    const double encoded = sl_clock();
    w.cost = cost;
    w.stop = stop;
    w.payload = payload;
    st = o->decode == SL_DECODE_BEAM ? sl_infer__beam(out, made, a, &w, first, count)
                                     : sl_infer__sample(out, made, a, &w, first, count);
    if (cost) {
        cost->encode += encoded - start;
        cost->decode += sl_clock() - encoded;
    }
done:
    sl_infer__walk_clear(&w);
    return st;
}

sl_status sl_infer_loss(double *out, const sl_infer *m, const sl_dataset *d, const sl_token *tokens,
                        int n) {
    SL_ASSERT(n >= 1 && n <= SL_TOKEN_MAX);
    sl_arena scratch = { 0 };
    sl_work *work = NULL;
    sl_infer__cells cells;
    sl_token ids[SL_TOKEN_MAX];
    const int begin[2] = { 0, n };
    const int64_t number = 0;
    sl_status st;
    SL_GO(sl_infer__cells_make(&cells, &scratch, m, d, 0, 0));
    SL_GO(sl_model_work_new(&work, m->model, 1, (int)d->rows, n, 0));
    ids[0] = SL_TOKEN_START;
    memcpy(ids + 1, tokens, (size_t)n - 1);
    cells.batch.ids = ids;
    cells.batch.targets = tokens;
    cells.batch.begin = begin;
    cells.batch.number = &number;
    *out = sl_model_pass(work, NULL, NULL, m->weights, &cells.batch, (sl_dropout){ 0 });
    st = sl_nn_gemm_status();
done:
    sl_model_work_free(work);
    sl_arena_clear(&scratch);
    return st;
}

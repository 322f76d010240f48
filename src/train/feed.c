/* feed - pairs as the model reads them: made at their own place, packed chunk by chunk.
 *
 * Making a pair writes one slot: its cells (target column first), which columns it has, its tokens.
 * Slots are independent, so pairs of the next batch are made by whichever thread is free. The model
 * wants the cells of a chunk with columns outermost and tokens end to end; that copy is made by the
 * thread that runs the chunk, into a buffer of its own, where it stays in the cache. */
#include <string.h>

#include "train/train_impl.h"

static size_t cells(const sl_train__feed *f) { return (size_t)f->columns * (size_t)f->points; }

/* ---------------------------------------------------------------- slots --------------------- */

int64_t sl_train__feed_bytes(const sl_train__shape *s, int64_t pairs) {
    const int64_t floats = 2 * (int64_t)s->columns * s->points;
    return pairs *
           (floats * (int64_t)sizeof(float) + (int64_t)sizeof(int) + s->columns + s->max_tokens);
}

sl_status sl_train__feed_new(sl_train__feed *f, const sl_train__shape *s, int64_t pairs) {
    *f = (sl_train__feed){
        .columns = s->columns, .points = s->points, .max_tokens = s->max_tokens, .pairs = (int)pairs
    };
    const size_t n = (size_t)pairs, floats = n * cells(f);
    const size_t bytes = (size_t)sl_train__feed_bytes(s, pairs);
    f->mantissa = sl_malloc_aligned(bytes, 1);
    if (!f->mantissa) return sl_fail_memory(bytes, 1, "the pairs of a batch");
    f->exponent = f->mantissa + floats;
    f->n_tokens = (int *)(void *)(f->exponent + floats);
    f->present = (uint8_t *)(f->n_tokens + n);
    f->tokens = f->present + n * (size_t)f->columns;
    return SL_OK;
}

void sl_train__feed_clear(sl_train__feed *f) {
    sl_free(f->mantissa);
    *f = (sl_train__feed){ 0 };
}

static void copy_slot(sl_train__feed *to, int at, const sl_train__feed *from, int slot) {
    const size_t n = cells(to), columns = (size_t)to->columns, tokens = (size_t)to->max_tokens;
    const size_t i = (size_t)at, k = (size_t)slot;
    memcpy(to->mantissa + i * n, from->mantissa + k * n, n * sizeof(float));
    memcpy(to->exponent + i * n, from->exponent + k * n, n * sizeof(float));
    memcpy(to->present + i * columns, from->present + k * columns, columns);
    memcpy(to->tokens + i * tokens, from->tokens + k * tokens, tokens);
    to->n_tokens[at] = from->n_tokens[slot];
}

sl_status sl_train__feed_make(sl_train__feed *f, int at, sl_arena *a,
                              const sl_train__source *source) {
    const int64_t index = f->first + at;
    if (!source->pairs) {
        copy_slot(f, at, source->stored, (int)(index % source->stored->pairs));
        return SL_OK;
    }
    sl_pair pair;
    sl_arena_rewind(a, 0);
    SL_TRY(sl_pairs_get(&pair, a, source->pairs, source->split, index));
    SL_ASSERT(pair.data.rows == f->points && pair.n_tokens <= f->max_tokens);
    const size_t place = (size_t)at * cells(f);
    sl_model_write_cells(f->mantissa + place, f->exponent + place,
                         f->present + (size_t)at * (size_t)f->columns, &pair.data, f->columns);
    memcpy(f->tokens + (size_t)at * (size_t)f->max_tokens, pair.tokens, (size_t)pair.n_tokens);
    f->n_tokens[at] = pair.n_tokens;
    return SL_OK;
}

void sl_train__feed_random(sl_train__feed *f, int at, int n, int vocabulary, uint64_t key) {
    sl_rng rng;
    sl_rng_init(&rng, key, 0, (uint64_t)at);
    const size_t count = cells(f), place = (size_t)at * count;
    for (size_t i = 0; i < count; i++) {
        const double sign = sl_rng_u32(&rng) & 1 ? 1 : -1;
        f->mantissa[place + i] = (float)(sign * sl_rng_range(&rng, 1, 10));
        f->exponent[place + i] = ((float)sl_rng_below(&rng, 5) - 2) / 10.0f;
    }
    memset(f->present + (size_t)at * (size_t)f->columns, 1, (size_t)f->columns);
    uint8_t *token = f->tokens + (size_t)at * (size_t)f->max_tokens;
    memset(token, SL_TOKEN_PAD, (size_t)f->max_tokens);
    for (int i = 0; i < n - 1; i++)
        token[i] = (uint8_t)(SL_TOKEN_END + 1 +
                             sl_rng_below(&rng, (uint32_t)(vocabulary - SL_TOKEN_END - 1)));
    token[n - 1] = SL_TOKEN_END;
    f->n_tokens[at] = n;
}

/* ---------------------------------------------------------------- chunks -------------------- */

/* Bytes of the room where a chunk is packed, floats first. */
static size_t room_bytes(const sl_train__shape *s) {
    const size_t pairs = (size_t)s->chunk, columns = (size_t)s->columns;
    return 2 * pairs * columns * (size_t)s->points * sizeof(float) + pairs * sizeof(int64_t) +
           (pairs + 1) * sizeof(int) + pairs * columns + 2 * (size_t)s->chunk_tokens;
}

int64_t sl_train__workspace_bytes(const sl_model *m, const sl_train__shape *s) {
    return (int64_t)(sizeof(sl_train__workspace) + room_bytes(s)) +
           sl_model_work_bytes(m, s->chunk, s->points, s->chunk_tokens, 0);
}

sl_status sl_train__workspace_new(sl_train__workspace *workspace, const sl_model *m,
                                  const sl_train__shape *s) {
    const size_t pairs = (size_t)s->chunk, columns = (size_t)s->columns;
    const size_t floats = pairs * columns * (size_t)s->points;
    workspace->mantissa = sl_malloc_aligned(room_bytes(s), 1);
    if (!workspace->mantissa) return sl_fail_memory(room_bytes(s), 1, "the pairs of a chunk");
    workspace->exponent = workspace->mantissa + floats;
    workspace->number =
        (int64_t *)(void *)(workspace->exponent + floats); // an even number of floats on
    workspace->begin = (int *)(workspace->number + pairs);
    workspace->present = (uint8_t *)(workspace->begin + pairs + 1);
    workspace->ids = workspace->present + pairs * columns;
    workspace->targets = workspace->ids + s->chunk_tokens;
    return sl_model_work_new(&workspace->work, m, s->chunk, s->points, s->chunk_tokens, 0);
}

void sl_train__workspace_clear(sl_train__workspace *workspace) {
    sl_free(workspace->mantissa);
    sl_model_work_free(workspace->work);
    workspace->mantissa = NULL;
    workspace->work = NULL;
}

/* How many pairs from `from` on make the next chunk: as many as fit by number and by tokens. Where
 * it is cut depends on the pairs alone. */
static int next_chunk(const sl_train__shape *s, const sl_train__feed *f, int from, int to) {
    int n = 0, tokens = 0;
    while (n < s->chunk && from + n < to && tokens + f->n_tokens[from + n] <= s->chunk_tokens)
        tokens += f->n_tokens[from + n++];
    SL_ASSERT(n > 0); // no target is longer than a chunk may be
    return n;
}

static sl_batch pack(sl_train__workspace *workspace, const sl_train__feed *f, int from, int n) {
    const size_t columns = (size_t)f->columns, points = (size_t)f->points, pairs = (size_t)n;
    const size_t bytes = points * sizeof(float);
    bool all = true;
    workspace->begin[0] = 0;
    for (size_t i = 0; i < pairs; i++) {
        const size_t slot = (size_t)from + i;
        for (size_t c = 0; c < columns; c++) {
            const size_t here = slot * cells(f) + c * points, there = (c * pairs + i) * points;
            memcpy(workspace->mantissa + there, f->mantissa + here, bytes);
            memcpy(workspace->exponent + there, f->exponent + here, bytes);
            workspace->present[c * pairs + i] = f->present[slot * columns + c];
            all = all && f->present[slot * columns + c];
        }
        // the decoder reads the start token and what stands before each target
        const uint8_t *tokens = f->tokens + slot * (size_t)f->max_tokens;
        const int begin = workspace->begin[i], count = f->n_tokens[slot];
        memcpy(workspace->targets + begin, tokens, (size_t)count);
        workspace->ids[begin] = SL_TOKEN_START;
        memcpy(workspace->ids + begin + 1, tokens, (size_t)count - 1);
        workspace->begin[i + 1] = begin + count;
        workspace->number[i] = f->first + (int64_t)slot;
    }
    return (sl_batch){ .pairs = n,
                       .points = f->points,
                       .mantissa = workspace->mantissa,
                       .exponent = workspace->exponent,
                       .present = all ? NULL : workspace->present,
                       .ids = workspace->ids,
                       .targets = workspace->targets,
                       .begin = workspace->begin,
                       .number = workspace->number };
}

double sl_train__run_pairs(sl_train__workspace *workspace, float *grad, int64_t *tokens,
                           const float *weights, const sl_train__shape *s, const sl_train__feed *f,
                           int from, int to, sl_dropout dropout) {
    double loss = 0;
    while (from < to) {
        const int n = next_chunk(s, f, from, to);
        const sl_batch b = pack(workspace, f, from, n);
        loss += sl_model_pass(workspace->work, grad, NULL, weights, &b, dropout);
        *tokens += b.begin[n];
        from += n;
    }
    return loss;
}

/* pieces - tensors are cut into pieces, pieces shared out to ranks; the state that belongs to them.
 */
#include <string.h>

#include "optim/optim.h"

/* ---------------------------------------------------------------- cutting ------------------- */

/* Walks over the pieces of some tensors. */
typedef struct walk {
    const sl_tensor *tensors;
    int n_tensor, tensor;
    int64_t in_tensor; // numbers of it that were passed,
    int64_t passed;    // and of all
    int n_piece;       // pieces that were passed
} walk;

static bool next_piece(sl_piece *p, walk *w) {
    if (w->tensor == w->n_tensor) return false;
    const sl_tensor *t = &w->tensors[w->tensor];
    *p = (sl_piece){ .tensor = w->tensor,
                     .offset = t->offset + w->in_tensor,
                     .count = (int)SL_MIN(t->count - w->in_tensor, SL_PIECE) };
    w->in_tensor += p->count;
    w->passed += p->count;
    w->n_piece++;
    if (w->in_tensor == t->count) {
        w->tensor++;
        w->in_tensor = 0;
    }
    return true;
}

static int64_t count_numbers(const sl_tensor *tensors, int n_tensor) {
    int64_t n = 0, end = 0;
    for (int i = 0; i < n_tensor; i++) {
        SL_ASSERT(tensors[i].count > 0 && tensors[i].offset >= end); // in order, none empty
        end = tensors[i].offset + tensors[i].count;
        n += tensors[i].count;
    }
    return n;
}

static int count_pieces(const sl_tensor *tensors, int n_tensor) {
    int64_t n = 0;
    for (int i = 0; i < n_tensor; i++) n += (tensors[i].count - 1) / SL_PIECE + 1;
    SL_ASSERT(n <= INT32_MAX);
    return (int)n;
}

/* Where share r begins: number of the block, and piece. All numbers in order are divided evenly
 * among ranks, and a piece belongs to the rank whose part has its middle. So shares differ by at
 * most a piece from equal ones, and with more ranks than pieces some are empty. Numbers between
 * tensors belong to the piece before. */
static int64_t share_begin(int64_t *piece, const sl_tensor *tensors, int n_tensor, int r,
                           int ranks) {
    const double part = (double)count_numbers(tensors, n_tensor) / ranks;
    walk w = { .tensors = tensors, .n_tensor = n_tensor };
    sl_piece p = { 0 };
    while (next_piece(&p, &w)) {
        const double middle = (double)w.passed - 0.5 * p.count;
        if (r < ranks && middle >= part * r) {
            *piece = w.n_piece - 1;
            return p.offset;
        }
    }
    *piece = w.n_piece;
    return p.offset + p.count;
}

void sl_optim_shares(int64_t *begin, const sl_tensor *tensors, int n_tensor, int ranks) {
    int64_t piece;
    for (int r = 0; r <= ranks; r++) begin[r] = share_begin(&piece, tensors, n_tensor, r, ranks);
}

/* ---------------------------------------------------------------- state --------------------- */

int64_t sl_optim_bytes(const sl_tensor *tensors, int n_tensor, int rank, int ranks) {
    int64_t piece;
    const int64_t begin = share_begin(&piece, tensors, n_tensor, rank, ranks);
    const int64_t end = share_begin(&piece, tensors, n_tensor, rank + 1, ranks);
    const size_t per_piece = sizeof(sl_piece) + sizeof(double);
    const size_t per_tensor = sizeof(sl_tensor) + sizeof(sl_cpr);
    return (int64_t)(sizeof(sl_optim) + (size_t)n_tensor * per_tensor +
                     (size_t)count_pieces(tensors, n_tensor) * per_piece +
                     ((size_t)ranks + 1) * sizeof(int64_t) +
                     (size_t)(end - begin) * 2 * sizeof(float));
}

static sl_status allocate(sl_optim *s) {
    const size_t n = (size_t)(s->end - s->begin);
    s->tensor = sl_malloc((size_t)s->n_tensor, sizeof *s->tensor);
    s->cpr = sl_malloc((size_t)s->n_tensor, sizeof *s->cpr);
    s->piece = sl_malloc((size_t)s->n_piece, sizeof *s->piece);
    s->sum = sl_calloc((size_t)s->n_piece, sizeof *s->sum);
    s->share = sl_malloc((size_t)s->ranks + 1, sizeof *s->share);
    if (!s->tensor || !s->cpr || !s->piece || !s->sum || !s->share)
        return sl_fail_memory((size_t)s->n_piece, sizeof *s->piece, "pieces of tensors");
    s->m = sl_malloc_aligned(n, sizeof *s->m);
    s->v = sl_malloc_aligned(n, sizeof *s->v);
    if (!s->m || !s->v) return sl_fail_memory(n, 2 * sizeof *s->m, "moments of the optimiser");
    memset(s->m, 0, n * sizeof *s->m);
    memset(s->v, 0, n * sizeof *s->v);
    return SL_OK;
}

sl_status sl_optim_new(sl_optim **out, const sl_tensor *tensors, int n_tensor,
                       const sl_optim_options *o, int64_t steps, int rank, int ranks) {
    SL_ASSERT(n_tensor >= 0 && steps >= 0 && rank >= 0 && rank < ranks);
    SL_TRY(sl_optim_options_check(o));
    sl_optim *s = sl_calloc(1, sizeof *s);
    if (!s) return sl_fail_memory(1, sizeof *s, "an optimiser");
    int64_t first, last;
    s->options = *o;
    s->steps = steps;
    s->rank = rank;
    s->ranks = ranks;
    s->n_tensor = n_tensor;
    s->n_piece = count_pieces(tensors, n_tensor);
    s->begin = share_begin(&first, tensors, n_tensor, rank, ranks);
    s->end = share_begin(&last, tensors, n_tensor, rank + 1, ranks);
    s->first = (int)first;
    s->last = (int)last;
    sl_status st = allocate(s);
    if (st != SL_OK) {
        sl_optim_free(s);
        return st;
    }

    walk w = { .tensors = tensors, .n_tensor = n_tensor };
    for (int i = 0; i < s->n_piece; i++) next_piece(&s->piece[i], &w);
    for (int r = 0; r <= ranks; r++) share_begin(&s->share[r], tensors, n_tensor, r, ranks);
    if (n_tensor > 0) memcpy(s->tensor, tensors, (size_t)n_tensor * sizeof *tensors);
    const bool known = o->optimizer == SL_OPTIM_ADAMCPR && o->kappa_init == SL_KAPPA_UNIFORM;
    for (int i = 0; i < n_tensor; i++)
        s->cpr[i] = (sl_cpr){ .set_at = known && tensors[i].regularised ? 0 : -1,
                              .kappa = known ? o->kappa_param : 0 };
    *out = s;
    return SL_OK;
}

void sl_optim_free(sl_optim *s) {
    if (!s) return;
    sl_free(s->tensor);
    sl_free(s->cpr);
    sl_free(s->piece);
    sl_free(s->sum);
    sl_free(s->share);
    sl_free(s->m);
    sl_free(s->v);
    sl_free(s);
}

/* Pieces and shares: every number belongs to one piece and one rank, shares are nearly equal, and
 * ranks that only exchange sums compute what one computes. The ranks here are threads; optim.ranks
 * has real ones. */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "fixture/fixture.h"
#include "optim/optim_impl.h"

enum { MAX_TENSORS = 40, MAX_RANKS = 7 };

/* Tensors at multiples of 16 as the model has them, small and large ones. */
static int random_tensors(sl_tensor *out, sl_fixture *t, int64_t *end) {
    int n = 1 + (int)sl_rng_below(&t->rng, MAX_TENSORS);
    int64_t at = 0;
    for (int i = 0; i < n; i++) {
        uint32_t most = sl_rng_below(&t->rng, 3) ? 300 : 4 * SL_PIECE;
        int64_t count = 1 + sl_rng_below(&t->rng, most);
        if (sl_rng_below(&t->rng, 8) == 0) count = SL_PIECE * (1 + sl_rng_below(&t->rng, 2));
        out[i] = (sl_tensor){ at, count, sl_rng_below(&t->rng, 2) == 0 };
        *end = at + count;
        at = (*end + 15) & ~INT64_C(15);
    }
    return n;
}

static void judge_pieces(sl_fixture *t, const sl_optim *s, const sl_tensor *tensors, int n) {
    int at = 0;
    for (int k = 0; k < n; k++) {
        int64_t covered = 0;
        while (at < s->n_piece && s->piece[at].tensor == k) {
            const sl_piece *p = &s->piece[at++];
            SL_CHECK(
                t, p->offset == tensors[k].offset + covered && p->count > 0 && p->count <= SL_PIECE,
                "piece %d at %d", at - 1, (int)p->offset);
            covered += p->count;
        }
        SL_CHECK(t, covered == tensors[k].count, "tensor %d", k);
        assert_memory_equal(&s->tensor[k], &tensors[k], sizeof tensors[k]);
    }
    assert_int_equal(at, s->n_piece);
}

static void judge_shares(sl_fixture *t, const sl_tensor *tensors, int n, int64_t end, int ranks) {
    sl_optim_options o = sl_optim_defaults();
    int64_t begin[64], all = 0;
    for (int i = 0; i < n; i++) all += tensors[i].count;
    sl_optim_shares(begin, tensors, n, ranks);
    assert_int_equal(begin[0], 0);
    assert_int_equal(begin[ranks], end);
    int next = 0; // piece that must come next
    for (int r = 0; r < ranks; r++) {
        sl_optim *s;
        int64_t before = sl_mem_bytes();
        SL_MUST(t, sl_optim_new(&s, tensors, n, &o, 100, r, ranks));
        int64_t took = sl_mem_bytes() - before, counted = sl_optim_bytes(tensors, n, r, ranks);
        // beside it: what the C library rounds up, a page for each of the wide blocks
        SL_CHECK(t, took >= counted && took < counted + 9 * 32 + 2 * (2 << 20),
                 "takes %d, counted %d", (int)took, (int)counted);
        judge_pieces(t, s, tensors, n);
        assert_true(s->rank == r && s->ranks == ranks && s->t == 0);
        SL_CHECK(t, s->first == next && s->last >= s->first, "rank %d: pieces %d to %d", r,
                 s->first, s->last);
        next = s->last;
        assert_true(s->share[r] == s->first && s->share[r + 1] == s->last);
        SL_CHECK(t, s->begin == begin[r] && s->end == begin[r + 1], "rank %d: numbers %d to %d", r,
                 (int)s->begin, (int)s->end);
        int64_t numbers = 0;
        for (int i = s->first; i < s->last; i++) {
            const sl_piece *p = &s->piece[i];
            assert_true(p->offset >= s->begin && p->offset + p->count <= s->end);
            numbers += p->count;
        }
        SL_CHECK(t, numbers <= all / ranks + SL_PIECE + 1 && numbers >= all / ranks - SL_PIECE - 1,
                 "rank %d of %d has %d of %d numbers", r, ranks, (int)numbers, (int)all);
        for (int64_t i = 0; i < s->end - s->begin; i++) assert_true(s->m[i] == 0 && s->v[i] == 0);
        sl_optim_free(s);
    }
    sl_optim *s;
    SL_MUST(t, sl_optim_new(&s, tensors, n, &o, 100, 0, 1));
    assert_int_equal(next, s->n_piece);
    sl_optim_free(s);
}

static void shares_cover_every_number_once(void **state) {
    sl_fixture *t = *state;
    sl_tensor tensors[MAX_TENSORS];
    for (int i = 0; i < sl_test_iters(t, 12); i++) {
        int64_t end = 0;
        int n = random_tensors(tensors, t, &end);
        judge_shares(t, tensors, n, end, 1 + i % MAX_RANKS);
    }
    const sl_tensor one = { 0, 5, true }; // most ranks have nothing
    for (int ranks = 1; ranks <= MAX_RANKS; ranks++) judge_shares(t, &one, 1, 5, ranks);
    const sl_tensor even = { 0, 6 * SL_PIECE, true };
    int64_t begin[4];
    sl_optim_shares(begin, &even, 1, 3);
    for (int r = 0; r <= 3; r++) assert_int_equal(begin[r], 2 * r * SL_PIECE);
}

static void no_tensors_are_no_work(void **state) {
    sl_fixture *t = *state;
    sl_optim_options o = sl_optim_defaults();
    sl_optim *s;
    sl_optim_report r;
    int64_t begin[3];
    sl_optim_shares(begin, NULL, 0, 2);
    assert_true(begin[0] == 0 && begin[1] == 0 && begin[2] == 0);
    SL_MUST(t, sl_optim_new(&s, NULL, 0, &o, 1, 0, 1));
    SL_MUST(t, sl_optim_step(&r, s, NULL, NULL, NULL, 1));
    assert_true(r.grad_norm == 0);
    sl_optim_free(s);
}

/* ---------------------------------------------------------------- ranks as threads ---------- */

enum { STEPS = 14 };

typedef struct team {
    int ranks, n;
    const sl_tensor *tensors;
    sl_optim_options options;
    float *weights;     // one block: each changes its share
    const float *first; // weights before
    uint64_t seed;
    int64_t end;
    pthread_barrier_t barrier;
    sl_optim *member[MAX_RANKS];
    _Atomic int wrong;
} team;

static team *now; // the exchange has no payload

/* All-gather of the sums: each rank copies the pieces of the others. */
static sl_status exchange(sl_optim *s) {
    pthread_barrier_wait(&now->barrier);
    for (int r = 0; r < now->ranks; r++) {
        const sl_optim *other = now->member[r];
        for (int i = other->first; i < other->last && other != s; i++) s->sum[i] = other->sum[i];
    }
    pthread_barrier_wait(&now->barrier);
    return SL_OK;
}

static void *be_rank(void *payload) {
    sl_optim *s = payload;
    team *y = now;
    float *grad = sl_malloc((size_t)y->end, sizeof *grad);
    if (!grad) abort();
    for (int step = 0; step < STEPS; step++) {
        // every rank has the gradient of its own share alone right
        for (int64_t i = 0; i < y->end; i++) grad[i] = 1e30f;
        for (int i = 0; i < s->n_piece; i++) s->sum[i] = 1e300;
        for (int i = s->first; i < s->last; i++) {
            const sl_piece *p = &s->piece[i];
            sl_rng rng;
            sl_rng_init(&rng, y->seed, (uint32_t)step, (uint64_t)i);
            for (int64_t k = p->offset; k < p->offset + p->count; k++)
                grad[k] = (float)(sl_rng_uniform(&rng) - 0.5) - (y->first[k] > 0 ? 0.3f : -0.3f);
            s->sum[i] = sl_optim__base.squares(grad + p->offset, p->count);
        }
        const sl_optim__arrays a = { &sl_optim__base, y->weights, s->m, s->v, grad };
        sl_optim_report r;
        if (sl_optim__step(&r, s, NULL, &a, 0.01, exchange) != SL_OK) y->wrong++;
    }
    sl_free(grad);
    return NULL;
}

static uint64_t run_team(sl_fixture *t, team *y, int ranks) {
    y->ranks = ranks;
    memcpy(y->weights, y->first, (size_t)y->end * sizeof *y->weights);
    pthread_barrier_init(&y->barrier, NULL, (unsigned)ranks);
    pthread_t thread[MAX_RANKS];
    now = y;
    for (int r = 0; r < ranks; r++)
        SL_MUST(t, sl_optim_new(&y->member[r], y->tensors, y->n, &y->options, STEPS, r, ranks));
    for (int r = 0; r < ranks; r++)
        assert_int_equal(pthread_create(&thread[r], NULL, be_rank, y->member[r]), 0);
    for (int r = 0; r < ranks; r++) pthread_join(thread[r], NULL);
    pthread_barrier_destroy(&y->barrier);
    assert_int_equal(y->wrong, 0);
    uint64_t h = sl_hash(y->weights, (size_t)y->end * sizeof *y->weights, 0), moments = 0;
    for (int r = 0; r < ranks; r++) {
        sl_optim *s = y->member[r];
        // moments of single numbers, so that the cut between ranks does not show
        for (int64_t i = 0; i < s->end - s->begin; i++)
            moments = moments * 31 + sl_hash(&s->v[i], sizeof *s->v, 0);
        for (int k = 0; k < y->n && r > 0; k++) // all ranks keep the same constraints
            assert_true(s->cpr[k].lambda == y->member[0]->cpr[k].lambda &&
                        s->cpr[k].kappa == y->member[0]->cpr[k].kappa &&
                        s->cpr[k].set_at == y->member[0]->cpr[k].set_at);
    }
    for (int r = 0; r < ranks; r++) sl_optim_free(y->member[r]);
    return h ^ moments;
}

static void ranks_do_not_change_a_bit(void **state) {
    sl_fixture *t = *state;
    sl_tensor tensors[MAX_TENSORS];
    static const int hows[] = { SL_KAPPA_INFLECTION, SL_KAPPA_DEPENDENT };
    for (int how = 0; how < SL_LEN(hows); how++) {
        team y = { .tensors = tensors, .seed = t->seed, .options = sl_optim_defaults() };
        y.n = random_tensors(tensors, t, &y.end);
        if (y.n > 6) y.n = 6;
        tensors[0].regularised = true;
        y.end = tensors[y.n - 1].offset + tensors[y.n - 1].count;
        y.options.lr = 0.003;
        y.options.kappa_steps = 2;
        y.options.kappa_init = hows[how];
        y.options.kappa_param = 0.9;
        y.options.kappa_update = 0.01;
        y.weights = sl_malloc((size_t)y.end, sizeof *y.weights);
        float *first = sl_calloc((size_t)y.end, sizeof *first);
        assert_true(y.weights && first);
        for (int k = 0; k < y.n; k++)
            for (int64_t i = 0; i < tensors[k].count; i++)
                first[tensors[k].offset + i] = (float)(0.2 * sl_rng_normal(&t->rng));
        y.first = first;
        uint64_t one = run_team(t, &y, 1);
        for (int ranks = 2; ranks <= MAX_RANKS; ranks++)
            SL_CHECK(t, run_team(t, &y, ranks) == one, "%d ranks", ranks);
        sl_free(y.weights);
        sl_free(first);
    }
}

/* ---------------------------------------------------------------- sums of blocks ------------ */

/* Of all pieces, and of a share's alone from blocks that begin with it: the same numbers and sums
 * of squares, and nothing else is written. */
static void sums_are_by_pieces(void **state) {
    sl_fixture *t = *state;
    enum { BLOCKS = 4, RANKS = 3 };
    sl_optim_options o = sl_optim_defaults();
    sl_tensor tensors[MAX_TENSORS];
    int64_t end;
    const int n = random_tensors(tensors, t, &end);
    float *block[BLOCKS + 2];
    for (int b = 0; b < SL_LEN(block); b++) {
        block[b] = sl_malloc((size_t)end, sizeof *block[b]);
        assert_non_null(block[b]);
        for (int64_t i = 0; i < end; i++) block[b][i] = (float)sl_rng_normal(&t->rng);
    }
    float *whole = block[BLOCKS], *part = block[BLOCKS + 1];
    sl_optim *one, *s;
    SL_MUST(t, sl_optim_new(&one, tensors, n, &o, 100, 0, 1));
    SL_MUST(t, sl_optim_sum(whole, one, NULL, (const float **)block, BLOCKS, false));
    for (int i = 0; i < one->n_piece; i++) {
        const sl_piece *p = &one->piece[i];
        double squares = 0;
        for (int64_t at = p->offset; at < p->offset + p->count; at++) {
            const float sum = (block[0][at] + block[1][at]) + (block[2][at] + block[3][at]);
            SL_CHECK(t, whole[at] == sum, "number %lld", (long long)at);
            squares += (double)sum * sum;
        }
        SL_CHECK(t, fabs(one->sum[i] - squares) <= 1e-12 * squares, "piece %d", i);
    }
    for (int r = 0; r < RANKS; r++) {
        const float *from[BLOCKS];
        SL_MUST(t, sl_optim_new(&s, tensors, n, &o, 100, r, RANKS));
        for (int b = 0; b < BLOCKS; b++) from[b] = block[b] + s->begin;
        for (int64_t i = 0; i < end; i++) part[i] = 7;
        SL_MUST(t, sl_optim_sum(part, s, NULL, from, BLOCKS, true));
        for (int i = 0; i < s->n_piece; i++) {
            const sl_piece *p = &s->piece[i];
            const bool mine = i >= s->first && i < s->last;
            SL_CHECK(t, s->sum[i] == (mine ? one->sum[i] : 0), "rank %d, piece %d", r, i);
            for (int64_t at = p->offset; at < p->offset + p->count; at++)
                SL_CHECK(t, part[at] == (mine ? whole[at] : 7), "rank %d, number %lld", r,
                         (long long)at);
        }
        sl_optim_free(s);
    }
    sl_optim_free(one);
    for (int b = 0; b < SL_LEN(block); b++) sl_free(block[b]);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(shares_cover_every_number_once),
        SL_TEST(no_tensors_are_no_work),
        SL_TEST(ranks_do_not_change_a_bit),
        SL_TEST(sums_are_by_pieces),
    };
    return sl_test_main("optim.shares", tests, SL_LEN(tests));
}

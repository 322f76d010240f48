/* pairs - one pair, step by step, and the handle that makes it. */
#include "pairs/pairs.h"
#include "num/num.h"

#include <math.h>
#include <string.h>

#include "pairs/pairs_impl.h"

/* ---------------------------------------------------------------- expression ---------------- */

/* The columns of the pair: all, or only those the expression uses. */
static void choose_columns(sl_pair *out, uint64_t used, int variables, bool leave_out) {
    out->data.inputs = 0;
    for (int v = 0; v < variables; v++)
        if (!leave_out || used >> v & 1) out->column[out->data.inputs++] = v + 1;
}

/* *out := e with each variable called by its column. The order of variables stays, and with it the
 * order of operands. */
static sl_status rename_variables(const sl_node **out, sl_arena *a, const sl_node *e,
                                  const sl_pair *pair) {
    sl_node *r = sl_arena_alloc(a, e->len * sizeof *r);
    if (!r) return sl_fail_memory(e->len, sizeof *r, "an expression");
    memcpy(r, e, e->len * sizeof *r);
    for (uint32_t i = 0; i < r->len; i += sl_expr_step(&r[i])) {
        if (r[i].op != SL_OP_VAR) continue;
        int c = 0;
        while (pair->column[c] != r[i].arg) c++;
        r[i].arg = (uint16_t)(c + 1);
    }
    *out = r;
    return SL_OK;
}

static sl_status make_tokens(sl_pair *out, sl_pair_failure *failure, sl_arena *a,
                             const sl_pairs_options *o) {
    sl_token ids[SL_TOKEN_MAX], *kept;
    sl_str text = { 0 };
    sl_status st = sl_token_from_expr(ids, &out->n_tokens, (int)o->max_tokens, out->expr, &text);
    sl_str_clear(&text);
    if (st == SL_ELIMIT) {
        *failure = SL_PAIR_TOKENS;
        return SL_OK;
    }
    SL_TRY(st);
    kept = sl_arena_alloc(a, (size_t)out->n_tokens);
    if (!kept) return sl_fail_memory((size_t)out->n_tokens, 1, "tokens");
    memcpy(kept, ids, (size_t)out->n_tokens);
    out->tokens = kept;
    return SL_OK;
}

/* ---------------------------------------------------------------- data ---------------------- */

/* A table being filled: `points` rows of all variables and y, the first `have` of them good. */
typedef struct table {
    double *x[SL_PAIRS__MAX_COLUMNS], *y;
    int have;
} table;

static sl_status table_new(table *t, sl_arena *a, int points, int variables) {
    size_t n = (size_t)points * (size_t)(variables + 1);
    double *block = sl_arena_alloc(a, n * sizeof *block);
    if (!block) return sl_fail_memory(n, sizeof *block, "a data set");
    for (int v = 0; v < variables; v++) t->x[v] = block + v * points;
    t->y = block + variables * points;
    t->have = 0;
    return SL_OK;
}

/* Appends the rows of `from` whose y is valid, as long as there is room; from may be t. Returns how
 * many of the rows were valid. */
static int take_valid(table *t, const table *from, int points, int variables, double limit) {
    int invalid = 0;
    for (int i = 0; i < points; i++) invalid += !(fabs(from->y[i]) < limit); // also NaN
    if (from == t) {
        if (invalid == 0) return t->have = points; // all are where they belong
        t->have = 0;
    }
    for (int i = 0; i < points && t->have < points; i++) {
        if (!(fabs(from->y[i]) < limit)) continue;
        for (int v = 0; v < variables; v++) t->x[v][t->have] = from->x[v][i];
        t->y[t->have++] = from->y[i];
    }
    return points - invalid;
}

/* What raw columns are made by: x -> factor x + offset. */
typedef struct raw {
    double factor[SL_PAIRS__MAX_COLUMNS], offset[SL_PAIRS__MAX_COLUMNS];
    bool on;
} raw;

static void draw_raw(raw *r, sl_rng *rng, const sl_pairs_options *o, int variables) {
    r->on = o->shift > 0 || o->stretch > 1;
    if (!r->on) return;
    for (int v = 0; v < variables; v++) {
        r->offset[v] = o->shift * sl_rng_range(rng, -1, 1);
        r->factor[v] = sl_exp(sl_log(o->stretch) * sl_rng_range(rng, -1, 1));
    }
}

static void apply_raw(const raw *r, double *const *x, int points, int variables) {
    for (int v = 0; v < variables && r->on; v++)
        for (int i = 0; i < points; i++) x[v][i] = x[v][i] * r->factor[v] + r->offset[v];
}

/* The first draw, before points are dropped. The mixture is copied, because a whole retry draws
 * another. */
static void trace_draw(sl_pairs__trace *t, const sl_mixture *m, double *const *x, int points,
                       int variables) {
    t->drawn = true;
    memcpy(t->mixture, m, sizeof *m + (size_t)m->clusters * sizeof m->cluster[0]);
    for (int v = 0; v < variables; v++) {
        t->mean[v] = sl_num_mean(x[v], points);
        t->variance[v] =
            sl_num_variance(x[v], points) * (points - 1) / points; // of all, not a sample
    }
}

static void add_noise(sl_pair *out, double *y, sl_rng *rng, const sl_pairs_options *o) {
    if (o->noise == 0) return;
    out->noise = o->noise * sl_rng_uniform(rng);
    double squares = 0;
    for (int i = 0; i < o->points; i++) squares += y[i] * y[i];
    double scale = out->noise * sqrt(squares / (double)o->points);
    for (int i = 0; i < o->points; i++) y[i] += scale * sl_rng_normal(rng);
}

static bool has_spread(const double *y, int n, double least) {
    double lo = y[0], hi = y[0];
    for (int i = 1; i < n; i++) {
        if (y[i] < lo) lo = y[i];
        if (y[i] > hi) hi = y[i];
    }
    double largest = SL_MAX(fabs(lo), fabs(hi));
    return hi > lo && hi - lo >= least * largest;
}

/* The streams of one attempt. */
typedef struct streams {
    sl_rng mixture, counts, points, columns, noise;
} streams;

static void streams_init(streams *s, const sl_pairs *p, sl_split split, uint64_t number,
                         int attempt) {
    sl_pairs__rng(&s->columns, p, split, number, attempt, SL_PAIRS__PURPOSE_COLUMNS);
    sl_pairs__rng(&s->mixture, p, split, number, attempt, SL_PAIRS__PURPOSE_MIXTURE);
    sl_pairs__rng(&s->counts, p, split, number, attempt, SL_PAIRS__PURPOSE_COUNTS);
    sl_pairs__rng(&s->points, p, split, number, attempt, SL_PAIRS__PURPOSE_POINTS);
    sl_pairs__rng(&s->noise, p, split, number, attempt, SL_PAIRS__PURPOSE_NOISE);
}

/* Rows with a valid y: from one mixture, or whole data sets until one is good throughout. */
static sl_status fill(table *t, sl_pair *out, sl_mixture *m, sl_pairs__trace *trace,
                      sl_arena *scratch, const sl_pairs *p, streams *s) {
    const sl_pairs_options *o = &p->options;
    const int N = (int)o->points, D = p->variables;
    const bool whole = o->retry == SL_PAIRS_RETRY_WHOLE;
    const sl_program *program;
    const double *column[SL_PAIRS__MAX_COLUMNS];
    raw shape;
    draw_raw(&shape, &s->columns, o, D);
    SL_TRY(sl_expr_compile(&program, scratch, out->expr));

    table more; // where draws after the first go
    for (out->tries = 1; out->tries <= o->tries; out->tries++) {
        const bool first = out->tries == 1;
        if (out->tries == 2 && !whole) SL_TRY(table_new(&more, scratch, N, D));
        table *d = first || whole ? t : &more;
        if (first || whole) sl_pairs__mixture(m, &s->mixture, &s->counts, o, D);
        SL_TRY(sl_pairs__draw(d->x, scratch, &s->points, m, o, D));
        if (trace && first) trace_draw(trace, m, d->x, N, D);
        apply_raw(&shape, d->x, N, D);
        for (int c = 0; c < out->data.inputs; c++) column[c] = d->x[out->column[c] - 1];
        SL_TRY(sl_expr_program_run(d->y, program, column, N, NULL, scratch));
        int valid = take_valid(t, d, N, D, o->max_y);
        if (trace && first) trace->invalid = N - valid;
        if (t->have == N) return SL_OK;
    }
    out->tries = (int)o->tries;
    return SL_OK;
}

static sl_status mixture_new(sl_mixture **out, sl_arena *a, int64_t clusters) {
    *out = sl_arena_alloc(a, sizeof **out + (size_t)clusters * sizeof(*out)->cluster[0]);
    if (!*out) return sl_fail_memory((size_t)clusters, sizeof(*out)->cluster[0], "a mixture");
    return SL_OK;
}

static sl_status make_data(sl_pair *out, sl_pair_failure *failure, sl_pairs__trace *trace,
                           sl_arena *a, const sl_pairs *p, streams *s) {
    const sl_pairs_options *o = &p->options;
    table t;
    sl_mixture *m;
    SL_TRY(mixture_new(&m, a, o->clusters));
    if (trace) SL_TRY(mixture_new(&trace->mixture, a, o->clusters));
    out->mixture = m;
    const int N = (int)o->points;
    SL_TRY(table_new(&t, a, N, p->variables));
    out->data.rows = N;
    out->data.y = t.y;
    for (int c = 0; c < out->data.inputs; c++) out->data.x[c] = t.x[out->column[c] - 1];

    const size_t mark = sl_arena_mark(a);
    SL_TRY(fill(&t, out, m, trace, a, p, s));
    sl_arena_rewind(a, mark);
    if (t.have < N)
        *failure = SL_PAIR_POINTS;
    else if (!has_spread(t.y, N, o->min_spread))
        *failure = SL_PAIR_SPREAD;
    else
        add_noise(out, t.y, &s->noise, o);
    return SL_OK;
}

/* ---------------------------------------------------------------- attempts ------------------ */

sl_status sl_pairs__attempt(sl_pair *out, sl_pair_failure *failure, sl_pairs__trace *trace,
                            sl_arena *a, const sl_pairs *p, const sl_pairs__start *start,
                            sl_split split, int attempt) {
    const sl_pairs_options *o = &p->options;
    const int64_t at = (start->first + attempt / SL_PAIRS__ATTEMPTS_PER_BASE) % start->n_list;
    const int64_t index = start->list[at];
    const sl_node *base = sl_universe_get(p->universe, index);
    sl_rng rng;
    streams s;
    *out = (sl_pair){ .split = split, .base = index, .attempts = attempt + 1 };
    *failure = SL_PAIR_NONE;
    if (trace) *trace = (sl_pairs__trace){ .drawn = false };

    // the expression
    sl_pair_site *site = sl_arena_alloc(a, base->len * sizeof *site); // no more sites than nodes
    if (!site) return sl_fail_memory(base->len, sizeof *site, "constants");
    sl_pairs__rng(&rng, p, split, start->number, attempt, SL_PAIRS__PURPOSE_CONSTANTS);
    sl_status st = sl_pairs__insert(&out->expr, site, &out->n_sites, a, base, &rng, o);
    out->site = site;
    if (st == SL_EOVERFLOW || st == SL_ELIMIT) {
        *failure = SL_PAIR_OVERFLOW;
        return SL_OK;
    }
    SL_TRY(st);
    uint64_t used = sl_expr_variables(base);
    if (sl_expr_variables(out->expr) != used) {
        *failure = SL_PAIR_LOST;
        return SL_OK;
    }

    // its columns
    streams_init(&s, p, split, start->number, attempt);
    bool leave_out = sl_rng_uniform(&s.columns) < o->drop_column;
    choose_columns(out, used, p->variables, leave_out);
    if (out->data.inputs < p->variables) SL_TRY(rename_variables(&out->expr, a, out->expr, out));

    // its data
    SL_TRY(make_data(out, failure, trace, a, p, &s));
    if (*failure) return SL_OK;

    // last, since data sets fail more often than targets are too long
    return make_tokens(out, failure, a, o);
}

sl_status sl_pairs__redraw(bool *good, sl_arena *a, const sl_pairs *p, const sl_pair *pair,
                           uint64_t number, int attempt) {
    // counters that no attempt at a pair has
    SL_ASSERT(attempt >= 0 && attempt < SL_PAIRS__REDRAW);
    sl_pair twin = *pair;
    sl_pair_failure failure = SL_PAIR_NONE;
    streams s;
    streams_init(&s, p, pair->split, number, SL_PAIRS__REDRAW + attempt);
    const size_t mark = sl_arena_mark(a);
    sl_status st = make_data(&twin, &failure, NULL, a, p, &s);
    sl_arena_rewind(a, mark);
    *good = failure == SL_PAIR_NONE;
    return st;
}

/* ---------------------------------------------------------------- which pair ---------------- */

static void members(const int32_t **list, int64_t *n, const sl_pairs *p, sl_split split) {
    bool unseen = split == SL_SPLIT_WITHHELD;
    *list = unseen ? p->unseen : p->seen;
    *n = unseen ? p->n_unseen : p->n_seen;
}

static sl_pairs__key key_of(const sl_pairs *p, sl_split split, int64_t pass) {
    return (sl_pairs__key){ p->options.seed, split, pass };
}

int64_t sl_pairs_size(const sl_pairs *p, sl_split split) {
    if (split == SL_SPLIT_TRAIN) return p->n_seen * p->options.draws;
    return split == SL_SPLIT_WITHHELD && p->n_unseen == 0 ? 0 : p->options.test_size;
}

int64_t sl_pairs_pass(const sl_pairs *p, sl_split split, int64_t index) {
    return split == SL_SPLIT_TRAIN ? index / sl_pairs_size(p, split) : 0;
}

int64_t sl_pairs_order(const sl_pairs *p, int64_t pass, int64_t index) {
    return sl_pairs__permute(sl_pairs_size(p, SL_SPLIT_TRAIN), key_of(p, SL_SPLIT_TRAIN, pass),
                             index);
}

int64_t sl_pairs_order_inverse(const sl_pairs *p, int64_t pass, int64_t place) {
    return sl_pairs__permute_inverse(sl_pairs_size(p, SL_SPLIT_TRAIN),
                                     key_of(p, SL_SPLIT_TRAIN, pass), place);
}

static sl_status check_index(const sl_pairs *p, sl_split split, int64_t index) {
    char n[32], last[32];
    int64_t size = sl_pairs_size(p, split);
    if (size == 0)
        return sl_fail(SL_EINVAL, "no expressions are withheld, so this split is empty; withhold a "
                                  "part of them, here and in training");
    if (index < 0) return sl_fail(SL_EINVAL, "pair %lld: numbers begin at 0", (long long)index);
    if (split != SL_SPLIT_TRAIN && index >= size)
        return sl_fail(SL_EINVAL, "pair %lld of %s, which has %s pairs, 0 to %s", (long long)index,
                       sl_pairs_split_name(split), sl_group_digits(n, size),
                       sl_group_digits(last, size - 1));
    return SL_OK;
}

sl_status sl_pairs__start_of(sl_pairs__start *out, const sl_pairs *p, sl_split split,
                             int64_t index) {
    SL_TRY(check_index(p, split, index));
    members(&out->list, &out->n_list, p, split);
    if (split == SL_SPLIT_TRAIN) {
        int64_t n = sl_pairs_size(p, split), pass = index / n;
        int64_t place = sl_pairs_order(p, pass, index % n);
        out->first = place / p->options.draws;
        out->number = (uint64_t)pass * (uint64_t)n + (uint64_t)place; // may pass what int64 holds
        return SL_OK;
    }
    // distinct members as long as there are any
    out->first =
        sl_pairs__permute(out->n_list, key_of(p, split, index / out->n_list), index % out->n_list);
    out->number = (uint64_t)index;
    return SL_OK;
}

sl_status sl_pairs_get(sl_pair *out, sl_arena *a, const sl_pairs *p, sl_split split,
                       int64_t index) {
    sl_pairs__start start;
    SL_TRY(sl_pairs__start_of(&start, p, split, index));
    const size_t mark = sl_arena_mark(a);
    sl_pair_failure failure = SL_PAIR_NONE;
    for (int attempt = 0; attempt < SL_PAIRS__ATTEMPTS_PER_BASE * SL_PAIRS__MAX_BASES; attempt++) {
        sl_arena_rewind(a, mark);
        sl_status st = sl_pairs__attempt(out, &failure, NULL, a, p, &start, split, attempt);
        if (st != SL_OK) {
            sl_arena_rewind(a, mark);
            return st;
        }
        out->index = index;
        if (failure == SL_PAIR_NONE) return SL_OK;
    }
    sl_arena_rewind(a, mark);
    static const char *const remedy[SL_PAIR_FAILURE_COUNT] = {
        [SL_PAIR_OVERFLOW] = "a smaller constant-max",
        [SL_PAIR_LOST] = "a smaller constant-chance",
        [SL_PAIR_POINTS] = "a larger limit or more tries",
        [SL_PAIR_SPREAD] = "a smaller min-spread",
        [SL_PAIR_TOKENS] = "more max-tokens",
    };
    return sl_fail(SL_ELIMIT,
                   "pair %s/%lld cannot be drawn: %d attempts failed, the last by %s; "
                   "%s may help",
                   sl_pairs_split_name(split), (long long)index,
                   SL_PAIRS__ATTEMPTS_PER_BASE * SL_PAIRS__MAX_BASES,
                   sl_pairs_failure_name(failure), remedy[failure]);
}

/* ---------------------------------------------------------------- further points ------------ */

/* Appends `take` of t's rows, spread over all of them: a draw has its clusters one after the other,
 * and the first rows would leave the last clusters out. */
static void take_spread(table *to, const table *t, const sl_pair *pair, int take) {
    for (int i = 0; i < take; i++, to->have++) {
        const int row = (int)((int64_t)i * t->have / take);
        for (int c = 0; c < pair->data.inputs; c++)
            to->x[c][to->have] = t->x[pair->column[c] - 1][row];
        to->y[to->have] = t->y[row];
    }
}

sl_status sl_pairs_fresh(sl_dataset *out, sl_arena *a, const sl_pairs *p, const sl_pair *pair,
                         int n) {
    const sl_pairs_options *o = &p->options;
    const int N = (int)o->points, D = p->variables, attempt = pair->attempts - 1;
    // the pair got N points in `tries` draws, so about one in `tries` is valid, or more
    const int64_t most = 4 * o->tries * (n / N + 1);
    const sl_program *program;
    const double *column[SL_PAIRS__MAX_COLUMNS];
    sl_pairs__start start;
    sl_rng columns, points;
    raw shape;
    table t, kept;
    sl_status st;
    SL_TRY(sl_pairs__start_of(&start, p, pair->split, pair->index));
    sl_pairs__rng(&columns, p, pair->split, start.number, attempt, SL_PAIRS__PURPOSE_COLUMNS);
    sl_pairs__rng(&points, p, pair->split, start.number, attempt, SL_PAIRS__PURPOSE_FRESH);
    (void)sl_rng_uniform(&columns); // whether columns are left out
    draw_raw(&shape, &columns, o, D);

    SL_TRY(table_new(&kept, a, n, pair->data.inputs));
    const size_t mark = sl_arena_mark(a);
    SL_GO(sl_expr_compile(&program, a, pair->expr));
    SL_GO(table_new(&t, a, N, D));
    for (int c = 0; c < pair->data.inputs; c++) column[c] = t.x[pair->column[c] - 1];
    for (int64_t draw = 0; draw < most && kept.have < n; draw++) {
        SL_GO(sl_pairs__draw(t.x, a, &points, pair->mixture, o, D));
        apply_raw(&shape, t.x, N, D);
        SL_GO(sl_expr_program_run(t.y, program, column, N, NULL, a));
        const int valid = take_valid(&t, &t, N, D, o->max_y);
        take_spread(&kept, &t, pair, SL_MIN(valid, n - kept.have));
    }
    *out = (sl_dataset){ .inputs = pair->data.inputs, .rows = kept.have, .y = kept.y };
    for (int c = 0; c < out->inputs; c++) out->x[c] = kept.x[c];
    st = SL_OK;
done:
    sl_arena_rewind(a, mark);
    return st;
}

/* ---------------------------------------------------------------- handle -------------------- */

static sl_status split_members(sl_pairs *p) {
    const int64_t n = sl_universe_size(p->universe);
    if (n > INT32_MAX) return sl_fail(SL_ELIMIT, "a set of more than 2^31 expressions");
    p->seen = sl_malloc((size_t)n, sizeof *p->seen);
    p->unseen = sl_malloc((size_t)n, sizeof *p->unseen);
    if (!p->seen || !p->unseen) return sl_fail_memory((size_t)n, sizeof *p->seen, "members");
    for (int64_t i = 0; i < n; i++) {
        if (sl_universe_withheld(p->universe, i))
            p->unseen[p->n_unseen++] = (int32_t)i;
        else
            p->seen[p->n_seen++] = (int32_t)i;
    }
    if (p->n_seen == 0)
        return sl_fail(SL_EINVAL,
                       "all expressions are withheld and none are left to train on; withhold "
                       "less");
    return SL_OK;
}

sl_status sl_pairs_new(sl_pairs **out, const sl_universe *u, const sl_pairs_options *o) {
    SL_TRY(sl_pairs_options_check(o));
    sl_pairs *p = sl_calloc(1, sizeof *p);
    if (!p) return sl_fail_memory(1, sizeof *p, "pairs");
    p->universe = u;
    p->options = *o;
    p->variables = sl_universe_config(u)->variables;
    sl_status st = split_members(p);
    if (st != SL_OK) {
        sl_pairs_free(p);
        return st;
    }
    *out = p;
    return SL_OK;
}

void sl_pairs_free(sl_pairs *p) {
    if (!p) return;
    sl_free(p->seen);
    sl_free(p->unseen);
    sl_free(p);
}

const sl_pairs_options *sl_pairs_config(const sl_pairs *p) { return &p->options; }
const sl_universe *sl_pairs_universe(const sl_pairs *p) { return p->universe; }

/* summary - from judgements to figures.
 *
 * A share counts judgements of all seeds, which makes it the mean over seeds: each seed judges the
 * same problems. Seeds are no further problems, though, so its interval is that of one seed's
 * number of problems with the mean number of hits. */
#include <math.h>

#include "eval/eval_impl.h"

static const double level = 0.95;

/* ---------------------------------------------------------------- traits -------------------- */

/* e without numbers that shift or scale it: u of 3 u + 2. */
static const sl_node *inside(const sl_node *e) {
    while ((e->op == SL_OP_ADD || e->op == SL_OP_MUL) && e->arg == 2) {
        const sl_node *p = e + 1, *q = sl_expr_next(p);
        if (p->op != SL_OP_NUM && q->op != SL_OP_NUM) break;
        e = p->op == SL_OP_NUM ? q : p;
    }
    return e;
}

static bool is_inverse(const sl_node *e) {
    if (e->op != SL_OP_POW) return false;
    const sl_node *exponent = sl_expr_next(e + 1);
    return exponent->op == SL_OP_NUM && sl_expr_num_value(exponent).num < 0;
}

static int top_of_power(const sl_node *e) {
    const sl_node *exponent = sl_expr_next(e + 1);
    if (is_inverse(e)) return SL_EVAL__TOP_QUOTIENT;
    if (exponent->op != SL_OP_NUM) return SL_EVAL__TOP_POWER;
    return sl_expr_rat_is_int(sl_expr_num_value(exponent)) ? SL_EVAL__TOP_POWER : SL_EVAL__TOP_ROOT;
}

static int top_of_product(const sl_node *e) {
    const sl_node *factor = e + 1;
    for (int i = 0; i < e->arg; i++, factor = sl_expr_next(factor))
        if (is_inverse(factor)) return SL_EVAL__TOP_QUOTIENT;
    return SL_EVAL__TOP_PRODUCT;
}

static const struct {
    const char *name;
    int operands;
} node_info[SL_OP_COUNT] = {
#define X(id, name_, operands_, ...) [SL_OP_##id] = { name_, operands_ },
    SL_NODES(X)
#undef X
};

/* A leaf that is no variable is a number, whatever it is called. */
int sl_eval__top_of(const sl_node *e) {
    e = inside(e);
    SL_ASSERT(e->op < SL_OP_COUNT);
    switch (e->op) {
    case SL_OP_VAR: return SL_EVAL__TOP_VARIABLE;
    case SL_OP_ADD: return SL_EVAL__TOP_SUM;
    case SL_OP_MUL: return top_of_product(e);
    case SL_OP_POW: return top_of_power(e);
    case SL_OP_RAISE: return SL_EVAL__TOP_POWER;
    default: break;
    }
    return node_info[e->op].operands == 1 ? SL_EVAL__TOP_FUNCTION + e->op : SL_EVAL__TOP_NUMBER;
}

static const char *top_name(int top) {
#define X(id, name) name,
    static const char *const names[] = { SL_EVAL__TOPS(X) };
#undef X
    return top < SL_EVAL__TOP_FUNCTION ? names[top] : node_info[top - SL_EVAL__TOP_FUNCTION].name;
}

sl_eval__traits sl_eval__traits_of(const sl_eval_problem *p) {
    return (sl_eval__traits){ .truth = p->truth != NULL,
                              .fresh = p->fresh.rows > 0,
                              .errors = p->y_true != NULL,
                              .depth = p->depth,
                              .constants = p->constants,
                              .top = p->truth ? sl_eval__top_of(p->truth) : SL_EVAL__TOP_COUNT,
                              .n_tokens = p->n_tokens };
}

/* ---------------------------------------------------------------- groups -------------------- */

typedef enum group { BY_ALL, BY_DEPTH, BY_CONSTANTS, BY_TOP, GROUPS } group;

static const char *const group_name[GROUPS] = { "all", "depth", "constants", "top" };
// values from 0; of numbers the last one stands for all above it too
static const int group_values[GROUPS] = { 1, 10, 11, SL_EVAL__TOP_COUNT };

/* The value of a problem in a group, or -1 where it has none. */
static int value_in(group g, const sl_eval__traits *t) {
    switch (g) {
    case BY_ALL: return 0;
    case BY_DEPTH: return SL_MIN(t->depth, group_values[g] - 1);
    case BY_CONSTANTS: return SL_MIN(t->constants, group_values[g] - 1);
    case BY_TOP: return t->truth ? t->top : -1;
    case GROUPS: break;
    }
    return -1;
}

static void name_row(sl_eval_row *row, group g, int value) {
    sl_snprintf(row->group, sizeof row->group, "%s", group_name[g]);
    if (g == BY_TOP)
        sl_snprintf(row->value, sizeof row->value, "%s", top_name(value));
    else if (g != BY_ALL)
        sl_snprintf(row->value, sizeof row->value, "%d%s", value,
                    value == group_values[g] - 1 ? "+" : "");
}

/* ---------------------------------------------------------------- shares -------------------- */

/* Does the judgement count for this share, and is it a hit? */
typedef struct question {
    bool counts, hit;
} question;

enum { SOLVED, EQUAL, EXACT, SAME_TOKENS, CLOSE, AMONG, FRESH, STRUCTURE, ON_FRONT, SHARES };

static question ask(int share, const sl_judgement *j, const sl_eval__traits *t) {
    const bool solved = j->verdict == SL_VERDICT_SOLVED, equal = j->verdict == SL_VERDICT_EQUAL;
    switch (share) {
    case SOLVED: return (question){ t->truth, solved };
    case EQUAL: return (question){ t->truth, equal };
    case EXACT: return (question){ t->truth, solved || equal };
    case SAME_TOKENS: return (question){ t->truth, j->same_tokens };
    case CLOSE: return (question){ true, solved || equal || j->r2 > SL_EVAL_CLOSE_R2 };
    case AMONG: return (question){ t->truth, j->among };
    case STRUCTURE: return (question){ t->truth && t->errors, j->structure };
    case ON_FRONT: return (question){ t->truth && t->errors, j->on_front };
    default: return (question){ t->fresh, j->r2_fresh > SL_EVAL_CLOSE_R2 };
    }
}

static sl_share *share_of(sl_eval_row *row, int share) {
    sl_share *const at[SHARES] = { &row->solved,      &row->equal,     &row->exact,
                                   &row->same_tokens, &row->close,     &row->among,
                                   &row->fresh,       &row->structure, &row->on_front };
    return at[share];
}

typedef struct judged {
    const sl_judgement *j;
    const sl_eval__traits *traits;
    int64_t problems;
    int seeds;
} judged;

static void fill_share(sl_share *s, const judged *all, group g, int value, int share) {
    *s = (sl_share){ .share = NAN, .lo = NAN, .hi = NAN };
    for (int k = 0; k < all->seeds; k++) {
        int64_t hits = 0, n = 0;
        for (int64_t i = 0; i < all->problems; i++) {
            const sl_eval__traits *t = &all->traits[i];
            if (value_in(g, t) != value) continue;
            const question q = ask(share, &all->j[i * all->seeds + k], t);
            n += q.counts;
            hits += q.counts && q.hit;
        }
        if (n > 0) {
            const double part = (double)hits / (double)n;
            s->lo = fmin(s->lo, part); // of NaN and a number, the number
            s->hi = fmax(s->hi, part);
        }
        s->hits += hits;
        s->n += n;
    }
    if (s->n > 0) s->share = (double)s->hits / (double)s->n;
    s->wilson = sl_num_wilson((double)s->hits / all->seeds, s->n / all->seeds, level);
}

static void fill_rows(sl_eval_summary *out, const judged *all) {
    for (group g = BY_ALL; g < GROUPS; g++)
        for (int value = 0; value < group_values[g]; value++) {
            int64_t problems = 0;
            for (int64_t i = 0; i < all->problems; i++)
                problems += value_in(g, &all->traits[i]) == value;
            if (problems == 0 && g != BY_ALL) continue;
            SL_ASSERT(out->rows < SL_EVAL_MAX_ROWS);
            sl_eval_row *row = &out->row[out->rows++];
            row->problems = problems;
            name_row(row, g, value);
            for (int s = 0; s < SHARES; s++) fill_share(share_of(row, s), all, g, value, s);
        }
}

/* ---------------------------------------------------------------- figures ------------------- */

/* Over problems that have a loss; it is the same for all seeds. */
static void fill_loss(sl_eval_summary *out, const judged *all, double *work) {
    int64_t n = 0, tokens = 0;
    for (int64_t i = 0; i < all->problems; i++) {
        const double loss = all->j[i * all->seeds].loss;
        if (isnan(loss)) continue;
        work[n++] = loss;
        tokens += all->traits[i].n_tokens;
    }
    out->loss = sl_num_mean(work, n);
    out->loss_error = sqrt(sl_num_variance(work, n) / (double)n);
    out->loss_token = tokens > 0 ? out->loss * (double)n / (double)tokens : NAN;
}

static void fill_samples(sl_eval_summary *out, const judged *all) {
    const int64_t n = all->problems * all->seeds;
    int64_t samples = 0, distinct = 0, invalid[SL_TOKEN_REASON_COUNT] = { 0 };
    for (int64_t i = 0; i < n; i++) {
        samples += all->j[i].samples;
        distinct += all->j[i].distinct;
        out->cut += all->j[i].cut;
        for (int r = 0; r < SL_TOKEN_REASON_COUNT; r++) invalid[r] += all->j[i].invalid[r];
    }
    out->distinct = n > 0 ? (double)distinct / (double)n : NAN;
    for (int r = 0; r < SL_TOKEN_REASON_COUNT; r++)
        out->invalid[r] = samples > 0 ? (double)invalid[r] / (double)samples : NAN;
}

static void fill_times(sl_eval_summary *out, const judged *all, double *work) {
    const int64_t n = all->problems * all->seeds;
    for (int64_t i = 0; i < n; i++) work[i] = all->j[i].seconds;
    out->seconds_mean = sl_num_mean(work, n);
    out->seconds_median = sl_num_median(work, n);
    out->seconds_most = n > 0 ? work[n - 1] : NAN; // sorted by now
}

sl_status sl_eval__summarise(sl_eval_summary *out, sl_arena *scratch, const sl_judgement *j,
                             const sl_eval__traits *traits, int64_t problems, int seeds) {
    SL_ASSERT(problems >= 0 && seeds > 0);
    const judged all = { j, traits, problems, seeds };
    const size_t mark = sl_arena_mark(scratch), n = (size_t)problems * (size_t)seeds;
    double *work = sl_arena_alloc(scratch, n * sizeof *work);
    if (!work) return sl_fail_memory(n, sizeof *work, "figures");
    *out = (sl_eval_summary){ .seeds = seeds, .judgements = (int64_t)n };
    fill_rows(out, &all);
    fill_loss(out, &all, work);
    fill_samples(out, &all);
    fill_times(out, &all, work);
    sl_arena_rewind(scratch, mark);
    return SL_OK;
}

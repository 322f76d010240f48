/* evaluation - the figures of an evaluation: a table for people, an object for programs, and the
 * lines of its predictions. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "report/report_impl.h"

/* ---------------------------------------------------------------- shares -------------------- */

static bool is_exact(const sl_judgement *j) {
    return j->verdict == SL_VERDICT_SOLVED || j->verdict == SL_VERDICT_EQUAL;
}

// shares of a row    field    name in the table    does a judgement count?
#define SHARES(X)                                                      \
    X(exact, "Acc_solved", is_exact(j))                                \
    X(solved, "  solved", j->verdict == SL_VERDICT_SOLVED)             \
    X(equal, "  equal", j->verdict == SL_VERDICT_EQUAL)                \
    X(same_tokens, "same tokens", j->same_tokens)                      \
    X(close, "Acc_R2 > 0.99", is_exact(j) || j->r2 > SL_EVAL_CLOSE_R2) \
    X(fresh, "  on fresh points", j->r2_fresh > SL_EVAL_CLOSE_R2)      \
    X(among, "among candidates", j->among)                             \
    X(structure, "correct structure", j->structure)                    \
    X(on_front, "  on the front", j->on_front)

#define X(field, ...) SHARE_##field,
enum { SHARES(X) SHARE_COUNT };
#undef X

static const struct {
    const char *name, *label;
    size_t offset; // in a row
} share[] = {
#define X(field, label, ...) { #field, label, offsetof(sl_eval_row, field) },
    SHARES(X)
#undef X
};

static const sl_share *share_of(const sl_eval_row *row, int which) {
    return (const sl_share *)(const void *)((const char *)row + share[which].offset);
}

static bool counts(const sl_judgement *j, int which) {
    switch (which) {
#define X(field, label, test) \
    case SHARE_##field: return test;
        SHARES(X)
#undef X
    }
    return false;
}

/* The share of one seed. Every problem is judged once by each, so each has as many that count. */
static double seed_share(const sl_report_evaluation *r, int which, int seed) {
    const sl_share *all = share_of(&r->summary->row[0], which);
    const int seeds = r->summary->seeds;
    int64_t hits = 0;
    for (int64_t i = seed; i < r->summary->judgements; i += seeds)
        hits += counts(&r->judgements[i], which);
    return (double)hits / ((double)all->n / seeds);
}

/* ---------------------------------------------------------------- for programs -------------- */

static void add_share_json(sl_str *s, const char *name, const sl_share *x) {
    sl_io_json_open(s, name, '{');
    SL_JSON_FIELDS(s, x, hits, n);
    sl_io_json_add_real(s, "share", x->n > 0 ? x->share : NAN);
    SL_JSON_FIELDS(s, &x->wilson, lo, hi);
    sl_io_json_add_real(s, "seed_lo", x->n > 0 ? x->lo : NAN);
    sl_io_json_add_real(s, "seed_hi", x->n > 0 ? x->hi : NAN);
}

/* Members of a row's object; of the first row also each seed's share. */
static void add_row_json(sl_str *s, const sl_report_evaluation *r, const sl_eval_row *row) {
    const bool all = row == &r->summary->row[0];
    sl_io_json_add_int(s, "problems", row->problems);
    for (int i = 0; i < SHARE_COUNT; i++) {
        const sl_share *x = share_of(row, i);
        add_share_json(s, share[i].name, x);
        if (all) {
            sl_io_json_open(s, "seeds", '[');
            for (int k = 0; k < r->summary->seeds; k++)
                sl_io_json_add_real(s, NULL, seed_share(r, i, k));
            sl_io_json_close(s, ']');
        }
        sl_io_json_close(s, '}');
    }
}

static void add_problems_json(sl_str *s, const sl_report_evaluation *r) {
    sl_io_json_open(s, "problems", '{');
    SL_JSON_FIELDS(s, r->source, name, count);
    SL_JSON_FIELDS(s, r, skipped, hash);
    sl_io_json_close(s, '}');
}

static void add_samples_json(sl_str *s, const sl_eval_summary *m) {
    sl_io_json_add_real(s, "distinct", m->distinct);
    sl_io_json_open(s, "invalid", '{');
    for (int i = SL_TOKEN_FINE + 1; i < SL_TOKEN_REASON_COUNT; i++)
        sl_io_json_add_real(s, sl_token_reason_name((sl_token_reason)i), m->invalid[i]);
    sl_io_json_close(s, '}');
}

static void add_groups_json(sl_str *s, const sl_report_evaluation *r) {
    sl_io_json_open(s, "groups", '[');
    for (int i = 1; i < r->summary->rows; i++) {
        const sl_eval_row *row = &r->summary->row[i];
        sl_io_json_open(s, NULL, '{');
        SL_JSON_FIELDS(s, row, group, value);
        add_row_json(s, r, row);
        sl_io_json_close(s, '}');
    }
    sl_io_json_close(s, ']');
}

/* The share within each time; claimed and wrong are of all judgements. */
static void add_budgets_json(sl_str *s, const sl_eval_summary *m) {
    SL_JSON_FIELDS(s, m, claimed, wrong);
    sl_io_json_open(s, "budgets", '[');
    for (int i = 0; i < m->budgets; i++) {
        const sl_eval_budget *b = &m->budget[i];
        sl_io_json_open(s, NULL, '{');
        sl_io_json_add_real(s, "seconds", b->seconds);
        sl_io_json_add_int(s, "right", b->right.hits);
        SL_JSON_FIELDS(s, &b->right, n, share);
        SL_JSON_FIELDS(s, &b->right.wilson, lo, hi);
        sl_io_json_add_int(s, "wrong", b->wrong);
        sl_io_json_close(s, '}');
    }
    sl_io_json_close(s, ']');
}

void sl_report_evaluation_json(sl_str *s, const sl_report_evaluation *r) {
    const sl_eval_summary *m = r->summary;
    sl_report__model_member(s, r->model);
    sl_io_json_add_text(s, "search", r->search);
    sl_io_json_add_text(s, "source", sl_eval_candidates_name(r->candidates));
    add_problems_json(s, r);
    SL_JSON_FIELDS(s, m, seeds, judgements, resumed, cut);
    sl_io_json_open(s, "all", '{');
    add_row_json(s, r, &m->row[0]);
    sl_io_json_close(s, '}');
    SL_JSON_FIELDS(s, m, loss, loss_error, loss_token);
    add_samples_json(s, m);
    sl_io_json_open(s, "time", '{');
    sl_io_json_add_real(s, "mean", m->seconds_mean);
    sl_io_json_add_real(s, "median", m->seconds_median);
    sl_io_json_add_real(s, "most", m->seconds_most);
    sl_io_json_add_real(s, "all", m->seconds);
    sl_io_json_close(s, '}');
    add_budgets_json(s, m);
    add_groups_json(s, r);
}

/* ---------------------------------------------------------------- for people ---------------- */

static void add_share_line(sl_str *s, const sl_report_evaluation *r, int which) {
    enum { SEEDS_SHOWN = 5 };
    const sl_share *x = share_of(&r->summary->row[0], which);
    const int seeds = r->summary->seeds;
    if (x->n == 0) return; // no truth is known
    sl_str_addf(s, "  %-19s %6.4f   %6.4f .. %6.4f  ", share[which].label, x->share, x->wilson.lo,
                x->wilson.hi);
    for (int k = 0; k < SL_MIN(seeds, SEEDS_SHOWN); k++)
        sl_str_addf(s, " %6.4f", seed_share(r, which, k));
    if (seeds > SEEDS_SHOWN) sl_str_addf(s, " .. %6.4f to %6.4f", x->lo, x->hi);
    sl_str_add_char(s, '\n');
}

static void add_head(sl_str *s, const sl_report_evaluation *r) {
    char a[32], b[32];
    const sl_eval_summary *m = r->summary;
    if (r->search && strcmp(r->search, "model") != 0) sl_report_line(s, "search", "%s", r->search);
    if (r->model)
        sl_report_line(s, "model", "%s, %s parameters", sl_infer_about(r->model)->path,
                       sl_group_digits(a, sl_infer_about(r->model)->model->count));
    if (r->candidates != SL_EVAL_CANDIDATES_MODEL)
        sl_report_line(s, "source", "%s: %s", sl_eval_candidates_name(r->candidates),
                       sl_eval_candidates_text(r->candidates));
    sl_report_line(s, "problems", "%s of %s, %d seed%s starting at %lld",
                   sl_group_digits(b, r->source->count), r->source->name, m->seeds,
                   m->seeds == 1 ? "" : "s", (long long)r->seed);
    if (r->skipped > 0)
        sl_report_line(s, "skipped", "%d with too many variables or without values", r->skipped);
    if (m->resumed > 0)
        sl_report_line(s, "resumed", "%s of %s judgements were made by an earlier run",
                       sl_group_digits(a, m->resumed), sl_group_digits(b, m->judgements));
    if (m->cut > 0)
        sl_report_line(s, "timed out", "%s of %s judgements, at %g s", sl_group_digits(a, m->cut),
                       sl_group_digits(b, m->judgements), r->timeout);
}

/* The reasons that came up, the most frequent ones first. */
static void add_invalid(sl_str *s, const sl_eval_summary *m) {
    int order[SL_TOKEN_REASON_COUNT], n = 0;
    double sum = 0;
    for (int i = SL_TOKEN_FINE + 1; i < SL_TOKEN_REASON_COUNT; i++) {
        if (!(m->invalid[i] > 0)) continue;
        int at = n++;
        for (; at > 0 && m->invalid[order[at - 1]] < m->invalid[i]; at--) order[at] = order[at - 1];
        order[at] = i;
        sum += m->invalid[i];
    }
    sl_str_addf(s, "  %-13s %.2f %% of samples", "invalid", 100 * sum);
    for (int i = 0; i < n; i++)
        sl_str_addf(s, "%s%s %.2f %%", i > 0 ? ", " : ": ",
                    sl_token_reason_name((sl_token_reason)order[i]), 100 * m->invalid[order[i]]);
    sl_str_add_char(s, '\n');
}

static void add_figures(sl_str *s, const sl_eval_summary *m) {
    sl_str_add_char(s, '\n');
    if (!isnan(m->loss))
        sl_report_line(s, "loss", "%.3f +- %.3f nats per expression, %.4f per token", m->loss,
                       m->loss_error, m->loss_token);
    if (!isnan(m->invalid[SL_TOKEN_FINE])) { // there are samples
        sl_report_line(s, "distinct", "%.1f expressions among the samples of a problem",
                       m->distinct);
        add_invalid(s, m);
    }
    sl_report_line(s, "time", "%.3f s per problem (median %.3f, maximum %.3f), %.1f s in total",
                   m->seconds_mean, m->seconds_median, m->seconds_most, m->seconds);
}

static void add_groups(sl_str *s, const sl_eval_summary *m) {
    static const int columns[] = { SHARE_exact, SHARE_same_tokens, SHARE_close, SHARE_fresh,
                                   SHARE_among };
    static const char *const heads[] = { "Acc_solved", "tokens", "R2>0.99", "fresh", "among" };
    for (int i = 1; i < m->rows; i++) {
        const sl_eval_row *row = &m->row[i];
        if (strcmp(row->group, m->row[i - 1].group) != 0) {
            sl_str_addf(s, "\n  by %-16s problems", row->group);
            for (int k = 0; k < SL_LEN(heads); k++) sl_str_addf(s, " %10s", heads[k]);
            sl_str_add(s, "   95 % of Acc_solved\n");
        }
        sl_str_addf(s, "    %-17s %8lld", row->value, (long long)row->problems);
        for (int k = 0; k < SL_LEN(columns); k++) {
            const sl_share *x = share_of(row, columns[k]);
            if (x->n > 0)
                sl_str_addf(s, " %10.4f", x->share);
            else
                sl_str_addf(s, " %10s", "-");
        }
        sl_str_addf(s, "   %6.4f .. %6.4f\n", row->exact.wilson.lo, row->exact.wilson.hi);
    }
}

static void add_budgets(sl_str *s, const sl_eval_summary *m) {
    if (m->budgets == 0 || m->budget[0].right.n == 0) return;
    sl_str_addf(s, "\n  %-19s %6s   %-18s %10s %8s\n", "seconds per problem", "share",
                "95 % interval", "recovered", "wrong");
    for (int i = 0; i < m->budgets; i++) {
        const sl_eval_budget *b = &m->budget[i];
        if (i > 0 && b[-1].seconds >= m->seconds_most) break; // all were there by then
        sl_str_addf(s, "  %-19g %6.4f   %6.4f .. %6.4f   %10lld %8lld\n", b->seconds,
                    b->right.share, b->right.wilson.lo, b->right.wilson.hi,
                    (long long)b->right.hits, (long long)b->wrong);
    }
}

void sl_report_evaluation_table(sl_str *s, const sl_report_evaluation *r) {
    add_head(s, r);
    sl_str_addf(s, "\n  %-19s %6s   %-18s %s\n", "", "share", "95 % interval", "each seed");
    for (int i = 0; i < SHARE_COUNT; i++) add_share_line(s, r, i);
    add_budgets(s, r->summary);
    add_figures(s, r->summary);
    add_groups(s, r->summary);
}

/* ---------------------------------------------------------------- predictions --------------- */

static void add_prediction(sl_str *s, const sl_eval_problem *p, const sl_judgement *j) {
    sl_io_json_open(s, NULL, '{');
    if (p->id_whole)
        sl_str_addf(s, "\"id\":%s", p->id);
    else
        sl_io_json_add_text(s, "id", p->id);
    sl_io_json_add_text(s, "expr", *j->expr ? j->expr : NULL);
    sl_io_json_add_text(s, "latex", *j->latex ? j->latex : NULL);
    sl_io_json_add_real(s, "r2", j->r2);
    sl_io_json_add_text(s, "status", sl_eval_verdict_name(j->verdict));
    sl_io_json_add_real(s, "seconds", j->seconds);
    if (*j->method) {
        sl_io_json_add_text(s, "method", j->method);
        sl_io_json_add_bool(s, "exact", j->claimed);
        sl_io_json_add_real(s, "answered", j->answered);
    }
    if (p->y_true && p->truth) {
        SL_JSON_FIELDS(s, j, structure, on_front);
    }
    if (j->cut) sl_io_json_add_bool(s, "cut", true);
    sl_io_json_close(s, '}');
    sl_str_add_char(s, '\n');
}

sl_status sl_report_write_predictions(sl_file **file, const sl_report_evaluation *r) {
    const sl_eval_source *source = r->source;
    sl_arena arena = { 0 };
    sl_str line = { 0 };
    sl_status st;
    for (int64_t i = 0; i < source->count; i++) {
        sl_eval_problem p;
        sl_arena_rewind(&arena, 0);
        sl_str_truncate(&line, 0);
        SL_GO(source->get(&p, &arena, i, source));
        add_prediction(&line, &p, &r->judgements[i * r->summary->seeds]);
        SL_GO(sl_str_status(&line));
        SL_GO(sl_file_write(*file, line.text, line.len));
    }
    st = sl_file_commit(file);
done:
    sl_str_clear(&line);
    sl_arena_clear(&arena);
    return st;
}

/* table - rows of runs: checks, derived columns, and writing as CSV. */
#include <math.h>
#include <string.h>

#include "io/io.h"
#include "laws/laws_impl.h"

sl_status sl_laws_table_add(sl_laws_table *t, sl_arena *a, const sl_laws_run *run) {
    if (t->n >= SL_LAWS__MAX_RUNS)
        return sl_fail(SL_ELIMIT, "more than %d runs; a row is a finished training run",
                       SL_LAWS__MAX_RUNS);
    if (t->n == t->room) {
        const int room = SL_MAX(16, t->room * 2);
        sl_laws_run *more;
        SL_LAWS__TRY_ALLOC(more, a, room);
        if (t->n > 0) memcpy(more, t->run, (size_t)t->n * sizeof *more);
        t->run = more;
        t->room = room;
    }
    sl_laws_run copy = *run;
    for (int c = 0; c < SL_LAWS_COLUMN_COUNT; c++) {
        if (!sl_laws__column_is_text((sl_laws_column)c)) continue;
        const char **text = sl_laws__text_of(&copy, (sl_laws_column)c);
        *text = !*text || !**text ? "" : sl_laws__text(a, "%s", *text);
        if (!*text) return sl_fail(SL_ENOMEM, "no memory for a row of the table");
    }
    t->run[t->n++] = copy;
    return SL_OK;
}

/* ---------------------------------------------------------------- checks -------------------- */

static sl_status bad(const sl_laws_table *t, int row, sl_laws_column c, double v,
                     const char *must) {
    return sl_fail(SL_EFORMAT, "%.200s%srow %d: %s is %g; it must be %s",
                   t->source ? t->source : "", t->source && *t->source ? ", " : "", row + 1,
                   t->name[c] ? t->name[c] : sl_laws__column_name(c), v, must);
}

static bool is_share(sl_laws_column c) {
    return c == SL_LAWS_COLUMN_solved || c == SL_LAWS_COLUMN_r2;
}

static bool may_be_zero(sl_laws_column c) {
    return is_share(c) || c == SL_LAWS_COLUMN_seed || c == SL_LAWS_COLUMN_solved_hits ||
           c == SL_LAWS_COLUMN_r2_hits;
}

/* Numbers between these leave room for their products and powers. */
#define LEAST 1e-100
#define MOST  1e100

static sl_status check_number(const sl_laws_table *t, int row, sl_laws_column c, double v) {
    if (isnan(v)) return SL_OK;
    if (is_share(c) && !(v >= 0 && v <= 1))
        return bad(t, row, c, v,
                   "a share from 0 to 1; counts go with solved_hits or r2_hits and "
                   "trials");
    if (c == SL_LAWS_COLUMN_seed) return SL_OK;
    if (may_be_zero(c) && v == 0) return SL_OK;
    if (!(v >= LEAST && v <= MOST)) return bad(t, row, c, v, "above 0, and at most 1e100");
    return SL_OK;
}

static sl_status check_row(const sl_laws_table *t, int row) {
    for (int c = 0; c < SL_LAWS_COLUMN_COUNT; c++) {
        if (sl_laws__column_is_text((sl_laws_column)c)) continue;
        SL_TRY(check_number(t, row, (sl_laws_column)c,
                            *sl_laws__number(&t->run[row], (sl_laws_column)c)));
    }
    const sl_laws_run *r = &t->run[row];
    if (r->solved_hits > r->trials)
        return bad(t, row, SL_LAWS_COLUMN_solved_hits, r->solved_hits, "at most the trials");
    if (r->r2_hits > r->trials)
        return bad(t, row, SL_LAWS_COLUMN_r2_hits, r->r2_hits, "at most the trials");
    return SL_OK;
}

/* ---------------------------------------------------------------- derived columns ----------- */

static void share_and_hits(double *share, double *hits, double trials) {
    if (isnan(*share)) *share = *hits / trials;
    if (isnan(*hits)) *hits = *share * trials;
}

typedef struct derived {
    int tokens, flops, ratio;
} derived;

static void derive(sl_laws_run *r, derived *d) {
    share_and_hits(&r->solved, &r->solved_hits, r->trials);
    share_and_hits(&r->r2, &r->r2_hits, r->trials);
    if (isnan(r->tokens) && !isnan(r->ratio * r->params)) {
        r->tokens = r->ratio * r->params;
        d->tokens++;
    }
    if (isnan(r->ratio)) r->ratio = r->tokens / r->params;
    if (isnan(r->flops) && !isnan(r->tokens * r->params)) {
        r->flops = 6 * r->params * r->tokens;
        d->flops++;
    }
}

static void find_columns(sl_laws_table *t) {
    memset(t->has, 0, sizeof t->has);
    for (int i = 0; i < t->n; i++) {
        for (int c = 0; c < SL_LAWS_COLUMN_COUNT; c++) {
            const sl_laws_column k = (sl_laws_column)c;
            t->has[c] |= sl_laws__column_is_text(k) ? **sl_laws__text_of(&t->run[i], k) != '\0'
                                                    : !isnan(*sl_laws__number(&t->run[i], k));
        }
    }
}

/* Values in millions of parameters, billions of tokens or PF-days make no fit fail, but every N, D
 * and C of the result is wrong. Transformers take about 6 FLOPs per parameter and token, with an
 * encoder of many points some tens. */
static sl_status check_units(sl_laws_table *t, sl_arena *a, int derived_flops) {
    static const double low = 0.1, high = 1e4, fewest = 100;
    double sum = 0, most = 0;
    int n = 0;
    for (int i = 0; i < t->n; i++) {
        const sl_laws_run *r = &t->run[i];
        if (r->params > most) most = r->params;
        if (isnan(r->flops * r->params * r->tokens)) continue;
        sum += sl_log(r->flops) - sl_log(r->params) - sl_log(r->tokens);
        n++;
    }
    const double per = n > 0 && derived_flops == 0 ? sl_exp(sum / n) : NAN;
    if (per < low || per > high)
        return sl_laws__table_note(t, a,
                                   "FLOPs are %.2g x parameters x tokens, where 6 is usual: are "
                                   "all three plain counts, and not millions or PF-days?",
                                   per);
    if (most > 0 && most < fewest && t->has[SL_LAWS_COLUMN_tokens])
        return sl_laws__table_note(t, a,
                                   "The largest run has %.3g parameters: are they plain counts, "
                                   "and not millions?",
                                   most);
    return SL_OK;
}

sl_status sl_laws_table_end(sl_laws_table *t, sl_arena *a) {
    derived d = { 0 };
    if (!t->source) t->source = "";
    for (int i = 0; i < t->n; i++) SL_TRY(check_row(t, i));
    for (int i = 0; i < t->n; i++) derive(&t->run[i], &d);
    if (d.tokens > 0)
        SL_TRY(sl_laws__table_note(t, a, "Tokens of %d runs are ratio x parameters.", d.tokens));
    if (d.flops > 0)
        SL_TRY(sl_laws__table_note(t, a, "FLOPs of %d runs are 6 x parameters x tokens.", d.flops));
    find_columns(t);
    return check_units(t, a, d.flops);
}

/* ---------------------------------------------------------------- writing ------------------- */

void sl_laws_table_csv(sl_str *s, const sl_laws_table *t) {
    for (int i = -1; i < t->n; i++) {
        bool first = true;
        const size_t start = s->len;
        for (int c = 0; c < SL_LAWS_COLUMN_COUNT; c++) {
            const sl_laws_column k = (sl_laws_column)c;
            if (!t->has[c]) continue;
            if (!first) sl_str_add_char(s, ',');
            first = false;
            if (i < 0)
                sl_str_add(s, sl_laws__column_name(k));
            else if (sl_laws__column_is_text(k))
                sl_io_csv_add_text(s, *sl_laws__text_of(&t->run[i], k));
            else
                sl_io_csv_add_number(s, *sl_laws__number(&t->run[i], k));
        }
        if (s->len == start) sl_str_add(s, "\"\""); // an empty line would be no row
        sl_str_add_char(s, '\n');
    }
}

bool sl_laws_finished(const sl_laws_run *r) {
    static const char *const good[] = { "", "done", "finished", "complete", "completed", "ok" };
    bool done = false;
    for (int i = 0; i < SL_LEN(good); i++) done |= sl_strcasecmp(r->status, good[i]) == 0;
    return done && !(isnan(r->loss) && isnan(r->solved) && isnan(r->r2));
}

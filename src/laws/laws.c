/* laws - all laws against compute, of the data and of each draw. */
#include <math.h>
#include <string.h>

#include "laws/laws_impl.h"

/* The fits of one sample: the forms of each metric, then the lines of N, D and D/N. */
enum { N_LINE = 3, LINES = SL_LAWS_METRIC_COUNT * SL_LAWS_FORM_COUNT, SLOTS = LINES + N_LINE };

/* Points of one law, in order of x. */
typedef struct column {
    double *x, *ln_y, *share, *trials, *w;
    int n;
} column;

typedef struct work {
    sl_laws *l;
    sl_arena *scratch;
    const int *points;
    int n;
    sl_laws__obs *obs;
    int *pick, *best, *front;
    column c;
} work;

static sl_status work_begin(work *w, sl_arena *a) {
    SL_LAWS__TRY_ALLOC(w->obs, a, w->n);
    SL_LAWS__TRY_ALLOC(w->pick, a, w->n);
    SL_LAWS__TRY_ALLOC(w->front, a, w->n);
    SL_LAWS__TRY_ALLOC(w->best, a, w->l->options.n_bins);
    double *room;
    SL_LAWS__TRY_ALLOC(room, a, 5 * w->n);
    w->c = (column){ room, room + w->n, room + 2 * w->n, room + 3 * w->n, room + 4 * w->n, 0 };
    w->scratch = a;
    return SL_OK;
}

static double line_value(const sl_laws__obs *o, int line) {
    return line == 0 ? o->params : line == 1 ? o->tokens : o->tokens / o->params;
}

/* The frontier's values of a slot. Where logarithms are taken a share of 0 is left out. */
static void gather(work *w, int slot, int n_front, bool counts) {
    column *c = &w->c;
    c->n = 0;
    for (int i = 0; i < n_front; i++) {
        const sl_laws__obs *o = &w->obs[w->front[i]];
        const double y =
            slot < LINES ? o->y[slot / SL_LAWS_FORM_COUNT] : line_value(o, slot - LINES);
        if (isnan(y) || (counts ? isnan(o->trials) : !(y > 0))) continue;
        c->x[c->n] = o->x;
        c->share[c->n] = y;
        c->ln_y[c->n] = y > 0 ? sl_log(y) : NAN;
        c->trials[c->n] = o->trials;
        c->w[c->n++] = o->weight;
    }
}

static sl_status fit_slot(sl_laws_draw *out, bool *known, work *w, int slot, int n_front) {
    const sl_laws_form form =
        slot < LINES ? (sl_laws_form)(slot % SL_LAWS_FORM_COUNT) : SL_LAWS_POWER;
    const column *c = &w->c;
    *known = false;
    *out = (sl_laws_draw){ .a = NAN, .b = NAN, .floor = NAN, .sigma = NAN };
    if (form == SL_LAWS_BINOMIAL && slot / SL_LAWS_FORM_COUNT == SL_LAWS_LOSS) return SL_OK;
    if (form != SL_LAWS_POWER && w->l->options.plain) return SL_OK;
    gather(w, slot, n_front, form == SL_LAWS_BINOMIAL);
    if (c->n < 3) return SL_OK;
    if (form == SL_LAWS_POWER) *known = sl_laws__line(out, c->x, c->ln_y, c->w, c->n);
    if (form == SL_LAWS_BINOMIAL)
        *known = sl_laws__binomial(out, c->x, c->share, c->trials, c->w, c->n);
    if (form == SL_LAWS_FLOOR)
        SL_TRY(sl_laws__floor(out, known, w->scratch, c->x, c->ln_y, c->w, c->n));
    return SL_OK;
}

static sl_law *law_of(sl_laws *l, int slot) {
    sl_law *const line[N_LINE] = { &l->params, &l->tokens, &l->ratio };
    return slot < LINES ? &l->law[slot / SL_LAWS_FORM_COUNT][slot % SL_LAWS_FORM_COUNT]
                        : line[slot - LINES];
}

/* ---------------------------------------------------------------- the data ------------------ */

/* Variance between training seeds over the binomial one, pooled; where no configuration has two
 * seeds, that of the points about the law. */
static double dispersion(const work *w, sl_laws_metric m, const sl_laws_draw *fit) {
    double sum = 0, free = 0;
    for (int i = 0; i < w->n; i++) {
        const sl_laws_point *p = &w->l->point[w->points[i]];
        const double mean = m == SL_LAWS_SOLVED ? p->solved : p->r2;
        if (p->n < 2 || !(mean > 0 && mean < 1) || isnan(p->trials)) continue;
        for (int k = 0; k < p->n; k++) {
            const sl_laws_run *r = &w->l->table->run[p->row[k]];
            const double d = (m == SL_LAWS_SOLVED ? r->solved : r->r2) - mean;
            if (!isnan(d)) sum += d * d * p->trials / (mean * (1 - mean));
        }
        free += p->n - 1;
    }
    if (free > 0) return sum / free;
    const column *c = &w->c;
    for (int i = 0; i < c->n; i++) {
        const double q = sl_exp(fit->a + fit->b * c->x[i]), d = c->share[i] - q;
        sum += d * d * c->trials[i] / (q * (1 - q));
    }
    return c->n > 2 ? sum / (c->n - 2) : NAN;
}

static sl_status fit_data(work *w, int slot, int n_front) {
    sl_law *law = law_of(w->l, slot);
    const sl_laws_form form =
        slot < LINES ? (sl_laws_form)(slot % SL_LAWS_FORM_COUNT) : SL_LAWS_POWER;
    *law = (sl_law){ .falls = slot < LINES,
                     .level = w->l->options.level,
                     .x_top = w->l->c_top,
                     .dispersion = NAN,
                     .r2 = NAN,
                     .curvature = { NAN, NAN, NAN } };
    SL_TRY(fit_slot(&law->fit, &law->known, w, slot, n_front));
    if (!law->known) return SL_OK;
    const column *c = &w->c;
    law->n = c->n;
    law->x_min = sl_exp(c->x[0]);
    law->x_max = sl_exp(c->x[c->n - 1]);
    law->student = form == SL_LAWS_POWER && w->l->options.bins == SL_LAWS_BINS_NONE;
    if (form == SL_LAWS_BINOMIAL) {
        law->dispersion = dispersion(w, (sl_laws_metric)(slot / SL_LAWS_FORM_COUNT), &law->fit);
        gather(w, slot, n_front, false); // R2 is of logarithms, as of the other forms
    }
    law->r2 = sl_laws__line_r2(&law->fit, c->x, c->ln_y, c->w, c->n);
    if (form == SL_LAWS_POWER)
        SL_TRY(sl_laws__curvature(&law->curvature, w->scratch, c->x, c->ln_y, c->n));
    return SL_OK;
}

static sl_status fit_all_data(work *w, sl_arena *a, int *n_front) {
    sl_laws *l = w->l;
    const int n = sl_laws__sample(w->obs, w->pick, l, w->points, w->n, -1);
    *n_front = sl_laws__frontier(w->front, w->best, w->obs, n, &l->options);
    int *front;
    SL_LAWS__TRY_ALLOC(front, a, *n_front);
    for (int i = 0; i < *n_front; i++) front[i] = w->pick[w->front[i]];
    l->frontier = front;
    l->n_frontier = *n_front;
    for (int slot = 0; slot < SLOTS; slot++) SL_TRY(fit_data(w, slot, *n_front));
    return SL_OK;
}

/* ---------------------------------------------------------------- draws --------------------- */

static sl_status make_room(sl_laws_draw *draw[SLOTS], sl_laws *l, sl_arena *a, int draws) {
    for (int slot = 0; slot < SLOTS; slot++) {
        sl_law *law = law_of(l, slot);
        draw[slot] = NULL;
        if (!law->known || draws == 0) continue;
        SL_LAWS__TRY_ALLOC(draw[slot], a, draws);
        SL_LAWS__TRY_ALLOC(law->scratch, a, draws);
        law->draw = draw[slot];
        law->n_draw = draws;
    }
    return SL_OK;
}

static sl_status fit_draws(work *w, sl_laws_draw *draw[SLOTS], int draws) {
    for (int d = 0; d < draws; d++) {
        const int n = sl_laws__sample(w->obs, w->pick, w->l, w->points, w->n, d);
        const int n_front = sl_laws__frontier(w->front, w->best, w->obs, n, &w->l->options);
        for (int slot = 0; slot < SLOTS; slot++) {
            bool known;
            if (!draw[slot]) continue;
            SL_TRY(fit_slot(&draw[slot][d], &known, w, slot, n_front));
            if (!known) draw[slot][d].b = NAN;
        }
    }
    return SL_OK;
}

sl_status sl_laws__laws(sl_laws *l, sl_arena *a, const int *points, int n) {
    sl_laws_draw *draw[SLOTS];
    sl_arena scratch = { 0 };
    work w = { .l = l, .points = points, .n = n };
    sl_status st;
    int n_front;
    SL_GO(work_begin(&w, &scratch));
    SL_GO(fit_all_data(&w, a, &n_front));
    SL_GO(make_room(draw, l, a, l->options.draws));
    SL_GO(fit_draws(&w, draw, l->options.draws));
    for (int slot = 0; slot < SLOTS; slot++) sl_laws__estimate(law_of(l, slot));
    for (int f = 0; f < SL_LAWS_FORM_COUNT; f++)
        l->target_flops[f] = sl_laws_inverse(&l->law[SL_LAWS_SOLVED][f], 1 - l->options.target);
done:
    sl_arena_clear(&scratch);
    return st;
}

/* ---------------------------------------------------------------- laws of few points -------- */

/* *used: how many points the line is fitted to; they are at the beginning of each part of room. */
static bool pairs_line(sl_laws_draw *out, int *used, const double *x, const double *y,
                       const int *pick, int n, double *room) {
    double *lx = room, *ly = room + n, *w = room + 2 * n;
    int m = 0;
    for (int i = 0; i < n; i++) { // in the order of x, each once
        if (pick[i] == 0 || !(y[i] > 0)) continue;
        lx[m] = sl_log(x[i]);
        ly[m] = sl_log(y[i]);
        w[m++] = pick[i];
    }
    *used = m;
    return m >= 2 && sl_laws__line(out, lx, ly, w, m);
}

sl_status sl_laws__pairs_law(sl_law *out, sl_arena *a, const sl_laws__pairs *p,
                             const sl_laws_options *o, uint32_t stream) {
    const int n = p->n;
    int used;
    double *room;
    int *pick;
    sl_laws_draw *draw;
    *out = (sl_law){
        .level = o->level, .n = n, .r2 = NAN, .dispersion = NAN, .curvature = { NAN, NAN, NAN }
    };
    SL_LAWS__TRY_ALLOC(room, a, 3 * n);
    SL_LAWS__TRY_ALLOC(pick, a, n);
    SL_LAWS__TRY_ALLOC(draw, a, o->draws);
    SL_LAWS__TRY_ALLOC(out->scratch, a, o->draws);
    for (int i = 0; i < n; i++) pick[i] = 1;
    out->known = pairs_line(&out->fit, &used, p->x, p->y, pick, n, room);
    if (!out->known) return SL_OK;
    out->r2 = used > 2 ? sl_laws__line_r2(&out->fit, room, room + n, room + 2 * n, used) : NAN;
    out->x_min = p->x[0];
    out->x_max = out->x_top = p->x[n - 1];
    SL_TRY(sl_laws__curvature(&out->curvature, a, room, room + n, used));
    for (int d = 0; d < o->draws; d++) {
        sl_rng rng;
        sl_rng_init(&rng, o->seed, stream, (uint64_t)d);
        memset(pick, 0, (size_t)n * sizeof *pick);
        for (int i = 0; i < n; i++) pick[sl_rng_below(&rng, (uint32_t)n)]++;
        const double *y = p->y_draws ? p->y_draws + (size_t)d * (size_t)n : p->y;
        if (!pairs_line(&draw[d], &used, p->x, y, pick, n, room)) draw[d].b = NAN;
    }
    out->draw = draw;
    out->n_draw = o->draws;
    sl_laws__estimate(out);
    return SL_OK;
}

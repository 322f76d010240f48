/* view - input that several parts of a report share: the runs as text, sizes as colours and shapes,
 * laws as they are drawn. */
#include <math.h>

#include "report/report_impl.h"

sl_status sl_report__plot_new(sl_plot **out, bool narrow, int width, int height,
                              int height_narrow) {
    return sl_plot_new(out, narrow ? SL_REPORT__WIDTH_NARROW : width,
                       narrow ? height_narrow : height);
}

sl_status sl_report__series_new(sl_report__series *out, const sl_report__view *v, int room) {
    const size_t n = (size_t)room + 1; // of none too
    double *w = sl_arena_alloc(v->arena, 4 * n * sizeof *w);
    const char **tip = sl_arena_alloc(v->arena, n * sizeof *tip);
    if (!w || !tip) return sl_fail_memory(4 * n, sizeof *w, "the numbers of a figure");
    *out = (sl_report__series){ 0, w, w + n, w + 2 * n, w + 3 * n, tip };
    return SL_OK;
}

void sl_report__put(sl_report__series *a, double x, sl_estimate e, double scale, const char *tip) {
    const int i = a->n++;
    a->x[i] = x;
    a->y[i] = scale * e.value;
    a->low[i] = scale * e.low;
    a->high[i] = scale * e.high;
    a->tip[i] = tip;
}

void sl_report__add_points(sl_plot *p, int panel, sl_report__series *a, sl_style style) {
    if (!a->n) return;
    sl_plot_bars(p, panel, a->x, a->low, a->high, a->n,
                 &(sl_style){ .shade = style.shade, .colour = style.colour, .faint = true });
    style.tips = a->tip;
    sl_plot_marks(p, panel, a->x, a->y, a->n, &style);
    a->n = 0;
}

void sl_report__grid(double *x, int n, double a, double b) {
    for (int i = 0; i < n; i++) {
        const double t = (double)i / (n - 1);
        x[i] = sl_exp(sl_log(a) * (1 - t) + sl_log(b) * t);
    }
    x[0] = a;
    x[n - 1] = b;
}

sl_status sl_report__add_law(sl_plot *p, const sl_report__view *v, int panel, const sl_law *law,
                             const char *label) {
    enum { GRID = 49 };
    if (!law->known || !(law->x_min > 0 && law->x_max > law->x_min)) return SL_OK;
    sl_report__series a;
    SL_TRY(sl_report__series_new(&a, v, GRID));
    sl_report__grid(a.x, GRID, law->x_min, law->x_max);
    for (int i = 0; i < GRID; i++) sl_report__put(&a, a.x[i], sl_laws_at(law, a.x[i]), 1, NULL);
    sl_plot_band(p, panel, a.x, a.low, a.high, GRID,
                 &(sl_style){ .colour = 1, .aside = true, .label = "95 % of the law" });
    sl_plot_line(p, panel, a.x, a.y, GRID, &(sl_style){ .colour = 1, .label = label });
    return SL_OK;
}

int sl_report__size(const sl_report__view *v, double params) {
    for (int i = 0; i < v->l->n_size; i++)
        if (v->l->size[i].params == params) return i;
    return -1;
}

sl_style sl_report__size_style(const sl_report__view *v, int size) {
    static const sl_mark marks[] = { SL_MARK_DOT, SL_MARK_SQUARE, SL_MARK_TRIANGLE,
                                     SL_MARK_DIAMOND };
    if (size < 0) return (sl_style){ .colour = 6, .label = "other sizes" };
    // of many sizes every few are named
    enum { NAMED = 9 };
    const int last = v->l->n_size - 1, step = last / NAMED + 1;
    const bool named = size % step == 0 || size == last;
    const double shade = last ? 0.001 + 0.999 * size / last : 0.5;
    return (sl_style){ .shade = shade,
                       .mark = marks[size % SL_LEN(marks)],
                       .label = named ? v->l->size[size].name : NULL };
}

const char *const sl_report__metric_axis[] = { [SL_LAWS_LOSS] = "validation loss",
                                               [SL_LAWS_SOLVED] = "solved (%)",
                                               [SL_LAWS_R2] = "R² > 0.99 (%)" };

double sl_report__metric_of(const sl_laws_run *run, sl_laws_metric m) {
    return m == SL_LAWS_LOSS ? run->loss : 100 * (m == SL_LAWS_SOLVED ? run->solved : run->r2);
}

double sl_report__metric_at(const sl_laws_point *p, sl_laws_metric m) {
    return m == SL_LAWS_LOSS ? p->loss : 100 * (m == SL_LAWS_SOLVED ? p->solved : p->r2);
}

sl_interval sl_report__interval(const sl_report__view *v, const sl_laws_point *q,
                                sl_laws_metric m) {
    const double share = sl_report__metric_at(q, m) / 100;
    const double trials = isfinite(q->trials) ? q->trials : v->l->options.trials;
    if (m == SL_LAWS_LOSS || !(share >= 0 && share <= 1) || !(trials >= 1 && trials < 1e15))
        return (sl_interval){ NAN, NAN };
    const sl_interval w = sl_num_wilson(share * trials, (int64_t)trials, 0.95);
    return (sl_interval){ 100 * w.lo, 100 * w.hi };
}

sl_estimate sl_report__law_at(const sl_law *law, sl_laws_metric m, double flops) {
    const sl_estimate y = sl_laws_at(law, flops);
    if (m == SL_LAWS_LOSS) return y;
    return (sl_estimate){ 100 * (1 - y.value), 100 * (1 - y.high), 100 * (1 - y.low) };
}

bool sl_report__is_far(const sl_report__view *v, double flops) {
    return flops > SL_LAWS_FAR * v->l->c_top; // false for NaN
}

/* ---------------------------------------------------------------- runs in a line ------------ */

static void add_part(sl_str *s, const char *name, double value, double scale, const char *unit) {
    if (!isfinite(value)) return;
    sl_str_addf(s, "%s%s ", s->len ? ", " : "", name);
    sl_plot_number(s, value * scale, 3);
    sl_str_add(s, unit);
}

static const char *kept(const sl_report__view *v, const sl_str *s) {
    char *w = sl_arena_alloc(v->arena, s->len + 1);
    if (!w || s->failed) return NULL;
    for (size_t i = 0; i <= s->len; i++) w[i] = sl_str_text(s)[i];
    return w;
}

static const char *make_tip(const sl_report__view *v, const sl_laws_run *r) {
    sl_str s = { 0 };
    if (r->id[0]) sl_str_add(&s, r->id);
    if (r->size[0]) sl_str_addf(&s, "%s%s", s.len ? ", " : "", r->size);
    add_part(&s, "N", r->params, 1, "");
    add_part(&s, "D", r->tokens, 1, "");
    add_part(&s, "C", r->flops, 1, " FLOPs");
    add_part(&s, "batch", r->batch, 1, "");
    add_part(&s, "rate", r->rate, 1, "");
    add_part(&s, "seed", r->seed, 1, "");
    add_part(&s, "loss", r->loss, 1, "");
    add_part(&s, "solved", r->solved, 100, " %");
    add_part(&s, "R² > 0.99", r->r2, 100, " %");
    const char *w = kept(v, &s);
    sl_str_clear(&s);
    return w;
}

/* For a page without laws. */
static const sl_laws_table no_table;
#define UNKNOWN \
    { NAN, NAN, NAN }
static const sl_laws no_laws = { .table = &no_table,
                                 .c_top = NAN,
                                 .target_flops = { UNKNOWN, UNKNOWN, UNKNOWN } };

sl_status sl_report__view_init(sl_report__view *v, sl_arena *a, const sl_report_input *in) {
    const sl_laws *l = in->laws ? in->laws : &no_laws;
    *v = (sl_report__view){ .in = in, .l = l, .t = l->table, .arena = a };
    const size_t n = (size_t)v->t->n;
    v->tip = sl_arena_alloc(a, n * sizeof *v->tip);
    v->point = sl_arena_alloc(a, n * sizeof *v->point);
    v->frontier = sl_arena_alloc(a, (size_t)v->l->n_point * sizeof *v->frontier);
    if (!v->tip || !v->point || !v->frontier)
        return sl_fail_memory(n, sizeof *v->tip, "the runs of a report");
    for (int i = 0; i < v->t->n; i++) {
        v->point[i] = -1;
        v->tip[i] = make_tip(v, &v->t->run[i]);
        if (!v->tip[i]) return sl_fail_memory(1, 256, "the runs of a report");
    }
    for (int i = 0; i < v->l->n_point; i++) {
        v->frontier[i] = false;
        for (int k = 0; k < v->l->point[i].n; k++) v->point[v->l->point[i].row[k]] = i;
    }
    for (int i = 0; i < v->l->n_frontier; i++) v->frontier[v->l->frontier[i]] = true;
    return SL_OK;
}

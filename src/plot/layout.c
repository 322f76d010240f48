/* layout - positions of title, legend, panels and axes.
 *
 * Places are computed from the top: title, legend, then rows of panels. A row's height does not
 * depend on widths, the numbers on a y axis depend on its height alone, and their widths give the
 * left edges of boxes; so one pass suffices. Edges of boxes are whole pixels: grid
 * lines are sharp, and a coordinate that is rounded stays inside. */
#include <math.h>
#include <string.h>

#include "plot/plot_impl.h"

// heights and distances, in pixels
enum {
    TITLE = 28,  // the title's line
    LEGEND = 20, // a line of the legend
    PANEL_TITLE = 22,
    NUMBERS = 22, // below a panel
    NAME = 20,    // of an axis
    GAP_X = 26,   // between panels
    GAP_Y = 16,
    ROOM = 8,      // between the outermost point and the end of an axis
    SMALLEST = 24, // box, however small the figure is
};

static void *take(sl_layout *d, int64_t count, size_t size) {
    void *w = sl_arena_alloc(d->arena, (size_t)count * size);
    if (!w) (void)sl_fail_memory((size_t)count, size, "the layout of a figure");
    return w;
}

/* ---------------------------------------------------------------- ranges -------------------- */

/* Is point i on the axis? A rule has values for one axis only. */
static bool has_place(const double *v, int64_t i, bool log) {
    return !v || (isfinite(v[i]) && !(log && v[i] <= 0));
}

static void include(sl_range *r, double v) {
    r->lo = SL_MIN(r->lo, v);
    r->hi = SL_MAX(r->hi, v);
}

/* The range of what is drawn, to the right or upwards. */
static sl_range range_of(const sl_plot *p, int number, const sl_panel *panel, bool upright) {
    sl_range r = { INFINITY, -INFINITY };
    for (const sl_layer *l = p->layers; l; l = l->next)
        for (int64_t i = 0; l->panel == number && !l->style.aside && i < l->n; i++) {
            if (!has_place(l->x, i, panel->log_x) || !has_place(l->y, i, panel->log_y) ||
                !has_place(l->top, i, panel->log_y))
                continue;
            const double *v = upright ? l->y : l->x;
            if (v) include(&r, v[i]);
            if (upright && l->top) include(&r, l->top[i]);
        }
    return r;
}

/* An axis that is `length` pixels long. */
static sl_axis make_axis(const sl_plot *p, int number, const sl_panel *panel, bool upright,
                         int length) {
    const bool log = upright ? panel->log_y : panel->log_x;
    sl_range r = upright ? panel->y : panel->x;
    if (r.lo != 0 || r.hi != 0) return sl_plot__axis(log, r.lo, r.hi, 0);
    r = range_of(p, number, panel, upright);
    if (r.lo > r.hi) r = log ? (sl_range){ 1, 10 } : (sl_range){ 0, 1 }; // nothing is drawn
    return sl_plot__axis(log, r.lo, r.hi, SL_MIN(SL_MAX(0.04, (double)ROOM / length), 0.2));
}

/* ---------------------------------------------------------------- layout -------------------- */

/* Entries of the legend, line by line. *height: of the legend. */
static sl_status place_legend(sl_layout *d, int top, int *height) {
    const sl_plot *p = d->p;
    int labels = 0;
    for (const sl_layer *l = p->layers; l; l = l->next) labels += l->style.label != NULL;
    d->entry = take(d, labels, sizeof *d->entry);
    if (!d->entry) return SL_ENOMEM;

    int x = SL_PLOT__PAD, y = top + LEGEND / 2;
    for (const sl_layer *l = p->layers; l; l = l->next) {
        const char *label = l->style.label;
        bool known = !label;
        for (int i = 0; i < d->entries && !known; i++)
            known = strcmp(d->entry[i].label, label) == 0;
        if (known) continue;
        const double room =
            SL_MAX(p->width - 2 * SL_PLOT__PAD - SL_PLOT__SWATCH - 8, SL_PLOT__FONT);
        const double width = SL_MIN(sl_plot__width(label, SL_PLOT__FONT), room);
        const int whole = SL_PLOT__SWATCH + 8 + (int)ceil(width);
        if (x > SL_PLOT__PAD && x + whole > p->width - SL_PLOT__PAD) {
            x = SL_PLOT__PAD;
            y += LEGEND;
        }
        d->entry[d->entries++] = (sl_entry){ label, x, y, width };
        x += whole + 18;
    }
    *height = d->entries ? y + LEGEND / 2 - top + 6 : 0;
    return SL_OK;
}

static int widest_label(const sl_ticks *t) {
    double most = 0;
    for (int i = 0; i < t->n; i++) most = SL_MAX(most, sl_plot__width(t->label[i], SL_PLOT__FONT));
    return (int)ceil(most);
}

/* A row or a column of panels. */
typedef struct track {
    int start, head, size, foot; // pixels before it, before its boxes, of these, behind them
    double weight;               // 0: 1
} track;

/* Divides the pixels from start to end, without heads, feet and gaps, by weights; at least SMALLEST
 * each. */
static void share_out(track *t, int n, int start, int end, int gap) {
    double sum = 0, before = 0;
    int whole = end - start - (n - 1) * gap;
    for (int i = 0; i < n; i++) {
        whole -= t[i].head + t[i].foot;
        if (t[i].weight == 0) t[i].weight = 1;
        sum += t[i].weight;
    }
    for (int i = 0; i < n; i++) {
        const double from = floor(whole * before / sum);
        before += t[i].weight;
        t[i].start = start;
        t[i].size = SL_MAX((int)(floor(whole * before / sum) - from), SMALLEST);
        start += t[i].head + t[i].size + t[i].foot + gap;
    }
}

static void place_rows(sl_layout *d, int top) {
    track row[SL_PLOT_MAX_GRID] = { 0 };
    int rows = 0;
    for (int i = 0; i < d->n; i++) {
        const sl_panel *p = d->place[i].panel;
        track *r = &row[p->row];
        rows = SL_MAX(rows, p->row + 1);
        r->head = SL_MAX(r->head, p->title ? PANEL_TITLE : 0);
        r->foot = SL_MAX(r->foot, (p->bare ? 0 : NUMBERS) + (p->x_label ? NAME : 0));
        r->weight = SL_MAX(r->weight, p->height > 0 ? p->height : 1);
    }
    share_out(row, rows, top, d->p->height - SL_PLOT__PAD / 2, GAP_Y);
    for (int i = 0; i < d->n; i++) {
        const track *r = &row[d->place[i].panel->row];
        d->place[i].box.y = r->start + r->head;
        d->place[i].box.h = r->size;
    }
}

static void place_columns(sl_layout *d) {
    track column[SL_PLOT_MAX_GRID] = { 0 };
    int columns = 0;
    for (int i = 0; i < d->n; i++) {
        sl_place *at = &d->place[i];
        track *c = &column[at->panel->column];
        at->y = make_axis(d->p, i, at->panel, true, at->box.h);
        sl_plot__ticks(&at->ticks_y, &at->y, SL_MIN(SL_MAX(at->box.h / 26, 2), 8));
        columns = SL_MAX(columns, at->panel->column + 1);
        const int name = at->panel->y_label ? NAME : 0;
        c->head = SL_MAX(c->head, name + widest_label(&at->ticks_y) + 8);
    }
    share_out(column, columns, SL_PLOT__PAD, d->p->width - SL_PLOT__PAD, GAP_X);
    for (int i = 0; i < d->n; i++) {
        sl_place *at = &d->place[i];
        const track *c = &column[at->panel->column];
        at->name_x = c->start + NAME / 2;
        at->box.x = c->start + c->head;
        at->box.w = c->size;
        at->x = make_axis(d->p, i, at->panel, false, at->box.w);
        sl_plot__ticks_fit(&at->ticks_x, &at->x, 9, at->box.w, SL_PLOT__FONT);
    }
}

sl_status sl_plot__layout(sl_layout *d, sl_arena *arena, const sl_plot *p) {
    *d = (sl_layout){ .p = p, .arena = arena };
    int legend, top = p->title ? SL_PLOT__PAD + TITLE : SL_PLOT__PAD;
    SL_TRY(place_legend(d, top, &legend));
    d->place = take(d, p->n_panels, sizeof *d->place);
    if (!d->place) return SL_ENOMEM;
    for (const sl_panel_node *n = p->panels; n; n = n->next)
        d->place[d->n++] = (sl_place){ .panel = &n->panel };
    place_rows(d, top + legend);
    place_columns(d);
    return SL_OK;
}

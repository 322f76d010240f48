/* plot - building a figure: all arguments are copied into one arena. */
#include <math.h>
#include <string.h>

#include "plot/plot_impl.h"

sl_status sl_plot_new(sl_plot **out, int width, int height) {
    SL_ASSERT(width >= 64 && width <= 16384 && height >= 64 && height <= 16384);
    sl_plot *p = sl_calloc(1, sizeof *p);
    if (!p) return sl_fail_memory(1, sizeof *p, "a figure");
    p->width = width;
    p->height = height;
    p->panels_end = &p->panels;
    p->layers_end = &p->layers;
    *out = p;
    return SL_OK;
}

void sl_plot_free(sl_plot *p) {
    if (!p) return;
    sl_arena_clear(&p->arena);
    sl_free(p);
}

/* A copy, or NULL if there is nothing to copy or no memory; the latter is remembered. */
static void *copy(sl_plot *p, const void *bytes, size_t n) {
    if (!bytes || p->failed) return NULL;
    void *w = sl_arena_alloc(&p->arena, n);
    if (!w) {
        p->failed = true;
        return NULL;
    }
    if (n) memcpy(w, bytes, n);
    return w;
}

static const char *copy_text(sl_plot *p, const char *text) {
    return copy(p, text, text ? strlen(text) + 1 : 0);
}

void sl_plot_title(sl_plot *p, const char *text) { p->title = copy_text(p, text); }

void sl_plot_describe(sl_plot *p, const char *name, const char *text) {
    p->name = copy_text(p, name);
    p->description = copy_text(p, text);
}

static bool is_range(sl_range r, bool log) {
    if (r.lo == 0 && r.hi == 0) return true;
    return isfinite(r.lo) && isfinite(r.hi) && r.lo < r.hi && (!log || r.lo > 0);
}

int sl_plot_panel(sl_plot *p, const sl_panel *panel) {
    SL_ASSERT(panel->row >= 0 && panel->row < SL_PLOT_MAX_GRID);
    SL_ASSERT(panel->column >= 0 && panel->column < SL_PLOT_MAX_GRID);
    SL_ASSERT(is_range(panel->x, panel->log_x) && is_range(panel->y, panel->log_y));
    SL_ASSERT(panel->height >= 0);
    for (const sl_panel_node *n = p->panels; n; n = n->next) // one panel a place
        SL_ASSERT(n->panel.row != panel->row || n->panel.column != panel->column);

    sl_panel_node node = { .panel = *panel };
    node.panel.title = copy_text(p, panel->title);
    node.panel.x_label = copy_text(p, panel->x_label);
    node.panel.y_label = copy_text(p, panel->y_label);
    sl_panel_node *kept = copy(p, &node, sizeof node);
    if (kept) {
        *p->panels_end = kept;
        p->panels_end = &kept->next;
    }
    return p->n_panels++;
}

/* Copies of n texts, each of which may be NULL. */
static const char *const *copy_texts(sl_plot *p, const char *const *texts, int64_t n) {
    const char **w = copy(p, texts, (size_t)n * sizeof *w);
    for (int64_t i = 0; w && i < n; i++) w[i] = copy_text(p, w[i]);
    return w;
}

static void add(sl_plot *p, sl_layer layer) {
    SL_ASSERT(layer.panel >= 0 && layer.panel < p->n_panels && layer.n >= 0);
    SL_ASSERT(layer.style.colour >= 0 && layer.style.shade >= 0 && layer.style.shade <= 1);
    const size_t bytes = (size_t)layer.n * sizeof *layer.x;
    layer.x = copy(p, layer.x, bytes);
    layer.y = copy(p, layer.y, bytes);
    layer.top = copy(p, layer.top, bytes);
    layer.style.label = copy_text(p, layer.style.label);
    layer.style.tips = copy_texts(p, layer.style.tips, layer.n);
    sl_layer *kept = copy(p, &layer, sizeof layer);
    if (!kept) return;
    *p->layers_end = kept;
    p->layers_end = &kept->next;
}

void sl_plot_marks(sl_plot *p, int panel, const double *x, const double *y, int64_t n,
                   const sl_style *style) {
    add(p, (sl_layer){ NULL, SL_LAYER_MARKS, panel, n, x, y, NULL, *style });
}

void sl_plot_line(sl_plot *p, int panel, const double *x, const double *y, int64_t n,
                  const sl_style *style) {
    add(p, (sl_layer){ NULL, SL_LAYER_LINE, panel, n, x, y, NULL, *style });
}

void sl_plot_band(sl_plot *p, int panel, const double *x, const double *lo, const double *hi,
                  int64_t n, const sl_style *style) {
    add(p, (sl_layer){ NULL, SL_LAYER_BAND, panel, n, x, lo, hi, *style });
}

void sl_plot_bars(sl_plot *p, int panel, const double *x, const double *lo, const double *hi,
                  int64_t n, const sl_style *style) {
    add(p, (sl_layer){ NULL, SL_LAYER_BARS, panel, n, x, lo, hi, *style });
}

void sl_plot_rule(sl_plot *p, int panel, double at, const sl_style *style) {
    add(p, (sl_layer){ NULL, SL_LAYER_RULE, panel, 1, NULL, &at, NULL, *style });
}

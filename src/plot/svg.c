/* svg - a figure as text: frame, legend, panels, layers. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "plot/plot_impl.h"

enum {
    MANY = 1500, // marks beyond this are drawn as cells
    CELL = 3,    // of so many pixels
    LEVELS = 6,  // in so many strengths
};

typedef struct drawing {
    sl_str *s;
    const sl_plot *p;
    sl_layout at;
    sl_arena arena;
} drawing;

/* ---------------------------------------------------------------- frame --------------------- */

/* Text at a place; more: further attributes. */
static void put_text(sl_str *s, double x, double y, const char *more, const char *text, double font,
                     double room) {
    SL_PLOT__PUT(s, "<text x=\"?\" y=\"?\"", x, y);
    sl_str_addf(s, "%s>", more);
    sl_plot__text(s, text, font, room);
    sl_str_add(s, "</text>\n");
}

static void put_head(drawing *d) {
    const sl_plot *p = d->p;
    sl_str *s = d->s;
    sl_str_addf(s,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"sl-plot\" role=\"img\" "
                "width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" font-size=\"%d\" "
                "font-family=\"system-ui,-apple-system,&#39;Segoe UI&#39;,Roboto,Helvetica,Arial,"
                "&#39;DejaVu Sans&#39;,sans-serif\"",
                p->width, p->height, p->width, p->height, SL_PLOT__FONT);
    const char *const name = p->name ? p->name : p->title;
    if (name) {
        sl_str_add(s, " aria-label=\"");
        sl_plot_escape(s, name);
        sl_str_add_char(s, '"');
    }
    sl_str_add(s, ">\n");
    if (p->description) {
        sl_str_add(s, "<desc>");
        sl_plot_escape(s, p->description);
        sl_str_add(s, "</desc>\n");
    }
    sl_plot__styles(s);
    sl_str_addf(s, "<rect class=\"b\" width=\"%d\" height=\"%d\"/>\n", p->width, p->height);
    if (p->title)
        put_text(s, SL_PLOT__PAD, SL_PLOT__PAD + 13,
                 " class=\"t\" font-size=\"16\" "
                 "font-weight=\"600\"",
                 p->title, SL_PLOT__FONT_TITLE * 1.1, p->width - 2 * SL_PLOT__PAD);
}

/* Pixels of a place 0 .. 1 on an axis. */
static double to_x(const sl_box *b, double t) { return b->x + b->w * t; }
static double to_y(const sl_box *b, double t) { return b->y + b->h * (1 - t); }

static void put_numbers(sl_str *s, const sl_place *at, int width) {
    const sl_box *box = &at->box;
    if (!at->panel->bare) {
        sl_str_add(s, "<g text-anchor=\"middle\">\n");
        for (int i = 0; i < at->ticks_x.n; i++) {
            const char *label = at->ticks_x.label[i];
            const double half = sl_plot__width(label, SL_PLOT__FONT) / 2;
            const double x = to_x(box, at->ticks_x.at[i]);
            put_text(s, SL_MIN(x, SL_MAX(width - half - 2, half)), box->y + box->h + 18, "", label,
                     SL_PLOT__FONT, INFINITY);
        }
        sl_str_add(s, "</g>\n");
    }
    sl_str_add(s, "<g text-anchor=\"end\">\n");
    for (int i = 0; i < at->ticks_y.n; i++)
        put_text(s, box->x - 8, to_y(box, at->ticks_y.at[i]) + 4, "", at->ticks_y.label[i],
                 SL_PLOT__FONT, INFINITY);
    sl_str_add(s, "</g>\n");
}

static void put_names(sl_str *s, const sl_place *at) {
    const sl_box *box = &at->box;
    const sl_panel *p = at->panel;
    if (p->title)
        put_text(s, box->x, box->y - 9, " class=\"t\" font-size=\"13\" font-weight=\"600\"",
                 p->title, SL_PLOT__FONT_NAME * 1.1, box->w);
    if (p->x_label)
        put_text(s, box->x + box->w / 2.0, box->y + box->h + (p->bare ? 17 : 38),
                 " text-anchor=\"middle\" font-size=\"13\"", p->x_label, SL_PLOT__FONT_NAME,
                 box->w);
    if (!p->y_label) return;
    SL_PLOT__PUT(s,
                 "<text transform=\"translate(? ?)rotate(-90)\" text-anchor=\"middle\" "
                 "font-size=\"13\">",
                 at->name_x, box->y + box->h / 2.0);
    sl_plot__text(s, p->y_label, SL_PLOT__FONT_NAME, box->h);
    sl_str_add(s, "</text>\n");
}

/* Lines are drawn at half pixels, where a width of 1 fills one row of pixels and not two halves. */
static double sharp(double v) { return floor(v) + 0.5; }

static void put_grid(sl_str *s, const sl_place *at) {
    const sl_box *b = &at->box;
    const sl_ticks *x = &at->ticks_x, *y = &at->ticks_y;
    const int bottom = b->y + b->h, right = b->x + b->w;
    sl_str_add(s, "<path class=\"g\" d=\"");
    for (int i = 0; i < x->n; i++)
        SL_PLOT__PUT(s, "M? ?V?", sharp(to_x(b, x->at[i])), b->y, bottom);
    for (int i = 0; i < y->n; i++) SL_PLOT__PUT(s, "M? ?H?", b->x, sharp(to_y(b, y->at[i])), right);
    // the lower left corner, and the small ticks outside
    SL_PLOT__PUT(s, "\"/>\n<path class=\"a\" fill=\"none\" d=\"M? ?V?H?", b->x + 0.5, b->y,
                 bottom + 0.5, right);
    for (int i = 0; i < x->minors; i++)
        SL_PLOT__PUT(s, "M? ?v4", sharp(to_x(b, x->minor[i])), bottom);
    for (int i = 0; i < y->minors; i++)
        SL_PLOT__PUT(s, "M? ?h-4", b->x, sharp(to_y(b, y->minor[i])));
    sl_str_add(s, "\"/>\n");
}

/* ---------------------------------------------------------------- layers -------------------- */

static double usual(double size, double otherwise) { return size > 0 ? size : otherwise; }

/* Opens a group for strokes. */
static void open_strokes(sl_str *s, const sl_style *style, double width) {
    sl_str_add(s, "<path");
    sl_plot__colour(s, style);
    sl_str_add(s, " fill=\"none\" stroke=\"currentColor\" stroke-linejoin=\"round\"");
    SL_PLOT__PUT(s, " stroke-width=\"?\"", usual(style->size, width));
    if (style->faint) sl_str_add(s, " stroke-opacity=\".4\"");
    sl_str_add(s, style->dashed ? " stroke-dasharray=\"6 4\"" : " stroke-linecap=\"round\"");
    sl_str_add(s, " d=\"");
}

/* The dot of (x, y), or NaN if it has no place. */
static sl_dot dot_of(const sl_place *at, double x, double y) {
    double tx, ty;
    if (!sl_plot__place(&tx, &at->x, x) || !sl_plot__place(&ty, &at->y, y))
        return (sl_dot){ NAN, NAN };
    return (sl_dot){ to_x(&at->box, tx), to_y(&at->box, ty) };
}

static bool is_inside(const sl_box *b, sl_dot d) { // false for NaN
    return d.x >= b->x && d.x <= b->x + b->w && d.y >= b->y && d.y <= b->y + b->h;
}

static sl_dot *take_dots(drawing *d, int64_t n) {
    sl_dot *w = sl_arena_alloc(&d->arena, (size_t)n * sizeof *w);
    if (!w) (void)sl_fail_memory((size_t)n, sizeof *w, "the points of a figure");
    return w;
}

static sl_status put_line(drawing *d, const sl_place *at, const sl_layer *l) {
    sl_dot *dots = take_dots(d, l->n);
    if (!dots) return SL_ENOMEM;
    for (int64_t i = 0; i < l->n; i++) dots[i] = dot_of(at, l->x[i], l->y[i]);
    const int64_t n = sl_plot__thin(dots, l->n, &at->box);
    open_strokes(d->s, &l->style, 2);
    sl_plot__line(d->s, &at->box, dots, n);
    sl_str_add(d->s, "\"/>\n");
    return SL_OK;
}

/* One end of a band from i to before end, thinned. */
static int64_t put_edge(sl_dot *dots, const sl_place *at, const sl_layer *l, const double *y,
                        int64_t i, int64_t end) {
    for (int64_t k = i; k < end; k++) dots[k - i] = dot_of(at, l->x[k], y[k]);
    return sl_plot__thin(dots, end - i, &at->box);
}

static sl_status put_band(drawing *d, const sl_place *at, const sl_layer *l) {
    sl_str *s = d->s;
    sl_dot *dots = take_dots(d, 2 * l->n), *work;
    if (!dots) return SL_ENOMEM;
    sl_str_add(s, "<path");
    sl_plot__colour(s, &l->style);
    sl_str_addf(s, " fill=\"currentColor\" fill-opacity=\"%s\" d=\"", l->style.faint ? ".1" : ".2");
    for (int64_t i = 0, end; i < l->n; i = end + 1) {
        for (end = i; end < l->n; end++)
            if (isnan(dot_of(at, l->x[end], l->y[end]).x) ||
                isnan(dot_of(at, l->x[end], l->top[end]).x))
                break;
        if (end == i) continue;
        // there along the lower end, back along the upper one
        int64_t n = put_edge(dots, at, l, l->y, i, end);
        const int64_t m = put_edge(dots + n, at, l, l->top, i, end);
        for (int64_t a = n, b = n + m - 1; a < b; a++, b--) {
            const sl_dot other = dots[a];
            dots[a] = dots[b];
            dots[b] = other;
        }
        n += m;
        work = take_dots(d, 12 * n);
        if (!work) return SL_ENOMEM;
        sl_plot__area(s, &at->box, dots, n, work);
    }
    sl_str_add(s, "\"/>\n");
    return SL_OK;
}

static sl_status put_bars(drawing *d, const sl_place *at, const sl_layer *l) {
    open_strokes(d->s, &l->style, 1.5);
    for (int64_t i = 0; i < l->n; i++) {
        const sl_dot bar[] = { dot_of(at, l->x[i], l->y[i]), dot_of(at, l->x[i], l->top[i]) };
        if (!isnan(bar[0].x) && !isnan(bar[1].x)) sl_plot__line(d->s, &at->box, bar, 2);
    }
    sl_str_add(d->s, "\"/>\n");
    return SL_OK;
}

static sl_status put_rule(drawing *d, const sl_place *at, const sl_layer *l) {
    const sl_box *b = &at->box;
    double t;
    if (!sl_plot__place(&t, &at->y, l->y[0])) return SL_OK;
    const sl_dot ends[] = { { b->x, to_y(b, t) }, { b->x + b->w, to_y(b, t) } };
    open_strokes(d->s, &l->style, 1.5);
    sl_plot__line(d->s, b, ends, 2);
    sl_str_add(d->s, "\"/>\n");
    return SL_OK;
}

/* ---------------------------------------------------------------- marks --------------------- */

/* Ends the element of a shape, with its tooltip. */
static void close_shape(sl_str *s, const char *element, const char *tip) {
    if (!tip) {
        sl_str_add(s, "/>\n");
        return;
    }
    sl_str_add(s, "><title>");
    sl_plot_escape(s, tip);
    sl_str_addf(s, "</title></%s>\n", element);
}

/* A circle, or corners around the middle, for radius 1. */
static void put_shape(sl_str *s, sl_mark mark, sl_dot at, double r, const char *tip) {
    static const struct {
        int n;
        double corner[20]; // x, y, x, y, ...
    } shape[] = {
        [SL_MARK_SQUARE] = { 4, { -.89, -.89, .89, -.89, .89, .89, -.89, .89 } },
        [SL_MARK_DIAMOND] = { 4, { 0, -1.25, 1.25, 0, 0, 1.25, -1.25, 0 } },
        [SL_MARK_TRIANGLE] = { 3, { 0, -1.3, 1.13, .65, -1.13, .65 } },
        [SL_MARK_STAR] = { 10, { 0, -1.6, .4,   -.55, 1.52, -.49, .65,   .21,  .94, 1.29,
                                 0, .68,  -.94, 1.29, -.65, .21,  -1.52, -.49, -.4, -.55 } },
    };
    if (mark == SL_MARK_DOT || mark == SL_MARK_RING) {
        SL_PLOT__PUT(s, "<circle cx=\"?\" cy=\"?\" r=\"?\"", at.x, at.y, r);
        close_shape(s, "circle", tip);
        return;
    }
    sl_str_add(s, "<path d=\"");
    for (int i = 0; i < shape[mark].n; i++) {
        const double *c = &shape[mark].corner[2 * i];
        sl_plot__dot(s, i, (sl_dot){ at.x + r * c[0], at.y + r * c[1] });
    }
    sl_str_add(s, "z\"");
    close_shape(s, "path", tip);
}

/* Opens a group for shapes: filled with a thin line around, or a ring. */
static void open_shapes(sl_str *s, const sl_style *style) {
    sl_str_add(s, "<g");
    sl_plot__colour(s, style);
    if (style->mark == SL_MARK_RING) {
        sl_str_addf(s, " fill=\"none\" stroke=\"currentColor\" stroke-width=\"1.5\"%s>\n",
                    style->faint ? " stroke-opacity=\".4\"" : "");
        return;
    }
    sl_str_addf(s,
                " fill=\"currentColor\" fill-opacity=\"%s\"><g class=\"m\" stroke-width=\".7\">\n",
                style->faint ? ".35" : ".8");
}

static void close_shapes(sl_str *s, const sl_style *style) {
    sl_str_add(s, style->mark == SL_MARK_RING ? "</g>\n" : "</g></g>\n");
}

/* -1 for none. */
static int level_of(uint32_t count, double unit) {
    if (!count) return -1;
    return unit > 0 ? SL_MIN((int)(sl_log(count) / unit), LEVELS - 1) : LEVELS - 1;
}

/* Cells by how many marks they have, in LEVELS strengths evenly spaced in the logarithm of it. Each
 * level is one path of strokes as wide as a cell, one for each run of cells in a row. */
static void put_cells(sl_str *s, const sl_box *box, const sl_style *style, const sl_cells *c) {
    uint32_t most = 1;
    for (int64_t i = 0; i < (int64_t)c->columns * c->rows; i++) most = SL_MAX(most, c->count[i]);
    const double unit = sl_log(most) / LEVELS;
    for (int level = 0; level < LEVELS; level++) {
        sl_str_add(s, "<path");
        sl_plot__colour(s, style);
        sl_str_addf(s, " stroke=\"currentColor\" stroke-width=\"%d\" stroke-opacity=\".%02d\" d=\"",
                    c->size, 25 + 70 * level / (LEVELS - 1));
        for (int r = 0; r < c->rows; r++)
            for (int k = 0, end; k < c->columns; k = end) {
                const uint32_t *row = c->count + (int64_t)r * c->columns;
                for (end = k; end < c->columns && level_of(row[end], unit) == level;) end++;
                if (end > k) {
                    SL_PLOT__PUT(s, "M? ?H?", box->x + k * c->size,
                                 box->y + SL_MIN((r + 0.5) * c->size, box->h),
                                 box->x + SL_MIN(end * c->size, box->w));
                } else {
                    end++;
                }
            }
        sl_str_add(s, "\"/>\n");
    }
}

static sl_status put_marks(drawing *d, const sl_place *at, const sl_layer *l) {
    sl_dot *dots = take_dots(d, l->n);
    const char **tips = sl_arena_alloc(&d->arena, (size_t)l->n * sizeof *tips);
    if (!dots) return SL_ENOMEM;
    if (!tips) return sl_fail_memory((size_t)l->n, sizeof *tips, "the points of a figure");
    int64_t n = 0;
    for (int64_t i = 0; i < l->n; i++) {
        dots[n] = dot_of(at, l->x[i], l->y[i]);
        tips[n] = l->style.tips ? l->style.tips[i] : NULL;
        n += is_inside(&at->box, dots[n]);
    }
    const double r = usual(l->style.size, n <= 100 ? 4 : n <= 400 ? 3.2 : 2.5);
    if (n > MANY) { // of those that hide each other one is enough
        sl_cells c;
        SL_TRY(sl_plot__cells(&c, &d->arena, &at->box, 1, dots, n));
        if (c.filled > MANY) {
            SL_TRY(sl_plot__cells(&c, &d->arena, &at->box, CELL, dots, n));
            put_cells(d->s, &at->box, &l->style, &c);
            return SL_OK;
        }
        int64_t kept = 0;
        for (int64_t i = 0; i < n; i++) {
            uint32_t *count = &c.count[sl_plot__cell(&c, &at->box, dots[i])];
            if (*count) {
                tips[kept] = tips[i];
                dots[kept++] = dots[i];
            }
            *count = 0;
        }
        n = kept;
    }
    open_shapes(d->s, &l->style);
    for (int64_t i = 0; i < n; i++) put_shape(d->s, l->style.mark, dots[i], r, tips[i]);
    close_shapes(d->s, &l->style);
    return SL_OK;
}

/* ---------------------------------------------------------------- all ----------------------- */

/* A sample of a layer, from x on, around y. */
static void put_sample(sl_str *s, const sl_layer *l, double x, double y) {
    const double middle = x + SL_PLOT__SWATCH / 2.0, end = x + SL_PLOT__SWATCH;
    switch (l->kind) {
    case SL_LAYER_MARKS:
        open_shapes(s, &l->style);
        put_shape(s, l->style.mark, (sl_dot){ middle, y }, SL_MIN(usual(l->style.size, 4), 6),
                  NULL);
        close_shapes(s, &l->style);
        return;
    case SL_LAYER_BAND:
        sl_str_add(s, "<rect");
        sl_plot__colour(s, &l->style);
        SL_PLOT__PUT(s, " x=\"?\" y=\"?\" width=\"?\" height=\"10\" fill=\"currentColor\"", x,
                     y - 5, SL_PLOT__SWATCH);
        sl_str_addf(s, " fill-opacity=\"%s\"/>\n", l->style.faint ? ".1" : ".2");
        return;
    case SL_LAYER_BARS:
    case SL_LAYER_LINE:
    case SL_LAYER_RULE:
        open_strokes(s, &l->style, l->kind == SL_LAYER_LINE ? 2 : 1.5);
        const sl_dot line[] = {
            l->kind == SL_LAYER_BARS ? (sl_dot){ middle, y - 6 } : (sl_dot){ x, y },
            l->kind == SL_LAYER_BARS ? (sl_dot){ middle, y + 6 } : (sl_dot){ end, y }
        };
        sl_plot__line(s, &(sl_box){ (int)x, (int)y - 6, SL_PLOT__SWATCH, 12 }, line, 2);
        sl_str_add(s, "\"/>\n");
    }
}

static bool same_label(const sl_layer *a, const char *label) {
    return a->style.label && strcmp(a->style.label, label) == 0;
}

/* Has a layer before it the same label and looks? Panels of one figure often repeat a series. */
static bool is_repeated(const sl_plot *p, const sl_layer *l) {
    for (const sl_layer *b = p->layers; b != l; b = b->next)
        if (same_label(b, l->style.label) && b->kind == l->kind && b->style.mark == l->style.mark &&
            b->style.colour == l->style.colour && b->style.shade == l->style.shade)
            return true;
    return false;
}

/* Layers that share a label are one over the other: a line with marks on it. */
static void put_legend(drawing *d) {
    for (int i = 0; i < d->at.entries; i++) {
        const sl_entry *e = &d->at.entry[i];
        for (const sl_layer *l = d->p->layers; l; l = l->next)
            if (same_label(l, e->label) && !is_repeated(d->p, l)) put_sample(d->s, l, e->x, e->y);
        put_text(d->s, e->x + SL_PLOT__SWATCH + 8, e->y + 4, "", e->label, SL_PLOT__FONT, e->room);
    }
}

static sl_status put_panel(drawing *d, const sl_place *at, int number) {
    static sl_status (*const put[])(drawing *, const sl_place *, const sl_layer *) = {
        [SL_LAYER_MARKS] = put_marks, [SL_LAYER_LINE] = put_line, [SL_LAYER_BAND] = put_band,
        [SL_LAYER_BARS] = put_bars,   [SL_LAYER_RULE] = put_rule,
    };
    put_grid(d->s, at);
    for (const sl_layer *l = d->p->layers; l; l = l->next) {
        if (l->panel != number) continue;
        const size_t mark = sl_arena_mark(&d->arena);
        SL_TRY(put[l->kind](d, at, l));
        sl_arena_rewind(&d->arena, mark);
    }
    put_numbers(d->s, at, d->p->width);
    put_names(d->s, at);
    return SL_OK;
}

sl_status sl_plot_svg(sl_str *s, const sl_plot *p) {
    if (p->failed) return sl_fail(SL_ENOMEM, "no memory for the data of a figure");
    const size_t mark = s->len;
    sl_status st;
    drawing d = { .s = s, .p = p };
    SL_GO(sl_plot__layout(&d.at, &d.arena, p));
    put_head(&d);
    put_legend(&d);
    for (int i = 0; i < d.at.n; i++) SL_GO(put_panel(&d, &d.at.place[i], i));
    sl_str_add(s, "</svg>\n");
    st = sl_str_status(s);
done:
    if (st != SL_OK) sl_str_truncate(s, mark);
    sl_arena_clear(&d.arena);
    return st;
}

/* pixels - thinning and clipping of what is drawn.
 *
 * A million points show no more than the screen has pixels. Of a line's points in one column of
 * pixels the first, the lowest, the highest and the last are kept, in their order, so the line
 * covers the same pixels. Marks are counted by cells, and a cell is drawn once.
 *
 * Clipping is done here and not by the viewer: coordinates far outside are long numbers, and some
 * viewers fail on them. */
#include <math.h>

#include "plot/plot_impl.h"

/* ---------------------------------------------------------------- lines --------------------- */

typedef struct pen {
    sl_str *s;
    sl_dot lo, hi; // corners of the box
    sl_dot at;     // where the path ends
    bool down;     // there is a path
    bool have;     // there is a point before
    sl_dot last;   // it, clipped or not
    bool drawn;    // something was drawn since the line's start
} pen;

void sl_plot__dot(sl_str *s, int64_t number, sl_dot d) {
    SL_PLOT__PUT(s, number == 0 ? "M? ?" : number == 1 ? "L? ?" : " ? ?", d.x, d.y);
}

/* The part of a .. b inside the box (Liang and Barsky 1984); false if there is none. */
static bool clip(sl_dot *a, sl_dot *b, const pen *p) {
    const double dx = b->x - a->x, dy = b->y - a->y;
    const double move[] = { -dx, dx, -dy, dy };
    const double left[] = { a->x - p->lo.x, p->hi.x - a->x, a->y - p->lo.y, p->hi.y - a->y };
    double from = 0, to = 1;
    for (int i = 0; i < 4; i++) {
        if (move[i] == 0) {
            if (left[i] < 0) return false;
            continue;
        }
        const double t = left[i] / move[i];
        if (move[i] < 0)
            from = SL_MAX(from, t);
        else
            to = SL_MIN(to, t);
    }
    if (from > to) return false;
    const sl_dot start = *a;
    if (from > 0) *a = (sl_dot){ start.x + from * dx, start.y + from * dy };
    if (to < 1) *b = (sl_dot){ start.x + to * dx, start.y + to * dy };
    return true;
}

/* Rounding of a clipped end may leave it slightly outside. */
static sl_dot inside(sl_dot d, const pen *p) {
    return (sl_dot){ SL_MIN(SL_MAX(d.x, p->lo.x), p->hi.x), SL_MIN(SL_MAX(d.y, p->lo.y), p->hi.y) };
}

static void draw_to(pen *p, sl_dot d) {
    sl_dot a = p->last, b = d;
    const bool first = !p->have;
    p->last = d;
    p->have = true;
    if (first || !clip(&a, &b, p)) return;
    a = inside(a, p);
    b = inside(b, p);
    if (!p->down || a.x != p->at.x || a.y != p->at.y) {
        sl_plot__dot(p->s, 0, a);
        sl_plot__dot(p->s, 1, b);
    } else {
        sl_plot__dot(p->s, 2, b);
    }
    p->at = b;
    p->down = p->drawn = true;
}

/* The line ends or breaks. A point that is alone becomes a dot: a line of no length has round ends.
 */
static void lift(pen *p) {
    const sl_dot d = p->last;
    if (p->have && !p->drawn && d.x >= p->lo.x && d.x <= p->hi.x && d.y >= p->lo.y &&
        d.y <= p->hi.y) {
        SL_PLOT__PUT(p->s, "M? ?h0", d.x, d.y);
    }
    p->have = p->down = p->drawn = false;
}

/* Half a pixel wide; all that is left or right of the box is one column each. */
static int column(const sl_box *box, double x) {
    const double c = floor((x - box->x) * 2);
    return c < 0 ? -1 : c > 2 * box->w ? 2 * box->w + 1 : (int)c;
}

static int64_t thin_columns(sl_dot *dots, int64_t n, const sl_box *box) {
    int64_t m = 0; // never past i: of a run no more are kept than it has
    for (int64_t i = 0; i < n;) {
        if (isnan(dots[i].x)) {
            dots[m++] = dots[i++];
            continue;
        }
        const int c = column(box, dots[i].x);
        int64_t low = i, high = i, end = i + 1;
        for (; end < n && !isnan(dots[end].x) && column(box, dots[end].x) == c; end++) {
            if (dots[end].y < dots[low].y) low = end;
            if (dots[end].y > dots[high].y) high = end;
        }
        const int64_t keep[] = { i, SL_MIN(low, high), SL_MAX(low, high), end - 1 };
        for (int k = 0; k < 4; k++)
            if (k == 0 || keep[k] > keep[k - 1]) dots[m++] = dots[keep[k]];
        i = end;
    }
    return m;
}

/* Is p no further from the stretch a .. b than a twentieth of a pixel? */
static bool is_near(sl_dot p, sl_dot a, sl_dot b) {
    const double dx = b.x - a.x, dy = b.y - a.y, length = dx * dx + dy * dy;
    const double t = length > 0 ? ((p.x - a.x) * dx + (p.y - a.y) * dy) / length : 0;
    const double on = SL_MIN(SL_MAX(t, 0), 1), x = a.x + on * dx - p.x, y = a.y + on * dy - p.y;
    return x * x + y * y <= 0.0025;
}

/* May all dots between first and last be left out? No dot is near NaN. */
static bool is_straight(const sl_dot *dots, int64_t first, int64_t last) {
    for (int64_t i = first + 1; i < last; i++)
        if (!is_near(dots[i], dots[first], dots[last])) return false;
    return true;
}

/* Straight stretches become one: from each dot as far as all between are near, within a limit that
 * keeps the work linear. */
static int64_t thin_straight(sl_dot *dots, int64_t n) {
    enum { FURTHEST = 48 };
    int64_t m = 0;
    for (int64_t i = 0; i < n;) {
        int64_t end = i + 1;
        if (!isnan(dots[i].x))
            while (end + 1 < n && end - i < FURTHEST && is_straight(dots, i, end + 1)) end++;
        dots[m++] = dots[i];
        i = end;
    }
    return m;
}

int64_t sl_plot__thin(sl_dot *dots, int64_t n, const sl_box *box) {
    return thin_straight(dots, thin_columns(dots, n, box));
}

void sl_plot__line(sl_str *s, const sl_box *box, const sl_dot *dots, int64_t n) {
    pen p = { .s = s, .lo = { box->x, box->y }, .hi = { box->x + box->w, box->y + box->h } };
    for (int64_t i = 0; i < n; i++)
        if (isnan(dots[i].x))
            lift(&p);
        else
            draw_to(&p, dots[i]);
    lift(&p);
}

/* ---------------------------------------------------------------- areas --------------------- */

/* One step of Sutherland and Hodgman (1974): what of a polygon is on the inner side of one edge,
 * the side where sign * (coordinate - edge) >= 0. */
static int64_t cut(sl_dot *out, const sl_dot *in, int64_t n, bool upright, double edge,
                   double sign) {
    int64_t m = 0;
    for (int64_t i = 0; i < n; i++) {
        const sl_dot a = in[i], b = in[(i + 1) % n];
        const double da = sign * ((upright ? a.x : a.y) - edge);
        const double db = sign * ((upright ? b.x : b.y) - edge);
        if (da >= 0) out[m++] = a;
        if ((da >= 0) == (db >= 0)) continue;
        const double t = da / (da - db);
        sl_dot d = { a.x + t * (b.x - a.x), a.y + t * (b.y - a.y) };
        *(upright ? &d.x : &d.y) = edge;
        out[m++] = d;
    }
    return m;
}

void sl_plot__area(sl_str *s, const sl_box *box, const sl_dot *dots, int64_t n, sl_dot *work) {
    // a step puts two dots in the place of one or more, so each makes at most half as many again
    sl_dot *a = work, *b = work + 6 * n;
    int64_t m = cut(a, dots, n, true, box->x, 1);
    m = cut(b, a, m, true, box->x + box->w, -1);
    m = cut(a, b, m, false, box->y, 1);
    m = cut(b, a, m, false, box->y + box->h, -1);
    for (int64_t i = 0; i < m; i++) sl_plot__dot(s, i, b[i]);
    if (m > 0) sl_str_add_char(s, 'z');
}

/* ---------------------------------------------------------------- marks --------------------- */

int64_t sl_plot__cell(const sl_cells *c, const sl_box *box, sl_dot d) {
    const int column = SL_MIN((int)(d.x - box->x) / c->size, c->columns - 1);
    const int row = SL_MIN((int)(d.y - box->y) / c->size, c->rows - 1);
    return (int64_t)row * c->columns + column;
}

sl_status sl_plot__cells(sl_cells *out, sl_arena *a, const sl_box *box, int size,
                         const sl_dot *dots, int64_t n) {
    *out = (sl_cells){ .size = size,
                       .columns = (box->w + size - 1) / size,
                       .rows = (box->h + size - 1) / size };
    const size_t cells = (size_t)out->columns * (size_t)out->rows;
    out->count = sl_arena_alloc(a, cells * sizeof *out->count);
    if (!out->count) return sl_fail_memory(cells, sizeof *out->count, "the cells of a figure");
    for (size_t i = 0; i < cells; i++) out->count[i] = 0;
    for (int64_t i = 0; i < n; i++) {
        uint32_t *count = &out->count[sl_plot__cell(out, box, dots[i])];
        out->filled += *count == 0;
        *count += *count < UINT32_MAX;
    }
    return SL_OK;
}

/* Akima's interpolation. H. Akima, "A new method of interpolation and smooth curve fitting based on
 * local procedures", J. ACM 17 (1970) 589-602. */
#include "num/num_impl.h"

#include <math.h>

/* m is the list of slopes between neighbours with two extrapolated ones on either side (linearly),
 * so the slope at point i depends on m[i] .. m[i+3]:
 *
 *     point            0     1     2  ...  n-1
 *     slope   m0  m1 | m2    m3    m4 ...     | m[n+1] m[n+2]
 *
 * Both weights vanish where the data are straight on both sides but kink here. Then, as in SciPy,
 * the slope is the mean of the outer two; "vanish" is relative to the largest sum of weights. */
static void node_slopes(double *slope, const double *m, int n) {
    double top = 0;
    for (int i = 0; i < n; i++) top = fmax(top, fabs(m[i + 3] - m[i + 2]) + fabs(m[i + 1] - m[i]));
    for (int i = 0; i < n; i++) {
        double left = fabs(m[i + 3] - m[i + 2]); // the bend on the right is the weight of the left
        double right = fabs(m[i + 1] - m[i]);
        slope[i] = left + right <= 1e-9 * top
                       ? 0.5 * (m[i] + m[i + 3])
                       : (left * m[i + 1] + right * m[i + 2]) / (left + right);
    }
}

sl_status sl_num_akima_init(sl_akima *out, sl_arena *a, const double *x, const double *y, int n) {
    if (n < 2) return sl_fail(SL_EINVAL, "interpolation needs two points, there are %d", n);
    for (int i = 1; i < n; i++) {
        if (!(x[i - 1] < x[i])) {
            return sl_fail(SL_EINVAL, "interpolation points must increase: %g, then %g", x[i - 1],
                           x[i]);
        }
    }
    size_t room = (size_t)n * 2 + 3;
    double *slope = sl_num__alloc(a, room, sizeof *slope);
    if (!slope) return sl_fail(SL_ENOMEM, "no memory to interpolate %d points", n);

    double *m = slope + n;
    for (int i = 0; i + 1 < n; i++) m[i + 2] = (y[i + 1] - y[i]) / (x[i + 1] - x[i]);
    if (n == 2) m[3] = m[2]; // a straight line: the one slope is also its neighbour
    m[1] = 2 * m[2] - m[3];
    m[0] = 2 * m[1] - m[2];
    m[n + 1] = 2 * m[n] - m[n - 1];
    m[n + 2] = 2 * m[n + 1] - m[n];
    node_slopes(slope, m, n);

    sl_arena_shrink(a, slope, room * sizeof *slope, (size_t)n * sizeof *slope);
    *out = (sl_akima){ .x = x, .y = y, .slope = slope, .n = n };
    return SL_OK;
}

double sl_num_akima_at(const sl_akima *s, double at) {
    if (!(at >= s->x[0] && at <= s->x[s->n - 1])) return NAN;
    int lo = 0, hi = s->n - 1; // x[lo] <= at, and at < x[hi] or hi is the last
    while (hi - lo > 1) {
        int mid = lo + (hi - lo) / 2;
        if (s->x[mid] <= at)
            lo = mid;
        else
            hi = mid;
    }

    // cubic Hermite around the left end; at the right end the value itself, not a rounding of it
    if (at == s->x[hi]) return s->y[hi];
    double h = s->x[hi] - s->x[lo], t = at - s->x[lo];
    double chord = (s->y[hi] - s->y[lo]) / h, d0 = s->slope[lo], d1 = s->slope[hi];
    double c2 = (3 * chord - 2 * d0 - d1) / h, c3 = (d0 + d1 - 2 * chord) / (h * h);
    return s->y[lo] + t * (d0 + t * (c2 + t * c3));
}

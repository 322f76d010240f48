/* refine_circle - a descent that passes poles.
 *
 * Where 1/(x1 - c x2) is fitted, every row has a value of c at which it is infinite, and least
 * squares end in a local minimum between two of these poles. On the projective line +infinity and
 * -infinity are one point, and a value passes from one to the other continuously. So values are
 * compared as directions: u stands for the line through (1, u), and the residual of value u and
 * datum y is the sine of the angle between their lines,
 *
 *     r = (u - y) / (sqrt(1 + u^2) sqrt(1 + y^2)) ,     u, y in units of the median |y|.
 *
 * Beyond a pole it has the other sign, and so have its derivatives: the sum of squares and its
 * slope are smooth there. It is 0 only where u = y, so data without noise have the same solution;
 * and large values do not dominate the sum. The result is only a better start for least squares. */
#include <math.h>

#include "fit/fit_impl.h"

/* The direction of (1, u), of length 1; (0, 1) if u is infinite. */
typedef struct direction {
    double c, s;
} direction;

static direction direction_of(double u) {
    if (fabs(u) <= 1) {
        const double c = 1 / sqrt(1 + u * u);
        return (direction){ c, u * c };
    }
    const double t = 1 / u, s = copysign(1 / sqrt(1 + t * t), u); // u * u may be no number
    return (direction){ s * t, s };
}

static sl_status circle_residuals(double *r, double *const *jac, const double *value,
                                  void *payload) {
    sl_fit__descent *d = payload;
    const sl_fit__rows *rows = d->rows;
    const sl_fit__code *code = d->code;
    const double size = rows->size;
    double *u = r ? r : d->col[code->n];
    SL_TRY(sl_expr_program_run(u, code->value, rows->x, rows->m, value, d->scratch));
    if (r) {
        for (int i = 0; i < rows->m; i++) {
            const direction a = direction_of(u[i] / size), b = direction_of(rows->y[i] / size);
            r[i] = rows->scale[i] / rows->unit * (a.s * b.c - a.c * b.s);
        }
        return SL_OK;
    }
    for (int i = 0; i < rows->m; i++) { // from here on: dr/du
        const direction a = direction_of(u[i] / size), b = direction_of(rows->y[i] / size);
        u[i] = rows->scale[i] / rows->unit * a.c * a.c * (a.c * b.c + a.s * b.s) / size;
    }
    for (int k = 0; k < code->n; k++) {
        SL_TRY(sl_expr_program_run(jac[k], code->slope[k], rows->x, rows->m, value, d->scratch));
        for (int i = 0; i < rows->m; i++) jac[k][i] *= u[i];
    }
    return SL_OK;
}

sl_status sl_fit__circle(sl_fit__descent *d, double *value, int evaluations) {
    double sse;
    return sl_fit__minimize(d, value, NULL, &sse, evaluations, d->code->n, circle_residuals, d);
}

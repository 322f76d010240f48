#!/usr/bin/env python3
"""Writes answers.txt, the answers of NumPy, SciPy and mpmath that the tests of src/num are held to.

    python3 answers.py        needs numpy, scipy, mpmath

Linear problems are solved by mpmath with very many digits, so those answers are exact to the last
bit; the rest are the libraries' own. The format: `case <kind>`, then lines of `<key> <count> <values>`.
"""
import os

import mpmath as mp
import numpy as np
import scipy
from scipy import interpolate, optimize, stats

mp.mp.dps = 60
rng = np.random.default_rng(20240917)
out = []


def case(kind, **arrays):
    out.append(f"case {kind}")
    for key, values in arrays.items():
        values = np.atleast_1d(np.asarray(values, dtype=float)).ravel()
        out.append(f"{key} {len(values)} " + " ".join(repr(float(v)) for v in values))
    out.append("")


def exact_lsq(A, y, w):
    """Coefficients, standard errors and weighted sum of squares by normal equations."""
    n = A.shape[1]
    M = mp.matrix(A.tolist())
    Y = mp.matrix([mp.mpf(float(v)) for v in y])
    W = mp.diag([mp.mpf(float(v)) for v in w])
    N = (M.T * W * M) ** -1
    c = N * (M.T * W * Y)
    r = Y - M * c
    sse = (r.T * W * r)[0]
    s2 = sse / (sum(v > 0 for v in w) - n)
    return [float(v) for v in c], [float(mp.sqrt(N[j, j] * s2)) for j in range(n)], float(sse)


# ---- linear: plain, weighted (one weight 0), polynomial, columns in absurd units, weights far apart
def linear(A, y, w=None, digits=12):
    with mp.workdps(800):  # normal equations of columns of size 1e-150 and 1e140
        c, se, sse = exact_lsq(A, y, np.ones(len(y)) if w is None else w)
    arrays = dict(size=A.shape, a=A.T, y=y, coef=c, se=se, sse=sse, digits=digits)
    if w is not None:
        arrays["w"] = w
    case("lsq", **arrays)


A = rng.normal(size=(12, 3))
linear(A, A @ [1, -2, 3] + 0.1 * rng.normal(size=12))
w = rng.uniform(0.2, 3, 20)
w[3] = 0
A = rng.normal(size=(20, 4))
linear(A, rng.normal(size=20), w)
x = np.linspace(0, 2, 25)
linear(np.vander(x, 6), np.sin(3 * x), digits=10)
A = rng.normal(size=(15, 3)) * [1e-150, 1, 1e140]
linear(A, rng.normal(size=15))
linear(rng.normal(size=(5, 4)), rng.normal(size=5), digits=11)
linear(rng.normal(size=(30, 2)), rng.normal(size=30), 10.0 ** rng.uniform(-8, 8, 30), digits=10)
linear(np.ones((9, 1)), 1e8 + rng.normal(size=9))


# ---- power laws, with the unweighted R2 of the logarithms
def power(x, y, w=None):
    A = np.empty((len(x), 2), dtype=object)
    A[:, 0] = mp.mpf(1)
    A[:, 1] = [mp.log(mp.mpf(float(v))) for v in x]
    ly = [mp.log(mp.mpf(float(v))) for v in y]
    M = mp.matrix(A.tolist())
    W = mp.diag([mp.mpf(float(v)) for v in (np.ones(len(x)) if w is None else w)])
    N = (M.T * W * M) ** -1
    Y = mp.matrix(ly)
    c = N * (M.T * W * Y)
    r = Y - M * c
    s2 = (r.T * W * r)[0] / (len(x) - 2)
    mean = sum(ly) / len(ly)
    r2 = 1 - sum(v * v for v in r) / sum((v - mean) ** 2 for v in ly)
    fit = [c[0], c[1], mp.sqrt(N[0, 0] * s2), mp.sqrt(N[1, 1] * s2), r2]
    arrays = dict(x=x, y=y, fit=[float(v) for v in fit])
    if w is not None:
        arrays["w"] = w
    case("power", **arrays)


C = np.geomspace(1e17, 4e19, 15)
power(C, 3.7 * C**-0.12 * np.exp(0.03 * rng.normal(size=15)))
power(C, 1e-3 * C**0.51 * np.exp(0.1 * rng.normal(size=15)), rng.uniform(0.1, 5, 15))
power(np.array([1.0, 2.0, 5.0]), np.array([2.0, 1.0, 7.0]))

# ---- non-linear: the models are written again in the test, by number
models = [
    lambda p, x: p[0] * np.exp(-p[1] * x) + p[2],
    lambda p, x: p[0] * np.sin(p[1] * x + p[2]),
    lambda p, x: np.logaddexp(p[0] - p[1] * x, p[2]),
]
for number, (p, start, x, noise) in enumerate([
    ([2.5, 1.3, 0.5], [1, 1, 0], np.linspace(0, 4, 40), 0.05),
    ([1.7, 2.1, 0.4], [1, 2, 0], np.linspace(-2, 3, 50), 0.1),
    ([3, 0.3, 0.2], [2, 0.2, 0], np.linspace(1, 30, 24), 0.01),
]):
    y = models[number](p, x) + noise * rng.normal(size=len(x))
    fun = lambda q: models[number](q, x) - y
    fit = optimize.least_squares(fun, p, jac="cs" if number < 2 else "3-point", method="lm",
                                 ftol=1e-15, xtol=1e-15, gtol=1e-15)
    cov = np.linalg.inv(fit.jac.T @ fit.jac) * 2 * fit.cost / (len(x) - 3)
    case("nls", model=number, x=x, y=y, start=start, p=fit.x, se=np.sqrt(np.diag(cov)),
         sse=2 * fit.cost)

# ---- Akima: few points, random ones, straight stretches that end in a kink, logarithmic sweeps
def akima(x, y):
    at = np.concatenate([np.linspace(x[0], x[-1], 41)[:-1], x])
    case("akima", x=x, y=y, at=at, value=interpolate.Akima1DInterpolator(x, y)(at))


akima(np.array([0.0, 2.5]), np.array([2.0, -1.0]))
akima(np.array([0.0, 1.0, 3.0]), np.array([2.0, 1.0, 4.0]))
akima(np.array([0.0, 1.0, 3.0, 3.5]), np.array([2.0, 1.0, 4.0, -1.0]))
for n in (5, 9, 20):
    akima(np.cumsum(rng.uniform(0.1, 2, n)), rng.normal(size=n))
akima(np.arange(11.0), np.array([10, 10, 10, 10, 10, 10, 10.5, 15, 50, 60, 85.0]))
akima(np.arange(9.0), np.array([0, 1, 2, 3, 4, 3, 2, 1, 0.0]))
akima(np.arange(8.0), np.array([0, 0, 0, 0, 1, 2, 3, 4.0]))
akima(np.arange(5.0), np.full(5, 0.25))
x = np.arange(9) * 0.1  # slopes that are equal but for rounding, then nearly so
akima(x, 3 * np.abs(x - 0.4))
akima(np.arange(9.0), np.array([0, 1, 2, 3, 4, 3, 2, 1, 0]) + 3e-10 * rng.normal(size=9))
akima(np.arange(9.0), np.array([0, 1, 2, 3, 4, 3, 2, 1, 0]) + 3e-8 * rng.normal(size=9))
lr = np.array([1e-4, 3e-4, 1e-3, 3e-3, 1e-2])
akima(np.log(lr), np.log([2.31, 1.87, 1.62, 1.71, 3.4]))

# ---- statistics
for x in (rng.normal(size=10), rng.normal(size=31) * 1e-3 + 1e6, rng.exponential(size=100),
          np.array([3.0, 1.0]), np.array([4.0]), np.array([1.0, 1, 2, 2, 2, 7])):
    q = np.concatenate([[0, 0.025, 0.25, 0.5, 0.975, 1], rng.uniform(size=10)])
    X = [mp.mpf(float(v)) for v in x]
    mean = sum(X) / len(X)
    var = sum((v - mean) ** 2 for v in X) / (len(X) - 1) if len(X) > 1 else mp.nan
    case("sample", x=x, mean=float(mean), var=float(var), q=q, quantile=np.quantile(x, q),
         median=np.median(x))

for scale in (1, 1e-180, 1e180):
    y = rng.normal(size=20)
    f = y + 0.3 * rng.normal(size=20)
    Y, F = [mp.mpf(float(v) * scale) for v in y], [mp.mpf(float(v) * scale) for v in f]
    mean = sum(Y) / len(Y)
    r2 = 1 - sum((a - b) ** 2 for a, b in zip(Y, F)) / sum((v - mean) ** 2 for v in Y)
    case("r2", y=[float(v) for v in Y], f=[float(v) for v in F], r2=float(r2))

rows = []
for k, n, level in ((0, 10, 0.95), (3, 10, 0.95), (10, 10, 0.9), (1, 1, 0.99), (640, 1000, 0.95),
                    (999, 1000, 0.95), (0, 1, 0.5), (123456, 1000000, 0.999)):
    ci = stats.binomtest(k, n).proportion_ci(level, method="wilson")
    rows.append([k, n, level, ci.low, ci.high])
case("wilson", rows=rows)

# ---- distributions; the quantile by mpmath, because SciPy's loses digits near 1/2
x = np.concatenate([np.linspace(-37, 8, 91), [-1e-9, 0, 1e-300]])
case("normal_cdf", x=x, value=[float(mp.ncdf(mp.mpf(float(v)))) for v in x])
p = np.concatenate([np.linspace(0.001, 0.999, 57), 10.0 ** -np.arange(3, 301, 9), [0.075, 0.925,
                    np.exp(-25), 1 - 1e-10, 0.5 + 1e-12]])
case("normal_quantile", p=p,
     value=[float(mp.sqrt(2) * mp.erfinv(2 * mp.mpf(float(v)) - 1)) if v > 1e-12 else
            float(mp.findroot(lambda z: mp.log(mp.ncdf(z)) - mp.log(mp.mpf(float(v))),
                              mp.mpf(stats.norm.ppf(v)))) for v in p])
rows = []
for k in (0.5, 1, 2, 3, 10, 19, 20, 21, 100, 999, 20000):
    for f in (1e-3, 0.1, 0.5, 0.9, 1, 1.1, 1.5, 2, 4, 20):
        rows.append([k * f, k, float(mp.gammainc(mp.mpf(k) / 2, mp.mpf(k * f) / 2, regularized=True))])
case("chi2", rows=[r for r in rows if r[2] > 1e-290])
case("ks", rows=[[d / np.sqrt(n), n, stats.kstwo.sf(d / np.sqrt(n), n)] for n in (10, 30, 100, 1000,
                 20000) for d in np.arange(0.3, 2.6, 0.1)])
t = np.arange(0.05, 4, 0.05)
case("kolmogorov", t=t, value=stats.kstwobign.sf(t))

# ---- least squares with coefficients >= 0: plain, one column in another unit, all coefficients 0
other = np.random.default_rng(11)  # of its own: the cases above stay as they are
for m, n, unit in ((12, 3, 1), (30, 5, 1), (25, 4, 1e9), (8, 6, 1), (40, 7, 1e-6)):
    A = other.normal(size=(m, n))
    y = A @ np.abs(other.normal(size=n)) * other.choice([-1, 1]) + other.normal(size=m)
    A[:, 0] *= unit
    length = np.linalg.norm(A, axis=0)  # SciPy's own tolerance depends on units
    c, norm = optimize.nnls(A / length, y)
    c /= length
    case("nnls", size=A.shape, a=A.T, y=y, coef=c, sse=norm ** 2)
A = np.abs(other.normal(size=(10, 3)))
c, norm = optimize.nnls(A, -np.ones(10))
case("nnls", size=A.shape, a=A.T, y=-np.ones(10), coef=c, sse=norm ** 2)

here = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(here, "answers.txt"), "w", encoding="ascii") as f:
    f.write(f"# Made by answers.py with NumPy {np.__version__}, SciPy {scipy.__version__}, mpmath "
            f"{mp.__version__}.\n\n")
    f.write("\n".join(out))

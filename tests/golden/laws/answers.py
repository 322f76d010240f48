#!/usr/bin/env python3
"""Writes answers.txt, the answers of NumPy and SciPy that the tests of src/laws are held to.

    python3 answers.py        needs numpy, scipy

Each fit of src/laws is done here by other means: the line by linregress, the floor and the surface by
least_squares from many starts, the binomial likelihood by minimize, sweeps by Akima1DInterpolator,
parabolas by polyfit, the frontier in plain Python. Tables: studies/paper_runs.csv and
chinchilla_runs.csv (see README.md). The format: `case <kind>`, then lines of `<key> <count> <values>`.
"""
import csv
import os

import numpy as np
import scipy
from scipy import interpolate, optimize, stats

here = os.path.dirname(os.path.abspath(__file__))
rng = np.random.default_rng(20250301)
out = []


def case(kind, **arrays):
    out.append(f"case {kind}")
    for key, values in arrays.items():
        values = np.atleast_1d(np.asarray(values, dtype=float)).ravel()
        out.append(f"{key} {len(values)} " + " ".join(repr(float(v)) for v in values))
    out.append("")


def table(path):
    with open(os.path.join(here, path), newline="") as f:
        rows = list(csv.DictReader(f))
    return {k: np.array([r[k] for r in rows]) for k in rows[0]}


# ---- the line, with standard errors and the second-order term
def line(x, y):
    r = stats.linregress(x, np.log(y))
    p, cov = np.polyfit(x - x.mean(), np.log(y), 2, cov=True)
    case("line", x=x, y=y, fit=[r.intercept, r.slope, r.rvalue ** 2], se=[r.intercept_stderr, r.stderr],
         curvature=[p[0], p[0] - 2 * np.sqrt(cov[0, 0]), p[0] + 2 * np.sqrt(cov[0, 0])])


x = np.sort(rng.uniform(np.log(1e15), np.log(1e19), 15))
line(x, 30 * np.exp(-0.2 * x) * np.exp(0.05 * rng.normal(size=15)))
line(x, 0.3 + 3e3 * np.exp(-0.3 * x))
line(np.log(np.array([1e3, 3e3, 1e4, 3e4, 1e5])), np.array([2.0, 1.5, 1.2, 1.0, 0.7]))


# ---- a floor, on logarithms, from many starts
def floored(x, y, w=None):
    w = np.ones(len(x)) if w is None else w
    top = x.max()

    def r(p):
        return np.sqrt(w) * (p[0] + np.log(np.exp(-np.exp(p[1]) * (x - top)) + np.exp(p[2])) - np.log(y))
    best = None
    for b in (0.05, 0.2, 0.6):
        for f in (0.02, 0.3, 3):
            with np.errstate(over="ignore"):
                s = optimize.least_squares(r, [np.log(y.min()), np.log(b), np.log(f)], xtol=1e-15,
                                           ftol=1e-15, gtol=1e-15, method="lm", max_nfev=5000)
            if best is None or s.cost < best.cost:
                best = s
    A, b, f = np.exp(best.x)
    case("floor", x=x, y=y, w=w, fit=[np.log(A) + b * top, -b, A * f], sse=2 * best.cost)


floored(x, (0.3 + 3e3 * np.exp(-0.3 * x)) * np.exp(0.01 * rng.normal(size=15)))
floored(x, (1.7 + 1e4 * np.exp(-0.25 * x)) * np.exp(0.002 * rng.normal(size=15)), rng.integers(1, 4, 15))
floored(x[:8], 0.05 + np.exp(10 - 0.29 * x[:8]))


# ---- failures among trials
def binomial(x, share, trials):
    m = x.mean()

    def nll(p):
        lp = np.minimum(p[0] + p[1] * (x - m), -1e-12)
        return -np.sum(trials * (share * lp + (1 - share) * np.log1p(-np.exp(lp))))
    s = optimize.minimize(nll, [np.log(share.mean()), -0.01], method="Nelder-Mead",
                          options=dict(xatol=1e-12, fatol=1e-14, maxiter=20000, maxfev=20000))
    s = optimize.minimize(nll, s.x, method="Nelder-Mead",
                          options=dict(xatol=1e-13, fatol=1e-15, maxiter=20000, maxfev=20000))
    case("binomial", x=x, share=share, trials=trials, fit=[s.x[0] - s.x[1] * m, s.x[1]])


p = np.exp(4.0 - 0.12 * (x - 1))
n = rng.integers(200, 3000, 15)
binomial(x, rng.binomial(n, np.minimum(p, 0.97)) / n, n)
n = np.full(15, 50)
binomial(x, rng.binomial(n, np.minimum(p, 0.97)) / n, n)
share = np.array([0.9, 0.7, 0.5, 0.2, 0.0])  # a run that solves everything
binomial(np.linspace(36, 42, 5), share, np.full(5, 20))


# ---- the paper's frontier
def frontier(c, loss, how):
    """Indices, cheapest first: the lowest loss of each of 1500 bins, if below everything cheaper."""
    v = c if how == "linear" else np.log(c)
    b = np.minimum(((v - v.min()) / (v.max() - v.min()) * 1500).astype(int), 1499)
    keep, low = [], np.inf
    for k in np.unique(b):
        i = np.flatnonzero(b == k)
        i = i[np.argmin(loss[i])]
        if loss[i] < low:
            keep.append(i)
            low = loss[i]
    return np.array(keep)


t = table("../../../studies/paper_runs.csv")
N, C, ratio = (t[k].astype(float) for k in ("params", "flops", "tokens_per_param"))
loss, solved, r2 = (t[k].astype(float) for k in ("val_loss", "acc_solved", "acc_r2_099"))
for which, how in enumerate(("log", "linear")):
    i = frontier(C, loss, how)
    fits = [stats.linregress(np.log(C[i]), np.log(y[i])) for y in (loss, 1 - solved, 1 - r2, N, N * ratio)]
    s = fits[1]
    less = np.flatnonzero(C < C.max() / 10)  # without the largest decade
    j = less[frontier(C[less], loss[less], how)]
    rest = [stats.linregress(np.log(C[j]), np.log(y[j])) for y in (loss, 1 - solved, 1 - r2)]
    predict = [np.exp(f.intercept + f.slope * np.log(C.max())) for f in rest]
    case("paper", predict=[predict[0], 1 - predict[1], 1 - predict[2]], bins=which, flops=C[i], slope=[f.slope for f in fits],
         intercept=[f.intercept for f in fits], target=np.exp((np.log(0.2) - s.intercept) / s.slope))


# ---- the surface of L, squared and Huber
def surface(name, N, D, L):
    u, v = np.log(N / 1e6), np.log(D / 1e9)

    def r(p):
        return p[0] + np.exp(p[1] - p[3] * u) + np.exp(p[2] - p[4] * v) - L

    def fit(**how):
        best = None
        for a in (0.2, 0.5, 1.0):
            for b in (0.2, 0.5, 1.0):
                s = optimize.least_squares(r, [0.5 * L.min(), 0, 0, a, b], xtol=1e-15, ftol=1e-15,
                                           gtol=1e-15, x_scale="jac", max_nfev=20000,
                                           bounds=([0, -9, -9, 0.01, 0.01], [9, 9, 9, 4, 4]), **how)
                if np.isfinite(s.cost) and (best is None or s.cost < best.cost):
                    best = s
        E, A, B, a, b = best.x
        return [E, np.exp(A), np.exp(B), a, b]
    squared = fit()
    res = r([squared[0], np.log(squared[1]), np.log(squared[2]), *squared[3:]])
    delta = 1.345 * 1.4826 * np.median(np.abs(res))
    case("surface", table=name, squared=squared, huber=fit(loss="huber", f_scale=delta), delta=delta)


ch = {k: v.astype(float) for k, v in table("chinchilla_runs.csv").items()}
surface(0, ch["params"], ch["tokens"], ch["loss"])
surface(1, N, N * ratio, loss)

# ---- iso-FLOP parabolas of the same table: best of each size within 1 %, budgets within 10 %
order = np.argsort(ch["flops"], kind="stable")
c, n, l = (ch[k][order] for k in ("flops", "params", "loss"))
at = 0
while at < len(c):
    to = at
    while to < len(c) and c[to] <= 1.1 * c[at]:
        to += 1
    if abs(c[at] / 1e21 - 1) < 0.02 or abs(c[at] / 3e20 - 1) < 0.02:
        sizes = []
        for k in sorted(range(at, to), key=lambda k: n[k]):
            if sizes and abs(n[k] / sizes[-1][0] - 1) <= 0.01:
                sizes[-1][1].append(k)
            else:
                sizes.append([n[k], [k]])
        best = [min(s[1], key=lambda k: l[k]) for s in sizes]
        x, y = np.log(n[best]), l[best]
        q = np.polyfit(x - x.mean(), y, 2)
        case("isoflop", flops=np.exp(np.log(c[best]).mean()), sizes=len(best),
             params=np.exp(x.mean() - q[1] / (2 * q[0])), loss=q[2] - q[1] ** 2 / (4 * q[0]))
    at = to


# ---- a sweep: loss over batch size and rate, Akima in two steps
def minimum(x, y):
    at = np.linspace(x[0], x[-1], 100)
    v = interpolate.Akima1DInterpolator(x, y)(at)
    return at[np.argmin(v)], v.min()


batch = 2.0 ** np.arange(4, 10)
rate = 1e-4 * 10 ** (np.arange(5) / 3)
for size in (3e6, 3e7):
    b0, r0 = 16 * (size / 1e6) ** 0.5, 3e-4 * (size / 1e6) ** 0.2
    L = np.array([[np.exp(0.06 * np.log(b / b0) ** 2 + 0.1 * np.log(r / r0 / (b / b0) ** 0.3) ** 2
                          + 0.01 * rng.normal()) for r in rate] for b in batch])
    step = [minimum(np.log(rate), np.log(row)) for row in L]
    rates, losses = map(np.array, zip(*step))
    lb, ll = minimum(np.log(batch), losses)
    lr = interpolate.Akima1DInterpolator(np.log(batch), rates)(lb)
    case("sweep", params=size, batch=batch, rate=rate, loss=L, best=np.exp([lb, lr, ll]),
         rates=np.exp(rates))

with open(os.path.join(here, "answers.txt"), "w", encoding="ascii") as f:
    f.write(f"# Made by answers.py with NumPy {np.__version__}, SciPy {scipy.__version__}.\n\n")
    f.write("\n".join(out))

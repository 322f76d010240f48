#!/usr/bin/env python3
"""Renews the tables and answers.json: fits by SciPy's curve_fit.        needs python3-scipy

Each case is a formula as `symlaw fit` takes it, a table, options, and the values and standard errors that curve_fit finds
from a start near the truth, with derivatives by complex steps. Misra1a is of NIST's Statistical Reference Datasets;
its certified values are checked here too.
"""
import json
from pathlib import Path

import numpy as np
from scipy.optimize import curve_fit

HERE = Path(__file__).parent
MISRA = """77.6 10.07 114.9 14.73 141.1 17.94 190.8 23.93 239.9 29.61 289.0 35.18 332.8 40.02 378.4 44.82 434.8 50.76
477.3 55.05 536.8 61.01 593.1 66.40 689.1 75.47 760.0 81.78"""


def write(name, **columns):
    """The table as it is read again: what is fitted are the rounded numbers."""
    rounded = {k: np.array([float(f"{v:.7g}") for v in c]) for k, c in columns.items()}
    lines = [",".join(columns)] + [",".join(f"{v:.7g}" for v in row) for row in zip(*rounded.values())]
    (HERE / f"{name}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return rounded


def main():
    rng = np.random.default_rng(20250321)
    cases = []

    def add(name, formula, constants, function, start, table, options=(), sigma=None, absolute=False, bounds=None):
        x = [table[k] for k in table if k not in ("y", "s", "w")]
        def f(_, *p):
            return function(*x, *p)

        def slopes(_, *p):
            step = 1e-30j * np.eye(len(p))
            return np.array([f(None, *(np.array(p) + step[k])).imag / 1e-30 for k in range(len(p))]).T

        more = {"method": "lm", "maxfev": 100000} if bounds is None else \
            {"method": "trf", "bounds": bounds, "x_scale": "jac", "max_nfev": 100000}
        value, covariance = curve_fit(f, x, table["y"], p0=start, sigma=sigma, absolute_sigma=absolute, jac=slopes,
                                      ftol=1e-15, xtol=1e-15, gtol=1e-15, **more)
        error = np.sqrt(np.diag(covariance))
        correlation = covariance / np.outer(error, error)
        cases.append({"name": name, "formula": formula, "options": list(options), "constants": constants,
                      "value": value.tolist(), "error": error.tolist(), "correlation": correlation.tolist()})

    def noise(n, size):
        return size * rng.normal(size=n)

    t = np.linspace(0, 10, 40)
    add("decay", "y = a*exp(-k*t) + c", ["a", "k", "c"], lambda t, a, k, c: a * np.exp(-k * t) + c, [5, 0.4, 1],
        write("decay", t=t, y=5 * np.exp(-0.4 * t) + 1 + noise(40, 0.1)))

    s = np.array([0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 1.5, 3, 6, 12])
    add("michaelis", "V*S/(K + S)", ["V", "K"], lambda S, V, K: V * S / (K + S), [2, 0.5],
        write("michaelis", S=s, y=2.1 * s / (0.6 + s) + noise(10, 0.03)))

    x = np.linspace(-3, 8, 60)
    add("peak", "A*exp(-(x - m)^2/(2*s0^2)) + b", ["A", "m", "s0", "b"],
        lambda x, A, m, s0, b: A * np.exp(-(x - m) ** 2 / (2 * s0 ** 2)) + b, [3, 2.5, 0.7, 0.1],
        write("peak", x=x, y=3 * np.exp(-(x - 2.5) ** 2 / (2 * 0.7 ** 2)) + 0.2 + noise(60, 0.05)))

    t = np.linspace(0, 12, 80)
    add("wave", "A*exp(-d*t)*cos(w0*t + p)", ["A", "d", "w0", "p"],
        lambda t, A, d, w0, p: A * np.exp(-d * t) * np.cos(w0 * t + p), [2, 0.15, 1.9, 0.4],
        write("wave", t=t, y=2 * np.exp(-0.15 * t) * np.cos(1.9 * t + 0.4) + noise(80, 0.05)))

    m = np.geomspace(0.01, 500, 25)
    add("power", "a*mass^b", ["a", "b"], lambda m, a, b: a * m ** b, [3.4, 0.75],
        write("power", mass=m, y=3.4 * m ** 0.75 * (1 + noise(25, 0.03))))

    t = np.linspace(0, 60, 31)
    add("logistic", "L/(1 + exp(-r*(t - t0)))", ["L", "r", "t0"], lambda t, L, r, t0: L / (1 + np.exp(-r * (t - t0))),
        [660, 0.2, 28], write("logistic", t=t, y=665 / (1 + np.exp(-0.21 * (t - 28))) + noise(31, 8)))

    a, b = rng.uniform(1, 9, 50), rng.uniform(0.5, 4, 50)
    add("two", "p*x1/(q + x2^2)", ["p", "q"], lambda x1, x2, p, q: p * x1 / (q + x2 ** 2), [4, 2],
        write("two", x1=a, x2=b, y=4.2 * a / (1.7 + b ** 2) + noise(50, 0.05)))

    x = np.linspace(1, 20, 30)
    sigma = 0.02 * x
    table = write("sigma", x=x, s=sigma, y=3 * x / (1 + 0.1 * x) + sigma * rng.normal(size=30))
    add("sigma", "a*x/(1 + b*x)", ["a", "b"], lambda x, a, b: a * x / (1 + b * x), [3, 0.1], table,
        ["--sigma", "s"], table["s"], True)

    w = rng.uniform(0.2, 5, 30)
    table = write("weights", x=x, w=w, y=2 * np.log(1 + 0.7 * x) + 0.1 / np.sqrt(w) * rng.normal(size=30))
    add("weights", "a*log(1 + b*x)", ["a", "b"], lambda x, a, b: a * np.log(1 + b * x), [2, 0.7], table,
        ["--weights", "w"], 1 / np.sqrt(table["w"]))

    t = np.linspace(0, 5, 30)
    add("bounds", "a*exp(-k*t) + c", ["a", "k", "c"], lambda t, a, k, c: a * np.exp(-k * t) + c, [2, 1, 0.2],
        write("bounds", t=t, y=2.5 * np.exp(-1.3 * t) - 0.15 + noise(30, 0.05)), ["--bounds", "a=0:10,c=0:1"],
        bounds=([0, -np.inf, 0], [10, np.inf, 1]))

    # 3.7e5 is the condition of its scaled derivatives
    x = np.linspace(0, 10, 40)
    add("polynomial", "a + b*x + c*x^2 + d*x^3 + f*x^4 + g*x^5", list("abcdfg"),
        lambda x, *p: sum(k * x ** i for i, k in enumerate(p)), [1, -2, 0.5, 0, 0, 0],
        write("polynomial", x=x, y=1 - 2 * x + 0.5 * x ** 2 + 3 * np.sin(x) + noise(40, 0.1)))

    t = np.linspace(0, 6, 50)
    add("two_decays", "a*exp(-b*t) + c*exp(-d*t)", ["a", "b", "c", "d"],
        lambda t, a, b, c, d: a * np.exp(-b * t) + c * np.exp(-d * t), [3, 2.5, 1, 0.3],
        write("two_decays", t=t, y=3 * np.exp(-2.5 * t) + 1.2 * np.exp(-0.3 * t) + noise(50, 0.01)))

    numbers = np.array(MISRA.split(), dtype=float)
    add("misra1a", "b1*(1 - exp(-b2*x))", ["b1", "b2"], lambda x, b1, b2: b1 * (1 - np.exp(-b2 * x)), [240, 5e-4],
        write("misra1a", x=numbers[::2], y=numbers[1::2]))
    assert np.allclose(cases[-1]["value"], [2.3894212918e2, 5.5015643181e-4], rtol=1e-6)
    assert np.allclose(cases[-1]["error"], [2.7070075241, 7.2668688436e-6], rtol=1e-4)

    x = np.linspace(0.5, 9, 24)
    add("sigma_value", "a + b/x", ["a", "b"], lambda x, a, b: a + b / x, [1, 2],
        write("sigma_value", x=x, y=1.5 + 2.2 / x + noise(24, 0.1)), ["--sigma", "0.1"], np.full(24, 0.1), True)

    (HERE / "answers.json").write_text(json.dumps(cases, indent=1) + "\n", encoding="utf-8")


main()

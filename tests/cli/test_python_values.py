"""Values of the library against Python's own floats, for text that the program wrote for Python.

Most agree to 1e-12. Where they do not, rounding must explain it: both are then held against long
double with a running bound on what rounding in double can do, which is worked out here and shares
nothing with the library."""
import ctypes
import math
import re
from pathlib import Path

import numpy as np
import pytest

from tool import PROGRAM, expressions

POINTS = 16
U = 2.0 ** -53
LD = np.longdouble


# ---------------------------------------------------------------- ours

class Library:
    """The three calls that are needed of libsymlaw.so, as the public header declares them."""

    def __init__(self):
        self.so = ctypes.CDLL(str(Path(PROGRAM).parent / "libsymlaw.so"))
        self.so.symlaw_last_error.restype = ctypes.c_char_p
        self.so.symlaw_formula_free.argtypes = [ctypes.c_void_p]
        self.so.symlaw_formula_parse.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p,
                                             ctypes.c_void_p, ctypes.c_int]
        self.so.symlaw_formula_eval.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p,
                                            ctypes.c_int, ctypes.c_int64]

    def values(self, text, points):
        formula = ctypes.c_void_p()
        y = np.empty(points.shape[1])
        columns = (ctypes.c_void_p * len(points))(*(row.ctypes.data for row in points))
        self.must(self.so.symlaw_formula_parse(ctypes.byref(formula), text.encode(), None, None, 0))
        try:
            self.must(self.so.symlaw_formula_eval(y.ctypes.data, formula, columns, len(points), len(y)))
        finally:
            self.so.symlaw_formula_free(formula)
        return y

    def must(self, status):
        assert status == 0, self.so.symlaw_last_error().decode()


# ---------------------------------------------------------------- Python's

FLOATS = {"__builtins__": {}, "sqrt": math.sqrt, "exp": math.exp, "sin": math.sin}


def python_value(code, x1, x2):
    """NaN where Python raises or leaves the reals."""
    try:
        v = eval(code, FLOATS, {"x1": x1, "x2": x2})
        return v if isinstance(v, float) else math.nan
    except (ValueError, ZeroDivisionError, OverflowError):
        return math.nan


# ---------------------------------------------------------------- what rounding can do

class Bounded:
    """A long double and how far double arithmetic may be from it: every operation rounds by 2 U of
    its result and passes on what its operands carry. Infinite where nothing can be said."""

    def __init__(self, value, error=0.0):
        self.value, self.error = LD(value), LD(error)

    def rounded(value, error):
        error += 2 * U * abs(value)
        return Bounded(value, error if np.isfinite(value) else np.inf)

    def __neg__(self):
        return Bounded(-self.value, self.error)

    def __add__(self, other):
        return Bounded.rounded(self.value + other.value, self.error + other.error)

    def __sub__(self, other):
        return self + -other

    def __mul__(self, other):
        return Bounded.rounded(self.value * other.value, abs(self.value) * other.error +
                               (abs(other.value) + other.error) * self.error)

    def __truediv__(self, other):
        if other.error >= abs(other.value):
            return Bounded(np.nan, np.inf)
        nearest = abs(other.value) - other.error
        v = self.value / other.value
        return Bounded.rounded(v, (self.error + abs(v) * other.error) / nearest)

    def __pow__(self, n):
        """n is a number of the text, so exact. u**n is steepest at one end of the range of u."""
        n = n.value
        if n != np.floor(n) and self.value - self.error <= 0 or self.error >= abs(self.value):
            return Bounded(self.value ** n, np.inf)
        ends = [abs(self.value) - self.error, abs(self.value) + self.error]
        slope = max(abs(n) * u ** (n - 1) for u in ends)
        v = self.value ** n
        by_products = 2 * abs(n) * U * abs(v)
        return Bounded.rounded(v, slope * self.error + by_products)

    def sqrt(self):
        return self ** Bounded(LD(1) / 2)

    def exp(self):
        v = np.exp(self.value)
        return Bounded.rounded(v, v * np.expm1(self.error))

    def sin(self):
        return Bounded.rounded(np.sin(self.value), self.error)


BOUNDED = {"__builtins__": {}, "sqrt": Bounded.sqrt, "exp": Bounded.exp, "sin": Bounded.sin,
           "N": Bounded}


def bounded(text, x1, x2):
    with np.errstate(all="ignore"):
        return eval(re.sub(r"\b\d+\b", r"N(\g<0>)", text), BOUNDED,
                    {"x1": Bounded(x1), "x2": Bounded(x2)})


def is_rounding(text, x1, x2, v):
    """May a double have come out as v? The order of a sum is free, so 8 times the bound is."""
    b = bounded(text, x1, x2)
    return not b.error < np.inf or abs(LD(v) - b.value) <= 8 * b.error


# ---------------------------------------------------------------- both

@pytest.fixture(scope="module")
def lines():
    """All of depth 2, and 20,000 of depth 3."""
    r = expressions("--depth", "3", "--set-size", "20929", "--format", "python", timeout=300)
    assert r.code == 0 and len(r.lines) == 20929
    return r.lines


def test_values_are_pythons(lines):
    library, rng = Library(), np.random.default_rng(11)
    n_both = n_close = n_one = 0
    for text in lines:
        points = rng.uniform(-3, 3, (2, POINTS))
        code = compile(text, "line", "eval")
        ours = library.values(text, points)
        python = np.array([python_value(code, *at) for at in points.T.tolist()])
        both = np.isfinite(ours) & np.isfinite(python)
        close = both & (np.abs(ours - python) <= 1e-12 * np.abs(python))
        one = np.isfinite(ours) != np.isfinite(python)
        n_both, n_close, n_one = n_both + both.sum(), n_close + close.sum(), n_one + one.sum()
        for i in np.flatnonzero(both & ~close | one):
            # not finite is explained only by the edge of a domain or of the range of doubles
            for v in (ours[i], python[i]):
                assert is_rounding(text, *points[:, i], v), (text, points[:, i], ours[i], python[i])
    assert n_both > 0.5 * len(lines) * POINTS
    assert n_close >= 0.998 * n_both, (n_close, n_both)
    assert n_one <= 0.001 * n_both, (n_one, n_both)


def test_the_bound_is_no_excuse():
    """It covers rounding and is far below a wrong digit."""
    for text in ("x1*x2 + exp(x1)", "sin(x1)/x2 - sqrt(x2)", "x1**3/(x1 - x2)**2",
                 "x2**(3/2) - 7*x1/3"):
        b = bounded(text, 0.7, 1.3)
        assert 0 < b.error < 1e-13
        assert is_rounding(text, 0.7, 1.3, eval(text, FLOATS, {"x1": 0.7, "x2": 1.3}))
        assert not is_rounding(text, 0.7, 1.3, float(b.value) + 1e-11)
        assert not is_rounding(text, 0.7, 1.3, math.nan)

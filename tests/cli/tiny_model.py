"""A hardly trained model, tables of a linear law, and what the tests of symlaw discover ask of formulas.

The baselines find a linear law; the quality of models is measured elsewhere.
"""
import os
from pathlib import Path

import numpy as np
import pytest

from tool import run

EXAMPLES = Path(__file__).parents[2] / "examples"
os.environ.pop("SYMLAW_MODEL", None)
QUICK = ["--search", "model", "--samples", "8", "--refine", "4"]
TRAIN = ["--width", "16", "--layers", "1", "--depth", "1", "--points", "16", "--batch", "8", "--steps", "30",
         "--valid-pairs", "8"]
SLOW = ["--search", "model", "--samples", "1000000", "--refine", "0"]  # minutes, unless stopped


@pytest.fixture(scope="session")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models") / "tiny"
    r = run("train", *TRAIN, "--out", str(folder))
    assert r.code == 0, r
    return str(folder)


@pytest.fixture
def discover(model):
    def call(*args, quick=True, **more):
        return run("discover", *map(str, args), "--model", model, *(QUICK if quick else QUICK[:2]), **more)
    return call


def plane(n=24, seed=1):
    """Columns a, b and 3 a - 2 b."""
    x = np.random.default_rng(seed).uniform(-4, 4, (n, 2)).round(3)
    return np.column_stack([x, (3 * x[:, 0] - 2 * x[:, 1]).round(3)])


def noisy(n=60, seed=3):
    rows = plane(n, seed)
    rows[:, 2] += 0.12345 + 0.05 * np.random.default_rng(seed + 1).standard_normal(n)
    return rows


def text(rows, header=None, sep=",", end="\n"):
    lines = [] if header is None else [sep.join(header)]
    lines += [sep.join(x if isinstance(x, str) else repr(float(x)) for x in row) for row in rows]
    return end.join(lines) + end


def write(folder, rows, header=("a", "b", "y"), name="t.csv", **more):
    path = folder / name
    path.write_text(text(rows, header, **more), newline="")
    return path


def first(r):
    """The formula of the table's first line, without its target."""
    return r.lines[0].split(" = ", 1)[1]


def r2_of(prediction, y):
    prediction, y = np.asarray(prediction, float), np.asarray(y, float)
    return 1 - ((prediction - y) ** 2).sum() / ((y - y.mean()) ** 2).sum()


def values(formula, **columns):
    names = {k: getattr(np, k) for k in ("sqrt", "exp", "sin", "cos")}
    return eval(formula, {"__builtins__": {}}, {**names, **columns})

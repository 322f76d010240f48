#!/usr/bin/env python3
"""Pairs as one would make them with NumPy and SymPy: the same law as `symlaw pairs`, other code.

    symlaw expressions --sample 200 --format sympy | tools/peer_pairs.py --count 1000

Bases come in as text, one a line; pairs go out as JSON lines. tools/bench_pairs.py times it. What a
pair is:

    constants   each occurrence u of a variable, exp, sin or root becomes a u + b; a and b come with
                probability 0.2 each, whole numbers from -9 to 9 without 0, a not 1; SymPy rebuilds
                the tree, which merges numbers, and is not asked to expand
    points      1 to 5 clusters, each Gaussian or uniform, with its own centre, widths, rotation and
                weight; every column is brought to mean 0 and variance 1; points without a real y
                below 1e100 are dropped, and up to 5 draws of the same mixture fill the 64
    tokens      sympy.latex, cut by one regular expression

A pair with too few points, without spread in y, with more than 256 tokens or with a variable lost
is drawn again, up to 64 times, then from the next base.

    pip install numpy sympy"""
import argparse
import json
import re
import sys

import numpy as np

try:
    import sympy
except ImportError as e:
    raise SystemExit(f"peer_pairs: {e}; pip install sympy") from None

POINTS, CLUSTERS, TRIES, ATTEMPTS = 64, 5, 5, 64
CHANCE, LARGEST, LIMIT, MIN_SPREAD, MAX_TOKENS = 0.2, 9, 1e100, 1e-9, 256
X = sympy.symbols("x1 x2")
FACTORS = [a for a in range(-LARGEST, LARGEST + 1) if a not in (0, 1)]
SUMMANDS = [b for b in range(-LARGEST, LARGEST + 1) if b != 0]
TOKEN = re.compile(r"\\[a-z]+|x_\d|[0-9]|[-+^{}()\[\]e]")
END = 2


# ---------------------------------------------------------------- the expression

def with_constants(e, rng):
    """The base with constants in."""
    if e.is_Number:
        return e
    if e.is_Symbol:
        return affine(e, rng)
    args = [with_constants(arg, rng) for arg in e.args]
    rebuilt = e.func(*args)
    root = e.is_Pow and not e.exp.is_Integer
    return affine(rebuilt, rng) if root or e.is_Function else rebuilt


def affine(u, rng):
    if rng.random() < CHANCE:
        u = FACTORS[rng.integers(len(FACTORS))] * u
    if rng.random() < CHANCE:
        u = u + SUMMANDS[rng.integers(len(SUMMANDS))]
    return u


def latex(e):
    """As SymPy writes it, with plain brackets and variables of one piece."""
    text = sympy.latex(e).replace(r"\sin{\left(", r"\sin(").replace(r" \right)}", ")")
    text = text.replace(r"\left", "").replace(r"\right", "")
    return re.sub(r"x_\{(\d)\}", r"x_\1", text)


class Vocabulary(dict):
    """Ids as they are needed."""

    def __missing__(self, text):
        self[text] = len(self) + END + 1
        return self[text]


# ---------------------------------------------------------------- the data

class Mixture:
    def __init__(self, rng, variables):
        k = rng.integers(1, CLUSTERS + 1)
        self.uniform = rng.random(k) < 0.5
        self.centre = rng.normal(size=(k, variables))
        self.width = np.sqrt(rng.random((k, variables)))
        angle = rng.uniform(0, 2 * np.pi, k)
        cos, sin = np.cos(angle), np.sin(angle)
        self.rotation = np.stack([np.stack([cos, sin], -1), np.stack([-sin, cos], -1)], -2)
        weight = rng.random(k)
        self.count = rng.multinomial(POINTS, weight / weight.sum())

    def draw(self, rng):
        """(points, variables), each column of mean 0 and variance 1."""
        parts = []
        for i, n in enumerate(self.count):
            shape = (n, self.centre.shape[1])
            z = rng.uniform(-1, 1, shape) if self.uniform[i] else rng.normal(size=shape)
            parts.append((self.centre[i] + self.width[i] * z) @ self.rotation[i])
        x = np.concatenate(parts)
        return (x - x.mean(axis=0)) / x.std(axis=0)


def data(e, rng, more={}):
    """x (points, variables) and y, or None where they cannot be had. more: for lambdify."""
    f = sympy.lambdify(X, e, "numpy", **more)
    mixture = Mixture(rng, len(X))
    xs, ys, n = [], [], 0
    with np.errstate(all="ignore"):
        for _ in range(TRIES):
            x = mixture.draw(rng)
            y = f(*x.T)
            good = np.abs(y) < LIMIT  # false for NaN
            xs.append(x[good])
            ys.append(y[good])
            n += len(ys[-1])
            if n >= POINTS:
                break
    if n < POINTS:
        return None
    x, y = np.concatenate(xs)[:POINTS], np.concatenate(ys)[:POINTS]
    return (x, y) if np.ptp(y) >= MIN_SPREAD * np.abs(y).max() > 0 else None


# ---------------------------------------------------------------- a pair

class Generator:
    def __init__(self, texts, seed, **more):
        self.more = more
        names = {"x1": X[0], "x2": X[1]}
        self.bases = [sympy.sympify(text, locals=names) for text in texts]
        self.rng = np.random.default_rng(seed)
        self.vocabulary = Vocabulary()
        self.attempts = self.firsts = self.good_firsts = 0

    def attempt(self, base):
        """A dictionary, or None."""
        e = with_constants(base, self.rng)
        if e.free_symbols != base.free_symbols:
            return None  # a variable was lost, or it is no number anywhere
        text = latex(e)
        tokens = [self.vocabulary[piece] for piece in TOKEN.findall(text)] + [END]
        if len(tokens) > MAX_TOKENS:
            return None
        points = data(e, self.rng, self.more)
        if points is None:
            return None
        return {"expr": e, "latex": text, "tokens": tokens, "x": points[0], "y": points[1]}

    def pair(self, index):
        """Pair number `index`; the bases take turns."""
        at = index % len(self.bases)
        while True:
            for attempt in range(ATTEMPTS):
                self.attempts += 1
                pair = self.attempt(self.bases[at])
                self.firsts += attempt == 0
                self.good_firsts += attempt == 0 and pair is not None
                if pair is not None:
                    pair["base"] = at
                    return pair
            at = (at + 1) % len(self.bases)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("file", nargs="?", default="-", help="the bases (default: standard input)")
    parser.add_argument("--count", type=int, default=10, metavar="N", help="pairs (default 10)")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with (open(options.file) if options.file != "-" else sys.stdin) as f:
        generator = Generator(f.read().splitlines(), options.seed)
    for i in range(options.count):
        pair = generator.pair(i)
        print(json.dumps({"id": f"train/{i}", "base": pair["base"], "expr": str(pair["expr"]),
                          "latex": pair["latex"], "tokens": pair["tokens"],
                          "x": pair["x"].T.tolist(), "y": pair["y"].tolist()}))


if __name__ == "__main__":
    main()

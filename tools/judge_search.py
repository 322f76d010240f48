#!/usr/bin/env python3
"""Judges formulas of the search by values alone: is the found formula the one that made the data?

    symlaw eval --search exhaustive --formulas examples/formulas/feynman.csv --budgets 1 --predictions p.jsonl
    python3 tools/judge_search.py examples/formulas/feynman.csv p.jsonl

The first file is a table of formulas (name, formula and variables, or lo and hi) or JSON lines of pairs (id, x,
y, expr). Of each formula 1,000 rows are drawn here, by NumPy's own generator, from the ranges of the table or
between the least and the largest value of each column; truth and answer are evaluated there in double. They
are the same if they differ by less than 1e-7 of the larger one or of the median |truth| in every row where the truth is
real. An answer that is said to be exact and is not the same is false. Nothing of the program is used, and no algebra.

Prints a line for every problem where judge and program disagree and for every false answer, then the
counts. Exit code 0: no false answer and no disagreement; 1: there are some; 2: a file cannot be read."""
import argparse
import csv
import json
import re
import sys

import numpy as np

ROWS = 1000
TOLERANCE = 1e-7
BATCHES = 200
NAMES = {name: getattr(np, name) for name in
         ("exp", "log", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", "arcsin", "arccos", "arctan", "abs", "pi", "e")}
NAMES.update(asin=np.arcsin, acos=np.arccos, atan=np.arctan, ln=np.log)


def value(text, names, shape):
    with np.errstate(all="ignore"):
        y = eval(compile(text.replace("^", "**"), "formula", "eval"), {"__builtins__": {}}, names)
        return np.broadcast_to(np.asarray(y, float), shape)


class Problem:
    """A formula, the names of its variables and where they are drawn from."""

    def __init__(self, name, formula, names, low, high):
        self.name, self.formula, self.names = name, formula, names
        self.low, self.high = np.array(low, float), np.array(high, float)

    def bind(self, x):
        """Names of variables win over functions; x1, x2, ... stay reachable, behind underscores if need be."""
        bound = dict(NAMES)
        for i, column in enumerate(x):
            place = f"x{i + 1}"
            while place in self.names and self.names.index(place) != i:
                place = "_" + place
            bound[place] = column
        bound.update(zip(self.names, x))
        return bound

    def value(self, text, x):
        return value(text, self.bind(x), x.shape[1:])

    def rows(self, rng, n=ROWS):
        """(x, y) at n points where the formula is real; fewer where those are rare."""
        xs, ys, have = [], [], 0
        for _ in range(BATCHES):
            x = rng.uniform(self.low[:, None], self.high[:, None], (len(self.low), n))
            y = self.value(self.formula, x)
            good = np.isfinite(y) & (np.abs(y) < 1e100)
            xs.append(x[:, good])
            ys.append(y[good])
            have += good.sum()
            if have >= n:
                break
        return np.concatenate(xs, axis=1)[:, :n], np.concatenate(ys)[:n]

    def agrees(self, function, rng, tolerance=TOLERANCE, share=1):
        """Has the function of x this formula's values at this share of fresh rows? None: there are too few of those."""
        x, truth = self.rows(rng)
        if len(truth) < 8:
            return None
        found = function(x)
        with np.errstate(invalid="ignore"):
            size = np.maximum(np.maximum(np.abs(truth), np.abs(found)), np.median(np.abs(truth)))
            return bool(np.mean(np.abs(truth - found) <= tolerance * size) >= share)

    def same(self, text, rng):
        """Is `text` this formula, by values at fresh rows?"""
        try:
            return self.agrees(lambda x: self.value(text, x), rng)
        except (ArithmeticError, NameError, SyntaxError, TypeError, ValueError):
            return False


def read_table(path):
    with open(path, newline="") as f:
        for row in csv.DictReader(f):
            if row.get("variables"):
                parts = [part.split(":") for part in row["variables"].split()]
                names, low, high = [p[0] for p in parts], [p[1] for p in parts], [p[2] for p in parts]
            else:
                n = max([int(m) for m in re.findall(r"\bx(\d+)\b", row["formula"])], default=1)
                names, low, high = [f"x{i + 1}" for i in range(n)], [row["lo"]] * n, [row["hi"]] * n
            yield Problem(row["name"], row["formula"], names, low, high)


def read_lines(path):
    with open(path) as f:
        for number, line in enumerate(f, 1):
            pair = json.loads(line)
            x = np.array(pair["x"], float)
            yield Problem(str(pair.get("id", number)), pair["expr"], [f"x{i + 1}" for i in range(len(x))],
                          x.min(axis=1), x.max(axis=1))


def read_problems(path):
    return {p.name: p for p in (read_lines if str(path).endswith(".jsonl") else read_table)(path)}


def judge(problems, predictions, seed=1):
    """Of each prediction: (prediction, is it the same?, is it false?)."""
    for i, p in enumerate(predictions):
        problem = problems[str(p["id"])]
        same = problem.same(p["expr"], np.random.default_rng([seed, i])) if p.get("expr") else False
        yield p, same, bool(p.get("exact")) and same is False


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("problems")
    parser.add_argument("predictions")
    parser.add_argument("--seed", type=int, default=1, help="of the rows that are drawn here")
    args = parser.parse_args()
    try:
        problems = read_problems(args.problems)
        with open(args.predictions) as f:
            predictions = [json.loads(line) for line in f]
    except (OSError, ValueError, KeyError) as reason:
        print(f"judge_search: {reason}", file=sys.stderr)
        return 2
    right = false = apart = 0
    for p, same, wrong in judge(problems, predictions, args.seed):
        solved = p["status"] in ("solved", "equal")
        right += bool(same)
        false += wrong
        apart += same is not None and solved != same
        if wrong or (same is not None and solved != same):
            print(f"{p['id']}: {p['status']}{', said to be exact' if p.get('exact') else ''}, but the values are "
                  f"{'the same' if same else 'others'}: {p['expr']}")
    print(f"{len(predictions)} answers: {right} right, {false} false, {apart} judged otherwise by the program")
    return int(bool(false or apart))


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Judges predictions by values alone: is the found formula the function that made the data?

    symlaw pairs --split test --count 1000 > pairs.jsonl
    symlaw eval --model M --pairs pairs.jsonl --predictions p.jsonl
    python3 tools/judge_eval.py pairs.jsonl p.jsonl

A pair has id, x, y and expr, the truth; a prediction has id, expr and status. Both expressions are
evaluated in long double at 256 fresh points around the pair's own: half near its rows, half anywhere
between the least and the largest value of each column, all where the truth is real. They are the
same if they agree to 1e-8 wherever both are real, and if that is at least half of the points; what
rounding can do to either is allowed for. Status solved or equal should mean the same, close or miss
should not. Every problem where it is otherwise is listed with what is seen there. Also judged: that
each pair has its prediction, in the same order, and that r2 is that of expr at the pair's points, up to
what rounding in double explains.
Nothing of the program that made the predictions is used, and no algebra.

Exit code 0: the verdicts agree for 99.5 percent of problems, and nothing is missing. 1: they do not. 2: the
input cannot be read."""
import argparse
import ast
import collections
import json
import re
import sys

import numpy as np

from judge_pairs import LD, OPERATORS, Bounded, Fault, read

POINTS = 256
TOLERANCE = 1e-8    # of |truth| and of its median
ROUNDING = 1e-18    # error per unit of the condition number in long double
DOUBLE = 1e-15      # the same in double, in which r2 was reported
R2 = 1e-6           # difference to the r2 that is reported, of 1 + |r2|
SHARE = 0.995       # of problems where the verdicts must agree
BATCHES = 40        # of points to draw, until enough of them are where the truth is real
FUNCTIONS = ("sqrt", "sin", "exp")
SAME = ("solved", "equal")
STATUS = (*SAME, "close", "miss", "found")


# ---------------------------------------------------------------- values

def walk(tree, x):
    """A tree over columns x, as Bounded: values, and how much they move by rounding."""
    if isinstance(tree, ast.BinOp) and type(tree.op) in OPERATORS:
        return OPERATORS[type(tree.op)](walk(tree.left, x), walk(tree.right, x))
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.USub):
        return -walk(tree.operand, x)
    if (isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and len(tree.args) == 1
            and tree.func.id in FUNCTIONS):
        return getattr(walk(tree.args[0], x), tree.func.id)()
    if isinstance(tree, ast.Constant) and type(tree.value) in (int, float):
        return Bounded.exact(tree.value)
    if isinstance(tree, ast.Name) and re.fullmatch(r"x[1-9]", tree.id):
        if int(tree.id[1]) > len(x):
            raise Fault(f"{tree.id} in the expression, but x has {len(x)} columns")
        return x[int(tree.id[1]) - 1]
    raise Fault(f"cannot read {ast.unparse(tree)[:200]}")


def values(text, x):
    """(value, moves) of an expression at points x (columns, points); NaN where it is not real."""
    zero = np.zeros(x.shape[1], LD)
    with np.errstate(all="ignore"):
        b = walk(read(text), [Bounded(column.astype(LD), zero) for column in x])
        value, moves = b.value + zero, b.moves + zero
    return np.where(np.isfinite(value), value, np.nan), moves


def fresh(truth, x, rng):
    """Points (columns, up to POINTS) of which half are near rows of x, where the truth is real."""
    lo, hi, spread = x.min(1), x.max(1), x.std(1)
    found = np.empty((len(x), 0))
    for _ in range(BATCHES):
        rows = x[:, rng.integers(0, x.shape[1], POINTS // 2)]
        near = rows + 0.1 * spread[:, None] * rng.standard_normal(rows.shape)
        box = rng.uniform(lo[:, None], np.maximum(hi, lo)[:, None], (len(x), POINTS // 2))
        # one by one from either kind, so that a cut leaves half of each
        points = np.stack([near, box], 2).reshape(len(x), -1)
        found = np.concatenate([found, points[:, ~np.isnan(values(truth, points)[0])]], 1)
        if found.shape[1] >= POINTS:
            break
    return found[:, :POINTS]


def r_squared(value, moves, y):
    """(1 - SSE/SST, as scikit-learn has it; how far off it may be if the values were doubles)."""
    gap, y = value - y, y.astype(LD)
    sse, sst = (gap ** 2).sum(), ((y - y.mean()) ** 2).sum()
    if not sst > 0:
        return (1.0 if sse == 0 else 0.0), 0.0
    error = DOUBLE * moves
    return float(1 - sse / sst), float((error * (2 * np.abs(gap) + error)).sum() / sst)


# ---------------------------------------------------------------- two expressions

class Comparison:
    """Truth and prediction at some points."""

    def __init__(self, truth, found, x):
        t, t_moves = values(truth, x)
        f, f_moves = values(found, x)
        with np.errstate(all="ignore"):
            scale = np.abs(t) + (np.nanmedian(np.abs(t)) if len(t) else 0)
            allowed = TOLERANCE * scale + ROUNDING * (t_moves + f_moves)
            self.gap = np.abs(t - f) / scale
            self.both = ~np.isnan(t) & ~np.isnan(f)
            sharp = np.isfinite(allowed)  # else rounding leaves nothing to compare
            self.differ = self.both & sharp & (np.abs(t - f) > allowed)
        self.x, self.t, self.f, self.points = x, t, f, len(t)

    def same(self):
        return (not self.differ.any() and 2 * self.both.sum() >= self.points
                and self.both.sum() > 0)

    def describe(self):
        """What is seen, in words."""
        if not self.both.any():
            return f"real together at none of {self.points} points"
        worst = np.nanmax(np.where(self.both, self.gap, np.nan))
        if self.differ.any():
            at = int(np.nanargmax(np.where(self.differ, self.gap, np.nan)))
            where = ", ".join(f"x{i + 1} = {v:.6g}" for i, v in enumerate(self.x[:, at]))
            return (f"differ at {self.differ.sum()} of {self.both.sum()} points where both are real, "
                    f"most at {where}: truth {self.t[at]:.12g}, found {self.f[at]:.12g}")
        if 2 * self.both.sum() < self.points:
            return f"agree, but are both real at {self.both.sum()} of {self.points} points only"
        return f"agree to {worst:.1e} at {self.both.sum()} of {self.points} points"


def explain(truth, found, x, seen, rng):
    """Why two judges may differ here."""
    middle, reach = (x.max(1) + x.min(1)) / 2, (x.max(1) - x.min(1)) / 2 + 1e-3
    wide = middle[:, None] + 4 * reach[:, None] * rng.uniform(-1, 1, (len(x), 4 * POINTS))
    wide = wide[:, ~np.isnan(values(truth, wide)[0])]
    return (f"at fresh points they {seen.describe()}; at the pair's own they "
            f"{Comparison(truth, found, x).describe()}; further out they "
            f"{Comparison(truth, found, wide).describe()}")


# ---------------------------------------------------------------- problems

class Judge:
    def __init__(self, seed):
        self.seed = seed
        self.status = collections.Counter()
        self.same = self.different = self.agree = self.no_truth = self.cut = 0
        self.disagreements, self.faults = [], []
        self.r2_gap = 0.0

    def take(self, number, pair, prediction):
        """One problem; what is wrong goes to faults."""
        try:
            self.judge(number, pair, prediction)
        except Fault as e:
            self.faults.append((pair.get("id", number), str(e)))

    def judge(self, number, pair, prediction):
        status, found = prediction["status"], prediction["expr"]
        if status not in STATUS:
            raise Fault(f"status {status!r} is none of {', '.join(STATUS)}")
        self.status[status] += 1
        self.cut += bool(prediction.get("cut"))
        x, y = np.array(pair["x"], float), np.array(pair["y"], float)
        if found:
            self.check_r2(found, x, y, prediction["r2"])
        if pair.get("expr") is None:
            self.no_truth += 1
            if found and status != "found":
                raise Fault(f"status {status}, where no truth is given")
            return
        if status == "found":
            raise Fault("status found, where the truth is given")
        rng = np.random.default_rng([self.seed, number])
        seen = Comparison(pair["expr"], found, fresh(pair["expr"], x, rng)) if found else None
        same = seen is not None and seen.same()
        self.same += same
        self.different += not same
        if same == (status in SAME):
            self.agree += 1
            return
        reason = explain(pair["expr"], found, x, seen, rng) if found else "nothing was found"
        self.disagreements.append((pair.get("id", number), status, same, pair["expr"], found, reason))

    def check_r2(self, found, x, y, reported):
        value, moves = values(found, x)
        if np.isnan(value).any():
            raise Fault(f"kept, but not real at {np.isnan(value).sum()} of the pair's points: {found}")
        mine, error = r_squared(value, moves, y)
        if reported is None:
            raise Fault(f"no r2, where {found} has {mine}")
        gap = max(abs(mine - reported) - error, 0) / (1 + abs(mine))
        self.r2_gap = max(self.r2_gap, gap)
        if gap > R2:
            raise Fault(f"r2 is {reported}, where {found} has {mine}")

    def judged(self):
        return self.same + self.different

    def share(self):
        return self.agree / self.judged() if self.judged() else 1.0

    def good(self):
        return not self.faults and self.share() >= SHARE

    def report(self):
        reported = ", ".join(f"{name} {self.status[name]}" for name in STATUS if self.status[name])
        print(f"problems: {self.judged() + self.no_truth}, of them without a truth: {self.no_truth}\n"
              f"status: {reported}; cut: {self.cut}\n"
              f"judged here at {POINTS} fresh points: the same {self.same}, different {self.different}\n"
              f"verdicts agree: {self.agree} of {self.judged()} ({100 * self.share():.2f} percent)\n"
              f"largest difference of r2 beyond rounding: {self.r2_gap:.1e}\n"
              f"disagreements: {len(self.disagreements)}")
        for name, status, same, truth, found, reason in self.disagreements:
            print(f"    {name}: status {status}, judged {'the same' if same else 'different'}\n"
                  f"        truth {truth}\n        found {found}\n        {reason}")
        print(f"faults: {len(self.faults)}")
        for name, what in self.faults:
            print(f"    {name}: {what}")


# ---------------------------------------------------------------- files

def lines(path):
    """The objects of a file, a line each."""
    with open(path) as f:
        for number, line in enumerate(f, 1):
            if not line.strip():
                continue
            try:
                entry = json.loads(line)
            except ValueError as e:
                raise ValueError(f"{path}:{number}: {e}") from None
            if not isinstance(entry, dict):
                raise ValueError(f"{path}:{number}: not an object")
            yield number, entry


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("pairs", help="JSON lines: id, x, y, expr")
    parser.add_argument("predictions", help="JSON lines: id, expr, r2, status")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the fresh points")
    o = parser.parse_args()
    judge = Judge(o.seed)
    try:
        pairs, predictions = list(lines(o.pairs)), [p for _, p in lines(o.predictions)]
        if len(pairs) != len(predictions):
            judge.faults.append((o.predictions, f"{len(predictions)} predictions of {len(pairs)} pairs"))
        for (number, pair), prediction in zip(pairs, predictions):
            if prediction["id"] != pair.get("id", prediction["id"]):
                judge.faults.append((pair["id"], f"its place has {prediction['id']!r}"))
            else:
                judge.take(number, pair, prediction)
    except (OSError, ValueError, KeyError) as e:
        print(f"judge_eval: {e}", file=sys.stderr)
        return 2
    if not pairs:
        print("judge_eval: there is no pair", file=sys.stderr)
        return 2
    judge.report()
    return 0 if judge.good() else 1


if __name__ == "__main__":
    sys.exit(main())

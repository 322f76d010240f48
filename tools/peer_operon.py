#!/usr/bin/env python3
"""The search beside Operon, genetic programming in C++, in one run: the same rows, the same time, one thread each.

    python3 -m venv /tmp/operon && /tmp/operon/bin/pip install pyoperon
    /tmp/operon/bin/python tools/peer_operon.py examples/formulas/feynman.csv examples/formulas/textbook.csv [--seconds 10]

For each formula 200 rows are drawn here. Both get them and the time; problem after problem, one after the other, so
that a machine that slows down slows both. An answer is right if it differs from the truth by less than 1e-6 (or 1e-4: constants of genetic
programming are as good as their last local optimisation) of the larger one or of the
median |truth| at 95 percent of 1,000 fresh rows. Prints a table in Markdown. Operon's settings were chosen here and not tuned:
population 1,000, trees of 50 nodes at most, functions that the formulas have, five iterations of local optimisation of the
constants of each individual. 100 formulas take half an hour."""
import argparse
import json
import os
import subprocess
import tempfile
import warnings
from pathlib import Path

import numpy as np
from pyoperon.sklearn import SymbolicRegressor

from judge_search import NAMES, read_problems, value

ROOT = Path(__file__).resolve().parents[1]
SYMBOLS = "add,sub,mul,div,exp,log,sin,cos,tanh,asin,acos,sqrt,square,constant,variable"
TOLERANCES = (1e-6, 1e-4)


def ours(program, x, y, seconds):
    """The program's answer as a function of x; None if it has none."""
    with tempfile.TemporaryDirectory() as folder:
        table, out = os.path.join(folder, "rows.jsonl"), os.path.join(folder, "answer.jsonl")
        with open(table, "w") as f:
            json.dump({"id": 1, "x": x.tolist(), "y": y.tolist()}, f)
        subprocess.run([program, "eval", "--search", "exhaustive", "--pairs", table, "--timeout", str(seconds), "--threads", "1",
                        "--seeds", "1", "--predictions", out, "--json", "--quiet"], check=True, stdout=subprocess.DEVNULL)
        with open(out) as f:
            text = json.load(f)["expr"]
    if not text:
        return None
    return lambda z: value(text, {**NAMES, **{f"x{i + 1}": column for i, column in enumerate(z)}}, z.shape[1:])


def operons(x, y, seconds, seed):
    warnings.filterwarnings("ignore")
    model = SymbolicRegressor(allowed_symbols=SYMBOLS, optimizer_iterations=5, population_size=1000, pool_size=1000, max_length=50,
                              max_depth=10, generations=10**6, max_evaluations=10**9, max_time=seconds, n_threads=1,
                              random_state=seed, epsilon=1e-15)
    model.fit(x.T, y)
    return lambda z: np.asarray(model.predict(z.T), float).ravel()


def right(problem, answer, seed):
    """By tolerance."""
    if answer is None:
        return [False] * len(TOLERANCES)
    return [bool(problem.agrees(answer, np.random.default_rng([seed, 2]), t, 0.95)) for t in TOLERANCES]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="+")
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--rows", type=int, default=200)
    parser.add_argument("--limit", type=int, default=0, help="the first formulas of each table; 0: all")
    parser.add_argument("--program", default=str(ROOT / "build" / "symlaw"))
    args = parser.parse_args()
    lines = []
    for path in args.tables:
        problems = list(read_problems(path).values())[:args.limit or None]
        hits = np.zeros((2, len(TOLERANCES)), int)
        for i, problem in enumerate(problems):
            x, y = problem.rows(np.random.default_rng([1, i]), args.rows)
            for method, answer in enumerate((ours(args.program, x, y, args.seconds), operons(x, y, args.seconds, i))):
                hits[method] += right(problem, answer, i)
            print(f"{i + 1}/{len(problems)} {problem.name}: symlaw {hits[0, 0]}, Operon {hits[1, 0]} ({hits[1, 1]})", flush=True)
        lines += [f"| {os.path.basename(path)} | {name} | " + " | ".join(f"{h} of {len(problems)}" for h in hits[method]) + " |"
                  for method, name in enumerate(("symlaw", "Operon"))]
    print("\n| formulas | program | " + " | ".join(f"to {t:g}" for t in TOLERANCES) + " |\n|---|---|" + "---|" * len(TOLERANCES))
    print("\n".join(lines))


if __name__ == "__main__":
    main()

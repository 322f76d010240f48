#!/usr/bin/env python3
"""Evaluation beside NumPy: the same expressions, the same sizes, the same run.

    tools/bench_eval.py [build/bench/expr.eval]

For every expression and size the two are timed alternately, ROUNDS times, so that a machine that
slows down slows both; the medians are compared. Tab separated; ratio is NumPy's time over ours, for a
compiled program (run) and with compiling counted (eval)."""
import os

os.environ["OMP_NUM_THREADS"] = "1"

import statistics
import subprocess
import sys
import time

import numpy as np

ROUNDS = 3
SIZES = (64, 10000)


def ours(program, text, n):
    """Nanoseconds per point of (run, eval)."""
    out = subprocess.run([program, text, str(n)], check=True, capture_output=True, text=True).stdout
    head, *rows = [line.split("\t") for line in out.splitlines()]
    cells = [dict(zip(head, row)) for row in rows]
    result = {cell["mode"]: float(cell["median_ns_per_point"]) for cell in cells}
    return result["run"], result["eval"]


def numpys(text, n):
    """Nanoseconds per point."""
    rng = np.random.default_rng(1)
    names = {"x1": rng.uniform(0.1, 5, n), "x2": rng.uniform(0.1, 5, n),
             "exp": np.exp, "sin": np.sin, "sqrt": np.sqrt}
    code = compile(text.replace("^", "**"), "expression", "eval")
    calls = (1 << 18) // n + 1
    times = []
    for _ in range(9):
        start = time.perf_counter()
        for _ in range(calls):
            eval(code, names)
        times.append((time.perf_counter() - start) * 1e9 / (calls * n))
    return statistics.median(times)


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else "build/bench/expr.eval"
    listing = subprocess.run([program, "--list"], check=True, capture_output=True, text=True).stdout
    print("name", "n", "run_ns_per_point", "eval_ns_per_point", "numpy_ns_per_point", "ratio_run",
          "ratio_eval", sep="\t")
    for line in listing.splitlines():
        text = line.split("\t")[0]
        for n in SIZES:
            pairs = [(*ours(program, text, n), numpys(text, n)) for _ in range(ROUNDS)]
            run, both, numpy = (statistics.median(column) for column in zip(*pairs))
            print(text, n, f"{run:.3f}", f"{both:.3f}", f"{numpy:.3f}", f"{numpy / run:.1f}",
                  f"{numpy / both:.1f}", sep="\t", flush=True)


if __name__ == "__main__":
    main()

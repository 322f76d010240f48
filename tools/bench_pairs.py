#!/usr/bin/env python3
"""Pairs a second beside the generator one would write with NumPy and SymPy: one core, one run.

    tools/bench_pairs.py [build/symlaw [build/bench/pairs.pairs]]

The peer is tools/peer_pairs.py, on members of the same set. Both hold their expressions in memory
when the clock starts, and make constants, LaTeX, tokens, points and values of each pair. They are
timed in turn, ROUNDS times, so that a machine that slows down slows both. Shown are medians: of
rates, and of the ratios of rates within a round.
The row "tuned" is the peer with the docstrings of lambdify switched off, which few know of.
Two further rows are the program as a whole, writing text (jsonl) or arrays (npy): the time for
MANY pairs less the time for FEW, which is how the building of the set drops out.

Before that, the two are held against each other: our pairs and the peer's are judged by
tools/judge_pairs.py's values, and their first attempts must succeed alike and their targets be
alike in length. What was found goes to standard error; rows, tab separated, to standard output.
ratio is to the peer's rate.

    pip install numpy sympy"""
import os

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
import judge_pairs
import peer_pairs

ROUNDS = 5
PEER_PAIRS = 300
CHECKED = 1000
BASES = CHECKED + 2 * ROUNDS * PEER_PAIRS  # none comes twice: SymPy remembers what it has met
FEW, MANY = {"jsonl": 1000, "npy": 1000}, {"jsonl": 51000, "npy": 101000}
LENGTH_SLACK, SUCCESS_SLACK = 0.08, 0.03


def say(*words):
    print(*words, file=sys.stderr, flush=True)


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


# ---------------------------------------------------------------- both are right, and alike

def check_ours(program):
    """(tokens of a target, share of first attempts that are good)."""
    judge = judge_pairs.Judge()
    lines = output(program, "pairs", "--split", "train", "--count", str(CHECKED), "--format",
                   "jsonl").splitlines()
    for number, line in enumerate(lines, 1):
        judge.take(line, f"line {number}")
    if not judge.good():
        judge.report(5, sys.stderr)
        raise SystemExit("bench_pairs: our pairs are not right")
    stats = json.loads(output(program, "pairs", "--stats", "20000", "--disjoint", "0",
                               "--json"))
    return statistics.mean(judge.tokens), stats["stats"]["success"]


def check_peer(generator):
    lengths = []
    for i in range(CHECKED):
        pair = generator.pair(i)
        tree = judge_pairs.read(str(pair["expr"]))
        equal, explained = judge_pairs.compare(tree, list(pair["x"].T), pair["y"])
        if not (equal | explained).all():
            raise SystemExit(f"bench_pairs: the peer's values of {pair['expr']} are not right")
        lengths.append(len(pair["tokens"]))
    return statistics.mean(lengths), generator.good_firsts / generator.firsts


def check(program, generator):
    (ours, ours_good), (peer, peer_good) = check_ours(program), check_peer(generator)
    say(f"tokens of a target: ours {ours:.2f}, the peer's {peer:.2f}")
    say(f"first attempts that are good: ours {ours_good:.4f}, the peer's {peer_good:.4f}")
    if abs(ours - peer) > LENGTH_SLACK * ours or abs(ours_good - peer_good) > SUCCESS_SLACK:
        raise SystemExit("bench_pairs: the two do not make the same kind of pairs")


# ---------------------------------------------------------------- pairs a second

def ours_in_memory(bench):
    """The row of complete pairs on one thread, as the bench prints it."""
    head, *rows = [line.split("\t") for line in output(bench, "pair").splitlines()]
    cells = [dict(zip(head, row)) for row in rows]
    one = [cell for cell in cells if cell["threads"] == "1" and cell["name"] == "pair"]
    if not one:
        raise SystemExit(f"bench_pairs: {bench} has no row of pairs on one thread")
    return float(one[0]["per_s"])


def seconds(program, form, count):
    start = time.perf_counter()
    with open(os.devnull, "w") as nowhere:
        subprocess.run([program, "pairs", "--split", "train", "--count", str(count), "--format",
                        form, "--threads", "1", "--quiet"], check=True, stdout=nowhere)
    return time.perf_counter() - start


def whole_program(program, form):
    more = seconds(program, form, MANY[form]) - seconds(program, form, FEW[form])
    return (MANY[form] - FEW[form]) / more


def peers(generator, start):
    """The cache of SymPy is kept, as it would be in a long run."""
    begin = time.perf_counter()
    for i in range(start, start + PEER_PAIRS):
        generator.pair(i)
    return PEER_PAIRS / (time.perf_counter() - begin)


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else "build/symlaw"
    bench = sys.argv[2] if len(sys.argv) > 2 else str(Path(program).parent / "bench/pairs.pairs")
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    with tempfile.TemporaryDirectory() as cache:
        os.environ["SYMLAW_CACHE"] = cache  # the set is built once
        texts = output(program, "expressions", "--sample", str(BASES), "--format", "sympy")
        texts = texts.splitlines()
        random.Random(1).shuffle(texts)  # they are listed by depth and operands, short ones first
        generator = peer_pairs.Generator(texts, 1)
        tuned = peer_pairs.Generator(texts[CHECKED + ROUNDS * PEER_PAIRS :], 2, docstring_limit=0)
        check(program, generator)
        rounds = []
        for i in range(ROUNDS):
            rounds.append((ours_in_memory(bench), whole_program(program, "npy"),
                           whole_program(program, "jsonl"),
                           peers(tuned, i * PEER_PAIRS),
                           peers(generator, CHECKED + i * PEER_PAIRS)))
            say("round", i + 1, *(f"{rate:.0f}" for rate in rounds[-1]))
    versions = f"{np.__version__} {peer_pairs.sympy.__version__}"
    print("name", "version", "pairs_per_s", "ratio", sep="\t")
    names = (("pairs", ""), ("program_npy", ""), ("program_jsonl", ""),
             ("numpy_sympy_tuned", versions), ("numpy_sympy", versions))
    for (name, version), rates in zip(names, zip(*rounds)):
        ratio = statistics.median(rate / row[-1] for rate, row in zip(rates, rounds))
        print(name, version, f"{statistics.median(rates):.0f}", f"{ratio:.1f}", sep="\t")


if __name__ == "__main__":
    main()

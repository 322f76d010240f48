#!/usr/bin/env python3
"""A study by one worker, by two, and by one with two threads, in turn, in one run.

    tools/bench_study.py [build/symlaw] [--plan studies/quick.json] [--rounds N]

Each way makes the same study in a folder of its own; the tables of runs must be the same but for the
columns of seconds. Prints rows, tab separated: seconds from start to report, and their ratio to those of
one worker with one thread."""
import argparse
import csv
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

WAYS = {"one worker, one thread": ("1", "1"), "two workers, one thread each": ("2", "1"),
        "one worker, two threads": ("1", "2")}


def table(folder):
    with open(Path(folder, "runs.csv"), newline="") as f:
        return [{k: v for k, v in row.items() if not k.startswith("seconds_")} for row in csv.DictReader(f)]


def study(o, folder, workers, threads, cache):
    begin = time.monotonic()
    done = subprocess.run([o.program, "study", "run", o.plan, "--out", f"{folder}/study", "--workers", workers,
                           "--threads", threads, "--quiet"], capture_output=True, text=True,
                          env=os.environ | {"XDG_CACHE_HOME": cache})
    if done.returncode != 0:
        raise SystemExit(f"bench_study: {done.stderr.strip()}")
    return time.monotonic() - begin, table(f"{folder}/study")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program", nargs="?", default="build/symlaw")
    parser.add_argument("--plan", default="studies/quick.json")
    parser.add_argument("--rounds", type=int, default=3)
    o = parser.parse_args()

    seconds = {way: [] for way in WAYS}
    first = None
    with tempfile.TemporaryDirectory() as cache:
        for i in range(o.rounds):
            for way, (workers, threads) in WAYS.items():
                with tempfile.TemporaryDirectory() as folder:
                    took, rows = study(o, folder, workers, threads, cache)
                first = first or rows
                if rows != first:
                    raise SystemExit(f"bench_study: {way}: another table")
                seconds[way].append(took)
                print(f"round {i + 1}: {way}: {took:.1f} s", file=sys.stderr)
    one = seconds["one worker, one thread"]
    print("way", "plan", "runs", "seconds", "ratio", sep="\t")
    for way, took in seconds.items():
        ratio = statistics.median(a / b for a, b in zip(took, one))
        print(way, Path(o.plan).stem, len(first), f"{statistics.median(took):.1f}", f"{ratio:.2f}", sep="\t")


if __name__ == "__main__":
    main()

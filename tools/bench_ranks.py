#!/usr/bin/env python3
"""Two ranks beside two threads, and how a step grows with the batch, in one run.

    tools/bench_ranks.py [build/symlaw] [--size S] [--rounds N] [--steps N]

The same short training run is made with two threads in one process and with two ranks of one thread
each (mpirun), in turn. A step's time is taken from the logs: the median over all steps but the
first ones. Then `symlaw bench train` at doubling batches. Prints rows, tab separated."""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
WARM_UP = 3  # steps that are not counted


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | ROOT)
    if done.returncode != 0:
        raise SystemExit(f"bench_ranks: {' '.join(command)}: {done.stderr.strip()}")
    return done.stdout


def step_ms(o, launcher, threads):
    """Median milliseconds of a step, and the loss of the last one."""
    with tempfile.TemporaryDirectory() as folder:
        run([*launcher, o.program, "train", "--size", o.size, "--batch", "32", "--steps",
             str(o.steps), "--log-steps", "1", "--valid-pairs", "0", "--threads", str(threads),
             "--out", f"{folder}/run", "--quiet"])
        lines = [json.loads(x) for x in Path(folder, "run", "log.jsonl").read_text().splitlines()]
    steps = [x for x in lines if x["event"] == "step"]
    return (statistics.median(32e3 / x["pairs_per_second"] for x in steps[WARM_UP:]),
            steps[-1]["loss"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program", nargs="?", default="build/symlaw")
    parser.add_argument("--size", default="mini")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=30)
    o = parser.parse_args()

    two = ["mpirun", "--oversubscribe", "-n", "2"]
    threads, ranks = [], []
    for i in range(o.rounds):
        a, loss_a = step_ms(o, [], 2)
        b, loss_b = step_ms(o, two, 1)
        if loss_a != loss_b:
            raise SystemExit(f"bench_ranks: threads end with loss {loss_a}, ranks with {loss_b}")
        threads.append(a)
        ranks.append(b)
        print(f"round {i + 1}: two threads {a:.1f} ms, two ranks {b:.1f} ms", file=sys.stderr)
    ratio = statistics.median(a / b for a, b in zip(threads, ranks))
    print("name", "size", "batch", "ms", "ms_per_pair", "speed_against_threads", sep="\t")
    print("threads", o.size, 32, f"{statistics.median(threads):.2f}", "", 1.0, sep="\t")
    print("ranks", o.size, 32, f"{statistics.median(ranks):.2f}", "", f"{ratio:.2f}", sep="\t")
    for batch in (8, 16, 32, 64, 128, 256):
        r = json.loads(run([o.program, "bench", "train", "--size", o.size, "--batch", str(batch),
                            "--json", "--quiet"]))
        print("batch", o.size, batch, f"{r['ms']:.2f}", f"{r['ms'] / batch:.3f}", "", sep="\t",
              flush=True)


main()

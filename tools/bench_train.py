#!/usr/bin/env python3
"""A step of training beside PyTorch's: the same model and batch, the same two cores, one run.

    tools/bench_train.py [build/symlaw] [--size S ...] [--rounds N] [--peer FILE]

`symlaw bench train` and the peer are run in turn, round after round, so that a machine that slows
down slows both. The peer is tools/peer_train.py, or another program that takes its arguments
(train SIZE BATCH TOKENS [sdpa]) and prints JSON with ms, or text with "NN ms/step". It has two ways
to attend, plain and sdpa; both are tried first, and the faster one runs in the rounds.

Shown are medians over rounds: of ms a step, of the ratio of the two within a round, and of the most
memory that each process held, as the kernel counted it: program, libraries and all. A table goes
to standard error; rows, tab separated, to standard output. ratio and memory_ratio are the peer's
over ours.

    pip install torch"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from importlib import metadata
from pathlib import Path

PEER = Path(__file__).parent / "peer_train.py"
CORES = 2
WAYS = ("plain", "sdpa")
COLUMNS = ("size", "batch", "tokens", "threads", "ms", "peer_ms", "ratio", "gflops_executed",
           "share", "peak_mb", "peer_peak_mb", "memory_ratio", "peer_way", "peer")


def say(*words):
    print(*words, file=sys.stderr, flush=True)


# ---------------------------------------------------------------- one run of a program

def run(command):
    """(what it printed, most bytes that it held). Both programs are measured by this. A process is
    born with its parent's size on its account, which is why PyTorch is not imported here."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        child = subprocess.Popen(command, stdout=out, stderr=err)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        if child.returncode != 0:
            raise SystemExit(f"bench_train: {' '.join(command)} failed: {err.read().strip()}")
        return out.read(), usage.ru_maxrss * 1024


def ours(o, size):
    text, peak = run([o.program, "bench", "train", "--size", size, "--batch", str(o.batch),
                      "--tokens", str(o.tokens), "--steps", str(o.steps), "--threads", str(CORES),
                      "--json", "--quiet"])
    return json.loads(text) | {"peak": peak}


def peer(o, size, way):
    command = [sys.executable, str(o.peer), "train", size, str(o.batch), str(o.tokens)]
    text, peak = run(command + ([way] if way != "plain" else []))
    found = re.search(r"([0-9.]+) ms/step", text)
    try:
        ms = float(found[1]) if found else json.loads(text)["ms"]
    except (ValueError, KeyError, TypeError):
        raise SystemExit(f"bench_train: {o.peer} tells no time: {text.strip()[:200]}") from None
    return {"ms": ms, "peak": peak}


# ---------------------------------------------------------------- rounds

def compare(o, size):
    """A row."""
    trial = {way: peer(o, size, way)["ms"] for way in WAYS}
    way = min(trial, key=trial.get)
    say(f"{size}: the peer takes", ", ".join(f"{trial[w]:.1f} ms {w}" for w in WAYS))
    rounds = []
    for i in range(o.rounds):
        us, them = ours(o, size), peer(o, size, way)
        rounds.append((us, them))
        say(f"{size}: round {i + 1}: {us['ms']:.1f} ms, peer {them['ms']:.1f} ms")

    def middle(of):
        return statistics.median(of(us, them) for us, them in rounds)

    return {"size": size, "batch": o.batch, "tokens": o.tokens, "threads": CORES,
            "ms": f"{middle(lambda us, them: us['ms']):.2f}",
            "peer_ms": f"{middle(lambda us, them: them['ms']):.2f}",
            "ratio": f"{middle(lambda us, them: them['ms'] / us['ms']):.2f}",
            "gflops_executed": f"{middle(lambda us, them: us['gflops_executed']):.1f}",
            "share": f"{middle(lambda us, them: us['share']):.3f}",
            "peak_mb": f"{middle(lambda us, them: us['peak'] / 2**20):.0f}",
            "peer_peak_mb": f"{middle(lambda us, them: them['peak'] / 2**20):.0f}",
            "memory_ratio": f"{middle(lambda us, them: them['peak'] / us['peak']):.1f}",
            "peer_way": way, "peer": o.version}


def table(rows):
    width = [max(len(name), *(len(str(row[name])) for row in rows)) for name in COLUMNS]
    for cells in [COLUMNS] + [[row[name] for name in COLUMNS] for row in rows]:
        say("  ".join(f"{cell!s:>{w}}" for cell, w in zip(cells, width)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("program", nargs="?", default="build/symlaw")
    parser.add_argument("--size", action="append", metavar="S", help="may be given again "
                        "(default 6.5M, mini and micro)")
    parser.add_argument("--batch", type=int, default=32, metavar="N")
    parser.add_argument("--tokens", type=int, default=32, metavar="T")
    parser.add_argument("--steps", type=int, default=10, metavar="N", help="ours, of one round")
    parser.add_argument("--rounds", type=int, default=5, metavar="N")
    parser.add_argument("--peer", type=Path, default=PEER, metavar="FILE")
    o = parser.parse_args()
    try:
        o.version = "torch " + metadata.version("torch").split("+")[0]
    except metadata.PackageNotFoundError:
        raise SystemExit("bench_train: the peer needs PyTorch: pip install torch") from None
    if hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))[:CORES]
        if len(cores) < CORES:
            raise SystemExit(f"bench_train: needs {CORES} cores, has {len(cores)}")
        os.sched_setaffinity(0, cores)  # and with it both programs'
    rows = [compare(o, size) for size in o.size or ("6.5M", "mini", "micro")]
    table(rows)
    print(*COLUMNS, sep="\t")
    for row in rows:
        print(*(row[name] for name in COLUMNS), sep="\t")


if __name__ == "__main__":
    main()

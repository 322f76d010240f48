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
import json
from pathlib import Path

from beside import CORES, compare, main, run, run_peer

PEER = Path(__file__).parent / "peer_train.py"


def ours(o, size):
    text, peak = run([o.program, "bench", "train", "--size", size, "--batch", str(o.batch),
                      "--tokens", str(o.tokens), "--steps", str(o.steps), "--threads", str(CORES),
                      "--json", "--quiet"])
    result = json.loads(text)
    if result["share"] is None:  # the machine was busy while its peak was measured
        result["share"] = float("nan")
    return result | {"peak": peak}


def peer(o, size, way):
    return run_peer([o.peer, "train", size, o.batch, o.tokens] + ([way] if way != "plain" else []))


def row(o, size):
    return compare(o, size, ours, peer, ("plain", "sdpa"),
                   lambda o: {"batch": o.batch, "tokens": o.tokens},
                   {"gflops_executed": ".1f", "share": ".3f"})


if __name__ == "__main__":
    main(__doc__, {"batch": 32, "tokens": 32}, PEER, row)

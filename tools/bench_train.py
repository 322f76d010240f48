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
from pathlib import Path

from beside import CORES, fastest, hold_cores, in_turn, middle, print_rows, run, run_peer, torch_version

PEER = Path(__file__).parent / "peer_train.py"
WAYS = ("plain", "sdpa")
COLUMNS = ("size", "batch", "tokens", "threads", "ms", "peer_ms", "ratio", "gflops_executed",
           "share", "peak_mb", "peer_peak_mb", "memory_ratio", "peer_way", "peer")


def ours(o, size):
    text, peak = run([o.program, "bench", "train", "--size", size, "--batch", str(o.batch),
                      "--tokens", str(o.tokens), "--steps", str(o.steps), "--threads", str(CORES),
                      "--json", "--quiet"])
    return json.loads(text) | {"peak": peak}


def peer(o, size, way):
    return run_peer([o.peer, "train", size, o.batch, o.tokens] + ([way] if way != "plain" else []))


def compare(o, size):
    """A row."""
    way = fastest(size, WAYS, lambda way: peer(o, size, way))
    pairs = in_turn(size, o.rounds, lambda: ours(o, size), lambda: peer(o, size, way))
    return {"size": size, "batch": o.batch, "tokens": o.tokens, "threads": CORES,
            "ms": f"{middle(pairs, lambda us, them: us['ms']):.2f}",
            "peer_ms": f"{middle(pairs, lambda us, them: them['ms']):.2f}",
            "ratio": f"{middle(pairs, lambda us, them: them['ms'] / us['ms']):.2f}",
            "gflops_executed": f"{middle(pairs, lambda us, them: us['gflops_executed']):.1f}",
            "share": f"{middle(pairs, lambda us, them: us['share']):.3f}",
            "peak_mb": f"{middle(pairs, lambda us, them: us['peak'] / 2**20):.0f}",
            "peer_peak_mb": f"{middle(pairs, lambda us, them: them['peak'] / 2**20):.0f}",
            "memory_ratio": f"{middle(pairs, lambda us, them: them['peak'] / us['peak']):.1f}",
            "peer_way": way, "peer": o.version}


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
    o.version = torch_version()
    hold_cores()
    print_rows(COLUMNS, [compare(o, size) for size in o.size or ("6.5M", "mini", "micro")])


if __name__ == "__main__":
    main()

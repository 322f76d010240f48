#!/usr/bin/env python3
"""Samples of a model beside PyTorch's: the same model and numbers, the same two cores, one run.

    tools/bench_sample.py [build/symlaw] [--size S ...] [--rounds N] [--peer FILE]

Both write --samples texts of exactly --tokens about one data set of 64 points and two variables, from
random weights and with keys and values kept from step to step; the end token is masked. Weights are
random so that texts soon differ: with a trained model ours shares the work of what they have in
common, which `symlaw bench sample --model M --natural-end` shows.

`symlaw bench sample` and the peer are run in turn, round after round, so that a machine that slows
down slows both. The peer is tools/peer_sample.py, or another program that takes its arguments
(sample SIZE SAMPLES TOKENS [sdpa]) and prints JSON with ms, or text with "NN ms". It has two ways to
attend, plain and sdpa; both are tried first, and the faster one runs in the rounds.

Shown are medians over rounds: of ms for all samples, of the ratio of the two within a round, and of
the most memory that each process held. A table goes to standard error; rows, tab separated, to standard
output. ratio and memory_ratio are the peer's over ours; rows are those of the decoder that we computed,
of samples x tokens.

    pip install torch"""
import json
from pathlib import Path

from beside import CORES, compare, main, run, run_peer

PEER = Path(__file__).parent / "peer_sample.py"


def ours(o, size):
    text, peak = run([o.program, "bench", "sample", "--size", size, "--samples", str(o.samples),
                      "--tokens", str(o.tokens), "--steps", str(o.steps), "--threads", str(CORES),
                      "--json", "--quiet"])
    return json.loads(text) | {"peak": peak}


def peer(o, size, way):
    return run_peer([o.peer, "sample", size, o.samples, o.tokens] +
                    ([way] if way != "plain" else []))


def row(o, size):
    return compare(o, size, ours, peer, ("plain", "sdpa"),
                   lambda o: {"samples": o.samples, "tokens": o.tokens},
                   {"encode_ms": ".2f", "rows": ".0f"})


if __name__ == "__main__":
    main(__doc__, {"samples": 128, "tokens": 32}, PEER, row)

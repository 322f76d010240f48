#!/usr/bin/env python3
"""Does it learn? A small model on expressions of depth 2, by three optimizers and several seeds.

    tools/learn.py [build/symlaw] [--seeds N] [--threads N] [--out DIR] [--picture FILE.svg]

Each run takes a minute or two of a core; runs are in folders of DIR (default: runs/learn). Runs
that are there already are resumed or, if finished, only read. Prints, tab separated, a row per
run: the loss on the validation split in nats per token and per expression beside the entropy of
the expressions, which a model that ignores the data cannot go below. Then a row per optimizer
and per pair of optimizers: mean and standard deviation over seeds, and the interval that has the
mean of all seeds with 95 % by Student's t. Pairs are compared seed by seed, since a seed gives all
optimizers the same initial weights, training pairs and validation pairs. --picture draws the
losses of all runs over training."""
import argparse
import itertools
import json
import math
import statistics
import subprocess
from pathlib import Path

MODEL = ["--width", "32", "--layers", "2", "--dropout", "0", "--attention-dropout", "0",
         "--init-scale", "0.15"]
DATA = ["--depth", "2", "--points", "16"]
TRAINING = ["--batch", "16", "--lr", "4e-3", "--flops", "4e12"]
OPTIMIZERS = ("adamcpr", "adam", "adamw")
NAMES = {"adamcpr": "AdamCPR", "adam": "Adam", "adamw": "AdamW"}
COLUMNS = ("optimizer", "seed", "parameters", "steps", "flops", "loss", "loss_expression",
           "entropy", "bounds_set", "seconds")


def train(program, folder, optimizer, seed, threads):
    """The result of one run, as the program reports it."""
    command = [program, "train", *MODEL, *DATA, *TRAINING, "--optimizer", optimizer, "--seed",
               str(seed), "--threads", str(threads), "--out", str(folder), "--resume", "--json"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise SystemExit(f"learn: {' '.join(command)} ended with {done.returncode}")
    return json.loads(done.stdout)


def validations(folder):
    """(FLOPs, nats per expression) of a run's validations."""
    lines = (json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines())
    return [(x["flops"], x["loss_expression"]) for x in lines if x["event"] == "valid"]


# ---------------------------------------------------------------- seeds

def student(n):
    """Half the width of a 95 % interval by Student's t, in standard errors, for n values."""
    def density(t):  # up to its constant factor
        return (1 + t * t / (n - 1)) ** (-n / 2)
    factor = math.exp(math.lgamma(n / 2) - math.lgamma((n - 1) / 2)) / math.sqrt(math.pi * (n - 1))
    step, t, share = 1e-4, 0.0, 0.0
    while share < 0.475:  # the integral from 0, by the midpoint rule
        share += factor * density(t + step / 2) * step
        t += step
    return t


def interval(values):
    """Mean, standard deviation and half the width of the interval; one value has only a mean."""
    mean = statistics.fmean(values)
    if len(values) < 2:
        return mean, math.nan, math.nan
    deviation = statistics.stdev(values)
    return mean, deviation, student(len(values)) * deviation / math.sqrt(len(values))


def compare(losses):
    """Rows of text about {optimizer: [nats per expression of each seed]}."""
    rows = [("what", "seeds", "mean", "deviation", "from", "to")]
    pairs = [(a, None) for a in losses] + list(itertools.combinations(losses, 2))
    for a, b in pairs:
        values = losses[a] if b is None else [x - y for x, y in zip(losses[a], losses[b])]
        mean, deviation, half = interval(values)
        rows.append((a if b is None else f"{a} - {b}", len(values), f"{mean:.3f}",
                     f"{deviation:.3f}", f"{mean - half:.3f}", f"{mean + half:.3f}"))
    return ["\t".join(map(str, row)) for row in rows]


# ---------------------------------------------------------------- the picture

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 720, 330, 64, 150, 24, 52
GREY = "#808890"  # readable on white and on black
COLOURS = {"adamcpr": "#4a5fd3", "adam": "#1fa0a0", "adamw": "#e8a32b"}


def picture(curves, floor):
    """SVG of {(optimizer, seed): [(flops, nats)]}."""
    every = [p for curve in curves.values() for p in curve]
    lo, hi = math.log10(min(f for f, _ in every)), math.log10(max(f for f, _ in every))
    top = math.ceil(max(n for _, n in every))
    bottom = math.floor(min(n for _, n in every))

    def x(flops):
        return LEFT + (math.log10(flops) - lo) / (hi - lo) * (WIDTH - LEFT - RIGHT)

    def y(nats):
        return TOP + (top - nats) / (top - bottom) * (HEIGHT - TOP - BOTTOM)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
           f'font-family="sans-serif" font-size="13" fill="{GREY}">']
    for nats in range(bottom, top + 1, max(1, (top - bottom) // 6)):
        out.append(f'<path d="M{LEFT} {y(nats):.1f}H{WIDTH - RIGHT}" stroke="{GREY}" '
                   f'stroke-opacity=".25"/><text x="{LEFT - 8}" y="{y(nats) + 4:.1f}" '
                   f'text-anchor="end">{nats}</text>')
    for k in (1, 2, 5, 10, 20, 50):
        flops = k * 1e11
        if 10 ** lo <= flops <= 10 ** hi * 1.001:
            out.append(f'<text x="{x(flops):.1f}" y="{HEIGHT - BOTTOM + 20}" '
                       f'text-anchor="middle">{k}·10¹¹</text>')
    for (optimizer, _), curve in curves.items():
        path = "L".join(f"{x(f):.1f} {y(n):.1f}" for f, n in curve)
        out.append(f'<path d="M{path}" fill="none" stroke="{COLOURS[optimizer]}" '
                   f'stroke-width="1" stroke-opacity=".45"/>')
    for optimizer in OPTIMIZERS:  # validations of all seeds are at the same steps
        seeds = [curve for (name, _), curve in curves.items() if name == optimizer]
        mean = [(statistics.fmean(f for f, _ in at), statistics.fmean(n for _, n in at))
                for at in zip(*seeds)]
        path = "L".join(f"{x(f):.1f} {y(n):.1f}" for f, n in mean)
        out.append(f'<path d="M{path}" fill="none" stroke="{COLOURS[optimizer]}" '
                   f'stroke-width="2.5"/>')
    out.append(f'<path d="M{LEFT} {y(floor):.1f}H{WIDTH - RIGHT}" stroke="#db4a3a" '
               f'stroke-width="1.5"/><text x="{WIDTH - RIGHT + 8}" y="{y(floor) - 2:.1f}" '
               f'fill="#db4a3a">without data: {floor:.1f}</text>')
    for i, optimizer in enumerate(OPTIMIZERS):
        at = TOP + 14 + 20 * i
        out.append(f'<path d="M{WIDTH - RIGHT + 8} {at}h22" stroke="{COLOURS[optimizer]}" '
                   f'stroke-width="2"/><text x="{WIDTH - RIGHT + 38}" y="{at + 4}">'
                   f'{NAMES[optimizer]}</text>')
    at = TOP + 14 + 20 * len(OPTIMIZERS)
    out.append(f'<text x="{WIDTH - RIGHT + 8}" y="{at + 4}">thin: one seed each</text>')
    out.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 12}" text-anchor="middle">'
               'FLOPs of training</text>')
    out.append(f'<text transform="translate(18 {(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)" '
               'text-anchor="middle">nats per expression, validation</text></svg>')
    return "\n".join(out) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program", nargs="?", default="build/symlaw")
    parser.add_argument("--seeds", type=int, default=8, metavar="N", help="seeds 0 to N-1 (default 8)")
    parser.add_argument("--threads", type=int, default=0, metavar="N", help="0: one per core")
    parser.add_argument("--out", type=Path, default=Path("runs/learn"), metavar="DIR")
    parser.add_argument("--picture", type=Path, metavar="FILE")
    o = parser.parse_args()
    curves, losses, floors = {}, {name: [] for name in OPTIMIZERS}, []
    print(*COLUMNS, sep="\t", flush=True)
    for seed in range(o.seeds):
        for optimizer in OPTIMIZERS:
            folder = o.out / f"{optimizer}-{seed}"
            r = train(o.program, folder, optimizer, seed, o.threads)
            floors.append(r["entropy"]["expressions"])
            print(optimizer, seed, r["parameters"], r["step"], f"{r['flops']:.3g}",
                  f"{r['loss_valid']:.4f}", f"{r['loss_valid_expression']:.3f}",
                  f"{floors[-1]:.2f}", r["bounds_set"], f"{r['training_seconds']:.0f}", sep="\t",
                  flush=True)
            curves[optimizer, seed] = validations(folder)
            losses[optimizer].append(r["loss_valid_expression"])
    print(*compare(losses), sep="\n")
    if o.picture:
        o.picture.write_text(picture(curves, statistics.fmean(floors)))


main()

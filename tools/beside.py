"""Shared by the scripts that compare symlaw with another program: runs in turn, medians, tables."""
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

CORES = 2
NAME = Path(sys.argv[0]).stem


def say(*words):
    print(*words, file=sys.stderr, flush=True)


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
            raise SystemExit(f"{NAME}: {' '.join(command)} failed: {err.read().strip()}")
        return out.read(), usage.ru_maxrss * 1024


def run_peer(command):
    """{ms, peak} of another program: JSON with ms, or text with "NN ms"."""
    text, peak = run([sys.executable, *map(str, command)])
    try:
        ms = json.loads(text)["ms"]
    except (ValueError, KeyError, TypeError):
        found = re.search(r"([0-9.]+) ms\b", text)
        if not found:
            raise SystemExit(f"{NAME}: {command[0]} prints no time: {text.strip()[:200]}") from None
        ms = float(found[1])
    return {"ms": ms, "peak": peak}


def fastest(size, ways, peer):
    """The way in which the peer is fastest, by one trial of each."""
    trial = {way: peer(way)["ms"] for way in ways}
    say(f"{size}: the peer takes", ", ".join(f"{trial[w]:.1f} ms {w}" for w in ways))
    return min(trial, key=trial.get)


def in_turn(size, rounds, ours, peer):
    """[(ours, the peer's)], round after round: a machine that slows down slows both."""
    pairs = []
    for i in range(rounds):
        us, them = ours(), peer()
        pairs.append((us, them))
        say(f"{size}: round {i + 1}: {us['ms']:.1f} ms, peer {them['ms']:.1f} ms")
    return pairs


def middle(pairs, of):
    return statistics.median(of(us, them) for us, them in pairs)


def torch_version():
    try:
        return "torch " + metadata.version("torch").split("+")[0]
    except metadata.PackageNotFoundError:
        raise SystemExit(f"{NAME}: the peer needs PyTorch: pip install torch") from None


def hold_cores():
    """This process and with it both programs run on CORES cores."""
    if hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))[:CORES]
        if len(cores) < CORES:
            raise SystemExit(f"{NAME}: needs {CORES} cores, has {len(cores)}")
        os.sched_setaffinity(0, cores)


def print_rows(columns, rows):
    """A table on standard error; tab separated on standard output."""
    width = [max(len(name), *(len(str(row[name])) for row in rows)) for name in columns]
    for cells in [columns] + [[row[name] for name in columns] for row in rows]:
        say("  ".join(f"{cell!s:>{w}}" for cell, w in zip(cells, width)))
    print(*columns, sep="\t")
    for row in rows:
        print(*(row[name] for name in columns), sep="\t")


def compare(o, size, ours, peer, ways, setting, figures):
    """A row: `setting` is how it begins, `figures` (column, value of ours, format) come behind the ratio."""
    way = fastest(size, ways, lambda way: peer(o, size, way))
    pairs = in_turn(size, o.rounds, lambda: ours(o, size), lambda: peer(o, size, way))
    row = {"size": size, **setting(o), "threads": CORES,
           "ms": f"{middle(pairs, lambda us, them: us['ms']):.2f}",
           "peer_ms": f"{middle(pairs, lambda us, them: them['ms']):.2f}",
           "ratio": f"{middle(pairs, lambda us, them: them['ms'] / us['ms']):.2f}"}
    for name, form in figures.items():
        row[name] = format(middle(pairs, lambda us, them: us[name]), form)
    return row | {
        "peak_mb": f"{middle(pairs, lambda us, them: us['peak'] / 2**20):.0f}",
        "peer_peak_mb": f"{middle(pairs, lambda us, them: them['peak'] / 2**20):.0f}",
        "memory_ratio": f"{middle(pairs, lambda us, them: them['peak'] / us['peak']):.1f}",
        "peer_way": way, "peer": o.version}


def main(doc, counts, default_peer, row):
    """The program: `counts` are its whole-number options and their defaults, row(o, size) makes a row."""
    parser = argparse.ArgumentParser(description=doc.split("\n\n")[0])
    parser.add_argument("program", nargs="?", default="build/symlaw")
    parser.add_argument("--size", action="append", metavar="S", help="may be given again "
                        "(default 6.5M, mini and micro)")
    for name, value in counts.items():
        parser.add_argument(f"--{name}", type=int, default=value, metavar="N")
    parser.add_argument("--steps", type=int, default=10, metavar="N", help="ours, of one round")
    parser.add_argument("--rounds", type=int, default=5, metavar="N")
    parser.add_argument("--peer", type=Path, default=default_peer, metavar="FILE")
    o = parser.parse_args()
    o.version = torch_version()
    hold_cores()
    rows = [row(o, size) for size in o.size or ("6.5M", "mini", "micro")]
    print_rows(tuple(rows[0]), rows)

#!/usr/bin/env python3
"""Do two builds of symlaw give the same results?

    python3 tools/compare_builds.py BEFORE AFTER      two programs, e.g. old/build/symlaw build/symlaw

Compared are hashes of sets and of pairs, the bytes of pairs, the weights, log and optimizer state of a
short training run, and the JSON of discover, eval and laws. Times, memory, versions and paths may differ; options
that were renamed are mapped by RENAMED. Prints each case with what differs. A member that only AFTER has is no
difference, but is named. Exit code 0: all the same. 1: some differ."""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "examples"
MODEL = ROOT / "models" / "small.safetensors"

# names of options and keys of configurations that changed, old to new
RENAMED = {"decay": "lr-final", "limit": "max-y"}
# set-size was called size by commands that have no model
RENAMED_IN = {"expressions": {"size": "set-size", "count": "count-only"}, "pairs": {"size": "set-size"}}

# members that say when, where and how fast
VOLATILE = {"version", "revision", "made_by", "cost", "time", "cache"}
VOLATILE_ENDS = ("seconds", "_s", "_ms", "bytes", "memory", "path", "per_second", "gflops")


def volatile(key):
    return key in VOLATILE or key.endswith(VOLATILE_ENDS)


def plain(value, command=None):
    """The value without what may differ, under the new names."""
    if isinstance(value, dict):
        names = {**RENAMED, **RENAMED_IN.get(value.get("command", command), {})}
        return {names.get(k, k): plain(v, value.get("command", command))
                for k, v in value.items() if not volatile(k)}
    if isinstance(value, list):
        return [plain(v, command) for v in value]
    return value


class Build:
    def __init__(self, program, folder):
        self.program, self.folder = str(Path(program).resolve()), Path(folder)
        self.folder.mkdir()

    def run(self, *args):
        env = {**os.environ, "SYMLAW_CACHE": "off"}
        done = subprocess.run([self.program, *args], capture_output=True, env=env, cwd=self.folder)
        if done.returncode not in (0, 1):
            sys.exit(f"{self.program} {' '.join(args)}: exit {done.returncode}\n"
                     + done.stderr.decode(errors="replace")[-2000:])
        return done.stdout

    def json(self, *args):
        return plain(json.loads(self.run(*args, "--json", "--quiet")))


def differences(a, b, where=""):
    """Members that only b has, and the first other difference of each member, by their paths. An index is *."""
    if isinstance(a, dict) and isinstance(b, dict):
        new = {f"{where}.{k}" for k in b if k not in a}
        other = {f"{where}.{k}": "only before" for k in a if k not in b}
        pairs = [(a[k], b[k], f"{where}.{k}") for k in a if k in b]
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        new, other = set(), {}
        pairs = [(x, y, where + "[*]") for x, y in zip(a, b)]
    else:
        return set(), {} if a == b else {where: f"{str(a)[:80]} and {str(b)[:80]}"}
    for x, y, path in pairs:
        inner_new, inner_other = differences(x, y, path)
        new |= inner_new
        other = {**inner_other, **other}
    return new, other


def weights(data):
    """Tensors of a safetensors file without its metadata, which has times and revisions."""
    n = int.from_bytes(data[:8], "little")
    header = json.loads(data[8:8 + n])
    header.pop("__metadata__", None)
    return header, data[8 + n:]


TRAIN = ("--size", "micro", "--steps", "12", "--batch", "4", "--set-size", "2000", "--checkpoint-steps", "6",
         "--quiet")


def trained(folder):
    """What a run leaves, by name of file."""
    left = {}
    for f in sorted(folder.glob("*.safetensors")):
        left[f.name] = weights(f.read_bytes())
    left["log"] = [plain(json.loads(line)) for line in (folder / "log.jsonl").read_text().splitlines()]
    return left


def train(b):
    b.run("train", *TRAIN, "--out", "run")
    return trained(b.folder / "run")


def cases():
    yield "set of depth 2", lambda b: b.json("expressions", "--depth", "2", "--count")
    yield "set of depth 3, 100,000 members", lambda b: b.json("expressions", "--count")
    yield "hashes of pairs", lambda b: b.json("pairs", "--hash")
    yield "pairs as JSON lines", lambda b: b.run("pairs", "--split", "test", "--count", "50")
    yield "pairs as CSV", lambda b: b.run("pairs", "--split", "valid", "--count", "20", "--format", "csv")
    yield "statistics of pairs", lambda b: b.json("pairs", "--stats", "2000")
    yield "training, 12 steps", train
    for table in sorted(EXAMPLES.glob("*.csv")):
        yield (f"discover {table.name}",
               lambda b, t=table: b.json("discover", str(t), "--model", str(MODEL), "--effort", "low"))
        yield (f"discover {table.name} by the model",
               lambda b, t=table: b.json("discover", str(t), "--model", str(MODEL), "--search", "model"))
    yield "eval of the model", lambda b: b.json("eval", "--model", str(MODEL), "--split", "test",
                                                "--limit", "40", "--search", "model")
    yield "laws of the paper's runs", lambda b: b.json("laws", str(ROOT / "studies" / "paper_runs.csv"))


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    different = 0
    with tempfile.TemporaryDirectory() as temp:
        before = Build(sys.argv[1], Path(temp) / "before")
        after = Build(sys.argv[2], Path(temp) / "after")
        for name, work in cases():
            a, b = work(before), work(after)
            new, other = differences(a, b)
            different += bool(other)
            print(f"{'different' if other else 'same     '}  {name}", flush=True)
            for path, what in sorted(other.items()):
                print(f"           {path}: {what}")
            if new:
                print(f"           new: {' '.join(sorted(new))}", flush=True)
    print(f"{different} different")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())

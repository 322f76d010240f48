#!/usr/bin/env python3
"""Share of problems that the search recovers within given times: the tables of docs/math/search.md.

    tools/bench_search.py feynman              equations of the Feynman lectures, data seeds 1, 2, 3, at 0.1 and 1 s
    tools/bench_search.py public textbook handbook
                                               other formulas at 3 s; the last two with 200 and with 16 rows
    tools/bench_search.py pairs rounded real   300 pairs of the test split at 0.5, 3 and 10 s: as they are, y of
                                               6 digits, real-valued constants
    tools/bench_search.py noise                Feynman with noise of 0.001, 0.01, 0.1 of the rms of y, 10 s
    tools/bench_search.py hints                the search alone and with a model's hints, at equal time

Each part runs `symlaw eval --search exhaustive`, one problem after the other with all threads inside, and prints a
table in Markdown with the commands above it. `recovered` is the program's own verdict; every answer is judged once more by
judge_search.py at 1,000 fresh rows: `false` are answers that are said to be exact and are not. Times are wall times of the
search, from the first look at the rows; `fresh process` runs `symlaw discover` anew for each formula and counts the whole
process. An idle machine is needed for times that mean anything; the load is printed. feynman, public and textbook
take minutes, pairs and noise up to an hour each. --times FILE adds the time of each right answer to a CSV file, which
picture_search.py draws. Needs NumPy."""
import argparse
import ast
import csv
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from judge_search import judge, read_problems

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = Path("examples") / "formulas"
FIRST_PAIR = 200  # those before it were looked at while the search was written


def machine():
    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")),
               platform.processor())
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True, cwd=ROOT).stdout
    return f"{cpu}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, commit {commit.strip() or 'unknown'}"


def is_right(prediction):
    """Of data with errors it is the structure that can be right."""
    return prediction.get("structure", prediction["status"] in ("solved", "equal"))


class Bench:
    """One call of this program: where symlaw is, how many threads, how many problems."""

    def __init__(self, args):
        self.args = args
        self.folder = tempfile.TemporaryDirectory()

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def symlaw(self, *args):
        command = [self.args.program, *map(str, args)]
        r = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
        if r.returncode:
            sys.exit(f"{' '.join(command)}\n{r.stderr}")
        return r.stdout

    def evaluate(self, problems, *options, search="exhaustive"):
        """(result, predictions) of symlaw eval; prints the command."""
        kind = "--pairs" if str(problems).endswith(".jsonl") else "--formulas"
        shown = ["eval", "--search", search, kind, problems, "--seeds", 1, *options]
        if self.args.threads:
            shown += ["--threads", self.args.threads]
        if self.args.limit:
            shown += ["--limit", self.args.limit]
        print("    symlaw " + " ".join(os.path.basename(str(x)) if str(x).startswith(self.folder.name) else str(x)
                                       for x in shown), flush=True)
        out = self.path("predictions.jsonl")
        result = json.loads(self.symlaw(*shown, "--json", "--quiet", "--predictions", out))
        with open(out) as f:
            found = [json.loads(line) for line in f]
        if self.args.times:
            self.add_times(problems, options, found)
        return result, found

    def add_times(self, problems, options, found):
        """A row for each problem of a table: its seconds if the answer is right, else none."""
        name = " ".join([Path(problems).stem, *(f"{o}".lstrip("-") for o in options[:-2])])  # but for the budgets
        fresh = not os.path.exists(self.args.times)
        with open(self.args.times, "a", newline="") as f:
            out = csv.writer(f)
            if fresh:
                out.writerow(["set", "problem", "seconds"])
            out.writerows([name, p["id"], f"{p['answered']:.4f}" if is_right(p) else ""] for p in found)

    def false(self, problems, predictions):
        return sum(wrong for _, _, wrong in judge(read_problems(ROOT / problems), predictions))


def table(heads, rows):
    print()
    print("| " + " | ".join(heads) + " |")
    print("|" + "---|" * len(heads))
    for row in rows:
        print("| " + " | ".join(str(x) for x in row) + " |")
    print(flush=True)


def curve(result):
    return [f"{b['right']} of {b['n']}" for b in result["budgets"]]


# ---------------------------------------------------------------- formulas

def fresh_process(bench, problems, seconds, seed):
    """Formulas that a process which is started for each of them has found within the time."""
    right = 0
    for i, problem in enumerate(problems.values()):
        if bench.args.limit and i >= bench.args.limit:
            break
        x, y = problem.rows(np.random.default_rng([seed, i, 7]), 200)
        path = bench.path("table.csv")
        with open(path, "w", newline="") as f:
            out = csv.writer(f)
            out.writerow([*problem.names, "target_"])
            out.writerows([repr(float(v)) for v in row] for row in np.vstack([x, y]).T)
        threads = ["--threads", str(bench.args.threads)] if bench.args.threads else []
        start = time.monotonic()
        text = bench.symlaw("discover", path, "--target", "target_", "--search", "exhaustive", "--timeout", seconds, "--json",
                            "--quiet", *threads)
        took = time.monotonic() - start
        found = json.loads(text)["candidates"]
        # a process that ends by its time limit has used it up, and needs a moment to print
        if found and took <= seconds + 0.1:
            right += bool(problem.same(found[0]["formula"].replace("`", ""), np.random.default_rng([seed, i])))
    return right


def part_feynman(bench):
    path, rows = EXAMPLES / "feynman.csv", []
    for seed in (1, 2, 3):
        result, found = bench.evaluate(path, "--seed", seed, "--budgets", "0.1,1")
        problems = read_problems(ROOT / path)
        rows.append([seed, *curve(result), bench.false(path, found), fresh_process(bench, problems, 1, seed)])
    table(["data seed", "0.1 s", "1 s", "false", "1 s, fresh process"], rows)


def part_public(bench):
    path = EXAMPLES / "public.csv"
    result, found = bench.evaluate(path, "--budgets", "0.1,1,3")
    table(["set", "0.1 s", "1 s", "3 s", "false"], [["public formulas", *curve(result), bench.false(path, found)]])


def few_rows(bench, name):
    """A table of formulas with 200 rows, and with 16."""
    path, rows = EXAMPLES / f"{name}.csv", []
    for n in (200, 16):
        result, found = bench.evaluate(path, "--rows", n, "--budgets", "0.1,1,3")
        rows.append([n, *curve(result), bench.false(path, found)])
        missed = [p["id"] for p in found if not is_right(p)]
        print(f"    not recovered with {n} rows: {', '.join(missed) or 'none'}")
    table(["rows", "0.1 s", "1 s", "3 s", "false"], rows)


def part_textbook(bench):
    few_rows(bench, "textbook")


def part_handbook(bench):
    few_rows(bench, "handbook")


# ---------------------------------------------------------------- pairs

class Constants(ast.NodeTransformer):
    """Numbers that are no exponents become real ones from -9 to 9."""

    def __init__(self, rng):
        self.rng, self.changed = rng, False

    def visit_BinOp(self, node):
        node.left = self.visit(node.left)
        if not isinstance(node.op, ast.Pow):
            node.right = self.visit(node.right)
        return node

    def visit_Constant(self, node):
        self.changed = True
        return ast.Constant(float(self.rng.uniform(-9, 9)))


def real_constants(source, target):
    """The pairs of a file with other constants, y at the same x; data that are undefined on some rows are drawn again."""
    rng, changed = np.random.default_rng(11), 0
    problems = read_problems(source)
    with open(source) as lines, open(target, "w") as out:
        for line in lines:
            pair = json.loads(line)
            problem, x = problems[str(pair["id"])], np.array(pair["x"], float)
            for _ in range(200):
                constants = Constants(rng)
                text = ast.unparse(constants.visit(ast.parse(pair["expr"].replace("^", "**"), mode="eval")))
                y = problem.value(text, x)
                if np.all(np.isfinite(y)) and np.ptp(y) > 1e-9 * np.abs(y).max():
                    changed += constants.changed
                    pair.update(expr=text, y=[float(v) for v in y])
                    break
            out.write(json.dumps({key: pair[key] for key in ("id", "expr", "x", "y")}) + "\n")
    return changed


def draw_pairs(bench, name, count=300):
    """Pairs of the test split; fewer if --limit says so."""
    path, count = bench.path(name), bench.args.limit or count
    options = ["pairs", "--split", "test", "--start", FIRST_PAIR, "--count", count, "--out"]
    bench.symlaw(*options, path)
    print("    symlaw", *options, name)
    return path


def recover_pairs(bench, name, path, *options):
    result, found = bench.evaluate(path, *options, "--budgets", "0.5,3,10")
    # an answer to rounded data may be right in every digit and still have other values than the truth
    wrong = result["wrong"] if options else sum(wrong for _, _, wrong in judge(read_problems(path), found))
    table(["pairs", "0.5 s", "3 s", "10 s", "false"], [[name, *[f"{b['share']:.3f}" for b in result["budgets"]], wrong]])


def part_pairs(bench):
    recover_pairs(bench, "as they are", draw_pairs(bench, "pairs.jsonl"))


def part_rounded(bench):
    recover_pairs(bench, "y of 6 digits", draw_pairs(bench, "pairs.jsonl"), "--digits", 6)


def part_real(bench):
    path = bench.path("real.jsonl")
    changed = real_constants(draw_pairs(bench, "pairs.jsonl"), path)
    recover_pairs(bench, f"real constants ({changed} pairs have some)", path)


# ---------------------------------------------------------------- noise and hints

def part_noise(bench):
    rows = []
    for noise in (0.001, 0.01, 0.1):
        result, _ = bench.evaluate(EXAMPLES / "feynman.csv", "--noise", noise, "--seed", 1, "--timeout", 10)
        every = result["all"]
        rows.append([noise, every["structure"]["hits"], every["on_front"]["hits"], every["structure"]["n"]])
    table(["noise", "right structure", "right one on the front", "of"], rows)


def part_hints(bench):
    rows = []
    pairs = draw_pairs(bench, "pairs.jsonl", 100)
    for name, path in (("pairs, depth 3", pairs), ("textbook", EXAMPLES / "textbook.csv")):
        for search in ("exhaustive", "both"):
            options = ["--model", "models/small.safetensors"] if search == "both" else []
            result, _ = bench.evaluate(path, *options, "--budgets", "0.5,1,3", search=search)
            rows.append([name, search, *curve(result), result["wrong"]])
    table(["problems", "--search", "0.5 s", "1 s", "3 s", "false"], rows)


PARTS = {name[5:]: part for name, part in globals().items() if name.startswith("part_")}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", nargs="+", choices=list(PARTS))
    parser.add_argument("--program", default=str(ROOT / "build" / "symlaw"))
    parser.add_argument("--threads", type=int, default=0, help="0: one a core")
    parser.add_argument("--limit", type=int, default=0, help="the first problems only; 0: all")
    parser.add_argument("--times", help="a CSV file to which the time of each right answer is added")
    args = parser.parse_args()
    for part in args.part:
        print(f"## {part}\n\n{machine()}\n", flush=True)
        PARTS[part](Bench(args))


if __name__ == "__main__":
    main()

"""symlaw eval --search: formulas with ranges, budgets, noise, without a model; and the tools that measure and judge it."""
import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tool import PROGRAM, run

ROOT = Path(__file__).parents[2]
JUDGE = [sys.executable, "-B", str(ROOT / "tools" / "judge_search.py")]
# one of each kind: a monomial, a sum, a quotient, a function, many variables
EASY = ("I.12.1", "I.8.14", "I.13.12", "I.15.3x", "I.29.4", "I.34.14", "I.50.26", "II.6.15b")


def evaluate(*args, **more):
    return run("eval", "--search", "exhaustive", "--seeds", "1", "--quiet", *map(str, args), **more)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """A handful of the Feynman equations."""
    path = tmp_path_factory.mktemp("search") / "few.csv"
    with open(ROOT / "examples" / "formulas" / "feynman.csv", newline="") as f:
        head, *rows = csv.reader(f)
    rows = [row for row in rows if row[0] in EASY]
    assert len(rows) >= 6
    with open(path, "w", newline="") as f:
        csv.writer(f).writerows([head, *rows])
    return path


@pytest.fixture(scope="module")
def answers(table, tmp_path_factory):
    """(result, predictions, their file), with time enough for anything."""
    out = tmp_path_factory.mktemp("answers") / "p.jsonl"
    r = evaluate("--formulas", table, "--budgets", "0.001,60", "--json", "--predictions", out, timeout=600)
    assert r.code == 0, r
    return r.json, [json.loads(line) for line in out.read_text().splitlines()], out


def test_recovers_and_reports_the_work(answers):
    j, found, _ = answers
    n = len(found)
    assert j["model"] is None and j["search"] == "exhaustive" and j["config"]["timeout"] == 60
    assert j["all"]["exact"]["hits"] == n == j["claimed"] and j["wrong"] == 0
    first, last = j["budgets"]
    assert (first["seconds"], last["seconds"]) == (0.001, 60)
    assert first["right"] <= last["right"] == last["n"] == n and last["wrong"] == 0
    for p in found:
        assert p["status"] in ("solved", "equal") and p["exact"] and p["method"], p
        assert 0 < p["answered"] <= p["seconds"]


def test_answers_are_in_the_names_of_the_table(table, answers):
    with open(table, newline="") as f:
        names = {row["name"]: [v.split(":")[0] for v in row["variables"].split()] for row in csv.DictReader(f)}
    for p in answers[1]:
        assert any(name in p["expr"] for name in names[p["id"]]), p


def test_the_script_agrees_and_detects_errors(table, answers, tmp_path):
    pytest.importorskip("numpy")
    _, found, path = answers
    r = subprocess.run([*JUDGE, str(table), str(path)], capture_output=True, text=True)
    assert r.returncode == 0 and f"{len(found)} right, 0 false" in r.stdout, r.stdout + r.stderr
    bad = tmp_path / "bad.jsonl"
    found = [dict(p) for p in found]
    found[0]["expr"] = f"1.0001*({found[0]['expr']})"
    bad.write_text("".join(json.dumps(p) + "\n" for p in found))
    r = subprocess.run([*JUDGE, str(table), str(bad)], capture_output=True, text=True)
    assert r.returncode == 1 and "1 false" in r.stdout and found[0]["id"] in r.stdout, r.stdout + r.stderr


def test_the_seed_and_the_number_of_rows(table, tmp_path):
    hashes = set()
    for args in (["--seed", "1"], ["--seed", "2"], ["--seed", "1", "--rows", "16"]):
        r = evaluate("--formulas", table, "--limit", "1", "--timeout", "60", "--json", *args)
        assert r.code == 0, r
        hashes.add(r.json["problems"]["hash"])
    assert len(hashes) == 3


def test_noise_is_judged_by_structure(table):
    r = evaluate("--formulas", table, "--limit", "2", "--noise", "0.01", "--timeout", "20", "--json", timeout=300)
    assert r.code == 0, r
    every = r.json["all"]
    assert every["structure"]["n"] == every["on_front"]["n"] == 2
    assert every["structure"]["hits"] <= every["on_front"]["hits"] <= 2
    r = evaluate("--formulas", table, "--limit", "2", "--timeout", "60")
    assert r.code == 0 and "correct structure" not in r.out and "model" not in r.out, r


def test_problems_without_a_truth(tmp_path):
    path = tmp_path / "rows.jsonl"
    x = [[1.0 + 0.37 * i for i in range(24)], [2.0 + (0.71 * i) % 3 for i in range(24)]]
    path.write_text(json.dumps({"id": "a", "x": x, "y": [a * b * b / 2 for a, b in zip(*x)]}) + "\n")
    r = evaluate("--pairs", path, "--timeout", "60", "--predictions", tmp_path / "p.jsonl", "--json")
    assert r.code == 0, r
    p = json.loads((tmp_path / "p.jsonl").read_text())
    assert p["status"] == "found" and p["exact"], p
    value = eval(p["expr"], {"x1": 3.5, "x2": 2.5})
    assert abs(value - 3.5 * 2.5 ** 2 / 2) < 1e-9, p


def test_exponents_that_are_no_simple_fractions(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("name,formula,variables\ncobb-douglas,A*L**0.7*K**0.3,A:1:5 L:1:20 K:1:20\n"
                    "rate,0.5*A**0.4321,A:1:5 idle:1:2\n")
    r = evaluate("--formulas", path, "--timeout", "60", "--json", timeout=300)
    assert r.code == 0 and r.json["all"]["exact"]["hits"] == 2, r


@pytest.mark.parametrize("args, said", [
    (["--budgets", "1,0.1"], "must grow"),
    (["--budgets", "1,,2"], "must be seconds"),
    (["--budgets", "0"], "must be seconds"),
    (["--budgets", ",".join(str(i + 1) for i in range(17))], "more than 16"),
    (["--budgets", "1", "--timeout", "2"], "leave out --timeout"),
    (["--source", "blind"], "takes none"),
    (["--rows", "1"], "at least 2 rows"),
    (["--digits", "18"], "--digits must be"),
])
def test_wrong_use(table, args, said):
    r = evaluate("--formulas", table, *args)
    assert r.code == 2 and said in r.err, r


def test_bad_tables_are_named_by_line_and_place(tmp_path):
    path = tmp_path / "bad.csv"
    for row, said in (("a,m*v,m:1:2", "bad.csv:2: formula, column 3"), ("a,m,m:2:1", "bad.csv:2: variables, character 1"),
                      ("a,m,m:1", "bad.csv:2: variables, character 4")):
        path.write_text(f"name,formula,variables\n{row}\n")
        r = evaluate("--formulas", path)
        assert r.code == 2 and said in r.err, r


def test_the_bench_prints_its_table(tmp_path):
    pytest.importorskip("numpy")
    r = subprocess.run([sys.executable, "-B", str(ROOT / "tools" / "bench_search.py"), "public", "--limit", "2", "--program", PROGRAM],
                       capture_output=True, text=True, timeout=300, env={**os.environ, "SYMLAW_CACHE": "off"})
    assert r.returncode == 0 and "| public formulas |" in r.stdout and "symlaw eval --search exhaustive" in r.stdout, r.stdout + r.stderr

"""symlaw discover with its search: laws of the examples, search and model together, options, hostile tables, stops."""
import csv
import json
import os
import re
import shutil
import signal
import subprocess
from pathlib import Path

import numpy as np
import pytest

from tool import PROGRAM, run, wait_for_work

EXAMPLES = Path(__file__).parents[2] / "examples"
os.environ.pop("SYMLAW_MODEL", None)
ALONE = ["--search", "exhaustive"]

LAWS = dict(line.split(".csv|") for line in (EXAMPLES / "laws.txt").read_text().splitlines())


def write(folder, header, rows, name="t.csv"):
    path = folder / name
    path.write_text("\n".join(",".join(x if isinstance(x, str) else repr(float(x)) for x in row)
                              for row in (header, *rows)) + "\n")
    return str(path)


def kinetic(folder, n=30, **more):
    rng = np.random.default_rng(1)
    m, v = rng.uniform(1, 5, n), rng.uniform(1, 9, n)
    return write(folder, ("m", "v", "E"), np.column_stack([m, v, m * v ** 2 / 2]), **more)


# ---------------------------------------------------------------- the examples

def test_terms_with_huge_numbers_do_not_end_the_search():
    """sqrt(sqrt(2^64)...) among the terms of a small formula was an error of its own."""
    done = run("discover", str(EXAMPLES / "pendulum.csv"), "--ops", "sqrt", "--max-size", "6", "--quiet", *ALONE)
    assert done.code == 0 and done.lines[0] == LAWS["pendulum"], done


def test_several_tables_are_worked_on_one_after_the_other():
    """Each example's headline is its law, without a model: as after `make`."""
    files = [str(EXAMPLES / f"{name}.csv") for name in LAWS]
    r = run("discover", *files, *ALONE, "--quiet")
    assert r.code == 0 and r.err == "", r
    headlines = [r.lines[i + 1] for i, line in enumerate(r.lines) if line.startswith("==> ")]
    assert [line for line in r.lines if line.startswith("==> ")] == [f"==> {f} <==" for f in files]
    assert headlines == list(LAWS.values())
    found = [json.loads(x) for x in run("discover", files[3], files[5], *ALONE, "--json").lines]
    assert [j["data"]["file"] for j in found] == [files[3], files[5]]
    assert found[0]["formula"] == "k*area*(warm - cold)/d" and abs(found[1]["r2"] - 1) < 1e-12


def test_several_tables_and_one_file_to_write_are_refused(tmp_path):
    table = kinetic(tmp_path)
    for option in ("--out", "--plot", "--candidates"):
        r = run("discover", table, table, option, str(tmp_path / "o.svg"))
        assert r.code == 2 and option in r.err and r.out == "" and not (tmp_path / "o.svg").exists(), r


def test_one_bad_table_of_several_does_not_stop_the_others(tmp_path):
    table = kinetic(tmp_path)
    r = run("discover", str(tmp_path / "nowhere.csv"), table, *ALONE, "--quiet")
    assert r.code == 3 and "nowhere.csv" in r.err and "E = m*v^2/2" in r.lines, r


# ---------------------------------------------------------------- what is said

def test_the_kind_of_noise_is_reported():
    """Periods of planets have errors relative to them, those of the pendulum are of one size."""
    for name, text, kind in (("kepler", "0.032 % of the target", "relative"),
                             ("pendulum", "0.002 rms in the target", "additive")):
        table = str(EXAMPLES / f"{name}.csv")
        assert f"  noise         {text}" in run("discover", table, *ALONE).lines
        assert run("discover", table, *ALONE, "--json").json["search"]["noise"] == kind


def test_the_formula_comes_first_and_the_model_is_not_used(tmp_path):
    r = run("discover", kinetic(tmp_path))
    assert r.code == 0 and r.lines[0] == "E = m*v^2/2", r
    assert "the model was not used" in r.out and "by chance     1 in 2^" in r.out
    j = run("discover", kinetic(tmp_path), "--json").json
    assert j["model"] is None and j["model_asked"] is False and j["within_noise"] is True
    best = j["candidates"][0]
    assert best["source"] == "search" and best["method"] and best["level"] >= 0 and best["evidence"] > 100
    assert j["search"]["end"] == "found" and 0 <= j["search"]["memory"] <= 1e9 and j["front"]


def test_nothing_within_the_noise_is_reported(tmp_path):
    """Data without a law: whatever comes first is not claimed."""
    rng = np.random.default_rng(5)
    x = rng.uniform(1, 3, 40)
    path = write(tmp_path, ("x", "y"), np.column_stack([x, rng.permutation(np.linspace(1, 50, 40))]))
    r = run("discover", path, *ALONE, "--effort", "low")
    assert r.code == 0
    j = run("discover", path, *ALONE, "--effort", "low", "--json").json
    best = j["candidates"][0]
    assert r.lines[0].startswith("no formula within the noise; best approximation: y = ") or best["size"] <= 1, r


def test_both_engines_fill_one_pool(tmp_path):
    """Where the search is kept from the law the model is asked, and is shown the columns it takes."""
    rng = np.random.default_rng(2)
    x = rng.uniform(1, 3, (60, 4))
    path = write(tmp_path, ("a", "b", "c", "d", "y"), np.column_stack([x, rng.uniform(0, 1, 60)]))
    j = run("discover", path, "--effort", "low", "--json", "--all", "--samples", "16", "--refine", "4").json
    assert j["model_asked"] is True and j["model"]["inputs"] == 2 and j["search"]["passes"] >= 1
    sources = {c["source"] for c in j["candidates"]}
    assert {"model", "baseline"} <= sources
    r = run("discover", path, "--effort", "low", "--samples", "16", "--refine", "4")
    assert "model inputs" in r.out and "the model takes 2" in r.out


# ---------------------------------------------------------------- options

def test_every_candidate_goes_to_a_file(tmp_path):
    out = tmp_path / "all.csv"
    j = run("discover", kinetic(tmp_path), *ALONE, "--candidates", str(out), "--json", "--all").json
    with open(out, newline="") as f:
        rows = list(csv.DictReader(f))
    assert len(rows) == j["counts"]["candidates"] == len(j["candidates"])
    for row, c in zip(rows, j["candidates"]):
        assert row["formula"] == c.get("formula", "") and row["source"] == c["source"]
        assert row["status"] == c["status"] and int(row["size"]) == c["size"]
        assert (float(row["r2"]) if row["r2"] else None) == c["r2"]
        assert (float(row["bits"]) if row["bits"] else None) == c["bits"]["total"]
    assert [int(row["rank"]) for row in rows] == list(range(1, len(rows) + 1))


def test_operators_and_size_hold_for_all(tmp_path):
    x = np.linspace(0.1, 3, 40)
    path = write(tmp_path, ("x", "y"), np.column_stack([x, np.sin(x) * x]))
    assert run("discover", path, *ALONE, "--quiet").lines[0] == "y = x*sin(x)"
    for c in run("discover", path, *ALONE, "--ops", "exp", "--json", "--top", "100", "--effort", "low").json["candidates"]:
        assert not any(f in c["formula"] for f in ("sin", "cos", "log", "tan"))
    for c in run("discover", path, *ALONE, "--max-size", "3", "--json", "--top", "100", "--effort",
                 "low").json["candidates"]:
        assert c["size"] <= 3


def test_a_law_above_the_size_leaves_the_best_approximation(tmp_path):
    rng = np.random.default_rng(3)
    a, b = rng.uniform(1, 3, (2, 60))
    path = write(tmp_path, ("a", "b", "y"), np.column_stack([a, b, a * np.exp(b) + np.sin(a * b)]))
    r = run("discover", path, *ALONE, "--effort", "low")
    assert r.code == 0 and r.lines[0] == "y = a*exp(b) + sin(a*b)" and "9 nodes" in r.out, r
    r = run("discover", path, *ALONE, "--effort", "low", "--max-size", "5")
    assert r.code == 0 and "best approximation: y = " in r.lines[0] and "a*exp(b)" in r.lines[0], r
    assert "an exact formula of 9 nodes is above --max-size" in r.out, r


def test_units_of_constants_are_reported(tmp_path):
    r = run("discover", str(EXAMPLES / "energy.csv"), "--quiet")
    assert "  constants     9.81 m s^-2" in r.lines and "E in J" in r.out and "v in m s^-1" in r.out
    table = kinetic(tmp_path)
    r = run("discover", table, "--units", "m=kg,v=m/s,E=J", "--quiet")
    assert r.lines[0] == "E = m*v^2/2" and "m in kg" in r.out
    j = run("discover", table, "--units", "m=kg,v=m/s,E=J", "--json", "--all", *ALONE).json
    assert not any(c["front"] and c.get("formula") in ("m", "v") for c in j["candidates"])  # no joules
    for units, says in (("m=kgg", "kgg"), ("q=kg", "q"), ("m", "m")):
        r = run("discover", table, "--units", units)
        assert r.code == 2 and says in r.err and r.out == "", r


def test_sigma_is_a_value_or_a_column(tmp_path):
    rng = np.random.default_rng(3)
    x = rng.uniform(1, 5, 50)
    sigma = rng.uniform(0.01, 0.1, 50)
    y = 2 * x ** 3 + sigma * rng.standard_normal(50)
    path = write(tmp_path, ("x", "y", "s", "w"), np.column_stack([x, y, sigma, sigma ** -2]))
    for args in (["--sigma", "s"], ["--weights", "w"], ["--sigma", "0.06", "--inputs", "x"]):
        r = run("discover", path, "--target", "y", *ALONE, *args, "--quiet")
        assert r.code == 0 and re.fullmatch(r"y = (2|2\.000\d*|1\.999\d*)\*x\^3", r.lines[0]), (args, r)
    for args, says in ((["--sigma", "0"], "--sigma"), (["--sigma", "nowhere"], "nowhere"), (["--weights", "nowhere"], "nowhere"),
                       (["--sigma", "s", "--weights", "w"], "give one")):
        r = run("discover", path, "--target", "y", *args)
        assert r.code == 2 and says in r.err and r.out == "", (args, r)


def test_conflicts_are_reported(tmp_path):
    table = kinetic(tmp_path)
    for args, says in ((["--search", "exhaustive", "--model", "x"], "--search exhaustive asks none"),
                       (["--search", "all"], "both, exhaustive, model"), (["--ops", "sinus"], "sinus"),
                       (["--max-memory", "0"], "--max-memory"), (["--max-size", "-1"], "--max-size"),
                       (["--model", str(tmp_path / "nowhere")], "nowhere")):
        r = run("discover", table, *args)
        assert r.code in (2, 3) and says in r.err and r.out == "", (args, r)


def test_the_search_alone_works_where_there_is_no_model(tmp_path):
    """A program in a folder of its own, as after make without models."""
    program = tmp_path / "bin" / "symlaw"
    program.parent.mkdir()
    shutil.copy(PROGRAM, program)
    table = kinetic(tmp_path)
    done = subprocess.run([program, "discover", table], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0 and done.stdout.startswith("E = m*v^2/2\n"), done


def test_threads_do_not_matter(tmp_path):
    def answer(threads):
        j = run("discover", str(EXAMPLES / "wind.csv"), *ALONE, "--json", "--all", "--threads", threads).json
        for c in j["candidates"]:
            del c["seconds"]
        return {k: j[k] for k in ("formula", "r2", "candidates", "counts")}

    assert answer("1") == answer("2") == answer("3")


# ---------------------------------------------------------------- hostile tables

@pytest.mark.parametrize("name, x, y", [
    ("equal", [[2, 3]] * 8, [5] * 8),
    ("equal inputs", [[2, 3]] * 8, range(8)),
    ("huge", [[1e300 * (i + 1), 1] for i in range(12)], [1e300 * (i + 1) for i in range(12)]),
    ("huge squares", [[1e200 * (i + 1), i] for i in range(12)], [1e308 / (i + 1) for i in range(12)]),
    ("denormal", [[5e-324 * (i + 1), i] for i in range(12)], [1e-310 * (i + 1) for i in range(12)]),
    ("signs", [[(-1) ** i * 10.0 ** (300 - 60 * i), i] for i in range(11)], [10.0 ** (30 * i - 160) for i in range(11)]),
    ("zeros", [[0, i % 2] for i in range(9)], [0] * 9),
    ("few", [[1, 2], [2, 3], [3, 5]], [1, 4, 9]),
    ("two", [[1, 2], [2, 3]], [1, 4]),
    ("one is another", [[i + 1, 2 * i + 2] for i in range(12)], [(i + 1) ** 2 for i in range(12)]),
])
def test_hostile_numbers_have_clean_answers(tmp_path, name, x, y):
    path = write(tmp_path, ("a", "b", "y"), [(*row, v) for row, v in zip(x, y)])
    r = run("discover", path, *ALONE, "--effort", "low", "--timeout", "60", "--json")
    assert r.code in (0, 1, 2), r
    if r.code == 0:
        assert r.json["formula"] and "nan" not in r.json["formula"] and "inf" not in r.json["formula"].replace("infix", "")
    else:
        assert r.err.startswith("symlaw: ") or r.code == 1


def test_cells_that_are_no_numbers_are_dropped(tmp_path):
    rng = np.random.default_rng(1)
    rows = [[f"{a!r}", f"{b!r}", f"{float(a * b)!r}"] for a, b in map(lambda t: map(float, t), rng.uniform(1, 5, (30, 2)))]
    rows[3][1], rows[7][2], rows[9][0], rows[11][2] = "nan", "inf", "", "-inf"
    r = run("discover", write(tmp_path, ("a", "b", "y"), rows), "--quiet")
    assert r.code == 0 and r.lines[0] == "y = a*b" and "26 of 30" in r.out, r


@pytest.mark.parametrize("cells, message", [
    ([("nan", "1"), ("nan", "2"), ("nan", "3")], "no column of numbers beside the target"),
    ([("1", "inf"), ("2", "-inf"), ("3", "nan")], "none of 3 rows has a number in every column"),
])
def test_columns_without_a_finite_number_are_named(tmp_path, cells, message):
    r = run("discover", write(tmp_path, ("a", "y"), cells), *ALONE)
    assert r.code == 2 and message in r.err and r.out == "", r


def test_very_many_columns_are_an_error_or_an_answer(tmp_path):
    path = tmp_path / "wide.csv"
    n = 100000
    path.write_text("\n".join([",".join(f"c{i}" for i in range(n))] + [",".join(str((i * k) % 97) for i in range(n))
                                                                      for k in range(1, 9)]) + "\n")
    r = run("discover", str(path), *ALONE)
    assert r.code == 2 and "columns" in r.err and "name the inputs" in r.err, r
    r = run("discover", str(path), *ALONE, "--inputs", "c1,c5", "--effort", "low")
    assert r.code == 0, r


def test_of_many_columns_those_that_matter_are_taken(tmp_path):
    rng = np.random.default_rng(4)
    x = rng.uniform(1, 3, (400, 30))
    path = write(tmp_path, [f"c{i}" for i in range(30)] + ["y"], np.column_stack([x, x[:, 7] * x[:, 21]]))
    r = run("discover", path, *ALONE, "--quiet")
    assert r.code == 0 and r.lines[2] == "y = c7*c21", r
    assert "16 of 30 numeric columns" in r.lines[0] and r.lines[1] == "", r  # before the formula


def test_exact_numbers_that_people_write_as_decimals_are_shown_so(tmp_path):
    """The texts to paste keep fractions, which are exact in every language."""
    x = np.random.default_rng(4).uniform(1, 5, 30)
    path = write(tmp_path, ("x", "y"), np.column_stack([x, 1.7 * np.sin(2.3 * x + 0.4)]))
    r = run("discover", path, *ALONE, "--derivative", "x")
    assert r.lines[0] == "y = 1.7*sin(2.3*x + 0.4)" and "  dy/dx         3.91*cos(2.3*x + 0.4)" in r.lines, r
    j = run("discover", path, *ALONE, "--json").json
    assert j["formula"] == "17*sin(23*x/10 + 2/5)/10" and j["front"][0]["short"] == r.lines[0][4:], j["front"]


def test_a_constant_that_is_a_short_decimal_has_no_more_digits():
    j = run("discover", str(EXAMPLES / "energy.csv"), *ALONE, "--json").json
    assert j["formula"] == "m*v^2/2 + 9.81*m*h" and j["candidates"][0]["constants"][0]["value"] == 9.81, j["formula"]


# ---------------------------------------------------------------- time and stops

def hard(folder):
    """No formula of a few terms: the search goes on until it is stopped."""
    rng = np.random.default_rng(6)
    x = rng.uniform(1, 3, (300, 5))
    y = np.sin(3.7 * x[:, 0] * x[:, 1]) + x[:, 2] ** x[:, 3] * np.log(x[:, 4] + 0.37 * x[:, 0]) + rng.uniform(0, 1, 300)
    return write(folder, ("a", "b", "c", "d", "e", "y"), np.column_stack([x, y]))


def test_a_time_limit_returns_the_best_so_far(tmp_path):
    r = run("discover", hard(tmp_path), *ALONE, "--effort", "high", "--timeout", "1", "--json")
    assert r.code == 0 and r.json["cut"] == "time" and r.json["formula"], r


def test_an_interrupt_returns_the_best_so_far(tmp_path):
    p = subprocess.Popen([PROGRAM, "discover", hard(tmp_path), *ALONE, "--effort", "high"], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True)
    wait_for_work(p, 1.5)
    p.send_signal(signal.SIGINT)
    out, err = p.communicate(timeout=60)
    assert p.returncode == 130 and " = " in out.splitlines()[0] and "on request" in out, (out, err)


def test_steps_that_do_not_fit_the_memory_are_reported(tmp_path):
    rng = np.random.default_rng(7)
    path = write(tmp_path, ("a", "b", "y"), np.column_stack([rng.uniform(1, 3, (40, 2)), rng.normal(size=40)]))
    r = run("discover", path, *ALONE, "--effort", "low", "--max-memory", "0.01")
    note = re.search(r"memory +(\d+) steps were skipped or cut short, the first (\w+), level (\d+); "
                     r"--max-memory ([\d.]+) allows more of them", r.out)
    assert r.code == 0 and note and float(note[4]) > 0.01 and "all steps that fit the memory" in r.out, r
    r = run("discover", path, *ALONE, "--effort", "low", "--max-memory", "0.01", "--format", "python")
    assert note[0].split(maxsplit=1)[1] in r.err, r


def test_memory_keeps_to_its_bound(tmp_path):
    j = run("discover", hard(tmp_path), *ALONE, "--max-memory", "0.05", "--timeout", "20", "--json").json
    assert 0 < j["search"]["memory"] <= 0.05e9

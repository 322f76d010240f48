"""symlaw discover by a model alone: what is printed. The search is tested in test_discover_search.py."""
import json
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from tiny_model import EXAMPLES, first, noisy, plane, r2_of, values, write
from tool import run


def test_the_best_formula_comes_first_with_its_figures(discover, tmp_path):
    r = discover(write(tmp_path, plane()))
    assert r.code == 0 and r.lines[0] == "y = 3*a - 2*b"
    figures = {x.split(None, 1)[0]: x for x in r.lines if x.startswith("  ")}
    for name in ("error", "R2", "size", "found", "time", "columns", "rows", "samples", "fitted", "model", "seed"):
        assert name in figures, r
    assert figures["R2"].split() == ["R2", "1"]
    assert "front:" in r.out and r.err == ""


def test_top_and_all_limit_the_list(discover, tmp_path):
    path = write(tmp_path, plane())
    few, many = discover(path, "--top", "2", "--json").json, discover(path, "--all", "--json").json
    assert len(few["candidates"]) == 2
    assert len(many["candidates"]) == many["counts"]["candidates"] > many["counts"]["ranked"] - 1
    assert many["candidates"][:2] != [] and many["candidates"][0]["formula"] == few["candidates"][0]["formula"]
    rows = [x for x in discover(path, "--all").lines if re.match(r" +\d+  ", x)]
    assert len(rows) == many["counts"]["candidates"]
    assert "front:" not in discover(path, "--top", "1").out


def test_the_front_goes_from_small_to_large_and_marks_the_best(discover, tmp_path):
    x = np.linspace(1, 3, 20)
    rows = np.column_stack([x, x[::-1] ** 2, x + 0.01 * np.sin(50 * x)])
    r = discover(write(tmp_path, rows), "--top", "9")
    at = next(i for i, line in enumerate(r.lines) if line.startswith("  front:"))
    front = [line for line in r.lines[at + 1:r.lines.index("", at)]]
    cells = [re.split(r" {2,}", line.replace("*  ", "   ", 1).strip(), maxsplit=4) for line in front]
    sizes = [int(c[2]) for c in cells]
    assert len(front) > 1 and sizes == sorted(sizes)
    marked = [c for line, c in zip(front, cells) if line.strip().startswith("*  ")]
    assert len(marked) == 1 and marked[0][4] == first(r)
    assert float(marked[0][3]) == min(float(c[3]) for c in cells)  # bits


def test_formulas_of_the_front_are_rounded_as_in_the_table():
    table = [line for line in run("discover", str(EXAMPLES / "wind.csv")).out.splitlines()]
    at = next(i for i, line in enumerate(table) if line.startswith("  front:"))
    shown = [re.split(r" {2,}", line.strip())[-1] for line in table[at + 1:table.index("", at)]]
    front = json.loads(run("discover", str(EXAMPLES / "wind.csv"), "--json").out)["front"]
    assert len(shown) == 6 and set(shown) <= {c["short"] for c in front}
    for c in front:
        numbers = ET.fromstring(c["mathml"]).iter("{http://www.w3.org/1998/Math/MathML}mn")
        assert max(len(n.text) for n in numbers) <= 10, c["mathml"]  # 0.00019227, not 0.00019227039669914613


def test_columns_are_printed_as_in_formulas(discover, tmp_path):
    def columns(header):
        r = discover(write(tmp_path, plane(), header=header))
        return next(line for line in r.lines if line.startswith("  columns")).split(None, 1)[1]
    assert columns(['"a, b"', "c", "y"]) == "y by `a, b`, c"
    assert columns(["a", "a", "y"]) == 'y by a, x2 (another "a")'


def test_json_has_every_setting_and_all_figures(discover, tmp_path, model):
    path = write(tmp_path, plane())
    r = discover(path, "--json", "--seed", "5", "--holdout", "0.25", "--target", "y")
    j = r.json
    assert j["exit"] == 0 and j["command"] == "discover" and j["seconds"] > 0
    for name, value in {"file": str(path), "model": model, "seed": 5, "holdout": 0.25, "samples": 8, "refine": 4,
                        "effort": "normal", "target": "y", "inputs": None, "decode": "sample", "temperature": 1,
                        "timeout": 0, "header": "auto", "separator": "auto", "max-rows": 100000}.items():
        assert j["config"][name] == value, name
    assert j["formula"] == "3*a - 2*b" and j["r2"] == 1 and j["cut"] is None
    assert j["model"]["inputs"] == 2 and j["model"]["points"] == 16 and j["model"]["step"] == 30
    assert re.fullmatch("[0-9a-f]{32}", j["model"]["hash"]) and j["model"]["path"].startswith(model)
    d = j["data"]
    assert (d["target"], d["inputs"], d["columns"], d["rows_read"], d["rows"]) == ("y", ["a", "b"], 3, 24, 24)
    assert (d["missing"], d["infinite"], d["repeated"], d["text_columns"], d["constant"]) == (0, 0, 0, 0, False)
    n = j["counts"]
    assert n["rows_held"] == 6 and n["rows_fit"] == 18
    assert n["samples"] == 8 and n["distinct"] + sum(n["invalid"].values()) <= 8
    best = j["candidates"][0]
    assert best["place"] == 1 and best["r2_holdout"] == 1 and best["status"] in ("scored", "refined", "snapped")
    assert best["python"] == "3*x1 - 2*x2" and best["latex"] == "3 a - 2 b" and best["size"] > 0
    bits = [c["bits"]["total"] for c in j["candidates"]]
    assert all(x <= y for x, y in zip(bits, bits[1:]))
    assert all(abs(sum(v for k, v in c["bits"].items() if k != "total") - c["bits"]["total"]) < 1e-6 for c in j["candidates"])
    assert best["rms"] < 1e-12 and best["evidence"] > 100 and best["source"] in ("baseline", "model")
    assert j["within_noise"] is True and j["search"] is None
    for name in ("encode", "decode", "search", "score", "refine", "all"):
        assert j["cost"][name] >= 0
    same = discover(path, "--format", "json", "--seed", "5", "--holdout", "0.25", "--target", "y").json
    assert same["formula"] == j["formula"] and same.keys() == j.keys()


def test_constants_have_standard_errors_and_people_see_no_noise(discover, tmp_path):
    path = write(tmp_path, noisy())
    j = discover(path, "--json").json
    constants = j["candidates"][0]["constants"]
    assert constants and all(0 < c["error"] < 0.1 for c in constants)
    r = discover(path)
    shown = re.findall(r"\d+\.\d+", r.lines[0])
    assert shown and all(len(x) <= 7 for x in shown), r.lines[0]
    line = next(x for x in r.lines if x.startswith("  constants"))
    assert line.count("+-") == len(constants)
    value, error = re.search(r"(-?[\d.]+) \+- ([\d.]+)", line).groups()
    assert len(value.split(".")[1]) <= len(error.split(".")[1]) + 1  # 0.0030 is written 0.003


def listed(lines):
    """Formulas of the list that --all prints."""
    return [re.split(r" {2,}", x.strip(), maxsplit=8)[8] for x in lines if re.match(r" +\d+  ", x)]


def test_what_people_see_explains_the_data_as_well(discover):
    """Constants that make up for each other: 167252.14556*sqrt(a + 241153271.5) - 2597277050.949."""
    table = np.genfromtxt(EXAMPLES / "kepler.csv", delimiter=",", skip_header=1, usecols=(1, 2))
    shown = discover(EXAMPLES / "kepler.csv", "--samples", "128", "--all", quick=False).lines
    exact = discover(EXAMPLES / "kepler.csv", "--samples", "128", "--top", "12", "--json", quick=False).json["candidates"]
    formulas = listed(shown)[:12]
    assert len(formulas) == len(exact) > 4
    digits = 0
    for formula, c in zip(formulas, exact):
        r2 = r2_of(values(formula.replace("^", "**"), a=table[:, 0]) + 0 * table[:, 0], table[:, 1])
        assert 1 - r2 <= 1.03 * (1 - c["r2"]) + 1e-8, (formula, c["formula"])
        digits += len(c["formula"]) > len(formula)
    assert digits >= 1  # and yet rounded


def test_what_people_see_is_real_in_every_row(discover, tmp_path):
    """Rows next to the edge of a domain, anywhere in a long table: (v - 1.05)^(3/2) has no value where v is 1.0454. The
    formulas with all digits show which ones can be judged here: a sine of 1e190 is another one in NumPy."""
    rng = np.random.default_rng(0)
    v = np.sort(rng.uniform(1.05, 9, 1500))
    rng.shuffle(v)
    y = np.sqrt(v) * np.sin(3 * v) + 2 + 0.5 * rng.standard_normal(1500)
    path = write(tmp_path, np.column_stack([v, y]), header=("v", "y"))
    args = ["--samples", "128", "--top", "40"]
    shown = discover(path, *args, "--all", quick=False).lines
    exact = discover(path, *args, "--json", quick=False).json["candidates"]
    formulas = listed(shown)
    assert len(formulas) >= len(exact) > 10
    judged = 0
    with np.errstate(all="ignore"):
        for formula, c in zip(formulas, exact):
            if not c["constants"] or abs(r2_of(values(c["python"], x1=v) + 0 * v, y) - c["r2"]) > 1e-9:
                continue
            prediction = values(formula.replace("^", "**"), v=v) + 0 * v
            assert np.isfinite(prediction).all(), (formula, c["formula"])
            assert 1 - r2_of(prediction, y) <= 1.03 * (1 - c["r2"]) + 1e-8, (formula, c["formula"])
            judged += 1
    assert judged > 3


def test_threads_do_not_matter(discover, tmp_path):
    path = write(tmp_path, noisy(200))

    def answer(threads):
        j = discover(path, "--json", "--all", "--threads", threads, "--samples", "40", quick=False).json
        for c in j["candidates"]:
            del c["seconds"]
        return {k: j[k] for k in ("formula", "r2", "candidates", "counts")}

    assert answer(1) == answer(2)


def test_a_seed_is_a_seed(discover, tmp_path):
    path = write(tmp_path, plane())
    samples = [[c.get("tokens") for c in discover(path, "--json", "--all", "--seed", s).json["candidates"]]
               for s in (1, 1, 2)]
    assert samples[0] == samples[1] != samples[2]


def test_the_examples_tables_are_what_the_tool_makes(tmp_path):
    tool = EXAMPLES.parent / "tools" / "make_examples.py"
    subprocess.run([shutil.which("python3", path="/usr/bin") or "python3", str(tool), str(tmp_path)], check=True)
    made = sorted(tmp_path.glob("*.csv"))
    assert len(made) == 6
    for path in made:
        assert (EXAMPLES / path.name).read_bytes() == path.read_bytes(), path.name


@pytest.mark.parametrize("name, target, inputs", [("kepler", "T", ["a"]), ("resistors", "R", ["R1", "R2"]),
                                                  ("pendulum", "period", ["length"])])
def test_the_examples_are_read_as_they_are_meant(discover, name, target, inputs):
    d = discover(EXAMPLES / f"{name}.csv", "--json").json["data"]
    assert d["target"] == target and d["inputs"] == inputs


def test_help_has_examples_that_name_real_options():
    r = run("discover", "--help")
    assert r.code == 0 and max(map(len, r.lines)) <= 80
    known = set(re.findall(r"^  (?:FILE, )?--([a-z-]+)", r.out, re.M))
    used = {w for line in r.lines if "symlaw discover" in line for w in re.findall(r"--([a-z-]+)", line)}
    assert len(used) >= 5 and used <= known


def test_proposals_may_have_any_number_of_constants(tmp_path):
    """More than are ever fitted: written over inputs far from mean 0, a long sample is full of them."""
    model = str(tmp_path / "wild")
    r = run("train", "--width", "16", "--layers", "1", "--steps", "3", "--depth", "2", "--out", model)
    assert r.code == 0, r
    x = np.random.default_rng(3).uniform(50, 90, (64, 2))
    table = tmp_path / "far.csv"
    table.write_text("a,b,y\n" + "".join(f"{p:.4f},{q:.4f},{p / q:.6f}\n" for p, q in x))
    options = [str(table), "--model", model, "--search", "model", "--samples", "2000", "--refine", "0", "--all"]
    r = run("discover", *options, "--json")
    assert r.code == 0, r
    assert max(len(c.get("constants", [])) for c in json.loads(r.out)["candidates"]) > 24
    assert run("discover", *options).code == 0


def test_constants_are_listed_as_the_formula_shows_them(discover, tmp_path):
    data = plane(40)
    data[:, 2] += 7 + np.random.default_rng(5).normal(0, 0.3, 40)
    table = tmp_path / "noisy.csv"
    np.savetxt(table, data, delimiter=",", header="a,b,y", comments="")
    r = discover(table)
    assert r.code == 0, r
    formula = r.out.splitlines()[0].split(" = ", 1)[1]
    listed = next(l for l in r.out.splitlines() if l.startswith("  constants")).split(None, 1)[1]
    values = [abs(float(part.split(" +- ")[0])) for part in listed.split(", ")]
    shown = [float(n) for n in re.findall(r"(?<![\w^(/])\d+\.\d+(?:e[-+]?\d+)?", formula)]
    assert len(values) >= 2
    assert [v for v in values if any(abs(v - s) < 0.02 * v for s in shown)] == \
        sorted(values, key=lambda v: min(range(len(shown)), key=lambda i: abs(shown[i] - v)))


def test_a_law_under_noise_has_exact_numbers(discover, tmp_path):
    rows = plane(200)
    rows[:, 2] += 7 + 0.01 * np.random.default_rng(8).standard_normal(200)
    best = discover(write(tmp_path, rows), "--json").json["candidates"][0]
    assert best["formula"] == "3*a - 2*b + 7" and best["status"] == "snapped" and best["r2"] > 0.9999

"""symlaw discover by a model alone: tables as people have them, every format, limits of time, stops, models that are none.

The search is tested in test_discover_search.py. The model of these tests is hardly trained. The laws are linear, so
the baselines find them; the quality of models is measured elsewhere.
"""
import gzip
import html.parser
import json
import math
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import time
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

import spreadsheet
from tool import PROGRAM, run, wait_for_handler, wait_for_work

EXAMPLES = Path(__file__).parents[2] / "examples"
os.environ.pop("SYMLAW_MODEL", None)
QUICK = ["--search", "model", "--samples", "8", "--refine", "4"]
TRAIN = ["--width", "16", "--layers", "1", "--depth", "1", "--points", "16", "--batch", "8", "--steps", "30",
         "--valid-pairs", "8"]
SLOW = ["--search", "model", "--samples", "1000000", "--refine", "0"]  # minutes, if nobody stops it


@pytest.fixture(scope="session")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models") / "tiny"
    r = run("train", *TRAIN, "--out", str(folder))
    assert r.code == 0, r
    return str(folder)


@pytest.fixture
def discover(model):
    def call(*args, quick=True, **more):
        return run("discover", *map(str, args), "--model", model, *(QUICK if quick else QUICK[:2]), **more)
    return call


def plane(n=24, seed=1):
    """Columns a, b and 3 a - 2 b."""
    x = np.random.default_rng(seed).uniform(-4, 4, (n, 2)).round(3)
    return np.column_stack([x, (3 * x[:, 0] - 2 * x[:, 1]).round(3)])


def text(rows, header=None, sep=",", end="\n"):
    lines = [] if header is None else [sep.join(header)]
    lines += [sep.join(x if isinstance(x, str) else repr(float(x)) for x in row) for row in rows]
    return end.join(lines) + end


def write(folder, rows, header=("a", "b", "y"), name="t.csv", **more):
    path = folder / name
    path.write_text(text(rows, header, **more), newline="")
    return path


def first(r):
    """The formula of the table's first line, without its target."""
    return r.lines[0].split(" = ", 1)[1]


def r2_of(prediction, y):
    prediction, y = np.asarray(prediction, float), np.asarray(y, float)
    return 1 - ((prediction - y) ** 2).sum() / ((y - y.mean()) ** 2).sum()


# ---------------------------------------------------------------- what is printed

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


def noisy(n=60, seed=3):
    rows = plane(n, seed)
    rows[:, 2] += 0.12345 + 0.05 * np.random.default_rng(seed + 1).standard_normal(n)
    return rows


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
    formulas with all digits tell which ones can be judged here: a sine of 1e190 is another one in NumPy."""
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


# ---------------------------------------------------------------- to paste

def values(formula, **columns):
    names = {k: getattr(np, k) for k in ("sqrt", "exp", "sin", "cos")}
    return eval(formula, {"__builtins__": {}}, {**names, **columns})


def test_python_text_evaluates_to_the_stated_r2(discover, tmp_path):
    rows = noisy()
    path = write(tmp_path, rows)
    formula = discover(path, "--format", "python")
    assert formula.code == 0 and len(formula.lines) == 1 and formula.err == ""
    stated = discover(path, "--json").json["r2"]
    assert stated < 0.99999
    assert abs(r2_of(values(formula.lines[0], a=rows[:, 0], b=rows[:, 1]), rows[:, 2]) - stated) < 1e-12


def test_c_text_compiles_to_the_same_values(discover, tmp_path):
    rows = noisy()
    path = write(tmp_path, rows, header=["a", "two words", "y"])
    r = discover(path, "--format", "c")
    assert r.lines[0] == '// x2: "two words"' and len(r.lines) == 2
    body = "\n".join(r.lines)
    (tmp_path / "f.c").write_text("#include <math.h>\n#include <stdio.h>\nint main(void) { double a, x2;\n"
                                  f'while (scanf("%lf %lf", &a, &x2) == 2) printf("%.17g\\n",\n{body}\n); }}\n')
    subprocess.run(["cc", "-Wall", "-Werror", "-o", tmp_path / "f", tmp_path / "f.c", "-lm"], check=True)
    out = subprocess.run([tmp_path / "f"], input="".join(f"{x[0]!r} {x[1]!r}\n" for x in rows.tolist()), text=True,
                         capture_output=True).stdout.split()
    stated = discover(path, "--json").json["r2"]
    assert abs(r2_of(out, rows[:, 2]) - stated) < 1e-12


def test_sympy_text_is_sympys(discover, tmp_path):
    sympy = pytest.importorskip("sympy")
    rows = noisy()
    r = discover(write(tmp_path, rows, header=["N", "beta", "y"]), "--format", "sympy")
    assert r.lines[:2] == ['# x1: "N"', '# x2: "beta"']
    f = sympy.lambdify(sympy.symbols("x1 x2"), sympy.sympify(r.lines[-1]), "numpy")
    assert r2_of(f(rows[:, 0], rows[:, 1]), rows[:, 2]) > 0.99


def test_numpy_text_takes_whole_columns(discover, tmp_path):
    rows = noisy()
    path = write(tmp_path, rows, header=["a", "np", "y"])
    r = discover(path, "--format", "numpy")
    assert r.lines[0] == '# x2: "np"'  # the module keeps its name
    f = eval(r.lines[1], {"np": np, "a": rows[:, 0], "x2": rows[:, 1]})
    assert abs(r2_of(f, rows[:, 2]) - discover(path, "--json").json["r2"]) < 1e-12


def test_spreadsheet_text_has_the_cells_of_the_file(discover, tmp_path):
    """Columns beside the inputs, of text or after the target, keep their letters; so do those beyond x64."""
    rows = [["t", 5.0, *row[:2], row[2]] for row in plane().tolist()]
    path = write(tmp_path, rows, header=["words", "n", "a", "b", "y"])
    r = discover(path, "--inputs", "a,b", "--format", "excel")
    assert r.lines == ["=3*C2 - 2*D2"]
    assert spreadsheet.evaluate(r.out.strip(), [math.nan, 5, 1.5, 2.25]) == 0
    wide = [[row[2], *[0.5] * 70, *row[:2]] for row in plane().tolist()]
    names = ["y", *[f"n{i}" for i in range(70)], "a", "b"]
    r = discover(write(tmp_path, wide, header=names), "--target", "y", "--inputs", "b,a", "--format", "excel")
    assert r.lines in (["=3*BU2 - 2*BT2"], ["=-2*BU2 + 3*BT2"], ["=3*BT2 - 2*BU2"])


def test_the_derivative_of_the_best_formula(discover, tmp_path):
    rows = noisy()
    path = write(tmp_path, rows)
    formula, slope = (discover(path, "--format", "numpy", *more).lines[0] for more in ([], ["--derivative", "a"]))
    h = 1e-6
    f = [eval(formula, {"np": np, "a": rows[:, 0] + d, "b": rows[:, 1]}) for d in (-h, h)]
    got = eval(slope, {"np": np, "a": rows[:, 0], "b": rows[:, 1]}) + 0 * rows[:, 0]
    assert np.allclose(got, (f[1] - f[0]) / (2 * h), rtol=1e-6, atol=1e-6)
    j = discover(path, "--derivative", "a", "--json").json["derivative"]
    assert j["input"] == "a" and set(j) == {"input", "formula", "python", "latex"}
    assert any(line.startswith("  dy/da  ") for line in discover(path, "--derivative", "x1").lines)
    r = discover(path, "--derivative", "aa")
    assert r.code == 2 and "did you mean a?" in r.err


def test_the_result_has_the_tree(discover, tmp_path):
    r = discover(write(tmp_path, plane(), header=["a", "b", "y"]), "--json").json
    assert r["tree"]["op"] == "sum" and {"number": "-2"} in r["tree"]["of"][1]["of"]


def test_comments_name_columns_as_the_formula_does(discover, tmp_path):
    r = discover(write(tmp_path, plane(), header=["x2", "x1", "y"]), "--format", "sympy")
    assert r.lines == ['# _x1: "x2"', '# _x2: "x1"', "3*_x1 - 2*_x2"]


def test_latex_has_the_names(discover, tmp_path):
    r = discover(write(tmp_path, plane(), header=["flow_rate", "p", "y"]), "--format", "latex")
    assert r.out == "3 \\mathrm{flow\\_rate} - 2 p\n"


def test_names_that_are_words_keep_their_place(discover, tmp_path):
    path = write(tmp_path, plane(), header=["lambda", "exec", "y"])
    r = discover(path, "--format", "python")
    assert r.lines[0] == '# x1: "lambda"'
    assert r.lines[-1].startswith("3*x1 - 2*")
    assert discover(path).lines[0].startswith("y = 3*lambda - 2*exec")


def test_json_and_a_paste_format_exclude_each_other(discover, tmp_path):
    r = discover(write(tmp_path, plane()), "--format", "c", "--json")
    assert r.code == 2 and "--json" in r.err and "--format c" in r.err


def test_out_writes_a_file(discover, tmp_path):
    out = tmp_path / "f.py"
    r = discover(write(tmp_path, plane()), "--format", "python", "--out", out)
    assert r.code == 0 and r.out == "" and out.read_text() == "3*a - 2*b\n"


def test_out_does_not_replace_the_table(discover, tmp_path):
    path = write(tmp_path, plane())
    before = path.read_text()
    (tmp_path / "link.csv").symlink_to(path)
    for out in (path, tmp_path / "." / "link.csv", f"{tmp_path}/../{tmp_path.name}/t.csv"):
        r = discover(path, "--out", out)
        assert r.code == 2 and "--out and --file are one file" in r.err and path.read_text() == before
    picture = tmp_path / "p.svg"
    r = discover(path, "--out", picture, "--plot", picture)
    assert r.code == 2 and "--out and --plot are one file" in r.err and not picture.exists()
    assert discover(path, "--out", "/dev/null", "--plot", picture).code == 0


# ---------------------------------------------------------------- tables as people have them

ODD = ["my col", "100 %", "größe", "温度", "N", "exec", "a`b", "x2", "c1", "sin", "", "1e5x", "a,b", 'say "hi"', "E",
       "I", "x(i)", "$cost$", "a\\", "-", "é" * 40]


@pytest.mark.parametrize("name", ODD)
def test_any_name_will_do(discover, tmp_path, name):
    rows = plane()
    cell = '"' + name.replace('"', '""') + '"'
    path = write(tmp_path, rows, header=[cell, "b", "out"])
    r = discover(path, "--json")
    assert r.code == 0, r
    j = r.json
    if name:
        assert j["data"]["inputs"][0] == name
    assert j["r2"] == 1 and j["candidates"][0]["python"] == "3*x1 - 2*x2"
    for form in ("table", "latex", "python", "c", "sympy", "numpy", "julia", "excel", "mathml"):
        done = discover(path, "--format", form)
        assert done.code == 0 and done.out, done
    if name:
        chosen = discover(path, "--inputs", cell, "--json")
        assert chosen.code == 0 and chosen.json["data"]["inputs"] == [name]


def test_target_and_inputs_by_name_and_number(discover, tmp_path):
    rows = plane()[:, [2, 0, 1]]
    path = write(tmp_path, rows, header=["y", "a", "b"])
    assert first(discover(path)) == "3*a - 2*b"  # y, though not the last
    assert first(discover(path, "--target", "1", "--inputs", "3,2")) == "-2*b + 3*a"
    assert discover(path, "--target", "a").lines[0].startswith("a = ")
    j = discover(path, "--target", "b", "--inputs", "y", "--json").json
    assert j["data"]["target"] == "b" and j["data"]["inputs"] == ["y"]


@pytest.mark.parametrize("args, words", [
    (["--target", "z"], ["\"z\"", "\"a\""]), (["--inputs", "a,q"], ["\"q\""]), (["--inputs", "y", "--target", "y"], ["y"]),
    (["--target", "9"], ["9"]), (["--inputs", ""], []), (["--separator", "ab"], ["--separator"]),
    (["--header", "maybe"], ["--header", "auto, yes, no"]), (["--top", "0"], ["--top"]),
    (["--plot", "fit.png"], ["--plot", ".svg", ".html"]), (["--holdout", "1"], ["--holdout"]),
    (["--max-rows", "1"], ["--max-rows"]), (["--timeout", "-1"], ["--timeout"]), (["--decode", "best"], ["--decode"]),
])
def test_wrong_options_are_named(discover, tmp_path, args, words):
    r = discover(write(tmp_path, plane()), *args)
    assert r.code == 2 and r.out == "", r
    for word in words:
        assert word in r.err, r


def test_no_header(discover, tmp_path):
    path = write(tmp_path, plane(), header=None)
    j = discover(path, "--json").json
    assert j["data"]["rows"] == 24 and j["r2"] == 1 and j["candidates"][0]["python"] == "3*x1 - 2*x2"
    assert discover(path, "--header", "yes", "--json").json["data"]["rows"] == 23
    digits = write(tmp_path, plane(), header=["1", "2", "3"], name="digits.csv")
    assert discover(digits, "--header", "yes", "--json").json["data"]["rows"] == 24
    assert discover(digits, "--header", "no", "--json").json["data"]["rows"] == 25


@pytest.mark.parametrize("sep, end", [(",", "\n"), (";", "\n"), ("\t", "\n"), ("|", "\n"), (",", "\r\n"), (";", "\r\n"),
                                      (", ", "\n")])
def test_separators_and_line_ends(discover, tmp_path, sep, end):
    assert first(discover(write(tmp_path, plane(), sep=sep, end=end))) == "3*a - 2*b"


def test_a_separator_of_ones_own(discover, tmp_path):
    path = write(tmp_path, plane(), sep=":")
    assert first(discover(path, "--separator", ":")) == "3*a - 2*b"
    assert first(discover(write(tmp_path, plane(), sep="\t"), "--separator", "tab")) == "3*a - 2*b"


def test_decimal_commas(discover, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(text(plane(), ["a", "b", "y"], sep=";").replace(".", ","))
    assert first(discover(path)) == "3*a - 2*b"


def test_packed_by_gzip_and_from_standard_input(discover, tmp_path):
    data = text(plane(), ["a", "b", "y"])
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(data.encode()))
    assert first(discover(tmp_path / "t.csv.gz")) == "3*a - 2*b"
    assert first(discover("-", stdin=None, input=data)) == "3*a - 2*b"
    with open(tmp_path / "t.csv.gz", "rb") as packed:
        assert first(discover("-", stdin=packed)) == "3*a - 2*b"


def test_a_byte_order_mark_is_no_name(discover, tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"\xef\xbb\xbf" + text(plane(), ["a", "b", "y"]).encode())
    assert discover(path, "--json").json["data"]["inputs"] == ["a", "b"]


def test_names_in_other_encodings_make_valid_text(discover, tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(text(plane(), ["gr\xf6\xdfe", "b", "y"]).encode("latin-1"))
    r = discover(path, "--json")
    assert r.code == 0 and r.json["r2"] == 1
    assert discover(path).code == 0


def test_text_in_a_column_of_numbers_is_found(discover, tmp_path):
    rows = plane().tolist()
    rows[6][1] = "n.d."
    r = discover(write(tmp_path, rows), "--inputs", "a,b")
    assert r.code == 2 and r.out == ""
    for word in ("n.d.", "7", "8", "b"):  # row, line, column
        assert word in r.err, r


def test_columns_of_text_are_passed_over(discover, tmp_path):
    rows = [[f"run {i}", *map(repr, row)] for i, row in enumerate(plane().tolist())]
    r = discover(write(tmp_path, rows, header=["label", "a", "b", "y"]))
    assert first(r) == "3*a - 2*b"
    assert re.search(r"text +1 text column", r.out)


def test_missing_and_infinite_cells_are_dropped_and_counted(discover, tmp_path):
    rows = plane(30).tolist()
    rows[3][0], rows[4][2], rows[5][1], rows[6][0] = "", "NA", "nan", "-inf"
    path = write(tmp_path, rows)
    d = discover(path, "--json").json["data"]
    assert (d["rows_read"], d["rows"], d["missing"], d["infinite"]) == (30, 26, 3, 1)
    r = discover(path)
    assert first(r) == "3*a - 2*b"
    assert re.search(r"rows +26 of 30: 3 with a missing cell dropped, 1 with an infinite cell dropped", r.out)
    noted = discover(path, "--format", "python")
    assert noted.out == "3*a - 2*b\n" and "rows: 26 of 30: 3" in noted.err
    assert discover(path, "--format", "python", "--quiet").err == ""


def test_a_constant_target_is_found_and_reported(discover, tmp_path):
    rows = plane()
    rows[:, 2] = 7.25
    path = write(tmp_path, rows)
    r = discover(path)
    assert r.code == 0 and first(r) in ("7.25", "29/4")
    assert re.search(r"target +constant", r.out)
    j = discover(path, "--json").json
    assert j["r2"] == 1 and j["data"]["constant"]
    r = discover(path, "--format", "python")
    assert float(eval(r.out)) == 7.25 and "constant" in r.err


def test_a_constant_input_changes_nothing(discover, tmp_path):
    rows = plane()
    rows[:, 0] = 2
    rows[:, 2] = 6 - 2 * rows[:, 1]
    j = discover(write(tmp_path, rows), "--json").json
    assert j["r2"] > 1 - 1e-12


def test_repeated_rows_are_counted(discover, tmp_path):
    rows = np.vstack([plane(12), plane(12)])
    r = discover(write(tmp_path, rows))
    assert first(r) == "3*a - 2*b" and "12 repeat an earlier one" in r.out


def test_a_target_that_is_an_input_is_that_input(discover, tmp_path):
    rows = plane()
    rows[:, 2] = rows[:, 0]
    assert discover(write(tmp_path, rows)).lines[0] == "y = a"
    path = write(tmp_path, rows, header=["a a", "b b", "y"])
    assert discover(path, "--format", "python").out == '# x1: "a a"\nx1\n'  # nothing of what is not in it


@pytest.mark.parametrize("rows", [0, 1])
def test_too_few_rows_are_refused(discover, tmp_path, rows):
    r = discover(write(tmp_path, plane()[:rows]))
    assert r.code == 2 and r.out == "" and "row" in r.err, r


def test_two_rows_are_enough(discover, tmp_path):
    assert discover(write(tmp_path, plane()[:2])).code == 0


def test_more_columns_than_the_model_takes(discover, tmp_path):
    rng = np.random.default_rng(4)
    rows = plane(400)
    rows = np.column_stack([rng.standard_normal((400, 2)), rows[:, :2], rng.standard_normal(400), rows[:, 2]])
    path = write(tmp_path, rows, header=["n1", "n2", "a", "b", "n3", "y"])
    j = discover(path, "--json").json
    assert j["data"]["inputs"] == ["a", "b"] and j["data"]["chosen_from"] == 5 and j["data"]["explained"] > 0.5
    lines = discover(path).lines
    assert lines[0].startswith("inputs: 2 of 5 numeric columns") and lines[2].startswith("y = "), lines
    r = discover(path, "--inputs", "a,b,n1")
    assert r.code == 2 and "2" in r.err


def test_many_rows_are_sampled(discover, tmp_path):
    path = write(tmp_path, plane(5000))
    j = discover(path, "--json", "--max-rows", "500").json
    assert j["data"]["rows_read"] == 5000 and j["data"]["rows"] == 500 and j["r2"] > 1 - 1e-12
    assert "500 of 5,000: an even sample (--max-rows)" in discover(path, "--max-rows", "500").out


@pytest.mark.parametrize("content", [b"", b"\n\n\n", b"a,b,y\n", b"\x00\x01\x02\x03" * 50, b'"open\n1,2,3\n', b"a,b\n1,2\n1\n",
                                     b"\x1f\x8b\x08broken", b"y\n1\n2\n3\n", b"a,a,a\n1,2,3\n2,3,4\n",
                                     b"1e999,2,3\n1,2,3\n", b"," * 5000 + b"\n", b"a,b,y\nx,y,z\nu,v,w\n"])
def test_files_that_are_no_tables_are_refused(discover, tmp_path, content):
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    r = discover(path)
    assert r.code in (0, 2, 3), r
    assert (r.out == "") == (r.code != 0)
    assert r.code == 0 or r.err.startswith("symlaw: ") and r.err.count("\n") <= 2, r


def test_no_such_file_and_no_file(discover, tmp_path):
    r = discover(tmp_path / "nowhere.csv")
    assert r.code == 3 and "nowhere.csv" in r.err
    r = discover()
    assert r.code == 2 and "FILE" in r.err
    assert discover(tmp_path).code in (2, 3)


def test_numbers_of_any_size(discover, tmp_path):
    rows = plane()
    for scale in (1e150, 1e-150):
        j = discover(write(tmp_path, rows * [1, 1, scale]), "--json").json
        assert j["formula"] and j["r2"] > 0.999, scale


def test_controls_in_names_do_not_reach_the_terminal(discover, tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(text(plane(), ['"a\x1b[31m"', '"b\nc"', "y"]).encode())
    for form in ("table", "latex", "python", "c", "sympy", "numpy", "julia", "excel", "mathml"):
        r = discover(path, "--format", form)
        assert r.code == 0 and "\x1b" not in r.out + r.err


# ---------------------------------------------------------------- models

def test_the_environment_may_name_the_model(model, tmp_path):
    path = write(tmp_path, plane())
    r = run("discover", str(path), *QUICK, "--json", env={**os.environ, "SYMLAW_MODEL": model})
    assert r.code == 0 and r.json["config"]["model"] == model
    weights = sorted(Path(model).glob("model-*.safetensors"))[-1]
    assert run("discover", str(path), *QUICK, "--json", "--model", str(weights)).json["formula"] == "3*a - 2*b"


def test_bad_models_are_refused(model, tmp_path):
    path = str(write(tmp_path, plane()))
    weights = sorted(Path(model).glob("model-*.safetensors"))[-1]
    data = weights.read_bytes()
    empty = tmp_path / "empty"
    empty.mkdir()
    flipped = bytearray(data)
    flipped[-9] ^= 1
    bad = {"nowhere": None, "short.safetensors": data[:len(data) // 2], "flipped.safetensors": bytes(flipped),
           "text.safetensors": b"a,b\n1,2\n", "none.safetensors": b"",
           "foreign.safetensors": (64).to_bytes(8, "little")
           + b'{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}'.ljust(64) + b"\0\0\0\0"}
    for name, content in bad.items():
        target = tmp_path / name
        if content is not None:
            target.write_bytes(content)
        r = run("discover", path, *QUICK, "--model", str(target))
        assert r.code in (2, 3) and r.out == "" and name in r.err, r
    r = run("discover", path, "--model", str(empty))
    assert r.code == 2 and "empty" in r.err


# ---------------------------------------------------------------- time, and stops

def test_a_time_limit_gives_the_best_so_far(discover, tmp_path):
    path = write(tmp_path, plane())
    r = discover(path, *SLOW, "--timeout", "1", "--json", quick=False)
    assert r.code == 0, r
    assert r.json["cut"] == "time" and r.json["r2"] > 1 - 1e-12
    assert r.json["counts"]["samples"] < 1000000
    r = discover(path, *SLOW, "--timeout", "0.5", quick=False)
    assert r.lines[0].startswith("y = 3*a - 2*b") and re.search(r"^  stopped +by the time limit", r.out, re.M)


def test_no_time_at_all_is_enough_for_the_baselines(discover, tmp_path):
    r = discover(write(tmp_path, plane()), "--timeout", "0.001", "--json")
    assert r.code == 0 and r.json["cut"] == "time" and r.json["r2"] > 1 - 1e-12


def test_a_time_limit_counts_from_the_start(discover, tmp_path):
    """What is read has not come to its end when the time is over."""
    pipe = tmp_path / "slow.csv"
    os.mkfifo(pipe)
    writer = subprocess.Popen(["bash", "-c", "echo a,b,y; while :; do echo 1,2,3; done"], stdout=os.open(pipe, os.O_RDWR),
                              stderr=subprocess.DEVNULL)
    try:
        r = discover(pipe, "--timeout", "0.7", timeout=30)
    finally:
        writer.kill()
        writer.wait()
    assert r.code == 1 and r.out == "" and "time limit of 0.7 s" in r.err, r


def test_a_signal_prints_the_best_so_far(discover, model, tmp_path):
    path = write(tmp_path, plane())
    for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
        p = subprocess.Popen([PROGRAM, "discover", str(path), "--model", model, *SLOW], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True)
        wait_for_work(p, 1.5)
        assert p.poll() is None, "it was over before the signal"
        p.send_signal(number)
        out, err = p.communicate(timeout=30)
        assert p.returncode == code
        assert out.startswith("y = 3*a - 2*b") and re.search(r"^  stopped +on request", out, re.M), out
        assert "interrupted" in err


def test_a_signal_leaves_a_whole_file_and_json(model, tmp_path):
    path, out = write(tmp_path, plane()), tmp_path / "result.json"
    p = subprocess.Popen([PROGRAM, "discover", str(path), "--model", model, *SLOW, "--json", "--out", str(out)],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_for_work(p, 1.5)
    p.send_signal(signal.SIGINT)
    said, _ = p.communicate(timeout=30)
    assert p.returncode == 130 and said == ""
    j = json.loads(out.read_text())
    assert j["exit"] == 130 and j["cut"] == "cancel" and j["r2"] > 1 - 1e-12


def test_a_signal_while_reading_stops_it(model, tmp_path):
    p = subprocess.Popen([PROGRAM, "discover", "-", "--model", model], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE)
    p.stdin.write(b"a,b,y\n" + b"1,2,3\n" * 1000)
    p.stdin.flush()
    wait_for_handler(p, signal.SIGINT)
    time.sleep(0.2)
    p.send_signal(signal.SIGINT)
    assert p.wait(timeout=60) == 130
    assert p.stdout.read() == b""
    p.stdin.close()
    p.stdout.close()
    p.stderr.close()


def test_progress_on_a_terminal_has_the_best_r2(model, tmp_path):
    path = write(tmp_path, plane())
    master, slave = pty.openpty()
    p = subprocess.Popen([PROGRAM, "discover", str(path), "--model", model, *SLOW, "--timeout", "2"],
                         stdout=subprocess.DEVNULL, stderr=slave, env={**os.environ, "TERM": "xterm"})
    os.close(slave)
    seen = b""
    while True:
        try:
            piece = os.read(master, 4096)
        except OSError:
            break
        if not piece:
            break
        seen += piece
    os.close(master)
    assert p.wait(timeout=30) == 0
    assert b"sampling" in seen and b"best R2 1" in seen, seen[:500]


def test_a_full_disk_is_a_failure_even_after_a_stop(model, tmp_path):
    path = write(tmp_path, plane())
    with open("/dev/full", "w") as full:
        p = subprocess.Popen([PROGRAM, "discover", str(path), "--model", model, *SLOW], stdout=full,
                             stderr=subprocess.PIPE, text=True)
        wait_for_work(p, 1.5)
        p.send_signal(signal.SIGINT)
        _, err = p.communicate(timeout=30)
    assert p.returncode == 3 and "No space left" in err


# ---------------------------------------------------------------- pictures

class Balance(html.parser.HTMLParser):
    """Are tags closed in the order they were opened?"""
    VOID = {"meta", "link", "br", "img", "hr", "input"}

    def __init__(self):
        super().__init__()
        self.open, self.seen = [], set()

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen.add(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, tag


@pytest.mark.parametrize("header", [["a", "b", "y"], ['"<b>&"', "größe", '"a ""q"""']])
@pytest.mark.parametrize("inputs", ["1", "1,2"])
def test_pictures_are_well_formed(discover, tmp_path, header, inputs):
    path = write(tmp_path, noisy(), header=header)
    r = discover(path, "--plot", tmp_path / "fit.svg", "--inputs", inputs, "--target", "3")
    assert r.code == 0, r
    root = ET.fromstring((tmp_path / "fit.svg").read_bytes())
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    r = discover(path, "--plot", tmp_path / "fit.html", "--inputs", inputs, "--target", "3")
    assert r.code == 0, r
    page = Balance()
    page.feed((tmp_path / "fit.html").read_text())
    page.close()
    assert page.open == [] and {"html", "body", "svg", "math", "table"} <= page.seen
    assert sorted(os.listdir(tmp_path)) == ["fit.html", "fit.svg", "t.csv"]


def test_a_picture_nowhere_costs_no_formula(discover, model, tmp_path):
    """That there will be no picture is told before the work; the formula comes, then the failure."""
    table, picture = write(tmp_path, plane()), tmp_path / "no" / "fit.svg"
    r = discover(table, "--plot", picture)
    assert r.code == 3 and r.lines[0].startswith("y = 3*a - 2*b"), r
    assert r.err.count("fit.svg") == 2 and r.err.startswith("symlaw: there will be no picture"), r
    r = discover(table, "--plot", picture, "--json", "--quiet")
    assert r.code == 3 and r.json["exit"] == 3 and "fit.svg" in r.json["error"] and r.json["r2"] > 1 - 1e-12
    p = subprocess.Popen([PROGRAM, "discover", str(table), "--model", model, "--plot", str(picture), *SLOW],
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert "there will be no picture" in p.stderr.readline() and p.poll() is None
    p.kill()
    p.communicate()


def test_a_full_disk_costs_no_formula(discover, tmp_path):
    r = discover(write(tmp_path, plane()), "--out", "/dev/full", "--format", "python")
    assert r.code == 3 and r.out == "3*a - 2*b\n" and "No space left" in r.err


# ---------------------------------------------------------------- the examples

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

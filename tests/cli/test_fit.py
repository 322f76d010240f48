"""symlaw fit: constants of a formula of one's own, as a user would ask for them."""
import csv
import json
import math
import re
import signal
import subprocess
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

import spreadsheet
from tool import PROGRAM, run, wait_for_work

GOLDEN = Path(__file__).parents[1] / "golden" / "fit"
CASES = json.loads((GOLDEN / "answers.json").read_text(encoding="utf-8"))


def fit(*args, **more):
    return run("fit", *args, **more)


def write(tmp_path, columns, name="t.csv"):
    path = tmp_path / name
    rows = zip(*columns.values())
    head = ",".join('"' + k.replace('"', '""') + '"' for k in columns)
    path.write_text(head + "\n" + "".join(",".join(x if isinstance(x, str) else repr(float(x)) for x in row) + "\n"
                                          for row in rows), encoding="utf-8")
    return path


def decay(n=40, seed=3, size=0.05):
    rng = np.random.default_rng(seed)
    t = np.linspace(0, 10, n)
    return {"t": t, "y": 5 * np.exp(-0.4 * t) + 1 + size * rng.normal(size=n)}


def constants(r, i=0):
    return {c["name"]: c for c in r.json["formulas"][i]["constants"]}


# ---------------------------------------------------------------- SciPy's answers

@pytest.mark.parametrize("case", CASES, ids=[c["name"] for c in CASES])
def test_values_and_standard_errors_are_those_of_curve_fit(case):
    """No start values are given; curve_fit began near the truth. Where a formula has two equal halves they may be exchanged."""
    r = fit(case["formula"], GOLDEN / f"{case['name']}.csv", "--json", *case["options"])
    assert r.code == 0, r
    found = constants(r)
    value = np.array([found[k]["value"] for k in case["constants"]])
    error = np.array([found[k]["error"] for k in case["constants"]])
    correlation = np.array(r.json["formulas"][0]["correlation"])
    if case["name"] == "two_decays" and value[1] < value[3]:
        order = [2, 3, 0, 1]
        value, error, correlation = value[order], error[order], correlation[np.ix_(order, order)]
    if case["name"] == "peak":
        value[2] = abs(value[2])  # the sign of a width is free
    if case["name"] == "wave":
        if value[2] < 0:
            value[2:] *= -1  # cos is even
        turns = round((value[3] - case["value"][3]) / math.pi)  # and so are half turns of a phase
        value[3] -= turns * math.pi
        value[0] *= (-1) ** turns
    assert np.allclose(value, case["value"], rtol=1e-6), (value, case["value"])
    assert np.allclose(error, case["error"], rtol=1e-5), (error, case["error"])
    names = [c["name"] for c in r.json["formulas"][0]["constants"]]
    assert names == case["constants"] or case["name"] == "polynomial"
    assert np.allclose(np.abs(correlation), np.abs(case["correlation"]), atol=2e-5)


def test_certified_values_of_nist():
    """Misra1a of the Statistical Reference Datasets, eleven digits."""
    found = constants(fit("b1*(1 - exp(-b2*x))", GOLDEN / "misra1a.csv", "--json"))
    for name, value, error in (("b1", 2.3894212918e2, 2.7070075241), ("b2", 5.5015643181e-4, 7.2668688436e-6)):
        assert math.isclose(found[name]["value"], value, rel_tol=1e-9)
        assert math.isclose(found[name]["error"], error, rel_tol=1e-8)


# ---------------------------------------------------------------- formulas and names

def test_the_answer_comes_first(tmp_path):
    r = fit("y = a*exp(-k*t) + c", write(tmp_path, decay()))
    assert r.code == 0 and r.err == ""
    assert re.fullmatch(r"y = 4\.\d+\*exp\(-0\.3\d+\*t\) \+ 0?1?\.\d+", r.lines[0]) or r.lines[0].startswith("y = ")
    text = r.out
    for word in ("formula", "R2", "AIC", "BIC", "bits", "a = ", "k = ", "c = ", "+-", "correlations", "scaled by the residuals"):
        assert word in text, word


def test_the_target_is_left_of_the_equals_sign_or_an_option(tmp_path):
    d = decay()
    path = write(tmp_path, {"y": d["t"], "level": d["y"], "t": d["t"]})
    for args in (["level = a*exp(-k*t) + c"], ["a*exp(-k*t) + c", "--target", "level"], ["`level` = a*exp(-k*t)+c"]):
        r = fit(args[0], path, *args[1:], "--json")
        assert r.code == 0 and r.json["data"]["target"] == "level", r
        assert math.isclose(constants(r)["k"]["value"], 0.4, rel_tol=0.05)
    r = fit("level = a*t", path, "--target", "t")
    assert r.code == 2 and "two targets" in r.err
    r = fit("log(level) = a*t", path)
    assert r.code == 2 and "no column" in r.err
    r = fit("a*y", path)
    assert r.code == 2 and "target" in r.err


def test_odd_names_stand_between_backticks_or_are_numbered(tmp_path):
    d = decay()
    path = write(tmp_path, {"time of day, s": d["t"], "pi": d["t"], "y": d["y"]})
    values = [constants(fit(f, path, "--json"))["k"]["value"] for f in
              ("a*exp(-k*`time of day, s`) + c", "a*exp(-k*x1) + c", "a*exp(-k*x2) + c", "a*exp(-k*pi) + c")]
    assert max(values) - min(values) < 1e-9
    path = write(tmp_path, {"v (m/s)": d["t"], "y": d["y"]})
    assert fit("a*exp(-k*v) + c", path).code == fit("a*exp(-k*`v (m/s)`) + c", path).code == 0


def test_pi_and_e_are_numbers(tmp_path):
    x = np.linspace(0.1, 3, 20)
    r = fit("a*pi + b*e^x", write(tmp_path, {"x": x, "y": 2 * math.pi + 0.5 * np.exp(x)}), "--json")
    assert math.isclose(constants(r)["a"]["value"], 2, rel_tol=1e-9)
    assert math.isclose(constants(r)["b"]["value"], 0.5, rel_tol=1e-9)


def test_a_misspelt_column_is_named(tmp_path):
    x = np.linspace(1, 3, 20)
    path = write(tmp_path, {"temperature": x, "y": 2 * x})
    r = fit("a*temprature", path)
    assert r.code == 2 and 'did you mean "temperature"' in r.err and "--start temprature=1" in r.err
    r = fit("a*Temperature", path)
    assert r.code == 2 and 'did you mean "temperature"' in r.err
    r = fit("temprature*temperature", path, "--start", "temprature=1", "--json")
    assert r.code == 0 and math.isclose(constants(r)["temprature"]["value"], 2, rel_tol=1e-9)


@pytest.mark.parametrize("args, said", [
    (["a*exp(k*t"], "never closed"),
    (["a*foo(t)"], "foo"),
    (["a + b"], "no column"),
    ([""], "missing formula"),
    (["a*t", "--start", "q=1"], '"q"'),
    (["a*t", "--start", "a=one"], "no number"),
    (["a*t", "--bounds", "a=3"], "LOW:HIGH"),
    (["a*t", "--bounds", "a=3:1"], "not below"),
    (["a*t", "--bounds", "a=0:1", "--start", "a=2"], "outside its bounds"),
    (["a*t", "--sigma", "-1"], "above 0"),
    (["a*t", "--group", "none"], "none"),
    (["a*t", "--plot", "a.png"], "FILE.svg"),
    (["a*t", "--format", "c", "--json"], "--json"),
    (["a*t; "], "empty formula"),
])
def test_mistakes_are_explained(tmp_path, args, said):
    r = fit(args[0], write(tmp_path, decay()), *args[1:])
    assert r.code == 2 and said in r.err and r.out == "", r


def test_too_few_rows(tmp_path):
    r = fit("a + b*t + c*t^2", write(tmp_path, {"t": [1, 2], "y": [1, 2]}))
    assert r.code == 2 and "2 rows cannot determine the 3 constants" in r.err


# ---------------------------------------------------------------- constants that are not determined

def test_constants_that_make_up_for_each_other(tmp_path):
    r = fit("a*b*exp(-k*t) + c", write(tmp_path, decay()), "--json")
    found = constants(r)
    assert r.code == 0 and not found["a"]["determined"] and not found["b"]["determined"]
    assert found["a"]["error"] is None and found["k"]["determined"] and found["k"]["error"] > 0
    assert any("a and b" in n for n in r.json["notes"])
    plain = constants(fit("a*exp(-k*t) + c", write(tmp_path, decay()), "--json"))
    assert math.isclose(found["k"]["error"], plain["k"]["error"], rel_tol=0.02)
    assert math.isclose(found["a"]["value"] * found["b"]["value"], plain["a"]["value"], rel_tol=1e-6)


def test_a_constant_without_influence(tmp_path):
    r = fit("a*t + c*0", write(tmp_path, decay()), "--json")
    assert not constants(r)["c"]["determined"] and any("no influence" in n for n in r.json["notes"])


def test_a_fit_that_runs_away_says_so(tmp_path):
    x = np.linspace(1, 4, 30)
    r = fit("a*x/(b + x)", write(tmp_path, {"x": x, "y": 3 * x}), "--json")  # b goes to infinity
    assert r.json["notes"], r


def test_bounds_hold_and_are_named(tmp_path):
    r = fit("a*exp(-k*t) + c", write(tmp_path, decay()), "--bounds", "c=2:", "--json")
    assert r.code == 0 and constants(r)["c"]["value"] == 2 and constants(r)["c"]["bound"] == "low"
    assert any("at a bound" in n for n in r.json["notes"])


# ---------------------------------------------------------------- several formulas, groups

def test_formulas_are_ranked_in_one_table(tmp_path):
    path = write(tmp_path, decay())
    for rank in ("bits", "aic", "bic"):
        r = fit("a + b*t", path, "--compare", "a/(1 + b*t); y = a*exp(-k*t) + c", "--rank", rank, "--json")
        formulas = r.json["formulas"]
        assert [f["formula"] for f in formulas] == ["a*exp(-k*t) + c", "a/(1 + b*t)", "a + b*t"]
        key = [f["bits"]["total"] if rank == "bits" else f[rank] for f in formulas]
        assert key == sorted(key)
    shown = fit("a + b*t", path, "--compare", "a*exp(-k*t) + c")
    assert shown.lines[0].startswith("y = ") and "rank" in shown.out and "(a + b*t)" in shown.out


def test_information_criteria_are_those_of_normal_errors(tmp_path):
    d = decay()
    f = fit("a*exp(-k*t) + c", write(tmp_path, d), "--json").json["formulas"][0]
    n, sse = len(d["t"]), f["rms"] ** 2 * len(d["t"])
    logl = -n / 2 * (math.log(2 * math.pi * sse / n) + 1)
    assert math.isclose(f["aic"], 2 * 4 - 2 * logl, rel_tol=1e-9)
    assert math.isclose(f["bic"], 4 * math.log(n) - 2 * logl, rel_tol=1e-9)


def test_discovered_formulas_join_the_table(tmp_path):
    x = np.linspace(1, 5, 30)
    r = fit("a + b*x", write(tmp_path, {"x": x, "y": 3 * x ** 2}), "--discover", "--json")
    assert r.code == 0, r
    first = r.json["formulas"][0]
    assert first["source"] == "search" and first["fitted"] == "3*x^2"


def grouped(slopes, n=12, seed=5):
    rng = np.random.default_rng(seed)
    x = np.tile(np.linspace(1, 4, n), len(slopes))
    a = np.repeat(slopes, n)
    return {"who": [name for k in range(len(slopes)) for name in [f"lot {k}"] * n], "x": x,
            "y": a * x + 1 + 0.05 * rng.normal(size=x.size)}


def test_each_group_has_constants_of_its_own(tmp_path):
    r = fit("a*x + b", write(tmp_path, grouped([2, 3, 2.5])), "--group", "who", "--json")
    groups = r.json["groups"]
    assert [g["group"] for g in groups] == ["lot 0", "lot 1", "lot 2"] and all(g["rows"] == 12 for g in groups)
    assert [round(g["constants"][0]["value"], 1) for g in groups] == [2, 3, 2.5]
    assert r.json["group_test"]["p"] < 1e-6 and r.json["group_test"]["bits_separate"] < r.json["group_test"]["bits_common"]
    assert "differ between groups" in fit("a*x + b", write(tmp_path, grouped([2, 3, 2.5])), "--group", "who").out
    same = fit("a*x + b", write(tmp_path, grouped([2, 2, 2])), "--group", "who", "--json").json["group_test"]
    assert same["p"] > 0.01 and same["bits_common"] < same["bits_separate"]


def test_the_test_of_groups_is_fishers(tmp_path):
    """F by NumPy's least squares, in groups and together."""
    d = grouped([2, 2.02, 2.05])
    r = fit("a*x + b", write(tmp_path, d), "--group", "who", "--json").json["group_test"]

    def sse(rows):
        m = np.column_stack([d["x"][rows], np.ones(len(rows))])
        return np.linalg.lstsq(m, d["y"][rows], rcond=None)[1][0]

    alone = sum(sse(np.arange(12 * g, 12 * g + 12)) for g in range(3))
    f = (sse(np.arange(36)) - alone) / 4 / (alone / 30)
    assert r["test"] == "F" and r["degrees"] == 4 and r["remaining"] == 30 and math.isclose(r["statistic"], f, rel_tol=1e-6)


def test_groups_that_are_too_small_are_named(tmp_path):
    d = grouped([2, 3])
    d = {k: list(v) + [x] for (k, v), x in zip(d.items(), ["lonely", 1.0, 2.0])}
    r = fit("a*x + b", write(tmp_path, d), "--group", "who")
    assert r.code == 0 and "fewer rows than constants" in r.out and "no test" in r.out


# ---------------------------------------------------------------- forms

def test_formulas_to_paste_have_the_fitted_values(tmp_path):
    d = decay()
    path = write(tmp_path, {"other": d["t"], **d})
    f = fit("a*exp(-k*t) + c", path, "--json").json["formulas"][0]
    numpy = fit("a*exp(-k*t) + c", path, "--format", "numpy").lines[-1]
    value = eval(numpy, {"np": np, "t": d["t"]})
    assert math.isclose(math.sqrt(np.mean((value - d["y"]) ** 2)), f["rms"], rel_tol=1e-9)
    excel = fit("a*exp(-k*t) + c", path, "--format", "excel").lines[-1]
    assert math.isclose(spreadsheet.evaluate(excel, [math.nan, 2.0]), eval(numpy, {"np": np, "t": 2.0}), rel_tol=1e-12)


def test_pictures_are_drawn(tmp_path):
    path = write(tmp_path, decay())
    assert fit("a*exp(-k*t) + c", path, "--plot", tmp_path / "p.svg").code == 0
    assert ET.parse(tmp_path / "p.svg").getroot().tag.endswith("svg")
    assert fit("a*exp(-k*t) + c", path, "--compare", "a + b*t", "--plot", tmp_path / "p.html").code == 0
    page = (tmp_path / "p.html").read_text(encoding="utf-8")
    assert "<svg" in page and "<math" in page


def test_the_table_with_values_and_residuals(tmp_path):
    d = decay()
    path = write(tmp_path, {"note": ['"a, b"'] * len(d["t"]), **d})
    out = tmp_path / "fitted.csv"
    r = fit("a*exp(-k*t) + c", path, "--fitted", out, "--json")
    assert r.code == 0, r
    with open(out, encoding="utf-8", newline="") as f:
        head, *rows = csv.reader(f)
    assert {"note", "t", "y"} < set(head) and len(rows) == len(d["t"])
    residual = np.array([float(row[-1]) for row in rows])
    assert math.isclose(math.sqrt(np.mean(residual ** 2)), r.json["formulas"][0]["rms"], rel_tol=1e-6)
    assert all(row[head.index("note")] == "a, b" for row in rows)


def test_tables_as_people_have_them(tmp_path):
    """A comment, a row of units, decimal commas: the groups stay with their rows."""
    d = grouped([2, 3])
    lines = ["# made by hand", "who;x;y", "-;s;m"]
    lines += [f"{w};{x:.5f};{y:.5f}".replace(".", ",") for w, x, y in zip(d["who"], d["x"], d["y"])]
    path = tmp_path / "odd.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    r = fit("y = a*x + b", path, "--group", "who", "--json")
    assert r.code == 0, r
    assert [round(g["constants"][0]["value"], 1) for g in r.json["groups"]] == [2, 3]
    assert r.json["formulas"][0]["constants"][0]["unit"] == "m s^-1" and r.json["data"]["notes"]


def test_standard_input_and_units(tmp_path):
    d = decay()
    text = "t (s),y (m)\n" + "".join(f"{a},{b}\n" for a, b in zip(d["t"], d["y"]))
    (tmp_path / "t.csv").write_text(text)
    with open(tmp_path / "t.csv", encoding="utf-8") as f:
        r = fit("a*exp(-k*t) + c", "-", "--json", stdin=f)
    assert r.code == 0 and [c["unit"] for c in r.json["formulas"][0]["constants"]] == ["m", "s^-1", "m"]


def test_no_fit_is_a_negative_answer(tmp_path):
    x = np.linspace(-3, 3, 20)
    r = fit("a*log(x)", write(tmp_path, {"x": x, "y": x}))
    assert r.code == 1 and "no fit" in r.out and "defined in every row" in r.out


def test_the_seed_and_the_threads_change_nothing(tmp_path):
    path = write(tmp_path, decay())
    a, b = (fit("a*exp(-k*t) + c", path, "--json", "--threads", n).json["formulas"] for n in ("1", "3"))
    assert a == b


def test_interrupted_and_late_fits_print_the_best_so_far(tmp_path):
    rng = np.random.default_rng(1)
    x = rng.uniform(1, 9, (6, 90000))
    path = write(tmp_path, {**{f"v{i}": x[i] for i in range(6)}, "y": rng.normal(size=90000)})
    formula = " + ".join(f"a{i}*sin(b{i}*v{i} + c{i})*exp(-d{i}*v{i})" for i in range(6))
    late = fit(formula, path, "--timeout", "0.8", "--json")
    assert late.json["cut"] == "time" and late.json["formulas"][0]["fitted"]
    p = subprocess.Popen([PROGRAM, "fit", formula, str(path), "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_for_work(p, 2)  # it is fitting by then; a table that is not read has no fit
    p.send_signal(signal.SIGINT)
    out, err = p.communicate(timeout=60)
    assert p.returncode == 130
    assert json.loads(out)["cut"] == "cancel" if out else b"row" in err

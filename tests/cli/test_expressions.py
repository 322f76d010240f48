"""The command `expressions`: listings, counts and questions."""
import ast
import json
import math
import re
import xml.etree.ElementTree as ET
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import spreadsheet
from tool import expressions

DEPTH_2 = 2 + 18 + 909


# ---------------------------------------------------------------- listings

@pytest.fixture(scope="module")
def listing():
    r = expressions("--depth", "2", "--format", "python")
    assert r.code == 0 and r.err == ""
    return r.lines


def values(lines, points):
    """Each line as Python reads it, at the points: an array (lines, points), NaN where not real."""
    x1, x2 = points
    names = {"__builtins__": {}, "x1": x1, "x2": x2, "sqrt": np.sqrt, "exp": np.exp, "sin": np.sin}
    with np.errstate(all="ignore"):
        out = np.array([eval(line, names) + 0 * x1 for line in lines])
    out[~np.isfinite(out)] = np.nan
    return out


def test_depth_two_has_929_distinct_functions(listing):
    """Judged by numpy's own values, not by ours: no two lines agree wherever both are real."""
    assert len(listing) == DEPTH_2 and len(set(listing)) == DEPTH_2
    rng = np.random.default_rng(7)
    points = rng.uniform(0.5, 2.0, (2, 24)) * rng.choice([-1, 1], (2, 24))
    v = values(listing, points)
    assert np.isfinite(v).any(axis=1).all(), "a line is undefined everywhere"
    assert (np.nanmax(v, axis=1) - np.nanmin(v, axis=1) > 1e-12).all(), "a line is constant"
    for i in range(DEPTH_2):
        both = np.isfinite(v[i]) & np.isfinite(v[i + 1:])
        close = np.abs(v[i] - v[i + 1:]) <= 1e-9 * (1 + np.abs(v[i]))
        same = both.any(axis=1) & (close | ~both).all(axis=1)
        assert not same.any(), (listing[i], listing[i + 1 + int(np.argmax(same))])


def test_lower_depths_come_first(listing):
    assert listing[:2] == ["x1", "x2"]
    assert expressions("--depth", "1", "--format", "python").lines == listing[:20]
    assert expressions("--depth", "0", "--format", "python").lines == listing[:2]


@pytest.mark.parametrize("threads", ["1", "2", "5"])
def test_threads_change_nothing(listing, threads):
    assert expressions("--depth", "2", "--format", "python", "--threads", threads).lines == listing


def test_formats_have_the_same_content(listing):
    """c and sympy text, read as Python, have the values of the python text."""
    points = np.array([[0.7, 1.9, -1.3], [1.1, -0.4, -2.2]])
    want = values(listing, points)
    for fmt in ("c", "sympy"):
        lines = expressions("--depth", "2", "--format", fmt).lines
        x1, x2 = points
        names = {"__builtins__": {}, "x1": x1, "x2": x2, "sqrt": np.sqrt, "exp": np.exp, "sin": np.sin,
                 "pow": np.power, "Rational": lambda a, b: a / b, "Integer": float}
        with np.errstate(all="ignore"):
            got = np.array([eval(line, names) + 0 * x1 for line in lines])
        got[~np.isfinite(got)] = np.nan
        assert np.allclose(got, want, rtol=1e-9, equal_nan=True), fmt


POINTS = np.array([[0.7, 1.9, -1.3], [1.1, -0.4, -2.2]])
EVERY_FUNCTION = ("-(x1^2)*x2 + 2/3*sin(x1)*cos(x2)/tan(x1) - exp(-x1^2)*log(abs(x2)) + tanh(x1)*sinh(x2)/cosh(x1)"
                  " + asin(x1/9) + acos(x2/9)*atan(x1) - abs(x1)^x2 - pi*(-3)^2/x1^(-3)")


def test_numpy_text_takes_columns(listing):
    want = values(listing, POINTS)
    lines = expressions("--depth", "2", "--format", "numpy").lines
    with np.errstate(all="ignore"):
        got = np.array([eval(line, {"np": np, "x1": POINTS[0], "x2": POINTS[1]}) + 0 * POINTS[0] for line in lines])
    got[~np.isfinite(got)] = np.nan
    assert np.allclose(got, want, rtol=1e-9, equal_nan=True)
    whole = np.array([2, 3])
    line = expressions("--canon", "(x1*x2)^(-1) + x1^(-2)", "--format", "numpy").lines[0]
    assert np.allclose(eval(line, {"np": np, "x1": whole, "x2": whole}), 2 / whole**2)


def test_julia_text_has_the_values(listing):
    """Julia's precedence of -, ^, * and / is Python's, and its division of integers is exact: only ^ is written otherwise."""
    lines = expressions("--depth", "2", "--format", "julia").lines
    assert [line.replace("^", "**") for line in lines] == listing and not any("**" in line for line in lines)


def test_spreadsheet_text_has_the_values(listing):
    want = values(listing, POINTS)
    lines = expressions("--depth", "2", "--format", "excel").lines
    for point in range(POINTS.shape[1]):
        got = [spreadsheet.evaluate(line, POINTS[:, point]) for line in lines]
        assert np.allclose(got, want[:, point], rtol=1e-9, equal_nan=True)


def test_every_function_in_every_language():
    x1, x2 = 0.7, 1.1
    text = {f: expressions("--canon", EVERY_FUNCTION, "--format", f).lines[0] for f in ("python", "numpy", "excel", "julia")}
    want = eval(text["python"], {**vars(math), "x1": x1, "x2": x2})
    assert math.isclose(eval(text["numpy"], {"np": np, "x1": x1, "x2": x2}), want, rel_tol=1e-12)
    assert math.isclose(spreadsheet.evaluate(text["excel"], [x1, x2]), want, rel_tol=1e-12)
    assert text["julia"].replace("^", "**") == text["python"]


def test_spreadsheets_compute_what_was_meant():
    """Values by LibreOffice Calc of what is printed; and the evaluator above reads formulas as it does."""
    answers = Path(__file__).parents[1] / "golden" / "excel" / "answers.txt"
    for line in answers.read_text(encoding="utf-8").splitlines():
        expr, text, value = line.split("\t")
        assert math.isclose(spreadsheet.evaluate(text, [0.7, 1.1]), float(value), rel_tol=1e-12), text
        if expr:
            assert expressions(f"--canon={expr}", "--format", "excel").lines == [text]
            python = expressions(f"--canon={expr}", "--format", "python").lines[0]
            assert math.isclose(eval(python, {**vars(math), "x1": 0.7, "x2": 1.1}), float(value), rel_tol=1e-12), expr


def test_derivatives_are_sympys():
    answers = (Path(__file__).parents[1] / "golden" / "derivative" / "answers.txt").read_text(encoding="utf-8")
    for line in answers.splitlines():
        expr, variable, value = line.split("\t")
        r = expressions(f"--canon={expr}", "--derivative", variable, "--format", "python")
        assert r.code == 0, r
        got = eval(r.out, {**vars(math), "x1": 0.7, "x2": 1.1})
        assert math.isclose(got, float(value), rel_tol=1e-12, abs_tol=1e-14), line


def test_derivatives_keep_names_and_name_mistakes():
    r = expressions("--canon", "m*v^2/2", "--names", "m,v", "--derivative", "v")
    assert r.lines == ["m*v"]
    r = expressions("--canon", "m*v^2/2", "--names", "m,v", "--derivative", "w")
    assert r.code == 2 and "w" in r.err
    r = expressions("--canon", "m*v^2/2", "--names", "m,v", "--derivative", "m*v")
    assert r.code == 2 and "takes a variable" in r.err
    r = expressions("--depth", "1", "--derivative", "x1")
    assert r.code == 2 and "--canon" in r.err


def value_of(tree, point):
    """What the JSON tree is at a point."""
    if "number" in tree:
        return float(Fraction(tree["number"]))
    if "variable" in tree:
        assert tree["name"] == f"x{tree['variable']}"
        return point[tree["variable"] - 1]
    of = [value_of(t, point) for t in tree["of"]]
    known = {"sum": sum, "product": math.prod, "power": lambda v: v[0] ** v[1], "pi": lambda v: math.pi}
    return known[tree["op"]](of) if tree["op"] in known else getattr(math, {"abs": "fabs"}.get(tree["op"], tree["op"]))(of[0])


def test_json_text_is_the_tree():
    r = expressions("--canon", EVERY_FUNCTION, "--format", "json")
    want = eval(expressions("--canon", EVERY_FUNCTION, "--format", "python").lines[0], {**vars(math), "x1": 0.7, "x2": 1.1})
    assert math.isclose(value_of(json.loads(r.out), [0.7, 1.1]), want, rel_tol=1e-12)
    r = expressions("--canon", "`a\"b`/3", "--names", 'a"b', "--variables", "1", "--format", "json")
    assert json.loads(r.out) == {"op": "product", "of": [{"number": "1/3"}, {"variable": 1, "name": 'a"b'}]}


def test_python_lines_are_expressions(listing):
    for line in listing:
        ast.parse(line, mode="eval")


def test_mathml_is_well_formed():
    lines = expressions("--depth", "2", "--format", "mathml").lines
    assert len(lines) == DEPTH_2
    for line in lines:
        assert ET.fromstring(line).tag.endswith("math")


def test_mathml_escapes_names():
    r = expressions("--canon", "`<&`*x2", "--names", "<&,b", "--format", "mathml")
    assert r.code == 0 and "<&" in "".join(ET.fromstring(r.out).itertext())


@pytest.mark.parametrize("fmt", ["infix", "latex", "prefix"])
def test_what_is_listed_is_found_again(fmt):
    lines = expressions("--depth", "1", "--format", fmt).lines
    for i, line in enumerate(lines):
        r = expressions("--depth", "1", f"--find={line}", "--input-format", fmt, "--format", fmt)
        assert r.code == 0 and r.out == f"{i}\t{line}\n"


def test_json_lines(listing):
    r = expressions("--depth", "2", "--json", "--format", "python", "--withheld", "0.1")
    rows = [json.loads(line) for line in r.lines]
    assert [row["expr"] for row in rows] == listing
    assert [row["index"] for row in rows] == list(range(DEPTH_2))
    assert [row["level"] for row in rows] == [0] * 2 + [1] * 18 + [2] * 909
    assert 40 < sum(row["withheld"] for row in rows) < 160


def test_names_are_written_and_read():
    r = expressions("--depth", "1", "--names", "mass,v")
    assert r.lines[:2] == ["mass", "v"] and "mass*v" in r.lines
    assert expressions("--canon", "v*mass*v", "--names", "mass,v").out == "mass*v^2\n"


def test_a_sample_is_part_of_the_set_and_repeats(listing):
    a = expressions("--depth", "2", "--sample", "20", "--format", "python", "--seed", "3").lines
    b = expressions("--depth", "2", "--sample", "20", "--format", "python", "--seed", "3").lines
    c = expressions("--depth", "2", "--sample", "20", "--format", "python", "--seed", "4").lines
    assert len(set(a)) == 20 and set(a) <= set(listing) and a == b != c


def test_fewer_operators_and_variables():
    lines = expressions("--depth", "1", "--ops", "+ *", "--variables", "1").lines
    assert lines == ["x1", "2*x1", "x1^2"]
    assert len(expressions("--depth", "1", "--variables", "3").lines) > 20


def test_a_smaller_set_is_part_of_a_larger_one(listing):
    small = expressions("--depth", "2", "--set-size", "300", "--format", "python").lines
    large = expressions("--depth", "2", "--set-size", "600", "--format", "python").lines
    assert len(small) == 300 and len(large) == 600
    assert small[:20] == listing[:20] and set(small) < set(large) < set(listing)


# ---------------------------------------------------------------- counts

def test_count_is_a_table():
    r = expressions("--depth", "2", "--count-only")
    assert r.code == 0 and r.err == ""
    rows = [line.split() for line in r.lines if re.match(r" +\d ", line)]
    head = r.lines[0].split()
    assert [row[head.index("distinct")] for row in rows] == ["2", "18", "909"]
    assert re.search(r"^hash +[0-9a-f]{32}$", r.out, re.M)
    assert "929 of 929" in r.out


def test_count_as_json_is_one_object_that_adds_up():
    r = expressions("--depth", "2", "--count-only", "--json")
    assert len(r.lines) == 1
    j = r.json
    assert j["exit"] == 0 and j["command"] == "expressions" and j["size"] == DEPTH_2
    assert [x["distinct"] for x in j["levels"]] == [2, 18, 909]
    for x in j["levels"] + [j["total"]]:
        assert x["raw"] == x["distinct"] + x["constant"] + x["nowhere"] + x["known"]
        assert x["partial"] <= x["distinct"] and x["partial"] <= x["partial_raw"] <= x["raw"]
    assert j["config"]["depth"] == 2 and j["config"]["variables"] == 2 and j["config"]["find"] is None
    assert re.fullmatch("[0-9a-f]{32}", j["hash"])


def test_hash_names_the_set():
    def h(*args):
        return expressions("--depth", "2", "--count-only", "--json", *args).json["hash"]
    assert h() == h("--threads", "1") == h("--format", "latex")
    assert len({h(), h("--set-size", "500"), h("--set-size", "500", "--seed", "1"), h("--ops", "+,*")}) == 4


# ---------------------------------------------------------------- questions

@pytest.mark.parametrize("text, canonical", [
    ("x2 + x1 + x2", "x1 + 2*x2"),
    ("exp(x1)*exp(x2)", "exp(x1 + x2)"),
    ("sqrt(x1)^2", "x1"),
    ("x1/x1", "1"),
])
def test_canon(text, canonical):
    r = expressions("--canon", text)
    assert (r.code, r.out, r.err) == (0, canonical + "\n", "")
    assert expressions("--canon", text, "--json").json["expr"] == canonical


def test_canon_of_an_undefined_expression_is_noted():
    r = expressions("--canon", "sqrt(-1)")
    assert r.code == 0 and "undefined everywhere" in r.err
    assert expressions("--canon", "sqrt(-1)", "--json").json["real"] is False
    assert expressions("--canon", "sqrt(-1)", "--quiet").err == ""


@pytest.mark.parametrize("a, b, answer, code", [
    ("x1 + x2", "x2 + x1", "yes", 0),
    ("exp(x1)*exp(x2)", "exp(x1 + x2)", "yes", 0),
    ("sqrt(x1^2)", "x1", "no", 1),
    ("x1", "x1 + 1", "no", 1),
    ("x1/(x1 + x2) + x2/(x1 + x2)", "1", "unknown", 1),
])
def test_same(a, b, answer, code):
    r = expressions("--same", a, b)
    assert (r.code, r.out) == (code, answer + "\n")
    j = expressions("--same", a, b, "--json")
    assert j.code == code and j.json["answer"] == answer and j.json["exit"] == code


def test_find():
    r = expressions("--depth", "2", "--find", "x1*x2/x1")
    assert (r.code, r.out) == (0, "1\tx2\n")
    j = expressions("--depth", "2", "--find", "sin(x2)*exp(x1)", "--json").json
    assert j["exit"] == 0 and j["level"] == 2 and len(j["hash"]) == 32
    r = expressions("--depth", "2", "--find", "x1 + 7")
    assert (r.code, r.out, r.err) == (1, "not in the set\n", "")
    j = expressions("--depth", "2", "--find", "x1 + 7", "--json")
    assert j.code == 1 and j.json["index"] is None and j.json["exit"] == 1


def test_find_in_a_sample_is_noted():
    full = expressions("--depth", "2").lines
    part = set(expressions("--depth", "2", "--set-size", "100").lines)
    missing = next(x for x in full if x not in part)
    r = expressions("--depth", "2", "--set-size", "100", f"--find={missing}")
    assert r.code == 1 and "100 of 929" in r.err and "--set-size 0" in r.err


# ---------------------------------------------------------------- bad texts

@pytest.mark.parametrize("option, text, column", [
    ("--canon", "", 1),
    ("--canon", "x1 + ", 6),
    ("--canon", "(x1 + x2", None),
    ("--canon", "x1 + x2)", 8),
    ("--canon", "x1 ? x2", 4),
    ("--canon", "x1 + é", 6),
    ("--find", "x1 + x9", 6),
    ("--find", "x3", 1),
    ("--canon", "x9", 1),
    ("--canon", "1e400", 1),
    ("--canon", "foo(x1)", 1),
])
def test_bad_text_is_shown_with_a_caret(option, text, column):
    r = expressions(f"{option}={text}", "--depth", "1")
    assert r.code == 2 and r.out == ""
    message, shown, caret = r.err.splitlines()[:3]
    assert message.startswith(f"symlaw: {option}, column ")
    named = int(re.search(r"column (\d+)", message)[1])
    assert shown == "    " + text and caret == " " * (4 + named - 1) + "^"
    assert column is None or named == column


def test_a_mistake_in_the_second_of_two():
    r = expressions("--same", "x1", "x1 +")
    assert r.code == 2 and "second expression, column 5" in r.err


def test_a_mistake_on_the_second_line():
    r = expressions("--canon", "x1 +\n* x2")
    assert r.code == 2 and "line 2, column 1" in r.err
    assert r.err.splitlines()[1:] == ["    * x2", "    ^"]


@pytest.mark.parametrize("text", ["(" * 100_000, "x1+" * 33_000, "-" * 100_000, "sin(" * 25_000,
                                  "x1^" * 33_000, "9" * 100_000, "a" * 100_000, "`" * 99_999])
def test_long_bad_text_is_answered_at_once_in_a_few_short_lines(text):
    r = expressions(f"--canon={text}", timeout=10)
    assert r.code == 2 and r.out == ""
    assert len(r.err.splitlines()) == 3 and all(len(x) < 250 for x in r.err.splitlines())
    shown, caret = r.err.splitlines()[1:]
    assert len(shown) < 85 and caret.strip() == "^"


def test_a_terminal_is_not_commanded_by_bad_text():
    r = expressions("--canon=x1 \x1b[2J\x9b")
    assert r.code == 2 and "\x1b" not in r.err and "\x9b" not in r.err


def test_two_variables_mean_the_same_numbers_everywhere():
    """Whether a set is needed or not, there are --variables of them; without one there may be many."""
    assert expressions("--canon", "x7").code == 2
    assert expressions("--canon", "x9 - x9 + x64", "--variables", "64").out == "x64\n"
    assert expressions("--depth", "1", "--variables", "3", "--find", "x3").out == "2\tx3\n"

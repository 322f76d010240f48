"""symlaw discover by a model alone: formulas to paste, files, pictures."""
import html.parser
import math
import os
import subprocess
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import spreadsheet
from tiny_model import SLOW, noisy, plane, r2_of, values, write
from tool import PROGRAM


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
    assert r.out == "3 \\, \\mathrm{flow\\_rate} - 2 \\, p\n"


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
    """A note before the work says that there will be no picture; the formula comes, then the failure."""
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

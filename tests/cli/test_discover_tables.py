"""symlaw discover by a model alone: tables as people have them."""
import gzip
import re

import numpy as np
import pytest

from tiny_model import first, plane, text, write

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

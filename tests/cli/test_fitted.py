"""symlaw discover --fitted: the rows of the file with the formula's values and residuals."""
import csv
import gzip
import os

import pytest

from tool import run

QUICK = ["--search", "exhaustive", "--effort", "low"]
HEAD = ["id", "m", "v", "E"]
ROWS = [[f"a{i}", str(m), str(v), str(m * v * v / 2)] for i, (m, v) in enumerate(
    [(0.5, 3), (1.25, 1.5), (2, 4), (3.5, 2.5), (4.75, 5), (6, 3.5), (7.5, 1), (8.25, 4.5)])]


def write(path, rows=ROWS, head=HEAD):
    path.write_text("\n".join(",".join(r) for r in [head, *rows]) + "\n")
    return path


def fitted(tmp_path, *args, **more):
    out = tmp_path / "out.csv"
    r = run("discover", *map(str, args), "--fitted", str(out), *QUICK, **more)
    assert r.code == 0, r
    return list(csv.reader(open(out, encoding="utf-8")))


def test_all_columns_come_back_with_values_and_residuals(tmp_path):
    got = fitted(tmp_path, write(tmp_path / "a.csv"))
    assert got[0] == [*HEAD, "E_fitted", "E_residual"]
    assert [r[:4] for r in got[1:]] == ROWS
    for r in got[1:]:
        assert float(r[4]) == float(r[3]) and float(r[5]) == 0


def test_rows_that_lack_a_number_have_empty_cells(tmp_path):
    rows = [*ROWS[:3], ["b", "NA", "2", "3"], ["c", "2", "inf", "3"], ["d", "2", "4", ""], *ROWS[3:]]
    got = fitted(tmp_path, write(tmp_path / "a.csv", rows))[1:]
    assert len(got) == len(rows)
    assert got[3] == ["b", "NA", "2", "3", "", ""] and got[4][4:] == ["", ""]
    assert got[5][4:] == ["16", ""]  # inputs are there, the target is not: a prediction without a residual
    assert got[6][4] == got[6][3]


def test_every_row_is_there_where_only_some_were_fitted(tmp_path):
    rows = [[f"a{i}", str(i % 7 + 1), str(i % 11 + 1), str((i % 7 + 1) * (i % 11 + 1) ** 2 / 2)] for i in range(3000)]
    got = fitted(tmp_path, write(tmp_path / "a.csv", rows), "--max-rows", "50")
    assert len(got) == 3001
    for r, want in zip(got[1:], rows):
        assert r[:4] == want and float(r[4]) == float(want[3])


def test_names_do_not_collide(tmp_path):
    head = ["E_fitted", "m", "v", "E"]
    rows = [["x", *r[1:]] for r in ROWS]
    assert fitted(tmp_path, write(tmp_path / "a.csv", rows, head))[0] == [*head, "E_fitted_2", "E_residual"]


def test_cells_with_separators_are_quoted_and_text_is_utf8(tmp_path):
    p = tmp_path / "a.csv"
    p.write_bytes("Größe;m;v;E\n".encode("latin-1") + "".join(
        f'"a;{i}, ""b""";{r[1]};{r[2]};{r[3]}\n' for i, r in enumerate(ROWS)).replace(".", ",").encode())
    got = fitted(tmp_path, p)
    assert got[0][0] == "Größe" and got[1][0] == 'a;0, "b"' and got[1][1] == "0,5" and got[1][4] == "2.25"


def test_standard_input_and_packed_files(tmp_path):
    p = write(tmp_path / "a.csv")
    want = fitted(tmp_path, p)
    assert fitted(tmp_path, "-", stdin=open(p)) == want
    z = tmp_path / "a.csv.gz"
    z.write_bytes(gzip.compress(p.read_bytes()))
    assert fitted(tmp_path, z) == want
    assert fitted(tmp_path, "-", stdin=open(z)) == want


def test_dates_and_words_are_evaluated_as_they_were_read(tmp_path):
    rows = [[f"2024-03-{d:02d}", w, str(3 * (d - 1) + (5 if w == "on" else 0))]
            for d, w in zip(range(1, 25), ["off", "on"] * 12)]
    got = fitted(tmp_path, write(tmp_path / "a.csv", rows, ["date", "state", "y"]), "--inputs", "date,state")
    for r in got[1:]:
        assert float(r[3]) == pytest.approx(float(r[2]), abs=1e-9) and float(r[4]) == pytest.approx(0, abs=1e-9)


def test_no_output_is_an_input(tmp_path):
    p = write(tmp_path / "a.csv")
    r = run("discover", str(p), "--fitted", str(p), *QUICK)
    assert r.code == 2 and "--fitted" in r.err and p.read_text().startswith("id,m,v,E\n"), r
    r = run("discover", str(p), "--fitted", str(tmp_path / "x"), "--candidates", str(tmp_path / "x"), *QUICK)
    assert r.code == 2 and "one file" in r.err, r


def test_a_file_that_cannot_be_written_loses_no_formula(tmp_path):
    r = run("discover", str(write(tmp_path / "a.csv")), "--fitted", str(tmp_path / "no" / "x.csv"), *QUICK)
    assert r.code == 3 and r.lines[0] == "E = m*v^2/2" and "table of values" in r.err, r
    assert not os.path.exists(tmp_path / "no")


def test_a_row_that_was_dropped_has_no_value_even_if_the_formula_lacks_the_input(tmp_path):
    rows = [[str(i * i % 7), *r[1:]] for i, r in enumerate(ROWS)]
    rows[2][0] = "NA"
    got = fitted(tmp_path, write(tmp_path / "a.csv", rows, ["n", "m", "v", "E"]))[1:]
    assert got[2][4:] == ["", ""] and all(r[4] == r[3] or float(r[4]) == float(r[3]) for r in got[:2] + got[3:])

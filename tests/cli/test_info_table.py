"""symlaw info --table: what a table holds, before anything is searched."""
import subprocess

import pytest

from tool import PROGRAM, run

TABLE = "v (m/s),id,g,E\n1,a,9.81,2\n3,b,9.81,NA\n-2,a,9.81,7\n"


def table(*args, **more):
    r = run("info", "--table", *map(str, args), "--json", **more)
    assert r.code == 0, r
    return r.json["table"]


@pytest.fixture
def path(tmp_path):
    p = tmp_path / "data.csv"
    p.write_text(TABLE)
    return p


def test_columns_target_inputs_and_preview(path):
    t = table(path)
    assert t["rows"] == 3 and t["file"] == str(path)
    assert [c["name"] for c in t["columns"]] == ["v", "id", "g", "E"]
    assert [c["unit"] for c in t["columns"]] == ["m/s", None, None, None]
    assert [c["kind"] for c in t["columns"]] == ["number", "text", "constant", "number"]
    assert [c["missing"] for c in t["columns"]] == [0, 0, 0, 1]
    assert [c["distinct"] for c in t["columns"]] == [3, 2, 1, 2]
    assert t["columns"][0]["min"] == -2 and t["columns"][0]["max"] == 3
    assert t["columns"][1]["min"] is None
    assert t["columns"][1]["first"] == ["a", "b", "a"]
    assert t["target"] == "E" and t["inputs"] == ["v", "g"]
    assert t["preview"] == [["1", "a", "9.81", "2"], ["3", "b", "9.81", "NA"], ["-2", "a", "9.81", "7"]]
    assert t["separator"] == "comma" and t["header"] is True


def test_the_text_has_every_column(path):
    r = run("info", "--table", str(path))
    assert r.code == 0 and r.err == "", r
    assert "3 rows, 4 columns" in r.lines[0]
    for name in ("v", "id", "g", "E"):
        assert any(line.split()[:1] == [name] for line in r.lines), r
    assert any(line.split() == ["inputs", "v,", "g"] for line in r.lines), r


def test_standard_input_and_pipes_are_read_too(path):
    t = table("-", stdin=open(path))
    assert t["rows"] == 3 and t["inputs"] == ["v", "g"]
    r = subprocess.run(f"cat {path} | '{PROGRAM}' info --table /dev/stdin --json", shell=True, capture_output=True)
    assert r.returncode == 0 and b'"rows":3' in r.stdout, r


def test_errors_name_standard_input(tmp_path):
    p = tmp_path / "a.csv"
    p.write_text("a,b\n1,2\n3,4\n5,6\n7\n")
    r = run("info", "--table", "-", stdin=open(p))
    assert r.code == 2 and r.err.startswith("symlaw: standard input: row 4 (line 5) has 1 cell"), r


def test_reading_options_are_those_of_discover(tmp_path):
    p = tmp_path / "a.csv"
    p.write_text("1:2\n3:4\n5:6\n")
    assert table(p, "--separator", ":", "--header", "no")["rows"] == 3
    r = run("info", "--table", str(p), "--separator", "7")
    assert r.code == 2 and "--separator" in r.err, r


def test_what_discover_would_refuse_is_a_note(tmp_path):
    p = tmp_path / "a.csv"
    p.write_text("a,b\n1,2\n1,x\n2,3\n")
    t = table(p)
    assert t["target"] is None and t["inputs"] == []
    assert 'row 2 (line 3) has "x"' in t["notes"][0]


def test_one_job_at_a_time(path):
    r = run("info", "--table", str(path), "--run", "x")
    assert r.code == 2 and "--table" in r.err, r
    r = run("info", "--table", str(path.parent / "missing.csv"))
    assert r.code == 3 and "missing.csv" in r.err, r

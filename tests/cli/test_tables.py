"""Tables as people have them (tests/tables), through symlaw discover and symlaw info --table.

expected.json says of each file what comes out: target, inputs and rows that are taken, whether the law is found, parts of
the notes of what was done; or parts of the error. `law` true: E = m*v^2/2 in whatever names the columns have.
"""
import json
from pathlib import Path

import pytest

from tool import run

FOLDER = Path(__file__).parents[1] / "tables"
EXPECTED = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))
QUICK = ["--search", "exhaustive", "--effort", "low", "--timeout", "60", "--json"]


def test_every_table_has_an_expectation():
    assert {p.name for p in FOLDER.iterdir()} - {"expected.json"} == set(EXPECTED)
    assert len(EXPECTED) >= 24


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_discover_reads_what_is_safe_and_says_what_it_did(name):
    want = EXPECTED[name]
    r = run("discover", str(FOLDER / name), *want["args"], *QUICK)
    if "error" in want:
        assert r.code == 2, r
        for part in want["error"]:
            assert part in r.err, (part, r)
        return
    assert r.code == 0, r
    data = r.json["data"]
    assert data["target"] == want["target"] and data["inputs"] == want["inputs"], data
    assert data["rows"] == want["rows"] and data["missing"] == want.get("missing", 0), data
    assert data["text_columns"] == want.get("text", 0), data
    assert data["notes"] == [] if not want["notes"] else True, data["notes"]
    for part in want["notes"]:
        assert any(part in note for note in data["notes"]), (part, data["notes"])
    law = want.get("law")
    if law is True:
        a, v = want["inputs"]
        spelt = {n: n if n.isascii() and n.isidentifier() else f"`{n}`" for n in (a, v)}
        options = {f"{spelt[a]}*{spelt[v]}^2/2", f"{spelt[v]}^2*{spelt[a]}/2"}
        assert r.json["r2"] == 1 and r.json["formula"] in options, r.json["formula"]
    elif law:
        assert r.json["r2"] > 1 - 1e-12
        assert sorted(r.json["formula"].replace(" ", "")) == sorted(law.replace(" ", "")), r.json["formula"]


@pytest.mark.parametrize("name", sorted(n for n in EXPECTED if "error" not in EXPECTED[n]))
def test_info_has_the_same_notes_and_units(name):
    want = EXPECTED[name]
    reading = [a for i, a in enumerate(want["args"]) if "--inputs" not in (a, want["args"][i - 1] if i else "")]
    r = run("info", "--table", str(FOLDER / name), *reading, "--json")
    assert r.code == 0, r
    table = r.json["table"]
    names = [c["name"] for c in table["columns"]]
    assert set(want["inputs"]) | {want["target"]} <= set(names)
    for column, unit in want.get("units", {}).items():
        assert table["columns"][names.index(column)]["unit"] == unit, table["columns"]
    if "--inputs" not in want["args"]:
        assert table["target"] == want["target"] and table["inputs"] == want["inputs"], table
        for part in want["notes"]:
            assert any(part in note for note in table["notes"]), (part, table["notes"])


def test_the_table_of_the_terminal_has_the_notes():
    r = run("discover", str(FOLDER / "units_row.csv"), *QUICK[:-1])
    assert r.code == 0 and "E = m*v^2/2" in r.lines[0], r
    assert any("the row below the column names has their units" in line for line in r.lines), r
    assert any("m in kg" in line for line in r.lines), r


@pytest.mark.parametrize("option, value, part", [("--comment", "a", "--comment"), ("--comment", "1234", "--comment"),
                                                 ("--decimal", "dot", "decimal"), ("--encoding", "ebcdic", "encoding"),
                                                 ("--skip", "-1", "skip")])
def test_wrong_options_are_refused(option, value, part):
    r = run("discover", str(FOLDER / "units_row.csv"), option, value)
    assert r.code == 2 and part in r.err, r


def test_skipping_more_lines_than_there_are(tmp_path):
    r = run("discover", str(FOLDER / "units_row.csv"), "--skip", "100")
    assert r.code == 2 and "fewer lines than the 100" in r.err, r


def test_comments_can_be_switched_off():
    r = run("discover", str(FOLDER / "comments_inside.csv"), "--comment", "none", *QUICK)
    assert r.code == 2 and "row 9 (line 10)" in r.err, r


def test_an_encoding_that_is_named_is_taken(tmp_path):
    p = tmp_path / "a.csv"
    p.write_bytes("Länge,y\n1,2\n2,4\n3,6\n".encode("utf-16-le"))
    t = run("info", "--table", str(p), "--encoding", "utf-16", "--json").json["table"]
    assert t["inputs"] == ["Länge"], t
    p.write_bytes("Länge,y\n1,2\n2,4\n3,6\n".encode())
    t = run("info", "--table", str(p), "--encoding", "latin-1", "--json").json["table"]
    assert t["inputs"] == ["LÃ¤nge"], t

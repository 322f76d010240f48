"""symlaw laws --report and --figures: the page and its figures. tests/browser checks the appearance of the page."""
import re
import xml.etree.ElementTree as ET
from pathlib import Path

from tool import run

TABLE = str(Path(__file__).parents[2] / "studies" / "paper_runs.csv")


def laws(*args, **more):
    return run("laws", *args, "--draws", "50", **more)


def test_the_page_of_the_papers_table(tmp_path):
    page, figures = tmp_path / "laws.html", tmp_path / "some" / "figures"
    r = laws(TABLE, "--bins", "linear", "--report", str(page), "--figures", str(figures))
    assert r.code == 0 and r.err == "", r
    text = page.read_text()
    ET.fromstring(text)  # well-formed
    assert "−0.225" in text and "−0.125" in text and "−0.253" in text  # the paper's exponents
    assert re.search(r'class="red">an extrapolation to \d+ times the largest compute', text)
    assert text.count('<tr class="best">') >= 15  # the frontier, and the best forms
    assert f"symlaw laws {TABLE} --bins linear --target-solved 0.8 --draws 50 --seed 0" in text
    names = {f.name for f in figures.iterdir()}
    assert names == {"solved.svg", "r2.svg", "loss.svg", "leave-out.svg", "optima.svg", "allocation.svg"}
    for f in figures.iterdir():
        assert ET.parse(f).getroot().tag == "{http://www.w3.org/2000/svg}svg"
    # the answer is the same with and without
    assert r.out == laws(TABLE, "--bins", "linear").out


def test_the_page_is_the_same_each_time(tmp_path):
    for name in ["a", "b"]:
        assert laws(TABLE, "--report", f"{name}.html", cwd=tmp_path).code == 0
    a, b = ((tmp_path / f"{n}.html").read_text() for n in "ab")
    assert a.replace("a.html", "b.html") == b


def test_what_cannot_be_written_does_not_take_the_answer_away(tmp_path):
    good = laws(TABLE)
    r = laws(TABLE, "--report", str(tmp_path / "nowhere" / "x.html"))
    assert r.code == 3 and r.out == good.out and "nowhere" in r.err, r
    (tmp_path / "file").touch()
    r = laws(TABLE, "--figures", str(tmp_path / "file"))
    assert r.code == 3 and r.out == good.out and "file" in r.err, r
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_the_table_is_never_written_over(tmp_path):
    table = tmp_path / "runs.csv"
    table.write_text(Path(TABLE).read_text())
    r = laws(str(table), "--report", str(table))
    assert r.code == 2 and "--report" in r.err, r
    assert table.read_text() == Path(TABLE).read_text()


def test_words_of_a_shell_are_quoted(tmp_path):
    name = "it's a <table>.csv"
    (tmp_path / name).write_text(Path(TABLE).read_text())
    assert laws(name, "--report", "p.html", cwd=tmp_path).code == 0
    text = (tmp_path / "p.html").read_text()
    command = ET.fromstring(text).find(".//{*}pre/{*}code").text
    assert command.startswith("symlaw laws 'it'\\''s a <table>.csv' ")
    assert "<title>Scaling laws of it&#39;s a &lt;table&gt;.csv</title>" in text

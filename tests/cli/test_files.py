"""What the program does with files of the user: none that it reads is replaced, nothing is waited for."""
import os
import stat
import subprocess

import pytest

from tool import PROGRAM, run

TRAIN = ["--width", "16", "--layers", "1", "--depth", "1", "--ops", "+,*", "--points", "8", "--batch", "4", "--lanes",
         "2", "--valid-pairs", "0", "--steps", "3", "--threads", "1"]
FEW = ["--samples", "4", "--seeds", "1", "--threads", "1"]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run") / "a"
    r = run("train", *TRAIN, "--out", str(folder))
    assert r.code == 0, r
    return folder


def newest(folder):
    return sorted(folder.glob("model-*.safetensors"))[-1]


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b,y\n" + "".join(f"{i},{i * i % 7},{3 * i - 2 * (i * i % 7)}\n" for i in range(20)))
    return path


@pytest.fixture
def formulas(tmp_path):
    path = tmp_path / "f.csv"
    path.write_text("name,formula,lo,hi,npoints\none,x1 + x2,1,2,20\n")
    return path


@pytest.fixture
def pairs(tmp_path):
    path = tmp_path / "p.jsonl"
    path.write_text('{"id":1,"x":[[1,2,3,4]],"y":[2,3,4,5],"expr":"x1 + 1"}\n')
    return path


# ---------------------------------------------------------------- inputs stay

def unchanged(path, *args, **more):
    before = path.read_bytes()
    r = run(*map(str, args), **more)
    assert r.code == 2 and "one file" in r.err and r.out == "", (args, r)
    assert path.read_bytes() == before, args


@pytest.mark.parametrize("option", ["--predictions", "--journal", "--out"])
def test_eval_leaves_its_problems_alone(model, formulas, pairs, tmp_path, option):
    for source, path in (("--formulas", formulas), ("--pairs", pairs)):
        link, hard = tmp_path / "link", tmp_path / "hard"
        link.symlink_to(path)
        os.link(path, hard)
        for spelled in (path, f"{tmp_path}/./{path.name}", link, hard):
            unchanged(path, "eval", "--model", model, source, path, option, spelled, *FEW)
            unchanged(path, "eval", "--model", model, source, spelled, option, path, *FEW)
        unchanged(path, "eval", "--model", model, source, path.name, option, path, *FEW, cwd=tmp_path)
        link.unlink()
        hard.unlink()
    weights = newest(model)
    unchanged(weights, "eval", "--model", weights, "--pairs", pairs, option, weights, *FEW)
    before = weights.read_bytes()
    r = run("eval", "--model", str(model), "--pairs", str(pairs), option, str(weights), *FEW)
    assert r.code == 2 and f"{option} is a file of the run" in r.err and weights.read_bytes() == before
    # beside the model's files is fine
    r = run("eval", "--model", str(model), "--pairs", str(pairs), option, str(model / "judged.jsonl"), *FEW)
    assert r.code == 0, r
    (model / "judged.jsonl").unlink()


def test_two_outputs_are_two_files(model, pairs, tmp_path):
    for a, b in (("--predictions", "--journal"), ("--predictions", "--out"), ("--journal", "--out")):
        r = run("eval", "--model", str(model), "--pairs", str(pairs), a, "new", b, "./new", *FEW, cwd=tmp_path)
        assert r.code == 2 and "one file" in r.err and not (tmp_path / "new").exists(), r


def test_discover_leaves_its_table_alone(model, table):
    unchanged(table, "discover", table, "--model", model, "--out", table)
    with open(table) as f:  # standard input is a file too
        unchanged(table, "discover", "-", "--model", model, "--out", table, stdin=f)
    picture = table.with_suffix(".svg")
    table.rename(picture)
    unchanged(picture, "discover", picture, "--model", model, "--plot", picture)
    unchanged(picture, "discover", picture, "--plot", picture, env={**os.environ, "SYMLAW_MODEL": str(model)})


def test_the_environments_model_stays(table, model):
    weights = newest(model)
    unchanged(weights, "discover", table, "--out", weights, env={**os.environ, "SYMLAW_MODEL": str(weights)})


def test_a_journal_is_read_and_written(model, pairs, tmp_path):
    args = ["eval", "--model", str(model), "--pairs", str(pairs), "--journal", str(tmp_path / "j"), *FEW]
    assert run(*args).code == 0 and run(*args).code == 0
    assert (tmp_path / "j").read_text().count("\n") == 2

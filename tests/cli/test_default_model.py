"""The model of discover and eval where none is named: each step of the search, moved trees, damage, none at all."""
import json
import os
import re
import shutil
import struct
import subprocess
from pathlib import Path

import pytest

from tool import PROGRAM, run

ROOT = Path(__file__).parents[2]
SHIPPED = ROOT / "models" / "small.safetensors"
KEPLER = str(ROOT / "examples" / "kepler.csv")
BUILD = Path(PROGRAM).parent
QUICK = ("--search", "model", "--effort", "low", "--threads", "1")
BARE = {k: v for k, v in os.environ.items() if k != "SYMLAW_MODEL"}


class Tree:
    """A program in a folder of its own, and what it says from another folder."""

    def __init__(self, top):
        self.program = top / "bin" / "symlaw"
        self.share = top / "share" / "symlaw" / "models" / "small.safetensors"
        self.work = top / "work"
        self.best = self.work / "runs" / "best.safetensors"
        self.program.parent.mkdir(parents=True)
        self.work.mkdir()
        shutil.copy(PROGRAM, self.program)

    def put(self, path, data=None):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(SHIPPED.read_bytes() if data is None else data)
        return path

    def call(self, *args, name=None, **env):
        return subprocess.run([name or self.program, *map(str, args)], capture_output=True, text=True, timeout=60,
                              cwd=self.work, env={**BARE, **env}, stdin=subprocess.DEVNULL)

    def taken(self, *args, **more):
        """The model that discover has taken."""
        r = self.call("discover", KEPLER, *QUICK, "--json", "--quiet", *args, **more)
        assert r.returncode == 0, r
        j = json.loads(r.stdout)
        assert j["config"]["model"] == j["model"]["path"]  # the result records it
        return Path(self.work, j["model"]["path"])


@pytest.fixture
def tree(tmp_path):
    return Tree(tmp_path)


@pytest.fixture
def alone(tree):
    """No model is installed where this build would be."""
    r = tree.call("discover", KEPLER, *QUICK, "--json", "--quiet")
    if r.returncode == 0:
        pytest.skip(f"{json.loads(r.stdout)['model']['path']} is installed on this machine")
    return tree


# ---------------------------------------------------------------- the order

def test_each_step_is_before_the_next(tree, tmp_path):
    tree.put(tree.share)
    assert tree.taken() == tree.share
    tree.put(tree.best)
    assert tree.taken() == tree.best
    named = tree.put(tmp_path / "named.safetensors")
    assert tree.taken(SYMLAW_MODEL=str(named)) == named
    assert tree.taken(SYMLAW_MODEL="") == tree.best
    asked = tree.put(tmp_path / "asked.safetensors")
    assert tree.taken("--model", asked, SYMLAW_MODEL=str(named)) == asked


def test_eval_takes_it_too(tree):
    tree.put(tree.share)
    r = tree.call("eval", "--limit", 2, "--seeds", 1, "--samples", 4)
    assert r.returncode == 0 and f"model         {tree.share}" in r.stdout, r
    r = tree.call("eval", "--limit", 2, "--seeds", 1, "--source", "linear", "--json", "--quiet")
    assert json.loads(r.stdout)["config"]["model"] == str(tree.share)


def test_the_table_shows_the_model(tree):
    tree.put(tree.best)
    r = tree.call("discover", KEPLER, *QUICK)
    assert r.returncode == 0 and "model         runs/best.safetensors, step " in r.stdout, r


@pytest.mark.parametrize("how", ["path", "link", "relative"])
def test_however_the_program_is_called(tree, how):
    tree.put(tree.share)
    if how == "path":
        assert tree.taken(name="symlaw", PATH=f"{tree.program.parent}:{os.environ['PATH']}") == tree.share
        return
    link = tree.work / "other"
    link.symlink_to(tree.program)
    assert tree.taken(name=link if how == "link" else "./other") == tree.share


def test_a_moved_tree_finds_its_own(tree, tmp_path):
    tree.put(tree.share)
    moved = tmp_path / "moved" / "deep"
    moved.mkdir(parents=True)
    for part in ("bin", "share"):
        shutil.move(tmp_path / part, moved / part)
    tree.program = moved / "bin" / "symlaw"
    assert tree.taken() == moved / "share" / "symlaw" / "models" / "small.safetensors"


def test_the_build_folder_finds_the_one_of_the_source(tmp_path):
    if not (BUILD / "share").exists():
        pytest.skip("the program does not lie in a build folder")
    r = run("discover", KEPLER, *QUICK, "--json", "--quiet", cwd=tmp_path, env=BARE)
    assert r.code == 0 and Path(r.json["model"]["path"]).resolve() == SHIPPED.resolve(), r


# ---------------------------------------------------------------- none, and damaged ones

@pytest.mark.parametrize("command", [("discover", KEPLER, "--search", "model"), ("eval",)])
def test_none_is_found(alone, command):
    r = alone.call(*command)
    assert r.returncode == 2 and r.stdout == ""
    for words in ("--model", "SYMLAW_MODEL", "runs/best.safetensors", str(alone.share), "symlaw train"):
        assert words in r.stderr, r.stderr


@pytest.mark.parametrize("damage", [b"", b"no model at all", "cut", "flipped"])
def test_a_damaged_one_is_reported(tree, damage):
    data = SHIPPED.read_bytes()
    if damage == "cut":
        damage = data[:-1000]
    elif damage == "flipped":
        damage = data[:-1000] + bytes([data[-1000] ^ 1]) + data[-999:]
    tree.put(tree.share)
    tree.put(tree.best, damage)  # the good one behind it is not taken in silence
    for command in (("discover", KEPLER, "--search", "model"), ("eval", "--limit", 1)):
        r = tree.call(*command)
        assert r.returncode == 2 and r.stdout == "", r
        assert "runs/best.safetensors" in r.stderr and "it is the default model: --model" in r.stderr, r
    tree.best.unlink()
    tree.put(tree.share, damage)
    r = tree.call("discover", KEPLER, "--search", "model")
    assert r.returncode == 2 and str(tree.share) in r.stderr and "default model" in r.stderr, r


def test_a_named_model_that_is_missing_is_reported(tree):
    tree.put(tree.best)
    for args, env in (((), {"SYMLAW_MODEL": "nowhere"}), (("--model", "nowhere"), {})):
        r = tree.call("discover", KEPLER, *args, **env)
        assert r.returncode in (2, 3) and "nowhere" in r.stderr and "default" not in r.stderr, r
    r = tree.call("discover", KEPLER, "--model", "")
    assert r.returncode == 2 and "--model is empty" in r.stderr, r


def test_it_is_not_written_over(tree):
    tree.put(tree.best)
    r = tree.call("discover", KEPLER, "--out", tree.best)
    assert r.returncode == 2 and "the default model are one file" in r.stderr, r
    assert tree.best.read_bytes() == SHIPPED.read_bytes()


# ---------------------------------------------------------------- an installed tree

def test_an_installed_program_needs_no_setting(tmp_path):
    if not (BUILD / "CMakeCache.txt").exists():
        pytest.skip("the program does not lie in a build folder")
    env = {**BARE, "DESTDIR": str(tmp_path / "stage")}
    for prefix, top in (("/opt/x", tmp_path / "stage" / "opt" / "x"), (str(tmp_path / "here"), tmp_path / "here")):
        done = subprocess.run(["cmake", "--install", BUILD, "--prefix", prefix], capture_output=True, text=True, env=env)
        assert done.returncode == 0, done.stderr
        env.pop("DESTDIR", None)
        model = top / "share" / "symlaw" / "models" / "small.safetensors"
        assert model.read_bytes() == SHIPPED.read_bytes() and model.stat().st_mode & 0o777 == 0o644
        r = subprocess.run([top / "bin" / "symlaw", "discover", KEPLER, *QUICK, "--json", "--quiet"], cwd=tmp_path,
                           env=BARE, capture_output=True, text=True)
        assert r.returncode == 0 and json.loads(r.stdout)["model"]["path"] == str(model), r


def test_no_path_of_the_source_is_in_the_program():
    if b"__asan_init" in Path(PROGRAM).read_bytes():
        pytest.skip("sanitizers keep names of source files")
    path = re.escape(str(ROOT / "models").encode())  # not share/symlaw/models, where the source is /symlaw
    assert not re.search(rb"(?<![\w./-])" + path, Path(PROGRAM).read_bytes())


# ---------------------------------------------------------------- the file itself

def test_the_shipped_model_is_as_in_its_readme():
    text = (ROOT / "models" / "README.md").read_text()
    r = run("discover", KEPLER, *QUICK, "--model", str(SHIPPED), "--json", "--quiet")
    assert r.code == 0 and r.json["model"]["hash"] in text and f"{r.json['model']['parameters']:,}" in text
    data = SHIPPED.read_bytes()
    size, = struct.unpack("<Q", data[:8])
    header = data[8:8 + size].decode()
    metadata = json.loads(header)["__metadata__"]
    assert metadata["kind"] == "model" and len(data) < 1e6
    assert "dirty" not in metadata["revision"]
    # operators have a slash, paths have a word behind theirs
    assert not re.search(r"/[A-Za-z]{2}", header), re.search(r".{20}/[A-Za-z]{2}.*", header)


def test_a_damaged_default_does_not_cost_what_the_search_has_found(tree, tmp_path):
    table = tmp_path / "noise.csv"
    table.write_text("a,b,y\n" + "".join(f"{i % 7},{i % 5},{(i * 7919) % 101}\n" for i in range(40)))
    tree.put(tree.best, b"no model at all")
    r = tree.call("discover", table, "--effort", "low")
    assert r.returncode == 0 and "the model was not used: " in r.stderr and "runs/best.safetensors" in r.stderr, r


def test_the_example_of_the_readme_works_at_once(tmp_path):
    """What the README shows first."""
    shown = [line[4:] for line in (ROOT / "README.md").read_text().splitlines() if line.startswith("    ")]
    for name in ("kepler", "energy"):
        r = run("discover", str(ROOT / "examples" / f"{name}.csv"), cwd=tmp_path, env=BARE)
        at = next(i for i, line in enumerate(shown) if line.startswith(f"$ symlaw discover examples/{name}.csv"))
        assert r.code == 0 and shown[at + 1] == r.lines[0], r
        for line in shown[at + 1:at + 1 + shown[at + 1:].index("...")]:
            if not line.startswith(("  by chance", "  found by")):  # the search may take other ways
                assert line in r.lines, (line, r)

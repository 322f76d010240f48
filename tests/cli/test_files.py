"""Files of the user: no input is replaced, and no special file blocks the program."""
import os
import stat
import subprocess

import pytest

from tool import PROGRAM, run

TRAIN = ["--width", "16", "--layers", "1", "--depth", "1", "--ops", "+,*", "--points", "8", "--batch", "4", "--lanes",
         "2", "--valid-pairs", "0", "--steps", "3", "--checkpoint-steps", "1", "--threads", "1"]
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


# ---------------------------------------------------------------- pipes and devices

def refused(*args, says="it is a pipe, not a file", timeout=30, **more):
    r = run(*map(str, args), timeout=timeout, **more)
    assert r.code == 3 and says in r.err, (args, r)
    return r


def copy_of(model, to):
    to.mkdir()
    for f in model.iterdir():
        (to / f.name).write_bytes(f.read_bytes())
    return to


@pytest.mark.parametrize("name", ["run.json", "log.jsonl", "model", "state"])
def test_a_pipe_in_place_of_a_runs_file_is_not_waited_for(model, table, tmp_path, name):
    folder = copy_of(model, tmp_path / "run")
    if name == "log.jsonl":  # a finished run has no more use for it
        for f in folder.glob("*-00000003.safetensors"):
            f.unlink()
    path = sorted(folder.glob(f"{name}*"))[-1]
    for f in folder.glob(f"{name}*"):  # without an older one to go on from
        f.unlink()
    os.mkfifo(path)
    r = run("train", "--resume", "--out", str(folder), *TRAIN, timeout=30)
    assert r.code in (2, 3) and "it is a pipe, not a file" in r.err, r
    if name in ("run.json", "log.jsonl"):
        refused("info", "--run", folder)
    if name == "model":
        refused("discover", table, "--model", folder)
        refused("eval", "--model", path)
        refused("info", "--model", path)
    assert stat.S_ISFIFO(path.stat().st_mode)


def test_a_device_is_no_model(table):
    for path in ("/dev/zero", "/dev/null"):
        refused("discover", table, "--model", path, says="it is a device, not a file")


def test_a_pipe_is_no_journal(model, pairs, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    refused("eval", "--model", model, "--pairs", pairs, "--journal", pipe, *FEW)
    assert run("eval", "--model", str(model), "--pairs", str(pairs), "--journal", "/dev/null", *FEW).code == 0
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_a_pipe_without_a_reader_is_refused(table, model, pairs, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    refused("pairs", "--index", "1", "--out", pipe, says="a pipe without a reader")
    refused("eval", "--model", model, "--pairs", pairs, "--predictions", pipe, *FEW, says="a pipe without a reader")


def shell(command, **more):
    return subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60, **more)


def test_outputs_that_are_no_files(table, model, pairs, tmp_path):
    """Written to as they are: neither replaced nor waited for."""
    env = {**os.environ, "S": PROGRAM, "M": str(model), "T": str(table), "P": str(pairs)}
    want = shell('"$S" pairs --index 1 --depth 1', env=env, cwd=tmp_path).stdout
    assert want
    for command in ('"$S" pairs --index 1 --depth 1 --out /dev/stdout', '"$S" pairs --index 1 --depth 1 --out >(cat)',
                    '"$S" pairs --index 1 --depth 1 --out /dev/stdout | cat', 'mkfifo p; cat p & "$S" pairs --index 1 --depth 1 --out p; wait',
                    '"$S" pairs --index 1 --depth 1 --out /dev/stdout > f; cat f'):
        r = shell(command + "; wait", env=env, cwd=tmp_path)
        assert r.returncode == 0 and r.stdout == want, (command, r)
    assert shell('"$S" pairs --index 1 --depth 1 --out /dev/null', env=env).returncode == 0
    # predictions come once, and nothing is kept beside a device
    r = shell('"$S" eval --model "$M" --pairs "$P" --samples 4 --seeds 1 --predictions >(cat >&2) > table; wait', env=env,
              cwd=tmp_path)
    assert r.returncode == 0 and '"id":1' in r.stderr, r
    assert shell('"$S" eval --model "$M" --pairs "$P" --samples 4 --predictions /dev/null', env=env).returncode == 0
    assert not os.path.exists("/dev/null.part") and stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_data_may_come_through_a_pipe(table, model, tmp_path):
    env = {**os.environ, "S": PROGRAM, "SYMLAW_MODEL": str(model), "T": str(table)}
    want = shell('"$S" discover "$T" --format python', env=env).stdout
    for command in ('"$S" discover - --format python < "$T"', '"$S" discover /dev/stdin --format python < "$T"',
                    'cat "$T" | "$S" discover /dev/stdin --format python', '"$S" discover <(cat "$T") --format python',
                    'mkfifo p; cat "$T" > p & "$S" discover p --format python'):
        r = shell(command, env=env, cwd=tmp_path)
        assert r.returncode == 0 and r.stdout == want, (command, r)


# ---------------------------------------------------------------- what killed processes left

def gone():
    p = subprocess.Popen(["true"])
    p.wait()
    return p.pid


def test_a_run_removes_what_killed_ones_left(model, tmp_path):
    folder = copy_of(model, tmp_path / "run")
    dead = [f"{name}.tmp-{gone()}" for name in ("run.json", "log.jsonl", "model-00000009.safetensors",
                                                 "state-00000009.safetensors")]
    others = [f"notes.tmp-{gone()}", f"run.json.tmp-{os.getpid()}", f"state-00000009.safetensors.tmp-{os.getpid()}",
              f"model-00000009.safetensors.tmp-00000000-{gone()}", "run.json.tmp-x"]
    for name in dead + others:
        (folder / name).write_text("half of it")
    assert run("train", "--resume", "--out", str(folder), *TRAIN).code == 0
    left = {f.name for f in folder.iterdir()}
    assert not left & set(dead) and set(others) <= left, left

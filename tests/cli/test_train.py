"""symlaw train: the same bits however it is run, stopped, killed and resumed; signals, full disks, damaged files."""
import json
import os
import random
import re
import resource
import shutil
import signal
import struct
import subprocess
import time
from pathlib import Path

import pytest

from tool import PROGRAM, run, wait_for_work

STEPS = 60
MODEL = ["--width", "16", "--layers", "1", "--depth", "1", "--points", "8", "--batch", "16"]
SHORT = [*MODEL, "--steps", str(STEPS), "--valid-pairs", "40"]
LONG = [*MODEL, "--steps", "100000", "--valid-pairs", "40", "--valid-steps", "1000"]  # minutes, unless stopped
TIMES = ("seconds", "pairs_per_second", "gflops")
MPI = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def train(*args, **more):
    return run("train", *map(str, args), **more)


def tensors(path):
    """{name: bytes} of a safetensors file, read by the format's description alone."""
    data = Path(path).read_bytes()
    n = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + n])
    header.pop("__metadata__")
    return {k: data[8 + n + v["data_offsets"][0]:8 + n + v["data_offsets"][1]] for k, v in header.items()}


def log(folder):
    """Lines of the log without the fields that hold times."""
    lines = [json.loads(x) for x in (Path(folder) / "log.jsonl").read_text().splitlines()]
    for x in lines:
        for name in TIMES:
            x.pop(name, None)
    return lines


def outcome(folder, steps=STEPS):
    """All that must be the same for every way to run."""
    name = f"{steps:08d}.safetensors"
    return (tensors(Path(folder) / f"model-{name}"), tensors(Path(folder) / f"state-{name}"), log(folder),
            json.loads((Path(folder) / "run.json").read_text()))


def same(a, b):
    """Not one comparison: a failure shows what differs."""
    assert a[0].keys() == b[0].keys() and a[1].keys() == b[1].keys()
    for part in (0, 1):
        assert [k for k in a[part] if a[part][k] != b[part][k]] == []
    assert a[2] == b[2]
    drop = ("checkpoint-steps", "checkpoint-minutes")
    assert {k: v for k, v in a[3].items() if k not in drop} == {k: v for k, v in b[3].items() if k not in drop}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """An uninterrupted run on one thread: folder and result."""
    folder = tmp_path_factory.mktemp("whole") / "run"
    r = train(*SHORT, "--threads", 1, "--json", "--out", folder)
    assert r.code == 0, r
    return folder, r.json, r.err


def test_weights_seed_changes_weights_and_not_the_data(whole, tmp_path):
    folders = {}
    for name, seeds in {"other": (0, 7), "same": (0, 0), "data": (7, 0)}.items():
        folders[name] = tmp_path / name
        r = train(*SHORT, "--json", "--seed", seeds[0], "--weights-seed", seeds[1], "--out", folders[name])
        assert r.code == 0, r
    model = f"model-{STEPS:08d}.safetensors"
    data = {name: json.loads((f / "run.json").read_text())["run"]["pairs"]
            for name, f in {**folders, "whole": whole[0]}.items()}
    assert data["other"] == data["same"] == data["whole"] != data["data"]
    weights = {name: tensors(f / model) for name, f in {**folders, "whole": whole[0]}.items()}
    assert weights["same"] == weights["whole"]  # 0 is the default of --seed
    assert weights["other"] != weights["whole"] != weights["data"]


def start(*args, **more):
    return subprocess.Popen([PROGRAM, "train", *map(str, args)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True, **more)


def wait_for_steps(folder, least, process):
    """Until the log has a line of that many steps."""
    for _ in range(3000):
        path = Path(folder) / "log.jsonl"
        if path.exists() and any(json.loads(x).get("step", 0) >= least
                                 for x in path.read_text().splitlines() if x.endswith("}")):
            return
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    raise AssertionError("it does not get on")


# ---------------------------------------------------------------- a run

def test_a_run_leaves_its_files_and_reports_its_figures(whole):
    folder, j, notes = whole
    assert sorted(os.listdir(folder)) == ["log.jsonl", f"model-{STEPS:08d}.safetensors", "run.json",
                                          f"state-{STEPS:08d}.safetensors"]
    assert j["exit"] == 0 and j["step"] == j["plan"]["steps"] == STEPS and j["resumed_at"] is None
    assert j["checkpoint"] == str(folder / f"model-{STEPS:08d}.safetensors")
    assert 0 < j["loss"] < 5 and 0 < j["loss_valid"] < 5
    assert j["loss_expression"] > j["loss"] and j["plan"]["flops"] == pytest.approx(j["flops"], rel=0.1)
    assert j["peak_bytes"] <= 1.3 * j["plan"]["memory"]["total"]  # of 2 MB, where small things count
    assert 0 < j["entropy"]["bases"] < j["entropy"]["expressions"] < j["entropy"]["draws"]
    for word in ("parameters", "FLOPs", "memory", "nats per expression"):  # reported before it began
        assert word in notes

    steps = [x for x in log(folder) if x["event"] == "step"]
    assert [x["step"] for x in steps] == list(range(1, STEPS + 1))
    assert all({"loss", "lr", "grad_norm"} <= x.keys() for x in steps)
    assert steps[-1]["loss"] < steps[0]["loss"]
    assert any(x["event"] == "valid" for x in log(folder))

    config = json.loads((folder / "run.json").read_text())
    assert config["width"] == 16 and config["batch"] == 16 and config["set-size"] == 100000
    assert not {"threads", "out", "resume", "json", "quiet"} & config.keys()


def test_people_get_a_table(tmp_path):
    r = train(*SHORT, "--out", tmp_path / "deep" / "run")  # folders above are made too
    assert r.code == 0
    for word in ("checkpoint", "steps", "loss", "validation", "time", "memory"):
        assert any(x.split()[0] == word for x in r.lines), word
    assert train(*SHORT, "--steps", "2", "--quiet", "--out", tmp_path / "b").err == ""


def test_a_size_by_name_is_its_width_and_layers(tmp_path):
    args = ["--depth", 1, "--points", 4, "--batch", 2, "--steps", 1, "--valid-pairs", 0, "--lanes", 2]
    assert train("--size", "micro", *args, "--out", tmp_path / "a").code == 0
    assert train("--width", 64, "--layers", 2, *args, "--out", tmp_path / "b").code == 0
    same(outcome(tmp_path / "a", 1), outcome(tmp_path / "b", 1))
    r = train("--resume", "--size", "micro", "--out", tmp_path / "b")
    assert r.code == 0  # agrees, and is finished
    r = train("--resume", "--size", "mini", "--out", tmp_path / "b")
    assert r.code == 2 and "--width is 128" in r.err and "has 64" in r.err


def test_the_set_is_that_of_expressions(tmp_path):
    """The set of --set-size is the one that `expressions` lists."""
    for size in ("7", "12"):
        r = train("--width", 8, "--layers", 1, "--depth", 1, "--points", 4, "--batch", 2, "--steps", 1, "--lanes", 1,
                  "--valid-pairs", 0, "--set-size", size, "--out", tmp_path / size)
        assert r.code == 0, r
        there = run("expressions", "--depth", "1", "--set-size", size, "--count-only", "--json").json
        assert json.loads((tmp_path / size / "run.json").read_text())["run"]["universe"] == there["hash"]
        assert there["size"] == int(size)


def test_ctrl_c_while_the_set_is_built_leaves_no_run(tmp_path):
    p = start("--depth", 3, "--set-size", 0, "--size", "micro", "--steps", 5, "--out", tmp_path / "run")
    wait_for_work(p, 0.7)
    p.send_signal(signal.SIGINT)
    _, err = p.communicate(timeout=60)
    assert p.returncode == 130 and "interrupted" in err
    assert not (tmp_path / "run" / "run.json").exists()


# ---------------------------------------------------------------- the same bits

@pytest.mark.parametrize("threads", [2, 3])
def test_threads_change_nothing(threads, whole, tmp_path):
    r = train(*SHORT, "--threads", threads, "--out", tmp_path)
    assert r.code == 0, r
    same(outcome(tmp_path), outcome(whole[0]))


def test_other_seeds_are_other_runs(whole, tmp_path):
    assert train(*SHORT, "--seed", 1, "--out", tmp_path).code == 0
    assert outcome(tmp_path)[0] != outcome(whole[0])[0]


def mpirun(n, *args, timeout=300):
    return subprocess.run(["mpirun", "--oversubscribe", "-n", str(n), PROGRAM, *map(str, args)], env=MPI, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
                          timeout=timeout)


def ranks_work():
    """Is there an mpirun, and a build that has several ranks? A command for one process refuses them."""
    if not shutil.which("mpirun"):
        return False
    return "not as 2" in mpirun(2, "expressions", "--canon", "x1").stderr


several = pytest.mark.skipif(not ranks_work(), reason="no mpirun, or a build without MPI")


@several
@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_ranks_change_nothing_and_one_prints(ranks, whole, tmp_path):
    done = mpirun(ranks, "train", *SHORT, "--threads", 1, "--json", "--out", tmp_path)
    assert done.returncode == 0, done
    assert json.loads(done.stdout)["step"] == STEPS  # one object: the other ranks are silent
    assert done.stderr.count("parameters") == 1
    same(outcome(tmp_path), outcome(whole[0]))


@several
def test_a_mistake_is_reported_once_by_several_ranks(tmp_path):
    for args, says in ((["train", "--width", "20", "--out", tmp_path], "width"),
                       (["train", "--wide", "20"], "unknown option --wide"),
                       (["pairs", "--count", "1"], "runs as one process, not as 2")):
        done = mpirun(2, *args)
        assert done.returncode == 2 and done.stdout == ""
        assert len([x for x in done.stderr.splitlines() if x.startswith("symlaw: ") and says in x]) == 1, done
    done = mpirun(3, "train", *SHORT, "--out", tmp_path / "run")
    assert done.returncode == 2 and done.stderr.count("power of two") == 1


@several
def test_several_ranks_stop_together_and_any_number_goes_on(tmp_path):
    def start_ranks(n, *args):
        return subprocess.Popen(["mpirun", "--oversubscribe", "-n", str(n), PROGRAM, "train", *args, "--out",
                                 str(tmp_path)], env=MPI, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    p = start_ranks(2, *LONG, "--log-steps", "1", "--threads", "1")
    wait_for_steps(tmp_path, 20, p)
    p.send_signal(signal.SIGTERM)  # mpirun hands it on to all of them
    _, err = p.communicate(timeout=60)
    assert p.returncode != 0 and err.count("is saved") == 1, err
    saved = run("info", "--run", str(tmp_path), "--json").json["saved"]
    assert saved >= 20

    p = start_ranks(4, "--resume", "--threads", "1")
    wait_for_steps(tmp_path, saved + 5, p)
    p.send_signal(signal.SIGTERM)
    _, err = p.communicate(timeout=60)
    assert err.count(f"resumed at step {saved}") == 1, err


# ---------------------------------------------------------------- stopped

@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_saves_and_prints_how_to_resume(number, code, tmp_path):
    folder = tmp_path / "my run"
    p = start(*LONG, "--log-steps", 1, "--out", folder)
    wait_for_steps(folder, 20, p)
    p.send_signal(number)
    _, err = p.communicate(timeout=60)
    assert p.returncode == code
    last = [x for x in err.splitlines() if "interrupted" in x][-1]
    assert f"symlaw train --resume --out '{folder}'" in last  # as it can be typed
    saved = run("info", "--run", str(folder), "--json").json["saved"]
    assert f"step {saved} of 100000 is saved" in last and saved >= 20

    # and on it goes from there
    p = start("--resume", "--out", folder)
    wait_for_steps(folder, saved + 20, p)
    p.send_signal(signal.SIGINT)
    _, err = p.communicate(timeout=60)
    assert p.returncode == 130 and f"resumed at step {saved}" in err
    assert [x["step"] for x in log(folder) if x["event"] == "step"] == \
        list(range(1, run("info", "--run", str(folder), "--json").json["saved"] + 1))


def test_a_run_killed_at_any_moment_ends_the_same(whole, tmp_path):
    """Ten times SIGKILL; the last one goes through to the end."""
    rng = random.Random(7)
    for kill in range(10):
        p = start(*(SHORT if kill == 0 else []), "--resume", "--threads", rng.choice([1, 2]),
                  "--checkpoint-steps", 3, "--out", tmp_path)
        if kill == 0:
            wait_for_steps(tmp_path, 5, p)
        else:
            time.sleep(rng.uniform(0, 0.25))
        p.kill()
        p.communicate()
        assert (tmp_path / "run.json").exists()
    r = train("--resume", "--threads", 2, "--out", tmp_path, "--json")
    assert r.code == 0, r
    same(outcome(tmp_path), outcome(whole[0]))
    assert not [x for x in os.listdir(tmp_path) if ".tmp" in x]


def test_resume_without_a_run_starts_one(whole, tmp_path):
    r = train("--resume", *SHORT, "--threads", 2, "--out", tmp_path / "new")
    assert r.code == 0 and "has no run to resume: one begins" in r.err
    same(outcome(tmp_path / "new"), outcome(whole[0]))
    for path in (tmp_path / "new").glob("*.safetensors"):
        path.unlink()
    r = train("--resume", "--threads", 2, "--out", tmp_path / "new")
    assert r.code == 0 and "has no checkpoint: the run begins again at its first step" in r.err
    same(outcome(tmp_path / "new"), outcome(whole[0]))


@pytest.mark.parametrize("args", [[], ["--steps", "5"], ["--size", "micro"], ["--width", "16", "--steps", "5"],
                                  ["--layers", "1", "--ratio", "1"], ["--width", "16", "--layers", "1"]])
def test_a_mistyped_folder_begins_no_run(args, tmp_path):
    """A new run under --resume needs both a size and a length."""
    for folder in ("TYPO", "empty", "other"):
        if folder != "TYPO":
            (tmp_path / folder).mkdir()
        if folder == "other":
            (tmp_path / folder / "notes.txt").touch()
        r = train("--resume", *args, "--depth", "1", "--out", tmp_path / folder)
        assert r.code == 2 and f"{tmp_path / folder} has no run to resume" in r.err, r
        for word in ("--size", "--width and --layers", "--steps, --ratio or --flops"):
            assert word in r.err, r
    assert sorted(x.name for x in tmp_path.rglob("*")) == ["empty", "notes.txt", "other"]


@pytest.mark.parametrize("size", [["--size", "micro"], ["--width", "8", "--layers", "1"]])
@pytest.mark.parametrize("length", [["--steps", "1"], ["--flops", "1e3"], ["--ratio", "1e-6"]])
def test_a_size_and_a_length_begin_one(size, length, tmp_path):
    r = train("--resume", *size, *length, "--depth", "1", "--points", "4", "--batch", "2", "--valid-pairs", "0",
              "--out", tmp_path / "new")
    assert r.code == 0 and r.out.split("steps")[1].split()[0] == "1", r


def test_a_lost_configuration_is_in_the_checkpoint(whole, tmp_path):
    assert train(*SHORT, "--threads", 2, "--checkpoint-steps", 40, "--out", tmp_path).code == 0
    for path in [tmp_path / "run.json", *tmp_path.glob(f"*-{STEPS:08d}.safetensors")]:
        path.unlink()
    r = train("--resume", "--threads", 2, "--out", tmp_path)
    assert r.code == 0 and "resumed at step 40" in r.err, r
    same(outcome(tmp_path), outcome(whole[0]))


def test_a_damaged_configuration_is_named(tmp_path):
    assert train(*SHORT, "--out", tmp_path).code == 0
    config = json.loads((tmp_path / "run.json").read_text())
    (tmp_path / "run.json").write_text(json.dumps(config | {"batch": -3}))
    r = train("--resume", "--out", tmp_path)
    assert r.code == 2 and f"the run in {tmp_path} is damaged: --batch" in r.err, r


def test_a_finished_run_is_finished(whole):
    before = outcome(whole[0])
    r = train("--resume", "--out", whole[0], "--json")
    assert r.code == 0 and r.json["step"] == STEPS and r.json["resumed_at"] == STEPS
    assert "nothing is left to do" in r.err
    same(outcome(whole[0]), before)


@pytest.mark.parametrize("args, says", [
    (["--batch", "32"], "--batch is 32, but the run in"),
    (["--lr", "0.001"], "--lr is 0.001, but the run in"),
    (["--optimizer", "adam"], '--optimizer is "adam", but the run in'),
    (["--set-size", "5"], "--set-size is 5"),
    (["--seed", "3"], "--seed is 3"),
    (["--steps", "61"], "has 60"),
])
def test_a_run_goes_on_as_it_was_begun(args, says, whole):
    r = train("--resume", "--out", whole[0], *args)
    assert r.code == 2 and says in r.err, r


def test_what_does_not_matter_may_change(whole):
    r = train("--resume", "--out", whole[0], "--threads", 2, "--quiet", "--checkpoint-steps", 7,
              "--checkpoint-minutes", 1, "--max-memory", 3, "--batch", 16)
    assert r.code == 0 and r.err == "", r


# ---------------------------------------------------------------- what goes wrong

@pytest.mark.parametrize("args, says", [
    ([], "--out DIR"),
    (["--resume"], "--out DIR"),
    (["--out", ""], "--out DIR"),
    (["--size", "7M", "--out", "x"], "--size must be one of 6.5M, 13.5M, 24M, 45.5M, 93M, mini, micro"),
    (["--set-siz", "7", "--out", "x"], "did you mean --set-size?"),
    (["--size", "6.5M", "--width", "128", "--out", "x"], "--size 6.5M has --width 256, not 128"),
    (["--width", "20", "--out", "x"], "width"),
    (["--steps", "5", "--ratio", "5", "--out", "x"], "ratio"),
    (["--lanes", "6", "--out", "x"], "power of two"),
    (["--beta1", "1", "--out", "x"], "--beta1 must be"),
    (["--points", "1", "--out", "x"], "--points must be"),
    (["--max-memory", "0.001", "--out", "x"], "--max-memory allows 0.001"),
])
def test_wrong_options_cost_no_waiting_and_leave_nothing(args, says, tmp_path):
    r = train(*args, cwd=tmp_path)
    assert r.code == 2 and says in r.err, r
    assert os.listdir(tmp_path) == []


def test_a_folder_with_a_run_is_not_taken_for_another(whole, tmp_path):
    before = outcome(whole[0])
    r = train(*SHORT, "--out", whole[0])
    assert r.code == 2 and "has a run already" in r.err and "--resume" in r.err
    same(outcome(whole[0]), before)
    (tmp_path / "file").touch()
    r = train(*SHORT, "--out", tmp_path / "file")
    assert r.code == 3 and str(tmp_path / "file") in r.err
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.txt").touch()  # what is not a run does no harm
    assert train(*SHORT, "--steps", 2, "--out", tmp_path / "other").code == 0


def test_two_processes_do_not_share_a_folder(tmp_path):
    p = start(*LONG, "--out", tmp_path)
    wait_for_steps(tmp_path, 100, p)
    r = train("--resume", "--out", tmp_path)
    p.send_signal(signal.SIGINT)
    p.communicate(timeout=60)
    assert r.code == 2 and "another process" in r.err


def copy(folder, to):
    shutil.copytree(folder, to)
    return to


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """A run that was killed, with two checkpoints."""
    for _ in range(20):  # a kill while it saves leaves three, or a temporary
        folder = tmp_path_factory.mktemp("two") / "run"
        p = start(*SHORT, "--checkpoint-steps", 10, "--out", folder)
        wait_for_steps(folder, 35, p)
        p.kill()
        p.communicate()
        names = sorted(x for x in os.listdir(folder) if x.endswith(".safetensors"))
        if len(names) == 4 and not [x for x in os.listdir(folder) if ".tmp" in x]:
            return folder, [int(x[6:14]) for x in names[:2]]
    raise AssertionError(names)


@pytest.mark.parametrize("kind", ["model", "state"])
@pytest.mark.parametrize("damage", ["flip", "cut", "gone"])
def test_a_damaged_checkpoint_is_passed_over(kind, damage, two, whole, tmp_path):
    folder, (older, newer) = copy(two[0], tmp_path / "run"), two[1]
    path = folder / f"{kind}-{newer:08d}.safetensors"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data if damage == "flip" else data[:len(data) // 2])
    if damage == "gone":
        path.unlink()
    r = train("--resume", "--out", folder)
    assert r.code == 0, r
    if not (damage == "gone" and kind == "model"):
        assert path.name in r.err or damage == "gone", r
    assert f"resumed at step {older}" in r.err
    same(outcome(folder), outcome(whole[0]))


def test_no_whole_checkpoint_is_an_error(two, tmp_path):
    folder = copy(two[0], tmp_path / "run")
    for path in folder.glob("*.safetensors"):
        path.write_bytes(path.read_bytes()[:-1])
    r = train("--resume", "--out", folder)
    assert r.code == 2 and "safetensors" in r.err


def test_a_full_disk_is_named_and_the_checkpoint_before_is_good(two, whole, tmp_path):
    """No file may grow past what the weights need: the larger state cannot be written."""
    folder = copy(two[0], tmp_path / "run")
    limit = (folder / f"state-{two[1][0]:08d}.safetensors").stat().st_size // 2
    def full():
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    r = train("--resume", "--out", folder, preexec_fn=full)
    assert r.code == 3 and "File too large" in r.err and f"checkpoint of step {two[1][1]} is kept" in r.err, r
    assert not [x for x in os.listdir(folder) if ".tmp" in x]
    assert train("--resume", "--out", folder).code == 0
    same(outcome(folder), outcome(whole[0]))


def test_a_full_file_system(two, whole, tmp_path):
    """A file system of its own that is too small for a third checkpoint."""
    place = tmp_path / "small"
    place.mkdir()
    size = sum(x.stat().st_size for x in two[0].iterdir()) + 60_000
    if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", place], capture_output=True).returncode:
        pytest.skip("no file systems can be mounted here")
    try:
        folder = copy(two[0], place / "run")
        r = train("--resume", "--out", folder)
        assert r.code == 3 and "No space left" in r.err and "is kept" in r.err, r
        kept = copy(folder, tmp_path / "kept")
    finally:
        subprocess.run(["umount", place], check=True)
    assert train("--resume", "--out", kept).code == 0
    same(outcome(kept), outcome(whole[0]))


def test_a_run_that_diverges_is_reported(tmp_path):
    """Each step multiplies the weights by -10,000."""
    r = train(*SHORT, "--lr", 1000, "--weight-decay", 10, "--optimizer", "adamw", "--checkpoint-steps", 2,
              "--out", tmp_path)
    assert r.code == 2 and "not finite" in r.err and "a lower learning rate (--lr)" in r.err, r
    kept = run("info", "--run", str(tmp_path), "--json").json["saved"]
    assert f"the checkpoint of step {kept} is kept" in r.err and kept > 0


# ---------------------------------------------------------------- progress

def test_a_log_gets_plain_lines_with_figures(tmp_path):
    p = start(*LONG, "--out", tmp_path)
    line = next(x for x in p.stderr if x.startswith("symlaw: training, "))  # after five seconds
    p.send_signal(signal.SIGINT)
    p.communicate(timeout=60)
    for word in (" %, ", " left, step ", "/100000, loss ", "pairs/s", "GFLOP/s"):
        assert word in line, line
    share = re.search(r"GFLOP/s, (\S+) of peak", line)  # left out where it makes no sense
    assert share is None or 0 <= float(share[1]) <= 1

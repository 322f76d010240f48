"""Processes started by mpirun: a signal to any of them makes all save and stop, and the run can be resumed."""
import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from test_train import MPI, log, outcome, ranks_work, same
from tool import PROGRAM, run

pytestmark = pytest.mark.skipif(not ranks_work(), reason="no mpirun, or a build without MPI")

STEPS = 160
# a step takes long enough for most requests to come in the middle of one
RUN = ["--width", "128", "--layers", "1", "--depth", "1", "--points", "32", "--batch", "32", "--lanes", "4",
       "--steps", str(STEPS), "--valid-pairs", "100", "--valid-steps", "30", "--log-steps", "1"]


started = []


def start(ranks, target, *args):
    """target: the process that gets the signal. If it is not mpirun, that need not sleep two seconds on its way out."""
    env = MPI if target == "launcher" else {**MPI, "OMPI_MCA_odls_base_sigkill_timeout": "0"}
    p = subprocess.Popen(["mpirun", "--oversubscribe", "-n", str(ranks), PROGRAM, "train", *map(str, args),
                          "--threads", "1"], env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    started.append(p)
    return p


@pytest.fixture(autouse=True)
def none_is_left():
    yield
    for p in started:
        if p.poll() is None:
            for pid in [*processes(p).values(), p.pid]:
                os.kill(pid, signal.SIGKILL)
            p.communicate()
    started.clear()


def processes(launcher):
    """{rank: process} of what a launcher has started."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1])
            marks = [x for x in (folder / "environ").read_bytes().split(b"\0") if b"OMPI_COMM_WORLD_RANK=" in x]
        except (OSError, IndexError):
            continue
        if parent == launcher.pid and marks:
            found[int(marks[0].split(b"=")[1])] = int(folder.name)
    return found


def steps_done(folder):
    path = Path(folder) / "log.jsonl"
    lines = path.read_text().splitlines() if path.exists() else []
    return max((json.loads(x)["step"] for x in lines if x.endswith("}")), default=0)


def wait_for(condition, process):
    for _ in range(6000):
        if condition():
            return
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    raise AssertionError("it does not get on")


def saved_step(folder):
    return max((int(x.name[6:14]) for x in Path(folder).glob("model-????????.safetensors")), default=-1)


def stop(process, ranks, target, number, twice=False):
    """Sends a signal to the launcher or to a rank; what is said on standard error once all have ended."""
    there = processes(process)
    assert len(there) == ranks
    pid = process.pid if target == "launcher" else there[target]
    os.kill(pid, number)
    if twice:  # as a terminal, a launcher and a batch system may all pass on one request
        time.sleep(0.1)
        if pid in processes(process).values():  # it may have ended by now
            os.kill(pid, number)
    _, err = process.communicate(timeout=120)
    for _ in range(1000):
        left = [x for x in there.values() if os.path.exists(f"/proc/{x}")]
        if not left:
            break
        time.sleep(0.01)
    assert not left, err
    return err


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole") / "run"
    done = run("train", *RUN, "--threads", "1", "--out", str(folder), timeout=600)
    assert done.code == 0, done
    return folder


STOPS = [  # ranks, target, signal, twice
    (2, 1, signal.SIGTERM, False), (4, 3, signal.SIGINT, True), (1, 0, signal.SIGTERM, False),
    (2, 0, signal.SIGINT, True), (4, 1, signal.SIGTERM, True), (2, "launcher", signal.SIGINT, False),
    (4, "launcher", signal.SIGTERM, False), (1, "launcher", signal.SIGINT, False)]


def test_a_signal_to_any_rank_stops_all_and_the_run_ends_the_same(whole, tmp_path):
    """One run that is stopped again and again, and resumed by another number of ranks each time."""
    saved, stops = -1, 0
    for ranks, target, number, twice in STOPS:
        p = start(ranks, target, *(RUN if saved < 0 else []), "--resume", "--out", tmp_path)
        wait_for(lambda: steps_done(tmp_path) > max(saved, 0), p)
        err = stop(p, ranks, target, number, twice)
        last = saved_step(tmp_path)
        assert last > saved, (ranks, target, number, err)
        if last == STEPS:  # mpirun passes a signal on after a second: a fast machine is done by then
            break
        assert p.returncode != 0, err
        assert err.count(f"step {last} of {STEPS} is saved") == 1, err
        assert not list(tmp_path.glob("*.tmp-*"))
        saved, stops = last, stops + 1
    assert stops >= 1
    done = run("train", "--resume", "--threads", "1", "--out", str(tmp_path), timeout=600)
    assert done.code == 0, done
    same(outcome(tmp_path, STEPS), outcome(whole, STEPS))


@pytest.mark.parametrize("ranks, target", [(1, 0), (2, 1), (4, 2), (2, "launcher")])
def test_small_models_stop_too(ranks, target, tmp_path):
    p = start(ranks, target, "--width", 16, "--layers", 1, "--depth", 1, "--points", 8, "--batch", 16, "--steps", 1000000,
              "--valid-pairs", 40, "--valid-steps", 50, "--log-steps", 1, "--out", tmp_path)
    wait_for(lambda: steps_done(tmp_path) > 10, p)
    err = stop(p, ranks, target, signal.SIGTERM)
    assert p.returncode != 0 and saved_step(tmp_path) > 10, err
    steps = [x["step"] for x in log(tmp_path) if x["event"] == "step"]
    assert steps == list(range(1, len(steps) + 1)) and saved_step(tmp_path) <= len(steps)


def test_a_rank_that_waits_for_the_set_is_heard(tmp_path):
    """Rank 0 builds the set of expressions, for seconds; rank 1, which waits for it, is asked."""
    p = start(2, 1, "--depth", 3, "--set-size", 0, "--size", "micro", "--steps", 5, "--out", tmp_path / "run")
    wait_for(lambda: (tmp_path / "run").exists(), p)
    err = stop(p, 2, 1, signal.SIGTERM)
    assert p.returncode == 130 and "interrupted" in err and not (tmp_path / "run" / "run.json").exists()

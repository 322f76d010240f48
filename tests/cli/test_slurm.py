"""--engine slurm with a real Slurm of one node, which tools/slurm_one_node starts for these tests alone."""
import csv
import json
import math
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

from tool import PROGRAM, Done

TOOL = Path(__file__).parents[2] / "tools" / "slurm_one_node"
MISSING = [p for p in ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scontrol", "scancel", "srun")
           if not shutil.which(p, path=os.environ["PATH"] + ":/usr/sbin:/sbin")]
NO_CGROUPS = not os.path.ismount("/sys/fs/cgroup")  # slurmd does not start without
pytestmark = [pytest.mark.skipif(bool(MISSING), reason=f"no {' '.join(MISSING)}: apt-get install slurm-wlm munge"),
              pytest.mark.skipif(NO_CGROUPS, reason="/sys/fs/cgroup is not mounted")]

TRAIN = {"depth": 1, "points": 8, "dropout": 0, "attention-dropout": 0, "valid-pairs": 100}
TINY = {"name": "tiny", "train": TRAIN, "sizes": [{"width": 8, "layers": 1, "heads": 1}, {"width": 16, "layers": 1}],
        "sweep": {"ratio": 5, "batch": [16], "lr": [0.004, 0.008], "seeds": [0], "grow": 0},
        "scale": {"ratios": [5, 10], "seeds": [0]}, "eval": {"test": {"limit": 20, "samples": 8, "seeds": 1}}}


def alive(pid):
    """Has it a program? What nobody waits for has none."""
    try:
        return bool(os.readlink(f"/proc/{pid}/exe"))
    except OSError:
        return False


@pytest.fixture(scope="module")
def slurm():
    """The environment in which Slurm's commands reach it. The folder is short: it holds a socket."""
    folder = Path(tempfile.mkdtemp(prefix="symlaw-slurm-", dir="/tmp"))
    env = {**os.environ, "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin"}
    env = {k: v for k, v in env.items() if not k.startswith(("SLURM_", "SBATCH_"))}

    def processes():
        pids = {p.name: int(p.read_text()) for p in folder.glob("*.pid")}
        return {name: pid for name, pid in pids.items() if alive(pid)}
    seen = []
    try:
        for _ in range(2):  # a second start changes nothing
            done = subprocess.run([TOOL, "start", folder], env=env, text=True, capture_output=True, timeout=60)
            assert done.returncode == 0, done.stderr
            seen.append(processes())
        assert len(seen[0]) == 3 and seen[0] == seen[1], seen
        assert done.stdout == f"export SLURM_CONF={folder}/slurm.conf\n"
        yield {**env, "SLURM_CONF": f"{folder}/slurm.conf"}
    finally:
        for _ in range(2):
            subprocess.run([TOOL, "stop", folder], env=env, check=True, timeout=60)
        left = [pid for pids in seen for pid in pids.values() if alive(pid)]
        shutil.rmtree(folder)
    assert not left, "processes of Slurm are left"


def study(env, *args, timeout=200):
    return Done(subprocess.run([PROGRAM, "study", *map(str, args)], env=env, text=True, capture_output=True,
                               stdin=subprocess.DEVNULL, timeout=timeout))


def plan_file(folder, plan):
    path = folder / "plan.json"
    path.write_text(json.dumps(plan))
    return path


def table(folder):
    """runs.csv without what depends on how it was run."""
    with open(folder / "runs.csv", newline="") as f:
        return [{k: v for k, v in row.items() if not k.startswith("seconds_")} for row in csv.DictReader(f)]


def cpu_seconds(folder):
    with open(folder / "runs.csv", newline="") as f:
        return sum(float(row["seconds_train_cpu"]) for row in csv.DictReader(f))


def ask(env, *words):
    return subprocess.run(words, env=env, text=True, capture_output=True, timeout=60).stdout


def logs(folder):
    return "".join(p.read_text() for p in sorted((folder / "slurm").glob("worker-*.log")))


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """A plan, and its table by the engine local."""
    folder = tmp_path_factory.mktemp("tiny")
    plan = plan_file(folder, TINY)
    done = study(None, "run", plan, "--out", folder / "local", "--workers", 1)
    assert done.code == 0, done
    assert len(table(folder / "local")) == 6
    return plan, table(folder / "local")


def test_jobs_come_to_the_table_of_local(slurm, tiny, tmp_path):
    plan, expected = tiny
    folder = tmp_path / "it's 100%j $HOME"
    done = study(slurm, "run", plan, "--out", folder, "--engine", "slurm", "--workers", 2, "--partition", "all",
                 "--sbatch", "--comment=none --nice=1")
    assert done.code == 0, (done, logs(folder))
    assert table(folder) == expected
    job = (folder / "slurm" / "job").read_text().strip()
    assert f"job {job}: 2 workers submitted" in done.err
    assert sorted(p.name for p in (folder / "slurm").glob("worker-*")) == [
        f"worker-{job}_{i}.log" for i in range(2)]
    again = study(slurm, "run", folder, "--engine", "slurm")
    assert again.code == 0 and "submitted" not in again.err, again  # it is complete: there is no job for it
    assert (folder / "slurm" / "job").read_text().strip() == job


def test_ranks_are_started_by_srun(slurm, tmp_path):
    if "pmix" not in ask(slurm, "srun", "--mpi=list"):
        pytest.skip("this Slurm has no pmix")
    few = {**TINY, "sizes": TINY["sizes"][:1], "scale": {"ratios": [5], "seeds": [0]}}
    plan = plan_file(tmp_path, few)
    done = study(None, "run", plan, "--out", tmp_path / "local", "--workers", 1)
    assert done.code == 0, done
    folder = tmp_path / "study"
    env = {**slurm, "OMPI_MCA_mpi_yield_when_idle": "1"}  # there may be fewer cores than ranks
    done = study(env, "run", plan, "--out", folder, "--engine", "slurm", "--workers", 1, "--tasks-per-node", 2,
                 "--cpus-per-task", 1)
    assert done.code == 0, (done, logs(folder))
    assert table(folder) == table(tmp_path / "local")
    results = [json.loads(p.read_text()) for p in folder.glob("runs/*/result.json")]
    assert len(results) == 2
    assert {r["ranks"] for r in results} == {2} and {r["threads"] for r in results} == {1}, results


def test_refusals_are_clear(slurm, tiny, tmp_path):
    plan, _ = tiny
    done = study(slurm, "run", plan, "--out", tmp_path / "a", "--engine", "slurm", "--partition", "nowhere")
    assert done.code == 3 and "invalid partition specified: nowhere" in done.err, done
    done = study({**slurm, "PATH": "/nonexistent"}, "run", plan, "--out", tmp_path / "b", "--engine", "slurm")
    assert done.code == 3 and "no squeue in PATH" in done.err and "--engine local" in done.err, done
    done = study(slurm, "run", plan, "--out", tmp_path / "c", "--engine", "slurm", "--time-limit", 9)
    assert done.code == 2 and "--time" in done.err, done
    done = study(slurm, "run", plan, "--out", tmp_path / "d", "--engine", "slurm", "--dry-run")
    assert done.code == 0 and "#SBATCH --array=0-3\n" in done.out and "\nsbatch --parsable " in done.out, done
    assert not (tmp_path / "d").exists()


# ---------------------------------------------------------------- time limit, requeue, scancel

ONE = {"name": "one", "train": TRAIN, "sizes": [{"width": 16, "layers": 1}],
       "sweep": {"ratio": 10, "batch": [16], "lr": [0.004], "seeds": [0]}, "scale": {"ratios": [10], "seeds": [0]}}
MARGIN, WORK = 55, 12  # seconds: a minute is the shortest limit of Slurm; work of one core


def start(env, *args):
    return subprocess.Popen([PROGRAM, "study", *map(str, args)], env=env, text=True, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def wait_for(what, seconds=90):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if what():
            return
        time.sleep(0.05)
    raise AssertionError("it does not happen")


def saved_step(folder):
    return max(int(p.name.split("-")[1].split(".")[0]) for p in folder.glob("runs/*/state-*"))


def steps(folder):
    """Those that have a line in the log; the last one may be half written."""
    lines = next(folder.glob("runs/*/log.jsonl")).read_text().split("\n")[:-1]
    return [x["step"] for x in map(json.loads, lines) if x.get("event") == "step"]


def restarts(env, job):
    """How often the first task was requeued, if it runs now; else -1."""
    text = ask(env, "scontrol", "show", "job", f"{job}_0")
    match = re.search(r"Restarts=(\d+)", text)
    return int(match[1]) if match and "JobState=RUNNING" in text else -1


def test_requeued_and_cancelled_work_goes_on(slurm, tmp_path):
    """One run, longer than a job may be. It is requeued by its worker, cancelled, and submitted again."""
    done = study(None, "run", plan_file(tmp_path, ONE), "--out", tmp_path / "probe", "--workers", 1, "--threads", 1)
    assert done.code == 0, done
    ratio = 10 * math.ceil(WORK / cpu_seconds(tmp_path / "probe"))
    plan = plan_file(tmp_path, {**ONE, "scale": {"ratios": [ratio], "seeds": [0]}})
    local = start(None, "run", plan, "--out", tmp_path / "local", "--workers", 1, "--threads", 1)

    folder = tmp_path / "study"
    run = "run", plan, "--out", folder, "--engine", "slurm", "--workers", 1, "--cpus-per-task", 1
    first = start(slurm, *run, "--time", 1, "--margin", MARGIN)
    wait_for((folder / "slurm" / "job").exists)
    job = (folder / "slurm" / "job").read_text().strip()

    # a second one finds the job, and submits none
    second = start(slurm, *run)
    wait_for(lambda: restarts(slurm, job) >= 0)
    time.sleep(0.5)
    first.send_signal(signal.SIGINT)
    _, err = first.communicate(timeout=60)
    assert first.returncode == 130 and f"scancel {job}" in err, err
    assert restarts(slurm, job) >= 0 or ask(slurm, "squeue", "-h", "-j", job), "its end has ended the job"

    # its worker saves before the limit, and has itself queued again
    wait_for(lambda: restarts(slurm, job) >= 1)
    saved = saved_step(folder)
    wait_for(lambda: steps(folder)[-1] > saved)
    assert not list(folder.glob("runs/*/result.json")), "the run has ended too early"

    # cancelled, it saves as well, and has the time to
    ask(slurm, "scancel", job)
    _, err = second.communicate(timeout=60)
    assert saved_step(folder) > saved > 0
    assert second.returncode == 3 and "no job of this study is left" in err, err
    assert f"job {job} has workers of this study already" in err and "submitted;" not in err, err
    assert (folder / "slurm" / "job").read_text().strip() == job

    done = study(slurm, *run)
    assert done.code == 0 and "1 workers submitted" in done.err, (done, logs(folder))
    assert (folder / "slurm" / "job").read_text().strip() != job
    local.communicate(timeout=200)
    assert local.returncode == 0 and table(folder) == table(tmp_path / "local")
    assert steps(folder) == sorted(set(steps(folder))), "steps were done twice"

"""symlaw study: a whole study, killed, stopped, out of disk, shared by workers: always the same table."""
import csv
import io
import json
import os
import random
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from test_train import MPI, ranks_work
from tool import PROGRAM, run

PLAN = {
    "name": "tiny", "attempts": 2,
    "train": {"depth": 1, "points": 4, "layers": 1, "ops": "+,*", "lanes": 2, "valid-pairs": 8, "dropout": 0,
              "attention-dropout": 0, "withheld": 0.1},
    "sizes": [{"width": 8}, {"width": 16}],
    "sweep": {"ratio": 2, "batch": [4, 8], "lr": [4e-3, 1.6e-2], "grow": 1},
    "scale": {"ratios": [1, 3], "seeds": [0, 1]},
    "eval": {"test": {"limit": 4, "seeds": 1, "samples": 4}, "withheld": {"limit": 2, "seeds": 1, "samples": 4}},
}


def plan_file(folder, **more):
    path = Path(folder) / "tiny.json"
    path.write_text(json.dumps({**PLAN, **more}, indent=1))
    return path


def study(*args, **more):
    return run("study", *map(str, args), **more)


def table(folder):
    """runs.csv without what depends on the moment: times, and the program's revision."""
    rows = list(csv.reader(io.StringIO((Path(folder) / "runs.csv").read_text())))
    keep = [i for i, name in enumerate(rows[0]) if not name.startswith("seconds_")]
    return [[row[i] for i in keep] for row in rows]


def results(folder):
    return sorted(Path(folder).glob("runs/*/result.json"))


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The folder of an undisturbed study, one run after the other."""
    folder = tmp_path_factory.mktemp("undisturbed")
    done = study("run", plan_file(folder), "--out", folder / "tiny", "--workers", 1, "--threads", 1)
    assert done.code == 0, done
    return folder / "tiny"


started = []


def start(*args, **more):
    """In a process group of its own, as a terminal starts a command."""
    p = subprocess.Popen([PROGRAM, "study", *map(str, args)], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         start_new_session=True, **more)
    started.append(p)
    return p


@pytest.fixture(autouse=True)
def none_is_left():
    yield
    for p in started:
        if p.poll() is None:
            os.killpg(p.pid, signal.SIGKILL)
            p.communicate()
    started.clear()


def children(pid):
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            if int(stat.read_text().rsplit(")", 1)[1].split()[1]) == pid:
                found.append(int(stat.parent.name))
        except (OSError, IndexError):
            continue
    return found


def gone(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except OSError:
        return True


def wait_until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.005)


# ------------------------------------------------------------------ a whole study


def test_a_study_from_its_plan_to_its_table(undisturbed):
    rows = table(undisturbed)
    assert len(rows) > 12 and rows[0][:4] == ["id", "size", "phase", "status"]
    phases = {r[2] for r in rows[1:]}
    assert {"sweep", "scale"} <= phases | {"sweep"} and all(r[3] == "done" for r in rows[1:])
    assert (undisturbed / "best.safetensors").read_bytes() == (undisturbed.parent / "best.safetensors").read_bytes()
    for result in results(undisturbed):
        r = json.loads(result.read_text())
        assert r["cpu"] and r["isa"] and r["libraries"] and r["version"] and not r["diverged"]
        assert r["seconds"] > 0 and r["cpu_seconds"] > 0 and r["threads"] == 1 and r["ranks"] == 1
        assert (result.parent / r["checkpoint"]).exists()
    # the best model is that of the lowest validation loss among the runs of scale
    named = dict(zip(rows[0], zip(*rows[1:])))
    scale = [i for i, p in enumerate(named["phase"]) if "scale" in p or p == "both"]
    best = min(scale, key=lambda i: float(named["loss"][i]))
    model = undisturbed / "runs" / named["id"][best] / named["checkpoint"][best]
    assert model.read_bytes() == (undisturbed / "best.safetensors").read_bytes()


def test_a_best_model_that_is_damaged_leaves_the_rest_of_the_report(undisturbed, tmp_path):
    folder = tmp_path / "tiny"
    shutil.copytree(undisturbed, folder)
    best = study("report", folder, "--json").json["best"]
    for model in (folder / "runs" / best).glob("*.safetensors"):
        model.write_bytes(model.read_bytes()[:-100])
    done = study("report", folder)
    assert done.code == 0 and "no solved and missed problems" in done.err and best in done.err, done
    assert "<h3>Solved</h3>" not in (folder / "report.html").read_text()


def test_the_same_command_again_does_nothing(undisturbed):
    before = {p: p.stat().st_mtime_ns for p in results(undisturbed)}
    done = study("run", undisturbed)
    assert done.code == 0 and "side by side" not in done.err and "at a time" not in done.err, done  # not measured
    assert before == {p: p.stat().st_mtime_ns for p in results(undisturbed)}
    done = study("status", undisturbed)
    assert done.code == 0 and "the study is complete" in done.out, done
    status = study("status", undisturbed, "--json").json
    assert status["complete"] and status["seconds_left"] == 0 and status["flops"] == status["flops_done"] > 0
    assert {r["state"] for r in status["runs"]} == {"done"}
    assert len(status["runs"]) == len(table(undisturbed)) - 1
    assert all(r["loss_valid"] > 0 and r["flops"] > 0 for r in status["runs"])


def test_init_makes_a_folder_and_a_dry_run_starts_nothing(tmp_path):
    plan = plan_file(tmp_path)
    done = study("init", plan, "--out", tmp_path / "a")
    assert done.code == 0 and "2 sizes" in done.out and "FLOPs" in done.out, done
    assert [p.name for p in (tmp_path / "a").iterdir()] == ["plan.json"]
    for engine in ("local", "mpi"):
        done = study("run", plan, "--out", tmp_path / "b", "--dry-run", "--engine", engine, "--workers", 2)
        assert done.code == 0 and "study worker" in done.out, done
        assert not (tmp_path / "b").exists()
    status = study("status", tmp_path / "a", "--json").json
    assert not status["complete"] and {r["state"] for r in status["runs"]} == {"waiting"}
    assert status["seconds_left"] is None


def test_the_folder_is_by_the_plans_name_if_none_is_given(tmp_path):
    done = study("init", plan_file(tmp_path, name="another"), cwd=tmp_path)
    assert done.code == 0 and (tmp_path / "runs" / "another" / "plan.json").exists(), done


def test_workers_side_by_side_come_to_the_same_table(undisturbed, tmp_path):
    done = study("run", plan_file(tmp_path), "--out", tmp_path / "s", "--workers", 3, "--threads", 1)
    assert done.code == 0, done
    assert table(tmp_path / "s") == table(undisturbed)


def test_how_many_workers_is_measured(undisturbed, tmp_path):
    done = study("run", plan_file(tmp_path), "--out", tmp_path / "s", "--json")
    assert done.code == 0 and done.json["complete"], done
    if len(os.sched_getaffinity(0)) > 1:
        assert "measured on steps of 8x1 and 16x1" in done.err, done
    assert table(tmp_path / "s") == table(undisturbed)


@pytest.mark.skipif(not ranks_work(), reason="no mpirun, or a build without MPI")
def test_ranks_of_mpirun_come_to_the_same_table(undisturbed, tmp_path):
    for run_folder in sorted((undisturbed / "runs").glob("8x1-*"))[:-1]:  # the small ones are done: ranks are slow
        shutil.copytree(run_folder, tmp_path / "s" / "runs" / run_folder.name)
    done = study("run", plan_file(tmp_path), "--out", tmp_path / "s", "--engine", "mpi", "--ranks", 2, "--threads", 1,
                 env=MPI)
    assert done.code == 0, done
    mine, want = table(tmp_path / "s"), table(undisturbed)
    assert mine == want
    assert {json.loads(r.read_text())["ranks"] for r in results(tmp_path / "s")} == {1, 2}


def test_an_engine_that_is_not_there_is_reported(tmp_path):
    done = study("run", plan_file(tmp_path), "--out", tmp_path / "s", "--workers", 2, "--program", tmp_path / "nothing")
    assert done.code == 3 and "cannot be started" in done.err, done


# ------------------------------------------------------------------ disturbed


def kill_all(p):
    """As a machine that loses its power: all at once, without a word."""
    processes = [p.pid, *children(p.pid)]
    for pid in processes:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    p.communicate()
    wait_until(lambda: all(gone(pid) for pid in processes))


def disturbed(tmp_path, ask, times, *args, seed=0):
    """Starts the study again and again, and ends it `times` times at a moment by chance."""
    rng = random.Random(seed)
    folder, plan = tmp_path / "s", plan_file(tmp_path)
    for _ in range(times):
        p = start("run", plan, "--out", folder, *args)
        before = len(results(folder))
        # by what is done, not by time: machines differ
        wait_until(lambda: p.poll() is not None or len(results(folder)) > before or (folder / "runs").exists())
        time.sleep(rng.uniform(0, 0.25))
        if p.poll() is not None:
            break
        ask(p)
    done = study("run", plan, "--out", folder, *args)
    assert done.code == 0, done
    return folder


@pytest.mark.parametrize("args", [("--workers", 1, "--threads", 1), ("--workers", 2, "--threads", 1)])
def test_killed_at_any_moment_it_comes_to_the_same_table(undisturbed, tmp_path, args):
    folder = disturbed(tmp_path, kill_all, 4, *args, seed=args[1])
    assert table(folder) == table(undisturbed)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("workers", [1, 2])
def test_a_signal_saves_and_the_run_resumes(undisturbed, tmp_path, number, workers):
    def ask(p):
        p.send_signal(number)
        _, err = p.communicate(timeout=60)
        if p.returncode not in (0, -number):  # it had just finished, or had not begun
            assert p.returncode == 128 + number and "the same command continues" in err, err
            assert all(gone(pid) for pid in children(p.pid))

    folder = disturbed(tmp_path, ask, 3, "--workers", workers, "--threads", 1, seed=number)
    assert table(folder) == table(undisturbed)


@pytest.mark.skipif(not ranks_work(), reason="no mpirun, or a build without MPI")
def test_ranks_that_get_a_signal_save_and_resume(undisturbed, tmp_path):
    folder = tmp_path / "s"
    p = start("run", plan_file(tmp_path), "--out", folder, "--engine", "mpi", "--ranks", 2, "--threads", 1, env=MPI)
    wait_until(lambda: p.poll() is not None or len(results(folder)) > 1)
    p.send_signal(signal.SIGTERM)
    _, err = p.communicate(timeout=60)
    assert p.returncode in (0, 128 + signal.SIGTERM), err
    assert p.returncode == 0 or "the same command continues" in err, err
    late = study("run", folder, "--engine", "mpi", "--ranks", 2, "--threads", 1, "--time-limit", 0.2, env=MPI)
    assert late.code in (0, 75), late
    assert study("run", folder, "--workers", 1, "--threads", 1).code == 0
    assert table(folder) == table(undisturbed)
    status = study("status", folder, "--json").json
    assert all(r["attempts"] == 0 for r in status["runs"])


def test_workers_end_with_a_coordinator_that_is_killed(undisturbed, tmp_path):
    p = start("run", plan_file(tmp_path), "--out", tmp_path / "s", "--workers", 2, "--threads", 1)
    wait_until(lambda: p.poll() is not None or len(results(tmp_path / "s")) > 1)
    workers = children(p.pid)
    p.kill()
    p.communicate()
    wait_until(lambda: all(gone(pid) for pid in workers))
    assert study("run", tmp_path / "s", "--workers", 1, "--threads", 1).code == 0
    assert table(tmp_path / "s") == table(undisturbed)


def test_a_killed_worker_is_replaced_by_the_others(undisturbed, tmp_path):
    p = start("run", plan_file(tmp_path), "--out", tmp_path / "s", "--workers", 3, "--threads", 1)
    wait_until(lambda: p.poll() is not None or (len(results(tmp_path / "s")) > 1 and len(children(p.pid)) == 3))
    workers = children(p.pid)
    killed = len(workers) == 3
    if killed:
        os.kill(workers[0], signal.SIGKILL)
    _, err = p.communicate(timeout=120)
    assert p.returncode == 0 and (not killed or "ended by signal 9; the others have done its work" in err), err
    assert table(tmp_path / "s") == table(undisturbed)


def test_a_worker_that_was_stopped_and_wakes_late_changes_nothing(undisturbed, tmp_path):
    folder = tmp_path / "s"
    assert study("init", plan_file(tmp_path), "--out", folder).code == 0
    late = start("worker", folder, "--threads", 1, "--expiry", 0.5)
    wait_until(lambda: late.poll() is not None or len(results(folder)) > 1)
    os.kill(late.pid, signal.SIGSTOP)
    done = study("run", folder, "--workers", 1, "--threads", 1, "--expiry", 0.5)
    assert done.code == 0, done
    before = {p: p.read_bytes() for p in folder.glob("runs/*/*") if not p.name.startswith("claim-")}
    os.kill(late.pid, signal.SIGCONT)
    _, err = late.communicate(timeout=60)
    assert late.returncode == 0, err
    after = {p: p.read_bytes() for p in folder.glob("runs/*/*") if not p.name.startswith("claim-")}
    assert before == after and table(folder) == table(undisturbed)


def test_a_time_limit_saves_and_has_an_exit_code_of_its_own(undisturbed, tmp_path):
    folder, plan = tmp_path / "s", plan_file(tmp_path)
    args = "--out", folder, "--threads", 1
    codes = set()
    for workers in (1, 2):
        done = study("run", plan, *args, "--workers", workers, "--time-limit", 0.4)
        assert done.code in (0, 75), done
        codes.add(done.code)
    assert study("init", plan, *args).code == 0
    worker = study("worker", folder, "--time-limit", 0.01, "--threads", 1)
    assert worker.code in (0, 75), worker
    assert 75 in codes
    assert study("run", folder, "--workers", 1).code == 0
    assert table(folder) == table(undisturbed)


# ------------------------------------------------------------------ the disk


def small_disk(folder, size):
    """A file system of `size`, or a skip where it cannot be mounted."""
    folder.mkdir()
    mounted = os.geteuid() == 0 and subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(folder)],
                                                   stderr=subprocess.DEVNULL).returncode == 0
    if not mounted:
        pytest.skip("no small file system can be mounted here; the unit tests of the worker fail single writes")


@pytest.mark.parametrize("workers", [1, 2])
def test_a_full_disk_is_reported_and_room_lets_it_go_on(undisturbed, tmp_path, workers):
    disk = tmp_path / "disk"
    small_disk(disk, "900k")
    try:
        args = "--out", disk / "s", "--workers", workers, "--threads", 1
        plan = plan_file(tmp_path)
        done = study("run", plan, *args)
        assert done.code == 3 and "No space left on device" in done.err, done
        assert "the same command continues" in done.err, done
        trained = len(results(disk / "s"))
        subprocess.run(["mount", "-o", "remount,size=100m", str(disk)], check=True)
        done = study("run", plan, *args)
        assert done.code == 0, done
        assert trained > 0 and table(disk / "s") == table(undisturbed)
        status = study("status", disk / "s", "--json").json
        assert all(r["attempts"] == 0 for r in status["runs"])  # no run was blamed
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_a_folder_that_cannot_be_written_is_reported(tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    done = study("run", plan_file(tmp_path), "--out", file / "s", "--workers", 1)
    assert done.code == 3 and str(file) in done.err, done
    done = study("run", plan_file(tmp_path), "--out", "/proc/s", "--workers", 1)
    assert done.code == 3 and "/proc/s" in done.err, done


# ------------------------------------------------------------------ damage and mistakes


def damage(folder):
    """Breaks the folders of two runs: one that is half done, and the result of one that is done."""
    broken = folder / "runs" / "8x1-b4-lr4e-3-r2-s0"
    shutil.rmtree(broken)
    broken.mkdir()
    (broken / "run.json").write_text("{ this is no configuration")
    done = folder / "runs" / "8x1-b8-lr4e-3-r2-s0" / "result.json"
    done.write_text("{")
    return broken


def test_a_report_without_the_best_model(undisturbed, tmp_path):
    """The table and the report need no model: one that is gone, or cannot be copied, is reported."""
    folder = tmp_path / "deep" / "copy"
    shutil.copytree(undisturbed, folder)
    best = json.loads(study("report", folder, "--json").out)["best"]
    (folder.parent / "best.safetensors").unlink()
    (folder.parent / "best.safetensors").mkdir()  # a folder of that name
    done = study("report", folder)
    assert done.code == 0 and done.out.strip().endswith("report.html") and "is not copied" in done.err
    assert (folder / "best.safetensors").is_file()
    for path in (folder / "runs" / best).glob("*.safetensors"):
        path.unlink()
    (folder / "report.html").unlink()
    done = study("report", folder)
    assert done.code == 0 and best in done.err and "no solved and missed problems" in done.err
    assert "not complete" not in done.err  # all runs and evaluations are there
    assert 'id="problems"' not in (folder / "report.html").read_text()
    assert table(folder) == table(undisturbed)


def test_the_command_to_repeat_it_begins_anew(undisturbed, tmp_path):
    folder = tmp_path / "a copy"
    shutil.copytree(undisturbed, folder)
    plan = plan_file(tmp_path)
    assert study("report", plan, "--out", folder).code == 0
    assert f"symlaw study run {plan}<" in (folder / "report.html").read_text()
    assert study("report", folder).code == 0
    again = f"symlaw study run '{folder}/plan.json' --out runs/tiny-again<"
    assert again in (folder / "report.html").read_text().replace("&#39;", "'")


def test_a_report_of_a_part_is_marked(undisturbed, tmp_path):
    folder = tmp_path / "copy"
    shutil.copytree(undisturbed, folder)
    shutil.rmtree(next(p.parent for p in results(folder) if (p.parent / "eval-test.json").exists()))
    done = study("report", folder, "--json")
    assert done.code == 0 and json.loads(done.out)["complete"] is False
    assert "the study is not complete: " in done.err
    assert "This study is not complete:" in (folder / "report.html").read_text()
    assert "This study is not complete:" not in (undisturbed / "report.html").read_text()


def test_laws_of_a_folder_are_those_of_its_finished_runs(undisturbed, tmp_path):
    """The whole folder has the laws of its table; a part of it has those of the runs that are there."""
    def figures(path, *args):
        r = run("laws", str(path), "--draws", "20", "--json", *args)
        return {k: v for k, v in r.json.items() if k not in ("config", "seconds", "source")} if r.code == 0 else r.err
    whole = figures(undisturbed)
    assert whole["loss"]["known"] and whole["runs"] == len(results(undisturbed))
    assert whole["loss"] == figures(undisturbed / "runs.csv")["loss"]
    folder = shutil.copytree(undisturbed, tmp_path / "part")
    scale = sorted(folder.glob("runs/*-r3-s1"))
    shutil.rmtree(scale[0])
    part = figures(folder)
    assert part["runs"] == whole["runs"] - 1 and part["loss"] != whole["loss"]
    assert "names columns of a file" in figures(folder, "--columns", "loss=x")
    shutil.rmtree(folder / "runs")
    assert "no finished run yet" in figures(folder) and "no plan.json" in figures(tmp_path)


def test_the_status_has_the_settings_and_the_steps_of_each_run(undisturbed, tmp_path):
    now = study("status", undisturbed, "--json").json
    assert now["planned"] == now["finished"] == len(now["runs"])
    for r in now["runs"]:
        config = json.loads((undisturbed / "runs" / r["id"] / "run.json").read_text())
        assert (r["batch"], r["lr"]) == (config["batch"], config["lr"]) and r["id"].endswith(f"-s{r['seed']}")
        assert r["step"] == r["steps"] > 0
    done = study("init", plan_file(tmp_path), "--out", tmp_path / "new")
    waits = study("status", tmp_path / "new", "--json").json
    assert done.code == 0 and waits["planned"] > len(waits["runs"]) > 0 == waits["finished"]
    assert all(r["batch"] > 0 and r["steps"] is None for r in waits["runs"])


def test_a_corrupt_run_does_not_stop_the_others(undisturbed, tmp_path):
    folder = tmp_path / "s"
    shutil.copytree(undisturbed, folder)
    for name in ("eval-test.json", "eval-withheld.json"):
        for path in folder.glob(f"runs/16x1-*/{name}"):
            path.unlink()
    broken = damage(folder)
    done = study("run", folder, "--workers", 1, "--threads", 1)
    assert done.code == 1 and broken.name in done.out and "run.json is damaged" in done.out, done
    assert "8x1-b8-lr4e-3-r2-s0/result.json" in done.err, done
    status = {r["id"]: r for r in study("status", folder, "--json").json["runs"]}
    assert status.pop(broken.name)["state"] == "failed"
    assert {r["state"] for r in status.values()} == {"done"}
    same = {r[0]: r for r in table(undisturbed)}
    assert all(row == same[row[0]] for row in table(folder) if row[0] != broken.name)
    shutil.rmtree(broken)  # as the message says: begun again, it is as if nothing had happened
    assert study("run", folder, "--workers", 1, "--threads", 1).code == 0
    assert table(folder) == table(undisturbed)


def test_a_worker_that_is_named_a_plan_begins_its_study(tmp_path):
    path, folder = plan_file(tmp_path), tmp_path / "s"
    done = study("report", path, "--out", folder)
    assert done.code == 2 and "holds no study yet" in done.err and not folder.exists()
    assert study("worker", path, "--out", folder, "--threads", 1, "--time-limit", 0.1).code in (0, 75)
    assert (folder / "plan.json").is_file() and study("status", folder).code == 0


def test_a_plan_that_was_changed_is_refused(tmp_path):
    folder = tmp_path / "s"
    assert study("init", plan_file(tmp_path), "--out", folder).code == 0
    changed = plan_file(tmp_path, attempts=3)
    for action in ("init", "run", "worker", "report"):
        done = study(action, changed, "--out", folder)
        assert done.code == 2 and "plan" in done.err and str(folder) in done.err, done
    assert study("init", plan_file(tmp_path), "--out", folder).code == 0  # the same again


def test_a_mistake_in_a_plan_is_reported_by_line_and_path(tmp_path):
    wrong = {**PLAN, "train": {**PLAN["train"], "poins": 4}}
    done = study("run", plan_file(tmp_path, **wrong), "--out", tmp_path / "s")
    assert done.code == 2 and "train.poins" in done.err and "--points" in done.err and "line" in done.err, done
    done = study("run", plan_file(tmp_path, train={**PLAN["train"], "out": "x"}), "--out", tmp_path / "s")
    assert done.code == 2 and "train.out" in done.err, done
    assert not (tmp_path / "s").exists()


def test_a_diverging_run_is_tried_again_and_recorded_as_such(tmp_path):
    plan = plan_file(tmp_path, sizes=[{"width": 8}], sweep={"ratio": 2, "batch": [4], "lr": [4e-3, 1000], "grow": 0},
                     train={**PLAN["train"], "optimizer": "adamw", "weight-decay": 10})
    done = study("run", plan, "--out", tmp_path / "s", "--workers", 1, "--threads", 1)
    status = {r["id"]: r for r in study("status", tmp_path / "s", "--json").json["runs"]}
    bad = [r for i, r in status.items() if "-lr1000-" in i]
    assert done.code == 0 and [r["state"] for r in bad] == ["diverged"] and bad[0]["attempts"] == 1, (done, bad)
    assert "not finite" in bad[0]["error"]
    assert {r["state"] for i, r in status.items() if "-lr1000-" not in i} == {"done"}, status
    again = study("run", tmp_path / "s", "--workers", 1, "--threads", 1)
    assert again.code == 0 and "not finite" not in again.err, again


def test_wrong_use_is_reported(tmp_path):
    for args, words in ((["study"], "init, run, worker, status or report"),
                        (["study", "run"], "give a plan or the folder"),
                        (["study", "rum", "x"], "did you mean run?"),
                        (["study", "run", "a", "b"], "unexpected argument"),
                        (["study", "status", str(tmp_path)], "holds no study"),
                        (["study", "run", str(tmp_path / "none.json")], "none.json")):
        done = run(*args)
        assert done.code in (2, 3) and words in done.err, done


def test_formulas_and_baselines_are_evaluated(tmp_path):
    formulas = tmp_path / "formulas.csv"
    formulas.write_text("name,formula,lo,hi,npoints\na,x1+x2,1,2,20\n")
    plan = plan_file(tmp_path, sizes=[{"width": 8}],
                     eval={**PLAN["eval"], "formulas": {"formulas": str(formulas), "seeds": 1, "samples": 4},
                           "baselines": ["blind", "linear"]})
    done = study("run", plan, "--out", tmp_path / "s", "--workers", 1, "--threads", 1)
    assert done.code == 0, done
    evaluations = list((tmp_path / "s").glob("runs/*/eval-formulas.json"))
    assert evaluations and all(json.loads(p.read_text())["cpu_seconds"] > 0 for p in evaluations)
    for source in ("blind", "linear"):
        status = json.loads((tmp_path / "s" / "baselines" / source / "eval-test.json").read_text())
        assert status["config"]["source"] == source and status["all"]["exact"]["n"] > 0


def test_an_evaluation_that_fails_is_reported_and_the_others_are_done(undisturbed, tmp_path):
    folder = tmp_path / "s"
    shutil.copytree(undisturbed, folder)
    victim = sorted(folder.glob("runs/16x1-*/eval-test.json"))[0]
    victim.unlink()
    # that its training has failed once is past
    (victim.parent / "attempts.json").write_text('{"train":{"failures":1,"message":"an old story"}}')
    (victim.parent / "eval-test.jsonl").unlink()
    (victim.parent / "eval-test.jsonl").mkdir()
    done = study("run", folder, "--workers", 1, "--threads", 1)
    assert done.code == 1 and victim.parent.name in done.out and "eval-test.jsonl" in done.out, done
    status = {r["id"]: r for r in study("status", folder, "--json").json["runs"]}
    assert status[victim.parent.name]["state"] == "failed"
    page = (folder / "report.html").read_text()
    assert "not evaluated" in page and "eval-test.jsonl" in page and "an old story" not in page


def test_an_evaluation_does_without_a_journal_that_it_cannot_use(undisturbed, tmp_path):
    folder = tmp_path / "s"
    shutil.copytree(undisturbed, folder)
    damaged, other = sorted(folder.glob("runs/16x1-*/eval-test.json"))[:2]
    (damaged.parent / "eval-test.jsonl").write_text("this is no journal\n")
    lines = (other.parent / "eval-test.jsonl").read_text().replace('"version":"', '"version":"0', 1)
    (other.parent / "eval-test.jsonl").write_text(lines)  # of another version of the program
    for result in damaged, other:
        result.unlink()
    done = study("run", folder, "--workers", 1, "--threads", 1)
    assert done.code == 0 and damaged.exists() and other.exists(), done
    assert table(folder) == table(undisturbed)
    for result in damaged, other:
        status = json.loads((result.parent / "attempts.json").read_text())["test"]
        assert status["failures"] == 1 and "eval-test.jsonl" in status["message"]

"""symlaw discover by a model alone: limits of time, stops, models that are none."""
import json
import os
import pty
import re
import signal
import subprocess
from pathlib import Path

from tiny_model import QUICK, SLOW, plane, write
from tool import PROGRAM, run, wait_for_read, wait_for_work


def test_the_environment_may_name_the_model(model, tmp_path):
    path = write(tmp_path, plane())
    r = run("discover", str(path), *QUICK, "--json", env={**os.environ, "SYMLAW_MODEL": model})
    assert r.code == 0 and r.json["config"]["model"] == model
    weights = sorted(Path(model).glob("model-*.safetensors"))[-1]
    assert run("discover", str(path), *QUICK, "--json", "--model", str(weights)).json["formula"] == "3*a - 2*b"


def test_bad_models_are_refused(model, tmp_path):
    path = str(write(tmp_path, plane()))
    weights = sorted(Path(model).glob("model-*.safetensors"))[-1]
    data = weights.read_bytes()
    empty = tmp_path / "empty"
    empty.mkdir()
    flipped = bytearray(data)
    flipped[-9] ^= 1
    bad = {"nowhere": None, "short.safetensors": data[:len(data) // 2], "flipped.safetensors": bytes(flipped),
           "text.safetensors": b"a,b\n1,2\n", "none.safetensors": b"",
           "foreign.safetensors": (64).to_bytes(8, "little")
           + b'{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}'.ljust(64) + b"\0\0\0\0"}
    for name, content in bad.items():
        target = tmp_path / name
        if content is not None:
            target.write_bytes(content)
        r = run("discover", path, *QUICK, "--model", str(target))
        assert r.code in (2, 3) and r.out == "" and name in r.err, r
    r = run("discover", path, "--model", str(empty))
    assert r.code == 2 and "empty" in r.err


def test_a_time_limit_gives_the_best_so_far(discover, tmp_path):
    path = write(tmp_path, plane())
    r = discover(path, *SLOW, "--timeout", "1", "--json", quick=False)
    assert r.code == 0, r
    assert r.json["cut"] == "time" and r.json["r2"] > 1 - 1e-12
    assert r.json["counts"]["samples"] < 1000000
    r = discover(path, *SLOW, "--timeout", "0.5", quick=False)
    assert r.lines[0].startswith("y = 3*a - 2*b") and re.search(r"^  stopped +by the time limit", r.out, re.M)


def test_no_time_at_all_is_enough_for_the_baselines(discover, tmp_path):
    r = discover(write(tmp_path, plane()), "--timeout", "0.001", "--json")
    assert r.code == 0 and r.json["cut"] == "time" and r.json["r2"] > 1 - 1e-12


def test_a_time_limit_counts_from_the_start(discover, tmp_path):
    """What is read has not come to its end when the time is over."""
    pipe = tmp_path / "slow.csv"
    os.mkfifo(pipe)
    writer = subprocess.Popen(["bash", "-c", "echo a,b,y; while :; do echo 1,2,3; done"], stdout=os.open(pipe, os.O_RDWR),
                              stderr=subprocess.DEVNULL)
    try:
        r = discover(pipe, "--timeout", "0.7", timeout=30)
    finally:
        writer.kill()
        writer.wait()
    assert r.code == 1 and r.out == "" and "time limit of 0.7 s" in r.err, r


def test_a_signal_prints_the_best_so_far(discover, model, tmp_path):
    path = write(tmp_path, plane())
    for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
        p = subprocess.Popen([PROGRAM, "discover", str(path), "--model", model, *SLOW], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True)
        wait_for_work(p, 1.5)
        assert p.poll() is None, "it was over before the signal"
        p.send_signal(number)
        out, err = p.communicate(timeout=30)
        assert p.returncode == code
        assert out.startswith("y = 3*a - 2*b") and re.search(r"^  stopped +on request", out, re.M), out
        assert "interrupted" in err


def test_a_signal_leaves_a_whole_file_and_json(model, tmp_path):
    path, out = write(tmp_path, plane()), tmp_path / "result.json"
    p = subprocess.Popen([PROGRAM, "discover", str(path), "--model", model, *SLOW, "--json", "--out", str(out)],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_for_work(p, 1.5)
    p.send_signal(signal.SIGINT)
    said, _ = p.communicate(timeout=30)
    assert p.returncode == 130 and said == ""
    j = json.loads(out.read_text())
    assert j["exit"] == 130 and j["cut"] == "cancel" and j["r2"] > 1 - 1e-12


def test_a_signal_while_reading_stops_it(model, tmp_path):
    p = subprocess.Popen([PROGRAM, "discover", "-", "--model", model], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE)
    p.stdin.write(b"a,b,y\n" + b"1,2,3\n" * 1000)
    p.stdin.flush()
    wait_for_read(p)
    p.send_signal(signal.SIGINT)
    assert p.wait(timeout=60) == 130
    assert p.stdout.read() == b""
    p.stdin.close()
    p.stdout.close()
    p.stderr.close()


def test_progress_on_a_terminal_has_the_best_r2(model, tmp_path):
    path = write(tmp_path, plane())
    master, slave = pty.openpty()
    p = subprocess.Popen([PROGRAM, "discover", str(path), "--model", model, *SLOW, "--timeout", "2"],
                         stdout=subprocess.DEVNULL, stderr=slave, env={**os.environ, "TERM": "xterm"})
    os.close(slave)
    seen = b""
    while True:
        try:
            piece = os.read(master, 4096)
        except OSError:
            break
        if not piece:
            break
        seen += piece
    os.close(master)
    assert p.wait(timeout=30) == 0
    assert b"sampling" in seen and b"best R2 1" in seen, seen[:500]


def test_a_full_disk_is_a_failure_even_after_a_stop(model, tmp_path):
    path = write(tmp_path, plane())
    with open("/dev/full", "w") as full:
        p = subprocess.Popen([PROGRAM, "discover", str(path), "--model", model, *SLOW], stdout=full,
                             stderr=subprocess.PIPE, text=True)
        wait_for_work(p, 1.5)
        p.send_signal(signal.SIGINT)
        _, err = p.communicate(timeout=30)
    assert p.returncode == 3 and "No space left" in err

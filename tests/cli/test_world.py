"""The program and its environment: signals, closed pipes, full disks, files, terminals."""
import errno
import json
import os
import pty
import resource
import select
import signal
import subprocess
import time

import pytest

from tool import CLOSED, PROGRAM, expressions, run, wait_for_work

LONG = ["expressions", "--depth", "3", "--size", "0"]  # seconds of work


# ---------------------------------------------------------------- signals

@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143),
                                          (signal.SIGHUP, 129)])
@pytest.mark.parametrize("quiet", [[], ["--quiet"]])
def test_a_signal_stops_soon_with_its_code(number, code, quiet, tmp_path):
    p = subprocess.Popen([PROGRAM, *LONG, "--out", str(tmp_path / "list"), *quiet],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_for_work(p, 0.7)
    assert p.poll() is None, "it was over before the signal"
    p.send_signal(number)
    out, err = p.communicate(timeout=30)
    assert p.returncode == code and out == ""
    assert "interrupted" in err
    assert os.listdir(tmp_path) == []  # no half file, no temporary one


def test_a_signal_that_comes_twice_at_once_is_one(tmp_path):
    """timeout(1) signals the process and its group; the second must not cut the first one short."""
    p = subprocess.Popen([PROGRAM, *LONG, "--out", str(tmp_path / "list"), "--quiet"],
                         stderr=subprocess.PIPE)
    wait_for_work(p, 0.7)
    p.send_signal(signal.SIGTERM)
    p.send_signal(signal.SIGTERM)
    p.send_signal(signal.SIGINT)
    p.communicate(timeout=30)
    assert p.returncode in (130, 143)
    assert os.listdir(tmp_path) == []


def test_a_signal_that_was_ignored_at_the_start_stays_ignored():
    """As under nohup, or in a script after trap '' INT."""
    p = subprocess.Popen([PROGRAM, "expressions", "--depth", "3", "--count-only", "--quiet"],
                         stdout=subprocess.PIPE, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    wait_for_work(p, 0.5)
    p.send_signal(signal.SIGHUP)
    out, _ = p.communicate(timeout=120)
    assert p.returncode == 0 and b"5,070,402" in out


def test_controls_in_arguments_do_not_reach_the_terminal():
    for word in ("x1 \u009b31m", "--\x1b[31m", "--depth=\x07"):
        p = subprocess.run([PROGRAM, "expressions", "--canon", word, word], capture_output=True)
        assert p.returncode == 2
        assert not any(b in p.stderr for b in (b"\x1b", b"\x07", b"\xc2\x9b")), p.stderr


def test_a_signal_stops_a_blocked_listing():
    """The reader of the pipe sleeps, so the program waits in write()."""
    p = subprocess.Popen([PROGRAM, "expressions", "--depth", "2", "--format", "mathml"],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    select.select([p.stdout], [], [], 30)
    time.sleep(0.3)
    p.send_signal(signal.SIGINT)
    assert p.wait(timeout=60) == 130
    p.stdout.close()
    p.stderr.close()


def test_a_second_signal_ends_at_once(tmp_path):
    """The first one cannot get through: the file is a pipe that is not read."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    p = subprocess.Popen([PROGRAM, "expressions", "--depth", "2", "--format", "mathml", "--out", str(pipe)],
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    select.select([reader], [], [], 30)
    time.sleep(0.3)
    p.send_signal(signal.SIGINT)
    time.sleep(0.2)
    assert p.poll() is None
    p.send_signal(signal.SIGINT)
    assert p.wait(timeout=60) == 130
    os.close(reader)


# ---------------------------------------------------------------- standard output

@pytest.mark.parametrize("ignored", [False, True])
def test_a_closed_pipe_ends_by_its_signal(ignored):
    """As in `symlaw ... | head -1`, also where SIGPIPE came in ignored."""
    p = subprocess.Popen([PROGRAM, "expressions", "--depth", "2", "--format", "mathml"],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         restore_signals=not ignored)
    assert p.stdout.readline()
    p.stdout.close()
    assert p.wait(timeout=30) == -signal.SIGPIPE
    assert p.stderr.read() == CLOSED
    p.stderr.close()


@pytest.mark.parametrize("args", [["expressions", "--depth", "2"], ["expressions", "--canon", "x1"],
                                  ["expressions", "--depth", "1", "--count-only", "--json"], ["help"],
                                  ["expressions", "--help"], ["--version"], ["completion", "bash"]])
def test_a_full_disk_behind_standard_output_is_a_failure(args):
    with open("/dev/full", "w") as full:
        r = run(*args, stdout=full)
    assert r.code == 3
    assert r.err == "symlaw: cannot write to standard output: No space left on device\n"


def test_closed_standard_output_is_a_failure():
    def close():
        os.close(1)
    r = run("expressions", "--depth", "1", stdout=None, preexec_fn=close)
    assert r.code == 3 and "standard output" in r.err


def test_notes_do_not_land_in_a_file_that_took_the_place_of_closed_standard_error(tmp_path):
    out = tmp_path / "out"
    r = run("expressions", "--canon", "sqrt(-1)", "--out", str(out), preexec_fn=lambda: os.close(2))
    assert r.code == 0 and out.read_text() == expressions("--canon", "sqrt(-1)").out


# ---------------------------------------------------------------- files

def test_out_has_what_would_be_printed(tmp_path):
    for args in (["--depth", "2"], ["--depth", "1", "--json"], ["--canon", "x1+x1"],
                 ["--same", "x1", "x2"]):
        out = tmp_path / "out"
        r = expressions(*args, "--out", str(out))
        assert r.out == "" and out.read_text() == expressions(*args).out
    expressions("--depth", "1", "--count-only", "--json", "--out", str(out))
    assert json.loads(out.read_text())["config"]["out"] == str(out)
    assert os.listdir(tmp_path) == ["out"]


def test_a_failing_write_leaves_the_old_file(tmp_path):
    out = tmp_path / "list"
    out.write_text("old\n")
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
    r = expressions("--depth", "2", "--out", str(out), preexec_fn=limit)
    assert r.code == 3 and "File too large" in r.err and str(out) in r.err
    assert out.read_text() == "old\n" and os.listdir(tmp_path) == ["list"]


def test_a_full_device_is_named():
    r = expressions("--depth", "2", "--out", "/dev/full")
    assert r.code == 3 and "/dev/full" in r.err and "No space left" in r.err


@pytest.mark.parametrize("path, says", [("/nonexistent/list", "does not exist"), ("/", "folder"),
                                        ("", "without a name")])
def test_a_wrong_path_costs_no_waiting(path, says):
    # the operators are wrong too, which is only seen when work begins
    r = run("expressions", "--ops", "nonsense", f"--out={path}")
    assert r.code == 3 and says in r.err


def test_too_little_memory_is_reported():
    r = expressions("--depth", "3", "--count-only", "--max-memory", "0.001")
    assert r.code == 2 and r.out == "" and "allow" in r.err


# ---------------------------------------------------------------- progress

def read_all(fd):
    got = b""
    while True:
        try:
            piece = os.read(fd, 65536)
        except OSError as e:
            assert e.errno == errno.EIO  # how Linux says that the other end is gone
            break
        if not piece:
            break
        got += piece
    return got.decode()


def test_a_dash_is_standard_output(tmp_path):
    r = expressions("--depth", "1", "--out", "-", cwd=tmp_path)
    assert r.code == 0 and r.out == expressions("--depth", "1").out != ""
    assert os.listdir(tmp_path) == []


def test_a_closed_pipe_on_a_terminal_prints_nothing():
    master, slave = pty.openpty()
    p = subprocess.Popen([PROGRAM, "expressions", "--depth", "2", "--format", "mathml", "--quiet"],
                         stdout=subprocess.PIPE, stderr=slave)
    os.close(slave)
    assert p.stdout.readline()
    p.stdout.close()
    assert p.wait(timeout=30) == -signal.SIGPIPE
    assert read_all(master) == ""
    os.close(master)


@pytest.mark.parametrize("quiet", [False, True])
def test_a_terminal_gets_one_line_that_goes_away(quiet):
    master, slave = pty.openpty()
    p = subprocess.Popen([PROGRAM, "expressions", "--depth", "3", "--count-only", "--ops",
                          "exp,+,-,*,/", "--threads", "1"] + ["--quiet"] * quiet,
                         stdout=subprocess.PIPE, stderr=slave, text=True,
                         env={**os.environ, "TERM": "xterm"})
    os.close(slave)
    got = read_all(master)
    out = p.stdout.read()
    p.stdout.close()
    os.close(master)
    assert p.wait(timeout=120) == 0
    assert "candidates" in out
    if quiet:
        assert got == ""
        return
    assert "\n" not in got and " %" in got
    assert got.endswith("\r\033[K")
    assert all(len(line) < 90 for line in got.split("\r"))


# ---------------------------------------------------------------- little stack

def with_stack(kilobytes, *args):
    """As after `ulimit -s`."""
    limit = lambda: resource.setrlimit(resource.RLIMIT_STACK, (kilobytes * 1024, resource.RLIM_INFINITY))
    return run(*args, preexec_fn=limit)


@pytest.mark.parametrize("kilobytes", [32, 64, 128])
def test_little_stack_is_refused_in_words(kilobytes):
    for args in (["info"], ["discover", "t.csv"], ["eval"], ["pairs", "--index", "1"], ["expressions", "--canon", "x1"],
                 ["train", "--out", "nowhere"], ["bench", "gemm"]):
        r = with_stack(kilobytes, *args)
        assert r.code in (2, 3) and "kB of stack left, and 256 are needed" in r.err and "ulimit -s" in r.err, (args, r)
    for args in (["--version"], ["--help"], ["train", "--help"]):
        assert with_stack(kilobytes, *args).code == 0


def test_enough_stack_is_enough():
    deep = "(" * 400 + "x1" + ")" * 400
    r = with_stack(320, "expressions", "--canon", deep)
    assert r.code == 0 and r.out == "x1\n", r
    assert with_stack(320, "expressions", "--depth", "2", "--count-only", "--threads", "2").code == 0

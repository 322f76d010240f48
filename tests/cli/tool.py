"""Runs the program. SYMLAW names it; else it is that of the release build."""
import fcntl
import json
import os
import subprocess
import termios
import time
from pathlib import Path

os.environ.setdefault("SYMLAW_CACHE", "off")  # a test must not meet what an earlier one kept

PROGRAM = os.environ.get("SYMLAW") or str(Path(__file__).parents[2] / "build" / "symlaw")

# the message when the output pipe is closed and standard error is no terminal
CLOSED = b"symlaw: output pipe closed\n"


class Done:
    """What a run left: exit code, both outputs."""

    def __init__(self, finished):
        self.code = finished.returncode
        self.out = finished.stdout or ""
        self.err = finished.stderr or ""

    def __repr__(self):
        return f"exit {self.code}\n--- out\n{self.out[:2000]}\n--- err\n{self.err[:2000]}"

    @property
    def lines(self):
        return self.out.splitlines()

    @property
    def json(self):
        return json.loads(self.out)


def run(*args, timeout=120, **more):
    """symlaw ARGS. Keyword arguments go to subprocess.run."""
    more.setdefault("stdout", subprocess.PIPE)
    more.setdefault("stderr", subprocess.PIPE)
    more.setdefault("stdin", subprocess.DEVNULL)
    return Done(subprocess.run([PROGRAM, *args], text=True, timeout=timeout, **more))


def expressions(*args, **more):
    return run("expressions", *args, **more)


def wait_for_work(process, seconds):
    """Until it has used `seconds` of CPU time: the same moment of its work on a busy machine. Not for one that waits."""
    tick = os.sysconf("SC_CLK_TCK")
    for _ in range(60000):
        used = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[11:13]
        if sum(map(int, used)) >= seconds * tick or process.poll() is not None:
            return
        time.sleep(0.005)
    process.kill()
    raise AssertionError("it does not work")


def wait_for_handler(process, number):
    """Until it catches the signal."""
    for _ in range(6000):
        caught = [x for x in Path(f"/proc/{process.pid}/status").read_text().splitlines() if x.startswith("SigCgt")]
        if caught and int(caught[0].split()[1], 16) >> (number - 1) & 1:
            return
        assert process.poll() is None, process.communicate()
        time.sleep(0.005)
    process.kill()
    raise AssertionError("it does not catch the signal")


def wait_for_read(process):
    """Until it sleeps and its standard input, a pipe, is empty: it waits for more of it."""
    for _ in range(6000):
        unread = int.from_bytes(fcntl.ioctl(process.stdin, termios.FIONREAD, bytes(4)), "little")
        asleep = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[0] == "S"
        if unread == 0 and asleep:
            return
        assert process.poll() is None, process.communicate()
        time.sleep(0.005)
    process.kill()
    raise AssertionError("it does not read")
